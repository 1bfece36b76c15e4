// SPDX-License-Identifier: Apache-2.0
// Contact models: pairs of geometries -> contact points, or patches as many points with polygons.
#ifndef STICTION_CONTACT_H
#define STICTION_CONTACT_H

#include <stiction/dynamics.h>

STN_BEGIN_C

/// What carries a contact point: a body, or up to STN_SUPPORT_NODES weighted nodes of a deformable.
#define STN_SUPPORT_NODES 4
typedef struct stn_support {
    int32_t body;                     // >= 0; -1: nodes
    int32_t node_count;               // 0 for a body
    int32_t node[STN_SUPPORT_NODES];  // model-wide node numbers, of one tree
    double weight[STN_SUPPORT_NODES]; // of each node in the velocity of the point, >= 0, sum 1 [1]
} stn_support;

/// One contact point at the step's start. Normal from A into B.
typedef struct stn_contact {
    uint64_t id;                    // the same from step to step while the same features touch
    int32_t geometry_a, geometry_b; // of the model
    stn_support a, b;               // what moves the point on either side
    stn_vec3 point;                 // where the impulse acts, world [m]
    stn_vec3 normal;                // unit, world
    double phi0;                    // signed distance, negative in overlap [m]
    stn_material material;          // of this contact, fully set
    /// Surface velocity of B minus that of A, world [m/s]; the model's, until the world puts its present ones.
    stn_vec3 bias;
    stn_vec3 direction;                 // friction direction, world: material.mu acts along it; zero: isotropic
    double mu2;                         // friction across the direction; material.mu when isotropic
    int32_t patch;                      // -1 for a point contact
    int32_t vertex_start, vertex_count; // polygon of a patch face in the set's vertices
    double area, pressure;              // of a patch face [m^2], [Pa]
} stn_contact;

/// Faces of one pair that touch over an area: contacts [contact_start, contact_start + contact_count).
typedef struct stn_patch {
    uint64_t id;                          // the same from step to step while the pair touches
    int32_t geometry_a, geometry_b;       // of the model
    int32_t contact_start, contact_count; // in the set's contacts
} stn_patch;

/// Every contact of a step. Rows of the contact problem follow it index for index. Grown in the step's arena by the add
/// functions alone; read freely.
typedef struct stn_contact_set {
    int32_t count, patch_count, vertex_count;          // in use
    stn_contact *contacts;                             // (count)
    stn_patch *patches;                                // (patch_count), each with a range of contacts of its own
    stn_vec3 *vertices;                                // polygon corners, world [m]
    double *vertex_pressure;                           // [Pa]
    int32_t capacity, patch_capacity, vertex_capacity; // for the add functions
    stn_arena *arena;                                  // that the arrays are in
} stn_contact_set;

/// Up to which distance a step keeps contacts of a pair, by relative speed. A contact with phi0 > distance[k] is
/// dropped when its relative velocity is at most k/STN_REACH_COUNT of `speed`, both now (stn_kinematics.v) and foreseen
/// (stn_contact_scene.free_v).
#define STN_REACH_COUNT 64
typedef struct stn_contact_reach {
    double speed;                         // no two points of the pair move faster against each other [m/s]
    double distance[STN_REACH_COUNT + 1]; // ascending; the last one is the margin of the pair [m]
} stn_contact_reach;

/// A pair to be examined. Poses X_WS of the shapes.
typedef struct stn_contact_pair {
    int32_t geometry_a, geometry_b; // a < b; a = b: a surface of nodes with itself
    stn_pose pose_a, pose_b;        // X_WS of the two shapes at the step's start
    stn_pair_material material;     // of their contact, combined and overridden
    double margin;                  // pairs with phi0 <= margin belong into the set [m]
    /// What the step promises, for contact models that ask (`approach` of their operations); zero otherwise and in
    /// queries. Velocity of B against A at the middle of the shapes' origins, world axes: at the step's start, and as
    /// it would become without contacts and other constraints.
    stn_spatial velocity, free_velocity;
    /// Of surfaces of one cloud in a step; a contact model may leave out the contacts that this says will be dropped.
    /// NULL: the margin alone counts.
    const stn_contact_reach *reach;
} stn_contact_pair;

/// What collide sees beside the pairs.
typedef struct stn_contact_scene {
    const stn_model *model; // that the pairs' geometries are of
    /// Of the configuration that contacts are wanted at: positions of nodes, among others. NULL: the model has no
    /// nodes.
    const stn_kinematics *kinematics;
    void *prepared;   // what prepare made for the model; NULL without
    stn_arena *arena; // scratch, until the call ends or the arena is reset
    double dt;        // [s]; 0 where no step is made, as in queries
    /// (nv) The velocities that the step foresees: without contacts and other constraints, or as motors are told where
    /// that is faster. NULL where no step is made.
    const double *free_v;
} stn_contact_scene;

/// Ready-made record for a point contact: ids from (pair, feature), contact point by the pair's weight, phi0 =
/// n . (p_b - p_a), supports, material, friction direction and surface velocities from the model. `p_a`, `p_b`: witness
/// points on the two surfaces. Where both geometries have a friction direction, the record holds the principal axis of
/// the harmonic mean of their tensors P = mu u u^T + mu2 (1 - u u^T) in the contact plane: 2 (P_a^-1 + P_b^-1)^-1. The
/// support on a surface of nodes is the caller's to set: the record has the surface's first node.
STN_API stn_contact stn_contact_make(const stn_model *model, const stn_contact_pair *pair, stn_vec3 p_a, stn_vec3 p_b,
                                     stn_vec3 normal, uint64_t feature);
