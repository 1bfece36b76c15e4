// SPDX-License-Identifier: Apache-2.0
// The pressure of a patch as a picture.
#ifndef STICTION_LUA_PATCH_IMAGE_H
#define STICTION_LUA_PATCH_IMAGE_H

#include <stiction/recorder.h>

/// Where a picture of pressure is taken, as a touch sensor would: pixels in the xy plane of a frame, around its origin.
typedef struct patch_image {
    stn_pose pose;             // frame of the image -> world, at the step's start
    double extent_x, extent_y; // size of the image [m]
    int32_t width, height;     // pixels
} patch_image;
enum { PATCH_IMAGE_MAX = 4096 }; // pixels a side

/// Adds the pressure that acts in a patch to `pressure` (height x width, row-major) [Pa]. Row 0 has the largest y,
/// column 0 the smallest x. A face's force is spread over its polygon like the field at its corners (evenly where that
/// presses nowhere) and every pixel gets what lies above it, exactly: pressure x pixel area, summed over an image that
/// holds the whole patch, is the patch's normal force along z, except for faces that look the other way than the patch
/// does. Nothing is added for a patch that the step does not have. STN_ERR_ARGUMENT names what is wrong with the image.
stn_status patch_image_add(const stn_observation *observation, int32_t patch, const patch_image *image,
                           double *pressure, stn_error *err);

#endif
