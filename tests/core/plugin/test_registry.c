// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE // mkstemps
#include "stn_heap.h"
#include "stn_test.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <stiction/plugin.h>

typedef struct found {
    stn_context *context;
    const stn_plugin_info *plugins;
    int32_t count;
    const char *const *problems;
    int32_t problem_count;
    char notes[2048];
} found;

static void remember(void *user, stn_log_level level, const char *text) {
    found *f = user;
    (void)level;
    size_t used = strlen(f->notes);
    snprintf(f->notes + used, sizeof f->notes - used, "%s\n", text);
}

static void search(found *f, const char *path) {
    stn_error err;
    stn_context_options options = {.plugin_path = path, .log = remember, .log_user = f};
    *f = (found){0};
    assert_ok(stn_context_create(&options, &f->context, &err), err);
    assert_ok(stn_plugins(f->context, &f->plugins, &f->count, &f->problems, &f->problem_count, &err), err);
}

/// How often a plugin is listed.
static int32_t times(const found *f, const char *id) {
    int32_t n = 0;
    for (int32_t i = 0; i < f->count; i++) {
        n += f->plugins[i].desc->kind == STN_KIND_RECORDER && strcmp(f->plugins[i].desc->id, id) == 0;
    }
    return n;
}

static const stn_plugin_info *get(const found *f, const char *id) {
    stn_error err;
    const stn_plugin_info *info = NULL;
    assert_ok(stn_plugin_find(f->context, STN_KIND_RECORDER, id, &info, &err), err);
    return info;
}

/// A file that a person or a script named.
static const stn_plugin_info *load(const found *f, const char *path) {
    stn_error err;
    assert_ok(stn_plugin_load(f->context, STN_KIND_RECORDER, path, &err), err);
    return get(f, path);
}

static void assert_problem(const found *f, const char *file, const char *reason) {
    char line[1024];
    snprintf(line, sizeof line, FAKE_DIR "/bad/%s: %s", file, reason);
    for (int32_t i = 0; i < f->problem_count; i++) {
        if (strcmp(f->problems[i], line) == 0) {
            return;
        }
        print_message("%s\n", f->problems[i]);
    }
    fail_msg("no line: %s", line);
}

static void test_a_good_plugin_is_found_listed_and_described(void **state) {
    (void)state;
    found f;
    search(&f, FAKE_DIR "/good");
    assert_int_equal(times(&f, "quiet"), 1);
    assert_int_equal(f.problem_count, 0);
    const stn_plugin_info *info = get(&f, "quiet");
    assert_string_equal(info->file, FAKE_DIR "/good/recorder_quiet.so");
    assert_string_equal(info->desc->version, "1.2.3");
    assert_int_equal(info->abi_major, STN_ABI_MAJOR);
    stn_context_destroy(f.context);
}

static void test_the_list_is_sorted_by_kind_and_id(void **state) {
    (void)state;
    found f;
    search(&f, FAKE_DIR "/good:" FAKE_DIR "/second");
    assert_true(f.count >= 2);
    for (int32_t i = 1; i < f.count; i++) {
        const stn_plugin_desc *a = f.plugins[i - 1].desc, *b = f.plugins[i].desc;
        assert_true(a->kind < b->kind || (a->kind == b->kind && strcmp(a->id, b->id) < 0));
    }
    stn_context_destroy(f.context);
}

static void test_the_first_folder_on_the_path_wins(void **state) {
    (void)state;
    found f;
    search(&f, FAKE_DIR "/second:" FAKE_DIR "/good");
    assert_int_equal(times(&f, "quiet"), 1);
    assert_string_equal(get(&f, "quiet")->desc->version, "2.0.0");
    const stn_plugin_info *hidden = NULL;
    int32_t count = 0;
    stn_error err;
    assert_ok(stn_plugins_hidden(f.context, &hidden, &count, &err), err);
    assert_int_equal(count, 1);
    assert_string_equal(hidden->file, FAKE_DIR "/good/recorder_quiet.so");
    assert_string_equal(hidden->desc->version, "1.2.3");
    stn_context_destroy(f.context);
}

