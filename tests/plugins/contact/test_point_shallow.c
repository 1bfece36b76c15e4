// SPDX-License-Identifier: Apache-2.0
// Hulls, boxes, capsules and cylinders that overlap by little, as they do at rest: the depth is the least that any
// direction has, by brute force over directions, also of thin plates and needles, of which the nearest way out is
// through; and small motions change it by no more than they move.
#include "point_hulls.h"
#include "point_oracle.h"
#include "point_random.h"
#include "point_scene.h"

enum { PLATES = 3, KINDS = 5, CASES = 300 };

static stn_shape random_body(stn_random *r, stn_context *context, int32_t kind) {
    static const stn_vec3 plates[PLATES] = {
        {1.0, 0.8, 0.6}, {1.0, 0.7, 4e-3}, {1.0, 5e-3, 7e-3}}; // block, plate, needle
    stn_vec3 h = plates[random_below(r, PLATES)];
    switch (kind) {
    case 0:
        return stn_shape_box(h);
    case 1:
        return stn_shape_cylinder(h.y, h.z);
    case 2:
        return stn_shape_capsule(h.z, h.x);
    case 3:
        return stn_shape_mesh(hull_blob(r, context, 40, h, stn_vec3_zero()));
    default:
        return stn_shape_mesh(hull_prism(context, 9, h));
    }
}

static placed hull_at(stn_context *context, stn_mat3 rotation) {
    placed hull = at(stn_shape_mesh(hull_box(context, stn_vec3_make(0.5, 0.5, 0.5))), 0.0, 0.0, 0.0);
    hull.pose.rotation = rotation;
    return hull;
}

static double deepest(void **state, const placed *a, const placed *b, stn_vec3 *normal) {
    probe *p = *state;
    stn_error err;
    double phi = INFINITY;
    assert_ok(probe_collide(p, a, b, 1e9, 0.5, &err), err);
    assert_true(p->set.count > 0);
    for (int32_t i = 0; i < p->set.count; i++) {
        *normal = p->set.contacts[i].phi0 < phi ? p->set.contacts[i].normal : *normal;
        phi = fmin(phi, p->set.contacts[i].phi0);
    }
    return phi;
}

/// Moves B until it overlaps by that, beside the place where it did first.
static double sink(void **state, stn_random *r, const placed *a, placed *b, double overlap) {
    stn_vec3 normal;
    double phi = deepest(state, a, b, &normal);
    for (int32_t k = 0; k < 4; k++) {
        stn_vec3 beside = stn_vec3_scale(k == 0 ? 0.05 : 0.0, random_unit(r));
        b->pose.position = stn_vec3_add(b->pose.position, stn_vec3_mul_add(beside, -overlap - phi, normal));
        phi = deepest(state, a, b, &normal);
    }
    return phi;
}

static void no_direction_is_shallower(void **state) {
    static const double depths[] = {-1e-2, -1e-4, 1e-9, 1e-6, 1e-4, 2e-3, 8e-3, 3e-2};
    probe *p = *state;
    stn_random r = {91};
    double worst = 0.0;
    for (int32_t i = 0; i < KINDS * CASES; i++) {
        placed a = {random_body(&r, p->context, i % KINDS), random_pose(&r, 0.5)};
        placed b = {random_body(&r, p->context, 3 + i % 2), random_pose(&r, 0.5)};
        double phi = sink(state, &r, &a, &b, depths[i / KINDS % STN_COUNT(depths)]);
        b.pose.position = stn_vec3_add(b.pose.position, stn_vec3_scale(2.0 * fabs(phi), random_unit(&r)));
        stn_vec3 normal, other;
        phi = deepest(state, &a, &b, &normal);
        const double least = oracle_distance(&a, &b);
        worst = fmax(worst, least - phi);
        assert_true(fabs(oracle_along(&a, &b, normal) - phi) <= 1e-11);
        assert_true(least <= phi + 1e-10);
        placed nudged = b;
        nudged.pose.position = stn_vec3_add(b.pose.position, stn_vec3_scale(1e-7, random_unit(&r)));
        assert_true(fabs(deepest(state, &a, &nudged, &other) - phi) <= 1e-7 + 1e-11);
        stn_mesh_release(a.shape.mesh);
        stn_mesh_release(b.shape.mesh);
    }
    print_message("a direction that is shallower by %.1e m at most\n", worst);
}

