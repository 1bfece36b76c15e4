// SPDX-License-Identifier: Apache-2.0
#include "scenes.h"

int scene_setup(void **state) {
    stn_context *context = NULL;
    stn_error err;
    assert_ok(stn_context_create(NULL, &context, &err), err);
    *state = context;
    return 0;
}

int scene_teardown(void **state) {
    stn_context_destroy(*state);
    return 0;
}

stn_world *scene_world(stn_context *context, const stn_world_options *options) {
    stn_world *world = NULL;
    stn_error err;
    assert_ok(stn_world_create(context, options, &world, &err), err);
    return world;
}

stn_world *scene_tight_world(stn_context *context, double dt, double tolerance) {
    const stn_setting tight[] = {{.name = "tolerance", .form = STN_SETTING_NUMBER, .number = tolerance}};
    stn_world_options options = stn_world_options_default();
    options.dt = dt;
    options.solver = (stn_plugin_choice){NULL, tight, 1};
    return scene_world(context, &options);
}

void scene_ground(stn_world *world) {
    stn_geometry_spec ground = stn_geometry_spec_default(stn_shape_half_space());
    int32_t id = 0;
    stn_error err;
    assert_ok(stn_builder_add_geometry(stn_world_builder(world), STN_WORLD, &ground, &id, &err), err);
}

int32_t scene_body(stn_world *world, const char *name, double mass, const stn_geometry_spec *shape, stn_vec3 position) {
    stn_model_builder *builder = stn_world_builder(world);
    stn_link_spec link = {.name = name};
    stn_pose pose = {stn_mat3_identity(), position};
    int32_t robot = 0, id = 0;
    stn_error err;
    assert_ok(stn_shape_mass(&shape->shape, mass, &link.mass, &err), err);
    assert_ok(stn_builder_begin_group(builder, name, &robot, &err), err);
    assert_ok(stn_builder_add_link(builder, &link, &id, &err), err);
    assert_ok(stn_builder_add_geometry(builder, id, shape, &id, &err), err);
    assert_ok(stn_builder_set_base(builder, robot, &pose, false, &err), err);
    return robot;
}

int32_t scene_cube(stn_world *world, const char *name, double mass, stn_vec3 position) {
    stn_geometry_spec box = stn_geometry_spec_default(stn_shape_box(stn_vec3_make(0.1, 0.1, 0.1)));
    return scene_body(world, name, mass, &box, position);
}

int32_t scene_ball(stn_world *world, const char *name, double mass, double radius, stn_vec3 position) {
    stn_geometry_spec sphere = stn_geometry_spec_default(stn_shape_sphere(radius));
    return scene_body(world, name, mass, &sphere, position);
}

int32_t scene_slider(stn_world *world, const char *name, const stn_joint_spec *given) {
    stn_model_builder *builder = stn_world_builder(world);
    stn_link_spec rail = {.name = "rail"}, carriage = {.name = "carriage"};
    carriage.mass = (stn_mass){.mass = 2.0, .inertia = stn_mat3_diagonal(0.01, 0.01, 0.01)};
    stn_joint_spec spec = given != NULL ? *given : stn_joint_spec_default("slide", STN_JOINT_PRISMATIC);
    stn_pose base = stn_pose_identity();
    int32_t robot = 0, joint = 0;
    stn_error err;
    assert_ok(stn_builder_begin_group(builder, name, &robot, &err), err);
    assert_ok(stn_builder_add_link(builder, &rail, &spec.parent, &err), err);
    assert_ok(stn_builder_add_link(builder, &carriage, &spec.child, &err), err);
    spec.axis = stn_vec3_make(1.0, 0.0, 0.0);
    assert_ok(stn_builder_add_joint(builder, &spec, &joint, &err), err);
    assert_ok(stn_builder_set_base(builder, robot, &base, true, &err), err);
    return robot;
}

void scene_steps(stn_world *world, int32_t count) {
    stn_error err;
    for (int32_t i = 0; i < count; i++) {
        assert_ok(stn_world_step(world, &err), err);
    }
}

double scene_normal_impulse(const stn_observation *o) {
    double sum = 0.0;
    for (int32_t i = 0; i < o->problem->constraint_count; i++) {
        const stn_constraint *c = &o->problem->constraints[i];
        sum += c->kind == STN_CONSTRAINT_CONTACT ? o->gamma[c->row + 2] : 0.0;
    }
    return sum;
}

int32_t scene_controller(stn_world *world, int32_t robot, const char *id, ...) {
    stn_setting settings[8];
    int32_t count = 0, index = 0;
    va_list arguments;
    va_start(arguments, id);
    for (const char *name = va_arg(arguments, const char *); name != NULL; name = va_arg(arguments, const char *)) {
        settings[count++] = (stn_setting){
            .name = name, .form = STN_SETTING_NUMBER, .number = va_arg(arguments, double), .where = "test"};
    }
    va_end(arguments);
    stn_instance *instance = NULL;
    stn_error err;
    assert_ok(stn_instance_create(stn_world_context(world), STN_KIND_CONTROLLER, id, settings, count, &instance, &err),
              err);
    assert_ok(stn_world_add_controller(world, instance, robot, NULL, 0, &index, &err), err);
    return index;
}
