// SPDX-License-Identifier: Apache-2.0
#include "problem_hard.h"

#include <string.h>

enum { CONE = 1u << STN_SET_CONE, BOX = 1u << STN_SET_BOX, EQUALITY = 1u << STN_SET_EQUALITY };

/// Rigid contacts that touch, without errors of position.
static problem_spec touching(int32_t bodies, int32_t points, int32_t contacts) {
    return (problem_spec){.bodies = bodies,
                          .points = points,
                          .contacts = contacts,
                          .sets = CONE,
                          .mu_low = 0.1,
                          .mu_high = 1.0,
                          .condition = 1.0,
                          .stiffness_low = 5.0,
                          .stiffness_high = 5.0,
                          .rigid = 1.0,
                          .speed = 0.5,
                          .dt = 5e-3};
}

/// The problem of `spec` with all distances 0.
static stn_problem *make(stn_arena *arena, random_stream *random, const problem_spec *spec) {
    stn_problem *p = problem_make(arena, spec, random);
    for (int32_t i = 0; p != NULL && i < p->constraint_count; i++) {
        p->constraints[i].phi0 = 0.0;
    }
    return p;
}

static double *values_of(const stn_constraint *c) {
    return (double *)(uintptr_t)c->J[0].values; // made by problem_make
}

/// Contact `to` where `from` is, seen from the side of its normal, or (opposite) from the other side.
static void put_at(stn_problem *p, int32_t from, int32_t to, bool opposite) {
    const stn_constraint *a = &p->constraints[from];
    stn_constraint *b = &p->constraints[to];
    int32_t n = p->trees[a->J[0].tree].A.n;
    double sign = opposite ? -1.0 : 1.0; // of t2 and n: the frame stays right-handed
    b->frame = a->frame;
    for (int32_t r = 0; r < 3 * n; r++) {
        values_of(b)[r] = (r < n ? 1.0 : sign) * values_of(a)[r];
    }
    for (int32_t r = 0; r < 3; r++) {
        b->frame.m[r][1] *= sign;
        b->frame.m[r][2] *= sign;
    }
}

/// The other side of each contact comes towards it.
static void close_in(stn_problem *p, random_stream *random) {
    double speed = random_uniform(random, 0.1, 1.0);
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const int32_t row = p->constraints[i].row;
        p->bias[row] = p->bias[row + 1] = 0.0;
        p->bias[row + 2] = -speed;
    }
}

// -------------------------------------------------------------------------------------------------- contradictions

static stn_problem *make_squeezed(stn_arena *arena, random_stream *random) {
    int32_t pairs = random_integer(random, 1, 3);
    problem_spec spec = touching(1, 0, 2 * pairs);
    stn_problem *p = make(arena, random, &spec);
    for (int32_t i = 0; p != NULL && i < pairs; i++) {
        put_at(p, 2 * i, 2 * i + 1, true);
    }
    if (p != NULL) {
        close_in(p, random);
    }
    return p;
}

/// Two bodies, one on the other, between walls: floor, between them, ceiling.
static stn_problem *make_stack_squeezed(stn_arena *arena, random_stream *random) {
    problem_spec spec = touching(0, 2, 3);
    stn_problem *p = make(arena, random, &spec);
    if (p == NULL) {
        return NULL;
    }
    static const int32_t first[3] = {0, 1, 1}, second[3] = {-1, 0, -1}; // trees; normals up, up, down on the first
    stn_mat3 frame = p->constraints[0].frame;
    for (int32_t i = 0; i < 3; i++) {
        stn_constraint *c = &p->constraints[i];
        double *values = STN_ARENA_ZEROED(arena, 18, double);
        if (values == NULL) {
            return NULL;
        }
        c->frame = frame;
        for (int32_t k = 0; k < 9; k++) {
            double sign = i == 2 && k >= 3 ? -1.0 : 1.0;
            values[k] = sign * frame.m[k % 3][k / 3];
            values[9 + k] = -values[k];
            c->frame.m[k % 3][k / 3] = values[k];
        }
        c->J[0] = (stn_jacobian){.tree = first[i], .values = values};
        c->J[1] = (stn_jacobian){.tree = second[i], .values = second[i] >= 0 ? values + 9 : NULL};
    }
    close_in(p, random);
    return p;
}

/// A point within a tetrahedron whose faces close: their normals add up to nothing.
static stn_problem *make_wedged(stn_arena *arena, random_stream *random) {
    static const double corner[4][3] = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};
    problem_spec spec = touching(0, 1, 4);
    stn_problem *p = make(arena, random, &spec);
    stn_mat3 turn = p != NULL ? p->constraints[0].frame : stn_mat3_identity();
    for (int32_t i = 0; p != NULL && i < 4; i++) {
        stn_constraint *c = &p->constraints[i];
        stn_vec3 normal = stn_vec3_make(corner[i][0], corner[i][1], corner[i][2]);
        c->frame = stn_contact_frame(stn_mat3_apply(&turn, stn_vec3_scale(1.0 / sqrt(3.0), normal)));
        for (int32_t k = 0; k < 9; k++) {
            values_of(c)[k] = c->frame.m[k % 3][k / 3];
        }
    }
    if (p != NULL) {
        close_in(p, random);
    }
    return p;
}

