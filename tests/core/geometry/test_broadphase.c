// SPDX-License-Identifier: Apache-2.0
#include "stn_test.h"

#include <stdlib.h>
#include <string.h>

#include <stiction/geometry.h>

#include "stn_random_pose.h"

enum { MOST = 700 };

typedef struct scene {
    int32_t count;
    stn_aabb boxes[MOST];
    bool moving[MOST];
} scene;

static bool overlap(const stn_aabb *a, const stn_aabb *b) {
    const double *al = &a->lower.x, *au = &a->upper.x, *bl = &b->lower.x, *bu = &b->upper.x;
    for (int32_t k = 0; k < 3; k++) {
        if (al[k] > au[k] || bl[k] > bu[k] || !(al[k] <= bu[k] && bl[k] <= au[k])) {
            return false;
        }
    }
    return true;
}

/// Every fifth pair is refused.
static bool not_every_fifth(const void *user, int32_t a, int32_t b) {
    assert_true(a < b);
    return user == NULL || (a + b) % 5 != 0;
}

static void assert_brute_force_agrees(stn_broadphase *bp, const scene *s, const void *filter) {
    const stn_broadphase_pair *pairs = NULL;
    int32_t count = 0, k = 0;
    stn_error err;
    assert_ok(stn_broadphase_update(bp, s->count, s->boxes, s->moving, filter != NULL ? not_every_fifth : NULL, filter,
                                    &pairs, &count, &err),
              err);
    for (int32_t i = 0; i < s->count; i++) {
        for (int32_t j = i + 1; j < s->count; j++) {
            if (overlap(&s->boxes[i], &s->boxes[j]) && (s->moving[i] || s->moving[j]) &&
                not_every_fifth(filter, i, j)) {
                assert_true(k < count);
                assert_int_equal(pairs[k].a, i);
                assert_int_equal(pairs[k].b, j);
                k++;
            }
        }
    }
    assert_int_equal(k, count);
}

static stn_aabb random_box(stn_random *r, double world) {
    stn_vec3 c = random_vec3(r, world);
    stn_vec3 h = {random_size(r, 1e-3, 1.0), random_size(r, 1e-3, 1.0), random_size(r, 1e-3, 1.0)};
    stn_aabb box = {stn_vec3_sub(c, h), stn_vec3_add(c, h)};
    double chance = random_between(r, 0.0, 1.0);
    if (chance < 0.02) {
        box.lower.x = -INFINITY; // wide
    } else if (chance < 0.03) {
        box.upper.z = INFINITY;
        box.lower.y = -INFINITY;
    } else if (chance < 0.05) {
        box.upper.y = box.lower.y - 1.0; // empty
    } else if (chance < 0.06) {
        box.lower.x = INFINITY; // empty and infinite
        box.upper.x = -INFINITY;
    } else if (chance < 0.08) {
        box = (stn_aabb){{c.x - 1e4, c.y - 1e4, c.z}, {c.x + 1e4, c.y + 1e4, c.z + 1e-4}};
    }
    return box;
}

static scene *random_scene(stn_random *r, int32_t count) {
    scene *s = calloc(1, sizeof *s);
    s->count = count;
    for (int32_t i = 0; i < count; i++) {
        s->boxes[i] = random_box(r, 0.4 * cbrt(count));
        s->moving[i] = random_between(r, 0.0, 1.0) < 0.7;
    }
    return s;
}

static void nudge(stn_random *r, scene *s) {
    for (int32_t i = 0; i < s->count; i++) {
        stn_vec3 d = random_vec3(r, 0.02);
        s->boxes[i].lower = stn_vec3_add(s->boxes[i].lower, d);
        s->boxes[i].upper = stn_vec3_add(s->boxes[i].upper, d);
    }
}

static void *counted_allocate(void *user, size_t size) {
    int32_t *left = user;
    return (*left)-- > 0 ? aligned_alloc(16, (size + 15) & ~(size_t)15) : NULL;
}
static void counted_release(void *user, void *memory) {
    (void)user;
    free(memory);
}

static stn_context *context_with(int32_t *allocations) {
    stn_context_options options = {
        .allocate = counted_allocate, .release = counted_release, .allocator_user = allocations};
    stn_context *context = NULL;
    stn_error err;
    assert_ok(stn_context_create(&options, &context, &err), err);
    return context;
}

