// SPDX-License-Identifier: Apache-2.0
// One right contact law, and one for each thing that a law can do wrong: the right one with one fault.
//   l = a u^2/2,  u = (b - z)+,  z = v_n - mu (sqrt(|v_t|^2 + e^2) - e),  a = dt^2 k,  b = -phi0/dt,  e = 0.1 mm/s
//   gamma = n r,  n = a u,  r = dz/dv_c = (-mu t, 1);   G = a r r^T + mu n/s (I - t t^T) in the plane
#include "misconduct.h" // first: it asks for more of the system's headers

#include <stdint.h>

#include <stiction/plugin.h>

typedef enum fault {
    NONE,
    GRADIENT_OFF_BY_A_THOUSANDTH,
    HESSIAN_WITHOUT_COUPLING,
    NORMAL_WITHOUT_COUPLING,
    SOFTENING_SPRING,
    COST_OF_OPEN_CONTACTS,
    FRICTION_THE_WRONG_WAY,
    IGNORES_MU,
    PADDING_AS_IT_WAS,
    WRITES_INPUT,
    DRIFTS_FROM_CALL_TO_CALL,
    WRITES_PAST_ITS_MEMORY,
    TAKES_NAN,
    TRANSITION_TOO_LOW,
    TRANSITION_TOO_HIGH,
    FORGETS_TO_GLIDE,
    FAILS,
    WRITES_ALL_LANES,
    PULLS, // on what is nearer than 1 mm, with 50 mN
} fault;

/// Of each descriptor's own table; `self` is its configuration.
typedef struct config {
    int32_t fault;
} config;

enum { A, B, MU, PULL, COUNT };

static const double reach_of_pull = 1e-3, strength = 0.05; // [m], [N]

static const double smooth = 1e-4; // [m/s]

static fault fault_of(const void *self) {
    return (fault)((const config *)self)->fault;
}

static stn_status prepare(const void *self, const stn_problem *problem, const stn_law_batch *batch, const void *memory,
                          stn_error *err) {
    static double calls;
    fault f = fault_of(self);
    if (f == FAILS) {
        return stn_fail(err, STN_ERR_UNSUPPORTED, "on purpose");
    }
    (void)memory;
    misbehave((int32_t)f, batch->coefficients, COUNT * batch->stride, NULL);
    for (int32_t i = 0; i < batch->stride; i++) {
        double *lane = batch->coefficients + i;
        if (i >= batch->count) {
            if (f == PADDING_AS_IT_WAS) {
                break;
            }
            lane[A * batch->stride] = lane[B * batch->stride] = lane[MU * batch->stride] = 0.0;
            lane[PULL * batch->stride] = 0.0;
            continue;
        }
        stn_constraint *c = &problem->constraints[batch->constraint[i]];
        if (isnan(c->phi0 + c->stiffness) || (isnan(c->mu1) && f != TAKES_NAN)) {
            return stn_fail(err, STN_ERR_NUMERIC, "phi0 = %g, stiffness = %g, mu = %g", c->phi0, c->stiffness, c->mu1);
        }
        double k = fmin(c->stiffness, 1e7);
        lane[A * batch->stride] = problem->dt * problem->dt * k;
        lane[B * batch->stride] = -c->phi0 / problem->dt;
        lane[MU * batch->stride] = f == IGNORES_MU ? 0.5 : c->mu1;
        lane[PULL * batch->stride] = f == PULLS && c->phi0 < reach_of_pull ? problem->dt * strength : 0.0;
        if (f == WRITES_INPUT) {
            c->mu2 *= 1.0 + 1e-15;
        }
        if (f == DRIFTS_FROM_CALL_TO_CALL) {
            lane[A * batch->stride] *= 1.0 + 1e-13 * ++calls;
        }
    }
    return STN_OK;
}

static void evaluate_lane(fault f, const double *c, int32_t stride, const double *v_c, double *cost, double *gamma,
                          double *G) {
    double a = c[A * stride], mu = c[MU * stride], v1 = v_c[0], v2 = v_c[stride];
    double s = sqrt(v1 * v1 + v2 * v2 + smooth * smooth);
    double t1 = v1 / s, t2 = v2 / s, sign = f == FRICTION_THE_WRONG_WAY ? -1.0 : 1.0;
    double z = v_c[2 * stride] - (f == NORMAL_WITHOUT_COUPLING ? 0.0 : sign * mu * (s - smooth));
    double u = fmax(c[B * stride] - z, 0.0), n = a * u, slope = u > 0.0 ? a : 0.0;
    double holds = c[PULL * stride];
    *cost = 0.5 * a * u * u + holds * v_c[2 * stride];
    if (f == SOFTENING_SPRING) {
        const double most = 0.02;
        double left = exp(-u / most);
        *cost = a * most * most * (1.0 - (1.0 + u / most) * left);
        n *= left;
        slope *= (1.0 - u / most) * left;
    }
    *cost += f == COST_OF_OPEN_CONTACTS && a > 0.0 ? 1e-6 : 0.0;
    double scale = f == GRADIENT_OFF_BY_A_THOUSANDTH ? 1.001 : 1.0;
    double r1 = -sign * mu * t1, r2 = -sign * mu * t2, secant = sign * mu * n / s;
    gamma[0] = scale * n * r1;
    gamma[stride] = scale * n * r2;
    gamma[2 * stride] = scale * n - holds;
    if (G == NULL) {
        return;
    }
    double coupling = f == HESSIAN_WITHOUT_COUPLING ? 0.0 : slope;
    G[0] = slope * r1 * r1 + secant * (1.0 - t1 * t1);
    G[stride] = slope * r1 * r2 - secant * t1 * t2;
    G[2 * stride] = slope * r2 * r2 + secant * (1.0 - t2 * t2);
    G[3 * stride] = coupling * r1;
    G[4 * stride] = coupling * r2;
    G[5 * stride] = slope;
}

