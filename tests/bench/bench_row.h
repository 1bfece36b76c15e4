// SPDX-License-Identifier: Apache-2.0
// Rows of the summary table (table.lua): what a program measured, one figure a line, appended to the file that the
// environment names as STICTION_BENCH_ROWS; without it nothing happens. The programs' own prints say more.
#ifndef BENCH_ROW_H
#define BENCH_ROW_H

#include <stdio.h>
#include <stdlib.h>

/// part,what,engine,quantity,unit,value
///
/// @param part      block of the table: "step", "collision"
/// @param what      its line: "clutter 40, walls"
/// @param engine    its column: "Stiction", "MuJoCo", ...
/// @param quantity  "": the figure that is compared; else what stands beside it: "p99", "overlap"
/// @param value     NaN: there is none, and the line stands there all the same
static inline void bench_row(const char *part, const char *what, const char *engine, const char *quantity,
                             const char *unit, double value) {
    const char *path = getenv("STICTION_BENCH_ROWS");
    FILE *file = path != NULL ? fopen(path, "a") : NULL;
    if (file != NULL) {
        fprintf(file, "%s,\"%s\",%s,%s,%s,%.6g\n", part, what, engine, quantity, unit, value);
        fclose(file);
    }
}

#endif
