// SPDX-License-Identifier: Apache-2.0
// Rows of plugins of kind constraint: what a plugin emits becomes a constraint of the problem with one Jacobian block a
// tree, and what kinematic bodies do becomes its bias. See constraint.h.
#include <math.h>
#include <string.h>

#include "world/assemble.h"

/// `contact`: id of the one that it stands beside, 0: none.
static uint64_t constraint_id(int32_t constraint, int32_t part, uint64_t contact) {
    const int32_t key[2] = {constraint, part};
    return stn_hash(0x657175616c697479u ^ contact, key, sizeof key);
}

static const stn_constraint_ops *ops_of(const stn_model_constraint *c) {
    return c->instance->desc->ops.constraint;
}

// ------------------------------------------------------------------------------------------------------------- rows

struct stn_rows {
    const assembly *a;
    int32_t index;         // of the constraint in the model
    int32_t left;          // rows that it may still emit
    stn_constraint *c;     // the block at hand, NULL: none
    int32_t room;          // blocks that c->more has room for
    int32_t first_row;     // of all plugins' rows in the problem
    stn_row_block *looked; // NULL: these are rows of a step; else only the blocks are kept, here
    int32_t looked_count;
    stn_status status; // of the first mistake
    stn_error *err;
};

/// Drops a block on which nothing acts: the problem has no rows without a tree.
static void end_block(stn_rows *rows) {
    step_frame *frame = rows->a->frame;
    stn_problem *p = &frame->problem;
    if (rows->c != NULL && rows->c->J[0].tree < 0) {
        p->constraint_count--;
        p->row_count -= rows->c->rows;
        for (int32_t r = p->row_count - rows->first_row, k = 0; k < rows->c->rows; k++) {
            frame->constraint_drive[r + k] = frame->constraint_input[r + k] = 0.0;
        }
    }
    rows->c = NULL;
}

/// Finite errors without bounds and inputs, which most blocks have: there is nothing more to look at.
static bool is_plain(const stn_row_block *block) {
    bool plain = block->input_work == 0.0;
    for (int32_t r = 0; r < block->rows && r < STN_MAX_ROWS; r++) {
        plain = plain && isfinite(block->phi[r]) && block->lo[r] == -(double)INFINITY &&
                block->hi[r] == (double)INFINITY && block->input[r] == 0.0;
    }
    return plain;
}

/// Bounds of the block at hand, and its inputs for the work, which they are asked for then.
static void fill_bounds(const stn_rows *rows, const stn_row_block *block) {
    step_frame *frame = rows->a->frame;
    stn_problem *p = &frame->problem;
    stn_constraint *c = rows->c;
    frame->constraint_told = true;
    frame->constraint_work += block->input_work;
    for (int32_t r = 0; r < block->rows; r++) {
        p->lo[c->row + r] = p->dt * block->lo[r];
        p->hi[c->row + r] = p->dt * block->hi[r];
        frame->constraint_input[c->row + r - rows->first_row] = p->dt * block->input[r];
        c->set = isinf(block->lo[r]) && isinf(block->hi[r]) ? c->set : STN_SET_BOX;
    }
}

