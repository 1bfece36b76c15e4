// SPDX-License-Identifier: Apache-2.0
// A skin against a mesh or height field that stands still. Its vertices are balls and its edges capsules, which the
// surface knows, but for what only the skin tells: which ways out its vertices and edges can take. Peaks of the mesh
// are in skin_peak.c.
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
} look;

static uint64_t feature_of(const witness *w) {
    return stn_random_mix(((uint64_t)w->feature_a << 32 | w->feature_b) + 1);
}

/// Where an edge of the mesh begins.
static stn_vec3 corner_of(const stn_mesh *mesh, int32_t edge) {
    const double *p = mesh->vertices + 3 * (size_t)mesh->triangles[edge];
    return stn_vec3_make(p[0], p[1], p[2]);
}

/// A triangle of the mesh in the world.
static void facet_of(const posed *body, int32_t triangle, skin_facet *out) {
    const stn_mesh *mesh = body->shape->mesh;
    for (int32_t k = 0; k < 3; k++) {
        out->corner[k] = stn_pose_apply(body->pose, corner_of(mesh, 3 * triangle + k));
    }
    out->normal = stn_mat3_apply(&body->pose->rotation, stn_mesh_triangle_normal(mesh, triangle));
}

/// The nearest triangle of the mesh that is admitted.
typedef struct search {
    const posed *body;
    stn_vec3 p; // in the world
    skin_admits *admits;
    const void *user;
    double distance;
    int32_t triangle; // -1: none
} search;

static bool look_at(void *user, int32_t triangle) {
    search *s = user;
    skin_facet f;
    double weight[3];
    facet_of(s->body, triangle, &f);
    skin_nearest_on(f.corner, s->p, weight);
    stn_vec3 off = s->p;
    for (int32_t k = 0; k < 3; k++) {
        off = stn_vec3_mul_add(off, -weight[k], f.corner[k]);
    }
    const double distance = stn_vec3_norm(off);
    if (distance < s->distance && s->admits(s->user, &f)) {
        s->distance = distance;
        s->triangle = triangle;
    }
    return true;
}

/// search->distance: none further away; of what is found, its own.
static bool find_nearest(search *s) {
    s->triangle = -1;
    stn_mesh_visit_ball(s->body->shape->mesh, stn_pose_apply_inverse(s->body->pose, s->p), s->distance, look_at, s);
    return s->triangle >= 0;
}

/// Is a point behind the mesh: inside of a closed one, below an open one? Not further from it than what looks for a way
/// out there. As skin_sinks.
static bool sinks(const look *s, stn_vec3 p, skin_sunk *out) {
    const surface mesh = {.mesh = s->body.shape->mesh,
                          .across = stn_mesh_across(s->body.shape->mesh),
                          .filled = s->body.shape->type == STN_SHAPE_HEIGHT_FIELD};
    const double touch = 1e-9 * s->skin->size, far = skin_far * s->skin->size;
    const stn_vec3 local = stn_pose_apply_inverse(s->body.pose, p);
    stn_mesh_point at = {.distance = (double)INFINITY};
    bool below = false;
    const bool behind = surface_is_behind(&mesh, local, far, &at, &below);
    *out = (skin_sunk){at.distance, below ? far : 2.0 * at.distance + touch};
    return behind || at.distance <= touch;
}

/// Has most of the skin passed the plane across n through p? Then it is felt no more, as rigid bodies are not.
static bool is_passed(const skin *a, stn_vec3 n, stn_vec3 p) {
    const stn_aabb *box = &a->node[0].box;
    const stn_vec3 middle = stn_vec3_scale(0.5, stn_vec3_add(box->lower, box->upper)),
                   half = stn_vec3_scale(0.5, stn_vec3_sub(box->upper, box->lower));
    const double height = stn_vec3_dot(n, stn_vec3_sub(middle, p)),
                 reach = fabs(n.x) * half.x + fabs(n.y) * half.y + fabs(n.z) * half.z;
    return height < -0.5 * reach;
}

/// Is a vertex below a point of an open mesh because its body reaches through? Not where it came past the border. That
/// point is inside of the body, or an edge of the vertex pierces the mesh.
static bool reaches_through(const look *s, int32_t id, stn_vec3 on_mesh, double depth) {
    const skin *a = s->skin;
    const stn_vec3 p = a->at[id], local = stn_pose_apply_inverse(s->body.pose, p);
    bool through = a->face->solid && skin_has(a, on_mesh, depth, 1e-9 * a->size);
    for (int32_t i = a->beside_start[id]; i < a->beside_start[id + 1] && !through; i++) {
        const stn_vec3 along = stn_mat3_apply_transposed(&s->body.pose->rotation, stn_vec3_sub(a->at[a->beside[i]], p));
        const double length = stn_vec3_norm(along);
        stn_mesh_point hit;
        through = length > 0.0 &&
                  stn_mesh_raycast(s->body.shape->mesh, local, stn_vec3_scale(1.0 / length, along), length, &hit);
    }
    return through;
}

