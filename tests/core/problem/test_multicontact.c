// SPDX-License-Identifier: Apache-2.0
// The public random multi-contact problems: all load, their derived data come out of our own formulas, and the whole
// path of `stiction solve` finds the published solutions.
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>
#include <stiction/solve.h>

#include "stn_test.h"

static const char *const folder = STN_SHARED_DIR "/reference/i_multicontact";

// w to 1e-10 relative: the condition of A is up to 1e6, so solving loses six of sixteen digits.
static void problems_load_and_their_inverse_masses_come_out_again(void **state) {
    (void)state;
    skip_without(folder);
    stn_context *context = NULL;
    stn_error err;
    assert_ok(stn_context_create(NULL, &context, &err), err);
    stn_inverse *inverse = NULL;
    assert_ok(stn_inverse_create(context, &inverse, &err), err);
    stn_arena *arena = stn_arena_create(context);
    double worst = 0.0;
    for (int32_t i = 0; i < 100; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/p%03d.json", folder, i);
        stn_problem_owner *owner = NULL, *copy = NULL;
        assert_ok(stn_problem_load(context, path, &owner, &err), err);
        const stn_problem *p = stn_problem_of(owner);
        assert_ok(stn_problem_check(context, p, &err), err);
        assert_true(p->explicit_R && p->tree_count == 1 && p->row_count == 3 * p->constraint_count);
        assert_ok(stn_problem_copy(context, p, &copy, &err), err);
        stn_problem mutable = *stn_problem_of(copy);
        assert_ok(stn_inverse_factor(inverse, &mutable, &err), err);
        assert_ok(stn_inverse_masses(inverse, &mutable, arena, &err), err);
        for (int32_t c = 0; c < p->constraint_count; c++) {
            double w = p->constraints[c].w; // of the file
            assert_near(mutable.constraints[c].w, w, 1e-10 * w);
            assert_near(p->constraints[c].w_trace, mutable.constraints[c].w_trace, 1e-12 * p->constraints[c].w_trace);
            worst = worse(worst, fabs(mutable.constraints[c].w - w) / w);
        }
        stn_arena_reset(arena);
        stn_problem_destroy(copy);
        stn_problem_destroy(owner);
    }
    print_message("worst relative difference of w: %.2g\n", worst);
    stn_arena_destroy(arena);
    stn_inverse_destroy(inverse);
    stn_context_destroy(context);
}

static cJSON *read_json(const char *path) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    static char text[1 << 22];
    size_t size = fread(text, 1, sizeof text - 1, file);
    text[size] = '\0';
    fclose(file);
    cJSON *json = cJSON_Parse(text);
    assert_non_null(json);
    return json;
}

static void numbers(const cJSON *object, const char *key, int32_t count, double *out) {
    const cJSON *array = cJSON_GetObjectItem(object, key);
    assert_int_equal(cJSON_GetArraySize(array), count);
    int32_t i = 0;
    for (const cJSON *item = array->child; item != NULL; item = item->next) {
        out[i++] = item->valuedouble;
    }
}

typedef struct worst {
    double v, gamma, cost;
} worst;

/// |D^-1 (v - v_ref)| / |D^-1 v_ref| with D^-1 = diag(A)^1/2, and the same for gamma (largest entry), of the solution
/// that the file states for a law; the limit of v is that of the problems' README. Returns the difference of gamma.
static double compare_with(const stn_problem *p, const cJSON *answer, const stn_solution *found, worst *w) {
    static double v[1024], gamma[4096];
    numbers(answer, "v", p->nv, v);
    numbers(answer, "gamma", p->row_count, gamma);
    double off = 0.0, size = 0.0, largest = 0.0, gamma_off = 0.0;
    for (int32_t d = 0; d < p->nv; d++) {
        double mass = p->trees[0].A.values[d * (p->nv + 1)];
        off += mass * (found->v[d] - v[d]) * (found->v[d] - v[d]);
        size += mass * v[d] * v[d];
    }
    for (int32_t r = 0; r < p->row_count; r++) {
        largest = worse(largest, fabs(gamma[r]));
        gamma_off = worse(gamma_off, fabs(found->gamma[r] - gamma[r]));
    }
    double gamma_difference = largest > 0.0 ? gamma_off / largest : gamma_off;
    assert_near(sqrt(off), 0.0, 1e-7 * sqrt(size));
    w->v = worse(w->v, sqrt(off / size));
    w->gamma = worse(w->gamma, gamma_difference);
    return gamma_difference;
}

/// The law sap, whose gamma and cost have limits too.
static void compare(const stn_problem *p, const char *path, const stn_solution *found, double cost, worst *w) {
    cJSON *json = read_json(path);
    const cJSON *sap = cJSON_GetObjectItem(cJSON_GetObjectItem(json, "solution"), "sap");
    double reference = cJSON_GetObjectItem(sap, "cost")->valuedouble;
    assert_near(compare_with(p, sap, found, w), 0.0, 1e-5);
    assert_near(cost, reference, 1e-9 * fabs(reference));
    w->cost = worse(w->cost, fabs(cost - reference) / fmax(fabs(reference), 1e-300));
    cJSON_Delete(json);
}

