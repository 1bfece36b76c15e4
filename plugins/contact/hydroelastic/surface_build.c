// SPDX-License-Identifier: Apache-2.0
// Growing triangulations, their sides, and finer ones from coarse ones.
#include <stdlib.h>

#include "surface_build.h"

surface_build surface_build_empty(stn_context *context) {
    return (surface_build){.context = context};
}

void surface_build_clear(surface_build *build) {
    stn_release(build->context, build->vertices);
    stn_release(build->context, build->extents);
    stn_release(build->context, build->triangles);
    stn_release(build->context, build->labels);
    *build = surface_build_empty(build->context);
}

static bool grow(surface_build *build, void **array, int32_t old, int32_t capacity, size_t size) {
    void *grown = stn_reallocate(build->context, *array, (size_t)old, (size_t)capacity, size);
    if (grown == NULL) {
        build->failed = true;
        return false;
    }
    *array = grown;
    return true;
}

static int32_t doubled(int32_t capacity) {
    return capacity < 32 ? 64 : capacity > INT32_MAX / 8 ? -1 : 2 * capacity; // three of each still count in int32_t
}

int32_t surface_build_vertex(surface_build *build, stn_vec3 point, double extent) {
    if (build->vertex_count == build->vertex_capacity) {
        int32_t old = build->vertex_capacity, capacity = doubled(old);
        if (build->failed || capacity < 0 ||
            !grow(build, (void **)&build->vertices, old, capacity, 3 * sizeof(double)) ||
            !grow(build, (void **)&build->extents, old, capacity, sizeof(double))) {
            build->failed = true;
            return 0;
        }
        build->vertex_capacity = capacity;
    }
    surface_put(build->vertices, build->vertex_count, point);
    build->extents[build->vertex_count] = extent;
    return build->vertex_count++;
}

void surface_build_triangle(surface_build *build, int32_t a, int32_t b, int32_t c, int32_t label) {
    if (build->triangle_count == build->triangle_capacity) {
        int32_t old = build->triangle_capacity, capacity = doubled(old);
        if (build->failed || capacity < 0 ||
            !grow(build, (void **)&build->triangles, old, capacity, 3 * sizeof(int32_t)) ||
            !grow(build, (void **)&build->labels, old, capacity, sizeof(int32_t))) {
            build->failed = true;
            return;
        }
        build->triangle_capacity = capacity;
    }
    int32_t *corners = build->triangles + 3 * (size_t)build->triangle_count;
    corners[0] = a;
    corners[1] = b;
    corners[2] = c;
    build->labels[build->triangle_count++] = label;
}

// --------------------------------------------------------------------------------------------------------- sides

typedef struct triangle_side {
    int32_t low, high, place; // its vertices, and 3 t + k
} triangle_side;

static int compare_sides(const void *a, const void *b) {
    const triangle_side *p = a, *q = b;
    if (p->low != q->low) {
        return p->low < q->low ? -1 : 1;
    }
    if (p->high != q->high) {
        return p->high < q->high ? -1 : 1;
    }
    return (p->place > q->place) - (p->place < q->place);
}

int32_t *surface_sides(stn_context *context, int32_t triangle_count, const int32_t *triangles) {
    int32_t count = 3 * triangle_count;
    triangle_side *sides = stn_allocate(context, (size_t)count, sizeof *sides);
    int32_t *across = stn_allocate(context, (size_t)count, sizeof *across);
    if (sides == NULL || across == NULL) {
        stn_release(context, sides);
        stn_release(context, across);
        return NULL;
    }
    for (int32_t i = 0; i < count; i++) {
        int32_t p = triangles[i], q = triangles[i % 3 == 2 ? i - 2 : i + 1];
        sides[i] = (triangle_side){p < q ? p : q, p < q ? q : p, i};
    }
    qsort(sides, (size_t)count, sizeof *sides, compare_sides);
    for (int32_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && sides[i].low == sides[end].low && sides[i].high == sides[end].high; end++) {
        }
        for (int32_t k = i; k < end; k++) {
            across[sides[k].place] = end - i == 2 ? sides[2 * i + 1 - k].place : -1;
        }
    }
    stn_release(context, sides);
    return across;
}

// ------------------------------------------------------------------------------------------------------ division

stn_vec3 surface_place_flat(const stn_vec3 corner[3], const double b[3]) {
    stn_vec3 p = stn_vec3_scale(b[0], corner[0]);
    return stn_vec3_mul_add(stn_vec3_mul_add(p, b[1], corner[1]), b[2], corner[2]);
}

