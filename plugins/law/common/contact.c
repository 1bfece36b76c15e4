// SPDX-License-Identifier: Apache-2.0
#include "common/contact.h"

#include <math.h>

static stn_status refuse(const stn_problem *problem, int32_t index, const char *name, double value, const char *unit,
                         const char *range, stn_error *err) {
    return stn_fail(err, STN_ERR_NUMERIC, "contact %d (id %llu): %s = %g %s must be %s", index,
                    (unsigned long long)problem->constraints[index].id, name, value, unit, range);
}

static stn_status check(const stn_problem *problem, int32_t index, const law_rules *rules, stn_error *err) {
    const stn_constraint *c = &problem->constraints[index];
    if (c->set != STN_SET_CONE || c->rows != 3) {
        return stn_fail(err, STN_ERR_UNSUPPORTED,
                        "constraint %d (id %llu): the law %s takes circular friction cones, not a set '%s' of %d rows",
                        index, (unsigned long long)c->id, rules->id, stn_constraint_set_name(c->set), c->rows);
    }
    if (rules->points_alone && c->patch >= 0) {
        return stn_fail(
            err, STN_ERR_UNSUPPORTED,
            "contact %d (id %llu) is a face of a patch, whose pressure grows linearly with depth; the force "
            "of law %s does not: take sap, lagged, similar or lagged_regularized",
            index, (unsigned long long)c->id, rules->id);
    }
    if (!isfinite(c->phi0)) {
        return refuse(problem, index, "phi0", c->phi0, "m", "finite", err);
    }
    if (!(c->stiffness >= 0.0)) {
        return refuse(problem, index, "stiffness", c->stiffness, "N/m", ">= 0", err);
    }
    if (!(c->dissipation >= 0.0) || !isfinite(c->dissipation)) {
        return refuse(problem, index, "dissipation", c->dissipation, "s/m", ">= 0 and finite", err);
    }
    if (!(c->mu1 >= 0.0) || !isfinite(c->mu1)) {
        return refuse(problem, index, "mu", c->mu1, "1", ">= 0 and finite", err);
    }
    if (!(c->w >= 0.0) || !isfinite(c->w)) {
        return refuse(problem, index, "w", c->w, "1/kg", ">= 0 and finite", err);
    }
    return STN_OK;
}

/// v_n0: what the problem states, else from the velocity before the step.
static stn_status find_normal_speed(const stn_problem *problem, int32_t index, double *out, stn_error *err) {
    const stn_constraint *c = &problem->constraints[index];
    *out = c->vn0;
    if (isnan(c->vn0)) {
        if (problem->form == STN_FORM_LOCAL) {
            return stn_fail(err, STN_ERR_NUMERIC,
                            "contact %d (id %llu): a lagged law needs vn0 or gamma_n0, and a local problem has no v0",
                            index, (unsigned long long)c->id);
        }
        double v_c[3];
        stn_constraint_velocity(problem, c, problem->v0, v_c);
        *out = v_c[2] + problem->bias[c->row + 2];
    }
    return isfinite(*out) ? STN_OK : refuse(problem, index, "vn0", *out, "m/s", "finite", err);
}

static stn_status find_slip(const law_rules *rules, const stn_problem *problem, int32_t index, double slip[2],
                            stn_error *err) {
    const stn_constraint *c = &problem->constraints[index];
    if (problem->form == STN_FORM_LOCAL) {
        return stn_fail(err, STN_ERR_NUMERIC,
                        "contact %d (id %llu): the law %s needs the velocity before the step, and a local problem "
                        "has no v0: solve it in its global form",
                        index, (unsigned long long)c->id, rules->id);
    }
    double v_c[3];
    stn_constraint_velocity(problem, c, problem->v0, v_c);
    for (int32_t a = 0; a < 2; a++) {
        slip[a] = v_c[a] + problem->bias[c->row + a];
        if (!isfinite(slip[a])) {
            return refuse(problem, index, "slip before the step", slip[a], "m/s", "finite", err);
        }
    }
    return STN_OK;
}

