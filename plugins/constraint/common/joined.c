// SPDX-License-Identifier: Apache-2.0
#include "common/joined.h"

#include <math.h>

stn_status joined_check_stiffness(const char *name, double value, const char *unit, stn_error *err) {
    return value > 0.0 ? STN_OK
                       : stn_fail(err, STN_ERR_ARGUMENT, "%s = %g %s must be > 0; infinite: rigid", name, value, unit);
}

static stn_status refuse_one_end(const stn_model *model, const stn_constraint_end *end, stn_error *err) {
    char text[256];
    stn_constraint_end_describe(model, end, text, sizeof text);
    return stn_fail(err, STN_ERR_ARGUMENT, "both ends are %s; it needs two", text);
}

stn_status joined_check_links(const stn_model *model, const stn_model_constraint *described, stn_error *err) {
    const stn_constraint_end *ends = described->ends;
    if (described->end_count != 2 || ends[0].joint >= 0 || ends[1].joint >= 0) {
        return stn_fail(err, STN_ERR_ARGUMENT, "it has two ends, a and b, on links or the world");
    }
    if (ends[0].link == ends[1].link) {
        return refuse_one_end(model, &ends[0], err);
    }
    if (ends[0].body == ends[1].body) {
        char a[256], b[256];
        stn_constraint_end_describe(model, &ends[0], a, sizeof a);
        stn_constraint_end_describe(model, &ends[1], b, sizeof b);
        return stn_fail(err, STN_ERR_ARGUMENT, "%s and %s are one body, welded together already: remove the constraint",
                        a, b);
    }
    return STN_OK;
}

stn_status joined_check_joints(const stn_model *model, const stn_model_constraint *described, stn_error *err) {
    const stn_constraint_end *ends = described->ends;
    if (described->end_count != 2 || ends[0].joint < 0 || ends[1].joint < 0) {
        return stn_fail(err, STN_ERR_ARGUMENT,
                        "joints must be a list of two, as in { { arm, \"lift\" }, { arm, \"tilt\" } }");
    }
    return ends[0].joint != ends[1].joint ? STN_OK : refuse_one_end(model, &ends[0], err);
}

joined_origins joined_place(const stn_kinematics *kinematics, const stn_model_constraint *described) {
    const stn_constraint_end *ends = described->ends;
    joined_origins at = {.P = stn_pose_apply(&kinematics->body_pose[ends[0].body], ends[0].frame.position),
                         .Q = stn_pose_apply(&kinematics->body_pose[ends[1].body], ends[1].frame.position)};
    at.apart = stn_vec3_sub(at.Q, at.P);
    return at;
}

stn_status joined_emit_origins(const stn_constraint_view *view, const joined_origins *at, stn_row_block *block,
                               stn_rows *rows, stn_error *err) {
    const stn_constraint_end *ends = view->described->ends;
    const stn_mat3 along = stn_mat3_identity(), against = stn_mat3_diagonal(-1.0, -1.0, -1.0);
    block->phi[0] = at->apart.x;
    block->phi[1] = at->apart.y;
    block->phi[2] = at->apart.z;
    block->point = stn_vec3_scale(0.5, stn_vec3_add(at->P, at->Q));
    stn_status status = stn_rows_begin(rows, block, err);
    if (status == STN_OK) {
        stn_rows_add_point_axes(rows, 0, ends[0].body, block->point, &against);
        stn_rows_add_point_axes(rows, 0, ends[1].body, block->point, &along);
    }
    return status;
}

double joined_energy(double stiffness, double error_squared) {
    return isinf(stiffness) ? 0.0 : 0.5 * stiffness * error_squared;
}
