// SPDX-License-Identifier: Apache-2.0
// A suction cup: a ring of radius r, pressed on a surface by the vacuum force V along the cup's axis z. With (f, tau)
// on what it holds, f_z > 0 where the cup pushes, the ring feels F_N = V + f_z and holds while
//
//     f_z >= -V                                               the vacuum is stronger than the pull
//     |f_xy|^2 + (tau_z / r)^2 <= (mu F_N)^2                  friction of the ring
//     |tau_xy| <= r F_N                                       no side of the ring lifts off
//
// The first two are those of Mahler et al., Dex-Net 3.0 (ICRA 2018), which states them linearised; for the third that
// paper takes pi r kappa of an elastic lip, here the ring is rigid.
#include "hold.h"

enum { RAYS = 8 }; // on the ring, beside the one in its middle

typedef struct suction {
    double force, mu, radius, reach, stiffness, angular_stiffness, relaxation_time;
    bool attached;
} suction;

static const stn_param params[] = {
    STN_PARAM_REAL(suction, force, "N", 50.0, 0.0, INFINITY, "V: above 0; what the vacuum pulls with"),
    STN_PARAM_REAL(suction, mu, "1", 0.5, 0.0, INFINITY, "above 0; friction of ring and surface"),
    STN_PARAM_REAL(suction, radius, "m", 0.015, 0.0, INFINITY, "r: above 0; of the ring"),
    STN_PARAM_REAL(suction, reach, "m", 0.0, 0.0, INFINITY,
                   "holds what lies no further than this before all of the ring; 0: whatever the distance"),
    JOINED_PARAMS(suction, "N/m"),
    JOINED_ANGULAR_PARAM(suction),
    STN_PARAM_BOOL(suction, attached, false, "from the start"),
};

static hold_stiffness stiffness_of(const suction *s) {
    return (hold_stiffness){s->stiffness, s->angular_stiffness, s->relaxation_time};
}

static stn_status check(const void *self, const stn_model *model, const stn_model_constraint *described,
                        stn_error *err) {
    const suction *s = self;
    const struct {
        const char *name;
        double value;
    } positive[] = {{"force", s->force}, {"mu", s->mu}, {"radius", s->radius}};
    for (int32_t i = 0; i < STN_COUNT(positive); i++) {
        if (!(positive[i].value > 0.0)) {
            return stn_fail(err, STN_ERR_ARGUMENT, "%s = %g must be > 0", positive[i].name, positive[i].value);
        }
    }
    if (described->end_count < 2) {
        return stn_fail(err, STN_ERR_ARGUMENT, "a cup has two ends, a and b, or a and any_of");
    }
    const hold_stiffness stiffness = stiffness_of(self);
    return hold_check("a cup", &stiffness, model, described, err);
}

static void initial_reference(const void *self, const stn_kinematics *kinematics, const stn_model_constraint *described,
                              double *reference) {
    (void)kinematics;
    (void)described;
    reference[0] = ((const suction *)self)->attached ? 1.0 : 0.0;
}

// --------------------------------------------------------------------------------------------------------------- seal

/// What rays may meet of an end's body.
typedef struct target {
    const stn_shape *shape;
    stn_pose pose;
    const struct target *next; // NULL: no more
} target;

/// By end, in the arena; of ends on one body the first has its geometries. NULL: out of memory.
static const target **find_targets(const stn_constraint_view *view) {
    const stn_model_constraint *described = view->described;
    const target **first = STN_ARENA_ZEROED(view->arena, described->end_count, const target *);
    int32_t *end_of = STN_ARENA_ZEROED(view->arena, view->model->body_count, int32_t); // of a body, 0: none
    for (int32_t end = described->end_count - 1; end > 0 && end_of != NULL; end--) {
        end_of[described->ends[end].body] = end;
    }
    for (int32_t g = 0; g < view->model->geometry_count && first != NULL && end_of != NULL; g++) {
        const stn_geometry *geometry = &view->model->geometries[g];
        if (geometry->body < 0 || end_of[geometry->body] == 0 || !geometry->collision) {
            continue;
        }
        const target **list = &first[end_of[geometry->body]];
        target *found = STN_ARENA(view->arena, 1, target);
        if (found == NULL) {
            return NULL;
        }
        stn_pose pose = stn_pose_mul(&view->kinematics->body_pose[geometry->body], &geometry->pose);
        *found = (target){&geometry->shape, pose, *list};
        *list = found;
    }
    return end_of != NULL ? first : NULL;
}

/// How far before the cup's plane the targets are on a line along the axis; infinite: not there. The line starts a
/// radius behind the plane, so that a lip may lie in the surface.
static double gap_at(const suction *s, const target *targets, stn_vec3 point, stn_vec3 axis) {
    double nearest = (double)INFINITY;
    stn_vec3 origin = stn_vec3_sub(point, stn_vec3_scale(s->radius, axis));
    for (const target *t = targets; t != NULL; t = t->next) {
        stn_ray_hit hit;
        if (stn_shape_raycast(t->shape, &t->pose, origin, axis, s->radius + hold_or_infinite(s->reach), &hit) &&
            !hit.inside) {
            nearest = fmin(nearest, hit.distance - s->radius);
        }
    }
    return nearest;
}

