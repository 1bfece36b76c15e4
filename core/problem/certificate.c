// SPDX-License-Identifier: Apache-2.0
// The certificate: residuals of (problem, v, gamma) with one definition for every solver (docs/certificate.md). NaN in
// v or gamma spreads into every residual that it enters: sums carry it, maxima are taken with `worst`, which fmax would
// not.
#include <stiction/certificate.h>
#include <stiction/plugin.h>
#include <string.h>

#include "base/finite.h"
#include "problem/local_form.h"
#include "problem/natural_map.h"
#include "problem/regularize.h"
#include "problem/solver.h"

// -------------------------------------------------------------------------------------------------- natural maps
// Natural maps of the certificate (docs/certificate.md): e = |gamma - P(gamma - rho g)|/rho, rho = rows/trace(W_ii),
// with
//     Coulomb     g = v_c + (gap + mu |v_t|) e_n,  gap = (phi0 + tau_d v_n + gamma_n/(k dt))/dt, 0 without phi0:
//                 the De Saxce form of 0 <= phi0 + (dt + tau_d) v_n + gamma_n/(k dt) _|_ gamma_n >= 0 over dt
//     relaxation  g = v_c - v_hat + R gamma
// and for box and equality rows g = v_c - v_hat + R gamma in both.

/// What a certificate is made from, and the certificate.
typedef struct certification {
    const stn_problem *p;
    const double *v, *gamma, *v_c;
    const stn_law *law;
    const void *law_memory;
    const stn_inverse *inverse;
    stn_arena *scratch;
    certificate_parts *parts; // NULL: not wanted
    stn_certificate out;
} certification;

/// Squares of the maps. u, gamma: the constraint's own rows.
static inline double coulomb_map(const stn_problem *p, const stn_constraint *c, const double *u, const double *gamma) {
    double gap = 0.0, speed;
    if (c->restitution > 0.0 && !isnan(c->phi0) && problem_impact(p, c, &speed)) {
        gap = -speed;
    } else if (!isnan(c->phi0)) {
        double tau = isnan(c->relaxation_time) ? 0.0 : c->relaxation_time;
        double compliance = c->stiffness > 0.0 ? 1.0 / c->stiffness : 0.0; // infinite and unknown k: rigid
        gap = (c->phi0 + tau * u[2] + compliance * gamma[2] / p->dt) / p->dt;
    }
    const double g[3] = {u[0], u[1], u[2] + gap};
    return natural_map_cone(c, (natural_form){true, natural_map_omega(3, c->w_trace)}, gamma, g);
}

/// What Anitescu's friction on any pyramid inscribed in the cone, of four corners or more, asks: its rays do not close,
/// the impulse is in the cone, and the speed along it is 0, or it is itself. Square of the worst, as a speed.
static double anitescu_map(const stn_constraint *c, double omega, const double *gamma, const double *g) {
    const double mu1 = c->mu1, mu2 = c->set == STN_SET_ELLIPSE ? c->mu2 : c->mu1, larger = worst(mu1, mu2);
    const double a = mu1 > 0.0 ? larger / mu1 * gamma[0] : 0.0, b = mu2 > 0.0 ? larger / mu2 * gamma[1] : 0.0;
    const double size = sqrt(gamma[0] * gamma[0] + gamma[1] * gamma[1] + gamma[2] * gamma[2]);
    double error = worst(-omega * gamma[2], omega * (sqrt(a * a + b * b) - larger * gamma[2]));
    const double closing = sqrt(0.5 * (mu1 * g[0] * mu1 * g[0] + mu2 * g[1] * mu2 * g[1])) - g[2];
    error = worst(error, closing / sqrt(1.0 + larger * larger)); // the rays are as long as that
    error = worst(error, mu1 > 0.0 ? 0.0 : omega * fabs(gamma[0]));
    error = worst(error, mu2 > 0.0 ? 0.0 : omega * fabs(gamma[1]));
    const double along = size > 0.0 ? fabs(gamma[0] * g[0] + gamma[1] * g[1] + gamma[2] * g[2]) / size : 0.0;
    error = worst(error, along < omega * size ? along : omega * size); // one of both is 0
    error = worst(error, 0.0);
    return error * error;
}

