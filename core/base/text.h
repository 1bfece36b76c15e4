// SPDX-License-Identifier: Apache-2.0
#ifndef STICTION_CORE_TEXT_H
#define STICTION_CORE_TEXT_H

#include <stiction/base.h>

/// Adds formatted text behind what `text` (of `size` bytes, terminated) holds; cut where it is full.
void stn_text_append(char *text, size_t size, const char *format, ...) STN_PRINTF(3, 4);

#endif
