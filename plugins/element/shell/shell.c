// SPDX-License-Identifier: Apache-2.0
// Thin shells and cloth: triangles that stretch and bend, without degrees of freedom of rotation. An element is a
// triangle, nodes 0 to 2, and the far corners of its three neighbours, nodes 3 to 5; node 3 + i lies across the edge
// opposite to node i.
//
//   stretch  area thickness psi(F),  F (3 x 2) = sum_n x_n g_n^T, psi co-rotational with the moduli of plane stress
//   bend     area D/2 ((1 - nu) S : S + nu tr(S)^2),  S the curvature by the angles to the neighbours  [onate-2000],
//   hinge.h
//
// K has the exact Hessian of the first without its negative parts, and J^T B B^T J of the second, J = d angle / dx.
#include <string.h>

#include <stiction/plugin.h>

#include "common/elastic.h"
#include "common/stretch.h"
#include "hinge.h"

enum { CORNERS = 3, NODES = 6, M = 3 * NODES };
enum { LUMPED, CONSISTENT };

typedef struct shell {
    double young, poisson, thickness, density, bending, rayleigh_mass, rayleigh_stiffness;
    int32_t mass;
} shell;

static const char *const masses[] = {"lumped", "consistent", NULL};
static const stn_param params[] = {
    STN_PARAM_REAL(shell, young, "Pa", 1e6, 0.0, INFINITY, "Young's modulus, > 0"),
    STN_PARAM_REAL(shell, poisson, "1", 0.3, -1.0, 0.5, "Poisson's ratio, above -1"),
    STN_PARAM_REAL(shell, thickness, "m", 1e-3, 0.0, INFINITY, "> 0"),
    STN_PARAM_REAL(shell, density, "kg/m^3", 1000.0, 0.0, INFINITY, "0: the nodes' own mass alone"),
    STN_PARAM_REAL(shell, bending, "N m", -1.0, -1.0, INFINITY,
                   "stiffness D of bending; below 0: young thickness^3 / (12 (1 - poisson^2)); 0: a membrane"),
    STN_PARAM_CHOICE(shell, mass, masses, LUMPED,
                     "lumped: a third of the triangle's at each corner; consistent: by its shape functions"),
    STN_PARAM_REAL(shell, rayleigh_mass, "1/s", 0.0, 0.0, INFINITY, "drag over momentum: also of rigid motion"),
    STN_PARAM_REAL(shell, rayleigh_stiffness, "s", 0.0, 0.0, INFINITY, "viscosity over elastic modulus"),
};

static const stn_element_parameter parameters[] = {{"young", "Pa", "Young's modulus"},
                                                   {"poisson", "1", "Poisson's ratio"},
                                                   {"thickness", "m", "of its sheet"},
                                                   {"density", "kg/m^3", "of its material"}};

static const stn_constraint_output outputs[] = {
    {"von_mises", "Pa", "von Mises stress, the larger one of the two faces, force over area at rest", 1, NULL},
    {"tension", "Pa", "mean of the principal stresses half way through, < 0 where pressed", 1, NULL},
    {"area_ratio", "1", "area over that at rest", 1, NULL},
};

/// The constants of one element.
typedef struct plate {
    stn_vec3 corner[3];     // at rest, in its plane, z = 0 [m]
    stn_vec3 gradient[2];   // of the shape functions of corners 1 and 2, there [1/m]
    double area, thickness; // at rest
    double mu, lambda;      // of plane stress [Pa]
    double mass;            // [kg]
    double bending[3][3];   // B of hinge_stiffness [(N m)^1/2]
    double angle[3];        // at rest; NaN: no neighbour there
} plate;

static stn_status check(const elastic *e, double thickness, stn_error *err) {
    stn_status status = elastic_check(e, false, err);
    if (status != STN_OK) {
        return status;
    }
    if (!(thickness > 0.0) || !isfinite(thickness)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "thickness = %g m must be > 0 and finite", thickness);
    }
    return STN_OK;
}

static stn_status create(stn_context *context, const void *config, void **self, stn_error *err) {
    (void)context;
    const shell *s = config;
    elastic e = {s->young, s->poisson, s->density};
    *self = (void *)config;
    return check(&e, s->thickness, err);
}

static void destroy(void *self) {
    (void)self; // the config, which the core owns
}

