// SPDX-License-Identifier: Apache-2.0
// Named arrays as bytes, in the machine's byte order: what the library and its process stiction-hdf5 say to each other.
//     array_wire_head, then `count` times an array_wire_item, its name and its numbers (no terminators)
// A head with the magic of a failure is followed by `count` bytes of text instead.
#ifndef STICTION_PLUGINS_PROBLEM_FILE_ARRAY_WIRE_H
#define STICTION_PLUGINS_PROBLEM_FILE_ARRAY_WIRE_H

#include <stdint.h>

#define ARRAY_WIRE_DATA    "stnarray"
#define ARRAY_WIRE_FAILURE "stnfails"

enum {
    ARRAY_WIRE_NAME_MAX = 128,  // bytes of a path, "fclib_local/W/x"
    ARRAY_WIRE_ITEMS_MAX = 256, // arrays of a file
    ARRAY_WIRE_TEXT_MAX = 512,
};

typedef enum array_wire_type { ARRAY_WIRE_INTEGERS, ARRAY_WIRE_REALS, ARRAY_WIRE_LETTERS } array_wire_type;

typedef struct array_wire_head {
    char magic[8];
    uint64_t count;
} array_wire_head;

typedef struct array_wire_item {
    uint32_t name_length, type; // array_wire_type: int64_t, double, char
    uint64_t count;
} array_wire_item;

#endif
