// SPDX-License-Identifier: Apache-2.0
// Gauss-Seidel over the constraints of the Delassus form, g = W gamma + q, one constraint at a time while the others
// stay:
//
//     bisection  solves each contact, by a choice of local solvers [hwangbo-2018]
//     nsgs       one projected step for each [desaxce-1998]
//     pgs        one scalar step for the normal, then the tangents [hwangbo-2018]
#include <stiction/plugin.h>

#include "sweep.h"

// --------------------------------------------------------------------------------------------------------- bisection

typedef struct bisection_config {
    int32_t local;
    double alpha, alpha_min, alpha_decay;
    int32_t acceleration;
} bisection_config;

static const char *const locals[] = {"coulomb", "ccp", "bisection", "golden", "quartic", NULL};

static const stn_param bisection_params[] = {
    STN_PARAM_CHOICE(bisection_config, local, locals, LOCAL_COULOMB,
                     "how one contact is solved; coulomb: Coulomb's law, ccp: the convex relaxation, others: maximal "
                     "dissipation over v_n = 0"),
    STN_PARAM_REAL(bisection_config, alpha, "1", 1.0, 0.1, 1.0, "relaxation of the first sweep"),
    STN_PARAM_REAL(bisection_config, alpha_min, "1", 0.7, 0.1, 1.0, "relaxation towards which that falls"),
    STN_PARAM_REAL(bisection_config, alpha_decay, "1", 0.99, 0.0, 1.0, "share of the way that is left after a sweep"),
    STN_PARAM_INT(bisection_config, acceleration, "1", 10.0, 0.0, 10.0,
                  "sweeps that Anderson's acceleration combines; 0: none"),
};

static stn_status bisection_solve(void *self, const stn_problem *problem, const stn_solve_control *control,
                                  stn_solution *solution, stn_solve_info *info, stn_error *err) {
    (void)problem; // the Delassus form knows it
    const bisection_config *config = self;
    const sweep_rule rule = {.kind = VISIT_EXACT,
                             .local = (local_method)config->local,
                             .alpha = config->alpha,
                             .alpha_min = config->alpha_min,
                             .alpha_decay = config->alpha_decay,
                             .depth = config->acceleration};
    return sweep_solve(&rule, control, solution->gamma, info, err);
}

static stn_formulation bisection_formulation(const void *self) {
    const bisection_config *config = self;
    return config->local == LOCAL_COULOMB ? STN_NCP : (config->local == LOCAL_CCP ? STN_CCP : STN_MDP);
}

static void bisection_contact(const void *self, double mu, const double *W, const double *c, double precision,
                              double *gamma) {
    const bisection_config *config = self;
    local_block block;
    double sigma = 0.0, columns[12] = {W[0], W[3], W[6], 0.0, W[1], W[4], W[7], 0.0, W[2], W[5], W[8], 0.0};
    local_prepare(mu, columns, 4, &block);
    local_solve((local_method)config->local, &block, c, precision, gamma, &sigma);
}

// -------------------------------------------------------------------------------------------------------------- nsgs

typedef struct nsgs_config {
    double alpha;
    int32_t steps, acceleration;
} nsgs_config;

static const stn_param nsgs_params[] = {
    STN_PARAM_REAL(nsgs_config, alpha, "1", 1.0, 0.1, 1.9, "length of a step over 1/|W_ii|"),
    STN_PARAM_INT(nsgs_config, steps, "1", 1.0, 1.0, 100.0, "steps of a contact at a visit"),
    STN_PARAM_INT(nsgs_config, acceleration, "1", 10.0, 0.0, 10.0,
                  "sweeps that Anderson's acceleration combines; 0: none"),
};

static stn_status nsgs_solve(void *self, const stn_problem *problem, const stn_solve_control *control,
                             stn_solution *solution, stn_solve_info *info, stn_error *err) {
    (void)problem;
    const nsgs_config *config = self;
    const sweep_rule rule = {.kind = VISIT_PROJECTED,
                             .steps = config->steps,
                             .alpha = config->alpha,
                             .alpha_min = config->alpha,
                             .alpha_decay = 1.0,
                             .depth = config->acceleration};
    return sweep_solve(&rule, control, solution->gamma, info, err);
}

