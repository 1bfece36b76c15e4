// SPDX-License-Identifier: Apache-2.0
// The principal frame that solids and shells share: the decomposition of F, stresses against differences of the energy,
// and the projected Hessian against an eigenvalue decomposition of the one by differences.
#include "stn_test.h"

#include <stiction/math.h>

#include "common/stretch.h"
#include "stn_random.h"

static const double mu = 3.0e4, lambda = 7.0e4;

// One element through the lanes of four: it goes into each lane in turn, beside others that are inverted, flat and NaN,
// and must get the same bytes everywhere.

typedef struct one_stretch {
    stn_mat3 U, V;
    double sigma[3];
} one_stretch;

typedef struct one_material {
    double energy, stress[3], scale[3][3], twist[3], flip[3];
} one_material;

static void set_lane(wide F[3][3], int32_t lane, const stn_mat3 *value) {
    for (int32_t i = 0; i < 9; i++) {
        F[i / 3][i % 3][lane] = value->m[i / 3][i % 3];
    }
}

static one_stretch stretch_of(const stn_mat3 *F) {
    stn_mat3 other[3] = {stn_mat3_diagonal(-1.0, 2.0, 0.3), stn_mat3_diagonal(1.0, 0.0, 0.0), stn_mat3_identity()};
    other[0].m[0][2] = 0.7;
    other[2].m[1][1] = (double)NAN;
    one_stretch first = {0};
    for (int32_t lane = 0; lane < WIDE; lane++) {
        wide lanes[3][3];
        stretch s;
        one_stretch one;
        for (int32_t i = 0; i < WIDE; i++) {
            set_lane(lanes, i, i == lane ? F : &other[(i + 4 - lane) % 4 - 1]);
        }
        stretch_find((const wide(*)[3])lanes, &s);
        for (int32_t i = 0; i < 3; i++) {
            one.sigma[i] = s.sigma[i][lane];
            for (int32_t k = 0; k < 3; k++) {
                one.U.m[k][i] = s.u[i][k][lane];
                one.V.m[k][i] = s.v[i][k][lane];
            }
        }
        if (lane == 0) {
            first = one;
        }
        assert_memory_equal(&first, &one, sizeof one);
    }
    return first;
}

static stretch widened(const one_stretch *one) {
    stretch s;
    for (int32_t i = 0; i < 3; i++) {
        wide_fill(&s.sigma[i], one->sigma[i]);
        for (int32_t k = 0; k < 3; k++) {
            wide_fill(&s.u[i][k], one->U.m[k][i]);
            wide_fill(&s.v[i][k], one->V.m[k][i]);
        }
    }
    return s;
}

static stn_mat3 stretch_rotation(const one_stretch *s) {
    stn_mat3 transposed = stn_mat3_transpose(&s->V);
    return stn_mat3_mul(&s->U, &transposed);
}

static stn_mat3 scaled(const one_stretch *s, const double diagonal[3]) {
    stretch lanes = widened(s);
    material m;
    wide P[3][3];
    stn_mat3 one;
    for (int32_t i = 0; i < 3; i++) {
        wide_fill(&m.stress[i], diagonal[i]);
    }
    material_stress(&lanes, &m, P);
    for (int32_t i = 0; i < 9; i++) {
        one.m[i / 3][i % 3] = P[i / 3][i % 3][2];
    }
    return one;
}

/// The identity and `strain` times random numbers.
static stn_mat3 random_gradient(stn_random *r, double strain) {
    stn_mat3 F = stn_mat3_identity();
    for (int32_t i = 0; i < 9; i++) {
        F.m[i / 3][i % 3] += strain * random_real(r);
    }
    return F;
}

static stn_mat3 random_rotation(stn_random *r) {
    stn_quat q = {random_real(r), random_real(r), random_real(r), random_real(r)};
    q = stn_quat_normalize(q);
    return stn_quat_matrix(q);
}

static double largest(const stn_mat3 *a) {
    double most = 0.0;
    for (int32_t i = 0; i < 9; i++) {
        most = worse(most, fabs(a->m[i / 3][i % 3]));
    }
    return most;
}

