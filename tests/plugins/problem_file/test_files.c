// SPDX-License-Identifier: Apache-2.0
// Contact problems as JSON: nothing is lost on the way to a file and back, nothing malformed comes in.
#include <sys/stat.h>

#include <stiction/plugin.h>

#include "full_problem.h"
#include "stn_heap.h"
#include "stn_test.h"

typedef struct fixture {
    stn_heap heap;
    stn_context *context;
    char folder[64], path[96], other[96];
} fixture;

static int set_up(void **state) {
    static fixture f;
    stn_context_options options = stn_heap_options(&f.heap);
    const stn_plugin_info *formats = NULL;
    int32_t count = 0;
    stn_heap_arm(&f.heap, 0);
    snprintf(f.folder, sizeof f.folder, "/tmp/stn_files_XXXXXX");
    if (mkdtemp(f.folder) == NULL || stn_context_create(&options, &f.context, NULL) != STN_OK ||
        stn_plugins_of_kind(f.context, STN_KIND_PROBLEM_FILE, &formats, &count, NULL) != STN_OK) {
        return -1; // the plugins are found before anything is counted
    }
    snprintf(f.path, sizeof f.path, "%s/a.json", f.folder);
    snprintf(f.other, sizeof f.other, "%s/b.json", f.folder);
    *state = &f;
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    unlink(f->path);
    unlink(f->other);
    bool clean = rmdir(f->folder) == 0; // fails when a temporary file was left behind
    stn_context_destroy(f->context);
    return clean && atomic_load(&f->heap.live) == 0 ? 0 : -1;
}

static char *read_text(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *text = malloc((size_t)1 << 22);
    *size = fread(text, 1, ((size_t)1 << 22) - 1, file);
    text[*size] = '\0';
    fclose(file);
    return text;
}

static void write_text(const char *path, const char *text, size_t size) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    fclose(file);
}

static void assert_same_files(const char *a, const char *b) {
    size_t size_a, size_b;
    char *text_a = read_text(a, &size_a), *text_b = read_text(b, &size_b);
    assert_int_equal(size_a, size_b);
    assert_memory_equal(text_a, text_b, size_a);
    free(text_a);
    free(text_b);
}

/// Bits equal, but any NaN is like any other.
static void assert_same_reals(const double *a, const double *b, size_t count) {
    assert_true((a == NULL) == (b == NULL));
    for (size_t i = 0; i < count && a != NULL; i++) {
        assert_true(memcmp(&a[i], &b[i], sizeof a[i]) == 0 || (isnan(a[i]) && isnan(b[i])));
    }
}

static void assert_same_constraint(const stn_problem *p, const stn_constraint *a, const stn_constraint *b) {
    assert_true(a->id == b->id && a->kind == b->kind && a->set == b->set && a->row == b->row && a->rows == b->rows);
    assert_int_equal(a->more_count, b->more_count);
    for (int32_t side = 0; side < stn_constraint_block_count(a); side++) {
        const stn_jacobian *x = stn_constraint_block(a, side), *y = stn_constraint_block(b, side);
        assert_true(x->tree == y->tree && x->node_count == y->node_count);
        assert_true(x->node_count == 0 || x->node_size == y->node_size);
        if (x->tree >= 0) {
            assert_memory_equal(x->node, y->node, (size_t)x->node_count * sizeof(int32_t));
            assert_same_reals(x->values, y->values, (size_t)(a->rows * stn_jacobian_columns(p, x)));
        }
    }
    const double given[] = {a->phi0, a->stiffness, a->relaxation_time, a->dissipation,
                            a->mu1,  a->mu2,       a->restitution,     a->gamma_n0,
                            a->vn0,  a->point.x,   a->point.y,         a->point.z};
    const double found[] = {b->phi0, b->stiffness, b->relaxation_time, b->dissipation,
                            b->mu1,  b->mu2,       b->restitution,     b->gamma_n0,
                            b->vn0,  b->point.x,   b->point.y,         b->point.z};
    assert_same_reals(given, found, STN_COUNT(given));
    assert_same_reals(&a->frame.m[0][0], &b->frame.m[0][0], 9);
    assert_same_reals(a->anchor, b->anchor, 2);
    assert_true(isnan(a->w) || a->w == b->w);
    assert_true(a->memory == b->memory && a->contact == b->contact && a->patch == b->patch);
    assert_true(a->body[0] == b->body[0] && a->body[1] == b->body[1]);
}