/// With the sines of the shares, sides are divided into equal arcs and triangles become nearly equal.
stn_vec3 surface_place_round(const stn_vec3 corner[3], const double b[3]) {
    stn_vec3 p = stn_vec3_zero();
    double angle = acos(fmax(-1.0, fmin(1.0, stn_vec3_dot(corner[0], corner[1]))));
    for (int32_t k = 0; k < 3; k++) {
        p = stn_vec3_mul_add(p, sin(angle * b[k]), corner[k]);
    }
    return stn_vec3_scale(1.0 / stn_vec3_norm(p), p);
}

typedef struct division {
    const surface_build *coarse;
    int32_t steps;
    surface_place *place;
    int32_t *side_start; // (3 triangles): the first vertex within a side, from its corner k on
    bool *side_back;     // (3 triangles): they are numbered the other way
    int32_t inner;       // the first vertex within the triangle that is divided
    surface_build fine;
} division;

static stn_vec3 place_at(const division *d, int32_t triangle, int32_t i, int32_t j) {
    stn_vec3 corner[3];
    for (int32_t k = 0; k < 3; k++) {
        corner[k] = stn_vec3_at(d->coarse->vertices, d->coarse->triangles[3 * triangle + k]);
    }
    double b[3] = {(double)(d->steps - i - j) / d->steps, (double)i / d->steps, (double)j / d->steps};
    return d->place(corner, b);
}

/// Vertex (i, j) of a triangle: i steps from corner 0 to 1 and j from there in the direction from 0 to 2.
static int32_t vertex_at(const division *d, int32_t triangle, int32_t i, int32_t j) {
    int32_t n = d->steps, rest = n - i - j, side = -1, m = 0;
    const int32_t *corners = d->coarse->triangles + 3 * (size_t)triangle;
    if (i == n || j == n || rest == n) {
        return corners[i == n ? 1 : j == n ? 2 : 0];
    }
    if (j == 0) {
        side = 0;
        m = i;
    } else if (rest == 0) {
        side = 1;
        m = j;
    } else if (i == 0) {
        side = 2;
        m = rest;
    }
    if (side >= 0) {
        int32_t here = 3 * triangle + side;
        return d->side_start[here] + (d->side_back[here] ? n - m - 1 : m - 1);
    }
    // row j of the inside holds n - 1 - j vertices, i = 1 .. n - 1 - j
    return d->inner + (j - 1) * (n - 1) - j * (j - 1) / 2 + i - 1;
}

surface_build surface_divide(const surface_build *coarse, int32_t n, surface_place *place) {
    stn_context *context = coarse->context;
    int32_t sides = 3 * coarse->triangle_count;
    int32_t *across = coarse->failed ? NULL : surface_sides(context, coarse->triangle_count, coarse->triangles);
    division d = {.coarse = coarse,
                  .steps = n,
                  .place = place,
                  .side_start = stn_allocate(context, (size_t)sides, sizeof(int32_t)),
                  .side_back = stn_allocate(context, (size_t)sides, sizeof(bool)),
                  .fine = surface_build_empty(context)};
    d.fine.failed = across == NULL || d.side_start == NULL || d.side_back == NULL;
    bool ready = !d.fine.failed;
    for (int32_t i = 0; i < coarse->vertex_count && ready; i++) {
        surface_build_vertex(&d.fine, stn_vec3_at(coarse->vertices, i), 0.0);
    }
    for (int32_t here = 0; here < sides && ready; here++) { // the vertices within each side, once
        int32_t there = across[here], k = here % 3;
        if (there >= 0 && there < here) {
            d.side_start[here] = d.side_start[there];
            d.side_back[here] = true;
            continue;
        }
        d.side_start[here] = d.fine.vertex_count;
        for (int32_t m = 1; m < n; m++) {
            int32_t share[3] = {0};
            share[k] = n - m;
            share[(k + 1) % 3] = m;
            surface_build_vertex(&d.fine, place_at(&d, here / 3, share[1], share[2]), 0.0);
        }
    }
    for (int32_t t = 0; t < coarse->triangle_count && ready; t++) {
        int32_t label = coarse->labels[t];
        d.inner = d.fine.vertex_count;
        for (int32_t j = 1; j < n; j++) {
            for (int32_t i = 1; i < n - j; i++) {
                surface_build_vertex(&d.fine, place_at(&d, t, i, j), 0.0);
            }
        }
        for (int32_t j = 0; j < n; j++) {
            for (int32_t i = 0; i < n - j; i++) {
                int32_t a = vertex_at(&d, t, i, j), b = vertex_at(&d, t, i + 1, j), c = vertex_at(&d, t, i, j + 1);
                surface_build_triangle(&d.fine, a, b, c, label);
                if (i + j + 1 < n) {
                    surface_build_triangle(&d.fine, b, vertex_at(&d, t, i + 1, j + 1), c, label);
                }
            }
        }
    }
    stn_release(context, across);
    stn_release(context, d.side_start);
    stn_release(context, d.side_back);
    return d.fine;
}

