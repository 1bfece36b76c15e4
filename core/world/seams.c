// SPDX-License-Identifier: Apache-2.0
// Seams: of a floor of several boxes, sheets or height fields, or of a mesh with a crack, what slides over it would
// meet the side of the next part, which is covered by the one before: at a distance, as a wall that it runs into, or
// with the little overlap that it rests with.
//
// A contact of a shape with one part of a body is such a side when another contact of that shape, with the same body,
// is across it, and beside it nothing of its part stands up above the plane of that other contact: rays along the plane
// tell. At a real wall they meet the wall, at a seam they pass over it. Faces of patches are none of this: they press
// over what is pressed in.
#include "model/compiled.h"
#include "world/world.h"

/// A contact as one of its shapes feels it.
typedef struct touch {
    int32_t contact;
    int32_t shape, body, part; // geometry, and the body that it touches with which geometry
    double side;               // times the contact's normal: out of that body
    int32_t next;              // of its chain, -1
    int32_t oldest;            // of those of one shape with one body
    bool mixed;                // of the oldest: may two of them be across each other?
} touch;

typedef struct seams {
    const stn_world *world;
    touch *touches;
    int32_t count, *first; // (chain_mask + 1) heads of the chains of touches, found by shape and body
    uint32_t chain_mask;
    bool *covered; // (contacts)
} seams;

static bool has_seams(const stn_world *world, const stn_contact *c, const stn_ride *ride) {
    return c->patch < 0 && ride->body >= 0 && world->body_parts[ride->body] > 1;
}

static int32_t *chain_of(const seams *s, int32_t shape, int32_t body) {
    uint32_t hash = ((uint32_t)shape * 0x9e3779b1U) ^ ((uint32_t)body * 0x85ebca77U);
    return &s->first[(hash ^ hash >> 15) & s->chain_mask];
}

/// Most bodies lie on parts that are all below them: their normals are close to the first one's, so that none is
/// across.
static void note(seams *s, int32_t contact, int32_t shape, int32_t part, int32_t body, double side) {
    static const double half_across = 0.82; // cosine of less than half the least angle across
    const stn_contact *contacts = s->world->contacts.contacts;
    int32_t *first = chain_of(s, shape, body), same = *first;
    while (same >= 0 && (s->touches[same].shape != shape || s->touches[same].body != body)) {
        same = s->touches[same].next;
    }
    int32_t oldest = same >= 0 ? s->touches[same].oldest : s->count;
    s->touches[s->count] = (touch){contact, shape, body, part, side, *first, oldest, false};
    *first = s->count++;
    stn_vec3 before = contacts[s->touches[oldest].contact].normal;
    if (fabs(stn_vec3_dot(before, contacts[contact].normal)) < half_across) {
        s->touches[oldest].mixed = true;
    }
}

static stn_vec3 outward(const seams *s, const touch *t) {
    return stn_vec3_scale(t->side, s->world->contacts.contacts[t->contact].normal);
}

static double size_of(const stn_geometry *g) {
    stn_pose own = stn_pose_identity();
    stn_aabb box = stn_shape_aabb(&g->shape, &own, 0.0);
    return stn_vec3_norm(stn_vec3_sub(box.upper, box.lower));
}

/// What differs in height by less is flush: beyond the overlap, this part of the smaller of the two shapes.
static double flush_height(const stn_world *world, const touch *t) {
    const stn_geometry *g = world->model->geometries;
    double size = fmin(size_of(&g[t->shape]), size_of(&g[t->part]));
    return isfinite(size) ? 1e-5 * size : 0.0;
}

