// SPDX-License-Identifier: Apache-2.0
#include "common/stretch.h"

#include <string.h>

/// Rotates columns p and q of A and V so that those of A become orthogonal. False: they were already.
static bool make_orthogonal(double A[3][3], double V[3][3], int32_t p, int32_t q) {
    double *a = A[p], *b = A[q];
    double aa = a[0] * a[0] + a[1] * a[1] + a[2] * a[2];
    double bb = b[0] * b[0] + b[1] * b[1] + b[2] * b[2];
    double ab = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    if (!(ab * ab > 1e-31 * aa * bb)) {
        return false;
    }
    double zeta = (bb - aa) / (2.0 * ab);
    double t = (zeta < 0.0 ? -1.0 : 1.0) / (fabs(zeta) + sqrt(1.0 + zeta * zeta));
    double c = 1.0 / sqrt(1.0 + t * t), s = c * t;
    for (int32_t i = 0; i < 3; i++) {
        double x = a[i], y = V[p][i];
        a[i] = c * x - s * b[i];
        b[i] = s * x + c * b[i];
        V[p][i] = c * y - s * V[q][i];
        V[q][i] = s * y + c * V[q][i];
    }
    return true;
}

/// A unit vector across the unit vector u.
static stn_vec3 across(stn_vec3 u) {
    double x = fabs(u.x), y = fabs(u.y), z = fabs(u.z);
    stn_vec3 axis = stn_vec3_make(x <= y && x <= z, y < x && y <= z, z < x && z < y);
    return stn_vec3_normalize_or(stn_vec3_cross(u, axis), axis);
}

stretch stretch_of(const stn_mat3 *F) {
    // columns of F and of V, the former over the largest entry, so that no square under- or overflows
    double A[3][3], V[3][3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}}, largest = 0.0, square[3];
    for (int32_t i = 0; i < 9; i++) {
        largest = fmax(largest, fabs(F->m[i / 3][i % 3]));
    }
    double shrink = largest > 0.0 ? 1.0 / largest : 1.0;
    for (int32_t i = 0; i < 9; i++) {
        A[i % 3][i / 3] = shrink * F->m[i / 3][i % 3];
    }
    for (int32_t sweep = 0; sweep < 12; sweep++) { // converges quadratically, most often in 3
        bool turned = make_orthogonal(A, V, 0, 1);
        turned = make_orthogonal(A, V, 0, 2) || turned;
        turned = make_orthogonal(A, V, 1, 2) || turned;
        if (!turned) {
            break;
        }
    }
    int32_t order[3] = {0, 1, 2};
    for (int32_t i = 0; i < 3; i++) {
        square[i] = A[i][0] * A[i][0] + A[i][1] * A[i][1] + A[i][2] * A[i][2];
    }
    for (int32_t i = 0; i < 3; i++) { // three exchanges of neighbours sort three numbers
        int32_t k = i == 1 ? 1 : 0, first = order[k];
        if (square[first] < square[order[k + 1]]) {
            order[k] = order[k + 1];
            order[k + 1] = first;
        }
    }
    stn_vec3 a[3], v[3], u[3];
    for (int32_t i = 0; i < 3; i++) {
        a[i] = stn_vec3_make(A[order[i]][0], A[order[i]][1], A[order[i]][2]);
        v[i] = stn_vec3_make(V[order[i]][0], V[order[i]][1], V[order[i]][2]);
    }
    // an odd exchange would make V a reflection
    if (stn_vec3_dot(stn_vec3_cross(v[0], v[1]), v[2]) < 0.0) {
        v[2] = stn_vec3_neg(v[2]);
        a[2] = stn_vec3_neg(a[2]);
    }
    u[0] = stn_vec3_normalize_or(a[0], stn_vec3_make(1.0, 0.0, 0.0));
    u[1] = stn_vec3_normalize_or(stn_vec3_mul_add(a[1], -stn_vec3_dot(a[1], u[0]), u[0]), across(u[0]));
    u[2] = stn_vec3_cross(u[0], u[1]);
    stretch s = {.U = stn_mat3_columns(u[0], u[1], u[2]), .V = stn_mat3_columns(v[0], v[1], v[2])};
    for (int32_t i = 0; i < 3; i++) {
        s.sigma[i] = largest * stn_vec3_dot(u[i], a[i]);
    }
    return s;
}

