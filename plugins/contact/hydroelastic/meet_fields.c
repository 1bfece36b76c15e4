// SPDX-License-Identifier: Apache-2.0
// Two fields [elandt-2019]: in a pair of tetrahedra p_M = p_N is a plane; M's slice of it, clipped by N.
#include "cut.h"

/// Both fields, in M's frame.
typedef struct meeting {
    face_sink *sink;
    const posed *m, *n;
    stn_pose mn; // X_MN
} meeting;

static stn_status meet_cells(void *user, int32_t i, int32_t j) {
    const meeting *w = user;
    const cell *m = &w->m->solid->cells[i], *n = &w->n->solid->cells[j];
    pressure pm = cell_pressure(m, w->m->modulus), own = cell_pressure(n, w->n->modulus);
    pressure pn = pressure_seen(&own, &w->mn);
    pressure excess = {stn_vec3_sub(pm.gradient, pn.gradient), pm.offset - pn.offset};
    double steep = stn_vec3_norm(excess.gradient), steep_m = stn_vec3_norm(pm.gradient),
           steep_n = stn_vec3_norm(pn.gradient);
    if (!(steep > CUT_LEVEL * (steep_m + steep_n))) {
        return STN_OK;
    }
    stn_vec3 normal = stn_vec3_scale(1.0 / steep, excess.gradient);
    double offset = excess.offset / steep, height[4];
    for (int32_t k = 0; k < 4; k++) {
        height[k] = stn_vec3_dot(normal, stn_pose_apply(&w->mn, cell_corner(n, k))) + offset;
    }
    if (!passes_between(height, CUT_LEVEL * n->size)) {
        return STN_OK;
    }
    for (int32_t k = 0; k < 4; k++) {
        height[k] = stn_vec3_dot(normal, cell_corner(m, k)) + offset;
    }
    double into_m = stn_vec3_dot(pm.gradient, normal), into_n = -stn_vec3_dot(pn.gradient, normal);
    double weight = face_weight(into_m, steep_m) * face_weight(into_n, steep_n);
    if (weight == 0.0 || !passes_between(height, CUT_LEVEL * m->size)) {
        return STN_OK;
    }
    polygon cut;
    cell_slice(m, height, CUT_LEVEL * m->size, &cut);
    polygon_clip_cell(&cut, n, &w->mn, CUT_LEVEL * n->size);
    double gm = face_slope(into_m, steep_m), gn = face_slope(into_n, steep_n);
    return face_add(w->sink, &cut, normal, &pm, gm * gn / (gm + gn), weight, fmin(m->size, n->size), i, j);
}

stn_status meet_fields(face_sink *sink, const posed *m, const posed *n) {
    meeting w = {sink, m, n, pose_between(m->pose, n->pose)};
    sink->frame = *m->pose;
    return tree_meet(&m->solid->tree, &n->solid->tree, &w.mn, 0.0, meet_cells, &w);
}
