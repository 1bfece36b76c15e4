// SPDX-License-Identifier: Apache-2.0
// The file system as assimp sees it. The scene comes from memory; what it names is opened only below the root, read
// whole and remembered with its hash, so that the library can tell later whether it is still the same.
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <xxhash.h>

#include "worker/worker.h"

typedef struct open_source {
    struct aiFile face;
    const source *from;
    size_t at;
} open_source;

static open_source *self_of(struct aiFile *file) {
    return (open_source *)(void *)file->UserData;
}

static size_t read_part(struct aiFile *file, char *out, size_t size, size_t count) {
    open_source *self = self_of(file);
    size_t left = self->from->size - self->at;
    if (size == 0 || count == 0) {
        return 0;
    }
    if (count > left / size) {
        count = left / size;
    }
    memcpy(out, self->from->bytes + self->at, size * count);
    self->at += size * count;
    return count;
}

static size_t refuse_writing(struct aiFile *file, const char *bytes, size_t size, size_t count) {
    (void)file, (void)bytes, (void)size, (void)count;
    return 0;
}

static size_t tell_place(struct aiFile *file) {
    return self_of(file)->at;
}

static size_t tell_size(struct aiFile *file) {
    return self_of(file)->from->size;
}

static enum aiReturn seek_place(struct aiFile *file, size_t offset, enum aiOrigin origin) {
    open_source *self = self_of(file);
    size_t base = origin == aiOrigin_CUR ? self->at : origin == aiOrigin_END ? self->from->size : 0;
    size_t place = base + offset; // a negative offset comes as its complement
    if (place > self->from->size) {
        return aiReturn_FAILURE;
    }
    self->at = place;
    return aiReturn_SUCCESS;
}

static void flush_nothing(struct aiFile *file) {
    (void)file;
}

/// Two hexadecimal digits behind each '%' become the byte they mean; anything else stays. `out` has room for the name.
static void decode_percent(const char *name, char *out) {
    while (*name != '\0') {
        unsigned value;
        if (name[0] == '%' && isxdigit((unsigned char)name[1]) && isxdigit((unsigned char)name[2]) &&
            sscanf(name + 1, "%2x", &value) == 1 && value != 0) {
            *out++ = (char)value;
            name += 3;
        } else {
            *out++ = *name++;
        }
    }
    *out = '\0';
}

/// Opens, reads and remembers one more file; NULL with a refusal noted.
static const source *read_further(file_set *files, const char *name) {
    char decoded[STN_MESH_PATH_MAX];
    size_t size = 0;
    if (strlen(name) >= sizeof decoded || files->further_count == STN_MESH_FURTHER_MAX) {
        snprintf(files->refusal, sizeof files->refusal, "more than %d further files, or a very long name",
                 STN_MESH_FURTHER_MAX);
        return NULL;
    }
    int file = stn_open_below(files->root, files->folder, name, &size);
    int first_error = errno;
    if (file < 0) {
        decode_percent(name, decoded);
        file = strcmp(decoded, name) != 0 ? stn_open_below(files->root, files->folder, decoded, &size) : -1;
        if (file < 0) {
            snprintf(files->refusal, sizeof files->refusal, "%.200s: %s", name,
                     first_error == EXDEV ? "it lies outside of the folder that is allowed" : strerror(first_error));
            return NULL;
        }
        name = decoded;
    }
    source *next = &files->further[files->further_count];
    bool small = size <= STN_MESH_FILE_MAX - files->further_bytes;
    next->bytes = small ? malloc(size + 1) : NULL;
    bool whole = next->bytes != NULL;
    for (size_t have = 0; have < size && whole;) {
        ssize_t n = read(file, next->bytes + have, size - have);
        whole = n > 0 || (n < 0 && errno == EINTR);
        have += n > 0 ? (size_t)n : 0;
    }
    close(file);
    if (!whole) {
        free(next->bytes);
        snprintf(files->refusal, sizeof files->refusal, "%.200s: %s", name,
                 small ? "cannot be read whole" : "the further files are larger than 256 MiB together");
        return NULL;
    }
    snprintf(next->name, sizeof next->name, "%s", name);
    next->size = size;
    XXH128_hash_t hash = XXH3_128bits(next->bytes, size);
    next->hash[0] = hash.low64;
    next->hash[1] = hash.high64;
    files->further_bytes += size;
    files->further_count++;
    return next;
}

static struct aiFile *open_file(struct aiFileIO *face, const char *name, const char *mode) {
    file_set *files = (file_set *)(void *)face->UserData;
    if (mode[0] != 'r' || strchr(mode, '+') != NULL) {
        return NULL;
    }
    char decoded[STN_MESH_PATH_MAX] = "";
    if (strlen(name) < sizeof decoded) {
        decode_percent(name, decoded);
    }
    const source *from = strcmp(name, files->scene.name) == 0 ? &files->scene : NULL;
    for (uint32_t i = 0; i < files->further_count && from == NULL; i++) {
        const char *known = files->further[i].name;
        from = strcmp(name, known) == 0 || strcmp(decoded, known) == 0 ? &files->further[i] : NULL;
    }
    from = from != NULL ? from : read_further(files, name);
    open_source *self = from != NULL ? malloc(sizeof *self) : NULL;
    if (self == NULL) {
        return NULL;
    }
    *self = (open_source){.from = from};
    self->face = (struct aiFile){read_part,     refuse_writing,          tell_place, tell_size, seek_place,
                                 flush_nothing, (aiUserData)(void *)self};
    return &self->face;
}

static void close_file(struct aiFileIO *face, struct aiFile *file) {
    (void)face;
    free(file != NULL ? self_of(file) : NULL);
}

void file_set_face(file_set *files, struct aiFileIO *face) {
    *face = (struct aiFileIO){open_file, close_file, (aiUserData)(void *)files};
}
