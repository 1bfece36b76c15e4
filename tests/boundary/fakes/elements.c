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

static void evaluate_edges(const spring *s, int32_t nodes, int32_t edges, int32_t count, const double *x,
                           const double *v, const double *rest, double *force, double *K, double *D, double *energy) {
    int32_t m = 3 * nodes;
    for (int32_t i = 0; i < count * m; i++) {
        force[i] = 0.0;
    }
    for (int32_t i = 0; i < count * m * m; i++) {
        K[i] = D[i] = 0.0;
    }
    for (int32_t i = 0; i < count * edges; i++) {
        int32_t at = i / edges;
        add_edge(s, m, i % edges, x + at * m, v + at * m, rest[i], force + at * m, K + at * m * m, D + at * m * m,
                 energy);
    }
}

static stn_status prepare_spring(const void *self, const double *x, double *rest, stn_error *err) {
    (void)self;
    return prepare_edges(1, x, rest, err);
}
static stn_status prepare_tet(const void *self, const double *x, double *rest, stn_error *err) {
    (void)self;
    return prepare_edges(6, x, rest, err);
}
static void evaluate_spring(const void *self, int32_t count, const double *x, const double *v, const double *rest,
                            double *force, double *K, double *D, double *energy) {
    evaluate_edges(self, 2, 1, count, x, v, rest, force, K, D, energy);
}
static void evaluate_tet(const void *self, int32_t count, const double *x, const double *v, const double *rest,
                         double *force, double *K, double *D, double *energy) {
    evaluate_edges(self, 4, 6, count, x, v, rest, force, K, D, energy);
}

static const stn_element_ops spring_ops = {sizeof spring_ops, 2, 1, prepare_spring, evaluate_spring};
static const stn_element_ops tet_ops = {sizeof tet_ops, 4, 6, prepare_tet, evaluate_tet};
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
