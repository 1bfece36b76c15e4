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

/// The rotation vector that turns P into Q, world axes.
static stn_vec3 rotation_between(const stn_mat3 *P, const stn_mat3 *Q) {
    stn_mat3 back = stn_mat3_transpose(P), turn = stn_mat3_mul(Q, &back);
    return stn_quat_log(stn_quat_from_matrix(&turn));
}

/// From P to Q; where they coincide the way in which Q leaves P, or some fixed direction when it does not.
static stn_vec3 direction_of(const stn_kinematics *kinematics, const stn_equality *e, const frame_pair *at) {
    stn_vec3 apart = stn_vec3_sub(at->Q.position, at->P.position);
    if (stn_vec3_norm(apart) < 1e-10) {
        apart = stn_vec3_sub(stn_point_velocity(kinematics, e->body_b, at->Q.position),
                             stn_point_velocity(kinematics, e->body_a, at->P.position));
    }
    return stn_vec3_normalize_or(apart, stn_vec3_make(0.0, 0.0, 1.0));
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
    put(error + 3, rotation_between(&at.P.rotation, &at.Q.rotation));
    return 6;
}

// ------------------------------------------------------------------------------------------------------------- rows

/// How a kinematic body moves: at the start of the step, and at its end as it is told. Zero for all others.
static stn_spatial driven_twist(const step_setup *setup, const step_frame *frame, int32_t body, stn_vec3 point,
                                bool start) {
    stn_spatial twist = {stn_vec3_zero(), stn_vec3_zero()};
    if (stn_setup_is_kinematic(setup, body)) {
        twist.angular = start ? frame->kinematics->body_velocity[body].angular
                              : stn_step_kinematic_twist(setup, frame, body).angular;
        twist.linear = start ? stn_point_velocity(frame->kinematics, body, point)
                             : stn_step_kinematic_velocity(setup, frame, body, point);
    }
    return twist;
}

/// What kinematic bodies add to the rate of a part's error: u_B - u_A at the points where its impulse acts.
static stn_vec3 driven_rate(const step_setup *setup, const step_frame *frame, const stn_equality *e, int32_t part,
                            stn_vec3 on_a, stn_vec3 on_b, bool start) {
    stn_spatial a = driven_twist(setup, frame, e->body_a, on_a, start),
                b = driven_twist(setup, frame, e->body_b, on_b, start);
    return part == ANGULAR_PART ? stn_vec3_sub(b.angular, a.angular) : stn_vec3_sub(b.linear, a.linear);
}

static stn_constraint *append_equality(const step_setup *setup, step_frame *frame, int32_t index,
                                       stn_constraint_kind kind, int32_t part, int32_t rows) {
    const stn_equality *e = &setup->model->equalities[index];
    stn_constraint *c = append_constraint(frame, kind, STN_SET_EQUALITY, rows);
    c->id = stn_equality_id(index, part);
    c->stiffness = part == ANGULAR_PART ? e->angular_stiffness : e->stiffness;
    c->relaxation_time = e->relaxation_time;
    c->body[0] = e->body_a;
    c->body[1] = e->body_b;
    c->frame = stn_mat3_identity();
    return c;
}

/// Blocks of `rows` for the trees of A and B, one when it is the same; a side that does not move freely gets none.
/// `side[k]` is where body k adds its columns.
static stn_status append_sides(const step_setup *setup, const step_frame *frame, const stn_equality *e,
                               stn_constraint *c, double *side[2], stn_error *err) {
    const int32_t bodies[2] = {e->body_a, e->body_b};
    int32_t trees[2], used = 0;
    for (int32_t k = 0; k < 2; k++) {
        trees[k] = stn_setup_is_kinematic(setup, bodies[k]) ? -1 : setup->model->bodies[bodies[k]].tree;
        side[k] = NULL;
        if (k == 1 && trees[1] == trees[0]) {
            side[1] = side[0];
        } else if (trees[k] >= 0) {
            side[k] = append_block(setup, frame, trees[k], 3, &c->J[used++]);
            if (side[k] == NULL) {
                return assemble_out_of_memory(err);
            }
        }
    }
    return STN_OK;
}

/// Translation or rotation of a ball or weld: three rows in world axes.
static stn_status add_vector_rows(const step_setup *setup, step_frame *frame, int32_t index, stn_constraint_kind kind,
                                  int32_t part, stn_vec3 point, const double *error, stn_error *err) {
    const stn_equality *e = &setup->model->equalities[index];
    stn_constraint *c = append_equality(setup, frame, index, kind, part, 3);
    double *side[2];
    stn_status status = append_sides(setup, frame, e, c, side, err);
    if (status != STN_OK) {
        return status;
    }
    c->point = point;
    const int32_t bodies[2] = {e->body_a, e->body_b};
    for (int32_t k = 0; k < 2; k++) {
        double sign = k == 0 ? -1.0 : 1.0;
        if (side[k] == NULL) {
            continue;
        }
        if (part == ANGULAR_PART) {
            stn_angular_jacobian_add(frame->kinematics, bodies[k], &c->frame, sign, side[k]);
        } else {
            stn_point_jacobian_add(frame->kinematics, bodies[k], point, &c->frame, sign, side[k]);
        }
    }
    put(frame->problem.bias + c->row, driven_rate(setup, frame, e, part, point, point, false));
    memcpy(frame->problem.phi + c->row, error, 3 * sizeof(double));
    return STN_OK;
}

