// SPDX-License-Identifier: Apache-2.0
// Contact parameters that were written for other programs, as numbers in child elements. A value that makes no sense is
// a warning, not an error: the file is good for the program that it was written for. Drake's have a section of their
// own.
#include <string.h>

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

robot_friction robot_surface_friction(robot_reader *reader, const xml_element *parent, const char *first,
                                      const char *second) {
    robot_friction f = {robot_surface_number(reader, parent, first, 0.0),
                        robot_surface_number(reader, parent, second, 0.0), stn_vec3_zero()};
    const xml_element *xml = robot_child(reader, parent, "fdir1");
    double direction[3] = {0.0, 0.0, 0.0};
    if (isnan(f.mu) || isnan(f.mu2) || f.mu == f.mu2) {
        f.mu = fmin(f.mu, f.mu2); // the one that is given when the other is not
        f.mu2 = (double)NAN;
        return f;
    }
    const char *value = xml != NULL ? xml_attribute(xml, "value") : NULL; // in URDF either way
    const char *frame = xml != NULL ? xml_attribute(xml, "expressed_in") : NULL;
    frame = xml != NULL && frame == NULL ? xml_attribute(xml, "gz:expressed_in") : frame;
    frame = xml != NULL && frame == NULL ? xml_attribute(xml, "ignition:expressed_in") : frame;
    bool told = xml != NULL && frame == NULL &&
                robot_parse_reals(reader, xml, "<fdir1>", value != NULL ? value : xml_text(xml), 3, 3, direction) > 0;
    f.direction = stn_vec3_normalize_or(stn_vec3_make(direction[0], direction[1], direction[2]), stn_vec3_zero());
    if (told && stn_vec3_norm(f.direction) > 0.0) {
        return f;
    }
    robot_warn(reader, xml != NULL ? xml : parent, "friction",
               "%s = %g and %s = %g, %s: friction is taken the same in all directions, %g counts", first, f.mu, second,
               f.mu2, frame != NULL ? "but a <fdir1> in another frame is not read" : "but no <fdir1> in which they act",
               fmin(f.mu, f.mu2));
    f.mu = fmin(f.mu, f.mu2);
    f.mu2 = (double)NAN;
    return f;
}

void robot_fill_friction(robot_geometry *g, const robot_friction *given) {
    stn_geometry_spec *spec = &g->spec;
    if (isnan(spec->material.mu) && isnan(spec->material.mu2)) {
        spec->material.mu = given->mu;
        spec->material.mu2 = given->mu2;
        spec->friction_direction = stn_mat3_apply_transposed(&g->turn, given->direction);
    }
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
    fill(&material->stiffness, given->stiffness);
    fill(&material->relaxation_time, given->relaxation_time);
    fill(&material->restitution, given->restitution);
}

// ------------------------------------------------------------------------------------------------------------ Drake's
// <drake:proximity_properties> of a collision: the surface's contact parameters, and how the pressure field of a
// compliant one is made. Drake has a property slab_thickness, but no element for it; here it has one.

typedef struct property {
    const char *name;
    const char *unit;
    size_t offset; // of the member of stn_geometry_spec
    bool positive; // 0 is not allowed
} property;

static const property properties[] = {
    {"drake:mu_dynamic", "1", offsetof(stn_geometry_spec, material.mu), false},
    {"drake:point_contact_stiffness", "N/m", offsetof(stn_geometry_spec, material.stiffness), true},
    {"drake:relaxation_time", "s", offsetof(stn_geometry_spec, material.relaxation_time), false},
    {"drake:hunt_crossley_dissipation", "s/m", offsetof(stn_geometry_spec, material.dissipation), false},
    {"drake:hydroelastic_modulus", "Pa", offsetof(stn_geometry_spec, material.modulus), true},
    {"drake:mesh_resolution_hint", "m", offsetof(stn_geometry_spec, field.resolution), true},
    {"drake:hydroelastic_margin", "m", offsetof(stn_geometry_spec, field.margin), false},
    {"drake:slab_thickness", "m", offsetof(stn_geometry_spec, field.thickness), true},
};

static bool parse_value(robot_reader *reader, const xml_element *xml, const property *p, double *value) {
    double read = 0.0;
    bool text = xml_attribute(xml, "value") == NULL && xml_text(xml)[0] != '\0'; // as SDF has it
    if (!(text ? robot_text_reals(reader, xml, 1, &read) : robot_required(reader, xml, "value", 1, &read))) {
        return false;
    }
    if (read < 0.0 || (p->positive && read == 0.0)) {
        robot_error(reader, xml, "range", "<%s> = %g %s must be %s 0", xml_name(xml), read, p->unit,
                    p->positive ? ">" : ">=");
        return false;
    }
    *value = read;
    return true;
}

void robot_parse_proximity(robot_reader *reader, const xml_element *xml, robot_geometry *g) {
    for (int32_t i = 0; i < STN_COUNT(properties); i++) {
        const property *p = &properties[i];
        const xml_element *child = robot_child(reader, xml, p->name);
        double value = 0.0;
        if (child != NULL && parse_value(reader, child, p, &value)) {
            memcpy((char *)&g->spec + p->offset, &value, sizeof value);
        }
    }
    // A contact law at the level of velocities has one friction coefficient, and that is the sliding one.
    stn_material *material = &g->spec.material;
    static const property at_rest_property = {"drake:mu_static", "1", 0, false};
    const xml_element *at_rest = robot_child(reader, xml, at_rest_property.name);
    double mu = 0.0;
    if (at_rest != NULL && parse_value(reader, at_rest, &at_rest_property, &mu)) {
        if (isnan(material->mu)) {
            material->mu = mu;
        } else if (mu != material->mu && robot_first(reader, ROBOT_STATIC_FRICTION, "")) {
            robot_note(reader, at_rest, "skipped",
                       "mu_static = %g is not read beside mu_dynamic = %g, which counts for both", mu, material->mu);
        }
    }
    // Rigid or compliant; a rigid surface has an infinite modulus, and so has one that is given none.
    const xml_element *rigid = robot_child(reader, xml, "drake:rigid_hydroelastic");
    const xml_element *compliant = robot_child(reader, xml, "drake:compliant_hydroelastic");
    const xml_element *soft = robot_child(reader, xml, "drake:soft_hydroelastic"); // until 2022
    compliant = compliant != NULL ? compliant : soft;
    if (rigid != NULL && compliant != NULL) {
        robot_error(reader, compliant, "conflict", "<%s> beside <drake:rigid_hydroelastic>: keep one of them",
                    xml_name(compliant));
    } else if (rigid != NULL) {
        if (!isnan(material->modulus)) {
            robot_note(reader, rigid, "skipped", "a rigid surface has no modulus: hydroelastic_modulus is not read");
        }
        material->modulus = (double)INFINITY;
        g->declared_rigid = true;
    } else if (compliant != NULL && robot_child(reader, xml, "drake:hydroelastic_modulus") == NULL) {
        robot_warn(reader, compliant, "default", "<%s> without <drake:hydroelastic_modulus>: taken as rigid",
                   xml_name(compliant));
    }
}