/// Appends a copy; STN_ERR_NUMERIC when something is not finite or the normal has no unit length, STN_ERR_ARGUMENT when
/// mu < 0 or when geometry, body or node do not exist (naming the two geometries). Return its failure from collide.
STN_API stn_status stn_contact_set_add(const stn_model *model, stn_contact_set *set, const stn_contact *contact,
                                       stn_error *err);
/// Makes the record of a point contact in the set itself: stn_contact_make and stn_contact_set_add in one, without
/// copies.
STN_API stn_status stn_contact_set_add_point(const stn_model *model, stn_contact_set *set, const stn_contact_pair *pair,
                                             stn_vec3 p_a, stn_vec3 p_b, stn_vec3 normal, uint64_t feature,
                                             stn_error *err);
/// Begins a patch: faces added until the next call belong to it.
STN_API stn_status stn_contact_set_begin_patch(stn_contact_set *set, const stn_contact_pair *pair, stn_error *err);
/// Appends a face of the patch begun last, with its polygon (copied; the record's patch and vertex members are set
/// here). STN_ERR_SEQUENCE without a patch, or when a contact outside of it was added since.
STN_API stn_status stn_contact_set_add_face(const stn_model *model, stn_contact_set *set, const stn_contact *contact,
                                            const stn_vec3 *polygon, const double *pressure, int32_t vertex_count,
                                            stn_error *err);

/// How many of the set's contacts are faces of patches.
static inline int32_t stn_contact_set_faces(const stn_contact_set *set) {
    int32_t count = 0;
    for (int32_t i = 0; i < set->patch_count; i++) {
        count += set->patches[i].contact_count;
    }
    return count;
}

/// How the surface that contacts of a geometry act on lies beside the shape's own, where it is made of flat pieces in
/// place of something round. All 0: it is the shape's own.
typedef struct stn_surface_error {
    double outward, inward; // the most that it stands out of the shape, and lies inside of it, >= 0 [m]
    double resolution;      // length of edges along what is round [m]; the errors go with its square
} stn_surface_error;

/// What a contact model does; plugin kind "contact".
typedef struct stn_contact_ops {
    uint32_t size; // sizeof of the struct as the plugin was compiled
    /// REQUIRED. Can these two be handled, in either order? The answer may depend on the types, on the meshes, on
    /// whether each is compliant (stn_geometry_is_compliant) and on a body, a node or the world, not on sizes: it is
    /// asked once per kind of geometries when the world is compiled. One for which it is false with every other touches
    /// nothing, which one warning of the world says; a gap between two that do have contacts and may collide is an
    /// error then, not a body that falls through later. Of the geometries only what is named here is read; they need
    /// not be of a model. [setup]
    bool (*handles)(const void *self, const stn_geometry *a, const stn_geometry *b);
    /// OPTIONAL. Precomputes per model (meshes, fields); the result is passed to collide. [setup]
    stn_status (*prepare)(void *self, const stn_model *model, void **prepared, stn_error *err);
    void (*release)(void *prepared); // REQUIRED with prepare; accepts NULL
    /// REQUIRED. Adds the contacts of all pairs, in the order of the pairs. [step] scratch from the scene's arena
    /// A step calls it again and again with a part of its pairs, in ascending order, and may drop contacts in between:
    /// those that nothing brings together within the step, and those that no motion opens or closes, as of nodes with
    /// the body that they are attached to.
    /// It may ask again about a pair with one shape moved by a little (seams).
    /// Queries call it between steps too (world.h), with wide margins and with pairs that filters keep from touching;
    /// when a shape is asked about that is in no model, with a model that has it as one geometry more, prepared anew
    /// for every other shape.
    stn_status (*collide)(void *self, const stn_contact_scene *scene, const stn_contact_pair *pairs, int32_t pair_count,
                          stn_contact_set *set, stn_error *err);
    /// Does it find the contacts of a surface of triangles (STN_SHAPE_MESH) that moves, dents included? Without, such a
    /// shape may only be fixed in the world: a moving one is refused when the world is compiled, whatever `handles`
    /// says of it.
    bool moving_surfaces;
    /// OPTIONAL; 0 without. How far outside of the shape its contacts begin, whatever the margin of a pair [m]: boxes
    /// of the broad phase are grown by it. Asked once per geometry when the world is compiled. [setup]
    double (*margin)(const void *self, const stn_geometry *geometry);
    /// Its contacts, such as faces of patches, do not tell how far shapes are apart: queries ask the contact model that
    /// a world without choices has instead.
    bool no_distances;
    /// Does collide read the velocities of pairs, for what closes within the step? Without, they are not computed.
    bool approach;
    /// OPTIONAL; without, contacts act on the shapes' own surfaces. Of a geometry of the model that was prepared. Where
    /// patches of shapes stay that are apart, the world warns with it. [setup]
    void (*surface_error)(const void *prepared, int32_t geometry, stn_surface_error *out);
    /// May several threads call collide at once, each with an arena, a set and an err of its own? Then what `self` and
    /// `prepared` hold is only read. Without, one thread looks at all pairs.
    bool by_threads;
} stn_contact_ops;

STN_END_C
#endif
