// SPDX-License-Identifier: Apache-2.0
// Our solvers of Coulomb's law beside Siconos' on the same problem files: W, q and mu are what our reader makes of a
// file, the judge is our certificate (natural_scaled), starts are cold, everything runs on one thread, each solver with
// each problem in a process of its own.
//
// Ours is timed twice: whole, from the problem to its solution, and the solvers' own calls alone, over all islands and
// with W and b there, which is what Siconos is timed for.
//
// Every solver is asked for smaller and smaller tolerances of its own, and ours for more and more iterations, until the
// judge sees the residual that is asked for; what counts is the time of that call alone, the median of several where
// calls are short. Who has not come there in twice the time of the fastest of its side so far is no longer waited for.
#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>

#include "bench_row.h"
#include "bench_time.h"
#include "common/jobs.h"
#include "common/progress.h"
#include "common/solve_problem.h"
#include "peers/siconos.h"

enum { MOST_OURS = 32, MOST_PROBLEMS = 1000, MOST_REPEATS = 9 };
static const double TARGET = 1e-8, LEAST_MS = 200.0, REPEAT_MS = 30.0;

/// One solver with one problem; lies in memory that processes share.
typedef struct entry {
    double reach_ms;              // NaN: it does not come there
    double call_ms;               // the solver's own call alone; of Siconos the same
    double tolerance, iterations; // of the call that did
    double residual;              // the best that was seen, NaN: none
    double residual_ms;
    char note[96];
} entry;

typedef struct bench {
    const cli_command *command;
    stn_context *context;
    double timeout_s;
    const char *csv;
    cli_list only; // solvers by name; all when there are none
    char *paths[MOST_PROBLEMS];
    int32_t contacts[MOST_PROBLEMS];
    int32_t problem_count, our_count, solver_count; // all solvers: Siconos' first
    cli_settings settings[MOST_OURS][3];
    cli_solver ours[MOST_OURS];
    const char *our_names[MOST_OURS];
    entry *entries; // problem by problem
    int32_t loaded; // the problem in memory, -1 for none
    cli_problem problem;
    cli_progress progress;
} bench;

static const char *solver_name(const bench *b, int32_t solver) {
    return solver < siconos_solver_count ? siconos_solvers[solver].name : b->our_names[solver - siconos_solver_count];
}

/// The entry of one side, Siconos or ours, with the least of `figure`; NULL when none has one.
static const entry *least(const bench *b, int32_t problem, bool ours, double (*figure)(const entry *)) {
    const entry *best = NULL, *all = &b->entries[problem * b->solver_count];
    int32_t from = ours ? siconos_solver_count : 0, to = ours ? b->solver_count : siconos_solver_count;
    for (int32_t i = from; i < to; i++) {
        if (!isnan(figure(&all[i])) && (best == NULL || figure(&all[i]) < figure(best))) {
            best = &all[i];
        }
    }
    return best;
}

static double reach_of(const entry *e) {
    return e->reach_ms;
}

static double call_of(const entry *e) {
    return e->call_ms;
}

static double residual_of(const entry *e) {
    return e->residual;
}

// ------------------------------------------------------------------------------------------------------ in the child

/// What a solve works with, and what the judge needs.
typedef struct trial {
    bench *b;
    entry *entry;
    stn_inverse *inverse;
    stn_arena *arena, *scratch;
    stn_delassus delassus;
    double *v, *gamma, *reaction;
    int32_t solver;
    double limit_ms;
    double call_ms; // of the last solve, the solver's own part
} trial;

static sigjmp_buf out_of_time;

static void leave(int signal_number) {
    (void)signal_number;
    siglongjmp(out_of_time, 1);
}

static void set_timer(double ms) {
    struct itimerval timer = {.it_value = {(time_t)(ms / 1e3), (suseconds_t)(1e3 * fmod(ms, 1e3))}};
    setitimer(ITIMER_REAL, &timer, NULL);
}

