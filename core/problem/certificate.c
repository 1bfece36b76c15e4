// SPDX-License-Identifier: Apache-2.0
// The certificate: residuals of (problem, v, gamma) with one definition for every solver (docs/certificate.md). NaN in
// v or gamma spreads into every residual that it enters: sums carry it, maxima are taken with `worst`, which fmax would
// not.
#include "problem/certificate.h"
#include "problem/cone.h"

#include <string.h>

#include "problem/local_form.h"

static const double nothing = 1e-14; // [sqrt(J)] momenta below are no motion

/// error/size, where what is below `tiny` counts as tiny: 0 when nothing moves, but never 0 for an error against
/// nothing.
static double ratio(double error, double size, double tiny) {
    if (error < tiny && size < tiny) {
        return 0.0;
    }
    return error / (size < tiny ? tiny : size);
}

/// D^2 = diag(A)^-1 in dofs; where A_ii = 0 the tree's largest diagonal serves, or 1 when there is none.
static void fill_scale(const stn_problem *p, double *D2) {
    for (int32_t t = 0; t < p->tree_count; t++) {
        double *d = D2 + p->trees[t].dof_start, largest = 0.0;
        int32_t n = p->trees[t].A.n;
        stn_matrix_diagonal(&p->trees[t].A, d);
        for (int32_t i = 0; i < n; i++) {
            largest = d[i] > largest ? d[i] : largest;
        }
        largest = largest > 0.0 ? largest : 1.0;
        for (int32_t i = 0; i < n; i++) {
            d[i] = 1.0 / (d[i] > 0.0 ? d[i] : largest);
        }
    }
}

/// S(32). Returns max(|D A v|, |D J^T gamma|), which also scales the complementarity.
static double certify_momentum(const stn_problem *p, const double *v, const double *gamma, double *work,
                               stn_certificate *out) {
    int32_t n = p->nv;
    double *D2 = work, *momentum = D2 + n, *impulse = momentum + n, *r = impulse + n;
    fill_scale(p, D2);
    memset(impulse, 0, (size_t)n * sizeof(double));
    stn_problem_jacobian_transposed_add(p, 1.0, gamma, impulse);
    stn_problem_mass_times(p, v, NULL, momentum);
    stn_problem_mass_times(p, v, p->v_star, r);
    double a = 0.0, b = 0.0, c = 0.0; // |D A v|^2, |D J^T gamma|^2, |D residual|^2
    for (int32_t i = 0; i < n; i++) {
        double free_impulse = p->free_impulse != NULL ? p->free_impulse[i] : 0.0;
        double rest = r[i] - impulse[i] - free_impulse;
        a += D2[i] * momentum[i] * momentum[i];
        b += D2[i] * impulse[i] * impulse[i];
        c += D2[i] * rest * rest;
    }
    double size = sqrt(worst(a, b));
    out->momentum = ratio(sqrt(c), size, nothing);
    out->momentum_size = size;
    return size;
}

/// v_c of every row: J v + bias, or W gamma + q.
static stn_status contact_velocities(const stn_problem *p, const double *v, const double *gamma, stn_arena *scratch,
                                     double *v_c, stn_error *err) {
    if (p->form == STN_FORM_GLOBAL) {
        stn_problem_contact_velocity(p, v, true, v_c);
        return STN_OK;
    }
    local_form form;
    stn_status status = local_form_reduce(p, scratch, &form, err);
    if (status == STN_OK) {
        local_form_velocity(&form, p->row_count, gamma, v_c);
    }
    return status;
}

/// How far the impulse leaves its cone or ellipse, relative to its normal part; and how far that pulls.
static double cone_violation(const stn_constraint *c, const double *g) {
    if (c->set == STN_SET_CONE && g[2] >= 0.0 && g[0] * g[0] + g[1] * g[1] <= c->mu1 * c->mu1 * g[2] * g[2]) {
        return 0.0; // most contacts: no root, no division
    }
    circular x = circular_of(c, g, g);
    double beyond = worst(sqrt(x.gamma[0] * x.gamma[0] + x.gamma[1] * x.gamma[1]) - x.mu * g[2], 0.0);
    double relative = sqrt(beyond * beyond + x.forbidden * x.forbidden) / (g[2] > 1e-12 ? g[2] : 1e-12);
    return worst(relative, -g[2]);
}

