// SPDX-License-Identifier: Apache-2.0
// Elements: forces and stiffness between the nodes of a deformable body, evaluated in batches.
#ifndef STICTION_ELEMENT_H
#define STICTION_ELEMENT_H

#include <stiction/context.h>

STN_BEGIN_C

/// One element joins nodes_per_element nodes, so it has m = 3 nodes_per_element dofs.
typedef struct stn_element_ops {
    uint32_t size;             // sizeof of the struct as the plugin was compiled
    int32_t nodes_per_element; // 2 to 8
    int32_t constant_count;    // doubles per element that prepare fills
    /// REQUIRED when constant_count > 0. From rest positions x (m): STN_ERR_ARGUMENT for a degenerate element. [setup]
    stn_status (*prepare)(const void *self, const double *x, double *constants, stn_error *err);
    /// REQUIRED. For every element e: positions x and velocities v (count x m), constants (count x constant_count) ->
    /// force (count x m) [N], stiffness K and damping D (count x m x m, row-major, symmetric >= 0) [N/m], [N s/m], and
    /// the stored energy of all [J]. [step]
    void (*evaluate)(const void *self, int32_t count, const double *x, const double *v, const double *constants,
                     double *force, double *K, double *D, double *energy);
} stn_element_ops;

STN_END_C
#endif
