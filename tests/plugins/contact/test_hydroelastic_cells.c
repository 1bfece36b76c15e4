// SPDX-License-Identifier: Apache-2.0
// Patches are cut from cells, in which the tetrahedra over a flat side are one: on a plane, at random places and turns,
// they must carry what the tetrahedra of the same field do, each cut by itself.
#include "field_probe.h"

#include "patch_probe.h"
#include "point_hulls.h"

/// In [0, 1).
static double random_share(stn_random *r) {
    return 0.5 * (random_real(r) + 1.0);
}

static const double none = (double)NAN, coarse = 0.05;

/// Does the plane pass where faces count less, on the far side of the field (README)?
static bool on_the_far_side(const field *f, stn_vec3 up, double height) {
    bool any = false;
    for (int32_t t = 0; t < f->tetrahedron_count && !any; t++) {
        stn_vec3 p[16];
        double value[16];
        any = cut_tetrahedron(f, t, up, height, p, value) > 0 &&
              stn_vec3_dot(f->gradients[t], up) < -0.49 * stn_vec3_norm(f->gradients[t]);
    }
    return any;
}

/// Of a shape that is pressed into a rigid plane; E = 1. False: nothing to compare.
static bool compare(stn_random *r, patch_probe *p, const field *f, const char *what) {
    stn_pose here = stn_pose_identity(), body = here;
    stn_quat turn = stn_quat_exp(stn_vec3_scale(3.0 * random_share(r), random_unit(r)));
    body.rotation = stn_quat_matrix(turn);
    stn_mat3 back = stn_mat3_transpose(&body.rotation);
    stn_vec3 up = stn_mat3_apply(&back, stn_vec3_make(0, 0, 1));
    double height = support_height(f, up) + f->depth * (0.02 + 0.2 * random_share(r));
    body.position = stn_vec3_make(0.3, -0.2, -height);
    if (on_the_far_side(f, up, height)) {
        return false;
    }
    plane_sum exact = plane_integral(f, up, height);
    patch_sum sum = patch_sum_of(patch_collide(p, &here, &body, 0.0));
    if (!(fabs(sum.force.z - exact.force) < 1e-9 * exact.force)) {
        fail_msg("%s: force %.12g instead of %.12g", what, sum.force.z, exact.force);
    }
    stn_vec3 torque = stn_vec3_sub(sum.torque, stn_vec3_cross(body.position, sum.force));
    stn_vec3 moment = stn_mat3_apply(&body.rotation, exact.moment);
    double off = stn_vec3_norm(stn_vec3_sub(torque, stn_vec3_cross(moment, stn_vec3_make(0, 0, 1))));
    if (!(off < 1e-9 * (stn_vec3_norm(moment) + exact.force * f->depth))) {
        fail_msg("%s: torque %g off", what, off / stn_vec3_norm(moment));
    }
    return true;
}

/// `shape`: thin or not, of any size.
static stn_shape shape_at_random(stn_random *r, stn_context *context, int32_t kind, stn_mesh **mesh) {
    double a = pow(10.0, -3.0 * random_share(r)), b = pow(10.0, -3.0 * random_share(r));
    stn_vec3 half = {0.1, 0.1 * a, 0.1 * b};
    *mesh = NULL;
    switch (kind) {
    case 0:
        return stn_shape_box(half);
    case 1: // a point, a segment, a rectangle as core
        return stn_shape_box(stn_vec3_make(0.1, 0.1, random_below(r, 2) == 0 ? 0.1 : 0.1 * b));
    case 2:
        return stn_shape_cylinder(0.1, 0.1 * (random_below(r, 2) == 0 ? fmax(b, 0.1) : 1.0 / fmax(b, 0.1)));
    case 3:
        return stn_shape_capsule(0.1, 0.1 / fmax(b, 0.1));
    default:
        *mesh = hull_random(r, context, stn_vec3_make(0.1, 0.05, 0.03));
        return stn_shape_mesh(*mesh);
    }
}

static void cells_carry_what_their_tetrahedra_do(void **state) {
    (void)state;
    stn_random r = {17};
    stn_context *context = NULL;
    assert_int_equal(stn_context_create(NULL, &context, NULL), STN_OK);
    int32_t compared = 0;
    for (int32_t i = 0; i < 100; i++) {
        stn_mesh *mesh;
        stn_shape shape = shape_at_random(&r, context, i % 5, &mesh);
        const field_fineness fineness = {none, coarse, 0.0};
        field *f = NULL;
        stn_error err;
        assert_ok(field_create(context, &shape, NULL, &fineness, 200000, &f, &err), err);
        patch_probe p;
        patch_probe_open(&p, patch_geometry(stn_shape_half_space(), (double)INFINITY, none),
                         patch_geometry(shape, 1.0, none));
        for (int32_t k = 0; k < 5; k++) {
            compared += compare(&r, &p, f, stn_shape_name(shape.type));
        }
        patch_probe_close(&p);
        field_destroy(context, f);
        if (mesh != NULL) {
            stn_mesh_release(mesh);
        }
    }
    print_message("%d compared\n", compared);
    assert_true(compared > 400);
    stn_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(cells_carry_what_their_tetrahedra_do)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
