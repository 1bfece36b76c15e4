// SPDX-License-Identifier: Apache-2.0
// Convex hulls: the signed distance by their corners alone, then the points where the two faces, caps or side lines
// that look along the normal overlap.
#include "piece.h"

enum { CODE_EDGE = 1 << 30 };
static const uint32_t code_face = 2U << 30;

/// One face, posed.
static void face_polygon(const stn_shape *hull, const stn_pose *pose, int32_t face, polygon *out) {
    const stn_mesh *mesh = hull->mesh;
    const stn_polytope *p = mesh->polytope;
    const double *plane = p->planes + 4 * (size_t)face;
    out->count = 0;
    out->normal = stn_mat3_apply(&pose->rotation, stn_vec3_make(plane[0], plane[1], plane[2]));
    out->face_code = code_face + (uint32_t)face;
    for (int32_t i = p->outline_start[face]; i < p->outline_start[face + 1]; i++) {
        int32_t v = p->face_vertices[p->outline[i]];
        const double *x = mesh->vertices + 3 * (size_t)v;
        out->corner[out->count] = stn_pose_apply(pose, stn_vec3_make(x[0], x[1], x[2]));
        out->corner_code[out->count] = (uint32_t)v;
        out->edge_code[out->count] = CODE_EDGE + (uint32_t)p->face_edges[p->outline[i]];
        out->count++;
    }
}

static double along_face(const stn_polytope *p, int32_t face, stn_vec3 d) {
    const double *plane = p->planes + 4 * (size_t)face;
    return d.x * plane[0] + d.y * plane[1] + d.z * plane[2];
}

enum { LEVEL_MAX = 16 };
typedef struct corner_list {
    int32_t count, corners[LEVEL_MAX];
    uint64_t bits; // corner % 64 of each
} corner_list;

static inline uint64_t bit_of(int32_t id) {
    return (uint64_t)1 << (id & 63);
}

static const double COS_BESIDE = 0.9995, SLOPE_BESIDE = 0.03, COS_STEEPEST = 0.05; // 0.03 rad; nearly upright

static bool has_corner(const corner_list *list, int32_t corner) {
    for (int32_t i = 0; i < list->count && (list->bits & bit_of(corner)) != 0; i++) {
        if (list->corners[i] == corner) {
            return true;
        }
    }
    return false;
}

/// The furthest corner along d and those that edges lead to from there which rise by no more than `slope`. Without
/// slope both ends of an edge across d, else rounding would choose the end.
/// `steeper`: whether an edge leads on from there that rises by more than `slope`, but by no more than SLOPE_BESIDE.
static void level_corners(const stn_shape *hull, stn_vec3 d, int32_t furthest, double slope, corner_list *list,
                          bool *steeper) {
    const stn_mesh *mesh = hull->mesh;
    const stn_polytope *p = mesh->polytope;
    const double level = 1e-8 * shape_size(hull);
    list->count = 1;
    list->corners[0] = furthest;
    list->bits = bit_of(furthest);
    *steeper = false;
    for (int32_t k = 0; k < list->count; k++) {
        int32_t from = list->corners[k];
        const double *v = mesh->vertices + 3 * (size_t)from;
        for (int32_t i = p->neighbour_start[from]; i < p->neighbour_start[from + 1] && list->count < LEVEL_MAX; i++) {
            const double *w = mesh->vertices + 3 * (size_t)p->neighbours[i];
            stn_vec3 edge = {w[0] - v[0], w[1] - v[1], w[2] - v[2]};
            const double rise = -stn_vec3_dot(edge, d) - level, length2 = stn_vec3_dot(edge, edge);
            if (rise > 0.0 && rise * rise > SLOPE_BESIDE * SLOPE_BESIDE * length2) {
                continue;
            }
            if (rise > 0.0 && rise * rise > slope * slope * length2) {
                *steeper = *steeper || !has_corner(list, p->neighbours[i]);
            } else if (!has_corner(list, p->neighbours[i])) {
                list->corners[list->count++] = p->neighbours[i];
                list->bits |= bit_of(p->neighbours[i]);
            }
        }
    }
}