static stn_status check_block(const stn_rows *rows, const stn_row_block *block, bool plain, stn_error *err) {
    if (block->rows < 1 || block->rows > STN_MAX_ROWS || block->rows > rows->left) {
        return stn_fail(err, STN_ERR_PLUGIN,
                        "a block of %d rows: a block has 1 to %d, and %d are left of row_count and contact_rows",
                        block->rows, STN_MAX_ROWS, rows->left);
    }
    if (!(block->stiffness >= STN_ROW_SOFTEST)) { // a damper has damping/(2 dt)
        return stn_fail(err, STN_ERR_PLUGIN, "stiffness = %g must be > 0 and at least %g; infinite: rigid",
                        block->stiffness, STN_ROW_SOFTEST);
    }
    if (!(block->relaxation_time >= 0.0) || isinf(block->relaxation_time)) {
        return stn_fail(err, STN_ERR_PLUGIN, "relaxation_time = %g s must be >= 0 and finite", block->relaxation_time);
    }
    if (block->contact >= rows->a->frame->contacts.count) {
        return stn_fail(err, STN_ERR_PLUGIN, "contact = %d, but the step has %d; take the index of one of the view's",
                        block->contact, rows->a->frame->contacts.count);
    }
    if (block->unit == NULL) {
        return stn_fail(err, STN_ERR_PLUGIN, "unit is missing; \"\" for none");
    }
    if (block->kind != STN_CONSTRAINT_PLUGIN && block->kind != STN_CONSTRAINT_COUPLER &&
        (block->kind < STN_CONSTRAINT_WELD || block->kind > STN_CONSTRAINT_DISTANCE)) {
        return stn_fail(err, STN_ERR_PLUGIN, "kind = %d is none of a constraint between bodies or joints",
                        (int)block->kind);
    }
    for (int32_t r = 0; r < block->rows && !plain; r++) {
        const double lo = block->lo[r], hi = block->hi[r];
        if (!isfinite(block->phi[r])) {
            return stn_fail(err, STN_ERR_NUMERIC, "row %d: phi = %g must be finite", r, block->phi[r]);
        }
        if (!isfinite(block->input[r] + block->input_work)) {
            return stn_fail(err, STN_ERR_NUMERIC, "row %d: input = %g and input_work = %g must be finite", r,
                            block->input[r], block->input_work);
        }
        if (!(lo <= hi) || lo == (double)INFINITY || hi == -(double)INFINITY) {
            return stn_fail(err, STN_ERR_PLUGIN, "row %d: lo = %g and hi = %g must be the bounds of a force, lo <= hi",
                            r, lo, hi);
        }
    }
    return STN_OK;
}

stn_status stn_rows_begin(stn_rows *rows, const stn_row_block *block, stn_error *err) {
    end_block(rows);
    const bool plain = is_plain(block);
    stn_status status = check_block(rows, block, plain, err);
    if (status != STN_OK) {
        rows->status = rows->status == STN_OK ? status : rows->status; // also where the plugin goes on
        return status;
    }
    rows->left -= block->rows;
    if (rows->looked != NULL) {
        rows->looked[rows->looked_count++] = *block;
        return STN_OK;
    }
    step_frame *frame = rows->a->frame;
    stn_problem *p = &frame->problem;
    const stn_model_constraint *described = &rows->a->setup->model->constraints[rows->index];
    stn_constraint *c = append_constraint(frame, block->kind, STN_SET_EQUALITY, block->rows);
    const stn_contact *contact = block->contact >= 0 ? &frame->contacts.contacts[block->contact] : NULL;
    c->id = constraint_id(rows->index, block->part, contact != NULL ? contact->id : 0);
    c->stiffness = block->stiffness;
    c->relaxation_time = block->relaxation_time;
    c->phi0 = block->rows == 1 ? block->phi[0] : (double)NAN;
    c->body[0] = contact != NULL ? contact->a.body : described->ends[0].body;
    c->body[1] = contact != NULL ? contact->b.body : described->ends[described->end_count - 1].body;
    c->point = block->point;
    c->frame = stn_mat3_identity();
    for (int32_t r = 0; r < block->rows && block->rows > 1; r++) {
        p->phi[c->row + r] = block->phi[r];
    }
    rows->c = c;
    rows->room = 0;
    if (!plain) {
        fill_bounds(rows, block);
    }
    return STN_OK;
}

static void refuse(stn_rows *rows, stn_status status, const char *what, int32_t number) {
    if (rows->status == STN_OK) {
        rows->status = stn_fail(rows->err, status, "%s %d", what, number);
    }
}

/// Are there these rows to fill? A mistake is kept for the end of the call.
static bool find_rows(stn_rows *rows, int32_t row, int32_t count) {
    if (rows->status != STN_OK || rows->looked != NULL) {
        return false;
    }
    if (rows->c == NULL || row < 0 || row > rows->c->rows - count) {
        refuse(rows, STN_ERR_PLUGIN, "stn_rows_begin has not begun a block that has row", row);
        return false;
    }
    return true;
}

/// The next block of the constraint at hand; NULL: out of memory.
static stn_jacobian *next_block(stn_rows *rows) {
    stn_constraint *c = rows->c;
    if (c->J[1].tree < 0) {
        return &c->J[c->J[0].tree >= 0];
    }
    stn_jacobian *more = (stn_jacobian *)(uintptr_t)c->more; // made here
    if (c->more_count == rows->room) {
        rows->room = rows->room > 0 ? 2 * rows->room : 4;
        more = STN_ARENA(rows->a->frame->arena, rows->room, stn_jacobian);
        for (int32_t k = 0; more != NULL && k < c->more_count; k++) {
            more[k] = c->more[k];
        }
        c->more = more;
    }
    return more != NULL ? &more[c->more_count++] : NULL;
}