static double determinant(const stn_mat3 *a) {
    stn_vec3 x = stn_mat3_column(a, 0), y = stn_mat3_column(a, 1), z = stn_mat3_column(a, 2);
    return stn_vec3_dot(stn_vec3_cross(x, y), z);
}

static void assert_rotation(const stn_mat3 *R) {
    stn_mat3 transposed = stn_mat3_transpose(R), one = stn_mat3_mul(R, &transposed);
    for (int32_t i = 0; i < 9; i++) {
        assert_near(one.m[i / 3][i % 3], i % 4 == 0 ? 1.0 : 0.0, 1e-14);
    }
    assert_near(determinant(R), 1.0, 1e-14);
}

static void assert_decomposed(const stn_mat3 *F) {
    one_stretch s = stretch_of(F);
    assert_rotation(&s.U);
    assert_rotation(&s.V);
    assert_true(s.sigma[0] >= s.sigma[1] * (1.0 - 1e-14) && s.sigma[1] >= fabs(s.sigma[2]) * (1.0 - 1e-14));
    stn_mat3 product = scaled(&s, s.sigma);
    for (int32_t i = 0; i < 9; i++) {
        assert_near(product.m[i / 3][i % 3], F->m[i / 3][i % 3], 4e-15 * largest(F));
    }
}

static void any_gradient_is_decomposed_into_rotations_and_stretches(void **state) {
    (void)state;
    stn_random r = {1};
    for (int32_t i = 0; i < 3000; i++) {
        stn_mat3 F = random_gradient(&r, 0.01 * (i % 300));
        double scale = i % 7 == 0 ? 1e-200 : i % 7 == 1 ? 1e200 : 1.0;
        for (int32_t k = 0; k < 9; k++) {
            F.m[k / 3][k % 3] *= scale;
            // every third flat, every ninth a line, every 27th a point
            F.m[k / 3][k % 3] *= (i % 3 == 0 && k % 3 == 1) || (i % 9 == 0 && k % 3 == 0) || i % 27 == 0 ? 0.0 : 1.0;
        }
        assert_decomposed(&F);
        stn_mat3 left = random_rotation(&r), turned = stn_mat3_mul(&left, &F);
        assert_decomposed(&turned);
    }
    stn_mat3 R = random_rotation(&r);
    one_stretch s = stretch_of(&R);
    stn_mat3 polar = stretch_rotation(&s);
    for (int32_t i = 0; i < 9; i++) {
        assert_near(polar.m[i / 3][i % 3], R.m[i / 3][i % 3], 4e-15);
    }
}

static void an_inverted_gradient_has_one_negative_stretch_the_smallest(void **state) {
    (void)state;
    stn_random r = {2};
    for (int32_t i = 0; i < 200; i++) {
        stn_mat3 F = random_gradient(&r, 0.2), mirror = stn_mat3_diagonal(-0.7, 1.0, 1.3);
        F = stn_mat3_mul(&F, &mirror);
        one_stretch s = stretch_of(&F);
        assert_true(s.sigma[2] < 0.0 && s.sigma[1] > 0.0);
        assert_near(s.sigma[0] * s.sigma[1] * s.sigma[2], determinant(&F), 1e-14);
    }
}

typedef void (*model)(const wide sigma[3], material *m);
static void linear(const wide sigma[3], material *m) {
    const wide a = {mu, mu, mu, mu}, b = {lambda, lambda, lambda, lambda};
    corotational(&a, &b, 3, sigma, m);
}
static void stable(const wide sigma[3], material *m) {
    const wide a = {mu, mu, mu, mu}, b = {lambda, lambda, lambda, lambda};
    neo_hookean(&a, &b, sigma, m);
}
static void stable_auxetic(const wide sigma[3], material *m) { // poisson -0.75
    const wide a = {mu, mu, mu, mu}, b = -0.6 * a;
    neo_hookean(&a, &b, sigma, m);
}
static void membrane(const wide sigma[3], material *m) {
    const wide a = {mu, mu, mu, mu}, b = 0.4 * a;
    corotational(&a, &b, 2, sigma, m);
}
static const model models[] = {linear, stable, stable_auxetic, membrane};

