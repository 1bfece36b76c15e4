// SPDX-License-Identifier: Apache-2.0
// Isotropic elastic materials in their principal frame, four elements at once (wide.h). The deformation gradient is
// F = U diag(sigma) V^T with rotations U and V; an isotropic energy density psi depends on sigma alone. Then, with
// F' = U^T F V [smith-2019]:
//
//   dpsi/dF = U diag(dpsi/dsigma) V^T
//   d2psi/dF2 is block diagonal in the entries of dF': a 3 x 3 block d2psi/dsigma_i dsigma_j on the diagonal, and for
//   each pair (i, j) the eigenvalues   twist  (psi_i + psi_j) / (sigma_i + sigma_j)  of  dF'_ij = -dF'_ji,
//                                 flip   (psi_i - psi_j) / (sigma_i - sigma_j)  of  dF'_ij =  dF'_ji.
//
// Each block is made positive semidefinite on its own: that is the exact projection of the 9 x 9 Hessian in the
// Frobenius norm, without an eigenvalue decomposition of a 9 x 9 or 12 x 12 matrix.
#ifndef STICTION_ELEMENT_COMMON_STRETCH_H
#define STICTION_ELEMENT_COMMON_STRETCH_H

#include "common/wide.h"

/// F = U diag(sigma) V^T. U and V are rotations, sigma[0] >= sigma[1] >= |sigma[2]|, and sigma[2] has the sign of det
/// F: an inverted element is one whose smallest stretch is negative. U V^T is the rotation of the polar decomposition.
typedef struct stretch {
    wide u[3][3], v[3][3]; // columns of U and V
    wide sigma[3];
} stretch;

/// Energy density at given stretches, its derivatives, and its Hessian in blocks. Pairs are named by the third index:
/// twist[0] belongs to (1, 2).
typedef struct material {
    wide energy;            // psi [J/m^3]
    wide stress[3];         // dpsi/dsigma_i [Pa]: force over area at rest
    wide scale[3][3];       // d2psi/dsigma_i dsigma_j [Pa]
    wide twist[3], flip[3]; // eigenvalues [Pa]
} material;

// ------------------------------------------------------------------------------------------------------ decomposition

/// Rotates columns p and q of A and V so that those of A become orthogonal. False: they were already.
STN_KERNEL_INLINE bool stretch_turn(wide A[3][3], wide V[3][3], int32_t p, int32_t q) {
    wide aa, bb, ab, one, root, size, none = {0.0};
    wide_dot(A[p], A[p], &aa);
    wide_dot(A[q], A[q], &bb);
    wide_dot(A[p], A[q], &ab);
    wide_mask turns = ab * ab > 1e-31 * aa * bb;
    if (!wide_any(&turns)) {
        return false;
    }
    wide_fill(&one, 1.0);
    wide twice = 2.0 * ab;
    wide_keep(&twice, &turns, &one);
    wide zeta = (bb - aa) / twice, sign = -one;
    wide_mask negative = zeta < none;
    wide_keep(&sign, &negative, &one);
    root = one + zeta * zeta;
    wide_root(&root);
    size = zeta;
    wide_absolute(&size);
    wide t = sign / (size + root);
    root = one + t * t;
    wide_root(&root);
    wide c = one / root, s = c * t;
    for (int32_t i = 0; i < 3; i++) {
        wide a = A[p][i], b = A[q][i], x = V[p][i], y = V[q][i];
        A[p][i] = c * a - s * b;
        A[q][i] = s * a + c * b;
        V[p][i] = c * x - s * y;
        V[q][i] = s * x + c * y;
        wide_keep(&A[p][i], &turns, &a); // an element that is done gets the same bytes whichever are beside it
        wide_keep(&A[q][i], &turns, &b);
        wide_keep(&V[p][i], &turns, &x);
        wide_keep(&V[q][i], &turns, &y);
    }
    return true;
}