static void assert_same_problem(const stn_problem *p, const stn_problem *q) {
    size_t nv = (size_t)p->nv, rows = (size_t)p->row_count, bilateral = (size_t)p->bilateral_count;
    assert_true(p->name == q->name || strcmp(p->name, q->name) == 0);
    assert_true(p->form == q->form && p->velocity_kind == q->velocity_kind && p->explicit_R == q->explicit_R);
    assert_true(p->nv == q->nv && p->tree_count == q->tree_count && p->constraint_count == q->constraint_count);
    assert_true(p->row_count == q->row_count && p->bilateral_count == q->bilateral_count);
    const double given[] = {p->theta, p->dt, p->beta, p->sigma, p->stiction_tolerance};
    const double found[] = {q->theta, q->dt, q->beta, q->sigma, q->stiction_tolerance};
    assert_same_reals(given, found, STN_COUNT(given));
    const double *const a[] = {p->v0, p->v_star, p->v_guess, p->free_impulse};
    const double *const b[] = {q->v0, q->v_star, q->v_guess, q->free_impulse};
    for (int32_t k = 0; k < 4; k++) {
        assert_same_reals(a[k], b[k], nv);
    }
    const double *const c[] = {p->bias, p->lo, p->hi, p->R, p->v_hat, p->gamma_guess, p->phi, p->q};
    const double *const d[] = {q->bias, q->lo, q->hi, q->R, q->v_hat, q->gamma_guess, q->phi, q->q};
    for (int32_t k = 0; k < STN_COUNT(c); k++) {
        assert_same_reals(c[k], d[k], rows);
    }
    assert_same_reals(p->W, q->W, rows * rows);
    assert_same_reals(p->V, q->V, rows * bilateral);
    assert_same_reals(p->R_bilateral, q->R_bilateral, bilateral * bilateral);
    assert_same_reals(p->s, q->s, bilateral);
    for (int32_t t = 0; t < p->tree_count; t++) {
        const stn_matrix *x = &p->trees[t].A, *y = &q->trees[t].A;
        assert_true(p->trees[t].source == q->trees[t].source && p->trees[t].dof_start == q->trees[t].dof_start);
        assert_true(x->form == y->form && x->n == y->n && x->node_count == y->node_count);
        assert_int_equal(x->node_size, y->node_size);
        assert_same_reals(x->values, y->values, (size_t)stn_matrix_value_count(x));
    }
    for (int32_t i = 0; i < p->constraint_count; i++) {
        assert_same_constraint(p, &p->constraints[i], &q->constraints[i]);
    }
}

static void format_2_keeps_every_member_and_every_bit(void **state) {
    fixture *f = *state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        sample *s = full_sample(seed);
        s->problem.explicit_R = seed % 2 == 0;
        for (int32_t k = 0; k < s->problem.row_count && s->problem.explicit_R; k++) {
            s->problem.R[k] = 1.0 / 3.0;
            s->problem.v_hat[k] = (double)k / 7.0;
        }
        stn_problem_owner *first = NULL, *second = NULL;
        stn_error err;
        assert_ok(stn_problem_save(f->context, &s->problem, "contact-problem-2", f->path, &err), err);
        assert_ok(stn_problem_load(f->context, f->path, &first, &err), err);
        assert_same_problem(&s->problem, stn_problem_of(first));
        assert_ok(stn_problem_save(f->context, stn_problem_of(first), "contact-problem-2", f->path, &err), err);
        assert_ok(stn_problem_load(f->context, f->path, &second, &err), err);
        assert_ok(stn_problem_save(f->context, stn_problem_of(second), "contact-problem-2", f->other, &err), err);
        assert_same_files(f->path, f->other);
        stn_problem_destroy(first);
        stn_problem_destroy(second);
        sample_clear(s);
    }
}

/// Two contacts of a local problem with one bilateral row.
static sample *local_sample(void) {
    stn_random r = {33};
    sample *s = sample_create();
    for (int32_t i = 0; i < 2; i++) {
        sample_constraint(s, &r, STN_SET_CONE, 3, -1, 0, -1, 0);
    }
    sample_finish(s, &r);
    s->problem.form = STN_FORM_LOCAL;
    s->problem.W = sample_doubles(s, 36, 0.0);
    random_spd(&r, 6, 0.5, s->problem.W);
    s->problem.q = sample_random_doubles(s, &r, 6);
    s->problem.bilateral_count = 1;
    s->problem.V = sample_random_doubles(s, &r, 6);
    s->problem.R_bilateral = sample_random_doubles(s, &r, 1);
    s->problem.s = sample_random_doubles(s, &r, 1);
    for (int32_t i = 0; i < 2; i++) {
        s->constraints[i].w = s->constraints[i].w_trace = NAN;
        s->constraints[i].point = stn_vec3_make(1.0, 2.0, 3.0);
    }
    return s;
}

