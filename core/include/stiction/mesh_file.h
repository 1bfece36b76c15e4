// SPDX-License-Identifier: Apache-2.0
// Formats of mesh files: a plugin of kind "mesh" turns the bytes of a file into vertices and faces. What becomes of
// them (scale, hull, facts, cache): stn_mesh_load in mesh.h.
#ifndef STICTION_MESH_FILE_H
#define STICTION_MESH_FILE_H

#include <stiction/mesh.h>

STN_BEGIN_C

/// Vertices, triangles or tetrahedra that one mesh may have: three or four times as many still count in an int32_t.
enum { STN_MESH_COUNT_MAX = INT32_MAX / 4 };
/// Bytes of one file, and of all further files of a scene together: 256 MiB.
enum { STN_MESH_FILE_MAX = 1 << 28 };
/// Further files of one scene, and bytes of a path with its end.
enum { STN_MESH_FURTHER_MAX = 64, STN_MESH_PATH_MAX = 4096 };

/// A file that is to be read; all borrowed for the call.
typedef struct stn_mesh_source {
    stn_context *context; // that the arrays are to be allocated from
    const char *path;     // as the user gave it, for messages
    const char *bytes;    // (size) of any content; a zero byte follows
    size_t size;          // at most STN_MESH_FILE_MAX
    /// Canonical folders (realpath): the file's own, in which names of further files are sought, and the one below
    /// which those must lie.
    const char *folder, *root;
} stn_mesh_source;

/// A file that a mesh was made from beside its own. The mesh is found again only while it is the same.
typedef struct stn_mesh_further {
    char *name;             // relative to the folder of the mesh file; neither empty nor absolute
    uint64_t hash[2], size; // of the bytes that were read: XXH3 of 128 bits, low word first
} stn_mesh_further;

/// What a format found: the numbers of the file, neither scaled nor joined. Zeroed, it is empty and says nothing. Grows
/// at the tail only.
typedef struct stn_raw_mesh {
    int32_t vertex_count, triangle_count, tetrahedron_count; // at most STN_MESH_COUNT_MAX each
    double *vertices;                                        // (vertex_count x 3) in `unit`
    int32_t *triangles;                                      // (triangle_count x 3), polygons as fans
    int32_t *tetrahedra;       // (tetrahedron_count x 4), of either orientation; NULL: a surface
    double *extents;           // (vertex_count) of a solid, as in stn_mesh; NULL: the file has no such field
    int32_t curved_count;      // elements of higher order of which the corners alone were read
    double unit;               // [m] of one length in the file; 0 or 1: the file does not say
    char up_axis;              // 'x', 'y' or 'z'; 0: the file does not say
    int32_t instance_count;    // placements of parts in a scene file; 0 or 1 for others
    int32_t further_count;     // at most STN_MESH_FURTHER_MAX
    stn_mesh_further *further; // (further_count)
    void *owner;               // for `release`; nobody else looks at it
} stn_raw_mesh;

/// What a format does; plugin kind "mesh".
typedef struct stn_mesh_ops {
    uint32_t size; // sizeof of the struct as the plugin was compiled
    /// Lower case, without the dot, NULL-terminated: "stl". REQUIRED. A file is looked at only when some plugin lists
    /// the ending of its name.
    const char *const *extensions;
    /// OPTIONAL. Do these bytes, a whole file, leave no doubt that it has this format? Then its ending does not count.
    /// Without it a file is of this format by its ending alone. [any]
    bool (*recognises)(const char *bytes, size_t size);
    /// REQUIRED. Reads a file of any content; `out` is zeroed. STN_ERR_ARGUMENT "path:line: what is wrong" or
    /// "path: what is wrong" for a bad file, then `out` holds nothing. The same bytes give the same mesh: it is kept
    /// across processes under the bytes of file, plugin and `build`, but in its context alone where descriptor or
    /// function were made at run time. Who calls checks counts, indices and numbers. [setup]
    stn_status (*read)(void *self, const stn_mesh_source *source, stn_raw_mesh *out, stn_error *err);
    /// OPTIONAL. Gives back what `read` handed over, once the mesh is made. Without it the caller releases the arrays,
    /// the names of further files and their list with stn_release. [setup]
    void (*release)(void *self, stn_context *context, stn_raw_mesh *raw);
    /// OPTIONAL. A text that changes with everything beside the plugin's own file that a mesh depends on, such as the
    /// program that it runs; NULL: nothing.
    const char *build;
    /// OPTIONAL. A small file of the format, for `stiction validate`: (example_size) bytes.
    const char *example;
    size_t example_size; // [bytes] of it
} stn_mesh_ops;

/// Could an extent stand in a file? From 0 to 1, but for what single precision leaves of that.
static inline bool stn_mesh_extent_in_range(double extent) {
    return extent >= -1e-6 && extent <= 1.0 + 1e-6;
}

STN_END_C
#endif
