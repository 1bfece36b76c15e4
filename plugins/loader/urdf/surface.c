// SPDX-License-Identifier: Apache-2.0
// Contact parameters that were written for other programs, where no Drake value stands beside them:
//   Bullet  <contact> of a link:        mu = lateral_friction,  k = stiffness,  tau = damping / stiffness,  restitution
//   Gazebo  <gazebo reference="link">:  mu = min(mu1, mu2),     k = kp,         tau = kd / kp
// Both put springs in series and so do we. They combine friction otherwise (Bullet multiplies, Gazebo takes the
// smaller; here it is the harmonic mean, so that two equal surfaces keep their coefficient), and they add the damping
// coefficients [N s/m] of two surfaces, where we add the times. A value that makes no sense is a warning, not an error:
// the file is good for the program that it was written for.
#include "urdf.h"

/// Gives a link's collisions what they do not have yet.
static void fill_link(robot_reader *reader, int32_t link, const stn_material *given) {
    const robot_link *l = &reader->links[link];
    for (int32_t i = l->geometry_start; i < l->geometry_start + l->geometry_count; i++) {
        stn_material *m = &reader->geometries[i].spec.material;
        if (reader->geometries[i].spec.collision) {
            robot_fill_material(m, given);
        }
    }
}

void urdf_parse_contact(robot_reader *reader, const xml_element *xml, int32_t link) {
    stn_material given = stn_material_unset();
    given.mu = robot_surface_number(reader, xml, "lateral_friction", 0.0);
    robot_surface_spring(reader, xml, "stiffness", "damping", &given);
    given.restitution = robot_surface_restitution(reader, xml, "restitution");
    fill_link(reader, link, &given);
}

void urdf_parse_gazebo(robot_reader *reader, const xml_element *xml) {
    const char *name = xml_attribute(xml, "reference");
    int32_t link = name != NULL ? robot_names_find(&reader->link_names, 0, name) : -1;
    reader->label = name != NULL ? robot_text(reader, "gazebo %s", name) : "gazebo";
    if (link < 0) {
        return; // settings of the whole model or of a joint
    }
    stn_material given = stn_material_unset();
    given.mu = robot_surface_friction(reader, xml, "mu1", "mu2");
    robot_surface_spring(reader, xml, "kp", "kd", &given);
    fill_link(reader, link, &given);
}