// --------------------------------------------------------------------------------------------------------------- pgs

typedef struct pgs_config {
    double alpha;
    int32_t friction, acceleration;
} pgs_config;

enum { PGS_DISC, PGS_PYRAMID };
static const char *const frictions[] = {"disc", "pyramid", NULL};

static const stn_param pgs_params[] = {
    STN_PARAM_CHOICE(pgs_config, friction, frictions, PGS_DISC,
                     "disc: Coulomb's law; pyramid: each tangent by itself, |gamma_1|, |gamma_2| <= mu gamma_n"),
    STN_PARAM_REAL(pgs_config, alpha, "1", 0.6, 0.1, 1.9, "relaxation of every step"),
    STN_PARAM_INT(pgs_config, acceleration, "1", 10.0, 0.0, 10.0,
                  "sweeps that Anderson's acceleration combines; 0: none"),
};

static stn_formulation pgs_formulation(const void *self) {
    const pgs_config *config = self;
    return config->friction == PGS_PYRAMID ? STN_LCP : STN_NCP;
}

static stn_status pgs_solve(void *self, const stn_problem *problem, const stn_solve_control *control,
                            stn_solution *solution, stn_solve_info *info, stn_error *err) {
    (void)problem;
    const pgs_config *config = self;
    const sweep_rule rule = {.kind = config->friction == PGS_PYRAMID ? VISIT_PYRAMID : VISIT_COMPONENT,
                             .alpha = config->alpha,
                             .alpha_min = config->alpha,
                             .alpha_decay = 1.0,
                             .depth = config->acceleration};
    return sweep_solve(&rule, control, solution->gamma, info, err);
}

// ------------------------------------------------------------------------------------------------------- descriptors

#define SETS (1u << STN_SET_CONE | 1u << STN_SET_ELLIPSE | 1u << STN_SET_BOX | 1u << STN_SET_EQUALITY)
#define COMMON                                                                                                         \
    .size = sizeof(stn_solver_ops), .formulation = STN_NCP, .yields = STN_YIELDS_IMPULSE, .needs = STN_NEEDS_DELASSUS, \
    .sets = SETS, .max_iterations = 1000

static const stn_solver_ops bisection_ops = {COMMON, .solve = bisection_solve, .configured = bisection_formulation,
                                             .solve_contact = bisection_contact};
static const stn_solver_ops nsgs_ops = {COMMON, .solve = nsgs_solve};
static const stn_solver_ops pgs_ops = {COMMON, .solve = pgs_solve, .configured = pgs_formulation};

static const stn_plugin_desc bisection = {
    .size = sizeof bisection,
    .kind = STN_KIND_SOLVER,
    .id = "bisection",
    .version = "0.1.0",
    .summary = "Gauss-Seidel over contacts, each solved exactly by itself",
    .reference = "hwangbo-2018, algorithms 1 and 2",
    .config_size = sizeof(bisection_config),
    .params = bisection_params,
    .param_count = STN_COUNT(bisection_params),
    .ops.solver = &bisection_ops,
};
static const stn_plugin_desc nsgs = {
    .size = sizeof nsgs,
    .kind = STN_KIND_SOLVER,
    .id = "nsgs",
    .version = "0.1.0",
    .summary = "Gauss-Seidel over contacts, a projected step for each",
    .reference = "desaxce-1998",
    .config_size = sizeof(nsgs_config),
    .params = nsgs_params,
    .param_count = STN_COUNT(nsgs_params),
    .ops.solver = &nsgs_ops,
};
static const stn_plugin_desc pgs = {
    .size = sizeof pgs,
    .kind = STN_KIND_SOLVER,
    .id = "pgs",
    .version = "0.1.0",
    .summary = "projected Gauss-Seidel, a step for the normal and then one for the tangents",
    .reference = "hwangbo-2018",
    .config_size = sizeof(pgs_config),
    .params = pgs_params,
    .param_count = STN_COUNT(pgs_params),
    .ops.solver = &pgs_ops,
};
STN_PLUGIN_LIBRARY(&bisection, &nsgs, &pgs);
