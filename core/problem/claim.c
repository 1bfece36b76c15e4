// SPDX-License-Identifier: Apache-2.0
// A solver's word against the certificate: docs/certificate.md, "A claim is checked". A converged island is below its
// solver's tolerance e in the solver's own measure, which may be another norm than the certificate's. So a claim stands
// up to half of the digits that it promises, sqrt(e), and up to a quarter of them where the solver says that round-off
// stopped it. The first look costs a sum or a maximum an island; what it finds suspicious is looked at closely.
#include <float.h>
#include <stdio.h>
#include <string.h>

#include <stiction/plugin.h>

#include "problem/inverse.h"
#include "problem/jacobian.h"
#include "problem/local_form.h"
#include "problem/solver.h"

/// What the islands are judged with.
typedef struct judge {
    const solve_job *job;
    const certificate_parts *parts;
    double *momentum0; // (nv) A v_star, when an island was suspicious; else NULL, and so is the next
    const double
        *start;    // v_star + A^-1 f (nv), P^-1 f where A is singular; of a local problem q of W gamma + q (row_count)
    bool singular; // some A is
    stn_contradiction *worst;
} judge;

static double largest(double a, double b) {
    return a > b ? a : b;
}

/// Up to where a claim stands, relative: of a scale, and in place of the solver's absolute tolerance.
typedef struct allowance {
    double relative, absolute;
} allowance;

static allowance allowance_of(const judge *j, stn_status claimed) {
    const stn_solver_common *common = j->job->solver->options.solver->common;
    const double claims = largest(common->tolerance, DBL_EPSILON), half = sqrt(claims);
    const double relative = claimed == STN_STALLED ? sqrt(half) : half;
    return (allowance){relative, common->absolute_tolerance * relative / claims};
}

/// Island i has `found` where `bound` is allowed.
static void contradict(judge *j, int32_t i, const char *residual, double found, double bound) {
    island_outcome *outcome = &j->job->outcomes[i];
    stn_contradiction *w = j->worst;
    if (w->islands == 0 || found * w->bound > w->found * bound) {
        w->claimed = outcome->status;
        w->tolerance = ((const stn_solver_common *)j->job->solver->options.solver->common)->tolerance;
        w->residual = residual;
        w->found = found;
        w->bound = bound;
    }
    w->islands++;
    outcome->status = STN_NOT_CONVERGED; // the reason stays what the solver says
}

// -------------------------------------------------------------------------------------------------------- momentum

/// |D f|^2 over a tree's dofs.
static double free_square(const judge *j, int32_t t) {
    const stn_problem *p = j->job->problem;
    double sum = 0.0;
    for (int32_t d = p->trees[t].dof_start, end = d + p->trees[t].A.n; p->free_impulse != NULL && d < end; d++) {
        sum += j->parts->D2[d] * p->free_impulse[d] * p->free_impulse[d];
    }
    return sum;
}

/// |D x|^2 over the island's dofs.
static double squares(const judge *j, int32_t i, const double *x) {
    const stn_islands *islands = &j->job->islands;
    double sum = 0.0;
    for (int32_t k = islands->tree_start[i]; k < islands->tree_start[i + 1]; k++) {
        const stn_problem_tree *tree = &j->job->problem->trees[islands->tree[k]];
        for (int32_t d = tree->dof_start; d < tree->dof_start + tree->A.n; d++) {
            sum += j->parts->D2[d] * x[d] * x[d];
        }
    }
    return sum;
}