/// natural_scaled of gamma.
static double judge(trial *t, const double *gamma) {
    const stn_problem *p = &t->b->problem.problem;
    stn_certificate certificate;
    for (int32_t i = 0; i < p->row_count; i++) {
        if (!isfinite(gamma[i])) {
            return (double)NAN;
        }
    }
    if (p->form == STN_FORM_GLOBAL) {
        stn_inverse_velocity(t->inverse, p, gamma, t->v);
    }
    stn_arena_reset(t->scratch);
    stn_status status =
        stn_certify(p, t->v, gamma, NULL, NULL, t->inverse, STN_CERTIFICATE_SCALED, t->scratch, &certificate, NULL);
    return status < 0 ? (double)NAN : certificate.natural_scaled;
}

/// Notes a residual. True: it is small enough.
static bool note(trial *t, double residual, double ms) {
    if (!isnan(residual) && !(t->entry->residual <= residual)) {
        t->entry->residual = residual;
        t->entry->residual_ms = ms;
    }
    return residual <= TARGET;
}

/// Medians of the solve that came there, and of repetitions if it is short.
static void note_reached(trial *t, double first_ms, double (*solve)(trial *, double, int32_t *), double tolerance,
                         int32_t iterations) {
    double times[MOST_REPEATS] = {first_ms}, calls[MOST_REPEATS] = {t->call_ms};
    int32_t wanted = (int32_t)fmin(REPEAT_MS / fmax(first_ms, 1e-3), MOST_REPEATS) | 1, ignored;
    for (int32_t i = 1; i < wanted; i++) {
        times[i] = solve(t, tolerance, &ignored);
        calls[i] = t->call_ms;
    }
    t->entry->tolerance = tolerance;
    t->entry->iterations = iterations;
    t->entry->reach_ms = median(times, wanted);
    t->entry->call_ms = median(calls, wanted);
}

// Siconos

static double solve_siconos(trial *t, double tolerance, int32_t *iterations) {
    t->call_ms = siconos_solve(&t->delassus, &siconos_solvers[t->solver], tolerance, t->reaction, iterations);
    return t->call_ms;
}

static void run_siconos(trial *t) {
    signal(SIGALRM, leave);
    for (volatile double tolerance = 1e-4; tolerance > 1e-17; tolerance *= 1e-2) {
        int32_t iterations = 0;
        if (sigsetjmp(out_of_time, 1) != 0) {
            siconos_impulses(&t->delassus, t->reaction, t->gamma);
            note(t, judge(t, t->gamma), t->limit_ms);
            snprintf(t->entry->note, sizeof t->entry->note, "stopped after %.3g s", 1e-3 * t->limit_ms);
            return;
        }
        set_timer(t->limit_ms);
        double ms = solve_siconos(t, tolerance, &iterations);
        set_timer(0.0);
        siconos_impulses(&t->delassus, t->reaction, t->gamma);
        if (note(t, judge(t, t->gamma), ms)) {
            note_reached(t, ms, solve_siconos, tolerance, iterations);
            return;
        }
    }
    snprintf(t->entry->note, sizeof t->entry->note, "no smaller residual at any tolerance");
}

// ours

/// A solver whose calls are timed: the plugin's own, with another `solve` in front.
typedef struct timed_solver {
    stn_instance instance;
    stn_plugin_desc desc;
    stn_solver_ops ops;
} timed_solver;

static struct {
    const stn_solver_ops *ops; // the plugin's
    double us;                 // in it since it was set to 0
} timed_calls;

static stn_status timed_solve(void *self, const stn_problem *problem, const stn_solve_control *control,
                              stn_solution *solution, stn_solve_info *info, stn_error *err) {
    double start = now_us();
    stn_status status = timed_calls.ops->solve(self, problem, control, solution, info, err);
    timed_calls.us += now_us() - start;
    return status;
}

static void time_calls(timed_solver *timed, const stn_instance *solver) {
    timed->instance = *solver;
    timed->desc = *solver->desc;
    timed_calls.ops = solver->desc->ops.solver;
    timed->ops = (stn_solver_ops){0}; // a plugin may know fewer slots than we do
    memcpy(&timed->ops, timed_calls.ops,
           timed_calls.ops->size < sizeof timed->ops ? timed_calls.ops->size : sizeof timed->ops);
    timed->ops.solve = timed_solve;
    timed->desc.ops.solver = &timed->ops;
    timed->instance.desc = &timed->desc;
}

