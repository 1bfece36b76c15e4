// SPDX-License-Identifier: Apache-2.0
// How deep the pairs overlap that the broad phase found, whatever the contact model says of them or becomes of what it
// says, and which of them overlap without a contact.
//
// A pair whose boxes are apart does not overlap. Of all others the contacts, before any is dropped, are taken for a
// claim that the core's own geometry proves (geometry/overlap.h), most often by one look along a normal.
#include "geometry/overlap.h"
#include "world/world.h"

/// Position of a contact's pair among `count` pairs in ascending order; -1: not there. Contacts come in nearly the
/// order of the pairs: the next ones are looked at one by one, then in steps that double, until one goes too far.
static int32_t find_pair(const stn_contact_pair *pairs, int32_t count, int32_t near, const stn_contact *c) {
    enum { NEXT = 8 };
    for (int32_t at = near; at < count && at < near + NEXT; at++) {
        if (pairs[at].geometry_a == c->geometry_a && pairs[at].geometry_b == c->geometry_b) {
            return at;
        }
    }
    int32_t low = 0, high = count - 1, step = 1;
    for (int32_t at = near; low <= high;) {
        int32_t a = pairs[at].geometry_a, b = pairs[at].geometry_b;
        int32_t order =
            a != c->geometry_a ? (a > c->geometry_a) - (a < c->geometry_a) : (b > c->geometry_b) - (b < c->geometry_b);
        if (order == 0) {
            return at;
        }
        low = order < 0 ? at + 1 : low;
        high = order > 0 ? at - 1 : high;
        step = order < 0 ? step : count;
        at = step <= high - at ? at + step : low + (high - low) / 2;
        step = step < count ? 2 * step : count;
    }
    return -1;
}

void stn_overlap_begin(overlap_record *record) {
    *record = (overlap_record){.geometry = {-1, -1}, .bare_geometry = {-1, -1}};
}

static bool are_near(const stn_aabb *a, double grown_a, const stn_aabb *b, double grown_b) {
    double both = grown_a + grown_b;
    return a->lower.x + both <= b->upper.x && b->lower.x + both <= a->upper.x && a->lower.y + both <= b->upper.y &&
           b->lower.y + both <= a->upper.y && a->lower.z + both <= b->upper.z && b->lower.z + both <= a->upper.z;
}

enum { CLAIMS = 16 };

/// What contacts [from, to) of one pair claim: the deepest, and their normals.
static overlap_claim read_claim(const stn_contact_set *set, int32_t from, int32_t to, stn_vec3 normal[CLAIMS]) {
    overlap_claim claim = {.normal = normal};
    for (int32_t i = from; i < to; i++) {
        const stn_contact *c = &set->contacts[i];
        claim.depth = -c->phi0 > claim.depth ? -c->phi0 : claim.depth;
        claim.compliant = claim.compliant || c->patch >= 0;
        bool known = false;
        for (int32_t k = 0; k < claim.count && !known; k++) {
            known = stn_vec3_dot(normal[k], c->normal) > 1.0 - 1e-12;
        }
        if (!known && claim.count < CLAIMS) {
            normal[claim.count++] = c->normal;
        }
    }
    return claim;
}

static void measure(overlap_batch *batch, int32_t i, const overlap_claim *claim) {
    const stn_broadphase_pair *found = &batch->found[i];
    const stn_contact_pair *pair = &batch->pairs[i];
    double depth = claim->depth;
    const stn_geometry *geometries = batch->geometries; // of nodes only the contact model knows where they are
    bool nodes = geometries[pair->geometry_a].shape.type == STN_SHAPE_SURFACE ||
                 geometries[pair->geometry_b].shape.type == STN_SHAPE_SURFACE;
    if (!nodes &&
        are_near(&batch->box[found->a], batch->grown[found->a], &batch->box[found->b], batch->grown[found->b])) {
        depth = shapes_overlap((posed_shape){&geometries[pair->geometry_a].shape, &pair->pose_a},
                               (posed_shape){&geometries[pair->geometry_b].shape, &pair->pose_b}, claim);
    }
    batch->depth[i] = at_least(batch->depth[i], depth);
}

void stn_overlap_measure(const stn_contact_set *set, overlap_batch *batch, int32_t first) {
    stn_vec3 normal[CLAIMS];
    for (int32_t i = 0; i < batch->count; i++) {
        batch->depth[i] = -1.0;
    }
    for (int32_t i = first, end, at = 0; i < set->count; i = end) {
        const stn_contact *c = &set->contacts[i];
        for (end = i + 1; end < set->count && set->contacts[end].geometry_a == c->geometry_a &&
                          set->contacts[end].geometry_b == c->geometry_b;
             end++) {
        }
        int32_t found = find_pair(batch->pairs, batch->count, at, c);
        if (found >= 0) {
            const overlap_claim claim = read_claim(set, i, end, normal);
            measure(batch, found, &claim);
            at = found;
        }
    }
    const overlap_claim none = {.normal = normal};
    for (int32_t i = 0; i < batch->count; i++) {
        if (batch->depth[i] < 0.0) {
            measure(batch, i, &none);
        }
    }
}

static void note(double depth, int32_t a, int32_t b, double *deepest, int32_t *geometry) {
    if (depth > *deepest) {
        *deepest = depth;
        geometry[0] = a;
        geometry[1] = b;
    }
}

void stn_overlap_note(const stn_contact_set *set, overlap_record *record, const overlap_batch *batch, int32_t first) {
    bool touches[OVERLAP_BATCH] = {false};
    for (int32_t i = first, at = 0; i < set->count; i++) {
        const stn_contact *c = &set->contacts[i];
        int32_t found = c->phi0 <= 0.0 || c->patch >= 0 ? find_pair(batch->pairs, batch->count, at, c) : -1;
        if (found >= 0) {
            touches[found] = true;
            at = found;
        }
    }
    for (int32_t i = 0; i < batch->count; i++) {
        const int32_t a = batch->pairs[i].geometry_a, b = batch->pairs[i].geometry_b;
        note(batch->depth[i], a, b, &record->overlap_m, record->geometry);
        if (!touches[i] && batch->pairs[i].material.value.stiffness != 0.0) { // 0: meant to have none
            note(batch->depth[i], a, b, &record->bare_m, record->bare_geometry);
        }
    }
}

void stn_overlap_join(overlap_record *record, const overlap_record *later) {
    note(later->overlap_m, later->geometry[0], later->geometry[1], &record->overlap_m, record->geometry);
    note(later->bare_m, later->bare_geometry[0], later->bare_geometry[1], &record->bare_m, record->bare_geometry);
}

void stn_overlap_report(const overlap_record *record, stn_step_report *report) {
    report->overlap_m = record->overlap_m;
    report->overlap_without_contact_m = record->bare_m;
    for (int32_t i = 0; i < 2; i++) {
        report->overlap_geometry[i] = record->geometry[i];
        report->bare_geometry[i] = record->bare_geometry[i];
    }
}
