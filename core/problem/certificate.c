// SPDX-License-Identifier: Apache-2.0
// The certificate: residuals of (problem, v, gamma) with one definition for every solver (docs/certificate.md). NaN in v or gamma
// spreads into every residual that it enters: sums carry it, maxima are taken with `worst`, which fmax would not.
#include "problem/certificate.h"

#include <string.h>

static double norm(const double *x, const double *scale, int32_t n) {
    double sum = 0.0;
    for (int32_t i = 0; i < n; i++) {
        double y = scale[i] * x[i];
        sum += y * y;
    }
    return sqrt(sum);
}

/// D = diag(A)^-1/2 in dofs; where A_ii = 0 the tree's largest diagonal serves, or 1 when there is none.
static void fill_scale(const stn_problem *p, double *D) {
    for (int32_t t = 0; t < p->tree_count; t++) {
        double *d = D + p->trees[t].dof_start, largest = 0.0;
        int32_t n = p->trees[t].A.n;
        stn_matrix_diagonal(&p->trees[t].A, d);
        for (int32_t i = 0; i < n; i++) {
            largest = fmax(largest, d[i]);
        }
        largest = largest > 0.0 ? largest : 1.0;
        for (int32_t i = 0; i < n; i++) {
            d[i] = 1.0 / sqrt(d[i] > 0.0 ? d[i] : largest);
        }
    }
}

/// S(32). Returns max(|D A v|, |D J^T gamma|), which also scales the complementarity.
static double certify_momentum(const stn_problem *p, const double *v, const double *gamma, double *work,
                               stn_certificate *out) {
    int32_t n = p->nv;
    double *D = work, *p_tilde = D + n, *j = p_tilde + n, *r = j + n;
    fill_scale(p, D);
    memset(j, 0, (size_t)n * sizeof(double));
    stn_problem_jacobian_transposed_add(p, 1.0, gamma, j);
    stn_problem_mass_times(p, v, NULL, p_tilde);
    stn_problem_mass_times(p, v, p->v_star, r);
    for (int32_t i = 0; i < n; i++) {
        r[i] -= j[i] + (p->free_impulse != NULL ? p->free_impulse[i] : 0.0);
    }
    double size = worst(norm(p_tilde, D, n), norm(j, D, n));
    double error = norm(r, D, n);
    out->momentum = size < 1e-14 ? (error < 1e-14 ? 0.0 : error / 1e-14) : error / size;
    return size;
}

/// v_c of every row: J v + bias, or W gamma + q.
static void contact_velocities(const stn_problem *p, const double *v, const double *gamma, double *v_c) {
    if (p->form == STN_FORM_GLOBAL) {
        stn_problem_contact_velocity(p, v, true, v_c);
        return;
    }
    for (int32_t i = 0; i < p->row_count; i++) {
        double sum = p->q[i];
        for (int32_t k = 0; k < p->row_count; k++) {
            sum += p->W[(size_t)i * (size_t)p->row_count + (size_t)k] * gamma[k];
        }
        v_c[i] = sum;
    }
}

/// How far the impulse leaves its cone or ellipse, relative to its normal part; and how far that pulls.
static double cone_violation(const stn_constraint *c, const double *g) {
    double tangential = c->set == STN_SET_CONE ? hypot(g[0], g[1]) - c->mu1 * g[2]
                                               : ellipse_norm(c, g) - g[2];
    double relative = tangential / (g[2] > 1e-12 ? g[2] : 1e-12);
    return worst(worst(relative, -g[2]), 0.0);
}

static void certify_contacts(const stn_problem *p, const double *v_c, const double *gamma, double energy,
                             stn_certificate *out) {
    int32_t contacts = 0, with_distance = 0;
    double defect = 0.0, deepest = 0.0;
    out->cone = out->friction_work_J = 0.0;
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const stn_constraint *c = &p->constraints[i];
        if (!is_contact(c)) {
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
    double scale = 0.5 * energy * energy;
    out->complementarity = out->complementarity_J == 0.0 ? 0.0 : out->complementarity_J / (scale < 1e-14 ? 1e-14 : scale);
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

stn_status stn_certify(const stn_problem *problem, const double *v, const double *gamma, const stn_law *law,
                       const void *law_memory, const stn_inverse *inverse, uint32_t flags, stn_arena *scratch,
                       stn_certificate *out, stn_error *err) {
    *out = (stn_certificate){
#define NOT_APPLICABLE(member, name, unit, text) .member = NAN,
        STN_CERTIFICATE_FIELDS(NOT_APPLICABLE)
#undef NOT_APPLICABLE
    };
    bool global = problem->form == STN_FORM_GLOBAL;
    if (!global && problem->bilateral_count > 0) {
        return stn_fail(err, STN_ERR_UNSUPPORTED, "certificate: a local problem with bilateral rows must be eliminated first");
    }
    double *work = STN_ARENA(scratch, 4 * (int64_t)problem->nv, double);
    double *v_c = STN_ARENA(scratch, problem->row_count, double);
    if (work == NULL || v_c == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "certificate: out of memory");
    }
    out->finite = all_finite(gamma, problem->row_count) && (!global || all_finite(v, problem->nv));
    double size = global ? certify_momentum(problem, v, gamma, work, out) : 1.0;
    contact_velocities(problem, v, gamma, v_c);
    certify_contacts(problem, v_c, gamma, size, out);
    certify_boxes(problem, gamma, out);
    if ((flags & STN_CERTIFICATE_LIGHT) == 0) {
        certify_natural(problem, v_c, gamma, out);
        stn_status status = law != NULL && global ? certify_law(problem, v, gamma, law, law_memory, scratch, out, err) : STN_OK;
        if (status != STN_OK) {
            return status;
        }
    }
    return (flags & STN_CERTIFICATE_SCALED) != 0 ? certify_scaled(problem, gamma, inverse, scratch, out, err) : STN_OK;
}

void stn_certificate_merge(stn_certificate *into, const stn_certificate *other) {
#define MERGE(member, name, unit, text) into->member = fmax(into->member, other->member);
    STN_CERTIFICATE_FIELDS(MERGE)
#undef MERGE
    into->finite = into->finite && other->finite;
}
