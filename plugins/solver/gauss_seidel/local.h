// SPDX-License-Identifier: Apache-2.0
// One contact while the others stay as they are: v = c + W gamma, |gamma_t| <= mu gamma_n, W (3 x 3) symmetric positive
// definite.
//
//     open   c_n >= 0 (ccp: c in the dual cone)                        gamma = 0
//     stick  gamma = -W^-1 c inside the cone                           v = 0
//     slip   gamma on the cone's boundary, v_n = 0 (ccp: v_n = mu |v_t|), and its direction by
//            coulomb   v_t = -sigma gamma_t, sigma >= 0: Coulomb's law, exactly
//            mdp       least v^T W^-1 v: maximal dissipation over the conic v_n = 0          [hwangbo-2018] (8)
//            ccp       least gamma^T W gamma/2 + c^T gamma over the cone: the relaxation      [anitescu-2006]
#ifndef GAUSS_SEIDEL_LOCAL_H
#define GAUSS_SEIDEL_LOCAL_H

#include <stdbool.h>
#include <stdint.h>

/// By what a contact is solved; the first three find the same mdp solution.
typedef enum local_method { LOCAL_COULOMB, LOCAL_CCP, LOCAL_BISECTION, LOCAL_GOLDEN, LOCAL_QUARTIC } local_method;

typedef enum local_state { LOCAL_OPEN, LOCAL_STICK, LOCAL_SLIP } local_state;

/// What of a contact does not change while a problem is solved.
typedef struct local_block {
    double mu;
    double W[6], inverse[6]; // xx, xy, yy, xz, yz, zz [1/kg], [kg]
    double S[3];             // W_tt - w w^T/W_nn: xx, xy, yy
    double w[2], arm[2];     // W_nt, and over W_nn
    double kappa;            // W_nn/mu
    bool exact; // W is what was given; else its symmetric part, and more on the diagonal where that is singular
} local_block;

/// From W by columns, `stride` apart.
void local_prepare(double mu, const double *W, int32_t stride, local_block *out);

/// gamma to `precision` [N s]. `sigma` is the slope of friction that the last call found, where coulomb begins; 0 at
/// first.
local_state local_solve(local_method method, const local_block *block, const double c[3], double precision,
                        double gamma[3], double *sigma);

#endif
