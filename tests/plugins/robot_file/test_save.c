// SPDX-License-Identifier: Apache-2.0
// Which loader writes a robot file, and that a file comes to be whole or not at all. The loaders of the test write
// their own letter and the robot's name.
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <stiction/plugin.h>

#include "stn_heap.h"
#include "stn_test.h"

enum { LONG_TEXT = 200000 }; // more than the writer holds back

static bool recognises(const char *text, size_t length) {
    (void)text, (void)length;
    return false;
}

static stn_status load(void *self, const stn_load_request *request, stn_model_builder *builder, int32_t *robot,
                       stn_diagnostics *diagnostics, stn_error *err) {
    (void)self, (void)builder, (void)robot, (void)diagnostics;
    return stn_fail(err, STN_ERR_UNSUPPORTED, "%s: only saves", request->path);
}

static stn_status put(const stn_save_request *request, char letter, size_t letters, char **text, size_t *length,
                      stn_error *err) {
    const char *name = request->name != NULL ? request->name : request->model->groups[request->group].name;
    *length = letters + strlen(name);
    *text = stn_allocate(request->model->context, *length + 1, 1);
    if (*text == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    memset(*text, letter, letters);
    strcpy(*text + letters, name);
    return STN_OK;
}

static stn_status save_a(void *self, const stn_save_request *request, char **text, size_t *length,
                         stn_diagnostics *diagnostics, stn_error *err) {
    (void)self;
    stn_diagnostics_add(diagnostics, STN_SEVERITY_WARNING, "colour", request->path, 0, "robot", "no colours");
    return put(request, 'a', 1, text, length, err);
}

static stn_status save_b(void *self, const stn_save_request *request, char **text, size_t *length,
                         stn_diagnostics *diagnostics, stn_error *err) {
    (void)self, (void)diagnostics;
    return put(request, 'b', LONG_TEXT, text, length, err);
}

static stn_status save_bad(void *self, const stn_save_request *request, char **text, size_t *length,
                           stn_diagnostics *diagnostics, stn_error *err) {
    (void)self, (void)text, (void)length, (void)diagnostics;
    return stn_fail(err, STN_ERR_UNSUPPORTED, "%s: too deep", request->path);
}

#define LOADER(letter, size_of, save_of, ...)                                                             \
    static const char *const extensions_##letter[] = {__VA_ARGS__, NULL};                                 \
    static const stn_loader_ops ops_##letter = {size_of, extensions_##letter, recognises, load, save_of}; \
    static const stn_plugin_desc plugin_##letter = {.size = sizeof plugin_##letter,                       \
                                                    .kind = STN_KIND_LOADER,                              \
                                                    .id = "test_" #letter,                                \
                                                    .version = "1",                                       \
                                                    .summary = #letter,                                   \
                                                    .ops.loader = &ops_##letter}
LOADER(a, sizeof ops_a, save_a, "two", "else");
LOADER(b, sizeof ops_b, save_b, "two", "b");
LOADER(c, sizeof ops_c, NULL, "c");
LOADER(d, sizeof ops_d, save_bad, "d");
LOADER(e, offsetof(stn_loader_ops, save), save_a, "e"); // of a time before `save`
LOADER(f, sizeof ops_f, save_a, "f", "c");

typedef struct fixture {
    stn_heap heap;
    stn_context *context;
    stn_model *model;
    stn_diagnostics list;
    stn_error err;
    char folder[64];
    char path[128];
} fixture;

static int set_up(void **state) {
    static const stn_plugin_desc *const plugins[] = {&plugin_a, &plugin_b, &plugin_c, &plugin_d, &plugin_e, &plugin_f};
    fixture *f = calloc(1, sizeof *f);
    stn_context_options options = stn_heap_options(&f->heap);
    stn_model_builder *builder = NULL;
    stn_link_spec link = {.name = "base", .mass = {1.0, {0.0, 0.0, 0.0}, stn_mat3_identity()}};
    int32_t index = 0;
    assert_int_equal(stn_context_create(&options, &f->context, NULL), STN_OK);
    for (int32_t i = 0; i < STN_COUNT(plugins); i++) {
        assert_int_equal(stn_plugin_register(f->context, plugins[i], NULL), STN_OK);
    }
    assert_int_equal(stn_builder_create(f->context, &builder, NULL), STN_OK);
    assert_int_equal(stn_builder_begin_group(builder, "arm", &index, NULL), STN_OK);
    assert_int_equal(stn_builder_add_link(builder, &link, &index, NULL), STN_OK);
    assert_int_equal(stn_model_compile(builder, &f->model, NULL), STN_OK);
    stn_builder_destroy(builder);
    stn_diagnostics_init(&f->list, f->context);
    strcpy(f->folder, "/tmp/stn_save_XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    unlink(f->path);
    assert_int_equal(rmdir(f->folder), 0); // nothing stays beside the file
    stn_diagnostics_clear(&f->list);
    stn_model_destroy(f->model);
    stn_context_destroy(f->context);
    assert_int_equal(f->heap.live, 0);
    free(f);
    return 0;
}

static stn_status save_named(fixture *f, const char *file, const char *name, const char *format) {
    unlink(f->path);
    snprintf(f->path, sizeof f->path, "%s/%s", f->folder, file);
    stn_save_request request = {.model = f->model, .name = name, .path = f->path};
    f->err = (stn_error){0};
    return stn_save_robot(f->context, &request, format, &f->list, &f->err);
}

/// What the file begins with, "" without one.
static const char *content(const fixture *f) {
    static char text[16];
    FILE *file = fopen(f->path, "r");
    size_t length = file != NULL ? fread(text, 1, sizeof text - 1, file) : 0;
    text[length] = '\0';
    if (file != NULL) {
        fclose(file);
    }
    return text;
}

static void expect_failure(fixture *f, stn_status status, stn_status expected, const char *part) {
    assert_int_equal(status, expected);
    assert_int_equal(f->err.status, expected);
    if (strstr(f->err.text, part) == NULL || strchr(f->err.text, '\n') != NULL) {
        fail_msg("'%s' must be one line with '%s'", f->err.text, part);
    }
    assert_string_equal(content(f), "");
}

static void first_extension_of_a_loader_that_saves_chooses_it(void **state) {
    fixture *f = *state;
    assert_ok(save_named(f, "x.f", NULL, NULL), f->err);
    assert_string_equal(content(f), "aarm");
    assert_ok(save_named(f, "x.y.F", "leg", NULL), f->err);
    assert_string_equal(content(f), "aleg");
    expect_failure(f, save_named(f, "x.else", NULL, NULL), STN_ERR_UNSUPPORTED, "no format is known by");
    assert_non_null(strstr(f->err.text, "test_f (.f)"));
    expect_failure(f, save_named(f, "x", NULL, NULL), STN_ERR_UNSUPPORTED, "the extension ''");
}

static void format_that_was_chosen_writes_any_name(void **state) {
    fixture *f = *state;
    assert_ok(save_named(f, "x.b", NULL, "test_a"), f->err);
    assert_string_equal(content(f), "aarm");
    assert_ok(save_named(f, "x.two", NULL, "test_b"), f->err);
    assert_int_equal(content(f)[0], 'b');
    expect_failure(f, save_named(f, "x.f", NULL, "test_g"), STN_ERR_PLUGIN, "test_g");
}

static void extension_of_several_formats_asks_which(void **state) {
    fixture *f = *state;
    expect_failure(f, save_named(f, "x.two", NULL, NULL), STN_ERR_ARGUMENT, "give one of test_a (.two), test_b (.two)");
}

static void loader_that_saves_nothing_says_so(void **state) {
    fixture *f = *state;
    expect_failure(f, save_named(f, "x.two", NULL, "test_c"), STN_ERR_UNSUPPORTED, "reads files but writes none");
    expect_failure(f, save_named(f, "x.two", NULL, "test_e"), STN_ERR_UNSUPPORTED, "reads files but writes none");
    expect_failure(f, save_named(f, "x.d", NULL, NULL), STN_ERR_UNSUPPORTED, "too deep");
}

static void what_a_format_cannot_hold_is_in_the_findings(void **state) {
    fixture *f = *state;
    assert_ok(save_named(f, "x.f", NULL, NULL), f->err);
    assert_int_equal(f->list.warning_count, 1);
    assert_string_equal(f->list.items[0].code, "colour");
}

static void malformed_requests_are_refused(void **state) {
    fixture *f = *state;
    stn_save_request request = {.model = f->model, .path = "/nonexistent/x.f"}, bad = request;
    snprintf(f->path, sizeof f->path, "%s/x.f", f->folder);
    expect_failure(f, stn_save_robot(f->context, NULL, NULL, &f->list, &f->err), STN_ERR_ARGUMENT, "give the path");
    bad.path = NULL;
    expect_failure(f, stn_save_robot(f->context, &bad, NULL, &f->list, &f->err), STN_ERR_ARGUMENT, "give the path");
    bad.path = "";
    expect_failure(f, stn_save_robot(f->context, &bad, NULL, &f->list, &f->err), STN_ERR_ARGUMENT, "give the path");
    for (int32_t robot = -1; robot <= 1; robot += 2) {
        bad = request;
        bad.group = robot;
        expect_failure(f, stn_save_robot(f->context, &bad, NULL, &f->list, &f->err), STN_ERR_ARGUMENT, "(1 groups)");
    }
    bad = request;
    bad.model = NULL;
    expect_failure(f, stn_save_robot(f->context, &bad, NULL, &f->list, &f->err), STN_ERR_ARGUMENT, "(0 groups)");
    bad = request;
    bad.name = "";
    expect_failure(f, stn_save_robot(f->context, &bad, NULL, &f->list, &f->err), STN_ERR_ARGUMENT, "must not be empty");
    expect_failure(f, stn_save_robot(f->context, &request, NULL, &f->list, &f->err), STN_ERR_FILE,
                   "/nonexistent/x.f: cannot be written: No such file or directory");
}

static void devices_and_folders_are_not_replaced(void **state) {
    fixture *f = *state;
    stn_save_request request = {.model = f->model, .path = "/dev/full"};
    expect_failure(f, stn_save_robot(f->context, &request, "test_a", &f->list, &f->err), STN_ERR_FILE,
                   "/dev/full: cannot be written: it is not a regular file");
    request.path = f->folder;
    expect_failure(f, stn_save_robot(f->context, &request, "test_a", &f->list, &f->err), STN_ERR_FILE,
                   "it is not a regular file");
}

static void file_stays_as_it_was_when_the_disk_is_full(void **state) {
    fixture *f = *state;
    struct rlimit old;
    assert_ok(save_named(f, "x.two", NULL, "test_a"), f->err);
    stn_save_request request = {.model = f->model, .path = f->path};
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){4096, old.rlim_max});
    stn_status status = stn_save_robot(f->context, &request, "test_b", &f->list, &f->err);
    setrlimit(RLIMIT_FSIZE, &old);
    assert_int_equal(status, STN_ERR_FILE);
    assert_non_null(strstr(f->err.text, "x.two: cannot be written: File too large"));
    assert_string_equal(content(f), "aarm");
}

