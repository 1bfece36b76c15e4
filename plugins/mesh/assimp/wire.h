// SPDX-License-Identifier: Apache-2.0
// What the plugin and its worker process stiction-mesh say to each other over one socket, in the machine's byte order.
//     request: mesh_wire_request, root, folder (no terminators), the bytes of the file; then the sending side closes
//     reply:   mesh_wire_reply, then either a text, or vertices, triangles and the further files that were read; then
//              the end of the stream
#ifndef STICTION_PLUGINS_MESH_ASSIMP_WIRE_H
#define STICTION_PLUGINS_MESH_ASSIMP_WIRE_H

#include <stiction/mesh_file.h>

enum {
    MESH_WIRE_VERSION = 1,
    MESH_WIRE_TEXT_MAX = 512, // bytes of an error text
};

#define MESH_WIRE_REQUEST "stnmesh?"
#define MESH_WIRE_REPLY   "stnmesh!"

typedef enum mesh_scene_format { MESH_SCENE_DAE = 1, MESH_SCENE_GLTF = 2, MESH_SCENE_GLB = 3 } mesh_scene_format;

typedef struct mesh_wire_request {
    char magic[8];
    uint32_t version, format;     // mesh_scene_format
    uint64_t size;                // of the file
    uint64_t memory, reply_bytes; // what the worker may use, and may say at most
    uint32_t seconds;             // of processor time
    uint32_t root_length, folder_length;
    uint32_t reserved; // 0
} mesh_wire_request;

typedef struct mesh_wire_reply {
    char magic[8];
    uint32_t version;
    uint32_t text_length; // > 0: it failed, a text of so many bytes follows and nothing else
    uint32_t vertex_count, triangle_count, instance_count, file_count;
    uint32_t up_axis; // 'x', 'y', 'z' or 0
    uint32_t reserved;
    double unit; // [m]; 0: the file does not say
    // double vertices[vertex_count][3]; int32_t triangles[triangle_count][3]; file_count times a mesh_wire_file and its
    // name
} mesh_wire_reply;

/// A further file that the scene names: as it was named, relative to the folder of the scene.
typedef struct mesh_wire_file {
    uint64_t hash[2], size; // XXH3, 128 bits; bytes
    uint32_t name_length, reserved;
} mesh_wire_file;

#endif
