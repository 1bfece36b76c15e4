// SPDX-License-Identifier: Apache-2.0
// What a step pays around its solver: A^-1, inverse masses, Delassus operator, certificate. Heaps of free bodies with
// about 2.7 contacts a body.
#include <stiction/certificate.h>

#include "bench_row.h"
#include "bench_time.h"
#include "stn_random.h"

enum { ROUNDS = 401 };

static double *filled(stn_arena *arena, int32_t count, double value, stn_random *r) {
    double *x = STN_ARENA(arena, count, double);
    for (int32_t i = 0; i < count; i++) {
        x[i] = r != NULL ? random_real(r) : value;
    }
    return x;
}

// Contact between neighbours in a column of bodies, or with the ground.
static void make_contact(stn_problem *p, int32_t c, stn_arena *arena, stn_random *r) {
    int32_t a = c % p->tree_count, b = a >= 4 && c % 8 != 0 ? a - 1 - random_below(r, 4) : -1;
    stn_constraint *k = &p->constraints[c];
    *k = (stn_constraint){.id = (uint64_t)c + 1, .set = STN_SET_CONE, .row = 3 * c, .rows = 3};
    k->J[0] = (stn_jacobian){.tree = a, .values = filled(arena, 18, 0.0, r)};
    k->J[1] = (stn_jacobian){.tree = b, .values = b < 0 ? NULL : filled(arena, 18, 0.0, r)};
    k->phi0 = -1e-5;
    k->stiffness = 1e7;
    k->relaxation_time = p->dt;
    k->mu1 = k->mu2 = 0.5;
}

static stn_problem make(int32_t bodies, int32_t contacts, stn_arena *arena) {
    stn_random r = {1};
    stn_problem p = {.dt = 0.002,
                     .theta = 1.0,
                     .nv = 6 * bodies,
                     .tree_count = bodies,
                     .constraint_count = contacts,
                     .row_count = 3 * contacts};
    p.trees = STN_ARENA_ZEROED(arena, bodies, stn_problem_tree);
    p.constraints = STN_ARENA_ZEROED(arena, contacts, stn_constraint);
    for (int32_t t = 0; t < bodies; t++) {
        p.trees[t] = (stn_problem_tree){.dof_start = 6 * t, .source = t, .A = {.n = 6, .form = STN_MATRIX_DENSE}};
        p.trees[t].A.values = STN_ARENA(arena, 36, double);
        random_spd(&r, 6, 1.0, p.trees[t].A.values);
    }
    for (int32_t c = 0; c < contacts; c++) {
        make_contact(&p, c, arena, &r);
    }
    p.v0 = filled(arena, p.nv, 0.0, &r);
    p.v_star = filled(arena, p.nv, 0.0, &r);
    p.v_guess = p.v0;
    p.bias = filled(arena, p.row_count, 0.0, NULL);
    p.lo = filled(arena, p.row_count, -INFINITY, NULL);
    p.hi = filled(arena, p.row_count, INFINITY, NULL);
    p.R = filled(arena, p.row_count, 1e-3, NULL);
    p.v_hat = filled(arena, p.row_count, 0.0, NULL);
    p.gamma_guess = filled(arena, p.row_count, 0.1, NULL);
    return p;
}

typedef struct stages {
    double factor[ROUNDS], masses[ROUNDS], delassus[ROUNDS], light[ROUNDS], certificate[ROUNDS];
} stages;

static double lap(double *mark) {
    double now = now_us(), passed = now - *mark;
    *mark = now;
    return passed;
}

static bool time_round(stn_problem *p, stn_inverse *inverse, stn_arena *scratch, int32_t k, stages *s) {
    stn_delassus d;
    stn_certificate c;
    stn_arena_reset(scratch);
    double mark = now_us();
    bool done = stn_inverse_factor(inverse, p, NULL) == STN_OK;
    s->factor[k] = lap(&mark);
    done = done && stn_inverse_masses(inverse, p, scratch, NULL) == STN_OK;
    s->masses[k] = lap(&mark);
    done = done && stn_delassus_build(inverse, p, scratch, &d, NULL) == STN_OK;
    s->delassus[k] = lap(&mark);
    done = done &&
           stn_certify(p, p->v0, p->gamma_guess, NULL, NULL, NULL, STN_CERTIFICATE_LIGHT, scratch, &c, NULL) == STN_OK;
    s->light[k] = lap(&mark);
    done = done && stn_certify(p, p->v0, p->gamma_guess, NULL, NULL, NULL, 0, scratch, &c, NULL) == STN_OK;
    s->certificate[k] = lap(&mark);
    return done;
}

static void row(int32_t bodies, int32_t contacts, const char *stage, double us) {
    char what[64];
    snprintf(what, sizeof what, "%d bodies, %d contacts: %s", (int)bodies, (int)contacts, stage);
    bench_row("problem", what, "Stiction", "", "us", us);
}

static bool heap(stn_context *context, int32_t bodies, int32_t contacts) {
    static stages s;
    stn_inverse *inverse = NULL;
    stn_arena *arena = stn_arena_create(context), *scratch = stn_arena_create(context);
    bool done = arena != NULL && scratch != NULL && stn_inverse_create(context, &inverse, NULL) == STN_OK;
    if (done) {
        stn_problem p = make(bodies, contacts, arena);
        for (int32_t k = 0; k < ROUNDS && done; k++) {
            done = time_round(&p, inverse, scratch, k, &s);
        }
        double factor = median(s.factor, ROUNDS), masses = median(s.masses, ROUNDS);
        double delassus = median(s.delassus, ROUNDS), certificate = median(s.certificate, ROUNDS);
        printf("%3d bodies, %3d contacts: factor %6.2f   masses %6.2f   Delassus %7.2f   certificate %6.2f (light "
               "%5.2f) us\n",
               bodies, contacts, factor, masses, delassus, certificate, median(s.light, ROUNDS));
        row(bodies, contacts, "factor", factor);
        row(bodies, contacts, "inverse masses", masses);
        row(bodies, contacts, "Delassus", delassus);
        row(bodies, contacts, "certificate", certificate);
    }
    stn_inverse_destroy(inverse);
    stn_arena_destroy(scratch);
    stn_arena_destroy(arena);
    return done;
}

int main(void) {
    stn_context *context = NULL;
    bool done = stn_context_create(NULL, &context, NULL) == STN_OK && heap(context, 40, 110) &&
                heap(context, 160, 420) && heap(context, 320, 810);
    stn_context_destroy(context);
    return done ? 0 : 1;
}
