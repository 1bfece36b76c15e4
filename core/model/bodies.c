// SPDX-License-Identifier: Apache-2.0
// Links become bodies: fixed joints weld, moving joints begin a new body, and a body on the world begins a tree. Going
// depth first makes trees contiguous and parents smaller.
#include <stdio.h>
#include <string.h>

#include "model/compiler.h"

/// Numbers the moving joints by group, an implicit floating one first, then in file order; makes room for what they
/// carry, of which the world is there.
static stn_status begin_bodies(compiler *c, body_plan **plan, stn_error *err) {
    const stn_model_builder *b = c->builder;
    c->joint_index = STN_ARENA(c->scratch, b->joints.count, int32_t);
    c->root_joint = STN_ARENA(c->scratch, b->groups.count, int32_t);
    c->groups = STN_ARENA_ZEROED(c->memory, b->groups.count, stn_group);
    if (c->joint_index == NULL || c->root_joint == NULL || c->groups == NULL) {
        return model_out_of_memory(err);
    }
    int32_t count = 0;
    for (int32_t r = 0; r < b->groups.count; r++) {
        const built_group *built = group_at(b, r);
        stn_group *group = &c->groups[r];
        group->name = built->name;
        group->link_start = built->start.links;
        group->link_count = group_link_end(b, r) - group->link_start;
        group->root_link = c->root_link[r];
        group->base = c->root[r] == ROOT_ATTACHED ? stn_pose_identity() : built->base;
        group->joint_start = count;
        c->root_joint[r] = c->root[r] == ROOT_FREE || c->root[r] == ROOT_KINEMATIC ? count++ : -1;
        for (int32_t j = built->start.joints; j < group_joint_end(b, r); j++) {
            c->joint_index[j] = joint_at(b, j)->spec.type != STN_JOINT_FIXED ? count++ : -1;
        }
        group->joint_count = count - group->joint_start;
    }
    c->object->face.groups = c->groups;
    c->object->face.group_count = b->groups.count;
    c->object->face.joint_count = count;
    stn_model *m = &c->object->face;
    size_t body_count = (size_t)m->joint_count + 1, cloud_count = (size_t)c->builder->clouds.count;
    m->link_count = c->builder->links.count;
    c->link_body = STN_ARENA(c->scratch, m->link_count, int32_t);
    c->link_pose = STN_ARENA(c->scratch, m->link_count, stn_pose);
    c->links = STN_ARENA_ZEROED(c->memory, m->link_count, stn_link);
    c->joints = STN_ARENA_ZEROED(c->memory, m->joint_count, stn_joint);
    c->bodies = STN_ARENA_ZEROED(c->memory, body_count, stn_body);
    c->trees = STN_ARENA_ZEROED(c->memory, body_count + cloud_count, stn_tree);
    *plan = STN_ARENA_ZEROED(c->memory, body_count, body_plan);
    if (c->link_body == NULL || c->link_pose == NULL || c->links == NULL || c->joints == NULL || c->bodies == NULL ||
        c->trees == NULL || *plan == NULL) {
        return model_out_of_memory(err);
    }
    c->bodies[0] = (stn_body){.name = "world", .parent = -1, .tree = -1, .joint = -1, .group = -1};
    c->bodies[0].mass.inertia = (stn_mat3){{{0.0}}};
    (*plan)[0].parent = (*plan)[0].joint = -1;
    m->links = c->links;
    m->joints = c->joints;
    m->bodies = c->bodies;
    m->trees = c->trees;
    m->body_count = 1;
    c->object->plan = *plan;
    return STN_OK;
}

// ------------------------------------------------------------------------------------------------------- joints

static void fill_joint(const compiler *c, int32_t index, const stn_joint_spec *spec, const stn_pose *origin) {
    const joint_kind *kind = joint_kind_get(spec->type);
    stn_joint *joint = &c->joints[index];
    bool limited = kind->limited;
    double ratio = spec->gear_ratio;
    joint->name = spec->name;
    joint->type = spec->type;
    joint->nq = kind->nq;
    joint->nv = kind->nv;
    joint->origin = *origin;
    joint->axis = stn_vec3_normalize_or(spec->axis, stn_vec3_make(1.0, 0.0, 0.0));
    joint->lower = limited ? spec->lower : -(double)INFINITY;
    joint->upper = limited ? spec->upper : (double)INFINITY;
    joint->effort = spec->effort;
    joint->velocity = spec->velocity;
    joint->acceleration = spec->acceleration;
    joint->screw_pitch = spec->screw_pitch;
    joint->actuator = spec->actuator;
    joint->where = spec->where != NULL ? spec->where : "";
    joint->damping = spec->damping;
    joint->friction = spec->friction;
    joint->stiffness = kind->axial ? spec->stiffness : 0.0;
    joint->rest = kind->axial ? spec->rest : 0.0;
    joint->servo_kp = spec->servo_kp;
    joint->servo_kd = spec->servo_kd;
    joint->reflected_inertia = kind->axial ? ratio * ratio * spec->rotor_inertia : 0.0;
    joint->mimic = spec->mimic >= 0 ? c->joint_index[spec->mimic] : -1;
    joint->mimic_multiplier = spec->mimic_multiplier;
    joint->mimic_offset = spec->mimic_offset;
}

