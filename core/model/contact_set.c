// SPDX-License-Identifier: Apache-2.0
// The contact set of a step: records made from witness points, appended to arrays that grow in the step's arena.
#include <string.h>

#include <stiction/contact.h>
#include <stiction/random.h>

#include "model/compiled.h"

enum { FIRST_CAPACITY = 64 };

static uint64_t pair_id(const stn_contact_pair *pair) {
    uint64_t both = (uint64_t)(uint32_t)pair->geometry_a << 32 | (uint32_t)pair->geometry_b;
    return stn_random_bits(&both);
}

// ----------------------------------------------------------------------------------------------- friction by direction

/// A surface's friction in the contact plane, mu u u^T + mu2 (1 - u u^T), u the friction direction projected.
typedef struct friction_tensor {
    double xx, xy, yy;
    double det; // exactly 0 without friction in one direction
} friction_tensor;

static friction_tensor tensor_of(const stn_geometry *geometry, const stn_mat3 *rotation, const stn_mat3 *plane) {
    const stn_material *m = &geometry->material;
    double mu = isnan(m->mu) ? stn_material_default().mu : m->mu, mu2 = isnan(m->mu2) ? mu : m->mu2;
    stn_vec3 d = stn_mat3_apply_transposed(plane, stn_mat3_apply(rotation, geometry->friction_direction));
    double length = hypot(d.x, d.y);
    if (!(length > DIRECTION_IS_NORMAL * stn_vec3_norm(d))) {
        return (friction_tensor){mu2, 0.0, mu2, mu2 * mu2};
    }
    double x = d.x / length, y = d.y / length;
    return (friction_tensor){mu * x * x + mu2 * y * y, (mu - mu2) * x * y, mu * y * y + mu2 * x * x, mu * mu2};
}

/// 2 (A^-1 + B^-1)^-1 = 2 (det(A) B + det(B) A) / det(A + B), also where A or B has no inverse.
static friction_tensor mean_tensor(const friction_tensor *a, const friction_tensor *b) {
    double xx = a->xx + b->xx, xy = a->xy + b->xy, yy = a->yy + b->yy;
    double det = xx * yy - xy * xy, trace = xx + yy, scale_a = 0.0, scale_b = 0.0;
    if (det > 1e-14 * trace * trace) {
        scale_a = 2.0 * b->det / det;
        scale_b = 2.0 * a->det / det;
    } else if (trace > 0.0) { // neither has friction across the one direction that they share
        scale_a = scale_b = material_harmonic_mean(a->xx + a->yy, b->xx + b->yy) / trace;
    }
    return (friction_tensor){scale_a * a->xx + scale_b * b->xx, scale_a * a->xy + scale_b * b->xy,
                             scale_a * a->yy + scale_b * b->yy, 2.0 * scale_a * a->det};
}

static void combine_two_directions(const stn_model *model, const stn_contact_pair *pair, stn_contact *c) {
    const stn_geometry *a = &model->geometries[pair->geometry_a], *b = &model->geometries[pair->geometry_b];
    const stn_mat3 plane = stn_contact_frame(c->normal);
    friction_tensor of_a = tensor_of(a, &pair->pose_a.rotation, &plane),
                    of_b = tensor_of(b, &pair->pose_b.rotation, &plane), p = mean_tensor(&of_a, &of_b);
    double middle = 0.5 * (p.xx + p.yy), half = 0.5 * (p.xx - p.yy), radius = hypot(half, p.xy);
    double mu = stn_material_default().mu, angle = 0.5 * atan2(p.xy, half);
    double along = material_harmonic_mean(isnan(a->material.mu) ? mu : a->material.mu,
                                          isnan(b->material.mu) ? mu : b->material.mu);
    if (radius <= 1e-14 * middle) { // directions that cross at right angles may leave none
        radius = 0.0;
    }
    c->material.mu = middle + radius;
    c->mu2 = c->material.mu2 =
        radius == 0.0 ? c->material.mu : p.det / c->material.mu; // their product is the determinant
    c->direction = stn_vec3_add(stn_vec3_scale(cos(angle), stn_mat3_column(&plane, 0)),
                                stn_vec3_scale(sin(angle), stn_mat3_column(&plane, 1)));
    // at rest both hold better by the ratio that holds along the directions
    c->material.mu_static = along > 0.0 ? pair->material.value.mu_static * (c->material.mu / along) : (double)NAN;
}

