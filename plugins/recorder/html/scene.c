// SPDX-License-Identifier: Apache-2.0
// The scene block: what is there, in which units numbers follow, and which meshes come after it. And their blocks.
//
// Units. A number is kept as a whole multiple of its unit, a power of ten near
//   length   min(2e-4 median r, 2e-3 smallest r)                  r: radii of what moves
//   force    g min(1e-4 median m, 1e-3 smallest m)                m: masses of what moves
// so that a rounded place is never seen beside the smallest thing, and a scene of one size spends no bits below that.
// Velocities are kept in 100 lengths a second.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "html.h"

enum { TRIANGLES_MAX = 4000000 }; // of all meshes together
static const double GRAVITY = 9.81;

// ------------------------------------------------------------------------------------------------------------ units

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double power_of_ten_near(double value) {
    double exponent = round(log10(value));
    return isfinite(exponent) ? pow(10.0, fmax(-30.0, fmin(30.0, exponent))) : 1e-5;
}

/// The smaller of a part of the median and a part of the smallest; 0 without values.
static double step_below(double *values, int32_t count) {
    if (count == 0) {
        return 0.0;
    }
    qsort(values, (size_t)count, sizeof *values, ascending);
    return fmin(1e-4 * values[count / 2], 1e-3 * values[0]);
}

/// Half the diagonal of the box around a shape; 0 for one without end or data.
static double radius_of(const stn_shape *shape) {
    if (shape->type == STN_SHAPE_HALF_SPACE || (shape->type >= STN_SHAPE_MESH && shape->type != STN_SHAPE_ELLIPSOID)) {
        const stn_aabb *box = shape->mesh != NULL ? &shape->mesh->bounds : NULL;
        return box != NULL ? 0.5 * stn_vec3_norm(stn_vec3_sub(box->upper, box->lower)) : 0.0;
    }
    stn_pose pose = stn_pose_identity();
    stn_aabb box = stn_shape_aabb(shape, &pose, 0.0);
    return 0.5 * stn_vec3_norm(stn_vec3_sub(box.upper, box.lower));
}

static int32_t collect_radii(const stn_model *model, bool moving, double *values) {
    int32_t count = 0;
    for (int32_t i = 0; i < model->geometry_count; i++) {
        const stn_geometry *g = &model->geometries[i];
        double radius = moving == (g->body != 0) ? radius_of(&g->shape) : 0.0;
        if (radius > 0.0 && isfinite(radius)) {
            values[count++] = radius;
        }
    }
    return count;
}

