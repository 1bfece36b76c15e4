// SPDX-License-Identifier: Apache-2.0
// Coulomb's law and bounds as an equation F = 0 for each constraint, and an element of its generalised Jacobian.
//
//     F(x, g) = x - S(x - rho g)
//
// S of a cone: the normal on n >= 0, then the tangents on the disc mu n [alart-curnier-1991]; of a row with bounds:
// clamped.
#ifndef NEWTON_NCP_MAP_H
#define NEWTON_NCP_MAP_H

#include "common/packed.h"

/// Where F of a constraint is asked for; the arrays are its own.
typedef struct map_point {
    const packed_row *row;
    double rho;
    const double *lo, *hi, *x;
    double g[STN_MAX_ROWS];
} map_point;

/// F (rows). Returns |F|^2.
double map_value(const map_point *at, double *F);
/// D (rows x rows, row-major) = dS there. False: it is zero, the constraint is open.
bool map_slope(const map_point *at, double *D);

#endif
