// SPDX-License-Identifier: Apache-2.0
// What one robot file says, between the XML tree and the model builder. Everything here lives in one arena that ends
// with the load.
#ifndef URDF_URDF_H
#define URDF_URDF_H

#include <stiction/loader.h>

#include "xml.h"

/// Settings of the plugin.
typedef struct urdf_config {
    bool bullet_limits; // lower > upper means unlimited
} urdf_config;

/// Names -> positions, by hash. A scope keeps apart names that need not differ (shapes of two links).
typedef struct urdf_names {
    struct urdf_name {
        const char *name; // NULL: free
        int32_t scope, value;
    } * slots;
    uint32_t mask;
    int32_t count;
} urdf_names;

/// What is said once for each subject.
typedef enum urdf_topic {
    URDF_SKIPPED_ELEMENT,
    URDF_SKIPPED_ATTRIBUTE,
    URDF_STATIC_FRICTION,
    URDF_BAD_COLLISION_MESH,
    URDF_BAD_VISUAL_MESH,
    URDF_COLLISION_FACTS,
    URDF_VISUAL_FACTS,
    URDF_TOO_MANY_COLLISIONS,
    URDF_TOO_MANY_VISUALS,
} urdf_topic;

typedef struct urdf_link {
    const char *name;
    const char *label;      // "link b", for messages
    const xml_element *xml; // NULL: the world that no <link> declares
    int32_t line;
    stn_mass mass;
    int32_t joint;                          // that carries it, -1: none
    int32_t geometry_start, geometry_count; // its shapes
    int32_t out_index;                      // in the builder
} urdf_link;

typedef struct urdf_joint {
    const char *label; // "joint j"
    const xml_element *xml;
    int32_t line;
    stn_joint_spec spec;                // parent, child and mimic count within the file
    const char *parent, *child, *mimic; // names, NULL when absent
    const char *transmission;           // label of the one that drives it, NULL: none
    bool untyped;                       // no such type, said
    int32_t out_index;                  // in the builder
} urdf_joint;

/// A folder that files must not leave.
typedef struct urdf_root {
    const char *path;
    const char *real;    // the same without symbolic links
    const char *package; // name in its package.xml, "" when that has none; NULL: no package
} urdf_root;

/// A mesh file as the robot file names it.
typedef struct urdf_file {
    const char *uri;
    const char *path;       // NULL: refused
    const char *real;       // the same without symbolic links
    const urdf_root *root;  // that it lies below
    const char *code, *why; // of the refusal
    const char *subject;    // for which that is said once
} urdf_file;

/// A mesh in one scale and form.
typedef struct urdf_mesh {
    stn_vec3 scale;
    const stn_mesh *data; // NULL: a reference, or one that cannot be read
    const char *why;      // it cannot be read, NULL: it can
} urdf_mesh;

typedef struct urdf_geometry {
    int32_t link, line;
    stn_geometry_spec spec;
    const urdf_file *file;   // of its mesh, NULL: none
    const xml_element *mesh; // that names it
    stn_vec3 scale;
    const stn_mesh *data;                 // kept by the reader's meshes; NULL: a reference only
    bool declared_convex, declared_rigid; // hydroelastic properties
    const char *material;                 // name whose colour is looked up at the end, NULL: none
    const xml_element *xml;               // that names it
} urdf_geometry;

typedef struct urdf_material {
    float rgba[4];
    bool has_color;
    bool disputed; // two colours, said once
    bool used;     // by a visual, also by one that is left out
    const char *name;
    const xml_element *xml; // its first definition below <robot>, NULL: none
} urdf_material;

typedef struct urdf_exclusion {
    int32_t a, b;
} urdf_exclusion;

enum { URDF_PATH = 4096, URDF_PACKAGE_NAME = 256 };

/// A package that was looked for.
typedef struct urdf_package {
    const char *name;
    const urdf_root *root; // NULL: not found
    struct urdf_package *next;
} urdf_package;

/// Folders of one place where packages are looked for, the nearest first.
typedef struct urdf_folder {
    const char *path;
    const char *package; // name in its package.xml, NULL without one
    int32_t depth;
} urdf_folder;

typedef struct urdf_place {
    urdf_folder *folders;
    int32_t count, capacity;
    bool scanned;
} urdf_place;

