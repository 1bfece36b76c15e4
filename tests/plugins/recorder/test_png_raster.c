// SPDX-License-Identifier: Apache-2.0
// Rasteriser and tessellation of recorder/png against rays, closed forms and areas of silhouettes.
#include <stdlib.h>
#include <string.h>

#include "picture.h"
#include "stn_random_pose.h"
#include "stn_test.h"

enum { WIDTH = 240, HEIGHT = 180, COUNT = WIDTH * HEIGHT };

typedef struct canvas {
    raster raster;
    float nearness[COUNT];
    uint32_t normal[COUNT];
    int32_t item[COUNT];
    float value[COUNT];
} canvas;

static canvas *new_canvas(void) {
    canvas *c = calloc(1, sizeof *c);
    assert_non_null(c);
    c->raster = (raster){WIDTH, 0, HEIGHT, c->nearness, c->normal, c->item, c->value};
    return c;
}

static int32_t covered(const canvas *c) {
    int32_t count = 0;
    for (int32_t i = 0; i < COUNT; i++) {
        count += c->nearness[i] > 0.0f;
    }
    return count;
}

/// From the origin along z, the world's x right and y down. A tangent of 1 is 200 samples.
static view front_view(void) {
    view v = {.perspective = true, .scale = 200.0, .centre_x = 0.5 * WIDTH, .centre_y = 0.5 * HEIGHT, .near = 0.1};
    v.axes = stn_mat3_diagonal(1.0, -1.0, 1.0);
    return v;
}

/// Along z without perspective, 50 samples a metre.
static view flat_view(void) {
    view v = {.scale = 50.0, .centre_x = 0.5 * WIDTH, .centre_y = 0.5 * HEIGHT, .near = -INFINITY, .range = 20.0};
    v.axes = stn_mat3_diagonal(1.0, -1.0, 1.0);
    return v;
}

static vertex corner_at(double x, double y, double z) {
    return (vertex){{x, y, z}, {0.0, 0.0, -1.0}, 2.0 * x - 3.0 * y + z};
}

static vertex random_corner(stn_random *random) {
    double x = random_real(random), y = random_real(random), z = random_real(random);
    return corner_at(1.5 * x, 1.5 * y, 1.0 + 1.5 * z);
}

// ---------------------------------------------------------------------------------------------------- triangles

/// How a ray through the origin meets a triangle: depth, and the least barycentric coordinate.
static double cast(const vertex t[3], stn_vec3 ray, double *inside) {
    stn_vec3 e1 = stn_vec3_sub(t[1].place, t[0].place), e2 = stn_vec3_sub(t[2].place, t[0].place);
    stn_vec3 p = stn_vec3_cross(ray, e2), s = stn_vec3_neg(t[0].place), q = stn_vec3_cross(s, e1);
    double determinant = stn_vec3_dot(e1, p), u = stn_vec3_dot(s, p) / determinant,
           w = stn_vec3_dot(ray, q) / determinant;
    *inside = fmin(fmin(u, w), 1.0 - u - w);
    return stn_vec3_dot(e2, q) / determinant;
}

static void triangles_cover_what_rays_hit(void **state) {
    (void)state;
    canvas *c = new_canvas();
    view v = front_view();
    stn_random random = {7};
    int32_t hits = 0, cut = 0;
    for (int32_t round = 0; round < 300; round++) {
        vertex t[3] = {random_corner(&random), random_corner(&random), random_corner(&random)};
        cut += t[0].place.z < v.near || t[1].place.z < v.near || t[2].place.z < v.near;
        raster_clear(&c->raster);
        raster_triangle(&c->raster, &v, t, &(paint){.item = 3, .boost = 1.0});
        for (int32_t i = 0; i < COUNT; i++) {
            stn_vec3 ray = {(i % WIDTH + 0.5 - v.centre_x) / v.scale, (v.centre_y - 0.5 - i / WIDTH) / v.scale, 1.0};
            double inside = 0.0, depth = cast(t, ray, &inside);
            bool expected = inside > 0.0 && depth >= v.near;
            if (fabs(inside) < 1e-9 || fabs(depth - v.near) < 1e-9) {
                continue; // on an edge to round-off
            }
            assert_int_equal(c->nearness[i] > 0.0f, expected);
            if (expected) {
                assert_near((double)c->nearness[i] * depth, 1.0, 1e-6); // single precision
                assert_int_equal(c->item[i], 3);
                hits++;
            }
        }
    }
    assert_true(hits > 100000 && cut > 50); // the cases are not empty
    free(c);
}

