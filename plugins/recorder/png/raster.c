// SPDX-License-Identifier: Apache-2.0
// Triangles to samples, with a depth buffer.
//
// Every quantity q that a triangle carries (nearness, normal, value) is linear over the picture: 1/c of a perspective
// view exactly, normals and values to the order of a triangle's depth. With corners (x_k, y_k, q_k) and A twice the
// signed area,
//   dq/dx = ((q_1 - q_0)(y_2 - y_0) - (q_2 - q_0)(y_1 - y_0)) / A,   dq/dy likewise.
// A row of samples at y_s belongs to an edge between y_a <= y_s < y_b, which it crosses at x_a + (y_s - y_a) m; samples
// from the left crossing (included) to the right one (excluded) are covered. Both triangles at an edge take its ends in
// the same order and so find the same crossing: no sample between them is missed or drawn twice.
//
// The nearest surface stays. Where surfaces of two items coincide, as two capsules at one joint do, triangles of either
// would show by turns: of another item a sample must be nearer by what half a sample spans across, else the first
// stays.
#include <string.h>

#include "picture.h"

enum { CARRIED = 5 };          // nearness, normal, value
static const double TIE = 0.5; // samples

typedef struct corner {
    double x, y, carried[CARRIED];
} corner;

// Comparisons instead of fmin and fmax, which are calls: these run for every sample.
static double clamp(double value, double low, double high) {
    return !(value > low) ? low : value > high ? high : value;
}

static double least(double a, double b, double c) {
    double low = a < b ? a : b;
    return c < low ? c : low;
}

static uint32_t pack_component(double n) {
    return (uint32_t)(int32_t)(clamp(n, -1.0, 1.0) * 511.5 + 512.0); // 0 to 1023
}

uint32_t normal_pack(stn_vec3 n) {
    return pack_component(n.x) | pack_component(n.y) << 10 | pack_component(n.z) << 20;
}

static double unpack_component(uint32_t packed) {
    return ((double)(packed & 1023u) - 511.5) / 511.5;
}

stn_vec3 normal_unpack(uint32_t p) {
    stn_vec3 n = {unpack_component(p), unpack_component(p >> 10), unpack_component(p >> 20)};
    return stn_vec3_normalize_or(n, stn_vec3_make(0.0, 0.0, 1.0));
}

void raster_clear(const raster *r) {
    memset(r->nearness, 0, sizeof *r->nearness * (size_t)r->width * (size_t)r->row_count);
}

/// The number of the first sample at or after a coordinate, within [low, high].
static int32_t sample_from(double coordinate, int32_t low, int32_t high) {
    return (int32_t)clamp(ceil(coordinate - 0.5), low, high);
}

/// Where a row crosses the triangle.
static void cross(const corner *c, double y, double *left, double *right) {
    *left = INFINITY;
    *right = -INFINITY;
    for (int32_t k = 0; k < 3; k++) {
        const corner *a = &c[k], *b = &c[(k + 1) % 3];
        if (a->y > b->y) {
            const corner *other = a;
            a = b;
            b = other;
        }
        if (a->y <= y && y < b->y) {
            double x = a->x + (y - a->y) * ((b->x - a->x) / (b->y - a->y));
            *left = x < *left ? x : *left;
            *right = x > *right ? x : *right;
        }
    }
}

/// What is drawn of one triangle: its plane of carried quantities.
typedef struct patch {
    const corner *c;
    const paint *with;
    double dx[CARRIED], dy[CARRIED];
    double low, high; // nearness of the corners: slivers have steep planes
    float tie;        // factor by which another item must be nearer
    bool turned;      // seen from inside
} patch;

static void fill_row(const raster *r, const patch *p, int32_t row, int32_t from, int32_t to) {
    const corner *c = p->c;
    size_t start = (size_t)(row - r->row_start) * (size_t)r->width;
    double offset_y = row + 0.5 - c->y;
    for (int32_t column = from; column < to; column++) {
        double offset_x = column + 0.5 - c->x;
        double near = c->carried[0] + offset_x * p->dx[0] + offset_y * p->dy[0];
        float nearness = (float)clamp(near, p->low, p->high);
        size_t at = start + (size_t)column;
        bool other = r->item != NULL && r->item[at] != p->with->item;
        if (!(nearness > r->nearness[at] * (other ? p->tie : 1.0f))) {
            continue;
        }
        r->nearness[at] = nearness;
        if (r->normal != NULL) {
            double n[3];
            for (int32_t k = 0; k < 3; k++) {
                n[k] = c->carried[k + 1] + offset_x * p->dx[k + 1] + offset_y * p->dy[k + 1];
                n[k] = p->turned ? -n[k] : n[k];
            }
            r->normal[at] = normal_pack(stn_vec3_make(n[0], n[1], n[2]));
            r->item[at] = p->with->item;
        }
        if (r->value != NULL) {
            r->value[at] = (float)(c->carried[4] + offset_x * p->dx[4] + offset_y * p->dy[4]);
        }
    }
}

