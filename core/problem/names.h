// SPDX-License-Identifier: Apache-2.0
// Words for enumerators, in their order: in messages and in "contact-problem-2" files.
#ifndef STICTION_CORE_PROBLEM_NAMES_H
#define STICTION_CORE_PROBLEM_NAMES_H

#include <stiction/problem.h>

extern const char *const problem_kind_names[STN_CONSTRAINT_KIND_COUNT];
extern const char *const problem_set_names[STN_SET_COUNT];
extern const char *const problem_form_names[2];
extern const char *const problem_velocity_names[2];
extern const char *const matrix_form_names[4];

#endif
