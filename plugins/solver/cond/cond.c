// SPDX-License-Identifier: Apache-2.0
// COND: contact nodalisation and diagonalisation [lee-2023], a fixed-point iteration over velocities. It solves
//
//     A v = b + J^T gamma,    b = A v_star + f,    u = J v + bias - v_hat + R gamma and gamma in the contact law
//
// by products with A alone: a diagonal W takes the place of A^-1, so that every contact is solved by itself, in one
// shot.
//
//     p = v - W (A v - b - J^T gamma)
//     gamma' = P(gamma - (J p + bias - v_hat + R gamma)/(g + R)),    g >= J W J^T of the contact, one number
//     v' = v - W (A v - b - J^T gamma')
//
// Where a contact has its nodes for itself g is J W J^T exactly, gamma cancels, and this is the paper's iteration.
// Contacts that share a node, or a body that is not nodal, keep their impulses in p and see each other's changes in
// some sweeps over them: fixed points are solutions, as without virtual nodes they would not be. Rows that tie bodies,
// and nodes to bodies, are in W (layout.h, ties.h).
#include <float.h>
#include <math.h>
#include <string.h>

#include "grips.h"
#include "step_size.h"

typedef struct cond_config {
    int32_t step_size, acceleration, acceleration_start;
    double relaxation, virtual_node_damping, velocity_threshold;
} cond_config;

enum { FROBENIUS, BARZILAI_BORWEIN };
static const char *const step_sizes[] = {"frobenius", "barzilai_borwein", NULL};
enum { NO_ACCELERATION, CHEBYSHEV, MOMENTUM };
static const char *const accelerations[] = {"none", "chebyshev", "momentum", NULL};

static const stn_param params[] = {
    STN_PARAM_CHOICE(cond_config, step_size, step_sizes, FROBENIUS,
                     "W: frobenius: least |I - W A|; barzilai_borwein: multiples of that, then no acceleration"),
    STN_PARAM_CHOICE(cond_config, acceleration, accelerations, MOMENTUM,
                     "momentum: Nesterov's, with restarts; chebyshev: the paper's; none"),
    STN_PARAM_INT(cond_config, acceleration_start, "1", 10.0, 1.0, 1e6, "iterations before Chebyshev's acceleration"),
    STN_PARAM_REAL(cond_config, relaxation, "1", 0.9, 0.1, 1.0, "under-relaxation u, without momentum"),
    STN_PARAM_REAL(cond_config, virtual_node_damping, "N s/m", 0.0, 0.0, 1e15,
                   "k_v that ties virtual nodes to bodies; 0: the nodes are rigid on them"),
    STN_PARAM_REAL(cond_config, velocity_threshold, "m/s", 0.0, 0.0, 1e6,
                   "ends, solved or not, where an iteration changes v by less, |v' - v| over all dofs; 0: never"),
};

/// Sums over some places, of one iteration.
typedef struct sums {
    double momentum, impulse, inertia; // |D (A v - b - J^T gamma')|^2, |D J^T gamma'|^2, |D A v|^2, D = diag(A)^-1/2
    double back;                       // (v - v')^T W^-1 (v' - v_before): > 0 where momentum has carried v too far
    double s_s, s_z, z_z;              // s^T W^-1 s, s^T z, z^T W z of s = v - v_before, z = A s
    double moved, weighed;             // |dv|^2, dv^T diag(A) dv of an update
} sums;

/// How the next iterate follows from v' and the two before.
typedef struct update {
    bool carry; // v' + beta (v' - v_before), and v_before becomes v'
    double beta;
    double nu, u; // else nu (u (v' - v) + v - v_before) + v_before, and v_before becomes v
} update;

/// What is left of an iterate, and beside what it is small or large.
typedef struct misfit {
    double map, speed;     // the largest natural map of a contact, and speed of contacts [m/s]
    double sum;            // natural maps of all contacts, in the units of momentum
    double momentum, size; // of the momentum, and the momentum, in units in which A has the diagonal 1
} misfit;

/// A solve.
typedef struct run {
    const cond_config *config;
    const stn_solve_control *control;
    cond_layout layout;
    cond_ties ties;
    cond_contacts contacts;
    cond_grips grips;
    stn_threads *threads; // NULL: too small for them
    cond_operator how;
    int32_t acceleration;
    bool barzilai_borwein, coulomb;
    double alpha;      // step sizes are alpha W
    double safe_alpha; // with which no eigenvalue of alpha W A is larger than one, about
    // padded vectors
    double *w, *w_inverse, *diagonal, *D2;          // diagonal of W, 1 over it, diagonal of A, 1 over it
    double *free;                                   // 1 where no constraint acts, else 0
    double *b, *v, *v_before, *p, *r, *r_before;    // r = A v - b, r_before = A v_before; p becomes v'
    double *q, *q_next, *q_spring, *work, *scratch; // J^T of gamma and gamma_next, and of springs
    // impulses (row_count)
    double *gamma, *gamma_before, *gamma_next;
    // the best iterate so far
    double *best_v, *best_gamma, error;
    double least_rest; // of all iterates
    // by chunk, group of nodal contacts, group of units, body; by group of constraints
    sums *chunk_sums, *nodal_sums, *unit_sums, *body_sums;
    double *maps, *squares, *speeds;
    update next;
    bool ahead; // impulses on bodies are carried ahead, too
    // acceleration
    double theta, most, rho, last_change; // most: of the momentum, which Coulomb's law may not bear
    int32_t since;                        // iterations since it began
} run;

