// SPDX-License-Identifier: Apache-2.0
// Scene files (DAE, glTF) in the plugin: the process that reads them, and its answer.
#ifndef STICTION_PLUGINS_MESH_ASSIMP_SCENE_H
#define STICTION_PLUGINS_MESH_ASSIMP_SCENE_H

#include <stiction/mesh_file.h>

#include "wire.h"

/// What came of a file. Zeroed, it holds nothing.
typedef struct mesh_scene {
    stn_raw_mesh raw;     // its arrays lie in `reply`; names of further files are of the context
    stn_context *context; // whose memory `reply` is
    unsigned char *reply;
    int worker; // process that has answered and is ending; 0: none
} mesh_scene;

/// Releases what is in it and leaves it zeroed; returns when the worker is gone.
void mesh_scene_clear(mesh_scene *scene);

/// Reads by a worker process of limited time, memory and rights. `out` is overwritten, and zeroed on failure.
/// STN_ERR_ARGUMENT: the file is at fault, or does not fit the limits; STN_ERR_FILE: there is no worker.
stn_status mesh_scene_read(const stn_mesh_source *source, mesh_scene_format format, mesh_scene *out, stn_error *err);

/// The worker's answer in `scene->reply`, of `size` bytes that may be anything: every count is held against the bytes
/// that are there. Fills `raw`.
stn_status mesh_scene_parse(const char *path, size_t size, mesh_scene *scene, stn_error *err);

#endif
