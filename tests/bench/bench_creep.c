// SPDX-License-Identifier: Apache-2.0
// How fast objects creep down a slope and out of grasps, in every engine that is installed: the scenes of
// scripts/grasps with the same bodies, masses, forces and steps. Creep is the slope of a line through travel over time,
// by least squares, from 1 s on; settled is where that line stands at t = 0. Arguments: SECONDS (60), a part of a
// scene's name, settings of its script (force=12).
#include <string.h>

#include "bench_peer.h"
#include "bench_row.h"
#include "peers/scene.h"

static const double SETTLING = 1.0;    // [s]
enum { MOST_SETTINGS = 8, LOST = 50 }; // LOST: steps without contact after which nothing is held

/// What creeps, and where to.
typedef struct creep_scene {
    const char *name, *script;
    double slope_deg; // direction of the load: down the slope, or (90) straight down
    bool free_bodies; // which ODE and Bullet are given here
} creep_scene;

/// An engine with its settings.
typedef struct contestant {
    const char *name, *column, *variant; // variant: of the line in the summary table, "" for what is compared
    const peer_engine *engine;
    double impratio, time_constant;      // of MuJoCo
    const char *settings[MOST_SETTINGS]; // of our script
    bool free_bodies_only;
} contestant;

static const contestant contestants[] = {
    {"Stiction, law sap", "Stiction", "", &stiction_peer, 0.0, 0.0, {"law=sap"}, false},
    {"Stiction, law lagged", "Stiction", ", law lagged", &stiction_peer, 0.0, 0.0, {"law=lagged"}, false},
    {"Stiction, law sap, true stiction",
     "Stiction",
     ", true stiction",
     &stiction_peer,
     0.0,
     0.0,
     {"law=sap", "stiction=true"},
     false},
    {"Stiction, solver bisection",
     "Stiction",
     ", solver bisection",
     &stiction_peer,
     0.0,
     0.0,
     {"solver=bisection"},
     false},
#ifdef HAVE_MUJOCO
    {"MuJoCo, impratio 1", "MuJoCo", "", &mujoco_peer, 1.0, 0.02, {NULL}, false},
    {"MuJoCo, impratio 100", "MuJoCo", ", impratio 100", &mujoco_peer, 100.0, 0.02, {NULL}, false},
    {"MuJoCo, impratio 1, solref 2 dt", "MuJoCo", ", solref 2 dt", &mujoco_peer, 1.0, 0.004, {NULL}, false},
    {"MuJoCo, impratio 100, solref 2 dt",
     "MuJoCo",
     ", impratio 100, solref 2 dt",
     &mujoco_peer,
     100.0,
     0.004,
     {NULL},
     false},
#endif
#ifdef HAVE_ODE
    {"ODE", "ODE", "", &ode_peer, 0.0, 0.0, {NULL}, true},
#endif
#ifdef HAVE_BULLET
    {"Bullet", "Bullet", "", &bullet_peer, 0.0, 0.0, {NULL}, true},
#endif
};

/// Means and centred sums of points that come one by one.
typedef struct line {
    double n, t, x, tt, tx;
} line;

static void line_add(line *l, double t, double x) {
    double from_t = t - l->t;
    l->n += 1.0;
    l->t += from_t / l->n;
    l->x += (x - l->x) / l->n;
    l->tt += from_t * (t - l->t);
    l->tx += from_t * (x - l->x);
}

/// Coordinates of the first free body.
static const double *place(const stn_model *m, const double *q) {
    for (int32_t j = 0; j < m->joint_count; j++) {
        if (m->joints[j].type == STN_JOINT_FLOATING) {
            return q + m->joints[j].q_start;
        }
    }
    return q;
}

static double travel(const creep_scene *c, const stn_model *m, const double *q) {
    double angle = c->slope_deg * acos(-1.0) / 180.0;
    const double *x = place(m, q);
    return cos(angle) * x[0] - sin(angle) * x[2];
}

