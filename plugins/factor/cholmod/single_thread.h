// SPDX-License-Identifier: Apache-2.0
// One thread inside of CHOLMOD: with no active level of parallelism allowed, OpenMP regions run on the thread that
// meets them. Built without OpenMP there is nothing to hold back.
#ifndef CHOLMOD_SINGLE_THREAD_H
#define CHOLMOD_SINGLE_THREAD_H

#ifdef _OPENMP
#include <omp.h>

/// Returns what single_thread_end puts back.
static inline int single_thread_begin(void) {
    int levels = omp_get_max_active_levels();
    omp_set_max_active_levels(0);
    return levels;
}
static inline void single_thread_end(int levels) {
    omp_set_max_active_levels(levels);
}
#else
static inline int single_thread_begin(void) {
    return 0;
}
static inline void single_thread_end(int levels) {
    (void)levels;
}
#endif

#endif
