// SPDX-License-Identifier: Apache-2.0
// The angle between two triangles along their common edge, and the stiffness of the three angles round a triangle.
#ifndef STICTION_ELEMENT_SHELL_HINGE_H
#define STICTION_ELEMENT_SHELL_HINGE_H

#include <stiction/math.h>

/// Triangles (a, b, c) and (b, a, d) [grinspun-2003].
typedef struct hinge {
    double angle; // [rad] in (-pi, pi]; 0: flat; > 0: c and d lie below the edge, seen from where a, b, c turn left
    stn_vec3 gradient[4]; // of the angle by a, b, c, d [1/m] [tamstorf-2013]
} hinge;

/// False: one of the triangles has less than `area` [m^2], so that there is no angle.
bool hinge_of(stn_vec3 a, stn_vec3 b, stn_vec3 c, stn_vec3 d, double area, hinge *h);

/// Stiffness K = B B^T [N m] of the three angles theta_i along the edges opposite to corners i of a flat triangle:
/// energy 1/2 theta^T K theta = area 1/2 D ((1 - nu) S : S + nu tr(S)^2) of the curvature [onate-2000]
///
///   S = sum_i (l_i / (2 area)) theta_i n_i n_i^T,   l_i lengths and n_i normals of the edges, in the plane,
///
/// which is exact where the curvature is constant. An edge without neighbour carries no moment: its angle is the one
/// that makes the energy least.
/// @param corner    (3) in the plane, z = 0 [m]
/// @param stiffness D [N m]
/// @param alone     (3) the edge opposite to the corner has no neighbour; its row and column of K are 0
/// @param B         lower triangle, so that J^T K J of any J is exactly symmetric as (B^T J)^T (B^T J)
void hinge_stiffness(const stn_vec3 *corner, double stiffness, double poisson, const bool *alone, double (*B)[3]);

#endif
