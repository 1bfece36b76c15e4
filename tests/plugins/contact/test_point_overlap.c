// SPDX-License-Identifier: Apache-2.0
// Whatever overlaps has a contact: random bodies of 1 to 6 shapes on random meshes, height fields and boxes, in a step
// of a world, so that nothing between the contact model and the contact problem is left out.
//
// The judge is the search over directions of point_oracle.h, which knows neither the contact model nor the core. The
// claim, for each shape of the body and each part of the surroundings: moved apart by the depth of the deepest contact
// of these two, they overlap by no more than round-off. Of a surface every triangle that meets the shape is judged by
// itself, whatever lies beside it; surfaces are one-sided, so the claim is about shapes whose middle is in front of
// them. And the step reports that depth, and nothing without a contact. 1,000 bodies; 10,000 in the tier full.
#include "scenes.h"

#include <stiction/mesh_query.h>

#include "point_oracle.h"
#include "point_terrain.h"
#include "stn_random_shape.h"

enum { PARTS = 12, SHAPES = 6, NEAR = 4096 };

typedef struct part {
    stn_shape shape;
    stn_pose pose;
    int32_t geometry;
} part;

typedef struct scenery {
    int32_t count;
    part parts[PARTS];
} scenery;

typedef struct tally {
    int32_t bodies, pairs, overlaps, searched, inside, bare;
    double worst, worst_report;
} tally;

static double bumps(double x, double y) {
    return 0.04 * sin(19.0 * x) * cos(23.0 * y);
}

static double ridges(double x, double y) {
    return 0.05 * fabs(fmod(7.0 * x + 3.0 * y + 20.0, 1.0) - 0.5);
}

static double stairs(double x, double y) {
    return 0.05 * floor(8.0 * x + 10.0) - 0.5 + 0.01 * sin(9.0 * y);
}

static terrain_height *const heights[] = {bumps, ridges, stairs, level};

typedef struct quads {
    stn_vec3 points[2000];
    int32_t ids[6000], points_count, ids_count;
} quads;

static void quad(quads *b, stn_vec3 p, stn_vec3 q, stn_vec3 r, stn_vec3 s) {
    int32_t first = b->points_count;
    const stn_vec3 corner[4] = {p, q, r, s};
    const int32_t two[6] = {first, first + 1, first + 2, first, first + 2, first + 3};
    memcpy(b->points + first, corner, sizeof corner);
    memcpy(b->ids + b->ids_count, two, sizeof two);
    b->points_count += 4;
    b->ids_count += 6;
}

static stn_mesh *finish(quads *b, stn_context *context) {
    const stn_mesh_data data = {b->points_count, b->ids_count / 3, 0, (const double *)b->points, b->ids, NULL, NULL};
    stn_mesh *mesh;
    stn_error err;
    assert_ok(stn_mesh_create(context, &data, &mesh, &err), err);
    return mesh;
}

/// Square tops of random height with upright walls between them; open below.
static stn_mesh *tiles(stn_random *r, stn_context *context) {
    enum { SIDE = 5 };
    quads b = {.points_count = 0};
    double z[SIDE][SIDE], cell = 0.15;
    for (int32_t i = 0; i < SIDE * SIDE; i++) {
        z[i / SIDE][i % SIDE] = random_below(r, 3) == 0 ? 0.04 : random_between(r, 0.0, 0.08);
    }
    for (int32_t i = 0; i < SIDE; i++) {
        for (int32_t j = 0; j < SIDE; j++) {
            double x = (i - 0.5 * SIDE) * cell, y = (j - 0.5 * SIDE) * cell, X = x + cell, Y = y + cell, h = z[i][j];
            quad(&b, stn_vec3_make(x, y, h), stn_vec3_make(X, y, h), stn_vec3_make(X, Y, h), stn_vec3_make(x, Y, h));
            double g = i + 1 < SIDE ? z[i + 1][j] : h, f = j + 1 < SIDE ? z[i][j + 1] : h;
            if (g != h) { // its front to the lower side, whichever that is
                quad(&b, stn_vec3_make(X, y, h), stn_vec3_make(X, y, g), stn_vec3_make(X, Y, g),
                     stn_vec3_make(X, Y, h));
            }
            if (f != h) {
                quad(&b, stn_vec3_make(x, Y, h), stn_vec3_make(X, Y, h), stn_vec3_make(X, Y, f),
                     stn_vec3_make(x, Y, f));
            }
        }
    }
    return finish(&b, context);
}

