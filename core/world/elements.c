// SPDX-License-Identifier: Apache-2.0
// Elements in a step: gathered from the nodes in batches, evaluated in parallel, and added to tau, K and D in the order
// of their numbers, so that no bit depends on the number of threads.
#include <stdio.h>
#include <string.h>

#include "world/world.h"

enum {
    BATCH = 32,                // elements in one call of evaluate
    WAVE = 16,                 // batches evaluated before their results are added: what they need stays in the cache
    STATE_MOST = INT32_MAX / 8 // doubles of one group
};

static const stn_element_ops *ops_of(const stn_element_group *group) {
    return group->instance->desc->ops.element;
}

/// What a group needs of arrays for one element.
typedef struct widths {
    int32_t nodes, nq, nv, m; // nodes; coordinates and velocities of a node; velocities of all
} widths;

static widths widths_of(const stn_model *model, const stn_element_group *group) {
    const stn_node_type type = model->trees[group->tree].node_type;
    const int32_t nodes = group->nodes_per_element, nv = stn_node_type_nv(type);
    return (widths){nodes, stn_node_type_nq(type), nv, nodes * nv};
}

// ------------------------------------------------------------------------------------------------------------- tables

static stn_status place_group(step_setup *setup, int32_t g, stn_error *err) {
    const stn_element_group *group = &setup->model->element_groups[g];
    const stn_element_ops *ops = ops_of(group);
    element_slots *slots = &setup->element_slots[g];
    const int32_t n = group->nodes_per_element;
    const int64_t state_count = (int64_t)ops->state_count * group->element_count;
    int32_t *slot = stn_allocate(setup->context, (size_t)group->element_count * (size_t)(n * n), sizeof *slot);
    if (slot == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "world: out of memory while compiling");
    }
    *slots = (element_slots){.slot = slot,
                             .reference_start = setup->plugin_references,
                             .memory_start = (setup->plugin_bytes + 15) & ~(size_t)15};
    if (state_count > STATE_MOST) {
        return stn_fail(err, STN_ERR_PLUGIN, "elements %s '%s': %lld numbers of state, at most %d",
                        group->instance->desc->id, group->name, (long long)state_count, STATE_MOST);
    }
    for (int32_t c = 0; c < ops->channel_count; c++) {
        setup->plugin_references += (size_t)ops->channels[c].size;
    }
    if (state_count > 0) {
        setup->plugin_bytes = slots->memory_start + (size_t)state_count * sizeof(double);
    }
    const stn_tree *tree = &setup->model->trees[group->tree];
    for (int32_t e = 0; e < group->element_count; e++) {
        const int32_t *node = group->index + (size_t)e * (size_t)n;
        for (int32_t i = 0; i < n * n; i++) {
            *slot++ = stn_nodal_entry(tree->row_start, tree->column, node[i / n], node[i % n]);
        }
    }
    return STN_OK;
}

stn_status stn_setup_place_elements(step_setup *setup, stn_error *err) {
    const int32_t count = setup->model->element_group_count;
    setup->element_slots = stn_allocate(setup->context, (size_t)count, sizeof *setup->element_slots);
    stn_status status =
        setup->element_slots != NULL ? STN_OK : stn_fail(err, STN_ERR_MEMORY, "world: out of memory while compiling");
    for (int32_t g = 0; g < count && status == STN_OK; g++) {
        status = place_group(setup, g, err);
    }
    return status == STN_OK && count > 0 ? stn_setup_describe_elements(setup, err) : status;
}

void stn_world_begin_elements(const step_setup *setup, stn_state *state) {
    for (int32_t g = 0; g < setup->model->element_group_count; g++) {
        const stn_element_group *group = &setup->model->element_groups[g];
        const stn_element_ops *ops = ops_of(group);
        unsigned char *own = state->controller_memory;
        for (int32_t e = 0; ops->initial_state != NULL && e < group->element_count; e++) {
            double *at = (double *)(void *)(own + setup->element_slots[g].memory_start);
            ops->initial_state(group->instance->self, group->constants + (size_t)e * (size_t)ops->constant_count,
                               at + (size_t)e * (size_t)ops->state_count);
        }
    }
}

// ---------------------------------------------------------------------------------------------------------- one batch

