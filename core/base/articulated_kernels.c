// SPDX-License-Identifier: Apache-2.0
// Matrices of trees in O(n) by articulated inertias [featherstone-2008, 7.3], all spatial vectors about one point, six
// numbers and two zeros. Compiled once for every width, with fused multiply-add.
#include <math.h>
#include <string.h>

#include "base/vector.h"

enum { WIDE = ARTICULATED_WIDE, BLOCK = 6 * WIDE };

typedef struct wide {
    part4 front, back;
} wide;

ALWAYS wide read_wide(const double *x) {
    return (wide){*(const part4 *)x, *(const part4 *)(x + 4)};
}

ALWAYS void write_wide(double *x, wide a) {
    *(part4 *)x = a.front;
    *(part4 *)(x + 4) = a.back;
}

ALWAYS wide add_scaled(wide a, double s, wide b) {
    return (wide){a.front + b.front * s, a.back + b.back * s};
}

ALWAYS double dot(wide a, wide b) {
    const part4 product = a.front * b.front + a.back * b.back;
    return (product[0] + product[2]) + (product[1] + product[3]);
}

/// I S, I symmetric by rows.
ALWAYS wide apply(const double *I, const double *S) {
    wide sum = {{0.0}, {0.0}};
    UNROLL
    for (int32_t k = 0; k < 6; k++) {
        sum = add_scaled(sum, S[k], read_wide(I + WIDE * k));
    }
    return sum;
}

static int32_t factor(const articulated_parts *f, const double *inertia, const double *extra, const double *diagonal,
                      double singular) {
    const int32_t n = f->n;
    int32_t bad = -1;
    memset(f->inverse, 0, (size_t)n * sizeof *f->inverse); // until its turn: 0 where block does not hold a sum yet
    for (int32_t j = n - 1; j >= 0; j--) {
        const double *I = (f->inverse[j] != 0.0 ? f->block : inertia) + BLOCK * j;
        const double *S = f->S + WIDE * j;
        const wide F = apply(I, S);
        const double D = dot(F, read_wide(S)) + extra[j], inverse = 1.0 / D;
        if (!(D > singular * diagonal[j]) || !(D > 0.0) || !(D < (double)INFINITY)) {
            bad = bad < 0 ? j : bad;
        }
        write_wide(f->F + WIDE * j, F);
        f->inverse[j] = inverse;
        f->root[j] = sqrt(inverse);
        if (f->parent[j] < 0) {
            continue;
        }
        const int32_t up = f->parent[j];
        double own[WIDE], *above = f->block + BLOCK * up;
        const double *before = f->inverse[up] != 0.0 ? above : inertia + BLOCK * up;
        write_wide(own, F);
        UNROLL
        for (int32_t k = 0; k < 6; k++) {
            const wide rest = add_scaled(read_wide(I + WIDE * k), -own[k] * inverse, F);
            write_wide(above + WIDE * k, add_scaled(read_wide(before + WIDE * k), 1.0, rest));
        }
        f->inverse[up] = 1.0;
    }
    return bad;
}

static void forward(const articulated_parts *f, int32_t columns, double *x, int32_t stride) {
    for (; columns > 0; columns--, x += stride) {
        memset(f->work, 0, (size_t)WIDE * (size_t)f->n * sizeof *f->work);
        for (int32_t j = f->n - 1; j >= 0; j--) {
            const wide p = read_wide(f->work + WIDE * j);
            const double u = x[j] - dot(p, read_wide(f->S + WIDE * j));
            x[j] = u * f->root[j];
            if (f->parent[j] >= 0) {
                double *above = f->work + WIDE * f->parent[j];
                const wide pushed = add_scaled(p, u * f->inverse[j], read_wide(f->F + WIDE * j));
                write_wide(above, add_scaled(read_wide(above), 1.0, pushed));
            }
        }
    }
}