/// Does the part stand up beside the contact, `height` above a plane across m through the point? A ray may pass by at
/// the very edge of a wall, so there are three.
static bool stands_up(const seams *s, const touch *t, stn_vec3 m, stn_vec3 point, double height) {
    const stn_contact *c = &s->world->contacts.contacts[t->contact];
    const stn_geometry *part = &s->world->model->geometries[t->part];
    stn_vec3 out = outward(s, t), along = stn_vec3_mul_add(out, -stn_vec3_dot(out, m), m), hit_side;
    along = stn_vec3_scale(1.0 / stn_vec3_norm(along), along);
    hit_side = stn_vec3_cross(m, along);
    double rise = height - stn_vec3_dot(m, stn_vec3_sub(c->point, point));
    double reach = fabs(c->phi0) + rise + height; // a wall may lean back
    stn_vec3 from = stn_vec3_mul_add(stn_vec3_mul_add(c->point, rise, m), reach, along);
    for (int32_t k = -1; k <= 1; k++) {
        stn_ray_hit hit;
        if (stn_shape_raycast(&part->shape, &s->world->geometry_pose[t->part],
                              stn_vec3_mul_add(from, k * height, hit_side), stn_vec3_neg(along), 2.0 * reach, &hit)) {
            return true;
        }
    }
    return false;
}

/// Is the contact a side that the plane of the other one covers?
static bool is_covered(const seams *s, const touch *t, const touch *by) {
    static const double across = 0.3; // cosine
    const stn_contact *c = &s->world->contacts.contacts[t->contact], *q = &s->world->contacts.contacts[by->contact];
    if (fabs(stn_vec3_dot(c->normal, q->normal)) > across) {
        return false;
    }
    stn_vec3 m = outward(s, by);
    double height = fmax(-q->phi0, 0.0) + flush_height(s->world, t);
    return height > 0.0 && stn_vec3_dot(m, stn_vec3_sub(c->point, q->point)) <= height &&
           !stands_up(s, t, m, q->point, height);
}

/// Marks what is covered; returns whether anything is.
static bool find_covered(const seams *s) {
    bool any = false;
    for (int32_t i = 0; i < s->count; i++) {
        const touch *t = &s->touches[i];
        if (!s->touches[t->oldest].mixed) {
            continue;
        }
        for (int32_t k = *chain_of(s, t->shape, t->body); k >= 0 && !s->covered[t->contact]; k = s->touches[k].next) {
            const touch *by = &s->touches[k];
            s->covered[t->contact] =
                by->shape == t->shape && by->body == t->body && !s->covered[by->contact] && is_covered(s, t, by);
        }
        any = any || s->covered[t->contact];
    }
    return any;
}

static int32_t count_touches(const stn_world *world) {
    const stn_contact_set *set = &world->contacts;
    int32_t count = 0;
    for (int32_t i = 0; i < set->count; i++) {
        const stn_contact *c = &set->contacts[i];
        count += (has_seams(world, c, &c->a) ? 1 : 0) + (has_seams(world, c, &c->b) ? 1 : 0);
    }
    return count;
}

static bool begin(seams *s, int32_t count) {
    int32_t contacts = s->world->contacts.count, chains = 1;
    while (chains < count) {
        chains *= 2;
    }
    s->chain_mask = (uint32_t)chains - 1;
    s->touches = STN_ARENA(s->world->arena, count, touch);
    s->first = STN_ARENA(s->world->arena, chains, int32_t);
    s->covered = STN_ARENA_ZEROED(s->world->arena, contacts, bool);
    for (int32_t i = 0; s->first != NULL && i < chains; i++) {
        s->first[i] = -1;
    }
    return s->touches != NULL && s->first != NULL && s->covered != NULL;
}

stn_status stn_step_drop_covered(stn_world *world, stn_error *err) {
    stn_contact_set *set = &world->contacts;
    seams s = {.world = world};
    int32_t count = count_touches(world), kept = 0;
    if (count < 2) {
        return STN_OK;
    }
    if (!begin(&s, count)) {
        return stn_fail(err, STN_ERR_MEMORY, "collision: out of memory for the seams of %d contacts", (int)set->count);
    }
    for (int32_t i = 0; i < set->count; i++) {
        const stn_contact *c = &set->contacts[i];
        if (has_seams(world, c, &c->a)) {
            note(&s, i, c->geometry_b, c->geometry_a, c->a.body, 1.0);
        }
        if (has_seams(world, c, &c->b)) {
            note(&s, i, c->geometry_a, c->geometry_b, c->b.body, -1.0);
        }
    }
    if (!find_covered(&s)) {
        return STN_OK;
    }
    for (int32_t i = 0; i < set->count; i++) {
        if (!s.covered[i]) {
            keep_contact(set, i, kept++);
        }
    }
    set->count = kept;
    return STN_OK;
}
