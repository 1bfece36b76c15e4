// SPDX-License-Identifier: Apache-2.0
// The dictionary of a linear complementarity problem w = q + M z + d z0, condensed: basic = q + T nonbasic.
#ifndef LEMKE_TABLEAU_H
#define LEMKE_TABLEAU_H

#include <stdbool.h>
#include <stdint.h>

/// Variables: w_i is i, z_i is n + i, z0 is 2 n.
typedef struct tableau {
    int32_t n, stride;
    double *T;         // (n x stride), columns 0 .. n
    double *q;         // (n) values of the basic variables
    int32_t *basic;    // (n) the variable of a row
    int32_t *nonbasic; // (n + 1) the variable of a column
    int32_t *where;    // (2 n + 1) of a basic variable its row, else -1 - column
    const bool *free;  // (n) pairs of equations: z of either sign, w never in the basis again
} tableau;

/// Column s takes the place of row r.
void tableau_pivot(tableau *t, int32_t r, int32_t s);
/// All z are 0: the caller has put M, d (column n) and q.
void tableau_begin(tableau *t);
/// The row that bounds the growth of column `s` first; equal ones by the lexicographic order of (q, B^-1), B the basis,
/// so that no basis comes twice [cottle-2009, 4.9]; z0 before all others. Free variables bound nothing. -1: none, a
/// ray.
int32_t tableau_ratio_test(const tableau *t, int32_t s);

#endif
