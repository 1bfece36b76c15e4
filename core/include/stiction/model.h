// SPDX-License-Identifier: Apache-2.0
// The model: what can be simulated. Described to a builder by loaders and scripts, compiled once, constant after.
#ifndef STICTION_MODEL_H
#define STICTION_MODEL_H

#include <stiction/mesh.h>

STN_BEGIN_C

typedef struct stn_instance stn_instance; // a created plugin: plugin.h

/// How a child moves on its parent, with the coordinates q and velocities v of each. v = dq/dt where nothing else is
/// said.
typedef enum stn_joint_type {
    STN_JOINT_FIXED,      // no q: its links become one body
    STN_JOINT_REVOLUTE,   // q: angle about axis [rad]
    STN_JOINT_CONTINUOUS, // the same, never limited
    STN_JOINT_PRISMATIC,  // q: distance along axis [m]
    STN_JOINT_FLOATING, // q: x, y, z, qw, qx, qy, qz; v: linear, angular; both in the joint frame's axes, which are the
                        // world's for the joint that a group without one of its own gets
    STN_JOINT_PLANAR, // q: x, y [m], angle [rad]; x and y along the joint frame's axes turned the shortest way so that
                      // z lies on `axis`, the angle about `axis`; v: their rates
    STN_JOINT_BALL,   // q: qw, qx, qy, qz; v: angular velocity in the joint frame's axes
    STN_JOINT_SCREW,  // q: angle about axis [rad]; the child advances by screw_pitch [m] a turn
    STN_JOINT_UNIVERSAL, // q: angle about the joint frame's x, then about the y that this turned [rad]; v: their rates
    STN_JOINT_COUNT,     // of the types that a description may have
    STN_JOINT_KINEMATIC =
        STN_JOINT_COUNT + 1, // of a root that stn_builder_make_kinematic gave: q: x, y, z, qw, qx, qy, qz, then
                             // the twist that it has now, vx, vy, vz, wx, wy, wz; world axes; no v
} stn_joint_type;

/// Coordinates and velocities that a type has; name as in URDF.
STN_API int32_t stn_joint_type_nq(stn_joint_type type);
STN_API int32_t stn_joint_type_nv(stn_joint_type type);
STN_API const char *stn_joint_type_name(stn_joint_type type);
/// One coordinate, along or about the axis: such joints may mimic and be mimicked, and may have a rotor and a spring.
STN_API bool stn_joint_type_is_axial(stn_joint_type type);
STN_API bool stn_joint_type_is_limited(stn_joint_type type); ///< do lower and upper mean something?
STN_API bool stn_joint_type_has_axis(stn_joint_type type);   ///< does `axis` mean something?
/// First of the four coordinates that are a unit quaternion (w, x, y, z); -1: none are.
STN_API int32_t stn_joint_type_quaternion(stn_joint_type type);
/// Coordinates (nq) for which the child frame is the joint frame.
STN_API void stn_joint_type_rest(stn_joint_type type, double *q);
/// What coordinate i of q and velocity i of v are called, for columns and messages: "x", "qw", "angle"; "" when the
/// joint has but one; NULL when it has no such.
STN_API const char *stn_joint_coordinate_name(stn_joint_type type, int32_t i);
STN_API const char *stn_joint_velocity_name(stn_joint_type type, int32_t i);

/// Units of a joint type for messages: "rad"; "m, rad" where some coordinates slide and others turn; quaternions are
/// "1".
typedef struct stn_joint_units {
    const char *position, *velocity, *acceleration, *effort, *damping, *inertia, *stiffness; // never NULL
} stn_joint_units;
/// Constant; NULL outside the range.
STN_API const stn_joint_units *stn_joint_type_units(stn_joint_type type);

/// Contact parameters of one surface, or (pair overrides) of one contact. NaN: not given.
typedef struct stn_material {
    double mu;              // friction coefficient, while sliding; along the friction direction where there is one [1]
    double stiffness;       // point stiffness k [N/m]; infinite = rigid
    double relaxation_time; // linear dissipation tau_d [s]
    double dissipation;     // Hunt-Crossley d [s/m]
    double restitution;     // [1], of rigid contacts with solvers that use no law
    double modulus;         // hydroelastic E [Pa]
    double mu_static;       // friction coefficient at rest, counts where it is above mu; NaN: mu [1]
    double mu2;             // friction coefficient across the friction direction of the geometry; NaN: mu [1]
} stn_material;

STN_API stn_material stn_material_unset(void); ///< every member NaN
/// What an unset surface means: mu 0.5, rigid, no relaxation or dissipation of its own, restitution 0.
STN_API stn_material stn_material_default(void);

/// A material that has a name: "steel". Its surface has mu, mu_static where it differs, and the modulus (Young's);
/// stiffness, relaxation and dissipation of a contact depend on shape and speed and are unset. Values, ranges and
/// sources: docs/materials.md.
typedef struct stn_named_material {
    const char *name;     // lower case, words joined by _
    double density;       // [kg/m^3]
    stn_material surface; // unset members: not of the material alone
} stn_named_material;
STN_API const stn_named_material *stn_named_materials(int32_t *count);       ///< all of them, by name
STN_API const stn_named_material *stn_named_material_find(const char *name); ///< NULL when there is none

/// How the linear dissipation of two surfaces becomes that of their contact. One that is given alone counts alone.
typedef enum stn_relaxation_rule {
    STN_RELAXATION_SUM,    // tau_a + tau_b, as Drake has it
    STN_RELAXATION_SERIES, // (k_b tau_a + k_a tau_b) / (k_a + k_b), of two layers in series; that of the compliant side
} stn_relaxation_rule;

