// SPDX-License-Identifier: Apache-2.0
// Which loader is asked; two loaders of the test share the extension "fake".
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <stiction/plugin.h>

#include "stn_test.h"

static bool recognises_a(const char *text, size_t length) {
    return length >= 1 && text[0] == 'a';
}

static bool recognises_b(const char *text, size_t length) {
    return length >= 1 && text[0] == 'b';
}

/// A robot of the loader's name, with a link unless the file's second letter is "-".
static stn_status build(const char *name, const stn_load_request *request, stn_model_builder *builder, int32_t *robot,
                        stn_error *err) {
    FILE *file = fopen(request->path, "r");
    assert_non_null(file);
    (void)fgetc(file);
    bool empty = fgetc(file) == '-';
    fclose(file);
    int32_t link = 0;
    stn_link_spec spec = {.name = "base"};
    name = request->robot_name != NULL ? request->robot_name : name;
    stn_status status = stn_builder_begin_group(builder, name, robot, err);
    return status == STN_OK && !empty ? stn_builder_add_link(builder, &spec, &link, err) : status;
}

static stn_status load_a(void *self, const stn_load_request *request, stn_model_builder *builder, int32_t *robot,
                         stn_diagnostics *diagnostics, stn_error *err) {
    (void)self, (void)diagnostics;
    return build("a", request, builder, robot, err);
}

static stn_status load_b(void *self, const stn_load_request *request, stn_model_builder *builder, int32_t *robot,
                         stn_diagnostics *diagnostics, stn_error *err) {
    (void)self, (void)diagnostics;
    return build("b", request, builder, robot, err);
}

static const char *const extensions_a[] = {"fake", "fakea", NULL};
static const char *const extensions_b[] = {"fake", NULL};
static const stn_loader_ops ops_a = {sizeof ops_a, extensions_a, recognises_a, load_a, NULL};
static const stn_loader_ops ops_b = {sizeof ops_b, extensions_b, recognises_b, load_b, NULL};
static const stn_plugin_desc plugin_a = {.size = sizeof plugin_a,
                                         .kind = STN_KIND_LOADER,
                                         .id = "test_a",
                                         .version = "1",
                                         .summary = "a",
                                         .ops.loader = &ops_a};
static const stn_plugin_desc plugin_b = {.size = sizeof plugin_b,
                                         .kind = STN_KIND_LOADER,
                                         .id = "test_b",
                                         .version = "1",
                                         .summary = "b",
                                         .ops.loader = &ops_b};

typedef struct fixture {
    stn_context *context;
    stn_model_builder *builder;
    stn_diagnostics list;
    char folder[64];
    char path[128];
} fixture;

static int set_up(void **state) {
    fixture *f = calloc(1, sizeof *f);
    assert_int_equal(stn_context_create(NULL, &f->context, NULL), STN_OK);
    assert_int_equal(stn_plugin_register(f->context, &plugin_a, NULL), STN_OK);
    assert_int_equal(stn_plugin_register(f->context, &plugin_b, NULL), STN_OK);
    assert_int_equal(stn_builder_create(f->context, &f->builder, NULL), STN_OK);
    stn_diagnostics_init(&f->list, f->context);
    strcpy(f->folder, "/tmp/stn_load_XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    unlink(f->path);
    rmdir(f->folder);
    stn_diagnostics_clear(&f->list);
    stn_builder_destroy(f->builder);
    stn_context_destroy(f->context);
    free(f);
    return 0;
}

/// Loads a file of that name and content under a name, NULL: the file's own. The robot's name, "" when it failed.
static const char *load_named(fixture *f, const char *name, const char *content, const char *robot_name,
                              stn_error *err) {
    unlink(f->path);
    snprintf(f->path, sizeof f->path, "%s/%s", f->folder, name);
    FILE *file = fopen(f->path, "w");
    assert_non_null(file);
    fputs(content, file);
    fclose(file);
    int32_t robot = -1;
    stn_load_request request = {.path = f->path, .robot_name = robot_name};
    stn_status status = stn_load_robot(f->context, &request, f->builder, &robot, &f->list, err);
    return status == STN_OK ? stn_builder_group_name(f->builder, robot) : "";
}

/// The letter of the loader that was asked, 0 when it failed.
static int32_t load(fixture *f, const char *name, const char *content, stn_error *err) {
    return load_named(f, name, content, NULL, err)[0];
}

static void first_bytes_decide_among_loaders_of_one_extension(void **state) {
    assert_int_equal(load(*state, "x.fake", "a", NULL), 'a');
    assert_int_equal(load(*state, "x.fake", "b", NULL), 'b');
    assert_int_equal(load(*state, "x.y.FAKE", "b", NULL), 'b');
}

static void extension_alone_decides_when_nobody_recognises_the_bytes(void **state) {
    assert_int_equal(load(*state, "x.fakea", "?", NULL), 'a');
    assert_int_equal(load(*state, "x.fakea", "", NULL), 'a');
}

static void bytes_alone_decide_for_an_unknown_extension(void **state) {
    assert_int_equal(load(*state, "x.else", "b", NULL), 'b');
    assert_int_equal(load(*state, "noextension", "a", NULL), 'a');
}

static void file_that_nobody_reads_names_the_loaders(void **state) {
    stn_error err = {0};
    assert_int_equal(load(*state, "x.else", "?", &err), 0);
    assert_int_equal(err.status, STN_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "x.else"));
    assert_non_null(strstr(err.text, "test_a (.fake .fakea)"));
    assert_non_null(strstr(err.text, "test_b (.fake)"));
}

