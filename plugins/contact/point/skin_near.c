// SPDX-License-Identifier: Apache-2.0
// Which triangles of two skins, or of one with itself, have to be compared. Triangles of A and B are within reach when
// their boxes are no further apart than the margin and the thicknesses. Within one cloud three things leave out most of
// them, and no contact that a step would keep:
//
// Speed. The margin is what the fastest points of the surface need, but what lies together moves alike. Each node of a
// tree has boxes that hold the velocities in it. Two boxes bound how fast anything in the two nodes moves against each
// other, and stn_contact_reach tells how near contacts must be at that speed.
//
// Normals, of solids. Take two triangles, the triangles beside their own edges, and the mean normals of their own
// vertices. Let any two of these unit normals n differ by a vector no longer than d. Let m be the direction of a
// contact, unit, from A to B. skin_vertex_admits, skin_edge_admits and the README's rules ask:
//   vertex x of A, face f of B    m = -n_f and m . n_x >= -1/2. But m . n_x <= -1 + d^2/2.
//   vertex x of A, edge of B      m is at right angles to the edge and has a sine of at most skin_nearly with each face
//                                 beside it, outwards. Both outward directions nearly oppose each other, so
//                                 |m . n| >= sqrt(1 - (d + skin_nearly)^2). The edge looks along -m, so
//                                 m . n <= d/2, and m . n_x >= -1/2. But m . n_x <= d - sqrt(...).
//   edge of A, edge of B          likewise |m . n| >= sqrt(1 - (d + skin_slack)^2) for faces beside either edge; the
//                                 edge of A looks along m, that of B along -m: m . n_A >= -d/2, m . n_B <= d/2. But
//                                 m . n_B >= m . n_A - d >= sqrt(...) - d.
// For d = 0.3 none is possible: -0.955 < -0.5, 0.3 - 0.953 < -0.5, 0.6 - 0.3 > 0.15. Two vertices may have a contact.
//
// Sides, of solids. Let the triangle of B lie below the plane of that of A, by at least h. Points of the two that are
// within reach have m . n_A <= -h / reach. Let the normals of what A's triangle owns differ from its own by at most d.
// Then a vertex needs m . n_A >= -1/2 - d, an edge -d, the face 0: no contact is possible where h > (1/2 + d) reach.
// Likewise with A and B exchanged.
#include "skin.h"

static const double level_most = 0.3;

/// Velocities of what is in a node of a tree.
typedef struct drift {
    stn_aabb now, free;
} drift;

/// Triangles of B near a leaf of A.
typedef struct near_leaf {
    int32_t first, count; // in the order of B
    double reach;
} near_leaf;

typedef struct search {
    const skin *a, *b;
    double most;                      // reach with the margin
    const drift *drift_a, *drift_b;   // (node_count) of the two trees; NULL: the reach is `most` everywhere
    double per_speed;                 // steps of `by_speed` [s/m]
    double by_speed[STN_REACH_COUNT]; // reach at up to k + 1 steps
    const double *turn_a, *turn_b;    // (triangle_count) find_turns; NULL: normals are not looked at
    near_leaf *near;                  // (leaf_count of B)
} search;

// ----------------------------------------------------------------------------------------------------------- speed

/// The square of the largest difference of two velocities, one from each box.
static double faster2(const stn_aabb *a, const stn_aabb *b) {
    const double *la = &a->lower.x, *ua = &a->upper.x, *lb = &b->lower.x, *ub = &b->upper.x;
    double sum = 0.0;
    for (int32_t k = 0; k < 3; k++) {
        const double one = ua[k] - lb[k], two = ub[k] - la[k], most = one > two ? one : two;
        sum += most * most;
    }
    return sum;
}

/// Of two nodes of the trees.
static double reach_of(const search *s, int32_t node_a, int32_t node_b) {
    if (s->drift_a == NULL) {
        return s->most;
    }
    const drift *a = &s->drift_a[node_a], *b = &s->drift_b[node_b];
    const double now = faster2(&a->now, &b->now), free = faster2(&a->free, &b->free);
    const double steps = sqrt(now > free ? now : free) * s->per_speed + 1e-6; // rounding
    return steps < STN_REACH_COUNT ? s->by_speed[(int32_t)steps] : s->most;
}

