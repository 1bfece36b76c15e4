// SPDX-License-Identifier: Apache-2.0
// A tendon: one cable whose tension acts along all of its path, which may run through points of any number of bodies,
// past round things between two of them (wrap.h) and over joints. Its length is
//
//     l = sum over neighbouring points of the way between them + sum over joints r_j q_j
//
// (a fixed tendon has joints alone, with constant moment arms r_j), and its force along l is, at the step's end,
//
//     f = clamp(-k (l - length) - d l' - tension, -limit, 0)
//
// where `tension` is what a motor adds. A cable pulls and never pushes; two_sided lets a push rod or a coupling push.
// A taut cable without friction is as short as it can be: l changes by what its ends and what it touches move along
// it, not by how it slides there.
#include <math.h>
#include <stiction/plugin.h>

#include "wrap.h"

typedef struct tendon {
    double stiffness, damping, limit, length;
    bool two_sided;
} tendon;

static const stn_param params[] = {
    STN_PARAM_REAL(tendon, stiffness, "N/m", 0.0, 0.0, INFINITY, "force per length; 0: only `tension` pulls"),
    STN_PARAM_REAL(tendon, damping, "N s/m", 0.0, 0.0, INFINITY, "force per speed of the length"),
    STN_PARAM_REAL(tendon, limit, "N", 0.0, 0.0, INFINITY, "most tension that it bears; 0: any"),
    STN_PARAM_REAL(tendon, length, "m", -1.0, -1.0, INFINITY, "at rest; below 0: that of the start"),
    STN_PARAM_BOOL(tendon, two_sided, false, "pushes too, as a rod does"),
};

enum { LENGTH, TENSION };
static const stn_channel channels[] = {
    [LENGTH] = {"length", "m", "at which the tendon is at rest", 1},
    [TENSION] = {"tension", "N", "that a motor adds, >= 0 pulls", 1},
};

static bool is_point(const stn_model_constraint *described, int32_t i) {
    return i >= 0 && i < described->end_count && described->ends[i].joint < 0 &&
           described->ends[i].shape == STN_END_POINT;
}

static bool has_points(const stn_model_constraint *described) {
    bool found = false;
    for (int32_t i = 0; i < described->end_count; i++) {
        found = found || is_point(described, i);
    }
    return found;
}

static stn_status check(const void *self, const stn_model *model, const stn_model_constraint *described,
                        stn_error *err) {
    const tendon *t = self;
    int32_t points = 0;
    bool one_body = true;
    for (int32_t i = 0; i < described->end_count; i++) {
        const stn_constraint_end *end = &described->ends[i];
        points += is_point(described, i);
        one_body = one_body && end->joint < 0 && end->body == described->ends[0].body;
        if (end->joint >= 0 && end->factor == 0.0) {
            return stn_fail(err, STN_ERR_ARGUMENT, "the moment arm on joint '%s' is 0, so that nothing pulls it",
                            model->joints[end->joint].name);
        }
        if (end->shape != STN_END_POINT && !(is_point(described, i - 1) && is_point(described, i + 1))) {
            return stn_fail(err, STN_ERR_ARGUMENT,
                            "entry %d of its path is a sphere or cylinder; it needs a point before it and one after it",
                            i + 1);
        }
    }
    if (points == 1) {
        return stn_fail(err, STN_ERR_ARGUMENT, "its path has one point; it needs two, or none and joints");
    }
    if (one_body) {
        return stn_fail(err, STN_ERR_ARGUMENT,
                        "all of its path is on one body, so that its length never changes; lead it to another one");
    }
    if (isinf(t->stiffness) || isinf(t->damping)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "stiffness and damping must be finite");
    }
    return STN_OK;
}

static int32_t row_count(const void *self, const stn_model_constraint *described) {
    (void)self;
    (void)described;
    return 1;
}

// ------------------------------------------------------------------------------------------------------------- path

/// The way from one point of the path to the next, world.
typedef struct piece {
    const stn_constraint_end *from, *round, *to; // round: what lies between them, NULL: nothing
    stn_vec3 a, b;                               // the points
    wrap way;
} piece;

static stn_vec3 point_of(const stn_kinematics *kinematics, const stn_constraint_end *end) {
    return stn_pose_apply(&kinematics->body_pose[end->body], end->frame.position);
}

