// SPDX-License-Identifier: Apache-2.0
// What a world learns about its pairs when it is compiled, against asking every pair; shapes that nothing handles; and
// worlds that cannot be compiled.
#include "scenes.h"

#include <string.h>

#include "stn_heap.h"
#include "stn_model_test.h"
#include "stn_random_pose.h"
#include "world/world.h"

// ------------------------------------------------------------------------------------------------- contact model

/// Two types that have no contact with each other; meshes, hulls and ellipsoids have none at all.
typedef struct config {
    int32_t gap_a, gap_b;
    int32_t one_sided; // the gap is denied when it is asked for in the other order
    int32_t soft;      // two rigid shapes have no contact
    double margin;     // what every geometry is said to have
} config;

static const stn_param params[] = {
    STN_PARAM_INT(config, gap_a, "1", -1.0, -1.0, 10.0, "shape type"),
    STN_PARAM_INT(config, gap_b, "1", -1.0, -1.0, 10.0, "shape type"),
    STN_PARAM_INT(config, one_sided, "1", 0.0, 0.0, 1.0, "answers by order"),
    STN_PARAM_INT(config, soft, "1", 0.0, 0.0, 1.0, "contacts of compliant shapes alone"),
    STN_PARAM_REAL(config, margin, "m", 0.0, -1.0, 1.0, "of every geometry"),
};

static bool handles(const void *self, const stn_geometry *a, const stn_geometry *b) {
    const config *c = self;
    int32_t s = (int32_t)a->shape.type, t = (int32_t)b->shape.type;
    if (c->soft && !stn_geometry_is_compliant(a) && !stn_geometry_is_compliant(b)) {
        return false;
    }
    bool gap = (s == c->gap_a && t == c->gap_b) || (s == c->gap_b && t == c->gap_a && c->one_sided == 0);
    return !gap && s <= STN_SHAPE_HALF_SPACE && t <= STN_SHAPE_HALF_SPACE;
}

static stn_pair_material last_seen; // of the first pair of the last call

static stn_status collide(void *self, const stn_contact_scene *scene, const stn_contact_pair *pairs, int32_t pair_count,
                          stn_contact_set *set, stn_error *err) {
    (void)self, (void)scene, (void)set, (void)err;
    if (pair_count > 0) {
        last_seen = pairs[0].material;
    }
    return STN_OK;
}

static double margin(const void *self, const stn_geometry *geometry) {
    const config *c = self;
    (void)geometry;
    return c->margin;
}

static const stn_contact_ops ops = {
    .size = sizeof ops, .handles = handles, .collide = collide, .moving_surfaces = true, .margin = margin};
static const stn_plugin_desc gappy = {.size = sizeof gappy,
                                      .kind = STN_KIND_CONTACT,
                                      .id = "test_gappy",
                                      .version = "1.0.0",
                                      .summary = "contact between chosen types",
                                      .config_size = sizeof(config),
                                      .params = params,
                                      .param_count = STN_COUNT(params),
                                      .ops.contact = &ops};

typedef struct fixture {
    stn_heap heap;
    stn_context *context;
    char log[4096];
    int32_t log_lines;
} fixture;

static void keep_log(void *user, stn_log_level level, const char *text) {
    fixture *f = user;
    if (level >= STN_LOG_WARNING) {
        snprintf(f->log, sizeof f->log, "%s", text);
        f->log_lines++;
    }
}

static int set_up(void **state) {
    static fixture f;
    memset(&f, 0, sizeof f);
    stn_context_options options = stn_heap_options(&f.heap);
    options.log = keep_log;
    options.log_user = &f;
    stn_error err;
    assert_ok(stn_context_create(&options, &f.context, &err), err);
    assert_ok(stn_plugin_register(f.context, &gappy, &err), err);
    *state = &f;
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    stn_context_destroy(f->context);
    assert_int_equal(f->heap.live, 0);
    return 0;
}

