// SPDX-License-Identifier: Apache-2.0
// Matrices of random trees in O(n), by every compilation of the kernels that this processor can run, against the dense
// matrix of their definition and Gaussian elimination.
#include "stn_test.h"

#include <string.h>

#include <stiction/factor.h>

#include "base/kernels.h"
#include "stn_random.h"

enum { MOST = 48, WIDE = ARTICULATED_WIDE, BLOCK = 6 * WIDE, COLUMNS = 3, SEEDS = 60 };

typedef struct sample {
    int32_t n;
    int32_t parent[MOST];
    double motion[MOST * WIDE], inertia[MOST * BLOCK], extra[MOST], diagonal[MOST];
    double a[MOST * MOST]; // by the definition
    double values[STN_ARTICULATED_VALUES(MOST)];
} sample;

/// Chains, stars and what lies between; joints of several dofs, whose inertia comes with the last one.
static void make(uint64_t seed, sample *s) {
    stn_random r = {seed};
    *s = (sample){.n = 1 + random_below(&r, MOST)};
    for (int32_t j = 0; j < s->n; j++) {
        s->parent[j] = j - 1;
        for (int32_t up = (int32_t)(seed % 4) == 0 ? 0 : random_below(&r, (int32_t)(seed % 4) + 1);
             up > 0 && s->parent[j] >= 0; up--) {
            s->parent[j] = s->parent[s->parent[j]];
        }
    }
    for (int32_t j = 0; j < s->n; j++) {
        double spd[36];
        random_spd(&r, 6, 0.3, spd);
        const bool later = j + 1 < s->n && s->parent[j + 1] == j && random_below(&r, 3) == 0;
        for (int32_t k = 0; k < 36 && !later; k++) {
            s->inertia[BLOCK * j + WIDE * (k / 6) + k % 6] = spd[k];
        }
        for (int32_t k = 0; k < 6; k++) {
            s->motion[WIDE * j + k] = random_real(&r);
        }
        s->extra[j] = random_below(&r, 2) == 0 ? 0.0 : 0.5 + 0.5 * random_real(&r);
    }
    for (int32_t j = 0; j < s->n; j++) { // every body pushes all that carry it
        for (int32_t i = j; i >= 0; i = s->parent[i]) {
            for (int32_t k = j; k >= 0; k = s->parent[k]) {
                for (int32_t e = 0; e < 36; e++) {
                    s->a[i * s->n + k] += s->motion[WIDE * i + e / 6] * s->inertia[BLOCK * j + WIDE * (e / 6) + e % 6] *
                                          s->motion[WIDE * k + e % 6];
                }
            }
        }
        s->a[j * (s->n + 1)] += s->extra[j];
    }
    for (int32_t j = 0; j < s->n; j++) {
        s->diagonal[j] = s->a[j * (s->n + 1)];
    }
}

static articulated_parts parts_of(sample *s) {
    const size_t n = (size_t)s->n;
    double *F = s->values, *work = F + WIDE * n, *block = work + WIDE * n, *inverse = block + BLOCK * n;
    double *root = inverse + n;
    return (articulated_parts){s->n, s->parent, s->motion, F, inverse, root, block, work, root + n};
}

/// Velocity of what dof j moves, six numbers, where the dofs have x.
static void velocity(const sample *s, int32_t j, const double *x, double V[6]) {
    memset(V, 0, 6 * sizeof *V);
    for (; j >= 0; j = s->parent[j]) {
        for (int32_t k = 0; k < 6; k++) {
            V[k] += s->motion[WIDE * j + k] * x[j];
        }
    }
}

