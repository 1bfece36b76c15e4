// SPDX-License-Identifier: Apache-2.0
// A field with another one, or with a rigid surface.
//
// Two fields [elandt-2019]: in a pair of cells p_M = p_N is a plane; M's slice of it is clipped by N. With a rigid
// surface: its triangles clipped by the cells.
//
// The cells of simple shapes reach from the surface to the middle, so that nearly all of them are near each other
// there, while contact is shallow. So the faces are looked for below a pressure first, where boxes are thin, and below
// a higher one only when a face reaches it. That finds all: the pressure is continuous over a contact surface and not
// above 0 on its rim, so that a surface which goes deeper passes the first limit. One without rim is looked for without
// a limit. A rigid one is a whole part that is inside of the field, which two points of each part tell. One between
// fields lies around a region D with, say, p_M > p_N. Where e falls linearly along rays from the deepest set and is
// concave, as in all fields but given ones, D holds a point of M's deepest set: p_M - p_N is convex along the ray
// through any point of D, so it cannot be below 0 on both sides of D. Given tetrahedra may hide such an island
// anywhere.
//
// N's elements that are near M are taken to M's frame once; what of M is near each, near.h tells.
#include "cut.h"
#include "near.h"

typedef struct meeting {
    face_sink *sink;
    const posed *m, *n;
    stn_pose mn;     // X_MN
    int32_t *near_m; // room for all elements of each
    int32_t *near_n;
} meeting;

static stn_aabb box_around(const stn_vec3 *x, int32_t count) {
    stn_aabb b = {x[0], x[0]};
    for (int32_t k = 1; k < count; k++) {
        b.lower = stn_vec3_make(x[k].x < b.lower.x ? x[k].x : b.lower.x, x[k].y < b.lower.y ? x[k].y : b.lower.y,
                                x[k].z < b.lower.z ? x[k].z : b.lower.z);
        b.upper = stn_vec3_make(x[k].x > b.upper.x ? x[k].x : b.upper.x, x[k].y > b.upper.y ? x[k].y : b.upper.y,
                                x[k].z > b.upper.z ? x[k].z : b.upper.z);
    }
    return b;
}

// ----------------------------------------------------------------------------------------------- field and field

/// A cell of N in M's frame.
typedef struct cell_seen {
    four_points corners[CELL_GROUPS];
    four_planes faces[CELL_GROUPS];
    int32_t corner_groups, face_count;
    pressure p;
    double steep; // length of the gradient of p
    double size;
    bool flat;
} cell_seen;

static stn_vec3 blend(stn_vec3 a, stn_vec3 b, double share) {
    return stn_vec3_mul_add(a, share, stn_vec3_sub(b, a));
}

/// False: the search must end.
static bool meet_cells(const meeting *w, int32_t i, int32_t j, const cell_seen *n) {
    const cell *m = &w->m->solid->cells[i];
    pressure pm = cell_pressure(m, w->m->modulus);
    stn_vec3 excess = stn_vec3_sub(pm.gradient, n->p.gradient);
    double offset = pm.offset - n->p.offset, steep_m = w->m->modulus * m->steep;
    double height[CELL_CORNERS], tolerance = CUT_LEVEL * (steep_m + n->steep);
    heights_of(n->corners, n->corner_groups, excess, offset, height);
    if (!passes_between(height, n->corner_groups, tolerance * n->size)) {
        return true;
    }
    heights_of(m->corners, m->corner_groups, excess, offset, height);
    if (!passes_between(height, m->corner_groups, tolerance * m->size)) {
        return true;
    }
    face *f = face_next(w->sink);
    if (f == NULL) {
        return false;
    }
    cell_slice(m, height, tolerance * m->size, &f->cut);
    polygon_clip_faces(&f->cut, n->faces, n->face_count, CUT_LEVEL * n->size);
    if (f->cut.count < 3) {
        return true;
    }
    balance b = balance_of(&pm, steep_m, &n->p, n->steep);
    if (b.weight == 0.0) {
        return true;
    }
    face_set(f, &b, &pm, m->flat && n->flat, i, j);
    return face_keep(w->sink, fmin(m->size, n->size));
}

