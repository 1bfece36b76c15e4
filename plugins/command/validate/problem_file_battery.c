// SPDX-License-Identifier: Apache-2.0
// What every format of contact problem files must do: what it writes it reads as the same problem, whatever else the
// bytes are gives a problem that passes the check or one line, and nothing is kept. A format that cannot hold a problem
// says so.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <stiction/delassus.h>

#include "file_subject.h"
#include "problem_make.h"

enum { SAMPLES = 7, MOST_BYTES = 1 << 26 };
static const double same = 1e-9; // of the largest, for formats that do not keep every bit

typedef struct subject {
    validate_trial *trial;
    random_stream random;
    stn_instance *instance;
    const stn_problem_file_ops *ops;
    file_heap heap;
    stn_context *context; // on that heap
    stn_arena *arena;     // of the samples
    char path[128];
} subject;

/// A text that grows.
typedef struct text {
    char *bytes;
    size_t size, capacity;
} text;

static void end(subject *s) {
    stn_arena_destroy(s->arena);
    stn_context_destroy(s->context);
    stn_instance_destroy(s->instance);
}

static bool begin(subject *s, validate_trial *trial) {
    *s = (subject){.trial = trial};
    s->random.state = stn_hash(trial->request->seed, trial->check, strlen(trial->check));
    s->instance = trial_instance(trial, STN_KIND_PROBLEM_FILE);
    if (s->instance == NULL) {
        return false;
    }
    s->ops = s->instance->desc->ops.problem_file;
    s->context = file_context(&s->heap);
    s->arena = stn_arena_create(trial->request->context);
    if (s->context == NULL || s->arena == NULL) {
        trial_fail(trial, "out of memory");
        end(s);
        return false;
    }
    snprintf(s->path, sizeof s->path, "%s/problem.%.40s", trial->folder, s->ops->extensions[0]);
    return true;
}

static bool can_write(const subject *s) {
    return STN_PLUGIN_HAS(s->ops, write) && STN_PLUGIN_HAS(s->ops, formats);
}

// ------------------------------------------------------------------------------------------------------------ samples

/// Everything, twice; soft cones; rigid cones without nodes, the same to be made local; no constraint; rigid cones.
/// NULL: out of memory.
static stn_problem *sample(subject *s, int32_t i) {
    const uint32_t cones = 1u << STN_SET_CONE, all = (1u << STN_SET_COUNT) - 1;
    problem_spec spec = problem_spec_plain(i < 2 ? all : cones);
    spec.arms = i < 2 ? spec.arms : 0;
    spec.clouds = i == 3 || i == 4 ? 0 : spec.clouds;
    spec.others = i < 2 ? spec.others : 0;
    spec.cables = i < 2 ? 2 : 0;
    spec.rigid = i >= 3 ? 1.0 : spec.rigid;
    spec.bias = i >= 2 ? 0.0 : spec.bias;
    spec.contacts = i == 5 ? 0 : spec.contacts;
    stn_problem *p = problem_make(s->arena, &spec, &s->random);
    if (p == NULL) {
        return NULL;
    }
    p->name = i % 2 == 0 ? "a problem of the battery" : NULL;
    for (int32_t k = 0; k < p->row_count; k++) { // to be derived
        p->R[k] = p->v_hat[k] = (double)NAN;
    }
    for (int32_t k = 0; k < p->constraint_count; k++) {
        p->constraints[k].w = p->constraints[k].w_trace = (double)NAN;
    }
    return p;
}

/// Sample 4 in the local form, which its owner holds.
static const stn_problem *in_local_form(subject *s, const stn_problem *p, stn_problem_owner **owner) {
    stn_error err = {STN_OK, ""};
    if (stn_problem_local(s->trial->request->context, p, owner, &err) != STN_OK) {
        trial_fail(s->trial, "the battery cannot make a local problem: %s", err.text);
        return NULL;
    }
    return stn_problem_of(*owner);
}

// ---------------------------------------------------------------------------------------------------- bytes both ways