#define LIMIT 1.7     // of the largest eigenvalue of W A, without momentum
enum { SWEEPS = 6 };  // over the contacts that are not nodal, an iteration
enum { GROUP = 256 }; // constraints, or units, that a worker takes at a time

static int32_t groups(int32_t count) {
    return (count + GROUP - 1) / GROUP;
}

static int32_t group_end(int32_t index, int32_t count) {
    return (index + 1) * GROUP < count ? (index + 1) * GROUP : count;
}

// ------------------------------------------------------------------------------------------------------ an iteration

/// Of a chunk whose W is diagonal: r -= b, p = v - alpha W (r - q), and sums of what is free of constraints.
STN_KERNEL static void step_diagonal(const run *s, const cond_chunk *chunk, sums *out) {
    const double *v = s->v + chunk->place, *before = s->v_before + chunk->place, *b = s->b + chunk->place;
    const double *q = s->q + chunk->place, *w = s->w + chunk->place, *D2 = s->D2 + chunk->place;
    const double *free = s->free + chunk->place, alpha = s->alpha;
    double *p = s->p + chunk->place, *r = s->r + chunk->place;
    cond_v4 momentum = {0.0}, inertia = {0.0}, back = {0.0};
    for (int32_t k = 0; k < chunk->width; k += 4) {
        const cond_v4 Av = cond_load(r + k), left = Av - cond_load(b + k), scale = cond_load(D2 + k);
        const cond_v4 next = cond_load(v + k) - alpha * (cond_load(w + k) * (left - cond_load(q + k)));
        const cond_v4 own = cond_load(free + k) * left;
        momentum += scale * (own * own);
        inertia += scale * (Av * Av);
        back += own * (next - cond_load(before + k));
        *(cond_v4 *)(r + k) = left;
        *(cond_v4 *)(p + k) = next;
    }
    out->momentum = cond_total(momentum);
    out->inertia = cond_total(inertia);
    out->back = cond_total(back);
}

/// p of nodes, from r = A v; of bodies and tied nodes follows it below. r -= b, of all.
static void step_chunk(void *user, int32_t index, int32_t worker) {
    (void)worker;
    run *s = user;
    const cond_chunk *chunk = &s->layout.chunks[index];
    sums *out = &s->chunk_sums[index];
    *out = (sums){0};
    if (chunk->body < 0) {
        step_diagonal(s, chunk, out);
        return;
    }
    for (int32_t k = chunk->place; k < chunk->place + chunk->width; k++) {
        out->inertia += s->D2[k] * (s->r[k] * s->r[k]);
        s->r[k] -= s->b[k];
    }
}

static void multiply_and_step(void *user, int32_t index, int32_t worker) {
    run *s = user;
    cond_product(&s->layout, &s->layout.chunks[index], s->v, s->r);
    step_chunk(user, index, worker);
}

/// v - alpha W (r - q) into p, of a body and its tied nodes; `out`: their sums, q being J^T of the impulses; NULL:
/// none.
static void weigh_body(run *s, int32_t number, const double *q, sums *out) {
    const cond_bundle *bundle = &s->ties.bundles[number];
    const cond_body *body = bundle->body;
    for (int32_t k = bundle->first - 1; k < bundle->end; k++) {
        const int32_t place = k < bundle->first ? body->place : s->ties.ties[k].place;
        const int32_t size = k < bundle->first ? body->size : s->ties.ties[k].size;
        for (int32_t i = place; i < place + size; i++) {
            s->work[i] = s->r[i] - q[i];
        }
    }
    cond_ties_apply(&s->ties, number, s->w, s->work, s->p, s->scratch);
    for (int32_t k = bundle->first - 1; k < bundle->end; k++) {
        const int32_t place = k < bundle->first ? body->place : s->ties.ties[k].place;
        const int32_t size = k < bundle->first ? body->size : s->ties.ties[k].size;
        for (int32_t i = place; i < place + size; i++) {
            s->p[i] = s->v[i] - s->alpha * s->p[i];
            if (out != NULL) {
                const double all = q[i] + s->q_spring[i];
                out->momentum += s->D2[i] * (s->work[i] * s->work[i]);
                out->impulse += s->D2[i] * (all * all);
                out->back += s->work[i] * (s->p[i] - s->v_before[i]);
            }
        }
    }
}

/// r of a body and its tied nodes, less what springs and ties do at v; then p.
static void begin_body(void *user, int32_t index, int32_t worker) {
    (void)worker;
    run *s = user;
    const cond_bundle *bundle = &s->ties.bundles[index];
    const cond_body *body = bundle->body;
    if (body->first_spring < body->end_spring || bundle->first < bundle->end) {
        cond_ties_impulses(&s->ties, index, s->v, s->gamma_next, s->q_spring);
        for (int32_t i = body->place; i < body->place + body->size; i++) {
            s->r[i] -= s->q_spring[i];
        }
        for (int32_t k = bundle->first; k < bundle->end; k++) {
            const cond_tie *tie = &s->ties.ties[k];
            for (int32_t i = tie->place; i < tie->place + tie->size; i++) {
                s->r[i] -= s->q_spring[i];
            }
        }
    }
    weigh_body(s, index, s->q, NULL);
}

