// SPDX-License-Identifier: Apache-2.0
// Which files a question opens, and which of several plugins with one id it finds. What was opened stays open until the
// process ends: the tests go from questions that open little to those that open all.
#include "stn_test.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <stiction/plugin.h>

#define SHIPPED STN_BINARY_DIR "/lib/stiction/plugins"

static bool is_open(const char *path) {
    void *handle = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
    if (handle != NULL) {
        dlclose(handle);
    }
    return handle != NULL;
}

static stn_context *context_with(const char *path) {
    stn_error err;
    stn_context *context = NULL;
    stn_context_options options = {.plugin_path = path};
    assert_ok(stn_context_create(&options, &context, &err), err);
    return context;
}

static const stn_plugin_info *find(stn_context *context, stn_kind kind, const char *id) {
    stn_error err;
    const stn_plugin_info *info = NULL;
    assert_ok(stn_plugin_find(context, kind, id, &info, &err), err);
    return info;
}

/// The version of the recorder that a path gives by id, and that the list of recorders and the list of all agree.
static const char *version_of(const char *path, const char *id) {
    stn_error err;
    stn_context *context = context_with(path);
    const char *version = find(context, STN_KIND_RECORDER, id)->desc->version; // outlives the context: mapped for good
    const stn_plugin_info *plugins = NULL;
    int32_t count = 0, times = 0;
    assert_ok(stn_plugins_of_kind(context, STN_KIND_RECORDER, &plugins, &count, &err), err);
    for (int32_t i = 0; i < count; i++) {
        if (strcmp(plugins[i].desc->id, id) == 0) {
            assert_string_equal(plugins[i].desc->version, version);
            times++;
        }
    }
    assert_int_equal(times, 1);
    assert_ok(stn_plugins(context, &plugins, &count, NULL, NULL, &err), err);
    for (int32_t i = 0; i < count; i++) {
        if (plugins[i].desc->kind == STN_KIND_RECORDER && strcmp(plugins[i].desc->id, id) == 0) {
            assert_string_equal(plugins[i].desc->version, version);
            times++;
        }
    }
    assert_int_equal(times, 2);
    stn_context_destroy(context);
    return version;
}

static void test_an_id_opens_the_file_named_so_and_no_other_beside_the_library(void **state) {
    (void)state;
    stn_context *context = context_with(NULL);
    assert_string_equal(find(context, STN_KIND_RECORDER, "csv")->file, SHIPPED "/recorder_csv.so");
    assert_true(is_open(SHIPPED "/recorder_csv.so"));
    assert_false(is_open(SHIPPED "/recorder_html.so"));
    assert_false(is_open(SHIPPED "/law_sap.so"));
    stn_context_destroy(context);
}

static void test_a_kind_opens_the_files_of_its_name_beside_the_library(void **state) {
    (void)state;
    stn_error err;
    const stn_plugin_info *plugins = NULL;
    int32_t count = 0;
    stn_context *context = context_with(NULL);
    assert_ok(stn_plugins_of_kind(context, STN_KIND_LAW, &plugins, &count, &err), err);
    assert_true(count > 0);
    for (int32_t i = 0; i < count; i++) {
        assert_int_equal(plugins[i].desc->kind, STN_KIND_LAW);
        assert_true(i == 0 || strcmp(plugins[i - 1].desc->id, plugins[i].desc->id) < 0);
    }
    assert_true(is_open(SHIPPED "/law_sap.so"));
    assert_false(is_open(SHIPPED "/recorder_html.so"));
    assert_int_equal(stn_plugins_of_kind(context, STN_KIND_COUNT, &plugins, &count, &err), STN_ERR_ARGUMENT);
    assert_null(plugins);
    stn_context_destroy(context);
}

static void test_an_id_without_a_file_of_its_name_is_looked_for_in_those_of_its_kind(void **state) {
    (void)state;
    stn_context *context = context_with(NULL);
    assert_string_equal(find(context, STN_KIND_SOLVER, "bisection")->file, SHIPPED "/solver_gauss_seidel.so");
    assert_false(is_open(SHIPPED "/recorder_html.so"));
    stn_context_destroy(context);
}

