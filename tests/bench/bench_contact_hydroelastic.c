// SPDX-License-Identifier: Apache-2.0
// Patches: time of a pair at rest, with the memory of near elements and by trees alone, what a thousand pairs of
// elements cost whose boxes meet, the share that makes contacts of the faces, and the contact points of the same pair.
// Instructions: valgrind --tool=callgrind build/release/bench/contact_hydroelastic --brief [--memory] [SCENE]
// makes 200 patches of each scene, or of one, and nothing else; the trees are tree_near, the rest of meet_* is cutting.
#include <stiction/plugin.h>

#include "bench_row.h"
#include "bench_time.h"
#include "meet.h"
#include "patch.h"

/// Two shapes that touch.
typedef struct scene {
    const char *name;
    stn_shape a, b;
    double modulus_a, modulus_b; // infinite: rigid
    double resolution;           // NaN: the default
    stn_vec3 at;                 // of B
    double tilt;                 // of B [rad]
} scene;

typedef struct bench {
    stn_context *context;
    stn_instance *point;
    stn_arena *arena;
    stn_geometry geometries[2];
    stn_model model;
    model_solids *solids;
    stn_contact_pair pair;
    stn_contact_set set;
    face_sink sink;
    bool remembers; // near elements
} bench;

static void make_patch(void *user) {
    bench *b = user;
    stn_arena_reset(b->arena);
    b->set = (stn_contact_set){.arena = b->arena};
    b->sink = (face_sink){.arena = b->arena, .memory = b->remembers ? b->solids->memory : NULL};
    const stn_contact_scene seen = {.model = &b->model, .arena = b->arena};
    if (patch_add(&seen, b->solids, &b->pair, &b->sink, &b->set, NULL) != STN_OK) {
        exit(1);
    }
}

static posed posed_of(const bench *b, int32_t i) {
    posed p = {prepared_solid(b->solids, i), i == 0 ? &b->pair.pose_a : &b->pair.pose_b, b->solids->modulus[i]};
    return p;
}

/// The faces alone, no contacts. B is compliant, and cut by A.
static void cut(void *user) {
    bench *b = user;
    posed m = posed_of(b, 1), n = posed_of(b, 0);
    stn_arena_reset(b->arena);
    b->sink = (face_sink){.arena = b->arena, .cap = (double)INFINITY};
    if (n.solid->kind == SOLID_HALF_SPACE) {
        meet_plane(&b->sink, &m, &n);
    } else if (n.solid->kind == SOLID_FIELD) {
        meet_fields(&b->sink, &m, &n);
    } else {
        meet_facets(&b->sink, &m, &n);
    }
}

static void make_points(void *user) {
    bench *b = user;
    stn_arena_reset(b->arena);
    b->set = (stn_contact_set){.arena = b->arena};
    const stn_contact_scene seen = {.model = &b->model, .arena = b->arena};
    if (b->point->desc->ops.contact->collide(b->point->self, &seen, &b->pair, 1, &b->set, NULL) != STN_OK) {
        exit(1);
    }
}

static void place(bench *b, int32_t i, stn_shape shape, double modulus, double resolution) {
    b->geometries[i] = (stn_geometry){.name = "",
                                      .where = "",
                                      .body = i,
                                      .node = -1,
                                      .link = -1,
                                      .shape = shape,
                                      .material = stn_material_unset(),
                                      .collision = true,
                                      .mesh = -1,
                                      .field = stn_field_spec_unset()};
    b->geometries[i].material.modulus = modulus;
    b->geometries[i].field.resolution = resolution;
}

