// SPDX-License-Identifier: Apache-2.0
// PNG files (ISO/IEC 15948): a signature, then chunks of length, type, data and CRC: IHDR (8 bits of R, G, B), sRGB,
// iTXt, IDAT with one deflated stream of all rows, IEND. Before a row is deflated each byte becomes its difference from
// a prediction, by which of three filters gives the smallest sum of differences: left neighbour, the one above, or
// Paeth's choice of these two and the one above left.
//
// The file grows beside its path under another name and is renamed when it is whole.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include "picture.h"

enum { PIECE = 1 << 16, FILTERS = 3, PIXEL = 3 };
typedef enum filter { FILTER_LEFT = 1, FILTER_ABOVE = 2, FILTER_PAETH = 4 } filter; // numbers of the standard

struct writer {
    stn_context *context;
    FILE *file;
    stn_output output;
    char *path;
    int failure; // errno of the first
    bool deflating;
    z_stream stream;
    size_t row_size;
    uint8_t *above;    // the last row, behind PIXEL zeros
    uint8_t *here;     // this one, likewise
    uint8_t *filtered; // FILTERS rows, each behind the number of its filter
    uint8_t piece[PIECE];
};

// ----------------------------------------------------------------------------------------------------------- chunks

static void put(writer *w, const void *bytes, size_t count) {
    if (w->failure == 0 && fwrite(bytes, 1, count, w->file) != count) {
        w->failure = errno != 0 ? errno : EIO;
    }
}

static void set_number(uint8_t bytes[4], uint32_t number) {
    for (int32_t i = 0; i < 4; i++) {
        bytes[i] = (uint8_t)(number >> (24 - 8 * i));
    }
}

static void put_number(writer *w, uint32_t number) {
    uint8_t bytes[4];
    set_number(bytes, number);
    put(w, bytes, sizeof bytes);
}

/// A chunk whose data come in two parts.
static void put_chunk(writer *w, const char *type, const void *head, size_t head_size, const void *body, size_t size) {
    uLong crc = crc32(0, (const Bytef *)type, 4);
    crc = head_size > 0 ? crc32(crc, head, (uInt)head_size) : crc;
    crc = size > 0 ? crc32(crc, body, (uInt)size) : crc;
    put_number(w, (uint32_t)(head_size + size));
    put(w, type, 4);
    put(w, head, head_size);
    put(w, body, size);
    put_number(w, (uint32_t)crc);
}

static void deflate_bytes(writer *w, uint8_t *bytes, size_t count, int flush) {
    w->stream.next_in = bytes;
    w->stream.avail_in = (uInt)count;
    int state = Z_OK;
    do {
        w->stream.next_out = w->piece;
        w->stream.avail_out = PIECE;
        state = deflate(&w->stream, flush);
        size_t made = PIECE - w->stream.avail_out;
        if (made > 0) {
            put_chunk(w, "IDAT", "", 0, w->piece, made);
        }
    } while (w->stream.avail_out == 0 && state != Z_STREAM_ERROR);
}

// ------------------------------------------------------------------------------------------------------------- rows

static int32_t paeth(int32_t left, int32_t above, int32_t corner) {
    int32_t estimate = left + above - corner;
    int32_t to_left = abs(estimate - left), to_above = abs(estimate - above), to_corner = abs(estimate - corner);
    if (to_left <= to_above && to_left <= to_corner) {
        return left;
    }
    return to_above <= to_corner ? above : corner;
}

void writer_row(writer *w, const uint8_t *row) {
    static const filter kinds[FILTERS] = {FILTER_LEFT, FILTER_ABOVE, FILTER_PAETH};
    memcpy(w->here + PIXEL, row, w->row_size);
    uint8_t *best = NULL;
    uint32_t least = UINT32_MAX;
    for (size_t k = 0; k < FILTERS; k++) {
        uint8_t *line = w->filtered + k * (w->row_size + 1), *out = line + 1;
        filter kind = kinds[k];
        uint32_t sum = 0; // of the differences, taken as signed bytes
        line[0] = (uint8_t)kind;
        const uint8_t *here = w->here + PIXEL, *above = w->above + PIXEL;
        for (size_t i = 0; i < w->row_size; i++) {
            const uint8_t *left = here + i - PIXEL, *corner = above + i - PIXEL;
            int32_t guess = kind == FILTER_LEFT    ? *left
                            : kind == FILTER_ABOVE ? above[i]
                                                   : paeth(*left, above[i], *corner);
            out[i] = (uint8_t)(here[i] - guess);
            sum += out[i] < 128 ? out[i] : 256u - out[i];
        }
        if (sum < least) {
            least = sum;
            best = line;
        }
    }
    deflate_bytes(w, best, w->row_size + 1, Z_NO_FLUSH);
    uint8_t *last = w->above;
    w->above = w->here;
    w->here = last;
}