static bool is_of_face(const stn_polytope *p, int32_t corner, int32_t face) {
    for (int32_t i = p->face_start[face]; i < p->face_start[face + 1]; i++) {
        if (p->face_vertices[i] == corner) {
            return true;
        }
    }
    return false;
}

/// faces_beside would find no other face: nothing else is level, no other face at the level corners looks along d, and
/// the sides between these are the face's own, which does.
static bool is_alone(const stn_polytope *p, int32_t face, const corner_list *level, double most, double second) {
    bool alone = !(second > COS_BESIDE) && level->count < LEVEL_MAX && (level->count == 1 || most > COS_BESIDE);
    for (int32_t k = 0; k < level->count && alone && level->count > 1; k++) {
        alone = is_of_face(p, level->corners[k], face);
    }
    return alone;
}

int32_t hull_face(const stn_shape *hull, const stn_pose *pose, stn_vec3 direction, bool *alone, polygon *out) {
    const stn_polytope *p = hull->mesh->polytope;
    stn_vec3 d = stn_mat3_apply_transposed(&pose->rotation, direction);
    const int32_t furthest = stn_mesh_support(hull->mesh, d);
    corner_list level;
    bool steeper;
    level_corners(hull, d, furthest, 0.0, &level, &steeper);
    int32_t face = -1;
    double most = -INFINITY, second = -INFINITY;
    for (int32_t k = 0; k < level.count; k++) { // of those at the corners the one that looks most along d
        int32_t corner = level.corners[k];
        for (int32_t i = p->vertex_face_start[corner]; i < p->vertex_face_start[corner + 1]; i++) {
            double along = along_face(p, p->vertex_faces[i], d);
            if (along > most) {
                second = most;
                most = along;
                face = p->vertex_faces[i];
            } else if (along > second && p->vertex_faces[i] != face) {
                second = along;
            }
        }
    }
    *alone = !steeper && is_alone(p, face, &level, most, second);
    out->count = 0;
    if (face >= 0) {
        face_polygon(hull, pose, face, out);
    }
    return furthest;
}

enum { BESIDE_MAX = 8 };
typedef struct face_list {
    int32_t count, faces[BESIDE_MAX];
} face_list;

static void add_face(face_list *list, int32_t face) {
    for (int32_t k = 0; k < list->count; k++) {
        if (list->faces[k] == face) {
            return;
        }
    }
    if (list->count < BESIDE_MAX) {
        list->faces[list->count++] = face;
    }
}

/// Both faces of the face's edges that lie level, unless one of these does itself.
static void add_across_edges(const stn_polytope *p, int32_t face, stn_vec3 d, const corner_list *level,
                             face_list *list) {
    const int32_t first = p->face_start[face], end = p->face_start[face + 1];
    bool here = has_corner(level, p->face_vertices[first]), next;
    for (int32_t i = first; i < end; i++, here = next) {
        next = has_corner(level, p->face_vertices[i + 1 < end ? i + 1 : first]);
        if (!here || !next) {
            continue;
        }
        const int32_t *edge = p->edges + 4 * (size_t)p->face_edges[i];
        if (!(along_face(p, edge[2], d) > COS_BESIDE) && !(along_face(p, edge[3], d) > COS_BESIDE)) {
            for (int32_t side = 2; side < 4; side++) {
                if (along_face(p, edge[side], d) > COS_STEEPEST) {
                    add_face(list, edge[side]);
                }
            }
        }
    }
}