/// Where a group's numbers are read from.
typedef struct source {
    const stn_element_group *group;
    widths w;
    const double *q, *v;     // of the group's nodes
    const double *reference; // channels of the group, NULL: none
    const double *state;     // of the group, of the step before; NULL: none
    double time, dt;         // [s]
} source;

static source source_of(const step_setup *setup, const state_view *state, int32_t g, double dt) {
    const stn_element_group *group = &setup->model->element_groups[g];
    const stn_tree *tree = &setup->model->trees[group->tree];
    const element_slots *slots = &setup->element_slots[g];
    return (source){
        .group = group,
        .w = widths_of(setup->model, group),
        .q = state->q + tree->q_start,
        .v = state->v + tree->v_start,
        .reference = ops_of(group)->channel_count > 0 ? state->reference + slots->reference_start : NULL,
        .state = ops_of(group)->state_count > 0
                     ? (const double *)(const void *)(state->controller_memory + slots->memory_start)
                     : NULL,
        .time = state->time,
        .dt = dt,
    };
}

/// Fills what a batch of elements [first, first + count) reads; x and v (count x ...) receive the nodes' numbers.
static stn_element_batch gather(const source *s, int32_t first, int32_t count, double *x, double *v) {
    const stn_element_ops *ops = ops_of(s->group);
    const widths w = s->w;
    const int32_t *index = s->group->index + (size_t)first * (size_t)w.nodes;
    for (int32_t i = 0; i < count * w.nodes; i++) {
        memcpy(x + (size_t)i * (size_t)w.nq, s->q + (size_t)index[i] * (size_t)w.nq, (size_t)w.nq * sizeof *x);
        memcpy(v + (size_t)i * (size_t)w.nv, s->v + (size_t)index[i] * (size_t)w.nv, (size_t)w.nv * sizeof *v);
    }
    return (stn_element_batch){
        .count = count,
        .first = first,
        .time = s->time,
        .dt = s->dt,
        .x = x,
        .v = v,
        .constants = s->group->constants + (size_t)first * (size_t)ops->constant_count,
        .channels = s->reference,
        .state = s->state != NULL ? s->state + (size_t)first * (size_t)ops->state_count : NULL,
        .wrong = -1,
    };
}

/// Which of the elements, of `size` numbers each, has one that is not finite; -1: none.
static int32_t first_not_finite(const double *x, int32_t count, int32_t size) {
    double sum = 0.0; // of zeros, as long as all are finite
    for (int64_t i = 0; i < (int64_t)count * size; i++) {
        sum += 0.0 * x[i];
    }
    for (int64_t i = 0; !(sum == 0.0) && i < (int64_t)count * size; i++) {
        if (!isfinite(x[i])) {
            return (int32_t)(i / size);
        }
    }
    return -1;
}

/// Failing says which by `wrong`.
static stn_status check_finite(stn_element_batch *batch, int32_t m, int32_t state_count, stn_error *err) {
    const struct {
        const char *name;
        const double *values;
        int32_t size;
    } parts[] = {{"force", batch->force, m},
                 {"stiffness", batch->K, m * m},
                 {"damping", batch->D, m * m},
                 {"energy", batch->energy, 1},
                 {"state", batch->next_state, state_count}};
    for (int32_t k = 0; k < STN_COUNT(parts); k++) {
        if (parts[k].values == NULL) {
            continue;
        }
        const int32_t wrong = first_not_finite(parts[k].values, batch->count, parts[k].size);
        if (wrong >= 0) {
            batch->wrong = wrong;
            return stn_fail(err, STN_ERR_NUMERIC, "its %s is not finite", parts[k].name);
        }
    }
    return STN_OK;
}

/// Puts "element fem: element 7 (counted from 0) of 'pad', nodes 3, 4, 9" in front of an error.
static void blame(const step_setup *setup, const source *s, const stn_element_batch *batch, stn_error *err) {
    char text[400];
    const bool known = batch->wrong >= 0 && batch->wrong < batch->count;
    stn_describe_element(setup->model, s->group, known ? batch->first + batch->wrong : -1, text, sizeof text);
    stn_error_prefix(err, "%s", text);
}

// ------------------------------------------------------------------------------------------------------------ a group

/// Results of one batch, and what it was made of.
typedef struct result {
    stn_element_batch batch;
    stn_status status;
    stn_error error;
} result;

