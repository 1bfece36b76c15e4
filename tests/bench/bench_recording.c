// SPDX-License-Identifier: Apache-2.0
// What a recording page costs a step: the command runs scripts/clutter.lua for SHORT and for LONG simulated seconds,
// without and with --record, in turns. The differences of the least times are those of the steps between, so that what
// is spent once (start, viewer, last block) falls out. The page is packed in a thread of its own: wall times need two
// processors with nothing else to do, times of the processors are the sum over both threads.
#define _GNU_SOURCE // mkdtemp, getrusage
#include <stdbool.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bench_row.h"
#include "bench_time.h"

enum { ROUNDS = 15, SHORT = 10, LONG = 30, STEPS_A_SECOND = 100 };

enum { WALL, PROCESSOR, CLOCKS };

/// Of this process' children that have ended, all threads [us].
static double children_us(void) {
    struct rusage u;
    getrusage(RUSAGE_CHILDREN, &u);
    return 1e6 * (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/// One run; least (CLOCKS) [us] keeps the least of all. False: it failed.
static bool run(const char *stiction, int seconds, const char *page, double *least) {
    char line[1024];
    snprintf(line, sizeof line, "'%s' run '%s/scripts/clutter.lua' --quiet --set seconds=%d %s %s >/dev/null", stiction,
             STN_SOURCE_DIR, seconds, page != NULL ? "--record" : "", page != NULL ? page : "");
    if (page != NULL) {
        remove(page);
    }
    double start = now_us(), before = children_us();
    if (system(line) != 0) {
        return false;
    }
    least[WALL] = fmin(least[WALL], now_us() - start);
    least[PROCESSOR] = fmin(least[PROCESSOR], children_us() - before);
    return true;
}

/// What the rows of one clock are, from the least times [recorded][long].
static void report(const char *clock, const char *quantity, double times[2][2]) {
    double steps = (double)STEPS_A_SECOND * (LONG - SHORT);
    double without = (times[0][1] - times[0][0]) / steps, with = (times[1][1] - times[1][0]) / steps;
    double once = times[1][0] - times[0][0] - (with - without) * STEPS_A_SECOND * SHORT;
    printf("clutter, %s: %.1f us a step, %.1f recorded: %.1f us more, %.1f %%; once %.1f ms\n", clock, without, with,
           with - without, 100.0 * (with / without - 1.0), 1e-3 * once);
    bench_row("recording", "clutter, a step", "Stiction", quantity, "us", without);
    bench_row("recording", "clutter, a step recorded", "Stiction", quantity, "us", with);
    bench_row("recording", "clutter, once", "Stiction", quantity, "ms", 1e-3 * once);
}

int main(int argc, char **argv) {
    (void)argc;
    char folder[] = "/tmp/stn_bench_recording_XXXXXX", stiction[512], page[64];
    double least[2][2][CLOCKS]; // [recorded][long]
    const char *slash = strrchr(argv[0], '/');
    snprintf(stiction, sizeof stiction, "%.*s/../bin/stiction", slash != NULL ? (int)(slash - argv[0]) : 1,
             slash != NULL ? argv[0] : ".");
    if (mkdtemp(folder) == NULL) {
        fprintf(stderr, "bench recording: cannot write to /tmp\n");
        return 1;
    }
    snprintf(page, sizeof page, "%s/page.html", folder);
    for (int k = 0; k < 4; k++) {
        least[k % 2][k / 2][WALL] = least[k % 2][k / 2][PROCESSOR] = INFINITY;
    }
    bool good = true;
    for (int k = 0; k < 4 * ROUNDS && good; k++) {
        int recorded = k % 2, is_long = k / 2 % 2;
        good = run(stiction, is_long != 0 ? LONG : SHORT, recorded != 0 ? page : NULL, least[recorded][is_long]);
    }
    remove(page);
    rmdir(folder);
    for (int clock = 0; clock < CLOCKS && good; clock++) {
        double times[2][2] = {{least[0][0][clock], least[0][1][clock]}, {least[1][0][clock], least[1][1][clock]}};
        report(clock == WALL ? "wall" : "processors", clock == WALL ? "" : "processors", times);
    }
    return good ? 0 : 1;
}
