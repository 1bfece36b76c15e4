// SPDX-License-Identifier: Apache-2.0
// Public mesh files against the figures that another program found in them.
#include "expected_mesh.h"
#include "read_mesh.h"

typedef struct worst {
    double area, volume, solid; // relative deviations
    int32_t files;
} worst;

static bytes file_bytes(const char *path) {
    bytes b = {0};
    char part[65536];
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    for (size_t n = fread(part, 1, sizeof part, file); n > 0; n = fread(part, 1, sizeof part, file)) {
        put(&b, part, n);
    }
    fclose(file);
    return b;
}

static const char *reader_of(const char *format) {
    return strncmp(format, "stl-", 4) == 0   ? "stl"
           : strcmp(format, "obj") == 0      ? "obj"
           : strcmp(format, "vtk-tets") == 0 ? "vtk"
                                             : NULL;
}

static void assert_bounds(const stn_raw_mesh *raw, const expected_mesh *e) {
    for (int32_t k = 0; k < 3; k++) {
        double lower = INFINITY, upper = -INFINITY;
        for (int32_t i = 0; i < raw->vertex_count; i++) {
            lower = fmin(lower, raw->vertices[3 * i + k]);
            upper = fmax(upper, raw->vertices[3 * i + k]);
        }
        assert_near(lower, e->bounds[k], 0.0);
        assert_near(upper, e->bounds[3 + k], 0.0);
    }
}

/// Sums of up to 4.5e4 terms in another order: at most that many times 1.1e-16 of their size.
static void note(double *largest, double value, double expected) {
    double deviation = fabs(value / expected - 1.0);
    assert_near(value, expected, 5e-12 * fabs(expected));
    *largest = worse(*largest, deviation);
}

static void check_file(const expected_mesh *e, const char *format, worst *w) {
    skip_without(e->path);
    bytes b = file_bytes(e->path);
    read_result result;
    stn_mesh *mesh = NULL;
    read_good_bytes(format, b.data, b.size, &result);
    assert_int_equal(result.raw.vertex_count, e->vertices);
    assert_int_equal(result.raw.tetrahedron_count, e->tetrahedra);
    assert_int_equal(result.raw.triangle_count, e->tetrahedra > 0 ? 0 : e->triangles);
    assert_bounds(&result.raw, e);
    assert_ok(raw_to_mesh(result.context, &result.raw, &mesh, &result.err), result.err);
    assert_int_equal(mesh->facts.triangle_count, e->triangles);
    assert_int_equal(mesh->facts.degenerate_count, e->degenerate);
    assert_int_equal(mesh->facts.open_edge_count, e->open_edges);
    note(&w->area, mesh->facts.area, e->area);
    note(&w->volume, mesh->facts.volume, e->volume);
    if (e->tetrahedra > 0) {
        assert_int_equal(mesh->tetrahedron_count, e->tetrahedra);
        note(&w->solid, mesh->solid.mass, e->tetrahedra_volume);
    }
    w->files++;
    stn_mesh_release(mesh);
    read_clear(&result);
    free(b.data);
}

static void test_public_files_have_the_figures_of_an_independent_program(void **state) {
    (void)state;
    skip_without(EXPECTED_MESHES);
    FILE *list = expected_meshes_open();
    expected_mesh e;
    worst w = {0};
    while (expected_mesh_next(list, &e)) {
        const char *format = reader_of(e.format);
        if (format != NULL) {
            check_file(&e, format, &w);
        }
    }
    fclose(list);
    assert_true(w.files > 0);
    print_message("%d files; largest relative deviations: area %.1e, volume %.1e, volume of tetrahedra %.1e\n", w.files,
                  w.area, w.volume, w.solid);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_public_files_have_the_figures_of_an_independent_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
