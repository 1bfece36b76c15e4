// SPDX-License-Identifier: Apache-2.0
// What a world tells solvers of the motion of large trees agrees with the rows of every step (stn_problem_check), with
// any integrator, with stiction and static friction, where links touch each other and other bodies, and where the tree
// hangs on a body that moves by itself.
#include <string.h>

#include "scenes.h"

enum { LINKS = 34 };

/// A chain that lies on the ground in a zigzag, a ball on every link; joints turn about z and y in turn, every fifth
/// one slides.
static int32_t add_chain(stn_world *world, bool fixed) {
    stn_model_builder *builder = stn_world_builder(world);
    const stn_pose base = {stn_mat3_identity(), stn_vec3_make(0.0, 0.0, 0.049)};
    int32_t robot = 0, before = 0, id = 0;
    stn_error err;
    assert_ok(stn_builder_begin_group(builder, "chain", &robot, &err), err);
    for (int32_t i = 0; i < LINKS; i++) {
        char name[32];
        stn_geometry_spec ball = stn_geometry_spec_default(stn_shape_sphere(0.05));
        ball.material.mu = 0.5;
        ball.material.mu_static = i % 3 == 0 ? 0.8 : (double)NAN;
        snprintf(name, sizeof name, "link%d", (int)i);
        stn_link_spec link = {.name = name};
        assert_ok(stn_shape_mass(&ball.shape, 0.5, &link.mass, &err), err);
        assert_ok(stn_builder_add_link(builder, &link, &id, &err), err);
        const int32_t own = id;
        assert_ok(stn_builder_add_geometry(builder, own, &ball, &id, &err), err);
        if (i > 0) {
            snprintf(name, sizeof name, "joint%d", (int)i);
            stn_joint_spec spec = stn_joint_spec_default(name, i % 5 == 0 ? STN_JOINT_PRISMATIC : STN_JOINT_REVOLUTE);
            spec.parent = before;
            spec.child = own;
            spec.origin.position = stn_vec3_make(0.09, i % 2 == 0 ? 0.02 : -0.02, 0.0); // neighbours of neighbours touch
            spec.axis = i % 2 == 0 ? stn_vec3_make(0.0, 1.0, 0.0) : stn_vec3_make(0.0, 0.0, 1.0);
            spec.lower = -0.5;
            spec.upper = 0.5;
            spec.damping = 0.01;
            assert_ok(stn_builder_add_joint(builder, &spec, &id, &err), err);
        }
        before = own;
    }
    assert_ok(stn_builder_set_base(builder, robot, &base, fixed, &err), err);
    return robot;
}

typedef struct plan {
    const char *integrator;
    bool fixed, stiction;
} plan;

static void rows_follow_from_the_motion(void **state) {
    static const plan plans[] = {
        {"symplectic_euler", false, false}, {"symplectic_euler", true, true}, {"theta", false, true}};
    for (int32_t k = 0; k < STN_COUNT(plans); k++) {
        stn_world_options options = stn_world_options_default();
        options.dt = 2e-3;
        options.integrator.id = plans[k].integrator;
        options.stiction = plans[k].stiction;
        stn_world *world = scene_world(*state, &options);
        scene_ground(world);
        add_chain(world, plans[k].fixed);
        scene_ball(world, "ball", 1.0, 0.08, stn_vec3_make(1.0, 0.1, 0.13));
        stn_error err;
        int32_t told = 0, rows = 0;
        for (int32_t step = 0; step < 200; step++) {
            assert_true(stn_world_step(world, &err) >= STN_OK);
            const stn_problem *p = stn_world_observation(world)->problem;
            assert_ok(stn_problem_check(*state, p, &err), err);
            for (int32_t i = 0; i < p->constraint_count; i++) {
                const stn_constraint *c = &p->constraints[i];
                for (int32_t side = 0; side < stn_constraint_block_count(c); side++) {
                    told += stn_constraint_block(c, side)->wrench != NULL;
                }
                rows++;
            }
        }
        print_message("%s%s%s: %d of %d Jacobian blocks have a wrench\n", plans[k].integrator, plans[k].fixed ? ", fixed" : "",
                      plans[k].stiction ? ", stiction" : "", (int)told, (int)rows);
        assert_true(told > 1000 || strcmp(plans[k].integrator, "theta") == 0); // whose contacts are those of later positions
        stn_world_destroy(world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rows_follow_from_the_motion, scene_setup, scene_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