/// How a contact between two surfaces behaves, after combination (docs/lua.md, "Bodies and their contact") and
/// overrides: all members set (a relaxation time that nobody gave stays NaN: the world puts dt), plus where the contact
/// point lies and what holds for a face of a patch instead, where moduli E stand for point stiffnesses.
/// mu2 is NaN where friction is the same in all directions. Where one geometry has a friction direction, mu acts along
/// it and mu2 across it. Where both have one, mu and mu2 are the largest and the smallest that a contact of the two can
/// have, which depends on how the directions lie to each other: stn_contact_make computes it.
typedef struct stn_pair_material {
    stn_material value; // all set but the relaxation time, mu_static and mu2
    double weight_a;    // contact point = weight_a p_a + (1 - weight_a) p_b; k_a / (k_a + k_b), 1 when a alone is rigid
    double patch_dissipation; // (E_b d_a + E_a d_b) / (E_a + E_b), that of the compliant side [s/m]
    /// As value.relaxation_time, where the rule has weights with E in the place of k [s].
    double patch_relaxation_time;
} stn_pair_material;

// ---------------------------------------------------------------------------------------------- description

/// How the pressure field of a compliant shape (stn_geometry_is_compliant) is made, for contact models that have such
/// fields.
typedef struct stn_field_spec {
    double resolution; // hint for the length of the edges of its tetrahedra, > 0 [m]; NaN: the contact model chooses
    double margin;     // how far outside of the shape faces begin, without pressure yet, >= 0 [m]; NaN: the model's
    double thickness;  // depth of the layer of a half space in which pressure grows to the modulus, > 0 [m]; NaN: none
    int32_t volume_mesh; // of the model's meshes, with tetrahedra, in the shape's frame; -1: none
} stn_field_spec;

/// Nothing given: NaN, NaN, NaN, -1.
STN_API stn_field_spec stn_field_spec_unset(void);

/// A coloured or colliding shape on a link. Texts are copied by the builder.
typedef struct stn_geometry_spec {
    const char *name;          // may be NULL
    stn_shape shape;           // in its own frame
    stn_pose pose;             // link frame -> shape frame
    stn_material material;     // NaN: not given
    float rgba[4];             // 0 to 1; the last: 1 opaque
    bool collision;            // takes part in contact; otherwise visual only
    bool visual;               // is drawn
    int32_t mesh;              // from stn_builder_add_mesh for shapes of type mesh, convex and height_field, else -1
    stn_field_spec field;      // of a compliant shape
    uint32_t category;         // collision filter: a pair collides when each one's category meets the other's mask
    uint32_t mask;             // categories that it meets
    stn_vec3 surface_velocity; // conveyor belt, in the shape's axes [m/s]
    /// Where friction differs by direction: the direction of material.mu, in the shape's axes, of any length > 0;
    /// material.mu2 acts across it. Contacts project it on their plane; where it is normal to the plane, mu2 acts in
    /// all directions. Zero: friction is the same in all directions.
    stn_vec3 friction_direction;
    const char *where; // "file:line" for messages, may be NULL
} stn_geometry_spec;

/// Both collision and visual, unset material and field, category 1, mask all ones, grey.
STN_API stn_geometry_spec stn_geometry_spec_default(stn_shape shape);

/// A link as a file or script names it.
typedef struct stn_link_spec {
    const char *name;  // unique within the group
    stn_mass mass;     // in link axes; mass 0: none given
    const char *where; // "file:line" for messages, may be NULL
} stn_link_spec;

/// Numbers with two units are those of turning and of sliding. Limits of position are for revolute, prismatic and screw
/// joints (a screw's are angles). On a joint with several velocities effort, damping and friction apply to each of them
/// by itself, in its own unit: friction bounds the forces of the joint to a box, and a planar joint with damping 2 has
/// 2 N s/m along x and y and 2 N m s/rad about its axis. Rotors, springs and mimic are for joints with one velocity. A
/// spring acts with tau = -stiffness (q - rest); the servo's gains do nothing by themselves: a controller may ask for
/// them.
typedef struct stn_joint_spec {
    const char *name;      // unique within the group
    stn_joint_type type;   // decides how many coordinates it has
    int32_t parent, child; // links as returned by stn_builder_add_link. The child is of this group; the parent may be
                           // STN_WORLD or a link of an earlier group (a hand on a flange)
    stn_pose origin;       // parent link frame -> joint frame; the child link frame is the joint frame moved by q
    stn_vec3 axis;         // joint frame, any length > 0
    double lower, upper;   // [rad] or [m]; -inf, inf: unlimited
    double effort;         // [N m] or [N]; inf: unlimited
    double velocity;       // [rad/s] or [m/s]; inf: unlimited
    /// [rad/s^2] or [m/s^2]; inf: unlimited. For planners: no force of the simulation follows from it.
    double acceleration;
    double screw_pitch;   // screw: [m] a turn, may be negative
    double damping;       // [N m s/rad] or [N s/m], >= 0
    double friction;      // dry friction [N m] or [N], >= 0
    double stiffness;     // spring [N m/rad] or [N/m], >= 0; 0: none
    double rest;          // [rad] or [m]: where the spring is slack
    double servo_kp;      // gains of the robot's own position servo [N m/rad] or [N/m],
    double servo_kd;      // [N m s/rad] or [N s/m], >= 0; both 0: none given
    double rotor_inertia; // [kg m^2] or [kg] at the rotor
    double gear_ratio;    // rotor turns per joint turn; gear_ratio^2 rotor_inertia is reflected to the joint
    const char *actuator; // name of what drives it (copied), NULL: none is named
    int32_t mimic;        // joint that this one follows, -1: none; q = multiplier q_mimic + offset
    double mimic_multiplier, mimic_offset; // [1, m/rad, rad/m], [rad] or [m]
    const char *where;                     // "file:line" for messages, may be NULL
} stn_joint_spec;

