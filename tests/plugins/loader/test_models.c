// SPDX-License-Identifier: Apache-2.0
// Links of our robots weigh what the solids weigh that they are drawn with, or the first of them where the others are
// only seen: all solids of a part have one density, and mass, centre of mass and inertia of a link are those of their
// sum.
#include "urdf_fixture.h"

/// Which of a link's visual solids weigh.
typedef enum weighty { ALL, FIRST } weighty;

/// Sum of the solids of a link that weigh at density 1, in link axes.
static stn_mass solids_of(const fixture *f, const stn_link *link, weighty which) {
    stn_error err;
    stn_pose body_in_link = stn_pose_inverse(&link->pose);
    stn_mass sum = {0};
    for (int32_t i = 0; i < f->model->geometry_count; i++) {
        const stn_geometry *g = &f->model->geometries[i];
        if (&f->model->links[g->link] == link && g->visual && (which == ALL || sum.mass <= 0.0)) {
            stn_pose pose = stn_pose_mul(&body_in_link, &g->pose);
            stn_mass own = {0};
            assert_ok(stn_shape_mass(&g->shape, stn_shape_volume(&g->shape), &own, &err), err);
            own = stn_mass_transform(&pose, &own);
            sum = sum.mass > 0.0 ? stn_mass_add(&sum, &own) : own;
        }
    }
    return sum;
}

/// The links `first` to `last` (in file order) have the density [kg/m^3]; masses are given to `digit` [kg], centres of
/// mass to a micrometre, inertias to six digits.
static void expect_masses(const fixture *f, int32_t first, int32_t last, weighty which, double density, double digit) {
    for (int32_t i = first; i <= last; i++) {
        const stn_link *link = &f->model->links[i];
        stn_mass solids = solids_of(f, link, which);
        assert_near(link->mass.mass, density * solids.mass, digit);
        assert_near(stn_vec3_norm(stn_vec3_sub(link->mass.com, solids.com)), 0.0, 1e-6);
        double scale = link->mass.mass / solids.mass;
        double size = scale * (solids.inertia.m[0][0] + solids.inertia.m[1][1] + solids.inertia.m[2][2]);
        for (int32_t r = 0; r < 3; r++) {
            for (int32_t c = 0; c < 3; c++) {
                assert_near(link->mass.inertia.m[r][c], scale * solids.inertia.m[r][c], 2e-6 * size);
            }
        }
    }
}

static void expect_solids(const fixture *f, int32_t first, int32_t last, double density) {
    expect_masses(f, first, last, ALL, density, 1e-3);
}

static void panda_is_made_of_uniform_solids(void **state) {
    own_model(*state, "panda/panda.urdf");
    expect_solids(*state, 0, 7, 996.8);
}

static void panda_hand_is_made_of_uniform_solids(void **state) {
    fixture *f = *state;
    own_model(f, "panda/panda_hand.urdf");
    expect_solids(f, 0, 7, 996.8);
    expect_solids(f, 9, 11, 1123.0); // behind the flange, link 8
}

static void wsg50_is_made_of_uniform_solids(void **state) {
    own_model(*state, "wsg50/wsg50.urdf");
    expect_solids(*state, 0, 2, 1952.8);
}

/// Four links a finger, then its tip without mass.
static void allegro_is_made_of_uniform_solids(void **state) {
    static const char *const files[] = {"allegro/allegro_right.urdf", "allegro/allegro_left.urdf"};
    const double section = 0.02 * 0.026; // [m^2]
    const double finger = 0.17 / (section * (0.016 + 0.054 + 0.0384 + 0.0297));
    const double thumb = 0.19 / (section * (0.030 + 0.0254 + 0.0514 + 0.0453));
    for (size_t i = 0; i < STN_COUNT(files); i++) {
        own_model(*state, files[i]);
        expect_masses(*state, 0, 0, FIRST, 0.38 / (0.04 * 0.11 * 0.093), 1e-15);
        for (int32_t k = 0; k < 4; k++) {
            expect_masses(*state, 1 + 5 * k, 4 + 5 * k, FIRST, k < 3 ? finger : thumb, 1.1e-5);
        }
    }
}

static void anymal_is_made_of_uniform_solids(void **state) {
    own_model(*state, "anymal/anymal.urdf");
    expect_masses(*state, 0, 0, FIRST, 17.364 / (0.54 * 0.24 * 0.20), 1e-12);
    expect_masses(*state, 1, 16, FIRST, 1300.0, 0.5e-3);
}

/// The file with the hand describes the very same arm.
static void panda_with_a_hand_has_the_same_arm(void **state) {
    enum { LINKS = 9, JOINTS = 7 };
    fixture *f = *state;
    stn_mass links[LINKS];
    stn_joint joints[JOINTS];
    const stn_model *m = own_model(f, "panda/panda.urdf");
    int32_t shapes = m->geometry_count;
    for (int32_t i = 0; i < LINKS; i++) {
        links[i] = m->links[i].mass;
    }
    for (int32_t j = 0; j < JOINTS; j++) {
        joints[j] = m->joints[j];
    }
    m = own_model(f, "panda/panda_hand.urdf");
    assert_int_equal(m->geometry_count, shapes + 7);
    for (int32_t i = 0; i < LINKS; i++) {
        assert_memory_equal(&m->links[i].mass, &links[i], sizeof links[i]);
    }
    for (int32_t j = 0; j < JOINTS; j++) {
        assert_memory_equal(&m->joints[j].origin, &joints[j].origin, sizeof joints[j].origin);
        assert_near(m->joints[j].lower, joints[j].lower, 0.0);
        assert_near(m->joints[j].upper, joints[j].upper, 0.0);
        assert_near(m->joints[j].effort, joints[j].effort, 0.0);
        assert_near(m->joints[j].velocity, joints[j].velocity, 0.0);
        assert_near(m->joints[j].damping, joints[j].damping, 0.0);
        assert_near(m->joints[j].reflected_inertia, joints[j].reflected_inertia, 0.0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(panda_is_made_of_uniform_solids, set_up, tear_down),
        cmocka_unit_test_setup_teardown(panda_hand_is_made_of_uniform_solids, set_up, tear_down),
        cmocka_unit_test_setup_teardown(wsg50_is_made_of_uniform_solids, set_up, tear_down),
        cmocka_unit_test_setup_teardown(allegro_is_made_of_uniform_solids, set_up, tear_down),
        cmocka_unit_test_setup_teardown(anymal_is_made_of_uniform_solids, set_up, tear_down),
        cmocka_unit_test_setup_teardown(panda_with_a_hand_has_the_same_arm, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
