// SPDX-License-Identifier: Apache-2.0
// The page: the viewer, then blocks of one line each. A block goes into the file with one write, so that a process that
// is killed leaves whole blocks.
#define _GNU_SOURCE // memmem
#include <stdio.h>
#include <string.h>

#include "html.h"

enum { LEVEL = 1 }; // of deflate

// The page up to the first block, built from viewer/.
__asm__(".section .rodata\n"
        ".global recorder_html_head, recorder_html_head_end\n"
        ".hidden recorder_html_head, recorder_html_head_end\n"
        "recorder_html_head:\n"
        ".incbin \"" RECORDER_HTML_HEAD "\"\n"
        "recorder_html_head_end:\n"
        ".byte 0\n"
        ".previous\n");
extern const char recorder_html_head[], recorder_html_head_end[];

static voidpf allocate_zlib(voidpf context, uInt count, uInt size) {
    return stn_allocate(context, count, size);
}

static void release_zlib(voidpf context, voidpf memory) {
    stn_release(context, memory);
}

static void release(page *p) {
    if (p->deflating) {
        deflateEnd(&p->stream);
    }
    bytes_release(&p->packed);
    bytes_release(&p->line);
    stn_release(p->context, p->path);
    *p = (page){.output = {.descriptor = -1}};
}

/// What the page without a viewer says, where npm could not bring one (viewer.cmake).
static const char without_viewer[] = "<meta name=\"stiction-viewer\" content=\"none\">";

stn_status page_open(page *p, stn_context *context, const char *path, stn_error *err) {
    *p = (page){
        .context = context, .output = {.descriptor = -1}, .packed = {.context = context}, .line = {.context = context}};
    size_t head_size = (size_t)(recorder_html_head_end - recorder_html_head);
    p->path = stn_duplicate_text(context, path);
    p->stream = (z_stream){.zalloc = allocate_zlib, .zfree = release_zlib, .opaque = context};
    p->deflating = p->path != NULL && deflateInit(&p->stream, LEVEL) == Z_OK;
    stn_status status = STN_OK;
    if (!p->deflating) {
        status = stn_fail(err, STN_ERR_MEMORY, "%s: out of memory", path);
    } else {
        status = stn_output_open(path, STN_OUTPUT_STREAM, &p->output, err);
    }
    if (status == STN_OK) {
        status = stn_output_append(&p->output, p->path, recorder_html_head, head_size, err);
    }
    if (status < 0) {
        if (p->output.descriptor >= 0) {
            stn_output_close(&p->output, STN_OUTPUT_DROP, NULL);
        }
        release(p);
    } else if (memmem(recorder_html_head, head_size, without_viewer, sizeof without_viewer - 1) != NULL) {
        stn_log(context, STN_LOG_WARNING,
                "recorder html: %s is recorded without the viewer, which this build lacks: ./dev viewer builds it",
                path);
    }
    return status;
}

/// Deflates into p->packed.
static bool pack(page *p, const char *kind, const bytes *payload) {
    bytes_clear(&p->packed);
    uint8_t *into = bytes_reserve(&p->packed, deflateBound(&p->stream, payload->count));
    // frames are differences, which are alike in runs only: to search them for more finds nothing and costs most of the
    // time
    int strategy = strcmp(kind, "frames") == 0 ? Z_RLE : Z_DEFAULT_STRATEGY;
    if (into == NULL || deflateReset(&p->stream) != Z_OK || deflateParams(&p->stream, LEVEL, strategy) != Z_OK) {
        return false;
    }
    p->stream.next_in = payload->data;
    p->stream.avail_in = (uInt)payload->count;
    p->stream.next_out = into;
    p->stream.avail_out = (uInt)(p->packed.capacity < UINT32_MAX ? p->packed.capacity : UINT32_MAX);
    bool done = deflate(&p->stream, Z_FINISH) == Z_STREAM_END;
    p->packed.count = p->stream.total_out;
    return done;
}

stn_status page_block(page *p, const char *kind, const bytes *payload, stn_error *err) {
    static const char end[] = "</script>\n";
    if (payload->failed || payload->count > UINT32_MAX / 2 || !pack(p, kind, payload)) {
        return stn_fail(err, STN_ERR_MEMORY, "%s: out of memory for a block of %zu bytes", p->path, payload->count);
    }
    char tag[128];
    size_t size = STN_BASE64_SIZE(p->packed.count);
    int length = snprintf(tag, sizeof tag,
                          "<script type=\"application/x-stiction\" data-kind=\"%s\" data-length=\"%zu\">", kind, size);
    bytes_clear(&p->line);
    bytes_put(&p->line, tag, (size_t)length);
    uint8_t *to = bytes_reserve(&p->line, size);
    if (to != NULL) {
        stn_base64_encode(p->packed.data, p->packed.count, (char *)to);
        p->line.count += size;
    }
    bytes_put(&p->line, end, sizeof end - 1);
    if (p->line.failed) {
        return stn_fail(err, STN_ERR_MEMORY, "%s: out of memory for a block of %zu bytes", p->path, payload->count);
    }
    return stn_output_append(&p->output, p->path, p->line.data, p->line.count, err);
}

stn_status page_close(page *p, stn_output_end end, stn_error *err) {
    stn_status status = stn_output_close(&p->output, end, err);
    release(p);
    return status;
}