/// By a solver that has never seen a problem, preparation included. NaN: it does not treat such problems.
static double solve_ours(trial *t, double tolerance, int32_t *iterations) {
    bench *b = t->b;
    cli_problem *p = &b->problem;
    const cli_solver *s = &b->ours[t->solver - siconos_solver_count];
    stn_solver_common *common = s->solver->common;
    timed_solver timed;
    stn_problem_solver_options options = {&timed.instance, s->law, s->factor, NULL};
    stn_problem_solver *fresh = NULL;
    stn_solve_request request = {.law_memory = p->law_memory, .solver_memory = p->solver_memory};
    stn_solve_report report = {0};
    stn_error err = {0};
    time_calls(&timed, s->solver);
    timed_calls.us = 0.0;
    common->tolerance = tolerance;
    memset(p->solver_memory, 0, (size_t)p->problem.constraint_count * (size_t)s->solver->desc->memory_per_constraint);
    stn_status status = stn_problem_solver_create(b->context, &options, &fresh, &err);
    if (status == STN_OK) {
        status = stn_problem_solve(fresh, &p->problem, &request, &p->solution, &report, NULL, &err);
    }
    stn_problem_solver_destroy(fresh);
    t->call_ms = 1e-3 * timed_calls.us;
    *iterations = report.iterations;
    if (status < 0) {
        snprintf(t->entry->note, sizeof t->entry->note, "%.90s", err.text);
        return (double)NAN;
    }
    snprintf(t->entry->note, sizeof t->entry->note, "%s", status == STN_OK ? "" : report.reason);
    return 1e-3 * (report.prepare_us + report.solve_us);
}

/// No impulses, and a limit of iterations that grows where it is what ended a solve.
static void run_ours(trial *t) {
    const cli_solver *s = &t->b->ours[t->solver - siconos_solver_count];
    stn_solver_common *common = s->solver->common;
    stn_problem *p = &t->b->problem.problem;
    for (int32_t i = 0; i < p->nv; i++) {
        p->v_guess[i] = p->v_star[i];
    }
    memset(p->gamma_guess, 0, (size_t)p->row_count * sizeof *p->gamma_guess);
    if (cli_problem_make_room(&t->b->problem, s, NULL) != STN_OK) {
        return;
    }
    common->max_iterations = 100;
    for (double tolerance = TARGET; tolerance > 1e-17;) {
        int32_t iterations = 0;
        set_timer(t->limit_ms); // its signal ends the process
        double ms = solve_ours(t, tolerance, &iterations);
        set_timer(0.0);
        if (isnan(ms)) {
            return;
        }
        if (note(t, judge(t, t->b->problem.solution.gamma), ms)) {
            note_reached(t, ms, solve_ours, tolerance, iterations);
            return;
        }
        if (iterations >= common->max_iterations && common->max_iterations < 100000000) {
            common->max_iterations *= 4;
        } else {
            tolerance *= 1e-2;
        }
    }
}

/// Twice the time of the fastest of this side so far.
static double limit_of(const bench *b, int32_t problem, bool ours) {
    const entry *best = least(b, problem, ours, reach_of);
    double patience = best != NULL ? fmax(LEAST_MS, 2.0 * best->reach_ms) : (double)INFINITY;
    return fmin(1e3 * b->timeout_s, patience);
}

static stn_status set_up(trial *t, stn_error *err) {
    const stn_problem *p = &t->b->problem.problem;
    t->arena = stn_arena_create(t->b->context);
    t->scratch = stn_arena_create(t->b->context);
    t->v = calloc((size_t)p->nv + 1, sizeof *t->v);
    t->gamma = calloc((size_t)p->row_count + 1, sizeof *t->gamma);
    t->reaction = calloc((size_t)p->row_count + 1, sizeof *t->reaction);
    stn_status status = stn_inverse_create(t->b->context, &t->inverse, err);
    if (status == STN_OK && p->form == STN_FORM_GLOBAL) {
        status = stn_inverse_factor(t->inverse, p, err);
    }
    return status == STN_OK ? stn_delassus_build(t->inverse, p, t->arena, &t->delassus, err) : status;
}

