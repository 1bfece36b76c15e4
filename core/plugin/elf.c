// SPDX-License-Identifier: Apache-2.0
// Is a shared object all there? The system's loader maps what the program headers promise without looking at the file's
// length, and a file that a build or copy left half written then kills the process (SIGBUS).
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/below.h"
#include "plugin/registry.h"

static bool read_at(FILE *file, long offset, void *into, size_t size) {
    return fseek(file, offset, SEEK_SET) == 0 && fread(into, 1, size, file) == size;
}

/// The bytes that the headers promise; 0 when this is no shared object of this machine's word length.
static uint64_t promised_length(FILE *file) {
    ElfW(Ehdr) head;
    uint64_t most = 0;
    unsigned char word = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;
    if (!read_at(file, 0, &head, sizeof head) || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
        head.e_ident[EI_CLASS] != word || head.e_phentsize != sizeof(ElfW(Phdr))) {
        return 0;
    }
    for (int32_t i = 0; i < (int32_t)head.e_phnum; i++) {
        ElfW(Phdr) part;
        long start = (long)head.e_phoff + (long)i * (long)sizeof part;
        if (start < 0 || !read_at(file, start, &part, sizeof part)) {
            return UINT64_MAX; // the headers themselves are cut off
        }
        if (part.p_type == PT_LOAD) {
            uint64_t end = (uint64_t)part.p_offset + part.p_filesz;
            most = end > most ? end : most;
        }
    }
    return most;
}

stn_status stn_library_whole(const char *path, stn_error *err) {
    size_t size;
    int descriptor = stn_open_regular(path, 0, &size);
    if (descriptor < 0 && errno == EINVAL) { // dlopen would wait for a pipe
        return stn_fail(err, STN_ERR_PLUGIN, "cannot be loaded: it is no regular file");
    }
    FILE *file = descriptor >= 0 ? fdopen(descriptor, "rb") : NULL;
    if (file == NULL) {
        if (descriptor >= 0) {
            close(descriptor);
        }
        return STN_OK; // dlopen says why
    }
    long length = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    uint64_t promised = length > 0 ? promised_length(file) : 0;
    fclose(file);
    return length <= 0 || promised <= (uint64_t)length
               ? STN_OK
               : stn_fail(err, STN_ERR_PLUGIN,
                          "cannot be loaded: the file is cut off after %ld bytes; build or copy it again", length);
}
