// SPDX-License-Identifier: Apache-2.0
// How a step grows with the number of bodies: 320 to 10,000 of the clutter on the open floor, in columns that stand
// apart and in one heap, and what a second thread gains. Every run is a process of its own, so that its peak of memory
// is its own, and is killed when it takes too long; all together end within MOST_SECONDS.
//
// The scene falls for SETTLE steps of 5 ms with soft_step first; from there every engine makes steps of 2 ms. Time is
// the median of the second half of them, in the processor's time of the thread; E is that of peers/ruler.h, the median
// likewise. Memory is what a run adds to what it began with: of ours the world with its model, tables and working
// memory, of a peer its own world. Arguments: a part of a scene's name ("heap_1000", "columns", "threads"); a part of
// an engine's or a solver's name.
#include <malloc.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench_peer.h"
#include "bench_row.h"
#include "bench_time.h"
#include "peers/ruler.h"
#include "peers/scene.h"

enum { MOST_BODIES = 10000, SETTLE = 240, STEPS = 100, EVERY = 4, TURN = 5, MOST_SECONDS = 9 * 60 };
static const double SETTLE_SECONDS = 25.0, RUN_SECONDS = 10.0; // of the processor

/// When a process is killed: on a machine with other work, and with a step that does not end.
static double patience(double seconds) {
    return 4.0 * seconds + 30.0;
}

typedef struct contestant {
    const peer_engine *engine;
    const char *name, *setting, *solver;
} contestant;

static const contestant contestants[] = {
    {&stiction_peer, "sap tolerance=1e-8", "solver.tolerance=1e-8", "sap"},
    {&stiction_peer, "apgd max_iterations=20", "solver.max_iterations=20", "apgd"},
    {&stiction_peer, "soft_step", NULL, "soft_step"},
#ifdef HAVE_ODE
    {&ode_peer, "ODE sweeps=20", "sweeps=20", NULL},
#endif
#ifdef HAVE_BULLET
    {&bullet_peer, "Bullet sweeps=10", "sweeps=10", NULL},
#endif
};
enum { CONTESTANTS = sizeof contestants / sizeof contestants[0] };

typedef struct scene_plan {
    char name[32]; // "heap_1000"
    int32_t bodies;
    double spacing; // of the columns [m]
    bool walls;
} scene_plan;

/// What a process tells the one that waits for it.
typedef struct board {
    double q[7 * MOST_BODIES]; // where the scene has come to
    int32_t settled, made, errors;
    double us[STEPS], error[STEPS];
    double iterations, contacts, momentum; // sums; the largest
    double load_ms, bytes;                 // script and compiling; of memory
    double turn[2];                        // medians of a step with one thread and with two [us]
    bool equal, ended;
} board;

static bool load(peer_scene *scene, const scene_plan *plan, const contestant *c, const char *dt, int32_t threads) {
    char bodies[32], spacing[32];
    snprintf(bodies, sizeof bodies, "bodies=%d", (int)plan->bodies);
    snprintf(spacing, sizeof spacing, "spacing=%g", plan->spacing);
    const char *settings[] = {"placement=columns",
                              dt,
                              bodies,
                              spacing,
                              plan->walls ? "walls=true" : "walls=false",
                              c->solver != NULL ? c->setting : NULL,
                              NULL};
    return peer_scene_load_threads(scene, STN_SOURCE_DIR "/scripts/clutter.lua", settings, c->solver, threads);
}

/// Of this process, as Linux says it: "VmRSS" now, "VmHWM" at most since it was reset [bytes].
static double memory(const char *name) {
    FILE *file = fopen("/proc/self/status", "r");
    char line[128];
    double kilobytes = NAN;
    while (file != NULL && isnan(kilobytes) && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, name, strlen(name)) == 0) {
            kilobytes = strtod(line + strlen(name) + 1, NULL);
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return 1024.0 * kilobytes;
}

static void reset_peak(void) {
    malloc_trim(0);
    FILE *file = fopen("/proc/self/clear_refs", "w");
    if (file != NULL) {
        fputs("5", file);
        fclose(file);
    }
}

// ------------------------------------------------------------------------------------------------------ in a process

static bool place(peer_scene *scene, const board *b) {
    stn_error err = {0};
    return stn_world_set_q(scene->world, b->q, &err) == STN_OK;
}

static void settle(const scene_plan *plan, board *b) {
    static const contestant soft = {&stiction_peer, "soft_step", NULL, "soft_step"};
    peer_scene scene;
    stn_error err = {0};
    if (!load(&scene, plan, &soft, "dt=0.005", 1)) {
        return;
    }
    const double end = thread_us() + 1e6 * SETTLE_SECONDS;
    for (b->settled = 0; b->settled < SETTLE && thread_us() < end; b->settled++) {
        if (stn_world_step(scene.world, &err) < 0) {
            fprintf(stderr, "%s\n", err.text);
            return;
        }
    }
    memcpy(b->q, stn_world_state(scene.world)->q, (size_t)scene.model->nq * sizeof *b->q);
    b->ended = true;
}

