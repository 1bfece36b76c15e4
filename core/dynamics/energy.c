// SPDX-License-Identifier: Apache-2.0
// Energies and momentum. With p, L the momenta at a tree's reference point O: about the world's origin L + O x p.
#include "dynamics/tree_kernels.h"

static const stn_spatial ZERO = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};

/// Velocity of node i of a cloud, its angular part 0 where it is a point, and its momenta about itself: M v there.
static void node_motion(const stn_kinematics *k, const stn_tree *tree, int32_t i, stn_spatial *velocity,
                        stn_spatial *momentum) {
    const double *v = k->v + tree->v_start;
    const int32_t nv = stn_node_type_nv(tree->node_type), node = tree->node_start + i;
    *velocity = (stn_spatial){stn_vec3_zero(), stn_vec3_at(v + nv * i, 0)};
    *momentum = ZERO;
    if (tree->mass == NULL) {
        momentum->linear = stn_vec3_scale(k->model->node_mass[node], velocity->linear);
    } else {
        for (int32_t e = tree->row_start[i]; e < tree->row_start[i + 1]; e++) {
            momentum->linear =
                stn_vec3_mul_add(momentum->linear, tree->mass[e], stn_vec3_at(v + nv * tree->column[e], 0));
        }
    }
    if (tree->node_type == STN_NODE_FRAME) {
        const stn_mat3 I = stn_node_inertia(k, node);
        velocity->angular = stn_vec3_at(v + nv * i + 3, 0);
        momentum->angular = stn_mat3_apply(&I, velocity->angular);
    }
}

double stn_kinetic_energy(const stn_kinematics *kinematics) {
    const stn_model *model = kinematics->model;
    const model_object *object = model_object_of(model);
    const kinematics_object *k = kinematics_object_of(kinematics);
    double twice = 0.0;
    for (int32_t t = 0; t < object->articulated_count; t++) {
        twice += k->kernels->twice_kinetic(k, &model->trees[t]);
    }
    for (int32_t i = 0; i < object->acting_count; i++) {
        const stn_joint *joint = &model->joints[object->acting[i]];
        const double rotor = joint->reflected_inertia;
        for (int32_t j = 0; rotor > 0.0 && j < joint->nv; j++) {
            double rate = kinematics->v[joint->v_start + j];
            twice += rotor * rate * rate;
        }
    }
    for (int32_t t = object->articulated_count; t < model->tree_count; t++) {
        for (int32_t i = 0; i < model->trees[t].node_count; i++) {
            stn_spatial u, p;
            node_motion(kinematics, &model->trees[t], i, &u, &p);
            twice += spatial_dot(&p, &u);
        }
    }
    return 0.5 * twice;
}

double stn_gravitational_energy(const stn_kinematics *kinematics, stn_vec3 gravity) {
    const stn_model *model = kinematics->model;
    const kinematics_object *k = kinematics_object_of(kinematics);
    double energy = 0.0;
    for (int32_t i = 1; i < model->body_count; i++) {
        const inertia *b = &k->inertia[i];
        stn_vec3 first_moment =
            stn_vec3_mul_add(inertia_moment(b), inertia_mass(b), kinematics->reference[model->bodies[i].tree]);
        energy -= stn_vec3_dot(gravity, first_moment);
    }
    for (int32_t i = 0; i < model->node_count; i++) {
        energy -= model->node_mass[i] * stn_vec3_dot(gravity, kinematics->node[i]);
    }
    return energy;
}

double stn_spring_energy(const stn_kinematics *kinematics) {
    const stn_model *model = kinematics->model;
    double energy = 0.0;
    const model_object *object = model_object_of(model);
    for (int32_t i = 0; i < object->acting_count; i++) {
        const stn_joint *joint = &model->joints[object->acting[i]];
        if (joint->stiffness > 0.0) {
            double stretch = kinematics->q[joint->q_start] - joint->rest;
            energy += 0.5 * joint->stiffness * stretch * stretch;
        }
    }
    return energy;
}

stn_spatial stn_momentum(const stn_kinematics *kinematics) {
    const stn_model *model = kinematics->model;
    const kinematics_object *k = kinematics_object_of(kinematics);
    stn_spatial sum = ZERO;
    for (int32_t i = 1; i < model->body_count; i++) {
        stn_spatial p = inertia_apply(&k->inertia[i], &kinematics->body_velocity[i]);
        p.angular = stn_vec3_add(p.angular, stn_vec3_cross(kinematics->reference[model->bodies[i].tree], p.linear));
        spatial_add_to(&sum, 1.0, &p);
    }
    for (int32_t t = model_object_of(model)->articulated_count; t < model->tree_count; t++) {
        const stn_tree *tree = &model->trees[t];
        for (int32_t i = 0; i < tree->node_count; i++) {
            stn_spatial u, p;
            node_motion(kinematics, tree, i, &u, &p);
            const stn_vec3 place = kinematics->node[tree->node_start + i];
            p.angular = stn_vec3_add(p.angular, stn_vec3_cross(place, p.linear));
            spatial_add_to(&sum, 1.0, &p);
        }
    }
    return sum;
}

double stn_total_mass(const stn_model *model) {
    double sum = 0.0;
    for (int32_t i = 0; i < model->body_count; i++) {
        sum += model->bodies[i].mass.mass;
    }
    for (int32_t i = 0; i < model->node_count; i++) {
        sum += model->node_mass[i];
    }
    return sum;
}
