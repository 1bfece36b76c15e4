// SPDX-License-Identifier: Apache-2.0
// Reading a mesh out of memory in tests, by a plugin: on an allocator that counts, from bytes of exactly their size and
// a zero byte, so that the sanitizers see every step beyond them.
#ifndef READ_MESH_H
#define READ_MESH_H

#include "stn_heap.h"
#include "stn_test.h"

#include <stdlib.h>
#include <string.h>

#include <stiction/plugin.h>

/// The operations of a format, by its id.
static inline const stn_mesh_ops *mesh_ops(stn_context *context, const char *format) {
    const stn_plugin_info *plugin = NULL;
    stn_error err = {STN_OK, ""};
    if (stn_plugin_find(context, STN_KIND_MESH, format, &plugin, &err) != STN_OK) {
        fail_msg("%s", err.text);
    }
    return plugin->desc->ops.mesh;
}

/// Reads bytes that a zero byte follows.
static inline stn_status read_part(stn_context *context, const char *format, const char *bytes, size_t size,
                                   stn_raw_mesh *out, stn_error *err) {
    const stn_mesh_source source = {
        .context = context, .path = "part.mesh", .bytes = bytes, .size = size, .folder = "/", .root = "/"};
    *out = (stn_raw_mesh){0};
    return mesh_ops(context, format)->read(NULL, &source, out, err);
}

static inline void raw_clear(stn_context *context, stn_raw_mesh *raw) {
    stn_release(context, raw->vertices);
    stn_release(context, raw->triangles);
    stn_release(context, raw->tetrahedra);
    stn_release(context, raw->extents);
    *raw = (stn_raw_mesh){0};
}

/// The mesh of raw numbers in metres.
static inline stn_status raw_to_mesh(stn_context *context, const stn_raw_mesh *raw, stn_mesh **out, stn_error *err) {
    const stn_mesh_data data = {.vertex_count = raw->vertex_count,
                                .triangle_count = raw->triangle_count,
                                .tetrahedron_count = raw->tetrahedron_count,
                                .vertices = raw->vertices,
                                .triangles = raw->triangles,
                                .tetrahedra = raw->tetrahedra,
                                .extents = raw->extents};
    return stn_mesh_create(context, &data, out, err);
}

/// A file in the making.
typedef struct bytes {
    char *data;
    size_t size;
} bytes;

static inline void put(bytes *b, const void *data, size_t size) {
    b->data = realloc(b->data, b->size + size + 1);
    assert_non_null(b->data);
    memcpy(b->data + b->size, data, size);
    b->size += size;
}

static inline void put_text(bytes *b, const char *text) {
    put(b, text, strlen(text));
}

/// The number of `width` bytes at `value`, in the byte order of the file.
static inline void put_number(bytes *b, const void *value, size_t width, bool big_endian) {
    char copy[8];
    for (size_t i = 0; i < width; i++) {
        copy[i] = ((const char *)value)[big_endian ? width - 1 - i : i];
    }
    put(b, copy, width);
}

static inline void put_int(bytes *b, int64_t value, size_t width, bool big_endian) {
    put_number(b, &value, width, big_endian); // the low bytes come first on the machines that run this
}

static inline void put_double(bytes *b, double value, bool big_endian) {
    put_number(b, &value, sizeof value, big_endian);
}

static inline void put_float(bytes *b, double value, bool big_endian) {
    float single = (float)value;
    put_number(b, &single, sizeof single, big_endian);
}

/// Reads a copy of its own; the numbers in `out` live until read_clear.
typedef struct read_result {
    stn_heap heap;
    stn_context *context;
    stn_raw_mesh raw;
    stn_status status;
    stn_error err;
} read_result;