void contact_combine_friction(const stn_model *model, const stn_contact_pair *pair, stn_contact *c) {
    const stn_geometry *a = &model->geometries[pair->geometry_a], *b = &model->geometries[pair->geometry_b];
    bool of_a = stn_vec3_norm(a->friction_direction) > 0.0 && material_is_anisotropic(&a->material);
    bool of_b = stn_vec3_norm(b->friction_direction) > 0.0 && material_is_anisotropic(&b->material);
    c->direction = stn_vec3_zero();
    c->mu2 = pair->material.value.mu;
    if (isnan(pair->material.value.mu2) || (!of_a && !of_b)) {
        return;
    }
    if (of_a && of_b) {
        combine_two_directions(model, pair, c);
        return;
    }
    c->mu2 = pair->material.value.mu2;
    c->direction = of_a ? stn_mat3_apply(&pair->pose_a.rotation, a->friction_direction)
                        : stn_mat3_apply(&pair->pose_b.rotation, b->friction_direction);
}

static stn_support support_of(const stn_geometry *geometry) {
    bool on_node = geometry->body < 0;
    return (stn_support){
        geometry->body, on_node, {on_node ? geometry->node : 0, 0, 0, 0}, {on_node ? 1.0 : 0.0, 0.0, 0.0, 0.0}};
}

/// Does its surface move in itself? NaN does.
static inline bool is_belt(const stn_geometry *geometry) {
    const stn_vec3 *u = &geometry->surface_velocity;
    return !(u->x == 0.0 && u->y == 0.0 && u->z == 0.0);
}

static inline double sum_of(const stn_mat3 *m) {
    return ((m->m[0][0] + m->m[0][1]) + (m->m[0][2] + m->m[1][0])) +
           ((m->m[1][1] + m->m[1][2]) + (m->m[2][0] + m->m[2][1])) + m->m[2][2];
}

/// Member by member: this runs once a contact, and compilers clear and copy a whole record slowly.
static inline void fill(stn_contact *c, const stn_model *model, const stn_contact_pair *pair, stn_vec3 p_a,
                        stn_vec3 p_b, stn_vec3 normal, uint64_t feature) {
    const stn_geometry *a = &model->geometries[pair->geometry_a], *b = &model->geometries[pair->geometry_b];
    double weight = pair->material.weight_a;
    c->id = stn_random_mix(pair_id(pair) ^ stn_random_mix(feature));
    c->geometry_a = pair->geometry_a;
    c->geometry_b = pair->geometry_b;
    c->a = support_of(a);
    c->b = support_of(b);
    c->point = stn_vec3_mul_add(stn_vec3_scale(weight, p_a), 1.0 - weight, p_b);
    c->normal = normal;
    c->phi0 = stn_vec3_dot(normal, stn_vec3_sub(p_b, p_a));
    c->material = pair->material.value;
    const double turned = sum_of(&pair->pose_a.rotation) + sum_of(&pair->pose_b.rotation), none = turned - turned;
    c->bias = stn_vec3_make(none, none, none); // NaN where a rotation is not finite
    if (is_belt(a) || is_belt(b)) {
        c->bias = stn_vec3_sub(stn_mat3_apply(&pair->pose_b.rotation, b->surface_velocity),
                               stn_mat3_apply(&pair->pose_a.rotation, a->surface_velocity));
    }
    c->direction = stn_vec3_zero();
    c->mu2 = pair->material.value.mu;
    if (!isnan(pair->material.value.mu2)) {
        contact_combine_friction(model, pair, c);
    }
    c->patch = -1;
    c->vertex_start = 0;
    c->vertex_count = 0;
    c->area = 0.0;
    c->pressure = 0.0;
}

stn_contact stn_contact_make(const stn_model *model, const stn_contact_pair *pair, stn_vec3 p_a, stn_vec3 p_b,
                             stn_vec3 normal, uint64_t feature) {
    stn_contact contact;
    fill(&contact, model, pair, p_a, p_b, normal, feature);
    return contact;
}