/// v' of a body and its tied nodes, with sums.
static void end_body(void *user, int32_t index, int32_t worker) {
    (void)worker;
    run *s = user;
    s->body_sums[index] = (sums){0};
    weigh_body(s, index, s->q_next, &s->body_sums[index]);
}

/// s^T W^-1 s, s^T z and z^T W z of s = v - v_before and z = A s, W being diagonal.
STN_KERNEL static void compare_diagonal(const run *s, const cond_chunk *chunk, sums *out) {
    const double *v = s->v + chunk->place, *before = s->v_before + chunk->place, *w = s->w + chunk->place;
    const double *inverse = s->w_inverse + chunk->place, *r = s->r + chunk->place;
    double *r_before = s->r_before + chunk->place;
    cond_v4 s_s = {0.0}, s_z = {0.0}, z_z = {0.0};
    for (int32_t k = 0; k < chunk->width; k += 4) {
        const cond_v4 ds = cond_load(v + k) - cond_load(before + k), now = cond_load(r + k);
        const cond_v4 z = now - cond_load(r_before + k);
        s_s += cond_load(inverse + k) * (ds * ds);
        s_z += ds * z;
        z_z += cond_load(w + k) * (z * z);
        *(cond_v4 *)(r_before + k) = now;
    }
    out->s_s = cond_total(s_s);
    out->s_z = cond_total(s_z);
    out->z_z = cond_total(z_z);
}

/// The product, with the sums of how it has changed since the iterate before.
static void multiply_and_compare(void *user, int32_t index, int32_t worker) {
    (void)worker;
    run *s = user;
    const cond_chunk *chunk = &s->layout.chunks[index];
    sums out = {0};
    cond_product(&s->layout, chunk, s->v, s->r);
    if (chunk->body < 0) {
        compare_diagonal(s, chunk, &out);
    } else { // W is the inverse: z^T W z and s^T W^-1 s are s^T z
        for (int32_t k = chunk->place; k < chunk->place + chunk->width; k++) {
            out.s_z += (s->v[k] - s->v_before[k]) * (s->r[k] - s->r_before[k]);
            s->r_before[k] = s->r[k];
        }
        out.s_s = out.z_z = out.s_z;
    }
    s->chunk_sums[index] = out;
}

/// What springs and ties add to all three sums: their part of W^-1 is theirs of the Hessian.
static void compare_body(void *user, int32_t index, int32_t worker) {
    (void)worker;
    run *s = user;
    const double energy = cond_ties_energy(&s->ties, index, s->v, s->v_before);
    s->body_sums[index] = (sums){.s_s = energy, .s_z = energy, .z_z = energy};
}

/// The whole step of nodal contacts. No impulse before is in p at their nodes.
STN_KERNEL static void step_nodal(void *user, int32_t index, int32_t worker) {
    (void)worker;
    run *s = user;
    sums out = {0};
    for (int32_t k = index * GROUP; k < group_end(index, s->contacts.nodal_count); k++) {
        const cond_nodal *nodal = &s->contacts.nodal[k];
        const double *J = nodal->J, *v = s->v + nodal->place, *before = s->v_before + nodal->place;
        const double *r = s->r + nodal->place, *D2 = s->D2 + nodal->place;
        const double step = s->alpha * s->w[nodal->place];
        double *p = s->p + nodal->place, *x = s->gamma_next + nodal->row;
        if (s->how == COND_SHIFTED) { // by the impulse before, which p gets for it
            for (int32_t l = 0; l < 3; l++) {
                p[l] += step * (J[l] * x[0] + J[3 + l] * x[1] + J[6 + l] * x[2]);
            }
            cond_contact_solve(&s->contacts, nodal->constraint, s->how, s->alpha, s->p, s->v, s->gamma_next,
                               s->gamma_next);
        } else {
            cond_nodal_solve(nodal, s->how == COND_STRICT, step, p, x);
        }
        for (int32_t l = 0; l < 3; l++) {
            const double q = J[l] * x[0] + J[3 + l] * x[1] + J[6 + l] * x[2], left = r[l] - q;
            const double next = v[l] - step * left;
            out.momentum += D2[l] * (left * left);
            out.impulse += D2[l] * (q * q);
            out.back += left * (next - before[l]);
            p[l] = next;
        }
    }
    s->nodal_sums[index] = out;
}

/// J^T gamma' of their units; of nodes that are not tied v' = v - alpha W (r - J^T gamma'), too, with sums.
static void step_units(void *user, int32_t index, int32_t worker) {
    (void)worker;
    run *s = user;
    sums out = {0};
    for (int32_t k = index * GROUP; k < group_end(index, s->contacts.other_unit_count); k++) {
        const int32_t number = s->contacts.other_units[k];
        const cond_unit *unit = &s->contacts.units[number];
        cond_unit_gather(&s->contacts, number, s->gamma_next, s->q_next);
        if (unit->body != NULL || s->ties.is_tied[unit->place / 4]) {
            continue;
        }
        for (int32_t i = unit->place; i < unit->place + unit->width; i++) {
            const double left = s->r[i] - s->q_next[i], next = s->v[i] - s->alpha * (s->w[i] * left);
            out.momentum += s->D2[i] * (left * left);
            out.impulse += s->D2[i] * (s->q_next[i] * s->q_next[i]);
            out.back += left * (next - s->v_before[i]);
            s->p[i] = next;
        }
    }
    s->unit_sums[index] = out;
}