/// The hinge along the edge opposite to corner i.
static bool hinge_at(const double *x, int32_t i, double least_area, hinge *h) {
    return hinge_of(stn_vec3_at(x, (i + 1) % 3), stn_vec3_at(x, (i + 2) % 3), stn_vec3_at(x, i), stn_vec3_at(x, 3 + i),
                    least_area, h);
}

static stn_status prepare(const void *self, const double *rest, const double *own, double *constants, stn_error *err) {
    const shell *s = self;
    plate *p = (plate *)constants;
    elastic e = {elastic_own(own[0], s->young), elastic_own(own[1], s->poisson), elastic_own(own[3], s->density)};
    p->thickness = elastic_own(own[2], s->thickness);
    stn_status status = check(&e, p->thickness, err);
    if (status != STN_OK) {
        return status;
    }
    stn_vec3 first = stn_vec3_sub(stn_vec3_at(rest, 1), stn_vec3_at(rest, 0)),
             second = stn_vec3_sub(stn_vec3_at(rest, 2), stn_vec3_at(rest, 0));
    stn_vec3 along = stn_vec3_normalize_or(first, stn_vec3_zero());
    double a = stn_vec3_norm(first), b = stn_vec3_dot(second, along), longest = fmax(a, stn_vec3_norm(second));
    double c = stn_vec3_norm(stn_vec3_cross(along, second));
    if (!isfinite(a * c)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "area = %g m^2: a coordinate is not finite, or too large", 0.5 * a * c);
    }
    if (!(a * c > 1e-12 * longest * longest)) {
        return stn_fail(err, STN_ERR_ARGUMENT,
                        "area = %g m^2, of edges of up to %g m: its corners lie on a line; leave it out or move a node",
                        0.5 * a * c, longest);
    }
    p->corner[0] = stn_vec3_zero();
    p->corner[1] = stn_vec3_make(a, 0.0, 0.0);
    p->corner[2] = stn_vec3_make(b, c, 0.0);
    p->gradient[0] = stn_vec3_make(1.0 / a, -b / (a * c), 0.0);
    p->gradient[1] = stn_vec3_make(0.0, 1.0 / c, 0.0);
    p->area = 0.5 * a * c;
    p->mass = e.density * p->area * p->thickness;
    p->mu = e.young / (2.0 * (1.0 + e.poisson));
    p->lambda = e.young * e.poisson / (1.0 - e.poisson * e.poisson);
    bool alone[3];
    for (int32_t i = 0; i < 3; i++) {
        // a node of its own across an edge: no neighbour
        alone[i] = rest[9 + 3 * i] == rest[3 * i] && rest[10 + 3 * i] == rest[3 * i + 1] &&
                   rest[11 + 3 * i] == rest[3 * i + 2];
        hinge h;
        if (!alone[i] && !hinge_at(rest, i, 1e-12 * longest * longest, &h)) {
            return stn_fail(
                err, STN_ERR_ARGUMENT,
                "its neighbour across nodes %d and %d (of 0 to 5) has no area: move a node, or give node %d "
                "again for an edge without neighbour",
                (i + 1) % 3, (i + 2) % 3, i);
        }
        p->angle[i] = alone[i] ? (double)NAN : h.angle;
    }
    double D = s->bending;
    if (D < 0.0) {
        D = e.young * p->thickness * p->thickness * p->thickness / (12.0 * (1.0 - e.poisson * e.poisson));
    }
    hinge_stiffness(p->corner, D, e.poisson, alone, p->bending);
    return STN_OK;
}

/// Up to four elements as lanes: what stretches.
typedef struct lanes {
    wide gradient[2][3], area, thickness, mu, lambda, mass, volume;
    wide F[3][3]; // sum_n (x_n - x_0) g_n^T; the third column is 0
    stretch s;
    material m;
} lanes;

