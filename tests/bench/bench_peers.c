// SPDX-License-Identifier: Apache-2.0
// Whole steps beside the peers that are installed: the scenes of scripts/ with the same bodies, masses and steps in
// every engine, each in one thread, taking turns of a few steps so that all see the same load of the machine. Times are
// wall times; where steps take longer than a turn of the clock matters, those of the thread alone. A scene that has
// taken an engine its time is cut there: what it says then is of the fall, not of the pile.
#include "bench_peer.h"
#include "bench_row.h"
#include "bench_time.h"
#include "peers/scene.h"

static const peer_engine *const engines[] = {
    &stiction_peer,
#ifdef HAVE_MUJOCO
#define HAVE_MUJOCO_PEER 1
    &mujoco_peer,
#else
#define HAVE_MUJOCO_PEER 0
#endif
#ifdef HAVE_ODE
    &ode_peer,
#endif
#ifdef HAVE_BULLET
    &bullet_peer,
#endif
};
enum { ENGINES = sizeof engines / sizeof engines[0], TURN = 20, MOST_SETTINGS = 8, MOST_SOLVERS = 8 };

/// Other solvers of ours that take part beside what the scene's script chooses; the second argument on.
static const char *solvers[MOST_SOLVERS] = {"soft_step"};
static int32_t solver_count = 1;

static const double LONGEST_US = 15e6, CUT_FRACTION = 0.2; // of one engine in one scene; the settled part of a run

/// A row of the table: a scene and what peers that are not installed here took for it.
typedef struct bench_scene {
    const char *name, *script;
    const char *settings[MOST_SETTINGS];
    int32_t steps, bodies; // bodies: of a clutter, counts for the exponents
    bool walls;
    bool articulated; // not for engines that are measured on free bodies alone
} bench_scene;

/// Engines from here on are measured on free bodies alone.
enum { ARTICULATED = 1 + HAVE_MUJOCO_PEER };

/// One engine in one scene.
typedef struct run {
    const peer_engine *engine;
    const char *name;
    peer_scene own; // of another solver; else empty
    void *self;
    double *us;
    int32_t made;
    double spent, iterations, contacts, momentum; // sums, momentum: largest
    bool over;
    double *q, *q_before, *v; // (nq), (nq), (nv) of the energy
    double least, rise;       // of the energy: smallest so far, largest rise above that [J]
} run;

static void note(run *r) {
    peer_report report;
    r->engine->report(r->self, &report);
    r->iterations += report.iterations;
    r->contacts += report.contacts;
    r->momentum = report.momentum > r->momentum || isnan(report.momentum) ? report.momentum : r->momentum;
}

/// Kinetic and potential energy after a turn. The velocity is that of the last step's positions, in every engine: one
/// that undoes overlaps by moving bodies pays for it.
static void note_energy(run *r, const peer_scene *scene, stn_kinematics *kinematics) {
    stn_difference_q(scene->model, r->q_before, r->q, r->v);
    for (int32_t d = 0; d < scene->model->nv; d++) {
        r->v[d] /= scene->dt;
    }
    stn_kinematics_update(kinematics, r->q, r->v);
    double energy =
        stn_kinetic_energy(kinematics) + stn_gravitational_energy(kinematics, stn_vec3_make(0.0, 0.0, -9.81));
    r->least = fmin(r->least, energy);
    r->rise = fmax(r->rise, energy - r->least);
}

static void take_turn(run *r, int32_t steps) {
    bool slow = r->made > 0 && r->spent / r->made > 50.0; // a call of the other clock costs 0.3 us
    double (*clock)(void) = slow ? thread_us : now_us;
    for (int32_t i = 0; i < TURN && !r->over; i++) {
        if (i + 1 == TURN) {
            r->engine->read_q(r->self, r->q_before);
        }
        double start = clock();
        bool made = r->engine->step(r->self);
        double time = clock() - start;
        if (made) {
            r->us[r->made++] = time;
            r->spent += time;
            note(r);
        }
        r->over = !made || r->made == steps || r->spent > LONGEST_US;
        if (i + 1 == TURN) {
            r->engine->read_q(r->self, r->q);
        }
    }
}

/// Of the medians over 40 bodies and more; [walls].
static fit fits[ENGINES][2];

static void print_number(int width, int digits, double value) {
    if (isnan(value)) {
        printf(" %*s", width, "-");
    } else {
        printf(" %*.*f", width, digits, value);
    }
}

