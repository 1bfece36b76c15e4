// SPDX-License-Identifier: Apache-2.0
// Lines of constraints of plugins in frames: where they run, and what they carry.
#include "html.h"

enum { LINES, POINTS };

void lines_open(line_writer *w, const stn_model *model, const scene_units *per_unit) {
    *w = (line_writer){.per_unit = *per_unit, .count = model->constraint_count};
    for (int32_t i = 0; i < LINE_STREAMS; i++) {
        w->stream[i].context = model->context;
    }
}

void lines_close(line_writer *w) {
    for (int32_t i = 0; i < LINE_STREAMS; i++) {
        bytes_release(&w->stream[i]);
    }
}

void lines_add(line_writer *w, const moment *m) {
    for (int32_t i = 0; i < w->count; i++) {
        const line *l = &m->lines[i];
        bytes_put_u(&w->stream[LINES], l->slack);
        bytes_put_s(&w->stream[LINES], quantise(l->force, w->per_unit.force, 0));
        bytes_put_u(&w->stream[LINES], (uint64_t)l->point_count);
        int64_t last[3] = {0};
        for (int32_t k = l->point_start; k < l->point_start + l->point_count; k++) {
            const double place[3] = {m->line_points[k].x, m->line_points[k].y, m->line_points[k].z};
            for (int32_t c = 0; c < 3; c++) {
                int64_t here = quantise(place[c], w->per_unit.length, last[c]);
                bytes_put_s(&w->stream[POINTS], here - last[c]);
                last[c] = here;
            }
        }
    }
}
