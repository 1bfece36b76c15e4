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

static void add_springs(stn_world *world, int32_t cloud, const skin_sheet *sheet, double k, double c) {
    stn_setting settings[] = {{.name = "k", .form = STN_SETTING_NUMBER, .number = k},
                              {.name = "c", .form = STN_SETTING_NUMBER, .number = c}};
    int32_t *index = calloc(6 * (size_t)sheet->triangle_count, sizeof *index), count = 0;
    stn_instance *instance = NULL;
    stn_error err;
    assert_non_null(index);
    for (int32_t t = 0; t < sheet->triangle_count; t++) {
        for (int32_t k3 = 0; k3 < 3; k3++) {
            int32_t a = sheet->triangles[3 * t + k3], b = sheet->triangles[3 * t + (k3 + 1) % 3];
            bool known = false;
            for (int32_t i = 0; i < count && !known; i++) {
                known = (index[2 * i] == a && index[2 * i + 1] == b) || (index[2 * i] == b && index[2 * i + 1] == a);
            }
            if (!known) {
                index[2 * count] = a;
                index[2 * count++ + 1] = b;
            }
        }
    }
    assert_ok(
        stn_instance_create(stn_world_context(world), STN_KIND_ELEMENT, "fake_spring", settings, 2, &instance, &err),
        err);
    assert_ok(stn_builder_add_elements(stn_world_builder(world), cloud, instance, count, index, &err), err);
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
    const stn_nodes_spec spec = {.name = "sheet",
                                 .node_count = sheet.nodes,
                                 .position = sheet.position,
                                 .mass = mass,
                                 .contact_radius = 0.0,
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sheet_rests_on_a_plane),
        cmocka_unit_test(a_sheet_rests_on_a_ball),
    };
    return cmocka_run_group_tests(tests, fakes_setup, scene_teardown);
}
