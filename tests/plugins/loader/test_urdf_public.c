// SPDX-License-Identifier: Apache-2.0
// The shared public robots: every one loads, with the meshes missing that its index says, and with the links, joints
// and mass of the expected table.
#include "urdf_fixture.h"

#define FOLDER STN_SHARED_DIR "/models"

enum { MOST_COLUMNS = 100, LONGEST_LINE = 1 << 16 };

/// Cuts a line of comma-separated values; returns how many there are.
static int32_t split(char *line, char *cells[MOST_COLUMNS]) {
    int32_t count = 0;
    line[strcspn(line, "\r\n")] = '\0';
    for (char *at = line; at != NULL && count < MOST_COLUMNS; count++) {
        cells[count] = at;
        at = strchr(at, ',');
        if (at != NULL) {
            *at++ = '\0';
        }
    }
    return count;
}

static const char *cell(char *const *names, char *const *cells, int32_t count, const char *name) {
    for (int32_t i = 0; i < count; i++) {
        if (strcmp(names[i], name) == 0) {
            return cells[i];
        }
    }
    fail_msg("no column %s", name);
    return NULL;
}

static int64_t integer(char *const *names, char *const *cells, int32_t count, const char *name) {
    return strtoll(cell(names, cells, count, name), NULL, 10);
}

static void load_shared(fixture *f, const char *file) {
    char path[512];
    snprintf(path, sizeof path, FOLDER "/%s", file);
    f->request.path = path;
    load_request(f);
    if (f->status != STN_OK) {
        print_findings(f);
        fail_msg("%s: %s", file, f->err.text);
    }
}

typedef void row_check(fixture *f, char *const *names, char *const *cells, int32_t count);

static void for_each_row(fixture *f, const char *table, row_check *check) {
    static char head[LONGEST_LINE], line[LONGEST_LINE];
    char *names[MOST_COLUMNS], *cells[MOST_COLUMNS];
    FILE *file = fopen(table, "r");
    assert_non_null(file);
    assert_non_null(fgets(head, sizeof head, file));
    int32_t count = split(head, names), rows = 0;
    for (; fgets(line, sizeof line, file) != NULL; rows++) {
        assert_int_equal(split(line, cells), count);
        check(f, names, cells, count);
    }
    fclose(file);
    assert_true(rows > 10);
}

static void check_missing(fixture *f, char *const *names, char *const *cells, int32_t count) {
    const char *file = cell(names, cells, count, "file");
    int32_t missing = 0;
    if (strcmp(cell(names, cells, count, "format"), "urdf") != 0) {
        return;
    }
    load_shared(f, file);
    for (int32_t i = 0; i < f->list.count; i++) {
        missing += strcmp(f->list.items[i].code, "missing_mesh") == 0;
    }
    if (missing != integer(names, cells, count, "missing_visual_meshes")) {
        print_findings(f);
        fail_msg("%s: %d missing meshes", file, (int)missing);
    }
}

static void every_robot_loads_and_misses_what_its_index_says(void **state) {
    skip_without(FOLDER "/index.csv");
    for_each_row(*state, FOLDER "/index.csv", check_missing);
}

static int64_t count_type(const stn_model *m, stn_joint_type type) {
    int64_t count = 0;
    for (int32_t j = 0; j < m->joint_count; j++) {
        count += m->joints[j].type == type;
    }
    return count;
}

static void check_contents(fixture *f, char *const *names, char *const *cells, int32_t count) {
    static const stn_joint_type types[] = {STN_JOINT_REVOLUTE, STN_JOINT_CONTINUOUS, STN_JOINT_PRISMATIC,
                                           STN_JOINT_PLANAR, STN_JOINT_FLOATING};
    static const char *const columns[] = {"n_revolute", "n_continuous", "n_prismatic", "n_planar", "n_floating"};
    load_shared(f, cell(names, cells, count, "file"));
    const stn_model *m = f->model;
    double mass = 0.0, expected = 0.0;
    int64_t mimics = 0;
    assert_string_equal(m->links[m->groups[0].root_link].name, cell(names, cells, count, "root_link"));
    assert_int_equal(m->link_count, integer(names, cells, count, "n_links"));
    assert_int_equal(m->nv, integer(names, cells, count, "dof_full"));
    for (int32_t i = 0; i < STN_COUNT(types); i++) {
        assert_int_equal(count_type(m, types[i]), integer(names, cells, count, columns[i]));
    }
    for (int32_t j = 0; j < m->joint_count; j++) {
        mimics += m->joints[j].mimic >= 0;
    }
    assert_int_equal(mimics, integer(names, cells, count, "n_mimic"));
    for (int32_t i = 0; i < m->link_count; i++) {
        mass += m->links[i].mass.mass;
    }
    assert_true(stn_parse_real(cell(names, cells, count, "total_mass"), &expected));
    assert_near(mass, expected, 1e-9 * fmax(1.0, expected));
}

