// SPDX-License-Identifier: Apache-2.0
// Shapes from bytes. Of a mesh:
//
// how vertices are read (small whole numbers meet, lie in planes and on lines; doubles are anything), how many,
// vertices, extents of tetrahedra if asked for, then corners of triangles or tetrahedra.
#ifndef STN_FUZZ_MESH_INPUT_H
#define STN_FUZZ_MESH_INPUT_H

#include <math.h>
#include <string.h>

#include <stiction/mesh.h>

enum { MAX_VERTICES = 200, MAX_CORNERS = 1200 };

typedef struct input {
    const uint8_t *data;
    size_t size;
    double vertices[3 * MAX_VERTICES], extents[MAX_VERTICES];
    int32_t corners[MAX_CORNERS];
} input;

static inline void input_begin(input *in, const uint8_t *data, size_t size) {
    in->data = data;
    in->size = size;
}

static inline uint8_t next_byte(input *in) {
    if (in->size == 0) {
        return 0;
    }
    in->size--;
    return *in->data++;
}

static inline double next_coordinate(input *in, uint8_t mode) {
    double x = 0.0;
    if ((mode & 3) == 0 && in->size >= sizeof x) {
        memcpy(&x, in->data, sizeof x);
        in->data += sizeof x;
        in->size -= sizeof x;
        return x;
    }
    x = (double)(int8_t)next_byte(in);
    return (mode & 3) == 1 ? x / 16.0 : (mode & 3) == 2 ? x / 10.0 : (double)((float)x * 0.1F); // rounded three ways
}

static inline stn_mesh_data input_mesh(input *in) {
    uint8_t mode = next_byte(in);
    int32_t vertices = next_byte(in) % MAX_VERTICES, width = (mode & 4) != 0 ? 4 : 3, corners = 0;
    for (int32_t i = 0; i < 3 * vertices; i++) {
        in->vertices[i] = next_coordinate(in, mode);
    }
    for (int32_t i = 0; i < vertices && (mode & 16) != 0; i++) {
        int32_t byte = next_byte(in);
        in->extents[i] = byte == 255 ? (double)NAN : byte / 200.0;
    }
    while (in->size > 0 && corners < MAX_CORNERS) {
        in->corners[corners++] = (int32_t)next_byte(in) - ((mode & 8) != 0 ? 1 : 0);
    }
    stn_mesh_data mesh_data = {.vertex_count = vertices, .vertices = in->vertices};
    mesh_data.triangle_count = width == 3 ? corners / 3 : 0;
    mesh_data.triangles = in->corners;
    mesh_data.tetrahedron_count = width == 4 ? corners / 4 : 0;
    mesh_data.tetrahedra = in->corners;
    mesh_data.extents = (mode & 16) != 0 ? in->extents : NULL;
    return mesh_data;
}

#endif
