// SPDX-License-Identifier: Apache-2.0
// Two convex shapes are apart along a unit direction n by g(n) = min n . x over B - max n . x over A, and overlap by
// the least -g(n) of all directions. So one direction with g >= 0 proves that they are apart, and one with -g <= d that
// they overlap by no more than d. Where what is claimed does not prove it, the point of B - A nearest to the origin is
// looked for by a simplex of support points [gilbert-1988]; of shapes that overlap the depth is the least -g(n) that
// descents from the axes of both shapes come to.
#include "geometry/overlap.h"

/// A convex shape in the world, or the corners of a triangle.
typedef struct solid {
    const stn_shape *shape; // NULL: a triangle
    const stn_pose *pose;
    stn_vec3 corner[3];
} solid;

static stn_vec3 support(const solid *s, stn_vec3 d) {
    if (s->shape != NULL) {
        return stn_pose_apply(s->pose, stn_shape_support(s->shape, stn_mat3_apply_transposed(&s->pose->rotation, d)));
    }
    double along[3];
    for (int32_t k = 0; k < 3; k++) {
        along[k] = stn_vec3_dot(s->corner[k], d);
    }
    int32_t best = along[1] > along[0] ? 1 : 0;
    return s->corner[along[2] > along[best] ? 2 : best];
}

static stn_vec3 middle_of(const solid *s) {
    if (s->shape == NULL) {
        return stn_vec3_scale(1.0 / 3.0, stn_vec3_add(s->corner[0], stn_vec3_add(s->corner[1], s->corner[2])));
    }
    if (s->shape->mesh == NULL) {
        return s->pose->position;
    }
    stn_vec3 sum = stn_vec3_add(s->shape->mesh->bounds.lower, s->shape->mesh->bounds.upper);
    return stn_pose_apply(s->pose, stn_vec3_scale(0.5, sum));
}

/// The point of B - A that is least along a direction.
static stn_vec3 least(const solid *a, const solid *b, stn_vec3 n) {
    return stn_vec3_sub(support(b, stn_vec3_neg(n)), support(a, n));
}

/// How far a solid extends from its pose's position, along a unit direction.
static double reach(const solid *s, stn_vec3 n) {
    const stn_shape *shape = s->shape;
    if (shape->type == STN_SHAPE_SPHERE) {
        return shape->radius;
    }
    stn_vec3 d = stn_mat3_apply_transposed(&s->pose->rotation, n), h = shape->half_extents;
    switch (shape->type) {
    case STN_SHAPE_BOX:
        return fabs(d.x) * h.x + fabs(d.y) * h.y + fabs(d.z) * h.z;
    case STN_SHAPE_CAPSULE:
        return fabs(d.z) * shape->half_length + shape->radius;
    case STN_SHAPE_CYLINDER:
        return fabs(d.z) * shape->half_length + shape->radius * sqrt(d.x * d.x + d.y * d.y);
    case STN_SHAPE_ELLIPSOID:
        return stn_vec3_norm(stn_vec3_make(d.x * h.x, d.y * h.y, d.z * h.z));
    default:
        return stn_vec3_dot(d, stn_shape_support(shape, d));
    }
}

static double gap(const solid *a, const solid *b, stn_vec3 n) {
    if (a->shape == NULL || b->shape == NULL) {
        return stn_vec3_dot(n, least(a, b, n));
    }
    stn_vec3 between = stn_vec3_sub(b->pose->position, a->pose->position);
    return stn_vec3_dot(n, between) - reach(a, n) - reach(b, stn_vec3_neg(n));
}

// ---------------------------------------------------------------------------------------------------- separation

