// SPDX-License-Identifier: Apache-2.0
// Options of a caller that was compiled with other headers: an older struct is a shorter one.
#ifndef STICTION_CORE_BASE_OPTIONS_H
#define STICTION_CORE_BASE_OPTIONS_H

#include <string.h>

#include <stiction/base.h>

/// Copies `given`, of `size` bytes as its caller knows the struct, into `ours` of `room` bytes; members that the caller
/// does not know become zero, which is their default. STN_ERR_ARGUMENT: it sets a member that this library does not
/// know.
static inline stn_status stn_options_take(const char *what, void *ours, size_t room, const void *given, size_t size,
                                          stn_error *err) {
    memset(ours, 0, room);
    memcpy(ours, given, size < room ? size : room);
    for (size_t i = room; i < size; i++) {
        if (((const unsigned char *)given)[i] != 0) {
            return stn_fail(err, STN_ERR_ARGUMENT,
                            "%s: its options are those of a newer Stiction, and set what this one does not know", what);
        }
    }
    return STN_OK;
}

#endif
