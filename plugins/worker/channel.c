// SPDX-License-Identifier: Apache-2.0
#include <stiction/worker.h>

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include <sys/socket.h>

void stn_worker_send(const void *data, size_t size) {
    const char *from = data;
    while (size > 0) {
        ssize_t n = send(STN_WORKER_CHANNEL, from, size, MSG_NOSIGNAL);
        if (n <= 0 && errno != EINTR) {
            _exit(1); // nobody listens
        }
        from += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
}

void stn_worker_line(char *text, size_t size, const char *format, va_list arguments) {
    vsnprintf(text, size, format, arguments);
    for (char *c = text; *c != '\0'; c++) {
        *c = *c >= ' ' && *c <= '~' ? *c : '?';
    }
}