static void pairs_are_those_of_brute_force_in_order(void **state) {
    (void)state;
    int32_t enough = INT32_MAX;
    stn_context *context = context_with(&enough);
    stn_random r = {11};
    const int32_t sizes[] = {0, 1, 2, 3, 4, 5, 17, 48, 49, 60, 130, 700, 500, 8, 700};
    stn_broadphase *bp = NULL;
    stn_error err;
    assert_ok(stn_broadphase_create(context, &bp, &err), err);
    for (int32_t i = 0; i < STN_COUNT(sizes); i++) {
        scene *s = random_scene(&r, sizes[i]);
        for (int32_t step = 0; step < 6; step++) {
            assert_brute_force_agrees(bp, s, step % 2 == 0 ? NULL : s);
            nudge(&r, s);
        }
        free(s);
    }
    stn_broadphase_destroy(bp);
    stn_context_destroy(context);
}

static void boxes_that_exchange_roles_are_followed(void **state) {
    (void)state;
    int32_t enough = INT32_MAX;
    stn_context *context = context_with(&enough);
    stn_random r = {12};
    scene *s = random_scene(&r, 200);
    stn_broadphase *bp = NULL;
    stn_error err;
    assert_ok(stn_broadphase_create(context, &bp, &err), err);
    for (int32_t step = 0; step < 100; step++) {
        int32_t i = (int32_t)(random_bits(&r) % 200); // finite, wide and empty change places
        s->boxes[i] = random_box(&r, 3.0);
        s->moving[i] = !s->moving[i];
        assert_brute_force_agrees(bp, s, NULL);
    }
    free(s);
    stn_broadphase_destroy(bp);
    stn_context_destroy(context);
}

/// Most boxes stay in their fat ones, so pairs are kept from update to update; some travel, enough for a new tree.
static void few_that_travel_among_many_that_rest_are_followed(void **state) {
    (void)state;
    int32_t enough = INT32_MAX;
    stn_context *context = context_with(&enough);
    stn_random r = {17};
    scene *s = random_scene(&r, 600);
    stn_broadphase *bp = NULL;
    stn_error err;
    assert_ok(stn_broadphase_create(context, &bp, &err), err);
    for (int32_t step = 0; step < 250; step++) {
        assert_brute_force_agrees(bp, s, s);
        for (int32_t i = step % 20; i < s->count; i += step % 3 == 0 ? 300 : 20) {
            stn_vec3 d = random_vec3(&r, 0.3);
            s->boxes[i].lower = stn_vec3_add(s->boxes[i].lower, d);
            s->boxes[i].upper = stn_vec3_add(s->boxes[i].upper, d);
        }
    }
    free(s);
    stn_broadphase_destroy(bp);
    stn_context_destroy(context);
}

static void touching_boxes_count_as_overlapping(void **state) {
    (void)state;
    int32_t enough = INT32_MAX;
    stn_context *context = context_with(&enough);
    double edge = 0.1 + 0.2; // no float
    scene s = {.count = 3, .moving = {true, true, true}};
    s.boxes[0] = (stn_aabb){{0.0, 0.0, 0.0}, {edge, 1.0, 1.0}};
    s.boxes[1] = (stn_aabb){{edge, 0.0, 0.0}, {2.0, 1.0, 1.0}};
    s.boxes[2] = (stn_aabb){{nextafter(2.0, 3.0), 0.0, 0.0}, {3.0, 1.0, 1.0}};
    stn_broadphase *bp = NULL;
    stn_error err;
    const stn_broadphase_pair *pairs = NULL;
    int32_t count = 0;
    assert_ok(stn_broadphase_create(context, &bp, &err), err);
    assert_ok(stn_broadphase_update(bp, 3, s.boxes, s.moving, NULL, NULL, &pairs, &count, &err), err);
    assert_int_equal(count, 1);
    assert_true(pairs[0].a == 0 && pairs[0].b == 1);
    stn_broadphase_destroy(bp);
    stn_context_destroy(context);
}

