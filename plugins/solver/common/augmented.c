// SPDX-License-Identifier: Apache-2.0
// The sum, block by block in the lower triangle, and the factor:
//
//     H_st = A_st + sum over clusters of J_s^T G J_t
//
// The products of a cluster are kept, and computed again only when a G of the cluster changed: near the solution most
// contacts stick or stay open from one iteration to the next.
#include "common/augmented.h"

#include <string.h>

#include "common/proximal.h"
#include "common/vectors.h"

// ----------------------------------------------------------------------------------------------- products of a cluster

/// G of the lanes and lines of a cluster.
typedef struct cluster_G {
    int32_t lanes, lines;
    size_t stride; // of `lane`
    const double *lane, *line;
} cluster_G;

/// Open contacts have no part in H.
STN_KERNEL_INLINE bool is_open(size_t stride, const double *G) {
    return G[5 * stride] == 0.0 && G[0] == 0.0 && G[2 * stride] == 0.0;
}

/// out = G J: rows of `panel` that are active, in their order.
STN_KERNEL_INLINE void panel_times_G(const cluster_G *g, int32_t ld, const double *panel, double *out) {
    const size_t stride = g->stride;
    const double *G = g->lane, *line_G = g->line;
    for (int32_t i = 0; i < g->lanes; i++, G++, panel += 3 * ld) {
        if (is_open(stride, G)) {
            continue;
        }
        double g11 = G[0], g12 = G[stride], g22 = G[2 * stride];
        double g13 = G[3 * stride], g23 = G[4 * stride], g33 = G[5 * stride];
        for (int32_t c = 0; c < ld; c += 4) {
            v4 a = v4_load(panel + c), b = v4_load(panel + ld + c), n = v4_load(panel + 2 * ld + c);
            v4_store(out + c, g11 * a + g12 * b + g13 * n);
            v4_store(out + ld + c, g12 * a + g22 * b + g23 * n);
            v4_store(out + 2 * ld + c, g13 * a + g23 * b + g33 * n);
        }
        out += 3 * ld;
    }
    for (int32_t i = 0; i < g->lines; i++, panel += ld) {
        if (line_G[i] != 0.0) {
            for (int32_t c = 0; c < ld; c += 4) {
                v4_store(out + c, line_G[i] * v4_load(panel + c));
            }
            out += ld;
        }
    }
}

typedef int64_t number_bits __attribute__((may_alias));

/// C (n_P x ld_T) = P^T T over the active rows.
typedef struct product {
    int32_t count;
    const augmented_row *active; // T has no other rows
    augmented_row *room;         // (count)
    const double *P, *T;
    int32_t n_P, ld_P, ld_T;
    bool lower; // P and T are of one block, and C is wanted up to the diagonal
    double *C;
} product;

/// The active rows that have something in columns [i, i + 6) of P: a branch of a tree is reached by few contacts.
/// Returns their number.
STN_KERNEL_INLINE int32_t find_reaching(const product *m, int32_t i, const augmented_row **rows) {
    int32_t count = 0;
    *rows = m->active;
    if (m->n_P <= 6) {
        return m->count;
    }
    for (int32_t k = 0; k < m->count; k++) {
        const number_bits *bits = (const number_bits *)(m->P + i + (int64_t)m->active[k].panel * m->ld_P);
        m->room[count] = m->active[k];
        count += ((bits[0] | bits[1] | bits[2] | bits[3] | bits[4] | bits[5]) & INT64_MAX) != 0;
    }
    *rows = m->room;
    return count;
}

