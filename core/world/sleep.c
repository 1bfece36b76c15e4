// SPDX-License-Identifier: Apache-2.0
// Trees that rest and are left out of steps (docs/sleeping.md). What a step knows of it: `frame->asleep`, the trees
// that it leaves out. They have no velocity, no constraint and no forming; whatever would give a constraint to one of
// them wakes its group, and the step forms again (step.c). A group falls asleep in a step that it began at rest, v0 =
// 0, and ended below the bound: what a step without sleeping would do next is the same step again.
#include <math.h>
#include <string.h>

#include <stiction/union_find.h>

#include "model/compiled.h"
#include "problem/solver.h"
#include "world/sleep.h"

// ------------------------------------------------------------------------------------------------------------ set-up

/// May it sleep? Kinematic bodies move as they are told, also as the base of a robot; clouds of nodes never rest.
static bool may_sleep(const step_setup *setup, const stn_tree *tree) {
    bool may = tree->kind == STN_TREE_ARTICULATED && tree->nv > 0;
    for (int32_t b = tree->body_start; may && b < tree->body_start + tree->body_count; b++) {
        may = setup->model->joints[setup->model->bodies[b].joint].type != STN_JOINT_KINEMATIC;
    }
    return may;
}

stn_status stn_sleep_check_bound(const stn_world_options *options, stn_vec3 gravity, stn_error *err) {
    const double g = stn_vec3_norm(gravity), fall = g * options->sleep_time;
    if (options->sleep_velocity > 0.0 && g > 0.0 && options->sleep_velocity >= fall) {
        return stn_fail(err, STN_ERR_ARGUMENT,
                        "sleep_velocity = %g m/s, sleep_time = %g s, gravity %g m/s^2: what is let go is not faster "
                        "after that time and would sleep in the air; keep the speed far below %g m/s",
                        options->sleep_velocity, options->sleep_time, g, fall);
    }
    return STN_OK;
}

stn_status stn_setup_prepare_sleep(step_setup *setup, stn_error *err) {
    const stn_model *model = setup->model;
    if (!(setup->options.sleep_velocity > 0.0)) {
        return STN_OK;
    }
    setup->tree_may_sleep = stn_allocate(setup->context, (size_t)model->tree_count, sizeof *setup->tree_may_sleep);
    setup->body_radius = stn_allocate(setup->context, (size_t)model->body_count, sizeof *setup->body_radius);
    if (setup->tree_may_sleep == NULL || setup->body_radius == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "world: out of memory");
    }
    for (int32_t t = 0; t < model->tree_count; t++) {
        setup->tree_may_sleep[t] = may_sleep(setup, &model->trees[t]);
    }
    for (int32_t b = 1; b < model->body_count; b++) { // of a body without shapes: its radii of inertia
        const stn_mass *mass = &model->bodies[b].mass;
        const double(*I)[3] = mass->inertia.m;
        const double largest = fmax(I[0][0], fmax(I[1][1], I[2][2]));
        setup->body_radius[b] = mass->mass > 0.0 ? stn_vec3_norm(mass->com) + sqrt(largest / mass->mass) : 0.0;
    }
    for (int32_t i = 0; i < setup->collider_count; i++) {
        const int32_t b = model->geometries[setup->collider[i]].body;
        if (b > 0 && setup->collider_radius[i] > setup->body_radius[b]) {
            setup->body_radius[b] = setup->collider_radius[i];
        }
    }
    return STN_OK;
}

// ----------------------------------------------------------------------------------------------------------- waking

bool stn_sleep_is_on(const step_setup *setup) {
    return setup->tree_may_sleep != NULL;
}

void stn_step_leave_sleepers(const step_setup *setup, const state_view *state, step_frame *frame) {
    frame->asleep_count = 0;
    for (int32_t t = 0; stn_sleep_is_on(setup) && t < setup->model->tree_count; t++) {
        frame->asleep[t] = state->sleep[t].group != 0;
        frame->asleep_count += frame->asleep[t];
    }
}

/// The whole group of a tree that this step leaves out is in it again.
static void wake_group(const step_setup *setup, const state_view *state, step_frame *frame, int32_t tree) {
    const int64_t group = state->sleep[tree].group;
    for (int32_t t = 0; t < setup->model->tree_count; t++) {
        if (frame->asleep[t] && state->sleep[t].group == group) {
            frame->asleep[t] = false;
            frame->asleep_count--;
        }
    }
}