static void test_a_folder_named_twice_gives_its_plugins_once_and_silently(void **state) {
    (void)state;
    found f;
    search(&f, FAKE_DIR "/good::" FAKE_DIR "/good/");
    assert_int_equal(times(&f, "quiet"), 1);
    assert_int_equal(f.problem_count, 0);
    assert_string_equal(f.notes, "");
    const stn_plugin_info *hidden = NULL;
    int32_t count = -1;
    stn_error err;
    assert_ok(stn_plugins_hidden(f.context, &hidden, &count, &err), err);
    assert_int_equal(count, 0);
    stn_context_destroy(f.context);
}

static void test_the_environment_names_folders_after_the_program(void **state) {
    (void)state;
    found f;
    setenv("STICTION_PLUGIN_PATH", FAKE_DIR "/second", 1);
    search(&f, FAKE_DIR "/good");
    unsetenv("STICTION_PLUGIN_PATH");
    assert_string_equal(get(&f, "quiet")->desc->version, "1.2.3");
    assert_int_equal(times(&f, "loud"), 1);
    stn_context_destroy(f.context);
}

static void test_each_bad_file_is_refused_with_one_line(void **state) {
    (void)state;
    found f;
    search(&f, FAKE_DIR "/bad");
    assert_int_equal(f.problem_count, 11);
    assert_problem(&f, "recorder_major.so", "built for plugin ABI 7.0, this library has 1.0; rebuild the plugin");
    assert_problem(&f, "minor.so",
                   "built for the newer plugin ABI 1.9, this library has 1.0; update Stiction or rebuild the plugin");
    assert_problem(&f, "missing.so", "cannot be loaded: undefined symbol: defined_nowhere");
    assert_problem(&f, "symbol.so", "no symbol stn_plugin; a plugin ends with STN_PLUGIN_LIBRARY(&descriptor)");
    assert_problem(&f, "operation.so", "recorder quiet: required operation open is missing");
    assert_problem(&f, "default.so", "recorder quiet: parameter gain: default 5 is outside its range 0 to 2");
    assert_problem(&f, "id.so", "id \"Not-a-word\" must be lower case, digits and _, 63 letters at most");
    assert_problem(&f, "count.so", "count = -3 plugins, must be 1 to 1024 with a list; use STN_PLUGIN_LIBRARY");
    assert_problem(&f, "twins.so", "element left is in the list twice");
    assert_problem(&f, "text.so", "cannot be loaded: file too short");
    assert_problem(&f, "folder.so", "cannot be loaded: cannot read file data: Is a directory");
    assert_int_equal(times(&f, "quiet"), 0);
    stn_context_destroy(f.context);
}

static void test_a_pipe_is_refused_without_waiting_for_it(void **state) {
    (void)state;
    char folder[] = "/tmp/stn_pipe_XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/solver_pipe.so", folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    found f;
    search(&f, folder);
    assert_int_equal(f.problem_count, 1);
    assert_non_null(strstr(f.problems[0], "solver_pipe.so: cannot be loaded: it is no regular file"));
    stn_context_destroy(f.context);
    remove(path);
    remove(folder);
}

static void test_a_file_that_is_cut_off_is_refused_before_it_can_kill(void **state) {
    (void)state;
    char bytes[3000], path[] = "/tmp/stn_cut_XXXXXX.so";
    FILE *whole = fopen(FAKE_DIR "/good/recorder_quiet.so", "rb");
    assert_non_null(whole);
    assert_int_equal(fread(bytes, 1, sizeof bytes, whole), sizeof bytes);
    fclose(whole);
    int descriptor = mkstemps(path, 3);
    assert_true(descriptor >= 0);
    assert_int_equal(write(descriptor, bytes, sizeof bytes), sizeof bytes);
    close(descriptor);
    stn_error err;
    stn_context *context = NULL;
    assert_ok(stn_context_create(NULL, &context, &err), err);
    assert_int_equal(stn_plugin_load(context, STN_KIND_RECORDER, path, &err), STN_ERR_PLUGIN);
    assert_non_null(strstr(err.text, "cut off after 3000 bytes"));
    stn_context_destroy(context);
    remove(path);
}

