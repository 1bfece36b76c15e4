// SPDX-License-Identifier: Apache-2.0
// See prepared.h.
#include "prepared.h"

#include <string.h>

solid_kind solid_kind_of(const stn_geometry *geometry) {
    if (!geometry->collision) {
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

/// What `solid` would be made of for this geometry, without its elements.
static solid plan_of(const stn_geometry *g, const solid_limits *limits) {
    const stn_field_spec *spec = &g->field;
    solid s = {.kind = solid_kind_of(g), .shape = g->shape, .volume = spec->volume_mesh};
    s.fineness.resolution = spec->resolution;
    s.fineness.error = limits->error;
    s.fineness.margin = isnan(spec->margin) ? limits->margin : spec->margin;
    if (!stn_geometry_is_compliant(g)) { // the margin is one of the field
        s.fineness.margin = 0.0;
        s.volume = -1;
    }
    if (s.kind == SOLID_HALF_SPACE) {
        s.depth = stn_geometry_is_compliant(g) ? spec->thickness : (double)INFINITY;
    }
    return s;
}

static bool same_number(double a, double b) {
    return a == b || (isnan(a) && isnan(b));
}

static bool same_plan(const solid *a, const solid *b) {
    const stn_shape *s = &a->shape, *t = &b->shape;
    bool same_shape = s->type == t->type && s->radius == t->radius && s->half_length == t->half_length &&
                      s->half_extents.x == t->half_extents.x && s->half_extents.y == t->half_extents.y &&
                      s->half_extents.z == t->half_extents.z && s->mesh == t->mesh;
    return same_shape && a->kind == b->kind && a->volume == b->volume &&
           same_number(a->fineness.resolution, b->fineness.resolution) && a->fineness.margin == b->fineness.margin &&
           (a->kind != SOLID_HALF_SPACE || same_number(a->depth, b->depth));
}

/// "arm.urdf:41: robot 'arm', link 'pad', shape 'tip': why".
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
                    model->robots[link->robot].name, link->name, stn_shape_name(g->shape.type), name, why);
}

static stn_status make_field(const stn_model *model, const stn_geometry *g, int32_t most, solid *out, stn_error *err) {
    const stn_mesh *volume = out->volume >= 0 ? model->meshes[out->volume].data : NULL;
    field *made = NULL;
    stn_status status = field_create(model->context, &g->shape, volume, &out->fineness, most, &made, err);
    status = status == STN_OK ? solid_of_field(model->context, made, out, err) : status;
    field_destroy(model->context, made);
    return status;
}

static stn_status make_surface(const stn_model *model, const stn_geometry *g, int32_t most, solid *out,
                               stn_error *err) {
    rigid_surface *made = NULL;
    stn_status status = rigid_surface_create(model->context, &g->shape, &out->fineness, most, &made, err);
    status = status == STN_OK ? solid_of_surface(model->context, made, out, err) : status;
    rigid_surface_destroy(model->context, made);
    return status;
}

static stn_status check_half_space(const stn_geometry *g, const solid *s, stn_error *err) {
    if (stn_geometry_is_compliant(g) && !(s->depth > 0.0 && isfinite(s->depth))) {
        return stn_fail(err, STN_ERR_ARGUMENT,
                        "a compliant half space needs slab_thickness > 0, the depth [m] at which its pressure is the "
                        "modulus; or leave it rigid (no modulus)");
    }
    return STN_OK;
}

static stn_status make_solid(const stn_model *model, const stn_geometry *g, int32_t most, solid *out, stn_error *err) {
    switch (out->kind) {
    case SOLID_FIELD:
        return make_field(model, g, most, out, err);
    case SOLID_SURFACE:
        return make_surface(model, g, most, out, err);
    case SOLID_HALF_SPACE:
        return check_half_space(g, out, err);
    case SOLID_NONE:
        break;
    }
    return STN_OK;
}

/// The solid of a geometry: one that there is already, or a new one.
static stn_status find_solid(model_solids *p, const stn_model *model, const stn_geometry *g, const solid_limits *limits,
                             int32_t *found, stn_error *err) {
    solid wanted = plan_of(g, limits);
    *found = -1;
    if (wanted.kind == SOLID_NONE) {
        return STN_OK;
    }
    for (int32_t i = 0; i < p->solid_count; i++) {
        if (same_plan(&p->solids[i], &wanted)) {
            *found = i;
            return STN_OK;
        }
    }
    stn_status status = make_solid(model, g, limits->max_tetrahedra, &wanted, err);
    if (status != STN_OK) {
        solid_clear(p->context, &wanted);
        return name_geometry(model, g, status, err);
    }
    *found = p->solid_count;
    p->solids[p->solid_count++] = wanted;
    return STN_OK;
}

static bool any_compliant(const stn_model *model) {
    bool any = false;
    for (int32_t g = 0; g < model->geometry_count && !any; g++) {
        any = model->geometries[g].collision && stn_geometry_is_compliant(&model->geometries[g]);
    }
    return any;
}

void prepared_destroy(model_solids *p) {
    if (p != NULL) {
        for (int32_t i = 0; i < p->solid_count; i++) {
            solid_clear(p->context, &p->solids[i]);
        }
        stn_release(p->context, p->solids);
        stn_release(p->context, p->of);
        stn_release(p->context, p->modulus);
        stn_release(p->context, p);
    }
}

stn_status prepared_create(const stn_model *model, const solid_limits *limits, model_solids **out, stn_error *err) {
    stn_context *context = model->context;
    size_t count = (size_t)model->geometry_count + 1; // none: still an array
    model_solids *p = stn_allocate(context, 1, sizeof *p);
    *out = NULL;
    if (p == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory for the fields of a model");
    }
    p->context = context;
    p->solids = stn_allocate(context, count, sizeof *p->solids);
    p->of = stn_allocate(context, count, sizeof *p->of);
    p->modulus = stn_allocate(context, count, sizeof *p->modulus);
    stn_status status = STN_OK;
    if (p->solids == NULL || p->of == NULL || p->modulus == NULL) {
        status = stn_fail(err, STN_ERR_MEMORY, "out of memory for the fields of %d shapes", (int)model->geometry_count);
    }
    bool any = any_compliant(model);
    for (int32_t g = 0; g < model->geometry_count && status == STN_OK; g++) {
        const stn_geometry *geometry = &model->geometries[g];
        p->modulus[g] = stn_geometry_is_compliant(geometry) ? geometry->material.modulus : (double)INFINITY;
        p->of[g] = -1;
        status = any ? find_solid(p, model, geometry, limits, &p->of[g], err) : STN_OK;
    }
    if (status != STN_OK) {
        prepared_destroy(p);
        return status;
    }
    *out = p;
    return STN_OK;
}