/// The point of a corner, edge or triangle nearest to the origin; keeps the corners that carry it.
static stn_vec3 nearest_on(stn_vec3 *w, int32_t *count) {
    if (*count == 2) {
        stn_vec3 d = stn_vec3_sub(w[1], w[0]);
        double t = -stn_vec3_dot(w[0], d), length2 = stn_vec3_dot(d, d);
        if (t > 0.0 && t < length2) {
            return stn_vec3_mul_add(w[0], t / length2, d);
        }
        w[0] = t > 0.0 ? w[1] : w[0];
        *count = 1;
    }
    if (*count == 1) {
        return w[0];
    }
    stn_vec3 n = stn_vec3_cross(stn_vec3_sub(w[1], w[0]), stn_vec3_sub(w[2], w[0]));
    bool inside = stn_vec3_dot(n, n) > 0.0;
    for (int32_t k = 0; k < 3; k++) {
        inside = inside && stn_vec3_dot(stn_vec3_cross(w[k], w[(k + 1) % 3]), n) > 0.0;
    }
    if (inside) {
        return stn_vec3_scale(stn_vec3_dot(n, w[0]) / stn_vec3_dot(n, n), n);
    }
    stn_vec3 best = {0}, kept[2] = {{0}};
    double least2 = INFINITY;
    int32_t best_count = 0;
    for (int32_t k = 0; k < 3; k++) {
        stn_vec3 side[2] = {w[k], w[(k + 1) % 3]};
        int32_t two = 2;
        stn_vec3 v = nearest_on(side, &two);
        if (stn_vec3_dot(v, v) < least2) {
            least2 = stn_vec3_dot(v, v);
            best = v;
            best_count = two;
            kept[0] = side[0];
            kept[1] = side[1];
        }
    }
    w[0] = kept[0];
    w[1] = kept[1];
    *count = best_count;
    return best;
}

/// The nearest point of a tetrahedron's faces; false: it holds the origin, and is not so flat that rounding says so.
static bool nearest_face(stn_vec3 *w, int32_t *count, stn_vec3 *v) {
    static const int32_t face[4][4] = {{0, 1, 2, 3}, {0, 3, 1, 2}, {0, 2, 3, 1}, {1, 3, 2, 0}}; // and what is opposite
    stn_vec3 best[3] = {{0}};
    double least2 = INFINITY;
    bool holds = true;
    for (int32_t k = 0; k < 4; k++) {
        stn_vec3 f[3] = {w[face[k][0]], w[face[k][1]], w[face[k][2]]};
        stn_vec3 n = stn_vec3_cross(stn_vec3_sub(f[1], f[0]), stn_vec3_sub(f[2], f[0]));
        double high = stn_vec3_dot(n, stn_vec3_sub(w[face[k][3]], f[0])), inside = -stn_vec3_dot(n, f[0]);
        double flat = 1e-12 * stn_vec3_norm(n) * (stn_vec3_norm(f[0]) + stn_vec3_norm(f[1]) + stn_vec3_norm(f[2]));
        holds = holds && high * inside > 0.0 && fabs(high) > flat;
        int32_t corners = 3;
        stn_vec3 at = nearest_on(f, &corners);
        if (stn_vec3_dot(at, at) < least2) {
            least2 = stn_vec3_dot(at, at);
            *v = at;
            *count = corners;
            for (int32_t i = 0; i < 3; i++) {
                best[i] = f[i];
            }
        }
    }
    for (int32_t i = 0; i < 3; i++) {
        w[i] = best[i];
    }
    return !holds;
}

/// To a point from what is nearest to it of a solid, or of its middle where that is not easily told; zero inside.
static stn_vec3 from_solid(const solid *s, stn_vec3 point) {
    const stn_shape *shape = s->shape;
    if (shape != NULL && shape->type == STN_SHAPE_SPHERE) {
        return stn_vec3_sub(point, s->pose->position);
    }
    if (shape == NULL || shape->mesh != NULL || shape->type == STN_SHAPE_ELLIPSOID) {
        return stn_vec3_sub(point, middle_of(s));
    }
    stn_vec3 p = stn_mat3_apply_transposed(&s->pose->rotation, stn_vec3_sub(point, s->pose->position)), h = {0}, near;
    double scale = 1.0;
    if (shape->type == STN_SHAPE_BOX) {
        h = shape->half_extents;
    } else {
        h.z = shape->half_length;
    }
    near = stn_vec3_make(p.x < -h.x  ? -h.x
                         : p.x > h.x ? h.x
                                     : p.x,
                         p.y < -h.y  ? -h.y
                         : p.y > h.y ? h.y
                                     : p.y,
                         p.z < -h.z  ? -h.z
                         : p.z > h.z ? h.z
                                     : p.z);
    if (shape->type == STN_SHAPE_CYLINDER) {
        double away = sqrt(p.x * p.x + p.y * p.y);
        scale = away > shape->radius ? shape->radius / away : 1.0;
        near.x = scale * p.x;
        near.y = scale * p.y;
    }
    return stn_mat3_apply(&s->pose->rotation, stn_vec3_sub(p, near));
}

