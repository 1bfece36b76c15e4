// SPDX-License-Identifier: Apache-2.0
// Fewer, larger faces.
#ifndef HYDROELASTIC_MERGE_H
#define HYDROELASTIC_MERGE_H

#include "face.h"

/// Joins faces of one element of M. A face that was joined has, to rounding, the force, stiffness and area of all that
/// it was made of. Its polygon has their area within `bound`, its pressure at the centre is the field's within `bound`,
/// and its torque about any point is theirs within `bound` times its force times the diameter of the polygon. False:
/// out of memory.
bool faces_merge(face_sink *sink, double bound);

#endif
