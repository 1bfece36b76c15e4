// SPDX-License-Identifier: Apache-2.0
// Embedding: a box of 1 kg falls from 0.5 m onto the ground; after one second its centre stands at half its edge.
#include <stdio.h>

#include <stiction/stiction.h>

static stn_status describe(stn_model_builder *builder, stn_error *err) {
    stn_shape shape = stn_shape_box((stn_vec3){0.05, 0.05, 0.05}); // half its edges
    stn_geometry_spec ground = stn_geometry_spec_default(stn_shape_half_space());
    stn_geometry_spec surface = stn_geometry_spec_default(shape);
    stn_link_spec body = {.name = "box"};
    stn_pose start = stn_pose_identity();
    start.position.z = 0.5;
    int32_t robot, link, geometry;
    stn_status status = stn_builder_add_geometry(builder, STN_WORLD, &ground, &geometry, err);
    if (status == STN_OK) {
        status = stn_shape_mass(&shape, 1.0, &body.mass, err);
    }
    if (status == STN_OK) {
        status = stn_builder_begin_robot(builder, "box", &robot, err);
    }
    if (status == STN_OK) {
        status = stn_builder_add_link(builder, &body, &link, err);
    }
    if (status == STN_OK) {
        status = stn_builder_add_geometry(builder, link, &surface, &geometry, err);
    }
    return status == STN_OK ? stn_builder_set_base(builder, robot, &start, false, err) : status;
}

static stn_status drop(stn_world *world, stn_error *err) {
    stn_status status = describe(stn_world_builder(world), err);
    for (int i = 0; i < 500 && status >= STN_OK; i++) {
        status = stn_world_step(world, err);
    }
    if (status >= STN_OK) {
        printf("height %.4f m\n", stn_world_state(world)->q[2]);
    }
    return status;
}

int main(void) {
    stn_error err = {0};
    stn_context *context = NULL;
    stn_world *world = NULL;
    stn_world_options options = stn_world_options_default(); // 2 ms a step
    stn_status status = stn_context_create(NULL, &context, &err);
    if (status == STN_OK) {
        status = stn_world_create(context, &options, &world, &err);
    }
    if (status == STN_OK) {
        status = drop(world, &err);
    }
    if (status < STN_OK) {
        fprintf(stderr, "%s\n", err.text);
    }
    stn_world_destroy(world);
    stn_context_destroy(context);
    return status < STN_OK ? 1 : 0;
}