/// Most neighbours that are apart are so along the line to the middle of one from what is nearest to it of the other.
static bool are_plainly_apart(const solid *a, const solid *b) {
    for (int32_t i = 0; i < 2; i++) {
        stn_vec3 line = i == 0 ? from_solid(a, middle_of(b)) : stn_vec3_neg(from_solid(b, middle_of(a)));
        double length2 = stn_vec3_dot(line, line);
        if (length2 > 0.0 && gap(a, b, stn_vec3_scale(1.0 / sqrt(length2), line)) > 0.0) {
            return true;
        }
    }
    return false;
}

/// Is there a direction that separates them, or do they touch within `touching`?
static bool are_apart(const solid *a, const solid *b, double touching) {
    enum { MOST_STEPS = 100 };
    if (are_plainly_apart(a, b)) {
        return true;
    }
    stn_vec3 w[4] = {stn_vec3_sub(middle_of(b), middle_of(a))}, v = w[0];
    w[0] = v = least(a, b, stn_vec3_dot(v, v) > 0.0 ? v : stn_vec3_make(1.0, 0.0, 0.0));
    int32_t count = 1;
    for (int32_t step = 0; step < MOST_STEPS; step++) {
        double length2 = stn_vec3_dot(v, v);
        if (length2 <= touching * touching) {
            return false; // the search over directions tells how deep
        }
        stn_vec3 next = least(a, b, v);
        double along = stn_vec3_dot(v, next);
        if (along > 0.0 || length2 - along <= 1e-12 * length2) {
            return true;
        }
        w[count++] = next;
        if (count < 4) {
            v = nearest_on(w, &count);
        } else if (!nearest_face(w, &count, &v)) {
            return false;
        }
        if (!(stn_vec3_dot(v, v) < length2)) {
            return along >= -touching * sqrt(length2); // no nearer point can be told
        }
    }
    return false;
}

// --------------------------------------------------------------------------------------------------------- depth

/// From n along the slope of -g over the sphere to a smaller one.
static double descend(const solid *a, const solid *b, stn_vec3 n) {
    stn_vec3 w = least(a, b, n);
    double depth = -stn_vec3_dot(n, w), step = 0.5;
    for (int32_t i = 0; i < 60 && step > 1e-7; i++) {
        stn_vec3 side = stn_vec3_mul_add(w, depth, n); // across n
        double size = stn_vec3_norm(side);
        if (size == 0.0) {
            break;
        }
        stn_vec3 turned = stn_vec3_normalize_or(stn_vec3_mul_add(n, step / size, side), n);
        stn_vec3 there = least(a, b, turned);
        double other = -stn_vec3_dot(turned, there);
        if (other < depth) {
            n = turned;
            w = there;
            depth = other;
            step *= 1.5;
        } else {
            step *= 0.4;
        }
    }
    return depth;
}

/// Steps of a shrinking star of directions around n, where the slope tells nothing along a sharp ridge.
static double settle(const solid *a, const solid *b, stn_vec3 n, double depth) {
    for (double step = 0.3; step > 1e-8; step *= 0.6) {
        for (bool better = true; better;) {
            stn_mat3 frame = stn_contact_frame(n);
            stn_vec3 best = n;
            better = false;
            for (int32_t k = 0; k < 8; k++) {
                stn_vec3 side = stn_vec3_add(stn_vec3_scale(cos(0.25 * STN_PI * k + step), stn_mat3_column(&frame, 0)),
                                             stn_vec3_scale(sin(0.25 * STN_PI * k + step), stn_mat3_column(&frame, 1)));
                stn_vec3 turned = stn_vec3_normalize_or(stn_vec3_mul_add(n, step, side), n);
                double here = -gap(a, b, turned);
                better = better || here < depth - 1e-6 * fabs(depth) * step;
                best = here < depth ? turned : best;
                depth = here < depth ? here : depth;
            }
            n = best;
        }
    }
    return depth;
}

