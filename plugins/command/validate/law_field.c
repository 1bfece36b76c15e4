// SPDX-License-Identifier: Apache-2.0
// The impulse of a law as a field of the contact velocity: it has a convex potential, and takes energy away.
#include <math.h>
#include <string.h>

#include "law_checks.h"
#include "law_subject.h"

enum { STEPS = 10 };

/// What is asked of one contact, at one velocity. False: the trial is decided.
typedef bool visit(law_subject *s, int32_t i, const double v[3], double *worst);

static visit look_at_work;

/// Visits random contacts at random velocities and reports the worst figure.
static void visit_all(validate_trial *trial, visit *look, const char *what) {
    law_subject s;
    double worst = 0.0;
    int32_t rounds = trial->request->full ? 400 : 40, seen = 0;
    if (!law_begin(&s, trial)) {
        return;
    }
    for (int32_t round = 0; round < rounds && !trial->decided && law_draw(&s); round++) {
        for (int32_t i = 0; i < LAW_CONTACTS && !trial->decided && law_choose(&s, i); i++) {
            for (int32_t k = 0; k < 4 && !trial->decided; k++, seen++) {
                double v[3];
                law_velocity(&s, i, v);
                look(&s, i, v, &worst);
            }
        }
    }
    if (look == look_at_work && stn_plugin_says(s.instance, "adhesive") && s.pulls == 0) {
        trial_fail(trial, "says that it is adhesive, and pulls at none of %d contact velocities: leave the word out",
                   seen);
    }
    trial_ok(trial, "%d contact velocities%s%s %.1e", seen, what[0] != '\0' ? ", " : "", what, worst);
    law_end(&s);
}

static double size_of(const double x[3]) {
    return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
}

/// v with entry a moved by h, and by how much it has really moved.
static double moved(const double v[3], int32_t a, double h, double out[3]) {
    out[0] = v[0];
    out[1] = v[1];
    out[2] = v[2];
    out[a] += h;
    return out[a] - v[a];
}

static double step_of(const double v[3], int32_t k) {
    return (size_of(v) + 1e-6) * pow(10.0, -k);
}

// -------------------------------------------------------------------------------------------------------- gradient

static const double gradient_tolerance = 1e-4, hessian_tolerance = 1e-3, asymmetry_tolerance = 1e-2;

/// Smallest relative error over all steps; -1 where digits do not suffice with any.
static double gradient_error(law_subject *s, const double v[3], int32_t a, const law_answer *here) {
    double best = -1.0, size = size_of(here->gamma);
    for (int32_t k = 1; k < STEPS; k++) {
        double up[3], down[3], h = step_of(v, k);
        double width = moved(v, a, h, up) - moved(v, a, -h, down);
        law_answer x = law_at(s, up), y = law_at(s, down);
        double rounding = 4e-16 * (fabs(x.cost) + fabs(y.cost)) / width;
        double error = fabs((x.cost - y.cost) / width + here->gamma[a]);
        if (size == 0.0 || rounding <= 0.1 * gradient_tolerance * size) {
            double relative = error == 0.0 ? 0.0 : error / fmax(size, 1e-300);
            best = best < 0.0 || !(relative > best) ? relative : best;
        }
    }
    return best;
}

static bool look_at_gradient(law_subject *s, int32_t i, const double v[3], double *worst) {
    law_answer here = law_at(s, v);
    char words[320];
    for (int32_t a = 0; a < 3; a++) {
        double error = gradient_error(s, v, a, &here);
        if (error > gradient_tolerance || isnan(error) || !isfinite(here.gamma[a])) {
            trial_fail(s->trial, "gamma[%d] = %.9g N s differs from -dl/dv by %.2g relative; %s", a, here.gamma[a],
                       error, law_words(s, i, v, words, sizeof words));
            return false;
        }
        *worst = fmax(*worst, error);
    }
    return true;
}

