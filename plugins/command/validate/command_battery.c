// SPDX-License-Identifier: Apache-2.0
// What every word of the command must do with its words: tell what it takes, refuse what it does not know in one line,
// return, and leave nothing behind. It is called as the driver calls it, in a process of its own in an empty folder.
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stiction/command.h>

#include "guard.h"

enum { MOST_WORDS = 72, MOST_SAID = 1 << 16, RETURNED = 77 };

static const char unknown_option[] = "--no-option-has-this-name";

/// A call and what came of it.
typedef struct answer {
    int status;                // what run returned
    bool returned;             // it came back; otherwise `ended` is how the process did
    int ended;                 // as waitpid has it
    bool changed;              // the words themselves were written
    int32_t descriptors;       // more that are open than before
    char guarded[320];         // what the guard saw in that process, "": nothing
    size_t out_size, err_size; // cut at MOST_SAID - 1
    char out[MOST_SAID], err[MOST_SAID];
} answer;

/// What the process of the call tells through memory that both share.
typedef struct report {
    int status;
    bool returned, changed;
    int32_t descriptors;
    char guarded[320];
} report;

static int32_t count_descriptors(void) {
    int32_t count = 0;
    for (int i = 0; i < 256; i++) {
        count += fcntl(i, F_GETFD) >= 0;
    }
    return count;
}

/// In the process of the call. The words lie in memory of their own; what stands behind the NULL must not be read.
static void call_word(validate_trial *trial, const char *const *words, int32_t count, int32_t times, report *told) {
    static char texts[MOST_WORDS][64];
    char *argv[MOST_WORDS + 2];
    for (int32_t i = 0; i < count; i++) {
        snprintf(texts[i], sizeof texts[i], "%s", words[i]);
        argv[i] = texts[i];
    }
    argv[count] = NULL;
    argv[count + 1] = (char *)1;
    stn_instance *word = trial_instance(trial, STN_KIND_COMMAND);
    guard *watch = trial->request->guard;
    if (watch != NULL) { // that of the check is of the process that started this one
        guard_begin(watch, trial->request, trial->folder);
    }
    int32_t before = count_descriptors();
    for (int32_t i = 0; i < times && word != NULL; i++) {
        stn_command_call call = {.size = sizeof call,
                                 .context = trial->request->context,
                                 .program = "stiction",
                                 .argc = count,
                                 .argv = argv};
        told->status = word->desc->ops.command->run(word->self, &call);
        fflush(NULL);
    }
    told->returned = word != NULL;
    told->descriptors = count_descriptors() - before;
    validate_result seen = {.verdict = VALIDATE_OK};
    if (watch != NULL) {
        guard_judge(watch, &seen);
        snprintf(told->guarded, sizeof told->guarded, "%.300s", seen.text);
    }
    for (int32_t i = 0; i < count; i++) {
        told->changed = told->changed || argv[i] != texts[i] || strcmp(texts[i], words[i]) != 0;
    }
    told->changed = told->changed || argv[count] != NULL;
}

static void read_back(FILE *file, char *text, size_t *size) {
    rewind(file);
    *size = fread(text, 1, MOST_SAID - 1, file);
    text[*size] = '\0';
}

/// Calls the word `times` times in one process, with stdout and stderr in files without a name.
static bool ask(validate_trial *trial, const char *const *words, int32_t count, int32_t times, answer *out) {
    int ends[2] = {-1, -1};
    FILE *said = tmpfile(), *told = tmpfile();
    *out = (answer){0};
    fflush(NULL);
    pid_t child = said != NULL && told != NULL && pipe(ends) == 0 ? fork() : -1;
    if (child == 0) {
        report r = {0};
        int in = open("/dev/null", O_RDONLY);
        close(ends[0]);
        if (in < 0 || dup2(in, STDIN_FILENO) < 0 || dup2(fileno(said), STDOUT_FILENO) < 0 ||
            dup2(fileno(told), STDERR_FILENO) < 0 || chdir(trial->folder) != 0) {
            _exit(1);
        }
        close(in);
        call_word(trial, words, count, times, &r);
        _exit(write(ends[1], &r, sizeof r) == (ssize_t)sizeof r ? RETURNED : 1);
    }
    report r = {0};
    if (child > 0) {
        close(ends[1]);
        ends[1] = -1;
        out->returned = read(ends[0], &r, sizeof r) == (ssize_t)sizeof r && r.returned;
        while (waitpid(child, &out->ended, 0) < 0 && errno == EINTR) {
        }
        out->status = r.status;
        out->changed = r.changed;
        out->descriptors = r.descriptors;
        memcpy(out->guarded, r.guarded, sizeof out->guarded);
        read_back(said, out->out, &out->out_size);
        read_back(told, out->err, &out->err_size);
    } else {
        trial_fail(trial, "the battery cannot start a process: %s", strerror(errno));
    }
    for (int i = 0; i < 2; i++) {
        if (ends[i] >= 0) {
            close(ends[i]);
        }
    }
    if (said != NULL) {
        fclose(said);
    }
    if (told != NULL) {
        fclose(told);
    }
    return child > 0;
}

