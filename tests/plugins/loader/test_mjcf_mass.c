// SPDX-License-Identifier: Apache-2.0
// MuJoCo's XML: what bodies weigh against closed forms, meshes, and which shapes may collide against MuJoCo's rule.
#include "stn_random.h"

#include "mjcf_fixture.h"

/// One body of these geoms under these settings.
static const stn_mass *weigh(fixture *f, const char *settings, const char *inside) {
    char text[2048];
    snprintf(text, sizeof text, "<mujoco>%s<worldbody><body name='a'><joint name='j'/>%s</body></worldbody></mujoco>",
             settings, inside);
    good_mjcf(f, text);
    return &link_of(f, "a")->mass;
}

static void expect_mass(const stn_mass *m, double mass, double ixx, double iyy, double izz) {
    assert_near(m->mass, mass, 1e-14 * mass);
    assert_near(m->inertia.m[0][0], ixx, 1e-14 * mass);
    assert_near(m->inertia.m[1][1], iyy, 1e-14 * mass);
    assert_near(m->inertia.m[2][2], izz, 1e-14 * mass);
}

static void shapes_weigh_as_solids_do(void **state) {
    fixture *f = *state;
    double ball = 4.0 / 3.0 * STN_PI * 0.001, r = 0.1, h = 0.6; // of radius 0.1; length of the capsule's cylinder
    expect_mass(weigh(f, "", "<geom size='0.1'/>"), 1000.0 * ball, 400.0 * ball * 0.01, 400.0 * ball * 0.01,
                400.0 * ball * 0.01);
    expect_mass(weigh(f, "", "<geom type='box' size='0.1 0.2 0.3' density='500'/>"), 24.0, 24.0 * (0.04 + 0.09) / 3.0,
                24.0 * (0.01 + 0.09) / 3.0, 24.0 * (0.01 + 0.04) / 3.0);
    expect_mass(weigh(f, "", "<geom type='cylinder' size='0.1 0.3' mass='2'/>"), 2.0, 0.5 * 0.01 + 2.0 * 0.09 / 3.0,
                0.5 * 0.01 + 2.0 * 0.09 / 3.0, 0.01);
    expect_mass(weigh(f, "", "<geom type='ellipsoid' size='0.1 0.2 0.3' mass='5'/>"), 5.0, 0.13, 0.1, 0.05);
    double pipe = STN_PI * r * r * h, share = 1.0 / (pipe + ball), caps = ball * share, rod = pipe * share;
    double across = rod * (r * r / 4.0 + h * h / 12.0) + caps * (0.4 * r * r + h * h / 4.0 + 3.0 / 8.0 * h * r);
    expect_mass(weigh(f, "", "<geom type='capsule' size='0.1 0.3' mass='1'/>"), 1.0, across, across,
                rod * r * r / 2.0 + caps * 0.4 * r * r);
    assert_near(weigh(f, "", "<geom type='plane' size='1 1 1' mass='3'/><geom size='0.1' mass='2'/>")->mass, 2.0, 0.0);
}

static void several_geoms_weigh_together(void **state) {
    fixture *f = *state;
    const stn_mass *m = weigh(f, "",
                              "<geom size='0.1' mass='1' pos='1 0 0'/><geom size='0.2' mass='3' pos='-1 0 0'/>"
                              "<geom type='box' size='1 1 1' mass='0'/>");
    double own = 0.4 * (0.01 + 3.0 * 0.04);
    assert_near(m->com.x, -0.5, 1e-15);
    expect_mass(m, 4.0, own, own + 2.25 + 0.75, own + 2.25 + 0.75);
}

#define HEAVY "<geom size='0.1' mass='7'/>"

static void a_body_weighs_what_its_file_says(void **state) {
    fixture *f = *state;
    const char *both = "<inertial pos='0 1 0' mass='2' diaginertia='1 2 3' euler='0 0 90'/>" HEAVY;
    expect_mass(weigh(f, "", both), 2.0, 2.0, 1.0, 3.0);
    assert_near(link_of(f, "a")->mass.com.y, 1.0, 0.0);
    assert_near(weigh(f, "<compiler inertiafromgeom='true'/>", both)->mass, 7.0, 0.0);
    assert_near(weigh(f, "<compiler inertiafromgeom='false'/>", both)->mass, 2.0, 0.0);
    assert_near(weigh(f, "<compiler inertiagrouprange='1 2'/>", HEAVY "<geom size='1' mass='5' group='2'/>")->mass, 5.0,
                0.0);
    assert_near(weigh(f, "<compiler settotalmass='10'/>", both)->mass, 10.0, 1e-14);
    assert_near(link_of(f, "a")->mass.inertia.m[2][2], 15.0, 1e-14);
    const stn_mass *m = weigh(f, "", "<inertial pos='0 0 0' mass='2' fullinertia='1 2 3 0.1 0.2 0.3'/>");
    expect_mass(m, 2.0, 1.0, 2.0, 3.0);
    assert_near(m->inertia.m[0][1], 0.1, 0.0);
    assert_near(m->inertia.m[0][2], 0.2, 0.0);
    assert_near(m->inertia.m[1][2], 0.3, 0.0);
}