/// Tile of C from (i, j): 6 rows, `wide` columns; the sums stay in registers. The last tile of a block reads beyond its
/// n columns of P, into the next row, and does not store what comes of it.
STN_KERNEL_INLINE void tile(const product *m, int32_t count, const augmented_row *rows, int32_t i, int32_t j,
                            int32_t wide) {
    v4 sum[6][2];
    UNROLL
    for (int32_t r = 0; r < 6; r++) {
        sum[r][0] = sum[r][1] = (v4){0.0};
    }
    for (int32_t k = 0; k < count; k++) {
        const double *p = m->P + i + (int64_t)rows[k].panel * m->ld_P;
        const double *T = m->T + j + (int64_t)rows[k].product * m->ld_T;
        v4 t0 = v4_load(T), t1 = wide == 8 ? v4_load(T + 4) : t0;
        UNROLL
        for (int32_t r = 0; r < 6; r++) {
            sum[r][0] += p[r] * t0;
            if (wide == 8) {
                sum[r][1] += p[r] * t1;
            }
        }
    }
    double *C = m->C + (int64_t)i * m->ld_T + j;
    UNROLL
    for (int32_t r = 0; r < 6; r++) {
        if (r < m->n_P - i) {
            v4_store(C + (int64_t)r * m->ld_T, sum[r][0]);
            if (wide == 8) {
                v4_store(C + (int64_t)r * m->ld_T + 4, sum[r][1]);
            }
        }
    }
}

STN_KERNEL_INLINE void multiply(product m) {
    for (int32_t i = 0; i < m.n_P; i += 6) {
        const augmented_row *rows;
        const int32_t end = m.lower && i + 6 < m.ld_T ? i + 6 : m.ld_T, count = find_reaching(&m, i, &rows);
        for (int32_t j = 0; j < end; j += 8) {
            if (m.ld_T - j >= 8) {
                tile(&m, count, rows, i, j, 8);
            } else {
                tile(&m, count, rows, i, j, 4);
            }
        }
    }
}

STN_KERNEL static void form_products(const augmented *h, const augmented_cluster *cluster, const double *G,
                                     const double *line_G, int32_t worker) {
    double *scratch = h->scratch + (size_t)worker * h->scratch_size;
    augmented_row *active = h->active + 2 * (size_t)worker * (size_t)h->active_size, *room = active + h->active_size;
    const cluster_G own = {cluster->lane_count, cluster->line_count, (size_t)h->lane_stride, G + cluster->lane_start,
                           line_G + cluster->line_start};
    const cluster_G *g = &own;
    const augmented_part *parts = h->parts + cluster->part_start;
    int32_t count = 0, row = 0; // stacked rows with G != 0
    for (int32_t i = 0; i < g->lanes; i++, row += 3) {
        for (int32_t r = 0; r < 3 && !is_open(g->stride, g->lane + i); r++) {
            active[count] = (augmented_row){row + r, count};
            count++;
        }
    }
    for (int32_t i = 0; i < g->lines; i++, row++) {
        if (g->line[i] != 0.0) {
            active[count] = (augmented_row){row, count};
            count++;
        }
    }
    for (int32_t q = 0; q < cluster->part_count; q++) {
        int32_t ld_q = h->blocks[parts[q].block].ld;
        int64_t before = 0;
        if (ld_q == 8) {
            panel_times_G(g, 8, h->panels + parts[q].panel, scratch);
        } else {
            panel_times_G(g, ld_q, h->panels + parts[q].panel, scratch);
        }
        for (int32_t k = 0; k < q; k++) {
            before += h->blocks[parts[k].block].ld;
        }
        for (int32_t p = q; p < cluster->part_count; p++) {
            const augmented_block *block = &h->blocks[parts[p].block];
            const double *P = h->panels + parts[p].panel;
            double *C = h->product + parts[p].product + block->n * before;
            if (block->n == 6 && ld_q == 8) {
                multiply((product){count, active, room, P, scratch, 6, 8, 8, p == q, C});
            } else {
                multiply((product){count, active, room, P, scratch, block->n, block->ld, ld_q, p == q, C});
            }
        }
    }
}

// ----------------------------------------------------------------------------------------------------------------- sum

