// SPDX-License-Identifier: Apache-2.0
// <surface> of a collision, where no Drake value stands: mu and mu2 of friction/ode, k = kp and tau = kd / kp of
// contact/ode, the coefficient of restitution, and the bits that say who collides with whom. Colours of a visual.
#include "sdf.h"

static const uint32_t all_bits = 0xffff;

/// 16 bits; absent or bad: `fallback`.
static uint32_t parse_bits(robot_reader *reader, const xml_element *contact, const char *name, uint32_t fallback) {
    double value = 0.0;
    if (!sdf_number(reader, contact, name, &value)) {
        return fallback;
    }
    if (!(value >= 0.0 && value <= (double)all_bits) || value != floor(value)) {
        robot_error(reader, robot_child(reader, contact, name), "range",
                    "<%s> = %g must be a whole number of 0 to 65535", name, value);
        return fallback;
    }
    return (uint32_t)value;
}

void sdf_parse_surface(robot_reader *reader, const xml_element *collision, robot_geometry *g) {
    const xml_element *surface = robot_child(reader, collision, "surface");
    if (surface == NULL) {
        return;
    }
    const xml_element *friction = robot_child(reader, surface, "friction");
    friction = friction != NULL ? robot_child(reader, friction, "ode") : NULL;
    const xml_element *contact = robot_child(reader, surface, "contact");
    const xml_element *spring = contact != NULL ? robot_child(reader, contact, "ode") : NULL;
    const xml_element *bounce = robot_child(reader, surface, "bounce");
    stn_material given = stn_material_unset();
    if (friction != NULL) {
        robot_friction found = robot_surface_friction(reader, friction, "mu", "mu2");
        robot_fill_friction(g, &found);
    }
    if (spring != NULL) {
        robot_surface_spring(reader, spring, "kp", "kd", &given);
    }
    if (bounce != NULL) { // in Gazebo only what is faster than a threshold, and the default threshold is never reached
        given.restitution = robot_surface_restitution(reader, bounce, "restitution_coefficient");
        const xml_element *threshold = robot_child(reader, bounce, "threshold");
        double speed = 0.0;
        if (given.restitution > 0.0 && threshold != NULL && sdf_number(reader, bounce, "threshold", &speed) &&
            speed > 0.0) {
            robot_warn(reader, threshold, "skipped", "<threshold> = %g m/s is not read: it bounces at any speed",
                       speed);
        }
    }
    robot_fill_material(&g->spec.material, &given);
    if (contact == NULL) {
        return;
    }
    // Two collisions meet when the category of either has a bit of the other's mask. Here it takes both, which is the
    // same for the usual file, where each one's category is its mask.
    uint32_t mask = parse_bits(reader, contact, "collide_bitmask", all_bits);
    uint32_t category = parse_bits(reader, contact, "category_bitmask", mask);
    if (category != mask) {
        robot_warn(
            reader, contact, "bitmask",
            "category_bitmask and collide_bitmask differ: two shapes collide here when each one's category meets "
            "the other's mask, in Gazebo one of the two is enough");
    }
    if (mask != all_bits || category != all_bits) {
        sdf_of(reader)->has_bitmask = true;
        g->spec.mask = mask;
        g->spec.category = category;
    }
}

/// Shapes without bits of their own meet all that have any.
void sdf_complete_filters(robot_reader *reader) {
    for (int32_t i = 0; sdf_of(reader)->has_bitmask && i < reader->geometry_count; i++) {
        stn_geometry_spec *spec = &reader->geometries[i].spec;
        spec->category = spec->mask > all_bits ? all_bits : spec->category;
    }
}

void sdf_parse_material(robot_reader *reader, const xml_element *visual, robot_geometry *g) {
    static const char *const names[] = {"diffuse", "ambient"};
    const xml_element *material = robot_child(reader, visual, "material"), *colour = NULL;
    double value[4] = {0.0, 0.0, 0.0, 1.0}, transparency = 0.0;
    for (int32_t i = 0; i < STN_COUNT(names) && material != NULL && colour == NULL; i++) {
        colour = robot_child(reader, material, names[i]);
    }
    if (colour != NULL) {
        const char *what = robot_text(reader, "<%s>", xml_name(colour));
        if (robot_parse_reals(reader, colour, what, xml_text(colour), 3, 4, value) > 0) {
            robot_set_colour(reader, colour, what, value, g->spec.rgba);
        }
    }
    if (sdf_number(reader, visual, "transparency", &transparency)) {
        g->spec.rgba[3] *= (float)(1.0 - fmin(fmax(transparency, 0.0), 1.0));
    }
}
