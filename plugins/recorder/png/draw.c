// SPDX-License-Identifier: Apache-2.0
// A picture: shapes are put in their places, the shadow map is drawn, then the picture in bands of rows, so that memory
// does not grow with its size.
#include <stdio.h>
#include <string.h>

#include "common/node_values.h"
#include "picture.h"

enum { BAND_SAMPLES = 2000000 }; // 800 x 600 pixels are one band

static const double LAMP_ASIDE = -50.0 * STN_PI / 180.0, LAMP_ABOVE = 52.0 * STN_PI / 180.0; // of the viewer
static const double GRID_SPACING = 0.3, EDGE = 5.0;                                          // of the scene's radius
static const double CONTACT_RADIUS = 1.0 / 130.0, LINE_RADIUS = 1.0 / 500.0;                 // of the picture's height
static const double AXIS_LENGTH = 0.07;                                                      // of the scene's radius

// ---------------------------------------------------------------------------------------------------------- memory

static bool allocate_raster(stn_context *context, raster *r, int32_t width, int32_t rows, bool only_nearness,
                            bool with_value) {
    size_t count = (size_t)width * (size_t)rows;
    *r = (raster){.width = width, .row_count = rows};
    r->nearness = stn_allocate(context, count, sizeof *r->nearness);
    if (only_nearness) {
        return r->nearness != NULL;
    }
    r->normal = stn_allocate(context, count, sizeof *r->normal);
    r->item = stn_allocate(context, count, sizeof *r->item);
    r->value = with_value ? stn_allocate(context, count, sizeof *r->value) : NULL;
    return r->nearness != NULL && r->normal != NULL && r->item != NULL && (r->value != NULL || !with_value);
}

static void release_raster(stn_context *context, raster *r) {
    stn_release(context, r->nearness);
    stn_release(context, r->normal);
    stn_release(context, r->item);
    stn_release(context, r->value);
    *r = (raster){0};
}

stn_status picture_open(picture *p, const stn_model *model, const picture_options *options, stn_error *err) {
    *p = (picture){.context = model->context, .options = *options};
    stn_status status = scene_open(&p->scene, model, options->choice, err);
    if (status < 0) {
        return status;
    }
    const camera *c = &options->camera;
    int32_t band = BAND_SAMPLES / (SAMPLES * SAMPLES * c->width);
    int32_t width = SAMPLES * c->width, rows = SAMPLES * (band < c->height ? band : c->height);
    p->row = stn_allocate(p->context, (size_t)c->width, 3);
    p->encoded = stn_allocate(p->context, ENCODED_MAX + 1, 1);
    bool whole = p->row != NULL && p->encoded != NULL, valued = options->value_name != NULL;
    whole = whole && allocate_raster(p->context, &p->light.shadow, SHADOW_SIZE, SHADOW_SIZE, true, false);
    whole = whole && allocate_raster(p->context, &p->front, width, rows, false, valued);
    whole = whole && (!p->scene.translucent || allocate_raster(p->context, &p->glass, width, rows, false, valued));
    if (!whole) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory for a picture of %d x %d", (int)c->width, (int)c->height);
    }
    for (int32_t i = 0; i <= ENCODED_MAX; i++) {
        double linear = (double)i / ENCODED_MAX;
        double srgb = linear <= 0.0031308 ? 12.92 * linear : 1.055 * pow(linear, 1.0 / 2.4) - 0.055;
        p->encoded[i] = (uint8_t)(255.0 * srgb + 0.5);
    }
    return STN_OK;
}

void picture_close(picture *p) {
    if (p->context == NULL) {
        return;
    }
    scene_close(&p->scene);
    release_raster(p->context, &p->light.shadow);
    release_raster(p->context, &p->front);
    release_raster(p->context, &p->glass);
    stn_release(p->context, p->row);
    stn_release(p->context, p->encoded);
    *p = (picture){0};
}

// ----------------------------------------------------------------------------------------------------------- marks

/// The length that shows as this part of the picture's height at a place.
static double length_shown(const picture *p, stn_vec3 place, double part) {
    stn_vec3 offset = stn_vec3_sub(place, p->view.origin);
    double depth = p->view.axes.m[2][0] * offset.x + p->view.axes.m[2][1] * offset.y + p->view.axes.m[2][2] * offset.z;
    return fmax(depth, p->view.near) * part * SAMPLES * p->options.camera.height / p->view.scale;
}

