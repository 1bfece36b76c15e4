// SPDX-License-Identifier: Apache-2.0
// SAP: contact as an unconstrained convex problem over the next velocities, by Newton's method with an exact line
// search [castro-2022].
//
//     min over v of  (v - v*)^T A (v - v*)/2 - force.v + sum of l_i(J_i v + b_i),    gamma_i = -dl_i/dv_c        S(24)
//
//     gradient = A (v - v*) - J^T gamma - force,    H = A + J^T G J
//     H + delta D where an A is singular: proximal steps, whose centre moves along, with the gradient as it is
//     stop:  |D gradient| <= eps_a + eps_r max(|D A v|, |D J^T gamma|),    D = diag(A)^-1/2                      S(25)
#include <float.h>
#include <math.h>
#include <string.h>

#include "system.h"

static const char *const line_searches[] = {"exact", "armijo", NULL};
static const char *const factorizations[] = {"auto", "dense", "block", "iterative", NULL}; // augmented_form

static const stn_param params[] = {
    STN_PARAM_CHOICE(sap_config, line_search, line_searches, SAP_EXACT, "how far to go along Newton's direction"),
    STN_PARAM_REAL(sap_config, line_search_tolerance, "1", 1e-2, 0.0, 0.5,
                   "exact line search: slope left over that of the start"),
    STN_PARAM_BOOL(
        sap_config, anticipate, true,
        "sliding contacts that will stick are stiff along their slip in Newton's model; false: the Hessian of "
        "the potential, as published"),
    STN_PARAM_CHOICE(sap_config, factorization, factorizations, AUGMENTED_AUTO,
                     "of the Hessian; auto: the chosen factor plugin, else dense up to 40 dofs or one tree, else "
                     "block, or iterative where that takes less time; iterative: an incomplete factor and conjugate "
                     "gradients"),
};

typedef struct residual {
    double value, bound; // |D gradient| and what it may be [sqrt(J)]
    double scale;        // max(|D A v|, |D J^T gamma|), what it is relative to
} residual;

/// H and Newton's direction. A direction that does not descend means lost precision: once more with H + 1e-12 diag(H).
static stn_status find_direction(sap_system *s, stn_error *err) {
    stn_error first = {STN_OK, ""};
    stn_status status = sap_factor(s, false, &first);
    if (status == STN_OK) {
        status = sap_direction(s, &first);
    }
    if (status == STN_OK && s->slope < 0.0) {
        return STN_OK;
    }
    if (status != STN_OK && status != STN_ERR_NUMERIC) {
        return stn_fail(err, status, "%s", first.text);
    }
    status = sap_factor(s, true, err);
    if (status != STN_OK) {
        stn_error_prefix(err, "Hessian, with 1e-12 of its diagonal added");
        return status;
    }
    return sap_direction(s, err);
}

/// |D y|, y the sizes of the impulses: those that balance cancel to nothing, in J^T gamma as in A v.
static double balancing_norm(sap_system *s) {
    double sum = 0.0;
    sap_unpack(s, s->solution);
    stn_problem_impulse_sizes(s->problem, s->solution->gamma, s->compact);
    for (int32_t b = 0; b < s->H.block_count; b++) {
        const augmented_block *block = &s->H.blocks[b];
        for (int32_t i = 0; i < block->n; i++) {
            double size = s->D[block->start + i] * s->compact[block->dof + i];
            sum += size * size;
        }
    }
    return sqrt(sum);
}

/// The dof that the last step moved most, by the proximal term: where an A is singular and nothing else resists.
static stn_status name_unheld(const sap_system *s, stn_error *err) {
    const stn_problem *p = s->problem;
    const augmented_block *most = s->H.blocks;
    int32_t dof = 0;
    double largest = -1.0;
    for (int32_t b = 0; b < s->H.block_count; b++) {
        const augmented_block *block = &s->H.blocks[b];
        for (int32_t i = 0; i < block->n; i++) {
            double v = s->dv[block->start + i], square = s->H.proximal[block->compact + i] * v * v;
            if (square > largest) {
                largest = square;
                most = block;
                dof = block->dof + i - p->trees[block->tree].dof_start;
            }
        }
    }
    return stn_fail_unheld(p, (stn_unheld){most->tree, dof}, s->control->unheld, err);
}

