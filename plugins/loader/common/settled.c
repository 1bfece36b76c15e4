// SPDX-License-Identifier: Apache-2.0
// Numbers x of a rotation matrix or a unit vector T. Reading x gives T' = h(x), which differs from T by round-off, and
// writing T' gives numbers of its own: without care every further saving would move the last digits. So numbers are
// rounded to steps of 2e-15, more coarsely than round-off moves them, or are exactly those of quarter turns; and
//   T <- h(x),  x <- write(T)
// is repeated until x comes back; of the numbers in the circle, most often one, the smallest is written. A file that
// was written this way is written the same again.
#include <string.h>

#include "parts.h"

enum { MOST_NUMBERS = 4, MOST_ENTRIES = 9, ROUNDS = 24 };

typedef struct chart {
    int32_t numbers, entries;
    void (*write)(const double *target, double *x);
    void (*read)(const double *x, double *target);
} chart;

/// Steps of 2e-15: four times what round-off moves an angle, so that it comes back to the same step.
static const double GRID = 5e14;

static double round_to(double x, double grid) {
    return nearbyint(x * grid) / grid;
}

/// Quarter turns keep all their digits; half a turn back is half a turn forward.
static double round_angle(double x, double grid) {
    double quarters = nearbyint(x / (0.5 * STN_PI)) * (0.5 * STN_PI);
    quarters = quarters == -STN_PI ? STN_PI : quarters;
    x = x < 1.0 / grid - STN_PI ? STN_PI : x;
    return fabs(x - quarters) <= 1.0 / grid ? quarters : round_to(x, grid);
}

static int32_t compare(const double *a, const double *b, int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        if (a[i] != b[i]) {
            return a[i] < b[i] ? -1 : 1;
        }
    }
    return 0;
}

static void settle(const chart *c, const double *target, double *out) {
    double x[ROUNDS][MOST_NUMBERS], at[MOST_ENTRIES];
    int32_t again = -1, last = -1; // x[last] = x[again]
    memcpy(at, target, (size_t)c->entries * sizeof *at);
    for (int32_t k = 0; k < ROUNDS && again < 0; k++) {
        c->write(at, x[k]);
        c->read(x[k], at);
        for (last = k, again = k - 1; again >= 0 && compare(x[again], x[k], c->numbers) != 0;) {
            again--;
        }
    }
    int32_t best = last;
    for (int32_t k = again; again >= 0 && k < last; k++) {
        best = compare(x[k], x[best], c->numbers) < 0 ? k : best;
    }
    memcpy(out, x[best], (size_t)c->numbers * sizeof *out);
}

// ---------------------------------------------------------------------------------------------------------- charts

/// R = Rz(yaw) Ry(pitch) Rx(roll). The nearer the pitch is to 90 degrees the less is the roll known, and the yaw
/// follows it: the roll is rounded to what is known, and the second column without the roll is (-sin yaw, cos yaw, 0).
static void write_rpy(const double *r, double *rpy) {
    double upright = hypot(r[7], r[8]); // cosine of the pitch
    double steps = fmax(2.0 * GRID * upright, 1.0), decade = pow(10.0, floor(log10(steps)));
    steps = decade * (steps >= 5.0 * decade ? 5.0 : steps >= 2.0 * decade ? 2.0 : 1.0); // of 1, 2, 5, 10, 20, ...
    double known = fmin(GRID, steps);
    rpy[0] = upright > 1e-15 ? round_angle(atan2(r[7], r[8]), known) : 0.0;
    rpy[1] = round_angle(atan2(-r[6], upright), GRID);
    double c = cos(rpy[0]), s = sin(rpy[0]);
    rpy[2] = round_angle(atan2(s * r[2] - c * r[1], c * r[4] - s * r[5]), GRID);
}

static void read_rpy(const double *rpy, double *r) {
    stn_mat3 m = stn_mat3_from_rpy(rpy[0], rpy[1], rpy[2]);
    memcpy(r, m.m, sizeof m.m);
}

/// Relative to the largest number, as readers normalise: a quarter turn about z is 1 0 0 1. The first number that is
/// not zero is positive.
static void write_quaternion(const double *r, double *wxyz) {
    stn_mat3 m;
    memcpy(m.m, r, sizeof m.m);
    stn_quat q = stn_quat_from_matrix(&m);
    const double numbers[4] = {q.w, q.x, q.y, q.z};
    double largest = fmax(fmax(fabs(q.w), fabs(q.x)), fmax(fabs(q.y), fabs(q.z))), sign = 0.0;
    for (int32_t i = 0; i < 4; i++) {
        double part = round_to(numbers[i] / largest, GRID);
        sign = sign == 0.0 && part != 0.0 ? copysign(1.0, part) : sign;
        wxyz[i] = sign * part;
    }
}

static void read_quaternion(const double *wxyz, double *r) {
    stn_quat q = {wxyz[0], wxyz[1], wxyz[2], wxyz[3]};
    stn_mat3 m = stn_quat_matrix(stn_quat_normalize(q));
    memcpy(r, m.m, sizeof m.m);
}

static void write_axis(const double *unit, double *xyz) {
    for (int32_t i = 0; i < 3; i++) {
        xyz[i] = round_to(unit[i], GRID);
    }
}

static void read_axis(const double *xyz, double *unit) {
    stn_vec3 once = stn_vec3_normalize_or(stn_vec3_make(xyz[0], xyz[1], xyz[2]), stn_vec3_zero());
    stn_vec3 twice = stn_vec3_normalize_or(once, stn_vec3_zero());
    const double numbers[3] = {twice.x, twice.y, twice.z};
    memcpy(unit, numbers, sizeof numbers);
}

void robot_settle_rpy(const stn_mat3 *rotation, double rpy[3]) {
    static const chart angles = {3, 9, write_rpy, read_rpy};
    settle(&angles, &rotation->m[0][0], rpy);
}

void robot_settle_quaternion(const stn_mat3 *rotation, double wxyz[4]) {
    static const chart quaternions = {4, 9, write_quaternion, read_quaternion};
    settle(&quaternions, &rotation->m[0][0], wxyz);
}

void robot_settle_axis(stn_vec3 axis, double xyz[3]) {
    static const chart directions = {3, 3, write_axis, read_axis};
    const double unit[3] = {axis.x, axis.y, axis.z};
    settle(&directions, unit, xyz);
}

void robot_settle_colour(const float rgba[4], double out[4]) {
    for (int32_t i = 0; i < 4; i++) {
        double scale = 1.0;
        out[i] = (double)rgba[i];
        for (int32_t decimals = 0; decimals <= 9; decimals++, scale *= 10.0) {
            double rounded = nearbyint((double)rgba[i] * scale) / scale;
            if ((float)rounded == rgba[i]) {
                out[i] = rounded;
                break;
            }
        }
    }
}