/// A closed block with a square pocket.
static stn_mesh *pocket(stn_random *r, stn_context *context) {
    quads b = {.points_count = 0};
    double w = random_between(r, 0.06, 0.2), deep = random_between(r, 0.03, 0.15);
    const double ring[4][2] = {{w, -deep}, {w, 0.0}, {0.35, 0.0}, {0.35, -0.3}};
    stn_vec3 c[4][4];
    for (int32_t k = 0; k < 16; k++) {
        double x = k % 4 == 1 || k % 4 == 2 ? 1.0 : -1.0, y = k % 4 >= 2 ? 1.0 : -1.0;
        c[k / 4][k % 4] = stn_vec3_make(x * ring[k / 4][0], y * ring[k / 4][0], ring[k / 4][1]);
    }
    quad(&b, c[0][0], c[0][1], c[0][2], c[0][3]);
    for (int32_t k = 0; k < 12; k++) {
        int32_t i = k % 4, j = (i + 1) % 4, n = k / 4;
        quad(&b, c[n][j], c[n][i], c[n + 1][i], c[n + 1][j]);
    }
    quad(&b, c[3][3], c[3][2], c[3][1], c[3][0]);
    stn_mesh *mesh = finish(&b, context);
    assert_true(mesh->solid.mass > 0.0);
    return mesh;
}

static void add_mesh(scenery *s, stn_mesh *mesh, stn_vec3 at) {
    s->parts[s->count++] = (part){stn_shape_mesh(mesh), {stn_mat3_identity(), at}, -1};
}

static stn_quat tilt(stn_random *r) {
    stn_vec3 half = stn_vec3_scale(random_between(r, 0.0, 0.1), random_unit(r));
    return stn_quat_normalize((stn_quat){1.0, half.x, half.y, half.z});
}

/// Boxes side by side, most of them flush, some higher, some tilted.
static void add_boxes(stn_random *r, scenery *s) {
    for (int32_t i = 0; i < 9; i++) {
        stn_vec3 at = stn_vec3_make(0.2 * (i % 3 - 1), 0.2 * (i / 3 - 1), -0.1);
        stn_pose pose = {stn_mat3_identity(), at};
        int32_t kind = random_below(r, 4);
        pose.position.z += kind == 0 ? random_between(r, 0.0, 0.06) : 0.0;
        if (kind == 1) {
            pose = stn_pose_make(tilt(r), at);
        }
        s->parts[s->count++] = (part){stn_shape_box(stn_vec3_make(0.1, 0.1, 0.1)), pose, -1};
    }
}

static scenery make_scenery(stn_random *r, stn_context *context, int32_t kind) {
    scenery s = {.count = 0};
    stn_pose flat = stn_pose_identity();
    switch (kind) {
    case 0:
        add_mesh(&s, tiles(r, context), stn_vec3_zero());
        break;
    case 1:
        add_mesh(&s, pocket(r, context), stn_vec3_zero());
        break;
    case 2:
        add_mesh(&s, terrain_mesh(r, context, 9, 0.35, false, heights[random_below(r, 4)], &flat), stn_vec3_zero());
        break;
    case 3:
        add_mesh(&s, terrain_field(context, 12, 0.35, heights[random_below(r, 4)]), stn_vec3_zero());
        break;
    case 4: // sheets and fields side by side
        add_mesh(&s, terrain_field(context, 4, 0.3, level), stn_vec3_make(-0.3, 0.0, 0.0));
        add_mesh(&s, terrain_mesh(r, context, 5, 0.3, false, level, &flat), stn_vec3_make(0.3, 0.0, 0.0));
        break;
    default:
        add_boxes(r, &s);
    }
    return s;
}

static int32_t make_body(stn_random *r, stn_context *context, part *parts) {
    static const stn_shape_type types[] = {STN_SHAPE_SPHERE,   STN_SHAPE_BOX,       STN_SHAPE_CAPSULE,
                                           STN_SHAPE_CYLINDER, STN_SHAPE_ELLIPSOID, STN_SHAPE_CONVEX};
    int32_t count = 1 + random_below(r, SHAPES);
    for (int32_t i = 0; i < count; i++) {
        stn_shape_type type = types[random_below(r, 6)];
        double size = random_size(r, 0.005, 0.06);
        stn_vec3 h = {size * random_between(r, 0.5, 1.5), size * random_between(r, 0.5, 1.5), size};
        parts[i] = (part){.pose = random_pose(r, i == 0 ? 0.0 : 0.06)};
        parts[i].pose.rotation = random_below(r, 2) == 0 ? stn_mat3_identity() : parts[i].pose.rotation;
        parts[i].shape =
            type == STN_SHAPE_CONVEX ? stn_shape_mesh(hull_random(r, context, h)) : shape_of_sizes(type, h.x, h.y, h.z);
    }
    return count;
}

