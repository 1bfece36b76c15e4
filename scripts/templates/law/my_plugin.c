// my_plugin.c: a linear spring and damper along the normal, friction that grows smoothly to its limit, from one convex
// potential l(v), so that the impulse gamma = -dl/dv is the answer of a convex problem:
//   z = v_n - mu s(v_t),   s = sqrt(|v_t|^2 + eps^2) - eps,   l = R/2 n(z)^2,   n = max(0, (v_hat - z)/R)
//   gamma = n (-mu v_t/sqrt(|v_t|^2 + eps^2), 1)        -> |gamma_t| < mu gamma_n, and towards it as |v_t| >> eps
// with v_hat = -phi0/(dt + tau_d) and R = 1/(dt k (dt + tau_d)): the force of the spring at the step's end.
// What to change first: n(z), any function that falls and is convex when summed up; and R and v_hat in prepare.
#include <stiction/plugin.h>

typedef struct settings {
    double eps, beta;
} settings;

static const stn_param params[] = {
    STN_PARAM_REAL(settings, eps, "m/s", 1e-4, 1e-9, 1.0, "slip at which friction is 71 % of its limit"),
    STN_PARAM_REAL(settings, beta, "1", 1.0, 1e-6, 1e6, "no contact is stiffer than a mode of period beta dt"),
};

enum { V_HAT, R_INVERSE, MU, EPS, COEFFICIENT_COUNT }; // what prepare leaves for evaluate, an array each

/// Beyond touch the law acts while phi0 < (dt + tau_d)(|v_n| + mu |v_t|); half as much again for what the step changes.
static double reach(const void *self, double dt, const stn_constraint *c, double normal_speed, double slip_speed) {
    (void)self;
    return 1.5 * (dt + c->relaxation_time) * (fabs(normal_speed) + c->mu1 * fabs(slip_speed));
}

/// A rigid contact (k infinite) gets the compliance of the near-rigid limit, from its inverse mass w.
static stn_status prepare_contact(const settings *config, const stn_problem *problem, const stn_constraint *c,
                                  double *lane, size_t stride, stn_error *err) {
    double time = problem->dt + c->relaxation_time, w = c->w == 0.0 ? 1.0 : c->w;
    double rigid = config->beta * config->beta / (4.0 * STN_PI * STN_PI) * w;
    double compliance = 1.0 / (problem->dt * c->stiffness * time), R = rigid >= compliance ? rigid : compliance;
    if (!(c->w >= 0.0) || !(R > 0.0) || !isfinite(R) || !isfinite(c->phi0) || !(c->mu1 >= 0.0) || !isfinite(c->mu1)) {
        return stn_fail(
            err, STN_ERR_NUMERIC,
            "contact (id %llx): phi0 = %g m, k = %g N/m, tau_d = %g s, w = %g 1/kg, mu = %g must be numbers, "
            "k > 0 and mu >= 0",
            (unsigned long long)c->id, c->phi0, c->stiffness, c->relaxation_time, c->w, c->mu1);
    }
    lane[V_HAT * stride] = -c->phi0 / time;
    lane[R_INVERSE * stride] = 1.0 / R;
    lane[MU * stride] = c->mu1;
    lane[EPS * stride] = config->eps;
    return STN_OK;
}

static stn_status prepare(const void *self, const stn_problem *problem, const stn_law_batch *batch, const void *memory,
                          stn_error *err) {
    (void)memory;
    size_t stride = (size_t)batch->stride;
    for (int32_t i = 0; i < batch->stride; i++) {
        double *lane = batch->coefficients + i;
        lane[V_HAT * stride] = lane[R_INVERSE * stride] = lane[MU * stride] = 0.0; // padding: 1/R = 0 gives zeros
        lane[EPS * stride] = 1.0;
        if (i < batch->count) {
            const stn_constraint *c = &problem->constraints[batch->constraint[i]];
            stn_status status = prepare_contact(self, problem, c, lane, stride, err);
            if (status != STN_OK) {
                return status;
            }
        }
    }
    return STN_OK;
}

/// One contact, its numbers `stride` apart. G = d2l/dv2 = z' z'^T/R - n z'', zero where the contact is open.
static void evaluate_contact(const double *lane, size_t stride, const double *v, double *cost, double *gamma,
                             double *G) {
    double mu = lane[MU * stride], eps = lane[EPS * stride], R_inverse = lane[R_INVERSE * stride];
    double v1 = v[0], v2 = v[stride], soft = sqrt(v1 * v1 + v2 * v2 + eps * eps);
    double z = v[2 * stride] - mu * (soft - eps);
    double n = fmax(0.0, (lane[V_HAT * stride] - z) * R_inverse);
    double z1 = -mu * v1 / soft, z2 = -mu * v2 / soft;
    *cost = n > 0.0 ? 0.5 * n * n / R_inverse : 0.0;
    gamma[0] = n * z1;
    gamma[stride] = n * z2;
    gamma[2 * stride] = n;
    if (G != NULL) {
        double a = n > 0.0 ? R_inverse : 0.0, b = n * mu / soft, t1 = v1 / soft, t2 = v2 / soft;
        G[0] = a * z1 * z1 + b * (1.0 - t1 * t1);
        G[stride] = a * z1 * z2 - b * t1 * t2;
        G[2 * stride] = a * z2 * z2 + b * (1.0 - t2 * t2);
        G[3 * stride] = a * z1;
        G[4 * stride] = a * z2;
        G[5 * stride] = a;
    }
}

static void evaluate(const void *self, const stn_law_batch *batch, const double *v_c, double *cost, double *gamma,
                     double *G) {
    (void)self;
    for (int32_t i = 0; i < stn_law_lanes(batch); i++) { // not up to stride: the batch may be a part of a larger one
        evaluate_contact(batch->coefficients + i, (size_t)batch->stride, v_c + i, cost + i, gamma + i,
                         G != NULL ? G + i : NULL);
    }
}

/// Friction has 99 % of its limit at |v_t| = 0.99/sqrt(1 - 0.99^2) eps; a contact that slips rides on mu s (dt +
/// tau_d).
static void slip(const void *self, const stn_problem *problem, int32_t constraint, const double *v_c,
                 const double *gamma, stn_law_slip *out) {
    double eps = ((const settings *)self)->eps;
    const stn_constraint *c = &problem->constraints[constraint];
    double s = sqrt(v_c[0] * v_c[0] + v_c[1] * v_c[1] + eps * eps) - eps;
    out->transition_speed = 7.02 * eps;
    out->glide_gap = gamma[2] > 0.0 ? c->mu1 * s * (problem->dt + c->relaxation_time) : 0.0;
}

static const stn_law_ops ops = {
    .size = sizeof ops,
    .coefficient_count = COEFFICIENT_COUNT,
    .sets = 1u << STN_SET_CONE,
    .reach = reach,
    .prepare = prepare,
    .evaluate = evaluate,
    .slip = slip,
};

static const stn_plugin_desc descriptor = {
    .size = sizeof descriptor,
    .kind = STN_KIND_LAW,
    .id = "my_plugin",
    .version = "0.1.0",
    .summary = "Linear spring and damper with smooth friction, convex",
    .config_size = sizeof(settings),
    .params = params,
    .param_count = STN_COUNT(params),
    .ops.law = &ops,
};
STN_PLUGIN_LIBRARY(&descriptor); // the one exported symbol
