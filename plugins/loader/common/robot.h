// SPDX-License-Identifier: Apache-2.0
// What one robot file says, between the XML tree and the model builder, and what every loader of robot files in XML
// does with it: files and their limits, messages, numbers, names, packages and meshes, the tree of links, the hand-over
// to the builder. A format adds how its elements become links, joints and shapes. Everything here lives in one arena
// that ends with the load.
#ifndef LOADER_COMMON_ROBOT_H
#define LOADER_COMMON_ROBOT_H

#include <stiction/loader.h>
#include <stiction/soft.h>

#include "xml.h"

typedef struct robot_reader robot_reader;

/// How the elements of one format become links, joints and shapes.
typedef struct robot_format {
    const char *name;   // "URDF", for messages
    size_t reader_size; // of the format's own reader, which begins with a robot_reader; all zero at first
    /// Fills the reader from the root element; findings go to the diagnostics. false: out of memory.
    bool (*parse)(robot_reader *reader, const xml_element *root);
} robot_format;

/// Where something stands; line 0: unknown.
typedef struct robot_place {
    const char *file;
    int32_t line;
} robot_place;

/// Names -> positions, by hash. A scope keeps apart names that need not differ (shapes of two links).
typedef struct robot_names {
    struct robot_name {
        const char *name; // NULL: free
        int32_t scope, value;
    } * slots;
    uint32_t mask;
    int32_t count;
} robot_names;

/// What is said once for each subject.
typedef enum robot_topic {
    ROBOT_SKIPPED_ELEMENT,
    ROBOT_SKIPPED_ATTRIBUTE,
    ROBOT_STATIC_FRICTION,
    ROBOT_BAD_COLLISION_MESH,
    ROBOT_BAD_VISUAL_MESH,
    ROBOT_COLLISION_FACTS,
    ROBOT_VISUAL_FACTS,
    ROBOT_TOO_MANY_COLLISIONS,
    ROBOT_TOO_MANY_VISUALS,
    ROBOT_FORMAT_TOPIC, // the first one of a format's own
} robot_topic;

typedef struct robot_link {
    const char *name;
    const char *label;      // "link b", for messages
    const xml_element *xml; // NULL: made by the reader, such as the world that no <link> declares
    robot_place place;
    stn_mass mass;
    int32_t joint;                          // that carries it, -1: none
    int32_t geometry_start, geometry_count; // its shapes
    int32_t out_index;                      // in the builder
} robot_link;

typedef struct robot_joint {
    const char *label; // "joint j"
    const xml_element *xml;
    robot_place place;
    stn_joint_spec spec;                // parent, child and mimic count within the file
    const char *parent, *child, *mimic; // names, NULL when absent
    const char *transmission;           // label of the one that drives it, NULL: none
    bool untyped;                       // no such type, said
    int32_t out_index;                  // in the builder
} robot_joint;

/// A folder that files must not leave.
typedef struct robot_root {
    const char *path;
    const char *real;    // the same without symbolic links
    const char *package; // name in its package.xml, "" when that has none; NULL: no package
} robot_root;

/// What relative names of files start from.
typedef struct robot_base {
    int32_t id;         // tells bases apart, from 0
    const char *folder; // of the file, absolute
    robot_root home;    // that relative names must not leave: the package that holds the file, else its folder's parent
} robot_base;

/// A file, such as a mesh, as the robot file names it.
typedef struct robot_file {
    const char *uri;
    const char *path;       // NULL: refused
    const char *real;       // the same without symbolic links
    const robot_root *root; // that it lies below
    const char *code, *why; // of the refusal
    const char *subject;    // for which that is said once
} robot_file;

/// A mesh in one scale and form.
typedef struct robot_mesh {
    stn_vec3 scale;
    const stn_mesh *data; // NULL: a reference, or one that cannot be read
    const char *why;      // it cannot be read, NULL: it can
} robot_mesh;

typedef struct robot_geometry {
    int32_t link;
    const xml_element *xml; // as robot_link's
    robot_place place;
    stn_geometry_spec spec;
    const robot_file *file;  // of its mesh, NULL: none
    const xml_element *mesh; // that names it
    stn_vec3 scale;
    const stn_mesh *data;                 // kept by the reader's meshes; NULL: a reference only
    const stn_mesh *volume;               // the same, with the file's tetrahedra; NULL: it has none that count
    bool declared_convex, declared_rigid; // hydroelastic properties
    stn_mat3 turn; // of the shape's axes against those of its element, which a plane's normal makes
} robot_geometry;