/// Axis x, no limits, no damping, friction, spring or rotor, parent STN_WORLD, following nothing. `name` is borrowed.
STN_API stn_joint_spec stn_joint_spec_default(const char *name, stn_joint_type type);

#define STN_WORLD (-1) // the parent of a root

/// Collects groups of links, joints and shapes: names are unique within one group. Numbers are checked as they
/// come in (STN_ERR_ARGUMENT naming group, object, where, value and bound; nothing is added), names and structure when
/// the model is compiled. Links, geometries and meshes keep their indices in the model. Not thread-safe.
typedef struct stn_model_builder stn_model_builder;

/// An empty one. STN_ERR_MEMORY is the only failure. [setup]
STN_API stn_status stn_builder_create(stn_context *context, stn_model_builder **out, stn_error *err);
STN_API void stn_builder_destroy(stn_model_builder *builder); ///< accepts NULL

/// Begins a group, a robot or a single body: everything added until the next call belongs to it. The name must be
/// new among groups and clouds of nodes. Returns its index through `group`.
STN_API stn_status stn_builder_begin_group(stn_model_builder *builder, const char *name, int32_t *group,
                                           stn_error *err);
/// From now on a name of stn_builder_begin_group that is taken gets a number behind it ("arm_2") instead of being
/// refused; or no longer, which is how a builder begins.
STN_API void stn_builder_number_names(stn_model_builder *builder, bool number);
/// Forgets every group from `group` on with its keyframes: what a loader does when a file turns out bad, so that no
/// half group stays. An earlier group that was attached to one of them is attached to nothing, an earlier joint that
/// followed one of theirs follows none.
STN_API void stn_builder_discard(stn_model_builder *builder, int32_t group);
/// Where a group's root stands, and whether it is welded to the world or floats. Before compiling; default: at the
/// origin, floating, except that a root link named "world" is the world itself. Joints whose parent is STN_WORLD start
/// from the base too; a group that hangs on another has no base, and setting one of an attached group is refused.
STN_API stn_status stn_builder_set_base(stn_model_builder *builder, int32_t group, const stn_pose *base, bool fixed,
                                        stn_error *err);
/// What a file says of the same; the last proposal counts. A base that was or will be set wins over it, and a group
/// that is attached to another ignores it.
STN_API stn_status stn_builder_propose_base(stn_model_builder *builder, int32_t group, const stn_pose *base, bool fixed,
                                            stn_error *err);
/// The group's root moves as it is told (stn_world_set_kinematic): pose and twist are inputs of the step, no force
/// changes them, and what it touches feels it as a wall that moves. It starts at its base, whether that is fixed or
/// not, and stands until it is told otherwise. All links become one body without degrees of freedom or mass. Refused
/// for an attached group; when compiling: a root that a joint carries or that is named "world", a moving joint on any
/// of its links, and shapes without an end on them (half space, height field).
STN_API stn_status stn_builder_make_kinematic(stn_model_builder *builder, int32_t group, stn_error *err);
/// What is in force: as set, else as proposed, else the origin, floating; the latter also for a group that
/// stn_builder_attach hung on another and outside the range.
STN_API void stn_builder_get_base(const stn_model_builder *builder, int32_t group, stn_pose *base, bool *fixed);
STN_API stn_status stn_builder_add_link(stn_model_builder *builder, const stn_link_spec *spec, int32_t *link,
                                        stn_error *err);
STN_API stn_status stn_builder_add_joint(stn_model_builder *builder, const stn_joint_spec *spec, int32_t *joint,
                                         stn_error *err);
/// Makes a joint follow another that may have been added later; joints as returned by stn_builder_add_joint.
STN_API stn_status stn_builder_set_mimic(stn_model_builder *builder, int32_t joint, int32_t master, double multiplier,
                                         double offset, stn_error *err);

/// A configuration of one group that has a name. Texts and numbers are copied by the builder.
typedef struct stn_keyframe_spec {
    const char *name; // not empty, of no other keyframe of the group
    int32_t q_count;  // of all joints of the group
    /// (q_count) coordinates of all joints of the group in the order in which they were added, finite; quaternions of
    /// any length > 0; of joints that mimic others the masters' decide when it is applied.
    const double *q;
    /// Where its root link is, NULL: not said. For a root that floats without a joint of its own; on others without
    /// effect.
    const stn_pose *base;
    const char *where; // "file:line" for messages, may be NULL
} stn_keyframe_spec;
/// After the group's joints; `group` may be any that is there.
STN_API stn_status stn_builder_add_keyframe(stn_model_builder *builder, int32_t group, const stn_keyframe_spec *spec,
                                            stn_error *err);
/// Welds the root link of `group` to `link` of another group, whichever was added first; `pose`: link frame -> root
/// link frame. The root then is one body with that link. Refused: a second attachment, and a group whose base was set,
/// because an attached one has none. Refused when compiling: a circle of attachments, a root link named "world", and a
/// root that a joint already hangs on the world or on another group.
STN_API stn_status stn_builder_attach(stn_model_builder *builder, int32_t group, int32_t link, const stn_pose *pose,
                                      stn_error *err);
/// link STN_WORLD: a fixed part of the world. A height field on a link that turns out to move is refused when
/// compiling.
STN_API stn_status stn_builder_add_geometry(stn_model_builder *builder, int32_t link, const stn_geometry_spec *spec,
                                            int32_t *geometry, stn_error *err);
/// A mesh that shapes may name; the same path, scale and data give the same index. `data` (kept by the model) may be
/// NULL when the shapes that name it are only drawn: then path and scale are a reference that a viewer loads. A shape
/// that collides without data is refused, and so is one whose own mesh is not the data of the mesh that it names.
STN_API stn_status stn_builder_add_mesh(stn_model_builder *builder, const char *path, stn_vec3 scale,
                                        const stn_mesh *data, int32_t *mesh, stn_error *err);
