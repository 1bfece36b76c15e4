// SPDX-License-Identifier: Apache-2.0
// Parts of small SDFormat files, and where the links of a model are.
#ifndef SDF_FIXTURE_H
#define SDF_FIXTURE_H

#include <stiction/dynamics.h>

#include "robot_fixture.h"

#define MASS(m)                        "<inertial><mass>" m "</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia></inertial>"
#define POSE(text)                     "<pose>" text "</pose>"
#define POSE_IN(frame, text)           "<pose relative_to='" frame "'>" text "</pose>"
#define LINK(name, more)               "<link name='" name "'>" MASS("1") more "</link>\n"
#define FRAME(name, more)              "<frame name='" name "'>" more "</frame>\n"
#define SHAPE(kind, name, more, shape) "<" kind " name='" name "'>" more "<geometry>" shape "</geometry></" kind ">"
/// A joint with room for an axis and more inside.
#define JOINT(name, type, parent, child, more) \
    "<joint name='" name "' type='" type "'><parent>" parent "</parent><child>" child "</child>" more "</joint>\n"
#define AXIS(xyz, more)    "<axis><xyz>" xyz "</xyz>" more "</axis>"
#define AXIS2(xyz, more)   "<axis2><xyz>" xyz "</xyz>" more "</axis2>"
#define SDF(version, body) "<sdf version='" version "'>\n" body "</sdf>\n"
#define MODEL(name, body)  "<model name='" name "'>\n" body "</model>\n"
/// A whole file of one model m.
#define ROBOT(body) SDF("1.9", MODEL("m", body))

static inline int set_up_sdf(void **state) {
    int result = set_up(state);
    fixture *f = *state;
    f->file = "robot.sdf";
    f->as_proposed = true;
    return result;
}

/// Pose of a link at q (NULL: the start) in the world.
static inline stn_pose pose_of(const fixture *f, const char *name, const double *q) {
    const stn_link *link = link_of(f, name);
    stn_kinematics *k = NULL;
    stn_error err;
    double *v = calloc((size_t)f->model->nv + 1, sizeof *v);
    assert_non_null(v);
    assert_ok(stn_kinematics_create(f->model, &k, &err), err);
    stn_kinematics_update(k, q != NULL ? q : f->model->q0, v);
    stn_pose pose = stn_pose_mul(&k->body_pose[link->body], &link->pose);
    stn_kinematics_destroy(k);
    free(v);
    return pose;
}

static inline void expect_same_pose(const stn_pose *pose, const stn_pose *expected, double tolerance) {
    assert_near(pose->position.x, expected->position.x, tolerance);
    assert_near(pose->position.y, expected->position.y, tolerance);
    assert_near(pose->position.z, expected->position.z, tolerance);
    for (int32_t i = 0; i < 9; i++) {
        assert_near(pose->rotation.m[i / 3][i % 3], expected->rotation.m[i / 3][i % 3], tolerance);
    }
}

/// A link's pose as x y z roll pitch yaw.
static inline void expect_pose(const fixture *f, const char *name, const double *q, double x, double y, double z,
                               double roll, double pitch, double yaw) {
    const stn_pose pose = pose_of(f, name, q);
    const stn_pose expected = {stn_mat3_from_rpy(roll, pitch, yaw), stn_vec3_make(x, y, z)};
    expect_same_pose(&pose, &expected, 1e-14);
}

#endif
