// SPDX-License-Identifier: Apache-2.0
// Joint kinds. joint.c is the only place that knows what a revolute or a floating joint is: a new kind is one more row
// of its table.
#ifndef STICTION_CORE_MODEL_JOINT_H
#define STICTION_CORE_MODEL_JOINT_H

#include <stiction/model.h>

/// The most velocities and coordinates that a joint has.
enum { JOINT_MAX_NV = 6, JOINT_MAX_NQ = 13 };

/// A joint where it is.
typedef struct joint_state {
    const stn_joint *joint;
    stn_pose frame;  // the joint frame in the world, X_WJ; it moves with the parent body
    const double *q; // its coordinates
    stn_vec3 r;      // origin of the child body minus the reference point
} joint_state;

/// One row of the table. `frame` is the joint frame in the world, X_WJ; it moves with the parent body.
typedef struct joint_kind {
    const char *name; // as in URDF
    int32_t nq, nv;
    bool axial;      // one coordinate along or about the axis: may be limited, mimic and be mimicked
    bool has_axis;   // the axis means something
    bool limited;    // lower and upper mean something
    bool quaternion; // four coordinates are one, the last unless `behind` follow
    int32_t behind;
    const stn_joint_units *units;
    const char *coordinates[JOINT_MAX_NQ], *velocities[JOINT_MAX_NV]; // names; "" for the only one
    /// Coordinates for which the child frame is the joint frame.
    void (*rest)(double *q);
    /// X_WB of the child body.
    void (*place)(const stn_joint *joint, const stn_pose *frame, const double *q, stn_pose *body);
    /// Columns of the motion subspace S (nv) in world axes at the reference point.
    void (*motion)(const joint_state *at, stn_spatial *S);
    /// What S-dot v has beyond V_parent x (S v): nothing unless columns of S move relative to the parent (absent:
    /// zero).
    void (*own_bias)(const joint_state *at, const double *v, stn_spatial *bias);
    /// next = q moved by v for time s; next may be q.
    void (*integrate)(const double *q, const double *v, double s, double *next);
    /// v that moves a to b in unit time.
    void (*difference)(const double *a, const double *b, double *v);
} joint_kind;

/// NULL outside the table.
const joint_kind *joint_kind_get(stn_joint_type type);

#endif
