// SPDX-License-Identifier: Apache-2.0
// The certificate: residuals of (problem, v, gamma) with one definition for every solver (docs/certificate.md). NaN in
// v or gamma spreads into every residual that it enters: sums carry it, maxima are taken with `worst`, which fmax would
// not.
#include <stiction/certificate.h>
#include <stiction/plugin.h>
#include <string.h>

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

static double gap_velocity(const stn_problem *p, const stn_constraint *c, double v_n, double gamma_n) {
    if (isnan(c->phi0)) {
        return 0.0;
    }
    double tau = isnan(c->relaxation_time) ? 0.0 : c->relaxation_time;
    double speed;
    if (problem_impact(p, c, &speed)) {
        return -speed;
    }
    double compliance = c->stiffness > 0.0 ? 1.0 / c->stiffness : 0.0; // infinite and unknown k: rigid
    return (c->phi0 + tau * v_n + compliance * gamma_n / p->dt) / p->dt;
}

/// Squares of the maps. u, gamma: the constraint's own rows.
static double coulomb_map(const stn_problem *p, const stn_constraint *c, const double *u, const double *gamma) {
    const double g[3] = {u[0], u[1], u[2] + gap_velocity(p, c, u[2], gamma[2])};
    return natural_map_cone(c, true, natural_map_omega(3, c->w_trace), gamma, g);
}

/// g = v_c - v_hat + R gamma of the constraint's rows.
static void slack(const stn_problem *p, const stn_constraint *c, const double *u, const double *gamma, double *g) {
    const double *R = p->R + c->row, *v_hat = p->v_hat + c->row;
    for (int32_t r = 0; r < c->rows; r++) {
        g[r] = u[r] - v_hat[r] + R[r] * gamma[r];
    }
}

static double relaxed_map(const stn_problem *p, const stn_constraint *c, const double *u, const double *gamma) {
    double g[3];
    slack(p, c, u, gamma, g);
    return natural_map_cone(c, false, natural_map_omega(3, c->w_trace), gamma, g);
}

static double row_map(const stn_problem *p, const stn_constraint *c, const double *u, const double *gamma) {
    double g[STN_MAX_ROWS];
    slack(p, c, u, gamma, g);
    return stn_natural_map_box(c->rows, natural_map_omega(c->rows, c->w_trace), p->lo + c->row, p->hi + c->row, gamma,
                               g);
}

static void certify_natural(const stn_problem *p, const double *v_c, const double *gamma, stn_certificate *out) {
    double ncp = 0.0, ccp = 0.0;
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const stn_constraint *c = &p->constraints[i];
        const double *u = v_c + c->row, *own = gamma + c->row;
        if (stn_constraint_has_cone(c)) {
            ncp = worst(ncp, coulomb_map(p, c, u, own));
            ccp = worst(ccp, relaxed_map(p, c, u, own));
        } else {
            double e = row_map(p, c, u, own);
            ncp = worst(ncp, e);
            ccp = worst(ccp, e);
        }
    }
    out->natural_ncp = sqrt(ncp);
    out->natural_ccp = sqrt(ccp);
}

/// u = W gamma + q, which depends on gamma alone, and q = u(0).
static stn_status velocities_of_impulse(const stn_problem *p, const double *gamma, const stn_inverse *inverse,
                                        stn_arena *scratch, double *u, double *q, stn_error *err) {
    double *none = STN_ARENA_ZEROED(scratch, p->row_count, double);
    double *v = STN_ARENA(scratch, p->nv, double);
    if (none == NULL || v == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "certificate: out of memory");
    }
    if (p->form == STN_FORM_LOCAL) {
        local_form form;
        stn_status status = local_form_reduce(p, scratch, &form, err);
        if (status == STN_OK) {
            local_form_velocity(&form, p->row_count, gamma, u);
            memcpy(q, form.q, (size_t)p->row_count * sizeof *q);
        }
        return status;
    }
    stn_inverse_velocity(inverse, p, gamma, v);
    stn_problem_contact_velocity(p, v, true, u);
    stn_inverse_velocity(inverse, p, none, v);
    stn_problem_contact_velocity(p, v, true, q);
    return STN_OK;
}

static stn_status certify_scaled(const stn_problem *p, const double *gamma, const stn_inverse *inverse,
                                 stn_arena *scratch, stn_certificate *out, stn_error *err) {
    double *u = STN_ARENA(scratch, p->row_count, double), *q = STN_ARENA(scratch, p->row_count, double);
    if (u == NULL || q == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "certificate: out of memory");
    }
    stn_status status = velocities_of_impulse(p, gamma, inverse, scratch, u, q, err);
    if (status != STN_OK) {
        return status;
    }
    double ncp = 0.0, ccp = 0.0, size_u = 0.0, size_q = 0.0;
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const stn_constraint *c = &p->constraints[i];
        ncp += (stn_constraint_has_cone(c) ? coulomb_map : row_map)(p, c, u + c->row, gamma + c->row);
        ccp += (stn_constraint_has_cone(c) ? relaxed_map : row_map)(p, c, u + c->row, gamma + c->row);
        for (int32_t r = c->row; r < c->row + c->rows && c->set != STN_SET_EQUALITY; r++) {
            size_u += u[r] * u[r];
            size_q += q[r] * q[r];
        }
    }
    double size = sqrt(worst(size_u, size_q)), scale = size < 1e-300 ? 1e-300 : size;
    out->natural_scaled = ncp == 0.0 ? 0.0 : sqrt(ncp) / scale;
    out->natural_ccp_scaled = ccp == 0.0 ? 0.0 : sqrt(ccp) / scale;
    return STN_OK;
}

