// SPDX-License-Identifier: Apache-2.0
#include "problem_change.h"

#include <string.h>

// ------------------------------------------------------------------------------------------------------------- copy

static void *copy_bytes(stn_arena *arena, const void *from, size_t bytes) {
    void *to = stn_arena_allocate(arena, bytes + 1, 1);
    if (to != NULL && bytes > 0) {
        memcpy(to, from, bytes);
    }
    return to;
}

static bool copy_reals(stn_arena *arena, double **vector, int64_t count) {
    if (*vector == NULL) {
        return true;
    }
    *vector = copy_bytes(arena, *vector, (size_t)count * sizeof(double));
    return *vector != NULL;
}

static int64_t jacobian_values(const stn_problem *p, const stn_constraint *c, const stn_jacobian *J) {
    return (int64_t)c->rows * stn_jacobian_columns(p, J);
}

/// A block of a constraint in a copy, where it is ours.
static stn_jacobian *block_of(stn_constraint *c, int32_t k) {
    return (stn_jacobian *)(uintptr_t)stn_constraint_block(c, k);
}

static bool copy_more(stn_arena *arena, stn_constraint *c) {
    if (c->more_count > 0) {
        c->more = copy_bytes(arena, c->more, (size_t)c->more_count * sizeof *c->more);
    }
    return c->more_count == 0 || c->more != NULL;
}

/// Arrays that hang from trees and constraints.
static bool copy_inner(stn_arena *arena, stn_problem *p) {
    bool good = true;
    for (int32_t t = 0; t < p->tree_count && good; t++) {
        good = copy_reals(arena, &p->trees[t].A.values, stn_matrix_value_count(&p->trees[t].A));
    }
    for (int32_t i = 0; i < p->constraint_count && good; i++) {
        stn_constraint *c = &p->constraints[i];
        good = copy_more(arena, c);
        for (int32_t k = 0; k < stn_constraint_block_count(c) && good; k++) {
            stn_jacobian *J = block_of(c, k);
            double *values =
                J->tree < 0 ? NULL : copy_bytes(arena, J->values, (size_t)jacobian_values(p, c, J) * sizeof *values);
            good = J->tree < 0 || values != NULL;
            J->values = values;
        }
    }
    return good;
}

stn_problem *problem_copy(stn_arena *arena, const stn_problem *old) {
    stn_problem *p = copy_bytes(arena, old, sizeof *old);
    if (p == NULL) {
        return NULL;
    }
    p->trees = copy_bytes(arena, old->trees, (size_t)old->tree_count * sizeof *p->trees);
    p->constraints = copy_bytes(arena, old->constraints, (size_t)old->constraint_count * sizeof *p->constraints);
    bool good = p->trees != NULL && p->constraints != NULL && copy_inner(arena, p);
    double **dof_vectors[] = {&p->v0, &p->v_star, &p->v_guess, &p->free_impulse};
    double **row_vectors[] = {&p->bias, &p->lo, &p->hi, &p->R, &p->v_hat, &p->gamma_guess, &p->phi};
    for (int32_t i = 0; i < STN_COUNT(dof_vectors) && good; i++) {
        good = copy_reals(arena, dof_vectors[i], p->nv);
    }
    for (int32_t i = 0; i < STN_COUNT(row_vectors) && good; i++) {
        good = copy_reals(arena, row_vectors[i], p->row_count);
    }
    return good ? p : NULL;
}

/// Values of a Jacobian in a copy, where they are ours.
static double *values_of(const stn_jacobian *J) {
    return (double *)(uintptr_t)J->values;
}

// ------------------------------------------------------------------------------------------------------------ order

static int32_t *shuffled_numbers(stn_arena *arena, int32_t n, random_stream *random) {
    int32_t *order = STN_ARENA(arena, n + 1, int32_t);
    for (int32_t i = 0; i < n && order != NULL; i++) {
        int32_t k = random_integer(random, 0, i);
        order[i] = order[k];
        order[k] = i;
    }
    return order;
}

