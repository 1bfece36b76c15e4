// SPDX-License-Identifier: Apache-2.0
// Mesh files: which format, what was read before, which reader.
#define _GNU_SOURCE // memmem
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <xxhash.h>

#include "base/read_regular.h"
#include "mesh_files/cache.h"
#include "mesh_files/reader.h"

typedef enum mesh_format {
    FORMAT_OBJ,
    FORMAT_STL,
    FORMAT_VTK,
    FORMAT_MSH,
    FORMAT_DAE,
    FORMAT_GLTF,
    FORMAT_GLB
} mesh_format;

static const char *const endings[] = {".obj", ".stl", ".vtk", ".msh", ".dae", ".gltf", ".glb"};

typedef stn_status (*reader)(stn_context *context, const char *path, const char *bytes, size_t size, raw_mesh *out,
                             stn_error *err);

/// One file on its way to a mesh.
typedef struct loading {
    stn_context *context;
    const stn_mesh_request *request;
    char *bytes;
    size_t size;
    mesh_format format;
    char folder[PATH_MAX], root[PATH_MAX];
    mesh_key key;
} loading;

static bool format_of_name(const char *path, mesh_format *format) {
    const char *dot = strrchr(path, '.');
    for (int32_t i = 0; dot != NULL && i < STN_COUNT(endings); i++) {
        if (strcasecmp(dot, endings[i]) == 0) {
            *format = (mesh_format)i;
            return true;
        }
    }
    return false;
}

static bool begins_with(const char *bytes, size_t size, const char *text) {
    size_t length = strlen(text);
    return size >= length && memcmp(bytes, text, length) == 0;
}

static bool is_binary_stl(const char *bytes, size_t size) {
    uint32_t count;
    if (size < 84 + 50) {
        return false;
    }
    memcpy(&count, bytes + 80, sizeof count); // little endian, as the machines are that this runs on
    return (uint64_t)size == 84 + 50 * (uint64_t)count;
}

static bool is_collada(const char *bytes, size_t size) {
    size_t head = size < 4096 ? size : 4096, i = begins_with(bytes, size, "\xEF\xBB\xBF") ? 3 : 0;
    while (i < head && strchr(" \t\r\n", bytes[i]) != NULL && bytes[i] != '\0') {
        i++;
    }
    return i < head && bytes[i] == '<' && memmem(bytes, head, "<COLLADA", 8) != NULL;
}

/// The content where it leaves no doubt, else the name.
static mesh_format format_of_content(const char *bytes, size_t size, mesh_format named) {
    if (begins_with(bytes, size, "glTF")) {
        return FORMAT_GLB;
    }
    if (begins_with(bytes, size, "# vtk DataFile")) {
        return FORMAT_VTK;
    }
    if (begins_with(bytes, size, "$MeshFormat")) {
        return FORMAT_MSH;
    }
    if (is_collada(bytes, size)) {
        return FORMAT_DAE;
    }
    if (is_binary_stl(bytes, size)) {
        return FORMAT_STL;
    }
    return named == FORMAT_GLB ? FORMAT_GLTF : named; // a GLB would have said so
}

static stn_status check_request(const stn_mesh_request *request, mesh_format *named, stn_error *err) {
    if (request->path == NULL || request->path[0] == '\0') {
        return stn_fail(err, STN_ERR_ARGUMENT, "mesh: no path is given");
    }
    const double s[3] = {request->scale.x, request->scale.y, request->scale.z};
    for (int i = 0; i < 3; i++) {
        if (!isfinite(s[i]) || s[i] == 0.0) {
            return stn_fail(err, STN_ERR_ARGUMENT, "%s: scale (%g, %g, %g) must be finite and not 0", request->path,
                            s[0], s[1], s[2]);
        }
    }
    if (!format_of_name(request->path, named)) {
        return stn_fail(err, STN_ERR_ARGUMENT,
                        "%s: not the name of a mesh; supported are .obj .stl .vtk .msh .dae .gltf .glb", request->path);
    }
    return STN_OK;
}

