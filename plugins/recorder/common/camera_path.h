// SPDX-License-Identifier: Apache-2.0
// Where the camera of a world (stn_camera) is in each step, the same for all recorders that draw.
//
// It looks at the middle m of a box with half edges h around what it follows, from the direction
//   b = (cos E cos A, cos E sin A, sin E)          azimuth A, elevation E
// at the distance that was asked for, or at the closest one from which all corners of the box are in the picture:
//   d = max over corners c = (+-h_x, +-h_y, +-h_z) of  c . b + max(|c . right| / t_h, |c . up| / t_v)
// with the tangents t_h, t_v of half the angles of the picture, less a margin of a twelfth.
// m and h go after the box with the time constant T of the camera: x <- x + (1 - exp(-dt/T)) (box - x). A camera that
// takes `seconds` to arrive blends all of its numbers with those of the moment in which it was placed, by
// s^2 (3 - 2s) of the part s of that time.
#ifndef RECORDER_CAMERA_PATH_H
#define RECORDER_CAMERA_PATH_H

#include <stiction/plugin.h>

/// What a picture is taken with. Lengths [m], angles [rad], world frame.
typedef struct camera_shot {
    stn_vec3 middle, half; // of the box that is to be seen
    double azimuth, elevation, field_of_view;
    double distance,
        fitted; // the part `fitted` (0 to 1) of the distance from which the box is seen, the rest of `distance`
} camera_shot;

typedef struct camera_path {
    int32_t number;         // of the camera of the world, 0: none so far
    double begun, time;     // when it was placed; of the last shot
    camera_shot from, goal; // as it was then; where it goes
    camera_shot shot;       // now
} camera_path;

/// The shot of an observed step, in path->shot; false: nobody placed a camera.
bool camera_path_take(camera_path *path, const stn_observation *o);
/// How far from its middle a shot is taken, in a picture `aspect` times as wide as high.
double camera_shot_distance(const camera_shot *shot, double aspect);
/// Does a body belong to something that stands on nothing: a tree whose root floats?
bool camera_body_is_free(const stn_model *model, int32_t body);

#endif
