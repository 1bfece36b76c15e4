// SPDX-License-Identifier: Apache-2.0
// Robots with the joint under test deep in a tree, between "lower" and "upper", with random frames and axes.
#ifndef GAP_ROBOT_H
#define GAP_ROBOT_H

#include "random_tree.h"

#include "simulate.h"

enum { ROOT = 7, MOST_NV = ROOT + 6 + 2 };

static const stn_vec3 GRAVITY = {0.7, -1.1, -9.81};

static stn_context *context;

static inline int set_up(void **state) {
    (void)state;
    stn_error err;
    assert_ok(stn_context_create(NULL, &context, &err), err);
    return 0;
}

static inline int tear_down(void **state) {
    (void)state;
    stn_context_destroy(context);
    return 0;
}

/// One joint of the chain between "lower" and "upper"; what lies between two of them has no mass.
typedef struct part {
    stn_joint_type type;
    stn_pose origin;
    stn_vec3 axis;
    double pitch;
} part;

/// A robot for one way to fill the gap, with its state: root (floating, then a hinge), gap, tip and branch.
typedef struct robot {
    stn_model *model;
    simulator s;
    int32_t gap_nq, gap_nv;
    double q[7 + 1 + 7 + 2], v[MOST_NV], a[MOST_NV];
} robot;

static inline int32_t add_part(stn_model_builder *b, const part *p, const char *name, int32_t parent, stn_mass mass) {
    stn_joint_spec spec = stn_joint_spec_default(name, p->type);
    int32_t link = add_link(b, name, mass);
    spec.parent = parent;
    spec.child = link;
    spec.origin = p->origin;
    spec.axis = p->axis;
    spec.screw_pitch = p->pitch;
    add_joint_spec(b, &spec);
    return link;
}

static inline part hinge(stn_random *r) {
    part p = {STN_JOINT_REVOLUTE, random_pose(r, 0.5), random_unit(r), 0.0};
    return p;
}

/// The same robot for the same seed, whatever fills the gap.
static inline robot robot_create(uint64_t seed, const part *parts, int32_t count) {
    stn_random r = {seed};
    robot out = {.gap_nq = 0};
    stn_model_builder *b = new_builder(context);
    begin_robot(b, "robot");
    int32_t at = add_link(b, "root", random_mass(&r));
    part below = hinge(&r), tip = hinge(&r), branch = hinge(&r);
    stn_mass masses[4];
    for (int32_t i = 0; i < 4; i++) {
        masses[i] = random_mass(&r);
    }
    at = add_part(b, &below, "lower", at, masses[0]);
    for (int32_t i = 0; i < count; i++) {
        static const char *const names[] = {"first", "second"};
        bool last = i == count - 1;
        at = add_part(b, &parts[i], last ? "upper" : names[i], at, last ? masses[1] : (stn_mass){.mass = 0.0});
        out.gap_nq += stn_joint_type_nq(parts[i].type);
        out.gap_nv += stn_joint_type_nv(parts[i].type);
    }
    add_part(b, &tip, "tip", at, masses[2]);
    add_part(b, &branch, "branch", at, masses[3]);
    out.model = compile_model(b);
    stn_builder_destroy(b);
    out.s = simulator_create(out.model, GRAVITY);
    random_coordinates(&r, STN_JOINT_FLOATING, out.q);
    for (int32_t i = 0; i < 3; i++) {
        out.q[i == 0 ? 7 : 8 + out.gap_nq + i - 1] = random_between(&r, -2.0, 2.0);
    }
    for (int32_t i = 0; i < ROOT + 2; i++) {
        int32_t to = i < ROOT ? i : i + out.gap_nv;
        out.v[to] = random_between(&r, -1.5, 1.5);
        out.a[to] = random_between(&r, -3.0, 3.0);
    }
    return out;
}

static inline void robot_destroy(robot *r) {
    simulator_destroy(&r->s);
    stn_model_destroy(r->model);
}

static inline stn_pose link_pose(const robot *r, const char *name) {
    const stn_link *link = &r->model->links[stn_model_find_link(r->model, 0, name)];
    return stn_pose_mul(&r->s.kinematics->body_pose[link->body], &link->pose);
}

static const double ONE[9] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0};

static inline void random_gap(stn_random *r, robot *A) {
    for (int32_t i = 0; i < A->gap_nv; i++) {
        A->v[ROOT + i] = random_between(r, -1.5, 1.5);
        A->a[ROOT + i] = random_between(r, -3.0, 3.0);
    }
}

#endif
