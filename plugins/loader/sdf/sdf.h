// SPDX-License-Identifier: Apache-2.0
// What SDFormat has beyond other formats of robot files: models inside models, files that include others, and frames by
// name in which poses are given. A file is read in three passes: models, links and frames (parse.c, include.c), the
// poses of all frames with every joint at zero (frames.c), joints and the tree that they make (joint.c, assemble.c).
#ifndef SDF_SDF_H
#define SDF_SDF_H

#include "common/parts.h"

enum { SDF_OLDEST = 4, SDF_FRAMES = 7, SDF_NEWEST = 12 }; // 1.x; relative_to and attached_to exist from 1.7 on

enum { SDF_LONGEST_NAME = 1000 }; // [bytes] with those of the models around it

typedef enum sdf_frame_kind { SDF_WORLD, SDF_MODEL, SDF_LINK, SDF_JOINT, SDF_FRAME } sdf_frame_kind;

/// A node of the graph of frames. Its pose is given in another one, and it moves with another one.
typedef struct sdf_frame {
    sdf_frame_kind kind;
    const char *name;  // within the robot, "inner::link"
    const char *label; // "frame f", for messages
    const xml_element *xml;
    int32_t model;                         // that it stands in; of a model's frame the model itself
    const char *relative_to, *attached_to; // as written; NULL: the default
    stn_pose given;                        // relative frame -> this frame (of a model: -> its placement frame)
    int32_t relative, attached;            // frames; a link and the world are attached to themselves
    stn_pose pose;                         // world -> this frame, joints at zero
    int32_t link;                          // of the robot, that it moves with; -1: the world, or a deformable link
    int32_t own;                           // of a <frame>: its own massless link
} sdf_frame;

/// A <model>, or the world, which is the first one.
typedef struct sdf_model {
    const xml_element *xml;
    int32_t parent;  // model that holds it, -1 for the world
    int32_t scope;   // model in which its names are known: itself, or when it is merged its parent's
    int32_t frame;   // __model__
    int32_t version; // 7 for 1.7, of the file that it stands in
    int32_t first;   // frame of its first link, else of its first model; -1: none
    bool first_is_link, is_static;
    const char *prefix;           // of names in the robot: "", "inner::"
    const char *canonical;        // link, NULL: the first
    const char *placement;        // frame that the model's pose places, NULL: __model__
    const xml_element *place_xml; // of the pose: <model>, or the <include> that brought it
} sdf_model;

typedef struct sdf_joint {
    const xml_element *xml;
    int32_t frame; // of the joint
    bool gearbox;  // no joint of the tree
} sdf_joint;

/// A shape whose pose is given in another frame than its link.
typedef struct sdf_placement {
    int32_t geometry, frame; // of the link
    const xml_element *xml;
    const char *relative_to;
} sdf_placement;

/// A link whose mass follows from its collisions.
typedef struct sdf_auto {
    const xml_element *inertial;
    int32_t link; // of the robot
} sdf_auto;

typedef struct sdf_reader {
    robot_reader robot; // first: functions get a robot_reader
    sdf_frame *frames;
    sdf_model *models;
    sdf_joint *joints;
    sdf_placement *placements;
    sdf_auto *autos;
    int32_t *softs; // frames of deformable links, which are no links of the robot
    int32_t frame_count, frame_capacity, model_count, model_capacity, joint_count, joint_capacity;
    int32_t placement_count, placement_capacity, auto_count, auto_capacity, soft_count, soft_capacity;
    int32_t link_total;              // links that the file has; later ones are made here
    bool *carried;                   // (link_total) by a joint that was built
    int32_t *link_frames;            // (links that the file has) frame of each
    robot_names names;               // scope (model) and name -> frame
    const struct sdf_opened *opened; // files that are being read, the innermost first
    bool many;                       // several models: names have their model before them
    bool has_bitmask;
} sdf_reader;

static inline sdf_reader *sdf_of(robot_reader *reader) {
    return (sdf_reader *)reader;
}

/// What an <include> says over the model that it brings; NULL or false: nothing.
typedef struct sdf_override {
    const xml_element *xml; // of the include, NULL for a model that stands in its place
    const char *name;
    bool merge, has_static, is_static;
} sdf_override;

/// Messages of SDF's own that are said once.
enum { SDF_NEUTRAL = ROBOT_FORMAT_TOPIC, SDF_SELF_COLLIDE };

// values.c: elements with values as text
/// Number in a child element. Absent: false, `value` stays. Bad: the same and an error.
bool sdf_number(robot_reader *reader, const xml_element *parent, const char *name, double *value);
bool sdf_not_negative(robot_reader *reader, const xml_element *parent, const char *name, const char *unit,
                      double *value);