static void mark(const picture *p, stn_shape shape, stn_pose pose, int32_t number) {
    solid s = {.shape = shape, .pose = pose, .value = NAN};
    solid_draw(&s, &p->front, &p->view, p->scene.item_count + number, BOOST);
}

/// Faces of patches, coloured from 0 to the largest pressure of the moment; those of the first step are left out, as
/// wide patches that hardly press would hide all the rest. Points of contact and frames of links where they are asked
/// for.
static void draw_marks(const picture *p, const moment *m) {
    const stn_model *model = p->scene.model;
    double most = 0.0;
    for (int32_t i = 0; i < m->pressed_count; i++) {
        most = fmax(most, m->pressed[i].pressure);
    }
    for (int32_t i = 0; i < m->pressed_count; i++) {
        const pressed *t = &m->pressed[i];
        int32_t step = most > 0.0 ? (int32_t)fmin(t->pressure / most * PRESSURES, PRESSURES - 1) : 0;
        if (step > 0) {
            triangle_draw(t->corner, &p->front, &p->view, p->scene.item_count + MARK_PRESSURE + step, BOOST);
        }
    }
    for (int32_t i = 0; p->options.contacts && i < m->contact_count; i++) {
        stn_pose pose = {stn_mat3_identity(), m->contact[i]};
        mark(p, stn_shape_sphere(length_shown(p, m->contact[i], CONTACT_RADIUS)), pose, MARK_CONTACT);
    }
    for (int32_t i = 0; p->options.frames && i < model->link_count; i++) {
        stn_pose frame = stn_pose_mul(&m->body_pose[model->links[i].body], &model->links[i].pose);
        double length = AXIS_LENGTH * p->scene.radius;
        for (int32_t axis = 0; axis < 3; axis++) {
            stn_vec3 along = stn_mat3_column(&frame.rotation, axis);
            stn_pose pose = {stn_contact_frame(along), stn_vec3_mul_add(frame.position, 0.5 * length, along)};
            mark(p, stn_shape_cylinder(length_shown(p, frame.position, LINE_RADIUS), 0.5 * length), pose,
                 MARK_X + axis);
        }
    }
}

// ------------------------------------------------------------------------------------------------------------ draw

/// The lamp stands beside the viewer, so that every side of a scene is seen in the same light.
static void cast_shadows(picture *p) {
    const camera *c = &p->options.camera;
    double a = c->azimuth + LAMP_ASIDE, radius = p->scene.radius > 0.0 ? p->scene.radius : 1.0;
    p->light.direction = stn_vec3_make(cos(LAMP_ABOVE) * cos(a), cos(LAMP_ABOVE) * sin(a), sin(LAMP_ABOVE));
    p->light.view = camera_light_view(p->light.direction, p->scene.centre, radius, SHADOW_SIZE);
    p->light.texel = 1.0 / p->light.view.scale;
    raster_clear(&p->light.shadow);
    for (int32_t i = 0; i < p->scene.item_count; i++) {
        if (p->scene.items[i].alpha >= 1.0f) {
            solid_draw(&p->scene.items[i].solid, &p->light.shadow, &p->light.view, i, 1.0);
        }
    }
}

static void lay_out_planes(const picture *p, shading *s) {
    double radius = p->scene.radius > 0.0 ? p->scene.radius : 1.0;
    // the grid's spacing: the largest of 1, 2 and 5 times a power of ten that is not above
    double power = pow(10.0, floor(log10(GRID_SPACING * radius))), part = GRID_SPACING * radius / power;
    s->grid = power * (part >= 5.0 ? 5.0 : part >= 2.0 ? 2.0 : 1.0);
    s->edge = EDGE * radius;
    for (int32_t i = 0; i < p->scene.plane_count; i++) {
        const scene_plane *ground = &p->scene.planes[i];
        const view *v = &p->view;
        stn_vec3 middle = p->scene.centre;
        stn_vec3 n = stn_mat3_column(&ground->world.rotation, 2), at = ground->world.position;
        stn_vec3 seen = stn_mat3_apply(&v->axes, n);
        shown_plane *shown = &s->planes[i];
        shown->height = stn_vec3_dot(n, stn_vec3_sub(v->origin, at));
        shown->centre = stn_vec3_mul_add(middle, -stn_vec3_dot(n, stn_vec3_sub(middle, at)), n);
        shown->fall[1] = -seen.x / v->scale;
        shown->fall[2] = seen.y / v->scale;
        shown->fall[0] = -seen.z - (0.5 - v->centre_x) * seen.x / v->scale + (0.5 - v->centre_y) * seen.y / v->scale;
    }
}

