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
    double margin;  // how far its layer goes on above the plane [m]
    double slope;   // E / H
} meeting;

static meeting meeting_of(face_sink *sink, const posed *body, const posed *half_space) {
    stn_pose b = pose_between(body->pose, half_space->pose);
    meeting w = {.sink = sink, .body = body, .up = stn_mat3_column(&b.rotation, 2)};
    w.offset = -stn_vec3_dot(w.up, b.position);
    w.slope = half_space->modulus / half_space->solid->depth;
    w.layer = (pressure){stn_vec3_scale(-w.slope, w.up), -w.slope * w.offset};
    w.margin = half_space->solid->fineness.margin;
    sink->frame = *body->pose;
    return w;
}

static void heights_of(const cell *c, stn_vec3 normal, double offset, double height[4]) {
    for (int32_t k = 0; k < 4; k++) {
        height[k] = stn_vec3_dot(normal, cell_corner(c, k)) + offset;
    }
}

static stn_status slice_by_plane(void *user, int32_t i) {
    const meeting *w = user;
    const cell *c = &w->body->solid->cells[i];
    pressure p = cell_pressure(c, w->body->modulus);
    double slope = stn_vec3_dot(p.gradient, w->up), steep = stn_vec3_norm(p.gradient), height[4];
    double weight = steep > 0.0 ? face_weight(slope, steep) : 0.0;
    heights_of(c, w->up, w->offset, height);
    if (weight == 0.0 || !passes_between(height, CUT_LEVEL * c->size)) {
        return STN_OK;
    }
    polygon cut;
    cell_slice(c, height, CUT_LEVEL * c->size, &cut);
    return face_add(w->sink, &cut, w->up, &p, face_slope(slope, steep), weight, c->size, i, 0);
}

stn_status meet_plane(face_sink *sink, const posed *m, const posed *n) {
    meeting w = meeting_of(sink, m, n);
    return tree_meet_plane(&m->solid->tree, w.up, w.offset, 0.0, 0.0, slice_by_plane, &w);
}

static stn_status slice_by_layer(void *user, int32_t i) {
    const meeting *w = user;
    const cell *c = &w->body->solid->cells[i];
    pressure p = cell_pressure(c, w->body->modulus);
    pressure excess = {stn_vec3_sub(p.gradient, w->layer.gradient), p.offset - w->layer.offset};
    double steep = stn_vec3_norm(excess.gradient), steep_m = stn_vec3_norm(p.gradient), height[4];
    if (!(steep > CUT_LEVEL * (steep_m + w->slope))) {
        return STN_OK;
    }
    stn_vec3 normal = stn_vec3_scale(1.0 / steep, excess.gradient);
    double into_m = stn_vec3_dot(p.gradient, normal), into_n = -stn_vec3_dot(w->layer.gradient, normal);
    double weight = face_weight(into_m, steep_m) * face_weight(into_n, w->slope);
    heights_of(c, normal, excess.offset / steep, height);
    if (weight == 0.0 || !passes_between(height, CUT_LEVEL * c->size)) {
        return STN_OK;
    }
    polygon cut;
    cell_slice(c, height, CUT_LEVEL * c->size, &cut);
    polygon_clip_plane(&cut, stn_vec3_neg(w->up), w->margin - w->offset, CUT_LEVEL * c->size);
    double gm = face_slope(into_m, steep_m), gn = face_slope(into_n, w->slope);
    return face_add(w->sink, &cut, normal, &p, gm * gn / (gm + gn), weight, c->size, i, 0);
}

stn_status meet_layer(face_sink *sink, const posed *m, const posed *n) {
    meeting w = meeting_of(sink, m, n);
    return tree_meet_plane(&m->solid->tree, w.up, w.offset, w.margin, (double)INFINITY, slice_by_layer, &w);
}

static stn_status clip_by_layer(void *user, int32_t i) {
    const meeting *w = user;
    const facet *f = &w->body->solid->facets[i];
    double slope = stn_vec3_dot(w->layer.gradient, f->normal), weight = face_weight(slope, w->slope);
    if (weight == 0.0) {
        return STN_OK;
    }
    polygon cut = {3, {f->corner[0], f->corner[1], f->corner[2]}};
    polygon_clip_plane(&cut, stn_vec3_neg(w->up), w->margin - w->offset, CUT_LEVEL * f->size);
    return face_add(w->sink, &cut, f->normal, &w->layer, face_slope(slope, w->slope), weight, f->size, 0, i);
}

stn_status meet_layer_facets(face_sink *sink, const posed *m, const posed *n) {
    meeting w = meeting_of(sink, n, m);
    return tree_meet_plane(&n->solid->tree, w.up, w.offset, w.margin, (double)INFINITY, clip_by_layer, &w);
}
