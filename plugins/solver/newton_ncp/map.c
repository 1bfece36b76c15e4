// SPDX-License-Identifier: Apache-2.0
// See map.h.
#include "map.h"

#include <math.h>
#include <string.h>

double map_value(const map_point *at, double *F) {
    const packed_row *row = at->row;
    const double rho = at->rho, *lo = at->lo, *hi = at->hi, *x = at->x, *g = at->g;
    double square = 0.0;
    if (row->cone) {
        double y[3] = {x[0] - rho * g[0], x[1] - rho * g[1], x[2] - rho * g[2]};
        y[2] = y[2] > 0.0 ? y[2] : 0.0;
        double length = sqrt(y[0] * y[0] + y[1] * y[1]), radius = row->mu * y[2];
        double scale = length > radius ? radius / length : 1.0;
        F[0] = x[0] - scale * y[0];
        F[1] = x[1] - scale * y[1];
        F[2] = x[2] - y[2];
        return F[0] * F[0] + F[1] * F[1] + F[2] * F[2];
    }
    for (int32_t r = 0; r < row->rows; r++) {
        double y = x[r] - rho * g[r];
        F[r] = y < lo[r] ? x[r] - lo[r] : (y > hi[r] ? x[r] - hi[r] : rho * g[r]);
        square += F[r] * F[r];
    }
    return square;
}

bool map_slope(const map_point *at, double *D) {
    const packed_row *row = at->row;
    const double rho = at->rho, *lo = at->lo, *hi = at->hi, *x = at->x, *g = at->g;
    memset(D, 0, (size_t)(row->rows * row->rows) * sizeof *D);
    if (row->cone) {
        double y[3] = {x[0] - rho * g[0], x[1] - rho * g[1], x[2] - rho * g[2]};
        if (!(y[2] > 0.0)) {
            return false;
        }
        D[8] = 1.0;
        double length = sqrt(y[0] * y[0] + y[1] * y[1]), radius = row->mu * y[2];
        if (length <= radius && row->mu > 0.0) {
            D[0] = D[4] = 1.0;
            return true;
        }
        if (length > 0.0) { // slides: mu n along d
            double d[2] = {y[0] / length, y[1] / length}, share = radius / length;
            D[0] = share * (1.0 - d[0] * d[0]);
            D[1] = D[3] = -share * d[0] * d[1];
            D[4] = share * (1.0 - d[1] * d[1]);
            D[2] = row->mu * d[0];
            D[5] = row->mu * d[1];
        }
        return true;
    }
    bool any = false;
    for (int32_t r = 0; r < row->rows; r++) {
        double y = x[r] - rho * g[r];
        bool inside = y >= lo[r] && y <= hi[r] && hi[r] > lo[r];
        D[r * (row->rows + 1)] = inside ? 1.0 : 0.0;
        any = any || inside;
    }
    return any;
}
