// SPDX-License-Identifier: Apache-2.0
// Rows of equality constraints between a frame P of body A and a frame Q of body B, world axes; gears between joints.
// What R and v_hat follow from them says docs/contact-problem.md, "What the rows are".
//
//     weld, ball   translation  p_Q - p_P,  J = J_B(m) - J_A(m) at the point m halfway, so that both bodies feel the
//                  impulse at one point and angular momentum is kept also while P and Q are apart
//     weld         rotation     the vector that turns P into Q,  J = omega_B - omega_A; a constraint of its own,
//                  because its inverse mass has another unit
//     distance     |p_Q - p_P| - length,  J = u^T (J_B(p_Q) - J_A(p_P)),  u from P to Q
//     gear         q_a - ratio q_b - offset,  J = e_a - ratio e_b
#include <math.h>
#include <string.h>

#include "world/assemble.h"

enum { LINEAR_PART, ANGULAR_PART };

uint64_t stn_equality_id(int32_t equality, int32_t part) {
    const int32_t key[2] = {equality, part};
    return stn_hash(0x657175616c697479u, key, sizeof key);
}

// --------------------------------------------------------------------------------------------------------- geometry

typedef struct frame_pair {
    stn_pose P, Q; // in the world
} frame_pair;

static frame_pair place_frames(const stn_kinematics *kinematics, const stn_equality *e) {
    return (frame_pair){stn_pose_mul(&kinematics->body_pose[e->body_a], &e->frame_a),
                        stn_pose_mul(&kinematics->body_pose[e->body_b], &e->frame_b)};
}

static double gear_error(const stn_kinematics *kinematics, const stn_equality *e) {
    const stn_joint *joints = kinematics->model->joints;
    double q_a = kinematics->q[joints[e->joint_a].q_start], q_b = kinematics->q[joints[e->joint_b].q_start];
    return q_a - e->ratio * q_b - e->offset;
}

static void put(double *to, stn_vec3 v) {
    to[0] = v.x;
    to[1] = v.y;
    to[2] = v.z;
}

/// Errors as stn_world_equality_error orders them.
int32_t stn_equality_error(const stn_kinematics *kinematics, const stn_equality *e, double *error) {
    if (e->type == STN_EQUALITY_GEAR) {
        error[0] = gear_error(kinematics, e);
        return 1;
    }
    frame_pair at = place_frames(kinematics, e);
    stn_vec3 apart = stn_vec3_sub(at.Q.position, at.P.position);
    if (e->type == STN_EQUALITY_DISTANCE) {
        error[0] = stn_vec3_norm(apart) - e->length;
        return 1;
    }
    put(error, apart);
    if (e->type == STN_EQUALITY_BALL) {
        return 3;
    }
    stn_mat3 back = stn_mat3_transpose(&at.P.rotation), turn = stn_mat3_mul(&at.Q.rotation, &back);
    put(error + 3, stn_quat_log(stn_quat_from_matrix(&turn))); // the rotation vector that turns P into Q
    return 6;
}

// ------------------------------------------------------------------------------------------------------------- rows

/// One constraint of an equality, and where its impulse acts on A and on B.
typedef struct equality_part {
    const stn_equality *e;
    int32_t part;
    stn_vec3 at[2];
} equality_part;

/// What kinematic bodies add to the rate of a part's error, u_B - u_A: as they move at the start of the step, or at its
/// end as they are told.
static stn_vec3 driven_rate(const step_setup *setup, const step_frame *frame, const equality_part *p, bool start) {
    const int32_t bodies[2] = {p->e->body_a, p->e->body_b};
    stn_vec3 u[2] = {stn_vec3_zero(), stn_vec3_zero()};
    for (int32_t k = 0; k < 2; k++) {
        if (!stn_setup_is_kinematic(setup, bodies[k])) {
            continue;
        }
        if (p->part == ANGULAR_PART) {
            u[k] = start ? frame->kinematics->body_velocity[bodies[k]].angular
                         : stn_step_kinematic_twist(setup, frame, bodies[k]).angular;
        } else {
            u[k] = start ? stn_point_velocity(frame->kinematics, bodies[k], p->at[k])
                         : stn_step_kinematic_velocity(setup, frame, bodies[k], p->at[k]);
        }
    }
    return stn_vec3_sub(u[1], u[0]);
}

