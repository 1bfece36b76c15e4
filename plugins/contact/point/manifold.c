// SPDX-License-Identifier: Apache-2.0
// The points of one pair.
#include "pair.h"

const witness *manifold_deepest(const manifold *m) {
    const witness *best = &m->points[0];
    for (int32_t i = 1; i < m->count; i++) {
        best = m->points[i].phi < best->phi ? &m->points[i] : best;
    }
    return best;
}

double manifold_depth(const manifold *m) {
    return m->count > 0 ? manifold_deepest(m)->phi : HUGE_VAL;
}

/// A point seen along the normal; its place around the middle of all.
typedef struct corner {
    double x, y, angle;
    bool kept;
} corner;

/// The points in order around the middle.
static void go_round(const manifold *m, stn_vec3 normal, corner *corners, int32_t *order) {
    stn_mat3 frame = stn_contact_frame(normal);
    stn_vec3 u = stn_mat3_column(&frame, 0), v = stn_mat3_column(&frame, 1), middle = stn_vec3_zero();
    for (int32_t i = 0; i < m->count; i++) {
        middle = stn_vec3_mul_add(middle, 1.0 / m->count, m->points[i].a);
    }
    for (int32_t i = 0; i < m->count; i++) {
        stn_vec3 p = stn_vec3_sub(m->points[i].a, middle);
        double x = stn_vec3_dot(p, u), y = stn_vec3_dot(p, v), angle = atan2(y, x);
        corners[i] = (corner){x, y, angle, false};
        int32_t at = i;
        for (; at > 0 && corners[order[at - 1]].angle > angle; at--) {
            order[at] = order[at - 1];
        }
        order[at] = i;
    }
}

/// Twice the area that corner p adds beyond the side from a to b, negative within; and a little for the length of the
/// outline, by which the second point is the furthest and points on a line keep its ends.
static double gain(const corner *p, const corner *a, const corner *b, double spread) {
    double length = hypot(p->x - a->x, p->y - a->y) + hypot(b->x - p->x, b->y - p->y) - hypot(b->x - a->x, b->y - a->y);
    return (p->x - a->x) * (b->y - p->y) - (p->y - a->y) * (b->x - p->x) + 1e-3 * spread * length;
}

/// The point not kept yet that adds most, the first of equals: which one must not hang on rounding.
static int32_t most_gain(const corner *corners, const int32_t *order, int32_t count, int32_t start, double spread) {
    int32_t best = -1;
    double most = 0.0;
    for (int32_t from = 0, to; from < count; from = to) { // from one that is kept to the next, counted from the start
        const corner *a = &corners[order[(start + from) % count]], *b;
        for (to = from + 1; to < count && !corners[order[(start + to) % count]].kept; to++) {
        }
        b = &corners[order[(start + to) % count]];
        for (int32_t k = from + 1; k < to; k++) {
            int32_t point = order[(start + k) % count];
            double g = gain(&corners[point], a, b, spread), tie = 1e-6 * fabs(most);
            if (best < 0 || g > most + tie || (g >= most - tie && point < best)) {
                best = point;
                most = g;
            }
        }
    }
    return best;
}

/// Marks the points that are no further than `near`, and returns how many: what hangs higher may not drive them out,
/// however much area it adds.
static int32_t keep_near(const manifold *m, double near, corner *corners) {
    int32_t count = 0;
    for (int32_t i = 0; i < m->count; i++) {
        corners[i].kept = m->points[i].phi <= near;
        count += corners[i].kept;
    }
    return count;
}

/// Drops the points that are not kept.
static void drop_others(manifold *m, const corner *corners) {
    int32_t count = 0;
    for (int32_t i = 0; i < m->count; i++) {
        if (corners[i].kept) {
            m->points[count++] = m->points[i];
        }
    }
    m->count = count;
}

/// Keeps one point, the deepest or the outermost, and then those that add most.
static void keep_most(manifold *m, int32_t limit, bool with_deepest) {
    if (m->count <= limit) {
        return;
    }
    corner corners[MANIFOLD_CAPACITY];
    double spread = 0.0;
    for (int32_t i = 1; i < m->count; i++) {
        spread = fmax(spread, stn_vec3_norm(stn_vec3_sub(m->points[i].a, m->points[0].a)));
    }
    double near = fmax(manifold_depth(m), 0.0) + 1e-3 * spread; // touching, or as near
    int32_t order[MANIFOLD_CAPACITY] = {0}, start = 0, kept = with_deepest ? keep_near(m, near, corners) : 0;
    if (kept >= limit) { // over rough ground only those in overlap carry
        drop_others(m, corners);
        near = fmax(manifold_depth(m), -2e-9 * spread) + 1e-9 * spread;
        kept = keep_near(m, near, corners);
        kept = kept < limit ? kept : 0;
    }
    if (m->count <= limit) {
        return;
    }
    go_round(m, m->points[0].normal, corners, order);
    if (kept > 0) {
        keep_near(m, near, corners);
    }
    // the first of the deepest, or of those furthest from the middle: rounding must not choose between equals
    int32_t stays = 0;
    double least = manifold_depth(m);
    while (with_deepest && !(m->points[stays].phi <= least + 1e-10 * spread) && stays + 1 < m->count) {
        stays++;
    }
    for (int32_t i = 1; i < m->count && !with_deepest; i++) {
        if (hypot(corners[i].x, corners[i].y) > hypot(corners[stays].x, corners[stays].y) + 1e-6 * spread) {
            stays = i;
        }
    }
    while (order[start] != stays) {
        start++;
    }
    corners[stays].kept = true;
    for (kept = kept > 0 ? kept : 1; kept < limit; kept++) {
        corners[most_gain(corners, order, m->count, start, spread)].kept = true;
    }
    drop_others(m, corners);
}

void manifold_reduce(manifold *m, int32_t limit) {
    keep_most(m, limit, true);
}

void manifold_thin(manifold *m, int32_t limit) {
    keep_most(m, limit, false);
}
