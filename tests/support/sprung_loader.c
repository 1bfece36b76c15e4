// SPDX-License-Identifier: Apache-2.0
// A loader for tests: whatever a file "*.sprung" holds, it says what only some formats can: a proposed base, a spring,
// servo gains, a joint that follows another, keyframes. A file that begins with "w" proposes a root that is welded, one
// that begins with "f" a floating one, both 0.5 m up; another proposes nothing. One that begins with "n" brings nodes
// that are attached to its finger and the world.
#include <stdio.h>

#include <stiction/plugin.h>

static bool recognises(const char *text, size_t length) {
    (void)text, (void)length;
    return false;
}

static stn_status add_links(stn_model_builder *builder, int32_t link[4], stn_error *err) {
    static const char *const names[4] = {"base", "cart", "finger", "arm"};
    stn_status status = STN_OK;
    for (int32_t i = 0; i < 4 && status == STN_OK; i++) {
        stn_link_spec spec = {.name = names[i], .mass = {1.0, {0.0, 0.0, 0.0}, stn_mat3_diagonal(0.01, 0.01, 0.01)}};
        status = stn_builder_add_link(builder, &spec, &link[i], err);
    }
    return status;
}

/// slide (sprung, with a servo), follow = 2 slide, swing.
static stn_status add_joints(stn_model_builder *builder, const int32_t link[4], stn_error *err) {
    static const char *const names[3] = {"slide", "follow", "swing"};
    stn_status status = STN_OK;
    for (int32_t i = 0, joint = -1; i < 3 && status == STN_OK; i++) {
        stn_joint_spec spec = stn_joint_spec_default(names[i], i < 2 ? STN_JOINT_PRISMATIC : STN_JOINT_REVOLUTE);
        spec.parent = link[0];
        spec.child = link[i + 1];
        if (i == 0) {
            spec.stiffness = 200.0;
            spec.rest = 0.25;
            spec.servo_kp = 50.0;
            spec.servo_kd = 5.0;
        }
        spec.mimic = i == 1 ? joint : -1;
        spec.mimic_multiplier = 2.0;
        status = stn_builder_add_joint(builder, &spec, &joint, err);
    }
    return status;
}

static stn_status add_keyframes(stn_model_builder *builder, int32_t robot, stn_error *err) {
    static const double home[3] = {0.1, 0.0, 0.3}, folded[3] = {0.0, 0.0, 1.5};
    stn_pose base = {stn_mat3_identity(), {0.0, 0.0, 2.0}};
    const stn_keyframe_spec keyframes[2] = {{.name = "home", .q_count = 3, .q = home, .base = &base},
                                            {.name = "folded", .q_count = 3, .q = folded}};
    stn_status status = stn_builder_add_keyframe(builder, robot, &keyframes[0], err);
    return status == STN_OK ? stn_builder_add_keyframe(builder, robot, &keyframes[1], err) : status;
}

/// Three nodes and their triangle, one of them attached to the finger, two to the world.
static stn_status add_nodes(stn_model_builder *builder, int32_t finger, stn_error *err) {
    static const double x[9] = {0.0, 0.0, 1.0, 0.1, 0.0, 1.0, 0.2, 0.1, 1.0}, mass[3] = {0.1, 0.1, 0.1};
    static const int32_t order[3] = {1, 0, 2};
    const stn_nodes_spec spec = {.name = "pad",
                                 .node_count = 3,
                                 .position = x,
                                 .mass = mass,
                                 .contact_radius = 0.0,
                                 .material = stn_material_unset()};
    int32_t cloud = 0;
    stn_status status = stn_builder_add_nodes(builder, &spec, &cloud, err);
    stn_surface_spec skin = stn_surface_spec_default();
    int32_t geometry = 0;
    skin.name = "skin";
    skin.triangle_count = 1;
    skin.triangles = order;
    skin.thickness = 0.01;
    status = status == STN_OK ? stn_builder_add_surface(builder, cloud, &skin, &geometry, err) : status;
    status = status == STN_OK ? stn_builder_attach_nodes(builder, cloud, 1, order, finger, err) : status;
    return status == STN_OK ? stn_builder_attach_nodes(builder, cloud, 2, order + 1, STN_WORLD, err) : status;
}

/// By the file's first letter.
static stn_status propose(stn_model_builder *builder, int32_t robot, int32_t finger, const char *path, stn_error *err) {
    stn_pose base = {stn_mat3_identity(), {0.0, 0.0, 0.5}};
    FILE *file = fopen(path, "r");
    int first = file != NULL ? fgetc(file) : EOF;
    if (file != NULL) {
        fclose(file);
    }
    if (first == 'a') {
        return add_nodes(builder, finger, err);
    }
    bool says = first == 'w' || first == 'f';
    return says ? stn_builder_propose_base(builder, robot, &base, first == 'w', err) : STN_OK;
}

static stn_status load(void *self, const stn_load_request *request, stn_model_builder *builder, int32_t *robot,
                       stn_diagnostics *diagnostics, stn_error *err) {
    (void)self, (void)diagnostics;
    int32_t link[4];
    const char *name = request->robot_name != NULL ? request->robot_name : "sprung";
    stn_status status = stn_builder_begin_group(builder, name, robot, err);
    if (status != STN_OK) {
        return status;
    }
    status = add_links(builder, link, err);
    status = status == STN_OK ? add_joints(builder, link, err) : status;
    status = status == STN_OK ? add_keyframes(builder, *robot, err) : status;
    status = status == STN_OK ? propose(builder, *robot, link[2], request->path, err) : status;
    if (status != STN_OK) {
        stn_builder_discard(builder, *robot);
    }
    return status;
}

static const char *const extensions[] = {"sprung", NULL};
static const stn_loader_ops ops = {
    .size = sizeof ops, .extensions = extensions, .recognises = recognises, .load = load};
static const stn_plugin_desc sprung = {
    .size = sizeof sprung,
    .kind = STN_KIND_LOADER,
    .id = "sprung",
    .version = "1.0.0",
    .summary = "A robot with springs, servo gains, a proposed base and keyframes",
    .ops.loader = &ops,
};
STN_PLUGIN_LIBRARY(&sprung);
