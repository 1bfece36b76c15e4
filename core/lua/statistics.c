// SPDX-License-Identifier: Apache-2.0
// What the summary of a run says about its steps.
//
// Energy: with E = kinetic + potential + elastic after a step and W the work that controllers and applied forces did in
// it, B = E - sum W can only fall when the scheme and the contacts dissipate. energy_rise is the largest rise of B
// above its running minimum, over all worlds. A change by hand (set_pose, restore, set_gravity) counts as work.
#define _GNU_SOURCE // RUSAGE_THREAD
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/sort.h"
#include "lua/bind.h"

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

void stn_statistics_clear(stn_session *session) {
    stn_samples_clear(session->context, &session->statistics.samples);
    stn_release(session->context, session->statistics.momentum);
    session->statistics = (stn_statistics){.energy_first = NAN, .energy_last = NAN};
}

static bool note_momentum(stn_session *session, double error, double size) {
    stn_statistics *s = &session->statistics;
    if (s->momentum == NULL) {
        s->momentum = stn_allocate(session->context, MOMENTUM_BINS, sizeof *s->momentum);
    }
    if (s->momentum != NULL && !isnan(error)) {
        stn_momentum_bin *bin = &s->momentum[bin_of(error * size)];
        bin->sum += error;
        bin->max = error > bin->max ? error : bin->max;
    }
    return s->momentum != NULL;
}

/// Mechanical energy at the present state; elements have that of the last step.
static double present_energy(stn_lua_world *w) {
    const stn_kinematics *k = stn_world_kinematics(w->world);
    return stn_kinetic_energy(k) + stn_gravitational_energy(k, stn_world_state(w->world)->gravity) +
           stn_world_elastic_energy(w->world);
}

static bool started(const stn_lua_world *w) {
    return !isnan(w->energy);
}

void stn_statistics_before(stn_lua_world *w) {
    if (!started(w)) {
        w->energy = w->balance = w->balance_low = present_energy(w);
        if (w->first) {
            w->session->statistics.energy_first = w->energy;
        }
    } else if (w->touched) {
        w->energy = present_energy(w); // the change by hand is work: the balance stays
    }
    w->touched = false;
    w->allocations = stn_context_allocations(w->session->context);
}

static void note_energy(stn_lua_world *w, const stn_step_report *report) {
    stn_statistics *s = &w->session->statistics;
    double energy = report->kinetic_J + report->potential_J + report->elastic_J;
    w->balance += energy - w->energy - report->input_work_J;
    w->energy = energy;
    w->balance_low = fmin(w->balance_low, w->balance);
    double rise = w->balance - w->balance_low;
    if (!(rise <= s->energy_rise)) { // NaN is kept
        s->energy_rise = rise;
    }
    if (w->first) {
        s->energy_last = energy;
    }
}

/// Turns of other threads that ours had to make room for.
static long count_interruptions(void) {
    struct rusage usage;
    return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nivcsw : 0;
}

