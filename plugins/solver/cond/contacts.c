// SPDX-License-Identifier: Apache-2.0
// See contacts.h.
#include "contacts.h"

#include <float.h>
#include <math.h>
#include <string.h>

// ------------------------------------------------------------------------------------------------------------- pieces

/// Numbers the units that pieces act on, by place, and lists their pieces.
static bool find_units(cond_contacts *c, stn_arena *arena) {
    const cond_layout *layout = c->layout;
    const int32_t slots = layout->size / 4 + 1;
    int32_t *number = STN_ARENA_ZEROED(arena, slots, int32_t);
    c->incident = STN_ARENA(arena, c->piece_count + 1, int32_t);
    if (number == NULL || c->incident == NULL) {
        return false;
    }
    for (int32_t k = 0; k < c->piece_count; k++) {
        c->unit_count += number[c->pieces[k].unit / 4]++ == 0;
    }
    c->units = STN_ARENA_ZEROED(arena, c->unit_count + 1, cond_unit);
    if (c->units == NULL) {
        return false;
    }
    int32_t unit = 0, at = 0;
    for (int32_t k = 0; k < layout->chunk_count; k++) {
        const cond_chunk *chunk = &layout->chunks[k];
        const cond_body *body = chunk->body >= 0 ? &layout->bodies[chunk->body] : NULL;
        const int32_t width = body != NULL ? body->width : layout->trees[chunk->tree].stride;
        for (int32_t place = chunk->place; place < chunk->place + chunk->width; place += width) {
            const int32_t pieces = number[place / 4];
            if (pieces > 0) {
                c->units[unit] = (cond_unit){
                    .tree = chunk->tree, .body = body, .place = place, .width = width, .first = at, .end = at};
                number[place / 4] = unit++;
                at += pieces;
            }
        }
    }
    for (int32_t k = 0; k < c->piece_count; k++) {
        cond_piece *piece = &c->pieces[k];
        piece->unit = number[piece->unit / 4];
        c->incident[c->units[piece->unit].end++] = k;
    }
    return true;
}

/// Is a piece on a node of three dofs, with all of them?
static bool is_on_point(const cond_contacts *c, const cond_piece *piece) {
    const cond_unit *unit = &c->units[piece->unit];
    const cond_tree *tree = unit->body == NULL ? &c->layout->trees[unit->tree] : NULL;
    return tree != NULL && tree->A->form == STN_MATRIX_NODAL && tree->size == 3 && piece->pitch == 3 &&
           piece->rows == 3;
}

/// Is it a nodal contact? Then it is written out.
static bool is_nodal(const cond_contacts *c, const cond_ties *ties, int32_t i, cond_nodal *out) {
    const cond_contact *contact = &c->contacts[i];
    const cond_piece *piece = &c->pieces[contact->first];
    if (!contact->cone || contact->mu[0] != contact->mu[1] || contact->end - contact->first != 1) {
        return false;
    }
    const cond_unit *unit = &c->units[piece->unit];
    const double *J = piece->J, *R = c->R + contact->row;
    if (!is_on_point(c, piece) || ties->is_tied[unit->place / 4] || unit->end - unit->first != 1 || R[0] != R[1]) {
        return false;
    }
    *out = (cond_nodal){.constraint = i,
                        .row = contact->row,
                        .place = piece->place,
                        .beta2 = J[0] * J[0] + J[1] * J[1] + J[2] * J[2],
                        .R = {R[0], R[2]},
                        .mu = contact->mu[0]};
    for (int32_t r = 0; r < 3; r++) {
        for (int32_t s = 0; s < 3; s++) {
            const double product = J[3 * r] * J[3 * s] + J[3 * r + 1] * J[3 * s + 1] + J[3 * r + 2] * J[3 * s + 2];
            if (!(fabs(product - (r == s ? out->beta2 : 0.0)) <= 1e-12 * out->beta2)) {
                return false;
            }
        }
        out->target[r] = c->target[contact->row + r];
    }
    memcpy(out->J, J, sizeof out->J);
    return out->beta2 > 0.0;
}

