// SPDX-License-Identifier: Apache-2.0
// Patches against closed forms: forces of spheres and boxes on planes and on each other, how the error falls with the
// mesh, what exchanging or moving both does to them.
#include <stdlib.h>
#include <string.h>

#include <stiction/mesh.h>

#include "patch_probe.h"
#include "stn_random_pose.h"
#include "stn_random_shape.h"

static const double E = 1e6, R = 0.05;
static const double rigid = (double)INFINITY, none = (double)NAN;

/// On a plane p = E (1 - r/R), which integrates to this; d: depth [m].
static double sphere_on_plane(double d) {
    return STN_PI * E * d * d * (1.0 - 2.0 * d / (3.0 * R));
}

static double error_of_sphere(double edge, double d) {
    patch_probe p;
    patch_probe_open(&p, patch_geometry(stn_shape_half_space(), rigid, none),
                     patch_geometry(stn_shape_sphere(R), E, edge));
    patch_sum s = patch_between(&p, patch_at(0.0, 0.0, R - d));
    patch_probe_close(&p);
    assert_near(s.force.x, 0.0, 1e-9 * s.force.z + 1e-12);
    assert_near(s.force.y, 0.0, 1e-9 * s.force.z + 1e-12);
    return s.force.z / sphere_on_plane(d) - 1.0;
}

static void a_sphere_on_a_plane_converges_with_second_order(void **state) {
    (void)state;
    double coarse = error_of_sphere(0.008, 0.1 * R), fine = error_of_sphere(0.002, 0.1 * R);
    print_message("edge 8 mm: %.3e, 2 mm: %.3e\n", coarse, fine);
    assert_true(fabs(coarse) < 1e-4);
    assert_true(fabs(fine) < fabs(coarse) / 16.0); // second order; as a rule it falls faster
    assert_true(fabs(fine) < 1e-5);
}

/// What a box of half sizes (a, b, H) feels on a plane; e is the distance from the nearest side over H.
static double box_on_plane(double d) {
    double a = 0.1, b = 0.08, h = 0.03;
    return E / h * (4.0 * a * b * d - 2.0 * (a + b) * d * d + 4.0 / 3.0 * d * d * d);
}

static void a_box_on_a_plane_is_exact(void **state) {
    (void)state;
    patch_probe p;
    patch_probe_open(&p, patch_geometry(stn_shape_box(stn_vec3_make(0.1, 0.08, 0.03)), E, none),
                     patch_geometry(stn_shape_half_space(), rigid, none));
    for (double d = 1e-6; d < 0.02; d *= 3.0) {
        stn_pose a = patch_at(0.0, 0.0, 0.03 - d), b = patch_at(0.0, 0.0, 0.0);
        patch_sum s = patch_sum_of(patch_collide(&p, &a, &b, 0.0));
        assert_near(s.force.z, -box_on_plane(d), 1e-9 * box_on_plane(d));
        assert_near(s.stiffness * d, box_on_plane(d), 0.5 * box_on_plane(d) * d / 0.03); // sides stand steeply
        assert_near(s.torque.x, 0.0, 1e-9 * box_on_plane(d));
    }
    patch_probe_close(&p);
}

/// A rigid punch of 0.2 x 0.16 m in a layer of depth H: f = E A d / H, k = E A / H, energy f d / 2.
static void a_rigid_box_on_a_layer_is_exact(void **state) {
    (void)state;
    patch_probe p;
    stn_geometry layer = patch_geometry(stn_shape_half_space(), E, none);
    layer.field.thickness = 0.04;
    patch_probe_open(&p, layer, patch_geometry(stn_shape_box(stn_vec3_make(0.1, 0.08, 0.03)), rigid, none));
    for (double d = 1e-6; d < 0.02; d *= 3.0) {
        double k = E * 0.2 * 0.16 / 0.04;
        stn_pose at = patch_at(0.3, 0.0, 0.03 - d);
        patch_sum s = patch_between(&p, at);
        assert_near(s.force.z, k * d, 1e-9 * k * d);
        assert_near(s.force.x, 0.0, 1e-9 * k * d);
        assert_near(s.torque.y, -0.3 * k * d, 1e-9 * k * d);
    }
    patch_probe_close(&p);
}