static one_material material_of(model m, const double sigma[3]) {
    wide lanes[3];
    material w;
    one_material one;
    for (int32_t i = 0; i < 3; i++) {
        lanes[i] = (wide){1.0, sigma[i], -0.5, sigma[i]};
    }
    m(lanes, &w);
    one.energy = w.energy[1];
    assert_true(w.energy[1] == w.energy[3]);
    for (int32_t i = 0; i < 3; i++) {
        one.stress[i] = w.stress[i][1];
        one.twist[i] = w.twist[i][1];
        one.flip[i] = w.flip[i][1];
        for (int32_t k = 0; k < 3; k++) {
            one.scale[i][k] = w.scale[i][k][1];
            assert_true(w.scale[i][k][1] == w.scale[i][k][3]);
        }
    }
    return one;
}

static one_material at(model m, const stn_mat3 *F) {
    one_stretch s = stretch_of(F);
    return material_of(m, s.sigma);
}

static stn_mat3 stress(model m, const stn_mat3 *F) {
    one_stretch s = stretch_of(F);
    one_material w = material_of(m, s.sigma);
    return scaled(&s, w.stress);
}

/// Stiffness of a simplex of `nodes` (3 or 4) and volume 1 with these gradients, in the last lane.
static void stiffness(model m, const stn_mat3 *F, int32_t nodes, const stn_vec3 *gradient, double *K) {
    one_stretch s = stretch_of(F);
    stretch lanes = widened(&s);
    material w;
    wide g[3][3], wide_K[144], volume = {7.0, 7.0, 7.0, 1.0};
    m(lanes.sigma, &w);
    for (int32_t i = 0; i < 3; i++) {
        wide_fill(&g[i][0], gradient[i].x);
        wide_fill(&g[i][1], gradient[i].y);
        wide_fill(&g[i][2], gradient[i].z);
    }
    material_stiffness(&lanes, &w, &volume, nodes, (const wide(*)[3])g, wide_K);
    for (int32_t i = 0; i < 9 * nodes * nodes; i++) {
        K[i] = wide_K[i][3];
    }
}

/// A gradient far from where the smallest two stretches are opposite, where energies that see an orientation have an
/// edge. Of a membrane: without its third column.
static stn_mat3 smooth_gradient(stn_random *r, model m, double strain) {
    for (;;) {
        stn_mat3 F = random_gradient(r, strain);
        for (int32_t i = 0; m == membrane && i < 3; i++) {
            F.m[i][2] = 0.0;
        }
        one_stretch s = stretch_of(&F);
        if (s.sigma[1] + s.sigma[2] > 0.05) {
            return F;
        }
    }
}

static void stresses_are_the_gradient_of_the_energy(void **state) {
    (void)state;
    stn_random r = {3};
    for (int32_t i = 0; i < 4000; i++) {
        model m = models[i % 4];
        stn_mat3 F = smooth_gradient(&r, m, i % 200 * 0.01), P = stress(m, &F);
        for (int32_t k = 0; k < 9; k++) {
            if (m == membrane && k % 3 == 2) {
                continue;
            }
            stn_mat3 high = F, low = F;
            const double h = 1e-5;
            high.m[k / 3][k % 3] += h;
            low.m[k / 3][k % 3] -= h;
            double slope = (at(m, &high).energy - at(m, &low).energy) / (2.0 * h);
            assert_near(P.m[k / 3][k % 3], slope, 1e-6 * mu + 1e-7 * largest(&P));
        }
    }
}

