// SPDX-License-Identifier: Apache-2.0
// Derivatives of a predicted step by implicit differentiation. A step solves
//
//     F = A (v - v_star) - J^T gamma - free_impulse = 0,    y = J v + bias - v_hat + R gamma
//
// with gamma what the rows' sets and y make of each other. Where the problem moves with a parameter p, at fixed v and
// gamma F moves by F_p and y by y_p, and stn_solver_ops.differentiate gives dv from the columns impulse = -F_p,
// velocity = y_p. Contact models, controllers and integrators tell no derivatives: F_p and y_p are central differences
// of the problem, not of its solution, made by steps of a clone at p + delta and p - delta. Constraints are found again
// by id. Then q_next = q moved by dt v, in velocity coordinates on both sides.
#include <math.h>
#include <string.h>

#include "predict.h"

/// [m, rad]: rounding of coordinates of 1 m and the third derivatives of surfaces of a few cm radius weigh alike.
static const double delta = 0x1p-17;
/// [rad] A frame that turned further about its normal than the places moved by was chosen anew.
static const double frame_jump = 0.1;

/// The step that is differentiated, its numbers borrowed from predictor->world.
typedef struct base_step {
    stn_predictor *predictor;
    const stn_predict_input *input;
    const double *start;   // (nq)
    const double *command; // (command_count) references in force
    const stn_problem *problem;
    const double *v, *gamma;
    int32_t nv, rows;
} base_step;

/// F and y at one place nearby, for v and gamma of the base.
typedef struct place {
    double *F;              // (nv) [N s]
    double *y;              // (rows of the base) [m/s]
    bool *found;            // (constraints of the base) is it there?
    int32_t lost;           // the first constraint with an impulse that is not there, -1: none
    int32_t other_friction; // the first with an impulse whose coefficients are others there, -1: none
} place;

// ------------------------------------------------------------------------------------------------ what can be done

stn_status stn_predict_can_differentiate(const stn_world *world, stn_error *err) {
    const stn_plugin_desc *solver = stn_world_plugin(world, STN_KIND_SOLVER)->desc;
    const stn_instance *law = stn_world_plugin(world, STN_KIND_LAW);
    if (!STN_PLUGIN_HAS(solver->ops.solver, differentiate)) {
        return stn_fail(err, STN_ERR_UNSUPPORTED, "solver %s does not differentiate its solutions; sap and qp do",
                        solver->id);
    }
    const bool read = law != NULL && stn_solver_takes_law(solver->ops.solver);
    if (read && (law->desc->ops.law->regularize == NULL || law->desc->memory_per_constraint > 0)) {
        return stn_fail(err, STN_ERR_UNSUPPORTED,
                        "law %s has no derivatives with respect to gaps: take one that is quadratic, such as sap",
                        law->desc->id);
    }
    return STN_OK;
}

// ------------------------------------------------------------------------------------------------- a problem nearby

/// The constraint of that id; it mostly stands where it stood.
static const stn_constraint *find_again(const stn_problem *problem, const stn_constraint *c, int32_t at) {
    for (int32_t k = 0; k < problem->constraint_count; k++) {
        const stn_constraint *other = &problem->constraints[(at + k) % problem->constraint_count];
        if (other->id == c->id && other->rows == c->rows && other->set == c->set) {
            return other;
        }
    }
    return NULL;
}

/// Tangents of a frame are chosen anew where another axis is nearest to them, by quarter turns about the normal. (cos,
/// sin) of what turns components along the tangents of `there` into those of a frame that moved on from `here`.
static void follow_frame(const stn_constraint *here, const stn_constraint *there, double turn[2]) {
    turn[0] = 1.0;
    turn[1] = 0.0;
    if (here->kind != STN_CONSTRAINT_CONTACT || here->set != STN_SET_CONE) {
        return;
    }
    const stn_vec3 t1 = stn_mat3_column(&here->frame, 0);
    const double angle =
        atan2(stn_vec3_dot(t1, stn_mat3_column(&there->frame, 1)), stn_vec3_dot(t1, stn_mat3_column(&there->frame, 0)));
    const double quarters = round(angle / (0.5 * STN_PI)), rest = angle - 0.5 * STN_PI * quarters;
    const double jump = fabs(rest) > frame_jump ? angle : 0.5 * STN_PI * quarters;
    if (jump != 0.0) {
        turn[0] = cos(jump);
        turn[1] = sin(jump);
    }
}

