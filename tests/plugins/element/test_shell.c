// SPDX-License-Identifier: Apache-2.0
// Shells and pressure through the real step, against closed forms of plates, beams and vessels.
#include "soft_world.h"

#include <stiction/plugin.h>

#include "stn_random.h"

static const double long_step = 1e6; // A = M + dt^2 K is K then

// -------------------------------------------------------------------------------------------------------------- meshes

typedef struct sheet {
    int32_t node_count, triangle_count;
    double *nodes;
    int32_t *triangles, *index; // corners; corners and the far corners of the neighbours
} sheet;

static int compare_edges(const void *a, const void *b) {
    const int32_t *x = a, *y = b;
    return x[0] != y[0] ? (x[0] > y[0]) - (x[0] < y[0]) : (x[1] > y[1]) - (x[1] < y[1]);
}

/// Six nodes an element: an edge without neighbour has the triangle's own opposite corner.
static void join(sheet *s) {
    const int32_t n = 3 * s->triangle_count;
    int32_t(*edge)[3] = calloc((size_t)n, sizeof *edge); // from, to, opposite corner
    s->index = calloc(2 * (size_t)n, sizeof *s->index);
    assert_true(edge != NULL && s->index != NULL);
    for (int32_t i = 0; i < n; i++) {
        const int32_t *corner = &s->triangles[i / 3 * 3];
        edge[i][0] = corner[(i + 1) % 3];
        edge[i][1] = corner[(i + 2) % 3];
        edge[i][2] = corner[i % 3];
    }
    qsort(edge, (size_t)n, sizeof *edge, compare_edges);
    for (int32_t i = 0; i < n; i++) {
        const int32_t *corner = &s->triangles[i / 3 * 3];
        const int32_t back[3] = {corner[(i + 2) % 3], corner[(i + 1) % 3], 0};
        const int32_t *found = bsearch(back, edge, (size_t)n, sizeof *edge, compare_edges);
        s->index[i / 3 * 6 + i % 3] = corner[i % 3];
        s->index[i / 3 * 6 + 3 + i % 3] = found != NULL ? found[2] : corner[i % 3];
    }
    free(edge);
}

static void sheet_free(sheet *s) {
    free(s->nodes);
    free(s->triangles);
    free(s->index);
}

/// A rectangle of x by y [m] in the plane z = 0, from the origin, with parallel diagonals.
static sheet rectangle(double x, double y, int32_t columns, int32_t rows) {
    sheet s = {(columns + 1) * (rows + 1), 2 * columns * rows, NULL, NULL, NULL};
    s.nodes = calloc(3 * (size_t)s.node_count, sizeof(double));
    s.triangles = calloc(3 * (size_t)s.triangle_count, sizeof(int32_t));
    assert_true(s.nodes != NULL && s.triangles != NULL);
    for (int32_t i = 0; i < s.node_count; i++) {
        s.nodes[3 * i] = x * (i % (columns + 1)) / columns;
        s.nodes[3 * i + 1] = y * (i / (columns + 1)) / rows;
    }
    for (int32_t i = 0; i < columns * rows; i++) {
        int32_t low = i / columns * (columns + 1) + i % columns, high = low + columns + 1;
        const int32_t two[6] = {low, low + 1, high + 1, low, high + 1, high};
        memcpy(&s.triangles[6 * i], two, sizeof two);
    }
    join(&s);
    return s;
}

/// The same as Stiction::soft makes it.
static sheet generated(stn_context *context, double x, double y, int32_t columns, int32_t rows) {
    const stn_soft_shape shape = {.type = STN_SOFT_SHEET, .size = {x, y, 0.0}, .cells = {columns, rows, 1}};
    stn_soft_mesh *mesh = NULL;
    stn_error err;
    assert_ok(stn_soft_mesh_generate(context, &shape, &mesh, &err), err);
    sheet s = rectangle(x, y, columns, rows); // its nodes have the same order
    assert_int_equal(s.triangle_count, mesh->triangle_count);
    for (int32_t e = 0; e < s.triangle_count; e++) {
        memcpy(&s.index[6 * e], &mesh->triangles[3 * e], 3 * sizeof *s.index);
        memcpy(&s.index[6 * e + 3], &mesh->across[3 * e], 3 * sizeof *s.index);
    }
    for (int32_t i = 0; i < 3 * s.node_count; i++) {
        assert_near(mesh->nodes[i], s.nodes[i] - (i % 3 == 0 ? 0.5 * x : i % 3 == 1 ? 0.5 * y : 0.0), 1e-12);
    }
    stn_soft_mesh_destroy(mesh);
    return s;
}

