// SPDX-License-Identifier: Apache-2.0
// Friction of the parts that a flat face is divided into, while everything slides and turns about some centre: its
// power beside the integral of the pressure times the distance from that centre, and the torque of turning on the spot
// beside closed forms.
#include <string.h>

#include "patch_probe.h"
#include "point_hulls.h"

static const double rigid = (double)INFINITY, none = (double)NAN;

static void open_with_fineness(patch_probe *p, stn_geometry a, stn_geometry b, const char *fineness) {
    const stn_setting setting = {.name = "fineness", .form = STN_SETTING_TEXT, .text = fineness, .where = ""};
    patch_probe_open_set(p, a, b, &setting);
}

static double force_of(const stn_contact *c) {
    return fmax(0.0, -c->material.stiffness * c->phi0);
}

/// Distances are those across the normal n.
static double distance_across(stn_vec3 n, stn_vec3 x, stn_vec3 centre) {
    stn_vec3 d = stn_vec3_sub(x, centre);
    return stn_vec3_norm(stn_vec3_mul_add(d, -stn_vec3_dot(d, n), n));
}

static stn_vec3 centre_of(const stn_contact_set *set, double *force) {
    stn_vec3 sum = stn_vec3_zero();
    *force = 0.0;
    for (int32_t i = 0; i < set->count; i++) {
        sum = stn_vec3_mul_add(sum, force_of(&set->contacts[i]), set->contacts[i].point);
        *force += force_of(&set->contacts[i]);
    }
    return stn_vec3_scale(1.0 / *force, sum);
}

/// Power over friction and angular velocity, from the contacts.
static double power_of_contacts(const stn_contact_set *set, stn_vec3 n, stn_vec3 centre) {
    double sum = 0.0;
    for (int32_t i = 0; i < set->count; i++) {
        sum += force_of(&set->contacts[i]) * distance_across(n, set->contacts[i].point, centre);
    }
    return sum;
}

/// Over a triangle, cut into `depth` times 4.
static double power_over(const stn_vec3 x[3], const double p[3], int32_t depth, stn_vec3 n, stn_vec3 centre) {
    stn_vec3 middle = stn_vec3_scale(1.0 / 3.0, stn_vec3_add(x[0], stn_vec3_add(x[1], x[2])));
    if (depth == 0) {
        double area = 0.5 * stn_vec3_norm(stn_vec3_cross(stn_vec3_sub(x[1], x[0]), stn_vec3_sub(x[2], x[0])));
        return area * fmax(0.0, (p[0] + p[1] + p[2]) / 3.0) * distance_across(n, middle, centre);
    }
    stn_vec3 m[3];
    double q[3], sum = 0.0;
    for (int32_t k = 0; k < 3; k++) {
        m[k] = stn_vec3_scale(0.5, stn_vec3_add(x[k], x[(k + 1) % 3]));
        q[k] = 0.5 * (p[k] + p[(k + 1) % 3]);
    }
    for (int32_t k = 0; k < 3; k++) {
        const stn_vec3 corner[3] = {x[k], m[k], m[(k + 2) % 3]};
        const double pressure[3] = {p[k], q[k], q[(k + 2) % 3]};
        sum += power_over(corner, pressure, depth - 1, n, centre);
    }
    return sum + power_over(m, q, depth - 1, n, centre);
}

static double power_of_pressure(const stn_contact_set *set, stn_vec3 n, stn_vec3 centre) {
    double sum = 0.0;
    for (int32_t i = 0; i < set->count; i++) {
        const stn_contact *c = &set->contacts[i];
        for (int32_t k = 1; k + 1 < c->vertex_count; k++) {
            const int32_t at[3] = {c->vertex_start, c->vertex_start + k, c->vertex_start + k + 1};
            const stn_vec3 x[3] = {set->vertices[at[0]], set->vertices[at[1]], set->vertices[at[2]]};
            const double p[3] = {set->vertex_pressure[at[0]], set->vertex_pressure[at[1]], set->vertex_pressure[at[2]]};
            sum += power_over(x, p, 3, n, centre);
        }
    }
    return sum;
}

