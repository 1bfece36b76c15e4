// SPDX-License-Identifier: Apache-2.0
// Compiling worlds of many shapes: boxes that are alike, boxes that all differ in material, and a cloud of nodes.
#include <stiction/world.h>

#include "../support/stn_random_pose.h"
#include "bench_time.h"

typedef enum content { EQUAL_BOXES, DIFFERENT_BOXES, NODES, CONTENTS } content;

static stn_status add_boxes(stn_model_builder *b, int32_t count, bool different, stn_error *err) {
    stn_random r = {1};
    stn_status status = STN_OK;
    for (int32_t i = 0; i < count && status == STN_OK; i++) {
        char name[16];
        int32_t robot = -1, link = -1, geometry = -1;
        snprintf(name, sizeof name, "box%d", i);
        stn_geometry_spec box = stn_geometry_spec_default(stn_shape_box(stn_vec3_make(0.1, 0.1, 0.1)));
        stn_link_spec spec = {.name = name, .mass = {.mass = 1.0, .inertia = stn_mat3_diagonal(0.1, 0.1, 0.1)}};
        if (different) {
            box.material.mu = random_between(&r, 0.1, 1.0);
            box.material.stiffness = random_size(&r, 1e2, 1e6);
            box.material.dissipation = random_between(&r, 0.0, 10.0);
        }
        status = stn_builder_begin_group(b, name, &robot, err);
        status = status == STN_OK ? stn_builder_add_link(b, &spec, &link, err) : status;
        status = status == STN_OK ? stn_builder_add_geometry(b, link, &box, &geometry, err) : status;
    }
    return status;
}

static stn_status add_cloud(stn_model_builder *b, int32_t count, stn_error *err) {
    double *position = calloc(3 * (size_t)count, sizeof *position), *mass = calloc((size_t)count, sizeof *mass);
    stn_status status = position != NULL && mass != NULL ? STN_OK : stn_fail(err, STN_ERR_MEMORY, "out of memory");
    for (int32_t i = 0; i < count && status == STN_OK; i++) {
        position[3 * i] = i;
        mass[i] = 1.0;
    }
    stn_nodes_spec spec = {.name = "cloud",
                           .node_count = count,
                           .position = position,
                           .mass = mass,
                           .contact_radius = 0.01,
                           .material = stn_material_unset()};
    int32_t nodes = -1;
    status = status == STN_OK ? stn_builder_add_nodes(b, &spec, &nodes, err) : status;
    free(position);
    free(mass);
    return status;
}

/// Seconds of stn_world_compile.
static stn_status measure(stn_context *context, content what, int32_t count, double *seconds, stn_error *err) {
    stn_world_options options = stn_world_options_default();
    stn_geometry_spec ground = stn_geometry_spec_default(stn_shape_half_space());
    stn_world *world = NULL;
    int32_t geometry = -1;
    stn_status status = stn_world_create(context, &options, &world, err);
    if (status != STN_OK) {
        return status;
    }
    stn_model_builder *b = stn_world_builder(world);
    status = stn_builder_add_geometry(b, STN_WORLD, &ground, &geometry, err);
    if (status == STN_OK) {
        status = what == NODES ? add_cloud(b, count, err) : add_boxes(b, count, what == DIFFERENT_BOXES, err);
    }
    double start = now_us();
    status = status == STN_OK ? stn_world_compile(world, err) : status;
    *seconds = 1e-6 * (now_us() - start);
    stn_world_destroy(world);
    return status;
}

int main(void) {
    static const char *const names[CONTENTS] = {"equal boxes", "different boxes", "nodes"};
    static const int32_t counts[] = {1000, 5000, 20000};
    stn_context *context = NULL;
    stn_error err = {0};
    stn_status status = stn_context_create(NULL, &context, &err);
    printf("content,count,compile_ms\n");
    for (int32_t i = 0; i < CONTENTS && status == STN_OK; i++) {
        for (int32_t k = 0; k < STN_COUNT(counts) && status == STN_OK; k++) {
            double best = INFINITY, seconds = 0.0;
            for (int32_t round = 0; round < 3 && status == STN_OK; round++) {
                status = measure(context, (content)i, counts[k], &seconds, &err);
                best = fmin(best, seconds);
            }
            printf("%s,%d,%.2f\n", names[i], counts[k], 1e3 * best);
        }
    }
    stn_context_destroy(context);
    if (status != STN_OK) {
        fprintf(stderr, "bench_compile: %s\n", err.text);
    }
    return status != STN_OK;
}
