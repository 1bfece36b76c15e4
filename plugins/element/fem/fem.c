// SPDX-License-Identifier: Apache-2.0
// Solids of linear tetrahedra: the deformation gradient F = sum_n x_n g_n^T is constant in an element, with g_n the
// gradients of the shape functions at rest. With an isotropic energy density psi(F) and the rest volume V
//
//   energy V psi,   force on node n  -V P g_n,   P = dpsi/dF,   K_nk = V g_n : d2psi/dF2 : g_k, its negative parts left
//   out
//
// for the co-rotational [mueller-2004] and the stable Neo-Hookean energy [smith-2018] (common/stretch.h).
#include <string.h>

#include <stiction/plugin.h>

#include "common/elastic.h"
#include "common/stretch.h"

enum { NODES = 4, M = 3 * NODES };
enum { COROTATIONAL, NEO_HOOKEAN };
enum { LUMPED, CONSISTENT };

typedef struct fem {
    double young, poisson, density, rayleigh_mass, rayleigh_stiffness;
    int32_t model, mass;
    bool geometric_stiffness;
} fem;

static const char *const models[] = {"corotational", "neo_hookean", NULL};
static const char *const masses[] = {"lumped", "consistent", NULL};
static const stn_param params[] = {
    STN_PARAM_CHOICE(fem, model, models, COROTATIONAL,
                     "corotational: linear in the strain of the turned frame; neo_hookean: rubber at large strains"),
    STN_PARAM_REAL(fem, young, "Pa", 1e5, 0.0, INFINITY, "Young's modulus, > 0"),
    STN_PARAM_REAL(fem, poisson, "1", 0.3, -1.0, 0.5, "Poisson's ratio, between the two bounds"),
    STN_PARAM_REAL(fem, density, "kg/m^3", 1000.0, 0.0, INFINITY, "0: the nodes' own mass alone"),
    STN_PARAM_CHOICE(fem, mass, masses, LUMPED,
                     "lumped: a quarter of the element's at each node; consistent: by its shape functions"),
    STN_PARAM_REAL(fem, rayleigh_mass, "1/s", 0.0, 0.0, INFINITY, "drag over momentum: also of rigid motion"),
    STN_PARAM_REAL(fem, rayleigh_stiffness, "s", 0.0, 0.0, INFINITY, "viscosity over elastic modulus"),
    STN_PARAM_BOOL(fem, geometric_stiffness, true,
                   "K has what tension adds: steady when stretched; without it spin lasts with symplectic_euler"),
};

static const stn_element_parameter parameters[] = {
    {"young", "Pa", "Young's modulus"}, {"poisson", "1", "Poisson's ratio"}, {"density", "kg/m^3", "of its material"}};

static const stn_constraint_output outputs[] = {
    {"von_mises", "Pa", "von Mises stress, force over area at rest", 1, NULL},
    {"pressure", "Pa", "mean of the principal stresses, > 0 where pressed", 1, NULL},
    {"volume_ratio", "1", "volume over that at rest; <= 0: inverted", 1, NULL},
};

/// The constants of one element.
typedef struct tetra {
    stn_vec3 gradient[3]; // of nodes 1 to 3 [1/m]; that of node 0 is minus their sum
    double volume;        // at rest [m^3]
    double mu, lambda;    // [Pa]
    double mass;          // [kg]
} tetra;

static stn_status create(stn_context *context, const void *config, void **self, stn_error *err) {
    const fem *f = config;
    elastic e = {f->young, f->poisson, f->density};
    stn_status status = elastic_check(&e, true, err);
    if (status == STN_OK && f->poisson > 0.49) {
        stn_log(
            context, STN_LOG_NOTE,
            "element fem: poisson = %g: linear tetrahedra lock near 0.5 and bend too stiffly; up to 0.45 they do so "
            "little",
            f->poisson);
    }
    *self = (void *)config;
    return status;
}

static void destroy(void *self) {
    (void)self; // the config, which the core owns
}

