// SPDX-License-Identifier: Apache-2.0
// Whether the contact model handles every pair that colliders can form, and what the worst of these pairs is like for
// each of them, which bounds the reach of the broad phase.
//
// n colliders form n^2 / 2 pairs, but a pair is told by few things: colliders with the same shape, filter, surface and
// place are one kind, and kinds with the same shape and filter one class. Friction, relaxation time and stiffness of a
// pair grow with those of the partner (material.c), so within a class the worst partner of a kind is the first in their
// order that it may touch; that order is walked past a few of the own body only. Dissipation is a mean whose weights
// depend on both stiffnesses: it is walked until nothing that follows can exceed what was found. Relaxation times are
// added up whatever the world's rule, as their sum bounds the other one too.
#include <stdlib.h>
#include <string.h>

#include "model/compiled.h"
#include "world/contact_class.h"

enum { NO_LINK = INT32_MIN };

/// What tells a collider from others in any pair; ordered byte by byte, so classes and kinds are ranges.
typedef struct collider_key {
    contact_class contact; // begins the class
    int64_t class[3];      // category, mask, the link when an override names it
    int64_t place[3];      // body, its parent, the link when an exclusion names it
    stn_material surface;
    int32_t collider; // not of the key: keeps the order of the model
} collider_key;

typedef struct collider_kind {
    int32_t first;    // its lowest collider
    int32_t geometry; // of that one
    int32_t class;
} collider_kind;

/// What partners are ordered by, worst first.
typedef enum ranking { BY_MU, BY_RELAXATION, BY_STIFFNESS, BY_MODULUS, BY_DISSIPATION, RANKINGS } ranking;

typedef struct ranked {
    double value; // ascending
    int32_t kind;
} ranked;

typedef struct pair_table {
    const step_setup *setup;
    stn_arena *arena;
    int32_t kind_count, class_count;
    collider_kind *kinds;    // (kind_count), by class
    int32_t *kind_of;        // (collider_count)
    int32_t *class_start;    // (class_count + 1) kinds
    ranked *order[RANKINGS]; // (kind_count), within each class
} pair_table;

static int compare_keys(const void *a, const void *b) {
    const collider_key *x = a, *y = b;
    int order = memcmp(x, y, offsetof(collider_key, collider));
    return order != 0 ? order : (x->collider > y->collider) - (x->collider < y->collider);
}

static int compare_ranked(const void *a, const void *b) {
    const ranked *x = a, *y = b;
    int order = (x->value > y->value) - (x->value < y->value);
    return order != 0 ? order : (x->kind > y->kind) - (x->kind < y->kind);
}

static double rank(const stn_material *surface, ranking by) {
    switch (by) {
    case BY_MU:
        return -fmax(surface->mu, surface->mu2); // in the worst direction; NaN: in all
    case BY_RELAXATION:                          // one that is not given adds nothing
        return isnan(surface->relaxation_time) ? (double)INFINITY : -surface->relaxation_time;
    case BY_STIFFNESS:
        return surface->stiffness;
    case BY_MODULUS:
        return surface->modulus;
    default:
        return -surface->dissipation;
    }
}

