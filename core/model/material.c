// SPDX-License-Identifier: Apache-2.0
// Contact parameters of a pair, math note 1.1. With w_a = k_a / (k_a + k_b):
//     k = k_a k_b / (k_a + k_b),   mu = 2 mu_a mu_b / (mu_a + mu_b),   d = w_a d_b + (1 - w_a) d_a,
//     tau = tau_a + tau_b (or weighted as d, by rule),   contact point = w_a p_a + (1 - w_a) p_b: the softer side deforms
// Two springs in series, so a rigid side (k infinite) leaves the other's k. The restitution is the larger of the two: a
// bouncing ball bounces on any floor.
#include "model/compiled.h"

stn_material stn_material_unset(void) {
    return (stn_material){NAN, NAN, NAN, NAN, NAN, NAN};
}

stn_material stn_material_default(void) {
    return (stn_material){.mu = 0.5,
                          .stiffness = INFINITY,
                          .relaxation_time = NAN,
                          .dissipation = 0.0,
                          .restitution = 0.0,
                          .modulus = INFINITY};
}

/// a b / (a + b) for springs in series; infinite ones give the other.
static double in_series(double a, double b) {
    if (isinf(a) || isinf(b)) {
        return isinf(a) ? b : a;
    }
    return a + b > 0.0 ? a * (b / (a + b)) : 0.0;
}

static double weight(double a, double b) {
    if (a == b) {
        return 0.5; // both rigid, both zero, or just equal
    }
    if (isinf(a) || isinf(b)) {
        return isinf(a) ? 1.0 : 0.0;
    }
    return a / (a + b);
}

static double relax(stn_relaxation_rule rule, double a, double b, double w) {
    if (isnan(a) || isnan(b)) {
        return isnan(a) ? b : a;
    }
    return rule == STN_RELAXATION_SUM ? a + b : w * b + (1.0 - w) * a;
}

static void take_given(double *value, double given) {
    *value = isnan(given) ? *value : given;
}

static void apply_override(const stn_material *given, stn_material *value) {
    take_given(&value->mu, given->mu);
    take_given(&value->stiffness, given->stiffness);
    take_given(&value->relaxation_time, given->relaxation_time);
    take_given(&value->dissipation, given->dissipation);
    take_given(&value->restitution, given->restitution);
    take_given(&value->modulus, given->modulus);
}

static bool covers(int32_t wanted, int32_t link) {
    return wanted == STN_ANY || wanted == link;
}

void stn_model_combine_surfaces(const stn_model *model, stn_relaxation_rule rule, int32_t geometry_a,
                                int32_t geometry_b, stn_pair_material *out) {
    const model_object *object = model_object_of(model);
    const stn_material a = object->surface[geometry_a], b = object->surface[geometry_b];
    double w = weight(a.stiffness, b.stiffness), mu = a.mu + b.mu;
    bool no_spring = a.stiffness + b.stiffness == 0.0;
    out->value.mu = mu > 0.0 ? 2.0 * a.mu * (b.mu / mu) : 0.0;
    out->value.stiffness = in_series(a.stiffness, b.stiffness);
    out->value.relaxation_time = relax(rule, a.relaxation_time, b.relaxation_time, w);
    out->value.dissipation = no_spring ? 0.0 : w * b.dissipation + (1.0 - w) * a.dissipation;
    out->value.restitution = fmax(a.restitution, b.restitution);
    out->value.modulus = in_series(a.modulus, b.modulus);
    out->weight_a = w;
    int32_t link_a = object->filter[geometry_a].link, link_b = object->filter[geometry_b].link;
    for (int32_t i = 0; i < object->override_count; i++) {
        const pair_override *o = &object->overrides[i];
        if ((covers(o->a, link_a) && covers(o->b, link_b)) || (covers(o->a, link_b) && covers(o->b, link_a))) {
            apply_override(&o->material, &out->value);
        }
    }
}

stn_pair_material stn_model_pair_material(const stn_model *model, int32_t geometry_a, int32_t geometry_b) {
    stn_pair_material pair;
    stn_model_combine_surfaces(model, STN_RELAXATION_SUM, geometry_a, geometry_b, &pair);
    return pair;
}
