// SPDX-License-Identifier: Apache-2.0
// An isotropic elastic material in its principal frame. The deformation gradient is F = U diag(sigma) V^T with
// rotations U and V; an isotropic energy density psi depends on sigma alone. Then, with F' = U^T F V [smith-2019]:
//
//   dpsi/dF = U diag(dpsi/dsigma) V^T
//   d2psi/dF2 is block diagonal in the entries of dF': a 3 x 3 block d2psi/dsigma_i dsigma_j on the diagonal, and for
//   each pair (i, j) the eigenvalues   twist  (psi_i + psi_j) / (sigma_i + sigma_j)  of  dF'_ij = -dF'_ji,
//                                 flip   (psi_i - psi_j) / (sigma_i - sigma_j)  of  dF'_ij =  dF'_ji.
//
// Each block is made positive semidefinite on its own: that is the exact projection of the 9 x 9 Hessian in the
// Frobenius norm, without an iteration over a 9 x 9 or 12 x 12 matrix.
#ifndef STICTION_ELEMENT_COMMON_STRETCH_H
#define STICTION_ELEMENT_COMMON_STRETCH_H

#include <stiction/math.h>

/// F = U diag(sigma) V^T. U and V are rotations, sigma[0] >= sigma[1] >= |sigma[2]|, and sigma[2] has the sign of det
/// F: an inverted element is one whose smallest stretch is negative. U V^T is the rotation of the polar decomposition.
typedef struct stretch {
    stn_mat3 U, V;
    double sigma[3];
} stretch;

/// By one-sided Jacobi rotations. Also where F is singular or zero: columns of U that F does not determine are any that
/// complete a rotation. A third column of zeros (a surface) makes U's third column the normal.
stretch stretch_of(const stn_mat3 *F);

/// The rotation U V^T.
stn_mat3 stretch_rotation(const stretch *s);

/// Energy density at given stretches, its derivatives, and its Hessian in blocks. Pairs are named by the third index:
/// twist[0] belongs to (1, 2).
typedef struct material {
    double energy;            // psi [J/m^3]
    double stress[3];         // dpsi/dsigma_i [Pa]: force over area at rest
    double scale[3][3];       // d2psi/dsigma_i dsigma_j [Pa]
    double twist[3], flip[3]; // eigenvalues [Pa]
} material;

/// Replaces negative eigenvalues of `scale` by 0.
void material_project_scale(material *m);

/// The co-rotational material: psi = mu sum (sigma_i - 1)^2 + lambda/2 (sum (sigma_i - 1))^2, which is linear
/// elasticity in the strain sym(R^T F) - 1 [mueller-2004]. `dimension` 2: of a surface, whose sigma[2] is 0 and carries
/// nothing. Negative eigenvalues are left out. The twists have a pole where sigma_i + sigma_j = 0; they are cut at the
/// largest eigenvalue of `scale`, so that no stiffness is unbounded.
material corotational(double mu, double lambda, int32_t dimension, const double sigma[3]);

/// Stable Neo-Hookean material [smith-2018, equation 14], with the moduli of its small strains mu and lambda:
///
///   psi = m/2 (I_C - 3) - m/2 log((I_C + 1) / 4) + l/2 (J - 1)^2 - 3/4 m (J - 1),   m = 4/3 mu, l = lambda + 5/6 mu
///
/// with I_C = sum sigma_i^2, J = sigma_0 sigma_1 sigma_2: the paper's energy minus that at rest. Finite and smooth
/// through J = 0. Negative eigenvalues are left out.
material neo_hookean(double mu, double lambda, const double sigma[3]);

/// U diag(stress) V^T, the first Piola-Kirchhoff stress [Pa].
stn_mat3 material_stress(const stretch *s, const material *m);

/// Stiffness [N/m] of the simplex whose gradients of the shape functions of nodes 1 to nodes - 1 are `gradient`
/// (3 or 2 of them, [1/m]): volume g_n : d2psi/dF2 : g_m. Node 0 gets minus the sums. Fills the rows and columns of the
/// first `nodes` nodes of the (stride x stride) matrix K, exactly symmetric. The blocks of `m` must be >= 0.
void material_stiffness(const stretch *s, const material *m, double volume, int32_t nodes, const stn_vec3 *gradient,
                        int32_t stride, double *K);

/// Viscous part of Kelvin and Voigt: the strain rate E' = sym(F^T F') of Green makes the stress `mu` 2 E' + `lambda`
/// tr(E') 1 [Pa s]. At rest it is the damping of Rayleigh, beta K with beta times the moduli; unlike beta K(x) it
/// resists no rigid motion of a deformed element. Adds the force [N] of the velocities v, and fills D [N s/m] with its
/// derivative where D is not NULL. Nodes, gradient and stride as in material_stiffness.
void material_damp(const stn_mat3 *F, double mu, double lambda, double volume, int32_t nodes, const stn_vec3 *gradient,
                   const double *v, double *force, int32_t stride, double *D);

/// Lame's moduli [Pa] of Young's modulus [Pa] and Poisson's ratio in (-1, 0.5).
static inline void lame_moduli(double young, double poisson, double *mu, double *lambda) {
    *mu = young / (2.0 * (1.0 + poisson));
    *lambda = young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson));
}

#endif
