// SPDX-License-Identifier: Apache-2.0
// See grips.h.
#include "grips.h"

#include <math.h>
#include <string.h>

/// The body that a contact of nodes is on; NULL: none, several, or no nodes.
static const cond_body *body_of(const cond_contacts *c, const cond_contact *contact) {
    const cond_body *body = NULL;
    if (!contact->cone || !contact->on_nodes) {
        return NULL;
    }
    for (int32_t k = contact->first; k < contact->end; k++) {
        const cond_body *own = c->units[c->pieces[k].unit].body;
        if (own != NULL && body != NULL && own != body) {
            return NULL;
        }
        body = own != NULL ? own : body;
    }
    return body;
}

/// J of a contact on a body, dense.
static double *make_rows(const cond_contacts *c, const cond_contact *contact, const cond_body *body, stn_arena *arena) {
    const size_t n = (size_t)body->size;
    double *J = STN_ARENA_ZEROED(arena, 3 * n, double);
    for (int32_t e = contact->first; e < contact->end && J != NULL; e++) {
        const cond_piece *piece = &c->pieces[e];
        for (size_t r = 0; r < 3 && c->units[piece->unit].body == body; r++) {
            for (int32_t l = 0; l < piece->columns; l++) {
                J[r * n + (size_t)(piece->place - body->place + l)] += piece->J[r * (size_t)piece->pitch + (size_t)l];
            }
        }
    }
    return J;
}

static bool make_grip(const cond_body *body, int32_t first, const int32_t *row_start, const int32_t *column,
                      stn_arena *arena, cond_grip *out) {
    *out = (cond_grip){.body = body, .first = first, .end = first};
    double **const vectors[] = {&out->F, &out->delta, &out->step, &out->trial};
    for (int32_t i = 0; i < STN_COUNT(vectors); i++) {
        *vectors[i] = STN_ARENA(arena, body->size, double);
        if (*vectors[i] == NULL) {
            return false;
        }
    }
    return block_lu_build(1, &body->size, row_start, column, arena, &out->lu);
}

stn_status cond_grips_find(const cond_contacts *contacts, stn_arena *arena, cond_grips *out, stn_error *err) {
    const cond_layout *layout = contacts->layout;
    *out = (cond_grips){.contacts = contacts};
    // of bodies: contacts, then the number of the grip
    int32_t *count = STN_ARENA_ZEROED(arena, layout->body_count + 1, int32_t), total = 0, first = 0;
    bool good = count != NULL;
    for (int32_t k = 0; k < contacts->other_count && good; k++) {
        const cond_body *body = body_of(contacts, &contacts->contacts[contacts->others[k]]);
        out->count += body != NULL && ++count[body - layout->bodies] == 2;
        total += body != NULL;
    }
    if (good && out->count == 0) {
        return STN_OK;
    }
    out->grips = STN_ARENA(arena, out->count + 1, cond_grip);
    out->of = STN_ARENA_ZEROED(arena, total + 1, cond_grip_contact);
    int32_t *row_start = STN_ARENA(arena, 2, int32_t), *column = STN_ARENA_ZEROED(arena, 1, int32_t);
    good = good && out->grips != NULL && out->of != NULL && row_start != NULL && column != NULL;
    if (good) {
        row_start[0] = 0;
        row_start[1] = 1;
    }
    for (int32_t b = 0, number = 0; b < layout->body_count && good; b++) {
        const int32_t own = count[b];
        count[b] = own < 2 ? -1 : number++;
        good = own < 2 || make_grip(&layout->bodies[b], first, row_start, column, arena, &out->grips[count[b]]);
        first += own < 2 ? 0 : own;
    }
    for (int32_t k = 0; k < contacts->other_count && good; k++) {
        const int32_t i = contacts->others[k];
        const cond_contact *contact = &contacts->contacts[i];
        const cond_body *body = body_of(contacts, contact);
        if (body == NULL || count[body - layout->bodies] < 0) {
            continue;
        }
        cond_grip_contact *of = &out->of[out->grips[count[body - layout->bodies]].end++];
        *of = (cond_grip_contact){.constraint = i, .J = make_rows(contacts, contact, body, arena)};
        good = of->J != NULL;
    }
    return good ? STN_OK : stn_fail(err, STN_ERR_MEMORY, "%d contacts of bodies with nodes: out of memory", total);
}

/// u of a contact at delta.
static void velocity(const cond_grip *grip, const cond_grip_contact *of, const double *delta, double u[3]) {
    const int32_t n = grip->body->size;
    for (int32_t r = 0; r < 3; r++) {
        u[r] = of->u[r];
        for (int32_t l = 0; l < n; l++) {
            u[r] += of->J[r * n + l] * delta[l];
        }
    }
}

