// SPDX-License-Identifier: Apache-2.0
// A law under test: contacts of a point mass with random physical data, and evaluation one at a time or as a batch.
#ifndef STICTION_COMMAND_VALIDATE_LAW_SUBJECT_H
#define STICTION_COMMAND_VALIDATE_LAW_SUBJECT_H

#include <stiction/plugin.h>

#include "problem_make.h"
#include "validate.h"

enum { LAW_CONTACTS = 13, LAW_STRIDE = 16 };

/// Cost, impulse (t1, t2, n) and Hessian of one contact.
typedef struct law_answer {
    double cost, gamma[3], G[3][3];
} law_answer;

typedef struct law_subject {
    validate_trial *trial;
    stn_context *context;
    stn_instance *instance;
    const stn_law_ops *ops;
    stn_inverse *inverse;
    stn_arena *arena;
    stn_problem *problem; // LAW_CONTACTS cones, J = 1 each
    random_stream random;
    int32_t lane_constraint[LAW_CONTACTS];
    stn_law_batch batch;
    unsigned char *memory; // one slot a constraint; NULL without
    double *v_c, *cost, *gamma, *G;
    int32_t pulls; // impulses with gamma_n < 0, of law_work
    stn_error error;
} law_subject;

/// Makes the law and its contacts. False: the trial is decided.
bool law_begin(law_subject *s, validate_trial *trial);
void law_end(law_subject *s);
/// New physical data for every contact: w, R and v_hat as before a solve.
bool law_draw(law_subject *s);
/// R and v_hat again, after a change of the data.
void law_regularize(law_subject *s);
/// Prepares a batch of `count` contacts from `first` on, its coefficients poisoned before; the status of prepare.
stn_status law_prepare_batch(law_subject *s, int32_t first, int32_t count);
/// Prepares contact i alone. False: the trial is decided.
bool law_choose(law_subject *s, int32_t i);
/// The chosen contact at a velocity.
law_answer law_at(law_subject *s, const double v[3]);
/// A random velocity of contact i near which the law changes; drawn back into where the law is defined.
void law_velocity(law_subject *s, int32_t i, double v[3]);
/// "contact: phi0 = ..., at v_c = ..." for a failure's text.
const char *law_words(const law_subject *s, int32_t i, const double v[3], char *text, size_t size);

#endif
