// SPDX-License-Identifier: Apache-2.0
// <drake:proximity_properties> of a collision: the surface's contact parameters.
#include <string.h>

#include "urdf.h"

typedef struct property {
    const char *name;
    const char *unit;
    size_t offset; // of the member of stn_material
    bool positive; // 0 is not allowed
} property;

// mu_dynamic comes last: a velocity-level contact law has one friction coefficient, and that is the sliding one.
static const property properties[] = {
    {"drake:mu_static", "1", offsetof(stn_material, mu), false},
    {"drake:mu_dynamic", "1", offsetof(stn_material, mu), false},
    {"drake:point_contact_stiffness", "N/m", offsetof(stn_material, stiffness), true},
    {"drake:relaxation_time", "s", offsetof(stn_material, relaxation_time), false},
    {"drake:hunt_crossley_dissipation", "s/m", offsetof(stn_material, dissipation), false},
    {"drake:hydroelastic_modulus", "Pa", offsetof(stn_material, modulus), true},
};

static void parse_property(urdf_reader *reader, const xml_element *xml, const property *p, stn_material *material) {
    double value = 0.0;
    if (!urdf_required(reader, xml, "value", 1, &value)) {
        return;
    }
    if (value < 0.0 || (p->positive && value == 0.0)) {
        urdf_error(reader, xml, "range", "<%s> = %g %s must be %s 0", p->name, value, p->unit,
                   p->positive ? ">" : ">=");
        return;
    }
    memcpy((char *)material + p->offset, &value, sizeof value);
}

void urdf_parse_proximity(urdf_reader *reader, const xml_element *xml, stn_material *material) {
    static const char *const known[] = {"drake:mu_static",
                                        "drake:mu_dynamic",
                                        "drake:point_contact_stiffness",
                                        "drake:relaxation_time",
                                        "drake:hunt_crossley_dissipation",
                                        "drake:hydroelastic_modulus",
                                        "drake:rigid_hydroelastic",
                                        "drake:compliant_hydroelastic",
                                        "drake:soft_hydroelastic",
                                        "drake:mesh_resolution_hint",
                                        "drake:hydroelastic_margin",
                                        NULL};
    urdf_skip_others(reader, xml, known);
    for (int32_t i = 0; i < STN_COUNT(properties); i++) {
        const xml_element *child = urdf_child(reader, xml, properties[i].name);
        if (child != NULL) {
            parse_property(reader, child, &properties[i], material);
        }
    }
}