/// Two links (or STN_WORLD) that never collide.
STN_API stn_status stn_builder_disable_collisions(stn_model_builder *builder, int32_t link_a, int32_t link_b,
                                                  stn_error *err);
/// Contact parameters for every pair of these two links; STN_ANY for all. Later calls win, unset members fall through.
/// A surface of nodes stands where a link does by STN_SURFACE_LINK of its number in the model.
#define STN_ANY                   (-2)
#define STN_SURFACE_LINK(surface) (-16 - (surface))
STN_API stn_status stn_builder_set_contact_material(stn_model_builder *builder, int32_t link_a, int32_t link_b,
                                                    const stn_material *material, stn_error *err);

// Constraints between any frames and joints, of one group, of several, or of the world: welds, balls, distances, gears,
// springs, tendons. They bind motion, not the start: what begins apart is pulled together within a few steps.

/// What a constraint's end is, where it is no joint.
typedef enum stn_end_shape {
    STN_END_POINT,   // its frame alone
    STN_END_SPHERE,  // about the frame's origin: a cable may bend round it
    STN_END_CYLINDER // the same, without ends, about z of the frame
} stn_end_shape;

/// Where a constraint of a plugin takes hold: a frame on a link, something round there, or a joint.
typedef struct stn_constraint_end_spec {
    int32_t link;        // STN_WORLD: the world; counts without a joint
    stn_end_shape shape; // POINT on a joint
    stn_pose pose;       // link frame -> the end's frame
    int32_t joint;       // of the builder, with one velocity: the end is this joint; -1: the frame
    double factor;       // what it means says the plugin (a tendon: its arm on a joint [m]); finite
    double radius;       // > 0 of sphere and cylinder [m]; else not read
    stn_vec3 side;       // of these: outside of it in the end's frame [m], where a cable is to pass; zero: any side
} stn_constraint_end_spec;

/// Texts and ends are copied by the builder.
typedef struct stn_constraint_spec {
    const char *name;                    // for messages and reports; NULL or "": none
    int32_t end_count;                   // > 0
    const stn_constraint_end_spec *ends; // (end_count)
    const char *where;                   // "file:line" for messages, may be NULL
} stn_constraint_spec;

/// A constraint of a plugin of kind constraint (constraint.h). The builder takes the instance over, also on failure.
/// Numbers are checked here (STN_ERR_ARGUMENT), the plugin checks the ends when the model is compiled.
STN_API stn_status stn_builder_add_constraint(stn_model_builder *builder, stn_instance *instance,
                                              const stn_constraint_spec *spec, int32_t *constraint, stn_error *err);
/// Shall the group's joints keep to their velocity limits? By default they do not: such limits are for planners.
STN_API stn_status stn_builder_set_velocity_limits(stn_model_builder *builder, int32_t group, bool kept,
                                                   stn_error *err);
/// Multiplies mass and inertia of every link of a group that is there so far by a factor > 0 (STN_ERR_ARGUMENT); rotors
/// and centres of mass stay.
STN_API stn_status stn_builder_scale_mass(stn_model_builder *builder, int32_t group, double factor, stn_error *err);
/// The same of a cloud of nodes, with the mass of all elements between them. Forces of elements stay, drag too.
STN_API stn_status stn_builder_scale_nodes_mass(stn_model_builder *builder, int32_t cloud, double factor,
                                                stn_error *err);

/// Contact parameters for every geometry of a group that is there so far; unset members leave a geometry's own.
/// STN_ERR_ARGUMENT and nothing changed: one is out of range, or mu_static is below the mu that a colliding geometry
/// keeps.
STN_API stn_status stn_builder_set_material(stn_model_builder *builder, int32_t group, const stn_material *material,
                                            stn_error *err);
/// The same for a cloud of nodes: its surfaces, and geometries and spheres of its nodes.
STN_API stn_status stn_builder_set_nodes_material(stn_model_builder *builder, int32_t cloud,
                                                  const stn_material *material, stn_error *err);
/// How pressure fields are made for every geometry of a group that is there so far; unset members leave a geometry's
/// own, a mesh is of one geometry. STN_ERR_ARGUMENT and nothing changed: one is out of range.
STN_API stn_status stn_builder_set_field(stn_model_builder *builder, int32_t group, const stn_field_spec *field,
                                         stn_error *err);
/// Links of a group that are there so far: [start, start + count).
STN_API void stn_builder_group_links(const stn_model_builder *builder, int32_t group, int32_t *start, int32_t *count);
/// Names as given, "" outside the range; borrowed from the builder until the model is compiled or the group discarded.
STN_API int32_t stn_builder_group_count(const stn_model_builder *builder);
STN_API const char *stn_builder_group_name(const stn_model_builder *builder, int32_t group);
STN_API const char *stn_builder_link_name(const stn_model_builder *builder, int32_t link);
/// Link by name within a group (group -1: "group/name", or a name that only one group has); -1 when there is none.
STN_API int32_t stn_builder_find_link(const stn_model_builder *builder, int32_t group, const char *name);
/// The same of joints, moving or fixed, as returned by stn_builder_add_joint.
STN_API int32_t stn_builder_find_joint(const stn_model_builder *builder, int32_t group, const char *name);
/// Joints of a group that are there so far, [start, start + count), and their names, "" outside the range.
STN_API void stn_builder_group_joints(const stn_model_builder *builder, int32_t group, int32_t *start, int32_t *count);
STN_API const char *stn_builder_joint_name(const stn_model_builder *builder, int32_t joint);