static stn_world *gappy_world(fixture *f, stn_shape_type a, stn_shape_type b) {
    const stn_setting settings[] = {{.name = "gap_a", .form = STN_SETTING_NUMBER, .number = (double)a},
                                    {.name = "gap_b", .form = STN_SETTING_NUMBER, .number = (double)b}};
    stn_world_options options = stn_world_options_default();
    options.contact = (stn_plugin_choice){"test_gappy", settings, 2};
    return scene_world(f->context, &options);
}

// --------------------------------------------------------------------------------------------------- worst pairs

static double pick(stn_random *r, const double *choices, int32_t count, double low, double high) {
    int32_t i = random_below(r, count + 1);
    return i < count ? choices[i] : random_size(r, low, high);
}

static stn_material random_material(stn_random *r) {
    static const double mu[] = {0.5, 0.5, (double)NAN, 0.0}, stiffness[] = {(double)INFINITY, (double)NAN, 0.0, 1e4};
    static const double tau[] = {(double)NAN, 0.0, 0.01}, dissipation[] = {(double)NAN, 0.0, 2.0};
    static const double modulus[] = {(double)INFINITY, (double)NAN, 0.0, 1e6};
    return (stn_material){.mu = pick(r, mu, 4, 0.1, 1.0),
                          .stiffness = pick(r, stiffness, 4, 1e2, 1e6),
                          .relaxation_time = pick(r, tau, 3, 1e-3, 1.0),
                          .dissipation = pick(r, dissipation, 3, 0.1, 50.0),
                          .restitution = (double)NAN,
                          .modulus = pick(r, modulus, 4, 1e5, 1e9),
                          .mu_static = (double)NAN,
                          .mu2 = (double)NAN};
}

static stn_shape random_shape(stn_random *r) {
    switch (random_below(r, 4)) {
    case 0:
        return stn_shape_sphere(random_between(r, 0.1, 0.2));
    case 1:
        return stn_shape_box(stn_vec3_make(0.1, 0.1, random_between(r, 0.1, 0.2)));
    case 2:
        return stn_shape_capsule(0.1, 0.1);
    default:
        return stn_shape_cylinder(0.1, 0.1);
    }
}

static void random_surface(stn_random *r, stn_model_builder *b, int32_t link) {
    static const uint32_t bits[] = {1, 1, 1, 2, 4};
    stn_error err;
    stn_geometry_spec spec = stn_geometry_spec_default(random_shape(r));
    spec.material = random_material(r);
    if (random_below(r, 3) == 0) {
        spec.material.mu2 = random_between(r, 0.0, 1.5);
        spec.friction_direction = stn_vec3_make(random_between(r, -1.0, 1.0), 1.0, 0.0);
    }
    spec.category = bits[random_below(r, 5)];
    spec.mask = random_below(r, 3) > 0 ? UINT32_MAX : 3;
    spec.collision = random_below(r, 10) > 0;
    int32_t geometry = -1;
    assert_ok(stn_builder_add_geometry(b, link, &spec, &geometry, &err), err);
}

