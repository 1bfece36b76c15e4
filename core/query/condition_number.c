// SPDX-License-Identifier: Apache-2.0
#include <stiction/query.h>

#include "world/world.h"

stn_status stn_world_condition_number(stn_world *world, double *out, stn_error *err) {
    stn_law law = stn_setup_law(world->setup);
    *out = (double)NAN;
    if (world->observation.problem == NULL || law.ops == NULL) {
        return stn_fail(err, STN_ERR_SEQUENCE, "condition number: needs a step made, with a contact law");
    }
    stn_arena *scratch = stn_arena_create(world->services.context);
    if (scratch == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "condition number: out of memory");
    }
    stn_status status = stn_condition_number(&world->frame.problem, world->frame.solution.v, &law,
                                             world->frame.law_memory, scratch, out, err);
    stn_arena_destroy(scratch);
    return status;
}
