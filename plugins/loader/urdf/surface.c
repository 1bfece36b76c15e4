// SPDX-License-Identifier: Apache-2.0
// Contact parameters that were written for other programs, where no Drake value stands beside them:
//   Bullet  <contact> of a link:        mu = lateral_friction,  k = stiffness,  tau = damping / stiffness,  restitution
//   Gazebo  <gazebo reference="link">:  mu1, mu2, fdir1,        k = kp,         tau = kd / kp
// Both put springs in series and so do we. They combine friction otherwise (Bullet multiplies, Gazebo takes the
// smaller; here it is the harmonic mean, so that two equal surfaces keep their coefficient), and they add the damping
// coefficients [N s/m] of two surfaces, where we add the times. A value that makes no sense is a warning, not an error:
// the file is good for the program that it was written for.
#include <string.h>

#include "urdf.h"

/// Gives a link's collisions what they do not have yet.
static void fill_link(robot_reader *reader, int32_t link, const stn_material *given, const robot_friction *friction) {
    const robot_link *l = &reader->links[link];
    for (int32_t i = l->geometry_start; i < l->geometry_start + l->geometry_count; i++) {
        robot_geometry *g = &reader->geometries[i];
        if (g->spec.collision) {
            robot_fill_material(&g->spec.material, given);
            robot_fill_friction(g, friction);
        }
    }
}

void urdf_parse_contact(robot_reader *reader, const xml_element *xml, int32_t link) {
    stn_material given = stn_material_unset();
    const robot_friction friction = {.mu = robot_surface_number(reader, xml, "lateral_friction", 0.0),
                                     .mu2 = (double)NAN};
    robot_surface_spring(reader, xml, "stiffness", "damping", &given);
    given.restitution = robot_surface_restitution(reader, xml, "restitution");
    fill_link(reader, link, &given, &friction);
}

void urdf_parse_gazebo(robot_reader *reader, const xml_element *xml) {
    const char *name = xml_attribute(xml, "reference");
    int32_t link = name != NULL ? robot_names_find(&reader->link_names, 0, name) : -1;
    reader->label = name != NULL ? robot_text(reader, "gazebo %s", name) : "gazebo";
    if (link < 0) {
        return; // settings of the whole model or of a joint
    }
    stn_material given = stn_material_unset();
    const robot_friction friction = robot_surface_friction(reader, xml, "mu1", "mu2");
    robot_surface_spring(reader, xml, "kp", "kd", &given);
    fill_link(reader, link, &given, &friction);
}

// ------------------------------------------------------------------------------------------------------------ colours
// <material>: colours, in the file's order, before or after their use. Textures are not read.

void urdf_parse_material(robot_reader *reader, const xml_element *xml, int32_t geometry) {
    urdf_reader *urdf = urdf_of(reader);
    const char *name = xml_attribute(xml, "name");
    bool named = name != NULL && name[0] != '\0', global = geometry < 0;
    if (global) {
        reader->label = named ? robot_text(reader, "material %s", name) : "material";
    }
    const xml_element *color = robot_child(reader, xml, "color");
    double value[4];
    float rgba[4];
    bool colored = color != NULL && robot_required(reader, color, "rgba", 4, value);
    if (colored) {
        robot_set_colour(reader, color, "rgba", value, rgba);
    }
    if (named) {
        int32_t index = robot_names_find(&urdf->material_names, 0, name);
        if (index < 0) {
            index = urdf->material_count++;
            robot_names_add(reader, &urdf->material_names, 0, name, index);
            urdf->materials[index].name = name;
        }
        urdf_material *material = &urdf->materials[index];
        const float *known = material->rgba;
        if (colored && !material->has_color) { // the first colour of a name counts for those who only name it
            memcpy(material->rgba, rgba, sizeof material->rgba);
            material->has_color = true;
        } else if (colored && !material->disputed &&
                   !(known[0] == rgba[0] && known[1] == rgba[1] && known[2] == rgba[2] && known[3] == rgba[3])) {
            material->disputed = true;
            robot_warn(reader, xml, "duplicate_material",
                       "material '%.80s' has another colour elsewhere: the first counts", name);
        }
        material->used |= !global;
        material->xml = global && material->xml == NULL ? xml : material->xml;
    }
    if (!global && colored) {
        memcpy(reader->geometries[geometry].spec.rgba, rgba, sizeof rgba);
    } else if (!global && named) {
        urdf->uses[urdf->use_count++] = (urdf_use){geometry, name, xml};
    }
}

void urdf_forget_use(robot_reader *reader, int32_t geometry) {
    urdf_reader *urdf = urdf_of(reader);
    urdf->use_count -= urdf->use_count > 0 && urdf->uses[urdf->use_count - 1].geometry == geometry;
}

void urdf_resolve_materials(robot_reader *reader) {
    const urdf_reader *urdf = urdf_of(reader);
    for (int32_t i = 0; i < urdf->use_count; i++) {
        const urdf_use *use = &urdf->uses[i];
        robot_geometry *g = &reader->geometries[use->geometry];
        int32_t index = robot_names_find(&urdf->material_names, 0, use->name);
        if (index >= 0 && urdf->materials[index].has_color) {
            memcpy(g->spec.rgba, urdf->materials[index].rgba, sizeof g->spec.rgba);
            continue;
        }
        reader->label = reader->links[g->link].label;
        robot_note(reader, use->xml, "material", "material '%.80s' has no colour in this file: drawn grey", use->name);
    }
    // One note for all that nobody uses: files made of parts bring the same list of colours everywhere.
    char names[400] = "";
    const xml_element *first = NULL;
    int32_t count = 0;
    for (int32_t i = 0; i < urdf->material_count; i++) {
        const urdf_material *material = &urdf->materials[i];
        if (material->xml != NULL && !material->used) {
            first = first == NULL ? material->xml : first;
            robot_list_name(names, sizeof names, count++, material->name);
        }
    }
    if (first != NULL) {
        reader->label = "robot";
        robot_note(reader, first, "material_unused", "no visual uses material %s", names);
    }
}