/// Row `row` of the constraint's block for this tree, which is made when it is not there yet. Two rows of room follow
/// the block's own, for functions that add three at a time. NULL: out of memory.
static double *row_of_tree(stn_rows *rows, int32_t row, int32_t tree) {
    stn_constraint *c = rows->c;
    const int32_t n = rows->a->setup->model->trees[tree].nv, count = stn_constraint_block_count(c);
    for (int32_t k = 0; k < count; k++) {
        const stn_jacobian *J = stn_constraint_block(c, k);
        if (J->tree == tree) {
            return (double *)(uintptr_t)J->values + (size_t)row * (size_t)n;
        }
    }
    stn_jacobian *J = next_block(rows);
    double *values = J != NULL ? append_block(rows->a->frame, tree, (c->rows + 2) * n, J) : NULL;
    if (values == NULL) {
        refuse(rows, STN_ERR_MEMORY, "out of memory for tree", tree);
        return NULL;
    }
    return values + (size_t)row * (size_t)n;
}

/// What is added to rows: velocity along axes, of a body's point or of its rotation.
typedef struct added_motion {
    int32_t row, count; // to rows [row, row + count)
    int32_t body;
    bool turns;
    stn_vec3 point;
    const stn_mat3 *axes; // of the columns `count` add something
} added_motion;

/// What a kinematic body adds to the rates of rows: at the step's end to the bias, at its start for the work.
static void drive_rows(const stn_rows *rows, const added_motion *m) {
    const step_setup *setup = rows->a->setup;
    step_frame *frame = rows->a->frame;
    stn_vec3 start = m->turns ? frame->kinematics->body_velocity[m->body].angular
                              : stn_point_velocity(frame->kinematics, m->body, m->point);
    stn_vec3 end = m->turns ? stn_step_kinematic_twist(setup, frame, m->body).angular
                            : stn_step_kinematic_velocity(setup, frame, m->body, m->point);
    for (int32_t k = 0; k < m->count; k++) {
        stn_vec3 axis = stn_mat3_column(m->axes, k);
        int32_t r = rows->c->row + m->row + k;
        frame->problem.bias[r] += stn_vec3_dot(axis, end);
        frame->constraint_drive[r - rows->first_row] += stn_vec3_dot(axis, start);
    }
    frame->constraint_told = true;
}

/// Are the numbers finite, and small enough that what is computed of a Jacobian of them is?
static bool is_finite_motion(const added_motion *m) {
    double sum = stn_vec3_dot(m->point, m->point);
    for (int32_t k = 0; k < 3; k++) {
        stn_vec3 axis = stn_mat3_column(m->axes, k);
        sum += stn_vec3_dot(axis, axis);
    }
    return sum <= STN_ROW_LARGEST * STN_ROW_LARGEST;
}

static void add_motion(stn_rows *rows, const added_motion *m) {
    const stn_model *model = rows->a->setup->model;
    const stn_kinematics *kinematics = rows->a->frame->kinematics;
    if (!find_rows(rows, m->row, m->count)) {
        return;
    }
    if (m->body < 0 || m->body >= model->body_count) {
        refuse(rows, STN_ERR_PLUGIN, "there is no body", m->body);
    } else if (!is_finite_motion(m)) {
        refuse(rows, STN_ERR_NUMERIC, "a point, direction or axis is not finite or beyond 1e50, in row", m->row);
    } else if (stn_setup_is_kinematic(rows->a->setup, m->body)) {
        drive_rows(rows, m);
    } else if (model->bodies[m->body].tree >= 0) {
        double *values = row_of_tree(rows, m->row, model->bodies[m->body].tree);
        if (values != NULL && m->turns) {
            stn_angular_jacobian_add(kinematics, m->body, m->axes, 1.0, values);
        } else if (values != NULL) {
            stn_point_jacobian_add(kinematics, m->body, m->point, m->axes, 1.0, values);
        }
    }
}

/// Axes whose first one is `u` and whose others add nothing.
static stn_mat3 only(stn_vec3 u) {
    return stn_mat3_columns(u, stn_vec3_zero(), stn_vec3_zero());
}

void stn_rows_add_point(stn_rows *rows, int32_t row, int32_t body, stn_vec3 point, stn_vec3 direction) {
    const stn_mat3 axes = only(direction);
    add_motion(rows, &(added_motion){row, 1, body, false, point, &axes});
}

