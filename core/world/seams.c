// SPDX-License-Identifier: Apache-2.0
// Seams: where a floor is made of several boxes, sheets or height fields of one body, or of a mesh with a crack, a
// shape that slides over it meets the side of the next part. That side is covered by the part before it, but each pair
// is examined by itself, and the contact would stop the shape like a wall.
//
// A pair is asked again with the shape a little off: raised along the normal of the contact that carries it, by the
// overlap there and a flush height, and moved on, past the side. If it then clears the part, there is no wall. The
// side's contacts that overlap turn their normals to that of the floor, with the depth along it, by which the shape
// does come out of the part; those at a distance wait until they are needed. Nothing that overlaps loses its contact,
// and no depth becomes less.
//
// Faces of patches are not looked at: they press over what is pressed in.
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
    bool seen;                 // with those of its part
} touch;

typedef struct seams {
    const step_setup *setup;
    step_frame *frame;
    const step_services *services;
    touch *touches;
    int32_t count, *first; // (chain_mask + 1) heads of the chains of touches, found by shape and body
    uint32_t chain_mask;
    bool *waits; // (contacts): at a distance from a side that is covered
    bool any_waits;
    stn_contact_set asked; // of one pair, a little off
    stn_status status;     // of asking
    stn_error *err;
} seams;

static bool has_seams(const step_setup *setup, const stn_contact *c, const stn_support *support) {
    return c->patch < 0 && support->body >= 0 && setup->body_parts[support->body] > 1;
}

static int32_t *chain_of(const seams *s, int32_t shape, int32_t body) {
    uint32_t hash = ((uint32_t)shape * 0x9e3779b1U) ^ ((uint32_t)body * 0x85ebca77U);
    return &s->first[(hash ^ hash >> 15) & s->chain_mask];
}

/// Most bodies lie on parts that are all below them: their normals are close to the first one's, so that none is
/// across.
static void note(seams *s, int32_t contact, bool of_b) {
    static const double half_across = 0.82; // cosine of less than half the least angle across
    const stn_contact *contacts = s->frame->contacts.contacts, *c = &contacts[contact];
    touch t = {.contact = contact,
               .shape = of_b ? c->geometry_a : c->geometry_b,
               .body = of_b ? c->b.body : c->a.body,
               .part = of_b ? c->geometry_b : c->geometry_a,
               .side = of_b ? -1.0 : 1.0};
    int32_t *first = chain_of(s, t.shape, t.body), same = *first;
    while (same >= 0 && (s->touches[same].shape != t.shape || s->touches[same].body != t.body)) {
        same = s->touches[same].next;
    }
    t.next = *first;
    t.oldest = same >= 0 ? s->touches[same].oldest : s->count;
    s->touches[s->count] = t;
    *first = s->count++;
    stn_vec3 before = contacts[s->touches[t.oldest].contact].normal;
    if (fabs(stn_vec3_dot(before, c->normal)) < half_across) {
        s->touches[t.oldest].mixed = true;
    }
}

static const stn_contact *contact_of(const seams *s, const touch *t) {
    return &s->frame->contacts.contacts[t->contact];
}

static stn_vec3 outward(const seams *s, const touch *t) {
    return stn_vec3_scale(t->side, contact_of(s, t)->normal);
}

static double size_of(const stn_geometry *g) {
    stn_pose own = stn_pose_identity();
    stn_aabb box = stn_shape_aabb(&g->shape, &own, 0.0);
    return stn_vec3_norm(stn_vec3_sub(box.upper, box.lower));
}

static bool is_of(const touch *a, const touch *b) {
    return a->shape == b->shape && a->body == b->body;
}

/// The contacts of a shape with one part that are across the floor, and what may carry the shape past them.
typedef struct seam {
    const touch *side; // the deepest
    stn_vec3 up;       // normal of the floor
    stn_vec3 on;       // along the floor, into the side
    double height;     // that the shape is raised by
    double ahead;      // largest distance to the side
} seam;

static const double across = 0.3;              // cosine
static const double flush = 1e-5, deep = 1e-2; // of the smaller shape: what counts as flush, most overlap that counts