static void add(sums *all, const sums *of, int32_t count) {
    for (int32_t k = 0; k < count; k++) {
        all->momentum += of[k].momentum;
        all->impulse += of[k].impulse;
        all->inertia += of[k].inertia;
        all->back += of[k].back;
        all->s_s += of[k].s_s;
        all->s_z += of[k].s_z;
        all->z_z += of[k].z_z;
        all->moved += of[k].moved;
        all->weighed += of[k].weighed;
    }
}

/// x (in: that of v') and the one before, by the rule.
STN_KERNEL static void advance(const update *rule, size_t count, const double *restrict next, double *restrict x,
                               double *restrict before) {
    if (rule->carry) {
        for (size_t k = 0; k < count; k++) {
            x[k] = next[k] + rule->beta * (next[k] - before[k]);
            before[k] = next[k];
        }
        return;
    }
    for (size_t k = 0; k < count; k++) {
        const double now = x[k];
        x[k] = rule->nu * (rule->u * (next[k] - now) + now - before[k]) + before[k];
        before[k] = now;
    }
}

/// |x - y|^2, plain and weighed by the diagonal of A, of a chunk.
STN_KERNEL static void measure_change(const run *s, const cond_chunk *chunk, const double *x, const double *y,
                                      sums *out) {
    cond_v4 moved = {0.0}, weighed = {0.0};
    for (int32_t k = chunk->place; k < chunk->place + chunk->width; k += 4) {
        const cond_v4 d = cond_load(x + k) - cond_load(y + k), square = d * d;
        moved += square;
        weighed += cond_load(s->diagonal + k) * square;
    }
    out->moved = cond_total(moved);
    out->weighed = cond_total(weighed);
}

static void advance_chunk(void *user, int32_t index, int32_t worker) {
    (void)worker;
    run *s = user;
    const cond_chunk *chunk = &s->layout.chunks[index];
    sums *out = &s->chunk_sums[index];
    if (s->next.carry && s->config->velocity_threshold > 0.0) {
        measure_change(s, chunk, s->p, s->v_before, out);
    }
    advance(&s->next, (size_t)chunk->width, s->p + chunk->place, s->v + chunk->place, s->v_before + chunk->place);
    if (!s->next.carry && (s->acceleration == CHEBYSHEV || s->config->velocity_threshold > 0.0)) {
        measure_change(s, chunk, s->v, s->v_before, out);
    }
}

/// Impulses follow as they are: where the nodes are a contact's own they are no state at all, and where nodes are
/// shared they are one that momentum makes cycle. Those on bodies, whose part of W is exact, are all the state that is
/// left there: they are carried like v.
static void advance_contacts(void *user, int32_t index, int32_t worker) {
    (void)worker;
    run *s = user;
    for (int32_t k = index * GROUP; k < group_end(index, s->contacts.other_count); k++) {
        const cond_contact *contact = &s->contacts.contacts[s->contacts.others[k]];
        const size_t row = (size_t)contact->row, rows = (size_t)contact->rows;
        if (s->ahead && !contact->on_nodes) {
            advance(&s->next, rows, s->gamma_next + row, s->gamma + row, s->gamma_before + row);
        } else {
            for (size_t r = row; r < row + rows; r++) {
                s->gamma[r] = s->gamma_next[r];
            }
        }
    }
}

static void advance_units(void *user, int32_t index, int32_t worker) {
    (void)worker;
    run *s = user;
    for (int32_t k = index * GROUP; k < group_end(index, s->contacts.other_unit_count); k++) {
        const int32_t number = s->contacts.other_units[k];
        const cond_unit *unit = &s->contacts.units[number];
        if (s->ahead && unit->ahead) {
            cond_unit_gather(&s->contacts, number, s->gamma, s->q);
            continue;
        }
        for (int32_t i = unit->place; i < unit->place + unit->width; i++) {
            s->q[i] = s->q_next[i];
        }
    }
}

// --------------------------------------------------------------------------------------------------------- how good

static void measure_maps(void *user, int32_t index, int32_t worker) {
    (void)worker;
    run *s = user;
    double largest = 0.0, sum = 0.0, speed = 0.0;
    for (int32_t i = index * GROUP; i < group_end(index, s->contacts.count); i++) {
        const double square = cond_contact_residual(&s->contacts, i, s->coulomb, s->v, s->gamma_next, &speed);
        largest = square <= largest ? largest : square; // NaN wins
        sum += square / s->contacts.contacts[i].omega;
    }
    s->maps[index] = largest;
    s->squares[index] = sum;
    s->speeds[index] = speed;
}