static drift drift_of(const stn_contact_scene *scene, int32_t node) {
    const int32_t at = stn_model_node_v(scene->model, node);
    const double *v = scene->kinematics->v + at, *u = scene->free_v + at;
    const stn_vec3 now = {v[0], v[1], v[2]}, free = {u[0], u[1], u[2]};
    return (drift){{now, now}, {free, free}};
}

static drift drift_of_both(const drift *a, const drift *b) {
    return (drift){skin_box_of_both(&a->now, &b->now), skin_box_of_both(&a->free, &b->free)};
}

/// The velocities of all nodes of a tree, in the scene's arena. NULL: out of memory.
static const drift *find_drift(const skin *s, const stn_contact_scene *scene) {
    drift *all = STN_ARENA(scene->arena, s->node_count, drift);
    for (int32_t id = s->node_count - 1; id >= 0 && all != NULL; id--) { // children stand behind their parent
        const skin_node *n = &s->node[id];
        if (n->right >= 0) {
            all[id] = drift_of_both(&all[id + 1], &all[n->right]);
            continue;
        }
        for (int32_t i = 0; i < 3 * n->count; i++) {
            const int32_t corner = s->face->triangle[3 * s->order[n->first + i / 3] + i % 3];
            const drift one = drift_of(scene, s->face->vertex[corner]);
            all[id] = i == 0 ? one : drift_of_both(&all[id], &one);
        }
    }
    return all;
}

/// False: out of memory.
static bool find_reaches(search *s, const skin_sink *sink, double thickness) {
    const stn_contact_reach *reach = sink->pair->reach;
    const double rounding = 1e-9 * (s->a->size + s->b->size);
    if (reach == NULL) {
        return true;
    }
    s->drift_a = find_drift(s->a, sink->scene);
    s->drift_b = s->a == s->b ? s->drift_a : find_drift(s->b, sink->scene);
    s->per_speed = reach->speed > 0.0 ? STN_REACH_COUNT / reach->speed : 0.0;
    for (int32_t k = 0; k < STN_REACH_COUNT; k++) {
        s->by_speed[k] = fmin(s->most, reach->distance[k + 1] + thickness + rounding);
    }
    return s->drift_a != NULL && s->drift_b != NULL;
}

// --------------------------------------------------------------------------------------------------------- normals

/// How much normals of what each triangle owns differ from its own, as lengths of differences. NULL: out of memory.
static const double *find_turns(const skin *s, const stn_contact_scene *scene) {
    double *turn = STN_ARENA(scene->arena, s->face->triangle_count, double);
    for (int32_t t = 0; t < s->face->triangle_count && turn != NULL; t++) {
        double most2 = 0.0;
        for (int32_t k = 0; k < 3; k++) {
            const size_t corner = 3 * (size_t)t + (size_t)k;
            if (s->owned[t] >> k & 1) {
                const stn_vec3 d = stn_vec3_sub(s->mean[s->face->triangle[corner]], s->normal[t]);
                most2 = fmax(most2, stn_vec3_dot(d, d));
            }
            if (s->owned[t] >> (3 + k) & 1) {
                const int32_t other = s->face->edge_triangle[2 * (size_t)s->face->triangle_edge[corner] + 1];
                const stn_vec3 d = stn_vec3_sub(other >= 0 ? s->normal[other] : stn_vec3_zero(), s->normal[t]);
                most2 = fmax(most2, stn_vec3_dot(d, d));
            }
        }
        turn[t] = sqrt(most2);
    }
    return turn;
}

/// False: out of memory.
static bool find_levels(search *s, const stn_contact_scene *scene) {
    if (!s->a->face->solid || !s->b->face->solid) {
        return true;
    }
    s->turn_a = find_turns(s->a, scene);
    s->turn_b = s->a == s->b ? s->turn_a : find_turns(s->b, scene);
    return s->turn_a != NULL && s->turn_b != NULL;
}

