// SPDX-License-Identifier: Apache-2.0
// What minimum_norm.h finds, without a matrix over the rays: of the impulses along rays D with g = 0 that all give the
// same velocities those with the least sum of squares,
//
//     min over beta >= 0 of  (beta - b)^T H (beta - b)/2 + e |beta|^2/2,    b += beta_0 - beta
//
// with an e small beside H [osher-2005]: each b leaves e/(e + h) of H (beta_0 - beta), and the interior point solves
// the first of these programs, the crossover the others, whose free set it hardly ever changes. On that set F what H_FF
// does not see of beta is then taken out, (e (H + e)_FF^-1)^4 beta, and what H sees is given back.
#ifndef QP_SPARSE_NORM_H
#define QP_SPARSE_NORM_H

#include "interior.h"

/// Replaces x of the rays at a solution, with g as computed from its velocities; q and bounds stay. What is left where
/// digits do not allow it is x itself. At most `most` iterations. False: out of memory.
bool sparse_norm(interior *s, int32_t most);

#endif
