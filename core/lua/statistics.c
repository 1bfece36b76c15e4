// SPDX-License-Identifier: Apache-2.0
// What the summary of a run says about its steps. All samples are kept, so that percentiles are exact.
//
// Energy: with E = kinetic + potential + elastic after a step and W the work that controllers and applied forces did in
// it, B = E - sum W can only fall when the scheme and the contacts dissipate. energy_rise is the largest rise of B
// above its running minimum, over all worlds. A change by hand (set_pose, restore, set_gravity) counts as work.
#define _GNU_SOURCE // RUSAGE_THREAD
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "lua/bind.h"

void stn_statistics_clear(stn_session *session) {
    for (int i = 0; i < STN_SAMPLE_COUNT; i++) {
        stn_release(session->context, session->statistics.sample[i]);
    }
    session->statistics = (stn_statistics){.energy_first = NAN, .energy_last = NAN};
}

static bool reserve(stn_session *session) {
    stn_statistics *s = &session->statistics;
    if (s->count < s->capacity) {
        return true;
    }
    size_t wanted = s->capacity > 0 ? 2 * (size_t)s->capacity : 1024;
    for (int i = 0; i < STN_SAMPLE_COUNT; i++) {
        double *grown = stn_reallocate(session->context, s->sample[i], (size_t)s->count, wanted, sizeof *grown);
        if (grown == NULL) {
            return false;
        }
        s->sample[i] = grown;
    }
    s->capacity = (int64_t)wanted;
    return true;
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

static void note_counters(stn_statistics *s, const stn_step_report *report, double allocations) {
    s->sample[STN_SAMPLE_STEP_US][s->count] = report->duration_us;
    s->sample[STN_SAMPLE_ITERATIONS][s->count] = report->iterations;
    s->sample[STN_SAMPLE_CONTACTS][s->count] = report->contacts;
    s->sample[STN_SAMPLE_OVERLAP][s->count] = report->overlap_m;
    s->sample[STN_SAMPLE_ALLOCATIONS][s->count] = allocations;
    s->not_converged += report->not_converged > 0;
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
    p->step_us += report->duration_us;
    p->script_us += now - last - report->duration_us - report->phase_us[STN_PHASE_OBSERVERS];
    for (int i = 0; i < STN_STAGE_COUNT; i++) {
        p->stage_us[i] += report->stage_us[i];
    }
    for (int i = 0; i < STN_PHASE_COUNT; i++) {
        p->phase_us[i] += report->phase_us[i];
    }
}

static void note_certificate(stn_statistics *s, const stn_certificate *c) {
#define NOTE_FIELD(member, name, unit, text) \
    s->sample[STN_SAMPLE_##member][s->count] = c != NULL ? c->member : (double)NAN;
    STN_CERTIFICATE_FIELDS(NOTE_FIELD)
#undef NOTE_FIELD
    s->sample[STN_SAMPLE_MOMENTUM_SIZE][s->count] = c != NULL ? c->momentum_size : (double)NAN;
    s->not_finite += c != NULL && !c->finite;
}

stn_status stn_statistics_observe(void *user, const stn_observation *o, stn_error *err) {
    stn_lua_world *w = user;
    stn_session *session = w->session;
    stn_statistics *s = &session->statistics;
    double allocations = (double)(stn_context_allocations(session->context) - w->allocations);
    if (o->report == NULL || !started(w)) {
        return STN_OK; // not a step of the script's
    }
    if (!reserve(session)) {
        return stn_fail(err, STN_ERR_MEMORY, "run statistics: out of memory after %lld steps", (long long)s->count);
    }
    note_counters(s, o->report, allocations);
    note_certificate(s, o->certificate);
    note_energy(w, o->report);
    if (session->profile) {
        note_profile(&s->profile, o->report);
    }
    s->simulated += o->dt;
    s->count++;
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
        tally->sticking += r.state == STN_CONTACT_STICKS;
        tally->slipping += r.state == STN_CONTACT_SLIPS;
        tally->slip_speed = fmax(tally->slip_speed, r.slip_speed);
        tally->glide_gap = fmax(tally->glide_gap, r.glide_gap);
    }
}

// ----------------------------------------------------------------------------------------------------------- summary

static int compare_reals(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/// What is left of the samples `from` on, without NaN.
static bool summarize(const stn_session *session, const double *from, int64_t samples, stn_summary *out) {
    *out = (stn_summary){NAN, NAN, NAN, NAN};
    if (samples <= 0) {
        return true;
    }
    double *sorted = stn_allocate(session->context, (size_t)samples, sizeof *sorted);
    if (sorted == NULL) {
        return false;
    }
    size_t count = 0;
    double sum = 0.0;
    for (int64_t i = 0; i < samples; i++) {
        if (!isnan(from[i])) {
            sorted[count++] = from[i];
            sum += from[i];
        }
    }
    if (count > 0) {
        qsort(sorted, count, sizeof *sorted, compare_reals);
        size_t rank = (99 * count + 99) / 100; // nearest rank: smallest value with at least 99 % at or below it
        out->mean = sum / (double)count;
        out->median = 0.5 * (sorted[(count - 1) / 2] + sorted[count / 2]);
        out->p99 = sorted[rank - 1];
        out->max = sorted[count - 1];
    }
    stn_release(session->context, sorted);
    return true;
}

bool stn_statistics_summary(const stn_session *session, stn_sample which, int64_t first, stn_summary *out) {
    const stn_statistics *s = &session->statistics;
    return summarize(session, s->count > first ? s->sample[which] + first : NULL, s->count - first, out);
}

bool stn_statistics_momentum(const stn_session *session, stn_summary *out) {
    const stn_statistics *s = &session->statistics;
    const double *size = s->sample[STN_SAMPLE_MOMENTUM_SIZE], *momentum = s->sample[STN_SAMPLE_momentum];
    const double nothing = 1e-14, rounding = 1e-13; // the first in sqrt(J), as in docs/certificate.md
    double largest = 0.0, *errors = NULL;
    for (int64_t i = 0; i < s->count; i++) {
        largest = fmax(largest, size[i]);
    }
    errors = stn_allocate(session->context, (size_t)s->count + 1, sizeof *errors);
    if (errors == NULL) {
        return false;
    }
    for (int64_t i = 0; i < s->count; i++) {
        errors[i] = momentum[i] * size[i] <= fmax(nothing, rounding * largest) ? 0.0 : momentum[i];
    }
    bool done = summarize(session, errors, s->count, out);
    stn_release(session->context, errors);
    return done;
}
