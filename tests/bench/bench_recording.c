// SPDX-License-Identifier: Apache-2.0
// What a recording page and a table cost a step: the command runs scripts/clutter.lua for SHORT and for LONG simulated
// seconds, without, with --record and with --log F.csv, in turns. The differences of the least times are those of the
// steps between, so that what is spent once (start, viewer, last block) falls out. The page is packed in a thread of
// its own: wall times need two processors with nothing else to do, times of the processors are the sum over both
// threads.
#define _GNU_SOURCE // mkdtemp, getrusage
#include <stdbool.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bench_row.h"
#include "bench_time.h"

enum { ROUNDS = 15, SHORT = 10, LONG = 30, STEPS_A_SECOND = 100 };

enum { WALL, PROCESSOR, CLOCKS };
enum { NOTHING, PAGE, TABLE, OUTPUTS };

/// Of this process' children that have ended, all threads [us].
static double children_us(void) {
    struct rusage u;
    getrusage(RUSAGE_CHILDREN, &u);
    return 1e6 * (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/// One run; least (CLOCKS) [us] keeps the least of all. False: it failed.
static bool run(const char *stiction, int seconds, const char *option, const char *file, double *least) {
    char line[1024];
    snprintf(line, sizeof line, "'%s' run '%s/scripts/clutter.lua' --quiet --set seconds=%d %s %s >/dev/null", stiction,
             STN_SOURCE_DIR, seconds, option, file);
    remove(file);
    double start = now_us(), before = children_us();
    if (system(line) != 0) {
        return false;
    }
    least[WALL] = fmin(least[WALL], now_us() - start);
    least[PROCESSOR] = fmin(least[PROCESSOR], children_us() - before);
    return true;
}

/// What the rows of one clock are, from the least times [output][long].
static void report(const char *clock, const char *quantity, double times[OUTPUTS][2]) {
    static const char *const names[] = {"clutter, a step", "clutter, a step recorded", "clutter, a step in a table"};
    static const char *const once_names[] = {"", "clutter, once", "clutter, a table once"};
    const double steps = (double)STEPS_A_SECOND * (LONG - SHORT);
    const double without = (times[NOTHING][1] - times[NOTHING][0]) / steps;
    printf("clutter, %s: %.1f us a step\n", clock, without);
    bench_row("recording", names[NOTHING], "Stiction", quantity, "us", without);
    for (int o = PAGE; o < OUTPUTS; o++) {
        const double with = (times[o][1] - times[o][0]) / steps;
        const double once = times[o][0] - times[NOTHING][0] - (with - without) * STEPS_A_SECOND * SHORT;
        printf("  %s: %.1f us more, %.1f %%; once %.1f ms\n", o == PAGE ? "recorded" : "in a table", with - without,
               100.0 * (with / without - 1.0), 1e-3 * once);
        bench_row("recording", names[o], "Stiction", quantity, "us", with);
        bench_row("recording", once_names[o], "Stiction", quantity, "ms", 1e-3 * once);
    }
}

int main(int argc, char **argv) {
    (void)argc;
    static const char *const options[OUTPUTS] = {"", "--record", "--log"};
    char folder[] = "/tmp/stn_bench_recording_XXXXXX", stiction[512], files[OUTPUTS][64] = {""}, parameters[80];
    double least[OUTPUTS][2][CLOCKS]; // [output][long]
    const char *slash = strrchr(argv[0], '/');
    snprintf(stiction, sizeof stiction, "%.*s/../bin/stiction", slash != NULL ? (int)(slash - argv[0]) : 1,
             slash != NULL ? argv[0] : ".");
    if (mkdtemp(folder) == NULL) {
        fprintf(stderr, "bench recording: cannot write to /tmp\n");
        return 1;
    }
    snprintf(files[PAGE], sizeof files[PAGE], "%s/page.html", folder);
    snprintf(files[TABLE], sizeof files[TABLE], "%s/table.csv", folder);
    snprintf(parameters, sizeof parameters, "%s.parameters", files[TABLE]);
    for (int k = 0; k < 2 * OUTPUTS; k++) {
        least[k % OUTPUTS][k / OUTPUTS][WALL] = least[k % OUTPUTS][k / OUTPUTS][PROCESSOR] = INFINITY;
    }
    bool good = true;
    for (int k = 0; k < 2 * OUTPUTS * ROUNDS && good; k++) {
        const int o = k % OUTPUTS, is_long = k / OUTPUTS % 2;
        good = run(stiction, is_long != 0 ? LONG : SHORT, options[o], files[o], least[o][is_long]);
    }
    remove(files[PAGE]);
    remove(files[TABLE]);
    remove(parameters);
    rmdir(folder);
    for (int clock = 0; clock < CLOCKS && good; clock++) {
        double times[OUTPUTS][2];
        for (int k = 0; k < 2 * OUTPUTS; k++) {
            times[k % OUTPUTS][k / OUTPUTS] = least[k % OUTPUTS][k / OUTPUTS][clock];
        }
        report(clock == WALL ? "wall" : "processors", clock == WALL ? "" : "processors", times);
    }
    return good ? 0 : 1;
}
