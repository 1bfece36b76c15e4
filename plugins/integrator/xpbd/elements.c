// SPDX-License-Identifier: Apache-2.0
// Elements in a sub-step, one after the other (Gauss-Seidel), each projected once with multipliers that begin at zero.
//
// XPBD [macklin-2016] projects an element of energy C^T alpha^-1 C/2 with G = dC/dx, at = alpha/h^2, by
//
//     dx = M^-1 G^T dlambda,   (G M^-1 G^T + at) dlambda = -C .
//
// By Woodbury's identity this is the implicit step of the element alone, over its own nodes with their whole mass,
//
//     (M + h^2 K) dx = h^2 f,   K = G^T alpha^-1 G,   f = -G^T alpha^-1 C,
//
// and with the damping D it is (M + h^2 K + h D) du = h f in velocities, f at the positions and velocities that the
// elements before have left. So any plugin that gives f, K and D is projected without naming its C. What K lacks of the
// second derivative XPBD lacks, too.
#include <math.h>
#include <string.h>

#include <stiction/plugin.h>

#include "substep.h"

enum { MOST_NQ = 7 * STN_ELEMENT_NODES, MOST = 6 * STN_ELEMENT_NODES };

struct element_room {
    double x[MOST_NQ], v[MOST], force[MOST], K[MOST * MOST], D[MOST * MOST];
    double A[MOST * MOST], du[MOST]; // of the nodes that move, each once
    double *next_state;              // nobody reads it
};

element_room *element_room_make(const stn_integrator_view *view) {
    element_room *room = STN_ARENA(view->arena, 1, element_room);
    int32_t most = 0;
    for (int32_t g = 0; g < view->model->element_group_count; g++) {
        const stn_element_ops *ops = view->model->element_groups[g].instance->desc->ops.element;
        most = ops->state_count > most ? ops->state_count : most;
    }
    if (room != NULL) {
        room->next_state = STN_ARENA(view->arena, most + 1, double);
    }
    return room != NULL && room->next_state != NULL ? room : NULL;
}

/// Where an element's nodes are, and which unknowns of its system are theirs.
typedef struct element_nodes {
    int32_t count, nq, nv;
    int32_t node[STN_ELEMENT_NODES];  // of the model
    int32_t place[STN_ELEMENT_NODES]; // first unknown; -1: its motion is known
    bool repeated[STN_ELEMENT_NODES]; // an earlier one of the element is the same
    int32_t unknowns;
} element_nodes;

static element_nodes find_nodes(const stn_model *model, const stn_element_group *group, int32_t e) {
    const stn_tree *tree = &model->trees[group->tree];
    element_nodes n = {.count = group->nodes_per_element,
                       .nq = stn_node_type_nq(tree->node_type),
                       .nv = stn_node_type_nv(tree->node_type)};
    const int32_t *index = group->index + (size_t)e * (size_t)n.count;
    for (int32_t i = 0; i < n.count; i++) {
        n.node[i] = tree->node_start + index[i];
        int32_t first = 0;
        while (index[first] != index[i]) {
            first++;
        }
        n.repeated[i] = first < i;
        if (n.repeated[i]) {
            n.place[i] = n.place[first];
        } else if (stn_model_node_moves(model, n.node[i])) {
            n.place[i] = n.unknowns;
            n.unknowns += n.nv;
        } else {
            n.place[i] = -1;
        }
    }
    return n;
}

/// Coordinates and velocities of the nodes now: x = q moved by h u.
static void gather(const substep *s, const element_nodes *n, element_room *room) {
    const stn_model *model = s->view->model;
    for (int32_t i = 0; i < n->count; i++) {
        const double *q = s->q + stn_model_node_q(model, n->node[i]), *u = s->u + stn_model_node_v(model, n->node[i]);
        double *x = room->x + n->nq * i;
        for (int32_t k = 0; k < 3; k++) {
            x[k] = q[k] + s->h * u[k];
        }
        if (n->nq == 7) {
            const stn_quat turn = stn_quat_exp(stn_vec3_scale(s->h, stn_vec3_at(u, 1)));
            const stn_quat r = stn_quat_mul(turn, (stn_quat){q[3], q[4], q[5], q[6]});
            const double parts[4] = {r.w, r.x, r.y, r.z};
            memcpy(x + 3, parts, sizeof parts);
        }
        memcpy(room->v + n->nv * i, u, (size_t)n->nv * sizeof *u);
    }
}

/// The mass of a node to its block of A, whose rows are `pitch` apart.
static void add_mass(const substep *s, int32_t node, int32_t nv, int32_t pitch, double *A) {
    for (int32_t k = 0; k < 3; k++) {
        A[(pitch + 1) * k] += s->view->model->node_mass[node];
    }
    if (nv == 6) {
        const stn_mat3 I = stn_node_inertia(s->kinematics, node);
        for (int32_t r = 0; r < 3; r++) {
            for (int32_t c = 0; c < 3; c++) {
                A[pitch * (3 + r) + 3 + c] += I.m[r][c];
            }
        }
    }
}