// ---------------------------------------------------------------------------------------------------- long sides
// Splits the long sides of a flat surface's triangles until none is longer than wanted. Short ones stay whole.

static int32_t following(int32_t place) {
    return place % 3 == 2 ? place - 2 : place + 1;
}

static double length_between(const surface_build *s, int32_t a, int32_t b) {
    return stn_vec3_norm(stn_vec3_sub(stn_vec3_at(s->vertices, a), stn_vec3_at(s->vertices, b)));
}

/// The parts of triangle t; the first of them takes its place.
static void split_triangle(surface_build *s, int32_t t, const int32_t *middle) {
    int32_t v[3], m[3], count = 0, turn = 0, label = s->labels[t];
    for (int32_t k = 0; k < 3; k++) {
        count += middle[3 * t + k] >= 0;
    }
    if (count == 0) {
        return;
    }
    for (int32_t k = 0; k < 3; k++) { // one split: side 0; two: side 2 stays whole
        bool split = middle[3 * t + k] >= 0;
        turn = (count == 1 && split) ? k : (count == 2 && !split) ? (k + 1) % 3 : turn;
    }
    for (int32_t k = 0; k < 3; k++) {
        v[k] = s->triangles[3 * t + (k + turn) % 3];
        m[k] = middle[3 * t + (k + turn) % 3];
    }
    int32_t first[3] = {v[0], m[0], v[2]};
    if (count == 1) {
        surface_build_triangle(s, m[0], v[1], v[2], label);
    } else if (count == 2) { // the corner between the two, and what is left along its shorter diagonal
        bool from_start = length_between(s, v[0], m[1]) <= length_between(s, m[0], v[2]);
        surface_build_triangle(s, m[0], v[1], m[1], label);
        surface_build_triangle(s, from_start ? v[0] : m[0], m[1], v[2], label);
        first[2] = from_start ? m[1] : v[2];
    } else {
        surface_build_triangle(s, m[0], v[1], m[1], label);
        surface_build_triangle(s, m[2], m[1], v[2], label);
        surface_build_triangle(s, m[0], m[1], m[2], label);
        first[2] = m[2];
    }
    for (int32_t k = 0; k < 3 && !s->failed; k++) {
        s->triangles[3 * t + k] = first[k];
    }
}

void surface_refine(surface_build *s, double edge) {
    int32_t split = 1;
    for (int32_t pass = 0; pass < 80 && split > 0 && !s->failed; pass++) {
        int32_t count = s->triangle_count;
        int32_t *across = surface_sides(s->context, count, s->triangles);
        int32_t *middle = stn_allocate(s->context, (size_t)count, 3 * sizeof *middle);
        s->failed = across == NULL || middle == NULL;
        // sides that are the longest of a triangle, and longer than `edge`, get a vertex in their middle
        // (middle[place], -1: none); narrow triangles are so cut across alone
        split = 0;
        for (int32_t i = 0; i < 3 * count && !s->failed; i++) {
            middle[i] = -1;
        }
        for (int32_t t = 0; t < count && !s->failed; t++) {
            int32_t longest = 3 * t;
            double length = 0.0;
            for (int32_t i = 3 * t; i < 3 * t + 3; i++) {
                double side = length_between(s, s->triangles[i], s->triangles[following(i)]);
                longest = side > length ? i : longest;
                length = fmax(length, side);
            }
            if (length > edge && middle[longest] < 0) {
                stn_vec3 a = stn_vec3_at(s->vertices, s->triangles[longest]);
                stn_vec3 b = stn_vec3_at(s->vertices, s->triangles[following(longest)]);
                middle[longest] = surface_build_vertex(s, stn_vec3_scale(0.5, stn_vec3_add(a, b)), 0.0);
                if (across[longest] >= 0) {
                    middle[across[longest]] = middle[longest];
                }
                split++;
            }
        }
        for (int32_t t = 0; t < count && !s->failed; t++) {
            split_triangle(s, t, middle);
        }
        stn_release(s->context, across);
        stn_release(s->context, middle);
    }
}
