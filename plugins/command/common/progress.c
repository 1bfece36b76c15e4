// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/progress.h"
#include "common/terminal.h"

static const double shortest_pause = 0.1; // [s]

double cli_seconds_now(void) {
    return 1e-6 * stn_clock_us();
}

enum { BAR = 24, LONGEST = 160 };

/// "[######..................] ", `done` from 0 to 1.
static void draw_bar(double done, char *bar) {
    bar[0] = '[';
    for (int i = 0; i < BAR; i++) {
        bar[1 + i] = done * BAR > i ? '#' : '.';
    }
    memcpy(bar + 1 + BAR, "] ", 3);
}

/// "12 s left", "3 min left", "2 h 5 min left".
static void print_left(double seconds, char *text, size_t size) {
    int64_t minutes = seconds < 1e9 ? (int64_t)(seconds / 60.0 + 0.5) : 0;
    if (seconds < 100.0) {
        snprintf(text, size, "%.0f s left", seconds);
    } else if (minutes < 60) {
        snprintf(text, size, "%lld min left", (long long)minutes);
    } else {
        snprintf(text, size, "%lld h %lld min left", (long long)(minutes / 60), (long long)(minutes % 60));
    }
}

void cli_progress_step(void *user, const stn_observation *o, double end_time) {
    cli_progress *p = user;
    double now = cli_seconds_now();
    bool same_end = p->end_time == end_time || (isnan(p->end_time) && isnan(end_time));
    if (p->begun == 0.0 || !same_end) { // another world:run of the script
        p->begun = p->shown = now;
        p->begun_at = o->time - o->dt;
        p->end_time = end_time;
    }
    if (now - p->shown < shortest_pause) {
        return;
    }
    p->shown = now;
    p->visible = true;
    char figures[5][48]; // the most important first
    int count = 0;
    double speed = (o->time - p->begun_at) / (now - p->begun);
    bool ends = !isnan(p->end_time);
    if (ends) {
        snprintf(figures[count++], sizeof *figures, "%.2f of %.4g s", o->time, p->end_time);
    } else {
        snprintf(figures[count++], sizeof *figures, "%.2f s", o->time);
    }
    snprintf(figures[count++], sizeof *figures, "%.1f x real time", speed);
    if (ends && speed > 0.0) {
        print_left((p->end_time - o->time) / speed, figures[count++], sizeof *figures);
    }
    snprintf(figures[count++], sizeof *figures, "%d contacts", o->report->contact_count);
    snprintf(figures[count++], sizeof *figures, "%d iterations", o->report->iterations);
    // A line longer than the terminal would leave rests of itself behind: the bar goes first, then the last figures.
    int width = cli_width_of_stderr() - 1, used = 0; // the last column would wrap
    char bar[BAR + 4] = "", text[LONGEST] = "";
    for (int i = 0; i < count; i++) {
        int length = (int)strlen(figures[i]) + (i > 0 ? 2 : 0);
        if (used + length > width || used + length >= LONGEST) {
            break;
        }
        used += snprintf(text + used, (size_t)(LONGEST - used), "%s%s", i > 0 ? ", " : "", figures[i]);
    }
    if (ends && BAR + 3 + used <= width) {
        draw_bar((o->time - p->begun_at) / (p->end_time - p->begun_at), bar);
    }
    fprintf(stderr, "\r\033[K%s%s", bar, text);
    fflush(stderr);
}

void cli_progress_count(cli_progress *p, int32_t done, int32_t total, const char *what) {
    char bar[BAR + 4] = "", left[48] = "", text[LONGEST];
    double now = cli_seconds_now();
    if (p->begun == 0.0) {
        p->begun = p->shown = now;
    }
    if (now - p->shown < shortest_pause || !cli_stderr_redraws()) {
        return;
    }
    p->shown = now;
    p->visible = true;
    if (done > 0) {
        print_left((total - done) * (now - p->begun) / done, left, sizeof left);
    }
    int width = cli_width_of_stderr() - 1;
    snprintf(text, sizeof text, "%d of %d %s%s%s", done, total, what, done > 0 ? ", " : "", left);
    if (BAR + 3 + (int)strlen(text) <= width) {
        draw_bar((double)done / total, bar);
    }
    fprintf(stderr, "\r\033[K%s%.*s", bar, width, text);
    fflush(stderr);
}

void cli_progress_end(cli_progress *p) {
    if (p->visible) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
        p->visible = false;
    }
}