/// Small robots with several shapes on a link, some alike, with exclusions, overrides and a cloud of nodes.
static void fill_world(stn_random *r, stn_model_builder *b, bool overrides) {
    stn_error err;
    int32_t links = 0;
    for (int32_t k = 0; k < 12; k++) {
        char name[16];
        snprintf(name, sizeof name, "r%d", k);
        begin_robot(b, name);
        int32_t count = 1 + random_below(r, 3), first = links;
        for (int32_t i = 0; i < count; i++, links++) {
            snprintf(name, sizeof name, "l%d", i);
            add_link(b, name, mass_of(1.0, stn_vec3_zero(), 0.1, 0.1, 0.1));
            if (i > 0) {
                add_joint(b, name, i == 2 ? STN_JOINT_FIXED : STN_JOINT_BALL, first + i - 1, first + i,
                          stn_pose_identity(), stn_vec3_make(1.0, 0.0, 0.0));
            }
            for (int32_t s = random_below(r, 4); s > 0; s--) {
                random_surface(r, b, first + i);
            }
        }
    }
    random_surface(r, b, STN_WORLD);
    for (int32_t k = 0; k < 6; k++) {
        assert_ok(stn_builder_disable_collisions(b, random_below(r, links), random_below(r, links + 1) - 1, &err), err);
    }
    for (int32_t k = 0; overrides && k < 5; k++) {
        stn_material material = random_material(r);
        int32_t one = k == 0 ? STN_ANY : random_below(r, links + 1) - 1;
        int32_t two = k < 3 ? STN_ANY : random_below(r, links + 1) - 1;
        assert_ok(stn_builder_set_contact_material(b, one, two, &material, &err), err);
    }
    const double x[9] = {0.0, 0.0, 1.0, 0.0, 0.0, 2.0, 0.0, 0.0, 3.0}, m[3] = {1.0, 1.0, 1.0};
    stn_nodes_spec nodes = {.name = "cloud",
                            .node_count = 3,
                            .position = x,
                            .mass = m,
                            .contact_radius = 0.05,
                            .material = random_material(r)};
    int32_t cloud = -1;
    assert_ok(stn_builder_add_nodes(b, &nodes, &cloud, &err), err);
}

/// The same figures from every pair; a relaxation time that nobody sets is not among them.
static stn_material plain_worst(const stn_world *world, int32_t i) {
    stn_material worst = {.stiffness = (double)INFINITY, .relaxation_time = 0.0};
    for (int32_t j = 0; j < world->setup->collider_count; j++) {
        if (j != i &&
            stn_model_may_collide(world->setup->model, world->setup->collider[i], world->setup->collider[j])) {
            stn_pair_material pair =
                stn_model_pair_material(world->setup->model, world->setup->collider[i], world->setup->collider[j]);
            stn_material p = pair.value;
            worst.mu = fmax(worst.mu, fmax(p.mu, p.mu2));
            worst.relaxation_time = fmax(worst.relaxation_time, fmax(p.relaxation_time, pair.patch_relaxation_time));
            worst.stiffness = fmin(worst.stiffness, p.stiffness);
            worst.dissipation = fmax(worst.dissipation, fmax(p.dissipation, pair.patch_dissipation));
        }
    }
    return worst;
}

/// Equal, infinite too; which partner is the worst may hang on the last bit.
static void assert_same(double a, double b) {
    if (!(a == b || fabs(a - b) <= 4e-16 * fabs(b))) {
        fail_msg("%.17g, expected %.17g", a, b);
    }
}

static void worst_pair_of_a_collider_is_found_without_asking_all_pairs(void **state) {
    fixture *f = *state;
    stn_random r = {51};
    int32_t compared = 0;
    for (int32_t k = 0; k < 60; k++) {
        stn_error err;
        stn_world *world =
            scene_world(f->context, &(stn_world_options){.size = sizeof(stn_world_options), .dt = 1e-3, .threads = 1});
        fill_world(&r, stn_world_builder(world), k % 2 == 1);
        assert_ok(stn_world_compile(world, &err), err);
        for (int32_t i = 0; i < world->setup->collider_count; i++, compared++) {
            stn_material expected = plain_worst(world, i);
            const stn_material *got = &world->setup->collider_worst[i];
            assert_same(got->mu, expected.mu);
            assert_same(got->relaxation_time, expected.relaxation_time);
            assert_same(got->stiffness, expected.stiffness);
            assert_same(got->dissipation, expected.dissipation);
        }
        stn_world_destroy(world);
    }
    assert_true(compared > 1000);
}

// ---------------------------------------------------------------------------------------------------------- gaps