// ------------------------------------------------------------------------------------------------------- bodies

/// The body that joint `index` carries; on the world it begins a tree.
static int32_t begin_body(compiler *c, body_plan *plan, int32_t link, int32_t index, int32_t parent) {
    stn_model *m = &c->object->face;
    int32_t body = m->body_count++;
    if (parent == 0) {
        c->trees[m->tree_count++] = (stn_tree){
            .name = "", .kind = STN_TREE_ARTICULATED, .body_start = body, .q_start = m->nq, .v_start = m->nv};
    }
    stn_tree *tree = &c->trees[m->tree_count - 1];
    stn_joint *joint = &c->joints[index];
    const built_link *built = link_at(c->builder, link);
    joint->group = built->group;
    joint->parent = parent;
    joint->child = body;
    joint->q_start = m->nq;
    joint->v_start = m->nv;
    c->bodies[body] = (stn_body){
        .name = built->spec.name, .parent = parent, .tree = m->tree_count - 1, .joint = index, .group = built->group};
    plan[body] = (body_plan){.parent = parent,
                             .type = (int32_t)joint->type,
                             .q = m->nq,
                             .v = m->nv,
                             .dof = m->nv - tree->v_start,
                             .nv = joint->nv,
                             .joint = index};
    tree->body_count++;
    tree->nq += joint->nq;
    tree->nv += joint->nv;
    m->nq += joint->nq;
    m->nv += joint->nv;
    return body;
}

/// A root without a joint above it.
static stn_status place_root(compiler *c, body_plan *plan, int32_t link, stn_error *err) {
    const stn_model_builder *b = c->builder;
    int32_t group = link_at(b, link)->group;
    c->links[link].parent = STN_WORLD;
    c->links[link].origin = stn_pose_identity();
    c->links[link].joint_rank = -1;
    c->links[link].joint_where = "";
    c->links[link].joint = c->root_joint[group];
    if (c->root_joint[group] < 0) {
        c->link_body[link] = 0;
        c->link_pose[link] = group_at(b, group)->base;
        return STN_OK;
    }
    stn_joint_type type = c->root[group] == ROOT_KINEMATIC ? STN_JOINT_KINEMATIC : STN_JOINT_FLOATING;
    // "<root>_floating", or "<root>_prescribed" of a kinematic body, as earlier recordings name it, with underscores
    // behind it while a joint of the file has that name.
    char name[512];
    int32_t begin = group_at(b, group)->start.joints, end = group_joint_end(b, group);
    int length = snprintf(name, sizeof name - 16, "%s_%s", link_at(b, link)->spec.name,
                          type == STN_JOINT_KINEMATIC ? "prescribed" : joint_kind_get(type)->name);
    size_t used = length < (int)sizeof name - 16 ? (size_t)length : sizeof name - 17;
    for (int32_t j = begin; j < end; j++) {
        if (strcmp(joint_at(b, j)->spec.name, name) == 0 && used + 2 < sizeof name) {
            name[used++] = '_';
            name[used] = '\0';
            j = begin - 1; // from the start again
        }
    }
    char *copy = STN_ARENA(c->memory, used + 1, char);
    if (copy == NULL) {
        return model_out_of_memory(err);
    }
    memcpy(copy, name, used + 1);
    stn_joint_spec spec = stn_joint_spec_default(copy, type);
    spec.actuator = "";
    stn_pose origin = stn_pose_identity();
    fill_joint(c, c->root_joint[group], &spec, &origin);
    c->link_body[link] = begin_body(c, plan, link, c->root_joint[group], 0);
    c->link_pose[link] = stn_pose_identity();
    return STN_OK;
}

