// SPDX-License-Identifier: Apache-2.0
#include "hinge.h"

bool hinge_of(stn_vec3 a, stn_vec3 b, stn_vec3 c, stn_vec3 d, double area, hinge *h) {
    stn_vec3 edge = stn_vec3_sub(b, a), ac = stn_vec3_sub(c, a), ad = stn_vec3_sub(d, a);
    stn_vec3 N = stn_vec3_cross(edge, ac), O = stn_vec3_cross(ad, edge);
    double NN = stn_vec3_dot(N, N), OO = stn_vec3_dot(O, O), ee = stn_vec3_dot(edge, edge), length = sqrt(ee);
    if (!(fmin(NN, OO) > 4.0 * area * area)) {
        return false;
    }
    h->angle = atan2(stn_vec3_dot(stn_vec3_cross(N, O), edge) / length, stn_vec3_dot(N, O));
    // the normals' part of a is what the projections of c and d onto the edge leave of b's
    double c_share = stn_vec3_dot(ac, edge) / ee, d_share = stn_vec3_dot(ad, edge) / ee;
    stn_vec3 along_c = stn_vec3_scale(-length / NN, N), along_d = stn_vec3_scale(-length / OO, O);
    stn_vec3 of_a = stn_vec3_scale(c_share - 1.0, along_c);
    h->gradient[0] = stn_vec3_mul_add(of_a, d_share - 1.0, along_d);
    h->gradient[1] = stn_vec3_mul_add(stn_vec3_scale(-c_share, along_c), -d_share, along_d);
    h->gradient[2] = along_c;
    h->gradient[3] = along_d;
    return true;
}

void hinge_stiffness(const stn_vec3 *corner, double stiffness, double poisson, const bool *alone, double (*B)[3]) {
    stn_vec3 edge[3];
    double length[3], K[3][3];
    for (int32_t i = 0; i < 3; i++) {
        edge[i] = stn_vec3_sub(corner[(i + 2) % 3], corner[(i + 1) % 3]);
        length[i] = stn_vec3_norm(edge[i]);
    }
    double area = 0.5 * stn_vec3_norm(stn_vec3_cross(edge[0], edge[1]));
    for (int32_t i = 0; i < 9; i++) {
        int32_t r = i / 3, c = i % 3;
        double ll = length[r] * length[c], cosine = stn_vec3_dot(edge[r], edge[c]) / ll;
        K[r][c] = stiffness * ll / (4.0 * area) * ((1.0 - poisson) * cosine * cosine + poisson);
    }
    for (int32_t k = 0; k < 3; k++) {
        if (!alone[k]) {
            continue;
        }
        double row[3] = {K[k][0], K[k][1], K[k][2]};
        for (int32_t i = 0; i < 9; i++) {
            int32_t r = i / 3, c = i % 3;
            bool gone = r == k || c == k;
            K[r][c] = gone ? 0.0 : K[r][c] - (row[k] > 0.0 ? row[r] * row[c] / row[k] : 0.0);
        }
    }
    for (int32_t c = 0; c < 3; c++) { // K = B B^T, column by column
        for (int32_t r = 0; r < 3; r++) {
            double left = K[r][c];
            for (int32_t k = 0; k < c; k++) {
                left -= B[r][k] * B[c][k];
            }
            B[r][c] = r == c ? sqrt(fmax(left, 0.0)) : r > c && B[c][c] > 0.0 ? left / B[c][c] : 0.0;
        }
    }
}
