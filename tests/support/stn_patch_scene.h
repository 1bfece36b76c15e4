// SPDX-License-Identifier: Apache-2.0
// Contact problems of patches: many compliant faces between two bodies, far more rows than dofs.
#ifndef STN_PATCH_SCENE_H
#define STN_PATCH_SCENE_H

#include "stn_scene.h"

enum { PATCH_DOFS = 8 }; // most of a tree here

static const double patch_gravity = 9.81;

/// One side of a face: sign times the Jacobian (3 x n) of its point, in world axes.
typedef struct patch_side {
    int32_t tree, n; // tree -1: the world
    double J[3 * PATCH_DOFS];
} patch_side;

/// Point at `r` from the reference of a body whose six velocities are the tree's first: v + omega x r; one dof more
/// when `axis` >= 0, along `direction`.
static inline patch_side patch_point(int32_t tree, int32_t n, stn_vec3 r, int32_t axis, stn_vec3 direction) {
    patch_side side = {.tree = tree, .n = n};
    const double spin[3][3] = {{0.0, r.z, -r.y}, {-r.z, 0.0, r.x}, {r.y, -r.x, 0.0}};
    const double extra[3] = {direction.x, direction.y, direction.z};
    for (int32_t a = 0; a < 3; a++) {
        side.J[a * n + a] = 1.0;
        memcpy(side.J + a * n + 3, spin[a], sizeof spin[a]);
        if (axis >= 0) {
            side.J[a * n + axis] = extra[a];
        }
    }
    return side;
}

/// A face of area A on a foundation of gradient g at `depth` (k = A g, phi0 = -depth), normal from a into b.
static inline stn_constraint *patch_face(scene *s, const patch_side *a, const patch_side *b, stn_vec3 normal, double k,
                                         double depth, int32_t patch) {
    stn_mat3 frame = stn_contact_frame(normal);
    double J[2][3 * PATCH_DOFS] = {{0.0}};
    const patch_side *sides[2] = {a, b};
    for (int32_t e = 0; e < 2; e++) {
        int32_t n = sides[e]->n;
        for (int32_t r = 0; r < 3; r++) {
            stn_vec3 t = stn_mat3_column(&frame, r);
            for (int32_t d = 0; d < n; d++) {
                const double *x = sides[e]->J;
                J[e][r * n + d] = (e == 0 ? -1.0 : 1.0) * (t.x * x[d] + t.y * x[n + d] + t.z * x[2 * n + d]);
            }
        }
    }
    bool world = a->tree < 0;
    stn_constraint *c =
        scene_constraint(s, 3, world ? b->tree : a->tree, J[world], world ? -1 : b->tree, world ? NULL : J[1]);
    c->stiffness = k;
    c->phi0 = -depth;
    c->patch = patch;
    c->frame = frame;
    return c;
}

static inline int32_t patch_free_body(scene *s, double mass, double inertia) {
    double A[36] = {0.0};
    for (int32_t i = 0; i < 6; i++) {
        A[7 * i] = i < 3 ? mass : inertia;
    }
    return scene_tree(s, 6, A);
}

