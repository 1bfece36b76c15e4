// SPDX-License-Identifier: Apache-2.0
// <material>: colours, in the file's order, before or after their use. Textures are not read.
#include <string.h>

#include "urdf.h"

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
