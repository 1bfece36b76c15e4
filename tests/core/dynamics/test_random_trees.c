// SPDX-License-Identifier: Apache-2.0
// Laws that hold for every robot, on random ones with all joint types: 1 to 30 links, fixed and floating roots.
#include "random_tree.h"

#include "simulate.h"

enum { TREES = 60 };

static const stn_vec3 GRAVITY = {0.7, -1.1, -9.81};

static random_tree tree; // large

static void init(int32_t number) {
    random_tree_init(&tree, (uint64_t)number + 1, 1 + number * 30 / TREES + (number * 7) % 3);
}

static double largest(const double *a, size_t count) {
    double most = 0.0;
    for (size_t i = 0; i < count; i++) {
        most = worse(most, fabs(a[i]));
    }
    return most;
}

/// Largest difference relative to the largest entry of b (or one); NaN stays.
static double relative_error(const double *a, const double *b, size_t count) {
    double worst = 0.0, scale = fmax(1.0, largest(b, count));
    for (size_t i = 0; i < count; i++) {
        double error = fabs(a[i] - b[i]);
        worst = worse(worst, error);
    }
    return worst / scale;
}

/// The mass matrix of the whole model, tree by tree on the diagonal.
static void full_mass_matrix(const simulator *s, double *M) {
    int32_t n = s->model->nv;
    memset(M, 0, (size_t)n * (size_t)n * sizeof *M);
    for (int32_t t = 0; t < s->model->tree_count; t++) {
        const stn_tree *part = &s->model->trees[t];
        stn_matrix block = dense_matrix(part->nv, s->M);
        memset(s->M, 0xff, (size_t)part->nv * (size_t)part->nv * sizeof *s->M); // NaN where nothing is written
        stn_mass_matrix(s->kinematics, t, &block);
        for (int32_t i = 0; i < part->nv; i++) {
            memcpy(M + (size_t)(part->v_start + i) * (size_t)n + part->v_start, s->M + (size_t)i * (size_t)part->nv,
                   (size_t)part->nv * sizeof *M);
        }
    }
}

static void full_inverse_dynamics(const simulator *s, stn_vec3 gravity, const double *a, double *tau) {
    for (int32_t t = 0; t < s->model->tree_count; t++) {
        int32_t start = s->model->trees[t].v_start;
        stn_inverse_dynamics(s->kinematics, t, gravity, a != NULL ? a + start : NULL, s->scratch, tau + start);
    }
}

static double M[MOST_DOFS * MOST_DOFS], M_slow[MOST_DOFS * MOST_DOFS];

static void mass_matrix_is_that_of_homogeneous_transforms(void **state) {
    (void)state;
    double worst = 0.0;
    for (int32_t k = 0; k < TREES; k++) {
        init(k);
        simulator s = simulator_create(tree.model, GRAVITY);
        size_t n = (size_t)tree.model->nv;
        stn_kinematics_update(s.kinematics, tree.q, tree.v);
        full_mass_matrix(&s, M);
        slow_mass_matrix(&tree, tree.q, M_slow);
        double error = relative_error(M, M_slow, n * n);
        worst = worse(worst, error);
        simulator_destroy(&s);
        random_tree_clear(&tree);
    }
    print_message("  %.2g relative\n", worst);
    assert_near(worst, 0.0, 1e-12);
}

/// Pivots of Gaussian elimination: all positive exactly for a positive definite matrix.
static double smallest_pivot(int32_t n, double *a) {
    double least = INFINITY;
    for (int32_t k = 0; k < n; k++) {
        least = a[k * n + k] < least ? a[k * n + k] : least;
        for (int32_t i = k + 1; i < n; i++) {
            double factor = a[i * n + k] / a[k * n + k];
            for (int32_t j = k; j < n; j++) {
                a[i * n + j] -= factor * a[k * n + j];
            }
        }
    }
    return least;
}