/// Is every piece of it on a node of three dofs, and its friction round?
static bool is_shared(const cond_contacts *c, int32_t i) {
    const cond_contact *contact = &c->contacts[i];
    const double *R = c->R + contact->row;
    bool shared = contact->cone && contact->mu[0] == contact->mu[1] && R[0] == R[1];
    for (int32_t k = contact->first; k < contact->end && shared; k++) {
        shared = is_on_point(c, &c->pieces[k]);
    }
    return shared && contact->end > contact->first;
}

/// Writes out the shared contacts, those of the first `count` others.
static bool write_shared(cond_contacts *c, int32_t count, stn_arena *arena) {
    int32_t nodes = 0;
    for (int32_t k = 0; k < count; k++) {
        const cond_contact *contact = &c->contacts[c->others[k]];
        nodes += contact->end - contact->first;
    }
    c->shared_count = count;
    c->shared = STN_ARENA_ZEROED(arena, count + 1, cond_shared);
    c->shared_nodes = STN_ARENA_ZEROED(arena, nodes + 1, cond_shared_node);
    if (c->shared == NULL || c->shared_nodes == NULL) {
        return false;
    }
    nodes = 0;
    for (int32_t k = 0; k < count; k++) {
        const cond_contact *contact = &c->contacts[c->others[k]];
        cond_shared *shared = &c->shared[k];
        *shared = (cond_shared){.constraint = c->others[k], .row = contact->row, .first = nodes, .mu = contact->mu[0]};
        for (int32_t r = 0; r < 3; r++) {
            shared->target[r] = c->target[contact->row + r];
            shared->R[r] = c->R[contact->row + r];
        }
        for (int32_t e = contact->first; e < contact->end; e++) {
            cond_shared_node *node = &c->shared_nodes[nodes++];
            node->place = c->pieces[e].place;
            for (int32_t entry = 0; entry < 9; entry++) {
                node->column[entry % 3][entry / 3] = c->pieces[e].J[entry];
            }
        }
        shared->end = nodes;
    }
    return true;
}

/// Lists of nodal contacts, of all others with the shared ones first, and of the units of the others.
static bool sort_out(cond_contacts *c, const cond_ties *ties, stn_arena *arena) {
    c->nodal = STN_ARENA(arena, c->count + 1, cond_nodal);
    c->others = STN_ARENA(arena, c->count + 1, int32_t);
    c->other_units = STN_ARENA(arena, c->unit_count + 1, int32_t);
    int32_t *rest = STN_ARENA(arena, c->count + 1, int32_t);
    if (c->nodal == NULL || c->others == NULL || c->other_units == NULL || rest == NULL) {
        return false;
    }
    int32_t shared = 0, left = 0;
    for (int32_t i = 0; i < c->count; i++) {
        if (c->layout->is_spring[i]) {
            continue;
        }
        if (is_nodal(c, ties, i, &c->nodal[c->nodal_count])) {
            c->units[c->pieces[c->contacts[i].first].unit].nodal = true;
            c->nodal_count++;
        } else if (is_shared(c, i)) {
            c->others[shared++] = i;
        } else {
            rest[left++] = i;
        }
    }
    memcpy(c->others + shared, rest, (size_t)left * sizeof *rest);
    c->other_count = shared + left;
    for (int32_t k = 0; k < c->unit_count; k++) {
        if (!c->units[k].nodal) {
            c->other_units[c->other_unit_count++] = k;
        }
    }
    return write_shared(c, shared, arena);
}

/// A virtual node takes the place of a contact point on what is no node of three dofs, and on a node that several
/// constraints act on: tied to it by a damper k_v it is massless, so that eliminating it adds 1/k_v to R
/// [lee-2023, III-A]; exact, and without the velocities of the damper, which no step size suits.
static void add_virtual_nodes(cond_contacts *c, double virtual_node) {
    for (int32_t i = 0; i < c->count && virtual_node > 0.0; i++) {
        const cond_contact *contact = &c->contacts[i];
        int32_t bodies = 0, last = -1;
        for (int32_t k = contact->first; k < contact->end; k++) {
            const cond_unit *unit = &c->units[c->pieces[k].unit];
            const cond_tree *tree = unit->body == NULL ? &c->layout->trees[unit->tree] : NULL;
            const bool alone = tree != NULL && tree->A->form == STN_MATRIX_NODAL && tree->size == 3 &&
                               contact->end - contact->first <= 2 && unit->end - unit->first == 1;
            const int32_t own = unit->body != NULL ? unit->body->place : c->layout->trees[unit->tree].place;
            bodies += !alone && own != last; // a face has one virtual node, not one for each corner
            last = alone ? last : own;
        }
        for (int32_t r = contact->row; contact->cone && r < contact->row + contact->rows; r++) {
            c->R[r] += bodies * virtual_node;
        }
    }
}

