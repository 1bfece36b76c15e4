// SPDX-License-Identifier: Apache-2.0
// The parts of stiction-mesh: files for assimp, scenes as triangles, bytes to the library.
#ifndef STICTION_PLUGINS_MESH_ASSIMP_WORKER_WORKER_H
#define STICTION_PLUGINS_MESH_ASSIMP_WORKER_WORKER_H

#include <stdbool.h>
#include <stddef.h>

#include <assimp/cfileio.h>
#include <assimp/scene.h>

#include <stiction/worker.h>

#include "wire.h"

/// A file that assimp may read: the scene itself, or one that it names.
typedef struct source {
    char name[STN_MESH_PATH_MAX];
    unsigned char *bytes;
    size_t size;
    uint64_t hash[2];
} source;

/// What assimp sees as its file system: the scene under `scene.name`, and files below `root`.
typedef struct file_set {
    const char *root, *folder;
    source scene;
    source *further; // of STN_MESH_FURTHER_MAX places
    uint32_t further_count;
    size_t further_bytes;
    char refusal[MESH_WIRE_TEXT_MAX]; // why the last file was not opened; empty when none was refused
} file_set;

void file_set_face(file_set *files, struct aiFileIO *face);

/// Buffered writing to the channel. A library that has gone away ends the process.
void channel_write(const void *bytes, size_t size);
void channel_flush(void);
/// Says that it failed and why, and ends the process. Letters that are not printable ASCII become '?'.
_Noreturn void channel_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/// Writes the whole reply: every placement of every triangle, node transformations applied.
void scene_reply(const struct aiScene *scene, mesh_scene_format format, const file_set *files, uint64_t reply_bytes);

#endif
