// SPDX-License-Identifier: Apache-2.0
// Soft bodies in a model: a cloud of nodes, elements over them, a group of pressure elements for each chamber, surfaces
// that collide, and nodes that links hold. All that can be wrong is looked at before the first is added.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <stiction/soft.h>

#include "held.h"

enum { LONGEST_NAME = 100 };

/// What is made ready before anything is added.
typedef struct parts {
    stn_instance *element;
    stn_instance **pressure; // (mesh->chamber_count)
    double *position;        // (3 node_count), world
    int32_t *index;          // of the elements
    soft_held held;
    int32_t *triangles;   // (3 x triangles of the skin) those of no patch, then those of each patch
    int32_t *patch_start; // (patch_count + 2) first triangle of the rest, of each patch; their end
} parts;

static stn_status out_of_memory(const stn_soft_spec *spec, stn_error *err) {
    return stn_fail(err, STN_ERR_MEMORY, "out of memory for %d nodes and %d attachments", spec->mesh->node_count,
                    spec->attachment_count);
}

static void release(stn_context *context, const stn_soft_spec *spec, parts *p) {
    stn_instance_destroy(p->element);
    for (int32_t c = 0; p->pressure != NULL && c < spec->mesh->chamber_count; c++) {
        stn_instance_destroy(p->pressure[c]);
    }
    stn_release(context, p->pressure);
    stn_release(context, p->position);
    stn_release(context, p->index);
    soft_held_release(context, &p->held);
    stn_release(context, p->triangles);
    stn_release(context, p->patch_start);
}

static stn_status make_elements(stn_context *context, const stn_soft_spec *spec, parts *p, stn_error *err) {
    const stn_soft_mesh *mesh = spec->mesh;
    bool solid = mesh->tetrahedron_count > 0;
    if (mesh->triangle_count == 0) {
        return stn_fail(err, STN_ERR_ARGUMENT, "its mesh is a line of %d nodes, which stn_soft_add_cable takes",
                        mesh->node_count);
    }
    const char *id = spec->element.id != NULL ? spec->element.id : (solid ? "fem" : "shell");
    stn_status status = stn_instance_create(context, STN_KIND_ELEMENT, id, spec->element.settings,
                                            spec->element.setting_count, &p->element, err);
    if (status != STN_OK) {
        return status;
    }
    int32_t width = p->element->desc->ops.element->nodes_per_element, wanted = solid ? 4 : 6;
    if (width != wanted) {
        return stn_fail(err, STN_ERR_ARGUMENT, "element '%s' joins %d nodes, %s needs one of %d", id, width,
                        solid ? "a mesh of tetrahedra" : "a sheet", wanted);
    }
    size_t count = (size_t)(solid ? mesh->tetrahedron_count : mesh->triangle_count);
    p->index = stn_allocate(context, count * (size_t)width, sizeof *p->index);
    if (p->index == NULL) {
        return out_of_memory(spec, err);
    }
    for (size_t e = 0; e < count && solid; e++) {
        memcpy(&p->index[4 * e], &mesh->tetrahedra[4 * e], 4 * sizeof *p->index);
    }
    for (size_t e = 0; e < count && !solid; e++) {
        memcpy(&p->index[6 * e], &mesh->triangles[3 * e], 3 * sizeof *p->index);
        memcpy(&p->index[6 * e + 3], &mesh->across[3 * e], 3 * sizeof *p->index);
    }
    p->pressure = stn_allocate(context, (size_t)mesh->chamber_count + 1, sizeof(stn_instance *));
    if (p->pressure == NULL) {
        return out_of_memory(spec, err);
    }
    for (int32_t c = 0; c < mesh->chamber_count && status == STN_OK; c++) {
        status = stn_instance_create(context, STN_KIND_ELEMENT, "pressure", NULL, 0, &p->pressure[c], err);
    }
    return status;
}

static stn_status place_nodes(stn_context *context, const stn_soft_spec *spec, parts *p, stn_error *err) {
    const stn_soft_mesh *mesh = spec->mesh;
    p->position = stn_allocate(context, 3 * (size_t)mesh->node_count, sizeof *p->position);
    if (p->position == NULL) {
        return out_of_memory(spec, err);
    }
    for (size_t i = 0; i < (size_t)mesh->node_count; i++) {
        const double *x = &mesh->nodes[3 * i];
        stn_vec3 at = stn_pose_apply(&spec->pose, stn_vec3_make(x[0], x[1], x[2]));
        p->position[3 * i] = at.x;
        p->position[3 * i + 1] = at.y;
        p->position[3 * i + 2] = at.z;
    }
    return STN_OK;
}

