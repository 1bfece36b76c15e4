// SPDX-License-Identifier: Apache-2.0
// Scene files (DAE, glTF) in the library: the process that reads them, its answer, and the further files it read.
#ifndef STICTION_CORE_MESH_FILES_SCENE_H
#define STICTION_CORE_MESH_FILES_SCENE_H

#include <sys/types.h>

#include "geometry/mesh.h"
#include "mesh_files/wire.h"

/// A file that a mesh was made from beside its own: named relative to the folder of that.
typedef struct mesh_further {
    char *name;
    uint64_t hash[2], size; // of its content: XXH3, 128 bits
} mesh_further;

typedef struct mesh_further_list {
    stn_context *context;
    mesh_further *files;
    int32_t count;
} mesh_further_list;

void mesh_further_clear(mesh_further_list *list); ///< accepts a zeroed one and leaves one
/// Appends with a copy of the name, which needs no terminator. STN_ERR_ARGUMENT for names that are empty, absolute, too
/// long, or hold a zero byte.
stn_status mesh_further_add(mesh_further_list *list, const char *name, size_t length, const mesh_wire_file *file,
                            stn_error *err);

/// A scene to read: its bytes, and where it lies. Borrowed.
typedef struct mesh_scene_file {
    const char *path; // for messages
    mesh_scene_format format;
    const char *bytes;
    size_t size;
    const char *folder, *root; // canonical: what it names is sought in `folder`, and must lie below `root`
} mesh_scene_file;

/// What came of it. Zeroed, it holds nothing.
typedef struct mesh_scene {
    raw_mesh raw; // its arrays lie in `reply`
    mesh_further_list further;
    stn_context *context; // whose memory `reply` is
    unsigned char *reply;
    pid_t worker; // that has answered and is ending; 0: none
} mesh_scene;

/// Releases what is in it and leaves it zeroed; returns when the worker is gone.
void mesh_scene_clear(mesh_scene *scene);

/// Reads by a worker process of limited time, memory and rights. `out` is overwritten, and zeroed on failure.
/// STN_ERR_ARGUMENT: the file is at fault, or does not fit the limits; STN_ERR_FILE: there is no worker.
stn_status mesh_scene_read(stn_context *context, const mesh_scene_file *file, mesh_scene *out, stn_error *err);

/// The worker's answer in `scene->reply`, of `size` bytes that may be anything: every count is held against the bytes
/// that are there. Fills `raw` and `further`.
stn_status mesh_scene_parse(const char *path, size_t size, mesh_scene *scene, stn_error *err);

#endif
