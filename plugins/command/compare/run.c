// SPDX-License-Identifier: Apache-2.0
// The processes of a comparison. The parent reads one problem after the other; children inherit it and the solver as
// they are, so that a solve costs a fork. What they find out lies in shared memory, what they print is lost.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/jobs.h"
#include "common/progress.h"
#include "compare.h"

/// The jobs of one pass: rows, in order.
typedef struct pass {
    comparison *comparison;
    void (*job)(comparison *c, cli_problem *problem, int32_t row); // what a child does
    void (*end)(compare_row *row, const cli_job_end *end, double limit_s);
    const int32_t *rows;
    int32_t count;
    double limit_s;
    int32_t loaded; // the problem that is in memory, -1 for none
    cli_problem problem;
    const char *what; // of the progress line
    cli_progress progress;
} pass;

static void end_solve(compare_row *row, const cli_job_end *end, double limit_s) {
    if (row->done) {
        return;
    }
    if (end->outcome == CLI_JOB_TIMEOUT) {
        row->status = COMPARE_TIMEOUT;
        snprintf(row->note, sizeof row->note, "not done after %g s", limit_s);
        return;
    }
    row->status = COMPARE_FAILED;
    if (end->outcome == CLI_JOB_CRASHED) {
        snprintf(row->note, sizeof row->note, "ended by signal %d (%s)", end->code, strsignal(end->code));
    } else {
        snprintf(row->note, sizeof row->note, "the solver ended its process, with exit status %d", end->code);
    }
}

/// Whatever happened on the way, what the row found out is known.
static void end_trace(compare_row *row, const cli_job_end *end, double limit_s) {
    (void)end, (void)limit_s;
    if (row->done && !row->traced) {
        compare_close_curve(row);
    }
}

/// Without a problem, also one that can be read no more when its curves are asked for, there is nothing to do.
static int work(void *user, int32_t index) {
    pass *p = user;
    if (p->problem.owner != NULL) {
        p->job(p->comparison, &p->problem, p->rows[index]);
    }
    return 0;
}

/// What the child of a job inherits: the problem of its row, read when the one before had another.
static void prepare(void *user, int32_t index) {
    pass *p = user;
    comparison *c = p->comparison;
    compare_row *row = &c->rows[p->rows[index]];
    int32_t problem = p->rows[index] / c->solver_count;
    compare_problem *of = &c->problems[problem];
    if (problem != p->loaded) {
        stn_error err = {0};
        cli_problem_clear(&p->problem);
        cli_progress_end(&p->progress); // a warning has a line of its own
        p->loaded = problem;
        c->reading = p->job == compare_solve_row ? of : NULL; // the second time all is said
        stn_status status = cli_problem_load(&p->problem, c->context, of->path, &err);
        c->reading = NULL;
        if (status != STN_OK) {
            cli_problem_clear(&p->problem);
            snprintf(of->unreadable, sizeof of->unreadable, "%s", err.text);
        } else {
            of->read = true;
            of->contacts = cli_problem_contacts(&p->problem);
            of->constraints = p->problem.problem.constraint_count;
            of->nv = p->problem.problem.nv;
        }
    }
    if (!of->read) {
        row->status = COMPARE_FAILED;
        snprintf(row->note, sizeof row->note, "%s", of->unreadable);
        row->done = true;
    }
}

static bool done(void *user, const cli_job_end *end) {
    pass *p = user;
    p->end(&p->comparison->rows[p->rows[end->index]], end, p->limit_s);
    return true;
}

static void show_progress(void *user, int32_t ended) {
    pass *p = user;
    cli_progress_count(&p->progress, ended, p->count, p->what);
}

static stn_status run_pass(pass *p, stn_error *err) {
    const compare_options *o = &p->comparison->options;
    p->loaded = -1;
    cli_jobs jobs = {
        .count = p->count,
        .at_once = o->jobs,
        .limit_s = p->limit_s,
        .work = work,
        .done = done,
        .progress = show_progress,
        .user = p,
        .prepare = prepare,
    };
    stn_status status = cli_jobs_run(&jobs, err);
    cli_progress_end(&p->progress);
    cli_problem_clear(&p->problem);
    return status;
}

stn_status compare_solve(comparison *c, stn_error *err) {
    int32_t count = c->problem_count * c->solver_count, *rows = calloc((size_t)count + 1, sizeof *rows);
    if (rows == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    for (int32_t i = 0; i < count; i++) {
        rows[i] = i;
    }
    pass p = {c, compare_solve_row, end_solve, rows, count, c->options.timeout_s, .what = "solves"};
    stn_status status = run_pass(&p, err);
    free(rows);
    return status;
}

stn_status compare_trace(comparison *c, stn_error *err) {
    int32_t count = 0, *rows = calloc((size_t)(c->problem_count * c->solver_count) + 1, sizeof *rows);
    if (rows == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    for (int32_t i = 0; i < c->problem_count * c->solver_count; i++) {
        compare_status status = c->rows[i].status;
        if (status == COMPARE_CONVERGED || status == COMPARE_NOT_CONVERGED || status == COMPARE_TIMEOUT) {
            rows[count++] = i;
        }
    }
    // limits that grow by sqrt(2) add up to 2.4 times the last
    pass p = {c, compare_trace_row, end_trace, rows, count, 3.0 * c->options.timeout_s, .what = "curves"};
    stn_status status = run_pass(&p, err);
    free(rows);
    return status;
}

bool compare_reach(const compare_row *row, double target, bool coulomb, double *iterations, double *time_ms) {
    double before = (double)NAN;
    for (int32_t i = 0; i < row->point_count; i++) {
        const compare_point *p = &row->points[i], *last = i > 0 ? p - 1 : p;
        double residual = coulomb ? p->natural_scaled : p->residual, share = 1.0;
        if (!(residual <= target)) {
            before = residual;
            continue;
        }
        bool near = last->iterations > 0 && p->iterations <= 2 * last->iterations; // no gap where a solve was lost
        if (before > target && residual > 0.0 && near && last->time_ms > 0.0) {
            share = log(before / target) / log(before / residual);
        }
        *iterations = last->iterations * pow((double)p->iterations / last->iterations, share);
        *time_ms = last->time_ms * pow(p->time_ms / last->time_ms, share);
        if (share == 1.0) {
            *iterations = p->iterations;
            *time_ms = p->time_ms;
        }
        return true;
    }
    return false;
}
