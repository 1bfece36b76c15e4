// SPDX-License-Identifier: Apache-2.0
// Skins: where their triangles are, the tree of boxes over them, and who carries a contact.
#include "skin.h"

#include <stdlib.h>
#include <string.h>

// ----------------------------------------------------------------------------------------------------------- tree

static stn_vec3 centre_of(const skin *s, const stn_vec3 *at, int32_t triangle) {
    const int32_t *v = s->face->triangle + 3 * (size_t)triangle;
    return stn_vec3_add(at[v[0]], stn_vec3_add(at[v[1]], at[v[2]]));
}

static double along(stn_vec3 p, int32_t axis) {
    return axis == 0 ? p.x : axis == 1 ? p.y : p.z;
}

/// Orders by the centres so that the lower half comes first (quickselect).
static void split(const skin *s, int32_t *order, int32_t count, int32_t axis) {
    int32_t first = 0, last = count - 1, left = count / 2;
    while (first < last) {
        double pivot = along(centre_of(s, s->face->rest, order[first + (last - first) / 2]), axis);
        int32_t i = first, j = last;
        while (i <= j) {
            while (along(centre_of(s, s->face->rest, order[i]), axis) < pivot) {
                i++;
            }
            while (along(centre_of(s, s->face->rest, order[j]), axis) > pivot) {
                j--;
            }
            if (i <= j) {
                int32_t t = order[i];
                order[i++] = order[j];
                order[j--] = t;
            }
        }
        if (left <= j) {
            last = j;
        } else if (left >= i) {
            first = i;
        } else {
            return;
        }
    }
}

static int32_t build(skin *s, int32_t first, int32_t count) {
    int32_t id = s->node_count++;
    s->node[id] = (skin_node){.first = first, .count = count, .right = -1};
    s->leaf_count += count <= SKIN_LEAF;
    if (count > SKIN_LEAF) {
        stn_vec3 low = centre_of(s, s->face->rest, s->order[first]), high = low;
        for (int32_t i = 1; i < count; i++) {
            stn_vec3 c = centre_of(s, s->face->rest, s->order[first + i]);
            low = stn_vec3_make(fmin(low.x, c.x), fmin(low.y, c.y), fmin(low.z, c.z));
            high = stn_vec3_make(fmax(high.x, c.x), fmax(high.y, c.y), fmax(high.z, c.z));
        }
        stn_vec3 side = stn_vec3_sub(high, low);
        int32_t axis = side.x >= side.y && side.x >= side.z ? 0 : side.y >= side.z ? 1 : 2;
        split(s, s->order + first, count, axis);
        build(s, first, count / 2);
        s->node[id].right = build(s, first + count / 2, count - count / 2);
    }
    return id;
}

static stn_aabb triangle_box(const skin *s, int32_t triangle) {
    const int32_t *v = s->face->triangle + 3 * (size_t)triangle;
    const stn_vec3 p[3] = {s->at[v[0]], s->at[v[1]], s->at[v[2]]};
    return skin_box_of(p, 3, 0.0);
}

static stn_vec3 normal_of(const skin *s, int32_t triangle) {
    const int32_t *v = s->face->triangle + 3 * (size_t)triangle;
    stn_vec3 a = stn_vec3_sub(s->at[v[1]], s->at[v[0]]), b = stn_vec3_sub(s->at[v[2]], s->at[v[0]]);
    stn_vec3 n = stn_vec3_cross(a, b);
    bool flat = !(stn_vec3_norm(n) > 1e-12 * (stn_vec3_dot(a, a) + stn_vec3_dot(b, b)));
    return flat ? stn_vec3_zero() : stn_vec3_normalize_or(n, stn_vec3_zero());
}