// ------------------------------------------------------------------------------------------------------- the law
// How far gamma is from the law that was asked for: max_i |gamma_i - law(v)_i| / max(|gamma|, |law(v)|), contacts by
// the law plugin, all other rows by the box law; those with R = 0 have none, the natural maps judge them. 0 when both
// are zero.

static stn_status certify_law(const stn_problem *p, const double *v_c, const double *gamma, const stn_law *law,
                              const void *law_memory, stn_arena *scratch, stn_certificate *out, stn_error *err) {
    double *answer = STN_ARENA(scratch, p->row_count, double);
    if (answer == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "certificate: out of memory");
    }
    stn_status status = complete_impulses_at(p, law, law_memory, v_c, answer, NULL, scratch, err);
    if (status < 0) {
        return status;
    }
    double largest = 0.0, size_gamma = 0.0, size_law = 0.0;
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const stn_constraint *c = &p->constraints[i];
        double difference = 0.0;
        for (int32_t r = c->row; r < c->row + c->rows; r++) {
            if (!stn_constraint_has_cone(c) && p->R[r] == 0.0) {
                continue;
            }
            difference += (gamma[r] - answer[r]) * (gamma[r] - answer[r]);
            size_gamma += gamma[r] * gamma[r];
            size_law += answer[r] * answer[r];
        }
        largest = worst(largest, sqrt(difference));
    }
    out->law_residual = largest == 0.0 ? 0.0 : largest / sqrt(worst(size_gamma, size_law));
    return STN_OK;
}

// ----------------------------------------------------------------------------------------------- the certificate

/// What is smaller has a square without digits, so that norms tell nothing: groups that come to rest get there.
static const double no_digits = 1e-150;

/// error/size, at most `most`: an error against nothing is as large as that, and 0 only where there is no error at all.
static double ratio(double error, double size, double most) {
    if (error < no_digits && size < no_digits) {
        return 0.0;
    }
    return error / worst(size, error / most);
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
    out->momentum = ratio(sqrt(c), size, 1e14);
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

/// Most contacts: no root, no division. False for NaN.
static bool is_inside(const stn_constraint *c, const double *g) {
    return c->set == STN_SET_CONE && g[2] >= 0.0 && g[0] * g[0] + g[1] * g[1] <= c->mu1 * c->mu1 * g[2] * g[2];
}

/// How far the impulse leaves its cone or ellipse, relative to its normal part; and how far that pulls, relative to
/// `largest`, the largest number in an impulse of any contact.
static double cone_violation(const stn_constraint *c, const double *g, double largest) {
    if (is_inside(c, g) || largest == 0.0) {
        return 0.0;
    }
    circular x = circular_of(c, g, g);
    double beyond = worst(sqrt(x.gamma[0] * x.gamma[0] + x.gamma[1] * x.gamma[1]) - x.mu * g[2], 0.0);
    double relative = sqrt(beyond * beyond + x.forbidden * x.forbidden) / worst(g[2], 1e-12 * largest);
    return worst(relative, -g[2] / largest);
}

/// The worst of all contacts.
static double cone_violations(const stn_problem *p, const double *gamma) {
    double largest = 0.0, violation = 0.0;
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const stn_constraint *c = &p->constraints[i];
        for (int32_t r = 0; r < 3 && stn_constraint_has_cone(c); r++) {
            largest = worst(largest, fabs(gamma[c->row + r]));
        }
    }
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const stn_constraint *c = &p->constraints[i];
        if (stn_constraint_has_cone(c)) {
            violation = worst(violation, cone_violation(c, gamma + c->row, largest));
        }
    }
    return violation;
}

/// What the normal force of contact i stores at its gap now and at `gap`, that of the step's end.
static void add_stored(const stn_problem *p, int32_t i, const stn_law *law, double gap, stn_certificate *out) {
    const stn_constraint *c = &p->constraints[i];
    if (law != NULL && STN_PLUGIN_HAS(law->ops, stored)) {
        out->contact_start_J += law->ops->stored(law->self, p, i, c->phi0);
        out->contact_J += law->ops->stored(law->self, p, i, gap);
        return;
    }
    double before = c->phi0 < 0.0 ? c->phi0 : 0.0, after = gap < 0.0 ? gap : 0.0;
    double compliance = p->R[c->row + 2] * p->dt * (p->dt + c->relaxation_time);
    double half = compliance > 0.0 ? 0.5 / compliance : 0.0;
    out->contact_start_J += half * before * before;
    out->contact_J += half * after * after;
}