/// The first pair, in the order of the model, that the contact model does not handle; false: there is none.
static bool plain_gap(const stn_model *model, const config *c, int32_t pair[2]) {
    for (int32_t i = 0; i < model->geometry_count; i++) {
        for (int32_t j = i + 1; j < model->geometry_count; j++) {
            if (stn_model_may_collide(model, i, j) && !handles(c, &model->geometries[i], &model->geometries[j])) {
                pair[0] = i, pair[1] = j;
                return true;
            }
        }
    }
    return false;
}

static void name_geometry(const stn_model *model, int32_t geometry, char *text, size_t size) {
    const stn_geometry *g = &model->geometries[geometry];
    const char *type = stn_shape_name(g->shape.type);
    if (g->link < 0) {
        snprintf(text, size, "%s (%s)", g->body == 0 ? "the world" : "a deformable", type);
    } else {
        const stn_link *link = &model->links[g->link];
        snprintf(text, size, "%s/%s (%s)", model->groups[link->group].name, link->name, type);
    }
}

static void first_pair_without_contact_is_named(void **state) {
    fixture *f = *state;
    int32_t refused = 0;
    for (uint64_t k = 0; k < 60; k++) {
        config c = {.gap_a = STN_SHAPE_CYLINDER, .gap_b = (int32_t)(k % 4)};
        stn_error err = {0};
        stn_random r = {k}, again = {k};
        stn_world *world = gappy_world(f, (stn_shape_type)c.gap_a, (stn_shape_type)c.gap_b);
        fill_world(&r, stn_world_builder(world), false);
        stn_model_builder *b = new_builder(f->context);
        fill_world(&again, b, false);
        stn_model *model = compile_model(b);
        int32_t pair[2];
        bool gap = plain_gap(model, &c, pair);
        stn_status status = stn_world_compile(world, &err);
        assert_int_equal(status, gap ? STN_ERR_UNSUPPORTED : STN_OK);
        if (gap) {
            char expected[256], name[2][100];
            name_geometry(model, pair[0], name[0], sizeof name[0]);
            name_geometry(model, pair[1], name[1], sizeof name[1]);
            snprintf(expected, sizeof expected, "has no contact between %s and %s: use other shapes", name[0], name[1]);
            if (strstr(err.text, expected) == NULL) {
                fail_msg("'%s' is not in: %s", expected, err.text);
            }
        }
        refused += gap;
        stn_builder_destroy(b);
        stn_model_destroy(model);
        stn_world_destroy(world);
    }
    assert_true(refused > 10);
}

static void pairs_that_filters_or_exclusions_keep_apart_may_lack_a_contact(void **state) {
    fixture *f = *state;
    stn_error err;
    for (int32_t k = 0; k < 3; k++) {
        stn_world *world = gappy_world(f, STN_SHAPE_BOX, STN_SHAPE_SPHERE);
        stn_model_builder *b = stn_world_builder(world);
        int32_t geometry = -1, one, two;
        begin_robot(b, "one");
        one = add_link(b, "one", mass_of(1.0, stn_vec3_zero(), 0.1, 0.1, 0.1));
        add_shape(b, one, stn_shape_sphere(0.1));
        begin_robot(b, "two");
        two = add_link(b, "two", mass_of(1.0, stn_vec3_zero(), 0.1, 0.1, 0.1));
        stn_geometry_spec box = stn_geometry_spec_default(stn_shape_box(stn_vec3_make(0.1, 0.1, 0.1)));
        box.category = k == 1 ? 2 : 1;
        box.mask = k == 1 ? 2 : UINT32_MAX;
        assert_ok(stn_builder_add_geometry(b, two, &box, &geometry, &err), err);
        if (k == 2) {
            assert_ok(stn_builder_disable_collisions(b, one, two, &err), err);
        }
        assert_int_equal(stn_world_compile(world, &err), k == 0 ? STN_ERR_UNSUPPORTED : STN_OK);
        stn_world_destroy(world);
    }
}

