// SPDX-License-Identifier: Apache-2.0
// The same physics said differently must give the same motion.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "solver_checks.h"
#include "solver_subject.h"

/// A way to say a problem differently and to bring its velocities back; both for problem number `i`. False: decided.
typedef bool (*other_way)(solver_subject *s, stn_problem *p, const solver_answer *first, double *v);

typedef struct other_ways {
    const char *what; // "in another order"
    other_way solve;
    problem_spec spec;
    int32_t count, full_count;
} other_ways;

/// Solves random problems both ways and compares.
static void compare(solver_subject *s, const other_ways *ways) {
    validate_trial *trial = s->trial;
    int32_t count = trial->request->full ? ways->full_count : ways->count;
    double worst = 0.0, limit = subject_nearness(s);
    for (int32_t i = 0; i < count && !trial->decided; i++) {
        subject_reset(s);
        char what[64];
        snprintf(what, sizeof what, "problem %d", i);
        stn_problem *p = subject_problem(s, &ways->spec);
        double *v = p != NULL ? STN_ARENA_ZEROED(s->arena, p->nv + 1, double) : NULL;
        solver_answer a = v != NULL ? subject_solve(s, p) : (solver_answer){0};
        if (p == NULL || !subject_has(s, v) || !subject_expect_solved(s, p, &a, what) || !ways->solve(s, p, &a, v)) {
            continue;
        }
        double error = subject_difference(s, p, a.v, v);
        worst = error > worst || isnan(error) ? error : worst;
        if (!(error <= limit)) {
            trial_fail(trial, "problem %d %s: v differs by %.2g of |v|, expected at most %.0e%s", i, ways->what, error,
                       limit, subject_save(s, p));
        }
    }
    trial_ok(trial, "%d problems %s: v differs by at most %.1e (limit %.0e)", count, ways->what, worst, limit);
}

// ------------------------------------------------------------------------------------------------------------- order

static bool solve_shuffled(solver_subject *s, stn_problem *p, const solver_answer *first, double *v) {
    (void)first;
    problem_order order;
    double *gamma = STN_ARENA(s->arena, p->row_count + 1, double);
    stn_problem *q = problem_shuffled(s->arena, p, &s->random, &order);
    if (!subject_has(s, q) || !subject_has(s, gamma)) {
        return false;
    }
    solver_answer a = subject_solve(s, q);
    if (!subject_expect_solved(s, q, &a, "in another order")) {
        return false;
    }
    problem_unshuffle(p, q, &order, a.v, a.gamma, v, gamma);
    return true;
}

void solver_order(validate_trial *trial) {
    solver_subject s;
    if (subject_begin(&s, trial, false) && subject_has_solutions(&s)) {
        compare(&s, &(other_ways){"in another order", solve_shuffled, subject_spec(&s), 100, 1000});
    }
}

// ---------------------------------------------------------------------------------------------------------- rotation

static bool solve_turned(solver_subject *s, stn_problem *p, const solver_answer *first, double *v) {
    (void)first;
    bool polyhedral = s->formulation == STN_LCP || s->formulation == STN_QP; // edges turn with the tangents
    double angle = random_uniform(&s->random, -3.0, 3.0), spin = random_uniform(&s->random, -3.0, 3.0);
    spin = polyhedral ? 0.0 : spin;
    stn_mat3 turn = stn_mat3_from_rpy(angle, random_uniform(&s->random, -1.5, 1.5), spin);
    stn_problem *q = problem_turned(s->arena, p, &turn, spin);
    if (!subject_has(s, q)) {
        return false;
    }
    solver_answer a = subject_solve(s, q);
    if (!subject_expect_solved(s, q, &a, "turned")) {
        return false;
    }
    problem_turn_back(p, &turn, spin, a.v, a.gamma);
    memcpy(v, a.v, (size_t)p->nv * sizeof *v);
    return true;
}

