// SPDX-License-Identifier: Apache-2.0
// The Hessian, block by block in the lower triangle,
//
//     H_st = A_st + sum over clusters of J_s^T G J_t
//
// The products of a cluster are kept, and computed again only when a G of the cluster changed: near the solution most
// contacts stick or stay open from one iteration to the next.
#include <string.h>

#include "system.h"

/// scratch = G J: rows of `panel` that are active, in their order.
STN_KERNEL_INLINE void panel_times_G(const sap_system *s, const sap_cluster *cluster, int32_t ld, const double *panel,
                                     double *out) {
    const size_t stride = (size_t)s->batch.stride;
    const double *G = s->H_G + cluster->lane_start, *line_G = s->now.line_G + cluster->line_start;
    for (int32_t i = 0; i < cluster->lane_count; i++, G++, panel += 3 * ld) {
        double g11 = G[0], g12 = G[stride], g22 = G[2 * stride];
        double g13 = G[3 * stride], g23 = G[4 * stride], g33 = G[5 * stride];
        if (g33 == 0.0 && g11 == 0.0 && g22 == 0.0) {
            continue; // open
        }
        for (int32_t c = 0; c < ld; c += 4) {
            sap_v4 a = sap_load(panel + c), b = sap_load(panel + ld + c), n = sap_load(panel + 2 * ld + c);
            sap_store(out + c, g11 * a + g12 * b + g13 * n);
            sap_store(out + ld + c, g12 * a + g22 * b + g23 * n);
            sap_store(out + 2 * ld + c, g13 * a + g23 * b + g33 * n);
        }
        out += 3 * ld;
    }
    for (int32_t i = 0; i < cluster->line_count; i++, panel += ld) {
        if (line_G[i] != 0.0) {
            for (int32_t c = 0; c < ld; c += 4) {
                sap_store(out + c, line_G[i] * sap_load(panel + c));
            }
            out += ld;
        }
    }
}

/// Stacked rows with G != 0, counted.
static int32_t find_active(const sap_system *s, const sap_cluster *cluster, int32_t *active) {
    const size_t stride = (size_t)s->batch.stride;
    const double *G = s->H_G + cluster->lane_start, *line_G = s->now.line_G + cluster->line_start;
    int32_t n = 0, row = 0;
    for (int32_t i = 0; i < cluster->lane_count; i++, G++, row += 3) {
        if (!(G[5 * stride] == 0.0 && G[0] == 0.0 && G[2 * stride] == 0.0)) {
            active[n++] = row;
            active[n++] = row + 1;
            active[n++] = row + 2;
        }
    }
    for (int32_t i = 0; i < cluster->line_count; i++, row++) {
        if (line_G[i] != 0.0) {
            active[n++] = row;
        }
    }
    return n;
}

/// Tile of C = P^T T: 6 rows i, `wide` columns; the sums stay in registers. The last tile of a block reads beyond its n
/// columns of P, into the next row, and does not store what comes of it.
STN_KERNEL_INLINE void tile(int32_t wide, int32_t count, const int32_t *active, const double *P, int32_t ld_P,
                            const double *T, int32_t ld_T, int32_t height, double *C) {
    sap_v4 sum[6][2];
    SAP_UNROLL
    for (int32_t i = 0; i < 6; i++) {
        sum[i][0] = sum[i][1] = (sap_v4){0.0};
    }
    for (int32_t k = 0; k < count; k++, T += ld_T) {
        const double *p = P + (int64_t)active[k] * ld_P;
        sap_v4 t0 = sap_load(T), t1 = wide == 8 ? sap_load(T + 4) : t0;
        SAP_UNROLL
        for (int32_t i = 0; i < 6; i++) {
            sum[i][0] += p[i] * t0;
            if (wide == 8) {
                sum[i][1] += p[i] * t1;
            }
        }
    }
    SAP_UNROLL
    for (int32_t i = 0; i < 6; i++) {
        if (i < height) {
            sap_store(C + (int64_t)i * ld_T, sum[i][0]);
            if (wide == 8) {
                sap_store(C + (int64_t)i * ld_T + 4, sum[i][1]);
            }
        }
    }
}

/// C (n_P x ld_T) = P^T T over the active rows; `lower`: P and T are of one block and C is wanted up to the diagonal.
STN_KERNEL_INLINE void product(const sap_hessian *H, int32_t count, const double *P, int32_t n_P, int32_t ld_P,
                               int32_t ld_T, bool lower, double *C) {
    for (int32_t i = 0; i < n_P; i += 6) {
        int32_t height = n_P - i, end = lower && i + 6 < ld_T ? i + 6 : ld_T;
        for (int32_t j = 0; j < end; j += 8) {
            double *out = C + (int64_t)i * ld_T + j;
            if (ld_T - j >= 8) {
                tile(8, count, H->active, P + i, ld_P, H->scratch + j, ld_T, height, out);
            } else {
                tile(4, count, H->active, P + i, ld_P, H->scratch + j, ld_T, height, out);
            }
        }
    }
}

