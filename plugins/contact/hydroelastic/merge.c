// SPDX-License-Identifier: Apache-2.0
// See merge.h. Faces of one cell of M have one linear pressure. Those whose polygons make one convex polygon in
// a plane are one face, exactly. Others are joined when that is true but for the bound, which is looked at, not
// estimated: of all that became one face the areas, the force F and its moment are summed, and with the candidate, the
// hull of the polygons, each sum is compared. Its normal, weight and mean pressure are such that area, stiffness and
// force are the sums.
#include "merge.h"

#include "face_parts.h"

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

// ---------------------------------------------------------------------------------------------------------- sums

/// Of the faces that became one.
typedef struct face_sums {
    double area, counted, stiffness; // [m^2], what counts of it, [N/m]
    double rise;                     // as `stiffness`, of the fields themselves [N/m]
    stn_vec3 force;                  // along the normals [N]
    stn_vec3 about, moment;          // a point near them, moment about it [N m]
} face_sums;

/// Where the force of a face acts, as a contact has it.
static stn_vec3 point_of(const face *f) {
    face_part part = {.count = f->cut.count, .centre = f->centre};
    for (int32_t i = 0; i < f->cut.count; i++) {
        part.corner[i] = f->cut.corner[i];
        part.pressure[i] = pressure_at(&f->p, f->cut.corner[i]);
    }
    return part_centre_of_pressure(&part);
}

static face_sums sums_of(const face *f) {
    double counted = f->area * f->weight;
    return (face_sums){.area = f->area,
                       .counted = counted,
                       .stiffness = counted * f->g,
                       .rise = counted * f->rise,
                       .force = stn_vec3_scale(counted * pressure_at(&f->p, f->centre), f->normal),
                       .about = point_of(f)};
}

static face_sums sums_plus(const face_sums *a, const face_sums *b) {
    stn_vec3 arm = stn_vec3_sub(b->about, a->about);
    return (face_sums){.area = a->area + b->area,
                       .counted = a->counted + b->counted,
                       .stiffness = a->stiffness + b->stiffness,
                       .rise = a->rise + b->rise,
                       .force = stn_vec3_add(a->force, b->force),
                       .about = a->about,
                       .moment = stn_vec3_add(stn_vec3_add(a->moment, b->moment), stn_vec3_cross(arm, b->force))};
}

static double diameter(const polygon *p) {
    double most = 0.0;
    for (int32_t i = 1; i < p->count; i++) {
        for (int32_t k = 0; k < i; k++) {
            most = fmax(most, stn_vec3_norm(stn_vec3_sub(p->corner[i], p->corner[k])));
        }
    }
    return most;
}

// --------------------------------------------------------------------------------------------------------- joins

/// Worth a look? A face that pulls (in a margin, before it touches) is not joined with one that pushes.
static bool may_join(const face *a, const face *b, double bound) {
    stn_vec3 apart = stn_vec3_sub(a->normal, b->normal);
    return stn_vec3_dot(apart, apart) <= bound * bound && fabs(a->g - b->g) <= bound * a->g &&
           fabs(a->rise - b->rise) <= bound * a->g && fabs(a->weight - b->weight) <= bound &&
           (pressure_at(&a->p, a->centre) > 0.0) == (pressure_at(&b->p, b->centre) > 0.0);
}

/// Makes one face of two, where that is true within the bound; `s`: the sums over all that is in `a`.
static bool join(face *a, face_sums *s, const face *b, double bound) {
    const face_sums own = sums_of(b), all = sums_plus(s, &own);
    double force = stn_vec3_norm(all.force);
    face whole = *a;
    join_polygons(&whole.cut, &b->cut, a->normal);
    whole.area = polygon_area(&whole.cut, &whole.centre);
    whole.weight = all.counted / whole.area;
    double found = pressure_at(&whole.p, whole.centre), level = copysign(force / all.counted, found);
    if (!(fabs(whole.area - all.area) <= bound * all.area && fabs(level - found) <= bound * fabs(level))) {
        return false; // it covers what they do not, or has another pressure; NaN: nothing of them counts
    }
    whole.p.offset += level - found;
    whole.normal = force > 0.0 ? stn_vec3_scale(1.0 / (level * all.counted), all.force) : a->normal;
    whole.g = all.stiffness / all.counted;
    whole.rise = all.rise / all.counted;
    stn_vec3 turned = stn_vec3_cross(stn_vec3_sub(point_of(&whole), all.about), all.force);
    if (!(stn_vec3_norm(stn_vec3_sub(all.moment, turned)) <= bound * force * diameter(&whole.cut))) {
        return false;
    }
    double share = own.counted / all.counted;
    whole.gain = stn_vec3_mul_add(a->gain, share, stn_vec3_sub(b->gain, a->gain));
    whole.flat = a->flat && b->flat;
    whole.element_n = b->element_n < a->element_n ? b->element_n : a->element_n;
    *a = whole;
    *s = all;
    return true;
}

/// The faces kept so far, by their element of M: heads of chains.
typedef struct chains {
    int32_t *head, *next;
    face_sums *sums; // of each
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
    c.sums = STN_ARENA(sink->arena, sink->count + 1, face_sums);
    if (c.head == NULL || c.next == NULL || c.sums == NULL) {
        return false;
    }
    memset(c.head, 0xff, (size_t)c.mask * sizeof *c.head);
    c.mask--;
    int32_t kept = 0;
    for (int32_t i = 0; i < sink->count; i++) {
        const face *f = &sink->faces[i];
        int32_t *head = head_of(&c, f->element_m), k = *head;
        while (k >= 0 && !(sink->faces[k].element_m == f->element_m && may_join(&sink->faces[k], f, bound) &&
                           join(&sink->faces[k], &c.sums[k], f, bound))) {
            k = c.next[k];
        }
        if (k >= 0) {
            continue;
        }
        c.sums[kept] = sums_of(f);
        if (kept != i) {
            sink->faces[kept] = *f;
        }
        c.next[kept] = *head;
        *head = kept++;
    }
    sink->count = kept;
    return true;
}
