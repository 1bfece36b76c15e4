// SPDX-License-Identifier: Apache-2.0
// See single_contacts.h.
#include <stiction/input.h>

#include "single_contacts.h"

#include <math.h>
#include <string.h>

#include "common/print.h"

enum { NAMES = 11, MOST_COLUMNS = 256, MOST_BYTES = 1 << 28, BATCHES = 5, BATCH = 16 };

static const char *const names[NAMES] = {"id", "mu", "Wxx", "Wxy", "Wxz", "Wyy", "Wyz", "Wzz", "cx", "cy", "cz"};

typedef struct contact {
    double id, mu, W[9], c[3];
} contact;

typedef struct table {
    const char *path;
    int32_t line;         // that is read
    int32_t columns;      // of the header
    int32_t place[NAMES]; // of each name
    int32_t count;
    contact *contacts;
} table;

// -------------------------------------------------------------------------------------------------------------- read

/// Cuts the next line off, without its end; NULL behind the last one.
static char *next_line(char **rest) {
    char *line = *rest;
    if (line == NULL || *line == '\0') {
        return NULL;
    }
    char *end = strchr(line, '\n');
    *rest = end != NULL ? end + 1 : NULL;
    size_t length = end != NULL ? (size_t)(end - line) : strlen(line);
    if (length > 0 && line[length - 1] == '\r') {
        length--;
    }
    line[length] = '\0';
    return line;
}

/// Cuts a line at its commas; returns how many fields there are, the first MOST_COLUMNS of them in `fields`.
static int32_t cut_fields(char *line, char *fields[MOST_COLUMNS]) {
    int32_t count = 0;
    for (char *at = line; at != NULL; count++) {
        char *comma = strchr(at, ',');
        if (comma != NULL) {
            *comma = '\0';
        }
        if (count < MOST_COLUMNS) {
            fields[count] = at;
        }
        at = comma != NULL ? comma + 1 : NULL;
    }
    return count;
}

static bool is_positive_definite(const double *W) {
    double minor = W[0] * W[4] - W[1] * W[1];
    double det =
        W[0] * (W[4] * W[8] - W[5] * W[5]) - W[1] * (W[1] * W[8] - W[5] * W[2]) + W[2] * (W[1] * W[5] - W[4] * W[2]);
    return W[0] > 0.0 && minor > 0.0 && det > 0.0;
}

static stn_status read_contact(const table *t, char *line, contact *out, stn_error *err) {
    char *fields[MOST_COLUMNS];
    double x[NAMES];
    int32_t count = cut_fields(line, fields);
    if (count != t->columns) {
        return stn_fail(err, STN_ERR_FILE, "%s:%d: %d fields, the header has %d", t->path, t->line, count, t->columns);
    }
    for (int32_t n = 0; n < NAMES; n++) {
        const char *text = fields[t->place[n]];
        if (!stn_parse_real(text, &x[n]) || !isfinite(x[n])) {
            return stn_fail(err, STN_ERR_FILE, "%s:%d: %s = '%.40s' must be a finite number", t->path, t->line,
                            names[n], text);
        }
    }
    *out = (contact){x[0], x[1], {x[2], x[3], x[4], x[3], x[5], x[6], x[4], x[6], x[7]}, {x[8], x[9], x[10]}};
    if (!(out->mu >= 0.0)) {
        return stn_fail(err, STN_ERR_FILE, "%s:%d: mu = %g must be >= 0", t->path, t->line, out->mu);
    }
    if (!is_positive_definite(out->W)) {
        return stn_fail(err, STN_ERR_FILE, "%s:%d: W must be positive definite", t->path, t->line);
    }
    return STN_OK;
}