static void loader_that_was_chosen_reads_whatever_the_file_is(void **state) {
    fixture *f = *state;
    stn_error err = {0};
    int32_t robot = -1;
    assert_int_equal(load(f, "x.fakea", "a", NULL), 'a');
    stn_load_request request = {.path = f->path, .loader = {.id = "test_b"}};
    assert_ok(stn_load_robot(f->context, &request, f->builder, &robot, &f->list, &err), err);
    assert_string_equal(stn_builder_group_name(f->builder, robot), "b");
    request.loader.id = "test_c";
    assert_true(stn_load_robot(f->context, &request, f->builder, &robot, &f->list, &err) < 0);
    assert_non_null(strstr(err.text, "test_c"));
    const stn_setting setting = {.name = "speed", .form = STN_SETTING_NUMBER, .number = 1.0, .where = "test"};
    request.loader = (stn_plugin_choice){NULL, &setting, 1};
    assert_int_equal(stn_load_robot(f->context, &request, f->builder, &robot, &f->list, &err), STN_ERR_PARAMETER);
    assert_non_null(strstr(err.text, "speed"));
}

static void pipe_is_refused_without_waiting_for_a_writer(void **state) {
    fixture *f = *state;
    stn_error err = {0};
    int32_t robot = -1;
    snprintf(f->path, sizeof f->path, "%s/pipe.fake", f->folder);
    assert_int_equal(mkfifo(f->path, 0600), 0);
    stn_load_request request = {.path = f->path};
    assert_int_equal(stn_load_robot(f->context, &request, f->builder, &robot, &f->list, &err), STN_ERR_FILE);
    assert_non_null(strstr(err.text, "not a file"));
}

static void missing_file_and_folder_are_said(void **state) {
    fixture *f = *state;
    stn_error err = {0};
    int32_t robot = 5;
    stn_load_request missing = {.path = "/nonexistent/x.fake"}, folder = {.path = f->folder}, none = {.path = NULL};
    assert_int_equal(stn_load_robot(f->context, &missing, f->builder, &robot, &f->list, &err), STN_ERR_FILE);
    assert_non_null(strstr(err.text, "/nonexistent/x.fake: No such file"));
    assert_int_equal(stn_load_robot(f->context, &folder, f->builder, &robot, &f->list, &err), STN_ERR_FILE);
    assert_non_null(strstr(err.text, "not a file"));
    assert_int_equal(stn_load_robot(f->context, &none, f->builder, &robot, &f->list, &err), STN_ERR_ARGUMENT);
    assert_int_equal(robot, 5);
}

static void name_that_is_taken_gets_a_number_unless_it_was_asked_for(void **state) {
    fixture *f = *state;
    stn_error err = {0};
    assert_string_equal(load_named(f, "x.fakea", "a", NULL, &err), "a");
    assert_string_equal(load_named(f, "x.fakea", "a", NULL, &err), "a_2");
    assert_string_equal(load_named(f, "x.fakea", "a", "a_3", &err), "a_3");
    assert_string_equal(load_named(f, "x.fakea", "a", NULL, &err), "a_4");
    assert_string_equal(load_named(f, "x.fakea", "a", "a", &err), "");
    assert_non_null(strstr(err.text, "there is one of that name already; call it 'a_5', say"));
}

static void robot_without_links_is_refused_and_leaves_nothing(void **state) {
    fixture *f = *state;
    stn_error err = {0};
    assert_string_equal(load_named(f, "x.fakea", "a-", NULL, &err), "");
    assert_int_equal(err.status, STN_ERR_PARSE);
    assert_non_null(strstr(err.text, "x.fakea: a: the robot has no links"));
    assert_int_equal(f->list.error_count, 1);
    assert_string_equal(f->list.items[0].code, "no_links");
    assert_string_equal(load_named(f, "x.fakea", "a", NULL, &err), "a");
}

static void numbers_of_many_robots_follow_each_other_and_refused_ones_take_none(void **state) {
    fixture *f = *state;
    stn_error err = {0};
    assert_string_equal(load_named(f, "x.fakea", "a", NULL, &err), "a");
    for (int32_t number = 2; number < 100; number++) {
        char expected[16];
        snprintf(expected, sizeof expected, "a_%d", (int)number);
        assert_string_equal(load_named(f, "x.fakea", "a-", NULL, &err), "");
        assert_string_equal(load_named(f, "x.fakea", "a", NULL, &err), expected);
    }
    assert_string_equal(load_named(f, "x.fakea", "a", "a_101", &err), "a_101");
    assert_string_equal(load_named(f, "x.fakea", "a", NULL, &err), "a_100");
    assert_string_equal(load_named(f, "x.fakea", "a", NULL, &err), "a_102");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(first_bytes_decide_among_loaders_of_one_extension, set_up, tear_down),
        cmocka_unit_test_setup_teardown(extension_alone_decides_when_nobody_recognises_the_bytes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bytes_alone_decide_for_an_unknown_extension, set_up, tear_down),
        cmocka_unit_test_setup_teardown(file_that_nobody_reads_names_the_loaders, set_up, tear_down),
        cmocka_unit_test_setup_teardown(loader_that_was_chosen_reads_whatever_the_file_is, set_up, tear_down),
        cmocka_unit_test_setup_teardown(pipe_is_refused_without_waiting_for_a_writer, set_up, tear_down),
        cmocka_unit_test_setup_teardown(missing_file_and_folder_are_said, set_up, tear_down),
        cmocka_unit_test_setup_teardown(name_that_is_taken_gets_a_number_unless_it_was_asked_for, set_up, tear_down),
        cmocka_unit_test_setup_teardown(numbers_of_many_robots_follow_each_other_and_refused_ones_take_none, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(robot_without_links_is_refused_and_leaves_nothing, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
