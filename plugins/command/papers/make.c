// SPDX-License-Identifier: Apache-2.0
#include "make.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <stiction/output.h>
#include <stiction/plugin.h>

#include "common/jobs.h"
#include "common/print.h"

enum { MOST_WORDS = 256, LARGEST = 1 << 24 };

typedef struct todo_run {
    int32_t paper, run;
} todo_run;

/// The runs that are to be made, in order.
typedef struct todo {
    paper_report *report;
    todo_run *runs;
    int32_t count;
    stn_error *err;
    stn_status status;
} todo;

static void path_of(const paper_report *r, int32_t paper, int32_t run, const char *ending, char path[STN_INPUT_PATH]) {
    snprintf(path, STN_INPUT_PATH, "%s/%s.%s%s", r->keep, r->papers[paper].name, r->papers[paper].runs[run].id, ending);
}

/// What decides what a run says: its words, its script, and what runs it.
static stn_status key_of(const paper_report *r, int32_t paper, int32_t run, char key[32], stn_error *err) {
    const struct paper_data *p = &r->papers[paper];
    char script[2 * STN_INPUT_PATH], *bytes = NULL;
    size_t size = 0;
    snprintf(script, sizeof script, "%s/%s", p->folder, p->runs[run].script);
    stn_status status = stn_read_regular(r->context, script, 0, LARGEST, &bytes, &size, err);
    if (status != STN_OK) {
        return status;
    }
    uint64_t hash = stn_hash(0, bytes, size);
    stn_release(r->context, bytes);
    const cJSON *word;
    cJSON_ArrayForEach(word, p->runs[run].set) {
        hash = stn_hash(hash, word->valuestring, strlen(word->valuestring) + 1);
    }
    cJSON_ArrayForEach(word, p->runs[run].options) {
        hash = stn_hash(hash, word->valuestring, strlen(word->valuestring) + 1);
    }
    hash = stn_hash(hash, r->commit, strlen(r->commit));
    hash = stn_hash(hash, STN_VERSION, strlen(STN_VERSION));
    snprintf(key, 32, "%016llx", (unsigned long long)hash);
    return STN_OK;
}

/// The answer of a run that is there and still holds; NULL: there is none, or the run failed.
static cJSON *find_answer(const paper_report *r, int32_t paper, int32_t run, const char *key) {
    char path[STN_INPUT_PATH], *bytes = NULL;
    size_t size = 0;
    stn_error ignored;
    path_of(r, paper, run, ".json", path);
    if (stn_read_regular(r->context, path, 0, LARGEST, &bytes, &size, &ignored) != STN_OK) {
        return NULL;
    }
    cJSON *answer = cJSON_Parse(bytes);
    stn_release(r->context, bytes);
    const char *known = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(answer, "key"));
    if (known == NULL || strcmp(known, key) != 0 || cJSON_IsString(cJSON_GetObjectItemCaseSensitive(answer, "error"))) {
        cJSON_Delete(answer);
        return NULL;
    }
    return answer;
}

// --------------------------------------------------------------------------------------------------------------- jobs

/// In the child: becomes `stiction run`.
static int work(void *user, int32_t index) {
    const todo *t = user;
    const todo_run *at = &t->runs[index];
    const struct paper_data *p = &t->report->papers[at->paper];
    const paper_run *run = &p->runs[at->run];
    char script[2 * STN_INPUT_PATH], plot[STN_INPUT_PATH + 64], chart[STN_INPUT_PATH];
    snprintf(script, sizeof script, "%s/%s", p->folder, run->script);
    char *words[MOST_WORDS] = {(char *)"stiction", (char *)"run", script, (char *)"--quiet", (char *)"--json"};
    int32_t count = 5;
    const cJSON *word;
    cJSON_ArrayForEach(word, run->options) {
        if (count < MOST_WORDS - 4) {
            words[count++] = word->valuestring;
        }
    }
    cJSON_ArrayForEach(word, run->set) {
        if (count < MOST_WORDS - 4) {
            words[count++] = (char *)"--set";
            words[count++] = word->valuestring;
        }
    }
    if (run->plot != NULL) {
        path_of(t->report, at->paper, at->run, ".svg", chart);
        snprintf(plot, sizeof plot, "%s=%s", run->plot, chart);
        words[count++] = (char *)"--set";
        words[count++] = plot;
    }
    execv("/proc/self/exe", words);
    fprintf(stderr, "the program cannot be run again: %s\n", strerror(errno));
    return STN_EXIT_BAD_INPUT;
}

/// All of a job's output as text; released with stn_release. NULL: out of memory.
static char *text_of(stn_context *context, FILE *file) {
    char *text = stn_allocate(context, LARGEST + 1, 1);
    if (text != NULL) {
        text[fread(text, 1, LARGEST, file)] = '\0';
    }
    return text;
}

/// The last line of what a job wrote to stderr that names the script's error, or how it ended.
static void reason_of(const cli_job_end *end, const char *said, char *reason, size_t size) {
    const char *line = strstr(said, "stiction run: ");
    if (end->outcome == CLI_JOB_TIMEOUT) {
        snprintf(reason, size, "did not end within %.0f s", end->seconds);
    } else if (end->outcome == CLI_JOB_CRASHED) {
        snprintf(reason, size, "crashed by signal %d", end->code);
    } else if (line != NULL) {
        line += strlen("stiction run: ");
        snprintf(reason, size, "%.*s", (int)strcspn(line, "\n"), line);
    } else {
        snprintf(reason, size, "ended with status %d and no result", end->code);
    }
}