/// The way out of the mesh for a vertex behind it: over the nearest triangle that it can face, looked for further and
/// further away. That is where it is nearest, but beside a rim.
static bool leaves_over_triangle(const look *s, int32_t id, const skin_sunk *sunk, witness *w) {
    const double tolerance = 1e-9 * s->skin->size, most = sunk->within;
    const skin_vertex_way way = {s->skin, id, tolerance, skin_slack_at(s->skin, -sunk->depth)};
    const stn_vec3 p = s->skin->at[id];
    for (double within = 2.0 * sunk->depth + tolerance; within < 2.0 * most; within *= 2.0) {
        search found = {&s->body, p, skin_vertex_leaves_over, &way, fmin(within, most), -1};
        if (find_nearest(&found)) {
            skin_facet f;
            facet_of(&s->body, found.triangle, &f);
            const double below = stn_vec3_dot(f.normal, stn_vec3_sub(f.corner[0], p));
            const double r = s->skin->face->thickness;
            const stn_vec3 on_mesh = stn_vec3_mul_add(p, below, f.normal), m = stn_vec3_neg(f.normal);
            *w = (witness){stn_vec3_mul_add(p, r, m), on_mesh, m, -below - r, 0, (uint32_t)found.triangle};
            const bool open = s->body.shape->type == STN_SHAPE_MESH && !(s->body.shape->mesh->solid.mass > 0.0);
            return below <= 0.5 * skin_deep * s->skin->size ||
                   (!is_passed(s->skin, f.normal, f.corner[0]) && (!open || reaches_through(s, id, on_mesh, below)));
        }
    }
    return false;
}

static void add_vertex(const look *s, int32_t id, const witness *w) {
    const skin_part part = skin_vertex_part(s->skin, id);
    skin_add(s->sink, &part, NULL, w->b, w->normal, feature_of(w));
}

static void meet_vertex(const look *s, int32_t id) {
    const stn_shape ball = {.type = STN_SHAPE_SPHERE, .radius = s->skin->face->thickness};
    const stn_pose pose = {stn_mat3_identity(), s->skin->at[id]};
    skin_sunk sunk;
    bool out = false;
    collide_surface((posed){&ball, &pose}, s->body, s->margin, s->points);
    for (int32_t g = 0; g < s->points->group_count; g++) {
        for (int32_t i = 0; i < s->points->group[g].count; i++) {
            const witness *w = &s->points->group[g].points[i];
            if (skin_vertex_admits(s->skin, id, w->normal, skin_slack_at(s->skin, w->phi))) {
                add_vertex(s, id, w);
                out = out || w->phi + ball.radius <= 1e-9 * s->skin->size;
            }
        }
    }
    witness behind;
    if (!out && sinks(s, s->skin->at[id], &sunk) && leaves_over_triangle(s, id, &sunk, &behind)) {
        add_vertex(s, id, &behind);
    }
}

static int32_t next_of(int32_t edge) {
    return edge / 3 * 3 + (edge + 1) % 3;
}

/// Does an edge of the mesh go on at its end, in about its direction?
static bool goes_on(const surface *s, int32_t edge) {
    const int32_t *id = s->mesh->triangles;
    const stn_vec3 end = surface_vertex(s, id[next_of(edge)]), d = stn_vec3_sub(end, surface_vertex(s, id[edge]));
    fan around;
    surface_fan(s, next_of(edge), &around);
    for (int32_t i = 0; i < around.count; i++) {
        const int32_t leaves = around.edge[i], far[2] = {id[next_of(leaves)], id[next_of(next_of(leaves))]};
        for (int32_t k = 0; k < 2; k++) { // both sides of the triangle, for the last one at a border
            if (skin_edge_is_ahead(d, stn_vec3_sub(surface_vertex(s, far[k]), end))) {
                return true;
            }
        }
    }
    return false;
}

static void mesh_edge_ends(const posed *body, int32_t edge, stn_vec3 end[2]) {
    end[0] = stn_pose_apply(body->pose, corner_of(body->shape->mesh, edge));
    end[1] = stn_pose_apply(body->pose, corner_of(body->shape->mesh, next_of(edge)));
}

/// An edge of the mesh in the world.
static void mesh_edge_of(const posed *body, int32_t edge, skin_edge *out) {
    const surface s = {.mesh = body->shape->mesh, .across = stn_mesh_across(body->shape->mesh)};
    const int32_t sides[2] = {edge, s.across[edge]};
    *out = (skin_edge){.solid = true};
    mesh_edge_ends(body, edge, out->end);
    for (int32_t k = 0; k < 2 && sides[k] >= 0; k++) {
        skin_facet f;
        facet_of(body, sides[k] / 3, &f);
        if (k == 0) {
            out->goes_on[1] = goes_on(&s, edge);
        } else {
            out->goes_on[0] = goes_on(&s, sides[1]);
        }
        skin_edge_add_side(out, &f, f.corner[(sides[k] + 2) % 3]);
    }
}

/// An edge of a solid that looks for edges of the mesh which it lies below.
typedef struct crossing {
    const look *look;
    int32_t id;
    skin_edge edge;
    stn_aabb box; // around it, in the frame of the mesh
} crossing;

