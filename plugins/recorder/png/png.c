// SPDX-License-Identifier: Apache-2.0
// Pictures of the scene without a viewer: the last step when the recording is closed, and every n-th step when asked.
#include <stdio.h>
#include <string.h>

#include "common/node_values.h"
#include "picture.h"

typedef struct png_config {
    int32_t width, height, every, geometry;
    double azimuth, elevation, field_of_view, distance;
    const char *target, *color_by, *color_range;
    bool contacts, frames;
} png_config;

#define AZIMUTH       35.0
#define ELEVATION     22.0
#define FIELD_OF_VIEW 30.0

static const char *const geometries[] = {
    [SCENE_VISUAL] = "visual", [SCENE_COLLISION] = "collision", [SCENE_BOTH] = "both", NULL};

static const stn_param params[] = {
    STN_PARAM_INT(png_config, width, "pixels", 800, 16, SIDE_MAX, "width of the picture"),
    STN_PARAM_INT(png_config, height, "pixels", 600, 16, SIDE_MAX, "height of the picture"),
    STN_PARAM_REAL(png_config, azimuth, "deg", AZIMUTH, -360.0, 360.0, "where the camera stands, from x towards y"),
    STN_PARAM_REAL(png_config, elevation, "deg", ELEVATION, -90.0, 90.0, "how high the camera stands"),
    STN_PARAM_REAL(png_config, field_of_view, "deg", FIELD_OF_VIEW, 1.0, 120.0, "vertical angle of the picture"),
    STN_PARAM_REAL(png_config, distance, "m", 0.0, 0.0, 1e6, "of the camera from its target; 0: all shapes fit in"),
    STN_PARAM_TEXT(png_config, target, "",
                   "\"x y z\" [m] in the middle of the picture; empty: the middle of all shapes"),
    STN_PARAM_CHOICE(png_config, geometry, geometries, SCENE_VISUAL,
                     "which shapes; visual takes the collision shapes of links that have no visual"),
    STN_PARAM_BOOL(png_config, contacts, false, "mark contact points and pressures of patches, over everything else"),
    STN_PARAM_BOOL(png_config, frames, false, "mark the frames of links, over everything else"),
    STN_PARAM_TEXT(
        png_config, color_by, "",
        "what the elements of soft bodies and cables tell, \"von_mises\", as their colour; empty: their own"),
    STN_PARAM_TEXT(png_config, color_range, "",
                   "\"low high\" at the ends of these colours, in the unit of color_by; empty: least and largest"),
    STN_PARAM_INT(png_config, every, "steps", 0, 0, 1000000,
                  "also draw every n-th step, into files numbered by the step; 0: the last one alone"),
};

typedef struct recording {
    stn_context *context;
    int32_t every;
    char *path, *frame_path, *parameters;
    picture picture;
    moment moment;
    node_values values; // of color_by
    camera_path camera; // of the world
    bool failed;        // said; the last picture is not tried
} recording;

// ------------------------------------------------------------------------------------------------------------- open

/// Is some number of the camera not as it is without being given?
static bool differs(const png_config *config) {
    const struct {
        double value, usual;
    } numbers[] = {{config->azimuth, AZIMUTH},
                   {config->elevation, ELEVATION},
                   {config->field_of_view, FIELD_OF_VIEW},
                   {config->distance, 0.0}};
    bool given = false;
    for (int32_t i = 0; i < STN_COUNT(numbers); i++) {
        given = given || numbers[i].value < numbers[i].usual || numbers[i].value > numbers[i].usual;
    }
    return given;
}