/// An upper bound of the depth; 0 where they are apart. From each start that is given, and thoroughly until one proves
/// `enough`.
static double search_depth(const solid *a, const solid *b, const overlap_claim *claim, double touching, double enough) {
    enum { STARTS = 16, SAMPLES = 40 };
    if (are_apart(a, b, touching)) {
        return 0.0;
    }
    stn_vec3 starts[STARTS], best = {0};
    // directions that shapes come apart along: axes of both, what joins their middles, the normal of a triangle
    const solid *both[2] = {a, b};
    int32_t count = 0;
    starts[count++] = stn_vec3_normalize_or(stn_vec3_sub(middle_of(b), middle_of(a)), stn_vec3_make(0.0, 0.0, 1.0));
    for (int32_t i = 0; i < 2; i++) {
        const solid *s = both[i];
        for (int32_t k = 0; k < 3 && s->shape != NULL; k++) {
            starts[count++] = stn_mat3_column(&s->pose->rotation, k);
        }
        if (s->shape == NULL) {
            stn_vec3 n =
                stn_vec3_cross(stn_vec3_sub(s->corner[1], s->corner[0]), stn_vec3_sub(s->corner[2], s->corner[0]));
            starts[count++] = stn_vec3_normalize_or(n, starts[0]);
        }
    }
    for (int32_t i = 0, given = count; i < given; i++) {
        starts[count++] = stn_vec3_neg(starts[i]);
    }
    double depth = INFINITY;
    for (int32_t i = 0; i < count + claim->count; i++) {
        stn_vec3 n = i < count ? starts[i] : claim->normal[i - count];
        double here = -gap(a, b, n);
        best = here < depth ? n : best;
        depth = here < depth ? here : depth;
    }
    depth = depth > 0.0 ? descend(a, b, best) : depth;
    for (int32_t i = 0; i < count + SAMPLES && depth > enough && !claim->compliant;
         i++) { // then a spiral over the sphere
        int32_t k = i - count;
        double z = 1.0 - (2.0 * k + 1.0) / SAMPLES, rho = sqrt(fmax(1.0 - z * z, 0.0)), angle = 2.399963229728653 * k;
        stn_vec3 n = k < 0 ? starts[i] : stn_vec3_make(rho * cos(angle), rho * sin(angle), z);
        double here = -gap(a, b, n);
        depth = here < 4.0 * depth ? fmin(depth, settle(a, b, n, here)) : depth;
    }
    return depth > 0.0 ? depth : 0.0;
}

// ------------------------------------------------------------------------------------------------------ surfaces

static double size_of(const stn_shape *s) {
    return s->mesh != NULL ? stn_vec3_norm(stn_vec3_sub(s->mesh->bounds.upper, s->mesh->bounds.lower))
                           : s->radius + s->half_length + stn_vec3_norm(s->half_extents);
}

enum { CLAIMS = 16 };

enum { DIRECTIONS = CLAIMS + 12, FIRST_DIRECTIONS = 4 }; // that are kept; that parts are tried along

/// A shape against the triangles of a surface, in the mesh's frame.
typedef struct surface_look {
    const stn_mesh *mesh;
    solid body;
    overlap_claim claim; // with the normals below
    int32_t count;
    stn_vec3 normal[DIRECTIONS]; // claimed, from the body into the surface; the axes of the body; what parted others
    double reach[DIRECTIONS];    // of the body along them
    double touching, deepest;
} surface_look;

