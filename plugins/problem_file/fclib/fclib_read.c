// SPDX-License-Identifier: Apache-2.0
// Reading a problem in FCLIB's layout; see fclib.h.
#include "fclib.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const double symmetric_enough = 1e-9; // what stn_problem_check takes for round-off

void fclib_fail(fclib_reader *r, const char *name, const char *format, ...) {
    if (r->status != STN_OK) {
        return;
    }
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    r->status = stn_fail(r->err, STN_ERR_PARSE, "%s: %s/%s: %s", r->path, r->group, name, text);
}

void *fclib_allocate(fclib_reader *r, int64_t count, size_t size) {
    if (r->status != STN_OK) {
        return NULL;
    }
    void *memory = stn_arena_zeroed(r->arena, (size_t)count, size);
    if (memory == NULL) {
        r->status = stn_fail(r->err, STN_ERR_MEMORY, "%s: out of memory", r->path);
    }
    return memory;
}

static const array_item *find_array(const fclib_reader *r, const char *name) {
    char path[ARRAY_WIRE_NAME_MAX];
    snprintf(path, sizeof path, "%s/%s", r->group, name);
    return array_file_find(r->file, path);
}

int32_t fclib_integer(fclib_reader *r, const char *name, int64_t low, int64_t high) {
    const array_item *item = find_array(r, name);
    if (item == NULL || item->type != ARRAY_WIRE_INTEGERS || item->count != 1) {
        fclib_fail(r, name, "%s", item == NULL ? "is missing" : "must be one integer");
        return 0;
    }
    int64_t value = array_item_integer(item, 0);
    if (value < low || value > high) {
        fclib_fail(r, name, "is %lld, must be from %lld to %lld", (long long)value, (long long)low, (long long)high);
        return 0;
    }
    return (int32_t)value;
}

double *fclib_vector(fclib_reader *r, const char *name, int64_t count, const char *why) {
    char path[64];
    snprintf(path, sizeof path, "vectors/%s", name);
    const array_item *item = find_array(r, path);
    if (item == NULL || item->type == ARRAY_WIRE_LETTERS || item->count != (uint64_t)count) {
        fclib_fail(r, path,
                   item == NULL ? "is missing, expected %lld numbers (%s)" : "expected %lld numbers (%s), it has %llu",
                   (long long)count, why, item != NULL ? (unsigned long long)item->count : 0ULL);
    }
    double *values = fclib_allocate(r, count, sizeof *values);
    for (int64_t i = 0; i < count && r->status == STN_OK; i++) {
        values[i] = array_item_real(item, (uint64_t)i);
        if (!isfinite(values[i])) {
            fclib_fail(r, path, "[%lld] is %g, must be finite", (long long)i, values[i]);
        }
    }
    return values;
}

// ---------------------------------------------------------------------------------------------------------- contacts

/// Contacts know neither distance nor compliance: W and q, or H, f and w hold all there is. In the global form convex
/// laws need some: touching and rigid.
static void fill_contact(stn_constraint *c, int32_t i, double mu, bool local) {
    double unknown = (double)NAN;
    *c = (stn_constraint){
        .id = (uint64_t)i,
        .kind = STN_CONSTRAINT_CONTACT,
        .set = STN_SET_CONE,
        .row = 3 * i,
        .rows = 3,
        .J = {{.tree = -1}, {.tree = -1}},
        .phi0 = local ? unknown : 0.0,
        .stiffness = local ? unknown : (double)INFINITY,
        .relaxation_time = local ? unknown : 0.0,
        .dissipation = unknown,
        .mu1 = mu,
        .mu2 = mu,
        .restitution = unknown,
        .w = unknown,
        .w_trace = unknown,
        .gamma_n0 = unknown,
        .vn0 = unknown,
        .memory = -1,
        .body = {-1, -1},
        .contact = -1,
        .patch = -1,
        .point = {unknown, unknown, unknown},
    };
    for (int32_t k = 0; k < 9; k++) {
        c->frame.m[k / 3][k % 3] = unknown;
    }
}