static void test_an_earlier_folder_is_opened_as_far_as_needed(void **state) {
    (void)state;
    stn_context *context = context_with(FAKE_DIR "/lazy");
    assert_string_equal(find(context, STN_KIND_RECORDER, "quiet")->file, FAKE_DIR "/lazy/recorder_quiet.so");
    assert_false(is_open(FAKE_DIR "/lazy/law_mark.so"));
    assert_false(is_open(FAKE_DIR "/lazy/any.so"));
    find(context, STN_KIND_RECORDER, "any");
    assert_true(is_open(FAKE_DIR "/lazy/any.so"));
    assert_false(is_open(FAKE_DIR "/lazy/law_mark.so")); // named for another kind: the last that is looked at
    find(context, STN_KIND_RECORDER, "csv");             // which that folder might have hidden
    assert_true(is_open(FAKE_DIR "/lazy/law_mark.so"));
    assert_true(is_open(SHIPPED "/recorder_html.so")); // of the kind: is one of them hidden by "quiet"?
    assert_false(is_open(SHIPPED "/loader_urdf.so"));
    stn_context_destroy(context);
}

static void test_any_file_of_an_earlier_folder_hides_the_file_named_so(void **state) {
    (void)state;
    assert_string_equal(version_of(FAKE_DIR "/odd:" FAKE_DIR "/good", "quiet"), "5.0.0");
    assert_string_equal(version_of(FAKE_DIR "/good:" FAKE_DIR "/odd", "quiet"), "1.2.3");
    assert_string_equal(version_of(FAKE_DIR "/odd", "csv"), "6.0.0"); // hides one beside the library, from law_odd.so
}

static void count_warnings(void *user, stn_log_level level, const char *text) {
    int *count = user;
    if (level == STN_LOG_WARNING && strstr(text, "which hides Stiction's own, " SHIPPED "/recorder_csv.so") != NULL) {
        (*count)++;
    }
}

static void test_a_plugin_that_hides_one_beside_the_library_is_warned_of_once(void **state) {
    (void)state;
    stn_error err;
    stn_context *context = NULL;
    int count = 0;
    stn_context_options options = {.plugin_path = FAKE_DIR "/odd", .log = count_warnings, .log_user = &count};
    assert_ok(stn_context_create(&options, &context, &err), err);
    find(context, STN_KIND_RECORDER, "html");
    assert_int_equal(count, 0);
    find(context, STN_KIND_RECORDER, "csv");
    find(context, STN_KIND_RECORDER, "csv");
    assert_int_equal(count, 1);
    stn_context_destroy(context);
}

static char broken_folders[2][32];
static char refusals[2048];

static void keep_refusals(void *user, stn_log_level level, const char *text) {
    (void)user;
    size_t used = strlen(refusals);
    if (level == STN_LOG_WARNING && strstr(text, "stn_broken_") != NULL) {
        snprintf(refusals + used, sizeof refusals - used, "%s\n", text);
    }
}

/// A context whose first two folders hold a recorder_quiet.so that is no shared object.
static stn_context *context_with_broken_files(void) {
    char path[512];
    stn_error err;
    stn_context *context = NULL;
    for (int32_t i = 0; i < 2; i++) {
        snprintf(broken_folders[i], sizeof broken_folders[i], "/tmp/stn_broken_XXXXXX");
        assert_non_null(mkdtemp(broken_folders[i]));
        snprintf(path, sizeof path, "%s/recorder_quiet.so", broken_folders[i]);
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fputs("text\n", file);
        fclose(file);
    }
    snprintf(path, sizeof path, "%s:%s", broken_folders[0], broken_folders[1]);
    refusals[0] = '\0';
    stn_context_options options = {.plugin_path = path, .log = keep_refusals};
    assert_ok(stn_context_create(&options, &context, &err), err);
    return context;
}

static void end_with_broken_files(stn_context *context) {
    stn_context_destroy(context);
    for (int32_t i = 0; i < 2; i++) {
        char path[256];
        snprintf(path, sizeof path, "%s/recorder_quiet.so", broken_folders[i]);
        assert_int_equal(unlink(path), 0);
        assert_int_equal(rmdir(broken_folders[i]), 0);
    }
}

