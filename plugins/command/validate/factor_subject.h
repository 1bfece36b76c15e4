// SPDX-License-Identifier: Apache-2.0
// A factorisation under test, and block-sparse positive definite matrices for it.
#ifndef STICTION_COMMAND_VALIDATE_FACTOR_SUBJECT_H
#define STICTION_COMMAND_VALIDATE_FACTOR_SUBJECT_H

#include "random_stream.h"
#include "validate.h"

typedef struct factor_subject {
    validate_trial *trial;
    stn_context *context;
    stn_instance *instance;
    const stn_factor_ops *ops;
    stn_arena *arena; // of the matrix at hand
    random_stream random;
    stn_error error;
} factor_subject;

/// Which blocks of the lower triangle there are.
typedef enum factor_graph {
    FACTOR_DIAGONAL, // nothing but the diagonal
    FACTOR_CHAIN,    // each with the next
    FACTOR_RING,     // a chain that closes
    FACTOR_ARROW,    // all with the last
    FACTOR_STAR,     // all with the first: fill everywhere in the given order
    FACTOR_FULL,
    FACTOR_RANDOM, // each pair by chance
    FACTOR_GRAPH_COUNT
} factor_graph;

typedef struct factor_matrix {
    stn_block_matrix matrix;
    int32_t n;
    int32_t *size, *start, *column_start, *row; // of the pattern, writable
    int64_t *offset;
    double *dense; // (n x n) the same matrix, both triangles
} factor_matrix;

/// False decides the trial.
bool factor_begin(factor_subject *s, validate_trial *trial);
void factor_reset(factor_subject *s);
/// A matrix of `count` blocks of 1 to `most` rows with random values; the smallest eigenvalue is about the largest over
/// `condition`. NULL decides the trial.
factor_matrix *factor_make(factor_subject *s, factor_graph graph, int32_t count, int32_t most, double condition);
/// Other values on the same pattern.
void factor_fill(factor_subject *s, factor_matrix *m, double condition);
/// Backward error |A x - b| / (|A| |x| + |b|) of `columns` solutions, in largest components.
double factor_error(const factor_matrix *m, int32_t columns, const double *x, const double *b);
/// symbolic and numeric; false decides the trial.
bool factor_factor(factor_subject *s, const factor_matrix *m, void **factor);
/// Random right-hand sides in the arena, twice; NULL decides the trial.
double *factor_sides(factor_subject *s, const factor_matrix *m, int32_t columns, double **copy);

#endif
