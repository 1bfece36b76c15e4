// SPDX-License-Identifier: Apache-2.0
// Does a soft body fit into the memory of this machine? Asked before anything is made.
#ifndef STICTION_SOFT_ROOM_H
#define STICTION_SOFT_ROOM_H

#include <stiction/base.h>

/// STN_ERR_MEMORY with both figures where `count` elements of `nodes` nodes each (4: tetrahedra, 3: triangles of a
/// sheet, 2: segments of a line) need more memory, as a body of a world that is complete, than the machine has, or than
/// the process may have (RLIMIT_AS). What a step takes comes on top: what passes may still be too large.
stn_status soft_check_room(int32_t nodes, double count, stn_error *err);

#endif