static void local_problems_are_kept_and_their_masses_derived_from_W(void **state) {
    fixture *f = *state;
    sample *s = local_sample();
    stn_problem_owner *owner = NULL;
    stn_error err;
    s->problem.v0 = s->problem.v_star = s->problem.v_guess = NULL;
    assert_ok(stn_problem_save(f->context, &s->problem, "contact-problem-2", f->path, &err), err);
    assert_ok(stn_problem_load(f->context, f->path, &owner, &err), err);
    assert_same_problem(&s->problem, stn_problem_of(owner));
    const double *W = s->problem.W, *V = s->problem.V; // the bilateral row takes part: W - V R^-1 V^T
    double stiffened = (V[3] * V[3] + V[4] * V[4] + V[5] * V[5]) / s->problem.R_bilateral[0];
    assert_near(stn_problem_of(owner)->constraints[1].w_trace, W[21] + W[28] + W[35] - stiffened, 1e-14);
    stn_problem_destroy(owner);
    sample_clear(s);
}

/// Cones alone on trees of every form: what format 1 can hold.
static sample *cones_sample(uint64_t seed) {
    stn_random r = {seed};
    sample *s = sample_create();
    int32_t body = sample_tree(s, &r, STN_MATRIX_DENSE, 6), light = sample_tree(s, &r, STN_MATRIX_DIAGONAL, 3);
    int32_t soft = sample_tree(s, &r, STN_MATRIX_NODAL, 12);
    sample_constraint(s, &r, STN_SET_CONE, 3, body, 0, -1, 0);
    sample_constraint(s, &r, STN_SET_CONE, 3, light, 0, body, 0);
    sample_constraint(s, &r, STN_SET_CONE, 3, soft, 3, light, 1);
    sample_finish(s, &r);
    for (int32_t i = 0; i < 3; i++) {
        stn_constraint *c = &s->constraints[i];
        full_nodes(&c->J[0]);
        full_nodes(&c->J[1]);
        c->mu1 = c->mu2 = 0.25 * i;
        c->phi0 = -1e-3;
        c->stiffness = i == 0 ? (double)INFINITY : 1e5;
        c->relaxation_time = 0.01;
        c->dissipation = 3.0;
        c->w = c->w_trace = NAN;
    }
    memset(s->problem.bias, 0, 9 * sizeof(double));
    return s;
}

static void format_1_holds_cones_of_several_trees_as_one_dense_problem(void **state) {
    fixture *f = *state;
    sample *s = cones_sample(7);
    const stn_problem *p = &s->problem;
    for (int32_t k = 0; k < 9; k++) {
        p->R[k] = 0.1;
    }
    stn_problem_owner *owner = NULL;
    stn_error err;
    assert_ok(stn_problem_save(f->context, p, "contact-problem-1", f->path, &err), err);
    assert_ok(stn_problem_load(f->context, f->path, &owner, &err), err);
    const stn_problem *q = stn_problem_of(owner);
    size_t nv = (size_t)p->nv;
    double *A = sample_dense_A(p), *J = sample_dense_J(p);
    assert_int_equal(q->tree_count, 1);
    assert_true(q->explicit_R);
    assert_memory_equal(q->trees[0].A.values, A, nv * nv * sizeof(double));
    assert_memory_equal(q->constraints[0].J[0].values, J, 9 * nv * sizeof(double));
    assert_memory_equal(q->v0, p->v0, nv * sizeof(double));
    assert_true(isinf(q->constraints[0].stiffness) && q->constraints[1].stiffness == 1e5);
    assert_near(q->constraints[2].mu1, 0.5, 0.0);
    assert_ok(stn_problem_save(f->context, q, "contact-problem-1", f->other, &err), err); // again one tree, w known now
    stn_problem_destroy(owner);
    assert_ok(stn_problem_load(f->context, f->other, &owner, &err), err);
    assert_ok(stn_problem_save(f->context, stn_problem_of(owner), "contact-problem-1", f->path, &err), err);
    assert_same_files(f->path, f->other);
    stn_problem_destroy(owner);
    free(A);
    free(J);
    sample_clear(s);
}