static void shuffle_trees(const stn_problem *old, stn_problem *p, const int32_t *order, int32_t *place) {
    int32_t dof = 0;
    for (int32_t t = 0; t < p->tree_count; t++) {
        const stn_problem_tree *from = &old->trees[order[t]];
        size_t bytes = (size_t)from->A.n * sizeof(double);
        p->trees[t].source = from->source;
        p->trees[t].A = from->A;
        p->trees[t].dof_start = dof;
        memcpy(p->v0 + dof, old->v0 + from->dof_start, bytes);
        memcpy(p->v_star + dof, old->v_star + from->dof_start, bytes);
        memcpy(p->v_guess + dof, old->v_guess + from->dof_start, bytes);
        place[order[t]] = t;
        dof += from->A.n;
    }
}

static bool shuffle_rows(stn_arena *arena, const stn_problem *old, stn_problem *p, const int32_t *order,
                         const int32_t *place) {
    double *const from[] = {old->bias, old->lo, old->hi, old->R, old->v_hat, old->gamma_guess, old->phi};
    double *const to[] = {p->bias, p->lo, p->hi, p->R, p->v_hat, p->gamma_guess, p->phi};
    int32_t row = 0;
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const stn_constraint *source = &old->constraints[order[i]];
        stn_constraint *c = &p->constraints[i];
        *c = *source;
        c->row = row;
        if (!copy_more(arena, c)) {
            return false;
        }
        for (int32_t k = 0; k < stn_constraint_block_count(c); k++) {
            stn_jacobian *J = block_of(c, k);
            J->tree = J->tree < 0 ? -1 : place[J->tree];
        }
        for (int32_t a = 0; a < STN_COUNT(from); a++) {
            memcpy(to[a] + row, from[a] + source->row, (size_t)c->rows * sizeof(double));
        }
        row += c->rows;
    }
    return true;
}

stn_problem *problem_shuffled(stn_arena *arena, const stn_problem *old, random_stream *random, problem_order *order) {
    stn_problem *p = problem_copy(arena, old);
    order->constraint = shuffled_numbers(arena, old->constraint_count, random);
    order->tree = shuffled_numbers(arena, old->tree_count, random);
    int32_t *place = STN_ARENA(arena, old->tree_count + 1, int32_t);
    if (p == NULL || order->constraint == NULL || order->tree == NULL || place == NULL) {
        return NULL;
    }
    shuffle_trees(old, p, order->tree, place);
    return shuffle_rows(arena, old, p, order->constraint, place) ? p : NULL;
}

void problem_unshuffle(const stn_problem *old, const stn_problem *shuffled, const problem_order *order, const double *v,
                       const double *gamma, double *v_old, double *gamma_old) {
    for (int32_t t = 0; t < old->tree_count; t++) {
        const stn_problem_tree *to = &old->trees[order->tree[t]];
        memcpy(v_old + to->dof_start, v + shuffled->trees[t].dof_start, (size_t)to->A.n * sizeof(double));
    }
    for (int32_t i = 0; i < old->constraint_count; i++) {
        const stn_constraint *to = &old->constraints[order->constraint[i]];
        memcpy(gamma_old + to->row, gamma + shuffled->constraints[i].row, (size_t)to->rows * sizeof(double));
    }
}

// --------------------------------------------------------------------------------------------------------- rotation

static void turn_vectors(const stn_mat3 *turn, int64_t count, double *x) {
    for (int64_t i = 0; i + 2 < count; i += 3) {
        stn_vec3 v = stn_mat3_apply(turn, stn_vec3_make(x[i], x[i + 1], x[i + 2]));
        x[i] = v.x;
        x[i + 1] = v.y;
        x[i + 2] = v.z;
    }
}

/// B (3 x 3 at distance `stride`) = turn B turn^T.
static void turn_block(const stn_mat3 *turn, double *B, int32_t stride) {
    stn_mat3 m;
    for (int32_t k = 0; k < 9; k++) {
        m.m[k / 3][k % 3] = B[k / 3 * stride + k % 3];
    }
    m = stn_mat3_rotate_tensor(turn, &m);
    for (int32_t k = 0; k < 9; k++) {
        B[k / 3 * stride + k % 3] = m.m[k / 3][k % 3];
    }
}