/// Two springs in series: a bottom layer of the half space, and the box's field, which is linear in depth.
static void a_soft_box_on_a_soft_layer_is_two_springs(void **state) {
    (void)state;
    patch_probe p;
    stn_geometry layer = patch_geometry(stn_shape_half_space(), E, none);
    layer.field.thickness = 0.04;
    patch_probe_open(&p, layer, patch_geometry(stn_shape_box(stn_vec3_make(0.1, 0.08, 0.03)), 3.0 * E, none));
    double kappa = 1.0 / (0.04 / E + 0.03 / (3.0 * E)), d = 1e-5;
    patch_sum s = patch_between(&p, patch_at(0.0, 0.0, 0.03 - d));
    assert_near(s.force.z / (kappa * 0.2 * 0.16 * d), 1.0, 4.0 * d / 0.08); // but for the rim
    assert_near(s.stiffness / (kappa * 0.2 * 0.16), 1.0, 8.0 * d / 0.08);
    patch_probe_close(&p);
}

/// Equal balls meet in a plane half way: each as on a plane at d/2.
static void equal_spheres_meet_half_way(void **state) {
    (void)state;
    patch_probe p;
    patch_probe_open(&p, patch_geometry(stn_shape_sphere(R), E, 0.003), patch_geometry(stn_shape_sphere(R), E, 0.003));
    double d = 0.1 * R, expected = sphere_on_plane(0.5 * d);
    patch_sum s = patch_between(&p, patch_at(0.0, 0.0, 2.0 * R - d));
    print_message("%d faces, error %.2e\n", p.set.count, s.force.z / expected - 1.0);
    assert_near(s.force.z, expected, 0.02 * expected);
    patch_probe_close(&p);
}

static void a_rigid_box_in_a_soft_sphere_acts_as_a_plane(void **state) {
    (void)state;
    patch_probe p;
    patch_probe_open(&p, patch_geometry(stn_shape_box(stn_vec3_make(0.1, 0.1, 0.1)), rigid, none),
                     patch_geometry(stn_shape_sphere(R), E, 0.003));
    double d = 0.1 * R, expected = sphere_on_plane(d);
    patch_sum s = patch_between(&p, patch_at(0.01, 0.02, 0.1 + R - d));
    print_message("%d faces, error %.2e\n", p.set.count, s.force.z / expected - 1.0);
    assert_near(s.force.z, expected, 0.02 * expected);
    patch_probe_close(&p);
}

/// What is inside as a whole has a contact surface without rim; the small ball is pushed out of the middle. Below a
/// pressure that is too low none would be found.
static void a_ball_inside_of_another_is_pushed_out(void **state) {
    (void)state;
    patch_probe p;
    patch_probe_open(&p, patch_geometry(stn_shape_sphere(R), E, 0.01),
                     patch_geometry(stn_shape_sphere(0.1 * R), rigid, 0.002));
    patch_sum s = patch_between(&p, patch_at(0.3 * R, 0.0, 0.0));
    double volume = 4.0 / 3.0 * STN_PI * 0.001 * R * R * R; // p falls by E/R along x, all around: f = V E/R
    assert_true(s.force.x > 0.8 * volume * E / R);          // the far side counts less (README)
    patch_probe_close(&p);

    patch_probe_open(&p, patch_geometry(stn_shape_sphere(R), E, 0.01),
                     patch_geometry(stn_shape_sphere(0.3 * R), 4.0 * E, 0.005));
    s = patch_between(&p, patch_at(0.45 * R, 0.0, 0.0));
    assert_true(p.set.count > 0 && s.force.x > 0.0);
    patch_probe_close(&p);
}

/// Area of the polygon of a contact, and the longest distance between two of its corners.
static double polygon_of(const stn_contact_set *set, const stn_contact *c, double *diameter) {
    const stn_vec3 *x = set->vertices + c->vertex_start;
    stn_vec3 sum = stn_vec3_zero();
    for (int32_t i = 0; i < c->vertex_count; i++) {
        for (int32_t k = 0; k < i; k++) {
            *diameter = fmax(*diameter, stn_vec3_norm(stn_vec3_sub(x[i], x[k])));
        }
        stn_vec3 next = stn_vec3_sub(x[(i + 1) % c->vertex_count], x[0]);
        sum = stn_vec3_add(sum, stn_vec3_cross(stn_vec3_sub(x[i], x[0]), next));
    }
    return 0.5 * stn_vec3_norm(sum);
}