typedef struct robot_exclusion {
    int32_t a, b;
} robot_exclusion;

/// A constraint between two links or joints of the file.
typedef struct robot_constraint {
    robot_place place;
    const char *type, *name;         // plugin of kind constraint; NULL: no name
    stn_constraint_end_spec ends[2]; // link (STN_WORLD: the world) or joint, as the file counts them
    stn_setting settings[2];         // of the plugin
    int32_t setting_count;
} robot_constraint;

/// A soft body, whose mesh is in the frame of a link.
typedef struct robot_soft {
    const char *name; // in the file
    const char *label;
    robot_place place;
    int32_t link; // -1: the world
    stn_soft_mesh *mesh;
    double *mass;            // (mesh->node_count) [kg] beside that of the elements; NULL: none
    int32_t *holder;         // (mesh->node_count) link that holds the node, STN_WORLD, or ROBOT_FREE_NODE
    stn_setting settings[8]; // of the element
    int32_t setting_count;
    stn_surface_spec surface; // all but triangles and solid; of a cable, what it shares with geometry
    // a cable, whose mesh is a line:
    double radius, whole_mass; // [m], > 0: it is one; [kg]
    bool straight;             // at rest, else as it starts
} robot_soft;
enum { ROBOT_FREE_NODE = INT32_MAX };

/// What the mesh of a soft body is made of; NULL: no masses, no holders.
typedef struct robot_soft_data {
    stn_soft_mesh_data mesh;
    const double *mass;    // (mesh.node_count)
    const int32_t *holder; // (mesh.node_count)
} robot_soft_data;

typedef struct robot_keyframe {
    robot_place place;
    stn_keyframe_spec spec; // numbers in memory of the load
} robot_keyframe;

enum { ROBOT_PATH = 4096, ROBOT_PACKAGE_NAME = 256 };

/// A package that was looked for.
typedef struct robot_package {
    const char *name;
    const robot_root *root; // NULL: not found
    struct robot_package *next;
} robot_package;

/// Folders of one place where packages are looked for, the nearest first.
typedef struct robot_folder {
    const char *path;
    const char *package; // name in its package.xml, NULL without one
    int32_t depth;
} robot_folder;

typedef struct robot_folders {
    robot_folder *folders;
    int32_t count, capacity;
    bool scanned;
} robot_folders;

typedef enum robot_folders_id {
    ROBOT_FOLDERS_GIVEN,
    ROBOT_FOLDERS_INSIDE, // the package that holds the file
    ROBOT_FOLDERS_BESIDE,
    ROBOT_FOLDERS_ENVIRONMENT,
    ROBOT_FOLDERS_COUNT
} robot_folders_id;

struct robot_reader {
    stn_arena *arena;
    stn_diagnostics *diagnostics;
    const stn_load_request *request;
    const robot_format *format;
    const void *config;    // of the plugin
    const char *label;     // what is being read, for messages
    int32_t errors_before; // the load
    bool out_of_memory;
    bool xacro_said;

    const char *name;
    robot_link *links;
    robot_joint *joints;
    robot_geometry *geometries;
    robot_exclusion *exclusions;
    int32_t link_count, link_capacity, joint_count, joint_capacity, geometry_count, geometry_capacity;
    robot_keyframe *keyframes;
    robot_soft *softs;
    int32_t soft_count, soft_capacity;
    bool fault_said; // of what the builder refused
    robot_constraint *constraints;
    int32_t constraint_count, constraint_capacity;
    int32_t exclusion_count, exclusion_capacity, keyframe_count, keyframe_capacity;
    robot_names link_names, joint_names, shape_names;
    int32_t root;      // link
    bool has_pose;     // the file says where the root stands,
    stn_pose pose;     // where that is,
    bool stands_fixed; // and whether it is welded to the world there