/// Of the affine forces on a tree: tau, K and D. Motors with limits are rows, which wake it.
static uint64_t forces_of(const step_setup *setup, const step_frame *frame, int32_t t) {
    const stn_tree *tree = &setup->model->trees[t];
    const stn_forces *f = &frame->forces;
    uint64_t h = stn_hash(0, f->tau + tree->v_start, (size_t)tree->nv * sizeof(double));
    const stn_matrix *gains[] = {&f->K[t], &f->D[t]};
    for (int32_t i = 0; i < STN_COUNT(gains); i++) {
        const int32_t form = (int32_t)gains[i]->form;
        h = stn_hash(h, &form, sizeof form);
        if (gains[i]->form != STN_MATRIX_ZERO) {
            h = stn_hash(h, gains[i]->values, (size_t)stn_matrix_value_count(gains[i]) * sizeof(double));
        }
    }
    return h;
}

void stn_step_wake_by_forces(const step_setup *setup, const state_view *state, step_frame *frame) {
    for (int32_t t = 0; frame->asleep_count > 0 && t < setup->model->tree_count; t++) {
        if (frame->asleep[t] && forces_of(setup, frame, t) != state->sleep[t].forces) {
            wake_group(setup, state, frame, t);
        }
    }
}

bool stn_step_wake_by_constraints(const step_setup *setup, const state_view *state, step_frame *frame) {
    const int32_t before = frame->asleep_count;
    for (int32_t i = 0; frame->asleep_count > 0 && i < frame->problem.constraint_count; i++) {
        const stn_constraint *c = &frame->problem.constraints[i];
        for (int32_t k = 0; k < stn_constraint_block_count(c); k++) {
            const int32_t tree = stn_constraint_block(c, k)->tree;
            if (frame->asleep[tree]) {
                wake_group(setup, state, frame, tree);
            }
        }
    }
    return frame->asleep_count < before;
}

static bool turns_or_slides(const stn_spatial *twist) {
    static const double round_off = 1e-9; // of the twist between two equal poses [m/s], [rad/s]
    return stn_vec3_norm(twist->linear) > round_off || stn_vec3_norm(twist->angular) > round_off;
}

/// A kinematic body that moves now, or at the step's end, or is elsewhere then.
static bool is_moved(const step_setup *setup, const state_view *state, const step_frame *frame, int32_t body) {
    if (!stn_setup_is_kinematic(setup, body)) {
        return false;
    }
    const double *told = state->kinematic_target + KINEMATIC_NUMBERS * (size_t)setup->kinematic_of[body];
    const double *pose = state->q + setup->model->joints[setup->model->bodies[body].joint].q_start;
    const stn_spatial end = stn_step_kinematic_twist(setup, frame, body);
    return turns_or_slides(&end) || turns_or_slides(&frame->kinematics->body_velocity[body]) ||
           (told[0] != 0.0 && memcmp(told + 1, pose, 7 * sizeof *pose) != 0);
}

bool *stn_step_active_colliders(const step_setup *setup, const state_view *state, const step_frame *frame) {
    const stn_model *model = setup->model;
    bool *active = STN_ARENA(frame->arena, setup->collider_count, bool);
    for (int32_t i = 0; active != NULL && i < setup->collider_count; i++) {
        const stn_geometry *g = &model->geometries[setup->collider[i]];
        const double *belt = state->surface_velocity + 3 * (size_t)setup->collider[i];
        active[i] = belt[0] != 0.0 || belt[1] != 0.0 || belt[2] != 0.0 || g->body < 0;
        if (!active[i] && g->body > 0) {
            active[i] = stn_setup_is_kinematic(setup, g->body) ? is_moved(setup, state, frame, g->body)
                                                               : !frame->asleep[model->bodies[g->body].tree];
        }
    }
    return active;
}

bool stn_state_wake_all(stn_state *state) {
    bool slept = false;
    for (size_t t = 0; t < state->sizes.sleep_count; t++) {
        slept = slept || state->sleep[t].group != 0;
        state->sleep[t] = (stn_tree_sleep){0};
    }
    return slept;
}

