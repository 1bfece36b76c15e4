// SPDX-License-Identifier: Apache-2.0
// Contact parameters of a pair (docs/lua.md, "Bodies and their contact"). With w_a = k_a / (k_a + k_b):
//     k = k_a k_b / (k_a + k_b),   mu = 2 mu_a mu_b / (mu_a + mu_b),   d = w_a d_b + (1 - w_a) d_a,
//     tau = tau_a + tau_b (or weighted as d, by rule),   contact point = w_a p_a + (1 - w_a) p_b: the softer side
//     deforms
// and for faces of patches d and tau once more, with moduli E in the place of k.
// Two springs in series, so a rigid side (k infinite) leaves the other's k. The restitution is the larger of the two: a
// bouncing ball bounces on any floor. mu_static combines as mu does, with the mu of a side that has none, and so does
// mu2 where one side has a friction direction. Where both have one, contacts combine tensors (contact_set.c).
#include <stiction/model.h>
#include <stiction/random.h>
#include <string.h>

#include "model/built.h"
#include "model/compiled.h"
#include "model/compiler.h"

_Static_assert(sizeof(stn_material) == MATERIAL_MEMBERS * sizeof(double), "a material is its members and nothing else");

stn_material stn_material_unset(void) {
    return (stn_material){NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
}

stn_material stn_material_default(void) {
    return (stn_material){.mu = 0.5,
                          .stiffness = INFINITY,
                          .relaxation_time = NAN,
                          .dissipation = 0.0,
                          .restitution = 0.0,
                          .modulus = INFINITY,
                          .mu_static = NAN,
                          .mu2 = NAN};
}

stn_material material_stated(const stn_material *given) {
    stn_material stated = *given;
    if (!isnan(given->mu) && isnan(given->mu_static)) {
        stated.mu_static = given->mu;
    }
    if (!isnan(given->mu) && isnan(given->mu2)) {
        stated.mu2 = given->mu;
    }
    return stated;
}

stn_material material_over(const stn_material *material, const stn_material *stated) {
    double value[MATERIAL_MEMBERS], given[MATERIAL_MEMBERS];
    stn_material over;
    memcpy(value, material, sizeof value);
    memcpy(given, stated, sizeof given);
    for (int32_t i = 0; i < MATERIAL_MEMBERS; i++) {
        value[i] = isnan(given[i]) ? value[i] : given[i];
    }
    memcpy(&over, value, sizeof over);
    return over;
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

double material_harmonic_mean(double a, double b) {
    return a + b > 0.0 ? 2.0 * a * (b / (a + b)) : 0.0;
}

bool material_is_anisotropic(const stn_material *material) {
    return !isnan(material->mu2) && material->mu2 != material->mu;
}

void stn_model_combine_surfaces(const stn_model *model, stn_relaxation_rule rule, int32_t geometry_a,
                                int32_t geometry_b, stn_pair_material *out) {
    const model_object *object = model_object_of(model);
    const stn_material a = object->surface[geometry_a], b = object->surface[geometry_b];
    double w = material_weight(a.stiffness, b.stiffness);
    double w_patch = material_weight(a.modulus, b.modulus);
    bool no_spring = a.stiffness + b.stiffness == 0.0;
    out->value.mu = material_harmonic_mean(a.mu, b.mu);
    out->value.stiffness = in_series(a.stiffness, b.stiffness);
    out->value.relaxation_time = relax(rule, a.relaxation_time, b.relaxation_time, w);
    out->value.dissipation = no_spring ? 0.0 : mix(w, b.dissipation, a.dissipation);
    out->value.restitution = fmax(a.restitution, b.restitution);
    out->value.modulus = in_series(a.modulus, b.modulus);
    out->value.mu_static = NAN;
    if (!isnan(a.mu_static) || !isnan(b.mu_static)) { // a side without has its mu
        out->value.mu_static =
            material_harmonic_mean(isnan(a.mu_static) ? a.mu : a.mu_static, isnan(b.mu_static) ? b.mu : b.mu_static);
    }
    out->value.mu2 = NAN;
    bool of_a = material_is_anisotropic(&a), of_b = material_is_anisotropic(&b);
    if (of_a && of_b) { // what any contact of the two lies between
        out->value.mu = material_harmonic_mean(fmax(a.mu, a.mu2), fmax(b.mu, b.mu2));
        out->value.mu2 = material_harmonic_mean(fmin(a.mu, a.mu2), fmin(b.mu, b.mu2));
    } else if (of_a || of_b) {
        out->value.mu2 = material_harmonic_mean(of_a ? a.mu2 : a.mu, of_b ? b.mu2 : b.mu);
    }
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

// ----------------------------------------------------------------------------------------------------- overrides
// Contact parameters that were stated for pairs of links. Calls for the same two links are merged when the model is
// compiled; a pair of geometries then looks up at most four entries (both links, either with any other, all), however
// many overrides there are, and takes each parameter from the latest call that gave it.

/// Position of a member of stn_material.
#define MEMBER(name) (offsetof(stn_material, name) / sizeof(double))

/// The slot of a key, or the free one where it belongs.
static int32_t *find_slot(const pair_overrides *o, uint64_t key) {
    uint32_t s = (uint32_t)(key * STN_RANDOM_STEP >> 32) & (uint32_t)(o->slot_count - 1);
    while (o->slots[s] != 0 && o->entries[o->slots[s] - 1].key != key) {
        s = (s + 1) & (uint32_t)(o->slot_count - 1);
    }
    return &o->slots[s];
}

/// Position in a table of the links, the world and the surfaces.
static int32_t side_of(int32_t links, int32_t link) {
    return link >= 0 ? link : link == STN_WORLD ? links : links + 1 + STN_SURFACE_LINK(link);
}

stn_status compile_overrides(compiler *c, filter_entry *filter, stn_error *err) {
    const list *built = &c->builder->overrides;
    int32_t links = c->builder->links.count;
    pair_overrides *o = &c->object->overrides;
    o->slot_count = 4;
    while (o->slot_count < 2 * built->count) {
        o->slot_count *= 2;
    }
    o->slots = STN_ARENA_ZEROED(c->memory, o->slot_count, int32_t);
    o->entries = STN_ARENA_ZEROED(c->memory, built->count, pair_override);
    // the world and the surfaces come after the links
    bool *mentioned = STN_ARENA_ZEROED(c->scratch, links + 1 + c->builder->surfaces.count, bool);
    if (o->slots == NULL || o->entries == NULL || mentioned == NULL) {
        return model_out_of_memory(err);
    }
    for (int32_t i = 0; i < built->count; i++) {
        const built_override *given = override_at(c->builder, i);
        int32_t link[2] = {given->a, given->b};
        for (int32_t k = 0; k < 2; k++) {
            if (link[k] != STN_ANY) {
                link[k] = contact_link(c, link[k]);
                mentioned[side_of(links, link[k])] = true;
            }
        }
        uint64_t key = pair_key(link[0], link[1]);
        int32_t *slot = find_slot(o, key);
        if (*slot == 0) {
            o->entries[o->count++].key = key;
            *slot = o->count;
        }
        pair_override *entry = &o->entries[*slot - 1];
        double value[MATERIAL_MEMBERS];
        const stn_material stated = material_stated(&given->material);
        memcpy(value, &stated, sizeof value);
        for (int32_t k = 0; k < MATERIAL_MEMBERS; k++) {
            if (!isnan(value[k])) {
                entry->value[k] = value[k];
                entry->call[k] = i + 1;
            }
        }
    }
    o->of_all = *find_slot(o, pair_key(STN_ANY, STN_ANY)) - 1;
    for (int32_t i = 0; i < c->object->face.geometry_count; i++) {
        int32_t link = filter[i].link;
        filter[i].overridden = link != FILTER_NODE && mentioned[side_of(links, link)];
    }
    return STN_OK;
}

/// Takes each parameter that the entry's calls gave after `call`, which follows.
static inline void take_later(const pair_override *entry, double value[MATERIAL_MEMBERS],
                              int32_t call[MATERIAL_MEMBERS]) {
    for (int32_t i = 0; i < MATERIAL_MEMBERS; i++) {
        bool later = entry->call[i] > call[i];
        value[i] = later ? entry->value[i] : value[i];
        call[i] = later ? entry->call[i] : call[i];
    }
}

void stn_overrides_apply(const pair_overrides *o, const filter_entry *a, const filter_entry *b,
                         stn_pair_material *material) {
    if (o->count == 0) {
        return;
    }
    double value[MATERIAL_MEMBERS];
    int32_t call[MATERIAL_MEMBERS] = {0};
    memcpy(value, &material->value, sizeof value);
    if (o->of_all >= 0) {
        take_later(&o->entries[o->of_all], value, call);
    }
    const struct {
        int32_t a, b;
        bool possible;
    } pairs[] = {{a->link, STN_ANY, a->overridden},
                 {b->link, STN_ANY, b->overridden},
                 {a->link, b->link, a->overridden && b->overridden}};
    for (int32_t p = 0; (a->overridden || b->overridden) && p < STN_COUNT(pairs); p++) {
        int32_t found = pairs[p].possible ? *find_slot(o, pair_key(pairs[p].a, pairs[p].b)) : 0;
        if (found != 0) {
            take_later(&o->entries[found - 1], value, call);
        }
    }
    memcpy(&material->value, value, sizeof value);
    if (call[MEMBER(mu)] > 0) { // a coefficient of the pair holds in all directions
        material->value.mu2 = NAN;
    }
    if (call[MEMBER(dissipation)] > 0) {
        material->patch_dissipation = material->value.dissipation;
    }
    if (call[MEMBER(relaxation_time)] > 0) {
        material->patch_relaxation_time = material->value.relaxation_time;
    }
}

// --------------------------------------------------------------------------------------------- materials by name
// Materials by name: docs/materials.md has the sources, the ranges and how each value was chosen; a test holds the two
// together. A coefficient is that of the material on itself in the sense of the combination rule: where a source
// measured it on another material, the value is the one that makes the pair come out as measured.

#define SURFACE(friction, at_rest, young)                                                                 \
    {                                                                                                     \
        .mu = friction, .stiffness = NAN, .relaxation_time = NAN, .dissipation = NAN, .restitution = NAN, \
        .modulus = young, .mu_static = at_rest, .mu2 = NAN                                                \
    }

static const stn_named_material materials[] = {
    // name, density [kg/m^3], mu, mu_static (NAN: the same), Young's modulus [Pa]
    {"abs", 1050.0, SURFACE(0.5, NAN, 2e9)},
    {"acetal", 1410.0, SURFACE(0.12, NAN, 3e9)},
    {"aluminium", 2700.0, SURFACE(0.40, 0.52, 69e9)},
    {"brass", 8530.0, SURFACE(0.36, 0.39, 110e9)},
    {"cardboard", 670.0, SURFACE(0.375, 0.5, 6e9)},
    {"concrete", 2400.0, SURFACE(0.6, 0.8, 30e9)},
    {"copper", 8890.0, SURFACE(0.26, 0.41, 115e9)},
    {"glass", 2500.0, SURFACE(0.40, 0.94, 69e9)},
    {"ice", 917.0, SURFACE(0.03, 0.1, 9.1e9)},
    {"leather", 930.0, SURFACE(0.55, NAN, 0.3e9)},
    {"nylon", 1140.0, SURFACE(0.32, NAN, 2.7e9)},
    {"pla", 1240.0, SURFACE(0.5, NAN, 3.5e9)},
    {"polycarbonate", 1200.0, SURFACE(0.52, NAN, 2.38e9)},
    {"rubber", 930.0, SURFACE(0.84, 1.33, 2e6)},
    {"silicone", 1100.0, SURFACE(1.0, NAN, 5e6)},
    {"steel", 7850.0, SURFACE(0.57, 0.74, 207e9)},
    {"teflon", 2170.0, SURFACE(0.04, NAN, 0.475e9)},
    {"wood", 500.0, SURFACE(0.3, 0.5, 12e9)},
};

const stn_named_material *stn_named_materials(int32_t *count) {
    *count = STN_COUNT(materials);
    return materials;
}

const stn_named_material *stn_named_material_find(const char *name) {
    for (int32_t i = 0; i < STN_COUNT(materials); i++) {
        if (strcmp(materials[i].name, name) == 0) {
            return &materials[i];
        }
    }
    return NULL;
}