typedef enum urdf_place_id {
    URDF_PLACE_GIVEN,
    URDF_PLACE_INSIDE, // the package that holds the file
    URDF_PLACE_BESIDE,
    URDF_PLACE_ENVIRONMENT,
    URDF_PLACE_COUNT
} urdf_place_id;

typedef struct urdf_reader {
    stn_arena *arena;
    stn_diagnostics *diagnostics;
    const stn_load_request *request;
    const urdf_config *config;
    const char *label;     // what is being read, for messages
    int32_t errors_before; // the load
    bool out_of_memory;
    bool xacro_said;

    const char *name;
    urdf_link *links;
    urdf_joint *joints;
    urdf_geometry *geometries;
    urdf_material *materials;
    urdf_exclusion *exclusions;
    int32_t link_count, joint_count, geometry_count, material_count;
    int32_t exclusion_count, exclusion_capacity;
    urdf_names link_names, joint_names, shape_names, material_names;
    int32_t root; // link

    urdf_names said;
    const char *folder; // of the file, absolute
    urdf_root home;     // that relative names must not leave: the package that holds the file, else its folder's parent
    urdf_package *packages;
    urdf_place places[URDF_PLACE_COUNT];
    urdf_file *files;
    int32_t file_count, file_capacity;
    urdf_names file_names;
    urdf_mesh *meshes;
    int32_t mesh_count, mesh_capacity;
    int64_t triangle_count;            // of the meshes as given
    urdf_names mesh_names, form_names; // file, scale and form -> mesh; file -> how many
} urdf_reader;

// ------------------------------------------------------------------------------------------------ values.c

void urdf_say(urdf_reader *reader, stn_severity severity, const char *code, int32_t line, const char *format, ...)
    STN_PRINTF(5, 6);
#define urdf_error(reader, xml, code, ...) urdf_say(reader, STN_SEVERITY_ERROR, code, xml_line(xml), __VA_ARGS__)
#define urdf_warn(reader, xml, code, ...)  urdf_say(reader, STN_SEVERITY_WARNING, code, xml_line(xml), __VA_ARGS__)
#define urdf_note(reader, xml, code, ...)  urdf_say(reader, STN_SEVERITY_NOTE, code, xml_line(xml), __VA_ARGS__)

/// Memory of the load, zeroed; NULL sets out_of_memory.
void *urdf_allocate(urdf_reader *reader, size_t count, size_t size);
#define URDF_NEW(reader, count, type) ((type *)urdf_allocate((reader), (size_t)(count), sizeof(type)))
const char *urdf_format(urdf_reader *reader, const char *format, ...) STN_PRINTF(2, 3); // "" without memory
/// Copy of an array with room for more; `capacity` stays when there is no memory.
void *urdf_grow(urdf_reader *reader, void *items, int32_t count, int32_t *capacity, size_t size);

/// Exactly `count` numbers of an attribute. Absent: false, `values` stays. Bad: the same and an error.
bool urdf_reals(urdf_reader *reader, const xml_element *xml, const char *attribute, int32_t count, double *values);
bool urdf_real(urdf_reader *reader, const xml_element *xml, const char *attribute, double *value);
/// The same for an attribute that must be there.
bool urdf_required(urdf_reader *reader, const xml_element *xml, const char *attribute, int32_t count, double *values);
/// Number in the attribute `value` or in the text of an element, as programs for other simulators write it. Absent:
/// false. Bad: the same, and a finding.
bool urdf_setting(urdf_reader *reader, const xml_element *xml, stn_severity severity, double *value);
/// Number that must be >= 0; `unit` for the message.
bool urdf_not_negative(urdf_reader *reader, const xml_element *xml, const char *attribute, const char *unit,
                       double *value);
/// A name: present, not empty, UTF-8. NULL and an error otherwise.
const char *urdf_name_of(urdf_reader *reader, const xml_element *xml, const char *attribute);
/// stn_suggest, except after so many errors that none is kept any more.
const char *urdf_suggest(urdf_reader *reader, const char *word, const char *const *candidates, int32_t count);
/// The first child of that name; further ones are ignored with a warning. NULL: none.
const xml_element *urdf_child(urdf_reader *reader, const xml_element *xml, const char *name);
/// <origin xyz rpy> inside `xml`; identity when absent.
stn_pose urdf_origin(urdf_reader *reader, const xml_element *xml);
/// Text of the xacro language? That is an error which names the tool, once a file.
bool urdf_is_xacro(urdf_reader *reader, const xml_element *xml, const char *text);