static double given(double own, double otherwise) {
    return isnan(own) ? otherwise : own;
}

/// What a patch leaves open is as of the body; its mu alone means all coefficients.
static stn_material material_of(const stn_material *own, const stn_material *body) {
    bool friction = !isnan(own->mu);
    return (stn_material){.mu = given(own->mu, body->mu),
                          .stiffness = given(own->stiffness, body->stiffness),
                          .relaxation_time = given(own->relaxation_time, body->relaxation_time),
                          .dissipation = given(own->dissipation, body->dissipation),
                          .restitution = given(own->restitution, body->restitution),
                          .modulus = given(own->modulus, body->modulus),
                          .mu_static = friction ? own->mu_static : given(own->mu_static, body->mu_static),
                          .mu2 = friction ? own->mu2 : given(own->mu2, body->mu2)};
}

/// What surface 0, of the body, or the one of a patch says beside its triangles; `name` has room for its name.
static stn_surface_spec surface_of(const stn_soft_spec *spec, int32_t patch, char name[256]) {
    stn_surface_spec surface = spec->surface;
    surface.solid = spec->mesh->tetrahedron_count > 0 && spec->patch_count == 0;
    (void)snprintf(name, 256, patch > 0 ? "%s/%s" : "%s", spec->name, patch > 0 ? spec->patches[patch - 1].name : "");
    surface.name = name;
    if (patch > 0) {
        surface.material = material_of(&spec->patches[patch - 1].material, &spec->surface.material);
    }
    return surface;
}

/// Gives the triangles that have all corners in the patch its number.
static stn_status mark_patch(const stn_soft_spec *spec, int32_t number, int32_t *selected, int32_t *patch,
                             stn_error *err) {
    const stn_soft_mesh *mesh = spec->mesh;
    const stn_soft_patch *p = &spec->patches[number - 1];
    int32_t *inside = selected + mesh->node_count, count = 0;
    bool some = false;
    stn_status status = stn_soft_mesh_select(mesh, p->selector_count, p->selectors, selected, &count, err);
    if (status != STN_OK) {
        stn_error_prefix(err, "patch '%s'", p->name);
        return status;
    }
    memset(inside, 0, (size_t)mesh->node_count * sizeof *inside);
    for (int32_t k = 0; k < count; k++) {
        inside[selected[k]] = 1;
    }
    for (int32_t t = 0; t < mesh->chamber_start[0]; t++) {
        const int32_t *corner = &mesh->triangles[3 * (size_t)t];
        if (inside[corner[0]] && inside[corner[1]] && inside[corner[2]]) {
            patch[t] = number;
            some = true;
        }
    }
    return some ? STN_OK
                : stn_fail(err, STN_ERR_ARGUMENT, "patch '%s': no triangle of the skin has all three corners in it",
                           p->name);
}

static stn_status check_patches(const stn_soft_spec *spec, stn_error *err) {
    if (spec->patch_count > 0 && spec->mesh->tetrahedron_count > 0 && spec->surface.thickness == 0.0) {
        return stn_fail(err, STN_ERR_ARGUMENT,
                        "patches of a solid need a thickness of contact > 0 m (Lua: regions, contact_thickness): none "
                        "encloses a volume");
    }
    for (int32_t i = 0; i < spec->patch_count; i++) {
        const char *name = spec->patches[i].name;
        if (strlen(name) > LONGEST_NAME || strchr(name, '/') != NULL) {
            return stn_fail(err, STN_ERR_ARGUMENT, "patch %d: its name must have no '/' and at most %d letters", i + 1,
                            LONGEST_NAME);
        }
        for (int32_t k = 0; k < i; k++) {
            if (strcmp(spec->patches[k].name, name) == 0) {
                return stn_fail(err, STN_ERR_ARGUMENT, "patches %d and %d are both called '%s'; rename one", k + 1,
                                i + 1, name);
            }
        }
    }
    return STN_OK;
}