static void mass_matrix_is_symmetric_positive_definite_and_makes_the_kinetic_energy(void **state) {
    (void)state;
    for (int32_t k = 0; k < TREES; k++) {
        init(k);
        simulator s = simulator_create(tree.model, GRAVITY);
        int32_t n = tree.model->nv;
        stn_kinematics_update(s.kinematics, tree.q, tree.v);
        full_mass_matrix(&s, M);
        double twice = 0.0;
        for (int32_t i = 0; i < n; i++) {
            for (int32_t j = 0; j < n; j++) {
                assert_near(M[i * n + j], M[j * n + i], 0.0);
                twice += tree.v[i] * M[i * n + j] * tree.v[j];
            }
        }
        assert_near(stn_kinetic_energy(s.kinematics) / fmax(1.0, 0.5 * twice), 0.5 * twice / fmax(1.0, 0.5 * twice),
                    1e-12);
        assert_true(n == 0 || smallest_pivot(n, M) > 1e-8);
        simulator_destroy(&s);
        random_tree_clear(&tree);
    }
}

static void inverse_dynamics_is_mass_times_acceleration_plus_bias(void **state) {
    (void)state;
    double worst = 0.0;
    for (int32_t k = 0; k < TREES; k++) {
        init(k);
        simulator s = simulator_create(tree.model, GRAVITY);
        int32_t n = tree.model->nv;
        double tau[MOST_DOFS], sum[MOST_DOFS];
        stn_kinematics_update(s.kinematics, tree.q, tree.v);
        full_mass_matrix(&s, M);
        full_inverse_dynamics(&s, GRAVITY, tree.a, tau);
        full_inverse_dynamics(&s, GRAVITY, NULL, sum);
        for (int32_t i = 0; i < n; i++) {
            for (int32_t j = 0; j < n; j++) {
                sum[i] += M[i * n + j] * tree.a[j];
            }
        }
        double error = relative_error(tau, sum, (size_t)n);
        worst = worse(worst, error);
        simulator_destroy(&s);
        random_tree_clear(&tree);
    }
    print_message("  %.2g relative\n", worst);
    assert_near(worst, 0.0, 1e-12);
}

/// State at time h of the motion that has q, v, a at time 0 (v changes linearly; q to second order through the
/// integrator).
static void state_at(double h, double *q, double *v) {
    double mean[MOST_DOFS];
    for (int32_t i = 0; i < tree.model->nv; i++) {
        mean[i] = tree.v[i] + 0.5 * h * tree.a[i];
        v[i] = tree.v[i] + h * tree.a[i];
    }
    stn_integrate_q(tree.model, tree.q, mean, h, q);
}

/// Newton and Euler on every link, their rates of momentum by differences over +-h.
static void rates_of_momentum(double h, stn_vec3 *force, stn_vec3 *torque) {
    static slow_frames f;
    static slow_link s;
    double q[7 * MOST_LINKS], v[MOST_DOFS];
    memset(force, 0, MOST_LINKS * sizeof *force);
    memset(torque, 0, MOST_LINKS * sizeof *torque);
    for (int32_t side = -1; side <= 1; side += 2) {
        state_at(side * h, q, v);
        slow_kinematics(&tree, q, &f);
        for (int32_t i = 0; i < tree.count; i++) {
            slow_link_at(&tree, &f, i, &s);
            stn_vec3 u = stn_vec3_zero(), w = stn_vec3_zero();
            for (int32_t j = 0; j < tree.model->nv; j++) {
                u = stn_vec3_mul_add(u, v[j], s.linear[j]);
                w = stn_vec3_mul_add(w, v[j], s.angular[j]);
            }
            double scale = side / (2.0 * h);
            force[i] = stn_vec3_mul_add(force[i], scale * tree.links[i].mass.mass, u);
            torque[i] = stn_vec3_mul_add(torque[i], scale, stn_mat3_apply(&s.inertia, w));
        }
    }
}