static void contact_model_that_answers_by_order_gets_one_answer(void **state) {
    fixture *f = *state;
    for (int32_t k = 0; k < 4; k++) { // which body comes first, and which order has the gap
        const stn_shape shapes[2] = {stn_shape_sphere(0.1), stn_shape_box(stn_vec3_make(0.1, 0.1, 0.1))};
        const stn_setting settings[] = {
            {.name = "gap_a", .form = STN_SETTING_NUMBER, .number = (double)shapes[k / 2].type},
            {.name = "gap_b", .form = STN_SETTING_NUMBER, .number = (double)shapes[1 - k / 2].type},
            {.name = "one_sided", .form = STN_SETTING_NUMBER, .number = 1.0},
        };
        stn_world_options options = stn_world_options_default();
        options.contact = (stn_plugin_choice){"test_gappy", settings, 3};
        stn_world *world = scene_world(f->context, &options);
        stn_model_builder *b = stn_world_builder(world);
        for (int32_t i = 0; i < 2; i++) {
            begin_robot(b, i == 0 ? "one" : "two");
            int32_t link = add_link(b, "body", mass_of(1.0, stn_vec3_zero(), 0.1, 0.1, 0.1));
            add_shape(b, link, shapes[(i + k) % 2]);
        }
        stn_error err;
        assert_int_equal(stn_world_compile(world, &err), k / 2 == 0 ? STN_ERR_UNSUPPORTED : STN_OK);
        stn_world_destroy(world);
    }
}

static stn_world *soft_world(fixture *f, double distance) {
    const stn_setting settings[] = {{.name = "gap_a", .form = STN_SETTING_NUMBER, .number = -1.0},
                                    {.name = "gap_b", .form = STN_SETTING_NUMBER, .number = -1.0},
                                    {.name = "soft", .form = STN_SETTING_NUMBER, .number = 1.0},
                                    {.name = "margin", .form = STN_SETTING_NUMBER, .number = distance}};
    stn_world_options options = stn_world_options_default();
    options.contact = (stn_plugin_choice){"test_gappy", settings, 4};
    return scene_world(f->context, &options);
}

static void add_box(stn_world *world, const char *name, double modulus) {
    stn_model_builder *b = stn_world_builder(world);
    stn_geometry_spec box = stn_geometry_spec_default(stn_shape_box(stn_vec3_make(0.1, 0.1, 0.1)));
    stn_error err;
    int32_t geometry = -1;
    begin_robot(b, name);
    int32_t link = add_link(b, "body", mass_of(1.0, stn_vec3_zero(), 0.1, 0.1, 0.1));
    box.material.modulus = modulus;
    assert_ok(stn_builder_add_geometry(b, link, &box, &geometry, &err), err);
}

/// Equal boxes but for the modulus are not one kind: each pair is asked about with its own.
static void two_rigid_bodies_without_contact_are_named_with_what_to_do(void **state) {
    fixture *f = *state;
    const double inf = (double)INFINITY, nan = (double)NAN;
    const struct {
        double modulus[3];
        const char *pair; // NULL: compiles
    } cases[] = {
        {{1e6, 1e5, 1e7}, NULL},
        {{1e6, inf, 1e5}, NULL},
        {{1e6, nan, inf},
         "between two/body (box) and three/body (box), which are both rigid: give one of them a "
         "modulus, exclude the pair, or choose"},
        {{nan, 1e6, nan}, "between one/body (box) and three/body (box), which are both rigid"},
        {{nan, inf, 1e6}, "between one/body (box) and two/body (box), which are both rigid"},
    };
    for (int32_t k = 0; k < STN_COUNT(cases); k++) {
        stn_error err;
        stn_world *world = soft_world(f, 0.0);
        add_box(world, "one", cases[k].modulus[0]);
        add_box(world, "two", cases[k].modulus[1]);
        add_box(world, "three", cases[k].modulus[2]);
        stn_status status = stn_world_compile(world, &err);
        assert_int_equal(status, cases[k].pair == NULL ? STN_OK : STN_ERR_UNSUPPORTED);
        assert_true(cases[k].pair == NULL || strstr(err.text, cases[k].pair) != NULL);
        assert_int_equal(f->log_lines, 0); // a rigid box could touch a compliant one: it is not left out
        stn_world_destroy(world);
    }
}