void solver_rotation(validate_trial *trial) {
    solver_subject s;
    if (subject_begin(&s, trial, false)) {
        problem_spec spec = subject_spec(&s);
        spec.bodies += spec.arms; // dofs of an arm do not turn with the world
        spec.arms = 0;
        compare(&s, &(other_ways){"turned, tangents too", solve_turned, spec, 100, 1000});
    }
}

// ------------------------------------------------------------------------------------------------------------- units

/// What a number in `unit` ("m/s", "kg m^2", "1") is multiplied by. NAN for a unit with other words than kg, m, s, N,
/// J.
static double unit_factor(const char *unit, const problem_units *u) {
    const double force = u->mass * u->length / (u->time * u->time);
    const struct {
        const char *word;
        double factor;
    } words[] = {{"kg", u->mass}, {"m", u->length}, {"s", u->time}, {"N", force}, {"J", force * u->length}, {"1", 1.0}};
    double product = 1.0, sign = 1.0;
    while (*unit != '\0') {
        size_t length = strcspn(unit, " /^"), i = 0;
        while (i < STN_COUNT(words) && (strlen(words[i].word) != length || strncmp(words[i].word, unit, length) != 0)) {
            i++;
        }
        if (i == STN_COUNT(words)) {
            return (double)NAN;
        }
        unit += length;
        double power = *unit == '^' ? strtod(unit + 1, (char **)&unit) : 1.0;
        product *= pow(words[i].factor, sign * power);
        sign = *unit == '/' ? -1.0 : sign;
        unit += *unit == '/' || *unit == ' ';
    }
    return product;
}

/// The parameters of the law at hand that have a unit, in other units. False: trial skipped, it is not known how.
static bool law_settings(solver_subject *s, const problem_units *u, stn_setting *settings, int32_t *count) {
    const stn_plugin_desc *desc = s->law->desc;
    *count = 0;
    for (int32_t i = 0; i < desc->param_count; i++) {
        const stn_param *param = &desc->params[i];
        double factor = unit_factor(param->unit, u);
        if (param->type == STN_PARAM_TYPE_TEXT || isnan(factor)) {
            trial_skip(s->trial, "parameter %s of law %s is a text or in %s: its numbers in other units are not known",
                       param->name, desc->id, param->unit);
            return false;
        }
        if (param->type == STN_PARAM_TYPE_REAL) {
            double value = *(const double *)((const char *)s->law->config + param->offset);
            settings[(*count)++] = (stn_setting){param->name, STN_SETTING_NUMBER, factor * value, NULL, "units"};
        }
    }
    return true;
}

/// `s` with its law in other units. False: the trial is decided.
static bool begin_units(const solver_subject *s, const problem_units *u, solver_subject *other) {
    enum { MOST = 16 };
    stn_setting settings[MOST];
    int32_t count = 0;
    *other = *s;
    if (s->law == NULL) {
        return true;
    }
    if (s->law->desc->param_count > MOST || !law_settings(other, u, settings, &count)) {
        return false;
    }
    stn_status status =
        stn_instance_create(s->context, STN_KIND_LAW, s->law->desc->id, settings, count, &other->law, &other->error);
    stn_problem_solver_options options = {.solver = s->solver, .law = other->law};
    status = status == STN_OK ? stn_problem_solver_create(s->context, &options, &other->problem_solver, &other->error)
                              : status;
    if (status != STN_OK) {
        trial_fail(s->trial, "law %s in other units: %s", s->law->desc->id, other->error.text);
    }
    return status == STN_OK;
}

