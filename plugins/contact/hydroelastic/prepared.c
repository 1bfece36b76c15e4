// SPDX-License-Identifier: Apache-2.0
// See prepared.h. Solids are shared things of the context (stiction/shared.h): equal shapes have one, whatever models
// and worlds they are in.
#include "prepared.h"

#include <string.h>

#include "field_build.h"

solid_kind solid_kind_of(const stn_geometry *geometry) {
    if (!geometry->collision || geometry->shape.type == STN_SHAPE_SURFACE) { // the fallback may know it
        return SOLID_NONE;
    }
    if (geometry->shape.type == STN_SHAPE_HALF_SPACE) {
        return SOLID_HALF_SPACE;
    }
    if (stn_geometry_is_compliant(geometry)) {
        return field_refuses(geometry) == NULL ? SOLID_FIELD : SOLID_NONE;
    }
    return SOLID_SURFACE;
}

// ------------------------------------------------------------------------------------------------ what is wanted

/// All that decides what a solid becomes: the key of the shared thing, zeroed before it is filled in.
typedef struct solid_key {
    int32_t kind, type, max_elements;
    int32_t compliant, given; // flags
    double sizes[5];
    double resolution, error, margin, depth;
    uint64_t mesh;
} solid_key;

/// A solid to be made for a geometry; `plan` has no elements yet.
typedef struct request {
    const stn_model *model;
    const stn_geometry *geometry;
    const stn_mesh *mesh; // that it is made of: tetrahedra, a hull or a surface; NULL: none
    int32_t max_elements;
    solid plan;
} request;

static request request_of(const stn_model *model, const stn_geometry *g, const solid_limits *limits) {
    const stn_field_spec *spec = &g->field;
    bool compliant = stn_geometry_is_compliant(g);
    request r = {model, g, g->shape.mesh, limits->max_tetrahedra, {.kind = solid_kind_of(g), .shape = g->shape}};
    r.plan.given = r.plan.kind == SOLID_FIELD && spec->volume_mesh >= 0;
    r.mesh = r.plan.given ? model->meshes[spec->volume_mesh].data : r.mesh;
    r.plan.shape.mesh = NULL; // the solid may outlive it
    r.plan.fineness.resolution = spec->resolution;
    r.plan.fineness.error = limits->error;
    if (compliant) { // the margin is one of the field
        r.plan.fineness.margin = isnan(spec->margin) ? limits->margin : spec->margin;
    }
    if (r.plan.kind == SOLID_HALF_SPACE) {
        r.plan.depth = compliant ? spec->thickness : (double)INFINITY;
    }
    return r;
}

static uint64_t hash_array(uint64_t h, const void *array, int32_t count, size_t size) {
    h = stn_hash(h, &count, sizeof count);
    return stn_hash(h, array, (size_t)count * size);
}

/// Of all that fields and surfaces are made of; never 0.
static uint64_t hash_mesh(const stn_mesh *mesh) {
    uint64_t h = hash_array(0, mesh->vertices, 3 * mesh->vertex_count, sizeof *mesh->vertices);
    h = hash_array(h, mesh->triangles, 3 * mesh->triangle_count, sizeof *mesh->triangles);
    h = hash_array(h, mesh->tetrahedra, 4 * mesh->tetrahedron_count, sizeof *mesh->tetrahedra);
    h = hash_array(h, mesh->extents, mesh->extents != NULL ? mesh->vertex_count : 0, sizeof *mesh->extents);
    const stn_polytope *p = mesh->polytope;
    if (p != NULL) {
        h = hash_array(h, p->face_start, p->face_count + 1, sizeof *p->face_start);
        h = hash_array(h, p->face_vertices, p->face_start[p->face_count], sizeof *p->face_vertices);
        h = hash_array(h, p->planes, 4 * p->face_count, sizeof *p->planes);
        h = hash_array(h, &mesh->solid.com, 1, sizeof mesh->solid.com);
    }
    return h != 0 ? h : 1;
}

// ------------------------------------------------------------------------------------------------ making a solid

static void destroy_solid(stn_context *context, void *thing) {
    solid_clear(context, thing);
    stn_release(context, thing);
}

