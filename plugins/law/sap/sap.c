// SPDX-License-Identifier: Apache-2.0
// Contact law of SAP: linear compliance, linear dissipation and the friction cone in one convex potential
// [castro-2022].
//
//     y = R^-1 (v_hat - v_c),  R = diag(R_t, R_t, R_n)
//     gamma = argmin over the cone |x_t| <= mu x_n of |x - y|_R^2 / 2                                         S(23)
//     l(v_c) = gamma^T R gamma / 2,  gamma = -dl/dv_c,  G = -dgamma/dv_c                                      S(39)
//
// The projection has three regions: stick (gamma = y), slide (gamma on the cone's boundary) and open (gamma = 0).
//
// Where friction differs by direction, mu = max(mu1, mu2) and S = diag(mu1/mu, mu2/mu, 1) make a circular cone of the
// elliptic one: the same law holds for S v_c and S^-1 gamma, with R_ti = R_t / S_ii^2. Friction stays associated: it
// dissipates the most that the ellipse allows.
#include <math.h>
#include <stiction/plugin.h>

#include "common/law_lanes.h"

typedef struct sap_config {
    double beta, sigma, regularization;
} sap_config;

static const stn_param params[] = {
    STN_PARAM_REAL(sap_config, beta, "1", 1.0, 0.0, 1e6,
                   "near-rigid: contact no stiffer than a mode of period beta dt; 0 takes the stiffness as it is"),
    STN_PARAM_REAL(sap_config, sigma, "1", 1e-3, 1e-12, 1e6,
                   "regularisation of friction R_t = sigma w; stick creeps at sigma w mu gamma_n"),
    STN_PARAM_REAL(sap_config, regularization, "m/(N s)", 0.0, 0.0, 1e12,
                   "the same R in all directions, this over dt, in place of beta, sigma and the stiffness; 0: those"),
};

// What prepare leaves for evaluate, one array each. All but S are zero in padding lanes: y = 0 there, and a
// frictionless contact with y_n = 0 is open. S is 1 where the cone is circular.
enum { RT, RN, RT_INV, RN_INV, V_HAT_1, V_HAT_2, V_HAT_N, MU, MU_HAT, SLIDE, SLIDE_G, S_1, S_2, COEFFICIENT_COUNT };

/// mu, and S_11 and S_22, which are 1 for a circular cone.
static double scales(const stn_constraint *c, double s[2]) {
    double mu = fmax(c->mu1, c->mu2);
    s[0] = s[1] = 1.0;
    if (c->set == STN_SET_CONE) {
        return c->mu1;
    }
    if (mu > 0.0) {
        s[0] = c->mu1 / mu;
        s[1] = c->mu2 / mu;
    }
    return mu;
}

/// SAP acts at phi < tau_d |v_n| + mu (dt + tau_d) |v_t| on approach; half as much again for what the step changes.
static double reach(const void *self, double dt, const stn_constraint *c, double normal_speed, double slip_speed) {
    (void)self;
    double mu = c->mu2 > c->mu1 ? c->mu2 : c->mu1;
    return 1.5 * (dt + c->relaxation_time) * (fabs(normal_speed) + mu * fabs(slip_speed));
}

/// R_n = max(beta^2/(4 pi^2) w, 1/(dt k (dt + tau_d)))  S(29),  R_t = sigma w  S(30),  v_hat = -phi0/(dt + tau_d).
/// A direction without friction has no R of its own that could matter: it gets R_t. A contact with w = 0 moves nothing:
/// any R > 0 serves. Data that are NaN stay NaN, and prepare names them.
static void regularize(const void *self, stn_problem *problem) {
    const sap_config *config = self;
    double beta = isnan(problem->beta) ? config->beta : problem->beta; // what a problem states comes first
    double sigma = isnan(problem->sigma) ? config->sigma : problem->sigma;
    for (int32_t i = 0; i < problem->constraint_count; i++) {
        const stn_constraint *c = &problem->constraints[i];
        if (!stn_constraint_has_cone(c)) {
            continue;
        }
        double w = c->w == 0.0 ? 1.0 : c->w;
        double time = problem->dt + c->relaxation_time;
        double rigid = beta * beta / (4.0 * STN_PI * STN_PI) * w;
        double compliance = 1.0 / (problem->dt * c->stiffness * time);
        double *R = problem->R + c->row, *v_hat = problem->v_hat + c->row;
        R[0] = R[1] = config->regularization > 0.0 ? config->regularization / problem->dt : sigma * w;
        if (c->set == STN_SET_ELLIPSE) {
            double s[2];
            scales(c, s);
            R[0] /= s[0] > 0.0 ? s[0] * s[0] : 1.0;
            R[1] /= s[1] > 0.0 ? s[1] * s[1] : 1.0;
        }
        R[2] = config->regularization > 0.0 ? config->regularization / problem->dt
               : rigid >= compliance        ? rigid
                                            : compliance;
        v_hat[0] = v_hat[1] = 0.0;
        v_hat[2] = -c->phi0 / time;
    }
}