/// Of v and the impulses gamma'.
static misfit misfit_of(run *s, const sums *all) {
    const bool pushed = s->layout.problem->free_impulse != NULL; // then J v_star is not all there is: speeds at hand
    misfit m = {
        .speed = s->contacts.speed, .momentum = sqrt(all->momentum), .size = sqrt(fmax(all->inertia, all->impulse))};
    stn_parallel_for(s->threads, groups(s->contacts.count), measure_maps, s);
    for (int32_t k = 0; k < groups(s->contacts.count); k++) {
        m.map = s->maps[k] <= m.map ? m.map : s->maps[k];
        m.sum += s->squares[k];
        m.speed = pushed ? fmax(m.speed, s->speeds[k]) : m.speed;
    }
    m.map = sqrt(m.map);
    m.sum = sqrt(m.sum);
    return m;
}

/// A misfit over what the tolerances allow; NaN for NaN.
static double error_of(const run *s, const misfit *m) {
    const stn_solve_control *control = s->control;
    if (!isfinite(m->map + m->momentum + m->size)) {
        return (double)NAN;
    }
    const double allowed = fmax(s->contacts.rounding, control->tolerance * m->speed);
    const double map = m->map / fmax(allowed, DBL_MIN);
    const double absolute = m->sum / fmax(control->absolute_tolerance, DBL_MIN);
    const double momentum = m->momentum / fmax(control->tolerance * m->size + control->absolute_tolerance, DBL_MIN);
    const double contact = absolute < map ? absolute : map;
    return momentum <= contact ? contact : momentum;
}

/// All that is left, in the units of momentum. Errors are beside the size of their iterate, so that one that grows
/// without bound would seem to become better; this grows with it.
static double rest_of(const misfit *m) {
    return hypot(m->momentum, m->sum);
}

static void keep_best(run *s, double error) {
    s->error = error;
    memcpy(s->best_v, s->v, (size_t)s->layout.size * sizeof *s->v);
    memcpy(s->best_gamma, s->gamma_next, (size_t)s->layout.problem->row_count * sizeof *s->gamma_next);
}

/// From here on without what came before.
static void begin(run *s, const double *v, const double *gamma) {
    memmove(s->v, v, (size_t)s->layout.size * sizeof *v);
    memmove(s->gamma, gamma, (size_t)s->layout.problem->row_count * sizeof *gamma);
    memcpy(s->v_before, s->v, (size_t)s->layout.size * sizeof *v);
    memcpy(s->gamma_before, s->gamma, (size_t)s->layout.problem->row_count * sizeof *gamma);
    memcpy(s->gamma_next, s->gamma, (size_t)s->layout.problem->row_count * sizeof *gamma);
    for (int32_t k = 0; k < s->contacts.other_unit_count; k++) {
        cond_unit_gather(&s->contacts, s->contacts.other_units[k], s->gamma, s->q);
    }
    s->theta = 1.0;
    s->next = (update){.nu = 1.0, .u = 1.0};
    s->rho = s->last_change = 0.0;
    s->since = 0;
}

// -------------------------------------------------------------------------------------------------------- the loop

/// The multiple of W by Barzilai and Borwein, both of theirs in turns; each is within the inverse eigenvalues of W A.
static double barzilai_borwein(const sums *all, int32_t iteration, double alpha) {
    if (!(all->s_z > 0.0)) {
        return alpha;
    }
    const double next = iteration % 2 == 0 ? all->s_s / all->s_z : all->s_z / all->z_z;
    return isfinite(next) ? next : alpha;
}

static void choose_update(run *s, const sums *all) {
    if (s->acceleration == MOMENTUM) {
        s->theta = all->back > 0.0 ? 1.0 : s->theta;
        const double theta = 0.5 * (1.0 + sqrt(1.0 + 4.0 * s->theta * s->theta));
        s->next = (update){.carry = true, .beta = all->back > 0.0 ? 0.0 : fmin((s->theta - 1.0) / theta, s->most)};
        s->theta = theta;
        s->since++;
        return;
    }
    const int32_t start = s->config->acceleration_start;
    double nu = 1.0;
    if (s->acceleration == CHEBYSHEV && s->since >= start) {
        nu = s->since == start ? 2.0 / (2.0 - s->rho * s->rho) : 4.0 / (4.0 - s->rho * s->rho * s->next.nu);
    }
    s->since++;
    s->next = (update){.nu = nu, .u = s->barzilai_borwein ? 1.0 : s->config->relaxation};
}

/// What solves the same law another way.
typedef struct method {
    cond_operator how;
    bool momentum, ahead;
    double alpha; // times what makes the largest eigenvalue of W A one
} method;

/// The next method after `number` fallbacks, from the best iterate; false: there is none left. The first one is the
/// default, the last one slow and sure, as far as Coulomb's law has anything sure.
static bool fall_back(run *s, int32_t number) {
    static const method methods[2][4] = {{{COND_PROXIMAL, true, true, 1.0},
                                          {COND_PROXIMAL, true, false, 1.0},
                                          {COND_PROXIMAL, true, true, 0.5},
                                          {COND_PROXIMAL, false, false, 1.0}},
                                         {{COND_STRICT, true, true, 1.0},
                                          {COND_STRICT, true, false, 0.5},
                                          {COND_SHIFTED, true, true, 0.5},
                                          {COND_SHIFTED, false, false, 0.5}}};
    const bool is_default = s->config->step_size == FROBENIUS && s->config->acceleration == MOMENTUM;
    number += is_default;
    if (number >= 4) {
        return false;
    }
    const method *next = &methods[s->coulomb][number];
    s->how = next->how;
    s->acceleration = next->momentum ? MOMENTUM : NO_ACCELERATION;
    s->ahead = next->ahead;
    s->most = 1.0;
    s->alpha = next->alpha * s->safe_alpha;
    s->barzilai_borwein = false;
    begin(s, s->best_v, s->best_gamma);
    return true;
}