static bool is_wanted(const bench *b, int32_t solver) {
    bool found = b->only.count == 0;
    for (int32_t i = 0; i < b->only.count; i++) {
        found = found || strcmp(b->only.items[i], solver_name(b, solver)) == 0;
    }
    return found;
}

static int compete(void *user, int32_t index) {
    bench *b = user;
    bool ours = index % b->solver_count >= siconos_solver_count;
    trial t = {.b = b, .entry = &b->entries[index], .solver = index % b->solver_count};
    stn_error err = {0};
    if (!is_wanted(b, t.solver)) {
        return 0;
    }
    if (b->loaded < 0 || set_up(&t, &err) < 0) {
        snprintf(t.entry->note, sizeof t.entry->note, "%.90s", err.text);
        return 0;
    }
    t.limit_ms = limit_of(b, index / b->solver_count, ours);
    (ours ? run_ours : run_siconos)(&t);
    return 0; // the process ends, and what it holds with it
}

// ----------------------------------------------------------------------------------------------------- in the parent

static const char *short_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static void prepare(void *user, int32_t index) {
    bench *b = user;
    int32_t problem = index / b->solver_count;
    stn_error err = {0};
    if (index % b->solver_count != 0) {
        return;
    }
    cli_problem_clear(&b->problem);
    b->loaded = problem;
    if (cli_problem_load(&b->problem, b->context, b->paths[problem], &err) != STN_OK) {
        b->loaded = -1;
        cli_progress_end(&b->progress);
        printf("%s\n", err.text);
        return;
    }
    b->contacts[problem] = cli_problem_contacts(&b->problem);
}

static void print_time(const bench *b, const entry *e, const entry *all, double (*figure)(const entry *)) {
    if (e == NULL) {
        printf(" %-13s %9s", "-", "-");
    } else {
        printf(" %-13s %9.3g", solver_name(b, (int32_t)(e - all)), figure(e));
    }
}

static void print_ratio(const entry *theirs, const entry *ours, double (*figure)(const entry *)) {
    if (theirs != NULL && ours != NULL) {
        printf(" %7.2f", figure(theirs) / figure(ours));
    } else {
        printf(" %7s", "-");
    }
}

static void print_residual(const bench *b, const entry *e, const entry *all) {
    if (e == NULL) {
        printf(" %7s %-13s", "-", "");
    } else {
        printf(" %7.1e %-13s", e->residual, solver_name(b, (int32_t)(e - all)));
    }
}

static void write_rows(const bench *b, int32_t problem) {
    const entry *theirs = least(b, problem, false, reach_of);
    const char *name = short_name(b->paths[problem]);
    for (int32_t i = 0; i < 2; i++) { // a line for the whole of ours, and one for the call alone
        double (*figure)(const entry *) = i == 0 ? reach_of : call_of;
        const entry *ours = least(b, problem, true, figure);
        char what[128];
        snprintf(what, sizeof what, "%.60s%s", name, i == 0 ? "" : ", call alone");
        bench_row("fclib", what, "Stiction", "", "ms", ours != NULL ? figure(ours) : (double)NAN);
        bench_row("fclib", what, "Siconos", "", "ms", theirs != NULL ? reach_of(theirs) : (double)NAN);
    }
}

static void print_problem(const bench *b, int32_t problem) {
    const entry *all = &b->entries[problem * b->solver_count];
    const entry *theirs = least(b, problem, false, reach_of);
    printf("%-40.40s %5d", short_name(b->paths[problem]), (int)b->contacts[problem]);
    print_time(b, theirs, all, reach_of);
    double (*const figures[])(const entry *) = {reach_of, call_of};
    for (int32_t i = 0; i < STN_COUNT(figures); i++) {
        const entry *ours = least(b, problem, true, figures[i]);
        print_time(b, ours, all, figures[i]);
        print_ratio(theirs, ours, figures[i]);
    }
    putchar(' ');
    print_residual(b, least(b, problem, false, residual_of), all);
    print_residual(b, least(b, problem, true, residual_of), all);
    putchar('\n');
    fflush(stdout);
    write_rows(b, problem);
}