static stn_status prepare(const void *self, const double *rest, const double *own, double *constants, stn_error *err) {
    const fem *f = self;
    tetra *t = (tetra *)constants;
    elastic e = {elastic_own(own[0], f->young), elastic_own(own[1], f->poisson), elastic_own(own[2], f->density)};
    stn_status status = elastic_check(&e, true, err);
    if (status != STN_OK) {
        return status;
    }
    stn_vec3 a = stn_vec3_at(rest, 0), edge[3];
    double longest = 0.0;
    for (int32_t n = 0; n < 3; n++) {
        edge[n] = stn_vec3_sub(stn_vec3_at(rest, n + 1), a);
        longest = fmax(longest, stn_vec3_norm(edge[n]));
    }
    stn_vec3 dual[3] = {stn_vec3_cross(edge[1], edge[2]), stn_vec3_cross(edge[2], edge[0]),
                        stn_vec3_cross(edge[0], edge[1])};
    double det = stn_vec3_dot(edge[0], dual[0]), flat = 1e-12 * longest * longest * longest;
    if (!isfinite(det)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "volume = %g m^3: a coordinate is not finite, or too large", det / 6.0);
    }
    if (!(fabs(det) > flat)) {
        return stn_fail(
            err, STN_ERR_ARGUMENT,
            "volume = %g m^3, of edges of up to %g m: its nodes lie in a plane; leave it out or move a node", det / 6.0,
            longest);
    }
    if (det < 0.0) {
        return stn_fail(err, STN_ERR_ARGUMENT, "volume = %g m^3 must be > 0: exchange two of its nodes", det / 6.0);
    }
    for (int32_t n = 0; n < 3; n++) {
        t->gradient[n] = stn_vec3_scale(1.0 / det, dual[n]);
    }
    t->volume = det / 6.0;
    t->mass = e.density * t->volume;
    elastic_lame(&e, &t->mu, &t->lambda);
    return STN_OK;
}

/// Up to four elements as lanes.
typedef struct lanes {
    wide gradient[3][3], volume, mu, lambda, mass;
    wide F[3][3];
    stretch s;
    material m;
} lanes;

STN_KERNEL_INLINE void find_lanes(const fem *f, const stn_element_batch *b, int32_t e, int32_t count, lanes *l) {
    const double *t = (const double *)((const tetra *)b->constants + e), *x = b->x + e * M;
    const int32_t stride = (int32_t)(sizeof(tetra) / sizeof *t);
    const wide none = {0.0};
    for (int32_t i = 0; i < 9; i++) {
        wide_gather(t, stride, i, count, &l->gradient[i / 3][i % 3]);
    }
    wide_gather(t, stride, 9, count, &l->volume);
    wide_gather(t, stride, 10, count, &l->mu);
    wide_gather(t, stride, 11, count, &l->lambda);
    wide_gather(t, stride, 12, count, &l->mass);
    for (int32_t i = 0; i < 3; i++) { // F = sum_n (x_n - x_0) g_n^T
        wide origin = none, edge = none;
        l->F[i][0] = l->F[i][1] = l->F[i][2] = none;
        wide_gather(x, M, i, count, &origin);
        for (int32_t n = 0; n < 3; n++) {
            wide_gather(x, M, 3 * n + 3 + i, count, &edge);
            edge -= origin;
            for (int32_t k = 0; k < 3; k++) {
                l->F[i][k] += edge * l->gradient[n][k];
            }
        }
    }
    stretch_find((const wide(*)[3])l->F, &l->s);
    if (f->model == NEO_HOOKEAN) {
        neo_hookean(&l->mu, &l->lambda, l->s.sigma, &l->m);
    } else {
        corotational(&l->mu, &l->lambda, 3, l->s.sigma, &l->m);
    }
    for (int32_t i = 0; !f->geometric_stiffness && i < 3; i++) { // turning against the neighbours costs nothing then
        l->m.twist[i] = none;
    }
}

/// What of an element's mass couples node n with itself, or with another one.
static double mass_share(const fem *f, bool same) {
    double own = f->mass == CONSISTENT ? 0.1 : 0.25, other = f->mass == CONSISTENT ? 0.05 : 0.0;
    return same ? own : other;
}

STN_KERNEL_INLINE void write_matrix(const wide *lanes_of, int32_t count, double *matrices) {
    for (int32_t i = 0; i < M * M; i++) {
        wide_scatter(&lanes_of[i], M * M, i, count, matrices);
    }
}

/// Force of both dampings, and their matrix where D is not NULL.
STN_KERNEL_INLINE void damp(const fem *f, const stn_element_batch *b, int32_t e, int32_t count, const lanes *l,
                            wide *force, double *D) {
    const wide(*F)[3] = (const wide(*)[3])l->F, (*g)[3] = (const wide(*)[3])l->gradient;
    wide mu = f->rayleigh_stiffness * l->mu, lambda = f->rayleigh_stiffness * l->lambda, v[M], matrix[M * M];
    for (int32_t i = 0; i < M; i++) {
        wide_gather(b->v + e * M, M, i, count, &v[i]);
    }
    material_drag(F, &mu, &lambda, &l->volume, NODES, g, v, force);
    if (D != NULL) {
        material_damping(F, &mu, &lambda, &l->volume, NODES, g, matrix);
    }
    for (int32_t i = 0; i < NODES * NODES * 3; i++) {
        int32_t row = 3 * (i / 12) + i % 3, column = 3 * (i / 3 % 4) + i % 3;
        wide drag = f->rayleigh_mass * mass_share(f, row == column) * l->mass;
        force[row] -= drag * v[column];
        if (D != NULL) {
            matrix[row * M + column] += drag;
        }
    }
    if (D != NULL) {
        write_matrix(matrix, count, D);
    }
}

