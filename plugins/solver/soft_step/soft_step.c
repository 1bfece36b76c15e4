// SPDX-License-Identifier: Apache-2.0
// Soft steps: a few sub-steps of length h = dt/n on the contacts of the step, one sweep of Gauss-Seidel or two in each,
// and no iteration to a solution. In each sub-step k
//
//     u  += (v_star - v0)/(n theta)               its share of the forces
//     u  += A^-1 J^T lambda/theta                 the impulses of the sub-step before
//     lambda <- sweep with soft contacts          v_n + R lambda_n = -rate s,  s = phi0 + the motion so far
//     position moves by h u
//     lambda <- sweep with rigid contacts         v_n = 0: what pushed bodies apart is no velocity that stays (relax)
//
// so that gamma = sum of lambda, v = v0 + theta (u - v0), and v_position the mean of the u that moved the position.
// A (v - v_star) = J^T gamma holds to rounding and every lambda is in its cone; what is approximate is the
// complementarity of gamma and v. Soft constraints: [catto-2011]; sub-steps in place of iterations: [macklin-2019]; the
// order of the sweeps: [catto-2024].
#include <math.h>
#include <string.h>

#include <stiction/plugin.h>

#include "rows.h"

typedef struct soft_step_config {
    int32_t substeps, iterations, relax_iterations;
    double contact_hertz, contact_damping_ratio, push_speed;
} soft_step_config;

static const stn_param params[] = {
    STN_PARAM_INT(soft_step_config, substeps, "1", 4.0, 1.0, 1000.0, "sub-steps of a step, on the same contacts"),
    STN_PARAM_INT(soft_step_config, iterations, "1", 1.0, 1.0, 1000.0, "sweeps of a sub-step with soft contacts"),
    STN_PARAM_INT(soft_step_config, relax_iterations, "1", 1.0, 0.0, 1000.0,
                  "sweeps of a sub-step that take back the speed by which overlaps were undone; 0: it stays"),
    STN_PARAM_REAL(soft_step_config, contact_hertz, "Hz", 120.0, 1e-3, 1e9,
                   "frequency of a rigid contact; at most a quarter of the sub-steps a second"),
    STN_PARAM_REAL(soft_step_config, contact_damping_ratio, "1", 10.0, 0.0, 1e6,
                   "damping of a rigid contact; 1: critical"),
    STN_PARAM_REAL(soft_step_config, push_speed, "m/s", 3.0, 0.0, 1e9,
                   "speed at which a rigid contact undoes an overlap at most"),
};

/// Which equations a sweep solves.
typedef enum sweep_kind {
    SWEEP_SOFT,  // of the sub-step
    SWEEP_RELAX, // rigid contacts without softness and without pushing apart
    SWEEP_BOUNCE // the same, but an impact leaves at its speed of restitution
} sweep_kind;

typedef struct soft_step {
    const stn_problem *problem;
    soft_rule rule;
    soft_row *rows;
    double *u;     // (nv) velocity at the sub-step's end
    double *moved; // (nv) that which moved the position of the sub-step before
    double *sum;   // (nv) sum of those
    double *share; // (nv) of the forces
} soft_step;

/// Normal first, then the tangents by a projected step of length 1/|W_tt|, which never raises the energy; the impulse
/// is in its cone after each visit.
STN_KERNEL_INLINE void visit_contact(const soft_step *s, soft_row *row, sweep_kind kind, const double *v_c,
                                     double *change) {
    double *x = row->lambda;
    const double *W = row->W, *normal = W + 2 * row->width;
    double R = row->R[2], target = row->target[2];
    if (row->rigid && kind != SWEEP_SOFT) { // no softness, no pushing apart; what is open may close, no more
        R = 0.0;
        target = fmin(target, 0.0);
        target = kind == SWEEP_BOUNCE && row->bounce > 0.0 && row->total[2] + x[2] > 0.0 ? row->bounce : target;
    }
    double diagonal = normal[2] + R, before = x[2];
    if (diagonal > 0.0) {
        x[2] = fmax(0.0, x[2] + (target - v_c[2] - row->bias[2] - R * x[2]) / diagonal);
    }
    change[2] = x[2] - before;
    double t[2], limit = row->mu * x[2];
    for (int32_t r = 0; r < 2; r++) {
        double g = v_c[r] + row->bias[r] + normal[r] * change[2] - row->target[r] + row->R[r] * x[r];
        t[r] = x[r] - row->tangent * g;
    }
    double square = t[0] * t[0] + t[1] * t[1], scale = square > limit * limit ? limit / sqrt(square) : 1.0;
    for (int32_t r = 0; r < 2; r++) {
        change[r] = scale * t[r] - x[r];
        x[r] = scale * t[r];
    }
    (void)s;
}