static bool finish(void *user, const cli_job_end *end) {
    bench *b = user;
    entry *e = &b->entries[end->index];
    int32_t problem = end->index / b->solver_count, solver = end->index % b->solver_count;
    if (end->outcome == CLI_JOB_CRASHED && end->code == SIGALRM) {
        snprintf(e->note, sizeof e->note, "stopped for its time");
    } else if (end->outcome != CLI_JOB_EXITED) {
        snprintf(e->note, sizeof e->note, "ended by signal %d", end->code);
    }
    if (solver == b->solver_count - 1 && b->contacts[problem] > 0) {
        cli_progress_end(&b->progress);
        print_problem(b, problem);
    }
    return true;
}

static void show_progress(void *user, int32_t ended) {
    bench *b = user;
    cli_progress_count(&b->progress, ended, b->problem_count * b->solver_count, "solvers");
}

static bool write_csv(const bench *b) {
    FILE *file = fopen(b->csv, "w");
    if (file == NULL) {
        return false;
    }
    fputs("problem,contacts,side,solver,reach_ms,call_ms,tolerance,iterations,natural_scaled,natural_scaled_ms,note\n",
          file);
    for (int32_t i = 0; i < b->problem_count * b->solver_count; i++) {
        const entry *e = &b->entries[i];
        int32_t problem = i / b->solver_count, solver = i % b->solver_count;
        fprintf(file, "%s,%d,%s,%s,%.6g,%.6g,%g,%.0f,%.3e,%.6g,\"%s\"\n", short_name(b->paths[problem]),
                b->contacts[problem], solver < siconos_solver_count ? "siconos" : "stiction", solver_name(b, solver),
                e->reach_ms, e->call_ms, e->tolerance, e->iterations, e->residual, e->residual_ms, e->note);
    }
    return fclose(file) == 0;
}

/// All that solve Coulomb's law as they are by default.
static stn_status choose_ours(bench *b, stn_error *err) {
    const stn_plugin_info *plugins = NULL;
    int32_t count = 0;
    stn_status status = stn_plugins(b->context, &plugins, &count, NULL, NULL, err);
    for (int32_t i = 0; i < count && status >= 0 && b->our_count < MOST_OURS; i++) {
        if (plugins[i].desc->kind != STN_KIND_SOLVER) {
            continue;
        }
        cli_solver *s = &b->ours[b->our_count];
        cli_solver_choice choice = {plugins[i].desc->id, NULL, NULL, 1, b->settings[b->our_count]};
        status = cli_solver_init(s, b->context, &choice, err);
        if (status >= 0 && stn_solver_formulation(s->solver) == STN_NCP) {
            b->our_names[b->our_count++] = plugins[i].desc->id;
        } else {
            cli_solver_clear(s);
            *s = (cli_solver){0};
        }
    }
    b->solver_count = siconos_solver_count + b->our_count;
    return status;
}

static void add_path(bench *b, const char *folder, const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s%s%s", folder, folder[0] != '\0' ? "/" : "", name);
    if (b->problem_count < MOST_PROBLEMS) {
        b->paths[b->problem_count] = strdup(path);
        b->problem_count += b->paths[b->problem_count] != NULL;
    }
}

static bool is_problem(const char *name) {
    size_t length = strlen(name);
    return length > 5 && strcmp(name + length - 5, ".hdf5") == 0;
}

/// A file, or all *.hdf5 of a folder.
static void add_word(bench *b, const char *word) {
    struct stat what;
    struct dirent **entries = NULL;
    if (stat(word, &what) != 0 || !S_ISDIR(what.st_mode)) {
        add_path(b, "", word);
        return;
    }
    int count = scandir(word, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        if (is_problem(entries[i]->d_name)) {
            add_path(b, word, entries[i]->d_name);
        }
        free(entries[i]);
    }
    free(entries);
}

