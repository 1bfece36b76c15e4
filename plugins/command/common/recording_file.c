// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include <stiction/input.h>

#include "common/recording_file.h"

enum {
    MIB = 1 << 20,
    HEAD_MAX = 16 * MIB,
    LINE_MAX_SIZE = 256 * MIB,
    PAYLOAD_MAX = 256 * MIB,
    SCENE_MAX = 16 * MIB,
    PIECE = 1 << 16
};

static const char format[] = "stiction-recording-1", family[] = "stiction-recording-";
static const char opening[] = "<script type=\"application/x-stiction\" data-kind=\"",
                  length_key[] = "\" data-length=\"", closing[] = "</script>";

/// Bytes that grow.
typedef struct text {
    char *data;
    size_t size, capacity;
} text;

struct cli_recording {
    stn_context *context;
    char *path;
    FILE *file;
    int64_t offset; // of the next line
    text head, line, packed, payload;
    size_t piece_at, piece_size; // what is read ahead of the line
    cli_block block;
    bool pending; // `block` was read ahead
    bool ended, cut;
    char piece[PIECE];
};

static bool make_room(stn_context *context, text *t, size_t more) {
    if (more <= t->capacity - t->size) {
        return true;
    }
    size_t capacity = 2 * (t->size + more);
    char *grown = stn_reallocate(context, t->data, t->capacity, capacity, 1);
    if (grown == NULL) {
        return false;
    }
    t->data = grown;
    t->capacity = capacity;
    return true;
}

static bool append(const cli_recording *r, text *t, const char *from, size_t count) {
    if (!make_room(r->context, t, count)) {
        return false;
    }
    memcpy(t->data + t->size, from, count);
    t->size += count;
    return true;
}

static stn_status out_of_memory(const cli_recording *r, stn_error *err) {
    return stn_fail(err, STN_ERR_MEMORY, "%s: out of memory", r->path);
}

// ------------------------------------------------------------------------------------------------------------ lines

/// The next line, with its end where it has one; nothing at the end of the file.
static stn_status read_line(cli_recording *r, size_t limit, stn_error *err) {
    const char *end = NULL;
    r->line.size = 0;
    while (end == NULL) {
        if (r->piece_at == r->piece_size) {
            r->piece_at = 0;
            r->piece_size = fread(r->piece, 1, PIECE, r->file);
        }
        if (r->piece_size == 0) {
            break;
        }
        const char *from = r->piece + r->piece_at;
        end = memchr(from, '\n', r->piece_size - r->piece_at);
        size_t count = end != NULL ? (size_t)(end - from) + 1 : r->piece_size - r->piece_at;
        if (r->line.size + count > limit) {
            return stn_fail(err, STN_ERR_PARSE, "%s: byte %lld: a line of more than %zu MiB; this is no recording",
                            r->path, (long long)r->offset, limit / MIB);
        }
        if (!append(r, &r->line, from, count)) {
            return out_of_memory(r, err);
        }
        r->piece_at += count;
    }
    return ferror(r->file) ? stn_fail(err, STN_ERR_FILE, "%s: cannot be read: %s", r->path, strerror(errno)) : STN_OK;
}

static bool begins_with(const char *line, size_t size, const char *start) {
    return size >= strlen(start) && memcmp(line, start, strlen(start)) == 0;
}

/// Reads the kind and the length of a block's opening tag; returns where its text begins, NULL when it is none.
static const char *read_tag(const text *line, cli_block *block, size_t *length) {
    const char *at = line->data + strlen(opening), *end = line->data + line->size;
    size_t kind = 0;
    while (at < end && kind + 1 < sizeof block->kind && ((*at >= 'a' && *at <= 'z') || *at == '_')) {
        block->kind[kind++] = *at++;
    }
    block->kind[kind] = '\0';
    if (kind == 0 || !begins_with(at, (size_t)(end - at), length_key)) {
        return NULL;
    }
    at += strlen(length_key);
    *length = 0;
    for (; at < end && *at >= '0' && *at <= '9' && *length <= LINE_MAX_SIZE; at++) {
        *length = 10 * *length + (size_t)(*at - '0');
    }
    return begins_with(at, (size_t)(end - at), "\">") ? at + 2 : NULL;
}

/// Texts of blocks are copied into pages: nothing but digits of base64 may stand in them.
static bool is_base64(const char *digits, size_t length) {
    for (size_t i = 0; i < length; i++) {
        char c = digits[i];
        bool digit = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '/';
        if (!digit && !(c == '=' && i + 2 >= length)) {
            return false;
        }
    }
    return true;
}

