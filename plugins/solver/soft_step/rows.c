// SPDX-License-Identifier: Apache-2.0
// See rows.h.
#include "rows.h"

#include <math.h>
#include <string.h>

/// A^-1 of a small tree, whole, once for all contacts of a body: small[tree]; NULL of larger ones. False: no memory.
static bool small_inverse(const stn_problem *problem, const stn_solve_control *control, int32_t tree,
                          const double **small) {
    const int32_t n = problem->trees[tree].A.n;
    if (small[tree] != NULL || n > SOFT_BODY) {
        return true;
    }
    double *columns = STN_ARENA_ZEROED(control->arena, n * n, double);
    for (int32_t d = 0; d < n && columns != NULL; d++) {
        columns[(n + 1) * d] = 1.0;
    }
    if (columns != NULL) {
        stn_inverse_apply(control->inverse, tree, n, columns);
    }
    small[tree] = columns;
    return columns != NULL;
}

/// B = A^-1 J^T, a row after the other, J dense; `columns` of A^-1.
STN_KERNEL_INLINE void multiply_small(int32_t rows, int32_t n, const double *columns, const double *J, double *B) {
    for (int32_t r = 0; r < rows; r++, J += n, B += n) {
        for (int32_t d = 0; d < n; d++) {
            B[d] = columns[d] * J[0];
        }
        for (int32_t e = 1; e < n; e++) {
            for (int32_t d = 0; d < n; d++) {
                B[d] += columns[e * n + d] * J[e];
            }
        }
    }
}

/// J as columns of `width`, zeros in the rows beyond J's.
STN_KERNEL_INLINE void transpose(int32_t rows, int32_t width, int32_t n, const double *J, double *columns) {
    for (int32_t d = 0; d < n; d++) {
        for (int32_t r = 0; r < width; r++) {
            columns[d * width + r] = r < rows ? J[r * n + d] : 0.0;
        }
    }
}

/// W (rows columns of `width`) += J B^T of a side.
STN_KERNEL_INLINE void add_block(int32_t rows, int32_t width, int32_t n, const double *J, const double *B,
                                 double *restrict W) {
    for (int32_t c = 0; c < rows; c++) {
        for (int32_t d = 0; d < n; d++) {
            for (int32_t r = 0; r < width; r++) {
                W[c * width + r] += J[d * width + r] * B[c * n + d];
            }
        }
    }
}

/// J as columns of `width`, scaled, and B = A^-1 J^T/theta of one side.
STN_KERNEL static bool build_side(const stn_problem *problem, const stn_solve_control *control, const soft_rule *rule,
                                  const double **small, soft_row *row, int32_t k) {
    const stn_jacobian *J = stn_constraint_block(row->constraint, k);
    const int32_t rows = row->rows, width = row->width, n = problem->trees[J->tree].A.n;
    const bool dense = J->node_count == 0;
    double *B = dense ? STN_ARENA(control->arena, rows * n, double)
                      : STN_ARENA_ZEROED(control->arena, (int64_t)rows * n, double);
    double *columns = dense ? STN_ARENA(control->arena, (int64_t)width * n + 2, double) : NULL;
    if (B == NULL || (dense && columns == NULL) || !small_inverse(problem, control, J->tree, small)) {
        return false;
    }
    const double *inverse = small[J->tree];
    if (dense && rows == 3 && n == SOFT_BODY) { // a contact of a free body, its lengths known to the compiler
        transpose(3, 4, SOFT_BODY, J->values, columns);
        multiply_small(3, SOFT_BODY, inverse, J->values, B);
    } else if (dense) {
        transpose(rows, width, n, J->values, columns);
    }
    for (int32_t r = 0; r < rows && !dense; r++) {
        for (int32_t m = J->node_size, b = 0; b < m * J->node_count; b++) {
            B[r * n + m * J->node[b / m] + b % m] = J->values[m * rows * (b / m) + m * r + b % m];
        }
    }
    if (dense && inverse != NULL && (rows != 3 || n != SOFT_BODY)) {
        multiply_small(rows, n, inverse, J->values, B);
    } else if (inverse == NULL || !dense) {
        if (dense) {
            memcpy(B, J->values, (size_t)(rows * n) * sizeof *B);
        }
        stn_inverse_apply(control->inverse, J->tree, rows, B);
    }
    for (int32_t r = 0; r < 2 && row->cone; r++) { // tangents of an ellipse
        for (int32_t d = 0; d < n && row->scale[r] != 1.0; d++) {
            B[r * n + d] *= row->scale[r];
            if (dense) {
                columns[d * width + r] *= row->scale[r];
            }
        }
    }
    for (int32_t i = 0; i < rows * n && rule->theta != 1.0; i++) {
        B[i] /= rule->theta;
    }
    row->side[k] = (soft_side){.dof = problem->trees[J->tree].dof_start, .n = n, .J = columns, .B = B};
    return true;
}