/// Exchanges columns p and p + 1 of A and V where the latter is longer.
STN_KERNEL_INLINE void stretch_sort(wide A[3][3], wide V[3][3], wide square[3], int32_t p) {
    wide_mask stay = ~(square[p] < square[p + 1]);
    wide before = square[p];
    wide_keep(&square[p], &stay, &square[p + 1]);
    wide_keep(&square[p + 1], &stay, &before);
    for (int32_t i = 0; i < 3; i++) {
        wide a = A[p][i], x = V[p][i];
        wide_keep(&A[p][i], &stay, &A[p + 1][i]);
        wide_keep(&A[p + 1][i], &stay, &a);
        wide_keep(&V[p][i], &stay, &V[p + 1][i]);
        wide_keep(&V[p + 1][i], &stay, &x);
    }
}

/// a over its length, or `other` where it is as good as zero.
STN_KERNEL_INLINE void stretch_unit(const wide a[3], const wide other[3], wide u[3]) {
    wide square, one;
    wide_dot(a, a, &square);
    wide_fill(&one, 1.0);
    wide_mask long_enough = square > 1e-280;
    wide_keep(&square, &long_enough, &one);
    wide_root(&square);
    for (int32_t i = 0; i < 3; i++) {
        u[i] = a[i] / square;
        wide_keep(&u[i], &long_enough, &other[i]);
    }
}

/// A unit vector across the unit vector u: along its product with the axis that it is furthest from.
STN_KERNEL_INLINE void stretch_across(const wide u[3], wide a[3]) {
    wide size[3] = {u[0], u[1], u[2]}, axis[3], none = {0.0}, one;
    wide_fill(&one, 1.0);
    for (int32_t i = 0; i < 3; i++) {
        wide_absolute(&size[i]);
        axis[i] = one;
    }
    wide_mask x = (size[0] <= size[1]) & (size[0] <= size[2]), y = ~x & (size[1] <= size[2]), z = ~(x | y);
    wide_keep(&axis[0], &x, &none);
    wide_keep(&axis[1], &y, &none);
    wide_keep(&axis[2], &z, &none);
    wide product[3];
    wide_cross(u, axis, product);
    stretch_unit(product, axis, a);
}

/// By one-sided Jacobi rotations [demmel-1992]. Also where F is singular or zero: columns of U that F does not
/// determine are any that complete a rotation. A third column of zeros (a surface) makes U's third column the normal.
STN_KERNEL_INLINE void stretch_find(const wide F[3][3], stretch *s) {
    // columns of F over its largest entry, so that no square under- or overflows
    wide A[3][3], V[3][3], largest = {0.0}, square[3], one, none = {0.0};
    wide_fill(&one, 1.0);
    for (int32_t i = 0; i < 9; i++) {
        wide size = F[i / 3][i % 3];
        wide_absolute(&size);
        wide_raise(&largest, &size);
        V[i / 3][i % 3] = i % 4 == 0 ? one : none;
    }
    wide_mask there = largest > 1e-290;
    wide_keep(&largest, &there, &one);
    wide shrink = one / largest;
    for (int32_t i = 0; i < 9; i++) {
        A[i % 3][i / 3] = shrink * F[i / 3][i % 3];
    }
    for (int32_t sweep = 0; sweep < 12; sweep++) { // converges quadratically, most often in 3
        bool turned = stretch_turn(A, V, 0, 1);
        turned = stretch_turn(A, V, 0, 2) || turned;
        turned = stretch_turn(A, V, 1, 2) || turned;
        if (!turned) {
            break;
        }
    }
    for (int32_t i = 0; i < 3; i++) {
        wide_dot(A[i], A[i], &square[i]);
    }
    stretch_sort(A, V, square, 0);
    stretch_sort(A, V, square, 1);
    stretch_sort(A, V, square, 0);
    // an odd exchange makes V a reflection
    wide cross[3], det, across[3], along;
    wide_cross(V[0], V[1], cross);
    wide_dot(cross, V[2], &det);
    wide_mask keeps = det > none;
    for (int32_t i = 0; i < 3; i++) {
        wide a = -A[2][i], x = -V[2][i];
        wide_keep(&A[2][i], &keeps, &a);
        wide_keep(&V[2][i], &keeps, &x);
    }
    const wide first[3] = {one, none, none};
    stretch_unit(A[0], first, s->u[0]);
    stretch_across(s->u[0], across);
    wide_dot(A[1], s->u[0], &along);
    const wide rest[3] = {A[1][0] - along * s->u[0][0], A[1][1] - along * s->u[0][1], A[1][2] - along * s->u[0][2]};
    stretch_unit(rest, across, s->u[1]);
    wide_cross(s->u[0], s->u[1], s->u[2]);
    for (int32_t i = 0; i < 3; i++) {
        wide size;
        wide_dot(s->u[i], A[i], &size);
        s->sigma[i] = largest * size;
        for (int32_t k = 0; k < 3; k++) {
            s->v[i][k] = V[i][k];
        }
    }
}