STN_KERNEL_INLINE void find_lanes(const stn_element_batch *b, int32_t e, int32_t count, lanes *l) {
    const plate *p = (const plate *)b->constants + e;
    const int32_t stride = (int32_t)(sizeof *p / sizeof(double));
    const double *x = b->x + e * M;
    const wide none = {0.0};
    for (int32_t i = 0; i < 6; i++) {
        wide_gather(&p->gradient[0].x, stride, i, count, &l->gradient[i / 3][i % 3]);
    }
    wide_gather(&p->area, stride, 0, count, &l->area);
    wide_gather(&p->thickness, stride, 0, count, &l->thickness);
    wide_gather(&p->mu, stride, 0, count, &l->mu);
    wide_gather(&p->lambda, stride, 0, count, &l->lambda);
    wide_gather(&p->mass, stride, 0, count, &l->mass);
    l->volume = l->area * l->thickness;
    for (int32_t i = 0; i < 3; i++) {
        wide origin = none, edge = none;
        l->F[i][0] = l->F[i][1] = l->F[i][2] = none;
        wide_gather(x, M, i, count, &origin);
        for (int32_t n = 0; n < 2; n++) {
            wide_gather(x, M, 3 * n + 3 + i, count, &edge);
            edge -= origin;
            l->F[i][0] += edge * l->gradient[n][0];
            l->F[i][1] += edge * l->gradient[n][1];
        }
    }
    stretch_find((const wide(*)[3])l->F, &l->s);
    corotational(&l->mu, &l->lambda, 2, l->s.sigma, &l->m);
}

/// The three angles round a triangle: how far each is from rest, and their derivatives.
typedef struct folds {
    double angle[3]; // minus that at rest; any number of turns, counted from the step before
    double J[3][M];  // d angle / dx [1/m]
    double pull[3];  // B^T angle: the energy is half its square [J^1/2]
} folds;

static void set(double *at, stn_vec3 a) {
    at[0] = a.x;
    at[1] = a.y;
    at[2] = a.z;
}

/// An angle that is not defined, as one of the triangles has collapsed, stays as it was and has no derivative.
static folds folds_of(const plate *p, const double *x, const double *before) {
    folds f = {0};
    for (int32_t i = 0; i < 3; i++) {
        hinge h;
        f.angle[i] = before[i];
        if (isnan(p->angle[i]) || !hinge_at(x, i, 1e-6 * p->area, &h)) {
            continue;
        }
        f.angle[i] += remainder(h.angle - p->angle[i] - before[i], 2.0 * 3.14159265358979323846);
        set(f.J[i] + 3 * ((i + 1) % 3), h.gradient[0]);
        set(f.J[i] + 3 * ((i + 2) % 3), h.gradient[1]);
        set(f.J[i] + 3 * i, h.gradient[2]);
        set(f.J[i] + 3 * (3 + i), h.gradient[3]);
    }
    for (int32_t i = 0; i < 9; i++) {
        f.pull[i % 3] += p->bending[i / 3][i % 3] * f.angle[i / 3];
    }
    return f;
}

/// A += scale G^T G, exactly symmetric.
STN_KERNEL_INLINE void add_squares(const double (*restrict G)[M], double scale, double *restrict A) {
    for (int32_t r = 0; r < M; r++) {
        const double x = G[0][r], y = G[1][r], z = G[2][r];
        for (int32_t c = 0; c < M; c++) {
            A[r * M + c] += scale * (x * G[0][c] + y * G[1][c] + z * G[2][c]);
        }
    }
}

/// Adds the force of bending and of its damping, and their derivatives.
STN_KERNEL_INLINE void bend(const shell *s, const plate *p, const folds *f, const double *v, double *restrict force,
                            double *restrict K, double *restrict D) {
    double G[3][M], pull[3]; // B^T J
    for (int32_t k = 0; k < 3; k++) {
        double rate = 0.0;
        for (int32_t c = 0; c < M; c++) {
            G[k][c] = p->bending[0][k] * f->J[0][c] + p->bending[1][k] * f->J[1][c] + p->bending[2][k] * f->J[2][c];
        }
        for (int32_t c = 0; c < M; c++) {
            rate += G[k][c] * v[c];
        }
        pull[k] = f->pull[k] + s->rayleigh_stiffness * rate;
    }
    for (int32_t r = 0; r < M; r++) {
        force[r] -= G[0][r] * pull[0] + G[1][r] * pull[1] + G[2][r] * pull[2];
    }
    if (K != NULL) {
        add_squares((const double(*)[M])G, 1.0, K);
    }
    if (D != NULL && s->rayleigh_stiffness > 0.0) {
        add_squares((const double(*)[M])G, s->rayleigh_stiffness, D);
    }
}

/// What of a triangle's mass couples corner n with itself, or with another one.
static double mass_share(const shell *s, bool same) {
    double own = s->mass == CONSISTENT ? 1.0 / 6.0 : 1.0 / 3.0, other = s->mass == CONSISTENT ? 1.0 / 12.0 : 0.0;
    return same ? own : other;
}

