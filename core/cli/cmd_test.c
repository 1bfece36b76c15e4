// SPDX-License-Identifier: Apache-2.0
// stiction test PATH...: runs scripted tests, each file in a fresh Lua state and a process of its own: a crash is a
// failed test like any other.
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "cli/commands.h"
#include "cli/jobs.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "lua/session.h"

/// Counts of one file, and where they are collected.
typedef struct tally {
    stn_context *context;
    const char *pattern, *file;
    int32_t passed, failed, skipped;
    bool done; // the script came to its end
} tally;

/// A folder that is being listed, and those that it lies in.
typedef struct open_folder {
    const struct open_folder *above;
    dev_t device;
    ino_t number;
} open_folder;

/// The files, in the order in which their results are printed.
typedef struct file_list {
    const cli_command *command;
    char **paths;
    size_t count, capacity;
    const open_folder *folder; // the innermost one, NULL outside
    bool broken;               // a path that cannot be read
} file_list;

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
static void judge_file(tally *t, const stn_session *session, stn_status status, const char *text, double seconds) {
    char check[512];
    bool whole = session->test_count == 0;
    if (whole && t->pattern != NULL && strstr(t->file, t->pattern) == NULL) {
        return;
    }
    if (status < 0) {
        print_line(t, NULL, text, NULL, seconds);
    } else if (session->exited) {
        print_line(t, NULL, session->exit_text, NULL, seconds);
    } else if (session->skipped != NULL) {
        print_line(t, NULL, NULL, session->skipped, seconds);
    } else if (whole) {
        print_line(t, NULL, stn_session_failed_check(session, 0, check, sizeof check), NULL, seconds);
    }
}

static void run_file(tally *t, const char *path) {
    stn_session session;
    stn_error err = {0};
    stn_session_init(&session, t->context);
    session.pattern = t->pattern;
    session.tested = note_test;
    session.tested_user = t;
    t->file = path;
    double start = cli_seconds_now();
    stn_status status = stn_session_run(&session, path, &err);
    judge_file(t, &session, status, err.text, cli_seconds_now() - start);
    stn_session_clear(&session);
}

// -------------------------------------------------------------------------------------------------------------- files

static bool is_script(const char *name) {
    size_t length = strlen(name);
    return length > 4 && strcmp(name + length - 4, ".lua") == 0;
}

static void break_off(file_list *list, const char *path, const char *reason) {
    cli_fail(list->command, "%s: %s", path, reason);
    list->broken = true;
}

/// Takes a file once, however often it is named.
static void add_file(file_list *list, const char *path) {
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->paths[i], path) == 0) {
            return;
        }
    }
    if (list->count == list->capacity) {
        size_t capacity = 2 * list->capacity + 64;
        char **grown = realloc(list->paths, capacity * sizeof *grown);
        if (grown == NULL) {
            break_off(list, path, "out of memory");
            return;
        }
        list->paths = grown;
        list->capacity = capacity;
    }
    list->paths[list->count] = strdup(path);
    if (list->paths[list->count] == NULL) {
        break_off(list, path, "out of memory");
        return;
    }
    list->count++;
}

static void add_path(file_list *list, const char *path);

/// Hidden names do not count, and neither do folders "lib", where scripts find the modules that they share.
static bool is_wanted(const char *name, bool folder) {
    return name[0] != '.' && (folder ? strcmp(name, "lib") != 0 : is_script(name));
}

/// Everything below a folder, in the order of the names.
static void add_folder(file_list *list, const char *path) {
    struct dirent **entries = NULL;
    int count = scandir(path, &entries, NULL, alphasort);
    if (count < 0) {
        break_off(list, path, strerror(errno));
        return;
    }
    size_t length = strlen(path);
    const char *slash = length > 0 && path[length - 1] == '/' ? "" : "/";
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name;
        size_t size = length + strlen(name) + 2;
        char *below = malloc(size);
        struct stat what;
        if (below != NULL) {
            snprintf(below, size, "%s%s%s", path, slash, name);
            if (stat(below, &what) == 0 && is_wanted(name, S_ISDIR(what.st_mode))) {
                add_path(list, below);
            }
        }
        free(below);
        free(entries[i]);
    }
    free(entries);
}

/// Not one that it lies in itself, by a symbolic link: there would be no end.
static void enter_folder(file_list *list, const char *path, const struct stat *what) {
    open_folder folder = {list->folder, what->st_dev, what->st_ino};
    for (const open_folder *above = folder.above; above != NULL; above = above->above) {
        if (above->device == folder.device && above->number == folder.number) {
            return;
        }
    }
    list->folder = &folder;
    add_folder(list, path);
    list->folder = folder.above;
}

