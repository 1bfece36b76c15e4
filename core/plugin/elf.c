// SPDX-License-Identifier: Apache-2.0
// Is a shared object all there? The system's loader maps what the program headers promise without looking at the file's
// length, and a file that a build or copy left half written then kills the process (SIGBUS).
#include <errno.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

#include <stiction/input.h>

#include "plugin/registry.h"

static bool read_at(int file, uint64_t offset, void *into, size_t size) {
    return offset <= INT64_MAX && pread(file, into, size, (off_t)offset) == (ssize_t)size;
}

stn_status stn_library_whole(const char *path, stn_error *err) {
    size_t size = 0;
    int file = stn_open_regular(path, 0, &size);
    if (file < 0 && errno == EINVAL) { // dlopen would wait for a pipe
        return stn_fail(err, STN_ERR_PLUGIN, "cannot be loaded: it is no regular file");
    }
    if (file < 0) {
        return STN_OK; // dlopen says why
    }
    // The bytes that the headers promise; 0 when this is no shared object of this machine's word length.
    enum { PARTS = 16 }; // read at a time
    ElfW(Ehdr) head;
    ElfW(Phdr) parts[PARTS];
    uint64_t promised = 0;
    unsigned char word = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;
    bool object = size > 0 && read_at(file, 0, &head, sizeof head) && memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 &&
                  head.e_ident[EI_CLASS] == word && head.e_phentsize == sizeof *parts;
    for (int32_t i = 0; object && i < (int32_t)head.e_phnum; i += PARTS) {
        int32_t count = head.e_phnum - i < PARTS ? head.e_phnum - i : PARTS;
        if (!read_at(file, head.e_phoff + (uint64_t)i * sizeof *parts, parts, (size_t)count * sizeof *parts)) {
            promised = UINT64_MAX; // the headers themselves are cut off
            break;
        }
        for (int32_t k = 0; k < count; k++) {
            uint64_t end = (uint64_t)parts[k].p_offset + parts[k].p_filesz;
            promised = parts[k].p_type == PT_LOAD && end > promised ? end : promised;
        }
    }
    close(file);
    return promised <= size
               ? STN_OK
               : stn_fail(err, STN_ERR_PLUGIN,
                          "cannot be loaded: the file is cut off after %zu bytes; build or copy it again", size);
}