static wrap way_round(const stn_kinematics *kinematics, const piece *p) {
    if (p->round == NULL) {
        return wrap_straight(p->a, p->b);
    }
    const stn_constraint_end *round = p->round;
    stn_pose frame = stn_pose_mul(&kinematics->body_pose[round->body], &round->frame);
    stn_vec3 a = stn_pose_apply_inverse(&frame, p->a), b = stn_pose_apply_inverse(&frame, p->b);
    wrap way = (round->shape == STN_END_SPHERE ? wrap_sphere : wrap_cylinder)(a, b, round->radius, round->side);
    stn_vec3 *const directions[] = {&way.out, &way.in, &way.radial, &way.along};
    for (int32_t i = 0; i < STN_COUNT(directions); i++) {
        *directions[i] = stn_mat3_apply(&frame.rotation, *directions[i]);
    }
    way.leaves = stn_pose_apply(&frame, way.leaves);
    way.arrives = stn_pose_apply(&frame, way.arrives);
    return way;
}

/// The piece that begins at or after entry *at of the path, which moves on; false: there is none.
static bool next_piece(const stn_constraint_view *view, int32_t *at, piece *out) {
    const stn_model_constraint *described = view->described;
    *out = (piece){0};
    for (; *at < described->end_count; (*at)++) {
        const stn_constraint_end *end = &described->ends[*at];
        if (end->joint >= 0) {
            continue;
        }
        if (end->shape != STN_END_POINT) {
            out->round = end;
        } else if (out->from == NULL) {
            out->from = end;
        } else { // it begins the next one too
            out->to = end;
            out->a = point_of(view->kinematics, out->from);
            out->b = point_of(view->kinematics, end);
            out->way = way_round(view->kinematics, out);
            return true;
        }
    }
    return false;
}

/// `length` of the pieces, and what joints add.
static double with_joints(const stn_constraint_view *view, double length) {
    const stn_kinematics *kinematics = view->kinematics;
    for (int32_t i = 0; i < view->described->end_count; i++) {
        const stn_constraint_end *end = &view->described->ends[i];
        length += end->joint >= 0 ? end->factor * kinematics->q[kinematics->model->joints[end->joint].q_start] : 0.0;
    }
    return length;
}

static double length_of(const stn_constraint_view *view) {
    double length = 0.0;
    piece p;
    for (int32_t at = 0; next_piece(view, &at, &p);) {
        length += p.way.length;
    }
    return with_joints(view, length);
}

/// At rest at the start, unless told.
static void initial_reference(const void *self, const stn_kinematics *kinematics, const stn_model_constraint *described,
                              double *reference) {
    const tendon *t = self;
    const stn_constraint_view view = {.described = described, .kinematics = kinematics};
    reference[LENGTH] = t->length < 0.0 ? length_of(&view) : t->length;
}

/// l' as a sum of what points, round things and joints do. A point inside something round: which length the cable has
/// there, nobody can say. Where two points coincide a cable has no direction, and none is needed unless it pushes.
static stn_status add_path(const stn_constraint_view *view, const piece *pieces, int32_t count, bool pushes,
                           stn_rows *rows, stn_error *err) {
    for (const piece *p = pieces; p < pieces + count; p++) {
        if (pushes && p->from->body != p->to->body && stn_vec3_norm(p->way.out) == 0.0) {
            return stn_fail(
                err, STN_ERR_ARGUMENT,
                "entries %d and %d of its path are at one place, where two_sided has no direction to push in; "
                "place them apart",
                (int32_t)(p->from - view->described->ends) + 1, (int32_t)(p->to - view->described->ends) + 1);
        }
        if (p->way.inside) {
            return stn_fail(err, STN_ERR_NUMERIC,
                            "a point of its path lies inside of the %s of radius %g m next to it (entry %d); move the "
                            "point out, or make the radius smaller",
                            p->round->shape == STN_END_SPHERE ? "sphere" : "cylinder", p->round->radius,
                            (int32_t)(p->round - view->described->ends) + 1);
        }
        stn_rows_add_point(rows, 0, p->from->body, p->a, stn_vec3_neg(p->way.out));
        stn_rows_add_point(rows, 0, p->to->body, p->b, p->way.in);
        if (p->way.touches) {
            stn_rows_add_point(rows, 0, p->round->body, p->way.leaves, p->way.out);
            stn_rows_add_point(rows, 0, p->round->body, p->way.arrives, stn_vec3_neg(p->way.in));
        }
    }
    for (int32_t i = 0; i < view->described->end_count; i++) {
        const stn_constraint_end *end = &view->described->ends[i];
        if (end->joint >= 0) {
            stn_rows_add_dof(rows, 0, view->model->joints[end->joint].v_start, end->factor);
        }
    }
    return STN_OK;
}

// ------------------------------------------------------------------------------------------------------------ force