static void take(const stn_problem_sink *sink, const void *bytes, size_t size) {
    text *t = sink->user;
    if (size > MOST_BYTES - t->size) {
        return;
    }
    if (size > t->capacity - t->size) {
        size_t capacity = 2 * (t->size + size) + 4096;
        char *more = realloc(t->bytes, capacity);
        if (more == NULL) {
            return;
        }
        t->bytes = more;
        t->capacity = capacity;
    }
    if (size > 0) {
        memcpy(t->bytes + t->size, bytes, size);
        t->size += size;
    }
}

/// Writes into `out`, to be freed. A refusal must have a reason and nothing put; nothing may be left.
static stn_status write_problem(subject *s, const stn_problem *p, const char *format, text *out) {
    stn_error err = {STN_OK, ""};
    int64_t before = s->heap.live;
    *out = (text){NULL, 0, 0};
    const stn_problem_sink sink = {.context = s->context, .path = s->path, .format = format, .put = take, .user = out};
    stn_status status = s->ops->write(s->instance->self, &sink, p, &err);
    if (status < 0 && (status != STN_ERR_UNSUPPORTED || err.text[0] == '\0' || strchr(err.text, '\n') != NULL)) {
        trial_fail(s->trial, "%s: %s, \"%.200s\", expected one line and %s", format, stn_status_text(status), err.text,
                   stn_status_text(STN_ERR_UNSUPPORTED));
    } else if (status < 0 && out->size > 0) {
        trial_fail(s->trial, "%s: refused, but %zu bytes were put", format, out->size);
    } else if (status > 0 || (status == STN_OK && out->size == 0)) {
        trial_fail(s->trial, "%s: status %d and %zu bytes", format, (int)status, out->size);
    } else if (s->heap.live != before) {
        trial_fail(s->trial, "%s: %lld pieces of memory are left", format, (long long)(s->heap.live - before));
    }
    return status;
}

/// Reads into `arena`. A refusal is one line, what is read passes the check or is refused by it in one line; besides
/// the arena nothing may be left.
static stn_status read_problem(subject *s, const char *bytes, size_t size, const char *what, stn_arena *arena,
                               stn_problem *out) {
    stn_error err = {STN_OK, ""};
    char *copy = file_copy(bytes, size);
    if (copy == NULL) {
        trial_fail(s->trial, "out of memory");
        return STN_ERR_MEMORY;
    }
    const stn_problem_source source = {
        .context = s->context, .arena = arena, .path = s->path, .bytes = copy, .size = size};
    *out = (stn_problem){0};
    stn_status status = s->ops->read(s->instance->self, &source, out, &err);
    if (size > 0 && memcmp(copy, bytes, size) != 0) {
        trial_fail(s->trial, "%.60s: the bytes of the file were changed", what);
    } else if (status > STN_OK) {
        trial_fail(s->trial, "%.60s: a status that reading does not have", what);
    } else if (status < 0) {
        file_check_refusal(s->trial, what, s->path, status, &err);
    } else if (stn_problem_check(s->context, out, &err) != STN_OK && strchr(err.text, '\n') != NULL) {
        trial_fail(s->trial, "%.60s: \"%.200s\", expected one line", what, err.text);
    }
    free(copy);
    return status;
}

/// The same, and lets it go. Was there a problem?
static bool try_bytes(subject *s, const char *bytes, size_t size, const char *what) {
    int64_t before = s->heap.live;
    stn_arena *arena = stn_arena_create(s->context);
    stn_problem problem;
    if (arena == NULL) {
        trial_fail(s->trial, "out of memory");
        return false;
    }
    bool good = read_problem(s, bytes, size, what, arena, &problem) == STN_OK;
    stn_arena_destroy(arena);
    if (s->heap.live != before && !s->trial->decided) {
        trial_fail(s->trial, "%.60s: %lld pieces of memory are left", what, (long long)(s->heap.live - before));
    }
    return good;
}

// --------------------------------------------------------------------------------------------------- the same problem