// ------------------------------------------------------------------------------------------------------------- file

static stn_status fail_path(const char *path, int code, stn_error *err) {
    return stn_fail(err, STN_ERR_FILE, "%s: cannot be written: %s", path, strerror(code));
}

/// Its stream has a descriptor of its own, so that closing it leaves the output open. After a failure nothing is left
/// to release.
static stn_status open_output(const char *path, stn_output *output, FILE **file, stn_error *err) {
    stn_status status = stn_output_open(path, STN_OUTPUT_WHOLE, output, err);
    if (status != STN_OK) {
        return status;
    }
    int descriptor = fcntl(output->descriptor, F_DUPFD_CLOEXEC, 0);
    *file = descriptor >= 0 ? fdopen(descriptor, "wb") : NULL;
    if (*file == NULL) {
        int code = errno;
        if (descriptor >= 0) {
            close(descriptor);
        }
        stn_output_close(output, STN_OUTPUT_DROP, NULL);
        return fail_path(path, code, err);
    }
    return STN_OK;
}

stn_status writer_try(const char *path, stn_error *err) {
    stn_output output;
    stn_status status = stn_output_open(path, STN_OUTPUT_WHOLE, &output, err);
    return status == STN_OK ? stn_output_close(&output, STN_OUTPUT_DROP, err) : status;
}

static voidpf allocate_zlib(voidpf context, uInt count, uInt size) {
    return stn_allocate(context, count, size);
}

static void release_zlib(voidpf context, voidpf memory) {
    stn_release(context, memory);
}

static void release(writer *w) {
    if (w->deflating) {
        deflateEnd(&w->stream);
    }
    stn_release(w->context, w->path);
    stn_release(w->context, w->above);
    stn_release(w->context, w->here);
    stn_release(w->context, w->filtered);
    stn_release(w->context, w);
}

stn_status writer_open(stn_context *context, const char *path, int32_t width, int32_t height, const char *text,
                       writer **out, stn_error *err) {
    static const uint8_t signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    static const char keyword[] = "Comment\0\0\0\0"; // no compression, no language, keyword not translated
    writer *w = stn_allocate(context, 1, sizeof *w);
    *out = NULL;
    if (w == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "%s: out of memory", path);
    }
    w->context = context;
    w->row_size = PIXEL * (size_t)width;
    w->path = stn_duplicate_text(context, path);
    w->above = stn_allocate(context, w->row_size + PIXEL, 1);
    w->here = stn_allocate(context, w->row_size + PIXEL, 1);
    w->filtered = stn_allocate(context, w->row_size + 1, FILTERS);
    w->stream = (z_stream){.zalloc = allocate_zlib, .zfree = release_zlib, .opaque = context};
    w->deflating = deflateInit(&w->stream, Z_DEFAULT_COMPRESSION) == Z_OK;
    bool whole = w->path != NULL && w->above != NULL && w->here != NULL && w->filtered != NULL && w->deflating;
    stn_status status =
        whole ? open_output(path, &w->output, &w->file, err) : stn_fail(err, STN_ERR_MEMORY, "%s: out of memory", path);
    if (status < 0) {
        release(w);
        return status;
    }
    uint8_t size[13] = {[8] = 8, [9] = 2}; // bits a channel, RGB
    set_number(size, (uint32_t)width);
    set_number(size + 4, (uint32_t)height);
    put(w, signature, sizeof signature);
    put_chunk(w, "IHDR", size, sizeof size, "", 0);
    put_chunk(w, "sRGB", "", 1, "", 0); // perceptual
    put_chunk(w, "iTXt", keyword, sizeof keyword, text, strlen(text));
    *out = w;
    return STN_OK;
}

stn_status writer_close(writer *w, bool keep, stn_error *err) {
    if (keep) {
        deflate_bytes(w, w->piece, 0, Z_FINISH);
        put_chunk(w, "IEND", "", 0, "", 0);
    }
    if (w->failure == 0 && fflush(w->file) != 0) {
        w->failure = errno;
    }
    if (fclose(w->file) != 0 && w->failure == 0) {
        w->failure = errno;
    }
    bool kept = keep && w->failure == 0;
    stn_status status = w->failure != 0 ? fail_path(w->path, w->failure, err) : STN_OK;
    stn_status ended = stn_output_close(&w->output, kept ? STN_OUTPUT_KEEP : STN_OUTPUT_DROP, kept ? err : NULL);
    release(w);
    return status == STN_OK ? ended : status;
}