static void test_a_folder_that_cannot_be_read_is_a_line_and_no_failure(void **state) {
    (void)state;
    found f;
    search(&f, "/nowhere/at/all:" FAKE_DIR "/good");
    assert_int_equal(f.problem_count, 1);
    assert_string_equal(f.problems[0],
                        "/nowhere/at/all: folder cannot be read (No such file or directory); correct plugin_path");
    assert_int_equal(times(&f, "quiet"), 1);
    stn_context_destroy(f.context);
}

static void test_an_unknown_id_gets_the_nearest_and_the_list(void **state) {
    (void)state;
    found f;
    stn_error err;
    const stn_plugin_info *info = NULL;
    search(&f, FAKE_DIR "/second");
    info = f.plugins;
    assert_int_equal(stn_plugin_find(f.context, STN_KIND_RECORDER, "quite", &info, &err), STN_ERR_PLUGIN);
    assert_null(info);
    assert_non_null(strstr(err.text, "unknown recorder quite; did you mean quiet? there are "));
    const char *first = strstr(err.text, "loud, "); // those of the build tree stand between, in the alphabet's order
    assert_non_null(first);
    assert_non_null(strstr(first, ", quiet"));
    assert_int_equal(stn_plugin_find(f.context, STN_KIND_COUNT, "quiet", &info, &err), STN_ERR_ARGUMENT);
    assert_int_equal(stn_plugin_find(f.context, STN_KIND_RECORDER, "", &info, &err), STN_ERR_ARGUMENT);
    stn_context_destroy(f.context);
}

static void test_asking_for_a_refused_file_tells_why_it_was_refused(void **state) {
    (void)state;
    found f;
    stn_error err;
    const stn_plugin_info *info = NULL;
    search(&f, FAKE_DIR "/bad");
    assert_int_equal(stn_plugin_find(f.context, STN_KIND_RECORDER, "major", &info, &err), STN_ERR_PLUGIN);
    assert_string_equal(err.text, "recorder major: " FAKE_DIR "/bad/recorder_major.so: built for plugin ABI 7.0, this "
                                  "library has 1.0; rebuild the plugin");
    stn_context_destroy(f.context);
}

static void test_a_path_names_one_file_whatever_its_id_hides(void **state) {
    (void)state;
    found f;
    search(&f, FAKE_DIR "/good");
    const stn_plugin_info *by_path = load(&f, FAKE_DIR "/second/recorder_quiet.so");
    assert_string_equal(by_path->desc->version, "2.0.0");
    assert_string_equal(get(&f, "quiet")->desc->version, "1.2.3");
    assert_ptr_equal(load(&f, FAKE_DIR "/second/recorder_quiet.so"), by_path);
    assert_ptr_equal(load(&f, FAKE_DIR "/second/../second/recorder_quiet.so"), by_path);
    assert_ptr_equal(load(&f, FAKE_DIR "/good/recorder_quiet.so"), get(&f, "quiet"));
    stn_context_destroy(f.context);
}

static void test_a_loaded_file_is_found_by_an_id_that_no_other_has(void **state) {
    (void)state;
    found f;
    search(&f, FAKE_DIR "/good");
    const stn_plugin_info *by_path = load(&f, FAKE_DIR "/second/recorder_loud.so");
    assert_ptr_equal(get(&f, "loud"), by_path);
    assert_int_equal(times(&f, "loud"), 0);
    stn_context_destroy(f.context);
}

