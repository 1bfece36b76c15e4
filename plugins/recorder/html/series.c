// SPDX-License-Identifier: Apache-2.0
// A series block: numbers of every step as columns of byte planes, because the high bytes of neighbours are alike.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "html.h"

enum {
    CONTACTS,
    SLIPPING,
    SLIP,
    ITERATIONS,
    MOMENTUM,
    PENETRATION,
    OVERLAP,
    KINETIC,
    POTENTIAL,
    ELASTIC,
    CONTACT,
    STEP_US,
    ALWAYS
};
static const struct {
    const char *name, *unit;
} always[ALWAYS] = {
    [CONTACTS] = {"contacts", ""},     [SLIPPING] = {"slipping", ""},  [SLIP] = {"slip_speed_m/s", "m/s"},
    [ITERATIONS] = {"iterations", ""}, [MOMENTUM] = {"momentum", ""},  [PENETRATION] = {"penetration_m", "m"},
    [OVERLAP] = {"overlap_m", "m"},    [KINETIC] = {"kinetic_J", "J"}, [POTENTIAL] = {"potential_J", "J"},
    [ELASTIC] = {"elastic_J", "J"},    [CONTACT] = {"contact_J", "J"}, [STEP_US] = {"step_us", "us"},
};

/// One series more, without values so far.
static bool add_series(series_writer *w, const char *name) {
    if (w->series_count == w->capacity) {
        size_t old = (size_t)w->capacity, capacity = old > 0 ? 2 * old : ALWAYS;
        float *values =
            stn_reallocate(w->context, w->values, old * POINTS_IN_BLOCK, capacity * POINTS_IN_BLOCK, sizeof *values);
        w->values = values != NULL ? values : w->values;
        char **names = stn_reallocate(w->context, w->names, old, capacity, sizeof *names);
        w->names = names != NULL ? names : w->names;
        if (values == NULL || names == NULL) {
            return false;
        }
        w->capacity = (int32_t)capacity;
    }
    char *copy = name != NULL ? stn_duplicate_text(w->context, name) : NULL;
    if (name != NULL && copy == NULL) {
        return false;
    }
    for (int32_t i = 0; i < POINTS_IN_BLOCK; i++) {
        w->values[(size_t)w->series_count * POINTS_IN_BLOCK + (size_t)i] = NAN;
    }
    w->names[w->series_count++] = copy;
    return true;
}

/// As recorder/csv names its column: constraint[name].force, with its number where it has no name, or not alone.
static bool add_constraint(series_writer *w, const stn_model *model, int32_t constraint) {
    const char *name = model->constraints[constraint].name;
    int32_t same = 0;
    for (int32_t i = 0; i < model->constraint_count; i++) {
        same += strcmp(model->constraints[i].name, name) == 0;
    }
    char number[16] = "", text[200];
    if (name[0] == '\0' || same > 1) {
        snprintf(number, sizeof number, "%d", (int)constraint + 1);
    }
    bool both = name[0] != '\0' && number[0] != '\0';
    snprintf(text, sizeof text, "constraint[%s%s%s].force", number, both ? "/" : "", name);
    return add_series(w, text);
}

stn_status series_open(series_writer *w, const stn_model *model, stn_error *err) {
    *w = (series_writer){.context = model->context, .fixed = ALWAYS + model->constraint_count};
    for (int32_t i = 0; i < w->fixed; i++) {
        if (!(i < ALWAYS ? add_series(w, NULL) : add_constraint(w, model, i - ALWAYS))) {
            series_close(w);
            return stn_fail(err, STN_ERR_MEMORY, "out of memory for series");
        }
    }
    return STN_OK;
}

void series_close(series_writer *w) {
    if (w->context == NULL) {
        return;
    }
    for (int32_t i = 0; i < w->series_count; i++) {
        stn_release(w->context, w->names[i]);
    }
    stn_release(w->context, w->names);
    stn_release(w->context, w->values);
    *w = (series_writer){0};
}

