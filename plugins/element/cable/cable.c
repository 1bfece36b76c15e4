// SPDX-License-Identifier: Apache-2.0
// Cables, ropes and rods: discrete Cosserat rods of links, each a node with a frame whose x axis lies along the link.
// Between two neighbours, with the frame in the middle of the two rotations, phi = Log(R_1^T R_2) and d = p_2 - p_1,
//
//   R = R_1 Exp(phi/2),   e = (R^T d - e_t0, phi - e_r0),   energy e^T K e / 2,
//   K = diag(E a, k G a, k G a, G J, E I, E I) / l,   k = 6 (1 + nu)/(7 + 6 nu)                    [cowper-1966]
//
// in stretch, two shears, twist and two bendings. e_t0 and e_r0 are those of the nodes at rest, so that a cable that is
// made bent stays so. Forces are the exact gradient: with u = phi/|phi|, t = tan(|phi|/4), a and b the rotations of the
// two nodes in axes of R,
//
//   de_r = T (b - a),   T = c 1 + (1 - c) u u^T,   c = (|phi|/2)/sin(|phi|/2)
//   de_t = R^T (dp_2 - dp_1) + (R^T d) x ((a + b)/2 - t/2 u x (b - a)) .
//
// K of the step is Je^T K Je, which is >= 0, and what a tension N adds across the line, N/|d| (1 - n n^T): without it
// taut cables would swing explicitly. What else the second derivative has may be negative and is left out.
#include <string.h>

#include <stiction/plugin.h>

#include "common/elastic.h"

enum { NODES = 2, NQ = 7, NV = 6, M = NODES * NV, ROWS = 6 };

typedef struct cable {
    double young, poisson, radius, rayleigh_stiffness;
} cable;

static const stn_param params[] = {
    STN_PARAM_REAL(cable, young, "Pa", 1e6, 0.0, INFINITY, "Young's modulus, > 0"),
    STN_PARAM_REAL(cable, poisson, "1", 0.3, -1.0, 0.5, "Poisson's ratio, of shear and twist"),
    STN_PARAM_REAL(cable, radius, "m", 0.005, 0.0, INFINITY, "of the round cross-section, > 0"),
    STN_PARAM_REAL(cable, rayleigh_stiffness, "s", 0.0, 0.0, INFINITY, "viscosity over elastic modulus"),
};

static const stn_element_parameter parameters[] = {
    {"young", "Pa", "Young's modulus"}, {"poisson", "1", "Poisson's ratio"}, {"radius", "m", "of the cross-section"}};

static const stn_constraint_output outputs[] = {
    {"tension", "N", "along the line, < 0 where pressed", 1, NULL},
    {"shear_force", "N", "across the line", 1, NULL},
    {"torque", "N m", "about the line, positive where the second end is turned ahead", 1, NULL},
    {"bending_moment", "N m", "its size", 1, NULL},
    {"stress", "Pa", "largest in size of the cross-section, of tension and bending", 1, NULL},
};

/// The constants of one element.
typedef struct joint {
    double stiffness[ROWS]; // K [N/m] three times, then [N m/rad]
    double rest[ROWS];      // e_t0 [m], e_r0 [rad]
    double area, arm;       // [m^2]; radius over second moment of area [1/m^3]
} joint;

/// Where two links are against each other.
typedef struct bend {
    stn_mat3 R;     // axes in the middle
    stn_vec3 d;     // p_2 - p_1 in axes of R
    stn_vec3 phi;   // rotation from the first to the second
    stn_vec3 u;     // its axis, zero without
    double c, t;    // of T and of the mean rotation
    double e[ROWS]; // strains over the length
    double f[ROWS]; // K e: force [N] and moment [N m] in axes of R
} bend;

static stn_quat turn_at(const double *x) {
    return (stn_quat){x[3], x[4], x[5], x[6]};
}

/// All but f.
static void find_bend(const double *x, const double *rest, bend *b) {
    const stn_quat first = turn_at(x), second = turn_at(x + NQ), back = {first.w, -first.x, -first.y, -first.z};
    b->phi = stn_quat_log(stn_quat_mul(back, second));
    const double angle = stn_vec3_norm(b->phi);
    b->u = angle > 0.0 ? stn_vec3_scale(1.0 / angle, b->phi) : stn_vec3_zero();
    b->c = angle > 1e-6 ? 0.5 * angle / sin(0.5 * angle) : 1.0;
    b->t = tan(0.25 * angle);
    b->R = stn_quat_matrix(stn_quat_mul(first, stn_quat_exp(stn_vec3_scale(0.5, b->phi))));
    b->d = stn_mat3_apply_transposed(&b->R, stn_vec3_make(x[NQ] - x[0], x[NQ + 1] - x[1], x[NQ + 2] - x[2]));
    const double now[ROWS] = {b->d.x, b->d.y, b->d.z, b->phi.x, b->phi.y, b->phi.z};
    for (int32_t r = 0; r < ROWS; r++) {
        b->e[r] = now[r] - rest[r];
    }
}

