// SPDX-License-Identifier: Apache-2.0
// Nodes that near-rigid rows hold on a body, as attachments do: nodes and body move together, which no diagonal W and
// no iteration from row to row finds soon. W of a body and its tied nodes is exact but for A among the nodes,
//
//     W^-1 = [ A_b + J_b^T R^-1 J_b      J_b^T R^-1 J_n  ]        1/w of the nodes, J of the ties, A_b with the
//            [     J_n^T R^-1 J_b    1/w + J_n^T R^-1 J_n ]       stiffness of the body's springs
//
// and is applied node by node: with T = (R + J_n w J_n^T)^-1 and S = A_b + sum of J_b^T T J_b
//
//     x_b = S^-1 (f_b - sum of J_b^T T J_n w f_n),    x_n = w f_n - w J_n^T T (J_n w f_n + J_b x_b)
//
// where R may be as small as it likes.
#ifndef SOLVER_COND_TIES_H
#define SOLVER_COND_TIES_H

#include "layout.h"

enum { TIE_ROWS = 2 * STN_MAX_ROWS }; // of all constraints between a node and a body

/// A node on a body.
typedef struct cond_tie {
    int32_t place, size; // of the node's velocities
    int32_t rows;
    int32_t row[TIE_ROWS]; // of the problem
    double *J_n;           // (rows x size)
    double *J_b;           // (rows x body->size)
    double T[TIE_ROWS * TIE_ROWS];
} cond_tie;

/// The ties of a body.
typedef struct cond_bundle {
    cond_body *body;
    int32_t first, end; // of ties
    double *S_inverse;  // (body->size^2); NULL without ties: then the body's own
} cond_bundle;

/// Those of all bodies.
typedef struct cond_ties {
    const cond_layout *layout;
    int32_t count;
    cond_tie *ties;       // by body
    cond_bundle *bundles; // (layout->body_count)
    bool *is_tied;        // (layout->size / 4 + 1) by place: a node that is tied
} cond_ties;

/// Finds them and marks their constraints as springs of the layout. Everything lives in `arena`; STN_ERR_MEMORY is the
/// only failure.
stn_status cond_ties_find(cond_layout *layout, stn_arena *arena, cond_ties *out, stn_error *err);
/// T and S, from w. STN_ERR_MEMORY, STN_ERR_NUMERIC where numbers are too far apart.
stn_status cond_ties_weigh(cond_ties *ties, const double *w, stn_arena *arena, stn_error *err);
/// Impulses of a body's springs and ties at velocities v, into `gamma` (row_count), and J^T of them into q, which is
/// written in the places of the body and of its tied nodes.
void cond_ties_impulses(const cond_ties *ties, int32_t body, const double *v, double *gamma, double *q);
/// x = W f of a body and its tied nodes. `scratch` holds layout->size numbers.
void cond_ties_apply(const cond_ties *ties, int32_t body, const double *w, const double *f, double *x, double *scratch);
/// |J s|^2 over R of a body's springs and ties, s = v - v_before [J].
double cond_ties_energy(const cond_ties *ties, int32_t body, const double *v, const double *v_before);

#endif