/// Cap, side and rim of a cylinder over a face, an edge and a corner, sunk in straight.
static void a_cylinder_meets_each_part_of_a_hull(void **state) {
    probe *p = *state;
    const double eighth = 0.25 * STN_PI, overlap = 1e-5;
    const stn_mat3 up[] = {stn_mat3_identity(), stn_mat3_from_rpy(eighth, 0.0, 0.0),
                           stn_mat3_from_rpy(eighth, atan(sqrt(0.5)), 0.0)}; // face, edge, corner
    const double tilt[] = {0.0, 2.0 * eighth, 0.4};                          // on its cap, on its side, on its rim
    const stn_vec3 down = {0.0, 0.0, -1.0};
    for (int32_t i = 0; i < 9; i++) {
        placed hull = hull_at(p->context, up[i / 3]), can = at(stn_shape_cylinder(0.2, 0.3), 0.01, 0.02, 0.0);
        can.pose.rotation = stn_mat3_from_rpy(0.0, tilt[i % 3], 0.0);
        if (i % 3 == 2) { // its lowest point over the middle
            can.pose.position.x += 0.3 * sin(tilt[2]) - 0.2 * cos(tilt[2]);
        }
        can.pose.position.z = oracle_reach(&hull, stn_vec3_neg(down)) + oracle_reach(&can, down) - overlap;
        stn_vec3 normal;
        const double phi = deepest(state, &hull, &can, &normal);
        assert_near(phi, oracle_along(&hull, &can, normal), 1e-12); // and no direction separates more
        assert_true(oracle_distance(&hull, &can) <= phi + 1e-10);
        assert_true(phi >= -overlap - 1e-14);
        if (i < 3) {
            assert_near(phi, -overlap, 1e-14);
            assert_near(normal.z, 1.0, 1e-14);
        }
        stn_mesh_release(hull.shape.mesh);
    }
}

/// A block that has come into the rim of a wafer by 2 mm, but lies over its side by 1 mm alone: that is the way out.
static void a_wafer_is_left_through_its_side(void **state) {
    probe *p = *state;
    const double thin = 2e-3, into = 2e-3, over = 1e-3;
    const stn_vec3 half = {1.0, 1.0, thin}, up = {0.0, 0.0, 1.0}, back = {-1.0, 0.0, 0.0};
    const double turns[] = {0.0, 0.3, 0.25 * STN_PI};
    for (int32_t i = 0; i < 3 * 9; i++) {
        placed wafer = {i % 3 == 0   ? stn_shape_box(half)
                        : i % 3 == 1 ? stn_shape_cylinder(1.0, thin)
                                     : stn_shape_mesh(hull_box(p->context, half)),
                        stn_pose_identity()};
        placed block = {stn_shape_mesh(hull_box(p->context, stn_vec3_make(0.1, 0.1, 0.1))), stn_pose_identity()};
        block.pose.rotation = stn_mat3_from_rpy(0.0, turns[i / 9], turns[i / 3 % 3]);
        block.pose.position.x = 1.0 - into + oracle_reach(&block, back);
        block.pose.position.z = thin - over + oracle_reach(&block, stn_vec3_neg(up));
        stn_vec3 normal;
        const double phi = deepest(state, &wafer, &block, &normal);
        assert_near(phi, oracle_along(&wafer, &block, normal), 1e-12);
        assert_true(phi >= -over - 1e-12);
        assert_true(oracle_distance(&wafer, &block) <= phi + 1e-10);
        stn_mesh_release(wafer.shape.mesh);
        stn_mesh_release(block.shape.mesh);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        REST(no_direction_is_shallower),
        REST(a_cylinder_meets_each_part_of_a_hull),
        REST(a_wafer_is_left_through_its_side),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
