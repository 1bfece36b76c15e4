// SPDX-License-Identifier: Apache-2.0
// Moduli and density of an elastic solid: what is allowed, and what is said of it.
#ifndef STICTION_ELEMENT_COMMON_ELASTIC_H
#define STICTION_ELEMENT_COMMON_ELASTIC_H

#include <stiction/context.h>

/// Young's modulus [Pa] > 0, Poisson's ratio [1] > -1 and < 0.5 (of a surface also 0.5), density [kg/m^3] >= 0.
typedef struct elastic {
    double young, poisson, density;
} elastic;

/// STN_ERR_ARGUMENT names the first value that is out of its range, and the range. A `solid` may not have a Poisson's
/// ratio of 0.5: it could not change its volume, and its stiffness would be infinite.
stn_status elastic_check(const elastic *e, bool solid, stn_error *err);

/// A value of one element: `own` where it is a number, else that of the instance.
static inline double elastic_own(double own, double of_instance) {
    return own == own ? own : of_instance; // NaN says: not given
}

/// Lame's moduli [Pa].
static inline void elastic_lame(const elastic *e, double *mu, double *lambda) {
    *mu = e->young / (2.0 * (1.0 + e->poisson));
    *lambda = e->young * e->poisson / ((1.0 + e->poisson) * (1.0 - 2.0 * e->poisson));
}

#endif