static stn_status check_contact(const stn_problem *problem, int32_t index, stn_error *err) {
    const stn_constraint *c = &problem->constraints[index];
    const double *R = problem->R + c->row, *v_hat = problem->v_hat + c->row;
    static const char *const rows[] = {"t1", "t2", "n"};
    unsigned long long id = (unsigned long long)c->id;
    if (!stn_constraint_has_cone(c) || c->rows != 3) {
        return stn_fail(err, STN_ERR_UNSUPPORTED,
                        "constraint %d (id %llu): the law sap takes friction cones, not a set '%s' of %d rows", index,
                        id, stn_constraint_set_name(c->set), c->rows);
    }
    for (int32_t a = 0; a < 3; a++) {
        if (!(R[a] > 0.0) || !isfinite(R[a])) {
            return stn_fail(
                err, STN_ERR_NUMERIC,
                "contact %d (id %llu): R[%s] = %g 1/kg must be > 0 and finite (k = %g N/m, tau_d = %g s, w = "
                "%g 1/kg); a rigid contact needs beta > 0",
                index, id, rows[a], R[a], c->stiffness, c->relaxation_time, c->w);
        }
        if (!isfinite(v_hat[a])) {
            return stn_fail(err, STN_ERR_NUMERIC,
                            "contact %d (id %llu): v_hat[%s] = %g m/s must be finite (phi0 = %g m)", index, id, rows[a],
                            v_hat[a], c->phi0);
        }
    }
    double s[2], mu = scales(c, s);
    if (!(c->mu1 >= 0.0) || !(c->set == STN_SET_CONE || c->mu2 >= 0.0) || !isfinite(mu)) {
        return stn_fail(err, STN_ERR_NUMERIC, "contact %d (id %llu): mu = %g, %g must be >= 0 and finite", index, id,
                        c->mu1, c->mu2);
    }
    if (c->set == STN_SET_CONE && R[0] != R[1]) {
        return stn_fail(err, STN_ERR_UNSUPPORTED,
                        "contact %d (id %llu): R[t1] = %g and R[t2] = %g 1/kg differ; the law sap needs them equal",
                        index, id, R[0], R[1]);
    }
    double first = R[0] * s[0] * s[0], second = R[1] * s[1] * s[1];
    if (mu > 0.0 && s[0] > 0.0 && s[1] > 0.0 && fabs(first - second) > 1e-12 * first) {
        return stn_fail(err, STN_ERR_UNSUPPORTED,
                        "contact %d (id %llu): mu = %g, %g with R[t1] = %g and R[t2] = %g 1/kg; the law sap needs "
                        "mu1^2 R[t1] = mu2^2 R[t2]",
                        index, id, c->mu1, c->mu2, R[0], R[1]);
    }
    return STN_OK;
}

/// Does a circular cone, the usual case, pass check_contact? 0 x is 0 for all that is finite.
static inline bool is_sound(const stn_constraint *c, const double *R, const double *v_hat) {
    const double none = 0.0 * ((v_hat[0] + v_hat[1]) + (v_hat[2] + R[0]) + (R[2] + c->mu1));
    return c->set == STN_SET_CONE && c->rows == 3 && R[0] > 0.0 && R[1] == R[0] && R[2] > 0.0 && c->mu1 >= 0.0 &&
           none == 0.0;
}

