// SPDX-License-Identifier: Apache-2.0
// Problems with clouds of nodes: whatever factors their systems, and whatever was solved before, the solution is the
// same. Contacts come and go: none, few, on every triangle, between clouds, of a cloud with itself, on bodies.
#include "every_solver.h"

#include "stn_cloud.h"

enum { MOST_DOFS = 2048, MOST_ROWS = 4096 };

static const char *const factors[] = {NULL, "block", "dense", "cholmod"}; // NULL: the solver's own choice

/// A solver with a factor, which may not be there to build with: then false.
static bool begin(fixture *f, const solver_way *way, double tolerance, const char *factor, stn_instance **instance) {
    *instance = NULL;
    if (factor != NULL &&
        stn_instance_create(f->context, STN_KIND_FACTOR, factor, NULL, 0, instance, &f->err) != STN_OK) {
        assert_string_equal(factor, "cholmod");
        return false;
    }
    const stn_setting settings[] = {number_setting("max_iterations", 20000.0), number_setting("tolerance", tolerance),
                                    text_setting(way->setting, way->value)};
    assert_ok(stn_instance_create(f->context, STN_KIND_SOLVER, way->id, settings, way->setting != NULL ? 3 : 2,
                                  &f->solver, &f->err),
              f->err);
    if (way->law != NULL) {
        assert_ok(stn_instance_create(f->context, STN_KIND_LAW, way->law, NULL, 0, &f->law, &f->err), f->err);
    }
    const stn_problem_solver_options options = {.solver = f->solver, .law = f->law, .factor = *instance};
    assert_ok(stn_problem_solver_create(f->context, &options, &f->problem_solver, &f->err), f->err);
    return true;
}

static void end(fixture *f, stn_instance *factor) {
    leave(f);
    stn_instance_destroy(factor);
}

typedef enum touching { NOTHING, FEW, EVERY_TRIANGLE, OTHER_CLOUD, ITSELF, BODIES, ALL_OF_IT, KINDS } touching;

static void touch_body(scene *s, const cloud *c, const int32_t *triangle, int32_t body) {
    const stn_mat3 frame = stn_mat3_identity();
    double J[18];
    scene_body_rows(stn_vec3_make(0.02 * random_real(&s->random), 0.02 * random_real(&s->random), -0.02), &frame, -1.0,
                    J);
    scene_cloud_contact(s, c, triangle, body, J);
}

/// Two clouds and three bodies of which two may touch; A has two values and one pattern, contacts differ by seed.
static stn_problem *make(scene *s, stn_context *context, touching kind, uint64_t seed, int32_t cells) {
    scene_begin(s, context, 9 + seed % 2);
    const cloud mat = scene_cloud(s, cells, cells, 1, 500.0), ball = scene_cloud(s, 2, 2, 2, 500.0);
    const int32_t bodies[] = {scene_free_body(s, 0.1), scene_free_body(s, 0.2), scene_free_body(s, 0.05)};
    s->random.state = seed;
    const int32_t chance = kind == EVERY_TRIANGLE ? 100 : kind == FEW ? 6 : kind == ALL_OF_IT ? 40 : 0;
    for (int32_t i = 0; i < cloud_nodes(&mat); i++) {
        int32_t one[3], two[3];
        const bool there = cloud_triangle(&mat, i, 0, 1, one);
        if (there && i < cloud_nodes(&mat) / 2 && random_below(&s->random, 100) < chance) {
            scene_cloud_contact(s, &mat, one, -1, NULL);
        }
        if (there && kind >= ITSELF && kind != BODIES && random_below(&s->random, 12) == 0 &&
            cloud_triangle(&mat, random_below(&s->random, cloud_nodes(&mat)), 1, 0, two)) {
            scene_cloud_pair(s, &mat, one, &mat, two);
        }
        if (there && (kind == OTHER_CLOUD || kind == ALL_OF_IT) && random_below(&s->random, 5) == 0 &&
            cloud_triangle(&ball, random_below(&s->random, cloud_nodes(&ball)), 0, 2, two)) {
            scene_cloud_pair(s, &mat, one, &ball, two);
        }
        if (there && kind >= BODIES && random_below(&s->random, 4) == 0) {
            touch_body(s, &mat, one, bodies[random_below(&s->random, 2)]);
        }
    }
    if (kind >= BODIES) { // a body on a body, which touches no node
        double J[2][18];
        const stn_mat3 frame = stn_mat3_identity();
        scene_body_rows(stn_vec3_make(0.0, 0.0, 0.03), &frame, -1.0, J[0]);
        scene_body_rows(stn_vec3_make(0.01, 0.0, -0.02), &frame, 1.0, J[1]);
        scene_constraint(s, 3, bodies[1], J[0], bodies[2], J[1]);
    }
    stn_problem *p = scene_finish(s);
    for (int32_t i = 0; i < p->nv; i++) {
        p->v0[i] = p->v_guess[i] = p->v_star[i] = i % 3 == 2 ? -0.1 : 0.03 * random_real(&s->random);
    }
    for (int32_t i = 0; i < p->constraint_count; i++) {
        p->constraints[i].stiffness = 1e4;
        p->constraints[i].relaxation_time = 0.01;
        p->constraints[i].phi0 = 1e-4 * random_real(&s->random);
    }
    assert_in_range(p->nv, 1, MOST_DOFS);
    assert_in_range(p->row_count, 0, MOST_ROWS);
    return p;
}

