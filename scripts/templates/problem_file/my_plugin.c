// my_plugin.c: a contact problem as text, one thing a line, # begins a comment:
//   step DT                                     [s], first
//   tree N V A                                  V: N velocities without constraints, A: N x N numbers, row by row
//   contact MU K TAU PHI T J                    K: stiffness [N/m] or rigid, TAU: relaxation time [s], PHI: distance
//   [m],
//                                               T: its tree, from 0, J: 3 x N numbers
//   contact MU K TAU PHI T J T J                the same between two trees
// What it cannot hold it refuses with a reason: other constraints than friction cones, nodes, local problems.
// See stiction/problem_file.h. What to change first: read_line and write.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <stiction/plugin.h>

enum { MOST_DOFS = 1000, MOST_ITEMS = 100000 };

// ------------------------------------------------------------------------------------------------------------ reading

/// Where the reader stands. Trees and contacts are counted first, so that arrays have their size.
typedef struct reader {
    const stn_problem_source *source;
    const char *at, *end;
    int32_t line; // of `at`, from 1
    bool counts;  // the first pass
    stn_problem *p;
    stn_error *err;
} reader;

static stn_status wrong(const reader *r, const char *what) {
    return stn_fail(r->err, STN_ERR_PARSE, "%s:%d: %s", r->source->path, r->line, what);
}

static bool goes_on(reader *r) {
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' || *r->at == '\r')) {
        r->at++;
    }
    return r->at < r->end && *r->at != '\n' && *r->at != '#';
}

static bool is_next(reader *r, const char *word) {
    size_t length = strlen(word);
    bool there = goes_on(r) && (size_t)(r->end - r->at) > length && memcmp(r->at, word, length) == 0 &&
                 (r->at[length] == ' ' || r->at[length] == '\t');
    r->at += there ? length : 0;
    return there;
}

/// The next number of the line.
static bool next_number(reader *r, double *value) {
    size_t length = goes_on(r) ? stn_scan_real(r->at, (size_t)(r->end - r->at), value) : 0;
    r->at += length;
    return length > 0;
}

static bool next_integer(reader *r, int32_t most, int32_t *value) {
    double number = -1.0;
    bool good = next_number(r, &number) && number >= 0.0 && number <= most && number == floor(number);
    *value = good ? (int32_t)number : 0;
    return good;
}

static double *room(const reader *r, int64_t count) {
    return stn_arena_zeroed(r->source->arena, (size_t)count, sizeof(double));
}

/// `count` numbers of the line into `values`, which may be NULL in the first pass.
static bool next_numbers(reader *r, double *values, int64_t count) {
    double number = 0.0;
    for (int64_t i = 0; i < count; i++) {
        if (!next_number(r, &number)) {
            return false;
        }
        if (values != NULL) {
            values[i] = number;
        }
    }
    return true;
}

static stn_status read_tree(reader *r) {
    stn_problem *p = r->p;
    int32_t n = 0;
    if (!next_integer(r, MOST_DOFS, &n) || n < 1) {
        return wrong(r, "a tree begins with its number of dofs, from 1 to 1000");
    }
    if (p->tree_count == MOST_ITEMS || p->nv > MOST_ITEMS * 6) {
        return wrong(r, "too many trees");
    }
    stn_problem_tree *tree = r->counts ? NULL : &p->trees[p->tree_count];
    double *A = r->counts ? NULL : room(r, (int64_t)n * n);
    if (!r->counts && A == NULL) {
        return stn_fail(r->err, STN_ERR_MEMORY, "%s: out of memory", r->source->path);
    }
    if (!next_numbers(r, r->counts ? NULL : p->v_star + p->nv, n) || !next_numbers(r, A, (int64_t)n * n)) {
        return wrong(r, "a tree has N velocities and N x N numbers of A");
    }
    if (tree != NULL) {
        *tree = (stn_problem_tree){
            .dof_start = p->nv, .source = p->tree_count, .A = {.n = n, .form = STN_MATRIX_DENSE, .values = A}};
    }
    p->tree_count++;
    p->nv += n;
    return STN_OK;
}

