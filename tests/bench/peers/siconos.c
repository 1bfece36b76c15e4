// SPDX-License-Identifier: Apache-2.0
// Siconos has the normal first and minimises nothing that we do not: W, q, mu are those of the Delassus operator, all
// of them as the file has them, unsymmetric parts too.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <FrictionContactProblem.h>
#include <Friction_cst.h>
#include <NonSmoothDrivers.h>
#include <NumericsMatrix.h>
#include <SolverOptions.h>
#include <SparseBlockMatrix.h>

#include "../bench_time.h"
#include "siconos.h"

const siconos_solver siconos_solvers[] = {
    {"NSGS-PLI", SICONOS_FRICTION_3D_NSGS, SICONOS_FRICTION_3D_ONECONTACT_ProjectionOnConeWithLocalIteration, true, 0},
    {"NSGS-AC", SICONOS_FRICTION_3D_NSGS, SICONOS_FRICTION_3D_ONECONTACT_NSN, true, 0},
    {"NSGS-QUARTIC", SICONOS_FRICTION_3D_NSGS, SICONOS_FRICTION_3D_ONECONTACT_QUARTIC, true, 0},
    {"VI-EG", SICONOS_FRICTION_3D_VI_EG, -1, true, 0},
    {"VI-FPP", SICONOS_FRICTION_3D_VI_FPP, -1, true, 0},
    {"NSN-AC", SICONOS_FRICTION_3D_NSN_AC, -1, false, 0},
    {"NSN-AC-T", SICONOS_FRICTION_3D_NSN_AC_TEST, -1, false, 0},
    {"PROX-NSN", SICONOS_FRICTION_3D_PROX, -1, false, 0},
    {"ADMM", SICONOS_FRICTION_3D_ADMM, -1, false, 0},
    {"ADMM-scaled", SICONOS_FRICTION_3D_ADMM, -1, false, SICONOS_FRICTION_3D_RESCALING_BALANCING_M},
    {"TFP", SICONOS_FRICTION_3D_TFP, -1, true, 0},
};
const int32_t siconos_solver_count = STN_COUNT(siconos_solvers);

static const int order[3] = {2, 0, 1}; // ours of theirs

// ------------------------------------------------------------------------------------------------------------ matrix

/// Blocks, column by column each.
static NumericsMatrix *make_blocks(const stn_delassus *d) {
    size_t n = (size_t)d->n, count = (size_t)d->row_start[n];
    SparseBlockStructuredMatrix *s = calloc(1, sizeof *s);
    *s = (SparseBlockStructuredMatrix){
        .nbblocks = (unsigned)count,
        .block = calloc(count, sizeof *s->block),
        .blocknumber0 = (unsigned)n,
        .blocknumber1 = (unsigned)n,
        .blocksize0 = calloc(n, sizeof *s->blocksize0),
        .blocksize1 = calloc(n, sizeof *s->blocksize1),
        .filled1 = n + 1,
        .filled2 = count,
        .index1_data = calloc(n + 1, sizeof *s->index1_data),
        .index2_data = calloc(count, sizeof *s->index2_data),
    };
    for (size_t i = 0; i <= n; i++) {
        s->index1_data[i] = (size_t)d->row_start[i];
    }
    for (size_t i = 0; i < n; i++) {
        s->blocksize0[i] = s->blocksize1[i] = (unsigned)(3 * (i + 1));
    }
    for (size_t e = 0; e < count; e++) {
        const double *ours = d->values + d->offset[e];
        s->index2_data[e] = (size_t)d->column[e];
        s->block[e] = calloc(9, sizeof(double));
        for (int r = 0; r < 3; r++) {
            for (int c = 0; c < 3; c++) {
                s->block[e][3 * c + r] = ours[3 * order[r] + order[c]];
            }
        }
    }
    return NM_new_SBM(3 * d->n, 3 * d->n, s);
}

/// Without the zeros.
static NumericsMatrix *make_sparse(const stn_delassus *d) {
    NumericsMatrix *m = NM_create(NM_SPARSE, 3 * d->n, 3 * d->n);
    NM_triplet_alloc(m, 9 * d->row_start[d->n]);
    m->matrix2->origin = NSM_TRIPLET;
    for (int32_t i = 0; i < d->n; i++) {
        for (int32_t e = d->row_start[i]; e < d->row_start[i + 1]; e++) {
            for (int k = 0; k < 9; k++) {
                double value = d->values[d->offset[e] + 3 * order[k / 3] + order[k % 3]];
                if (value != 0.0) {
                    NM_entry(m, 3 * i + k / 3, 3 * d->column[e] + k % 3, value);
                }
            }
        }
    }
    return m;
}

static FrictionContactProblem *make_problem(const stn_delassus *d, bool blocks) {
    FrictionContactProblem *p = frictionContactProblem_new();
    p->dimension = 3;
    p->numberOfContacts = d->n;
    p->M = blocks ? make_blocks(d) : make_sparse(d);
    p->q = calloc((size_t)d->rows, sizeof *p->q);
    p->mu = calloc((size_t)d->n, sizeof *p->mu);
    for (int32_t i = 0; i < d->n; i++) {
        p->mu[i] = d->problem->constraints[i].mu1;
        for (int k = 0; k < 3; k++) {
            p->q[3 * i + k] = d->b[3 * i + order[k]];
        }
    }
    return p;
}

// ------------------------------------------------------------------------------------------------------------- solve

static SolverOptions *make_options(const siconos_solver *solver, double tolerance) {
    SolverOptions *o = solver_options_create(solver->id);
    o->iparam[SICONOS_IPARAM_MAX_ITER] = 100000000; // time is what ends a call
    o->dparam[SICONOS_DPARAM_TOL] = tolerance;
    if (solver->rescaling != 0) {
        o->iparam[SICONOS_FRICTION_3D_IPARAM_RESCALING] = solver->rescaling;
    }
    if (solver->local >= 0) {
        solver_options_update_internal(o, 0, solver->local);
    }
    return o;
}

double siconos_solve(const stn_delassus *d, const siconos_solver *solver, double tolerance, double *reaction,
                     int32_t *iterations) {
    FrictionContactProblem *p = make_problem(d, solver->blocks);
    SolverOptions *o = make_options(solver, tolerance);
    double *velocity = calloc((size_t)d->rows + 1, sizeof *velocity);
    memset(reaction, 0, (size_t)d->rows * sizeof *reaction);
    double start = now_us();
    fc3d_driver(p, reaction, velocity, o);
    double ms = 1e-3 * (now_us() - start);
    *iterations = o->iparam[SICONOS_IPARAM_ITER_DONE];
    solver_options_delete(o);
    free(velocity);
    frictionContactProblem_free(p);
    return ms;
}

void siconos_impulses(const stn_delassus *d, const double *reaction, double *gamma) {
    for (int32_t i = 0; i < d->n; i++) {
        for (int k = 0; k < 3; k++) {
            gamma[3 * i + order[k]] = reaction[3 * i + k];
        }
    }
}
