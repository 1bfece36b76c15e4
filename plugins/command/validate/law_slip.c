// SPDX-License-Identifier: Apache-2.0
// What a law says of slip, against its own impulses: where friction comes to its limit, how high a slipping contact
// rides.
#include <math.h>

#include "law_checks.h"
#include "law_subject.h"

static const double limit_fraction = 0.99; // law.h

static stn_law_slip slip_at(law_subject *s, int32_t i, const double v[3], const law_answer *x) {
    stn_law_slip out = {(double)NAN, (double)NAN};
    s->ops->slip(s->instance->self, s->problem, i, v, x->gamma, &out);
    return out;
}

/// Friction over the normal impulse, slipping at `speed`: of coupled laws and lagged ones alike it tends to a limit.
static double load_at(law_subject *s, const double v[3], double speed) {
    const double fast[3] = {speed, 0.0, v[2]};
    law_answer x = law_at(s, fast);
    return hypot(x.gamma[0], x.gamma[1]) / x.gamma[2];
}

/// Does contact i push at gap phi while it slips at v?
static bool pushes(law_subject *s, int32_t i, double phi, const double v[3]) {
    s->problem->constraints[i].phi0 = phi;
    law_regularize(s);
    return law_choose(s, i) && law_at(s, v).gamma[2] > 0.0;
}

/// The widest gap [m] at which contact i pushes, from `low`, where it does, to `high`.
static double touch(law_subject *s, int32_t i, double low, double high, const double v[3]) {
    if (pushes(s, i, high, v)) {
        return high; // never lets go
    }
    for (int32_t k = 0; k < 60; k++) {
        double middle = 0.5 * (low + high);
        *(pushes(s, i, middle, v) ? &low : &high) = middle;
    }
    return low;
}

static void look_at_gap(law_subject *s, int32_t i, const double v[3], double *worst) {
    const double rest[3] = {0.0}, slipping[3] = {v[0], v[1], 0.0};
    double before = s->problem->constraints[i].phi0, low = before > 0.0 ? 1e-15 : -1e-15;
    char words[320];
    double still = touch(s, i, low, 1e2, rest), fast = touch(s, i, low, 1e2, slipping);
    s->problem->constraints[i].phi0 =
        fast - still > 1e-12 ? 0.5 * (still + fast) : still - 1e-9; // where it slides, and pushes
    law_regularize(s);
    if (!law_choose(s, i)) {
        return;
    }
    law_answer x = law_at(s, slipping);
    double told = slip_at(s, i, slipping, &x).glide_gap, error = fabs(told - (fast - still));
    *worst = fmax(*worst, error);
    if (x.gamma[2] > 0.0 && !(error <= 1e-12 + 1e-6 * fabs(fast - still))) {
        trial_fail(s->trial,
                   "glide_gap = %.6g m, but the contact pushes from a gap of %.6g m on, at rest from %.6g m on; %s",
                   told, fast, still, law_words(s, i, slipping, words, sizeof words));
    }
    s->problem->constraints[i].phi0 = before;
    law_regularize(s);
}

void law_slips(validate_trial *trial) {
    law_subject s;
    double least_load = 1.0, worst_gap = 0.0;
    if (!law_begin(&s, trial)) {
        return;
    }
    if (STN_PLUGIN_HAS(s.ops, slip_tolerance)) {
        double tolerance = s.ops->slip_tolerance(s.instance->self);
        if (!(tolerance > 0.0) || !isfinite(tolerance)) {
            trial_fail(trial, "slip_tolerance = %g m/s, must be > 0 and finite", tolerance);
        }
    }
    if (s.ops->slip == NULL) {
        trial_ok(trial, "says nothing of it");
    }
    for (int32_t round = 0; round < 40 && !trial->decided && law_draw(&s); round++) {
        for (int32_t i = 0; i < LAW_CONTACTS && !trial->decided && law_choose(&s, i); i++) {
            double v[3];
            law_velocity(&s, i, v);
            // the speed at which friction of an ellipse comes to its limit is that along the slip, as in load_at
            double start = s.problem->constraints[i].set == STN_SET_ELLIPSE ? 1e-9 : 0.0;
            const double still[3] = {start * hypot(v[0], v[1]), 0.0, v[2]};
            char words[320];
            law_answer x = law_at(&s, still);
            stn_law_slip slip = slip_at(&s, i, still, &x);
            double speed = slip.transition_speed, limit = load_at(&s, v, 1e6 * speed);
            if (!(speed >= 0.0) || !isfinite(speed) || !(slip.glide_gap >= 0.0) || !isfinite(slip.glide_gap)) {
                trial_fail(s.trial, "transition_speed = %g m/s, glide_gap = %g m, expected finite and >= 0; %s", speed,
                           slip.glide_gap, law_words(&s, i, still, words, sizeof words));
            } else if (x.gamma[2] > 0.0 && limit > 0.0) {
                double there = load_at(&s, v, speed) / limit, half = load_at(&s, v, 0.5 * speed) / limit;
                least_load = fmin(least_load, there);
                if (!(there >= limit_fraction * (1.0 - 1e-6)) || !(half < limit_fraction)) {
                    trial_fail(
                        s.trial,
                        "friction at transition_speed = %.4g m/s is %.4f of its limit, at half of it %.4f; expected at "
                        "least %g, and less; %s",
                        speed, there, half, limit_fraction, law_words(&s, i, still, words, sizeof words));
                }
            }
            look_at_gap(&s, i, v, &worst_gap);
        }
    }
    trial_ok(trial, "friction at the transition %.4f of its limit or more, glide gap off by at most %.1e m", least_load,
             worst_gap);
    law_end(&s);
}