void stn_rows_add_point_axes(stn_rows *rows, int32_t row, int32_t body, stn_vec3 point, const stn_mat3 *axes) {
    add_motion(rows, &(added_motion){row, 3, body, false, point, axes});
}

void stn_rows_add_rotation(stn_rows *rows, int32_t row, int32_t body, stn_vec3 axis) {
    const stn_mat3 axes = only(axis);
    add_motion(rows, &(added_motion){row, 1, body, true, stn_vec3_zero(), &axes});
}

void stn_rows_add_rotation_axes(stn_rows *rows, int32_t row, int32_t body, const stn_mat3 *axes) {
    add_motion(rows, &(added_motion){row, 3, body, true, stn_vec3_zero(), axes});
}

void stn_rows_add_dof(stn_rows *rows, int32_t row, int32_t dof, double factor) {
    const stn_model *model = rows->a->setup->model;
    if (!find_rows(rows, row, 1)) {
        return;
    }
    if (dof < 0 || dof >= model->nv || model->dof_joint[dof] < 0) {
        refuse(rows, STN_ERR_PLUGIN, "no joint has velocity", dof);
    } else if (!(fabs(factor) <= STN_ROW_LARGEST)) {
        refuse(rows, STN_ERR_NUMERIC, "a factor is not finite or beyond 1e50, of velocity", dof);
    } else {
        double *values = row_of_tree(rows, row, model->dof_tree[dof]);
        if (values != NULL) {
            values[dof - model->trees[model->dof_tree[dof]].v_start] += factor;
        }
    }
}

// ------------------------------------------------------------------------------------------------------- in a step

/// Contacts of the step on bodies of a constraint's ends; false: out of memory.
static bool find_contacts(const assembly *a, const stn_model_constraint *c, constraint_contacts *out) {
    const stn_contact_set *set = &a->frame->contacts;
    bool *named = STN_ARENA_ZEROED(a->frame->arena, a->setup->model->body_count, bool);
    out->list = STN_ARENA(a->frame->arena, set->count, stn_constraint_contact);
    if (named == NULL || out->list == NULL) {
        return false;
    }
    for (int32_t k = 0; k < c->end_count; k++) {
        if (c->ends[k].joint < 0) {
            named[c->ends[k].body] = true;
        }
    }
    for (int32_t i = 0; i < set->count; i++) {
        const stn_contact *contact = &set->contacts[i];
        if ((contact->a.body >= 0 && named[contact->a.body]) || (contact->b.body >= 0 && named[contact->b.body])) {
            out->list[out->count++] = (stn_constraint_contact){.contact = contact, .index = i};
        }
    }
    return true;
}

bool count_constraint_rows(const assembly *a, row_count *out) {
    const step_setup *setup = a->setup;
    const int32_t count = setup->model->constraint_count;
    int32_t rows = setup->constraint_rows;
    a->frame->constraint_contacts = NULL;
    if (setup->constraints_read_contacts && a->frame->contacts.count > 0) {
        constraint_contacts *contacts = STN_ARENA_ZEROED(a->frame->arena, count, constraint_contacts);
        for (int32_t i = 0; i < count; i++) {
            int32_t each = setup->constraint_slots[i].contact_rows;
            if (contacts == NULL || (each > 0 && !find_contacts(a, &setup->model->constraints[i], &contacts[i]))) {
                return false;
            }
            rows += each * contacts[i].count;
        }
        a->frame->constraint_contacts = contacts;
    }
    *out = (row_count){rows, rows};
    return true;
}

/// What all constraints see alike.
static stn_constraint_view view_of(const step_setup *setup, const state_view *state, const step_frame *frame) {
    return (stn_constraint_view){.model = setup->model,
                                 .time = state->time,
                                 .dt = frame->dt,
                                 .gravity = state->gravity,
                                 .q = frame->kinematics->q,
                                 .v = frame->kinematics->v,
                                 .kinematics = frame->kinematics};
}

/// Then constraint `i`.
static void look_from(stn_constraint_view *view, const step_setup *setup, const state_view *state, int32_t i) {
    view->described = &setup->model->constraints[i];
    view->reference = state->reference + setup->constraint_slots[i].reference_start;
}

