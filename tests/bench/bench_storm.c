// SPDX-License-Identifier: Apache-2.0
// The storm: random well- and ill-posed contact problems through the solver sap, at its tolerance, judged by the
// certificate. 1 to 200 contacts, many of them redundant and parallel, condition of A up to 1e12, masses over four
// decades, stiffness over ten and rigid, mu 0 to 5, steps of 0.1 to 30 ms.
//     bench_storm [COUNT [SEED [TOLERANCE [FACTORIZATION]]]]
// Exit 1: a NaN, a failure, an accuracy that is not what the status says, or more than 50 iterations without a reason.
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <stiction/solve.h>

#include "validate/problem_make.h"

enum { MANY_ITERATIONS = 50, MOST_ITERATIONS = 200 };

typedef struct storm {
    stn_context *context;
    stn_instance *solver, *law;
    stn_problem_solver *problem_solver;
    stn_arena *arena;
    double tolerance;
    int32_t fallbacks; // problems where conjugate gradients gave way to a whole factor
    int32_t count, well, stalled, not_converged, failed, not_finite, dishonest, many;
    int32_t iterations[MOST_ITERATIONS + 1];
    int64_t contacts;
    int32_t most_contacts, most_dofs;
    double worst_momentum, worst_stalled, worst_law, worst_complementarity;
} storm;

static void need(stn_status status, const stn_error *err) {
    if (status < 0) {
        fprintf(stderr, "storm: %s\n", err->text);
        exit(2);
    }
}

static void begin(storm *s, double tolerance, const char *factorization) {
    stn_error err;
    const stn_setting settings[] = {
        {.name = "tolerance", .form = STN_SETTING_NUMBER, .number = tolerance, .where = "storm"},
        {.name = "max_iterations", .form = STN_SETTING_NUMBER, .number = MOST_ITERATIONS, .where = "storm"},
        {.name = "factorization", .form = STN_SETTING_TEXT, .text = factorization, .where = "storm"}};
    need(stn_context_create(NULL, &s->context, &err), &err);
    need(stn_instance_create(s->context, STN_KIND_SOLVER, "sap", settings, 3, &s->solver, &err), &err);
    need(stn_instance_create(s->context, STN_KIND_LAW, "sap", NULL, 0, &s->law, &err), &err);
    stn_problem_solver_options options = {.solver = s->solver, .law = s->law};
    need(stn_problem_solver_create(s->context, &options, &s->problem_solver, &err), &err);
    s->arena = stn_arena_create(s->context);
    s->tolerance = tolerance;
}

static void end(storm *s) {
    stn_arena_destroy(s->arena);
    stn_problem_solver_destroy(s->problem_solver);
    stn_instance_destroy(s->law);
    stn_instance_destroy(s->solver);
    stn_context_destroy(s->context);
}

static double larger(double a, double b) {
    return a > b ? a : b;
}

/// One line for a problem that one should look at.
static void tell(const storm *s, int32_t i, const stn_problem *p, const char *what, const stn_solve_report *r,
                 const stn_certificate *c) {
    (void)s;
    printf("  problem %5d: %4d dofs, %3d constraints, %s (%s), %d iterations, momentum error %.1e, law residual %.1e\n",
           i, p->nv, p->constraint_count, what, r->reason, r->iterations, c->momentum, c->law_residual);
}

/// What rounding hides of the momentum, as the certificate measures it: eps |D sum_j |J_j^T gamma_j||. Impulses that
/// contradictory constraints hold against each other may be many times the momentum, and their digits are lost in it.
static double rounding(storm *s, const stn_problem *p, const double *gamma) {
    double *one = STN_ARENA_ZEROED(s->arena, p->row_count + 1, double),
           *sum = STN_ARENA_ZEROED(s->arena, p->nv, double);
    double *row = STN_ARENA(s->arena, p->nv, double), *mass = STN_ARENA(s->arena, p->nv, double), total = 0.0;
    stn_error err = {STN_ERR_MEMORY, "out of memory"};
    need(one != NULL && sum != NULL && row != NULL && mass != NULL ? STN_OK : STN_ERR_MEMORY, &err);
    for (int32_t j = 0; j < p->row_count; j++) {
        one[j] = gamma[j];
        memset(row, 0, (size_t)p->nv * sizeof *row);
        stn_problem_jacobian_transposed_add(p, 1.0, one, row);
        one[j] = 0.0;
        for (int32_t k = 0; k < p->nv; k++) {
            sum[k] += fabs(row[k]);
        }
    }
    for (int32_t t = 0; t < p->tree_count; t++) {
        stn_matrix_diagonal(&p->trees[t].A, mass + p->trees[t].dof_start);
    }
    for (int32_t k = 0; k < p->nv; k++) {
        total += mass[k] > 0.0 ? sum[k] * sum[k] / mass[k] : 0.0;
    }
    return DBL_EPSILON * sqrt(total);
}