/// How often a folder's file is told to be refused.
static int refusals_of(int32_t folder) {
    int count = 0;
    for (const char *at = refusals; (at = strstr(at, broken_folders[folder])) != NULL; at++) {
        count++;
    }
    return count;
}

static void test_files_that_were_refused_are_told_once_whoever_takes_their_place(void **state) {
    (void)state;
    stn_error err;
    stn_context *context = context_with_broken_files();
    assert_ok(stn_plugin_load(context, STN_KIND_RECORDER, FAKE_DIR "/good/recorder_quiet.so", &err), err);
    assert_string_equal(find(context, STN_KIND_RECORDER, "quiet")->file, FAKE_DIR "/good/recorder_quiet.so");
    assert_int_equal(refusals_of(0), 1);
    assert_int_equal(refusals_of(1), 1);
    assert_non_null(strstr(refusals, "; recorder quiet is that of " FAKE_DIR "/good/recorder_quiet.so\n"));
    const stn_plugin_info *all = NULL;
    int32_t count = 0;
    find(context, STN_KIND_RECORDER, "quiet");
    assert_ok(stn_plugins_of_kind(context, STN_KIND_RECORDER, &all, &count, &err), err);
    assert_int_equal(refusals_of(0) + refusals_of(1), 2);
    end_with_broken_files(context);
}

static void test_a_list_of_a_kind_tells_of_refused_files_once(void **state) {
    (void)state;
    stn_error err;
    const stn_plugin_info *all = NULL;
    int32_t count = 0;
    stn_context *context = context_with_broken_files();
    assert_ok(stn_plugins_of_kind(context, STN_KIND_LAW, &all, &count, &err), err);
    assert_string_equal(refusals, ""); // the files are named for another kind
    for (int32_t i = 0; i < 2; i++) {
        assert_ok(stn_plugins_of_kind(context, STN_KIND_RECORDER, &all, &count, &err), err);
        assert_int_equal(refusals_of(0), 1);
        assert_int_equal(refusals_of(1), 1);
    }
    end_with_broken_files(context);
}

static void test_within_a_folder_the_nearest_name_wins(void **state) {
    (void)state;
    assert_string_equal(version_of(FAKE_DIR "/near", "quiet"), "so");   // recorder_quiet.so
    assert_string_equal(version_of(FAKE_DIR "/near", "loud"), "kind");  // recorder_b.so
    assert_string_equal(version_of(FAKE_DIR "/near", "any"), "freely"); // any.so before element_any.so
}

static void test_a_registered_plugin_hides_a_file_that_was_not_opened(void **state) {
    (void)state;
    stn_error err;
    stn_context *context = context_with(FAKE_DIR "/good");
    stn_context *other = context_with(FAKE_DIR "/second");
    stn_plugin_desc desc = *find(other, STN_KIND_RECORDER, "quiet")->desc;
    assert_ok(stn_plugin_register(context, &desc, &err), err);
    assert_string_equal(find(context, STN_KIND_RECORDER, "quiet")->file, "built in");
    stn_context_destroy(other);
    stn_context_destroy(context);
}

static void test_a_path_in_a_folder_of_the_search_is_found_without_loading_it_first(void **state) {
    (void)state;
    stn_error err;
    const stn_plugin_info *info = NULL;
    stn_context *context = context_with(FAKE_DIR "/good");
    assert_string_equal(find(context, STN_KIND_RECORDER, FAKE_DIR "/good/recorder_quiet.so")->desc->version, "1.2.3");
    assert_int_equal(stn_plugin_find(context, STN_KIND_RECORDER, FAKE_DIR "/second/recorder_quiet.so", &info, &err),
                     STN_ERR_PLUGIN);
    assert_null(info);
    stn_context_destroy(context);
}

enum { ASKING = 8 };

/// One of several threads that ask the same context.
typedef struct asker {
    stn_context *context;
    const char *id;
    const stn_plugin_info *found;
    int32_t listed;
} asker;

