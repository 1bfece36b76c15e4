// SPDX-License-Identifier: Apache-2.0
// <drake:proximity_properties> of a collision: the surface's contact parameters, and how the pressure field of a
// compliant one is made. Drake has a property slab_thickness, but no element for it; here it has one.
#include <string.h>

#include "robot.h"

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
