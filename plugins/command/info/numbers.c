// SPDX-License-Identifier: Apache-2.0
// What can be counted in a robot, how large it is, and how far flat pieces lie beside its round shapes.
#include <stiction/plugin.h>

#include "info.h"

bool info_has_servo(const stn_joint *joint) {
    return joint->servo_kp > 0.0 || joint->servo_kd > 0.0;
}

bool info_is_driven(const stn_joint *joint) {
    return joint->actuator[0] != '\0' || joint->reflected_inertia > 0.0 || info_has_servo(joint);
}

static void measure(info_report *r, bool collision) {
    const stn_model *m = r->robot.model;
    r->size = (info_size){.box = cli_robot_box(&r->robot, r->kinematics, collision), .collision = collision};
    for (int32_t g = 0; g < m->geometry_count; g++) {
        bool counts = collision ? m->geometries[g].collision : m->geometries[g].visual;
        r->size.missing +=
            counts && m->geometries[g].shape.type == STN_SHAPE_MESH && m->geometries[g].shape.mesh == NULL;
    }
}

void info_count(info_report *r) {
    r->counts = (info_counts){0};
    const stn_model *m = r->robot.model;
    info_counts *c = &r->counts;
    for (int32_t i = 0; i < m->link_count; i++) {
        double moments[3];
        c->mass += m->links[i].mass.mass;
        c->joints += m->links[i].joint_name != NULL;
        c->inertias[cli_judge_inertia(&m->links[i].mass, moments)]++;
    }
    for (int32_t j = 0; j < m->joint_count; j++) {
        c->of_type[m->joints[j].type]++;
        c->mimic += m->joints[j].mimic >= 0;
        c->actuators += info_is_driven(&m->joints[j]);
    }
    c->of_type[STN_JOINT_FIXED] = c->joints - m->joint_count;
    c->dof_reduced = m->nv - c->mimic;
    for (int32_t g = 0; g < m->geometry_count; g++) {
        const stn_geometry *shape = &m->geometries[g];
        bool compliant = shape->collision && stn_geometry_is_compliant(shape);
        c->collision += shape->collision;
        c->visual += shape->visual;
        c->compliant += compliant;
        c->friction_directions += shape->collision && stn_vec3_norm(shape->friction_direction) > 0.0;
        c->tetrahedra += compliant && shape->field.volume_mesh >= 0;
        c->collision_shapes[shape->shape.type] += shape->collision;
        c->visual_shapes[shape->shape.type] += shape->visual;
    }
    stn_kinematics_update(r->kinematics, r->q, r->v);
    measure(r, true);
    if (cli_box_is_empty(&r->size.box)) {
        measure(r, false);
    }
}

stn_pose info_link_pose(const info_report *r, int32_t link) {
    const stn_link *l = &r->robot.model->links[link];
    return stn_pose_mul(&r->kinematics->body_pose[l->body], &l->pose);
}

void info_measure_surfaces(info_report *r) {
    const char *id = NULL; // of the first contact model that acts on flat pieces
    const stn_plugin_info *plugins = NULL;
    int32_t count = 0;
    if (r->counts.compliant > 0) {
        stn_plugins_of_kind(r->robot.context, STN_KIND_CONTACT, &plugins, &count, NULL);
    }
    for (int32_t i = 0; i < count && id == NULL; i++) {
        const stn_plugin_desc *d = plugins[i].desc;
        id = STN_PLUGIN_HAS(d->ops.contact, surface_error) ? d->id : NULL;
    }
    stn_instance *instance = NULL;
    void *prepared = NULL;
    r->surfaces = STN_ARENA(r->arena, r->robot.model->geometry_count, info_surface);
    if (id == NULL || r->surfaces == NULL ||
        stn_instance_create(r->robot.context, STN_KIND_CONTACT, id, NULL, 0, &instance, NULL) < 0) {
        return;
    }
    const stn_contact_ops *ops = instance->desc->ops.contact;
    if (ops->prepare(instance->self, r->robot.model, &prepared, NULL) >= 0) { // else a world will say why not
        const stn_model *m = r->robot.model;
        for (int32_t g = 0; g < m->geometry_count; g++) {
            info_surface s = {.geometry = g};
            ops->surface_error(prepared, g, &s.error);
            if (m->geometries[g].collision && s.error.resolution > 0.0) {
                r->surfaces[r->surface_count++] = s;
            }
        }
        ops->release(prepared);
    }
    stn_instance_destroy(instance);
}