static void run(const scene_plan *plan, const contestant *c, board *b) {
    peer_scene scene;
    const bool ours = c->engine == &stiction_peer;
    reset_peak();
    double before = memory("VmRSS"), start = now_us();
    if (!load(&scene, plan, c, "dt=0.002", 1) || !place(&scene, b)) {
        return;
    }
    b->load_ms = 1e-3 * (now_us() - start);
    reset_peak();
    before = ours ? before : memory("VmRSS");
    void *self = ours ? scene.world : c->engine->create(&scene, c->setting);
    const double end = thread_us() + 1e6 * RUN_SECONDS;
    while (self != NULL && b->made < STEPS && thread_us() < end) {
        const bool watched = b->made % EVERY == EVERY - 1 && c->engine->watch != NULL;
        if (watched) {
            c->engine->watch(self);
        }
        start = thread_us();
        if (!c->engine->step(self)) {
            return;
        }
        b->us[b->made] = thread_us() - start;
        b->bytes = memory("VmHWM") - before; // the ruler's own memory comes later
        peer_report report;
        c->engine->report(self, &report);
        b->iterations += report.iterations;
        b->contacts += report.contacts;
        b->momentum = report.momentum > b->momentum || isnan(report.momentum) ? report.momentum : b->momentum;
        if (watched) {
            b->error[b->errors++] = c->engine->error(self);
            reset_peak();
        }
        b->made++;
    }
    b->ended = self != NULL;
}

/// One and two threads in turns of TURN steps: medians of the wall time, and whether every turn ends in one state.
static void run_threads(const scene_plan *plan, const contestant *c, board *b) {
    peer_scene scenes[2];
    stn_error err = {0};
    double us[2][STEPS];
    for (int32_t i = 0; i < 2; i++) {
        if (!load(&scenes[i], plan, c, "dt=0.002", i + 1) || !place(&scenes[i], b)) {
            return;
        }
    }
    const double end = now_us() + 1e6 * RUN_SECONDS;
    b->equal = true;
    while (b->made < STEPS && now_us() < end) {
        for (int32_t i = 0; i < 2; i++) {
            for (int32_t k = 0; k < TURN; k++) {
                const double start = now_us();
                if (stn_world_step(scenes[i].world, &err) < 0) {
                    fprintf(stderr, "%s\n", err.text);
                    return;
                }
                us[i][b->made + k] = now_us() - start;
            }
        }
        b->made += TURN;
        b->equal = b->equal && stn_world_hash(scenes[0].world) == stn_world_hash(scenes[1].world);
    }
    for (int32_t i = 0; i < 2; i++) {
        b->turn[i] = median(us[i], b->made);
    }
    b->ended = true;
}

typedef enum job { SETTLING, STEPPING, THREADS } job;

/// Lets a process do a job; false: it failed, or was killed as it took too long.
static bool wait_for(job what, const scene_plan *plan, const contestant *c, board *b, double limit_s) {
    b->made = b->errors = 0;
    b->iterations = b->contacts = b->momentum = b->bytes = b->load_ms = 0.0;
    b->ended = false;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        if (what == SETTLING) {
            settle(plan, b);
        } else if (what == STEPPING) {
            run(plan, c, b);
        } else {
            run_threads(plan, c, b);
        }
        _exit(0); // what it holds goes with it
    }
    const double end = now_us() + 1e6 * limit_s;
    int status = 0;
    while (child > 0 && waitpid(child, &status, WNOHANG) == 0) {
        if (now_us() > end) {
            kill(child, SIGKILL);
            waitpid(child, &status, 0);
            break;
        }
        usleep(10000);
    }
    return child > 0 && b->ended;
}

// -------------------------------------------------------------------------------------------------------- the tables

static fit fits[CONTESTANTS][2]; // of time over bodies; [heap]

static void measure(const scene_plan *plan, int32_t index, board *b, double left_s, bool heap) {
    const contestant *c = &contestants[index];
    const bool whole = wait_for(STEPPING, plan, c, b, fmin(patience(RUN_SECONDS), left_s));
    const int32_t half = b->made / 2, half_errors = b->errors / 2;
    const double us = median(b->us + half, b->made - half),
                 error = median(b->error + half_errors, b->errors - half_errors),
                 bytes = b->made > 0 ? b->bytes : (double)NAN, iterations = b->iterations / b->made;
    printf("  %-24s %5d %11.0f %9.2f %9.1f %9.0f %6.1f %9.0f %9.1e %9.1e %9.0f%s\n", c->name, (int)b->made, us,
           us / plan->bodies, 1e-6 * bytes, bytes / plan->bodies, iterations, b->contacts / b->made, error, b->momentum,
           b->load_ms, whole && b->made == STEPS ? "" : "  cut");
    fflush(stdout);
    bench_row("scale", plan->name, c->name, "", "us", us);
    bench_row("scale", plan->name, c->name, "memory", "B/body", bytes / plan->bodies);
    bench_row("scale", plan->name, c->name, "iterations", "1", iterations);
    bench_row("scale", plan->name, c->name, "error", "1", error);
    bench_row("scale", plan->name, c->name, "load", "ms", b->load_ms);
    if (!whole || b->made < STEPS) {
        bench_row("scale", plan->name, c->name, "cut", "steps", b->made);
    }
    if (b->made > 0) {
        fit_add(&fits[index][heap ? 1 : 0], plan->bodies, us);
    }
}