static void read_contacts(fclib_reader *r, stn_problem *p) {
    const array_item *given = find_array(r, "vectors/mu");
    int64_t count = given != NULL ? (int64_t)given->count : -1;
    if (count > FCLIB_MAX_NUMBERS / 64) {
        fclib_fail(r, "vectors/mu", "%lld contacts are too many", (long long)count);
    }
    const double *mu = fclib_vector(r, "mu", count < 0 ? 0 : count, "one for each contact");
    for (int64_t i = 0; i < count && r->status == STN_OK; i++) {
        if (mu[i] < 0.0) {
            fclib_fail(r, "vectors/mu", "[%lld] is %g, must be >= 0", (long long)i, mu[i]);
        }
    }
    p->constraint_count = (int32_t)count;
    p->row_count = 3 * p->constraint_count;
    p->constraints = fclib_allocate(r, count, sizeof *p->constraints);
    double **rows[] = {&p->bias, &p->lo, &p->hi, &p->R, &p->v_hat, &p->gamma_guess};
    for (int32_t k = 0; k < STN_COUNT(rows); k++) {
        *rows[k] = fclib_allocate(r, p->row_count, sizeof(double));
    }
    for (int32_t i = 0; i < p->constraint_count && r->status == STN_OK; i++) {
        fill_contact(&p->constraints[i], i, mu[i], p->form == STN_FORM_LOCAL);
    }
    for (int32_t i = 0; i < p->row_count && r->status == STN_OK; i++) {
        p->lo[i] = -(double)INFINITY;
        p->hi[i] = (double)INFINITY;
        p->R[i] = p->v_hat[i] = (double)NAN;
    }
}

// ------------------------------------------------------------------------------------------------------------- local

void fclib_judge_definite(fclib_reader *r, const char *name, stn_problem *p) {
    stn_matrix W = {.n = p->row_count, .form = STN_MATRIX_DENSE, .values = p->W};
    stn_error reason = {STN_OK, ""};
    if (r->status == STN_OK && !p->general_W && stn_matrix_check(r->context, "W", &W, &reason) != STN_OK) {
        p->general_W = true;
        stn_log(r->context, STN_LOG_WARNING, "%s: %s/%s: %s; it is taken as it is, by its writer's round-off or not",
                r->path, r->group, name, reason.text);
    }
}

static void read_local(fclib_reader *r, stn_problem *p) {
    fclib_matrix W;
    int64_t rows = p->row_count;
    fclib_read_matrix(r, "W", false, &W);
    if (r->status == STN_OK && (W.m != rows || W.n != rows)) {
        fclib_fail(r, "W", "is %d x %d, but %d friction coefficients make %lld rows", W.m, W.n, p->constraint_count,
                   (long long)rows);
    }
    if (rows * rows > FCLIB_MAX_NUMBERS) {
        fclib_fail(r, "W", "a W of %lld rows is not read, at most 8192", (long long)rows);
    }
    const double *q = fclib_vector(r, "q", rows, "rows of W");
    p->W = fclib_allocate(r, rows * rows, sizeof(double));
    p->q = fclib_allocate(r, rows, sizeof(double));
    for (int64_t k = 0; k < W.count && r->status == STN_OK; k++) {
        p->W[fclib_row(W.row[k]) * rows + fclib_row(W.column[k])] += W.x[k];
    }
    for (int32_t i = 0; i < rows && r->status == STN_OK; i++) {
        p->q[fclib_row(i)] = q[i];
    }
    if (r->status == STN_OK) {
        p->general_W = fclib_asymmetry(r, &W) > symmetric_enough;
        fclib_judge_definite(r, "W", p);
    }
    fclib_matrix V, R; // V, R and s: rows that pull as well as push
    if (!fclib_read_matrix(r, "V", true, &V) || V.n == 0) {
        return;
    }
    fclib_read_matrix(r, "R", false, &R);
    if (r->status == STN_OK &&
        (V.m != p->row_count || R.m != V.n || R.n != V.n || (int64_t)V.n * V.n > FCLIB_MAX_NUMBERS)) {
        fclib_fail(r, "V",
                   "V is %d x %d and R %d x %d: V must have the %d rows of W, R as many as V has columns, at most 8192",
                   V.m, V.n, R.m, R.n, p->row_count);
    }
    p->bilateral_count = V.n;
    p->s = fclib_vector(r, "s", V.n, "columns of V");
    p->V = fclib_allocate(r, rows * V.n, sizeof(double));
    p->R_bilateral = fclib_allocate(r, (int64_t)V.n * V.n, sizeof(double));
    for (int64_t k = 0; k < V.count && r->status == STN_OK; k++) {
        p->V[(int64_t)fclib_row(V.row[k]) * V.n + V.column[k]] += V.x[k];
    }
    for (int64_t k = 0; k < R.count && r->status == STN_OK; k++) {
        p->R_bilateral[(int64_t)R.row[k] * V.n + R.column[k]] += R.x[k];
    }
}

