// SPDX-License-Identifier: Apache-2.0
// Two capsules: the nearest points of their segments p_A(s) = c_A + s u_A, p_B(t) = c_B + t u_B. Nearly parallel ones
// also touch at both ends of the stretch that they share, each end with its own normal.
#include "pair.h"

typedef struct segments {
    stn_vec3 c_a, u_a, c_b, u_b;
    double l_a, l_b;
} segments;

/// Minimum of |p_B(t) - p_A(s)|: the lines' nearest points, then clamped in turn [ericson-2005, 5.1.9].
static void nearest(const segments *g, double *s, double *t) {
    stn_vec3 d = stn_vec3_sub(g->c_b, g->c_a), across = stn_vec3_cross(g->u_a, g->u_b);
    double b = stn_vec3_dot(g->u_a, g->u_b), along_a = stn_vec3_dot(g->u_a, d), along_b = stn_vec3_dot(g->u_b, d);
    double sine2 = stn_vec3_dot(across, across);
    *s = sine2 > 0.0 ? clamp((along_a - b * along_b) / sine2, -g->l_a, g->l_a) : clamp(along_a, -g->l_a, g->l_a);
    *t = b * *s - along_b;
    if (fabs(*t) > g->l_b) {
        *t = clamp(*t, -g->l_b, g->l_b);
        *s = clamp(along_a + b * *t, -g->l_a, g->l_a);
    }
}

/// From the axis to the surface along n: beside the axis, but round the end where n looks beyond it.
static stn_vec3 surface_offset(stn_vec3 n, stn_vec3 axis, double at, double half_length, double radius) {
    double along = stn_vec3_dot(n, axis);
    bool beyond = (at >= half_length && along > 0.0) || (at <= -half_length && along < 0.0);
    stn_vec3 across = stn_vec3_mul_add(n, -along, axis);
    return stn_vec3_scale(radius, beyond ? n : stn_vec3_normalize_or(across, n));
}

void capsule_capsule(posed a, posed b, double margin, manifold *out) {
    segments g = {a.pose->position,     stn_mat3_column(&a.pose->rotation, 2),
                  b.pose->position,     stn_mat3_column(&b.pose->rotation, 2),
                  a.shape->half_length, b.shape->half_length};
    stn_vec3 d = stn_vec3_sub(g.c_b, g.c_a);
    double radii = a.shape->radius + b.shape->radius, reach = g.l_a + g.l_b + radii + margin;
    if (stn_vec3_dot(d, d) > reach * reach) {
        return;
    }
    double s = 0.0, t = 0.0;
    nearest(&g, &s, &t);
    stn_vec3 apart = stn_vec3_sub(stn_vec3_mul_add(g.c_b, t, g.u_b), stn_vec3_mul_add(g.c_a, s, g.u_a));
    double distance = stn_vec3_norm(apart), phi = distance - radii;
    if (phi > margin) {
        return;
    }
    double tiny = 1e-10 * pair_size(a.shape, b.shape);
    stn_vec3 n, across = stn_vec3_cross(g.u_a, g.u_b);
    if (!(distance <= 1e-11 * pair_size(a.shape, b.shape))) {
        n = stn_vec3_scale(1.0 / distance, apart);
    } else if (stn_vec3_dot(across, across) < 1e-20) { // where they meet, any normal across both is as good
        stn_mat3 frame = stn_contact_frame(g.u_a);
        n = stn_mat3_column(&frame, 0);
    } else {
        n = stn_vec3_normalize_or(across, across);
        n = stn_vec3_dot(n, apart) < 0.0 ? stn_vec3_neg(n) : n;
    }
    // the stretch of A's axis that lies beside B has one contact at either end (features: which half on A, which on B);
    // where an end is as deep, the point between adds nothing
    double cosine = stn_vec3_dot(g.u_a, g.u_b), along = stn_vec3_dot(g.u_a, d), half = fabs(cosine) * g.l_b;
    double low = fmax(-g.l_a, along - half), high = fmin(g.l_a, along + half);
    bool shared = !(fabs(cosine) < 0.999) && high - low > 1e-6 * fmin(g.l_a, g.l_b);
    for (uint32_t i = shared ? 0 : 2; i < 3 && (i < 2 || !(manifold_depth(out) <= phi + tiny)); i++) {
        uint32_t feature_a = 0, feature_b = 0;
        double on_a = s, on_b = t;
        if (i < 2) {
            on_a = i == 0 ? low : high;
            stn_vec3 p = stn_vec3_mul_add(g.c_a, on_a, g.u_a);
            on_b = clamp(stn_vec3_dot(g.u_b, stn_vec3_sub(p, g.c_b)), -g.l_b, g.l_b);
            feature_a = 1 + i;
            feature_b = cosine > 0.0 ? 1 + i : 2 - i;
        }
        stn_vec3 p_a =
            stn_vec3_add(stn_vec3_mul_add(g.c_a, on_a, g.u_a), surface_offset(n, g.u_a, on_a, g.l_a, a.shape->radius));
        stn_vec3 p_b = stn_vec3_add(stn_vec3_mul_add(g.c_b, on_b, g.u_b),
                                    surface_offset(stn_vec3_neg(n), g.u_b, on_b, g.l_b, b.shape->radius));
        if (!(stn_vec3_dot(n, stn_vec3_sub(p_b, p_a)) > margin)) {
            manifold_add_both(out, p_a, p_b, n, feature_a, feature_b);
        }
    }
}
