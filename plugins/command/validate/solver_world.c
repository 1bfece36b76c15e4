// SPDX-License-Identifier: Apache-2.0
// The problems of a world's steps: boxes that fall on the ground and on each other, and a chain of links with limits
// among them. Each is solved once more from its data, with the guard in between: what the world did must come out
// again.
#include <string.h>

#include <stiction/world.h>

#include "solver_checks.h"
#include "solver_subject.h"

enum { BOXES = 5, STEPS = 120, MOST_SETTINGS = 66 };

static stn_status add_box(stn_model_builder *builder, int32_t i, stn_error *err) {
    static const char *const names[BOXES] = {"box_1", "box_2", "box_3", "box_4", "box_5"};
    stn_geometry_spec shape = stn_geometry_spec_default(stn_shape_box(stn_vec3_make(0.1, 0.08, 0.05)));
    stn_link_spec link = {.name = names[i]};
    stn_pose base = {stn_mat3_from_rpy(0.1 * i, 0.05 * i, 0.7 * i), {0.03 * i, 0.02 * i, 0.07 + 0.13 * i}};
    int32_t robot = 0, id = 0, geometry = 0;
    stn_status status = stn_shape_mass(&shape.shape, 1.0 + i, &link.mass, err);
    status = status == STN_OK ? stn_builder_begin_group(builder, names[i], &robot, err) : status;
    status = status == STN_OK ? stn_builder_add_link(builder, &link, &id, err) : status;
    status = status == STN_OK ? stn_builder_add_geometry(builder, id, &shape, &geometry, err) : status;
    return status == STN_OK ? stn_builder_set_base(builder, robot, &base, false, err) : status;
}

/// A boom with a limited joint that drops onto the boxes.
static stn_status add_boom(stn_model_builder *builder, stn_error *err) {
    stn_joint_spec hinge = stn_joint_spec_default("hinge", STN_JOINT_REVOLUTE);
    stn_link_spec link = {.name = "boom"};
    stn_geometry_spec shape = stn_geometry_spec_default(stn_shape_sphere(0.06));
    stn_pose base = {stn_mat3_identity(), {-0.4, 0.0, 0.8}};
    int32_t robot = 0, geometry = 0;
    link.mass = (stn_mass){.mass = 0.8, .com = {0.5, 0.0, 0.0}, .inertia = stn_mat3_diagonal(0.01, 0.02, 0.02)};
    shape.pose.position.x = 0.5;
    stn_status status = stn_builder_begin_group(builder, "boom", &robot, err);
    status = status == STN_OK ? stn_builder_add_link(builder, &link, &hinge.child, err) : status;
    status = status == STN_OK ? stn_builder_add_geometry(builder, hinge.child, &shape, &geometry, err) : status;
    hinge.parent = STN_WORLD;
    hinge.axis = stn_vec3_make(0.0, 1.0, 0.0);
    hinge.lower = -0.2;
    hinge.upper = 0.3;
    hinge.friction = 0.05;
    int32_t joint = 0;
    status = status == STN_OK ? stn_builder_add_joint(builder, &hinge, &joint, err) : status;
    return status == STN_OK ? stn_builder_set_base(builder, robot, &base, true, err) : status;
}

/// A world with the solver under test at the subject's tolerances.
static stn_status make_world(solver_subject *s, stn_world **out) {
    const validate_request *request = s->trial->request;
    stn_setting settings[MOST_SETTINGS];
    int32_t count = 0;
    for (; count < request->setting_count && count < MOST_SETTINGS - 2; count++) {
        settings[count] = request->settings[count];
    }
    settings[count++] = (stn_setting){
        .name = "tolerance", .form = STN_SETTING_NUMBER, .number = s->common->tolerance, .where = "validate"};
    settings[count++] = (stn_setting){
        .name = "max_iterations", .form = STN_SETTING_NUMBER, .number = s->common->max_iterations, .where = "validate"};
    stn_world_options options = stn_world_options_default();
    options.solver = (stn_plugin_choice){request->id, settings, count};
    options.law.id = s->law != NULL ? request->law : NULL;
    stn_status status = stn_world_create(s->context, &options, out, &s->error);
    stn_model_builder *builder = status == STN_OK ? stn_world_builder(*out) : NULL;
    stn_geometry_spec ground = stn_geometry_spec_default(stn_shape_half_space());
    int32_t geometry = 0;
    status = status == STN_OK ? stn_builder_add_geometry(builder, STN_WORLD, &ground, &geometry, &s->error) : status;
    for (int32_t i = 0; i < BOXES && status == STN_OK; i++) {
        status = add_box(builder, i, &s->error);
    }
    if (status == STN_OK && (s->sets >> STN_SET_BOX & 1u) != 0) {
        status = add_boom(builder, &s->error);
    }
    return status == STN_OK ? stn_world_compile(*out, &s->error) : status;
}

/// The last step's problem once more. False decides the trial.
static bool solve_again(solver_subject *s, const stn_observation *o, int32_t step) {
    stn_problem_owner *owner = NULL;
    if (stn_problem_copy(s->context, o->problem, &owner, &s->error) != STN_OK) {
        trial_fail(s->trial, "step %d: %s", step, s->error.text);
        return false;
    }
    stn_problem p = *stn_problem_of(owner);
    subject_reset(s);
    solver_answer a = subject_solve(s, &p);
    size_t dofs = (size_t)p.nv * sizeof(double), rows = (size_t)p.row_count * sizeof(double);
    bool memory = s->solver->desc->memory_per_constraint > 0;
    if (a.status < 0) {
        trial_fail(s->trial, "the problem of step %d: %s", step, s->error.text);
    } else if (!memory && (memcmp(a.v, o->v, dofs) != 0 || memcmp(a.gamma, o->gamma, rows) != 0)) {
        trial_fail(s->trial, "the problem of step %d, solved once more, gives other bytes than in the world%s", step,
                   subject_save(s, &p));
    }
    stn_problem_destroy(owner);
    return !s->trial->decided;
}

void solver_in_a_world(validate_trial *trial) {
    solver_subject s;
    stn_world *world = NULL;
    if (!subject_begin(&s, trial, true) || !subject_regularize(&s)) {
        return;
    }
    s.common->tolerance = 1e-6;
    s.common->max_iterations = s.formulation == STN_REGULARIZED ? 200 : 500;
    if ((s.sets >> STN_SET_CONE & 1u) == 0) {
        trial_skip(trial, "it takes no cones");
        return;
    }
    if (make_world(&s, &world) != STN_OK) {
        trial_fail(trial, "cannot be made: %s", s.error.text);
        return;
    }
    int32_t constraints = 0, unsolved = 0;
    for (int32_t i = 1; i <= STEPS && !trial->decided; i++) {
        stn_status status = stn_world_step(world, &s.error);
        if (status < 0) {
            trial_fail(trial, "step %d: %s", i, s.error.text);
            break;
        }
        const stn_observation *o = stn_world_observation(world);
        unsolved += status == STN_NOT_CONVERGED;
        constraints += o->problem->constraint_count;
        solve_again(&s, o, i);
    }
    const char *const seen[] = {s.guard->changed_input, s.guard->broke_word, s.guard->not_repeated};
    for (int32_t i = 0; i < STN_COUNT(seen); i++) {
        if (seen[i][0] != '\0') {
            trial_fail(trial, "%s", seen[i]);
        }
    }
    stn_world_destroy(world);
    trial_ok(trial,
             "%d steps of boxes and a boom that fall, %d constraints, each problem solved once more: the same bytes "
             "(%d steps "
             "not converged, of which 'random problems' judges)",
             STEPS, constraints, unsolved);
}
