// SPDX-License-Identifier: Apache-2.0
// Solvers that lie: an honest one solves, its answer is spoilt, and "converged" is said of it. For the check of claims
// against the certificate (core/problem/claim.c).
#include <math.h>
#include <string.h>

#include <stiction/plugin.h>

typedef enum lie {
    TRUTH,    // spoils nothing
    ZERO,     // nothing at all
    BEFORE,   // the warm start
    TWICE,    // the answer, doubled
    NEGATIVE, // with the sign turned
    PART,     // the first impulse is NaN
    VELOCITY, // the right impulses with velocities that do not belong to them
    IMPULSE,  // the right velocities with half of their impulses
    STALLED,  // doubled, and it says that round-off stopped it
    SMALL,    // nothing at all for islands whose first tree is lighter than 1000 kg
    FLIGHT,   // no impulses, and the velocities without them: momentum is right
} lie;

typedef struct config {
    int32_t lie;
} config;

typedef struct liar {
    stn_context *context;
    stn_instance *honest;
    lie lie;
} liar;

static void destroy(void *self) {
    liar *l = self;
    if (l != NULL) {
        stn_context *context = l->context;
        stn_instance_destroy(l->honest);
        stn_release(context, l);
    }
}

static stn_status create(stn_context *context, const void *settings, const char *honest, void **self, stn_error *err) {
    liar *l = stn_allocate(context, 1, sizeof *l);
    if (l == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    *l = (liar){.context = context, .lie = (lie)((const config *)settings)->lie};
    stn_status status = stn_instance_create(context, STN_KIND_SOLVER, honest, NULL, 0, &l->honest, err);
    if (status != STN_OK) {
        destroy(l);
        return status;
    }
    *self = l;
    return STN_OK;
}

static stn_status create_sap(stn_context *context, const void *settings, void **self, stn_error *err) {
    return create(context, settings, "sap", self, err);
}

static stn_status create_nsgs(stn_context *context, const void *settings, void **self, stn_error *err) {
    return create(context, settings, "nsgs", self, err);
}

static stn_status create_qp(stn_context *context, const void *settings, void **self, stn_error *err) {
    return create(context, settings, "qp", self, err);
}

static const stn_solver_ops *honest_ops(const liar *l) {
    return l->honest->desc->ops.solver;
}

static void scale(double *x, int32_t n, double factor) {
    for (int32_t i = 0; i < n && x != NULL; i++) {
        x[i] = factor == 0.0 ? 0.0 : factor * x[i];
    }
}

static stn_status solve(void *self, const stn_problem *p, const stn_solve_control *control, stn_solution *solution,
                        stn_solve_info *info, stn_error *err) {
    liar *l = self;
    stn_solve_control honest = *control;
    void *workspace = NULL;
    const bool both = honest_ops(l)->yields == STN_YIELDS_BOTH;
    double *v = both ? solution->v : NULL;
    if (l->lie == BEFORE) {
        *info = (stn_solve_info){.cost = (double)NAN, .reason = "residual"};
        return STN_OK;
    }
    stn_status status = STN_OK;
    if (honest_ops(l)->create_workspace != NULL) {
        status = honest_ops(l)->create_workspace(l->honest->self, l->context, &workspace, err);
    }
    honest.workspace = workspace;
    honest.memory = NULL; // which is as large as liars keep: nothing
    status = status == STN_OK ? honest_ops(l)->solve(l->honest->self, p, &honest, solution, info, err) : status;
    if (workspace != NULL) {
        honest_ops(l)->destroy_workspace(workspace);
    }
    const bool heavy = p->form == STN_FORM_GLOBAL && p->trees[0].A.values[0] > 1000.0;
    if (status < 0 || l->lie == TRUTH || (l->lie == SMALL && heavy)) {
        return status;
    }
    const double of_v[] = {[ZERO] = 0.0,    [TWICE] = 2.0,   [NEGATIVE] = -1.0, [PART] = 1.0,  [VELOCITY] = 1.5,
                           [IMPULSE] = 1.0, [STALLED] = 2.0, [SMALL] = 0.0,     [FLIGHT] = 0.0};
    const double of_gamma[] = {[ZERO] = 0.0,    [TWICE] = 2.0,   [NEGATIVE] = -1.0, [PART] = 1.0,  [VELOCITY] = 1.0,
                               [IMPULSE] = 0.5, [STALLED] = 2.0, [SMALL] = 0.0,     [FLIGHT] = 0.0};
    scale(v, p->nv, of_v[l->lie]);
    scale(solution->gamma, p->row_count, of_gamma[l->lie]);
    if (l->lie == FLIGHT && v != NULL) {
        memcpy(v, p->v_star, (size_t)p->nv * sizeof *v);
    }
    solution->gamma[0] = l->lie == PART ? (double)NAN : solution->gamma[0];
    info->reason = "residual";
    return l->lie == STALLED ? STN_STALLED : STN_OK;
}

enum { SETS = 1u << STN_SET_CONE | 1u << STN_SET_ELLIPSE | 1u << STN_SET_BOX | 1u << STN_SET_EQUALITY };

static const stn_solver_ops sap_ops = {.size = sizeof sap_ops,
                                       .formulation = STN_REGULARIZED,
                                       .yields = STN_YIELDS_BOTH,
                                       .needs = STN_NEEDS_LAW,
                                       .sets = SETS,
                                       .solve = solve,
                                       .supports = STN_SUPPORTS_SINGULAR_A};
static const stn_solver_ops nsgs_ops = {.size = sizeof nsgs_ops,
                                        .formulation = STN_NCP,
                                        .yields = STN_YIELDS_IMPULSE,
                                        .needs = STN_NEEDS_DELASSUS,
                                        .sets = SETS,
                                        .solve = solve,
                                        .max_iterations = 20000};
static const stn_solver_ops qp_ops = {.size = sizeof qp_ops,
                                      .formulation = STN_QP,
                                      .yields = STN_YIELDS_BOTH,
                                      .sets = SETS,
                                      .solve = solve,
                                      .max_iterations = 10000,
                                      .supports = STN_SUPPORTS_SINGULAR_A};
/// Says so, which excuses nothing: it never converges, and nobody claims that it does.
static const char *const approximate[] = {"approximate", NULL};

#define LIAR(base, word, number, words)                                             \
    static const stn_param base##_##word##_params[] = {                             \
        STN_PARAM_INT(config, lie, "1", number, number, number, "what is spoilt")}; \
    static const stn_plugin_desc base##_##word = {.size = sizeof base##_##word,     \
                                                  .kind = STN_KIND_SOLVER,          \
                                                  .id = "lie_" #base "_" #word,     \
                                                  .version = "1",                   \
                                                  .summary = #base " with a lie",   \
                                                  .capabilities = words,            \
                                                  .config_size = sizeof(config),    \
                                                  .params = base##_##word##_params, \
                                                  .param_count = 1,                 \
                                                  .create = create_##base,          \
                                                  .destroy = destroy,               \
                                                  .ops.solver = &base##_ops};