/// The given face of a hull (hull_face) and those beside it that carry with it. A hull that leans on the ridge between
/// two faces rocks from one to the other by angles that are not seen, and two edges that cross at a small angle lie on
/// one face of each other on this side of the crossing, on the next one on that side.
static face_list faces_beside(const stn_shape *hull, const stn_pose *pose, stn_vec3 direction, int32_t furthest,
                              const polygon *face) {
    const stn_polytope *p = hull->mesh->polytope;
    stn_vec3 d = stn_mat3_apply_transposed(&pose->rotation, direction);
    face_list list = {1, {(int32_t)(face->face_code - code_face)}};
    corner_list level;
    bool steeper;
    level_corners(hull, d, furthest, SLOPE_BESIDE, &level, &steeper);
    const uint64_t once = p->face_count <= 64 ? ~(uint64_t)0 : 0; // faces by their bits, where each has one of its own
    uint64_t seen = 0, later[LEVEL_MAX], after = 0;               // later: bits of the faces at the corners behind
    for (int32_t k = level.count - 1; k >= 0; k--) {
        later[k] = after;
        for (int32_t i = p->vertex_face_start[level.corners[k]];
             k > 0 && i < p->vertex_face_start[level.corners[k] + 1]; i++) {
            after |= bit_of(p->vertex_faces[i]);
        }
    }
    for (int32_t k = 0; k < level.count; k++) {
        for (int32_t i = p->vertex_face_start[level.corners[k]]; i < p->vertex_face_start[level.corners[k] + 1]; i++) {
            int32_t other = p->vertex_faces[i];
            if ((seen & once & bit_of(other)) != 0) {
                continue;
            }
            seen |= bit_of(other);
            if (along_face(p, other, d) > COS_BESIDE) {
                add_face(&list, other);
            } else if ((later[k] & bit_of(other)) != 0) { // with an earlier level corner it has been looked at there
                add_across_edges(p, other, d, &level, &list);
            }
        }
    }
    return list;
}

void sphere_hull(posed a, posed b, double margin, manifold *out) {
    convex hull = {b.shape, stn_pose_identity()}, point = {a.shape, stn_pose_identity()};
    double r = a.shape->radius, least;
    separation s;
    point.pose.position = stn_pose_apply_inverse(b.pose, a.pose->position);
    if (!convex_apart(&point, &hull, margin + r, &s, &least)) {
        // inside: the plane of the hull furthest below the point is the nearest one
        const stn_polytope *p = b.shape->mesh->polytope;
        stn_vec3 centre = point.pose.position, outward = stn_vec3_zero();
        double most = -INFINITY;
        for (int32_t i = 0; i < p->face_count; i++) {
            const double *plane = p->planes + 4 * (size_t)i;
            double height = plane[0] * centre.x + plane[1] * centre.y + plane[2] * centre.z - plane[3];
            if (height > most) {
                most = height;
                outward = stn_vec3_make(plane[0], plane[1], plane[2]);
            }
        }
        s.phi = stn_vec3_dot(outward, stn_vec3_sub(centre, stn_shape_support(b.shape, outward)));
        s.b = stn_vec3_mul_add(centre, -s.phi, outward);
        s.normal = stn_vec3_neg(outward);
    } else if (!(least > margin + r) && s.phi - least > 1e-11 * shape_size(b.shape)) {
        s = convex_best(&point, &hull, &s);
    }
    if (!(s.phi - r > margin)) {
        stn_vec3 normal = stn_mat3_apply(&b.pose->rotation, s.normal);
        stn_vec3 on_a = stn_vec3_mul_add(a.pose->position, r, normal);
        manifold_add_both(out, on_a, stn_pose_apply(b.pose, s.b), normal, 0, 0);
    }
}

