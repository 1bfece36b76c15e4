// SPDX-License-Identifier: Apache-2.0
// What must hold for every pair of shapes, wherever they are: exchanged they feel the same to the last bit, moved
// together the same but for rounding, and the force is the gradient of the stored energy.
#include "patch_cast.h"
#include "stn_random_pose.h"

static const double rigid = (double)INFINITY;

/// Force over which rounding is judged: all faces' own [N].
static double all_forces(const stn_contact_set *set) {
    double sum = 0.0;
    for (int32_t i = 0; i < set->count; i++) {
        const stn_contact *c = &set->contacts[i];
        assert_true(isfinite(c->phi0) && isfinite(c->material.stiffness) && isfinite(c->area) && c->area >= 0.0);
        assert_true(isfinite(stn_vec3_norm(c->normal)) && isfinite(stn_vec3_norm(c->point)));
        sum += c->phi0 < 0.0 ? -c->phi0 * c->material.stiffness : 0.0;
    }
    return sum;
}

static bool opposite(stn_vec3 a, stn_vec3 b) {
    return a.x == -b.x && a.y == -b.y && a.z == -b.z;
}

static void set_motion(patch_probe *p, stn_vec3 linear, stn_vec3 angular, double dt) {
    p->velocity = (stn_spatial){angular, linear};
    p->dt = dt;
}

/// `step`: B's motion against A within a step of 10 ms, in the world, first linear, then angular. Returns whether they
/// touch.
static bool check_pair(patch_probe *p, patch_probe *exchanged, stn_pose a, stn_pose b, const stn_pose *moved,
                       const stn_vec3 step[2], double size) {
    set_motion(p, step[0], step[1], 0.01);
    set_motion(exchanged, stn_vec3_neg(step[0]), stn_vec3_neg(step[1]), 0.01);
    const stn_contact_set *set = patch_collide(p, &a, &b, 0.0);
    patch_sum here = patch_sum_of(set);
    double all = all_forces(set);
    bool touches = all > 0.0;
    patch_sum back = patch_sum_of(patch_collide(exchanged, &b, &a, 0.0));
    assert_int_equal(exchanged->set.count, p->set.count);
    assert_true(opposite(here.force, back.force) && opposite(here.torque, back.torque));

    set_motion(p, stn_mat3_apply(&moved->rotation, step[0]), stn_mat3_apply(&moved->rotation, step[1]), 0.01);
    stn_pose ma = stn_pose_mul(moved, &a), mb = stn_pose_mul(moved, &b);
    patch_sum there = patch_sum_of(patch_collide(p, &ma, &mb, 0.0));
    stn_vec3 force = stn_mat3_apply(&moved->rotation, here.force);
    stn_vec3 torque = stn_mat3_apply(&moved->rotation, here.torque);
    torque = stn_vec3_add(torque, stn_vec3_cross(moved->position, force));
    double turned = stn_vec3_norm(stn_vec3_sub(torque, there.torque));
    double ea = p->geometries[0].material.modulus, eb = p->geometries[1].material.modulus;
    double tolerance = 1e-10 + (isfinite(ea + eb) ? 1e-14 * fmax(ea / eb, eb / ea) : 0.0); // p_M - p_N cancels
    all = fmax(all, 1e-12 * fmin(ea, eb) * size * size); // what parts within the step has rounding left
    assert_near(stn_vec3_norm(stn_vec3_sub(force, there.force)), 0.0, tolerance * all);
    assert_near(turned, 0.0, tolerance * all * (size + stn_vec3_norm(moved->position)));
    return touches;
}

static stn_pose pose_beside(stn_random *r, int32_t a, double scale) {
    stn_pose b = random_pose(r, 0.0);
    b.position = a == A_HALF_SPACE ? stn_vec3_make(0.0, 0.0, random_between(r, -0.02, 0.05) * scale)
                                   : stn_vec3_scale(random_between(r, 0.02, 0.1) * scale, random_unit(r));
    return b;
}