static stn_status prepare(const void *self, const stn_problem *problem, const stn_law_batch *batch, const void *memory,
                          stn_error *err) {
    (void)self;
    (void)memory;
    double *lane = batch->coefficients;
    const size_t stride = (size_t)batch->stride;
    for (int32_t i = 0; i < batch->count; i++, lane++) {
        const stn_constraint *c = &problem->constraints[batch->constraint[i]];
        const double *R = problem->R + c->row, *v_hat = problem->v_hat + c->row;
        if (!is_sound(c, R, v_hat)) {
            stn_status status = check_contact(problem, batch->constraint[i], err);
            if (status != STN_OK) {
                return status;
            }
        }
        double s[2], mu = scales(c, s), R_t = s[0] > 0.0 ? R[0] * s[0] * s[0] : R[1]; // the larger s is 1
        double mu_hat = mu * R_t / R[2], f = 1.0 / (1.0 + mu * mu_hat);
        lane[S_1 * stride] = s[0];
        lane[S_2 * stride] = s[1];
        lane[RT * stride] = R_t;
        lane[RN * stride] = R[2];
        lane[RT_INV * stride] = 1.0 / R_t;
        lane[RN_INV * stride] = 1.0 / R[2];
        lane[V_HAT_1 * stride] = v_hat[0];
        lane[V_HAT_2 * stride] = v_hat[1];
        lane[V_HAT_N * stride] = v_hat[2];
        lane[MU * stride] = mu;
        lane[MU_HAT * stride] = mu_hat;
        lane[SLIDE * stride] = f;
        lane[SLIDE_G * stride] = f / R[2];
    }
    for (int32_t i = batch->count; i < batch->stride; i++, lane++) {
        for (size_t k = 0; k < COEFFICIENT_COUNT; k++) {
            lane[k * stride] = k == S_1 || k == S_2 ? 1.0 : 0.0;
        }
    }
    return STN_OK;
}

/// One contact. Every region is computed and selected without a branch, so that the loop around it becomes vector code.
/// `elliptic` is a constant where it is called: a batch of circular cones does not pay for S.
STN_KERNEL_INLINE void evaluate_lane(const double *c, size_t stride, const double *v_c, double *cost, double *gamma,
                                     double *G, bool elliptic) {
    double rt_inv = c[RT_INV * stride], rn_inv = c[RN_INV * stride], mu = c[MU * stride], mu_hat = c[MU_HAT * stride];
    double scale_1 = elliptic ? c[S_1 * stride] : 1.0, scale_2 = elliptic ? c[S_2 * stride] : 1.0;
    double y1 = (c[V_HAT_1 * stride] - v_c[0]) * scale_1 * rt_inv;
    double y2 = (c[V_HAT_2 * stride] - v_c[stride]) * scale_2 * rt_inv;
    double yn = (c[V_HAT_N * stride] - v_c[2 * stride]) * rn_inv;
    double yr = sqrt(y1 * y1 + y2 * y2);

    // without friction y_r = 0 <= mu y_n would stick: that case is left to the slide formulas, where it is exact
    bool stick = (mu > 0.0) & (yn >= 0.0) & (yr <= mu * yn);
    bool slide = !stick & (yn > -mu_hat * yr);

    // t opposes slip; y_r > 0 while sliding with friction, the guard is for mu = 0
    double yr_inv = 1.0 / (yr > 1e-150 ? yr : 1e-150);
    double t1 = y1 * yr_inv, t2 = y2 * yr_inv;
    double slide_n = c[SLIDE * stride] * (yn + mu_hat * yr);
    double slide_t = mu * slide_n;
    double g1 = stick ? y1 : (slide ? slide_t * t1 : 0.0);
    double g2 = stick ? y2 : (slide ? slide_t * t2 : 0.0);
    double gn = stick ? yn : (slide ? slide_n : 0.0);
    gamma[0] = scale_1 * g1;
    gamma[stride] = scale_2 * g2;
    gamma[2 * stride] = gn;
    cost[0] = 0.5 * (c[RT * stride] * (g1 * g1 + g2 * g2) + c[RN * stride] * gn * gn);
    if (G == NULL) {
        return;
    }
    // slide: G = f/R_n s s^T + mu gamma_n/(R_t y_r) p p^T, s = (mu t, 1), p perpendicular to t in the plane
    double a = c[SLIDE_G * stride], b = slide_t * (rt_inv * yr_inv);
    double s1 = mu * t1, s2 = mu * t2;
    double G_11 = stick ? rt_inv : (slide ? a * s1 * s1 + b * t2 * t2 : 0.0);
    double G_12 = slide ? a * s1 * s2 - b * t1 * t2 : 0.0;
    double G_22 = stick ? rt_inv : (slide ? a * s2 * s2 + b * t1 * t1 : 0.0);
    G[0] = scale_1 * scale_1 * G_11;
    G[stride] = scale_1 * scale_2 * G_12;
    G[2 * stride] = scale_2 * scale_2 * G_22;
    G[3 * stride] = scale_1 * (slide ? a * s1 : 0.0);
    G[4 * stride] = scale_2 * (slide ? a * s2 : 0.0);
    G[5 * stride] = stick ? rn_inv : (slide ? a : 0.0);
}

