// SPDX-License-Identifier: Apache-2.0
// Contact parameters that were written for other programs, as numbers in child elements. A value that makes no sense is
// a warning, not an error: the file is good for the program that it was written for.
#include "robot.h"

double robot_surface_number(robot_reader *reader, const xml_element *parent, const char *name, double least) {
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

void robot_surface_spring(robot_reader *reader, const xml_element *parent, const char *k_name, const char *c_name,
                          stn_material *out) {
    double k = robot_surface_number(reader, parent, k_name, 0.0);
    double c = robot_surface_number(reader, parent, c_name, 0.0);
    if (k > 0.0) {
        out->stiffness = k;
        out->relaxation_time = isfinite(c / k) ? c / k : (double)NAN; // also when c is not given
    } else if (k == 0.0 || !isnan(c)) {
        robot_note(reader, parent, "skipped", "<%s> without a <%s> > 0 is not read", isnan(c) ? k_name : c_name,
                   k_name);
    }
}

double robot_surface_friction(robot_reader *reader, const xml_element *parent, const char *first, const char *second) {
    double mu1 = robot_surface_number(reader, parent, first, 0.0);
    double mu2 = robot_surface_number(reader, parent, second, 0.0);
    if (mu1 != mu2 && !isnan(mu1) && !isnan(mu2)) {
        robot_warn(reader, parent, "friction", "%s = %g and %s = %g: friction is the same in all directions, %g counts",
                   first, mu1, second, mu2, fmin(mu1, mu2));
    }
    return fmin(mu1, mu2); // the one that is given when the other is not
}

double robot_surface_restitution(robot_reader *reader, const xml_element *parent, const char *name) {
    double restitution = robot_surface_number(reader, parent, name, 0.0);
    if (restitution > 1.0) {
        robot_warn(reader, parent, "range", "<%s> = %g must be <= 1; ignored", name, restitution);
        return (double)NAN;
    }
    return restitution;
}

static void fill(double *value, double given) {
    *value = isnan(*value) ? given : *value;
}

void robot_fill_material(stn_material *material, const stn_material *given) {
    fill(&material->mu, given->mu);
    fill(&material->stiffness, given->stiffness);
    fill(&material->relaxation_time, given->relaxation_time);
    fill(&material->restitution, given->restitution);
}