static stn_status choose_units(const stn_model *model, scene_units *units, stn_error *err) {
    size_t room = (size_t)model->geometry_count + (size_t)model->body_count + (size_t)model->node_count;
    double *values = stn_allocate(model->context, room, sizeof *values);
    if (values == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    double length = step_below(values, collect_radii(model, true, values));
    if (length == 0.0) {
        length = step_below(values, collect_radii(model, false, values));
    }
    int32_t masses = 0;
    for (int32_t b = 1; b < model->body_count; b++) {
        if (model->bodies[b].mass.mass > 0.0) {
            values[masses++] = model->bodies[b].mass.mass;
        }
    }
    for (int32_t n = 0; n < model->node_count; n++) {
        values[masses++] = model->node_mass[n];
    }
    double force = GRAVITY * step_below(values, masses);
    stn_release(model->context, values);
    units->length = power_of_ten_near(length > 0.0 ? 2.0 * length : 1e-5);
    units->velocity = 100.0 * units->length;
    units->force = power_of_ten_near(force > 0.0 ? force : 1e-3);
    units->rotation = 0x1p-15;
    units->normal = 0x1p-12;
    units->angular_velocity = 1e-2;
    units->pressure = 0x1p-12;
    return STN_OK;
}

// ----------------------------------------------------------------------------------------------------------- meshes

/// Meshes that some shape wants: all that collide, and those that are only drawn when they are asked for.
static stn_status take_meshes(scene *s, bool visual_meshes, stn_error *err) {
    const stn_model *model = s->model;
    int64_t triangles = 0;
    for (int32_t m = 0; m < model->mesh_count; m++) {
        s->number[m] = -1;
    }
    for (int32_t i = 0; i < model->geometry_count; i++) {
        const stn_geometry *g = &model->geometries[i];
        if (g->mesh >= 0 && (g->collision || visual_meshes)) {
            s->number[g->mesh] = 0; // wanted
        }
    }
    for (int32_t m = 0; m < model->mesh_count; m++) {
        if (s->number[m] < 0) {
            continue;
        }
        s->number[m] = -1;
        const stn_mesh *data = NULL;
        stn_error why = {STN_OK, ""};
        stn_status status = stn_model_load_mesh(model, m, &data, &why);
        if (status == STN_ERR_MEMORY) {
            return stn_fail(err, status, "%s", why.text);
        }
        if (status >= 0 && data->triangle_count <= TRIANGLES_MAX - triangles) {
            triangles += data->triangle_count;
            s->number[m] = s->mesh_count;
            s->meshes[s->mesh_count++] = data;
            continue;
        }
        stn_log(model->context, STN_LOG_WARNING, "recorder html: mesh %s is not recorded: %s", model->meshes[m].path,
                status < 0 ? why.text : "the meshes of a recording may have 4000000 triangles together");
        stn_mesh_release(data);
    }
    return STN_OK;
}

stn_status scene_open(scene *s, const stn_model *model, bool visual_meshes, stn_error *err) {
    *s = (scene){.model = model};
    s->meshes = stn_allocate(model->context, (size_t)model->mesh_count + 1, sizeof *s->meshes);
    s->number = stn_allocate(model->context, (size_t)model->mesh_count + 1, sizeof *s->number);
    stn_status status = STN_OK;
    if (s->meshes == NULL || s->number == NULL) {
        status = stn_fail(err, STN_ERR_MEMORY, "out of memory for %d meshes", (int)model->mesh_count);
    }
    if (status == STN_OK) {
        status = choose_units(model, &s->units, err);
    }
    if (status == STN_OK) {
        status = take_meshes(s, visual_meshes, err);
    }
    if (status < 0) {
        scene_close(s);
    }
    return status;
}

void scene_close(scene *s) {
    if (s->model == NULL) {
        return;
    }
    for (int32_t i = 0; i < s->mesh_count; i++) {
        stn_mesh_release(s->meshes[i]);
    }
    stn_release(s->model->context, s->meshes);
    stn_release(s->model->context, s->number);
    *s = (scene){0};
}

// ------------------------------------------------------------------------------------------------------------- JSON

/// cJSON prints 15 digits by the locale; these are the shortest that give the number back.
static cJSON *number(double value) {
    char text[40] = "";
    stn_print_real(text, sizeof text, value);
    return isfinite(value) ? cJSON_CreateRaw(text) : cJSON_CreateNull();
}

static void add_number(cJSON *to, const char *name, double value) {
    cJSON_AddItemToObject(to, name, number(value));
}

static void add_numbers(cJSON *to, const char *name, const double *values, int32_t count) {
    cJSON *array = cJSON_AddArrayToObject(to, name);
    for (int32_t i = 0; i < count; i++) {
        cJSON_AddItemToArray(array, number(values[i]));
    }
}

static cJSON *geometry_json(const scene *s, const stn_geometry *g) {
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "name", g->name);
    add_number(json, g->body >= 0 ? "body" : "node", g->body >= 0 ? g->body : g->node);
    if (g->link >= 0) {
        add_number(json, "link", g->link);
    }
    cJSON_AddStringToObject(json, "type", stn_shape_name(g->shape.type));
    const stn_shape *shape = &g->shape;
    const double half[3] = {shape->half_extents.x, shape->half_extents.y, shape->half_extents.z};
    switch (shape->type) {
    case STN_SHAPE_SPHERE:
        add_number(json, "radius", shape->radius);
        break;
    case STN_SHAPE_BOX:
    case STN_SHAPE_ELLIPSOID:
        add_numbers(json, "half_extents", half, 3);
        break;
    case STN_SHAPE_CAPSULE:
    case STN_SHAPE_CYLINDER:
        add_number(json, "radius", shape->radius);
        add_number(json, "half_length", shape->half_length);
        break;
    case STN_SHAPE_MESH:
    case STN_SHAPE_CONVEX:
    case STN_SHAPE_HEIGHT_FIELD:
        if (g->mesh >= 0 && s->number[g->mesh] >= 0) {
            add_number(json, "mesh", s->number[g->mesh]);
        }
        break;
    case STN_SHAPE_SURFACE:
        add_number(json, "radius", shape->radius);
        break;
    case STN_SHAPE_HALF_SPACE:
    case STN_SHAPE_COUNT:
        break;
    }
    stn_vec3 p = g->pose.position;
    stn_quat q = stn_quat_from_matrix(&g->pose.rotation);
    const double pose[] = {p.x, p.y, p.z, q.w, q.x, q.y, q.z};
    add_numbers(json, "pose", pose, STN_COUNT(pose));
    double rgba[4];
    for (int32_t k = 0; k < 4; k++) {
        rgba[k] = 1e-4 * round(1e4 * (double)g->rgba[k]);
    }
    add_numbers(json, "rgba", rgba, 4);
    cJSON_AddBoolToObject(json, "collision", g->collision && g->category != 0 && g->mask != 0);
    cJSON_AddBoolToObject(json, "visual", g->visual);
    if (isfinite(g->material.mu)) {
        add_number(json, "mu", g->material.mu);
    }
    if (stn_vec3_norm(g->friction_direction) > 0.0) {
        const double direction[] = {g->friction_direction.x, g->friction_direction.y, g->friction_direction.z};
        add_number(json, "mu2", g->material.mu2);
        add_numbers(json, "friction_direction", direction, 3);
    }
    return json;
}