/// The corners of the lowest face and of those that are nearly as low, and the lowest one when it is none of them.
void hull_half_space(posed a, posed b, double margin, manifold *out) {
    stn_vec3 m = stn_mat3_column(&b.pose->rotation, 2), normal = stn_vec3_neg(m);
    stn_vec3 down = stn_mat3_apply_transposed(&a.pose->rotation, normal);
    const int32_t furthest = stn_mesh_support(a.shape->mesh, down);
    const double *v = a.shape->mesh->vertices + 3 * (size_t)furthest;
    stn_vec3 lowest = stn_pose_apply(a.pose, stn_vec3_make(v[0], v[1], v[2]));
    double phi = stn_vec3_dot(m, stn_vec3_sub(lowest, b.pose->position));
    if (phi > margin) {
        return;
    }
    polygon face;
    double depth = INFINITY;
    bool alone;
    hull_face(a.shape, a.pose, normal, &alone, &face);
    face_list list = {.count = face.count > 0};
    if (face.count > 0 && !alone) {
        list = faces_beside(a.shape, a.pose, normal, furthest, &face);
    }
    for (int32_t i = 0; i < list.count; i++) {
        if (!alone) {
            face_polygon(a.shape, a.pose, list.faces[i], &face);
        }
        for (int32_t k = 0; k < face.count; k++) {
            double height = stn_vec3_dot(normal, stn_vec3_sub(b.pose->position, face.corner[k]));
            bool known = height > margin;
            depth = fmin(depth, height);
            for (int32_t l = 0; l < out->count && !known; l++) {
                known = out->points[l].feature_a == face.corner_code[k];
            }
            if (!known) {
                manifold_add(out, face.corner[k], normal, height, face.corner_code[k], 0);
            }
        }
    }
    if (!(depth <= phi + 1e-10 * shape_size(a.shape))) {
        manifold_add(out, lowest, normal, phi, CODE_DEEPEST, 0);
    }
}

/// A capsule is its segment, and its radius is taken off in the end.
void convex_hull(posed a, posed b, double margin, manifold *out) {
    convex first = {a.shape, stn_pose_identity()}, second = {b.shape, relative_pose(a.pose, b.pose)};
    double radius = a.shape->type == STN_SHAPE_CAPSULE ? a.shape->radius : 0.0;
    separation s;
    if (a.shape->type != STN_SHAPE_CYLINDER || !cylinder_hull_separation(&first, &second, margin, &s)) {
        s = convex_separation(&first, &second, margin + radius);
    }
    s.phi -= radius;
    if (s.phi > margin) {
        return;
    }
    s.a = stn_vec3_mul_add(s.a, radius, s.normal);
    facing f;
    f.size = pair_size(a.shape, b.shape);
    f.margin = margin;
    face_along(&first, &second, s.normal, &f);
    // the faces beside those of `f` overlap, too; not on a cap, whose counterweight is in one plane (add_facing)
    bool hulls = f.a.kind == PIECE_POLYGON;
    if (f.points.count > 0 && (f.a.kind == PIECE_FACE || hulls) && !(f.b.alone && (!hulls || f.a.alone))) {
        face_list on_a = {.count = 1},
                  on_b = faces_beside(b.shape, &second.pose, stn_vec3_neg(s.normal), f.b.corner, &f.b.line);
        if (hulls) {
            on_a = faces_beside(a.shape, &first.pose, s.normal, f.a.corner, &f.a.line);
        }
        facing more; // its faces are written before they are read; of a box A's is always the same
        more.size = f.size;
        more.margin = f.margin;
        more.a.kind = f.a.kind;
        more.b.kind = f.b.kind;
        if (!hulls) {
            more.a.face = f.a.face;
        }
        for (int32_t i = 0; i < on_a.count && (on_a.count > 1 || on_b.count > 1); i++) {
            if (hulls) {
                face_polygon(a.shape, &first.pose, on_a.faces[i], &more.a.line);
            }
            for (int32_t k = i == 0; k < on_b.count; k++) {
                face_polygon(b.shape, &second.pose, on_b.faces[k], &more.b.line);
                facing_overlap(&more, s.normal);
                facing_join(&f, &more, s.normal);
            }
        }
    }
    add_facing(a, &f, &s, out);
}