static void set(series_writer *w, int32_t series, double value) {
    w->values[(size_t)series * POINTS_IN_BLOCK + (size_t)w->count] = (float)value;
}

/// Signals are numbered as they come, and mostly come in the same order.
static int32_t find_signal(const series_writer *w, const char *name, int32_t expected) {
    if (expected < w->series_count && strcmp(w->names[expected], name) == 0) {
        return expected;
    }
    for (int32_t i = w->fixed; i < w->series_count; i++) {
        if (strcmp(w->names[i], name) == 0) {
            return i;
        }
    }
    return -1;
}

stn_status series_add(series_writer *w, const stn_observation *o, const moment *m, stn_error *err) {
    for (int32_t s = 0; s < w->series_count; s++) {
        set(w, s, NAN);
    }
    // at the start there was no step to report of, only a state with its energies
    const stn_step_report *r = o->report;
    double values[ALWAYS] = {[KINETIC] = r->kinetic_J, [POTENTIAL] = r->potential_J, [ELASTIC] = r->elastic_J};
    const double none = (double)NAN;
    for (int32_t i = 0; i < m->touch_count; i++) {
        const touch *t = &m->touches[i];
        if ((t->state & ~TOUCH_IN_PATCH) == STN_CONTACT_SLIP) {
            values[SLIPPING] += 1.0;
            values[SLIP] = fmax(values[SLIP], t->slip_speed);
        }
    }
    if (o->problem == NULL) {
        values[SLIPPING] = values[SLIP] = none;
    }
    values[CONTACTS] = o->problem != NULL ? r->contact_count : none;
    values[CONTACT] = o->problem != NULL ? r->contact_J : none;
    values[ITERATIONS] = o->problem != NULL ? r->iterations : none;
    values[OVERLAP] = o->problem != NULL ? r->overlap_m : none;
    values[STEP_US] = o->problem != NULL ? r->step_us : none;
    values[MOMENTUM] = o->certificate != NULL ? o->certificate->momentum : none;
    values[PENETRATION] = o->certificate != NULL ? o->certificate->penetration_m : none;
    for (int32_t i = 0; i < ALWAYS; i++) {
        set(w, i, values[i]);
    }
    for (int32_t i = 0; i < o->model->constraint_count; i++) {
        set(w, ALWAYS + i, o->problem != NULL ? m->lines[i].force : none);
    }
    for (int32_t i = 0; i < o->signal_count; i++) {
        int32_t series = find_signal(w, o->signals[i].name, w->fixed + i);
        if (series < 0) {
            series = w->series_count;
            if (!add_series(w, o->signals[i].name)) {
                return stn_fail(err, STN_ERR_MEMORY, "out of memory for signal %s", o->signals[i].name);
            }
        }
        set(w, series, o->signals[i].value);
    }
    w->step[w->count] = o->step;
    w->time[w->count] = o->time;
    w->count++;
    return STN_OK;
}

void series_write(series_writer *w, bytes *out) {
    bytes_clear(out);
    bytes_put_u(out, (uint64_t)w->count);
    bytes_put_u(out, (uint64_t)w->series_count);
    for (int32_t s = 0; s < w->series_count; s++) {
        bytes_put_text(out, s < ALWAYS ? always[s].name : w->names[s]);
        bytes_put_text(out, s < ALWAYS ? always[s].unit : "");
    }
    int64_t last = 0;
    for (int32_t i = 0; i < w->count; i++) {
        bytes_put_u(out, (uint64_t)(w->step[i] - last));
        last = w->step[i];
    }
    bytes_put_planes(out, (const uint8_t *)w->time, w->count, sizeof *w->time);
    for (int32_t s = 0; s < w->series_count; s++) {
        bytes_put_planes(out, (const uint8_t *)(w->values + (size_t)s * POINTS_IN_BLOCK), w->count, sizeof *w->values);
    }
    w->count = 0;
}
