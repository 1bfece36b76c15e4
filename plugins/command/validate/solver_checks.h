// SPDX-License-Identifier: Apache-2.0
// The checks of the solvers' battery; what each demands is said in solver_battery.c.
#ifndef STICTION_COMMAND_VALIDATE_SOLVER_CHECKS_H
#define STICTION_COMMAND_VALIDATE_SOLVER_CHECKS_H

#include "validate.h"

// solver_closed.c: answers that are known
void solver_declares(validate_trial *trial);
void solver_closed_forms(validate_trial *trial);
void solver_without_friction(validate_trial *trial);
void solver_without_contacts(validate_trial *trial);
void solver_kinds_and_sets(validate_trial *trial);
void solver_step_sizes(validate_trial *trial);

// solver_symmetry.c: the same physics said differently
void solver_order(validate_trial *trial);
void solver_rotation(validate_trial *trial);
void solver_units(validate_trial *trial);
void solver_redundant(validate_trial *trial);
void solver_nodal(validate_trial *trial);
void solver_islands(validate_trial *trial);
void solver_starts(validate_trial *trial);
void solver_warm_start(validate_trial *trial);

// solver_border.c: what plugin and core promise each other
void solver_inputs(validate_trial *trial);
void solver_word(validate_trial *trial);
void solver_repeats(validate_trial *trial);
void solver_iteration_limit(validate_trial *trial);
void solver_tolerances(validate_trial *trial);
void solver_not_a_number(validate_trial *trial);
void solver_allocations(validate_trial *trial);

// solver_hard.c: problems at the edge
void solver_contradictions(validate_trial *trial);
void solver_awkward(validate_trial *trial);

// solver_world.c: the problems of a world
void solver_in_a_world(validate_trial *trial);

// solver_random.c: many problems, judged by the certificate
void solver_random_problems(validate_trial *trial);
void solver_ill_posed_problems(validate_trial *trial);

#endif