// ---------------------------------------------------------------------------------------------------------- materials

/// The co-rotational material: psi = mu sum (sigma_i - 1)^2 + lambda/2 (sum (sigma_i - 1))^2, which is linear
/// elasticity in the strain sym(R^T F) - 1 [mueller-2004]. `dimension` 2: of a surface, whose sigma[2] is 0 and carries
/// nothing. Negative eigenvalues are left out. The twists have a pole where sigma_i + sigma_j = 0; they are cut at the
/// largest eigenvalue of `scale`, so that no stiffness is unbounded.
STN_KERNEL_INLINE void corotational(const wide *mu, const wide *lambda, int32_t dimension, const wide sigma[3],
                                    material *m) {
    wide none = {0.0}, trace = {0.0}, most = *lambda, two = 2.0 * *mu;
    wide_raise(&most, &none);
    most = two + (double)dimension * most;
    m->energy = none;
    for (int32_t i = 0; i < dimension; i++) {
        wide e = sigma[i] - 1.0;
        trace += e;
        m->energy += *mu * e * e;
    }
    m->energy += 0.5 * *lambda * trace * trace;
    for (int32_t i = 0; i < 3; i++) {
        m->stress[i] = i < dimension ? two * (sigma[i] - 1.0) + *lambda * trace : none;
        for (int32_t j = 0; j < 3; j++) {
            m->scale[i][j] = i < dimension && j < dimension ? *lambda + (i == j ? two : none) : none;
        }
    }
    for (int32_t k = 0; k < 3; k++) {
        int32_t i = (k + 1) % 3, j = (k + 2) % 3;
        wide pull = m->stress[i] + m->stress[j], sum = sigma[i] + sigma[j];
        wide_mask pulls = pull > none, below = pull < most * sum;
        m->twist[k] = pull / sum;
        wide_keep(&m->twist[k], &below, &most);
        wide_keep(&m->twist[k], &pulls, &none);
        m->flip[k] = i < dimension && j < dimension ? two : m->twist[k]; // out of a surface: as its tension holds it
    }
}