/// What a node of a deformable is.
typedef enum stn_node_type {
    STN_NODE_POINT, // a point mass: q: x, y, z; v: their rates
    STN_NODE_FRAME, // a small rigid body about its centre of mass, a link of a cable: q: position and unit quaternion
                    // (w, x, y, z); v: linear and angular velocity, world axes; as those of a floating joint
    STN_NODE_TYPE_COUNT // how many there are
} stn_node_type;
/// Coordinates of a node of this type: 3 or 7. Thread: [any].
static inline int32_t stn_node_type_nq(stn_node_type type) {
    return type == STN_NODE_FRAME ? 7 : 3;
}
/// Velocities of a node of this type: 3 or 6. Thread: [any].
static inline int32_t stn_node_type_nv(stn_node_type type) {
    return type == STN_NODE_FRAME ? 6 : 3;
}

/// A cloud of nodes: the degrees of freedom of a deformable body, which elements join. It is one tree.
typedef struct stn_nodes_spec {
    const char *name;       // REQUIRED, for messages and logs; no group and no other cloud has it
    int32_t node_count;     // > 0
    const double *position; // (3 node_count), world [m]
    /// (node_count) [kg], >= 0, beside that of elements; NULL: that of elements alone. Frames: > 0, required.
    const double *mass;
    double contact_radius; // > 0: every node carries a colliding sphere of this radius about its position
    stn_material material; // NaN: not given
    const double *rest;    // (3 node_count) where the elements are at rest [m]; NULL: at `position`
    stn_node_type type;    // of all nodes
    /// Frames alone: (4 node_count) unit quaternions (w, x, y, z), NULL: along the world's axes; those of `rest`, NULL:
    /// as `orientation`; (3 node_count) principal moments about the centre of mass, along the node's own axes [kg m^2],
    /// > 0, required.
    const double *orientation, *rest_orientation, *inertia;
    int32_t self_collision_skip; // >= 1: geometries of two nodes touch when their numbers differ by more than this; 0:
                                 // those of one cloud never do. Surfaces say it for themselves
} stn_nodes_spec;
/// Adds a cloud, copied. Its number for stn_builder_add_elements is returned through `nodes`.
STN_API stn_status stn_builder_add_nodes(stn_model_builder *builder, const stn_nodes_spec *spec, int32_t *nodes,
                                         stn_error *err);

/// The positions and orientations of a cloud are those in the frame of a link, wherever that is at the model's start,
/// instead of the world's: bodies that come with a robot start where it does. STN_WORLD: in the world again. Without
/// effect on what is at rest. STN_ERR_ARGUMENT: no such cloud or link.
STN_API stn_status stn_builder_place_nodes(stn_model_builder *builder, int32_t cloud, int32_t link, stn_error *err);

/// Elements of one plugin over the nodes of one cloud.
typedef struct stn_elements_spec {
    const char *name;         // for messages and channels; NULL or "": none
    int32_t nodes;            // cloud, as stn_builder_add_nodes returned it
    int32_t element_count;    // >= 0
    const int32_t *index;     // (element_count x nodes_per_element) node numbers, counted within the cloud
    const double *parameters; // (element_count x the plugin's parameter_count), NaN: the instance's; NULL: all of them
} stn_elements_spec;
/// Adds elements, copied. `instance` is an element plugin (element.h); the model takes it over, also on failure. Nodes
/// that do not exist: STN_ERR_ARGUMENT. Degenerate elements and nodes without any mass are refused when the model is
/// compiled. The group's number is returned through `group`. [setup]
STN_API stn_status stn_builder_add_elements(stn_model_builder *builder, stn_instance *instance,
                                            const stn_elements_spec *spec, int32_t *group, stn_error *err);
/// `count` nodes of a cloud, by their numbers within it, keep the place that they have at the model's start on a link,
/// frames their orientation, too; STN_WORLD: in the world. A world that is stepped from elsewhere brings them back
/// there. On what cannot move, and on kinematic bodies, the nodes move as the body does and no longer belong to the
/// unknowns of a step; on bodies that forces move each has three rigid rows, a frame six, which push node and body
/// alike (stn_world_attachment_force reads what acts). Contacts between such a node and its own body are left out. The
/// node still needs a mass. STN_ERR_ARGUMENT and nothing added: no such cloud, node or link, a node that is attached
/// already.
STN_API stn_status stn_builder_attach_nodes(stn_model_builder *builder, int32_t cloud, int32_t count,
                                            const int32_t *nodes, int32_t link, stn_error *err);

/// A geometry that a frame carries, its pose in the node's axes: the capsule of a cable's link. Among the geometries of
/// the model as added. STN_ERR_ARGUMENT: no such cloud or node, nodes that are points, and what
/// stn_builder_add_geometry refuses; a half space and a height field cannot move.
STN_API stn_status stn_builder_add_node_geometry(stn_model_builder *builder, int32_t cloud, int32_t node,
                                                 const stn_geometry_spec *spec, stn_error *err);
/// Triangles over nodes of one cloud that collide as one geometry, all points within `thickness` of a triangle. A
/// surface that is not solid is felt from both sides. Several surfaces may share a cloud, each with its own material.
typedef struct stn_surface_spec {
    const char *name;         // may be NULL
    int32_t triangle_count;   // > 0
    const int32_t *triangles; // (3 triangle_count) node numbers within the cloud, counter-clockwise from the outside
    double thickness;         // of the layer on either side, >= 0 [m]
    bool solid;               // encloses what its triangles look away from: closed, with a volume > 0 at the start
    bool self_collision;      // meets itself, and other such surfaces of its cloud
    bool collision, visual;   // takes part in contact; is drawn
    stn_material material;    // NaN: not given
    float rgba[4];            // 0 to 1; the last: 1 opaque
    uint32_t category, mask;  // collision filter, as of any geometry; self_collision needs them to meet
    const char *where;        // "file:line" for messages, may be NULL
} stn_surface_spec;

