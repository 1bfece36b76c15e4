// SPDX-License-Identifier: Apache-2.0
// A bushing: spring and damper in all six directions between frame A of one body and frame C of another, as Drake's
// linear_bushing_rpy. With q = (roll, pitch, yaw) of C in A (R_AC = Rz Ry Rx) and p = (x, y, z) from A's origin to C's
// in the frame B that is turned halfway from A to C,
//
//     f_i = -(k_i p_i + d_i p_i'),    tau_i = -(kappa_i q_i + delta_i q_i')
//
// every one a row of its own, at the step's end. The rates are exact:
//     q'   = N(q) (omega_C - omega_A),   N the inverse of the columns (Rz Ry x, Rz y, z)
//     p_i' = b_i . (v_C - v_A) - omega_B . (p x b_i)
//     omega_B = omega_A + (omega - tan(theta/4) u x omega)/2,   omega = omega_C - omega_A
// for a rotation by theta about u: the last line is half of J_l(theta/2) J_l(theta)^-1, the left Jacobians of the
// rotation vector, whose part across u is multiplication by 1/(exp(i theta/2) + 1).
#include <math.h>
#include <stiction/context.h>
#include <stiction/plugin.h>

#include "common/joined.h"

typedef struct bushing_config {
    const char *force_stiffness, *force_damping, *torque_stiffness, *torque_damping;
} bushing_config;

static const stn_param params[] = {
    STN_PARAM_TEXT(bushing_config, force_stiffness, "0 0 0", "k along x, y, z [N/m]"),
    STN_PARAM_TEXT(bushing_config, force_damping, "0 0 0", "d along x, y, z [N s/m]"),
    STN_PARAM_TEXT(bushing_config, torque_stiffness, "0 0 0", "kappa of roll, pitch, yaw [N m/rad]"),
    STN_PARAM_TEXT(bushing_config, torque_damping, "0 0 0", "delta of roll, pitch, yaw [N m s/rad]"),
};

/// x, y, z, roll, pitch, yaw.
typedef struct bushing {
    stn_context *context;
    double stiffness[6], damping[6];
} bushing;

/// Three finite numbers >= 0.
static stn_status read_three(const char *name, const char *text, double out[3], stn_error *err) {
    bool read = stn_parse_reals(text, out, 3) == 3;
    for (int32_t i = 0; i < 3 && read; i++) {
        read = out[i] >= 0.0;
    }
    return read ? STN_OK
                : stn_fail(err, STN_ERR_ARGUMENT, "bushing: %s = \"%s\" must be three numbers >= 0, as { 1, 2, 3 }",
                           name, text);
}

static void destroy(void *self) {
    bushing *b = self;
    if (b != NULL) {
        stn_release(b->context, b);
    }
}

static stn_status create(stn_context *context, const void *config, void **self, stn_error *err) {
    const bushing_config *c = config;
    bushing read = {.context = context};
    const struct {
        const char *name, *text;
        double *out;
    } lists[] = {
        {"force_stiffness", c->force_stiffness, read.stiffness},
        {"force_damping", c->force_damping, read.damping},
        {"torque_stiffness", c->torque_stiffness, read.stiffness + 3},
        {"torque_damping", c->torque_damping, read.damping + 3},
    };
    for (int32_t i = 0; i < STN_COUNT(lists); i++) {
        stn_status status = read_three(lists[i].name, lists[i].text, lists[i].out, err);
        if (status != STN_OK) {
            return status;
        }
    }
    bushing *b = stn_allocate(context, 1, sizeof *b);
    if (b == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "bushing: out of memory");
    }
    *b = read;
    *self = b;
    return STN_OK;
}

static stn_status check(const void *self, const stn_model *model, const stn_model_constraint *described,
                        stn_error *err) {
    const bushing *b = self;
    double most = 0.0;
    for (int32_t i = 0; i < 6; i++) {
        most = fmax(most, fmax(b->stiffness[i], b->damping[i]));
    }
    return most > 0.0 ? joined_check_links(model, described, err)
                      : stn_fail(err, STN_ERR_ARGUMENT,
                                 "all stiffness and damping is 0; give one, as in force_stiffness = { 1e5, 1e5, 1e5 }");
}

static int32_t row_count(const void *self, const stn_model_constraint *described) {
    (void)self;
    (void)described;
    return 6;
}

/// Where the two frames are.
typedef struct placed {
    stn_pose A, C;
    stn_mat3 B;       // axes of the frame between them
    stn_vec3 u;       // axis of the turn from A to C, world
    double tangent;   // tan(theta/4)
    stn_vec3 apart;   // from A's origin to C's, world
    double value[6];  // p, q
    stn_vec3 rate[3]; // rows of N, world
} placed;

