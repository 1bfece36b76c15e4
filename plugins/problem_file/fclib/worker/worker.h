// SPDX-License-Identifier: Apache-2.0
// The parts of stiction-hdf5: an HDF5 file in memory to named arrays, and back.
#ifndef STICTION_PLUGINS_PROBLEM_FILE_FCLIB_WORKER_WORKER_H
#define STICTION_PLUGINS_PROBLEM_FILE_FCLIB_WORKER_WORKER_H

#include <stdbool.h>
#include <stddef.h>

#include <hdf5.h>

#include "array_wire.h"

/// Bytes that grow; running out of memory ends the process.
typedef struct bytes {
    unsigned char *data;
    size_t size, capacity;
} bytes;

void bytes_add(bytes *b, const void *from, size_t size);
/// Answers that it failed and why, and ends the process. Letters that are not printable ASCII become '?'.
_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/// The datasets of the file as arrays: integers, reals and texts; whatever else it holds is passed over.
void unpack(bytes *file, uint64_t most, bytes *out);
/// The bytes of a file with these arrays, groups made on the way; integers are stored in 32 bits.
void pack(const bytes *arrays, bytes *out);

#endif