static int32_t middle(sheet *s, int32_t a, int32_t b, double radius) {
    stn_vec3 m = stn_vec3_add(stn_vec3_at(s->nodes, a), stn_vec3_at(s->nodes, b));
    m = stn_vec3_scale(radius / stn_vec3_norm(m), m);
    for (int32_t i = 0; i < s->node_count; i++) {
        if (stn_vec3_norm(stn_vec3_sub(stn_vec3_at(s->nodes, i), m)) < 1e-9 * radius) {
            return i;
        }
    }
    s->nodes[3 * s->node_count] = m.x;
    s->nodes[3 * s->node_count + 1] = m.y;
    s->nodes[3 * s->node_count + 2] = m.z;
    return s->node_count++;
}

/// A sphere: an octahedron whose triangles are cut in four `times` times; counter-clockwise seen from outside.
static sheet sphere(double radius, int32_t times) {
    static const int32_t eight[24] = {0, 2, 4, 2, 1, 4, 1, 3, 4, 3, 0, 4, 2, 0, 5, 1, 2, 5, 3, 1, 5, 0, 3, 5};
    const double corner[18] = {radius, 0, 0, -radius, 0, 0, 0, radius, 0, 0, -radius, 0, 0, 0, radius, 0, 0, -radius};
    int32_t most = 8 << 2 * times;
    sheet s = {6, 8, calloc(3 * (size_t)most, sizeof(double)), calloc(3 * (size_t)most, sizeof(int32_t)), NULL};
    int32_t *next = calloc(3 * (size_t)most, sizeof(int32_t));
    assert_true(s.nodes != NULL && s.triangles != NULL && next != NULL);
    memcpy(s.nodes, corner, sizeof corner);
    memcpy(s.triangles, eight, sizeof eight);
    for (int32_t k = 0; k < times; k++) {
        for (int32_t t = 0; t < s.triangle_count; t++) {
            const int32_t *c = &s.triangles[3 * t];
            int32_t a = middle(&s, c[0], c[1], radius), b = middle(&s, c[1], c[2], radius),
                    d = middle(&s, c[2], c[0], radius);
            const int32_t four[12] = {c[0], a, d, a, c[1], b, d, b, c[2], a, b, d};
            memcpy(&next[12 * t], four, sizeof four);
        }
        s.triangle_count *= 4;
        memcpy(s.triangles, next, 3 * (size_t)s.triangle_count * sizeof *next);
    }
    free(next);
    join(&s);
    return s;
}

static int32_t add_shell(stn_world *world, const soft_cloud *cloud, const sheet *s, const stn_setting *settings,
                         int32_t count, int32_t *nodes) {
    *nodes = soft_add_nodes(world, cloud);
    return soft_add_elements(world, *nodes, "shell", settings, count, s->triangle_count, s->index);
}

// -------------------------------------------------------------------------------------------------------------- plates

/// How far the middle of a plate sinks under its weight [m]. All its sides, or those at x = 0 and x = length, rest.
static double plate_sag(stn_context *context, sheet s, double length, double width, int32_t columns, int32_t rows,
                        bool all, double poisson, double g) {
    soft_cloud cloud = soft_cloud_make(s.node_count, s.nodes);
    for (int32_t i = 0; i < cloud.count; i++) {
        stn_vec3 x = stn_vec3_at(cloud.rest, i);
        bool ends = x.x < 1e-9 || x.x > length - 1e-9, sides = x.y < 1e-9 || x.y > width - 1e-9;
        cloud.held[i] = ends || (all && sides);
    }
    stn_world *world = soft_world(context, long_step, NULL, stn_vec3_make(0.0, 0.0, -g));
    const stn_setting settings[] = {SOFT_NUMBER("young", 1e9), SOFT_NUMBER("poisson", poisson),
                                    SOFT_NUMBER("thickness", 1e-2), SOFT_NUMBER("density", 1000.0)};
    int32_t nodes = 0;
    add_shell(world, &cloud, &s, settings, 4, &nodes);
    soft_compile(world);
    scene_steps(world, 3);
    double w = -stn_vec3_at(soft_positions(world), columns / 2 + rows / 2 * (columns + 1)).z;
    soft_cloud_free(&cloud);
    sheet_free(&s);
    stn_world_destroy(world);
    return w;
}

