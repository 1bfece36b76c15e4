// SPDX-License-Identifier: Apache-2.0
#include "law_subject.h"

#include <stdio.h>
#include <string.h>

static const double dt = 5e-3;

/// A point mass in the world's axes, and contacts that all see its velocity.
static stn_problem *make_problem(stn_arena *arena, random_stream *random) {
    static const double unit[9] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0};
    enum { ROWS = 3 * LAW_CONTACTS };
    stn_problem *p = STN_ARENA_ZEROED(arena, 1, stn_problem);
    double *reals = STN_ARENA_ZEROED(arena, 9 + 4 * 3 + 7 * ROWS, double);
    stn_problem_tree *tree = STN_ARENA_ZEROED(arena, 1, stn_problem_tree);
    stn_constraint *c = STN_ARENA_ZEROED(arena, LAW_CONTACTS, stn_constraint);
    if (p == NULL || reals == NULL || tree == NULL || c == NULL) {
        return NULL;
    }
    *p = (stn_problem){.form = STN_FORM_GLOBAL, .theta = 1.0, .dt = dt, .nv = 3, .tree_count = 1, .trees = tree};
    p->beta = p->sigma = p->stiction_tolerance = (double)NAN;
    *tree = (stn_problem_tree){.A = {.n = 3, .form = STN_MATRIX_DENSE, .values = reals}};
    double mass = pow(10.0, random_uniform(random, -1.0, 1.0));
    reals[0] = reals[4] = reals[8] = mass;
    double **of_dofs[] = {&p->v0, &p->v_star, &p->v_guess, &p->free_impulse};
    double **of_rows[] = {&p->bias, &p->lo, &p->hi, &p->R, &p->v_hat, &p->phi, &p->gamma_guess};
    reals += 9;
    for (int32_t i = 0; i < STN_COUNT(of_dofs); i++, reals += 3) {
        *of_dofs[i] = reals;
    }
    for (int32_t i = 0; i < STN_COUNT(of_rows); i++, reals += ROWS) {
        *of_rows[i] = reals;
    }
    p->constraints = c;
    p->constraint_count = LAW_CONTACTS;
    p->row_count = ROWS;
    for (int32_t i = 0; i < LAW_CONTACTS; i++) {
        c[i] = (stn_constraint){.id = (uint64_t)i + 1,
                                .kind = STN_CONSTRAINT_CONTACT,
                                .set = STN_SET_CONE,
                                .row = 3 * i,
                                .rows = 3,
                                .J = {{.tree = 0, .values = unit}, {.tree = -1}},
                                .gamma_n0 = (double)NAN,
                                .vn0 = (double)NAN,
                                .memory = i,
                                .body = {-1, -1},
                                .contact = -1,
                                .patch = -1,
                                .frame = stn_mat3_identity()};
    }
    return p;
}

static stn_status create(law_subject *s) {
    const validate_request *request = s->trial->request;
    stn_status status = stn_instance_create(s->context, STN_KIND_LAW, request->id, request->settings,
                                            request->setting_count, &s->instance, &s->error);
    status = status == STN_OK ? stn_inverse_create(s->context, &s->inverse, &s->error) : status;
    if (status != STN_OK) {
        return status;
    }
    s->ops = s->instance->desc->ops.law;
    size_t bytes = (size_t)s->instance->desc->memory_per_constraint;
    int32_t coefficients = s->ops->coefficient_count > 0 ? s->ops->coefficient_count : 1;
    s->arena = stn_arena_create(s->context);
    bool made = s->arena != NULL;
    made = made && (s->problem = make_problem(s->arena, &s->random)) != NULL;
    made = made && (s->batch.coefficients = STN_ARENA(s->arena, coefficients * LAW_STRIDE, double)) != NULL;
    made = made && (s->v_c = STN_ARENA_ZEROED(s->arena, 3 * LAW_STRIDE, double)) != NULL;
    made = made && (s->cost = STN_ARENA_ZEROED(s->arena, LAW_STRIDE, double)) != NULL;
    made = made && (s->gamma = STN_ARENA_ZEROED(s->arena, 3 * LAW_STRIDE, double)) != NULL;
    made = made && (s->G = STN_ARENA_ZEROED(s->arena, 6 * LAW_STRIDE, double)) != NULL;
    if (made && bytes > 0) {
        s->memory = stn_arena_zeroed(s->arena, LAW_CONTACTS, bytes);
        made = s->memory != NULL;
    }
    return made ? STN_OK : stn_fail(&s->error, STN_ERR_MEMORY, "out of memory");
}

bool law_begin(law_subject *s, validate_trial *trial) {
    const validate_request *request = trial->request;
    *s = (law_subject){.trial = trial, .context = request->context};
    s->random.state = stn_hash(request->seed, trial->check, strlen(trial->check)); // each check draws its own numbers
    if (create(s) != STN_OK) {
        trial_fail(trial, "cannot be made: %s", s->error.text);
        law_end(s);
        return false;
    }
    return true;
}

void law_end(law_subject *s) {
    stn_arena_destroy(s->arena);
    stn_inverse_destroy(s->inverse);
    stn_instance_destroy(s->instance);
}

// ------------------------------------------------------------------------------------------------------------- draw

