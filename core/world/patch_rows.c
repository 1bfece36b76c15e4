// SPDX-License-Identifier: Apache-2.0
// Rows of the faces of a patch. All of them have the same two bodies as supports: what the dofs do to these is computed
// once, and a face costs what it adds, its place and its frame. With T (6 x n) the Jacobian of the twist (omega, v) of
// B before A at a point c, and r = p - c,
//
//     J = E^T S T,   S = [-r x, 1] (3 x 6),      W_ii = E^T S (T A^-1 T^T) S^T E,   w = |W_ii|_F/3
//
// as assemble.c and inverse_mass.c have it for one contact after the other, up to rounding.
#include "problem/inverse.h"
#include "world/assemble.h"

bool make_patch_pair(const assembly *a, int32_t patch, patch_pair *pair) {
    const step_setup *setup = a->setup;
    step_frame *frame = a->frame;
    const stn_patch *faces = &frame->contacts.patches[patch];
    const stn_contact *first = &frame->contacts.contacts[faces->contact_start];
    const int32_t body[2] = {first->a.body, first->b.body};
    const stn_mat3 axes = stn_mat3_identity();
    *pair = (patch_pair){.patch = patch, .center = first->point};
    for (int32_t side = 0; side < 2; side++) {
        int32_t tree = stn_setup_is_kinematic(setup, body[side]) ? -1 : setup->model->bodies[body[side]].tree;
        int32_t slot = pair->count;
        if (tree < 0) {
            continue;
        }
        int32_t n = setup->model->trees[tree].nv;
        if (slot == 1 && pair->tree[0] == tree) {
            slot = 0;
        } else {
            pair->count++;
            pair->tree[slot] = tree;
            pair->n[slot] = n;
            pair->twist[slot] = STN_ARENA_ZEROED(frame->arena, 6 * n, double);
            pair->rows[slot] = STN_ARENA(frame->arena, 3 * (size_t)n * (size_t)faces->contact_count, double);
        }
        if (pair->twist[slot] == NULL || pair->rows[slot] == NULL) {
            return false;
        }
        double sign = side == 0 ? -1.0 : 1.0;
        stn_angular_jacobian_add(frame->kinematics, body[side], &axes, sign, pair->twist[slot]);
        stn_point_jacobian_add(frame->kinematics, body[side], pair->center, &axes, sign, pair->twist[slot] + 3 * n);
    }
    for (int32_t slot = 0; slot < pair->count; slot++) {
        const stn_jacobian J = {.tree = pair->tree[slot], .values = pair->twist[slot]};
        double *X = STN_ARENA(frame->arena, 6 * pair->n[slot], double);
        if (X == NULL) {
            return false;
        }
        inverse_half(inverse_scale(a->services->inverse), J.tree, &J, 6, X);
        inverse_add_square(6, pair->n[slot], X, pair->mobility);
    }
    return true;
}

/// Two dofs at a time.
typedef double pair_of_dofs __attribute__((vector_size(16), aligned(8), may_alias));

static inline pair_of_dofs two(const double *x) {
    return *(const pair_of_dofs *)x;
}

/// Rows (3 x n) of E^T S T, the rows of E^T S being C (6 each).
static void write_rows(size_t n, const double C[18], const double *T, double *rows) {
    const double *w1 = T, *w2 = w1 + n, *w3 = w2 + n, *v1 = w3 + n, *v2 = v1 + n, *v3 = v2 + n;
    for (int32_t a = 0; a < 3; a++, C += 6, rows += n) {
        const double c0 = C[0], c1 = C[1], c2 = C[2], c3 = C[3], c4 = C[4], c5 = C[5];
        size_t k = 0;
        for (; k + 2 <= n; k += 2) {
            pair_of_dofs turn = (c0 * two(w1 + k) + c1 * two(w2 + k)) + c2 * two(w3 + k);
            *(pair_of_dofs *)(rows + k) = turn + ((c3 * two(v1 + k) + c4 * two(v2 + k)) + c5 * two(v3 + k));
        }
        for (; k < n; k++) {
            rows[k] = ((c0 * w1[k] + c1 * w2[k]) + c2 * w3[k]) + ((c3 * v1[k] + c4 * v2[k]) + c5 * v3[k]);
        }
    }
}

/// Both masses are the same in all frames: of K = S M S^T, S = [-r x, 1], in world axes. S (omega, v) = v + omega x r.
static void find_masses(const double M[36], stn_vec3 r, stn_constraint *c) {
    stn_vec3 MS[6], K[3]; // rows of M S^T; of K, from the columns of MS
    for (int32_t i = 0; i < 6; i++) {
        const double *m = M + 6 * i;
        MS[i] = stn_vec3_add(stn_vec3_cross(stn_vec3_make(m[0], m[1], m[2]), r), stn_vec3_make(m[3], m[4], m[5]));
    }
    K[0] = stn_vec3_add(stn_vec3_cross(stn_vec3_make(MS[0].x, MS[1].x, MS[2].x), r),
                        stn_vec3_make(MS[3].x, MS[4].x, MS[5].x));
    K[1] = stn_vec3_add(stn_vec3_cross(stn_vec3_make(MS[0].y, MS[1].y, MS[2].y), r),
                        stn_vec3_make(MS[3].y, MS[4].y, MS[5].y));
    K[2] = stn_vec3_add(stn_vec3_cross(stn_vec3_make(MS[0].z, MS[1].z, MS[2].z), r),
                        stn_vec3_make(MS[3].z, MS[4].z, MS[5].z));
    double square = stn_vec3_dot(K[0], K[0]) + stn_vec3_dot(K[1], K[1]) + stn_vec3_dot(K[2], K[2]);
    c->w = sqrt(square) / 3.0;
    c->w_trace = K[0].x + K[1].y + K[2].z;
}

void add_face_rows(patch_pair *pair, stn_constraint *c) {
    stn_vec3 r = stn_vec3_sub(c->point, pair->center);
    double C[18];
    for (int32_t a = 0; a < 3; a++) {
        stn_vec3 e = stn_mat3_column(&c->frame, a), turn = stn_vec3_cross(r, e);
        C[6 * a + 0] = turn.x;
        C[6 * a + 1] = turn.y;
        C[6 * a + 2] = turn.z;
        C[6 * a + 3] = e.x;
        C[6 * a + 4] = e.y;
        C[6 * a + 5] = e.z;
    }
    for (int32_t slot = 0; slot < pair->count; slot++) {
        size_t n = (size_t)pair->n[slot];
        write_rows(n, C, pair->twist[slot], pair->rows[slot]);
        c->J[slot] = (stn_jacobian){.tree = pair->tree[slot], .values = pair->rows[slot]};
        pair->rows[slot] += 3 * n;
    }
    find_masses(pair->mobility, r, c);
}