static bool done(void *user, const cli_job_end *end) {
    todo *t = user;
    const paper_report *r = t->report;
    const todo_run *at = &t->runs[end->index];
    char *output = text_of(r->context, end->output), *said = text_of(r->context, end->error), key[32] = "";
    if (output == NULL || said == NULL) {
        t->status = stn_fail(t->err, STN_ERR_MEMORY, "out of memory");
    } else {
        t->status = key_of(r, at->paper, at->run, key, t->err);
    }
    if (t->status == STN_OK) {
        cJSON *answer = cJSON_CreateObject(), *run = cJSON_Parse(output);
        cli_json_add_text(answer, "key", key);
        cli_json_add_real(answer, "wall_s", end->seconds);
        char reason[512] = "", path[STN_INPUT_PATH];
        if (run == NULL || end->outcome != CLI_JOB_EXITED ||
            (end->code != STN_EXIT_DONE && end->code != STN_EXIT_CHECK_FAILED)) {
            reason_of(end, said, reason, sizeof reason);
        }
        cli_json_add_text(answer, "error", reason[0] != '\0' ? reason : NULL);
        cJSON_AddItemToObject(answer, "run", run != NULL ? run : cJSON_CreateNull());
        char *text = cJSON_PrintUnformatted(answer);
        path_of(r, at->paper, at->run, ".json", path);
        t->status = stn_output_write(path, text, strlen(text), t->err);
        cJSON_Delete(answer);
        r->made[at->paper][at->run].answer = cJSON_Parse(text); // as it is read another time
        cJSON_free(text);
        r->made[at->paper][at->run].known = true;
    }
    stn_release(r->context, output);
    stn_release(r->context, said);
    return t->status == STN_OK;
}

static void progress(void *user, int32_t ended) {
    todo *t = user;
    if (!t->report->quiet) {
        cli_progress_count(&t->report->progress, ended, t->count, "runs");
    }
}

// ------------------------------------------------------------------------------------------------------------- commit

typedef struct git_answer {
    const char *root;
    char *commit;
    size_t size;
} git_answer;

static int ask_git(void *user, int32_t index) {
    (void)index;
    const char *root = ((git_answer *)user)->root;
    execlp("git", "git", "-C", root, "describe", "--always", "--dirty", "--abbrev=12", (char *)NULL);
    return STN_EXIT_BAD_INPUT;
}

static bool hear_git(void *user, const cli_job_end *end) {
    git_answer *git = user;
    if (end->outcome == CLI_JOB_EXITED && end->code == 0) {
        git->commit[fread(git->commit, 1, git->size - 1, end->output)] = '\0';
        git->commit[strcspn(git->commit, "\n")] = '\0';
    }
    return true;
}

static stn_status find_commit(paper_report *r, stn_error *err) {
    char root[STN_INPUT_PATH];
    git_answer git = {root, r->commit, sizeof r->commit};
    const cli_jobs jobs = {
        .count = 1, .at_once = 1, .limit_s = 10.0, .work = ask_git, .done = hear_git, .survives = true, .user = &git};
    return stn_shipped_folder(root) ? cli_jobs_run(&jobs, err) : STN_OK;
}

// --------------------------------------------------------------------------------------------------------------- make

stn_status paper_make(paper_report *r, stn_error *err) {
    if (mkdir(r->keep, 0777) != 0 && errno != EEXIST) {
        return stn_fail(err, STN_ERR_FILE, "%s: cannot be made: %s", r->keep, strerror(errno));
    }
    stn_status status = find_commit(r, err);
    int32_t most = 1;
    for (int32_t p = 0; p < r->paper_count; p++) {
        most += r->papers[p].run_count;
    }
    todo_run *runs = stn_allocate(r->context, (size_t)most, sizeof *runs);
    if (runs == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    todo t = {.report = r, .runs = runs, .err = err};
    for (int32_t p = 0; p < r->paper_count && status == STN_OK; p++) {
        for (int32_t k = 0; k < r->papers[p].run_count && status == STN_OK; k++) {
            paper_made *made = &r->made[p][k];
            char key[32];
            status = key_of(r, p, k, key, err);
            made->asked = r->full || !r->papers[p].runs[k].full;
            made->answer = status == STN_OK && !r->fresh ? find_answer(r, p, k, key) : NULL;
            made->known = made->before = made->answer != NULL;
            if (r->papers[p].runs[k].plot != NULL) {
                path_of(r, p, k, ".svg", made->chart);
            }
            if (made->asked && !made->known) {
                runs[t.count++] = (todo_run){p, k};
            }
        }
    }
    if (status == STN_OK && t.count > 0) {
        const cli_jobs jobs = {.count = t.count,
                               .at_once = r->jobs,
                               .limit_s = r->timeout,
                               .work = work,
                               .done = done,
                               .progress = progress,
                               .survives = true,
                               .user = &t};
        status = cli_jobs_run(&jobs, err);
        cli_progress_end(&r->progress);
        status = status == STN_OK ? t.status : status;
    }
    stn_release(r->context, runs);
    return status;
}
