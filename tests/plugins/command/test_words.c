// SPDX-License-Identifier: Apache-2.0
// Words of a user's: found in a folder of STICTION_PLUGIN_PATH, listed, called, refused by name; and the battery of the
// kind, which must find each mistake.
#include "stn_command.h"

#include <unistd.h>

#define BOTH "2>&1"

static void a_word_of_a_users_folder_is_one_like_the_others(void **state) {
    (void)state;
    setenv("STICTION_PLUGIN_PATH", WORDS "/good", 1);
    stn_expect_part("--help", 0, "\n  greet      says what it was given\n  info       shows what");
    stn_expect("greet --help", 0, "usage: stiction greet [NAME]...\n");
    stn_expect("greet a b c " BOTH, 1, "greet: 3 words, the last is c\n"); // its own exit status
    stn_expect("greet --loud " BOTH, 2, "stiction greet: unknown option --loud\n");
    stn_expect("gret " BOTH, 2, "stiction: unknown command gret; did you mean greet? see stiction --help\n");
    stn_expect("help " BOTH " | grep -c greet", 0, "1\n");
    unsetenv("STICTION_PLUGIN_PATH");
    stn_expect("greet " BOTH, 2, "stiction: unknown command greet; see stiction --help\n");
}

static void a_users_word_comes_before_one_that_is_shipped(void **state) {
    (void)state;
    setenv("STICTION_PLUGIN_PATH", WORDS "/own", 1); // any.so holds a word "view"
    stn_expect_part("--help", 0, "\n  view       says what it was given\n");
    stn_expect("view", 1, "view: 0 words, the last is view\n");
    unsetenv("STICTION_PLUGIN_PATH");
    stn_expect_part("--help", 0, "\n  view       shows recordings");
}

static void a_word_that_is_refused_says_why(void **state) {
    (void)state;
    setenv("STICTION_PLUGIN_PATH", WORDS "/old", 1);
    stn_expect("greet " BOTH, 2,
               "stiction: greet: " WORDS "/old/command_greet.so: built for plugin ABI 7.0, this library has 1.0; "
               "rebuild the plugin\n");
    assert_null(strstr(stn_run_to("--help", 0)->out, "greet"));
    unsetenv("STICTION_PLUGIN_PATH");
}

static void a_word_is_never_a_path(void **state) {
    (void)state;
    stn_expect(WORDS "/good/command_greet.so " BOTH, 2,
               "stiction: unknown command " WORDS "/good/command_greet.so; see stiction --help\n");
    stn_expect("'' " BOTH, 2, "stiction: unknown command ; see stiction --help\n");
}

static void a_word_that_calls_exit_is_told(void **state) {
    (void)state;
    setenv("STICTION_PLUGIN_PATH", WORDS "/exits", 1);
    stn_expect_part("greet --loud " BOTH, 2, "called exit, which ends the command before its end");
    unsetenv("STICTION_PLUGIN_PATH");
}

// a sanitizer meets the signal first, and ends the process
#ifdef __has_feature // of clang
#define SANITIZED __has_feature(address_sanitizer)
#elif defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif
#if SANITIZED
#define CRASHED "ended the process with exit status 1"
#else
#define CRASHED "crashed: ended by signal 11"
#endif

static void the_battery_passes_a_good_word_and_finds_each_mistake(void **state) {
    (void)state;
    static const struct {
        const char *folder, *part;
    } wrong[] = {
        {"stderr", "FAILED says what it takes: --help: exit status 0, on stderr \"usage: stiction greet\""},
        {"anything", "FAILED refuses what it does not know: --no-option-has-this-name: exit status 1, expected 2"},
        {"exits",
         "FAILED refuses what it does not know: --no-option-has-this-name: ended the process with exit status 2"},
        {"litters", "FAILED leaves nothing behind: --help: 1 files in the current folder"},
        {"counts", "FAILED runs twice: --help twice in one process"},
        {"reads", CRASHED},
    };
    stn_expect_part("validate " WORDS "/good/command_greet.so", 0, "6 passed, 0 failed\n");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char words[512];
        snprintf(words, sizeof words, "validate %s/%s/command_greet.so " BOTH, WORDS, wrong[i].folder);
        stn_expect_part(words, 1, wrong[i].part);
    }
}

/// Every word that comes with the command.
static void the_words_of_the_command_pass(void **state) {
    (void)state;
    static const char *const words[] = {"run",     "replay", "sweep",   "test",  "view",    "info",    "check",
                                        "convert", "new",    "plugins", "solve", "compare", "validate"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        char line[64];
        snprintf(line, sizeof line, "validate command/%s " BOTH, words[i]);
        stn_expect_part(line, 0, "6 passed, 0 failed\n");
    }
}

int main(void) {
    unsetenv("STICTION_PLUGIN_PATH");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_word_of_a_users_folder_is_one_like_the_others),
        cmocka_unit_test(a_users_word_comes_before_one_that_is_shipped),
        cmocka_unit_test(a_word_that_is_refused_says_why),
        cmocka_unit_test(a_word_is_never_a_path),
        cmocka_unit_test(a_word_that_calls_exit_is_told),
        cmocka_unit_test(the_battery_passes_a_good_word_and_finds_each_mistake),
        cmocka_unit_test(the_words_of_the_command_pass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
