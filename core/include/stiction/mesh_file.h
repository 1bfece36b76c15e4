// SPDX-License-Identifier: Apache-2.0
// Formats of mesh files: a plugin of kind "mesh" turns the bytes of a file into vertices and faces.
#ifndef STICTION_MESH_FILE_H
#define STICTION_MESH_FILE_H

#include <stiction/mesh.h>

#ifdef __cplusplus
extern "C" {
#endif

struct stn_mesh_source;
struct stn_mesh_data;

/// What a format does; plugin kind "mesh".
typedef struct stn_mesh_ops {
    uint32_t size; // sizeof of the struct as the plugin was compiled
    /// Lower case, NULL-terminated: "stl". REQUIRED.
    const char *const *extensions;
    /// OPTIONAL. Do these bytes leave no doubt that the file has this format? [any]
    bool (*recognises)(const char *bytes, size_t size);
    /// REQUIRED. Reads a file of any content. [setup]
    stn_status (*read)(void *self, const struct stn_mesh_source *source, struct stn_mesh_data *out, stn_error *err);
} stn_mesh_ops;

#ifdef __cplusplus
}
#endif
#endif