static void run(const creep_scene *c, const contestant *who, const peer_scene *scene, double seconds) {
    void *self = who->engine->create(scene, NULL);
    double *q = calloc((size_t)scene->model->nq, sizeof *q);
    if (self == NULL || q == NULL) {
        printf("  %-33s left out: it cannot hold this scene\n", who->name);
        free(q);
        return;
    }
    line l = {0};
    double start = travel(c, scene->model, scene->q);
    int32_t steps = (int32_t)lround(seconds / scene->dt), made = 0, alone = 0; // alone: steps without contact
    peer_report report;
    while (made < steps && alone < LOST && who->engine->step(self)) {
        who->engine->report(self, &report);
        alone = report.contacts > 0.0 ? 0 : alone + 1;
        made++;
        if (made * scene->dt >= SETTLING) {
            who->engine->read_q(self, q);
            line_add(&l, made * scene->dt, travel(c, scene->model, q) - start);
        }
    }
    double speed = l.tx / l.tt;
    if (l.n > 1.0 && made == steps) {
        char what[64];
        snprintf(what, sizeof what, "%s%s", c->name, who->variant);
        bench_row("creep", what, who->column, "", "um/s", 1e6 * speed);
        bench_row("creep", what, who->column, "settled", "um", 1e6 * (l.x - speed * l.t));
    }
    if (l.n > 1.0) {
        printf("  %-33s %12.4g %12.4g", who->name, 1e6 * speed, 1e6 * (l.x - speed * l.t));
    } else {
        printf("  %-33s %12s %12s", who->name, "-", "-");
    }
    if (made < steps) {
        printf("   lost at %.2f s", (made - alone) * scene->dt);
    }
    printf("\n");
    fflush(stdout);
    who->engine->destroy(self);
    free(q);
}

/// Of the contestant, then of the command line; NULL at the end.
static void collect_settings(const contestant *who, char **more, const char **all) {
    int32_t n = 0;
    for (int32_t i = 0; who->settings[i] != NULL; i++) {
        all[n++] = who->settings[i];
    }
    for (; *more != NULL && n < 2 * MOST_SETTINGS - 1; more++) {
        all[n++] = *more;
    }
    all[n] = NULL;
}

static void measure(const creep_scene *c, double seconds, char **more) {
    printf("%s\n", c->name);
    for (size_t i = 0; i < sizeof contestants / sizeof contestants[0]; i++) {
        const contestant *who = &contestants[i];
        peer_scene scene;
        char script[512];
        const char *settings[2 * MOST_SETTINGS];
        collect_settings(who, more, settings);
        snprintf(script, sizeof script, "%s/%s", STN_SOURCE_DIR, c->script);
        if ((who->free_bodies_only && !c->free_bodies) || !peer_scene_load(&scene, script, settings, NULL)) {
            continue;
        }
        scene.impratio = who->impratio;
        scene.time_constant = who->time_constant;
        run(c, who, &scene, seconds);
        peer_scene_clear(&scene);
    }
}

int main(int argc, char **argv) {
    static const creep_scene scenes[] = {
        {"slope", "scripts/grasps/slope.lua", 20.0, true},
        {"pinch", "scripts/grasps/pinch.lua", 90.0, false},
        {"palms", "scripts/grasps/palms.lua", 90.0, false},
        {"three_finger", "scripts/grasps/three_finger.lua", 90.0, false},
    };
    double seconds = argc > 1 ? atof(argv[1]) : 60.0;
    if (!(seconds > SETTLING)) {
        fprintf(stderr, "creep: SECONDS must be above %g\n", SETTLING);
        return 2;
    }
    print_missing_peers();
    printf("%-35s %12s %12s\n", "", "creep [um/s]", "settled [um]");
    for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; i++) {
        if (argc <= 2 || strstr(scenes[i].name, argv[2]) != NULL) {
            measure(&scenes[i], seconds, argc > 3 ? argv + 3 : argv + argc);
        }
    }
    return 0;
}