/// A net of triangles over the picture, its inner points shifted by up to half a sample or a whole one.
static void neighbours_share_every_sample_between_them(void **state) {
    (void)state;
    enum { CELLS = 20 };
    canvas *c = new_canvas();
    view v = flat_view();
    stn_random random = {11};
    vertex net[CELLS + 1][CELLS + 1];
    for (int32_t i = 0; i <= CELLS; i++) {
        for (int32_t j = 0; j <= CELLS; j++) {
            // multiples of half a sample: corners and edges pass through centres of samples
            double x = 0.1 * (i - CELLS / 2) + 0.01 * round(3.0 * random_real(&random));
            double y = 0.08 * (j - CELLS / 2) + 0.01 * round(3.0 * random_real(&random));
            bool rim = i == 0 || j == 0 || i == CELLS || j == CELLS;
            net[i][j] = corner_at(rim ? 0.1 * (i - CELLS / 2) : x, rim ? 0.08 * (j - CELLS / 2) : y, 1.0);
        }
    }
    int32_t *times = calloc(COUNT, sizeof *times);
    assert_non_null(times);
    for (int32_t k = 0; k < 2 * CELLS * CELLS; k++) {
        int32_t i = k / 2 % CELLS, j = k / 2 / CELLS;
        vertex t[3] = {net[i][j], k % 2 == 0 ? net[i + 1][j] : net[i + 1][j + 1],
                       k % 2 == 0 ? net[i + 1][j + 1] : net[i][j + 1]};
        raster_clear(&c->raster);
        raster_triangle(&c->raster, &v, t, &(paint){.boost = 1.0});
        for (int32_t s = 0; s < COUNT; s++) {
            times[s] += c->nearness[s] > 0.0f;
            if (c->nearness[s] > 0.0f) { // the value is as linear as that of the corners
                double x = (s % WIDTH + 0.5 - v.centre_x) / v.scale, y = (v.centre_y - 0.5 - s / WIDTH) / v.scale;
                assert_near((double)c->value[s], 2.0 * x - 3.0 * y + 1.0, 1e-5);
            }
        }
    }
    int32_t inside = 0;
    for (int32_t s = 0; s < COUNT; s++) {
        double x = s % WIDTH + 0.5 - v.centre_x, y = s / WIDTH + 0.5 - v.centre_y;
        bool in = fabs(x) < 50.0 && fabs(y) < 40.0; // 2 m x 1.6 m
        assert_int_equal(times[s], in ? 1 : 0);
        inside += in;
    }
    assert_int_equal(inside, 100 * 80);
    free(times);
    free(c);
}

static void bands_of_rows_are_those_of_the_whole(void **state) {
    (void)state;
    canvas *whole = new_canvas(), *part = new_canvas();
    view v = front_view();
    stn_random random = {3};
    vertex t[20][3];
    for (int32_t k = 0; k < 60; k++) {
        t[k / 3][k % 3] = random_corner(&random);
    }
    for (int32_t start = 0; start < HEIGHT; start += 60) {
        raster band = part->raster;
        band.row_start = start;
        band.row_count = 60;
        for (int32_t k = 0; k < 20; k++) {
            raster_triangle(&whole->raster, &v, t[k], &(paint){.item = k, .boost = 1.0});
            raster_triangle(&band, &v, t[k], &(paint){.item = k, .boost = 1.0});
        }
        assert_memory_equal(band.nearness, whole->nearness + start * WIDTH, 60 * WIDTH * sizeof *band.nearness);
        raster_clear(&band);
    }
    free(whole);
    free(part);
}

static void square(const canvas *c, const view *v, double z_left, double z_right, const paint *with) {
    vertex corner[4] = {corner_at(-0.5 * z_left, -0.5, z_left), corner_at(0.5 * z_right, -0.5, z_right),
                        corner_at(0.5 * z_right, 0.5, z_right), corner_at(-0.5 * z_left, 0.5, z_left)};
    raster_triangle(&c->raster, v, (const vertex[3]){corner[0], corner[1], corner[2]}, with);
    raster_triangle(&c->raster, v, (const vertex[3]){corner[0], corner[2], corner[3]}, with);
}

static int32_t item_at(const canvas *c, int32_t x, int32_t y) {
    return c->item[y * WIDTH + x];
}