static bool solve_in_units(solver_subject *s, stn_problem *p, const solver_answer *first, double *v) {
    (void)first;
    static const problem_units units[] = {{1e3, 1e3, 1.0},  {1e-3, 1e2, 1.0},          {1.0, 1e-3, 1e3},
                                          {1e4, 1.0, 1e-2}, {0.453592, 39.3701, 60.0}, {1e-3, 1e-3, 1.0},
                                          {1e6, 1e3, 1.0}}; // the last two: tonnes and kilometres, mg and mm
    double *scale = STN_ARENA(s->arena, p->nv + 1, double);
    if (!subject_has(s, scale)) {
        return false;
    }
    const problem_units *u = &units[random_integer(&s->random, 0, STN_COUNT(units) - 1)];
    stn_problem *q = problem_in_units(s->arena, p, u, scale);
    solver_subject other;
    if (!subject_has(s, q) || !begin_units(s, u, &other)) {
        return false;
    }
    char what[120];
    snprintf(what, sizeof what, "numbers of mass x %g, of length x %g, of time x %g", u->mass, u->length, u->time);
    solver_answer a = subject_solve(&other, q);
    bool good = subject_expect_solved(&other, q, &a, what);
    if (s->law != NULL) {
        stn_problem_solver_destroy(other.problem_solver);
        stn_instance_destroy(other.law);
    }
    for (int32_t d = 0; d < p->nv && good; d++) {
        v[d] = a.v[d] / scale[d];
    }
    return good;
}

void solver_units(validate_trial *trial) {
    solver_subject s;
    if (subject_begin(&s, trial, false) && subject_has_solutions(&s)) {
        compare(&s, &(other_ways){"in other units", solve_in_units, subject_spec(&s), 100, 1000});
    }
}

// --------------------------------------------------------------------------------------------------------- redundant

/// Copies with a share of the stiffness each are the contact that was only under a law that is linear in it. The
/// certificate of the solution, shared out among the copies, tells: its law residual is that of the law alone.
static bool shares(solver_subject *s, const stn_problem *p, const stn_problem *q, int32_t times,
                   const solver_answer *a) {
    double *gamma = STN_ARENA(s->arena, q->row_count + 1, double);
    if (s->law == NULL || !s->trial->request->other_law || !subject_has(s, gamma)) {
        return !s->trial->decided;
    }
    int32_t copies = 0;
    for (int32_t i = 0, k = 0; i < q->constraint_count; i++) {
        const stn_constraint *c = &q->constraints[i], *was = &p->constraints[k];
        bool contact = c->kind == STN_CONSTRAINT_CONTACT;
        for (int32_t r = 0; r < c->rows; r++) {
            gamma[c->row + r] = a->gamma[was->row + r] / (contact ? times : 1);
        }
        copies = contact ? (copies + 1) % times : 0;
        k += copies == 0;
    }
    stn_law law = stn_law_of(s->law);
    stn_certificate own;
    stn_status status =
        stn_certify(q, a->v, gamma, &law, subject_memory(s, s->law, q), NULL, 0, s->arena, &own, &s->error);
    if (status != STN_OK) {
        trial_fail(s->trial, "the certificate of copies: %s", s->error.text);
    } else if (!(own.law_residual <= 1e-7)) {
        trial_skip(s->trial, "law %s is not linear in the stiffness: copies of a contact are another contact, by %.1e",
                   law.id, own.law_residual);
    }
    return !s->trial->decided;
}

static bool solve_repeated(solver_subject *s, stn_problem *p, const solver_answer *first, double *v) {
    int32_t times = random_integer(&s->random, 2, 5);
    stn_problem *q = problem_repeated(s->arena, p, times);
    if (!subject_has(s, q) || !shares(s, p, q, times, first)) {
        return false;
    }
    solver_answer a = subject_solve(s, q);
    if (!subject_expect_solved(s, q, &a, "every contact several times, with a share of its stiffness")) {
        return false;
    }
    memcpy(v, a.v, (size_t)p->nv * sizeof *v);
    return true;
}

void solver_redundant(validate_trial *trial) {
    solver_subject s;
    if (subject_begin(&s, trial, false) && subject_has_solutions(&s)) {
        problem_spec spec = subject_spec(&s);
        spec.rigid = s.formulation == STN_MDP ? 1.0 : spec.rigid; // a share of a stiffness is another W_ii, its measure
        compare(&s, &(other_ways){"with every contact 2 to 5 times", solve_repeated, spec, 30, 1000});
    }
}