/// Replaces negative eigenvalues of the symmetric S by 0.
static inline void stretch_project(double S[3][3]) {
    double V[3][3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
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
    double value[3] = {fmax(S[0][0], 0.0), fmax(S[1][1], 0.0), fmax(S[2][2], 0.0)};
    for (int32_t i = 0; i < 9; i++) {
        const double *a = V[i / 3], *b = V[i % 3];
        S[i / 3][i % 3] = value[0] * a[0] * b[0] + value[1] * a[1] * b[1] + value[2] * a[2] * b[2];
    }
}

/// Stable Neo-Hookean material [smith-2018, equation 14], with the moduli of its small strains mu and lambda:
///
///   psi = m/2 (I_C - 3) - m/2 log((I_C + 1) / 4) + l/2 (J - 1)^2 - 3/4 m (J - 1),   m = 4/3 mu, l = lambda + 5/6 mu
///
/// with I_C = sum sigma_i^2, J = sigma_0 sigma_1 sigma_2: the paper's energy minus that at rest. Finite and smooth
/// through J = 0. Negative eigenvalues are left out.
STN_KERNEL_INLINE void neo_hookean(const wide *mu, const wide *lambda, const wide sigma[3], material *w) {
    wide m = 4.0 / 3.0 * *mu, l = *lambda + 5.0 / 6.0 * *mu, none = {0.0}, logarithm;
    // invariants minus those at rest, from the strains, so that small strains lose no digits
    const wide e[3] = {sigma[0] - 1.0, sigma[1] - 1.0, sigma[2] - 1.0};
    wide longer = e[0] * (2.0 + e[0]) + e[1] * (2.0 + e[1]) + e[2] * (2.0 + e[2]);                   // I_C - 3
    wide larger = e[0] + e[1] + e[2] + e[0] * e[1] + e[1] * e[2] + e[2] * e[0] + e[0] * e[1] * e[2]; // J - 1
    wide I = longer + 4.0, p = l * larger - 0.75 * m;                                                // I_C + 1, dpsi/dJ
    wide shear = m * (longer + 3.0) / I, soften = 2.0 * m / (I * I);
    const wide cofactor[3] = {sigma[1] * sigma[2], sigma[2] * sigma[0], sigma[0] * sigma[1]};
    for (int32_t i = 0; i < WIDE; i++) {
        logarithm[i] = log1p(0.25 * longer[i]);
    }
    w->energy = 0.5 * m * (longer - logarithm) + larger * (0.5 * l * larger - 0.75 * m);
    for (int32_t i = 0; i < 3; i++) {
        // m (1 - 1/(I_C + 1)) sigma + p dJ/dsigma; at rest the two parts cancel
        w->stress[i] = shear * sigma[i] + p * cofactor[i];
        w->twist[i] = shear + p * sigma[i];
        w->flip[i] = shear - p * sigma[i];
        wide_raise(&w->twist[i], &none);
        wide_raise(&w->flip[i], &none);
        for (int32_t j = 0; j < 3; j++) {
            w->scale[i][j] = soften * sigma[i] * sigma[j] + l * cofactor[i] * cofactor[j] +
                             (i == j ? shear : p * sigma[(6 - i - j) % 3]);
        }
    }
    const wide(*S)[3] = (const wide(*)[3])w->scale;
    wide minor = S[0][0] * S[1][1] - S[0][1] * S[0][1];
    wide det = S[2][2] * minor + S[0][2] * (S[0][1] * S[1][2] - S[1][1] * S[0][2]) +
               S[1][2] * (S[0][1] * S[0][2] - S[0][0] * S[1][2]);
    wide_mask definite = (S[0][0] > none) & (minor > none) & (det > none), indefinite = ~definite;
    for (int32_t lane = 0; wide_any(&indefinite) && lane < WIDE; lane++) {
        double one[3][3];
        for (int32_t i = 0; i < 9; i++) {
            one[i / 3][i % 3] = w->scale[i / 3][i % 3][lane];
        }
        if (indefinite[lane]) {
            stretch_project(one);
        }
        for (int32_t i = 0; i < 9; i++) {
            w->scale[i / 3][i % 3][lane] = one[i / 3][i % 3];
        }
    }
}

// ----------------------------------------------------------------------------------------------------------- elements

/// U diag(stress) V^T, the first Piola-Kirchhoff stress [Pa].
STN_KERNEL_INLINE void material_stress(const stretch *s, const material *m, wide P[3][3]) {
    for (int32_t i = 0; i < 9; i++) {
        int32_t r = i / 3, c = i % 3;
        P[r][c] = m->stress[0] * s->u[0][r] * s->v[0][c] + m->stress[1] * s->u[1][r] * s->v[1][c] +
                  m->stress[2] * s->u[2][r] * s->v[2][c];
    }
}

/// Force [N] of the stress on the nodes of the simplex whose gradients of the shape functions of nodes 1 to nodes - 1
/// are `gradient` (3 or 2 of them, [1/m]): -volume P g_n, added to `force` (3 nodes). Node 0 gets minus the sums.
STN_KERNEL_INLINE void material_pull(const wide P[3][3], const wide *volume, int32_t nodes, const wide (*gradient)[3],
                                     wide *force) {
    for (int32_t n = 0; n + 1 < nodes; n++) {
        for (int32_t i = 0; i < 3; i++) {
            wide along;
            wide_dot(P[i], gradient[n], &along);
            along *= *volume;
            force[3 * n + 3 + i] -= along;
            force[i] += along;
        }
    }
}

/// Rows and columns of node 0 from those of the others, of which blocks (n, k >= n) are there; then the lower triangle.
STN_KERNEL_INLINE void material_complete(int32_t nodes, wide *K) {
    const int32_t m = 3 * nodes;
    for (int32_t r = 3; r < m; r++) {
        for (int32_t c = 3; c < r; c++) {
            K[r * m + c] = K[c * m + r];
        }
    }
    for (int32_t r = 0; r < 3; r++) {
        for (int32_t c = 3; c < m; c++) {
            wide sum = -K[(r + 3) * m + c];
            for (int32_t n = 2; n < nodes; n++) {
                sum -= K[(r + 3 * n) * m + c];
            }
            K[r * m + c] = K[c * m + r] = sum;
        }
    }
    for (int32_t r = 0; r < 3; r++) {
        for (int32_t c = r; c < 3; c++) {
            wide sum = -K[r * m + 3 + c];
            for (int32_t n = 2; n < nodes; n++) {
                sum -= K[r * m + 3 * n + c];
            }
            K[r * m + c] = K[c * m + r] = sum;
        }
    }
}

/// Stiffness [N/m] of that simplex, volume g_n : d2psi/dF2 : g_k, into K (3 nodes x 3 nodes), exactly symmetric. The
/// blocks of `m` must be >= 0.
STN_KERNEL_INLINE void material_stiffness(const stretch *s, const material *m, const wide *volume, int32_t nodes,
                                          const wide (*gradient)[3], wide *K) {
    wide a[3], b[3], g[3][3];
    for (int32_t k = 0; k < 3; k++) {
        a[k] = 0.5 * *volume * (m->flip[k] + m->twist[k]);
        b[k] = 0.5 * *volume * (m->flip[k] - m->twist[k]);
    }
    for (int32_t n = 0; n + 1 < nodes; n++) {
        for (int32_t i = 0; i < 3; i++) {
            wide_dot(s->v[i], gradient[n], &g[n][i]);
        }
    }
    for (int32_t n = 0; n + 1 < nodes; n++) {
        const wide *x = g[n];
        for (int32_t k = n; k + 1 < nodes; k++) {
            const wide *y = g[k];
            wide block[3][3], half[3][3];
            for (int32_t i = 0; i < 3; i++) { // in the principal frame
                int32_t j = (i + 1) % 3, l = (i + 2) % 3;
                block[i][i] = *volume * m->scale[i][i] * x[i] * y[i] + a[l] * x[j] * y[j] + a[j] * x[l] * y[l];
                block[i][j] = *volume * m->scale[i][j] * x[i] * y[j] + b[l] * x[j] * y[i];
                block[j][i] = *volume * m->scale[i][j] * x[j] * y[i] + b[l] * x[i] * y[j];
            }
            for (int32_t i = 0; i < 9; i++) { // U block
                int32_t r = i / 3, c = i % 3;
                half[r][c] = s->u[0][r] * block[0][c] + s->u[1][r] * block[1][c] + s->u[2][r] * block[2][c];
            }
            for (int32_t i = 0; i < 9; i++) { // (U block) U^T
                int32_t r = i / 3, c = i % 3;
                if (k == n && c < r) {
                    continue;
                }
                K[(3 * n + 3 + r) * 3 * nodes + 3 * k + 3 + c] =
                    half[r][0] * s->u[0][c] + half[r][1] * s->u[1][c] + half[r][2] * s->u[2][c];
            }
        }
    }
    material_complete(nodes, K);
}

/// Viscous part of Kelvin and Voigt: the strain rate E' = sym(F^T F') of Green makes the stress `mu` 2 E' + `lambda`
/// tr(E') 1 [Pa s]. At rest it is the damping of Rayleigh, beta K with beta times the moduli; unlike beta K(x) it
/// resists no rigid motion of a deformed element. Adds the force [N] of the velocities v (3 nodes).
STN_KERNEL_INLINE void material_drag(const wide F[3][3], const wide *mu, const wide *lambda, const wide *volume,
                                     int32_t nodes, const wide (*gradient)[3], const wide *v, wide *force) {
    wide rate[3][3] = {{{0.0}}}, stress[3][3], P[3][3]; // rate: F^T F'
    for (int32_t n = 0; n + 1 < nodes; n++) {
        const wide relative[3] = {v[3 * n + 3] - v[0], v[3 * n + 4] - v[1], v[3 * n + 5] - v[2]};
        for (int32_t r = 0; r < 3; r++) {
            wide along = F[0][r] * relative[0] + F[1][r] * relative[1] + F[2][r] * relative[2];
            for (int32_t c = 0; c < 3; c++) {
                rate[r][c] += along * gradient[n][c];
            }
        }
    }
    wide trace = rate[0][0] + rate[1][1] + rate[2][2];
    for (int32_t i = 0; i < 9; i++) {
        stress[i / 3][i % 3] = *mu * (rate[i / 3][i % 3] + rate[i % 3][i / 3]);
    }
    for (int32_t i = 0; i < 3; i++) {
        stress[i][i] += *lambda * trace;
    }
    for (int32_t i = 0; i < 9; i++) {
        int32_t r = i / 3, c = i % 3;
        P[r][c] = F[r][0] * stress[0][c] + F[r][1] * stress[1][c] + F[r][2] * stress[2][c];
    }
    material_pull((const wide(*)[3])P, volume, nodes, gradient, force);
}

/// The derivative of material_drag by v times -1, into D (3 nodes x 3 nodes) [N s/m].
STN_KERNEL_INLINE void material_damping(const wide F[3][3], const wide *mu, const wide *lambda, const wide *volume,
                                        int32_t nodes, const wide (*gradient)[3], wide *D) {
    wide h[3][3], FF[3][3]; // F g_n, F F^T
    for (int32_t n = 0; n + 1 < nodes; n++) {
        for (int32_t r = 0; r < 3; r++) {
            wide_dot(F[r], gradient[n], &h[n][r]);
        }
    }
    for (int32_t i = 0; i < 9; i++) {
        wide_dot(F[i / 3], F[i % 3], &FF[i / 3][i % 3]);
    }
    for (int32_t n = 0; n + 1 < nodes; n++) {
        for (int32_t k = n; k + 1 < nodes; k++) {
            wide gg;
            wide_dot(gradient[n], gradient[k], &gg);
            gg *= *mu * *volume;
            for (int32_t i = 0; i < 9; i++) {
                int32_t r = i / 3, c = i % 3;
                D[(3 * n + 3 + r) * 3 * nodes + 3 * k + 3 + c] =
                    *volume * (*lambda * h[n][r] * h[k][c] + *mu * h[k][r] * h[n][c]) + gg * FF[r][c];
            }
        }
    }
    material_complete(nodes, D);
}

#endif