/// Asks the plugin for its blocks; `memory` is its private state.
static stn_status emit(stn_rows *rows, const stn_constraint_view *view, void *memory, stn_error *err) {
    const stn_model_constraint *c = view->described;
    stn_answer_begin(err);
    stn_status status = ops_of(c)->emit(c->instance->self, view, memory, rows, err);
    end_block(rows);
    status = stn_answer_end(status < 0 || rows->status == STN_OK ? status : rows->status, err);
    if (status < 0) {
        stn_describe_constraint_error(view->model, rows->index, err);
    }
    return status;
}

/// What the plugin of constraint i may know of its contacts, and how many rows it may emit.
static void show_contacts(const step_frame *frame, const constraint_slot *slot, int32_t i, stn_constraint_view *view,
                          stn_rows *rows) {
    rows->left = slot->rows;
    if (frame->constraint_contacts == NULL) {
        return;
    }
    const constraint_contacts *contacts = &frame->constraint_contacts[i];
    for (int32_t k = 0; k < contacts->count; k++) {
        double impulse = frame->problem.constraints[contacts->list[k].index].gamma_n0;
        contacts->list[k].normal_force = impulse > 0.0 ? impulse / frame->dt : 0.0;
    }
    view->contact_count = contacts->count;
    view->contacts = contacts->list;
    rows->left += slot->contact_rows * contacts->count;
}

stn_status add_constraint_rows(const assembly *a, int32_t most, stn_error *err) {
    const step_setup *setup = a->setup;
    step_frame *frame = a->frame;
    stn_problem *p = &frame->problem;
    frame->constraint_first = p->constraint_count;
    frame->constraint_work = 0.0;
    frame->constraint_told = false;
    frame->constraint_drive = STN_ARENA_ZEROED(frame->arena, 2 * most, double);
    frame->constraint_block = STN_ARENA(frame->arena, setup->model->constraint_count + 1, int32_t);
    if (frame->constraint_drive == NULL || frame->constraint_block == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "assembly: out of memory");
    }
    frame->constraint_input = frame->constraint_drive + most;
    stn_rows rows = {.a = a, .first_row = p->row_count, .err = err};
    for (int32_t i = 0; i < setup->model->constraint_count; i++) {
        stn_constraint_view view = view_of(setup, a->state, frame);
        view.arena = frame->arena;
        look_from(&view, setup, a->state, i);
        rows.index = i;
        show_contacts(frame, &setup->constraint_slots[i], i, &view, &rows);
        frame->constraint_block[i] = p->constraint_count;
        frame->place.plugin = view.described->instance;
        stn_status status = emit(&rows, &view, frame->controller_next + setup->constraint_slots[i].memory_start, err);
        if (status < 0) {
            return status;
        }
        frame->place.plugin = NULL;
    }
    frame->constraint_block[setup->model->constraint_count] = p->constraint_count;
    return STN_OK;
}

/// What inputs take from phi, so that v_hat = -phi/(dt + tau_d) gives them whole, whatever R is.
static double input_shift(const step_frame *frame, const stn_constraint *c, int32_t r) {
    const stn_problem *p = &frame->problem;
    const double input = frame->constraint_input[c->row + r - p->constraints[frame->constraint_first].row];
    double tau, R = stn_constraint_regularize(c, p->dt, &tau);
    return input == 0.0 || p->lo[c->row + r] == p->hi[c->row + r] ? 0.0 : (p->dt + tau) * R * input;
}

void add_constraint_inputs(step_frame *frame) {
    stn_problem *p = &frame->problem;
    for (int32_t i = frame->constraint_first; frame->constraint_told && i < p->constraint_count; i++) {
        stn_constraint *c = &p->constraints[i];
        for (int32_t r = 0; r < c->rows; r++) {
            *(c->rows == 1 ? &c->phi0 : &p->phi[c->row + r]) -= input_shift(frame, c, r);
        }
    }
}

int32_t look_at_constraint(const assembly *a, int32_t i, const stn_row_block **blocks, stn_error *err) {
    stn_arena *arena = a->services->looks;
    stn_arena_reset(arena);
    const constraint_slot *slot = &a->setup->constraint_slots[i];
    void *memory = stn_arena_allocate(arena, slot->bytes, 1);
    stn_rows rows = {
        .a = a, .index = i, .left = slot->rows, .looked = STN_ARENA(arena, slot->rows, stn_row_block), .err = err};
    if (memory == NULL || rows.looked == NULL) {
        (void)stn_fail(err, STN_ERR_MEMORY, "constraint: out of memory");
        return -1;
    }
    if (slot->bytes > 0) {
        memcpy(memory, a->state->controller_memory + slot->memory_start, slot->bytes);
    }
    stn_constraint_view view = view_of(a->setup, a->state, a->frame);
    look_from(&view, a->setup, a->state, i);
    view.arena = arena;
    *blocks = rows.looked;
    return emit(&rows, &view, memory, err) < 0 ? -1 : rows.looked_count;
}

