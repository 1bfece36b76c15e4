// SPDX-License-Identifier: Apache-2.0
// What a compiled model holds beyond its public face: flat tables for the inner loops of dynamics and broad phase.
#ifndef STICTION_CORE_MODEL_COMPILED_H
#define STICTION_CORE_MODEL_COMPILED_H

#include <stiction/contact.h>

#include "model/joint.h"

/// What kinematics reads of a body, in one cache line for two. Body 0 has parent -1 and no velocities.
typedef struct body_plan {
    int32_t parent;
    int32_t type; // stn_joint_type
    int32_t q, v; // first coordinate and velocity, model-wide
    int32_t dof;  // first velocity within the tree
    int32_t nv;
    int32_t joint;
    bool free_root; // floats in the world with S = identity at the reference point
} body_plan;

/// A geometry as the collision filter sees it.
typedef struct filter_entry {
    int32_t body;   // every cloud of nodes has a number of its own behind the bodies
    int32_t parent; // -1 when that is the world; of a node the body that it is attached to
    int32_t link;   // STN_WORLD also for a root link named "world"; FILTER_NODE for nodes; STN_SURFACE_LINK
    uint32_t category, mask;
    bool collision;
    int32_t node, skip; // of a node: its number, and self_collision_skip; -1, 0 of others
    bool driven;        // the world, or on a body that is kinematic, or a node attached to such: two feel no contact
    bool excluded;      // its link is on the exclude list
    bool overridden;    // an override names its link
    bool meets_own;     // a surface with self-collision: others of its cloud, too
} filter_entry;
enum { FILTER_NODE = -3 }; // as NODE_LINK

enum { MATERIAL_MEMBERS = 8 };

/// All that was stated for two links (STN_WORLD and STN_ANY too), in the order of the members of stn_material.
typedef struct pair_override {
    uint64_t key; // pair_key of the links
    double value[MATERIAL_MEMBERS];
    int32_t call[MATERIAL_MEMBERS]; // which call gave it, from 1 on; 0: none did
} pair_override;

/// material.c: found by key, open addressing with linear probes.
typedef struct pair_overrides {
    pair_override *entries;
    int32_t *slots; // entry + 1; 0: free
    int32_t count, slot_count;
    int32_t of_all; // entry of what holds for every pair; -1: none
} pair_overrides;

typedef struct model_object {
    stn_model face; // first: a stn_model is the address of its object
    stn_arena *memory;
    stn_model_builder *described; // what it was compiled from; owns texts, meshes and element plugins
    const body_plan *plan;        // (body_count)
    const int64_t *dense_start;   // (tree_count) sum of n^2 of the articulated trees before
    const int32_t *massless;      // (tree_count) link, -1
    const filter_entry *filter;   // (geometry_count)
    const stn_material *surface;  // (geometry_count) defaults filled in
    const uint64_t *exclude_keys; // (exclude_count) of the link pairs, ascending
    pair_overrides overrides;
    int32_t articulated_count; // trees; clouds come after them
    int32_t acting_count;      // joints that may do more than carry their bodies
    const int32_t *acting; // (acting_count) ascending: those of one velocity, which may have limits, and others with
                           // spring, damper, dry friction, coupler, rotor or velocity limit
    int32_t node_q;        // where the coordinates of the nodes begin
    bool has_frames;       // some nodes are
} model_object;

static inline const model_object *model_object_of(const stn_model *model) {
    return (const model_object *)(const void *)model;
}

/// material.c: replaces what was stated for the links of two geometries.
void stn_overrides_apply(const pair_overrides *overrides, const filter_entry *a, const filter_entry *b,
                         stn_pair_material *material);
/// a / (a + b) for the stiffnesses or moduli of two sides: how much of the contact point's way is that of the first.
double material_weight(double a, double b);
/// 2 a b / (a + b); 0 where both are.
double material_harmonic_mean(double a, double b);
/// Does the friction of a surface differ by direction?
bool material_is_anisotropic(const stn_material *material);
/// Sine of the angle below which a friction direction counts as normal to the contact plane: no direction is left.
#define DIRECTION_IS_NORMAL 1e-9
/// contact_set.c: friction of a contact by the friction directions of its geometries, for the normal that it has now.
/// Where neither has one, or an override of the pair states mu: the same in all directions.
void contact_combine_friction(const stn_model *model, const stn_contact_pair *pair, stn_contact *contact);
/// stn_model_pair_material written where it is kept: once a pair of the broad phase, a copy of it costs more than the
/// rest. It takes the rule of relaxation times.
void stn_model_combine_surfaces(const stn_model *model, stn_relaxation_rule rule, int32_t geometry_a,
                                int32_t geometry_b, stn_pair_material *out);

/// The joint at the end of a chain of mimic joints, which mimics nothing: q = multiplier q(master) + offset. Circles
/// were refused when the model was compiled.
typedef struct mimic_end {
    int32_t master;
    double multiplier, offset;
} mimic_end;

static inline mimic_end follow_mimic(const stn_joint *joints, int32_t joint) {
    mimic_end end = {joint, 1.0, 0.0};
    while (joints[end.master].mimic >= 0) {
        end.offset += end.multiplier * joints[end.master].mimic_offset;
        end.multiplier *= joints[end.master].mimic_multiplier;
        end.master = joints[end.master].mimic;
    }
    return end;
}

/// The same whichever link comes first.
static inline uint64_t pair_key(int32_t link_a, int32_t link_b) {
    uint32_t a = (uint32_t)link_a, b = (uint32_t)link_b;
    return a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
}

#endif
