// SPDX-License-Identifier: Apache-2.0
// See ray_system.h.
#include "ray_system.h"

#include <math.h>
#include <string.h>

stn_status ray_system_create(rays *r, int32_t n, const stn_solve_control *control, ray_system *out, stn_error *err) {
    const stn_problem *p = r->problem;
    stn_arena *arena = control->arena;
    *out = (ray_system){.r = r, .n = n};
    stn_status status = augmented_pack(&out->H, p, control, err);
    out->H.proximal = r->proximal;
    if (status == STN_OK) {
        status = augmented_analyse(&out->H, AUGMENTED_AUTO, err);
    }
    if (status != STN_OK) {
        return status;
    }
    double **const vectors[] = {&out->t, &out->rate, &out->seen, &out->E, &out->rest, &out->left, &out->more, &out->dv};
    const int32_t sizes[] = {p->row_count, p->row_count, p->row_count, n, n, n, n, p->nv};
    out->unknown = STN_ARENA(arena, p->row_count + 1, int32_t);
    out->G = STN_ARENA_ZEROED(arena, 6 * (size_t)out->H.lane_stride + 1, double);
    out->line_G = STN_ARENA_ZEROED(arena, out->H.line_stride + 1, double);
    bool good = out->unknown != NULL && out->G != NULL && out->line_G != NULL;
    for (int32_t i = 0; i < STN_COUNT(vectors); i++) {
        *vectors[i] = STN_ARENA_ZEROED(arena, sizes[i] + 1, double);
        good = good && *vectors[i] != NULL;
    }
    if (!good) {
        return stn_fail(err, STN_ERR_MEMORY, "%d unknowns: out of memory", n);
    }
    for (int32_t i = 0; i < p->constraint_count; i++) {
        for (int32_t k = 0; k < p->constraints[i].rows; k++) {
            out->unknown[p->constraints[i].row + k] = r->start[i] + k;
        }
    }
    return STN_OK;
}

// -------------------------------------------------------------------------------------------------------------- factor

/// L (3 x 3, lower) of a semidefinite K = L L^T: a column whose pivot is rounding is 0.
static void factor_semidefinite(const double *K, double *L) {
    memset(L, 0, 9 * sizeof *L);
    for (int32_t j = 0; j < 3; j++) {
        double pivot = K[4 * j];
        for (int32_t k = 0; k < j; k++) {
            pivot -= L[3 * j + k] * L[3 * j + k];
        }
        if (!(pivot > 1e-15 * K[4 * j])) {
            continue;
        }
        L[4 * j] = sqrt(pivot);
        for (int32_t i = j + 1; i < 3; i++) {
            double sum = K[3 * i + j];
            for (int32_t k = 0; k < j; k++) {
                sum -= L[3 * i + k] * L[3 * j + k];
            }
            L[3 * i + j] = sum / L[4 * j];
        }
    }
}

/// G = (K^-1 + R)^-1 = L (1 + L^T R L)^-1 L^T, in the place of K.
static void condense(const double *R, double *K) {
    double L[9], M[9], X[9];
    if (R[0] == 0.0 && R[1] == 0.0 && R[2] == 0.0) {
        return;
    }
    factor_semidefinite(K, L);
    for (int32_t a = 0; a < 3; a++) {
        for (int32_t b = 0; b < 3; b++) {
            double sum = a == b ? 1.0 : 0.0;
            for (int32_t k = 0; k < 3; k++) {
                sum += L[3 * k + a] * R[k] * L[3 * k + b];
            }
            M[3 * a + b] = sum;
        }
    }
    stn_cholesky(3, M, 3);
    memcpy(X, L, sizeof X); // rows of L are the columns of L^T
    stn_cholesky_forward(3, M, 3, 3, X, 3);
    for (int32_t a = 0; a < 3; a++) {
        for (int32_t b = 0; b < 3; b++) {
            K[3 * a + b] = X[3 * a] * X[3 * b] + X[3 * a + 1] * X[3 * b + 1] + X[3 * a + 2] * X[3 * b + 2];
        }
    }
}

