// SPDX-License-Identifier: Apache-2.0
// Shapes, boxes around them, mass properties and the broad phase. Knows no model.
#ifndef STICTION_GEOMETRY_H
#define STICTION_GEOMETRY_H

#include <stiction/context.h>
#include <stiction/math.h>

STN_BEGIN_C

/// Kinds of shapes, with the members of stn_shape that each uses.
typedef enum stn_shape_type {
    STN_SHAPE_SPHERE,       // radius
    STN_SHAPE_BOX,          // half_extents
    STN_SHAPE_CAPSULE,      // radius, half_length of the segment, along z
    STN_SHAPE_CYLINDER,     // radius, half_length, along z
    STN_SHAPE_HALF_SPACE,   // filled where z <= 0; the outward normal is +z
    STN_SHAPE_MESH,         // mesh: a surface of triangles; a shape that is only drawn may do without
    STN_SHAPE_ELLIPSOID,    // half_extents: the semi-axes
    STN_SHAPE_CONVEX,       // mesh: a closed convex surface (stn_mesh.convex), the solid inside
    STN_SHAPE_HEIGHT_FIELD, // mesh: a surface over a grid (stn_mesh.grid); filled below it, without bottom; does not
                            // move
    STN_SHAPE_SURFACE, // radius: the thickness; triangles over nodes of a deformable (stn_surface in model.h), known
                       // by the model alone
    STN_SHAPE_COUNT    // how many there are
} stn_shape_type;

/// Triangles or tetrahedra that shapes share: mesh.h.
typedef struct stn_mesh stn_mesh;

/// A shape in its own frame [m]. Members that a type does not use are zero.
typedef struct stn_shape {
    stn_shape_type type;   // decides which of the others count
    double radius;         // > 0
    double half_length;    // of the axis, >= 0
    stn_vec3 half_extents; // along x, y, z, > 0
    const stn_mesh *mesh;  // borrowed: whoever keeps the shape keeps the mesh
} stn_shape;

/// Shapes by their sizes [m], unchecked: stn_shape_check tells whether they are sound. Thread: [any].
STN_API stn_shape stn_shape_sphere(double radius);
STN_API stn_shape stn_shape_box(stn_vec3 half_extents);
STN_API stn_shape stn_shape_capsule(double radius, double half_length);
STN_API stn_shape stn_shape_cylinder(double radius, double half_length);
STN_API stn_shape stn_shape_half_space(void);
STN_API stn_shape stn_shape_ellipsoid(stn_vec3 semi_axes);
/// The solid hull when the mesh is convex, the height field when it has a grid, else its surface. NULL: a surface that
/// is not loaded.
STN_API stn_shape stn_shape_mesh(const stn_mesh *mesh);
/// "sphere", "box", ...; NULL for an unknown type.
STN_API const char *stn_shape_name(stn_shape_type type);
/// Sizes finite and > 0 (a capsule's half_length may be 0): STN_ERR_ARGUMENT names the member, value and unit. A
/// surface of nodes is refused: stn_builder_add_surface makes it.
STN_API stn_status stn_shape_check(const stn_shape *shape, stn_error *err);

/// Axis-aligned box; empty when lower > upper. Half spaces and height fields give infinite sides.
typedef struct stn_aabb {
    stn_vec3 lower, upper; // corners [m]
} stn_aabb;

/// World box of a shape posed at X_WS, grown by `margin` [m] on every side. Empty for a surface of nodes.
STN_API stn_aabb stn_shape_aabb(const stn_shape *shape, const stn_pose *pose, double margin);

/// Furthest point of a bounded shape in a direction, both in the shape's frame; `direction` needs no unit length.
STN_API stn_vec3 stn_shape_support(const stn_shape *shape, stn_vec3 direction);

/// Where a ray meets a shape.
typedef struct stn_ray_hit {
    double distance;  // from the origin of the ray [m], >= 0
    stn_vec3 point;   // world
    stn_vec3 normal;  // unit, world, against the ray: of a solid its outward normal
    int32_t triangle; // of a mesh that is met there, -1: none
    bool inside;      // the origin lies inside the solid: distance 0, the normal is the ray's direction turned round
} stn_ray_hit;

/// The first point of a shape posed at X_WS on the ray from `origin` along `direction` (any length > 0), at most `max`
/// [m] away (may be infinite). Solids are entered: a ray that begins inside meets the solid at once, one that begins on
/// the surface and leaves does not meet it. A mesh is a surface, met from both sides. A height field is solid below its
/// surface, with vertical sides at its border. False when nothing is met, also for a direction without length and
/// numbers that are not finite. Meshes: mesh_query.h. A surface
/// of nodes is not met: stn_world_raycast knows where its nodes are. Thread: [any].
STN_API bool stn_shape_raycast(const stn_shape *shape, const stn_pose *pose, stn_vec3 origin, stn_vec3 direction,
                               double max, stn_ray_hit *hit);

/// Mass, centre of mass and inertia about it, in one frame's axes.
typedef struct stn_mass {
    double mass;      // [kg]
    stn_vec3 com;     // [m]
    stn_mat3 inertia; // about com [kg m^2]
} stn_mass;

/// Solid of uniform density with the given total mass. Half spaces, height fields and meshes that are not closed:
/// STN_ERR_UNSUPPORTED.
STN_API stn_status stn_shape_mass(const stn_shape *shape, double mass, stn_mass *out, stn_error *err);
STN_API double
stn_shape_volume(const stn_shape *shape); ///< [m^3]; infinite for a half space or height field, 0 for an open mesh
/// Mass properties given in frame B, in frame A.
STN_API stn_mass stn_mass_transform(const stn_pose *ab, const stn_mass *mass);
/// Sum of two in the same frame. Two zero masses give zero.
STN_API stn_mass stn_mass_add(const stn_mass *a, const stn_mass *b);

/// Pairs of boxes that overlap, from step to step.
typedef struct stn_broadphase stn_broadphase;

/// Two boxes that overlap, by their indices.
typedef struct stn_broadphase_pair {
    int32_t a, b; // a < b
} stn_broadphase_pair;

/// STN_ERR_MEMORY is the only failure. [setup]
STN_API stn_status stn_broadphase_create(stn_context *context, stn_broadphase **out, stn_error *err);
STN_API void stn_broadphase_destroy(stn_broadphase *broadphase); ///< accepts NULL
/// Finds the overlapping pairs of `count` boxes. `moving[i]` false: pairs of two such boxes are not reported.
/// `allowed` may refuse a pair (NULL: all allowed); of the same `user` it must always give the same answer, for it is
/// asked once while two boxes stay near each other. The result depends on the boxes alone, not on earlier calls, and is
/// sorted by (a, b). `*pairs` is borrowed until the next update. After warm-up an update allocates nothing.
STN_API stn_status stn_broadphase_update(stn_broadphase *broadphase, int32_t count, const stn_aabb *boxes,
                                         const bool *moving, bool (*allowed)(const void *user, int32_t a, int32_t b),
                                         const void *user, const stn_broadphase_pair **pairs, int32_t *pair_count,
                                         stn_error *err);

STN_END_C
#endif
