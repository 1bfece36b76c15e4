// SPDX-License-Identifier: Apache-2.0
// The solution of a program that a set of free unknowns F shows, to round-off:
//
//     H_FF dx_F = -g_F    by conjugate residuals [eisenstat-1983] with (H + E)_FF^-1 of a ray system, E = 1e-10 of H's
//                         diagonal
//
// Where unknowns of F depend on each other, dx is the smallest change, measured in E, that makes g_F 0. Then unknowns
// move between F and their bounds. Each round moves up to two unknowns of each constraint: it fixes the free one that
// is farthest out of its bounds, and frees the fixed one whose g is most wrong (a form of block pivoting
// [judice-1994]). Rounds end when no unknown is out of place, or when their number does not fall for several rounds.
#ifndef QP_CROSSOVER_H
#define QP_CROSSOVER_H

#include "ray_system.h"

enum { CROSSOVER_DIRECTIONS = 12 };

typedef struct crossover {
    rays *r;
    active_set *set;
    ray_system *system;
    double *E;                                                  // (n)
    double *p[CROSSOVER_DIRECTIONS], *Hp[CROSSOVER_DIRECTIONS]; // (n) of one solution, Hp orthonormal beside size
    bool *chosen;                                               // (n)
} crossover;

/// Memory in the arena of the rays; false: out of memory.
bool crossover_create(rays *r, active_set *set, ray_system *system, crossover *out);
/// From the free unknowns and x of the set to its solution: true when found, x within bounds. g is that of x. At most
/// `rounds` sets, each of which adds to `moves`, up to `most`.
bool crossover_solve(crossover *c, int32_t rounds, int32_t most, int32_t *moves);
/// Factors the system of F. False: it has no factor.
bool crossover_factor(crossover *c);
/// g_F = 0 as far as digits allow, or to `enough` times the rounding of a product, whatever the bounds, with the factor
/// that the system has; false: it is not.
bool crossover_reduce(crossover *c, double enough);
/// g = H x + q of the set, and the largest g that is wrong where it is [m/s].
double crossover_error(crossover *c);
/// F are the unknowns that are `chosen` (n).
void crossover_mark(active_set *set, const bool *chosen);

#endif