/// Direction i to the front: what comes next often comes out the same way.
static void prefer(surface_look *look, int32_t i) {
    stn_vec3 n = look->normal[i];
    double reach = look->reach[i];
    look->normal[i] = look->normal[0];
    look->reach[i] = look->reach[0];
    look->normal[0] = n;
    look->reach[0] = reach;
}

/// Does the whole part of the surface come out of the body along one direction?
static bool comes_out(void *user, const stn_mesh_part *part) {
    surface_look *look = user;
    for (int32_t i = 0; i < look->count && i < FIRST_DIRECTIONS; i++) {
        stn_vec3 n = look->normal[i];
        if (look->reach[i] - stn_vec3_dot(n, part->centre) + stn_mesh_part_reach(part, n) <= look->deepest) {
            prefer(look, i);
            return true;
        }
    }
    stn_vec3 line = from_solid(&look->body, part->centre);
    double length2 = stn_vec3_dot(line, line);
    if (!(length2 > 0.0)) {
        return false;
    }
    stn_vec3 n = stn_vec3_scale(1.0 / sqrt(length2), line);
    double along = stn_vec3_dot(n, look->body.pose->position) + reach(&look->body, n);
    if (!(along - stn_vec3_dot(n, part->centre) + stn_mesh_part_reach(part, n) <= look->deepest)) {
        return false;
    }
    int32_t at = look->count < DIRECTIONS ? look->count++ : DIRECTIONS - 1;
    look->normal[at] = n;
    look->reach[at] = along;
    return true;
}

static bool visit(void *user, int32_t triangle) {
    surface_look *look = user;
    solid t = {.shape = NULL};
    for (int32_t k = 0; k < 3; k++) {
        const double *p = look->mesh->vertices + 3 * (size_t)look->mesh->triangles[3 * (size_t)triangle + (size_t)k];
        t.corner[k] = stn_vec3_make(p[0], p[1], p[2]);
    }
    for (int32_t i = 0; i < look->count; i++) {
        stn_vec3 n = look->normal[i];
        double low = stn_vec3_dot(n, t.corner[0]), second = stn_vec3_dot(n, t.corner[1]),
               third = stn_vec3_dot(n, t.corner[2]);
        low = second < low ? second : low;
        low = third < low ? third : low;
        if (look->reach[i] - low <= look->deepest) {
            prefer(look, i);
            return true;
        }
    }
    stn_vec3 n = stn_vec3_cross(stn_vec3_sub(t.corner[1], t.corner[0]), stn_vec3_sub(t.corner[2], t.corner[0]));
    n = stn_vec3_normalize_or(n, stn_vec3_make(0.0, 0.0, 1.0));
    if (-gap(&look->body, &t, n) > look->deepest && -gap(&look->body, &t, stn_vec3_neg(n)) > look->deepest) {
        look->deepest = fmax(look->deepest, search_depth(&look->body, &t, &look->claim, look->touching, look->deepest));
    }
    return true;
}

/// Is a point, in the mesh's frame, inside a closed surface or below a height field?
static bool is_inside(const stn_shape *surface, stn_vec3 p) {
    const stn_mesh *mesh = surface->mesh;
    if (surface->type == STN_SHAPE_HEIGHT_FIELD) {
        return p.z < stn_grid_height(mesh, p.x, p.y);
    }
    stn_mesh_point hit;
    stn_vec3 up = stn_vec3_normalize_or(stn_vec3_make(0.0123, -0.0456, 1.0), stn_vec3_make(0.0, 0.0, 1.0));
    return mesh->solid.mass > 0.0 && stn_mesh_raycast(mesh, p, up, INFINITY, &hit) &&
           stn_vec3_dot(stn_mesh_triangle_normal(mesh, hit.triangle), up) > 0.0;
}