/// Sum of |J v_star| over a row.
static double row_size(const stn_problem *p, const stn_constraint *c, int32_t r) {
    double sum = 0.0;
    for (int32_t k = 0; k < stn_constraint_block_count(c); k++) {
        const stn_jacobian *J = stn_constraint_block(c, k);
        const double *v = p->v_star + p->trees[J->tree].dof_start;
        const int32_t m = J->node_count > 0 ? J->node_size : p->trees[J->tree].A.n;
        for (int32_t b = 0; b < (J->node_count > 0 ? J->node_count : 1); b++) {
            const double *row = J->values + (size_t)(m * (c->rows * b + r));
            const double *x = v + (J->node_count > 0 ? m * J->node[b] : 0);
            for (int32_t l = 0; l < m; l++) {
                sum += fabs(row[l] * x[l]);
            }
        }
    }
    return sum;
}

/// What tolerances are relative to.
static void find_speeds(cond_contacts *c) {
    const stn_problem *p = c->layout->problem;
    for (int32_t i = 0; i < c->count; i++) {
        const stn_constraint *from = &p->constraints[i];
        double v_c[STN_MAX_ROWS];
        stn_constraint_velocity(p, from, p->v_star, v_c);
        for (int32_t r = 0; r < from->rows; r++) {
            const int32_t row = from->row + r;
            const double least = fmax(fmax(p->lo[row], -p->hi[row]), 0.0);
            const double sum = fabs(p->bias[row]) + row_size(p, from, r);
            c->rounding = fmax(c->rounding, 16.0 * DBL_EPSILON * sum);
            if (stn_constraint_has_cone(from) && r < 2) {
                c->contacts[i].fuzz = fmax(c->contacts[i].fuzz, c->contacts[i].mu[r] * DBL_EPSILON * sum);
            }
            c->speed = fmax(c->speed, fmax(fabs(v_c[r] + p->bias[row]), fabs(p->v_hat[row])));
            c->speed = fmax(c->speed, isfinite(least) ? c->contacts[i].omega * least : 0.0);
        }
    }
}

stn_status cond_contacts_build(const cond_layout *layout, const cond_ties *ties, double virtual_node, stn_arena *arena,
                               cond_contacts *out, stn_error *err) {
    const stn_problem *p = layout->problem;
    *out = (cond_contacts){.layout = layout, .count = p->constraint_count};
    for (int32_t i = 0; i < p->constraint_count; i++) {
        out->piece_count += layout->is_spring[i] ? 0 : cond_split(layout, i, NULL);
    }
    out->contacts = STN_ARENA_ZEROED(arena, p->constraint_count + 1, cond_contact);
    out->pieces = STN_ARENA(arena, out->piece_count + 1, cond_piece);
    out->target = STN_ARENA(arena, p->row_count + 1, double);
    out->R = STN_ARENA(arena, p->row_count + 1, double);
    if (out->contacts == NULL || out->pieces == NULL || out->target == NULL || out->R == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "%d constraints: out of memory", p->constraint_count);
    }
    for (int32_t r = 0; r < p->row_count; r++) {
        out->target[r] = p->bias[r] - p->v_hat[r];
        out->R[r] = p->R[r];
    }
    int32_t at = 0;
    for (int32_t i = 0; i < p->constraint_count; i++) {
        const stn_constraint *c = &p->constraints[i];
        cond_contact *contact = &out->contacts[i];
        *contact = (cond_contact){.first = at,
                                  .row = c->row,
                                  .rows = c->rows,
                                  .cone = stn_constraint_has_cone(c),
                                  .mu = {c->mu1, c->set == STN_SET_CONE ? c->mu1 : c->mu2},
                                  .omega = c->w_trace > 0.0 ? c->w_trace / c->rows : 1.0};
        at += layout->is_spring[i] ? 0 : cond_split(layout, i, out->pieces + at);
        contact->end = at;
    }
    if (!find_units(out, arena)) {
        return stn_fail(err, STN_ERR_MEMORY, "%d constraints: out of memory", p->constraint_count);
    }
    for (int32_t k = 0; k < out->piece_count; k++) {
        const cond_unit *unit = &out->units[out->pieces[k].unit];
        out->contacts[out->pieces[k].constraint].on_nodes |=
            unit->body == NULL && layout->trees[unit->tree].A->form == STN_MATRIX_NODAL;
    }
    for (int32_t k = 0; k < out->piece_count; k++) {
        out->units[out->pieces[k].unit].ahead |= !out->contacts[out->pieces[k].constraint].on_nodes;
    }
    add_virtual_nodes(out, virtual_node);
    if (!sort_out(out, ties, arena)) {
        return stn_fail(err, STN_ERR_MEMORY, "%d constraints: out of memory", p->constraint_count);
    }
    find_speeds(out);
    return STN_OK;
}

