// SPDX-License-Identifier: Apache-2.0
// What is wrong with a step, by name: the first coordinate or energy that is no number, or the body that is likely to
// blame.
#include <stdio.h>
#include <string.h>

#include "world/world.h"

stn_status stn_step_check_dofs(const stn_world *world, const double *values, const char *what, stn_error *err) {
    for (int32_t d = 0; d < world->setup->model->nv; d++) {
        if (!isfinite(values[d])) {
            char name[160];
            stn_describe_dof(world->setup->model, d, name, sizeof name);
            return stn_fail(err, STN_ERR_NUMERIC, "%s %s is %g", what, name, values[d]);
        }
    }
    return STN_OK;
}

stn_status stn_step_check_next(const stn_world *world, stn_error *err) {
    const stn_model *model = world->setup->model;
    for (int32_t d = 0; d < model->nv; d++) {
        if (!isfinite(world->frame.v_next[d])) {
            char name[160];
            stn_describe_dof(model, d, name, sizeof name);
            return stn_fail(err, STN_ERR_DIVERGED, "velocity of %s became %g", name, world->frame.v_next[d]);
        }
    }
    for (int32_t i = 0; i < model->nq; i++) {
        if (!isfinite(world->frame.q_next[i])) {
            char name[160];
            stn_describe_coordinate(model, i, name, sizeof name);
            return stn_fail(err, STN_ERR_DIVERGED, "coordinate q[%d] of %s became %g", i, name, world->frame.q_next[i]);
        }
    }
    return STN_OK;
}

stn_status stn_step_check_energies(stn_world *world, stn_error *err) {
    stn_kinematics_update(world->frame.kinematics, world->frame.q_next, world->frame.v_next);
    world->frame.kinematics_number++;
    stn_step_energies(world);
    const stn_step_report *r = &world->frame.report;
    const struct {
        const char *name;
        double value;
    } parts[] = {{"kinetic", r->kinetic_J}, {"potential", r->potential_J}, {"elastic", r->elastic_J}};
    for (int32_t i = 0; i < STN_COUNT(parts); i++) {
        if (!isfinite(parts[i].value)) {
            return stn_fail(
                err, STN_ERR_DIVERGED,
                "the %s energy became %g J; a body is too far away, too fast or too heavy to be computed with",
                parts[i].name, parts[i].value);
        }
    }
    return STN_OK;
}

/// The dof that moves fastest without contact; -1: there is none, or no free velocities yet.
static int32_t fastest_dof(const stn_world *world) {
    const double *v_star = world->frame.problem.v_star;
    int32_t fastest = -1;
    for (int32_t d = 0; d < world->frame.problem.nv && v_star != NULL; d++) {
        bool faster = fastest < 0 || fabs(v_star[d]) > fabs(v_star[fastest]);
        fastest = faster && world->setup->model->dof_joint[d] >= 0 ? d : fastest;
    }
    return fastest;
}

/// Adds the body that moves fastest to the error of a step whose numbers broke down.
static void name_suspect(const stn_world *world, stn_error *err) {
    int32_t d = err != NULL && err->status == STN_ERR_NUMERIC ? fastest_dof(world) : -1;
    if (d < 0) {
        return;
    }
    const stn_joint *joint = &world->setup->model->joints[world->setup->model->dof_joint[d]];
    const stn_robot *robot = &world->setup->model->robots[world->setup->model->bodies[joint->child].robot];
    size_t used = strlen(err->text);
    snprintf(err->text + used, sizeof err->text - used,
             "; the fastest without contact is %s, joint %s, at %.3g a second", robot->name, joint->name,
             world->frame.problem.v_star[d]);
}

stn_status stn_step_failed(stn_world *world, stn_stage stage, stn_status status, stn_error *err) {
    if (stage == STN_STAGE_COLLISION || stage == STN_STAGE_ASSEMBLY || stage == STN_STAGE_SOLVE) {
        name_suspect(world, err);
    }
    world->observation.problem = NULL;
    world->frame.kinematics_stale = true; // they may be those of the step that failed
    stn_error_prefix(err, "step %lld, t = %g s", (long long)world->state.step, world->state.time);
    return status;
}
