// SPDX-License-Identifier: Apache-2.0
// Elements: forces, stiffness and damping between the nodes of a deformable body, evaluated in batches.
#ifndef STICTION_ELEMENT_H
#define STICTION_ELEMENT_H

#include <stiction/constraint.h>

STN_BEGIN_C

/// Nodes that one element joins, at most.
#define STN_ELEMENT_NODES 8

/// Some elements of one group: what evaluate reads, and where it writes. Element e of the batch has its numbers at e
/// times their count. m = nodes_per_element x velocities of a node (stn_node_type_nv).
typedef struct stn_element_batch {
    int32_t count;           // elements
    int32_t first;           // number of the first one within its group
    double time, dt;         // [s]; dt of the step, 0 in queries between steps
    const double *x;         // (count x nodes x stn_node_type_nq) coordinates of the nodes
    const double *v;         // (count x m) velocities of the nodes
    const double *constants; // (count x constant_count) as prepare made them
    const double *channels;  // of the group, stacked in their order; NULL: it has none
    const double *state;     // (count x state_count) as the step before left it; NULL: it has none
    double *force;           // (count x m) [N], [N m]
    /// (count x m x m) each, row-major, symmetric >= 0: stiffness -df/dx [N/m] and damping -df/dv [N s/m] as far as A
    /// may have them. Both NULL: not asked, next_state neither.
    double *K, *D;
    double *energy;     // (count) stored [J]
    double *next_state; // (count x state_count) for the step after this one; NULL: it has none, or not asked
    int32_t inverted;   // how many evaluate found turned inside out; given as 0, and 0 of those that cannot be
    int32_t wrong;      // element of the batch that a failing evaluate is about, or the first inverted one; -1: none
} stn_element_batch;

/// A number that every element may have for itself: where a group gives one, it counts in place of the instance's.
typedef struct stn_element_parameter {
    const char *name, *unit, *summary; // as of the instance's parameter of this name
} stn_element_parameter;

/// What an element does; plugin kind "element".
typedef struct stn_element_ops {
    uint32_t size;             // sizeof of the struct as the plugin was compiled
    int32_t nodes_per_element; // 2 to STN_ELEMENT_NODES
    int32_t constant_count;    // doubles per element that prepare fills
    /// REQUIRED when constant_count > 0. From the coordinates of the nodes at rest (nodes x nq) and the element's own
    /// `parameters` (parameter_count; NaN: the instance's): STN_ERR_ARGUMENT for a degenerate element. [setup]
    stn_status (*prepare)(const void *self, const double *rest, const double *parameters, double *constants,
                          stn_error *err);
    /// REQUIRED. Writes force, K, D, energy and next_state of every element of the batch; `force` is minus the gradient
    /// of `energy` where the nodes are at rest. A failure ends the step with the element's name (`wrong`), which no
    /// deformation should. Batches of one group run at the same time: nothing but the batch is written. [step]
    stn_status (*evaluate)(const void *self, stn_element_batch *batch, stn_error *err);
    stn_node_type node_type;                 // of the nodes that it joins
    int32_t parameter_count;                 // numbers that an element may have for itself
    const stn_element_parameter *parameters; // (parameter_count), constant
    int32_t channel_count;                   // inputs that scripts may set while the world runs, one set for a group
    const stn_channel *channels;             // (channel_count), constant; sizes > 0
    int32_t state_count;                     // doubles per element kept from step to step; checkpoints hold them
    /// OPTIONAL (absent: zeros). State (state_count) of an element at the start. [setup]
    void (*initial_state)(const void *self, const double *constants, double *state);
    /// OPTIONAL (absent: none). What the element adds to the mass matrix: M (nodes x nodes) [kg], symmetric, one number
    /// for the three translations of two nodes; its sum is the element's mass. For STN_NODE_POINT. [setup]
    void (*mass)(const void *self, const double *constants, double *M);
    int32_t output_count;                 // what it tells of every element, for colours and logs
    const stn_constraint_output *outputs; // (output_count), constant
    /// REQUIRED with outputs. Their numbers (count x sum of sizes), from what a batch gives; K and D are NULL. [step]
    void (*measure)(const void *self, const stn_element_batch *batch, double *values);
} stn_element_ops;

STN_END_C
#endif