static void measure(bench *b, const scene *s, bool brief) {
    const solid_limits limits = {.error = 0.05, .max_tetrahedra = 1000000};
    stn_error err;
    place(b, 0, s->a, s->modulus_a, s->resolution);
    place(b, 1, s->b, s->modulus_b, s->resolution);
    b->model = (stn_model){.geometry_count = 2, .body_count = 2, .geometries = b->geometries, .context = b->context};
    b->pair = (stn_contact_pair){.geometry_b = 1,
                                 .pose_a = stn_pose_identity(),
                                 .pose_b = {stn_mat3_from_rpy(s->tilt, 0.7 * s->tilt, 0.3), s->at},
                                 .material = {.value = {.mu = 0.5}, .weight_a = 0.5}};
    if (prepared_create(&b->model, &limits, &b->solids, &err) != STN_OK) {
        printf("%s: %s\n", s->name, err.text);
        exit(1);
    }
    if (brief) {
        for (int32_t k = 0; k < 200; k++) {
            make_patch(b);
        }
    } else {
        cut(b);
        long long near = b->sink.near;
        b->remembers = false;
        double cut_us = best_time(cut, b), trees_us = best_time(make_patch, b);
        b->remembers = true;
        double us = best_time(make_patch, b);
        int32_t faces = b->set.count;
        double points_us = best_time(make_points, b);
        printf("%-30s %6d %6d %6lld %9.2f %9.2f %10.1f %7.0f %% %9.2f\n", s->name, posed_of(b, 1).solid->count, faces,
               near, us, trees_us, 1e3 * us / (double)near, 100.0 * fmax(1.0 - cut_us / trees_us, 0.0), points_us);
        bench_row("patch", s->name, "Stiction", "", "us", us);
    }
    prepared_destroy(b->solids);
}

int main(int argc, char **argv) {
    const double rigid = (double)INFINITY, none = (double)NAN;
    const stn_shape ball = stn_shape_sphere(0.05), cube = stn_shape_box(stn_vec3_make(0.05, 0.05, 0.05)),
                    slab = stn_shape_box(stn_vec3_make(0.3, 0.3, 0.05));
    const scene scenes[] = {
        {"ball on plane", stn_shape_half_space(), ball, rigid, 1e6, none, {0.0, 0.0, 0.0495}, 0.4},
        {"ball on rigid box", slab, ball, rigid, 1e6, none, {0.02, 0.01, 0.0995}, 0.4},
        {"ball on soft box", slab, ball, 1e6, 1e6, none, {0.02, 0.01, 0.0995}, 0.4},
        {"ball on ball", ball, ball, 1e6, 2e6, none, {0.02, 0.01, 0.096}, 0.4},
        {"cube on plane", stn_shape_half_space(), cube, rigid, 1e6, none, {0.0, 0.0, 0.0499}, 0.0},
        {"cube on soft cube", cube, cube, 1e6, 1e6, none, {0.01, 0.02, 0.0999}, 0.0},
        {"cube on rigid slab", slab, cube, rigid, 1e6, none, {0.01, 0.02, 0.0999}, 0.0},
        {"fine ball on ball, 2 mm", ball, ball, 1e6, 2e6, 0.002, {0.02, 0.01, 0.096}, 0.4},
        {"fine ball on soft box, 5 mm", slab, ball, 1e6, 1e6, 0.005, {0.02, 0.01, 0.0995}, 0.4},
    };
    bool brief = argc > 1 && strcmp(argv[1], "--brief") == 0, memory = argc > 2 && strcmp(argv[2], "--memory") == 0;
    const char *only = brief && argc > 2 + memory ? argv[2 + memory] : NULL;
    bench b = {.remembers = memory};
    if (stn_context_create(NULL, &b.context, NULL) != STN_OK ||
        stn_instance_create(b.context, STN_KIND_CONTACT, "point", NULL, 0, &b.point, NULL) != STN_OK) {
        printf("no plugin point\n");
        return 1;
    }
    b.arena = stn_arena_create(b.context);
    printf("%-30s %6s %6s %6s %9s %9s %10s %9s %9s\n", "B on A", "tets", "faces", "near", "patch us", "trees us",
           "us/1000", "contacts", "points us");
    for (int32_t i = 0; i < STN_COUNT(scenes); i++) {
        if (only == NULL || strcmp(only, scenes[i].name) == 0) {
            measure(&b, &scenes[i], brief);
        }
    }
    stn_arena_destroy(b.arena);
    stn_instance_destroy(b.point);
    stn_context_destroy(b.context);
    return 0;
}
