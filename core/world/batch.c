// SPDX-License-Identifier: Apache-2.0
// Many states over one setup. Every thread has one world to step with: the state of the world whose turn it is takes
// the place of that world's own, and goes back after its steps. Nothing of one world's step is left to the next but
// what changes no result.
#include <string.h>

#include <stiction/batch.h>
#include <stiction/query.h>

#include "base/options.h"
#include "world/world.h"

enum { MOST_WORLDS = 1 << 24 };

/// A field as an array over all worlds.
typedef struct output {
    int32_t columns; // 0: not kept
    double *values;  // (count x columns)
} output;

/// Steps that one thread made; threads do not write into one line of a cache.
typedef struct step_count {
    int64_t made, not_converged, stalled;
    char apart[64 - 3 * sizeof(int64_t)];
} step_count;

struct stn_batch {
    stn_context *context;
    stn_threads *threads; // NULL: one
    stn_world **workers;  // (threads) whose states take turns
    int32_t count;
    step_count *counts;                    // (threads)
    stn_state *states;                     // (count)
    stn_status *made;                      // (count) of the last step of each
    const stn_error **failures;            // (count) NULL: it steps; owned, but for no_memory_to_say
    output outputs[STN_BATCH_FIELD_COUNT]; // of those that are no state
    stn_batch_observer observer;
    void *observer_user;
};

/// Why a world stopped, where there is no memory to say it.
static const stn_error no_memory_to_say = {STN_ERR_MEMORY, "it failed, and there is no memory to say why"};

const char *stn_batch_field_name(stn_batch_field field) {
    static const char *const names[] = {
#define NAME_OF(name, text, meaning) text,
        STN_BATCH_FIELDS(NAME_OF)
#undef NAME_OF
    };
    return (int)field >= 0 && (int)field < STN_COUNT(names) ? names[field] : NULL;
}

/// A field of the state: which input it is, and its numbers. False: it is none.
static bool state_field(const stn_state *s, stn_batch_field field, input_field *input, const double **values,
                        size_t *columns) {
    switch (field) {
    case STN_BATCH_Q:
        *input = INPUT_Q, *values = s->q, *columns = s->sizes.nq;
        return true;
    case STN_BATCH_V:
        *input = INPUT_V, *values = s->v, *columns = s->sizes.nv;
        return true;
    case STN_BATCH_EFFORT:
        *input = INPUT_EFFORT, *values = s->effort, *columns = s->sizes.nv;
        return true;
    case STN_BATCH_REFERENCE:
        *input = INPUT_REFERENCE, *values = s->reference, *columns = s->sizes.reference_count;
        return true;
    case STN_BATCH_WRENCH:
        *input = INPUT_WRENCH, *values = s->wrench, *columns = s->sizes.wrench_count;
        return true;
    case STN_BATCH_MASS_FACTOR:
        *input = INPUT_MASS, *values = s->mass_factor, *columns = s->sizes.mass_count;
        return true;
    case STN_BATCH_FRICTION_FACTOR:
        *input = INPUT_FRICTION, *values = s->friction_factor, *columns = s->sizes.friction_count;
        return true;
    default:
        return false;
    }
}

static int32_t output_columns(const stn_model *model, stn_batch_field field) {
    switch (field) {
    case STN_BATCH_BODY_POSE:
        return 7 * model->body_count;
    case STN_BATCH_CONTACT_FORCE:
        return 6 * model->body_count;
    case STN_BATCH_ENERGY:
        return 3;
    case STN_BATCH_REPORT:
        return 4;
    case STN_BATCH_CERTIFICATE:
#define ONE_OF(member, name, text, unit) +1
        return 0 STN_CERTIFICATE_FIELDS(ONE_OF);
#undef ONE_OF
    default:
        return 0;
    }
}

int32_t stn_batch_columns(const stn_batch *batch, stn_batch_field field) {
    input_field input;
    const double *values;
    size_t columns;
    if (field == STN_BATCH_TIME) {
        return 1;
    }
    if (state_field(&batch->states[0], field, &input, &values, &columns)) {
        return (int32_t)columns;
    }
    return (int)field >= 0 && field < STN_BATCH_FIELD_COUNT ? batch->outputs[field].columns : 0;
}

static double *output_row(const stn_batch *batch, stn_batch_field field, int32_t world) {
    const output *o = &batch->outputs[field];
    return o->columns > 0 ? o->values + (size_t)world * (size_t)o->columns : NULL;
}

