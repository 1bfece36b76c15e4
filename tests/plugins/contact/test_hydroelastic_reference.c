// SPDX-License-Identifier: Apache-2.0
// Patches of meshes against shared/reference/j_hydroelastic: forces of pressure fields p = E e in closed form and by
// two independent parametrisations.
#include <stdlib.h>
#include <string.h>

#include "patch_probe.h"

#define FOLDER STN_SHARED_DIR "/reference/j_hydroelastic/"

static const double rigid = (double)INFINITY, none = (double)NAN;

enum { COLUMNS = 16, NAME = 32 };

/// A line of numbers; words stay 0, the first one is kept.
typedef struct row {
    double x[COLUMNS];
    char word[NAME];
} row;

typedef void use_row(const row *r);

/// Calls `use` for each line below the heading; returns how many.
static int32_t each_row(const char *path, use_row *use) {
    char line[512];
    int32_t count = 0;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    while (fgets(line, sizeof line, file) != NULL) {
        row r = {0};
        int32_t k = 0;
        for (char *at = strtok(line, ",\n"); at != NULL && k < COLUMNS; at = strtok(NULL, ",\n"), k++) {
            char *end = at;
            r.x[k] = strtod(at, &end);
            if (end == at && r.word[0] == '\0') {
                snprintf(r.word, sizeof r.word, "%.31s", at);
            }
        }
        use(&r);
        count++;
    }
    fclose(file);
    return count;
}

static const double radius = 0.05, modulus = 1e6;

/// Tolerance of a mesh: shallow contacts need fine ones, relative error about 0.22 edge^2/(R d), times 1.5.
static double allowed(double edge, double r, double depth) {
    return 1.5 * 0.22 * edge * edge / (r * depth);
}

static void compare_sphere_plane(const row *r) { // depth, force, area, patch_radius, max_pressure
    const double edge = 0.0015, depth = r->x[0];
    patch_probe p;
    patch_probe_open(&p, patch_geometry(stn_shape_half_space(), rigid, none),
                     patch_geometry(stn_shape_sphere(radius), modulus, edge));
    patch_sum s = patch_between(&p, patch_at(0.0, 0.0, radius - depth));
    double limit = allowed(edge, radius, depth);
    print_message("depth %.2e: force off by %.1e, area by %.1e (allowed %.1e)\n", depth, s.force.z / r->x[1] - 1.0,
                  s.area / r->x[2] - 1.0, limit);
    assert_near(s.force.z, r->x[1], limit * r->x[1]);
    assert_near(s.area, r->x[2], limit * r->x[2]);
    patch_probe_close(&p);
}

static void spheres_on_a_plane(void **state) {
    (void)state;
    skip_without(FOLDER "sphere_plane.csv");
    assert_true(each_row(FOLDER "sphere_plane.csv", compare_sphere_plane) > 3);
}

static void compare_spheres(const row *r) { // case, R1, E1, R2, E2, depth, force, rim_radius, z_axis, max_pressure
    const double edge = 0.002, depth = r->x[5];
    patch_probe p;
    patch_probe_open(&p, patch_geometry(stn_shape_sphere(r->x[1]), r->x[2], edge),
                     patch_geometry(stn_shape_sphere(r->x[3]), r->x[4], edge));
    patch_sum s = patch_between(&p, patch_at(0.0, 0.0, r->x[1] + r->x[3] - depth));
    double limit = allowed(edge, fmin(r->x[1], r->x[3]), 0.5 * depth);
    print_message("%s, depth %.2e: force off by %.1e (allowed %.1e), %d faces\n", r->word, depth,
                  s.force.z / r->x[6] - 1.0, limit, p.set.count);
    assert_near(s.force.z, r->x[6], limit * r->x[6]);
    patch_probe_close(&p);
}

static void spheres_on_spheres(void **state) {
    (void)state;
    skip_without(FOLDER "sphere_sphere.csv");
    assert_true(each_row(FOLDER "sphere_sphere.csv", compare_spheres) > 3);
}

static void compare_box_plane(const row *r) { // depth, force_layer_field, force_medial_field
    const double a = 0.1, b = 0.08, h = 0.03;
    patch_probe p;
    patch_probe_open(&p, patch_geometry(stn_shape_half_space(), rigid, none),
                     patch_geometry(stn_shape_box(stn_vec3_make(0.5 * a, 0.5 * b, h)), modulus, none));
    patch_sum s = patch_between(&p, patch_at(0.0, 0.0, h - r->x[0]));
    assert_near(s.force.z, r->x[2], 2e-6 * r->x[2]); // its figures have 7 digits
    patch_probe_close(&p);

    stn_geometry layer = patch_geometry(stn_shape_half_space(), modulus, none);
    layer.field.thickness = h;
    patch_probe_open(&p, layer, patch_geometry(stn_shape_box(stn_vec3_make(0.5 * a, 0.5 * b, h)), rigid, none));
    s = patch_between(&p, patch_at(0.0, 0.0, h - r->x[0]));
    assert_near(s.force.z, r->x[1], 1e-9 * r->x[1]);
    patch_probe_close(&p);
}

static void boxes_on_a_plane(void **state) {
    (void)state;
    skip_without(FOLDER "box_plane.csv");
    assert_true(each_row(FOLDER "box_plane.csv", compare_box_plane) > 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spheres_on_a_plane),
        cmocka_unit_test(spheres_on_spheres),
        cmocka_unit_test(boxes_on_a_plane),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