static void count_answer(storm *s, int32_t i, const stn_problem *p, stn_status status, const stn_solve_report *r,
                         const stn_certificate *c, const double *gamma) {
    double error = c->momentum * c->momentum_size;
    bool good = c->momentum <= 10.0 * s->tolerance || error <= 1e-13 || error <= rounding(s, p, gamma);
    s->fallbacks += r->fallbacks > 0;
    s->iterations[r->iterations <= MOST_ITERATIONS ? r->iterations : MOST_ITERATIONS]++;
    if (!c->finite) {
        s->not_finite++;
        tell(s, i, p, "NOT FINITE", r, c);
    } else if (status == STN_OK && (!good || !(c->law_residual <= 1e-6))) {
        s->dishonest++;
        tell(s, i, p, "NOT AS ACCURATE AS IT SAYS", r, c);
    } else if (status != STN_OK) {
        tell(s, i, p, stn_status_text(status), r, c);
    } else if (r->iterations > MANY_ITERATIONS) {
        s->many++;
        tell(s, i, p, "MANY ITERATIONS", r, c);
    }
    s->well += status == STN_OK;
    s->stalled += status == STN_STALLED;
    s->not_converged += status == STN_NOT_CONVERGED;
    if (status == STN_OK && good && c->momentum * c->momentum_size > 1e-13) {
        s->worst_momentum = larger(s->worst_momentum, c->momentum);
    }
    s->worst_stalled = status == STN_OK ? s->worst_stalled : larger(s->worst_stalled, c->momentum);
    s->worst_law = larger(s->worst_law, c->law_residual);
    s->worst_complementarity = larger(s->worst_complementarity, c->complementarity);
}

static void solve(storm *s, int32_t i, random_stream *random) {
    stn_arena_reset(s->arena);
    const uint32_t sets = 1u << STN_SET_CONE | 1u << STN_SET_BOX | 1u << STN_SET_EQUALITY;
    problem_spec spec = problem_spec_ill_posed(sets, random);
    stn_problem *p = problem_make(s->arena, &spec, random);
    double *v = p != NULL ? STN_ARENA(s->arena, p->nv + 1, double) : NULL;
    double *gamma = p != NULL ? STN_ARENA(s->arena, p->row_count + 1, double) : NULL;
    stn_error err = {STN_ERR_MEMORY, "out of memory"};
    need(v != NULL && gamma != NULL ? STN_OK : STN_ERR_MEMORY, &err);
    stn_solve_request request = {.masses = true};
    stn_solution solution = {.v = v, .gamma = gamma};
    stn_solve_report report;
    stn_certificate certificate;
    stn_status status = stn_problem_solve(s->problem_solver, p, &request, &solution, &report, &certificate, &err);
    s->count++;
    s->contacts += spec.contacts;
    s->most_contacts = spec.contacts > s->most_contacts ? spec.contacts : s->most_contacts;
    s->most_dofs = p->nv > s->most_dofs ? p->nv : s->most_dofs;
    if (status < 0) {
        s->failed++;
        printf("  problem %5d: FAILED: %s\n", i, err.text);
    } else {
        count_answer(s, i, p, status, &report, &certificate, gamma);
    }
}

static void print_histogram(const storm *s) {
    static const int32_t ends[] = {0, 1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 100, MOST_ITERATIONS};
    printf("iterations  problems\n");
    for (int32_t b = 0, from = 0; b < STN_COUNT(ends); from = ends[b++] + 1) {
        int32_t problems = 0;
        for (int32_t n = from; n <= ends[b]; n++) {
            problems += s->iterations[n];
        }
        char range[24];
        snprintf(range, sizeof range, from == ends[b] ? "%d" : "%d-%d", from, ends[b]);
        printf("%10s  %8d  %.*s\n", range, problems, 60 * problems / s->count,
               "############################################################");
    }
}

static int summarise(const storm *s) {
    printf("problems %d, contacts %lld (at most %d in one), dofs at most %d, tolerance %g\n", s->count,
           (long long)s->contacts, s->most_contacts, s->most_dofs, s->tolerance);
    printf("ok %d, stalled %d, not converged %d, failed %d, not finite %d; with a whole factor in the end %d\n",
           s->well, s->stalled, s->not_converged, s->failed, s->not_finite, s->fallbacks);
    printf("less accurate than said %d, more than %d iterations without a reason %d\n", s->dishonest, MANY_ITERATIONS,
           s->many);
    printf("worst momentum error %.2e", s->worst_momentum);
    if (s->stalled + s->not_converged > 0) {
        printf(" (of those stalled or not converged %.2e)", s->worst_stalled);
    }
    printf("\nworst law residual %.2e, worst complementarity error %.2e\n", s->worst_law, s->worst_complementarity);
    print_histogram(s);
    return s->failed + s->not_finite + s->dishonest + s->many > 0 ? 1 : 0;
}

int main(int argc, char **argv) {
    storm s = {0};
    int32_t count = argc > 1 ? (int32_t)strtol(argv[1], NULL, 10) : 10000;
    random_stream random = {argc > 2 ? strtoull(argv[2], NULL, 10) : 1};
    double tolerance = argc > 3 ? strtod(argv[3], NULL) : 1e-6;
    if (count < 1 || !(tolerance >= 0.0)) {
        fprintf(stderr, "storm: usage: storm [COUNT [SEED [TOLERANCE [FACTORIZATION]]]]\n");
        return 2;
    }
    begin(&s, tolerance, argc > 4 ? argv[4] : "auto");
    for (int32_t i = 0; i < count; i++) {
        solve(&s, i, &random);
    }
    int status = summarise(&s);
    end(&s);
    return status;
}