/// A box of 1 kg, 0.1 m, that slides and spins on a slab of 5 kg on the ground; two patches of side x side faces.
static inline stn_problem *scene_patch_slab(scene *s, int32_t side, double speed) {
    const double L = 0.1, gradient = 1e8, dt = 2e-3;
    int32_t slab = patch_free_body(s, 5.0, 0.05), box = patch_free_body(s, 1.0, 1.7e-3);
    const patch_side world = {.tree = -1};
    const stn_vec3 up = {0.0, 0.0, 1.0};
    double k = gradient * (L / side) * (L / side), sunk = patch_gravity / (gradient * L * L);
    for (int32_t i = 0; i < side * side; i++) {
        double x = ((i % side + 0.5) / side - 0.5) * L, y = ((int32_t)(i / side) + 0.5) / side * L - 0.5 * L;
        patch_side top = patch_point(slab, 6, stn_vec3_make(x, y, 0.02), -1, up);
        patch_side bottom = patch_point(slab, 6, stn_vec3_make(x, y, -0.02), -1, up);
        patch_side foot = patch_point(box, 6, stn_vec3_make(x, y, -0.05), -1, up);
        patch_face(s, &top, &foot, up, k, sunk * (1.0 + 8.0 * x), 0);
        patch_face(s, &world, &bottom, up, k, 6.0 * sunk, 1);
    }
    stn_problem *p = scene_finish(s);
    const double v0[12] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, speed, 0.0, 0.0, 0.0, 0.0, 20.0 * speed};
    p->dt = dt;
    for (int32_t i = 0; i < p->nv; i++) {
        p->v0[i] = p->v_guess[i] = v0[i];
        p->v_star[i] = v0[i] - (i % 6 == 2 ? patch_gravity * dt : 0.0);
    }
    return p;
}

/// Two fingers on a hand (8 dofs: the hand's six velocities, one slide of each finger) hold 0.5 kg between two pads of
/// side x side faces, pressed by `grip` N; pressure falls off towards the corners.
static inline stn_problem *scene_patch_gripper(scene *s, int32_t side, double grip, double twist) {
    const double L = 0.02, gradient = 1e8, dt = 2e-3, masses[2] = {2.0, 0.2}; // hand, finger
    double A[PATCH_DOFS * PATCH_DOFS] = {0.0};
    for (int32_t i = 0; i < 6; i++) { // and what holds the hand, implicit in time
        A[(PATCH_DOFS + 1) * i] = i < 3 ? masses[0] + 50.0 * dt : 0.01 + 2.0 * dt;
    }
    for (int32_t finger = 0; finger < 2; finger++) {
        double out = finger == 0 ? -1.0 : 1.0;
        patch_side x =
            patch_point(0, PATCH_DOFS, stn_vec3_make(0.03 * out, 0.0, -0.1), 6 + finger, stn_vec3_make(-out, 0.0, 0.0));
        for (int32_t i = 0; i < PATCH_DOFS * PATCH_DOFS; i++) {
            int32_t a = i / PATCH_DOFS, b = i % PATCH_DOFS;
            A[i] += masses[1] * (x.J[a] * x.J[b] + x.J[8 + a] * x.J[8 + b] + x.J[16 + a] * x.J[16 + b]);
        }
    }
    int32_t hand = scene_tree(s, PATCH_DOFS, A), held = patch_free_body(s, 0.5, 1e-3);
    double k = gradient * (L / side) * (L / side), sunk = grip / (gradient * L * L);
    for (int32_t i = 0; i < 2 * side * side; i++) {
        int32_t finger = i / (side * side), f = i % (side * side);
        double out = finger == 0 ? -1.0 : 1.0;
        double y = ((f % side + 0.5) / side - 0.5) * L, z = ((int32_t)(f / side) + 0.5) / side * L - 0.5 * L;
        stn_vec3 in = stn_vec3_make(-out, 0.0, 0.0);
        patch_side pad = patch_point(hand, PATCH_DOFS, stn_vec3_make(0.03 * out, y, z - 0.1), 6 + finger, in);
        patch_side skin = patch_point(held, 6, stn_vec3_make(0.03 * out, y, z + 0.03), -1, in);
        patch_face(s, &pad, &skin, in, k, sunk * (1.6 - 4.0 * (y * y + z * z) / (L * L)), finger);
    }
    stn_problem *p = scene_finish(s);
    p->dt = dt;
    for (int32_t i = 6; i < PATCH_DOFS; i++) {
        p->v_star[i] = grip * dt / masses[1]; // the hand's own share of it is left out
    }
    p->v_star[PATCH_DOFS + 2] = -patch_gravity * dt;
    p->v_star[PATCH_DOFS + 3] = twist;
    return p;
}

#endif
