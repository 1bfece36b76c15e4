// SPDX-License-Identifier: Apache-2.0
// Does a surface that has to meet itself run through itself at rest? Then an edge of it pierces a triangle. A fold that
// only lies near does not.
#include "skin.h"

typedef struct search {
    const skin *skin;
    stn_vec3 p, along;
    const int32_t *edge; // its vertices
    int32_t pierced;     // -1: no triangle yet
} search;

static void pierce(void *user, int32_t triangle) {
    search *s = user;
    const int32_t *v = s->skin->face->triangle + 3 * (size_t)triangle;
    for (int32_t k = 0; k < 6; k++) {
        if (v[k % 3] == s->edge[k / 3]) {
            return; // beside the edge
        }
    }
    skin_facet f;
    skin_facet_of(s->skin, triangle, &f);
    const double tiny = 1e-9 * s->skin->size, from = stn_vec3_dot(f.normal, stn_vec3_sub(s->p, f.corner[0])),
                 to = from + stn_vec3_dot(f.normal, s->along);
    if (!(fmin(from, to) < -tiny && fmax(from, to) > tiny)) {
        return;
    }
    double weight[3];
    stn_vec3 off = stn_vec3_mul_add(s->p, from / (from - to), s->along);
    skin_nearest_on(f.corner, off, weight);
    for (int32_t k = 0; k < 3; k++) {
        off = stn_vec3_mul_add(off, -weight[k], f.corner[k]);
    }
    s->pierced = stn_vec3_norm(off) <= tiny ? triangle : s->pierced;
}

void skin_warn_of_crossing(const stn_model *model, const skin *s) {
    const stn_surface *face = s->face;
    search look = {.skin = s, .pierced = -1};
    for (int32_t i = 0; i < face->edge_count && look.pierced < 0; i++) {
        look.edge = face->edge + 2 * (size_t)i;
        const stn_vec3 ends[2] = {s->at[look.edge[0]], s->at[look.edge[1]]};
        const stn_aabb box = skin_box_of(ends, 2, 0.0);
        look.p = ends[0];
        look.along = stn_vec3_sub(ends[1], ends[0]);
        skin_visit(s, &box, pierce, &look);
    }
    if (look.pierced < 0) {
        return;
    }
    const int32_t *v = face->triangle + 3 * (size_t)look.pierced, first = model->trees[face->tree].node_start;
    stn_log(
        model->context, STN_LOG_WARNING,
        "surface '%s' runs through itself at rest: the edge of nodes %d and %d pierces the triangle of nodes %d, %d "
        "and %d (counted from 0); what begins inside of itself stays there, self-collision or not: mend the mesh",
        model->geometries[face->geometry].name != NULL ? model->geometries[face->geometry].name : "",
        (int)(face->vertex[look.edge[0]] - first), (int)(face->vertex[look.edge[1]] - first),
        (int)(face->vertex[v[0]] - first), (int)(face->vertex[v[1]] - first), (int)(face->vertex[v[2]] - first));
}