/// What a contact model is handed for faces of patches: weights by modulus in the rule of layers in series, dt where
/// nobody gave a relaxation time.
static void contact_model_is_given_the_relaxation_time_of_patches(void **state) {
    fixture *f = *state;
    const double tau[] = {0.01, 0.02};
    for (int32_t k = 0; k < 3; k++) {
        stn_world_options options = stn_world_options_default();
        options.contact = (stn_plugin_choice){"test_gappy", NULL, 0};
        options.relaxation_rule = k == 0 ? STN_RELAXATION_SERIES : STN_RELAXATION_SUM;
        stn_world *world = scene_world(f->context, &options);
        for (int32_t i = 0; i < 2; i++) {
            stn_material m = stn_material_unset();
            stn_error err;
            add_box(world, i == 0 ? "one" : "two", i == 0 ? 1e6 : 3e6);
            m.relaxation_time = k < 2 ? tau[i] : (double)NAN;
            assert_ok(stn_builder_set_material(stn_world_builder(world), i, &m, &err), err);
        }
        stn_error err;
        assert_ok(stn_world_step(world, &err), err);
        const double expected[] = {(3.0 * 0.01 + 1.0 * 0.02) / 4.0, 0.03, options.dt};
        assert_near(last_seen.patch_relaxation_time, expected[k], 1e-16);
        stn_world_destroy(world);
    }
}

static void margin_of_the_contact_model_grows_the_boxes(void **state) {
    fixture *f = *state;
    stn_error err;
    stn_world *world = soft_world(f, 0.25);
    add_box(world, "one", 1e6);
    assert_ok(stn_world_compile(world, &err), err);
    assert_ok(stn_world_step(world, &err), err);
    assert_near(world->frame.collider_box[0].upper.x, 0.1 + 0.25, 1e-15);
    stn_world_destroy(world);
    world = soft_world(f, -0.5);
    add_box(world, "one", 1e6);
    assert_int_equal(stn_world_compile(world, &err), STN_ERR_PLUGIN);
    assert_non_null(strstr(err.text, "contact model test_gappy: margin of geometry '' = -0.5 m must be >= 0"));
    stn_world_destroy(world);
}

// ------------------------------------------------------------------------------------------------------ left out

static void shapes_that_nothing_handles_are_left_out_with_one_line_a_world(void **state) {
    fixture *f = *state;
    stn_error err;
    stn_world *world = gappy_world(f, STN_SHAPE_COUNT, STN_SHAPE_COUNT), *clone = NULL;
    stn_model_builder *b = stn_world_builder(world);
    stn_mesh *mesh = new_mesh(f->context);
    scene_ground(world);
    scene_ball(world, "ball", 1.0, 0.1, stn_vec3_make(0.0, 0.0, 1.0));
    for (int32_t k = 0; k < 3; k++) {
        char name[16];
        snprintf(name, sizeof name, "egg%d", k);
        begin_robot(b, name);
        int32_t link = add_link(b, name, mass_of(1.0, stn_vec3_zero(), 0.1, 0.1, 0.1));
        add_shape(b, link, stn_shape_ellipsoid(stn_vec3_make(0.1, 0.1, 0.2)));
        if (k > 0) {
            add_mesh_shape(b, link, mesh);
        }
    }
    stn_mesh_release(mesh);
    assert_ok(stn_world_compile(world, &err), err);
    assert_int_equal(f->log_lines, 1);
    assert_non_null(strstr(f->log, "contact model test_gappy"));
    assert_non_null(strstr(f->log, "2 of type mesh, 3 of type ellipsoid"));
    assert_int_equal(world->setup->collider_count, 2);
    assert_ok(stn_world_clone(world, &clone, &err), err);
    assert_int_equal(f->log_lines, 1);
    assert_int_equal(clone->setup->collider_count, 2);
    stn_world_destroy(clone);
    stn_world_destroy(world);
}