/// Pairs of all kinds, soft on soft, soft on rigid and rigid on soft; returns how many touch.
static int32_t check_all_kinds(stn_random *r, double scale, double low, double high, int32_t poses) {
    patch_cast cast;
    cast_open(&cast, scale);
    int32_t touching = 0;
    for (int32_t a = 0; a <= PATCH_KINDS; a++) {
        for (int32_t b = 0; b < PATCH_KINDS; b++) {
            int32_t soft = random_below(r, 3);
            stn_geometry of_a = cast_of(&cast, a, soft == 0 ? rigid : random_size(r, low, high));
            stn_geometry of_b = cast_of(&cast, b, soft == 1 ? rigid : random_size(r, low, high));
            patch_probe p, exchanged;
            cast_probe_open(&cast, &p, of_a, of_b, NULL);
            cast_probe_open(&cast, &exchanged, of_b, of_a, NULL);
            for (int32_t k = 0; k < poses; k++) {
                stn_pose moved = random_pose(r, scale), at = random_pose(r, 0.1 * scale);
                stn_pose beside = pose_beside(r, a, scale);
                double speed = k % 2 == 0 ? 0.0 : 1.0; // [1/s]
                const stn_vec3 step[2] = {stn_vec3_scale(0.5 * speed * scale, random_unit(r)),
                                          stn_vec3_scale(3.0 * speed, random_unit(r))};
                touching += check_pair(&p, &exchanged, at, stn_pose_mul(&at, &beside), &moved, step, scale);
            }
            patch_probe_close(&p);
            patch_probe_close(&exchanged);
        }
    }
    cast_close(&cast);
    return touching;
}

static void exchanged_and_moved_they_feel_the_same(void **state) {
    (void)state;
    stn_random r = {11};
    int32_t touching = check_all_kinds(&r, 1.0, 1e5, 1e7, 12);
    print_message("%d pairs touch\n", touching);
    assert_true(touching > 500);
}

static void so_do_tiny_and_huge_and_stiff_ones(void **state) {
    (void)state;
    stn_random r = {12};
    assert_true(check_all_kinds(&r, 1e-2, 1e3, 1e11, 4) > 100);
    assert_true(check_all_kinds(&r, 1e3, 1e3, 1e11, 4) > 100);
}

// ----------------------------------------------------------------------------------------------------------- gradient

typedef struct soft_point {
    double pressure;
    stn_vec3 gradient;
} soft_point;

/// The field of A_SOLID, from the numbers that it was made of: 1 at its last vertex, 0 on its faces; q in its frame.
static soft_point solid_field_at(stn_vec3 q, double modulus) {
    const double *d = dent_vertices;
    stn_vec3 core = {d[27], d[28], d[29]};
    for (int32_t i = 0; i < DENT_FACES; i++) {
        stn_vec3 edge[3];
        for (int32_t k = 0; k < 3; k++) {
            const double *v = &d[3 * dent_faces[3 * i + k]];
            edge[k] = stn_vec3_sub(stn_vec3_make(v[0], v[1], v[2]), core);
        }
        stn_vec3 x = stn_vec3_sub(q, core), bc = stn_vec3_cross(edge[1], edge[2]),
                 ca = stn_vec3_cross(edge[2], edge[0]), ab = stn_vec3_cross(edge[0], edge[1]);
        double det = stn_vec3_dot(edge[0], bc), s = stn_vec3_dot(x, bc) / det, t = stn_vec3_dot(x, ca) / det,
               u = stn_vec3_dot(x, ab) / det;
        if (s >= 0.0 && t >= 0.0 && u >= 0.0 && s + t + u < 1.0) {
            stn_vec3 sum = stn_vec3_add(stn_vec3_add(bc, ca), ab);
            return (soft_point){modulus * (1.0 - s - t - u), stn_vec3_scale(-modulus / det, sum)};
        }
    }
    return (soft_point){0};
}

/// With U the integral of min(p_A, p_B) over the overlap, -dU/dx of B is the integral of grad p_B where p_B < p_A;
/// about the origin likewise. By points of an even lattice in a box around B; A rigid: its pressure is above all
/// inside.
static void push_of_fields(const stn_geometry *a, const stn_geometry *b, const stn_pose *pose, stn_vec3 *force,
                           stn_vec3 *torque) {
    enum { POINTS = 200000 };
    const double side = 0.1, volume = side * side * side / POINTS;
    *force = *torque = stn_vec3_make(0.0, 0.0, 0.0);
    for (int32_t i = 0; i < POINTS; i++) { // powers of the root of x^4 = x + 1
        stn_vec3 q = {side * (fmod(0.5 + 0.8191725133961645 * i, 1.0) - 0.5),
                      side * (fmod(0.5 + 0.6710436067037893 * i, 1.0) - 0.5),
                      side * (fmod(0.5 + 0.5497004779019703 * i, 1.0) - 0.5)};
        stn_vec3 x = stn_pose_apply(pose, q);
        double above = isfinite(a->material.modulus) ? solid_field_at(x, a->material.modulus).pressure
                                                     : (x.z < 0.0 ? (double)INFINITY : 0.0);
        if (above <= 0.0) {
            continue;
        }
        soft_point at = solid_field_at(q, b->material.modulus);
        if (at.pressure > 0.0 && at.pressure < above) {
            stn_vec3 f = stn_vec3_scale(volume, stn_mat3_apply(&pose->rotation, at.gradient));
            *force = stn_vec3_add(*force, f);
            *torque = stn_vec3_add(*torque, stn_vec3_cross(x, f));
        }
    }
}

