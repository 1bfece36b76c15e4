// SPDX-License-Identifier: Apache-2.0
// What the process of a row does: solves, takes the time, asks the judge, and notes what it found in shared memory.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"

/// One solver with one problem, and what the judge needs.
typedef struct bench {
    stn_context *context;
    const compare_solver *solver;
    cli_problem *problem;
    stn_law law; // that the certificate evaluates; no ops without
    stn_inverse *inverse;
    stn_arena *arena;
    bool scaled; // the inverse is there: natural_scaled can be had
    bool cold;
    stn_error error;
} bench;

/// What a solve came to.
typedef struct outcome {
    stn_status status;
    stn_solve_report report;
    stn_certificate certificate;
    double time_ms;
    int32_t repeats;
} outcome;

static stn_status set_up(bench *b, comparison *c, const compare_solver *solver, cli_problem *problem) {
    const stn_solver_ops *ops = solver->solver.solver->desc->ops.solver;
    const stn_instance *law = solver->solver.law;
    *b = (bench){.context = c->context, .solver = solver, .problem = problem, .cold = c->options.cold};
    if (law != NULL && stn_solver_needs_law(ops)) {
        b->law = stn_law_of(law);
    }
    cli_problem_prefer(problem, &solver->settings[1], NULL, 0);
    stn_status status = cli_problem_make_room(problem, &solver->solver, &b->error);
    b->arena = stn_arena_create(b->context);
    if (status == STN_OK && b->arena == NULL) {
        status = stn_fail(&b->error, STN_ERR_MEMORY, "out of memory");
    }
    return status == STN_OK ? stn_inverse_create(b->context, &b->inverse, &b->error) : status;
}

/// The start of a file that knows nothing: no impulses.
static void forget_start(stn_problem *p) {
    for (int32_t i = 0; i < p->nv; i++) {
        p->v_guess[i] = p->v_star[i];
    }
    for (int32_t r = 0; r < p->row_count; r++) {
        p->gamma_guess[r] = 0.0;
    }
}

/// Short solves are repeated, for 30 ms and an odd number of times, at most nine: the time is the median.
static void solve_timed(bench *b, outcome *out) {
    enum { MOST_REPEATS = 9 };
    const double enough_ms = 30.0;
    double times[MOST_REPEATS];
    int32_t wanted = 1;
    out->repeats = 0;
    for (int32_t i = 0; i < wanted; i++) {
        // A solver that has never seen a problem, and keeps nothing.
        cli_problem *p = b->problem;
        const cli_solver *s = &b->solver->solver;
        const size_t count = (size_t)p->problem.constraint_count;
        stn_problem_solver_options options = {s->solver, s->law, s->factor, NULL};
        stn_problem_solver *fresh = NULL;
        stn_solve_request request = {.law_memory = p->law_memory, .solver_memory = p->solver_memory};
        memset(p->solver_memory, 0, count * (size_t)s->solver->desc->memory_per_constraint);
        stn_status status = stn_problem_solver_create(b->context, &options, &fresh, &b->error);
        if (status == STN_OK) {
            status = stn_problem_solve(fresh, &p->problem, &request, &p->solution, &out->report, &out->certificate,
                                       &b->error);
        }
        stn_problem_solver_destroy(fresh);
        out->status = status;
        if (out->status < 0) {
            return;
        }
        times[out->repeats++] = 1e-3 * (out->report.prepare_us + out->report.solve_us);
        if (i == 0) {
            double fit = enough_ms / fmax(times[0], 1e-3);
            wanted = fit >= MOST_REPEATS ? MOST_REPEATS : (int32_t)fit | 1;
        }
    }
    qsort(times, (size_t)out->repeats, sizeof *times, cli_compare_reals);
    out->time_ms = times[out->repeats / 2];
}

/// The certificate of what the last solve left; natural_scaled where A can be inverted.
static stn_status judge(bench *b, outcome *out) {
    const stn_problem *p = &b->problem->problem;
    const stn_solution *s = &b->problem->solution;
    stn_error ignored;
    if (!b->scaled) {
        b->scaled = p->form == STN_FORM_LOCAL || stn_inverse_factor(b->inverse, p, &ignored) == STN_OK;
    }
    stn_arena_reset(b->arena);
    return stn_certify(p, s->v, s->gamma, b->law.ops != NULL ? &b->law : NULL, b->problem->law_memory,
                       b->scaled ? b->inverse : NULL, b->scaled ? STN_CERTIFICATE_SCALED : 0, b->arena,
                       &out->certificate, &b->error);
}

static stn_solver_common *common_of(const bench *b) {
    return b->solver->solver.solver->common;
}

