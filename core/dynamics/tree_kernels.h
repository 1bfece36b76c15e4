// SPDX-License-Identifier: Apache-2.0
// The loops over bodies, compiled once for every vector width and chosen by what the processor has.
#ifndef STICTION_CORE_DYNAMICS_TREE_KERNELS_H
#define STICTION_CORE_DYNAMICS_TREE_KERNELS_H

#include "dynamics/kinematics.h"

/// Second velocities of the bodies and their bias C(v, w) with those of the kinematics.
typedef struct stn_bias_of {
    const stn_spatial *velocity, *bias;
} stn_bias_of;

typedef struct dynamics_kernels {
    /// Everything that follows from (q, v), for all articulated trees.
    void (*kinematics)(kinematics_object *k, const double *q, const double *v);
    /// tau (n_t) = M a + C(v, w) of an articulated tree; F (body_count) is scratch. Arrays of spatials are read one
    /// double beyond a body's.
    void (*inverse_dynamics)(const kinematics_object *k, const stn_tree *tree, stn_vec3 gravity,
                             const double *acceleration, stn_bias_of of, stn_spatial *F, double *tau);
    /// M (n_t x n_t, row-major, both triangles) of an articulated tree.
    void (*mass_matrix)(const kinematics_object *k, int32_t tree, double *M);
} dynamics_kernels;

#define DYNAMICS_KERNELS(suffix)                                                                             \
    void kinematics_##suffix(kinematics_object *k, const double *q, const double *v);                        \
    void inverse_dynamics_##suffix(const kinematics_object *k, const stn_tree *tree, stn_vec3 gravity,       \
                                   const double *acceleration, stn_bias_of of, stn_spatial *F, double *tau); \
    void mass_matrix_##suffix(const kinematics_object *k, int32_t tree, double *M);
DYNAMICS_KERNELS(plain)
#ifdef STN_KERNELS_X86
DYNAMICS_KERNELS(avx2)
#endif

#endif