// ------------------------------------------------------------------------------------------------------- outputs

/// Forces on both sides of every contact of the last step, summed over the bodies.
static void sum_contact_forces(const stn_observation *seen, double *row) {
    for (int32_t i = 0; seen->problem != NULL && i < seen->contacts->count; i++) {
        const stn_contact *contact = &seen->contacts->contacts[i];
        const int32_t bodies[2] = {contact->a.body, contact->b.body};
        stn_contact_report report;
        stn_observation_contact(seen, i, &report);
        const stn_vec3 force = stn_vec3_add(report.normal_part, report.friction_part);
        for (int32_t side = 0; side < 2; side++) {
            if (bodies[side] < 0) {
                continue; // nodes
            }
            const stn_vec3 origin = seen->kinematics->body_pose[bodies[side]].position;
            const stn_vec3 torque = stn_vec3_cross(stn_vec3_sub(contact->point, origin), force);
            const double sign = side == 0 ? -1.0 : 1.0;
            const double add[6] = {torque.x, torque.y, torque.z, force.x, force.y, force.z};
            for (int32_t k = 0; k < 6; k++) {
                row[6 * bodies[side] + k] += sign * add[k];
            }
        }
    }
}

static void clear_row(const stn_batch *batch, stn_batch_field field, int32_t world) {
    double *row = output_row(batch, field, world);
    if (row != NULL) {
        memset(row, 0, (size_t)batch->outputs[field].columns * sizeof *row);
    }
}

/// What follows from the state alone.
static void keep_state_outputs(const stn_batch *batch, int32_t world, const stn_observation *seen) {
    double *pose = output_row(batch, STN_BATCH_BODY_POSE, world), *energy = output_row(batch, STN_BATCH_ENERGY, world);
    for (int32_t b = 0; pose != NULL && b < seen->model->body_count; b++) {
        const stn_pose *at = &seen->kinematics->body_pose[b];
        const stn_quat r = stn_quat_from_matrix(&at->rotation);
        const double numbers[7] = {at->position.x, at->position.y, at->position.z, r.w, r.x, r.y, r.z};
        memcpy(pose + 7 * (size_t)b, numbers, sizeof numbers);
    }
    if (energy != NULL) {
        energy[0] = seen->report->kinetic_J;
        energy[1] = seen->report->potential_J;
        energy[2] = seen->report->elastic_J;
    }
}

/// What the last step made; zeros where there is none.
static void keep_step_outputs(const stn_batch *batch, int32_t world, const stn_observation *seen) {
    double *report = output_row(batch, STN_BATCH_REPORT, world);
    double *certificate = output_row(batch, STN_BATCH_CERTIFICATE, world);
    clear_row(batch, STN_BATCH_CONTACT_FORCE, world);
    clear_row(batch, STN_BATCH_REPORT, world);
    clear_row(batch, STN_BATCH_CERTIFICATE, world);
    if (seen == NULL || seen->problem == NULL) {
        return;
    }
    if (batch->outputs[STN_BATCH_CONTACT_FORCE].columns > 0) {
        sum_contact_forces(seen, output_row(batch, STN_BATCH_CONTACT_FORCE, world));
    }
    if (report != NULL) {
        report[0] = seen->report->status;
        report[1] = seen->report->iterations;
        report[2] = seen->report->contact_count;
        report[3] = seen->report->overlap_m;
    }
    if (certificate != NULL) {
        const double values[] = {
#define VALUE_OF(member, name, unit, text) seen->certificate->member,
            STN_CERTIFICATE_FIELDS(VALUE_OF)
#undef VALUE_OF
        };
        memcpy(certificate, values, sizeof values);
    }
}

// ------------------------------------------------------------------------------------------- one world's turn

/// Puts the state of a world in the place of the worker's own. On failure nothing has changed.
static stn_status begin_turn(stn_batch *batch, int32_t world, stn_world *worker, stn_error *err) {
    stn_status status = stn_cache_exchange_state(&worker->state, &batch->states[world], &worker->services, err);
    if (status == STN_OK) {
        stn_world_state_replaced(worker);
    }
    return status;
}

static void end_turn(stn_batch *batch, int32_t world, stn_world *worker) {
    const stn_state own = batch->states[world];
    batch->states[world] = worker->state;
    worker->state = own;
}