/// Writes the forces and matrices of what stretches, and zeros beside them.
STN_KERNEL_INLINE void write_corners(const wide *lanes_of, int32_t count, double *matrices) {
    memset(matrices, 0, (size_t)(count * M * M) * sizeof *matrices);
    for (int32_t i = 0; i < 9 * CORNERS * CORNERS; i++) {
        wide_scatter(&lanes_of[i], M * M, i / 9 * M + i % 9, count, matrices);
    }
}

/// Force of both dampings of what stretches, and their matrix where D is not NULL.
STN_KERNEL_INLINE void damp(const shell *s, const stn_element_batch *b, int32_t e, int32_t count, const lanes *l,
                            wide *force, double *D) {
    enum { C = 3 * CORNERS };
    const wide(*F)[3] = (const wide(*)[3])l->F, (*g)[3] = (const wide(*)[3])l->gradient;
    wide mu = s->rayleigh_stiffness * l->mu, lambda = s->rayleigh_stiffness * l->lambda, v[C], matrix[C * C];
    for (int32_t i = 0; i < C; i++) {
        wide_gather(b->v + e * M, M, i, count, &v[i]);
    }
    material_drag(F, &mu, &lambda, &l->volume, CORNERS, g, v, force);
    if (D != NULL) {
        material_damping(F, &mu, &lambda, &l->volume, CORNERS, g, matrix);
    }
    for (int32_t i = 0; i < CORNERS * CORNERS * 3; i++) {
        int32_t row = 3 * (i / 9) + i % 3, column = 3 * (i / 3 % 3) + i % 3;
        wide drag = s->rayleigh_mass * mass_share(s, row == column) * l->mass;
        force[row] -= drag * v[column];
        if (D != NULL) {
            matrix[row * C + column] += drag;
        }
    }
    if (D != NULL) {
        write_corners(matrix, count, D);
    }
}

STN_KERNEL static void evaluate_all(const shell *s, const stn_element_batch *b) {
    enum { C = 3 * CORNERS };
    const bool damped = s->rayleigh_stiffness > 0.0 || s->rayleigh_mass > 0.0;
    for (int32_t e = 0; e < b->count; e += WIDE) {
        const int32_t count = b->count - e < WIDE ? b->count - e : WIDE;
        double *K = b->K != NULL ? b->K + e * M * M : NULL, *D = b->D != NULL ? b->D + e * M * M : NULL;
        lanes l;
        wide P[3][3], force[C], energy, matrix[C * C];
        find_lanes(b, e, count, &l);
        material_stress(&l.s, &l.m, P);
        for (int32_t i = 0; i < C; i++) {
            force[i] = (wide){0.0};
        }
        material_pull((const wide(*)[3])P, &l.volume, CORNERS, (const wide(*)[3])l.gradient, force);
        energy = l.volume * l.m.energy;
        if (K != NULL) {
            material_stiffness(&l.s, &l.m, &l.volume, CORNERS, (const wide(*)[3])l.gradient, matrix);
            write_corners(matrix, count, K);
        }
        if (damped) {
            damp(s, b, e, count, &l, force, D);
        } else if (D != NULL) {
            memset(D, 0, (size_t)(count * M * M) * sizeof *D);
        }
        memset(b->force + e * M, 0, (size_t)(count * M) * sizeof *b->force);
        for (int32_t i = 0; i < C; i++) {
            wide_scatter(&force[i], M, i, count, b->force + e * M);
        }
        for (int32_t k = 0; k < count; k++) {
            const int32_t at = e + k;
            const plate *p = (const plate *)b->constants + at;
            folds f = folds_of(p, b->x + at * M, b->state + 3 * at);
            bend(s, p, &f, b->v + at * M, b->force + at * M, K != NULL ? K + k * M * M : NULL,
                 D != NULL ? D + k * M * M : NULL);
            b->energy[at] = energy[k] + 0.5 * (f.pull[0] * f.pull[0] + f.pull[1] * f.pull[1] + f.pull[2] * f.pull[2]);
            if (b->next_state != NULL) {
                memcpy(b->next_state + 3 * at, f.angle, sizeof f.angle);
            }
        }
    }
}

static stn_status evaluate(const void *self, stn_element_batch *b, stn_error *err) {
    (void)err; // any finite position has a force
    evaluate_all(self, b);
    return STN_OK;
}

