// SPDX-License-Identifier: Apache-2.0
// What one step makes on its way from a state to the next: each stage fills its part and reads those before it. Arrays
// lie in the arena, which the next step resets, or were sized by compiling.
#ifndef STICTION_CORE_WORLD_FRAME_H
#define STICTION_CORE_WORLD_FRAME_H

#include <stiction/solve.h>
#include <stiction/world.h>

#include "world/state_view.h"

/// What holds a contact or a joint that sticks: a material point of A and one of B, in the bodies' frames (world, for
/// nodes), or the coordinate of a joint. A patch has one, in the place of its first face. Part of the state; see
/// anchor.c and patch_anchor.c.
typedef struct anchor {
    int32_t body[2];    // A, B; body_count + node: a frame; -1: points. Of a joint: its child, -1
    stn_vec3 point[2];  // [m]; of a joint: x of the first is its coordinate [m, rad]
    double limit;       // most that they hold apart [m, rad]; 0: nothing is held
    uint64_t patch;     // of a patch: its id; 0: of a point or a joint
    stn_vec3 across[2]; // of a patch: a direction along the surface, in either body's frame
} anchor;

/// Where a contact acts later in the step; `known` is false where it acts at the step's start.
typedef struct contact_middle {
    bool known;
    uint64_t id;     // of the contact
    stn_vec3 before; // the normal at the step's start, as the contact model gave it
    stn_vec3 point, normal, direction;
    stn_vec3 change; // of the contact velocity from there to the step's end, world [m/s]
} contact_middle;

/// An attached node in a step: prescribed_nodes.c, attachment_rows.c.
typedef struct attached_node {
    bool prescribed;    // its body moves by no force
    double place[7];    // of a prescribed one: its coordinates at the step's end
    double velocity[6]; // likewise: its velocities, as the problem has them
    double *row;        // likewise: its row of A as the integrator formed it, in the arena
    double known[6];    // likewise: free impulse + row times v_star
    int32_t constraint; // of others: that of the problem, -1: not there yet
    double impulse[6];  // on the node in this step, world [N s], [N m s]; after the solve
} attached_node;

/// Contacts of the trees that sleep, as the last step that had them in its problem made them: sleep.c. Behind them in
/// the same arrays lies what the step at hand has of its own, so that both are one problem for those who look at it.
enum { SLEEPERS_ROW_VECTORS = 7, SLEEPERS_MEMORIES = 3 };
typedef struct sleepers {
    bool known;                        // false: the state came from elsewhere
    bool changed;                      // since they were listed trees fell asleep, or woke
    bool cached;                       // the contact cache begins with their entries
    int32_t count, capacity;           // contacts, of three rows each; constraints that the arrays have room for
    stn_contact *contacts;             // (capacity)
    stn_constraint *constraints;       // (capacity)
    double *row[SLEEPERS_ROW_VECTORS]; // (6 capacity) of the problem's vectors
    double *gamma;                     // (6 capacity)
    double *stored;                    // (capacity) energy [J]
    void *memory[SLEEPERS_MEMORIES];   // (capacity) of law, solver and anchors
    stn_arena *arena, *spare;          // of the Jacobians; of the next ones
    double *v_star;                    // (nv) free velocities of trees that sleep
    double all_stored;                 // [J]
    int32_t deepest;                   // contact, -1: none
} sleepers;

typedef struct step_frame {
    double dt; // of the step at hand, or of the next one [s]
    stn_arena *arena;
    stn_step_place place; // a plugin whose call failed stays here, and stn_step_failed tells its file

    // kinematics, inputs
    bool kinematics_stale;
    uint64_t kinematics_number; // another one after every change of the kinematics
    stn_kinematics *kinematics, *scratch_kinematics;
    stn_spatial *kinematic_twist; // (kinematic_count) at the step's end, at the body's origin
    stn_forces forces;
    double *load; // (nv) [N] what elements that say load put into forces.tau; NULL: there are no elements

    // form
    stn_matrix *M, *A;       // (tree_count)
    stn_articulated *bodies; // (tree_count) of large trees, with their motion at the step's start; n = 0
    double *M_values, *A_values, *body_values; // of all of them
    double force_theta, force_theta_vq;        // of the integrator, see stn_formed
    double contact_theta;                      // likewise
    double relaxation_time;                    // likewise
    double reach;                              // likewise
    bool carries, exact_contacts;              // likewise
    const char *singular_by;                   // likewise
    const stn_bias_rule *bias_rule;            // (tree_count) of the last step, in the arena
    bool formed_loosely;                       // the integrator did not converge

    attached_node *attached; // (attachment_count), in the arena

    // collide
    stn_pose *geometry_pose;    // (geometry_count)
    stn_aabb *collider_box;     // (collider_count)
    double *v_promised;         // (nv) the larger one of v_star and where motors that are rows are told to go
    stn_spatial *star_velocity; // (body_count) spatial velocity under v_promised
    bool has_belts;             // does any collider's surface move by itself in this step?
    stn_contact_set contacts;
    contact_middle *middle; // (contacts.count), in the arena; NULL: contacts act at the step's start

    // assemble
    stn_problem problem;
    bool assembled;           // the problem is complete
    double *constraint_drive; // of plugins' rows: rates by kinematic bodies at the step's start, in the arena
    double *constraint_input; // impulses of inputs of these rows, likewise
    double constraint_work;   // [J] of inputs at the step's start
    bool constraint_told;     // has any row an input, or a rate by kinematic bodies?
    struct constraint_contacts *constraint_contacts; // (constraint_count), in the arena; NULL: none reads contacts
    int32_t constraint_first;                        // constraint of the problem with which those of plugins begin
    int32_t *constraint_block;                       // (constraint_count + 1) where those of each begin, in the arena
    void *law_memory, *solver_memory;                // (constraints x bytes), in the arena
    anchor *anchors;                                 // (constraints), in the arena; NULL without stiction

    // solve
    stn_solution solution;
    double *reaction; // (nv) on nodes whose motion is known, in the arena; NULL: the rows of A tell it
    stn_certificate certificate;
    stn_step_report report;

    // advance
    double *q_next, *v_next;
    unsigned char *controller_next, *integrator_next;

    // sleep; sized by compiling where trees may sleep
    bool *asleep;         // (tree_count) this step leaves it out
    int32_t asleep_count; // trees
    stn_tree_sleep *sleep_next;
    sleepers sleepers;
    bool still; // the next step changes nothing but time, unless an input comes first
    bool told;  // an input came since the last step

    uint64_t *touched; // (touched_count) pairs of links that touched in the step before, in the arena
    int32_t touched_count;
} step_frame;

#endif
