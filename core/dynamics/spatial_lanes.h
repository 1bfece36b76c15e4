// SPDX-License-Identifier: Apache-2.0
// Vectors of space in the first three of four lanes; what the fourth holds does not matter unless stated. Only kernel
// files include this.
#ifndef STICTION_CORE_DYNAMICS_SPATIAL_LANES_H
#define STICTION_CORE_DYNAMICS_SPATIAL_LANES_H

#include <stiction/math.h>

#include "base/vector.h"

ALWAYS part4 load4(const double *x) {
    return *(const part4 *)x;
}
ALWAYS void store4(double *x, part4 v) {
    *(part4 *)x = v;
}
/// Three doubles and not more.
ALWAYS void store3(double *x, part4 v) {
    *(part2 *)x = __builtin_shufflevector(v, v, 0, 1);
    x[2] = v[2];
}
ALWAYS part4 spread(double x) {
    return (part4){x, x, x, x};
}
/// The first three lanes of a, the fourth of b.
ALWAYS part4 join(part4 a, part4 b) {
    return __builtin_shufflevector(a, b, 0, 1, 2, 7);
}
/// (y, z, x).
ALWAYS part4 cycled(part4 a) {
    return __builtin_shufflevector(a, a, 1, 2, 0, 3);
}
/// A vector whose cycled form is a x b: sums of products are cycled only once.
ALWAYS part4 cross_back(part4 a, part4 b) {
    return a * cycled(b) - cycled(a) * b;
}
ALWAYS part4 cross(part4 a, part4 b) {
    return cycled(cross_back(a, b));
}

/// Angular and linear part.
typedef struct pair {
    part4 angular, linear;
} pair;

/// Reads one double behind the six: the arrays of a kinematics object have room.
ALWAYS pair load_spatial(const stn_spatial *s) {
    const double *x = (const double *)s;
    pair r = {load4(x), load4(x + 3)};
    return r;
}
ALWAYS void store_spatial(stn_spatial *s, part4 angular, part4 linear) {
    double *x = (double *)s;
    store4(x, angular); // its fourth lane is overwritten
    store3(x + 3, linear);
}

#endif
