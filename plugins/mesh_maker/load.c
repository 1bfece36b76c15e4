// SPDX-License-Identifier: Apache-2.0
// Mesh files: which plugin reads one, what was read before, and what is made of the plugin's numbers.
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <xxhash.h>

#include <stiction/input.h>
#include <stiction/model.h>
#include <stiction/plugin.h>

#include "cache.h"

/// The mesh plugins of a context, by id.
typedef struct formats {
    const stn_plugin_info *plugins;
    int32_t count;
} formats;

/// One file on its way to a mesh.
typedef struct loading {
    stn_context *context;
    const stn_mesh_request *request;
    char *bytes;
    size_t size;
    const stn_plugin_info *format;
    char folder[PATH_MAX], root[PATH_MAX];
    mesh_key key;
} loading;

// ------------------------------------------------------------------------------------------------------ which plugin

static bool lists_ending(const stn_mesh_ops *ops, const char *path) {
    const char *dot = strrchr(path, '.');
    for (const char *const *e = ops->extensions; dot != NULL && *e != NULL; e++) {
        if (strcasecmp(dot + 1, *e) == 0) {
            return true;
        }
    }
    return false;
}

/// The one that the ending of the name asks for, NULL without.
static const stn_plugin_info *format_of_name(const formats *f, const char *path) {
    for (int32_t i = 0; i < f->count; i++) {
        if (lists_ending(f->plugins[i].desc->ops.mesh, path)) {
            return &f->plugins[i];
        }
    }
    return NULL;
}

/// The content where it leaves no doubt, else the name. Where two recognise the content, the name decides between them.
static const stn_plugin_info *format_of_content(const formats *f, const loading *l) {
    const stn_plugin_info *found = NULL;
    for (int32_t i = 0; i < f->count; i++) {
        const stn_mesh_ops *ops = f->plugins[i].desc->ops.mesh;
        if (!STN_PLUGIN_HAS(ops, recognises) || !ops->recognises(l->bytes, l->size)) {
            continue;
        }
        if (lists_ending(ops, l->request->path)) {
            return &f->plugins[i];
        }
        found = found == NULL ? &f->plugins[i] : found;
    }
    return found != NULL ? found : format_of_name(f, l->request->path);
}

static stn_status refuse_name(const formats *f, const char *path, stn_error *err) {
    char known[400] = "";
    for (int32_t i = 0; i < f->count; i++) {
        for (const char *const *e = f->plugins[i].desc->ops.mesh->extensions; *e != NULL; e++) {
            stn_text_append(known, sizeof known, " .%s", *e);
        }
    }
    return stn_fail(err, STN_ERR_ARGUMENT, "%s: not the name of a mesh; supported are%s", path,
                    known[0] != '\0' ? known : " none: no plugin of kind mesh is installed");
}

// ------------------------------------------------------------------------------------------------------------ reading

/// A mesh made from `*mesh` takes its place; on failure there is none.
static void replace(stn_mesh **mesh, stn_mesh *next) {
    stn_mesh_release(*mesh);
    *mesh = next;
}

/// From raw numbers to the mesh that was asked for.
static stn_status finish(const loading *l, const stn_raw_mesh *given, stn_mesh **out, stn_error *err) {
    const stn_vec3 scale = l->request->scale;
    const raw_mesh raw = {.vertex_count = given->vertex_count,
                          .triangle_count = given->triangle_count,
                          .tetrahedron_count = given->tetrahedron_count,
                          .vertices = given->vertices,
                          .triangles = given->triangles,
                          .tetrahedra = given->tetrahedra,
                          .extents = given->extents,
                          .curved_count = given->curved_count,
                          .unit = given->unit,
                          .up_axis = given->up_axis,
                          .instance_count = given->instance_count};
    stn_mesh *next = NULL;
    stn_status status = mesh_from_raw(l->context, &raw, out, err);
    if (status == STN_OK && !(scale.x == 1.0 && scale.y == 1.0 && scale.z == 1.0)) {
        status = stn_mesh_create_scaled(*out, scale, &next, err);
        replace(out, next);
    }
    if (status == STN_OK && l->request->convex) {
        status = stn_mesh_create_hull(*out, &next, err);
        replace(out, next);
    }
    return status;
}

static void release_raw(const loading *l, const stn_instance *format, stn_raw_mesh *raw) {
    const stn_mesh_ops *ops = format->desc->ops.mesh;
    if (STN_PLUGIN_HAS(ops, release)) {
        ops->release(format->self, l->context, raw);
        return;
    }
    stn_release(l->context, raw->vertices);
    stn_release(l->context, raw->triangles);
    stn_release(l->context, raw->tetrahedra);
    stn_release(l->context, raw->extents);
    bool listed = raw->further != NULL && raw->further_count <= STN_MESH_FURTHER_MAX; // else it was refused
    for (int32_t i = 0; listed && i < raw->further_count; i++) {
        stn_release(l->context, raw->further[i].name);
    }
    stn_release(l->context, raw->further);
}