/// |D (A (v - v_star) - J^T gamma - f)| against the largest of its terms: A v and A v_star may cancel to nothing.
static stn_status judge_momentum(judge *j, int32_t i, allowance allowed, stn_error *err) {
    const stn_islands *islands = &j->job->islands;
    const stn_problem *p = j->job->problem;
    double square[3] = {0.0};
    for (int32_t k = islands->tree_start[i]; k < islands->tree_start[i + 1]; k++) {
        const double *own = j->parts->momentum + 3 * (size_t)islands->tree[k];
        const double load =
            stn_inverse_singular(j->job->inverse, islands->tree[k]) < 0 ? 0.0 : free_square(j, islands->tree[k]);
        if (load > 0.0) { // in balance by itself
            const double alone = sqrt(largest(largest(own[0], own[1]), load));
            if (sqrt(own[2]) > allowed.relative * alone + allowed.absolute && own[2] > no_digits * no_digits) {
                contradict(j, i, "momentum error", sqrt(own[2]) / alone, allowed.relative + allowed.absolute / alone);
                return STN_OK;
            }
        }
        square[0] += own[0];
        square[1] += own[1];
        square[2] += own[2];
    }
    double size = sqrt(largest(square[0], square[1])), found = sqrt(square[2]);
    if (found <= allowed.relative * size + allowed.absolute || found < no_digits) {
        return STN_OK;
    }
    if (j->momentum0 == NULL) {
        j->momentum0 = STN_ARENA(j->job->solver->arena, p->nv, double);
        if (j->momentum0 == NULL) {
            return stn_fail(err, STN_ERR_MEMORY, "certificate: out of memory");
        }
        stn_problem_mass_times(p, p->v_star, NULL, j->momentum0);
    }
    size = largest(size, sqrt(squares(j, i, j->momentum0)));
    size = p->free_impulse != NULL ? largest(size, sqrt(squares(j, i, p->free_impulse))) : size;
    if (found > allowed.relative * size + allowed.absolute) {
        contradict(j, i, "momentum error", found / size, allowed.relative + allowed.absolute / size);
    }
    return STN_OK;
}

// ----------------------------------------------------------------------------------------------------- natural maps

/// What the problem's speeds are taken from.
static stn_status find_start(judge *j, stn_error *err) {
    const stn_problem *p = j->job->problem;
    stn_arena *arena = j->job->solver->arena;
    if (p->form == STN_FORM_LOCAL) {
        local_form form;
        stn_status status = local_form_reduce(p, arena, &form, err);
        j->start = status == STN_OK ? form.q : NULL;
        return status;
    }
    double *v = STN_ARENA(arena, p->nv, double);
    if (v == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "certificate: out of memory");
    }
    memcpy(v, p->free_impulse != NULL ? p->free_impulse : p->v_star, (size_t)p->nv * sizeof *v);
    for (int32_t t = 0; t < p->tree_count && p->free_impulse != NULL; t++) {
        const stn_problem_tree *tree = &p->trees[t];
        // without an operator: what the scale makes of the impulse
        const bool regular = stn_inverse_singular(j->job->inverse, t) < 0 && !inverse_left(j->job->inverse, t);
        stn_inverse_apply(regular ? j->job->inverse : inverse_scale(j->job->inverse), t, 1, v + tree->dof_start);
        for (int32_t d = tree->dof_start; d < tree->dof_start + tree->A.n; d++) {
            v[d] += p->v_star[d];
        }
    }
    j->start = v;
    return STN_OK;
}

/// Speeds of an island's rows [m/s].
typedef struct speeds {
    double start; // the largest without impulses, of J v + bias and as asked; where some A is singular also with them
    double terms; // the largest of one tree: rows in which two fly side by side are rounded as their speeds are
} speeds;

static void note_speeds(const judge *j, const stn_constraint *c, speeds *out) {
    const stn_problem *p = j->job->problem;
    double b[STN_MAX_ROWS];
    memcpy(b, (p->form == STN_FORM_LOCAL ? j->start : p->bias) + c->row, (size_t)c->rows * sizeof *b);
    for (int32_t k = 0; k < stn_constraint_block_count(c) && p->form == STN_FORM_GLOBAL; k++) {
        const stn_jacobian *J = stn_constraint_block(c, k);
        double own[STN_MAX_ROWS] = {0.0};
        jacobian_mul_add(&p->trees[J->tree], J, c->rows, j->start + p->trees[J->tree].dof_start, own);
        for (int32_t r = 0; r < c->rows; r++) {
            b[r] += own[r];
            out->terms = largest(out->terms, fabs(own[r]));
        }
    }
    for (int32_t r = 0; r < c->rows; r++) {
        const int32_t row = c->row + r; // what bounded impulses cannot make nobody asks for
        out->start =
            largest(out->start, largest(fabs(b[r]), fmin(fabs(p->v_hat[row]), c->w * (p->hi[row] - p->lo[row]))));
        out->start = j->singular ? largest(out->start, fabs(j->parts->v_c[c->row + r])) : out->start;
    }
}

