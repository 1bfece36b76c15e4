// SPDX-License-Identifier: Apache-2.0
#include <time.h>

#include <stiction/base.h>

double stn_clock_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}
