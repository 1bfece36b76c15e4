// SPDX-License-Identifier: Apache-2.0
// Error against time: every engine at several settings, and ours by every kind of solver at several tolerances, on the
// same scenes. The error E of a step is that of peers/ruler.h, of the engine's own contact problem: 1 is as good as no
// contact forces. Beside it what a viewer sees: overlap at the end, the largest rise of energy.
// Arguments: a part of a scene's name; a part of an engine's or a solver's name.
#include "bench_peer.h"
#include "bench_row.h"
#include "bench_time.h"
#include "peers/race.h"

enum { MOST_SETTINGS = 10, STEPS = 1000, MOST_SECONDS = 24 * 60 };

/// An engine at a setting; `solver`: of ours, whose settings are parameters of the script.
typedef struct contestant {
    const peer_engine *engine;
    const char *setting, *solver;
} contestant;

static const contestant contestants[] = {
    {&stiction_peer, "solver.tolerance=1e-8", "sap"},
    {&stiction_peer, "solver.tolerance=1e-5", "sap"},
    {&stiction_peer, "solver.tolerance=1e-3", "sap"},
    {&stiction_peer, "solver.tolerance=1e-2", "sap"},
    {&stiction_peer, "solver.tolerance=1e-1", "sap"},
    {&stiction_peer, "solver.tolerance=1e-5", "auto_convex"},
    {&stiction_peer, "solver.tolerance=1e-4", "auto_convex"},
    {&stiction_peer, "solver.tolerance=1e-3", "auto_convex"},
    {&stiction_peer, "solver.tolerance=1e-2", "auto_convex"},
    {&stiction_peer, "solver.tolerance=1e-1", "auto_convex"},
    {&stiction_peer, "solver.tolerance=1e-9 solver.max_iterations=5", "apgd"},
    {&stiction_peer, "solver.tolerance=1e-9 solver.max_iterations=10", "apgd"},
    {&stiction_peer, "solver.tolerance=1e-9 solver.max_iterations=20", "apgd"},
    {&stiction_peer, "solver.tolerance=1e-9 solver.max_iterations=50", "apgd"},
    {&stiction_peer, "solver.tolerance=1e-9 solver.max_iterations=5", "nsgs"},
    {&stiction_peer, "solver.tolerance=1e-9 solver.max_iterations=20", "nsgs"},
    {&stiction_peer, "solver.tolerance=1e-9 solver.max_iterations=50", "nsgs"},
    {&stiction_peer, "", "soft_step"},
#ifdef HAVE_MUJOCO
    {&mujoco_peer, "tolerance=1e-8", NULL},
    {&mujoco_peer, "tolerance=1e-4", NULL},
    {&mujoco_peer, "tolerance=0 iterations=2", NULL},
    {&mujoco_peer, "pyramids=1", NULL},
    {&mujoco_peer, "cg=1", NULL},
    {&mujoco_peer, "cg=1 tolerance=1e-4", NULL},
#endif
#ifdef HAVE_ODE
    {&ode_peer, "sweeps=5", NULL},
    {&ode_peer, "sweeps=20", NULL},
    {&ode_peer, "sweeps=50", NULL},
    {&ode_peer, "sweeps=100", NULL},
    {&ode_peer, "sweeps=400", NULL},
    {&ode_peer, "exact=1", NULL},
#endif
#ifdef HAVE_BULLET
    {&bullet_peer, "sweeps=10", NULL},
    {&bullet_peer, "sweeps=50", NULL},
    {&bullet_peer, "sweeps=50 directions=2", NULL},
    {&bullet_peer, "sweeps=200 directions=2", NULL},
#endif
#ifdef HAVE_BOX3D
    {&box3d_peer, "substeps=1", NULL},
    {&box3d_peer, "substeps=4", NULL},
    {&box3d_peer, "substeps=8", NULL},
#endif
};
enum { CONTESTANTS = sizeof contestants / sizeof contestants[0] };

typedef struct scene_plan {
    const char *name, *script;
    const char *settings[MOST_SETTINGS];
    double seconds; // that one setting may take
} scene_plan;

#define CLUTTER "scripts/clutter.lua"
#define COLUMNS "placement=columns", "dt=0.002"

