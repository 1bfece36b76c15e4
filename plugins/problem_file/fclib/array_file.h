// SPDX-License-Identifier: Apache-2.0
// Named arrays of an HDF5 file. The file is met by the process stiction-hdf5 alone, so that a damaged one harms
// nothing.
#ifndef STICTION_PLUGINS_PROBLEM_FILE_ARRAY_FILE_H
#define STICTION_PLUGINS_PROBLEM_FILE_ARRAY_FILE_H

#include <stiction/problem_file.h>

#include "array_wire.h"

/// One array. `name` is no C text. Numbers lie at any address: read them by memcpy.
typedef struct array_item {
    const char *name;
    size_t name_length;
    array_wire_type type;
    uint64_t count;
    const unsigned char *values;
} array_item;

typedef struct array_file {
    stn_context *context;
    unsigned char *bytes; // owned
    int32_t count;
    array_item items[ARRAY_WIRE_ITEMS_MAX];
} array_file;

/// Does it begin as every HDF5 file does?
bool array_file_is_hdf5(const char *bytes, size_t size);
/// Unpacks the bytes of an HDF5 file. STN_ERR_PARSE with one line that fits behind "path: ". Large: allocate it.
stn_status array_file_unpack(stn_context *context, const char *bytes, size_t size, array_file *out, stn_error *err);
/// The second half of it: what the process answered, whose memory (of the context) is taken over, also on an error.
stn_status array_file_take(stn_context *context, unsigned char *answer, size_t size, array_file *out, stn_error *err);
void array_file_clear(array_file *file);
const array_item *array_file_find(const array_file *file, const char *name); ///< NULL when there is none
int64_t array_item_integer(const array_item *item, uint64_t i);
double array_item_real(const array_item *item, uint64_t i);

/// What is to be written, gathered one array after the other.
typedef struct array_builder {
    stn_context *context;
    unsigned char *bytes;
    size_t size, capacity;
    bool failed; // out of memory
} array_builder;

/// Integers come as int64_t, reals as double, letters as char.
void array_builder_add(array_builder *builder, const char *name, array_wire_type type, const void *values,
                       uint64_t count);
/// Puts them as an HDF5 file, and releases the builder in any case. Nothing is put on a failure.
stn_status array_builder_write(array_builder *builder, const stn_problem_sink *sink, stn_error *err);

#endif