/// A = M + h^2 K + h D and du = h f over the unknowns.
static void assemble(const substep *s, const element_nodes *n, element_room *room) {
    const int32_t N = n->unknowns, m = n->nv * n->count;
    memset(room->A, 0, (size_t)(N * N) * sizeof(double));
    memset(room->du, 0, (size_t)N * sizeof(double));
    for (int32_t i = 0; i < n->count; i++) {
        if (n->place[i] < 0) {
            continue;
        }
        if (!n->repeated[i]) {
            add_mass(s, n->node[i], n->nv, N, room->A + (N + 1) * n->place[i]);
        }
        for (int32_t r = 0; r < n->nv; r++) {
            const int32_t from = n->nv * i + r;
            double *row = room->A + N * (n->place[i] + r);
            room->du[n->place[i] + r] += s->h * room->force[from];
            for (int32_t j = 0; j < n->count; j++) {
                const double *K = room->K + m * from + n->nv * j, *D = room->D + m * from + n->nv * j;
                for (int32_t c = 0; c < n->nv && n->place[j] >= 0; c++) {
                    row[n->place[j] + c] += s->h * (s->h * K[c] + D[c]);
                }
            }
        }
    }
}

/// What the element gives to velocity `row` of a node that does not follow, h f - (h^2 K + h D) du.
static double impulse_on(const substep *s, const element_nodes *n, const element_room *room, int32_t row) {
    const int32_t m = n->nv * n->count;
    double sum = s->h * room->force[row];
    for (int32_t j = 0; j < n->count; j++) {
        const double *K = room->K + m * row + n->nv * j, *D = room->D + m * row + n->nv * j;
        for (int32_t c = 0; c < n->nv && n->place[j] >= 0; c++) {
            sum -= s->h * (s->h * K[c] + D[c]) * room->du[n->place[j] + c];
        }
    }
    return sum;
}

static stn_status project(const substep *s, const stn_element_group *group, const stn_element_inputs *inputs, int32_t e,
                          element_room *room, stn_error *err) {
    const stn_element_ops *ops = group->instance->desc->ops.element;
    const element_nodes n = find_nodes(s->view->model, group, e);
    if (n.unknowns == 0) {
        return STN_OK;
    }
    double energy;
    gather(s, &n, room);
    stn_element_batch batch = {
        .count = 1,
        .first = e,
        .time = s->view->time + s->t,
        .dt = s->view->dt,
        .x = room->x,
        .v = room->v,
        .constants = group->constants + (size_t)e * (size_t)ops->constant_count,
        .channels = inputs->channels,
        .state = inputs->state != NULL ? inputs->state + (size_t)e * (size_t)ops->state_count : NULL,
        .force = room->force,
        .K = room->K,
        .D = room->D,
        .energy = &energy,
        .next_state = ops->state_count > 0 ? room->next_state : NULL,
        .wrong = -1,
    };
    stn_answer_begin(err);
    stn_status status = stn_answer_end(ops->evaluate(group->instance->self, &batch, err), err);
    if (status < 0) {
        return status;
    }
    assemble(s, &n, room);
    const int32_t N = n.unknowns;
    double sum = 0.0; // of zeros, as long as all are finite
    const bool positive = stn_cholesky(N, room->A, N) < 0;
    if (positive) {
        stn_cholesky_forward(N, room->A, N, 1, room->du, N);
        stn_cholesky_backward(N, room->A, N, 1, room->du, N);
    }
    for (int32_t k = 0; k < N; k++) {
        sum += 0.0 * room->du[k];
    }
    if (!positive || !(sum == 0.0)) {
        return stn_fail(err, STN_ERR_NUMERIC, "its force or stiffness is not finite, or the stiffness not >= 0");
    }
    for (int32_t i = 0; i < n.count; i++) {
        const int32_t v = stn_model_node_v(s->view->model, n.node[i]);
        for (int32_t k = 0; k < n.nv && n.place[i] >= 0 && !n.repeated[i]; k++) {
            s->u[v + k] += room->du[n.place[i] + k];
        }
        for (int32_t k = 0; k < n.nv && n.place[i] < 0; k++) {
            s->reaction[v + k] -= impulse_on(s, &n, room, n.nv * i + k);
        }
    }
    return STN_OK;
}

/// Groups that say "load" are forces from outside, which come before all that resists them.
stn_status substep_elements(const substep *s, element_room *room, stn_error *err) {
    const stn_model *model = s->view->model;
    for (int32_t k = 0; k < 2 * model->element_group_count; k++) {
        const int32_t g = k % model->element_group_count;
        const stn_element_group *group = &model->element_groups[g];
        const bool now = stn_plugin_says(group->instance, "load") == (k < model->element_group_count);
        for (int32_t e = 0; e < group->element_count && now; e++) {
            stn_error said = {0};
            const stn_status status = project(s, group, &s->view->elements[g], e, room, &said);
            if (status < 0) {
                return stn_fail(err, status, "t = %g s: element %s: element %d (counted from 0) of '%s': %s",
                                s->view->time + s->t, group->instance->desc->id, e, group->name, said.text);
            }
        }
    }
    return STN_OK;
}