/// Children stand behind their parent, so one backward pass meets them first.
static void fit(skin *s) {
    for (int32_t i = 0; i < s->face->triangle_count; i++) {
        s->box[i] = triangle_box(s, s->order[i]);
        s->normal[i] = normal_of(s, i);
    }
    for (int32_t id = s->node_count - 1; id >= 0; id--) {
        skin_node *n = &s->node[id];
        if (n->right >= 0) {
            n->box = s->node[id + 1].box;
            n->box = skin_box_of_both(&n->box, &s->node[n->right].box);
            continue;
        }
        n->box = s->box[n->first];
        for (int32_t i = 1; i < n->count; i++) {
            n->box = skin_box_of_both(&n->box, &s->box[n->first + i]);
        }
    }
}

static void find_means(skin *s) {
    for (int32_t i = 0; i < s->face->vertex_count; i++) {
        s->mean[i] = stn_vec3_zero();
    }
    for (int32_t t = 0; t < s->face->triangle_count; t++) {
        skin_facet f;
        skin_facet_of(s, t, &f);
        for (int32_t k = 0; k < 3; k++) {
            stn_vec3 u = stn_vec3_sub(f.corner[(k + 1) % 3], f.corner[k]);
            stn_vec3 v = stn_vec3_sub(f.corner[(k + 2) % 3], f.corner[k]);
            double angle = atan2(stn_vec3_norm(stn_vec3_cross(u, v)), stn_vec3_dot(u, v));
            stn_vec3 *mean = &s->mean[s->face->triangle[3 * (size_t)t + (size_t)k]];
            *mean = stn_vec3_mul_add(*mean, angle, f.normal);
        }
    }
    for (int32_t i = 0; i < s->face->vertex_count; i++) {
        s->mean[i] = stn_vec3_normalize_or(s->mean[i], stn_vec3_zero());
    }
}

skin *skin_at(skins *all, const stn_contact_scene *scene, int32_t geometry) {
    skin *s = &all->items[scene->model->geometries[geometry].surface];
    const stn_vec3 *node = scene->kinematics->node;
    bool same = s->fitted;
    for (int32_t i = 0; i < s->face->vertex_count; i++) {
        const stn_vec3 *p = &node[s->face->vertex[i]];
        if (!same || memcmp(&s->at[i], p, sizeof *p) != 0) {
            same = false;
            s->at[i] = *p;
        }
    }
    if (!same) {
        fit(s);
        if (s->mean != NULL) {
            find_means(s);
        }
        s->fitted = true;
    }
    return s;
}

void skin_visit(const skin *s, const stn_aabb *box, skin_visitor *visit, void *user) {
    int32_t stack[SKIN_DEEPEST], depth = 0;
    stack[depth++] = 0;
    while (depth > 0) {
        int32_t id = stack[--depth];
        const skin_node *n = &s->node[id];
        if (!skin_boxes_meet(&n->box, box)) {
            continue;
        }
        if (n->right >= 0) {
            stack[depth++] = n->right;
            stack[depth++] = id + 1;
            continue;
        }
        for (int32_t i = n->first; i < n->first + n->count; i++) {
            if (skin_boxes_meet(&s->box[i], box)) {
                visit(user, s->order[i]);
            }
        }
    }
}

// ---------------------------------------------------------------------------------------------------------- points

static void corners_of(const skin *s, int32_t triangle, stn_vec3 corner[3]) {
    const int32_t *v = s->face->triangle + 3 * (size_t)triangle;
    for (int32_t k = 0; k < 3; k++) {
        corner[k] = s->at[v[k]];
    }
}

void skin_facet_of(const skin *s, int32_t triangle, skin_facet *out) {
    corners_of(s, triangle, out->corner);
    out->normal = s->normal[triangle];
}

static double nearest_on_line(stn_vec3 a, stn_vec3 b, stn_vec3 p) {
    stn_vec3 d = stn_vec3_sub(b, a);
    double length2 = stn_vec3_dot(d, d);
    return length2 > 0.0 ? clamp(stn_vec3_dot(stn_vec3_sub(p, a), d) / length2, 0.0, 1.0) : 0.0;
}

