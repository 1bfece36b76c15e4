// SPDX-License-Identifier: Apache-2.0
// A field with another one, or with a rigid surface.
//
// Two fields [elandt-2019]: in a pair of tetrahedra p_M = p_N is a plane; M's slice of it is clipped by N. With a rigid
// surface: its triangles clipped by the tetrahedra.
//
// The tetrahedra of simple shapes reach from the surface to the middle, so that nearly all of them are near each other
// there, while contact is shallow. So the faces are looked for below a pressure first, where boxes are thin, and below
// a higher one only when a face reaches it. That finds all: the pressure is continuous over a contact surface and not
// above 0 on its rim, so that a surface which goes deeper passes the first limit; one without rim lies around something
// that is inside of the other solid as a whole, which two points of each part tell.
#include "cut.h"

typedef struct meeting {
    face_sink *sink;
    const posed *m, *n;
    stn_pose mn; // X_MN
} meeting;

static bool meet_cells(void *user, int32_t i, int32_t j) {
    const meeting *w = user;
    const cell *m = &w->m->solid->cells[i], *n = &w->n->solid->cells[j];
    pressure pm = cell_pressure(m, w->m->modulus), own = cell_pressure(n, w->n->modulus);
    pressure pn = pressure_seen(&own, &w->mn);
    balance b = balance_of(&pm, w->m->modulus * m->steep, &pn, w->n->modulus * n->steep);
    if (b.weight == 0.0) {
        return true;
    }
    double height[4];
    for (int32_t k = 0; k < 4; k++) {
        height[k] = stn_vec3_dot(b.normal, stn_pose_apply(&w->mn, cell_corner(n, k))) + b.offset;
    }
    if (!passes_between(height, CUT_LEVEL * n->size)) {
        return true;
    }
    for (int32_t k = 0; k < 4; k++) {
        height[k] = stn_vec3_dot(b.normal, cell_corner(m, k)) + b.offset;
    }
    if (!passes_between(height, CUT_LEVEL * m->size)) {
        return true;
    }
    face *f = face_next(w->sink);
    if (f == NULL) {
        return false;
    }
    cell_slice(m, height, CUT_LEVEL * m->size, &f->cut);
    polygon_clip_cell(&f->cut, n, &w->mn, CUT_LEVEL * n->size);
    face_set(f, &b, &pm, i, j);
    return face_keep(w->sink, fmin(m->size, n->size));
}

static bool meet_cell_and_facet(void *user, int32_t i, int32_t j) {
    const meeting *w = user;
    const cell *m = &w->m->solid->cells[i];
    const facet *n = &w->n->solid->facets[j];
    pressure p = cell_pressure(m, w->m->modulus);
    stn_vec3 normal = stn_mat3_apply(&w->mn.rotation, n->normal), first = stn_pose_apply(&w->mn, n->corner[0]);
    balance b = balance_rigid(&p, w->m->modulus * m->steep, normal);
    double height[4];
    for (int32_t k = 0; k < 4; k++) {
        height[k] = stn_vec3_dot(normal, stn_vec3_sub(cell_corner(m, k), first));
    }
    if (b.weight == 0.0 || !passes_between(height, CUT_LEVEL * m->size)) {
        return true;
    }
    face *f = face_next(w->sink);
    if (f == NULL) {
        return false;
    }
    f->cut = (polygon){3, {first, stn_pose_apply(&w->mn, n->corner[1]), stn_pose_apply(&w->mn, n->corner[2])}};
    stn_pose here = stn_pose_identity();
    polygon_clip_cell(&f->cut, m, &here, CUT_LEVEL * m->size);
    face_set(f, &b, &p, i, j);
    return face_keep(w->sink, fmin(m->size, n->size));
}

/// A point that may be inside of a field.
typedef struct point_search {
    const solid *field;
    stn_vec3 point;
    bool inside;
} point_search;

static bool look_inside(void *user, int32_t i) {
    point_search *s = user;
    const cell *c = &s->field->cells[i];
    bool inside = true;
    for (int32_t k = 0; k < 4; k++) {
        stn_vec3 inward = stn_vec3_make(c->face_x[k], c->face_y[k], c->face_z[k]);
        inside = inside && stn_vec3_dot(inward, s->point) + c->face_at[k] >= -CUT_LEVEL * c->size;
    }
    s->inside = inside;
    return !inside;
}

static bool holds_point(const solid *of_field, stn_vec3 point) {
    point_search s = {of_field, point, false};
    tree_meet_point(&of_field->tree, point, look_inside, &s);
    return s.inside;
}

/// May the field, which stands at X_PF in the frame of `parts`, have a whole part inside? Yes where parts are too many.
static bool may_hold_a_part(const solid *of_field, const solid *parts, const stn_pose *pf) {
    bool any = parts->part_count > SOLID_PARTS;
    for (int32_t k = 0; k < parts->part_count && !any; k++) {
        any = holds_point(of_field, stn_pose_apply_inverse(pf, parts->part_end[k][0])) &&
              holds_point(of_field, stn_pose_apply_inverse(pf, parts->part_end[k][1]));
    }
    return any;
}

/// Below ever higher pressures until no face reaches the limit.
static void search(meeting *w, tree_visit *visit, bool all) {
    static const double first = 0.01, more = 8.0;
    double highest = fmin(w->m->modulus, w->n->modulus), cap = all ? (double)INFINITY : first * highest;
    do {
        face_restart(w->sink, cap);
        tree_meet(&w->m->solid->tree, cap / w->m->modulus, &w->n->solid->tree,
                  isfinite(w->n->modulus) ? cap / w->n->modulus : (double)INFINITY, &w->mn, visit, w);
        cap = more * cap < highest ? more * cap : (double)INFINITY;
    } while (w->sink->beyond && !w->sink->no_memory);
}

void meet_fields(face_sink *sink, const posed *m, const posed *n) {
    meeting w = {sink, m, n, pose_between(m->pose, n->pose)};
    stn_pose nm = stn_pose_inverse(&w.mn);
    sink->frame = *m->pose;
    bool all = may_hold_a_part(n->solid, m->solid, &nm) || may_hold_a_part(m->solid, n->solid, &w.mn);
    search(&w, meet_cells, all);
}

void meet_facets(face_sink *sink, const posed *m, const posed *n) {
    meeting w = {sink, m, n, pose_between(m->pose, n->pose)};
    stn_pose nm = stn_pose_inverse(&w.mn);
    sink->frame = *m->pose;
    search(&w, meet_cell_and_facet, may_hold_a_part(m->solid, n->solid, &nm));
}
