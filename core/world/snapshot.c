// SPDX-License-Identifier: Apache-2.0
// Snapshots as files: a header, every array of the state, a checksum. Little-endian like every machine it runs on; the header
// says so. Written beside the target and renamed, so that a file is whole or absent.
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/replace.h"
#include "world/snapshot.h"

typedef struct file_header {
    char magic[8];
    uint32_t version, byte_order;
    uint64_t signature, memory_bytes, cache_count;
    double time;
    int64_t step;
    uint64_t rng[4];
    stn_vec3 gravity;
    stn_state_sizes sizes;
} file_header;

static const char magic[8] = {'S', 'T', 'N', 'S', 'T', 'A', 'T', 'E'};
enum { FILE_VERSION = 1, BYTE_ORDER_MARK = 0x01020304 };
static const size_t largest_array = (size_t)1 << 32; // bytes; a damaged header asks for no more

/// A file with a running checksum.
typedef struct stream {
    FILE *file;
    uint64_t checksum;
    bool failed;
} stream;

static void write_bytes(stream *s, const void *bytes, size_t count) {
    s->checksum = stn_hash(s->checksum, bytes, count);
    s->failed = s->failed || fwrite(bytes, 1, count, s->file) != count;
}

static void read_bytes(stream *s, void *bytes, size_t count) {
    s->failed = s->failed || fread(bytes, 1, count, s->file) != count;
    if (!s->failed) {
        s->checksum = stn_hash(s->checksum, bytes, count);
    }
}

static void write_state(stream *s, const stn_snapshot *snapshot) {
    const stn_state *state = &snapshot->state;
    file_header header;
    memset(&header, 0, sizeof header); // padding is hashed
    memcpy(header.magic, magic, sizeof magic);
    header.version = FILE_VERSION;
    header.byte_order = BYTE_ORDER_MARK;
    header.signature = snapshot->signature;
    header.memory_bytes = snapshot->memory_bytes;
    header.cache_count = (uint64_t)state->cache_count;
    header.time = state->time;
    header.step = state->step;
    memcpy(header.rng, state->rng, sizeof header.rng);
    header.gravity = state->gravity;
    header.sizes = state->sizes;
    write_bytes(s, &header, sizeof header);
#define WRITE_MEMBER(name, type, count, unit, text) write_bytes(s, state->name, state->sizes.count * sizeof(type));
    STN_STATE_FIELDS(WRITE_MEMBER)
#undef WRITE_MEMBER
    write_bytes(s, state->cache, (size_t)state->cache_count * sizeof *state->cache);
    write_bytes(s, state->cache_memory, (size_t)state->cache_count * snapshot->memory_bytes);
    uint64_t checksum = s->checksum;
    write_bytes(s, &checksum, sizeof checksum);
}

stn_status stn_snapshot_save(const stn_snapshot *snapshot, const char *path, stn_error *err) {
    char temporary[4096];
    int length = snprintf(temporary, sizeof temporary, "%s.part", path);
    if (length < 0 || (size_t)length >= sizeof temporary) {
        return stn_fail(err, STN_ERR_FILE, "%s: the path is too long", path);
    }
    if (!stn_may_replace(path)) {
        return stn_fail(err, STN_ERR_FILE, "%s: " STN_NOT_REPLACEABLE, path);
    }
    stream s = {.file = fopen(temporary, "wb")};
    if (s.file == NULL) {
        return stn_fail(err, STN_ERR_FILE, "%s: cannot be written: %s", path, strerror(errno));
    }
    write_state(&s, snapshot);
    int written = s.failed || fflush(s.file) != 0 || fsync(fileno(s.file)) != 0;
    int reason = errno;
    written |= fclose(s.file) != 0;
    if (written != 0 || rename(temporary, path) != 0) {
        reason = written != 0 ? reason : errno;
        remove(temporary);
        return stn_fail(err, STN_ERR_FILE, "%s: cannot be written: %s", path, strerror(reason));
    }
    return STN_OK;
}

