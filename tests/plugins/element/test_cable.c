// SPDX-License-Identifier: Apache-2.0
// Cables through the real step, against closed forms of beams: a row of links along x, the first of them clamped.
#include "soft_world.h"

#include <stiction/plugin.h>

#include "stn_random.h"

enum { JOINTS = 40, LINKS = JOINTS + 1 };

static const double long_step = 1e6; // [s]: A = M + dt^2 K is K then, and a step one of Newton's method
static const double length = 0.4, radius = 0.004, young = 2e6, poisson = 0.4, density = 1200.0;

static double area(void) {
    return STN_PI * radius * radius;
}
/// Bending stiffness E I [N m^2].
static double bending(void) {
    return young * 0.25 * area() * radius * radius;
}

typedef struct rod {
    stn_world *world;
    int32_t group;
} rod;

/// `clamped`: 0, 1: its first link, 2: its last, too. It starts longer by the part `stretch`.
static rod make(stn_context *context, double dt, const char *integrator, int32_t clamped, double stretch) {
    double rest[3 * LINKS] = {0.0}, x[3 * LINKS] = {0.0}, mass[LINKS], inertia[3 * LINKS];
    int32_t index[2 * JOINTS], cloud = 0;
    const double l = length / JOINTS;
    for (int32_t i = 0; i < LINKS; i++) { // nodes are in the middle of links; the last ends there
        const double m = density * area() * l * (i < JOINTS ? 1.0 : 0.5);
        rest[3 * i] = l * i;
        x[3 * i] = (1.0 + stretch) * l * i;
        mass[i] = m;
        inertia[3 * i] = 0.5 * m * radius * radius;
        inertia[3 * i + 1] = inertia[3 * i + 2] = m * (3.0 * radius * radius + l * l) / 12.0;
    }
    for (int32_t i = 0; i < 2 * JOINTS; i++) {
        index[i] = (i + 1) / 2;
    }
    rod r = {.world = soft_world(context, dt, integrator, stn_vec3_zero())};
    const stn_nodes_spec spec = {.name = "rod",
                                 .node_count = LINKS,
                                 .position = x,
                                 .mass = mass,
                                 .material = stn_material_unset(),
                                 .rest = rest,
                                 .type = STN_NODE_FRAME,
                                 .inertia = inertia};
    const stn_setting settings[] = {SOFT_NUMBER("young", young), SOFT_NUMBER("poisson", poisson),
                                    SOFT_NUMBER("radius", radius)};
    const int32_t ends[2] = {0, JOINTS};
    stn_error err;
    assert_ok(stn_builder_add_nodes(stn_world_builder(r.world), &spec, &cloud, &err), err);
    if (clamped > 0) {
        assert_ok(stn_builder_attach_nodes(stn_world_builder(r.world), cloud, clamped, ends, STN_WORLD, &err), err);
    }
    r.group = soft_add_elements(r.world, cloud, "cable", settings, STN_COUNT(settings), JOINTS, index);
    soft_compile(r.world);
    return r;
}

/// Force or torque on the last link along velocity d of it.
static void push(const rod *r, int32_t link, int32_t d, double effort) {
    stn_error err;
    assert_ok(stn_world_set_effort(r->world, 6 * link + d, effort, &err), err);
}

static void steps(const rod *r, int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        stn_error err;
        assert_true(stn_world_step(r->world, &err) >= 0);
    }
}

static const double *tip(const rod *r) {
    return stn_world_state(r->world)->q + 7 * JOINTS;
}

static void a_tip_load_bends_it_as_a_beam(void **state) {
    const double force = 1e-4, shear = 6.0 * (1.0 + poisson) / (7.0 + 6.0 * poisson) * young / (2.0 * (1.0 + poisson));
    const double beam = force * length * length * length / (3.0 * bending()) + force * length / (shear * area());
    for (int32_t across = 1; across < 3; across++) {
        const rod r = make(*state, long_step, NULL, 1, 0.0);
        push(&r, JOINTS, across, force);
        steps(&r, 20);
        assert_near(tip(&r)[across], beam, 1e-3 * beam);
        assert_near(tip(&r)[3 - across], 0.0, 1e-12);
        double told[5 * JOINTS];
        stn_error err;
        assert_ok(stn_world_element_outputs(r.world, r.group, told, &err), err);
        for (int32_t j = 0; j < JOINTS; j++) { // moment at the middle between two links
            const double arm = length * (JOINTS - j - 0.5) / JOINTS;
            assert_near(told[5 * j + 3], force * arm, 1e-2 * force * length);
            assert_near(told[5 * j + 1], force, 1e-2 * force);
            assert_near(told[5 * j], 0.0, 0.02 * force);
        }
        stn_world_destroy(r.world);
    }
}