static bool same_real(double a, double b) {
    return (isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof a) == 0;
}

static bool same_reals(const double *a, const double *b, int64_t count) {
    bool good = (a == NULL) == (b == NULL) || count == 0;
    for (int64_t i = 0; i < count && a != NULL && b != NULL && good; i++) {
        good = same_real(a[i], b[i]);
    }
    return good;
}

/// No array says NaN everywhere.
static bool same_errors(const double *a, const double *b, int64_t count) {
    bool good = true;
    for (int64_t i = 0; i < count && good; i++) {
        good = same_real(a != NULL ? a[i] : (double)NAN, b != NULL ? b[i] : (double)NAN);
    }
    return good;
}

static bool same_integers(const int32_t *a, const int32_t *b, int64_t count) {
    return count <= 0 || (a != NULL && b != NULL && memcmp(a, b, (size_t)count * sizeof *a) == 0);
}

static bool same_matrix(const stn_matrix *a, const stn_matrix *b) {
    if (a->n != b->n || a->form != b->form || a->node_count != b->node_count || a->node_size != b->node_size) {
        return false;
    }
    if (a->form == STN_MATRIX_NODAL && a->node_count > 0 &&
        (!same_integers(a->row_start, b->row_start, (int64_t)a->node_count + 1) ||
         !same_integers(a->column, b->column, a->row_start[a->node_count]))) {
        return false;
    }
    return a->form == STN_MATRIX_ZERO || same_reals(a->values, b->values, stn_matrix_value_count(a));
}

static bool same_jacobian(const stn_problem *p, const stn_constraint *c, const stn_jacobian *a, const stn_jacobian *b) {
    if (a->tree != b->tree || a->tree < 0) {
        return a->tree == b->tree;
    }
    return a->node_count == b->node_count && (a->node_count == 0 || a->node_size == b->node_size) &&
           same_integers(a->node, b->node, a->node_count) &&
           same_reals(a->values, b->values, (int64_t)c->rows * stn_jacobian_columns(p, a));
}

/// The first member of a constraint that differs, NULL: none.
static const char *constraint_difference(const stn_problem *p, const stn_constraint *a, const stn_constraint *b) {
    const struct {
        const char *name;
        double a, b;
    } reals[] = {{"phi0", a->phi0, b->phi0},
                 {"stiffness", a->stiffness, b->stiffness},
                 {"relaxation_time", a->relaxation_time, b->relaxation_time},
                 {"dissipation", a->dissipation, b->dissipation},
                 {"mu1", a->mu1, b->mu1},
                 {"mu2", a->mu2, b->mu2},
                 {"restitution", a->restitution, b->restitution},
                 {"w", a->w, b->w},
                 {"w_trace", a->w_trace, b->w_trace},
                 {"gamma_n0", a->gamma_n0, b->gamma_n0},
                 {"vn0", a->vn0, b->vn0},
                 {"point", a->point.x, b->point.x},
                 {"anchor", a->anchor[0], b->anchor[0]}};
    if (a->id != b->id || a->kind != b->kind || a->set != b->set || a->row != b->row || a->rows != b->rows) {
        return "id, kind, set or rows";
    }
    for (int32_t i = 0; i < STN_COUNT(reals); i++) {
        if (!same_real(reals[i].a, reals[i].b)) {
            return reals[i].name;
        }
    }
    if (a->memory != b->memory || a->contact != b->contact || a->patch != b->patch ||
        !same_integers(a->body, b->body, 2) || !same_reals(&a->frame.m[0][0], &b->frame.m[0][0], 9)) {
        return "memory, body, contact, patch or frame";
    }
    if (p->form == STN_FORM_LOCAL) {
        return NULL;
    }
    if (a->more_count != b->more_count) {
        return "more_count";
    }
    bool equal = true;
    for (int32_t k = 0; k < stn_constraint_block_count(a); k++) {
        equal = equal && same_jacobian(p, a, stn_constraint_block(a, k), stn_constraint_block(b, k));
    }
    return equal ? NULL : "J";
}

