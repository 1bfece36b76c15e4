// SPDX-License-Identifier: Apache-2.0
// What the summary of a run says about its steps.
//
// Energy: with E = kinetic + potential + elastic after a step, and what contacts store, and W the work that controllers
// and applied forces did in it, B = E - sum W can only fall when the scheme and the contacts dissipate. The rise is the
// largest one of B above its running minimum, over all worlds; energy_rise is the same without contacts, which then
// give back what they stored. A change by hand (set_pose, restore, set_gravity) counts as work.
#define _GNU_SOURCE // RUSAGE_THREAD
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <stiction/dynamics.h>

#include "common/statistics.h"

// Momentum errors by their size in absolute terms, error times what it is relative to: eight bins an octave from
// `nothing` on, as the bits of a double have them. Which of them are rounding is known at the end of the run.
enum { MOMENTUM_BINS = 1024, BIN_SHIFT = 49 };
static const double nothing = 1e-14, rounding = 1e-13; // the first in sqrt(J), as in docs/certificate.md

static int32_t bin_of(double absolute) {
    uint64_t bits, first;
    memcpy(&bits, &absolute, sizeof bits);
    memcpy(&first, &nothing, sizeof first);
    if (absolute <= nothing) {
        return 0;
    }
    uint64_t bin = (bits >> BIN_SHIFT) - (first >> BIN_SHIFT);
    return bin < MOMENTUM_BINS ? (int32_t)bin : MOMENTUM_BINS - 1;
}

void stn_statistics_clear(stn_context *context, stn_statistics *s) {
    stn_samples_clear(context, &s->samples);
    stn_release(context, s->momentum);
    for (int32_t i = 0; i < s->constraint_count; i++) {
        stn_constraint_tally *c = &s->constraints_last[i];
        void *owned[] = {c->name, c->plugin, c->force, c->phi};
        for (int32_t k = 0; k < STN_COUNT(owned); k++) {
            stn_release(context, owned[k]);
        }
    }
    stn_release(context, s->constraints_last);
    *s = (stn_statistics){.energy_first = NAN, .energy_last = NAN, .total_first = NAN, .total_last = NAN};
}

/// Mechanical energy at the present state.
static double present_energy(stn_world *world) {
    const stn_kinematics *k = stn_world_kinematics(world);
    return stn_kinetic_energy(k) + stn_gravitational_energy(k, stn_world_state(world)->gravity) +
           stn_world_elastic_energy(world);
}

stn_status stn_account_before(stn_world_account *a, stn_world *world, stn_error *err) {
    stn_statistics *s = a->statistics;
    bool begins = !stn_account_begun(a);
    if (begins) {
        stn_status status = stn_scene_create(stn_world_context(world), world, &a->scene, err);
        if (status < 0) {
            return status;
        }
        a->stored_low = a->work_low = (double)INFINITY;
        a->stored_most = a->work_most = -(double)INFINITY;
        a->next = s->open;
        a->place = &s->open;
        if (s->open != NULL) {
            s->open->place = &a->next;
        }
        s->open = a;
        double energy = present_energy(world);
        a->mechanical = (stn_balance){.energy = energy, .balance = energy, .low = energy};
        s->energy_first = a->first ? energy : s->energy_first;
    }
    a->rests = stn_plugin_says(stn_world_plugin(world, STN_KIND_INTEGRATOR), "quasistatic");
    a->restarts = a->restarts || begins || a->touched; // a step that failed told nothing
    if (a->restarts) {
        a->mechanical.energy = present_energy(world); // the change by hand is work: the balance stays
        stn_scene_note_speeds(a->scene, world);
    }
    a->touched = false;
    a->gravity = stn_world_state(world)->gravity;
    a->allocations = stn_context_allocations(stn_world_context(world));
    return STN_OK;
}

/// After a step that did `work`.
static void note_balance(stn_balance *b, double energy, double work, double time) {
    b->balance += energy - b->energy - work;
    b->energy = energy;
    b->low = fmin(b->low, b->balance);
    double rise = b->balance - b->low;
    if (!(rise <= b->rise)) { // NaN is kept
        b->rise = rise;
        b->time = time;
    }
}