STN_KERNEL_INLINE void circular_lane(const double *c, size_t stride, const double *v_c, double *cost, double *gamma,
                                     double *G) {
    evaluate_lane(c, stride, v_c, cost, gamma, G, false);
}

STN_KERNEL_INLINE void elliptic_lane(const double *c, size_t stride, const double *v_c, double *cost, double *gamma,
                                     double *G) {
    evaluate_lane(c, stride, v_c, cost, gamma, G, true);
}

STN_KERNEL static void evaluate(const void *self, const stn_law_batch *batch, const double *v_c, double *cost,
                                double *gamma, double *G) {
    (void)self;
    const double *s = batch->coefficients + S_1 * (size_t)batch->stride, *t = s + batch->stride;
    const int32_t lanes = stn_law_lanes(batch);
    int64_t elliptic = 0;
    for (int32_t i = 0; i < lanes; i++) {
        elliptic |= (s[i] != 1.0) | (t[i] != 1.0);
    }
    if (elliptic != 0) {
        lanes_evaluate(batch, v_c, cost, gamma, G, elliptic_lane);
    } else {
        lanes_evaluate(batch, v_c, cost, gamma, G, circular_lane);
    }
}

/// Friction comes to the cone at v_s = R_t mu gamma_n; while it is there, phi + tau_d v_n = mu (dt + tau_d) |v_t| is
/// where the normal impulse begins  S(28). The glide gap of a problem with an R of its own is that of its relaxation
/// time.
static void slip(const void *self, const stn_problem *problem, int32_t constraint, const double *v_c,
                 const double *gamma, stn_law_slip *out) {
    (void)self;
    const stn_constraint *c = &problem->constraints[constraint];
    double s[2], mu = scales(c, s), limit = mu * gamma[2];
    double g1 = s[0] > 0.0 ? gamma[0] / s[0] : 0.0, g2 = s[1] > 0.0 ? gamma[1] / s[1] : 0.0;
    double v1 = s[0] * v_c[0], v2 = s[1] * v_c[1], scaled = sqrt(v1 * v1 + v2 * v2);
    double R_t = s[0] > 0.0 ? problem->R[c->row] * s[0] * s[0] : problem->R[c->row + 1];
    // the speed is told along the slip, where S makes it smaller
    double stretch = scaled > 0.0 ? sqrt(v_c[0] * v_c[0] + v_c[1] * v_c[1]) / scaled : 1.0;
    bool slides = gamma[2] > 0.0 && sqrt(g1 * g1 + g2 * g2) >= limit * (1.0 - 1e-9);
    *out = (stn_law_slip){
        .transition_speed = R_t * limit * stretch,
        .glide_gap = slides ? mu * (problem->dt + c->relaxation_time) * scaled : 0.0,
    };
}

static const stn_law_ops ops = {
    .size = sizeof ops,
    .coefficient_count = COEFFICIENT_COUNT,
    .sets = 1u << STN_SET_CONE | 1u << STN_SET_ELLIPSE,
    .reach = reach,
    .regularize = regularize,
    .prepare = prepare,
    .evaluate = evaluate,
    .slip = slip,
};

static const stn_plugin_desc sap = {
    .size = sizeof sap,
    .kind = STN_KIND_LAW,
    .id = "sap",
    .version = "0.1.0",
    .summary = "Compliant contact with linear dissipation and a friction cone, regularised (SAP); a sudden slip makes "
               "a body hop",
    .reference = "castro-2022 S(23), S(28)-(30), S(39)",
    .config_size = sizeof(sap_config),
    .params = params,
    .param_count = STN_COUNT(params),
    .ops.law = &ops,
};
STN_PLUGIN_LIBRARY(&sap);
