// SPDX-License-Identifier: Apache-2.0
// Fewer, larger faces.
#ifndef HYDROELASTIC_MERGE_H
#define HYDROELASTIC_MERGE_H

#include "face.h"

/// Joins faces of one element of M whose normals [rad] and slopes (relative) differ by less than `bound`; polygons
/// become their hulls. The force of the patch changes by at most `bound` of itself. False: out of memory.
bool faces_merge(face_sink *sink, double bound);

#endif
