// SPDX-License-Identifier: Apache-2.0
// Writing problems and solutions in FCLIB's layout (fclib.h). The layout knows contacts with Coulomb friction and
// nothing else: a distance goes into w (or q) as phi0/(dt + tau_d), which makes
//     0 <= v_n + phi0/(dt + tau_d)  _|_  gamma_n >= 0
// of a rigid contact; what has no place refuses the problem.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/expand.h"
#include "fclib.h"

// ------------------------------------------------------------------------------------------------------ what is lost

static stn_status check_lost(const stn_problem *p, stn_error *err) {
    if (p->velocity_kind != STN_VELOCITY_END) {
        return stn_fail(err, STN_ERR_UNSUPPORTED, "FCLIB's layout cannot hold velocities of kind mid; write JSON");
    }
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const stn_constraint *c = &p->constraints[i];
        bool regularized = false;
        for (int32_t r = c->row; r < c->row + c->rows && p->explicit_R; r++) {
            regularized = regularized || p->R[r] != 0.0;
        }
        const char *what = c->kind != STN_CONSTRAINT_CONTACT ? stn_constraint_kind_name(c->kind)
                           : c->set != STN_SET_CONE          ? stn_constraint_set_name(c->set)
                           : isfinite(c->stiffness)          ? "a stiffness"
                           : regularized                     ? "a regularisation R"
                           : c->restitution > 0.0            ? "restitution"
                                                             : NULL;
        if (what != NULL) {
            return stn_fail(err, STN_ERR_UNSUPPORTED,
                            "FCLIB's layout cannot hold constraint %d (id %llu): %s; write JSON", i,
                            (unsigned long long)c->id, what);
        }
    }
    return STN_OK;
}

// ---------------------------------------------------------------------------------------------------------- matrices

/// Entries of a sparse matrix as they are found.
typedef struct entries {
    stn_context *context;
    int64_t *row, *column;
    double *x;
    int64_t count, capacity;
    bool failed;
} entries;

static void *grow(entries *e, void *memory, int64_t capacity) {
    void *more = stn_reallocate(e->context, memory, (size_t)e->count, (size_t)capacity, 8);
    e->failed = e->failed || more == NULL;
    return more != NULL ? more : memory;
}

static void add_entry(entries *e, int64_t row, int64_t column, double x) {
    if (x == 0.0 || e->failed) {
        return;
    }
    if (e->count == e->capacity) {
        int64_t capacity = 2 * e->capacity + 256;
        e->row = grow(e, e->row, capacity);
        e->column = grow(e, e->column, capacity);
        e->x = grow(e, e->x, capacity);
        e->capacity = e->failed ? e->capacity : capacity;
    }
    if (!e->failed) {
        e->row[e->count] = row;
        e->column[e->count] = column;
        e->x[e->count++] = x;
    }
}

static void put_integer(array_builder *b, const char *group, const char *name, int64_t value) {
    char path[ARRAY_WIRE_NAME_MAX];
    snprintf(path, sizeof path, "%s/%s", group, name);
    array_builder_add(b, path, ARRAY_WIRE_INTEGERS, &value, 1);
}

/// Row i here as the file counts them: the normal first.
static int32_t file_row(int32_t i) {
    return i % 3 == 2 ? i - 2 : i + 1;
}

// ------------------------------------------------------------------------------------------------------------ problem

typedef struct fclib_writer {
    const stn_problem *problem;
    array_builder builder;
    entries entries;
    double *work; // (nv + row_count)
} fclib_writer;

static void put_reals(fclib_writer *w, const char *path, const double *values, int64_t count) {
    array_builder_add(&w->builder, path, ARRAY_WIRE_REALS, values, (uint64_t)count);
}

/// As triplets: i holds rows, p columns. Empties the entries.
static void put_matrix(fclib_writer *w, const char *group, int64_t m, int64_t n) {
    char path[ARRAY_WIRE_NAME_MAX];
    entries *e = &w->entries;
    put_integer(&w->builder, group, "m", m);
    put_integer(&w->builder, group, "n", n);
    put_integer(&w->builder, group, "nz", e->count);
    put_integer(&w->builder, group, "nzmax", e->count);
    snprintf(path, sizeof path, "%s/i", group);
    array_builder_add(&w->builder, path, ARRAY_WIRE_INTEGERS, e->row, (uint64_t)e->count);
    snprintf(path, sizeof path, "%s/p", group);
    array_builder_add(&w->builder, path, ARRAY_WIRE_INTEGERS, e->column, (uint64_t)e->count);
    snprintf(path, sizeof path, "%s/x", group);
    put_reals(w, path, e->x, e->count);
    e->count = 0;
}

static void put_mu(fclib_writer *w, const char *path) {
    const stn_problem *p = w->problem;
    for (int32_t i = 0; i < p->constraint_count; i++) {
        w->work[i] = p->constraints[i].mu1;
    }
    put_reals(w, path, w->work, p->constraint_count);
}

/// With what is added to the contact velocity of a row so that its law acts on nothing else.
static void put_offsets(fclib_writer *w, const char *path, const double *own) {
    const stn_problem *p = w->problem;
    for (int32_t i = 0; i < p->row_count; i++) {
        const stn_constraint *c = &p->constraints[i / 3];
        double tau = isnan(c->relaxation_time) ? 0.0 : c->relaxation_time;
        double target = i == c->row + 2 && !isnan(c->phi0) ? c->phi0 / (p->dt + tau) : 0.0;
        w->work[file_row(i)] = own[i] + (p->explicit_R ? -p->v_hat[i] : target);
    }
    put_reals(w, path, w->work, p->row_count);
}

