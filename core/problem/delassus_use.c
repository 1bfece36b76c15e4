// SPDX-License-Identifier: Apache-2.0
// Products with the Delassus operator, and the residual that impulse solvers share as a stopping test.
#include <stiction/delassus.h>

#include "problem/cone.h"
#include "problem/natural_map.h"

static void contact_mul_add(const double *restrict W, const double *restrict g, double *restrict y) {
    y[0] += W[0] * g[0] + W[1] * g[1] + W[2] * g[2];
    y[1] += W[3] * g[0] + W[4] * g[1] + W[5] * g[2];
    y[2] += W[6] * g[0] + W[7] * g[1] + W[8] * g[2];
}

void stn_delassus_row_mul_add(const stn_delassus *d, int32_t i, const double *gamma, double *y) {
    const stn_constraint *constraints = d->problem->constraints;
    int32_t rows = constraints[i].rows;
    for (int32_t e = d->row_start[i]; e < d->row_start[i + 1]; e++) {
        const stn_constraint *other = &constraints[d->column[e]];
        const double *W = d->values + d->offset[e], *g = gamma + other->row;
        if (rows == 3 && other->rows == 3) {
            contact_mul_add(W, g, y);
            continue;
        }
        for (int32_t r = 0; r < rows; r++, W += other->rows) {
            for (int32_t c = 0; c < other->rows; c++) {
                y[r] += W[c] * g[c];
            }
        }
    }
}

const double *stn_delassus_diagonal(const stn_delassus *d, int32_t i) {
    int32_t low = d->row_start[i], high = d->row_start[i + 1];
    while (high - low > 1) {
        int32_t middle = low + (high - low) / 2;
        if (d->column[middle] <= i) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return d->values + d->offset[low];
}

// g = W gamma + b - v_hat + R gamma of constraint i.
static void slack(const stn_delassus *d, int32_t i, const double *gamma, double *g) {
    const stn_problem *p = d->problem;
    const stn_constraint *c = &p->constraints[i];
    for (int32_t r = 0; r < c->rows; r++) {
        g[r] = d->b[c->row + r] - p->v_hat[c->row + r] + p->R[c->row + r] * gamma[c->row + r];
    }
    stn_delassus_row_mul_add(d, i, gamma, g);
}

double stn_delassus_residual(const stn_delassus *d, bool convex, const double *gamma) {
    const stn_problem *p = d->problem;
    double largest = 0.0;
    for (int32_t i = 0; i < d->n; i++) {
        const stn_constraint *c = &p->constraints[i];
        const double *W = stn_delassus_diagonal(d, i), *own = gamma + c->row;
        double g[STN_MAX_ROWS], trace = 0.0;
        slack(d, i, gamma, g);
        for (int32_t r = 0; r < c->rows; r++) {
            trace += W[r * (c->rows + 1)];
        }
        double omega = natural_map_omega(c->rows, trace);
        largest = worst(largest, has_cone(c) ? natural_map_cone(c, !convex, omega, own, g)
                                             : natural_map_box(c->rows, omega, p->lo + c->row, p->hi + c->row, own, g));
    }
    return sqrt(largest);
}
