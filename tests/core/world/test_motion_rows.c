// SPDX-License-Identifier: Apache-2.0
// Large trees. What a world tells solvers of their motion agrees with the rows of every step (stn_problem_check), with
// any integrator, with stiction and static friction and where links touch each other and other bodies. A step of
// branches that fly solves the equation of the integrator.
#include <string.h>

#include "scenes.h"

enum { LINKS = 34, MOST_DOFS = 48 };

/// A chain that lies on the ground in a zigzag, a ball on every link; joints turn about z and y in turn, every fifth
/// one slides.
static void add_chain(stn_world *world, bool fixed) {
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
            spec.origin.position =
                stn_vec3_make(0.09, i % 2 == 0 ? 0.02 : -0.02, 0.0); // neighbours of neighbours touch
            spec.axis = i % 2 == 0 ? stn_vec3_make(0.0, 1.0, 0.0) : stn_vec3_make(0.0, 0.0, 1.0);
            spec.lower = -0.5;
            spec.upper = 0.5;
            spec.damping = 0.01;
            spec.friction = i % 4 == 0 ? 1e-3 : 0.0;
            assert_ok(stn_builder_add_joint(builder, &spec, &id, &err), err);
        }
        before = own;
    }
    assert_ok(stn_builder_set_base(builder, robot, &base, fixed, &err), err);
}

typedef struct plan {
    const char *integrator;
    bool fixed, stiction;
} plan;

/// Rows of contacts that have wrenches alone are point Jacobians of the step's start, and an articulated A is the mass
/// matrix there with `damping` of the joints.
static void check_against_kinematics(const stn_kinematics *kinematics, const stn_problem *p, double damping) {
    static double made[MOST_DOFS * MOST_DOFS], wanted[MOST_DOFS * MOST_DOFS];
    const int32_t n = p->trees[0].A.n;
    assert_true(n <= MOST_DOFS);
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const stn_constraint *c = &p->constraints[i];
        for (int32_t side = 0; side < stn_constraint_block_count(c); side++) {
            const stn_jacobian *J = stn_constraint_block(c, side);
            if (J->values != NULL) {
                continue;
            }
            memset(wanted, 0, sizeof wanted);
            for (int32_t k = 0; k < 2; k++) {
                const int32_t body = c->body[k];
                if (body > 0 && kinematics->model->bodies[body].tree == J->tree) {
                    stn_point_jacobian_add(kinematics, body, c->point, &c->frame, k == 0 ? -1.0 : 1.0, wanted);
                }
            }
            stn_jacobian_expand(p, J, 3, made);
            for (int32_t e = 0; e < 3 * n; e++) {
                assert_near(made[e], wanted[e], 1e-12);
            }
        }
    }
    if (p->trees[0].A.form == STN_MATRIX_ARTICULATED) {
        stn_matrix mass = {.n = n, .form = STN_MATRIX_DENSE, .values = wanted};
        stn_mass_matrix(kinematics, 0, &mass);
        stn_matrix_expand(&p->trees[0].A, made);
        for (int32_t e = 0; e < n * n; e++) {
            const bool joint = e % (n + 1) == 0 && e / n >= n - (LINKS - 1);
            assert_near(made[e], wanted[e] + (joint ? damping : 0.0), 1e-12 * (1.0 + fabs(wanted[e])));
        }
    }
}

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
        stn_error err;
        scene_ball(world, "ball", 1.0, 0.08, stn_vec3_make(1.0, 0.1, 0.13));
        int32_t told = 0, rows = 0;
        stn_kinematics *kinematics = NULL;
        assert_ok(stn_world_compile(world, &err), err);
        assert_ok(stn_kinematics_create(stn_world_model(world), &kinematics, &err), err);
        for (int32_t step = 0; step < 200; step++) {
            stn_kinematics_update(kinematics, stn_world_state(world)->q, stn_world_state(world)->v);
            assert_true(stn_world_step(world, &err) >= STN_OK);
            const stn_problem *p = stn_world_observation(world)->problem;
            assert_ok(stn_problem_check(*state, p, &err), err);
            check_against_kinematics(kinematics, p, options.dt * 0.01);
            for (int32_t i = 0; i < p->constraint_count; i++) {
                const stn_constraint *c = &p->constraints[i];
                for (int32_t side = 0; side < stn_constraint_block_count(c); side++) {
                    told += stn_constraint_block(c, side)->wrench != NULL;
                }
                rows++;
            }
        }
        print_message("%s%s%s: %d of %d Jacobian blocks have a wrench\n", plans[k].integrator,
                      plans[k].fixed ? ", fixed" : "", plans[k].stiction ? ", stiction" : "", (int)told, (int)rows);
        stn_kinematics_destroy(kinematics);
        assert_true(told > 1000 ||
                    strcmp(plans[k].integrator, "theta") == 0); // whose contacts are those of later positions
        stn_world_destroy(world);
    }
}