/// Between steps: the group of a tree, and its time at rest begins anew.
static bool wake_between(const step_setup *setup, stn_state *state, int32_t tree) {
    const int64_t group = state->sleep[tree].group;
    for (int32_t t = 0; t < setup->model->tree_count; t++) {
        if (t == tree || (group != 0 && state->sleep[t].group == group)) {
            state->sleep[t] = (stn_tree_sleep){0};
        }
    }
    return group != 0;
}

bool stn_state_wake_set(const step_setup *setup, stn_state *state, bool is_q, size_t start, size_t count,
                        const void *values) {
    const double *now = is_q ? state->q : state->v;
    bool slept = false;
    for (int32_t t = 0; state->sizes.sleep_count > 0 && t < setup->model->tree_count; t++) {
        const stn_tree *tree = &setup->model->trees[t];
        const size_t first = (size_t)(is_q ? tree->q_start : tree->v_start),
                     last = first + (size_t)(is_q ? tree->nq : tree->nv);
        const size_t from = first > start ? first : start, to = last < start + count ? last : start + count;
        if (from >= to || memcmp(now + from, (const char *)values + (from - start) * sizeof(double),
                                 (to - from) * sizeof(double)) == 0) {
            continue;
        }
        if (!setup->tree_may_sleep[t]) { // what rested on a kinematic body may have lost its support
            return stn_state_wake_all(state) || slept;
        }
        slept = wake_between(setup, state, t) || slept;
    }
    return slept;
}

bool stn_world_is_asleep(const stn_world *world, int32_t body) {
    const step_setup *setup = world->setup;
    if (setup->model == NULL || !stn_sleep_is_on(setup) || body <= 0 || body >= setup->model->body_count) {
        return false;
    }
    return world->state.sleep[setup->model->bodies[body].tree].group != 0;
}

// --------------------------------------------------------------------------------------------------- falling asleep

/// Is no point of a tree faster than the bound at velocities v, with its bodies where they are at the step's start?
/// `room`: (body_count).
static bool is_slow(const step_setup *setup, const step_frame *frame, int32_t t, const double *v, stn_spatial *room) {
    const stn_model *model = setup->model;
    const stn_kinematics *kin = frame->kinematics;
    const stn_tree *tree = &model->trees[t];
    const double bound = setup->options.sleep_velocity;
    for (int32_t b = tree->body_start; b < tree->body_start + tree->body_count; b++) {
        const stn_joint *joint = &model->joints[model->bodies[b].joint];
        const int32_t parent = model->bodies[b].parent;
        stn_spatial *s = &room[b];
        *s = parent > 0 ? room[parent] : (stn_spatial){stn_vec3_zero(), stn_vec3_zero()};
        for (int32_t d = joint->v_start; d < joint->v_start + joint->nv; d++) {
            s->angular = stn_vec3_mul_add(s->angular, v[d], kin->motion[d].angular);
            s->linear = stn_vec3_mul_add(s->linear, v[d], kin->motion[d].linear);
        }
        const stn_vec3 arm = stn_vec3_sub(kin->body_pose[b].position, kin->reference[t]);
        const stn_vec3 origin = stn_vec3_add(s->linear, stn_vec3_cross(s->angular, arm));
        const double left = bound - setup->body_radius[b] * stn_vec3_norm(s->angular);
        if (!(left >= 0.0 && stn_vec3_dot(origin, origin) <= left * left)) {
            return false;
        }
    }
    return true;
}

/// The same of a body that floats in the world, whose v is its velocity, as most are.
static bool free_is_slow(const step_setup *setup, int32_t body, const double *v) {
    const double bound = setup->options.sleep_velocity, r = setup->body_radius[body];
    const double linear = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
    const double angular = v[3] * v[3] + v[4] * v[4] + v[5] * v[5];
    return linear <= bound * bound && sqrt(linear) + r * sqrt(angular) <= bound;
}

static bool tree_is_slow(const step_setup *setup, const step_frame *frame, int32_t t, const double *v) {
    const stn_tree *tree = &setup->model->trees[t];
    const body_plan *plan = &model_object_of(setup->model)->plan[tree->body_start];
    return plan->free_root && tree->body_count == 1 ? free_is_slow(setup, tree->body_start, v + tree->v_start)
                                                    : is_slow(setup, frame, t, v, frame->star_velocity);
}