static void many_equal_boxes_all_meet(void **state) {
    (void)state;
    int32_t enough = INT32_MAX;
    stn_context *context = context_with(&enough);
    scene *s = calloc(1, sizeof *s);
    s->count = 300;
    for (int32_t i = 0; i < s->count; i++) {
        s->boxes[i] = (stn_aabb){{-1.0, -1.0, -1.0}, {1.0, 1.0, 1.0}};
        s->moving[i] = true;
    }
    stn_broadphase *bp = NULL;
    stn_error err;
    assert_ok(stn_broadphase_create(context, &bp, &err), err);
    assert_brute_force_agrees(bp, s, NULL);
    free(s);
    stn_broadphase_destroy(bp);
    stn_context_destroy(context);
}

static void after_warm_up_nothing_is_allocated(void **state) {
    (void)state;
    int32_t enough = INT32_MAX;
    stn_context *context = context_with(&enough);
    stn_random r = {13};
    scene *s = random_scene(&r, 600), *first = calloc(1, sizeof *first);
    memcpy(first, s, sizeof *first);
    stn_broadphase *bp = NULL;
    stn_error err;
    assert_ok(stn_broadphase_create(context, &bp, &err), err);
    int64_t before = 0;
    for (int32_t round = 0; round < 2; round++) { // the same motion twice
        before = stn_context_allocations(context);
        stn_random path = {14};
        memcpy(s, first, sizeof *s);
        for (int32_t step = 0; step < 100; step++) {
            const stn_broadphase_pair *pairs = NULL;
            int32_t count = 0;
            nudge(&path, s);
            assert_ok(stn_broadphase_update(bp, s->count, s->boxes, s->moving, NULL, NULL, &pairs, &count, &err), err);
        }
    }
    assert_int_equal(stn_context_allocations(context), before);
    free(first);
    free(s);
    stn_broadphase_destroy(bp);
    stn_context_destroy(context);
}

static void a_box_that_is_no_number_is_named(void **state) {
    (void)state;
    int32_t enough = INT32_MAX;
    stn_context *context = context_with(&enough);
    stn_random r = {15};
    scene *s = random_scene(&r, 60);
    stn_broadphase *bp = NULL;
    stn_error err;
    const stn_broadphase_pair *pairs = NULL;
    int32_t count = -1;
    assert_ok(stn_broadphase_create(context, &bp, &err), err);
    double kept = s->boxes[41].upper.y;
    s->boxes[41].upper.y = NAN;
    assert_int_equal(stn_broadphase_update(bp, s->count, s->boxes, s->moving, NULL, NULL, &pairs, &count, &err),
                     STN_ERR_NUMERIC);
    assert_non_null(strstr(err.text, "41"));
    assert_true(count == -1 && pairs == NULL);
    s->boxes[41].upper.y = kept;
    assert_brute_force_agrees(bp, s, NULL);
    free(s);
    stn_broadphase_destroy(bp);
    stn_context_destroy(context);
}

static void running_out_of_memory_is_told_and_survived(void **state) {
    (void)state;
    stn_random r = {16};
    scene *s = random_scene(&r, 400);
    for (int32_t allowed = 1; allowed < 20; allowed++) {
        int32_t left = INT32_MAX;
        stn_context *context = context_with(&left);
        stn_broadphase *bp = NULL;
        const stn_broadphase_pair *pairs = NULL;
        int32_t count = 0;
        stn_error err = {0};
        left = allowed - 1;
        stn_status status = stn_broadphase_create(context, &bp, &err);
        if (status == STN_OK) {
            status = stn_broadphase_update(bp, s->count, s->boxes, s->moving, NULL, NULL, &pairs, &count, &err);
        }
        assert_true(status == STN_OK || status == STN_ERR_MEMORY);
        left = INT32_MAX;
        if (bp != NULL) {
            assert_brute_force_agrees(bp, s, NULL); // and works again afterwards
        }
        stn_broadphase_destroy(bp);
        stn_context_destroy(context);
    }
    free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_are_those_of_brute_force_in_order),
        cmocka_unit_test(boxes_that_exchange_roles_are_followed),
        cmocka_unit_test(few_that_travel_among_many_that_rest_are_followed),
        cmocka_unit_test(touching_boxes_count_as_overlapping),
        cmocka_unit_test(many_equal_boxes_all_meet),
        cmocka_unit_test(after_warm_up_nothing_is_allocated),
        cmocka_unit_test(a_box_that_is_no_number_is_named),
        cmocka_unit_test(running_out_of_memory_is_told_and_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