static void forget_failure(stn_batch *batch, int32_t world) {
    if (batch->failures[world] != &no_memory_to_say) {
        stn_release(batch->context, (stn_error *)(uintptr_t)batch->failures[world]);
    }
    batch->failures[world] = NULL;
}

static void note_failure(stn_batch *batch, int32_t world, stn_status status, const stn_error *why) {
    stn_error *kept = stn_allocate(batch->context, 1, sizeof *kept);
    batch->failures[world] = kept != NULL ? kept : &no_memory_to_say;
    if (kept != NULL) {
        *kept = *why;
        kept->status = status;
    }
    keep_step_outputs(batch, world, NULL);
    double *report = output_row(batch, STN_BATCH_REPORT, world);
    if (report != NULL) {
        report[0] = status;
    }
}

/// A call between steps. `shows`: the world has to be as if it stood alone, with poses, energies and an observation.
static stn_status visit_world(stn_batch *batch, int32_t world, stn_batch_visitor visit, void *user, bool shows,
                              stn_error *err) {
    stn_world *worker = batch->workers[0];
    stn_status status = begin_turn(batch, world, worker, err);
    if (status != STN_OK) {
        return status;
    }
    if (shows) {
        worker->frame.report = (stn_step_report){0}; // of another world's step
        stn_world_show_state(worker);
    }
    status = visit(user, worker, err);
    if (batch->outputs[STN_BATCH_BODY_POSE].columns + batch->outputs[STN_BATCH_ENERGY].columns > 0) {
        stn_world_show_state(worker);
        keep_state_outputs(batch, world, &worker->observation);
    }
    if (worker->frame.problem.trees != NULL) { // it made a step
        keep_step_outputs(batch, world, &worker->observation);
    }
    end_turn(batch, world, worker);
    return status;
}

stn_status stn_batch_visit(stn_batch *batch, int32_t world, stn_batch_visitor visit, void *user, stn_error *err) {
    if (world < 0 || world >= batch->count) {
        return stn_fail(err, STN_ERR_ARGUMENT, "batch: world %d is not one of 0 to %d", world, batch->count - 1);
    }
    const uint64_t before = stn_batch_hash(batch, world);
    const stn_status status = visit_world(batch, world, visit, user, true, err);
    if (stn_batch_hash(batch, world) != before) {
        forget_failure(batch, world);
    }
    return status;
}

// -------------------------------------------------------------------------------------------------------- stepping

typedef struct step_job {
    stn_batch *batch;
    int32_t steps;
} step_job;

static void step_world(void *user, int32_t world, int32_t number) {
    const step_job *job = user;
    stn_batch *batch = job->batch;
    stn_world *worker = batch->workers[number];
    batch->made[world] = STN_OK;
    if (batch->failures[world] != NULL) {
        return;
    }
    stn_error why = {0};
    stn_status status = begin_turn(batch, world, worker, &why);
    if (status != STN_OK) {
        note_failure(batch, world, status, &why);
        return;
    }
    stn_status worst = STN_OK;
    step_count *counted = &batch->counts[number];
    for (int32_t i = 0; i < job->steps && status >= 0; i++) {
        status = stn_world_step(worker, &why);
        counted->made += status >= 0;
        counted->not_converged += status == STN_NOT_CONVERGED;
        counted->stalled += status == STN_STALLED;
        if (status >= 0 && batch->observer != NULL) {
            const stn_status seen = batch->observer(batch->observer_user, world, worker, &why);
            status = seen < 0 ? seen : status;
        }
        worst = status > worst ? status : worst;
    }
    if (status >= 0) {
        keep_step_outputs(batch, world, &worker->observation);
    } else {
        note_failure(batch, world, status, &why);
        stn_world_show_state(worker);
    }
    keep_state_outputs(batch, world, &worker->observation);
    batch->made[world] = worst;
    end_turn(batch, world, worker);
}