static bool is_at_rest(const stn_tree *tree, const double *v) {
    bool rests = true;
    for (int32_t d = tree->v_start; d < tree->v_start + tree->nv; d++) {
        rests = rests && v[d] == 0.0;
    }
    return rests;
}

/// A contact of points between bodies of which none is moved from outside. Groups with other constraints stay awake.
static bool may_rest_on(const step_setup *setup, const state_view *state, const step_frame *frame,
                        const stn_constraint *c) {
    if (c->kind != STN_CONSTRAINT_CONTACT || c->patch >= 0 || c->body[0] < 0 || c->body[1] < 0) {
        return false;
    }
    const stn_vec3 *belt = &frame->contacts.contacts[c->contact].bias;
    return belt->x == 0.0 && belt->y == 0.0 && belt->z == 0.0 && !is_moved(setup, state, frame, c->body[0]) &&
           !is_moved(setup, state, frame, c->body[1]);
}

/// Groups of the trees of this step, by the constraints between them.
typedef struct groups {
    int32_t *parent; // (tree_count) union_find.h
    bool *restless;  // (tree_count) of a group, by its name: it must stay awake
    bool *moved;     // likewise: it did not begin the step at rest
} groups;

static bool find_groups(const step_setup *setup, const state_view *state, const step_frame *frame, groups *out) {
    const int32_t count = setup->model->tree_count;
    out->parent = STN_ARENA(frame->arena, count, int32_t);
    out->restless = STN_ARENA_ZEROED(frame->arena, count, bool);
    out->moved = STN_ARENA_ZEROED(frame->arena, count, bool);
    if (out->parent == NULL || out->restless == NULL || out->moved == NULL) {
        return false;
    }
    stn_union_begin(out->parent, count);
    const stn_problem *p = &frame->problem;
    for (int32_t i = 0; i < p->constraint_count; i++) {
        for (int32_t k = 1; k < stn_constraint_block_count(&p->constraints[i]); k++) {
            stn_union_join(out->parent, p->constraints[i].J[0].tree, stn_constraint_block(&p->constraints[i], k)->tree);
        }
    }
    for (int32_t i = 0; i < p->constraint_count; i++) {
        if (!may_rest_on(setup, state, frame, &p->constraints[i])) {
            out->restless[stn_union_root(out->parent, p->constraints[i].J[0].tree)] = true;
        }
    }
    for (int32_t t = 0; t < count; t++) {
        const int32_t root = stn_union_root(out->parent, t);
        out->restless[root] |= !(frame->sleep_next[t].quiet >= setup->options.sleep_time);
        out->moved[root] |= !is_at_rest(&setup->model->trees[t], state->v);
    }
    return true;
}

/// v becomes 0; the report gets the energy and the momentum that go.
static bool stop(const step_setup *setup, step_frame *frame, int32_t t) {
    const stn_tree *tree = &setup->model->trees[t];
    double *v = frame->v_next + tree->v_start;
    double *momentum = STN_ARENA_ZEROED(frame->arena, tree->nv, double);
    if (momentum == NULL) {
        return false;
    }
    stn_matrix_mul_add(&frame->M[t], 1.0, v, momentum);
    for (int32_t d = 0; d < tree->nv; d++) {
        frame->report.stopped_J += 0.5 * momentum[d] * v[d];
        v[d] = 0.0;
    }
    return true;
}

