// SPDX-License-Identifier: Apache-2.0
// embed FILE: Stiction inside another program. A robot from a file holds its pose on servos, a ball falls on it and
// down to the floor; what begins and ceases to touch is printed as it happens, then the contacts that carry and a mass
// matrix.
//
// Every call that can fail returns a status, and `err` says why in one line; here the first failure ends the program.
#include <stdio.h>
#include <stdlib.h>

#include <stiction/stiction.h>

static void check(stn_status status, const stn_error *err) {
    if (status < STN_OK) { // positive: the step was made, but its solver did not reach the tolerance
        fprintf(stderr, "embed: %s\n", err->text);
        exit(1);
    }
}

// ------------------------------------------------------------------------------------------------------- description

static int32_t load_robot(stn_context *context, stn_model_builder *builder, const char *path) {
    stn_error err = {0};
    stn_load_request request = {.path = path};
    stn_diagnostics findings; // what the loader has to say, with file and line
    stn_pose base = stn_pose_identity();
    int32_t robot = 0;
    stn_diagnostics_init(&findings, context);
    check(stn_load_robot(context, &request, builder, &robot, &findings, &err), &err);
    check(stn_builder_set_base(builder, robot, &base, true, &err), &err);
    stn_diagnostics_clear(&findings);
    return robot;
}

static void add_floor_and_ball(stn_model_builder *builder) {
    stn_error err = {0};
    stn_geometry_spec floor = stn_geometry_spec_default(stn_shape_half_space());
    stn_geometry_spec surface = stn_geometry_spec_default(stn_shape_sphere(0.06));
    stn_link_spec link = {.name = "ball"};
    stn_pose start = stn_pose_identity();
    start.position = stn_vec3_make(0.06, 0.02, 1.6);
    int32_t robot = 0, index = 0, geometry = 0;
    check(stn_builder_add_geometry(builder, STN_WORLD, &floor, &geometry, &err), &err);
    check(stn_builder_begin_group(builder, "ball", &robot, &err), &err);
    check(stn_shape_mass(&surface.shape, 1.0, &link.mass, &err), &err);
    check(stn_builder_add_link(builder, &link, &index, &err), &err);
    check(stn_builder_add_geometry(builder, index, &surface, &geometry, &err), &err);
    check(stn_builder_set_base(builder, robot, &start, false, &err), &err);
}

/// Servos on all joints of a robot; without another reference they hold the pose that it starts with.
static void add_servos(stn_context *context, stn_world *world, int32_t robot) {
    const stn_setting settings[] = {{.name = "kp", .form = STN_SETTING_NUMBER, .number = 2000.0},
                                    {.name = "kd", .form = STN_SETTING_NUMBER, .number = 100.0}};
    stn_error err = {0};
    stn_instance *servos = NULL;
    int32_t controller = 0;
    check(stn_instance_create(context, STN_KIND_CONTROLLER, "joint_pd", settings, STN_COUNT(settings), &servos, &err),
          &err);
    check(stn_world_add_controller(world, servos, robot, NULL, 0, &controller, &err), &err);
}

// ----------------------------------------------------------------------------------------------------------- printing

static const char *name_of(const stn_model *model, int32_t link) {
    return link >= 0 ? model->links[link].name : "the world";
}

static void print_events(stn_world *world) {
    const stn_model *model = stn_world_model(world);
    double time = stn_world_state(world)->time;
    stn_contact_events events;
    stn_error err = {0};
    check(stn_world_contact_events(world, &events, &err), &err);
    for (int32_t i = 0; i < events.begun_count; i++) {
        printf("%.3f s: %s touches %s\n", time, name_of(model, events.begun[i].link_a),
               name_of(model, events.begun[i].link_b));
    }
    for (int32_t i = 0; i < events.ended_count; i++) {
        printf("%.3f s: %s leaves %s\n", time, name_of(model, events.ended[i].link_a),
               name_of(model, events.ended[i].link_b));
    }
}

/// The last step as data: its contacts, and the impulses that the solver found.
static void print_contacts(const stn_world *world) {
    const stn_observation *o = stn_world_observation(world);
    for (int32_t i = 0; i < o->problem->constraint_count; i++) {
        const stn_constraint *c = &o->problem->constraints[i];
        if (c->kind != STN_CONSTRAINT_CONTACT) { // servos, limits and others are constraints too
            continue;
        }
        const stn_contact *contact = &o->contacts->contacts[c->contact];
        const stn_geometry *a = &o->model->geometries[contact->geometry_a],
                           *b = &o->model->geometries[contact->geometry_b];
        printf("contact of %s and %s at (%.3f, %.3f, %.3f): %.3f N\n", name_of(o->model, a->link),
               name_of(o->model, b->link), contact->point.x, contact->point.y, contact->point.z,
               o->gamma[c->row + 2] / o->dt);
    }
    printf("momentum error %.1e\n", o->certificate->momentum);
}

/// Kinematics of the world serve every function of dynamics.h: Jacobians, mass matrices, inverse dynamics.
static void print_inertia(stn_world *world, int32_t robot) {
    const stn_model *model = stn_world_model(world);
    int32_t first = model->joints[model->groups[robot].joint_start].v_start, tree = model->dof_tree[first];
    int32_t n = model->trees[tree].nv;
    stn_matrix M = {.n = n, .form = STN_MATRIX_DENSE, .values = calloc((size_t)n * (size_t)n, sizeof(double))};
    stn_mass_matrix(stn_world_kinematics(world), tree, &M);
    printf("inertia about the first of %d joints %.3f kg m^2\n", (int)n, M.values[0]);
    free(M.values);
}

int main(int count, char **arguments) {
    if (count != 2) {
        fprintf(stderr, "usage: embed ROBOT_FILE\n");
        return 2;
    }
    stn_error err = {0};
    stn_context *context = NULL;
    stn_world *world = NULL;
    stn_world_options options = stn_world_options_default(); // 2 ms a step
    check(stn_context_create(NULL, &context, &err), &err);
    check(stn_world_create(context, &options, &world, &err), &err);
    int32_t robot = load_robot(context, stn_world_builder(world), arguments[1]);
    add_floor_and_ball(stn_world_builder(world));
    check(stn_world_compile(world, &err), &err); // from here on there are a model and a state
    add_servos(context, world, robot);
    for (int i = 0; i < 1500; i++) {
        check(stn_world_step(world, &err), &err);
        print_events(world);
    }
    print_contacts(world);
    print_inertia(world, robot);
    stn_world_destroy(world);
    stn_context_destroy(context);
    return 0;
}