static void add_path(file_list *list, const char *path) {
    struct stat what;
    if (stat(path, &what) != 0) {
        break_off(list, path, strerror(errno));
    } else if (S_ISDIR(what.st_mode)) {
        enter_folder(list, path, &what);
    } else {
        add_file(list, path);
    }
}

static void clear_files(file_list *list) {
    for (size_t i = 0; i < list->count; i++) {
        free(list->paths[i]);
    }
    free(list->paths);
}

// ---------------------------------------------------------------------------------------------------------- processes

/// A run of all files: children count in memory shared with the parent, which prints.
typedef struct test_run {
    const file_list *files;
    tally *tallies;
} test_run;

/// In the child: runs the file.
static int run_child(void *user, int32_t index) {
    test_run *run = user;
    tally *t = &run->tallies[index];
    stn_error err = {0};
    if (stn_context_create(NULL, &t->context, &err) < 0) {
        t->file = run->files->paths[index];
        print_line(t, NULL, err.text, NULL, 0.0);
    } else {
        run_file(t, run->files->paths[index]);
    }
    stn_context_destroy(t->context);
    t->done = true;
    return 0;
}

/// In the parent: shows what the file's tests printed, and what the file itself could not say.
static bool print_end(void *user, const cli_job_end *end) {
    test_run *run = user;
    tally *t = &run->tallies[end->index];
    char reason[96] = "";
    cli_job_print(end->error, stderr);
    cli_job_print(end->output, stdout);
    if (end->outcome == CLI_JOB_CRASHED) {
        snprintf(reason, sizeof reason, "ended by signal %d (%s)", end->code, strsignal(end->code));
    } else if (end->code != 0 || !t->done) {
        snprintf(reason, sizeof reason, "ended with exit status %d before the end of the script", end->code);
    }
    if (reason[0] != '\0') {
        t->file = run->files->paths[end->index];
        print_line(t, NULL, reason, NULL, 0.0);
    }
    return true;
}

static int sum_up(const file_list *list, const tally *tallies) {
    tally sum = {0};
    for (size_t i = 0; i < list->count; i++) {
        sum.passed += tallies[i].passed;
        sum.failed += tallies[i].failed;
        sum.skipped += tallies[i].skipped;
    }
    printf("%d passed, %d failed", sum.passed, sum.failed);
    if (sum.skipped > 0) {
        printf(", %d skipped", sum.skipped);
    }
    putchar('\n');
    if (list->broken || fflush(stdout) != 0) {
        return CLI_BAD_INPUT;
    }
    return sum.failed > 0 ? CLI_CHECK_FAILED : CLI_DONE;
}

static int run_all(const file_list *list, const char *pattern, int32_t workers) {
    size_t size = (list->count + 1) * sizeof(tally);
    tally *tallies = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (tallies == MAP_FAILED) {
        return cli_fail(list->command, "out of memory");
    }
    for (size_t i = 0; i < list->count; i++) {
        tallies[i].pattern = pattern;
    }
    test_run run = {list, tallies};
    cli_jobs jobs = {
        .count = (int32_t)list->count,
        .at_once = workers,
        .limit_s = (double)INFINITY,
        .work = run_child,
        .done = print_end,
        .user = &run,
    };
    stn_error err = {0};
    int exit = cli_jobs_run(&jobs, &err) == STN_OK ? sum_up(list, tallies) : cli_fail_status(list->command, &err);
    munmap(tallies, size);
    return exit;
}

int cmd_test(int argc, char **argv) {
    const char *pattern = NULL;
    int32_t workers = 1;
    const cli_option options[] = {
        {"pattern", 'k', CLI_TEXT, "TEXT", "only tests whose name contains it", &pattern},
        {"jobs", 'j', CLI_INT, "N", "files at a time; 1", &workers},
    };
    const cli_command command = {
        "test",
        "PATH...",
        "Runs scripted tests: files, or all *.lua below folders but those in lib/. The last line counts "
        "them.",
        options,
        STN_COUNT(options),
        1,
        1 << 20};
    cli_list words;
    int status = cli_parse(&command, argc, argv, &words);
    if (status != CLI_PROCEED) {
        return status;
    }
    file_list list = {.command = &command};
    for (int32_t i = 0; i < words.count; i++) {
        add_path(&list, words.items[i]);
    }
    status =
        workers < 1 ? cli_fail(&command, "--jobs %d: must be at least 1", workers) : run_all(&list, pattern, workers);
    clear_files(&list);
    cli_list_clear(&words);
    return status;
}
