// SPDX-License-Identifier: Apache-2.0
// Scenes: spheres, boxes and capsules (and cylinders) of 0.2 to 0.5 m in equal parts, in random poses.
//
// The heap starts as a loose grid. Then, 60 times, all bodies are lowered by a bit, our own contacts are found, and
// displacements (dx, dtheta) are sought by projected Gauss-Seidel so that no contact is deeper than the slop:
//   phi_i + n_i . (dx_b + dtheta_b x r_b - dx_a - dtheta_a x r_a) >= -slop
// Another 90 times the same without lowering, so that what is still squeezed spreads. That is where a heap of
// frictionless bodies comes to rest, as far as the looks and the number of contacts go.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <stiction/contact.h>

#include "../../support/stn_random_pose.h"
#include "ours.h"
#include "scene.h"

static const double SPACING = 0.82, LOWERED = 0.02, SLOP = 1e-3; // [m]
enum { LOWERINGS = 60, ROUNDS = 150, SWEEPS = 20 };

static double random_part(stn_random *r, double low, double high) {
    return random_between(r, low, high);
}

static void store(stn_vec3 v, double out[3]) {
    out[0] = v.x;
    out[1] = v.y;
    out[2] = v.z;
}

static stn_quat turn(const double q[4]) {
    return (stn_quat){q[0], q[1], q[2], q[3]};
}

static void store_turn(stn_quat q, double out[4]) {
    out[0] = q.w;
    out[1] = q.x;
    out[2] = q.y;
    out[3] = q.z;
}

static void random_body(stn_random *r, scene_shape shape, scene_body *b) {
    *b = (scene_body){.shape = shape, .phase = random_between(r, 0.0, 2.0 * STN_PI)};
    for (int32_t k = 0; k < 3; k++) {
        b->size[k] = b->shape == SCENE_CAPSULE || b->shape == SCENE_CYLINDER ? random_part(r, 0.2, 0.3)
                                                                             : random_part(r, 0.3, 0.5);
    }
    store(stn_vec3_scale(5e-3, random_unit(r)), b->way);
    stn_vec3 u = stn_vec3_scale(random_between(r, 0.0, STN_PI), random_unit(r));
    store_turn(stn_quat_exp(u), b->at_home);
}

/// The first `shapes` in equal parts, none: hulls. They are dealt out in random order: in turn, a grid as wide as a
/// multiple of `shapes` would put each over its like.
static bool make_bodies(scene *s, int32_t count, int32_t shapes) {
    stn_random r = {11};
    *s = (scene){count, calloc((size_t)count, sizeof *s->bodies)};
    for (int32_t i = 0; s->bodies != NULL && i < count; i++) {
        int32_t j = (int32_t)random_between(&r, 0.0, i + 1.0);
        s->bodies[i].shape = s->bodies[j].shape;
        s->bodies[j].shape = shapes > 0 ? (scene_shape)(i % shapes) : SCENE_HULL;
    }
    for (int32_t i = 0; s->bodies != NULL && i < count; i++) {
        random_body(&r, s->bodies[i].shape, &s->bodies[i]);
    }
    return s->bodies != NULL;
}

void scene_corners(const scene_body *b, double corners[SCENE_CORNERS][3]) {
    stn_random r = {(uint64_t)(1e9 * b->phase)}; // each body has its own
    for (int32_t i = 0; i < SCENE_CORNERS; i++) {
        store(random_unit(&r), corners[i]);
        for (int32_t k = 0; k < 3; k++) {
            corners[i][k] *= b->size[k];
        }
    }
}

void scene_clear(scene *s) {
    free(s->bodies);
    s->bodies = NULL;
}

void scene_move(scene *s, int32_t step) {
    for (int32_t i = 0; i < s->count; i++) {
        scene_body *b = &s->bodies[i];
        double swing = sin(0.2 * step + b->phase);
        for (int32_t k = 0; k < 3; k++) {
            b->position[k] = b->home[k] + swing * b->way[k];
        }
        stn_quat tilt = stn_quat_exp(stn_vec3_make(2.0 * swing * b->way[1], 2.0 * swing * b->way[2], 0.0));
        store_turn(stn_quat_mul(tilt, turn(b->at_home)), b->quaternion);
    }
}

/// Half the height of a body as it stands.
static double half_height(const scene_body *b) {
    stn_quat q = turn(b->at_home);
    stn_mat3 rotation = stn_quat_matrix(q);
    const double *row = rotation.m[2];
    switch (b->shape) {
    case SCENE_SPHERE:
        return b->size[0];
    case SCENE_CAPSULE:
        return b->size[0] + fabs(row[2]) * b->size[1];
    default:
        return fabs(row[0]) * b->size[0] + fabs(row[1]) * b->size[1] + fabs(row[2]) * b->size[2];
    }
}

bool scene_spread(scene *s, int32_t count) {
    if (!make_bodies(s, count, SCENE_CAPSULE + 1)) {
        return false;
    }
    stn_random r = {12};
    int32_t side = (int32_t)ceil(sqrt(count));
    for (int32_t i = 0; i < count; i++) {
        scene_body *b = &s->bodies[i];
        stn_quat yaw = stn_quat_exp(stn_vec3_make(0.0, 0.0, random_between(&r, 0.0, STN_PI)));
        store_turn(b->shape == SCENE_CAPSULE // lies; boxes stand on a face
                       ? stn_quat_mul(yaw, stn_quat_exp(stn_vec3_make(0.5 * STN_PI, 0.0, 0.0)))
                       : yaw,
                   b->at_home);
        b->home[0] = 2.0 * (i % side) + random_between(&r, -0.2, 0.2);
        b->home[1] = 2.0 * (i / side) + random_between(&r, -0.2, 0.2);
        b->home[2] = half_height(b) - 1e-3;
        b->way[2] = 0.0;
        b->way[1] *= 1e-3; // tilts: a box stays on its face
    }
    return true;
}