static void every_robot_has_the_expected_links_joints_and_mass(void **state) {
    skip_without(FOLDER "/expected.csv");
    for_each_row(*state, FOLDER "/expected.csv", check_contents);
}

static const stn_aabb *bounds_of(const fixture *f, const char *link) {
    for (int32_t i = 0; i < f->model->geometry_count; i++) {
        const stn_geometry *g = &f->model->geometries[i];
        if (g->collision && strcmp(f->model->links[g->link].name, link) == 0) {
            return &g->shape.mesh->bounds;
        }
    }
    fail_msg("link %s has no collision", link);
    return NULL;
}

// All meshes are the same block of 0.2 x 0.1 x 0.05 m, in packages that lie around and inside each other.
static void packages_inside_and_beside_each_other_are_found_by_their_names(void **state) {
    static const struct {
        const char *link, *file;
        double x, y, z;
    } cases[] = {
        {"base", "pkg_outer/meshes/ascii.stl", 0.1, 0.05, 0.025},
        {"l1", "pkg_outer/nested/pkg_inner/meshes/with space.STL", 0.2, 0.1, 0.05},
        {"l2", "pkg_beside/meshes/quads.obj", 0.1, 0.05, 0.025},
        {"l3", "pkg_outer/meshes/ascii.stl", 0.05, 0.05, 0.075},
        {"l4", "pkg_outer/meshes/ascii.stl", 0.1, 0.05, 0.025},
    };
    fixture *f = *state;
    skip_without(FOLDER "/tricky_packages");
    load_shared(f, "tricky_packages/ws/pkg_outer/urdf/robot.urdf");
    assert_int_equal(f->list.count, 0);
    for (int32_t i = 0; i < STN_COUNT(cases); i++) {
        const stn_vec3 upper = bounds_of(f, cases[i].link)->upper;
        assert_near(upper.x, cases[i].x, 1e-8); // single precision in the file
        assert_near(upper.y, cases[i].y, 1e-8);
        assert_near(upper.z, cases[i].z, 1e-8);
        bool named = false;
        for (int32_t m = 0; m < f->model->mesh_count; m++) {
            named |= strstr(f->model->meshes[m].path, cases[i].file) != NULL;
        }
        assert_true(named);
    }
}

static void extensions_of_drake_are_read(void **state) {
    fixture *f = *state;
    skip_without(FOLDER "/tricky_drake_ext/robot.urdf");
    load_shared(f, "tricky_drake_ext/robot.urdf");
    const stn_joint *j1 = joint_of(f, "j1");
    assert_near(j1->acceleration, 20.0, 0.0);
    assert_near(j1->reflected_inertia, 50.0 * 50.0 * 1e-4, 1e-15);
    assert_string_equal(j1->actuator, "a1");
    assert_int_equal(geometry_of(f, "ell")->shape.type, STN_SHAPE_ELLIPSOID);
    assert_int_equal(geometry_of(f, "cap")->shape.type, STN_SHAPE_CAPSULE);
    assert_int_equal(geometry_of(f, "hull")->shape.type, STN_SHAPE_CONVEX);
    assert_true(geometry_of(f, "pad")->material.modulus == (double)INFINITY);
    assert_near(geometry_of(f, "pad")->material.mu, 0.8, 0.0);
    assert_near(geometry_of(f, "tip")->material.modulus, 5e7, 0.0);
    const stn_geometry *g = f->model->geometries;
    assert_false(
        stn_model_may_collide(f->model, (int32_t)(geometry_of(f, "tip") - g), (int32_t)(geometry_of(f, "ell") - g)));
    assert_int_equal(f->list.warning_count, 0);
}

int main(void) {
    setenv("STICTION_CACHE", "off", 1);
    unsetenv("ROS_PACKAGE_PATH");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_robot_loads_and_misses_what_its_index_says, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_robot_has_the_expected_links_joints_and_mass, set_up, tear_down),
        cmocka_unit_test_setup_teardown(packages_inside_and_beside_each_other_are_found_by_their_names, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(extensions_of_drake_are_read, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