/// No triangles, thickness 0, not solid, no self-collision; the rest as of stn_geometry_spec_default.
STN_API stn_surface_spec stn_surface_spec_default(void);
/// Adds a surface to a cloud of nodes, copied. Its geometry keeps its number in the model; the surfaces are numbered as
/// added, 0, 1, ... STN_ERR_ARGUMENT naming surface, triangle or edge: nodes that are frames, that the cloud does not
/// have or that a triangle has twice; a triangle without area at the start; an edge of more than two triangles; of a
/// solid one an edge of one triangle, one whose two triangles look to different sides, and a volume that is not > 0.
STN_API stn_status stn_builder_add_surface(stn_model_builder *builder, int32_t nodes, const stn_surface_spec *spec,
                                           int32_t *geometry, stn_error *err);

// --------------------------------------------------------------------------------------------- compiled model

/// Bodies on joints, or a cloud of nodes.
typedef enum stn_tree_kind { STN_TREE_ARTICULATED, STN_TREE_NODAL } stn_tree_kind;

/// One articulated tree (a robot, a free body) or one cloud of nodes. Ranges are [start, start + count).
typedef struct stn_tree {
    const char *name;                  // of a cloud; of others ""
    stn_tree_kind kind;                // says which of the next two counts
    int32_t body_start, body_count;    // articulated
    int32_t node_start, node_count;    // nodal
    int32_t q_start, nq;               // its coordinates in q
    int32_t v_start, nv;               // its velocities in v
    const int32_t *row_start, *column; // nodal: pattern of M, K, D, A (stn_matrix)
    stn_node_type node_type;           // nodal: of all its nodes
    /// Nodal: (row_start[node_count]) mass of two nodes [kg], one number a block of the pattern; NULL: node_mass on the
    /// diagonal is all.
    const double *mass;
} stn_tree;

/// A rigid body: links that fixed joints weld together. Body 0 is the world. A parent has a smaller index. A kinematic
/// one hangs on the world by a joint of type STN_JOINT_KINEMATIC, is a tree of its own with nv 0, and has mass 0.
typedef struct stn_body {
    const char *name; // of its first link
    int32_t parent;   // body, -1 for the world
    int32_t tree;     // -1 for the world
    int32_t joint;    // the moving joint between parent and this body, -1 for the world
    stn_mass mass;    // in body axes; the body frame is the frame of its first link; world: what is welded to it
    int32_t group;    // of its first link, -1 for the world
} stn_body;

/// A moving joint (fixed ones became frames); one per body except the world.
typedef struct stn_joint {
    const char *name;                                                       // as described
    stn_joint_type type;                                                    // moving, or STN_JOINT_KINEMATIC
    int32_t group;                                                          // that it belongs to
    int32_t parent, child;                                                  // bodies
    int32_t q_start, v_start, nq, nv;                                       // its coordinates in q, its velocities in v
    stn_pose origin;                                                        // parent body frame -> joint frame
    stn_vec3 axis;                                                          // unit, joint frame
    double lower, upper, effort, velocity, acceleration, damping, friction; // as in stn_joint_spec
    double stiffness, rest;                // spring: tau = -stiffness (q - rest); 0 on joints with several velocities
    double servo_kp, servo_kd;             // as described: only controllers that are told to use them
    double screw_pitch;                    // [m] a turn
    double reflected_inertia;              // gear_ratio^2 rotor_inertia
    int32_t mimic;                         // joint, -1: none
    double mimic_multiplier, mimic_offset; // [1, m/rad, rad/m], [rad] or [m]
    const char *actuator;                  // "" when none is named
    const char *where;                     // "file:line" of its description, "" when not known
} stn_joint;

/// A named frame. Every link of a file stays one, also where bodies were merged.
typedef struct stn_link {
    const char *name;       // unique within the group
    int32_t group;          // that it belongs to
    int32_t body;           // that it is part of, 0: the world
    stn_pose pose;          // body frame -> link frame
    stn_mass mass;          // its own, link axes
    int32_t parent;         // link, STN_WORLD for a root; of an attached group's root the link that it is welded to
    int32_t joint;          // moving joint that carries it, -1 when fixed to its parent
    const char *joint_name; // of the joint above it, moving or fixed; NULL for a root
    const char *where, *joint_where; // "file:line" of its description and of the joint's, "" when not known
    stn_pose origin;    // as described: parent link frame -> frame of the joint above it; identity for a root
    int32_t joint_rank; // of the joint above it, moving or fixed, among all joints as added; -1 for a root
} stn_link;

/// A robot, or a single body: all that one call of stn_builder_begin_group collected. Ranges are [start, start +
/// count).
typedef struct stn_group {
    const char *name;                 // unique in the model
    int32_t link_start, link_count;   // as added
    int32_t joint_start, joint_count; // moving joints, in file order; first the one that a floating root without gets
    int32_t keyframe_start, keyframe_count; // as added
    int32_t root_link;                      // of the model
    stn_pose base;                          // identity for a group that hangs on another
    bool fixed; // its root cannot move: it is welded to the world, also by way of other groups, or its joints start
                // there
    bool velocity_limits; // its joints keep to them
} stn_group;