static void mass(const void *self, const double *constants, double *shares) {
    const plate *p = (const plate *)constants;
    for (int32_t i = 0; i < NODES * NODES; i++) {
        int32_t row = i / NODES, column = i % NODES;
        shares[i] = row < CORNERS && column < CORNERS ? p->mass * mass_share(self, row == column) : 0.0;
    }
}

/// Square of the von Mises stress of the plane stress (xx, yy, xy).
static double von_mises_squared(const double s[3]) {
    return s[0] * s[0] - s[0] * s[1] + s[1] * s[1] + 3.0 * s[2] * s[2];
}

/// Stress of bending on one face, xx, yy, xy in the axes of `corner`: 6 / thickness^2 times the tensor of moments [N]
/// whose part across each edge i is 2 moment_i / l_i.
static void bending_stress(const plate *p, const folds *f, double stress[3]) {
    stress[0] = stress[1] = stress[2] = 0.0;
    for (int32_t i = 0; i < 3; i++) {
        double moment = p->bending[i][0] * f->pull[0] + p->bending[i][1] * f->pull[1] + p->bending[i][2] * f->pull[2];
        stn_vec3 left = stn_vec3_sub(p->corner[(i + 1) % 3], p->corner[i]);
        stn_vec3 right = stn_vec3_sub(p->corner[(i + 2) % 3], p->corner[i]);
        double length = stn_vec3_norm(stn_vec3_sub(left, right));
        double share = 3.0 * moment * length / (p->thickness * p->thickness * p->area * p->area);
        stress[0] += share * left.x * right.x;
        stress[1] += share * left.y * right.y;
        stress[2] += 0.5 * share * (left.x * right.y + left.y * right.x);
    }
}

STN_KERNEL static void measure_all(const stn_element_batch *b, double *values) {
    for (int32_t e = 0; e < b->count; e += WIDE) {
        const int32_t count = b->count - e < WIDE ? b->count - e : WIDE;
        lanes l;
        find_lanes(b, e, count, &l);
        for (int32_t k = 0; k < count; k++) {
            const plate *p = (const plate *)b->constants + e + k;
            double middle[3] = {0.0}, face[3], high[3], low[3], *value = values + (e + k) * STN_COUNT(outputs);
            for (int32_t i = 0; i < 2; i++) {
                double x = l.s.v[i][0][k], y = l.s.v[i][1][k], stress = l.m.stress[i][k];
                middle[0] += stress * x * x;
                middle[1] += stress * y * y;
                middle[2] += stress * x * y;
            }
            folds f = folds_of(p, b->x + (e + k) * M, b->state + 3 * (e + k));
            bending_stress(p, &f, face);
            for (int32_t i = 0; i < 3; i++) {
                high[i] = middle[i] + face[i];
                low[i] = middle[i] - face[i];
            }
            value[0] = sqrt(fmax(von_mises_squared(high), von_mises_squared(low)));
            value[1] = 0.5 * (l.m.stress[0][k] + l.m.stress[1][k]);
            value[2] = l.s.sigma[0][k] * l.s.sigma[1][k];
        }
    }
}

static void measure(const void *self, const stn_element_batch *b, double *values) {
    (void)self;
    measure_all(b, values);
}

static const stn_element_ops ops = {
    .size = sizeof ops,
    .nodes_per_element = NODES,
    .constant_count = sizeof(plate) / sizeof(double),
    .prepare = prepare,
    .evaluate = evaluate,
    .parameter_count = STN_COUNT(parameters),
    .parameters = parameters,
    .state_count = 3,
    .mass = mass,
    .output_count = STN_COUNT(outputs),
    .outputs = outputs,
    .measure = measure,
};

static const char *const capabilities[] = {"repeats", NULL};

static const stn_plugin_desc descriptor = {
    .size = sizeof descriptor,
    .kind = STN_KIND_ELEMENT,
    .id = "shell",
    .version = "1.0.0",
    .summary = "Thin shells and cloth: triangles that stretch, and bend towards their neighbours",
    .reference = "onate-2000, tamstorf-2013",
    .capabilities = capabilities,
    .config_size = sizeof(shell),
    .params = params,
    .param_count = STN_COUNT(params),
    .create = create,
    .destroy = destroy,
    .ops.element = &ops,
};
STN_PLUGIN_LIBRARY(&descriptor);
