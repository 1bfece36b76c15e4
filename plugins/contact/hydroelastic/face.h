// SPDX-License-Identifier: Apache-2.0
// Polygons of a contact surface, and from them to contacts of a patch.
#ifndef HYDROELASTIC_FACE_H
#define HYDROELASTIC_FACE_H

#include <stiction/contact.h>

#include "polygon.h"
#include "solid.h"

/// A linear pressure p(x) = offset + gradient . x [Pa].
typedef struct pressure {
    stn_vec3 gradient; // [Pa/m]
    double offset;     // [Pa]
} pressure;

static inline double pressure_at(const pressure *p, stn_vec3 x) {
    return stn_vec3_dot(p->gradient, x) + p->offset;
}

/// How much of a face counts and how stiff it is, from the slope of a field along the normal into it [Pa/m], of at most
/// `steepest` (the norm of its gradient): 1 while the pressure grows inwards or is even, 0 on the far side of something
/// thin.
double face_weight(double slope, double steepest);
/// What is nearly along the field's levels still needs a stiffness > 0 [Pa/m].
double face_slope(double slope, double steepest);

/// A face before it is a contact, in the frame that it is cut in.
typedef struct face {
    polygon cut;
    stn_vec3 normal, centre; // out of N into M
    pressure p;              // on it
    double area, g, weight;  // [m^2], slope [Pa/m], share of the area that counts
    double rise;             // slope of the fields themselves along the normal, 0 to g [Pa/m]
    stn_vec3 gain;           // pressure that it gains as N moves, seen from M [Pa/m]
    bool flat;               // both sides are flat there
    int32_t element_m, element_n;
} face;

/// Where the faces of a pair go. Everything is cut in the frame of one of the two shapes; M is the compliant one (the
/// first of two), N the other.
typedef struct face_sink {
    stn_pose frame; // X_WF of the shape whose frame it is cut in
    stn_arena *arena;
    face *faces; // (count) that are found
    int32_t count, capacity;
    double cap;         // pressure beyond which faces are not looked for [Pa]
    bool beyond;        // one reached it: the search has ended before its time
    bool no_memory;     // the same
    int64_t near;       // pairs of elements whose boxes meet so far, for measurements
    int64_t recalled;   // searches so far that asked no tree, for measurements
    int32_t *nearby[2]; // elements of M and of N next to the other one, room for `room` each
    int32_t room[2];
    struct near_memory *memory; // of near elements (near.h), NULL: none
    uint64_t pair;              // by which it knows M and N
} face_sink;

/// Room for `count` elements of M (0) or N (1), used again by the next search; NULL: out of memory.
int32_t *face_nearby(face_sink *sink, int32_t side, int32_t count);
/// Room for the next face, to be filled in except for area and centre; NULL: out of memory, the search must end.
face *face_next(face_sink *sink);
/// Keeps it unless nothing is left of it by tolerances of `size` [m]; false: the search must end.
bool face_keep(face_sink *sink, double size);
/// Forgets all faces.
void face_restart(face_sink *sink, double cap);

/// A small rigid motion of one of the two, seen from the other, in world axes: x moves by shift + turn x (x - centre).
typedef struct approach {
    stn_vec3 centre, shift, turn; // [m], [m], [rad]
} approach;

static inline stn_vec3 approach_of(const approach *m, stn_vec3 x) {
    return stn_vec3_add(m->shift, stn_vec3_cross(m->turn, stn_vec3_sub(x, m->centre)));
}

/// Set in element_n of the outer part.
enum { FACE_OUTER = 1 << 30 };
/// Cuts the faces of a margin's skirt along the rim, where p = 0, so that what is inside pushes by itself: as a whole a
/// face that reaches far into the skirt would not.
void face_split_all(face_sink *sink);

/// How faces become contacts at the step's start.
typedef struct face_use {
    const approach *ahead; // of the one that moves, as they were cut; NULL: where it is
    bool m_stays;          // the other one moves
    bool m_is_a;           // M is geometry a of the pair
    double margin;         // those that are further away are left out [m]
    // how finely a flat face is divided, for friction alone: force and torque of the pressure are exact in any case
    double error; // as in field_fineness
    double edge;  // wanted length [m]; infinite: any
} face_use;

/// Appends the faces to the set as contacts of a patch.
stn_status face_add_all(const face_sink *sink, const stn_model *model, const stn_contact_pair *pair,
                        const face_use *use, stn_contact_set *set, stn_error *err);

#endif