/// Number that may be infinite, as limits write it; anything from 1e16 on is.
bool sdf_limit(robot_reader *reader, const xml_element *parent, const char *name, double *value);
bool sdf_flag(robot_reader *reader, const xml_element *parent, const char *name, bool fallback);
bool sdf_attribute_flag(robot_reader *reader, const xml_element *xml, const char *name, bool fallback);
/// <pose> inside `xml`, identity when absent; `relative_to`: the frame as written, NULL when none is.
stn_pose sdf_pose(robot_reader *reader, const xml_element *xml, const char **relative_to);
int32_t sdf_version(robot_reader *reader, const xml_element *root); // -1 after an error

// parse.c
bool sdf_parse(robot_reader *reader, const xml_element *root);
void sdf_parse_model(robot_reader *reader, int32_t parent, int32_t version, const xml_element *xml,
                     const sdf_override *over);

void sdf_parse_include(robot_reader *reader, int32_t parent, const xml_element *xml); // include.c
void sdf_note_skipped(robot_reader *reader, const xml_element *root);                 // vocabulary.c
/// save.c; as stn_loader_ops has it.
stn_status sdf_save(void *self, const stn_save_request *request, char **text, size_t *length,
                    stn_diagnostics *diagnostics, stn_error *err);

// frames.c
/// -1: no memory, or the name is missing, reserved or taken, said.
int32_t sdf_add_frame(robot_reader *reader, sdf_frame_kind kind, int32_t model, const xml_element *xml,
                      const char *name);
int32_t sdf_find_frame(robot_reader *reader, int32_t model, const char *name); // -1: none
/// The same after saying that there is none; `what` names it: "parent".
int32_t sdf_need_frame(robot_reader *reader, int32_t model, const xml_element *xml, const char *what, const char *name);
bool sdf_resolve_frames(robot_reader *reader); // false: said
stn_pose sdf_pose_between(robot_reader *reader, int32_t from, int32_t to);

void sdf_parse_link(robot_reader *reader, int32_t model, const xml_element *xml); // link.c
// link.c: when shapes stand in their places
void sdf_compute_later(robot_reader *reader, const xml_element *inertial, int32_t link);
void sdf_compute_inertias(robot_reader *reader);
// geometry.c, surface.c
void sdf_parse_geometry(robot_reader *reader, int32_t frame, const xml_element *xml, bool collision);
void sdf_place_geometries(robot_reader *reader);
void sdf_parse_surface(robot_reader *reader, const xml_element *collision, robot_geometry *g);
void sdf_parse_material(robot_reader *reader, const xml_element *visual, robot_geometry *g);
void sdf_complete_filters(robot_reader *reader);

// deformable.c: a link that is a soft body: its frame, and the body when the root of the robot is known
bool sdf_is_deformable(const xml_element *link);
void sdf_parse_deformable(robot_reader *reader, int32_t model, const xml_element *xml);
void sdf_build_deformables(robot_reader *reader);
bool sdf_stands_on_deformable(const sdf_reader *sdf, int32_t frame); // when frames are resolved

void sdf_parse_joint(robot_reader *reader, int32_t model, const xml_element *xml); // joint.c: its frame
void sdf_build_joint(robot_reader *reader, sdf_joint *joint);                      // joint.c: the rest
const char *sdf_second_name(robot_reader *reader, const char *name);               // of the second joint of a revolute2
// axis.c
/// The direction in axes of the joint's frame, of length 1. false: said.
bool sdf_axis_direction(robot_reader *reader, const xml_element *axis, int32_t frame, stn_vec3 *direction);
void sdf_parse_axis(robot_reader *reader, const xml_element *axis, int32_t frame, robot_joint *joint);

// assemble.c
bool sdf_is_identity(const stn_pose *pose); // but for round-off
typedef struct sdf_hinge {
    const xml_element *xml;
    const char *name;
    int32_t parent, child;        // links of the robot, -1: the world
    stn_pose in_parent, in_child; // link -> joint frame
} sdf_hinge;
/// Adds a joint, and where its frame is not the child's own a massless link that it carries and the child is fixed to.
/// -1: no memory.
int32_t sdf_add_hinge(robot_reader *reader, const sdf_hinge *hinge, stn_joint_type type);
/// joint.c: links of a joint and its frame in both. false: said.
bool sdf_find_ends(robot_reader *reader, const sdf_joint *joint, sdf_hinge *hinge);
void sdf_build_gearboxes(robot_reader *reader); // gearbox.c; after all joints
int32_t sdf_add_massless(robot_reader *reader, const char *name, const xml_element *xml);
const char *sdf_unique_joint(robot_reader *reader, const char *name);
void sdf_add_frame_links(robot_reader *reader);
void sdf_assemble(robot_reader *reader);

#endif