// --------------------------------------------------------------------------------------------------------- the weights

/// B (rows x rows) = J W J^T of one piece.
static void piece_block(const cond_contacts *c, const cond_piece *piece, const double *w, double *work, double *B) {
    const cond_body *body = c->units[piece->unit].body;
    for (int32_t r = 0; r < piece->rows; r++) {
        const double *row = piece->J + (size_t)r * (size_t)piece->pitch;
        for (int32_t k = 0; k < piece->columns; k++) {
            double sum = 0.0;
            if (body == NULL) {
                sum = w[piece->place + k] * row[k];
            } else {
                const double *inverse = body->inverse + (size_t)(piece->place - body->place + k) * (size_t)body->size +
                                        (piece->place - body->place);
                for (int32_t l = 0; l < piece->columns; l++) {
                    sum += inverse[l] * row[l];
                }
            }
            work[k] = sum;
        }
        for (int32_t s = 0; s < piece->rows; s++) {
            double sum = 0.0;
            for (int32_t k = 0; k < piece->columns; k++) {
                sum += work[k] * piece->J[(size_t)s * (size_t)piece->pitch + (size_t)k];
            }
            B[r * piece->rows + s] = sum;
        }
    }
}

/// A number that is no less than the largest eigenvalue of a symmetric 3 x 3 block, and equal to it where the block is
/// a multiple of the unit matrix.
static double block_bound(const double *B) {
    const double mean = (B[0] + B[4] + B[8]) / 3.0;
    double off = 0.0;
    for (int32_t k = 0; k < 9; k++) {
        const double d = B[k] - (k % 4 == 0 ? mean : 0.0);
        off += d * d;
    }
    // |B - mean I|_F sqrt(2/3) bounds what the largest eigenvalue of a traceless matrix is
    return mean + sqrt(off * (2.0 / 3.0));
}