static placed place(const stn_kinematics *kinematics, const stn_model_constraint *described) {
    const stn_constraint_end *ends = described->ends;
    placed p = {.A = stn_pose_mul(&kinematics->body_pose[ends[0].body], &ends[0].frame),
                .C = stn_pose_mul(&kinematics->body_pose[ends[1].body], &ends[1].frame)};
    stn_mat3 back = stn_mat3_transpose(&p.A.rotation), R = stn_mat3_mul(&back, &p.C.rotation);
    stn_vec3 turn = stn_quat_log(stn_quat_from_matrix(&R));
    double theta = stn_vec3_norm(turn);
    stn_vec3 u = stn_vec3_normalize_or(turn, stn_vec3_make(0.0, 0.0, 1.0));
    stn_mat3 half_turn = stn_quat_matrix(stn_quat_exp(stn_vec3_scale(0.5, turn)));
    p.B = stn_mat3_mul(&p.A.rotation, &half_turn);
    p.u = stn_mat3_apply(&p.A.rotation, u);
    p.tangent = tan(0.25 * theta);
    p.apart = stn_vec3_sub(p.C.position, p.A.position);
    stn_vec3 x = stn_mat3_apply_transposed(&p.B, p.apart);
    double roll = atan2(R.m[2][1], R.m[2][2]), yaw = atan2(R.m[1][0], R.m[0][0]);
    double cp = hypot(R.m[0][0], R.m[1][0]), pitch = atan2(-R.m[2][0], cp), cy = cos(yaw), sy = sin(yaw);
    const double value[6] = {x.x, x.y, x.z, roll, pitch, yaw};
    for (int32_t i = 0; i < 6; i++) {
        p.value[i] = value[i];
    }
    const double tp = tan(pitch);
    const stn_vec3 N[3] = {{cy / cp, sy / cp, 0.0}, {-sy, cy, 0.0}, {cy * tp, sy * tp, 1.0}};
    for (int32_t i = 0; i < 3; i++) {
        p.rate[i] = stn_mat3_apply(&p.A.rotation, N[i]);
    }
    return p;
}

/// p_i' of direction i.
static void add_translation(stn_rows *rows, const stn_constraint_end *ends, const placed *p, int32_t i) {
    stn_vec3 b = stn_mat3_column(&p->B, i), arm = stn_vec3_cross(p->apart, b);
    stn_vec3 half =
        stn_vec3_scale(0.5, stn_vec3_sub(arm, stn_vec3_scale(p->tangent, stn_vec3_cross(arm, p->u)))); // on omega
    stn_rows_add_point(rows, 0, ends[0].body, p->A.position, stn_vec3_neg(b));
    stn_rows_add_point(rows, 0, ends[1].body, p->C.position, b);
    stn_rows_add_rotation(rows, 0, ends[0].body, stn_vec3_sub(half, arm));
    stn_rows_add_rotation(rows, 0, ends[1].body, stn_vec3_neg(half));
}

static stn_status emit(const void *self, const stn_constraint_view *view, void *state, stn_rows *rows, stn_error *err) {
    (void)state;
    const bushing *b = self;
    const stn_constraint_end *ends = view->described->ends;
    placed p = place(view->kinematics, view->described);
    for (int32_t i = 0; i < 6; i++) {
        double k = b->stiffness[i], d = b->damping[i];
        if (k == 0.0 && d == 0.0) {
            continue;
        }
        if (i >= 3 && !(fabs(cos(p.value[4])) > 1e-6)) {
            return stn_fail(err, STN_ERR_NUMERIC, "pitch = %g rad, where roll and yaw are not defined; turn the frames",
                            p.value[4]);
        }
        stn_row_block block = stn_row_block_default(i, 1);
        block.phi[0] = p.value[i];
        stn_row_block_set_spring(&block, k, d, view->dt);
        block.point = stn_vec3_scale(0.5, stn_vec3_add(p.A.position, p.C.position));
        stn_status status = stn_rows_begin(rows, &block, err);
        if (status != STN_OK) {
            return status;
        }
        if (i < 3) {
            add_translation(rows, ends, &p, i);
        } else {
            stn_rows_add_rotation(rows, 0, ends[0].body, stn_vec3_neg(p.rate[i - 3]));
            stn_rows_add_rotation(rows, 0, ends[1].body, p.rate[i - 3]);
        }
    }
    return STN_OK;
}

static double energy(const void *self, const stn_constraint_view *view, const void *state) {
    (void)state;
    const bushing *b = self;
    placed p = place(view->kinematics, view->described);
    double sum = 0.0;
    for (int32_t i = 0; i < 6; i++) {
        sum += 0.5 * b->stiffness[i] * p.value[i] * p.value[i];
    }
    return sum;
}

static const stn_constraint_ops ops = {
    .size = sizeof ops,
    .check = check,
    .row_count = row_count,
    .emit = emit,
    .energy = energy,
};

static const stn_plugin_desc descriptor = {
    .size = sizeof descriptor,
    .kind = STN_KIND_CONSTRAINT,
    .id = "bushing",
    .version = "1.0.0",
    .summary = "Spring and damper in six directions between two frames, by roll, pitch and yaw",
    .config_size = sizeof(bushing_config),
    .params = params,
    .param_count = STN_COUNT(params),
    .create = create,
    .destroy = destroy,
    .ops.constraint = &ops,
};
STN_PLUGIN_LIBRARY(&descriptor);