static void draw_band(picture *p, const moment *m, int32_t first_row) {
    p->front.row_start = p->glass.row_start = SAMPLES * first_row;
    raster_clear(&p->front);
    if (p->glass.nearness != NULL) {
        raster_clear(&p->glass);
    }
    for (int32_t i = 0; i < p->scene.item_count; i++) {
        bool opaque = p->scene.items[i].alpha >= 1.0f;
        solid_draw(&p->scene.items[i].solid, opaque ? &p->front : &p->glass, &p->view, i, 1.0);
    }
    draw_marks(p, m);
}

/// The ends of the colours: those asked for, or the least and the largest number of the nodes, apart in any case.
static void choose_range(picture *p, const moment *m) {
    const picture_options *o = &p->options;
    memcpy(p->range, o->range, sizeof p->range);
    if (!o->ranged && m->value != NULL &&
        node_values_range(m->value, p->scene.model->node_count, &p->range[0], &p->range[1])) {
        double apart = fmax(1e-6 * fmax(fabs(p->range[0]), fabs(p->range[1])), 1e-30);
        p->range[1] = fmax(p->range[1], p->range[0] + apart);
    } else if (!o->ranged) {
        p->range[0] = p->range[1] = (double)NAN;
    }
}

/// As the world's camera stands in this step.
static void place_camera(camera *c, const camera_shot *shot) {
    c->azimuth = shot->azimuth;
    c->elevation = shot->elevation;
    c->field_of_view = shot->field_of_view;
    c->aimed = true;
    c->target = shot->middle;
    c->distance = camera_shot_distance(shot, (double)c->width / c->height);
}

stn_status picture_draw(picture *p, const moment *m, const char *path, const char *parameters, stn_error *err) {
    const camera *c = &p->options.camera;
    scene_place(&p->scene, m);
    choose_range(p, m);
    if (m->shot != NULL && !c->own) {
        place_camera(&p->options.camera, m->shot);
        p->viewed = false;
    }
    if (!p->viewed) {
        p->view = camera_view(c, scene_reach, &p->scene, p->scene.centre, p->scene.radius);
        p->viewed = true;
    }
    shading s = {.picture = p};
    shade_colours(&s);
    s.planes = stn_allocate(p->context, (size_t)p->scene.plane_count + 1, sizeof *s.planes);
    size_t size = strlen(parameters) + 240;
    char *text = stn_allocate(p->context, size, 1);
    writer *w = NULL;
    stn_status status = STN_OK;
    if (s.planes == NULL || text == NULL) {
        status = stn_fail(err, STN_ERR_MEMORY, "%s: out of memory", path);
    } else {
        char time[40] = "";
        stn_print_real(time, sizeof time, m->time);
        char colours[160] = "";
        if (isfinite(p->range[0])) {
            snprintf(colours, sizeof colours, "colors = %.60s from %.9g to %.9g %.20s\n", p->options.value_name,
                     p->range[0], p->range[1], p->options.value_unit);
        }
        snprintf(text, size, "step %lld\ntime = %s s\n%s%s", (long long)m->step, time, colours, parameters);
        status = writer_open(p->context, path, c->width, c->height, text, &w, err);
    }
    if (status == STN_OK) {
        lay_out_planes(p, &s);
        cast_shadows(p);
        legend key;
        bool explained = isfinite(p->range[0]) && legend_open(&key, p);
        int32_t rows = p->front.row_count / SAMPLES; // of a band
        for (int32_t row = 0; row < c->height; row++) {
            if (row % rows == 0) {
                draw_band(p, m, row);
            }
            shade_row(&s, row, p->row);
            if (explained) {
                legend_row(&key, row, p->row);
            }
            writer_row(w, p->row);
        }
        status = writer_close(w, true, err);
    }
    stn_release(p->context, text);
    stn_release(p->context, s.planes);
    return status;
}
