// SPDX-License-Identifier: Apache-2.0
// What MJCF has beyond other formats of robot files: settings of its compiler, classes of defaults, bodies whose joints
// and shapes stand inside them, coordinates in the order of the file.
#ifndef MJCF_MJCF_H
#define MJCF_MJCF_H

#include "common/parts.h"

enum { MJCF_BAD_DEFAULT = ROBOT_FORMAT_TOPIC, MJCF_LEFT_OUT, MJCF_NO_MATERIAL, MJCF_NO_LIMIT, MJCF_POINT_FORCE };

/// What defaults can be given for. All actuators share theirs, whatever they are called.
typedef enum mjcf_kind {
    MJCF_JOINT,
    MJCF_GEOM,
    MJCF_SITE,
    MJCF_MESH,
    MJCF_MATERIAL,
    MJCF_ACTUATOR,
    MJCF_KIND_COUNT
} mjcf_kind;

/// <compiler>, all of them together.
typedef struct mjcf_compiler {
    bool degree, autolimits, strippath, balance_inertia;
    enum { MJCF_NEVER, MJCF_ALWAYS, MJCF_AUTO } inertia_from_geom;
    double group_range[2]; // geoms of these groups count for that
    double bound_mass, bound_inertia, total_mass;
    const char *eulerseq, *meshdir, *assetdir;
} mjcf_compiler;

/// Elements that give defaults for one kind, the innermost last.
typedef struct mjcf_layers {
    const xml_element *const *items;
    int32_t count;
} mjcf_layers;

typedef struct mjcf_class {
    mjcf_layers layers[MJCF_KIND_COUNT];
} mjcf_class;

/// An element with the class that it takes defaults from.
typedef struct mjcf_item {
    const xml_element *xml;
    mjcf_kind kind;
    int32_t class_index;
} mjcf_item;

/// An element inside a body, out of the <frame> elements around it.
typedef struct mjcf_part {
    const xml_element *xml;
    stn_pose frame; // body frame -> the frame that it stands in
    int32_t class_index;
} mjcf_part;

typedef struct mjcf_parts {
    mjcf_part *items;
    int32_t count, capacity;
} mjcf_parts;

typedef struct mjcf_body {
    const char *name;
    int32_t link, parent, weld; // weld: the body that it is one rigid body with, whose joints carry both; 0: the world
    int32_t joint_count;
    stn_pose drawn; // in the world, at the coordinates as drawn
} mjcf_body;

/// A joint of the file, in the order of its coordinates.
typedef struct mjcf_coordinates {
    int32_t joint;  // of the robot; -1: the base, which floats without one
    double ref;     // the coordinate as drawn
    int32_t points; // coordinates of points of soft bodies that come behind it
} mjcf_coordinates;

typedef struct mjcf_mesh {
    const char *name;
    const xml_element *xml;
    const char *uri; // NULL: none
    stn_vec3 scale;
    stn_pose turn;        // mesh as used -> the scaled mesh of the file
    const stn_mesh *made; // from numbers in the file, a convex hull; NULL: a file
    bool weighed;         // `solid` was looked for
    bool faulty;          // said
    stn_mass solid;       // of unit density, in the frame of the scaled mesh; mass 0: none
} mjcf_mesh;

typedef struct mjcf_material {
    const char *name;
    float rgba[4];
} mjcf_material;

/// MuJoCo's collision filter of a shape: two collide when the contype of one meets the conaffinity of the other.
typedef struct mjcf_filter {
    uint32_t contype, conaffinity;
} mjcf_filter;

/// A deformable mesh: triangles or tetrahedra over points in the frame of a link. Borrowed.
typedef struct mjcf_flex {
    const xml_element *xml; // with <contact>, <edge>, <elasticity> inside
    const char *name;
    int32_t link, dim; // dim 2: triangles, 3: tetrahedra
    int32_t point_count, element_count;
    const double *points;  // (point_count x 3)
    int32_t *elements;     // (element_count x (dim + 1)); tetrahedra are turned to a positive volume
    const double *mass;    // (point_count)
    const int32_t *holder; // (point_count) as of robot_soft_data
} mjcf_flex;

