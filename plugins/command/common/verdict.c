// SPDX-License-Identifier: Apache-2.0
#include "common/verdict.h"

#include <math.h>
#include <stdio.h>

static const struct {
    const char *name, *unit;
    double limit;
} kinds[STN_FIGURE_COUNT] = {
    [STN_FIGURE_ENERGY] = {"energy", "J", 0.1}, [STN_FIGURE_OVERLAP] = {"overlap", "m", 0.25},
    [STN_FIGURE_MOVE] = {"move", "m", 1.0},     [STN_FIGURE_DISTANCE] = {"distance", "m", 100.0},
    [STN_FIGURE_CLAIM] = {"claim", "1", 1.0},   [STN_FIGURE_INVERTED] = {"inverted", "1", 0.0},
};

const char *stn_figure_name(stn_figure_kind kind) {
    return kinds[kind].name;
}

const char *stn_figure_unit(stn_figure_kind kind) {
    return kinds[kind].unit;
}

double stn_figure_limit(stn_figure_kind kind) {
    return kinds[kind].limit;
}

void stn_figure_merge(stn_figure *worst, const stn_figure *other) {
    if (!(other->ratio <= worst->ratio)) { // NaN is kept
        *worst = *other;
    }
}

void stn_figure_describe(const stn_figure *f, stn_figure_kind kind, char *text, size_t size) {
    switch (kind) {
    case STN_FIGURE_ENERGY:
        snprintf(text, size, "energy rose by %.3g J at t = %.4g s, %.0f %% of what moved", f->value, f->time,
                 100.0 * f->ratio);
        return;
    case STN_FIGURE_OVERLAP:
        snprintf(text, size, "%s were %.3g m inside each other at t = %.4g s", f->what, f->value, f->time);
        return;
    case STN_FIGURE_MOVE:
        snprintf(text, size, "%s went %.3g m within a step at t = %.4g s, %.3g times its size", f->what, f->value,
                 f->time, f->ratio);
        return;
    case STN_FIGURE_CLAIM:
        snprintf(text, size, "the solver %s, at t = %.4g s", f->what, f->time);
        return;
    case STN_FIGURE_INVERTED:
        snprintf(text, size, "%.0f element%s inside out at t = %.4g s, %s among them", f->value,
                 f->value == 1.0 ? " was" : "s were", f->time, f->what);
        return;
    default:
        snprintf(text, size, "%s was %.4g m off the scene at t = %.4g s, %.3g times its size", f->what, f->value,
                 f->time, f->ratio);
    }
}