/// F = A_b delta/alpha - sum of J_b^T (gamma(delta) - gamma); with H, dF/ddelta into the values of the LU.
static void evaluate(const cond_grips *grips, const cond_grip *grip, cond_operator how, double alpha,
                     const double *delta, bool with_slope, double *F) {
    const int32_t n = grip->body->size;
    double *H = grip->lu.values + grip->lu.offset[0];
    for (int32_t r = 0; r < n; r++) {
        F[r] = 0.0;
        for (int32_t c = 0; c < n; c++) {
            F[r] += grip->body->matrix[r * n + c] * delta[c] / alpha;
            if (with_slope) {
                H[r * n + c] = grip->body->matrix[r * n + c] / alpha;
            }
        }
    }
    for (int32_t k = grip->first; k < grip->end; k++) {
        const cond_grip_contact *of = &grips->of[k];
        const cond_contact *contact = &grips->contacts->contacts[of->constraint];
        double u[3], x[3] = {of->before[0], of->before[1], of->before[2]};
        velocity(grip, of, delta, u);
        if (with_slope) {
            double K[9];
            cond_one_shot_slope(contact->mu, how, of->g, u, of->shift, x, K);
            for (int32_t c = 0; c < n; c++) {
                const double *J = of->J;
                double KJ[3];
                for (int32_t r = 0; r < 3; r++) {
                    KJ[r] = K[3 * r] * J[c] + K[3 * r + 1] * J[n + c] + K[3 * r + 2] * J[2 * n + c];
                }
                for (int32_t r = 0; r < n; r++) {
                    H[r * n + c] += J[r] * KJ[0] + J[n + r] * KJ[1] + J[2 * n + r] * KJ[2];
                }
            }
        }
        cond_one_shot(contact->mu, how, of->g, u, of->shift, x);
        for (int32_t r = 0; r < 3; r++) {
            for (int32_t l = 0; l < n; l++) {
                F[l] -= of->J[r * n + l] * (x[r] - of->before[r]);
            }
        }
    }
}

/// F^T A_b^-1 F: what is left, in the metric of the body.
static double size_of(const cond_grip *grip, const double *F) {
    const int32_t n = grip->body->size;
    double sum = 0.0;
    for (int32_t r = 0; r < n; r++) {
        for (int32_t c = 0; c < n; c++) {
            sum += F[r] * grip->body->inverse[r * n + c] * F[c];
        }
    }
    return sum;
}

/// Newton's method for delta, each step as long as it makes F less along it.
static void find_delta(const cond_grips *grips, cond_grip *grip, cond_operator how, double alpha) {
    enum { NEWTON = 20, HALVINGS = 8 };
    const double enough = 1e-3; // of F at the start
    const int32_t n = grip->body->size;
    double *trial = grip->trial, first = 0.0;
    memset(grip->delta, 0, (size_t)n * sizeof *grip->delta);
    for (int32_t i = 0; i < NEWTON; i++) {
        evaluate(grips, grip, how, alpha, grip->delta, true, grip->F);
        const double left = size_of(grip, grip->F);
        first = i == 0 ? left : first;
        if (!(left > enough * enough * first) || !block_lu_factor(&grip->lu, NULL)) {
            return;
        }
        double slope = 0.0, t = 1.0;
        memcpy(grip->step, grip->F, (size_t)n * sizeof *grip->step);
        block_lu_solve(&grip->lu, grip->step);
        for (int32_t l = 0; l < n; l++) {
            slope += grip->step[l] * grip->F[l];
        }
        for (int32_t h = 0; h < HALVINGS; h++) {
            double now = 0.0;
            for (int32_t l = 0; l < n; l++) {
                trial[l] = grip->delta[l] - t * grip->step[l];
            }
            evaluate(grips, grip, how, alpha, trial, false, grip->F);
            for (int32_t l = 0; l < n; l++) {
                now += grip->step[l] * grip->F[l];
            }
            if (now >= -0.9 * slope) { // not so far beyond the minimum that F is as large there
                break;
            }
            t *= fmax(0.1, slope / (slope - now));
        }
        memcpy(grip->delta, trial, (size_t)n * sizeof *trial);
    }
}

void cond_grips_solve(cond_grips *grips, cond_operator how, double alpha, const double *w, const double *v, double *p,
                      double *gamma) {
    const cond_contacts *c = grips->contacts;
    how = how == COND_STRICT ? COND_LAGGED
                             : how; // in one shot many contacts jump from one solution of Coulomb's law to another
    for (int32_t g = 0; g < grips->count; g++) {
        cond_grip *grip = &grips->grips[g];
        for (int32_t k = grip->first; k < grip->end; k++) {
            cond_grip_contact *of = &grips->of[k];
            const cond_contact *contact = &c->contacts[of->constraint];
            const double *R = c->R + contact->row;
            cond_contact_velocity(c, of->constraint, p, of->u);
            for (int32_t r = 0; r < 3; r++) {
                of->before[r] = gamma[contact->row + r];
                of->u[r] += R[r] * of->before[r];
            }
            of->shift = how == COND_SHIFTED ? cond_contact_shift(c, of->constraint, v, gamma) : 0.0;
            of->g[0] = alpha * contact->node_bound + fmax(R[0], R[1]);
            of->g[1] = alpha * contact->node_bound + R[2];
        }
        find_delta(grips, grip, how, alpha);
        for (int32_t k = grip->first; k < grip->end; k++) {
            const cond_grip_contact *of = &grips->of[k];
            const cond_contact *contact = &c->contacts[of->constraint];
            double u[3], x[3] = {of->before[0], of->before[1], of->before[2]}, change[3];
            velocity(grip, of, grip->delta, u);
            cond_one_shot(contact->mu, how, of->g, u, of->shift, x);
            for (int32_t r = 0; r < 3; r++) {
                change[r] = x[r] - of->before[r];
                gamma[contact->row + r] = x[r];
            }
            cond_contact_respond(c, of->constraint, alpha, w, change, p);
        }
    }
}
