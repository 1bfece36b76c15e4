// SPDX-License-Identifier: Apache-2.0
// A field and a rigid surface: the surface itself, where it lies inside of the field. Each triangle is clipped by each
// tetrahedron; pressure and slope are those of the field.
#include "cut.h"

typedef struct meeting {
    face_sink *sink;
    const posed *m, *n;
    stn_pose mn; // X_MN
} meeting;

static stn_status meet_cell_and_facet(void *user, int32_t i, int32_t j) {
    const meeting *w = user;
    const cell *m = &w->m->solid->cells[i];
    const facet *n = &w->n->solid->facets[j];
    pressure p = cell_pressure(m, w->m->modulus);
    stn_vec3 normal = stn_mat3_apply(&w->mn.rotation, n->normal), first = stn_pose_apply(&w->mn, n->corner[0]);
    double slope = stn_vec3_dot(p.gradient, normal), steep = stn_vec3_norm(p.gradient), height[4];
    double weight = steep > 0.0 ? face_weight(slope, steep) : 0.0;
    for (int32_t k = 0; k < 4; k++) {
        height[k] = stn_vec3_dot(normal, stn_vec3_sub(cell_corner(m, k), first));
    }
    if (weight == 0.0 || !passes_between(height, CUT_LEVEL * m->size)) {
        return STN_OK;
    }
    polygon cut = {3, {first, stn_pose_apply(&w->mn, n->corner[1]), stn_pose_apply(&w->mn, n->corner[2])}};
    static const stn_pose here = {{{{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}}}, {0.0, 0.0, 0.0}};
    polygon_clip_cell(&cut, m, &here, CUT_LEVEL * m->size);
    return face_add(w->sink, &cut, normal, &p, face_slope(slope, steep), weight, fmin(m->size, n->size), i, j);
}

stn_status meet_facets(face_sink *sink, const posed *m, const posed *n) {
    meeting w = {sink, m, n, pose_between(m->pose, n->pose)};
    sink->frame = *m->pose;
    return tree_meet(&m->solid->tree, &n->solid->tree, &w.mn, 0.0, meet_cell_and_facet, &w);
}