static void a_square_plate_sags_as_kirchhoff_says(void **state) {
    const double g = 1e-3, D = 1e9 * 1e-6 / (12.0 * (1.0 - 0.09)), exact = 0.00406235 * 1000.0 * 1e-2 * g / D;
    double coarse = plate_sag(*state, rectangle(1.0, 1.0, 8, 8), 1.0, 1.0, 8, 8, true, 0.3, g) / exact - 1.0,
           fine = plate_sag(*state, rectangle(1.0, 1.0, 16, 16), 1.0, 1.0, 16, 16, true, 0.3, g) / exact - 1.0;
    print_message("plate: %.4f with 8 x 8 cells, %.4f with 16 x 16\n", coarse, fine);
    assert_near(coarse, 0.0, 0.05);
    assert_true(log2(coarse / fine) >= 1.8);
    double usual = plate_sag(*state, generated(*state, 1.0, 1.0, 8, 8), 1.0, 1.0, 8, 8, true, 0.3, g) / exact - 1.0;
    print_message("a sheet of Stiction::soft: %.4f with 8 x 8\n", usual);
    assert_near(usual, 0.0, 0.01);
}

/// Free sides carry no moment: a narrow strip bends as a beam, by E and not by E/(1 - nu^2), which is 10 % more.
static void a_strip_with_free_sides_bends_as_a_beam(void **state) {
    const double g = 1e-3, length = 1.0, I_over_width = 1e-6 / 12.0;
    double exact = 5.0 / 384.0 * 1000.0 * 1e-2 * g * length * length * length * length / (1e9 * I_over_width);
    double w = plate_sag(*state, rectangle(length, 0.1, 40, 4), length, 0.1, 40, 4, false, 0.3, g) / exact;
    print_message("strip: %.4f of a beam's\n", w);
    assert_near(w, 1.0, 0.03);
}

/// A strip that stands on its held end (two rows of nodes, so clamped half a cell above) and carries its own weight,
/// `share` of the 7.8373 E I/L^3 a length that buckle it [timoshenko-1961], leaning a little. Returns how far its end
/// has gone aside.
static double lean(stn_context *context, double share) {
    const double length = 0.5, width = 0.05, t = 1e-3, young = 1e9;
    const int32_t columns = 50, rows = 3;
    sheet s = rectangle(length, width, columns, rows);
    soft_cloud cloud = soft_cloud_make(s.node_count, s.nodes);
    double free_length = length * (1.0 - 0.5 / columns);
    double g = share * 7.8373 * young * t * t / (12.0 * 1000.0 * free_length * free_length * free_length);
    for (int32_t i = 0; i < cloud.count; i++) {
        double x = cloud.rest[3 * i];
        cloud.held[i] = i % (columns + 1) < 2;
        cloud.start[3 * i + 2] = cloud.held[i] ? 0.0 : 1e-3 * x * x / length;
    }
    stn_world *world = soft_world(context, 0.1, "implicit_euler", stn_vec3_make(-g, 0.0, 0.0));
    const stn_setting settings[] = {SOFT_NUMBER("young", young), SOFT_NUMBER("poisson", 0.0),
                                    SOFT_NUMBER("thickness", t), SOFT_NUMBER("density", 1000.0)};
    int32_t nodes = 0;
    add_shell(world, &cloud, &s, settings, 4, &nodes);
    soft_compile(world);
    scene_steps(world, 200);
    double aside = fabs(stn_vec3_at(soft_positions(world), columns).z);
    soft_cloud_free(&cloud);
    sheet_free(&s);
    stn_world_destroy(world);
    return aside;
}

static void a_standing_strip_buckles_under_its_weight_as_greenhill_says(void **state) {
    double below = lean(*state, 0.9), above = lean(*state, 1.1);
    print_message("standing strip: %.2e m aside at 0.9 of the load that buckles it, %.4f m at 1.1\n", below, above);
    assert_near(below, 0.0, 1e-4);
    assert_true(above > 0.05);
}