stn_status stn_step_fall_asleep(const step_setup *setup, const state_view *state, step_frame *frame, stn_error *err) {
    const stn_model *model = setup->model;
    bool any = false;
    for (int32_t t = 0; t < model->tree_count; t++) {
        const stn_tree *tree = &model->trees[t];
        stn_tree_sleep *next = &frame->sleep_next[t];
        *next = state->sleep[t];
        if (frame->asleep[t]) { // stays as it is, to the last bit
            memcpy(frame->q_next + tree->q_start, state->q + tree->q_start, (size_t)tree->nq * sizeof(double));
            memcpy(frame->v_next + tree->v_start, state->v + tree->v_start, (size_t)tree->nv * sizeof(double));
            continue;
        }
        frame->sleepers.changed |= next->group != 0;
        double before = next->group != 0 ? 0.0 : next->quiet;
        *next = (stn_tree_sleep){0};
        if (setup->tree_may_sleep[t]) {
            bool slow = tree_is_slow(setup, frame, t, frame->v_next);
            if (slow && frame->solution.v_position != NULL) { // which moves the bodies
                slow = tree_is_slow(setup, frame, t, frame->solution.v_position);
            }
            next->quiet = slow ? before + frame->dt : 0.0;
        }
        any |= next->quiet >= setup->options.sleep_time;
    }
    groups g = {0};
    if (any && !find_groups(setup, state, frame, &g)) {
        return stn_fail(err, STN_ERR_MEMORY, "step: out of memory");
    }
    for (int32_t t = 0; any && t < model->tree_count; t++) {
        const stn_tree *tree = &model->trees[t];
        const int32_t root = stn_union_root(g.parent, t);
        if (frame->asleep[t] || g.restless[root]) {
            continue;
        }
        if (!stop(setup, frame, t)) {
            return stn_fail(err, STN_ERR_MEMORY, "step: out of memory");
        }
        if (!g.moved[root]) {
            memcpy(frame->q_next + tree->q_start, state->q + tree->q_start, (size_t)tree->nq * sizeof(double));
            frame->sleep_next[t].group = root + 1;
            frame->sleep_next[t].forces = forces_of(setup, frame, t);
            frame->sleepers.changed = true;
        }
    }
    for (int32_t t = 0; t < model->tree_count; t++) {
        frame->report.sleeping_count += frame->sleep_next[t].group != 0;
    }
    return STN_OK;
}

// ---------------------------------------------------------------------------------------- contacts of what sleeps

// They are found, assembled and solved no more, but observers and the contact cache have them as the last step
// made them that did: in front of those of the step at hand.

/// The vectors over the rows of a problem.
enum { ROW_VECTORS = SLEEPERS_ROW_VECTORS };
static void row_vectors(stn_problem *p, double **out[ROW_VECTORS]) {
    double **of[ROW_VECTORS] = {&p->bias, &p->lo, &p->hi, &p->R, &p->v_hat, &p->gamma_guess, &p->phi};
    memcpy(out, of, sizeof of);
}

/// Private bytes of constraints: the law's, the solver's, anchors.
enum { MEMORIES = SLEEPERS_MEMORIES };
typedef struct memory_block {
    void *at;
    size_t bytes; // of one constraint
} memory_block;
static void memory_blocks(const step_setup *setup, const step_frame *frame, memory_block out[MEMORIES]) {
    out[0] = (memory_block){frame->law_memory, stn_setup_memory_bytes(setup, STN_KIND_LAW)};
    out[1] = (memory_block){frame->solver_memory, stn_setup_memory_bytes(setup, STN_KIND_SOLVER)};
    out[2] = (memory_block){frame->anchors, setup->options.stiction ? sizeof(anchor) : 0};
}

static bool grow(stn_context *context, void *array, int32_t before, int32_t after, size_t size) {
    void *at, *grown;
    memcpy(&at, array, sizeof at);
    grown = stn_reallocate(context, at, (size_t)before, (size_t)after, size);
    if (grown != NULL) {
        memcpy(array, &grown, sizeof grown);
    }
    return grown != NULL;
}

/// Room for as many constraints; what is there stays.
static stn_status reserve(const step_setup *setup, const step_services *services, step_frame *frame, int32_t count,
                          stn_error *err) {
    sleepers *s = &frame->sleepers;
    if (count <= s->capacity) {
        return STN_OK;
    }
    const int32_t before = s->capacity, after = count + count / 2 + 64;
    memory_block blocks[MEMORIES];
    memory_blocks(setup, frame, blocks);
    stn_context *context = services->context;
    bool complete = grow(context, &s->contacts, before, after, sizeof *s->contacts) &&
                    grow(context, &s->constraints, before, after, sizeof *s->constraints) &&
                    grow(context, &s->stored, before, after, sizeof *s->stored) &&
                    grow(context, &s->gamma, STN_MAX_ROWS * before, STN_MAX_ROWS * after, sizeof *s->gamma);
    for (int32_t k = 0; k < ROW_VECTORS && complete; k++) {
        complete = grow(context, &s->row[k], STN_MAX_ROWS * before, STN_MAX_ROWS * after, sizeof *s->row[k]);
    }
    for (int32_t k = 0; k < MEMORIES && complete; k++) {
        complete = blocks[k].bytes == 0 || grow(context, &s->memory[k], before, after, blocks[k].bytes);
    }
    if (!complete) {
        return stn_fail(err, STN_ERR_MEMORY, "sleeping contacts: out of memory");
    }
    s->capacity = after;
    return STN_OK;
}

