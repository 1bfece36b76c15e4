// SPDX-License-Identifier: Apache-2.0
// FCLIB files, made here array by array: the local and the global form, what is refused, what is told.
#include <stdlib.h>
#include <string.h>

#include <stiction/certificate.h>
#include <stiction/delassus.h>
#include <stiction/solve.h>

#include <stiction/output.h>

#include "array_file.h"
#include "stn_test.h"

#define FILE_NAME STN_BINARY_DIR "/tests/fclib.hdf5"

typedef struct log_lines {
    char text[2048];
} log_lines;

static void keep_line(void *user, stn_log_level level, const char *text) {
    log_lines *lines = user;
    size_t used = strlen(lines->text);
    if (level >= STN_LOG_WARNING) {
        snprintf(lines->text + used, sizeof lines->text - used, "%s\n", text);
    }
}

static log_lines lines;

static int set_up(void **state) {
    const stn_context_options options = {.log = keep_line, .log_user = &lines};
    stn_error err;
    lines.text[0] = '\0';
    return stn_context_create(&options, (stn_context **)state, &err) == STN_OK ? 0 : 1;
}

static int tear_down(void **state) {
    stn_context_destroy(*state);
    remove(FILE_NAME);
    return 0;
}

// ------------------------------------------------------------------------------------------------------------ making

static void put_integer(array_builder *b, const char *name, int64_t value) {
    array_builder_add(b, name, ARRAY_WIRE_INTEGERS, &value, 1);
}

static void put_reals(array_builder *b, const char *name, const double *values, uint64_t count) {
    array_builder_add(b, name, ARRAY_WIRE_REALS, values, count);
}

/// A dense matrix by its entries: nz = -2 rows, -1 columns, 0 triplets (all of them stored, zeros too).
static void put_matrix(array_builder *b, const char *name, int32_t m, int32_t n, int storage, const double *dense) {
    char path[96];
    int64_t p[400], i[400];
    double x[400];
    int64_t count = (int64_t)m * n, lines_of = storage == -1 ? n : m;
    for (int64_t k = 0; k < count; k++) {
        int64_t row = storage == -1 ? k % m : k / n, column = storage == -1 ? k / m : k % n;
        x[k] = dense[row * n + column];
        i[k] = storage == -2 ? column : row;
        p[k] = column;
    }
    for (int64_t k = 0; k <= lines_of && storage < 0; k++) {
        p[k] = k * (storage == -1 ? m : n);
    }
    const struct {
        const char *part;
        int64_t value;
    } numbers[] = {{"m", m}, {"n", n}, {"nzmax", count}, {"nz", storage < 0 ? storage : count}};
    for (int32_t k = 0; k < STN_COUNT(numbers); k++) {
        snprintf(path, sizeof path, "%s/%s", name, numbers[k].part);
        put_integer(b, path, numbers[k].value);
    }
    snprintf(path, sizeof path, "%s/p", name);
    array_builder_add(b, path, ARRAY_WIRE_INTEGERS, p, (uint64_t)(storage < 0 ? lines_of + 1 : count));
    snprintf(path, sizeof path, "%s/i", name);
    array_builder_add(b, path, ARRAY_WIRE_INTEGERS, i, (uint64_t)count);
    snprintf(path, sizeof path, "%s/x", name);
    put_reals(b, path, x, (uint64_t)count);
}

static stn_problem_owner *load(stn_context *context) {
    stn_problem_owner *owner = NULL;
    stn_error err;
    assert_ok(stn_problem_load(context, FILE_NAME, &owner, &err), err);
    return owner;
}

static void write_image(const stn_problem_sink *sink, const void *bytes, size_t size) {
    stn_error err;
    assert_ok(stn_output_write(sink->path, bytes, size, &err), err);
}

static void write_arrays(array_builder *b) {
    stn_error err;
    const stn_problem_sink sink = {.context = b->context, .path = FILE_NAME, .put = write_image};
    assert_ok(array_builder_write(b, &sink, &err), err);
}

