// SPDX-License-Identifier: Apache-2.0
// Half spaces: a rigid one cuts a field by its plane; a compliant one has the exact layer p = -E z / H, also above its
// plane as far as its margin, and cuts a field where both pressures are equal, a rigid surface where it is in the
// layer.
#include "cut.h"

/// Everything in the frame of the bounded one.
typedef struct meeting {
    face_sink *sink;
    const posed *body;
    stn_vec3 up;    // normal of the half space
    double offset;  // height above it = up . x + offset
    pressure layer; // of the half space, when it is compliant
    double steep;   // E / H [Pa/m]
    double margin;  // how far its layer goes on above the plane [m]
} meeting;

static meeting meeting_of(face_sink *sink, const posed *body, const posed *half_space) {
    stn_pose b = pose_between(body->pose, half_space->pose);
    meeting w = {.sink = sink, .body = body, .up = stn_mat3_column(&b.rotation, 2)};
    w.offset = -stn_vec3_dot(w.up, b.position);
    w.steep = half_space->modulus / half_space->solid->depth;
    w.layer = (pressure){stn_vec3_scale(-w.steep, w.up), -w.steep * w.offset};
    w.margin = half_space->solid->fineness.margin;
    sink->frame = *body->pose;
    return w;
}

/// Visits the elements of the bounded one next to the plane until a visit says that the search must end.
static void visit_near(const meeting *w, double above, double below, bool (*visit)(const meeting *w, int32_t element)) {
    const element_tree *t = &w->body->solid->tree;
    int32_t *near = face_nearby(w->sink, 0, t->item_count);
    int32_t count = near != NULL ? tree_near_plane(t, w->up, w->offset, above, below, near) : 0;
    w->sink->near += count;
    for (int32_t i = 0; i < count && visit(w, near[i]); i++) {
    }
}

/// Cuts a cell by the plane of a balance, less what is above the layer.
static bool slice(const meeting *w, int32_t i, const balance *b, const pressure *p, double above) {
    const cell *c = &w->body->solid->cells[i];
    double height[CELL_CORNERS];
    heights_of(c->corners, c->corner_groups, b->normal, b->offset, height);
    if (b->weight == 0.0 || !passes_between(height, c->corner_groups, CUT_LEVEL * c->size)) {
        return true;
    }
    face *f = face_next(w->sink);
    if (f == NULL) {
        return false;
    }
    cell_slice(c, height, CUT_LEVEL * c->size, &f->cut);
    if (isfinite(above)) {
        polygon_clip_plane(&f->cut, stn_vec3_neg(w->up), above - w->offset, CUT_LEVEL * c->size);
    }
    face_set(f, b, p, c->flat, i, 0);
    return face_keep(w->sink, c->size);
}

static bool slice_by_plane(const meeting *w, int32_t i) {
    const cell *c = &w->body->solid->cells[i];
    pressure p = cell_pressure(c, w->body->modulus);
    balance b = balance_rigid(&p, w->body->modulus * c->steep, w->up);
    b.offset = w->offset;
    b.gain = stn_vec3_scale(stn_vec3_dot(b.gain, w->up), w->up); // a plane is the same where it slides
    return slice(w, i, &b, &p, (double)INFINITY);
}

void meet_plane(face_sink *sink, const posed *m, const posed *n) {
    meeting w = meeting_of(sink, m, n);
    visit_near(&w, 0.0, 0.0, slice_by_plane);
}

static bool slice_by_layer(const meeting *w, int32_t i) {
    const cell *c = &w->body->solid->cells[i];
    pressure p = cell_pressure(c, w->body->modulus);
    balance b = balance_of(&p, w->body->modulus * c->steep, &w->layer, w->steep);
    return slice(w, i, &b, &p, w->margin);
}

void meet_layer(face_sink *sink, const posed *m, const posed *n) {
    meeting w = meeting_of(sink, m, n);
    visit_near(&w, w.margin, (double)INFINITY, slice_by_layer);
}

static bool clip_by_layer(const meeting *w, int32_t i) {
    const facet *n = &w->body->solid->facets[i];
    balance b = balance_rigid(&w->layer, w->steep, n->normal);
    if (b.weight == 0.0) {
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
    polygon_clip_plane(&f->cut, stn_vec3_neg(w->up), w->margin - w->offset, CUT_LEVEL * n->size);
    face_set(f, &b, &w->layer, w->body->solid->flat, 0, i);
    return face_keep(w->sink, n->size);
}

void meet_layer_facets(face_sink *sink, const posed *m, const posed *n) {
    meeting w = meeting_of(sink, n, m);
    visit_near(&w, w.margin, (double)INFINITY, clip_by_layer);
}
