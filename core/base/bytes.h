// SPDX-License-Identifier: Apache-2.0
// Values as bytes and back: one list of fields serves both directions. Little-endian, as every machine it runs on; a
// mark says so. Reading trusts nothing: every count is held against the bytes that are left before memory is asked for.
#ifndef STICTION_CORE_BASE_BYTES_H
#define STICTION_CORE_BASE_BYTES_H

#include <stiction/context.h>

/// A stream in one direction. Once `failed` (no memory, or bytes that are missing or impossible) nothing more happens:
/// what is read then is zero. A zeroed one with a context writes.
typedef struct byte_stream {
    stn_context *context;
    bool reading, failed, no_memory; // no_memory: why it failed
    unsigned char *data;             // writing: owned, bytes_clear
    size_t size, capacity;
    const unsigned char *at, *end; // reading: borrowed, what is left
} byte_stream;

byte_stream bytes_writer(stn_context *context);
byte_stream bytes_reader(stn_context *context, const void *data, size_t size);
void bytes_clear(byte_stream *b);                ///< releases what was written
static inline void bytes_empty(byte_stream *b) { // keeps the memory
    b->size = 0;
    b->failed = b->no_memory = false;
}
static inline size_t bytes_left(const byte_stream *b) { // to be read
    return (size_t)(b->end - b->at);
}

/// Writes `size` bytes of `value`, or reads them into it.
void bytes_pass(byte_stream *b, void *value, size_t size);
/// A value of a type without padding, pointers, bool or enum.
#define BYTES_PASS(b, value) bytes_pass((b), (value), sizeof *(value))
void bytes_pass_bool(byte_stream *b, bool *value);
/// An enumerator, or a count that must be at least 0 and at most `limit`.
void bytes_pass_count(byte_stream *b, int32_t *value, int32_t limit);
/// NULL stays NULL. What is read is borrowed from the bytes.
void bytes_pass_text(byte_stream *b, const char **text);
/// `count` values of `size` bytes. What is read lies in the arena.
void bytes_pass_array(byte_stream *b, stn_arena *arena, const void **values, size_t count, size_t size);

/// Unsigned LEB128.
void bytes_put_varint(byte_stream *b, uint64_t value);
uint64_t bytes_get_varint(byte_stream *b);
/// `size` bytes where they lie, NULL when there are fewer.
const unsigned char *bytes_get_view(byte_stream *b, size_t size);

/// A file or block: eight letters, a version, the order of bytes, then values, then a checksum of all bytes before. A
/// writer begins and seals it; opening checks all of that and leaves the values: STN_ERR_PARSE "not WHAT", "of another
/// version", "damaged or cut off".
byte_stream bytes_begin(stn_context *context, const char magic[8], uint32_t version);
void bytes_seal(byte_stream *b);
stn_status bytes_open(stn_context *context, const void *data, size_t size, const char *what, const char magic[8],
                      uint32_t version, byte_stream *out, stn_error *err);
/// One block in another.
void bytes_put_block(byte_stream *b, const void *data, size_t size);
const unsigned char *bytes_get_block(byte_stream *b, size_t *size);

void bytes_out_of_memory(byte_stream *b); ///< notes that memory for what was read is missing
/// What became of it: STN_OK, STN_ERR_MEMORY, or STN_ERR_PARSE "damaged" of a reader.
stn_status bytes_status(const byte_stream *b, stn_error *err);

#endif