/// How far conjugate gradients reduce the residual of Newton's equation [eisenstat-1996, choice 2]: by the square of
/// what the last iteration did, so that the end stays quadratic, and no further than the solution needs.
static double forcing(const residual *r, double before) {
    const double most = 1e-2, ratio = r->value / before; // before: infinite at first
    return fmin(most, fmax(ratio * ratio > 0.0 ? ratio * ratio : most, 0.2 * r->bound / r->value));
}

/// The state after one update along the way is as good as that of v itself: what rounds velocities of constraints off,
/// in the state that the update began with or in this one, changes J^T gamma by w/R of it, and that is little beside
/// the bound that the residual keeps.
static bool is_as_good_as_fresh(const sap_system *s, const residual *r, double scale_before) {
    const stn_problem *p = s->problem;
    const double rounding = 16.0 * DBL_EPSILON * fmax(r->scale, scale_before), allowed = 0.01 * r->bound;
    bool good = r->value <= 0.5 * r->bound;
    for (int32_t i = 0; i < p->constraint_count && good; i++) {
        const stn_constraint *c = &p->constraints[i];
        for (int32_t k = c->row; k < c->row + c->rows; k++) {
            good &= rounding * c->w <= allowed * p->R[k]; // false for NaN
        }
    }
    return good;
}

