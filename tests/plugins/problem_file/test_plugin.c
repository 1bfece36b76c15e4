// SPDX-License-Identifier: Apache-2.0
// Formats of one's own: which plugin reads and writes, and what the core does not let a wrong one do.
#include "stn_heap.h"
#include "stn_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <stiction/plugin.h>

typedef enum fault { RIGHT, NO_TREES, NO_CONSTRAINTS, NO_ROWS, NO_VALUES, NO_TEXT, NO_PATH } fault;

static fault present;
static char folder[64], path[96];

/// A point of 2 kg on the ground.
static stn_status read_point(void *self, const stn_problem_source *source, stn_problem *out, stn_error *err) {
    (void)self;
    const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    assert_int_equal(source->bytes[source->size], 0);
    if (present == NO_TEXT || present == NO_PATH) {
        return present == NO_TEXT ? STN_ERR_PARSE : stn_fail(err, STN_ERR_PARSE, "something");
    }
    double *numbers = stn_arena_zeroed(source->arena, 64, sizeof *numbers);
    stn_problem_tree *tree = stn_arena_zeroed(source->arena, 1, sizeof *tree);
    stn_constraint *contact = stn_arena_zeroed(source->arena, 1, sizeof *contact);
    memcpy(numbers + 32, identity, sizeof identity);
    for (int32_t i = 0; i < 3; i++) {
        numbers[i] = 2.0;                                // A
        numbers[10 + i] = -(double)INFINITY;             // lo
        numbers[13 + i] = (double)INFINITY;              // hi
        numbers[16 + i] = numbers[19 + i] = (double)NAN; // R, v_hat
    }
    tree->A = (stn_matrix){.n = 3, .form = STN_MATRIX_DIAGONAL, .values = present == NO_VALUES ? NULL : numbers};
    *contact = (stn_constraint){.rows = 3,
                                .J = {{.values = numbers + 32}, {.tree = -1}},
                                .stiffness = (double)INFINITY,
                                .dissipation = (double)NAN,
                                .mu1 = 0.5,
                                .mu2 = 0.5,
                                .restitution = (double)NAN,
                                .w = (double)NAN,
                                .w_trace = (double)NAN,
                                .gamma_n0 = (double)NAN,
                                .vn0 = (double)NAN,
                                .memory = -1};
    *out = (stn_problem){.theta = 1.0,
                         .dt = 0.01,
                         .nv = 3,
                         .tree_count = 1,
                         .constraint_count = 1,
                         .row_count = 3,
                         .trees = present == NO_TREES ? NULL : tree,
                         .constraints = present == NO_CONSTRAINTS ? NULL : contact,
                         .v0 = numbers + 3,
                         .v_star = numbers + 3,
                         .v_guess = numbers + 3,
                         .bias = present == NO_ROWS ? NULL : numbers + 6,
                         .lo = numbers + 10,
                         .hi = numbers + 13,
                         .R = numbers + 16,
                         .v_hat = numbers + 19,
                         .gamma_guess = numbers + 22,
                         .beta = (double)NAN,
                         .sigma = (double)NAN,
                         .stiction_tolerance = (double)NAN};
    return STN_OK;
}

static bool recognises(const char *bytes, size_t size) {
    return size >= 5 && memcmp(bytes, "point", 5) == 0;
}

static stn_status write_point(void *self, const stn_problem_sink *sink, const stn_problem *problem, stn_error *err) {
    (void)self;
    assert_string_equal(sink->format, "point-1");
    if (problem->nv != 3) {
        sink->put(sink, "half", 4);
        return stn_fail(err, STN_ERR_UNSUPPORTED, "no point");
    }
    sink->put(sink, "point\n", 6);
    return STN_OK;
}

static const char *const extensions[] = {"point", NULL}, *const formats[] = {"point-1", NULL};
static const stn_problem_file_ops ops = {.size = sizeof ops,
                                         .extensions = extensions,
                                         .recognises = recognises,
                                         .read = read_point,
                                         .formats = formats,
                                         .write = write_point};
static const stn_plugin_desc point = {.size = sizeof point,
                                      .kind = STN_KIND_PROBLEM_FILE,
                                      .id = "point",
                                      .version = "1",
                                      .summary = "a point",
                                      .ops = {.problem_file = &ops}};

static void write_file(const char *text) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static bool begins_with(const char *text) {
    char start[64] = "";
    FILE *file = fopen(path, "rb");
    if (file != NULL) {
        start[fread(start, 1, sizeof start - 1, file)] = '\0';
        fclose(file);
    }
    return strncmp(start, text, strlen(text)) == 0;
}

