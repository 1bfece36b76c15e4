// SPDX-License-Identifier: Apache-2.0
// The points of one pair.
#include "point.h"

void manifold_add(manifold *m, stn_vec3 a, stn_vec3 normal, double phi, uint32_t feature_a, uint32_t feature_b) {
    if (m->count < MANIFOLD_CAPACITY) {
        witness *w = &m->points[m->count++];
        *w = (witness){a, stn_vec3_mul_add(a, phi, normal), normal, phi, feature_a, feature_b};
    }
}

void manifold_add_both(manifold *m, stn_vec3 a, stn_vec3 b, stn_vec3 normal, uint32_t feature_a, uint32_t feature_b) {
    if (m->count < MANIFOLD_CAPACITY) {
        double phi = stn_vec3_dot(normal, stn_vec3_sub(b, a));
        m->points[m->count++] = (witness){a, b, normal, phi, feature_a, feature_b};
    }
}

void manifold_flip(manifold *m) {
    for (int32_t i = 0; i < m->count; i++) {
        witness w = m->points[i];
        m->points[i] = (witness){w.b, w.a, stn_vec3_neg(w.normal), w.phi, w.feature_b, w.feature_a};
    }
}

static int32_t deepest(const manifold *m) {
    int32_t best = 0;
    for (int32_t i = 1; i < m->count; i++) {
        if (m->points[i].phi < m->points[best].phi) {
            best = i;
        }
    }
    return best;
}

double manifold_depth(const manifold *m) {
    return m->count > 0 ? m->points[deepest(m)].phi : HUGE_VAL;
}

void manifold_reduce(manifold *m, int32_t limit) {
    if (m->count <= limit) {
        return;
    }
    double distance[MANIFOLD_CAPACITY]; // squared, to the nearest kept point; negative: kept
    for (int32_t i = 0; i < m->count; i++) {
        distance[i] = INFINITY;
    }
    int32_t next = deepest(m);
    for (int32_t kept = 0; kept < limit; kept++) {
        stn_vec3 from = m->points[next].a;
        distance[next] = -1.0;
        for (int32_t i = 0; i < m->count; i++) {
            stn_vec3 apart = stn_vec3_sub(m->points[i].a, from);
            distance[i] = fmin(distance[i], stn_vec3_dot(apart, apart));
        }
        for (int32_t i = 0; i < m->count; i++) {
            next = distance[i] > distance[next] ? i : next;
        }
    }
    int32_t count = 0;
    for (int32_t i = 0; i < m->count; i++) {
        if (distance[i] < 0.0) {
            m->points[count++] = m->points[i];
        }
    }
    m->count = count;
}