static void load(const joint *j, const double *x, bend *b) {
    find_bend(x, j->rest, b);
    for (int32_t r = 0; r < ROWS; r++) {
        b->f[r] = j->stiffness[r] * b->e[r];
    }
}

/// T w.
static stn_vec3 turn_strain(const bend *b, stn_vec3 w) {
    return stn_vec3_mul_add(stn_vec3_scale(b->c, w), (1.0 - b->c) * stn_vec3_dot(b->u, w), b->u);
}

/// Je^T f of a force and a moment in axes of R, as force and torque on both nodes in world axes.
static void pull_back(const bend *b, const double f[ROWS], double out[M]) {
    const stn_vec3 n = stn_vec3_at(f, 0), turned = turn_strain(b, stn_vec3_at(f + 3, 0)), c = stn_vec3_cross(n, b->d);
    const stn_vec3 side = stn_vec3_mul_add(turned, -0.5 * b->t, stn_vec3_cross(c, b->u));
    const stn_vec3 parts[4] = {stn_vec3_neg(n), stn_vec3_mul_add(stn_vec3_scale(0.5, c), -1.0, side), n,
                               stn_vec3_mul_add(stn_vec3_scale(0.5, c), 1.0, side)};
    for (int32_t k = 0; k < 4; k++) {
        const stn_vec3 w = stn_mat3_apply(&b->R, parts[k]);
        out[3 * k] = w.x;
        out[3 * k + 1] = w.y;
        out[3 * k + 2] = w.z;
    }
}

/// Je (ROWS x M), columns in world axes: row r is what pull_back makes of a unit.
static void find_rows(const bend *b, double J[ROWS][M]) {
    for (int32_t r = 0; r < ROWS; r++) {
        double unit[ROWS] = {0.0};
        unit[r] = 1.0;
        pull_back(b, unit, J[r]);
    }
}

static void add_squares(const double J[ROWS][M], const double *weight, double s, double *K) {
    for (int32_t r = 0; r < ROWS; r++) {
        for (int32_t i = 0; i < M; i++) {
            const double left = s * weight[r] * J[r][i];
            for (int32_t k = 0; k <= i; k++) {
                K[i * M + k] += left * J[r][k];
            }
        }
    }
}

/// What a tension adds across the line.
static void add_tension(const bend *b, double *K) {
    const double length = stn_vec3_norm(b->d);
    const stn_vec3 line = stn_vec3_scale(length > 0.0 ? 1.0 / length : 0.0, b->d);
    const double pull = stn_vec3_dot(stn_vec3_at(b->f, 0), line);
    if (!(pull > 0.0)) {
        return;
    }
    const stn_vec3 w = stn_mat3_apply(&b->R, line);
    const double n[3] = {w.x, w.y, w.z};
    for (int32_t r = 0; r < 3; r++) {
        for (int32_t k = 0; k < 3; k++) {
            const double value = pull / length * ((r == k ? 1.0 : 0.0) - n[r] * n[k]);
            K[r * M + k] += value;
            K[(NV + r) * M + NV + k] += value;
            K[(NV + r) * M + k] -= value; // the lower half: mirrored below
        }
    }
}

static void mirror(double *K) {
    for (int32_t i = 0; i < M; i++) {
        for (int32_t k = i + 1; k < M; k++) {
            K[i * M + k] = K[k * M + i];
        }
    }
}

static stn_status prepare(const void *self, const double *rest, const double *own, double *constants, stn_error *err) {
    const cable *c = self;
    joint *j = (joint *)constants;
    const elastic e = {elastic_own(own[0], c->young), elastic_own(own[1], c->poisson), 0.0};
    const double radius = elastic_own(own[2], c->radius), none[ROWS] = {0.0};
    stn_status status = elastic_check(&e, false, err);
    if (status != STN_OK) {
        return status;
    }
    if (!(radius > 0.0) || !isfinite(radius)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "radius = %g m must be > 0 and finite", radius);
    }
    bend b;
    find_bend(rest, none, &b);
    const double length = stn_vec3_norm(b.d), angle = stn_vec3_norm(b.phi);
    if (!(length > 1e-9 * radius) || !isfinite(length)) {
        return stn_fail(err, STN_ERR_ARGUMENT,
                        "two links are %g m apart at rest, must be more than 1e-9 radii, %g m, and finite", length,
                        1e-9 * radius);
    }
    if (!(angle < 3.0)) {
        return stn_fail(err, STN_ERR_ARGUMENT,
                        "two links are turned by %g rad against each other at rest, at most 3 are allowed: make more "
                        "links",
                        angle);
    }
    const double area = STN_PI * radius * radius, second = 0.25 * area * radius * radius;
    const double shear = e.young / (2.0 * (1.0 + e.poisson)), k = 6.0 * (1.0 + e.poisson) / (7.0 + 6.0 * e.poisson);
    const double stiffness[ROWS] = {e.young * area,       k * shear * area, k * shear * area,
                                    2.0 * shear * second, e.young * second, e.young * second};
    for (int32_t r = 0; r < ROWS; r++) {
        j->stiffness[r] = stiffness[r] / length;
        j->rest[r] = b.e[r];
    }
    j->area = area;
    j->arm = radius / second;
    return STN_OK;
}