STN_KERNEL_INLINE void visit_rows(soft_row *row, double *v_c, double *change) {
    for (int32_t r = 0; r < row->rows; r++) {
        const double *column = row->W + r * row->width;
        double diagonal = column[r] + row->R[r], before = row->lambda[r];
        if (!(diagonal > 0.0)) {
            change[r] = 0.0;
            continue;
        }
        double next = before + (row->target[r] - v_c[r] - row->bias[r] - row->R[r] * before) / diagonal;
        row->lambda[r] = next < row->lo[r] ? row->lo[r] : (next > row->hi[r] ? row->hi[r] : next);
        change[r] = row->lambda[r] - before;
        for (int32_t k = 0; k < row->rows; k++) {
            v_c[k] += column[k] * change[r];
        }
    }
}

STN_KERNEL static void sweep(soft_step *s, sweep_kind kind) {
    for (int32_t i = 0; i < s->problem->constraint_count; i++) {
        soft_row *row = &s->rows[i];
        double v_c[SOFT_ROOM] __attribute__((aligned(32))), change[SOFT_ROOM] = {0.0};
        soft_velocity(s->problem, row, s->u, v_c);
        if (row->cone) {
            visit_contact(s, row, kind, v_c, change);
        } else {
            visit_rows(row, v_c, change);
        }
        soft_push(row, change, s->u);
    }
}

/// Forces of the sub-step, targets at the place where the sub-step before left the bodies, and its impulses once more.
STN_KERNEL static void begin_substep(soft_step *s, bool first) {
    const soft_rule *rule = &s->rule;
    for (int32_t d = 0; d < s->problem->nv; d++) {
        s->u[d] += s->share[d];
    }
    for (int32_t i = 0; i < s->problem->constraint_count; i++) {
        soft_row *row = &s->rows[i];
        double v_c[SOFT_ROOM] __attribute__((aligned(32)));
        if (!first) {
            soft_velocity(s->problem, row, s->moved, v_c);
        }
        for (int32_t r = 0; r < row->rows; r++) {
            row->drift[r] += first ? 0.0 : rule->h * (v_c[r] + row->bias[r]);
            row->target[r] = row->start[r] - row->rate[r] * row->drift[r];
            row->total[r] += first ? 0.0 : row->lambda[r];
        }
        if (row->rigid) {
            double gap = row->gap + (row->placed ? row->drift[2] : 0.0);
            row->target[2] = gap > 0.0 ? -gap / rule->h : fmin(-row->rate[2] * gap, s->rule.push_speed);
        }
        soft_push(row, row->lambda, first ? s->moved : s->u);
    }
}

/// The impulses of the step before are taken times that share of them, 0 to 1, which leaves the least energy (with that
/// of the soft contacts): those of an impact do not fit the step after it, and would throw bodies apart.
///
///     share = -lambda.(J u + bias - target)/(lambda.(W + R) lambda),   W lambda = J w,  w = A^-1 J^T lambda (s->moved)
STN_KERNEL static void scale_start(soft_step *s) {
    double slope = 0.0, curvature = 0.0;
    for (int32_t i = 0; i < s->problem->constraint_count; i++) {
        const soft_row *row = &s->rows[i];
        double v_c[SOFT_ROOM] __attribute__((aligned(32))), w_c[SOFT_ROOM] __attribute__((aligned(32)));
        soft_velocity(s->problem, row, s->u, v_c);
        soft_velocity(s->problem, row, s->moved, w_c);
        for (int32_t r = 0; r < row->rows; r++) {
            slope += row->lambda[r] * (v_c[r] + row->bias[r] - row->target[r]);
            curvature += row->lambda[r] * (w_c[r] + row->R[r] * row->lambda[r]);
        }
    }
    double share = curvature > 0.0 ? fmin(fmax(-slope / curvature, 0.0), 1.0) : 0.0;
    for (int32_t i = 0; i < s->problem->constraint_count; i++) {
        for (int32_t r = 0; r < s->rows[i].rows; r++) {
            s->rows[i].lambda[r] *= share;
        }
    }
    for (int32_t d = 0; d < s->problem->nv; d++) {
        s->u[d] += share * s->moved[d];
    }
}