static stn_status create_solid(stn_context *context, void *user, void **thing, size_t *bytes, stn_error *err) {
    const request *r = user;
    const stn_shape *shape = &r->geometry->shape;
    solid *s = stn_allocate(context, 1, sizeof *s);
    if (s == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    *s = r->plan;
    stn_status status = STN_OK;
    field *made = NULL;
    rigid_surface *surface = NULL;
    if (s->kind == SOLID_FIELD) {
        const stn_mesh *volume = s->given ? r->mesh : NULL;
        status = field_create(context, shape, volume, &s->fineness, r->max_elements, &made, err);
        if (status == STN_OK) {
            status = solid_of_field(context, made, s, err);
        }
    } else if (s->kind == SOLID_HALF_SPACE && stn_geometry_is_compliant(r->geometry) &&
               !(s->depth > 0.0 && isfinite(s->depth))) {
        status = stn_fail(err, STN_ERR_ARGUMENT,
                          "a compliant half space needs slab_thickness > 0, the depth [m] at which its pressure is the "
                          "modulus; or leave it rigid (no modulus)");
    }
    // a field's level of no pressure is the surface that the same fineness gives a rigid shape, whatever its margin
    bool error_is_of_surface = s->kind == SOLID_FIELD && !s->given && surface_is_round(shape);
    if (status == STN_OK && (s->kind == SOLID_SURFACE || error_is_of_surface)) {
        status = rigid_surface_create(context, shape, &s->fineness, r->max_elements, &surface, err);
    }
    if (status == STN_OK && s->kind == SOLID_SURFACE) {
        status = solid_of_surface(context, surface, s, err);
    } else if (status == STN_OK && error_is_of_surface) {
        s->error = surface->error;
    }
    field_destroy(context, made);
    rigid_surface_destroy(context, surface);
    if (status != STN_OK) {
        destroy_solid(context, s);
        return status;
    }
    *bytes = sizeof *s + s->bytes;
    *thing = s;
    return STN_OK;
}

/// "arm.urdf:41: group 'arm', link 'pad', shape 'tip': why".
static stn_status name_geometry(const stn_model *model, const stn_geometry *g, stn_status status, stn_error *err) {
    if (err == NULL) {
        return status;
    }
    char why[sizeof err->text];
    memcpy(why, err->text, sizeof why);
    const char *where = g->where != NULL ? g->where : "", *name = g->name != NULL ? g->name : "";
    const char *colon = where[0] != '\0' ? ": " : "";
    if (g->link < 0) {
        return stn_fail(err, status, "%s%s%s, %s '%s': %s", where, colon, g->node >= 0 ? "nodes" : "the world",
                        stn_shape_name(g->shape.type), name, why);
    }
    const stn_link *link = &model->links[g->link];
    return stn_fail(err, status, "%s%srobot '%s', link '%s', %s '%s': %s", where, colon,
                    model->groups[link->group].name, link->name, stn_shape_name(g->shape.type), name, why);
}

/// `mesh_hashes`: of the model's meshes, 0: not yet asked for.
static stn_status hold_solid(request *r, uint64_t *mesh_hashes, const stn_shared **out, stn_error *err) {
    const stn_model *model = r->model;
    solid *plan = &r->plan;
    if (r->mesh != NULL) {
        int32_t index = plan->given ? r->geometry->field.volume_mesh : r->geometry->mesh;
        uint64_t own = 0, *hash = index >= 0 && model->meshes[index].data == r->mesh ? &mesh_hashes[index] : &own;
        *hash = *hash != 0 ? *hash : hash_mesh(r->mesh);
        plan->mesh = *hash;
    }
    solid_key key;
    memset(&key, 0, sizeof key); // padding, too: bytes are compared
    key.kind = plan->kind;
    key.type = plan->shape.type;
    key.max_elements = r->max_elements;
    key.compliant = stn_geometry_is_compliant(r->geometry);
    key.given = plan->given;
    const stn_vec3 half = plan->shape.half_extents;
    const double sizes[] = {plan->shape.radius, plan->shape.half_length, half.x, half.y, half.z};
    memcpy(key.sizes, sizes, sizeof sizes);
    key.resolution = isnan(plan->fineness.resolution) ? -1.0 : plan->fineness.resolution; // NaNs differ in bytes
    key.error = plan->fineness.error;
    key.margin = plan->fineness.margin;
    key.depth = isnan(plan->depth) ? -1.0 : plan->depth;
    key.mesh = plan->mesh;
    const stn_shared_spec spec = {&key, sizeof key, create_solid, r, destroy_solid};
    stn_status status = stn_shared_hold(model->context, &spec, out, err);
    return status == STN_OK ? STN_OK : name_geometry(model, r->geometry, status, err);
}

// ---------------------------------------------------------------------------------------------- those of a model

void prepared_destroy(model_solids *p) {
    if (p != NULL) {
        for (int32_t g = 0; g < p->count && p->of != NULL; g++) {
            stn_shared_release(p->context, p->of[g]);
        }
        near_memory_destroy(p->memory);
        stn_release(p->context, p->of);
        stn_release(p->context, p->modulus);
        stn_release(p->context, p);
    }
}

stn_status prepared_create(const stn_model *model, const solid_limits *limits, model_solids **out, stn_error *err) {
    stn_context *context = model->context;
    size_t count = (size_t)model->geometry_count;
    model_solids *p = stn_allocate(context, 1, sizeof *p);
    *out = NULL;
    if (p == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory for the fields of a model");
    }
    p->context = context;
    p->count = model->geometry_count;
    p->of = stn_allocate(context, count, sizeof *p->of);
    p->modulus = stn_allocate(context, count, sizeof *p->modulus);
    if (p->of == NULL || p->modulus == NULL) {
        prepared_destroy(p);
        return stn_fail(err, STN_ERR_MEMORY, "out of memory for the fields of %d shapes", (int)model->geometry_count);
    }
    bool any = false;
    for (int32_t g = 0; g < model->geometry_count; g++) {
        const stn_geometry *geometry = &model->geometries[g];
        bool compliant = stn_geometry_is_compliant(geometry);
        p->modulus[g] = compliant ? geometry->material.modulus : (double)INFINITY;
        any = any || (compliant && geometry->collision);
    }
    *out = p;
    if (!any) {
        return STN_OK;
    }
    uint64_t *mesh_hashes = stn_allocate(context, (size_t)model->mesh_count, sizeof *mesh_hashes);
    stn_status status = STN_OK;
    if (mesh_hashes == NULL) {
        status = stn_fail(err, STN_ERR_MEMORY, "out of memory for %d meshes", (int)model->mesh_count);
    }
    int64_t elements = 0;
    for (int32_t g = 0; g < p->count && status == STN_OK; g++) {
        request r = request_of(model, &model->geometries[g], limits);
        if (r.plan.kind != SOLID_NONE) {
            status = hold_solid(&r, mesh_hashes, &p->of[g], err);
            elements += status == STN_OK ? prepared_solid(p, g)->count : 0;
        }
    }
    stn_release(context, mesh_hashes);
    if (status == STN_OK) {
        status = near_memory_create(context, elements, &p->memory, err);
    }
    if (status != STN_OK) {
        prepared_destroy(p);
        *out = NULL;
    }
    return status;
}
