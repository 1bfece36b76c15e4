// SPDX-License-Identifier: Apache-2.0
// Sizes of the shapes of a world, and where it began. Overlap, move and distance of its steps beside them.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <stiction/dynamics.h>

#include "common/verdict.h"

struct stn_scene {
    double *slimness;     // (geometries) 1/smallest extent [1/m], 0 where there is none
    double *shortness;    // (bodies) 1/largest extent of what collides [1/m]; 0: nothing does, or it is kinematic
    stn_aabb box, moving; // of all that collides and has an end, and of what of it moves, at the start
    double size;          // diagonal of the box, but at most ten times that of what moves [m]; 0: nothing moves
    double reach;         // the size, without any that of the centres of mass and the world's origin [m]
    double mass;          // of all bodies [kg]
    int32_t owner;        // a body that collides, -1: none
    bool meets;           // several do, so that one may miss the other
    bool anchored;        // something that collides is fixed to the world
    double speed;         // the fastest that a body was set to [m/s]
    double time;          // that the steps took [s]
};

static const stn_pose origin = {{{{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}}}, {0.0, 0.0, 0.0}};

static bool has_end(const stn_aabb *box) {
    return stn_vec3_finite(box->lower) && stn_vec3_finite(box->upper);
}

static void unite(stn_aabb *sum, const stn_aabb *box) {
    sum->lower = stn_vec3_make(fmin(sum->lower.x, box->lower.x), fmin(sum->lower.y, box->lower.y),
                               fmin(sum->lower.z, box->lower.z));
    sum->upper = stn_vec3_make(fmax(sum->upper.x, box->upper.x), fmax(sum->upper.y, box->upper.y),
                               fmax(sum->upper.z, box->upper.z));
}

static double diagonal(const stn_aabb *box) {
    return has_end(box) ? stn_vec3_norm(stn_vec3_sub(box->upper, box->lower)) : 0.0;
}

stn_status stn_scene_create(stn_context *context, stn_world *world, stn_scene **out, stn_error *err) {
    const stn_model *model = stn_world_model(world);
    const stn_kinematics *k = stn_world_kinematics(world);
    size_t numbers = (size_t)model->geometry_count + (size_t)model->body_count;
    stn_scene *s = stn_allocate(context, 1, sizeof *s + numbers * sizeof(double));
    if (s == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "run statistics: out of memory");
    }
    s->slimness = (double *)(s + 1);
    s->shortness = s->slimness + model->geometry_count;
    const double none = (double)INFINITY;
    s->owner = -1;
    s->box = s->moving = (stn_aabb){{none, none, none}, {-none, -none, -none}};
    for (int32_t i = 0; i < model->geometry_count; i++) {
        const stn_geometry *g = &model->geometries[i];
        if (g->collision && g->body >= 0) {
            // how thin the shape is, and how long its body becomes by it
            stn_aabb own = stn_shape_aabb(&g->shape, &origin, 0.0);
            stn_vec3 extent = stn_vec3_sub(own.upper, own.lower);
            bool sheet = g->shape.type == STN_SHAPE_MESH && g->shape.mesh != NULL && g->shape.mesh->solid.mass == 0.0;
            double thin = sheet ? 0.0 : fmin(extent.x, fmin(extent.y, extent.z)), length = stn_vec3_norm(extent);
            s->slimness[i] = thin > 0.0 && isfinite(thin) ? 1.0 / thin : 0.0;
            bool told = g->body > 0 && model->joints[model->bodies[g->body].joint].type == STN_JOINT_KINEMATIC;
            if (g->body > 0 && !told && isfinite(length) && length > 0.0) {
                double *shortness = &s->shortness[g->body];
                *shortness = *shortness == 0.0 ? 1.0 / length : fmin(*shortness, 1.0 / length);
            }
            stn_pose pose = stn_pose_mul(&k->body_pose[g->body], &g->pose);
            stn_aabb box = stn_shape_aabb(&g->shape, &pose, 0.0);
            s->anchored = s->anchored || g->body == 0;
            s->meets = s->meets || (s->owner >= 0 && s->owner != g->body);
            s->owner = g->body;
            if (has_end(&box)) {
                unite(&s->box, &box);
            }
            if (has_end(&box) && s->shortness[g->body] > 0.0) {
                unite(&s->moving, &box);
            }
        }
    }
    s->size = fmin(diagonal(&s->box), 10.0 * diagonal(&s->moving));
    stn_aabb masses = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    for (int32_t b = 1; b < model->body_count; b++) {
        stn_vec3 point = stn_pose_apply(&k->body_pose[b], model->bodies[b].mass.com);
        unite(&masses, &(stn_aabb){point, point});
        s->mass += model->bodies[b].mass.mass;
    }
    s->reach = s->size > 0.0 ? s->size : diagonal(&masses);
    *out = s;
    return STN_OK;
}