/// What a group's results are added to.
typedef struct results_to {
    double *tau, *load; // (nv of the tree); load is NULL unless the element's work is that of an input
    stn_forces *gains;  // K and D; NULL: forces alone are asked for, and no state for the step after
} results_to;

/// Batches that are evaluated at the same time.
typedef struct wave {
    source from;
    bool forces_alone;
    int32_t first;      // element
    int32_t stride;     // doubles of one batch
    double *numbers;    // (WAVE x stride)
    double *next_state; // of the group
    result results[WAVE];
} wave;

static int32_t batch_count(const wave *w) {
    const int32_t left = w->from.group->element_count - w->first;
    return left > WAVE * BATCH ? WAVE : (left + BATCH - 1) / BATCH;
}

static void evaluate_batch(void *user, int32_t index, int32_t worker) {
    (void)worker;
    wave *w = user;
    const source *s = &w->from;
    const stn_element_ops *ops = ops_of(s->group);
    const int32_t first = w->first + index * BATCH, left = s->group->element_count - first;
    const int32_t count = left < BATCH ? left : BATCH, m = s->w.m;
    double *x = w->numbers + (size_t)index * (size_t)w->stride, *v = x + BATCH * s->w.nodes * s->w.nq;
    result *r = &w->results[index];
    stn_answer_begin(&r->error);
    r->batch = gather(s, first, count, x, v);
    r->batch.force = v + BATCH * m;
    r->batch.energy = r->batch.force + BATCH * m;
    r->batch.K = w->forces_alone ? NULL : r->batch.energy + BATCH;
    r->batch.D = w->forces_alone ? NULL : r->batch.K + BATCH * m * m;
    r->batch.next_state = w->next_state != NULL ? w->next_state + (size_t)first * (size_t)ops->state_count : NULL;
    r->status = stn_answer_end(ops->evaluate(s->group->instance->self, &r->batch, &r->error), &r->error);
    if (r->status >= 0) {
        r->status = check_finite(&r->batch, m, ops->state_count, &r->error);
    }
}

/// Block (i, j) of every element to its place in the matrix of the tree.
static void add_blocks(const source *s, const int32_t *slot, int32_t count, const double *blocks, stn_matrix *K) {
    const int32_t n = s->w.nodes, nv = s->w.nv, m = s->w.m;
    for (int32_t e = 0; e < count; e++, blocks += m * m) {
        for (int32_t i = 0; i < n * n; i++) {
            double *to = K->values + (size_t)(nv * nv) * (size_t)*slot++;
            const double *from = blocks + i / n * nv * m + i % n * nv;
            for (int32_t r = 0; r < nv; r++) {
                for (int32_t c = 0; c < nv; c++) {
                    to[nv * r + c] += from[r * m + c];
                }
            }
        }
    }
}

static void add_batch(const source *s, const stn_element_batch *batch, const int32_t *slots, const results_to *to) {
    const int32_t nodes = s->w.nodes, nv = s->w.nv, tree = s->group->tree;
    const int32_t *index = s->group->index + (size_t)batch->first * (size_t)nodes;
    const int32_t *slot = slots + (size_t)batch->first * (size_t)(nodes * nodes);
    for (int32_t i = 0; i < batch->count * nodes; i++) {
        for (int32_t r = 0; r < nv; r++) {
            to->tau[nv * index[i] + r] += batch->force[nv * i + r];
            if (to->load != NULL) {
                to->load[nv * index[i] + r] += batch->force[nv * i + r];
            }
        }
    }
    if (to->gains != NULL) {
        add_blocks(s, slot, batch->count, batch->K, &to->gains->K[tree]);
        add_blocks(s, slot, batch->count, batch->D, &to->gains->D[tree]);
    }
}

