// SPDX-License-Identifier: Apache-2.0
// Files of recorder/html: paths and disks that refuse, processes that are killed, memory that is not there, and none
// that is asked for in a steady run.
#include <unistd.h>

#include "html_fixture.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "stn_heap.h"

static int set_up(void **state) {
    make_folder();
    return scene_setup(state);
}

static int tear_down(void **state) {
    return remove_folder() != 0 || scene_teardown(state) != 0;
}

/// A cube that has come down on the ground: contacts, and no bodies that change their number of them.
static stn_world *small_world(stn_context *context) {
    stn_world *world = scene_world(context, &defaults);
    scene_ground(world);
    scene_cube(world, "cube", 1.0, stn_vec3_make(0.0, 0.0, 0.1));
    return world;
}

// ----------------------------------------------------------------------------------------------------------- titles

static void the_title_is_given_or_the_name_of_the_file(void **state) {
    stn_world *world = small_world(*state);
    const char *title = "a \"quoted\" </script> \\ \xc3\xbc\xe2\x82\xac\n\x01";
    record(world, text_setting("title", title));
    scene_steps(world, 1);
    const decoded *d = close_and_decode(world);
    assert_string_equal(cJSON_GetObjectItem(d->scene, "title")->valuestring, title);
    const char *parameters = cJSON_GetObjectItem(d->scene, "parameters")->valuestring;
    assert_non_null(strstr(parameters, "dt = 0.002 s\n"));
    assert_non_null(strstr(parameters, "solver"));
    record(world, text_setting("title", ""));
    scene_steps(world, 1);
    assert_string_equal(cJSON_GetObjectItem(close_and_decode(world)->scene, "title")->valuestring, "out");
    stn_world_destroy(world);
}

static void a_recording_without_a_step_is_refused_when_it_is_closed(void **state) {
    stn_world *world = small_world(*state);
    stn_error err;
    scene_steps(world, 1); // from the start on there would be a frame
    record(world, number_setting("frame_rate", 60.0));
    assert_int_equal(stn_world_close_recordings(world, &err), STN_ERR_SEQUENCE);
    assert_non_null(strstr(err.text, path));
    stn_world_destroy(world);
}

// ------------------------------------------------------------------------------------------------------- the viewer

static void count_viewer_warnings(void *user, stn_log_level level, const char *text) {
    *(int32_t *)user += level == STN_LOG_WARNING && strstr(text, "recorded without the viewer") != NULL;
}

/// ./dev test builds with a viewer where npm brings it, ./dev plain without.
static void a_recording_is_told_to_lack_its_viewer_exactly_when_it_does(void **state) {
    (void)state;
    int32_t warnings = 0;
    const stn_context_options options = {.log = count_viewer_warnings, .log_user = &warnings};
    stn_context *context = NULL;
    assert_int_equal(stn_context_create(&options, &context, NULL), STN_OK);
    stn_world *world = small_world(context);
    record(world, number_setting("frame_rate", 60.0));
    scene_steps(world, 1);
    close_and_decode(world);
    char head[512] = "";
    FILE *page = fopen(path, "rb");
    assert_non_null(page);
    assert_true(fread(head, 1, sizeof head - 1, page) > 0);
    fclose(page);
    assert_int_equal(warnings, strstr(head, "<meta name=\"stiction-viewer\" content=\"none\">") != NULL ? 1 : 0);
    stn_world_destroy(world);
    stn_context_destroy(context);
}

// ------------------------------------------------------------------------------------------------- paths that refuse

static void expect_refusal(stn_world *world, const char *to, const char *why) {
    stn_error err;
    assert_int_equal(try_to_record(world, to, number_setting("frame_rate", 60.0), &err), STN_ERR_FILE);
    if (strstr(err.text, to) == NULL || strstr(err.text, why) == NULL || strchr(err.text, '\n') != NULL) {
        fail_msg("\"%s\" should name %s and say \"%s\"", err.text, to, why);
    }
    scene_steps(world, 2); // the world goes on without
}

static void what_cannot_be_written_is_said_at_once_and_the_world_goes_on(void **state) {
    stn_world *world = small_world(*state);
    char full[80], directory[80];
    snprintf(full, sizeof full, "%s/full.html", folder);
    snprintf(directory, sizeof directory, "%s/directory.html", folder);
    assert_int_equal(symlink("/dev/full", full), 0);
    assert_int_equal(mkdir(directory, 0700), 0);
    expect_refusal(world, "/nowhere/out.html", "No such file or directory");
    expect_refusal(world, full, "No space left on device");
    expect_refusal(world, directory, "Is a directory");
    stn_world_destroy(world);
}

