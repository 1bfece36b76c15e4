// SPDX-License-Identifier: Apache-2.0
// Writable static data of a shared object: what a plugin may not change in a step, because another call of it may run
// at the same time on another worker.
#ifndef STICTION_COMMAND_VALIDATE_STATIC_DATA_H
#define STICTION_COMMAND_VALIDATE_STATIC_DATA_H

#include <stiction/base.h>

typedef struct static_data {
    const unsigned char *object; // where it is loaded
    size_t size;                 // of all spans
    int32_t count;
    struct {
        const unsigned char *start;
        size_t size;
    } spans[8];
} static_data;

/// Of the shared object that `address` lies in; empty when it is in the program itself, or in none.
static_data static_data_of(const void *address);
/// Its bytes as they are, `data->size` of them.
void static_data_copy(const static_data *data, unsigned char *out);
/// Where the first byte lies that is not as in the copy, from the object's start, as nm has it; -1: all are.
ptrdiff_t static_data_changed(const static_data *data, const unsigned char *copy);

#endif