stn_status cond_contacts_weigh(cond_contacts *c, const double *w, stn_arena *arena, stn_error *err) {
    double *dofs = STN_ARENA(arena, c->layout->problem->nv + 1, double);
    if (dofs == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "%d constraints: out of memory", c->count);
    }
    for (int32_t k = 0; k < c->nodal_count; k++) {
        const cond_nodal *nodal = &c->nodal[k];
        cond_contact *contact = &c->contacts[nodal->constraint];
        for (int32_t r = 0; r < 3; r++) {
            contact->bound[r] = w[nodal->place] * nodal->beta2;
        }
    }
    for (int32_t k = 0; k < c->other_count; k++) {
        cond_contact *contact = &c->contacts[c->others[k]];
        memset(contact->bound, 0, sizeof contact->bound);
        contact->node_bound = 0.0;
        for (int32_t e = contact->first; e < contact->end; e++) {
            cond_piece *piece = &c->pieces[e];
            const cond_unit *unit = &c->units[piece->unit];
            const cond_body *body = unit->body;
            double B[STN_MAX_ROWS * STN_MAX_ROWS];
            piece_block(c, piece, w, dofs, B);
            for (int32_t r = 0; r < piece->rows; r++) {
                contact->bound[r] += contact->cone ? block_bound(B) : B[r * (piece->rows + 1)];
            }
            contact->node_bound += contact->cone && body == NULL ? block_bound(B) * (unit->end - unit->first) : 0.0;
            if (body == NULL) {
                continue;
            }
            const size_t n = (size_t)body->size, from = (size_t)(piece->place - body->place);
            double *response = STN_ARENA(arena, n * (size_t)piece->rows + 1, double);
            if (response == NULL) {
                return stn_fail(err, STN_ERR_MEMORY, "%d constraints: out of memory", c->count);
            }
            for (size_t r = 0; r < (size_t)piece->rows; r++) {
                for (size_t m = 0; m < n; m++) {
                    double sum = 0.0;
                    for (size_t l = 0; l < (size_t)piece->columns; l++) {
                        sum += body->inverse[m * n + from + l] * piece->J[r * (size_t)piece->pitch + l];
                    }
                    response[r * n + m] = sum;
                }
            }
            piece->response = response;
        }
    }
    for (int32_t k = 0; k < c->shared_count; k++) {
        cond_shared *shared = &c->shared[k];
        shared->bound = c->contacts[shared->constraint].bound[0];
        for (int32_t e = shared->first; e < shared->end; e++) {
            cond_shared_node *node = &c->shared_nodes[e];
            for (int32_t entry = 0; entry < 9; entry++) {
                node->row[entry / 3][entry % 3] = node->column[entry % 3][entry / 3] * w[node->place + entry % 3];
            }
        }
    }
    return STN_OK;
}

// ------------------------------------------------------------------------------------------------------------ one shot

void cond_contact_velocity(const cond_contacts *c, int32_t i, const double *v, double *u) {
    const cond_contact *contact = &c->contacts[i];
    for (int32_t r = 0; r < contact->rows; r++) {
        u[r] = c->target[contact->row + r];
    }
    for (int32_t k = contact->first; k < contact->end; k++) {
        const cond_piece *piece = &c->pieces[k];
        const double *x = v + piece->place, *J = piece->J;
        if (piece->rows == 3 && piece->columns == 3 && piece->pitch == 3) { // a contact on a node
            for (int32_t r = 0; r < 3; r++) {
                u[r] += J[3 * r] * x[0] + J[3 * r + 1] * x[1] + J[3 * r + 2] * x[2];
            }
            continue;
        }
        for (int32_t r = 0; r < piece->rows; r++) {
            const double *row = J + (size_t)r * (size_t)piece->pitch;
            double sum = 0.0;
            for (int32_t l = 0; l < piece->columns; l++) {
                sum += row[l] * x[l];
            }
            u[r] += sum;
        }
    }
}

/// One row with bounds.
static void solve_row(const cond_contacts *c, int32_t i, int32_t r, double alpha, const double *p, double *gamma) {
    const stn_problem *problem = c->layout->problem;
    const cond_contact *contact = &c->contacts[i];
    const int32_t row = contact->row + r;
    double u[STN_MAX_ROWS];
    cond_contact_velocity(c, i, p, u);
    const double g = alpha * contact->bound[r] + c->R[row];
    const double y = g > 0.0 ? gamma[row] - (u[r] + c->R[row] * gamma[row]) / g : 0.0;
    gamma[row] = y < problem->lo[row] ? problem->lo[row] : (y > problem->hi[row] ? problem->hi[row] : y);
}

double cond_contact_shift(const cond_contacts *c, int32_t i, const double *v, const double *gamma) {
    const cond_contact *contact = &c->contacts[i];
    double slip[STN_MAX_ROWS];
    cond_contact_velocity(c, i, v, slip);
    for (int32_t r = 0; r < 2; r++) {
        slip[r] += c->R[contact->row + r] * gamma[contact->row + r];
    }
    return cond_shift(contact->mu, slip);
}