// ------------------------------------------------------------------------------------------------------------- local

// rows n, t1, t2; contact 1 by contact 2
static const double W[36] = {
    4, 1, 0.5, 1, 0, 0, /**/ 1, 3,   0.25, 0, 0.5, 0, /**/ 0.5, 0.25, 5,     0, 0, 0.125,
    1, 0, 0,   6, 1, 0, /**/ 0, 0.5, 0,    1, 7,   2, /**/ 0,   0,    0.125, 0, 2, 8,
};
static const double q[6] = {-1, -2, -3, -4, -5, -6}, mu[2] = {0.25, 0.75};

static void put_local(array_builder *b, int storage, const double *matrix) {
    put_integer(b, "fclib_local/spacedim", 3);
    put_matrix(b, "fclib_local/W", 6, 6, storage, matrix);
    put_reals(b, "fclib_local/vectors/q", q, 6);
    put_reals(b, "fclib_local/vectors/mu", mu, 2);
}

/// Row of a file that stands in row i here.
static int32_t row_of(int32_t i) {
    return i % 3 == 2 ? i - 2 : i + 1;
}

static void a_local_problem_comes_with_the_normal_last(void **state) {
    for (int storage = -2; storage <= 0; storage++) {
        array_builder b = {.context = *state};
        put_local(&b, storage, W);
        write_arrays(&b);
        stn_problem_owner *owner = load(*state);
        const stn_problem *p = stn_problem_of(owner);
        assert_true(p->form == STN_FORM_LOCAL && p->constraint_count == 2 && p->row_count == 6 && !p->general_W);
        for (int32_t i = 0; i < 6; i++) {
            assert_near(p->q[i], q[row_of(i)], 0.0);
            for (int32_t j = 0; j < 6; j++) {
                assert_near(p->W[6 * i + j], W[6 * row_of(i) + row_of(j)], 0.0);
            }
        }
        assert_near(p->constraints[1].mu1, 0.75, 0.0);
        assert_near(p->constraints[0].w_trace, 12.0, 0.0);
        assert_string_equal(lines.text, "");
        stn_problem_destroy(owner);
    }
}

/// u = W r + V l + q, 0 = V' r + R l + s with one l, by hand; in the rows of the file.
static void bilateral_rows_act_as_the_layout_says(void **state) {
    static const double V[6] = {0.5, 0, -0.25, 0, 1, 0}, R[1] = {2.0}, s[1] = {3.0};
    array_builder b = {.context = *state};
    put_local(&b, -2, W);
    put_matrix(&b, "fclib_local/V", 6, 1, 0, V);
    put_matrix(&b, "fclib_local/R", 1, 1, -1, R);
    put_reals(&b, "fclib_local/vectors/s", s, 1);
    write_arrays(&b);
    stn_problem_owner *owner = load(*state);
    stn_arena *arena = stn_arena_create(*state);
    stn_delassus d;
    stn_error err;
    assert_ok(stn_delassus_build(NULL, stn_problem_of(owner), arena, &d, &err), err);
    const double gamma[6] = {0.1, -0.2, 0.3, 0.4, 0.5, -0.6};
    double r[6], l = s[0];
    for (int32_t i = 0; i < 6; i++) {
        r[row_of(i)] = gamma[i];
    }
    for (int32_t k = 0; k < 6; k++) {
        l += V[k] * r[k];
    }
    l /= -R[0];
    for (int32_t i = 0; i < 2; i++) {
        double u[3] = {d.b[3 * i], d.b[3 * i + 1], d.b[3 * i + 2]};
        stn_delassus_row_mul_add(&d, i, gamma, u);
        for (int32_t k = 0; k < 3; k++) {
            int32_t row = row_of(3 * i + k);
            double expected = q[row] + V[row] * l;
            for (int32_t j = 0; j < 6; j++) {
                expected += W[6 * row + j] * r[j];
            }
            assert_near(u[k], expected, 1e-14);
        }
    }
    stn_arena_destroy(arena);
    stn_problem_destroy(owner);
}

