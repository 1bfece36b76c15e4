// SPDX-License-Identifier: Apache-2.0
// What the broad phase does a body, counted and not timed: nodes and pairs of nodes visited, pairs of fat boxes kept,
// pairs reported. None may grow with the number of bodies where the number of neighbours does not.
#include "stn_test.h"

#include <stdlib.h>

#include "geometry/broadphase.h"
#include "stn_context.h"
#include "stn_random_pose.h"

enum { SIZES = 5 };
static const int32_t sizes[SIZES] = {100, 300, 1000, 3000, 10000};

typedef struct crowd {
    int32_t count;
    stn_aabb *boxes;
    bool *moving;
    stn_vec3 *way; // that a box goes in one update
} crowd;

typedef struct work {
    double visited, kept, reported; // a box
} work;

static crowd make_crowd(int32_t count, double side, double spacing, int32_t dimensions) {
    crowd c = {count, calloc((size_t)count, sizeof *c.boxes), calloc((size_t)count, sizeof *c.moving),
               calloc((size_t)count, sizeof *c.way)};
    assert_non_null(c.boxes);
    assert_non_null(c.moving);
    assert_non_null(c.way);
    stn_random r = {41};
    int32_t edge = (int32_t)ceil(pow(count, 1.0 / dimensions) - 1e-9);
    for (int32_t i = 0; i < count; i++) {
        stn_vec3 p = {spacing * (i % edge), spacing * (i / edge % edge), spacing * (i / edge / edge)};
        p = dimensions == 2 ? stn_vec3_make(spacing * (i % edge), spacing * (i / edge), 0.0) : p;
        stn_vec3 half = {0.5 * side, 0.5 * side, 0.5 * side};
        c.boxes[i] = (stn_aabb){stn_vec3_sub(p, half), stn_vec3_add(p, half)};
        c.moving[i] = true;
        c.way[i] = random_vec3(&r, 0.01 * side);
    }
    return c;
}

static void clear_crowd(crowd *c) {
    free(c->boxes);
    free(c->moving);
    free(c->way);
}

static void move(crowd *c, double along) {
    for (int32_t i = 0; i < c->count; i++) {
        c->boxes[i].lower = stn_vec3_mul_add(c->boxes[i].lower, along, c->way[i]);
        c->boxes[i].upper = stn_vec3_mul_add(c->boxes[i].upper, along, c->way[i]);
    }
}

static void add_update(stn_broadphase *bp, const crowd *c, work *w) {
    const stn_broadphase_pair *pairs = NULL;
    int32_t count = 0;
    stn_error err;
    assert_ok(stn_broadphase_update(bp, c->count, c->boxes, c->moving, NULL, NULL, &pairs, &count, &err), err);
    w->visited += (double)bp->work / c->count;
    w->kept += (double)bp->candidate_count / c->count;
    w->reported += (double)count / c->count;
}

/// Of the first update, and the mean of 40 more in which the boxes travel by 0.3 of their side.
static void measure(stn_context *context, crowd *c, work *first, work *later) {
    enum { UPDATES = 40 };
    stn_broadphase *bp = NULL;
    stn_error err;
    assert_ok(stn_broadphase_create(context, &bp, &err), err);
    *first = *later = (work){0};
    add_update(bp, c, first);
    for (int32_t k = 0; k < UPDATES; k++) {
        move(c, 1.0);
        add_update(bp, c, later);
    }
    later->visited /= UPDATES;
    later->kept /= UPDATES;
    later->reported /= UPDATES;
    stn_broadphase_destroy(bp);
}

static void hold_to(stn_context *context, const char *title, double side, double spacing, int32_t dimensions,
                    const work *first_limit, const work *later_limit) {
    for (int32_t k = 0; k < SIZES; k++) {
        crowd c = make_crowd(sizes[k], side, spacing, dimensions);
        work first, later;
        measure(context, &c, &first, &later);
        print_message("%s, %5d boxes: first visits %.2f, keeps %.2f, reports %.2f a box; then %.2f, %.2f, %.2f\n",
                      title, (int)c.count, first.visited, first.kept, first.reported, later.visited, later.kept,
                      later.reported);
        assert_true(first.visited <= first_limit->visited && first.kept <= first_limit->kept &&
                    first.reported <= first_limit->reported);
        assert_true(later.visited <= later_limit->visited && later.kept <= later_limit->kept &&
                    later.reported <= later_limit->reported);
        clear_crowd(&c);
    }
}

static void boxes_apart_cost_the_same_however_many(void **state) {
    const work first = {4.0, 0.0, 0.0}, later = {4.0, 0.0, 0.0};
    hold_to(*state, "apart", 1.0, 2.0, 2, &first, &later);
}

/// Each of 26 neighbours shares 13 pairs.
static void a_lattice_costs_the_same_however_large(void **state) {
    const work first = {20.0, 13.0, 13.0}, later = {20.0, 13.0, 13.0};
    hold_to(*state, "lattice", 1.04, 1.0, 3, &first, &later);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_apart_cost_the_same_however_many),
        cmocka_unit_test(a_lattice_costs_the_same_however_large),
    };
    return cmocka_run_group_tests(tests, make_context, drop_context);
}