static void the_nearer_surface_shows_in_any_order(void **state) {
    (void)state;
    canvas *c = new_canvas();
    view v = front_view();
    const paint one = {.item = 1, .boost = 1.0}, two = {.item = 2, .boost = 1.0};
    for (int32_t order = 0; order < 2; order++) { // two squares that cross where x = 0
        raster_clear(&c->raster);
        square(c, &v, order == 0 ? 1.0 : 2.0, order == 0 ? 2.0 : 1.0, order == 0 ? &one : &two);
        square(c, &v, order == 0 ? 2.0 : 1.0, order == 0 ? 1.0 : 2.0, order == 0 ? &two : &one);
        for (int32_t x = 70; x < 170; x++) {
            if (abs(x - WIDTH / 2) > 2) { // nearer to the line the tie decides
                assert_int_equal(item_at(c, x, HEIGHT / 2), x < WIDTH / 2 ? 1 : 2);
            }
        }
    }
    free(c);
}

static void of_two_that_coincide_the_first_stays(void **state) {
    (void)state;
    canvas *c = new_canvas();
    view v = front_view();
    double tie = 0.5 / v.scale; // of the depth: what half a sample spans
    square(c, &v, 1.0, 1.0, &(paint){.item = 1, .boost = 1.0});
    square(c, &v, 1.0 - 0.9 * tie, 1.0 - 0.9 * tie, &(paint){.item = 2, .boost = 1.0});
    assert_int_equal(item_at(c, WIDTH / 2, HEIGHT / 2), 1);
    square(c, &v, 1.0 - 1.1 * tie, 1.0 - 1.1 * tie, &(paint){.item = 3, .boost = 1.0});
    assert_int_equal(item_at(c, WIDTH / 2, HEIGHT / 2), 3);
    square(c, &v, 2.0, 2.0, &(paint){.item = 4, .boost = BOOST}); // far behind, but over everything
    assert_int_equal(item_at(c, WIDTH / 2, HEIGHT / 2), 4);
    free(c);
}

static void insides_of_closed_shapes_are_skipped_and_of_open_ones_turned(void **state) {
    (void)state;
    canvas *c = new_canvas();
    view v = front_view();
    // seen from inside: clockwise, the normal points away from the eye
    vertex t[3] = {corner_at(-1.0, -1.0, 3.0), corner_at(1.0, -1.0, 3.0), corner_at(0.0, 1.0, 3.0)};
    for (int32_t k = 0; k < 3; k++) {
        t[k].normal.z = 1.0;
    }
    raster_triangle(&c->raster, &v, t, &(paint){.closed = true, .boost = 1.0});
    int32_t clockwise = covered(c);
    raster_clear(&c->raster);
    vertex swapped[3] = {t[0], t[2], t[1]};
    raster_triangle(&c->raster, &v, swapped, &(paint){.closed = true, .boost = 1.0});
    int32_t counter = covered(c);
    assert_true((clockwise == 0) != (counter == 0));
    raster_clear(&c->raster);
    raster_triangle(&c->raster, &v, clockwise == 0 ? t : swapped, &(paint){.boost = 1.0});
    assert_int_equal(covered(c), clockwise + counter);
    stn_vec3 n = normal_unpack(c->normal[HEIGHT / 2 * WIDTH + WIDTH / 2]);
    assert_near(n.z, -1.0, 1e-3);
    free(c);
}

static void triangles_that_are_no_triangles_draw_nothing(void **state) {
    (void)state;
    canvas *c = new_canvas();
    view v = front_view();
    const double bad[] = {NAN, INFINITY, -INFINITY, 1e300, 0.0};
    for (int32_t i = 0; i < STN_COUNT(bad); i++) {
        vertex t[3] = {corner_at(bad[i], 0.0, 1.0), corner_at(0.0, bad[i], 1.0), corner_at(0.0, 0.0, 1.0)};
        raster_triangle(&c->raster, &v, t, &(paint){.boost = 1.0});
        vertex deep[3] = {corner_at(1.0, 0.0, bad[i]), corner_at(0.0, 1.0, bad[i]), corner_at(0.0, 0.0, bad[i])};
        raster_triangle(&c->raster, &v, deep, &(paint){.boost = 1.0});
    }
    for (int32_t i = 0; i < COUNT; i++) {
        assert_true(c->nearness[i] >= 0.0f && isfinite(c->nearness[i]));
    }
    vertex outside[3] = {corner_at(50.0, 0.0, 1.0), corner_at(51.0, 0.0, 1.0), corner_at(50.0, 1.0, 1.0)};
    raster_clear(&c->raster);
    raster_triangle(&c->raster, &v, outside, &(paint){.boost = 1.0});
    assert_int_equal(covered(c), 0);
    free(c);
}