/// The worst error of the power over centres around the patch; `reach`: how far they are [m].
static double worst_power(const stn_contact_set *set, stn_vec3 n, double reach) {
    double force, worst = 0.0;
    stn_vec3 middle = centre_of(set, &force), u = fabs(n.x) < 0.6 ? stn_vec3_make(1, 0, 0) : stn_vec3_make(0, 1, 0);
    u = stn_vec3_normalize_or(stn_vec3_cross(u, n), u);
    stn_vec3 v = stn_vec3_cross(n, u);
    for (int32_t i = -6; i <= 6; i++) {
        for (int32_t k = -6; k <= 6; k++) {
            stn_vec3 c = stn_vec3_mul_add(stn_vec3_mul_add(middle, i * reach / 6.0, u), k * reach / 6.0, v);
            worst = worse(worst, fabs(power_of_contacts(set, n, c) / power_of_pressure(set, n, c) - 1.0));
        }
    }
    return worst;
}

/// Mean of the squared distances from the centre, which says what holds a body against tilting.
static double moment_of(const stn_contact_set *set, stn_vec3 n) {
    double force, sum = 0.0;
    stn_vec3 middle = centre_of(set, &force);
    for (int32_t i = 0; i < set->count; i++) {
        double arm = distance_across(n, set->contacts[i].point, middle);
        sum += force_of(&set->contacts[i]) * arm * arm;
    }
    return sum / force;
}

static double spin_of(const stn_contact_set *set, stn_vec3 n) {
    double force;
    stn_vec3 middle = centre_of(set, &force);
    return power_of_contacts(set, n, middle) / force;
}

/// Mean distance of the points of a rectangle with half sides p and q from its middle: of a square 0.3826 s.
static double spin_of_rectangle(double p, double q) {
    double d = sqrt(p * p + q * q);
    double over_p = p * p * p * (d * q / (p * p) + asinh(q / p)), over_q = q * q * q * (d * p / (q * q) + asinh(p / q));
    return 2.0 / 3.0 * (over_p + over_q) / (4.0 * p * q);
}

static const char *const fineness[] = {"coarse", "fine"};
static const stn_vec3 up = {0.0, 0.0, 1.0};

static void a_box_on_a_plane_turns_and_tilts_as_the_closed_forms_say(void **state) {
    (void)state;
    const double sides[][2] = {{0.05, 0.05}, {0.05, 0.08}, {0.05, 0.1}, {0.05, 0.2}, {0.02, 0.2}, {0.01, 0.2}};
    const double most_power[] = {0.1, 0.03}, most_spin[] = {0.1, 0.03};
    assert_near(spin_of_rectangle(0.5, 0.5), 0.38260, 1e-5);
    for (int32_t i = 0; i < 2 * STN_COUNT(sides); i++) {
        const double *s = sides[i / 2];
        patch_probe p;
        open_with_fineness(&p, patch_geometry(stn_shape_half_space(), rigid, none),
                           patch_geometry(stn_shape_box(stn_vec3_make(s[0], s[1], 0.02)), 1e6, none), fineness[i % 2]);
        stn_pose a = patch_at(0, 0, 0), b = patch_at(0.1, 0.2, 0.02 - 1e-6);
        const stn_contact_set *set = patch_collide(&p, &a, &b, 0.0);
        double spin = spin_of(set, up) / spin_of_rectangle(s[0], s[1]) - 1.0, power = worst_power(set, up, 1.5 * s[1]);
        double moment = moment_of(set, up) / ((s[0] * s[0] + s[1] * s[1]) / 3.0) - 1.0;
        print_message("%g x %g, %s: %d faces, spin %+.3f, moment %+.1e, power %.3f\n", s[0], s[1], fineness[i % 2],
                      set->count, spin, moment, power);
        assert_true(fabs(moment) < 2e-4); // but for the rim
        assert_true(fabs(spin) < most_spin[i % 2]);
        assert_true(power < most_power[i % 2]);
        patch_probe_close(&p);
    }
}

/// `most`: of the error, coarse and fine.
static void check_power(stn_geometry a, stn_geometry b, stn_pose at, const double most[2], const char *what) {
    for (int32_t i = 0; i < 2; i++) {
        patch_probe p;
        open_with_fineness(&p, a, b, fineness[i]);
        stn_pose here = patch_at(0, 0, 0);
        const stn_contact_set *set = patch_collide(&p, &here, &at, 0.0);
        double power = worst_power(set, up, 0.1);
        print_message("%s, %s: %d faces, power %.3f\n", what, fineness[i], set->count, power);
        assert_true(power < most[i]);
        patch_probe_close(&p);
    }
}