static stn_constraint *append_equality(const assembly *a, int32_t index, int32_t part) {
    static const stn_constraint_kind kinds[STN_EQUALITY_COUNT] = {
        [STN_EQUALITY_WELD] = STN_CONSTRAINT_WELD,
        [STN_EQUALITY_BALL] = STN_CONSTRAINT_BALL,
        [STN_EQUALITY_DISTANCE] = STN_CONSTRAINT_DISTANCE,
        [STN_EQUALITY_GEAR] = STN_CONSTRAINT_COUPLER,
    };
    const stn_equality *e = &a->setup->model->equalities[index];
    int32_t rows = e->type == STN_EQUALITY_WELD || e->type == STN_EQUALITY_BALL ? 3 : 1;
    stn_constraint *c = append_constraint(a->frame, kinds[e->type], STN_SET_EQUALITY, rows);
    c->id = stn_equality_id(index, part);
    c->stiffness = part == ANGULAR_PART ? e->angular_stiffness : e->stiffness;
    c->relaxation_time = e->relaxation_time;
    c->body[0] = e->body_a;
    c->body[1] = e->body_b;
    c->frame = stn_mat3_identity();
    return c;
}

/// Three rows for the trees of A and B, one block when it is the same; a side that does not move freely gets none.
/// `side[k]` is where body k adds its columns. False: out of memory.
static bool append_sides(const assembly *a, stn_constraint *c, double *side[2]) {
    int32_t trees[2], used = 0;
    for (int32_t k = 0; k < 2; k++) {
        const stn_body *body = &a->setup->model->bodies[c->body[k]];
        trees[k] = stn_setup_is_kinematic(a->setup, c->body[k]) ? -1 : body->tree;
        side[k] = NULL;
        if (k == 1 && trees[1] == trees[0]) {
            side[1] = side[0];
        } else if (trees[k] >= 0) {
            int32_t count = 3 * a->setup->model->trees[trees[k]].nv;
            side[k] = append_block(a->frame, trees[k], count, &c->J[used++]);
            if (side[k] == NULL) {
                return false;
            }
        }
    }
    return true;
}

/// Translation and, of a weld, rotation: three rows each, in world axes.
static bool add_weld_or_ball(const assembly *a, int32_t index) {
    const stn_equality *e = &a->setup->model->equalities[index];
    const stn_kinematics *kinematics = a->frame->kinematics;
    stn_problem *p = &a->frame->problem;
    frame_pair at = place_frames(kinematics, e);
    stn_vec3 middle = stn_vec3_scale(0.5, stn_vec3_add(at.P.position, at.Q.position));
    double error[STN_EQUALITY_MAX_ROWS], *side[2];
    stn_equality_error(kinematics, e, error);
    for (int32_t part = LINEAR_PART; part <= (e->type == STN_EQUALITY_WELD ? ANGULAR_PART : LINEAR_PART); part++) {
        stn_constraint *c = append_equality(a, index, part);
        if (!append_sides(a, c, side)) {
            return false;
        }
        c->point = middle;
        for (int32_t k = 0; k < 2; k++) {
            double sign = k == 0 ? -1.0 : 1.0;
            if (side[k] != NULL && part == ANGULAR_PART) {
                stn_angular_jacobian_add(kinematics, c->body[k], &c->frame, sign, side[k]);
            } else if (side[k] != NULL) {
                stn_point_jacobian_add(kinematics, c->body[k], middle, &c->frame, sign, side[k]);
            }
        }
        const equality_part driven = {e, part, {middle, middle}};
        put(p->bias + c->row, driven_rate(a->setup, a->frame, &driven, false));
        memcpy(p->phi + c->row, error + 3 * part, 3 * sizeof(double));
    }
    return true;
}

static bool add_distance(const assembly *a, int32_t index) {
    const stn_equality *e = &a->setup->model->equalities[index];
    const stn_kinematics *kinematics = a->frame->kinematics;
    frame_pair at = place_frames(kinematics, e);
    const equality_part driven = {e, LINEAR_PART, {at.P.position, at.Q.position}};
    stn_constraint *c = append_equality(a, index, LINEAR_PART);
    double *side[2];
    if (!append_sides(a, c, side)) { // three rows each; the last is the one along u
        return false;
    }
    // from P to Q; where they coincide the way in which Q leaves P, or some fixed direction when it does not
    stn_vec3 apart = stn_vec3_sub(at.Q.position, at.P.position);
    if (stn_vec3_norm(apart) < 1e-10) {
        apart = stn_vec3_sub(stn_point_velocity(kinematics, e->body_b, at.Q.position),
                             stn_point_velocity(kinematics, e->body_a, at.P.position));
    }
    c->frame = stn_contact_frame(stn_vec3_normalize_or(apart, stn_vec3_make(0.0, 0.0, 1.0)));
    c->point = at.Q.position;
    stn_equality_error(kinematics, e, &c->phi0);
    for (int32_t k = 0; k < 2; k++) {
        if (side[k] != NULL) {
            stn_point_jacobian_add(kinematics, c->body[k], driven.at[k], &c->frame, k == 0 ? -1.0 : 1.0, side[k]);
        }
    }
    a->frame->problem.bias[c->row] =
        stn_vec3_dot(stn_mat3_column(&c->frame, 2), driven_rate(a->setup, a->frame, &driven, false));
    for (int32_t k = 0; k < 2 && c->J[k].tree >= 0; k++) {
        c->J[k].values += 2 * (size_t)a->setup->model->trees[c->J[k].tree].nv;
    }
    return true;
}