double law_stiffness(const stn_problem *problem, int32_t index, double beta) {
    const stn_constraint *c = &problem->constraints[index];
    double w = c->w == 0.0 ? 1.0 : c->w; // moves nothing: any stiffness serves
    double period = law_stated(problem->beta, beta) * problem->dt;
    return isinf(c->stiffness) ? 4.0 * STN_PI * STN_PI / (period * period * w) : c->stiffness;
}

/// What a problem states in place of a law's parameters: known to be no NaN.
static stn_status check_stated(const stn_problem *problem, const law_contact *contact, stn_error *err) {
    if (!(contact->stiction_tolerance >= 0.0) || !isfinite(contact->stiction_tolerance) ||
        problem->stiction_tolerance == 0.0) {
        return stn_fail(err, STN_ERR_NUMERIC, "the problem's stiction_tolerance = %g m/s must be > 0 and finite",
                        problem->stiction_tolerance);
    }
    if (!(contact->sigma >= 0.0) || !isfinite(contact->sigma)) {
        return stn_fail(err, STN_ERR_NUMERIC, "the problem's sigma = %g must be >= 0 and finite", problem->sigma);
    }
    if (isinf(contact->stiffness)) {
        return stn_fail(err, STN_ERR_NUMERIC, "the problem's beta = %g must be > 0 where a contact is rigid",
                        problem->beta);
    }
    return STN_OK;
}

stn_status law_read(const law_rules *rules, const stn_problem *problem, int32_t index, law_contact *out,
                    stn_error *err) {
    stn_status status = check(problem, index, rules, err);
    if (status != STN_OK) {
        return status;
    }
    const stn_constraint *c = &problem->constraints[index];
    *out = (law_contact){
        .dt = problem->dt,
        .phi0 = c->phi0,
        .stiffness = law_stiffness(problem, index, rules->beta),
        .dissipation = c->dissipation,
        .mu = c->mu1,
        .w = c->w,
        .normal_impulse = rules->guess ? (double)NAN : c->gamma_n0,
        .stiction_tolerance = law_stated(problem->stiction_tolerance, rules->stiction_tolerance),
        .sigma = law_stated(problem->sigma, rules->sigma),
        .rigid = isinf(c->stiffness),
    };
    status = check_stated(problem, out, err);
    if (status == STN_OK && rules->slip) {
        status = find_slip(rules, problem, index, out->slip, err);
    }
    if (status == STN_OK && rules->relaxation && !out->rigid) {
        out->relaxation_time = c->relaxation_time;
        if (!(c->relaxation_time >= 0.0) || !isfinite(c->relaxation_time)) {
            status = refuse(problem, index, "relaxation_time", c->relaxation_time, "s", ">= 0 and finite", err);
        }
    }
    if (status != STN_OK) {
        return status;
    }
    if (!rules->lagged || !isnan(out->normal_impulse)) {
        return isinf(out->normal_impulse) ? refuse(problem, index, "gamma_n0", c->gamma_n0, "N s", "finite", err)
                                          : STN_OK;
    }
    return find_normal_speed(problem, index, &out->normal_speed, err);
}

stn_status law_prepare(const law_rules *rules, const void *self, const stn_problem *problem, const stn_law_batch *batch,
                       stn_error *err) {
    static const law_contact padding = {.dt = 1.0, .phi0 = 1.0, .w = 1.0, .stiction_tolerance = 1.0};
    const size_t stride = (size_t)batch->stride;
    for (int32_t i = 0; i < batch->count; i++) {
        law_contact contact;
        stn_status status = law_read(rules, problem, batch->constraint[i], &contact, err);
        if (status != STN_OK) {
            return status;
        }
        rules->fill(self, &contact, batch->coefficients + i, stride);
    }
    for (int32_t i = batch->count; i < batch->stride; i++) {
        rules->fill(self, &padding, batch->coefficients + i, stride);
    }
    return STN_OK;
}