/// A disk that fills up during the run: one failure, the step stays made, further steps do without, the file is whole
/// blocks. The limit counts for this process alone.
static void a_disk_that_fills_up_ends_the_recording_not_the_run(void **state) {
    unlink(path);
    stn_world *world = small_world(*state);
    record(world, number_setting("frame_rate", 0.0));
    struct rlimit before, small;
    struct stat file;
    assert_int_equal(stat(path, &file), 0);
    getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = (rlim_t)file.st_size + 10000;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    int32_t failures = 0, step = 0;
    stn_error err;
    char said[1024] = "";
    for (step = 0; step < 2000; step++) {
        stn_status status = stn_world_step(world, &err);
        assert_int_equal(stn_world_state(world)->step, step + 1);
        if (status < 0) {
            failures++;
            assert_int_equal(status, STN_ERR_FILE);
            memcpy(said, err.text, sizeof said);
        }
    }
    assert_int_equal(failures, 1);
    assert_non_null(strstr(said, path));
    assert_ok(stn_world_close_recordings(world, &err), err); // said already
    setrlimit(RLIMIT_FSIZE, &before);
    const decoded *d = decode_recording(path);
    assert_false(d->cut);
    assert_null(d->end);
    assert_true(d->frame_count >= 64 && d->frame_count < 2000);
    assert_int_equal(stat(path, &file), 0);
    assert_true(file.st_size <= (off_t)small.rlim_cur);
    stn_world_destroy(world);
}

// ------------------------------------------------------------------------------------------------------------ killed

static void run_for_ever(stn_context *context) {
    stn_world *world = small_world(context);
    record(world, number_setting("frame_rate", 0.0));
    while (true) {
        scene_steps(world, 1);
    }
}

static void a_killed_run_leaves_whole_blocks(void **state) {
    unlink(path);
    pid_t process = fork();
    if (process == 0) {
        run_for_ever(*state);
        _exit(99);
    }
    struct stat file = {0};
    off_t first = 0;
    for (int32_t i = 0; i < 3000 && (first == 0 || file.st_size < first + 20000); i++) {
        nanosleep(&(struct timespec){.tv_nsec = 10 * 1000 * 1000}, NULL);
        first = stat(path, &file) == 0 && first == 0 ? file.st_size : first;
    }
    kill(process, SIGKILL);
    waitpid(process, NULL, 0);
    const decoded *d = decode_recording(path);
    assert_non_null(d->scene);
    assert_false(d->cut);
    assert_null(d->end);
    assert_true(d->frame_count >= 64);
    assert_int_equal(d->frame_count % 64, 0);
    for (int32_t f = 0; f < d->frame_count; f++) {
        assert_int_equal(d->frames[f].step, f);
    }
}

// ------------------------------------------------------------------------------------------------------------ memory

/// Opens, records three steps, closes; the first failure. The n-th request of that fails (0: none); their number.
static stn_status record_a_little(stn_heap *heap, stn_context *context, long long n, long long *requests) {
    stn_error err, late;
    stn_world *world = small_world(context);
    stn_instance *recorder = NULL;
    scene_steps(world, 5); // the world has what it needs
    assert_ok(stn_instance_create(context, STN_KIND_RECORDER, "html", NULL, 0, &recorder, &err), err);
    stn_heap_arm(heap, n);
    stn_status status = stn_world_record(world, recorder, path, &err);
    for (int32_t i = 0; i < 3 && status == STN_OK; i++) {
        status = stn_world_step(world, &err);
    }
    stn_status closed = stn_world_close_recordings(world, &late);
    *requests = heap->requests;
    stn_heap_arm(heap, 0);
    stn_world_destroy(world);
    return status < 0 ? status : closed;
}

/// The n-th request fails, for every n from the opening on: an error, and nothing is lost.
static void without_memory_recording_fails_and_loses_none(void **state) {
    (void)state;
    stn_heap heap = {0};
    long long all = 0, requests = 0;
    stn_context *context = stn_heap_context(&heap);
    assert_int_equal(record_a_little(&heap, context, 0, &all), STN_OK);
    long long before = heap.live;
    assert_true(all > 20);
    for (long long n = 1; n <= all; n++) {
        stn_status status = record_a_little(&heap, context, n, &requests);
        assert_int_equal(status, requests < n ? STN_OK : STN_ERR_MEMORY); // how much is there to pack varies with time
        assert_int_equal(heap.live, before);
    }
    stn_context_destroy(context);
    assert_int_equal(heap.live, 0);
}

static void a_steady_run_asks_for_no_memory(void **state) {
    (void)state;
    stn_heap heap = {0};
    stn_context *context = stn_heap_context(&heap);
    stn_error err;
    stn_world *world = small_world(context);
    record(world, number_setting("frame_rate", 0.0));
    scene_steps(world, 400); // six blocks
    long long before = heap.requests;
    scene_steps(world, 400);
    assert_int_equal(heap.requests, before);
    assert_ok(stn_world_close_recordings(world, &err), err);
    stn_world_destroy(world);
    stn_context_destroy(context);
    assert_int_equal(heap.live, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(the_title_is_given_or_the_name_of_the_file, forget),
        cmocka_unit_test_teardown(a_recording_without_a_step_is_refused_when_it_is_closed, forget),
        cmocka_unit_test_teardown(a_recording_is_told_to_lack_its_viewer_exactly_when_it_does, forget),
        cmocka_unit_test_teardown(what_cannot_be_written_is_said_at_once_and_the_world_goes_on, forget),
        cmocka_unit_test_teardown(a_disk_that_fills_up_ends_the_recording_not_the_run, forget),
        cmocka_unit_test_teardown(a_killed_run_leaves_whole_blocks, forget),
        cmocka_unit_test_teardown(without_memory_recording_fails_and_loses_none, forget),
        cmocka_unit_test_teardown(a_steady_run_asks_for_no_memory, forget),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