static void packed_normals_are_near(void **state) {
    (void)state;
    stn_random random = {5};
    for (int32_t i = 0; i < 1000; i++) {
        stn_vec3 n = random_unit(&random), again = normal_unpack(normal_pack(n));
        assert_true(stn_vec3_norm(stn_vec3_sub(n, again)) < 2e-3); // half of 2 / 1023 in each of three
        assert_near(stn_vec3_norm(again), 1.0, 1e-12);
    }
}

// ---------------------------------------------------------------------------------------------------- silhouettes

/// Draws a shape turned by `turn` at (0, 0, depth); returns the samples that it covers.
static int32_t silhouette(canvas *c, const view *v, stn_shape shape, stn_mat3 turn, double depth) {
    solid s = {.shape = shape, .pose = {turn, {0.0, 0.0, depth}}};
    raster_clear(&c->raster);
    solid_draw(&s, &c->raster, v, 0, 1.0);
    return covered(c);
}

/// Chords lie at most a quarter of a sample inside; counting samples errs by less than another quarter of the rim here.
static void expect_area(int32_t count, double area, double rim) {
    assert_near((double)count, area, 0.5 * rim);
}

static void a_sphere_covers_its_disc(void **state) {
    (void)state;
    canvas *c = new_canvas();
    view v = front_view();
    for (int32_t i = 1; i <= 8; i++) {
        // A sphere of radius r at distance d shows under the angle asin(r / d).
        double r = 0.1 * i, d = 2.0 + 0.01 * i, radius = v.scale * r / sqrt(d * d - r * r);
        int32_t count = silhouette(c, &v, stn_shape_sphere(r), stn_mat3_identity(), d);
        expect_area(count, STN_PI * radius * radius, 2.0 * STN_PI * radius);
        double nearest = (double)c->nearness[HEIGHT / 2 * WIDTH + WIDTH / 2];
        assert_near(1.0 / nearest, d - r, 0.25 * d / v.scale);
    }
    free(c);
}

static void shapes_from_the_side_cover_their_outlines(void **state) {
    (void)state;
    canvas *c = new_canvas();
    view v = flat_view();
    stn_mat3 lying = stn_mat3_from_rpy(0.0, 0.5 * STN_PI, 0.3);
    double s = v.scale, r = 0.6, h = 0.9, a = 1.5, b = 0.5;
    expect_area(silhouette(c, &v, stn_shape_capsule(r, h), lying, 9.0), s * s * (STN_PI * r * r + 4.0 * r * h),
                s * (2.0 * STN_PI * r + 4.0 * h));
    expect_area(silhouette(c, &v, stn_shape_cylinder(r, h), lying, 9.0), s * s * 4.0 * r * h, s * 4.0 * (r + h));
    expect_area(silhouette(c, &v, stn_shape_cylinder(r, h), stn_mat3_identity(), 9.0), s * s * STN_PI * r * r,
                s * 2.0 * STN_PI * r);
    // seen along its own x axis, which leaves the other two
    expect_area(silhouette(c, &v, stn_shape_ellipsoid(stn_vec3_make(2.0, a, b)), lying, 9.0), s * s * STN_PI * a * b,
                s * STN_PI * (a + b));
    expect_area(silhouette(c, &v, stn_shape_box(stn_vec3_make(a, b, r)), lying, 9.0), s * s * 4.0 * b * r,
                s * 4.0 * (b + r));
    free(c);
}

/// Projections of a turned box: the area is the sum of |n_z| A over the three pairs of faces.
static void a_turned_box_covers_its_projection(void **state) {
    (void)state;
    canvas *c = new_canvas();
    view v = flat_view();
    stn_random random = {2};
    stn_vec3 h = {0.7, 0.5, 0.3};
    for (int32_t i = 0; i < 20; i++) {
        stn_mat3 turn = stn_quat_matrix(random_rotation(&random));
        double area =
            4.0 * (fabs(turn.m[2][0]) * h.y * h.z + fabs(turn.m[2][1]) * h.x * h.z + fabs(turn.m[2][2]) * h.x * h.y);
        int32_t count = silhouette(c, &v, stn_shape_box(h), turn, 9.0);
        assert_near((double)count, v.scale * v.scale * area, 0.25 * v.scale * 8.0 * (h.x + h.y + h.z));
    }
    free(c);
}