/// `a`: soft and not convex, or a rigid half space. Where a face's normal is more than 120 degrees from a gradient the
/// patch falls behind the potential (README), which the shallow places here do not have.
static void check_gradient(stn_random *r, int32_t a, double modulus_a, double near) {
    patch_cast cast;
    cast_open(&cast, 1.0);
    stn_geometry of_a = cast_of(&cast, a, modulus_a), of_b = cast_of(&cast, A_SOLID, 1e6);
    patch_probe p;
    cast_probe_open(&cast, &p, of_a, of_b, NULL);
    double worst = 0.0;
    for (int32_t k = 0; k < 6; k++) {
        stn_pose b = random_pose(r, 0.0);
        b.position = a == A_HALF_SPACE ? stn_vec3_make(0.0, 0.0, random_between(r, 0.02, 0.035))
                                       : stn_vec3_scale(random_between(r, near, near + 0.015), random_unit(r));
        stn_vec3 force, torque;
        push_of_fields(&of_a, &of_b, &b, &force, &torque);
        patch_sum s = patch_between(&p, b);
        double size = stn_vec3_norm(force), off = stn_vec3_norm(stn_vec3_sub(s.force, force)) / size;
        double turned = stn_vec3_norm(stn_vec3_sub(s.torque, torque)) / (0.05 * size);
        worst = worse(worst, fmax(off, turned));
        print_message("%g N: force off by %.1e, torque by %.1e\n", size, off, turned);
    }
    assert_true(worst < 0.01);
    patch_probe_close(&p);
    cast_close(&cast);
}

static void the_force_is_the_gradient_of_the_stored_energy(void **state) {
    (void)state;
    stn_random r = {13};
    check_gradient(&r, A_HALF_SPACE, rigid, 0.0);
    check_gradient(&r, A_SOLID, 1e6, 0.06);
    check_gradient(&r, A_SOLID, 4e6, 0.075);
}

/// Equal bodies at one pose, with common vertices and sides, and with sides that are nearly parallel.
static void equal_bodies_in_degenerate_places_are_finite(void **state) {
    (void)state;
    static const double tilts[] = {0.0, 1e-16, 1e-13, 1e-10, 1e-7}, shifts[] = {0.0, 1e-14, 0.03, 0.06, 0.1};
    patch_cast cast;
    cast_open(&cast, 1.0);
    for (int32_t kind = 0; kind < 2 * PATCH_KINDS; kind++) { // soft on soft, soft on rigid
        patch_probe p;
        stn_geometry b = cast_of(&cast, kind / 2, kind % 2 == 0 ? 1e6 : (double)INFINITY);
        cast_probe_open(&cast, &p, cast_of(&cast, kind / 2, 1e6), b, NULL);
        for (int32_t i = 0; i < 3 * STN_COUNT(tilts) * STN_COUNT(shifts); i++) {
            double by = shifts[i / 3 % STN_COUNT(shifts)], tilt = tilts[i / 3 / STN_COUNT(shifts)];
            stn_pose pose = patch_at(i % 3 == 0 ? by : 0.0, i % 3 == 1 ? by : 0.0, i % 3 == 2 ? by : 0.0);
            pose.rotation = stn_mat3_from_rpy(tilt, -tilt, tilt);
            patch_sum sum = patch_between(&p, pose);
            assert_true(isfinite(stn_vec3_norm(sum.force)) && isfinite(stn_vec3_norm(sum.torque)));
            assert_true(isfinite(sum.area) && isfinite(sum.stiffness));
        }
        patch_probe_close(&p);
    }
    cast_close(&cast);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_bodies_in_degenerate_places_are_finite),
        cmocka_unit_test(exchanged_and_moved_they_feel_the_same),
        cmocka_unit_test(so_do_tiny_and_huge_and_stiff_ones),
        cmocka_unit_test(the_force_is_the_gradient_of_the_stored_energy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