static void energies_and_stresses_vanish_at_rest_and_moduli_are_those_of_lame(void **state) {
    (void)state;
    const double rest[3] = {1.0, 1.0, 1.0};
    for (int32_t i = 0; i < 2; i++) {
        one_material w = material_of(models[i], rest);
        assert_near(w.energy, 0.0, 0.0);
        for (int32_t k = 0; k < 3; k++) {
            assert_near(w.stress[k], 0.0, 1e-11 * mu);
            assert_near(w.twist[k], 0.0, 1e-11 * mu); // rotation costs nothing
            assert_near(w.flip[k], 2.0 * mu, 1e-11 * mu);
            assert_near(w.scale[k][k], 2.0 * mu + lambda, 1e-11 * lambda);
            assert_near(w.scale[k][(k + 1) % 3], lambda, 1e-11 * lambda);
        }
    }
}

/// A = sum max(lambda, 0) v v^T over the eigenvalues of the symmetric (9 x 9) A, by cyclic Jacobi rotations.
static void project(double A[9][9]) {
    double V[9][9] = {{0.0}}, lambda_of[9];
    for (int32_t i = 0; i < 9; i++) {
        V[i][i] = 1.0;
    }
    for (int32_t turn = 0; turn < 20 * 81; turn++) {
        int32_t p = turn / 9 % 9, q = turn % 9;
        if (p >= q || A[p][q] == 0.0) {
            continue;
        }
        double theta = 0.5 * atan2(2.0 * A[p][q], A[q][q] - A[p][p]), c = cos(theta), s = sin(theta);
        for (int32_t i = 0; i < 9; i++) {
            double x = A[i][p], y = V[i][p];
            A[i][p] = c * x - s * A[i][q];
            A[i][q] = s * x + c * A[i][q];
            V[i][p] = c * y - s * V[i][q];
            V[i][q] = s * y + c * V[i][q];
        }
        for (int32_t i = 0; i < 9; i++) {
            double x = A[p][i];
            A[p][i] = c * x - s * A[q][i];
            A[q][i] = s * x + c * A[q][i];
        }
    }
    for (int32_t i = 0; i < 9; i++) {
        lambda_of[i] = fmax(A[i][i], 0.0);
    }
    for (int32_t i = 0; i < 81; i++) {
        double sum = 0.0;
        for (int32_t k = 0; k < 9; k++) {
            sum += lambda_of[k] * V[i / 9][k] * V[i % 9][k];
        }
        A[i / 9][i % 9] = sum;
    }
}