static stn_status read_contact(reader *r) {
    stn_problem *p = r->p;
    double data[4] = {0.0, INFINITY, 0.0, 0.0}; // mu, k, tau, phi
    bool good = p->constraint_count < MOST_ITEMS && next_number(r, &data[0]);
    good = good && (is_next(r, "rigid") || next_number(r, &data[1])) && next_number(r, &data[2]) &&
           next_number(r, &data[3]);
    if (!good) {
        return wrong(r, "a contact has mu, k or rigid, tau, phi, and then its trees with their J");
    }
    stn_constraint c = {.id = (uint64_t)p->constraint_count,
                        .kind = STN_CONSTRAINT_CONTACT,
                        .set = STN_SET_CONE,
                        .row = p->row_count,
                        .rows = 3,
                        .J = {{.tree = -1}, {.tree = -1}},
                        .phi0 = data[3],
                        .stiffness = data[1],
                        .relaxation_time = data[2],
                        .dissipation = (double)NAN,
                        .mu1 = data[0],
                        .mu2 = data[0],
                        .restitution = (double)NAN,
                        .w = (double)NAN,
                        .w_trace = (double)NAN,
                        .gamma_n0 = (double)NAN,
                        .vn0 = (double)NAN,
                        .memory = -1,
                        .body = {-1, -1},
                        .contact = -1,
                        .patch = -1};
    for (int32_t side = 0; side < 2 && (side == 0 || goes_on(r)); side++) {
        int32_t tree = 0;
        if (!next_integer(r, p->tree_count - 1, &tree)) {
            return wrong(r, "a contact needs the number of a tree above, from 0");
        }
        int32_t n = r->counts ? 0 : p->trees[tree].A.n;
        double *J = r->counts ? NULL : room(r, 3 * (int64_t)n);
        if (r->counts) { // how many numbers follow is known in the second pass
            r->at = r->end;
            break;
        }
        if (J == NULL || !next_numbers(r, J, 3 * (int64_t)n)) {
            return J == NULL ? stn_fail(r->err, STN_ERR_MEMORY, "%s: out of memory", r->source->path)
                             : wrong(r, "J has 3 x N numbers");
        }
        c.J[side] = (stn_jacobian){.tree = tree, .values = J};
    }
    if (!r->counts) {
        p->constraints[p->constraint_count] = c;
    }
    p->constraint_count++;
    p->row_count += 3;
    return STN_OK;
}

static stn_status read_line(reader *r) {
    stn_status status = STN_OK;
    if (is_next(r, "step")) {
        status = next_number(r, &r->p->dt) ? STN_OK : wrong(r, "step needs a time [s]");
    } else if (is_next(r, "tree")) {
        status = read_tree(r);
    } else if (is_next(r, "contact")) {
        status = read_contact(r);
    } else if (goes_on(r)) {
        status = wrong(r, "expected step, tree or contact");
    }
    return status == STN_OK && r->at < r->end && goes_on(r) ? wrong(r, "more than belongs into the line") : status;
}

static stn_status read_lines(reader *r) {
    const char *end = r->source->bytes + r->source->size;
    stn_status status = STN_OK;
    *r->p = (stn_problem){.trees = r->p->trees,
                          .constraints = r->p->constraints,
                          .v_star = r->p->v_star,
                          .theta = 1.0,
                          .beta = (double)NAN,
                          .sigma = (double)NAN,
                          .stiction_tolerance = (double)NAN};
    r->line = 0;
    for (const char *line = r->source->bytes; line < end && status == STN_OK;) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        r->at = line;
        r->end = newline != NULL ? newline : end;
        r->line++;
        status = read_line(r);
        line = newline != NULL ? newline + 1 : end;
    }
    return status;
}

/// The arrays of all rows and dofs, of sizes that are known now.
static stn_status make_room(reader *r) {
    stn_problem *p = r->p;
    p->trees = stn_arena_zeroed(r->source->arena, (size_t)p->tree_count, sizeof *p->trees);
    p->constraints = stn_arena_zeroed(r->source->arena, (size_t)p->constraint_count, sizeof *p->constraints);
    p->v_star = room(r, p->nv);
    return p->trees != NULL && p->constraints != NULL && p->v_star != NULL
               ? STN_OK
               : stn_fail(r->err, STN_ERR_MEMORY, "%s: out of memory", r->source->path);
}

/// What the format does not say: no warm start, no bounds, R and v_hat to be derived.
static stn_status complete(reader *r) {
    stn_problem *p = r->p;
    double **rows[] = {&p->bias, &p->lo, &p->hi, &p->R, &p->v_hat, &p->gamma_guess};
    p->v0 = room(r, p->nv);
    p->v_guess = room(r, p->nv);
    bool good = p->v0 != NULL && p->v_guess != NULL;
    for (int32_t k = 0; k < STN_COUNT(rows); k++) {
        *rows[k] = room(r, p->row_count);
        good = good && *rows[k] != NULL;
    }
    if (!good) {
        return stn_fail(r->err, STN_ERR_MEMORY, "%s: out of memory", r->source->path);
    }
    for (int32_t i = 0; i < p->nv; i++) {
        p->v0[i] = p->v_guess[i] = p->v_star[i];
    }
    for (int32_t i = 0; i < p->row_count; i++) {
        p->lo[i] = -INFINITY;
        p->hi[i] = INFINITY;
        p->R[i] = p->v_hat[i] = (double)NAN;
    }
    return STN_OK;
}