/// W of the constraint, column by column: what a unit impulse of each row does to all rows. `v` (nv) is zero, and left
/// so.
STN_KERNEL static void build_block(const stn_problem *problem, soft_row *row, double *v) {
    const int32_t rows = row->rows, width = row->width;
    for (int32_t k = 0; k < row->side_count && row->side[0].J != NULL; k++) {
        const soft_side *side = &row->side[k];
        if (rows == 3 && side->n == SOFT_BODY) {
            add_block(3, 4, SOFT_BODY, side->J, side->B, row->W);
        } else {
            add_block(rows, width, side->n, side->J, side->B, row->W);
        }
    }
    for (int32_t c = 0; c < rows && row->side[0].J == NULL; c++) { // by node
        double x[STN_MAX_ROWS] = {0.0};
        x[c] = 1.0;
        soft_push(row, x, v);
        soft_velocity(problem, row, v, row->W + c * width);
        for (int32_t k = 0; k < row->side_count; k++) {
            memset(v + row->side[k].dof, 0, (size_t)row->side[k].n * sizeof *v);
        }
    }
}

/// R and targets of the problem's step, as those of a sub-step of the same spring and damper:
///
///     R = 1/(dt k (dt + tau)),  v_hat = -phi/(dt + tau)   ->   R_h = 1/(h k (h + tau)),  -(phi + drift)/(h + tau)
///
/// Rows without a place (dry friction, a limit of speed) keep their target, and n impulses share the compliance.
static void soften_row(const stn_problem *problem, const soft_rule *rule, soft_row *row, int32_t r) {
    const stn_constraint *c = row->constraint;
    const double dt = problem->dt, h = rule->h, R = problem->R[c->row + r], v_hat = problem->v_hat[c->row + r];
    bool friction = c->kind == STN_CONSTRAINT_DRY_FRICTION || c->kind == STN_CONSTRAINT_VELOCITY_LIMIT;
    bool sliding = row->cone && r < 2;
    double tau = isnan(c->relaxation_time) ? dt : c->relaxation_time;
    if (!row->cone) {
        (void)stn_constraint_regularize(c, dt, &tau);
    }
    row->lo[r] = row->cone ? 0.0 : problem->lo[c->row + r] / rule->substeps;
    row->hi[r] = row->cone ? 0.0 : problem->hi[c->row + r] / rule->substeps;
    if (friction || sliding || !row->placed) {
        row->R[r] = rule->substeps * R;
        row->start[r] = v_hat;
        return;
    }
    row->R[r] = R * (dt / h) * (dt + tau) / (h + tau);
    row->start[r] = v_hat * (dt + tau) / (h + tau);
    row->rate[r] = 1.0 / (h + tau);
}

/// A contact that its own spring holds more stiffly than contact_hertz is rigid: k = frequency^2/W_nn in its place.
static void decide_contact(const stn_problem *problem, const soft_rule *rule, const double *v0, const double *v_free,
                           soft_row *row) {
    const stn_constraint *c = row->constraint;
    const double *W = row->W, normal = W[2 * row->width + 2];
    double mean = 0.5 * (W[0] + W[row->width + 1]), half = 0.5 * (W[0] - W[row->width + 1]);
    double largest = mean + sqrt(half * half + W[1] * W[1]) + fmax(row->R[0], row->R[1]);
    row->tangent = largest > 0.0 ? 1.0 / largest : 0.0;
    row->gap = row->placed ? c->phi0 : 0.0;
    double softness = normal / (rule->h * rule->frequency * (2.0 * rule->damping + rule->h * rule->frequency));
    row->rigid = !problem->explicit_R && row->R[2] < softness;
    if (!row->rigid) {
        return;
    }
    row->R[2] = row->placed ? softness : 0.0;
    row->rate[2] = rule->frequency / (2.0 * rule->damping + rule->h * rule->frequency);
    double before[SOFT_ROOM], without[SOFT_ROOM];
    soft_velocity(problem, row, v0, before);
    soft_velocity(problem, row, v_free, without);
    double v_n0 = before[2] + row->bias[2];
    if (c->restitution > 0.0 && row->placed && v_n0 < -2.0 * fabs(without[2] - before[2])) { // an impact, problem.h
        row->bounce = -c->restitution * v_n0;
    }
}

