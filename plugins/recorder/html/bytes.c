// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "bytes.h"

uint8_t *bytes_reserve(bytes *b, size_t more) {
    if (b->failed) {
        return NULL;
    }
    if (more > b->capacity - b->count) {
        size_t capacity = b->count + more + (b->count + more) / 2 + 64;
        uint8_t *grown = stn_reallocate(b->context, b->data, b->capacity, capacity, 1);
        if (grown == NULL) {
            b->failed = true;
            return NULL;
        }
        b->data = grown;
        b->capacity = capacity;
    }
    return b->data + b->count;
}

void bytes_put(bytes *b, const void *data, size_t count) {
    uint8_t *at = bytes_reserve(b, count);
    if (at != NULL && count > 0) {
        memcpy(at, data, count);
        b->count += count;
    }
}

void bytes_put_u(bytes *b, uint64_t value) {
    uint8_t *at = bytes_reserve(b, NUMBER_MAX);
    if (at != NULL) {
        b->count += (size_t)(write_u(at, value) - at);
    }
}

void bytes_put_s(bytes *b, int64_t value) {
    bytes_put_u(b, zigzag(value));
}

static void put_little_endian(bytes *b, uint64_t bits, int32_t count) {
    uint8_t *at = bytes_reserve(b, 8);
    for (int32_t i = 0; at != NULL && i < count; i++) {
        at[i] = (uint8_t)(bits >> (8 * i));
    }
    b->count += at != NULL ? (size_t)count : 0;
}

void bytes_put_f32(bytes *b, float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_little_endian(b, bits, 4);
}

void bytes_put_f64(bytes *b, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_little_endian(b, bits, 8);
}

void bytes_put_text(bytes *b, const char *text) {
    size_t length = strlen(text);
    bytes_put_u(b, length);
    bytes_put(b, text, length);
}

void bytes_put_stream(bytes *b, const bytes *stream) {
    b->failed = b->failed || stream->failed;
    bytes_put_u(b, stream->count);
    bytes_put(b, stream->data, stream->count);
}

void bytes_put_planes(bytes *out, const uint8_t *numbers, int32_t count, int32_t size) {
    uint8_t *to = bytes_reserve(out, (size_t)count * (size_t)size);
    if (to == NULL) {
        return;
    }
    for (int32_t plane = 0; plane < size; plane++) {
        for (int32_t i = 0; i < count; i++) {
            *to++ = numbers[i * size + (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? plane : size - 1 - plane)];
        }
    }
    out->count += (size_t)count * (size_t)size;
}

void bytes_clear(bytes *b) {
    b->count = 0;
}

void bytes_release(bytes *b) {
    stn_release(b->context, b->data);
    *b = (bytes){.context = b->context};
}
