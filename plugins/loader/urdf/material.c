// SPDX-License-Identifier: Apache-2.0
// <material>: colours, in the file's order, before or after their use. Textures are not read.
#include <string.h>

#include "urdf.h"

static bool parse_color(urdf_reader *reader, const xml_element *xml, float rgba[4]) {
    const xml_element *color = urdf_child(reader, xml, "color");
    double value[4];
    if (color == NULL || !urdf_required(reader, color, "rgba", 4, value)) {
        return false;
    }
    bool clamped = false;
    for (int32_t i = 0; i < 4; i++) {
        clamped |= value[i] < 0.0 || value[i] > 1.0;
        rgba[i] = (float)fmin(fmax(value[i], 0.0), 1.0);
    }
    if (clamped) {
        urdf_warn(reader, color, "range", "rgba = %g %g %g %g must lie in 0 to 1: clamped", value[0], value[1],
                  value[2], value[3]);
    }
    return true;
}

static bool is_same(const float a[4], const float b[4]) {
    return a[0] == b[0] && a[1] == b[1] && a[2] == b[2] && a[3] == b[3];
}

/// The entry of a name, new when there is none.
static urdf_material *material_of(urdf_reader *reader, const char *name) {
    int32_t index = urdf_names_find(&reader->material_names, 0, name);
    if (index < 0) {
        index = reader->material_count++;
        urdf_names_add(reader, &reader->material_names, 0, name, index);
        reader->materials[index].name = name;
    }
    return &reader->materials[index];
}

/// The first colour of a name counts for those who only name it.
static void define(urdf_reader *reader, const xml_element *xml, const char *name, const float rgba[4]) {
    urdf_material *material = material_of(reader, name);
    if (!material->has_color) {
        memcpy(material->rgba, rgba, sizeof material->rgba);
        material->has_color = true;
    } else if (!is_same(material->rgba, rgba) && !material->disputed) {
        material->disputed = true;
        urdf_warn(reader, xml, "duplicate_material", "material '%.80s' has another colour elsewhere: the first counts",
                  name);
    }
}

void urdf_parse_material(urdf_reader *reader, const xml_element *xml, urdf_geometry *use) {
    const char *name = xml_attribute(xml, "name");
    bool named = name != NULL && name[0] != '\0';
    if (use == NULL) {
        reader->label = named ? urdf_format(reader, "material %s", name) : "material";
    }
    float rgba[4];
    bool colored = parse_color(reader, xml, rgba);
    if (named && colored) {
        define(reader, xml, name, rgba);
    }
    if (named) {
        urdf_material *material = material_of(reader, name);
        material->used |= use != NULL;
        material->xml = use == NULL && material->xml == NULL ? xml : material->xml;
    }
    if (use != NULL && colored) {
        memcpy(use->spec.rgba, rgba, sizeof rgba);
    } else if (use != NULL && named) {
        use->material = name;
        use->xml = xml;
    }
}

/// One note for all of them: files made of parts bring the same list of colours everywhere.
static void note_unused(urdf_reader *reader) {
    char names[400] = "";
    const xml_element *first = NULL;
    int32_t count = 0;
    for (int32_t i = 0; i < reader->material_count; i++) {
        const urdf_material *material = &reader->materials[i];
        if (material->xml != NULL && !material->used) {
            first = first == NULL ? material->xml : first;
            urdf_list_name(names, sizeof names, count++, material->name);
        }
    }
    if (first != NULL) {
        reader->label = "robot";
        urdf_note(reader, first, "material_unused", "no visual uses material %s", names);
    }
}

void urdf_resolve_materials(urdf_reader *reader) {
    for (int32_t i = 0; i < reader->geometry_count; i++) {
        urdf_geometry *g = &reader->geometries[i];
        if (g->material == NULL) {
            continue;
        }
        int32_t index = urdf_names_find(&reader->material_names, 0, g->material);
        if (index >= 0 && reader->materials[index].has_color) {
            memcpy(g->spec.rgba, reader->materials[index].rgba, sizeof g->spec.rgba);
            continue;
        }
        reader->label = reader->links[g->link].label;
        urdf_note(reader, g->xml, "material", "material '%.80s' has no colour in this file: drawn grey", g->material);
    }
    note_unused(reader);
}