/// values = A + terms, 6 x 6, with all sums in registers.
STN_KERNEL_INLINE void sum_terms_6(const augmented *h, const augmented_entry *entry) {
    v4 low[6];
    v2u high[6];
    UNROLL
    for (int32_t i = 0; i < 6; i++) {
        low[i] = entry->A == NULL ? (v4){0.0} : v4_load(entry->A + 8 * i);
        high[i] = entry->A == NULL ? (v2u){0.0} : *(const v2u *)(entry->A + 8 * i + 4);
    }
    for (int32_t t = 0; t < entry->term_count; t++) {
        const double *term = h->product + h->terms[entry->term_start + t].product;
        UNROLL
        for (int32_t i = 0; i < 6; i++) {
            low[i] += v4_load(term + 8 * i);
            high[i] += *(const v2u *)(term + 8 * i + 4);
        }
    }
    UNROLL
    for (int32_t i = 0; i < 6; i++) {
        *(v4u *)(entry->values + (int64_t)i * entry->stride) = low[i];
        *(v2u *)(entry->values + (int64_t)i * entry->stride + 4) = high[i];
    }
}

/// values = A + terms; of a diagonal block up to the diagonal, as far as our dense factor reads it.
STN_KERNEL static void write_entry(const augmented *h, const augmented_entry *entry) {
    const int32_t n = h->blocks[entry->row].n, m = h->blocks[entry->column].n, ld = h->blocks[entry->column].ld;
    const bool diagonal = entry->row == entry->column;
    const double *only = entry->term_count == 1 ? h->product + h->terms[entry->term_start].product : NULL;
    if (n == 6 && m == 6 && (entry->A == NULL || entry->A_ld == 8)) { // a body, not nodes of six dofs
        sum_terms_6(h, entry);
        return;
    }
    for (int32_t i = 0; i < n; i++) {
        double *out = entry->values + (int64_t)i * entry->stride;
        const double *A = entry->A == NULL ? NULL : entry->A + (int64_t)i * entry->A_ld;
        int32_t end = diagonal ? i + 1 : m, j = 0;
        if (h->dense && h->block_count == 1) { // whole vectors: what they write right of the diagonal is not read
            end = end + 3 - (end + 3) % 4;
        }
        for (; j + 4 <= end && A != NULL && only != NULL; j += 4) {
            *(v4u *)(out + j) = (v4) * (const v4u *)(A + j) + (v4) * (const v4u *)(only + (int64_t)i * ld + j);
        }
        for (; j + 4 <= end; j += 4) {
            v4 sum = A == NULL ? (v4){0.0} : (v4) * (const v4u *)(A + j);
            for (int32_t t = 0; t < entry->term_count; t++) {
                sum += (v4) * (const v4u *)(h->product + h->terms[entry->term_start + t].product + (int64_t)i * ld + j);
            }
            *(v4u *)(out + j) = sum;
        }
        for (; j < end; j++) {
            double sum = A == NULL ? 0.0 : A[j];
            for (int32_t t = 0; t < entry->term_count; t++) {
                sum += h->product[h->terms[entry->term_start + t].product + (int64_t)i * ld + j];
            }
            out[j] = sum;
        }
    }
    for (int64_t i = 0; i < n && diagonal && !h->dense; i++) {
        for (int64_t j = i + 1; j < n; j++) {
            entry->values[i * entry->stride + j] = entry->values[j * entry->stride + i];
        }
    }
}

/// J^T G J of lines of one dof each: their dofs on the diagonal, zeros elsewhere, which are there.
static void unit_products(const augmented *h, const augmented_cluster *cluster, const double *line_G) {
    const augmented_part *part = &h->parts[cluster->part_start];
    const int64_t next = h->blocks[part->block].ld + 1;
    const int32_t *dof = h->line_dof + cluster->line_start;
    const double *J = h->panels + part->panel;
    double *C = h->product + part->product;
    for (int32_t i = 0; i < cluster->line_count; i++) {
        C[next * dof[i]] = 0.0;
    }
    for (int32_t i = 0; i < cluster->line_count; i++) {
        C[next * dof[i]] += J[i] * line_G[i] * J[i];
    }
}

