// my_plugin.c: sweep the contacts, one projected step each while the others stay fixed.
//   gamma_i <- P(gamma_i - rho (v_i + mu |v_t| e_n)),   v = W gamma + b - v_hat + R gamma
//   with rho = omega / trace(W_ii + R_i)
// What to change first: update_contact, one contact while the others stay fixed; formulation, at the end, says what the
// result is judged by. Scratch memory: STN_ARENA(control->arena, count, type).
#include <stiction/plugin.h>

typedef struct settings {
    double omega;
} settings;

static const stn_param params[] = {
    STN_PARAM_REAL(settings, omega, "1", 1.0, 0.1, 1.9, "relaxation of the local step"),
};

/// Box and equality rows one after the other, over-relaxed; those that are not boxes have infinite bounds.
static void update_rows(const stn_constraint *c, const double *W, const double *R, const double *lo, const double *hi,
                        double *v, double *g) {
    for (int32_t r = 0; r < c->rows; r++) {
        double before = g[r], mass = W[r * c->rows + r] + R[r];
        g[r] = mass > 0.0 ? fmin(fmax(before - 1.7 * v[r] / mass, lo[r]), hi[r]) : before;
        for (int32_t k = 0; k < c->rows; k++) {
            v[k] += W[k * c->rows + r] * (g[r] - before);
        }
    }
}

static void update_contact(double omega, const stn_delassus *d, int32_t i, double *gamma) {
    const stn_problem *problem = d->problem;
    const stn_constraint *c = &problem->constraints[i];
    const double *R = problem->R + c->row, *v_hat = problem->v_hat + c->row;
    double v[STN_MAX_ROWS], trace = c->w_trace, *g = gamma + c->row;
    for (int32_t r = 0; r < c->rows; r++) { // of a contact: gap and compliance, R (0, 0, 1/(dt k (dt + tau_d)))
        v[r] = d->b[c->row + r] - v_hat[r] + R[r] * g[r];
        trace += R[r];
    }
    stn_delassus_row_mul_add(d, i, gamma, v);
    if (c->set != STN_SET_CONE) {
        update_rows(c, stn_delassus_diagonal(d, i), R, problem->lo + c->row, problem->hi + c->row, v, g);
        return;
    }
    if (!(trace > 0.0)) { // nothing that the contact does moves a body, as on the axis of a wheel
        return;
    }
    v[2] += c->mu1 * hypot(v[0], v[1]); // de Saxce: the friction law becomes a cone problem
    for (int32_t r = 0; r < c->rows; r++) {
        g[r] -= omega / trace * v[r];
    }
    stn_cone_project(c->mu1, g);
}

static stn_status solve(void *self, const stn_problem *problem, const stn_solve_control *control,
                        stn_solution *solution, stn_solve_info *info, stn_error *err) {
    (void)err;
    const settings *config = self; // without a create function, self is the configuration
    const stn_delassus *w = control->delassus;
    double speed = 0.0; // what the tolerance is relative to
    for (int32_t r = 0; r < problem->row_count; r++) {
        speed = fmax(speed, fmax(fabs(w->b[r]), fabs(problem->v_hat[r])));
    }
    while (!(stn_delassus_residual(w, false, solution->gamma) <= control->tolerance * speed)) { // NaN is not done
        if (info->iterations == control->max_iterations) {
            info->reason = "iterations";
            return STN_NOT_CONVERGED; // positive: usable, the certificate says how well
        }
        for (int32_t i = 0; i < problem->constraint_count; i++) {
            update_contact(config->omega, w, i, solution->gamma);
        }
        info->iterations++;
    }
    info->reason = "residual";
    return STN_OK; // the core recovers v = v_star + A^-1 J^T gamma
}

static const stn_solver_ops ops = {
    .size = sizeof ops,
    .formulation = STN_NCP,       // what the certificate judges it by
    .yields = STN_YIELDS_IMPULSE, // the core completes the velocity
    .needs = STN_NEEDS_DELASSUS,  // the core builds it before the solve
    .sets = 1u << STN_SET_CONE | 1u << STN_SET_BOX | 1u << STN_SET_EQUALITY,
    .solve = solve,
};

static const stn_plugin_desc descriptor = {
    .size = sizeof descriptor,
    .kind = STN_KIND_SOLVER,
    .id = "my_plugin",
    .version = "0.1.0",
    .summary = "Nonsmooth Gauss-Seidel for Coulomb friction",
    .reference = "desaxce-1998",
    .config_size = sizeof(settings),
    .params = params,
    .param_count = STN_COUNT(params),
    .ops.solver = &ops,
};
STN_PLUGIN_LIBRARY(&descriptor); // the one exported symbol