static void bounds_hold_for_principal_moments(void **state) {
    fixture *f = *state;
    const char *settings = "<compiler boundmass='3' boundinertia='2'/>";
    expect_mass(weigh(f, settings, "<inertial pos='0 0 0' mass='1' diaginertia='1 2.5 3'/>"), 3.0, 2.0, 2.5, 3.0);
    expect_mass(weigh(f, settings, "<inertial pos='0 0 0' mass='5' diaginertia='1 1 1'/>"), 5.0, 2.0, 2.0, 2.0);
    const stn_mass *m = weigh(f, settings, "<inertial pos='0 0 0' mass='5' diaginertia='1 4 4' euler='10 20 30'/>");
    double lambda[3];
    stn_mat3_eigenvalues(&m->inertia, lambda);
    assert_near(lambda[0], 2.0, 1e-14);
    assert_near(lambda[1], 4.0, 1e-14);
    assert_near(lambda[2], 4.0, 1e-14);
    m = weigh(f, settings, "<inertial pos='0 0 0' mass='5' diaginertia='1.1 1 2.1' euler='10 20 30'/>");
    stn_mat3_eigenvalues(&m->inertia, lambda);
    assert_near(lambda[0], 2.0, 1e-14);
    assert_near(lambda[1], 2.0, 1e-14);
    assert_near(lambda[2], 2.1, 1e-14);
    expect_mass(weigh(f, "<compiler balanceinertia='true'/>", "<inertial pos='0 0 0' mass='1' diaginertia='1 1 7'/>"),
                1.0, 3.0, 3.0, 3.0);
}

/// The tetrahedron with legs of 1 m: volume 1/6, centre at 1/4; with density 6 its moments about the centre are 3/80.
static void meshes_weigh_what_their_surface_encloses(void **state) {
    fixture *f = *state;
    write_mesh(f, "parts/t.stl");
    const char *settings = "<compiler meshdir='parts'/><asset><mesh file='t.stl'/>"
                           "<mesh name='v' vertex='0 0 0 1 0 0 0 1 0 0 0 1' scale='2 2 2' refpos='1 0 0'/></asset>";
    const stn_mass *m = weigh(f, settings, "<geom type='mesh' mesh='t' density='6'/>");
    expect_mass(m, 1.0, 3.0 / 40.0, 3.0 / 40.0, 3.0 / 40.0);
    assert_near(m->com.x, 0.25, 1e-15);
    m = weigh(f, settings, "<geom type='mesh' mesh='t' mass='2' pos='0 0 1' contype='0' conaffinity='0'/>");
    assert_near(m->mass, 2.0, 1e-15);
    assert_near(m->com.z, 1.25, 1e-15);
    m = weigh(f, settings, "<geom name='g' type='mesh' mesh='v' density='6'/>");
    expect_mass(m, 8.0, 8.0 * 4.0 * 3.0 / 40.0, 8.0 * 4.0 * 3.0 / 40.0, 8.0 * 4.0 * 3.0 / 40.0);
    assert_near(m->com.x, 0.5 - 2.0, 1e-15);
    assert_int_equal(geometry_of(f, "g")->shape.type, STN_SHAPE_CONVEX);
    assert_near(geometry_of(f, "g")->shape.mesh->bounds.upper.x, 2.0, 0.0);
    weigh(f, settings, "<geom name='g' type='box' mesh='v'/>");
    assert_int_equal(geometry_of(f, "g")->shape.type, STN_SHAPE_CONVEX);
    expect_finding(f, STN_SEVERITY_WARNING, "shape", 1, "geom g", "a box fitted to mesh 'v'");
}

// ---------------------------------------------------------------------------------------------------------- filters

enum { GEOMS = 40, FILES = 200 };

