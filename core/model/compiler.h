// SPDX-License-Identifier: Apache-2.0
// The compiler's stages and what they hand to each other. Everything temporary lies in `scratch`, everything of the
// model in its own memory: failing is dropping both.
#ifndef STICTION_CORE_MODEL_COMPILER_H
#define STICTION_CORE_MODEL_COMPILER_H

#include "model/built.h"
#include "model/compiled.h"

/// What a group's only root turned out to be.
typedef enum root_kind {
    ROOT_FREE,      // a link without a joint above it, floating
    ROOT_FIXED,     // the same, welded at the base
    ROOT_KINEMATIC, // the same, moved as the world is told
    ROOT_WORLD,     // a link named "world" without a joint above it: the world itself
    ROOT_JOINED,    // joints whose parent is STN_WORLD
    ROOT_ATTACHED,  // hangs on a link of another group, by a joint or by stn_builder_attach
} root_kind;

typedef struct compiler {
    stn_model_builder *builder;
    stn_arena *scratch, *memory;
    // topology.c
    int32_t *joint_above; // (links) builder joint, -1 none
    int32_t *parent;      // (links) link that a joint or an attachment hangs it on, STN_WORLD none
    int32_t *order;     // (links) parents first, depth first; children by their joints, then groups attached, as added
    int32_t *root_link; // (groups)
    root_kind *root;    // (groups)
    // compile.c
    int32_t *joint_index; // (builder joints) model joint, -1 for fixed ones
    int32_t *root_joint;  // (groups) the implicit floating joint, -1
    int32_t *link_body;   // (links)
    stn_pose *link_pose;  // (links) body frame -> link frame
    model_object *object;
    stn_body *bodies;
    stn_joint *joints;
    stn_link *links;
    stn_group *groups;
    stn_tree *trees;
    stn_geometry *geometries;
    double *q0;
} compiler;

/// "group 'r', WHAT 'name' (file:line)" in `text`; name and where may be NULL.
void describe_object(const stn_model_builder *builder, const char *what, int32_t group, const char *name,
                     const char *where, char *text, size_t size);
void describe_link(const stn_model_builder *builder, int32_t link, char *text, size_t size);
void describe_joint(const stn_model_builder *builder, int32_t joint, char *text, size_t size);

/// names.c: unique names of links and joints within each group.
stn_status check_names(compiler *c, stn_error *err);
typedef struct named {
    const char *name;
    int32_t index;
} named;
/// Index of an item whose name an earlier one has, -1 when all differ; sorts the items. And what is said then.
int32_t find_duplicate(named *items, int32_t count);
stn_status fail_duplicate(const char *described, const char *name, stn_error *err);
/// topology.c: joint_above, parent, order, root_link, root; mimic targets and cycles.
stn_status find_topology(compiler *c, stn_error *err);
stn_status check_mimics(compiler *c, stn_error *err);
/// bodies.c: links, bodies, joints, articulated trees; their coordinates are counted here.
stn_status compile_bodies(compiler *c, stn_error *err);
/// nodes.c: trees, masses, patterns and elements of the clouds.
stn_status compile_nodes(compiler *c, stn_error *err);
/// start.c: the coordinates (7) of a floating joint on the world for this pose of its body.
void floating_coordinates(const stn_pose *pose, double *q);
/// start.c: q0, massless subtrees, warnings.
stn_status compile_start(compiler *c, stn_error *err);
/// start.c: poses of all bodies at the start; NULL: out of memory.
const stn_pose *start_poses(const compiler *c);
/// attachments.c: where nodes are on the bodies that they are attached to; after q0.
stn_status compile_attachments(compiler *c, stn_error *err);
/// keyframe.c: sorted by their groups; unique names; after q0.
stn_status compile_keyframes(compiler *c, stn_error *err);
/// The body of a link and the frame that `pose` in the link makes on it.
static inline int32_t place_end(const compiler *c, int32_t link, const stn_pose *pose, stn_pose *frame) {
    *frame = link == STN_WORLD ? *pose : stn_pose_mul(&c->link_pose[link], pose);
    return link == STN_WORLD ? 0 : c->link_body[link];
}
/// constraint.c: those of plugins; last, because a plugin may look at the whole model.
stn_status compile_constraints(compiler *c, stn_error *err);
/// node_surface.c: surfaces over nodes; after the clouds.
stn_status compile_node_surfaces(compiler *c, stn_error *err);
/// surfaces.c: geometries, filter, materials, overrides; node spheres come after the builder's geometries.
stn_status compile_surfaces(compiler *c, stn_error *err);
/// The link by which filters and overrides know a geometry: a root named "world" is the world.
static inline int32_t contact_link(const compiler *c, int32_t link) {
    if (link < 0) { // the world, or a surface
        return link;
    }
    int32_t group = link_at(c->builder, link)->group;
    bool is_world = c->root[group] == ROOT_WORLD && c->root_link[group] == link;
    return is_world ? STN_WORLD : link;
}
/// material.c: after geometries and filter.
stn_status compile_overrides(compiler *c, filter_entry *filter, stn_error *err);

#endif