static void normals_of_a_sphere_are_radial_at_every_sample(void **state) {
    (void)state;
    canvas *c = new_canvas();
    view v = flat_view();
    double r = 1.4;
    silhouette(c, &v, stn_shape_sphere(r), stn_quat_matrix(random_rotation(&(stn_random){9})), 9.0);
    for (int32_t i = 0; i < COUNT; i++) {
        double x = (i % WIDTH + 0.5 - v.centre_x) / v.scale, y = (i / WIDTH + 0.5 - v.centre_y) / v.scale;
        if (hypot(x, y) < 0.95 * r) {
            stn_vec3 n = normal_unpack(c->normal[i]), expected = {x / r, y / r, -sqrt(r * r - x * x - y * y) / r};
            assert_true(stn_vec3_norm(stn_vec3_sub(n, expected)) < 0.02);
        }
    }
    free(c);
}

/// The normal of x^2/a^2 + y^2/b^2 + z^2/c^2 = 1 is its gradient.
static void normals_of_an_ellipsoid_are_its_gradient(void **state) {
    (void)state;
    canvas *c = new_canvas();
    view v = flat_view();
    stn_vec3 h = {1.6, 1.0, 0.7};
    silhouette(c, &v, stn_shape_ellipsoid(h), stn_mat3_identity(), 9.0);
    for (int32_t i = 0; i < COUNT; i++) {
        double x = (i % WIDTH + 0.5 - v.centre_x) / v.scale, y = (i / WIDTH + 0.5 - v.centre_y) / v.scale;
        double rest = 1.0 - x * x / (h.x * h.x) - y * y / (h.y * h.y);
        if (rest > 0.1) {
            stn_vec3 gradient = {x / (h.x * h.x), y / (h.y * h.y), -sqrt(rest) / h.z};
            stn_vec3 expected = stn_vec3_scale(1.0 / stn_vec3_norm(gradient), gradient);
            assert_true(stn_vec3_norm(stn_vec3_sub(normal_unpack(c->normal[i]), expected)) < 0.03);
        }
    }
    free(c);
}

// --------------------------------------------------------------------------------------------------------- meshes

static void mesh_of_box(stn_context *context, stn_mesh **mesh) {
    static const double v[] = {-1, -1, -1, 1, -1, -1, 1, 1, -1, -1, 1, -1, -1, -1, 1, 1, -1, 1, 1, 1, 1, -1, 1, 1};
    static const int32_t t[] = {0, 2, 1, 0, 3, 2, 4, 5, 6, 4, 6, 7, 0, 1, 5, 0, 5, 4,
                                1, 2, 6, 1, 6, 5, 2, 3, 7, 2, 7, 6, 3, 0, 4, 3, 4, 7};
    stn_mesh_data data = {.vertex_count = 8, .triangle_count = 12, .vertices = v, .triangles = t};
    stn_error err;
    assert_ok(stn_mesh_create(context, &data, mesh, &err), err);
}

/// A surface of revolution about z with `rings` x `around` quads: a sphere of radius 1 without its caps.
static void mesh_of_sphere(stn_context *context, stn_mesh **mesh) {
    enum { RINGS = 20, AROUND = 40 };
    static double v[3 * (RINGS + 1) * AROUND];
    static int32_t t[6 * RINGS * AROUND];
    for (int32_t i = 0; i <= RINGS; i++) {
        for (int32_t j = 0; j < AROUND; j++) {
            double e = 2.6 * ((double)i / RINGS - 0.5), a = 2.0 * STN_PI * j / AROUND;
            double *p = v + 3 * (i * AROUND + j);
            p[0] = cos(e) * cos(a);
            p[1] = cos(e) * sin(a);
            p[2] = sin(e);
        }
    }
    for (int32_t i = 0; i < RINGS * AROUND; i++) {
        int32_t next = i / AROUND * AROUND + (i + 1) % AROUND;
        const int32_t quad[6] = {i, next, next + AROUND, i, next + AROUND, i + AROUND};
        memcpy(t + 6 * i, quad, sizeof quad);
    }
    stn_mesh_data data = {
        .vertex_count = (RINGS + 1) * AROUND, .triangle_count = 2 * RINGS * AROUND, .vertices = v, .triangles = t};
    stn_error err;
    assert_ok(stn_mesh_create(context, &data, mesh, &err), err);
}

