// SPDX-License-Identifier: Apache-2.0
#include "hold.h"

const stn_channel hold_channels[1] = {
    {"attached", "1", "above 0: holds, and another number above 0 attaches anew; else lets go", 1}};

static const char *const reasons[] = {
    [HOLD_NOT_ENDED] = "",    [HOLD_RELEASED] = "released", [HOLD_FORCE] = "force",   [HOLD_SHEAR] = "shear",
    [HOLD_TORQUE] = "torque", [HOLD_NO_SEAL] = "no seal",   [HOLD_NO_SEAL + 1] = NULL};

const stn_constraint_output hold_outputs[HOLD_OUTPUTS] = {
    {"holding", "1", "number of the body that it holds, 1 for the first after a; 0: none", 1, NULL},
    {"why", "1", "it does not hold; empty while it holds, and before it ever did", 1, reasons},
    {"force", "N", "on what it holds, along the axes of a's frame, of the last step that it held", 3, NULL},
    {"torque", "N m", "on what it holds, about the origin of a's frame, of the last step that it held", 3, NULL},
};

int32_t hold_row_count(const void *self, const stn_model_constraint *described) {
    (void)self;
    (void)described;
    return HOLD_ROWS;
}

size_t hold_state_size(const void *self, const stn_model_constraint *described) {
    (void)self;
    (void)described;
    return sizeof(hold_state);
}

stn_status hold_check(const char *what, const hold_stiffness *stiffness, const stn_model *model,
                      const stn_model_constraint *described, stn_error *err) {
    stn_status status = joined_check_stiffness("stiffness", stiffness->linear, "N/m", err);
    if (status == STN_OK) {
        status = joined_check_stiffness("angular_stiffness", stiffness->angular, "N m/rad", err);
    }
    if (status != STN_OK) {
        return status;
    }
    const stn_constraint_end *ends = described->ends;
    for (int32_t i = 0; i < described->end_count; i++) {
        if (ends[i].joint >= 0) {
            return stn_fail(err, STN_ERR_ARGUMENT, "%s holds links; end %d is a joint", what, i + 1);
        }
        if (i > 0 && ends[i].body == ends[0].body) {
            return stn_fail(err, STN_ERR_ARGUMENT, "ends 1 and %d are on one body, where there is nothing to hold",
                            i + 1);
        }
        if (i > 0 && !stn_model_body_moves(model, ends[0].body) && !stn_model_body_moves(model, ends[i].body)) {
            return stn_fail(err, STN_ERR_ARGUMENT,
                            "ends 1 and %d are fixed or kinematic: there is nothing to hold; one of them must move",
                            i + 1);
        }
        for (int32_t k = 1; k < i; k++) {
            if (ends[k].link == ends[i].link) {
                return stn_fail(err, STN_ERR_ARGUMENT, "ends %d and %d are one link; name it once", k + 1, i + 1);
            }
        }
    }
    return STN_OK;
}

bool hold_obey(hold_state *h, double attached) {
    if (!(attached > 0.0)) {
        if (h->holding > 0.0 || h->waits > 0.0) {
            hold_let_go(h, HOLD_RELEASED);
        }
    } else if (attached != h->told) { // told anew
        hold_let_go(h, HOLD_NOT_ENDED);
        h->waits = 1.0;
    }
    h->told = attached;
    return h->waits > 0.0;
}

void hold_let_go(hold_state *h, hold_end why) {
    h->holding = h->waits = 0.0;
    h->why = why;
}

// ------------------------------------------------------------------------------------------------------------- frames

static stn_pose place_a(const stn_constraint_view *view) {
    const stn_constraint_end *a = &view->described->ends[0];
    return stn_pose_mul(&view->kinematics->body_pose[a->body], &a->frame);
}

/// The end that it holds; 0: none, also where a saved state has a number that is no end's.
static int32_t held_end(const hold_state *h, const stn_model_constraint *described) {
    bool is_end = h->holding >= 1.0 && h->holding < described->end_count && h->holding == floor(h->holding);
    return is_end ? (int32_t)h->holding : 0;
}

static int32_t held_body(const hold_state *h, const stn_constraint_view *view) {
    return view->described->ends[held_end(h, view->described)].body;
}

static stn_pose place_b(const hold_state *h, const stn_constraint_view *view) {
    stn_pose on_b = {.position = stn_vec3_make(h->position[0], h->position[1], h->position[2])};
    for (int32_t i = 0; i < 3; i++) {
        for (int32_t k = 0; k < 3; k++) {
            on_b.rotation.m[i][k] = h->rotation[i][k];
        }
    }
    return stn_pose_mul(&view->kinematics->body_pose[held_body(h, view)], &on_b);
}

void hold_attach(hold_state *h, const stn_constraint_view *view, int32_t end) {
    *h = (hold_state){.holding = end, .told = h->told};
    stn_pose A = place_a(view), back = stn_pose_inverse(&view->kinematics->body_pose[held_body(h, view)]);
    stn_pose on_b = stn_pose_mul(&back, &A);
    h->position[0] = on_b.position.x;
    h->position[1] = on_b.position.y;
    h->position[2] = on_b.position.z;
    for (int32_t i = 0; i < 3; i++) {
        for (int32_t k = 0; k < 3; k++) {
            h->rotation[i][k] = on_b.rotation.m[i][k];
        }
    }
}