static void an_operator_that_is_not_symmetric_is_kept_and_told(void **state) {
    double skew[36];
    memcpy(skew, W, sizeof skew);
    skew[1] += 0.008; // by 1e-3 of the largest entry, 8
    array_builder b = {.context = *state};
    put_local(&b, -2, skew);
    write_arrays(&b);
    stn_problem_owner *owner = load(*state), *again = NULL;
    assert_true(stn_problem_of(owner)->general_W);
    assert_near(stn_problem_of(owner)->W[6 * 2 + 0], 1.008, 0.0); // the row of n, the column of t1
    assert_near(stn_problem_of(owner)->W[6 * 0 + 2], 1.0, 0.0);
    assert_non_null(strstr(lines.text, ": W is not symmetric, by 1.0e-03 of its largest entry"));
    stn_error err;
    assert_ok(stn_problem_save(*state, stn_problem_of(owner), "contact-problem-2", FILE_NAME ".json", &err), err);
    assert_ok(stn_problem_load(*state, FILE_NAME ".json", &again, &err), err);
    assert_true(stn_problem_of(again)->general_W);
    remove(FILE_NAME ".json");
    stn_problem_destroy(again);
    stn_problem_destroy(owner);
}

// ------------------------------------------------------------------------------------------------------------ global

// Two bodies of 3 dofs, the second coupled within; a contact of the first with the ground, one between both.
static const double M[36] = {
    2, 0, 0, 0, 0, 0, /**/ 0, 4, 0, 0, 0, 0,   /**/ 0, 0, 5, 0, 0,   0,
    0, 0, 0, 1, 0, 0, /**/ 0, 0, 0, 0, 3, 0.5, /**/ 0, 0, 0, 0, 0.5, 6,
};
static const double H[36] = {
    1, 0, 0.5, -1, 0, 0, /**/ 0, 1, 0, 0, -1, 0, /**/ 0, 0, 1, 0, 0, -1,
    0, 0, 0,   1,  0, 0, /**/ 0, 0, 0, 0, 1,  0, /**/ 0, 0, 0, 0, 0, 1,
};
static const double f[6] = {1, 2, 3, 4, 5, 6}, w[6] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6}, G[6] = {1, 0, 0, -1, 0, 0},
                    g[1] = {0.25};

static void put_global(array_builder *b, const double *mass, bool bilateral) {
    put_integer(b, "fclib_global/spacedim", 3);
    put_matrix(b, "fclib_global/M", 6, 6, -1, mass);
    put_matrix(b, "fclib_global/H", 6, 6, -2, H);
    put_reals(b, "fclib_global/vectors/f", f, 6);
    put_reals(b, "fclib_global/vectors/w", w, 6);
    put_reals(b, "fclib_global/vectors/mu", mu, 2);
    if (bilateral) {
        put_matrix(b, "fclib_global/G", 6, 1, 0, G);
        put_reals(b, "fclib_global/vectors/b", g, 1);
    }
}

/// Gauss-Jordan without pivoting: x = A^-1 b; A and b are overwritten.
static void plain_solve(int32_t n, double *A, double *b) {
    for (int32_t k = 0; k < n; k++) {
        for (int32_t i = 0; i < n; i++) {
            double factor = i == k ? 0.0 : A[i * n + k] / A[k * n + k];
            for (int32_t j = k; j < n && i != k; j++) {
                A[i * n + j] -= factor * A[k * n + j];
            }
            b[i] -= i == k ? 0.0 : factor * b[k];
        }
    }
    for (int32_t k = 0; k < n; k++) {
        b[k] /= A[k * n + k];
    }
}