/// Room for `more` further elements of `size` bytes behind the `count` that `*array` holds.
static bool reserve(stn_arena *arena, void **array, int32_t *capacity, int32_t count, int32_t more, size_t size) {
    int64_t wanted = (int64_t)count + more, grown = 2 * (int64_t)*capacity;
    if (wanted <= *capacity) {
        return true;
    }
    grown = grown > wanted ? grown : wanted;
    grown = grown > FIRST_CAPACITY ? grown : FIRST_CAPACITY;
    void *larger = grown <= INT32_MAX ? stn_arena_allocate(arena, (size_t)grown, size) : NULL;
    if (larger == NULL) {
        return false;
    }
    if (count > 0) {
        memcpy(larger, *array, (size_t)count * size);
    }
    *array = larger;
    *capacity = (int32_t)grown;
    return true;
}

static bool reserve_contact(stn_contact_set *set) {
    void *contacts = set->contacts;
    bool ok = reserve(set->arena, &contacts, &set->capacity, set->count, 1, sizeof *set->contacts);
    set->contacts = contacts;
    return ok;
}

static const char *geometry_name(const stn_model *model, int32_t geometry) {
    const char *name = model->geometries[geometry].name;
    return name != NULL ? name : "";
}

static stn_status refuse(const stn_model *model, const stn_contact *c, stn_status status, const char *why,
                         stn_error *err) {
    return stn_fail(err, status, "contact of geometries %d '%s' and %d '%s': %s", (int)c->geometry_a,
                    geometry_name(model, c->geometry_a), (int)c->geometry_b, geometry_name(model, c->geometry_b), why);
}

static bool support_exists(const stn_model *model, const stn_support *support) {
    if (support->body >= 0) {
        return support->body < model->body_count;
    }
    bool ok = support->body == -1 && support->node_count >= 1 && support->node_count <= STN_SUPPORT_NODES;
    for (int32_t i = 0; ok && i < support->node_count; i++) {
        ok = support->node[i] >= 0 && support->node[i] < model->node_count && isfinite(support->weight[i]);
    }
    return ok;
}

static bool geometry_exists(const stn_model *model, int32_t geometry) {
    return geometry >= 0 && geometry < model->geometry_count;
}

/// What `check` lets pass, of bodies; without a branch a number. False may also be a sum that is beyond range.
static inline bool is_plainly_good(const stn_model *model, const stn_contact *c) {
    const double place = c->point.x + c->point.y + c->point.z + c->phi0;
    const double surface =
        c->bias.x + c->bias.y + c->bias.z + c->direction.x + c->direction.y + c->direction.z + c->material.mu + c->mu2;
    const bool bodies = (uint32_t)c->a.body < (uint32_t)model->body_count && // those below 0 are large then
                        (uint32_t)c->b.body < (uint32_t)model->body_count;
    return bodies && place - place == 0.0 && surface - surface == 0.0 &&
           fabs(stn_vec3_dot(c->normal, c->normal) - 1.0) <= 1e-9 && c->material.mu >= 0.0 && c->mu2 >= 0.0 &&
           !isinf(c->material.mu_static) && geometry_exists(model, c->geometry_a) &&
           geometry_exists(model, c->geometry_b);
}

static stn_status check(const stn_model *model, const stn_contact *c, stn_error *err) {
    if (!geometry_exists(model, c->geometry_a) || !geometry_exists(model, c->geometry_b)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "contact of geometries %d and %d: must be 0 to %d", (int)c->geometry_a,
                        (int)c->geometry_b, (int)model->geometry_count - 1);
    }
    if (!stn_vec3_finite(c->point) || !isfinite(c->phi0)) {
        return refuse(model, c, STN_ERR_NUMERIC, "point or distance is not finite", err);
    }
    if (!(fabs(stn_vec3_dot(c->normal, c->normal) - 1.0) <= 1e-9)) {
        return refuse(model, c, STN_ERR_NUMERIC, "the normal has no unit length", err);
    }
    if (!support_exists(model, &c->a) || !support_exists(model, &c->b)) {
        return refuse(model, c, STN_ERR_ARGUMENT, "its support is a body or node that the model does not have", err);
    }
    if (!stn_vec3_finite(c->bias) || !stn_vec3_finite(c->direction) || !isfinite(c->material.mu)) {
        return refuse(model, c, STN_ERR_NUMERIC, "friction or surface velocity is not finite", err);
    }
    if (!(c->material.mu >= 0.0) || !(c->mu2 >= 0.0 && isfinite(c->mu2))) {
        return refuse(model, c, STN_ERR_ARGUMENT, "friction mu and mu2 must be >= 0 and finite", err);
    }
    if (isinf(c->material.mu_static)) {
        return refuse(model, c, STN_ERR_NUMERIC, "mu_static must be finite, or nan for none", err);
    }
    return STN_OK;
}

