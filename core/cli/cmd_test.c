// SPDX-License-Identifier: Apache-2.0
// stiction test PATH...: runs scripted tests, each file in a fresh Lua state.
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <lua.h>

#include "cli/commands.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "lua/session.h"

/// Counts, and the file that runs.
typedef struct tally {
    const cli_command *command;
    stn_context *context;
    const char *pattern, *file;
    int32_t passed, failed, skipped;
    bool broken; // a path that cannot be read
} tally;

static void print_line(tally *t, const char *name, const char *failure, const char *skipped, double seconds) {
    const char *word = skipped != NULL ? "skip" : (failure != NULL ? "FAIL" : "ok");
    printf("%-4s %s%s%s (%.0f ms)\n", word, t->file, name != NULL ? ": " : "", name != NULL ? name : "", 1e3 * seconds);
    if (failure != NULL) {
        printf("     %s\n", failure);
    } else if (skipped != NULL) {
        printf("     %s\n", skipped);
    }
    fflush(stdout);
    t->skipped += skipped != NULL;
    t->failed += failure != NULL && skipped == NULL;
    t->passed += failure == NULL && skipped == NULL;
}

static void note_test(void *user, const char *name, const char *failure, const char *skipped, double seconds) {
    print_line(user, name, failure, skipped, seconds);
}

/// A file that has no stn.test is one test; an error outside of the tests is a failure of the file.
static void judge_file(tally *t, const stn_session *session, stn_status status, const char *text, const char *skipped,
                       double seconds) {
    char check[512];
    bool whole = session->test_count == 0;
    if (whole && t->pattern != NULL && strstr(t->file, t->pattern) == NULL) {
        return;
    }
    if (status < 0) {
        print_line(t, NULL, text, NULL, seconds);
    } else if (skipped != NULL) {
        print_line(t, NULL, NULL, skipped, seconds);
    } else if (whole) {
        print_line(t, NULL, stn_session_failed_check(session, 0, check, sizeof check), NULL, seconds);
    }
}

static void run_file(tally *t, const char *path) {
    stn_session session;
    stn_error err = {0};
    lua_State *L = NULL;
    const char *skipped = NULL;
    stn_session_init(&session, t->context);
    session.pattern = t->pattern;
    session.tested = note_test;
    session.tested_user = t;
    t->file = path;
    double start = cli_seconds_now();
    stn_status status = stn_session_open_state(&session, path, &L, &err);
    if (status >= 0) {
        status = stn_session_run_file(&session, L, path, &skipped, &err);
    }
    judge_file(t, &session, status, err.text, skipped, cli_seconds_now() - start);
    if (L != NULL) {
        lua_close(L);
    }
    stn_session_clear(&session);
}

static bool is_script(const char *name) {
    size_t length = strlen(name);
    return length > 4 && strcmp(name + length - 4, ".lua") == 0;
}

static void run_path(tally *t, const char *path);

/// Everything below a folder, in the order of the names.
static void run_folder(tally *t, const char *path) {
    struct dirent **entries = NULL;
    int count = scandir(path, &entries, NULL, alphasort);
    if (count < 0) {
        cli_fail(t->command, "%s: %s", path, strerror(errno));
        t->broken = true;
        return;
    }
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name;
        size_t size = strlen(path) + strlen(name) + 2;
        char *below = malloc(size);
        struct stat what;
        if (name[0] != '.' && below != NULL) {
            snprintf(below, size, "%s/%s", path, name);
            if (stat(below, &what) == 0 && (S_ISDIR(what.st_mode) || is_script(name))) {
                run_path(t, below);
            }
        }
        free(below);
        free(entries[i]);
    }
    free(entries);
}

static void run_path(tally *t, const char *path) {
    struct stat what;
    if (stat(path, &what) != 0) {
        cli_fail(t->command, "%s: %s", path, strerror(errno));
        t->broken = true;
    } else if (S_ISDIR(what.st_mode)) {
        run_folder(t, path);
    } else {
        run_file(t, path);
    }
}

static int run_all(tally *t, const cli_list *paths) {
    stn_error err = {0};
    if (stn_context_create(NULL, &t->context, &err) < 0) {
        return cli_fail_status(t->command, &err);
    }
    for (int32_t i = 0; i < paths->count; i++) {
        run_path(t, paths->items[i]);
    }
    stn_context_destroy(t->context);
    printf("%d passed, %d failed", t->passed, t->failed);
    if (t->skipped > 0) {
        printf(", %d skipped", t->skipped);
    }
    putchar('\n');
    if (t->broken || fflush(stdout) != 0) {
        return CLI_BAD_INPUT;
    }
    return t->failed > 0 ? CLI_CHECK_FAILED : CLI_DONE;
}

int cmd_test(int argc, char **argv) {
    tally t = {0};
    const cli_option options[] = {
        {"pattern", 'k', CLI_TEXT, "TEXT", "only tests whose name contains it", &t.pattern},
    };
    const cli_command command = {"test",
                                 "PATH...",
                                 "Runs scripted tests: files, or all *.lua below folders. The last line counts them.",
                                 options,
                                 STN_COUNT(options),
                                 1,
                                 1 << 20};
    t.command = &command;
    cli_list words;
    int status = cli_parse(&command, argc, argv, &words);
    if (status != CLI_PROCEED) {
        return status;
    }
    status = run_all(&t, &words);
    cli_list_clear(&words);
    return status;
}
