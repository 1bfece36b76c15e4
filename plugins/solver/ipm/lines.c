// SPDX-License-Identifier: Apache-2.0
// Rows with bounds. One of them has few, all of them or none: limits of joints, motors, ties.
#include <math.h>

#include "system.h"

/// A row whose bounds leave nothing between them: x stays there.
static bool is_fixed(const ipm_lines *l, int32_t i) {
    return !(l->hi[i] - l->lo[i] > 0.0);
}

/// x > 0 on the central path x s = centre with x - s/omega = y.
static double central(double y, double omega, double centre) {
    double four = 4.0 * centre / omega, root = 0.5 * (fabs(y) + sqrt(y * y + four));
    return y > 0.0 ? root : 0.25 * four / root;
}

void ipm_lines_begin(const ipm_lines *l, double centre) {
    for (int32_t i = 0; i < l->count; i++) {
        double lo = l->lo[i], hi = l->hi[i], omega = l->omega[i], half = 0.5 * (hi - lo);
        bool low = lo > -(double)INFINITY, high = hi < (double)INFINITY;
        double x = fmin(fmax(l->gamma[i], lo), hi);
        l->low[i] = l->high[i] = -1.0;
        l->x[i] = x;
        if (is_fixed(l, i) || (!low && !high)) {
            continue;
        }
        double y = x - (l->u[i] + l->R[i] * x) / omega, from_low = low ? y - lo : (double)INFINITY;
        double from_high = high ? hi - y : (double)INFINITY;
        x = from_low <= from_high ? lo + fmin(central(from_low, omega, centre), half)
                                  : hi - fmin(central(from_high, omega, centre), half);
        l->x[i] = x;
        // next to a bound x itself has no digits of its distance
        l->above[i] = from_low <= from_high ? fmin(central(from_low, omega, centre), half) : x - lo;
        l->below[i] = from_low <= from_high ? hi - x : fmin(central(from_high, omega, centre), half);
        l->low[i] = low ? centre / l->above[i] : -1.0;
        l->high[i] = high ? centre / l->below[i] : -1.0;
    }
}

void ipm_lines_impulses(const ipm_lines *l) {
    for (int32_t i = 0; i < l->count; i++) {
        l->gamma[i] = l->x[i];
    }
}

void ipm_lines_scale(const ipm_lines *l, ipm_gap *gap) {
    for (int32_t i = 0; i < l->count; i++) {
        double slope = l->R[i] + IPM_LEAST * l->omega[i], g = l->u[i] + l->R[i] * l->x[i];
        l->residual[i] = -g;
        if (l->low[i] >= 0.0) {
            double room = l->above[i];
            slope += l->low[i] / room;
            l->residual[i] += l->low[i];
            gap->sum += l->low[i] * room;
            gap->degree++;
        }
        if (l->high[i] >= 0.0) {
            double room = l->below[i];
            slope += l->high[i] / room;
            l->residual[i] -= l->high[i];
            gap->sum += l->high[i] * room;
            gap->degree++;
        }
        l->G[i] = is_fixed(l, i) ? 0.0 : 1.0 / slope;
    }
}

/// What complementarity of a slack and its room is to gain, over the room.
static double gain(double slack, double room, double dslack, double droom, bool corrected, double centre) {
    return (-slack * room + (corrected ? centre - dslack * droom : 0.0)) / room;
}

void ipm_lines_aim(const ipm_lines *l, bool corrected, double centre) {
    for (int32_t i = 0; i < l->count; i++) {
        double low = 0.0, high = 0.0;
        if (l->low[i] >= 0.0) {
            low = gain(l->low[i], l->above[i], l->dlow[i], l->dx[i], corrected, centre);
        }
        if (l->high[i] >= 0.0) {
            high = gain(l->high[i], l->below[i], l->dhigh[i], -l->dx[i], corrected, centre);
        }
        l->gain_low[i] = low;
        l->gain_high[i] = high;
        l->gamma[i] = l->G[i] * (low - high + l->residual[i]);
    }
}

double ipm_lines_step(const ipm_lines *l, bool more) {
    double largest = 0.0;
    for (int32_t i = 0; i < l->count; i++) {
        double right = more ? 0.0 : l->gain_low[i] - l->gain_high[i] + l->residual[i],
               dx = l->G[i] * (right - l->du[i]);
        l->dx[i] = l->gamma[i] = more ? l->dx[i] + dx : dx;
        if (l->low[i] >= 0.0) {
            double room = l->above[i];
            l->dlow[i] = l->gain_low[i] - l->low[i] / room * l->dx[i];
            largest = fmax(largest, fmax(-l->dx[i] / room, -l->dlow[i] / l->low[i]));
        }
        if (l->high[i] >= 0.0) {
            double room = l->below[i];
            l->dhigh[i] = l->gain_high[i] + l->high[i] / room * l->dx[i];
            largest = fmax(largest, fmax(l->dx[i] / room, -l->dhigh[i] / l->high[i]));
        }
    }
    return largest;
}

void ipm_lines_move(const ipm_lines *l, double step) {
    for (int32_t i = 0; i < l->count; i++) {
        l->x[i] += step * l->dx[i];
        l->above[i] += step * l->dx[i];
        l->below[i] -= step * l->dx[i];
        l->low[i] += l->low[i] >= 0.0 ? step * l->dlow[i] : 0.0;
        l->high[i] += l->high[i] >= 0.0 ? step * l->dhigh[i] : 0.0;
    }
}
