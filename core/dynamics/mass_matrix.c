// SPDX-License-Identifier: Apache-2.0
// Mass matrices: of one free body here, of a cloud of nodes, and of articulated trees by the kernel.
#include <string.h>

#include "base/ltl.h"
#include "dynamics/tree_kernels.h"

/// The inertias of what each dof is the last to move, [I, h x; -h x, m], rotors, and the diagonal.
static void articulated_masses(const kinematics_object *k, int32_t tree, stn_matrix *M) {
    const stn_tree *t = &k->face.model->trees[tree];
    for (int32_t b = t->body_start; b < t->body_start + t->body_count; b++) {
        const body_plan *plan = &k->plan[b];
        if (plan->nv == 0) { // it does not move
            continue;
        }
        double *out = M->values + 48 * (size_t)plan->dof;
        for (int32_t d = 0; d < plan->nv - 1; d++, out += 48) { // a later dof moves it, too
            memset(out, 0, 48 * sizeof *out);
        }
        const inertia *I = &k->inertia[b];
        const double *h = I->moment, m = h[3];
        const double block[6][8] = {
            {I->turning[0][0], I->turning[1][0], I->turning[2][0], 0.0, -h[2], h[1]},
            {I->turning[0][1], I->turning[1][1], I->turning[2][1], h[2], 0.0, -h[0]},
            {I->turning[0][2], I->turning[1][2], I->turning[2][2], -h[1], h[0], 0.0},
            {0.0, h[2], -h[1], m, 0.0, 0.0},
            {-h[2], 0.0, h[0], 0.0, m, 0.0},
            {h[1], -h[0], 0.0, 0.0, 0.0, m},
        };
        memcpy(out, block, sizeof block);
    }
    memcpy(articulated_extra(M), k->rotor + t->v_start, (size_t)t->nv * sizeof *k->rotor);
    k->kernels->mass_diagonal(k, tree, articulated_diagonal(M));
}

static inline void put_row(double *row, double a, double b, double c, double d, double e, double f) {
    row[0] = a;
    row[1] = b;
    row[2] = c;
    row[3] = d;
    row[4] = e;
    row[5] = f;
}

void stn_mass_matrix(const stn_kinematics *kinematics, int32_t tree, stn_matrix *M) {
    const stn_model *model = kinematics->model;
    const kinematics_object *k = kinematics_object_of(kinematics);
    const stn_tree *t = &model->trees[tree];
    if (t->kind == STN_TREE_NODAL && t->node_type == STN_NODE_FRAME) {
        memset(M->values, 0, (size_t)stn_matrix_value_count(M) * sizeof *M->values);
        for (int32_t i = 0; i < t->node_count; i++) {
            const double m = model->node_mass[t->node_start + i];
            const stn_mat3 I = stn_node_inertia(kinematics, t->node_start + i);
            for (int32_t r = M->row_start[i]; r < M->row_start[i + 1]; r++) {
                double *block = M->values + 36 * (size_t)r;
                for (int32_t e = 0; e < 9 && M->column[r] == i; e++) {
                    block[6 * (e / 3) + e % 3] = e % 4 == 0 ? m : 0.0;
                    block[6 * (3 + e / 3) + 3 + e % 3] = I.m[e / 3][e % 3];
                }
            }
        }
    } else if (t->kind == STN_TREE_NODAL) {
        const double *node_mass = model->node_mass;
        for (int32_t i = 0; i < t->node_count; i++) {
            const double lumped = node_mass[t->node_start + i];
            if (M->form == STN_MATRIX_DIAGONAL) {
                M->values[3 * i] = M->values[3 * i + 1] = M->values[3 * i + 2] = lumped;
                continue;
            }
            for (int32_t r = M->row_start[i]; r < M->row_start[i + 1]; r++) {
                double *block = M->values + 9 * (size_t)r;
                memset(block, 0, 9 * sizeof *block);
                block[0] = block[4] = block[8] = t->mass != NULL ? t->mass[r] : M->column[r] == i ? lumped : 0.0;
            }
        }
    } else if (t->body_count == 1 && k->plan[t->body_start].free_root) {
        // M of one body on S = 1: [m 1, -h x; h x, I] on (linear, angular).
        const inertia *i = &k->inertia[t->body_start];
        const double m = i->moment[3], x = i->moment[0], y = i->moment[1], z = i->moment[2];
        const double(*I)[4] = i->turning;
        double *row = M->values;
        put_row(row, m, 0.0, 0.0, 0.0, z, -y);
        put_row(row + 6, 0.0, m, 0.0, -z, 0.0, x);
        put_row(row + 12, 0.0, 0.0, m, y, -x, 0.0);
        put_row(row + 18, 0.0, -z, y, I[0][0], I[1][0], I[2][0]);
        put_row(row + 24, z, 0.0, -x, I[1][0], I[1][1], I[2][1]);
        put_row(row + 30, -y, x, 0.0, I[2][0], I[2][1], I[2][2]);
    } else if (M->form == STN_MATRIX_ARTICULATED) {
        articulated_masses(k, tree, M);
    } else {
        k->kernels->mass_matrix(k, tree, M->values);
    }
}

void stn_tree_motion(const stn_kinematics *kinematics, int32_t tree, double *motion) {
    const stn_tree *t = &kinematics->model->trees[tree];
    for (int32_t d = 0; d < t->nv; d++, motion += 8) {
        memcpy(motion, &kinematics->motion[t->v_start + d], 6 * sizeof *motion);
        motion[6] = motion[7] = 0.0;
    }
}
