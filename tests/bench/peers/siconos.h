// SPDX-License-Identifier: Apache-2.0
// Solvers of Siconos (numerics 4.4) behind the Delassus form: a cold solve each, the solver's call alone timed.
#ifndef BENCH_PEERS_SICONOS_H
#define BENCH_PEERS_SICONOS_H

#include <stiction/delassus.h>

typedef struct siconos_solver {
    const char *name;
    int id, local; // SICONOS_FRICTION_3D_...; the solver of one contact within, -1: its own or none
    bool blocks;   // works on 3 x 3 blocks; otherwise on one sparse matrix
    int rescaling; // of the problem, before it is solved
} siconos_solver;

extern const siconos_solver siconos_solvers[];
extern const int32_t siconos_solver_count;

/// Starts at 0. Returns the milliseconds of the call, NaN when the problem could not be made. `reaction` (rows of d) is
/// written all the time and may be read when a signal has ended the call; rows are in Siconos' order, see
/// siconos_impulses.
double siconos_solve(const stn_delassus *d, const siconos_solver *solver, double tolerance, double *reaction,
                     int32_t *iterations);
/// (normal, tangents) -> (tangents, normal).
void siconos_impulses(const stn_delassus *d, const double *reaction, double *gamma);

#endif