/// Does all of the triangle of `b` lie so deep below that of `a`, for its reach, that they cannot face each other?
static bool lies_behind(const skin *a, const double *turn, int32_t ta, const skin *b, int32_t tb, double reach) {
    const double deep = -(0.51 + turn[ta]) * reach; // rounding
    const stn_vec3 n = a->normal[ta], p = a->at[a->face->triangle[3 * (size_t)ta]];
    for (int32_t k = 0; k < 3; k++) {
        if (stn_vec3_dot(n, stn_vec3_sub(b->at[b->face->triangle[3 * (size_t)tb + (size_t)k]], p)) >= deep) {
            return false;
        }
    }
    return true;
}

// ---------------------------------------------------------------------------------------------------------- search

/// The leaves of B within reach of one of A, in the order of the tree. What is within reach of a node is within reach
/// of its parent, which is known.
static int32_t find_near(const search *s, int32_t leaf) {
    const stn_aabb *from = &s->a->node[leaf].box;
    int32_t stack[SKIN_DEEPEST], depth = 0, count = 0;
    double known[SKIN_DEEPEST];
    stack[depth] = 0;
    known[depth++] = s->most;
    while (depth > 0) {
        const int32_t id = stack[--depth];
        const skin_node *n = &s->b->node[id];
        stn_aabb box = skin_box_grown(*from, known[depth]);
        if (!skin_boxes_meet(&n->box, &box)) {
            continue;
        }
        const double reach = reach_of(s, leaf, id);
        box = skin_box_grown(*from, reach);
        if (!skin_boxes_meet(&n->box, &box)) {
            continue;
        }
        if (n->right >= 0) {
            known[depth] = known[depth + 1] = reach;
            stack[depth++] = n->right;
            stack[depth++] = id + 1;
        } else {
            s->near[count++] = (near_leaf){n->first, n->count, reach};
        }
    }
    return count;
}

static void look_at(const search *s, int32_t ta, int32_t tb, double reach, skin_near_visitor *visit, void *user) {
    if (s->turn_a == NULL) {
        visit(user, ta, tb, reach, false);
        return;
    }
    // one without an area has no normal, which is 1 away from any other
    const stn_vec3 d = stn_vec3_sub(s->a->normal[ta], s->b->normal[tb]);
    const double apart2 = stn_vec3_dot(d, d), left = level_most - s->turn_a[ta] - s->turn_b[tb];
    if (left > 0.0 && apart2 < left * left) {
        if ((s->a->owned[ta] & 7) != 0 && (s->b->owned[tb] & 7) != 0) { // two vertices
            visit(user, ta, tb, reach, true);
        }
    } else if (apart2 < 2.0 || // their normals do not oppose each other: no two sides of a thin body
               (!lies_behind(s->a, s->turn_a, ta, s->b, tb, reach) &&
                !lies_behind(s->b, s->turn_b, tb, s->a, ta, reach))) {
        visit(user, ta, tb, reach, false);
    }
}

void skin_visit_near(const skin *a, const skin *b, skin_sink *sink, skin_near_visitor *visit, void *user) {
    const double thickness = a->face->thickness + b->face->thickness;
    search s = {.a = a, .b = b, .most = sink->margin + thickness};
    s.near = STN_ARENA(sink->scene->arena, b->leaf_count, near_leaf);
    if (s.near == NULL ||
        (skin_are_kin(a, b) && (!find_reaches(&s, sink, thickness) || !find_levels(&s, sink->scene)))) {
        sink->status = stn_fail(sink->err, STN_ERR_MEMORY, "out of memory for what is near a surface");
    }
    for (int32_t leaf = 0; leaf < a->node_count && sink->status == STN_OK; leaf++) {
        const skin_node *n = &a->node[leaf];
        const int32_t count = n->right < 0 ? find_near(&s, leaf) : 0;
        for (int32_t i = n->first; count > 0 && i < n->first + n->count; i++) {
            for (int32_t k = 0; k < count; k++) {
                const near_leaf *near = &s.near[k];
                const stn_aabb box = skin_box_grown(a->box[i], near->reach);
                for (int32_t j = near->first; j < near->first + near->count && sink->status == STN_OK; j++) {
                    if (skin_boxes_meet(&b->box[j], &box)) {
                        look_at(&s, a->order[i], b->order[j], near->reach, visit, user);
                    }
                }
            }
        }
    }
}