/// A body that is a point of a <flex>: it slides freely along three axes, and nothing is on it but its mass.
typedef struct mjcf_point {
    int32_t parent; // body that it slides in
    stn_pose drawn; // in the world, at the coordinates as drawn
    double mass;
} mjcf_point;

typedef struct mjcf_site {
    const char *name;
    const xml_element *xml;
    int32_t link;
    stn_pose pose;
} mjcf_site;

typedef struct mjcf_reader {
    robot_reader robot; // first: functions get a robot_reader
    const xml_element *root;
    mjcf_compiler compiler;
    mjcf_class *classes; // 0: main
    int32_t class_count, class_capacity;
    mjcf_body *bodies; // 0: the world
    int32_t body_count, body_capacity;
    mjcf_coordinates *coordinates;
    int32_t coordinates_count, coordinates_capacity, points_ahead; // of points before the first joint
    mjcf_mesh *meshes;
    mjcf_material *materials;
    mjcf_site *sites;
    mjcf_point *points;
    mjcf_filter *filters;      // one a geometry
    mjcf_filter *soft_filters; // one a soft body
    int32_t mesh_count, mesh_capacity, material_count, material_capacity, site_count, site_capacity;
    int32_t point_count, point_capacity;
    bool too_many_links;
    int32_t filter_capacity, soft_filter_capacity, made_count; // meshes from numbers
    robot_names class_names, body_names, mesh_names, material_names, site_names;
    robot_names links_taken, joints_taken, keys_taken;
    robot_names included; // files
    /// Bodies that flexes name, with how often; bodies and joints that constraints and actuators name; points.
    robot_names flexed, used, point_names;
} mjcf_reader;

static inline mjcf_reader *mjcf_of(robot_reader *reader) {
    return (mjcf_reader *)reader;
}

bool mjcf_parse(robot_reader *reader, const xml_element *root); // parse.c
/// Of include.c: next element of that name below the root, over several sections of the same name: for (e = NULL; (e =
/// ...) != NULL;).
const xml_element *mjcf_next(const xml_element *root, const char *section, const xml_element *previous);
bool mjcf_include(robot_reader *reader, const xml_element *root);         // include.c
void mjcf_read_compiler(robot_reader *reader, const xml_element *root);   // compiler.c
void mjcf_note_option(robot_reader *reader, const xml_element *root);     // compiler.c
void mjcf_read_defaults(robot_reader *reader, const xml_element *root);   // default.c
void mjcf_read_assets(robot_reader *reader, const xml_element *root);     // asset.c
void mjcf_read_world(robot_reader *reader, const xml_element *worldbody); // body.c
void mjcf_read_sites(robot_reader *reader);                               // body.c
void mjcf_find_points(robot_reader *reader, const xml_element *root);     // flex_body.c: before the world is read
void mjcf_read_flexes(robot_reader *reader, const xml_element *root);     // flex_body.c
void mjcf_scale_masses(robot_reader *reader);                             // inertial.c: to settotalmass
void mjcf_read_contact(robot_reader *reader, const xml_element *root);    // filter.c
void mjcf_set_filters(robot_reader *reader);                              // filter.c
void mjcf_exclude_neighbours(robot_reader *reader);                       // filter.c
void mjcf_read_equality(robot_reader *reader, const xml_element *root);   // equality.c
void mjcf_read_actuators(robot_reader *reader, const xml_element *root);  // actuator.c
void mjcf_read_keyframes(robot_reader *reader, const xml_element *root);  // keyframe.c
void mjcf_note_skipped(robot_reader *reader, const xml_element *root);    // vocabulary.c
/// save.c; as stn_loader_ops has it.
stn_status mjcf_save(void *self, const stn_save_request *request, char **text, size_t *length,
                     stn_diagnostics *diagnostics, stn_error *err);