static stn_vec3 mesh_vertex(const stn_mesh *mesh, int32_t corner) {
    const double *p = mesh->vertices + 3 * mesh->triangles[corner];
    return stn_vec3_make(p[0], p[1], p[2]);
}

static void edges_of_a_mesh_stay_sharp_and_round_ones_are_smooth(void **state) {
    stn_mesh *box = NULL, *ball = NULL;
    uint32_t *normals = NULL;
    stn_error err;
    mesh_of_box(*state, &box);
    assert_ok(mesh_normals(*state, box, &normals, &err), err);
    for (int32_t c = 0; c < 3 * box->triangle_count; c++) {
        stn_vec3 a = mesh_vertex(box, c / 3 * 3), b = mesh_vertex(box, c / 3 * 3 + 1),
                 d = mesh_vertex(box, c / 3 * 3 + 2);
        stn_vec3 n = stn_vec3_scale(0.25, stn_vec3_cross(stn_vec3_sub(b, a), stn_vec3_sub(d, a)));
        assert_true(stn_vec3_norm(stn_vec3_sub(normal_unpack(normals[c]), n)) < 2e-3);
    }
    stn_release(*state, normals);
    mesh_of_sphere(*state, &ball);
    assert_ok(mesh_normals(*state, ball, &normals, &err), err);
    for (int32_t c = 0; c < 3 * ball->triangle_count; c++) {
        stn_vec3 p = mesh_vertex(ball, c);
        if (fabs(p.z) < 0.9) { // at the rims one side is missing
            // The mean of the six triangles around leans by less than half their size, 0.13 rad.
            assert_true(stn_vec3_dot(normal_unpack(normals[c]), p) > cos(0.05));
        }
    }
    stn_release(*state, normals);
    stn_mesh_release(box);
    stn_mesh_release(ball);
}

static void a_mesh_draws_what_its_shape_does(void **state) {
    stn_mesh *mesh = NULL;
    stn_error err;
    mesh_of_box(*state, &mesh);
    solid s = {.shape = stn_shape_mesh(mesh), .pose = {stn_mat3_from_rpy(0.4, 0.3, 0.2), {0.1, 0.2, 6.0}}};
    uint32_t *normals = NULL;
    assert_ok(mesh_normals(*state, mesh, &normals, &err), err);
    s.normals = normals;
    canvas *c = new_canvas(), *other = new_canvas();
    view v = front_view();
    solid_draw(&s, &c->raster, &v, 0, 1.0);
    s.shape = stn_shape_box(stn_vec3_make(1.0, 1.0, 1.0));
    solid_draw(&s, &other->raster, &v, 0, 1.0);
    assert_true(covered(c) > 2000);
    for (int32_t i = 0; i < COUNT; i++) {
        assert_near((double)c->nearness[i], (double)other->nearness[i], 1e-6);
    }
    s.shape = stn_shape_mesh(NULL); // a mesh that is not loaded
    raster_clear(&c->raster);
    solid_draw(&s, &c->raster, &v, 0, 1.0);
    assert_int_equal(covered(c), 0);
    stn_release(*state, normals);
    stn_mesh_release(mesh);
    free(c);
    free(other);
}

static int setup(void **state) {
    stn_context *context = NULL;
    stn_error err;
    assert_ok(stn_context_create(NULL, &context, &err), err);
    *state = context;
    return 0;
}

static int teardown(void **state) {
    stn_context_destroy(*state);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(triangles_cover_what_rays_hit),
        cmocka_unit_test(neighbours_share_every_sample_between_them),
        cmocka_unit_test(bands_of_rows_are_those_of_the_whole),
        cmocka_unit_test(the_nearer_surface_shows_in_any_order),
        cmocka_unit_test(of_two_that_coincide_the_first_stays),
        cmocka_unit_test(insides_of_closed_shapes_are_skipped_and_of_open_ones_turned),
        cmocka_unit_test(triangles_that_are_no_triangles_draw_nothing),
        cmocka_unit_test(packed_normals_are_near),
        cmocka_unit_test(a_sphere_covers_its_disc),
        cmocka_unit_test(shapes_from_the_side_cover_their_outlines),
        cmocka_unit_test(a_turned_box_covers_its_projection),
        cmocka_unit_test(normals_of_a_sphere_are_radial_at_every_sample),
        cmocka_unit_test(normals_of_an_ellipsoid_are_its_gradient),
        cmocka_unit_test(edges_of_a_mesh_stay_sharp_and_round_ones_are_smooth),
        cmocka_unit_test(a_mesh_draws_what_its_shape_does),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