/// Where the bodies are moved to in one round.
typedef struct shift {
    stn_vec3 linear, angular;
} shift;

/// One contact of the relaxation; body -1 is the ground.
static void correct(const scene *s, const stn_contact *c, shift *moves, double *pressed) {
    const int32_t body[2] = {c->geometry_a - 1, c->geometry_b - 1};
    stn_vec3 across[2] = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    double give = 0.0, phi = c->phi0 + SLOP;
    for (int32_t k = 0; k < 2; k++) {
        if (body[k] < 0) {
            continue;
        }
        const double *p = s->bodies[body[k]].home;
        stn_vec3 n = k == 0 ? stn_vec3_neg(c->normal) : c->normal;
        stn_vec3 arm = stn_vec3_sub(c->point, stn_vec3_make(p[0], p[1], p[2]));
        across[k] = stn_vec3_cross(arm, n);
        give += 1.0 + 12.0 * stn_vec3_dot(across[k], across[k]); // mass 1, inertia of a body of 0.45 m
        phi += stn_vec3_dot(n, moves[body[k]].linear) + stn_vec3_dot(across[k], moves[body[k]].angular);
    }
    double before = *pressed;
    *pressed = fmax(0.0, before - phi / give);
    for (int32_t k = 0; k < 2; k++) {
        if (body[k] >= 0) {
            shift *m = &moves[body[k]];
            m->linear = stn_vec3_mul_add(m->linear, (k == 0 ? -1.0 : 1.0) * (*pressed - before), c->normal);
            m->angular = stn_vec3_mul_add(m->angular, 12.0 * (*pressed - before), across[k]);
        }
    }
}

static void apply(scene *s, shift *moves, double lowered) {
    for (int32_t i = 0; i < s->count; i++) {
        scene_body *b = &s->bodies[i];
        stn_vec3 d = moves[i].linear, u = moves[i].angular;
        double most = stn_vec3_norm(u);
        u = stn_vec3_scale(most > 0.1 ? 0.1 / most : 1.0, u); // the contacts hold for small turns only
        b->home[0] += d.x;
        b->home[1] += d.y;
        b->home[2] += d.z;
        store_turn(stn_quat_normalize(stn_quat_mul(stn_quat_exp(u), turn(b->at_home))), b->at_home);
        moves[i] = (shift){.linear = {0.0, 0.0, -lowered}};
    }
}

static bool settle(scene *s) {
    void *ours = stiction_engine.create(s);
    shift *moves = calloc((size_t)s->count, sizeof *moves);
    double *pressed = NULL;
    bool ok = ours != NULL && moves != NULL;
    for (int32_t i = 0; ok && i < s->count; i++) {
        moves[i].linear.z = -LOWERED;
    }
    for (int32_t round = 0; ok && round < ROUNDS; round++) {
        for (int32_t i = 0; i < s->count; i++) {
            memcpy(s->bodies[i].position, s->bodies[i].home, sizeof s->bodies[i].home);
            memcpy(s->bodies[i].quaternion, s->bodies[i].at_home, sizeof s->bodies[i].at_home);
        }
        stiction_engine.place(ours, s);
        stiction_engine.detect(ours);
        const stn_contact_set *set = our_contacts(ours);
        free(pressed);
        pressed = calloc((size_t)set->count + 1, sizeof *pressed);
        ok = pressed != NULL;
        for (int32_t k = 0; ok && k < SWEEPS * set->count; k++) {
            correct(s, &set->contacts[k % set->count], moves, &pressed[k % set->count]);
        }
        apply(s, moves, round < LOWERINGS ? LOWERED : 0.0);
    }
    free(pressed);
    free(moves);
    if (ours != NULL) {
        stiction_engine.destroy(ours);
    }
    return ok;
}

/// `side` bodies along each side.
static bool pile(scene *s, int32_t count, int32_t side, int32_t shapes) {
    if (!make_bodies(s, count, shapes)) {
        return false;
    }
    for (int32_t i = 0; i < count; i++) {
        scene_body *b = &s->bodies[i];
        b->home[0] = SPACING * (i % side);
        b->home[1] = SPACING * (i / side % side);
        b->home[2] = SPACING * (0.7 + i / side / side);
    }
    return settle(s);
}

bool scene_pile(scene *s, int32_t count) {
    return pile(s, count, (int32_t)ceil(cbrt(2.0 * count)), SCENE_CAPSULE + 1);
}

bool scene_pile_cylinders(scene *s, int32_t count) {
    return pile(s, count, (int32_t)ceil(cbrt(2.0 * count)), SCENE_CYLINDER + 1);
}

bool scene_pile_hulls(scene *s, int32_t count) {
    return pile(s, count, (int32_t)ceil(cbrt(2.0 * count)), 0);
}

bool scene_layer(scene *s, int32_t count) {
    return pile(s, count, (int32_t)ceil(sqrt(count / 4.0)), SCENE_CAPSULE + 1);
}
