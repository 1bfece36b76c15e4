// my_plugin.c: a spring with a damper between two nodes. With d = x_2 - x_1, its length |d| and n = d/|d|:
//   energy = k/2 (|d| - L)^2,   f_1 = (k (|d| - L) + c n.(v_2 - v_1)) n = -f_2,   K = k n n^T,  D = c n n^T  (4 blocks)
// K leaves out the geometric part k (1 - L/|d|)(1 - n n^T), which is negative under compression: K and D must be >= 0.
// What to change first: nodes_per_element, what prepare keeps of the rest shape, and the energy with its derivative.
// Elements join the nodes of a deformable, which programs make with stn_builder_add_nodes and stn_builder_add_elements.
#include <stiction/plugin.h>

typedef struct settings {
    double k, c;
} settings;

static const stn_param params[] = {
    STN_PARAM_REAL(settings, k, "N/m", 1000.0, 0.0, INFINITY, "stiffness"),
    STN_PARAM_REAL(settings, c, "N s/m", 1.0, 0.0, INFINITY, "damping"),
};

enum { NODES = 2, M = 3 * NODES };

static double direction(const double *x, double n[3]) {
    for (int32_t i = 0; i < 3; i++) {
        n[i] = x[3 + i] - x[i];
    }
    double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    for (int32_t i = 0; i < 3; i++) {
        n[i] = length > 0.0 ? n[i] / length : 0.0; // nodes that meet push nowhere
    }
    return length;
}

/// The one constant of a spring: its rest length.
static stn_status prepare(const void *self, const double *rest, const double *parameters, double *constants,
                          stn_error *err) {
    (void)self, (void)parameters;
    double n[3], length = direction(rest, n);
    if (!(length > 0.0) || !isfinite(length)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "rest length %g m must be > 0", length);
    }
    constants[0] = length;
    return STN_OK;
}

static stn_status evaluate(const void *self, stn_element_batch *batch, stn_error *err) {
    (void)err;
    const settings *config = self;
    for (int32_t e = 0; e < batch->count; e++) {
        const double *x = batch->x + M * e, *v = batch->v + M * e;
        double n[3], stretch = direction(x, n) - batch->constants[e], rate = 0.0;
        for (int32_t i = 0; i < 3; i++) {
            rate += n[i] * (v[3 + i] - v[i]);
        }
        batch->energy[e] = 0.5 * config->k * stretch * stretch;
        for (int32_t r = 0; r < M; r++) {
            double side = r < 3 ? 1.0 : -1.0;
            batch->force[M * e + r] = side * (config->k * stretch + config->c * rate) * n[r % 3];
            for (int32_t s = 0; s < M && batch->K != NULL; s++) {
                double nn = side * (s < 3 ? 1.0 : -1.0) * n[r % 3] * n[s % 3];
                batch->K[(M * e + r) * M + s] = config->k * nn;
                batch->D[(M * e + r) * M + s] = config->c * nn;
            }
        }
    }
    return STN_OK;
}

static const stn_element_ops ops = {
    .size = sizeof ops, .nodes_per_element = NODES, .constant_count = 1, .prepare = prepare, .evaluate = evaluate};

static const stn_plugin_desc descriptor = {
    .size = sizeof descriptor,
    .kind = STN_KIND_ELEMENT,
    .id = "my_plugin",
    .version = "0.1.0",
    .summary = "A spring with a damper between two nodes",
    .config_size = sizeof(settings),
    .params = params,
    .param_count = STN_COUNT(params),
    .ops.element = &ops,
};
STN_PLUGIN_LIBRARY(&descriptor); // the one exported symbol
