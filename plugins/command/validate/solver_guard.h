// SPDX-License-Identifier: Apache-2.0
// Stands between the core and a solver and watches it: what it is given stays as it is, what it says fits what it does,
// and a second call gives the same bytes.
#ifndef STICTION_COMMAND_VALIDATE_SOLVER_GUARD_H
#define STICTION_COMMAND_VALIDATE_SOLVER_GUARD_H

#include <stiction/plugin.h>

typedef struct solver_guard {
    const stn_instance *inner; // the solver that is watched
    stn_instance outer;        // to be given to the core in its place
    stn_plugin_desc desc;
    stn_solver_ops ops;
    stn_context *context;
    stn_arena *arena, *other_arena;
    int32_t calls;
    // what was seen first, empty: nothing
    char changed_input[240], broke_word[240], not_repeated[240];
} solver_guard;

/// NULL when out of memory.
solver_guard *solver_guard_create(stn_context *context, const stn_instance *inner);

#endif