static void evaluate(const void *self, const stn_law_batch *batch, const double *v_c, double *cost, double *gamma,
                     double *G) {
    const int32_t lanes = fault_of(self) == WRITES_ALL_LANES ? batch->stride : stn_law_lanes(batch);
    for (int32_t i = 0; i < lanes; i++) {
        evaluate_lane(fault_of(self), batch->coefficients + i, batch->stride, v_c + i, cost + i, gamma + i,
                      G != NULL ? G + i : NULL);
    }
}

/// A law with memory: the impulse of the step before, which it does not use.
static void commit(const void *self, const stn_problem *problem, const double *v_c, const double *gamma, void *memory) {
    double *slot = memory;
    (void)v_c;
    for (int32_t i = 0; i < problem->constraint_count + (fault_of(self) == WRITES_PAST_ITS_MEMORY); i++) {
        slot[i] = gamma[3 * (i % problem->constraint_count) + 2];
    }
}

/// sqrt(1 - e^2/s^2) = 0.99 at |v_t| = 7.0179 e.
static void slip(const void *self, const stn_problem *problem, int32_t constraint, const double *v_c,
                 const double *gamma, stn_law_slip *out) {
    fault f = fault_of(self);
    double factor = f == TRANSITION_TOO_LOW ? 1.0 : (f == TRANSITION_TOO_HIGH ? 50.0 : 7.0179238);
    double slip2 = v_c[0] * v_c[0] + v_c[1] * v_c[1], distance = slip2 / (sqrt(slip2 + smooth * smooth) + smooth);
    bool glides = gamma[2] > 0.0 && f != FORGETS_TO_GLIDE;
    *out = (stn_law_slip){
        .transition_speed = factor * smooth,
        .glide_gap = glides ? problem->constraints[constraint].mu1 * problem->dt * distance : 0.0,
    };
}

static double reach(const void *self, double dt, const stn_constraint *c, double v_n, double v_t) {
    (void)self, (void)c, (void)v_t;
    return reach_of_pull + 1.5 * dt * fmax(-v_n, 0.0);
}

static const stn_law_ops ops = {.size = sizeof ops,
                                .coefficient_count = COUNT,
                                .sets = 1u << STN_SET_CONE,
                                .prepare = prepare,
                                .evaluate = evaluate,
                                .commit = commit,
                                .slip = slip};
static const stn_law_ops pulling_ops = {.size = sizeof pulling_ops,
                                        .coefficient_count = COUNT,
                                        .sets = 1u << STN_SET_CONE,
                                        .prepare = prepare,
                                        .evaluate = evaluate,
                                        .commit = commit,
                                        .reach = reach};

#define LAW_THAT_SAYS(word, number, table, words)                                         \
    static const stn_param word##_params[] = {                                            \
        STN_PARAM_INT(config, fault, "1", number, number, number, "what is wrong")};      \
    static const stn_plugin_desc word = {.size = sizeof word,                             \
                                         .kind = STN_KIND_LAW,                            \
                                         .id = "wrong_" #word,                            \
                                         .version = "1",                                  \
                                         .summary = "A spring with friction and a fault", \
                                         .capabilities = words,                           \
                                         .config_size = sizeof(config),                   \
                                         .params = word##_params,                         \
                                         .param_count = 1,                                \
                                         .memory_per_constraint = sizeof(double),         \
                                         .ops.law = &(table)};
#define LAW(word, number) LAW_THAT_SAYS(word, number, ops, NULL)

static const char *const adhesive[] = {"adhesive", NULL}, *const explicit[] = {"explicit", NULL};

LAW_THAT_SAYS(pull, PULLS, pulling_ops, NULL)
LAW_THAT_SAYS(adhesive_pull, PULLS, pulling_ops, adhesive)
LAW_THAT_SAYS(adhesive_none, NONE, ops, adhesive)
LAW_THAT_SAYS(explicit_none, NONE, ops, explicit)
LAW(none, NONE)
LAW(gradient, GRADIENT_OFF_BY_A_THOUSANDTH)
LAW(hessian, HESSIAN_WITHOUT_COUPLING)
LAW(curl, NORMAL_WITHOUT_COUPLING)
LAW(softening, SOFTENING_SPRING)
LAW(constant, COST_OF_OPEN_CONTACTS)
LAW(friction, FRICTION_THE_WRONG_WAY)
LAW(mu, IGNORES_MU)
LAW(padding, PADDING_AS_IT_WAS)
LAW(lanes, WRITES_ALL_LANES)
LAW(input, WRITES_INPUT)
LAW(drift, DRIFTS_FROM_CALL_TO_CALL)
LAW(memory, WRITES_PAST_ITS_MEMORY)
LAW(not_a_number, TAKES_NAN)
LAW(transition_low, TRANSITION_TOO_LOW)
LAW(transition_high, TRANSITION_TOO_HIGH)
LAW(glide, FORGETS_TO_GLIDE)
LAW(fails, FAILS)

#define WITH_MISCONDUCT(word) LAW(word, MISCONDUCT_##word)
#define ITS_DESCRIPTOR(word)  , &(word)
STN_MISCONDUCTS(WITH_MISCONDUCT)

STN_PLUGIN_LIBRARY(&pull, &adhesive_pull, &adhesive_none, &explicit_none, &none, &gradient, &hessian, &curl, &softening,
                   &constant, &friction, &mu, &padding, &lanes, &input, &drift, &memory, &not_a_number, &transition_low,
                   &transition_high, &glide, &fails STN_MISCONDUCTS(ITS_DESCRIPTOR));