static void assert_lost(fixture *f, const stn_problem *p, const char *what) {
    stn_error err = {0};
    assert_int_equal(stn_problem_save(f->context, p, "contact-problem-1", f->path, &err), STN_ERR_UNSUPPORTED);
    if (strstr(err.text, what) == NULL) {
        fail_msg("no \"%s\" in: %s", what, err.text);
    }
    assert_int_equal(access(f->path, F_OK), -1);
}

static void format_1_is_refused_when_something_would_be_lost(void **state) {
    fixture *f = *state;
    sample *s = cones_sample(8);
    stn_problem *p = &s->problem;
    unlink(f->path);
    p->bias[4] = 0.1;
    assert_lost(f, p, "constraint 1 (id 1001): bias");
    p->bias[4] = 0.0;
    p->free_impulse = sample_doubles(s, (size_t)p->nv, 0.0);
    p->free_impulse[3] = 1.0;
    assert_lost(f, p, "free_impulse");
    p->free_impulse = NULL;
    p->velocity_kind = STN_VELOCITY_MID;
    assert_lost(f, p, "mid");
    p->velocity_kind = STN_VELOCITY_END;
    s->constraints[2].set = STN_SET_ELLIPSE;
    assert_lost(f, p, "constraint 2 (id 1002): ellipse");
    s->constraints[2].set = STN_SET_EQUALITY;
    s->constraints[2].kind = STN_CONSTRAINT_BALL;
    assert_lost(f, p, "constraint 2 (id 1002): ball");
    s->constraints[2].set = STN_SET_CONE;
    s->constraints[2].kind = STN_CONSTRAINT_CONTACT;
    s->constraints[1].dissipation = NAN;
    assert_lost(f, p, "'d' known for 2 of 3 contacts");
    s->constraints[1].dissipation = 0.0;
    s->constraints[1].restitution = 0.5;
    assert_lost(f, p, "restitution");
    sample_clear(s);
    s = local_sample();
    assert_lost(f, &s->problem, "local");
    sample_clear(s);
}

static void a_file_that_cannot_be_written_leaves_nothing_behind(void **state) {
    fixture *f = *state;
    sample *s = cones_sample(9);
    stn_error err = {0};
    char path[128];
    snprintf(path, sizeof path, "%s/none/a.json", f->folder);
    assert_int_equal(stn_problem_save(f->context, &s->problem, "contact-problem-2", path, &err), STN_ERR_FILE);
    assert_non_null(strstr(err.text, "No such file or directory"));
    assert_int_equal(stn_problem_save(f->context, &s->problem, "contact-problem-2", f->folder, &err),
                     STN_ERR_FILE); // a folder is there
    assert_int_equal(stn_problem_save(f->context, &s->problem, "contact-problem-4", f->path, &err), STN_ERR_ARGUMENT);
    write_text(f->path, "old", 3);
    s->problem.v0[2] = NAN; // a bad problem does not replace a good file
    assert_int_equal(stn_problem_save(f->context, &s->problem, "contact-problem-2", f->path, &err), STN_ERR_NUMERIC);
    size_t size;
    char *text = read_text(f->path, &size);
    assert_string_equal(text, "old");
    free(text);
    sample_clear(s);
}

// ----------------------------------------------------------------------------------------------- malformed input

static const char *const small_problem =
    "{ \"format\": \"contact-problem-1\", \"name\": \"small\", \"nv\": 2, \"nc\": 1, \"dt\": 0.01,\n"
    "  \"A\": [2.0, 0.5, 0.5, 1.0],\n  \"J\": [1, 0, 0, 1, 1, 1],\n  \"v_star\": [0.5, -1e-1],\n"
    "  \"mu\": [0.7], \"R\": [1e-3, 1e-3, 1e-2], \"v_hat\": [0, 0, 0.25] }";