static bool plausible(const file_header *h) {
    const size_t counts[] = {h->sizes.nq, h->sizes.nv, h->sizes.reference_count, h->sizes.wrench_count,
                             h->sizes.controller_bytes, h->sizes.integrator_bytes, h->cache_count, h->memory_bytes};
    for (int32_t i = 0; i < STN_COUNT(counts); i++) {
        if (counts[i] > largest_array / 64) {
            return false;
        }
    }
    return h->cache_count * (h->memory_bytes + sizeof(stn_cache_entry)) <= largest_array && h->cache_count <= INT32_MAX;
}

static stn_status read_header(stream *s, const char *path, file_header *header, stn_error *err) {
    read_bytes(s, header, sizeof *header);
    if (s->failed || memcmp(header->magic, magic, sizeof magic) != 0) {
        return stn_fail(err, STN_ERR_PARSE, "%s: not a saved state", path);
    }
    if (header->version != FILE_VERSION || header->byte_order != BYTE_ORDER_MARK) {
        return stn_fail(err, STN_ERR_PARSE, "%s: saved by another version (format %u, this is %d); make it again", path,
                        header->version, FILE_VERSION);
    }
    if (!plausible(header)) {
        return stn_fail(err, STN_ERR_PARSE, "%s: damaged (impossible sizes)", path);
    }
    return STN_OK;
}

static stn_status read_state(stream *s, const char *path, const file_header *header, stn_snapshot *snapshot, stn_error *err) {
    stn_state *state = &snapshot->state;
    stn_status status = stn_state_resize(snapshot->context, state, &header->sizes, err);
    if (status != STN_OK) {
        return status;
    }
    state->time = header->time;
    state->step = header->step;
    state->gravity = header->gravity;
    memcpy(state->rng, header->rng, sizeof state->rng);
    state->cache = stn_allocate(snapshot->context, header->cache_count, sizeof *state->cache);
    state->cache_memory = stn_allocate(snapshot->context, header->cache_count, header->memory_bytes);
    if (state->cache == NULL || state->cache_memory == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "%s: out of memory", path);
    }
    state->cache_count = state->cache_capacity = (int32_t)header->cache_count;
#define READ_MEMBER(name, type, count, unit, text) read_bytes(s, state->name, state->sizes.count * sizeof(type));
    STN_STATE_FIELDS(READ_MEMBER)
#undef READ_MEMBER
    read_bytes(s, state->cache, header->cache_count * sizeof *state->cache);
    read_bytes(s, state->cache_memory, header->cache_count * header->memory_bytes);
    uint64_t expected = s->checksum, stored = 0;
    read_bytes(s, &stored, sizeof stored);
    if (s->failed || stored != expected) {
        return stn_fail(err, STN_ERR_PARSE, "%s: damaged or cut off (checksum differs)", path);
    }
    return STN_OK;
}

stn_status stn_snapshot_load(stn_context *context, const char *path, stn_snapshot **out, stn_error *err) {
    *out = NULL;
    stream s = {.file = fopen(path, "rb")};
    if (s.file == NULL) {
        return stn_fail(err, STN_ERR_FILE, "%s: cannot be read: %s", path, strerror(errno));
    }
    file_header header;
    stn_snapshot *snapshot = NULL;
    stn_status status = read_header(&s, path, &header, err);
    if (status == STN_OK) {
        snapshot = stn_allocate(context, 1, sizeof *snapshot);
        status = snapshot != NULL ? STN_OK : stn_fail(err, STN_ERR_MEMORY, "%s: out of memory", path);
    }
    if (status == STN_OK) {
        snapshot->context = context;
        snapshot->signature = header.signature;
        snapshot->memory_bytes = header.memory_bytes;
        status = read_state(&s, path, &header, snapshot, err);
    }
    fclose(s.file);
    if (status != STN_OK) {
        stn_snapshot_destroy(snapshot);
        return status;
    }
    *out = snapshot;
    return STN_OK;
}