static void certify_contacts(const stn_problem *p, const double *v_c, const double *gamma, double size,
                             const stn_law *law, stn_certificate *out) {
    int32_t contacts = 0, with_distance = 0;
    double defect = 0.0, deepest = 0.0;
    bool inside = true;
    out->friction_work_J = out->contact_start_J = out->contact_J = 0.0;
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const stn_constraint *c = &p->constraints[i];
        if (!stn_constraint_has_cone(c)) {
            continue;
        }
        contacts++;
        const double *g = gamma + c->row, *u = v_c + c->row, *R = p->R + c->row, *v_hat = p->v_hat + c->row;
        double product = 0.0;
        for (int32_t r = 0; r < 3; r++) {
            product += (u[r] - v_hat[r] + R[r] * g[r]) * g[r];
        }
        defect += fabs(product);
        inside = inside && is_inside(c, g);
        double wrong_way = g[0] * u[0] + g[1] * u[1];
        out->friction_work_J += wrong_way <= 0.0 ? 0.0 : wrong_way;
        if (isfinite(c->phi0)) {
            with_distance++;
            double gap = c->phi0 + p->dt * u[2];
            deepest = worst(deepest, -gap);
            add_stored(p, i, law, gap, out);
        }
    }
    out->cone = inside ? 0.0 : cone_violations(p, gamma);
    out->penetration_m = contacts > 0 && with_distance == 0 ? (double)NAN : deepest;
    out->complementarity_J = contacts > 0 ? defect / contacts : 0.0;
    out->complementarity = ratio(out->complementarity_J, 0.5 * size * size, 1e28);
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

/// What stn_certify was asked for, beside the solution.
typedef struct certify_request {
    const stn_law *law;
    const void *law_memory;
    const stn_inverse *inverse;
    uint32_t flags;
} certify_request;

static void certify_basics(const stn_problem *p, const double *v, const double *gamma, const double *v_c,
                           const stn_law *law, double *work, stn_certificate *out) {
    bool global = p->form == STN_FORM_GLOBAL;
    double size = global ? certify_momentum(p, v, gamma, work, out) : (double)NAN;
    certify_contacts(p, v_c, gamma, size, law, out);
    certify_boxes(p, gamma, out);
    const double always[] = {out->complementarity_J, out->cone, out->friction_work_J, out->box};
    out->finite = all_finite(gamma, p->row_count) && all_finite(v_c, p->row_count) &&
                  all_finite(always, STN_COUNT(always)) && !isinf(out->penetration_m) &&
                  (!global || (all_finite(v, p->nv) && isfinite(out->momentum) && isfinite(out->complementarity)));
}

/// The residuals beyond the basics, as far as they were asked for.
static stn_status certify_more(const stn_problem *p, const double *v_c, const double *gamma,
                               const certify_request *asked, stn_arena *scratch, stn_certificate *out, stn_error *err) {
    bool light = (asked->flags & STN_CERTIFICATE_LIGHT) != 0, scaled = (asked->flags & STN_CERTIFICATE_SCALED) != 0;
    if (!light) {
        certify_natural(p, v_c, gamma, out);
        out->finite = out->finite && isfinite(out->natural_ncp) && isfinite(out->natural_ccp);
    }
    if (!light && asked->law != NULL && p->form == STN_FORM_GLOBAL) {
        stn_status status = certify_law(p, v_c, gamma, asked->law, asked->law_memory, scratch, out, err);
        if (status != STN_OK) {
            return status;
        }
        out->finite = out->finite && isfinite(out->law_residual);
    }
    if (scaled) {
        stn_status status = certify_scaled(p, gamma, asked->inverse, scratch, out, err);
        if (status != STN_OK) {
            return status;
        }
        out->finite = out->finite && isfinite(out->natural_scaled) && isfinite(out->natural_ccp_scaled);
    }
    return STN_OK;
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
    if ((flags & STN_CERTIFICATE_SCALED) != 0 && global && inverse == NULL) {
        return stn_fail(err, STN_ERR_ARGUMENT, "certificate: natural_scaled needs the inverse of A");
    }
    double *work = STN_ARENA(scratch, 4 * (size_t)problem->nv, double);
    double *v_c = STN_ARENA(scratch, problem->row_count, double);
    if (work == NULL || v_c == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "certificate: out of memory");
    }
    stn_status status = contact_velocities(problem, v, gamma, scratch, v_c, err);
    if (status == STN_OK) {
        certify_basics(problem, v, gamma, v_c, law, work, &result);
    }
    if (status == STN_OK) {
        const certify_request asked = {law, law_memory, inverse, flags};
        status = certify_more(problem, v_c, gamma, &asked, scratch, &result, err);
    }
    if (status == STN_OK) {
        *out = result;
    }
    return status;
}