/// The first step of an account, or after a change by hand, says what contacts stored before it.
static void note_energy(stn_world_account *a, const stn_step_report *r, double time) {
    stn_statistics *s = a->statistics;
    double stored = r->potential_J + r->elastic_J + r->contact_J;
    if (a->restarts) {
        bool begins = a->stored_low > a->stored_most;
        a->total.energy = a->mechanical.energy + r->contact_start_J;
        a->total.balance = begins ? a->total.energy : a->total.balance;
        a->total.low = begins ? a->total.energy : a->total.low;
        s->total_first = begins && a->first ? a->total.energy : s->total_first;
        a->restarts = false;
    }
    note_balance(&a->mechanical, r->kinetic_J + r->potential_J + r->elastic_J, r->input_work_J, time);
    note_balance(&a->total, r->kinetic_J + stored, r->input_work_J, time);
    a->kinetic_most = fmax(a->kinetic_most, r->kinetic_J);
    a->stored_low = fmin(a->stored_low, stored);
    a->stored_most = fmax(a->stored_most, stored);
    a->work += r->input_work_J;
    a->work_low = fmin(a->work_low, a->work);
    a->work_most = fmax(a->work_most, a->work);
    s->energy_rise = a->mechanical.rise <= s->energy_rise ? s->energy_rise : a->mechanical.rise;
    s->total_rise = a->total.rise <= s->total_rise ? s->total_rise : a->total.rise;
    if (a->first) {
        s->energy_last = a->mechanical.energy;
        s->total_last = a->total.energy;
    }
}

static void note_profile(stn_profile *p, const stn_step_report *report) {
    double now = stn_clock_us(), last = p->last;
    struct rusage usage;
    long interruptions = getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nivcsw : 0; // our thread had to make room
    bool before = p->disturbed; // its observers' time is subtracted from this step's
    p->disturbed = last == 0.0 || interruptions != p->interruptions; // in the first step memory is found
    p->last = now;
    p->interruptions = interruptions;
    if (p->disturbed || before) {
        return;
    }
    p->steps++;
    p->step_us += report->step_us;
    p->script_us += now - last - report->step_us - report->phase_us[STN_PHASE_OBSERVERS];
    for (int i = 0; i < STN_STAGE_COUNT; i++) {
        p->stage_us[i] += report->stage_us[i];
    }
    for (int i = 0; i < STN_PHASE_COUNT; i++) {
        p->phase_us[i] += report->phase_us[i];
    }
}

static void note_inverted(stn_world_account *a, const stn_observation *o) {
    const stn_step_report *r = o->report;
    if (r->inverted_count > 0) {
        const stn_element_group *group = &o->model->element_groups[r->inverted_group];
        stn_figure figure = {r->inverted_count, r->inverted_count, o->time, ""};
        snprintf(figure.what, sizeof figure.what, "%d (counted from 0) of '%s'", r->inverted_element,
                 o->model->trees[group->tree].name);
        stn_figure_merge(&a->figures[STN_FIGURE_INVERTED], &figure);
        a->statistics->inverted++;
    }
}

stn_status stn_account_observe(stn_world_account *account, stn_context *context, const stn_observation *o,
                               stn_error *err) {
    stn_statistics *s = account->statistics;
    const stn_certificate *c = o->certificate;
    double allocations = (double)(stn_context_allocations(context) - account->allocations);
    double before = s->samples.steps > 0 ? s->samples.max[STN_SAMPLE_ALLOCATIONS] : 0.0;
    double row[STN_SAMPLE_COUNT] = {
        [STN_SAMPLE_STEP_US] = o->report->step_us,
        [STN_SAMPLE_ITERATIONS] = o->report->iterations,
        [STN_SAMPLE_CONTACTS] = o->report->contact_count,
        [STN_SAMPLE_OVERLAP] = o->report->overlap_m,
        [STN_SAMPLE_BARE_OVERLAP] = o->report->overlap_without_contact_m,
        [STN_SAMPLE_ALLOCATIONS] = before + allocations,
#define FIELD_OF(member, name, unit, text) [STN_SAMPLE_##member] = c != NULL ? c->member : (double)NAN,
        STN_CERTIFICATE_FIELDS(FIELD_OF)
#undef FIELD_OF
            [STN_SAMPLE_MOMENTUM_SIZE] = c != NULL ? c->momentum_size : (double)NAN,
    };
    if (s->momentum == NULL) {
        s->momentum = stn_allocate(context, MOMENTUM_BINS, sizeof *s->momentum);
    }
    double error = row[STN_SAMPLE_momentum];
    if (s->momentum != NULL && !isnan(error)) {
        stn_momentum_bin *bin = &s->momentum[bin_of(error * row[STN_SAMPLE_MOMENTUM_SIZE])];
        bin->sum += error;
        bin->max = error > bin->max ? error : bin->max;
    }
    s->samples.columns = STN_SAMPLE_COUNT;
    if (s->momentum == NULL || !stn_samples_add(context, &s->samples, row)) {
        return stn_fail(err, STN_ERR_MEMORY, "run statistics: out of memory after %lld steps",
                        (long long)s->samples.steps);
    }
    account->quasistatic = account->quasistatic || account->rests;
    s->quasistatic += account->rests;
    s->not_converged += o->report->not_converged > 0;
    s->fallbacks += o->report->fallbacks > 0;
    s->approximate += o->report->status == STN_NOT_CONVERGED && o->report->not_converged == 0;
    if (o->report->contradiction.islands > 0) {
        const stn_contradiction *said = &o->report->contradiction;
        stn_figure claim = {.value = said->found, .ratio = said->found / said->bound, .time = o->time};
        stn_contradiction_text(said, claim.what, sizeof claim.what);
        stn_figure_merge(&account->figures[STN_FIGURE_CLAIM], &claim);
        s->contradicted++;
    }
    s->not_finite += c != NULL && !c->finite;
    note_inverted(account, o);
    note_energy(account, o->report, o->time);
    if (account->scene != NULL) {
        stn_scene_observe(account->scene, o, account->gravity, account->figures);
    }
    if (account->profiled) {
        note_profile(&s->profile, o->report);
    }
    s->simulated += o->dt;
    return STN_OK;
}