/// u of the layout's equations for r, in the rows of the file.
static void plain_velocities(const double *mass, bool bilateral, const double *r, double *u) {
    double A[49], x[7];
    int32_t n = bilateral ? 7 : 6;
    for (int32_t i = 0; i < 6; i++) {
        x[i] = f[i];
        for (int32_t j = 0; j < 6; j++) {
            A[i * n + j] = mass[6 * i + j];
            x[i] += H[6 * i + j] * r[j];
        }
        if (bilateral) {
            A[i * n + 6] = -G[i];
            A[6 * n + i] = G[i];
        }
    }
    if (bilateral) {
        A[48] = 0.0;
        x[6] = -g[0];
    }
    plain_solve(n, A, x);
    for (int32_t j = 0; j < 6; j++) {
        u[j] = w[j];
        for (int32_t i = 0; i < 6; i++) {
            u[j] += H[6 * i + j] * x[i];
        }
    }
}

static void compare_velocities(void *context, const stn_problem *p, const double *mass, bool bilateral) {
    const double gamma[6] = {0.1, -0.2, 0.3, 0.4, 0.5, -0.6};
    double r[6], u[6];
    stn_arena *arena = stn_arena_create(context);
    stn_inverse *inverse = NULL;
    stn_delassus d;
    stn_error err;
    for (int32_t i = 0; i < 6; i++) {
        r[row_of(i)] = gamma[i];
    }
    plain_velocities(mass, bilateral, r, u);
    assert_ok(stn_inverse_create(context, &inverse, &err), err);
    assert_ok(stn_inverse_factor(inverse, p, &err), err);
    assert_ok(stn_delassus_build(inverse, p, arena, &d, &err), err);
    for (int32_t i = 0; i < 2; i++) {
        double v_c[3] = {d.b[3 * i], d.b[3 * i + 1], d.b[3 * i + 2]};
        stn_delassus_row_mul_add(&d, i, gamma, v_c);
        for (int32_t k = 0; k < 3; k++) {
            assert_near(v_c[k], u[row_of(3 * i + k)], 1e-13);
        }
    }
    stn_inverse_destroy(inverse);
    stn_arena_destroy(arena);
}

static void a_global_problem_gives_the_velocities_of_its_equations(void **state) {
    double skew[36];
    memcpy(skew, M, sizeof skew);
    skew[6 * 4 + 5] = 0.75;
    for (int32_t form = 0; form < 3; form++) { // as it is, with a bilateral row, with an M that is not symmetric
        array_builder b = {.context = *state};
        put_global(&b, form == 2 ? skew : M, form == 1);
        write_arrays(&b);
        stn_problem_owner *owner = load(*state);
        const stn_problem *p = stn_problem_of(owner);
        assert_int_equal(p->form, form == 0 ? STN_FORM_GLOBAL : STN_FORM_LOCAL);
        assert_int_equal(p->tree_count, form == 0 ? 2 : 0);
        assert_true((strstr(lines.text, "fclib_global/M is not symmetric") != NULL) == (form == 2));
        compare_velocities(*state, p, form == 2 ? skew : M, form == 1);
        stn_problem_destroy(owner);
    }
}

// ----------------------------------------------------------------------------------------------------------- writing

static void what_is_written_is_read_again(void **state) {
    for (int32_t form = 0; form < 2; form++) {
        array_builder b = {.context = *state};
        if (form == 0) {
            put_global(&b, M, false);
        } else {
            put_local(&b, 0, W);
        }
        write_arrays(&b);
        stn_problem_owner *owner = load(*state), *again = NULL;
        const stn_problem *p = stn_problem_of(owner), *r;
        stn_error err;
        assert_ok(stn_problem_save(*state, p, "fclib", FILE_NAME, &err), err);
        again = load(*state);
        r = stn_problem_of(again);
        assert_true(r->form == p->form && r->nv == p->nv && r->row_count == p->row_count);
        for (int32_t i = 0; i < p->nv; i++) {
            assert_near(r->v_star[i], p->v_star[i], 1e-15 * 8.0);
        }
        for (int32_t i = 0; i < 6; i++) {
            assert_near(r->bias[i], p->bias[i], 0.0);
            assert_true(p->form == STN_FORM_GLOBAL || r->q[i] == p->q[i]);
        }
        for (int32_t i = 0; i < 36 && p->form == STN_FORM_LOCAL; i++) {
            assert_near(r->W[i], p->W[i], 0.0);
        }
        if (p->form == STN_FORM_GLOBAL) {
            compare_velocities(*state, r, M, false);
        }
        stn_problem_destroy(again);
        stn_problem_destroy(owner);
    }
}