/// Blocks above the diagonal become exactly those below.
static void make_symmetric(int32_t n, double *A) {
    for (int32_t i = 0; i < n; i++) {
        for (int32_t j = 0; j < i; j++) {
            A[j * n + i] = A[i * n + j];
        }
    }
}

/// Rows 0 and 1 of `width` numbers each, as seen from tangents that are turned by `spin`.
static void spin_rows(double spin, int64_t width, double *first, double *second) {
    double c = cos(spin), s = sin(spin);
    for (int64_t k = 0; k < width; k++) {
        double a = first[k], b = second[k];
        first[k] = c * a + s * b;
        second[k] = c * b - s * a;
    }
}

stn_problem *problem_turned(stn_arena *arena, const stn_problem *old, const stn_mat3 *turn, double spin) {
    stn_problem *p = problem_copy(arena, old);
    if (p == NULL) {
        return NULL;
    }
    turn_vectors(turn, p->nv, p->v0);
    turn_vectors(turn, p->nv, p->v_star);
    turn_vectors(turn, p->nv, p->v_guess);
    for (int32_t t = 0; t < p->tree_count; t++) {
        stn_matrix *A = &p->trees[t].A;
        if (A->form == STN_MATRIX_NODAL) {
            const int32_t m = A->node_size; // 3 or 6: axes by threes
            for (int32_t e = 0; e < A->row_start[A->node_count]; e++) {
                for (int32_t k = 0; k < m * m / 9; k++) {
                    const int32_t row = 3 * (k / (m / 3)), column = 3 * (k % (m / 3));
                    turn_block(turn, A->values + m * (m * e + row) + column, m);
                }
            }
            for (int32_t i = 0; i < A->node_count; i++) {
                for (int32_t e = A->row_start[i]; e < A->row_start[i + 1]; e++) {
                    if (A->column[e] == i) {
                        make_symmetric(m, A->values + m * m * e);
                    }
                }
            }
        }
        for (int32_t i = 0; i < A->n && A->form == STN_MATRIX_DENSE; i += 3) {
            for (int32_t j = 0; j < A->n; j += 3) {
                turn_block(turn, A->values + i * A->n + j, A->n);
            }
        }
        if (A->form == STN_MATRIX_DENSE) {
            make_symmetric(A->n, A->values);
        } // a diagonal tree is a point, whose mass is the same in all directions
    }
    for (int32_t i = 0; i < p->constraint_count; i++) {
        stn_constraint *c = &p->constraints[i];
        bool circular = c->set == STN_SET_CONE;
        c->frame = stn_mat3_mul(turn, &c->frame);
        for (int32_t k = 0; k < stn_constraint_block_count(c); k++) {
            const stn_jacobian *J = block_of(c, k);
            if (J->tree >= 0) {
                turn_vectors(turn, jacobian_values(p, c, J), values_of(J));
            }
            if (J->tree >= 0 && circular) {
                double *values = values_of(J);
                for (int32_t b = 0; b < J->node_count; b++) {
                    const int32_t m = J->node_size;
                    spin_rows(spin, m, values + 3 * m * b, values + 3 * m * b + m);
                }
                if (J->node_count == 0) {
                    int32_t n = p->trees[J->tree].A.n;
                    spin_rows(spin, n, values, values + n);
                }
            }
        }
        if (circular) {
            spin_rows(spin, 1, p->bias + c->row, p->bias + c->row + 1);
            spin_rows(spin, 1, p->gamma_guess + c->row, p->gamma_guess + c->row + 1);
        }
    }
    return p;
}

void problem_turn_back(const stn_problem *old, const stn_mat3 *turn, double spin, double *v, double *gamma) {
    stn_mat3 back = stn_mat3_transpose(turn);
    turn_vectors(&back, old->nv, v);
    for (int32_t i = 0; i < old->constraint_count; i++) {
        const stn_constraint *c = &old->constraints[i];
        if (c->set == STN_SET_CONE) {
            spin_rows(-spin, 1, gamma + c->row, gamma + c->row + 1);
        }
    }
}

// ------------------------------------------------------------------------------------------------------------ units

