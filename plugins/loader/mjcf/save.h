// SPDX-License-Identifier: Apache-2.0
// Saving MJCF: what bodies (save.c) and the tables beside them (save_tables.c) share.
#ifndef MJCF_SAVE_H
#define MJCF_SAVE_H

#include "mjcf.h"

typedef struct mjcf_saver {
    xml_writer xml;
    robot_parts parts;
    bool *between;            // (parts) a link without mass between joints of one body
    int32_t *listed, *number; // parts as the file has them, depth first; place of each part among them
    int32_t listed_count;
    const char **shape_names;          // (shapes) unique, NULL: none
    const char **mesh_names;           // (mesh_count) of the assets
    robot_names mesh_keys, mesh_taken; // file and scale -> asset; the names
    int32_t *shape_mesh;               // (shapes) asset, -1
    int32_t mesh_count;
    bool has_equality; // the section is begun
} mjcf_saver;

/// "link b", for messages.
const char *mjcf_save_label(mjcf_saver *s, const char *what, const char *name);
/// Motions of MuJoCo that a joint is written as: a planar joint two slides and a hinge, a universal one two hinges.
int32_t mjcf_save_motions(stn_joint_type type);
/// Name of motion k.
const char *mjcf_save_motion_name(mjcf_saver *s, const robot_part *part, int32_t k);
/// The robot's root that moves freely without a joint of its own; NULL: there is none such.
const stn_joint *mjcf_save_free_root(const mjcf_saver *s);

void mjcf_save_assets(mjcf_saver *s);
void mjcf_save_contact(mjcf_saver *s);
void mjcf_save_equality(mjcf_saver *s);
void mjcf_save_actuators(mjcf_saver *s);
void mjcf_save_keyframes(mjcf_saver *s);

#endif
