// SPDX-License-Identifier: Apache-2.0
// From a builder to a model, stage by stage. Nothing of the builder changes before the last stage has succeeded; then
// the model takes over all that the builder held, which starts afresh.
#include <math.h>
#include <string.h>

#include <stiction/plugin.h>

#include "model/compiler.h"

int32_t stn_model_body_velocity(const stn_model *model, int32_t body) {
    while (body > 0 && model->joints[model->bodies[body].joint].nv == 0) {
        body = model->bodies[body].parent;
    }
    const stn_joint *joint = body > 0 ? &model->joints[model->bodies[body].joint] : NULL;
    return joint != NULL ? joint->v_start + joint->nv - 1 - model->trees[model->bodies[body].tree].v_start : -1;
}

/// Which joint and tree every velocity belongs to, and what it is carried by.
static stn_status index_velocities(compiler *c, stn_error *err) {
    stn_model *m = &c->object->face;
    int32_t *dof_joint = STN_ARENA(c->memory, m->nv, int32_t), *dof_tree = STN_ARENA(c->memory, m->nv, int32_t);
    int32_t *dof_parent = STN_ARENA(c->memory, m->nv, int32_t);
    if (dof_joint == NULL || dof_tree == NULL || dof_parent == NULL) {
        return model_out_of_memory(err);
    }
    for (int32_t t = 0; t < m->tree_count; t++) {
        for (int32_t k = 0; k < m->trees[t].nv; k++) {
            dof_tree[m->trees[t].v_start + k] = t;
            dof_joint[m->trees[t].v_start + k] = dof_parent[m->trees[t].v_start + k] = -1;
        }
    }
    for (int32_t j = 0; j < m->joint_count; j++) {
        for (int32_t k = 0; k < m->joints[j].nv; k++) {
            const int32_t before = m->joints[j].v_start + k - 1;
            dof_joint[before + 1] = j;
            dof_parent[before + 1] = k > 0 ? before - m->trees[dof_tree[before + 1]].v_start
                                           : stn_model_body_velocity(m, m->joints[j].parent);
        }
    }
    m->dof_joint = dof_joint;
    m->dof_tree = dof_tree;
    m->dof_parent = dof_parent;
    return STN_OK;
}

static bool joint_acts(const stn_model *m, const stn_joint *joint) {
    return joint->nv == 1 || joint->stiffness > 0.0 || joint->damping > 0.0 || joint->friction > 0.0 ||
           joint->mimic >= 0 || joint->reflected_inertia > 0.0 ||
           (m->groups[joint->group].velocity_limits && !isinf(joint->velocity));
}

static stn_status list_acting_joints(compiler *c, stn_error *err) {
    const stn_model *m = &c->object->face;
    int32_t *acting = STN_ARENA(c->memory, m->joint_count, int32_t);
    if (acting == NULL) {
        return model_out_of_memory(err);
    }
    for (int32_t j = 0; j < m->joint_count; j++) {
        if (joint_acts(m, &m->joints[j])) {
            acting[c->object->acting_count++] = j;
        }
    }
    c->object->acting = acting;
    return STN_OK;
}

/// Fills c->object; the builder stays as it is.
static stn_status compile(compiler *c, stn_error *err) {
    static stn_status (*const stages[])(compiler *, stn_error *) = {
        check_names,           find_topology,      check_mimics,        compile_bodies,    compile_nodes,
        compile_node_surfaces, compile_start,      compile_attachments, compile_keyframes, compile_surfaces,
        index_velocities,      list_acting_joints, compile_constraints,
    };
    c->object->face.context = c->builder->context;
    for (int32_t i = 0; i < STN_COUNT(stages); i++) {
        stn_status status = stages[i](c, err);
        if (status != STN_OK) {
            return status;
        }
    }
    const list *meshes = &c->builder->meshes;
    stn_mesh_reference *copy = STN_ARENA(c->memory, meshes->count, stn_mesh_reference);
    if (copy == NULL) {
        return model_out_of_memory(err);
    }
    if (meshes->count > 0) {
        memcpy(copy, meshes->items, (size_t)meshes->count * sizeof *copy);
    }
    c->object->face.meshes = copy;
    c->object->face.mesh_count = meshes->count;
    return builder_fit(c->builder) ? STN_OK : model_out_of_memory(err); // the model keeps what the builder holds
}

stn_status stn_model_compile(stn_model_builder *builder, stn_model **out, stn_error *err) {
    *out = NULL;
    stn_context *context = builder->context;
    compiler c = {.builder = builder, .scratch = stn_arena_create(context), .memory = stn_arena_create(context)};
    stn_model_builder *fresh = NULL;
    (void)stn_builder_create(context, &fresh, NULL);
    if (c.memory != NULL) {
        c.object = STN_ARENA_ZEROED(c.memory, 1, model_object);
    }
    stn_status status = STN_OK;
    if (c.scratch == NULL || c.object == NULL || fresh == NULL) {
        status = model_out_of_memory(err);
    } else {
        status = compile(&c, err);
    }
    stn_arena_destroy(c.scratch);
    if (status != STN_OK) {
        stn_builder_destroy(fresh);
        stn_arena_destroy(c.memory);
        return status;
    }
    c.object->memory = c.memory;
    // The builder becomes empty; the model keeps what it held: texts, meshes, plugins, and the specs that model_encode
    // writes.
    stn_model_builder held = *builder;
    *builder = *fresh;
    builder->number_names = held.number_names;
    *fresh = held;
    c.object->described = fresh;
    *out = &c.object->face;
    return STN_OK;
}

void stn_model_destroy(stn_model *model) {
    if (model == NULL) {
        return;
    }
    const model_object *object = model_object_of(model);
    stn_arena *memory = object->memory;
    stn_builder_destroy(object->described);
    stn_arena_destroy(memory); // holds the object itself
}

int32_t stn_model_massless_link(const stn_model *model, int32_t tree) {
    return model_object_of(model)->massless[tree];
}