/// The first member that differs in any bit, NULL: none.
static const char *difference(const stn_problem *a, const stn_problem *b) {
    int64_t rows = a->row_count, local = a->form == STN_FORM_LOCAL ? rows : 0;
    if (a->form != b->form || a->velocity_kind != b->velocity_kind || a->nv != b->nv ||
        a->tree_count != b->tree_count || a->constraint_count != b->constraint_count || rows != b->row_count ||
        a->explicit_R != b->explicit_R || a->general_W != b->general_W || a->bilateral_count != b->bilateral_count) {
        return "form, kind or counts";
    }
    if ((a->name == NULL) != (b->name == NULL) || (a->name != NULL && strcmp(a->name, b->name) != 0)) {
        return "name";
    }
    const double scalars[2][5] = {{a->theta, a->dt, a->beta, a->sigma, a->stiction_tolerance},
                                  {b->theta, b->dt, b->beta, b->sigma, b->stiction_tolerance}};
    if (!same_reals(scalars[0], scalars[1], 5)) {
        return "theta, dt, beta, sigma or stiction_tolerance";
    }
    const struct {
        const char *name;
        const double *a, *b;
        int64_t count;
    } vectors[] = {{"v0", a->v0, b->v0, a->nv},
                   {"v_star", a->v_star, b->v_star, a->nv},
                   {"v_guess", a->v_guess, b->v_guess, a->nv},
                   {"free_impulse", a->free_impulse, b->free_impulse, a->nv},
                   {"W", a->W, b->W, local * local},
                   {"q", a->q, b->q, local},
                   {"bias", a->bias, b->bias, rows},
                   {"lo", a->lo, b->lo, rows},
                   {"hi", a->hi, b->hi, rows},
                   {"R", a->R, b->R, rows},
                   {"v_hat", a->v_hat, b->v_hat, rows},
                   {"gamma_guess", a->gamma_guess, b->gamma_guess, rows}};
    for (int32_t i = 0; i < STN_COUNT(vectors); i++) {
        if (!same_reals(vectors[i].a, vectors[i].b, vectors[i].count)) {
            return vectors[i].name;
        }
    }
    if (!same_errors(a->phi, b->phi, rows)) {
        return "phi";
    }
    for (int32_t t = 0; t < a->tree_count; t++) {
        if (a->trees[t].dof_start != b->trees[t].dof_start || a->trees[t].source != b->trees[t].source ||
            !same_matrix(&a->trees[t].A, &b->trees[t].A)) {
            return "A of a tree";
        }
    }
    const char *found = NULL;
    for (int32_t i = 0; i < a->constraint_count && found == NULL; i++) {
        found = constraint_difference(a, &a->constraints[i], &b->constraints[i]);
    }
    return found;
}