void law_gradient(validate_trial *trial) {
    visit_all(trial, look_at_gradient, "worst relative error");
}

// --------------------------------------------------------------------------------------------------------- Hessian

/// -dgamma/dv_a by differences of one side (-1, 1) or both (0). Returns what rounding adds: nothing to what stays.
static double difference(law_subject *s, const double v[3], int32_t a, double h, int32_t side, double out[3]) {
    double high[3], low[3], rounding[3];
    double width = moved(v, a, side < 0 ? 0.0 : h, high) - moved(v, a, side > 0 ? 0.0 : -h, low);
    law_answer x = law_at(s, high), y = law_at(s, low);
    for (int32_t b = 0; b < 3; b++) {
        out[b] = -(x.gamma[b] - y.gamma[b]) / width;
        rounding[b] = out[b] != 0.0 ? 4e-16 * (fabs(x.gamma[b]) + fabs(y.gamma[b])) / width : 0.0;
    }
    return size_of(rounding);
}

/// G may jump, so that one side suffices.
static double hessian_error(law_subject *s, const double v[3], int32_t a, const law_answer *here) {
    double best = -1.0;
    for (int32_t k = 1; k < STEPS; k++) {
        for (int32_t side = -1; side <= 1; side++) {
            double column[3], off[3];
            double rounding = difference(s, v, a, step_of(v, k), side, column);
            for (int32_t b = 0; b < 3; b++) {
                off[b] = column[b] - here->G[a][b];
            }
            double size = fmax(size_of(column), size_of(here->G[a])), error = size_of(off);
            if (size == 0.0 || rounding <= 0.1 * hessian_tolerance * size) {
                double relative = error == 0.0 ? 0.0 : error / size;
                best = best < 0.0 || !(relative > best) ? relative : best;
            }
        }
    }
    return best;
}

static bool look_at_hessian(law_subject *s, int32_t i, const double v[3], double *worst) {
    law_answer here = law_at(s, v);
    char words[320];
    for (int32_t a = 0; a < 3; a++) {
        double error = hessian_error(s, v, a, &here);
        if (error > hessian_tolerance || isnan(error) || !isfinite(size_of(here.G[a]))) {
            trial_fail(s->trial, "column %d of G, (%.6g, %.6g, %.6g) kg, differs from -dgamma/dv by %.2g relative; %s",
                       a, here.G[a][0], here.G[a][1], here.G[a][2], error, law_words(s, i, v, words, sizeof words));
            return false;
        }
        *worst = fmax(*worst, error);
    }
    return true;
}

void law_hessian(validate_trial *trial) {
    visit_all(trial, look_at_hessian, "worst relative error");
}

/// Asymmetry of dgamma/dv itself, whatever G says; entry by entry, as the stiffness of friction may dwarf the coupling.
static bool look_at_curl(law_subject *s, int32_t i, const double v[3], double *worst) {
    double best = -1.0;
    char words[320];
    for (int32_t k = 1; k < STEPS; k++) {
        double D[3][3], rounding = 0.0, relative = 0.0;
        for (int32_t a = 0; a < 3; a++) {
            rounding = fmax(rounding, difference(s, v, a, step_of(v, k), 0, D[a]));
        }
        double largest = fmax(size_of(D[0]), fmax(size_of(D[1]), size_of(D[2])));
        for (int32_t a = 0; a < 3; a++) {
            for (int32_t b = 0; b < a; b++) {
                double size = fabs(D[a][b]) + fabs(D[b][a]) + 1e-5 * largest, off = fabs(D[a][b] - D[b][a]);
                relative = off > 0.0 ? fmax(relative, off / size) : relative;
            }
        }
        if (rounding <= 1e-8 * largest || largest == 0.0) {
            best = best < 0.0 || !(relative > best) ? relative : best;
        }
    }
    *worst = fmax(*worst, best);
    if (best > asymmetry_tolerance || isnan(best)) {
        trial_fail(s->trial, "dgamma/dv is not symmetric, by %.2g of its entries; %s", best,
                   law_words(s, i, v, words, sizeof words));
    }
    return !s->trial->decided;
}

