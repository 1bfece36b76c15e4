// SPDX-License-Identifier: Apache-2.0
// Straight paths in joint space: what comes too near on them.
#ifndef STICTION_PLUGINS_SCRIPT_PATH_H
#define STICTION_PLUGINS_SCRIPT_PATH_H

#include <stiction/query.h>

/// A straight path in joint space.
typedef struct stn_path {
    int32_t group;           // its joints move, with all that hangs on them
    const double *from, *to; // (nq) of the whole model; may differ in joints of one coordinate
    double margin;           // to keep from everything else [m], >= 0
    double self_margin;      // to keep between links of the group, what hangs on it included [m], >= 0
    double resolution;       // how much nearer than that what is not found may come on the path [m], > 0
    const stn_query *others; // OPTIONAL: what it keeps clear of is only what this accepts
} stn_path;

/// What comes too near first, and where.
typedef struct stn_path_meeting {
    stn_near_pair pair; // geometry_a -1: the path is free; A moves
    double part;        // of the path [1]
} stn_path_meeting;

/// Goes along the path, places as far from each other as distances and the speeds of bodies allow (conservative
/// advancement), and looks at every pair that may collide (stn_model_may_collide) and that the contact model of queries
/// handles. `world` must be compiled and is left at the last place: give it a clone. STN_ERR_ARGUMENT, STN_ERR_NUMERIC:
/// a path that is none.
stn_status stn_path_meets(stn_world *world, const stn_path *path, stn_path_meeting *meeting, stn_error *err);

#endif
