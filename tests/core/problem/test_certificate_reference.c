// SPDX-License-Identifier: Apache-2.0
// The certificate of solutions computed in extended precision (shared/reference/i_multicontact): clean for the exact
// ones, and each kind of damage caught by the residual that is meant for it.
#include "stn_test.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#include <stiction/plugin.h>

#include "stn_random.h"

static const char *const folder = STN_SHARED_DIR "/reference/i_multicontact";

enum { PROBLEMS = 100 };

typedef struct fixture {
    stn_context *context;
    stn_inverse *inverse;
    stn_arena *arena;
    stn_instance *sap;
    stn_law law;
    stn_error err;
} fixture;

static int setup(void **state) {
    fixture *f = calloc(1, sizeof *f);
    *state = f;
    bool done = stn_context_create(NULL, &f->context, &f->err) == STN_OK &&
                stn_inverse_create(f->context, &f->inverse, &f->err) == STN_OK &&
                stn_instance_create(f->context, STN_KIND_LAW, "sap", NULL, 0, &f->sap, &f->err) == STN_OK;
    f->arena = done ? stn_arena_create(f->context) : NULL;
    if (f->arena == NULL) {
        print_message("%s\n", f->err.text);
        return 1;
    }
    f->law = (stn_law){.ops = f->sap->desc->ops.law, .self = f->sap->self, .id = "sap"};
    return 0;
}

static int teardown(void **state) {
    fixture *f = *state;
    stn_arena_destroy(f->arena);
    stn_instance_destroy(f->sap);
    stn_inverse_destroy(f->inverse);
    stn_context_destroy(f->context);
    free(f);
    return 0;
}

typedef struct solved {
    stn_problem_owner *owner;
    const stn_problem *p;
    double *v, *gamma, gamma_size, v_c_size;
} solved;

static double *reals(const cJSON *array, double *norm) {
    int32_t n = cJSON_GetArraySize(array), i = 0;
    double *x = calloc((size_t)n + 1, sizeof *x), sum = 0.0;
    const cJSON *item;
    cJSON_ArrayForEach(item, array) {
        x[i] = item->valuedouble;
        sum += x[i] * x[i];
        i++;
    }
    *norm = sqrt(sum);
    return x;
}

static solved load(fixture *f, int32_t index, const char *law) {
    char path[512];
    snprintf(path, sizeof path, "%s/p%03d.json", folder, index);
    solved s = {NULL, NULL, NULL, NULL, 0.0, 0.0};
    assert_ok(stn_problem_load(f->context, path, &s.owner, &f->err), f->err);
    s.p = stn_problem_of(s.owner);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    size_t size = (size_t)ftell(file);
    rewind(file);
    char *text = calloc(size + 1, 1);
    assert_int_equal(fread(text, 1, size, file), size);
    fclose(file);
    cJSON *json = cJSON_Parse(text);
    const cJSON *solution = cJSON_GetObjectItem(cJSON_GetObjectItem(json, "solution"), law);
    double size_v;
    s.v = reals(cJSON_GetObjectItem(solution, "v"), &size_v);
    s.gamma = reals(cJSON_GetObjectItem(solution, "gamma"), &s.gamma_size);
    double *v_c = reals(cJSON_GetObjectItem(solution, "vc"), &s.v_c_size);
    free(v_c);
    cJSON_Delete(json);
    free(text);
    return s;
}

static void clear(solved *s) {
    stn_problem_destroy(s->owner);
    free(s->v);
    free(s->gamma);
}

static stn_certificate certify(fixture *f, const solved *s) {
    stn_certificate c;
    stn_arena_reset(f->arena);
    assert_ok(stn_inverse_factor(f->inverse, s->p, &f->err), f->err);
    assert_ok(
        stn_certify(s->p, s->v, s->gamma, &f->law, NULL, f->inverse, STN_CERTIFICATE_SCALED, f->arena, &c, &f->err),
        f->err);
    return c;
}

static double largest_w(const stn_problem *p) {
    double w = 0.0;
    for (int32_t i = 0; i < p->constraint_count; i++) {
        w = fmax(w, p->constraints[i].w_trace);
    }
    return w;
}

static void exact_solutions_of_the_law_have_no_residual_of_it(void **state) {
    fixture *f = *state;
    skip_without(folder);
    for (int32_t i = 0; i < PROBLEMS; i++) {
        solved s = load(f, i, "sap");
        stn_certificate c = certify(f, &s);
        // v and gamma of the file are rounded to double: eps of each term; in the law an error of v counts 1/R times
        double scale = s.v_c_size + largest_w(s.p) * s.gamma_size;
        assert_true(c.finite);
        assert_near(c.momentum, 0.0, 1e-13);
        assert_near(c.complementarity, 0.0, 1e-15);
        assert_near(c.natural_ccp, 0.0, 1e-14 * scale);
        assert_near(c.law_residual, 0.0, 1e-10);
        assert_near(c.cone, 0.0, 1e-14);
        assert_near(c.friction_work_J, 0.0, 1e-12);
        clear(&s);
    }
}

// Lagged and Similar share momentum and cone with SAP, and nothing else: their laws are others.
static void solutions_of_other_laws_keep_momentum_but_not_this_law(void **state) {
    fixture *f = *state;
    skip_without(folder);
    static const char *const laws[] = {"lagged", "similar"};
    int32_t caught = 0;
    for (int32_t i = 0; i < PROBLEMS; i++) {
        for (int32_t k = 0; k < 2; k++) {
            solved s = load(f, i, laws[k]);
            stn_certificate c = certify(f, &s);
            assert_near(c.momentum, 0.0, 1e-10);
            caught += c.law_residual > 1e-4 && c.natural_ccp > 1e-7;
            clear(&s);
        }
    }
    assert_true(caught > PROBLEMS * 2 * 9 / 10); // some have no active contact
}

// A millionth of v, or of gamma, is seen by momentum and by the law.
static void small_damage_is_seen(void **state) {
    fixture *f = *state;
    skip_without(folder);
    stn_random r = {1};
    for (int32_t i = 0; i < PROBLEMS; i++) {
        solved s = load(f, i, "sap");
        if (s.gamma_size > 0.0) {
            int32_t largest = 0;
            for (int32_t k = 0; k < s.p->row_count; k++) {
                largest = fabs(s.gamma[k]) > fabs(s.gamma[largest]) ? k : largest;
            }
            double kept = s.gamma[largest];
            s.gamma[largest] *= 1.0 + 1e-6;
            stn_certificate c = certify(f, &s);
            assert_true(c.momentum > 1e-12);
            assert_near(c.law_residual, 1e-6 * fabs(kept) / s.gamma_size, 1e-10);
            s.gamma[largest] = kept;
        }
        double size = 0.0;
        for (int32_t d = 0; d < s.p->nv; d++) {
            size = fmax(size, fabs(s.v[d]));
        }
        for (int32_t d = 0; d < s.p->nv; d++) {
            s.v[d] += 1e-6 * size * random_real(&r);
        }
        assert_true(certify(f, &s).momentum > 1e-9);
        clear(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(exact_solutions_of_the_law_have_no_residual_of_it, setup, teardown),
        cmocka_unit_test_setup_teardown(solutions_of_other_laws_keep_momentum_but_not_this_law, setup, teardown),
        cmocka_unit_test_setup_teardown(small_damage_is_seen, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