static const scene_plan scenes[] = {
    {"clutter40_walls", CLUTTER, {COLUMNS, "bodies=40", "walls=true"}, 1.0},
    {"clutter160_walls", CLUTTER, {COLUMNS, "bodies=160", "walls=true"}, 3.0},
    {"clutter320_walls", CLUTTER, {COLUMNS, "bodies=320", "walls=true"}, 6.0},
    {"clutter1000_walls", CLUTTER, {COLUMNS, "bodies=1000", "walls=true"}, 16.0},
    {"clutter40_open", CLUTTER, {COLUMNS, "bodies=40", "walls=false"}, 1.0},
    {"clutter160_open", CLUTTER, {COLUMNS, "bodies=160", "walls=false"}, 2.0},
    {"clutter320_open", CLUTTER, {COLUMNS, "bodies=320", "walls=false"}, 4.0},
    {"clutter1000_open", CLUTTER, {COLUMNS, "bodies=1000", "walls=false"}, 8.0},
    {"box_stack10", "scripts/box_stack.lua", {"height=10"}, 1.0},
    {"box_stack30", "scripts/box_stack.lua", {"height=30"}, 1.0},
    {"brick_wall105", "scripts/brick_wall.lua", {NULL}, 4.0},
    {"brick_wall410", "scripts/brick_wall.lua", {"courses=20", "bricks=20"}, 8.0},
    {"chain_net36", "scripts/chain_net.lua", {NULL}, 2.0},
    {"chain_net133", "scripts/chain_net.lua", {"rings=7"}, 4.0},
    {"two_arms_160dof", "scripts/dual_arm_hold.lua", {NULL}, 1.0},
    {"spheres250", "scripts/piles.lua", {"shape=sphere", "side=5", "count=250"}, 4.0},
    {"rocks160", "scripts/piles.lua", {"shape=rock", "side=4", "count=160"}, 5.0},
};
enum { SCENES = sizeof scenes / sizeof scenes[0] };

/// Words of a text as settings behind those of a scene; `room` holds the words.
static void add_words(const char *text, char room[256], const char **settings, int32_t count) {
    snprintf(room, 256, "%s", text);
    for (char *word = strtok(room, " "); word != NULL && count + 1 < 2 * MOST_SETTINGS; word = strtok(NULL, " ")) {
        settings[count++] = word;
    }
    settings[count] = NULL;
}

static void name_of(const contestant *c, char name[128]) {
    snprintf(name, 128, "%s", c->solver != NULL ? c->solver : c->engine->name);
    char room[256];
    const char *words[2 * MOST_SETTINGS];
    add_words(c->setting, room, words, 0);
    for (int32_t i = 0; words[i] != NULL; i++) {
        const char *word = strncmp(words[i], "solver.", 7) == 0 ? words[i] + 7 : words[i];
        if (strcmp(word, "tolerance=1e-9") != 0) { // it ends by its iterations
            stn_text_append(name, 128, " %s", word);
        }
    }
}

static bool begin(race_run *run, const scene_plan *plan, const char *script, const peer_scene *scene,
                  const contestant *c, double longest_us) {
    const peer_scene *own = scene;
    peer_scene made = {0};
    if (c->engine == &stiction_peer) {
        const char *settings[2 * MOST_SETTINGS] = {NULL};
        char room[256];
        int32_t count = 0;
        for (; plan->settings[count] != NULL; count++) {
            settings[count] = plan->settings[count];
        }
        add_words(c->setting, room, settings, count);
        if (!peer_scene_load(&made, script, settings, c->solver)) {
            return false;
        }
        own = &made;
    }
    if (!race_begin(run, own, c->engine, c->setting, STEPS, longest_us, true)) {
        peer_scene_clear(&made);
        return false;
    }
    run->own = made;
    return true;
}