static void running_out_of_memory_leaves_nothing(void **state) {
    fixture *f = *state;
    assert_ok(save_named(f, "x.b", NULL, "test_b"), f->err);
    unlink(f->path);
    stn_save_request request = {.model = f->model, .path = f->path};
    long long live = f->heap.live, failures = 0;
    stn_status status = STN_ERR_MEMORY;
    for (long long n = 1; status != STN_OK; n++) {
        stn_heap_arm(&f->heap, n);
        status = stn_save_robot(f->context, &request, "test_b", &f->list, &f->err);
        stn_heap_arm(&f->heap, 0);
        failures += status != STN_OK;
        assert_true(status == STN_OK || status == STN_ERR_MEMORY);
        assert_int_equal(f->heap.live, live);
    }
    assert_true(failures >= 1);
    assert_int_equal(content(f)[0], 'b');
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(first_extension_of_a_loader_that_saves_chooses_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(format_that_was_chosen_writes_any_name, set_up, tear_down),
        cmocka_unit_test_setup_teardown(extension_of_several_formats_asks_which, set_up, tear_down),
        cmocka_unit_test_setup_teardown(loader_that_saves_nothing_says_so, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_a_format_cannot_hold_is_in_the_findings, set_up, tear_down),
        cmocka_unit_test_setup_teardown(malformed_requests_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(devices_and_folders_are_not_replaced, set_up, tear_down),
        cmocka_unit_test_setup_teardown(file_stays_as_it_was_when_the_disk_is_full, set_up, tear_down),
        cmocka_unit_test_setup_teardown(running_out_of_memory_leaves_nothing, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