/// Kinds, classes and orders; false: out of memory.
static bool make_table(pair_table *t) {
    const step_setup *setup = t->setup;
    const model_object *object = model_object_of(setup->model);
    size_t n = (size_t)setup->collider_count;
    collider_key *keys = STN_ARENA_ZEROED(t->arena, n, collider_key);
    t->kinds = STN_ARENA(t->arena, n, collider_kind);
    t->kind_of = STN_ARENA(t->arena, n, int32_t);
    t->class_start = STN_ARENA(t->arena, n + 1, int32_t);
    if (keys == NULL || t->kinds == NULL || t->kind_of == NULL || t->class_start == NULL) {
        return false;
    }
    for (int32_t i = 0; i < setup->collider_count; i++) {
        int32_t g = setup->collider[i];
        const filter_entry *filter = &object->filter[g];
        keys[i] = (collider_key){
            .contact = contact_class_of(&setup->model->geometries[g]),
            .class = {filter->category, filter->mask, filter->overridden ? filter->link : NO_LINK},
            .place = {filter->body, filter->parent, filter->excluded ? filter->link : NO_LINK},
            .surface = object->surface[g],
            .collider = i,
        };
    }
    qsort(keys, n, sizeof *keys, compare_keys);
    for (int32_t i = 0; i < setup->collider_count; i++) {
        int32_t first = keys[i].collider;
        if (i == 0 || memcmp(&keys[i - 1], &keys[i], offsetof(collider_key, place)) != 0) {
            t->class_start[t->class_count++] = t->kind_count;
        }
        if (i == 0 || memcmp(&keys[i - 1], &keys[i], offsetof(collider_key, collider)) != 0) {
            t->kinds[t->kind_count++] = (collider_kind){first, setup->collider[first], t->class_count - 1};
        }
        t->kind_of[first] = t->kind_count - 1;
    }
    t->class_start[t->class_count] = t->kind_count;
    for (int32_t by = 0; by < RANKINGS; by++) {
        ranked *order = t->order[by] = STN_ARENA(t->arena, n, ranked);
        for (int32_t k = 0; order != NULL && k < t->kind_count; k++) {
            order[k] = (ranked){rank(&object->surface[t->kinds[k].geometry], (ranking)by), k};
        }
        for (int32_t c = 0; order != NULL && c < t->class_count; c++) {
            int32_t start = t->class_start[c];
            qsort(order + start, (size_t)(t->class_start[c + 1] - start), sizeof *order, compare_ranked);
        }
        if (order == NULL) {
            return false;
        }
    }
    return true;
}

// --------------------------------------------------------------------------------------------------------- pairs

static bool may_touch(const pair_table *t, int32_t a, int32_t b) {
    return stn_model_may_collide(t->setup->model, t->kinds[a].geometry, t->kinds[b].geometry);
}

/// The first kind of a class, in the order of a ranking, that kind `a` may touch; -1: none.
static int32_t find_partner(const pair_table *t, int32_t a, int32_t class, ranking by) {
    for (int32_t r = t->class_start[class]; r < t->class_start[class + 1]; r++) {
        if (may_touch(t, a, t->order[by][r].kind)) {
            return t->order[by][r].kind;
        }
    }
    return -1;
}

static stn_pair_material material_of(const pair_table *t, int32_t a, int32_t b) {
    return stn_model_pair_material(t->setup->model, t->kinds[a].geometry, t->kinds[b].geometry);
}

/// Largest dissipation of the pairs of kind `a` with a class, of points and of patches. d = (1 - w) d_a + w d_b, and no
/// w is larger than that of the softest partner. An override gives all of these pairs one value, which the first of
/// them shows.
static double worst_dissipation(const pair_table *t, int32_t a, int32_t class) {
    int32_t start = t->class_start[class], end = t->class_start[class + 1];
    const stn_material *surface = model_object_of(t->setup->model)->surface;
    const stn_material *one = &surface[t->kinds[a].geometry];
    const stn_material *softest = &surface[t->kinds[t->order[BY_STIFFNESS][start].kind].geometry];
    const stn_material *softest_inside = &surface[t->kinds[t->order[BY_MODULUS][start].kind].geometry];
    double own = one->dissipation;
    double worst = -(double)INFINITY; // not before a pair was seen
    double share = fmax(material_weight(one->stiffness, softest->stiffness),
                        material_weight(one->modulus, softest_inside->modulus));
    for (int32_t r = start; r < end; r++) {
        const ranked *b = &t->order[BY_DISSIPATION][r];
        if (worst >= own + share * fmax(-b->value - own, 0.0)) {
            break;
        }
        if (may_touch(t, a, b->kind)) {
            stn_pair_material pair = material_of(t, a, b->kind);
            worst = fmax(worst, fmax(pair.value.dissipation, pair.patch_dissipation));
        }
    }
    return worst;
}

/// Asked in one order for both, whatever a plugin answers to the other one.
static bool handles_classes(const pair_table *t, int32_t class_a, int32_t class_b) {
    if (class_a > class_b) {
        return handles_classes(t, class_b, class_a);
    }
    const stn_geometry *geometries = t->setup->model->geometries;
    return collider_handles(t->setup->plugin[STN_KIND_CONTACT], &geometries[t->kinds[t->class_start[class_a]].geometry],
                            &geometries[t->kinds[t->class_start[class_b]].geometry]);
}