stn_status stn_contact_set_add(const stn_model *model, stn_contact_set *set, const stn_contact *contact,
                               stn_error *err) {
    stn_status status = check(model, contact, err);
    if (status != STN_OK) {
        return status;
    }
    if (!reserve_contact(set)) {
        return stn_fail(err, STN_ERR_MEMORY, "contact set: out of memory for %d contacts", (int)set->count + 1);
    }
    set->contacts[set->count++] = *contact;
    return STN_OK;
}

stn_status stn_contact_set_add_point(const stn_model *model, stn_contact_set *set, const stn_contact_pair *pair,
                                     stn_vec3 p_a, stn_vec3 p_b, stn_vec3 normal, uint64_t feature, stn_error *err) {
    if (!reserve_contact(set)) {
        return stn_fail(err, STN_ERR_MEMORY, "contact set: out of memory for %d contacts", (int)set->count + 1);
    }
    stn_contact *contact = &set->contacts[set->count];
    fill(contact, model, pair, p_a, p_b, normal, feature);
    stn_status status = is_plainly_good(model, contact) ? STN_OK : check(model, contact, err);
    set->count += status == STN_OK;
    return status;
}

stn_status stn_contact_set_begin_patch(stn_contact_set *set, const stn_contact_pair *pair, stn_error *err) {
    void *patches = set->patches;
    if (!reserve(set->arena, &patches, &set->patch_capacity, set->patch_count, 1, sizeof *set->patches)) {
        return stn_fail(err, STN_ERR_MEMORY, "contact set: out of memory for %d patches", (int)set->patch_count + 1);
    }
    set->patches = patches;
    set->patches[set->patch_count++] = (stn_patch){.id = pair_id(pair),
                                                   .geometry_a = pair->geometry_a,
                                                   .geometry_b = pair->geometry_b,
                                                   .contact_start = set->count};
    return STN_OK;
}

stn_status stn_contact_set_add_face(const stn_model *model, stn_contact_set *set, const stn_contact *contact,
                                    const stn_vec3 *polygon, const double *pressure, int32_t vertex_count,
                                    stn_error *err) {
    stn_patch *patch = set->patch_count > 0 ? &set->patches[set->patch_count - 1] : NULL;
    if (patch == NULL || patch->contact_start + patch->contact_count != set->count) {
        return refuse(model, contact, STN_ERR_SEQUENCE, "a face needs a patch begun before it", err);
    }
    if (vertex_count < 3) {
        return refuse(model, contact, STN_ERR_ARGUMENT, "a polygon has 3 corners or more", err);
    }
    bool finite = isfinite(contact->area) && isfinite(contact->pressure);
    for (int32_t i = 0; i < vertex_count && finite; i++) {
        finite = stn_vec3_finite(polygon[i]) && isfinite(pressure[i]);
    }
    if (!finite) {
        return refuse(model, contact, STN_ERR_NUMERIC, "polygon, area or pressure is not finite", err);
    }
    void *vertices = set->vertices, *pressures = set->vertex_pressure; // they grow together
    int32_t capacity = set->vertex_capacity, same = capacity;
    if (!reserve(set->arena, &vertices, &capacity, set->vertex_count, vertex_count, sizeof *set->vertices) ||
        !reserve(set->arena, &pressures, &same, set->vertex_count, vertex_count, sizeof *set->vertex_pressure)) {
        return stn_fail(err, STN_ERR_MEMORY, "contact set: out of memory for %d corners", (int)vertex_count);
    }
    set->vertices = vertices;
    set->vertex_pressure = pressures;
    set->vertex_capacity = capacity;
    stn_status status = stn_contact_set_add(model, set, contact, err);
    if (status != STN_OK) {
        return status;
    }
    stn_contact *added = &set->contacts[set->count - 1];
    added->patch = set->patch_count - 1;
    added->vertex_start = set->vertex_count;
    added->vertex_count = vertex_count;
    memcpy(set->vertices + set->vertex_count, polygon, (size_t)vertex_count * sizeof *polygon);
    memcpy(set->vertex_pressure + set->vertex_count, pressure, (size_t)vertex_count * sizeof *pressure);
    set->vertex_count += vertex_count;
    patch->contact_count++;
    return STN_OK;
}