static void merge_figures(const stn_world_account *account, stn_figure *worst) {
    // What the rise of a world's energy is compared with: the most that moved, what was stored and given back, what
    // the inputs put in or took, and what moves everything by a twentieth of the scene's size. It is the smaller
    // rise of both sums: what contacts give back is none of the second, what a contact stores that is found late is
    // none of the first.
    double scale =
        account->kinetic_most + (account->stored_most - account->stored_low) + (account->work_most - account->work_low);
    scale += stn_scene_shift(account->scene, account->gravity);
    const stn_balance *b = account->mechanical.rise < account->total.rise ? &account->mechanical : &account->total;
    // below what heat gives one degree of freedom, k_B 300 K, a rise is rounding of energies that are 0
    const double rise = b->rise > 4.1e-21 ? b->rise : fmin(b->rise, 0.0);
    stn_figure energy = {rise, rise > 0.0 ? rise / scale : rise, b->time, ""};
    for (int i = account->quasistatic ? STN_FIGURE_ENERGY + 1 : 0; i < STN_FIGURE_COUNT; i++) {
        stn_figure_merge(&worst[i], i == STN_FIGURE_ENERGY ? &energy : &account->figures[i]);
    }
}

void stn_statistics_figures(const stn_statistics *statistics, stn_figure figures[STN_FIGURE_COUNT]) {
    memcpy(figures, statistics->closed, STN_FIGURE_COUNT * sizeof *figures);
    for (const stn_world_account *a = statistics->open; a != NULL; a = a->next) {
        merge_figures(a, figures);
    }
}

void stn_account_drop(stn_world_account *account, stn_context *context) {
    if (account->place != NULL) {
        *account->place = account->next;
        if (account->next != NULL) {
            account->next->place = account->place;
        }
    }
    stn_scene_destroy(context, account->scene);
    account->scene = NULL;
    account->place = NULL;
}

/// Without memory the report tells of fewer.
static void note_constraints(stn_context *context, stn_statistics *s, const stn_observation *o) {
    const stn_model *model = o->model;
    s->constraints_last = stn_allocate(context, (size_t)model->constraint_count + 1, sizeof *s->constraints_last);
    for (int32_t i = 0; i < model->constraint_count && s->constraints_last != NULL; i++) {
        const stn_model_constraint *c = &model->constraints[i];
        stn_constraint_tally *tally = &s->constraints_last[i];
        stn_constraint_path path = {.room = 0};
        stn_observation_constraint_path(o, i, &path);
        stn_constraint_report block;
        size_t rows = 0;
        for (int32_t b = 0; stn_observation_constraint(o, i, b, &block); b++) {
            rows += (size_t)block.rows;
        }
        *tally = (stn_constraint_tally){.name = stn_duplicate_text(context, c->name),
                                        .plugin = stn_duplicate_text(context, c->instance->desc->id),
                                        .length = path.length,
                                        .slack = stn_observation_constraint_slack(o, i),
                                        .force = stn_allocate(context, rows + 1, sizeof(double)),
                                        .phi = stn_allocate(context, rows + 1, sizeof(double))};
        s->constraint_count++;
        if (tally->force == NULL || tally->phi == NULL) {
            return;
        }
        for (int32_t b = 0; stn_observation_constraint(o, i, b, &block); b++) {
            for (int32_t k = 0; k < block.rows; k++, tally->rows++) {
                tally->force[tally->rows] = block.force[k];
                tally->phi[tally->rows] = block.phi[k];
            }
        }
    }
}