/// Takes the pairs of kind `a` with a class into account; false: the contact model has a gap there.
static bool examine_class(const pair_table *t, int32_t a, int32_t class, stn_material *worst) {
    const filter_entry *filters = model_object_of(t->setup->model)->filter;
    const filter_entry *one = &filters[t->kinds[t->class_start[t->kinds[a].class]].geometry];
    const filter_entry *other = &filters[t->kinds[t->class_start[class]].geometry];
    if ((one->category & other->mask) == 0 || (other->category & one->mask) == 0) {
        return true; // no order need be walked
    }
    int32_t partner = find_partner(t, a, class, BY_MU);
    if (partner < 0) {
        return true;
    }
    if (!handles_classes(t, t->kinds[a].class, class)) {
        return false;
    }
    stn_material value = material_of(t, a, partner).value;
    worst->mu = fmax(worst->mu, fmax(value.mu, value.mu2));
    partner = find_partner(t, a, class, BY_RELAXATION); // fmax passes over NaN
    worst->relaxation_time = fmax(worst->relaxation_time, material_of(t, a, partner).value.relaxation_time);
    partner = find_partner(t, a, class, BY_STIFFNESS);
    worst->stiffness = fmin(worst->stiffness, material_of(t, a, partner).value.stiffness);
    worst->dissipation = fmax(worst->dissipation, worst_dissipation(t, a, class));
    return true;
}

/// Names the first pair of the model that the contact model does not handle; `first` is its lower collider.
static stn_status fail_gap(const pair_table *t, int32_t first, stn_error *err) {
    const stn_model *model = t->setup->model;
    int32_t second = first, kind = t->kind_of[first];
    for (bool found = false; !found && second + 1 < t->setup->collider_count;) { // examine_class met it
        int32_t other = t->kind_of[++second];
        found = may_touch(t, kind, other) && !handles_classes(t, t->kinds[kind].class, t->kinds[other].class);
    }
    const stn_geometry *a = &model->geometries[t->setup->collider[first]];
    const stn_geometry *b = &model->geometries[t->setup->collider[second]];
    const stn_instance *contact = t->setup->plugin[STN_KIND_CONTACT];
    // would it handle two rigid geometries if one of them, or both, were compliant?
    stn_geometry soft_a = *a, soft_b = *b;
    soft_a.material.modulus = soft_b.material.modulus = 1e6;
    bool both_rigid = !stn_geometry_is_compliant(a) && !stn_geometry_is_compliant(b) &&
                      (collider_handles(contact, &soft_a, b) || collider_handles(contact, a, &soft_b) ||
                       collider_handles(contact, &soft_a, &soft_b));
    char name_a[200], name_b[200];
    stn_describe_geometry(model, t->setup->collider[first], name_a, sizeof name_a);
    stn_describe_geometry(model, t->setup->collider[second], name_b, sizeof name_b);
    return stn_fail(err, STN_ERR_UNSUPPORTED, "contact model %s has no contact between %s (%s) and %s (%s)%s",
                    contact->desc->id, name_a, stn_shape_name(a->shape.type), name_b, stn_shape_name(b->shape.type),
                    both_rigid ? ", which are both rigid: give one of them a modulus, exclude the pair, or choose a "
                                 "contact model that has contacts of rigid bodies too"
                               : ": use other shapes, or exclude the pair");
}

stn_status stn_setup_examine_pairs(step_setup *setup, stn_arena *arena, stn_error *err) {
    pair_table t = {.setup = setup, .arena = arena};
    stn_material *worst = STN_ARENA(arena, setup->collider_count, stn_material);
    if (worst == NULL || !make_table(&t)) {
        return stn_fail(err, STN_ERR_MEMORY, "world: out of memory while compiling");
    }
    int32_t gap = INT32_MAX;
    for (int32_t k = 0; k < t.kind_count; k++) {
        worst[k] = (stn_material){.stiffness = INFINITY, .relaxation_time = 0.0, .mu2 = NAN};
        for (int32_t c = 0; c < t.class_count; c++) {
            if (!examine_class(&t, k, c, &worst[k])) {
                gap = t.kinds[k].first < gap ? t.kinds[k].first : gap;
            }
        }
    }
    if (gap < INT32_MAX) {
        return fail_gap(&t, gap, err);
    }
    for (int32_t i = 0; i < setup->collider_count; i++) {
        setup->collider_worst[i] = worst[t.kind_of[i]];
    }
    return STN_OK;
}
