// SPDX-License-Identifier: Apache-2.0
// Broad and narrow phase together, without a solver: heaps, layers and spread-out scenes of 10 to 10,000 mixed bodies,
// ours beside the peers that are installed, on the same poses, each in one thread. The time is the median over steps
// with small coherent motion in between, of the processor alone: other programs on the machine take turns, but do not
// count; cost ~ count^exponent is fitted by least squares over 100 bodies and more, also against the number of points,
// as larger heaps have more points a body. The mean depth of the pairs tells whether all measure the same.
#include "bench_peer.h"
#include "bench_row.h"
#include "bench_time.h"
#include "collision/engines.h"

enum { WARM_UP = 10, MOST_STEPS = 300, FEWEST_STEPS = 5 };
static const double BUDGET_US = 4e5; // of one engine in one scene

/// Median time of one detection [us].
static double median_time(const engine *e, void *self, scene *s) {
    double times[MOST_STEPS], spent = 0.0;
    int32_t kept = 0;
    for (int32_t step = 0; kept < MOST_STEPS && (kept < FEWEST_STEPS || spent < BUDGET_US); step++) {
        scene_move(s, step);
        e->place(self, s);
        double start = thread_us();
        e->detect(self);
        double time = thread_us() - start;
        if (step >= WARM_UP || time > BUDGET_US / FEWEST_STEPS) {
            times[kept++] = time;
            spent += time;
        }
    }
    return median(times, kept);
}

/// What one detection found.
typedef struct found {
    int32_t contacts, pairs;
    double deepest, depth; // of all; of the deepest point of each pair, sum [m]
    int32_t a, b;          // the pair visited last
    double of_pair;        // its depth
} found;

static void count_point(void *user, int32_t a, int32_t b, double depth, const double normal[3]) {
    found *f = user;
    (void)normal;
    if (f->contacts++ == 0 || a != f->a || b != f->b) {
        f->pairs++;
        f->of_pair = 0.0;
    }
    f->a = a;
    f->b = b;
    f->depth += fmax(depth - f->of_pair, 0.0);
    f->of_pair = fmax(depth, f->of_pair);
    f->deepest = fmax(depth, f->deepest);
}

static void write_row(const engine *e, const char *title, int32_t bodies, double us, double points) {
    char what[64];
    snprintf(what, sizeof what, "%s, %d", title, (int)bodies);
    bench_row("collision", what, e->name, "", "us/body", us);
    bench_row("collision", what, e->name, "points", "1/body", points);
}

static void measure(const engine *e, const char *title, scene *s, fit *bodies, fit *points) {
    scene_move(s, 0);
    void *self = e->create(s);
    if (self == NULL) {
        return;
    }
    double time = median_time(e, self, s);
    scene_move(s, 0);
    e->place(self, s);
    e->detect(self);
    found c = {0};
    e->visit(self, count_point, &c);
    printf("  %-9s %6d %11.1f %9.3f %9.3f %9.2f %9d %8.4f %9.3f\n", e->name, (int)s->count, time, time / s->count,
           c.contacts > 0 ? time / c.contacts : 0.0, (double)c.contacts / s->count, (int)c.pairs, c.deepest,
           c.pairs > 0 ? 1e3 * c.depth / c.pairs : 0.0);
    fflush(stdout);
    write_row(e, title, s->count, time / s->count, (double)c.contacts / s->count);
    e->destroy(self);
    if (s->count >= 100) {
        fit_add(bodies, s->count, time);
        fit_add(points, c.contacts, time);
    }
}

static void compare_engines(const char *title, bool (*make)(scene *, int32_t), int32_t one, const char *only) {
    static const int32_t counts[] = {10, 30, 100, 300, 1000, 3000, 10000};
    fit bodies[ENGINES] = {0}, points[ENGINES] = {0};
    printf("%s\n  %-9s %6s %11s %9s %9s %9s %9s %8s %9s\n", title, "engine", "bodies", "step us", "us/body", "us/point",
           "pts/body", "pairs", "deepest", "depth mm");
    int32_t sizes = one > 0 ? 1 : (int32_t)(sizeof counts / sizeof counts[0]);
    for (int32_t k = 0; k < sizes; k++) {
        scene s;
        int32_t count = one > 0 ? one : counts[k];
        if (!make(&s, count)) {
            printf("  no scene of %d bodies\n", (int)count);
            continue;
        }
        for (int32_t i = 0; i < ENGINES; i++) {
            if (only == NULL || strcmp(only, engines[i]->name) == 0) {
                measure(engines[i], title, &s, &bodies[i], &points[i]);
            }
        }
        scene_clear(&s);
    }
    for (int32_t i = 0; i < ENGINES; i++) {
        if (bodies[i].n > 1.0) {
            printf("  %-9s cost ~ bodies^%.2f ~ points^%.2f\n", engines[i]->name, fit_exponent(&bodies[i]),
                   fit_exponent(&points[i]));
        }
    }
}

/// Arguments: one number of bodies instead of all, one engine alone.
int main(int argc, char **argv) {
    int32_t one = argc > 1 ? atoi(argv[1]) : 0;
    const char *only = argc > 2 ? argv[2] : NULL;
    print_processor();
    print_missing_peers();
    compare_engines("heap", scene_pile, one, only);
    compare_engines("heap with cylinders", scene_pile_cylinders, one, only);
    compare_engines("layer", scene_layer, one, only);
    compare_engines("spread out", scene_spread, one, only);
    return 0;
}
