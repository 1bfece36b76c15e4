// SPDX-License-Identifier: Apache-2.0
// A place in a file of any content, and the raw mesh that is read from there.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/reader.h"

void reader_start(mesh_reader *r, const stn_mesh_source *source, stn_error *err) {
    *r = (mesh_reader){.context = source->context,
                       .path = source->path,
                       .begin = source->bytes,
                       .at = source->bytes,
                       .end = source->bytes + source->size,
                       .line = 1,
                       .vertices = {.name = "vertices", .size = 3 * sizeof(double)},
                       .triangles = {.name = "triangles", .size = 3 * sizeof(int32_t)},
                       .tetrahedra = {.name = "tetrahedra", .size = 4 * sizeof(int32_t)},
                       .corners = {.name = "corners of a polygon", .size = sizeof(int32_t)},
                       .err = err};
    if (bytes_begin_with(source->bytes, source->size, "\xef\xbb\xbf")) {
        r->at += 3;
    }
}

bool bytes_begin_with(const char *bytes, size_t size, const char *text) {
    size_t length = strlen(text);
    return size >= length && memcmp(bytes, text, length) == 0;
}

/// Takes the items out of the list. What growing left over is given back; failing to is no harm.
static void *take(mesh_reader *r, mesh_list *list) {
    void *items = list->items, *less = NULL;
    if (list->count == 0) {
        return NULL;
    }
    if (list->capacity > list->count) {
        less = stn_reallocate(r->context, items, (size_t)list->capacity, (size_t)list->count, list->size);
    }
    list->items = NULL;
    return less != NULL ? less : items;
}

stn_status reader_finish(mesh_reader *r, stn_status status, stn_raw_mesh *out) {
    *out = (stn_raw_mesh){0};
    stn_release(r->context, r->corners.items);
    if (r->begin == r->end) {
        status = stn_fail(r->err, STN_ERR_ARGUMENT, "%s: the file is empty", r->path);
    } else if (status == STN_OK && r->triangles.count == 0 && r->tetrahedra.count == 0) {
        status = stn_fail(r->err, STN_ERR_ARGUMENT, "%s: there are no triangles and no tetrahedra in it", r->path);
    }
    if (status == STN_OK && r->tetrahedra.count == 0) { // a field of a surface is none
        stn_release(r->context, r->extents);
        r->extents = NULL;
    }
    const int32_t *corner = r->tetrahedra.items;
    for (size_t i = 0; r->extents != NULL && i < 4 * (size_t)r->tetrahedra.count && status == STN_OK; i++) {
        if (isnan(r->extents[corner[i]])) {
            status =
                stn_fail(r->err, STN_ERR_ARGUMENT,
                         "%s: its field extent has no value at vertex %d (counted from 0) of tetrahedron %zu: give "
                         "one at every vertex, or no field",
                         r->path, corner[i], i / 4);
        }
    }
    if (r->tetrahedra.count > 0) {
        stn_release(r->context, r->triangles.items);
        r->triangles = (mesh_list){0};
    }
    if (status == STN_OK) {
        *out = (stn_raw_mesh){.vertex_count = r->vertices.count,
                              .triangle_count = r->triangles.count,
                              .tetrahedron_count = r->tetrahedra.count,
                              .vertices = take(r, &r->vertices),
                              .triangles = take(r, &r->triangles),
                              .tetrahedra = take(r, &r->tetrahedra),
                              .extents = r->extents,
                              .curved_count = r->curved_count};
        r->extents = NULL;
    }
    stn_release(r->context, r->extents);
    stn_release(r->context, r->vertices.items);
    stn_release(r->context, r->triangles.items);
    stn_release(r->context, r->tetrahedra.items);
    return status;
}

stn_status reader_fail(const mesh_reader *r, const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (r->has_binary) {
        return stn_fail(r->err, STN_ERR_ARGUMENT, "%s: byte %lld: %s", r->path, (long long)(r->at - r->begin), text);
    }
    return stn_fail(r->err, STN_ERR_ARGUMENT, "%s:%lld: %s", r->path, (long long)r->line, text);
}

stn_status reader_no_memory(const mesh_reader *r) {
    return stn_fail(r->err, STN_ERR_MEMORY, "%s: out of memory", r->path);
}

const char *reader_show(mesh_word word, char shown[READER_SHOWN]) {
    if (word.length == 0) {
        snprintf(shown, READER_SHOWN, "the end");
        return shown;
    }
    size_t cut = READER_SHOWN - 6, used = 0;
    shown[used++] = '"';
    for (size_t i = 0; i < word.length && i < cut; i++) {
        char c = word.text[i];
        shown[used++] = c >= ' ' && c <= '~' ? c : '?';
    }
    snprintf(shown + used, READER_SHOWN - used, word.length > cut ? "...\"" : "\"");
    return shown;
}

///< line ends too
static void skip_space(mesh_reader *r) {
    const char *p = r->at;
    for (; p < r->end && (is_blank(*p) || *p == '\n'); p++) {
        r->line += *p == '\n';
    }
    r->at = p;
}