// ------------------------------------------------------------------------------------------------------------- nodal

static bool solve_dense(solver_subject *s, stn_problem *p, const solver_answer *first, double *v) {
    (void)first;
    stn_problem *q = problem_dense(s->arena, p);
    if (!subject_has(s, q)) {
        return false;
    }
    s->masses_stated = true; // those of p: a cloud is scaled by its nodes' blocks, a dense A by all of it
    solver_answer a = subject_solve(s, q);
    s->masses_stated = false;
    if (!subject_expect_solved(s, q, &a, "all trees dense")) {
        return false;
    }
    memcpy(v, a.v, (size_t)p->nv * sizeof *v);
    return true;
}

void solver_nodal(validate_trial *trial) {
    solver_subject s;
    if (!subject_begin(&s, trial, false)) {
        return;
    }
    problem_spec spec = subject_spec(&s);
    spec.clouds = 3;
    stn_problem *p = subject_problem(&s, &spec);
    solver_answer a = p != NULL ? subject_solve(&s, p) : (solver_answer){0};
    if (a.status == STN_ERR_UNSUPPORTED) {
        trial_skip(trial, "it refuses nodal trees: %s", s.error.text);
        return;
    }
    compare(&s, &(other_ways){"with nodal trees and with the same trees dense", solve_dense, spec, 100, 1000});
}

// ----------------------------------------------------------------------------------------------------------- islands

/// The trees of island `own` with their constraints as they are, all other constraints gone.
static stn_problem *one_island(solver_subject *s, const stn_problem *p, int32_t own, int32_t islands) {
    stn_problem *q = problem_copy(s->arena, p);
    if (q == NULL) {
        return NULL;
    }
    int32_t count = 0, row = 0;
    double *const vectors[] = {q->bias, q->lo, q->hi, q->R, q->v_hat, q->gamma_guess, q->phi};
    for (int32_t i = 0; i < p->constraint_count; i++) {
        stn_constraint c = q->constraints[i];
        if (c.J[0].tree % islands != own) {
            continue;
        }
        for (int32_t a = 0; a < STN_COUNT(vectors); a++) {
            memmove(vectors[a] + row, vectors[a] + c.row, (size_t)c.rows * sizeof(double));
        }
        c.row = row;
        c.memory = count;
        row += c.rows;
        q->constraints[count++] = c;
    }
    q->constraint_count = count;
    q->row_count = row;
    return q;
}

/// Every island alone gives the bytes that it gives among the others.
static bool same_alone(solver_subject *s, const stn_problem *p, const solver_answer *all, int32_t islands,
                       int32_t number) {
    for (int32_t own = 0; own < islands; own++) {
        stn_problem *q = one_island(s, p, own, islands);
        if (!subject_has(s, q)) {
            return false;
        }
        solver_answer a = subject_solve(s, q);
        if (a.status != all->status && !subject_expect_solved(s, q, &a, "an island alone")) {
            return false;
        }
        for (int32_t t = own; t < p->tree_count; t += islands) {
            int32_t dof = p->trees[t].dof_start;
            if (memcmp(a.v + dof, all->v + dof, (size_t)p->trees[t].A.n * sizeof(double)) != 0) {
                trial_fail(s->trial,
                           "problem %d: tree %d moves at %.17g alone, at %.17g with other islands solved before%s",
                           number, t, a.v[dof], all->v[dof], subject_save(s, p));
                return false;
            }
        }
    }
    return true;
}

