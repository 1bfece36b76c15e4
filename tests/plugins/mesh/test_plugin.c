// SPDX-License-Identifier: Apache-2.0
// Formats of one's own: when what was read before is good enough, and what the core does not let a wrong plugin do.
#include "mesh_files.h"

#include <math.h>

#include <stiction/plugin.h>

typedef enum fault {
    RIGHT,
    INDEX,
    NOT_FINITE,
    NO_ARRAY,
    NEGATIVE_COUNT,
    FURTHER_NAME,
    NO_TEXT,
    NO_PATH,
} fault;

static fault present;
static int32_t reads;

static void *copy(stn_context *context, const void *from, size_t count, size_t size) {
    void *to = stn_allocate(context, count, size);
    assert_non_null(to);
    memcpy(to, from, count * size);
    return to;
}

/// A corner of a cube, whatever the file holds; with a fault.
static stn_status read_corner(void *self, const stn_mesh_source *source, stn_raw_mesh *out, stn_error *err) {
    static const double vertices[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    static const int32_t triangles[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
    (void)self;
    reads++;
    assert_int_equal(source->bytes[source->size], 0);
    if (present == NO_TEXT || present == NO_PATH) {
        return present == NO_TEXT ? STN_ERR_ARGUMENT : stn_fail(err, STN_ERR_ARGUMENT, "something");
    }
    *out = (stn_raw_mesh){.vertex_count = 4, .triangle_count = 4};
    out->vertices = copy(source->context, vertices, 12, sizeof(double));
    out->triangles = copy(source->context, triangles, 12, sizeof(int32_t));
    out->triangles[5] = present == INDEX ? 4 : 3;
    out->vertices[3] = present == NOT_FINITE ? (double)NAN : 1.0;
    out->tetrahedron_count = present == NO_ARRAY;
    out->curved_count = present == NEGATIVE_COUNT ? -1 : 0;
    if (present == FURTHER_NAME) {
        out->further = stn_allocate(source->context, 1, sizeof *out->further);
        out->further[0].name = stn_duplicate_text(source->context, "/etc/passwd");
        out->further_count = 1;
    }
    return STN_OK;
}

static stn_status read_other(void *self, const stn_mesh_source *source, stn_raw_mesh *out, stn_error *err) {
    stn_status status = read_corner(self, source, out, err);
    out->unit = 2.0;
    return status;
}

static const char *const extensions[] = {"corner", NULL};
static bool other; // who reads

/// A descriptor in the program, whose code tells it from another one.
static stn_plugin_desc describe(stn_mesh_ops *ops, const char *id, const char *version, const char *build) {
    *ops = (stn_mesh_ops){
        .size = sizeof *ops, .extensions = extensions, .read = other ? read_other : read_corner, .build = build};
    return (stn_plugin_desc){.size = sizeof(stn_plugin_desc),
                             .kind = STN_KIND_MESH,
                             .id = id,
                             .version = version,
                             .summary = "a corner",
                             .ops = {.mesh = ops}};
}

/// Loads the file with a plugin of this version and build, in a context of its own.
static stn_status load_with(const char *path, const char *id, const char *version, const char *build, stn_error *err) {
    static stn_mesh_ops ops;
    static stn_plugin_desc desc;
    desc = describe(&ops, id, version, build);
    stn_heap heap = {0};
    stn_context *context = stn_heap_context(&heap);
    const stn_mesh_request request = {.path = path, .scale = {1.0, 1.0, 1.0}};
    const stn_mesh *mesh = NULL;
    assert_ok(stn_plugin_register(context, &desc, err), *err);
    stn_status status = stn_mesh_load(context, &request, &mesh, err);
    assert_true((status == STN_OK) == (mesh != NULL));
    stn_mesh_release(mesh);
    stn_context_destroy(context);
    assert_int_equal(heap.live, 0);
    return status;
}

static void a_plugin_that_changes_reads_anew(void **state) {
    (void)state;
    stn_error err;
    const char *path = write_text("a.corner", "anything");
    setenv("STICTION_CACHE", in_folder("cache"), 1);
    present = RIGHT;
    reads = 0;
    const struct {
        const char *id, *version, *build;
        int32_t reads; // until then
    } loads[] = {{"corner", "1", NULL, 1}, {"corner", "1", NULL, 1}, {"corner", "2", NULL, 2},
                 {"other", "1", NULL, 3},  {"corner", "1", "x", 4},  {"corner", "1", "y", 5},
                 {"corner", "1", "x", 5},  {"corner", "1", NULL, 5}};
    for (int32_t i = 0; i < STN_COUNT(loads); i++) {
        assert_ok(load_with(path, loads[i].id, loads[i].version, loads[i].build, &err), err);
        assert_int_equal(reads, loads[i].reads);
    }
    other = true; // of the same id, version and program
    assert_ok(load_with(path, "corner", "1", NULL, &err), err);
    assert_int_equal(reads, 6);
    other = false;
    assert_ok(load_with(path, "corner", "1", NULL, &err), err);
    assert_int_equal(reads, 6);
}

/// Nothing tells descriptors apart that were made at run time: a mesh of one is never taken for that of another.
static void a_plugin_made_at_run_time_is_kept_in_the_context_alone(void **state) {
    (void)state;
    stn_error err;
    const stn_mesh_request request = {.path = write_text("a.corner", "anything"), .scale = {1.0, 1.0, 1.0}};
    setenv("STICTION_CACHE", in_folder("cache"), 1);
    present = RIGHT;
    reads = 0;
    for (int32_t turn = 1; turn <= 2; turn++) {
        stn_mesh_ops *ops = malloc(sizeof *ops);
        stn_plugin_desc *desc = malloc(sizeof *desc);
        assert_true(ops != NULL && desc != NULL);
        *desc = describe(ops, "corner", "1", NULL);
        stn_context *context = NULL;
        assert_ok(stn_context_create(NULL, &context, &err), err);
        assert_ok(stn_plugin_register(context, desc, &err), err);
        const stn_mesh *first = NULL, *second = NULL;
        assert_ok(stn_mesh_load(context, &request, &first, &err), err);
        assert_ok(stn_mesh_load(context, &request, &second, &err), err);
        assert_ptr_equal(first, second);
        assert_int_equal(reads, turn);
        stn_mesh_release(first);
        stn_mesh_release(second);
        stn_context_destroy(context);
        free(desc);
        free(ops);
    }
}

static void what_a_wrong_plugin_gives_is_refused_with_the_path(void **state) {
    (void)state;
    static const struct {
        fault fault;
        stn_status status;
        const char *text;
    } faults[] = {
        {INDEX, STN_ERR_ARGUMENT, "triangle 1 (counted from 0) names vertex 4 of 4"},
        {NOT_FINITE, STN_ERR_ARGUMENT, "vertex 1 (counted from 0) at (nan, 0, 0): must be finite"},
        {NO_ARRAY, STN_ERR_ARGUMENT, "1 tetrahedra, but no array of them"},
        {NEGATIVE_COUNT, STN_ERR_PLUGIN, "mesh corner gives -1 elements of higher order"},
        {FURTHER_NAME, STN_ERR_ARGUMENT, "a further file has a bad name of 11 bytes"},
        {NO_TEXT, STN_ERR_ARGUMENT, "failed without saying why (invalid argument)"},
        {NO_PATH, STN_ERR_ARGUMENT, "something"},
    };
    const char *path = write_text("a.corner", "anything");
    for (int32_t i = 0; i < STN_COUNT(faults); i++) {
        stn_error err = {STN_OK, ""};
        present = faults[i].fault;
        stn_status status = load_with(path, "corner", "1", NULL, &err);
        if (status != faults[i].status || strncmp(err.text, path, strlen(path)) != 0 ||
            strstr(err.text, faults[i].text) == NULL) {
            fail_msg("status %d, \"%s\"; expected %d, \"%s\" behind the path", status, err.text, faults[i].status,
                     faults[i].text);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_plugin_that_changes_reads_anew, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(a_plugin_made_at_run_time_is_kept_in_the_context_alone, enter_folder,
                                        leave_folder),
        cmocka_unit_test_setup_teardown(what_a_wrong_plugin_gives_is_refused_with_the_path, enter_folder, leave_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
