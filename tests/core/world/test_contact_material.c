// SPDX-License-Identifier: Apache-2.0
// What a contact is made of and where it acts: two balls side by side along x, figures worked out by hand.
//     k = k_a k_b / (k_a + k_b),  mu = 2 mu_a mu_b / (mu_a + mu_b),  d = (k_b d_a + k_a d_b) / (k_a + k_b),
//     tau = tau_a + tau_b,  e = max(e_a, e_b),  p = (k_a p_a + k_b p_b) / (k_a + k_b)
#include "scenes.h"

#define FILE_NAME STN_BINARY_DIR "/tests/contact_material.json"

static const double radius = 0.1, dt = 0.004;
static const double inf = (double)INFINITY, nan_ = (double)NAN;

static stn_world_options weightless(void) {
    stn_world_options options = stn_world_options_default();
    options.dt = dt;
    options.gravity = stn_vec3_zero();
    options.margin = 0.01;
    return options;
}

/// Ball A at the origin, ball B somewhere.
static stn_world *two_balls_at(stn_context *context, const stn_world_options *options, const stn_material surface[2],
                               stn_vec3 place) {
    static const char *const names[2] = {"a", "b"};
    stn_world *world = scene_world(context, options);
    for (int32_t i = 0; i < 2; i++) {
        stn_geometry_spec ball = stn_geometry_spec_default(stn_shape_sphere(radius));
        ball.material = surface[i];
        scene_body(world, names[i], 1.0, &ball, stn_vec3_scale(i, place));
    }
    return world;
}

/// Ball B behind a gap along +x.
static stn_world *two_balls(stn_context *context, const stn_world_options *options, const stn_material surface[2],
                            double gap) {
    return two_balls_at(context, options, surface, stn_vec3_make(2.0 * radius + gap, 0.0, 0.0));
}

/// The one contact of the first step; NULL when there is none.
static const stn_constraint *first_contact(stn_world *world) {
    scene_steps(world, 1);
    const stn_observation *o = stn_world_observation(world);
    assert_true(o->problem->constraint_count <= 1);
    return o->problem->constraint_count == 1 ? &o->problem->constraints[0] : NULL;
}

static void assert_parameters(const stn_constraint *c, const stn_material *expected) {
    assert_true(c->stiffness == expected->stiffness || fabs(c->stiffness / expected->stiffness - 1.0) < 1e-14);
    assert_near(c->relaxation_time, expected->relaxation_time, 1e-16);
    assert_near(c->dissipation, expected->dissipation, 1e-14);
    assert_near(c->mu1, expected->mu, 1e-15);
    assert_near(c->mu2, expected->mu, 1e-15);
    assert_near(c->restitution, expected->restitution, 0.0);
    assert_near(c->phi0, -1e-4, 1e-16);
}

typedef struct rule {
    stn_material surface[2], expected;
} rule;

// members: mu, stiffness, relaxation time, dissipation, restitution, modulus, mu_static
static const rule rules[] = {
    // nothing given: rigid on rigid, dt of relaxation
    {{{nan_, nan_, nan_, nan_, nan_, nan_, nan_, nan_}, {nan_, nan_, nan_, nan_, nan_, nan_, nan_, nan_}},
     {0.5, inf, dt, 0.0, 0.0, inf, nan_, nan_}},
    // both compliant: 1/k = 1e-4 + 1e-4/3; the softer one, whose d is 10, takes 3/4 of the deformation
    {{{0.2, 1e4, 0.01, 10.0, 0.3, nan_, nan_, nan_}, {0.6, 3e4, 0.02, 20.0, 0.1, nan_, nan_, nan_}},
     {0.3, 7500.0, 0.03, 12.5, 0.3, inf, nan_, nan_}},
    // compliant on rigid: stiffness and dissipation of the compliant one, the times add all the same
    {{{1.0, 1e5, 0.01, 4.0, 0.0, nan_, nan_, nan_}, {0.25, inf, 0.02, 90.0, 0.9, nan_, nan_, nan_}},
     {0.4, 1e5, 0.03, 4.0, 0.9, inf, nan_, nan_}},
    // one time given alone counts alone; one of 0 is given
    {{{0.5, 1e5, 0.01, 0.0, nan_, nan_, nan_, nan_}, {0.5, 1e5, nan_, 0.0, nan_, nan_, nan_, nan_}},
     {0.5, 5e4, 0.01, 0.0, 0.0, inf, nan_, nan_}},
    {{{0.5, 1e5, 0.0, 0.0, nan_, nan_, nan_, nan_}, {0.5, 1e5, nan_, 0.0, nan_, nan_, nan_, nan_}},
     {0.5, 5e4, 0.0, 0.0, 0.0, inf, nan_, nan_}},
    // one frictionless side makes the contact frictionless
    {{{0.0, 1e5, 0.01, 2.0, 1.0, nan_, nan_, nan_}, {0.8, 1e5, 0.01, 6.0, 0.5, nan_, nan_, nan_}},
     {0.0, 5e4, 0.02, 4.0, 1.0, inf, nan_, nan_}},
};

