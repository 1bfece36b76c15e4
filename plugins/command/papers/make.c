// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE // dladdr, fts
#include "make.h"

#include <dlfcn.h>
#include <errno.h>
#include <fts.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <stiction/output.h>
#include <stiction/plugin.h>

#include "common/jobs.h"
#include "common/print.h"

enum { LARGEST = 1 << 24 };

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

// -------------------------------------------------------------------------------------------------------------- stamp

static int by_name(const FTSENT **a, const FTSENT **b) {
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

/// Adds the files at a path and below it, by name, size and time of change.
static uint64_t add_files(uint64_t hash, char *path) {
    char *const roots[] = {path, NULL};
    FTS *tree = fts_open(roots, FTS_LOGICAL | FTS_NOCHDIR, by_name);
    for (FTSENT *file; tree != NULL && (file = fts_read(tree)) != NULL;) {
        if (file->fts_info == FTS_F && strcmp(file->fts_name, "paper.json") != 0) { // of it the key has what counts
            const struct stat *is = file->fts_statp;
            const int64_t facts[3] = {(int64_t)is->st_size, (int64_t)is->st_mtim.tv_sec, (int64_t)is->st_mtim.tv_nsec};
            hash = stn_hash(hash, file->fts_path, strlen(file->fts_path) + 1);
            hash = stn_hash(hash, facts, sizeof facts);
        }
    }
    if (tree != NULL) {
        fts_close(tree);
    }
    return hash;
}

/// Of all that answers depend on besides their words: scripts, models, plugins and the library.
static uint64_t find_stamp(void) {
    char root[STN_INPUT_PATH], path[2 * STN_INPUT_PATH];
    uint64_t hash = stn_hash(0, STN_VERSION, strlen(STN_VERSION));
    static const char *const folders[] = {"scripts", "models"};
    for (int32_t i = 0; i < STN_COUNT(folders) && stn_shipped_folder(root); i++) {
        snprintf(path, sizeof path, "%s/%s", root, folders[i]);
        hash = add_files(hash, path);
    }
    static const char own = 0; // of this plugin, which lies beside the others
    stn_status (*const of_library)(const char *, const void *, size_t, stn_error *) = stn_output_write;
    const void *addresses[] = {&own, NULL};
    memcpy(&addresses[1], &of_library, sizeof addresses[1]); // a function's address as one of data
    for (int32_t i = 0; i < STN_COUNT(addresses); i++) {
        Dl_info found;
        if (dladdr(addresses[i], &found) != 0 && found.dli_fname != NULL) {
            snprintf(path, sizeof path, "%s", found.dli_fname);
            char *slash = strrchr(path, '/');
            if (i == 0 && slash != NULL) {
                *slash = '\0';
            }
            hash = add_files(hash, path);
        }
    }
    return hash;
}

static void key_of(const paper_report *r, int32_t paper, int32_t run, char key[32]) {
    const paper_run *of = &r->papers[paper].runs[run];
    const cJSON *const lists[] = {of->set, of->options}, *word;
    uint64_t hash = stn_hash(r->papers[paper].stamp, of->script, strlen(of->script) + 1);
    for (int32_t i = 0; i < STN_COUNT(lists); i++) {
        cJSON_ArrayForEach(word, lists[i]) {
            hash = stn_hash(hash, word->valuestring, strlen(word->valuestring) + 1);
        }
    }
    snprintf(key, 32, "%016llx", (unsigned long long)hash);
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

/// In the child: puts this program's folder before others, so that scripts which call `stiction` call this one.
static void find_itself_first(void) {
    char own[PATH_MAX], path[2 * PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    char *end = length > 0 ? memrchr(own, '/', (size_t)length) : NULL;
    const char *others = getenv("PATH");
    if (end != NULL) {
        *end = '\0';
        const int size =
            snprintf(path, sizeof path, "%s%s%s", own, others != NULL ? ":" : "", others != NULL ? others : "");
        if (size > 0 && (size_t)size < sizeof path) {
            (void)setenv("PATH", path, 1);
        }
    }
}

/// In the child: becomes `stiction run`.
static int work(void *user, int32_t index) {
    const todo *t = user;
    const todo_run *at = &t->runs[index];
    const paper_data *p = &t->report->papers[at->paper];
    const paper_run *run = &p->runs[at->run];
    char script[2 * STN_INPUT_PATH], plot[STN_INPUT_PATH + 64], chart[STN_INPUT_PATH];
    snprintf(script, sizeof script, "%s/%s", p->folder, run->script);
    const int32_t most = 8 + cJSON_GetArraySize(run->options) + 2 * cJSON_GetArraySize(run->set);
    char **words = stn_allocate(t->report->context, (size_t)most, sizeof *words);
    if (words == NULL) {
        fprintf(stderr, "out of memory\n");
        return STN_EXIT_BAD_INPUT;
    }
    int32_t count = 0;
    const char *const first[] = {"stiction", "run", script, "--quiet", "--json"};
    for (int32_t i = 0; i < STN_COUNT(first); i++) {
        words[count++] = (char *)first[i];
    }
    const cJSON *word;
    cJSON_ArrayForEach(word, run->options) {
        words[count++] = word->valuestring;
    }
    cJSON_ArrayForEach(word, run->set) {
        words[count++] = (char *)"--set";
        words[count++] = word->valuestring;
    }
    if (run->plot != NULL) {
        path_of(t->report, at->paper, at->run, ".svg", chart);
        (void)unlink(chart); // that of another run
        snprintf(plot, sizeof plot, "%s=%s", run->plot, chart);
        words[count++] = (char *)"--set";
        words[count++] = plot;
    }
    find_itself_first();
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
        key_of(r, at->paper, at->run, key);
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
    if (!r->kept && mkdir(r->keep, 0777) != 0 && errno != EEXIST) {
        return stn_fail(err, STN_ERR_FILE, "%s: cannot be made: %s", r->keep, strerror(errno));
    }
    stn_status status = find_commit(r, err);
    const uint64_t stamp = find_stamp();
    int32_t most = 1;
    for (int32_t p = 0; p < r->paper_count; p++) {
        r->papers[p].stamp = add_files(stamp, r->papers[p].folder); // elsewhere with --from
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
            key_of(r, p, k, key);
            made->answer = r->fresh ? NULL : find_answer(r, p, k, key);
            if (r->papers[p].runs[k].plot != NULL) {
                path_of(r, p, k, ".svg", made->chart);
            }
            if (made->answer == NULL && !r->kept && (r->full || !r->papers[p].runs[k].full)) {
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
                               .any_order = true,
                               .survives = true,
                               .user = &t};
        status = cli_jobs_run(&jobs, err);
        cli_progress_end(&r->progress);
        status = status == STN_OK ? t.status : status;
    }
    stn_release(r->context, runs);
    return status;
}