stn_status stn_batch_step(stn_batch *batch, int32_t steps, stn_error *err) {
    if (steps < 0) {
        return stn_fail(err, STN_ERR_ARGUMENT, "batch: steps = %d, must be >= 0", steps);
    }
    if (steps > 0) {
        step_job job = {batch, steps};
        stn_parallel_for(batch->threads, batch->count, step_world, &job);
    }
    stn_status worst = STN_OK;
    int32_t first = -1, failed = 0;
    for (int32_t i = 0; i < batch->count; i++) {
        worst = batch->made[i] > worst ? batch->made[i] : worst;
        failed += batch->failures[i] != NULL;
        first = first < 0 && batch->failures[i] != NULL ? i : first;
    }
    if (failed == 0) {
        return worst;
    }
    char others[64] = "";
    if (failed > 1) {
        stn_text_append(others, sizeof others, " (%d worlds stand still)", failed);
    }
    return stn_fail(err, batch->failures[first]->status, "world %d of %d%s: %s", first, batch->count, others,
                    batch->failures[first]->text);
}

void stn_batch_observe(stn_batch *batch, stn_batch_observer call, void *user) {
    batch->observer = call;
    batch->observer_user = user;
}

// ------------------------------------------------------------------------------------------------- numbers in and out

/// The i-th of the worlds that a call is about; -1: there is no such world, and `err` says so.
static int32_t world_at(const stn_batch *batch, const int32_t *worlds, int32_t i, stn_error *err) {
    const int32_t world = worlds != NULL ? worlds[i] : i;
    if (world >= 0 && world < batch->count) {
        return world;
    }
    stn_fail(err, STN_ERR_ARGUMENT, "batch: world %d is not one of 0 to %d", world, batch->count - 1);
    return -1;
}

static stn_status check_worlds(const stn_batch *batch, const int32_t *worlds, int32_t count, stn_error *err) {
    if (count < 0) {
        return stn_fail(err, STN_ERR_ARGUMENT, "batch: %d worlds, must be >= 0", count);
    }
    for (int32_t i = 0; i < count; i++) {
        if (world_at(batch, worlds, i, err) < 0) {
            return STN_ERR_ARGUMENT;
        }
    }
    return STN_OK;
}

stn_status stn_batch_get(const stn_batch *batch, stn_batch_field field, const int32_t *worlds, int32_t count,
                         double *values, stn_error *err) {
    stn_status status = check_worlds(batch, worlds, count, err);
    if (status != STN_OK) {
        return status;
    }
    const char *name = stn_batch_field_name(field);
    input_field input;
    const double *from;
    size_t columns = name != NULL ? (size_t)stn_batch_columns(batch, field) : 0;
    const bool of_state = field == STN_BATCH_TIME || state_field(&batch->states[0], field, &input, &from, &columns);
    if (!of_state && columns == 0) {
        return stn_fail(err, STN_ERR_ARGUMENT, "batch: field %s is not kept; stn_batch_options.outputs asks for it",
                        name != NULL ? name : "that is not there");
    }
    for (int32_t i = 0; i < count && columns > 0; i++) {
        const int32_t world = worlds != NULL ? worlds[i] : i;
        from = of_state ? &batch->states[world].time : output_row(batch, field, world);
        (void)state_field(&batch->states[world], field, &input, &from, &columns);
        memcpy(values + (size_t)i * columns, from, columns * sizeof *values);
    }
    return STN_OK;
}

typedef struct new_values {
    input_field input;
    const double *values;
    size_t columns;
} new_values;

static stn_status put_values(void *user, stn_world *world, stn_error *err) {
    const new_values *n = user;
    if (n->input == INPUT_Q) {
        return stn_world_set_q(world, n->values, err);
    }
    if (n->input == INPUT_V) {
        return stn_world_set_v(world, n->values, err);
    }
    if (n->input == INPUT_MASS || n->input == INPUT_FRICTION) {
        stn_status status = stn_check_factors(n->input, n->values, n->columns, err);
        if (status != STN_OK) {
            return status;
        }
    }
    for (size_t i = 0; i < n->columns; i++) {
        if (!isfinite(n->values[i])) {
            return stn_fail(err, STN_ERR_NUMERIC, "column %zu is %g, must be finite", i, n->values[i]);
        }
    }
    stn_world_apply_values(world, n->input, 0, n->columns, n->values);
    return STN_OK;
}