/// What assembling reads.
typedef struct assembly {
    augmented *h;
    const double *G, *line_G;
    const int64_t *changed;
} assembly;

static void assemble_clusters(void *user, int32_t begin, int32_t end, int32_t worker) {
    const assembly *a = user;
    augmented *h = a->h;
    for (int32_t k = begin; k < end; k++) {
        augmented_cluster *cluster = &h->clusters[k];
        const double *now = a->line_G + cluster->line_start, *then = h->line_G + cluster->line_start;
        bool any = h->fresh || (a->changed == NULL && cluster->lane_count > 0);
        for (int32_t i = 0; i < cluster->lane_count && !any; i++) {
            any = a->changed[cluster->lane_start + i] != 0;
        }
        for (int32_t i = 0; i < cluster->line_count && !any; i++) {
            any = now[i] != then[i];
        }
        cluster->changed = any;
        if (any && cluster->motion >= 0) {
            const augmented_wrenches wrenches = augmented_wrenches_of(h, cluster);
            augmented_motion_product(&h->motions[cluster->motion], &wrenches, (size_t)h->lane_stride,
                                     a->G + cluster->lane_start, h->product + h->parts[cluster->part_start].product);
        } else if (any && cluster->unit) {
            unit_products(h, cluster, a->line_G + cluster->line_start);
        } else if (any) {
            form_products(h, cluster, a->G, a->line_G, worker);
        }
    }
}

static void assemble_entries(void *user, int32_t begin, int32_t end, int32_t worker) {
    (void)worker;
    const augmented *h = ((const assembly *)user)->h;
    for (int32_t e = begin; e < end; e++) {
        const augmented_entry *entry = &h->entries[e];
        bool any = h->fresh;
        for (int32_t t = 0; t < entry->term_count && !any; t++) {
            any = h->clusters[h->terms[entry->term_start + t].cluster].changed;
        }
        if (any) {
            write_entry(h, entry);
        }
    }
}

/// H by its entries.
static void assemble(augmented *h, const double *G, const double *line_G, const int64_t *changed) {
    assembly a = {h, G, line_G, changed};
    augmented_parallel(h, h->cluster_count, 32, assemble_clusters, &a);
    memcpy(h->line_G, line_G, (size_t)h->line_stride * sizeof *h->line_G);
    augmented_parallel(h, h->entry_count, 128, assemble_entries, &a);
    h->fresh = false;
}

void augmented_assemble(augmented *h, const double *G, const double *line_G, const int64_t *changed) {
    if (h->articulated) {
        h->given_G = G;
        h->given_line_G = line_G;
    } else {
        assemble(h, G, line_G, changed);
    }
}

// -------------------------------------------------------------------------------------------------------------- factor

stn_status augmented_hold(augmented *h, stn_error *err) {
    return proximal_weights(h->problem, h->control, AUGMENTED_SHARE, &h->proximal, err);
}

/// Returns -1 or the dof whose pivot is not > 0.
static int32_t factor_bodies(augmented *h) {
    const stn_problem_tree *tree = &h->problem->trees[h->blocks->tree];
    const size_t n = (size_t)tree->A.n;
    memcpy(h->inertia, tree->A.values, 48 * n * sizeof *h->inertia);
    memcpy(h->extra, tree->A.values + 48 * n, n * sizeof *h->extra);
    for (int32_t k = 0; k < h->cluster_count; k++) {
        const augmented_cluster *cluster = &h->clusters[k];
        if (cluster->motion >= 0) {
            const augmented_wrenches wrenches = augmented_wrenches_of(h, cluster);
            augmented_motion_stiffen(&wrenches, (size_t)h->lane_stride, h->given_G + cluster->lane_start, h->inertia);
        }
        const double *row = h->panels + h->parts[cluster->part_start].panel;
        const int32_t width = cluster->unit ? 1 : h->blocks->ld;
        for (int32_t i = cluster->line_start; i < cluster->line_start + cluster->line_count; i++, row += width) {
            const double J = row[cluster->unit ? 0 : h->line_dof[i]];
            h->extra[h->line_dof[i]] += J * h->given_line_G[i] * J;
        }
    }
    return stn_articulated_factor(&h->bodies[h->blocks->tree], h->inertia, h->extra, h->extra, 0.0);
}

