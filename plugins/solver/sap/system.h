// SPDX-License-Identifier: Apache-2.0
// Inside of the solver sap: one contact problem packed for Newton's method. Blocks, clusters, lanes, lines and padded
// vectors: common/augmented.h.
#ifndef SAP_SYSTEM_H
#define SAP_SYSTEM_H

#include "common/augmented.h"
#include "common/vectors.h"

typedef struct sap_config {
    int32_t line_search, factorization;
    double line_search_tolerance;
    bool anticipate; // sliding contacts that will stick, in Newton's model
} sap_config;

enum { SAP_EXACT, SAP_ARMIJO };

/// Sums over lanes and velocities are those of parts of so many, in their order, by one thread as by several.
enum { SAP_LANES = 128, SAP_VELOCITIES = 1024 };

/// Constraints at one velocity: cones by lanes, scalar rows by lines.
typedef struct sap_point {
    double *v, *gamma, *G;                // velocity and impulse (3 x stride), Hessian of the potential (6 x stride)
    double *line_v, *line_gamma, *line_G; // (line_stride)
    double cost;                          // sum of the potentials [J]
} sap_point;

/// Newton's state.
typedef struct sap_system {
    const stn_problem *problem;
    const stn_solve_control *control;
    const sap_config *config;
    stn_solution *solution;
    stn_solve_info *info;

    augmented H;
    double *v, *v_star, *force, *D; // force: free impulse; D = diag(A)^-1/2
    double *p, *A_v_star, *Av;      // p = A (v - v_star)
    double *j, *gradient;           // j = J^T gamma; gradient = p - j - force
    double *dv, *dp, *compact;

    stn_law_batch batch;
    double *bias, *line_bias;
    double *line_R, *line_v_hat, *line_lo, *line_hi;
    double *lane_cost;
    double *dv_c, *line_dv; // J dv
    double *H_G;            // the model's, of the lanes
    int64_t *changed;       // by lanes: H_G differs from that in H
    double *predicted;      // impulses that the model gives the full step (3 x stride); at first the warm start's
    sap_point now, trial;

    double *sums;                          // (8 a part) what parts of lanes or velocities add to sums
    double Av_norm, j_norm, gradient_norm; // |D Av|, |D j|, |D gradient|
    double slope, p_dv, force_dv, dp_dv;   // gradient.dv, p.dv, force.dv, dp.dv

    double cost;       // (v - v_star)^T A (v - v_star)/2 - force.v + potentials [J]
    double reduction;  // of the residual of Newton's equation, where conjugate gradients solve it
    double *conjugate; // (6 nv) what they work in; NULL: not yet
    int32_t factorizations, evaluations;
    int32_t falls; // last steps in a row that the proximal term alone made short, the cost falling as at their start
} sap_system;

/// workspace.c: packs the problem with v as warm start. STN_ERR_NUMERIC names what is not finite. Everything lives in
/// the arena of `control`.
stn_status sap_pack(sap_system *s, const double *v, stn_error *err);
/// Back into the problem's order.
void sap_unpack(const sap_system *s, stn_solution *solution);

/// anticipate.c: G of Newton's model at the present point into H_G: that of the potential, and with `anticipate` more
/// for contacts that are predicted to stick. Marks the lanes where it was another.
void sap_anticipate(sap_system *s);
/// The impulses that the model gives the full step dv.
void sap_predict(sap_system *s);

/// direction.c: assembles and factors H at the present point, or H + 1e-12 diag(H) when `damped`. Creates what is not
/// there yet.
stn_status sap_factor(sap_system *s, bool damped, stn_error *err);
/// dv = -H^-1 gradient, dp = A dv, dv_c = J dv, and their products.
stn_status sap_direction(sap_system *s, stn_error *err);

/// conjugate.c: x (nv, compact) becomes H^-1 x, by preconditioned conjugate gradients until |D (x - H y)| is
/// `reduction` of |D x|. Not `done`: they did not come so far, and x is as it was.
stn_status sap_conjugate(sap_system *s, double *x, bool *done, stn_error *err);

/// differentiate.c: stn_solver_ops.differentiate.
stn_status sap_differentiate(void *self, const stn_problem *problem, const stn_solve_control *control,
                             const stn_solution *solution, const stn_sensitivity *sensitivity, stn_error *err);

/// linesearch.c: moves along dv, leaving all of the state at the new point. Returns the step.
double sap_line_search(sap_system *s);

/// kernels.c
/// gamma, G and cost at the velocities of `at`.
void sap_evaluate(sap_system *s, sap_point *at);
/// gamma and G of the lines; their potentials are added to the cost.
void sap_evaluate_lines(const sap_system *s, sap_point *at);
/// gamma and G of part k of the lanes. Returns the sum of their potentials.
double sap_evaluate_part(const sap_system *s, const sap_point *at, int32_t k);
/// Calls run(user, part, worker) for all parts of the lanes or velocities, which may write to sums + 8 part; `totals`
/// (count <= 8) receives the sums of their first numbers.
void sap_by_lanes(const sap_system *s, void (*run)(void *user, int32_t part, int32_t worker), void *user, int32_t count,
                  double *totals);
void sap_by_velocities(const sap_system *s, void (*run)(void *user, int32_t part, int32_t worker), void *user,
                       int32_t count, double *totals);
/// The same of compact velocities.
void sap_by_compact(const sap_system *s, void (*run)(void *user, int32_t part, int32_t worker), void *user,
                    int32_t count, double *totals);
/// The end of part k of `count`, in parts of `size`.
static inline int32_t sap_part_end(int32_t k, int32_t size, int32_t count) {
    return size * (k + 1) < count ? size * (k + 1) : count;
}
/// The whole state from v alone.
void sap_refresh(sap_system *s);
/// gradient, j, Av and their norms at the present point.
void sap_gradient(sap_system *s);
#endif