static void meet_all_cells(const meeting *w, const near_question *q) {
    near_search near = {.question = q, .arena = w->sink->arena, .memory = w->sink->memory, .found_n = w->near_n};
    near_begin(&near);
    w->sink->recalled += near.reuses;
    bool ended = false;
    for (int32_t k = 0; k < near.count && !(ended && !near.notes); k++) { // a list is noted whole
        int32_t j = near_element(&near, k);
        if (j < 0) {
            continue;
        }
        // its corners, and its box up to the level
        const cell *c = &q->n->cells[j];
        cell_seen seen;
        stn_vec3 corner[4 * CELL_GROUPS], low[4 * CELL_GROUPS];
        int32_t lows = 0;
        seen.corner_groups = c->corner_groups;
        for (int32_t i = 0; i < 4 * c->corner_groups; i++) {
            stn_vec3 v = corner[i] = low[lows] = stn_pose_apply(&w->mn, cell_corner(c, i));
            seen.corners[i / 4].x[i % 4] = v.x;
            seen.corners[i / 4].y[i % 4] = v.y;
            seen.corners[i / 4].z[i % 4] = v.z;
            lows += (c->low >> i & 1U) != 0;
        }
        tree_probe at = {.box = box_around(corner, c->corner_count)};
        double share = (q->part_n.level - q->part_n.tree->lowest) * c->rise;
        if (lows > 0 && share < 1.0) {
            stn_aabb below = box_around(low, lows);
            at.box.lower = blend(below.lower, at.box.lower, share);
            at.box.upper = blend(below.upper, at.box.upper, share);
        }
        int32_t near_m = near_elements_of_m(&near, k, &at, w->near_m);
        if (near_m == 0 || ended) {
            continue;
        }
        w->sink->near += near_m;
        // its faces and pressure, to cut it
        seen.face_count = c->face_count;
        for (int32_t i = 0; i < c->face_count; i++) {
            const four_planes *own = &c->faces[i / 4];
            four_planes *to = &seen.faces[i / 4];
            stn_vec3 a = stn_mat3_apply(&w->mn.rotation, stn_vec3_make(own->x[i % 4], own->y[i % 4], own->z[i % 4]));
            to->x[i % 4] = a.x;
            to->y[i % 4] = a.y;
            to->z[i % 4] = a.z;
            to->at[i % 4] = own->at[i % 4] - stn_vec3_dot(a, w->mn.position);
        }
        pressure own = cell_pressure(c, w->n->modulus);
        seen.p = pressure_seen(&own, &w->mn);
        seen.steep = w->n->modulus * c->steep;
        seen.size = c->size;
        seen.flat = c->flat;
        for (int32_t i = 0; i < near_m && !ended; i++) {
            ended = !meet_cells(w, w->near_m[i], j, &seen);
        }
    }
    near_end(&near);
}

// --------------------------------------------------------------------------------------------- field and surface

/// A triangle of N in M's frame.
typedef struct facet_seen {
    stn_vec3 corner[3];
    tree_probe at; // its box and plane
    double size;
} facet_seen;

static bool meet_facet(const meeting *w, int32_t i, int32_t j, const facet_seen *n) {
    const cell *m = &w->m->solid->cells[i];
    double height[CELL_CORNERS];
    heights_of(m->corners, m->corner_groups, n->at.normal, n->at.offset, height);
    if (!passes_between(height, m->corner_groups, CUT_LEVEL * m->size)) {
        return true;
    }
    face *f = face_next(w->sink);
    if (f == NULL) {
        return false;
    }
    f->cut.count = 3;
    for (int32_t k = 0; k < 3; k++) {
        f->cut.corner[k] = n->corner[k];
    }
    polygon_clip_faces(&f->cut, m->faces, m->face_count, CUT_LEVEL * m->size);
    if (f->cut.count < 3) {
        return true;
    }
    pressure p = cell_pressure(m, w->m->modulus);
    balance b = balance_rigid(&p, w->m->modulus * m->steep, n->at.normal);
    if (b.weight == 0.0) {
        return true;
    }
    face_set(f, &b, &p, m->flat && w->n->solid->flat, i, j);
    return face_keep(w->sink, fmin(m->size, n->size));
}