/// Impulses of constraints that are not nodal, before their sweeps.
static void begin_impulses(run *s) {
    for (int32_t k = 0; k < s->contacts.other_count; k++) {
        const cond_contact *contact = &s->contacts.contacts[s->contacts.others[k]];
        for (int32_t r = contact->row; r < contact->row + contact->rows; r++) {
            s->gamma_next[r] = s->gamma[r];
        }
    }
}

static stn_status iterate(run *s, stn_solve_info *info, stn_error *err) {
    enum { CHECK = 16, PATIENCE = 300, CALM = 48, RISE = 2 };
    const int32_t chunks = s->layout.chunk_count, nodal = groups(s->contacts.nodal_count);
    const int32_t others = groups(s->contacts.other_count), units = groups(s->contacts.other_unit_count);
    const int32_t bodies = s->layout.body_count;
    double noted = (double)INFINITY; // error at the last real progress
    int32_t noted_at = 0, best_at = 0;
    double moved = (double)INFINITY;
    for (;; info->iterations++) {
        if (s->barzilai_borwein) {
            stn_parallel_for(s->threads, chunks, multiply_and_compare, s);
            stn_parallel_for(s->threads, bodies, compare_body, s);
            sums compared = {0};
            add(&compared, s->chunk_sums, chunks);
            add(&compared, s->body_sums, bodies);
            s->alpha = barzilai_borwein(&compared, info->iterations, s->alpha);
            stn_parallel_for(s->threads, chunks, step_chunk, s);
        } else {
            stn_parallel_for(s->threads, chunks, multiply_and_step, s);
        }
        stn_parallel_for(s->threads, bodies, begin_body, s);
        stn_parallel_for(s->threads, nodal, step_nodal, s);
        begin_impulses(s);
        cond_grips_solve(&s->grips, s->how, s->alpha, s->w, s->v, s->p, s->gamma_next);
        cond_contacts_sweep(&s->contacts, SWEEPS, s->how, s->alpha, s->w, s->v, s->p, s->gamma_next);
        stn_parallel_for(s->threads, units, step_units, s);
        stn_parallel_for(s->threads, bodies, end_body, s);
        sums all = {0};
        add(&all, s->chunk_sums, chunks);
        add(&all, s->nodal_sums, nodal);
        add(&all, s->unit_sums, units);
        add(&all, s->body_sums, bodies);
        const double size = sqrt(fmax(all.inertia, all.impulse)), momentum = sqrt(all.momentum);
        const bool balanced = momentum <= s->control->tolerance * size + s->control->absolute_tolerance;
        const bool last = info->iterations >= s->control->max_iterations || moved < s->config->velocity_threshold;
        if (balanced || last || info->iterations % CHECK == 0 || !isfinite(momentum)) {
            const misfit m = misfit_of(s, &all);
            const double error = error_of(s, &m), rest = rest_of(&m);
            const bool grown = rest > RISE * s->least_rest;
            s->least_rest = fmin(s->least_rest, rest);
            // the proximal operator with momentum, and the last resorts, are slow but sure
            const bool sure = s->how == COND_PROXIMAL && s->acceleration == MOMENTUM, late = info->fallbacks > 1;
            const double enough = sure || late ? 0.95 : 0.5;
            if (isnan(error) && info->iterations == 0) {
                return stn_fail(err, STN_ERR_NUMERIC,
                                "the residual of the start is %g: numbers of the problem are too "
                                "large",
                                error);
            }
            if (error <= s->error && (!grown || error <= 1.0)) {
                keep_best(s, error);
                best_at = info->iterations;
            } else if (s->coulomb && info->fallbacks == 0 && s->most > 0.5 && info->iterations - best_at >= CALM &&
                       (error > RISE * s->error || grown) && !last) {
                s->most = s->most < 1.0 ? s->most - 0.2 : 0.9;
                begin(s, s->best_v, s->best_gamma);
                best_at = info->iterations;
                continue;
            }
            if (s->error <= 1.0) {
                info->reason = "residual";
                return STN_OK;
            }
            if (s->error < enough * noted) {
                noted = s->error;
                noted_at = info->iterations;
            }
            if (!last &&
                (!(error < 1e6 * s->error) || rest > 1e6 * s->least_rest || info->iterations - noted_at > PATIENCE)) {
                if (!fall_back(s, info->fallbacks)) {
                    info->reason = "no progress";
                    const double digits = s->error * fmax(s->control->tolerance, DBL_MIN);
                    return digits < 1e-11 ? STN_STALLED : STN_NOT_CONVERGED;
                }
                info->fallbacks++;
                noted = s->error;
                noted_at = info->iterations;
                continue;
            }
        }
        if (last) {
            info->reason = moved < s->config->velocity_threshold ? "velocity threshold" : "iterations";
            return STN_NOT_CONVERGED;
        }
        choose_update(s, &all);
        stn_parallel_for(s->threads, chunks, advance_chunk, s);
        stn_parallel_for(s->threads, others, advance_contacts, s);
        stn_parallel_for(s->threads, units, advance_units, s);
        sums change = {0};
        add(&change, s->chunk_sums, chunks);
        moved = s->config->velocity_threshold > 0.0 ? sqrt(change.moved) : (double)INFINITY;
        const double now = sqrt(change.weighed);
        s->rho = s->last_change > 0.0 ? fmin(now / s->last_change, 0.999) : 0.0;
        s->last_change = now;
    }
}

