// SPDX-License-Identifier: Apache-2.0
#include "common/camera_path.h"

#include <math.h>

static const double MARGIN = 1.0 / 12.0; // of half the width and height stays free
static const double LARGEST = 1e9;       // [m]; what is farther away is not looked at
static const double SMALLEST = 1e-3;     // half edge of a box of points [m]
static const double ROOM = 0.35;         // diagonals of what is free around it, where robots and grounds are seen too

// -------------------------------------------------------------------------------------------------------------- boxes

static const stn_aabb nothing = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};

static void include(stn_aabb *box, stn_vec3 lower, stn_vec3 upper) {
    double size = fmax(stn_vec3_norm(lower), stn_vec3_norm(upper));
    if (!(size < LARGEST)) { // no number, or a shape without end
        return;
    }
    box->lower = stn_vec3_make(fmin(box->lower.x, lower.x), fmin(box->lower.y, lower.y), fmin(box->lower.z, lower.z));
    box->upper = stn_vec3_make(fmax(box->upper.x, upper.x), fmax(box->upper.y, upper.y), fmax(box->upper.z, upper.z));
}

static bool has_data(const stn_shape *shape) {
    bool mesh = shape->type == STN_SHAPE_MESH || shape->type == STN_SHAPE_CONVEX;
    return shape->type != STN_SHAPE_HALF_SPACE && shape->type != STN_SHAPE_HEIGHT_FIELD &&
           (!mesh || shape->mesh != NULL);
}

static void include_geometry(stn_aabb *box, const stn_observation *o, int32_t geometry) {
    const stn_geometry *g = &o->model->geometries[geometry];
    const stn_kinematics *k = o->kinematics;
    if (g->shape.type == STN_SHAPE_SURFACE) {
        const stn_surface *surface = &o->model->surfaces[g->surface];
        for (int32_t i = 0; i < surface->vertex_count; i++) {
            include(box, k->node[surface->vertex[i]], k->node[surface->vertex[i]]);
        }
        return;
    }
    stn_pose at = stn_pose_identity();
    if (g->body >= 0) {
        at = k->body_pose[g->body];
    } else if (k->node_pose != NULL) {
        at = k->node_pose[g->node];
    } else {
        at.position = k->node[g->node];
    }
    at = stn_pose_mul(&at, &g->pose);
    if (has_data(&g->shape)) {
        stn_aabb own = stn_shape_aabb(&g->shape, &at, 0.0);
        include(box, own.lower, own.upper);
    } else if (g->shape.type != STN_SHAPE_HALF_SPACE) {
        include(box, at.position, at.position);
    }
}

bool camera_body_is_free(const stn_model *model, int32_t body) {
    if (body <= 0) {
        return false;
    }
    const stn_tree *tree = &model->trees[model->bodies[body].tree];
    return model->joints[model->bodies[tree->body_start].joint].type == STN_JOINT_FLOATING;
}

/// What is free, without anything free what moves, with some room around it, as far as there are shapes: not the whole
/// reach of a robot, and not all of a table. As in lookBoxOf of the viewer.
static stn_aabb box_of_all(const stn_observation *o) {
    const stn_model *model = o->model;
    stn_aabb all = nothing, moving = nothing, core = nothing;
    for (int32_t g = 0; g < model->geometry_count; g++) {
        int32_t body = model->geometries[g].body;
        include_geometry(&all, o, g);
        if (body != 0) {
            include_geometry(&moving, o, g);
        }
        if (body < 0 || camera_body_is_free(model, body)) {
            include_geometry(&core, o, g);
        }
    }
    core = core.lower.x <= core.upper.x ? core : moving;
    if (!(core.lower.x <= core.upper.x)) {
        return all;
    }
    double room = ROOM * stn_vec3_norm(stn_vec3_sub(core.upper, core.lower));
    return (stn_aabb){{fmax(all.lower.x, core.lower.x - room), fmax(all.lower.y, core.lower.y - room),
                       fmax(all.lower.z, core.lower.z - room)},
                      {fmin(all.upper.x, core.upper.x + room), fmin(all.upper.y, core.upper.y + room),
                       fmin(all.upper.z, core.upper.z + room)}};
}