static void stiffness_is_the_projection_of_the_hessian(void **state) {
    (void)state;
    static const stn_vec3 unit[3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    stn_random r = {4};
    int32_t indefinite = 0;
    for (int32_t i = 0; i < 2000; i++) {
        model m = models[i % 4];
        int32_t nodes = m == membrane ? 3 : 4;
        stn_mat3 F = smooth_gradient(&r, m, 0.01 * (i % 100));
        double H[9][9] = {{0.0}}, K[144] = {0.0}, size = 0.0;
        const int32_t width = 3 * nodes;
        for (int32_t c = 0; c < 3 * (nodes - 1); c++) {
            stn_mat3 high = F, low = F;
            const double h = 1e-5;
            high.m[c % 3][c / 3] += h; // columns of F one after another: node, then axis
            low.m[c % 3][c / 3] -= h;
            stn_mat3 P = stress(m, &high), Q = stress(m, &low);
            for (int32_t k = 0; k < 3 * (nodes - 1); k++) {
                H[k][c] = (P.m[k % 3][k / 3] - Q.m[k % 3][k / 3]) / (2.0 * h);
            }
        }
        for (int32_t k = 0; k < 81; k++) {
            double mean = 0.5 * (H[k / 9][k % 9] + H[k % 9][k / 9]);
            H[k / 9][k % 9] = H[k % 9][k / 9] = mean;
            size = fmax(size, fabs(mean));
        }
        one_material w = at(m, &F);
        double most = w.scale[0][0] + w.scale[1][1] + w.scale[2][2];
        bool cut = w.twist[0] >= most || w.twist[1] >= most || w.twist[2] >= most;
        for (int32_t k = 0; k < 3; k++) { // a pole that is cut is no part of the claim
            cut = cut || (i % 4 == 0 && w.twist[k] == 2.0 * mu + 3.0 * lambda);
        }
        if (cut) {
            continue;
        }
        stiffness(m, &F, nodes, unit, K);
        double before[9][9];
        memcpy(before, H, sizeof before);
        project(H);
        for (int32_t k = 0; k < 81; k++) {
            int32_t row = k / 9, column = k % 9;
            if (row < 3 * (nodes - 1) && column < 3 * (nodes - 1)) {
                assert_near(K[(row + 3) * width + column + 3], H[row][column], 1e-5 * size + 1e-4 * mu);
                indefinite += row == 0 && column == 0 && fabs(before[0][0] - H[0][0]) > 1e-3 * size;
            }
        }
        // node 0 moves with the others: no force from a translation
        for (int32_t row = 0; row < 3 * nodes; row++) {
            for (int32_t axis = 0; axis < 3; axis++) {
                double sum = 0.0;
                for (int32_t n = 0; n < nodes; n++) {
                    sum += K[row * width + 3 * n + axis];
                    assert_true(K[row * width + 3 * n + axis] == K[(3 * n + axis) * width + row]);
                }
                assert_near(sum, 0.0, 1e-13 * size);
            }
        }
    }
    assert_true(indefinite > 100); // the projection had work to do
}

/// The rotation of F by the iteration F <- (F + F^-T)/2 of Higham: an independent one, for det F > 0.
static stn_mat3 polar_of(stn_mat3 F) {
    for (int32_t i = 0; i < 60; i++) {
        stn_vec3 x = stn_mat3_column(&F, 0), y = stn_mat3_column(&F, 1), z = stn_mat3_column(&F, 2);
        double det = determinant(&F);
        stn_mat3 cofactor = stn_mat3_columns(stn_vec3_cross(y, z), stn_vec3_cross(z, x), stn_vec3_cross(x, y));
        for (int32_t k = 0; k < 9; k++) {
            F.m[k / 3][k % 3] = 0.5 * (F.m[k / 3][k % 3] + cofactor.m[k / 3][k % 3] / det);
        }
    }
    return F;
}

static void corotational_stress_is_linear_elasticity_in_the_turned_frame(void **state) {
    (void)state;
    stn_random r = {5};
    for (int32_t i = 0; i < 500; i++) {
        stn_mat3 F = random_gradient(&r, 0.3);
        if (determinant(&F) < 0.05) {
            continue;
        }
        stn_mat3 R = polar_of(F), transposed = stn_mat3_transpose(&R), S = stn_mat3_mul(&transposed, &F);
        double trace = S.m[0][0] + S.m[1][1] + S.m[2][2] - 3.0;
        for (int32_t k = 0; k < 9; k++) {
            double one = k % 4 == 0 ? 1.0 : 0.0;
            S.m[k / 3][k % 3] = 2.0 * mu * (S.m[k / 3][k % 3] - one) + lambda * trace * one;
        }
        stn_mat3 expected = stn_mat3_mul(&R, &S), P = stress(linear, &F);
        for (int32_t k = 0; k < 9; k++) {
            assert_near(P.m[k / 3][k % 3], expected.m[k / 3][k % 3], 1e-11 * lambda);
        }
    }
}

/// Viscous force and damping of a tetrahedron of volume 1, in lane 1.
static void drag_of(const stn_mat3 *F, const stn_vec3 *gradient, const double *v, double *force, double *D) {
    wide lanes[3][3], g[3][3], wide_v[12], wide_force[12] = {{0.0}}, wide_D[144], volume, a, b;
    for (int32_t i = 0; i < 9; i++) {
        wide_fill(&lanes[i / 3][i % 3], F->m[i / 3][i % 3]);
    }
    for (int32_t i = 0; i < 3; i++) {
        wide_fill(&g[i][0], gradient[i].x);
        wide_fill(&g[i][1], gradient[i].y);
        wide_fill(&g[i][2], gradient[i].z);
    }
    for (int32_t i = 0; i < 12; i++) {
        wide_fill(&wide_v[i], v[i]);
    }
    wide_fill(&volume, 1.0);
    wide_fill(&a, mu);
    wide_fill(&b, lambda);
    material_drag((const wide(*)[3])lanes, &a, &b, &volume, 4, (const wide(*)[3])g, wide_v, wide_force);
    material_damping((const wide(*)[3])lanes, &a, &b, &volume, 4, (const wide(*)[3])g, wide_D);
    for (int32_t i = 0; i < 144; i++) {
        D[i] = wide_D[i][1];
        force[i % 12] = wide_force[i % 12][1];
    }
}

static void damping_resists_no_rigid_motion_and_is_that_of_the_stiffness_at_rest(void **state) {
    (void)state;
    static const stn_vec3 gradient[3] = {{1.0, 0.2, 0.0}, {-0.3, 2.0, 0.5}, {0.1, 0.0, 1.5}};
    stn_random r = {6};
    stn_mat3 one = stn_mat3_identity();
    double K[144], D[144], force[12] = {0.0}, v[12];
    for (int32_t i = 0; i < 12; i++) {
        v[i] = random_real(&r);
    }
    stiffness(linear, &one, 4, gradient, K);
    drag_of(&one, gradient, v, force, D);
    for (int32_t k = 0; k < 144; k++) {
        assert_near(D[k], K[k], 1e-10 * lambda);
    }
    for (int32_t i = 0; i < 200; i++) {
        stn_mat3 F = random_gradient(&r, 1.0); // inverted ones too
        // edges of the element: F times those at rest, so F G = edges with G the gradients' inverse; take omega x edge
        stn_mat3 G = stn_mat3_columns(gradient[0], gradient[1], gradient[2]);
        stn_vec3 x = stn_mat3_column(&G, 0), y = stn_mat3_column(&G, 1), z = stn_mat3_column(&G, 2);
        double det = determinant(&G);
        stn_mat3 dual = stn_mat3_columns(stn_vec3_cross(y, z), stn_vec3_cross(z, x), stn_vec3_cross(x, y));
        stn_vec3 omega = {random_real(&r), random_real(&r), random_real(&r)};
        double power = 0.0, rigid[12] = {0.3, -2.0, 0.7}, none[12] = {0.0}, drag[12] = {0.0};
        for (int32_t n = 0; n < 3; n++) {
            stn_vec3 edge = stn_vec3_scale(1.0 / det, stn_mat3_column(&dual, n));
            stn_vec3 speed = stn_vec3_cross(omega, stn_mat3_apply(&F, edge));
            rigid[3 * n + 3] = rigid[0] + speed.x;
            rigid[3 * n + 4] = rigid[1] + speed.y;
            rigid[3 * n + 5] = rigid[2] + speed.z;
        }
        drag_of(&F, gradient, rigid, none, D);
        drag_of(&F, gradient, v, drag, D);
        for (int32_t k = 0; k < 12; k++) {
            double product = 0.0;
            for (int32_t c = 0; c < 12; c++) {
                product += D[12 * k + c] * v[c];
                assert_true(D[12 * k + c] == D[12 * c + k]);
            }
            assert_near(none[k], 0.0, 1e-10 * lambda);
            assert_near(drag[k], -product, 1e-10 * lambda);
            power += drag[k] * v[k];
        }
        assert_true(power <= 0.0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_gradient_is_decomposed_into_rotations_and_stretches),
        cmocka_unit_test(an_inverted_gradient_has_one_negative_stretch_the_smallest),
        cmocka_unit_test(stresses_are_the_gradient_of_the_energy),
        cmocka_unit_test(energies_and_stresses_vanish_at_rest_and_moduli_are_those_of_lame),
        cmocka_unit_test(stiffness_is_the_projection_of_the_hessian),
        cmocka_unit_test(corotational_stress_is_linear_elasticity_in_the_turned_frame),
        cmocka_unit_test(damping_resists_no_rigid_motion_and_is_that_of_the_stiffness_at_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