static bool is_side(const seams *s, const touch *t, const touch *part, stn_vec3 up) {
    return is_of(t, part) && t->part == part->part && fabs(stn_vec3_dot(contact_of(s, t)->normal, up)) <= across;
}

/// May `floor` carry the shape past the part of `t`? Then there is something across, and all of it lies below its
/// plane. A convex part has one side alone.
static bool make_seam(const seams *s, const touch *t, const touch *floor, seam *m) {
    const stn_geometry *g = s->setup->model->geometries;
    const stn_contact *q = contact_of(s, floor);
    double size = fmin(size_of(&g[t->shape]), size_of(&g[t->part]));
    *m = (seam){.up = outward(s, floor)};
    m->height = isfinite(size) ? flush * size + fmin(fmax(-q->phi0, 0.0), deep * size) : 0.0;
    stn_shape_type type = g[t->part].shape.type;
    bool surface = type == STN_SHAPE_MESH || type == STN_SHAPE_HEIGHT_FIELD;
    if (!(m->height > 0.0) || (t->part == floor->part && !surface)) {
        return false;
    }
    for (int32_t k = *chain_of(s, t->shape, t->body); k >= 0; k = s->touches[k].next) {
        const touch *other = &s->touches[k];
        if (is_side(s, other, t, m->up)) {
            const stn_contact *c = contact_of(s, other);
            if (stn_vec3_dot(m->up, stn_vec3_sub(c->point, q->point)) > m->height) {
                return false;
            }
            m->ahead = fmax(m->ahead, c->phi0);
            m->side = m->side == NULL || c->phi0 < contact_of(s, m->side)->phi0 ? other : m->side;
        }
    }
    if (m->side != NULL) {
        stn_vec3 in = stn_vec3_neg(outward(s, m->side));
        m->on = stn_vec3_mul_add(in, -stn_vec3_dot(in, m->up), m->up);
        m->on = stn_vec3_scale(1.0 / stn_vec3_norm(m->on), m->on);
    }
    return m->side != NULL;
}

/// Where the two geometries of a pair are, and their material.
static void describe(const seams *s, stn_contact_pair *pair) {
    pair->pose_a = s->frame->geometry_pose[pair->geometry_a];
    pair->pose_b = s->frame->geometry_pose[pair->geometry_b];
    pair->material = stn_model_pair_material(s->setup->model, pair->geometry_a, pair->geometry_b);
    set_relaxation(&pair->material, s->frame->relaxation_time);
}

/// Least distance of shape and part with the shape moved by `displacement`, as far as it is below the margin; NaN where
/// asking fails.
static double ask(seams *s, const seam *m, stn_vec3 displacement, double margin) {
    bool swap = m->side->shape > m->side->part;
    stn_contact_pair pair = {.geometry_a = swap ? m->side->part : m->side->shape,
                             .geometry_b = swap ? m->side->shape : m->side->part,
                             .margin = margin};
    describe(s, &pair);
    stn_vec3 *moved = swap ? &pair.pose_b.position : &pair.pose_a.position;
    *moved = stn_vec3_add(*moved, displacement);
    s->asked.count = s->asked.patch_count = s->asked.vertex_count = 0;
    s->frame->place.plugin = s->setup->plugin[STN_KIND_CONTACT];
    const stn_contact_scene scene = stn_step_scene(s->setup, s->frame, s->services, s->frame->kinematics);
    stn_status status = stn_collide_pairs(s->setup->plugin[STN_KIND_CONTACT], &scene, &pair, 1, &s->asked, s->err);
    if (status < 0) {
        s->status = status;
        return (double)NAN;
    }
    s->frame->place.plugin = NULL;
    double least = margin;
    for (int32_t i = 0; i < s->asked.count; i++) {
        least = fmin(least, s->asked.contacts[i].phi0);
    }
    return least;
}