static void solver_sap_finds_the_published_solutions(void **state) {
    (void)state;
    skip_without(folder);
    stn_context *context = NULL;
    stn_instance *solver = NULL, *law = NULL;
    stn_problem_solver *ps = NULL;
    stn_error err;
    const stn_setting tight = {.name = "tolerance", .form = STN_SETTING_NUMBER, .number = 1e-10, .where = "test"};
    assert_ok(stn_context_create(NULL, &context, &err), err);
    assert_ok(stn_instance_create(context, STN_KIND_SOLVER, "sap", &tight, 1, &solver, &err), err);
    assert_ok(stn_instance_create(context, STN_KIND_LAW, "sap", NULL, 0, &law, &err), err);
    const stn_problem_solver_options options = {solver, law, NULL, NULL};
    assert_ok(stn_problem_solver_create(context, &options, &ps, &err), err);
    worst w = {0};
    for (int32_t i = 0; i < 100; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/p%03d.json", folder, i);
        stn_problem_owner *owner = NULL;
        assert_ok(stn_problem_load(context, path, &owner, &err), err);
        stn_problem p = *stn_problem_of(owner);
        static double v[1024], gamma[4096];
        stn_solution solution = {.v = v, .gamma = gamma};
        stn_solve_report report;
        stn_certificate certificate;
        const stn_solve_request request = {.certificate_flags = STN_CERTIFICATE_SCALED};
        assert_ok(stn_problem_solve(ps, &p, &request, &solution, &report, &certificate, &err), err);
        compare(&p, path, &solution, report.cost, &w);
        assert_true(certificate.finite && certificate.momentum <= 1e-10 && certificate.cone <= 1e-12);
        stn_problem_destroy(owner);
    }
    print_message("worst relative difference of v %.2g, gamma %.2g, cost %.2g\n", w.v, w.gamma, w.cost);
    stn_problem_solver_destroy(ps);
    stn_instance_destroy(law);
    stn_instance_destroy(solver);
    stn_context_destroy(context);
}

/// A law other than sap, whose parameters the files state.
static void compare_velocity(const stn_problem *p, const char *path, const char *law, const stn_solution *found,
                             worst *w) {
    cJSON *json = read_json(path);
    compare_with(p, cJSON_GetObjectItem(cJSON_GetObjectItem(json, "solution"), law), found, w);
    cJSON_Delete(json);
}

static void solve_with_law(stn_context *context, const stn_instance *solver, const char *path, const char *id,
                           worst *w) {
    stn_error err;
    stn_problem_owner *owner = NULL;
    stn_instance *law = NULL;
    stn_problem_solver *ps = NULL;
    assert_ok(stn_problem_load(context, path, &owner, &err), err);
    stn_problem p = *stn_problem_of(owner);
    assert_ok(stn_instance_create(context, STN_KIND_LAW, id, NULL, 0, &law, &err), err); // v_s is the file's
    const stn_problem_solver_options options = {solver, law, NULL, NULL};
    assert_ok(stn_problem_solver_create(context, &options, &ps, &err), err);
    static double v[1024], gamma[4096];
    stn_solution solution = {.v = v, .gamma = gamma};
    stn_solve_report report;
    const stn_solve_request request = {0};
    // impulses of mu gamma_n0 v_t/v_s magnify the round-off of v: some of these cannot come to 1e-10
    stn_status status = stn_problem_solve(ps, &p, &request, &solution, &report, NULL, &err);
    assert_true(status == STN_OK || status == STN_STALLED);
    compare_velocity(&p, path, id, &solution, w);
    stn_problem_solver_destroy(ps);
    stn_instance_destroy(law);
    stn_problem_destroy(owner);
}

static void laws_lagged_and_similar_have_the_published_solutions(void **state) {
    (void)state;
    skip_without(folder);
    stn_context *context = NULL;
    stn_instance *solver = NULL;
    stn_error err;
    const stn_setting tight[] = {
        {.name = "tolerance", .form = STN_SETTING_NUMBER, .number = 1e-10, .where = "test"},
        {.name = "max_iterations", .form = STN_SETTING_NUMBER, .number = 400, .where = "test"}, // the reference's: 133
    };
    assert_ok(stn_context_create(NULL, &context, &err), err);
    assert_ok(stn_instance_create(context, STN_KIND_SOLVER, "sap", tight, 2, &solver, &err), err);
    static const char *const laws[] = {"lagged", "similar"};
    for (int32_t k = 0; k < STN_COUNT(laws); k++) {
        worst w = {0};
        for (int32_t i = 0; i < 100; i++) {
            char path[512];
            snprintf(path, sizeof path, "%s/p%03d.json", folder, i);
            solve_with_law(context, solver, path, laws[k], &w);
        }
        print_message("%s: worst relative difference of v %.2g, gamma %.2g\n", laws[k], w.v, w.gamma);
    }
    stn_instance_destroy(solver);
    stn_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(problems_load_and_their_inverse_masses_come_out_again),
        cmocka_unit_test(solver_sap_finds_the_published_solutions),
        cmocka_unit_test(laws_lagged_and_similar_have_the_published_solutions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
