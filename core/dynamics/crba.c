// SPDX-License-Identifier: Apache-2.0
// Joint-space mass matrix by composite bodies: M_kl = S_l . (I^c_i S_k) for every dof k of joint i and every dof l of
// the joints from i down to the root, I^c_i the inertia of body i with all that it carries. All at the tree's reference
// point, so composites add without being moved.
#include <string.h>

#include "dynamics/kinematics.h"

/// M of one body on S = 1: [m 1, -h x; h x, I] on (linear, angular).
static void fill_free_body(const inertia *i, double *M, int32_t n) {
    const double m = i->mass, x = i->h.x, y = i->h.y, z = i->h.z;
    const double values[6][6] = {
        {m, 0.0, 0.0, 0.0, z, -y},         {0.0, m, 0.0, -z, 0.0, x},         {0.0, 0.0, m, y, -x, 0.0},
        {0.0, -z, y, i->xx, i->xy, i->xz}, {z, 0.0, -x, i->xy, i->yy, i->yz}, {-y, x, 0.0, i->xz, i->yz, i->zz},
    };
    for (int32_t r = 0; r < 6; r++) {
        memcpy(M + (size_t)r * (size_t)n, values[r], sizeof values[r]);
    }
}

static void inertia_add_to(inertia *sum, const inertia *a) {
    sum->mass += a->mass;
    sum->h = stn_vec3_add(sum->h, a->h);
    sum->xx += a->xx;
    sum->yy += a->yy;
    sum->zz += a->zz;
    sum->xy += a->xy;
    sum->xz += a->xz;
    sum->yz += a->yz;
}

/// M[row][column] and its mirror image.
static inline void set(double *M, int32_t n, int32_t row, int32_t column, double value) {
    M[(size_t)row * (size_t)n + (size_t)column] = value;
    M[(size_t)column * (size_t)n + (size_t)row] = value;
}

/// Entries of one dof with its own joint up to it, and with all joints below.
static void fill_row(const kinematics_object *k, int32_t body, int32_t j, int32_t n, double *M) {
    const body_plan *plans = k->plan, *plan = &plans[body];
    const stn_spatial *motion = k->face.motion;
    stn_spatial F = inertia_apply(&k->composite[body], &motion[plan->v + j]);
    int32_t row = plan->dof + j;
    for (int32_t l = 0; l <= j; l++) {
        set(M, n, row, plan->dof + l, spatial_dot(&motion[plan->v + l], &F));
    }
    for (int32_t i = plan->parent; i > 0; i = plans[i].parent) {
        const body_plan *below = &plans[i];
        if (below->free_root) {
            const double column[6] = {F.linear.x, F.linear.y, F.linear.z, F.angular.x, F.angular.y, F.angular.z};
            for (int32_t l = 0; l < 6; l++) {
                set(M, n, row, below->dof + l, column[l]);
            }
            return;
        }
        for (int32_t l = 0; l < below->nv; l++) {
            set(M, n, row, below->dof + l, spatial_dot(&motion[below->v + l], &F));
        }
    }
}

static void fill_articulated(const kinematics_object *k, const stn_tree *tree, double *M) {
    const body_plan *plans = k->plan;
    int32_t begin = tree->body_start, end = begin + tree->body_count, n = tree->nv;
    if (tree->body_count == 1 && plans[begin].free_root) {
        fill_free_body(&k->inertia[begin], M, n);
        return;
    }
    memset(M, 0, (size_t)n * (size_t)n * sizeof *M);
    memcpy(k->composite + begin, k->inertia + begin, (size_t)tree->body_count * sizeof *k->composite);
    for (int32_t i = end - 1; i >= begin; i--) {
        const body_plan *plan = &plans[i];
        if (plan->parent > 0) {
            inertia_add_to(&k->composite[plan->parent], &k->composite[i]);
        }
        if (plan->free_root) {
            fill_free_body(&k->composite[i], M + (size_t)plan->dof * (size_t)n + plan->dof, n);
            continue;
        }
        for (int32_t j = 0; j < plan->nv; j++) {
            fill_row(k, i, j, n, M);
        }
        double rotor = k->face.model->joints[plan->joint].reflected_inertia;
        for (int32_t j = 0; rotor > 0.0 && j < plan->nv; j++) {
            M[(size_t)(plan->dof + j) * (size_t)(n + 1)] += rotor;
        }
    }
}

static void fill_nodal(const stn_tree *tree, const double *node_mass, stn_matrix *M) {
    for (int32_t i = 0; i < tree->node_count; i++) {
        double m = node_mass[tree->node_start + i];
        if (M->form == STN_MATRIX_DIAGONAL) {
            M->values[3 * i] = M->values[3 * i + 1] = M->values[3 * i + 2] = m;
            continue;
        }
        for (int32_t r = M->row_start[i]; r < M->row_start[i + 1]; r++) {
            double *block = M->values + 9 * (size_t)r;
            memset(block, 0, 9 * sizeof *block);
            if (M->column[r] == i) {
                block[0] = block[4] = block[8] = m;
            }
        }
    }
}

void stn_mass_matrix(const stn_kinematics *kinematics, int32_t tree, stn_matrix *M) {
    const stn_model *model = kinematics->model;
    const stn_tree *t = &model->trees[tree];
    if (t->kind == STN_TREE_NODAL) {
        fill_nodal(t, model->node_mass, M);
    } else {
        fill_articulated(kinematics_object_of(kinematics), t, M->values);
    }
}