/// What a formulation asks with g = v_c - v_hat + R gamma, the R and v_hat that its solver is given: the relaxation is
/// STN_CCP's. Of polyhedral friction, and of maximal dissipation, Signorini's condition, which they share with
/// Coulomb's law.
static double own_map(const stn_problem *p, stn_formulation formulation, const stn_constraint *c, const double *u,
                      const double *gamma) {
    const double *R = p->R + c->row, *v_hat = p->v_hat + c->row, omega = natural_map_omega(c->rows, c->w_trace);
    double g[STN_MAX_ROWS];
    for (int32_t r = 0; r < c->rows; r++) {
        g[r] = u[r] - v_hat[r] + R[r] * gamma[r];
    }
    if (!stn_constraint_has_cone(c)) {
        return stn_natural_map_box(c->rows, omega, p->lo + c->row, p->hi + c->row, gamma, g);
    }
    switch (formulation) {
    case STN_REGULARIZED:
    case STN_CCP:
    case STN_NCP:
        return natural_map_cone(c, (natural_form){formulation == STN_NCP, omega}, gamma, g);
    case STN_LCP:
    case STN_MDP: {
        double least = omega * gamma[2] < g[2] ? omega * gamma[2] : g[2];
        return least * least;
    }
    case STN_QP:
        return anitescu_map(c, omega, gamma, g);
    }
    return 0.0;
}

/// own_map of STN_CCP: most constraints are circular cones.
static inline double relaxed_map(const stn_problem *p, const stn_constraint *c, const double *u, const double *gamma) {
    if (c->set != STN_SET_CONE) {
        return own_map(p, STN_CCP, c, u, gamma);
    }
    const double *R = p->R + c->row, *v_hat = p->v_hat + c->row;
    const double g[3] = {u[0] - v_hat[0] + R[0] * gamma[0], u[1] - v_hat[1] + R[1] * gamma[1],
                         u[2] - v_hat[2] + R[2] * gamma[2]};
    return natural_map_circle(c->mu1, (natural_form){false, natural_map_omega(3, c->w_trace)}, gamma, g);
}

/// Of u = W gamma + q, which depends on gamma alone, relative to u and q = u(0).
static stn_status certify_scaled(certification *s, stn_error *err) {
    const stn_problem *p = s->p;
    const double *gamma = s->gamma;
    double *u = STN_ARENA(s->scratch, p->row_count, double), *q = STN_ARENA(s->scratch, p->row_count, double);
    double *none = STN_ARENA_ZEROED(s->scratch, p->row_count, double), *v = STN_ARENA(s->scratch, p->nv, double);
    if (u == NULL || q == NULL || none == NULL || v == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "certificate: out of memory");
    }
    if (p->form == STN_FORM_LOCAL) {
        local_form form;
        stn_status status = local_form_reduce(p, s->scratch, &form, err);
        if (status != STN_OK) {
            return status;
        }
        local_form_velocity(&form, p->row_count, gamma, u);
        memcpy(q, form.q, (size_t)p->row_count * sizeof *q);
    } else {
        stn_inverse_velocity(s->inverse, p, gamma, v);
        stn_problem_contact_velocity(p, v, true, u);
        stn_inverse_velocity(s->inverse, p, none, v);
        stn_problem_contact_velocity(p, v, true, q);
    }
    double ncp = 0.0, ccp = 0.0, size_u = 0.0, size_q = 0.0;
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const stn_constraint *c = &p->constraints[i];
        double relaxed = relaxed_map(p, c, u + c->row, gamma + c->row);
        ncp += stn_constraint_has_cone(c) ? coulomb_map(p, c, u + c->row, gamma + c->row) : relaxed;
        ccp += relaxed;
        for (int32_t r = c->row; r < c->row + c->rows && c->set != STN_SET_EQUALITY; r++) {
            size_u += u[r] * u[r];
            size_q += q[r] * q[r];
        }
    }
    double size = sqrt(worst(size_u, size_q)), scale = size < 1e-300 ? 1e-300 : size;
    s->out.natural_scaled = ncp == 0.0 ? 0.0 : sqrt(ncp) / scale;
    s->out.natural_ccp_scaled = ccp == 0.0 ? 0.0 : sqrt(ccp) / scale;
    s->out.finite = s->out.finite && isfinite(s->out.natural_scaled) && isfinite(s->out.natural_ccp_scaled);
    return STN_OK;
}