/// On the plane when the foot lies within, else on the nearest side.
void skin_nearest_on(const stn_vec3 corner[3], stn_vec3 p, double weight[3]) {
    stn_vec3 a = stn_vec3_sub(corner[1], corner[0]), b = stn_vec3_sub(corner[2], corner[0]);
    stn_vec3 d = stn_vec3_sub(p, corner[0]), n = stn_vec3_cross(a, b);
    double area2 = stn_vec3_dot(n, n), scale = stn_vec3_dot(a, a) + stn_vec3_dot(b, b);
    if (area2 > 1e-24 * scale * scale) {
        double y = stn_vec3_dot(stn_vec3_cross(d, b), n) / area2, z = stn_vec3_dot(stn_vec3_cross(a, d), n) / area2;
        if (y >= 0.0 && z >= 0.0 && y + z <= 1.0) {
            weight[0] = 1.0 - y - z;
            weight[1] = y;
            weight[2] = z;
            return;
        }
    }
    double best = INFINITY;
    for (int32_t k = 0; k < 3; k++) {
        stn_vec3 from = corner[k], to = corner[(k + 1) % 3];
        double t = nearest_on_line(from, to, p);
        stn_vec3 off = stn_vec3_sub(p, stn_vec3_mul_add(from, t, stn_vec3_sub(to, from)));
        double length2 = stn_vec3_dot(off, off);
        if (length2 < best) {
            best = length2;
            weight[k] = 1.0 - t;
            weight[(k + 1) % 3] = t;
            weight[(k + 2) % 3] = 0.0;
        }
    }
}

static stn_vec3 weighted(const stn_vec3 *p, const double *weight) {
    return stn_vec3_add(stn_vec3_scale(weight[0], p[0]),
                        stn_vec3_add(stn_vec3_scale(weight[1], p[1]), stn_vec3_scale(weight[2], p[2])));
}

static double box_distance2(const stn_aabb *b, stn_vec3 p) {
    double x = fmax(fmax(b->lower.x - p.x, p.x - b->upper.x), 0.0),
           y = fmax(fmax(b->lower.y - p.y, p.y - b->upper.y), 0.0),
           z = fmax(fmax(b->lower.z - p.z, p.z - b->upper.z), 0.0);
    return x * x + y * y + z * z;
}

/// The nearest triangle within sqrt(best2), and the point on it; -1: none. admits NULL: of all.
static int32_t find_nearest(const skin *s, stn_vec3 p, skin_admits *admits, const void *user, double *best2,
                            double weight[3]) {
    int32_t stack[SKIN_DEEPEST], depth = 0, best = -1;
    stack[depth++] = 0;
    while (depth > 0) {
        int32_t id = stack[--depth];
        const skin_node *n = &s->node[id];
        if (!(box_distance2(&n->box, p) < *best2)) {
            continue;
        }
        if (n->right >= 0) {
            bool left_first = box_distance2(&s->node[id + 1].box, p) <= box_distance2(&s->node[n->right].box, p);
            stack[depth++] = left_first ? n->right : id + 1;
            stack[depth++] = left_first ? id + 1 : n->right;
            continue;
        }
        for (int32_t i = n->first; i < n->first + n->count; i++) {
            stn_vec3 corner[3];
            double w[3];
            corners_of(s, s->order[i], corner);
            skin_nearest_on(corner, p, w);
            stn_vec3 off = stn_vec3_sub(p, weighted(corner, w));
            double length2 = stn_vec3_dot(off, off);
            skin_facet f;
            bool nearer = length2 < *best2;
            if (nearer && admits != NULL) {
                skin_facet_of(s, s->order[i], &f);
                nearer = admits(user, &f);
            }
            if (nearer) {
                *best2 = length2;
                best = s->order[i];
                memcpy(weight, w, sizeof w);
            }
        }
    }
    return best;
}