STN_KERNEL static void form_products(const sap_system *s, const sap_cluster *cluster) {
    const sap_hessian *H = &s->H;
    const sap_part *parts = s->parts + cluster->part_start;
    int32_t count = find_active(s, cluster, H->active);
    for (int32_t q = 0; q < cluster->part_count; q++) {
        int32_t ld_q = s->blocks[parts[q].block].ld;
        if (ld_q == 8) {
            panel_times_G(s, cluster, 8, s->panels + parts[q].panel, H->scratch);
        } else {
            panel_times_G(s, cluster, ld_q, s->panels + parts[q].panel, H->scratch);
        }
        int64_t before = 0; // columns of the products with earlier blocks
        for (int32_t k = 0; k < q; k++) {
            before += s->blocks[parts[k].block].ld;
        }
        for (int32_t p = q; p < cluster->part_count; p++) {
            const sap_block *block = &s->blocks[parts[p].block];
            const double *P = s->panels + parts[p].panel;
            double *C = H->product + parts[p].product + block->n * before;
            if (block->n == 6 && ld_q == 8) {
                product(H, count, P, 6, 8, 8, p == q, C);
            } else {
                product(H, count, P, block->n, block->ld, ld_q, p == q, C);
            }
        }
    }
}

/// Marks clusters in which a G differs from that in H, and takes note of the new ones.
static void find_changes(sap_system *s) {
    sap_anticipate(s);
    for (int32_t k = 0; k < s->cluster_count; k++) {
        sap_cluster *cluster = &s->clusters[k];
        const int64_t *changed = s->H.changed + cluster->lane_start;
        bool any = s->H.fresh;
        for (int32_t i = 0; i < cluster->lane_count; i++) {
            any |= changed[i] != 0;
        }
        const double *now = s->now.line_G + cluster->line_start, *then = s->H_line_G + cluster->line_start;
        for (int32_t i = 0; i < cluster->line_count; i++) {
            any |= now[i] != then[i];
        }
        cluster->changed = any;
    }
    memcpy(s->H_line_G, s->now.line_G, (size_t)s->line_stride * sizeof *s->H_line_G);
}

/// values = A + terms, n x m at distance `stride`; on the diagonal up to it.
STN_KERNEL_INLINE void sum_terms(const sap_hessian *H, const sap_entry *entry, int32_t n, int32_t m, int32_t ld) {
    for (int32_t i = 0; i < n; i++) {
        double *out = entry->values + (int64_t)i * entry->stride;
        const double *A = entry->A == NULL ? NULL : entry->A + (int64_t)i * entry->A_ld;
        int32_t end = entry->row == entry->column ? i + 1 : m, j = 0;
        for (; j + 4 <= end; j += 4) {
            sap_v4 sum = A == NULL ? (sap_v4){0.0} : (sap_v4) * (const sap_v4u *)(A + j);
            for (int32_t t = 0; t < entry->term_count; t++) {
                sum += (sap_v4) *
                       (const sap_v4u *)(H->product + H->terms[entry->term_start + t].product + (int64_t)i * ld + j);
            }
            *(sap_v4u *)(out + j) = sum;
        }
        for (; j < end; j++) {
            double sum = A == NULL ? 0.0 : A[j];
            for (int32_t t = 0; t < entry->term_count; t++) {
                sum += H->product[H->terms[entry->term_start + t].product + (int64_t)i * ld + j];
            }
            out[j] = sum;
        }
    }
}

/// The same for 6 x 6, with all sums in registers.
STN_KERNEL_INLINE void sum_terms_6(const sap_hessian *H, const sap_entry *entry) {
    sap_v4 low[6];
    sap_v2u high[6];
    SAP_UNROLL
    for (int32_t i = 0; i < 6; i++) {
        low[i] = entry->A == NULL ? (sap_v4){0.0} : sap_load(entry->A + 8 * i);
        high[i] = entry->A == NULL ? (sap_v2u){0.0} : *(const sap_v2u *)(entry->A + 8 * i + 4);
    }
    for (int32_t t = 0; t < entry->term_count; t++) {
        const double *term = H->product + H->terms[entry->term_start + t].product;
        SAP_UNROLL
        for (int32_t i = 0; i < 6; i++) {
            low[i] += sap_load(term + 8 * i);
            high[i] += *(const sap_v2u *)(term + 8 * i + 4);
        }
    }
    SAP_UNROLL
    for (int32_t i = 0; i < 6; i++) {
        *(sap_v4u *)(entry->values + (int64_t)i * entry->stride) = low[i];
        *(sap_v2u *)(entry->values + (int64_t)i * entry->stride + 4) = high[i];
    }
}

STN_KERNEL_INLINE void mirror(const sap_entry *entry, int32_t n) {
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = i + 1; j < n; j++) {
            entry->values[i * entry->stride + j] = entry->values[j * entry->stride + i];
        }
    }
}

STN_KERNEL static void write_entry(const sap_system *s, const sap_entry *entry) {
    int32_t n = s->blocks[entry->row].n, m = s->blocks[entry->column].n;
    if (n == 6 && m == 6) {
        sum_terms_6(&s->H, entry);
        return;
    }
    sum_terms(&s->H, entry, n, m, s->blocks[entry->column].ld);
    if (entry->row == entry->column && !s->H.dense) { // our dense factor reads the lower triangle alone
        mirror(entry, n);
    }
}

void sap_hessian_assemble(sap_system *s) {
    sap_hessian *H = &s->H;
    find_changes(s);
    for (int32_t k = 0; k < s->cluster_count; k++) {
        if (s->clusters[k].changed) {
            form_products(s, &s->clusters[k]);
        }
    }
    for (int32_t e = 0; e < H->entry_count; e++) {
        const sap_entry *entry = &H->entries[e];
        bool changed = H->fresh;
        for (int32_t t = 0; t < entry->term_count && !changed; t++) {
            changed = s->clusters[H->terms[entry->term_start + t].cluster].changed;
        }
        if (changed) {
            write_entry(s, entry);
        }
    }
    H->fresh = false;
}
