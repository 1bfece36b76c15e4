// SPDX-License-Identifier: Apache-2.0
// The clocks of benchmarks and what is made of their times: medians, and, of calls that take microseconds or less, the
// best of many short batches, because other load on the machine only ever adds.
#ifndef BENCH_TIME_H
#define BENCH_TIME_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BENCH_BATCHES = 300, BENCH_BATCH_US = 300 };

static inline double clock_us(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static inline double now_us(void) {
    return clock_us(CLOCK_MONOTONIC);
}

/// Of this thread alone: what else the machine does is not counted. A call costs 0.3 us.
static inline double thread_us(void) {
    return clock_us(CLOCK_THREAD_CPUTIME_ID);
}

static inline int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/// Sorts them; NaN of none.
static inline double quantile(double *x, int32_t count, double fraction) {
    qsort(x, (size_t)count, sizeof *x, ascending);
    int32_t at = (int32_t)(fraction * count);
    return count > 0 ? x[at < count ? at : count - 1] : (double)NAN;
}

/// Sorts them.
static inline double median(double *x, int32_t count) {
    return quantile(x, count, 0.5);
}

static inline double time_of(void (*run)(void *), void *subject, int32_t rounds) {
    double start = now_us();
    for (int32_t k = 0; k < rounds; k++) {
        run(subject);
    }
    return (now_us() - start) / rounds;
}

/// Time of one call [us].
static inline double best_time(void (*run)(void *), void *subject) {
    double best = time_of(run, subject, 1000);
    int32_t rounds = 1 + (int32_t)(BENCH_BATCH_US / best);
    for (int32_t i = 0; i < BENCH_BATCHES; i++) {
        double time = time_of(run, subject, rounds);
        best = time < best ? time : best;
    }
    return best;
}

/// The processor's name, where Linux says it.
static inline void print_processor(void) {
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, "model name", 10) == 0 && strchr(line, ':') != NULL) {
            printf("%s", strchr(line, ':') + 2);
            break;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
}

#endif