/// [J] stored at l - length = `longer`: the integral of clamp(k x, -limit or 0, limit).
static double stored(const tendon *t, double longer) {
    if (longer < 0.0 && !t->two_sided) {
        return 0.0;
    }
    double x = fabs(longer), most = t->limit > 0.0 ? t->limit : (double)INFINITY;
    return t->stiffness * x <= most ? 0.5 * t->stiffness * x * x : most * (x - 0.5 * most / t->stiffness);
}

/// What it keeps: a motor that reels it in does work between the steps.
typedef struct memory {
    int64_t stepped;
    double length; // the channel, in the last step
} memory;

static stn_status emit(const void *self, const stn_constraint_view *view, void *state, stn_rows *rows, stn_error *err) {
    const tendon *t = self;
    memory *before = state;
    piece *pieces = STN_ARENA(view->arena, view->described->end_count, piece); // for the length and for the rows
    if (pieces == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    int32_t count = 0;
    double length = 0.0;
    for (int32_t at = 0; next_piece(view, &at, &pieces[count]); count++) {
        length += pieces[count].way.length;
    }
    length = with_joints(view, length);
    const double longer = length - view->reference[LENGTH];
    if (view->reference[LENGTH] < 0.0 && has_points(view->described)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "its channel length was set to %g m: give a length >= 0",
                        view->reference[LENGTH]);
    }
    double tension = view->reference[TENSION], limit = t->limit > 0.0 ? t->limit : (double)INFINITY;
    stn_row_block block = stn_row_block_default(0, 1);
    block.point = point_of(view->kinematics, &view->described->ends[0]);
    block.input[0] = -tension;
    const bool pushes = t->two_sided && (!before->stepped || t->stiffness * longer + tension < 0.0);
    if (before->stepped) {
        block.input_work = stored(t, longer) - stored(t, length - before->length);
    }
    *before = (memory){1, view->reference[LENGTH]};
    if (t->stiffness > 0.0 || t->damping > 0.0) {
        block.phi[0] = longer;
        stn_row_block_set_spring(&block, t->stiffness, t->damping, view->dt);
        block.lo[0] = -limit;
        block.hi[0] = t->two_sided ? limit : 0.0;
    } else { // the motor alone: the bounds leave one force
        block.lo[0] = block.hi[0] = -fmax(t->two_sided ? -limit : 0.0, fmin(tension, limit));
    }
    stn_status status = stn_rows_begin(rows, &block, err);
    return status == STN_OK ? add_path(view, pieces, count, pushes, rows, err) : status;
}

static double energy(const void *self, const stn_constraint_view *view, const void *state) {
    (void)state;
    return stored(self, length_of(view) - view->reference[LENGTH]);
}

/// Its points, and arcs as pieces of at most 9 degrees.
static void path(const void *self, const stn_constraint_view *view, const void *state, stn_constraint_path *line) {
    (void)self;
    (void)state;
    piece p;
    double length = 0.0;
    for (int32_t at = 0; next_piece(view, &at, &p); length += p.way.length) {
        if (line->count == 0) {
            stn_constraint_path_add(line, p.a);
        }
        int32_t arcs = p.way.touches ? (int32_t)ceil(p.way.arc / (STN_PI / 20.0)) : -1;
        for (int32_t i = 0; i <= arcs; i++) {
            stn_constraint_path_add(line, wrap_point(&p.way, (double)i / fmax(arcs, 1.0)));
        }
        stn_constraint_path_add(line, p.b);
    }
    line->length = line->count > 0 ? length : line->length;
}

static size_t state_size(const void *self, const stn_model_constraint *described) {
    (void)self;
    (void)described;
    return sizeof(memory);
}

static const stn_constraint_ops ops = {
    .size = sizeof ops,
    .channel_count = STN_COUNT(channels),
    .channels = channels,
    .check = check,
    .row_count = row_count,
    .state_size = state_size,
    .initial_reference = initial_reference,
    .emit = emit,
    .energy = energy,
    .path = path,
};

static const char *const capabilities[] = {"slack", "wraps", NULL};

static const stn_plugin_desc descriptor = {
    .size = sizeof descriptor,
    .kind = STN_KIND_CONSTRAINT,
    .id = "tendon",
    .version = "1.0.0",
    .summary =
        "Cable through points of bodies, round cylinders and spheres and over joints, slack or elastic, with a motor",
    .config_size = sizeof(tendon),
    .capabilities = capabilities,
    .params = params,
    .param_count = STN_COUNT(params),
    .ops.constraint = &ops,
};
STN_PLUGIN_LIBRARY(&descriptor);