static void add_part(stn_model_builder *builder, int32_t link, part *p, int32_t number) {
    stn_geometry_spec spec = stn_geometry_spec_default(p->shape);
    int32_t id = 0;
    stn_error err;
    spec.pose = p->pose;
    if (p->shape.mesh != NULL) {
        const stn_vec3 one = {1.0, 1.0, 1.0};
        assert_ok(stn_builder_add_mesh(builder, NULL, one, p->shape.mesh, &spec.mesh, &err), err);
    }
    assert_ok(stn_builder_add_geometry(builder, link, &spec, &id, &err), err);
    p->geometry = number;
}

static stn_world *make_world(stn_context *context, scenery *s, part *parts, int32_t count, const stn_pose *pose) {
    stn_world_options options = stn_world_options_default();
    stn_world *world = scene_world(context, &options);
    stn_model_builder *builder = stn_world_builder(world);
    stn_link_spec link = {.name = "body"};
    int32_t robot = 0, id = 0;
    stn_error err;
    for (int32_t i = 0; i < s->count; i++) {
        add_part(builder, STN_WORLD, &s->parts[i], i);
    }
    link.mass = (stn_mass){.mass = 1.0, .inertia = stn_mat3_diagonal(0.01, 0.01, 0.01)};
    assert_ok(stn_builder_begin_group(builder, "body", &robot, &err), err);
    assert_ok(stn_builder_add_link(builder, &link, &id, &err), err);
    for (int32_t i = 0; i < count; i++) {
        add_part(builder, id, &parts[i], s->count + i);
    }
    assert_ok(stn_builder_set_base(builder, robot, pose, false, &err), err);
    assert_ok(stn_world_compile(world, &err), err);
    return world;
}

// --------------------------------------------------------------------------------------------------------- judge

/// A shape of the body and a part of the surroundings, and what the step's contacts say of them.
typedef struct judged {
    placed shape;
    double depth; // of the deepest contact, 0 without
    int32_t contacts;
    const stn_contact_set *set;
    int32_t a, b; // geometries
    tally *tally;
} judged;

static judged read_pair(const stn_contact_set *set, const part *surroundings, const part *of_body, const stn_pose *pose,
                        tally *t) {
    judged j = {.shape = {of_body->shape, stn_pose_mul(pose, &of_body->pose)},
                .set = set,
                .a = surroundings->geometry,
                .b = of_body->geometry,
                .tally = t};
    for (int32_t i = 0; i < set->count; i++) {
        const stn_contact *c = &set->contacts[i];
        if (c->geometry_a == j.a && c->geometry_b == j.b) {
            j.depth = worse(j.depth, -c->phi0);
            j.contacts++;
        }
    }
    return j;
}

/// What the shape and a convex piece still overlap when they were moved apart by the depth. One direction along which
/// nothing is left is proof; else all are searched.
static double left_over(const judged *j, const placed *piece) {
    static const double tolerance = 1e-7;
    for (int32_t i = 0; i < j->set->count; i++) {
        const stn_contact *c = &j->set->contacts[i];
        if (c->geometry_a == j->a && c->geometry_b == j->b &&
            -oracle_along(piece, &j->shape, c->normal) <= j->depth + tolerance) {
            return 0.0;
        }
    }
    j->tally->searched++;
    return fmax(-oracle_distance(piece, &j->shape) - j->depth, 0.0);
}

typedef struct nearby {
    int32_t count, triangle[NEAR];
} nearby;

static bool collect(void *user, int32_t triangle) {
    nearby *n = user;
    assert_true(n->count < NEAR);
    n->triangle[n->count++] = triangle;
    return true;
}

/// Is the middle of the shape in front of what is nearest to it?
static bool is_outside(const part *surface, stn_vec3 p) {
    stn_mesh_point hit;
    const stn_mesh *mesh = surface->shape.mesh;
    if (stn_mesh_nearest(mesh, p, HUGE_VAL, &hit)) {
        return stn_vec3_dot(stn_vec3_sub(p, hit.point), stn_mesh_triangle_normal(mesh, hit.triangle)) > 0.0;
    }
    return false;
}

static stn_vec3 middle_of(const placed *p) {
    if (p->shape.mesh == NULL) {
        return p->pose.position;
    }
    stn_aabb b = p->shape.mesh->bounds;
    return stn_pose_apply(&p->pose, stn_vec3_scale(0.5, stn_vec3_add(b.lower, b.upper)));
}