/// Do the two come out of the bodies across each other, `depth` below? Each point is inside of the other body, and no
/// way out over a triangle is much shorter.
static bool leave_across(const crossing *c, double t, const skin_edge *other, double u, double depth) {
    const look *s = c->look;
    const double tolerance = 1e-9 * s->skin->size;
    const skin_edge_way out = {&c->edge, t, skin_much * depth}, in = {other, u, skin_much * depth};
    const stn_vec3 p = skin_edge_point(&c->edge, t);
    search nearer = {&s->body, p, skin_edge_leaves_over, &out, out.length - tolerance, -1};
    skin_sunk sunk = {.depth = (double)INFINITY};
    return (sinks(s, p, &sunk) || sunk.depth <= tolerance + 0.1 * depth) &&
           (!(nearer.distance > 0.0) || !find_nearest(&nearer)) && skin_leaves_across(&in, s->skin);
}

static void cross_edge(const crossing *c, int32_t edge) {
    const look *s = c->look;
    const skin_edge *a = &c->edge;
    skin_edge b;
    double t, u;
    mesh_edge_ends(&s->body, edge, b.end);
    if (!skin_lines_cross(a->end, b.end, &t, &u)) {
        return;
    }
    const stn_vec3 d = stn_vec3_sub(a->end[1], a->end[0]), e = stn_vec3_sub(b.end[1], b.end[0]);
    const stn_vec3 q = skin_edge_point(&b, u), off = stn_vec3_sub(q, skin_edge_point(a, t)),
                   n = stn_vec3_normalize_or(stn_vec3_cross(d, e), off);
    const double apart = stn_vec3_dot(n, off), depth = fabs(apart);
    if (depth > 0.5 * fmin(stn_vec3_norm(d), stn_vec3_norm(e))) {
        return; // through a body, not across an edge of it
    }
    const stn_vec3 m = apart >= 0.0 ? stn_vec3_neg(n) : n;
    mesh_edge_of(&s->body, edge, &b);
    if (skin_edge_faces(a, m, skin_slack) && skin_edge_faces(&b, stn_vec3_neg(m), surface_slack) &&
        leave_across(c, t, &b, u, depth)) {
        const skin_part part = skin_edge_part(s->skin, c->id, t);
        skin_add(s->sink, &part, NULL, q, m, stn_random_mix((uint64_t)(uint32_t)edge + 4 * STN_RANDOM_STEP));
    }
}

static stn_aabb box_of_triangle(const stn_mesh *mesh, int32_t triangle) {
    stn_vec3 corner[3];
    for (int32_t k = 0; k < 3; k++) {
        corner[k] = corner_of(mesh, 3 * triangle + k);
    }
    return skin_box_of(corner, 3, 0.0);
}

static bool cross_edges(void *user, int32_t triangle) {
    const crossing *c = user;
    const stn_mesh *mesh = c->look->body.shape->mesh;
    const int32_t *across = stn_mesh_across(mesh) + 3 * (size_t)triangle;
    const stn_aabb own = box_of_triangle(mesh, triangle); // visits come by wider ones
    for (int32_t k = 0; k < 3 && skin_boxes_meet(&own, &c->box); k++) {
        const int32_t other = across[k] >= 0 ? across[k] / 3 : triangle;
        const stn_aabb box = box_of_triangle(mesh, other);
        if (other >= triangle || !skin_boxes_meet(&box, &c->box)) { // else that one has it
            cross_edge(c, 3 * triangle + k);
        }
    }
    return c->look->sink->status == STN_OK;
}

/// An edge that lies below one of the mesh runs through triangles beside that.
static void cross_mesh(const look *s, int32_t edge) {
    crossing c = {.look = s, .id = edge};
    skin_edge_of(s->skin, edge, &c.edge);
    const stn_vec3 ends[2] = {stn_pose_apply_inverse(s->body.pose, c.edge.end[0]),
                              stn_pose_apply_inverse(s->body.pose, c.edge.end[1])};
    c.box = skin_box_of(ends, 2, 1e-9 * s->skin->size);
    stn_mesh_visit(s->body.shape->mesh, &c.box, cross_edges, &c);
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
                (w->phi + capsule.radius >= 0.0 || !s->skin->face->solid)) {
                const skin_part part = skin_edge_part(s->skin, edge, t);
                skin_add(s->sink, &part, NULL, w->b, w->normal, feature_of(w));
            }
        }
    }
    if (s->skin->face->solid) { // a line does not tell on which side its body is
        cross_mesh(s, edge);
    }
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
}

void skin_against_mesh(skin *a, posed b, skin_sink *sink) {
    look s = {.skin = a, .body = b, .margin = sink->margin, .sink = sink};
    s.points = STN_ARENA(sink->scene->arena, 1, surface_points);
    if (s.points == NULL) {
        sink->status = stn_fail(sink->err, STN_ERR_MEMORY, "out of memory for the points of a surface");
        return;
    }
    s.points->limit = MANIFOLD_CAPACITY;
    s.points->wide = (double)INFINITY;                   // of its vertices and edges, which have no size
    if (!skin_is_step(sink) && sink->margin > a->size) { // asked from far away: what is nearest is enough
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
    skin_against_peaks(a, b, sink);
}