static void backward(const articulated_parts *f, int32_t columns, double *x, int32_t stride) {
    for (; columns > 0; columns--, x += stride) {
        for (int32_t j = 0; j < f->n; j++) {
            wide above = {{0.0}, {0.0}};
            if (f->parent[j] >= 0) {
                above = read_wide(f->work + WIDE * f->parent[j]);
            }
            x[j] = x[j] * f->root[j] - dot(above, read_wide(f->F + WIDE * j)) * f->inverse[j];
            write_wide(f->work + WIDE * j, add_scaled(above, x[j], read_wide(f->S + WIDE * j)));
        }
    }
}

/// The wrench that is left, E less what dofs passed have taken, is walked to the root; a lane is a row.
static int32_t half(const articulated_parts *f, const double *E, int32_t tip, double *X, int32_t *dofs) {
    part4 left[6];
    int32_t count = 0;
    memset(X, 0, 4 * (size_t)f->n * sizeof *X);
    UNROLL
    for (int32_t k = 0; k < 6; k++) {
        left[k] = (part4){E[k], E[WIDE + k], E[2 * WIDE + k], 0.0};
    }
    for (int32_t j = tip; j >= 0; j = f->parent[j]) {
        const double *S = f->S + WIDE * j, *F = f->F + WIDE * j;
        part4 u = {0.0};
        UNROLL
        for (int32_t k = 0; k < 6; k++) {
            u += left[k] * S[k];
        }
        *(part4 *)(X + 4 * j) = u * f->root[j];
        dofs[count++] = j;
        u *= f->inverse[j];
        UNROLL
        for (int32_t k = 0; k < 6; k++) {
            left[k] -= u * F[k];
        }
    }
    return count;
}

static void rows(const articulated_parts *f, const double *E, int32_t tip, double *J) {
    part4 column[6];
    double *second = J + f->n, *third = second + f->n;
    UNROLL
    for (int32_t k = 0; k < 6; k++) {
        column[k] = (part4){E[k], E[WIDE + k], E[2 * WIDE + k], 0.0};
    }
    for (int32_t j = tip; j >= 0; j = f->parent[j]) {
        const double *S = f->S + WIDE * j;
        part4 u = {0.0};
        UNROLL
        for (int32_t k = 0; k < 6; k++) {
            u += column[k] * S[k];
        }
        J[j] = u[0];
        second[j] = u[1];
        third[j] = u[2];
    }
}

/// Forces that dofs passed on, six numbers of three lanes a dof, in place of the articulated inertias of the factor.
static int32_t half_of_rows(const articulated_parts *f, const double *J, double *X, int32_t *dofs) {
    const int32_t n = f->n;
    int32_t count = 0;
    double *passed = f->passed;
    memset(X, 0, 4 * (size_t)n * sizeof *X);
    memset(passed, 0, 24 * (size_t)n * sizeof *passed);
    for (int32_t j = n - 1; j >= 0; j--) {
        const double *S = f->S + WIDE * j, *F = f->F + WIDE * j;
        part4 u = {J[j], J[n + j], J[2 * n + j], 0.0}, *p = (part4 *)(passed + 24 * j);
        UNROLL
        for (int32_t k = 0; k < 6; k++) {
            u -= p[k] * S[k];
        }
        if (u[0] != 0.0 || u[1] != 0.0 || u[2] != 0.0) {
            *(part4 *)(X + 4 * j) = u * f->root[j];
            dofs[count++] = j;
        }
        if (f->parent[j] >= 0) {
            part4 *above = (part4 *)(passed + 24 * f->parent[j]);
            u *= f->inverse[j];
            UNROLL
            for (int32_t k = 0; k < 6; k++) {
                above[k] += p[k] + u * F[k];
            }
        }
    }
    return count;
}

/// response of j = P R P^T + S S^T/D, P = 1 - S F^T/D, R that of its parent:
///     R - S (R F)^T/D - (R F) S^T/D + S S^T (F.R F/D + 1)/D
static void response(const articulated_parts *f) {
    for (int32_t j = 0; j < f->n; j++) {
        const double *S = f->S + WIDE * j, *F = f->F + WIDE * j, inverse = f->inverse[j];
        double *own = f->block + BLOCK * j;
        const wide s = read_wide(S);
        wide r = {{0.0}, {0.0}};
        const double *above = NULL;
        if (f->parent[j] >= 0) {
            above = f->block + BLOCK * f->parent[j];
            r = apply(above, F);
        }
        const double both = (dot(r, read_wide(F)) * inverse + 1.0) * inverse;
        double R[WIDE];
        write_wide(R, r);
        UNROLL
        for (int32_t k = 0; k < 6; k++) {
            wide row = {{0.0}, {0.0}};
            if (above != NULL) {
                row = read_wide(above + WIDE * k);
            }
            row = add_scaled(row, both * S[k] - R[k] * inverse, s);
            row = add_scaled(row, -S[k] * inverse, r);
            write_wide(own + WIDE * k, row);
        }
    }
}

