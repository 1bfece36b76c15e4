// SPDX-License-Identifier: Apache-2.0
// What a builder holds, in the order in which it was added. Indices given out are positions in these lists, and links,
// geometries and meshes keep them when the model is compiled.
#ifndef STICTION_CORE_MODEL_BUILT_H
#define STICTION_CORE_MODEL_BUILT_H

#include <stiction/model.h>

/// A growing array of one type.
typedef struct list {
    void *items;
    int32_t count, capacity;
} list;

/// How much there was when a group began; discarding goes back to it.
typedef struct built_counts {
    int32_t links, joints, geometries, meshes, excludes, overrides, clouds, element_groups, constraints, attachments,
        surfaces;
} built_counts;

typedef struct built_group {
    const char *name;
    built_counts start;
    stn_pose base;          // as set, else as proposed
    bool fixed, base_given; // given: set, not only proposed
    bool kinematic;         // the root moves as the world is told
    bool velocity_limits;   // kept by its joints
    int32_t attached_to;    // link of another group that the root is welded to, -1: none
    stn_pose attached_at;   // that link's frame -> root link frame
    int32_t next_number;    // NAME_n is taken for all n from 2 to below it
} built_group;

typedef struct built_link {
    stn_link_spec spec;
    int32_t group;
} built_link;

typedef struct built_joint {
    stn_joint_spec spec;
    int32_t group;
} built_joint;

enum { NODE_LINK = -3 }; // stands where a link does

typedef struct built_geometry {
    stn_geometry_spec spec;
    int32_t link;        // STN_WORLD: on the world; STN_SURFACE_LINK: over nodes; NODE_LINK: on a node
    int32_t cloud, node; // of the builder, and within the cloud; where link is NODE_LINK
} built_geometry;

typedef struct built_exclude {
    int32_t a, b;
} built_exclude;

typedef struct built_override {
    int32_t a, b;
    stn_material material;
} built_override;

typedef struct built_cloud {
    const char *name;
    int32_t node_count;
    const double *position, *mass; // mass NULL: that of elements alone
    double mass_factor;            // of nodes and elements
    const double *rest;            // NULL: as position
    double contact_radius;
    stn_material material;
    stn_node_type type;
    const double *orientation, *inertia, *rest_orientation; // NULL for points; the last one also as `orientation`
    int32_t self_collision_skip;
    int32_t frame; // link in whose frame `position` and `orientation` are at the start, STN_WORLD: in the world's
} built_cloud;

typedef struct built_element_group {
    const char *name;
    int32_t cloud;
    stn_instance *instance; // owned
    int32_t element_count, nodes_per_element;
    const int32_t *index;
    const double *parameters; // (element_count x parameter_count); NULL: the instance's
} built_element_group;

/// Nodes of a cloud that keep their place on a link.
typedef struct built_attachment {
    int32_t cloud, link; // STN_WORLD: the world
    int32_t count;
    const int32_t *nodes; // (count), within the cloud
} built_attachment;

typedef struct built_surface {
    int32_t cloud;
    stn_surface face; // with vertices that are nodes of the cloud; of no tree yet
} built_surface;

typedef struct built_constraint {
    stn_constraint_spec spec;
    stn_instance *instance; // owned
} built_constraint;

typedef struct built_keyframe {
    stn_keyframe_spec spec; // base not used; q with quaternions of length 1
    int32_t group;
    bool has_base;
    stn_pose base;
} built_keyframe;

struct stn_model_builder {
    stn_context *context;
    stn_arena *memory; // texts and number arrays of the specs; the compiled model takes it over
    char *text;        // room in it for more texts
    size_t text_room;  // [bytes]
    list groups, links, joints, geometries, meshes, excludes, overrides, clouds,
        element_groups;                     // meshes' data are kept
    list constraints;                       // of plugins
    list attachments;                       // of nodes
    list surfaces;                          // of clouds; each has a geometry
    list keyframes;                         // in the order of adding, whatever their groups
    bool number_names;                      // a group's name that is taken gets a number instead of being refused
    int32_t *group_slots, group_slot_count; // names.c: hash table of group + 1; 0: free
};

static inline stn_status model_out_of_memory(stn_error *err) {
    return stn_fail(err, STN_ERR_MEMORY, "model: out of memory");
}
/// New zeroed item at the end of a list, not counted yet: the caller fills it and adds one to `count`. NULL: no memory.
void *list_reserve(stn_context *context, list *items, size_t size);
/// Gives back the room for more items, of a builder that gets no more. False: out of memory, it stays as it is.
bool builder_fit(stn_model_builder *builder);
/// A copy in the builder's memory; NULL when out of memory. Text NULL gives "".
const char *builder_copy_text(stn_model_builder *builder, const char *text);
void *builder_copy(stn_model_builder *builder, const void *data, size_t count, size_t size);
/// names.c: the group of that name, -1: none; enters a group that was just added (false: out of memory) and drops
/// all from `group` on. `builder_is_taken`: does a group or a cloud have the name? `builder_free_name` makes "arm_2" of
/// one that is taken, with the first number that is free.
int32_t builder_find_group(const stn_model_builder *builder, const char *name);
bool builder_is_taken(const stn_model_builder *builder, const char *name);
bool builder_index_group(stn_model_builder *builder, int32_t group);
void builder_forget_groups(stn_model_builder *builder, int32_t group);
void builder_free_name(const stn_model_builder *builder, const char *name, char *text, size_t size);