/// tau = sum over links of J_c^T (m c-ddot - m g) + J_w^T d/dt(I w), extrapolated from h and h/2 to fourth order.
static void slow_inverse_dynamics(double *tau) {
    static slow_frames f;
    static slow_link s;
    static stn_vec3 f1[MOST_LINKS], t1[MOST_LINKS], f2[MOST_LINKS], t2[MOST_LINKS];
    rates_of_momentum(2e-3, f1, t1);
    rates_of_momentum(1e-3, f2, t2);
    slow_kinematics(&tree, tree.q, &f);
    for (int32_t j = 0; j < tree.model->nv; j++) {
        tau[j] = 0.0;
    }
    for (int32_t i = 0; i < tree.count; i++) {
        const random_link *link = &tree.links[i];
        slow_link_at(&tree, &f, i, &s);
        stn_vec3 force = stn_vec3_scale(1.0 / 3.0, stn_vec3_sub(stn_vec3_scale(4.0, f2[i]), f1[i]));
        stn_vec3 torque = stn_vec3_scale(1.0 / 3.0, stn_vec3_sub(stn_vec3_scale(4.0, t2[i]), t1[i]));
        force = stn_vec3_mul_add(force, -link->mass.mass, GRAVITY);
        for (int32_t j = 0; j < tree.model->nv; j++) {
            tau[j] += stn_vec3_dot(s.linear[j], force) + stn_vec3_dot(s.angular[j], torque);
        }
        if (link->nv == 1) {
            tau[link->v] += 49.0 * link->joint.rotor_inertia * tree.a[link->v];
        }
    }
}

static void inverse_dynamics_is_the_rate_of_change_of_every_links_momentum(void **state) {
    (void)state;
    double worst = 0.0;
    for (int32_t k = 0; k < TREES; k++) {
        init(k);
        simulator s = simulator_create(tree.model, GRAVITY);
        double tau[MOST_DOFS], slow[MOST_DOFS];
        stn_kinematics_update(s.kinematics, tree.q, tree.v);
        full_inverse_dynamics(&s, GRAVITY, tree.a, tau);
        slow_inverse_dynamics(slow);
        double error = relative_error(tau, slow, (size_t)tree.model->nv);
        worst = worse(worst, error);
        simulator_destroy(&s);
        random_tree_clear(&tree);
    }
    print_message("  %.2g relative\n", worst);
    assert_near(worst, 0.0, 1e-9); // the differences' own error is near 1e-10
}

static void polar_inverse_dynamics_are_the_bilinear_form_of_those_of_single_velocities(void **state) {
    (void)state;
    static stn_spatial scratch[3 * (MOST_LINKS + 2)];
    double worst = 0.0, worst_same = 0.0;
    for (int32_t k = 0; k < TREES; k++) {
        init(k);
        simulator s = simulator_create(tree.model, GRAVITY);
        double w[MOST_DOFS], middle[MOST_DOFS], at_v[MOST_DOFS], at_w[MOST_DOFS], at_middle[MOST_DOFS];
        double polar[MOST_DOFS], same[MOST_DOFS];
        for (int32_t i = 0; i < tree.model->nv; i++) {
            w[i] = 1.5 * tree.a[tree.model->nv - 1 - i] - 0.7 * tree.v[i];
            middle[i] = 0.5 * (tree.v[i] + w[i]);
        }
        stn_kinematics_update(s.kinematics, tree.q, w);
        full_inverse_dynamics(&s, GRAVITY, tree.a, at_w);
        stn_kinematics_update(s.kinematics, tree.q, middle);
        full_inverse_dynamics(&s, GRAVITY, tree.a, at_middle);
        stn_kinematics_update(s.kinematics, tree.q, tree.v);
        full_inverse_dynamics(&s, GRAVITY, tree.a, at_v);
        for (int32_t t = 0; t < tree.model->tree_count; t++) {
            int32_t start = tree.model->trees[t].v_start;
            const double *a = tree.a + start;
            stn_inverse_dynamics_polar(s.kinematics, t, GRAVITY, w + start, a, scratch, polar + start);
            stn_inverse_dynamics_polar(s.kinematics, t, GRAVITY, tree.v + start, a, scratch, same + start);
        }
        for (int32_t i = 0; i < tree.model->nv; i++) {
            at_middle[i] = 2.0 * at_middle[i] - 0.5 * (at_v[i] + at_w[i]);
        }
        worst = worse(worst, relative_error(polar, at_middle, (size_t)tree.model->nv));
        worst_same = worse(worst_same, relative_error(same, at_v, (size_t)tree.model->nv));
        simulator_destroy(&s);
        random_tree_clear(&tree);
    }
    print_message("  %.2g relative, of one velocity twice %.2g\n", worst, worst_same);
    assert_near(worst, 0.0, 1e-12);
    assert_near(worst_same, 0.0, 1e-13);
}