static stn_status judge_maps(judge *j, int32_t i, allowance allowed, stn_error *err) {
    const stn_islands *islands = &j->job->islands;
    const stn_problem *p = j->job->problem;
    double square = 0.0, promised = 0.0, w = 0.0;
    for (int32_t k = islands->constraint_start[i]; k < islands->constraint_start[i + 1]; k++) {
        const stn_constraint *c = &p->constraints[islands->constraint[k]];
        square = largest(square, j->parts->map[islands->constraint[k]]);
        w = largest(w, c->w);
        for (int32_t r = c->row; r < c->row + c->rows; r++) {
            promised = largest(promised, fmin(fabs(p->v_hat[r]), c->w * (p->hi[r] - p->lo[r])));
        }
    }
    double absolute = allowed.absolute * sqrt(w);
    if (sqrt(square) <= allowed.relative * promised + absolute) {
        return STN_OK;
    }
    stn_status status = j->start == NULL ? find_start(j, err) : STN_OK;
    if (status != STN_OK) {
        return status;
    }
    speeds speed = {.start = DBL_MIN};
    for (int32_t k = islands->constraint_start[i]; k < islands->constraint_start[i + 1]; k++) {
        note_speeds(j, &p->constraints[islands->constraint[k]], &speed);
    }
    absolute += sqrt(DBL_EPSILON) * speed.terms; // half of the digits, here too
    if (sqrt(square) > allowed.relative * speed.start + absolute) {
        contradict(j, i, "natural map", sqrt(square) / speed.start, allowed.relative + absolute / speed.start);
    }
    return STN_OK;
}

// --------------------------------------------------------------------------------------------------------- the law

/// max |gamma_i - law(v)_i| over the island's |gamma| or |law(v)|. A stiff contact multiplies the last bits of v, so
/// only the first digit is asked for; and where an impulse changes no speed within half of its digits, nothing is.
static stn_status judge_law(judge *j, int32_t i, stn_error *err) {
    static const double bound = 0.1;
    const stn_islands *islands = &j->job->islands;
    const int32_t first = islands->constraint_start[i], end = islands->constraint_start[i + 1];
    double difference = 0.0, size = 0.0;
    for (int32_t k = first; k < end; k++) {
        const double *own = j->parts->law + 2 * (size_t)islands->constraint[k];
        difference = largest(difference, own[0]);
        size += own[1];
    }
    if (difference <= bound * bound * size) {
        return STN_OK;
    }
    stn_status status = j->start == NULL ? find_start(j, err) : STN_OK;
    if (status != STN_OK) {
        return status;
    }
    speeds speed = {.start = DBL_MIN};
    for (int32_t k = first; k < end; k++) {
        note_speeds(j, &j->job->problem->constraints[islands->constraint[k]], &speed);
    }
    bool matters = false; // w |gamma_i - law(v)_i|, a speed
    for (int32_t k = first; k < end; k++) {
        const double w = j->job->problem->constraints[islands->constraint[k]].w;
        const double off = j->parts->law[2 * (size_t)islands->constraint[k]];
        matters = matters ||
                  (off > bound * bound * size && w * sqrt(off) > sqrt(DBL_EPSILON) * largest(speed.terms, speed.start));
    }
    if (matters) {
        contradict(j, i, "law residual", sqrt(difference / size), bound);
    }
    return STN_OK;
}

// ------------------------------------------------------------------------------------------------------------ claims

stn_status judge_claims(const solve_job *job, const certificate_parts *parts, stn_contradiction *out, stn_error *err) {
    judge j = {.job = job, .parts = parts, .worst = out};
    j.singular = job->inverse != NULL && inverse_has_singular(job->inverse);
    for (int32_t i = 0; i < job->islands.count; i++) {
        const island_outcome *o = &job->outcomes[i];
        stn_status status = STN_OK;
        if (o->status == STN_NOT_CONVERGED) {
            continue;
        }
        const allowance allowed = allowance_of(&j, o->status);
        if (job->problem->form == STN_FORM_GLOBAL) {
            status = judge_momentum(&j, i, allowed, err);
        }
        bool stands = status == STN_OK && o->status != STN_NOT_CONVERGED;
        if (stands && parts->formulation == STN_REGULARIZED && parts->law != NULL) {
            status = judge_law(&j, i, err);
        } else if (stands && parts->map != NULL) {
            status = judge_maps(&j, i, allowed, err);
        }
        if (status != STN_OK) {
            return status;
        }
    }
    return STN_OK;
}

void stn_contradiction_text(const stn_contradiction *c, char *text, size_t size) {
    if (c->islands == 0) {
        snprintf(text, size, "%s", "");
        return;
    }
    snprintf(text, size, "says '%s' at tolerance %g, but its %s is %.3g, bound %.2g", stn_status_text(c->claimed),
             c->tolerance, c->residual, c->found, c->bound);
}