stn_problem *problem_in_units(stn_arena *arena, const stn_problem *old, const problem_units *units, double *dof_scale) {
    stn_problem *p = problem_copy(arena, old);
    if (p == NULL) {
        return NULL;
    }
    double u = units->length / units->time, e = units->mass * u * u;
    for (int32_t t = 0; t < p->tree_count; t++) {
        stn_problem_tree *tree = &p->trees[t];
        for (int32_t d = 0; d < tree->A.n; d++) { // angular where it makes a difference, and other units at will
            dof_scale[tree->dof_start + d] = d % 6 < 3 ? u : 1.0 / units->time;
        }
        // With v_i' = s_i v_i, v_c' = u v_c and energies e times as large: A_ij' = e A_ij/(s_i s_j), J_ri' = u
        // J_ri/s_i, gamma' = e/u gamma.
        const double *s = dof_scale + tree->dof_start;
        for (int32_t i = 0; i < tree->A.n && tree->A.form == STN_MATRIX_DIAGONAL; i++) {
            tree->A.values[i] *= e / (s[i] * s[i]);
        }
        for (int32_t k = 0; k < tree->A.n * tree->A.n && tree->A.form == STN_MATRIX_DENSE; k++) {
            tree->A.values[k] *= e / (s[k / tree->A.n] * s[k % tree->A.n]);
        }
        for (int32_t i = 0; i < tree->A.node_count && tree->A.form == STN_MATRIX_NODAL; i++) {
            const int32_t m = tree->A.node_size;
            for (int32_t k = m * m * tree->A.row_start[i]; k < m * m * tree->A.row_start[i + 1]; k++) {
                tree->A.values[k] *= e / (s[m * i + k / m % m] * s[m * tree->A.column[k / (m * m)] + k % m]);
            }
        }
    }
    for (int32_t d = 0; d < p->nv; d++) {
        p->v0[d] *= dof_scale[d];
        p->v_star[d] *= dof_scale[d];
        p->v_guess[d] *= dof_scale[d];
    }
    p->dt *= units->time;
    for (int32_t i = 0; i < p->constraint_count; i++) {
        stn_constraint *c = &p->constraints[i];
        c->phi0 *= units->length;
        c->stiffness *= units->mass / (units->time * units->time);
        c->relaxation_time *= units->time;
        c->dissipation *= 1.0 / u;
        for (int32_t block = 0; block < stn_constraint_block_count(c); block++) {
            const stn_jacobian *J = block_of(c, block);
            if (J->tree >= 0) {
                const double *s = dof_scale + p->trees[J->tree].dof_start;
                double *values = values_of(J);
                int32_t n = p->trees[J->tree].A.n;
                for (int64_t k = 0; k < jacobian_values(p, c, J); k++) {
                    const int32_t m = J->node_size;
                    int32_t dof =
                        J->node_count > 0 ? m * J->node[k / (m * c->rows)] + (int32_t)(k % m) : (int32_t)(k % n);
                    values[k] *= u / s[dof];
                }
            }
        }
    }
    for (int32_t r = 0; r < p->row_count; r++) {
        p->bias[r] *= u;
        p->phi[r] *= units->length;
        p->lo[r] *= e / u;
        p->hi[r] *= e / u;
        p->gamma_guess[r] *= e / u;
    }
    return p;
}

// ------------------------------------------------------------------------------------------------------------ dense

static bool make_dense(stn_arena *arena, stn_matrix *A) {
    double *values = STN_ARENA_ZEROED(arena, A->n * A->n, double);
    for (int32_t i = 0; i < A->n && values != NULL && A->form == STN_MATRIX_DIAGONAL; i++) {
        values[i * (A->n + 1)] = A->values[i];
    }
    for (int32_t i = 0; i < A->node_count && values != NULL && A->form == STN_MATRIX_NODAL; i++) {
        const int32_t m = A->node_size;
        for (int32_t k = m * m * A->row_start[i]; k < m * m * A->row_start[i + 1]; k++) {
            values[(m * i + k / m % m) * A->n + m * A->column[k / (m * m)] + k % m] = A->values[k];
        }
    }
    *A = (stn_matrix){.n = A->n, .form = STN_MATRIX_DENSE, .values = values};
    return values != NULL;
}