/// A link below a joint.
static stn_status place_child(compiler *c, body_plan *plan, int32_t link, stn_error *err) {
    const stn_model_builder *b = c->builder;
    const built_joint *above = joint_at(b, c->joint_above[link]);
    int32_t parent = above->spec.parent, index = c->joint_index[c->joint_above[link]];
    bool on_world = parent == STN_WORLD;
    const stn_pose *from = on_world ? &group_at(b, above->group)->base : &c->link_pose[parent];
    stn_pose origin = stn_pose_mul(from, &above->spec.origin);
    int32_t body = on_world ? 0 : c->link_body[parent];
    c->links[link].parent = parent;
    c->links[link].origin = above->spec.origin;
    c->links[link].joint_rank = c->joint_above[link];
    c->links[link].joint = index;
    c->links[link].joint_name = above->spec.name;
    c->links[link].joint_where = above->spec.where != NULL ? above->spec.where : "";
    if (index >= 0 && plan[body].type == STN_JOINT_KINEMATIC) {
        // A base that moves as it is told would have to bring its acceleration into the joints on it.
        return stn_fail(err, STN_ERR_ARGUMENT,
                        "group '%s', joint '%s': moves on link '%s' of group '%s', which is kinematic; joints on a "
                        "kinematic body are not supported: fix them, or drive the base by joints and a controller",
                        group_at(b, above->group)->name, above->spec.name, link_at(b, parent)->spec.name,
                        group_at(b, link_at(b, parent)->group)->name);
    }
    if (index >= 0) {
        fill_joint(c, index, &above->spec, &origin);
        body = begin_body(c, plan, link, index, body);
        origin = stn_pose_identity();
    }
    c->link_body[link] = body;
    c->link_pose[link] = origin;
    return STN_OK;
}

/// The mass of a link goes to its body; a root named "world" has none that counts, and that of a kinematic body has no
/// part in anything: whatever moves it is as strong as it must be.
static void add_link(compiler *c, const body_plan *plan, int32_t link) {
    const built_link *built = link_at(c->builder, link);
    stn_link *out = &c->links[link];
    out->name = built->spec.name;
    out->where = built->spec.where != NULL ? built->spec.where : "";
    out->group = built->group;
    out->body = c->link_body[link];
    out->pose = c->link_pose[link];
    out->mass = built->spec.mass;
    bool is_world = c->root[built->group] == ROOT_WORLD && c->root_link[built->group] == link;
    if (is_world || out->mass.mass == 0.0) {
        out->mass = (stn_mass){.mass = 0.0};
        return;
    }
    if (plan[out->body].type == STN_JOINT_KINEMATIC) {
        return;
    }
    stn_mass in_body = stn_mass_transform(&out->pose, &out->mass);
    stn_mass *sum = &c->bodies[out->body].mass;
    *sum = sum->mass > 0.0 ? stn_mass_add(sum, &in_body) : in_body;
}

stn_status compile_bodies(compiler *c, stn_error *err) {
    body_plan *plan = NULL;
    stn_status status = begin_bodies(c, &plan, err);
    for (int32_t i = 0; status == STN_OK && i < c->builder->links.count; i++) {
        int32_t link = c->order[i];
        if (c->joint_above[link] >= 0) {
            status = place_child(c, plan, link, err);
        } else if (c->parent[link] >= 0) {
            // The root of an attached group goes where the link is that it is welded to.
            const built_group *built = group_at(c->builder, link_at(c->builder, link)->group);
            int32_t onto = built->attached_to;
            c->links[link].parent = onto;
            c->links[link].origin = stn_pose_identity();
            c->links[link].joint_rank = -1;
            c->links[link].joint = -1;
            c->links[link].joint_where = "";
            c->link_body[link] = c->link_body[onto];
            c->link_pose[link] = stn_pose_mul(&c->link_pose[onto], &built->attached_at);
        } else {
            status = place_root(c, plan, link, err);
        }
        if (status == STN_OK) {
            add_link(c, plan, link);
        }
    }
    if (status != STN_OK) {
        return status;
    }
    for (int32_t i = 1; i < c->object->face.body_count; i++) {
        const stn_joint *joint = &c->joints[plan[i].joint];
        plan[i].free_root = plan[i].parent == 0 && joint->type == STN_JOINT_FLOATING;
        for (int32_t k = 0; k < 9; k++) {
            plan[i].free_root = plan[i].free_root && joint->origin.rotation.m[k / 3][k % 3] == (k % 4 == 0 ? 1.0 : 0.0);
        }
    }
    for (int32_t r = 0; r < c->object->face.group_count; r++) {
        stn_group *group = &c->groups[r];
        group->velocity_limits = group_at(c->builder, r)->velocity_limits;
        group->fixed = c->root[r] == ROOT_JOINED || c->link_body[group->root_link] == 0;
    }
    c->object->articulated_count = c->object->face.tree_count;
    return STN_OK;
}