// ---------------------------------------------------------------------------------------------------------- a solve

static stn_status set_up(run *s, const stn_problem *problem, stn_error *err) {
    enum { POWER = 8, CHUNKS_FOR_THREADS = 16 };
    stn_arena *arena = s->control->arena;
    stn_status status = cond_layout_build(problem, arena, &s->layout, err);
    const double damping = s->config->virtual_node_damping;
    if (status == STN_OK) {
        status = cond_ties_find(&s->layout, arena, &s->ties, err);
    }
    if (status == STN_OK) {
        status = cond_contacts_build(&s->layout, &s->ties, damping > 0.0 ? 1.0 / (damping * problem->dt) : 0.0, arena,
                                     &s->contacts, err);
    }
    if (status != STN_OK) {
        return status;
    }
    const cond_layout *layout = &s->layout;
    double **const vectors[] = {&s->w,      &s->w_inverse, &s->diagonal, &s->D2,     &s->free,     &s->b,
                                &s->v,      &s->v_before,  &s->p,        &s->r,      &s->r_before, &s->q,
                                &s->q_next, &s->q_spring,  &s->work,     &s->best_v, &s->scratch};
    double **const impulses[] = {&s->gamma, &s->gamma_before, &s->gamma_next, &s->best_gamma};
    double **const parts[] = {&s->maps, &s->squares, &s->speeds};
    double *dofs = STN_ARENA_ZEROED(arena, problem->nv + 1, double);
    bool good = dofs != NULL;
    for (int32_t i = 0; i < STN_COUNT(vectors); i++) {
        *vectors[i] = cond_vector(layout, arena);
        good = good && *vectors[i] != NULL;
    }
    for (int32_t i = 0; i < STN_COUNT(impulses); i++) {
        *impulses[i] = STN_ARENA_ZEROED(arena, problem->row_count + 1, double);
        good = good && *impulses[i] != NULL;
    }
    for (int32_t i = 0; i < STN_COUNT(parts); i++) {
        *parts[i] = STN_ARENA_ZEROED(arena, groups(problem->constraint_count) + 1, double);
        good = good && *parts[i] != NULL;
    }
    s->chunk_sums = STN_ARENA_ZEROED(arena, layout->chunk_count + 1, sums);
    s->nodal_sums = STN_ARENA_ZEROED(arena, groups(s->contacts.nodal_count) + 1, sums);
    s->unit_sums = STN_ARENA_ZEROED(arena, groups(s->contacts.other_unit_count) + 1, sums);
    s->body_sums = STN_ARENA_ZEROED(arena, layout->body_count + 1, sums);
    if (!good || s->body_sums == NULL || s->chunk_sums == NULL || s->nodal_sums == NULL || s->unit_sums == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "%d dofs, %d rows: out of memory", problem->nv, problem->row_count);
    }
    stn_problem_mass_times(problem, problem->v_star, NULL, dofs);
    for (int32_t d = 0; d < problem->nv && problem->free_impulse != NULL; d++) {
        dofs[d] += problem->free_impulse[d];
    }
    cond_pack(layout, dofs, s->b);
    for (int32_t t = 0; t < problem->tree_count; t++) {
        stn_matrix_diagonal(&problem->trees[t].A, dofs + problem->trees[t].dof_start);
    }
    cond_pack(layout, dofs, s->diagonal);
    cond_frobenius(layout, s->w, s->work);
    const bool exact = s->acceleration == MOMENTUM || s->barzilai_borwein;
    cond_scale(layout, exact ? 1.0 : LIMIT, exact, POWER, s->w, (double *const[]){s->p, s->r});
    s->safe_alpha = exact ? 1.0 : 1.0 / LIMIT;
    status = cond_ties_weigh(&s->ties, s->w, arena, err);
    if (status == STN_OK) {
        status = cond_grips_find(&s->contacts, arena, &s->grips, err);
    }
    if (status == STN_OK) {
        status = cond_contacts_weigh(&s->contacts, s->w, arena, err);
    }
    if (status != STN_OK) {
        return status;
    }
    if (problem->free_impulse != NULL) { // without contacts there would be speeds of about W f
        cond_pack(layout, problem->free_impulse, s->r);
        for (int32_t k = 0; k < layout->chunk_count; k++) {
            const cond_chunk *chunk = &layout->chunks[k];
            const cond_body *body = chunk->body >= 0 ? &layout->bodies[chunk->body] : NULL;
            cond_weigh(body, chunk->place, chunk->width, s->w, s->r, s->p);
        }
        for (int32_t i = 0; i < s->contacts.count; i++) {
            cond_contact_residual(&s->contacts, i, s->coulomb, s->p, s->gamma, &s->contacts.speed);
        }
    }
    memset(s->p, 0, (size_t)layout->size * sizeof *s->p);
    memset(s->r, 0, (size_t)layout->size * sizeof *s->r);
    memset(s->work, 0, (size_t)layout->size * sizeof *s->work);
    for (int32_t k = 0; k < layout->size; k++) {
        s->D2[k] = s->diagonal[k] > 0.0 ? 1.0 / s->diagonal[k] : 0.0;
        s->w_inverse[k] = s->w[k] > 0.0 ? 1.0 / s->w[k] : 0.0;
        s->free[k] = 1.0;
    }
    for (int32_t k = 0; k < s->contacts.unit_count; k++) {
        const cond_unit *unit = &s->contacts.units[k];
        memset(s->free + unit->place, 0, (size_t)unit->width * sizeof *s->free);
    }
    for (int32_t k = 0; k < layout->body_count; k++) {
        memset(s->free + layout->bodies[k].place, 0, (size_t)layout->bodies[k].width * sizeof *s->free);
    }
    for (int32_t k = 0; k < s->ties.count; k++) {
        memset(s->free + s->ties.ties[k].place, 0, (size_t)s->ties.ties[k].size * sizeof *s->free);
    }
    s->threads = layout->chunk_count >= CHUNKS_FOR_THREADS ? s->control->threads : NULL;
    return STN_OK;
}