static stn_status read_options(const png_config *config, picture_options *options, stn_error *err) {
    const double degree = STN_PI / 180.0;
    camera *c = &options->camera;
    *options = (picture_options){
        .choice = (scene_choice)config->geometry, .contacts = config->contacts, .frames = config->frames};
    *c = (camera){.width = config->width,
                  .height = config->height,
                  .azimuth = degree * config->azimuth,
                  .elevation = degree * config->elevation,
                  .field_of_view = degree * config->field_of_view,
                  .distance = config->distance};
    double target[3];
    int32_t count = config->target != NULL ? stn_parse_reals(config->target, target, 3) : 0;
    if (count != 0 && count != 3) {
        return stn_fail(err, STN_ERR_PARAMETER, "target = \"%.80s\" must be three numbers \"x y z\" [m], or empty",
                        config->target);
    }
    c->aimed = count == 3;
    c->own = c->aimed || differs(config);
    c->target = c->aimed ? stn_vec3_make(target[0], target[1], target[2]) : stn_vec3_zero();
    return node_values_read_range(config->color_range, config->color_by, options->range, &options->ranged, err);
}

static void release(recording *r) {
    picture_close(&r->picture);
    stn_release(r->context, r->path);
    stn_release(r->context, r->frame_path);
    stn_release(r->context, r->parameters);
    stn_release(r->context, r->moment.body_pose);
    stn_release(r->context, r->moment.node);
    stn_release(r->context, r->moment.node_pose);
    node_values_close(&r->values);
    stn_release(r->context, r->moment.contact);
    stn_release(r->context, r->moment.pressed);
    stn_release(r->context, r);
}

static stn_status png_open(void *self, const stn_record_header *header, void **out, stn_error *err) {
    const png_config *config = self;
    stn_context *context = header->model->context;
    picture_options options;
    *out = NULL;
    stn_status status = read_options(config, &options, err);
    if (status == STN_OK) {
        status = writer_try(header->path, err);
    }
    if (status < 0) {
        return status;
    }
    recording *r = stn_allocate(context, 1, sizeof *r);
    if (r == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "%s: out of memory", header->path);
    }
    r->context = context;
    r->every = config->every;
    moment *m = &r->moment;
    r->path = stn_duplicate_text(context, header->path);
    r->frame_path = stn_allocate(context, strlen(header->path) + 32, 1);
    r->parameters = stn_duplicate_text(context, header->parameters);
    m->body_pose = stn_allocate(context, (size_t)header->model->body_count, sizeof *m->body_pose);
    m->node = stn_allocate(context, (size_t)header->model->node_count + 1, sizeof *m->node);
    bool turns = false;
    for (int32_t t = 0; t < header->model->tree_count; t++) {
        turns = turns || header->model->trees[t].node_type == STN_NODE_FRAME;
    }
    if (turns) {
        m->node_pose = stn_allocate(context, (size_t)header->model->node_count, sizeof *m->node_pose);
    }
    bool whole = r->path != NULL && r->frame_path != NULL && r->parameters != NULL && m->body_pose != NULL &&
                 m->node != NULL && (m->node_pose != NULL || !turns);
    status = whole ? STN_OK : stn_fail(err, STN_ERR_MEMORY, "out of memory");
    if (status == STN_OK && config->color_by != NULL && config->color_by[0] != '\0') {
        status = node_values_open(&r->values, header->model, config->color_by, err);
        options.value_name = r->values.name;
        options.value_unit = r->values.unit;
        m->value = r->values.value;
    }
    if (status == STN_OK) {
        status = picture_open(&r->picture, header->model, &options, err);
    }
    if (status < 0) {
        release(r);
        return stn_error_prefix(err, "%s", header->path);
    }
    *out = r;
    return STN_OK;
}

// ---------------------------------------------------------------------------------------------------------- observe

/// Makes room for `count` elements of `size` bytes; false: out of memory, and all is as it was.
static bool reserve(const recording *r, void **array, int32_t *capacity, int32_t count, size_t size) {
    if (count <= *capacity) {
        return true;
    }
    int32_t wanted = count + count / 2;
    void *grown = stn_reallocate(r->context, *array, (size_t)*capacity, (size_t)wanted, size);
    if (grown != NULL) {
        *array = grown;
        *capacity = wanted;
    }
    return grown != NULL;
}

