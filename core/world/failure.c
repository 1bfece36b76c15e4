// SPDX-License-Identifier: Apache-2.0
// What is wrong with a step, by name: the first coordinate or energy that is no number, or the body that is likely to
// blame.
#include <stdio.h>
#include <string.h>

#include "base/finite.h"
#include "world/world.h"

stn_status stn_step_check_dofs(const step_setup *setup, const double *values, const char *what, stn_error *err) {
    if (all_finite((size_t)setup->model->nv, values)) {
        return STN_OK;
    }
    for (int32_t d = 0; d < setup->model->nv; d++) {
        if (!isfinite(values[d])) {
            char name[160];
            stn_describe_dof(setup->model, d, name, sizeof name);
            return stn_fail(err, STN_ERR_NUMERIC, "%s %s is %g", what, name, values[d]);
        }
    }
    return STN_OK;
}

/// The diagonal of a nodal matrix at a dof.
static double nodal_diagonal(const stn_matrix *a, int32_t dof) {
    const int32_t m = a->node_size, r = dof % m;
    const size_t block = (size_t)stn_nodal_entry(a->row_start, a->column, dof / m, dof / m);
    return a->values[block * (size_t)(m * m) + (size_t)(r * (m + 1))];
}

static stn_status fail_mass(const stn_model *model, int32_t dof, double mass, double a, stn_status status,
                            stn_error *err) {
    char name[160];
    stn_describe_dof(model, dof, name, sizeof name);
    return stn_fail(err, status,
                    "%s: A is singular, as the mass of %.3g kg is lost in rounding beside the %.3g kg that stiffness "
                    "and damping add: make them smaller, or dt",
                    name, mass, a);
}

stn_status stn_step_check_masses(const step_setup *setup, step_frame *frame, stn_error *err) {
    static const double lost = 1e-16; // of A's numbers: half their last digit
    const stn_model *model = setup->model;
    bool *held = STN_ARENA_ZEROED(frame->arena, model->tree_count, bool); // whatever holds it makes up for the mass
    if (held == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "step: out of memory");
    }
    for (int32_t i = 0; i < model->attachment_count; i++) {
        held[model->node_tree[model->attachments[i].node]] = true;
    }
    for (int32_t i = 0; i < model->node_count && frame->singular_by == NULL; i++) {
        const int32_t tree = model->node_tree[i];
        const stn_tree *t = &model->trees[tree];
        if (held[tree]) {
            continue;
        }
        const int32_t dof = stn_node_type_nv(t->node_type) * (i - t->node_start);
        for (int32_t k = 0; k < 3; k++) {
            const double a = nodal_diagonal(&frame->A[tree], dof + k);
            if (model->node_mass[i] < lost * a) {
                return fail_mass(model, t->v_start + dof + k, model->node_mass[i], a, STN_ERR_NUMERIC, err);
            }
        }
    }
    return STN_OK;
}

void stn_step_name_dof(const step_setup *setup, const step_frame *frame, int32_t tree, int32_t dof, stn_error *err) {
    const stn_model *model = setup->model;
    if (err == NULL) {
        return;
    }
    const stn_tree *t = &model->trees[tree];
    const int32_t d = t->v_start + dof, number = model->dof_joint[d];
    if (number >= 0) {
        const stn_joint *joint = &model->joints[number];
        stn_text_append(err->text, sizeof err->text, "; tree %d, dof %d: group %s, joint %s (dof %d of its %d)", tree,
                        dof, model->groups[model->bodies[joint->child].group].name, joint->name, d - joint->v_start,
                        joint->nv);
        return;
    }
    const int32_t nv = stn_node_type_nv(t->node_type);
    const double mass = model->node_mass[t->node_start + dof / nv];
    const double a = nodal_diagonal(&frame->A[tree], dof);
    if (frame->singular_by == NULL && dof % nv < 3 && mass < 1e-12 * a) { // else the integrator leaves masses out
        (void)fail_mass(model, d, mass, a, err->status, err);
        return;
    }
    char name[160];
    stn_describe_dof(model, d, name, sizeof name);
    stn_text_append(err->text, sizeof err->text, "; tree %d, dof %d: %s", tree, dof, name);
}

stn_status stn_step_check_next(const step_setup *setup, const step_frame *frame, stn_error *err) {
    const stn_model *model = setup->model;
    if (all_finite((size_t)model->nv, frame->v_next) && all_finite((size_t)model->nq, frame->q_next)) {
        return STN_OK;
    }
    for (int32_t d = 0; d < model->nv; d++) {
        if (!isfinite(frame->v_next[d])) {
            char name[160];
            stn_describe_dof(model, d, name, sizeof name);
            return stn_fail(err, STN_ERR_DIVERGED, "velocity of %s became %g", name, frame->v_next[d]);
        }
    }
    for (int32_t i = 0; i < model->nq; i++) {
        if (!isfinite(frame->q_next[i])) {
            char name[160];
            stn_describe_coordinate(model, i, name, sizeof name);
            return stn_fail(err, STN_ERR_DIVERGED, "coordinate q[%d] of %s became %g", i, name, frame->q_next[i]);
        }
    }
    return STN_OK;
}