/// The same problem with every A written out.
static void write_out(scene *s) {
    stn_problem *p = &s->problem;
    for (int32_t t = 0; t < p->tree_count; t++) {
        stn_matrix *A = &p->trees[t].A;
        if (A->form == STN_MATRIX_NODAL) {
            double *values = scene_reals(s, A->n * A->n, 0.0);
            for (int32_t i = 0; i < A->node_count; i++) {
                for (int32_t e = A->row_start[i]; e < A->row_start[i + 1]; e++) {
                    for (int32_t x = 0; x < 9; x++) {
                        values[(3 * i + x / 3) * A->n + 3 * A->column[e] + x % 3] = A->values[9 * e + x];
                    }
                }
            }
            *A = (stn_matrix){.n = A->n, .form = STN_MATRIX_DENSE, .values = values};
        }
    }
}

static double norm_of(const double *v, int32_t n) {
    double largest = 0.0;
    for (int32_t i = 0; i < n; i++) {
        largest = worse(largest, fabs(v[i]));
    }
    return largest;
}

/// One solver after the other on contacts that come and go, by every factor: all find what a solver that is new finds
/// where A is written out, and repeat it to the bit.
static void factors_and_former_contacts_make_no_difference(void **state) {
    fixture *f = *state;
    static double reference[40][MOST_DOFS];
    static const solver_way sap = {"sap", NULL, NULL, "sap"};
    enum { STEPS = 4 * KINDS };
    for (int32_t k = 0; k < STN_COUNT(factors); k++) {
        stn_instance *factor;
        if (!begin(f, &sap, 1e-10, factors[k], &factor)) {
            print_message("skipped: %s\n", f->err.text);
            continue;
        }
        for (int32_t step = 0; step < STEPS; step++) {
            scene s;
            stn_problem *p = make(&s, f->context, (touching)(step * 5 % KINDS), (uint64_t)(step / 2), 9);
            double v[MOST_DOFS], again[MOST_DOFS], gamma[MOST_ROWS];
            assert_int_equal(solve_into(f, p, 0, v, gamma), STN_OK);
            assert_int_equal(solve_into(f, p, 0, again, gamma), STN_OK);
            assert_memory_equal(v, again, (size_t)p->nv * sizeof *v);
            if (k == 0) {
                stn_problem_solver *used = f->problem_solver;
                const stn_problem_solver_options options = {.solver = f->solver, .law = f->law};
                assert_ok(stn_problem_solver_create(f->context, &options, &f->problem_solver, &f->err), f->err);
                assert_int_equal(solve_into(f, p, 0, again, gamma), STN_OK);
                assert_memory_equal(v, again, (size_t)p->nv * sizeof *v);
                write_out(&s);
                p->explicit_R = true; // that of the nodal A, whose scale is another
                assert_int_equal(solve_into(f, p, 0, reference[step], gamma), STN_OK);
                stn_problem_solver_destroy(f->problem_solver);
                f->problem_solver = used;
            }
            const double size = norm_of(reference[step], p->nv);
            for (int32_t i = 0; i < p->nv; i++) {
                assert_near(v[i], reference[step][i], 1e-9 * size);
            }
            scene_end(&s);
        }
        end(f, factor);
    }
}

