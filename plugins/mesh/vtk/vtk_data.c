// SPDX-License-Identifier: Apache-2.0
// Data of points and cells in legacy VTK files: POINT_DATA n and CELL_DATA n, each followed by arrays. One is read, the
// pressure field of a solid: SCALARS extent (or an array of that name in a FIELD) at the points. The others are stepped
// over; where that cannot be done the rest is left alone, unless the field is in it.
#define _GNU_SOURCE // memmem
#include <string.h>

#include "vtk.h"

typedef struct data_section {
    vtk_file *f;
    bool points;     // of points; else of cells
    int64_t count;   // tuples of every array
    bool field_near; // the array being read is the field: what is wrong with it counts
} data_section;

static bool is_field(const data_section *d, mesh_word name) {
    return d->points && name.length == 6 && memcmp(name.text, "extent", 6) == 0;
}

static stn_status take_values(data_section *d, mesh_word name, const vtk_type *type, int64_t components) {
    mesh_reader *r = &d->f->r;
    d->f->components = components;
    if (components < 0 || components > STN_MESH_COUNT_MAX) {
        return reader_fail(r, "%lld components", (long long)components);
    }
    if (!is_field(d, name)) {
        return vtk_skip_values(d->f, type, components * d->count);
    }
    d->field_near = true;
    if (type->whole || type->width == 0 || components != 1) {
        return reader_fail(r, "field extent: %lld of type %s at a point: one float or double is read",
                           (long long)components, type->name);
    }
    if (d->count != r->vertices.count) {
        return reader_fail(r, "field extent: %lld values for %d points", (long long)d->count, r->vertices.count);
    }
    stn_status status = reader_begin_extents(r);
    if (status == STN_OK) {
        status = reader_begin_numbers(r);
    }
    for (int32_t i = 0; i < d->count && status == STN_OK; i++) {
        status = reader_extent(r, i, type->width);
    }
    reader_end_numbers(r);
    d->field_near = status != STN_OK;
    return status;
}

/// name type [components], then LOOKUP_TABLE name.
static stn_status read_scalars(data_section *d) {
    mesh_reader *r = &d->f->r;
    vtk_type type = {0};
    int64_t components = 1;
    mesh_word name = reader_word(r), word;
    d->field_near = is_field(d, name);
    stn_status status = vtk_read_type(d->f, &type);
    if (status != STN_OK) {
        return status;
    }
    mesh_reader ahead = *r;
    word = reader_word(&ahead);
    if (!word_is(word, "lookup_table")) {
        status = reader_text_integer(r, "components of scalars", "", &components);
        if (status == STN_OK) {
            status = reader_expect(r, "lookup_table");
        }
    } else {
        *r = ahead;
    }
    if (status == STN_OK) {
        reader_word(r); // the name of the table
        status = take_values(d, name, &type, components);
    }
    return status;
}

/// name n, then n arrays: name components tuples type.
static stn_status read_arrays(data_section *d) {
    mesh_reader *r = &d->f->r;
    int64_t count = 0, components = 0, tuples = 0;
    reader_word(r); // its name
    stn_status status = reader_text_integer(r, "arrays of a field", "", &count);
    while (count > 0 && status == STN_OK) {
        vtk_type type = {0};
        mesh_word name = reader_word(r);
        if (word_is(name, "metadata")) {
            vtk_skip_metadata(d->f);
            continue;
        }
        d->field_near = is_field(d, name);
        status = reader_text_integer(r, "components of a field", "", &components);
        if (status == STN_OK) {
            status = reader_text_integer(r, "tuples of a field", "", &tuples);
        }
        if (status == STN_OK) {
            status = vtk_read_type(d->f, &type);
        }
        if (status == STN_OK && tuples != d->count) {
            status = reader_fail(r, "an array of %lld values for %lld", (long long)tuples, (long long)d->count);
        }
        if (status == STN_OK) {
            status = take_values(d, name, &type, components);
        }
        count--;
    }
    return status;
}

static stn_status read_array(data_section *d, mesh_word word) {
    static const struct {
        const char *name;
        int64_t components; // 0: a number behind the name of the array says it
    } tuples[] = {{"vectors", 3},    {"normals", 3},      {"tensors", 9},    {"tensors6", 6},
                  {"global_ids", 1}, {"pedigree_ids", 1}, {"edge_flags", 1}, {"texture_coordinates", 0}};
    static const vtk_type byte = {"unsigned_char", 1, true};
    mesh_reader *r = &d->f->r;
    for (int32_t i = 0; i < STN_COUNT(tuples); i++) {
        if (!word_is(word, tuples[i].name)) {
            continue;
        }
        vtk_type type = {0};
        int64_t components = tuples[i].components;
        mesh_word name = reader_word(r);
        stn_status status =
            components == 0 ? reader_text_integer(r, "components of coordinates", "", &components) : STN_OK;
        if (status == STN_OK) {
            status = vtk_read_type(d->f, &type);
        }
        return status == STN_OK ? take_values(d, name, &type, components) : status;
    }
    if (word_is(word, "scalars")) {
        return read_scalars(d);
    }
    if (word_is(word, "field")) {
        return read_arrays(d);
    }
    bool table = word_is(word, "lookup_table");
    if (!table && !word_is(word, "color_scalars")) {
        char shown[READER_SHOWN];
        return reader_fail(r, "%s: no array of data", reader_show(word, shown));
    }
    // name count, then bytes in a binary file and numbers in a text: colours, `count` of them for a tuple, or a table
    int64_t count = 0;
    reader_word(r);
    stn_status status = reader_text_integer(r, "number of colours", "", &count);
    if (status == STN_OK && (count < 0 || count > STN_MESH_COUNT_MAX)) {
        return reader_fail(r, "%lld colours", (long long)count);
    }
    return status == STN_OK ? vtk_skip_values(d->f, &byte, count * (table ? 4 : d->count)) : status;
}

stn_status vtk_read_data(vtk_file *f, mesh_word word) {
    mesh_reader *r = &f->r;
    stn_error *err = r->err, why = {STN_OK, ""};
    data_section d = {.f = f};
    r->err = &why;
    stn_status status = STN_OK;
    while (word.length > 0 && status == STN_OK) { // to the end of the file
        bool points = word_is(word, "point_data");
        if (points || word_is(word, "cell_data")) {
            d.points = points;
            status = reader_text_integer(r, "number of data", "", &d.count);
            if (status == STN_OK && (d.count < 0 || d.count > STN_MESH_COUNT_MAX)) {
                status = reader_fail(r, "data of %lld points or cells", (long long)d.count);
            }
        } else if (word_is(word, "metadata")) {
            vtk_skip_metadata(f);
        } else {
            status = read_array(&d, word);
        }
        word = status == STN_OK ? reader_word(r) : word;
    }
    r->err = err;
    if (status == STN_OK || status == STN_ERR_MEMORY) {
        return status == STN_OK ? status : reader_no_memory(r);
    }
    bool behind = r->at < r->end && memmem(r->at, (size_t)(r->end - r->at), " extent ", 8) != NULL;
    if (d.field_near || behind) {
        return stn_fail(err, status, "%s%s", why.text, d.field_near ? "" : ": the field extent behind it is not read");
    }
    return STN_OK;
}