// ------------------------------------------------------------------------------------------------------- the law
// How far gamma is from the law that was asked for: max_i |gamma_i - law(v)_i| / max(|gamma|, |law(v)|), contacts by
// the law plugin, all other rows by the box law; those with R = 0 have none, the natural maps judge them. 0 when both
// are zero.

static stn_status certify_law(certification *s, stn_error *err) {
    const stn_problem *p = s->p;
    const double *gamma = s->gamma;
    if (p->constraint_count == 0) {
        s->out.law_residual = 0.0;
        return STN_OK;
    }
    double *answer = STN_ARENA(s->scratch, p->row_count, double);
    if (answer == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "certificate: out of memory");
    }
    const law_question asked = {.problem = p, .law = s->law, .law_memory = s->law_memory, .scratch = s->scratch};
    stn_status status = complete_impulses_at(&asked, s->v_c, answer, err);
    if (status < 0) {
        return status;
    }
    double largest = 0.0, size_gamma = 0.0, size_law = 0.0;
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const stn_constraint *c = &p->constraints[i];
        double difference = 0.0, own_gamma = 0.0, own_law = 0.0;
        for (int32_t r = c->row; r < c->row + c->rows; r++) {
            if (!stn_constraint_has_cone(c) && p->R[r] == 0.0) {
                continue;
            }
            difference += (gamma[r] - answer[r]) * (gamma[r] - answer[r]);
            size_gamma += gamma[r] * gamma[r];
            size_law += answer[r] * answer[r];
            own_gamma += gamma[r] * gamma[r];
            own_law += answer[r] * answer[r];
        }
        largest = worst(largest, sqrt(difference));
        if (s->parts != NULL) {
            s->parts->law[2 * i] = difference;
            s->parts->law[2 * i + 1] = worst(own_gamma, own_law);
        }
    }
    s->out.law_residual = largest == 0.0 ? 0.0 : largest / sqrt(worst(size_gamma, size_law));
    s->out.finite = s->out.finite && isfinite(s->out.law_residual);
    return STN_OK;
}

// ----------------------------------------------------------------------------------------------- the certificate

/// error/size, at most `most`: an error against nothing is as large as that, and 0 only where there is no error at all.
static double ratio(double error, double size, double most) {
    if (error < no_digits && size < no_digits) {
        return 0.0;
    }
    return error / worst(size, error / most);
}

/// Of a tree: D^2 = diag(A)^-1 in dofs, and the squares |D A v|^2, |D J^T gamma|^2, |D residual|^2. Where A_ii = 0 the
/// tree's largest diagonal serves, or 1 when there is none. terms: A v, what J^T gamma counts as, A (v - v_star), J^T
/// gamma, free impulses or NULL.
static void tree_momentum(const stn_matrix *A, const double *const terms[5], double *D2, double own[3]) {
    double largest = 0.0;
    stn_matrix_diagonal(A, D2);
    for (int32_t i = 0; i < A->n; i++) {
        largest = D2[i] > largest ? D2[i] : largest;
    }
    largest = largest > 0.0 ? largest : 1.0;
    own[0] = own[1] = own[2] = 0.0;
    for (int32_t i = 0; i < A->n; i++) {
        const double rest = terms[2][i] - terms[3][i] - (terms[4] != NULL ? terms[4][i] : 0.0);
        D2[i] = 1.0 / (D2[i] > 0.0 ? D2[i] : largest);
        own[0] += D2[i] * terms[0][i] * terms[0][i];
        own[1] += D2[i] * terms[1][i] * terms[1][i];
        own[2] += D2[i] * rest * rest;
    }
}

