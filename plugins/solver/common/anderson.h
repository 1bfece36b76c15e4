// SPDX-License-Identifier: Apache-2.0
// Anderson's acceleration of a fixed-point iteration x <- G(x): the next iterate combines the last ones such that their
// changes f = G(x) - x would cancel best,
//     x <- G(x) - sum_j theta_j (G_j+1 - G_j),   theta = argmin |f - sum_j theta_j (f_j+1 - f_j)|
// [anderson-1965; walker-2011, type II].
#ifndef SOLVER_COMMON_ANDERSON_H
#define SOLVER_COMMON_ANDERSON_H

#include <stiction/context.h>

enum { ANDERSON_DEPTH = 10 };

typedef struct anderson {
    int32_t size, depth;
    int32_t count, next;      // differences that are kept, and where the next one goes
    bool begun;               // f and g hold the iterate before
    double reach;             // the next iterate is no farther from G(x) than this times |f|
    const double *weight;     // (size) of the squares of f
    double *f, *g, *combined; // (size)
    double *df[ANDERSON_DEPTH], *dg[ANDERSON_DEPTH];
    double products[ANDERSON_DEPTH][ANDERSON_DEPTH]; // of the df
} anderson;

/// Memory from `arena`, `weight` borrowed. False: out of memory.
bool anderson_create(anderson *a, int32_t size, int32_t depth, const double *weight, stn_arena *arena);
/// The iteration is another one from now on.
void anderson_forget(anderson *a);
/// The last iterate was a bad one: forgets those before, and reaches less far from now on.
void anderson_retreat(anderson *a);
/// g in: G(x); out: the next iterate. Reaches a little farther every time.
void anderson_next(anderson *a, const double *x, double *g);

#endif
