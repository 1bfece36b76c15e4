// SPDX-License-Identifier: Apache-2.0
// "contact-problem-1": one dense A, contacts with friction cones, matrices flat and row-major. docs/contact-problem.md
#include <string.h>

#include "json.h"

/// Keys with one number per contact that a file may leave out; absent means NaN.
typedef struct per_contact {
    const double *mu; // always given
    const double *k, *tau_d, *d, *phi0, *w, *vn0, *gamma_n0;
} per_contact;

static double entry(const double *values, int32_t i) {
    return values != NULL ? values[i] : (double)NAN;
}

static double *duplicate(json_reader *r, const double *from, int32_t count) {
    double *to = json_allocate(r, count, sizeof *to);
    if (to != NULL && count > 0) {
        memcpy(to, from, (size_t)count * sizeof *to);
    }
    return to;
}

static void read_rows(json_reader *r, const cJSON *root, stn_problem *p) {
    int32_t rows = p->row_count;
    p->R = json_reals(r, root, "R", rows, "3*nc", JSON_OPTIONAL);
    p->v_hat = json_reals(r, root, "v_hat", rows, "3*nc", JSON_OPTIONAL);
    p->explicit_R = p->R != NULL;
    if ((p->R == NULL) != (p->v_hat == NULL)) {
        json_fail(r, p->R == NULL ? "R" : "v_hat", "missing, but '%s' is given: give both or none",
                  p->R == NULL ? "v_hat" : "R");
    }
    p->bias = json_allocate(r, rows, sizeof *p->bias);
    p->lo = json_allocate(r, rows, sizeof *p->lo);
    p->hi = json_allocate(r, rows, sizeof *p->hi);
    p->gamma_guess = json_reals(r, root, "gamma_guess", rows, "3*nc", JSON_OPTIONAL);
    if (p->gamma_guess == NULL) {
        p->gamma_guess = json_allocate(r, rows, sizeof *p->gamma_guess);
    }
    if (!p->explicit_R) {
        p->R = json_allocate(r, rows, sizeof *p->R);
        p->v_hat = json_allocate(r, rows, sizeof *p->v_hat);
    }
    for (int32_t i = 0; i < rows && r->status == STN_OK; i++) {
        p->lo[i] = -(double)INFINITY;
        p->hi[i] = (double)INFINITY;
        if (!p->explicit_R) {
            p->R[i] = p->v_hat[i] = (double)NAN;
        }
    }
}

static void fill_contact(stn_constraint *c, int32_t i, const double *J, const per_contact *data) {
    double unknown = (double)NAN;
    *c = (stn_constraint){
        .id = (uint64_t)i,
        .kind = STN_CONSTRAINT_CONTACT,
        .set = STN_SET_CONE,
        .row = 3 * i,
        .rows = 3,
        .J = {{.tree = 0, .values = J}, {.tree = -1}},
        .phi0 = entry(data->phi0, i),
        .stiffness = entry(data->k, i),
        .relaxation_time = entry(data->tau_d, i),
        .dissipation = entry(data->d, i),
        .mu1 = data->mu[i],
        .mu2 = data->mu[i],
        .restitution = unknown,
        .w = entry(data->w, i),
        .w_trace = unknown,
        .gamma_n0 = entry(data->gamma_n0, i),
        .vn0 = entry(data->vn0, i),
        .memory = -1,
        .body = {-1, -1},
        .contact = -1,
        .patch = -1,
        .point = {unknown, unknown, unknown},
        .frame = stn_mat3_diagonal(unknown, unknown, unknown),
    };
    for (int32_t k = 0; k < 9; k++) {
        c->frame.m[k / 3][k % 3] = unknown;
    }
}

void json_read_problem_1(json_reader *r, const cJSON *root, stn_problem *p) {
    const char *name = json_text(r, root, "name", JSON_OPTIONAL);
    *p = (stn_problem){.form = STN_FORM_GLOBAL, .velocity_kind = STN_VELOCITY_END, .theta = 1.0};
    p->dt = json_real(r, root, "dt", 0);
    p->beta = json_real(r, root, "beta", JSON_OPTIONAL);
    p->sigma = json_real(r, root, "sigma", JSON_OPTIONAL);
    p->stiction_tolerance = json_real(r, root, "v_s", JSON_OPTIONAL);
    int64_t nv = json_integer(r, root, "nv", 1, INT32_MAX, 0, 0);
    if (nv * nv > JSON_MAX_NUMBERS) {
        json_fail(r, "nv", "%lld, but a dense A of more than %lld numbers is not read", (long long)nv,
                  (long long)JSON_MAX_NUMBERS);
    }
    p->nv = (int32_t)nv;
    p->tree_count = 1;
    p->trees = json_allocate(r, 1, sizeof *p->trees);
    double *A = json_reals(r, root, "A", nv * nv, "nv*nv", 0);
    p->v_star = json_reals(r, root, "v_star", nv, "nv", 0);
    p->v0 = json_reals(r, root, "v0", nv, "nv", JSON_OPTIONAL);
    p->v_guess = json_reals(r, root, "v_guess", nv, "nv", JSON_OPTIONAL);
    if (r->status == STN_OK) {
        p->trees[0].A = (stn_matrix){.n = p->nv, .form = STN_MATRIX_DENSE, .values = A};
    }
    int64_t nc = json_integer(r, root, "nc", 0, JSON_MAX_NUMBERS / 3, 0, 0);
    if (3 * nc * p->nv > JSON_MAX_NUMBERS) {
        json_fail(r, "nc", "%lld, but a dense J of more than %lld numbers is not read", (long long)nc,
                  (long long)JSON_MAX_NUMBERS);
    }
    p->constraint_count = (int32_t)nc;
    p->row_count = 3 * p->constraint_count;
    const double *J = json_reals(r, root, "J", 3 * nc * p->nv, "3*nc*nv", 0);
    per_contact data = {.mu = json_reals(r, root, "mu", nc, "nc", 0)};
    const struct {
        const char *key;
        const double **values;
        uint32_t flags;
    } keys[] = {
        {"k", &data.k, JSON_SPECIAL}, // a rigid contact has k = "inf"
        {"tau_d", &data.tau_d, 0},    {"d", &data.d, 0},
        {"phi0", &data.phi0, 0},      {"w", &data.w, 0},
        {"vn0", &data.vn0, 0},        {"gamma_n0", &data.gamma_n0, 0},
    };
    for (int32_t i = 0; i < STN_COUNT(keys); i++) {
        *keys[i].values = json_reals(r, root, keys[i].key, nc, "nc", JSON_OPTIONAL | keys[i].flags);
    }
    read_rows(r, root, p);
    p->constraints = json_allocate(r, nc, sizeof *p->constraints);
    if (name != NULL) {
        size_t size = strlen(name) + 1;
        char *copy = json_allocate(r, (int64_t)size, 1);
        p->name = copy != NULL ? memcpy(copy, name, size) : NULL;
    }
    if (r->status == STN_OK) {
        p->v0 = p->v0 != NULL ? p->v0 : duplicate(r, p->v_star, p->nv);
        p->v_guess = p->v_guess != NULL ? p->v_guess : duplicate(r, p->v_star, p->nv);
        for (int32_t i = 0; i < p->constraint_count; i++) {
            fill_contact(&p->constraints[i], i, J + 3 * (size_t)i * (size_t)p->nv, &data);
        }
    }
}