/// Every solver: by the factor of its choice what it finds by the dense one.
static void every_solver_finds_the_same_by_every_factor(void **state) {
    fixture *f = *state;
    for (int32_t w = 0; w < STN_COUNT(every_way); w++) {
        // an interior point ends at about 1e-9, where the last digits decide whether it stagnates
        const double tolerance = strcmp(every_way[w].id, "ipm") == 0 ? 1e-8 : 1e-10;
        static double reference[KINDS][MOST_DOFS];
        static bool solved[KINDS];
        int32_t count = 0;
        static const char *const order[] = {"dense", NULL, "block", "cholmod"};
        for (int32_t k = 0; k < STN_COUNT(order); k++) {
            stn_instance *factor;
            if (!begin(f, &every_way[w], tolerance, order[k], &factor)) {
                continue;
            }
            for (int32_t kind = 0; kind < KINDS; kind++) {
                scene s;
                stn_problem *p = make(&s, f->context, (touching)kind, 3, 3);
                double v[MOST_DOFS], gamma[MOST_ROWS];
                const stn_status status = solve_into(f, p, 0, v, gamma);
                solved[kind] = k == 0 ? status == STN_OK : solved[kind];
                if (k == 0) {
                    memcpy(reference[kind], v, sizeof v);
                    count += solved[kind];
                }
                if (solved[kind]) {
                    if (status != STN_OK) {
                        fail_msg("%s %s: kind %d, factor %s: %s after %d iterations", every_way[w].id,
                                 every_way[w].value != NULL ? every_way[w].value : "", kind,
                                 order[k] != NULL ? order[k] : "by default", f->report.reason, f->report.iterations);
                    }
                    const double size = norm_of(reference[kind], p->nv);
                    double off = 0.0;
                    for (int32_t i = 0; i < p->nv; i++) {
                        off = worse(off, fabs(v[i] - reference[kind][i]));
                    }
                    if (!(off <= 1e-6 * size)) {
                        fail_msg("%s %s: kind %d, factor %s: off by %g of %g", every_way[w].id,
                                 every_way[w].value != NULL ? every_way[w].value : "", kind,
                                 order[k] != NULL ? order[k] : "by default", off, size);
                    }
                }
                scene_end(&s);
            }
            end(f, factor);
        }
        print_message("%s %s: %d of %d kinds of contacts solved\n", every_way[w].id,
                      every_way[w].value != NULL ? every_way[w].value : "", count, KINDS);
        assert_true(count > 0);
    }
}

/// The same contacts again: nothing is allocated.
static void repeated_contacts_allocate_nothing(void **state) {
    fixture *f = *state;
    static const solver_way sap = {"sap", NULL, NULL, "sap"};
    stn_instance *factor;
    assert_true(begin(f, &sap, 1e-10, NULL, &factor));
    for (int32_t kind = 0; kind < KINDS; kind++) {
        int64_t before = 0;
        for (int32_t round = 0; round < 3; round++) {
            scene s;
            stn_problem *p = make(&s, f->context, (touching)kind, 5, 6);
            double v[MOST_DOFS], gamma[MOST_ROWS];
            before = stn_context_allocations(f->context);
            assert_int_equal(solve_into(f, p, 0, v, gamma), STN_OK);
            if (round == 2) {
                assert_int_equal(stn_context_allocations(f->context), before);
            }
            scene_end(&s);
        }
    }
    end(f, factor);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(factors_and_former_contacts_make_no_difference, setup, teardown),
        cmocka_unit_test_setup_teardown(every_solver_finds_the_same_by_every_factor, setup, teardown),
        cmocka_unit_test_setup_teardown(repeated_contacts_allocate_nothing, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
