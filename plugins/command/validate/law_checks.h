// SPDX-License-Identifier: Apache-2.0
// The checks of the laws' battery; what each demands is said in law_battery.c.
#ifndef STICTION_COMMAND_VALIDATE_LAW_CHECKS_H
#define STICTION_COMMAND_VALIDATE_LAW_CHECKS_H

#include "validate.h"

// law_field.c: the impulse as a field of the contact velocity
void law_gradient(validate_trial *trial);
void law_hessian(validate_trial *trial);
void law_curl(validate_trial *trial);
void law_convex(validate_trial *trial);
void law_open(validate_trial *trial);
void law_work(validate_trial *trial);
void law_without_friction(validate_trial *trial);

// law_contract.c: what law.h promises
void law_declares(validate_trial *trial);
void law_lanes(validate_trial *trial);
void law_repeats(validate_trial *trial);
void law_memory(validate_trial *trial);
void law_not_a_number(validate_trial *trial);

// law_slip.c: what it says of its slip
void law_slips(validate_trial *trial);

#endif