stn_status ray_system_factor(ray_system *s, const double *E, stn_error *err) {
    const rays *r = s->r;
    augmented *H = &s->H;
    for (int32_t u = 0; u < s->n; u++) {
        const double own = E[u] + (s->extra != NULL ? s->extra[u] : 0.0);
        s->factored = s->factored && own == s->E[u];
        s->E[u] = own;
    }
    if (s->factored) {
        return STN_OK;
    }
    for (int32_t lane = 0; lane < H->lane_count; lane++) {
        static const int32_t entries[6] = {0, 1, 4, 2, 5, 8};
        const int32_t i = H->lane_constraint[lane];
        double K[9] = {0.0};
        for (int32_t u = r->start[i]; u < r->start[i + 1]; u++) {
            const double *ray = r->ray + 3 * (size_t)u;
            for (int32_t k = 0; k < 9; k++) {
                K[k] += ray[k / 3] * ray[k % 3] / s->E[u];
            }
        }
        condense(r->problem->R + r->problem->constraints[i].row, K);
        for (int32_t e = 0; e < 6; e++) {
            s->G[(int64_t)e * H->lane_stride + lane] = K[entries[e]];
        }
    }
    for (int32_t i = 0; i < H->line_count; i++) {
        const int32_t row = H->line_row[i];
        s->line_G[i] = 1.0 / (r->problem->R[row] + s->E[s->unknown[row]]);
    }
    augmented_assemble(H, s->G, s->line_G, NULL);
    stn_status status = augmented_factor(H, 0.0, err);
    s->factored = status == STN_OK;
    return status;
}

// --------------------------------------------------------------------------------------------------------------- solve

void ray_system_product(ray_system *s, const double *x, double *g) {
    rays_product(s->r, x, g);
    for (int32_t u = 0; u < s->n && s->extra != NULL; u++) {
        g[u] += s->extra[u] * x[u];
    }
}

/// x -= (x.q) q
static void remove_part(const double *q, double *x) {
    const double along = x[0] * q[0] + x[1] * q[1] + x[2] * q[2];
    for (int32_t k = 0; k < 3; k++) {
        x[k] -= along * q[k];
    }
}

static double dot(const double *x, const double *y) {
    return x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
}

/// Speeds of cone i with r_u.speeds = g_u for up to three independent rays, those of least E first: along them only, so
/// that the speed at which a contact slips is no part of it.
static void see_cone(const ray_system *s, int32_t i, const double *g, double *speeds) {
    const rays *r = s->r;
    double q[3][3]; // orthonormal
    speeds[0] = speeds[1] = speeds[2] = 0.0;
    for (int32_t rank = 0; rank < 3; rank++) {
        double most = 0.0;
        int32_t next = -1;
        for (int32_t u = r->start[i]; u < r->start[i + 1]; u++) {
            const double *ray = r->ray + 3 * (size_t)u;
            double part[3] = {ray[0], ray[1], ray[2]};
            for (int32_t k = 0; k < rank; k++) {
                remove_part(q[k], part);
            }
            const double square = dot(part, part);
            if (square / s->E[u] > most && square > 1e-20 * dot(ray, ray)) {
                most = square / s->E[u];
                next = u;
                memcpy(q[rank], part, sizeof part);
            }
        }
        if (next < 0) {
            return;
        }
        const double *ray = r->ray + 3 * (size_t)next, length = sqrt(dot(q[rank], q[rank]));
        const double by = (g[next] - dot(ray, speeds)) / length;
        for (int32_t k = 0; k < 3; k++) {
            q[rank][k] /= length;
            speeds[k] += by * q[rank][k];
        }
    }
}

/// y = G x of a cone.
static void times_G(const ray_system *s, int32_t lane, const double *x, double *y) {
    const int64_t stride = s->H.lane_stride;
    const double *G = s->G + lane;
    y[0] = G[0] * x[0] + G[stride] * x[1] + G[3 * stride] * x[2];
    y[1] = G[stride] * x[0] + G[2 * stride] * x[1] + G[4 * stride] * x[2];
    y[2] = G[3 * stride] * x[0] + G[4 * stride] * x[1] + G[5 * stride] * x[2];
}

