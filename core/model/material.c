// SPDX-License-Identifier: Apache-2.0
// Contact parameters of a pair (docs/lua.md, "Bodies and their contact"). With w_a = k_a / (k_a + k_b):
//     k = k_a k_b / (k_a + k_b),   mu = 2 mu_a mu_b / (mu_a + mu_b),   d = w_a d_b + (1 - w_a) d_a,
//     tau = tau_a + tau_b (or weighted as d, by rule),   contact point = w_a p_a + (1 - w_a) p_b: the softer side
//     deforms
// and for faces of patches d and tau once more, with moduli E in the place of k.
// Two springs in series, so a rigid side (k infinite) leaves the other's k. The restitution is the larger of the two: a
// bouncing ball bounces on any floor. mu_static combines as mu does, with the mu of a side that has none.
#include "model/builder.h"
#include "model/compiled.h"

stn_material stn_material_unset(void) {
    return (stn_material){NAN, NAN, NAN, NAN, NAN, NAN, NAN};
}

stn_material stn_material_default(void) {
    return (stn_material){.mu = 0.5,
                          .stiffness = INFINITY,
                          .relaxation_time = NAN,
                          .dissipation = 0.0,
                          .restitution = 0.0,
                          .modulus = INFINITY,
                          .mu_static = NAN};
}

stn_material material_stated(const stn_material *given) {
    stn_material stated = *given;
    if (!isnan(given->mu) && isnan(given->mu_static)) {
        stated.mu_static = given->mu;
    }
    return stated;
}

/// a b / (a + b) for springs in series; infinite ones give the other.
static double in_series(double a, double b) {
    if (isinf(a) || isinf(b)) {
        return isinf(a) ? b : a;
    }
    return a + b > 0.0 ? a * (b / (a + b)) : 0.0;
}

static double mix(double w, double a, double b) {
    return w * a + (1.0 - w) * b;
}

double material_weight(double a, double b) {
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
    return rule == STN_RELAXATION_SUM ? a + b : mix(w, b, a);
}

static double harmonic_mean(double a, double b) {
    return a + b > 0.0 ? 2.0 * a * (b / (a + b)) : 0.0;
}

static double combine_static(const stn_material *a, const stn_material *b) {
    if (isnan(a->mu_static) && isnan(b->mu_static)) {
        return NAN;
    }
    return harmonic_mean(isnan(a->mu_static) ? a->mu : a->mu_static, isnan(b->mu_static) ? b->mu : b->mu_static);
}

void stn_model_combine_surfaces(const stn_model *model, stn_relaxation_rule rule, int32_t geometry_a,
                                int32_t geometry_b, stn_pair_material *out) {
    const model_object *object = model_object_of(model);
    const stn_material a = object->surface[geometry_a], b = object->surface[geometry_b];
    double w = material_weight(a.stiffness, b.stiffness);
    double w_patch = material_weight(a.modulus, b.modulus);
    bool no_spring = a.stiffness + b.stiffness == 0.0;
    out->value.mu = harmonic_mean(a.mu, b.mu);
    out->value.stiffness = in_series(a.stiffness, b.stiffness);
    out->value.relaxation_time = relax(rule, a.relaxation_time, b.relaxation_time, w);
    out->value.dissipation = no_spring ? 0.0 : mix(w, b.dissipation, a.dissipation);
    out->value.restitution = fmax(a.restitution, b.restitution);
    out->value.modulus = in_series(a.modulus, b.modulus);
    out->value.mu_static = combine_static(&a, &b);
    out->weight_a = w;
    out->patch_dissipation = mix(w_patch, b.dissipation, a.dissipation);
    out->patch_relaxation_time = relax(rule, a.relaxation_time, b.relaxation_time, w_patch);
    stn_overrides_apply(&object->overrides, &object->filter[geometry_a], &object->filter[geometry_b], out);
}

bool stn_geometry_is_compliant(const stn_geometry *geometry) {
    return isfinite(geometry->material.modulus);
}

stn_pair_material stn_model_pair_material(const stn_model *model, int32_t geometry_a, int32_t geometry_b) {
    stn_pair_material pair;
    stn_model_combine_surfaces(model, STN_RELAXATION_SUM, geometry_a, geometry_b, &pair);
    return pair;
}