stn_status stn_batch_set(stn_batch *batch, stn_batch_field field, const int32_t *worlds, int32_t count,
                         const double *values, stn_error *err) {
    new_values next = {0};
    const double *now;
    stn_status status = check_worlds(batch, worlds, count, err);
    if (status == STN_OK && !state_field(&batch->states[0], field, &next.input, &now, &next.columns)) {
        const char *name = stn_batch_field_name(field);
        status =
            stn_fail(err, STN_ERR_ARGUMENT, "batch: field %s cannot be set", name != NULL ? name : "that is not there");
    }
    const bool factors = next.input == INPUT_MASS || next.input == INPUT_FRICTION;
    if (status == STN_OK && factors && batch->workers[0]->setup->varied == NULL) {
        status = stn_fail(err, STN_ERR_SEQUENCE,
                          "batch: %s: masses and frictions of these worlds are fixed: make the world that the batch is "
                          "made from with varied = true",
                          stn_batch_field_name(field));
    }
    for (int32_t i = 0; i < count && status == STN_OK; i++) {
        const int32_t world = worlds != NULL ? worlds[i] : i;
        next.values = values + (size_t)i * next.columns;
        status = visit_world(batch, world, put_values, &next, false, err);
        if (status != STN_OK) {
            stn_error_prefix(err, "world %d, %s", world, stn_batch_field_name(field));
        } else {
            forget_failure(batch, world);
        }
    }
    return status;
}

static stn_status nothing(void *user, stn_world *world, stn_error *err) {
    (void)user, (void)world, (void)err;
    return STN_OK;
}

stn_status stn_batch_reset(stn_batch *batch, const int32_t *worlds, int32_t count, stn_error *err) {
    stn_status status = check_worlds(batch, worlds, count, err);
    const stn_world *from = batch->workers[0];
    for (int32_t i = 0; i < count && status == STN_OK; i++) {
        const int32_t world = worlds != NULL ? worlds[i] : i;
        status = stn_state_copy(batch->context, &from->start, stn_setup_cache_bytes(from->setup), &batch->states[world],
                                err);
        forget_failure(batch, world);
        keep_step_outputs(batch, world, NULL);
        status = status == STN_OK ? visit_world(batch, world, nothing, NULL, false, err) : status;
    }
    return status;
}

stn_status stn_batch_copy(stn_batch *batch, const int32_t *from, const int32_t *to, int32_t count, stn_error *err) {
    stn_status status = check_worlds(batch, from, count, err);
    status = status == STN_OK ? check_worlds(batch, to, count, err) : status;
    const size_t bytes = stn_setup_cache_bytes(batch->workers[0]->setup);
    for (int32_t i = 0; i < count && status == STN_OK; i++) {
        if (from[i] == to[i]) {
            continue;
        }
        status = stn_state_copy(batch->context, &batch->states[from[i]], bytes, &batch->states[to[i]], err);
        if (status != STN_OK) {
            return status;
        }
        for (int32_t f = 0; f < STN_BATCH_FIELD_COUNT; f++) {
            if (batch->outputs[f].columns > 0) {
                memcpy(output_row(batch, f, to[i]), output_row(batch, f, from[i]),
                       (size_t)batch->outputs[f].columns * sizeof(double));
            }
        }
        forget_failure(batch, to[i]);
        if (batch->failures[from[i]] != NULL) {
            const stn_error why = *batch->failures[from[i]];
            note_failure(batch, to[i], why.status, &why);
        }
    }
    return status;
}

uint64_t stn_batch_hash(const stn_batch *batch, int32_t world) {
    return world >= 0 && world < batch->count
               ? stn_state_hash(&batch->states[world], stn_setup_cache_bytes(batch->workers[0]->setup))
               : 0;
}

int32_t stn_batch_count(const stn_batch *batch) {
    return batch->count;
}

const stn_model *stn_batch_model(const stn_batch *batch) {
    return batch->workers[0]->setup->model;
}

const stn_error *stn_batch_error(const stn_batch *batch, int32_t world) {
    return world >= 0 && world < batch->count ? batch->failures[world] : NULL;
}

stn_batch_tally stn_batch_count_steps(const stn_batch *batch) {
    stn_batch_tally all = {0};
    for (int32_t k = 0; k < stn_threads_count(batch->threads); k++) {
        all.steps += batch->counts[k].made;
        all.not_converged += batch->counts[k].not_converged;
        all.stalled += batch->counts[k].stalled;
    }
    for (int32_t i = 0; i < batch->count; i++) {
        all.failed += batch->failures[i] != NULL;
    }
    return all;
}

// ------------------------------------------------------------------------------------------------------ life