/// Newton's loop, until info->iterations has come to `limit`.
static stn_status iterate(sap_system *s, int32_t limit, stn_error *err) {
    enum { MOST_FALLS = 4 };
    stn_solve_info *info = s->info;
    bool fresh = true, stands = false; // fresh: the state was computed from v itself
    bool claimed = false;              // the end was in sight before it was
    double before = INFINITY, fresh_before = INFINITY, scale_before = INFINITY;
    int32_t updates = 0; // since the state was computed from v itself
    const stn_problem *p = s->problem;
    double *work = s->H.proximal == NULL ? NULL : STN_ARENA(s->control->arena, 3 * (size_t)p->nv + 1, double);
    if (s->H.proximal != NULL && work == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    for (;;) {
        sap_gradient(s);
        residual r = {.value = s->gradient_norm,
                      .scale = fmax(s->Av_norm, s->H.proximal == NULL ? s->j_norm : balancing_norm(s))};
        r.bound = s->control->absolute_tolerance + s->control->tolerance * r.scale;
        if (!isfinite(r.value) || !isfinite(s->cost)) {
            return stn_fail(err, STN_ERR_NUMERIC,
                            "iteration %d: residual %g, cost %g J: numbers of the problem are too large, or of "
                            "the law %s",
                            info->iterations, r.value, s->cost, s->control->law->id);
        }
        bool done = r.value <= r.bound, stalled = stands && r.value > 0.5 * before;
        if (done && work != NULL) { // every tree is in balance by itself, too; balancing_norm has unpacked the impulses
            done = r.value <= s->control->absolute_tolerance ||
                   stn_problem_imbalance(p, s->control->singular, s->solution->v, s->solution->gamma, work) <=
                       s->control->tolerance;
        }
        if (claimed && !done) { // what the updates along the way say may be better than what v itself allows
            stalled = stalled || r.value > 0.5 * fresh_before;
            fresh_before = r.value;
        }
        // updates along the way may shrink on and on where the residual of v itself is round-off of its parts
        const bool spent = work == NULL && r.value < 0.1 * DBL_EPSILON * r.scale;
        if (done && !fresh && updates == 1 && work == NULL && is_as_good_as_fresh(s, &r, scale_before)) {
            fresh = true;
        }
        claimed = (done || stalled || spent) && !fresh;
        if ((claimed || info->iterations >= limit) && !fresh) {
            sap_refresh(s); // updates along the way may have drifted, and stood only for that
            fresh = true;
            updates = 0;
            stands = false;
            continue;
        }
        if (done || stalled || info->iterations >= limit) {
            info->reason = done ? "residual" : stalled ? "stagnation" : "iterations";
            return done ? STN_OK : stalled ? STN_STALLED : STN_NOT_CONVERGED;
        }
        s->reduction = forcing(&r, before);
        const double cost = s->cost;
        stn_status status = find_direction(s, err);
        const double slope = s->slope;
        if (status != STN_OK) {
            return status;
        }
        if (!(slope < 0.0)) { // no digits left, damped or not
            sap_refresh(s);
            info->reason = "stagnation";
            return STN_STALLED;
        }
        double mark = phase_mark(s->control);
        double step = sap_line_search(s);
        phase_note(s->control, STN_PHASE_LINE_SEARCH, mark);
        double fall = (cost - s->cost) / (step * -slope); // at most 1, but for round-off
        bool fell = s->H.proximal != NULL && step > 1.0 && fall > 0.999 && fall < 1.001;
        s->falls = fell ? s->falls + 1 : 0;
        if (s->falls == MOST_FALLS) {
            return name_unheld(s, err);
        }
        // The last step was a full one and left the cost where it was, to round-off; or none could have lowered it by
        // more than that: Newton's model promises -slope/2. Round-off is that of the energies in motion: a contact that
        // nothing can satisfy adds a constant to the cost, of any size, and its digits say nothing.
        double energy = fmin(0.5 * (fabs(s->cost) + fabs(cost)), r.scale * r.scale), rounding = 1e-15 * energy;
        stands = -slope < rounding || (step > 0.5 && fabs(s->cost - cost) < rounding && -slope < 1e3 * rounding);
        before = r.value;
        scale_before = r.scale;
        updates++;
        fresh = false;
        info->iterations++;
    }
}

/// Packs problem and control of `s` anew and iterates; the result is in solution and s, the counts in info.
static stn_status attempt(sap_system *s, int32_t limit, stn_error *err) {
    *s = (sap_system){
        .problem = s->problem, .control = s->control, .config = s->config, .solution = s->solution, .info = s->info};
    double mark = phase_mark(s->control);
    stn_status status = sap_pack(s, s->solution->v, err);
    phase_note(s->control, STN_PHASE_SET_UP, mark);
    if (status == STN_OK) {
        sap_refresh(s);
        status = iterate(s, limit, err);
    }
    if (status >= STN_OK) {
        sap_unpack(s, s->solution);
    }
    s->info->factorizations += s->factorizations;
    s->info->line_search_evaluations += s->evaluations;
    return status;
}

/// `problem` with contacts as soft along the normal as `softness` w at most: R_n raised for laws that read it, the
/// stiffness lowered to 1/(dt^2 softness w) for those that read that. Returns whether some contact was harder.
static bool soften(const stn_problem *problem, double softness, stn_problem *soft) {
    bool softer = false;
    memcpy(soft->R, problem->R, (size_t)problem->row_count * sizeof *soft->R);
    for (int32_t i = 0; i < problem->constraint_count; i++) {
        stn_constraint *c = &soft->constraints[i];
        *c = problem->constraints[i];
        if (c->set != STN_SET_CONE || !(c->w > 0.0)) {
            continue;
        }
        double R_n = softness * c->w, stiffness = 1.0 / (problem->dt * problem->dt * R_n);
        bool hard = isfinite(c->stiffness) && c->stiffness > stiffness; // infinite: the law says how soft that is
        softer = softer || hard || soft->R[c->row + 2] < R_n;
        soft->R[c->row + 2] = fmax(soft->R[c->row + 2], R_n);
        c->stiffness = hard ? stiffness : c->stiffness;
    }
    return softer;
}

/// Contacts that are stiff beside their inverse mass (R_n far below w) hide from each other: a Newton step that opens
/// one closes the next. The problem is begun anew with softer ones, which are made harder step by step; velocities and
/// impulses of each problem are the warm start of the next.
static stn_status solve_softened(sap_system *s, stn_error *err) {
    const stn_problem *problem = s->problem;
    const stn_solve_control *control = s->control;
    stn_solution *solution = s->solution;
    const double first = 2.5e-3, factor = 0.1, loose = 1e-4; // w/10 of the near-rigid bound; of R_n; tolerance
    sap_system before = *s;
    stn_problem soft = *problem;
    stn_solve_control rough = *control;
    double *gamma = STN_ARENA(control->arena, problem->row_count + 1, double);
    soft.R = STN_ARENA(control->arena, problem->row_count + 1, double);
    soft.constraints = STN_ARENA(control->arena, problem->constraint_count, stn_constraint);
    if (soft.constraints == NULL || soft.R == NULL || gamma == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    rough.tolerance = fmax(loose, control->tolerance);
    soft.gamma_guess = gamma;
    stn_status status = STN_OK;
    for (double softness = first; status >= STN_OK && soften(problem, softness, &soft); softness *= factor) {
        memcpy(gamma, solution->gamma, (size_t)problem->row_count * sizeof *gamma);
        s->problem = &soft;
        s->control = &rough;
        status = attempt(s, control->max_iterations, err);
    }
    if (status >= STN_OK) {
        memcpy(gamma, solution->gamma, (size_t)problem->row_count * sizeof *gamma);
        soft.R = problem->R;
        soft.constraints = problem->constraints;
        s->problem = &soft;
        s->control = control;
        status = attempt(s, control->max_iterations, err);
    }
    if (status > STN_OK && before.cost < s->cost) {
        *s = before;
        sap_unpack(s, solution);
    }
    s->problem = problem; // the softened ones end here
    s->control = control;
    return status;
}

static stn_status solve(void *self, const stn_problem *problem, const stn_solve_control *control,
                        stn_solution *solution, stn_solve_info *info, stn_error *err) {
    enum { PATIENCE = 32 }; // twice what piles take that are not stiff
    *info = (stn_solve_info){.cost = NAN, .reason = ""};
    if (problem->form != STN_FORM_GLOBAL) {
        return stn_fail(err, STN_ERR_UNSUPPORTED,
                        "the problem has no velocities (local form); sap needs A, J and v_star");
    }
    const int32_t limit = control->max_iterations;
    sap_system s = {.problem = problem, .control = control, .config = self, .solution = solution, .info = info};
    stn_status status = attempt(&s, limit < PATIENCE ? limit : PATIENCE, err);
    if (status == STN_NOT_CONVERGED && info->iterations < limit) {
        status = solve_softened(&s, err);
    }
    if (status > STN_OK && s.falls > 0) {
        return name_unheld(&s, err);
    }
    if (status >= STN_OK) {
        info->cost = s.cost;
    }
    return status;
}

static const stn_solver_ops ops = {
    .size = sizeof ops,
    .formulation = STN_REGULARIZED,
    .yields = STN_YIELDS_BOTH,
    .needs = STN_NEEDS_LAW,
    .sets = 1u << STN_SET_CONE | 1u << STN_SET_ELLIPSE | 1u << STN_SET_BOX | 1u << STN_SET_EQUALITY,
    .create_workspace = symbolic_cache_create,
    .destroy_workspace = symbolic_cache_destroy,
    .solve = solve,
    .supports = STN_SUPPORTS_SINGULAR_A | STN_SUPPORTS_ARTICULATED_A,
    .differentiate = sap_differentiate,
};

static const stn_plugin_desc sap = {
    .size = sizeof sap,
    .kind = STN_KIND_SOLVER,
    .id = "sap",
    .version = "0.1.0",
    .summary = "Newton's method on the convex velocity problem of compliant contact (SAP)",
    .reference = "castro-2022 S(18)-(26), S(39)",
    .config_size = sizeof(sap_config),
    .params = params,
    .param_count = STN_COUNT(params),
    .ops.solver = &ops,
};
STN_PLUGIN_LIBRARY(&sap);
