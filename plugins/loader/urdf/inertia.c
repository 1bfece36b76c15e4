// SPDX-License-Identifier: Apache-2.0
// Is a mass physical? With the eigenvalues I1 <= I2 <= I3 of the inertia about the centre of mass:
//   I1 >= 0 (round-off of published files allows -1e-9 of the trace), and I1 + I2 >= I3 for any rigid body.
// Moving subtrees without any mass make the mass matrix singular.
#include "urdf.h"

enum { SWEEPS = 30 };

/// One rotation of Jacobi's method that makes A_pq zero.
static void rotate(double A[3][3], int32_t p, int32_t q) {
    if (A[p][q] == 0.0) {
        return;
    }
    double theta = (A[q][q] - A[p][p]) / (2.0 * A[p][q]);
    double t = (theta >= 0.0 ? 1.0 : -1.0) / (fabs(theta) + sqrt(theta * theta + 1.0));
    double c = 1.0 / sqrt(t * t + 1.0), s = t * c;
    for (int32_t k = 0; k < 3; k++) { // A G
        double x = A[k][p], y = A[k][q];
        A[k][p] = c * x - s * y;
        A[k][q] = s * x + c * y;
    }
    for (int32_t k = 0; k < 3; k++) { // G^T A
        double x = A[p][k], y = A[q][k];
        A[p][k] = c * x - s * y;
        A[q][k] = s * x + c * y;
    }
}

/// Smallest and largest eigenvalue of a symmetric matrix.
static void extreme_eigenvalues(const stn_mat3 *matrix, double *lowest, double *highest) {
    stn_mat3 a = *matrix;
    for (int32_t sweep = 0; sweep < SWEEPS; sweep++) {
        rotate(a.m, 0, 1);
        rotate(a.m, 0, 2);
        rotate(a.m, 1, 2);
    }
    *lowest = fmin(a.m[0][0], fmin(a.m[1][1], a.m[2][2]));
    *highest = fmax(a.m[0][0], fmax(a.m[1][1], a.m[2][2]));
}

void urdf_check_mass(urdf_reader *reader, const xml_element *inertial, double mass, const stn_mat3 *inertia) {
    double big = 0.0;
    for (int32_t i = 0; i < 9; i++) {
        big = fmax(big, fabs(inertia->m[i / 3][i % 3]));
    }
    if (big == 0.0) {
        return;
    }
    if (mass == 0.0) {
        urdf_warn(reader, inertial, "inertia", "an inertia without mass: give a mass or remove <inertial>");
    }
    stn_mat3 scaled = *inertia; // so that the largest entry is 1: nothing over- or underflows
    for (int32_t i = 0; i < 9; i++) {
        scaled.m[i / 3][i % 3] /= big;
    }
    double lowest = 0.0, highest = 0.0;
    double trace = scaled.m[0][0] + scaled.m[1][1] + scaled.m[2][2];
    extreme_eigenvalues(&scaled, &lowest, &highest);
    if (!(lowest >= -1e-9 * fabs(trace))) {
        urdf_error(reader, inertial, "inertia",
                   "the inertia has the negative principal moment %g kg m^2: no body has one, correct the six figures",
                   lowest * big);
    } else if (trace - highest < highest - 1e-6 * trace) {
        urdf_warn(reader, inertial, "inertia",
                  "the principal moment %g kg m^2 is larger than the sum %g of the other two: no rigid body has that",
                  highest * big, (trace - highest) * big);
    }
}

static bool is_massless(const stn_mass *mass) {
    return mass->mass == 0.0 && mass->inertia.m[0][0] == 0.0 && mass->inertia.m[1][1] == 0.0 &&
           mass->inertia.m[2][2] == 0.0;
}

void urdf_warn_massless(urdf_reader *reader, const int32_t *order) {
    bool *carries = URDF_NEW(reader, reader->link_count, bool); // some mass in the subtree from this link on
    if (carries == NULL) {
        return;
    }
    for (int32_t i = reader->link_count - 1; i >= 0; i--) { // children before parents
        const urdf_link *link = &reader->links[order[i]];
        carries[order[i]] |= !is_massless(&link->mass);
        if (link->joint >= 0) {
            carries[reader->joints[link->joint].spec.parent] |= carries[order[i]];
        }
    }
    if (!carries[reader->root]) {
        reader->label = "robot";
        if (reader->joint_count > 0) {
            urdf_say(reader, STN_SEVERITY_WARNING, "massless", reader->links[reader->root].line,
                     "no link has a mass: the robot is good for kinematics only");
        }
        return;
    }
    for (int32_t i = 0; i < reader->link_count; i++) {
        const urdf_link *link = &reader->links[order[i]];
        const stn_joint_spec *spec = link->joint >= 0 ? &reader->joints[link->joint].spec : NULL;
        bool moves = spec != NULL && spec->type != STN_JOINT_FIXED;
        if (moves && !carries[order[i]] && carries[spec->parent] && !(spec->rotor_inertia > 0.0)) {
            reader->label = link->label;
            urdf_say(reader, STN_SEVERITY_WARNING, "massless", link->line,
                     "it moves and neither it nor anything behind it has a mass, so the mass matrix is singular: add "
                     "<inertial>");
        }
    }
}
