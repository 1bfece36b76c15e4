// SPDX-License-Identifier: Apache-2.0
// Whole steps beside the peers that are installed: the scenes of scripts/ with the same bodies, masses and steps in
// every engine, each in one thread (peers/race.h). A scene that has taken an engine its time is cut there: what it says
// then is of the fall, not of the pile.
#include "bench_peer.h"
#include "bench_row.h"
#include "bench_time.h"
#include "peers/race.h"

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
enum { ENGINES = sizeof engines / sizeof engines[0], MOST_SETTINGS = 8, MOST_SOLVERS = 8 };

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
static double print_run(const peer_scene *scene, const bench_scene *b, race_run *r, double ours) {
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

/// Every engine, then our other solvers; returns how many.
static int32_t begin_runs(const peer_scene *scene, const bench_scene *b, const char *script, race_run *runs) {
    int32_t count = 0;
    for (int32_t e = 0; e < ENGINES && (!b->articulated || e < ARTICULATED); e++) {
        if (race_begin(&runs[count], scene, engines[e], NULL, b->steps, LONGEST_US, false)) {
            count++;
        } else {
            printf("  %-22s left out: it cannot hold this scene\n", engines[e]->name);
        }
    }
    for (int32_t i = 0; i < solver_count; i++) {
        peer_scene own;
        if (!peer_scene_load(&own, script, b->settings, solvers[i])) {
            continue;
        }
        if (!race_begin(&runs[count], &own, &stiction_peer, NULL, b->steps, LONGEST_US, false)) {
            peer_scene_clear(&own);
            continue;
        }
        runs[count].own = own;
        runs[count++].name = solvers[i];
    }
    return count;
}

static void measure(const bench_scene *b) {
    peer_scene scene;
    char script[512];
    snprintf(script, sizeof script, "%s/%s", STN_SOURCE_DIR, b->script);
    if (!peer_scene_load(&scene, script, b->settings, NULL)) {
        return;
    }
    printf("%s: %d bodies, %d dofs, %d steps of %g ms\n", b->name, (int)scene.model->body_count - 1,
           (int)scene.model->nv, (int)b->steps, 1e3 * scene.dt);
    race_run runs[ENGINES + MOST_SOLVERS];
    const int32_t count = begin_runs(&scene, b, script, runs);
    race(&scene, runs, count, (double)INFINITY);
    double ours = NAN;
    for (int32_t i = 0; i < count; i++) {
        double time = print_run(&scene, b, &runs[i], ours);
        ours = i == 0 ? time : ours;
#ifdef HAVE_MUJOCO
        if (runs[i].engine == &mujoco_peer && runs[i].made == b->steps) { // one of the project's aims
            bench_row("step", b->name, stiction_peer.name, "MuJoCo over ours", "1", time / ours);
        }
#endif
        for (int32_t e = 0; e < ENGINES && b->bodies >= 40 && runs[i].made == b->steps; e++) {
            if (engines[e] == runs[i].engine && runs[i].own.world == NULL) {
                fit_add(&fits[e][b->walls], b->bodies, time);
            }
        }
        race_end(&runs[i]);
    }
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
        {"arm7_free",
         "scripts/own_robots.lua",
         {"robot=iiwa14", "effort_limits=false", "solver.tolerance=1e-8", NULL},
         10000,
         0,
         false,
         true},
        {"arm7_limits",
         "scripts/own_robots.lua",
         {"robot=iiwa14", "solver.tolerance=1e-8", NULL},
         10000,
         0,
         false,
         true},
        {"box_floor",
         "scripts/box_on_slope.lua",
         {"angle_deg=0", "solver.tolerance=1e-8", NULL},
         10000,
         0,
         false,
         false},
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
