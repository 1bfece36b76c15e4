// SPDX-License-Identifier: Apache-2.0
// Surfaces of nodes in the steps of a world: sheets of springs on a plane, a ball, the edge of a box and each other
// come to rest, carry their weight, and give to the other side what they get.
#include "fake_scenes.h"
#include "skin_probe.h"

static const double g = 9.81, sheet_mass = 0.2;

typedef struct draped {
    stn_world *world;
    int32_t nodes, cloud, skin; // skin: geometry
} draped;

/// Springs along the edges, and between the corners on either side of each, which bend and shear it.
static void add_springs(stn_world *world, int32_t cloud, const skin_sheet *sheet, double k, double c) {
    stn_setting settings[] = {{.name = "k", .form = STN_SETTING_NUMBER, .number = k},
                              {.name = "c", .form = STN_SETTING_NUMBER, .number = c}};
    int32_t *index = calloc(12 * (size_t)sheet->triangle_count, sizeof *index), count = 0;
    stn_instance *instance = NULL;
    stn_error err;
    assert_non_null(index);
    for (int32_t i = 0; i < 3 * sheet->triangle_count; i++) {
        int32_t a = sheet->triangles[i], b = sheet->triangles[i / 3 * 3 + (i + 1) % 3], across = -1;
        bool first = true;
        for (int32_t j = 0; j < 3 * sheet->triangle_count; j++) { // the same edge of another triangle, the other way
            if (sheet->triangles[j] == b && sheet->triangles[j / 3 * 3 + (j + 1) % 3] == a) {
                across = sheet->triangles[j / 3 * 3 + (j + 2) % 3];
                first = i < j;
            }
        }
        if (first) {
            index[2 * count] = a;
            index[2 * count++ + 1] = b;
        }
        if (first && across >= 0) {
            index[2 * count] = sheet->triangles[i / 3 * 3 + (i + 2) % 3];
            index[2 * count++ + 1] = across;
        }
    }
    assert_ok(
        stn_instance_create(stn_world_context(world), STN_KIND_ELEMENT, "fake_spring", settings, 2, &instance, &err),
        err);
    const stn_elements_spec elements = {.name = "threads", .nodes = cloud, .element_count = count, .index = index};
    int32_t group = 0;
    assert_ok(stn_builder_add_elements(stn_world_builder(world), instance, &elements, &group, &err), err);
    free(index);
}

/// A sheet of n x n cells, turned about z by 0.3 so that nothing is aligned, its middle at `place`.
static draped add_sheet(stn_world *world, int32_t n, double size, stn_vec3 place, double thickness, bool self,
                        double k) {
    skin_sheet sheet = skin_sheet_make(n, size);
    double *mass = calloc((size_t)sheet.nodes, sizeof *mass);
    assert_non_null(mass);
    for (int32_t i = 0; i < sheet.nodes; i++) {
        double x = sheet.position[3 * i], y = sheet.position[3 * i + 1];
        sheet.position[3 * i] = place.x + cos(0.3) * x - sin(0.3) * y;
        sheet.position[3 * i + 1] = place.y + sin(0.3) * x + cos(0.3) * y;
        sheet.position[3 * i + 2] = place.z;
        mass[i] = sheet_mass / sheet.nodes;
    }
    char name[64];
    snprintf(name, sizeof name, "sheet at %g, %g, %g", place.x, place.y, place.z);
    const stn_nodes_spec spec = {.name = name,
                                 .node_count = sheet.nodes,
                                 .position = sheet.position,
                                 .mass = mass,
                                 .material = stn_material_unset()};
    draped d = {world, sheet.nodes, 0, 0};
    stn_surface_spec surface = stn_surface_spec_default();
    surface.name = "cloth";
    surface.triangle_count = sheet.triangle_count;
    surface.triangles = sheet.triangles;
    surface.thickness = thickness;
    surface.self_collision = self;
    stn_error err;
    assert_ok(stn_builder_add_nodes(stn_world_builder(world), &spec, &d.cloud, &err), err);
    assert_ok(stn_builder_add_surface(stn_world_builder(world), d.cloud, &surface, &d.skin, &err), err);
    add_springs(world, d.cloud, &sheet, k, 0.05 * sqrt(k));
    free(mass);
    skin_sheet_free(&sheet);
    return d;
}

