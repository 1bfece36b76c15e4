// SPDX-License-Identifier: Apache-2.0
// What a plugin of any kind can do wrong beside its work. Each wrong_<kind>s.c has a plugin for every word below.
#ifndef STN_MISCONDUCT_H
#define STN_MISCONDUCT_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE // feenableexcept
#endif
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
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include <stiction/plugin.h>

#define STN_MISCONDUCTS(X)   \
    X(aborts)                \
    X(segfaults)             \
    X(divides)               \
    X(recurses)              \
    X(loops)                 \
    X(leaves)                \
    X(writes_beyond)         \
    X(writes_before)         \
    X(writes_beyond_scratch) \
    X(keeps_scratch)         \
    X(uses_malloc)           \
    X(uses_strdup)           \
    X(rounds_upward)         \
    X(traps)                 \
    X(flushes_to_zero)       \
    X(changes_folder)        \
    X(changes_locale)        \
    X(changes_mask)          \
    X(changes_environment)   \
    X(takes_a_signal)        \
    X(writes_a_file)         \
    X(reads_a_file)          \
    X(leaves_a_file_open)    \
    X(closes_stderr)         \
    X(leaves_a_thread)

enum {
    MISCONDUCT_START = 100, // in the numbers of a file's own faults
#define STN_MISCONDUCT(word) MISCONDUCT_##word,
    STN_MISCONDUCTS(STN_MISCONDUCT)
#undef STN_MISCONDUCT
};

static inline void *misconduct_sleep(void *unused) {
    for (;;) {
        pause();
    }
    return unused;
}

static int misconduct_recurse(volatile int *deepest, int depth) {
    volatile char room[4096];
    room[depth & 4095] = 1;
    return depth == *deepest ? 0 : misconduct_recurse(deepest, depth + 1) + room[depth & 4095];
}

/// Does the fault `number` of those above, and nothing for others. `output`, of `count` numbers, is what the plugin
/// writes its answer to; `arena` may be NULL, where there is none.
__attribute__((noinline)) static void misbehave(int32_t number, double *output, int32_t count, stn_arena *arena) {
    static double *kept; // shared static data is a fault of its own, which is looked for last
    volatile double zero = 0.0;
    volatile int none = 0;
    void *volatile nowhere = (void *)(uintptr_t)8;
    switch (number) {
    case MISCONDUCT_aborts:
        abort();
    case MISCONDUCT_segfaults:
        *(volatile int *)nowhere = 1;
        break;
    case MISCONDUCT_divides:
        none = 3000 / none;
        break;
    case MISCONDUCT_recurses:
        none = misconduct_recurse(&none, 1);
        break;
    case MISCONDUCT_loops:
        for (ssize_t said = write(STDERR_FILENO, "loops\n", 6); said > 0 && none == 0;) {
        }
        break;
    case MISCONDUCT_leaves:
        _Exit(0);
    case MISCONDUCT_writes_beyond:
        output[count] = 1.0;
        break;
    case MISCONDUCT_writes_before:
        output[-1] = 1.0;
        break;
    case MISCONDUCT_writes_beyond_scratch: {
        double *scratch = arena != NULL ? stn_arena_allocate(arena, 8, sizeof *scratch) : output;
        scratch[arena != NULL ? 8 : count] = 1.0;
        break;
    }
    case MISCONDUCT_keeps_scratch:
        if (kept != NULL) {
            kept[0] = 1.0;
        }
        kept = arena != NULL ? stn_arena_allocate(arena, 8, sizeof *kept) : output;
        break;
    case MISCONDUCT_uses_malloc: {
        void *volatile memory = malloc(64);
        free(memory);
        break;
    }
    case MISCONDUCT_uses_strdup: {
        char *volatile text = strdup("text");
        free(text);
        break;
    }
    case MISCONDUCT_rounds_upward:
        fesetround(FE_UPWARD);
        break;
    case MISCONDUCT_traps:
        feenableexcept(FE_OVERFLOW); // which nothing here does
        break;
    case MISCONDUCT_flushes_to_zero:
#if defined(__x86_64__)
        _mm_setcsr(_mm_getcsr() | 0x8040U);
#else
        fesetround(FE_DOWNWARD);
#endif
        break;
    case MISCONDUCT_changes_folder:
        if (chdir("/") != 0) {
            output[0] = zero;
        }
        break;
    case MISCONDUCT_changes_locale:
        setlocale(LC_ALL, "C.UTF-8");
        break;
    case MISCONDUCT_changes_mask:
        umask(0);
        break;
    case MISCONDUCT_changes_environment:
        setenv("STICTION_MISCONDUCT", "1", 1);
        break;
    case MISCONDUCT_takes_a_signal:
        signal(SIGINT, SIG_IGN);
        break;
    case MISCONDUCT_writes_a_file: {
        FILE *file = fopen("misconduct.txt", "a");
        if (file != NULL) {
            fputs("a line\n", file);
            fclose(file);
        }
        break;
    }
    case MISCONDUCT_reads_a_file: {
        int file = open("/dev/zero", O_RDONLY);
        if (file >= 0) {
            close(file);
        }
        break;
    }
    case MISCONDUCT_leaves_a_file_open:
        if (open("/dev/null", O_RDONLY) < 0) {
            output[0] = zero;
        }
        break;
    case MISCONDUCT_closes_stderr:
        close(STDERR_FILENO);
        break;
    case MISCONDUCT_leaves_a_thread: {
        pthread_t thread;
        if (pthread_create(&thread, NULL, misconduct_sleep, NULL) == 0) {
            pthread_detach(thread);
        }
        break;
    }
    default:
        break;
    }
}

#endif
