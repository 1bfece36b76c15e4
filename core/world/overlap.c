// SPDX-License-Identifier: Apache-2.0
// How deep the pairs of a step overlap that the broad phase found, whatever becomes of their contacts, and which of
// them overlap without a contact.
#include "world/world.h"

/// Position of a pair of geometries among `count` pairs in ascending order, looked for from `near` on; -1: not there.
static int32_t find_pair(const stn_contact_pair *pairs, int32_t count, int32_t near, const stn_contact *c) {
    int32_t low = 0, high = count - 1;
    for (int32_t at = near; low <= high; at = (low + high) / 2) {
        int32_t order = pairs[at].geometry_a != c->geometry_a
                            ? (pairs[at].geometry_a > c->geometry_a ? 1 : -1)
                            : (pairs[at].geometry_b > c->geometry_b) - (pairs[at].geometry_b < c->geometry_b);
        if (order == 0) {
            return at;
        }
        low = order < 0 ? at + 1 : low;
        high = order > 0 ? at - 1 : high;
    }
    return -1;
}

void stn_overlap_depths(const stn_contact_set *set, int32_t first, const stn_contact_pair *pairs, int32_t count,
                        double *depth) {
    for (int32_t i = 0; i < count; i++) {
        depth[i] = -(double)INFINITY;
    }
    int32_t at = 0;
    for (int32_t i = first; i < set->count; i++) {
        const stn_contact *c = &set->contacts[i];
        int32_t found = find_pair(pairs, count, at, c);
        if (found >= 0) {
            depth[found] = fmax(depth[found], -c->phi0);
            at = found;
        }
    }
}

void stn_overlap_note(stn_step_report *report, const stn_contact_pair *pair, double depth, bool bare) {
    if (depth > report->overlap_m) {
        report->overlap_m = depth;
        report->overlap_geometry[0] = pair->geometry_a;
        report->overlap_geometry[1] = pair->geometry_b;
    }
    if (bare && depth > report->overlap_without_contact_m) {
        report->overlap_without_contact_m = depth;
        report->bare_geometry[0] = pair->geometry_a;
        report->bare_geometry[1] = pair->geometry_b;
    }
}