static void every_parameter_reaches_the_problem_and_its_file(void **state) {
    for (int32_t i = 0; i < 2 * STN_COUNT(rules); i++) {
        const rule *r = &rules[i / 2];
        const stn_material surface[2] = {r->surface[i % 2], r->surface[1 - i % 2]}; // swapped, the same
        stn_world_options options = weightless();
        stn_world *world = two_balls(*state, &options, surface, -1e-4);
        const stn_constraint *c = first_contact(world);
        stn_problem_owner *owner = NULL;
        stn_error err;
        assert_non_null(c);
        assert_parameters(c, &r->expected);
        assert_ok(stn_problem_save(*state, stn_world_observation(world)->problem, "contact-problem-2", FILE_NAME, &err),
                  err);
        assert_ok(stn_problem_load(*state, FILE_NAME, &owner, &err), err);
        assert_parameters(&stn_problem_of(owner)->constraints[0], &r->expected);
        assert_true(stn_problem_of(owner)->constraints[0].id == c->id);
        stn_problem_destroy(owner);
        stn_world_destroy(world);
    }
    remove(FILE_NAME);
}

static void a_surface_without_stiffness_pushes_nothing(void **state) {
    const stn_material none = {0.5, 0.0, 0.01, 1.0, 0.0, nan_, nan_, nan_}, others[] = {none, stn_material_unset()};
    for (int32_t i = 0; i < 4; i++) {
        const stn_material surface[2] = {i < 2 ? none : others[i % 2], i < 2 ? others[i % 2] : none};
        stn_world_options options = weightless();
        stn_world *world = two_balls(*state, &options, surface, -1e-4);
        assert_null(first_contact(world));
        stn_world_destroy(world);
    }
}

/// Layers in series: (k_b tau_a + k_a tau_b) / (k_a + k_b).
static void relaxation_times_of_layers_in_series_are_weighted(void **state) {
    static const struct {
        double k[2], tau[2], expected;
    } cases[] = {
        {{1e4, 3e4}, {0.01, 0.02}, 0.0125},   {{2e5, 2e5}, {0.0, 0.02}, 0.01},
        {{1e4, INFINITY}, {0.01, 0.7}, 0.01}, {{INFINITY, INFINITY}, {0.01, 0.02}, 0.015},
        {{1e4, 3e4}, {NAN, 0.02}, 0.02},      {{1e4, INFINITY}, {NAN, 0.02}, 0.02},
    };
    for (int32_t i = 0; i < 2 * STN_COUNT(cases); i++) {
        stn_material surface[2] = {stn_material_unset(), stn_material_unset()};
        for (int32_t side = 0; side < 2; side++) {
            surface[side].stiffness = cases[i / 2].k[i % 2 ^ side];
            surface[side].relaxation_time = cases[i / 2].tau[i % 2 ^ side];
        }
        stn_world_options options = weightless();
        options.relaxation_rule = STN_RELAXATION_SERIES;
        stn_world *world = two_balls(*state, &options, surface, -1e-4);
        const stn_constraint *c = first_contact(world);
        assert_non_null(c);
        assert_near(c->relaxation_time, cases[i / 2].expected, 1e-16);
        stn_world_destroy(world);
    }
}

