// SPDX-License-Identifier: Apache-2.0
#include "common/frames.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

/// Of one machine, so as it lies in memory.
typedef struct header {
    int32_t peer, size;
} header;

static bool write_all(int socket, const void *bytes, size_t size) {
    const char *at = bytes;
    while (size > 0) {
        ssize_t put = send(socket, at, size, MSG_NOSIGNAL);
        if (put < 0 && errno != EINTR) {
            return false;
        }
        at += put > 0 ? put : 0;
        size -= put > 0 ? (size_t)put : 0;
    }
    return true;
}

static bool read_all(int socket, void *bytes, size_t size) {
    char *at = bytes;
    while (size > 0) {
        ssize_t got = read(socket, at, size);
        if (got == 0 || (got < 0 && errno != EINTR)) {
            return false;
        }
        at += got > 0 ? got : 0;
        size -= got > 0 ? (size_t)got : 0;
    }
    return true;
}

bool cli_frame_write(int socket, int32_t peer, const void *head, size_t head_size, const void *body, size_t body_size) {
    if (body_size > (size_t)INT32_MAX - head_size) {
        return false;
    }
    header h = {peer, (int32_t)(head_size + body_size)};
    return write_all(socket, &h, sizeof h) && write_all(socket, head, head_size) && write_all(socket, body, body_size);
}

bool cli_frame_read(int socket, cli_frame *frame) {
    header h;
    if (!read_all(socket, &h, sizeof h) || h.size < 0) {
        return false;
    }
    size_t needed = (size_t)h.size + 1;
    if (needed > frame->room) {
        char *grown = realloc(frame->bytes, needed);
        if (grown == NULL) {
            return false;
        }
        frame->bytes = grown;
        frame->room = needed;
    }
    frame->peer = h.peer;
    frame->size = h.size;
    frame->bytes[h.size] = '\0';
    return read_all(socket, frame->bytes, (size_t)h.size);
}

void cli_frame_clear(cli_frame *frame) {
    free(frame->bytes);
    *frame = (cli_frame){0};
}