static const char *const small_problem_2 =
    "{ \"format\": \"contact-problem-2\", \"form\": \"global\", \"dt\": 0.01,\n"
    "  \"trees\": [ { \"A\": { \"form\": \"diagonal\", \"n\": 1, \"values\": [2.0] } },\n"
    "    { \"A\": { \"form\": \"nodal\", \"n\": 3, \"row_start\": [0, 1], \"column\": [0],\n"
    "      \"values\": [1, 0, 0, 0, 1, 0, 0, 0, 1] } } ],\n"
    "  \"v_star\": [0.5, 0, 0, 0],\n"
    "  \"constraints\": [ { \"id\": \"18446744073709551615\", \"kind\": \"joint_limit\", \"set\": \"box\", \"rows\": "
    "1,\n"
    "    \"lo\": [0], \"hi\": [\"inf\"], \"J\": [ { \"tree\": 0, \"values\": [1] },\n"
    "      { \"tree\": 1, \"node\": [0], \"values\": [0, 1, 0] } ] } ] }";

static stn_status load_text(fixture *f, const char *text, size_t size, stn_error *err) {
    stn_problem_owner *owner = NULL;
    write_text(f->path, text, size);
    long long before = atomic_load(&f->heap.live);
    *err = (stn_error){0};
    stn_status status = stn_problem_load(f->context, f->path, &owner, err);
    assert_true((status == STN_OK) == (owner != NULL));
    if (status == STN_OK) {
        assert_int_equal(stn_problem_check(f->context, stn_problem_of(owner), NULL), STN_OK);
    } else {
        assert_true(strncmp(err->text, f->path, strlen(f->path)) == 0 && strchr(err->text, '\n') == NULL);
    }
    stn_problem_destroy(owner);
    assert_int_equal(atomic_load(&f->heap.live), before);
    return status;
}

static void the_small_files_load(void **state) {
    stn_error err;
    assert_ok(load_text(*state, small_problem, strlen(small_problem), &err), err);
    assert_ok(load_text(*state, small_problem_2, strlen(small_problem_2), &err), err);
}

/// Replaces the first `from` of `base` by `to` and expects a refusal that says `part`.
static void expect(fixture *f, const char *base, const char *from, const char *to, stn_status status,
                   const char *part) {
    char text[4096];
    const char *place = strstr(base, from);
    assert_non_null(place);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(place - base), base, to, place + strlen(from));
    stn_error err;
    stn_status got = load_text(f, text, strlen(text), &err);
    if (got != status || strstr(err.text, part) == NULL) {
        fail_msg("%s -> %s: status %d, expected %d with \"%s\": %s", from, to, got, status, part, err.text);
    }
}

static void every_truncation_is_refused_with_its_line(void **state) {
    const char *const texts[] = {small_problem, small_problem_2};
    for (int32_t k = 0; k < 2; k++) {
        for (size_t size = 0; size < strlen(texts[k]); size++) {
            stn_error err;
            assert_int_equal(load_text(*state, texts[k], size, &err), STN_ERR_PARSE);
            assert_non_null(strstr(err.text, ": line "));
        }
    }
    stn_error err;
    assert_int_equal(load_text(*state, small_problem, strlen(small_problem) - 2, &err), STN_ERR_PARSE);
    assert_non_null(strstr(err.text, "line 5: the file ends before"));
}

static void syntax_errors_name_line_and_place(void **state) {
    fixture *f = *state;
    stn_error err;
    expect(f, small_problem, "0.5, 0.5", "0.5, nan", STN_ERR_PARSE, "line 2: not JSON at 'nan, 1.0]");
    expect(f, small_problem, "\"J\"", "J", STN_ERR_PARSE, "line 3: not JSON at ': [1, 0");
    expect(f, small_problem, "0.25] }", "0.25] } x", STN_ERR_PARSE, "line 5");
    assert_int_equal(load_text(f, "{\"format\"\0: 1}", 13, &err), STN_ERR_PARSE);
    assert_non_null(strstr(err.text, "line 1: a zero byte"));
    size_t deep = 200000;
    char *nested = malloc(deep);
    memset(nested, '[', deep);
    assert_int_equal(load_text(f, nested, deep, &err), STN_ERR_PARSE);
    free(nested);
    assert_int_equal(load_text(f, "[1, 2]", 6, &err), STN_ERR_PARSE);
    assert_non_null(strstr(err.text, "expected a JSON object"));
    stn_problem_owner *owner;
    assert_int_equal(stn_problem_load(f->context, "/nothere.json", &owner, &err), STN_ERR_FILE);
    assert_string_equal(err.text, "/nothere.json: cannot be read: No such file or directory");
    assert_int_equal(stn_problem_load(f->context, f->folder, &owner, &err), STN_ERR_FILE);
    assert_null(owner);
}