static stn_status evaluate(const void *self, stn_element_batch *batch, stn_error *err) {
    (void)err;
    const double relaxation = ((const cable *)self)->rayleigh_stiffness;
    for (int32_t i = 0; i < batch->count; i++) {
        const joint *j = (const joint *)batch->constants + i;
        double *force = batch->force + M * i, J[ROWS][M], pulled[ROWS];
        bend b;
        load(j, batch->x + NODES * NQ * i, &b);
        batch->energy[i] = 0.0;
        for (int32_t r = 0; r < ROWS; r++) {
            batch->energy[i] += 0.5 * b.f[r] * b.e[r];
            pulled[r] = b.f[r];
        }
        if (batch->K != NULL || relaxation > 0.0) {
            find_rows(&b, J);
        }
        for (int32_t r = 0; r < ROWS && relaxation > 0.0; r++) {
            double rate = 0.0;
            for (int32_t k = 0; k < M; k++) {
                rate += J[r][k] * batch->v[M * i + k];
            }
            pulled[r] += relaxation * j->stiffness[r] * rate;
        }
        pull_back(&b, pulled, force);
        for (int32_t k = 0; k < M; k++) {
            force[k] = -force[k];
        }
        if (batch->K != NULL) {
            double *K = batch->K + M * M * i, *D = batch->D + M * M * i;
            memset(K, 0, M * M * sizeof *K);
            memset(D, 0, M * M * sizeof *D);
            add_squares((const double(*)[M])J, j->stiffness, 1.0, K);
            if (relaxation > 0.0) {
                add_squares((const double(*)[M])J, j->stiffness, relaxation, D);
            }
            add_tension(&b, K);
            mirror(K);
            mirror(D);
        }
    }
    return STN_OK;
}

static void measure(const void *self, const stn_element_batch *batch, double *values) {
    (void)self;
    for (int32_t i = 0; i < batch->count; i++, values += STN_COUNT(outputs)) {
        const joint *j = (const joint *)batch->constants + i;
        bend b;
        load(j, batch->x + NODES * NQ * i, &b);
        const stn_vec3 n = stn_vec3_at(b.f, 0), m = stn_vec3_at(b.f + 3, 0);
        const stn_vec3 line = stn_vec3_normalize_or(b.d, stn_vec3_make(1.0, 0.0, 0.0));
        const double pull = stn_vec3_dot(n, line), torque = stn_vec3_dot(m, line);
        const double bending = stn_vec3_norm(stn_vec3_mul_add(m, -torque, line));
        values[0] = pull;
        values[1] = stn_vec3_norm(stn_vec3_mul_add(n, -pull, line));
        values[2] = torque;
        values[3] = bending;
        values[4] = fabs(pull) / j->area + bending * j->arm;
    }
}

static stn_status create(stn_context *context, const void *config, void **self, stn_error *err) {
    (void)context;
    const cable *c = config;
    const elastic e = {c->young, c->poisson, 0.0};
    *self = (void *)(uintptr_t)config;
    stn_status status = elastic_check(&e, false, err);
    if (status == STN_OK && !(c->radius > 0.0 && isfinite(c->radius))) {
        status = stn_fail(err, STN_ERR_ARGUMENT, "radius = %g m must be > 0 and finite", c->radius);
    }
    return status;
}

static void destroy(void *self) {
    (void)self; // the config, which the core owns
}

static const stn_element_ops ops = {
    .size = sizeof ops,
    .nodes_per_element = NODES,
    .constant_count = sizeof(joint) / sizeof(double),
    .prepare = prepare,
    .evaluate = evaluate,
    .node_type = STN_NODE_FRAME,
    .parameter_count = STN_COUNT(parameters),
    .parameters = parameters,
    .output_count = STN_COUNT(outputs),
    .outputs = outputs,
    .measure = measure,
};

static const stn_plugin_desc descriptor = {
    .size = sizeof descriptor,
    .kind = STN_KIND_ELEMENT,
    .id = "cable",
    .version = "1.0.0",
    .summary = "Joints of a discrete Cosserat rod: stretch, shear, twist and bending between two links",
    .reference = "cowper-1966",
    .config_size = sizeof(cable),
    .params = params,
    .param_count = STN_COUNT(params),
    .create = create,
    .destroy = destroy,
    .ops.element = &ops,
};
STN_PLUGIN_LIBRARY(&descriptor);