/// Sorts the triangles of the skin by their patch; 0 is the rest.
static stn_status sort_skin(stn_context *context, const stn_soft_spec *spec, parts *p, stn_error *err) {
    const stn_soft_mesh *mesh = spec->mesh;
    size_t skin = (size_t)mesh->chamber_start[0];
    int32_t *patch = stn_allocate(context, skin, sizeof *patch);
    int32_t *selected = stn_allocate(context, 2 * (size_t)mesh->node_count, sizeof *selected), placed = 0;
    p->triangles = stn_allocate(context, 3 * skin, sizeof *p->triangles);
    p->patch_start = stn_allocate(context, (size_t)spec->patch_count + 2, sizeof *p->patch_start);
    bool room = patch != NULL && selected != NULL && p->triangles != NULL && p->patch_start != NULL;
    stn_status status = room ? check_patches(spec, err) : out_of_memory(spec, err);
    for (int32_t i = 1; i <= spec->patch_count && status == STN_OK; i++) {
        status = mark_patch(spec, i, selected, patch, err);
    }
    for (int32_t i = 0; i <= spec->patch_count && status == STN_OK; i++) {
        p->patch_start[i] = placed;
        for (size_t t = 0; t < skin; t++) {
            if (patch[t] == i) {
                memcpy(&p->triangles[3 * (size_t)placed++], &mesh->triangles[3 * t], 3 * sizeof *p->triangles);
            }
        }
        p->patch_start[i + 1] = placed;
    }
    stn_release(context, patch);
    stn_release(context, selected);
    return status;
}

/// A category that none of the skin's is.
static uint32_t category_beside(uint32_t skin) {
    uint32_t category = 1u << 31;
    while (category > 1u && (category & skin) != 0) {
        category >>= 1;
    }
    return category;
}

/// Without a thickness nothing would tell on which side of a wall another one is that rounding has put into it.
static double wall_thickness(const stn_soft_spec *spec) {
    const stn_soft_mesh *mesh = spec->mesh;
    double shortest = (double)INFINITY;
    for (int32_t t = mesh->chamber_start[0]; t < mesh->chamber_start[mesh->chamber_count]; t++) {
        for (int32_t k = 0; k < 3; k++) {
            const double *a = &mesh->nodes[3 * (size_t)mesh->triangles[3 * (size_t)t + (size_t)k]];
            const double *b = &mesh->nodes[3 * (size_t)mesh->triangles[3 * (size_t)t + (size_t)((k + 1) % 3)]];
            shortest = fmin(shortest, hypot(hypot(a[0] - b[0], a[1] - b[1]), a[2] - b[2]));
        }
    }
    return spec->surface.thickness > 0.0 ? spec->surface.thickness : 0.05 * shortest;
}

/// Where the body collides with itself the walls of a chamber do, too: a surface that is felt from both sides and meets
/// chambers alone, not the skin, inside of which it lies.
static stn_status add_chamber_walls(stn_model_builder *builder, const stn_soft_spec *spec, int32_t cloud,
                                    stn_error *err) {
    const stn_soft_mesh *mesh = spec->mesh;
    stn_status status = STN_OK;
    for (int32_t c = 0; spec->surface.self_collision && c < mesh->chamber_count && status == STN_OK; c++) {
        char name[256];
        int32_t geometry = -1;
        stn_surface_spec wall = spec->surface;
        (void)snprintf(name, sizeof name, "%s/chamber%d", spec->name, c + 1);
        wall.name = name;
        wall.solid = wall.visual = false;
        wall.thickness = wall_thickness(spec);
        wall.category = wall.mask = category_beside(spec->surface.category);
        wall.triangle_count = mesh->chamber_start[c + 1] - mesh->chamber_start[c];
        wall.triangles = &mesh->triangles[3 * (size_t)mesh->chamber_start[c]];
        status = stn_builder_add_surface(builder, cloud, &wall, &geometry, err);
    }
    return status;
}

static stn_status add_surfaces(stn_model_builder *builder, const stn_soft_spec *spec, const parts *p, int32_t cloud,
                               stn_error *err) {
    stn_status status = STN_OK;
    for (int32_t i = 0; i <= spec->patch_count && status == STN_OK; i++) {
        char name[256];
        stn_surface_spec surface = surface_of(spec, i, name);
        int32_t geometry = -1;
        surface.triangle_count = p->patch_start[i + 1] - p->patch_start[i];
        surface.triangles = &p->triangles[3 * (size_t)p->patch_start[i]];
        if (surface.triangle_count > 0) { // patches may be all, or covered by later ones
            status = stn_builder_add_surface(builder, cloud, &surface, &geometry, err);
        }
    }
    return status == STN_OK ? add_chamber_walls(builder, spec, cloud, err) : status;
}

/// Would the builder take the surfaces? One that goes is asked, as nothing takes nodes out of a builder again.
static stn_status try_surfaces(stn_context *context, const stn_soft_spec *spec, const parts *p, stn_error *err) {
    const stn_nodes_spec nodes = {.name = spec->name,
                                  .node_count = spec->mesh->node_count,
                                  .position = p->position,
                                  .mass = spec->node_mass,
                                  .material = stn_material_unset()};
    stn_model_builder *builder = NULL;
    int32_t cloud = -1;
    stn_status status = stn_builder_create(context, &builder, err);
    if (status == STN_OK) {
        status = stn_builder_add_nodes(builder, &nodes, &cloud, err);
    }
    if (status == STN_OK) {
        status = add_surfaces(builder, spec, p, cloud, err);
    }
    stn_builder_destroy(builder);
    return status;
}

