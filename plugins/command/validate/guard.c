// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE // fegetexcept
#include "guard.h"

#include <dirent.h>
#include <fcntl.h>
#include <fenv.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#if defined(__SSE__)
#include <xmmintrin.h>
#endif

#include "calls.h"

extern char **environ;

enum { ZONE = 64, DESCRIPTORS = 256, SIGNALS = 32 };
static const size_t most_kept = (size_t)64 << 20; // bytes that were given back

/// In front of a block's first zone. `next` of those that live, or, once given back, of those that are kept.
typedef struct block {
    struct block *next, *before;
    size_t size;
} block;

/// What belongs to the process, not to a plugin.
typedef struct process_state {
    int rounding, traps;
    unsigned control; // flush-to-zero and denormals-are-zero of SSE
    mode_t mask;
    int threads;
    uint64_t environment;
    bool open[DESCRIPTORS];
    void (*handler[SIGNALS])(int);
    char folder[512], locale[256];
} process_state;

struct guard {
    pthread_mutex_t mutex; // of the blocks and the fault
    block *live, *oldest, *newest;
    size_t kept;
    char fault[256]; // of memory, "": none
    process_state before;
    plugin_calls calls;
};

// ------------------------------------------------------------------------------------------------------------- memory

static unsigned char *front_of(block *b) {
    return (unsigned char *)b + ZONE; // the header's own room is as large as a zone, so that all stays aligned
}

static unsigned char *payload_of(block *b) {
    return front_of(b) + ZONE;
}

static void note(guard *g, const char *format, ptrdiff_t at, size_t size) {
    if (g->fault[0] == '\0') {
        snprintf(g->fault, sizeof g->fault, format, at, size);
    }
}

/// Bytes that are not `value`: the first one's place, -1: there is none.
static ptrdiff_t first_other(const unsigned char *bytes, size_t count, unsigned char value) {
    for (size_t i = 0; i < count; i++) {
        if (bytes[i] != value) {
            return (ptrdiff_t)i;
        }
    }
    return -1;
}

static const unsigned char zone_byte = 0xa7, fresh_byte = 0xff, released_byte = 0xdb;

static void check_zones(guard *g, block *b) {
    ptrdiff_t front = first_other(front_of(b), ZONE, zone_byte);
    ptrdiff_t back = first_other(payload_of(b) + b->size, ZONE, zone_byte);
    if (back >= 0) {
        note(g, "wrote beyond the end of memory that it was given, at byte %td of a block of %zu bytes",
             (ptrdiff_t)b->size + back, b->size);
    }
    if (front >= 0) {
        note(g, "wrote before the beginning of memory that it was given, at byte %td of a block of %zu bytes",
             front - ZONE, b->size);
    }
}

static void check_released(guard *g, block *b) {
    ptrdiff_t at = first_other(payload_of(b), b->size, released_byte);
    if (at >= 0) {
        note(g,
             "wrote to memory that is no longer its own (an arena was reset, or it was released), at byte %td of a "
             "block of %zu bytes",
             at, b->size);
    }
    check_zones(g, b);
}

static void *allocate(void *user, size_t size) {
    guard *g = user;
    void *memory = NULL;
    if (size > SIZE_MAX - 3 * (size_t)ZONE || posix_memalign(&memory, ZONE, size + 3 * (size_t)ZONE) != 0) {
        return NULL;
    }
    block *b = memory;
    *b = (block){.size = size};
    memset(front_of(b), zone_byte, ZONE);
    memset(payload_of(b), fresh_byte, size);
    memset(payload_of(b) + size, zone_byte, ZONE);
    pthread_mutex_lock(&g->mutex);
    b->next = g->live;
    if (g->live != NULL) {
        g->live->before = b;
    }
    g->live = b;
    pthread_mutex_unlock(&g->mutex);
    return payload_of(b);
}

static void release(void *user, void *memory) {
    guard *g = user;
    block *b = (block *)(void *)((unsigned char *)memory - 2 * ZONE);
    pthread_mutex_lock(&g->mutex);
    check_zones(g, b);
    *(b->before != NULL ? &b->before->next : &g->live) = b->next;
    if (b->next != NULL) {
        b->next->before = b->before;
    }
    memset(memory, released_byte, b->size);
    b->next = NULL;
    *(g->newest != NULL ? &g->newest->next : &g->oldest) = b;
    g->newest = b;
    g->kept += b->size + 3 * (size_t)ZONE;
    while (g->kept > most_kept) {
        block *oldest = g->oldest;
        check_released(g, oldest);
        g->oldest = oldest->next;
        g->newest = g->oldest == NULL ? NULL : g->newest;
        g->kept -= oldest->size + 3 * (size_t)ZONE;
        free(oldest);
    }
    pthread_mutex_unlock(&g->mutex);
}

