// SPDX-License-Identifier: Apache-2.0
// The hash of the state after every step is the same for any number of workers, run after run, after restoring, with
// recorders at work and on one processor. Every scene with every solver, without recorders: determinism.sh.
#define _GNU_SOURCE
#include <sched.h>
#include <unistd.h>

#include "stn_command.h"

typedef struct variant {
    int threads;
    bool detour, one_processor;
    const char *record; // --record or --log FILE
} variant;

static const variant first = {.threads = 1};
static const variant variants[] = {
    {.threads = 4, .detour = true},
    {.threads = 8, .record = "--record run.html"},
    {.threads = 2, .one_processor = true, .record = "--log run.csv"},
    {.threads = 1, .detour = true, .one_processor = true},
    {.threads = 2, .detour = true, .record = "--record run.html"},
    {.threads = 8, .one_processor = true},
    {.threads = 1},
};

static bool full_tier(void) {
    const char *tier = getenv("STICTION_TEST_TIER");
    return tier != NULL && strcmp(tier, "full") == 0;
}

/// On a machine that does not let us choose the variant is one more run.
static void use_one_processor(bool one) {
    static cpu_set_t all;
    static bool known;
    if (!known) {
        known = sched_getaffinity(0, sizeof all, &all) == 0;
    }
    cpu_set_t set = all;
    size_t least = 0;
    while (one && least < CPU_SETSIZE - 1 && !CPU_ISSET(least, &all)) {
        least++;
    }
    if (one) {
        CPU_ZERO(&set);
        CPU_SET(least, &set);
    }
    if (known) {
        (void)sched_setaffinity(0, sizeof set, &set);
    }
}

/// Hashes of the run, one a line; to be freed. Files go into `folder`, which is cleared again.
static char *hashes_of(const char *folder, const char *scene, const char *words, const variant *v) {
    char command[2048], path[512];
    snprintf(path, sizeof path, "%s/hashes.txt", folder);
    snprintf(
        command, sizeof command,
        "run %s/tests/conformance/hashes.lua --set hashed_scene=%s/scripts/%s.lua --set hashes=%s --set hashed_way=%s "
        "--threads %d %s %s 2>&1",
        STN_SOURCE_DIR, STN_SOURCE_DIR, scene, path, v->detour ? "detour" : "straight", v->threads, words,
        v->record != NULL ? v->record : "");
    use_one_processor(v->one_processor);
    stn_run_to(command, 0);
    use_one_processor(false);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 20) - 1, file) > 0);
    fclose(file);
    static const char *const names[] = {"hashes.txt", "run.html", "run.csv", "run.csv.parameters"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        remove(path);
    }
    return text;
}

/// A scene that died makes the same hashes in every variant, too.
static void assert_made_its_steps(const char *scene, const char *text) {
    if (strstr(text, "came to its end") == NULL && strstr(text, "left after its steps") == NULL) {
        fail_msg("%s ended early: %s", scene, strlen(text) > 300 ? text + strlen(text) - 300 : text);
    }
}

static void assert_same(const char *scene, const variant *v, const char *expected, const char *text) {
    assert_true(strlen(expected) >= 17 * 41); // 16 digits and an end of line a step
    for (size_t i = 0; i <= strlen(expected); i++) {
        if (text[i] != expected[i]) {
            fail_msg("%s, %d threads, detour %d, one processor %d, %s: step %zu has another state", scene, v->threads,
                     v->detour, v->one_processor, v->record != NULL ? v->record : "no recorder", i / 17 + 1);
        }
    }
}

static void check_scene(const char *scene, const char *words, const char *full_words, size_t count) {
    char folder[] = "/tmp/stn_determinism_XXXXXX", here[1024];
    assert_non_null(mkdtemp(folder));
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(chdir(folder), 0);
    bool full = full_tier();
    char *expected = hashes_of(folder, scene, full ? full_words : words, &first);
    assert_made_its_steps(scene, expected);
    for (size_t i = 0; i < (full ? sizeof variants / sizeof *variants : count); i++) {
        char *text = hashes_of(folder, scene, full ? full_words : words, &variants[i]);
        assert_same(scene, &variants[i], expected, text);
        free(text);
    }
    free(expected);
    assert_int_equal(chdir(here), 0);
    assert_int_equal(rmdir(folder), 0);
}

static void a_pile_between_walls_is_the_same(void **state) {
    (void)state;
    check_scene("clutter", "--set bodies=12 --set seconds=0.6", "--set seconds=10", 5);
}

static void many_islands_are_the_same(void **state) {
    (void)state;
    check_scene("clutter", "--set bodies=24 --set walls=false --set seconds=0.6",
                "--set bodies=80 --set walls=false --set seconds=5", 5);
}

static void an_arm_among_objects_is_the_same(void **state) {
    (void)state;
    check_scene("arm_sweep", "--set seconds=0.2", "", 2);
}

static void a_trotting_quadruped_is_the_same(void **state) {
    (void)state;
    check_scene("quadruped", "--set task=trot --set seconds=0.3", "--set task=trot --set seconds=5", 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pile_between_walls_is_the_same),
        cmocka_unit_test(many_islands_are_the_same),
        cmocka_unit_test(an_arm_among_objects_is_the_same),
        cmocka_unit_test(a_trotting_quadruped_is_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