/// Where the two frames are, and the error of each row.
typedef struct placed {
    stn_pose A, B;
    stn_quat turn; // of B in A, w >= 0
    double phi[HOLD_ROWS];
} placed;

static placed place(const hold_state *h, const stn_constraint_view *view) {
    placed p = {.A = place_a(view), .B = place_b(h, view)};
    stn_mat3 back = stn_mat3_transpose(&p.A.rotation), R = stn_mat3_mul(&back, &p.B.rotation);
    stn_vec3 apart = stn_mat3_apply(&back, stn_vec3_sub(p.B.position, p.A.position));
    p.turn = stn_quat_from_matrix(&R);
    const double phi[HOLD_ROWS] = {apart.x, apart.y, apart.z, 2.0 * p.turn.x, 2.0 * p.turn.y, 2.0 * p.turn.z};
    for (int32_t r = 0; r < HOLD_ROWS; r++) {
        p.phi[r] = phi[r];
    }
    return p;
}

// --------------------------------------------------------------------------------------------------------------- rows

stn_status hold_emit(const hold_state *h, const stn_constraint_view *view, const hold_stiffness *stiffness,
                     const hold_bounds *bounds, stn_rows *rows, stn_error *err) {
    if (held_end(h, view->described) == 0) {
        return stn_fail(err, STN_ERR_ARGUMENT, "its state says that it holds end %g, which is not there", h->holding);
    }
    const placed p = place(h, view);
    const int32_t a = view->described->ends[0].body, b = held_body(h, view);
    const stn_vec3 e = stn_mat3_apply(&p.A.rotation, stn_vec3_make(p.turn.x, p.turn.y, p.turn.z));
    for (int32_t part = HOLD_TRANSLATION; part <= HOLD_ROTATION; part++) {
        stn_row_block block = stn_row_block_default(part, 3);
        block.stiffness = part == HOLD_TRANSLATION ? stiffness->linear : stiffness->angular;
        block.relaxation_time = stiffness->relaxation_time;
        block.point = p.B.position;
        for (int32_t i = 0; i < 3; i++) {
            block.phi[i] = p.phi[3 * part + i];
            block.lo[i] = bounds->lo[3 * part + i];
            block.hi[i] = bounds->hi[3 * part + i];
        }
        stn_status status = stn_rows_begin(rows, &block, err);
        if (status != STN_OK) {
            return status;
        }
        stn_vec3 column[3];
        for (int32_t i = 0; i < 3; i++) {
            column[i] = stn_mat3_column(&p.A.rotation, i);
            if (part == HOLD_ROTATION) {
                column[i] = stn_vec3_add(stn_vec3_scale(p.turn.w, column[i]), stn_vec3_cross(e, column[i]));
            }
        }
        const stn_mat3 along = stn_mat3_columns(column[0], column[1], column[2]);
        const stn_mat3 against =
            stn_mat3_columns(stn_vec3_neg(column[0]), stn_vec3_neg(column[1]), stn_vec3_neg(column[2]));
        if (part == HOLD_TRANSLATION) {
            stn_rows_add_point_axes(rows, 0, a, p.B.position, &against);
            stn_rows_add_point_axes(rows, 0, b, p.B.position, &along);
        } else {
            stn_rows_add_rotation_axes(rows, 0, a, &against);
            stn_rows_add_rotation_axes(rows, 0, b, &along);
        }
    }
    return STN_OK;
}

bool hold_read_forces(hold_state *h, const stn_row_forces *forces) {
    if (!(h->holding > 0.0)) {
        return false;
    }
    double part[STN_MAX_ROWS];
    if (stn_row_forces_get(forces, HOLD_TRANSLATION, part) > 0) {
        for (int32_t i = 0; i < 3; i++) {
            h->force[i] = part[i];
        }
    }
    if (stn_row_forces_get(forces, HOLD_ROTATION, part) > 0) {
        for (int32_t i = 0; i < 3; i++) {
            h->torque[i] = part[i];
        }
    }
    return true;
}

double hold_energy(const hold_state *h, const stn_constraint_view *view, const hold_stiffness *stiffness) {
    if (held_end(h, view->described) == 0 || (isinf(stiffness->linear) && isinf(stiffness->angular))) {
        return 0.0;
    }
    const placed p = place(h, view);
    double sum = 0.0;
    for (int32_t r = 0; r < HOLD_ROWS; r++) {
        double k = r < 3 ? stiffness->linear : stiffness->angular;
        sum += joined_energy(k, p.phi[r] * p.phi[r]);
    }
    return sum;
}

void hold_path(const void *self, const stn_constraint_view *view, const void *state, stn_constraint_path *path) {
    (void)self;
    const hold_state *h = state;
    if (held_end(h, view->described) > 0) {
        stn_constraint_path_add(path, place_a(view).position);
        stn_constraint_path_add(path, view->kinematics->body_pose[held_body(h, view)].position);
    }
}

STN_PLUGIN_LIBRARY(&hold_suction, &hold_weld_at_runtime);