static inline void read_bytes(const char *format, const void *data, size_t size, read_result *out) {
    *out = (read_result){.err.text = ""};
    out->context = stn_heap_context(&out->heap);
    mesh_ops(out->context, format); // found before anything is counted
    long long live = out->heap.live;
    char *copy = malloc(size + 1);
    assert_non_null(copy);
    memcpy(copy, data, size);
    copy[size] = '\0';
    out->status = read_part(out->context, format, copy, size, &out->raw, &out->err);
    assert_memory_equal(copy, data, size);
    free(copy);
    int32_t arrays = (out->raw.vertices != NULL) + (out->raw.triangles != NULL) + (out->raw.tetrahedra != NULL) +
                     (out->raw.extents != NULL);
    assert_int_equal(out->heap.live, live + arrays);
    assert_true((out->status == STN_OK) == (arrays > 0));
}

static inline void read_clear(read_result *result) {
    raw_clear(result->context, &result->raw);
    stn_context_destroy(result->context);
    assert_int_equal(result->heap.live, 0);
}

/// Reads what must be good.
static inline void read_good_bytes(const char *format, const void *data, size_t size, read_result *out) {
    read_bytes(format, data, size, out);
    if (out->status != STN_OK) {
        fail_msg("%s", out->err.text);
    }
}

static inline void read_good(const char *format, const char *text, read_result *out) {
    read_good_bytes(format, text, strlen(text), out);
}

/// The file must be refused with exactly this message.
static inline void assert_refused_bytes(const char *format, const void *data, size_t size, const char *message) {
    read_result result;
    read_bytes(format, data, size, &result);
    assert_int_equal(result.status, STN_ERR_ARGUMENT);
    assert_string_equal(result.err.text, message);
    assert_int_equal(read_part(result.context, format, data, size, &result.raw, NULL), STN_ERR_ARGUMENT);
    read_clear(&result);
}

static inline void assert_refused(const char *format, const char *text, const char *message) {
    assert_refused_bytes(format, text, strlen(text), message);
}

static inline void assert_vertices(const stn_raw_mesh *raw, const double *expected, int32_t count) {
    assert_int_equal(raw->vertex_count, count);
    for (int32_t i = 0; i < 3 * count; i++) {
        assert_near(raw->vertices[i], expected[i], 0.0);
    }
}

static inline void assert_triangles(const stn_raw_mesh *raw, const int32_t *expected, int32_t count) {
    assert_int_equal(raw->triangle_count, count);
    assert_memory_equal(raw->triangles, expected, (size_t)count * 3 * sizeof *expected);
}

static inline void assert_tetrahedra(const stn_raw_mesh *raw, const int32_t *expected, int32_t count) {
    assert_int_equal(raw->tetrahedron_count, count);
    assert_memory_equal(raw->tetrahedra, expected, (size_t)count * 4 * sizeof *expected);
}

/// Every request for memory that can fail does once: an error, and nothing kept.
static inline void assert_survives_no_memory(const char *format, const void *data, size_t size) {
    stn_heap heap = {0};
    stn_context *context = stn_heap_context(&heap);
    mesh_ops(context, format);
    long long live = heap.live;
    int32_t failures = 0;
    for (long long n = 1;; n++) {
        stn_raw_mesh raw;
        stn_error err = {STN_OK, ""};
        stn_heap_arm(&heap, n);
        stn_status status = read_part(context, format, data, size, &raw, &err);
        bool reached = heap.requests >= n;
        assert_true(status == STN_OK || status == STN_ERR_MEMORY);
        assert_true(status == STN_OK || strcmp(err.text, "part.mesh: out of memory") == 0);
        failures += status != STN_OK;
        raw_clear(context, &raw);
        assert_int_equal(heap.live, live);
        if (!reached) {
            break;
        }
    }
    assert_true(failures >= 2); // vertices, and triangles or tetrahedra
    stn_context_destroy(context);
}

/// Every shorter beginning of the file is read without a step outside; what comes of it is left open.
static inline void assert_survives_cuts(const char *format, const void *data, size_t size) {
    for (size_t n = 0; n < size; n++) {
        read_result result;
        read_bytes(format, data, n, &result);
        assert_true(result.status == STN_OK || (result.status == STN_ERR_ARGUMENT && result.err.text[0] != '\0'));
        read_clear(&result);
    }
}

#endif
