// SPDX-License-Identifier: Apache-2.0
// Which pairs of a world come to contacts: balls all over each other, with filters, excluded links, things that stand
// still, against a look at every pair.
#include "scenes.h"

#include "stn_random_pose.h"

enum { FREE = 24, FIXED = 6, STATIC = 4, BALLS = FREE + FIXED + STATIC };
static const double CLOUD = 0.25; // half side [m]

static int32_t add_ball(stn_world *world, stn_random *r, int32_t i) {
    stn_model_builder *builder = stn_world_builder(world);
    char name[16];
    snprintf(name, sizeof name, "ball%d", (int)i);
    stn_geometry_spec spec = stn_geometry_spec_default(stn_shape_sphere(random_between(r, 0.03, 0.1)));
    stn_link_spec body = {.name = name};
    stn_pose pose = random_pose(r, CLOUD);
    stn_error err;
    int32_t robot = -1, link = STN_WORLD, geometry = -1;
    spec.category = 1U << random_below(r, 3);
    spec.mask = (uint32_t)random_below(r, 8);
    assert_ok(stn_shape_mass(&spec.shape, 1000.0, &body.mass, &err), err);
    if (i < FREE + FIXED) {
        assert_ok(stn_builder_begin_group(builder, name, &robot, &err), err);
        assert_ok(stn_builder_add_link(builder, &body, &link, &err), err);
        assert_ok(stn_builder_set_base(builder, robot, &pose, i >= FREE, &err), err);
    } else {
        spec.pose = pose;
    }
    assert_ok(stn_builder_add_geometry(builder, link, &spec, &geometry, &err), err);
    return link;
}

static stn_world *make_world(stn_context *context, uint64_t seed) {
    stn_world_options options = stn_world_options_default();
    stn_world *world = scene_world(context, &options);
    stn_random r = {seed};
    int32_t link[BALLS];
    stn_error err;
    for (int32_t i = 0; i < BALLS; i++) {
        link[i] = add_ball(world, &r, i);
    }
    for (int32_t k = 0; k < 30; k++) {
        int32_t a = random_below(&r, FREE), b = random_below(&r, FREE + FIXED);
        if (a != b) {
            assert_ok(stn_builder_disable_collisions(stn_world_builder(world), link[a],
                                                     k % 10 == 0 ? STN_WORLD : link[b], &err),
                      err);
        }
    }
    assert_ok(stn_world_compile(world, &err), err);
    return world;
}

/// Makes a step and counts the pairs that overlapped before it, which must be those in contact. Returns how many a
/// filter, a list or standing still kept apart.
static int32_t assert_pairs(stn_world *world, int32_t *met) {
    const stn_model *model = stn_world_model(world);
    const stn_kinematics *kin = stn_world_kinematics(world);
    static bool expected[BALLS][BALLS];
    int32_t kept_apart = 0, count = 0;
    assert_int_equal(model->geometry_count, BALLS);
    for (int32_t i = 0; i < BALLS; i++) {
        for (int32_t j = i + 1; j < BALLS; j++) {
            const stn_geometry *a = &model->geometries[i], *b = &model->geometries[j];
            stn_vec3 p = stn_pose_apply(&kin->body_pose[a->body], a->pose.position);
            stn_vec3 q = stn_pose_apply(&kin->body_pose[b->body], b->pose.position);
            bool overlap = stn_vec3_norm(stn_vec3_sub(p, q)) < a->shape.radius + b->shape.radius;
            bool filters = (a->category & b->mask) != 0 && (b->category & a->mask) != 0;
            bool listed = false;
            for (int32_t k = 0; k < model->exclude_count; k++) {
                const stn_link_pair *x = &model->excludes[k];
                listed = listed || (x->link_a == a->link && x->link_b == b->link) ||
                         (x->link_a == b->link && x->link_b == a->link);
            }
            bool still = a->body == 0 && b->body == 0;
            expected[i][j] = overlap && filters && !listed && !still;
            kept_apart += overlap && !expected[i][j];
            count += expected[i][j];
        }
    }
    stn_error err;
    assert_true(stn_world_step(world, &err) >= 0);
    const stn_contact_set *set = stn_world_observation(world)->contacts;
    for (int32_t k = 0; k < set->count; k++) {
        const stn_contact *c = &set->contacts[k];
        assert_true(expected[c->geometry_a][c->geometry_b] || c->phi0 > 0.0);
        if (c->phi0 <= 0.0) {
            expected[c->geometry_a][c->geometry_b] = false; // found
            count--;
        }
    }
    assert_int_equal(count, 0);
    *met += set->count;
    return kept_apart;
}

static void shuffle(stn_world *world, stn_random *r, double half) {
    stn_error err;
    for (int32_t i = 0; i < FREE; i++) {
        stn_pose pose = random_pose(r, half);
        assert_ok(stn_world_set_body_pose(world, stn_world_model(world)->geometries[i].body, &pose, &err), err);
        assert_ok(stn_world_set_body_velocity(world, stn_world_model(world)->geometries[i].body, stn_vec3_zero(),
                                              stn_vec3_zero(), &err),
                  err);
    }
}

static void contacts_are_those_of_the_pairs_that_may_touch(void **state) {
    int32_t met = 0, kept_apart = 0;
    stn_error err;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        stn_world *world = make_world(*state, seed), *other = NULL;
        stn_random r = {100 + seed};
        kept_apart += assert_pairs(world, &met);
        for (int32_t k = 0; k < 5; k++) { // together, far apart, together: pairs come and go
            shuffle(world, &r, k % 2 == 0 ? CLOUD : 10.0);
            kept_apart += assert_pairs(world, &met);
            kept_apart += assert_pairs(world, &met);
        }
        assert_ok(stn_world_clone(world, &other, &err), err);
        stn_world_reset(world);
        kept_apart += assert_pairs(world, &met);
        kept_apart += assert_pairs(other, &met);
        stn_world_destroy(world);
        stn_world_destroy(other);
    }
    print_message("contacts: %d, pairs kept apart: %d\n", (int)met, (int)kept_apart);
    assert_true(met > 500 && kept_apart > 2000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contacts_are_those_of_the_pairs_that_may_touch),
    };
    return cmocka_run_group_tests(tests, scene_setup, scene_teardown);
}
