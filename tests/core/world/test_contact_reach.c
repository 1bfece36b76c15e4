// SPDX-License-Identifier: Apache-2.0
// When a pair enters the problem: phi0 <= max(user margin, reach), of the law SAP
//     reach = 1.5 (dt + tau_d) (|v*_n| + mu |v_t0|)
// with v* the velocity that the step would end in without contact and v_t0 the slip now, belts included.
#include "scenes.h"

#include <stdlib.h>
#include <string.h>

#include "stn_random_pose.h"

static const double radius = 0.05, dt = 0.002, g = 9.81;

typedef struct approach {
    double normal, tangential; // velocity of the ball: along the ground's normal, and along x [m/s]
    double belt;               // of the ground, along x [m/s]
    double mu, tau;            // of the contact; tau NaN: not given
    double gravity, margin;
} approach;

/// A ball over a half space, both of these materials, `phi` above it.
static int32_t contacts_at(stn_context *context, const approach *a, double phi) {
    stn_world_options options = stn_world_options_default();
    options.dt = dt;
    options.gravity = stn_vec3_make(0.0, 0.0, -a->gravity);
    options.margin = a->margin;
    stn_world *world = scene_world(context, &options);
    stn_geometry_spec ground = stn_geometry_spec_default(stn_shape_half_space());
    stn_geometry_spec ball = stn_geometry_spec_default(stn_shape_sphere(radius));
    ground.surface_velocity = stn_vec3_make(a->belt, 0.0, 0.0);
    ground.material.mu = ball.material.mu = a->mu;
    ground.material.relaxation_time = a->tau;
    int32_t id = 0;
    stn_error err;
    assert_ok(stn_builder_add_geometry(stn_world_builder(world), STN_WORLD, &ground, &id, &err), err);
    scene_body(world, "ball", 1.0, &ball, stn_vec3_make(0.0, 0.0, radius + phi));
    assert_ok(stn_world_compile(world, &err), err);
    const double v[6] = {a->tangential, 0.0, a->normal};
    assert_ok(stn_world_set_v(world, v, &err), err);
    scene_steps(world, 1);
    int32_t count = stn_world_observation(world)->report->contact_count;
    stn_world_destroy(world);
    return count;
}

static void a_ball_enters_at_exactly_the_reach(void **state) {
    const double nan_ = (double)NAN;
    const approach cases[] = {
        {-1.0, 0.0, 0.0, 0.5, nan_, 0.0, 0.0},  // tau_d = dt
        {-3.0, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0},   // none
        {-3.0, 0.0, 0.0, 0.5, 0.02, 0.0, 0.0},  //
        {2.0, 0.0, 0.0, 0.5, nan_, 0.0, 0.0},   // leaving counts as well: the law may not
        {-1.0, 4.0, 0.0, 0.3, nan_, 0.0, 0.0},  // slip lifts the sliding contact by mu v_t
        {-1.0, 4.0, 0.0, 0.0, nan_, 0.0, 0.0},  //
        {-1.0, 4.0, 4.0, 0.3, nan_, 0.0, 0.0},  // on a belt that runs along there is no slip
        {-1.0, 0.0, -2.0, 0.3, 0.01, 0.0, 0.0}, // and on one that runs below it there is
        {-1.0, 1.0, -2.0, 0.3, nan_, g, 0.0},
        {0.0, 0.0, 0.0, 0.5, nan_, g, 0.0},    // at rest: what gravity does in the step, v* = -g dt
        {0.2, 0.0, 0.0, 0.5, nan_, g, 0.0},    // thrown up, slower after the step
        {-1.0, 0.0, 0.0, 0.5, nan_, g, 0.02},  // the user's margin is wider
        {-10.0, 0.0, 0.0, 0.5, nan_, g, 0.02}, // the reach is
    };
    for (int32_t i = 0; i < STN_COUNT(cases); i++) {
        const approach *a = &cases[i];
        double tau = isnan(a->tau) ? dt : a->tau, slip = fabs(a->tangential - a->belt);
        double reach = 1.5 * (dt + tau) * (fabs(a->normal - a->gravity * dt) + a->mu * slip);
        double limit = fmax(a->margin, reach);
        assert_int_equal(contacts_at(*state, a, limit * (1.0 - 1e-9)), 1);
        assert_int_equal(contacts_at(*state, a, limit * (1.0 + 1e-9)), 0);
    }
}