// -------------------------------------------------------------------------------------------------------------- file

stn_status fclib_read_arrays(stn_context *context, stn_arena *arena, const char *path, const array_file *file,
                             stn_problem *problem, stn_error *err) {
    static const char *const groups[] = {"fclib_local", "fclib_global", "fclib_global_rolling"};
    fclib_reader r = {.context = context, .arena = arena, .path = path, .file = file, .err = err};
    for (int32_t g = 0; g < STN_COUNT(groups) && r.group == NULL; g++) {
        char name[64];
        snprintf(name, sizeof name, "%s/spacedim", groups[g]);
        r.group = array_file_find(file, name) != NULL ? groups[g] : NULL;
    }
    if (r.group == NULL) {
        return stn_fail(err, STN_ERR_PARSE,
                        "%s: neither fclib_local/spacedim nor fclib_global/spacedim: no FCLIB problem", path);
    }
    int32_t dimension = fclib_integer(&r, "spacedim", 1, 16);
    if (strcmp(r.group, "fclib_global_rolling") == 0 || dimension == 5) {
        fclib_fail(&r, "spacedim", "rolling friction is not read");
    } else if (dimension != 3) {
        fclib_fail(&r, "spacedim", "is %d: only problems in 3 dimensions are read", dimension);
    }
    *problem = (stn_problem){.form = strcmp(r.group, "fclib_local") == 0 ? STN_FORM_LOCAL : STN_FORM_GLOBAL,
                             .velocity_kind = STN_VELOCITY_END,
                             .theta = 1.0,
                             .dt = 1.0, // the layout has none
                             .beta = (double)NAN,
                             .sigma = (double)NAN,
                             .stiction_tolerance = (double)NAN};
    const array_item *title = find_array(&r, "info/title");
    if (title != NULL && title->type == ARRAY_WIRE_LETTERS) {
        size_t length = 0; // up to the terminator, of printable letters
        while (length < title->count && title->values[length] >= ' ' && title->values[length] <= '~') {
            length++;
        }
        char *name = fclib_allocate(&r, (int64_t)length + 1, 1);
        problem->name = name != NULL ? memcpy(name, title->values, length) : NULL;
    }
    read_contacts(&r, problem);
    (problem->form == STN_FORM_LOCAL ? read_local : fclib_read_global)(&r, problem);
    return r.status;
}

stn_status fclib_read(const stn_problem_source *source, stn_problem *problem, stn_error *err) {
    stn_context *context = source->context;
    array_file *file = stn_allocate(context, 1, sizeof *file);
    if (file == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "%s: out of memory", source->path);
    }
    stn_status status = array_file_unpack(context, source->bytes, source->size, file, err);
    if (status != STN_OK) {
        stn_error_prefix(err, "%s", source->path);
    } else {
        status = fclib_read_arrays(context, source->arena, source->path, file, problem, err);
    }
    array_file_clear(file);
    stn_release(context, file);
    return status;
}