static void check(const articulated_kernels *kernels, sample *s, stn_random *r) {
    const articulated_parts p = parts_of(s);
    const int32_t n = s->n;
    assert_int_equal(kernels->factor(&p, s->inertia, s->extra, s->diagonal, 1e-13), -1);
    double x[COLUMNS * MOST], half[COLUMNS * MOST], solved[COLUMNS * MOST], y[MOST] = {0.0};
    for (int32_t i = 0; i < COLUMNS * n; i++) {
        x[i] = solved[i] = half[i] = random_real(r);
    }
    kernels->forward(&p, COLUMNS, half, n);
    double squares[COLUMNS] = {0.0}, wanted[COLUMNS] = {0.0};
    for (int32_t c = 0; c < COLUMNS; c++) {
        plain_solve(n, s->a, solved + c * n);
        for (int32_t i = 0; i < n; i++) {
            squares[c] += half[c * n + i] * half[c * n + i];
            wanted[c] += x[c * n + i] * solved[c * n + i];
        }
        assert_near(squares[c], wanted[c], 1e-9 * wanted[c]);
    }
    for (int32_t c = 0; c < COLUMNS; c++) { // one at a time: backward takes the room of forward
        memcpy(half, x + c * n, (size_t)n * sizeof *half);
        kernels->forward(&p, 1, half, n);
        kernels->backward(&p, 1, half, n);
        for (int32_t i = 0; i < n; i++) {
            assert_near(half[i], solved[c * n + i], 1e-9 * (1.0 + fabs(solved[c * n + i])));
        }
    }
    kernels->times(&p, s->inertia, s->extra, x, y);
    for (int32_t i = 0; i < n; i++) {
        double sum = 0.0;
        for (int32_t k = 0; k < n; k++) {
            sum += s->a[i * n + k] * x[k];
        }
        assert_near(y[i], sum, 1e-12 * (1.0 + fabs(sum) + s->diagonal[i]));
    }
    double full[MOST * MOST], gathered[MOST];
    kernels->expand(&p, s->inertia, s->extra, full);
    for (int32_t i = 0; i < n * n; i++) {
        assert_near(full[i], s->a[i], 1e-12 * (1.0 + fabs(s->a[i])));
    }
    kernels->velocities(&p, x);
    for (int32_t j = 0; j < n; j++) {
        double V[6];
        velocity(s, j, x, V);
        for (int32_t k = 0; k < 6; k++) {
            assert_near(p.work[WIDE * j + k], V[k], 1e-12 * (1.0 + fabs(V[k])));
        }
    }
    for (int32_t j = 0; j < n; j++) { // a force on one dof
        memset(p.work, 0, WIDE * (size_t)n * sizeof *p.work);
        memset(gathered, 0, sizeof gathered);
        for (int32_t k = 0; k < 6; k++) {
            p.work[WIDE * j + k] = 1.0 + k;
        }
        kernels->gather(&p, gathered);
        for (int32_t i = j; i >= 0; i = s->parent[i]) {
            for (int32_t k = 0; k < 6; k++) {
                gathered[i] -= (1.0 + k) * s->motion[WIDE * i + k];
            }
        }
        for (int32_t i = 0; i < n; i++) {
            assert_near(gathered[i], 0.0, 1e-12);
        }
    }
    assert_int_equal(kernels->factor(&p, s->inertia, s->extra, s->diagonal, 1e-13), -1); // expand took its room
    kernels->response(&p);
    double E[3 * WIDE] = {0.0}, mass[9] = {0.0};
    for (int32_t k = 0; k < 3 * WIDE; k++) {
        E[k] = k % WIDE < 6 ? random_real(r) : 0.0;
    }
    kernels->mass(p.block + BLOCK * (n - 1), E, mass);
    for (int32_t k = 0; k < 9; k++) {
        double sum = 0.0;
        for (int32_t e = 0; e < 36; e++) {
            sum += E[WIDE * (k / 3) + e / 6] * p.block[BLOCK * (n - 1) + WIDE * (e / 6) + e % 6] *
                   E[WIDE * (k % 3) + e % 6];
        }
        assert_near(mass[k], sum, 1e-12 * (1.0 + fabs(sum)));
    }
    for (int32_t j = 0; j < n; j++) {
        double unit[MOST] = {0.0};
        unit[j] = 1.0;
        plain_solve(n, s->a, unit);
        assert_near(kernels->mobility(&p, j), unit[j], 1e-9 * unit[j]);
    }
    for (int32_t j = 0; j < n; j++) {
        for (int32_t k = 0; k < 6; k++) { // a unit wrench
            double b[MOST] = {0.0}, V[6];
            for (int32_t i = j; i >= 0; i = s->parent[i]) {
                b[i] = s->motion[WIDE * i + k];
            }
            plain_solve(n, s->a, b);
            velocity(s, j, b, V);
            for (int32_t e = 0; e < 6; e++) {
                assert_near(p.block[BLOCK * j + WIDE * e + k], V[e], 1e-8 * (1.0 + fabs(V[e])));
            }
        }
    }
}

static int32_t all_tables(const articulated_kernels **out) {
    int32_t count = 0;
    out[count++] = &articulated_kernels_plain;
#ifdef STN_KERNELS_X86
    if (kernels_have_avx2()) {
        out[count++] = &articulated_kernels_avx2;
    }
#endif
    return count;
}

static void trees_are_those_of_elimination(void **state) {
    (void)state;
    const articulated_kernels *tables[2];
    const int32_t count = all_tables(tables);
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        static sample s;
        stn_random r = {seed + 1000};
        make(seed, &s);
        for (int32_t t = 0; t < count; t++) {
            check(tables[t], &s, &r);
        }
    }
}

static void the_first_pivot_that_is_not_positive_is_named(void **state) {
    (void)state;
    static sample s;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        make(seed, &s);
        const int32_t bad = (int32_t)(seed % (uint64_t)s.n);
        stn_articulated f = {s.n, s.parent, s.motion, s.values};
        s.extra[bad] = -2.0 * s.diagonal[bad];
        assert_int_equal(stn_articulated_factor(&f, s.inertia, s.extra, s.diagonal, 1e-13), bad);
        s.extra[bad] = NAN;
        assert_int_equal(stn_articulated_factor(&f, s.inertia, s.extra, s.diagonal, 1e-13), bad);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees_are_those_of_elimination),
        cmocka_unit_test(the_first_pivot_that_is_not_positive_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
