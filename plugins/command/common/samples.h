// SPDX-License-Identifier: Apache-2.0
// Figures of every step of a run in bounded memory: count, sum and maximum of all of them, and the figures themselves
// of at most STN_SAMPLES_MOST steps, from which median and percentiles are read. Up to that many steps all are kept.
//
// Beyond, every 2^level steps that follow each other are a block, of which one step is kept, as a hash picks it: what
// repeats itself with the steps meets no rhythm. The share of steps below the value that is read as a quantile q is off
// by the error of a stratified sample, whose standard deviation is at most sqrt(q (1 - q)/kept): with 32,768 to 65,536
// kept 0.05 % points for the 99th percentile, 0.3 for the median. The choice depends on nothing but the number of a
// step.
#ifndef STICTION_COMMAND_SAMPLES_H
#define STICTION_COMMAND_SAMPLES_H

#include <stiction/context.h>

enum { STN_SAMPLES_MOST = 1 << 16 };

typedef struct stn_samples {
    int32_t columns; // figures of a step; set before the first
    int64_t steps;   // that were added
    int32_t level, kept, capacity;
    double *values;            // (kept x columns)
    double *count, *sum, *max; // (columns) of the figures that are no NaN; max: -inf without any
} stn_samples;

/// Adds the figures of a step. False: out of memory; nothing is added.
bool stn_samples_add(stn_context *context, stn_samples *samples, const double *row);
/// The number of the step that row `kept` is of.
int64_t stn_samples_step(const stn_samples *samples, int32_t kept);
void stn_samples_clear(stn_context *context, stn_samples *samples);

#endif