static stn_status add_group(const step_setup *setup, const state_view *state, step_frame *frame, int32_t g,
                            const results_to *to, stn_threads *threads, stn_error *err) {
    wave w = {.from = source_of(setup, state, g, frame->dt), .forces_alone = to->gains == NULL};
    const source *s = &w.from;
    const int32_t m = s->w.m;
    w.stride = BATCH * (s->w.nodes * s->w.nq + 2 * m + 2 * m * m + 1);
    if (ops_of(s->group)->state_count > 0 && !w.forces_alone) {
        w.next_state = (double *)(void *)(frame->controller_next + setup->element_slots[g].memory_start);
    }
    w.numbers = STN_ARENA(frame->arena, (size_t)batch_count(&w) * (size_t)w.stride, double);
    if (w.numbers == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "elements: out of memory");
    }
    frame->place.plugin = s->group->instance;
    for (; w.first < s->group->element_count; w.first += WAVE * BATCH) {
        const int32_t count = batch_count(&w);
        stn_parallel_for(count > 1 ? threads : NULL, count, evaluate_batch, &w);
        for (int32_t i = 0; i < count; i++) {
            const result *r = &w.results[i];
            if (r->status < 0) {
                stn_fail(err, r->status, "%s", r->error.text);
                blame(setup, s, &r->batch, err);
                return r->status;
            }
            add_batch(s, &r->batch, setup->element_slots[g].slot, to);
        }
    }
    frame->place.plugin = NULL;
    return STN_OK;
}

stn_status stn_step_elements(const step_setup *setup, const state_view *state, step_frame *frame,
                             const step_services *services, stn_error *err) {
    const stn_model *model = setup->model;
    frame->load = model->element_group_count > 0 ? STN_ARENA_ZEROED(frame->arena, model->nv, double) : NULL;
    if (model->element_group_count > 0 && frame->load == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "elements: out of memory");
    }
    for (int32_t g = 0; g < model->element_group_count; g++) {
        const int32_t v_start = model->trees[model->element_groups[g].tree].v_start;
        const bool is_load = stn_plugin_says(model->element_groups[g].instance, "load");
        const results_to to = {frame->forces.tau + v_start, is_load ? frame->load + v_start : NULL, &frame->forces};
        stn_status status = add_group(setup, state, frame, g, &to, services->threads, err);
        if (status != STN_OK) {
            return status;
        }
    }
    return STN_OK;
}

stn_status stn_step_move_loads(const step_setup *setup, const state_view *state, step_frame *frame,
                               const step_services *services, stn_error *err) {
    const stn_model *model = setup->model;
    double *q = NULL, *load = NULL;
    for (int32_t g = 0; g < model->element_group_count && frame->contact_theta > 0.0; g++) {
        if (!stn_plugin_says(model->element_groups[g].instance, "load")) {
            continue;
        }
        if (q == NULL) {
            q = STN_ARENA(frame->arena, model->nq, double);
            load = STN_ARENA_ZEROED(frame->arena, model->nv, double);
            if (q == NULL || load == NULL) {
                return stn_fail(err, STN_ERR_MEMORY, "elements: out of memory");
            }
            stn_integrate_q(model, state->q, state->v, frame->contact_theta * frame->dt, q);
        }
        state_view there = *state;
        there.q = q;
        const results_to to = {.tau = load + model->trees[model->element_groups[g].tree].v_start};
        stn_status status = add_group(setup, &there, frame, g, &to, services->threads, err);
        if (status != STN_OK) {
            return status;
        }
    }
    for (int32_t d = 0; load != NULL && d < model->nv; d++) {
        frame->problem.free_impulse[d] += frame->dt * (load[d] - frame->load[d]);
        frame->load[d] = load[d];
    }
    return STN_OK;
}

const stn_element_inputs *stn_step_element_inputs(const step_setup *setup, const state_view *state,
                                                  const step_frame *frame) {
    const int32_t count = setup->model->element_group_count;
    stn_element_inputs *inputs = STN_ARENA(frame->arena, count + 1, stn_element_inputs);
    for (int32_t g = 0; g < count && inputs != NULL; g++) {
        const source s = source_of(setup, state, g, frame->dt);
        inputs[g] = (stn_element_inputs){s.reference, s.state};
    }
    return inputs;
}

// ---------------------------------------------------------------------------------------------------------- questions

enum { LOOK = 8, MOST_COORDINATES = 7 * STN_ELEMENT_NODES }; // elements a call, so that all fits on the stack

static void note_inverted(const stn_element_batch *batch, int32_t group, stn_step_report *report) {
    if (batch->inverted > 0 && report->inverted_count == 0) {
        const bool known = batch->wrong >= 0 && batch->wrong < batch->count;
        report->inverted_group = group;
        report->inverted_element = batch->first + (known ? batch->wrong : 0);
    }
    report->inverted_count += batch->inverted > 0 ? batch->inverted : 0;
}

