// SPDX-License-Identifier: Apache-2.0
// What a mesh worker answers, taken apart. The worker has met a stranger's file and may have been led astray: nothing
// it says is believed before it is checked.
#include <math.h>
#include <string.h>

#include "mesh_files/scene.h"

void mesh_further_clear(mesh_further_list *list) {
    for (int32_t i = 0; i < list->count; i++) {
        stn_release(list->context, list->files[i].name);
    }
    stn_release(list->context, list->files);
    *list = (mesh_further_list){0};
}

stn_status mesh_further_add(mesh_further_list *list, const char *name, size_t length, const mesh_wire_file *file,
                            stn_error *err) {
    if (length == 0 || length >= MESH_WIRE_NAME_MAX || name[0] == '/' || memchr(name, '\0', length) != NULL) {
        return stn_fail(err, STN_ERR_ARGUMENT, "a further file has a bad name of %zu bytes", length);
    }
    if (list->files == NULL) {
        list->files = stn_allocate(list->context, MESH_WIRE_FILES_MAX, sizeof *list->files);
    }
    char *copy = list->files != NULL ? stn_allocate(list->context, length + 1, 1) : NULL;
    if (copy == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    if (list->count == MESH_WIRE_FILES_MAX) {
        stn_release(list->context, copy);
        return stn_fail(err, STN_ERR_ARGUMENT, "more than %d further files", MESH_WIRE_FILES_MAX);
    }
    memcpy(copy, name, length);
    list->files[list->count++] = (mesh_further){copy, {file->hash[0], file->hash[1]}, file->size};
    return STN_OK;
}

/// One line of printable letters, whatever came.
static stn_status relay_text(const char *path, const unsigned char *text, size_t length, stn_error *err) {
    char line[MESH_WIRE_TEXT_MAX + 1];
    for (size_t i = 0; i < length; i++) {
        line[i] = text[i] >= ' ' && text[i] <= '~' ? (char)text[i] : '?';
    }
    line[length] = '\0';
    return stn_fail(err, STN_ERR_ARGUMENT, "%s: %s", path, line);
}

static stn_status complain(const char *path, const char *what, stn_error *err) {
    return stn_fail(err, STN_ERR_ARGUMENT, "%s: reading it gave a bad answer: %s", path, what);
}

static stn_status check_header(const char *path, const mesh_wire_reply *r, size_t size, stn_error *err) {
    if (memcmp(r->magic, MESH_WIRE_REPLY, sizeof r->magic) != 0 || r->version != MESH_WIRE_VERSION) {
        return complain(path, "not of the expected form", err);
    }
    if (r->text_length > 0) {
        return r->text_length <= MESH_WIRE_TEXT_MAX && size == sizeof *r + r->text_length
                   ? STN_OK
                   : complain(path, "a text of a wrong length", err);
    }
    if (r->vertex_count > MESH_COUNT_MAX || r->triangle_count > MESH_COUNT_MAX || r->instance_count > MESH_COUNT_MAX ||
        r->file_count > MESH_WIRE_FILES_MAX) {
        return complain(path, "more than can be counted", err);
    }
    uint64_t least = sizeof *r + 24 * (uint64_t)r->vertex_count + 12 * (uint64_t)r->triangle_count +
                     r->file_count * sizeof(mesh_wire_file);
    if (least > size) {
        return complain(path, "it is cut off", err);
    }
    if (!(isfinite(r->unit) && r->unit >= 0.0)) {
        return complain(path, "a unit that is no length", err);
    }
    if (r->up_axis != 0 && !(r->up_axis >= 'x' && r->up_axis <= 'z')) {
        return complain(path, "an axis that is none of x, y and z", err);
    }
    return STN_OK;
}

/// The arrays stay in the reply, which is aligned as from the allocator; a raw mesh without context does not own them.
static raw_mesh point_at(const mesh_wire_reply *r, unsigned char *numbers) {
    return (raw_mesh){.vertex_count = (int32_t)r->vertex_count,
                      .triangle_count = (int32_t)r->triangle_count,
                      .vertices = (double *)(void *)numbers,
                      .triangles = (int32_t *)(void *)(numbers + 24 * (size_t)r->vertex_count),
                      .unit = r->unit,
                      .up_axis = (char)r->up_axis,
                      .instance_count = (int32_t)r->instance_count};
}

static stn_status take_files(const char *path, uint32_t count, const unsigned char *bytes, size_t size,
                             mesh_further_list *further, stn_error *err) {
    for (uint32_t i = 0; i < count; i++) {
        mesh_wire_file file;
        if (size < sizeof file) {
            return complain(path, "it is cut off", err);
        }
        memcpy(&file, bytes, sizeof file);
        bytes += sizeof file;
        size -= sizeof file;
        if (file.name_length > size) {
            return complain(path, "it is cut off", err);
        }
        stn_status status = mesh_further_add(further, (const char *)bytes, file.name_length, &file, err);
        if (status != STN_OK) {
            stn_error_prefix(err, "%s", path);
            return status;
        }
        bytes += file.name_length;
        size -= file.name_length;
    }
    return size == 0 ? STN_OK : complain(path, "more follows its end", err);
}

stn_status mesh_scene_parse(const char *path, size_t size, mesh_scene *scene, stn_error *err) {
    mesh_wire_reply r;
    if (size < sizeof r) {
        return complain(path, "it is cut off", err);
    }
    memcpy(&r, scene->reply, sizeof r);
    stn_status status = check_header(path, &r, size, err);
    if (status != STN_OK) {
        return status;
    }
    unsigned char *rest = scene->reply + sizeof r;
    if (r.text_length > 0) {
        return relay_text(path, rest, r.text_length, err);
    }
    size_t numbers = 24 * (size_t)r.vertex_count + 12 * (size_t)r.triangle_count;
    scene->raw = point_at(&r, rest);
    scene->further = (mesh_further_list){.context = scene->context};
    return take_files(path, r.file_count, rest + numbers, size - sizeof r - numbers, &scene->further, err);
}
