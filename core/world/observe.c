// SPDX-License-Identifier: Apache-2.0
// Observers: what leaves a finished step.
#include <string.h>

#include "world/world.h"

const char *stn_stage_name(stn_stage stage) {
    static const char *const names[STN_STAGE_COUNT] = {"kinematics", "inputs",      "form",    "collision", "assembly",
                                                       "solve",      "certificate", "advance", "commit"};
    return stage >= 0 && stage < STN_STAGE_COUNT ? names[stage] : NULL;
}

const char *stn_phase_name(stn_phase phase) {
    static const char *const names[STN_PHASE_COUNT] = {"broad_phase", "narrow_phase", "set_up",   "hessian",
                                                       "factor",      "line_search",  "delassus", "observers"};
    return phase >= 0 && phase < STN_PHASE_COUNT ? names[phase] : NULL;
}

double stn_world_elastic_energy(stn_world *world) {
    const state_view state = state_view_of(&world->state);
    return stn_setup_element_energy(world->setup, &state, NULL) + stn_spring_energy(stn_world_kinematics(world)) +
           stn_step_constraint_energy(world->setup, &state, &world->frame, NULL);
}

void stn_step_energies(const step_setup *setup, const state_view *state, step_frame *frame) {
    stn_step_report *r = &frame->report;
    r->kinetic_J = stn_kinetic_energy(frame->kinematics);
    r->potential_J = stn_gravitational_energy(frame->kinematics, state->gravity);
    r->inverted_count = 0;
    r->elastic_J = stn_setup_element_energy(setup, state, r) + stn_spring_energy(frame->kinematics) +
                   stn_step_constraint_energy(setup, state, frame, NULL);
}

void stn_step_observation(stn_world *world) {
    bool solved = world->state.step > 0 && world->frame.problem.trees != NULL;
    world->law = stn_setup_law(world->setup);
    world->observation = (stn_observation){
        .model = world->setup->model,
        .step = world->state.step,
        .time = world->state.time,
        .dt = world->frame.dt,
        .q = world->state.q,
        .v = world->state.v,
        .kinematics = world->frame.kinematics,
        .contacts = solved ? &world->frame.contacts : NULL,
        .problem = solved ? &world->frame.problem : NULL,
        .solution_v = solved ? world->frame.solution.v : NULL,
        .gamma = solved ? world->frame.solution.gamma : NULL,
        .certificate = solved ? &world->frame.certificate : NULL,
        .report = &world->frame.report,
        .signal_count = world->signal_count,
        .signals = world->signals,
        .camera = stn_world_camera(world),
        .caption = world->caption,
        .law = solved && world->law.ops != NULL ? &world->law : NULL,
        .world = world,
        .constraint_block = solved ? world->frame.constraint_block : NULL,
    };
}

void stn_world_show_state(stn_world *world) {
    (void)stn_world_kinematics(world);
    const state_view state = state_view_of(&world->state);
    stn_step_energies(world->setup, &state, &world->frame);
    stn_step_observation(world);
}

stn_status stn_step_observe(stn_world *world, stn_error *err) {
    stn_status first = STN_OK;
    for (world->observer_at = 0; world->observer_at < world->observer_count; world->observer_at++) {
        const observer *o = &world->observers[world->observer_at];
        stn_error later = {0};
        stn_status status = o->call(o->user, &world->observation, first == STN_OK ? err : &later);
        first = first == STN_OK && status < 0 ? status : first;
    }
    return first;
}

const stn_observation *stn_world_observation(const stn_world *world) {
    return &world->observation;
}

stn_status stn_world_observe_at(stn_world *world, observer_rank rank, stn_observer call, void *user, stn_error *err) {
    if (world->in_batch) {
        return stn_fail(err, STN_ERR_SEQUENCE, "a world of a batch has no observers of its own; stn_batch_observe");
    }
    size_t count = (size_t)world->observer_count;
    observer *grown = stn_reallocate(world->services.context, world->observers, count, count + 1, sizeof *grown);
    if (grown == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "observer: out of memory");
    }
    world->observers = grown;
    world->observer_count++;
    size_t place = count;
    for (; place > 0 && grown[place - 1].rank > rank; place--) {
        grown[place] = grown[place - 1];
    }
    grown[place] = (observer){.call = call, .user = user, .rank = rank};
    world->observer_at += (int32_t)place <= world->observer_at; // the one that is being called stays the one
    return STN_OK;
}

void stn_world_forget_observers(stn_world *world, const void *user) {
    int32_t kept = 0, at = world->observer_at;
    for (int32_t i = 0; i < world->observer_count; i++) {
        if (world->observers[i].user != user) {
            world->observers[kept++] = world->observers[i];
        } else {
            at -= i <= world->observer_at;
        }
    }
    world->observer_count = kept;
    world->observer_at = at;
}

stn_status stn_world_observe(stn_world *world, stn_observer call, void *user, stn_error *err) {
    return stn_world_observe_at(world, OBSERVER_OF_CALLER, call, user, err);
}

stn_status stn_world_take_signal(stn_world *world, const char *name, double value, stn_error *err) {
    for (int32_t i = 0; i < world->signal_count; i++) {
        // they are plotted in the same order in every step, so the search begins behind the last one
        int32_t k = (world->signal_next + i) % world->signal_count;
        if (strcmp(world->signals[k].name, name) == 0) {
            world->signals[k].value = value;
            world->signal_next = k + 1;
            return STN_OK;
        }
    }
    size_t count = (size_t)world->signal_count;
    stn_signal *grown = stn_reallocate(world->services.context, world->signals, count, count + 1, sizeof *grown);
    char *copy = stn_duplicate_text(world->services.context, name);
    if (grown != NULL) {
        world->signals = grown;
    }
    if (grown == NULL || copy == NULL) {
        stn_release(world->services.context, copy);
        return stn_fail(err, STN_ERR_MEMORY, "signal %s: out of memory", name);
    }
    grown[count] = (stn_signal){.name = copy, .value = value};
    world->signal_count++;
    world->observation.signals = world->signals;
    world->observation.signal_count = world->signal_count;
    return STN_OK;
}
