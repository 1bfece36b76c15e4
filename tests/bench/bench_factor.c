// SPDX-License-Identifier: Apache-2.0
// Factor back ends on the graphs of heaps of free bodies (6 x 6 blocks) and on a soft lattice (3 x 3 blocks), and the
// dense kernels. Medians over ROUNDS calls.
#include <stiction/plugin.h>

#include "bench_row.h"
#include "bench_time.h"
#include "stn_blocks.h"

enum { ROUNDS = 201 };

/// CHOLMOD stands as a peer beside "block"; "dense" has lines of its own.
static void write_row(const char *title, const char *back_end, double us) {
    char what[64];
    snprintf(what, sizeof what, "%s%s", title, strcmp(back_end, "dense") == 0 ? ", dense" : "");
    bench_row("factor", what, strcmp(back_end, "cholmod") == 0 ? "CHOLMOD" : "Stiction", "", "us", us);
}

static void time_back_end(stn_context *context, const char *title, const char *name, const stn_factor_ops *ops,
                          void *self, const blocks *b, int32_t rounds) {
    double analysis[ROUNDS], numeric[ROUNDS], solve[ROUNDS];
    double *x = calloc((size_t)b->n, sizeof *x);
    stn_error err = {0};
    void *factor = NULL;
    for (int32_t k = 0; k < rounds; k++) {
        ops->release(factor);
        double start = now_us();
        if (ops->symbolic(self, context, &b->matrix.pattern, &factor, &err) != STN_OK) {
            printf("%s\n", err.text);
            exit(1);
        }
        analysis[k] = now_us() - start;
    }
    for (int32_t k = 0; k < rounds; k++) {
        for (int32_t i = 0; i < b->n; i++) {
            x[i] = 1.0;
        }
        double start = now_us();
        if (ops->numeric(factor, &b->matrix, &err) != STN_OK) {
            printf("%s\n", err.text);
            exit(1);
        }
        numeric[k] = now_us() - start;
        start = now_us();
        ops->solve(factor, 1, x);
        solve[k] = now_us() - start;
    }
    double us = median(numeric, rounds);
    printf("  %-10s analysis %9.1f   numeric %9.1f   solve %7.2f us\n", name, median(analysis, rounds), us,
           median(solve, rounds));
    write_row(title, name, us);
    ops->release(factor);
    free(x);
}

static void time_all(stn_context *context, const char *title, const blocks *b) {
    printf("%s: %d blocks, n = %d, %d block entries\n", title, b->matrix.pattern.block_count, b->n,
           b->column_start[b->matrix.pattern.block_count]);
    time_back_end(context, title, "block", stn_factor_block(), NULL, b, ROUNDS);
    if (b->n <= 2000) {
        time_back_end(context, title, "dense", stn_factor_dense(), NULL, b, b->n <= 300 ? ROUNDS : 5);
    }
    stn_instance *cholmod = NULL;
    if (stn_instance_create(context, STN_KIND_FACTOR, "cholmod", NULL, 0, &cholmod, NULL) == STN_OK) {
        time_back_end(context, title, "cholmod", cholmod->desc->ops.factor, cholmod->self, b, ROUNDS);
        stn_instance_destroy(cholmod);
    }
}

static void heap(stn_context *context, const char *title, int32_t nx, int32_t ny, int32_t nz) {
    stn_random r = {1};
    int32_t n = nx * ny * nz;
    bool *adjacent = calloc((size_t)n * (size_t)n, sizeof *adjacent);
    int32_t *size = malloc((size_t)n * sizeof *size);
    for (int32_t i = 0; i < n; i++) {
        size[i] = 6;
    }
    blocks_heap(nx, ny, nz, 0.5, &r, adjacent);
    blocks b = blocks_create(n, size, adjacent);
    blocks_fill(&b, &r);
    time_all(context, title, &b);
    blocks_clear(&b);
    free(adjacent);
    free(size);
}

static void lattice(stn_context *context, const char *title, int32_t edge) {
    stn_random r = {1};
    int32_t n = edge * edge * edge;
    bool *adjacent = calloc((size_t)n * (size_t)n, sizeof *adjacent);
    int32_t *size = malloc((size_t)n * sizeof *size);
    for (int32_t i = 0; i < n; i++) {
        size[i] = 3;
        for (int32_t j = 0; j < i; j++) {
            int32_t dx = abs(i % edge - j % edge), dy = abs(i / edge % edge - j / edge % edge);
            int32_t dz = abs(i / (edge * edge) - j / (edge * edge));
            adjacent[i * n + j] = dx <= 1 && dy <= 1 && dz <= 1;
        }
    }
    blocks b = blocks_create(n, size, adjacent);
    blocks_fill(&b, &r);
    time_all(context, title, &b);
    blocks_clear(&b);
    free(adjacent);
    free(size);
}

static void dense(int32_t n) {
    stn_random r = {1};
    size_t m = (size_t)n;
    double *a = malloc(m * m * sizeof *a), *l = malloc(m * m * sizeof *l), *x = calloc(6 * m, sizeof *x);
    double factor[ROUNDS], solve[ROUNDS];
    char title[32];
    int32_t repeats = 1 + 100000 / (n * n * n + 100);
    random_spd(&r, n, 1.0, a);
    for (int32_t k = 0; k < ROUNDS; k++) {
        double start = now_us();
        for (int32_t i = 0; i < repeats; i++) {
            memcpy(l, a, m * m * sizeof *a);
            stn_cholesky(n, l, n);
        }
        factor[k] = (now_us() - start) / repeats;
        start = now_us();
        for (int32_t i = 0; i < repeats; i++) {
            for (int32_t j = 0; j < 3 * n; j++) {
                x[j] = 1.0;
            }
            stn_cholesky_forward(n, l, n, 3, x, n);
            stn_cholesky_backward(n, l, n, 3, x, n);
        }
        solve[k] = (now_us() - start) / repeats;
    }
    double us = median(factor, ROUNDS);
    snprintf(title, sizeof title, "dense n = %d", n);
    printf("%-13s: factor %8.3f us (%.2f GFlop/s), 3 vectors forward and back %8.3f us\n", title, us,
           (double)n * n * n / 3e3 / us, median(solve, ROUNDS));
    bench_row("factor", title, "Stiction", "", "us", us);
    free(a);
    free(l);
    free(x);
}

int main(void) {
    stn_context *context = NULL;
    if (stn_context_create(NULL, &context, NULL) != STN_OK) {
        return 1;
    }
    heap(context, "heap of 40", 2, 2, 10);
    heap(context, "heap of 160", 4, 4, 10);
    heap(context, "heap of 320", 4, 8, 10);
    lattice(context, "lattice of 125 nodes", 5);
    lattice(context, "lattice of 1000 nodes", 10);
    for (int32_t k = 0; k < 6; k++) {
        dense((int32_t[]){1, 6, 7, 23, 60, 160}[k]);
    }
    stn_context_destroy(context);
    return 0;
}
