// SPDX-License-Identifier: Apache-2.0
// Saving what Drake added to URDF and SDFormat alike: contact properties and collision filter groups, with values as
// attributes (URDF) or as text (SDFormat).
#include "parts.h"

static void put_name(xml_writer *w, const char *element, const char *attribute, const char *name, bool as_text) {
    if (as_text) {
        xml_text_element(w, element, name);
        return;
    }
    xml_begin(w, element);
    xml_put_text(w, attribute, name);
    xml_end(w);
}

bool robot_save_is_convex(const stn_geometry *g) {
    bool solid = g->shape.mesh != NULL && g->shape.mesh->facts.tetrahedron_count > 0;
    return g->collision && g->shape.type == STN_SHAPE_CONVEX &&
           (isinf(g->material.modulus) || (solid && g->field.volume_mesh < 0));
}

void robot_save_proximity(xml_writer *w, const stn_material *m, const stn_field_spec *field, bool as_text) {
    bool compliant = isfinite(m->modulus), rigid = isinf(m->modulus);
    const struct {
        const char *name;
        double value;
    } values[] = {{"drake:mu_dynamic", m->mu},
                  {"drake:point_contact_stiffness", m->stiffness},
                  {"drake:relaxation_time", m->relaxation_time},
                  {"drake:hunt_crossley_dissipation", m->dissipation},
                  {"drake:hydroelastic_modulus", m->modulus},
                  {"drake:mesh_resolution_hint", field->resolution},
                  {"drake:hydroelastic_margin", field->margin},
                  {"drake:slab_thickness", field->thickness}};
    bool any = rigid;
    for (int32_t i = 0; i < STN_COUNT(values); i++) {
        any |= isfinite(values[i].value);
    }
    if (!any) {
        return;
    }
    xml_begin(w, "drake:proximity_properties");
    for (int32_t i = 0; i < STN_COUNT(values); i++) {
        if (isfinite(values[i].value)) { // an infinite stiffness is what is meant without one
            xml_begin(w, values[i].name);
            if (as_text) {
                xml_inside_reals(w, &values[i].value, 1);
            } else {
                xml_put_real(w, "value", values[i].value);
            }
            xml_end(w);
        }
    }
    if (rigid || compliant) {
        xml_begin(w, rigid ? "drake:rigid_hydroelastic" : "drake:compliant_hydroelastic");
        xml_end(w);
    }
    xml_end(w);
}

void robot_lose_static_friction(robot_parts *parts, const char *link, const stn_material *m) {
    if (m->mu_static > (isnan(m->mu) ? stn_material_default().mu : m->mu)) {
        robot_lose(parts, "static-friction", robot_part_text(parts, "link %s", link),
                   "mu_static = %g: robot files hold the friction of sliding alone, which is written", m->mu_static);
    }
}

void robot_save_filters(robot_parts *p, xml_writer *w, bool as_text) {
    bool *grouped = robot_part_allocate(p, (size_t)p->count, sizeof *grouped); // parts with pairs that can be said
    for (int32_t i = 0; i < p->pair_count && grouped != NULL; i++) {
        const robot_pair *pair = &p->pairs[i];
        bool world = pair->a < 0 || (as_text && p->root_is_world && (pair->a == p->root || pair->b == p->root));
        if (world) {
            robot_lose(p, "exclude", robot_part_text(p, "link %s", p->parts[pair->b].name),
                       "that it never collides with the world cannot be said: left out");
        } else {
            grouped[pair->a] = grouped[pair->b] = true;
        }
    }
    for (int32_t i = 0, at = 0; i < p->count && grouped != NULL; i++) {
        if (!grouped[i]) {
            continue;
        }
        xml_begin(w, "drake:collision_filter_group");
        xml_put_text(w, "name", p->parts[i].name);
        put_name(w, "drake:member", "link", p->parts[i].name, as_text);
        while (at < p->pair_count && p->pairs[at].a < i) {
            at++;
        }
        for (; at < p->pair_count && p->pairs[at].a == i; at++) {
            if (grouped[p->pairs[at].b]) {
                put_name(w, "drake:ignored_collision_filter_group", "name", p->parts[p->pairs[at].b].name, as_text);
            }
        }
        xml_end(w);
    }
}