// ------------------------------------------------------------------------------------------------- names.c

bool urdf_names_init(urdf_reader *reader, urdf_names *names, int32_t capacity);
int32_t urdf_names_find(const urdf_names *names, int32_t scope, const char *name); // -1: none
/// Adds a name, which must live as long as the load, or gives it another value.
void urdf_names_add(urdf_reader *reader, urdf_names *names, int32_t scope, const char *name, int32_t value);
/// Is this the first time that the topic comes to this subject (a text that lives as long as the load)?
bool urdf_first(urdf_reader *reader, urdf_topic topic, const char *subject);

// ------------------------------------------------------------------------------------- one element per file

/// source.c: the file's text, zero at its end. NULL: `status` and an error or a finding say why.
char *urdf_read_source(urdf_reader *reader, size_t *length, stn_status *status, stn_error *err);
/// Few enough elements and attributes for the XML library to be quick? `line`, where it becomes too many, may be NULL.
bool urdf_has_few_marks(const char *text, size_t length, int32_t *line);
/// parse.c: fills the reader from <robot>. Findings go to the diagnostics; false: out of memory.
bool urdf_parse(urdf_reader *reader, const xml_element *root);
void urdf_parse_link(urdf_reader *reader, const xml_element *xml); // link.c
void urdf_check_mass(urdf_reader *reader, const xml_element *inertial, double mass,
                     const stn_mat3 *inertia);                                                       // inertia.c
void urdf_warn_massless(urdf_reader *reader, const int32_t *order);                                  // inertia.c
void urdf_parse_joint(urdf_reader *reader, const xml_element *xml);                                  // joint.c
void urdf_parse_transmission(urdf_reader *reader, const xml_element *xml);                           // transmission.c
void urdf_parse_geometry(urdf_reader *reader, const xml_element *xml, int32_t link, bool collision); // geometry.c
void urdf_parse_proximity(urdf_reader *reader, const xml_element *xml, urdf_geometry *g);            // proximity.c
void urdf_parse_contact(urdf_reader *reader, const xml_element *xml, int32_t link);                  // surface.c
void urdf_parse_gazebo(urdf_reader *reader, const xml_element *xml);                                 // surface.c
void urdf_note_skipped(urdf_reader *reader, const xml_element *root);                                // vocabulary.c
void urdf_parse_material(urdf_reader *reader, const xml_element *xml,
                         urdf_geometry *use);     // material.c; use NULL: global
void urdf_resolve_materials(urdf_reader *reader); // material.c
/// Appends `name` to a list for a message, of which `position` names are there; "..." after the fifth. tree.c
void urdf_list_name(char *text, size_t size, int32_t position, const char *name);
bool urdf_connect(urdf_reader *reader);                                // tree.c; false: out of memory
void urdf_resolve_mimic(urdf_reader *reader);                          // mimic.c
bool urdf_parse_filters(urdf_reader *reader, const xml_element *root); // filter.c
/// uri.c: a mesh file that exists and may be read; NULL after saying, once for each name, why not (an error for
/// collision, else a warning).
const urdf_file *urdf_find_mesh(urdf_reader *reader, const xml_element *xml, const char *uri, bool collision);
void urdf_say_mesh(urdf_reader *reader, const xml_element *xml, const char *uri, bool collision, const char *code,
                   const char *why);
/// mesh.c: reads the mesh that a geometry names, if it is wanted. false: it cannot be read, said.
bool urdf_load_mesh(urdf_reader *reader, urdf_geometry *g);
/// By its name: a glTF file, in which y is up.
bool urdf_is_gltf(const char *path);
void urdf_release_meshes(urdf_reader *reader);
// package.c
bool urdf_locate_file(urdf_reader *reader);                                // folder and home of the file
const urdf_root *urdf_find_package(urdf_reader *reader, const char *name); // NULL: not found
bool urdf_make_root(urdf_reader *reader, const char *path, urdf_root *root);
bool urdf_is_inside_package(const char *path, const char *package); // is that the nearest package above the path?
/// build.c
stn_status urdf_build(urdf_reader *reader, stn_model_builder *builder, int32_t *robot, stn_error *err);

#endif