static void certify_contacts(const stn_problem *p, const double *v_c, const double *gamma, double size,
                             stn_certificate *out) {
    int32_t contacts = 0, with_distance = 0;
    double defect = 0.0, deepest = 0.0;
    out->cone = out->friction_work_J = 0.0;
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const stn_constraint *c = &p->constraints[i];
        if (!has_cone(c)) {
            continue;
        }
        contacts++;
        const double *g = gamma + c->row, *u = v_c + c->row, *R = p->R + c->row, *v_hat = p->v_hat + c->row;
        double product = 0.0;
        for (int32_t r = 0; r < 3; r++) {
            product += (u[r] - v_hat[r] + R[r] * g[r]) * g[r];
        }
        defect += fabs(product);
        out->cone = worst(out->cone, cone_violation(c, g));
        double wrong_way = g[0] * u[0] + g[1] * u[1];
        out->friction_work_J += wrong_way <= 0.0 ? 0.0 : wrong_way;
        if (isfinite(c->phi0)) {
            with_distance++;
            deepest = worst(deepest, -(c->phi0 + p->dt * u[2]));
        }
    }
    out->penetration_m = contacts > 0 && with_distance == 0 ? (double)NAN : deepest;
    out->complementarity_J = contacts > 0 ? defect / contacts : 0.0;
    out->complementarity = ratio(out->complementarity_J, 0.5 * size * size, 0.5 * nothing * nothing);
}

static void certify_boxes(const stn_problem *p, const double *gamma, stn_certificate *out) {
    out->box = 0.0;
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const stn_constraint *c = &p->constraints[i];
        for (int32_t r = c->row; c->set == STN_SET_BOX && r < c->row + c->rows; r++) {
            out->box = worst(out->box, worst(p->lo[r] - gamma[r], gamma[r] - p->hi[r]));
        }
    }
}

static bool all_finite(const double *x, int32_t n) {
    for (int32_t i = 0; i < n; i++) {
        if (!isfinite(x[i])) {
            return false;
        }
    }
    return true;
}

static void certify_basics(const stn_problem *p, const double *v, const double *gamma, const double *v_c, double *work,
                           stn_certificate *out) {
    bool global = p->form == STN_FORM_GLOBAL;
    double size = global ? certify_momentum(p, v, gamma, work, out) : (double)NAN;
    certify_contacts(p, v_c, gamma, size, out);
    certify_boxes(p, gamma, out);
    out->finite = all_finite(gamma, p->row_count) && all_finite(v_c, p->row_count) &&
                  (!global || (all_finite(v, p->nv) && isfinite(out->momentum)));
}

stn_status stn_certify(const stn_problem *problem, const double *v, const double *gamma, const stn_law *law,
                       const void *law_memory, const stn_inverse *inverse, uint32_t flags, stn_arena *scratch,
                       stn_certificate *out, stn_error *err) {
    stn_certificate result = {
#define NOT_APPLICABLE(member, name, unit, text) .member = (double)NAN,
        STN_CERTIFICATE_FIELDS(NOT_APPLICABLE)
#undef NOT_APPLICABLE
            .momentum_size = (double)NAN,
    };
    bool global = problem->form == STN_FORM_GLOBAL;
    bool light = (flags & STN_CERTIFICATE_LIGHT) != 0, scaled = (flags & STN_CERTIFICATE_SCALED) != 0;
    if (scaled && global && inverse == NULL) {
        return stn_fail(err, STN_ERR_ARGUMENT, "certificate: natural_scaled needs the inverse of A");
    }
    double *work = STN_ARENA(scratch, 4 * (size_t)problem->nv, double);
    double *v_c = STN_ARENA(scratch, problem->row_count, double);
    if (work == NULL || v_c == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "certificate: out of memory");
    }
    stn_status status = contact_velocities(problem, v, gamma, scratch, v_c, err);
    if (status == STN_OK) {
        certify_basics(problem, v, gamma, v_c, work, &result);
    }
    if (status == STN_OK && !light) {
        certify_natural(problem, v_c, gamma, &result);
    }
    if (status == STN_OK && !light && law != NULL && global) {
        status = certify_law(problem, v_c, gamma, law, law_memory, scratch, &result, err);
    }
    if (status == STN_OK && scaled) {
        status = certify_scaled(problem, gamma, inverse, scratch, &result, err);
    }
    if (status == STN_OK) {
        *out = result;
    }
    return status;
}
