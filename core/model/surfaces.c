// SPDX-License-Identifier: Apache-2.0
// Geometries of the compiled model: poses on their bodies, node spheres, and the tables that collision filter and
// material combination read.
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "model/compiled.h"
#include "model/compiler.h"

static bool is_kinematic(const compiler *c, int32_t body) {
    return body > 0 && c->joints[c->bodies[body].joint].type == STN_JOINT_KINEMATIC;
}

/// A surface over nodes; its place is that of the nodes.
static void place_surface(const compiler *c, int32_t surface, stn_geometry *out, filter_entry *filter) {
    const stn_surface *face = &c->object->face.surfaces[surface];
    out->body = out->link = -1;
    out->node = face->vertex[0];
    out->surface = surface;
    out->pose = out->in_link;
    *filter = (filter_entry){.body = c->object->face.body_count + surface_at(c->builder, surface)->cloud,
                             .parent = -1,
                             .link = STN_SURFACE_LINK(surface),
                             .category = out->category,
                             .mask = out->mask,
                             .collision = out->collision,
                             .node = -1,
                             .meets_own = face->self_collision};
}

/// What the filter knows of all that a node carries.
static filter_entry filter_of_node(const compiler *c, int32_t cloud, int32_t node) {
    const stn_model *m = &c->object->face;
    const int32_t attachment = m->node_attachment[node];
    return (filter_entry){.body = m->body_count + cloud,
                          .parent = attachment >= 0 ? m->attachments[attachment].body : -1,
                          .link = FILTER_NODE,
                          .node = node,
                          .skip = cloud_at(c->builder, cloud)->self_collision_skip,
                          .driven = !stn_model_node_moves(m, node)};
}

/// A geometry that a frame carries.
static void place_on_node(const compiler *c, const built_geometry *built, stn_geometry *out, filter_entry *filter) {
    const stn_tree *tree = &c->object->face.trees[c->object->articulated_count + built->cloud];
    out->body = out->link = -1;
    out->node = tree->node_start + built->node;
    out->pose = out->in_link;
    *filter = filter_of_node(c, built->cloud, out->node);
    filter->category = out->category;
    filter->mask = out->mask;
    filter->collision = out->collision;
}

static stn_status fill_geometry(compiler *c, int32_t index, filter_entry *filter, stn_error *err) {
    const built_geometry *built = geometry_at(c->builder, index);
    const stn_geometry_spec *spec = &built->spec;
    stn_geometry *out = &c->geometries[index];
    out->name = spec->name;
    out->where = spec->where;
    out->shape = spec->shape;
    out->in_link = spec->pose;
    out->material = spec->material;
    memcpy(out->rgba, spec->rgba, sizeof out->rgba);
    out->collision = spec->collision;
    out->visual = spec->visual;
    out->category = spec->category;
    out->mask = spec->mask;
    out->mesh = spec->mesh;
    out->field = spec->field;
    out->surface_velocity = spec->surface_velocity;
    out->friction_direction = spec->friction_direction;
    if (built->link <= STN_SURFACE_LINK(0)) {
        place_surface(c, STN_SURFACE_LINK(built->link), out, filter);
        return STN_OK;
    }
    if (built->link == NODE_LINK) {
        place_on_node(c, built, out, filter);
        return STN_OK;
    }
    bool on_world = built->link == STN_WORLD;
    out->body = on_world ? 0 : c->link_body[built->link];
    out->node = -1;
    out->link = built->link;
    out->pose = on_world ? spec->pose : stn_pose_mul(&c->link_pose[built->link], &spec->pose);
    int32_t parent = c->bodies[out->body].parent;
    *filter = (filter_entry){.body = out->body,
                             .parent = parent > 0 ? parent : -1,
                             .link = contact_link(c, built->link),
                             .category = spec->category,
                             .mask = spec->mask,
                             .collision = spec->collision,
                             .node = -1,
                             .driven = out->body == 0 || is_kinematic(c, out->body)};
    // What has no end in one direction would sweep through everything.
    bool endless = out->shape.type == STN_SHAPE_HALF_SPACE && out->collision && is_kinematic(c, out->body);
    if ((out->shape.type != STN_SHAPE_HEIGHT_FIELD && !endless) || out->body == 0) {
        return STN_OK;
    }
    const built_link *link = link_at(c->builder, out->link);
    return stn_fail(err, STN_ERR_ARGUMENT, "%s%sgroup '%s', link '%s': %s", out->where,
                    out->where[0] != '\0' ? ": " : "", group_at(c->builder, link->group)->name, link->spec.name,
                    endless ? "a half space has no end and cannot be kinematic: use a box"
                            : "a height field is filled without bottom and cannot move: fix the robot in the world, or "
                              "give the link's shape as a mesh");
}