/// A shape on a body (body >= 0), a sphere on a node, or a surface over nodes (both body = -1).
typedef struct stn_geometry {
    const char *name; // may be ""
    /// Of the model. On a node body and link are -1; of a surface `node` is the first of its nodes, which tells the
    /// cloud, and its pose is the identity: its nodes are in the world.
    int32_t body, node, link;
    int32_t surface;             // of the model's surfaces, where the shape is one; else not read
    stn_shape shape;             // in its own frame
    stn_pose pose;               // body frame -> shape frame
    stn_material material;       // NaN: not given
    float rgba[4];               // 0 to 1; the last: 1 opaque
    bool collision, visual;      // takes part in contact; is drawn
    uint32_t category, mask;     // a pair collides when each one's category meets the other's mask
    int32_t mesh;                // of the model's meshes, -1: none
    stn_field_spec field;        // of a compliant shape
    stn_vec3 surface_velocity;   // at the start, in the shape's axes [m/s]
    stn_vec3 friction_direction; // of material.mu, in the shape's axes; zero: none
    const char *where;           // "file:line" of its description, "" when not known
    stn_pose in_link;            // as described: link frame -> shape frame; on a node identity
} stn_geometry;

/// A mesh as shapes name it.
typedef struct stn_mesh_reference {
    const char *path;     // "" when made from numbers
    stn_vec3 scale;       // already applied to data
    const stn_mesh *data; // scaled; NULL: not loaded (visual only)
} stn_mesh_reference;

/// Elements of one plugin over the nodes of one cloud.
typedef struct stn_element_group {
    const char *name;                         // "" when none is given
    stn_instance *instance;                   // of the element plugin, owned by the model
    int32_t tree;                             // of the cloud
    int32_t element_count, nodes_per_element; // the latter as the plugin says
    const int32_t *index;                     // (element_count x nodes_per_element), nodes within the tree
    const double *constants;                  // (element_count x the plugin's constant_count)
} stn_element_group;

/// A node that keeps its place on a link.
typedef struct stn_node_attachment {
    int32_t node;         // of the model
    int32_t link;         // STN_WORLD: the world
    int32_t body;         // of the link, 0: the world
    stn_vec3 point;       // where the node is, in the body frame [m]
    stn_quat orientation; // body frame -> axes of a node that turns; identity of others
} stn_node_attachment;

/// Triangles over nodes of a cloud. Its vertices are the nodes that a triangle has; edges and triangles name them by
/// their position in `vertex`. Whoever looks at triangles one by one counts each vertex and edge once, at its owner.
typedef struct stn_surface {
    int32_t geometry;                                 // of the model
    int32_t tree;                                     // of the cloud
    int32_t vertex_count, edge_count, triangle_count; // lengths of the arrays below
    const int32_t *vertex;                            // (vertex_count) nodes of the model, ascending
    const stn_vec3 *rest;                             // (vertex_count) where the cloud's elements are at rest [m]
    const int32_t *triangle;                          // (3 triangle_count) vertices, as given
    const int32_t *triangle_edge;                     // (3 triangle_count) edge from corner k to the next one
    const int32_t *edge;                              // (2 edge_count) vertices, the lower first
    const int32_t *edge_triangle; // (2 edge_count) the triangles on either side, the lower first; -1: a border
    const int32_t *vertex_owner;  // (vertex_count) the first triangle that has it; of an edge: its first triangle
    double thickness;             // [m]
    bool solid, self_collision;   // as in stn_surface_spec
} stn_surface;

/// A named configuration of one group.
typedef struct stn_keyframe {
    const char *name; // unique within the group
    int32_t group;    // whose joints it is about
    int32_t q_count;  // of its moving joints
    const double *q;  // (q_count) coordinates of the group's moving joints, in the order of the joints
    bool has_base; // the first joint is one that a floating root without any got, and the keyframe says where the root
                   // is; otherwise such a joint's coordinates are those of the start
    const char *where; // "file:line" of its description, "" when not known
} stn_keyframe;

/// An end of a constraint of a plugin, in terms of the compiled model.
typedef struct stn_constraint_end {
    int32_t link;          // STN_WORLD: the world; of a joint: -1
    int32_t body;          // 0: the world; of a joint: the body below it
    stn_pose pose;         // as described: link frame -> the end's frame
    stn_pose frame;        // body frame -> the end's frame
    int32_t joint;         // of the model, -1: a frame
    stn_end_shape shape;   // as in stn_constraint_end_spec, as what follows
    double factor, radius; // radius 0 of a point
    stn_vec3 side;         // zero: any
} stn_constraint_end;

/// A constraint of a plugin, as described.
typedef struct stn_model_constraint {
    const char *name;               // "" when none is given
    stn_instance *instance;         // of the plugin, owned by the model
    int32_t end_count;              // > 0
    const stn_constraint_end *ends; // (end_count)
    const char *where;              // "file:line" of its description, "" when not known
} stn_model_constraint;

/// Two links, STN_WORLD for the world, in the order in which they were given.
typedef struct stn_link_pair {
    int32_t link_a, link_b; // of the model
} stn_link_pair;

/// Constant after compiling; every array is owned by the model. May be shared by worlds of one context.
typedef struct stn_model {
    stn_context *context;       // that it is made from
    int32_t nq, nv, node_count; // coordinates, velocities, nodes of all clouds
    /// Lengths of the arrays below.
    int32_t tree_count, body_count, joint_count, link_count, group_count, geometry_count, mesh_count;
    int32_t element_group_count, keyframe_count, exclude_count, constraint_count, attachment_count, surface_count;
    const stn_tree *trees;                   // articulated ones first
    const stn_body *bodies;                  // a parent before its children; 0 is the world
    const stn_joint *joints;                 // moving ones
    const stn_link *links;                   // as added
    const stn_group *groups;                 // as added
    const stn_geometry *geometries;          // as added, those of nodes last
    const stn_mesh_reference *meshes;        // as added
    const stn_element_group *element_groups; // as added
    const stn_keyframe *keyframes;           // by groups, within a group as added
    const stn_link_pair *excludes;           // pairs that never collide, as stn_builder_disable_collisions was told
    const stn_model_constraint *constraints; // as added
    const stn_surface *surfaces;             // as added
    const double *q0;        // (nq) start: joints at zero (or at the limit nearest to it), mimics as their masters say,
                             // bases at their pose; a floating joint of a file at its frame
    const double *node_mass; // (node_count) [kg], that of elements included: row sums of the mass matrix
    const double *node_inertia;             // (3 node_count) principal moments of frames [kg m^2], 0 of points
    const int32_t *node_tree;               // (node_count)
    const stn_node_attachment *attachments; // as added
    const int32_t *node_attachment;         // (node_count) of each node, -1: free
    const int32_t *dof_joint;               // (nv) joint of each velocity, -1 for nodes
    const int32_t *dof_tree;                // (nv)
    const int32_t *dof_parent;              // (nv) velocity before it on the way to the root, within its tree; -1: none
} stn_model;