static void note_profile(stn_profile *p, const stn_step_report *report) {
    double now = stn_clock_us(), last = p->last;
    long interruptions = count_interruptions();
    bool disturbed = interruptions != p->interruptions;
    p->last = now;
    p->interruptions = interruptions;
    if (disturbed || last == 0.0) {
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

/// All figures of the step.
static bool note_samples(stn_session *session, const stn_step_report *report, const stn_certificate *c,
                         double allocations) {
    stn_statistics *s = &session->statistics;
    stn_samples *samples = &s->samples;
    double before = samples->steps > 0 ? samples->max[STN_SAMPLE_ALLOCATIONS] : 0.0;
    double row[STN_SAMPLE_COUNT] = {
        [STN_SAMPLE_STEP_US] = report->step_us,
        [STN_SAMPLE_ITERATIONS] = report->iterations,
        [STN_SAMPLE_CONTACTS] = report->contact_count,
        [STN_SAMPLE_OVERLAP] = report->overlap_m,
        [STN_SAMPLE_ALLOCATIONS] = before + allocations,
#define FIELD_OF(member, name, unit, text) [STN_SAMPLE_##member] = c != NULL ? c->member : (double)NAN,
        STN_CERTIFICATE_FIELDS(FIELD_OF)
#undef FIELD_OF
            [STN_SAMPLE_MOMENTUM_SIZE] = c != NULL ? c->momentum_size : (double)NAN,
    };
    samples->columns = STN_SAMPLE_COUNT;
    return note_momentum(session, row[STN_SAMPLE_momentum], row[STN_SAMPLE_MOMENTUM_SIZE]) &&
           stn_samples_add(session->context, samples, row);
}

stn_status stn_statistics_observe(void *user, const stn_observation *o, stn_error *err) {
    stn_lua_world *w = user;
    stn_session *session = w->session;
    stn_statistics *s = &session->statistics;
    double allocations = (double)(stn_context_allocations(session->context) - w->allocations);
    if (o->report == NULL || !started(w)) {
        return STN_OK; // not a step of the script's
    }
    if (!note_samples(session, o->report, o->certificate, allocations)) {
        return stn_fail(err, STN_ERR_MEMORY, "run statistics: out of memory after %lld steps",
                        (long long)s->samples.steps);
    }
    s->not_converged += o->report->not_converged > 0;
    s->not_finite += o->certificate != NULL && !o->certificate->finite;
    note_energy(w, o->report);
    if (session->profile) {
        note_profile(&s->profile, o->report);
    }
    s->simulated += o->dt;
    if (session->progress != NULL) {
        session->progress(session->progress_user, o, session->end_time);
    }
    return STN_OK;
}

void stn_statistics_end(const stn_lua_world *w) {
    const stn_observation *o = stn_world_observation(w->world);
    stn_contact_tally *tally = &w->session->statistics.contacts_last;
    w->session->statistics.captured += stn_world_captured(w->world);
    int32_t count = w->first && o->contacts != NULL ? o->contacts->count : 0;
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

/// Median and 99th percentile of `count` values without NaN, which are sorted.
static void read_quantiles(double *values, size_t count, stn_summary *out) {
    qsort(values, count, sizeof *values, compare_reals);
    size_t rank = (99 * count + 99) / 100; // nearest rank: smallest value with at least 99 % at or below it
    out->median = 0.5 * (values[(count - 1) / 2] + values[count / 2]);
    out->p99 = values[rank - 1];
}

/// The kept samples of a column without NaN, released by the caller; NULL: out of memory. Momentum errors of rounding
/// up to `below`, in absolute terms, are 0.
static double *take_column(const stn_session *session, stn_sample which, double below, size_t *count) {
    const stn_samples *s = &session->statistics.samples;
    double *values = stn_allocate(session->context, (size_t)s->kept + 1, sizeof *values);
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

bool stn_statistics_summary(const stn_session *session, stn_sample which, stn_summary *out) {
    const stn_samples *s = &session->statistics.samples;
    size_t count;
    *out = (stn_summary){NAN, NAN, NAN, NAN};
    if (s->steps == 0 || s->count[which] == 0.0) {
        return true;
    }
    double *values = take_column(session, which, -1.0, &count);
    if (values != NULL && count > 0) {
        read_quantiles(values, count, out);
    }
    out->mean = s->sum[which] / s->count[which];
    out->max = s->max[which];
    stn_release(session->context, values);
    return values != NULL;
}

bool stn_statistics_momentum(const stn_session *session, stn_summary *out) {
    const stn_samples *s = &session->statistics.samples;
    size_t count;
    *out = (stn_summary){NAN, NAN, NAN, NAN};
    if (s->steps == 0 || s->count[STN_SAMPLE_momentum] == 0.0) {
        return true;
    }
    double below = fmax(nothing, rounding * s->max[STN_SAMPLE_MOMENTUM_SIZE]), sum = 0.0, max = 0.0;
    double *values = take_column(session, STN_SAMPLE_momentum, below, &count);
    for (size_t i = 0; i < count && s->level == 0; i++) {
        sum += values[i];
        max = fmax(max, values[i]);
    }
    for (int32_t bin = bin_of(below) + 1; bin < MOMENTUM_BINS && s->level > 0; bin++) {
        sum += session->statistics.momentum[bin].sum;
        max = fmax(max, session->statistics.momentum[bin].max);
    }
    if (values != NULL && count > 0) {
        read_quantiles(values, count, out);
    }
    out->mean = sum / s->count[STN_SAMPLE_momentum];
    out->max = max;
    stn_release(session->context, values);
    return values != NULL;
}

double stn_statistics_allocations(const stn_session *session, int64_t steps) {
    const stn_samples *s = &session->statistics.samples;
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