/// W (rows x rows, dense) and what the laws act on without impulses, b - v_hat; false: there is no A^-1, or no memory.
static bool physics_of(subject *s, const stn_problem *p, double **W, double **b) {
    stn_context *context = s->trial->request->context;
    stn_problem copy = *p;
    stn_inverse *inverse = NULL;
    stn_delassus d;
    size_t n = (size_t)p->row_count;
    *W = stn_arena_zeroed(s->arena, n * n + 1, sizeof **W);
    *b = stn_arena_zeroed(s->arena, n + 1, sizeof **b);
    copy.constraints = stn_arena_zeroed(s->arena, (size_t)p->constraint_count + 1, sizeof *copy.constraints);
    copy.R = stn_arena_zeroed(s->arena, n + 1, sizeof *copy.R);
    copy.v_hat = stn_arena_zeroed(s->arena, n + 1, sizeof *copy.v_hat);
    if (*W == NULL || *b == NULL || copy.constraints == NULL || copy.R == NULL || copy.v_hat == NULL) {
        return false;
    }
    memcpy(copy.constraints, p->constraints, (size_t)p->constraint_count * sizeof *copy.constraints);
    if (n > 0) {
        memcpy(copy.R, p->R, n * sizeof *copy.R);
        memcpy(copy.v_hat, p->v_hat, n * sizeof *copy.v_hat);
    }
    bool good = stn_inverse_create(context, &inverse, NULL) == STN_OK &&
                stn_inverse_factor(inverse, &copy, NULL) == STN_OK &&
                stn_inverse_masses(inverse, &copy, s->arena, NULL) == STN_OK;
    if (good) {
        stn_problem_regularize(&copy);
        good = stn_delassus_build(inverse, &copy, s->arena, &d, NULL) == STN_OK;
    }
    for (int32_t i = 0; good && i < d.n; i++) {
        const stn_constraint *row = &copy.constraints[i];
        for (int32_t e = d.row_start[i]; e < d.row_start[i + 1]; e++) {
            const stn_constraint *column = &copy.constraints[d.column[e]];
            for (int32_t r = 0; r < row->rows; r++) {
                memcpy(*W + (size_t)(row->row + r) * n + column->row,
                       d.values + d.offset[e] + (ptrdiff_t)r * column->rows, (size_t)column->rows * sizeof **W);
            }
        }
    }
    for (size_t r = 0; good && r < n; r++) {
        (*b)[r] = d.b[r] - copy.v_hat[r];
        (*W)[r * n + r] += copy.R[r]; // how soft a row is
    }
    stn_inverse_destroy(inverse);
    return good;
}

static double largest_difference(const double *a, const double *b, size_t count) {
    double largest = 0.0, apart = 0.0;
    for (size_t i = 0; i < count; i++) {
        largest = fmax(largest, fabs(a[i]));
        double d = fabs(a[i] - b[i]);
        apart = isnan(d) ? (double)INFINITY : fmax(apart, d);
    }
    return largest > 0.0 ? apart / largest : apart;
}

/// Decides the trial when the physics differ: what constraints do to each other, what their laws act on, friction.
static void compare_physics(subject *s, const char *format, const stn_problem *a, const stn_problem *b) {
    double *W[2], *v[2];
    size_t n = (size_t)a->row_count;
    if (a->constraint_count != b->constraint_count || a->row_count != b->row_count) {
        trial_fail(s->trial, "%s: %d constraints were written, %d were read", format, a->constraint_count,
                   b->constraint_count);
        return;
    }
    for (int32_t i = 0; i < a->constraint_count; i++) {
        if (a->constraints[i].set != b->constraints[i].set ||
            (a->constraints[i].set <= STN_SET_ELLIPSE && !same_real(a->constraints[i].mu1, b->constraints[i].mu1))) {
            trial_fail(s->trial, "%s: constraint %d was written with mu1 = %g, read with %g, or is of another set",
                       format, i, a->constraints[i].mu1, b->constraints[i].mu1);
            return;
        }
    }
    if (!physics_of(s, a, &W[0], &v[0])) {
        return;
    }
    if (!physics_of(s, b, &W[1], &v[1])) {
        trial_fail(s->trial, "%s: what was read has no A^-1, what was written has", format);
        return;
    }
    double of_W = largest_difference(W[0], W[1], n * n), of_v = largest_difference(v[0], v[1], n);
    if (!(of_W <= same) || !(of_v <= same)) {
        trial_fail(s->trial,
                   "%s: the problem that was read is another one: W + R differs by %.1e, velocities without impulse by "
                   "%.1e of the largest, at most %.0e",
                   format, of_W, of_v, same);
    }
}

// ------------------------------------------------------------------------------------------------------------- checks