static double polygons_of(const patch_probe *p, double *diameter) {
    double area = 0.0;
    *diameter = 0.0;
    for (int32_t i = 0; i < p->set.count; i++) {
        const stn_contact *c = &p->set.contacts[i];
        area += c->phi0 <= 0.0 ? polygon_of(&p->set, c, diameter) : 0.0;
    }
    return area;
}

/// Merged faces have the force and area of all to rounding; torque within the bound times the sizes of the forces times
/// the largest polygon, and the area of polygons within the bound. Returns faces left over faces before.
static double check_merging(stn_geometry a, stn_geometry b, stn_pose at, double bound) {
    patch_probe p;
    double diameter, polygons, pressing = 0.0;
    patch_probe_open(&p, a, b);
    patch_sum all = patch_between(&p, at);
    int32_t count = p.set.count;
    polygons = polygons_of(&p, &diameter);
    patch_probe_close(&p);
    patch_probe_open_merging(&p, a, b, bound);
    patch_sum merged = patch_between(&p, at);
    for (int32_t i = 0; i < p.set.count; i++) {
        pressing += fmax(0.0, p.set.contacts[i].pressure) * p.set.contacts[i].area;
    }
    double left = count > 0 ? (double)p.set.count / count : 1.0, now = polygons_of(&p, &diameter);
    double size = stn_vec3_norm(at.position), scale = fmax(pressing, 1e-30);
    double off = stn_vec3_norm(stn_vec3_sub(merged.force, all.force)) / scale;
    double turned = stn_vec3_norm(stn_vec3_sub(merged.torque, all.torque));
    if (!(off <= 1e-12 && turned <= bound * pressing * diameter + 1e-12 * scale * size &&
          fabs(merged.area - all.area) <= 1e-9 * all.area && fabs(now - polygons) <= bound * polygons)) {
        fail_msg("bound %g: %d faces instead of %d: force off by %.1e, torque by %.1e of %.1e N m, area %g of %g, "
                 "polygons %g of %g",
                 bound, p.set.count, count, off, turned, pressing * diameter, merged.area, all.area, now, polygons);
    }
    patch_probe_close(&p);
    return left;
}

static void merged_faces_keep_the_wrench_within_the_bound(void **state) {
    (void)state;
    stn_geometry cube = patch_geometry(stn_shape_box(stn_vec3_make(0.05, 0.05, 0.05)), E, none),
                 ball = patch_geometry(stn_shape_sphere(R), 2.0 * E, 0.005), other = ball;
    other.material.modulus = E;
    assert_true(check_merging(cube, cube, patch_at(0.01, 0.02, 0.0999), 1e-6) == 1.0); // flat sides are one already
    check_merging(cube, ball, patch_at(0.01, 0.005, 0.095), 0.02);
    assert_true(check_merging(ball, other, patch_at(0.01, 0.005, 0.09), 0.2) < 0.5);
}

static void merged_faces_of_random_pairs_keep_it_too(void **state) {
    (void)state;
    static const stn_shape_type types[] = {STN_SHAPE_SPHERE, STN_SHAPE_BOX, STN_SHAPE_CAPSULE, STN_SHAPE_CYLINDER,
                                           STN_SHAPE_ELLIPSOID};
    stn_random r = {11};
    double least = 1.0;
    for (int32_t trial = 0; trial < 120; trial++) {
        stn_geometry side[2];
        for (int32_t k = 0; k < 2; k++) {
            stn_shape shape = shape_of_sizes(types[random_below(&r, STN_COUNT(types))], random_between(&r, 0.03, 0.06),
                                             random_between(&r, 0.03, 0.06), random_between(&r, 0.03, 0.06));
            double modulus = k == 1 && random_below(&r, 3) == 0 ? rigid : E * random_between(&r, 0.3, 3.0);
            side[k] = patch_geometry(shape, modulus, random_between(&r, 0.008, 0.03));
            side[k].field.margin = random_below(&r, 2) == 0 ? 0.0 : 2e-3;
        }
        stn_pose at = random_pose(&r, 0.04);
        least = fmin(least, check_merging(side[0], side[1], at, pow(10.0, random_between(&r, -4.0, -0.5))));
    }
    assert_true(least < 0.6);
}

