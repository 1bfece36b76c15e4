// SPDX-License-Identifier: Apache-2.0
// Meshes that were made before, found again by the content of their files: in the context, and in a folder.
#ifndef STICTION_MESH_MAKER_CACHE_H
#define STICTION_MESH_MAKER_CACHE_H

#include <stiction/plugin.h>

#include "raw_mesh.h"

/// Files that a mesh was made from beside its own.
typedef struct mesh_further_list {
    stn_context *context;
    stn_mesh_further *files;
    int32_t count;
} mesh_further_list;

void mesh_further_clear(mesh_further_list *list); ///< accepts a zeroed one and leaves one
/// Appends with a copy of the name, of `length` bytes. STN_ERR_ARGUMENT for names that are empty, absolute, too long,
/// or hold a zero byte, and for more than STN_MESH_FURTHER_MAX; STN_ERR_MEMORY.
stn_status mesh_further_add(mesh_further_list *list, const char *name, size_t length, const uint64_t hash[2],
                            uint64_t size, stn_error *err);

/// What a finished mesh depends on, beside the further files of a scene. Without padding: compared and hashed as bytes.
typedef struct mesh_key {
    uint64_t hash[2], size; // of the file: XXH3, 128 bits, which finds but does not protect from forgery
    double scale[3];
    uint64_t plugin; // that reads it: mesh_key_set_plugin
    uint64_t convex;
    uint64_t unknown_code; // 1: the plugin was made at run time, so nothing tells it from another one of its name
                           // elsewhere: its meshes stay in the context, where names are unique
} mesh_key;

/// Where the further files of a scene are looked for; canonical folders.
typedef struct mesh_place {
    const char *folder, *root;
} mesh_place;

/// Sets `plugin` and `unknown_code`. A plugin is looked at once a context. Thread: [any].
void mesh_key_set_plugin(mesh_key *key, stn_context *context, const stn_plugin_info *plugin);

/// The mesh of `key`, kept for the caller; NULL when neither the context nor the folder has it, or when it came from
/// further files that have changed. Never fails: what is unreadable or damaged is not there. Thread: [any].
const stn_mesh *mesh_cache_find(stn_context *context, const mesh_key *key, const mesh_place *place);
/// Remembers a new mesh in both, and takes over the caller's reference; returns the mesh to use, which is an earlier
/// one when another thread was faster. `further` is emptied. Never fails: what cannot be remembered is not. Thread:
/// [any].
const stn_mesh *mesh_cache_add(stn_context *context, const mesh_key *key, const stn_mesh *mesh,
                               mesh_further_list *further);

/// The bytes of one entry of the folder. `bytes` is made and NULL when out of memory.
void mesh_entry_encode(stn_context *context, const mesh_key *key, const stn_mesh *mesh,
                       const mesh_further_list *further, char **bytes, size_t *size);
/// Takes apart what may be damaged. STN_ERR_ARGUMENT names what is wrong, for the debug log.
stn_status mesh_entry_decode(stn_context *context, const mesh_key *key, const char *bytes, size_t size, stn_mesh **mesh,
                             mesh_further_list *further, stn_error *err);
/// Writes what makes the bytes an entry of this key: magic, version, size, checksum. Fewer than a header stay as they
/// are.
void mesh_entry_seal(const mesh_key *key, char *bytes, size_t size);

#endif
