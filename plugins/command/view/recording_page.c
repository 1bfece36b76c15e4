// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "common/stream.h"
#include "recording_page.h"

/// A page under construction.
typedef struct page {
    stn_context *context;
    FILE *file;
    uint64_t hash;    // of all that was put
    const char *path; // of the recording that is added
    char **titles;    // that recordings have so far
    int32_t title_count;
} page;

static void put(page *p, const void *bytes, size_t count) {
    p->hash = stn_hash(p->hash, bytes, count);
    fwrite(bytes, 1, count, p->file); // failures are kept by the stream
}

// ----------------------------------------------------------------------------------------------------------- titles

// ----------------------------------------------------------------------------------------------------------- blocks

static bool put_scene(page *p, const char *json) {
    uLongf size = compressBound((uLong)strlen(json));
    uint8_t *packed = stn_allocate(p->context, size, 1);
    bool whole = packed != NULL && compress(packed, &size, (const Bytef *)json, (uLong)strlen(json)) == Z_OK;
    if (whole) {
        char tag[128];
        int length = snprintf(tag, sizeof tag,
                              "<script type=\"application/x-stiction\" data-kind=\"scene\" data-length=\"%zu\">",
                              STN_BASE64_SIZE(size));
        put(p, tag, (size_t)length);
        enum { PIECE = 3 * 1024 };
        char digits[STN_BASE64_SIZE(PIECE)];
        for (size_t at = 0; at < size; at += PIECE) {
            size_t piece = size - at < PIECE ? size - at : PIECE;
            stn_base64_encode(packed + at, piece, digits);
            put(p, digits, STN_BASE64_SIZE(piece));
        }
        put(p, "</script>\n", strlen("</script>\n"));
    }
    stn_release(p->context, packed);
    return whole;
}

static stn_status add_scene(page *p, cli_recording *recording, const cli_block *block, stn_error *err) {
    cJSON *scene = NULL;
    stn_status status = cli_recording_scene(recording, &scene, err);
    if (status < 0) {
        return status;
    }
    const char *wanted = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(scene, "title"));
    wanted = wanted != NULL ? wanted : "";
    // "out", then "out (b/out.html)", then "out (b/out.html, 2)"; kept by the page
    size_t size = strlen(wanted) + strlen(p->path) + 32, count = (size_t)p->title_count;
    char *title = stn_allocate(p->context, size, 1);
    char **grown = stn_reallocate(p->context, p->titles, count, count + 1, sizeof *grown);
    bool whole = title != NULL && grown != NULL;
    p->titles = grown != NULL ? grown : p->titles;
    if (!whole) {
        stn_release(p->context, title);
    } else {
        snprintf(title, size, "%s", wanted);
        for (int32_t number = 1, k = 0; k < p->title_count;) {
            if (strcmp(p->titles[k], title) != 0) {
                k++;
                continue;
            }
            snprintf(title, size, number == 1 ? "%s (%s)" : "%s (%s, %d)", wanted, p->path, (int)number);
            number++;
            k = 0;
        }
        p->titles[p->title_count++] = title;
    }
    if (whole && strcmp(title, wanted) == 0) {
        put(p, block->line, block->line_length);
        put(p, "\n", 1);
    } else if (whole) {
        cJSON_DeleteItemFromObjectCaseSensitive(scene, "title");
        cJSON_AddStringToObject(scene, "title", title);
        char *json = cJSON_PrintUnformatted(scene);
        whole = json != NULL && put_scene(p, json);
        cJSON_free(json);
    }
    cJSON_Delete(scene);
    return whole ? STN_OK : stn_fail(err, STN_ERR_MEMORY, "%s: out of memory", p->path);
}

static stn_status add_file(page *p, const char *path, bool first, stn_error *err) {
    cli_recording *recording = NULL;
    p->path = path;
    stn_status status = cli_recording_open(p->context, path, &recording, err);
    if (status == STN_OK && first) {
        size_t size = 0;
        const char *head = cli_recording_head(recording, &size);
        put(p, head, size);
    }
    if (status == STN_OK) {
        cli_block block = {0};
        status = cli_recording_next(recording, &block, err);
        while (status == STN_OK && block.kind[0] != '\0') {
            if (strcmp(block.kind, "scene") == 0) {
                status = add_scene(p, recording, &block, err);
            } else {
                put(p, block.line, block.line_length);
                put(p, "\n", 1);
            }
            if (status == STN_OK) {
                status = cli_recording_next(recording, &block, err);
            }
        }
        if (status == STN_OK && cli_recording_is_cut(recording)) {
            stn_log(p->context, STN_LOG_WARNING, "%s ends in the middle of a block; what is before it is shown", path);
        }
    }
    cli_recording_close(recording);
    return status;
}

// ------------------------------------------------------------------------------------------------------------- file

static stn_status fail_write(const char *path, int code, stn_error *err) {
    return stn_fail(err, STN_ERR_FILE, "%s: cannot be written: %s", path, strerror(code));
}

/// Where a page without a name grows: it gets its name from what it holds when that is known.
static void name_temporary(const page *p, char *path, size_t size) {
    const char *folder = getenv("TMPDIR");
    snprintf(path, size, "%s/stiction-%016llx.html", folder != NULL && folder[0] == '/' ? folder : "/tmp",
             (unsigned long long)p->hash);
}

stn_status cli_recording_merge(stn_context *context, const char *const *paths, int32_t count, const char *out,
                               char *path, size_t path_size, stn_error *err) {
    page p = {.context = context};
    stn_output output;
    if (out != NULL && snprintf(path, path_size, "%s", out) >= (int)path_size) {
        return fail_write(out, ENAMETOOLONG, err);
    }
    if (out == NULL) {
        name_temporary(&p, path, path_size);
    }
    stn_status status = stn_output_open(path, STN_OUTPUT_WHOLE, &output, err);
    if (status != STN_OK) {
        return status;
    }
    p.file = cli_stream_of(&output);
    status = p.file != NULL ? STN_OK : fail_write(path, errno, err);
    for (int32_t i = 0; i < count && status == STN_OK; i++) {
        status = add_file(&p, paths[i], i == 0, err);
    }
    if (out == NULL) {
        name_temporary(&p, path,
                       path_size); // what may be there is replaced, not followed: anybody can write links there
        snprintf(output.target, sizeof output.target, "%s", path);
    }
    if (status == STN_OK) {
        status = cli_finish_stream(&output, p.file, path, err);
    } else {
        cli_drop_stream(&output, p.file);
    }
    for (int32_t i = 0; i < p.title_count; i++) {
        stn_release(context, p.titles[i]);
    }
    stn_release(context, p.titles);
    return status;
}