void reader_skip_line(mesh_reader *r) {
    const char *newline = r->at < r->end ? memchr(r->at, '\n', (size_t)(r->end - r->at)) : NULL;
    r->line += newline != NULL;
    r->at = newline != NULL ? newline + 1 : r->end;
}

stn_status reader_line_end(mesh_reader *r) {
    while (r->at < r->end && is_blank(*r->at)) {
        r->at++;
    }
    if (r->at == r->end || *r->at != '\n') {
        char shown[READER_SHOWN];
        return reader_fail(r, "found %s where the line should end", reader_show(reader_word(r), shown));
    }
    r->at++;
    r->line++;
    return STN_OK;
}

stn_status reader_begin_numbers(mesh_reader *r) {
    stn_status status = r->has_binary ? reader_line_end(r) : STN_OK;
    r->binary = r->has_binary && status == STN_OK;
    return status;
}

void reader_end_numbers(mesh_reader *r) {
    r->binary = false;
}

mesh_word reader_word(mesh_reader *r) {
    skip_space(r);
    mesh_word word = {.text = r->at};
    const char *p = r->at;
    while (p < r->end && !is_blank(*p) && *p != '\n') {
        p++;
    }
    word.length = (size_t)(p - r->at);
    r->at = p;
    return word;
}

bool word_is(mesh_word word, const char *lower_case) {
    size_t i = 0;
    for (; i < word.length && lower_case[i] != '\0'; i++) {
        char c = word.text[i];
        c = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
        if (c != lower_case[i]) {
            return false;
        }
    }
    return i == word.length && lower_case[i] == '\0';
}

stn_status reader_expect(mesh_reader *r, const char *lower_case) {
    mesh_word word = reader_word(r);
    if (!word_is(word, lower_case)) {
        char shown[READER_SHOWN];
        return reader_fail(r, "expected \"%s\", found %s", lower_case, reader_show(word, shown));
    }
    return STN_OK;
}

bool word_copy(mesh_word word, char *text, size_t size) {
    if (word.length >= size) {
        return false;
    }
    memcpy(text, word.text, word.length);
    text[word.length] = '\0';
    return true;
}

/// Whether a word may end at `p`.
static bool ends(const mesh_reader *r, const char *p, const char *ended) {
    return p == r->end || is_blank(*p) || *p == '\n' || (*p != '\0' && strchr(ended, *p) != NULL);
}

stn_status reader_text_integer(mesh_reader *r, const char *what, const char *ended, int64_t *value) {
    skip_space(r);
    const char *p = r->at;
    bool negative = p < r->end && *p == '-';
    p += negative || (p < r->end && *p == '+');
    const char *first = p;
    int64_t sum = 0;
    for (; p < r->end && *p >= '0' && *p <= '9'; p++) {
        int64_t digit = *p - '0';
        if (sum > (INT64_MAX - digit) / 10) {
            break;
        }
        sum = 10 * sum + digit;
    }
    if (p == first || !ends(r, p, ended)) {
        char shown[READER_SHOWN];
        return reader_fail(r, "%s: %s is no whole number", what, reader_show(reader_word(r), shown));
    }
    r->at = p;
    *value = negative ? -sum : sum;
    return STN_OK;
}

stn_status reader_text_real(mesh_reader *r, const char *what, const char *ended, double *value) {
    skip_space(r);
    size_t length = stn_scan_real(r->at, (size_t)(r->end - r->at), value);
    if (length == 0 || !ends(r, r->at + length, ended)) {
        char shown[READER_SHOWN];
        return reader_fail(r, "%s: %s is no finite decimal number", what, reader_show(reader_word(r), shown));
    }
    r->at += length;
    return STN_OK;
}

