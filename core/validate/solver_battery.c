// SPDX-License-Identifier: Apache-2.0
// What every solver must do, and what to do about it.
#include "validate/solver_checks.h"

static const validate_check checks[] = {
    {"declares what it is", "set size, formulation, yields, needs and sets of stn_solver_ops, solver.h", solver_declares},
    {"closed forms", "check signs first: v_n > 0 separates, gamma acts on J, v_hat and R enter as v_c - v_hat + R gamma",
     solver_closed_forms},
    {"mu = 0", "friction must follow from mu1 and mu2 of each constraint, and vanish with them", solver_without_friction},
    {"no contacts", "a problem without constraints or without trees is solved by v = v_star", solver_without_contacts},
    {"kinds and sets", "declare in `sets` only what is solved; box rows have lo and hi, row by row", solver_kinds_and_sets},
    {"steps of 1e-9 to 0.1 s", "make residuals relative; nothing may be compared with a fixed number of m/s or N s",
     solver_step_sizes},
    {"order of contacts and trees", "the solution is unique here: look for sweeps that stop before they have converged",
     solver_order},
    {"rotation of the world", "tangents of a cone are equals: look for boxes in place of the circular cone", solver_rotation},
    {"change of units", "make every tolerance relative, and scale dofs by diag(A)^-1/2", solver_units},
    {"redundant contacts", "W may be singular: do not factor it, and share the impulse between copies", solver_redundant},
    {"nodal and dense trees", "blocks of a Jacobian with node_count > 0 belong to nodes, see stn_jacobian", solver_nodal},
    {"islands", "a workspace is reused from problem to problem: nothing in it may change the result", solver_islands},
    {"other starts", "v_guess and gamma_guess are where to start, the solution must not depend on them", solver_starts},
    {"start at the solution", "test the residual before the first iteration", solver_warm_start},
    {"inputs unchanged", "copy what you change into control->arena", solver_inputs},
    {"statuses and outputs", "negative: outputs untouched and one line of text; else finite outputs, iterations and a reason",
     solver_word},
    {"same bytes again", "no uninitialised memory, no static data, no clock, no address in the arithmetic", solver_repeats},
    {"iteration limit", "stop at control->max_iterations with STN_NOT_CONVERGED and the best iterate", solver_iteration_limit},
    {"NaN in the input", "a comparison with NaN is false: write tests as !(residual <= tolerance)", solver_not_a_number},
    {"no allocation", "take scratch memory from control->arena, and keep what grows in the workspace", solver_allocations},
    {"random problems", "the certificate judges: return STN_OK only for what it accepts, docs/certificate.md",
     solver_random_problems},
    {"ill-posed problems", "where digits run out return STN_STALLED or STN_NOT_CONVERGED with the best iterate",
     solver_ill_posed_problems},
};

const validate_battery validate_solvers = {STN_KIND_SOLVER, STN_COUNT(checks), checks};
