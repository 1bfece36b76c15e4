// SPDX-License-Identifier: Apache-2.0
#ifndef STICTION_CORE_PROBLEM_CONE_H
#define STICTION_CORE_PROBLEM_CONE_H

#include <stiction/problem.h>

/// Three rows in a friction cone, circular or elliptic; all other rows have bounds.
static inline bool has_cone(const stn_constraint *c) {
    return c->set == STN_SET_CONE || c->set == STN_SET_ELLIPSE;
}

#endif