/// Counts what is turned inside out: the smallest stretch has the sign of the volume.
STN_KERNEL_INLINE void note_inverted(const lanes *l, int32_t first, int32_t count, stn_element_batch *b) {
    double volume[WIDE];
    const wide ratio = l->s.sigma[0] * l->s.sigma[1] * l->s.sigma[2];
    wide_scatter(&ratio, 1, 0, count, volume);
    for (int32_t i = 0; i < count; i++) {
        if (volume[i] <= 0.0) {
            b->wrong = b->inverted == 0 ? first + i : b->wrong;
            b->inverted++;
        }
    }
}

STN_KERNEL static void evaluate_all(const fem *f, stn_element_batch *b) {
    const bool damped = f->rayleigh_stiffness > 0.0 || f->rayleigh_mass > 0.0;
    for (int32_t e = 0; e < b->count; e += WIDE) {
        const int32_t count = b->count - e < WIDE ? b->count - e : WIDE;
        lanes l;
        wide P[3][3], force[M], energy, matrix[M * M];
        find_lanes(f, b, e, count, &l);
        note_inverted(&l, e, count, b);
        material_stress(&l.s, &l.m, P);
        for (int32_t i = 0; i < M; i++) {
            force[i] = (wide){0.0};
        }
        material_pull((const wide(*)[3])P, &l.volume, NODES, (const wide(*)[3])l.gradient, force);
        energy = l.volume * l.m.energy;
        if (b->K != NULL) {
            material_stiffness(&l.s, &l.m, &l.volume, NODES, (const wide(*)[3])l.gradient, matrix);
            write_matrix(matrix, count, b->K + e * M * M);
        }
        if (damped) {
            damp(f, b, e, count, &l, force, b->D != NULL ? b->D + e * M * M : NULL);
        } else if (b->D != NULL) {
            memset(b->D + e * M * M, 0, (size_t)(count * M * M) * sizeof *b->D);
        }
        for (int32_t i = 0; i < M; i++) {
            wide_scatter(&force[i], M, i, count, b->force + e * M);
        }
        wide_scatter(&energy, 1, 0, count, b->energy + e);
    }
}

static stn_status evaluate(const void *self, stn_element_batch *b, stn_error *err) {
    (void)err; // any finite position has a force, that of an inverted element too
    evaluate_all(self, b);
    return STN_OK;
}

static void mass(const void *self, const double *constants, double *shares) {
    const tetra *t = (const tetra *)constants;
    for (int32_t i = 0; i < NODES * NODES; i++) {
        shares[i] = t->mass * mass_share(self, i / NODES == i % NODES);
    }
}

STN_KERNEL static void measure_all(const fem *f, const stn_element_batch *b, double *values) {
    for (int32_t e = 0; e < b->count; e += WIDE) {
        const int32_t count = b->count - e < WIDE ? b->count - e : WIDE, width = STN_COUNT(outputs);
        lanes l;
        find_lanes(f, b, e, count, &l);
        const wide *p = l.m.stress, *sigma = l.s.sigma;
        wide shear = (p[0] - p[1]) * (p[0] - p[1]) + (p[1] - p[2]) * (p[1] - p[2]) + (p[2] - p[0]) * (p[2] - p[0]);
        wide von_mises = 0.5 * shear, pressure = (p[0] + p[1] + p[2]) / -3.0, ratio = sigma[0] * sigma[1] * sigma[2];
        wide_root(&von_mises);
        wide_scatter(&von_mises, width, 0, count, values + e * width);
        wide_scatter(&pressure, width, 1, count, values + e * width);
        wide_scatter(&ratio, width, 2, count, values + e * width);
    }
}

static void measure(const void *self, const stn_element_batch *b, double *values) {
    measure_all(self, b, values);
}

static const stn_element_ops ops = {
    .size = sizeof ops,
    .nodes_per_element = NODES,
    .constant_count = sizeof(tetra) / sizeof(double),
    .prepare = prepare,
    .evaluate = evaluate,
    .parameter_count = STN_COUNT(parameters),
    .parameters = parameters,
    .mass = mass,
    .output_count = STN_COUNT(outputs),
    .outputs = outputs,
    .measure = measure,
};

static const stn_plugin_desc descriptor = {
    .size = sizeof descriptor,
    .kind = STN_KIND_ELEMENT,
    .id = "fem",
    .version = "1.0.0",
    .summary = "Linear tetrahedra of a co-rotational or stable Neo-Hookean solid",
    .reference = "mueller-2004, smith-2018 eq. 14, smith-2019",
    .config_size = sizeof(fem),
    .params = params,
    .param_count = STN_COUNT(params),
    .create = create,
    .destroy = destroy,
    .ops.element = &ops,
};
STN_PLUGIN_LIBRARY(&descriptor);
