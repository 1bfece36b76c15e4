// SPDX-License-Identifier: Apache-2.0
// One sub-step of XPBD. Positions are those of the sub-step's start moved by the velocities u for the time h, so that a
// correction of a position by dx is one of u by dx/h, and u at the end is (x - x_start)/h.
#ifndef STN_XPBD_SUBSTEP_H
#define STN_XPBD_SUBSTEP_H

#include <stiction/integrator.h>

typedef struct substep {
    const stn_integrator_view *view;  // of the step
    const stn_problem *problem;       // rows of the step
    double h;                         // its length [s]
    double t;                         // from the step's start to its own [s]
    double push_speed;                // at which contacts undo overlap at most [m/s]
    const double *q;                  // (nq) at its start
    const stn_kinematics *kinematics; // at q
    double *u;                        // (nv) in and out
    const double *moved;              // (nv) sum of h u over the sub-steps before: what the gaps of rows follow
    double *reaction;                 // (nv) adds up what holds nodes whose motion is known gives them [N s], [N m s]
    const stn_matrix *factor;         // (tree_count) of articulated trees: Cholesky factor of A at q
} substep;

/// x (velocities of the node) = M^-1 x, and y += M x, of one node of a cloud, counted in the model.
void substep_divide_by_mass(const substep *s, int32_t node, double *x);
void substep_mass_times(const substep *s, int32_t node, const double *x, double *y);

/// Room for one element. elements.c
typedef struct element_room element_room;
element_room *element_room_make(const stn_integrator_view *view); // in the arena; NULL: out of memory
/// Projects every element once, one after the other. A failing one is named.
stn_status substep_elements(const substep *s, element_room *room, stn_error *err);

/// Room for one row of the problem. rows.c
double *row_room_make(const stn_integrator_view *view, const stn_problem *problem); // likewise
/// Projects every constraint of the problem once, in its order; adds their impulses to gamma (row_count) [N s].
void substep_rows(const substep *s, double *room, double *gamma);

#endif