/// Checks and compiles everything the builder holds. On success the builder is emptied; on failure it is unchanged.
/// Errors name group, link and joint: no root or several, two joints above a link, loops, also of groups attached to
/// each other, names used twice, mimic cycles, a keyframe of a group that got joints after it. (Refused earlier, by the
/// builder: bad numbers, inertia with a negative eigenvalue beyond 1e-9 of the trace.) Warnings go to the log: a moving
/// subtree without mass, triangle inequality, mass of the world, a fixed joint's mimic, limits, rotors and springs of
/// joints that have none. Order: groups as added; within a tree depth first, children in the order of their joints,
/// then the groups attached there, as added; clouds of nodes last.
STN_API stn_status stn_model_compile(stn_model_builder *builder, stn_model **out, stn_error *err);
STN_API void stn_model_destroy(stn_model *model); ///< accepts NULL
/// Index by name within a group (group -1: "group/name", or a name that only one group has); -1 when there is none.
STN_API int32_t stn_model_find_link(const stn_model *model, int32_t group, const char *name);
STN_API int32_t stn_model_find_joint(const stn_model *model, int32_t group, const char *name);
STN_API int32_t stn_model_find_keyframe(const stn_model *model, int32_t group, const char *name);
STN_API int32_t stn_model_find_group(const stn_model *model, const char *name);
/// Writes the coordinates of a keyframe's group into `q` (nq), which holds a configuration of the whole model. Joints
/// that mimic one of the group follow, those of the group that mimic another follow that one's present coordinate. A
/// root that floats without a joint of its own stays where it is when the keyframe has no base. Thread: [any].
STN_API void stn_model_keyframe_apply(const stn_model *model, int32_t keyframe, double *q);
/// Is its surface compliant, with a modulus that is given and finite? Others are rigid. Thread: [any].
STN_API bool stn_geometry_is_compliant(const stn_geometry *geometry);
/// Can forces move the body? They cannot move the world, what is fixed to it, and a kinematic body. Thread: [any].
static inline bool stn_model_body_moves(const stn_model *model, int32_t body) {
    return body > 0 && model->joints[model->bodies[body].joint].type != STN_JOINT_KINEMATIC;
}
/// First coordinate of a node, counted in the model, in q. Thread: [any].
static inline int32_t stn_model_node_q(const stn_model *model, int32_t node) {
    const stn_tree *tree = &model->trees[model->node_tree[node]];
    return tree->q_start + stn_node_type_nq(tree->node_type) * (node - tree->node_start);
}
/// Its first velocity in v. Thread: [any].
static inline int32_t stn_model_node_v(const stn_model *model, int32_t node) {
    const stn_tree *tree = &model->trees[model->node_tree[node]];
    return tree->v_start + stn_node_type_nv(tree->node_type) * (node - tree->node_start);
}
/// Can forces move the node by itself? They cannot where it is attached to a body that they cannot move. Thread: [any].
static inline bool stn_model_node_moves(const stn_model *model, int32_t node) {
    const int32_t attachment = model->node_attachment[node];
    return attachment < 0 || stn_model_body_moves(model, model->attachments[attachment].body);
}
/// The last velocity that moves a body, within its tree; -1: none does. Thread: [any].
STN_API int32_t stn_model_body_velocity(const stn_model *model, int32_t body);

/// An end for a message: "link 'hand' of 'arm'", "link 'box'" of a group of its name, "joint 'lift' of 'arm'", "the
/// world". Cut to `size` bytes. Thread: [any].
STN_API void stn_constraint_end_describe(const stn_model *model, const stn_constraint_end *end, char *text,
                                         size_t size);
/// May these two geometries touch? Not on one body or cloud of nodes, not both on the world or kinematic, not parent
/// and child (unless the parent is the world), not excluded, and the filters must meet. Two surfaces of one cloud may,
/// and a surface may with itself (twice the same number), where both have self_collision. Thread: [any].
STN_API bool stn_model_may_collide(const stn_model *model, int32_t geometry_a, int32_t geometry_b);
/// The combined contact parameters of two geometries. The restitution is the larger one, relaxation times add up (a
/// world may have the other rule); mu_static combines as mu, of a side without by its mu, and stays NaN where neither
/// has one; overrides come on top, also of what holds for patches, and leave weight_a alone. Thread: [any].
STN_API stn_pair_material stn_model_pair_material(const stn_model *model, int32_t geometry_a, int32_t geometry_b);
/// A tree whose mass matrix is singular because a moving link carries no mass (and no rotor) up to its tips: the last
/// such link, else -1.
STN_API int32_t stn_model_massless_link(const stn_model *model, int32_t tree);
/// The data of a mesh of the model: its own, or read from its file where the model only names it (a shape that is only
/// drawn). The caller releases it with stn_mesh_release. Errors as of stn_mesh_load. [setup]
STN_API stn_status stn_model_load_mesh(const stn_model *model, int32_t mesh, const stn_mesh **out, stn_error *err);

STN_END_C
#endif