double skin_distance(const skin *s, stn_vec3 p, double within) {
    double best2 = within * within, weight[3];
    return find_nearest(s, p, NULL, NULL, &best2, weight) >= 0 ? sqrt(best2) : within;
}

int32_t skin_nearest_of(const skin *s, stn_vec3 p, double within, skin_admits *admits, const void *user,
                        double *distance) {
    double best2 = within * within, weight[3];
    const int32_t triangle = find_nearest(s, p, admits, user, &best2, weight);
    *distance = sqrt(best2);
    return triangle;
}

skin_nearest skin_nearest_to(const skin *s, stn_vec3 p, double within) {
    double best2 = within * within;
    skin_nearest near = {0};
    near.triangle = find_nearest(s, p, NULL, NULL, &best2, near.weight);
    near.distance = sqrt(best2);
    if (near.triangle < 0) {
        return near;
    }
    const int32_t t = near.triangle;
    const double *weight = near.weight;
    skin_facet f;
    skin_facet_of(s, t, &f);
    near.point = weighted(f.corner, weight);
    near.normal = f.normal;
    int32_t zero = (weight[0] <= skin_tiny) + (weight[1] <= skin_tiny) + (weight[2] <= skin_tiny);
    for (int32_t k = 0; k < 3 && zero > 0; k++) {
        if (zero == 2 && weight[k] > skin_tiny) {
            near.normal = s->mean[s->face->triangle[3 * (size_t)t + (size_t)k]];
        } else if (zero == 1 && weight[(k + 2) % 3] <= skin_tiny) {
            const int32_t *sides =
                s->face->edge_triangle + 2 * (size_t)s->face->triangle_edge[3 * (size_t)t + (size_t)k];
            skin_facet other;
            skin_facet_of(s, sides[0] == t ? sides[1] : sides[0], &other);
            near.normal = stn_vec3_add(near.normal, other.normal);
        }
    }
    return near;
}

bool skin_holds(const skin *s, stn_vec3 p, double within, double *distance) {
    const skin_nearest near = skin_nearest_to(s, p, within);
    *distance = near.distance;
    return near.triangle >= 0 && stn_vec3_dot(stn_vec3_sub(p, near.point), near.normal) < 0.0;
}

bool skin_has(const skin *s, stn_vec3 p, double depth, double tolerance) {
    const skin_nearest near = skin_nearest_to(s, p, 2.0 * depth + tolerance);
    return near.triangle >= 0 &&
           (near.distance <= tolerance || stn_vec3_dot(stn_vec3_sub(p, near.point), near.normal) < 0.0);
}

convex skin_triangle(const stn_vec3 corner[3], stn_shape *shape) {
    double size = stn_vec3_norm(stn_vec3_sub(corner[1], corner[0])) + stn_vec3_norm(stn_vec3_sub(corner[2], corner[0]));
    *shape = (stn_shape){.type = STN_SHAPE_SURFACE, .half_extents = {size, 0.0, 0.0}};
    return (convex){shape, {stn_mat3_columns(corner[0], corner[1], corner[2]), stn_vec3_zero()}};
}

// ----------------------------------------------------------------------------------------------------------- parts

enum { NAME_VERTEX, NAME_EDGE, NAME_FACE };

static uint64_t name_of(int32_t kind, int32_t index) {
    return (uint64_t)(uint32_t)index << 2 | (uint64_t)(uint32_t)kind;
}

skin_part skin_vertex_part(const skin *s, int32_t id) {
    return (skin_part){s, 1, {id, 0, 0}, {1.0, 0.0, 0.0}, name_of(NAME_VERTEX, id)};
}

skin_part skin_edge_part(const skin *s, int32_t edge, double t) {
    const int32_t *v = s->face->edge + 2 * (size_t)edge;
    return (skin_part){s, 2, {v[0], v[1], 0}, {1.0 - t, t, 0.0}, name_of(NAME_EDGE, edge)};
}

