// SPDX-License-Identifier: Apache-2.0
// Every compilation of the loops over bodies that this processor can run gives the same mechanics; the other tests see
// only the one that is chosen.
#include "random_tree.h"

#include "dynamics/tree_kernels.h"

#define TABLE(suffix)                                                                                            \
    {                                                                                                            \
        kinematics_##suffix, inverse_dynamics_##suffix, inverse_dynamics_polar_##suffix, twice_kinetic_##suffix, \
            mass_matrix_##suffix, mass_diagonal_##suffix                                                         \
    }

static const dynamics_kernels plain = TABLE(plain);
#ifdef STN_KERNELS_X86
static const dynamics_kernels avx2 = TABLE(avx2);
#endif

/// All that the kernels give at (q, v), in one array.
static size_t results(stn_kinematics *k, const dynamics_kernels *kernels, const random_tree *tree, double *out) {
    const stn_model *model = k->model;
    stn_spatial scratch[3 * (MOST_LINKS + 2)];
    double *start = out;
    ((kinematics_object *)(void *)k)->kernels = kernels;
    stn_kinematics_update(k, tree->q, tree->v);
    for (int32_t i = 0; i < model->body_count; i++) {
        memcpy(out, &k->body_pose[i], sizeof(stn_pose));
        memcpy(out + 12, &k->body_velocity[i], sizeof(stn_spatial));
        memcpy(out + 18, &k->bias[i], sizeof(stn_spatial));
        out += 24;
    }
    memcpy(out, k->motion, (size_t)model->nv * sizeof(stn_spatial));
    out += 6 * model->nv;
    for (int32_t t = 0; t < model->tree_count; t++) {
        const stn_tree *part = &model->trees[t];
        stn_matrix M = {.n = part->nv, .form = STN_MATRIX_DENSE, .values = out};
        stn_mass_matrix(k, t, &M);
        if (part->kind == STN_TREE_ARTICULATED && part->body_count > 1) {
            double diagonal[MOST_DOFS];
            kernels->mass_diagonal(kinematics_object_of(k), t, diagonal);
            for (int32_t d = 0; d < part->nv; d++) {
                const double entry = out[d * (part->nv + 1)];
                assert_near(diagonal[d], entry, 1e-13 * entry);
            }
        }
        out += part->nv * part->nv;
        stn_inverse_dynamics(k, t, stn_vec3_make(0.0, 0.0, -9.81), tree->a + part->v_start, scratch, out);
        out += part->nv;
        stn_inverse_dynamics_polar(k, t, stn_vec3_make(0.0, 0.0, -9.81), tree->a + part->v_start, NULL, scratch, out);
        out += part->nv;
    }
    *out++ = stn_kinetic_energy(k);
    return (size_t)(out - start);
}

static void compilations_agree_to_round_off(void **state) {
    (void)state;
    static double a[24 * (MOST_LINKS + 1) + (8 + MOST_DOFS) * MOST_DOFS + 1], b[STN_COUNT(a)];
    static random_tree tree;
    const dynamics_kernels *other = &plain;
#ifdef STN_KERNELS_X86
    other = kernels_have_avx2() ? &avx2 : other;
#endif
    double worst = 0.0;
    for (int32_t seed = 1; seed <= 40; seed++) {
        stn_kinematics *k = NULL;
        stn_error err;
        random_tree_init(&tree, (uint64_t)seed, 1 + seed % 30);
        assert_ok(stn_kinematics_create(tree.model, &k, &err), err);
        size_t count = results(k, &plain, &tree, a);
        assert_int_equal(results(k, other, &tree, b), count);
        double scale = 1.0;
        for (size_t i = 0; i < count; i++) {
            scale = fmax(scale, fabs(a[i]));
        }
        for (size_t i = 0; i < count; i++) {
            double error = fabs(a[i] - b[i]) / scale;
            worst = worse(worst, error);
        }
        stn_kinematics_destroy(k);
        random_tree_clear(&tree);
    }
    print_message("  %.2g relative\n", worst);
    assert_near(worst, 0.0, 1e-13);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(compilations_agree_to_round_off)};
    return cmocka_run_group_tests_name("kernels of dynamics", tests, NULL, NULL);
}