/// MARK_FILE is a shared object whose code runs when it is opened: it makes the file that STN_MARK names.
static void test_asking_by_a_path_runs_no_code_until_that_path_was_loaded(void **state) {
    (void)state;
    found f;
    stn_error err;
    const stn_plugin_info *info = NULL;
    char mark[] = "/tmp/stn_mark_XXXXXX";
    int file = mkstemp(mark);
    assert_true(file >= 0 && close(file) == 0 && unlink(mark) == 0 && setenv("STN_MARK", mark, 1) == 0);
    search(&f, NULL);
    for (int kind = 0; kind < STN_KIND_COUNT; kind++) {
        assert_int_equal(stn_plugin_find(f.context, (stn_kind)kind, MARK_FILE, &info, &err), STN_ERR_PLUGIN);
        assert_non_null(strstr(err.text, "only the command line, the environment and scripts may name"));
        stn_instance *instance = NULL;
        assert_int_equal(stn_instance_create(f.context, (stn_kind)kind, MARK_FILE, NULL, 0, &instance, &err),
                         STN_ERR_PLUGIN);
    }
    assert_int_equal(access(mark, F_OK), -1);
    assert_int_equal(stn_plugin_load(f.context, STN_KIND_LAW, MARK_FILE, &err), STN_ERR_PLUGIN); // holds no plugin
    assert_int_equal(access(mark, F_OK), 0); // it is one that would have told
    unlink(mark);
    unsetenv("STN_MARK");
    stn_context_destroy(f.context);
}

static void test_a_bad_path_or_the_wrong_kind_is_named(void **state) {
    (void)state;
    found f;
    stn_error err;
    search(&f, NULL);
    assert_int_equal(stn_plugin_load(f.context, STN_KIND_LAW, FAKE_DIR "/good/recorder_quiet.so", &err),
                     STN_ERR_PLUGIN);
    assert_string_equal(err.text, FAKE_DIR "/good/recorder_quiet.so: holds no law but a recorder");
    assert_int_equal(stn_plugin_load(f.context, STN_KIND_LAW, "/nowhere/x.so", &err), STN_ERR_PLUGIN);
    assert_string_equal(err.text,
                        "/nowhere/x.so: cannot be loaded: cannot open shared object file: No such file or directory");
    assert_int_equal(stn_plugin_load(f.context, STN_KIND_RECORDER, FAKE_DIR "/bad/symbol.so", &err), STN_ERR_PLUGIN);
    assert_non_null(strstr(err.text, "no symbol stn_plugin"));
    stn_context_destroy(f.context);
}

static void test_a_file_with_several_plugins_gives_them_by_id_and_not_by_path(void **state) {
    (void)state;
    found f;
    stn_error err;
    const stn_plugin_info *left = NULL, *right = NULL;
    search(&f, FAKE_DIR "/twins");
    assert_ok(stn_plugin_find(f.context, STN_KIND_ELEMENT, "left", &left, &err), err);
    assert_ok(stn_plugin_find(f.context, STN_KIND_ELEMENT, "right", &right, &err), err);
    assert_string_equal(left->file, right->file);
    assert_int_equal(stn_plugin_load(f.context, STN_KIND_ELEMENT, FAKE_DIR "/twins/element_twins.so", &err),
                     STN_ERR_PLUGIN);
    assert_string_equal(err.text,
                        FAKE_DIR "/twins/element_twins.so: holds several plugins (left, right); put its folder on "
                                 "STICTION_PLUGIN_PATH and name one by id");
    stn_context_destroy(f.context);
}

static stn_plugin_desc own_copy(const found *f, const char *id) {
    stn_plugin_desc desc = *get(f, "quiet")->desc;
    desc.id = id;
    return desc;
}

static void test_a_registered_plugin_is_found_and_earlier_answers_stay(void **state) {
    (void)state;
    found f;
    stn_error err;
    search(&f, FAKE_DIR "/good");
    const stn_plugin_info *before = f.plugins;
    int32_t count = f.count;
    stn_plugin_desc desc = own_copy(&f, "mine");
    assert_ok(stn_plugin_register(f.context, &desc, &err), err);
    assert_string_equal(get(&f, "mine")->file, "built in");
    assert_int_equal(times(&f, "mine"), 0); // the list made before
    assert_ptr_equal(before, f.plugins);
    assert_ok(stn_plugins(f.context, &f.plugins, &f.count, NULL, NULL, &err), err);
    assert_int_equal(f.count, count + 1);
    assert_int_equal(times(&f, "mine"), 1);
    stn_context_destroy(f.context);
}

