// SPDX-License-Identifier: Apache-2.0
// What URDF has beyond other formats of robot files: colours by name, used before or after they are defined.
#ifndef URDF_URDF_H
#define URDF_URDF_H

#include "common/parts.h"

/// Settings of the plugin.
typedef struct urdf_config {
    bool bullet_limits; // lower > upper means unlimited
} urdf_config;

typedef struct urdf_material {
    float rgba[4];
    bool has_color;
    bool disputed; // two colours, said once
    bool used;     // by a visual, also by one that is left out
    const char *name;
    const xml_element *xml; // its first definition below <robot>, NULL: none
} urdf_material;

/// A visual that names a material whose colour is looked up at the end.
typedef struct urdf_use {
    int32_t geometry;
    const char *name;
    const xml_element *xml;
} urdf_use;

typedef struct urdf_reader {
    robot_reader robot; // first: functions get a robot_reader
    urdf_material *materials;
    urdf_use *uses;
    int32_t material_count, use_count;
    robot_names material_names;
} urdf_reader;

static inline urdf_reader *urdf_of(robot_reader *reader) {
    return (urdf_reader *)reader;
}

/// <origin xyz rpy> inside `xml`; identity when absent.
stn_pose urdf_origin(robot_reader *reader, const xml_element *xml);                                   // link.c
bool urdf_parse(robot_reader *reader, const xml_element *root);                                       // parse.c
void urdf_parse_link(robot_reader *reader, const xml_element *xml);                                   // link.c
void urdf_parse_joint(robot_reader *reader, const xml_element *xml);                                  // joint.c
void urdf_parse_transmission(robot_reader *reader, const xml_element *xml);                           // transmission.c
void urdf_parse_geometry(robot_reader *reader, const xml_element *xml, int32_t link, bool collision); // geometry.c
void urdf_parse_contact(robot_reader *reader, const xml_element *xml, int32_t link);                  // surface.c
void urdf_parse_gazebo(robot_reader *reader, const xml_element *xml);                                 // surface.c
void urdf_note_skipped(robot_reader *reader, const xml_element *root);                                // vocabulary.c
/// surface.c; geometry -1: a definition below <robot>.
void urdf_parse_material(robot_reader *reader, const xml_element *xml, int32_t geometry);
void urdf_forget_use(robot_reader *reader, int32_t geometry); // of the geometry read last, which is left out
void urdf_resolve_materials(robot_reader *reader);
/// save.c; as stn_loader_ops has it.
stn_status urdf_save(void *self, const stn_save_request *request, char **text, size_t *length,
                     stn_diagnostics *diagnostics, stn_error *err);

#endif