/// Flat at rest, bent to a cylinder of radius R: moments D/R along and nu D/R across, so the stress of a face is
/// E t / (2 R (1 - nu^2)) along it.
static void a_sheet_on_a_cylinder_has_the_stress_of_its_curvature(void **state) {
    const double R = 10.0, poisson = 0.3, t = 1e-3;
    sheet s = rectangle(1.0, 1.0, 10, 10);
    soft_cloud cloud = soft_cloud_make(s.node_count, s.nodes);
    for (int32_t i = 0; i < cloud.count; i++) {
        double angle = i % 11 * 2.0 * asin(0.05 / R); // chords as long as the edges at rest
        cloud.start[3 * i] = R * sin(angle);
        cloud.start[3 * i + 2] = R * cos(angle) - R;
    }
    stn_world *world = soft_world(*state, 1e-3, NULL, stn_vec3_zero());
    const stn_setting settings[] = {SOFT_NUMBER("young", 1e7), SOFT_NUMBER("poisson", poisson),
                                    SOFT_NUMBER("thickness", t)};
    int32_t nodes = 0, group = add_shell(world, &cloud, &s, settings, 3, &nodes);
    soft_compile(world);
    double *values = calloc(3 * (size_t)s.triangle_count, sizeof *values);
    stn_error err;
    assert_non_null(values);
    assert_ok(stn_world_element_outputs(world, group, values, &err), err);
    double along = 1e7 * t / (2.0 * R * (1.0 - poisson * poisson));
    for (int32_t e = 0; e < s.triangle_count; e++) {
        int32_t column = e / 2 % 10, row = e / 20;
        if (column > 0 && column < 9 && row > 0 && row < 9) {
            assert_near(values[3 * e], along * sqrt(1.0 - poisson + poisson * poisson), 0.01 * along);
        }
        assert_near(values[3 * e + 1], 0.0, 1e-6 * along);
        assert_near(values[3 * e + 2], 1.0, 1e-12);
    }
    free(values);
    soft_cloud_free(&cloud);
    sheet_free(&s);
    stn_world_destroy(world);
}

// ----------------------------------------------------------------------------------------------------------- membranes

static void uniform_stretch_is_exact_in_irregular_triangles(void **state) {
    const double e = 0.01, poisson = 0.4;
    sheet s = rectangle(0.4, 0.3, 4, 3);
    soft_cloud cloud = soft_cloud_make(s.node_count, s.nodes);
    stn_random random = {3};
    stn_mat3 turn = stn_quat_matrix(stn_quat_exp(stn_vec3_make(0.3, -2.0, 1.0))),
             F = stn_mat3_diagonal(1.0 + e, 1.0 - poisson * e, 1.0);
    F = stn_mat3_mul(&turn, &F);
    for (int32_t i = 0; i < cloud.count; i++) {
        stn_vec3 x = stn_vec3_at(cloud.rest, i);
        bool inside = x.x > 1e-9 && x.x < 0.4 - 1e-9 && x.y > 1e-9 && x.y < 0.3 - 1e-9;
        cloud.held[i] = !inside;
        cloud.rest[3 * i] += inside ? 0.02 * random_real(&random) : 0.0;
        cloud.rest[3 * i + 1] += inside ? 0.02 * random_real(&random) : 0.0;
        x = stn_mat3_apply(&F, stn_vec3_at(cloud.rest, i));
        const double start[3] = {x.x, x.y, x.z};
        for (int32_t k = 0; k < 3; k++) {
            cloud.start[3 * i + k] = start[k] + (inside ? 1e-3 * random_real(&random) : 0.0);
        }
    }
    stn_world *world = soft_world(*state, long_step, NULL, stn_vec3_zero());
    const stn_setting settings[] = {SOFT_NUMBER("young", 1e6), SOFT_NUMBER("poisson", poisson)};
    int32_t nodes = 0, group = add_shell(world, &cloud, &s, settings, 2, &nodes);
    soft_compile(world);
    scene_steps(world, 15);
    const double *x = soft_positions(world);
    for (int32_t i = 0; i < cloud.count; i++) {
        stn_vec3 expected = stn_mat3_apply(&F, stn_vec3_at(cloud.rest, i));
        assert_near(stn_vec3_norm(stn_vec3_sub(stn_vec3_at(x, i), expected)), 0.0, 1e-10);
    }
    double *values = calloc(3 * (size_t)s.triangle_count, sizeof *values);
    stn_error err;
    assert_non_null(values);
    assert_ok(stn_world_element_outputs(world, group, values, &err), err);
    for (int32_t i = 0; i < s.triangle_count; i++) {
        assert_near(values[3 * i], 1e6 * e, 1e-3); // von Mises of uniaxial tension
        assert_near(values[3 * i + 1], 0.5e6 * e, 1e-3);
        assert_near(values[3 * i + 2], (1.0 + e) * (1.0 - poisson * e), 1e-9);
    }
    free(values);
    soft_cloud_free(&cloud);
    sheet_free(&s);
    stn_world_destroy(world);
}