static void velocities(const articulated_parts *f, const double *x) {
    for (int32_t j = 0; j < f->n; j++) {
        wide V = {{0.0}, {0.0}};
        if (f->parent[j] >= 0) {
            V = read_wide(f->work + WIDE * f->parent[j]);
        }
        write_wide(f->work + WIDE * j, add_scaled(V, x[j], read_wide(f->S + WIDE * j)));
    }
}

static void gather(const articulated_parts *f, double *y) {
    for (int32_t j = f->n - 1; j >= 0; j--) {
        const wide force = read_wide(f->work + WIDE * j);
        y[j] += dot(force, read_wide(f->S + WIDE * j));
        if (f->parent[j] >= 0) {
            double *above = f->work + WIDE * f->parent[j];
            write_wide(above, add_scaled(read_wide(above), 1.0, force));
        }
    }
}

/// Forces I V of what dof j moves last, summed towards the root.
static void times(const articulated_parts *f, const double *inertia, const double *extra, const double *x, double *y) {
    velocities(f, x);
    for (int32_t j = 0; j < f->n; j++) {
        double V[WIDE];
        write_wide(V, read_wide(f->work + WIDE * j));
        write_wide(f->work + WIDE * j, apply(inertia + BLOCK * j, V));
        y[j] += extra[j] * x[j];
    }
    gather(f, y);
}

static void mass(const double *G, const double *E, double *sum) {
    UNROLL
    for (int32_t r = 0; r < 3; r++) {
        const wide y = apply(G, E + WIDE * r);
        UNROLL
        for (int32_t c = 0; c <= r; c++) {
            const double own = dot(y, read_wide(E + WIDE * c));
            sum[3 * r + c] += own;
            sum[3 * c + r] += c < r ? own : 0.0;
        }
    }
}

/// A force on j moves j by 1/D, and by what its force F/D on the parent moves that.
static double mobility(const articulated_parts *f, int32_t j) {
    const double *F = f->F + WIDE * j, inverse = f->inverse[j];
    if (f->parent[j] < 0) {
        return inverse;
    }
    const wide moved = apply(f->block + BLOCK * f->parent[j], F);
    return (dot(moved, read_wide(F)) * inverse + 1.0) * inverse;
}

/// Row j up to the diagonal is S . C(j) S_j on the way to the root, C(j) the sum of the inertias at j or beyond.
static void expand(const articulated_parts *f, const double *inertia, const double *extra, double *a) {
    const size_t n = (size_t)f->n;
    memset(a, 0, n * n * sizeof *a);
    memcpy(f->block, inertia, BLOCK * n * sizeof *inertia);
    for (int32_t j = f->n - 1; j >= 0; j--) {
        const double *C = f->block + BLOCK * j;
        const wide force = apply(C, f->S + WIDE * j);
        for (int32_t i = j; i >= 0; i = f->parent[i]) {
            const double value = dot(force, read_wide(f->S + WIDE * i)) + (i == j ? extra[j] : 0.0);
            a[(size_t)j * n + (size_t)i] = a[(size_t)i * n + (size_t)j] = value;
        }
        for (int32_t k = 0; k < 6 && f->parent[j] >= 0; k++) {
            double *above = f->block + BLOCK * f->parent[j] + WIDE * k;
            write_wide(above, add_scaled(read_wide(above), 1.0, read_wide(C + WIDE * k)));
        }
    }
}

const articulated_kernels KERNEL_NAME(articulated_kernels) = {
    factor, forward, backward, half, rows, half_of_rows, response, times, velocities, gather, mass, mobility, expand,
};
