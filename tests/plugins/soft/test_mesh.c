// SPDX-License-Identifier: Apache-2.0
// Soft meshes: what is generated is closed, positive and of the right volume; what is given is checked; sets of nodes.
#include <stdlib.h>
#include <sys/resource.h>

#include "stn_heap.h"
#include "stn_heard.h"
#include "stn_random.h"
#include "stn_test.h"

#include <stiction/soft.h>

static const double pi = 3.14159265358979323846;

static stn_context *context;
static heard log_of_context;

static int begin(void **state) {
    (void)state;
    stn_context_options options = {.log = heard_listen, .log_user = &log_of_context};
    stn_error err;
    return stn_context_create(&options, &context, &err) == STN_OK ? 0 : -1;
}

static int end(void **state) {
    (void)state;
    stn_context_destroy(context);
    return 0;
}

/// Listens for warnings with this part from here on.
static void listen_for(const char *part) {
    log_of_context = (heard){.part = part};
}

static stn_soft_shape shape_of(stn_soft_shape_type type, double x, double y, double z, int32_t nx, int32_t ny,
                               int32_t nz) {
    return (stn_soft_shape){.type = type, .size = stn_vec3_make(x, y, z), .cells = {nx, ny, nz}};
}

static stn_soft_shape finger_shape(void) {
    stn_soft_shape shape = shape_of(STN_SOFT_FINGER, 0.09, 0.02, 0.015, 45, 10, 7);
    shape.chambers = 4;
    shape.rows = 1;
    shape.wall = 0.002;
    shape.floor = 0.004;
    return shape;
}

static stn_soft_mesh *generate(const stn_soft_shape *shape) {
    stn_soft_mesh *mesh = NULL;
    stn_error err = {0};
    listen_for(""); // a generated mesh gives nothing to tell
    assert_ok(stn_soft_mesh_generate(context, shape, &mesh, &err), err);
    assert_int_equal(log_of_context.count, 0);
    return mesh;
}

// ------------------------------------------------------------------------------------------------- independent figures

static stn_vec3 node(const stn_soft_mesh *mesh, int32_t i) {
    return stn_vec3_make(mesh->nodes[3 * i], mesh->nodes[3 * i + 1], mesh->nodes[3 * i + 2]);
}

static double volume_of(const stn_soft_mesh *mesh, int32_t tetrahedron) {
    const int32_t *t = &mesh->tetrahedra[4 * (size_t)tetrahedron];
    stn_vec3 a = node(mesh, t[0]), b = stn_vec3_sub(node(mesh, t[1]), a), c = stn_vec3_sub(node(mesh, t[2]), a);
    return stn_vec3_dot(b, stn_vec3_cross(c, stn_vec3_sub(node(mesh, t[3]), a))) / 6.0;
}

/// 12 (3 V)^(2/3) / sum of squared edges: 1 when regular, 0 when flat.
static double quality_of(const stn_soft_mesh *mesh, int32_t tetrahedron) {
    const int32_t *t = &mesh->tetrahedra[4 * (size_t)tetrahedron];
    double sum = 0.0;
    for (int i = 0; i < 4; i++) {
        for (int k = 0; k < i; k++) {
            stn_vec3 edge = stn_vec3_sub(node(mesh, t[i]), node(mesh, t[k]));
            sum += stn_vec3_dot(edge, edge);
        }
    }
    return 12.0 * pow(3.0 * volume_of(mesh, tetrahedron), 2.0 / 3.0) / sum;
}

static double enclosed(const stn_soft_mesh *mesh, int32_t from, int32_t to) {
    double volume = 0.0;
    for (int32_t i = from; i < to; i++) {
        const int32_t *t = &mesh->triangles[3 * (size_t)i];
        volume += stn_vec3_dot(node(mesh, t[0]), stn_vec3_cross(node(mesh, t[1]), node(mesh, t[2]))) / 6.0;
    }
    return volume;
}