void cond_contact_solve(const cond_contacts *c, int32_t i, cond_operator how, double alpha, const double *p,
                        const double *v, const double *gamma, double *out) {
    const cond_contact *contact = &c->contacts[i];
    const double *R = c->R + contact->row, *before = gamma + contact->row;
    double u[STN_MAX_ROWS], *x = out + contact->row;
    cond_contact_velocity(c, i, p, u);
    for (int32_t r = 0; r < contact->rows; r++) {
        u[r] += R[r] * before[r];
        x[r] = before[r];
    }
    // one number for both tangents, so that friction keeps its direction
    const double g[2] = {alpha * contact->bound[0] + fmax(R[0], R[1]), alpha * contact->bound[0] + R[2]};
    if (!(g[1] > 0.0)) { // nothing moves it
        x[0] = x[1] = x[2] = 0.0;
        return;
    }
    const double shift = how == COND_SHIFTED ? cond_contact_shift(c, i, v, gamma) : 0.0;
    cond_one_shot(contact->mu, how, g, u, shift, x);
}

void cond_contact_respond(const cond_contacts *c, int32_t i, double alpha, const double *w, const double *x,
                          double *p) {
    const cond_contact *contact = &c->contacts[i];
    for (int32_t e = contact->first; e < contact->end; e++) {
        const cond_piece *piece = &c->pieces[e];
        const cond_body *body = c->units[piece->unit].body;
        for (int32_t r = 0; r < piece->rows; r++) {
            const double step = alpha * x[r];
            if (step == 0.0) {
                continue;
            }
            if (body != NULL) {
                const double *response = piece->response + (size_t)r * (size_t)body->size;
                for (int32_t l = 0; l < body->size; l++) {
                    p[body->place + l] += step * response[l];
                }
                continue;
            }
            const double *row = piece->J + (size_t)r * (size_t)piece->pitch;
            for (int32_t l = 0; l < piece->columns; l++) {
                p[piece->place + l] += step * w[piece->place + l] * row[l];
            }
        }
    }
}

/// A shared contact in one shot, at p and into it.
STN_KERNEL_INLINE void step_shared(const cond_contacts *c, const cond_shared *shared, bool strict, double alpha,
                                   double *p, double *gamma) {
    double *x = gamma + shared->row;
    const cond_v4 before = {x[0], x[1], x[2], 0.0};
    cond_v4 u = cond_load(shared->target) + cond_load(shared->R) * before;
    for (int32_t e = shared->first; e < shared->end; e++) {
        const cond_shared_node *node = &c->shared_nodes[e];
        const double *at = p + node->place;
        u += cond_load(node->column[0]) * at[0] + cond_load(node->column[1]) * at[1] +
             cond_load(node->column[2]) * at[2];
    }
    const double gt = alpha * shared->bound + shared->R[0], gn = alpha * shared->bound + shared->R[2];
    if (!(gn > 0.0)) { // nothing moves it
        x[0] = x[1] = x[2] = 0.0;
        return;
    }
    x[0] -= u[0] / gt;
    x[1] -= u[1] / gt;
    x[2] -= u[2] / gn;
    cond_project_round(strict, shared->mu, gt, gn, x);
    const cond_v4 change = alpha * ((cond_v4){x[0], x[1], x[2], 0.0} - before);
    for (int32_t e = shared->first; e < shared->end; e++) {
        const cond_shared_node *node = &c->shared_nodes[e];
        *(cond_v4 *)(p + node->place) += cond_load(node->row[0]) * change[0] + cond_load(node->row[1]) * change[1] +
                                         cond_load(node->row[2]) * change[2];
    }
}

/// The first `count` of them.
STN_KERNEL static void sweep_shared(const cond_contacts *c, int32_t count, bool forwards, bool strict, double alpha,
                                    double *p, double *gamma) {
    for (int32_t k = 0; k < count; k++) {
        step_shared(c, &c->shared[forwards ? k : count - 1 - k], strict, alpha, p, gamma);
    }
}

