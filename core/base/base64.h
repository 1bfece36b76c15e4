// SPDX-License-Identifier: Apache-2.0
// Bytes as text: base64 with padding (RFC 4648, section 4).
#ifndef STICTION_CORE_BASE_BASE64_H
#define STICTION_CORE_BASE_BASE64_H

#include <stiction/base.h>

/// Digits for `count` bytes, without a final NUL.
#define BASE64_SIZE(count) (4 * (((size_t)(count) + 2) / 3))
void base64_encode(const unsigned char *from, size_t count, char *to);

/// `to` holds at least 3/4 `length` bytes; `*size` of them are written. False for anything that is no base64.
bool base64_decode(const char *from, size_t length, unsigned char *to, size_t *size);

#endif
