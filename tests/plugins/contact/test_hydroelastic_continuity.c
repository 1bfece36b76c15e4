// SPDX-License-Identifier: Apache-2.0
// Force and torque of a patch while one shape passes over faces, edges and corners of the other, and turns: no jump
// above 1 % of the peak at the default resolution. Where the change between two places is largest it is bisected down
// to 1e-12 of the way: what is left is a jump. All kinds, half spaces and margins in the tier full.
#include <stdlib.h>
#include <string.h>

#include "patch_cast.h"

/// Force and torque about B's origin, over a length, so that they are comparable.
typedef struct wrench {
    double x[6];
} wrench;

/// Pose of B at s in 0..1 on a way.
typedef stn_pose way(double s);

/// Height of A's origin [m].
static double ground;

static wrench wrench_at(patch_probe *p, way *path, double s, double length) {
    stn_pose a = patch_at(0.0, 0.0, ground), b = path(s);
    patch_sum sum = patch_sum_of(patch_collide(p, &a, &b, 0.0));
    stn_vec3 t = stn_vec3_sub(sum.torque, stn_vec3_cross(b.position, sum.force));
    wrench w = {{sum.force.x, sum.force.y, sum.force.z, t.x / length, t.y / length, t.z / length}};
    return w;
}

static double apart(const wrench *a, const wrench *b) {
    double sum = 0.0;
    for (int32_t k = 0; k < 6; k++) {
        sum += (a->x[k] - b->x[k]) * (a->x[k] - b->x[k]);
    }
    return sqrt(sum);
}

/// The largest jump on the way over the peak.
static double worst_jump(patch_probe *p, way *path, double length) {
    enum { STEPS = 400, TRIED = 12 };
    static wrench at[STEPS + 1];
    static double change[STEPS];
    const wrench zero = {{0}};
    double peak = 0.0, worst = 0.0;
    for (int32_t i = 0; i <= STEPS; i++) {
        at[i] = wrench_at(p, path, (double)i / STEPS, length);
        peak = worse(peak, apart(&at[i], &zero));
        if (i > 0) {
            change[i - 1] = apart(&at[i], &at[i - 1]);
        }
    }
    assert_true(peak > 0.0);
    for (int32_t n = 0; n < TRIED; n++) {
        int32_t most = 0;
        for (int32_t i = 1; i < STEPS; i++) {
            most = change[i] > change[most] ? i : most;
        }
        change[most] = 0.0;
        double low = (double)most / STEPS, high = (double)(most + 1) / STEPS;
        wrench left = at[most], right = at[most + 1];
        for (int32_t k = 0; k < 32; k++) {
            double middle = 0.5 * (low + high);
            wrench m = wrench_at(p, path, middle, length);
            if (apart(&m, &left) > apart(&m, &right)) {
                high = middle;
                right = m;
            } else {
                low = middle;
                left = m;
            }
        }
        worst = worse(worst, apart(&left, &right));
    }
    return worst / peak;
}

/// Of B's centre above the face of A [m].
static double height;

static stn_pose over_the_edge(double s) { // from over the face of the box to beside it
    return patch_at(0.02 + 0.12 * s, 0.013, 0.1 + height);
}

static stn_pose over_the_corner(double s) {
    return patch_at(0.05 + 0.09 * s, 0.06 + 0.08 * s, 0.1 + height);
}

static stn_pose along_the_edge(double s) {
    return patch_at(0.1 + 0.02, -0.05 + 0.1 * s, 0.1 + 0.8 * height);
}

static stn_pose turning_on_the_face(double s) {
    stn_pose pose = patch_at(0.01, 0.02, 0.1 + height);
    pose.rotation = stn_mat3_from_rpy(3.0 * s, 1.0 + 2.0 * s, 0.5 * s);
    return pose;
}

static stn_pose tilting_over_the_edge(double s) { // through the angles at which faces stand along the field
    stn_pose pose = patch_at(0.1, 0.0, 0.1 + 0.7 * height);
    pose.rotation = stn_mat3_from_rpy(0.3, -1.0 + 2.0 * s, 0.2);
    return pose;
}

static void check_ways(stn_geometry a, stn_geometry b, const char *what) {
    way *const ways[] = {over_the_edge, over_the_corner, along_the_edge, turning_on_the_face, tilting_over_the_edge};
    patch_probe p;
    patch_probe_open(&p, a, b);
    for (int32_t i = 0; i < STN_COUNT(ways); i++) {
        double jump = worst_jump(&p, ways[i], 0.05);
        print_message("%s, way %d: largest jump %.1e of the peak\n", what, i, jump);
        assert_true(jump < 1e-6);
    }
    patch_probe_close(&p);
}