static void print_run(const peer_scene *scene, const scene_plan *plan, race_run *r, const char *name) {
    double *q = malloc((size_t)scene->model->nq * sizeof *q), overlap = NAN;
    if (q != NULL) {
        r->engine->read_q(r->self, q);
        overlap = peer_scene_overlap(scene, q);
        free(q);
    }
    // the second half: while it falls there is little to solve
    const int32_t half = r->made / 2, half_errors = r->error_count / 2;
    const double us = median(r->us + half, r->made - half);
    const double error = r->error != NULL ? median(r->error + half_errors, r->error_count - half_errors) : (double)NAN;
    const double most = r->error_count > 0 ? r->error[r->error_count - 1] : (double)NAN; // sorted
    printf("  %-30s %6d %10.1f %9.1e %9.1e %9.4f %9.3f%s\n", name, (int)r->made, us, error, most, 1e3 * overlap,
           r->rise, r->made < STEPS ? "  cut" : "");
    bench_row("pareto", plan->name, name, "", "us", us);
    bench_row("pareto", plan->name, name, "error", "1", error);
    bench_row("pareto", plan->name, name, "overlap", "mm", 1e3 * overlap);
    bench_row("pareto", plan->name, name, "energy", "J", r->rise);
    if (r->made < STEPS) {
        bench_row("pareto", plan->name, name, "cut", "steps", r->made);
    }
    fflush(stdout);
}

/// `end_us`: when all must have ended. False: the scene cannot be made, and said why.
static bool measure(const scene_plan *plan, const char *only, double end_us) {
    peer_scene scene;
    char script[512];
    snprintf(script, sizeof script, "%s/%s", STN_SOURCE_DIR, plan->script);
    if (!peer_scene_load(&scene, script, plan->settings, NULL)) {
        return false;
    }
    printf("%s: %d bodies, %d steps of %g ms\n", plan->name, (int)scene.model->body_count - 1, STEPS, 1e3 * scene.dt);
    race_run runs[CONTESTANTS];
    char names[CONTESTANTS][128];
    int32_t count = 0;
    const double longest_us = fmin(1e6 * plan->seconds, (end_us - now_us()) / CONTESTANTS);
    for (int32_t i = 0; i < CONTESTANTS; i++) {
        name_of(&contestants[i], names[count]);
        if (only != NULL && strstr(names[count], only) == NULL) {
            continue;
        }
        if (begin(&runs[count], plan, script, &scene, &contestants[i], longest_us)) {
            count++;
        } else {
            bench_row("pareto", plan->name, names[count], "", "us", (double)NAN);
            printf("  %-30s left out: it cannot hold this scene\n", names[count]);
        }
    }
    race(&scene, runs, count, end_us);
    for (int32_t i = 0; i < count; i++) {
        print_run(&scene, plan, &runs[i], names[i]);
        race_end(&runs[i]);
    }
    peer_scene_clear(&scene);
    return true;
}

int main(int argc, char **argv) {
    print_processor();
    print_missing_peers();
    printf("  %-30s %6s %10s %9s %9s %9s %9s\n", "second half of the run", "steps", "us a step", "E", "largest",
           "overlap", "energy");
    const char *part = argc > 1 ? argv[1] : "", *only = argc > 2 ? argv[2] : NULL;
    int32_t wanted = 0, done = 0;
    double seconds = 0.0; // of the scenes to come
    for (int32_t i = 0; i < SCENES; i++) {
        wanted += strstr(scenes[i].name, part) != NULL;
        seconds += strstr(scenes[i].name, part) != NULL ? scenes[i].seconds : 0.0;
    }
    if (wanted == 0) {
        fprintf(stderr, "no scene has '%s' in its name; they are called like %s\n", part, scenes[0].name);
        return 2;
    }
    bool made = true;
    const double start = now_us(), end = start + 1e6 * MOST_SECONDS;
    for (int32_t i = 0; i < SCENES; i++) {
        if (strstr(scenes[i].name, part) != NULL) {
            const int gone = (int)(1e-6 * (now_us() - start));
            fprintf(stderr, "pareto: scene %d of %d, %s; %d:%02d gone\n", (int)++done, (int)wanted, scenes[i].name,
                    gone / 60, gone % 60);
            const double share = fmax(end - now_us(), 0.0) * scenes[i].seconds / seconds; // on a busy machine
            made = measure(&scenes[i], only, now_us() + share) && made;
            seconds -= scenes[i].seconds;
        }
    }
    return made ? 0 : 1;
}