void compare_solve_row(comparison *c, cli_problem *problem, int32_t index) {
    compare_row *row = &c->rows[index];
    bench b;
    outcome o = {0};
    stn_status status = set_up(&b, c, &c->solvers[index % c->solver_count], problem);
    if (status == STN_OK && c->options.cold) {
        forget_start(&problem->problem);
    }
    if (status == STN_OK) {
        solve_timed(&b, &o);
        status = o.status < 0 ? o.status : judge(&b, &o);
    }
    if (status < 0) {
        row->status = b.error.status == STN_ERR_UNSUPPORTED ? COMPARE_REFUSED : COMPARE_FAILED;
        snprintf(row->note, sizeof row->note, "%s", b.error.text);
    } else {
        row->iterations = o.report.iterations;
        row->islands = o.report.island_count;
        row->repeats = o.repeats;
        row->time_ms = o.time_ms;
        row->certificate = o.certificate;
        row->residual = compare_residual(b.solver->formulation, &o.certificate);
        row->status = o.status == STN_OK ? COMPARE_CONVERGED : COMPARE_NOT_CONVERGED;
        if (!o.certificate.finite) {
            row->status = COMPARE_FAILED;
            snprintf(row->note, sizeof row->note, "v or gamma is not finite");
        } else if (o.status == STN_OK) {
            // A success that the judge does not see is no success.
            stn_formulation f = b.solver->formulation;
            bool has_measure = f == STN_REGULARIZED || f == STN_CCP || f == STN_NCP;
            if (has_measure && !isnan(row->residual) && row->residual > 100.0 * common_of(&b)->tolerance) {
                snprintf(row->note, sizeof row->note, "says converged, %s is %.1e", compare_measure(f), row->residual);
            }
        } else if (stn_plugin_says(b.solver->solver.solver, "approximate")) {
            snprintf(row->note, sizeof row->note, "approximate");
        } else if (o.report.contradiction.islands > 0) {
            stn_contradiction_text(&o.report.contradiction, row->note, sizeof row->note);
        } else {
            snprintf(row->note, sizeof row->note, "%s", o.report.reason);
        }
    }
    row->done = true;
}

/// A solve, judged, as the next point of the curve. Negative: it came to nothing.
static stn_status add_point(bench *b, compare_row *row) {
    outcome o = {0};
    solve_timed(b, &o);
    stn_status judged = o.status < 0 ? o.status : judge(b, &o);
    if (judged < 0) {
        return judged;
    }
    const compare_point *last = row->point_count > 0 ? &row->points[row->point_count - 1] : NULL;
    row->bent = row->bent || (o.status == STN_OK && o.report.iterations < row->iterations);
    if (last == NULL ||
        o.report.iterations > last->iterations) { // else it gave up before this limit and the one before
        row->points[row->point_count] =
            (compare_point){o.report.iterations, o.time_ms, compare_residual(b->solver->formulation, &o.certificate),
                            o.certificate.natural_scaled};
        row->point_count++;
    }
    return o.status;
}

void compare_close_curve(compare_row *row) {
    row->point_count -= row->point_count > 0 && row->points[row->point_count - 1].iterations >= row->iterations;
    row->points[row->point_count++] =
        (compare_point){row->iterations, row->time_ms, row->residual, row->certificate.natural_scaled};
}

/// The solver again with growing limits, up to what it needed.
void compare_trace_row(comparison *c, cli_problem *problem, int32_t index) {
    compare_row *row = &c->rows[index];
    bench b;
    if (set_up(&b, c, &c->solvers[index % c->solver_count], problem) != STN_OK) {
        return;
    }
    if (c->options.cold) {
        forget_start(&problem->problem);
    }
    stn_solver_common *common = common_of(&b);
    const stn_solver_common given = *common;
    int32_t end = row->done ? row->iterations : given.max_iterations;
    int32_t step = 1;
    for (int32_t limit = 1; limit < end && row->point_count<COMPARE_MOST_POINTS - 2; limit = limit> INT32_MAX - step
                                ? INT32_MAX
                                : limit + step) { // 1, 2, 3, 4, 6, 8, 12, ...
        bool power = (limit & (limit - 1)) == 0;
        step = limit == 1 ? 1 : (power ? limit / 2 : limit / 3);
        common->max_iterations = limit;
        stn_status status = add_point(&b, row);
        if (status < 0) {
            return;
        }
        if (status == STN_OK && !row->done) {
            break; // in time after all, with a limit
        }
    }
    if (row->done) {
        compare_close_curve(row);
    }
    bool is_short = false;
    for (int32_t i = 0; i < COMPARE_TARGETS; i++) {
        is_short = is_short || (given.tolerance <= compare_targets[i] && row->residual > compare_targets[i]);
    }
    if (is_short && row->status == COMPARE_CONVERGED) {
        // the solver's own measure is not the judge's: it stopped a little above a target that its tolerance asks for
        *common = given;
        common->tolerance *= 0.1;
        add_point(&b, row);
    }
    row->traced = true;
}
