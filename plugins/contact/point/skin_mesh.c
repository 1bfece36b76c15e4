// SPDX-License-Identifier: Apache-2.0
// A skin against a mesh or height field that stands still. Its vertices are balls and its edges capsules, which the
// surface knows; and peaks of the surface, corners with a convex edge or on a border, meet triangles from outside.
#include "skin.h"

#include <stiction/random.h>

#include "surface.h"

typedef struct look {
    skin *skin;
    posed body;
    double margin;
    stn_aabb box; // that triangles have to meet
    surface_points *points;
    skin_sink *sink;
    // of one triangle, in the frame of the mesh
    int32_t triangle;
    skin_facet facet;
} look;

static uint64_t feature_of(const witness *w) {
    return stn_random_mix(((uint64_t)w->feature_a << 32 | w->feature_b) + 1);
}

static void meet_vertex(const look *s, int32_t id) {
    const stn_shape ball = {.type = STN_SHAPE_SPHERE, .radius = s->skin->face->thickness};
    const stn_pose pose = {stn_mat3_identity(), s->skin->at[id]};
    collide_surface((posed){&ball, &pose}, s->body, s->margin, s->points);
    for (int32_t g = 0; g < s->points->group_count; g++) {
        for (int32_t i = 0; i < s->points->group[g].count; i++) {
            const witness *w = &s->points->group[g].points[i];
            if (skin_vertex_admits(s->skin, id, w->normal, skin_slack_at(s->skin, w->phi))) {
                const skin_part part = skin_vertex_part(s->skin, id);
                skin_add(s->sink, &part, NULL, w->b, w->normal, feature_of(w));
            }
        }
    }
}

/// Does an edge without thickness overlap the mesh where the two cross? Nothing of a line tells on which side the body
/// is: of a solid its surface does.
static bool is_overlap(const skin *s, const witness *w) {
    return s->face->solid && skin_has(s, w->b, -w->phi, 1e-9 * s->size);
}

static void meet_edge(const look *s, int32_t edge) {
    const int32_t *v = s->skin->face->edge + 2 * (size_t)edge;
    stn_vec3 p = s->skin->at[v[0]], d = stn_vec3_sub(s->skin->at[v[1]], p);
    stn_vec3 z = stn_vec3_normalize_or(d, stn_vec3_zero());
    double length = stn_vec3_norm(d);
    if (!(stn_vec3_dot(z, z) > 0.5)) {
        return;
    }
    const stn_shape capsule = {
        .type = STN_SHAPE_CAPSULE, .radius = s->skin->face->thickness, .half_length = 0.5 * length};
    const stn_pose pose = {stn_contact_frame(z), stn_vec3_mul_add(p, 0.5, d)};
    collide_surface((posed){&capsule, &pose}, s->body, s->margin, s->points);
    for (int32_t g = 0; g < s->points->group_count; g++) {
        for (int32_t i = 0; i < s->points->group[g].count; i++) {
            const witness *w = &s->points->group[g].points[i];
            stn_vec3 core = stn_vec3_mul_add(w->a, -capsule.radius, w->normal);
            double t = stn_vec3_dot(stn_vec3_sub(core, p), z) / length;
            if (t > skin_tiny && t < 1.0 - skin_tiny && skin_edge_admits(s->skin, edge, w->normal, skin_slack) &&
                (w->phi >= 0.0 || capsule.radius > 0.0 || is_overlap(s->skin, w))) {
                const skin_part part = skin_edge_part(s->skin, edge, t);
                skin_add(s->sink, &part, NULL, w->b, w->normal, feature_of(w));
            }
        }
    }
}

static stn_vec3 corner_of(const stn_mesh *mesh, int32_t edge) {
    const double *p = mesh->vertices + 3 * (size_t)mesh->triangles[edge];
    return stn_vec3_make(p[0], p[1], p[2]);
}

/// Is the corner where `edge` begins a peak that no triangle before this one has? `up`: the sum of the normals there.
static bool is_first_peak(const stn_mesh *mesh, int32_t edge, stn_vec3 *up) {
    enum { MOST = 256 };
    const int32_t *across = stn_mesh_across(mesh);
    stn_vec3 p = corner_of(mesh, edge);
    bool peak = false;
    *up = stn_vec3_zero();
    int32_t at = edge, start = edge;
    for (int32_t i = 0; i < MOST && across[at] >= 0; i++) { // to a border, if there is one
        int32_t next = across[at] / 3 * 3 + (across[at] + 1) % 3;
        if (next == edge) {
            break;
        }
        start = at = next;
    }
    at = start;
    for (int32_t i = 0; i < MOST; i++) {
        if (at / 3 < edge / 3) {
            return false; // that one has it
        }
        stn_vec3 n = stn_mesh_triangle_normal(mesh, at / 3);
        *up = stn_vec3_add(*up, n);
        int32_t behind = at / 3 * 3 + (at + 2) % 3, other = across[at];
        if (other < 0) {
            peak = true;
        } else {
            stn_vec3 q = corner_of(mesh, other / 3 * 3 + (other + 2) % 3), d = stn_vec3_sub(q, p);
            peak = peak || stn_vec3_dot(n, d) < -1e-9 * stn_vec3_norm(d);
        }
        at = across[behind];
        if (at < 0 || at == start) {
            peak = peak || at < 0;
            break;
        }
    }
    return peak;
}

