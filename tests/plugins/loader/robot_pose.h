// SPDX-License-Identifier: Apache-2.0
// Where the links of a loaded model are.
#ifndef ROBOT_POSE_H
#define ROBOT_POSE_H

#include <stiction/dynamics.h>

#include "robot_fixture.h"

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
