// SPDX-License-Identifier: Apache-2.0
// What sensors on links measure of the last step of a world.
#ifndef STICTION_SENSOR_H
#define STICTION_SENSOR_H

#include <stiction/world.h>

STN_BEGIN_C

// What sensors measure of the last step: means over it, as its contacts and accelerations (v - v0)/dt have them, at the
// poses of its start, so that they balance to rounding; with integrators other than symplectic_euler up to O(dt).
// Quasistatic steps have no accelerations; what unactuated_mass_scale resists with is no force that a sensor feels. To
// be asked by an observer, or before anything changes the state. STN_ERR_SEQUENCE before the first step and after a
// reset or restore, STN_ERR_ARGUMENT for no such link or joint, STN_ERR_UNSUPPORTED for kinematic bodies and where a
// weld, ball or distance constraint passes by the link.

/// Can the link be measured in the steps to come, with `forces` also what carries it? Errors as above, before any step.
/// [setup]
STN_API stn_status stn_world_check_sensor(const stn_world *world, int32_t link, bool forces, stn_error *err);
/// What carries a link (a joint, fixed ones too) exerts on it and all that is beyond it: torque about the link's origin
/// [N m] and force [N], in its axes. Weight counts, also that of soft bodies which the links hold; a wrench on a
/// body acts on the body's first link. [step]
STN_API stn_status stn_world_link_wrench(stn_world *world, int32_t link, stn_spatial *wrench, stn_error *err);
/// The part of that along a joint's velocities (nv of the joint) [N m], [N]: what motor, damper, spring and limit of
/// the joint exert, without what turns the motor's own rotor. [step]
STN_API stn_status stn_world_joint_torque(stn_world *world, int32_t joint, double *torque, stn_error *err);
/// Of an inertial unit at a link's origin, in its axes: specific force a - g [m/s^2] and angular velocity [rad/s], the
/// latter of the step's start. [step]
STN_API stn_status stn_world_link_inertial(stn_world *world, int32_t link, stn_vec3 *specific_force,
                                           stn_vec3 *angular_velocity, stn_error *err);

STN_END_C
#endif