/// Contacts in overlap turn, the others wait.
static void turn(seams *s, const seam *m, double phi) {
    const touch side = *m->side;
    for (int32_t k = *chain_of(s, side.shape, side.body); k >= 0; k = s->touches[k].next) {
        const touch *t = &s->touches[k];
        stn_contact *c = &s->frame->contacts.contacts[t->contact];
        if (!is_side(s, t, &side, m->up)) {
            continue;
        }
        if (c->phi0 > 0.0) {
            s->waits[t->contact] = s->any_waits = true;
        } else {
            c->normal = stn_vec3_scale(t->side, m->up);
            c->phi0 = fmin(c->phi0, phi);
            stn_contact_pair pair = {.geometry_a = c->geometry_a, .geometry_b = c->geometry_b};
            describe(s, &pair);
            if (!isnan(pair.material.value.mu2)) { // friction directions show in another plane now
                contact_combine_friction(s->setup->model, &pair, c);
            }
        }
    }
}

/// Looks at all that may cover the part of `t`, one contact of each floor.
static void look_at_part(seams *s, touch *t) {
    const touch *last = NULL;
    for (int32_t k = *chain_of(s, t->shape, t->body); k >= 0; k = s->touches[k].next) {
        touch *floor = &s->touches[k];
        if (is_of(floor, t) && floor->part == t->part) {
            floor->seen = true;
        }
    }
    for (int32_t k = *chain_of(s, t->shape, t->body); k >= 0 && s->status == STN_OK; k = s->touches[k].next) {
        const touch *floor = &s->touches[k];
        seam m;
        bool again = last != NULL && last->part == floor->part &&
                     stn_vec3_dot(outward(s, last), outward(s, floor)) > 1.0 - 1e-12;
        if (!is_of(floor, t) || s->waits[floor->contact] || again || !make_seam(s, t, floor, &m)) {
            continue;
        }
        last = floor;
        // is there no wall? phi is then the distance along the floor's normal, below 0 only where the shape overlaps
        stn_vec3 raised = stn_vec3_scale(m.height, m.up);
        bool covered = ask(s, &m, stn_vec3_mul_add(raised, m.ahead + m.height, m.on), 0.0) >= 0.0;
        double phi = 0.0;
        if (covered && contact_of(s, m.side)->phi0 <= 0.0) {
            double least = ask(s, &m, raised, m.height);
            covered = least >= 0.0;
            phi = least - m.height;
        }
        if (covered) {
            turn(s, &m, phi);
        }
    }
}

stn_status stn_step_turn_seams(const step_setup *setup, step_frame *frame, const step_services *services,
                               stn_error *err) {
    stn_contact_set *set = &frame->contacts;
    seams s = {.setup = setup, .frame = frame, .services = services, .asked = {.arena = frame->arena}, .err = err};
    int32_t count = 0, chains = 1, kept = 0;
    for (int32_t i = 0; i < set->count; i++) {
        const stn_contact *c = &set->contacts[i];
        count += (has_seams(setup, c, &c->a) ? 1 : 0) + (has_seams(setup, c, &c->b) ? 1 : 0);
    }
    if (count < 2) {
        return STN_OK;
    }
    while (chains < count) {
        chains *= 2;
    }
    s.chain_mask = (uint32_t)chains - 1;
    s.touches = STN_ARENA(frame->arena, count, touch);
    s.first = STN_ARENA(frame->arena, chains, int32_t);
    s.waits = STN_ARENA_ZEROED(frame->arena, set->count, bool);
    if (s.touches == NULL || s.first == NULL || s.waits == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "collision: out of memory for the seams of %d contacts", (int)set->count);
    }
    for (int32_t i = 0; i < chains; i++) {
        s.first[i] = -1;
    }
    for (int32_t i = 0; i < set->count; i++) {
        const stn_contact *c = &set->contacts[i];
        if (has_seams(setup, c, &c->a)) {
            note(&s, i, false);
        }
        if (has_seams(setup, c, &c->b)) {
            note(&s, i, true);
        }
    }
    for (int32_t i = 0; i < s.count && s.status == STN_OK; i++) {
        if (s.touches[s.touches[i].oldest].mixed && !s.touches[i].seen) {
            look_at_part(&s, &s.touches[i]);
        }
    }
    for (int32_t i = 0; i < set->count && s.status == STN_OK && s.any_waits; i++) {
        if (!s.waits[i]) {
            keep_contact(set, i, kept++);
        }
    }
    if (s.status == STN_OK && s.any_waits) {
        set->count = kept;
    }
    return s.status;
}