double stn_setup_element_energy(const step_setup *setup, const state_view *state, stn_step_report *report) {
    double x[LOOK * MOST_COORDINATES], v[LOOK * MOST_COORDINATES], force[LOOK * MOST_COORDINATES], energy[LOOK],
        sum = 0.0;
    for (int32_t g = 0; g < setup->model->element_group_count; g++) {
        const source s = source_of(setup, state, g, 0.0);
        for (int32_t first = 0; first < s.group->element_count; first += LOOK) {
            const int32_t left = s.group->element_count - first;
            stn_element_batch batch = gather(&s, first, left < LOOK ? left : LOOK, x, v);
            batch.force = force;
            batch.energy = energy;
            if (ops_of(s.group)->evaluate(s.group->instance->self, &batch, NULL) < 0) {
                return (double)NAN;
            }
            if (report != NULL) {
                note_inverted(&batch, g, report);
            }
            for (int32_t e = 0; e < batch.count; e++) {
                sum += energy[e];
            }
        }
    }
    return sum;
}

stn_status stn_setup_check_elements(const step_setup *setup, int32_t group, stn_error *err) {
    const stn_model *model = setup->model;
    if (model == NULL) {
        return stn_fail(err, STN_ERR_SEQUENCE, "elements: the world is not compiled yet");
    }
    return group >= 0 && group < model->element_group_count
               ? STN_OK
               : stn_fail(err, STN_ERR_ARGUMENT, "elements: there is no group %d (%d groups)", group,
                          model->element_group_count);
}

int32_t stn_element_output_count(const stn_element_group *group) {
    int32_t count = 0;
    const stn_element_ops *ops = ops_of(group);
    for (int32_t i = 0; i < ops->output_count; i++) {
        count += ops->outputs[i].size;
    }
    return count;
}

stn_status stn_world_element_outputs(const stn_world *world, int32_t group, double *values, stn_error *err) {
    stn_status status = stn_setup_check_elements(world->setup, group, err);
    if (status != STN_OK) {
        return status;
    }
    const state_view state = state_view_of(&world->state);
    const source s = source_of(world->setup, &state, group, 0.0);
    const stn_element_ops *ops = ops_of(s.group);
    const int32_t width = stn_element_output_count(s.group);
    double x[LOOK * MOST_COORDINATES], v[LOOK * MOST_COORDINATES];
    for (int32_t first = 0; width > 0 && first < s.group->element_count; first += LOOK) {
        const int32_t left = s.group->element_count - first;
        const stn_element_batch batch = gather(&s, first, left < LOOK ? left : LOOK, x, v);
        ops->measure(s.group->instance->self, &batch, values + (size_t)first * (size_t)width);
    }
    return STN_OK;
}

stn_status stn_world_element_forces(const stn_world *world, int32_t group, bool elastic, double *forces,
                                    stn_error *err) {
    stn_status status = stn_setup_check_elements(world->setup, group, err);
    if (status != STN_OK) {
        return status;
    }
    const state_view state = state_view_of(&world->state);
    const source s = source_of(world->setup, &state, group, 0.0);
    const results_to to = {.tau = forces};
    double x[LOOK * MOST_COORDINATES], v[LOOK * MOST_COORDINATES], force[LOOK * MOST_COORDINATES], energy[LOOK];
    memset(forces, 0, (size_t)world->setup->model->trees[s.group->tree].nv * sizeof *forces);
    for (int32_t first = 0; first < s.group->element_count; first += LOOK) {
        const int32_t left = s.group->element_count - first;
        stn_error own;
        stn_element_batch batch = gather(&s, first, left < LOOK ? left : LOOK, x, v);
        if (elastic) {
            memset(v, 0, sizeof v);
        }
        batch.force = force;
        batch.energy = energy;
        stn_answer_begin(&own);
        status = stn_answer_end(ops_of(s.group)->evaluate(s.group->instance->self, &batch, &own), &own);
        if (status >= 0) {
            status = check_finite(&batch, s.w.m, 0, &own);
        }
        if (status < 0) {
            stn_fail(err, status, "%s", own.text);
            blame(world->setup, &s, &batch, err);
            return status;
        }
        add_batch(&s, &batch, world->setup->element_slots[group].slot, &to);
    }
    return STN_OK;
}
