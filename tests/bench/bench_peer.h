// SPDX-License-Identifier: Apache-2.0
// What benchmarks beside other engines share: the power of a growth, and which engines are not there.
#ifndef STN_BENCH_PEER_H
#define STN_BENCH_PEER_H

#include <math.h>
#include <stdio.h>

/// Sums of the fit of log time over log count.
typedef struct fit {
    double n, x, y, xx, xy;
} fit;

static inline void fit_add(fit *f, double count, double time) {
    double x = log(count), y = log(time);
    f->n += 1.0;
    f->x += x;
    f->y += y;
    f->xx += x * x;
    f->xy += x * y;
}

static inline double fit_exponent(const fit *f) {
    return f->n > 1.0 ? (f->n * f->xy - f->x * f->y) / (f->n * f->xx - f->x * f->x) : (double)NAN;
}

static inline void print_missing_peers(void) {
#ifndef HAVE_BULLET
    printf("Bullet is left out: not installed (libbullet-dev)\n");
#endif
#ifndef HAVE_ODE
    printf("ODE is left out: not installed (libode-dev)\n");
#endif
#ifndef HAVE_MUJOCO
    printf("MuJoCo is left out: not installed (libmujoco-dev)\n");
#endif
}

#endif