void law_regularize(law_subject *s) {
    stn_problem_regularize(s->problem);
    if (s->ops->regularize != NULL) {
        s->ops->regularize(s->instance->self, s->problem);
    }
}

bool law_draw(law_subject *s) {
    random_stream *r = &s->random;
    stn_problem *p = s->problem;
    for (int32_t i = 0; i < LAW_CONTACTS; i++) {
        stn_constraint *c = &p->constraints[i];
        double size = pow(10.0, random_uniform(r, -6.0, -2.0));
        c->phi0 = stn_plugin_says(s->instance, "gap") || random_chance(r, 0.3) ? size : -size;
        c->stiffness = random_chance(r, 0.2) ? (double)INFINITY : pow(10.0, random_uniform(r, 2.0, 7.0));
        c->relaxation_time = random_uniform(r, 0.0, 2.0 * dt);
        c->dissipation = random_chance(r, 0.3) ? 0.0 : pow(10.0, random_uniform(r, -1.0, 2.0));
        c->mu1 = c->mu2 = random_uniform(r, 0.1, 1.5);
        bool ellipse = (s->ops->sets >> STN_SET_ELLIPSE & 1u) != 0 && random_chance(r, 0.5);
        c->set = ellipse ? STN_SET_ELLIPSE : STN_SET_CONE;
        c->mu2 *= ellipse ? random_uniform(r, 0.1, 3.0) : 1.0;
    }
    for (int32_t d = 0; d < 3; d++) {
        p->v0[d] = p->v_star[d] = 0.1 * random_normal(r);
    }
    stn_status status = stn_inverse_factor(s->inverse, p, &s->error);
    status = status == STN_OK ? stn_inverse_masses(s->inverse, p, s->arena, &s->error) : status;
    if (status != STN_OK) {
        trial_fail(s->trial, "the battery cannot make a problem: %s", s->error.text);
        return false;
    }
    law_regularize(s);
    return true;
}

void law_velocity(law_subject *s, int32_t i, double v[3]) {
    const stn_constraint *c = &s->problem->constraints[i];
    random_stream *r = &s->random;
    double slip = pow(10.0, random_uniform(r, -6.0, 0.5)), touch = -c->phi0 / dt;
    v[0] = slip * random_normal(r);
    v[1] = slip * random_normal(r);
    v[2] = touch + (0.1 * fabs(touch) + slip) * random_normal(r);
    if (s->ops->max_step == NULL) {
        return;
    }
    double start[3] = {0.0, 0.0, fmax(touch, 0.0) + 1.0}, step[3 * LAW_STRIDE] = {0.0};
    for (int32_t a = 0; a < 3; a++) {
        s->v_c[a * s->batch.stride] = start[a];
        step[a * s->batch.stride] = v[a] - start[a];
    }
    double alpha = fmin(1.0, 0.9 * s->ops->max_step(s->instance->self, &s->batch, s->v_c, step));
    for (int32_t a = 0; a < 3; a++) {
        v[a] = start[a] + alpha * (v[a] - start[a]);
    }
}

const char *law_words(const law_subject *s, int32_t i, const double v[3], char *text, size_t size) {
    const stn_constraint *c = &s->problem->constraints[i];
    snprintf(
        text, size,
        "phi0 = %.3g m, k = %.3g N/m, d = %.3g s/m, tau_d = %.3g s, mu = %.3g, %.3g, dt = %.3g s, v_c = (%.6g, %.6g, "
        "%.6g) m/s",
        c->phi0, c->stiffness, c->dissipation, c->relaxation_time, c->mu1, c->mu2, dt, v[0], v[1], v[2]);
    return text;
}

// --------------------------------------------------------------------------------------------------------- evaluate

stn_status law_prepare_batch(law_subject *s, int32_t first, int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        s->lane_constraint[i] = first + i;
    }
    s->batch.count = count;
    s->batch.stride = (count + STN_LANES - 1) / STN_LANES * STN_LANES;
    s->batch.constraint = s->lane_constraint;
    memset(s->batch.coefficients, 0xff, (size_t)(s->ops->coefficient_count * LAW_STRIDE) * sizeof(double)); // NaN
    s->error = (stn_error){STN_OK, ""};
    return s->ops->prepare(s->instance->self, s->problem, &s->batch, s->memory, &s->error);
}

bool law_choose(law_subject *s, int32_t i) {
    stn_status status = law_prepare_batch(s, i, 1);
    if (status != STN_OK) {
        double none[3] = {0.0};
        char words[320];
        trial_fail(s->trial, "prepare refuses an ordinary contact (%s): %s", law_words(s, i, none, words, sizeof words),
                   s->error.text);
    }
    return status == STN_OK;
}

law_answer law_at(law_subject *s, const double v[3]) {
    const int32_t stride = s->batch.stride;
    for (int32_t a = 0; a < 3; a++) {
        s->v_c[a * stride] = v[a];
    }
    s->ops->evaluate(s->instance->self, &s->batch, s->v_c, s->cost, s->gamma, s->G);
    const double *G = s->G;
    law_answer x = {
        s->cost[0],
        {s->gamma[0], s->gamma[stride], s->gamma[2 * stride]},
        {{G[0], G[stride], G[3 * stride]},
         {G[stride], G[2 * stride], G[4 * stride]},
         {G[3 * stride], G[4 * stride], G[5 * stride]}},
    };
    return x;
}