static void check_declares(validate_trial *trial) {
    const stn_problem_file_ops *ops = trial->request->plugin->desc->ops.problem_file;
    if (ops == NULL || ops->read == NULL || ops->recognises == NULL) {
        trial_fail(trial, "read or recognises is missing");
        return;
    }
    file_check_extensions(trial, ops->extensions);
    bool writes = STN_PLUGIN_HAS(ops, write), writes_solutions = STN_PLUGIN_HAS(ops, write_solution);
    if (!trial->decided && (ops->recognises("", 0) || ops->recognises("PK\x03\x04", 4))) {
        trial_fail(trial, "recognises an empty file, or an archive, as its own");
    }
    if (!trial->decided && (writes || writes_solutions) && (!STN_PLUGIN_HAS(ops, formats) || ops->formats[0] == NULL)) {
        trial_fail(trial, "it writes, but `formats` names nothing");
    }
    if (!trial->decided) {
        stn_instance_destroy(trial_instance(trial, STN_KIND_PROBLEM_FILE));
        trial_ok(trial, "files end with .%s, reads%s%s%s", ops->extensions[0], writes ? ", writes " : "",
                 writes ? ops->formats[0] : "", writes_solutions ? ", writes solutions" : "");
    }
}

static void check_round_trip(validate_trial *trial) {
    subject s;
    int32_t written = 0, exact = 0, tried = 0;
    if (!begin(&s, trial)) {
        return;
    }
    if (!can_write(&s)) {
        trial_skip(trial, "does not write");
    }
    for (int32_t f = 0; can_write(&s) && s.ops->formats[f] != NULL && !trial->decided; f++) {
        const char *format = s.ops->formats[f];
        for (int32_t i = 0; i < SAMPLES && !trial->decided; i++, tried++) {
            stn_problem_owner *owner = NULL;
            const stn_problem *p = sample(&s, i);
            p = p != NULL && i == 4 ? in_local_form(&s, p, &owner) : p;
            if (p != NULL) {
                text first;
                stn_status status = write_problem(&s, p, format, &first);
                stn_arena *arena = stn_arena_create(s.context);
                stn_problem back;
                if (status == STN_OK && !trial->decided && arena != NULL) {
                    if (!s.ops->recognises(first.bytes, first.size)) {
                        trial_fail(trial, "%s: it does not recognise what it wrote", format);
                    } else if (read_problem(&s, first.bytes, first.size, "what it wrote", arena, &back) != STN_OK) {
                        trial_fail(trial, "%s: what it wrote is refused", format);
                    }
                    const char *differs = trial->decided ? NULL : difference(p, &back);
                    if (differs != NULL && stn_plugin_says(s.instance, "exact") &&
                        strcmp(format, s.ops->formats[0]) == 0) {
                        trial_fail(trial, "%s: \"exact\", but %s is not the same to the last bit", format, differs);
                    }
                    if (!trial->decided) {
                        compare_physics(&s, format, p, &back);
                    }
                    written++;
                    exact += differs == NULL;
                }
                stn_arena_destroy(arena);
                free(first.bytes);
            } else {
                trial_fail(trial, "out of memory");
            }
            stn_problem_destroy(owner);
        }
    }
    if (written == 0) {
        trial_fail(trial, "all of %d problems are refused as not supported", tried);
    }
    trial_ok(trial, "%d of %d problems written and read, %d to the last bit; the others refused with a reason", written,
             tried, exact);
    end(&s);
}

static void check_malformed(validate_trial *trial) {
    enum { LONG = 1 << 18 };
    subject s;
    int32_t count = 0;
    if (!begin(&s, trial)) {
        return;
    }
    for (; file_nonsense[count] != NULL && !trial->decided; count++) {
        const char *bad = file_nonsense[count];
        if (try_bytes(&s, bad, strlen(bad), bad[0] != '\0' ? bad : "an empty file")) {
            trial_fail(trial, "\"%s\" was read as a problem", bad);
        }
    }
    char *bytes = malloc(LONG);
    for (int32_t kind = 0; kind < 3 && bytes != NULL && !trial->decided; kind++, count++) { // zeros, opened, random
        memset(bytes, kind == 0 ? '\0' : '[', LONG);
        for (size_t k = 0; k < LONG && kind == 2; k++) {
            bytes[k] = (char)random_integer(&s.random, 0, 255);
        }
        if (try_bytes(&s, bytes, LONG, "a quarter of a megabyte of anything")) {
            trial_fail(trial, "a quarter of a megabyte of anything was read as a problem");
        }
    }
    free(bytes);
    trial_ok(trial, "%d files: each one line, and nothing is left", count);
    end(&s);
}

