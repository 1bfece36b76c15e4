// SPDX-License-Identifier: Apache-2.0
// What contact model point leaves out of the contacts of a surface with itself. By normals and sides nothing: all pairs
// of vertices, edges and triangles of a solid plate that is bent, rolled up and crumpled are looked at one by one, by
// the rules of the plugin's README, and the contacts are the same. By speed what a step drops, and nothing else.
#include "skin_probe.h"

enum { CELLS = 7, SIDE = CELLS + 1, NODES = 2 * SIDE * SIDE, TRIANGLES = 4 * CELLS * CELLS + 8 * CELLS };

/// A closed plate of CELLS x CELLS cells, 1 x 1 x thick: nodes of the upper side, then those of the lower one.
static void make_plate(double thick, double *position, int32_t *triangle) {
    int32_t count = 0;
    for (int32_t i = 0; i < NODES; i++) {
        const int32_t k = i % (SIDE * SIDE);
        position[3 * i] = (double)(k % SIDE) / CELLS - 0.5;
        position[3 * i + 1] = (double)(k / SIDE) / CELLS - 0.5;
        position[3 * i + 2] = i < SIDE * SIDE ? 0.5 * thick : -0.5 * thick;
    }
    for (int32_t i = 0; i < CELLS * CELLS; i++) {
        const int32_t a = i % CELLS + i / CELLS * SIDE, b = a + 1, c = a + SIDE, d = c + 1, low = SIDE * SIDE;
        const int32_t four[12] = {a, b, d, a, d, c, low + d, low + b, low + a, low + c, low + d, low + a};
        memcpy(triangle + 3 * (size_t)count, four, sizeof four);
        count += 4;
    }
    for (int32_t i = 0; i < 4 * CELLS; i++) { // counter-clockwise around the upper side
        int32_t ends[2];
        for (int32_t k = 0; k < 2; k++) {
            const int32_t at = (i + k) % (4 * CELLS), side = at / CELLS, on = at % CELLS;
            const int32_t x = side == 0 ? on : side == 1 ? CELLS : side == 2 ? CELLS - on : 0;
            const int32_t y = side == 0 ? 0 : side == 1 ? on : side == 2 ? CELLS : CELLS - on;
            ends[k] = x + SIDE * y;
        }
        const int32_t low = SIDE * SIDE,
                      two[6] = {low + ends[0], low + ends[1], ends[1], low + ends[0], ends[1], ends[0]};
        memcpy(triangle + 3 * (size_t)count, two, sizeof two);
        count += 2;
    }
    assert_int_equal(count, TRIANGLES);
}

/// Bends the rest about an axis along y, `turn` in all, and shakes every node. More than a half turn rolls it up.
static void bend(skin_probe *p, stn_random *r, double turn, double shake) {
    turn = fmax(turn, 1e-3);
    for (int32_t i = 0; i < p->model->node_count; i++) {
        const double *rest = p->model->q0 + 3 * (size_t)i;
        double *q = p->q + 3 * (size_t)i;
        const double radius = 1.0 / turn * (1.0 + 0.15 * rest[0]), angle = turn * rest[0]; // a spiral
        q[0] = (radius - rest[2]) * sin(angle);
        q[1] = rest[1];
        q[2] = radius - (radius - rest[2]) * cos(angle);
        for (int32_t k = 0; k < 3; k++) {
            q[k] += shake * random_real(r);
        }
    }
}

// ------------------------------------------------------------------------------------------------------------ oracle

typedef struct found {
    uint64_t key; // of the nodes on either side
    double phi;
} found;

typedef struct body {
    const stn_surface *face;
    const stn_vec3 *at;
    double thickness, margin;
    stn_vec3 normal[TRIANGLES], mean[NODES];
    int32_t count, capacity;
    found *contacts;
} body;