/// An override states the parameters of the contact, whatever the surfaces say; what it leaves unset stays theirs.
static void overrides_state_the_contact_itself(void **state) {
    const stn_material soft = {0.2, 1e4, 0.01, 10.0, 0.3, nan_, nan_, nan_},
                       hard = {0.6, 3e4, 0.02, 20.0, 0.1, nan_, nan_, nan_};
    const stn_material surface[2] = {soft, hard};
    const struct {
        stn_material all, pair, expected;
    } cases[] = {
        {{0.9, nan_, nan_, nan_, nan_, nan_, nan_, nan_},
         {nan_, nan_, nan_, nan_, nan_, nan_, nan_, nan_},
         {0.9, 7500.0, 0.03, 12.5, 0.3, inf, nan_, nan_}},
        {{0.9, inf, nan_, 7.0, nan_, nan_, nan_, nan_},
         {0.1, nan_, 0.0, nan_, 0.8, nan_, nan_, nan_},
         {0.1, inf, 0.0, 7.0, 0.8, inf, nan_, nan_}},
        {{nan_, 1e5, 0.5, 0.0, 0.0, nan_, nan_, nan_},
         {nan_, 2e5, nan_, nan_, nan_, nan_, nan_, nan_},
         {0.3, 2e5, 0.5, 0.0, 0.0, inf, nan_, nan_}},
    };
    for (int32_t i = 0; i < STN_COUNT(cases); i++) {
        stn_world_options options = weightless();
        stn_world *world = two_balls(*state, &options, surface, -1e-4);
        stn_model_builder *b = stn_world_builder(world);
        stn_error err;
        assert_ok(stn_builder_set_contact_material(b, STN_ANY, STN_ANY, &cases[i].all, &err), err);
        assert_ok(stn_builder_set_contact_material(b, stn_builder_find_link(b, -1, "b/b"),
                                                   stn_builder_find_link(b, -1, "a/a"), &cases[i].pair, &err),
                  err);
        const stn_constraint *c = first_contact(world);
        assert_non_null(c);
        assert_parameters(c, &cases[i].expected);
        assert_near(c->point.x, 0.25 * radius + 0.75 * (radius - 1e-4), 1e-16); // still by the surfaces' own stiffness
        stn_world_destroy(world);
    }
}

/// A row of balls with few kinds of surface or with many, of which some pairs are overridden: every neighbour has the
/// material that its two surfaces make.
static void any_number_of_surfaces_makes_the_same_pairs(void **state) {
    enum { BALLS = 40 };
    static const int32_t kinds[] = {1, 3, 15, 16, 17, 40};
    for (int32_t k = 0; k < STN_COUNT(kinds); k++) {
        stn_world_options options = weightless();
        stn_world *world = scene_world(*state, &options);
        stn_material surface[BALLS];
        char name[16];
        for (int32_t i = 0; i < BALLS; i++) {
            stn_geometry_spec ball = stn_geometry_spec_default(stn_shape_sphere(radius));
            surface[i] = stn_material_unset();
            surface[i].mu = 0.1 + 0.02 * (i % kinds[k]);
            surface[i].stiffness = 1e4 * (1 + i % kinds[k]);
            ball.material = surface[i];
            snprintf(name, sizeof name, "b%d", (int)i);
            scene_body(world, name, 1.0, &ball, stn_vec3_make(i * (2.0 * radius - 1e-4), 0.0, 0.0));
        }
        // balls 3 and 4, and 7 with any other one
        stn_model_builder *b = stn_world_builder(world);
        stn_material pair = stn_material_unset(), any = stn_material_unset();
        stn_error err;
        pair.mu = 0.91;
        any.stiffness = 777.0;
        assert_ok(stn_builder_set_contact_material(b, stn_builder_find_link(b, -1, "b3/b3"),
                                                   stn_builder_find_link(b, -1, "b4/b4"), &pair, &err),
                  err);
        assert_ok(stn_builder_set_contact_material(b, stn_builder_find_link(b, -1, "b7/b7"), STN_ANY, &any, &err), err);
        scene_steps(world, 1);
        const stn_contact_set *set = stn_world_observation(world)->contacts;
        assert_int_equal(set->count, BALLS - 1);
        for (int32_t c = 0; c < set->count; c++) {
            const int32_t i = set->contacts[c].geometry_a, j = set->contacts[c].geometry_b;
            const double k_i = surface[i].stiffness, k_j = surface[j].stiffness;
            const bool seventh = i == 7 || j == 7;
            const double mu = i == 3 ? 0.91 : 2.0 * surface[i].mu * surface[j].mu / (surface[i].mu + surface[j].mu);
            const double stiffness = seventh ? 777.0 : k_i * k_j / (k_i + k_j);
            assert_int_equal(j, i + 1);
            assert_near(set->contacts[c].material.mu, mu, 1e-15);
            assert_near(set->contacts[c].material.stiffness, stiffness, 1e-12 * stiffness);
        }
        stn_world_destroy(world);
    }
}

/// Springs in series carry one force, k_a x_a = k_b x_b with x_a + x_b = the overlap, so the surfaces meet at x_a into
/// A.
static double meeting_point(double k_a, double k_b, double gap) {
    double x_a = isinf(k_a) && isinf(k_b) ? -0.5 * gap
                 : isinf(k_a)             ? 0.0
                 : isinf(k_b)             ? -gap
                                          : -gap * k_b / (k_a + k_b);
    return radius - x_a;
}