static void content_errors_of_format_1_name_the_key(void **state) {
    fixture *f = *state;
    const char *p = small_problem;
    expect(f, p, "contact-problem-1", "contact-problem-9", STN_ERR_PARSE,
           "key 'format': 'contact-problem-9' is not known");
    expect(f, p, "\"format\"", "\"formt\"", STN_ERR_PARSE, "key 'format': missing");
    expect(f, p, "0.5, 0.5, 1.0", "0.5, 1.0", STN_ERR_PARSE, "key 'A': 3 numbers, expected nv*nv = 4");
    expect(f, p, "[0.7]", "[0.7, 0.7]", STN_ERR_PARSE, "key 'mu': 2 numbers, expected nc = 1");
    expect(f, p, "-1e-1", "1e999", STN_ERR_PARSE, "key 'v_star': entry 1 is too large a number");
    expect(f, p, "-1e-1", "null", STN_ERR_PARSE, "key 'v_star': entry 1 is null, expected a finite number");
    expect(f, p, "[0.7]", "0.7", STN_ERR_PARSE, "key 'mu': a number, expected an array");
    expect(f, p, "[0.7]", "[\"inf\"]", STN_ERR_PARSE, "key 'mu': entry 0 is a text");
    expect(f, p, "[0.7]", "[-0.7]", STN_ERR_ARGUMENT, "constraint 0 (contact, id 0): mu1 = -0.7, must be >= 0");
    expect(f, p, "0.5, 0.5", "0.5, 0.6", STN_ERR_ARGUMENT, "is not symmetric: entry (1, 0)");
    expect(f, p, "[2.0,", "[-2.0,", STN_ERR_ARGUMENT, "not positive semidefinite: diagonal entry 0 is -2");
    expect(f, p, "0.5, 0.5", "1.5, 1.5", STN_ERR_ARGUMENT, "not positive semidefinite");
    expect(f, p, "\"dt\": 0.01", "\"dt\": 0", STN_ERR_ARGUMENT, "dt = 0 s, must be > 0");
    expect(f, p, "\"dt\": 0.01", "\"dt\": true", STN_ERR_PARSE, "key 'dt': true or false, expected a finite number");
    expect(f, p, "\"nv\": 2", "\"nv\": 2.5", STN_ERR_PARSE, "key 'nv': 2.5, expected a whole number from 1");
    expect(f, p, "\"nv\": 2", "\"nv\": -2", STN_ERR_PARSE, "key 'nv': -2");
    expect(f, p, "\"nv\": 2", "\"nv\": 2000000000", STN_ERR_PARSE, "key 'nv': 2000000000, but a dense A");
    expect(f, p, "\"nv\": 2", "\"nv\": 1e300", STN_ERR_PARSE, "key 'nv'");
    expect(f, p, "\"nc\": 1", "\"nc\": 2000000000", STN_ERR_PARSE, "key 'nc'");
    expect(f, p, "\"nc\": 1", "\"nc\": 22000000", STN_ERR_PARSE, "key 'nc'");
    expect(f, p, "\"nc\": 1, ", "", STN_ERR_PARSE, "key 'nc': missing");
    expect(f, p, "\"nc\": 1", "\"nc\": 1, \"A\": []", STN_ERR_PARSE, "key 'A': appears twice");
    expect(f, p, "\"R\": [1e-3, 1e-3, 1e-2], ", "", STN_ERR_PARSE, "key 'R': missing, but 'v_hat' is given");
    expect(f, p, "1e-3, 1e-3", "-1e-3, 1e-3", STN_ERR_ARGUMENT, "row 0: R = -0.001 1/kg");
    expect(f, p, ", \"R\": [1e-3, 1e-3, 1e-2], \"v_hat\": [0, 0, 0.25]", "", STN_ERR_NUMERIC, "phi0 is not a number");
    expect(f, p, "\"small\"", "7", STN_ERR_PARSE, "key 'name': a number, expected a text");
}

/// What format 2 said of nodes before they had a size still means 3 dofs a node.
static void nodes_without_a_size_have_three_dofs(void **state) {
    fixture *f = *state;
    stn_problem_owner *owner = NULL;
    stn_error err;
    write_text(f->path, small_problem_2, strlen(small_problem_2));
    assert_null(strstr(small_problem_2, "node_size"));
    assert_ok(stn_problem_load(f->context, f->path, &owner, &err), err);
    const stn_problem *p = stn_problem_of(owner);
    assert_int_equal(p->trees[1].A.node_size, 3);
    assert_int_equal(p->constraints[0].J[1].node_size, 3);
    assert_ok(stn_problem_save(f->context, p, "contact-problem-2", f->path, &err), err);
    size_t size;
    char *text = read_text(f->path, &size);
    assert_null(strstr(text, "node_size")); // and readers of today's files read it
    free(text);
    stn_problem_destroy(owner);
}