guard *guard_create(void) {
    guard *g = calloc(1, sizeof *g);
    if (g != NULL) {
        pthread_mutex_init(&g->mutex, NULL);
    }
    return g;
}

void guard_destroy(guard *g) {
    for (int i = 0; g != NULL && i < 2; i++) {
        for (block *b = i == 0 ? g->live : g->oldest; b != NULL;) {
            block *next = b->next;
            free(b);
            b = next;
        }
    }
    free(g);
}

stn_context_options guard_context_options(guard *g) {
    return (stn_context_options){
        .allocate = allocate, .release = release, .allocator_user = g, .separate_arena_blocks = true};
}

// ------------------------------------------------------------------------------------------------------------ process

static process_state read_process(void) {
    process_state s = {.rounding = fegetround(), .traps = fegetexcept(), .environment = 1};
#if defined(__SSE__)
    s.control = _mm_getcsr() & 0x8040U;
#endif
    s.mask = umask(0);
    umask(s.mask);
    for (char **entry = environ; *entry != NULL; entry++) {
        s.environment = stn_hash(s.environment, *entry, strlen(*entry) + 1);
    }
    for (int i = 0; i < DESCRIPTORS; i++) {
        s.open[i] = fcntl(i, F_GETFD) >= 0;
    }
    for (int i = 1; i < SIGNALS; i++) {
        struct sigaction action;
        s.handler[i] = sigaction(i, NULL, &action) == 0 ? action.sa_handler : SIG_DFL;
    }
    if (getcwd(s.folder, sizeof s.folder) == NULL) {
        s.folder[0] = '\0';
    }
    snprintf(s.locale, sizeof s.locale, "%s", setlocale(LC_ALL, NULL));
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *entry = NULL; tasks != NULL && (entry = readdir(tasks)) != NULL;) {
        s.threads += entry->d_name[0] != '.';
    }
    if (tasks != NULL) {
        closedir(tasks);
    }
    return s;
}

/// What differs, in words; "": nothing.
static void compare(const process_state *a, const process_state *b, char *text, size_t size) {
    text[0] = '\0';
    if (a->rounding != b->rounding) {
        snprintf(text, size, "changed the rounding mode of floating-point arithmetic");
    } else if (a->traps != b->traps) {
        snprintf(text, size, "changed which floating-point exceptions trap (from %#x to %#x)", (unsigned)a->traps,
                 (unsigned)b->traps);
    } else if (a->control != b->control) {
        snprintf(text, size, "changed what becomes of denormal numbers (MXCSR, from %#x to %#x)", a->control,
                 b->control);
    } else if (strcmp(a->folder, b->folder) != 0) {
        snprintf(text, size, "changed the working folder to %.200s", b->folder);
    } else if (a->mask != b->mask) {
        snprintf(text, size, "changed the file mask (umask) to %03o", (unsigned)b->mask);
    } else if (strcmp(a->locale, b->locale) != 0) {
        snprintf(text, size, "changed the locale to %.200s", b->locale);
    } else if (a->environment != b->environment) {
        snprintf(text, size, "changed the environment's variables");
    } else if (b->threads > a->threads) {
        snprintf(text, size, "left %d threads running", b->threads - a->threads);
    }
    for (int i = 1; i < SIGNALS && text[0] == '\0'; i++) {
        if (a->handler[i] != b->handler[i]) {
            snprintf(text, size, "changed what signal %d (%s) does", i, strsignal(i));
        }
    }
    for (int i = 0; i < DESCRIPTORS && text[0] == '\0'; i++) {
        if (a->open[i] != b->open[i]) {
            snprintf(text, size,
                     a->open[i] ? "closed file descriptor %d, which is not its own" : "left file descriptor %d open",
                     i);
        }
    }
}

void guard_begin(guard *g, const validate_request *request, const char *folder) {
    plugin_calls_watch(&g->calls, request, folder);
    g->before = read_process();
}

void guard_judge(guard *g, validate_result *result) {
    const process_state after = read_process();
    char text[320] = "";
    for (block *b = g->live; b != NULL; b = b->next) {
        check_zones(g, b);
    }
    for (block *b = g->oldest; b != NULL; b = b->next) {
        check_released(g, b);
    }
    if (g->fault[0] != '\0') {
        snprintf(text, sizeof text, "%s", g->fault);
    } else if (g->calls.wrote[0] != '\0') {
        snprintf(text, sizeof text, "%s", g->calls.wrote);
    } else {
        compare(&g->before, &after, text, sizeof text);
    }
    if (text[0] != '\0') {
        *result = (validate_result){.verdict = VALIDATE_FAILED, .cause = VALIDATE_GUARDED};
        snprintf(result->text, sizeof result->text, "%s", text);
    } else if (result->verdict == VALIDATE_FAILED && g->calls.first[0] != '\0') {
        size_t used = strlen(result->text);
        snprintf(result->text + used, sizeof result->text - used, "; the plugin calls %s", g->calls.first);
    }
}