void law_curl(validate_trial *trial) {
    visit_all(trial, look_at_curl, "worst asymmetry");
}

// ---------------------------------------------------------------------------------------------------------- convex

/// Least principal minor of G scaled to a unit diagonal; a row without diagonal must be zero.
static double least_minor(const law_answer *x) {
    double M[3][3], least = 1.0;
    for (int32_t a = 0; a < 3; a++) {
        for (int32_t b = 0; b < 3; b++) {
            double size = sqrt(fabs(x->G[a][a])) * sqrt(fabs(x->G[b][b]));
            M[a][b] = x->G[a][b] == 0.0 ? 0.0 : (size > 0.0 ? x->G[a][b] / size : -1.0);
        }
        least = fmin(least, M[a][a]);
    }
    for (int32_t a = 0; a < 3; a++) {
        for (int32_t b = 0; b < a; b++) {
            least = fmin(least, M[a][a] * M[b][b] - M[a][b] * M[b][a]);
        }
    }
    double determinant = M[0][0] * (M[1][1] * M[2][2] - M[1][2] * M[2][1]) -
                         M[0][1] * (M[1][0] * M[2][2] - M[1][2] * M[2][0]) +
                         M[0][2] * (M[1][0] * M[2][1] - M[1][1] * M[2][0]);
    return fmin(least, determinant);
}

static bool look_at_convexity(law_subject *s, int32_t i, const double v[3], double *worst) {
    double other[3], dot = 0.0, apart[3];
    char words[320];
    law_velocity(s, i, other);
    law_answer x = law_at(s, v), y = law_at(s, other);
    for (int32_t a = 0; a < 3; a++) {
        apart[a] = v[a] - other[a];
        dot += (x.gamma[a] - y.gamma[a]) * apart[a];
    }
    double size = (size_of(x.gamma) + size_of(y.gamma)) * size_of(apart), minor = least_minor(&x);
    *worst = fmax(*worst, size > 0.0 ? dot / size : 0.0);
    if (!(dot <= 1e-12 * size)) {
        trial_fail(s->trial, "(gamma - gamma').(v - v') = %.3g J > 0 with v' = (%.6g, %.6g, %.6g); %s", dot, other[0],
                   other[1], other[2], law_words(s, i, v, words, sizeof words));
    } else if (!(minor >= -1e-9)) {
        trial_fail(s->trial, "G is not positive semidefinite, least scaled minor %.3g; %s", minor,
                   law_words(s, i, v, words, sizeof words));
    }
    return !s->trial->decided;
}

void law_convex(validate_trial *trial) {
    visit_all(trial, look_at_convexity, "largest product of differences");
}

// ----------------------------------------------------------------------------------------------- open, work, mu = 0

/// Leaving overlap there is no normal impulse, unless it is adhesive or explicit; friction may still be that of the
/// step before. Out of reach before and after the step there is nothing.
static bool look_when_open(law_subject *s, int32_t i, const double v[3], double *worst) {
    stn_constraint *c = &s->problem->constraints[i];
    const double away[3] = {1e-3 * v[0], 1e-3 * v[1], 1e3 * (fabs(c->phi0) / s->problem->dt + 1.0 + size_of(v))};
    law_answer leaving = law_at(s, away);
    bool acts = stn_plugin_says(s->instance, "adhesive") || stn_plugin_says(s->instance, "explicit");
    double most = acts ? 0.0 : fabs(leaving.gamma[2]) + fabs(leaving.G[2][2]);
    bool reaches = s->ops->reach != NULL; // at rest
    c->phi0 = fabs(c->phi0) + (reaches ? s->ops->reach(s->instance->self, s->problem->dt, c, 0.0, 0.0) : 0.0);
    law_regularize(s);
    if (!law_choose(s, i)) {
        return false;
    }
    law_answer apart = law_at(s, away);
    most = fmax(most, fmax(fabs(apart.cost), size_of(apart.gamma)));
    for (int32_t a = 0; a < 3; a++) {
        most = fmax(most, size_of(apart.G[a]));
    }
    char words[320];
    *worst = fmax(*worst, most);
    if (leaving.gamma[2] < 0.0 && most > 0.0) {
        trial_fail(s->trial, "leaving overlap: gamma_n = %.3g N s pulls, expected zeros of what is not adhesive; %s",
                   leaving.gamma[2], law_words(s, i, away, words, sizeof words));
    } else if (!(most == 0.0)) {
        trial_fail(s->trial, "open: cost %.3g J, gamma_n %.3g N s, G_nn %.3g kg, expected zeros; %s", apart.cost,
                   apart.gamma[2], apart.G[2][2], law_words(s, i, away, words, sizeof words));
    }
    return !s->trial->decided;
}

