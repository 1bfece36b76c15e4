// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE // dl_iterate_phdr
#include <link.h>
#include <stdbool.h>
#include <stddef.h>

#include <xxhash.h>

#include <stiction/plugin.h>

typedef struct search {
    uintptr_t address;
    uint64_t hash;
} search;

static int hash_code(struct dl_phdr_info *object, size_t size, void *user) {
    (void)size;
    search *s = user;
    bool holds = false;
    for (size_t i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        uintptr_t begin = object->dlpi_addr + part->p_vaddr;
        holds = holds || (part->p_type == PT_LOAD && s->address >= begin && s->address - begin < part->p_memsz);
    }
    if (!holds) {
        return 0;
    }
    for (size_t i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        if (part->p_type == PT_LOAD && (part->p_flags & PF_R) != 0 && (part->p_flags & PF_W) == 0) {
            const char *code = (const char *)object->dlpi_addr + part->p_vaddr; // NOLINT(performance-no-int-to-ptr)
            s->hash = XXH3_64bits_withSeed(code, part->p_filesz, s->hash);
        }
    }
    return 1;
}

uint64_t stn_code_hash(const void *address) {
    search s = {.address = (uintptr_t)address};
    dl_iterate_phdr(hash_code, &s);
    return s.hash;
}
