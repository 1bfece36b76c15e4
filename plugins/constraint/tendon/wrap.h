// SPDX-License-Identifier: Apache-2.0
// The shortest way of a taut cable past something round.
#ifndef TENDON_WRAP_H
#define TENDON_WRAP_H

#include <stiction/math.h>

/// A way from `from` to `to` past a sphere or cylinder at the origin of the frame that all points are in.
typedef struct wrap {
    bool touches;             // else it is the straight line
    bool inside;              // one of its ends is inside: the line, which the caller is to refuse
    double length;            // [m]
    double arc;               // angle about the origin or axis over which it touches [rad], 0: it does not
    stn_vec3 leaves, arrives; // where it meets the surface and parts from it, when it touches
    stn_vec3 radial, along;   // there, `radius` long: from the middle or axis, and the way round it
    stn_vec3 out, in;         // unit: along it at `from` and at `to`; the gradient of length is (-out, in)
} wrap;

wrap wrap_straight(stn_vec3 from, stn_vec3 to);
/// Past a sphere, or a cylinder about z without ends. side: zero for the shorter side, else the cable passes on that
/// side of the middle, as far as the line between the ends is not there already.
wrap wrap_sphere(stn_vec3 from, stn_vec3 to, double radius, stn_vec3 side);
wrap wrap_cylinder(stn_vec3 from, stn_vec3 to, double radius, stn_vec3 side);
/// A point where it touches, from `leaves` at share 0 to `arrives` at 1.
stn_vec3 wrap_point(const wrap *way, double share);

#endif
