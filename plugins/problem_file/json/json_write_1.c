// SPDX-License-Identifier: Apache-2.0
// Writing "contact-problem-1", for problems that lose nothing in it but numbering: several trees become one dense A,
// Jacobian blocks become dense rows; ids, memory slots and reporting data are left out.
#include <string.h>

#include "common/expand.h"
#include "json_write.h"

static stn_status lost(stn_error *err, const char *what) {
    return stn_fail(err, STN_ERR_UNSUPPORTED, "contact-problem-1 cannot hold %s; use contact-problem-2", what);
}

static bool any_nonzero(const double *values, int32_t count) {
    for (int32_t i = 0; i < count && values != NULL; i++) {
        if (values[i] != 0.0) {
            return true;
        }
    }
    return false;
}

/// Members that one file holds for all contacts or for none.
static const struct {
    const char *key;
    size_t offset;
} members[] = {
    {"k", offsetof(stn_constraint, stiffness)},
    {"tau_d", offsetof(stn_constraint, relaxation_time)},
    {"d", offsetof(stn_constraint, dissipation)},
    {"phi0", offsetof(stn_constraint, phi0)},
    {"w", offsetof(stn_constraint, w)},
    {"vn0", offsetof(stn_constraint, vn0)},
    {"gamma_n0", offsetof(stn_constraint, gamma_n0)},
};

static double member_of(const stn_constraint *c, int32_t m) {
    double value;
    memcpy(&value, (const char *)c + members[m].offset, sizeof value);
    return value;
}

/// How many constraints know member m.
static int32_t known(const stn_problem *p, int32_t m) {
    int32_t count = 0;
    for (int32_t i = 0; i < p->constraint_count; i++) {
        count += !isnan(member_of(&p->constraints[i], m));
    }
    return count;
}

stn_status json_check_problem_1(const stn_problem *p, stn_error *err) {
    if (p->form != STN_FORM_GLOBAL) {
        return lost(err, "the local form");
    }
    if (p->velocity_kind != STN_VELOCITY_END) {
        return lost(err, "velocities within the step (kind mid)");
    }
    if (any_nonzero(p->free_impulse, p->nv)) {
        return lost(err, "free_impulse");
    }
    if (p->nv < 1 || (int64_t)p->nv * p->nv > (int64_t)1 << 26) {
        return stn_fail(err, STN_ERR_UNSUPPORTED,
                        "contact-problem-1 cannot hold nv = %d: A is one dense matrix; use contact-problem-2", p->nv);
    }
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const stn_constraint *c = &p->constraints[i];
        const char *what = NULL;
        if (c->kind != STN_CONSTRAINT_CONTACT) {
            what = stn_constraint_kind_name(c->kind);
        } else if (c->set != STN_SET_CONE) {
            what = stn_constraint_set_name(c->set);
        } else if (any_nonzero(p->bias + c->row, c->rows)) {
            what = "bias";
        } else if (c->restitution > 0.0) {
            what = "restitution";
        }
        if (what != NULL) {
            return stn_fail(err, STN_ERR_UNSUPPORTED,
                            "contact-problem-1 cannot hold constraint %d (id %llu): %s; use contact-problem-2", i,
                            (unsigned long long)c->id, what);
        }
    }
    for (int32_t r = 0; r < p->row_count && !p->explicit_R; r++) {
        if (isnan(p->R[r]) != isnan(p->R[0]) || isnan(p->v_hat[r]) != isnan(p->R[0]) || isinf(p->R[r])) {
            return lost(err, "R and v_hat known for some rows only");
        }
    }
    for (int32_t m = 0; m < STN_COUNT(members); m++) {
        int32_t count = known(p, m);
        if (count != 0 && count != p->constraint_count) {
            return stn_fail(err, STN_ERR_UNSUPPORTED,
                            "contact-problem-1 cannot hold '%s' known for %d of %d contacts; use contact-problem-2",
                            members[m].key, count, p->constraint_count);
        }
    }
    return STN_OK;
}