static stn_world *new_world(void **state, double dt) {
    return scene_tight_world(*state, dt, 1e-10);
}

/// Sum of the contact impulses [N s], world axes, on geometry b's side of each contact.
static stn_vec3 contact_impulse(const stn_observation *o) {
    stn_vec3 sum = stn_vec3_zero();
    for (int32_t i = 0; i < o->problem->constraint_count; i++) {
        const stn_constraint *c = &o->problem->constraints[i];
        if (c->kind == STN_CONSTRAINT_CONTACT) {
            const double *gamma = o->gamma + c->row;
            stn_vec3 local = {gamma[0], gamma[1], gamma[2]};
            double sign = o->contacts->contacts[c->contact].b.body < 0 ? 1.0 : -1.0; // on the cloth
            sum = stn_vec3_mul_add(sum, sign, stn_mat3_apply(&c->frame, local));
        }
    }
    return sum;
}

/// Steps until it is slow; energy must not grow on the way by more than `slack`.
static void settle(stn_world *world, int32_t steps, double slack) {
    stn_error err;
    double lowest = INFINITY;
    for (int32_t i = 0; i < steps; i++) {
        assert_ok(stn_world_step(world, &err), err);
        const stn_step_report *r = stn_world_observation(world)->report;
        double energy = r->kinetic_J + r->potential_J + r->elastic_J;
        assert_true(energy <= lowest + slack);
        lowest = fmin(lowest, energy);
    }
}

static void carries_weight(const stn_world *world, double dt, double tolerance) {
    const stn_observation *o = stn_world_observation(world);
    stn_vec3 impulse = contact_impulse(o);
    assert_near(impulse.z / (sheet_mass * g * dt), 1.0, tolerance);
    assert_near(impulse.x / (sheet_mass * g * dt), 0.0, tolerance);
    assert_near(impulse.y / (sheet_mass * g * dt), 0.0, tolerance);
}

static void a_sheet_rests_on_a_plane(void **state) {
    stn_world *world = new_world(state, 0.002);
    scene_ground(world);
    add_sheet(world, 6, 0.4, stn_vec3_make(0.0, 0.0, 0.02), 0.005, false, 500.0);
    settle(world, 1500, 1e-9);
    carries_weight(world, 0.002, 1e-6);
    stn_world_destroy(world);
}

static void add_fixed(stn_world *world, stn_shape shape, stn_vec3 position, double mu) {
    stn_geometry_spec spec = stn_geometry_spec_default(shape);
    spec.pose.position = position;
    spec.material.mu = mu;
    int32_t id = 0;
    stn_error err;
    assert_ok(stn_builder_add_geometry(stn_world_builder(world), STN_WORLD, &spec, &id, &err), err);
}

/// Friction holds it where it hangs.
static void a_sheet_rests_on_a_ball(void **state) {
    stn_world *world = new_world(state, 0.002);
    add_fixed(world, stn_shape_sphere(0.15), stn_vec3_make(0.0, 0.0, -0.15), 0.9);
    add_sheet(world, 8, 0.3, stn_vec3_make(0.0, 0.0, 0.01), 0.003, true, 500.0);
    settle(world, 4000, 1e-4); // a thousandth of what it loses
    carries_weight(world, 0.002, 1e-6);
    stn_world_destroy(world);
}

/// Stops everything whenever the kinetic energy has passed a peak: what swings without bending stiffness rests sooner.
static void calm(stn_world *world, int32_t steps) {
    stn_error err;
    double before = 0.0, *still = calloc((size_t)stn_world_model(world)->nv, sizeof *still);
    assert_non_null(still);
    for (int32_t i = 0; i < steps; i++) {
        assert_ok(stn_world_step(world, &err), err);
        double now = stn_world_observation(world)->report->kinetic_J;
        bool peak = now < before && i < steps - 100;
        before = peak ? 0.0 : now;
        if (peak) {
            assert_ok(stn_world_set_v(world, still, &err), err);
        }
    }
    free(still);
}