static void test_an_id_cannot_be_registered_twice(void **state) {
    (void)state;
    found f;
    stn_error err;
    search(&f, FAKE_DIR "/good");
    stn_plugin_desc desc = own_copy(&f, "quiet");
    assert_int_equal(stn_plugin_register(f.context, &desc, &err), STN_ERR_PLUGIN);
    assert_string_equal(err.text, "recorder quiet is there already, from " FAKE_DIR
                                  "/good/recorder_quiet.so; give it another id");
    stn_context_destroy(f.context);
}

static void test_running_out_of_memory_in_the_search_is_reported_and_the_next_search_works(void **state) {
    (void)state;
    for (long long n = 1;; n++) {
        stn_heap heap = {0};
        stn_context_options options = stn_heap_options(&heap);
        options.plugin_path = FAKE_DIR "/good:" FAKE_DIR "/bad";
        stn_error err;
        found f = {0};
        assert_ok(stn_context_create(&options, &f.context, &err), err);
        stn_heap_arm(&heap, n);
        stn_status status = stn_plugins(f.context, &f.plugins, &f.count, &f.problems, &f.problem_count, &err);
        bool done = status == STN_OK;
        if (!done) {
            assert_int_equal(status, STN_ERR_MEMORY);
            assert_null(f.plugins);
            stn_heap_arm(&heap, 0);
            assert_ok(stn_plugins(f.context, &f.plugins, &f.count, &f.problems, &f.problem_count, &err), err);
        }
        assert_int_equal(times(&f, "quiet"), 1);
        assert_int_equal(f.problem_count, 11);
        stn_context_destroy(f.context);
        assert_int_equal(heap.live, 0);
        if (done) {
            assert_true(n > 3);
            return;
        }
    }
}

static void test_every_kind_has_a_name_and_nothing_else_has(void **state) {
    (void)state;
    assert_string_equal(stn_kind_name(STN_KIND_LOADER), "loader");
    assert_string_equal(stn_kind_name(STN_KIND_RECORDER), "recorder");
    assert_null(stn_kind_name(STN_KIND_COUNT));
    assert_null(stn_kind_name((stn_kind)-1));
}

int main(void) {
    unsetenv("STICTION_PLUGIN_PATH");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_good_plugin_is_found_listed_and_described),
        cmocka_unit_test(test_the_list_is_sorted_by_kind_and_id),
        cmocka_unit_test(test_the_first_folder_on_the_path_wins),
        cmocka_unit_test(test_a_folder_named_twice_gives_its_plugins_once_and_silently),
        cmocka_unit_test(test_the_environment_names_folders_after_the_program),
        cmocka_unit_test(test_each_bad_file_is_refused_with_one_line),
        cmocka_unit_test(test_a_pipe_is_refused_without_waiting_for_it),
        cmocka_unit_test(test_a_file_that_is_cut_off_is_refused_before_it_can_kill),
        cmocka_unit_test(test_a_folder_that_cannot_be_read_is_a_line_and_no_failure),
        cmocka_unit_test(test_an_unknown_id_gets_the_nearest_and_the_list),
        cmocka_unit_test(test_asking_for_a_refused_file_tells_why_it_was_refused),
        cmocka_unit_test(test_a_path_names_one_file_whatever_its_id_hides),
        cmocka_unit_test(test_a_loaded_file_is_found_by_an_id_that_no_other_has),
        cmocka_unit_test(test_asking_by_a_path_runs_no_code_until_that_path_was_loaded),
        cmocka_unit_test(test_a_bad_path_or_the_wrong_kind_is_named),
        cmocka_unit_test(test_a_file_with_several_plugins_gives_them_by_id_and_not_by_path),
        cmocka_unit_test(test_a_registered_plugin_is_found_and_earlier_answers_stay),
        cmocka_unit_test(test_an_id_cannot_be_registered_twice),
        cmocka_unit_test(test_running_out_of_memory_in_the_search_is_reported_and_the_next_search_works),
        cmocka_unit_test(test_every_kind_has_a_name_and_nothing_else_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
