// SPDX-License-Identifier: Apache-2.0
// Numbers of nodes that are shown as colours, in frames: whole multiples of a unit of the block's own, as nobody knows
// beforehand how large they become. 2000 steps up to the largest of a block are more than an eye tells apart.
#include <string.h>

#include "html.h"

static const double STEPS = 2000.0;

/// Marks the nodes that are drawn, by surfaces, shapes or, of a cloud without surfaces, faces of elements.
static void mark_drawn(const stn_model *model, bool *drawn) {
    for (int32_t n = 0; n < model->node_count; n++) {
        drawn[n] = true;
    }
    for (int32_t s = 0; s < model->surface_count; s++) {
        const stn_tree *cloud = &model->trees[model->surfaces[s].tree];
        memset(drawn + cloud->node_start, 0, (size_t)cloud->node_count * sizeof *drawn);
    }
    for (int32_t s = 0; s < model->surface_count; s++) {
        const stn_surface *surface = &model->surfaces[s];
        for (int32_t i = 0; i < surface->vertex_count; i++) {
            drawn[surface->vertex[i]] = true;
        }
    }
    for (int32_t g = 0; g < model->geometry_count; g++) {
        const stn_geometry *geometry = &model->geometries[g];
        if (geometry->body < 0 && geometry->shape.type != STN_SHAPE_SURFACE) {
            drawn[geometry->node] = true;
        }
    }
}

stn_status colors_open(color_writer *w, const stn_model *model, const node_values *values, int32_t capacity,
                       stn_error *err) {
    *w = (color_writer){.context = model->context, .capacity = capacity};
    w->stream.context = model->context;
    if (values == NULL) {
        return STN_OK;
    }
    bool *drawn = stn_allocate(model->context, (size_t)model->node_count + 1, sizeof *drawn);
    w->node = stn_allocate(model->context, (size_t)model->node_count + 1, sizeof *w->node);
    if (drawn != NULL && w->node != NULL) {
        mark_drawn(model, drawn);
        for (int32_t n = 0; n < model->node_count; n++) {
            if (drawn[n] && values->tells[n]) {
                w->node[w->count++] = n;
            }
        }
        w->value = stn_allocate(model->context, (size_t)w->count * (size_t)capacity + 1, sizeof *w->value);
    }
    stn_release(model->context, drawn);
    if (w->value == NULL) {
        colors_close(w);
        return stn_fail(err, STN_ERR_MEMORY, "out of memory for the colours of %d nodes", (int)model->node_count);
    }
    return STN_OK;
}

void colors_close(color_writer *w) {
    stn_release(w->context, w->node);
    stn_release(w->context, w->value);
    bytes_release(&w->stream);
    w->node = NULL;
    w->value = NULL;
}

void colors_add(color_writer *w, const float *value, int32_t frame) {
    for (int32_t i = 0; i < w->count; i++) {
        w->value[(size_t)i * (size_t)w->capacity + (size_t)frame] = value[w->node[i]];
    }
}

void colors_write(color_writer *w, int32_t frames, bytes *out) {
    if (w->count == 0) {
        return;
    }
    double largest = 0.0;
    for (int32_t i = 0; i < w->count; i++) {
        for (int32_t f = 0; f < frames; f++) {
            double size = fabs((double)w->value[(size_t)i * (size_t)w->capacity + (size_t)f]);
            largest = size > largest && isfinite(size) ? size : largest;
        }
    }
    double unit = largest > 0.0 ? largest / STEPS : 1.0;
    bytes_put_f64(&w->stream, unit);
    for (int32_t i = 0; i < w->count; i++) {
        int64_t last = 0;
        for (int32_t f = 0; f < frames; f++) {
            double value = (double)w->value[(size_t)i * (size_t)w->capacity + (size_t)f];
            int64_t here = quantise(value, 1.0 / unit, last);
            bytes_put_s(&w->stream, here - last);
            last = here;
        }
    }
    bytes_put_stream(out, &w->stream);
    bytes_clear(&w->stream);
}