/// Half of it hangs over the edge; friction holds it.
static void a_sheet_rests_on_the_edge_of_a_box(void **state) {
    stn_world *world = new_world(state, 0.002);
    add_fixed(world, stn_shape_box(stn_vec3_make(0.1, 0.3, 0.1)), stn_vec3_make(-0.1, 0.0, -0.1), 2.0);
    add_sheet(world, 8, 0.3, stn_vec3_make(-0.04, 0.0, 0.004), 0.003, true, 500.0);
    settle(world, 1000, 1e-4);
    calm(world, 5000);
    carries_weight(world, 0.002, 1e-5); // it swings on by 1e-11 J
    stn_world_destroy(world);
}

/// Linear momentum of all that is free.
static stn_vec3 momentum_of(const stn_world *world, int32_t nodes, double body_mass) {
    const double *v = stn_world_state(world)->v;
    stn_vec3 sum = stn_vec3_scale(body_mass, stn_vec3_make(v[0], v[1], v[2]));
    for (int32_t i = 0; i < nodes; i++) {
        const double *u = v + 6 + 3 * i;
        sum = stn_vec3_mul_add(sum, sheet_mass / nodes, stn_vec3_make(u[0], u[1], u[2]));
    }
    return sum;
}

/// A free body flies into a sheet without gravity: what one gets the other loses.
static void action_equals_reaction(void **state) {
    const stn_shape shapes[] = {stn_shape_sphere(0.05), stn_shape_box(stn_vec3_make(0.04, 0.05, 0.06)),
                                stn_shape_capsule(0.03, 0.05), stn_shape_cylinder(0.04, 0.03),
                                stn_shape_ellipsoid(stn_vec3_make(0.03, 0.05, 0.04))};
    for (int32_t k = 0; k < STN_COUNT(shapes); k++) {
        stn_world_options options = stn_world_options_default();
        options.gravity = stn_vec3_zero();
        options.dt = 0.002;
        stn_world *world = scene_world(*state, &options);
        stn_geometry_spec shape = stn_geometry_spec_default(shapes[k]);
        scene_body(world, "thrown", 0.3, &shape, stn_vec3_make(0.01, 0.02, 0.2));
        draped d = add_sheet(world, 6, 0.5, stn_vec3_zero(), 0.004, true, 300.0);
        stn_error err;
        assert_ok(stn_world_compile(world, &err), err);
        double *v = calloc((size_t)stn_world_model(world)->nv, sizeof *v);
        assert_non_null(v);
        v[0] = 0.3;
        v[2] = -2.0;
        v[3] = 4.0;
        assert_ok(stn_world_set_v(world, v, &err), err);
        free(v);
        stn_vec3 before = momentum_of(world, d.nodes, 0.3);
        int32_t contacts = 0;
        double slowest = 2.0;
        for (int32_t i = 0; i < 150; i++) {
            assert_ok(stn_world_step(world, &err), err);
            contacts += stn_world_observation(world)->contacts->count;
            slowest = fmin(slowest, fabs(stn_world_state(world)->v[2]));
            stn_vec3 change = stn_vec3_sub(momentum_of(world, d.nodes, 0.3), before);
            assert_near(stn_vec3_norm(change), 0.0, 1e-12);
        }
        assert_true(contacts > 10 && slowest < 1.5); // they met
        stn_world_destroy(world);
    }
}

/// At 10 m/s and 2 ms a ball goes 2 cm a step, five times the thickness or without any: it is caught in front.
static void a_fast_ball_does_not_pass(void **state) {
    for (int32_t k = 0; k < 2; k++) {
        stn_world_options options = stn_world_options_default();
        options.gravity = stn_vec3_zero();
        options.dt = 0.002;
        stn_world *world = scene_world(*state, &options);
        scene_ball(world, "ball", 0.01, 0.005, stn_vec3_make(0.013, 0.021, 0.2));
        draped d = add_sheet(world, 6, 0.5, stn_vec3_zero(), k == 0 ? 0.004 : 0.0, false, 300.0);
        stn_error err;
        assert_ok(stn_world_compile(world, &err), err);
        double *v = calloc((size_t)stn_world_model(world)->nv, sizeof *v);
        assert_non_null(v);
        v[2] = -10.0;
        assert_ok(stn_world_set_v(world, v, &err), err);
        free(v);
        for (int32_t i = 0; i < 60; i++) {
            assert_ok(stn_world_step(world, &err), err);
            const double *q = stn_world_state(world)->q;
            double lowest = INFINITY; // of nodes near the ball, above which it stays
            for (int32_t n = 0; n < d.nodes; n++) {
                const double *x = q + 7 + 3 * n;
                lowest = hypot(x[0] - q[0], x[1] - q[1]) < 0.13 ? fmin(lowest, x[2]) : lowest;
            }
            assert_true(q[2] > lowest);
        }
        stn_world_destroy(world);
    }
}

