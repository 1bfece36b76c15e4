// SPDX-License-Identifier: Apache-2.0
// What a mesh worker answers, taken apart. The worker has met a stranger's file and may have been led astray: nothing
// it says is believed before it is checked.
#include <math.h>
#include <string.h>

#include "scene.h"

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
    unsigned char *at = scene->reply + sizeof r;
    size_t left = size - sizeof r;
    if (r.text_length > 0) { // one line of printable letters, whatever came
        char line[MESH_WIRE_TEXT_MAX + 1];
        for (size_t i = 0; i < r.text_length; i++) {
            line[i] = at[i] >= ' ' && at[i] <= '~' ? (char)at[i] : '?';
        }
        line[r.text_length] = '\0';
        return stn_fail(err, STN_ERR_ARGUMENT, "%s: %s", path, line);
    }
    // the arrays stay in the reply, which is aligned as from the allocator
    scene->raw = (stn_raw_mesh){.vertex_count = (int32_t)r.vertex_count,
                                .triangle_count = (int32_t)r.triangle_count,
                                .vertices = (double *)(void *)at,
                                .triangles = (int32_t *)(void *)(at + 24 * (size_t)r.vertex_count),
                                .unit = r.unit,
                                .up_axis = (char)r.up_axis,
                                .instance_count = (int32_t)r.instance_count};
    size_t numbers = 24 * (size_t)r.vertex_count + 12 * (size_t)r.triangle_count;
    at += numbers;
    left -= numbers;
    scene->raw.further = r.file_count > 0 ? stn_allocate(scene->context, r.file_count, sizeof(stn_mesh_further)) : NULL;
    if (r.file_count > 0 && scene->raw.further == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "%s: out of memory", path);
    }
    for (uint32_t i = 0; i < r.file_count; i++) {
        mesh_wire_file file;
        if (left < sizeof file) {
            return complain(path, "it is cut off", err);
        }
        memcpy(&file, at, sizeof file);
        at += sizeof file;
        left -= sizeof file;
        size_t length = file.name_length;
        if (length > left) {
            return complain(path, "it is cut off", err);
        }
        if (length == 0 || length >= STN_MESH_PATH_MAX || at[0] == '/' || memchr(at, '\0', length) != NULL) {
            return stn_fail(err, STN_ERR_ARGUMENT, "%s: a further file has a bad name of %zu bytes", path, length);
        }
        char *name = stn_allocate(scene->context, length + 1, 1);
        if (name == NULL) {
            return stn_fail(err, STN_ERR_MEMORY, "%s: out of memory", path);
        }
        memcpy(name, at, length);
        scene->raw.further[scene->raw.further_count++] =
            (stn_mesh_further){name, {file.hash[0], file.hash[1]}, file.size};
        at += length;
        left -= length;
    }
    return left == 0 ? STN_OK : complain(path, "more follows its end", err);
}
