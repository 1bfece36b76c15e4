// SPDX-License-Identifier: Apache-2.0
// What a recording page costs a step: the command runs scripts/clutter.lua for SHORT and for LONG simulated seconds,
// without and with --record, in turns. The differences of the least times are those of the steps between, so that what
// is spent once (start, viewer, last block) falls out. Wall times: the page is packed in a thread of its own.
#define _GNU_SOURCE // mkdtemp
#include <unistd.h>

#include "bench_row.h"
#include "bench_time.h"

enum { ROUNDS = 15, SHORT = 10, LONG = 30, STEPS_A_SECOND = 100 };

/// Of one run [us]; NaN: it failed.
static double run(const char *stiction, int seconds, const char *page) {
    char line[1024];
    snprintf(line, sizeof line, "'%s' run '%s/scripts/clutter.lua' --quiet --set seconds=%d %s %s >/dev/null", stiction,
             STN_SOURCE_DIR, seconds, page != NULL ? "--record" : "", page != NULL ? page : "");
    if (page != NULL) {
        remove(page);
    }
    double start = now_us();
    int status = system(line);
    return status == 0 ? now_us() - start : (double)NAN;
}

int main(int argc, char **argv) {
    (void)argc;
    char folder[] = "/tmp/stn_bench_recording_XXXXXX", stiction[512], page[64];
    double least[2][2] = {{INFINITY, INFINITY}, {INFINITY, INFINITY}}; // [recorded][long]
    const char *slash = strrchr(argv[0], '/');
    snprintf(stiction, sizeof stiction, "%.*s/../bin/stiction", slash != NULL ? (int)(slash - argv[0]) : 1,
             slash != NULL ? argv[0] : ".");
    if (mkdtemp(folder) == NULL) {
        fprintf(stderr, "bench recording: cannot write to /tmp\n");
        return 1;
    }
    snprintf(page, sizeof page, "%s/page.html", folder);
    for (int k = 0; k < 4 * ROUNDS; k++) {
        int recorded = k % 2, is_long = k / 2 % 2;
        double time = run(stiction, is_long != 0 ? LONG : SHORT, recorded != 0 ? page : NULL);
        least[recorded][is_long] = time < least[recorded][is_long] ? time : least[recorded][is_long];
    }
    remove(page);
    rmdir(folder);
    double steps = (double)STEPS_A_SECOND * (LONG - SHORT);
    double without = (least[0][1] - least[0][0]) / steps, with = (least[1][1] - least[1][0]) / steps;
    double once = least[1][0] - least[0][0] - (with - without) * STEPS_A_SECOND * SHORT;
    printf("clutter: %.1f us a step, %.1f recorded: %.1f us more, %.1f %%; once %.1f ms\n", without, with,
           with - without, 100.0 * (with / without - 1.0), 1e-3 * once);
    bench_row("recording", "clutter, a step", "Stiction", "", "us", without);
    bench_row("recording", "clutter, a step recorded", "Stiction", "", "us", with);
    bench_row("recording", "clutter, once", "Stiction", "", "ms", 1e-3 * once);
    return isfinite(with) ? 0 : 1;
}
