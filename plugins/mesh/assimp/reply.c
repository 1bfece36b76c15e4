// SPDX-License-Identifier: Apache-2.0
// What a mesh worker answers, taken apart. The worker has met a stranger's file and may have been led astray: nothing
// it says is believed before it is checked.
#include <math.h>
#include <string.h>

#include "scene.h"

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
    if (r->vertex_count > STN_MESH_COUNT_MAX || r->triangle_count > STN_MESH_COUNT_MAX ||
        r->instance_count > STN_MESH_COUNT_MAX || r->file_count > STN_MESH_FURTHER_MAX) {
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

/// The arrays stay in the reply, which is aligned as from the allocator.
static stn_raw_mesh point_at(const mesh_wire_reply *r, unsigned char *numbers) {
    return (stn_raw_mesh){.vertex_count = (int32_t)r->vertex_count,
                          .triangle_count = (int32_t)r->triangle_count,
                          .vertices = (double *)(void *)numbers,
                          .triangles = (int32_t *)(void *)(numbers + 24 * (size_t)r->vertex_count),
                          .unit = r->unit,
                          .up_axis = (char)r->up_axis,
                          .instance_count = (int32_t)r->instance_count};
}

/// A copy of a further file's name, of `length` bytes.
static stn_status take_name(mesh_scene *scene, const char *path, const unsigned char *name, size_t length,
                            const mesh_wire_file *file, stn_error *err) {
    if (length == 0 || length >= STN_MESH_PATH_MAX || name[0] == '/' || memchr(name, '\0', length) != NULL) {
        return stn_fail(err, STN_ERR_ARGUMENT, "%s: a further file has a bad name of %zu bytes", path, length);
    }
    char *copy = stn_allocate(scene->context, length + 1, 1);
    if (copy == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "%s: out of memory", path);
    }
    memcpy(copy, name, length);
    scene->raw.further[scene->raw.further_count++] =
        (stn_mesh_further){copy, {file->hash[0], file->hash[1]}, file->size};
    return STN_OK;
}

static stn_status take_files(mesh_scene *scene, const char *path, uint32_t count, const unsigned char *bytes,
                             size_t size, stn_error *err) {
    if (count > 0) {
        scene->raw.further = stn_allocate(scene->context, count, sizeof *scene->raw.further);
        if (scene->raw.further == NULL) {
            return stn_fail(err, STN_ERR_MEMORY, "%s: out of memory", path);
        }
    }
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
        stn_status status = take_name(scene, path, bytes, file.name_length, &file, err);
        if (status != STN_OK) {
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
    return take_files(scene, path, r.file_count, rest + numbers, size - sizeof r - numbers, err);
}