/// Points of contact, and faces of patches.
static stn_status copy_contacts(recording *r, const stn_contact_set *set, stn_error *err) {
    moment *m = &r->moment;
    m->contact_count = m->pressed_count = 0;
    if (set == NULL || !r->picture.options.contacts) {
        return STN_OK;
    }
    void *contact = m->contact, *faces = m->pressed; // a fan has fewer triangles than corners
    bool ok = reserve(r, &contact, &m->contact_capacity, set->count, sizeof *m->contact);
    m->contact = contact;
    ok = ok && reserve(r, &faces, &m->pressed_capacity, set->vertex_count, sizeof *m->pressed);
    m->pressed = faces;
    if (!ok) {
        return stn_fail(err, STN_ERR_MEMORY, "%s: out of memory for %d contacts", r->path, (int)set->count);
    }
    for (int32_t i = 0; i < set->count; i++) {
        const stn_contact *c = &set->contacts[i];
        if (c->vertex_count == 0) {
            m->contact[m->contact_count++] = c->point;
            continue;
        }
        const stn_vec3 *at = &set->vertices[c->vertex_start];
        const double *p = &set->vertex_pressure[c->vertex_start];
        for (int32_t k = 2; k < c->vertex_count; k++) { // the polygon of a face as a fan of triangles
            m->pressed[m->pressed_count++] = (pressed){{at[0], at[k - 1], at[k]}, (p[0] + p[k - 1] + p[k]) / 3.0};
        }
    }
    return STN_OK;
}

static stn_status png_observe(void *self, const stn_observation *o, stn_error *err) {
    recording *r = self;
    moment *m = &r->moment;
    memcpy(m->body_pose, o->kinematics->body_pose, (size_t)o->model->body_count * sizeof *m->body_pose);
    if (o->model->node_count > 0) {
        memcpy(m->node, o->kinematics->node, (size_t)o->model->node_count * sizeof *m->node);
    }
    if (m->node_pose != NULL) {
        memcpy(m->node_pose, o->kinematics->node_pose, (size_t)o->model->node_count * sizeof *m->node_pose);
    }
    m->step = o->step;
    m->time = o->time;
    m->filled = true;
    m->shot = camera_path_take(&r->camera, o) ? &r->camera.shot : NULL;
    stn_status status = copy_contacts(r, o->contacts, err);
    if (status == STN_OK && m->value != NULL) {
        status = node_values_take(&r->values, o, err);
    }
    if (status == STN_OK && r->every > 0 && o->step % r->every == 0) {
        // "out.png" to "out_000100.png"
        const char *slash = strrchr(r->path, '/'), *name = slash != NULL ? slash + 1 : r->path;
        const char *dot = strrchr(name, '.');
        size_t length = strlen(r->path), stem = dot != NULL && dot != name ? (size_t)(dot - r->path) : length;
        snprintf(r->frame_path, length + 32, "%.*s_%06lld%s", (int)stem, r->path, (long long)m->step, r->path + stem);
        status = picture_draw(&r->picture, m, r->frame_path, r->parameters, err);
    }
    r->failed = status < 0;
    return status;
}

static stn_status png_close(void *self, stn_error *err) {
    recording *r = self;
    if (r == NULL) {
        return STN_OK;
    }
    stn_status status = STN_OK;
    if (!r->failed) {
        status = r->moment.filled
                     ? picture_draw(&r->picture, &r->moment, r->path, r->parameters, err)
                     : stn_fail(err, STN_ERR_SEQUENCE, "%s: no step was made while it was open: make one", r->path);
    }
    release(r);
    return status;
}

static const stn_recorder_ops ops = {
    .size = sizeof ops, .extension = "png", .open = png_open, .observe = png_observe, .close = png_close};

static const stn_plugin_desc descriptor = {
    .size = sizeof descriptor,
    .kind = STN_KIND_RECORDER,
    .id = "png",
    .version = "1.0.0",
    .summary = "Pictures: the last step, or every n-th, drawn without a viewer",
    .config_size = sizeof(png_config),
    .params = params,
    .param_count = STN_COUNT(params),
    .ops.recorder = &ops,
};
STN_PLUGIN_LIBRARY(&descriptor);
