// SPDX-License-Identifier: Apache-2.0
// See merge.h. Faces of one tetrahedron of M have one linear pressure. Where their normals and slopes are equal, too,
// the force of them all is that of one face with the sum of their areas at their common centre: nothing is lost but the
// moment of the pressure about it, as in any face. So within a bound b on both, force and normal are off by b at most.
#include "merge.h"

#include <string.h>

/// A corner in the plane of a face.
typedef struct corner_2d {
    double u, v;
    stn_vec3 at;
} corner_2d;

static double turn(const corner_2d *o, const corner_2d *a, const corner_2d *b) {
    return (a->u - o->u) * (b->v - o->v) - (a->v - o->v) * (b->u - o->u);
}

static void sort_corners(corner_2d *c, int32_t count) {
    for (int32_t i = 1; i < count; i++) {
        corner_2d own = c[i];
        int32_t k = i;
        for (; k > 0 && (c[k - 1].u > own.u || (c[k - 1].u == own.u && c[k - 1].v > own.v)); k--) {
            c[k] = c[k - 1];
        }
        c[k] = own;
    }
}

/// Convex hull by monotone chains; `out` holds one more than `count`.
static int32_t hull(corner_2d *c, int32_t count, corner_2d *out) {
    int32_t n = 0;
    sort_corners(c, count);
    for (int32_t i = 0; i < count; i++) {
        while (n >= 2 && turn(&out[n - 2], &out[n - 1], &c[i]) <= 0.0) {
            n--;
        }
        out[n++] = c[i];
    }
    for (int32_t i = count - 2, lower = n + 1; i >= 0; i--) {
        while (n >= lower && turn(&out[n - 2], &out[n - 1], &c[i]) <= 0.0) {
            n--;
        }
        out[n++] = c[i];
    }
    return n - 1;
}

/// Takes away the corners that span least until there is room for the rest.
static int32_t simplify(corner_2d *c, int32_t count) {
    while (count > POLYGON_CORNERS) {
        int32_t least = 0;
        double smallest = (double)INFINITY;
        for (int32_t i = 0; i < count; i++) {
            double area = fabs(turn(&c[(i + count - 1) % count], &c[i], &c[(i + 1) % count]));
            least = area < smallest ? i : least;
            smallest = fmin(area, smallest);
        }
        count--;
        memmove(c + least, c + least + 1, (size_t)(count - least) * sizeof *c);
    }
    return count;
}

/// The hull of two polygons, seen along the normal.
static void join_polygons(polygon *a, const polygon *b, stn_vec3 normal) {
    stn_vec3 other = fabs(normal.x) < 0.6 ? stn_vec3_make(1.0, 0.0, 0.0) : stn_vec3_make(0.0, 1.0, 0.0);
    stn_vec3 u = stn_vec3_normalize_or(stn_vec3_cross(other, normal), other), v = stn_vec3_cross(normal, u);
    corner_2d all[2 * POLYGON_CORNERS], out[2 * POLYGON_CORNERS + 1];
    int32_t count = 0;
    for (int32_t i = 0; i < a->count + b->count; i++) {
        stn_vec3 x = i < a->count ? a->corner[i] : b->corner[i - a->count];
        all[count++] = (corner_2d){stn_vec3_dot(u, x), stn_vec3_dot(v, x), x};
    }
    int32_t kept = simplify(out, hull(all, count, out));
    if (kept >= 3) {
        a->count = kept;
        for (int32_t i = 0; i < kept; i++) {
            a->corner[i] = out[i].at;
        }
    }
}

static bool may_join(const face *a, const face *b, double bound) {
    stn_vec3 apart = stn_vec3_sub(a->normal, b->normal);
    return a->element_m == b->element_m && stn_vec3_dot(apart, apart) <= 0.25 * bound * bound &&
           fabs(a->g - b->g) <= 0.5 * bound * a->g && fabs(a->weight - b->weight) <= 0.5 * bound;
}

/// Normal and slope stay those of the first, so that none is further from them than the bound; the lesser element of N
/// is named.
static void join(face *a, const face *b) {
    double ca = a->area * a->weight, cb = b->area * b->weight, sum = ca + cb, share = sum > 0.0 ? cb / sum : 0.5;
    join_polygons(&a->cut, &b->cut, a->normal);
    a->centre = stn_vec3_mul_add(a->centre, share, stn_vec3_sub(b->centre, a->centre));
    a->area += b->area;
    a->weight = a->area > 0.0 ? sum / a->area : 0.0;
    a->element_n = b->element_n < a->element_n ? b->element_n : a->element_n;
}

/// The faces kept so far, by their element of M: heads of chains.
typedef struct chains {
    int32_t *head, *next;
    uint32_t mask;
} chains;

static int32_t *head_of(const chains *c, int32_t element) {
    return &c->head[((uint32_t)element * 2654435769u >> 7) & c->mask];
}

bool faces_merge(face_sink *sink, double bound) {
    chains c = {.mask = 64};
    while (c.mask < (uint32_t)sink->count) {
        c.mask *= 2;
    }
    c.head = STN_ARENA(sink->arena, c.mask, int32_t);
    c.next = STN_ARENA(sink->arena, sink->count + 1, int32_t);
    if (c.head == NULL || c.next == NULL) {
        return false;
    }
    memset(c.head, 0xff, (size_t)c.mask * sizeof *c.head);
    c.mask--;
    int32_t kept = 0;
    for (int32_t i = 0; i < sink->count; i++) {
        const face *f = &sink->faces[i];
        int32_t *head = head_of(&c, f->element_m), k = *head;
        while (k >= 0 && !may_join(&sink->faces[k], f, bound)) {
            k = c.next[k];
        }
        if (k >= 0) {
            join(&sink->faces[k], f);
            continue;
        }
        if (kept != i) {
            sink->faces[kept] = *f;
        }
        c.next[kept] = *head;
        *head = kept++;
    }
    sink->count = kept;
    return true;
}