static void flat_shapes_keep_the_power_of_friction(void **state) {
    (void)state;
    const double most[] = {0.1, 0.05};
    stn_context *context = NULL;
    assert_int_equal(stn_context_create(NULL, &context, NULL), STN_OK);
    stn_mesh *prisms[] = {hull_prism(context, 3, stn_vec3_make(0.06, 0.06, 0.03)),
                          hull_prism(context, 5, stn_vec3_make(0.06, 0.06, 0.03)),
                          hull_prism(context, 12, stn_vec3_make(0.06, 0.06, 0.03))};
    stn_geometry plane = patch_geometry(stn_shape_half_space(), rigid, none), layer = plane;
    layer.material.modulus = 1e6;
    layer.field.thickness = 0.02;
    stn_geometry box = patch_geometry(stn_shape_box(stn_vec3_make(0.05, 0.04, 0.03)), 1e6, none), hard = box;
    hard.material.modulus = rigid;
    for (int32_t i = 0; i < STN_COUNT(prisms); i++) {
        stn_geometry prism = patch_geometry(stn_shape_mesh(prisms[i]), 1e6, none);
        check_power(plane, prism, patch_at(0, 0, 0.03 - 1e-5), most, "prism on plane");
        prism.material.modulus = rigid;
        check_power(layer, prism, patch_at(0, 0, 0.03 - 1e-5), most, "rigid prism on layer");
        check_power(box, prism, patch_at(0.03, 0.02, 0.06 - 1e-5), most, "rigid prism on box");
        stn_mesh_release(prisms[i]);
    }
    stn_pose leaning = {stn_mat3_from_rpy(1e-4, 2e-4, 0.3), {0.02, 0.01, 0.06 - 1e-5}};
    check_power(box, box, leaning, most, "leaning box on box");
    check_power(hard, box, leaning, most, "leaning box on rigid box");
    check_power(layer, hard, (stn_pose){leaning.rotation, {0, 0, 0.03 - 1e-5}}, most, "leaning rigid box on layer");
    check_power(plane, patch_geometry(stn_shape_cylinder(0.05, 0.03), 1e6, none), patch_at(0, 0, 0.03 - 1e-5), most,
                "cylinder on plane");
    stn_context_destroy(context);
}

/// A line of contact of length L turns against mu N L / 4.
static void what_lies_on_its_side_turns_as_a_line(void **state) {
    (void)state;
    const stn_shape shapes[] = {stn_shape_cylinder(0.05, 0.3), stn_shape_capsule(0.05, 0.3),
                                stn_shape_cylinder(0.3, 0.3)};
    for (int32_t i = 0; i < 2 * STN_COUNT(shapes); i++) {
        const stn_shape *shape = &shapes[i / 2];
        for (double turn = 0.0; turn < 0.3; turn += 0.1) {
            patch_probe p;
            open_with_fineness(&p, patch_geometry(stn_shape_half_space(), rigid, none),
                               patch_geometry(*shape, 1e6, none), fineness[i % 2]);
            stn_pose a = patch_at(0, 0, 0), b = patch_at(0, 0, 0.98 * shape->radius);
            b.rotation = stn_mat3_from_rpy(0.5 * STN_PI, 0.0, 0.0);
            stn_mat3 roll = stn_mat3_from_rpy(0.0, 0.0, turn);
            b.rotation = stn_mat3_mul(&b.rotation, &roll);
            const stn_contact_set *set = patch_collide(&p, &a, &b, 0.0);
            double force, exact = power_of_pressure(set, up, centre_of(set, &force)) / force;
            double spin = spin_of(set, up) / exact - 1.0;
            print_message("%s %d, %s: %d faces, spin %+.3f, line %+.3f\n", stn_shape_name(shape->type), i / 2,
                          fineness[i % 2], set->count, spin, exact / (0.5 * shape->half_length) - 1.0);
            assert_true(fabs(spin) < (i % 2 == 0 ? 0.1 : 0.05));
            patch_probe_close(&p);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_box_on_a_plane_turns_and_tilts_as_the_closed_forms_say),
        cmocka_unit_test(flat_shapes_keep_the_power_of_friction),
        cmocka_unit_test(what_lies_on_its_side_turns_as_a_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