/// Constraint i of the others.
static void step_other(const cond_contacts *c, int32_t i, cond_operator how, double alpha, const double *w,
                       const double *v, double *p, double *gamma) {
    const cond_contact *contact = &c->contacts[i];
    double before[STN_MAX_ROWS], change[STN_MAX_ROWS];
    for (int32_t r = 0; r < contact->rows; r++) {
        before[r] = gamma[contact->row + r];
    }
    if (contact->cone) {
        cond_contact_solve(c, i, how, alpha, p, v, gamma, gamma);
        for (int32_t r = 0; r < 3; r++) {
            change[r] = gamma[contact->row + r] - before[r];
        }
        cond_contact_respond(c, i, alpha, w, change, p);
        return;
    }
    for (int32_t r = 0; r < contact->rows; r++) { // row by row
        solve_row(c, i, r, alpha, p, gamma);
        for (int32_t s = 0; s < contact->rows; s++) {
            change[s] = s == r ? gamma[contact->row + r] - before[r] : 0.0;
        }
        cond_contact_respond(c, i, alpha, w, change, p);
    }
}

void cond_contacts_sweep(const cond_contacts *c, int32_t sweeps, cond_operator how, double alpha, const double *w,
                         const double *v, double *p, double *gamma) {
    const bool strict = how == COND_STRICT;
    const int32_t first = strict || how == COND_PROXIMAL ? c->shared_count : 0;
    for (int32_t sweep = 0; sweep < sweeps; sweep++) {
        if (sweep % 2 == 0) {
            sweep_shared(c, first, true, strict, alpha, p, gamma);
            for (int32_t k = first; k < c->other_count; k++) {
                step_other(c, c->others[k], how, alpha, w, v, p, gamma);
            }
        } else {
            for (int32_t k = c->other_count - 1; k >= first; k--) {
                step_other(c, c->others[k], how, alpha, w, v, p, gamma);
            }
            sweep_shared(c, first, false, strict, alpha, p, gamma);
        }
    }
}

double cond_contact_residual(const cond_contacts *c, int32_t i, bool coulomb, const double *v, const double *gamma,
                             double *speed) {
    const cond_contact *contact = &c->contacts[i];
    if (c->layout->is_spring[i]) {
        return 0.0; // its impulse is that of v
    }
    const stn_problem *p = c->layout->problem;
    const double *R = c->R + contact->row;
    double u[STN_MAX_ROWS], x[STN_MAX_ROWS];
    cond_contact_velocity(c, i, v, u);
    for (int32_t r = 0; r < contact->rows; r++) {
        x[r] = gamma[contact->row + r];
        *speed = fmax(*speed, fabs(u[r] + p->v_hat[contact->row + r]));
        u[r] += R[r] * x[r];
    }
    if (!contact->cone) {
        return stn_natural_map_box(contact->rows, contact->omega, p->lo + contact->row, p->hi + contact->row, x, u);
    }
    const cond_circle round = cond_circle_of(contact->mu);
    for (int32_t r = 0; r < 2; r++) {
        x[r] = round.scale[r] > 0.0 ? x[r] / round.scale[r] : 0.0;
        u[r] *= round.scale[r];
    }
    const double raised = coulomb ? u[2] + round.mu * sqrt(u[0] * u[0] + u[1] * u[1]) : u[2];
    const double fuzz = coulomb ? contact->fuzz : 0.0;
    return stn_natural_map_cone(round.mu, contact->omega, raised, x, u) + fuzz * fuzz;
}

void cond_unit_gather(const cond_contacts *c, int32_t k, const double *gamma, double *q) {
    const cond_unit *unit = &c->units[k];
    for (int32_t i = unit->place; i < unit->place + unit->width; i++) {
        q[i] = 0.0;
    }
    for (int32_t e = unit->first; e < unit->end; e++) {
        const cond_piece *piece = &c->pieces[c->incident[e]];
        double *to = q + piece->place;
        const double *J = piece->J, *own = gamma + piece->row;
        if (piece->rows == 3 && piece->columns == 3 && piece->pitch == 3) {
            for (int32_t l = 0; l < 3; l++) {
                to[l] += J[l] * own[0] + J[3 + l] * own[1] + J[6 + l] * own[2];
            }
            continue;
        }
        for (int32_t r = 0; r < piece->rows; r++) {
            const double *row = J + (size_t)r * (size_t)piece->pitch;
            for (int32_t l = 0; l < piece->columns; l++) {
                to[l] += row[l] * own[r];
            }
        }
    }
}