static bool has_one_line(const char *text) {
    const char *end = strchr(text, '\n');
    return end != NULL && end > text && end[1] == '\0';
}

/// The first line of what it said, for a message.
static const char *first_line(char *text) {
    text[strcspn(text, "\n")] = '\0';
    return text;
}

/// It came back, and with a status that means something.
static bool returned(validate_trial *trial, const char *words, const answer *a) {
    if (!a->returned) {
        if (WIFSIGNALED(a->ended)) {
            trial_fail(trial, "%s: crashed: ended by signal %d (%s)", words, WTERMSIG(a->ended),
                       strsignal(WTERMSIG(a->ended)));
        } else {
            trial_fail(trial, "%s: ended the process with exit status %d, expected it to return", words,
                       WEXITSTATUS(a->ended));
        }
    } else if (a->guarded[0] != '\0') {
        trial_fail(trial, "%s: %s", words, a->guarded);
        trial->result.cause = VALIDATE_GUARDED;
    } else if ((a->status < STN_EXIT_DONE || a->status > STN_EXIT_SOLVER_FAILED) && a->status != STN_EXIT_INTERRUPTED) {
        trial_fail(trial, "%s: exit status %d, expected 0, 1, 2, 3 or 130", words, a->status);
    }
    return !trial->decided;
}

static answer *new_answer(validate_trial *trial) {
    answer *a = calloc(1, sizeof *a);
    if (a == NULL) {
        trial_fail(trial, "the battery is out of memory");
    }
    return a;
}

static const char *word_of(const validate_trial *trial) {
    return trial->request->plugin->desc->id;
}

// ------------------------------------------------------------------------------------------------------------- checks

static void check_declares(validate_trial *trial) {
    const stn_plugin_desc *desc = trial->request->plugin->desc;
    if (desc->ops.command == NULL || desc->ops.command->run == NULL) {
        trial_fail(trial, "run is missing");
    } else if (desc->summary[0] == '\0' || strchr(desc->summary, '\n') != NULL) {
        trial_fail(trial, "summary \"%s\", expected one line for the list of words", desc->summary);
    } else if (strcmp(desc->id, "help") == 0) {
        trial_fail(trial, "\"stiction help\" is the driver's own; expected another id");
    }
    trial_ok(trial, "%s: %s", desc->id, desc->summary);
}

static void check_help(validate_trial *trial) {
    answer *a = new_answer(trial);
    const char *forms[] = {"--help", "-h"};
    size_t size = 0;
    for (int32_t i = 0; i < STN_COUNT(forms) && a != NULL && !trial->decided; i++) {
        const char *words[] = {word_of(trial), forms[i]};
        if (!ask(trial, words, 2, 1, a) || !returned(trial, forms[i], a)) {
            break;
        }
        if (a->status != STN_EXIT_DONE || a->err_size > 0) {
            trial_fail(trial, "%s: exit status %d, on stderr \"%.200s\"; expected 0 and nothing there", forms[i],
                       a->status, first_line(a->err));
        } else if (a->out_size == 0 || a->out[a->out_size - 1] != '\n' || strstr(a->out, word_of(trial)) == NULL) {
            trial_fail(trial, "%s: %zu bytes on stdout, expected whole lines with the word %s", forms[i], a->out_size,
                       word_of(trial));
        }
        size = a->out_size;
    }
    trial_ok(trial, "--help and -h: %zu bytes on stdout", size);
    free(a);
}