static void what_the_layout_cannot_hold_is_refused(void **state) {
    array_builder b = {.context = *state};
    put_global(&b, M, false);
    write_arrays(&b);
    stn_problem_owner *owner = load(*state);
    stn_problem p = *stn_problem_of(owner);
    stn_constraint constraints[2];
    stn_error err;
    p.constraints = constraints;
    for (int32_t i = 0; i < 5; i++) {
        static const char *const words[] = {"constraint 1 (id 1): ellipse", "constraint 1 (id 1): a stiffness",
                                            "constraint 1 (id 1): restitution", "velocities of kind mid",
                                            "constraint 1 (id 1): joint_limit"};
        memcpy(constraints, stn_problem_of(owner)->constraints, sizeof constraints);
        stn_constraint *c = &constraints[1];
        if (i == 0) {
            c->set = STN_SET_ELLIPSE;
        } else if (i == 1) {
            c->stiffness = 1e5;
        } else if (i == 2) {
            c->restitution = 0.5;
        } else if (i == 4) {
            c->kind = STN_CONSTRAINT_JOINT_LIMIT;
        }
        p.velocity_kind = i == 3 ? STN_VELOCITY_MID : STN_VELOCITY_END;
        assert_int_equal(stn_problem_save(*state, &p, "fclib", FILE_NAME, &err), STN_ERR_UNSUPPORTED);
        assert_non_null(strstr(err.text, words[i]));
        assert_null(strchr(err.text, '\n'));
    }
    stn_problem_destroy(owner);
}

/// A rigid contact with a distance is the one whose normal velocity is judged from -phi0/(dt + tau) on.
static void a_distance_goes_into_the_velocity(void **state) {
    array_builder b = {.context = *state};
    put_global(&b, M, false);
    write_arrays(&b);
    stn_problem_owner *owner = load(*state);
    stn_problem p = *stn_problem_of(owner);
    stn_error err;
    p.dt = 0.01;
    p.constraints[0].phi0 = 0.003;
    p.constraints[0].relaxation_time = 0.02;
    assert_ok(stn_problem_save(*state, &p, "fclib", FILE_NAME, &err), err);
    stn_problem_owner *again = load(*state);
    assert_near(stn_problem_of(again)->bias[2], p.bias[2] + 0.1, 1e-16);
    assert_near(stn_problem_of(again)->bias[5], p.bias[5], 0.0);
    stn_problem_destroy(again);
    stn_problem_destroy(owner);
}

// ------------------------------------------------------------------------------------------------------------ hostile

typedef void (*spoiler)(array_builder *b);

static void spoil_size(array_builder *b) {
    put_integer(b, "fclib_local/spacedim", 3);
    put_matrix(b, "fclib_local/W", 6, 5, 0, W);
    put_reals(b, "fclib_local/vectors/q", q, 6);
    put_reals(b, "fclib_local/vectors/mu", mu, 2);
}

static void spoil_nan(array_builder *b) {
    double bad[36];
    memcpy(bad, W, sizeof bad);
    bad[7] = (double)NAN;
    put_local(b, -2, bad);
}

static void spoil_mu(array_builder *b) {
    const double bad[2] = {0.5, -0.1};
    put_integer(b, "fclib_local/spacedim", 3);
    put_matrix(b, "fclib_local/W", 6, 6, -2, W);
    put_reals(b, "fclib_local/vectors/q", q, 6);
    put_reals(b, "fclib_local/vectors/mu", bad, 2);
}

