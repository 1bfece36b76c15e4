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

/// Convex hull by monotone chains; `out` holds one more than `count`.
static int32_t hull(corner_2d *c, int32_t count, corner_2d *out) {
    for (int32_t i = 1; i < count; i++) { // sorts
        corner_2d own = c[i];
        int32_t k = i;
        for (; k > 0 && (c[k - 1].u > own.u || (c[k - 1].u == own.u && c[k - 1].v > own.v)); k--) {
            c[k] = c[k - 1];
        }
        c[k] = own;
    }
    int32_t n = 0;
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

/// The hull of two polygons, seen along the normal, without the corners that span least where there is no room.
static void join_polygons(polygon *a, const polygon *b, stn_vec3 normal) {
    stn_vec3 other = fabs(normal.x) < 0.6 ? stn_vec3_make(1.0, 0.0, 0.0) : stn_vec3_make(0.0, 1.0, 0.0);
    stn_vec3 u = stn_vec3_normalize_or(stn_vec3_cross(other, normal), other), v = stn_vec3_cross(normal, u);
    corner_2d all[2 * POLYGON_CORNERS], out[2 * POLYGON_CORNERS + 1];
    int32_t count = 0;
    for (int32_t i = 0; i < a->count + b->count; i++) {
        stn_vec3 x = i < a->count ? a->corner[i] : b->corner[i - a->count];
        all[count++] = (corner_2d){stn_vec3_dot(u, x), stn_vec3_dot(v, x), x};
    }
    int32_t kept = hull(all, count, out);
    while (kept > POLYGON_CORNERS) {
        int32_t least = 0;
        double smallest = (double)INFINITY;
        for (int32_t i = 0; i < kept; i++) {
            double area = fabs(turn(&out[(i + kept - 1) % kept], &out[i], &out[(i + 1) % kept]));
            least = area < smallest ? i : least;
            smallest = fmin(area, smallest);
        }
        kept--;
        memmove(out + least, out + least + 1, (size_t)(kept - least) * sizeof *out);
    }
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
    const face_sums own = sums_of(b);
    stn_vec3 arm = stn_vec3_sub(own.about, s->about);
    const face_sums all = {.area = s->area + own.area,
                           .counted = s->counted + own.counted,
                           .stiffness = s->stiffness + own.stiffness,
                           .rise = s->rise + own.rise,
                           .force = stn_vec3_add(s->force, own.force),
                           .about = s->about,
                           .moment = stn_vec3_add(stn_vec3_add(s->moment, own.moment), stn_vec3_cross(arm, own.force))};
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
    double diameter = 0.0;
    for (int32_t i = 1; i < whole.cut.count; i++) {
        for (int32_t k = 0; k < i; k++) {
            diameter = fmax(diameter, stn_vec3_norm(stn_vec3_sub(whole.cut.corner[i], whole.cut.corner[k])));
        }
    }
    if (!(stn_vec3_norm(stn_vec3_sub(all.moment, turned)) <= bound * force * diameter)) {
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

bool faces_merge(face_sink *sink, double bound) {
    // the faces kept so far are in chains by their element of M
    uint32_t size = 64;
    while (size < (uint32_t)sink->count) {
        size *= 2;
    }
    int32_t *heads = STN_ARENA(sink->arena, size, int32_t);
    int32_t *next = STN_ARENA(sink->arena, sink->count + 1, int32_t);
    face_sums *sums = STN_ARENA(sink->arena, sink->count + 1, face_sums);
    if (heads == NULL || next == NULL || sums == NULL) {
        return false;
    }
    memset(heads, 0xff, (size_t)size * sizeof *heads);
    int32_t kept = 0;
    for (int32_t i = 0; i < sink->count; i++) {
        const face *f = &sink->faces[i];
        int32_t *head = &heads[((uint32_t)f->element_m * 2654435769u >> 7) & (size - 1)], k = *head;
        while (k >= 0 && !(sink->faces[k].element_m == f->element_m && may_join(&sink->faces[k], f, bound) &&
                           join(&sink->faces[k], &sums[k], f, bound))) {
            k = next[k];
        }
        if (k >= 0) {
            continue;
        }
        sums[kept] = sums_of(f);
        if (kept != i) {
            sink->faces[kept] = *f;
        }
        next[kept] = *head;
        *head = kept++;
    }
    sink->count = kept;
    return true;
}