/// Below the triangle a peak has to be in the way: its foot inside of the mesh, and not much nearer to anything else.
static bool is_through(const stn_mesh *mesh, stn_vec3 foot, double depth) {
    stn_mesh_point at;
    if (!stn_mesh_nearest(mesh, foot, INFINITY, &at)) {
        return false;
    }
    stn_vec3 out = stn_vec3_sub(foot, at.point);
    return stn_vec3_dot(out, stn_mesh_triangle_normal(mesh, at.triangle)) < 0.0 && at.distance >= 0.1 * depth;
}

static bool meet_peaks(void *user, int32_t triangle) {
    const look *s = user;
    const stn_mesh *mesh = s->body.shape->mesh;
    const skin_facet *f = &s->facet;
    for (int32_t k = 0; k < 3; k++) {
        stn_vec3 p = corner_of(mesh, 3 * triangle + k), up;
        double weight[3];
        skin_nearest_on(f->corner, p, weight);
        if (!(weight[0] > skin_tiny && weight[1] > skin_tiny && weight[2] > skin_tiny) ||
            !is_first_peak(mesh, 3 * triangle + k, &up)) {
            continue;
        }
        bool solid = s->skin->face->solid;
        double side = stn_vec3_dot(f->normal, up) <= 0.0 || solid ? 1.0 : -1.0;
        stn_vec3 m = stn_vec3_scale(side, f->normal);
        double height = stn_vec3_dot(m, stn_vec3_sub(p, f->corner[0]));
        stn_vec3 foot = stn_vec3_mul_add(p, -height, m);
        stn_vec3 world = stn_pose_apply(s->body.pose, p);
        if ((solid && stn_vec3_dot(m, up) > 0.0) || (height < 0.0 && !is_through(mesh, foot, -height))) {
            continue;
        }
        double distance = 0.0;
        if (height < 0.0 && solid &&
            (!skin_holds(s->skin, world, 2.0 * -height, &distance) || -height > 1.001 * distance)) {
            continue;
        }
        const skin_part part = skin_face_part(s->skin, s->triangle, weight);
        skin_add(s->sink, &part, NULL, world, stn_mat3_apply(&s->body.pose->rotation, m),
                 stn_random_mix((uint64_t)(uint32_t)mesh->triangles[3 * (size_t)triangle + (size_t)k] + 1));
    }
    return s->sink->status == STN_OK;
}

static void meet_face(look *s, int32_t triangle) {
    skin_facet f;
    skin_facet_of(s->skin, triangle, &f);
    if (!(stn_vec3_dot(f.normal, f.normal) > 0.5)) {
        return;
    }
    for (int32_t k = 0; k < 3; k++) {
        s->facet.corner[k] = stn_pose_apply_inverse(s->body.pose, f.corner[k]);
    }
    s->facet.normal = stn_mat3_apply_transposed(&s->body.pose->rotation, f.normal);
    s->triangle = triangle;
    stn_aabb box = skin_box_of(s->facet.corner, 3, s->skin->face->thickness + s->margin);
    stn_mesh_visit(s->body.shape->mesh, &box, meet_peaks, s);
}

static void meet(void *user, int32_t triangle) {
    look *s = user;
    const stn_surface *face = s->skin->face;
    for (int32_t k = 0; k < 3 && s->sink->status == STN_OK; k++) {
        size_t corner = 3 * (size_t)triangle + (size_t)k;
        int32_t id = face->triangle[corner], edge = face->triangle_edge[corner];
        if (face->vertex_owner[id] == triangle) {
            meet_vertex(s, id);
        }
        if (face->edge_triangle[2 * (size_t)edge] == triangle) {
            meet_edge(s, edge);
        }
    }
    if (s->sink->status == STN_OK) {
        meet_face(s, triangle);
    }
}

void skin_against_mesh(skin *a, posed b, skin_sink *sink) {
    look s = {.skin = a, .body = b, .margin = sink->margin, .sink = sink};
    s.points = STN_ARENA(sink->scene->arena, 1, surface_points);
    if (s.points == NULL) {
        sink->status = stn_fail(sink->err, STN_ERR_MEMORY, "out of memory for the points of a surface");
        return;
    }
    s.points->limit = MANIFOLD_CAPACITY;
    if (sink->margin > a->size) { // asked from far away: what is nearest is enough
        double least = INFINITY;
        for (int32_t i = 0; i < a->face->vertex_count; i++) {
            stn_mesh_point at;
            stn_vec3 p = stn_pose_apply_inverse(b.pose, a->at[i]);
            least = stn_mesh_nearest(b.shape->mesh, p, least, &at) ? at.distance : least;
        }
        s.margin = sink->margin = fmax(fmin(sink->margin, least + 1e-6 * a->size), a->size);
    }
    s.box = stn_shape_aabb(b.shape, b.pose, s.margin + a->face->thickness);
    skin_visit(a, &s.box, meet, &s);
}
