// SPDX-License-Identifier: Apache-2.0
// The scene block: what is there, in which units numbers follow, and which meshes come after it.
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

static int32_t collect_masses(const stn_model *model, double *values) {
    int32_t count = 0;
    for (int32_t b = 1; b < model->body_count; b++) {
        if (model->bodies[b].mass.mass > 0.0) {
            values[count++] = model->bodies[b].mass.mass;
        }
    }
    for (int32_t n = 0; n < model->node_count; n++) {
        values[count++] = model->node_mass[n];
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
    double force = GRAVITY * step_below(values, collect_masses(model, values));
    stn_release(model->context, values);
    units->length = power_of_ten_near(length > 0.0 ? 2.0 * length : 1e-5);
    units->velocity = 100.0 * units->length;
    units->force = power_of_ten_near(force > 0.0 ? force : 1e-3);
    units->rotation = 0x1p-15;
    units->normal = 0x1p-12;
    units->angular_velocity = 1e-2;
    return STN_OK;
}

// ----------------------------------------------------------------------------------------------------------- meshes

static void leave_out(const stn_model *model, int32_t mesh, const char *why) {
    stn_log(model->context, STN_LOG_WARNING, "recorder html: mesh %s is not recorded: %s", model->meshes[mesh].path,
            why);
}

static stn_status take_mesh(scene *s, int32_t mesh, int64_t *triangles, stn_error *err) {
    const stn_mesh *data = NULL;
    stn_error why = {STN_OK, ""};
    stn_status status = stn_model_load_mesh(s->model, mesh, &data, &why);
    if (status == STN_ERR_MEMORY) {
        return stn_fail(err, status, "%s", why.text);
    }
    if (status < 0) {
        leave_out(s->model, mesh, why.text);
        return STN_OK;
    }
    if (data->triangle_count > TRIANGLES_MAX - *triangles) {
        leave_out(s->model, mesh, "the meshes of a recording may have 4000000 triangles together");
        stn_mesh_release(data);
        return STN_OK;
    }
    *triangles += data->triangle_count;
    s->number[mesh] = s->mesh_count;
    s->meshes[s->mesh_count++] = data;
    return STN_OK;
}

/// Meshes that some shape wants: all that collide, and those that are only drawn when they are asked for.
static stn_status take_meshes(scene *s, bool visual_meshes, stn_error *err) {
    stn_status status = STN_OK;
    int64_t triangles = 0;
    for (int32_t m = 0; m < s->model->mesh_count; m++) {
        s->number[m] = -1;
    }
    for (int32_t i = 0; i < s->model->geometry_count; i++) {
        const stn_geometry *g = &s->model->geometries[i];
        if (g->mesh >= 0 && (g->collision || visual_meshes)) {
            s->number[g->mesh] = 0; // wanted
        }
    }
    for (int32_t m = 0; m < s->model->mesh_count && status == STN_OK; m++) {
        if (s->number[m] == 0) {
            s->number[m] = -1;
            status = take_mesh(s, m, &triangles, err);
        }
    }
    return status;
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

static void add_units(cJSON *to, const scene_units *units) {
    cJSON *json = cJSON_AddObjectToObject(to, "units");
    add_number(json, "length", units->length);
    add_number(json, "rotation", units->rotation);
    add_number(json, "velocity", units->velocity);
    add_number(json, "angular_velocity", units->angular_velocity);
    add_number(json, "force", units->force);
    add_number(json, "normal", units->normal);
}

static void add_bodies(cJSON *to, const stn_model *model) {
    cJSON *robots = cJSON_AddArrayToObject(to, "robots");
    for (int32_t i = 0; i < model->group_count; i++) {
        cJSON *robot = cJSON_CreateObject();
        cJSON_AddStringToObject(robot, "name", model->groups[i].name);
        cJSON_AddItemToArray(robots, robot);
    }
    cJSON *bodies = cJSON_AddArrayToObject(to, "bodies");
    for (int32_t b = 0; b < model->body_count; b++) {
        cJSON *body = cJSON_CreateObject();
        cJSON_AddStringToObject(body, "name", b > 0 ? model->bodies[b].name : "world");
        if (b > 0) {
            add_number(body, "robot", model->bodies[b].group);
            add_number(body, "mass", model->bodies[b].mass.mass);
        }
        cJSON_AddItemToArray(bodies, body);
    }
}

static void add_sizes(cJSON *to, const scene *s, const stn_geometry *g) {
    const stn_shape *shape = &g->shape;
    const double half[3] = {shape->half_extents.x, shape->half_extents.y, shape->half_extents.z};
    switch (shape->type) {
    case STN_SHAPE_SPHERE:
        add_number(to, "radius", shape->radius);
        break;
    case STN_SHAPE_BOX:
    case STN_SHAPE_ELLIPSOID:
        add_numbers(to, "half_extents", half, 3);
        break;
    case STN_SHAPE_CAPSULE:
    case STN_SHAPE_CYLINDER:
        add_number(to, "radius", shape->radius);
        add_number(to, "half_length", shape->half_length);
        break;
    case STN_SHAPE_MESH:
    case STN_SHAPE_CONVEX:
    case STN_SHAPE_HEIGHT_FIELD:
        if (g->mesh >= 0 && s->number[g->mesh] >= 0) {
            add_number(to, "mesh", s->number[g->mesh]);
        }
        break;
    case STN_SHAPE_HALF_SPACE:
    case STN_SHAPE_COUNT:
        break;
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
    add_sizes(json, s, g);
    stn_vec3 p = g->pose.position;
    stn_quat q = stn_quat_from_matrix(&g->pose.rotation);
    const double pose[] = {p.x, p.y, p.z, q.w, q.x, q.y, q.z};
    add_numbers(json, "pose", pose, STN_COUNT(pose));
    double rgba[4];
    for (int32_t k = 0; k < 4; k++) {
        rgba[k] = 1e-4 * round(1e4 * (double)g->rgba[k]);
    }
    add_numbers(json, "rgba", rgba, 4);
    cJSON_AddBoolToObject(json, "collision", g->collision);
    cJSON_AddBoolToObject(json, "visual", g->visual);
    if (isfinite(g->material.mu)) {
        add_number(json, "mu", g->material.mu);
    }
    return json;
}

/// NULL: out of memory.
static cJSON *scene_json(const scene *s, const scene_options *options) {
    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "format", "stiction-recording-1");
    cJSON_AddStringToObject(json, "title", options->title);
    cJSON_AddStringToObject(json, "stiction", STN_VERSION);
    add_number(json, "dt", options->dt);
    add_number(json, "frame_rate", options->frame_rate);
    cJSON_AddStringToObject(json, "parameters", options->parameters);
    add_units(json, &s->units);
    add_number(json, "mesh_count", s->mesh_count);
    add_bodies(json, s->model);
    cJSON *geometries = cJSON_AddArrayToObject(json, "geometries");
    for (int32_t i = 0; i < s->model->geometry_count; i++) {
        cJSON_AddItemToArray(geometries, geometry_json(s, &s->model->geometries[i]));
    }
    add_number(json, "node_count", s->model->node_count);
    if (!surfaces_add(json, s->model)) {
        cJSON_Delete(json);
        return NULL;
    }
    return json;
}

stn_status scene_write(const scene *s, const scene_options *options, bytes *out, stn_error *err) {
    bytes_clear(out);
    cJSON *json = scene_json(s, options);
    char *text = json != NULL ? cJSON_PrintUnformatted(json) : NULL;
    if (text != NULL) {
        bytes_put(out, text, strlen(text));
    }
    bool whole = text != NULL && !out->failed;
    cJSON_free(text);
    cJSON_Delete(json);
    return whole ? STN_OK : stn_fail(err, STN_ERR_MEMORY, "out of memory for the scene");
}