static void content_errors_of_format_2_name_the_key(void **state) {
    fixture *f = *state;
    const char *p = small_problem_2;
    expect(f, p, "\"dt\"", "\"d\nt\"", STN_ERR_PARSE, "key 'd?t': not known here"); // messages stay on one line
    expect(f, p, "\"kind\"", "\"knid\"", STN_ERR_PARSE,
           "key 'constraints[0].knid': not known here; did you mean 'kind'?");
    expect(f, p, "joint_limit", "limit", STN_ERR_PARSE,
           "key 'constraints[0].kind': 'limit' is not known; expected one of");
    expect(f, p, "\"box\"", "\"bax\"", STN_ERR_PARSE, "expected one of cone, ellipse, box, equality");
    expect(f, p, "\"lo\": [0], ", "", STN_ERR_PARSE, "key 'constraints[0].lo': missing");
    expect(f, p, "\"lo\": [0]", "\"lo\": [null]", STN_ERR_NUMERIC, "row 0: lo = nan");
    expect(f, p, "\"lo\": [0]", "\"lo\": [\"inf\"]", STN_ERR_ARGUMENT, "must be lo <= hi");
    expect(f, p, "\"inf\"", "\"infinity\"", STN_ERR_PARSE, "key 'constraints[0].hi': entry 0 is a text");
    expect(f, p, "18446744073709551615", "18446744073709551616", STN_ERR_PARSE, "key 'constraints[0].id'");
    expect(f, p, "\"18446744073709551615\"", "7", STN_ERR_PARSE, "key 'constraints[0].id': a number");
    expect(f, p, "18446744073709551615", "-1", STN_ERR_PARSE, "key 'constraints[0].id'");
    expect(f, p, "\"rows\": 1", "\"rows\": 7", STN_ERR_PARSE, "key 'constraints[0].rows': 7, expected a whole number");
    expect(f, p, "\"rows\": 1", "\"rows\": 2", STN_ERR_PARSE, "key 'constraints[0].J[0].values': 1 numbers, expected");
    expect(f, p, "\"tree\": 1", "\"tree\": 2", STN_ERR_PARSE, "key 'constraints[0].J[1].tree': 2");
    expect(f, p, "\"tree\": 1", "\"tree\": 0", STN_ERR_ARGUMENT, "Jacobian blocks 0 and 1 are both of tree 0");
    expect(f, p, "\"node\": [0]", "\"node\": [1]", STN_ERR_ARGUMENT, "J[1].node[0] = 1, but tree 1 has 1 nodes");
    expect(f, p, "\"node\": [0]", "\"node\": [0,0,0,0,0,0,0,0,0]", STN_ERR_PARSE, "9 nodes, at most 8");
    expect(f, p, "[0, 1, 0]", "[0, 1]", STN_ERR_PARSE, "expected rows * node_size * nodes = 3");
    expect(f, p, "[0, 1]", "[0, 2]", STN_ERR_PARSE,
           "key 'trees[1].A.column': 1 numbers, expected last of row_start = 2");
    expect(f, p, "[0, 1]", "[0, -1]", STN_ERR_PARSE, "key 'trees[1].A.row_start': must begin with 0");
    expect(f, p, "\"column\": [0]", "\"column\": [1]", STN_ERR_ARGUMENT, "tree 1 (source 1): A: row 0 of the pattern");
    expect(f, p, "\"n\": 3", "\"n\": 4", STN_ERR_PARSE,
           "key 'trees[1].A.n': 4, expected a multiple of node_size, which is 3");
    expect(f, p, "\"n\": 3", "\"n\": 3, \"node_size\": 0", STN_ERR_PARSE, "key 'trees[1].A.node_size': 0, expected");
    expect(f, p, "\"n\": 3", "\"n\": 3, \"node_size\": 13", STN_ERR_PARSE, "key 'trees[1].A.node_size': 13, expected");
    expect(f, p, "\"n\": 3", "\"n\": 3, \"node_size\": 2", STN_ERR_PARSE, "a multiple of node_size, which is 2");
    expect(f, p, "\"n\": 3", "\"n\": 3, \"node_size\": 1", STN_ERR_PARSE, "expected n/node_size + 1 = 4");
    expect(f, p, "\"node\": [0]", "\"node_size\": 1, \"node\": [0]", STN_ERR_PARSE,
           "expected rows * node_size * nodes = 1");
    expect(f, p, "\"node\": [0]", "\"node_size\": 13, \"node\": [0]", STN_ERR_PARSE, "J[1].node_size': 13");
    expect(f, p, "\"n\": 3", "\"n\": 3, \"n\": 3", STN_ERR_PARSE, "key 'trees[1].A.n': appears twice");
    expect(f, p, "\"diagonal\", \"n\": 1", "\"dense\", \"n\": 100000", STN_ERR_PARSE, "but a dense matrix of more");
    expect(f, p, "\"diagonal\", \"n\": 1", "\"zero\", \"n\": 67108864", STN_ERR_PARSE, "more than 67108864 dofs");
    expect(f, p, "[ { \"A\"", "[ 5, { \"A\"", STN_ERR_PARSE, "key 'trees[0].': expected an object");
    expect(f, p, "[0.5, 0, 0, 0]", "[0.5]", STN_ERR_PARSE, "key 'v_star': 1 numbers, expected nv = 4");
    expect(f, p, "\"form\": \"global\"", "\"form\": \"global\", \"W\": [1]", STN_ERR_PARSE,
           "key 'W': only a problem of form");
    expect(f, p, "\"dt\": 0.01", "\"dt\": 0.01, \"theta\": 0.5", STN_ERR_ARGUMENT, "theta = 0.5");
    expect(f, p, "\"J\": [ {", "\"J\": [ 1, {", STN_ERR_PARSE, "3 blocks, expected 1 to 2, one for each tree");
    expect(f, p, "\"J\": [ {", "\"J\": [], \"x\": [ {", STN_ERR_PARSE, "key 'constraints[0].x': not known");
}