static void spoil_q(array_builder *b) {
    put_integer(b, "fclib_local/spacedim", 3);
    put_matrix(b, "fclib_local/W", 6, 6, -2, W);
    put_reals(b, "fclib_local/vectors/q", q, 5);
    put_reals(b, "fclib_local/vectors/mu", mu, 2);
}

static void spoil_missing(array_builder *b) {
    put_integer(b, "fclib_local/spacedim", 3);
    put_reals(b, "fclib_local/vectors/q", q, 6);
    put_reals(b, "fclib_local/vectors/mu", mu, 2);
}

static void spoil_huge(array_builder *b) {
    put_integer(b, "fclib_local/spacedim", 3);
    put_integer(b, "fclib_local/W/m", 2000000000);
    put_reals(b, "fclib_local/vectors/q", q, 6);
    put_reals(b, "fclib_local/vectors/mu", mu, 2);
}

static void put_raw(array_builder *b, const int64_t *p, uint64_t p_count, const int64_t *i, uint64_t i_count,
                    int64_t nz) {
    const double x[3] = {1, 1, 1};
    put_integer(b, "fclib_local/spacedim", 3);
    put_integer(b, "fclib_local/W/m", 3);
    put_integer(b, "fclib_local/W/n", 3);
    put_integer(b, "fclib_local/W/nz", nz);
    array_builder_add(b, "fclib_local/W/p", ARRAY_WIRE_INTEGERS, p, p_count);
    array_builder_add(b, "fclib_local/W/i", ARRAY_WIRE_INTEGERS, i, i_count);
    put_reals(b, "fclib_local/W/x", x, 3);
    put_reals(b, "fclib_local/vectors/q", q, 3);
    put_reals(b, "fclib_local/vectors/mu", mu, 1);
}

static void spoil_pointers(array_builder *b) {
    put_raw(b, (const int64_t[]){0, 2, 1, 3}, 4, (const int64_t[]){0, 1, 2}, 3, -2);
}

static void spoil_index(array_builder *b) {
    put_raw(b, (const int64_t[]){0, 1, 2, 3}, 4, (const int64_t[]){0, 1, 7}, 3, -1);
}

static void spoil_triplets(array_builder *b) {
    put_raw(b, (const int64_t[]){0, 1, -2}, 3, (const int64_t[]){0, 1, 2}, 3, 3);
}

static void spoil_storage(array_builder *b) {
    put_raw(b, (const int64_t[]){0, 1, 2, 3}, 4, (const int64_t[]){0, 1, 2}, 3, -7);
}

static void spoil_short(array_builder *b) {
    put_raw(b, (const int64_t[]){0, 1, 2, 9}, 4, (const int64_t[]){0, 1, 2}, 3, -1);
}

static void spoil_plane(array_builder *b) {
    put_integer(b, "fclib_local/spacedim", 2);
}

static void spoil_group(array_builder *b) {
    put_integer(b, "fclib/spacedim", 3);
}

static void spoil_mass(array_builder *b) {
    double singular[36] = {0};
    put_global(b, singular, false);
}