static bool add_gear(const assembly *a, int32_t index) {
    const stn_equality *e = &a->setup->model->equalities[index];
    const stn_joint *joints = a->setup->model->joints;
    stn_constraint *c = append_equality(a, index, LINEAR_PART);
    c->phi0 = gear_error(a->frame->kinematics, e);
    return append_unit_row(a, c, joints[e->joint_a].v_start, 1.0) &&
           append_unit_row(a, c, joints[e->joint_b].v_start, -e->ratio);
}

row_count equality_row_count(const step_setup *setup) {
    row_count most = {0, 0};
    for (int32_t i = 0; i < setup->model->equality_count; i++) {
        stn_equality_type type = setup->model->equalities[i].type;
        most.constraints += type == STN_EQUALITY_WELD ? 2 : 1;
        most.rows += type == STN_EQUALITY_WELD ? 6 : type == STN_EQUALITY_BALL ? 3 : 1;
    }
    return most;
}

bool add_equality_rows(const assembly *a) {
    static bool (*const add[STN_EQUALITY_COUNT])(const assembly *, int32_t) = {
        [STN_EQUALITY_WELD] = add_weld_or_ball,
        [STN_EQUALITY_BALL] = add_weld_or_ball,
        [STN_EQUALITY_DISTANCE] = add_distance,
        [STN_EQUALITY_GEAR] = add_gear,
    };
    bool complete = true;
    for (int32_t i = 0; i < a->setup->model->equality_count && complete; i++) {
        complete = add[a->setup->model->equalities[i].type](a, i);
    }
    return complete;
}

// ------------------------------------------------------------------------------------------------------- questions

double stn_step_equality_energy(const step_setup *setup, const step_frame *frame) {
    double energy = 0.0;
    for (int32_t i = 0; i < setup->model->equality_count; i++) {
        const stn_equality *e = &setup->model->equalities[i];
        double error[STN_EQUALITY_MAX_ROWS];
        if (isinf(e->stiffness) && isinf(e->angular_stiffness)) {
            continue;
        }
        int32_t rows = stn_equality_error(frame->kinematics, e, error);
        for (int32_t r = 0; r < rows; r++) {
            double k = r < 3 ? e->stiffness : e->angular_stiffness;
            energy += isinf(k) ? 0.0 : 0.5 * k * error[r] * error[r];
        }
    }
    return energy;
}

double stn_step_equality_work(const step_setup *setup, const step_frame *frame) {
    const stn_problem *p = &frame->problem;
    const stn_constraint *c = p->constraints + frame->constraint_first - equality_row_count(setup).constraints;
    double work = 0.0;
    for (int32_t i = 0; i < setup->model->equality_count && setup->kinematic_count > 0; i++) {
        const stn_equality *e = &setup->model->equalities[i];
        bool driven = stn_setup_is_kinematic(setup, e->body_a) || stn_setup_is_kinematic(setup, e->body_b);
        frame_pair at = place_frames(frame->kinematics, e);
        for (int32_t part = 0; part < (e->type == STN_EQUALITY_WELD ? 2 : 1); part++, c++) {
            bool vector = c->rows == 3;
            const equality_part moved = {
                e, part, {vector ? c->point : at.P.position, vector ? c->point : at.Q.position}};
            stn_vec3 along = stn_mat3_apply_transposed(&c->frame, driven_rate(setup, frame, &moved, true));
            const double before[3] = {vector ? along.x : along.z, along.y, along.z};
            for (int32_t r = c->row; driven && r < c->row + c->rows; r++) {
                work -= 0.5 * frame->solution.gamma[r] * (before[r - c->row] + p->bias[r]);
            }
        }
    }
    return work;
}