double stn_step_constraint_energy(const step_setup *setup, const state_view *state, const step_frame *frame,
                                  int32_t *last) {
    double energy = 0.0;
    stn_constraint_view view = view_of(setup, state, frame);
    for (int32_t i = 0; i < setup->model->constraint_count && isfinite(energy); i++) {
        const stn_model_constraint *c = &setup->model->constraints[i];
        const stn_constraint_ops *ops = ops_of(c);
        if (last != NULL) {
            *last = i;
        }
        if (STN_PLUGIN_HAS(ops, energy)) {
            look_from(&view, setup, state, i);
            energy += ops->energy(c->instance->self, &view,
                                  state->controller_memory + setup->constraint_slots[i].memory_start);
        }
    }
    return energy;
}

/// Impulse of row r that its inputs give: what they change in that of the row's law, which the bounds cut.
static double input_impulse(const stn_problem *p, int32_t r, double rate, double input) {
    if (input == 0.0 || p->lo[r] == p->hi[r]) {
        return input == 0.0 ? 0.0 : p->lo[r];
    }
    double impulse = (p->v_hat[r] - rate) / p->R[r];
    return fmax(p->lo[r], fmin(p->hi[r], impulse)) - fmax(p->lo[r], fmin(p->hi[r], impulse - input));
}

double stn_step_constraint_work(const step_frame *frame, const double *v0) {
    const stn_problem *p = &frame->problem;
    double work = frame->constraint_work;
    for (int32_t i = frame->constraint_first; frame->constraint_told && i < p->constraint_count; i++) {
        const stn_constraint *c = &p->constraints[i];
        const int32_t first = c->row - p->constraints[frame->constraint_first].row;
        const double *drive = frame->constraint_drive + first, *input = frame->constraint_input + first;
        double before[STN_MAX_ROWS], after[STN_MAX_ROWS];
        stn_constraint_velocity(p, c, v0, before);
        stn_constraint_velocity(p, c, frame->v_next, after);
        for (int32_t k = 0; k < c->rows; k++) {
            double told = 0.5 * (drive[k] + p->bias[c->row + k]), rate = after[k] + p->bias[c->row + k];
            work += input_impulse(p, c->row + k, rate, input[k]) * (0.5 * (before[k] + after[k]) + told);
            work -= frame->solution.gamma[c->row + k] * told;
        }
    }
    return work;
}

// ------------------------------------------------------------------------------------------------------------ forces

struct stn_row_forces {
    const stn_problem *problem;
    const double *gamma;
    const int32_t *block; // as in stn_observation
    int32_t constraint;   // of the model
};

int32_t stn_row_forces_get(const stn_row_forces *forces, int32_t part, double force[STN_MAX_ROWS]) {
    const stn_problem *p = forces->problem;
    const uint64_t id = constraint_id(forces->constraint, part, 0);
    for (int32_t i = forces->block[forces->constraint]; i < forces->block[forces->constraint + 1]; i++) {
        const stn_constraint *c = &p->constraints[i];
        if (c->id == id) {
            for (int32_t r = 0; r < c->rows; r++) {
                force[r] = forces->gamma[c->row + r] / p->dt;
            }
            return c->rows;
        }
    }
    return 0;
}

int32_t stn_world_constraint_force(const stn_world *world, int32_t constraint, int32_t part,
                                   double force[STN_MAX_ROWS]) {
    const stn_observation *o = &world->observation;
    const stn_row_forces forces = {o->problem, o->gamma, o->constraint_block, constraint};
    const bool known = o->problem != NULL && constraint >= 0 && constraint < o->model->constraint_count;
    return known ? stn_row_forces_get(&forces, part, force) : 0;
}