    robot_names said;
    xml_document **documents;
    int32_t document_count, document_capacity, mark_count;
    int64_t byte_count;         // of all files
    robot_base base, main_base; // of the file that is being read, and of the request's
    int32_t base_count;
    robot_package *packages;
    robot_folders places[ROBOT_FOLDERS_COUNT];
    robot_file *files;
    int32_t file_count, file_capacity;
    robot_names file_names;
    robot_mesh *meshes;
    int32_t mesh_count, mesh_capacity;
    int64_t triangle_count;             // of the meshes as given
    robot_names mesh_names, form_names; // file, scale and form -> mesh; file -> how many
};

// --------------------------------------------------------------------------------------------------- load.c

/// What `load` of a loader plugin does (stn_loader_ops); `config` is the plugin's.
stn_status robot_load(const robot_format *format, const void *config, const stn_load_request *request,
                      stn_model_builder *builder, int32_t *robot, stn_diagnostics *diagnostics, stn_error *err);
/// Does the text hold the tag "<NAME", as a start of a file that a loader recognises?
bool robot_has_tag(const char *text, size_t length, const char *name);
/// The root element of a further file, which lives as long as the load. NULL: `status` and `err`, or a finding, say
/// why.
const xml_element *robot_read_document(robot_reader *reader, const char *path, stn_status *status, stn_error *err);
/// The request's file name without folder and extensions.
const char *robot_stem(robot_reader *reader);

// ------------------------------------------------------------------------------------------------- values.c

robot_place robot_at(const xml_element *xml);
void robot_say(robot_reader *reader, stn_severity severity, const char *code, robot_place place, const char *format,
               ...) STN_PRINTF(5, 6);
#define robot_error(reader, xml, code, ...) robot_say(reader, STN_SEVERITY_ERROR, code, robot_at(xml), __VA_ARGS__)
#define robot_warn(reader, xml, code, ...)  robot_say(reader, STN_SEVERITY_WARNING, code, robot_at(xml), __VA_ARGS__)
#define robot_note(reader, xml, code, ...)  robot_say(reader, STN_SEVERITY_NOTE, code, robot_at(xml), __VA_ARGS__)

/// Memory of the load, zeroed; NULL sets out_of_memory.
void *robot_allocate(robot_reader *reader, size_t count, size_t size);
#define ROBOT_NEW(reader, count, type) ((type *)robot_allocate((reader), (size_t)(count), sizeof(type)))
const char *robot_text(robot_reader *reader, const char *format, ...) STN_PRINTF(2, 3); // "" without memory
/// An array with room for one more item: itself, or where it is full a larger copy; `capacity` stays when there is no
/// memory.
void *robot_reserve(robot_reader *reader, void *items, int32_t count, int32_t *capacity, size_t size);

/// Reads `least` to `most` (<= ROBOT_MOST_REALS) numbers of a text; `what` names it in messages: "size of <box>". How
/// many were read; 0 after an error when the text holds anything else, `values` then stays.
enum { ROBOT_MOST_REALS = 16 };
int32_t robot_parse_reals(robot_reader *reader, const xml_element *xml, const char *what, const char *text,
                          int32_t least, int32_t most, double *values);
/// Exactly `count` numbers of an attribute. Absent: false, `values` stays. Bad: the same and an error.
bool robot_reals(robot_reader *reader, const xml_element *xml, const char *attribute, int32_t count, double *values);
bool robot_real(robot_reader *reader, const xml_element *xml, const char *attribute, double *value);
/// The same for an attribute that must be there.
bool robot_required(robot_reader *reader, const xml_element *xml, const char *attribute, int32_t count, double *values);
/// Exactly `count` numbers of the text inside an element, which must be there: false after an error, `values` stays.
bool robot_text_reals(robot_reader *reader, const xml_element *xml, int32_t count, double *values);
/// Number in the attribute `value` or in the text of an element, as programs for other simulators write it. Absent:
/// false. Bad: the same, and a finding.
bool robot_setting(robot_reader *reader, const xml_element *xml, stn_severity severity, double *value);
/// Number that must be >= 0; `unit` for the message.
bool robot_not_negative(robot_reader *reader, const xml_element *xml, const char *attribute, const char *unit,
                        double *value);