/// link.c: robot_add_link, up to a limit; -1 beyond it, said once, and without memory.
int32_t mjcf_add_link(robot_reader *reader, const char *name, const xml_element *xml);

// ------------------------------------------------------------------------------------------------ default.c

/// The element with the class that it names, else with `class_index`. An unknown class is said, and main taken.
mjcf_item mjcf_item_of(robot_reader *reader, const xml_element *xml, mjcf_kind kind, int32_t class_index);
/// Class by the attribute `attribute` of an element, `otherwise` when there is none.
int32_t mjcf_class_of(robot_reader *reader, const xml_element *xml, const char *attribute, int32_t otherwise);
/// The element that gives an attribute: itself, or the innermost of its defaults; NULL: none does.
const xml_element *mjcf_holder(robot_reader *reader, const mjcf_item *item, const char *attribute);
const char *mjcf_word(robot_reader *reader, const mjcf_item *item, const char *attribute); // NULL: absent
/// Reads up to `most` numbers, at least `least` of them; where fewer are given than defaults further out have, those
/// fill up the rest, as MuJoCo does. How many there are then; 0 when there are none, or after an error, `values` then
/// stays.
int32_t mjcf_reals(robot_reader *reader, const mjcf_item *item, const char *attribute, int32_t least, int32_t most,
                   double *values);
bool mjcf_real(robot_reader *reader, const mjcf_item *item, const char *attribute, double *value);
/// Number that must be >= 0.
bool mjcf_not_negative(robot_reader *reader, const mjcf_item *item, const char *attribute, const char *unit,
                       double *value);
/// Which of the words (between spaces) an attribute is; `otherwise` when absent or, after an error, none of them.
int32_t mjcf_choice(robot_reader *reader, const mjcf_item *item, const char *attribute, const char *words,
                    int32_t otherwise);
/// The same of an element without defaults.
int32_t mjcf_plain_choice(robot_reader *reader, const xml_element *xml, const char *attribute, const char *words,
                          int32_t otherwise);
/// Is a range in force? `limited` is true, false or auto (then it is when the range is given, and not 0 0, and
/// autolimits is on).
bool mjcf_is_limited(robot_reader *reader, const mjcf_item *item, const char *limited, const char *range);
/// Two numbers, the first below the second. false: absent or bad, said.
bool mjcf_range(robot_reader *reader, const mjcf_item *item, const char *attribute, double range[2]);

// --------------------------------------------------------------------------------------------------- pose.c

/// pos and whatever says how it is turned.
stn_pose mjcf_pose(robot_reader *reader, const mjcf_item *item);
stn_pose mjcf_plain_pose(robot_reader *reader, const xml_element *xml); // of an element without defaults
bool mjcf_is_turned(const xml_element *xml);                            // does an element itself say how it is turned?
/// The rotation with the smallest angle that turns z to a direction of length > 0.
stn_mat3 mjcf_turn_z(stn_vec3 direction);
/// A quaternion w x y z; false: its length is 0, said.
bool mjcf_quaternion(robot_reader *reader, const xml_element *xml, const char *what, const double *wxyz, stn_quat *out);

// ----------------------------------------------------------------------------------------- parts of a body

