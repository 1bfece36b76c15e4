// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "worker/worker.h"

static unsigned char waiting[1 << 16];
static size_t waiting_size;

void channel_flush(void) {
    stn_worker_send(waiting, waiting_size);
    waiting_size = 0;
}

void channel_write(const void *bytes, size_t size) {
    const unsigned char *from = bytes;
    while (size > 0) {
        if (waiting_size == sizeof waiting) {
            channel_flush();
        }
        size_t part = sizeof waiting - waiting_size < size ? sizeof waiting - waiting_size : size;
        memcpy(waiting + waiting_size, from, part);
        waiting_size += part;
        from += part;
        size -= part;
    }
}

void channel_fail(const char *format, ...) {
    char text[MESH_WIRE_TEXT_MAX];
    va_list arguments;
    va_start(arguments, format);
    stn_worker_line(text, sizeof text, format, arguments);
    va_end(arguments);
    mesh_wire_reply reply = {.magic = {0}, .version = MESH_WIRE_VERSION};
    memcpy(reply.magic, MESH_WIRE_REPLY, sizeof reply.magic);
    reply.text_length = (uint32_t)strlen(text);
    waiting_size = 0;
    channel_write(&reply, sizeof reply);
    channel_write(text, reply.text_length);
    channel_flush();
    _exit(0);
}