static void *ask(void *user) {
    asker *a = user;
    const stn_plugin_info *plugins = NULL;
    if (stn_plugin_find(a->context, STN_KIND_RECORDER, a->id, &a->found, NULL) == STN_OK) {
        stn_plugins_of_kind(a->context, STN_KIND_RECORDER, &plugins, &a->listed, NULL);
    }
    return NULL;
}

static void test_a_relative_folder_stays_where_it_was_when_its_names_were_read(void **state) {
    (void)state;
    char here[4096];
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(chdir(FAKE_DIR), 0);
    stn_context *context = context_with("near");
    assert_string_equal(find(context, STN_KIND_RECORDER, "quiet")->file, FAKE_DIR "/near/recorder_quiet.so");
    assert_int_equal(chdir("/"), 0);
    assert_string_equal(find(context, STN_KIND_RECORDER, "loud")->file, FAKE_DIR "/near/recorder_b.so");
    assert_int_equal(chdir(here), 0);
    stn_context_destroy(context);
}

static void test_threads_may_ask_at_the_same_time(void **state) {
    (void)state;
    static const char *const ids[] = {"quiet", "loud", "any"};
    stn_context *context = context_with(FAKE_DIR "/near");
    pthread_t threads[ASKING];
    asker askers[ASKING] = {{0}};
    for (int32_t i = 0; i < ASKING; i++) {
        askers[i] = (asker){.context = context, .id = ids[i % STN_COUNT(ids)]};
        assert_int_equal(pthread_create(&threads[i], NULL, ask, &askers[i]), 0);
    }
    for (int32_t i = 0; i < ASKING; i++) {
        pthread_join(threads[i], NULL);
    }
    for (int32_t i = 0; i < ASKING; i++) {
        assert_ptr_equal(askers[i].found, find(context, STN_KIND_RECORDER, askers[i].id));
        assert_int_equal(askers[i].listed, askers[0].listed);
        assert_true(askers[i].listed >= STN_COUNT(ids));
    }
    stn_context_destroy(context);
}

static void test_an_unknown_id_has_looked_into_every_file(void **state) {
    (void)state;
    stn_error err;
    const stn_plugin_info *info = NULL;
    stn_context *context = context_with(NULL);
    assert_int_equal(stn_plugin_find(context, STN_KIND_RECORDER, "nothing_of_this_name", &info, &err), STN_ERR_PLUGIN);
    assert_non_null(strstr(err.text, "unknown recorder nothing_of_this_name; there are csv, html"));
    assert_true(is_open(SHIPPED "/recorder_html.so"));
    stn_context_destroy(context);
}

int main(void) {
    unsetenv("STICTION_PLUGIN_PATH");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_id_opens_the_file_named_so_and_no_other_beside_the_library),
        cmocka_unit_test(test_a_kind_opens_the_files_of_its_name_beside_the_library),
        cmocka_unit_test(test_an_id_without_a_file_of_its_name_is_looked_for_in_those_of_its_kind),
        cmocka_unit_test(test_an_earlier_folder_is_opened_as_far_as_needed),
        cmocka_unit_test(test_any_file_of_an_earlier_folder_hides_the_file_named_so),
        cmocka_unit_test(test_a_plugin_that_hides_one_beside_the_library_is_warned_of_once),
        cmocka_unit_test(test_within_a_folder_the_nearest_name_wins),
        cmocka_unit_test(test_a_registered_plugin_hides_a_file_that_was_not_opened),
        cmocka_unit_test(test_a_path_in_a_folder_of_the_search_is_found_without_loading_it_first),
        cmocka_unit_test(test_a_relative_folder_stays_where_it_was_when_its_names_were_read),
        cmocka_unit_test(test_threads_may_ask_at_the_same_time),
        cmocka_unit_test(test_an_unknown_id_has_looked_into_every_file),
        cmocka_unit_test(test_files_that_were_refused_are_told_once_whoever_takes_their_place),
        cmocka_unit_test(test_a_list_of_a_kind_tells_of_refused_files_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