static void meet_all_facets(const meeting *w, const near_question *q) {
    near_search near = {.question = q, .arena = w->sink->arena, .memory = w->sink->memory, .found_n = w->near_n};
    near_begin(&near);
    w->sink->recalled += near.reuses;
    bool ended = false;
    for (int32_t k = 0; k < near.count && !(ended && !near.notes); k++) { // a list is noted whole
        int32_t j = near_element(&near, k);
        if (j < 0) {
            continue;
        }
        const facet *own = &q->n->facets[j];
        facet_seen seen = {.size = own->size};
        for (int32_t c = 0; c < 3; c++) {
            seen.corner[c] = stn_pose_apply(&w->mn, own->corner[c]);
        }
        stn_vec3 normal = stn_mat3_apply(&w->mn.rotation, own->normal);
        seen.at = (tree_probe){box_around(seen.corner, 3), true, normal, -stn_vec3_dot(normal, seen.corner[0])};
        int32_t near_m = near_elements_of_m(&near, k, &seen.at, w->near_m);
        if (ended) {
            continue;
        }
        w->sink->near += near_m;
        for (int32_t i = 0; i < near_m && !ended; i++) {
            ended = !meet_facet(w, w->near_m[i], j, &seen);
        }
    }
    near_end(&near);
}

// -------------------------------------------------------------------------------------------------------- search

static bool holds_point(const solid *s, stn_vec3 p, int32_t *near) {
    const tree_probe here = {.box = {p, p}};
    int32_t count = tree_near((tree_part){&s->tree, (double)INFINITY}, &here, 0.0, near);
    bool inside = false;
    for (int32_t i = 0; i < count && !inside; i++) {
        inside = cell_holds(&s->cells[near[i]], p);
    }
    return inside;
}

/// May a region in which the pressure of A is higher lie within B, which stands at X_AB, with no rim of its own?
static bool may_hide_an_island(const solid *a, const solid *b, const stn_pose *ab, int32_t *near) {
    stn_pose ba = stn_pose_inverse(ab);
    stn_aabb core = tree_box_seen(&a->core, &ba), other = tree_box_seen(&b->bounds, ab);
    bool point = stn_vec3_norm(stn_vec3_sub(a->core.upper, a->core.lower)) == 0.0;
    return tree_boxes_meet(&core, &b->bounds) && tree_boxes_meet(&a->core, &other) &&
           (!point || holds_point(b, core.lower, near));
}

static bool meeting_of(face_sink *sink, const posed *m, const posed *n, meeting *w) {
    *w = (meeting){.sink = sink, .m = m, .n = n, .mn = pose_between(m->pose, n->pose)};
    sink->frame = *m->pose;
    w->near_m = face_nearby(sink, 0, m->solid->tree.item_count + 1);
    w->near_n = face_nearby(sink, 1, n->solid->tree.item_count);
    return !sink->no_memory;
}

/// Below ever higher pressures until no face reaches the limit.
static void search(const meeting *w, void (*meet_all)(const meeting *w, const near_question *q), bool all) {
    static const double first = 0.01, more = 8.0;
    double highest = fmin(w->m->modulus, w->n->modulus), cap = all ? (double)INFINITY : first * highest;
    do {
        face_restart(w->sink, cap);
        const solid *m = w->m->solid, *n = w->n->solid;
        double level_n = isfinite(w->n->modulus) ? cap / w->n->modulus : (double)INFINITY;
        const near_question q = {w->sink->pair, m, n, {&m->tree, cap / w->m->modulus}, {&n->tree, level_n}, w->mn};
        meet_all(w, &q);
        cap = more * cap < highest ? more * cap : (double)INFINITY;
    } while (w->sink->beyond && !w->sink->no_memory);
}

void meet_fields(face_sink *sink, const posed *m, const posed *n) {
    meeting w;
    if (meeting_of(sink, m, n, &w)) {
        stn_pose nm = stn_pose_inverse(&w.mn);
        search(&w, meet_all_cells,
               may_hide_an_island(m->solid, n->solid, &w.mn, w.near_n) ||
                   may_hide_an_island(n->solid, m->solid, &nm, w.near_m));
    }
}

void meet_facets(face_sink *sink, const posed *m, const posed *n) {
    meeting w;
    if (meeting_of(sink, m, n, &w)) {
        // a whole part may be inside of the field: where parts are too many, or two points of one are
        stn_pose nm = stn_pose_inverse(&w.mn);
        bool inside = n->solid->part_count > SOLID_PARTS;
        for (int32_t k = 0; k < n->solid->part_count && !inside; k++) {
            const stn_vec3 *end = n->solid->part_end[k];
            inside = holds_point(m->solid, stn_pose_apply_inverse(&nm, end[0]), w.near_m) &&
                     holds_point(m->solid, stn_pose_apply_inverse(&nm, end[1]), w.near_m);
        }
        search(&w, meet_all_facets, inside);
    }
}