void stn_step_release_sleepers(stn_context *context, step_frame *frame) {
    sleepers *s = &frame->sleepers;
    void *arrays[] = {s->contacts, s->constraints, s->gamma, s->stored, s->v_star};
    for (int32_t i = 0; i < STN_COUNT(arrays); i++) {
        stn_release(context, arrays[i]);
    }
    for (int32_t k = 0; k < ROW_VECTORS; k++) {
        stn_release(context, s->row[k]);
    }
    for (int32_t k = 0; k < MEMORIES; k++) {
        stn_release(context, s->memory[k]);
    }
    stn_arena_destroy(s->arena);
    stn_arena_destroy(s->spare);
    *s = (sleepers){0};
}

/// What all of them are together.
static void sum_up(sleepers *s) {
    s->all_stored = 0.0;
    s->deepest = -1;
    for (int32_t i = 0; i < s->count; i++) {
        s->all_stored += s->stored[i];
        s->deepest = s->deepest < 0 || s->contacts[i].phi0 < s->contacts[s->deepest].phi0 ? i : s->deepest;
    }
}

/// Those of the list whose trees this step leaves out move up.
static void drop_woken(const step_setup *setup, step_frame *frame) {
    sleepers *s = &frame->sleepers;
    memory_block blocks[MEMORIES];
    int32_t count = 0;
    memory_blocks(setup, frame, blocks);
    for (int32_t i = 0; i < s->count; i++) {
        if (!frame->asleep[s->constraints[i].J[0].tree]) {
            continue;
        }
        const size_t to = (size_t)count, from = (size_t)i;
        if (to < from) {
            s->contacts[to] = s->contacts[from];
            s->constraints[to] = s->constraints[from];
            s->constraints[to].row = 3 * count;
            s->constraints[to].contact = s->constraints[to].memory = count;
            s->stored[to] = s->stored[from];
            memcpy(s->gamma + 3 * to, s->gamma + 3 * from, 3 * sizeof(double));
            for (int32_t k = 0; k < ROW_VECTORS; k++) {
                memcpy(s->row[k] + 3 * to, s->row[k] + 3 * from, 3 * sizeof(double));
            }
            for (int32_t k = 0; k < MEMORIES; k++) {
                const size_t bytes = blocks[k].bytes;
                if (bytes > 0) {
                    memcpy((char *)s->memory[k] + bytes * to, (const char *)s->memory[k] + bytes * from, bytes);
                }
            }
        }
        count++;
    }
    if (count < s->count) {
        s->count = count;
        s->cached = false;
        sum_up(s);
    }
}

