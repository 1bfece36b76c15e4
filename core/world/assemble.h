// SPDX-License-Identifier: Apache-2.0
// What the files that append rows to the contact problem share: contacts (assemble.c), joints (joint_rows.c),
// constraints of plugins (constraint_rows.c). Everything of one step lies in the world's arena.
#ifndef STICTION_CORE_WORLD_ASSEMBLE_H
#define STICTION_CORE_WORLD_ASSEMBLE_H

#include "world/world.h"

/// What the rows of a step are made from.
typedef struct assembly {
    const step_setup *setup;
    const state_view *state;
    step_frame *frame;
    step_services *services;
} assembly;

/// How much room rows need at most.
typedef struct row_count {
    int32_t constraints, rows;
} row_count;

/// Next constraint of the problem, rigid data not set (NaN), rows without bias, bounds or error. There must be room.
stn_constraint *append_constraint(step_frame *frame, stn_constraint_kind kind, stn_constraint_set set, int32_t rows);
/// A zeroed block of `count` values; `J->values` cast back is what it returns, NULL: out of memory.
double *append_block(const step_frame *frame, int32_t tree, int32_t count, stn_jacobian *J);
/// A row with one entry; false: out of memory.
bool append_unit_row(const assembly *a, stn_constraint *c, int32_t dof, double value);

/// Of the faces of a patch between two bodies, patch_rows.c.
typedef struct patch_pair {
    int32_t patch;              // whose faces these are, -1: of none
    int32_t count;              // blocks of every face
    int32_t tree[2], n[2];      // of each
    stn_vec3 center;            // where the twist is taken
    double *twist[2], *rows[2]; // (6 x n) of B before A: angular, linear; where the next face's go
    double mobility[36];        // twist A^-1 twist^T
} patch_pair;
bool make_patch_pair(const assembly *a, int32_t patch, patch_pair *pair); // false: out of memory
/// Jacobian and inverse masses of the pair's next face, whose point and frame are set.
void add_face_rows(patch_pair *pair, stn_constraint *c);

/// Replaces mu of a contact that has a static coefficient by what its slip speed makes it; J and bias are complete.
void apply_static_friction(const step_setup *setup, const step_frame *frame, const stn_contact *contact,
                           stn_constraint *c);
void say_static_friction_lost(const step_setup *setup, step_services *services,
                              const stn_contact *contact); // once a world

row_count joint_row_count(const step_setup *setup, const step_frame *frame);
bool add_joint_rows(const assembly *a); // false: out of memory

row_count attachment_row_count(const step_setup *setup);
bool add_attachment_rows(const assembly *a); // of nodes on bodies that forces move; false: out of memory

/// Contacts on the bodies of a plugin's constraint.
typedef struct constraint_contacts {
    int32_t count;
    stn_constraint_contact *list; // (count); normal forces are known when the contacts' rows are there
} constraint_contacts;
bool count_constraint_rows(const assembly *a, row_count *out);                   // false: out of memory
stn_status add_constraint_rows(const assembly *a, int32_t most, stn_error *err); // of plugins, after all others
void add_constraint_inputs(step_frame *frame); // into phi, by the R that inverse masses give
/// The blocks that constraint `i` emits for the frame's kinematics, without rows; how many, -1: failed. Until the next.
int32_t look_at_constraint(const assembly *a, int32_t i, const stn_row_block **blocks, stn_error *err);

#endif
