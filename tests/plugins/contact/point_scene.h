// SPDX-License-Identifier: Apache-2.0
// Bodies that stand on each other, and what is asked of their contact points.
#ifndef STN_POINT_SCENE_H
#define STN_POINT_SCENE_H

#include "point_oracle.h"
#include "stn_test.h"

static const double depth = 1e-4;

static inline int set_up(void **state) {
    static probe p;
    stn_error err;
    assert_ok(probe_create(&p, NULL, 0, &err), err);
    *state = &p;
    return 0;
}

static inline int tear_down(void **state) {
    probe_destroy(*state);
    return 0;
}

static inline placed at(stn_shape shape, double x, double y, double z) {
    placed p = {shape, stn_pose_identity()};
    p.pose.position = stn_vec3_make(x, y, z);
    return p;
}

static inline placed turned(placed p, double roll, double pitch, double yaw) {
    p.pose.rotation = stn_mat3_from_rpy(roll, pitch, yaw);
    return p;
}

static inline placed box_at(double hx, double hy, double hz, double x, double y, double z) {
    return at(stn_shape_box(stn_vec3_make(hx, hy, hz)), x, y, z);
}

/// A table top at z = 0.
static inline placed table(void) {
    return box_at(2.0, 2.0, 0.5, 0.0, 0.0, -0.5);
}

static inline const stn_contact_set *touch(void **state, placed a, placed b, double margin) {
    probe *p = *state;
    stn_error err;
    assert_ok(probe_collide(p, &a, &b, margin, 0.5, &err), err);
    return &p->set;
}

/// `count` points at `depth` below z = 0, with the normal up, and with ids of their own.
static inline void assert_flat(const stn_contact_set *set, int32_t count) {
    assert_int_equal(set->count, count);
    for (int32_t i = 0; i < set->count; i++) {
        assert_near(set->contacts[i].phi0, -depth, 1e-12);
        assert_near(set->contacts[i].normal.z, 1.0, 1e-12);
        assert_near(set->contacts[i].point.z, -0.5 * depth, 1e-12);
        for (int32_t k = 0; k < i; k++) {
            assert_true(set->contacts[i].id != set->contacts[k].id);
        }
    }
}

static inline bool has_point(const stn_contact_set *set, double x, double y) {
    for (int32_t i = 0; i < set->count; i++) {
        if (hypot(set->contacts[i].point.x - x, set->contacts[i].point.y - y) < 1e-9) {
            return true;
        }
    }
    return false;
}

/// Smallest distance from (x, y) to the sides of the convex hull of the points; negative: outside.
static inline double support_radius(const stn_contact_set *set, double x, double y) {
    double smallest = INFINITY;
    for (int32_t k = 0; k < 360; k++) {
        double angle = k * STN_PI / 180.0, reach = -INFINITY;
        for (int32_t i = 0; i < set->count; i++) {
            stn_vec3 p = set->contacts[i].point;
            reach = fmax(reach, cos(angle) * (p.x - x) + sin(angle) * (p.y - y));
        }
        smallest = fmin(smallest, reach);
    }
    return smallest;
}

#define REST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

#endif
