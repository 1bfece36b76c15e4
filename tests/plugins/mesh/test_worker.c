// SPDX-License-Identifier: Apache-2.0
// The library's side of the process that reads scenes, which may do anything: fake workers misbehave on purpose.
#include "mesh_files.h"

#include <signal.h>

#include "stn_heap.h"

static const char *fake_scene(const char *way) {
    setenv("STICTION_MESH_WORKER", FAKE_WORKER, 1);
    setenv("FAKE_WORKER", way, 1);
    return write_dae("scene.dae", "", "<node>" DAE_CUBE "</node>");
}

static void a_worker_of_any_make_is_understood_when_it_answers_rightly(void **state) {
    (void)state;
    loaded l = must_load(fake_scene("good"));
    assert_int_equal(l.triangle_count, 4);
    assert_near(l.mass, 1.0 / 6.0, 1e-15);
    assert_no_children();
}

static void every_misbehaviour_is_one_clear_error_and_leaves_nothing_behind(void **state) {
    (void)state;
    static const struct {
        const char *way, *text;
    } cases[] = {
        {"crash", "died of it (signal 11)"},
        {"abort", "died of it (signal 6)"},
        {"silent", "ended without an answer"},
        {"garbage", "not of the expected form"},
        {"half a header", "cut off"},
        {"half", "cut off"},
        {"half and crash", "died of it (signal 11)"},
        {"huge", "more than can be counted"},
        {"many", "cut off"},
        {"files", "more than can be counted"},
        {"index", "vertex 4 of 4"},
        {"unit", "no length"},
        {"axis", "none of x, y and z"},
        {"more", "more follows its end"},
        {"text", "bad ??[31m thing"},
        {"long text", "wrong length"},
        {"absolute file", "bad name"},
        {"long file", "cut off"},
        {"endless", "more than"},
        {"spin", "processor time"},
    };
    int before = count_open_files();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        must_refuse(fake_scene(cases[i].way), STN_ERR_ARGUMENT, cases[i].text);
        assert_no_children();
        assert_int_equal(count_open_files(), before);
    }
}

static void a_worker_that_never_answers_is_ended_in_time(void **state) {
    (void)state;
    setenv("STICTION_MESH_SECONDS", "1", 1);
    must_refuse(fake_scene("hang"), STN_ERR_ARGUMENT, "longer than 1 s");
    assert_no_children();
    must_refuse(fake_scene("deaf"), STN_ERR_ARGUMENT, "longer than 1 s");
    assert_no_children();
}

static void a_worker_that_stays_after_its_answer_is_ended(void **state) {
    (void)state;
    must_load(fake_scene("slow end"));
    assert_no_children();
}

static void a_deaf_worker_and_a_large_file_do_not_block(void **state) {
    (void)state;
    static char text[1 << 22]; // more than a socket holds
    setenv("STICTION_MESH_SECONDS", "1", 1);
    memset(text, ' ', sizeof text);
    memcpy(text, "<COLLADA>", 9);
    fake_scene("deaf");
    must_refuse(write_bytes("large.dae", text, sizeof text), STN_ERR_ARGUMENT, "longer than 1 s");
    fake_scene("silent"); // breaks the channel while it is written to
    must_refuse(in_folder("large.dae"), STN_ERR_ARGUMENT, "without an answer");
    assert_no_children();
}

static void without_a_worker_the_error_says_what_is_missing(void **state) {
    (void)state;
    const char *path = fake_scene("good");
    setenv("STICTION_MESH_WORKER", "/nowhere/stiction-mesh", 1);
    must_refuse(path, STN_ERR_FILE, "/nowhere/stiction-mesh, which cannot be started: ");
    setenv("STICTION_MESH_WORKER", write_text("no_program", "text"), 1);
    must_refuse(path, STN_ERR_FILE, "no_program, which cannot be started: ");
    must_refuse(fake_scene("no library"), STN_ERR_FILE, "which cannot be started: ");
    assert_no_children();
}

static void a_program_that_ignores_its_children_or_lacks_standard_files_still_loads(void **state) {
    (void)state;
    const char *path = fake_scene("good");
    signal(SIGCHLD, SIG_IGN);
    must_load(path);
    setenv("FAKE_WORKER", "crash", 1);
    must_refuse(path, STN_ERR_ARGUMENT, "without an answer"); // how it died was not told
    signal(SIGCHLD, SIG_DFL);
    setenv("FAKE_WORKER", "good", 1);
    int input = dup(0), output = dup(1);
    close(0);
    close(1);
    loaded l = load(path);
    dup2(input, 0);
    dup2(output, 1);
    close(input);
    close(output);
    assert_int_equal(l.status, STN_OK);
}

static void running_out_of_memory_anywhere_leaves_no_memory_and_no_process(void **state) {
    (void)state;
    const stn_mesh_request request = request_of(fake_scene("good"));
    load_without_memory(&request);
    assert_no_children();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_worker_of_any_make_is_understood_when_it_answers_rightly, enter_folder,
                                        leave_folder),
        cmocka_unit_test_setup_teardown(every_misbehaviour_is_one_clear_error_and_leaves_nothing_behind, enter_folder,
                                        leave_folder),
        cmocka_unit_test_setup_teardown(a_worker_that_never_answers_is_ended_in_time, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(a_worker_that_stays_after_its_answer_is_ended, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(a_deaf_worker_and_a_large_file_do_not_block, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(without_a_worker_the_error_says_what_is_missing, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(a_program_that_ignores_its_children_or_lacks_standard_files_still_loads,
                                        enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(running_out_of_memory_anywhere_leaves_no_memory_and_no_process, enter_folder,
                                        leave_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