/// A balloon: the tension [Pa], force over area at rest, is p r^2 / (2 r_0 t). The work of the pressure is an input.
static void an_inflated_sphere_has_the_tension_of_a_vessel(void **state) {
    const double radius = 0.1, t = 1e-3, young = 1e6, poisson = 0.5;
    for (int32_t k = 0; k < 2; k++) {
        const double pressure = k == 0 ? 200.0 : 4000.0;
        sheet s = sphere(radius, 3);
        soft_cloud cloud = soft_cloud_make(s.node_count, s.nodes);
        stn_world *world = soft_world(*state, 2e-3, "implicit_euler", stn_vec3_zero());
        const stn_setting settings[] = {SOFT_NUMBER("young", young), SOFT_NUMBER("poisson", poisson),
                                        SOFT_NUMBER("thickness", t), SOFT_NUMBER("bending", 0.0),
                                        SOFT_NUMBER("rayleigh_stiffness", 2e-3)};
        int32_t nodes = 0, group = add_shell(world, &cloud, &s, settings, 5, &nodes);
        int32_t *inside = calloc(3 * (size_t)s.triangle_count, sizeof *inside);
        assert_non_null(inside);
        for (int32_t i = 0; i < 3 * s.triangle_count; i++) { // counter-clockwise seen from the gas
            inside[i] = s.triangles[i / 3 * 3 + 2 - i % 3];
        }
        int32_t gas = soft_add_elements(world, nodes, "pressure", NULL, 0, s.triangle_count, inside);
        soft_compile(world);
        stn_error err;
        assert_ok(stn_world_set_element_channel(world, gas, "pressure", &pressure, 1, &err), err);
        double work = 0.0;
        for (int32_t i = 0; i < 500; i++) {
            scene_steps(world, 1);
            work += stn_world_observation(world)->report->input_work_J;
        }
        const double *x = soft_positions(world);
        double r = 0.0, tension = 0.0, area = 0.0, *values = calloc(3 * (size_t)s.triangle_count, sizeof *values);
        stn_vec3 centre = stn_vec3_zero();
        assert_non_null(values);
        for (int32_t i = 0; i < s.node_count; i++) {
            r += stn_vec3_norm(stn_vec3_at(x, i)) / s.node_count;
            centre = stn_vec3_mul_add(centre, 1.0 / s.node_count, stn_vec3_at(x, i));
        }
        assert_near(stn_vec3_norm(centre), 0.0, 1e-12); // a closed surface pushes itself nowhere
        assert_ok(stn_world_element_outputs(world, group, values, &err), err);
        for (int32_t e = 0; e < s.triangle_count; e++) {
            const int32_t *c = &s.triangles[3 * e];
            stn_vec3 a = stn_vec3_at(s.nodes, c[0]), n = stn_vec3_cross(stn_vec3_sub(stn_vec3_at(s.nodes, c[1]), a),
                                                                        stn_vec3_sub(stn_vec3_at(s.nodes, c[2]), a));
            area += stn_vec3_norm(n);
            tension += stn_vec3_norm(n) * values[3 * e + 1];
        }
        tension /= area;
        // young/(1 - nu) e = p r0 (1 + e)^2 / (2 t), the smaller root
        double b = young / (1.0 - poisson), c = pressure * radius / (2.0 * t), e = c / b;
        for (int32_t i = 0; i < 100; i++) {
            e = c * (1.0 + e) * (1.0 + e) / b;
        }
        print_message("sphere at %g Pa: r %.5f of %.5f, tension %.4f of the vessel's, work %.4g J\n", pressure, r,
                      radius * (1.0 + e), tension / (pressure * r * r / (2.0 * radius * t)), work);
        assert_near(r / radius - 1.0, e, 0.02 * e);
        assert_near(tension, pressure * r * r / (2.0 * radius * t), 0.02 * tension);
        double volume = 4.0 / 3.0 * STN_PI * (r * r * r - radius * radius * radius); // of a polyhedron a little less
        assert_near(work, pressure * volume, 0.05 * pressure * volume);
        free(values);
        free(inside);
        soft_cloud_free(&cloud);
        sheet_free(&s);
        stn_world_destroy(world);
    }
}

