// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE // dl_iterate_phdr
#include "calls.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

// The functions below have the signatures of those that they replace, which have no place for an argument of ours.
static plugin_calls *watched;

/// One more request to the context's allocator.
static void count(const char *name, const char *path) {
    if (watched->first[0] == '\0') {
        snprintf(watched->first, sizeof watched->first, path != NULL ? "%s(%.150s)" : "%s", name, path);
    }
    stn_release(watched->context, stn_allocate(watched->context, 1, 1));
}

/// A file that is written must lie in the folder of the check, or the call is refused; what goes to devices is lost.
static bool count_writing(const char *name, const char *path) {
    char here[PATH_MAX] = "", whole[2 * PATH_MAX];
    bool relative = path[0] != '/' && getcwd(here, sizeof here) != NULL;
    snprintf(whole, sizeof whole, "%s%s%s", relative ? here : "", relative ? "/" : "", path);
    size_t length = strlen(watched->folder);
    bool allowed =
        (strncmp(whole, watched->folder, length) == 0 && whole[length] == '/') || strncmp(whole, "/dev/", 5) == 0;
    if (!allowed && watched->wrote[0] == '\0') {
        snprintf(watched->wrote, sizeof watched->wrote, "calls %s(%.150s), a file that is not its own", name, path);
    }
    count(name, path);
    errno = EACCES; // of a call that is refused
    return allowed;
}

static void *watch_malloc(size_t size) {
    count("malloc", NULL);
    return malloc(size);
}

static void *watch_calloc(size_t number, size_t size) {
    count("calloc", NULL);
    return calloc(number, size);
}

static void *watch_realloc(void *memory, size_t size) {
    count("realloc", NULL);
    return realloc(memory, size);
}

static void *watch_aligned_alloc(size_t alignment, size_t size) {
    count("aligned_alloc", NULL);
    return aligned_alloc(alignment, size);
}

static int watch_posix_memalign(void **memory, size_t alignment, size_t size) {
    count("posix_memalign", NULL);
    return posix_memalign(memory, alignment, size);
}

static char *watch_strdup(const char *text) {
    count("strdup", NULL);
    return strdup(text);
}

static char *watch_strndup(const char *text, size_t size) {
    count("strndup", NULL);
    return strndup(text, size);
}

/// C++: operator new, which throws where memory is out.
static void *watch_new(size_t size) {
    count("operator new", NULL);
    void *memory = malloc(size > 0 ? size : 1);
    if (memory == NULL) {
        abort();
    }
    return memory;
}

static bool count_open(const char *name, const char *path, bool writes) {
    if (!writes) {
        count(name, path);
    }
    return !writes || count_writing(name, path);
}

static bool may_write(int flags) {
    return (flags & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)) != 0;
}

static int watch_open(const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    int mode = va_arg(arguments, int); // of any value where the caller gave none, and then not looked at
    va_end(arguments);
    return count_open("open", path, may_write(flags)) ? open(path, flags, mode) : -1;
}

static int watch_openat(int folder, const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    int mode = va_arg(arguments, int);
    va_end(arguments);
    return count_open("openat", path, may_write(flags)) ? openat(folder, path, flags, mode) : -1;
}

static int watch_creat(const char *path, mode_t mode) {
    return count_writing("creat", path) ? creat(path, mode) : -1;
}

static FILE *watch_fopen(const char *path, const char *mode) {
    return count_open("fopen", path, strpbrk(mode, "wa+") != NULL) ? fopen(path, mode) : NULL;
}

static int watch_mkdir(const char *path, mode_t mode) {
    return count_writing("mkdir", path) ? mkdir(path, mode) : -1;
}

static int watch_unlink(const char *path) {
    return count_writing("unlink", path) ? unlink(path) : -1;
}

static int watch_remove(const char *path) {
    return count_writing("remove", path) ? remove(path) : -1;
}

static int watch_rename(const char *from, const char *to) {
    return count_writing("rename", from) && count_writing("rename", to) ? rename(from, to) : -1;
}

static FILE *watch_tmpfile(void) {
    count("tmpfile", NULL);
    return tmpfile();
}

typedef void function(void);

