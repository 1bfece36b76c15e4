// SPDX-License-Identifier: Apache-2.0
// <inertial auto="true">: what the collisions of a link weigh, each by its volume and the density of <collision>, else
// of <inertial>, else of water; a <mass> beside it is what they weigh together. Of a mesh its convex hull weighs.
#include "sdf.h"

static const double WATER = 1000.0; // kg/m^3

/// The density in an element, > 0; `fallback` when there is none or it is bad.
static double parse_density(robot_reader *reader, const xml_element *xml, double fallback) {
    double density = fallback;
    if (xml != NULL && sdf_number(reader, xml, "density", &density) && !(density > 0.0)) {
        robot_error(reader, robot_child(reader, xml, "density"), "range", "<density> = %g kg/m^3 must be > 0", density);
        return fallback;
    }
    return density;
}

static void compute(robot_reader *reader, const sdf_auto *item) {
    robot_link *link = &reader->links[item->link];
    double common = parse_density(reader, item->inertial, WATER), wanted = 0.0;
    stn_mass sum = {0};
    reader->label = link->label;
    for (int32_t i = link->geometry_start; i < link->geometry_start + link->geometry_count; i++) {
        const robot_geometry *g = &reader->geometries[i];
        const stn_shape *shape = &g->spec.shape;
        stn_mass own;
        if (!g->spec.collision) {
            continue;
        }
        double density = parse_density(reader, g->xml, common), volume = stn_shape_volume(shape);
        if (!(volume > 0.0) || !isfinite(volume) || stn_shape_mass(shape, density * volume, &own, NULL) != STN_OK) {
            robot_error(reader, item->inertial, "inertia",
                        "auto=\"true\": a %s has no volume that weighs: write <mass> and <inertia>",
                        stn_shape_name(shape->type));
            return;
        }
        if (g->file != NULL) {
            robot_note(reader, item->inertial, "inertia", "auto=\"true\": of mesh '%.200s' the convex hull weighs",
                       g->file->uri);
        }
        own = stn_mass_transform(&g->spec.pose, &own);
        sum = stn_mass_add(&sum, &own);
    }
    if (!(sum.mass > 0.0)) {
        robot_error(reader, item->inertial, "inertia", "auto=\"true\": the link has no <collision> that weighs");
        return;
    }
    if (sdf_not_negative(reader, item->inertial, "mass", "kg", &wanted)) {
        double factor = wanted / sum.mass;
        sum.mass = wanted;
        for (int32_t i = 0; i < 9; i++) {
            sum.inertia.m[i / 3][i % 3] *= factor;
        }
    }
    link->mass = sum;
}

void sdf_compute_inertias(robot_reader *reader) {
    const sdf_reader *sdf = sdf_of(reader);
    for (int32_t i = 0; i < sdf->auto_count; i++) {
        compute(reader, &sdf->autos[i]);
    }
}

void sdf_compute_later(robot_reader *reader, const xml_element *inertial, int32_t link) {
    sdf_reader *sdf = sdf_of(reader);
    sdf->autos = robot_reserve(reader, sdf->autos, sdf->auto_count, &sdf->auto_capacity, sizeof *sdf->autos);
    if (sdf->auto_count < sdf->auto_capacity) {
        sdf->autos[sdf->auto_count++] = (sdf_auto){inertial, link};
    }
}
