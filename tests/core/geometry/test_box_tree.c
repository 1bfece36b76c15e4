// SPDX-License-Identifier: Apache-2.0
// The tree that queries ask, against a look at every box, and how many boxes it looks at.
#include "stn_test.h"

#include <stdlib.h>
#include <string.h>

#include "geometry/box_tree.h"
#include "stn_context.h"
#include "stn_random_pose.h"

enum { MOST = 10000 };

typedef struct visits {
    int32_t count;
    bool seen[MOST];
} visits;

static void see(void *user, int32_t box) {
    visits *v = user;
    assert_false(v->seen[box]);
    v->seen[box] = true;
    v->count++;
}

static stn_aabb around(stn_vec3 centre, stn_vec3 half) {
    return (stn_aabb){stn_vec3_sub(centre, half), stn_vec3_add(centre, half)};
}

/// One in 20 has an infinite side, one in 20 is empty.
static void place(stn_random *r, int32_t count, stn_aabb *boxes) {
    for (int32_t i = 0; i < count; i++) {
        stn_vec3 half = {random_size(r, 1e-3, 1.0), random_size(r, 1e-3, 1.0), random_size(r, 1e-3, 1.0)};
        boxes[i] = around(random_vec3(r, 5.0), half);
        double chance = random_between(r, 0.0, 1.0);
        if (chance < 0.05) {
            boxes[i].lower.z = -INFINITY;
        } else if (chance < 0.1) {
            boxes[i] = (stn_aabb){{1.0, 0.0, 0.0}, {-1.0, 0.0, 0.0}};
        }
    }
}

/// Does the segment meet the box? By clipping it, side for side.
static bool segment_meets(const stn_aabb *box, stn_vec3 o, stn_vec3 d, double end, double slack) {
    const double *lower = &box->lower.x, *upper = &box->upper.x, *from = &o.x, *way = &d.x;
    double low = 0.0, high = end;
    for (int32_t k = 0; k < 3; k++) {
        if (way[k] == 0.0) {
            if (from[k] < lower[k] - slack || from[k] > upper[k] + slack) {
                return false;
            }
            continue;
        }
        double a = (lower[k] - slack - from[k]) / way[k], b = (upper[k] + slack - from[k]) / way[k];
        low = fmax(low, fmin(a, b));
        high = fmin(high, fmax(a, b));
    }
    return low <= high && box->lower.x <= box->upper.x;
}

static void searches_find_what_a_look_at_every_box_finds(void **state) {
    static const int32_t counts[] = {0, 1, 2, 4, 5, 9, 64, 500};
    static stn_aabb boxes[500];
    static visits v;
    stn_random r = {51};
    stn_error err;
    for (int32_t k = 0; k < STN_COUNT(counts); k++) {
        int32_t count = counts[k];
        box_tree tree;
        assert_ok(box_tree_init(*state, count, &tree, &err), err);
        for (int32_t round = 0; round < 60; round++) {
            place(&r, count, boxes); // also kinds change from round to round
            box_tree_update(&tree, boxes, count);
            stn_aabb from = around(random_vec3(&r, 6.0), stn_vec3_make(0.2, 0.1, 0.3));
            double within = round % 3 == 0 ? 0.0 : round % 3 == 1 ? random_size(&r, 1e-2, 3.0) : (double)INFINITY;
            v = (visits){0};
            box_tree_near(&tree, boxes, &from, &within, see, &v);
            for (int32_t i = 0; i < count; i++) {
                bool wanted = boxes[i].lower.x <= boxes[i].upper.x && box_gap(&boxes[i], &from) <= within;
                assert_int_equal(v.seen[i], wanted);
            }
            stn_vec3 o = random_vec3(&r, 6.0), d = random_unit(&r);
            d = round % 4 == 0 ? stn_vec3_make(0.0, 0.0, -1.0) : d;
            stn_vec3 inverse = {1.0 / d.x, 1.0 / d.y, 1.0 / d.z};
            double end = round % 2 == 0 ? (double)INFINITY : 4.0;
            v = (visits){0};
            box_tree_ray(&tree, boxes, o, inverse, &end, see, &v);
            for (int32_t i = 0; i < count; i++) {
                assert_true(v.seen[i] || !segment_meets(&boxes[i], o, d, end, -1e-9));
                assert_true(!v.seen[i] || segment_meets(&boxes[i], o, d, end, 1e-9));
            }
        }
        box_tree_clear(*state, &tree);
    }
}

typedef struct nearest {
    const stn_aabb *boxes, *from;
    double within;
} nearest;

static void shrink(void *user, int32_t box) {
    nearest *n = user;
    n->within = fmin(n->within, box_gap(&n->boxes[box], n->from));
}

/// Boxes in a lattice, then shaken so that the tree is fitted again and again: the search for the nearest looks at a
/// number of boxes that grows as the logarithm.
static void the_nearest_is_found_by_looking_at_few(void **state) {
    static const int32_t edges[] = {5, 10, 21};
    static stn_aabb boxes[MOST];
    stn_error err;
    for (int32_t k = 0; k < STN_COUNT(edges); k++) {
        int32_t edge = edges[k], count = edge * edge * edge;
        stn_random r = {52};
        box_tree tree;
        assert_ok(box_tree_init(*state, count, &tree, &err), err);
        double looked_at = 0.0;
        enum { ROUNDS = 20, SEARCHES = 50 };
        for (int32_t round = 0; round < ROUNDS; round++) {
            for (int32_t i = 0; i < count; i++) {
                stn_vec3 p = {i % edge, i / edge % edge, (double)(i / edge / edge)};
                boxes[i] = around(stn_vec3_add(p, random_vec3(&r, 0.02 * round)), stn_vec3_make(0.2, 0.2, 0.2));
            }
            box_tree_update(&tree, boxes, count);
            for (int32_t s = 0; s < SEARCHES; s++) {
                stn_vec3 p = {random_between(&r, 0.0, edge), random_between(&r, 0.0, edge),
                              random_between(&r, 0.0, edge)};
                stn_aabb from = around(p, stn_vec3_zero());
                nearest n = {boxes, &from, INFINITY};
                looked_at += box_tree_near(&tree, boxes, &from, &n.within, shrink, &n);
                double least = INFINITY;
                for (int32_t i = 0; i < count; i++) {
                    least = fmin(least, box_gap(&boxes[i], &from));
                }
                assert_true(n.within == least);
            }
        }
        looked_at /= ROUNDS * SEARCHES;
        print_message("nearest of %d boxes: %.1f looked at\n", (int)count, looked_at);
        assert_true(looked_at < 10.0 * log2(count));
        box_tree_clear(*state, &tree);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(searches_find_what_a_look_at_every_box_finds),
        cmocka_unit_test(the_nearest_is_found_by_looking_at_few),
    };
    return cmocka_run_group_tests(tests, make_context, drop_context);
}
