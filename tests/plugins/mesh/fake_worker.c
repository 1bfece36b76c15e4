// SPDX-License-Identifier: Apache-2.0
// A mesh worker that misbehaves in the way that FAKE_WORKER names, to test the other end.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/resource.h>
#include <sys/socket.h>

#include "wire.h"

static void say(const void *bytes, size_t size) {
    const char *from = bytes;
    while (size > 0) {
        ssize_t n = send(0, from, size, MSG_NOSIGNAL);
        if (n <= 0) {
            _exit(1);
        }
        from += n;
        size -= (size_t)n;
    }
}

static void listen_to_the_end(void) {
    char bytes[4096];
    while (recv(0, bytes, sizeof bytes, 0) > 0) {
    }
}

static mesh_wire_reply reply_of(uint32_t vertices, uint32_t triangles, uint32_t files) {
    mesh_wire_reply reply = {.version = MESH_WIRE_VERSION,
                             .vertex_count = vertices,
                             .triangle_count = triangles,
                             .instance_count = 1,
                             .file_count = files,
                             .up_axis = 'z',
                             .unit = 1.0};
    memcpy(reply.magic, MESH_WIRE_REPLY, sizeof reply.magic);
    return reply;
}

static const double corners[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
static const int32_t triangles[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};

static void say_tetrahedron(mesh_wire_reply reply, const int32_t first[3]) {
    say(&reply, sizeof reply);
    say(corners, sizeof corners);
    say(first, sizeof triangles[0]);
    say(triangles[1], sizeof triangles - sizeof triangles[0]);
}

static void say_file(const char *name, uint32_t length) {
    mesh_wire_file file = {{1, 2}, 3, length, 0};
    say_tetrahedron(reply_of(4, 4, 1), triangles[0]);
    say(&file, sizeof file);
    say(name, strlen(name));
}

static void say_text(const char *text, uint32_t length) {
    mesh_wire_reply reply = reply_of(0, 0, 0);
    reply.text_length = length;
    say(&reply, sizeof reply);
    say(text, strlen(text));
}

static void take_processor_time(void) {
    struct rlimit second = {1, 2};
    setrlimit(RLIMIT_CPU, &second);
    for (volatile unsigned turn = 0;; turn++) {
    }
}

/// Dies of a signal even where a sanitizer would handle it.
static void die(int number) {
    signal(number, SIG_DFL);
    raise(number);
}

static void misbehave_early(const char *way) {
    if (strcmp(way, "crash") == 0) {
        die(SIGSEGV);
    } else if (strcmp(way, "abort") == 0) {
        die(SIGABRT);
    } else if (strcmp(way, "deaf") == 0) {
        pause(); // does not even listen
    } else if (strcmp(way, "spin") == 0) {
        take_processor_time();
    } else if (strcmp(way, "silent") == 0) {
        _exit(0);
    } else if (strcmp(way, "no library") == 0) {
        _exit(127); // as the dynamic linker does
    } else if (strcmp(way, "endless") == 0) {
        mesh_wire_reply reply = reply_of(1000, 1000, 0);
        say(&reply, sizeof reply);
        static const char nothing[1 << 16];
        for (;;) {
            say(nothing, sizeof nothing);
        }
    }
}

static void misbehave_late(const char *way) {
    mesh_wire_reply reply = reply_of(4, 4, 0);
    if (strcmp(way, "hang") == 0) {
        pause();
    } else if (strcmp(way, "slow end") == 0) {
        say_tetrahedron(reply, triangles[0]);
        shutdown(0, SHUT_RDWR);
        pause(); // has answered, and does not go
    } else if (strcmp(way, "garbage") == 0) {
        say("this is no reply, whatever it may be; it is long enough to be one, though, is it not?", 80);
    } else if (strcmp(way, "half a header") == 0) {
        say(&reply, sizeof reply / 2);
    } else if (strcmp(way, "half") == 0) {
        say(&reply, sizeof reply);
        say(corners, sizeof corners / 2);
    } else if (strcmp(way, "half and crash") == 0) {
        say(&reply, sizeof reply);
        die(SIGSEGV);
    } else if (strcmp(way, "huge") == 0) {
        reply = reply_of(UINT32_MAX, UINT32_MAX, 0);
        say(&reply, sizeof reply);
    } else if (strcmp(way, "many") == 0) {
        reply = reply_of(INT32_MAX / 4, INT32_MAX / 4, 64);
        say(&reply, sizeof reply);
    } else if (strcmp(way, "files") == 0) {
        reply = reply_of(4, 4, UINT32_MAX);
        say_tetrahedron(reply, triangles[0]);
    } else if (strcmp(way, "index") == 0) {
        const int32_t bad[3] = {0, 4, 1};
        say_tetrahedron(reply, bad);
    } else if (strcmp(way, "unit") == 0) {
        reply.unit = -1.0;
        say_tetrahedron(reply, triangles[0]);
    } else if (strcmp(way, "axis") == 0) {
        reply.up_axis = 'w';
        say_tetrahedron(reply, triangles[0]);
    } else if (strcmp(way, "more") == 0) {
        say_tetrahedron(reply, triangles[0]);
        say("x", 1);
    } else {
        fprintf(stderr, "no such way\n");
    }
}

int main(void) {
    const char *way = getenv("FAKE_WORKER");
    printf("noise on standard output that nobody may see\n");
    fflush(stdout);
    if (way == NULL) {
        return 1;
    }
    misbehave_early(way);
    listen_to_the_end();
    if (strcmp(way, "good") == 0) {
        say_tetrahedron(reply_of(4, 4, 0), triangles[0]);
    } else if (strcmp(way, "text") == 0) {
        say_text("bad \n\x1b[31m thing", 16);
    } else if (strcmp(way, "long text") == 0) {
        say_text("short", 100000);
    } else if (strcmp(way, "absolute file") == 0) {
        say_file("/etc/passwd", 11);
    } else if (strcmp(way, "long file") == 0) {
        say_file("x", UINT32_MAX);
    } else {
        misbehave_late(way);
    }
    return 0;
}
