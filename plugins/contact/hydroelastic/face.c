// SPDX-License-Identifier: Apache-2.0
// See face.h.
#include "face.h"

#include <string.h>

/// Corners and areas below are none, relative to the element.
static const double same_point = 1e-12, no_area = 1e-16;
/// Cosines between normal and gradient, from where a face counts less to where it does not: the far side of something
/// thin, at 120 to 150 degrees. (A limit at 112.5 degrees [elandt-2019] makes forces jump: gradients are constant in
/// each tetrahedron, and an edge that passes from one to the next is at 90 to 110 degrees often.)
static const double far_begins = -0.5, far_ends = -0.86602540378443865;
/// Slopes less than this share of the gradient count as this share: the fictitious distance stays within four depths.
static const double least_slope = 0.25;

double face_weight(double slope, double steepest) {
    double t = (slope - far_begins * steepest) / ((far_ends - far_begins) * steepest);
    if (t <= 0.0) {
        return 1.0;
    }
    return t < 1.0 ? (1.0 - t) * (1.0 - t) * (1.0 + 2.0 * t) : 0.0;
}

double face_slope(double slope, double steepest) {
    return fmax(slope, least_slope * steepest);
}

void face_restart(face_sink *sink, double cap) {
    sink->count = 0;
    sink->cap = cap;
    sink->beyond = false;
}

int32_t *face_nearby(face_sink *sink, int32_t side, int32_t count) {
    if (count > sink->room[side]) {
        sink->nearby[side] = STN_ARENA(sink->arena, count, int32_t);
        sink->room[side] = sink->nearby[side] != NULL ? count : 0;
        sink->no_memory = sink->no_memory || sink->nearby[side] == NULL;
    }
    return sink->nearby[side];
}

face *face_next(face_sink *sink) {
    if (sink->count == sink->capacity) {
        int32_t capacity = sink->capacity > 0 ? 2 * sink->capacity : 256;
        face *larger = capacity <= INT32_MAX / 2 ? STN_ARENA(sink->arena, capacity, face) : NULL;
        if (larger == NULL) {
            sink->no_memory = true;
            return NULL;
        }
        if (sink->count > 0) {
            memcpy(larger, sink->faces, (size_t)sink->count * sizeof *larger);
        }
        sink->faces = larger;
        sink->capacity = capacity;
    }
    return &sink->faces[sink->count];
}

bool face_keep(face_sink *sink, double size) {
    face *f = &sink->faces[sink->count];
    polygon_weld(&f->cut, same_point * size);
    f->area = f->cut.count >= 3 ? polygon_area(&f->cut, &f->centre) : 0.0;
    if (!(f->area > no_area * size * size)) {
        return true;
    }
    for (int32_t i = 0; i < f->cut.count; i++) {
        sink->beyond = sink->beyond || pressure_at(&f->p, f->cut.corner[i]) >= sink->cap;
    }
    sink->count++;
    return !sink->beyond;
}

void face_split_all(face_sink *sink) {
    for (int32_t i = 0, count = sink->count; i < count; i++) {
        double height[POLYGON_CORNERS], below[POLYGON_CORNERS], lowest = 0.0, highest = 0.0;
        int32_t corners = sink->faces[i].cut.count;
        for (int32_t k = 0; k < corners; k++) {
            height[k] = pressure_at(&sink->faces[i].p, sink->faces[i].cut.corner[k]);
            below[k] = -height[k];
            lowest = fmin(lowest, height[k]);
            highest = fmax(highest, height[k]);
        }
        if (!(lowest < -1e-6 * highest && highest > -1e-6 * lowest) || corners == POLYGON_CORNERS) {
            continue;
        }
        face *outer = face_next(sink);
        if (outer == NULL) {
            return;
        }
        face *inner = &sink->faces[i];
        *outer = *inner;
        outer->element_n |= FACE_OUTER;
        polygon_clip(&inner->cut, height, 0.0);
        polygon_clip(&outer->cut, below, 0.0);
        inner->area = polygon_area(&inner->cut, &inner->centre);
        outer->area = polygon_area(&outer->cut, &outer->centre);
        sink->count++;
    }
}