static void shape_that_meets_no_other_here_but_could_is_not_left_out(void **state) {
    fixture *f = *state;
    stn_error err;
    stn_world_options options = stn_world_options_default();
    stn_world *world = scene_world(f->context, &options);
    scene_ground(world); // half spaces have no contact with each other, and nothing else is here
    assert_ok(stn_world_compile(world, &err), err);
    assert_int_equal(f->log_lines, 0);
    assert_int_equal(world->setup->collider_count, 1);
    stn_world_destroy(world);
}

// ------------------------------------------------------------------------------------------------ failed worlds

static void world_that_could_not_be_compiled_says_so_again(void **state) {
    fixture *f = *state;
    stn_world *world = gappy_world(f, STN_SHAPE_SPHERE, STN_SHAPE_HALF_SPACE), *clone = NULL;
    scene_ground(world);
    scene_ball(world, "ball", 1.0, 0.1, stn_vec3_make(0.0, 0.0, 1.0));
    for (int32_t k = 0; k < 3; k++) {
        stn_error err = {0};
        assert_int_equal(k == 1 ? stn_world_compile(world, &err) : stn_world_step(world, &err), STN_ERR_UNSUPPORTED);
        assert_int_equal(err.status, STN_ERR_UNSUPPORTED);
        assert_non_null(strstr(err.text, "no contact between the world (half_space) and ball (sphere)"));
    }
    stn_error err;
    assert_null(stn_world_model(world));
    assert_null(stn_world_state(world));
    assert_null(stn_world_builder(world));
    assert_int_equal(stn_world_clone(world, &clone, &err), STN_ERR_SEQUENCE);
    stn_world_destroy(world);
}

static void compiling_without_memory_leaks_nothing(void **state) {
    fixture *f = *state;
    stn_status status = STN_ERR_MEMORY;
    int32_t failures = 0;
    for (long long n = 1; status != STN_OK; n++) {
        stn_error err;
        stn_random r = {3};
        stn_world *world =
            scene_world(f->context, &(stn_world_options){.size = sizeof(stn_world_options), .dt = 1e-3, .threads = 1});
        fill_world(&r, stn_world_builder(world), true);
        stn_heap_arm(&f->heap, n);
        status = stn_world_compile(world, &err);
        stn_heap_arm(&f->heap, 0);
        if (status != STN_OK) {
            assert_int_equal(status, STN_ERR_MEMORY);
            failures++;
            assert_null(stn_world_model(world));
        }
        stn_world_destroy(world); // tear_down counts what is left
    }
    assert_true(failures > 20);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(worst_pair_of_a_collider_is_found_without_asking_all_pairs),
        TEST(first_pair_without_contact_is_named),
        TEST(pairs_that_filters_or_exclusions_keep_apart_may_lack_a_contact),
        TEST(contact_model_that_answers_by_order_gets_one_answer),
        TEST(two_rigid_bodies_without_contact_are_named_with_what_to_do),
        TEST(contact_model_is_given_the_relaxation_time_of_patches),
        TEST(margin_of_the_contact_model_grows_the_boxes),
        TEST(shapes_that_nothing_handles_are_left_out_with_one_line_a_world),
        TEST(shape_that_meets_no_other_here_but_could_is_not_left_out),
        TEST(world_that_could_not_be_compiled_says_so_again),
        TEST(compiling_without_memory_leaks_nothing),
    };
    return cmocka_run_group_tests_name("colliders", tests, NULL, NULL);
}