static const double rigid = (double)INFINITY, none = (double)NAN;

static stn_geometry block(double modulus) {
    return patch_geometry(stn_shape_box(stn_vec3_make(0.1, 0.1, 0.1)), modulus, none);
}

static stn_geometry ball(double modulus) {
    return patch_geometry(stn_shape_sphere(0.05), modulus, none);
}

static stn_geometry brick(double modulus) {
    return patch_geometry(stn_shape_box(stn_vec3_make(0.05, 0.04, 0.03)), modulus, none);
}

static void a_soft_ball_passes_a_rigid_box(void **state) {
    (void)state;
    height = 0.045;
    check_ways(block(rigid), ball(1e6), "soft ball, rigid box");
}

static void a_soft_ball_passes_a_soft_box(void **state) {
    (void)state;
    height = 0.045;
    check_ways(block(2e6), ball(1e6), "soft ball, soft box");
}

static void a_rigid_ball_passes_a_soft_box(void **state) {
    (void)state;
    height = 0.045;
    check_ways(block(2e6), ball(rigid), "rigid ball, soft box");
}

static void a_soft_brick_passes_a_soft_box(void **state) {
    (void)state;
    height = 0.025;
    check_ways(block(2e6), brick(1e6), "soft brick, soft box");
}

static void a_rigid_brick_passes_a_soft_box(void **state) {
    (void)state;
    height = 0.025;
    check_ways(block(2e6), brick(rigid), "rigid brick, soft box");
}

static void a_soft_brick_passes_a_rigid_box(void **state) {
    (void)state;
    height = 0.025;
    check_ways(block(rigid), brick(1e6), "soft brick, rigid box");
}

// ------------------------------------------------------------------------------------------------ shapes of all kinds

static stn_pose pressed(double roll, double pitch, double yaw) {
    stn_pose pose = patch_at(0.013, 0.007, 0.1 + height);
    pose.rotation = stn_mat3_from_rpy(roll, pitch, yaw);
    return pose;
}

static stn_pose turning_about_x(double s) { // face, edge and corner come down in turn, and lie flat
    return pressed(2.0 * s, 0.0, 0.0);
}

static stn_pose turning_about_y(double s) {
    return pressed(0.0, 2.0 * s - 0.1, 0.0);
}

static stn_pose turning_about_y_askew(double s) {
    return pressed(0.6, 2.0 * s, 0.3);
}

static stn_pose turning_about_z(double s) {
    return pressed(0.0, 0.0, 1.7 * s);
}

static stn_pose sinking_flat(double s) {
    return patch_at(0.013, 0.007, 0.1 + height + 0.03 * (1.0 - s));
}

/// Kind b on kind a; A_BOX as `a` is the block.
static double jump_of(const patch_cast *c, int32_t a, double modulus_a, int32_t b, double modulus_b, double margin) {
    way *const ways[] = {sinking_flat,    turning_about_x,       turning_about_y, turning_about_y_askew,
                         turning_about_z, tilting_over_the_edge, over_the_edge,   over_the_corner};
    stn_geometry of_a = a == A_BOX ? block(modulus_a) : cast_of(c, a, modulus_a), of_b = cast_of(c, b, modulus_b);
    of_a.field.margin = of_b.field.margin = margin;
    ground = a == A_HALF_SPACE ? 0.1 : 0.0;
    height = b == A_PLATE || b == A_COIN ? 0.004 : 0.025;
    patch_probe p;
    cast_probe_open(c, &p, of_a, of_b, NULL);
    double worst = 0.0;
    for (int32_t i = 0; i < STN_COUNT(ways) - (a == A_HALF_SPACE ? 3 : 0); i++) {
        double jump = worst_jump(&p, ways[i], 0.05);
        if (jump > 1e-6) {
            print_message("kind %d of %g Pa on %d of %g Pa, way %d: jump %.1e of the peak\n", b, modulus_b, a,
                          modulus_a, i, jump);
        }
        worst = worse(worst, jump);
    }
    patch_probe_close(&p);
    ground = 0.0;
    return worst;
}

static bool is_full(void) {
    const char *tier = getenv("STICTION_TEST_TIER");
    return tier != NULL && strcmp(tier, "full") == 0;
}