void law_open(validate_trial *trial) {
    visit_all(trial, look_when_open, "largest");
}

/// Friction of an explicit law opposes the slip at the step's start.
static bool look_at_work(law_subject *s, int32_t i, const double v[3], double *worst) {
    bool explicit = stn_plugin_says(s->instance, "explicit");
    const double *u = explicit ? s->problem->v0 : v; // all contacts are on one point, so v0 is their velocity
    law_answer x = law_at(s, v), y = explicit ? law_at(s, u) : x;
    double friction = hypot(x.gamma[0], x.gamma[1]), slip = hypot(u[0], u[1]);
    double work = x.gamma[0] * u[0] + x.gamma[1] * u[1];
    char words[320];
    if (memcmp(x.gamma, y.gamma, sizeof x.gamma) != 0) {
        trial_fail(s->trial, "says that it is explicit, and gamma changes with v_c: leave the word out; %s",
                   law_words(s, i, v, words, sizeof words));
    }
    *worst = fmax(*worst, friction * slip > 0.0 ? work / (friction * slip) : 0.0);
    s->pulls += x.gamma[2] < 0.0;
    if (!(x.gamma[2] >= 0.0) && !(isfinite(x.gamma[2]) && stn_plugin_says(s->instance, "adhesive"))) {
        trial_fail(s->trial, "gamma_n = %.3g N s pulls, and it does not say that it is adhesive; %s", x.gamma[2],
                   law_words(s, i, v, words, sizeof words));
    } else if (!(work <= 1e-12 * friction * slip)) {
        trial_fail(s->trial, "friction works: gamma_t.v_t = %.3g J > 0; %s", work,
                   law_words(s, i, v, words, sizeof words));
    }
    return !s->trial->decided;
}

void law_work(validate_trial *trial) {
    visit_all(trial, look_at_work, "largest gamma_t.v_t over the product of sizes");
}

static bool look_without_friction(law_subject *s, int32_t i, const double v[3], double *worst) {
    stn_constraint *c = &s->problem->constraints[i];
    char words[320];
    c->mu1 = c->mu2 = 0.0;
    if (!law_choose(s, i)) {
        return false;
    }
    const double still[3] = {0.0, 0.0, v[2]};
    law_answer x = law_at(s, v), y = law_at(s, still); // and v_t = 0
    double friction = fmax(hypot(x.gamma[0], x.gamma[1]), hypot(y.gamma[0], y.gamma[1]));
    *worst = fmax(*worst, friction);
    if (!(friction == 0.0) || !isfinite(x.cost + y.cost + size_of(y.G[0]) + size_of(y.G[1]) + size_of(y.G[2]))) {
        trial_fail(s->trial, "a tangential impulse of %.3g N s, or numbers that are not finite; %s", friction,
                   law_words(s, i, v, words, sizeof words));
    }
    return !s->trial->decided;
}

void law_without_friction(validate_trial *trial) {
    visit_all(trial, look_without_friction, "largest tangential impulse");
}
