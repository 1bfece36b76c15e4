// SPDX-License-Identifier: Apache-2.0
// <material>: colours, in the file's order, before or after their use. Textures are not read.
#include <string.h>

#include "urdf.h"

static bool parse_color(robot_reader *reader, const xml_element *xml, float rgba[4]) {
    const xml_element *color = robot_child(reader, xml, "color");
    double value[4];
    if (color == NULL || !robot_required(reader, color, "rgba", 4, value)) {
        return false;
    }
    robot_set_colour(reader, color, "rgba", value, rgba);
    return true;
}

static bool is_same(const float a[4], const float b[4]) {
    return a[0] == b[0] && a[1] == b[1] && a[2] == b[2] && a[3] == b[3];
}

/// The entry of a name, new when there is none.
static urdf_material *material_of(robot_reader *reader, const char *name) {
    urdf_reader *urdf = urdf_of(reader);
    int32_t index = robot_names_find(&urdf->material_names, 0, name);
    if (index < 0) {
        index = urdf->material_count++;
        robot_names_add(reader, &urdf->material_names, 0, name, index);
        urdf->materials[index].name = name;
    }
    return &urdf->materials[index];
}

/// The first colour of a name counts for those who only name it.
static void define(robot_reader *reader, const xml_element *xml, const char *name, const float rgba[4]) {
    urdf_material *material = material_of(reader, name);
    if (!material->has_color) {
        memcpy(material->rgba, rgba, sizeof material->rgba);
        material->has_color = true;
    } else if (!is_same(material->rgba, rgba) && !material->disputed) {
        material->disputed = true;
        robot_warn(reader, xml, "duplicate_material", "material '%.80s' has another colour elsewhere: the first counts",
                   name);
    }
}

void urdf_parse_material(robot_reader *reader, const xml_element *xml, int32_t geometry) {
    urdf_reader *urdf = urdf_of(reader);
    const char *name = xml_attribute(xml, "name");
    bool named = name != NULL && name[0] != '\0', global = geometry < 0;
    if (global) {
        reader->label = named ? robot_text(reader, "material %s", name) : "material";
    }
    float rgba[4];
    bool colored = parse_color(reader, xml, rgba);
    if (named && colored) {
        define(reader, xml, name, rgba);
    }
    if (named) {
        urdf_material *material = material_of(reader, name);
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

/// One note for all of them: files made of parts bring the same list of colours everywhere.
static void note_unused(robot_reader *reader) {
    const urdf_reader *urdf = urdf_of(reader);
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
    note_unused(reader);
}