uint32_t load_u32(const char *bytes, bool big_endian) {
    const unsigned char *b = (const unsigned char *)bytes;
    return big_endian ? (uint32_t)b[3] | (uint32_t)b[2] << 8 | (uint32_t)b[1] << 16 | (uint32_t)b[0] << 24
                      : (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static uint64_t load_u64(const char *bytes, bool big_endian) {
    uint64_t first = load_u32(bytes, big_endian), second = load_u32(bytes + 4, big_endian);
    return big_endian ? first << 32 | second : second << 32 | first;
}

float load_f32(const char *bytes, bool big_endian) {
    uint32_t bits = load_u32(bytes, big_endian);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

stn_status reader_skip_bytes(mesh_reader *r, const char *what, int64_t count) {
    if (count < 0 || count > r->end - r->at) {
        return reader_fail(r, "%s: %lld bytes are needed, the file has %lld more; it is cut off", what,
                           (long long)count, (long long)(r->end - r->at));
    }
    r->at += count;
    return STN_OK;
}

stn_status reader_integer(mesh_reader *r, const char *what, int32_t width, int64_t *value) {
    if (!r->binary) {
        return reader_text_integer(r, what, "", value);
    }
    const char *bytes = r->at;
    stn_status status = reader_skip_bytes(r, what, width);
    if (status == STN_OK) {
        *value = width == 4 ? (int32_t)load_u32(bytes, r->big_endian) : (int64_t)load_u64(bytes, r->big_endian);
    }
    return status;
}

stn_status reader_integers(mesh_reader *r, const char *what, int32_t width, int64_t *values, int32_t count) {
    stn_status status = STN_OK;
    for (int32_t i = 0; i < count && status == STN_OK; i++) {
        status = reader_integer(r, what, width, &values[i]);
    }
    return status;
}

stn_status reader_real(mesh_reader *r, const char *what, int32_t width, double *value) {
    if (!r->binary) {
        return reader_text_real(r, what, "", value);
    }
    const char *bytes = r->at;
    stn_status status = reader_skip_bytes(r, what, width);
    if (status != STN_OK) {
        return status;
    }
    if (width == 4) {
        *value = (double)load_f32(bytes, r->big_endian);
    } else {
        uint64_t bits = load_u64(bytes, r->big_endian);
        memcpy(value, &bits, sizeof bits);
    }
    if (!isfinite(*value)) {
        r->at = bytes;
        return reader_fail(r, "%s: %g is no finite number", what, *value);
    }
    return STN_OK;
}

stn_status reader_check_count(const mesh_reader *r, const char *what, int64_t count, int64_t least) {
    if (count < 0 || count > STN_MESH_COUNT_MAX) {
        return reader_fail(r, "%s: %lld must be from 0 to %d", what, (long long)count, STN_MESH_COUNT_MAX);
    }
    if (count > (r->end - r->at + least - 1) / least) {
        return reader_fail(
            r, "%s: %lld do not fit into the %lld bytes that follow; the file is cut off or the count wrong", what,
            (long long)count, (long long)(r->end - r->at));
    }
    return STN_OK;
}

stn_status reader_room(mesh_reader *r, mesh_list *list, int64_t more) {
    int64_t count = list->count + more;
    if (count <= list->capacity) {
        return STN_OK;
    }
    if (count > STN_MESH_COUNT_MAX) {
        return reader_fail(r, "more than %d %s", STN_MESH_COUNT_MAX, list->name);
    }
    int64_t wanted = 2 * (int64_t)list->capacity;
    wanted = wanted > count ? wanted : count;
    wanted = wanted < STN_MESH_COUNT_MAX ? wanted : STN_MESH_COUNT_MAX;
    void *items = stn_reallocate(r->context, list->items, (size_t)list->capacity, (size_t)wanted, list->size);
    if (items == NULL) {
        return reader_no_memory(r);
    }
    list->items = items;
    list->capacity = (int32_t)wanted;
    return STN_OK;
}

stn_status reader_add_vertex(mesh_reader *r, const double position[3]) {
    stn_status status = reader_room(r, &r->vertices, 1);
    if (status == STN_OK) {
        memcpy((double *)r->vertices.items + 3 * (size_t)r->vertices.count++, position, 3 * sizeof(double));
    }
    return status;
}

stn_status reader_add_triangle(mesh_reader *r, int32_t a, int32_t b, int32_t c) {
    stn_status status = reader_room(r, &r->triangles, 1);
    if (status == STN_OK) {
        int32_t *corners = (int32_t *)r->triangles.items + 3 * (size_t)r->triangles.count++;
        corners[0] = a;
        corners[1] = b;
        corners[2] = c;
    }
    return status;
}

stn_status reader_add_tetrahedron(mesh_reader *r, const int32_t corners[4]) {
    stn_status status = reader_room(r, &r->tetrahedra, 1);
    if (status == STN_OK) {
        memcpy((int32_t *)r->tetrahedra.items + 4 * (size_t)r->tetrahedra.count++, corners, 4 * sizeof(int32_t));
    }
    return status;
}

stn_status reader_add_corner(mesh_reader *r, int32_t vertex) {
    stn_status status = reader_room(r, &r->corners, 1);
    if (status == STN_OK) {
        ((int32_t *)r->corners.items)[r->corners.count++] = vertex;
    }
    return status;
}

stn_status reader_begin_extents(mesh_reader *r) {
    if (r->extents != NULL) {
        return reader_fail(r, "the field extent a second time");
    }
    r->extents = stn_allocate(r->context, (size_t)r->vertices.count, sizeof *r->extents);
    for (int32_t i = 0; i < r->vertices.count && r->extents != NULL; i++) {
        r->extents[i] = NAN;
    }
    return r->extents != NULL ? STN_OK : reader_no_memory(r);
}

stn_status reader_extent(mesh_reader *r, int32_t vertex, int32_t width) {
    double value = 0.0;
    stn_status status = reader_real(r, "field extent", width, &value);
    if (status == STN_OK && !stn_mesh_extent_in_range(value)) {
        return reader_fail(r,
                           "field extent: %g at vertex %d (counted from 0) must be from 0 (on the surface) to 1 "
                           "(deepest)",
                           value, vertex);
    }
    r->extents[vertex] = value;
    return status;
}