/// A hub with arms of five joints that fly and turn; `count` arms.
static void add_star(stn_world *world, int32_t count) {
    stn_model_builder *builder = stn_world_builder(world);
    const stn_pose base = {stn_mat3_identity(), stn_vec3_make(0.0, 0.0, 5.0)};
    stn_geometry_spec ball = stn_geometry_spec_default(stn_shape_sphere(0.05));
    stn_link_spec link = {.name = "hub"};
    int32_t robot = 0, hub = 0, id = 0;
    stn_error err;
    assert_ok(stn_builder_begin_group(builder, "star", &robot, &err), err);
    assert_ok(stn_shape_mass(&ball.shape, 1.0, &link.mass, &err), err);
    assert_ok(stn_builder_add_link(builder, &link, &hub, &err), err);
    for (int32_t i = 0; i < 5 * count; i++) {
        char name[32];
        const double angle = 2.0 * STN_PI * (i / 5) / count;
        snprintf(name, sizeof name, "link%d", (int)i);
        link.name = name;
        const int32_t before = i % 5 == 0 ? hub : id;
        assert_ok(stn_builder_add_link(builder, &link, &id, &err), err);
        const int32_t own = id;
        char joint[32];
        snprintf(joint, sizeof joint, "joint%d", (int)i);
        stn_joint_spec spec = stn_joint_spec_default(joint, i % 5 == 3 ? STN_JOINT_PRISMATIC : STN_JOINT_CONTINUOUS);
        spec.parent = before;
        spec.child = own;
        spec.origin.position = stn_vec3_make(0.15 * cos(angle), 0.15 * sin(angle), 0.02);
        spec.axis = i % 3 == 0 ? stn_vec3_make(0.0, 0.0, 1.0) : stn_vec3_make(sin(angle), -cos(angle), 0.0);
        assert_ok(stn_builder_add_joint(builder, &spec, &id, &err), err);
        id = own;
    }
    assert_ok(stn_builder_set_base(builder, robot, &base, false, &err), err);
}

/// M (v1 - v0) + dt (C(v0, v1) - gravity) = 0 of a step in free flight, whatever the factor of M: trees of 16, 26, 106
/// dofs.
static void steps_of_branched_trees_solve_their_equation(void **state) {
    enum { MOST = 106 };
    static const int32_t arms[] = {2, 4, 20};
    static double v0[MOST], M[MOST * MOST], left[MOST];
    static stn_spatial scratch[3 * (MOST + 2)];
    for (int32_t k = 0; k < STN_COUNT(arms); k++) {
        stn_world_options options = stn_world_options_default();
        options.dt = 5e-3;
        options.integrator.id = "symplectic_euler";
        stn_world *world = scene_world(*state, &options);
        add_star(world, arms[k]);
        stn_error err;
        stn_kinematics *kinematics = NULL;
        assert_ok(stn_world_compile(world, &err), err);
        const stn_model *model = stn_world_model(world);
        const int32_t n = model->nv;
        assert_int_equal(n, 6 + 5 * arms[k]);
        assert_ok(stn_kinematics_create(model, &kinematics, &err), err);
        for (int32_t d = 0; d < n; d++) {
            v0[d] = 3.0 * sin(1.0 + 7.0 * d);
        }
        assert_ok(stn_world_set_v(world, v0, &err), err);
        double worst = 0.0;
        for (int32_t step = 0; step < 20; step++) {
            stn_kinematics_update(kinematics, stn_world_state(world)->q, stn_world_state(world)->v);
            memcpy(v0, stn_world_state(world)->v, (size_t)n * sizeof *v0);
            stn_matrix mass = {.n = n, .form = STN_MATRIX_DENSE, .values = M};
            stn_mass_matrix(kinematics, 0, &mass);
            assert_int_equal(stn_world_step(world, &err), STN_OK);
            const double *v1 = stn_world_state(world)->v;
            stn_inverse_dynamics_polar(kinematics, 0, stn_vec3_make(0.0, 0.0, -9.81), v1, NULL, scratch, left);
            double size = 0.0, off = 0.0;
            for (int32_t i = 0; i < n; i++) {
                left[i] *= options.dt;
                for (int32_t j = 0; j < n; j++) {
                    left[i] += M[i * n + j] * (v1[j] - v0[j]);
                    size = fmax(size, fabs(M[i * n + j] * v1[j]));
                }
                off = worse(off, fabs(left[i]));
            }
            worst = worse(worst, off / size);
        }
        print_message("%d dofs: %.1e\n", (int)n, worst);
        assert_true(worst < 1e-10);
        stn_kinematics_destroy(kinematics);
        stn_world_destroy(world);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rows_follow_from_the_motion, scene_setup, scene_teardown),
        cmocka_unit_test_setup_teardown(steps_of_branched_trees_solve_their_equation, scene_setup, scene_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