/// Returns the median.
static double print_run(const peer_scene *scene, const bench_scene *b, run *r, double ours) {
    double *q = malloc((size_t)scene->model->nq * sizeof *q), overlap = NAN;
    if (q != NULL) {
        r->engine->read_q(r->self, q);
        overlap = peer_scene_overlap(scene, q);
        free(q);
    }
    int32_t last = (int32_t)(CUT_FRACTION * r->made);
    double settled = median(r->us + r->made - last, last), all = median(r->us, r->made),
           p99 = quantile(r->us, r->made, 0.99);
    printf("  %-22s %6d", r->name, (int)r->made);
    print_number(10, 2, all);
    print_number(10, 2, p99);
    print_number(10, 2, settled);
    print_number(7, 2, r->made < b->steps ? (double)NAN : isnan(ours) ? 1.0 : all / ours);
    print_number(6, 1, r->iterations / r->made);
    print_number(8, 1, r->contacts / r->made);
    if (isnan(r->momentum)) {
        printf(" %9s", "-");
    } else {
        printf(" %9.1e", r->momentum);
    }
    print_number(9, 4, 1e3 * overlap);
    print_number(9, 3, r->rise);
    printf("%s\n", r->made < b->steps ? "  cut" : "");
    char what[128]; // another solver of ours is a line of its own
    snprintf(what, sizeof what, "%s%s%s", b->name, r->own.world != NULL ? ", " : "",
             r->own.world != NULL ? r->name : "");
    if (r->made < b->steps) {
        bench_row("step", what, r->engine->name, "cut", "us", settled);
        return all;
    }
    bench_row("step", what, r->engine->name, "", "us", all);
    bench_row("step", what, r->engine->name, "p99", "us", p99);
    bench_row("step", what, r->engine->name, "settled", "us", settled);
    bench_row("step", what, r->engine->name, "momentum", "1", r->momentum);
    bench_row("step", what, r->engine->name, "overlap", "mm", 1e3 * overlap);
    bench_row("step", what, r->engine->name, "energy", "J", r->rise);
    return all;
}

/// Figures of newer peers measured elsewhere, where that table lies beside the project.
static void print_elsewhere(const bench_scene *b) {
    static const char *const places[] = {STN_SOURCE_DIR "/../shared/peers/results.csv",
                                         STN_SOURCE_DIR "/../../shared/peers/results.csv"};
    FILE *file = NULL;
    for (size_t i = 0; i < sizeof places / sizeof places[0] && file == NULL; i++) {
        file = fopen(places[i], "r");
    }
    char line[512], scene[128], peer[64], version[32];
    double bodies, dof, contacts, median, mean, p99, iterations, overlap, memory, rows, settled;
    size_t length = strlen(b->name);
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        int read =
            sscanf(line, "%127[^,],%63[^,],%31[^,],%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf", scene, peer, version,
                   &bodies, &dof, &contacts, &median, &mean, &p99, &iterations, &overlap, &memory, &rows, &settled);
        const char *rest = scene + length;
        bool same = read == 14 && strncmp(scene, b->name, length) == 0 &&
                    (*rest == '\0' || strcmp(rest, "_ell") == 0 || strcmp(rest, "_ell_cut") == 0);
        if (same) {
            printf("  elsewhere: %s %s %.2f, p99 %.2f, settled %.2f%s\n", peer, version, median, p99, settled,
                   strstr(rest, "cut") != NULL ? ", cut" : "");
        }
    }
    if (file != NULL) {
        fclose(file);
    }
}

static run *begin_run(const peer_scene *scene, const bench_scene *b, const peer_engine *engine, run *runs,
                      int32_t *count) {
    run r = {.engine = engine, .name = engine->name, .self = engine->create(scene), .least = (double)INFINITY};
    const size_t nq = (size_t)scene->model->nq, nv = (size_t)scene->model->nv;
    r.us = calloc((size_t)b->steps, sizeof *r.us);
    r.q = calloc(2 * nq + nv, sizeof *r.q);
    if (r.self == NULL || r.us == NULL || r.q == NULL) {
        free(r.us);
        free(r.q);
        return NULL;
    }
    r.q_before = r.q + nq;
    r.v = r.q_before + nq;
    runs[*count] = r;
    return &runs[(*count)++];
}

/// Every engine, then our other solvers; returns how many.
static int32_t begin_runs(const peer_scene *scene, const bench_scene *b, const char *script, run *runs) {
    int32_t count = 0;
    for (int32_t e = 0; e < ENGINES; e++) {
        bool fits_in = !b->articulated || e < ARTICULATED;
        if (fits_in && begin_run(scene, b, engines[e], runs, &count) == NULL) {
            printf("  %-22s left out: it cannot hold this scene\n", engines[e]->name);
        }
    }
    for (int32_t i = 0; i < solver_count; i++) {
        peer_scene own;
        if (!peer_scene_load(&own, script, b->settings, solvers[i])) {
            continue;
        }
        run *r = begin_run(&own, b, &stiction_peer, runs, &count);
        if (r == NULL) {
            peer_scene_clear(&own);
            continue;
        }
        r->own = own;
        r->name = solvers[i];
    }
    return count;
}