static uint64_t key_of(const int32_t *a, int32_t count_a, const int32_t *b, int32_t count_b) {
    uint64_t key = 0;
    for (int32_t i = 0; i < count_a; i++) {
        key += stn_random_mix((uint64_t)a[i] + 1);
    }
    for (int32_t i = 0; i < count_b; i++) {
        key += 3 * stn_random_mix((uint64_t)b[i] + 1);
    }
    return key;
}

static stn_vec3 along(stn_vec3 a, stn_vec3 b, double t) {
    return stn_vec3_mul_add(a, t, stn_vec3_sub(b, a));
}

static void find_normals(body *s) {
    memset(s->mean, 0, sizeof s->mean);
    for (int32_t t = 0; t < TRIANGLES; t++) {
        const int32_t *v = s->face->triangle + 3 * (size_t)t;
        const stn_vec3 n =
            stn_vec3_cross(stn_vec3_sub(s->at[v[1]], s->at[v[0]]), stn_vec3_sub(s->at[v[2]], s->at[v[0]]));
        s->normal[t] = stn_vec3_scale(1.0 / stn_vec3_norm(n), n);
        for (int32_t k = 0; k < 3; k++) {
            const stn_vec3 a = stn_vec3_sub(s->at[v[(k + 1) % 3]], s->at[v[k]]),
                           b = stn_vec3_sub(s->at[v[(k + 2) % 3]], s->at[v[k]]);
            const double angle = acos(stn_vec3_dot(a, b) / (stn_vec3_norm(a) * stn_vec3_norm(b)));
            s->mean[v[k]] = stn_vec3_mul_add(s->mean[v[k]], angle, s->normal[t]);
        }
    }
    for (int32_t i = 0; i < NODES; i++) {
        s->mean[i] = stn_vec3_scale(1.0 / stn_vec3_norm(s->mean[i]), s->mean[i]);
    }
}

static bool vertex_admits(const body *s, int32_t id, stn_vec3 m) {
    return stn_vec3_dot(m, s->mean[id]) >= -0.5;
}

static bool edge_admits(const body *s, int32_t edge, stn_vec3 m, double slack) {
    const int32_t *v = s->face->edge + 2 * (size_t)edge, *side = s->face->edge_triangle + 2 * (size_t)edge;
    const stn_vec3 u = stn_vec3_sub(s->at[v[1]], s->at[v[0]]);
    for (int32_t k = 0; k < 2; k++) {
        stn_vec3 out = stn_vec3_cross(u, s->normal[side[k]]); // across the edge, one way or the other
        const int32_t *corner = s->face->triangle + 3 * (size_t)side[k];
        for (int32_t i = 0; i < 3; i++) {
            if (stn_vec3_dot(out, stn_vec3_sub(s->at[corner[i]], s->at[v[0]])) > 1e-9 * stn_vec3_dot(u, u)) {
                out = stn_vec3_neg(out);
            }
        }
        if (stn_vec3_dot(m, out) < -slack * stn_vec3_norm(out)) {
            return false;
        }
    }
    return stn_vec3_dot(m, stn_vec3_add(s->normal[side[0]], s->normal[side[1]])) >= 0.0;
}

static void note(body *s, const int32_t *a, int32_t count_a, const int32_t *b, int32_t count_b, double distance) {
    const double phi = distance - 2.0 * s->thickness;
    for (int32_t i = 0; i < count_a * count_b; i++) {
        if (a[i / count_b] == b[i % count_b]) {
            return;
        }
    }
    if (phi <= s->margin) {
        assert_true(s->count < s->capacity);
        s->contacts[s->count++] = (found){key_of(a, count_a, b, count_b), phi};
    }
}

