// SPDX-License-Identifier: Apache-2.0
// Bytes that grow, and the numbers of docs/recording.md in them.
#ifndef RECORDER_HTML_BYTES_H
#define RECORDER_HTML_BYTES_H

#include <stiction/context.h>

/// `failed` once memory ran out: what is put after that is lost.
typedef struct bytes {
    stn_context *context;
    uint8_t *data;
    size_t count, capacity;
    bool failed;
} bytes;

/// Room for `more` bytes behind those that are there; NULL when out of memory.
uint8_t *bytes_reserve(bytes *b, size_t more);
void bytes_put(bytes *b, const void *data, size_t count);
void bytes_put_u(bytes *b, uint64_t value);
void bytes_put_s(bytes *b, int64_t value);
void bytes_put_f32(bytes *b, float value);
void bytes_put_f64(bytes *b, double value);
void bytes_put_text(bytes *b, const char *text); ///< its length, then its characters
/// Its length, then all of it.
void bytes_put_stream(bytes *b, const bytes *stream);
void bytes_clear(bytes *b); ///< keeps the memory
void bytes_release(bytes *b);

/// value / unit as a whole number; `otherwise` when it is not finite or too large to be told exactly in JavaScript.
int64_t quantise(double value, double unit, int64_t otherwise);

#endif