static void check_unknown_option(validate_trial *trial) {
    answer *a = new_answer(trial);
    const char *words[] = {word_of(trial), unknown_option};
    if (a != NULL && ask(trial, words, 2, 1, a) && returned(trial, unknown_option, a)) {
        if (a->status != STN_EXIT_BAD_INPUT) {
            trial_fail(trial, "%s: exit status %d, expected 2", unknown_option, a->status);
        } else if (a->out_size > 0) {
            trial_fail(trial, "%s: \"%.200s\" on stdout, expected nothing there", unknown_option, first_line(a->out));
        } else if (!has_one_line(a->err) || strstr(a->err, unknown_option + 2) == NULL) {
            trial_fail(trial, "%s: on stderr \"%.200s\", expected one line that names the option", unknown_option,
                       first_line(a->err));
        }
        trial_ok(trial, "%s", first_line(a->err));
    }
    free(a);
}

static void check_many_words(validate_trial *trial) {
    answer *a = new_answer(trial);
    const char *words[MOST_WORDS] = {word_of(trial)};
    for (int32_t i = 1; i < MOST_WORDS; i++) {
        words[i] = "no_file_has_this_name";
    }
    if (a != NULL && ask(trial, words, MOST_WORDS, 1, a) && returned(trial, "71 words that name nothing", a)) {
        if (a->status >= STN_EXIT_BAD_INPUT && a->err_size == 0) {
            trial_fail(trial, "71 words that name nothing: exit status %d, and stderr does not say why", a->status);
        }
        trial_ok(trial, "71 words that name nothing: exit status %d: %.200s", a->status, first_line(a->err));
    }
    free(a);
}

static void check_twice(validate_trial *trial) {
    answer *once = new_answer(trial), *twice = new_answer(trial);
    const char *words[] = {word_of(trial), "--help"};
    if (once != NULL && twice != NULL && ask(trial, words, 2, 1, once) && ask(trial, words, 2, 2, twice) &&
        returned(trial, "--help twice", twice)) {
        if (twice->out_size != 2 * once->out_size || memcmp(twice->out, once->out, once->out_size) != 0 ||
            memcmp(twice->out + once->out_size, once->out, once->out_size) != 0) {
            trial_fail(trial, "--help twice in one process: %zu bytes, expected twice the %zu of one", twice->out_size,
                       once->out_size);
        }
        trial_ok(trial, "--help twice in one process says the same twice");
    }
    free(once);
    free(twice);
}

/// Files in the folder of the check.
static int32_t count_files(const char *folder) {
    int32_t count = 0;
    DIR *stream = opendir(folder);
    for (struct dirent *item = NULL; stream != NULL && (item = readdir(stream)) != NULL;) {
        count += strcmp(item->d_name, ".") != 0 && strcmp(item->d_name, "..") != 0;
    }
    if (stream != NULL) {
        closedir(stream);
    }
    return count;
}

static void check_leaves_nothing(validate_trial *trial) {
    answer *a = new_answer(trial);
    const char *options[] = {"--help", unknown_option};
    for (int32_t i = 0; i < STN_COUNT(options) && a != NULL && !trial->decided; i++) {
        const char *words[] = {word_of(trial), options[i]};
        if (!ask(trial, words, 2, 1, a) || !returned(trial, options[i], a)) {
            break;
        }
        int32_t files = count_files(trial->folder);
        if (files > 0) {
            trial_fail(trial, "%s: %d files in the current folder, expected none", options[i], files);
        } else if (a->descriptors != 0) {
            trial_fail(trial, "%s: %d descriptors more than before are open", options[i], a->descriptors);
        } else if (a->changed) {
            trial_fail(trial, "%s: the words that it was given were written, expected them as they were", options[i]);
        }
    }
    trial_ok(trial, "no files, no open descriptors, the words as they were");
    free(a);
}

static const validate_check checks[] = {
    {"declares what it is", "run, and a summary of one line, command.h", check_declares},
    {"says what it takes", "--help and -h: the text on stdout, return STN_EXIT_DONE", check_help},
    {"refuses what it does not know",
     "an unknown option: one line on stderr that names it, nothing on stdout, return STN_EXIT_BAD_INPUT",
     check_unknown_option},
    {"any number of words", "look at argc; the entry behind the last word is NULL", check_many_words},
    {"runs twice", "keep nothing in static data", check_twice},
    {"leaves nothing behind", "close what is opened, write no file that nobody asked for, leave argv as it is",
     check_leaves_nothing},
};

const validate_battery validate_commands = {STN_KIND_COMMAND, STN_COUNT(checks), checks};
