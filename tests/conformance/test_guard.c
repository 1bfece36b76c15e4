// SPDX-License-Identifier: Apache-2.0
// stiction validate --guard: plugins of all kinds that are wrong in one thing each, caught by its name. Prints the
// table.
#include "stn_command.h"

// A sanitizer has signals and the stack to itself: what it makes of a crash is its own report.
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED true
#else
#define SANITIZED false
#endif

/// Kinds of plugins, with a check in which the wrong function is called again and again.
static const struct {
    const char *kind, *check;
    bool scratch; // it gets an arena
} kinds[] = {{"solver", "no allocation", true},
             {"law", "same bytes again", false},
             {"contact", "same again", true},
             {"integrator", "no allocation", true},
             {"factor", "no allocation", false},
             {"controller", "same again", true},
             {"element", "alone and in a batch", false},
             {"constraint", "steps of a world", true},
             {"command", "says what it takes", false}};

/// What each does beside its work (misconduct.h), and words that the line of the check must hold.
static const struct {
    const char *plugin, *words;
    bool scratch; // with an arena alone
} wrongs[] = {
    {"aborts", "crashed: ended by signal 6", false},
    {"segfaults", "crashed: ended by signal 11", false},
    {"divides", "crashed: ended by signal 8", false},
    {"recurses", "crashed: ended by signal 11", false},
    {"loops", "hangs: no end after 1 s", false},
    {"leaves", "ended the process with exit status 0", false},
    {"writes_beyond", "wrote beyond the end of memory that it was given, at byte ", false},
    {"writes_before", "wrote before the beginning of memory that it was given, at byte -8 of ", false},
    {"writes_beyond_scratch", "wrote beyond the end of memory that it was given, at byte 64 of a block of 64", true},
    {"keeps_scratch", "wrote to memory that is no longer its own", true},
    {"uses_malloc", "the plugin calls malloc", false},
    {"uses_strdup", "the plugin calls strdup", false},
    {"rounds_upward", "changed the rounding mode", false},
    {"traps", "changed which floating-point exceptions trap", false},
    {"flushes_to_zero", "changed ", false},
    {"changes_folder", "changed the working folder to /", false},
    {"changes_locale", "changed the locale to C.UTF-8", false},
    {"changes_mask", "changed the file mask (umask) to 000", false},
    {"changes_environment", "changed the environment's variables", false},
    {"takes_a_signal", "changed what signal 2 (Interrupt) does", false},
    {"writes_a_file", "calls fopen(misconduct.txt), a file that is not its own", false},
    {"reads_a_file", "the plugin calls open(/dev/zero)", false},
    {"leaves_a_file_open", "left file descriptor ", false},
    {"closes_stderr", "closed file descriptor 2, which is not its own", false},
    {"leaves_a_thread", "threads running", false},
};

/// Prints a row; false: the plugin was not caught by what it does.
static bool is_caught(const char *plugin, const char *check, const char *words) {
    char line[512], failed[128];
    stn_run run;
    snprintf(line, sizeof line, "validate %s --guard -k '%s' --timeout %d 2>/dev/null", plugin, check,
             strstr(plugin, "loops") != NULL ? 1 : 300);
    snprintf(failed, sizeof failed, "FAILED %s", check);
    stn_run_command(&run, line);
    char *said = strstr(run.out, failed);
    bool caught = run.status == 1 && said != NULL && strstr(said, words) != NULL;
    if (said != NULL) {
        said[strcspn(said, "\n")] = '\0';
    }
    printf("%-34s %s %s\n", plugin, caught ? "caught" : "MISSED", said != NULL ? said + strlen("FAILED ") : run.out);
    return caught;
}

static void each_wrong_plugin_is_caught_by_name(void **state) {
    (void)state;
    int32_t count = 0, missed = 0;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++) {
            char plugin[128];
            if (wrongs[i].scratch && !kinds[k].scratch) {
                continue;
            }
            bool crash = strncmp(wrongs[i].words, "crashed", strlen("crashed")) == 0;
            if (SANITIZED && crash && strcmp(wrongs[i].plugin, "aborts") != 0) {
                continue;
            }
            // a word may ask for memory and read files, and the folder that it is called in is its own
            bool allowed = strstr("uses_malloc uses_strdup reads_a_file writes_a_file", wrongs[i].plugin) != NULL;
            if (strcmp(kinds[k].kind, "command") == 0 && allowed) {
                continue;
            }
            bool element = strcmp(kinds[k].kind, "element") == 0; // whose outputs lie on the battery's stack
            if (element && strcmp(wrongs[i].plugin, "writes_before") == 0) {
                continue;
            }
            snprintf(plugin, sizeof plugin, "%s/wrong_%s", kinds[k].kind, wrongs[i].plugin);
            bool own = element && strcmp(wrongs[i].plugin, "writes_beyond") == 0;
            missed += !is_caught(plugin, kinds[k].check, own ? "evaluate writes beyond its 5" : wrongs[i].words);
            count++;
        }
    }
    printf("%d wrong plugins, %d missed\n", count, missed);
    assert_true(count >= 60);
    assert_int_equal(missed, 0);
}

/// Faults of the work itself, of kinds that read and write files too.
static void faults_of_the_work_are_caught_under_the_guard_too(void **state) {
    (void)state;
    static const struct {
        const char *plugin, *check, *words;
    } faults[] = {
        {"loader/wrong_crash", "malformed files", "crashed: ended by signal 6"},
        {"loader/wrong_half", "damaged files", "robots in the builder, before 1"},
        {"mesh/wrong_corner", "damaged files", "an index beyond the vertices"},
        {"mesh/wrong_leak", "damaged files", "2 pieces of memory are left"},
        {"problem_file/wrong_exact", "written and read", "\"exact\", but "},
        {"problem_file/wrong_leak", "malformed files", "1 pieces of memory are left"},
        {"recorder/wrong_push", "same run", "end in another state than without"},
        {"script/wrong_world", "example", "1 worlds were left without end"},
        {"solver/wrong_drift", "same bytes again", "made again with a fresh workspace"},
        {"law/wrong_memory", "memory and commit", "commit writes "},
        {"controller/wrong_state", "same again", "8 bytes of state"},
        {"constraint/wrong_count", "steps of a world", "after a reset has another state than the first time"},
        {"constraint/wrong_reaction", "momentum", "its forces do not add up to nothing"},
        {"command/wrong_writes_a_file", "leaves nothing behind", "1 files in the current folder"},
        {"command/wrong_leaves_a_file_open", "leaves nothing behind", "left file descriptor "},
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        assert_true(is_caught(faults[i].plugin, faults[i].check, faults[i].words));
    }
}

/// The plugins that the wrong ones are made from pass whole batteries under the guard.
static void right_plugins_pass(void **state) {
    (void)state;
    static const char *const rights[] = {"law/wrong_none",         "contact/wrong_none", "integrator/wrong_none",
                                         "factor/wrong_none",      "element/wrong_none", "controller/wrong_none",
                                         "controller/joint_pd",    "recorder/csv",       "law/sap",
                                         "solver/wrong_none -k no"};
    for (size_t i = 0; i < sizeof rights / sizeof *rights; i++) {
        char words[256];
        snprintf(words, sizeof words, "validate %s --guard", rights[i]);
        stn_expect_part(words, 0, " passed, 0 failed");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_wrong_plugin_is_caught_by_name),
        cmocka_unit_test(faults_of_the_work_are_caught_under_the_guard_too),
        cmocka_unit_test(right_plugins_pass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
