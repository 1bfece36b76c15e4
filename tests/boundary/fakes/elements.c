// SPDX-License-Identifier: Apache-2.0
// Two elements in one library: a spring between two nodes, and a tetrahedron of 12 dofs whose six edges are springs.
// Force -k (|d| - L) n on every edge; stiffness without its geometric part, k n n^T, so positive semidefinite; damping
// c n n^T.
#include <stiction/plugin.h>

typedef struct spring {
    double k, c;
} spring;
static const stn_param params[] = {
    STN_PARAM_REAL(spring, k, "N/m", 1000.0, 0.0, INFINITY, "stiffness of an edge"),
    STN_PARAM_REAL(spring, c, "N s/m", 0.0, 0.0, INFINITY, "damping of an edge"),
};
static const int32_t edge[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};

static double edge_direction(const double *x, int32_t e, double n[3]) {
    for (int32_t i = 0; i < 3; i++) {
        n[i] = x[3 * edge[e][1] + i] - x[3 * edge[e][0] + i];
    }
    double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    for (int32_t i = 0; i < 3; i++) {
        n[i] /= length;
    }
    return length;
}

static stn_status prepare_edges(int32_t edges, const double *x, double *rest, stn_error *err) {
    for (int32_t e = 0; e < edges; e++) {
        double n[3];
        rest[e] = edge_direction(x, e, n);
        if (!(rest[e] > 0.0)) {
            return stn_fail(err, STN_ERR_ARGUMENT, "edge %d has length %g m", e, rest[e]);
        }
    }
    return STN_OK;
}

static void add_edge(const spring *s, int32_t m, int32_t e, const double *x, const double *v, double rest,
                     double *force, double *K, double *D, double *energy) {
    double n[3], stretch = edge_direction(x, e, n) - rest, rate = 0.0;
    for (int32_t i = 0; i < 3; i++) {
        rate += n[i] * (v[3 * edge[e][1] + i] - v[3 * edge[e][0] + i]);
    }
    *energy += 0.5 * s->k * stretch * stretch;
    for (int32_t a = 0; a < 2; a++) {
        for (int32_t i = 0; i < 3; i++) {
            int32_t row = 3 * edge[e][a] + i;
            force[row] += (a == 0 ? 1.0 : -1.0) * (s->k * stretch + s->c * rate) * n[i];
            for (int32_t b = 0; b < 6; b++) {
                double nn = (a == b / 3 ? 1.0 : -1.0) * n[i] * n[b % 3];
                K[row * m + 3 * edge[e][b / 3] + b % 3] += s->k * nn;
                D[row * m + 3 * edge[e][b / 3] + b % 3] += s->c * nn;
            }
        }
    }
}

static stn_status evaluate_edges(const spring *s, int32_t nodes, int32_t edges, stn_element_batch *b) {
    const int32_t m = 3 * nodes;
    double unused_K[12 * 12], unused_D[12 * 12];
    for (int32_t e = 0; e < b->count; e++) {
        double *force = b->force + m * e, *K = b->K != NULL ? b->K + m * m * e : unused_K,
               *D = b->D != NULL ? b->D + m * m * e : unused_D;
        for (int32_t i = 0; i < m; i++) {
            force[i] = 0.0;
        }
        for (int32_t i = 0; i < m * m; i++) {
            K[i] = D[i] = 0.0;
        }
        b->energy[e] = 0.0;
        for (int32_t i = 0; i < edges; i++) {
            add_edge(s, m, i, b->x + m * e, b->v + m * e, b->constants[edges * e + i], force, K, D, &b->energy[e]);
        }
    }
    return STN_OK;
}

static stn_status prepare_spring(const void *self, const double *x, const double *parameters, double *rest,
                                 stn_error *err) {
    (void)self, (void)parameters;
    return prepare_edges(1, x, rest, err);
}
static stn_status prepare_tet(const void *self, const double *x, const double *parameters, double *rest,
                              stn_error *err) {
    (void)self, (void)parameters;
    return prepare_edges(6, x, rest, err);
}
static stn_status evaluate_spring(const void *self, stn_element_batch *batch, stn_error *err) {
    (void)err;
    return evaluate_edges(self, 2, 1, batch);
}
static stn_status evaluate_tet(const void *self, stn_element_batch *batch, stn_error *err) {
    (void)err;
    return evaluate_edges(self, 4, 6, batch);
}

static const stn_element_ops spring_ops = {.size = sizeof spring_ops,
                                           .nodes_per_element = 2,
                                           .constant_count = 1,
                                           .prepare = prepare_spring,
                                           .evaluate = evaluate_spring};
static const stn_element_ops tet_ops = {.size = sizeof tet_ops,
                                        .nodes_per_element = 4,
                                        .constant_count = 6,
                                        .prepare = prepare_tet,
                                        .evaluate = evaluate_tet};
static const stn_plugin_desc spring_desc = {.size = sizeof spring_desc,
                                            .kind = STN_KIND_ELEMENT,
                                            .id = "fake_spring",
                                            .version = "0",
                                            .summary = "spring between two nodes",
                                            .config_size = sizeof(spring),
                                            .params = params,
                                            .param_count = 2,
                                            .ops.element = &spring_ops};
static const stn_plugin_desc tet_desc = {.size = sizeof tet_desc,
                                         .kind = STN_KIND_ELEMENT,
                                         .id = "fake_tet",
                                         .version = "0",
                                         .summary = "tetrahedron of six springs",
                                         .config_size = sizeof(spring),
                                         .params = params,
                                         .param_count = 2,
                                         .ops.element = &tet_ops};
STN_PLUGIN_LIBRARY(&spring_desc, &tet_desc);