static int compare_keys(const void *left, const void *right) {
    const int64_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/// Every edge of these triangles is run through once one way and once the other.
static void assert_closed(const stn_soft_mesh *mesh, int32_t from, int32_t to) {
    size_t count = 3 * (size_t)(to - from);
    assert_true(count > 0);
    int64_t *there = malloc(count * sizeof *there), *back = malloc(count * sizeof *back);
    for (size_t i = 0; i < count; i++) {
        const int32_t *t = &mesh->triangles[3 * ((size_t)from + i / 3)];
        int64_t a = t[i % 3], b = t[(i + 1) % 3];
        there[i] = a * mesh->node_count + b;
        back[i] = b * mesh->node_count + a;
    }
    qsort(there, count, sizeof *there, compare_keys);
    qsort(back, count, sizeof *back, compare_keys);
    for (size_t i = 0; i < count; i++) {
        assert_true(i == 0 || there[i - 1] < there[i]);
        assert_true(there[i] == back[i]);
    }
    free(there);
    free(back);
}

typedef struct figures {
    double volume, least_volume, least_quality;
} figures;

/// All that every solid mesh must be: positive, closed, and as large as its surface says.
static figures assert_sound(const stn_soft_mesh *mesh) {
    figures f = {.least_volume = INFINITY, .least_quality = INFINITY};
    for (int32_t i = 0; i < mesh->tetrahedron_count; i++) {
        double volume = volume_of(mesh, i);
        f.volume += volume;
        f.least_volume = fmin(f.least_volume, volume);
        f.least_quality = fmin(f.least_quality, quality_of(mesh, i));
    }
    assert_true(f.least_volume > 0.0);
    assert_closed(mesh, 0, mesh->triangle_count);
    assert_closed(mesh, 0, mesh->chamber_start[0]);
    assert_near(enclosed(mesh, 0, mesh->triangle_count), f.volume, 1e-10 * f.volume);
    assert_near(stn_soft_mesh_volume(mesh, NULL), f.volume, 1e-10 * f.volume);
    assert_int_equal(mesh->chamber_start[mesh->chamber_count], mesh->triangle_count);
    for (int32_t i = 0; i < mesh->node_count; i++) {
        assert_int_equal(mesh->origin[i], i);
    }
    return f;
}

// ----------------------------------------------------------------------------------------------------------- generated

static void the_meshes_of_the_paper_have_its_number_of_nodes_within_5_percent(void **state) {
    (void)state;
    const struct {
        stn_soft_shape shape;
        int32_t bodies, nodes, tetrahedra, paper_nodes; // boxes have 5 tetrahedra a cell, those of the paper about 6
    } rows[] = {
        {shape_of(STN_SOFT_BOX, 0.3, 0.3, 0.005, 26, 26, 1), 1, 1458, 3380, 1477},
        {shape_of(STN_SOFT_BALL, 0.07, 0.07, 0.07, 10, 10, 11), 1, 1452, 6600, 1463},
        {shape_of(STN_SOFT_BOX, 0.004, 0.02, 0.06, 2, 15, 50), 2, 4896, 15000, 4889},
    };
    for (int i = 0; i < 3; i++) {
        stn_soft_mesh *mesh = generate(&rows[i].shape);
        (void)assert_sound(mesh);
        assert_int_equal(rows[i].bodies * mesh->node_count, rows[i].nodes);
        assert_int_equal(rows[i].bodies * mesh->tetrahedron_count, rows[i].tetrahedra);
        assert_near(rows[i].nodes, rows[i].paper_nodes, 0.05 * rows[i].paper_nodes);
        stn_soft_mesh_destroy(mesh);
    }
}

static void boxes_of_1_to_40_cells_are_sound_and_have_their_volume(void **state) {
    (void)state;
    stn_random random = {7};
    for (int32_t n = 1; n <= 40; n++) {
        int32_t cells[3] = {n, 1 + random_below(&random, 40), 1 + random_below(&random, 8)};
        double size[3];
        for (int k = 0; k < 3; k++) {
            size[k] = pow(10.0, 3.0 * random_real(&random));
        }
        stn_soft_shape shape = shape_of(STN_SOFT_BOX, size[0], size[1], size[2], cells[0], cells[1], cells[2]);
        stn_soft_mesh *mesh = generate(&shape);
        double whole = size[0] * size[1] * size[2];
        figures f = assert_sound(mesh);
        assert_near(f.volume, whole, 1e-11 * whole);
        const double corner = whole / 6.0 / ((double)cells[0] * cells[1] * cells[2]); // one in five has twice that
        assert_near(f.least_volume, corner, 1e-9 * corner);
        assert_int_equal(mesh->node_count, (cells[0] + 1) * (cells[1] + 1) * (cells[2] + 1));
        assert_int_equal(mesh->triangle_count, 4 * (cells[0] * cells[1] + cells[1] * cells[2] + cells[2] * cells[0]));
        assert_int_equal(mesh->chamber_count, 0);
        assert_int_equal(mesh->part_count, 1);
        assert_near(stn_soft_mesh_area(mesh), 2.0 * (size[0] * size[1] + size[1] * size[2] + size[2] * size[0]),
                    1e-9 * (size[0] + size[1] + size[2]) * (size[0] + size[1] + size[2]));
        stn_soft_mesh_destroy(mesh);
    }
}

static void balls_and_cylinders_of_1_to_40_cells_are_sound(void **state) {
    (void)state;
    double least[2] = {INFINITY, INFINITY};
    for (int32_t n = 1; n <= 40; n += n < 20 ? 1 : 5) {
        stn_soft_shape shapes[] = {shape_of(STN_SOFT_BALL, 0.1, 0.1, 0.1, n, n, n),
                                   shape_of(STN_SOFT_CYLINDER, 0.1, 0.1, 0.1, n, n, n)};
        for (int i = 0; i < 2; i++) {
            stn_soft_mesh *mesh = generate(&shapes[i]);
            figures f = assert_sound(mesh);
            double exact = i == 0 ? pi / 6.0 * 1e-3 : pi / 4.0 * 1e-3;
            assert_true(f.volume < exact); // it lies within the ball
            least[i] = n > 1 ? fmin(least[i], f.least_quality) : least[i];
            for (int32_t k = 0; k < 3 * mesh->chamber_start[0]; k++) { // and its skin on it
                stn_vec3 x = node(mesh, mesh->triangles[k]);
                double radius = hypot(hypot(x.x, x.y), i == 0 ? x.z : 0.0);
                assert_true(i == 1 ? radius < 0.05 + 1e-15 : fabs(radius - 0.05) < 1e-15);
            }
            stn_soft_mesh_destroy(mesh);
        }
    }
    // those of a cube have 0.84; at the edges and corners of the cube none becomes flat, however small the cells
    assert_true(least[0] > 0.59);
    assert_true(least[1] > 0.67);
}

static void flat_and_long_balls_are_sound(void **state) {
    (void)state;
    stn_random random = {11};
    for (int i = 0; i < 200; i++) {
        stn_soft_shape shape = shape_of(i % 2 == 0 ? STN_SOFT_BALL : STN_SOFT_CYLINDER, 0.0, 0.0, 0.0, 1, 1, 1);
        double *size[3] = {&shape.size.x, &shape.size.y, &shape.size.z};
        for (int k = 0; k < 3; k++) {
            *size[k] = pow(10.0, 2.0 * random_real(&random));
            shape.cells[k] = 1 + random_below(&random, 12);
        }
        stn_soft_mesh *mesh = generate(&shape);
        (void)assert_sound(mesh);
        stn_soft_mesh_destroy(mesh);
    }
}

static void the_volume_of_a_ball_converges_by_the_second_order(void **state) {
    (void)state;
    double missing[3];
    for (int i = 0; i < 3; i++) {
        stn_soft_shape shape = shape_of(STN_SOFT_BALL, 2.0, 2.0, 2.0, 8 << i, 8 << i, 8 << i);
        stn_soft_mesh *mesh = generate(&shape);
        missing[i] = 4.0 / 3.0 * pi - stn_soft_mesh_volume(mesh, NULL);
        stn_soft_mesh_destroy(mesh);
    }
    assert_near(log2(missing[0] / missing[1]), 2.0, 0.05);
    assert_near(log2(missing[1] / missing[2]), 2.0, 0.02);
}

static int compare_tetrahedra(const void *left, const void *right) {
    return memcmp(left, right, 4 * sizeof(int32_t));
}

static int compare_numbers(const void *left, const void *right) {
    const int32_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/// Sets of four nodes, sorted, with the nodes' numbers after a mirror along one axis (-1: none).
static int32_t *sorted_tetrahedra(const stn_soft_mesh *mesh, const int32_t cells[3], int axis) {
    size_t count = (size_t)mesh->tetrahedron_count;
    int32_t *sets = malloc(4 * count * sizeof *sets);
    for (size_t i = 0; i < 4 * count; i++) {
        int32_t n = mesh->tetrahedra[i],
                at[3] = {n % (cells[0] + 1), n / (cells[0] + 1) % (cells[1] + 1), n / (cells[0] + 1) / (cells[1] + 1)};
        if (axis >= 0) {
            at[axis] = cells[axis] - at[axis];
        }
        sets[i] = at[0] + (cells[0] + 1) * (at[1] + (cells[1] + 1) * at[2]);
    }
    for (size_t e = 0; e < count; e++) {
        qsort(&sets[4 * e], 4, sizeof *sets, compare_numbers);
    }
    qsort(sets, count, 4 * sizeof *sets, compare_tetrahedra);
    return sets;
}

static void meshes_with_even_numbers_of_cells_are_mirror_images_of_themselves(void **state) {
    (void)state;
    stn_soft_shape shape = shape_of(STN_SOFT_BOX, 1.0, 2.0, 3.0, 2, 6, 4);
    stn_soft_mesh *mesh = generate(&shape);
    int32_t *plain = sorted_tetrahedra(mesh, shape.cells, -1);
    for (int axis = 0; axis < 3; axis++) {
        int32_t *mirrored = sorted_tetrahedra(mesh, shape.cells, axis);
        assert_memory_equal(plain, mirrored, 4 * (size_t)mesh->tetrahedron_count * sizeof *plain);
        free(mirrored);
    }
    free(plain);
    stn_soft_mesh_destroy(mesh);
}

static void sheets_with_even_numbers_of_cells_are_mirror_images_of_themselves(void **state) {
    (void)state;
    stn_soft_shape shape = shape_of(STN_SOFT_SHEET, 1.0, 2.0, 0.0, 4, 2, 1);
    stn_soft_mesh *mesh = generate(&shape);
    for (int axis = 0; axis < 2; axis++) {
        for (int32_t i = 0; i < mesh->triangle_count; i++) {
            int32_t mirrored[3], found = 0;
            for (int k = 0; k < 3; k++) {
                int32_t n = mesh->triangles[3 * i + k], at[2] = {n % 5, n / 5};
                at[axis] = shape.cells[axis] - at[axis];
                mirrored[k] = at[0] + 5 * at[1];
            }
            for (int32_t e = 0; e < mesh->triangle_count; e++) {
                int shared = 0;
                for (int k = 0; k < 9; k++) {
                    shared += mesh->triangles[3 * e + k % 3] == mirrored[k / 3];
                }
                found += shared == 3;
            }
            assert_int_equal(found, 1);
        }
    }
    stn_soft_mesh_destroy(mesh);
}

static void no_tetrahedron_of_a_ball_has_two_faces_on_the_skin(void **state) {
    (void)state;
    stn_soft_shape shape = shape_of(STN_SOFT_BALL, 1.0, 1.0, 1.0, 3, 4, 2);
    stn_soft_mesh *mesh = generate(&shape);
    int32_t *faces = calloc((size_t)mesh->tetrahedron_count, sizeof *faces);
    for (int32_t i = 0; i < mesh->triangle_count; i++) {
        int32_t owners = 0;
        for (int32_t e = 0; e < mesh->tetrahedron_count; e++) {
            int shared = 0;
            for (int k = 0; k < 12; k++) {
                shared += mesh->tetrahedra[4 * e + k % 4] == mesh->triangles[3 * i + k / 4];
            }
            owners += shared == 3;
            faces[e] += shared == 3;
        }
        assert_int_equal(owners, 1);
    }
    for (int32_t e = 0; e < mesh->tetrahedron_count; e++) {
        assert_true(faces[e] <= 1);
    }
    free(faces);
    stn_soft_mesh_destroy(mesh);
}

/// The far corners across edges, by looking at all pairs of triangles.
static void assert_neighbours(const stn_soft_mesh *mesh) {
    for (int32_t i = 0; i < mesh->triangle_count; i++) {
        for (int k = 0; k < 3; k++) {
            const int32_t *t = &mesh->triangles[3 * i];
            int32_t a = t[(k + 1) % 3], b = t[(k + 2) % 3], far = t[k];
            for (int32_t e = 0; e < 3 * mesh->triangle_count; e++) {
                const int32_t *other = &mesh->triangles[e - e % 3];
                if (other[e % 3] == b && other[(e + 1) % 3] == a) {
                    far = other[(e + 2) % 3];
                }
            }
            assert_int_equal(mesh->across[3 * i + k], far);
        }
    }
}

static void sheets_look_up_and_have_their_area(void **state) {
    (void)state;
    for (int32_t n = 1; n <= 40; n += 3) {
        stn_soft_shape shape = shape_of(STN_SOFT_SHEET, 0.4, 0.2, NAN, n, 41 - n, -1);
        stn_soft_mesh *mesh = generate(&shape);
        assert_int_equal(mesh->tetrahedron_count, 0);
        assert_int_equal(mesh->triangle_count, 2 * n * (41 - n));
        assert_int_equal(mesh->node_count, (n + 1) * (42 - n));
        assert_near(stn_soft_mesh_area(mesh), 0.08, 1e-13);
        assert_near(stn_soft_mesh_volume(mesh, NULL), 0.0, 0.0);
        assert_neighbours(mesh);
        for (int32_t i = 0; i < mesh->triangle_count; i++) {
            const int32_t *t = &mesh->triangles[3 * i];
            stn_vec3 a = node(mesh, t[0]);
            stn_vec3 normal = stn_vec3_cross(stn_vec3_sub(node(mesh, t[1]), a), stn_vec3_sub(node(mesh, t[2]), a));
            assert_near(normal.z, 0.08 / (n * (41 - n)), 1e-12);
        }
        stn_soft_mesh_destroy(mesh);
    }
}

static void a_finger_has_chambers_of_their_size_from_base_to_tip(void **state) {
    (void)state;
    stn_soft_shape shape = finger_shape();
    stn_soft_mesh *mesh = generate(&shape);
    figures f = assert_sound(mesh);
    double chamber = (0.09 - 5 * 0.002) / 4 * (0.02 - 2 * 0.002) * (0.015 - 0.004 - 0.002);
    assert_int_equal(mesh->chamber_count, 4);
    assert_near(f.volume, 0.09 * 0.02 * 0.015 - 4 * chamber, 1e-12 * f.volume);
    assert_near(enclosed(mesh, 0, mesh->chamber_start[0]), 0.09 * 0.02 * 0.015, 1e-17);
    for (int32_t c = 0; c < 4; c++) {
        int32_t from = mesh->chamber_start[c], to = mesh->chamber_start[c + 1];
        assert_closed(mesh, from, to);
        assert_near(enclosed(mesh, from, to), -chamber, 1e-12 * chamber); // they look into the chamber
        assert_near(stn_soft_mesh_chamber_volume(mesh, c, NULL), chamber, 1e-12 * chamber);
        for (int32_t i = 3 * from; i < 3 * to; i++) {
            stn_vec3 x = node(mesh, mesh->triangles[i]);
            assert_true(x.x > -0.045 + 0.002 + c * 0.022 - 1e-12 && x.x < -0.045 + (c + 1) * 0.022 + 1e-12);
            assert_true(fabs(x.y) < 0.008 + 1e-12 && x.z > -0.0035 - 1e-12 && x.z < 0.0055 + 1e-12);
        }
    }
    stn_soft_mesh_destroy(mesh);
}

static void rows_of_chambers_are_counted_row_by_row(void **state) {
    (void)state;
    stn_soft_shape shape = finger_shape();
    shape.rows = 2;
    shape.chambers = 3;
    stn_soft_mesh *mesh = generate(&shape);
    (void)assert_sound(mesh);
    assert_int_equal(mesh->chamber_count, 6);
    for (int32_t c = 0; c < 6; c++) {
        stn_vec3 sum = stn_vec3_zero();
        for (int32_t i = 3 * mesh->chamber_start[c]; i < 3 * mesh->chamber_start[c + 1]; i++) {
            sum = stn_vec3_add(sum, node(mesh, mesh->triangles[i]));
        }
        assert_true((sum.y > 0.0) == (c >= 3));
        assert_true(c % 3 == 0 ? sum.x < -1e-3 : (c % 3 == 1 ? fabs(sum.x) < 1e-6 : sum.x > 1e-3));
    }
    stn_soft_mesh_destroy(mesh);
}

static void cells_are_divided_into_near_cubes(void **state) {
    (void)state;
    stn_soft_shape shape = shape_of(STN_SOFT_BOX, 0.3, 0.1, 0.004, 0, 0, 0);
    stn_soft_shape_divide(&shape, 30);
    assert_int_equal(shape.cells[0], 30);
    assert_int_equal(shape.cells[1], 10);
    assert_int_equal(shape.cells[2], 1);
}

static void a_million_tetrahedra_are_made(void **state) {
    (void)state;
    stn_soft_shape shape = shape_of(STN_SOFT_BOX, 1.0, 1.0, 1.0, 60, 60, 56);
    stn_soft_mesh *mesh = generate(&shape);
    assert_int_equal(mesh->tetrahedron_count, 1008000);
    assert_near(stn_soft_mesh_volume(mesh, NULL), 1.0, 1e-10);
    stn_soft_mesh_destroy(mesh);
}

// ------------------------------------------------------------------------------------------------------------- refused

#if !defined(__SANITIZE_ADDRESS__) // which has more address space than any limit
static void what_no_memory_can_hold_is_refused_before_it_is_made(void **state) {
    (void)state;
    static const double ends[6] = {0.0, 0.0, 0.0, 1.0, 0.0, 0.0};
    stn_soft_shape box = shape_of(STN_SOFT_BOX, 1.0, 1.0, 1.0, 100, 100, 100);
    stn_soft_shape sheet = shape_of(STN_SOFT_SHEET, 1.0, 1.0, 0.0, 1000, 1000, 1);
    stn_soft_mesh *mesh = NULL;
    struct rlimit old, little;
    assert_int_equal(getrlimit(RLIMIT_AS, &old), 0);
    little = (struct rlimit){.rlim_cur = (rlim_t)4 << 30, .rlim_max = old.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_AS, &little), 0);
    int64_t before = stn_context_allocations(context);
    assert_error(stn_soft_mesh_generate(context, &box, &mesh, &said), STN_ERR_MEMORY,
                 "soft mesh 'box': 5000000 tetrahedra need at least 4.66 GiB of memory, of which there are 4 GiB");
    assert_true(stn_context_allocations(context) - before <= 6); // the lines of the grid
    assert_error(stn_soft_mesh_generate(context, &sheet, &mesh, &said), STN_ERR_MEMORY,
                 "soft mesh 'sheet': 2000000 triangles need at least 5.59 GiB");
    assert_error(stn_soft_mesh_line(context, 2, ends, 700000, &mesh, &said), STN_ERR_MEMORY,
                 "700000 segments need at least 4.56 GiB");
    // a finger of as many cells, nearly all of them hollow
    box.type = STN_SOFT_FINGER;
    box.chambers = box.rows = 1;
    box.wall = box.floor = 1e-3;
    mesh = generate(&box);
    stn_soft_mesh_destroy(mesh);
    assert_int_equal(setrlimit(RLIMIT_AS, &old), 0);
}
#endif

static void assert_shape_refused(const stn_soft_shape *shape, const char *part) {
    stn_soft_mesh *mesh = (stn_soft_mesh *)&mesh;
    assert_error(stn_soft_mesh_generate(context, shape, &mesh, &said), STN_ERR_ARGUMENT, part);
    assert_null(mesh);
}

static void bad_shapes_are_refused_by_member(void **state) {
    (void)state;
    static const double sizes[] = {0.0, -0.0, -1.0, 1e51, 1e300, INFINITY, NAN};
    for (int i = 0; i < STN_COUNT(sizes); i++) {
        for (int type = 0; type < STN_SOFT_SHAPE_COUNT; type++) {
            stn_soft_shape shape = finger_shape();
            shape.type = (stn_soft_shape_type)type;
            shape.size.y = sizes[i];
            assert_shape_refused(&shape, "size.y = ");
        }
    }
    static const int32_t cells[] = {0, -1, INT32_MIN, INT32_MAX};
    for (int i = 0; i < STN_COUNT(cells); i++) {
        stn_soft_shape shape = finger_shape();
        shape.cells[1] = cells[i];
        assert_shape_refused(&shape, "cells along y = ");
    }
    stn_soft_shape large = shape_of(STN_SOFT_BOX, 1, 1, 1, 1000, 1000, 1000);
    assert_shape_refused(&large, "1000 x 1000 x 1000 cells make 5000000000 tetrahedra, at most 33554431");
    large = shape_of(STN_SOFT_SHEET, 1, 1, 1, 33554431, 33554431, 1);
    assert_shape_refused(&large, "triangles, at most 33554431");
    large = shape_of(STN_SOFT_BALL, 1, 1, 1, 33554431, 33554431, 33554431);
    assert_shape_refused(&large, "tetrahedra, at most 33554431");
    stn_soft_shape shape = finger_shape();
    shape.type = STN_SOFT_SHAPE_COUNT;
    assert_shape_refused(&shape, "no shape of type");
    shape = finger_shape();
    shape.chambers = 0;
    assert_shape_refused(&shape, "chambers = 0, rows = 1: each must be 1 to");
    shape.chambers = 45;
    assert_shape_refused(&shape, "46 walls of 0.002 m leave nothing of the length of 0.09 m for 45 chambers");
    shape.chambers = INT32_MAX;
    assert_shape_refused(&shape, "chambers = 2147483647");
    shape = finger_shape();
    shape.wall = 0.01;
    assert_shape_refused(&shape, "2 walls of 0.01 m leave nothing of the width of 0.02 m for 1 rows");
    shape.wall = NAN;
    assert_shape_refused(&shape, "wall = nan m");
    shape = finger_shape();
    shape.floor = 0.013;
    assert_shape_refused(&shape, "floor = 0.013 m and wall = 0.002 m leave nothing of the height of 0.015 m");
    shape = shape_of(STN_SOFT_BOX, 1e40, 1e-40, 1.0, 1, 1, 1); // beyond what an element's volume can be told from 0
    stn_soft_mesh *mesh = NULL;
    stn_error err = {0};
    stn_status status = stn_soft_mesh_generate(context, &shape, &mesh, &err);
    assert_true(status == STN_OK || (status == STN_ERR_ARGUMENT && strstr(err.text, "has no volume") != NULL));
    stn_soft_mesh_destroy(mesh);
}

static const double corners[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1, 9, 9, 9};

static stn_status make(int32_t nodes, int32_t tetrahedra, const int32_t *index, stn_soft_mesh **mesh, stn_error *err) {
    const stn_soft_mesh_data data = {
        .name = "two", .node_count = nodes, .tetrahedron_count = tetrahedra, .nodes = corners, .tetrahedra = index};
    return stn_soft_mesh_create(context, &data, mesh, err);
}

static void assert_refused(int32_t nodes, int32_t tetrahedra, const int32_t *index, const char *part) {
    stn_soft_mesh *mesh = (stn_soft_mesh *)&mesh;
    assert_error(make(nodes, tetrahedra, index, &mesh, &said), STN_ERR_ARGUMENT, part);
    assert_error(make(nodes, tetrahedra, index, &mesh, &said), STN_ERR_ARGUMENT, "soft mesh 'two': ");
    assert_null(mesh);
}

static void bad_tetrahedra_are_refused_with_element_and_nodes(void **state) {
    (void)state;
    assert_refused(5, 2, (const int32_t[]){0, 1, 2, 3, 1, 2, 2, 4}, "tetrahedron 1 (nodes 1, 2, 2, 4) has no volume");
    assert_refused(5, 1, (const int32_t[]){0, 1, 2, 5},
                   "tetrahedron 0 (nodes 0, 1, 2, 5): there is no node 5 (5 nodes");
    assert_refused(5, 1, (const int32_t[]){-1, 1, 2, 3}, "there is no node -1");
    assert_refused(5, 3, (const int32_t[]){0, 1, 2, 3, 1, 2, 3, 4, 3, 0, 2, 1},
                   "tetrahedron 0 (nodes 0, 1, 2, 3) and tetrahedron 2 (nodes 3, 0, 2, 1) are the same");
    assert_refused(
        6, 3, (const int32_t[]){0, 1, 2, 3, 1, 2, 3, 4, 1, 2, 3, 5},
        "the face of nodes 1, 2, 3 belongs to 3 elements, tetrahedron 0 (nodes 0, 1, 2, 3) and tetrahedron 1");
    assert_refused(6, 2, (const int32_t[]){1, 2, 3, 4, 1, 2, 3, 5}, "lie on one side of the face of nodes 1, 2, 3");
    assert_refused(0, 1, (const int32_t[]){0, 1, 2, 3}, "0 nodes");
    assert_refused(4, 0, NULL, "0 elements; each must be 1 to");
    assert_refused(4, -1, NULL, "each must be 1 to");
    double bad[12];
    static const double values[] = {NAN, INFINITY, -1e51};
    for (int i = 0; i < 3; i++) {
        memcpy(bad, corners, sizeof bad);
        bad[7] = values[i];
        const stn_soft_mesh_data data = {.name = "two",
                                         .node_count = 4,
                                         .tetrahedron_count = 1,
                                         .nodes = bad,
                                         .tetrahedra = (const int32_t[]){0, 1, 2, 3}};
        stn_soft_mesh *mesh = NULL;
        assert_error(stn_soft_mesh_create(context, &data, &mesh, &said), STN_ERR_ARGUMENT, "node 2: y = ");
    }
}

static void what_is_repaired_is_told(void **state) {
    (void)state;
    stn_error err = {0};
    stn_soft_mesh *mesh = NULL;
    listen_for(
        "1 of 2 tetrahedra had negative volume and were turned round, the first is tetrahedron 1 (nodes 1, 2, 4, 3)");
    assert_ok(make(5, 2, (const int32_t[]){0, 1, 2, 3, 1, 2, 4, 3}, &mesh, &err), err);
    assert_int_equal(log_of_context.count, 1);
    assert_int_equal(mesh->triangle_count, 6);
    assert_int_equal(mesh->part_count, 1);
    (void)assert_sound(mesh);
    stn_soft_mesh_destroy(mesh);
    listen_for("2 of 6 nodes belong to no element and are dropped, the first is node 0");
    assert_ok(make(6, 1, (const int32_t[]){1, 2, 3, 4}, &mesh, &err), err);
    assert_int_equal(log_of_context.count, 1);
    assert_int_equal(mesh->node_count, 4);
    assert_int_equal(mesh->origin[3], 4);
    assert_near(mesh->nodes[9], 1.0, 0.0);
    stn_soft_mesh_destroy(mesh);
    // two boxes that do not touch
    static const double apart[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 5, 0, 0, 6, 0, 0, 5, 1, 0, 5, 0, 1};
    const stn_soft_mesh_data data = {.name = "apart",
                                     .node_count = 8,
                                     .tetrahedron_count = 2,
                                     .nodes = apart,
                                     .tetrahedra = (const int32_t[]){0, 1, 2, 3, 4, 5, 6, 7}};
    listen_for("soft mesh 'apart': 2 pieces share no face");
    assert_ok(stn_soft_mesh_create(context, &data, &mesh, &err), err);
    assert_int_equal(log_of_context.count, 1);
    assert_int_equal(mesh->part_count, 2);
    (void)assert_sound(mesh);
    stn_soft_mesh_destroy(mesh);
}

static void bad_sheets_are_refused(void **state) {
    (void)state;
    static const struct {
        int32_t count, index[9];
        const char *part;
    } rows[] = {{1, {0, 1, 1}, "triangle 0 (nodes 0, 1, 1) has no area"},
                {2, {0, 1, 2, 2, 0, 1}, "triangle 0 (nodes 0, 1, 2) and triangle 1 (nodes 2, 0, 1) are the same"},
                {2, {0, 1, 2, 0, 1, 3}, "run the same way along the edge of nodes 0, 1; turn one round"},
                {3, {0, 1, 2, 1, 0, 3, 0, 1, 4}, "the edge of nodes 0, 1 belongs to 3 elements"}};
    for (int i = 0; i < STN_COUNT(rows); i++) {
        const stn_soft_mesh_data data = {.name = "sheet",
                                         .node_count = 5,
                                         .triangle_count = rows[i].count,
                                         .nodes = corners,
                                         .triangles = rows[i].index};
        stn_soft_mesh *mesh = NULL;
        assert_error(stn_soft_mesh_create(context, &data, &mesh, &said), STN_ERR_ARGUMENT, rows[i].part);
    }
}

static void every_request_for_memory_may_fail(void **state) {
    (void)state;
    stn_heap heap = {0};
    stn_context *own = stn_heap_context(&heap);
    const stn_soft_shape shapes[] = {finger_shape(), shape_of(STN_SOFT_SHEET, 1, 1, 1, 2, 2, 1)};
    for (int i = 0; i < 2; i++) {
        long long live = heap.live, n = 1;
        for (stn_status status = STN_ERR_MEMORY; status != STN_OK; n++) {
            stn_soft_mesh *mesh = NULL;
            stn_error err = {0};
            stn_heap_arm(&heap, n);
            status = stn_soft_mesh_generate(own, &shapes[i], &mesh, &err);
            assert_true(status == STN_OK || status == STN_ERR_MEMORY);
            assert_true(status == STN_OK || strstr(err.text, "out of memory") != NULL);
            stn_soft_mesh_destroy(mesh);
            assert_true(heap.live == live);
        }
        assert_true(n > 10);
    }
    stn_heap_arm(&heap, 0);
    stn_context_destroy(own);
}

// ---------------------------------------------------------------------------------------------------------------
// meshes

static void a_mesh_of_the_core_keeps_its_tetrahedra_or_triangles(void **state) {
    (void)state;
    stn_soft_shape shape = shape_of(STN_SOFT_BALL, 0.1, 0.1, 0.1, 4, 4, 4);
    stn_soft_mesh *ball = generate(&shape), *again = NULL, *sheet = NULL;
    stn_mesh_data data = {.vertex_count = ball->node_count,
                          .tetrahedron_count = ball->tetrahedron_count,
                          .vertices = ball->nodes,
                          .tetrahedra = ball->tetrahedra};
    stn_mesh *mesh = NULL;
    stn_error err = {0};
    assert_ok(stn_mesh_create(context, &data, &mesh, &err), err);
    assert_ok(stn_soft_mesh_from(mesh, context, "ball", &again, &err), err);
    assert_int_equal(again->tetrahedron_count, ball->tetrahedron_count);
    assert_int_equal(again->triangle_count, ball->triangle_count);
    assert_near(stn_soft_mesh_volume(again, NULL), stn_soft_mesh_volume(ball, NULL), 1e-15);
    stn_mesh_release(mesh);
    data = (stn_mesh_data){.vertex_count = ball->node_count,
                           .triangle_count = ball->triangle_count,
                           .vertices = ball->nodes,
                           .triangles = ball->triangles};
    assert_ok(stn_mesh_create(context, &data, &mesh, &err), err);
    assert_ok(stn_soft_mesh_from(mesh, context, "balloon", &sheet, &err), err);
    assert_int_equal(sheet->tetrahedron_count, 0);
    assert_int_equal(sheet->triangle_count, ball->triangle_count);
    assert_near(stn_soft_mesh_area(sheet), stn_soft_mesh_area(ball), 1e-15);
    stn_mesh_release(mesh);
    stn_soft_mesh_destroy(ball);
    stn_soft_mesh_destroy(again);
    stn_soft_mesh_destroy(sheet);
}

// ------------------------------------------------------------------------------------------------------------
// selectors

static int32_t select_count(const stn_soft_mesh *mesh, const stn_soft_selector *selectors, int32_t selector_count) {
    int32_t *nodes = malloc((size_t)mesh->node_count * sizeof *nodes), count = -1;
    stn_error err = {0};
    assert_ok(stn_soft_mesh_select(mesh, selector_count, selectors, nodes, &count, &err), err);
    for (int32_t i = 1; i < count; i++) {
        assert_true(nodes[i - 1] < nodes[i]);
    }
    free(nodes);
    return count;
}

static stn_soft_selector region(const char *name) {
    return (stn_soft_selector){.where = STN_SOFT_IN_REGION, .region = name};
}

static void nodes_are_told_by_region_box_plane_and_number(void **state) {
    (void)state;
    stn_soft_shape shape = shape_of(STN_SOFT_BOX, 0.3, 0.2, 0.1, 3, 2, 1);
    stn_soft_mesh *mesh = generate(&shape);
    static const struct {
        const char *name;
        int32_t count;
    } rows[] = {{"all", 24},  {"surface", 24}, {"x_min", 6},  {"x_max", 6},
                {"y_min", 8}, {"y_max", 8},    {"z_min", 12}, {"z_max", 12}};
    for (int i = 0; i < STN_COUNT(rows); i++) {
        stn_soft_selector s = region(rows[i].name);
        assert_int_equal(select_count(mesh, &s, 1), rows[i].count);
    }
    stn_soft_selector several[] = {region("x_min"), region("x_max"), region("z_min")};
    assert_int_equal(select_count(mesh, several, 2), 12);
    assert_int_equal(select_count(mesh, several, 3), 18);
    stn_soft_selector box = {.where = STN_SOFT_IN_BOX,
                             .lower = stn_vec3_make(0.05, -INFINITY, -1.0),
                             .upper = stn_vec3_make(0.15, 0.0, 1.0)};
    assert_int_equal(select_count(mesh, &box, 1), 8); // bounds count, rounding does not
    stn_soft_selector plane = {.where = STN_SOFT_BEYOND_PLANE, .normal = stn_vec3_make(0.0, 0.0, -7.0), .offset = 0.05};
    assert_int_equal(select_count(mesh, &plane, 1), 12);
    static const int32_t listed[] = {23, 0, 0};
    stn_soft_selector list = {.where = STN_SOFT_LISTED, .node_count = 3, .listed = listed};
    assert_int_equal(select_count(mesh, &list, 1), 2);
    stn_soft_mesh_destroy(mesh);
    shape = finger_shape();
    mesh = generate(&shape);
    stn_soft_selector wall = region("chamber4");
    // Euler: a closed surface like a ball's has two nodes more than half as many as triangles
    assert_int_equal(select_count(mesh, &wall, 1), (mesh->chamber_start[4] - mesh->chamber_start[3]) / 2 + 2);
    stn_soft_mesh_destroy(mesh);
}

static void selectors_that_tell_nothing_are_refused(void **state) {
    (void)state;
    stn_soft_shape shape = finger_shape();
    stn_soft_mesh *mesh = generate(&shape);
    static const int32_t beyond[] = {0, 1 << 20};
    const struct {
        stn_soft_selector selector;
        const char *part;
    } rows[] = {
        {region("x_mim"), "there is no region 'x_mim', did you mean 'x_min'?; there are all, surface"},
        {region("chamber5"), "there is no region 'chamber5'"},
        {region("chamber0"), "chamber1 to chamber4"},
        {region("chamber1x"), "there is no region"},
        {region("chamber99999999999999"), "there is no region"},
        {region(""), "there is no region ''"},
        {region(NULL), "a region has no name"},
        {{.where = STN_SOFT_IN_BOX, .lower = {1, 1, 1}, .upper = {2, 2, 2}},
         "the box from (1, 1, 1) m to (2, 2, 2) m has none of the"},
        {{.where = STN_SOFT_IN_BOX, .lower = {1, 1, 1}, .upper = {2, 0, 2}}, "from 1 m to 0 m along y is empty"},
        {{.where = STN_SOFT_IN_BOX, .lower = {NAN, 1, 1}, .upper = {2, 2, 2}}, "from nan m to 2 m along x is empty"},
        {{.where = STN_SOFT_BEYOND_PLANE, .normal = {0, 0, 1}, .offset = 1}, "the plane with normal (0, 0, 1)"},
        {{.where = STN_SOFT_BEYOND_PLANE, .normal = {0, 0, 0}, .offset = 1}, "the normal not 0"},
        {{.where = STN_SOFT_BEYOND_PLANE, .normal = {0, 0, NAN}, .offset = 1}, "must be finite"},
        {{.where = STN_SOFT_LISTED, .node_count = 2, .listed = beyond}, "there is no node 1048576; there are"},
        {{.where = STN_SOFT_LISTED}, "an empty list has none of the"},
        {{.where = (stn_soft_where)9}, "no selector of kind 9"},
    };
    int32_t *nodes = malloc((size_t)mesh->node_count * sizeof *nodes), count = -7;
    for (int i = 0; i < STN_COUNT(rows); i++) {
        const stn_soft_selector two[] = {region("all"), rows[i].selector};
        assert_error(stn_soft_mesh_select(mesh, 2, two, nodes, &count, &said), STN_ERR_ARGUMENT, rows[i].part);
        assert_int_equal(count, -7);
    }
    free(nodes);
    stn_soft_mesh_destroy(mesh);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_meshes_of_the_paper_have_its_number_of_nodes_within_5_percent),
        cmocka_unit_test(boxes_of_1_to_40_cells_are_sound_and_have_their_volume),
        cmocka_unit_test(balls_and_cylinders_of_1_to_40_cells_are_sound),
        cmocka_unit_test(flat_and_long_balls_are_sound),
        cmocka_unit_test(the_volume_of_a_ball_converges_by_the_second_order),
        cmocka_unit_test(meshes_with_even_numbers_of_cells_are_mirror_images_of_themselves),
        cmocka_unit_test(sheets_with_even_numbers_of_cells_are_mirror_images_of_themselves),
        cmocka_unit_test(no_tetrahedron_of_a_ball_has_two_faces_on_the_skin),
        cmocka_unit_test(sheets_look_up_and_have_their_area),
        cmocka_unit_test(a_finger_has_chambers_of_their_size_from_base_to_tip),
        cmocka_unit_test(rows_of_chambers_are_counted_row_by_row),
        cmocka_unit_test(cells_are_divided_into_near_cubes),
        cmocka_unit_test(a_million_tetrahedra_are_made),
#if !defined(__SANITIZE_ADDRESS__)
        cmocka_unit_test(what_no_memory_can_hold_is_refused_before_it_is_made),
#endif
        cmocka_unit_test(bad_shapes_are_refused_by_member),
        cmocka_unit_test(bad_tetrahedra_are_refused_with_element_and_nodes),
        cmocka_unit_test(what_is_repaired_is_told),
        cmocka_unit_test(bad_sheets_are_refused),
        cmocka_unit_test(every_request_for_memory_may_fail),
        cmocka_unit_test(a_mesh_of_the_core_keeps_its_tetrahedra_or_triangles),
        cmocka_unit_test(nodes_are_told_by_region_box_plane_and_number),
        cmocka_unit_test(selectors_that_tell_nothing_are_refused),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