/// "clouds": soft bodies and cables, in the order of their nodes.
static void add_clouds(cJSON *json, const stn_model *model) {
    cJSON *clouds = cJSON_AddArrayToObject(json, "clouds");
    for (int32_t t = 0; t < model->tree_count; t++) {
        const stn_tree *tree = &model->trees[t];
        if (tree->kind == STN_TREE_NODAL) {
            cJSON *cloud = cJSON_CreateObject();
            cJSON_AddStringToObject(cloud, "name", tree->name);
            add_number(cloud, "first_node", tree->node_start);
            add_number(cloud, "node_count", tree->node_count);
            cJSON_AddBoolToObject(cloud, "turns", tree->node_type == STN_NODE_FRAME);
            cJSON_AddItemToArray(clouds, cloud);
        }
    }
}

static void add_colors(cJSON *json, const scene_options *options) {
    if (options->values == NULL) {
        return;
    }
    cJSON *colors = cJSON_AddObjectToObject(json, "colors");
    cJSON_AddStringToObject(colors, "name", options->values->name);
    cJSON_AddStringToObject(colors, "unit", options->values->unit);
    if (options->ranged) {
        add_numbers(colors, "range", options->range, 2);
    }
    cJSON *nodes = cJSON_AddArrayToObject(colors, "nodes");
    for (int32_t i = 0; i < options->colored_count; i++) {
        cJSON_AddItemToArray(nodes, cJSON_CreateNumber(options->colored[i]));
    }
}