static void measure(const bench_scene *b) {
    peer_scene scene;
    char script[512];
    stn_kinematics *kinematics = NULL;
    stn_error err;
    snprintf(script, sizeof script, "%s/%s", STN_SOURCE_DIR, b->script);
    if (!peer_scene_load(&scene, script, b->settings, NULL)) {
        return;
    }
    printf("%s: %d bodies, %d dofs, %d steps of %g ms\n", b->name, (int)scene.model->body_count - 1,
           (int)scene.model->nv, (int)b->steps, 1e3 * scene.dt);
    run runs[ENGINES + MOST_SOLVERS] = {{0}};
    int32_t count = 0;
    if (stn_kinematics_create(scene.model, &kinematics, &err) == STN_OK) {
        count = begin_runs(&scene, b, script, runs);
    }
    for (bool going = true; going;) {
        going = false;
        for (int32_t i = 0; i < count; i++) {
            take_turn(&runs[i], b->steps);
            if (runs[i].made > 0 && runs[i].made % TURN == 0) {
                note_energy(&runs[i], &scene, kinematics);
            }
            going = going || !runs[i].over;
        }
    }
    double ours = NAN;
    for (int32_t i = 0; i < count; i++) {
        double time = print_run(&scene, b, &runs[i], ours);
        ours = i == 0 ? time : ours;
        for (int32_t e = 0; e < ENGINES && b->bodies >= 40 && runs[i].made == b->steps; e++) {
            if (engines[e] == runs[i].engine && runs[i].own.world == NULL) {
                fit_add(&fits[e][b->walls], b->bodies, time);
            }
        }
        runs[i].engine->destroy(runs[i].self);
        free(runs[i].us);
        free(runs[i].q);
        peer_scene_clear(&runs[i].own);
    }
    stn_kinematics_destroy(kinematics);
    print_elsewhere(b);
    fflush(stdout);
    peer_scene_clear(&scene);
}

static void print_exponents(void) {
    printf("exponent of the median over bodies, 40 and more, runs that were not cut\n");
    for (int32_t e = 0; e < ENGINES; e++) {
        printf("  %-13s walls", engines[e]->name);
        print_number(5, 2, fit_exponent(&fits[e][1]));
        printf(", open floor");
        print_number(5, 2, fit_exponent(&fits[e][0]));
        printf("\n");
    }
}

/// `only`: scenes with this in their name, NULL for all.
static void measure_clutter(const char *only) {
    static const int32_t counts[] = {8, 16, 40, 80, 160, 320};
    for (int32_t walls = 1; walls >= 0; walls--) {
        for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
            char name[64], bodies[32];
            snprintf(name, sizeof name, "clutter%d_%s", (int)counts[i], walls != 0 ? "walls" : "open");
            snprintf(bodies, sizeof bodies, "bodies=%d", (int)counts[i]);
            const bench_scene b = {name,
                                   "scripts/clutter.lua",
                                   {"placement=columns", "dt=0.002", "seconds=3", "solver.tolerance=1e-8", bodies,
                                    walls != 0 ? "walls=true" : "walls=false", NULL},
                                   1500,
                                   counts[i],
                                   walls != 0,
                                   false};
            if (only == NULL || strstr(name, only) != NULL) {
                measure(&b);
            }
        }
    }
}

int main(int argc, char **argv) {
    static const bench_scene robots[] = {
        {"quadruped_stand", "scripts/quadruped.lua", {"task=stand", NULL}, 10000, 0, false, true},
        {"quadruped_freefall", "scripts/quadruped.lua", {"task=free_fall", "seconds=5", NULL}, 5000, 0, false, true},
        {"dualarm_5ms", "scripts/dual_arm_hold.lua", {NULL}, 2000, 0, false, true},
        {"dualarm_2ms", "scripts/dual_arm_hold.lua", {"dt=0.002", NULL}, 2000, 0, false, true},
    };
    const char *only = argc > 1 ? argv[1] : NULL;
    for (int32_t i = 2; i < argc && i < 2 + MOST_SOLVERS; i++) {
        solvers[i - 2] = argv[i];
        solver_count = i - 1;
    }
    print_processor();
    print_missing_peers();
    printf("  %-22s %6s %10s %10s %10s %7s %6s %8s %9s %9s %9s\n", "[us a step]", "steps", "median", "p99", "settled",
           "ratio", "iter", "contacts", "momentum", "overlap", "energy");
    for (size_t i = 0; i < sizeof robots / sizeof robots[0]; i++) {
        if (only == NULL || strstr(robots[i].name, only) != NULL) {
            measure(&robots[i]);
        }
    }
    measure_clutter(only);
    print_exponents();
    return 0;
}
