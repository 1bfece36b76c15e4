// SPDX-License-Identifier: Apache-2.0
// Quadratic programs with bounds by a dual active set [goldfarb-1983]:
//
//     min over x of  x^T H x/2 + q^T x
//     s.t.  lo <= x <= hi
//     g = H x + q
//
// H is positive semidefinite. The variables x are impulses and g speeds: g_i >= 0 where x_i is at its lower bound is a
// contact that does not close. On the free set F g_F = 0 and lo <= x <= hi hold always. The variable whose g is most
// wrong moves, and the free ones follow by -H_FF^-1 H_Fp, so that g_F stays 0:
//
//     full step   g_p = 0: p becomes free, L of H_FF = L L^T gets a row
//     short step  a free variable meets its bound and is fixed there (L loses a row, by Givens rotations), or p meets
//                 its own
//
// A full step lowers the cost by g_p^2 over twice the curvature, short steps never raise it, and each one leaves fewer
// free: so no set comes twice. Along a p whose curvature is zero (it depends on F) only short steps are possible; where
// nothing bounds those either the constraints contradict each other.
#ifndef QP_ACTIVE_SET_H
#define QP_ACTIVE_SET_H

#include <float.h>
#include <math.h>
#include <stiction/plugin.h>

typedef struct active_set {
    int32_t n, stride;
    double *H; // (n x stride), both triangles; NULL: vectors alone
    /// Row i of H when it is first needed, which is before variable i moves or is released; NULL: H is complete.
    void (*make_row)(const void *user, int32_t i, double *row);
    const void *user;
    bool *made;            // (n) rows of H that were made
    double *q, *lo, *hi;   // (n)
    double *x, *g;         // (n) lo <= x <= hi
    int32_t count;         // of free variables
    int32_t *free;         // (n) the free ones, in the order of L
    int32_t *place;        // (n) in `free`; -1: fixed
    double *L;             // (n x stride) lower triangle
    double *size;          // (n) sqrt(H_ii)
    double *row, *follow;  // (n) work; of the last move how much each free variable follows
    double *cosine, *sine; // (n) work
    double speed;          // rounding of g is relative to it: the largest |q|, or what the caller knows to be more
    double loose;          // a free variable that changes by less than this share of p's change cannot be fixed; 1e-13
                           // unless set
    bool *excused;         // (n) depends on the free ones, and its g is no more than what rounding leaves of theirs
    int32_t entering;      // variable of the last move
} active_set;

typedef enum active_set_end { ACTIVE_SET_SOLVED, ACTIVE_SET_CONTRADICTION, ACTIVE_SET_LIMIT } active_set_end;

/// Memory for n variables in `arena`, H zeroed; false: out of memory.
bool active_set_create(active_set *s, int32_t n, stn_arena *arena);
/// The same with the H of another one, which is borrowed.
bool active_set_share(const active_set *of, active_set *out, stn_arena *arena);
/// The same without H and L, for whoever solves otherwise and sets `size` himself: nothing but active_set_begin,
/// active_set_rounding and active_set_cost may be called.
bool active_set_create_vectors(active_set *s, int32_t n, stn_arena *arena);
/// After H, q and bounds are there: every x at the point of its interval nearest to 0, nothing free.
void active_set_begin(active_set *s);
/// Makes variable i free if it does not depend on the free ones.
bool active_set_release(active_set *s, int32_t i);
/// Variable i is no longer free; its x stays.
void active_set_fix(active_set *s, int32_t i);
/// From any free set to the solution: free variables that would be out of bounds are fixed there first. `q` may have
/// changed since the last call. Adds to `moves`; ends with ACTIVE_SET_LIMIT when they come to `most`. In a
/// contradiction `entering`, `free` and `follow` tell whose impulses can grow together without end.
active_set_end active_set_solve(active_set *s, int32_t most, int32_t *moves);
/// x_F -= H_FF^-1 g_F, within the bounds, with g as the caller has put it there.
void active_set_correct(active_set *s);
/// g -= H_:F H_FF^-1 g_F: a change g of the gradient once the free variables have followed it. x stays.
void active_set_follow(active_set *s);
/// The largest size_i |x_i| [sqrt(J)]: what rounding of g is relative to, beside the speeds.
static inline double active_set_energy(const active_set *s) {
    double energy = 0.0;
    for (int32_t i = 0; i < s->n; i++) {
        energy = fmax(energy, s->size[i] * fabs(s->x[i]));
    }
    return energy;
}
/// What rounding may leave in g_i where the energy is that of active_set_energy.
static inline double active_set_rounding(const active_set *s, int32_t i, double energy) {
    return 64.0 * DBL_EPSILON * (s->speed + s->size[i] * energy);
}
/// x.y, and y += a x.
double active_set_dot(int32_t n, const double *x, const double *y);
void active_set_add(int32_t n, double a, const double *x, double *y);
/// x^T H x/2 + q^T x.
double active_set_cost(const active_set *s);

#endif
