// SPDX-License-Identifier: Apache-2.0
// Which geometries take part in contact, and what the broad phase has to know about each of them.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "world/contact_class.h"

/// A contact class that colliding geometries have.
typedef struct seen_class {
    contact_class key;
    int32_t geometry; // the first that has it
    int32_t count;    // how many have it
    bool handled;
} seen_class;

typedef struct class_list {
    seen_class *items; // by key
    int32_t count;
} class_list;

static bool handles_in_an_order(const stn_instance *contact, const stn_geometry *a, const stn_geometry *b) {
    return collider_handles(contact, a, b) || collider_handles(contact, b, a);
}

/// Does the contact model handle the geometry together with any that there is, or that there could be?
static bool is_handled(const step_setup *setup, const stn_geometry *g, const class_list *others) {
    const stn_shape simple[] = {
        stn_shape_sphere(1.0),       stn_shape_box(stn_vec3_make(1.0, 1.0, 1.0)),
        stn_shape_capsule(1.0, 1.0), stn_shape_cylinder(1.0, 1.0),
        stn_shape_half_space(),      stn_shape_ellipsoid(stn_vec3_make(1.0, 1.0, 1.0)),
    };
    const stn_instance *contact = setup->plugin[STN_KIND_CONTACT];
    for (int32_t i = 0; i < 2 * STN_COUNT(simple); i++) {
        const stn_shape *shape = &simple[i / 2];
        stn_geometry other = {.shape = *shape, .node = -1, .collision = true, .category = 1, .mask = 1, .mesh = -1};
        other.name = other.where = "";
        other.body = shape->type == STN_SHAPE_HALF_SPACE ? 0 : 1;
        other.pose = other.in_link = stn_pose_identity();
        other.material = stn_material_default();
        other.material.modulus = i % 2 == 1 ? 1e6 : (double)INFINITY;
        other.field = stn_field_spec_unset();
        if (handles_in_an_order(contact, g, &other)) {
            return true;
        }
    }
    for (int32_t i = 0; i < others->count; i++) {
        if (handles_in_an_order(contact, g, &setup->model->geometries[others->items[i].geometry])) {
            return true;
        }
    }
    return false;
}

static int compare_classes(const void *a, const void *b) {
    const seen_class *x = a, *y = b;
    int order = memcmp(&x->key, &y->key, sizeof x->key);
    return order != 0 ? order : (x->geometry > y->geometry) - (x->geometry < y->geometry);
}

static bool list_classes(const stn_model *model, stn_arena *arena, class_list *list) {
    *list = (class_list){.items = STN_ARENA_ZEROED(arena, model->geometry_count, seen_class)};
    if (list->items == NULL) {
        return false;
    }
    int32_t count = 0;
    for (int32_t g = 0; g < model->geometry_count; g++) {
        if (model->geometries[g].collision) {
            list->items[count++] = (seen_class){contact_class_of(&model->geometries[g]), g, 1, false};
        }
    }
    qsort(list->items, (size_t)count, sizeof *list->items, compare_classes);
    for (int32_t i = 0; i < count; i++) {
        seen_class *last = list->count > 0 ? &list->items[list->count - 1] : NULL;
        if (last != NULL && memcmp(&last->key, &list->items[i].key, sizeof last->key) == 0) {
            last->count++;
        } else {
            list->items[list->count++] = list->items[i];
        }
    }
    return true;
}

/// A surface of nodes that touches nothing would let its body fall through everything.
static stn_status check_node_surfaces(const step_setup *setup, const class_list *list, stn_error *err) {
    for (int32_t i = 0; i < list->count; i++) {
        const stn_geometry *g = &setup->model->geometries[list->items[i].geometry];
        if (g->shape.type == STN_SHAPE_SURFACE && !list->items[i].handled) {
            char name[200];
            stn_describe_geometry(setup->model, list->items[i].geometry, name, sizeof name);
            return stn_fail(err, STN_ERR_UNSUPPORTED,
                            "%s%scontact model %s has no contact for %s, triangles over nodes: choose contact model %s",
                            g->where, g->where[0] != '\0' ? ": " : "", setup->plugin[STN_KIND_CONTACT]->desc->id, name,
                            stn_world_standard_plugin(STN_KIND_CONTACT));
        }
    }
    return STN_OK;
}

/// A compliant geometry that touches nothing, and would touch others if it were rigid, is no shape to leave out: what
/// its pressure field needs is missing.
static stn_status check_compliant(const step_setup *setup, const class_list *list, stn_error *err) {
    const stn_model *model = setup->model;
    const stn_plugin_desc *contact = setup->plugin[STN_KIND_CONTACT]->desc;
    for (int32_t i = 0; i < list->count; i++) {
        int32_t index = list->items[i].geometry;
        const stn_geometry *g = &model->geometries[index];
        stn_geometry rigid = *g;
        rigid.material.modulus = INFINITY;
        if (!list->items[i].handled && stn_geometry_is_compliant(g) && is_handled(setup, &rigid, list)) {
            char name[200];
            stn_describe_geometry(model, index, name, sizeof name);
            return stn_fail(
                err, STN_ERR_UNSUPPORTED,
                "%s%s%s (%s) is compliant, for which contact model %s knows no pressure field: %smake it rigid "
                "(modulus infinite)",
                g->where, g->where[0] != '\0' ? ": " : "", name, stn_shape_name(g->shape.type), contact->id,
                g->shape.type == STN_SHAPE_MESH
                    ? "give a file of tetrahedra (.vtk, .msh), let the mesh be its convex hull, or "
                    : "");
        }
    }
    return STN_OK;
}

