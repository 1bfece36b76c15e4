// SPDX-License-Identifier: Apache-2.0
// What a law tells of slip (stn_law_ops.slip), which not every law does.
#ifndef STICTION_CORE_WORLD_SLIP_H
#define STICTION_CORE_WORLD_SLIP_H

#include <stiction/plugin.h>

static inline bool stn_law_tells_slip(const stn_law *law) { // NULL: no
    return law != NULL && STN_PLUGIN_HAS(law->ops, slip);
}

/// Of a constraint at velocities v_c and impulses gamma of its rows; zeros when the law tells nothing, or is NULL.
static inline stn_law_slip stn_ask_slip(const stn_law *law, const stn_problem *problem, int32_t constraint,
                                        const double *v_c, const double *gamma) {
    stn_law_slip slip = {0.0, 0.0};
    if (stn_law_tells_slip(law)) {
        law->ops->slip(law->self, problem, constraint, v_c, gamma, &slip);
    }
    return slip;
}

#endif