/// The folder where further files are sought, and the one they must lie below. Links are followed first.
static stn_status find_place(loading *l, stn_error *err) {
    const char *path = l->request->path, *root = l->request->root;
    if (realpath(path, l->folder) == NULL) {
        return stn_fail(err, STN_ERR_FILE, "%s: cannot be read: %s", path, strerror(errno));
    }
    char *slash = strrchr(l->folder, '/');
    slash[slash == l->folder] = '\0';
    if (root == NULL) {
        memcpy(l->root, l->folder, sizeof l->root);
    } else if (realpath(root, l->root) == NULL) {
        return stn_fail(err, STN_ERR_FILE, "%s: its root folder %s cannot be found: %s", path, root, strerror(errno));
    }
    return STN_OK;
}

static void make_key(loading *l) {
    XXH128_hash_t hash = XXH3_128bits(l->bytes, l->size);
    l->key = (mesh_key){{hash.low64, hash.high64},
                        l->size,
                        {l->request->scale.x, l->request->scale.y, l->request->scale.z},
                        (uint32_t)l->format,
                        l->request->convex};
}

static stn_status read_raw(const loading *l, mesh_scene *scene, stn_error *err) {
    static const reader readers[] = {mesh_read_obj, mesh_read_stl, mesh_read_vtk, mesh_read_msh};
    static const mesh_scene_format scenes[] = {MESH_SCENE_DAE, MESH_SCENE_GLTF, MESH_SCENE_GLB};
    if (l->format < FORMAT_DAE) {
        return readers[l->format](l->context, l->request->path, l->bytes, l->size, &scene->raw, err);
    }
    mesh_scene_file file = {.path = l->request->path,
                            .format = scenes[l->format - FORMAT_DAE],
                            .bytes = l->bytes,
                            .size = l->size,
                            .folder = l->folder,
                            .root = l->root};
    return mesh_scene_read(l->context, &file, scene, err);
}

/// A mesh made from `*mesh` takes its place; on failure there is none.
static void replace(stn_mesh **mesh, stn_mesh *next) {
    stn_mesh_release(*mesh);
    *mesh = next;
}

/// From raw numbers to the mesh that was asked for.
static stn_status finish(const loading *l, const raw_mesh *raw, stn_mesh **out, stn_error *err) {
    const stn_vec3 scale = l->request->scale;
    stn_mesh *next = NULL;
    stn_status status = mesh_from_raw(l->context, raw, out, err);
    if (status == STN_OK && !(scale.x == 1.0 && scale.y == 1.0 && scale.z == 1.0)) {
        status = stn_mesh_create_scaled(*out, scale, &next, err);
        replace(out, next);
    }
    if (status == STN_OK && l->request->convex) {
        status = stn_mesh_create_hull(*out, &next, err);
        replace(out, next);
    }
    if (status != STN_OK) {
        stn_error_prefix(err, "%s", l->request->path);
    }
    return status;
}

static stn_status read_mesh(loading *l, const stn_mesh **out, stn_error *err) {
    mesh_scene scene = {0};
    stn_mesh *mesh = NULL;
    stn_status status = read_raw(l, &scene, err);
    stn_release(l->context, l->bytes); // not needed beside what comes now
    l->bytes = NULL;
    if (status == STN_OK) {
        status = finish(l, &scene.raw, &mesh, err);
    }
    if (status == STN_OK) {
        *out = mesh_cache_add(l->context, &l->key, mesh, &scene.further);
    }
    mesh_scene_clear(&scene);
    return status;
}

stn_status stn_mesh_load(stn_context *context, const stn_mesh_request *request, const stn_mesh **out, stn_error *err) {
    mesh_format named = FORMAT_OBJ;
    *out = NULL;
    stn_status status = check_request(request, &named, err);
    if (status != STN_OK) {
        return status;
    }
    loading *l = stn_allocate(context, 1, sizeof *l);
    if (l == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "%s: out of memory", request->path);
    }
    l->context = context;
    l->request = request;
    status = stn_read_regular(context, request->path, 0, MESH_WIRE_FILE_MAX, &l->bytes, &l->size, err);
    if (status == STN_OK) {
        status = find_place(l, err);
    }
    if (status == STN_OK) {
        l->format = format_of_content(l->bytes, l->size, named);
        make_key(l);
        const mesh_place place = {l->folder, l->root};
        *out = mesh_cache_find(context, &l->key, &place);
        status = *out != NULL ? STN_OK : read_mesh(l, out, err);
    }
    stn_release(context, l->bytes);
    stn_release(context, l);
    return status;
}