/// Of two contacts that close the second moves nothing.
static stn_problem *make_immovable(stn_arena *arena, random_stream *random) {
    problem_spec spec = touching(1, 0, 2);
    stn_problem *p = make(arena, random, &spec);
    if (p != NULL) {
        memset(values_of(&p->constraints[1]), 0, 18 * sizeof(double));
        close_in(p, random);
    }
    return p;
}

/// Two balls hold one point at two velocities; R = 0 leaves no compliance.
static stn_problem *make_disagreeing(stn_arena *arena, random_stream *random) {
    problem_spec spec = touching(1, 0, 3);
    stn_problem *p = make(arena, random, &spec);
    if (p == NULL) {
        return NULL;
    }
    p->explicit_R = true;
    put_at(p, 1, 2, false);
    for (int32_t i = 0; i < 3; i++) {
        stn_constraint *c = &p->constraints[i];
        for (int32_t r = c->row; r < c->row + 3; r++) {
            p->R[r] = i == 0 ? 1e-3 : 0.0;
            p->bias[r] = i == 2 ? 0.3 : 0.0;
        }
        if (i > 0) {
            c->kind = STN_CONSTRAINT_BALL;
            c->set = STN_SET_EQUALITY;
            c->mu1 = c->mu2 = c->restitution = c->dissipation = (double)NAN;
        }
    }
    return p;
}

// ---------------------------------------------------------------------------------------------------------- awkward

static stn_problem *make_rough(stn_arena *arena, random_stream *random) {
    problem_spec spec = touching(3, 1, 6);
    spec.mu_low = 1e6;
    spec.mu_high = 1e12;
    return make(arena, random, &spec);
}

/// One contact eight times, to the last digit.
static stn_problem *make_copies(stn_arena *arena, random_stream *random) {
    problem_spec spec = touching(1, 0, 8);
    stn_problem *p = make(arena, random, &spec);
    for (int32_t i = 1; p != NULL && i < 8; i++) {
        put_at(p, 0, i, false);
        p->constraints[i].mu1 = p->constraints[i].mu2 = p->constraints[0].mu1;
    }
    return p;
}

/// Contacts of opposite normals at one place, which leave no room and stand still: a body in a fitting slot.
static stn_problem *make_slot(stn_arena *arena, random_stream *random) {
    problem_spec spec = touching(1, 0, 4);
    stn_problem *p = make(arena, random, &spec);
    for (int32_t i = 0; p != NULL && i < 2; i++) {
        put_at(p, 2 * i, 2 * i + 1, true);
    }
    return p;
}

/// Velocities of 1e-15 m/s, impulses to match.
static stn_problem *make_slow(stn_arena *arena, random_stream *random) {
    problem_spec spec = touching(2, 1, 5);
    stn_problem *p = make(arena, random, &spec);
    for (int32_t d = 0; p != NULL && d < p->nv; d++) {
        p->v0[d] *= 1e-15;
        p->v_star[d] *= 1e-15;
        p->v_guess[d] *= 1e-15;
    }
    return p;
}

static stn_problem *make_unequal(stn_arena *arena, random_stream *random) {
    problem_spec spec = touching(4, 2, 8);
    spec.mass_decades = 6.0;
    return make(arena, random, &spec);
}

/// A is zero along one direction of a point: massless there, held by contacts alone.
static stn_problem *make_massless(stn_arena *arena, random_stream *random) {
    problem_spec spec = touching(1, 1, 4);
    stn_problem *p = make(arena, random, &spec);
    for (int32_t t = 0; p != NULL && t < p->tree_count; t++) {
        if (p->trees[t].A.form == STN_MATRIX_DIAGONAL) {
            p->trees[t].A.values[random_integer(random, 0, 2)] = 0.0;
        }
    }
    return p;
}

/// Impulses that are given (lo = hi), boxes without bounds, and plain ones.
static stn_problem *make_tight(stn_arena *arena, random_stream *random) {
    problem_spec spec = touching(2, 0, 0);
    spec.sets = BOX;
    spec.others = 8;
    stn_problem *p = make(arena, random, &spec);
    for (int32_t r = 0; p != NULL && r < p->row_count; r++) {
        int32_t kind = random_integer(random, 0, 2);
        double impulse = random_normal(random);
        p->lo[r] = kind == 0 ? impulse : kind == 1 ? -(double)INFINITY : p->lo[r];
        p->hi[r] = kind == 0 ? impulse : kind == 1 ? (double)INFINITY : p->hi[r];
    }
    return p;
}

const hard_problem hard_problems[] = {
    {"a body between walls that close", CONE, true, make_squeezed},
    {"two bodies between walls that close", CONE, true, make_stack_squeezed},
    {"a point wedged among planes that close", CONE, true, make_wedged},
    {"a wall that closes on what nothing moves", CONE, true, make_immovable},
    {"equalities that disagree", CONE | EQUALITY, true, make_disagreeing},
    {"mu of 1e6 and more", CONE, false, make_rough},
    {"one contact eight times", CONE, false, make_copies},
    {"opposite normals at one place", CONE, false, make_slot},
    {"velocities of 1e-15 m/s", CONE, false, make_slow},
    {"masses over twelve decades", CONE, false, make_unequal},
    {"a direction without mass", CONE, false, make_massless},
    {"boxes without room or bounds", BOX, false, make_tight},
};

const int32_t hard_problem_count = STN_COUNT(hard_problems);