/// A direction of length 1, noted when the given one is not. false: it has length 0, said.
bool robot_direction(robot_reader *reader, const xml_element *xml, const double given[3], stn_vec3 *unit);
/// A name: present, not empty, UTF-8. NULL and an error otherwise.
const char *robot_name_of(robot_reader *reader, const xml_element *xml, const char *attribute);
/// The same for the text inside an element, without the blanks around it.
const char *robot_text_name(robot_reader *reader, const xml_element *xml);
/// stn_suggest, except after so many errors that none is kept any more.
const char *robot_suggest(robot_reader *reader, const char *word, const char *const *candidates, int32_t count);
/// For a message about a name that is not there: ": did you mean 'x'?", or "". Names beyond value 255 are not proposed.
const char *robot_names_hint(robot_reader *reader, const robot_names *names, int32_t scope, const char *name);
/// The first child of that name; further ones are ignored with a warning. NULL: none.
const xml_element *robot_child(robot_reader *reader, const xml_element *xml, const char *name);
/// Text of the xacro language? That is an error which names the tool, once a file.
bool robot_is_xacro(robot_reader *reader, const xml_element *xml, const char *text);

// ------------------------------------------------------------------------------------------------- names.c

bool robot_names_init(robot_reader *reader, robot_names *names, int32_t capacity);
int32_t robot_names_find(const robot_names *names, int32_t scope, const char *name); // -1: none
/// The same of the first `length` bytes of `name`.
int32_t robot_names_find_part(const robot_names *names, int32_t scope, const char *name, size_t length);
/// Adds a name, which must live as long as the load, or gives it another value.
void robot_names_add(robot_reader *reader, robot_names *names, int32_t scope, const char *name, int32_t value);
/// A name that differs from those of the table's scope 0, which keeps it: numbered when `wanted` is taken.
const char *robot_names_unique(robot_reader *reader, robot_names *taken, const char *wanted);
/// Is this the first time that the topic comes to this subject (a text that lives as long as the load)?
bool robot_first(robot_reader *reader, robot_topic topic, const char *subject);

// -------------------------------------------------------------------------------------------- description.c

/// Room for one more; positions stay, pointers into the arrays do not. A position, or -1 without memory. A link's name
/// is added to link_names, a joint's to joint_names, when it has one; `xml` NULL: made by the reader.
int32_t robot_add_link(robot_reader *reader, const char *name, const xml_element *xml);
int32_t robot_add_joint(robot_reader *reader, const char *name, stn_joint_type type, const xml_element *xml);
/// A shape with default surface, collision or visual only. The caller that finds it faulty takes it back by
/// geometry_count--. The shapes of one link must follow each other for geometry_start and geometry_count to be right.
int32_t robot_add_geometry(robot_reader *reader, int32_t link, bool collision, const xml_element *xml);
bool robot_add_exclusion(robot_reader *reader, int32_t link_a, int32_t link_b);
/// soft.c: a soft body without a mesh; NULL: a name that cannot be or is taken, said, or no memory. The caller that
/// finds it faulty leaves it: with an error nothing is built.
robot_soft *robot_add_soft(robot_reader *reader, const char *name, const char *label, const xml_element *xml);
void robot_set_soft(robot_soft *soft, const char *parameter, double value); // of its element
void robot_set_soft_text(robot_soft *soft, const char *parameter, const char *text);
/// Makes its mesh, borrowing the data. false: said, or no memory.
bool robot_mesh_soft(robot_reader *reader, const xml_element *xml, robot_soft *soft, const robot_soft_data *data);
/// The same of a line of nodes, none of which is held.
bool robot_line_soft(robot_reader *reader, const xml_element *xml, robot_soft *soft, int32_t count,
                     const double *points);
void robot_release_softs(robot_reader *reader);
/// All of them into the builder, called "group/name".
stn_status robot_build_softs(robot_reader *reader, stn_model_builder *builder, const char *group, stn_error *err);
/// A constraint of plugin `type` whose ends are the world until they are set; NULL without memory.
robot_constraint *robot_add_constraint(robot_reader *reader, const char *type, const char *name,
                                       const xml_element *xml);