/// joint.c: where a new body is drawn, and joints and links between its parent's link and its own. `inside` is what it
/// holds. Its link; -1: none, said or no memory.
int32_t mjcf_hang(robot_reader *reader, int32_t body, const mjcf_part *part, const mjcf_parts *inside);
bool mjcf_is_joint(const xml_element *xml);
int32_t mjcf_count_joints(const mjcf_parts *parts);
/// A free joint without forces of its own, such as a floating base has anyway?
bool mjcf_is_plain_free(robot_reader *reader, const mjcf_part *part);
/// Says what of the only joint of a root that floats is not read.
void mjcf_note_free(robot_reader *reader, const mjcf_part *part);
/// Adds a joint's coordinates; joint -1: of the base.
void mjcf_add_coordinates(robot_reader *reader, int32_t joint, double ref);
void mjcf_add_point_coordinates(robot_reader *reader, int32_t count); // of points of a soft body
/// Does a joint slide along an axis, which is in the body's frame? Nothing is said of one that is bad.
bool mjcf_slides(robot_reader *reader, const mjcf_part *part, stn_vec3 *axis);
/// The attribute by which a sliding joint has a force, a limit or an inertia of its own; NULL: none.
const char *mjcf_slide_force(robot_reader *reader, const mjcf_part *part);
/// geom.c: a shape of a link; what it weighs is added to `sum` unless that is NULL.
void mjcf_read_geom(robot_reader *reader, const mjcf_part *part, int32_t link, stn_mass *sum);
/// inertial.c: the mass properties of a link, whose geoms weigh `sum`.
bool mjcf_wants_geoms(robot_reader *reader, const mjcf_parts *parts); // do the geoms' masses count?
void mjcf_read_mass(robot_reader *reader, const mjcf_parts *parts, int32_t link, const stn_mass *sum);
/// flexcomp.c: a flex made of points of its own, in a body. How many coordinates MuJoCo has for them.
int32_t mjcf_read_flexcomp(robot_reader *reader, const mjcf_part *part, int32_t body);
/// flex_body.c: is a body, which `parent` carries and `inside` is in, a point of a flex? It is no link then. Bad ones
/// are said.
bool mjcf_take_point(robot_reader *reader, const mjcf_part *part, const mjcf_parts *inside, int32_t parent);
/// flex.c: adds a soft body with what the elements inside flex->xml say.
void mjcf_make_flex(robot_reader *reader, const mjcf_flex *flex);
/// Number of a soft body above 0 and at most 1e50, with its unit; false: said.
bool mjcf_check_size(robot_reader *reader, const xml_element *xml, const char *what, double value, const char *unit);
/// A soft body without mesh, with room for its filter; NULL: said, or no memory.
robot_soft *mjcf_add_soft(robot_reader *reader, const char *name, const xml_element *xml);
/// Filter and friction of the soft body added last, from an element that may be NULL; its colour.
void mjcf_read_surface(robot_reader *reader, const xml_element *e, robot_soft *soft);
void mjcf_read_looks(robot_reader *reader, const xml_element *xml, robot_soft *soft);
/// composite.c: a cable, in a body. How many coordinates MuJoCo has for it.
int32_t mjcf_read_composite(robot_reader *reader, const mjcf_part *part, int32_t body);
/// Elements of so many numbers that are numbers of points? false: said.
bool mjcf_check_elements(robot_reader *reader, const mjcf_flex *flex, int32_t numbers);
/// dim="1", which is refused.
void mjcf_refuse_line(robot_reader *reader, const xml_element *xml);
/// Says what pinned points weigh that a body carries.
void mjcf_warn_pinned(robot_reader *reader, const xml_element *xml, int32_t pins, double mass, const char *body);
/// As many numbers as an attribute holds, in memory of the load; NULL: absent, or bad, said.
double *mjcf_numbers(robot_reader *reader, const xml_element *xml, const char *attribute, int32_t *count);
int32_t *mjcf_whole_numbers(robot_reader *reader, const xml_element *xml, const char *attribute, int32_t *count);
/// asset.c
const char *mjcf_mesh_uri(robot_reader *reader, const char *file); // from the folder of the main file
mjcf_mesh *mjcf_find_mesh(robot_reader *reader, const xml_element *xml, const char *name); // NULL: said
const stn_mass *mjcf_weigh_mesh(robot_reader *reader, mjcf_mesh *mesh);                    // of unit density
const mjcf_material *mjcf_find_material(robot_reader *reader, const xml_element *xml, const char *name);

#endif