/// The largest gap of the ring and its middle; infinite: it does not seal.
static double gap_of(const suction *s, const target *targets, const stn_pose *A) {
    stn_vec3 axis = stn_mat3_column(&A->rotation, 2);
    double gap = gap_at(s, targets, A->position, axis);
    for (int32_t i = 0; i < RAYS && s->reach > 0.0 && !isinf(gap); i++) {
        double angle = i * 2.0 * STN_PI / RAYS;
        stn_vec3 rim = stn_vec3_make(s->radius * cos(angle), s->radius * sin(angle), 0.0);
        gap = fmax(gap, gap_at(s, targets, stn_pose_apply(A, rim), axis));
    }
    return gap;
}

/// The end that it would hold: the nearest one that seals; 0: none, -1: out of memory.
static int32_t choose(const suction *s, const stn_constraint_view *view) {
    const stn_model_constraint *described = view->described;
    if (s->reach == 0.0 && described->end_count == 2) {
        return 1;
    }
    const target **targets = find_targets(view);
    if (targets == NULL) {
        return -1;
    }
    const stn_constraint_end *a = &described->ends[0];
    stn_pose A = stn_pose_mul(&view->kinematics->body_pose[a->body], &a->frame);
    double nearest = (double)INFINITY;
    int32_t chosen = 0;
    for (int32_t end = 1; end < described->end_count; end++) {
        double gap = gap_of(s, targets[end], &A);
        if (gap < nearest) {
            nearest = gap;
            chosen = end;
        }
    }
    return chosen;
}

// -------------------------------------------------------------------------------------------------------------- limits

/// F_N by which friction and torques are limited, `more` of V added.
static double ring_force(const suction *s, double f_z, double more) {
    return fmax(0.0, s->force + f_z) + more * s->force;
}

/// Friction and torque follow the normal force of the step before.
static hold_bounds bounds_of(const suction *s, const hold_state *h) {
    double F = ring_force(s, h->force[2], HOLD_BOUND), shear = s->mu * F;
    hold_bounds b = {.hi = {shear, shear, (double)INFINITY, s->radius * F, s->radius * F, s->radius * shear}};
    for (int32_t r = 0; r < HOLD_ROWS; r++) {
        b.lo[r] = -b.hi[r];
    }
    b.lo[2] = -(1.0 + HOLD_BOUND) * s->force;
    return b;
}

static stn_status finish(const void *self, const stn_constraint_view *view, const stn_row_forces *forces, void *state,
                         stn_error *err) {
    (void)view;
    (void)err;
    const suction *s = self;
    hold_state *h = state;
    if (!hold_read_forces(h, forces)) {
        return STN_OK;
    }
    double F = ring_force(s, h->force[2], HOLD_MARGIN);
    double friction = hypot(hypot(h->force[0], h->force[1]), h->torque[2] / s->radius);
    if (-h->force[2] > (1.0 + HOLD_MARGIN) * s->force) {
        hold_let_go(h, HOLD_FORCE);
    } else if (friction > s->mu * F) {
        hold_let_go(h, HOLD_SHEAR);
    } else if (hypot(h->torque[0], h->torque[1]) > s->radius * F) {
        hold_let_go(h, HOLD_TORQUE);
    }
    return STN_OK;
}

// --------------------------------------------------------------------------------------------------------------- step

static stn_status emit(const void *self, const stn_constraint_view *view, void *state, stn_rows *rows, stn_error *err) {
    const suction *s = self;
    hold_state *h = state;
    if (hold_obey(h, view->reference[0])) {
        int32_t end = choose(s, view);
        if (end < 0) {
            return stn_fail(err, STN_ERR_MEMORY, "out of memory");
        }
        if (end > 0) {
            hold_attach(h, view, end);
        } else {
            h->why = HOLD_NO_SEAL;
        }
    }
    if (!(h->holding > 0.0)) {
        return STN_OK;
    }
    const hold_stiffness stiffness = stiffness_of(s);
    const hold_bounds bounds = bounds_of(s, h);
    return hold_emit(h, view, &stiffness, &bounds, rows, err);
}

static double energy(const void *self, const stn_constraint_view *view, const void *state) {
    const hold_stiffness stiffness = stiffness_of(self);
    return hold_energy(state, view, &stiffness);
}

static const stn_constraint_ops ops = {
    .size = sizeof ops,
    HOLD_OPS,
    .check = check,
    .initial_reference = initial_reference,
    .emit = emit,
    .energy = energy,
    .finish = finish,
};

static const char *const capabilities[] = {"slack", NULL};

const stn_plugin_desc hold_suction = {
    .size = sizeof hold_suction,
    .kind = STN_KIND_CONSTRAINT,
    .id = "suction",
    .version = "1.0.0",
    .summary = "Suction cup: holds what it sits on up to its force, friction and torque",
    .reference = "Mahler et al., Dex-Net 3.0: Computing Robust Vacuum Suction Grasp Targets, ICRA 2018",
    .capabilities = capabilities,
    .config_size = sizeof(suction),
    .params = params,
    .param_count = STN_COUNT(params),
    .ops.constraint = &ops,
};