static double judge_surface(const judged *j, const part *surface) {
    const stn_mesh *mesh = surface->shape.mesh;
    placed here = j->shape; // scenery is not turned
    here.pose.position = stn_vec3_sub(here.pose.position, surface->pose.position);
    if (!is_outside(surface, middle_of(&here))) {
        j->tally->inside++;
        return 0.0;
    }
    nearby near = {.count = 0};
    stn_aabb box = stn_shape_aabb(&here.shape, &here.pose, 0.0);
    stn_mesh_visit(mesh, &box, collect, &near);
    double most = 0.0;
    for (int32_t i = 0; i < near.count; i++) {
        double corner[9];
        for (int32_t k = 0; k < 9; k++) {
            corner[k] = mesh->vertices[3 * (size_t)mesh->triangles[3 * near.triangle[i] + k / 3] + (size_t)(k % 3)];
        }
        stn_mesh triangle = {.vertex_count = 3, .vertices = corner};
        placed piece = {{.type = STN_SHAPE_CONVEX, .mesh = &triangle}, surface->pose};
        most = worse(most, left_over(j, &piece));
    }
    return most;
}

static void judge(const scenery *s, const part *parts, int32_t count, const stn_pose *pose, const stn_observation *o,
                  tally *t, uint64_t seed) {
    double deepest = 0.0;
    int32_t inside = t->inside;
    for (int32_t i = 0; i < s->count * count; i++) {
        const part *around = &s->parts[i / count];
        judged j = read_pair(o->contacts, around, &parts[i % count], pose, t);
        const placed whole = {around->shape, around->pose};
        double left = around->shape.mesh != NULL ? judge_surface(&j, around) : left_over(&j, &whole);
        t->pairs++;
        t->overlaps += j.depth > 1e-6;
        deepest = worse(deepest, j.depth);
        if (left > 1e-6) {
            print_message("seed %llu: geometries %d (%s) and %d (%s): contacts %d, depth %g, left over %g\n",
                          (unsigned long long)seed, j.a, stn_shape_name(around->shape.type), j.b,
                          stn_shape_name(parts[i % count].shape.type), j.contacts, j.depth, left);
        }
        t->worst = worse(t->worst, left);
    }
    if (inside == t->inside) {
        t->bare += o->report->overlap_without_contact_m > 1e-6;
        t->worst_report = worse(t->worst_report, fabs(o->report->overlap_m - deepest));
        if (fabs(o->report->overlap_m - deepest) > 1e-6 || o->report->overlap_without_contact_m > 1e-6) {
            print_message("seed %llu: reported %g, without a contact %g (%d, %d), contacts say %g\n",
                          (unsigned long long)seed, o->report->overlap_m, o->report->overlap_without_contact_m,
                          o->report->bare_geometry[0], o->report->bare_geometry[1], deepest);
        }
    }
}

static void try_body(stn_context *context, scenery *s, uint64_t seed, tally *t) {
    stn_random r = {seed};
    part parts[SHAPES];
    int32_t count = make_body(&r, context, parts);
    stn_pose pose = random_pose(&r, 0.25);
    pose.position.z = random_between(&r, -0.02, 0.12);
    pose.rotation = random_below(&r, 3) == 0 ? stn_mat3_identity() : pose.rotation;
    stn_world *world = make_world(context, s, parts, count, &pose);
    scene_steps(world, 1);
    judge(s, parts, count, &pose, stn_world_observation(world), t, seed);
    t->bodies++;
    stn_world_destroy(world);
    for (int32_t i = 0; i < count; i++) {
        stn_mesh_release(parts[i].shape.mesh);
    }
}

static void whatever_overlaps_has_a_contact(void **state) {
    enum { KINDS = 6, BODIES_OF_ONE = 20 };
    const char *tier = getenv("STICTION_TEST_TIER");
    int32_t bodies = tier != NULL && strcmp(tier, "full") == 0 ? 10000 : 1000;
    tally t = {0};
    scenery s = {0};
    stn_random r = {1};
    for (int32_t i = 0; i < bodies; i++) {
        if (i % BODIES_OF_ONE == 0) {
            for (int32_t k = 0; k < s.count; k++) {
                stn_mesh_release(s.parts[k].shape.mesh);
            }
            s = make_scenery(&r, *state, i / BODIES_OF_ONE % KINDS);
        }
        try_body(*state, &s, 1000 + (uint64_t)i, &t);
    }
    for (int32_t k = 0; k < s.count; k++) {
        stn_mesh_release(s.parts[k].shape.mesh);
    }
    print_message(
        "%d bodies, %d pairs, %d overlap, %d searched, %d behind: worst left over %.1e m, report off by %.1e m\n",
        t.bodies, t.pairs, t.overlaps, t.searched, t.inside, t.worst, t.worst_report);
    assert_true(t.overlaps > bodies / 2);
    assert_true(t.inside < t.pairs / 4);
    assert_true(t.worst < 1e-6);
    assert_true(t.worst_report < 1e-6 && t.bare == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whatever_overlaps_has_a_contact),
    };
    return cmocka_run_group_tests(tests, scene_setup, scene_teardown);
}