static void print_exponents(void) {
    for (int32_t i = 0; i < CONTESTANTS; i++) {
        if (fits[i][0].n > 1.0 || fits[i][1].n > 1.0) {
            const double columns = fit_exponent(&fits[i][0]), heap = fit_exponent(&fits[i][1]);
            printf("exponent of the time over bodies, %s: columns %.2f, heap %.2f\n", contestants[i].name, columns,
                   heap);
            bench_row("scale", "columns, exponent", contestants[i].name, "", "1", columns);
            bench_row("scale", "heap, exponent", contestants[i].name, "", "1", heap);
        }
    }
}

static void measure_threads(const scene_plan *plan, const contestant *c, board *b, double left_s) {
    const bool whole = wait_for(THREADS, plan, c, b, fmin(patience(2.0 * RUN_SECONDS), left_s));
    const double one = whole ? b->turn[0] : (double)NAN, two = whole ? b->turn[1] : (double)NAN;
    printf("  %-20s %-24s %5d %9.0f %9.0f %6.2f  %s\n", plan->name, c->name, (int)b->made, one, two, one / two,
           !whole     ? "cut"
           : b->equal ? "equal"
                      : "DIFFERENT");
    fflush(stdout);
    bench_row("threads", plan->name, c->name, "", "us", one);
    bench_row("threads", plan->name, c->name, "two", "us", two);
    bench_row("threads", plan->name, c->name, "equal", "1", whole ? (double)b->equal : (double)NAN);
}

static double seconds_since(double start_us) {
    return 1e-6 * (now_us() - start_us);
}

static void tell(const char *name, double gone) {
    fprintf(stderr, "scale: %s; %d:%02d gone, at most %d:00\n", name, (int)gone / 60, (int)gone % 60,
            MOST_SECONDS / 60);
}

int main(int argc, char **argv) {
    static const int32_t counts[] = {320, 1000, 3000, MOST_BODIES}, threaded[] = {320, 1000};
    const char *part = argc > 1 ? argv[1] : "", *only = argc > 2 ? argv[2] : "";
    const double start = now_us();
    board *b = mmap(NULL, sizeof *b, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (b == MAP_FAILED) {
        perror("scale");
        return 1;
    }
    print_processor();
    print_missing_peers();
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) { // the small ones first: the large ones may be cut
        for (int32_t heap = 0; heap < 2; heap++) {
            scene_plan plan = {.bodies = counts[i], .spacing = heap != 0 ? 0.13 : 0.3};
            snprintf(plan.name, sizeof plan.name, "%s_%d", heap != 0 ? "heap" : "columns", (int)counts[i]);
            if (strstr(plan.name, part) == NULL) {
                continue;
            }
            tell(plan.name, seconds_since(start));
            if (!wait_for(SETTLING, &plan, NULL, b,
                          fmin(patience(SETTLE_SECONDS), MOST_SECONDS - seconds_since(start)))) {
                printf("%s: left out, it did not come to its start\n", plan.name);
                continue;
            }
            printf("%s: %d bodies, fallen for %d steps of 5 ms\n  %-24s %5s %11s %9s %9s %9s %6s %9s %9s %9s %9s\n",
                   plan.name, (int)plan.bodies, (int)b->settled, "", "steps", "us a step", "us/body", "MB",
                   "bytes/body", "iter", "contacts", "E", "momentum", "load ms");
            for (int32_t c = 0; c < CONTESTANTS; c++) {
                const double left = MOST_SECONDS - seconds_since(start);
                if (strstr(contestants[c].name, only) != NULL) {
                    measure(&plan, c, b, left, heap != 0);
                }
            }
        }
    }
    print_exponents();
    if (strstr("threads", part) != NULL) {
        printf("one thread and two, in turns of %d steps\n  %-20s %-24s %5s %9s %9s %6s  states\n", TURN, "", "",
               "steps", "us, one", "us, two", "ratio");
        for (size_t i = 0; i < 2 * sizeof threaded / sizeof threaded[0]; i++) {
            scene_plan plan = {.bodies = threaded[i / 2], .spacing = 0.0, .walls = i % 2 == 0};
            snprintf(plan.name, sizeof plan.name, "%s_%d", plan.walls ? "walls" : "open", (int)plan.bodies);
            tell(plan.name, seconds_since(start));
            const bool settled =
                wait_for(SETTLING, &plan, NULL, b, fmin(patience(SETTLE_SECONDS), MOST_SECONDS - seconds_since(start)));
            for (int32_t c = 0; c < CONTESTANTS && settled; c++) {
                if (contestants[c].engine == &stiction_peer && strstr(contestants[c].name, only) != NULL) {
                    measure_threads(&plan, &contestants[c], b, MOST_SECONDS - seconds_since(start));
                }
            }
        }
    }
    munmap(b, sizeof *b);
    return 0;
}