static bool known(const stn_problem *problem, const stn_constraint *c) {
    return (problem->phi != NULL && !isnan(problem->phi[c->row])) || !isnan(c->phi0) || problem->explicit_R;
}

bool soft_rows_build(const stn_problem *problem, const stn_solve_control *control, const soft_rule *rule,
                     const double *gamma, soft_row **out) {
    soft_row *rows = STN_ARENA_ZEROED(control->arena, problem->constraint_count + 1, soft_row);
    double *scratch = STN_ARENA_ZEROED(control->arena, problem->nv + 1, double);
    const double **small = STN_ARENA_ZEROED(control->arena, problem->tree_count + 1, const double *);
    if (rows == NULL || scratch == NULL || small == NULL) {
        return false;
    }
    for (int32_t i = 0; i < problem->constraint_count; i++) {
        const stn_constraint *c = &problem->constraints[i];
        soft_row *row = &rows[i];
        *row = (soft_row){.constraint = c,
                          .rows = c->rows,
                          .width = (c->rows + 3) / 4 * 4,
                          .cone = stn_constraint_has_cone(c),
                          .placed = known(problem, c),
                          .scale = {1.0, 1.0}};
        double **vectors[] = {&row->R,  &row->target, &row->start,  &row->rate,  &row->bias, &row->drift,
                              &row->lo, &row->hi,     &row->lambda, &row->total, &row->W};
        double *block = STN_ARENA_ZEROED(control->arena, (STN_COUNT(vectors) - 1 + c->rows) * row->width + 2, double);
        for (int32_t k = 0; k < STN_COUNT(vectors) && block != NULL; k++) {
            *vectors[k] = block + k * row->width;
        }
        if (block == NULL) {
            return false;
        }
        row->mu = c->set == STN_SET_ELLIPSE ? fmax(c->mu1, c->mu2) : c->mu1;
        if (c->set == STN_SET_ELLIPSE && row->mu > 0.0) {
            row->scale[0] = c->mu1 / row->mu;
            row->scale[1] = c->mu2 / row->mu;
        }
        row->side = STN_ARENA(control->arena, stn_constraint_block_count(c), soft_side);
        bool complete = row->side != NULL, nodal = false;
        for (int32_t k = 0; k < stn_constraint_block_count(c) && complete; k++) {
            nodal = nodal || stn_constraint_block(c, k)->node_count > 0;
            complete = build_side(problem, control, rule, small, row, row->side_count++);
        }
        if (!complete) {
            return false;
        }
        row->side[0].J = nodal ? NULL : row->side[0].J;
        build_block(problem, row, scratch);
        for (int32_t r = 0; r < c->rows; r++) {
            double scale = row->cone && r < 2 ? row->scale[r] : 1.0;
            row->bias[r] = scale * problem->bias[c->row + r];
            soften_row(problem, rule, row, r);
            row->R[r] *= scale * scale;
            row->start[r] *= scale;
            row->lambda[r] = scale > 0.0 ? gamma[c->row + r] / (scale * rule->substeps) : 0.0;
        }
        if (row->cone) { // a start within the cone
            double *x = row->lambda, slip = sqrt(x[0] * x[0] + x[1] * x[1]), limit = row->mu * fmax(0.0, x[2]);
            double shrink = slip > limit ? limit / slip : 1.0;
            x[0] *= shrink;
            x[1] *= shrink;
            x[2] = fmax(0.0, x[2]);
            decide_contact(problem, rule, problem->v0, problem->v_star, row);
        }
        for (int32_t r = 0; r < c->rows && !row->cone; r++) {
            row->lambda[r] = fmin(fmax(row->lambda[r], row->lo[r]), row->hi[r]);
        }
    }
    *out = rows;
    return true;
}