/// The same of a free body without free impulses, two dofs at a time. False: it is none, or its diagonal is not
/// positive.
static inline bool body_momentum(const stn_matrix *A, const double *const terms[5], double *D2, double own[3]) {
    typedef double two __attribute__((vector_size(16), aligned(8), may_alias));
    const double *values = A->values;
    if (A->n != 6 || A->form != STN_MATRIX_DENSE) {
        return false;
    }
    two sum[3] = {{0.0}, {0.0}, {0.0}};
    for (int32_t i = 0; i < 6; i += 2) {
        const two diagonal = {values[7 * i], values[7 * i + 7]};
        if (!(diagonal[0] > 0.0 && diagonal[1] > 0.0)) {
            return false;
        }
        const two d = 1.0 / diagonal, momentum = *(const two *)(terms[0] + i), size = *(const two *)(terms[1] + i),
                  rest = *(const two *)(terms[2] + i) - *(const two *)(terms[3] + i);
        *(two *)(D2 + i) = d;
        sum[0] += d * momentum * momentum;
        sum[1] += d * size * size;
        sum[2] += d * rest * rest;
    }
    for (int32_t i = 0; i < 3; i++) {
        own[i] = sum[i][0] + sum[i][1];
    }
    return true;
}

/// S(32). Returns max(|D A v|, |D J^T gamma|), which also scales the complementarity; work (5 nv). A problem has free
/// impulses where some A is singular; there the sizes of the impulses that balance (stn_problem_impulse_sizes) take the
/// place of J^T gamma.
static double certify_momentum(certification *s, double *work) {
    const stn_problem *p = s->p;
    int32_t n = p->nv;
    double *D2 = work, *momentum = D2 + n, *impulse = momentum + n, *r = impulse + n, *sizes = r + n;
    memset(impulse, 0, (size_t)n * sizeof(double));
    stn_problem_jacobian_transposed_add(p, 1.0, s->gamma, impulse);
    if (p->free_impulse != NULL) {
        stn_problem_impulse_sizes(p, s->gamma, sizes);
    } else {
        sizes = impulse;
    }
    stn_problem_mass_times(p, s->v, NULL, momentum);
    stn_problem_mass_times(p, s->v, p->v_star, r);
    // of each tree alone: differences of the sums would lose what is small
    double all[3] = {0.0}, unused[3];
    for (int32_t t = 0; t < p->tree_count; t++) {
        const int32_t start = p->trees[t].dof_start;
        const double *terms[] = {momentum + start, sizes + start, r + start, impulse + start,
                                 p->free_impulse != NULL ? p->free_impulse + start : NULL};
        double *own = s->parts != NULL ? s->parts->momentum + 3 * (size_t)t : unused;
        if (terms[4] != NULL || !body_momentum(&p->trees[t].A, terms, D2 + start, own)) {
            tree_momentum(&p->trees[t].A, terms, D2 + start, own);
        }
        for (int32_t i = 0; i < 3; i++) {
            all[i] += own[i];
        }
    }
    const double a = all[0], b = all[1], c = all[2];
    double size = sqrt(worst(a, b));
    s->out.momentum = ratio(sqrt(c), size, 1e14);
    s->out.momentum_size = size;
    return size;
}

/// Most contacts: no root, no division. False for NaN.
static bool is_inside(const stn_constraint *c, const double *g) {
    return c->set == STN_SET_CONE && g[2] >= 0.0 && g[0] * g[0] + g[1] * g[1] <= c->mu1 * c->mu1 * g[2] * g[2];
}