/// An empty keyframe; NULL without memory.
robot_keyframe *robot_add_keyframe(robot_reader *reader, const char *name, const xml_element *xml);
/// A name for a shape that differs from others of its scope: numbered, with a warning, when `given` is taken.
const char *robot_unique_shape_name(robot_reader *reader, const xml_element *xml, int32_t scope, const char *given);

// ------------------------------------------------------------------------------------------------ source.c

/// A file as text, zero at its end. NULL: the status or, where that is STN_OK, a finding says why.
typedef struct robot_source {
    const char *path;
    char *text;
    size_t length;
} robot_source;
stn_status robot_read_source(robot_reader *reader, robot_source *source, stn_error *err);
/// Few enough elements and attributes for the XML library to be quick? `marks` counts on over files. `line`, where it
/// becomes too many, may be NULL.
bool robot_has_few_marks(const char *text, size_t length, int32_t *marks, int32_t *line);
/// Is a text, zero at its end, within what is read as one file?
bool robot_is_readable(const char *text, size_t length);

// -------------------------------------------------------------------------------------------- vocabulary.c

/// One element that is read. Lists are names between spaces. A child that is listed here but has no entry of its own is
/// skipped without a word.
typedef struct robot_word {
    const char *parent; // NULL: anywhere
    const char *name;
    const char *attributes;
    const char *children;
} robot_word;

/// Every element that a format's loader reads; the first one is the root.
typedef struct robot_vocabulary {
    const robot_word *words;
    int32_t count;
    const char *labels;     // elements after which findings are named: "link joint"
    stn_severity severity;  // of what is not listed: a note or a warning
    const char *exceptions; // names that have the other one
} robot_vocabulary;

/// Whatever else stands in a file is skipped, and said once for each name, so that nothing is missing silently.
void robot_note_skipped(robot_reader *reader, const robot_vocabulary *vocabulary, const xml_element *root);
/// Does a list of names between spaces hold this one?
bool robot_lists(const char *list, const char *name);

// ------------------------------------------------------------------------------------------- shape.c, surface.c

/// How bad a fault of a shape is: of a collision an error, of a visual a warning.
stn_severity robot_fault(const robot_geometry *g);
/// How a format calls a shape, and what reads its element. false: left out, and the reason said.
typedef struct robot_shape_word {
    const char *name;
    bool (*parse)(robot_reader *reader, const xml_element *shape, robot_geometry *g);
} robot_shape_word;
/// The first child of the <geometry> (NULL: absent) of `xml` that is a shape, and its word; a second one is a warning.
/// NULL: none.
const robot_shape_word *robot_find_shape(robot_reader *reader, const xml_element *xml, const xml_element *geometry,
                                         const robot_shape_word *words, int32_t count, const xml_element **shape);
/// The name in the attribute `name`, made to differ from others of its scope; NULL: none.
const char *robot_shape_name(robot_reader *reader, const xml_element *xml, int32_t scope);
/// Said of a sphere of radius 0: what names the number, the element, "; left out" or "".
#define ROBOT_POINT_SPHERE                                                                                          \
    "%s of <%s> = 0 m: a sphere of radius 0, a single point, cannot be loaded yet; give it a small radius such as " \
    "0.001 m, or take this shape out of the file%s"
/// Sizes all > 0, or >= 0? false: said; `what` names them.
bool robot_check_sizes(robot_reader *reader, const xml_element *xml, const char *what, const double *sizes,
                       int32_t count, bool zero_ok, const robot_geometry *g);
/// Shapes for what was read; they change the pose, which must be there. false: said.
bool robot_set_plane(robot_reader *reader, const xml_element *xml, const double normal[3], robot_geometry *g);
bool robot_set_mesh(robot_reader *reader, const xml_element *xml, const char *uri, const double scale[3],
                    robot_geometry *g); // uri NULL: said before
/// Red, green, blue and opacity, brought between 0 and 1 with a warning.
void robot_set_colour(robot_reader *reader, const xml_element *xml, const char *what, const double value[4],
                      float rgba[4]);

/// One figure of damping, or three of a planar joint, of which the first counts (with a warning when they differ).
void robot_set_damping(robot_reader *reader, const xml_element *xml, const double *values, int32_t count,
                       stn_joint_spec *spec);

