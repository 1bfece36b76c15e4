// SPDX-License-Identifier: Apache-2.0
// Reads a recording as docs/recording.md describes it: what recorder/html wrote is judged by another's decoder.
// Whatever is not as described fails the test.
#ifndef HTML_DECODE_H
#define HTML_DECODE_H

#include <cjson/cJSON.h>

#include "stn_test.h"

typedef struct decoded_face decoded_face;

typedef struct decoded_contact {
    int32_t geometry_a, geometry_b, linked;                           // linked: index in the frame before, -1: new
    double point[3], normal[3], force[3], gap, slip_speed, glide_gap; // glide_gap: 0 unless it slips
    int32_t state;
    const decoded_face *face; // NULL: none
} decoded_contact;

struct decoded_face {
    int32_t corner_count;
    double (*corner)[3];
    int32_t *pressure_number;
    const decoded_contact *of;
    float *pressure;
};

typedef struct decoded_patch {
    int32_t geometry_a, geometry_b, first_contact, face_count;
    decoded_face *faces;
} decoded_patch;

typedef struct decoded_line {
    bool slack;
    double force;
    int32_t point_count;
    double (*point)[3];
} decoded_line;

typedef struct decoded_frame {
    int64_t step;
    double time;
    double *body;  // (13 x bodies but the world)
    double *node;  // (3 x nodes)
    double *turn;  // (4 x nodes that turn) w x y z
    double *value; // (colored_count) of nodes that colours stand for
    int32_t contact_count, patch_count;
    decoded_contact *contacts;
    decoded_patch *patches;
    decoded_line *lines; // (constraint_count)
} decoded_frame;

typedef struct decoded_series {
    char *name, *unit;
    float *values; // (point_count), NaN before its first block
} decoded_series;

typedef struct decoded_mesh {
    int32_t vertex_count, triangle_count;
    double *vertices; // (3 x vertex_count)
    int32_t *triangles;
} decoded_mesh;

typedef struct decoded {
    struct decoded *next;                                               // that was read before
    cJSON *scene, *end;                                                 // end: NULL without
    double length, rotation, velocity, angular_velocity, force, normal; // units
    int32_t body_count, node_count, constraint_count, turning_count, colored_count;
    decoded_mesh meshes[16];
    int32_t mesh_count;
    decoded_frame *frames;
    int32_t frame_count, frame_blocks;
    double value_unit; // of colours, of the last block
    int64_t *step;
    double *time;
    int32_t point_count, series_count;
    decoded_series *series;
    bool cut; // the last block was not whole
    size_t size, viewer_size;
} decoded;

/// All of it lives until forget_recordings.
decoded *decode_recording(const char *path);
void forget_recordings(void);
const decoded_series *find_series(const decoded *d, const char *name);

#endif