/// A thin rod of half length L turns about y above the ground: only its ends are fast, at +-omega L along the normal.
/// The contact acts midway between two rigid surfaces, phi/2 + r below the axis, where omega gives a slip as well:
///     phi = 1.5 (dt + tau) omega (L + mu (r + phi/2))
static void the_end_of_a_turning_rod_enters_at_exactly_its_reach(void **state) {
    const double half = 1.0, thin = 0.01, omega = 20.0, mu = 0.4, c = 1.5 * 2.0 * dt * omega;
    const double limit = c * (half + mu * thin) / (1.0 - 0.5 * c * mu);
    for (int32_t i = 0; i < 2; i++) {
        stn_world_options options = stn_world_options_default();
        options.dt = dt;
        options.gravity = stn_vec3_zero();
        stn_world *world = scene_world(*state, &options);
        stn_geometry_spec rod = stn_geometry_spec_default(stn_shape_capsule(thin, half)), ground = rod;
        ground.shape = stn_shape_half_space();
        rod.pose.rotation = stn_mat3_from_rpy(0.0, 0.5 * STN_PI, 0.0); // along x
        rod.material.mu = ground.material.mu = mu;
        int32_t id = 0;
        stn_error err;
        assert_ok(stn_builder_add_geometry(stn_world_builder(world), STN_WORLD, &ground, &id, &err), err);
        scene_body(world, "rod", 1.0, &rod, stn_vec3_make(0.0, 0.0, thin + limit * (i == 0 ? 1.0 - 1e-9 : 1.0 + 1e-9)));
        assert_ok(stn_world_compile(world, &err), err);
        const double v[6] = {0.0, 0.0, 0.0, 0.0, omega, 0.0};
        assert_ok(stn_world_set_v(world, v, &err), err);
        scene_steps(world, 1);
        assert_int_equal(stn_world_observation(world)->report->contact_count,
                         i == 0 ? 2 : 0); // the other end leaves as fast
        stn_world_destroy(world);
    }
}

// ------------------------------------------------------------------------------------------ against every contact

enum { BODIES = 24 };

/// Small balls and long capsules about the origin, flying and turning fast; surfaces of all kinds.
static stn_world *swarm(stn_context *context, uint64_t seed, double margin) {
    stn_world_options options = stn_world_options_default();
    options.dt = 0.005;
    options.margin = margin;
    stn_world *world = scene_world(context, &options);
    stn_random r = {seed};
    double v[6 * BODIES];
    stn_error err;
    for (int32_t i = 0; i < BODIES; i++) {
        char name[16];
        snprintf(name, sizeof name, "body%d", (int)i);
        bool ball = i % 3 == 0;
        stn_geometry_spec shape = stn_geometry_spec_default(
            ball ? stn_shape_sphere(random_between(&r, 0.02, 0.1))
                 : stn_shape_capsule(random_between(&r, 0.01, 0.03), random_between(&r, 0.1, 0.6)));
        shape.pose = random_pose(&r, 0.1);
        shape.surface_velocity = i % 5 == 0 ? random_vec3(&r, 1.0) : stn_vec3_zero();
        shape.material.mu = random_between(&r, 0.0, 1.0);
        shape.material.stiffness = i % 4 == 0 ? (double)INFINITY : random_size(&r, 1e3, 1e6);
        shape.material.relaxation_time = i % 2 == 0 ? (double)NAN : random_between(&r, 0.0, 0.01);
        stn_vec3 linear = random_vec3(&r, 3.0), turn = random_vec3(&r, 15.0);
        const double twist[6] = {linear.x, linear.y, linear.z, turn.x, turn.y, turn.z};
        memcpy(v + 6 * i, twist, sizeof twist);
        scene_body(world, name, 1.0, &shape, random_vec3(&r, 0.4));
    }
    assert_ok(stn_world_compile(world, &err), err);
    assert_ok(stn_world_set_v(world, v, &err), err);
    scene_steps(world, 1);
    return world;
}

static int compare_ids(const void *a, const void *b) {
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/// Contacts of the problem within `reach` of their own; from the problem's own rows, v_c = J v + b.
static int32_t list_ids(const stn_problem *p, bool all, uint64_t *ids) {
    int32_t count = 0;
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const stn_constraint *c = &p->constraints[i];
        double star[3], now[3];
        stn_constraint_velocity(p, c, p->v_star, star);
        stn_constraint_velocity(p, c, p->v0, now);
        double slip = hypot(now[0] + p->bias[c->row], now[1] + p->bias[c->row + 1]);
        double reach = 1.5 * (p->dt + c->relaxation_time) * (fabs(star[2] + p->bias[c->row + 2]) + c->mu1 * slip);
        if (all || c->phi0 <= fmax(0.0, reach)) {
            ids[count++] = c->id;
        }
    }
    qsort(ids, (size_t)count, sizeof *ids, compare_ids);
    return count;
}

/// The bound over whole bodies, by which pairs are sought, loses no contact that is in reach, and none stays that is
/// not.
static void the_problem_holds_exactly_the_contacts_in_reach(void **state) {
    static uint64_t found[4 * BODIES * BODIES], expected[4 * BODIES * BODIES];
    int32_t total = 0, looked_at = 0;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        stn_world *world = swarm(*state, seed, 0.0), *wide = swarm(*state, seed, 1.0);
        int32_t n = list_ids(stn_world_observation(world)->problem, true, found);
        int32_t m = list_ids(stn_world_observation(wide)->problem, false, expected);
        assert_int_equal(n, m);
        assert_memory_equal(found, expected, (size_t)n * sizeof *found);
        total += n;
        looked_at += stn_world_observation(wide)->report->contact_count;
        stn_world_destroy(wide);
        stn_world_destroy(world);
    }
    assert_true(total > 1500 && looked_at > 2 * total);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ball_enters_at_exactly_the_reach),
        cmocka_unit_test(the_end_of_a_turning_rod_enters_at_exactly_its_reach),
        cmocka_unit_test(the_problem_holds_exactly_the_contacts_in_reach),
    };
    return cmocka_run_group_tests(tests, scene_setup, scene_teardown);
}