static stn_status solve(bool coulomb, const cond_config *config, const stn_problem *problem,
                        const stn_solve_control *control, stn_solution *solution, stn_solve_info *info,
                        stn_error *err) {
    const double start = control->phase_us != NULL ? stn_clock_us() : 0.0;
    run s = {.config = config,
             .control = control,
             .how = coulomb ? COND_STRICT : COND_PROXIMAL,
             .coulomb = coulomb,
             .barzilai_borwein = config->step_size == BARZILAI_BORWEIN,
             .acceleration = config->step_size == BARZILAI_BORWEIN ? NO_ACCELERATION : config->acceleration,
             .alpha = 1.0,
             .ahead = true,
             .most = 1.0,
             .error = (double)INFINITY,
             .least_rest = (double)INFINITY};
    stn_status status = set_up(&s, problem, err);
    if (status != STN_OK) {
        return status;
    }
    cond_pack(&s.layout, solution->v, s.best_v);
    begin(&s, s.best_v, solution->gamma);
    if (control->phase_us != NULL) {
        control->phase_us[STN_PHASE_SET_UP] += stn_clock_us() - start;
    }
    *info = (stn_solve_info){.cost = (double)NAN, .reason = ""};
    status = iterate(&s, info, err);
    if (status < STN_OK) {
        return status;
    }
    cond_unpack(&s.layout, s.best_v, solution->v);
    memcpy(solution->gamma, s.best_gamma, (size_t)problem->row_count * sizeof *solution->gamma);
    return status;
}

// ------------------------------------------------------------------------------------------------------- descriptors

static stn_status solve_strict(void *self, const stn_problem *problem, const stn_solve_control *control,
                               stn_solution *solution, stn_solve_info *info, stn_error *err) {
    return solve(true, self, problem, control, solution, info, err);
}

static stn_status solve_proximal(void *self, const stn_problem *problem, const stn_solve_control *control,
                                 stn_solution *solution, stn_solve_info *info, stn_error *err) {
    return solve(false, self, problem, control, solution, info, err);
}

#define COMMON                                                                         \
    .size = sizeof(stn_solver_ops), .max_iterations = 5000, .yields = STN_YIELDS_BOTH, \
    .supports = STN_SUPPORTS_UNFACTORED_A,                                             \
    .sets = 1u << STN_SET_CONE | 1u << STN_SET_ELLIPSE | 1u << STN_SET_BOX | 1u << STN_SET_EQUALITY

static const stn_solver_ops strict_ops = {COMMON, .formulation = STN_NCP, .solve = solve_strict};
static const stn_solver_ops proximal_ops = {COMMON, .formulation = STN_CCP, .needs = STN_REGULARIZED_BY_LAW,
                                            .solve = solve_proximal};

#define DESCRIPTOR                                                                                         \
    .size = sizeof(stn_plugin_desc), .kind = STN_KIND_SOLVER, .version = "0.1.0", .reference = "lee-2023", \
    .config_size = sizeof(cond_config), .params = params, .param_count = STN_COUNT(params)

static const stn_plugin_desc strict_plugin = {
    DESCRIPTOR,
    .id = "cond",
    .summary = "Contact nodalisation and diagonalisation: products with A alone, for thousands of dofs of soft bodies",
    .ops.solver = &strict_ops,
};
static const stn_plugin_desc proximal_plugin = {
    DESCRIPTOR,
    .id = "cond_proximal",
    .summary = "The same by the proximal operator, convex relaxation",
    .ops.solver = &proximal_ops,
};
STN_PLUGIN_LIBRARY(&strict_plugin, &proximal_plugin);