static void check_damaged(validate_trial *trial) {
    subject s;
    if (!begin(&s, trial)) {
        return;
    }
    // A good file: the example, or what it writes; to be freed. NULL bytes: there is none.
    text good = {NULL, 0, 0};
    if (STN_PLUGIN_HAS(s.ops, example_size)) {
        good = (text){file_copy(s.ops->example, s.ops->example_size), s.ops->example_size, 0};
    }
    for (int32_t i = 2; i < 4 && can_write(&s) && good.size == 0 && !s.trial->decided; i++) { // soft cones, rigid cones
        const stn_problem *p = sample(&s, i);
        if (p == NULL || write_problem(&s, p, s.ops->formats[0], &good) != STN_OK) {
            free(good.bytes);
            good = (text){NULL, 0, 0};
        }
    }
    int32_t count = trial->request->full ? 4000 : 120, read = 0;
    char *bytes = good.size > 0 ? malloc(good.size) : NULL;
    if (bytes == NULL) {
        trial_skip(trial, "it writes nothing, and there is no example of the format: set ops.example");
    } else if (!try_bytes(&s, good.bytes, good.size, "a good file")) {
        trial_fail(trial, "its own example, or what it writes, is refused");
    }
    for (int32_t i = 0; i < count && bytes != NULL && !trial->decided; i++) {
        memcpy(bytes, good.bytes, good.size);
        read += try_bytes(&s, bytes, file_damage(&s.random, i, bytes, good.size), "a damaged file");
        trial_progress(trial, i, count);
    }
    free(bytes);
    free(good.bytes);
    trial_ok(trial, "%d damaged files: %d read, the others one line each", count, read);
    end(&s);
}

static void check_solution(validate_trial *trial) {
    subject s;
    if (!begin(&s, trial)) {
        return;
    }
    const stn_problem *p = sample(&s, 3);
    size_t rows = p != NULL ? (size_t)p->row_count : 0;
    double *zeros = stn_arena_zeroed(s.arena, rows + (p != NULL ? (size_t)p->nv : 0) + 1, sizeof *zeros);
    text out = {NULL, 0, 0};
    if (!STN_PLUGIN_HAS(s.ops, write_solution)) {
        trial_skip(trial, "writes no solutions");
    } else if (p == NULL || zeros == NULL) {
        trial_fail(trial, "out of memory");
    } else {
        stn_error err = {STN_OK, ""};
        int64_t before = s.heap.live;
        const stn_problem_sink sink = {
            .context = s.context, .path = s.path, .format = s.ops->formats[0], .put = take, .user = &out};
        const stn_problem_result result = {.problem = p, .v = p->v_star, .gamma = zeros, .v_c = zeros};
        stn_status status = s.ops->write_solution(s.instance->self, &sink, &result, &err);
        if (status != STN_OK || out.size == 0 || s.heap.live != before) {
            trial_fail(trial, "rigid contacts: %s (%.200s), %zu bytes, %lld pieces of memory left",
                       stn_status_text(status), err.text, out.size, (long long)(s.heap.live - before));
        }
    }
    trial_ok(trial, "a solution of %zu rows in %zu bytes", rows, out.size);
    free(out.bytes);
    end(&s);
}

static const validate_check checks[] = {
    {"declares what it is", "read, recognises and extensions, problem_file.h", check_declares},
    {"written and read", "STN_ERR_UNSUPPORTED for what the format cannot hold, all else must come back",
     check_round_trip},
    {"malformed files", "STN_ERR_PARSE \"path: what is wrong\"", check_malformed},
    {"damaged files", "trust nothing in a file: hold every count against the bytes that are left", check_damaged},
    {"solutions", "write_solution must write what FCLIB's tools, or others, read", check_solution},
};

const validate_battery validate_problem_files = {STN_KIND_PROBLEM_FILE, STN_COUNT(checks), checks};
