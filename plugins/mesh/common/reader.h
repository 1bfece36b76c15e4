// SPDX-License-Identifier: Apache-2.0
// What the readers of mesh files share: a place in a file of any content, words and numbers from there, text or binary,
// and the growing raw mesh. Every step is bounded by the bytes that are left.
#ifndef STICTION_PLUGINS_MESH_COMMON_READER_H
#define STICTION_PLUGINS_MESH_COMMON_READER_H

#include <stiction/mesh_file.h>

/// A growing array.
typedef struct mesh_list {
    const char *name; // of its items, in messages
    size_t size;      // of one
    void *items;
    int32_t count, capacity;
} mesh_list;

typedef struct mesh_reader {
    stn_context *context;
    const char *path;
    const char *begin, *at, *end;
    int64_t line;    // of `at`, from 1; while the file is text
    bool has_binary; // the file has binary parts: messages name the byte
    bool binary;     // numbers are binary
    bool big_endian;
    mesh_list vertices;   // double[3]
    mesh_list triangles;  // int32_t[3]
    mesh_list tetrahedra; // int32_t[4]
    mesh_list corners;    // int32_t, of one polygon
    double *extents;      // (vertices.count) once reader_begin_extents has made them, NAN where none is given
    int32_t curved_count; // elements of higher order
    stn_error *err;
} mesh_reader;

typedef struct mesh_word {
    const char *text; // inside the file
    size_t length;    // 0: the file ended
} mesh_word;

enum { READER_SHOWN = 48 }; // bytes that reader_show needs

/// Steps over a byte order mark.
void reader_start(mesh_reader *r, const stn_mesh_source *source, stn_error *err);
/// Do the bytes begin with this text?
bool bytes_begin_with(const char *bytes, size_t size, const char *text);
/// Releases what the reader holds, after it gave the mesh to `out`, unless `status` is a failure or there is neither a
/// triangle nor a tetrahedron. A solid keeps its tetrahedra only, as their boundary is its surface; its field must have
/// a value at every corner of them.
stn_status reader_finish(mesh_reader *r, stn_status status, stn_raw_mesh *out);

/// STN_ERR_ARGUMENT "path:line: ..." or "path: byte n: ...".
stn_status reader_fail(const mesh_reader *r, const char *format, ...) STN_PRINTF(2, 3);
stn_status reader_no_memory(const mesh_reader *r);
/// The word for a message: quoted, cut, without what no terminal should get. Returns `shown`.
const char *reader_show(mesh_word word, char shown[READER_SHOWN]);

static inline bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

void reader_skip_line(mesh_reader *r); ///< up to and with the line end
/// Steps over the line end, before which only blanks may stand: binary numbers follow.
stn_status reader_line_end(mesh_reader *r);
/// Numbers follow: in a binary file from the next line on, as bytes until reader_end_numbers.
stn_status reader_begin_numbers(mesh_reader *r);
void reader_end_numbers(mesh_reader *r);
/// The next word, of any characters but white space.
mesh_word reader_word(mesh_reader *r);
bool word_is(mesh_word word, const char *lower_case); ///< in any case
/// The next word must be that one.
stn_status reader_expect(mesh_reader *r, const char *lower_case);
/// Copies a word; false when it does not fit.
bool word_copy(mesh_word word, char *text, size_t size);

/// Whole and decimal numbers, as text or in the `width` bytes (4 or 8) of a binary file. `what` names them in messages.
stn_status reader_integer(mesh_reader *r, const char *what, int32_t width, int64_t *value);
stn_status reader_real(mesh_reader *r, const char *what, int32_t width, double *value);
/// Whole numbers in a row.
stn_status reader_integers(mesh_reader *r, const char *what, int32_t width, int64_t *values, int32_t count);
/// One number as text, also in a binary file. `ended` says which characters other than white space may follow.
stn_status reader_text_integer(mesh_reader *r, const char *what, const char *ended, int64_t *value);
stn_status reader_text_real(mesh_reader *r, const char *what, const char *ended, double *value);
/// The count must be of things for which there is room in the rest of the file, of `least` bytes each, and be no more
/// than a mesh may have.
stn_status reader_check_count(const mesh_reader *r, const char *what, int64_t count, int64_t least);
/// Steps over binary bytes.
stn_status reader_skip_bytes(mesh_reader *r, const char *what, int64_t count);

uint32_t load_u32(const char *bytes, bool big_endian);
float load_f32(const char *bytes, bool big_endian);

/// Makes room for `more` items. The first request is met exactly; later ones double, so that adding stays linear.
stn_status reader_room(mesh_reader *r, mesh_list *list, int64_t more);
stn_status reader_add_vertex(mesh_reader *r, const double position[3]);
stn_status reader_add_triangle(mesh_reader *r, int32_t a, int32_t b, int32_t c);
stn_status reader_add_tetrahedron(mesh_reader *r, const int32_t corners[4]);
stn_status reader_add_corner(mesh_reader *r, int32_t vertex);
/// Room for an extent of every vertex; a second time is an error.
stn_status reader_begin_extents(mesh_reader *r);
/// Reads the extent of a vertex, which must be from 0 to 1.
stn_status reader_extent(mesh_reader *r, int32_t vertex, int32_t width);
/// A polygon of at least 3 corners, all of them vertices, as a fan of triangles (polygon.c).
stn_status reader_add_polygon(mesh_reader *r, const int32_t *corners, int32_t count);

#endif