/// The layer of a half space is one pressure everywhere: feet that stand on it far apart must not become one face.
static void faces_in_a_layer_are_not_merged(void **state) {
    (void)state;
    stn_geometry layer = patch_geometry(stn_shape_half_space(), E, none);
    layer.field.thickness = 0.04;
    int32_t count[2];
    for (int32_t k = 0; k < 2; k++) {
        patch_probe p;
        patch_probe_open_merging(&p, layer, patch_geometry(stn_shape_box(stn_vec3_make(0.1, 0.08, 0.03)), rigid, none),
                                 0.1 * k);
        (void)patch_between(&p, patch_at(0.0, 0.0, 0.029));
        count[k] = p.set.count;
        patch_probe_close(&p);
    }
    assert_true(count[0] > 1);
    assert_int_equal(count[1], count[0]);
}

/// Archimedes: the pressure of a layer grows evenly with depth, so a rigid body in it is carried by E / H times the
/// volume that is immersed, at the centre of that volume. A box that leans by alpha is immersed up to h0 + u tan(alpha)
/// above its bottom, -a < u < a.
static void a_leaning_rigid_box_floats_as_archimedes_says(void **state) {
    (void)state;
    const double a = 0.1, b = 0.08, c = 0.03, depth = 0.04, h0 = 0.01;
    for (double alpha = -0.08; alpha < 0.09; alpha += 0.04) {
        double t = tan(alpha), volume = 4.0 * a * b * h0;
        double u = t * a * a / (3.0 * h0), w = (h0 * h0 + t * t * a * a / 3.0) / (2.0 * h0) - c;
        stn_geometry layer = patch_geometry(stn_shape_half_space(), E, none);
        layer.field.thickness = depth;
        stn_geometry box = patch_geometry(stn_shape_box(stn_vec3_make(a, b, c)), rigid, none);
        stn_pose lean = {stn_mat3_from_rpy(0.0, alpha, 0.0), {0.0, 0.0, (c - h0) * cos(alpha)}};
        stn_vec3 centre = stn_pose_apply(&lean, stn_vec3_make(u, 0.0, w));
        patch_probe p;
        patch_probe_open(&p, layer, box);
        patch_sum s = patch_between(&p, lean);
        patch_probe_close(&p);
        double force = E / depth * volume;
        assert_near(s.force.x, 0.0, 1e-9 * force);
        assert_near(s.force.z, force, 1e-9 * force);
        assert_near(s.torque.y, -centre.x * force, 1e-9 * force * a);
        assert_near(s.torque.x, 0.0, 1e-9 * force * a);
        patch_probe_open(&p, box, layer); // the other way round
        stn_pose here = stn_pose_identity();
        patch_sum r = patch_sum_of(patch_collide(&p, &lean, &here, 0.0));
        patch_probe_close(&p);
        assert_near(stn_vec3_norm(stn_vec3_add(r.force, s.force)), 0.0, 1e-12 * force);
        assert_near(stn_vec3_norm(stn_vec3_add(r.torque, s.torque)), 0.0, 1e-12 * force * a);
    }
}