/// The box that the camera of an observation looks at; a point for a target.
static void look(const stn_observation *o, stn_vec3 *middle, stn_vec3 *half) {
    const stn_camera *c = o->camera;
    stn_aabb box = nothing;
    if (c->aimed) {
        include(&box, c->target, c->target);
    }
    for (int32_t i = 0; i < c->follow_count; i++) {
        include_geometry(&box, o, c->follow[i]);
    }
    if (!c->aimed && c->follow_count == 0) {
        box = box_of_all(o);
    }
    if (!(box.lower.x <= box.upper.x)) {
        box = (stn_aabb){stn_vec3_zero(), stn_vec3_zero()};
    }
    *middle = stn_vec3_scale(0.5, stn_vec3_add(box.lower, box.upper));
    *half = stn_vec3_scale(0.5, stn_vec3_sub(box.upper, box.lower));
    if (stn_vec3_norm(*half) < SMALLEST) { // a point is seen from somewhere
        *half = stn_vec3_make(0.5, 0.5, 0.5);
    }
}

// -----------------------------------------------------------------------------------------------------------------
// path

static double between(double a, double b, double part) {
    return a + part * (b - a);
}

static stn_vec3 between_points(stn_vec3 a, stn_vec3 b, double part) {
    return stn_vec3_mul_add(a, part, stn_vec3_sub(b, a));
}

static camera_shot blend(const camera_shot *a, const camera_shot *b, double part) {
    return (camera_shot){.middle = between_points(a->middle, b->middle, part),
                         .half = between_points(a->half, b->half, part),
                         .azimuth =
                             between(a->azimuth, a->azimuth + remainder(b->azimuth - a->azimuth, 2.0 * STN_PI), part),
                         .elevation = between(a->elevation, b->elevation, part),
                         .field_of_view = between(a->field_of_view, b->field_of_view, part),
                         .distance = between(a->distance, b->distance, part),
                         .fitted = between(a->fitted, b->fitted, part)};
}

bool camera_path_take(camera_path *path, const stn_observation *o) {
    const stn_camera *c = o->camera;
    if (c == NULL) {
        return false;
    }
    stn_vec3 middle, half;
    look(o, &middle, &half);
    double passed = o->time - path->time;
    if (c->number != path->number) {
        bool first = path->number == 0;
        *path = (camera_path){.number = c->number, .begun = o->time, .time = o->time, .from = path->shot};
        path->goal =
            (camera_shot){middle, half, c->azimuth, c->elevation, c->field_of_view, c->distance, c->distance == 0.0};
        path->from = first ? path->goal : path->from;
    } else if (passed < 0.0 || c->smoothing == 0.0) { // the world was reset
        path->begun = fmin(path->begun, o->time);
        path->goal.middle = middle;
        path->goal.half = half;
    } else {
        double part = -expm1(-passed / c->smoothing);
        path->goal.middle = between_points(path->goal.middle, middle, part);
        path->goal.half = between_points(path->goal.half, half, part);
    }
    path->time = o->time;
    double done = c->seconds > 0.0 ? fmin((o->time - path->begun) / c->seconds, 1.0) : 1.0;
    path->shot = blend(&path->from, &path->goal, done * done * (3.0 - 2.0 * done));
    return true;
}

double camera_shot_distance(const camera_shot *shot, double aspect) {
    double vertical = (1.0 - MARGIN) * tan(0.5 * shot->field_of_view), horizontal = aspect * vertical;
    double ca = cos(shot->azimuth), sa = sin(shot->azimuth), ce = cos(shot->elevation), se = sin(shot->elevation);
    stn_vec3 back = {ce * ca, ce * sa, se}, right = {-sa, ca, 0.0}, up = stn_vec3_cross(back, right);
    double most = 0.0;
    for (int32_t k = 0; k < 8; k++) {
        stn_vec3 h = shot->half, corner = {k & 1 ? h.x : -h.x, k & 2 ? h.y : -h.y, k & 4 ? h.z : -h.z};
        double aside = fmax(fabs(stn_vec3_dot(corner, right)) / horizontal, fabs(stn_vec3_dot(corner, up)) / vertical);
        most = fmax(most, stn_vec3_dot(corner, back) + aside);
    }
    return between(shot->distance, most, shot->fitted);
}
