// SPDX-License-Identifier: Apache-2.0
// How far two shapes close within a step.
//
// Faces that are cut where the shapes stand at the step's start miss what closes within the step: at 10 ms and 1 m/s a
// body is a centimetre deep before its first face pushes, and what that stores came from nowhere. So shapes that close
// are cut closed up, where their velocities take them by the step's end, and each face goes back
// by the way it came, with the pressure that it had before. With phi0 = -p / g its pressure g (phi0 + dt v_n) is that
// of the fields at the end of the step, whatever velocity comes out; one that does not close pushes nothing. That is
// backward Euler in the geometry too, which takes energy from a potential and never adds any, while forces at rest stay
// what they are.
#ifndef HYDROELASTIC_APPROACH_H
#define HYDROELASTIC_APPROACH_H

#include <stiction/contact.h>

#include "meet.h"

/// Two shapes as the step begins. One stays where it is, the other one is moved: `pair` has the velocities of this one
/// seen from that one, whichever of them is geometry a of the model's pair.
typedef struct approaching {
    const stn_contact_pair *pair;
    double dt; // [s]
    const posed *still, *moving;
    bool m_is_still, touch; // touch: faces with pressure
} approaching;

/// What moves, moved.
stn_pose approach_moved(const approach *m, const stn_pose *b);
/// Has one of the faces pressure?
bool approach_touches(const face_sink *faces);
/// The whole motion within the step, as it is or, when they do not touch yet, as it becomes freely;
/// false when no point of the two closes by more than next to nothing.
bool approach_whole(const approaching *pair, approach *out);
/// Its closing part, from the faces of the two where they stand, or where the whole motion takes the one that moves
/// when they do not touch yet: along their mean normal and about axes across it; and what touches on one side alone
/// tips as far as it takes a corner down. Motion along the surface stays out of it: it would take the moment arms of
/// forces along. Cut at half of the lesser depth, beyond which something thin would be passed through: faster needs
/// smaller steps. False when nothing closes.
bool approach_closing(const approaching *pair, const face_sink *faces, approach *out);
/// The sides of a solid that is pressed in lie along the levels of its field: their pressure does not tell that they
/// are outside before the step, and they would push what has left. Such faces get the slope that takes them from the
/// pressure that the fields have there at the step's start to the one that they are cut with, `ahead`.
void approach_settle(const approaching *pair, face_sink *faces, const approach *ahead);
#endif