static bool expand_jacobian(stn_arena *arena, const stn_problem *p, const stn_constraint *c, stn_jacobian *J) {
    int32_t n = p->trees[J->tree].A.n;
    double *values = STN_ARENA_ZEROED(arena, c->rows * n, double);
    for (int32_t b = 0; b < J->node_count && values != NULL; b++) {
        const int32_t m = J->node_size;
        for (int32_t k = 0; k < m * c->rows; k++) {
            values[k / m * n + m * J->node[b] + k % m] += J->values[m * c->rows * b + k];
        }
    }
    *J = (stn_jacobian){.tree = J->tree, .values = values};
    return values != NULL;
}

stn_problem *problem_dense(stn_arena *arena, const stn_problem *old) {
    stn_problem *p = problem_copy(arena, old);
    bool good = p != NULL;
    for (int32_t i = 0; good && i < p->constraint_count; i++) {
        stn_constraint *c = &p->constraints[i];
        for (int32_t k = 0; k < stn_constraint_block_count(c) && good; k++) {
            stn_jacobian *J = block_of(c, k);
            good = J->tree < 0 || J->node_count == 0 || expand_jacobian(arena, p, c, J);
        }
    }
    for (int32_t t = 0; good && t < p->tree_count; t++) {
        good = p->trees[t].A.form == STN_MATRIX_DENSE || make_dense(arena, &p->trees[t].A);
    }
    return good ? p : NULL;
}

// ----------------------------------------------------------------------------------------------------------- copies

stn_problem *problem_repeated(stn_arena *arena, const stn_problem *old, int32_t times) {
    stn_problem *p = problem_copy(arena, old);
    int64_t constraints = (int64_t)old->constraint_count * times, rows = (int64_t)old->row_count * times;
    double *reals = STN_ARENA_ZEROED(arena, 7 * rows + 1, double);
    stn_constraint *all = STN_ARENA_ZEROED(arena, constraints + 1, stn_constraint);
    if (p == NULL || reals == NULL || all == NULL) {
        return NULL;
    }
    double *const from[] = {old->bias, old->lo, old->hi, old->R, old->v_hat, old->gamma_guess, old->phi};
    double **const to[] = {&p->bias, &p->lo, &p->hi, &p->R, &p->v_hat, &p->gamma_guess, &p->phi};
    for (int32_t a = 0; a < STN_COUNT(to); a++) {
        *to[a] = reals + a * rows;
    }
    int32_t count = 0, row = 0;
    for (int32_t i = 0; i < old->constraint_count; i++) {
        const stn_constraint *c = &p->constraints[i];
        bool contact = stn_constraint_has_cone(c);
        for (int32_t k = 0; k < (contact ? times : 1); k++) {
            all[count] = *c;
            all[count].id = 10 * c->id + (uint64_t)k;
            all[count].memory = count;
            all[count].row = row;
            all[count].stiffness /= contact ? times : 1;
            for (int32_t a = 0; a < STN_COUNT(to); a++) {
                memcpy(*to[a] + row, from[a] + c->row, (size_t)c->rows * sizeof(double));
            }
            for (int32_t r = 0; r < c->rows && contact; r++) {
                p->R[row + r] *= times;
            }
            count++;
            row += c->rows;
        }
    }
    p->constraints = all;
    p->constraint_count = count;
    p->row_count = row;
    p->explicit_R = true;
    return p;
}

double problem_distance(stn_arena *arena, const stn_problem *p, const double *v, const double *w) {
    double *Ad = STN_ARENA_ZEROED(arena, p->nv + 1, double), square = 0.0;
    if (Ad == NULL) {
        return (double)NAN;
    }
    stn_problem_mass_times(p, v, w, Ad);
    for (int32_t d = 0; d < p->nv; d++) {
        square += Ad[d] * (v[d] - (w != NULL ? w[d] : 0.0));
    }
    return square < 0.0 ? 0.0 : sqrt(square); // NaN stays NaN
}