static void bad_files_give_one_line(void **state) {
    static const struct {
        spoiler spoil;
        const char *words;
    } cases[] = {
        {spoil_size, "fclib_local/W: is 6 x 5, but 2 friction coefficients make 6 rows"},
        {spoil_nan, "fclib_local/W: entry (1, 1) is nan, must be finite"},
        {spoil_mu, "fclib_local/vectors/mu: [1] is -0.1, must be >= 0"},
        {spoil_q, "fclib_local/vectors/q: expected 6 numbers (rows of W), it has 5"},
        {spoil_missing, "fclib_local/W/m: is missing"},
        {spoil_huge, "fclib_local/W/m: is 2000000000, must be from 0 to 16777216"},
        {spoil_pointers, "p[1] = 2, p[2] = 1 must rise from 0"},
        {spoil_index, "fclib_local/W: i[2] = 7 must be from 0 to 2"},
        {spoil_triplets, "fclib_local/W: p[2] = -2 must be from 0 to 2"},
        {spoil_storage, "fclib_local/W/nz: is -7, must be from -2"},
        {spoil_short, "fclib_local/W/i: has 3 entries, expected at least 9"},
        {spoil_plane, "fclib_local/spacedim: is 2: only problems in 3 dimensions are read"},
        {spoil_group, "no FCLIB problem"},
        {spoil_mass, "fclib_global/M"},
    };
    for (int32_t i = 0; i < STN_COUNT(cases); i++) {
        array_builder b = {.context = *state};
        stn_problem_owner *owner = NULL;
        stn_error err = {0};
        cases[i].spoil(&b);
        write_arrays(&b);
        stn_status status = stn_problem_load(*state, FILE_NAME, &owner, &err);
        if (status == STN_OK || strstr(err.text, cases[i].words) == NULL) {
            fail_msg("'%s', expected '%s'", err.text, cases[i].words);
        }
        assert_null(owner);
        assert_null(strchr(err.text, '\n'));
        assert_memory_equal(err.text, FILE_NAME ": ", strlen(FILE_NAME) + 2);
    }
}

/// The bytes of a good file, cut off and spoiled: an answer or one line, never anything else.
static void damaged_bytes_give_one_line(void **state) {
    static char bytes[1 << 16];
    array_builder b = {.context = *state};
    put_local(&b, -2, W);
    write_arrays(&b);
    FILE *file = fopen(FILE_NAME, "rb");
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    assert_true(size > 1000 && size < sizeof bytes);
    unsigned random = 1;
    for (int32_t i = 0; i < 24; i++) {
        char *spoiled = malloc(size);
        memcpy(spoiled, bytes, size);
        size_t kept = i < 8 ? size * (size_t)i / 8 : size;
        for (int32_t k = 0; k < 8 && i >= 8; k++) {
            random = random * 1664525u + 1013904223u;
            spoiled[8 + (random >> 8) % (size - 8)] = (char)(random >> 3);
        }
        file = fopen(FILE_NAME, "wb");
        assert_true(fwrite(spoiled, 1, kept, file) == kept && fclose(file) == 0);
        free(spoiled);
        stn_problem_owner *owner = NULL;
        stn_error err = {0};
        stn_status status = stn_problem_load(*state, FILE_NAME, &owner, &err);
        assert_true(status == STN_OK || (err.text[0] != '\0' && strchr(err.text, '\n') == NULL));
        assert_true(i >= 8 || status != STN_OK);
        stn_problem_destroy(owner);
    }
}

static void without_the_program_a_line_says_so(void **state) {
    array_builder b = {.context = *state};
    put_local(&b, -2, W);
    write_arrays(&b);
    stn_problem_owner *owner = NULL;
    stn_error err;
    setenv("STICTION_HDF5_WORKER", "/nowhere/stiction-hdf5", 1);
    stn_status status = stn_problem_load(*state, FILE_NAME, &owner, &err);
    unsetenv("STICTION_HDF5_WORKER");
    assert_int_equal(status, STN_ERR_FILE);
    assert_non_null(strstr(err.text, "stiction-hdf5, which cannot be started"));
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_local_problem_comes_with_the_normal_last),
        TEST(bilateral_rows_act_as_the_layout_says),
        TEST(an_operator_that_is_not_symmetric_is_kept_and_told),
        TEST(a_global_problem_gives_the_velocities_of_its_equations),
        TEST(what_is_written_is_read_again),
        TEST(what_the_layout_cannot_hold_is_refused),
        TEST(a_distance_goes_into_the_velocity),
        TEST(bad_files_give_one_line),
        TEST(damaged_bytes_give_one_line),
        TEST(without_the_program_a_line_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