/// The spheres of all clouds of nodes that have contact; they come behind all other geometries.
static void add_nodes(compiler *c, filter_entry *filter) {
    stn_model *m = &c->object->face;
    for (int32_t i = 0, node = 0; i < c->builder->clouds.count; i++) {
        const built_cloud *built = cloud_at(c->builder, i);
        stn_geometry_spec spec = stn_geometry_spec_default(stn_shape_sphere(built->contact_radius));
        for (int32_t k = 0; built->contact_radius > 0.0 && k < built->node_count; k++) {
            stn_geometry *out = &c->geometries[m->geometry_count];
            *out = (stn_geometry){.name = built->name,
                                  .where = "",
                                  .body = -1,
                                  .node = node + k,
                                  .link = -1,
                                  .shape = spec.shape,
                                  .pose = stn_pose_identity(),
                                  .in_link = stn_pose_identity(),
                                  .material = built->material,
                                  .collision = true,
                                  .category = spec.category,
                                  .mask = spec.mask,
                                  .mesh = -1,
                                  .field = spec.field};
            memcpy(out->rgba, spec.rgba, sizeof out->rgba);
            filter_entry *entry = &filter[m->geometry_count++];
            *entry = filter_of_node(c, i, node + k);
            entry->category = spec.category;
            entry->mask = spec.mask;
            entry->collision = true;
        }
        node += built->node_count;
    }
}

static stn_status compile_excludes(compiler *c, filter_entry *filter, stn_error *err) {
    const list *pairs = &c->builder->excludes;
    int32_t link_count = c->builder->links.count;
    uint64_t *keys = STN_ARENA(c->memory, pairs->count, uint64_t);
    stn_link_pair *given = STN_ARENA(c->memory, pairs->count, stn_link_pair);
    bool *listed = STN_ARENA_ZEROED(c->scratch, link_count + 1, bool); // the world comes last
    if (keys == NULL || given == NULL || listed == NULL) {
        return model_out_of_memory(err);
    }
    for (int32_t i = 0; i < pairs->count; i++) {
        const built_exclude *pair = exclude_at(c->builder, i);
        int32_t a = contact_link(c, pair->a), b = contact_link(c, pair->b);
        given[i] = (stn_link_pair){pair->a, pair->b};
        keys[i] = pair_key(a, b);
        listed[a < 0 ? link_count : a] = listed[b < 0 ? link_count : b] = true;
    }
    if (pairs->count > 0) {
        qsort(keys, (size_t)pairs->count, sizeof *keys, compare_keys);
    }
    for (int32_t i = 0; i < c->object->face.geometry_count; i++) {
        int32_t link = filter[i].link;
        filter[i].excluded = link >= STN_WORLD && listed[link < 0 ? link_count : link];
    }
    c->object->exclude_keys = keys;
    c->object->face.excludes = given;
    c->object->face.exclude_count = pairs->count;
    return STN_OK;
}

stn_status compile_surfaces(compiler *c, stn_error *err) {
    const stn_model_builder *b = c->builder;
    stn_model *m = &c->object->face;
    int64_t count = b->geometries.count;
    for (int32_t i = 0; i < b->clouds.count; i++) {
        count += cloud_at(b, i)->contact_radius > 0.0 ? cloud_at(b, i)->node_count : 0;
    }
    c->geometries = STN_ARENA_ZEROED(c->memory, count, stn_geometry);
    filter_entry *filter = STN_ARENA_ZEROED(c->memory, count, filter_entry);
    stn_material *surface = STN_ARENA(c->memory, count, stn_material);
    if (c->geometries == NULL || filter == NULL || surface == NULL) {
        return model_out_of_memory(err);
    }
    m->geometry_count = b->geometries.count;
    for (int32_t i = 0; i < b->geometries.count; i++) {
        stn_status status = fill_geometry(c, i, &filter[i], err);
        if (status != STN_OK) {
            return status;
        }
    }
    add_nodes(c, filter);
    const stn_material unstated = stn_material_default();
    for (int32_t i = 0; i < m->geometry_count; i++) {
        surface[i] = material_over(&unstated, &c->geometries[i].material);
    }
    m->geometries = c->geometries;
    c->object->filter = filter;
    c->object->surface = surface;
    stn_status status = compile_excludes(c, filter, err);
    return status == STN_OK ? compile_overrides(c, filter, err) : status;
}

// ----------------------------------------------------------------------------------------- which pairs may touch
// Which pairs may touch; asked for every pair of the broad phase.

static bool is_excluded(const model_object *object, int32_t link_a, int32_t link_b) {
    uint64_t key = pair_key(link_a, link_b);
    int32_t low = 0, high = object->face.exclude_count; // the key lies in [low, high) if at all
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (object->exclude_keys[middle] < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < object->face.exclude_count && object->exclude_keys[low] == key;
}

bool stn_model_may_collide(const stn_model *model, int32_t geometry_a, int32_t geometry_b) {
    const model_object *object = model_object_of(model);
    const filter_entry *a = &object->filter[geometry_a], *b = &object->filter[geometry_b];
    const bool far = a->node >= 0 && b->node >= 0 && a->skip > 0 && abs(a->node - b->node) > a->skip; // along a cable
    if ((a->body == b->body && !far && !(a->meets_own && b->meets_own)) || a->parent == b->body ||
        b->parent == a->body) {
        return false;
    }
    if (!a->collision || !b->collision || (a->driven && b->driven) || (a->category & b->mask) == 0 ||
        (b->category & a->mask) == 0) {
        return false;
    }
    return !(a->excluded && b->excluded && is_excluded(object, a->link, b->link));
}