static int32_t fastest_dof(const stn_model *model, const double *v) {
    int32_t fastest = 0;
    for (int32_t d = 1; d < model->nv; d++) {
        fastest = fabs(v[d]) > fabs(v[fastest]) ? d : fastest;
    }
    return fastest;
}

stn_status stn_step_check_energies(const step_setup *setup, const state_view *state, step_frame *frame,
                                   stn_error *err) {
    stn_kinematics_update(frame->kinematics, frame->q_next, frame->v_next);
    frame->kinematics_number++;
    state_view after = *state; // energies of constraints and elements read it
    after.q = frame->q_next;
    after.v = frame->v_next;
    after.controller_memory = frame->controller_next;
    after.time += frame->dt;
    stn_step_energies(setup, &after, frame);
    const stn_step_report *r = &frame->report;
    const struct {
        const char *name;
        double value;
    } parts[] = {{"kinetic", r->kinetic_J}, {"potential", r->potential_J}, {"elastic", r->elastic_J}};
    for (int32_t i = 0; i < STN_COUNT(parts); i++) {
        if (!isfinite(parts[i].value)) {
            int32_t last = 0;
            bool told = i == 2 && !isfinite(stn_step_constraint_energy(setup, &after, frame, &last));
            (void)stn_fail(err, STN_ERR_DIVERGED, "the %s energy became %g J", parts[i].name, parts[i].value);
            if (!told && err != NULL && setup->model->nv > 0) {
                char name[160];
                stn_describe_dof(setup->model, fastest_dof(setup->model, frame->v_next), name, sizeof name);
                stn_text_append(
                    err->text, sizeof err->text,
                    "; a body is too far away, too fast or too heavy to be computed with, the fastest is %s", name);
            }
            if (told) {
                frame->place.plugin = setup->model->constraints[last].instance;
                stn_describe_constraint_error(setup->model, last, err);
            }
            return STN_ERR_DIVERGED;
        }
    }
    return STN_OK;
}

/// The plugin whose file explains a failure: the one that was called, or the law, which a solver asks and names.
static const stn_instance *find_failed(const stn_world *world, const stn_error *err) {
    const stn_instance *law = world->setup->plugin[STN_KIND_LAW];
    char words[128];
    snprintf(words, sizeof words, "law %.100s: ", law != NULL ? law->desc->id : "");
    return law != NULL && strstr(err->text, words) != NULL ? law : world->frame.place.plugin;
}

stn_status stn_step_failed(stn_world *world, stn_stage stage, stn_status status, stn_error *err) {
    world->frame.sleepers.known = false; // the state is the one before the step, they may be of the one after it
    const stn_problem *p = &world->frame.problem;
    const stn_model *model = world->setup->model;
    const stn_instance *plugin = err != NULL ? find_failed(world, err) : NULL;
    bool numbers = stage == STN_STAGE_COLLISION || stage == STN_STAGE_ASSEMBLY || stage == STN_STAGE_SOLVE;
    bool told = plugin != NULL && plugin->desc->kind == STN_KIND_CONSTRAINT; // it says itself what is wrong
    if (numbers && !told && err != NULL && err->status == STN_ERR_NUMERIC && p->v_star != NULL) {
        // the body that moves fastest is likely to blame
        int32_t fastest = -1;
        for (int32_t d = 0; d < p->nv; d++) {
            bool faster = fastest < 0 || fabs(p->v_star[d]) > fabs(p->v_star[fastest]);
            fastest = faster && model->dof_joint[d] >= 0 ? d : fastest;
        }
        if (fastest >= 0 && p->v_star[fastest] != 0.0) {
            const stn_joint *joint = &model->joints[model->dof_joint[fastest]];
            stn_text_append(err->text, sizeof err->text,
                            "; the fastest without contact is %s, joint %s, at %.3g a second",
                            model->groups[model->bodies[joint->child].group].name, joint->name, p->v_star[fastest]);
        }
    }
    world->observation.problem = NULL;
    world->observation.constraint_block = NULL;
    world->frame.kinematics_stale = true; // they may be those of the step that failed
    if (plugin != NULL && strcmp(plugin->file, "built in") != 0) {
        stn_text_append(err->text, sizeof err->text, " (plugin %s)", plugin->file);
    }
    world->frame.place.stage = STN_STAGE_COUNT;
    world->frame.place.plugin = NULL;
    stn_error_prefix(err, "step %lld, t = %g s", (long long)world->state.step, world->state.time);
    return status;
}
