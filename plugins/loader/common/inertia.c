// SPDX-License-Identifier: Apache-2.0
// Is a mass physical? With the eigenvalues I1 <= I2 <= I3 of the inertia about the centre of mass:
//   I1 >= 0 (round-off of published files allows -1e-9 of the trace), and I1 + I2 >= I3 for any rigid body.
// Moving subtrees without any mass make the mass matrix singular.
#include "robot.h"

void robot_check_mass(robot_reader *reader, const xml_element *inertial, double mass, const stn_mat3 *inertia) {
    double trace = inertia->m[0][0] + inertia->m[1][1] + inertia->m[2][2], lambda[3];
    stn_mat3_eigenvalues(inertia, lambda);
    if (lambda[0] == 0.0 && lambda[2] == 0.0) {
        return;
    }
    if (mass == 0.0) {
        robot_warn(reader, inertial, "inertia", "an inertia without mass: give a mass or remove <inertial>");
    }
    if (!(lambda[0] >= -1e-9 * fabs(trace))) {
        robot_error(reader, inertial, "inertia",
                    "the inertia has the negative principal moment %g kg m^2: no body has one, correct the six figures",
                    lambda[0]);
    } else if (lambda[0] + lambda[1] < lambda[2] - 1e-6 * trace) {
        robot_warn(reader, inertial, "inertia",
                   "the principal moment %g kg m^2 is larger than the sum %g of the other two: no rigid body has that",
                   lambda[2], lambda[0] + lambda[1]);
    }
}

void robot_warn_massless(robot_reader *reader, const int32_t *order) {
    bool *carries = ROBOT_NEW(reader, reader->link_count, bool); // some mass in the subtree from this link on
    if (carries == NULL) {
        return;
    }
    for (int32_t i = reader->link_count - 1; i >= 0; i--) { // children before parents
        const robot_link *link = &reader->links[order[i]];
        const stn_mat3 *inertia = &link->mass.inertia;
        carries[order[i]] |=
            link->mass.mass != 0.0 || inertia->m[0][0] != 0.0 || inertia->m[1][1] != 0.0 || inertia->m[2][2] != 0.0;
        if (link->joint >= 0) {
            carries[reader->joints[link->joint].spec.parent] |= carries[order[i]];
        }
    }
    if (!carries[reader->root]) {
        reader->label = "robot";
        if (reader->joint_count > 0) {
            robot_say(reader, STN_SEVERITY_WARNING, "massless", reader->links[reader->root].place,
                      "no link has a mass: the robot is good for kinematics only");
        }
        return;
    }
    for (int32_t i = 0; i < reader->link_count; i++) {
        const robot_link *link = &reader->links[order[i]];
        const stn_joint_spec *spec = link->joint >= 0 ? &reader->joints[link->joint].spec : NULL;
        bool moves = spec != NULL && spec->type != STN_JOINT_FIXED;
        if (moves && !carries[order[i]] && carries[spec->parent] && !(spec->rotor_inertia > 0.0)) {
            reader->label = link->label;
            robot_say(reader, STN_SEVERITY_WARNING, "massless", link->place,
                      "it moves and neither it nor anything behind it has a mass, so the mass matrix is singular: add "
                      "<inertial>");
        }
    }
}