static stn_status read(void *self, const stn_problem_source *source, stn_problem *out, stn_error *err) {
    (void)self;
    reader r = {.source = source, .counts = true, .p = out, .err = err};
    stn_status status = read_lines(&r);
    if (status == STN_OK && !(out->dt > 0.0)) {
        status = stn_fail(err, STN_ERR_PARSE, "%s: no line \"step DT\" with a time > 0", source->path);
    }
    status = status == STN_OK ? make_room(&r) : status;
    r.counts = false;
    status = status == STN_OK ? read_lines(&r) : status;
    return status == STN_OK ? complete(&r) : status;
}

static bool recognises(const char *bytes, size_t size) {
    return size >= 5 && memcmp(bytes, "step ", 5) == 0;
}

// ------------------------------------------------------------------------------------------------------------ writing

static void put(const stn_problem_sink *sink, const char *text) {
    sink->put(sink, text, strlen(text));
}

static void put_number(const stn_problem_sink *sink, double value) {
    char text[40] = " ";
    stn_print_real(text + 1, sizeof text - 1, value);
    put(sink, text);
}

static stn_status refuse(const char *what, stn_error *err) {
    return stn_fail(err, STN_ERR_UNSUPPORTED, "the format my_plugin cannot hold %s", what);
}

/// The first thing that would be lost.
static stn_status check(const stn_problem *p, stn_error *err) {
    if (p->form != STN_FORM_GLOBAL || p->velocity_kind != STN_VELOCITY_END || p->explicit_R ||
        p->free_impulse != NULL) {
        return refuse("a local problem, velocities within the step, a given R or a free impulse", err);
    }
    for (int32_t t = 0; t < p->tree_count; t++) {
        if (p->trees[t].A.form == STN_MATRIX_NODAL || p->trees[t].A.n > MOST_DOFS) {
            return refuse("a cloud of nodes, or a tree of more than 1000 dofs", err);
        }
    }
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const stn_constraint *c = &p->constraints[i];
        const double *bias = p->bias + c->row;
        if (c->kind != STN_CONSTRAINT_CONTACT || c->set != STN_SET_CONE || c->restitution > 0.0 || bias[0] != 0.0 ||
            bias[1] != 0.0 || bias[2] != 0.0 || c->J[0].node_count > 0 || c->J[1].node_count > 0) {
            return refuse("another constraint than a contact with a friction cone, without bias and restitution", err);
        }
    }
    return STN_OK;
}

static double entry(const stn_matrix *A, int32_t i, int32_t j) {
    return A->form == STN_MATRIX_DENSE                ? A->values[i * A->n + j]
           : A->form == STN_MATRIX_DIAGONAL && i == j ? A->values[i]
                                                      : 0.0;
}

static stn_status write(void *self, const stn_problem_sink *sink, const stn_problem *p, stn_error *err) {
    (void)self;
    stn_status status = check(p, err);
    if (status != STN_OK) {
        return status;
    }
    put(sink, "step");
    put_number(sink, p->dt);
    for (int32_t t = 0; t < p->tree_count; t++) {
        const stn_problem_tree *tree = &p->trees[t];
        put(sink, "\ntree");
        put_number(sink, tree->A.n);
        for (int32_t i = 0; i < tree->A.n; i++) {
            put_number(sink, p->v_star[tree->dof_start + i]);
        }
        for (int32_t k = 0; k < tree->A.n * tree->A.n; k++) {
            put_number(sink, entry(&tree->A, k / tree->A.n, k % tree->A.n));
        }
    }
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const stn_constraint *c = &p->constraints[i];
        put(sink, "\ncontact");
        put_number(sink, c->mu1);
        if (isfinite(c->stiffness)) {
            put_number(sink, c->stiffness);
        } else {
            put(sink, " rigid");
        }
        put_number(sink, isnan(c->relaxation_time) ? 0.0 : c->relaxation_time);
        put_number(sink, isnan(c->phi0) ? 0.0 : c->phi0);
        for (int32_t side = 0; side < 2 && c->J[side].tree >= 0; side++) {
            put_number(sink, c->J[side].tree);
            for (int32_t k = 0; k < 3 * p->trees[c->J[side].tree].A.n; k++) {
                put_number(sink, c->J[side].values[k]);
            }
        }
    }
    put(sink, "\n");
    return STN_OK;
}

static const char *const extensions[] = {"my_plugin", NULL};
static const char *const formats[] = {"my_plugin", NULL};

static const stn_problem_file_ops ops = {
    .size = sizeof ops,
    .extensions = extensions,
    .recognises = recognises,
    .read = read,
    .formats = formats,
    .write = write,
};

static const stn_plugin_desc my_plugin = {
    .size = sizeof my_plugin,
    .kind = STN_KIND_PROBLEM_FILE,
    .id = "my_plugin",
    .version = "0.1.0",
    .summary = "trees and contacts, a line each",
    .ops.problem_file = &ops,
};
STN_PLUGIN_LIBRARY(&my_plugin);