static inline built_group *group_at(const stn_model_builder *b, int32_t i) {
    return (built_group *)b->groups.items + i;
}
static inline built_link *link_at(const stn_model_builder *b, int32_t i) {
    return (built_link *)b->links.items + i;
}
static inline built_joint *joint_at(const stn_model_builder *b, int32_t i) {
    return (built_joint *)b->joints.items + i;
}
static inline built_geometry *geometry_at(const stn_model_builder *b, int32_t i) {
    return (built_geometry *)b->geometries.items + i;
}
static inline stn_mesh_reference *mesh_at(const stn_model_builder *b, int32_t i) {
    return (stn_mesh_reference *)b->meshes.items + i;
}
static inline built_exclude *exclude_at(const stn_model_builder *b, int32_t i) {
    return (built_exclude *)b->excludes.items + i;
}
static inline built_override *override_at(const stn_model_builder *b, int32_t i) {
    return (built_override *)b->overrides.items + i;
}
static inline built_cloud *cloud_at(const stn_model_builder *b, int32_t i) {
    return (built_cloud *)b->clouds.items + i;
}
static inline built_element_group *element_group_at(const stn_model_builder *b, int32_t i) {
    return (built_element_group *)b->element_groups.items + i;
}
static inline built_attachment *attachment_at(const stn_model_builder *b, int32_t i) {
    return (built_attachment *)b->attachments.items + i;
}
static inline built_surface *surface_at(const stn_model_builder *b, int32_t i) {
    return (built_surface *)b->surfaces.items + i;
}
static inline built_constraint *constraint_at(const stn_model_builder *b, int32_t i) {
    return (built_constraint *)b->constraints.items + i;
}
static inline built_keyframe *keyframe_at(const stn_model_builder *b, int32_t i) {
    return (built_keyframe *)b->keyframes.items + i;
}
/// One past the last link or joint of a group.
static inline int32_t group_link_end(const stn_model_builder *b, int32_t group) {
    return group + 1 < b->groups.count ? group_at(b, group + 1)->start.links : b->links.count;
}
static inline int32_t group_joint_end(const stn_model_builder *b, int32_t group) {
    return group + 1 < b->groups.count ? group_at(b, group + 1)->start.joints : b->joints.count;
}

/// Fails with "WHAT: there is no link L (N links, or STN_WORLD)" unless there is; STN_ANY counts where `any` says so.
stn_status builder_check_link(const stn_model_builder *builder, const char *what, int32_t link, bool any,
                              stn_error *err);
/// Fails with "WHAT: there is no group R (N groups)" unless there is.
stn_status builder_check_group(const stn_model_builder *builder, const char *what, int32_t group, stn_error *err);

// spec.c: the numbers of one spec, before it enters the builder. Messages name the member, value and bound; the caller
// puts the object's name in front.
stn_status check_pose(const char *what, const stn_pose *pose, stn_error *err);
stn_status check_material(const stn_material *material, stn_error *err);
/// The same for a surface, where a mu that is not stated is the default.
stn_status check_surface(const stn_material *material, stn_error *err);
/// mu2 and a direction are given together; a mu2 that equals mu needs none.
stn_status check_friction_direction(const stn_material *material, stn_vec3 direction, stn_error *err);
/// For what has no direction: refuses mu2 and says why.
stn_status check_no_direction(const stn_material *material, const char *why, stn_error *err);
/// Who states mu alone means all coefficients of friction (material.c).
stn_material material_stated(const stn_material *given);
/// `material` with every number that `stated` states in its place.
stn_material material_over(const stn_material *material, const stn_material *stated);
stn_status check_link(const stn_link_spec *spec, stn_error *err);
stn_status check_joint(const stn_joint_spec *spec, stn_error *err);
stn_status check_geometry(const stn_geometry_spec *spec, stn_error *err);
stn_status check_field(const stn_field_spec *field, stn_error *err); // all but the mesh
stn_status check_nodes(const stn_nodes_spec *spec, stn_error *err);
/// All but the triangles.
stn_status check_surface_spec(const stn_surface_spec *spec, stn_error *err);
stn_status check_name(const char *name, stn_error *err);
/// Do the principal moments break l1 + l2 >= l3 by more than round-off?
bool breaks_triangle_inequality(const stn_mat3 *inertia);

#endif