void stn_batch_destroy(stn_batch *batch) {
    if (batch == NULL) {
        return;
    }
    const int32_t threads = stn_threads_count(batch->threads);
    for (int32_t i = 0; batch->states != NULL && i < batch->count; i++) {
        stn_state_clear(batch->context, &batch->states[i]);
    }
    for (int32_t i = 0; batch->failures != NULL && i < batch->count; i++) {
        forget_failure(batch, i);
    }
    for (int32_t f = 0; f < STN_BATCH_FIELD_COUNT; f++) {
        stn_release(batch->context, batch->outputs[f].values);
    }
    for (int32_t k = 0; batch->workers != NULL && k < threads; k++) {
        stn_world_destroy(batch->workers[k]);
    }
    stn_threads_destroy(batch->threads);
    stn_release(batch->context, batch->workers);
    stn_release(batch->context, batch->counts);
    stn_release(batch->context, batch->states);
    stn_release(batch->context, batch->made);
    stn_release(batch->context, (void *)batch->failures);
    stn_release(batch->context, batch);
}

static stn_status fill(stn_batch *batch, const stn_world *world, const stn_batch_options *options, stn_error *err) {
    stn_status status = STN_OK;
    if (options->threads > 1) {
        status = stn_threads_create(batch->context, options->threads, &batch->threads, err);
        if (status != STN_OK) {
            return status;
        }
    }
    const size_t count = (size_t)options->count;
    batch->workers = stn_allocate(batch->context, (size_t)options->threads, sizeof *batch->workers);
    batch->counts = stn_allocate(batch->context, (size_t)options->threads, sizeof *batch->counts);
    batch->states = stn_allocate(batch->context, count, sizeof *batch->states);
    batch->made = stn_allocate(batch->context, count, sizeof *batch->made);
    batch->failures = stn_allocate(batch->context, count, sizeof *batch->failures);
    bool complete = batch->workers != NULL && batch->counts != NULL && batch->states != NULL && batch->made != NULL &&
                    batch->failures != NULL;
    for (int32_t f = 0; f < STN_BATCH_FIELD_COUNT && complete; f++) {
        output *o = &batch->outputs[f];
        o->columns = options->outputs & 1u << f ? output_columns(world->setup->model, f) : 0;
        o->values = o->columns > 0 ? stn_allocate(batch->context, count, (size_t)o->columns * sizeof(double)) : NULL;
        complete = o->columns == 0 || o->values != NULL;
    }
    if (!complete) {
        return stn_fail(err, STN_ERR_MEMORY, "batch: out of memory for %d worlds", options->count);
    }
    for (int32_t k = 0; k < options->threads && status == STN_OK; k++) {
        status = stn_world_clone_alone(world, &batch->workers[k], err);
        if (status == STN_OK) {
            batch->workers[k]->in_batch = true;
        }
    }
    const size_t bytes = stn_setup_cache_bytes(world->setup);
    for (int32_t i = 0; i < options->count && status == STN_OK; i++) {
        status = stn_state_copy(batch->context, &world->state, bytes, &batch->states[i], err);
        batch->count = i + 1;
        status = status == STN_OK ? visit_world(batch, i, nothing, NULL, false, err) : status;
    }
    return status;
}

stn_status stn_batch_create(const stn_world *world, const stn_batch_options *options, stn_batch **out, stn_error *err) {
    *out = NULL;
    stn_batch_options own;
    if (options->size == 0) {
        return stn_fail(err, STN_ERR_ARGUMENT,
                        "batch: its options do not say their size; start from stn_batch_options_default()");
    }
    stn_status status = stn_options_take("batch", &own, sizeof own, options, options->size, err);
    if (status != STN_OK) {
        return status;
    }
    if (own.count < 1 || own.count > MOST_WORLDS) {
        return stn_fail(err, STN_ERR_ARGUMENT, "batch: count = %d, must be 1 to %d", own.count, MOST_WORLDS);
    }
    if (own.threads < 1 || own.threads > 1024) {
        return stn_fail(err, STN_ERR_ARGUMENT, "batch: threads = %d, must be 1 to 1024", own.threads);
    }
    if (world->setup->model == NULL) {
        return stn_fail(err, STN_ERR_SEQUENCE, "batch: compile the world first");
    }
    stn_batch *batch = stn_allocate(world->services.context, 1, sizeof *batch);
    if (batch == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "batch: out of memory");
    }
    batch->context = world->services.context;
    status = fill(batch, world, &own, err);
    if (status != STN_OK) {
        stn_batch_destroy(batch);
        return status;
    }
    *out = batch;
    return STN_OK;
}
