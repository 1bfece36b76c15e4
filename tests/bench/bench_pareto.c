// SPDX-License-Identifier: Apache-2.0
// Error against time: every engine at several settings, and ours by every kind of solver at several tolerances, on the
// same scenes. The error E of a step is that of peers/ruler.h, of the engine's own contact problem: 1 is as good as no
// contact forces. Beside it what a viewer sees: overlap at the end, the largest rise of energy.
// Arguments: a part of a scene's name; a part of an engine's or a solver's name.
#include "bench_peer.h"
#include "bench_row.h"
#include "bench_time.h"
#include "peers/race.h"

enum { MOST_SETTINGS = 10, STEPS = 1000 };

static const double LONGEST_US = 10e6; // of one setting in one scene

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
#endif
#ifdef HAVE_ODE
    {&ode_peer, "sweeps=5", NULL},
    {&ode_peer, "sweeps=20", NULL},
    {&ode_peer, "sweeps=50", NULL},
    {&ode_peer, "sweeps=100", NULL},
    {&ode_peer, "sweeps=400", NULL},
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
} scene_plan;

static const scene_plan scenes[] = {
    // the container has room for 360 bodies
    {"clutter40_walls", "scripts/clutter.lua", {"placement=columns", "dt=0.002", "bodies=40", "walls=true"}},
    {"clutter160_walls", "scripts/clutter.lua", {"placement=columns", "dt=0.002", "bodies=160", "walls=true"}},
    {"clutter320_walls", "scripts/clutter.lua", {"placement=columns", "dt=0.002", "bodies=320", "walls=true"}},
    {"clutter40_open", "scripts/clutter.lua", {"placement=columns", "dt=0.002", "bodies=40", "walls=false"}},
    {"clutter160_open", "scripts/clutter.lua", {"placement=columns", "dt=0.002", "bodies=160", "walls=false"}},
    {"clutter320_open", "scripts/clutter.lua", {"placement=columns", "dt=0.002", "bodies=320", "walls=false"}},
    {"clutter1000_open", "scripts/clutter.lua", {"placement=columns", "dt=0.002", "bodies=1000", "walls=false"}},
};

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
                  const contestant *c) {
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
    if (!race_begin(run, own, c->engine, c->setting, STEPS, LONGEST_US, true)) {
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
    fflush(stdout);
}

/// False: the scene cannot be made, and said why.
static bool measure(const scene_plan *plan, const char *only) {
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
    for (int32_t i = 0; i < CONTESTANTS; i++) {
        name_of(&contestants[i], names[count]);
        if (only != NULL && strstr(names[count], only) == NULL) {
            continue;
        }
        if (begin(&runs[count], plan, script, &scene, &contestants[i])) {
            count++;
        } else {
            printf("  %-30s left out: it cannot hold this scene\n", names[count]);
        }
    }
    race(&scene, runs, count);
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
    bool any = false, made = true;
    for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; i++) {
        if (argc < 2 || strstr(scenes[i].name, argv[1]) != NULL) {
            made = measure(&scenes[i], argc > 2 ? argv[2] : NULL) && made;
            any = true;
        }
    }
    if (!any) {
        fprintf(stderr, "no scene has '%s' in its name; they are called like %s\n", argv[1], scenes[0].name);
        return 2;
    }
    return made ? 0 : 1;
}
