// SPDX-License-Identifier: Apache-2.0
// The loops over bodies, compiled once for every vector width and chosen by what the processor has.
#ifndef STICTION_CORE_DYNAMICS_TREE_KERNELS_H
#define STICTION_CORE_DYNAMICS_TREE_KERNELS_H

#include "dynamics/kinematics.h"

typedef struct dynamics_kernels {
    /// Everything that follows from (q, v), for all articulated trees.
    void (*kinematics)(kinematics_object *k, const double *q, const double *v);
    /// tau (n_t) = M a + c(v) of an articulated tree; F (body_count) is scratch.
    void (*inverse_dynamics)(const kinematics_object *k, const stn_tree *tree, stn_vec3 gravity,
                             const double *acceleration, stn_spatial *F, double *tau);
    /// tau = M a + C(v, w), w (n_t); scratch (3 (body_count + 1)).
    void (*inverse_dynamics_polar)(const kinematics_object *k, const stn_tree *tree, stn_vec3 gravity, const double *w,
                                   const double *acceleration, stn_spatial *scratch, double *tau);
    /// Twice the kinetic energy of the bodies of an articulated tree, without rotors.
    double (*twice_kinetic)(const kinematics_object *k, const stn_tree *tree);
    /// M (n_t x n_t, row-major, both triangles) of an articulated tree.
    void (*mass_matrix)(const kinematics_object *k, int32_t tree, double *M);
    /// The diagonal (n_t) alone.
    void (*mass_diagonal)(const kinematics_object *k, int32_t tree, double *diagonal);
} dynamics_kernels;

#define DYNAMICS_KERNELS(suffix)                                                                             \
    void kinematics_##suffix(kinematics_object *k, const double *q, const double *v);                        \
    void inverse_dynamics_##suffix(const kinematics_object *k, const stn_tree *tree, stn_vec3 gravity,       \
                                   const double *acceleration, stn_spatial *F, double *tau);                 \
    void inverse_dynamics_polar_##suffix(const kinematics_object *k, const stn_tree *tree, stn_vec3 gravity, \
                                         const double *w, const double *acceleration, stn_spatial *scratch,  \
                                         double *tau);                                                       \
    double twice_kinetic_##suffix(const kinematics_object *k, const stn_tree *tree);                         \
    void mass_matrix_##suffix(const kinematics_object *k, int32_t tree, double *M);                          \
    void mass_diagonal_##suffix(const kinematics_object *k, int32_t tree, double *diagonal);
DYNAMICS_KERNELS(plain)
#ifdef STN_KERNELS_X86
DYNAMICS_KERNELS(avx2)
#endif

#endif