/// In a layer p = -E z / H a rigid face that moves along its normal at v_n sees the pressure change at E/H n_z v_n,
/// whatever stiffness it was given. So what dissipates, k tau v_n in law sap and f d v_n elsewhere, is that rate times
/// tau, and d as much less as tau is. A side that slides sees none. Returns the number of faces that stand upright.
static int32_t check_dissipation(patch_probe *p, const stn_pose *box) {
    const double slope = E / 0.04;
    stn_pose here = stn_pose_identity();
    const stn_contact_set *set = patch_collide(p, &here, box, 0.0);
    int32_t upright = 0;
    for (int32_t i = 0; i < set->count; i++) {
        const stn_contact *c = &set->contacts[i];
        double rate = slope * fmax(0.0, c->normal.z), share = c->material.relaxation_time / p->relaxation_time;
        assert_near(c->material.stiffness * share, c->area * rate, 1e-9 * c->area * slope);
        assert_near(c->material.dissipation, share * p->dissipation, 1e-12 * p->dissipation);
        assert_near(-c->material.stiffness * c->phi0, c->area * c->pressure, 1e-9 * c->area * c->pressure);
        upright += fabs(c->normal.z) < 1e-9;
    }
    return upright;
}

static void dissipation_follows_the_rate_of_the_pressure(void **state) {
    (void)state;
    stn_geometry layer = patch_geometry(stn_shape_half_space(), E, none);
    layer.field.thickness = 0.04;
    patch_probe p;
    patch_probe_open(&p, layer, patch_geometry(stn_shape_box(stn_vec3_make(0.1, 0.08, 0.03)), rigid, none));
    p.dissipation = 10.0;
    p.relaxation_time = 0.02;
    for (int32_t i = 0; i < 20; i++) {
        stn_pose at = {stn_mat3_from_rpy(0.0, 0.02 * i, 0.1 * i), {0.0, 0.0, 0.025}};
        assert_true(check_dissipation(&p, &at) >= (i == 0 ? 8 : 4));
    }
    patch_probe_close(&p);
}

/// On its edge, ten times less deep than its margin: what the skirt adds to a face takes nothing from what is pressed.
static void a_margin_changes_no_force_on_an_edge(void **state) {
    (void)state;
    const double h = 0.05, d = 1e-4;
    double force[2];
    for (int32_t i = 0; i < 2; i++) {
        stn_geometry box = patch_geometry(stn_shape_box(stn_vec3_make(h, h, h)), E, none);
        box.field.margin = i == 0 ? 0.0 : 1e-3;
        patch_probe p;
        patch_probe_open(&p, patch_geometry(stn_shape_half_space(), rigid, none), box);
        stn_pose b = {stn_mat3_from_rpy(0.0, 0.25 * STN_PI, 0.0), {0.0, 0.0, sqrt(2.0) * h - d}};
        force[i] = patch_between(&p, b).force.z;
        patch_probe_close(&p);
    }
    assert_true(force[0] > 0.0);
    assert_near(force[1], force[0], 1e-3 * force[0]);
}

/// A cube of given tetrahedra whose pressure grows within 0.3 m of its surface and hardly further inside.
static stn_mesh *cube_with_plateau(stn_context *context) {
    enum { SIDE = 5, VERTICES = SIDE * SIDE * SIDE, CELLS = 64 };
    static const double place[SIDE] = {-1.5, -1.2, 0.0, 1.2, 1.5};
    static const int32_t order[6][3] = {{1, 5, 25}, {1, 25, 5}, {5, 1, 25}, {5, 25, 1}, {25, 1, 5}, {25, 5, 1}};
    double vertices[3 * VERTICES], extents[VERTICES];
    int32_t tetrahedra[4 * 6 * CELLS], count = 0;
    for (int32_t v = 0; v < VERTICES; v++) {
        const int32_t at[3] = {v % SIDE, v / SIDE % SIDE, v / SIDE / SIDE};
        extents[v] = v == VERTICES / 2 ? 1.0 : 0.95;
        for (int32_t k = 0; k < 3; k++) {
            vertices[3 * v + k] = place[at[k]];
            extents[v] = at[k] == 0 || at[k] == SIDE - 1 ? 0.0 : extents[v];
        }
    }
    for (int32_t i = 0; i < CELLS; i++) {
        int32_t corner = i % 4 + SIDE * (i / 4 % 4) + SIDE * SIDE * (i / 16);
        for (int32_t k = 0; k < 6; k++) {
            int32_t v = corner, *out = tetrahedra + 4 * count++;
            for (int32_t n = 0; n < 4; n++) {
                out[n] = v;
                v += n < 3 ? order[k][n] : 0;
            }
        }
    }
    stn_mesh_data data = {.vertex_count = VERTICES,
                          .vertices = vertices,
                          .tetrahedron_count = count,
                          .tetrahedra = tetrahedra,
                          .extents = extents};
    stn_mesh *mesh = NULL;
    stn_error err;
    assert_ok(stn_mesh_create(context, &data, &mesh, &err), err);
    return mesh;
}