/// Without words: the public problems, where they lie beside the project.
static void add_public(bench *b) {
    static const char *const places[] = {STN_SOURCE_DIR "/../shared/fclib", STN_SOURCE_DIR "/../../shared/fclib"};
    for (size_t i = 0; i < sizeof places / sizeof *places && b->problem_count == 0; i++) {
        struct stat what;
        if (stat(places[i], &what) == 0) {
            add_word(b, places[i]);
        }
    }
}

static int run(bench *b) {
    stn_error err = {0};
    size_t count = (size_t)b->problem_count * (size_t)b->solver_count;
    b->entries = mmap(NULL, count * sizeof *b->entries + 1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (b->entries == MAP_FAILED) {
        return cli_fail(b->command, "out of memory");
    }
    for (size_t i = 0; i < count; i++) {
        b->entries[i] = (entry){
            .reach_ms = NAN, .call_ms = NAN, .tolerance = NAN, .iterations = NAN, .residual = NAN, .residual_ms = NAN};
    }
    print_processor();
    printf("%-40s %5s %-23s %-23s %7s %-23s %7s  %-21s %s\n", "natural_scaled 1e-8, cold, one thread", "c",
           "Siconos      ms", "Stiction     ms", "ratio", "call alone   ms", "ratio", "least of Siconos",
           "least of Stiction");
    cli_jobs jobs = {
        .count = (int32_t)count,
        .at_once = 1,
        .limit_s = 20.0 * b->timeout_s,
        .work = compete,
        .done = finish,
        .progress = show_progress,
        .prepare = prepare,
        .user = b,
    };
    stn_status status = cli_jobs_run(&jobs, &err);
    cli_progress_end(&b->progress);
    if (status < 0) {
        return cli_fail_status(b->command, &err);
    }
    return b->csv == NULL || write_csv(b) ? STN_EXIT_DONE : cli_fail(b->command, "%s: cannot be written", b->csv);
}

int main(int argc, char **argv) {
    static bench b = {.timeout_s = 10.0};
    const cli_option options[] = {
        {"solver", 0, CLI_TEXTS, "NAME", "this one alone, of either side", &b.only},
        {"timeout", 0, CLI_REAL, "SECONDS", "of a solve; 10", &b.timeout_s},
        {"csv", 0, CLI_TEXT, "FILE", "a row for each solver with each problem", &b.csv},
    };
    const cli_command command = {
        "fclib",      "[FILE|FOLDER]...", "Our solvers beside those of Siconos on problems of FCLIB.",
        options,      STN_COUNT(options), 0,
        MOST_PROBLEMS};
    cli_list words;
    stn_error err = {0};
    b.command = &command;
    int status = cli_parse(&command, argc, argv, &words);
    if (status != CLI_PROCEED) {
        return status;
    }
    for (int32_t i = 0; i < words.count; i++) {
        add_word(&b, words.items[i]);
    }
    if (words.count == 0) {
        add_public(&b);
    }
    if (b.problem_count == 0) {
        puts("no problems: ./dev bench fclib -- FOLDER, with *.hdf5 files in FCLIB's layout");
        return STN_EXIT_DONE;
    }
    if (!(b.timeout_s > 0.0)) {
        return cli_fail(&command, "--timeout %g: must be > 0 s", b.timeout_s);
    }
    if (stn_context_create(NULL, &b.context, &err) < 0 || choose_ours(&b, &err) < 0) {
        return cli_fail_status(&command, &err);
    }
    status = run(&b);
    cli_problem_clear(&b.problem);
    for (int32_t i = 0; i < b.our_count; i++) {
        cli_solver_clear(&b.ours[i]);
    }
    stn_context_destroy(b.context);
    for (int32_t i = 0; i < b.problem_count; i++) {
        free(b.paths[i]);
    }
    cli_list_clear(&b.only);
    cli_list_clear(&words);
    return status;
}
