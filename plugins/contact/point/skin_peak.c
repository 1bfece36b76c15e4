// SPDX-License-Identifier: Apache-2.0
// Peaks of a mesh or height field against a skin: corners with a convex edge or on a border. From outside they meet the
// triangles that they stand over; inside of a solid a peak comes out over the nearest triangle that it can face.
#include "skin.h"

#include <stiction/random.h>

#include "surface.h"

typedef struct look {
    skin *skin;
    posed body;
    surface surface;
    double reach; // of the skin's core
    stn_aabb box; // that peaks have to be in, in the frame of the mesh
    skin_sink *sink;
    // of one peak
    int32_t vertex, edge; // of the mesh; one that leaves the vertex, at a border the first around it
    stn_vec3 at, up;      // in the world; up: the sum of the normals there
    double slack;
} look;

/// The edge that leaves the same vertex in the next triangle around it; -1: there is none, or that is the first again.
static int32_t next_around(const surface *s, int32_t edge, int32_t first) {
    const int32_t next = s->across[edge / 3 * 3 + (edge + 2) % 3];
    return next == first ? -1 : next;
}

/// Where the way around a vertex begins: at the border, if it has one, else anywhere.
static int32_t first_around(const surface *s, int32_t edge) {
    int32_t at = edge;
    for (int32_t i = 0; i < s->mesh->triangle_count && s->across[at] >= 0; i++) {
        const int32_t before = s->across[at] / 3 * 3 + (s->across[at] + 1) % 3;
        if (before == edge) {
            return edge;
        }
        at = before;
    }
    return at;
}

/// May a peak have a contact in direction d from the mesh, unit? That is where none of its edges leads nearer.
static bool admits(const look *s, stn_vec3 d, double slack) {
    const int32_t *id = s->surface.mesh->triangles;
    const stn_vec3 local = stn_mat3_apply_transposed(&s->body.pose->rotation, d),
                   p = surface_vertex(&s->surface, s->vertex);
    if (stn_vec3_dot(d, stn_vec3_normalize_or(s->up, stn_vec3_zero())) < -fmin(slack, skin_slack)) {
        return false; // into the mesh
    }
    int32_t edge = s->edge;
    for (int32_t i = 0; i < s->surface.mesh->triangle_count && edge >= 0; i++) {
        for (int32_t k = 1; k < 3; k++) { // both sides of each triangle, for the last one at a border
            const stn_vec3 far = surface_vertex(&s->surface, id[edge / 3 * 3 + (edge + k) % 3]),
                           along = stn_vec3_sub(far, p);
            if (stn_vec3_dot(local, along) > slack * stn_vec3_norm(along)) {
                return false;
            }
        }
        edge = next_around(&s->surface, edge, s->edge);
    }
    return true;
}

static bool leaves_over(const void *user, const skin_facet *f) {
    const look *s = user;
    double depth;
    return skin_lies_below(f, s->at, 1e-9 * s->skin->size, &depth) && admits(s, stn_vec3_neg(f->normal), s->slack);
}

static void add(const look *s, const skin_part *part, stn_vec3 m) {
    skin_add(s->sink, part, NULL, s->at, m, stn_random_mix((uint64_t)(uint32_t)s->edge + 1));
}

/// Below a triangle of a surface that is not solid a peak has to be in the way: its foot inside of the mesh, and not
/// much nearer to anything else.
static bool is_through(const look *s, stn_vec3 foot, double depth) {
    const stn_mesh *mesh = s->surface.mesh;
    const stn_vec3 local = stn_pose_apply_inverse(s->body.pose, foot);
    stn_mesh_point at;
    if (!stn_mesh_nearest(mesh, local, INFINITY, &at)) {
        return false;
    }
    const stn_vec3 out = stn_vec3_sub(local, at.point);
    return stn_vec3_dot(out, stn_mesh_triangle_normal(mesh, at.triangle)) < 0.0 && at.distance >= 0.1 * depth;
}