static void a_format_is_chosen_by_content_ending_and_name(void **state) {
    stn_context *context = *state;
    stn_problem_owner *owner = NULL;
    stn_error err;
    present = RIGHT;
    snprintf(path, sizeof path, "%s/a.json", folder); // the content wins
    write_file("point");
    assert_ok(stn_problem_load(context, path, &owner, &err), err);
    const stn_problem *p = stn_problem_of(owner);
    assert_near(p->constraints[0].w_trace, 1.5, 1e-15); // computed by the core
    assert_ok(stn_problem_save(context, p, "point-1", path, &err), err);
    assert_true(begins_with("point"));
    assert_ok(stn_problem_save(context, p, NULL, path, &err), err);
    assert_true(begins_with("{\n  \"format\": \"contact-problem-2\""));
    assert_ok(stn_problem_save(context, p, "contact-problem-1", path, &err), err);
    assert_true(begins_with("{\n  \"format\": \"contact-problem-1\""));
    snprintf(path, sizeof path, "%s/a.point", folder);
    assert_ok(stn_problem_save(context, p, NULL, path, &err), err);
    assert_true(begins_with("point"));
    snprintf(path, sizeof path, "%s/a.other", folder);
    assert_ok(stn_problem_save(context, p, NULL, path, &err), err); // of an ending that nobody lists
    assert_true(begins_with("{\n  \"format\": \"contact-problem-2\""));
    assert_int_equal(stn_problem_save(context, p, "point-2", path, &err), STN_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, "no plugin writes the format 'point-2'; known are: fclib, contact-problem-2, "
                                     "contact-problem-1, point-1"));
    assert_int_equal(stn_problem_file_named(context, "a.other", false, &err), STN_ERR_UNSUPPORTED);
    assert_string_equal(err.text, "a.other: the name must end in .hdf5, .h5, .json or .point");
    assert_int_equal(stn_problem_file_named(context, "a.point", true, &err), STN_ERR_UNSUPPORTED);
    assert_string_equal(err.text, "a.point: the name must end in .hdf5 or .h5");
    stn_problem_destroy(owner);
    write_file("something");
    assert_int_equal(stn_problem_load(context, path, &owner, &err), STN_ERR_PARSE);
    assert_non_null(strstr(err.text, "not a contact problem: nothing recognises"));
    assert_int_equal(strncmp(err.text, path, strlen(path)), 0);
}

static void what_a_wrong_plugin_gives_is_refused_with_the_path(void **state) {
    static const struct {
        fault fault;
        stn_status status;
        const char *text;
    } faults[] = {
        {NO_TREES, STN_ERR_ARGUMENT, "1 trees, 1 constraints, but no array of them"},
        {NO_CONSTRAINTS, STN_ERR_ARGUMENT, "1 trees, 1 constraints, but no array of them"},
        {NO_ROWS, STN_ERR_ARGUMENT, "one of bias, lo, hi, R, v_hat, gamma_guess is missing"},
        {NO_VALUES, STN_ERR_ARGUMENT, "tree 0 (source 0): A has no values"},
        {NO_TEXT, STN_ERR_PARSE, "failed without saying why"},
        {NO_PATH, STN_ERR_PARSE, "something"},
    };
    snprintf(path, sizeof path, "%s/a.point", folder);
    write_file("point");
    for (int32_t i = 0; i < STN_COUNT(faults); i++) {
        stn_problem_owner *owner = NULL;
        stn_error err = {STN_OK, ""};
        present = faults[i].fault;
        assert_int_equal(stn_problem_load(*state, path, &owner, &err), faults[i].status);
        assert_null(owner);
        assert_int_equal(strncmp(err.text, path, strlen(path)), 0);
        assert_non_null(strstr(err.text, faults[i].text));
    }
}

/// What was there stays when a plugin gives up in the middle.
static void a_file_appears_whole_or_not_at_all(void **state) {
    stn_error err;
    stn_problem empty = {.theta = 1.0, .dt = 0.01, .beta = (double)NAN, .sigma = (double)NAN};
    snprintf(path, sizeof path, "%s/a.point", folder);
    write_file("as it was");
    assert_int_equal(stn_problem_save(*state, &empty, NULL, path, &err), STN_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "no point"));
    assert_int_equal(strncmp(err.text, path, strlen(path)), 0);
    assert_true(begins_with("as it was"));
}

static int set_up(void **state) {
    stn_context *context = NULL;
    snprintf(folder, sizeof folder, "/tmp/stn_point_XXXXXX");
    if (mkdtemp(folder) == NULL || stn_context_create(NULL, &context, NULL) != STN_OK ||
        stn_plugin_register(context, &point, NULL) != STN_OK) {
        return -1;
    }
    *state = context;
    return 0;
}

static int tear_down(void **state) {
    static const char *const names[] = {"a.json", "a.point", "a.other"};
    for (int32_t i = 0; i < STN_COUNT(names); i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    stn_context_destroy(*state);
    return rmdir(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_format_is_chosen_by_content_ending_and_name, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_a_wrong_plugin_gives_is_refused_with_the_path, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_file_appears_whole_or_not_at_all, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