stn_status scene_write(const scene *s, const scene_options *options, bytes *out, stn_error *err) {
    bytes_clear(out);
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "format", "stiction-recording-1");
    cJSON_AddStringToObject(json, "title", options->title);
    cJSON_AddStringToObject(json, "stiction", STN_VERSION);
    add_number(json, "dt", options->dt);
    add_number(json, "frame_rate", options->frame_rate);
    cJSON_AddStringToObject(json, "parameters", options->parameters);
    cJSON *units = cJSON_AddObjectToObject(json, "units");
    add_number(units, "length", s->units.length);
    add_number(units, "rotation", s->units.rotation);
    add_number(units, "velocity", s->units.velocity);
    add_number(units, "angular_velocity", s->units.angular_velocity);
    add_number(units, "force", s->units.force);
    add_number(units, "normal", s->units.normal);
    add_number(units, "pressure", s->units.pressure);
    add_number(json, "mesh_count", s->mesh_count);
    const stn_model *model = s->model;
    cJSON *robots = cJSON_AddArrayToObject(json, "robots");
    for (int32_t i = 0; i < model->group_count; i++) {
        cJSON *robot = cJSON_CreateObject();
        cJSON_AddStringToObject(robot, "name", model->groups[i].name);
        cJSON_AddItemToArray(robots, robot);
    }
    cJSON *bodies = cJSON_AddArrayToObject(json, "bodies");
    for (int32_t b = 0; b < model->body_count; b++) {
        cJSON *body = cJSON_CreateObject();
        cJSON_AddStringToObject(body, "name", b > 0 ? model->bodies[b].name : "world");
        if (b > 0) {
            add_number(body, "robot", model->bodies[b].group);
            add_number(body, "mass", model->bodies[b].mass.mass);
            cJSON_AddBoolToObject(body, "free", camera_body_is_free(model, b));
        }
        cJSON_AddItemToArray(bodies, body);
    }
    cJSON *geometries = cJSON_AddArrayToObject(json, "geometries");
    for (int32_t i = 0; i < model->geometry_count; i++) {
        cJSON_AddItemToArray(geometries, geometry_json(s, &model->geometries[i]));
    }
    cJSON *constraints = model->constraint_count > 0 ? cJSON_AddArrayToObject(json, "constraints") : NULL;
    for (int32_t i = 0; i < model->constraint_count; i++) {
        cJSON *constraint = cJSON_CreateObject();
        cJSON_AddStringToObject(constraint, "name", model->constraints[i].name);
        cJSON_AddStringToObject(constraint, "plugin", model->constraints[i].instance->desc->id);
        cJSON_AddItemToArray(constraints, constraint);
    }
    add_number(json, "node_count", model->node_count);
    add_clouds(json, model);
    add_colors(json, options);
    char *text = surfaces_add(json, model) ? cJSON_PrintUnformatted(json) : NULL;
    if (text != NULL) {
        bytes_put(out, text, strlen(text));
    }
    bool whole = text != NULL && !out->failed;
    cJSON_free(text);
    cJSON_Delete(json);
    return whole ? STN_OK : stn_fail(err, STN_ERR_MEMORY, "out of memory for the scene");
}

// ---------------------------------------------------------------------------------------------------------- mesh block

// A mesh block: vertices in 65535ths of the bounds, everything as differences.

static const double STEPS = 65535.0;

static double component(stn_vec3 v, int32_t axis) {
    return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}

void mesh_write(const stn_mesh *mesh, bytes *out) {
    stn_vec3 lower = mesh->bounds.lower, size = stn_vec3_sub(mesh->bounds.upper, lower);
    bytes_put_u(out, (uint64_t)mesh->vertex_count);
    bytes_put_u(out, (uint64_t)mesh->triangle_count);
    for (int32_t axis = 0; axis < 3; axis++) {
        bytes_put_f64(out, component(lower, axis));
    }
    for (int32_t axis = 0; axis < 3; axis++) {
        bytes_put_f64(out, component(size, axis));
    }
    for (int32_t axis = 0; axis < 3; axis++) {
        double from = component(lower, axis), per_unit = STEPS / component(size, axis);
        int64_t last = 0;
        for (int32_t i = 0; i < mesh->vertex_count; i++) {
            int64_t here = quantise(mesh->vertices[3 * i + axis] - from, per_unit, 0); // flat: 0/0
            bytes_put_s(out, here - last);
            last = here;
        }
    }
    int64_t last = 0;
    for (int32_t i = 0; i < 3 * mesh->triangle_count; i++) {
        bytes_put_s(out, mesh->triangles[i] - last);
        last = mesh->triangles[i];
    }
}
