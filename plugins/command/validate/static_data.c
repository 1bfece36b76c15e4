// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE // dl_iterate_phdr
#include "static_data.h"

#include <link.h>
#include <unistd.h>

typedef struct search {
    uintptr_t address;
    static_data found;
} search;

static bool holds(const struct dl_phdr_info *info, uintptr_t address) {
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type == PT_LOAD && address - (info->dlpi_addr + part->p_vaddr) < part->p_memsz) {
            return true;
        }
    }
    return false;
}

static void add_span(static_data *out, uintptr_t start, uintptr_t end) {
    if (start < end && out->count < STN_COUNT(out->spans)) {
        out->spans[out->count].start = (const unsigned char *)start;
        out->spans[out->count++].size = end - start;
        out->size += end - start;
    }
}

/// Its table of the functions of others: the loader, and no code of its own, writes an entry at the first call.
static void find_calls(const struct dl_phdr_info *info, uintptr_t *start, uintptr_t *end) {
    uintptr_t table = 0;
    size_t entries = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type != PT_DYNAMIC) {
            continue;
        }
        const ElfW(Dyn) *entry = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
        for (; entry->d_tag != DT_NULL; entry++) {
            if (entry->d_tag == DT_PLTGOT) {
                table = entry->d_un.d_ptr;
            } else if (entry->d_tag == DT_PLTRELSZ) {
                entries = entry->d_un.d_val / sizeof(ElfW(Rela));
            }
        }
    }
    *start = table != 0 && table < info->dlpi_addr ? table + info->dlpi_addr : table; // some loaders leave the offset
    *end = *start + (entries > 0 ? (entries + 3) * sizeof(void *) : 0);
}

/// Writable segments without the table of calls, and without the part that the loader makes read-only, whole pages,
/// when it has relocated it.
static int visit(struct dl_phdr_info *info, size_t size, void *user) {
    (void)size;
    search *s = user;
    if (info->dlpi_name == NULL || info->dlpi_name[0] == '\0' || !holds(info, s->address)) {
        return 0;
    }
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), sealed = 0, sealed_end = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type == PT_GNU_RELRO) {
            sealed = info->dlpi_addr + part->p_vaddr;
            sealed_end = (sealed + part->p_memsz) / page * page;
        }
    }
    uintptr_t calls = 0, calls_end = 0;
    find_calls(info, &calls, &calls_end);
    s->found.object = (const unsigned char *)info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + part->p_vaddr, end = start + part->p_memsz;
        if (part->p_type != PT_LOAD || (part->p_flags & PF_W) == 0) {
            continue;
        }
        if (sealed >= start && sealed_end <= end && sealed < sealed_end) {
            add_span(&s->found, start, sealed);
            start = sealed_end;
        }
        if (calls_end > start && calls < end && calls < calls_end) {
            add_span(&s->found, start, calls);
            start = calls_end;
        }
        add_span(&s->found, start, end);
    }
    return 1;
}

static_data static_data_of(const void *address) {
    search s = {.address = (uintptr_t)address};
    dl_iterate_phdr(visit, &s);
    return s.found;
}

// Byte by byte and not by memcpy: what a sanitizer leaves between two variables is read, too, and it would object.

__attribute__((no_sanitize("address"))) void static_data_copy(const static_data *data, unsigned char *out) {
    for (int32_t i = 0; i < data->count; i++) {
        const volatile unsigned char *from = data->spans[i].start;
        for (size_t k = 0; k < data->spans[i].size; k++) {
            *out++ = from[k];
        }
    }
}

__attribute__((no_sanitize("address"))) ptrdiff_t static_data_changed(const static_data *data,
                                                                      const unsigned char *copy) {
    for (int32_t i = 0; i < data->count; i++) {
        const volatile unsigned char *now = data->spans[i].start;
        for (size_t k = 0; k < data->spans[i].size; k++) {
            if (now[k] != copy[k]) {
                return data->spans[i].start + k - data->object;
            }
        }
        copy += data->spans[i].size;
    }
    return -1;
}
