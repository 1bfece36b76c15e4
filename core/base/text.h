// SPDX-License-Identifier: Apache-2.0
#ifndef STICTION_CORE_BASE_TEXT_H
#define STICTION_CORE_BASE_TEXT_H

#include <string.h>

#include <stiction/base.h>

/// Adds formatted text behind what `text` (of `size` bytes, terminated) holds; cut where it is full.
void stn_text_append(char *text, size_t size, const char *format, ...) STN_PRINTF(3, 4);

/// Does it end so, with something before it?
static inline bool text_ends_with(const char *text, const char *ending) {
    size_t size = strlen(text), tail = strlen(ending);
    return size > tail && strcmp(text + size - tail, ending) == 0;
}

#endif
