// SPDX-License-Identifier: Apache-2.0
// Faces of a patch get their Jacobians and inverse masses from their pair: they are those of every face by itself.
#include "scenes.h"

#include <string.h>

#include <stiction/delassus.h>

/// Two compliant boxes, one upon the other, leaning: 12 dofs, both free.
static stn_world *make(stn_context *context) {
    stn_world_options options = stn_world_options_default();
    options.contact.id = "hydroelastic";
    options.gravity = stn_vec3_make(1.0, 2.0, -9.0);
    stn_world *world = scene_world(context, &options);
    stn_geometry_spec box = stn_geometry_spec_default(stn_shape_box(stn_vec3_make(0.1, 0.2, 0.1)));
    box.material.modulus = 1e5;
    scene_ground(world);
    scene_body(world, "lower", 2.0, &box, stn_vec3_make(0.0, 0.0, 0.0995));
    scene_body(world, "upper", 1.0, &box, stn_vec3_make(0.03, -0.02, 0.2985));
    return world;
}

/// Velocity of the point of a body, from its state before the step: (position), (linear, angular).
static stn_vec3 point_velocity(const double *q, const double *v, stn_vec3 point) {
    stn_vec3 arm = stn_vec3_sub(point, stn_vec3_make(q[0], q[1], q[2]));
    return stn_vec3_add(stn_vec3_make(v[0], v[1], v[2]), stn_vec3_cross(stn_vec3_make(v[3], v[4], v[5]), arm));
}

static void assert_rows(const stn_problem *p, const double *q, const double *v) {
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const stn_constraint *c = &p->constraints[i];
        double rows[3];
        stn_vec3 speed = stn_vec3_zero();
        assert_true(c->kind == STN_CONSTRAINT_CONTACT && c->patch >= 0);
        for (int32_t side = 0; side < 2; side++) {
            int32_t k = c->body[side] - 1; // the world is body 0
            stn_vec3 own = k < 0 ? stn_vec3_zero() : point_velocity(&q[7 * k], &v[6 * k], c->point);
            speed = stn_vec3_mul_add(speed, side == 0 ? -1.0 : 1.0, own);
        }
        stn_constraint_velocity(p, c, v, rows);
        for (int32_t a = 0; a < 3; a++) {
            assert_near(rows[a], stn_vec3_dot(stn_mat3_column(&c->frame, a), speed), 1e-14);
        }
    }
}

static void assert_masses(stn_context *context, const stn_problem *stepped) {
    stn_problem_owner *owner = NULL;
    stn_inverse *inverse = NULL;
    stn_error err;
    assert_ok(stn_problem_copy(context, stepped, &owner, &err), err);
    stn_problem p = *stn_problem_of(owner);
    stn_arena *arena = stn_arena_create(context);
    assert_ok(stn_inverse_create(context, &inverse, &err), err);
    assert_ok(stn_inverse_factor(inverse, &p, &err), err);
    assert_ok(stn_inverse_masses(inverse, &p, arena, &err), err);
    for (int32_t i = 0; i < p.constraint_count; i++) {
        const stn_constraint *alone = &p.constraints[i], *c = &stepped->constraints[i];
        assert_near(c->w, alone->w, 1e-13 * alone->w);
        assert_near(c->w_trace, alone->w_trace, 1e-13 * alone->w_trace);
    }
    stn_inverse_destroy(inverse);
    stn_arena_destroy(arena);
    stn_problem_destroy(owner);
}

static void faces_have_the_rows_and_masses_of_contacts(void **state) {
    stn_world *world = make(*state);
    scene_steps(world, 20);
    for (int32_t step = 0; step < 5; step++) {
        double q[14], v[12];
        const stn_state *now = stn_world_state(world);
        memcpy(q, now->q, sizeof q);
        memcpy(v, now->v, sizeof v);
        scene_steps(world, 1);
        const stn_observation *o = stn_world_observation(world);
        assert_int_equal(o->contacts->patch_count, 2);
        assert_rows(o->problem, q, v);
        assert_masses(*state, o->problem);
    }
    stn_world_destroy(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faces_have_the_rows_and_masses_of_contacts),
    };
    return cmocka_run_group_tests(tests, scene_setup, scene_teardown);
}