static void link_poses_are_those_of_homogeneous_transforms(void **state) {
    (void)state;
    static slow_frames f;
    for (int32_t k = 0; k < TREES; k++) {
        init(k);
        simulator s = simulator_create(tree.model, GRAVITY);
        stn_kinematics_update(s.kinematics, tree.q, tree.v);
        slow_kinematics(&tree, tree.q, &f);
        for (int32_t i = 0; i < tree.count; i++) {
            const stn_link *link = &tree.model->links[i];
            stn_pose pose = stn_pose_mul(&s.kinematics->body_pose[link->body], &link->pose);
            mat4 a = mat4_of(&pose);
            assert_near(relative_error(&a.m[0][0], &f.link[i].m[0][0], 16), 0.0, 1e-13);
        }
        simulator_destroy(&s);
        random_tree_clear(&tree);
    }
}

static void jacobian_times_velocity_is_the_velocity_of_the_point(void **state) {
    (void)state;
    stn_random random = {77};
    const double h = 1e-5;
    for (int32_t k = 0; k < TREES; k++) {
        init(k);
        simulator s = simulator_create(tree.model, GRAVITY);
        double q[2][7 * MOST_LINKS], J[3 * MOST_DOFS];
        stn_integrate_q(tree.model, tree.q, tree.v, -h, q[0]);
        stn_integrate_q(tree.model, tree.q, tree.v, h, q[1]);
        for (int32_t body = 0; body < tree.model->body_count; body++) {
            stn_vec3 local = random_vec3(&random, 0.5), at[2], omega = stn_vec3_zero(), product = omega,
                     turning = omega;
            stn_mat3 axes = stn_quat_matrix(random_rotation(&random)), turned[2];
            for (int32_t side = 0; side < 2; side++) {
                stn_kinematics_update(s.kinematics, q[side], tree.v);
                at[side] = stn_pose_apply(&s.kinematics->body_pose[body], local);
                turned[side] = s.kinematics->body_pose[body].rotation;
            }
            stn_kinematics_update(s.kinematics, tree.q, tree.v);
            stn_vec3 p = stn_pose_apply(&s.kinematics->body_pose[body], local);
            stn_vec3 u = stn_vec3_scale(0.5 / h, stn_vec3_sub(at[1], at[0]));
            int32_t part = tree.model->bodies[body].tree, n = part < 0 ? 0 : tree.model->trees[part].nv;
            const double *v = tree.v + (part < 0 ? 0 : tree.model->trees[part].v_start);
            memset(J, 0, sizeof J);
            stn_point_jacobian_add(s.kinematics, body, p, &axes, -2.0, J);
            for (int32_t i = 0; i < n; i++) {
                product = stn_vec3_add(product, stn_vec3_scale(v[i], stn_vec3_make(J[i], J[n + i], J[2 * n + i])));
            }
            memset(J, 0, sizeof J);
            stn_angular_jacobian_add(s.kinematics, body, &axes, 1.0, J);
            for (int32_t i = 0; i < n; i++) {
                turning = stn_vec3_add(turning, stn_vec3_scale(v[i], stn_vec3_make(J[i], J[n + i], J[2 * n + i])));
            }
            // R-dot R^T = omega x
            stn_mat3 back = stn_mat3_transpose(&turned[0]), d = stn_mat3_mul(&turned[1], &back);
            omega = stn_vec3_make(d.m[2][1] - d.m[1][2], d.m[0][2] - d.m[2][0], d.m[1][0] - d.m[0][1]);
            omega = stn_vec3_scale(0.25 / h, omega);
            stn_vec3 expected = stn_vec3_scale(-2.0, stn_mat3_apply_transposed(&axes, u));
            double scale = fmax(1.0, stn_vec3_norm(u));
            assert_near(stn_vec3_norm(stn_vec3_sub(product, expected)) / scale, 0.0, 1e-7);
            assert_near(stn_vec3_norm(stn_vec3_sub(stn_point_velocity(s.kinematics, body, p), u)) / scale, 0.0, 1e-7);
            assert_near(stn_vec3_norm(stn_vec3_sub(turning, stn_mat3_apply_transposed(&axes, omega))), 0.0, 1e-7);
        }
        simulator_destroy(&s);
        random_tree_clear(&tree);
    }
}

