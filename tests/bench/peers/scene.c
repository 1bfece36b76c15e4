// SPDX-License-Identifier: Apache-2.0
// A script's world, caught before its first step.
#include "scene.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <stiction/stiction.h>

#include "common/session.h"

typedef struct catcher {
    stn_session session;
    stn_world *world;
    stn_error err;
} catcher;

static void catch_world(void *user, stn_world *world) {
    catcher *c = user;
    stn_world_clone(world, &c->world, &c->err);
    stn_session_stop(&c->session);
}

/// The number behind "controller.<n>.<name> = " in the text that lists every parameter; 1 and 0: true and false.
static double controller_parameter(const stn_world *world, int32_t controller, const char *name) {
    char key[64];
    double value = 0.0;
    snprintf(key, sizeof key, "controller.%d.%s = ", (int)controller + 1, name);
    const char *line = strstr(stn_world_parameters(world), key);
    if (line != NULL && sscanf(line + strlen(key), "%lf", &value) != 1) {
        value = strncmp(line + strlen(key), "true", 4) == 0;
    }
    return value;
}

static void find_servos(peer_scene *s) {
    for (int32_t c = 0; c < stn_world_controller_count(s->world); c++) {
        const stn_control_target *target = stn_world_controller_target(s->world, c);
        const bool limited = controller_parameter(s->world, c, "effort_limits") > 0.0;
        for (int32_t i = 0; i < target->dof_count; i++) {
            const int32_t dof = target->dof[i];
            s->kp[dof] = controller_parameter(s->world, c, "kp");
            s->kd[dof] = controller_parameter(s->world, c, "kd");
            s->limit[dof] = limited ? s->model->joints[s->model->dof_joint[dof]].effort : (double)INFINITY;
        }
    }
}

static void find_friction(peer_scene *s) {
    const stn_model *m = s->model;
    for (int32_t a = 0; a < m->geometry_count; a++) {
        for (int32_t b = 0; b < a; b++) {
            if (m->geometries[a].collision && m->geometries[b].collision && stn_model_may_collide(m, a, b)) {
                s->mu = stn_model_pair_material(m, a, b).value.mu;
                return;
            }
        }
    }
}

static bool fill(peer_scene *s) {
    s->model = stn_world_model(s->world);
    s->q = stn_world_state(s->world)->q;
    s->effort = stn_world_state(s->world)->effort;
    s->impratio = 1.0;
    s->time_constant = 0.02;
    s->dt = stn_world_dt(s->world);
    s->kp = stn_allocate(s->context, (size_t)s->model->nv, sizeof *s->kp);
    s->kd = stn_allocate(s->context, (size_t)s->model->nv, sizeof *s->kd);
    s->limit = stn_allocate(s->context, (size_t)s->model->nv, sizeof *s->limit);
    if (s->kp == NULL || s->kd == NULL || s->limit == NULL) {
        return false;
    }
    find_servos(s);
    find_friction(s);
    return true;
}

/// Warnings are of deep overlaps that others leave, which the table says.
static void log_errors(void *user, stn_log_level level, const char *text) {
    (void)user;
    if (level == STN_LOG_ERROR) {
        fprintf(stderr, "%s\n", text);
    }
}

bool peer_scene_load(peer_scene *out, const char *script, const char *const *settings, const char *solver) {
    return peer_scene_load_threads(out, script, settings, solver, 0);
}

bool peer_scene_load_threads(peer_scene *out, const char *script, const char *const *settings, const char *solver,
                             int32_t threads) {
    *out = (peer_scene){0};
    catcher c = {0};
    const stn_context_options options = {.log = log_errors};
    if (stn_context_create(&options, &out->context, &c.err) < 0) {
        fprintf(stderr, "%s\n", c.err.text);
        return false;
    }
    stn_session_init(&c.session, out->context);
    c.session.plugin[STN_KIND_SOLVER] = solver;
    c.session.host.threads = threads;
    c.session.begins = catch_world;
    c.session.begins_user = &c;
    for (int32_t i = 0; settings[i] != NULL; i++) {
        stn_session_set(&c.session, settings[i], &c.err);
    }
    stn_error ended = {0}; // by catch_world
    stn_session_run(&c.session, script, &ended);
    stn_session_clear(&c.session);
    out->world = c.world;
    if (out->world == NULL || !fill(out)) {
        fprintf(stderr, "%s: %s\n", script, c.err.text[0] != '\0' ? c.err.text : ended.text);
        peer_scene_clear(out);
        return false;
    }
    return true;
}

void peer_scene_clear(peer_scene *s) {
    if (s->context != NULL) {
        stn_release(s->context, s->kp);
        stn_release(s->context, s->kd);
        stn_release(s->context, s->limit);
        stn_world_destroy(s->world);
        stn_context_destroy(s->context);
    }
    *s = (peer_scene){0};
}

bool peer_scene_is_free(const peer_scene *s, uint32_t shapes, const char *engine) {
    const stn_model *m = s->model;
    const char *why = m->constraint_count > 0 ? "constraints" : NULL;
    for (int32_t j = 0; j < m->joint_count && why == NULL; j++) {
        why = m->joints[j].type != STN_JOINT_FLOATING ? "joints" : NULL;
    }
    for (int32_t g = 0; g < m->geometry_count && why == NULL; g++) {
        const stn_shape *shape = &m->geometries[g].shape;
        why = m->geometries[g].collision && (shapes >> shape->type & 1U) == 0 ? stn_shape_name(shape->type) : NULL;
    }
    if (why != NULL) {
        fprintf(stderr, "%s: the scene has what it is not measured with: %s\n", engine, why);
    }
    return why == NULL;
}

double peer_setting(const char *setting, const char *name, double otherwise) {
    const size_t length = strlen(name);
    for (const char *at = setting; at != NULL && *at != '\0'; at += strcspn(at, " "), at += strspn(at, " ")) {
        double value = 0.0;
        if (strncmp(at, name, length) == 0 && at[length] == '=' && sscanf(at + length + 1, "%lf", &value) == 1) {
            return value;
        }
    }
    return otherwise;
}

double peer_scene_overlap(const peer_scene *s, const double *q) {
    stn_world *probe = NULL;
    stn_error err = {0};
    double overlap = NAN;
    double *v = stn_allocate(s->context, (size_t)s->model->nv, sizeof *v);
    if (v != NULL && stn_world_clone(s->world, &probe, &err) == STN_OK && stn_world_set_q(probe, q, &err) == STN_OK &&
        stn_world_set_v(probe, v, &err) == STN_OK && stn_world_step(probe, &err) >= 0) {
        overlap = stn_world_observation(probe)->report->overlap_m; // geometric, at the step's start
    }
    stn_world_destroy(probe);
    stn_release(s->context, v);
    return overlap;
}
