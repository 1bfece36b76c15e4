// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "base/bytes.h"

static const uint32_t byte_order_mark = 0x01020304;

bytes bytes_writer(stn_context *context) {
    return (bytes){.context = context};
}

bytes bytes_reader(stn_context *context, const void *data, size_t size) {
    static const unsigned char none = 0;
    const unsigned char *at = size > 0 ? data : &none;
    return (bytes){.context = context, .reading = true, .at = at, .end = at + size};
}

void bytes_clear(bytes *b) {
    stn_release(b->context, b->data);
    b->data = NULL;
    b->size = b->capacity = 0;
}

void bytes_out_of_memory(bytes *b) {
    b->failed = b->no_memory = true;
}

// ------------------------------------------------------------------------------------------------------- one value

static bool grow(bytes *b, size_t size) {
    if (size <= b->capacity - b->size) {
        return true;
    }
    size_t wanted = 2 * b->capacity > b->size + size ? 2 * b->capacity : b->size + size + 256;
    unsigned char *grown = stn_reallocate(b->context, b->data, b->capacity, wanted, 1);
    if (grown == NULL) {
        bytes_out_of_memory(b);
        return false;
    }
    b->data = grown;
    b->capacity = wanted;
    return true;
}

static void put(bytes *b, const void *value, size_t size) {
    if (!b->failed && size > 0 && grow(b, size)) {
        memcpy(b->data + b->size, value, size);
        b->size += size;
    }
}

const unsigned char *bytes_get_view(bytes *b, size_t size) {
    if (b->failed || size > bytes_left(b)) {
        b->failed = true;
        return NULL;
    }
    const unsigned char *view = b->at;
    b->at += size;
    return view;
}

void bytes_pass(bytes *b, void *value, size_t size) {
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

void bytes_pass_bool(bytes *b, bool *value) {
    unsigned char byte = !b->reading && *value ? 1 : 0;
    BYTES_PASS(b, &byte);
    b->failed = b->failed || byte > 1;
    *value = byte == 1;
}

void bytes_pass_count(bytes *b, int32_t *value, int32_t limit) {
    BYTES_PASS(b, value);
    if (b->reading && (*value < 0 || *value > limit)) {
        b->failed = true;
        *value = 0;
    }
}

/// Length with its zero, 0 for NULL; then the text with its zero.
void bytes_pass_text(bytes *b, const char **text) {
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

void bytes_pass_array(bytes *b, stn_arena *arena, const void **values, size_t count, size_t size) {
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

void bytes_put_varint(bytes *b, uint64_t value) {
    unsigned char digits[10];
    size_t count = 0;
    for (; value >= 0x80; value >>= 7) {
        digits[count++] = (unsigned char)(value | 0x80);
    }
    digits[count++] = (unsigned char)value;
    put(b, digits, count);
}

uint64_t bytes_get_varint(bytes *b) {
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

bytes bytes_begin(stn_context *context, const char magic[8], uint32_t version) {
    bytes b = bytes_writer(context);
    block_head head = {.version = version, .byte_order = byte_order_mark};
    memcpy(head.magic, magic, sizeof head.magic);
    BYTES_PASS(&b, &head);
    return b;
}

void bytes_seal(bytes *b) {
    uint64_t checksum = b->failed ? 0 : stn_hash(0, b->data, b->size);
    put(b, &checksum, sizeof checksum);
}

stn_status bytes_open(stn_context *context, const void *data, size_t size, const char *what, const char magic[8],
                      uint32_t version, bytes *out, stn_error *err) {
    bytes b = bytes_reader(context, data, size);
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

void bytes_put_block(bytes *b, const void *data, size_t size) {
    bytes_put_varint(b, size);
    put(b, data, size);
}

const unsigned char *bytes_get_block(bytes *b, size_t *size) {
    *size = (size_t)bytes_get_varint(b);
    const unsigned char *view = bytes_get_view(b, *size);
    *size = view != NULL ? *size : 0;
    return view;
}

stn_status bytes_status(const bytes *b, stn_error *err) {
    if (!b->failed) {
        return STN_OK;
    }
    return b->no_memory ? stn_fail(err, STN_ERR_MEMORY, "out of memory")
                        : stn_fail(err, STN_ERR_PARSE, "damaged (impossible sizes or values)");
}