/// What the plugin finds in the file, as a mesh. Failures name the file, whatever the plugin says.
static stn_status read_with(loading *l, const stn_instance *format, const stn_mesh **out, stn_error *err) {
    const char *path = l->request->path;
    const stn_mesh_source source = {
        .context = l->context, .path = path, .bytes = l->bytes, .size = l->size, .folder = l->folder, .root = l->root};
    stn_raw_mesh raw = {0};
    stn_answer_begin(err);
    stn_status status = stn_answer_end(format->desc->ops.mesh->read(format->self, &source, &raw, err), err);
    if (status < 0) {
        if (err != NULL && strstr(err->text, path) == NULL) {
            stn_error_prefix(err, "%s", path);
        }
        return status;
    }
    stn_release(l->context, l->bytes); // not needed beside what comes now
    l->bytes = NULL;
    mesh_further_list further = {.context = l->context};
    stn_mesh *mesh = NULL;
    status = STN_OK;
    if (raw.curved_count < 0 || raw.instance_count < 0 || raw.further_count < 0 ||
        raw.further_count > STN_MESH_FURTHER_MAX || (raw.further_count > 0 && raw.further == NULL)) {
        status = stn_fail(err, STN_ERR_PLUGIN,
                          "mesh %s gives %d elements of higher order, %d placements and %d further files",
                          l->format->desc->id, raw.curved_count, raw.instance_count, raw.further_count);
    }
    for (int32_t i = 0; i < raw.further_count && status == STN_OK; i++) {
        const stn_mesh_further *f = &raw.further[i];
        status = mesh_further_add(&further, f->name, f->name != NULL ? strlen(f->name) : 0, f->hash, f->size, err);
    }
    if (status == STN_OK) {
        status = finish(l, &raw, &mesh, err);
    }
    if (status == STN_OK) {
        *out = mesh_cache_add(l->context, &l->key, mesh, &further);
    } else {
        stn_error_prefix(err, "%s", path);
    }
    mesh_further_clear(&further);
    release_raw(l, format, &raw);
    return status;
}

/// The mesh of a file whose bytes are there. Further files are sought in its folder and must lie below the root; links
/// are followed first.
static stn_status find_or_read(loading *l, const formats *f, const stn_mesh **out, stn_error *err) {
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
    l->format = format_of_content(f, l);
    XXH128_hash_t hash = XXH3_128bits(l->bytes, l->size);
    l->key = (mesh_key){.hash = {hash.low64, hash.high64},
                        .size = l->size,
                        .scale = {l->request->scale.x, l->request->scale.y, l->request->scale.z},
                        .convex = l->request->convex};
    mesh_key_set_plugin(&l->key, l->context, l->format);
    const mesh_place place = {l->folder, l->root};
    *out = mesh_cache_find(l->context, &l->key, &place);
    if (*out != NULL) {
        return STN_OK;
    }
    stn_instance *format = NULL;
    stn_status status = stn_instance_create(l->context, STN_KIND_MESH, l->format->desc->id, NULL, 0, &format, err);
    if (status == STN_OK) {
        status = read_with(l, format, out, err);
    }
    stn_instance_destroy(format);
    return status;
}

stn_status stn_mesh_load(stn_context *context, const stn_mesh_request *request, const stn_mesh **out, stn_error *err) {
    formats f = {NULL, 0};
    *out = NULL;
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
    stn_status status = stn_plugins_of_kind(context, STN_KIND_MESH, &f.plugins, &f.count, err);
    if (status != STN_OK) {
        return status;
    }
    if (format_of_name(&f, request->path) == NULL) {
        return refuse_name(&f, request->path, err);
    }
    loading *l = stn_allocate(context, 1, sizeof *l);
    if (l == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "%s: out of memory", request->path);
    }
    l->context = context;
    l->request = request;
    status = stn_read_regular(context, request->path, 0, STN_MESH_FILE_MAX, &l->bytes, &l->size, err);
    if (status == STN_OK) {
        status = find_or_read(l, &f, out, err);
    }
    stn_release(context, l->bytes);
    stn_release(context, l);
    return status;
}

stn_status stn_model_load_mesh(const stn_model *model, int32_t mesh, const stn_mesh **out, stn_error *err) {
    *out = NULL;
    if (mesh < 0 || mesh >= model->mesh_count) {
        return stn_fail(err, STN_ERR_ARGUMENT, "the model has no mesh %d", (int)mesh);
    }
    const stn_mesh_reference *reference = &model->meshes[mesh];
    if (reference->data != NULL) {
        *out = stn_mesh_keep(reference->data);
        return STN_OK;
    }
    const stn_mesh_request request = {.path = reference->path, .scale = reference->scale};
    return stn_mesh_load(model->context, &request, out, err);
}