/// Adds what was made ready. The builder takes the instances over.
static stn_status add(stn_model_builder *builder, const stn_soft_spec *spec, parts *p, stn_soft_body *body,
                      stn_error *err) {
    const stn_soft_mesh *mesh = spec->mesh;
    const stn_nodes_spec nodes = {.name = spec->name,
                                  .node_count = mesh->node_count,
                                  .position = p->position,
                                  .mass = spec->node_mass,
                                  .material = spec->surface.material};
    stn_status status = stn_builder_add_nodes(builder, &nodes, &body->cloud, err);
    if (status == STN_OK) {
        bool solid = mesh->tetrahedron_count > 0;
        const stn_elements_spec elements = {.name = "",
                                            .nodes = body->cloud,
                                            .element_count = solid ? mesh->tetrahedron_count : mesh->triangle_count,
                                            .index = p->index};
        stn_instance *element = p->element;
        p->element = NULL;
        status = stn_builder_add_elements(builder, element, &elements, &body->elements, err);
    }
    body->chambers = -1;
    for (int32_t c = 0; c < mesh->chamber_count && status == STN_OK; c++) {
        char name[32];
        int32_t begin = mesh->chamber_start[c], group = -1;
        (void)snprintf(name, sizeof name, "chamber%d", c + 1);
        const stn_elements_spec wall = {.name = name,
                                        .nodes = body->cloud,
                                        .element_count = mesh->chamber_start[c + 1] - begin,
                                        .index = &mesh->triangles[3 * (size_t)begin]};
        stn_instance *pressure = p->pressure[c];
        p->pressure[c] = NULL;
        status = stn_builder_add_elements(builder, pressure, &wall, &group, err);
        body->chambers = c == 0 ? group : body->chambers;
    }
    if (status == STN_OK) {
        status = add_surfaces(builder, spec, p, body->cloud, err);
    }
    return status == STN_OK ? soft_held_attach(builder, body->cloud, &p->held, spec->attachments, err) : status;
}

stn_status stn_soft_add(stn_model_builder *builder, stn_context *context, const stn_soft_spec *spec,
                        stn_soft_body *body, stn_error *err) {
    parts p = {0};
    stn_status status = make_elements(context, spec, &p, err);
    if (status == STN_OK) {
        status = place_nodes(context, spec, &p, err);
    }
    if (status == STN_OK) {
        status = soft_held_select(builder, spec->mesh, spec->attachment_count, spec->attachments, &p.held, err);
    }
    if (status == STN_OK) {
        status = sort_skin(context, spec, &p, err);
    }
    if (status == STN_OK) {
        status = try_surfaces(context, spec, &p, err);
    }
    if (status == STN_OK) {
        status = add(builder, spec, &p, body, err);
    }
    if (status != STN_OK) {
        stn_error_prefix(err, "soft body '%s'", spec->name);
    }
    release(context, spec, &p);
    return status;
}

stn_status stn_soft_list_add(stn_soft_list *list, const char *name, stn_soft_mesh *mesh, const stn_soft_body *body,
                             stn_error *err) {
    if (list->count == list->capacity) {
        int32_t capacity = list->capacity > 0 ? 2 * list->capacity : 8;
        stn_soft_item *items = stn_allocate(list->context, (size_t)capacity, sizeof *items);
        if (items == NULL) {
            stn_soft_mesh_destroy(mesh);
            return stn_fail(err, STN_ERR_MEMORY, "soft body '%s': out of memory", name);
        }
        if (list->count > 0) {
            memcpy(items, list->items, (size_t)list->count * sizeof *items);
        }
        stn_release(list->context, list->items);
        list->items = items;
        list->capacity = capacity;
    }
    stn_soft_item *item = &list->items[list->count++];
    *item = (stn_soft_item){.mesh = mesh, .body = *body};
    (void)snprintf(item->name, sizeof item->name, "%s", name);
    return STN_OK;
}

void stn_soft_list_clear(stn_soft_list *list) {
    for (int32_t i = 0; i < list->count; i++) {
        stn_soft_mesh_destroy(list->items[i].mesh);
    }
    stn_release(list->context, list->items);
    *list = (stn_soft_list){.context = list->context};
}