void stn_scene_destroy(stn_context *context, stn_scene *scene) {
    stn_release(context, scene);
}

double stn_scene_shift(const stn_scene *s, stn_vec3 gravity) {
    double travel = 0.05 * s->reach, speed = s->time > 0.0 ? travel / s->time : 0.0;
    return s->mass * (stn_vec3_norm(gravity) * travel + 0.5 * speed * speed);
}

/// Of the origin of a body.
static stn_vec3 velocity_of(const stn_model *model, const stn_kinematics *k, int32_t body) {
    const stn_spatial *v = &k->body_velocity[body];
    stn_vec3 arm = stn_vec3_sub(k->body_pose[body].position, k->reference[model->bodies[body].tree]);
    return stn_vec3_add(v->linear, stn_vec3_cross(v->angular, arm));
}

void stn_scene_note_speeds(stn_scene *s, stn_world *world) {
    const stn_model *model = stn_world_model(world);
    const stn_kinematics *k = stn_world_kinematics(world);
    for (int32_t b = 1; b < model->body_count; b++) {
        s->speed = fmax(s->speed, stn_vec3_norm(velocity_of(model, k, b)));
    }
}

/// "group/link", or the one name where both are the same.
static void name_body(const stn_model *model, int32_t body, char *text, size_t size) {
    int32_t group = body > 0 ? model->bodies[body].group : -1;
    const char *link = body > 0 ? model->bodies[body].name : "the world";
    const char *owner = group >= 0 ? model->groups[group].name : "";
    bool alone = owner[0] == '\0' || strcmp(owner, link) == 0;
    snprintf(text, size, "%.34s%s%.34s", alone ? "" : owner, alone ? "" : "/", link);
}

/// The same of what a shape is on; of nodes the name of their cloud.
static void name_owner(const stn_model *model, int32_t geometry, char *text, size_t size) {
    const stn_geometry *g = &model->geometries[geometry];
    if (g->body >= 0) {
        name_body(model, g->body, text, size);
        return;
    }
    const char *cloud = model->trees[model->node_tree[g->node]].name;
    snprintf(text, size, "%.70s", cloud[0] != '\0' ? cloud : "a deformable");
}

// ----------------------------------------------------------------------------------------------------------- overlap

static void note_pair(const stn_observation *o, int32_t a, int32_t b, double depth, double ratio, stn_figure *worst) {
    if (ratio <= worst->ratio) {
        return;
    }
    char text_a[72], text_b[72];
    name_owner(o->model, a, text_a, sizeof text_a);
    name_owner(o->model, b, text_b, sizeof text_b);
    *worst = (stn_figure){.value = depth, .ratio = ratio, .time = o->time - o->dt};
    snprintf(worst->what, sizeof worst->what, "%.71s and %.71s", text_a, text_b);
}

/// Of the shapes, or of those of the two that are soft, 1/extent of the thinner one. A soft point may be pressed in by
/// twice as much as a rigid one; the depth of a face of a patch is that of the pressure, and may be the whole layer.
static double slimness_of(const stn_scene *s, const stn_model *model, const stn_contact *c) {
    double a = s->slimness[c->geometry_a], b = s->slimness[c->geometry_b];
    if (c->patch >= 0) {
        bool soft_a = isfinite(model->geometries[c->geometry_a].material.modulus);
        bool soft_b = isfinite(model->geometries[c->geometry_b].material.modulus);
        a = soft_a || !soft_b ? a : 0.0;
        b = soft_b || !soft_a ? b : 0.0;
    }
    return (c->patch >= 0 ? 0.25 : isfinite(c->material.stiffness) ? 0.5 : 1.0) * fmax(a, b);
}

