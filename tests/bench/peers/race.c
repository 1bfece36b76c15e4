// SPDX-License-Identifier: Apache-2.0
#include "race.h"

#include <math.h>
#include <stdlib.h>

#include "../bench_time.h"

bool race_begin(race_run *run, const peer_scene *scene, const peer_engine *engine, const char *setting, int32_t steps,
                double longest_us, bool watched) {
    const size_t nq = (size_t)scene->model->nq, nv = (size_t)scene->model->nv, turns = (size_t)(steps / RACE_TURN) + 1;
    *run = (race_run){.engine = engine,
                      .name = engine->name,
                      .self = engine->create(scene, setting),
                      .steps = steps,
                      .longest = longest_us,
                      .least = (double)INFINITY};
    run->us = calloc((size_t)steps, sizeof *run->us);
    run->q = calloc(2 * nq + nv, sizeof *run->q);
    run->error = watched && engine->watch != NULL ? calloc(turns, sizeof *run->error) : NULL;
    if (run->self == NULL || run->us == NULL || run->q == NULL) {
        race_end(run);
        return false;
    }
    run->q_before = run->q + nq;
    run->v = run->q_before + nq;
    return true;
}

void race_end(race_run *run) {
    if (run->self != NULL) {
        run->engine->destroy(run->self);
    }
    free(run->us);
    free(run->q);
    free(run->error);
    peer_scene_clear(&run->own);
}

static void note(race_run *r) {
    peer_report report;
    r->engine->report(r->self, &report);
    r->iterations += report.iterations;
    r->contacts += report.contacts;
    r->momentum = report.momentum > r->momentum || isnan(report.momentum) ? report.momentum : r->momentum;
}

/// Kinetic and potential energy after a turn. The velocity is that of the last step's positions, in every engine: one
/// that undoes overlaps by moving bodies pays for it.
static void note_energy(race_run *r, const peer_scene *scene, stn_kinematics *kinematics) {
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

static void take_turn(race_run *r) {
    bool slow = r->made > 0 && r->spent / r->made > 50.0; // a call of the other clock costs 0.3 us
    double (*clock)(void) = slow ? thread_us : now_us;
    for (int32_t i = 0; i < RACE_TURN && !r->over; i++) {
        const bool last = i + 1 == RACE_TURN, watched = last && r->error != NULL;
        if (last) {
            r->engine->read_q(r->self, r->q_before);
        }
        if (watched) {
            r->engine->watch(r->self);
        }
        double start = clock();
        bool made = r->engine->step(r->self);
        double time = clock() - start;
        if (made) {
            r->us[r->made++] = time;
            r->spent += time;
            note(r);
        }
        if (made && watched) {
            r->error[r->error_count++] = r->engine->error(r->self);
        }
        r->over = !made || r->made == r->steps || r->spent > r->longest;
        if (last) {
            r->engine->read_q(r->self, r->q);
        }
    }
}

void race(const peer_scene *scene, race_run *runs, int32_t count, double end_us) {
    stn_kinematics *kinematics = NULL;
    bool going = stn_kinematics_create(scene->model, &kinematics, NULL) == STN_OK;
    while (going) {
        going = false;
        for (int32_t i = 0; i < count; i++) {
            take_turn(&runs[i]);
            if (runs[i].made > 0 && runs[i].made % RACE_TURN == 0) {
                note_energy(&runs[i], scene, kinematics);
            }
            going = (going || !runs[i].over) && now_us() < end_us;
        }
    }
    stn_kinematics_destroy(kinematics);
}