static void make_substeps(soft_step *s, const soft_step_config *config) {
    const int32_t nv = s->problem->nv;
    for (int32_t k = 0; k < s->rule.substeps; k++) {
        begin_substep(s, k == 0);
        if (k == 0) {
            scale_start(s);
        }
        for (int32_t i = 0; i < config->iterations; i++) {
            sweep(s, SWEEP_SOFT);
        }
        memcpy(s->moved, s->u, (size_t)nv * sizeof *s->u);
        for (int32_t d = 0; d < nv; d++) {
            s->sum[d] += s->u[d];
        }
        for (int32_t i = 0; i < config->relax_iterations; i++) {
            sweep(s, SWEEP_RELAX);
        }
    }
    for (int32_t i = 0; i < s->problem->constraint_count; i++) {
        if (s->rows[i].bounce > 0.0) {
            sweep(s, SWEEP_BOUNCE);
            break;
        }
    }
}

/// The shares of the forces, where A^-1 is that of regular trees.
static void share_forces(soft_step *s, const stn_solve_control *control) {
    const stn_problem *p = s->problem;
    double part = 1.0 / (s->rule.theta * s->rule.substeps);
    for (int32_t t = 0; t < p->tree_count; t++) {
        const stn_problem_tree *tree = &p->trees[t];
        double *share = s->share + tree->dof_start;
        if (p->free_impulse != NULL) {
            memcpy(share, p->free_impulse + tree->dof_start, (size_t)tree->A.n * sizeof *share);
            stn_inverse_apply(control->inverse, t, 1, share);
        }
        for (int32_t d = 0; d < tree->A.n; d++) {
            share[d] = part * (share[d] + p->v_star[tree->dof_start + d] - p->v0[tree->dof_start + d]);
        }
    }
    memcpy(s->u, p->v0, (size_t)p->nv * sizeof *s->u);
}

static stn_status solve(void *self, const stn_problem *problem, const stn_solve_control *control,
                        stn_solution *solution, stn_solve_info *info, stn_error *err) {
    const soft_step_config *config = self;
    const int32_t substeps = config->substeps < control->max_iterations ? config->substeps : control->max_iterations;
    const double h = problem->dt / substeps;
    soft_step s = {.problem = problem,
                   .rule = {.substeps = substeps,
                            .h = h,
                            .frequency = 2.0 * STN_PI * fmin(config->contact_hertz, 0.25 / h),
                            .damping = config->contact_damping_ratio,
                            .push_speed = config->push_speed,
                            .theta = problem->velocity_kind == STN_VELOCITY_MID ? problem->theta : 1.0}};
    double **vectors[] = {&s.u, &s.moved, &s.sum, &s.share};
    for (int32_t i = 0; i < STN_COUNT(vectors); i++) {
        *vectors[i] = STN_ARENA_ZEROED(control->arena, problem->nv + 1, double);
        if (*vectors[i] == NULL) {
            return stn_fail(err, STN_ERR_MEMORY, "out of memory");
        }
    }
    if (!soft_rows_build(problem, control, &s.rule, solution->gamma, &s.rows)) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    share_forces(&s, control);
    make_substeps(&s, config);
    for (int32_t i = 0; i < problem->constraint_count; i++) {
        const soft_row *row = &s.rows[i];
        for (int32_t r = 0; r < row->rows; r++) {
            double scale = row->cone && r < 2 ? row->scale[r] : 1.0;
            solution->gamma[row->constraint->row + r] = scale * (row->total[r] + row->lambda[r]);
        }
    }
    for (int32_t d = 0; d < problem->nv && solution->v_position != NULL; d++) {
        solution->v_position[d] = s.sum[d] / substeps;
    }
    *info = (stn_solve_info){.iterations = substeps, .cost = (double)NAN, .reason = "approximate"};
    return STN_NOT_CONVERGED;
}

static const stn_solver_ops ops = {
    .size = sizeof ops,
    .formulation = STN_NCP,
    .yields = STN_YIELDS_IMPULSE,
    .needs = STN_NEEDS_INVERSE | STN_NEEDS_V_POSITION | STN_NEEDS_RIGID_CONTACTS,
    .sets = 1u << STN_SET_CONE | 1u << STN_SET_ELLIPSE | 1u << STN_SET_BOX | 1u << STN_SET_EQUALITY,
    .solve = solve,
};

static const char *const capabilities[] = {"approximate", "restitution", NULL};

static const stn_plugin_desc soft_step_plugin = {
    .size = sizeof soft_step_plugin,
    .kind = STN_KIND_SOLVER,
    .id = "soft_step",
    .version = "0.1.0",
    .summary = "a fixed number of sub-steps with soft contacts: fast, approximate, momentum to rounding",
    .reference = "catto-2011; macklin-2019; catto-2024",
    .capabilities = capabilities,
    .config_size = sizeof(soft_step_config),
    .params = params,
    .param_count = STN_COUNT(params),
    .ops.solver = &ops,
};
STN_PLUGIN_LIBRARY(&soft_step_plugin);