static void check_cast(double modulus_a, double modulus_b, double margin) {
    patch_cast cast;
    cast_open(&cast, 1.0);
    double worst = 0.0;
    const int32_t every = margin > 0.0 ? 3 : is_full() ? 1 : 2;
    for (int32_t b = A_PLATE; b < PATCH_KINDS; b += every) {
        worst = worse(worst, jump_of(&cast, A_BOX, modulus_a, b, modulus_b, margin));
        if (is_full() && !(isfinite(modulus_a) && isfinite(modulus_b))) {
            worst = worse(worst, jump_of(&cast, A_HALF_SPACE, modulus_a, b, modulus_b, margin));
        }
    }
    cast_close(&cast);
    print_message("largest jump %.1e of the peak\n", worst);
    assert_true(worst < 1e-6);
}

static void soft_shapes_on_rigid_ones(void **state) {
    (void)state;
    check_cast(rigid, 1e6, none);
}

static void rigid_shapes_on_soft_ones(void **state) {
    (void)state;
    check_cast(2e6, rigid, none);
}

static void soft_shapes_on_soft_ones(void **state) {
    (void)state;
    check_cast(2.3e6, 1e6, none);
}

static void shapes_with_a_margin(void **state) {
    (void)state;
    if (!is_full()) {
        skip();
    }
    check_cast(2.3e6, 1e6, 1e-3);
}

/// Faces are joined on one part of the way and not on another one.
static void merged_faces_jump_by_less_than_their_bound(void **state) {
    (void)state;
    const double bound = 0.2;
    way *const ways[] = {over_the_edge, turning_on_the_face};
    stn_geometry large = patch_geometry(stn_shape_sphere(0.1), 2e6, 0.02);
    stn_geometry small = patch_geometry(stn_shape_sphere(0.05), 1e6, 0.01);
    stn_pose a = patch_at(0.0, 0.0, 0.0), b;
    height = 0.045;
    b = turning_on_the_face(0.5);
    patch_probe p;
    patch_probe_open(&p, large, small);
    int32_t apart_count = patch_collide(&p, &a, &b, 0.0)->count;
    patch_probe_close(&p);
    patch_probe_open_merging(&p, large, small, bound);
    int32_t joined_count = patch_collide(&p, &a, &b, 0.0)->count;
    print_message("%d faces, %d when merged\n", apart_count, joined_count);
    assert_true(joined_count < apart_count);
    for (int32_t i = 0; i < STN_COUNT(ways); i++) {
        double jump = worst_jump(&p, ways[i], 0.05);
        print_message("merged, way %d: largest jump %.1e of the peak\n", i, jump);
        assert_true(jump < bound);
    }
    patch_probe_close(&p);
}

/// Where both pressures grow equally fast from sides that come to lie in one plane (equal E/H, equal normals), all of
/// that region goes from one solid to the other at once: the potential itself has a kink there. The region is a strip
/// as wide as the depth, so that the jump falls with it.
static void equal_slopes_of_sides_in_one_plane_jump_by_less_than_the_depth(void **state) {
    (void)state;
    stn_geometry cube = patch_geometry(stn_shape_box(stn_vec3_make(0.05, 0.05, 0.05)), 1e6, none);
    patch_probe p;
    patch_probe_open(&p, block(2e6), cube);
    for (double depth = 4e-3; depth > 9e-4; depth *= 0.5) {
        height = 0.05 - depth;
        double jump = worst_jump(&p, over_the_edge, 0.05);
        print_message("%g mm deep: jump %.1e of the peak\n", 1e3 * depth, jump);
        assert_true(jump < depth / 0.05);
        assert_true(depth > 1.5e-3 || jump < 0.01);
    }
    patch_probe_close(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_soft_ball_passes_a_rigid_box),
        cmocka_unit_test(a_soft_ball_passes_a_soft_box),
        cmocka_unit_test(a_rigid_ball_passes_a_soft_box),
        cmocka_unit_test(a_soft_brick_passes_a_soft_box),
        cmocka_unit_test(a_rigid_brick_passes_a_soft_box),
        cmocka_unit_test(a_soft_brick_passes_a_rigid_box),
        cmocka_unit_test(soft_shapes_on_rigid_ones),
        cmocka_unit_test(rigid_shapes_on_soft_ones),
        cmocka_unit_test(soft_shapes_on_soft_ones),
        cmocka_unit_test(shapes_with_a_margin),
        cmocka_unit_test(merged_faces_jump_by_less_than_their_bound),
        cmocka_unit_test(equal_slopes_of_sides_in_one_plane_jump_by_less_than_the_depth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
