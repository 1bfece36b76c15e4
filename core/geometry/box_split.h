// SPDX-License-Identifier: Apache-2.0
// How trees over boxes are divided: along the longest axis, by the middles of the boxes.
#ifndef STICTION_CORE_GEOMETRY_BOX_SPLIT_H
#define STICTION_CORE_GEOMETRY_BOX_SPLIT_H

#include <stiction/geometry.h>

/// Orders the `count` boxes that `order` names so that the first `left` of them are those whose middles lie lowest
/// along the axis on which the middles spread furthest. `key` (count): scratch. Which of equals come first is left
/// open.
void box_split(const stn_aabb *boxes, int32_t *order, float *key, int32_t count, int32_t left);

#endif
