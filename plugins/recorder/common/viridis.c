// SPDX-License-Identifier: Apache-2.0
#include <math.h>

#include "node_values.h"

void viridis(double part, float srgb[3]) {
    static const uint8_t map[9][3] = {{68, 1, 84},    {71, 45, 123}, {59, 82, 139},  {44, 114, 142}, {33, 145, 140},
                                      {40, 174, 128}, {94, 201, 98}, {173, 220, 48}, {253, 231, 37}};
    double at = 8.0 * (part > 0.0 ? fmin(part, 1.0) : 0.0);
    int32_t low = at < 8.0 ? (int32_t)at : 7;
    for (int32_t k = 0; k < 3; k++) {
        srgb[k] = (float)((map[low][k] + (at - low) * (map[low + 1][k] - map[low][k])) / 255.0);
    }
}