stn_status stn_step_show_sleepers(const step_setup *setup, step_frame *frame, const step_services *services,
                                  stn_error *err) {
    stn_problem *p = &frame->problem;
    sleepers *s = &frame->sleepers;
    drop_woken(setup, frame);
    if (frame->asleep_count == 0) {
        return STN_OK;
    }
    const int32_t count = s->count, own = frame->contacts.count, all = p->constraint_count, rows = p->row_count;
    stn_status status = reserve(setup, services, frame, count + all, err);
    if (status != STN_OK) {
        return status;
    }
    double **vectors[ROW_VECTORS];
    memory_block blocks[MEMORIES];
    row_vectors(p, vectors);
    memory_blocks(setup, frame, blocks);
    for (int32_t i = 0; i < own; i++) {
        s->contacts[count + i] = frame->contacts.contacts[i];
    }
    for (int32_t i = 0; i < all; i++) {
        stn_constraint *c = &s->constraints[count + i];
        *c = p->constraints[i];
        c->row += 3 * count;
        c->memory += c->memory >= 0 ? count : 0;
        c->contact += c->contact >= 0 ? count : 0;
    }
    for (int32_t k = 0; k < ROW_VECTORS; k++) {
        if (rows > 0) {
            memcpy(s->row[k] + 3 * count, *vectors[k], (size_t)rows * sizeof(double));
        }
        *vectors[k] = s->row[k];
    }
    if (rows > 0) {
        memcpy(s->gamma + 3 * count, frame->solution.gamma, (size_t)rows * sizeof(double));
    }
    for (int32_t k = 0; k < MEMORIES; k++) {
        if (blocks[k].bytes > 0 && all > 0) {
            memcpy((char *)s->memory[k] + blocks[k].bytes * (size_t)count, blocks[k].at, blocks[k].bytes * (size_t)all);
        }
    }
    frame->law_memory = s->memory[0];
    frame->solver_memory = s->memory[1];
    frame->anchors = s->memory[2];
    p->constraints = s->constraints;
    p->constraint_count = count + all;
    p->row_count = 3 * count + rows;
    frame->solution.gamma = s->gamma;
    frame->contacts.contacts = s->contacts;
    frame->contacts.count = count + own;
    for (int32_t k = 0; k < frame->contacts.patch_count; k++) {
        frame->contacts.patches[k].contact_start += count;
    }
    frame->constraint_first += count;
    for (int32_t k = 0; k <= setup->model->constraint_count; k++) {
        frame->constraint_block[k] += count;
    }
    for (int32_t k = 0; k < setup->model->attachment_count; k++) {
        frame->attached[k].constraint += frame->attached[k].constraint >= 0 ? count : 0;
    }
    for (int32_t t = 0; t < setup->model->tree_count; t++) {
        const stn_tree *tree = &setup->model->trees[t];
        if (frame->asleep[t]) {
            memcpy(p->v_star + tree->v_start, s->v_star + tree->v_start, (size_t)tree->nv * sizeof(double));
        }
    }
    stn_step_report *r = &frame->report;
    r->contact_count = frame->contacts.count;
    r->constraint_count = p->constraint_count;
    r->contact_J += s->all_stored;
    r->contact_start_J += s->all_stored;
    if (s->deepest >= 0 && -s->contacts[s->deepest].phi0 > r->overlap_m) {
        const stn_contact *deepest = &s->contacts[s->deepest];
        r->overlap_m = -deepest->phi0;
        r->overlap_geometry[0] = deepest->geometry_a;
        r->overlap_geometry[1] = deepest->geometry_b;
    }
    return STN_OK;
}

static bool sleeps(const stn_tree_sleep *sleep, const stn_constraint *c) {
    bool all = stn_constraint_block_count(c) > 0;
    for (int32_t k = 0; all && k < stn_constraint_block_count(c); k++) {
        all = sleep[stn_constraint_block(c, k)->tree].group != 0;
    }
    return all;
}

/// Copies constraint `from` of the frame, which may lie in the list itself, not before place i; false: out of memory.
static bool list_one(const step_setup *setup, step_frame *frame, const stn_law *law, const double *gamma, int32_t from,
                     int32_t i) {
    sleepers *s = &frame->sleepers;
    stn_problem *p = &frame->problem;
    const stn_constraint c = p->constraints[from];
    double **vectors[ROW_VECTORS];
    memory_block blocks[MEMORIES];
    row_vectors(p, vectors);
    memory_blocks(setup, frame, blocks);
    s->stored[i] = contact_stored(law, p, from, c.phi0);
    s->contacts[i] = frame->contacts.contacts[c.contact];
    s->constraints[i] = c;
    s->constraints[i].row = 3 * i;
    s->constraints[i].contact = s->constraints[i].memory = i;
    memmove(s->gamma + 3 * (size_t)i, gamma + c.row, 3 * sizeof(double));
    for (int32_t k = 0; k < ROW_VECTORS; k++) {
        memmove(s->row[k] + 3 * (size_t)i, *vectors[k] + c.row, 3 * sizeof(double));
    }
    for (int32_t k = 0; k < MEMORIES; k++) {
        const size_t bytes = blocks[k].bytes;
        if (bytes > 0) {
            memmove((char *)s->memory[k] + bytes * (size_t)i, (const char *)blocks[k].at + bytes * (size_t)from, bytes);
        }
    }
    for (int32_t k = 0; k < stn_constraint_block_count(&c); k++) {
        stn_jacobian *J = &s->constraints[i].J[k];
        const size_t count = 3 * (size_t)setup->model->trees[J->tree].nv;
        double *values = STN_ARENA(s->arena, count, double);
        if (values == NULL) {
            return false;
        }
        stn_jacobian_expand(p, &c.J[k], 3, values);
        J->values = values;
        J->wrench = NULL;
    }
    return true;
}