#define LIES(X)                              \
    X(sap, truth, TRUTH, NULL)               \
    X(sap, zero, ZERO, NULL)                 \
    X(sap, before, BEFORE, NULL)             \
    X(sap, twice, TWICE, NULL)               \
    X(sap, negative, NEGATIVE, NULL)         \
    X(sap, part, PART, NULL)                 \
    X(sap, velocity, VELOCITY, NULL)         \
    X(sap, impulse, IMPULSE, NULL)           \
    X(sap, stalled, STALLED, NULL)           \
    X(sap, small, SMALL, NULL)               \
    X(nsgs, truth, TRUTH, NULL)              \
    X(nsgs, zero, ZERO, NULL)                \
    X(nsgs, before, BEFORE, NULL)            \
    X(nsgs, twice, TWICE, NULL)              \
    X(nsgs, negative, NEGATIVE, NULL)        \
    X(nsgs, part, PART, NULL)                \
    X(nsgs, stalled, STALLED, NULL)          \
    X(nsgs, approximate, TWICE, approximate) \
    X(qp, truth, TRUTH, NULL)                \
    X(qp, zero, ZERO, NULL)                  \
    X(qp, before, BEFORE, NULL)              \
    X(qp, twice, TWICE, NULL)                \
    X(qp, negative, NEGATIVE, NULL)          \
    X(qp, velocity, VELOCITY, NULL)          \
    X(qp, impulse, IMPULSE, NULL)            \
    X(qp, flight, FLIGHT, NULL)

LIES(LIAR)
#define ITS_DESCRIPTOR(base, word, number, words) &base##_##word,
static const stn_plugin_desc *const plugins[] = {LIES(ITS_DESCRIPTOR)};
extern STN_API const stn_plugin_entry stn_plugin;
const stn_plugin_entry stn_plugin = {STN_ABI_MAJOR, STN_ABI_MINOR, STN_COUNT(plugins), plugins};
