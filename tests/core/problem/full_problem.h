// SPDX-License-Identifier: Apache-2.0
// A problem that uses every member: all kinds and sets, all matrix forms, infinities, unknown data, 64-bit ids.
#ifndef STN_FULL_PROBLEM_H
#define STN_FULL_PROBLEM_H

#include "sample_problem.h"

static const double full_unknown = NAN;

static inline void full_nodes(stn_jacobian *J) {
    for (int32_t b = 0; b < J->node_count; b++) {
        J->node[b] = b; // distinct
    }
}

static inline void full_constraint(stn_random *r, sample *s, int32_t i) {
    stn_problem *p = &s->problem;
    stn_constraint *c = &p->constraints[i];
    bool contact = c->set == STN_SET_CONE || c->set == STN_SET_ELLIPSE;
    c->id = random_bits(r);
    c->kind = contact ? STN_CONSTRAINT_CONTACT : (stn_constraint_kind)(1 + i % (STN_CONSTRAINT_KIND_COUNT - 1));
    full_nodes(&c->J[0]);
    full_nodes(&c->J[1]);
    for (int32_t k = 0; k < c->more_count; k++) {
        full_nodes(&s->more[i][k]);
    }
    c->phi0 = 0.01 * random_real(r);
    c->stiffness = i % 3 == 0 ? (double)INFINITY : 1e5 * (2.0 + random_real(r));
    c->relaxation_time = 0.01 * (2.0 + random_real(r));
    c->dissipation = i % 2 == 0 ? full_unknown : 10.0;
    c->mu1 = contact ? 0.5 + 0.25 * random_real(r) : full_unknown;
    c->mu2 = c->set == STN_SET_ELLIPSE ? 2.0 * c->mu1 : c->mu1;
    c->restitution = i % 4 == 0 ? 0.3 : full_unknown;
    c->w = i % 2 == 0 ? full_unknown : 1.0 / 3.0;
    c->w_trace = NAN;
    c->gamma_n0 = i % 5 == 0 ? 0.1 : full_unknown;
    c->vn0 = i % 5 == 1 ? -0.1 : full_unknown;
    c->memory = i;
    c->body[0] = i - 1;
    c->body[1] = i;
    c->contact = i;
    c->patch = i % 3 - 1;
    c->anchor[i % 2] = i % 3 == 0 ? 0.0 : 1e-8 / (i + 1); // 0 and 0: not in the file
    c->point = stn_vec3_make(random_real(r), random_real(r), NAN);
    for (int32_t k = 0; k < 9; k++) {
        c->frame.m[k / 3][k % 3] = random_real(r);
    }
}

static inline sample *full_sample(uint64_t seed) {
    sample *s = sample_mixed(seed);
    stn_problem *p = &s->problem;
    stn_random r = {seed + 1};
    p->name = "a \"quoted\"\\ name\n";
    p->velocity_kind = STN_VELOCITY_MID;
    p->theta = 0.1 + 0.2; // no short decimal
    p->sigma = 1e-3;
    p->free_impulse = sample_random_doubles(s, &r, (size_t)p->nv);
    for (int32_t i = 0; i < p->constraint_count; i++) {
        full_constraint(&r, s, i);
    }
    p->phi = sample_doubles(s, (size_t)p->row_count, full_unknown);
    for (int32_t k = 0; k < p->row_count; k++) {
        p->phi[k] = k % 3 == 0 ? full_unknown : 0.01 * random_real(&r);
        p->R[k] = k % 4 == 0 ? full_unknown : 1e-5;
        p->v_hat[k] = k % 4 == 1 ? full_unknown : random_real(&r);
        p->gamma_guess[k] = random_real(&r);
    }
    p->bias[1] = -0.0;
    p->bias[2] = 5e-324;
    p->lo[9] = -1.0 / 3.0; // the limit of the hinge
    p->hi[9] = 2.0;
    return s;
}

#endif
