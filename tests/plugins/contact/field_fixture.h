// SPDX-License-Identifier: Apache-2.0
// Fields made for tests, and what holds for all of them.
#ifndef STN_TEST_FIELD_FIXTURE_H
#define STN_TEST_FIELD_FIXTURE_H

#include "field_probe.h"
#include "field_quality.h"

static stn_context *test_context;

static inline field *field_made(stn_shape shape, const stn_mesh *volume, field_fineness fineness) {
    field *made = NULL;
    stn_error err = {0};
    if (field_create(test_context, &shape, volume, &fineness, 2000000, &made, &err) != STN_OK) {
        fail_msg("%s: %s", stn_shape_name(shape.type), err.text);
    }
    return made;
}

static inline field *field_of(stn_shape shape, double resolution, double error, double margin) {
    field_fineness fineness = {resolution, error, margin};
    return field_made(shape, NULL, fineness);
}

/// Neighbours see each other across a shared face, extents at corners are those of the vertices, nothing is turned.
static inline void assert_sound(const field *f) {
    for (int32_t t = 0; t < f->tetrahedron_count; t++) {
        assert_true(tetrahedron_volume(f, t) > 0.0);
        bool inside = false;
        for (int32_t k = 0; k < 4; k++) {
            int32_t v = f->tetrahedra[4 * t + k], across = f->neighbours[4 * t + k];
            double e = extent_in(f, t, stn_vec3_at(f->vertices, v));
            assert_true(fabs(e - f->extents[v]) < 1e-7);
            inside = inside || f->extents[v] > 0.0;
            int32_t back = 0, shared = 0;
            for (int32_t l = 0; across >= 0 && l < 4; l++) {
                back += f->neighbours[4 * across + l] == t;
                for (int32_t m = 0; m < 4; m++) {
                    shared += m != k && f->tetrahedra[4 * across + l] == f->tetrahedra[4 * t + m];
                }
            }
            assert_true(across < 0 || (back == 1 && shared == 3));
        }
        assert_true(inside || f->extents[f->tetrahedra[4 * t]] <= 0.0);
    }
    field_quality q = field_inspect(f);
    assert_true(q.highest == 1.0 && q.lowest <= 0.0 && f->edge > 0.0 && isfinite(q.worst_aspect));
    assert_true(q.outer_faces > 0 && isfinite(q.steepest) && q.steepest > 0.0);
}

static int make_context(void **state) {
    (void)state;
    return stn_context_create(NULL, &test_context, NULL);
}

static int drop_context(void **state) {
    (void)state;
    stn_context_destroy(test_context);
    return 0;
}

#endif
