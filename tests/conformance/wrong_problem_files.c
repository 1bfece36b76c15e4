// SPDX-License-Identifier: Apache-2.0
// Contact problems as bytes, of trees without nodes and contacts with friction cones; right and with one fault each.
//   "dump", head, for each tree its n, v_star and A, for each contact its data and the J of its sides
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <stiction/plugin.h>

typedef enum fault {
    NONE,
    NO_NAME,      // messages do not name the file
    FRICTION,     // is always 0.5
    ROWS,         // of J in another order
    SILENT,       // leaves out what it cannot hold
    HALFWAY,      // notices that when it has begun
    KEEPS,        // what was allocated
    TRUSTS_COUNT, // reads beyond what is there
} fault;

typedef struct config {
    int32_t fault;
} config;

typedef struct head {
    char magic[4];
    int32_t nv, trees, contacts;
    double dt;
} head;

typedef struct contact {
    double mu, stiffness, relaxation_time, phi0;
    int32_t tree[2];
} contact;

// ------------------------------------------------------------------------------------------------------------ writing

static bool holds(const stn_problem *p, const stn_constraint *c) {
    const double *bias = p->bias + c->row;
    return c->kind == STN_CONSTRAINT_CONTACT && c->set == STN_SET_CONE && c->J[0].node_count == 0 &&
           c->J[1].node_count == 0 && bias[0] == 0.0 && bias[1] == 0.0 && bias[2] == 0.0;
}

static stn_status refuse(stn_error *err) {
    return stn_fail(err, STN_ERR_UNSUPPORTED, "a dump cannot hold this problem");
}

static stn_status check(const stn_problem *p, fault f, stn_error *err) {
    bool good = p->form == STN_FORM_GLOBAL;
    for (int32_t t = 0; t < p->tree_count; t++) {
        good = good && p->trees[t].A.form != STN_MATRIX_NODAL;
    }
    for (int32_t i = 0; i < p->constraint_count && f != SILENT; i++) {
        good = good && holds(p, &p->constraints[i]);
    }
    return good ? STN_OK : refuse(err);
}

static stn_status write(void *self, const stn_problem_sink *sink, const stn_problem *p, stn_error *err) {
    fault f = (fault)((const config *)self)->fault;
    head h = {{'d', 'u', 'm', 'p'}, p->nv, p->tree_count, 0, p->dt};
    if (f == HALFWAY) {
        sink->put(sink, "dump", 4);
    }
    stn_status status = check(p, f, err);
    if (status != STN_OK) {
        return status;
    }
    for (int32_t i = 0; i < p->constraint_count; i++) {
        h.contacts += holds(p, &p->constraints[i]);
    }
    sink->put(sink, (const char *)&h + (f == HALFWAY ? 4 : 0), sizeof h - (f == HALFWAY ? 4 : 0));
    for (int32_t t = 0; t < p->tree_count; t++) {
        const stn_matrix *A = &p->trees[t].A;
        sink->put(sink, &A->n, sizeof A->n);
        sink->put(sink, p->v_star + p->trees[t].dof_start, (size_t)A->n * sizeof(double));
        for (int32_t k = 0; k < A->n * A->n; k++) {
            bool diagonal = k / A->n == k % A->n;
            double a = A->form == STN_MATRIX_DENSE                  ? A->values[k]
                       : A->form == STN_MATRIX_DIAGONAL && diagonal ? A->values[k / A->n]
                                                                    : 0.0;
            sink->put(sink, &a, sizeof a);
        }
    }
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const stn_constraint *c = &p->constraints[i];
        contact data = {c->mu1, c->stiffness, c->relaxation_time, c->phi0, {c->J[0].tree, c->J[1].tree}};
        if (!holds(p, c)) {
            continue;
        }
        sink->put(sink, &data, sizeof data);
        for (int32_t side = 0; side < 2 && c->J[side].tree >= 0; side++) {
            sink->put(sink, c->J[side].values, 3 * (size_t)p->trees[c->J[side].tree].A.n * sizeof(double));
        }
    }
    return STN_OK;
}

// ------------------------------------------------------------------------------------------------------------ reading