skin_part skin_face_part(const skin *s, int32_t triangle, const double weight[3]) {
    const int32_t *v = s->face->triangle + 3 * (size_t)triangle;
    return (skin_part){s, 3, {v[0], v[1], v[2]}, {weight[0], weight[1], weight[2]}, name_of(NAME_FACE, triangle)};
}

stn_vec3 skin_part_point(const skin_part *part) {
    stn_vec3 p = stn_vec3_zero();
    for (int32_t i = 0; i < part->count; i++) {
        p = stn_vec3_mul_add(p, part->weight[i], part->skin->at[part->vertex[i]]);
    }
    return p;
}

bool skin_vertex_admits(const skin *s, int32_t id, stn_vec3 m, double slack) {
    if (!skin_vertex_is_outside(s, id, m, slack)) {
        return false;
    }
    for (int32_t i = s->beside_start[id]; i < s->beside_start[id + 1]; i++) {
        const stn_vec3 along = stn_vec3_sub(s->at[s->beside[i]], s->at[id]);
        if (stn_vec3_dot(m, along) > slack * stn_vec3_norm(along)) {
            return false;
        }
    }
    return true;
}

bool skin_lies_below(const skin_facet *f, stn_vec3 p, double tolerance, double *depth) {
    static const double most = 1.1; // times as far from the triangle as from its plane: 25 degrees beside its rim
    const double height = stn_vec3_dot(f->normal, stn_vec3_sub(p, f->corner[0]));
    double weight[3];
    skin_nearest_on(f->corner, p, weight);
    *depth = -height;
    return stn_vec3_dot(f->normal, f->normal) > 0.5 && height <= tolerance &&
           stn_vec3_norm(stn_vec3_sub(p, weighted(f->corner, weight))) <= most * fabs(height) + tolerance;
}

bool skin_sinks(const skin *s, stn_vec3 p, double far, skin_sunk *out) {
    const double touch = 1e-9 * s->size;
    const stn_aabb point = skin_box_of(&p, 1, touch);
    if (!s->face->solid || !skin_boxes_meet(&point, &s->node[0].box)) {
        return false;
    }
    const skin_nearest near = skin_nearest_to(s, p, (double)INFINITY);
    if (near.triangle < 0 || (near.distance > touch && stn_vec3_dot(stn_vec3_sub(p, near.point), near.normal) >= 0.0)) {
        return false;
    }
    skin_facet f;
    double depth;
    skin_facet_of(s, near.triangle, &f);
    const double most = skin_lies_below(&f, p, touch, &depth) ? fmax(far, 1.001 * near.distance) : 2.0 * near.distance;
    *out = (skin_sunk){near.distance, most + touch};
    return true;
}

bool skin_vertex_leaves_over(const void *user, const skin_facet *f) {
    const skin_vertex_way *w = user;
    double depth;
    return skin_lies_below(f, w->skin->at[w->id], w->tolerance, &depth) &&
           skin_vertex_admits(w->skin, w->id, stn_vec3_neg(f->normal), w->slack);
}

double skin_slack_at(const skin *s, double distance) {
    return fmin(1.0, skin_slack + fmax(-distance, 0.0) / (skin_deep * s->size));
}

bool skin_way_out(const skin *s, stn_vec3 p, double within, skin_admits *admits, const void *user, skin_part *part,
                  stn_vec3 *normal) {
    double distance, weight[3];
    const int32_t triangle = skin_nearest_of(s, p, within, admits, user, &distance);
    if (triangle < 0) {
        return false;
    }
    skin_facet f;
    skin_facet_of(s, triangle, &f);
    skin_nearest_on(f.corner, p, weight);
    *part = skin_face_part(s, triangle, weight);
    *normal = f.normal;
    return true;
}

// --------------------------------------------------------------------------------------------------------- prepare