// -------------------------------------------------------------------------------------------------- move and distance

static void note_body(const stn_observation *o, int32_t body, double value, double ratio, stn_figure *worst) {
    *worst = (stn_figure){.value = value, .ratio = ratio, .time = o->time};
    name_body(o->model, body, worst->what, sizeof worst->what);
}

static bool touches(const stn_observation *o, int32_t body) {
    for (int32_t i = 0; i < o->contacts->count; i++) {
        const stn_contact *c = &o->contacts->contacts[i];
        if (c->a.body == body || c->b.body == body) {
            return true;
        }
    }
    return false;
}

/// Is there ground without end below?
static bool is_above_ground(const stn_observation *o, stn_vec3 point, stn_vec3 down) {
    for (int32_t i = 0; i < o->model->geometry_count; i++) {
        const stn_geometry *g = &o->model->geometries[i];
        if (!g->collision || g->body != 0 || g->shape.type != STN_SHAPE_HALF_SPACE) {
            continue;
        }
        stn_vec3 normal = stn_mat3_column(&g->pose.rotation, 2);
        if (stn_vec3_dot(normal, down) < 0.0 && stn_vec3_dot(normal, stn_vec3_sub(point, g->pose.position)) > 0.0) {
            return true;
        }
    }
    return false;
}

/// How far a point is below or above the box along `down`.
static double height_beyond(const stn_aabb *box, stn_vec3 point, stn_vec3 down, bool *below) {
    stn_vec3 centre = stn_vec3_scale(0.5, stn_vec3_add(box->lower, box->upper));
    stn_vec3 half = stn_vec3_scale(0.5, stn_vec3_sub(box->upper, box->lower));
    double reach = fabs(half.x * down.x) + fabs(half.y * down.y) + fabs(half.z * down.z);
    double depth = stn_vec3_dot(stn_vec3_sub(point, centre), down);
    *below = depth > 0.0;
    return fabs(depth) - reach;
}

void stn_scene_observe(stn_scene *s, const stn_observation *o, stn_vec3 gravity, stn_figure *figures) {
    s->time += o->dt;
    stn_figure *farthest = &figures[STN_FIGURE_MOVE];
    for (int32_t b = 1; b < o->model->body_count && s->meets; b++) {
        if (s->shortness[b] > 0.0) {
            double travel = o->dt * stn_vec3_norm(velocity_of(o->model, o->kinematics, b));
            if (travel * s->shortness[b] > farthest->ratio) {
                note_body(o, b, travel, travel * s->shortness[b], farthest);
            }
        }
    }
    if (o->contacts == NULL) {
        return;
    }
    stn_figure *deepest = &figures[STN_FIGURE_OVERLAP];
    for (int32_t i = 0; i < o->contacts->count; i++) {
        const stn_contact *c = &o->contacts->contacts[i];
        double ratio = c->phi0 < 0.0 ? -c->phi0 * slimness_of(s, o->model, c) : 0.0;
        if (ratio > deepest->ratio) {
            note_pair(o, c->geometry_a, c->geometry_b, -c->phi0, ratio, deepest);
        }
    }
    const int32_t *bare = o->report->bare_geometry;
    double depth = o->report->overlap_without_contact_m;
    if (depth > 0.0) {
        note_pair(o, bare[0], bare[1], depth, depth * fmax(s->slimness[bare[0]], s->slimness[bare[1]]), deepest);
    }
    if (s->anchored && s->size > 0.0 && (gravity.x != 0.0 || gravity.y != 0.0 || gravity.z != 0.0)) {
        stn_figure *worst = &figures[STN_FIGURE_DISTANCE];
        double g = stn_vec3_norm(gravity), thrown = 2.0 * s->speed * s->time;
        stn_vec3 down = stn_vec3_scale(1.0 / g, gravity);
        for (int32_t b = 1; b < o->model->body_count; b++) {
            bool below;
            stn_vec3 point = o->kinematics->body_pose[b].position;
            double away = height_beyond(&s->box, point, down, &below), ratio = (away - thrown) / s->size;
            if (s->shortness[b] > 0.0 && ratio > worst->ratio && !(below && is_above_ground(o, point, down)) &&
                !touches(o, b)) {
                note_body(o, b, away, ratio, worst);
            }
        }
    }
}