void stn_account_end(stn_world_account *account, const stn_world *world) {
    const stn_observation *o = stn_world_observation(world);
    stn_statistics *s = account->statistics;
    if (account->first && o->problem != NULL && s->constraints_last == NULL) {
        note_constraints(stn_world_context(world), s, o);
    }
    if (account->place != NULL) {
        merge_figures(account, account->statistics->closed);
    }
    stn_account_drop(account, stn_world_context(world));
    stn_contact_tally *tally = &account->statistics->contacts_last;
    account->statistics->captured += stn_world_captured(world);
    int32_t count = account->first && o->contacts != NULL ? o->contacts->count : 0;
    for (int32_t i = 0; i < count; i++) {
        stn_contact_report r;
        stn_observation_contact(o, i, &r);
        if (r.state == STN_CONTACT_OPEN) {
            tally->open++;
            continue;
        }
        tally->sticking += r.state == STN_CONTACT_STICK;
        tally->slipping += r.state == STN_CONTACT_SLIP;
        tally->slip_speed = fmax(tally->slip_speed, r.slip_speed);
        tally->glide_gap = fmax(tally->glide_gap, r.glide_gap);
    }
}

// ----------------------------------------------------------------------------------------------------------- summary

static int compare_reals(const void *a, const void *b) {
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/// Median and 99th percentile of `count` values without NaN, which are sorted.
static void read_quantiles(double *values, size_t count, stn_summary *out) {
    qsort(values, count, sizeof *values, compare_reals);
    size_t rank = (99 * count + 99) / 100; // nearest rank: smallest value with at least 99 % at or below it
    out->median = 0.5 * (values[(count - 1) / 2] + values[count / 2]);
    out->p99 = values[rank - 1];
}

/// The kept samples of a column without NaN, released by the caller; NULL: out of memory. Momentum errors of rounding
/// up to `below`, in absolute terms, are 0.
static double *take_column(stn_context *context, const stn_samples *s, stn_sample which, double below, size_t *count) {
    double *values = stn_allocate(context, (size_t)s->kept + 1, sizeof *values);
    *count = 0;
    for (int32_t i = 0; i < s->kept && values != NULL; i++) {
        const double *row = s->values + (size_t)i * (size_t)s->columns;
        bool rounded = which == STN_SAMPLE_momentum && row[which] * row[STN_SAMPLE_MOMENTUM_SIZE] <= below;
        if (!isnan(row[which])) {
            values[(*count)++] = rounded ? 0.0 : row[which];
        }
    }
    return values;
}

bool stn_statistics_summary(stn_context *context, const stn_statistics *statistics, stn_sample which,
                            stn_summary *out) {
    const stn_samples *s = &statistics->samples;
    size_t count;
    *out = (stn_summary){NAN, NAN, NAN, NAN};
    if (s->steps == 0 || s->count[which] == 0.0) {
        return true;
    }
    double *values = take_column(context, s, which, -1.0, &count);
    if (values != NULL && count > 0) {
        read_quantiles(values, count, out);
    }
    out->mean = s->sum[which] / s->count[which];
    out->max = s->max[which];
    stn_release(context, values);
    return values != NULL;
}

bool stn_statistics_momentum(stn_context *context, const stn_statistics *statistics, stn_summary *out) {
    const stn_samples *s = &statistics->samples;
    size_t count;
    *out = (stn_summary){NAN, NAN, NAN, NAN};
    if (s->steps == 0 || s->count[STN_SAMPLE_momentum] == 0.0) {
        return true;
    }
    double below = fmax(nothing, rounding * s->max[STN_SAMPLE_MOMENTUM_SIZE]), sum = 0.0, max = 0.0;
    double *values = take_column(context, s, STN_SAMPLE_momentum, below, &count);
    for (size_t i = 0; i < count && s->level == 0; i++) {
        sum += values[i];
        max = fmax(max, values[i]);
    }
    for (int32_t bin = bin_of(below) + 1; bin < MOMENTUM_BINS && s->level > 0; bin++) {
        sum += statistics->momentum[bin].sum;
        max = fmax(max, statistics->momentum[bin].max);
    }
    if (values != NULL && count > 0) {
        read_quantiles(values, count, out);
    }
    out->mean = sum / s->count[STN_SAMPLE_momentum];
    out->max = max;
    stn_release(context, values);
    return values != NULL;
}

double stn_statistics_allocations(const stn_statistics *statistics, int64_t steps) {
    const stn_samples *s = &statistics->samples;
    if (s->steps <= steps) {
        return (double)NAN;
    }
    double all = s->max[STN_SAMPLE_ALLOCATIONS], before = 0.0;
    int64_t last = -1;
    for (int32_t i = 0; i < s->kept && stn_samples_step(s, i) < steps; i++) {
        last = stn_samples_step(s, i);
        before = s->values[(size_t)i * (size_t)s->columns + STN_SAMPLE_ALLOCATIONS];
    }
    return (all - before) / (double)(s->steps - 1 - last);
}