/// A ball that is a little stiffer is pressed through the side into the middle: around its centre its pressure is above
/// the plateau once more, and the contact surface has an island there without rim, at pressures far above those of the
/// rest, on which a search that begins at low ones must not miss it.
static void an_island_at_high_pressure_is_found(void **state) {
    (void)state;
    stn_context *context;
    stn_error err;
    assert_ok(stn_context_create(NULL, &context, &err), err);
    stn_mesh_reference listed = {.data = cube_with_plateau(context)};
    stn_geometry cube = patch_geometry(stn_shape_box(stn_vec3_make(1.5, 1.5, 1.5)), 1e5, (double)NAN);
    cube.field.volume_mesh = 0;
    patch_probe p;
    patch_probe_open_meshed(&p, cube, patch_geometry(stn_shape_sphere(1.0), 1.2e5, 0.1), NULL, &listed);
    stn_pose a = stn_pose_identity(), b = patch_at(0.7, 0.03, 0.02);
    const stn_contact_set *set = patch_collide(&p, &a, &b, 0.0);
    double island = 0.0;
    for (int32_t i = 0; i < set->count; i++) {
        island += set->contacts[i].pressure > 0.9e5 ? set->contacts[i].area : 0.0;
    }
    // a ball of radius r with 1.2 (1 - r) = 0.95 + 0.05 (1 - 0.7 / 1.2), but for its far side, which does not count
    double whole = 4.0 * STN_PI * 0.191 * 0.191;
    assert_true(island > 0.5 * whole && island < whole);
    patch_probe_close(&p);
    stn_mesh_release((stn_mesh *)listed.data);
    stn_context_destroy(context);
}

/// A needle pushed into a long bar but for its tip: both have pressure E where the bar is deepest, while the rim of the
/// contact surface, at the tip, has 0.008 E. Around the needle's middle lies an island without a rim, p = E.
static void an_island_between_concave_fields_is_found(void **state) {
    (void)state;
    patch_probe p;
    patch_probe_open(&p, patch_geometry(stn_shape_box(stn_vec3_make(2.0, 0.2, 0.2)), E, none),
                     patch_geometry(stn_shape_ellipsoid(stn_vec3_make(1.0, 0.1, 0.1)), 1.2 * E, none));
    patch_sum s = patch_between(&p, patch_at(-1.005, 0.0, 0.0));
    assert_true(s.peak > 0.8 * E);
    patch_sum all = patch_between(&p, patch_at(-0.995, 0.0, 0.0)); // the whole needle is inside
    assert_near(s.area, all.area, 0.05 * all.area);
    patch_probe_close(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merged_faces_keep_the_wrench_within_the_bound),
        cmocka_unit_test(merged_faces_of_random_pairs_keep_it_too),
        cmocka_unit_test(faces_in_a_layer_are_not_merged),
        cmocka_unit_test(a_ball_inside_of_another_is_pushed_out),
        cmocka_unit_test(an_island_at_high_pressure_is_found),
        cmocka_unit_test(an_island_between_concave_fields_is_found),
        cmocka_unit_test(a_box_on_a_plane_is_exact),
        cmocka_unit_test(a_margin_changes_no_force_on_an_edge),
        cmocka_unit_test(a_leaning_rigid_box_floats_as_archimedes_says),
        cmocka_unit_test(a_rigid_box_on_a_layer_is_exact),
        cmocka_unit_test(dissipation_follows_the_rate_of_the_pressure),
        cmocka_unit_test(a_soft_box_on_a_soft_layer_is_two_springs),
        cmocka_unit_test(equal_spheres_meet_half_way),
        cmocka_unit_test(a_rigid_box_in_a_soft_sphere_acts_as_a_plane),
        cmocka_unit_test(a_sphere_on_a_plane_converges_with_second_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