static void put_global(fclib_writer *w) {
    const stn_problem *p = w->problem;
    size_t bytes = (size_t)p->nv * sizeof(double);
    for (int32_t t = 0; t < p->tree_count; t++) {
        for (int32_t d = 0; d < p->trees[t].A.n; d++) {
            memset(w->work, 0, bytes);
            problem_mass_row(&p->trees[t], d, w->work);
            for (int32_t j = 0; j < p->nv; j++) {
                add_entry(&w->entries, p->trees[t].dof_start + d, j, w->work[j]);
            }
        }
    }
    put_integer(&w->builder, "fclib_global", "spacedim", 3);
    put_matrix(w, "fclib_global/M", p->nv, p->nv);
    for (int32_t i = 0; i < p->row_count; i++) {
        const stn_constraint *c = &p->constraints[i / 3];
        memset(w->work, 0, bytes);
        problem_jacobian_row(p, c, i - c->row, w->work);
        for (int32_t j = 0; j < p->nv; j++) {
            add_entry(&w->entries, j, file_row(i), w->work[j]);
        }
    }
    put_matrix(w, "fclib_global/H", p->nv, p->row_count);
    stn_problem_mass_times(p, p->v_star, NULL, w->work);
    for (int32_t j = 0; j < p->nv; j++) {
        w->work[j] += p->free_impulse != NULL ? p->free_impulse[j] : 0.0;
    }
    put_reals(w, "fclib_global/vectors/f", w->work, p->nv);
    put_offsets(w, "fclib_global/vectors/w", p->bias);
    put_mu(w, "fclib_global/vectors/mu");
}

static void put_local(fclib_writer *w) {
    const stn_problem *p = w->problem;
    int64_t rows = p->row_count, bilateral = p->bilateral_count;
    put_integer(&w->builder, "fclib_local", "spacedim", 3);
    for (int32_t i = 0; i < rows; i++) {
        for (int32_t j = 0; j < rows; j++) {
            add_entry(&w->entries, file_row(i), file_row(j), p->W[i * rows + j]);
        }
    }
    put_matrix(w, "fclib_local/W", rows, rows);
    for (int32_t i = 0; i < rows; i++) {
        for (int64_t k = 0; k < bilateral; k++) {
            add_entry(&w->entries, file_row(i), k, p->V[i * bilateral + k]);
        }
    }
    if (bilateral > 0) {
        put_matrix(w, "fclib_local/V", rows, bilateral);
        for (int64_t k = 0; k < bilateral * bilateral; k++) {
            add_entry(&w->entries, k / bilateral, k % bilateral, p->R_bilateral[k]);
        }
        put_matrix(w, "fclib_local/R", bilateral, bilateral);
        put_reals(w, "fclib_local/vectors/s", p->s, bilateral);
    }
    put_offsets(w, "fclib_local/vectors/q", p->q);
    put_mu(w, "fclib_local/vectors/mu");
}

stn_status fclib_write(const stn_problem_sink *sink, const stn_problem *problem, stn_error *err) {
    stn_context *context = sink->context;
    bool local = problem->form == STN_FORM_LOCAL;
    stn_status status = check_lost(problem, err);
    if (status != STN_OK) {
        return status;
    }
    fclib_writer w = {.problem = problem, .builder = {.context = context}, .entries = {.context = context}};
    w.work = stn_allocate(context, (size_t)problem->nv + (size_t)problem->row_count, sizeof *w.work);
    if (w.work == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    (local ? put_local : put_global)(&w);
    const char *path = local ? "fclib_local/info/title" : "fclib_global/info/title";
    const char *name = w.problem->name;
    if (name != NULL && name[0] != '\0') {
        array_builder_add(&w.builder, path, ARRAY_WIRE_LETTERS, name, strlen(name) + 1);
    }
    w.builder.failed = w.builder.failed || w.entries.failed;
    status = array_builder_write(&w.builder, sink, err);
    stn_release(context, w.entries.row);
    stn_release(context, w.entries.column);
    stn_release(context, w.entries.x);
    stn_release(context, w.work);
    return status;
}

// ----------------------------------------------------------------------------------------------------------- solution

stn_status fclib_write_solution(const stn_problem_sink *sink, const stn_problem_result *result, stn_error *err) {
    const stn_problem *p = result->problem;
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const stn_constraint *c = &p->constraints[i];
        if (c->set != STN_SET_CONE) {
            return stn_fail(err, STN_ERR_UNSUPPORTED, "FCLIB's layout cannot hold constraint %d: %s; write JSON", i,
                            stn_constraint_set_name(c->set));
        }
    }
    size_t rows = (size_t)p->row_count;
    double *file = stn_allocate(sink->context, 2 * rows, sizeof *file);
    if (file == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    for (int32_t i = 0; i < p->row_count; i++) {
        file[file_row(i)] = result->gamma[i];
        file[rows + (size_t)file_row(i)] = result->v_c[i];
    }
    array_builder b = {.context = sink->context};
    array_builder_add(&b, "solution/r", ARRAY_WIRE_REALS, file, rows);
    array_builder_add(&b, "solution/u", ARRAY_WIRE_REALS, file + rows, rows);
    stn_release(sink->context, file);
    return array_builder_write(&b, sink, err);
}