static stn_status say_pivot(const augmented *h, int32_t pivot, stn_error *err) {
    const augmented_block *block = h->blocks;
    while (block->compact + block->n <= pivot) {
        block++;
    }
    return stn_fail(err, STN_ERR_NUMERIC, "tree %d (source %d): pivot of dof %d is not > 0", block->tree,
                    h->problem->trees[block->tree].source, block->dof + pivot - block->compact);
}

stn_status augmented_factor(augmented *h, double damping, stn_error *err) {
    if (h->articulated && damping == 0.0 && h->proximal == NULL) {
        const int32_t pivot = factor_bodies(h);
        h->by_bodies = true;
        return pivot < 0 ? STN_OK : say_pivot(h, pivot, err);
    }
    if (h->articulated) {
        const stn_status status = h->entries_made ? STN_OK : augmented_analyse_entries(h, AUGMENTED_AUTO, err);
        if (status != STN_OK) {
            return status;
        }
        h->entries_made = h->fresh = true;
        h->by_bodies = false;
        assemble(h, h->given_G, h->given_line_G, NULL);
    }
    for (int32_t e = 0; e < h->entry_count && (damping > 0.0 || h->proximal != NULL); e++) {
        const augmented_entry *entry = &h->entries[e];
        const int32_t first = h->blocks[entry->row].compact;
        for (int64_t i = 0; entry->row == entry->column && i < h->blocks[entry->row].n; i++) {
            double *a = &entry->values[i * (entry->stride + 1)];
            *a = *a * (1.0 + damping) + (h->proximal != NULL ? h->proximal[first + i] : 0.0);
        }
        h->fresh = true; // what is in it now must not serve the next step
    }
    if (h->iterative) {
        return incomplete_factor(&h->incomplete, &h->matrix)
                   ? STN_OK
                   : stn_fail(err, STN_ERR_NUMERIC, "a diagonal block is not positive definite");
    }
    if (!h->dense && h->changing != NULL) { // A stays what it is, and so does what is added to it for the same damping
        const bool again = h->factored && damping == h->damping;
        h->factored = true;
        h->damping = damping;
        return h->ops->refactor(h->factor, &h->matrix, h->changing, again, err);
    }
    if (!h->dense) {
        return h->ops->numeric(h->factor, &h->matrix, err);
    }
    int32_t pivot;
    if (h->branched) {
        pivot = stn_ltl_factor(&h->ltl, h->values, h->stride, 0.0);
    } else {
        memcpy(h->lower, h->values, (size_t)h->nv * (size_t)h->stride * sizeof *h->lower);
        pivot = stn_cholesky(h->nv, h->lower, h->stride);
    }
    return pivot < 0 ? STN_OK : say_pivot(h, pivot, err);
}

void augmented_solve(const augmented *h, double *x) {
    if (h->by_bodies) {
        stn_articulated_forward(&h->bodies[h->blocks->tree], 1, x, h->nv);
        stn_articulated_backward(&h->bodies[h->blocks->tree], 1, x, h->nv);
    } else if (h->branched) {
        stn_ltl_forward(&h->ltl, 1, x, h->nv);
        stn_ltl_backward(&h->ltl, 1, x, h->nv);
    } else if (h->dense) {
        stn_cholesky_forward(h->nv, h->lower, h->stride, 1, x, h->nv);
        stn_cholesky_backward(h->nv, h->lower, h->stride, 1, x, h->nv);
    } else {
        h->ops->solve(h->factor, 1, x);
    }
}
