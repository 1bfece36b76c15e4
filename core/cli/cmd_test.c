// SPDX-License-Identifier: Apache-2.0
// stiction test PATH...: runs scripted tests, each file in a fresh Lua state and a process of its own: a crash is a
// failed test like any other.
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/commands.h"
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

/// The files, in the order in which their results are printed.
typedef struct file_list {
    const cli_command *command;
    char **paths;
    size_t count, capacity;
    bool broken; // a path that cannot be read
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

static void add_path(file_list *list, const char *path) {
    struct stat what;
    if (stat(path, &what) != 0) {
        break_off(list, path, strerror(errno));
    } else if (S_ISDIR(what.st_mode)) {
        add_folder(list, path);
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

/// A file that runs or has run: its output waits for its turn to be printed.
typedef struct job {
    pid_t process; // 0: not begun or done
    FILE *output;
    int status;
} job;

/// In the child: runs the file, counts in memory shared with the parent.
static void run_child(const char *path, tally *t, FILE *output) {
    stn_error err = {0};
    dup2(fileno(output), STDOUT_FILENO);
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL); // a test without end does not outlive the command
#endif
    if (stn_context_create(NULL, &t->context, &err) < 0) {
        t->file = path;
        print_line(t, NULL, err.text, NULL, 0.0);
    } else {
        run_file(t, path);
    }
    stn_context_destroy(t->context);
    fflush(NULL);
    t->done = true;
    _exit(0);
}

static bool begin_job(job *j, const char *path, tally *t) {
    j->output = tmpfile();
    if (j->output == NULL) {
        return false;
    }
    fflush(NULL);
    j->process = fork();
    if (j->process == 0) {
        run_child(path, t, j->output);
    }
    return j->process > 0;
}

/// Waits for any child and notes how it ended.
static void await_job(job *jobs, size_t count) {
    int status = 0;
    pid_t process = waitpid(-1, &status, 0);
    for (size_t i = 0; i < count; i++) {
        if (process > 0 && jobs[i].process == process) {
            jobs[i].process = 0;
            jobs[i].status = status;
        }
    }
}

static void print_job(job *j, const char *path, tally *t) {
    char text[4096];
    rewind(j->output);
    for (size_t size = fread(text, 1, sizeof text, j->output); size > 0;
         size = fread(text, 1, sizeof text, j->output)) {
        fwrite(text, 1, size, stdout);
    }
    fclose(j->output);
    if (!WIFEXITED(j->status) || WEXITSTATUS(j->status) != 0 || !t->done) {
        char reason[96];
        if (WIFSIGNALED(j->status)) {
            snprintf(reason, sizeof reason, "ended by signal %d (%s)", WTERMSIG(j->status),
                     strsignal(WTERMSIG(j->status)));
        } else {
            snprintf(reason, sizeof reason, "ended with exit status %d before the end of the script",
                     WEXITSTATUS(j->status));
        }
        t->file = path;
        print_line(t, NULL, reason, NULL, 0.0);
    }
    fflush(stdout);
}

/// Runs every file, at most `workers` at a time; false when a process cannot be made.
static bool run_files(const file_list *list, int32_t workers, tally *tallies, job *jobs) {
    size_t begun = 0, printed = 0;
    int32_t running = 0;
    while (printed < list->count) {
        if (begun < list->count && running < workers) {
            if (!begin_job(&jobs[begun], list->paths[begun], &tallies[begun])) {
                return false;
            }
            begun++;
            running++;
            continue;
        }
        await_job(jobs, begun);
        running--;
        while (printed < begun && jobs[printed].process == 0) {
            print_job(&jobs[printed], list->paths[printed], &tallies[printed]);
            printed++;
        }
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
    job *jobs = calloc(list->count + 1, sizeof *jobs);
    int exit = CLI_BAD_INPUT;
    if (tallies == MAP_FAILED || jobs == NULL) {
        free(jobs);
        return cli_fail(list->command, "out of memory");
    }
    for (size_t i = 0; i < list->count; i++) {
        tallies[i].pattern = pattern;
    }
    if (run_files(list, workers, tallies, jobs)) {
        exit = sum_up(list, tallies);
    } else {
        cli_fail(list->command, "cannot start a process: %s", strerror(errno));
    }
    free(jobs);
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