static void gravity_forces_are_the_gradient_of_the_potential(void **state) {
    (void)state;
    const double h = 1e-4;
    for (int32_t k = 0; k < TREES; k += 3) {
        init(k);
        simulator s = simulator_create(tree.model, GRAVITY);
        double zero[MOST_DOFS] = {0.0}, tau[MOST_DOFS], q[7 * MOST_LINKS], energy[2];
        stn_kinematics_update(s.kinematics, tree.q, zero);
        full_inverse_dynamics(&s, GRAVITY, NULL, tau);
        stn_kinematics_update(s.kinematics, tree.q, tree.v); // whatever v is
        for (int32_t t = 0; t < tree.model->tree_count; t++) {
            double held[MOST_DOFS];
            const stn_tree *part = &tree.model->trees[t];
            stn_gravity_efforts(s.kinematics, t, GRAVITY, s.scratch, held);
            assert_near(relative_error(held, tau + part->v_start, (size_t)part->nv), 0.0, 1e-14);
        }
        for (int32_t i = 0; i < tree.model->nv; i++) {
            double along[MOST_DOFS] = {0.0};
            along[i] = 1.0;
            for (int32_t side = 0; side < 2; side++) {
                stn_integrate_q(tree.model, tree.q, along, side == 0 ? -h : h, q);
                stn_kinematics_update(s.kinematics, q, zero);
                energy[side] = stn_gravitational_energy(s.kinematics, GRAVITY);
            }
            assert_near((energy[1] - energy[0]) / (2.0 * h), tau[i], 1e-7 * fmax(1.0, fabs(tau[i])));
        }
        simulator_destroy(&s);
        random_tree_clear(&tree);
    }
}

static void difference_undoes_integration(void **state) {
    (void)state;
    for (int32_t k = 0; k < TREES; k++) {
        init(k);
        double q[7 * MOST_LINKS], v[MOST_DOFS], back[7 * MOST_LINKS];
        for (int32_t round = 0; round < 4; round++) {
            double s = round == 0 ? 1.0 : round == 1 ? -0.3 : round == 2 ? 1e-9 : 0.0; // |omega| s below pi
            stn_integrate_q(tree.model, tree.q, tree.v, s, q);
            stn_difference_q(tree.model, tree.q, q, v);
            for (int32_t i = 0; i < tree.model->nv; i++) {
                assert_near(v[i], s * tree.v[i], 1e-14 + 1e-13 * fabs(s));
            }
            memcpy(back, q, sizeof back);
            stn_integrate_q(tree.model, back, v, -1.0, back); // in place
            assert_near(relative_error(back, tree.q, (size_t)tree.model->nq), 0.0, 1e-13);
        }
        random_tree_clear(&tree);
    }
}

