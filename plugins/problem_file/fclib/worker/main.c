// SPDX-License-Identifier: Apache-2.0
// stiction-hdf5 unpack BYTES | pack: reads everything from its channel, standard input, and answers there. It opens no
// file: what it unpacks comes as bytes, what it packs goes as bytes. A file that leads the HDF5 library astray ends
// this process, not the one that asked.
#define _GNU_SOURCE // close_range
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/socket.h>

#include <stiction/worker.h>

#include "worker/worker.h"

enum { SECONDS = 60 };
static const uint64_t memory = UINT64_C(4) << 30; // of address space: a file, its arrays, the answer

void fail(const char *format, ...) {
    char text[ARRAY_WIRE_TEXT_MAX];
    va_list arguments;
    va_start(arguments, format);
    stn_worker_line(text, sizeof text, format, arguments);
    va_end(arguments);
    array_wire_head head = {.count = strlen(text)};
    memcpy(head.magic, ARRAY_WIRE_FAILURE, sizeof head.magic);
    stn_worker_send(&head, sizeof head);
    stn_worker_send(text, head.count);
    _exit(0);
}

void bytes_add(bytes *b, const void *from, size_t size) {
    if (size > b->capacity - b->size) {
        size_t capacity = 2 * b->capacity + size;
        unsigned char *more = realloc(b->data, capacity);
        if (more == NULL) {
            fail("out of memory for %zu bytes", capacity);
        }
        b->data = more;
        b->capacity = capacity;
    }
    if (size > 0) {
        memcpy(b->data + b->size, from, size);
    }
    b->size += size;
}

int main(int count, char **arguments) {
    close_range(STN_WORKER_CHANNEL + 3, ~0U, 0); // what the program that started it left open
    bool unpacks = count == 3 && strcmp(arguments[1], "unpack") == 0;
    if (!unpacks && !(count == 2 && strcmp(arguments[1], "pack") == 0)) {
        fprintf(stderr, "stiction-hdf5 is a part of Stiction: it reads HDF5 files for it\n");
        return 2;
    }
    stn_worker_limit(memory, SECONDS);
    bytes in = {0}, out = {0};
    static unsigned char part[1 << 16];
    for (ssize_t n = 1; n != 0;) {
        n = recv(STN_WORKER_CHANNEL, part, sizeof part, 0);
        if (n < 0 && errno != EINTR) {
            _exit(1);
        }
        bytes_add(&in, part, n > 0 ? (size_t)n : 0);
    }
    if (H5open() < 0) {
        fail("the HDF5 library does not start");
    }
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    stn_worker_limit_calls();
    if (unpacks) {
        unpack(&in, strtoull(arguments[2], NULL, 10), &out);
    } else {
        pack(&in, &out);
    }
    stn_worker_send(out.data, out.size);
    _exit(0); // memory goes with the process, what the library still holds too
}
