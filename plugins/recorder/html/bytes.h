// SPDX-License-Identifier: Apache-2.0
// Bytes that grow, and the numbers of docs/recording.md in them.
#ifndef RECORDER_HTML_BYTES_H
#define RECORDER_HTML_BYTES_H

#include <math.h>

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
/// `count` numbers of `size` bytes as planes, little-endian: the first bytes of all, then the second bytes, ...
void bytes_put_planes(bytes *b, const uint8_t *numbers, int32_t count, int32_t size);
void bytes_clear(bytes *b); ///< keeps the memory
void bytes_release(bytes *b);

// The hot ones write behind a place that bytes_reserve gave, NUMBER_MAX bytes at most, and return the next place.

enum { NUMBER_MAX = 10 };

static inline uint8_t *write_u(uint8_t *at, uint64_t value) {
    for (; value >= 0x80; value >>= 7) {
        *at++ = (uint8_t)(value | 0x80);
    }
    *at++ = (uint8_t)value;
    return at;
}

static inline uint64_t zigzag(int64_t value) {
    return ((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0);
}

static inline uint8_t *write_s(uint8_t *at, int64_t value) {
    return write_u(at, zigzag(value));
}

/// value per_unit as a whole number; `otherwise` when it is not finite, or too large: a difference of two such numbers
/// has 52 bits and its zigzag 53, which JavaScript still tells exactly.
static inline int64_t quantise(double value, double per_unit, int64_t otherwise) {
    double number = value * per_unit;
    return fabs(number) < 0x1p51 ? llrint(number) : otherwise;
}

#endif
