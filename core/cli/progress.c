// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "cli/progress.h"

static const double shortest_pause = 0.1; // [s]

double cli_seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static bool same_end(double a, double b) {
    return a == b || (isnan(a) && isnan(b));
}

/// Starts counting again when the script begins another world:run.
static void follow_run(cli_progress *p, const stn_observation *o, double end_time, double now) {
    if (p->begun == 0.0 || !same_end(p->end_time, end_time)) {
        p->begun = p->shown = now;
        p->begun_at = o->time - o->dt;
        p->end_time = end_time;
    }
}

static void print_bar(const cli_progress *p, double time) {
    enum { WIDTH = 24 };
    char bar[WIDTH + 1];
    double done = (time - p->begun_at) / (p->end_time - p->begun_at);
    for (int i = 0; i < WIDTH; i++) {
        bar[i] = done * WIDTH > i ? '#' : '.';
    }
    bar[WIDTH] = '\0';
    fprintf(stderr, "[%s] ", bar);
}

void cli_progress_step(void *user, const stn_observation *o, double end_time) {
    cli_progress *p = user;
    double now = cli_seconds_now();
    follow_run(p, o, end_time, now);
    if (now - p->shown < shortest_pause) {
        return;
    }
    p->shown = now;
    p->visible = true;
    double speed = (o->time - p->begun_at) / (now - p->begun);
    fputs("\r\033[K", stderr);
    if (!isnan(end_time)) {
        print_bar(p, o->time);
    }
    fprintf(stderr, "%.2f s, %.1f x real time", o->time, speed);
    if (!isnan(end_time) && speed > 0.0) {
        fprintf(stderr, ", %.0f s left", (end_time - o->time) / speed);
    }
    fprintf(stderr, ", %d contacts, %d iterations", o->report->contacts, o->report->iterations);
    fflush(stderr);
}

void cli_progress_end(cli_progress *p) {
    if (p->visible) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
        p->visible = false;
    }
}