/// The impulse of row `r` of a constraint at the place nearby: at a bound that moves it moves along.
static double impulse_there(const base_step *base, const stn_problem *there, const stn_constraint *here, int32_t r,
                            const stn_constraint *c) {
    const double gamma = base->gamma[here->row + r];
    if (here->set != STN_SET_BOX) {
        return gamma;
    }
    return gamma <= base->problem->lo[here->row + r]   ? there->lo[c->row + r]
           : gamma >= base->problem->hi[here->row + r] ? there->hi[c->row + r]
                                                       : gamma;
}

/// F and y of `problem` for v and gamma of the base.
static stn_status look(const base_step *base, const stn_problem *problem, place *out, stn_error *err) {
    stn_arena *arena = base->predictor->arena;
    const stn_problem *from = base->problem;
    double *gamma = STN_ARENA_ZEROED(arena, problem->row_count, double);
    double *v_c = STN_ARENA(arena, problem->row_count, double);
    if (gamma == NULL || v_c == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    stn_problem_contact_velocity(problem, base->v, true, v_c);
    out->lost = out->other_friction = -1;
    for (int32_t i = 0; i < from->constraint_count; i++) {
        const stn_constraint *here = &from->constraints[i];
        const stn_constraint *there = find_again(problem, here, i);
        bool pushes = false;
        for (int32_t r = 0; r < here->rows; r++) {
            pushes = pushes || base->gamma[here->row + r] != 0.0;
            out->y[here->row + r] = 0.0;
        }
        out->found[i] = there != NULL;
        if (there == NULL) {
            out->lost = pushes && out->lost < 0 ? i : out->lost;
            continue;
        }
        const bool rubs = pushes && stn_constraint_has_cone(here);
        if (rubs && out->other_friction < 0 && (there->mu1 != here->mu1 || there->mu2 != here->mu2)) {
            out->other_friction = i;
        }
        double turn[2], y[STN_MAX_ROWS], *own = &gamma[there->row];
        follow_frame(here, there, turn);
        for (int32_t r = 0; r < here->rows; r++) {
            own[r] = impulse_there(base, problem, here, r, there);
        }
        if (turn[0] != 1.0) {
            const double g0 = own[0], g1 = own[1];
            own[0] = turn[0] * g0 - turn[1] * g1;
            own[1] = turn[1] * g0 + turn[0] * g1;
        }
        for (int32_t r = 0; r < here->rows; r++) {
            const int32_t row = there->row + r;
            y[r] = v_c[row] - problem->v_hat[row] + (own[r] != 0.0 ? problem->R[row] * own[r] : 0.0);
        }
        if (turn[0] != 1.0) {
            const double y0 = y[0], y1 = y[1];
            y[0] = turn[0] * y0 + turn[1] * y1;
            y[1] = turn[0] * y1 - turn[1] * y0;
        }
        memcpy(&out->y[here->row], y, (size_t)here->rows * sizeof *y);
    }
    stn_problem_mass_times(problem, base->v, problem->v_star, out->F);
    stn_problem_jacobian_transposed_add(problem, -1.0, gamma, out->F);
    for (int32_t d = 0; d < base->nv && problem->free_impulse != NULL; d++) {
        out->F[d] -= problem->free_impulse[d];
    }
    return STN_OK;
}

static stn_status make_place(const base_step *base, place *out, stn_error *err) {
    stn_arena *arena = base->predictor->arena;
    out->F = STN_ARENA(arena, base->nv, double);
    out->y = STN_ARENA(arena, base->rows, double);
    out->found = STN_ARENA(arena, base->problem->constraint_count, bool);
    const bool made = out->F != NULL && out->y != NULL && out->found != NULL;
    return made ? STN_OK : stn_fail(err, STN_ERR_MEMORY, "out of memory");
}

/// What a parameter does to the problem, by places on both sides of it.
typedef struct sides {
    place here, less, more;
    double *dF, *dy; // (nv), (rows)
} sides;

static stn_status make_sides(const base_step *base, sides *s, stn_error *err) {
    stn_status status = make_place(base, &s->here, err);
    status = status == STN_OK ? make_place(base, &s->less, err) : status;
    status = status == STN_OK ? make_place(base, &s->more, err) : status;
    s->dF = STN_ARENA(base->predictor->arena, base->nv, double);
    s->dy = STN_ARENA(base->predictor->arena, base->rows, double);
    if (status == STN_OK && (s->dF == NULL || s->dy == NULL)) {
        status = stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    return status == STN_OK ? look(base, base->problem, &s->here, err) : status;
}

/// A step at a place nearby; false: it fails there, or a constraint that pushes is not there or has other friction.
static bool visit(const base_step *base, const stn_predict_input *input, double *scratch_q, place *out,
                  stn_error *err) {
    stn_world *world = base->predictor->nearby;
    if (stn_predict_step(base->predictor, world, input, scratch_q, err) < 0 ||
        look(base, stn_world_observation(world)->problem, out, err) != STN_OK) {
        return false;
    }
    const int32_t wrong = out->lost >= 0 ? out->lost : out->other_friction;
    if (wrong >= 0) {
        const stn_model *model = stn_world_model(world);
        const stn_constraint *c = &base->problem->constraints[wrong];
        const char *names[2];
        for (int32_t k = 0; k < 2; k++) {
            const int32_t group = c->body[k] > STN_WORLD ? model->bodies[c->body[k]].group : -1;
            names[k] = group >= 0 && model->groups[group].name[0] != '\0' ? model->groups[group].name : "the world";
        }
        (void)stn_fail(err, STN_ERR_NUMERIC, "a %s between %s and %s presses here, and %s %g m or rad beside",
                       stn_constraint_kind_name(c->kind), names[0], names[1],
                       out->lost >= 0 ? "is gone" : "has another coefficient of friction (mu_static)", delta);
    }
    return wrong < 0;
}

/// dF and dy from the two places nearby, or from one of them and the base.
static stn_status difference(const base_step *base, sides *s, bool less, bool more, const stn_error *why,
                             stn_error *err) {
    if (!less && !more) {
        return stn_fail(err, STN_ERR_NUMERIC, "%s", why->text);
    }
    const place *low = less ? &s->less : &s->here, *high = more ? &s->more : &s->here;
    const double width = less && more ? 2.0 * delta : delta;
    for (int32_t d = 0; d < base->nv; d++) {
        s->dF[d] = (high->F[d] - low->F[d]) / width;
    }
    for (int32_t i = 0; i < base->problem->constraint_count; i++) {
        const stn_constraint *c = &base->problem->constraints[i];
        const bool below = less && s->less.found[i], above = more && s->more.found[i];
        const double *from = below ? s->less.y : s->here.y, *to = above ? s->more.y : s->here.y;
        for (int32_t r = c->row; r < c->row + c->rows; r++) { // without force, and out of reach on both sides: none
            s->dy[r] = below || above ? (to[r] - from[r]) / (below && above ? 2.0 * delta : delta) : 0.0;
        }
    }
    return STN_OK;
}

// ------------------------------------------------------------------------------------------------------- commands

/// Of the command at `at`: the velocity that its reference is of, and whether it acts on that one alone.
static int32_t command_dof(const base_step *base, int32_t at, bool *alone) {
    const stn_predictor *p = base->predictor;
    const stn_command_part *part = p->parts;
    while (at >= part->start + part->count) {
        part++;
    }
    *alone = stn_plugin_says(stn_world_controller(p->world, part->controller), "joint_by_joint");
    return stn_world_controller_target(p->world, part->controller)->dof[at - part->start];
}

/// Is this row the motor of that velocity?
static bool drives(const base_step *base, const stn_constraint *c, int32_t dof) {
    if (c->kind != STN_CONSTRAINT_SERVO || c->J[0].tree < 0) {
        return false;
    }
    const stn_problem_tree *tree = &base->problem->trees[c->J[0].tree];
    const int32_t own = dof - tree->dof_start;
    if (c->J[0].node_count > 0) { // of a large tree
        return c->J[0].node[0] == own;
    }
    return own >= 0 && own < tree->A.n && c->J[0].values[own] != 0.0;
}

/// The columns of the commands whose `turn` it is: all of them are moved together, each acts on its own velocity.
static stn_status turn_of_commands(const base_step *base, const int32_t *turns, int32_t turn, sides *s,
                                   const stn_sensitivity *columns, stn_error *err) {
    const int32_t count = base->predictor->command_count;
    double *moved = STN_ARENA(base->predictor->arena, count, double);
    double *q = STN_ARENA(base->predictor->arena, stn_world_model(base->predictor->world)->nq, double);
    stn_predict_input input = *base->input;
    stn_error why = {0};
    bool there[2];
    if (moved == NULL || q == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    input.command = moved;
    for (int32_t side = 0; side < 2; side++) {
        for (int32_t k = 0; k < count; k++) {
            moved[k] = base->command[k] + (turns[k] != turn ? 0.0 : side == 0 ? -delta : delta);
        }
        there[side] = visit(base, &input, q, side == 0 ? &s->less : &s->more, &why);
    }
    stn_status status = difference(base, s, there[0], there[1], &why, err);
    for (int32_t k = 0; k < count && status == STN_OK; k++) {
        if (turns[k] != turn) {
            continue;
        }
        bool alone;
        const int32_t dof = command_dof(base, k, &alone);
        double *impulse = (double *)(uintptr_t)columns->impulse + (size_t)k * (size_t)base->nv;
        double *velocity = (double *)(uintptr_t)columns->velocity + (size_t)k * (size_t)base->rows;
        for (int32_t d = 0; d < base->nv; d++) {
            impulse[d] = !alone || d == dof ? -s->dF[d] : 0.0;
        }
        for (int32_t i = 0; i < base->problem->constraint_count; i++) {
            const stn_constraint *c = &base->problem->constraints[i];
            const bool own = !alone || drives(base, c, dof);
            for (int32_t r = c->row; r < c->row + c->rows; r++) {
                velocity[r] = own ? s->dy[r] : 0.0;
            }
        }
    }
    return status;
}

/// References that act on their own velocity alone are moved together, as long as no two are of the same one.
static stn_status command_columns(const base_step *base, sides *s, const stn_sensitivity *columns, stn_error *err) {
    const int32_t count = base->predictor->command_count;
    int32_t *turns = STN_ARENA(base->predictor->arena, count, int32_t);
    int32_t *taken = STN_ARENA_ZEROED(base->predictor->arena, base->nv, int32_t); // turns of a velocity so far
    int32_t turn_count = 0;
    if (turns == NULL || taken == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    for (int32_t k = 0; k < count; k++) {
        bool alone;
        const int32_t dof = command_dof(base, k, &alone);
        turns[k] = alone ? taken[dof]++ : -1;
        turn_count = turns[k] >= turn_count ? turns[k] + 1 : turn_count;
    }
    for (int32_t k = 0; k < count; k++) {
        turns[k] = turns[k] < 0 ? turn_count++ : turns[k];
    }
    stn_status status = STN_OK;
    for (int32_t turn = 0; turn < turn_count && status == STN_OK; turn++) {
        status = turn_of_commands(base, turns, turn, s, columns, err);
    }
    return status;
}

// ---------------------------------------------------------------------------------------------------- coordinates

static stn_status coordinate_columns(const base_step *base, sides *s, const stn_sensitivity *columns, stn_error *err) {
    const stn_predictor *p = base->predictor;
    const stn_model *model = stn_world_model(p->world);
    double *along = STN_ARENA_ZEROED(p->arena, base->nv, double);
    double *moved = STN_ARENA(p->arena, model->nq, double), *q = STN_ARENA(p->arena, model->nq, double);
    stn_predict_input input = *base->input;
    stn_status status =
        along != NULL && moved != NULL && q != NULL ? STN_OK : stn_fail(err, STN_ERR_MEMORY, "out of memory");
    input.q = moved;
    for (int32_t i = 0; i < base->nv && status == STN_OK; i++) {
        stn_error why = {0};
        bool there[2];
        along[i] = 1.0;
        for (int32_t side = 0; side < 2; side++) {
            stn_integrate_q(model, base->start, along, side == 0 ? -delta : delta, moved);
            there[side] = visit(base, &input, q, side == 0 ? &s->less : &s->more, &why);
        }
        along[i] = 0.0;
        status = difference(base, s, there[0], there[1], &why, err);
        const size_t column = (size_t)(p->command_count + i);
        double *impulse = (double *)(uintptr_t)columns->impulse + column * (size_t)base->nv;
        double *velocity = (double *)(uintptr_t)columns->velocity + column * (size_t)base->rows;
        for (int32_t d = 0; d < base->nv && status == STN_OK; d++) {
            impulse[d] = -s->dF[d];
        }
        for (int32_t r = 0; r < base->rows && status == STN_OK; r++) {
            velocity[r] = s->dy[r];
        }
    }
    return status;
}

// ----------------------------------------------------------------------------------------- the next coordinates

/// Column `column` of how the next coordinates move: those of the start by `along` (NULL: not), v by dv.
static void move_on(const base_step *base, const double *along, const double *dv, double *room, double *dq) {
    const stn_model *model = stn_world_model(base->predictor->world);
    const double dt = base->problem->dt;
    double *q[2] = {room, room + model->nq}, *v = room + 2 * model->nq, largest = 1.0;
    for (int32_t d = 0; d < base->nv; d++) {
        largest = fmax(largest, dt * fabs(dv[d]));
    }
    const double step = delta / largest;
    for (int32_t side = 0; side < 2; side++) {
        const double s = side == 0 ? -step : step;
        for (int32_t d = 0; d < base->nv; d++) {
            v[d] = base->v[d] + s * dv[d];
        }
        memcpy(q[side], base->start, (size_t)model->nq * sizeof(double));
        if (along != NULL) {
            stn_integrate_q(model, q[side], along, s, q[side]);
        }
        stn_integrate_q(model, q[side], v, dt, q[side]);
    }
    stn_difference_q(model, q[0], q[1], dq);
    for (int32_t d = 0; d < base->nv; d++) {
        dq[d] /= 2.0 * step;
    }
}

/// Contacts that hold their place: what they hold follows from where they were, by rules that have no derivatives.
static stn_status check_anchors(const base_step *base, stn_error *err) {
    for (int32_t i = 0; i < base->problem->constraint_count; i++) {
        const stn_constraint *c = &base->problem->constraints[i];
        if (c->anchor[0] != 0.0 || c->anchor[1] != 0.0) {
            return stn_fail(err, STN_ERR_UNSUPPORTED,
                            "a %s holds its place by stiction, which has no derivatives: predict in a world without it",
                            stn_constraint_kind_name(c->kind));
        }
    }
    return STN_OK;
}

/// Does the integrator move q by dt N v?
static stn_status check_motion(const base_step *base, stn_error *err) {
    const stn_world *world = base->predictor->world;
    const stn_model *model = stn_world_model(world);
    double *q = STN_ARENA(base->predictor->arena, model->nq, double);
    double *off = STN_ARENA(base->predictor->arena, base->nv, double);
    if (q == NULL || off == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    stn_integrate_q(model, base->start, base->v, base->problem->dt, q);
    stn_difference_q(model, q, stn_world_state(world)->q, off);
    for (int32_t d = 0; d < base->nv; d++) {
        if (!(fabs(off[d]) <= 1e-12 * (1.0 + base->problem->dt * fabs(base->v[d])))) {
            return stn_fail(err, STN_ERR_UNSUPPORTED,
                            "integrator %s does not move coordinates by dt times the velocity that is solved for",
                            stn_world_plugin(world, STN_KIND_INTEGRATOR)->desc->id);
        }
    }
    return STN_OK;
}

stn_status stn_predict_differentiate(stn_predictor *p, const stn_predict_input *input, const double *start, bool by_q,
                                     stn_predict_derivative *out, stn_error *err) {
    const stn_observation *o = stn_world_observation(p->world);
    const stn_model *model = stn_world_model(p->world);
    const base_step base = {.predictor = p,
                            .input = input,
                            .start = start,
                            .command = input->command,
                            .problem = o->problem,
                            .v = o->solution_v,
                            .gamma = o->gamma,
                            .nv = model->nv,
                            .rows = o->problem->row_count};
    stn_status status = check_motion(&base, err);
    status = status == STN_OK ? check_anchors(&base, err) : status;
    if (status == STN_OK && p->nearby == NULL) {
        status = stn_world_clone(p->world, &p->nearby, err);
    }
    if (status == STN_OK) {
        status = stn_world_set_dt(p->nearby, stn_world_dt(p->world), err);
    }
    if (status != STN_OK) {
        return status;
    }
    const size_t columns = (size_t)(p->command_count + (by_q ? model->nv : 0)), nv = (size_t)model->nv;
    double *impulse = STN_ARENA_ZEROED(p->arena, columns * nv, double);
    double *velocity = STN_ARENA_ZEROED(p->arena, columns * (size_t)base.rows, double);
    bool unique = true;
    const stn_sensitivity sensitivity = {.columns = (int32_t)columns,
                                         .unique = &unique,
                                         .impulse = impulse,
                                         .velocity = velocity,
                                         .dv = STN_ARENA_ZEROED(p->arena, columns * nv, double)};
    double *room = STN_ARENA(p->arena, 2 * model->nq + model->nv, double);
    double *along = STN_ARENA_ZEROED(p->arena, model->nv, double);
    *out = (stn_predict_derivative){.columns = (int32_t)columns, .dq = STN_ARENA(p->arena, columns * nv, double)};
    if (impulse == NULL || velocity == NULL || sensitivity.dv == NULL || room == NULL || along == NULL ||
        out->dq == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    sides s;
    status = make_sides(&base, &s, err);
    status = status == STN_OK ? command_columns(&base, &s, &sensitivity, err) : status;
    status = status == STN_OK && by_q ? coordinate_columns(&base, &s, &sensitivity, err) : status;
    if (status != STN_OK || columns == 0) {
        return status;
    }
    status = stn_predict_sensitivity(p, &sensitivity, err);
    if (status == STN_OK && by_q && !unique) { // which one it is changes with the Jacobians
        status =
            stn_fail(err, STN_ERR_NUMERIC,
                     "motions that cost nothing leave the next coordinates open, and how the one found changes with "
                     "those of the start is not determined: ask for derivatives = \"command\", or take solver sap");
    }
    for (size_t k = 0; k < columns && status == STN_OK; k++) {
        const int32_t i = (int32_t)k - p->command_count;
        if (i >= 0) {
            along[i] = 1.0;
        }
        move_on(&base, i >= 0 ? along : NULL, sensitivity.dv + k * nv, room, out->dq + k * nv);
        if (i >= 0) {
            along[i] = 0.0;
        }
    }
    return status;
}