static void reference_point_is_the_first_bodys_origin_and_far_away_costs_no_accuracy(void **state) {
    (void)state;
    const double far = 1048576.0; // a power of two: positions at x + far lose 20 of their 53 bits, nothing else may
    for (int32_t k = 0; k < TREES; k += 6) { // floating roots with S = 1
        init(k);
        if (tree.links[0].joint.type != STN_JOINT_FLOATING) {
            random_tree_clear(&tree);
            continue;
        }
        simulator s = simulator_create(tree.model, GRAVITY);
        size_t n = (size_t)tree.model->nv;
        double tau[MOST_DOFS], tau_far[MOST_DOFS];
        stn_kinematics_update(s.kinematics, tree.q, tree.v);
        full_mass_matrix(&s, M);
        full_inverse_dynamics(&s, GRAVITY, tree.a, tau);
        assert_near(stn_vec3_norm(stn_vec3_sub(s.kinematics->reference[0], s.kinematics->body_pose[1].position)), 0.0,
                    0.0);
        tree.q[tree.links[0].q] += far;
        stn_kinematics_update(s.kinematics, tree.q, tree.v);
        full_mass_matrix(&s, M_slow);
        full_inverse_dynamics(&s, GRAVITY, tree.a, tau_far);
        assert_near(relative_error(M, M_slow, n * n), 0.0, 1e-8);
        assert_near(relative_error(tau, tau_far, n), 0.0, 1e-8);
        simulator_destroy(&s);
        random_tree_clear(&tree);
    }
}

/// Linear momentum and energy of the motion of state_at.
static stn_vec3 momentum_at(simulator *s, double h, double *energy) {
    double q[7 * MOST_LINKS], v[MOST_DOFS];
    state_at(h, q, v);
    stn_kinematics_update(s->kinematics, q, v);
    *energy = stn_kinetic_energy(s->kinematics) + stn_gravitational_energy(s->kinematics, GRAVITY);
    return stn_momentum(s->kinematics).linear;
}

static void floating_robot_falls_by_its_weight_alone_and_keeps_its_energy(void **state) {
    (void)state;
    const double h = 1e-5;
    int32_t tried = 0;
    for (int32_t k = 0; k < TREES; k++) { // joint frames of the root are turned in half of them
        init(k);
        if (tree.links[0].joint.type == STN_JOINT_FLOATING) {
            simulator s = simulator_create(tree.model, GRAVITY);
            double energy[2];
            accelerations(&s, tree.q, tree.v, tree.a);
            stn_vec3 later = momentum_at(&s, h, &energy[1]), earlier = momentum_at(&s, -h, &energy[0]);
            stn_vec3 rate = stn_vec3_scale(0.5 / h, stn_vec3_sub(later, earlier));
            stn_vec3 weight = stn_vec3_scale(stn_total_mass(tree.model), GRAVITY);
            double scale = stn_vec3_norm(weight) + stn_vec3_norm(later);
            assert_near(stn_vec3_norm(stn_vec3_sub(rate, weight)) / scale, 0.0, 1e-7);
            assert_near((energy[1] - energy[0]) / (2.0 * h) / fmax(1.0, fabs(energy[0])), 0.0, 1e-7);
            simulator_destroy(&s);
            tried++;
        }
        random_tree_clear(&tree);
    }
    assert_true(tried > TREES / 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(link_poses_are_those_of_homogeneous_transforms),
        cmocka_unit_test(mass_matrix_is_that_of_homogeneous_transforms),
        cmocka_unit_test(mass_matrix_is_symmetric_positive_definite_and_makes_the_kinetic_energy),
        cmocka_unit_test(inverse_dynamics_is_mass_times_acceleration_plus_bias),
        cmocka_unit_test(inverse_dynamics_is_the_rate_of_change_of_every_links_momentum),
        cmocka_unit_test(polar_inverse_dynamics_are_the_bilinear_form_of_those_of_single_velocities),
        cmocka_unit_test(jacobian_times_velocity_is_the_velocity_of_the_point),
        cmocka_unit_test(gravity_forces_are_the_gradient_of_the_potential),
        cmocka_unit_test(difference_undoes_integration),
        cmocka_unit_test(reference_point_is_the_first_bodys_origin_and_far_away_costs_no_accuracy),
        cmocka_unit_test(floating_robot_falls_by_its_weight_alone_and_keeps_its_energy),
    };
    return cmocka_run_group_tests_name("dynamics of random trees", tests, NULL, NULL);
}