static void contypes_collide_as_mujoco_says(void **state) {
    fixture *f = *state;
    stn_random r = {11};
    int32_t pairs[2] = {0, 0};
    for (int32_t n = 0; n < FILES; n++) {
        uint32_t contype[GEOMS], conaffinity[GEOMS], classes[2][30];
        char text[GEOMS * 256] = "<mujoco><worldbody>";
        size_t used = strlen(text);
        for (int32_t k = 0; k < 30; k++) { // of a file: at most 30 pairs, with few or many bits
            uint64_t bits = random_bits(&r) & random_bits(&r) & (n % 2 == 0 ? 7u : random_bits(&r));
            classes[0][k] = (uint32_t)bits & 0x7fffffffu;
            classes[1][k] = (uint32_t)(bits >> 32) & 0x7fffffffu & (n % 2 == 0 ? 7u : 0xffffffffu);
            if (n % 2 == 0) {
                classes[1][k] = (uint32_t)random_below(&r, 8);
            }
        }
        for (int32_t i = 0; i < GEOMS; i++) {
            int32_t k = random_below(&r, 30);
            contype[i] = classes[0][k];
            conaffinity[i] = classes[1][k];
            used +=
                (size_t)snprintf(text + used, sizeof text - used,
                                 "<body name='b%d'><freejoint/><geom size='1' contype='%u' conaffinity='%u'/></body>",
                                 (int)i, contype[i], conaffinity[i]);
        }
        snprintf(text + used, sizeof text - used, "</worldbody></mujoco>");
        good_mjcf(f, text);
        for (int32_t i = 0; i < GEOMS; i++) {
            for (int32_t j = 0; j < i; j++) {
                bool wanted = ((contype[i] & conaffinity[j]) | (contype[j] & conaffinity[i])) != 0;
                assert_int_equal(stn_model_may_collide(f->model, i, j), wanted);
                pairs[wanted]++;
            }
        }
    }
    print_message("%d pairs collide, %d do not\n", (int)pairs[1], (int)pairs[0]);
    assert_true(pairs[0] > 10000 && pairs[1] > 10000);
}

static void geometry_from_elsewhere_meets_mujocos_default(void **state) {
    fixture *f = *state;
    good_mjcf(f, MUJOCO(WORLD("<geom name='a' size='1' contype='2' conaffinity='2'/><geom name='b' size='1'/>"
                              "<geom name='c' size='1' contype='0' conaffinity='1'/>")));
    const stn_geometry_spec other = stn_geometry_spec_default(stn_shape_sphere(1.0));
    static const char *const names[3] = {"a", "b", "c"};
    for (int32_t i = 0; i < 3; i++) {
        const stn_geometry *g = geometry_of(f, names[i]);
        assert_int_equal((g->category & other.mask) != 0 && (other.category & g->mask) != 0, i > 0);
    }
}

static void neighbours_do_not_collide_however_many_joints_are_between_them(void **state) {
    fixture *f = *state;
    good_mjcf(
        f, MUJOCO(WORLD("<geom name='w' size='1'/><body name='a'><joint/><joint axis='1 0 0'/><geom name='a' size='1'/>"
                        "<body><geom name='a2' size='1'/></body><body name='b'><joint/><joint axis='1 0 0'/>"
                        "<geom name='b' size='1'/><body><geom name='b2' size='1'/></body><body><joint/>"
                        "<geom name='c' size='1'/></body></body></body>")));
    static const struct {
        const char *a, *b;
        bool collide;
    } pairs[] = {{"w", "a", true},   {"w", "b", true}, {"a", "b", false},  {"a", "b2", false}, {"a2", "b2", false},
                 {"a2", "b", false}, {"a", "c", true}, {"b2", "c", false}, {"a", "a2", false}, {"a2", "c", true}};
    for (int32_t i = 0; i < STN_COUNT(pairs); i++) {
        int32_t a = (int32_t)(geometry_of(f, pairs[i].a) - f->model->geometries);
        int32_t b = (int32_t)(geometry_of(f, pairs[i].b) - f->model->geometries);
        assert_int_equal(stn_model_may_collide(f->model, a, b), pairs[i].collide);
    }
}

static void excluded_bodies_do_not_collide(void **state) {
    fixture *f = *state;
    good_mjcf(
        f, MUJOCO(WORLD(
               "<geom name='w' size='1'/><body name='a'><freejoint/><geom size='1'/></body>"
               "<body name='b'><freejoint/><geom size='1'/></body>") "<contact><exclude body1='a' body2='b'/><exclude "
                                                                     "body1='world' body2='b'/></contact>"));
    assert_true(stn_model_may_collide(f->model, 0, 1));
    assert_false(stn_model_may_collide(f->model, 0, 2));
    assert_false(stn_model_may_collide(f->model, 1, 2));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(shapes_weigh_as_solids_do, set_up, tear_down),
        cmocka_unit_test_setup_teardown(several_geoms_weigh_together, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_body_weighs_what_its_file_says, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bounds_hold_for_principal_moments, set_up, tear_down),
        cmocka_unit_test_setup_teardown(meshes_weigh_what_their_surface_encloses, set_up, tear_down),
        cmocka_unit_test_setup_teardown(contypes_collide_as_mujoco_says, set_up, tear_down),
        cmocka_unit_test_setup_teardown(geometry_from_elsewhere_meets_mujocos_default, set_up, tear_down),
        cmocka_unit_test_setup_teardown(neighbours_do_not_collide_however_many_joints_are_between_them, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(excluded_bodies_do_not_collide, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