void solver_islands(validate_trial *trial) {
    enum { ISLANDS = 4 };
    solver_subject s;
    if (!subject_begin(&s, trial, false)) {
        return;
    }
    int32_t count = trial->request->full ? 300 : 30;
    problem_spec spec = subject_spec(&s);
    spec.bodies = 8;
    spec.arms = 4;
    spec.points = 2;
    spec.contacts *= 3;
    spec.islands = ISLANDS;
    for (int32_t i = 0; i < count && !trial->decided; i++) {
        subject_reset(&s);
        char what[64];
        snprintf(what, sizeof what, "problem %d with islands", i);
        stn_problem *p = subject_problem(&s, &spec);
        solver_answer a = p != NULL ? subject_solve(&s, p) : (solver_answer){0};
        if (p == NULL || !subject_expect_solved(&s, p, &a, what) || !same_alone(&s, p, &a, ISLANDS, i)) {
            continue;
        }
    }
    trial_ok(trial, "%d problems of %d islands and more: each alone gives the same bytes", count, ISLANDS);
}

// ------------------------------------------------------------------------------------------------------------ starts

static bool solve_from_elsewhere(solver_subject *s, stn_problem *p, const solver_answer *first, double *v) {
    (void)first;
    stn_problem *q = problem_copy(s->arena, p);
    if (!subject_has(s, q)) {
        return false;
    }
    bool rubbish = random_chance(&s->random, 0.3); // far off, out of every set
    for (int32_t d = 0; d < q->nv; d++) {
        q->v_guess[d] += (rubbish ? 1e6 : 1.0) * random_normal(&s->random);
    }
    for (int32_t r = 0; r < q->row_count && rubbish; r++) {
        q->gamma_guess[r] = 1e3 * random_normal(&s->random);
    }
    for (int32_t i = 0; i < q->constraint_count && !rubbish; i++) {
        const stn_constraint *c = &q->constraints[i];
        if (c->kind == STN_CONSTRAINT_CONTACT) {
            q->gamma_guess[c->row + 2] = random_uniform(&s->random, 0.0, 0.1);
        }
    }
    solver_answer a = subject_solve(s, q);
    if (!subject_expect_solved(s, q, &a, "from another start")) {
        return false;
    }
    memcpy(v, a.v, (size_t)p->nv * sizeof *v);
    return true;
}

void solver_starts(validate_trial *trial) {
    solver_subject s;
    if (subject_begin(&s, trial, false) && subject_has_solutions(&s)) {
        compare(&s, &(other_ways){"from another start", solve_from_elsewhere, subject_spec(&s), 100, 1000});
    }
}

void solver_warm_start(validate_trial *trial) {
    solver_subject s;
    if (!subject_begin(&s, trial, false) || !subject_has_solutions(&s)) {
        return;
    }
    problem_spec spec = subject_spec(&s);
    int32_t count = trial->request->full ? 1000 : 100, most = 0;
    double worst = 0.0, limit = subject_nearness(&s);
    for (int32_t i = 0; i < count && !trial->decided; i++) {
        subject_reset(&s);
        char what[64];
        snprintf(what, sizeof what, "problem %d", i);
        stn_problem *p = subject_problem(&s, &spec);
        solver_answer a = p != NULL ? subject_solve(&s, p) : (solver_answer){0};
        if (p == NULL || !subject_expect_solved(&s, p, &a, what)) {
            continue;
        }
        memcpy(p->v_guess, a.v, (size_t)p->nv * sizeof(double));
        memcpy(p->gamma_guess, a.gamma, (size_t)p->row_count * sizeof(double));
        solver_answer again = subject_solve(&s, p);
        if (!subject_expect_solved(&s, p, &again, what)) {
            continue;
        }
        double error = subject_difference(&s, p, a.v, again.v);
        worst = error > worst || isnan(error) ? error : worst;
        bool solved = a.status == STN_OK; // what stalled at round-off is no solution to the tolerance
        most = solved && again.report.iterations > most ? again.report.iterations : most;
        if ((solved && again.report.iterations > 1) || !(error <= limit)) {
            trial_fail(trial,
                       "problem %d, started at its solution: %d iterations (expected 0 or 1), v moves by %.2g of |v| "
                       "(limit %.0e)%s",
                       i, again.report.iterations, error, limit, subject_save(&s, p));
        }
    }
    trial_ok(trial, "%d problems started at their solutions: at most %d iterations, v moves by %.1e", count, most,
             worst);
}