/// `side`: 1 where the claimed normals point from the body into the surface.
static double surface_overlap(posed_shape body, posed_shape surface, const overlap_claim *claim, double side) {
    const stn_mesh *mesh = surface.shape->mesh;
    stn_mat3 back = stn_mat3_transpose(&surface.pose->rotation);
    stn_pose pose = {stn_mat3_mul(&back, &body.pose->rotation),
                     stn_mat3_apply(&back, stn_vec3_sub(body.pose->position, surface.pose->position))};
    double touching = 1e-9 * (size_of(body.shape) + 1e-4 * stn_vec3_norm(pose.position));
    surface_look look = {.mesh = mesh,
                         .body = {.shape = body.shape, .pose = &pose},
                         .claim = {.depth = claim->depth,
                                   .compliant = claim->compliant,
                                   .count = claim->count < CLAIMS ? claim->count : CLAIMS},
                         .count = (claim->count < CLAIMS ? claim->count : CLAIMS) + 6,
                         .touching = touching,
                         .deepest = fmax(claim->depth, 0.0) * (1.0 + 1e-6) + touching};
    look.claim.normal = look.normal;
    for (int32_t i = 0; i < look.count; i++) {
        int32_t k = i - look.claim.count;
        look.normal[i] = k < 0 ? stn_mat3_apply(&back, stn_vec3_scale(side, claim->normal[i]))
                               : stn_vec3_scale(k % 2 == 0 ? 1.0 : -1.0, stn_mat3_column(&pose.rotation, k / 2));
        look.reach[i] = stn_vec3_dot(look.normal[i], support(&look.body, look.normal[i]));
    }
    double proved = look.deepest;
    stn_aabb box = stn_shape_aabb(body.shape, &pose, 0.0);
    stn_mesh_visit_parts(mesh, &box, comes_out, visit, &look);
    stn_vec3 middle = middle_of(&look.body);
    stn_mesh_point at;
    if (look.deepest <= proved && !(claim->depth > 0.0) && is_inside(surface.shape, middle) &&
        stn_mesh_nearest(mesh, middle, INFINITY, &at)) {
        look.deepest = fmax(look.deepest, at.distance);
    }
    return look.deepest > proved ? look.deepest : claim->depth;
}

// --------------------------------------------------------------------------------------------------------- pairs

static bool is_surface(const stn_shape *s) {
    return s->type == STN_SHAPE_MESH || s->type == STN_SHAPE_HEIGHT_FIELD;
}

static double half_space_overlap(posed_shape body, posed_shape half_space) {
    solid s = {.shape = body.shape, .pose = body.pose};
    stn_vec3 up = stn_mat3_column(&half_space.pose->rotation, 2);
    return stn_vec3_dot(up, stn_vec3_sub(half_space.pose->position, body.pose->position)) + reach(&s, stn_vec3_neg(up));
}

double shapes_overlap(posed_shape a, posed_shape b, const overlap_claim *claim) {
    bool endless_a = a.shape->type == STN_SHAPE_HALF_SPACE, endless_b = b.shape->type == STN_SHAPE_HALF_SPACE;
    bool surface_a = is_surface(a.shape), surface_b = is_surface(b.shape);
    if ((endless_a || surface_a) && (endless_b || surface_b)) {
        return claim->depth;
    }
    if (surface_a || surface_b) {
        return surface_a ? surface_overlap(b, a, claim, -1.0) : surface_overlap(a, b, claim, 1.0);
    }
    double proved = (claim->depth > 0.0 ? claim->depth : 0.0) * (1.0 + 1e-6), depth;
    if (endless_a || endless_b) {
        proved += 1e-9 * size_of(endless_a ? b.shape : a.shape);
        depth = endless_a ? half_space_overlap(b, a) : half_space_overlap(a, b);
    } else {
        solid s, t; // without corners, which triangles have
        s.shape = a.shape;
        s.pose = a.pose;
        t.shape = b.shape;
        t.pose = b.pose;
        double least = INFINITY, touching;
        for (int32_t i = 0; i < claim->count && least > proved; i++) {
            double here = -gap(&s, &t, claim->normal[i]);
            least = here < least ? here : least;
        }
        touching = least > proved ? 1e-9 * fmin(size_of(a.shape), size_of(b.shape)) : 0.0;
        proved += touching;
        if (least <= proved) {
            return claim->depth;
        }
        depth = search_depth(&s, &t, claim, touching, proved);
    }
    return depth > proved ? depth : claim->depth;
}