/// Contact parameters of other programs: number of a child, NaN when there is none or it is bad or below `least`.
double robot_surface_number(robot_reader *reader, const xml_element *parent, const char *name, double least);
/// k [N/m] and c [N s/m]; only together do they make a relaxation time.
void robot_surface_spring(robot_reader *reader, const xml_element *parent, const char *k_name, const char *c_name,
                          stn_material *out);
/// Friction as Open Dynamics Engine has it, of a collision that has no mu yet: coefficient `first` along <fdir1>, a
/// direction in the collision's frame, and `second` across it. Without a direction the engine chooses one by the
/// normal, in the world: the smaller coefficient counts in all directions, with a warning when they differ.
typedef struct robot_friction {
    double mu, mu2;     // NaN: not given
    stn_vec3 direction; // in the collision's frame; zero: the same in all directions
} robot_friction;
robot_friction robot_surface_friction(robot_reader *reader, const xml_element *parent, const char *first,
                                      const char *second);
void robot_fill_friction(robot_geometry *g, const robot_friction *given);
double robot_surface_restitution(robot_reader *reader, const xml_element *parent, const char *name);
/// Gives a surface what it does not have yet.
void robot_fill_material(stn_material *material, const stn_material *given);

// ------------------------------------------------------------------------------------ from parts to a robot

/// tree.c: is a mass physical? What is not is said.
void robot_check_mass(robot_reader *reader, const xml_element *inertial, double mass, const stn_mat3 *inertia);
void robot_warn_massless(robot_reader *reader, const int32_t *order);
/// tree.c: appends `name` to a list for a message, of which `position` names are there; "..." after the fifth.
void robot_list_name(char *text, size_t size, int32_t position, const char *name);
/// tree.c: finds the links that joints name; one root, no cycle. false: out of memory.
bool robot_connect(robot_reader *reader);
void robot_resolve_mimic(robot_reader *reader); // tree.c
/// surface.c: <drake:proximity_properties>, values as attributes or as texts.
void robot_parse_proximity(robot_reader *reader, const xml_element *xml, robot_geometry *g);
/// filter.c: <drake:collision_filter_group> below `parent`, names as attributes or as texts; after connecting. `prefix`
/// stands before the names of links in the robot: "", "inner::".
bool robot_parse_filters(robot_reader *reader, const xml_element *parent, const char *prefix);
/// uri.c: what is known of a file that the robot file names: NULL only without memory.
const robot_file *robot_find_file(robot_reader *reader, const char *uri);
/// A mesh file that exists and may be read; NULL after saying, once for each name, why not (an error for collision,
/// else a warning).
const robot_file *robot_find_mesh(robot_reader *reader, const xml_element *xml, const char *uri, bool collision);
void robot_say_mesh(robot_reader *reader, const xml_element *xml, const char *uri, bool collision, const char *code,
                    const char *why);
/// mesh.c: reads the mesh that a geometry names, if it is wanted. false: it cannot be read, said.
bool robot_load_mesh(robot_reader *reader, robot_geometry *g);
/// Takes over a mesh that the format's own code made, until the load ends; false: released, no memory.
bool robot_keep_mesh(robot_reader *reader, const stn_mesh *data);
bool robot_is_gltf(const char *path); // by its extension
/// Turns a glTF mesh, in which y is up, so that z is: its pose and its scale. Others stay.
void robot_stand_up(robot_geometry *g);
void robot_release_meshes(robot_reader *reader);
/// mesh.c: a mesh file as it is, for a soft body, found as by robot_find_mesh; NULL: it cannot be read, said.
const stn_mesh *robot_read_mesh(robot_reader *reader, const xml_element *xml, const robot_file *file, stn_vec3 scale);
// package.c
/// Folder and home of a file. false: its folder cannot be found, or its path is too long.
bool robot_locate_file(robot_reader *reader, const char *path, robot_base *base);
const robot_root *robot_find_package(robot_reader *reader, const char *name); // NULL: not found
bool robot_make_root(robot_reader *reader, const char *path, robot_root *root);
bool robot_is_inside_package(const char *path, const char *package); // is that the nearest package above the path?
/// build.c: all of it into the builder, or nothing.
stn_status robot_build(robot_reader *reader, stn_model_builder *builder, int32_t *robot, stn_error *err);

#endif