static stn_status add_weld_or_ball(const step_setup *setup, step_frame *frame, int32_t index, stn_error *err) {
    const stn_equality *e = &setup->model->equalities[index];
    bool weld = e->type == STN_EQUALITY_WELD;
    stn_constraint_kind kind = weld ? STN_CONSTRAINT_WELD : STN_CONSTRAINT_BALL;
    frame_pair at = place_frames(frame->kinematics, e);
    stn_vec3 middle = stn_vec3_scale(0.5, stn_vec3_add(at.P.position, at.Q.position));
    double error[STN_EQUALITY_MAX_ROWS];
    stn_equality_error(frame->kinematics, e, error);
    stn_status status = add_vector_rows(setup, frame, index, kind, LINEAR_PART, middle, error, err);
    if (status == STN_OK && weld) {
        status = add_vector_rows(setup, frame, index, kind, ANGULAR_PART, middle, error + 3, err);
    }
    return status;
}

static stn_status add_distance(const step_setup *setup, step_frame *frame, int32_t index, stn_error *err) {
    const stn_equality *e = &setup->model->equalities[index];
    frame_pair at = place_frames(frame->kinematics, e);
    stn_constraint *c = append_equality(setup, frame, index, STN_CONSTRAINT_DISTANCE, LINEAR_PART, 1);
    double *side[2];
    stn_status status = append_sides(setup, frame, e, c, side, err); // three rows each; the last is the one along u
    if (status != STN_OK) {
        return status;
    }
    c->frame = stn_contact_frame(direction_of(frame->kinematics, e, &at));
    c->point = at.Q.position;
    stn_equality_error(frame->kinematics, e, &c->phi0);
    const int32_t bodies[2] = {e->body_a, e->body_b};
    const stn_vec3 points[2] = {at.P.position, at.Q.position};
    for (int32_t k = 0; k < 2; k++) {
        if (side[k] != NULL) {
            stn_point_jacobian_add(frame->kinematics, bodies[k], points[k], &c->frame, k == 0 ? -1.0 : 1.0, side[k]);
        }
    }
    stn_vec3 driven = driven_rate(setup, frame, e, LINEAR_PART, points[0], points[1], false);
    frame->problem.bias[c->row] = stn_vec3_dot(stn_mat3_column(&c->frame, 2), driven);
    for (int32_t k = 0; k < 2 && c->J[k].tree >= 0; k++) {
        c->J[k].values += 2 * (size_t)setup->model->trees[c->J[k].tree].nv;
    }
    return STN_OK;
}

static stn_status add_gear(const step_setup *setup, step_frame *frame, int32_t index, stn_error *err) {
    const stn_equality *e = &setup->model->equalities[index];
    const stn_joint *joints = setup->model->joints;
    stn_constraint *c = append_equality(setup, frame, index, STN_CONSTRAINT_COUPLER, LINEAR_PART, 1);
    c->phi0 = gear_error(frame->kinematics, e);
    stn_status status = append_unit_row(setup, frame, c, joints[e->joint_a].v_start, 1.0, err);
    return status == STN_OK ? append_unit_row(setup, frame, c, joints[e->joint_b].v_start, -e->ratio, err) : status;
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

stn_status add_equality_rows(const step_setup *setup, step_frame *frame, stn_error *err) {
    static stn_status (*const add[STN_EQUALITY_COUNT])(const step_setup *, step_frame *, int32_t, stn_error *) = {
        [STN_EQUALITY_WELD] = add_weld_or_ball,
        [STN_EQUALITY_BALL] = add_weld_or_ball,
        [STN_EQUALITY_DISTANCE] = add_distance,
        [STN_EQUALITY_GEAR] = add_gear,
    };
    stn_status status = STN_OK;
    for (int32_t i = 0; i < setup->model->equality_count && status == STN_OK; i++) {
        status = add[setup->model->equalities[i].type](setup, frame, i, err);
    }
    return status;
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
    const stn_constraint *c = p->constraints + p->constraint_count - equality_row_count(setup).constraints;
    double work = 0.0;
    for (int32_t i = 0; i < setup->model->equality_count && setup->kinematic_count > 0; i++) {
        const stn_equality *e = &setup->model->equalities[i];
        bool driven = stn_setup_is_kinematic(setup, e->body_a) || stn_setup_is_kinematic(setup, e->body_b);
        frame_pair at = place_frames(frame->kinematics, e);
        for (int32_t part = 0; part < (e->type == STN_EQUALITY_WELD ? 2 : 1); part++, c++) {
            bool vector = c->rows == 3;
            stn_vec3 rate = driven_rate(setup, frame, e, part, vector ? c->point : at.P.position,
                                        vector ? c->point : at.Q.position, true);
            stn_vec3 along = stn_mat3_apply_transposed(&c->frame, rate);
            const double before[3] = {vector ? along.x : along.z, along.y, along.z};
            for (int32_t r = c->row; driven && r < c->row + c->rows; r++) {
                work -= 0.5 * frame->solution.gamma[r] * (before[r - c->row] + p->bias[r]);
            }
        }
    }
    return work;
}