void skins_destroy(skins *all) {
    if (all == NULL) {
        return;
    }
    for (int32_t i = 0; i < all->count; i++) {
        skin *s = &all->items[i];
        void *memory[] = {s->at, s->mean, s->beside_start, s->beside, s->owned, s->normal, s->order, s->box, s->node};
        for (int32_t k = 0; k < STN_COUNT(memory); k++) {
            stn_release(all->context, memory[k]);
        }
    }
    stn_release(all->context, all->items);
    stn_release(all->context, all);
}

/// False: out of memory.
static bool make_skin(stn_context *context, const stn_surface *face, skin *s) {
    size_t vertices = (size_t)face->vertex_count, triangles = (size_t)face->triangle_count;
    s->face = face;
    s->at = stn_allocate(context, vertices, sizeof *s->at);
    s->mean = face->solid ? stn_allocate(context, vertices, sizeof *s->mean) : NULL;
    s->owned = stn_allocate(context, triangles, sizeof *s->owned);
    s->normal = stn_allocate(context, triangles, sizeof *s->normal);
    s->order = stn_allocate(context, triangles, sizeof *s->order);
    s->box = stn_allocate(context, triangles, sizeof *s->box);
    s->node = stn_allocate(context, triangles, sizeof *s->node); // leaves hold two triangles or more, or there is one
    s->beside_start = stn_allocate(context, vertices + 1, sizeof *s->beside_start);
    s->beside = stn_allocate(context, 2 * (size_t)face->edge_count, sizeof *s->beside);
    if (s->at == NULL || (face->solid && s->mean == NULL) || s->owned == NULL || s->normal == NULL ||
        s->order == NULL || s->box == NULL || s->node == NULL || s->beside_start == NULL || s->beside == NULL) {
        return false;
    }
    for (int32_t i = 0; i < 2 * face->edge_count; i++) {
        s->beside_start[face->edge[i]]++;
    }
    for (size_t i = 0; i < vertices; i++) { // where each one's end, while they are written from the last one on
        s->beside_start[i + 1] += s->beside_start[i];
    }
    for (int32_t i = 0; i < 2 * face->edge_count; i++) {
        s->beside[--s->beside_start[face->edge[i]]] = face->edge[i ^ 1];
    }
    for (int32_t t = 0; t < face->triangle_count; t++) {
        s->order[t] = t;
        for (int32_t k = 0; k < 3; k++) {
            const int32_t own_vertex = face->triangle[3 * t + k], own_edge = face->triangle_edge[3 * t + k];
            s->owned[t] |= (uint8_t)((face->vertex_owner[own_vertex] == t) << k);
            s->owned[t] |= (uint8_t)((face->edge_triangle[2 * own_edge] == t) << (3 + k));
        }
    }
    build(s, 0, face->triangle_count);
    stn_aabb box = skin_box_of(s->face->rest, face->vertex_count, 0.0);
    s->size = stn_vec3_norm(stn_vec3_sub(box.upper, box.lower));
    return true;
}

stn_status skins_create(const stn_model *model, skins **out, stn_error *err) {
    skins *all = stn_allocate(model->context, 1, sizeof *all);
    bool ok = all != NULL;
    if (ok) {
        *all = (skins){.context = model->context,
                       .items = stn_allocate(model->context, (size_t)model->surface_count, sizeof *all->items)};
        ok = all->items != NULL;
    }
    for (int32_t i = 0; i < model->surface_count && ok; i++) {
        all->count = i + 1;
        skin *one = &all->items[i];
        ok = make_skin(model->context, &model->surfaces[i], one);
        if (ok && one->face->self_collision) {
            memcpy(one->at, one->face->rest, (size_t)one->face->vertex_count * sizeof *one->at);
            fit(one);
            skin_warn_of_crossing(model, one);
        }
    }
    if (!ok) {
        skins_destroy(all);
        return stn_fail(err, STN_ERR_MEMORY, "out of memory for the surfaces of deformables");
    }
    *out = all;
    return STN_OK;
}
