// SPDX-License-Identifier: Apache-2.0
// Contact parameters that were written for other programs, where no Drake value stands beside them:
//   Bullet  <contact> of a link:        mu = lateral_friction,  k = stiffness,  tau = damping / stiffness,  restitution
//   Gazebo  <gazebo reference="link">:  mu = min(mu1, mu2),     k = kp,         tau = kd / kp
// Both put springs in series and so do we. They combine friction otherwise (Bullet multiplies, Gazebo takes the
// smaller; here it is the harmonic mean, so that two equal surfaces keep their coefficient), and they add the damping
// coefficients [N s/m] of two surfaces, where we add the times. A value that makes no sense is a warning, not an error:
// the file is good for the program that it was written for.
#include <string.h>

#include "urdf.h"

/// Number of a child, NaN when there is none or it is bad; at least `least`.
static double parse_number(robot_reader *reader, const xml_element *parent, const char *name, double least) {
    const xml_element *xml = robot_child(reader, parent, name);
    double value = 0.0;
    if (xml == NULL || !robot_setting(reader, xml, STN_SEVERITY_WARNING, &value)) {
        return (double)NAN;
    }
    if (value < least) {
        robot_warn(reader, xml, "range", "<%s> = %g must be >= %g; ignored", name, value, least);
        return (double)NAN;
    }
    return value;
}

/// k [N/m] and c [N s/m]; only together do they make a relaxation time.
static void set_spring(robot_reader *reader, const xml_element *parent, const char *k_name, const char *c_name,
                       stn_material *out) {
    double k = parse_number(reader, parent, k_name, 0.0), c = parse_number(reader, parent, c_name, 0.0);
    if (k > 0.0) {
        out->stiffness = k;
        out->relaxation_time = isfinite(c / k) ? c / k : (double)NAN; // also when c is not given
    } else if (k == 0.0 || !isnan(c)) {
        robot_note(reader, parent, "skipped", "<%s> without a <%s> > 0 is not read", isnan(c) ? k_name : c_name,
                   k_name);
    }
}

static void fill(double *value, double given) {
    *value = isnan(*value) ? given : *value;
}

/// Gives a link's collisions what they do not have yet.
static void fill_link(robot_reader *reader, int32_t link, const stn_material *given) {
    const robot_link *l = &reader->links[link];
    for (int32_t i = l->geometry_start; i < l->geometry_start + l->geometry_count; i++) {
        stn_material *m = &reader->geometries[i].spec.material;
        if (reader->geometries[i].spec.collision) {
            fill(&m->mu, given->mu);
            fill(&m->stiffness, given->stiffness);
            fill(&m->relaxation_time, given->relaxation_time);
            fill(&m->restitution, given->restitution);
        }
    }
}

void urdf_parse_contact(robot_reader *reader, const xml_element *xml, int32_t link) {
    stn_material given = stn_material_unset();
    given.mu = parse_number(reader, xml, "lateral_friction", 0.0);
    set_spring(reader, xml, "stiffness", "damping", &given);
    given.restitution = parse_number(reader, xml, "restitution", 0.0);
    if (given.restitution > 1.0) {
        robot_warn(reader, xml, "range", "<restitution> = %g must be <= 1; ignored", given.restitution);
        given.restitution = (double)NAN;
    }
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
    double mu1 = parse_number(reader, xml, "mu1", 0.0), mu2 = parse_number(reader, xml, "mu2", 0.0);
    given.mu = fmin(mu1, mu2); // the one that is given when the other is not
    if (mu1 != mu2 && !isnan(mu1) && !isnan(mu2)) {
        robot_warn(reader, xml, "friction", "mu1 = %g and mu2 = %g: friction is the same in all directions, %g counts",
                   mu1, mu2, given.mu);
    }
    set_spring(reader, xml, "kp", "kd", &given);
    fill_link(reader, link, &given);
}