static void vertex_face(body *s, int32_t id, int32_t triangle) {
    const int32_t *v = s->face->triangle + 3 * (size_t)triangle;
    const stn_vec3 n = s->normal[triangle], p = stn_vec3_sub(s->at[id], s->at[v[0]]);
    const double height = stn_vec3_dot(n, p);
    bool inside = height >= 0.0;
    for (int32_t k = 0; k < 3; k++) {
        const stn_vec3 side = stn_vec3_sub(s->at[v[(k + 1) % 3]], s->at[v[k]]);
        inside = inside && stn_vec3_dot(stn_vec3_cross(n, side), stn_vec3_sub(s->at[id], s->at[v[k]])) > 0.0;
    }
    if (inside && vertex_admits(s, id, stn_vec3_neg(n))) {
        note(s, &id, 1, v, 3, height);
    }
}

static void vertex_edge(body *s, int32_t id, int32_t edge) {
    const int32_t *v = s->face->edge + 2 * (size_t)edge;
    const stn_vec3 u = stn_vec3_sub(s->at[v[1]], s->at[v[0]]), p = stn_vec3_sub(s->at[id], s->at[v[0]]);
    const double t = stn_vec3_dot(p, u) / stn_vec3_dot(u, u);
    const stn_vec3 d = stn_vec3_sub(along(s->at[v[0]], s->at[v[1]], t), s->at[id]);
    const double distance = stn_vec3_norm(d);
    const stn_vec3 m = stn_vec3_scale(1.0 / fmax(distance, 1e-300), d);
    if (t > 1e-7 && t < 1.0 - 1e-7 && distance > 1e-9 && vertex_admits(s, id, m) &&
        edge_admits(s, edge, stn_vec3_neg(m), 1e-3)) {
        note(s, &id, 1, v, 2, distance);
    }
}

static void edge_edge(body *s, int32_t one, int32_t two) {
    const int32_t *v = s->face->edge + 2 * (size_t)one, *w = s->face->edge + 2 * (size_t)two;
    const stn_vec3 d = stn_vec3_sub(s->at[v[1]], s->at[v[0]]), e = stn_vec3_sub(s->at[w[1]], s->at[w[0]]),
                   r = stn_vec3_sub(s->at[w[0]], s->at[v[0]]), n = stn_vec3_cross(d, e);
    const double n2 = stn_vec3_dot(n, n), t = stn_vec3_dot(stn_vec3_cross(r, e), n) / n2,
                 u = stn_vec3_dot(stn_vec3_cross(r, d), n) / n2, apart = stn_vec3_dot(n, r) / sqrt(n2);
    const stn_vec3 m = stn_vec3_scale((apart >= 0.0 ? 1.0 : -1.0) / sqrt(n2), n);
    if (t > 1e-7 && t < 1.0 - 1e-7 && u > 1e-7 && u < 1.0 - 1e-7 && edge_admits(s, one, m, 0.5) &&
        edge_admits(s, two, stn_vec3_neg(m), 0.5)) {
        note(s, v, 2, w, 2, fabs(apart));
    }
}

/// Two vertices that an edge joins: rounding decides whether it leads nearer than they are.
static bool are_joined(const stn_surface *face, const stn_support *a, const stn_support *b) {
    bool joined = false;
    for (int32_t i = 0; i < face->edge_count && a->node_count == 1 && b->node_count == 1; i++) {
        const int32_t *v = face->edge + 2 * (size_t)i;
        joined = joined || (v[0] == a->node[0] && v[1] == b->node[0]) || (v[1] == a->node[0] && v[0] == b->node[0]);
    }
    return joined;
}

static void vertex_vertex(body *s, int32_t one, int32_t two) {
    const stn_vec3 d = stn_vec3_sub(s->at[two], s->at[one]);
    const double distance = stn_vec3_norm(d);
    const stn_vec3 m = stn_vec3_scale(1.0 / distance, d);
    const stn_support a = {.node_count = 1, .node = {one}}, b = {.node_count = 1, .node = {two}};
    if (distance <= s->margin + 2.0 * s->thickness && !are_joined(s->face, &a, &b) && vertex_admits(s, one, m) &&
        vertex_admits(s, two, stn_vec3_neg(m))) {
        note(s, &one, 1, &two, 1, distance);
    }
}