stn_status stn_step_finish_constraints(const step_setup *setup, const state_view *state, step_frame *frame,
                                       stn_error *err) {
    stn_constraint_view view = view_of(setup, state, frame);
    view.arena = frame->arena;
    for (int32_t i = 0; i < setup->model->constraint_count; i++) {
        const stn_model_constraint *c = &setup->model->constraints[i];
        const stn_constraint_ops *ops = ops_of(c);
        if (!STN_PLUGIN_HAS(ops, finish)) {
            continue;
        }
        const stn_row_forces forces = {&frame->problem, frame->solution.gamma, frame->constraint_block, i};
        look_from(&view, setup, state, i);
        stn_answer_begin(err);
        frame->place.plugin = c->instance;
        stn_status status = ops->finish(c->instance->self, &view, &forces,
                                        frame->controller_next + setup->constraint_slots[i].memory_start, err);
        status = stn_answer_end(status, err);
        if (status < 0) {
            stn_describe_constraint_error(setup->model, i, err);
            return status;
        }
        frame->place.plugin = NULL;
    }
    return STN_OK;
}

// ------------------------------------------------------------------------------------------------------- questions

bool stn_observation_constraint(const stn_observation *o, int32_t constraint, int32_t block,
                                stn_constraint_report *out) {
    *out = (stn_constraint_report){0};
    if (o->problem == NULL || constraint < 0 || constraint >= o->model->constraint_count || block < 0 ||
        block >= o->constraint_block[constraint + 1] - o->constraint_block[constraint]) {
        return false;
    }
    const stn_problem *p = o->problem;
    const stn_constraint *c = &p->constraints[o->constraint_block[constraint] + block];
    out->rows = c->rows;
    out->slack = true;
    double rate[STN_MAX_ROWS]; // solvers of barriers leave slack rows some force: v_hat tells on which side they are
    stn_constraint_velocity(p, c, o->solution_v, rate);
    for (int32_t r = 0; r < c->rows; r++) {
        double gamma = o->gamma[c->row + r], beyond = p->v_hat[c->row + r] - rate[r] - p->bias[c->row + r];
        out->force[r] = gamma / p->dt;
        out->phi[r] = c->rows == 1 ? c->phi0 : p->phi[c->row + r];
        out->phi[r] += o->world != NULL ? input_shift(&o->world->frame, c, r) : 0.0;
        out->slack = out->slack && ((p->hi[c->row + r] == 0.0 && (gamma >= 0.0 || beyond >= 0.0)) || // what only pulls
                                    (p->lo[c->row + r] == 0.0 && (gamma <= 0.0 || beyond <= 0.0)));  // or only pushes
    }
    return true;
}

bool stn_observation_constraint_slack(const stn_observation *o, int32_t constraint) {
    stn_constraint_report block;
    bool slack = o->problem != NULL;
    for (int32_t b = 0; slack && stn_observation_constraint(o, constraint, b, &block); b++) {
        slack = block.slack;
    }
    return slack;
}

void stn_observation_constraint_path(const stn_observation *o, int32_t constraint, stn_constraint_path *path) {
    path->count = 0;
    path->length = (double)NAN;
    if (o->world == NULL || constraint < 0 || constraint >= o->model->constraint_count) {
        return;
    }
    const stn_model_constraint *c = &o->model->constraints[constraint];
    const stn_constraint_ops *ops = ops_of(c);
    if (STN_PLUGIN_HAS(ops, path)) {
        const stn_world *world = o->world;
        const state_view state = state_view_of(&world->state);
        stn_constraint_view view = view_of(world->setup, &state, &world->frame);
        look_from(&view, world->setup, &state, constraint);
        ops->path(c->instance->self, &view,
                  state.controller_memory + world->setup->constraint_slots[constraint].memory_start, path);
    } else {
        for (int32_t i = 0; i < c->end_count; i++) {
            const stn_constraint_end *end = &c->ends[i];
            if (end->joint < 0) {
                const stn_pose *body = &o->kinematics->body_pose[end->body];
                stn_constraint_path_add(path, stn_pose_apply(body, end->frame.position));
            }
        }
    }
}

bool stn_world_constraint_impulse(const stn_world *world, int32_t constraint, int32_t part,
                                  double impulse[STN_MAX_ROWS]) {
    const state_view state = state_view_of(&world->state);
    const stn_cache_entry *entry = stn_cache_find(&state, &world->services, constraint_id(constraint, part, 0));
    for (int32_t r = 0; r < STN_MAX_ROWS; r++) {
        impulse[r] = entry != NULL ? entry->gamma[r] : 0.0;
    }
    return entry != NULL;
}
