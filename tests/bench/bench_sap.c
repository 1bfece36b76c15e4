// SPDX-License-Identifier: Apache-2.0
// The solver sap on frozen piles: microseconds of a Newton iteration by part, and of the work once per solve.
// Newton's loop is written again here, from the solver's own parts, with a clock between them. Every part of every
// iteration is the least of the repetitions: what else the machine does is not measured. The first argument is the
// number of threads, the second the least number of bodies of the piles.
#include <stdlib.h>

#include "../../plugins/solver/sap/system.h"
#include "bench_time.h"
#include "stn_scene.h"

enum { SEEDS = 8, MAX_ITERATIONS = 100 };

enum { PACK, PATTERN, GRADIENT, ASSEMBLY, FACTOR, DIRECTION, SEARCH, PARTS };
static const char *const names[PARTS] = {"pack", "pattern", "gradient", "assembly", "factor", "direction", "search"};

typedef struct bench {
    stn_context *context;
    stn_instance *law_instance;
    stn_law law;
    stn_inverse *inverse;
    stn_arena *arena;
    void *workspace;
    stn_threads *threads;
    int32_t least;                        // bodies
    double us[MAX_ITERATIONS + 1][PARTS]; // of one problem, the least so far
    int32_t iteration, iterations, trials;
} bench;

static void lap(bench *b, int part, double *clock) {
    double *us = &b->us[b->iteration][part], time = now_us() - *clock;
    *us = *us == 0.0 || time < *us ? time : *us;
    *clock = now_us();
}

static void need(stn_status status, const stn_error *err) {
    if (status < STN_OK) {
        fprintf(stderr, "%s\n", err->text);
        exit(1);
    }
}

static void solve(bench *b, const stn_problem *p, double tolerance) {
    const sap_config config = {SAP_EXACT, AUGMENTED_AUTO, 1e-2, true};
    stn_solve_control control = {.tolerance = tolerance,
                                 .context = b->context,
                                 .arena = b->arena,
                                 .threads = b->threads,
                                 .law = &b->law,
                                 .workspace = b->workspace};
    sap_system s = {.problem = p, .control = &control, .config = &config};
    stn_error err = {STN_OK, ""};
    b->iteration = 0;
    double clock = now_us();
    need(sap_pack(&s, p->v_guess, &err), &err);
    sap_refresh(&s);
    lap(b, PACK, &clock);
    for (;; b->iteration++) {
        sap_gradient(&s);
        bool done = s.gradient_norm <= tolerance * fmax(s.Av_norm, s.j_norm) || b->iteration == MAX_ITERATIONS;
        lap(b, GRADIENT, &clock);
        if (done) {
            break;
        }
        if (!s.H.ready) {
            need(augmented_analyse(&s.H, AUGMENTED_AUTO, &err), &err);
            lap(b, PATTERN, &clock);
        }
        sap_anticipate(&s);
        augmented_assemble(&s.H, s.H_G, s.now.line_G, s.changed);
        lap(b, ASSEMBLY, &clock);
        need(sap_factor(&s, false, &err), &err);
        lap(b, FACTOR, &clock);
        need(sap_direction(&s, &err), &err);
        lap(b, DIRECTION, &clock);
        sap_line_search(&s);
        lap(b, SEARCH, &clock);
    }
    b->iterations = b->iteration;
    b->trials = s.evaluations;
    stn_arena_reset(b->arena);
}

static void measure(bench *b, int32_t side, int32_t height, bool spheres, int repeats) {
    int32_t contacts = 0, iterations = 0, trials = 0;
    double total[PARTS] = {0.0}, sum = 0.0;
    if (side * side * height < b->least) {
        return;
    }
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        scene s;
        stn_error err = {STN_OK, ""};
        scene_begin(&s, b->context, seed);
        scene_pile(&s, side, height, spheres, 0.02);
        contacts = s.problem.constraint_count;
        need(stn_inverse_factor(b->inverse, &s.problem, &err), &err);
        need(stn_inverse_masses(b->inverse, &s.problem, b->arena, &err), &err);
        stn_arena_reset(b->arena);
        b->law.ops->regularize(b->law.self, &s.problem);
        memset(b->us, 0, sizeof b->us);
        for (int k = 0; k < repeats; k++) {
            solve(b, &s.problem, 1e-8);
        }
        iterations += b->iterations;
        trials += b->trials;
        for (int i = 0; i <= b->iterations; i++) {
            for (int part = 0; part < PARTS; part++) {
                total[part] += b->us[i][part];
            }
        }
        scene_end(&s);
    }
    printf("%4d %-7s %4d contacts %5.1f iterations %4.1f trials |", side * side * height, spheres ? "spheres" : "boxes",
           contacts, (double)iterations / SEEDS, (double)trials / iterations);
    for (int part = 0; part < PARTS; part++) {
        double us = total[part] / (part <= PATTERN ? SEEDS : iterations);
        sum += part <= PATTERN ? 0.0 : us;
        printf("%s %s %.1f", part == GRADIENT ? " |" : "", names[part], us);
    }
    printf(" | sum %.1f us\n", sum);
}

int main(int argc, char **argv) {
    bench b = {.least = argc > 2 ? atoi(argv[2]) : 0};
    stn_error err = {STN_OK, ""};
    need(stn_context_create(NULL, &b.context, &err), &err);
    need(stn_threads_create(b.context, argc > 1 ? atoi(argv[1]) : 1, &b.threads, &err), &err);
    need(stn_instance_create(b.context, STN_KIND_LAW, "sap", NULL, 0, &b.law_instance, &err), &err);
    b.law = (stn_law){.ops = b.law_instance->desc->ops.law, .self = b.law_instance->self, .id = "sap"};
    need(stn_inverse_create(b.context, &b.inverse, &err), &err);
    need(symbolic_cache_create(NULL, b.context, &b.workspace, &err), &err);
    b.arena = stn_arena_create(b.context);
    printf("once per solve | per Newton iteration [us]\n");
    measure(&b, 1, 1, false, 20);
    measure(&b, 2, 1, false, 20);
    measure(&b, 2, 10, true, 20);
    measure(&b, 2, 40, true, 20);
    measure(&b, 2, 80, true, 20);
    measure(&b, 4, 3, true, 20);
    measure(&b, 5, 6, true, 20);
    measure(&b, 7, 7, true, 20);
    measure(&b, 3, 4, false, 20);
    measure(&b, 5, 6, false, 20);
    stn_arena_destroy(b.arena);
    symbolic_cache_destroy(b.workspace);
    stn_threads_destroy(b.threads);
    stn_inverse_destroy(b.inverse);
    stn_instance_destroy(b.law_instance);
    stn_context_destroy(b.context);
    return 0;
}