static void find_all(body *s) {
    find_normals(s);
    s->count = 0;
    for (int32_t i = 0; i < NODES; i++) {
        for (int32_t k = 0; k < TRIANGLES; k++) {
            vertex_face(s, i, k);
        }
        for (int32_t k = 0; k < s->face->edge_count; k++) {
            vertex_edge(s, i, k);
        }
        for (int32_t k = i + 1; k < NODES; k++) {
            vertex_vertex(s, i, k);
        }
    }
    for (int32_t i = 0; i < s->face->edge_count; i++) {
        for (int32_t k = i + 1; k < s->face->edge_count; k++) {
            edge_edge(s, i, k);
        }
    }
}

static int by_key(const void *a, const void *b) {
    const found *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

// ------------------------------------------------------------------------------------------------------------- tests

static int32_t add_plate(skin_probe *p, double thick, double thickness, bool solid) {
    static double position[3 * NODES];
    static int32_t triangle[3 * TRIANGLES];
    make_plate(thick, position, triangle);
    stn_surface_spec spec = stn_surface_spec_default();
    spec.triangles = triangle;
    spec.triangle_count = TRIANGLES;
    spec.thickness = thickness;
    spec.solid = solid;
    spec.self_collision = true;
    return skin_probe_add(p, position, NODES, &spec, NULL);
}

/// Every contact of a bent plate with itself is there, and no other. At rest nothing is nearer than the thicknesses.
static void normals_and_sides_leave_nothing_out(void **state) {
    (void)state;
    enum { CAPACITY = 200000 };
    static body s;
    stn_random r = {7};
    int32_t total = 0;
    s.contacts = calloc(CAPACITY, sizeof *s.contacts);
    s.capacity = CAPACITY;
    assert_non_null(s.contacts);
    for (int32_t plate = 0; plate < 3; plate++) {
        skin_probe p;
        skin_probe_begin(&p);
        const double thick = (const double[]){0.03, 0.08, 0.2}[plate];
        const int32_t skin = add_plate(&p, thick, 0.005, true);
        skin_probe_compile(&p);
        for (int32_t pose = 0; pose < 24; pose++) {
            bend(&p, &r, 0.35 * pose, (const double[]){0.0005, 0.01, 0.04, 0.1}[pose % 4]);
            const double margin = (const double[]){0.02, 0.08, 0.2}[pose % 3];
            skin_probe_collide(&p, skin, skin, margin);
            s.face = &p.model->surfaces[0];
            s.at = p.kinematics->node;
            s.thickness = 0.005;
            s.margin = margin;
            find_all(&s);
            found *told = calloc((size_t)p.set.count + 1, sizeof *told);
            assert_non_null(told);
            int32_t count = 0;
            for (int32_t i = 0; i < p.set.count; i++) {
                const stn_contact *c = &p.set.contacts[i];
                if (!are_joined(s.face, &c->a, &c->b)) {
                    told[count++] = (found){key_of(c->a.node, c->a.node_count, c->b.node, c->b.node_count), c->phi0};
                }
            }
            assert_int_equal(s.count, count);
            qsort(told, (size_t)s.count, sizeof *told, by_key);
            qsort(s.contacts, (size_t)s.count, sizeof *s.contacts, by_key);
            for (int32_t i = 0; i < s.count; i++) {
                assert_true(told[i].key == s.contacts[i].key);
                assert_float_equal(told[i].phi, s.contacts[i].phi, 1e-12);
            }
            total += s.count;
            free(told);
        }
        skin_probe_end(&p);
    }
    assert_true(total > 5000);
    free(s.contacts);
}

static const double dt = 0.01, rest_speed = 0.1; // of the reach below

static double reach_at(double speed) {
    return 1.5 * dt * (speed + rest_speed);
}

static stn_vec3 velocity_of(const double *v, const stn_support *support) {
    stn_vec3 sum = stn_vec3_zero();
    for (int32_t i = 0; i < support->node_count; i++) {
        const double *u = v + 3 * (size_t)support->node[i];
        sum = stn_vec3_mul_add(sum, support->weight[i], stn_vec3_make(u[0], u[1], u[2]));
    }
    return sum;
}

static double speed_of(const double *v, const stn_contact *c) {
    return stn_vec3_norm(stn_vec3_sub(velocity_of(v, &c->b), velocity_of(v, &c->a)));
}

/// Contacts that are left out are further apart than their own speeds reach; all others are the same, to the last bit
/// and in the same order. Solids and cloth, in all kinds of motion.
static void speed_leaves_out_what_a_step_drops(void **state) {
    (void)state;
    stn_random r = {11};
    int32_t all = 0, kept = 0, needed = 0;
    for (int32_t k = 0; k < 60; k++) {
        skin_probe p;
        skin_probe_begin(&p);
        const int32_t skin = add_plate(&p, 0.04, 0.002, k % 2 == 0);
        skin_probe_compile(&p);
        bend(&p, &r, 0.12 * k, k % 3 == 0 ? 0.02 : 0.002);
        double *free_v = calloc(3 * NODES, sizeof *free_v), fastest = 0.0;
        assert_non_null(free_v);
        const double turn = 3.0 * random_real(&r), noise = k % 5 == 0 ? 1.0 : 0.05, shift = 20.0 * random_real(&r);
        for (int32_t i = 0; i < NODES; i++) {
            const double field[3] = {shift - turn * p.q[3 * i + 2], turn * p.q[3 * i],
                                     turn * p.q[3 * i] * p.q[3 * i + 1]};
            double squared[2] = {0.0, 0.0};
            for (int32_t n = 0; n < 3; n++) {
                p.v[3 * i + n] = k == 1 ? 0.0 : field[n] + noise * random_real(&r);
                free_v[3 * i + n] = k == 1 ? 0.0 : field[n] + noise * random_real(&r) + (n == 2 ? 0.1 : 0.0);
                squared[0] += p.v[3 * i + n] * p.v[3 * i + n];
                squared[1] += free_v[3 * i + n] * free_v[3 * i + n];
            }
            fastest = worse(fastest, sqrt(fmax(squared[0], squared[1])));
        }
        stn_contact_reach reach = {.speed = 2.0 * fastest};
        for (int32_t n = 0; n <= STN_REACH_COUNT; n++) {
            reach.distance[n] = reach_at(reach.speed * n / STN_REACH_COUNT);
        }
        const double margin = reach.distance[STN_REACH_COUNT];
        const int32_t count = skin_probe_collide(&p, skin, skin, margin)->count;
        stn_contact *full = calloc((size_t)count + 1, sizeof *full);
        assert_non_null(full);
        if (count > 0) {
            memcpy(full, p.set.contacts, (size_t)count * sizeof *full);
        }
        skin_probe_collide_within(&p, skin, skin, margin, &reach, free_v);
        int32_t next = 0;
        for (int32_t i = 0; i < count; i++) {
            const stn_contact *c = &full[i];
            const double own = reach_at(fmax(speed_of(p.v, c), speed_of(free_v, c)));
            needed += c->phi0 <= own;
            if (next < p.set.count && p.set.contacts[next].id == c->id) {
                const stn_contact *same = &p.set.contacts[next++];
                assert_memory_equal(&same->point, &c->point, sizeof c->point);
                assert_memory_equal(&same->normal, &c->normal, sizeof c->normal);
                assert_memory_equal(&same->phi0, &c->phi0, sizeof c->phi0);
            } else {
                assert_true(c->phi0 > own);
            }
        }
        assert_int_equal(next, p.set.count);
        all += count;
        kept += next;
        free(full);
        free(free_v);
        skin_probe_end(&p);
    }
    assert_true(needed > 300 && kept < all / 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(normals_and_sides_leave_nothing_out),
        cmocka_unit_test(speed_leaves_out_what_a_step_drops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