/// Two surfaces of one cloud on a slope of 0.3: one of ice, one of rubber; whichever lies below decides.
static double slide(void **state, double mu_below, bool by_pair) {
    stn_world_options options = stn_world_options_default();
    options.gravity = stn_vec3_make(g * sin(0.3), 0.0, -g * cos(0.3));
    stn_world *world = scene_world(*state, &options);
    scene_ground(world);
    skin_sheet sheet = skin_sheet_make(4, 0.2);
    double *mass = calloc((size_t)sheet.nodes, sizeof *mass);
    assert_non_null(mass);
    for (int32_t i = 0; i < sheet.nodes; i++) {
        mass[i] = 0.01;
        sheet.position[3 * i + 2] = 0.002;
    }
    const stn_nodes_spec spec = {.name = "sheet",
                                 .node_count = sheet.nodes,
                                 .position = sheet.position,
                                 .mass = mass,
                                 .material = stn_material_unset()};
    int32_t cloud = 0, id = 0;
    stn_error err;
    assert_ok(stn_builder_add_nodes(stn_world_builder(world), &spec, &cloud, &err), err);
    for (int32_t k = 0; k < 2; k++) { // the halves of the triangles
        stn_surface_spec surface = stn_surface_spec_default();
        surface.name = k == 0 ? "left" : "right";
        surface.triangle_count = sheet.triangle_count / 2;
        surface.triangles = sheet.triangles + 3 * k * surface.triangle_count;
        surface.thickness = 0.002;
        surface.material.mu = by_pair ? 0.0 : mu_below;
        assert_ok(stn_builder_add_surface(stn_world_builder(world), cloud, &surface, &id, &err), err);
        if (by_pair) {
            stn_material material = stn_material_unset();
            material.mu = mu_below;
            assert_ok(stn_builder_set_contact_material(stn_world_builder(world), STN_SURFACE_LINK(k), STN_WORLD,
                                                       &material, &err),
                      err);
        }
    }
    add_springs(world, cloud, &sheet, 500.0, 1.0);
    scene_steps(world, 500);
    double way = stn_world_state(world)->q[0] - sheet.position[0];
    free(mass);
    skin_sheet_free(&sheet);
    stn_world_destroy(world);
    return way;
}

static void friction_is_that_of_the_region_or_of_the_pair(void **state) {
    // with ground mu 0.5 the pair has 2 a b / (a + b)
    assert_true(slide(state, 0.01, false) > 0.2);
    assert_true(slide(state, 2.0, false) < 0.01);
    assert_true(slide(state, 0.02, true) > 0.2);
    assert_true(slide(state, 0.8, true) < 0.01);
}

static void a_sheet_rests_on_a_sheet_on_a_plane(void **state) {
    stn_world *world = new_world(state, 0.002);
    scene_ground(world);
    add_sheet(world, 4, 0.3, stn_vec3_make(0.0, 0.0, 0.006), 0.005, false, 500.0);
    add_sheet(world, 5, 0.2, stn_vec3_make(0.01, 0.0, 0.018), 0.005, false, 500.0);
    settle(world, 2500, 1e-6);
    const stn_observation *o = stn_world_observation(world);
    double ground = 0.0, between = 0.0;
    for (int32_t i = 0; i < o->problem->constraint_count; i++) {
        const stn_constraint *c = &o->problem->constraints[i];
        const stn_contact *contact = &o->contacts->contacts[c->contact];
        double up = o->gamma[c->row + 2] * contact->normal.z;
        bool floor = contact->a.body == 0 || contact->b.body == 0;
        ground += floor ? fabs(up) : 0.0;
        between += floor ? 0.0 : fabs(up);
    }
    assert_near(ground / (2.0 * sheet_mass * g * 0.002), 1.0, 1e-6);
    assert_near(between / (sheet_mass * g * 0.002), 1.0, 1e-5);
    stn_world_destroy(world);
}