static void the_contact_acts_where_its_rule_says(void **state) {
    static const double stiffness[][2] = {{1e4, 3e4}, {2e5, 2e5}, {1e3, INFINITY}, {INFINITY, INFINITY}};
    static const double gaps[] = {-1e-3, -1e-4, 1e-4, 1e-3}; // apart, too
    for (int32_t i = 0; i < 2 * STN_COUNT(stiffness) * STN_COUNT(gaps); i++) {
        double gap = gaps[i % 4], k_a = stiffness[i / 8][i / 4 % 2], k_b = stiffness[i / 8][1 - i / 4 % 2];
        stn_material surface[2] = {stn_material_unset(), stn_material_unset()};
        surface[0].stiffness = k_a;
        surface[1].stiffness = k_b;
        const double expected[] = {[STN_CONTACT_POINT_STIFFNESS] = meeting_point(k_a, k_b, gap),
                                   [STN_CONTACT_POINT_MIDPOINT] = radius + 0.5 * gap,
                                   [STN_CONTACT_POINT_A] = radius,
                                   [STN_CONTACT_POINT_B] = radius + gap};
        for (int32_t k = 0; k < STN_COUNT(expected); k++) {
            stn_world_options options = weightless();
            options.contact_point = (stn_contact_point_rule)k;
            stn_world *world = two_balls(*state, &options, surface, gap);
            const stn_constraint *c = first_contact(world);
            assert_non_null(c);
            assert_near(c->phi0, gap, 1e-16);
            assert_near(c->frame.m[0][2], 1.0, 1e-15); // from A, the first one, into B
            assert_near(c->point.x, expected[k], 1e-16);
            assert_near(c->point.y, 0.0, 1e-16);
            stn_world_destroy(world);
        }
    }
}

/// Whichever way rounding bends a normal off an axis, or off any other direction that bodies meet in.
static void tangents_stay_when_a_normal_shakes(void **state) {
    static const double shakes[][3] = {{1.0, 2.0, 3.0},   {2.0, 1.0, -3.0}, {-3.0, 1.0, 2.0},
                                       {-1.0, -2.0, 1.0}, {0.0, 1.0, 0.0},  {0.0, 0.0, 0.0}};
    static const double ways[][3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0},  {0.0, 0.0, 1.0}, {1.0, 1.0, 0.0},
                                     {0.0, 1.0, 1.0}, {-1.0, 0.0, 1.0}, {3.0, 4.0, 0.0}, {1.0, 1.0, 1.0}};
    const stn_material surface[2] = {stn_material_unset(), stn_material_unset()};
    const stn_world_options options = weightless();
    for (int32_t i = 0; i < 2 * STN_COUNT(ways); i++) {
        const double *way = ways[i / 2], sign = i % 2 == 0 ? 1.0 : -1.0;
        const stn_vec3 n = stn_vec3_normalize_or(stn_vec3_make(way[0], way[1], way[2]), stn_vec3_zero());
        stn_mat3 first = {{{0.0}}};
        for (int32_t k = 0; k < STN_COUNT(shakes); k++) {
            const stn_vec3 shake = stn_vec3_make(shakes[k][0], shakes[k][1], shakes[k][2]);
            const stn_vec3 place = stn_vec3_mul_add(stn_vec3_scale(2.0 * radius * sign, n), 1e-9, shake);
            stn_world *world = two_balls_at(*state, &options, surface, place);
            const stn_constraint *c = first_contact(world);
            assert_non_null(c);
            first = k == 0 ? c->frame : first;
            for (int32_t e = 0; e < 9; e++) {
                double square = 0.0; // columns are orthonormal
                for (int32_t r = 0; r < 3; r++) {
                    square += c->frame.m[r][e / 3] * c->frame.m[r][e % 3];
                }
                assert_near(square, e / 3 == e % 3 ? 1.0 : 0.0, 1e-14);
                assert_near(c->frame.m[e / 3][e % 3], first.m[e / 3][e % 3], 1e-7);
            }
            stn_world_destroy(world);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_parameter_reaches_the_problem_and_its_file),
        cmocka_unit_test(a_surface_without_stiffness_pushes_nothing),
        cmocka_unit_test(relaxation_times_of_layers_in_series_are_weighted),
        cmocka_unit_test(overrides_state_the_contact_itself),
        cmocka_unit_test(any_number_of_surfaces_makes_the_same_pairs),
        cmocka_unit_test(the_contact_acts_where_its_rule_says),
        cmocka_unit_test(tangents_stay_when_a_normal_shakes),
    };
    return cmocka_run_group_tests(tests, scene_setup, scene_teardown);
}