typedef struct cursor {
    const stn_problem_source *source;
    fault f;
    size_t at;
} cursor;

static bool take(cursor *c, void *into, size_t size) {
    if (size > c->source->size - c->at) {
        if (c->f == TRUSTS_COUNT) {
            abort();
        }
        return false;
    }
    if (size > 0) {
        memcpy(into, c->source->bytes + c->at, size);
    }
    c->at += size;
    return true;
}

static double *reals(cursor *c, int64_t count, double value) {
    double *values = stn_arena_allocate(c->source->arena, (size_t)count, sizeof *values);
    for (int64_t i = 0; i < count && values != NULL; i++) {
        values[i] = value;
    }
    return values;
}

static bool take_reals(cursor *c, double **values, int64_t count) {
    *values = (uint64_t)count * sizeof(double) <= c->source->size - c->at || c->f == TRUSTS_COUNT ? reals(c, count, 0.0)
                                                                                                  : NULL;
    return *values != NULL && take(c, *values, (size_t)count * sizeof(double));
}

static bool read_trees(cursor *c, stn_problem *p) {
    int32_t dof = 0;
    for (int32_t t = 0; t < p->tree_count; t++) {
        int32_t n = 0;
        double *v = NULL, *A = NULL;
        if (!take(c, &n, sizeof n) || n < 1 || n > 1000 || n > p->nv - dof || !take_reals(c, &v, n) ||
            !take_reals(c, &A, (int64_t)n * n)) {
            return false;
        }
        memcpy(p->v_star + dof, v, (size_t)n * sizeof *v);
        memcpy(p->v0 + dof, v, (size_t)n * sizeof *v);
        p->trees[t] =
            (stn_problem_tree){.dof_start = dof, .source = t, .A = {.n = n, .form = STN_MATRIX_DENSE, .values = A}};
        dof += n;
    }
    return dof == p->nv;
}

static bool read_contacts(cursor *c, stn_problem *p) {
    const double none = (double)NAN;
    for (int32_t i = 0; i < p->constraint_count; i++) {
        contact d;
        if (!take(c, &d, sizeof d) || d.tree[0] < 0 || d.tree[0] >= p->tree_count || d.tree[1] < -1 ||
            d.tree[1] >= p->tree_count) {
            return false;
        }
        double mu = c->f == FRICTION ? 0.5 : d.mu;
        stn_constraint k = {.id = (uint64_t)i,
                            .row = 3 * i,
                            .rows = 3,
                            .J = {{.tree = -1}, {.tree = -1}},
                            .phi0 = d.phi0,
                            .stiffness = d.stiffness,
                            .relaxation_time = d.relaxation_time,
                            .dissipation = none,
                            .mu1 = mu,
                            .mu2 = mu,
                            .restitution = none,
                            .w = none,
                            .w_trace = none,
                            .gamma_n0 = none,
                            .vn0 = none,
                            .memory = -1,
                            .body = {-1, -1},
                            .contact = -1,
                            .patch = -1};
        for (int32_t side = 0; side < 2 && d.tree[side] >= 0; side++) {
            double *J = NULL;
            int32_t n = p->trees[d.tree[side]].A.n;
            if (!take_reals(c, &J, 3 * (int64_t)n)) {
                return false;
            }
            for (int32_t j = 0; j < n && c->f == ROWS; j++) {
                double swapped = J[j];
                J[j] = J[2 * n + j];
                J[2 * n + j] = swapped;
            }
            k.J[side] = (stn_jacobian){.tree = d.tree[side], .values = J};
        }
        p->constraints[i] = k;
    }
    return c->at == c->source->size;
}