/// Of the frame's constraints those whose trees sleep, in their order; by `position`, where that is given, without
/// those that have none.
static stn_status list_sleepers(const step_setup *setup, const state_view *state, step_frame *frame,
                                const step_services *services, const double *gamma, const int32_t *position,
                                stn_error *err) {
    sleepers *s = &frame->sleepers;
    const stn_problem *p = &frame->problem;
    const stn_law *law = services->solver->law.ops != NULL ? &services->solver->law : NULL;
    int32_t *order = STN_ARENA(frame->arena, p->constraint_count, int32_t), count = 0;
    if (order == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "sleeping contacts: out of memory");
    }
    for (int32_t i = 0; i < p->constraint_count; i++) {
        if (sleeps(state->sleep, &p->constraints[i]) && (position == NULL || position[i] >= 0)) {
            order[count++] = i;
        }
    }
    for (int32_t i = 1; position != NULL && i < count; i++) { // nearly sorted: by insertion
        const int32_t moved = order[i];
        int32_t k = i;
        for (; k > 0 && position[order[k - 1]] > position[moved]; k--) {
            order[k] = order[k - 1];
        }
        order[k] = moved;
    }
    stn_status status = reserve(setup, services, frame, count, err);
    stn_arena *last = s->arena;
    s->arena = s->spare;
    s->spare = last;
    stn_arena_reset(s->arena);
    for (int32_t i = 0; i < count && status == STN_OK; i++) {
        if (!list_one(setup, frame, law, gamma, order[i], i)) {
            status = stn_fail(err, STN_ERR_MEMORY, "sleeping contacts: out of memory");
        }
    }
    for (int32_t t = 0; t < setup->model->tree_count; t++) {
        const stn_tree *tree = &setup->model->trees[t];
        if (state->sleep[t].group != 0) {
            memcpy(s->v_star + tree->v_start, p->v_star + tree->v_start, (size_t)tree->nv * sizeof(double));
        }
    }
    s->count = count;
    s->known = status == STN_OK;
    s->changed = s->cached = false;
    sum_up(s);
    return status;
}

stn_status stn_step_keep_sleepers(const step_setup *setup, const state_view *state, step_frame *frame,
                                  const step_services *services, stn_error *err) {
    return list_sleepers(setup, state, frame, services, frame->solution.gamma, NULL, err);
}

stn_status stn_step_recall_sleepers(const step_setup *setup, const state_view *state, step_frame *frame,
                                    const step_services *services, stn_error *err) {
    int32_t *position = STN_ARENA(frame->arena, frame->problem.constraint_count, int32_t);
    if (position == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "sleeping contacts: out of memory");
    }
    for (int32_t i = 0; i < frame->problem.constraint_count; i++) {
        const stn_cache_entry *entry = stn_cache_find(state, services, frame->problem.constraints[i].id);
        position[i] = entry != NULL ? (int32_t)(entry - state->cache) : -1;
        if (entry != NULL) { // assembly moves anchors
            stn_cache_read(setup, state, position[i], frame, i);
        }
    }
    return list_sleepers(setup, state, frame, services, frame->problem.gamma_guess, position, err);
}

// ------------------------------------------------------------------------------------------------- all of it sleeps

bool stn_step_is_still(const step_setup *setup, const stn_state *state, const step_frame *frame) {
    const stn_model *model = setup->model;
    if (frame->report.sleeping_count == 0 || setup->controller_count > 0 || model->constraint_count > 0 ||
        state->sizes.integrator_bytes > 0) {
        return false;
    }
    bool still = true;
    for (int32_t t = 0; still && t < model->tree_count; t++) {
        still = model->trees[t].nv == 0 || state->sleep[t].group != 0;
    }
    for (int32_t i = 0; still && i < setup->kinematic_count; i++) {
        const stn_spatial none = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
        still = memcmp(&frame->kinematics->body_velocity[setup->kinematic_bodies[i]], &none, sizeof none) == 0;
    }
    return still;
}