static void certify_constraints(certification *s, double size) {
    const stn_problem *p = s->p;
    int32_t contacts = 0, with_distance = 0;
    double defect = 0.0, deepest = 0.0;
    bool inside = true;
    s->out.friction_work_J = s->out.contact_start_J = s->out.contact_J = s->out.box = 0.0;
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const stn_constraint *c = &p->constraints[i];
        for (int32_t r = c->row; c->set == STN_SET_BOX && r < c->row + c->rows; r++) {
            s->out.box = worst(s->out.box, worst(p->lo[r] - s->gamma[r], s->gamma[r] - p->hi[r]));
        }
        if (!stn_constraint_has_cone(c)) {
            continue;
        }
        contacts++;
        const double *g = s->gamma + c->row, *u = s->v_c + c->row, *R = p->R + c->row, *v_hat = p->v_hat + c->row;
        double product = 0.0;
        for (int32_t r = 0; r < 3; r++) {
            product += (u[r] - v_hat[r] + R[r] * g[r]) * g[r];
        }
        defect += fabs(product);
        inside = inside && is_inside(c, g);
        double wrong_way = g[0] * u[0] + g[1] * u[1];
        s->out.friction_work_J += wrong_way <= 0.0 ? 0.0 : wrong_way;
        if (isfinite(c->phi0)) {
            with_distance++;
            double gap = c->phi0 + p->dt * u[2];
            deepest = worst(deepest, -gap);
            // what its normal force stores now and at the gap of the step's end
            s->out.contact_start_J += contact_stored(s->law, p, i, c->phi0);
            s->out.contact_J += contact_stored(s->law, p, i, gap);
        }
    }
    // the worst of all contacts: how far the impulse leaves its cone or ellipse, relative to its normal part; and how
    // far that pulls, relative to the largest number in an impulse of any contact
    double largest = 0.0;
    const bool adhesive = s->law != NULL && s->law->adhesive; // there is no cone
    s->out.cone = adhesive ? (double)NAN : 0.0;
    inside = inside || adhesive;
    for (int32_t i = 0; i < p->constraint_count && !inside; i++) {
        const stn_constraint *c = &p->constraints[i];
        for (int32_t r = 0; r < 3 && stn_constraint_has_cone(c); r++) {
            largest = worst(largest, fabs(s->gamma[c->row + r]));
        }
    }
    for (int32_t i = 0; i < p->constraint_count && !inside; i++) {
        const stn_constraint *c = &p->constraints[i];
        const double *g = s->gamma + c->row;
        if (!stn_constraint_has_cone(c) || is_inside(c, g) || largest == 0.0) {
            continue;
        }
        circular x = circular_of(c, g, g);
        double beyond = worst(sqrt(x.gamma[0] * x.gamma[0] + x.gamma[1] * x.gamma[1]) - x.mu * g[2], 0.0);
        double relative = sqrt(beyond * beyond + x.forbidden * x.forbidden) / worst(g[2], 1e-12 * largest);
        s->out.cone = worst(s->out.cone, worst(relative, -g[2] / largest));
    }
    s->out.penetration_m = contacts > 0 && with_distance == 0 ? (double)NAN : deepest;
    s->out.complementarity_J = contacts > 0 ? defect / contacts : 0.0;
    s->out.complementarity = ratio(s->out.complementarity_J, 0.5 * size * size, 1e28);
}

stn_status stn_certify(const stn_problem *problem, const double *v, const double *gamma, const stn_law *law,
                       const void *law_memory, const stn_inverse *inverse, uint32_t flags, stn_arena *scratch,
                       stn_certificate *out, stn_error *err) {
    const certificate_question q = {problem, v, gamma, law, law_memory, inverse, flags, scratch};
    return certify_in_parts(&q, NULL, out, err);
}