static void a_torque_twists_and_a_force_stretches_it(void **state) {
    const double torque = 1e-4, twist = torque * length / (bending() / (1.0 + poisson)), pull = 0.5;
    const rod r = make(*state, long_step, NULL, 1, 0.0);
    push(&r, JOINTS, 3, torque);
    push(&r, JOINTS, 0, pull);
    steps(&r, 20);
    const double *q = tip(&r);
    assert_near(2.0 * atan2(q[4], q[3]), twist, 1e-9 * twist); // G J = E I/(1 + nu)
    assert_near(q[0] - length, pull * length / (young * area()), 1e-9);
    double told[5 * JOINTS];
    stn_error err;
    assert_ok(stn_world_element_outputs(r.world, r.group, told, &err), err);
    for (int32_t j = 0; j < JOINTS; j++) {
        assert_near(told[5 * j], pull, 1e-9);
        assert_near(told[5 * j + 2], torque, 1e-9 * torque);
        assert_near(told[5 * j + 4], pull / area(), 1e-6 * pull / area());
    }
    stn_world_destroy(r.world);
}

/// The moment 2 pi E I/L rolls it up to a circle, in the plane as out of it.
static void a_moment_rolls_it_up(void **state) {
    const rod r = make(*state, long_step, NULL, 1, 0.0);
    for (int32_t i = 1; i <= 40; i++) {
        push(&r, JOINTS, 4, i / 40.0 * 2.0 * STN_PI * bending() / length);
        steps(&r, 4);
    }
    steps(&r, 40);
    const double *q = tip(&r);
    for (int32_t k = 0; k < 3; k++) {
        assert_near(q[k], 0.0, 1e-6 * length);
    }
    const double *middle = stn_world_state(r.world)->q + 7 * (JOINTS / 2); // across the circle
    const double l = length / JOINTS, diameter = l / tan(STN_PI / JOINTS), across = sqrt(diameter * diameter + l * l);
    assert_near(sqrt(middle[0] * middle[0] + middle[2] * middle[2]), across, 2e-3 * across);
    assert_near(middle[1], 0.0, 1e-9);
    stn_world_destroy(r.world);
}

/// First frequency of a clamped beam, 1.8751^2/(2 pi) sqrt(E I/(rho a L^4)).
static void it_swings_as_a_beam(void **state) {
    const double wanted =
        1.875104 * 1.875104 / (2.0 * STN_PI) * sqrt(bending() / (density * area())) / (length * length);
    const double dt = 1.0 / (400.0 * wanted);
    const rod r = make(*state, dt, "midpoint", 1, 0.0);
    push(&r, JOINTS, 2, 1e-4);
    steps(&r, 50);
    push(&r, JOINTS, 2, 0.0);
    double crossings[3], before = tip(&r)[2];
    int32_t count = 0;
    for (int32_t i = 0; i < 1500 && count < 3; i++) {
        steps(&r, 1);
        const double now = tip(&r)[2];
        if (before > 0.0 && now <= 0.0) {
            crossings[count++] = stn_world_state(r.world)->time - dt * now / (now - before);
        }
        before = now;
    }
    assert_int_equal(count, 3);
    assert_near(2.0 / (crossings[2] - crossings[0]), wanted, 0.01 * wanted);
    stn_world_destroy(r.world);
}

/// Euler's load of a clamped beam, pi^2 E I/(4 L^2): below it a push to the side is resisted, above it grows.
static void it_buckles_at_eulers_load(void **state) {
    const double euler = STN_PI * STN_PI * bending() / (4.0 * length * length);
    for (int32_t above = 0; above < 2; above++) {
        const rod r = make(*state, long_step, NULL, 1, 0.0);
        push(&r, JOINTS, 0, (above ? -1.01 : -0.99) * euler);
        push(&r, JOINTS, 2, 1e-5 * euler);
        steps(&r, 2000);
        assert_true(above ? tip(&r)[2] > 0.1 * length : tip(&r)[2] < 0.01 * length);
        stn_world_destroy(r.world);
    }
}