static void meet_outside(void *user, int32_t triangle) {
    const look *s = user;
    const bool solid = s->skin->face->solid;
    skin_facet f;
    double weight[3];
    skin_facet_of(s->skin, triangle, &f);
    skin_nearest_on(f.corner, s->at, weight);
    if (!(stn_vec3_dot(f.normal, f.normal) > 0.5) ||
        !(weight[0] > skin_tiny && weight[1] > skin_tiny && weight[2] > skin_tiny)) {
        return;
    }
    const stn_vec3 m = stn_vec3_scale(stn_vec3_dot(f.normal, s->up) <= 0.0 || solid ? 1.0 : -1.0, f.normal);
    const double height = stn_vec3_dot(m, stn_vec3_sub(s->at, f.corner[0]));
    const bool out = height >= 0.0 ? stn_vec3_dot(m, s->up) <= 0.0
                                   : !solid && is_through(s, stn_vec3_mul_add(s->at, -height, m), -height);
    if (out && s->sink->status == STN_OK) {
        const skin_part part = skin_face_part(s->skin, triangle, weight);
        add(s, &part, m);
    }
}

static void meet_peak(look *s) {
    const skin *a = s->skin;
    const stn_aabb near = skin_box_of(&s->at, 1, s->reach);
    skin_sunk sunk;
    if (!skin_sinks(a, s->at, skin_far * a->size, &sunk)) {
        skin_visit(a, &near, meet_outside, s);
        return;
    }
    s->slack = skin_slack_at(a, -sunk.depth);
    skin_part part;
    stn_vec3 normal;
    if (skin_way_out(a, s->at, sunk.within, leaves_over, s, &part, &normal)) {
        add(s, &part, normal);
    }
}

/// Is the corner where `edge` begins a peak that no triangle before this one has?
static bool is_first_peak(look *s, int32_t edge) {
    const stn_mesh *mesh = s->surface.mesh;
    const int32_t *across = s->surface.across;
    const stn_vec3 p = surface_vertex(&s->surface, mesh->triangles[edge]);
    bool peak = false;
    s->up = stn_vec3_zero();
    s->edge = first_around(&s->surface, edge);
    int32_t at = s->edge;
    for (int32_t i = 0; i < mesh->triangle_count && at >= 0; i++) {
        const int32_t other = across[at];
        if (at / 3 < edge / 3) {
            return false; // that one has it
        }
        const stn_vec3 n = stn_mesh_triangle_normal(mesh, at / 3);
        s->up = stn_vec3_add(s->up, n);
        peak = peak || other < 0 || across[at / 3 * 3 + (at + 2) % 3] < 0;
        if (!peak) {
            const int32_t far = mesh->triangles[other / 3 * 3 + (other + 2) % 3];
            const stn_vec3 d = stn_vec3_sub(surface_vertex(&s->surface, far), p);
            peak = stn_vec3_dot(n, d) < -1e-9 * stn_vec3_norm(d);
        }
        at = next_around(&s->surface, at, s->edge);
    }
    s->up = stn_mat3_apply(&s->body.pose->rotation, s->up);
    return peak;
}

static bool visit(void *user, int32_t triangle) {
    look *s = user;
    for (int32_t k = 0; k < 3; k++) {
        s->vertex = s->surface.mesh->triangles[3 * (size_t)triangle + (size_t)k];
        const stn_vec3 p = surface_vertex(&s->surface, s->vertex);
        const stn_aabb point = {p, p};
        if (skin_boxes_meet(&point, &s->box) && is_first_peak(s, 3 * triangle + k)) {
            s->at = stn_pose_apply(s->body.pose, p);
            meet_peak(s);
        }
    }
    return s->sink->status == STN_OK;
}

void skin_against_peaks(skin *a, posed b, skin_sink *sink) {
    look s = {.skin = a,
              .body = b,
              .surface = {.mesh = b.shape->mesh, .across = stn_mesh_across(b.shape->mesh)},
              .reach = a->face->thickness + sink->margin,
              .sink = sink};
    stn_vec3 local = stn_pose_apply_inverse(b.pose, a->at[0]);
    s.box = (stn_aabb){local, local};
    for (int32_t i = 1; i < a->face->vertex_count; i++) {
        local = stn_pose_apply_inverse(b.pose, a->at[i]);
        s.box.lower =
            stn_vec3_make(fmin(s.box.lower.x, local.x), fmin(s.box.lower.y, local.y), fmin(s.box.lower.z, local.z));
        s.box.upper =
            stn_vec3_make(fmax(s.box.upper.x, local.x), fmax(s.box.upper.y, local.y), fmax(s.box.upper.z, local.z));
    }
    const stn_vec3 all = {s.reach, s.reach, s.reach};
    s.box = (stn_aabb){stn_vec3_sub(s.box.lower, all), stn_vec3_add(s.box.upper, all)};
    stn_mesh_visit(b.shape->mesh, &s.box, visit, &s);
}