/// Of a class that is in the list.
static bool class_is_handled(const class_list *list, const stn_geometry *g) {
    const contact_class wanted = contact_class_of(g);
    int32_t low = 0, high = list->count - 1;
    while (low < high) {
        int32_t middle = (low + high) / 2;
        if (memcmp(&list->items[middle].key, &wanted, sizeof wanted) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return list->items[low].handled;
}

/// Points between convex shapes miss the contacts inside a dent, so a surface that may have some must not move.
static stn_status check_moving_surfaces(const step_setup *setup, stn_error *err) {
    const stn_model *model = setup->model;
    const stn_plugin_desc *contact = setup->plugin[STN_KIND_CONTACT]->desc;
    const stn_contact_ops *ops = contact->ops.contact;
    if (STN_PLUGIN_HAS(ops, moving_surfaces)) {
        return STN_OK;
    }
    for (int32_t i = 0; i < model->geometry_count; i++) {
        const stn_geometry *g = &model->geometries[i];
        if (!g->collision || g->shape.type != STN_SHAPE_MESH || g->body <= 0) {
            continue;
        }
        const stn_link *link = &model->links[g->link];
        return stn_fail(
            err, STN_ERR_UNSUPPORTED,
            "%s%sgroup %s, link %s: its collision mesh '%s' is a surface that may be concave, on a body that "
            "moves: contact model %s finds contacts of convex shapes only; compose the body of convex parts, "
            "or let the mesh be its convex hull",
            g->where, g->where[0] != '\0' ? ": " : "", model->groups[link->group].name, link->name,
            model->meshes[g->mesh].path, contact->id);
    }
    return STN_OK;
}

static stn_status add_collider(step_setup *setup, int32_t geometry, stn_error *err) {
    const stn_geometry *g = &setup->model->geometries[geometry];
    const stn_instance *contact = setup->plugin[STN_KIND_CONTACT];
    const stn_contact_ops *ops = contact->desc->ops.contact;
    int32_t i = setup->collider_count++;
    bool surface = g->shape.type == STN_SHAPE_MESH || g->shape.type == STN_SHAPE_HEIGHT_FIELD;
    setup->collider[i] = geometry;
    setup->collider_moves[i] = g->body != 0;
    if (g->body >= 0) {
        setup->body_parts[g->body] += surface ? 2 : 1; // triangles of a surface may be parts
    }
    // distance of the shape's furthest point from the origin of its body; bounds the speed of all of it
    if (g->body >= 0 && g->shape.type != STN_SHAPE_HALF_SPACE &&
        g->shape.type != STN_SHAPE_HEIGHT_FIELD) { // which cannot move
        stn_pose centred = {g->pose.rotation, stn_vec3_zero()};
        stn_aabb box = stn_shape_aabb(&g->shape, &centred, 0.0);
        stn_vec3 corner = {fmax(box.upper.x, -box.lower.x), fmax(box.upper.y, -box.lower.y),
                           fmax(box.upper.z, -box.lower.z)};
        setup->collider_radius[i] = stn_vec3_norm(corner) + stn_vec3_norm(g->pose.position);
    } else {
        setup->collider_radius[i] = 0.0;
    }
    // how far outside of it pairs are wanted, whatever the law
    setup->collider_margin[i] = 0.5 * setup->options.margin;
    if (STN_PLUGIN_HAS(ops, margin)) {
        double own = ops->margin(contact->self, g);
        if (!(own >= 0.0 && isfinite(own))) {
            return stn_fail(err, STN_ERR_PLUGIN,
                            "contact model %s: margin of geometry '%s' = %g m must be >= 0 and finite",
                            contact->desc->id, g->name, own);
        }
        setup->collider_margin[i] = fmax(setup->collider_margin[i], own);
    }
    return STN_OK;
}

stn_status stn_setup_choose_colliders(step_setup *setup, stn_arena *arena, stn_error *err) {
    const stn_model *model = setup->model;
    int32_t left_out[STN_SHAPE_COUNT] = {0};
    class_list list;
    stn_status status = check_moving_surfaces(setup, err);
    if (status == STN_OK && !list_classes(model, arena, &list)) {
        status = stn_fail(err, STN_ERR_MEMORY, "world: out of memory while compiling");
    }
    if (status != STN_OK) {
        return status;
    }
    for (int32_t i = 0; i < list.count; i++) {
        seen_class *item = &list.items[i];
        item->handled = is_handled(setup, &model->geometries[item->geometry], &list);
        left_out[item->key.type] += item->handled ? 0 : item->count;
    }
    status = check_node_surfaces(setup, &list, err);
    if (status == STN_OK) {
        status = check_compliant(setup, &list, err);
    }
    memset(setup->body_parts, 0, (size_t)model->body_count * sizeof *setup->body_parts);
    for (int32_t g = 0; g < model->geometry_count && status == STN_OK; g++) {
        if (model->geometries[g].collision && class_is_handled(&list, &model->geometries[g])) {
            status = add_collider(setup, g, err);
        }
    }
    if (status != STN_OK) {
        return status;
    }
    // one line for all shapes that touch nothing in this world
    char text[256] = "";
    size_t used = 0;
    for (int32_t type = 0; type < STN_SHAPE_COUNT && used < sizeof text; type++) {
        if (left_out[type] > 0) {
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%d of type %s", used > 0 ? ", " : "",
                                     left_out[type], stn_shape_name((stn_shape_type)type));
        }
    }
    if (used > 0) {
        stn_log(
            setup->context, STN_LOG_WARNING,
            "contact model %s has no contact for some collision shapes, which touch nothing: %s; use other shapes, or "
            "another contact model",
            setup->plugin[STN_KIND_CONTACT]->desc->id, text);
    }
    return STN_OK;
}