stn_mat3 stretch_rotation(const stretch *s) {
    stn_mat3 transposed = stn_mat3_transpose(&s->V);
    return stn_mat3_mul(&s->U, &transposed);
}

void material_project_scale(material *m) {
    double(*S)[3] = m->scale, V[3][3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    double minor = S[0][0] * S[1][1] - S[0][1] * S[0][1];
    double det = S[2][2] * minor + S[0][2] * (S[0][1] * S[1][2] - S[1][1] * S[0][2]) +
                 S[1][2] * (S[0][1] * S[0][2] - S[0][0] * S[1][2]);
    if (S[0][0] > 0.0 && minor > 0.0 && det > 0.0) {
        return;
    }
    for (int32_t turn = 0; turn < 30; turn++) { // ten sweeps of Jacobi; convergence is quadratic
        int32_t p = turn % 3 == 2 ? 1 : 0, q = turn % 3 == 0 ? 1 : 2;
        if (S[p][q] == 0.0) {
            continue;
        }
        double theta = (S[q][q] - S[p][p]) / (2.0 * S[p][q]);
        double t = (theta < 0.0 ? -1.0 : 1.0) / (fabs(theta) + sqrt(theta * theta + 1.0));
        double c = 1.0 / sqrt(t * t + 1.0), s = t * c;
        for (int32_t i = 0; i < 3; i++) {
            double x = S[i][p], y = V[i][p];
            S[i][p] = c * x - s * S[i][q];
            S[i][q] = s * x + c * S[i][q];
            V[i][p] = c * y - s * V[i][q];
            V[i][q] = s * y + c * V[i][q];
        }
        for (int32_t i = 0; i < 3; i++) {
            double x = S[p][i];
            S[p][i] = c * x - s * S[q][i];
            S[q][i] = s * x + c * S[q][i];
        }
        S[p][q] = S[q][p] = 0.0;
    }
    double lambda[3] = {fmax(S[0][0], 0.0), fmax(S[1][1], 0.0), fmax(S[2][2], 0.0)};
    for (int32_t i = 0; i < 3; i++) {
        for (int32_t j = 0; j < 3; j++) {
            S[i][j] = lambda[0] * V[i][0] * V[j][0] + lambda[1] * V[i][1] * V[j][1] + lambda[2] * V[i][2] * V[j][2];
        }
    }
}

material corotational(double mu, double lambda, int32_t dimension, const double sigma[3]) {
    material m = {0};
    double trace = 0.0, most = 2.0 * mu + dimension * fmax(lambda, 0.0);
    for (int32_t i = 0; i < dimension; i++) {
        double e = sigma[i] - 1.0;
        trace += e;
        m.energy += mu * e * e;
    }
    m.energy += 0.5 * lambda * trace * trace;
    for (int32_t i = 0; i < dimension; i++) {
        m.stress[i] = 2.0 * mu * (sigma[i] - 1.0) + lambda * trace;
        for (int32_t j = 0; j < dimension; j++) {
            m.scale[i][j] = lambda + (i == j ? 2.0 * mu : 0.0);
        }
    }
    for (int32_t k = 0; k < 3; k++) {
        int32_t i = (k + 1) % 3, j = (k + 2) % 3;
        double pull = m.stress[i] + m.stress[j], sum = sigma[i] + sigma[j];
        m.twist[k] = !(pull > 0.0) ? 0.0 : pull < most * sum ? pull / sum : most;
        m.flip[k] = i < dimension && j < dimension ? 2.0 * mu : m.twist[k]; // out of a surface: as its tension holds it
    }
    return m;
}

material neo_hookean(double mu, double lambda, const double sigma[3]) {
    const double m = 4.0 / 3.0 * mu, l = lambda + 5.0 / 6.0 * mu;
    // invariants minus those at rest, from the strains, so that small strains lose no digits
    const double e[3] = {sigma[0] - 1.0, sigma[1] - 1.0, sigma[2] - 1.0};
    const double longer = e[0] * (2.0 + e[0]) + e[1] * (2.0 + e[1]) + e[2] * (2.0 + e[2]);                   // I_C - 3
    const double larger = e[0] + e[1] + e[2] + e[0] * e[1] + e[1] * e[2] + e[2] * e[0] + e[0] * e[1] * e[2]; // J - 1
    const double I = longer + 4.0, p = l * larger - 0.75 * m; // I_C + 1, dpsi/dJ
    const double shear = m * (longer + 3.0) / I, soften = 2.0 * m / (I * I);
    const double cofactor[3] = {sigma[1] * sigma[2], sigma[2] * sigma[0], sigma[0] * sigma[1]};
    material w = {.energy = 0.5 * m * (longer - log1p(0.25 * longer)) + larger * (0.5 * l * larger - 0.75 * m)};
    for (int32_t i = 0; i < 3; i++) {
        // m (1 - 1/(I_C + 1)) sigma + p dJ/dsigma; at rest the two parts cancel
        w.stress[i] = shear * sigma[i] + p * cofactor[i];
        w.twist[i] = fmax(0.0, shear + p * sigma[i]);
        w.flip[i] = fmax(0.0, shear - p * sigma[i]);
        for (int32_t j = 0; j < 3; j++) {
            w.scale[i][j] =
                soften * sigma[i] * sigma[j] + l * cofactor[i] * cofactor[j] + (i == j ? shear : p * sigma[3 - i - j]);
        }
    }
    material_project_scale(&w);
    return w;
}

stn_mat3 material_stress(const stretch *s, const material *m) {
    stn_mat3 P = s->U, transposed = stn_mat3_transpose(&s->V);
    for (int32_t i = 0; i < 9; i++) {
        P.m[i / 3][i % 3] *= m->stress[i % 3];
    }
    return stn_mat3_mul(&P, &transposed);
}

/// Rows and columns of node 0 from those of the others, whose upper triangle is there; then the lower triangle.
static void complete(int32_t nodes, int32_t stride, double *K) {
    for (int32_t r = 0; r < 3; r++) {
        for (int32_t c = 3; c < 3 * nodes; c++) {
            double sum = 0.0;
            for (int32_t n = 1; n < nodes; n++) {
                int32_t row = 3 * n + r;
                sum -= row <= c ? K[row * stride + c] : K[c * stride + row];
            }
            K[r * stride + c] = sum;
        }
        for (int32_t c = r; c < 3; c++) {
            double sum = 0.0;
            for (int32_t n = 1; n < nodes; n++) {
                sum -= K[r * stride + 3 * n + c];
            }
            K[r * stride + c] = sum;
        }
    }
    for (int32_t r = 1; r < 3 * nodes; r++) {
        for (int32_t c = 0; c < r; c++) {
            K[r * stride + c] = K[c * stride + r];
        }
    }
}

void material_stiffness(const stretch *s, const material *m, double volume, int32_t nodes, const stn_vec3 *gradient,
                        int32_t stride, double *K) {
    const double(*S)[3] = m->scale;
    double a[3], b[3], g[3][3];
    for (int32_t k = 0; k < 3; k++) {
        a[k] = 0.5 * (m->flip[k] + m->twist[k]);
        b[k] = 0.5 * (m->flip[k] - m->twist[k]);
    }
    for (int32_t n = 0; n + 1 < nodes; n++) {
        stn_vec3 turned = stn_mat3_apply_transposed(&s->V, gradient[n]);
        g[n][0] = turned.x;
        g[n][1] = turned.y;
        g[n][2] = turned.z;
    }
    for (int32_t n = 0; n + 1 < nodes; n++) {
        const double *x = g[n];
        for (int32_t k = n; k + 1 < nodes; k++) {
            const double *y = g[k];
            // in the principal frame
            double xx = x[0] * y[0], yy = x[1] * y[1], zz = x[2] * y[2];
            stn_mat3 block = {{{S[0][0] * xx + a[2] * yy + a[1] * zz, S[0][1] * x[0] * y[1] + b[2] * x[1] * y[0],
                                S[0][2] * x[0] * y[2] + b[1] * x[2] * y[0]},
                               {S[0][1] * x[1] * y[0] + b[2] * x[0] * y[1], S[1][1] * yy + a[2] * xx + a[0] * zz,
                                S[1][2] * x[1] * y[2] + b[0] * x[2] * y[1]},
                               {S[0][2] * x[2] * y[0] + b[1] * x[0] * y[2], S[1][2] * x[2] * y[1] + b[0] * x[1] * y[2],
                                S[2][2] * zz + a[1] * xx + a[0] * yy}}};
            block = stn_mat3_rotate_tensor(&s->U, &block);
            double *at = K + (3 * n + 3) * stride + 3 * k + 3;
            for (int32_t i = 0; i < 9; i++) {
                at[i / 3 * stride + i % 3] = volume * block.m[i / 3][i % 3];
            }
        }
    }
    complete(nodes, stride, K);
}

static void put(double *at, double scale, stn_vec3 a) {
    at[0] += scale * a.x;
    at[1] += scale * a.y;
    at[2] += scale * a.z;
}

void material_damp(const stn_mat3 *F, double mu, double lambda, double volume, int32_t nodes, const stn_vec3 *gradient,
                   const double *v, double *force, int32_t stride, double *D) {
    stn_vec3 h[3];               // F g_n: E' : (g_n g_m^T) = sym(h_n . v_m ...)
    double rate[3][3] = {{0.0}}; // F^T F', then the stress
    for (int32_t n = 0; n + 1 < nodes; n++) {
        h[n] = stn_mat3_apply(F, gradient[n]);
        stn_vec3 relative = {v[3 * n + 3] - v[0], v[3 * n + 4] - v[1], v[3 * n + 5] - v[2]};
        stn_vec3 w = stn_mat3_apply_transposed(F, relative), g = gradient[n];
        const double left[3] = {w.x, w.y, w.z}, right[3] = {g.x, g.y, g.z};
        for (int32_t i = 0; i < 9; i++) {
            rate[i / 3][i % 3] += left[i / 3] * right[i % 3];
        }
    }
    double trace = rate[0][0] + rate[1][1] + rate[2][2];
    stn_mat3 stress;
    for (int32_t i = 0; i < 9; i++) {
        stress.m[i / 3][i % 3] = mu * (rate[i / 3][i % 3] + rate[i % 3][i / 3]) + (i % 4 == 0 ? lambda * trace : 0.0);
    }
    stn_mat3 P = stn_mat3_mul(F, &stress);
    for (int32_t n = 0; n + 1 < nodes; n++) {
        stn_vec3 f = stn_mat3_apply(&P, gradient[n]);
        put(force + 3 * n + 3, -volume, f);
        put(force, volume, f);
    }
    if (D == NULL) {
        return;
    }
    stn_mat3 transposed = stn_mat3_transpose(F), FF = stn_mat3_mul(F, &transposed);
    for (int32_t n = 0; n + 1 < nodes; n++) {
        const double x[3] = {h[n].x, h[n].y, h[n].z};
        for (int32_t k = n; k + 1 < nodes; k++) {
            const double y[3] = {h[k].x, h[k].y, h[k].z};
            double gg = mu * stn_vec3_dot(gradient[n], gradient[k]);
            double *at = D + (3 * n + 3) * stride + 3 * k + 3;
            for (int32_t i = 0; i < 9; i++) {
                int32_t r = i / 3, c = i % 3;
                at[r * stride + c] = volume * (lambda * x[r] * y[c] + mu * y[r] * x[c] + gg * FF.m[r][c]);
            }
        }
    }
    complete(nodes, stride, D);
}