static bool read_all(cursor *c, stn_problem *p) {
    head h;
    if (!take(c, &h, sizeof h) || memcmp(h.magic, "dump", 4) != 0 || h.nv < 0 || h.trees < 0 || h.contacts < 0 ||
        (uint64_t)h.nv * 8 + (uint64_t)h.trees * 4 + (uint64_t)h.contacts * sizeof(contact) > c->source->size) {
        return false;
    }
    stn_arena *arena = c->source->arena;
    int64_t rows = 3 * (int64_t)h.contacts;
    *p = (stn_problem){.theta = 1.0,
                       .dt = h.dt,
                       .nv = h.nv,
                       .tree_count = h.trees,
                       .constraint_count = h.contacts,
                       .row_count = (int32_t)rows,
                       .trees = stn_arena_zeroed(arena, (size_t)h.trees, sizeof *p->trees),
                       .constraints = stn_arena_zeroed(arena, (size_t)h.contacts, sizeof *p->constraints),
                       .v0 = reals(c, h.nv, 0.0),
                       .v_star = reals(c, h.nv, 0.0),
                       .v_guess = reals(c, h.nv, 0.0),
                       .bias = reals(c, rows, 0.0),
                       .lo = reals(c, rows, -(double)INFINITY),
                       .hi = reals(c, rows, (double)INFINITY),
                       .R = reals(c, rows, (double)NAN),
                       .v_hat = reals(c, rows, (double)NAN),
                       .gamma_guess = reals(c, rows, 0.0),
                       .beta = (double)NAN,
                       .sigma = (double)NAN,
                       .stiction_tolerance = (double)NAN};
    return read_trees(c, p) && read_contacts(c, p);
}

static stn_status read(void *self, const stn_problem_source *source, stn_problem *out, stn_error *err) {
    fault f = (fault)((const config *)self)->fault;
    cursor c = {.source = source, .f = f};
    void *scratch = stn_allocate(source->context, 1, 64);
    bool good = scratch != NULL && read_all(&c, out);
    if (f != KEEPS) {
        stn_release(source->context, scratch);
    }
    return good ? STN_OK
                : stn_fail(err, STN_ERR_PARSE, "%s: no dump, or cut off", f == NO_NAME ? "dump" : source->path);
}

static bool recognises(const char *bytes, size_t size) {
    return size >= 4 && memcmp(bytes, "dump", 4) == 0;
}

static bool recognises_all(const char *bytes, size_t size) {
    (void)bytes, (void)size;
    return true;
}

static const char *const extensions[] = {"dump", NULL}, *const formats[] = {"dump", NULL},
                         *const exact_words[] = {"exact", NULL};
static const stn_problem_file_ops ops = {.size = sizeof ops,
                                         .extensions = extensions,
                                         .recognises = recognises,
                                         .read = read,
                                         .formats = formats,
                                         .write = write};
static const stn_problem_file_ops greedy = {.size = sizeof ops,
                                            .extensions = extensions,
                                            .recognises = recognises_all,
                                            .read = read,
                                            .formats = formats,
                                            .write = write};

#define PROBLEM_FILE(word, number, table, words)                                     \
    static const stn_param word##_params[] = {                                       \
        STN_PARAM_INT(config, fault, "1", number, number, number, "what is wrong")}; \
    static const stn_plugin_desc word = {.size = sizeof word,                        \
                                         .kind = STN_KIND_PROBLEM_FILE,              \
                                         .id = "wrong_" #word,                       \
                                         .version = "1",                             \
                                         .summary = "bytes with a fault",            \
                                         .capabilities = words,                      \
                                         .config_size = sizeof(config),              \
                                         .params = word##_params,                    \
                                         .param_count = 1,                           \
                                         .ops.problem_file = &table};

PROBLEM_FILE(none, NONE, ops, NULL)
PROBLEM_FILE(greed, NONE, greedy, NULL)
PROBLEM_FILE(exact, NONE, ops, exact_words)
PROBLEM_FILE(name, NO_NAME, ops, NULL)
PROBLEM_FILE(friction, FRICTION, ops, NULL)
PROBLEM_FILE(rows, ROWS, ops, NULL)
PROBLEM_FILE(silent, SILENT, ops, NULL)
PROBLEM_FILE(halfway, HALFWAY, ops, NULL)
PROBLEM_FILE(leak, KEEPS, ops, NULL)
PROBLEM_FILE(crash, TRUSTS_COUNT, ops, NULL)

STN_PLUGIN_LIBRARY(&none, &greed, &exact, &name, &friction, &rows, &silent, &halfway, &leak, &crash);