/// Rays meet triangles, distances count the thickness, and a shape that is asked about does, too.
static void questions_know_surfaces(void **state) {
    stn_world *world = new_world(state, 0.002);
    scene_ball(world, "ball", 1.0, 0.1, stn_vec3_make(0.0, 0.0, 0.5));
    draped d = add_sheet(world, 4, 0.4, stn_vec3_make(0.0, 0.0, 0.1), 0.01, false, 500.0);
    stn_error err;
    assert_ok(stn_world_compile(world, &err), err);
    stn_world_hit hit;
    assert_ok(
        stn_world_raycast(world, NULL, stn_vec3_make(0.03, 0.02, -1.0), stn_vec3_make(0.0, 0.0, 1.0), 5.0, &hit, &err),
        err);
    assert_int_equal(hit.geometry, d.skin);
    assert_near(hit.ray.distance, 1.1, 1e-12);
    assert_near(hit.ray.normal.z, -1.0, 1e-12);
    stn_world_distance_result nearest;
    assert_ok(stn_world_nearest(world, NULL, stn_vec3_make(0.03, 0.02, -1.0), 5.0, &nearest, &err), err);
    assert_int_equal(nearest.geometry_a, d.skin);
    assert_near(nearest.distance, 1.09, 1e-8);
    const stn_near_pair *pairs = NULL;
    int32_t count = 0;
    assert_ok(stn_world_near_pairs(world, NULL, NULL, 1.0, &pairs, &count, &err), err);
    assert_int_equal(count, 1);
    assert_near(pairs[0].distance, 0.29, 1e-9);
    stn_world_destroy(world);
}

/// A sheet whose border is attached to a box that forces move lies in it without contacts at the border.
static void attached_nodes_do_not_touch_what_holds_them(void **state) {
    stn_world *world = new_world(state, 0.002);
    add_fixed(world, stn_shape_box(stn_vec3_make(0.1, 0.1, 0.1)), stn_vec3_zero(), 0.5);
    draped d = add_sheet(world, 2, 0.1, stn_vec3_zero(), 0.001, false, 500.0);
    int32_t nodes[9];
    for (int32_t i = 0; i < 9; i++) {
        nodes[i] = i;
    }
    stn_error err;
    assert_ok(stn_builder_attach_nodes(stn_world_builder(world), d.cloud, 9, nodes, STN_WORLD, &err), err);
    scene_steps(world, 3);
    assert_int_equal(stn_world_observation(world)->contacts->count, 0);
    stn_world_destroy(world);
}

/// Patches are of rigid and compliant solids; what surfaces of nodes need is named, not left out.
static void hydroelastic_refuses_surfaces_by_name(void **state) {
    stn_world_options options = stn_world_options_default();
    options.contact.id = "hydroelastic";
    stn_world *world = scene_world(*state, &options);
    scene_ground(world);
    add_sheet(world, 2, 0.2, stn_vec3_make(0.0, 0.0, 0.1), 0.01, false, 500.0);
    stn_error err;
    assert_int_equal(stn_world_compile(world, &err), STN_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "contact model hydroelastic has no contact for surface 'cloth'"));
    assert_non_null(strstr(err.text, "choose contact model point"));
    stn_world_destroy(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sheet_rests_on_a_plane),
        cmocka_unit_test(a_sheet_rests_on_a_ball),
        cmocka_unit_test(a_sheet_rests_on_the_edge_of_a_box),
        cmocka_unit_test(a_sheet_rests_on_a_sheet_on_a_plane),
        cmocka_unit_test(action_equals_reaction),
        cmocka_unit_test(a_fast_ball_does_not_pass),
        cmocka_unit_test(friction_is_that_of_the_region_or_of_the_pair),
        cmocka_unit_test(questions_know_surfaces),
        cmocka_unit_test(attached_nodes_do_not_touch_what_holds_them),
        cmocka_unit_test(hydroelastic_refuses_surfaces_by_name),
    };
    return cmocka_run_group_tests(tests, fakes_setup, scene_teardown);
}