/// Takes the line read last apart. A line without end that is not whole was cut off, which ends the file.
static stn_status take_block(cli_recording *r, int64_t offset, stn_error *err) {
    const text *line = &r->line;
    bool has_end = line->data[line->size - 1] == '\n';
    size_t size = line->size - (has_end ? 1 : 0), length = 0;
    cli_block *block = &r->block;
    *block = (cli_block){.offset = offset, .line = line->data, .line_length = size};
    const char *at = read_tag(line, block, &length), *end = line->data + size;
    if (at != NULL && length <= (size_t)(end - at) && (size_t)(end - at) - length == strlen(closing) &&
        memcmp(at + length, closing, strlen(closing)) == 0) {
        if (!is_base64(at, length)) {
            return stn_fail(err, STN_ERR_PARSE, "%s: byte %lld: the block '%s' is no base64; the file is damaged",
                            r->path, (long long)offset, block->kind);
        }
        block->text = at;
        block->text_length = length;
        return STN_OK;
    }
    *block = (cli_block){0};
    if (has_end) {
        return stn_fail(err, STN_ERR_PARSE, "%s: byte %lld: this line is no whole block; the file is damaged", r->path,
                        (long long)offset);
    }
    r->ended = r->cut = true;
    return STN_OK;
}

/// Reads up to the next block, past lines that are none; those before the first block belong to the viewer.
static stn_status read_block(cli_recording *r, bool in_head, stn_error *err) {
    r->block = (cli_block){0};
    while (!r->ended && r->block.kind[0] == '\0') {
        int64_t offset = r->offset;
        stn_status status = read_line(r, in_head ? HEAD_MAX : LINE_MAX_SIZE, err);
        r->offset += (int64_t)r->line.size;
        r->ended = r->line.size == 0;
        if (status < 0 || r->ended) {
            return status;
        }
        if (begins_with(r->line.data, r->line.size, opening)) {
            status = take_block(r, offset, err);
        } else if (in_head && r->head.size + r->line.size > HEAD_MAX) {
            status = stn_fail(err, STN_ERR_PARSE, "%s: no scene in the first %d MiB; this is no recording", r->path,
                              HEAD_MAX / MIB);
        } else if (in_head && !append(r, &r->head, r->line.data, r->line.size)) {
            status = out_of_memory(r, err);
        }
        if (status != STN_OK) {
            return status;
        }
    }
    return STN_OK;
}

stn_status cli_recording_next(cli_recording *r, cli_block *block, stn_error *err) {
    stn_status status = r->pending ? STN_OK : read_block(r, false, err);
    r->pending = false;
    *block = r->block;
    return status;
}

// --------------------------------------------------------------------------------------------------------- payloads

static stn_status damaged(const cli_recording *r, const char *how, stn_error *err) {
    return stn_fail(err, STN_ERR_PARSE, "%s: byte %lld: the block '%s' %s", r->path, (long long)r->block.offset,
                    r->block.kind, how);
}

/// Of at most `limit` bytes when it is unpacked; a zero follows.
static stn_status unpack(cli_recording *r, size_t limit, const uint8_t **payload, size_t *size, stn_error *err) {
    text *out = &r->payload;
    *payload = NULL;
    *size = out->size = r->packed.size = 0;
    if (!make_room(r->context, &r->packed, r->block.text_length + 4)) {
        return out_of_memory(r, err);
    }
    if (!stn_base64_decode(r->block.text, r->block.text_length, (unsigned char *)r->packed.data, &r->packed.size)) {
        return damaged(r, "is no base64; the file is damaged", err);
    }
    z_stream stream = {.next_in = (Bytef *)r->packed.data, .avail_in = (uInt)r->packed.size};
    if (inflateInit(&stream) != Z_OK) {
        return out_of_memory(r, err);
    }
    int state = Z_OK;
    while (state == Z_OK && out->size <= limit) {
        if (!make_room(r->context, out, PIECE)) {
            state = Z_MEM_ERROR;
            break;
        }
        stream.next_out = (Bytef *)out->data + out->size;
        stream.avail_out = PIECE - 1;
        state = inflate(&stream, Z_NO_FLUSH);
        out->size += PIECE - 1 - stream.avail_out;
    }
    inflateEnd(&stream);
    if (state == Z_OK) {
        char how[40];
        snprintf(how, sizeof how, "holds more than %zu MiB", limit / MIB);
        return damaged(r, how, err);
    }
    if (state == Z_MEM_ERROR) {
        return out_of_memory(r, err);
    }
    if (state != Z_STREAM_END || stream.avail_in > 0) {
        return damaged(r, "cannot be unpacked; the file is damaged", err);
    }
    out->data[out->size] = '\0';
    *payload = (const uint8_t *)out->data;
    *size = out->size;
    return STN_OK;
}