static stn_status read_table(stn_context *context, char *text, table *t, stn_error *err) {
    size_t lines = 1;
    for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++) {
        lines++;
    }
    t->contacts = stn_allocate(context, lines, sizeof *t->contacts);
    if (t->contacts == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "%s: out of memory", t->path);
    }
    char *line = next_line(&text);
    if (line == NULL) {
        return stn_fail(err, STN_ERR_FILE, "%s:1: the file is empty", t->path);
    }
    char *fields[MOST_COLUMNS];
    t->columns = cut_fields(line, fields);
    if (t->columns > MOST_COLUMNS) {
        return stn_fail(err, STN_ERR_FILE, "%s:1: %d columns, at most %d are read", t->path, t->columns, MOST_COLUMNS);
    }
    for (int32_t n = 0; n < NAMES; n++) {
        t->place[n] = -1;
        for (int32_t k = 0; k < t->columns && t->place[n] < 0; k++) {
            t->place[n] = strcmp(fields[k], names[n]) == 0 ? k : -1;
        }
        if (t->place[n] < 0) {
            return stn_fail(
                err, STN_ERR_FILE,
                "%s:1: the header names no column '%s'; id, mu, Wxx, Wxy, Wxz, Wyy, Wyz, Wzz, cx, cy, cz are "
                "needed",
                t->path, names[n]);
        }
    }
    stn_status status = STN_OK;
    for (t->line = 2; status == STN_OK && (line = next_line(&text)) != NULL; t->line++) {
        if (line[0] != '\0') {
            status = read_contact(t, line, &t->contacts[t->count], err);
            t->count += status == STN_OK;
        }
    }
    return status;
}

// ------------------------------------------------------------------------------------------------------------- solve

/// The least time of a solve over some batches [ns].
static double solve_contact(const stn_instance *solver, const contact *c, double precision, double *l) {
    const stn_solver_ops *ops = solver->desc->ops.solver;
    double least = (double)INFINITY;
    for (int32_t batch = 0; batch < BATCHES; batch++) {
        double start = stn_clock_us();
        for (int32_t k = 0; k < BATCH; k++) {
            ops->solve_contact(solver->self, c->mu, c->W, c->c, precision, l);
        }
        least = fmin(least, 1e3 * (stn_clock_us() - start) / BATCH);
    }
    return least;
}

stn_status single_contacts_solve(stn_context *context, const char *path, const stn_instance *solver, double precision,
                                 stn_error *err) {
    const stn_solver_ops *ops = solver->desc->ops.solver;
    if (!STN_PLUGIN_HAS(ops, solve_contact)) {
        return stn_fail(err, STN_ERR_UNSUPPORTED, "%s: solver %s does not solve single contacts; bisection does", path,
                        solver->desc->id);
    }
    table t = {.path = path, .line = 1};
    char *text = NULL;
    size_t size = 0;
    stn_status status = stn_read_regular(context, path, 0, MOST_BYTES, &text, &size, err);
    if (status == STN_OK && strlen(text) != size) {
        status = stn_fail(err, STN_ERR_FILE, "%s: byte %zu is a character 0, expected text", path, strlen(text) + 1);
    }
    if (status == STN_OK) {
        status = read_table(context, text, &t, err);
    }
    for (int32_t i = 0; status == STN_OK && i < t.count; i++) {
        const contact *c = &t.contacts[i];
        double l[3], ns = solve_contact(solver, c, precision, l);
        bool sticks = hypot(l[0], l[1]) < c->mu * l[2] * (1.0 - 1e-12) || c->mu == 0.0;
        cJSON *json = cJSON_CreateObject();
        cJSON_AddNumberToObject(json, "id", c->id);
        cli_json_add_text(json, "kind", l[2] <= 0.0 ? "open" : sticks ? "stick" : "slip");
        cli_json_add_reals(json, "l", l, 3);
        cJSON_AddNumberToObject(json, "ns", round(ns));
        if (!cli_json_print(json, false)) {
            break; // stdout is gone, which main says
        }
    }
    stn_release(context, t.contacts);
    stn_release(context, text);
    return status;
}