stn_status certify_in_parts(const certificate_question *q, certificate_parts *parts, stn_certificate *out,
                            stn_error *err) {
    const stn_problem *problem = q->problem;
    const double *v = q->v, *gamma = q->gamma;
    const stn_law *law = q->law;
    const stn_inverse *inverse = q->inverse;
    const uint32_t flags = q->flags;
    stn_arena *scratch = q->scratch;
    const bool global = problem->form == STN_FORM_GLOBAL, light = (flags & STN_CERTIFICATE_LIGHT) != 0;
    const bool scaled = (flags & STN_CERTIFICATE_SCALED) != 0;
    if (scaled && global && inverse == NULL) {
        return stn_fail(err, STN_ERR_ARGUMENT, "certificate: natural_scaled needs the inverse of A");
    }
    double *work = STN_ARENA(scratch, 5 * (size_t)problem->nv, double);
    double *v_c = STN_ARENA(scratch, problem->row_count, double);
    bool room = work != NULL && v_c != NULL;
    if (parts != NULL) {
        parts->v_c = v_c;
        parts->D2 = global ? work : NULL;
        parts->momentum = STN_ARENA(scratch, 3 * (size_t)problem->tree_count, double);
        parts->map = light ? NULL : STN_ARENA(scratch, problem->constraint_count, double);
        parts->law =
            light || law == NULL || !global ? NULL : STN_ARENA(scratch, 2 * (size_t)problem->constraint_count, double);
        room = room && parts->momentum != NULL && (light || parts->map != NULL) &&
               (light || law == NULL || !global || parts->law != NULL);
    }
    if (!room) {
        return stn_fail(err, STN_ERR_MEMORY, "certificate: out of memory");
    }
    if (global) { // v_c of every row: J v + bias, or W gamma + q
        stn_problem_contact_velocity(problem, v, true, v_c);
    } else {
        local_form form;
        stn_status status = local_form_reduce(problem, scratch, &form, err);
        if (status != STN_OK) {
            return status;
        }
        local_form_velocity(&form, problem->row_count, gamma, v_c);
    }
    certification s = {
        .p = problem,
        .v = v,
        .gamma = gamma,
        .v_c = v_c,
        .law = law,
        .law_memory = q->law_memory,
        .inverse = inverse,
        .scratch = scratch,
        .parts = parts,
#define NOT_APPLICABLE(member, name, unit, text) .out.member = (double)NAN,
        STN_CERTIFICATE_FIELDS(NOT_APPLICABLE)
#undef NOT_APPLICABLE
            .out.momentum_size = (double)NAN,
    };
    stn_certificate *c = &s.out;
    certify_constraints(&s, global ? certify_momentum(&s, work) : (double)NAN);
    const double always[] = {c->complementarity_J, law != NULL && law->adhesive ? 0.0 : c->cone, c->friction_work_J,
                             c->box};
    c->finite =
        all_finite((size_t)problem->row_count, gamma) && all_finite((size_t)problem->row_count, v_c) &&
        all_finite(STN_COUNT(always), always) && !isinf(c->penetration_m) &&
        (!global || (all_finite((size_t)problem->nv, v) && isfinite(c->momentum) && isfinite(c->complementarity)));
    // beyond the basics, as far as it was asked for
    if (!light) {
        double ncp = 0.0, ccp = 0.0;
        for (int32_t i = 0; i < problem->constraint_count; i++) {
            const stn_constraint *k = &problem->constraints[i];
            const double *u = v_c + k->row, *own = gamma + k->row;
            double relaxed = relaxed_map(problem, k, u, own);
            double coulomb = stn_constraint_has_cone(k) ? coulomb_map(problem, k, u, own) : relaxed;
            ncp = worst(ncp, coulomb);
            ccp = worst(ccp, relaxed);
            if (parts != NULL) { // the relaxation is what two of them ask
                const bool same = parts->formulation == STN_CCP || parts->formulation == STN_REGULARIZED;
                parts->map[i] = same ? relaxed : own_map(problem, parts->formulation, k, u, own);
            }
        }
        c->natural_ncp = sqrt(ncp);
        c->natural_ccp = sqrt(ccp);
        c->finite = c->finite && isfinite(c->natural_ncp) && isfinite(c->natural_ccp);
    }
    if (!light && law != NULL && global) {
        stn_status status = certify_law(&s, err);
        if (status != STN_OK) {
            return status;
        }
    }
    if (scaled && (!global || stn_inverse_require(inverse, NULL) == STN_OK)) {
        stn_status status = certify_scaled(&s, err);
        if (status != STN_OK) {
            return status;
        }
    }
    *out = s.out;
    return STN_OK;
}