stn_status cli_recording_unpack(cli_recording *r, const uint8_t **payload, size_t *size, stn_error *err) {
    return unpack(r, PAYLOAD_MAX, payload, size, err);
}

stn_status cli_recording_scene(cli_recording *r, cJSON **out, stn_error *err) {
    const uint8_t *payload = NULL;
    size_t size = 0;
    *out = NULL;
    stn_status status = unpack(r, SCENE_MAX, &payload, &size, err);
    if (status < 0) {
        return status;
    }
    cJSON *json = cJSON_ParseWithLengthOpts((const char *)payload, size + 1, NULL, true);
    const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "format"));
    if (name != NULL && strcmp(name, format) == 0) {
        *out = json;
        return STN_OK;
    }
    if (name != NULL && begins_with(name, strlen(name), family)) {
        status = stn_fail(err, STN_ERR_UNSUPPORTED, "%s: the format is \"%.40s\", this version reads \"%s\"", r->path,
                          name, format);
    } else {
        status = damaged(r, "is no scene of a recording", err);
    }
    cJSON_Delete(json);
    return status;
}

// ------------------------------------------------------------------------------------------------------------- file

static stn_status read_first_scene(cli_recording *r, stn_error *err) {
    stn_status status = read_block(r, true, err);
    if (status < 0) {
        return status;
    }
    if (r->block.kind[0] == '\0') {
        return stn_fail(err, STN_ERR_PARSE,
                        r->cut ? "%s: the file was cut off before its scene; record again"
                               : "%s: is no recording (stiction run SCRIPT --record FILE makes one), or its run ended "
                                 "before the first frame",
                        r->path);
    }
    if (strcmp(r->block.kind, "scene") != 0) {
        return damaged(r, "stands before the scene; the file is damaged", err);
    }
    cJSON *scene = NULL;
    status = cli_recording_scene(r, &scene, err);
    cJSON_Delete(scene);
    r->pending = true;
    return status;
}

stn_status cli_recording_open(stn_context *context, const char *path, cli_recording **out, stn_error *err) {
    *out = NULL;
    cli_recording *r = stn_allocate(context, 1, sizeof *r);
    if (r == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "%s: out of memory", path);
    }
    r->context = context;
    r->path = stn_duplicate_text(context, path);
    size_t size = 0;
    int descriptor = r->path != NULL ? stn_open_regular(path, 0, &size) : -1;
    r->file = descriptor >= 0 ? fdopen(descriptor, "rb") : NULL;
    stn_status status = STN_OK;
    if (r->path == NULL) {
        status = stn_fail(err, STN_ERR_MEMORY, "%s: out of memory", path);
    } else if (r->file == NULL) {
        status = stn_fail(err, STN_ERR_FILE, "%s: cannot be read: %s", path,
                          errno == EINVAL ? "it is no regular file" : strerror(errno));
        if (descriptor >= 0) {
            close(descriptor);
        }
    } else if (size == 0) {
        status = stn_fail(err, STN_ERR_PARSE, "%s: the file is empty; it is no recording", path);
    } else {
        status = read_first_scene(r, err);
    }
    if (status < 0) {
        cli_recording_close(r);
        return status;
    }
    *out = r;
    return STN_OK;
}

void cli_recording_close(cli_recording *r) {
    if (r == NULL) {
        return;
    }
    if (r->file != NULL) {
        fclose(r->file);
    }
    stn_release(r->context, r->head.data);
    stn_release(r->context, r->line.data);
    stn_release(r->context, r->packed.data);
    stn_release(r->context, r->payload.data);
    stn_release(r->context, r->path);
    stn_release(r->context, r);
}

const char *cli_recording_head(const cli_recording *r, size_t *size) {
    *size = r->head.size;
    return r->head.data;
}

bool cli_recording_is_cut(const cli_recording *r) {
    return r->cut;
}