static void put_row(json_writer *w, const double *row, int32_t count, bool first) {
    for (int32_t d = 0; d < count; d++) {
        json_put(w, first && d == 0 ? "" : ", ");
        json_put_real(w, row[d]);
    }
}

static void put_matrices(json_writer *w, const stn_problem *p, double *row) {
    size_t bytes = (size_t)p->nv * sizeof *row;
    json_put_key(w, "A");
    json_put(w, "[");
    for (int32_t t = 0; t < p->tree_count; t++) {
        for (int32_t d = 0; d < p->trees[t].A.n; d++) {
            memset(row, 0, bytes);
            problem_mass_row(&p->trees[t], d, row);
            put_row(w, row, p->nv, p->trees[t].dof_start + d == 0);
        }
    }
    json_put(w, "]");
    json_put_key(w, "J");
    json_put(w, "[");
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const stn_constraint *c = &p->constraints[i];
        for (int32_t r = 0; r < c->rows; r++) {
            memset(row, 0, bytes);
            problem_jacobian_row(p, c, r, row);
            put_row(w, row, p->nv, c->row + r == 0);
        }
    }
    json_put(w, "]");
}

bool json_put_problem_1(json_writer *w, const stn_problem *p) {
    stn_context *context = w->sink->context;
    double *row = stn_allocate(context, (size_t)p->nv, sizeof *row);
    if (row == NULL) {
        return false;
    }
    size_t nv_bytes = (size_t)p->nv * sizeof *row;
    json_put(w, "{");
    w->indent = "  ";
    w->first = true;
    const char *const keys[] = {"dt", "beta", "sigma", "v_s"};
    const double values[] = {p->dt, p->beta, p->sigma, p->stiction_tolerance};
    json_put_key(w, "format");
    json_put_text(w, "contact-problem-1");
    json_put_key(w, "name");
    json_put_text(w, p->name);
    json_put_key(w, "nv");
    json_put_integer(w, p->nv);
    json_put_key(w, "nc");
    json_put_integer(w, p->constraint_count);
    for (int32_t k = 0; k < STN_COUNT(keys); k++) {
        if (isfinite(values[k])) {
            json_put_key(w, keys[k]);
            json_put_real(w, values[k]);
        }
    }
    put_matrices(w, p, row);
    json_put_named_reals(w, "v_star", p->v_star, (size_t)p->nv);
    if (memcmp(p->v0, p->v_star, nv_bytes) != 0) {
        json_put_named_reals(w, "v0", p->v0, (size_t)p->nv);
    }
    if (memcmp(p->v_guess, p->v_star, nv_bytes) != 0) {
        json_put_named_reals(w, "v_guess", p->v_guess, (size_t)p->nv);
    }
    if (p->explicit_R || (p->row_count > 0 && !isnan(p->R[0]))) {
        json_put_named_reals(w, "R", p->R, (size_t)p->row_count);
        json_put_named_reals(w, "v_hat", p->v_hat, (size_t)p->row_count);
    }
    if (any_nonzero(p->gamma_guess, p->row_count)) {
        json_put_named_reals(w, "gamma_guess", p->gamma_guess, (size_t)p->row_count);
    }
    json_put_key(w, "mu");
    json_put(w, "[");
    for (int32_t i = 0; i < p->constraint_count; i++) {
        json_put(w, i > 0 ? ", " : "");
        json_put_real(w, p->constraints[i].mu1);
    }
    json_put(w, "]");
    for (int32_t m = 0; m < STN_COUNT(members); m++) {
        if (known(p, m) == 0) {
            continue;
        }
        json_put_key(w, members[m].key);
        json_put(w, "[");
        for (int32_t i = 0; i < p->constraint_count; i++) {
            json_put(w, i > 0 ? ", " : "");
            json_put_real(w, member_of(&p->constraints[i], m));
        }
        json_put(w, "]");
    }
    json_put(w, "\n}\n");
    stn_release(context, row);
    return true;
}
