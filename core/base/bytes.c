// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "base/bytes.h"

static const uint32_t byte_order_mark = 0x01020304;

byte_stream bytes_writer(stn_context *context) {
    return (byte_stream){.context = context};
}

byte_stream bytes_reader(stn_context *context, const void *data, size_t size) {
    static const unsigned char none = 0;
    const unsigned char *at = size > 0 ? data : &none;
    return (byte_stream){.context = context, .reading = true, .at = at, .end = at + size};
}

void bytes_clear(byte_stream *b) {
    stn_release(b->context, b->data);
    b->data = NULL;
    b->size = b->capacity = 0;
}

void bytes_out_of_memory(byte_stream *b) {
    b->failed = b->no_memory = true;
}

// ------------------------------------------------------------------------------------------------------- one value

static void put(byte_stream *b, const void *value, size_t size) {
    if (b->failed || size == 0) {
        return;
    }
    if (size > b->capacity - b->size) {
        size_t wanted = 2 * b->capacity > b->size + size ? 2 * b->capacity : b->size + size + 256;
        unsigned char *grown = stn_reallocate(b->context, b->data, b->capacity, wanted, 1);
        if (grown == NULL) {
            bytes_out_of_memory(b);
            return;
        }
        b->data = grown;
        b->capacity = wanted;
    }
    memcpy(b->data + b->size, value, size);
    b->size += size;
}

const unsigned char *bytes_get_view(byte_stream *b, size_t size) {
    if (b->failed || size > bytes_left(b)) {
        b->failed = true;
        return NULL;
    }
    const unsigned char *view = b->at;
    b->at += size;
    return view;
}

void bytes_pass(byte_stream *b, void *value, size_t size) {
    if (!b->reading) {
        put(b, value, size);
        return;
    }
    const unsigned char *view = bytes_get_view(b, size);
    if (view == NULL) {
        memset(value, 0, size);
    } else {
        memcpy(value, view, size);
    }
}

void bytes_pass_bool(byte_stream *b, bool *value) {
    unsigned char byte = !b->reading && *value ? 1 : 0;
    BYTES_PASS(b, &byte);
    b->failed = b->failed || byte > 1;
    *value = byte == 1;
}

void bytes_pass_count(byte_stream *b, int32_t *value, int32_t limit) {
    BYTES_PASS(b, value);
    if (b->reading && (*value < 0 || *value > limit)) {
        b->failed = true;
        *value = 0;
    }
}

/// Length with its zero, 0 for NULL; then the text with its zero.
void bytes_pass_text(byte_stream *b, const char **text) {
    uint32_t length = b->reading || *text == NULL ? 0 : (uint32_t)strlen(*text) + 1;
    BYTES_PASS(b, &length);
    if (!b->reading) {
        put(b, *text, length);
        return;
    }
    const char *view = length > 0 ? (const char *)bytes_get_view(b, length) : NULL;
    if (view != NULL && memchr(view, '\0', length) != view + length - 1) {
        b->failed = true;
    }
    *text = b->failed ? NULL : view;
}

void bytes_pass_array(byte_stream *b, stn_arena *arena, const void **values, size_t count, size_t size) {
    if (!b->reading) {
        put(b, *values, count * size);
        return;
    }
    const unsigned char *view = count <= bytes_left(b) / size ? bytes_get_view(b, count * size) : NULL;
    void *copy = view != NULL ? stn_arena_allocate(arena, count, size) : NULL;
    *values = copy;
    if (copy != NULL) {
        memcpy(copy, view, count * size);
    } else if (view != NULL) {
        bytes_out_of_memory(b);
    } else {
        b->failed = true;
    }
}

void bytes_put_varint(byte_stream *b, uint64_t value) {
    unsigned char digits[10];
    size_t count = 0;
    for (; value >= 0x80; value >>= 7) {
        digits[count++] = (unsigned char)(value | 0x80);
    }
    digits[count++] = (unsigned char)value;
    put(b, digits, count);
}

uint64_t bytes_get_varint(byte_stream *b) {
    uint64_t value = 0;
    for (int32_t shift = 0; shift < 63; shift += 7) {
        const unsigned char *digit = bytes_get_view(b, 1);
        if (digit == NULL) {
            return 0;
        }
        value |= (uint64_t)(*digit & 0x7f) << shift;
        if (*digit < 0x80) {
            return value;
        }
    }
    b->failed = true; // no number here has that many digits
    return 0;
}

// ------------------------------------------------------------------------------------------------------ whole blocks

typedef struct block_head {
    char magic[8];
    uint32_t version, byte_order;
} block_head;

byte_stream bytes_begin(stn_context *context, const char magic[8], uint32_t version) {
    byte_stream b = bytes_writer(context);
    block_head head = {.version = version, .byte_order = byte_order_mark};
    memcpy(head.magic, magic, sizeof head.magic);
    BYTES_PASS(&b, &head);
    return b;
}

void bytes_seal(byte_stream *b) {
    uint64_t checksum = b->failed ? 0 : stn_hash(0, b->data, b->size);
    put(b, &checksum, sizeof checksum);
}

stn_status bytes_open(stn_context *context, const void *data, size_t size, const char *what, const char magic[8],
                      uint32_t version, byte_stream *out, stn_error *err) {
    byte_stream b = bytes_reader(context, data, size);
    block_head head;
    BYTES_PASS(&b, &head);
    if (b.failed || memcmp(head.magic, magic, sizeof head.magic) != 0) {
        return stn_fail(err, STN_ERR_PARSE, "not %s", what);
    }
    if (head.version != version || head.byte_order != byte_order_mark) {
        return stn_fail(err, STN_ERR_PARSE, "%s of another version (format %u, this is %u); make it again", what,
                        (unsigned)head.version, (unsigned)version);
    }
    uint64_t stored = 0;
    bool whole = bytes_left(&b) >= sizeof stored;
    if (whole) {
        b.end -= sizeof stored;
        memcpy(&stored, b.end, sizeof stored);
    }
    if (!whole || stn_hash(0, data, size - sizeof stored) != stored) {
        return stn_fail(err, STN_ERR_PARSE, "%s: damaged or cut off (checksum differs)", what);
    }
    *out = b;
    return STN_OK;
}

void bytes_put_block(byte_stream *b, const void *data, size_t size) {
    bytes_put_varint(b, size);
    put(b, data, size);
}

const unsigned char *bytes_get_block(byte_stream *b, size_t *size) {
    *size = (size_t)bytes_get_varint(b);
    const unsigned char *view = bytes_get_view(b, *size);
    *size = view != NULL ? *size : 0;
    return view;
}

stn_status bytes_status(const byte_stream *b, stn_error *err) {
    if (!b->failed) {
        return STN_OK;
    }
    return b->no_memory ? stn_fail(err, STN_ERR_MEMORY, "out of memory")
                        : stn_fail(err, STN_ERR_PARSE, "damaged (impossible sizes or values)");
}