/// Between two clamps, under a tension of 20 N: struck in the middle it swings, in steps of nine times what a wave
/// takes from link to link.
static void a_taut_cable_is_stable_in_long_steps(void **state) {
    const rod r = make(*state, 5e-3, NULL, 2, 0.2);
    const int32_t middle = 6 * (JOINTS / 2);
    double v[6 * LINKS] = {0.0};
    stn_error err;
    v[middle + 2] = 1.0;
    assert_ok(stn_world_set_v(r.world, v, &err), err);
    const double struck = stn_kinetic_energy(stn_world_kinematics(r.world));
    for (int32_t i = 0; i < 400; i++) {
        steps(&r, 1);
        assert_true(stn_kinetic_energy(stn_world_kinematics(r.world)) <= struck);
    }
    stn_world_destroy(r.world);
}

/// Turned as a whole, a bent cable has the same energy and the same forces inside.
static void nothing_changes_where_it_is_turned(void **state) {
    const rod r = make(*state, 1e-3, NULL, 0, 0.0);
    stn_random random = {7};
    double q[7 * LINKS], told[2][5 * JOINTS], energy[2];
    stn_error err;
    memcpy(q, stn_world_state(r.world)->q, sizeof q);
    for (int32_t i = 0; i < LINKS; i++) {
        const stn_vec3 w = {0.3 * random_real(&random), 0.3 * random_real(&random), 0.3 * random_real(&random)};
        const stn_quat bent = stn_quat_exp(w);
        const double own[4] = {bent.w, bent.x, bent.y, bent.z};
        for (int32_t k = 0; k < 3; k++) {
            q[7 * i + k] += 2e-3 * random_real(&random);
        }
        memcpy(q + 7 * i + 3, own, sizeof own);
    }
    const stn_quat turn = stn_quat_exp(stn_vec3_make(0.7, -1.1, 2.0));
    const stn_mat3 R = stn_quat_matrix(turn);
    for (int32_t pass = 0; pass < 2; pass++) {
        assert_ok(stn_world_set_q(r.world, q, &err), err);
        energy[pass] = stn_world_elastic_energy(r.world);
        assert_ok(stn_world_element_outputs(r.world, r.group, told[pass], &err), err);
        for (int32_t i = 0; i < LINKS; i++) {
            double *own = q + 7 * i;
            const stn_vec3 x = stn_mat3_apply(&R, stn_vec3_make(own[0], own[1], own[2]));
            const stn_quat b = stn_quat_mul(turn, (stn_quat){own[3], own[4], own[5], own[6]});
            const double next[7] = {x.x, x.y, x.z, b.w, b.x, b.y, b.z};
            memcpy(own, next, sizeof next);
        }
    }
    assert_true(energy[0] > 0.0);
    assert_near(energy[1], energy[0], 1e-10 * energy[0]);
    for (int32_t k = 0; k < 5 * JOINTS; k++) {
        assert_near(told[1][k], told[0][k], 1e-10 * fabs(told[0][4]));
    }
    stn_world_destroy(r.world);
}

static void bad_cables_are_refused(void **state) {
    static const struct {
        const char *key;
        double value;
        const char *text;
    } cases[] = {{"young", 0.0, "young = 0 Pa must be > 0"},
                 {"poisson", -1.0, "poisson = -1 must be in (-1, 0.5]"},
                 {"radius", 0.0, "radius = 0 m must be > 0"}};
    for (int32_t i = 0; i < STN_COUNT(cases); i++) {
        const stn_setting setting = SOFT_NUMBER(cases[i].key, cases[i].value);
        stn_instance *instance = NULL;
        stn_error err;
        assert_int_equal(stn_instance_create(*state, STN_KIND_ELEMENT, "cable", &setting, 1, &instance, &err),
                         STN_ERR_ARGUMENT);
        assert_non_null(strstr(err.text, cases[i].text));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tip_load_bends_it_as_a_beam),
        cmocka_unit_test(a_torque_twists_and_a_force_stretches_it),
        cmocka_unit_test(a_moment_rolls_it_up),
        cmocka_unit_test(it_swings_as_a_beam),
        cmocka_unit_test(it_buckles_at_eulers_load),
        cmocka_unit_test(a_taut_cable_is_stable_in_long_steps),
        cmocka_unit_test(nothing_changes_where_it_is_turned),
        cmocka_unit_test(bad_cables_are_refused),
    };
    return cmocka_run_group_tests(tests, scene_setup, scene_teardown);
}