/// s, l, t and, into `rate`, t - G (s + R t) of a cone.
static void prepare_cone(ray_system *s, int32_t lane, const double *g, bool speeds) {
    const rays *r = s->r;
    const int32_t i = s->H.lane_constraint[lane], row = r->problem->constraints[i].row;
    const double *R = r->problem->R + row;
    double *seen = s->seen + row, *t = s->t + row, *rate = s->rate + row, sum[3], back[3];
    see_cone(s, i, g, seen);
    t[0] = t[1] = t[2] = 0.0;
    for (int32_t u = r->start[i]; u < r->start[i + 1]; u++) {
        const double *ray = r->ray + 3 * (size_t)u;
        s->rest[u] = speeds ? 0.0 : g[u] - dot(ray, seen);
        for (int32_t k = 0; k < 3; k++) {
            t[k] -= ray[k] * s->rest[u] / s->E[u];
        }
    }
    for (int32_t k = 0; k < 3; k++) {
        sum[k] = seen[k] + R[k] * t[k];
    }
    times_G(s, lane, sum, back);
    for (int32_t k = 0; k < 3; k++) {
        rate[k] = t[k] - back[k];
    }
}

/// d of a cone, J dv in `rate`.
static void finish_cone(const ray_system *s, int32_t lane, double *d) {
    const rays *r = s->r;
    const int32_t i = s->H.lane_constraint[lane], row = r->problem->constraints[i].row;
    const double *R = r->problem->R + row;
    double y[3], back[3];
    for (int32_t k = 0; k < 3; k++) {
        y[k] = s->seen[row + k] + R[k] * s->t[row + k] + s->rate[row + k];
    }
    times_G(s, lane, y, back);
    for (int32_t k = 0; k < 3; k++) {
        y[k] -= R[k] * back[k];
    }
    for (int32_t u = r->start[i]; u < r->start[i + 1]; u++) {
        d[u] = -(s->rest[u] + dot(r->ray + 3 * (size_t)u, y)) / s->E[u];
    }
}

void ray_system_solve(ray_system *s, const double *g, bool speeds, double *d) {
    const stn_problem *p = s->r->problem;
    const augmented *H = &s->H;
    for (int32_t lane = 0; lane < H->lane_count; lane++) {
        prepare_cone(s, lane, g, speeds);
    }
    for (int32_t i = 0; i < H->line_count; i++) {
        s->rate[H->line_row[i]] = -s->line_G[i] * g[s->unknown[H->line_row[i]]];
    }
    memset(s->dv, 0, (size_t)p->nv * sizeof *s->dv);
    stn_problem_jacobian_transposed_add(p, 1.0, s->rate, s->dv);
    augmented_solve(H, s->dv);
    stn_problem_contact_velocity(p, s->dv, false, s->rate);
    for (int32_t lane = 0; lane < H->lane_count; lane++) {
        finish_cone(s, lane, d);
    }
    for (int32_t i = 0; i < H->line_count; i++) {
        const int32_t row = H->line_row[i], u = s->unknown[row];
        d[u] = -s->line_G[i] * (g[u] + s->rate[row]);
    }
}

void ray_system_refine(ray_system *s, const double *g, const double *size, double *d) {
    enum { CORRECTIONS = 3 };
    double before = INFINITY;
    ray_system_solve(s, g, false, d);
    for (int32_t k = 0; k < CORRECTIONS; k++) {
        double left = 0.0;
        rays_product(s->r, d, s->left);
        for (int32_t u = 0; u < s->n; u++) {
            const bool moves = s->E[u] < (double)INFINITY;
            s->left[u] = moves ? s->left[u] + s->E[u] * d[u] + g[u] : 0.0;
            left = moves ? fmax(left, fabs(s->left[u]) / size[u]) : left;
        }
        if (!(left > 0.0 && left < 0.5 * before)) {
            return;
        }
        before = left;
        ray_system_solve(s, s->left, false, s->more);
        for (int32_t u = 0; u < s->n; u++) {
            d[u] += s->more[u];
        }
    }
}