static const struct {
    const char *name;
    function *ours;
} functions[] = {
    {"malloc", (function *)watch_malloc},
    {"calloc", (function *)watch_calloc},
    {"realloc", (function *)watch_realloc},
    {"aligned_alloc", (function *)watch_aligned_alloc},
    {"posix_memalign", (function *)watch_posix_memalign},
    {"strdup", (function *)watch_strdup},
    {"__strdup", (function *)watch_strdup},
    {"strndup", (function *)watch_strndup},
    {"_Znwm", (function *)watch_new},
    {"_Znam", (function *)watch_new},
    {"open", (function *)watch_open},
    {"open64", (function *)watch_open},
    {"openat", (function *)watch_openat},
    {"openat64", (function *)watch_openat},
    {"creat", (function *)watch_creat},
    {"creat64", (function *)watch_creat},
    {"fopen", (function *)watch_fopen},
    {"fopen64", (function *)watch_fopen},
    {"mkdir", (function *)watch_mkdir},
    {"unlink", (function *)watch_unlink},
    {"remove", (function *)watch_remove},
    {"rename", (function *)watch_rename},
    {"tmpfile", (function *)watch_tmpfile},
    {"tmpfile64", (function *)watch_tmpfile},
};

#if defined(__x86_64__) || defined(__aarch64__)
#if defined(__x86_64__)
enum { BY_CALL = R_X86_64_JUMP_SLOT, BY_ADDRESS = R_X86_64_GLOB_DAT };
#else
enum { BY_CALL = R_AARCH64_JUMP_SLOT, BY_ADDRESS = R_AARCH64_GLOB_DAT };
#endif

/// Puts our function into a slot of the table, also where the loader has made it read-only.
static void exchange(uintptr_t slot, function *ours) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = slot / page * page;
    if (mprotect((void *)start, page, PROT_READ | PROT_WRITE) == 0) {
        memcpy((void *)slot, &ours, sizeof ours);
    }
}

static void exchange_all(uintptr_t base, const ElfW(Rela) * entries, size_t number, const ElfW(Sym) * symbols,
                         const char *names) {
    for (size_t i = 0; i < number; i++) {
        unsigned long type = ELF64_R_TYPE(entries[i].r_info);
        const char *name = names + symbols[ELF64_R_SYM(entries[i].r_info)].st_name;
        for (size_t k = 0; k < STN_COUNT(functions) && (type == BY_CALL || type == BY_ADDRESS); k++) {
            if (strcmp(name, functions[k].name) == 0) {
                exchange(base + entries[i].r_offset, functions[k].ours);
            }
        }
    }
}

/// Is it the object of this very function, whose calls stay as they are?
static bool is_ours(const struct dl_phdr_info *info) {
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type == PT_LOAD && (uintptr_t)functions - (info->dlpi_addr + part->p_vaddr) < part->p_memsz) {
            return true;
        }
    }
    return false;
}

/// The tables of an object that was loaded; some loaders leave offsets in place of addresses.
static int visit(struct dl_phdr_info *info, size_t size, void *user) {
    (void)size;
    const uintptr_t address = *(const uintptr_t *)user;
    const ElfW(Dyn) *dynamic = NULL;
    bool holds = false;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        holds = holds || (part->p_type == PT_LOAD && address - (info->dlpi_addr + part->p_vaddr) < part->p_memsz);
        dynamic = part->p_type == PT_DYNAMIC ? (const void *)(info->dlpi_addr + part->p_vaddr) : dynamic;
    }
    if (holds && is_ours(info)) {
        return 1;
    }
    if (!holds || dynamic == NULL || info->dlpi_name == NULL || info->dlpi_name[0] == '\0') {
        return 0;
    }
    uintptr_t value[DT_NUM] = {0};
    for (const ElfW(Dyn) *entry = dynamic; entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag > 0 && entry->d_tag < DT_NUM) {
            value[entry->d_tag] = entry->d_un.d_ptr;
        }
    }
    const int addresses[] = {DT_SYMTAB, DT_STRTAB, DT_JMPREL, DT_RELA};
    for (size_t i = 0; i < STN_COUNT(addresses); i++) {
        uintptr_t *at = &value[addresses[i]];
        *at += *at != 0 && *at < info->dlpi_addr ? info->dlpi_addr : 0;
    }
    const void *symbols = (const void *)value[DT_SYMTAB], *names = (const void *)value[DT_STRTAB];
    exchange_all(info->dlpi_addr, (const void *)value[DT_JMPREL], value[DT_PLTRELSZ] / sizeof(ElfW(Rela)), symbols,
                 names);
    exchange_all(info->dlpi_addr, (const void *)value[DT_RELA], value[DT_RELASZ] / sizeof(ElfW(Rela)), symbols, names);
    return 1;
}
#else
static int visit(struct dl_phdr_info *info, size_t size, void *user) {
    (void)info, (void)size, (void)user;
    return 1; // calls are not seen on this machine
}
#endif

void plugin_calls_watch(plugin_calls *calls, const validate_request *request, const char *folder) {
    *calls = (plugin_calls){.context = request->context, .folder = folder};
    watched = calls;
    uintptr_t address = (uintptr_t)request->plugin->desc;
    dl_iterate_phdr(visit, &address);
}