// ------------------------------------------------------------------------------------------------------ by the border

/// Two triangles on an edge; the far corner is led round it by more than a turn. The angle goes on counting.
static void an_angle_counts_turns_through_pi(void **state) {
    const stn_setting settings[] = {SOFT_NUMBER("bending", 1.0), SOFT_NUMBER("poisson", 0.0)};
    stn_instance *instance = NULL;
    stn_error err;
    assert_ok(stn_instance_create(*state, STN_KIND_ELEMENT, "shell", settings, 2, &instance, &err), err);
    const stn_element_ops *ops = instance->desc->ops.element;
    // edge along x, opposite to node 0; the other two edges have no neighbour
    double x[18] = {0.5, 0.0, 1.0, 0, 0, 0, 1, 0, 0, 0.5, 0.0, -1.0, 0, 0, 0, 1, 0, 0}, v[18] = {0.0};
    const double own[4] = {NAN, NAN, NAN, NAN};
    double constants[64], state_of[3] = {0.0}, next[3], force[18], energy, unit = 0.0;
    assert_true(ops->constant_count <= 64);
    assert_ok(ops->prepare(instance->self, x, own, constants, &err), err);
    for (int32_t i = 0; i <= 100; i++) {
        double angle = 0.1 * i;
        x[10] = sin(angle);
        x[11] = -cos(angle);
        double K[18 * 18], D[18 * 18];
        stn_element_batch batch = {.count = 1,
                                   .x = x,
                                   .v = v,
                                   .constants = constants,
                                   .state = state_of,
                                   .force = force,
                                   .K = K,
                                   .D = D,
                                   .energy = &energy,
                                   .next_state = next,
                                   .wrong = -1};
        assert_ok(ops->evaluate(instance->self, &batch, &err), err);
        unit = i == 1 ? energy / (angle * angle) : unit;
        assert_near(energy, unit * angle * angle, 1e-9 * (1.0 + energy));
        memcpy(state_of, next, sizeof state_of);
    }
    assert_true(unit > 0.0);
    // a far corner on the edge: no angle, no force, no NaN, and the turns are kept
    x[10] = x[11] = 0.0;
    stn_element_batch flat = {.count = 1,
                              .x = x,
                              .v = v,
                              .constants = constants,
                              .state = state_of,
                              .force = force,
                              .energy = &energy,
                              .wrong = -1};
    assert_ok(ops->evaluate(instance->self, &flat, &err), err);
    for (int32_t i = 0; i < 18; i++) {
        assert_near(force[i], 0.0, 1e-12);
    }
    assert_near(energy, unit * 100.0, 1e-9 * energy);
    stn_instance_destroy(instance);
}