static void fill(const raster *r, const view *v, const corner c[3], const paint *with) {
    // twice the signed area
    double area = (c[1].x - c[0].x) * (c[2].y - c[0].y) - (c[2].x - c[0].x) * (c[1].y - c[0].y);
    bool turned = area > 0.0; // y points down
    if (!(fabs(area) > 0.0) || !isfinite(area) || (turned && with->closed)) {
        return;
    }
    int32_t end = r->row_start + r->row_count;
    int32_t row = sample_from(least(c[0].y, c[1].y, c[2].y), r->row_start, end);
    int32_t last = sample_from(-least(-c[0].y, -c[1].y, -c[2].y), r->row_start, end);
    int32_t first_column = sample_from(least(c[0].x, c[1].x, c[2].x), 0, r->width);
    if (row >= last || first_column >= sample_from(-least(-c[0].x, -c[1].x, -c[2].x), 0, r->width)) {
        return; // between samples, as many triangles of a fine mesh are
    }
    patch p = {.c = c, .with = with, .tie = (float)(1.0 + TIE / v->scale), .turned = turned};
    double x1 = c[1].x - c[0].x, y1 = c[1].y - c[0].y, x2 = c[2].x - c[0].x, y2 = c[2].y - c[0].y;
    for (int32_t k = 0; k < CARRIED; k++) {
        double q1 = c[1].carried[k] - c[0].carried[k], q2 = c[2].carried[k] - c[0].carried[k];
        p.dx[k] = (q1 * y2 - q2 * y1) / area;
        p.dy[k] = (q2 * x1 - q1 * x2) / area;
    }
    p.low = least(c[0].carried[0], c[1].carried[0], c[2].carried[0]);
    p.high = -least(-c[0].carried[0], -c[1].carried[0], -c[2].carried[0]);
    for (; row < last; row++) {
        double left, right;
        cross(c, row + 0.5, &left, &right);
        fill_row(r, &p, row, sample_from(left, 0, r->width), sample_from(right, 0, r->width));
    }
}

static corner project(const view *v, const vertex *a, double boost) {
    double scale = v->perspective ? v->scale / a->place.z : v->scale;
    return (corner){v->centre_x + scale * a->place.x,
                    v->centre_y - scale * a->place.y,
                    {boost * view_nearness(v, a->place.z), a->normal.x, a->normal.y, a->normal.z, a->value}};
}

static vertex between(const vertex *a, const vertex *b, double t) {
    return (vertex){stn_vec3_mul_add(a->place, t, stn_vec3_sub(b->place, a->place)),
                    stn_vec3_mul_add(a->normal, t, stn_vec3_sub(b->normal, a->normal)),
                    a->value + t * (b->value - a->value)};
}

/// The part of a triangle that is not too near: 0, 3 or 4 corners.
static int32_t clip(const view *v, const vertex in[3], vertex out[4]) {
    int32_t count = 0;
    for (int32_t k = 0; k < 3; k++) {
        const vertex *a = &in[k], *b = &in[(k + 1) % 3];
        bool a_in = a->place.z >= v->near, b_in = b->place.z >= v->near;
        if (a_in) {
            out[count++] = *a;
        }
        if (a_in != b_in) {
            out[count++] = between(a, b, (v->near - a->place.z) / (b->place.z - a->place.z));
        }
    }
    return count;
}

void raster_triangle(const raster *r, const view *v, const vertex in[3], const paint *with) {
    vertex cut[4];
    const vertex *kept = in;
    int32_t count = 3;
    if (!(least(in[0].place.z, in[1].place.z, in[2].place.z) >= v->near)) {
        count = clip(v, in, cut);
        kept = cut;
    }
    for (int32_t k = 2; k < count; k++) {
        const corner c[3] = {project(v, &kept[0], with->boost), project(v, &kept[k - 1], with->boost),
                             project(v, &kept[k], with->boost)};
        fill(r, v, c, with);
    }
}