static void no_memory_is_said_and_nothing_leaks(void **state) {
    fixture *f = *state;
    const char *const texts[] = {small_problem, small_problem_2};
    for (int32_t k = 0; k < 2; k++) {
        stn_status status = STN_ERR_MEMORY;
        write_text(f->path, texts[k], strlen(texts[k]));
        long long before = atomic_load(&f->heap.live);
        for (long long n = 1; status != STN_OK; n++) {
            stn_problem_owner *owner = NULL;
            stn_error err = {0};
            stn_heap_arm(&f->heap, n);
            status = stn_problem_load(f->context, f->path, &owner, &err);
            if (status == STN_OK) {
                status = stn_problem_save(f->context, stn_problem_of(owner), "contact-problem-2", f->other, &err);
            }
            stn_heap_arm(&f->heap, 0);
            assert_true(status == STN_OK || (status == STN_ERR_MEMORY && strstr(err.text, "memory") != NULL));
            stn_problem_destroy(owner);
            assert_int_equal(atomic_load(&f->heap.live), before);
        }
    }
    sample *s = cones_sample(3);
    stn_status status = STN_ERR_MEMORY;
    for (long long n = 1; status != STN_OK; n++) {
        stn_heap_arm(&f->heap, n);
        status = stn_problem_save(f->context, &s->problem, "contact-problem-1", f->other, NULL);
        stn_heap_arm(&f->heap, 0);
        assert_true(status == STN_OK || status == STN_ERR_MEMORY);
    }
    sample_clear(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nodes_without_a_size_have_three_dofs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(format_2_keeps_every_member_and_every_bit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(local_problems_are_kept_and_their_masses_derived_from_W, set_up, tear_down),
        cmocka_unit_test_setup_teardown(format_1_holds_cones_of_several_trees_as_one_dense_problem, set_up, tear_down),
        cmocka_unit_test_setup_teardown(format_1_is_refused_when_something_would_be_lost, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_file_that_cannot_be_written_leaves_nothing_behind, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_small_files_load, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_truncation_is_refused_with_its_line, set_up, tear_down),
        cmocka_unit_test_setup_teardown(syntax_errors_name_line_and_place, set_up, tear_down),
        cmocka_unit_test_setup_teardown(content_errors_of_format_1_name_the_key, set_up, tear_down),
        cmocka_unit_test_setup_teardown(content_errors_of_format_2_name_the_key, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_memory_is_said_and_nothing_leaks, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