static void pressure_on_a_closed_surface_pushes_nowhere_and_works_by_its_volume(void **state) {
    stn_instance *instance = NULL;
    stn_error err;
    assert_ok(stn_instance_create(*state, STN_KIND_ELEMENT, "pressure", NULL, 0, &instance, &err), err);
    sheet s = sphere(0.1, 2);
    stn_random random = {9};
    const double p = -3000.0, h = 1e-6;
    stn_vec3 sum = stn_vec3_zero(), moment = stn_vec3_zero();
    double power = 0.0, volume[2] = {0.0}, *v = calloc(3 * (size_t)s.node_count, sizeof *v);
    assert_non_null(v);
    for (int32_t i = 0; i < 3 * s.node_count; i++) {
        s.nodes[i] += 0.01 * random_real(&random);
        v[i] = random_real(&random);
    }
    for (int32_t e = 0; e < s.triangle_count; e++) {
        double x[9], force[9], energy, none[9] = {0.0};
        for (int32_t i = 0; i < 9; i++) {
            x[i] = s.nodes[3 * s.triangles[3 * e + i / 3] + i % 3];
        }
        stn_element_batch batch = {.count = 1, .x = x, .v = none, .channels = &p, .force = force, .energy = &energy};
        assert_ok(instance->desc->ops.element->evaluate(instance->self, &batch, &err), err);
        for (int32_t n = 0; n < 3; n++) {
            sum = stn_vec3_add(sum, stn_vec3_at(force, n));
            moment = stn_vec3_add(moment, stn_vec3_cross(stn_vec3_at(x, n), stn_vec3_at(force, n)));
            power += stn_vec3_dot(stn_vec3_at(force, n), stn_vec3_at(v, s.triangles[3 * e + n]));
        }
        for (int32_t side = 0; side < 2; side++) {
            stn_vec3 at[3];
            for (int32_t n = 0; n < 3; n++) {
                int32_t node = s.triangles[3 * e + n];
                at[n] = stn_vec3_mul_add(stn_vec3_at(s.nodes, node), side == 0 ? -h : h, stn_vec3_at(v, node));
            }
            volume[side] += stn_vec3_dot(at[0], stn_vec3_cross(at[1], at[2])) / 6.0;
        }
    }
    assert_near(stn_vec3_norm(sum), 0.0, 1e-12 * 3000.0);
    assert_near(stn_vec3_norm(moment), 0.0, 1e-12 * 3000.0);
    assert_near(power, -p * (volume[1] - volume[0]) / (2.0 * h), 1e-6 * fabs(power)); // outside of it: it shrinks
    free(v);
    sheet_free(&s);
    stn_instance_destroy(instance);
}

static void assert_refused(stn_context *context, const double *nodes, const char *name, double value,
                           const char *expected) {
    const stn_setting setting = SOFT_NUMBER(name, value);
    stn_instance *instance = NULL;
    stn_error err = {STN_OK, ""};
    double constants[64];
    const double own[4] = {NAN, NAN, NAN, NAN};
    stn_status status = stn_instance_create(context, STN_KIND_ELEMENT, "shell", &setting, 1, &instance, &err);
    if (status == STN_OK) {
        status = instance->desc->ops.element->prepare(instance->self, nodes, own, constants, &err);
    }
    assert_true(status < 0);
    if (strstr(err.text, expected) == NULL) {
        print_message("\"%s\" does not say \"%s\"\n", err.text, expected);
        fail();
    }
    stn_instance_destroy(instance);
}

static void bad_sheets_are_refused_with_what_to_do(void **state) {
    const double alone[18] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0},
                 line[18] = {0, 0, 0, 1, 0, 0, 2, 0, 0, 0, 0, 0, 1, 0, 0, 2, 0, 0},
                 neighbour[18] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0.5, 0.5, 0, 1, 0, 0, 0, 1, 0};
    assert_refused(*state, line, "young", 1e6, "its corners lie on a line; leave it out or move a node");
    assert_refused(*state, neighbour, "young", 1e6, "its neighbour across nodes 1 and 2 (of 0 to 5) has no area");
    assert_refused(*state, alone, "thickness", 0.0, "thickness = 0 m must be > 0");
    assert_refused(*state, alone, "young", 0.0, "young = 0 Pa must be > 0");
    assert_refused(*state, alone, "poisson", -1.0, "poisson = -1 must be in (-1, 0.5]");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_square_plate_sags_as_kirchhoff_says),
        cmocka_unit_test(a_strip_with_free_sides_bends_as_a_beam),
        cmocka_unit_test(a_standing_strip_buckles_under_its_weight_as_greenhill_says),
        cmocka_unit_test(a_sheet_on_a_cylinder_has_the_stress_of_its_curvature),
        cmocka_unit_test(uniform_stretch_is_exact_in_irregular_triangles),
        cmocka_unit_test(an_inflated_sphere_has_the_tension_of_a_vessel),
        cmocka_unit_test(an_angle_counts_turns_through_pi),
        cmocka_unit_test(pressure_on_a_closed_surface_pushes_nowhere_and_works_by_its_volume),
        cmocka_unit_test(bad_sheets_are_refused_with_what_to_do),
    };
    return cmocka_run_group_tests(tests, scene_setup, scene_teardown);
}
