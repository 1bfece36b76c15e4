// SPDX-License-Identifier: Apache-2.0
// The pressure of a patch as a picture, as a touch sensor would have it. Every face's force f_i is spread over its
// polygon in proportion to w = max(p, 0), p linear between the pressures at the corners, and cut into pixels:
//
//     pixel += f_i |n_i . z| / (pixel area) * (integral of w over pixel and polygon) / (integral of w over the polygon)
//
// in the plane of the picture. The polygon is a fan of triangles; each is cut into columns, these into rows
// [sutherland-hodgman-1974], so that nothing is sampled and nothing lost.
#include <math.h>

#include "patch_image.h"

enum { MOST_CORNERS = 8 }; // of a triangle that is cut by two pairs of lines: 7

/// A corner in pixels from the upper left of the picture, and what is spread there.
typedef struct corner {
    double at[2], w;
} corner;

typedef struct cut {
    int32_t count;
    corner corners[MOST_CORNERS];
} cut;

static corner between(const corner *a, const corner *b, double s) {
    corner c = {{a->at[0] + s * (b->at[0] - a->at[0]), a->at[1] + s * (b->at[1] - a->at[1])}, a->w + s * (b->w - a->w)};
    return c;
}

/// What lies at sign (x_axis - line) >= 0.
static void cut_off(const cut *from, int axis, double line, double sign, cut *to) {
    to->count = 0;
    for (int32_t i = 0; i < from->count; i++) {
        const corner *a = &from->corners[i], *b = &from->corners[(i + 1) % from->count];
        double in_a = sign * (a->at[axis] - line), in_b = sign * (b->at[axis] - line);
        if (in_a >= 0.0 && to->count < MOST_CORNERS) {
            to->corners[to->count++] = *a;
        }
        if (((in_a > 0.0 && in_b < 0.0) || (in_a < 0.0 && in_b > 0.0)) && to->count < MOST_CORNERS) {
            corner *crossing = &to->corners[to->count++];
            *crossing = between(a, b, in_a / (in_a - in_b));
            crossing->at[axis] = line;
        }
    }
}

static void keep_strip(const cut *from, int axis, int32_t strip, cut *to) {
    cut half;
    cut_off(from, axis, strip, 1.0, &half);
    cut_off(&half, axis, strip + 1.0, -1.0, to);
}

/// Integral of w over a convex polygon, in pixels.
static double integral(const cut *c) {
    double sum = 0.0;
    for (int32_t i = 2; i < c->count; i++) {
        const corner *o = &c->corners[0], *a = &c->corners[i - 1], *b = &c->corners[i];
        double twice = (a->at[0] - o->at[0]) * (b->at[1] - o->at[1]) - (a->at[1] - o->at[1]) * (b->at[0] - o->at[0]);
        sum += twice * (o->w + a->w + b->w) / 6.0;
    }
    return fabs(sum);
}

/// The strips of the first `count` that a polygon reaches: [*first, *last].
static void find_strips(const cut *c, int axis, int32_t count, int32_t *first, int32_t *last) {
    double low = INFINITY, high = -INFINITY;
    for (int32_t i = 0; i < c->count; i++) {
        low = fmin(low, c->corners[i].at[axis]);
        high = fmax(high, c->corners[i].at[axis]);
    }
    *first = (int32_t)fmin(fmax(floor(low), 0.0), count);
    *last = (int32_t)fmin(fmax(floor(high), -1.0), count - 1.0);
}

/// Corner `i` of a face in the picture; `even`: the same is spread everywhere.
static corner place(const stn_contact_set *set, int32_t i, const patch_image *image, bool even) {
    stn_vec3 p = stn_pose_apply_inverse(&image->pose, set->vertices[i]);
    corner c = {{(p.x / image->extent_x + 0.5) * image->width, (0.5 - p.y / image->extent_y) * image->height},
                even ? 1.0 : fmax(set->vertex_pressure[i], 0.0)};
    return c;
}

/// Triangle `i` of the fan.
static cut triangle_of(const stn_contact_set *set, const stn_contact *c, int32_t i, const patch_image *image,
                       bool even) {
    int32_t start = c->vertex_start;
    cut triangle = {3,
                    {place(set, start, image, even), place(set, start + i + 1, image, even),
                     place(set, start + i + 2, image, even)}};
    return triangle;
}

static double spread_over(const stn_contact_set *set, const stn_contact *c, const patch_image *image, bool even) {
    double sum = 0.0;
    for (int32_t i = 0; i < c->vertex_count - 2; i++) {
        cut triangle = triangle_of(set, c, i, image, even);
        sum += integral(&triangle);
    }
    return sum;
}

static void paint_face(const stn_contact_set *set, const stn_contact *c, double force, const patch_image *image,
                       double *pressure) {
    double all = spread_over(set, c, image, false);
    bool even = !(all > 0.0);
    all = even ? spread_over(set, c, image, true) : all;
    if (!(all > 0.0)) {
        return; // seen from its edge
    }
    double pixel_area = image->extent_x / image->width * (image->extent_y / image->height);
    double scale = force / (pixel_area * all);
    for (int32_t i = 0; i < c->vertex_count - 2; i++) {
        cut triangle = triangle_of(set, c, i, image, even);
        int32_t first, last, top, bottom;
        find_strips(&triangle, 0, image->width, &first, &last);
        for (int32_t x = first; x <= last; x++) {
            cut column;
            keep_strip(&triangle, 0, x, &column);
            find_strips(&column, 1, image->height, &top, &bottom);
            for (int32_t y = top; y <= bottom; y++) {
                cut pixel;
                keep_strip(&column, 1, y, &pixel);
                pressure[(size_t)y * (size_t)image->width + (size_t)x] += scale * integral(&pixel);
            }
        }
    }
}

stn_status patch_image_add(const stn_observation *o, int32_t patch, const patch_image *image, double *pressure,
                           stn_error *err) {
    if (image->width < 1 || image->height < 1 || image->width > PATCH_IMAGE_MAX || image->height > PATCH_IMAGE_MAX) {
        return stn_fail(err, STN_ERR_ARGUMENT, "patch image: %d x %d pixels, must be 1 to %d a side", (int)image->width,
                        (int)image->height, (int)PATCH_IMAGE_MAX);
    }
    if (!(image->extent_x > 0.0 && image->extent_y > 0.0) || isinf(image->extent_x) || isinf(image->extent_y)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "patch image: extent %g x %g m, must be finite and > 0", image->extent_x,
                        image->extent_y);
    }
    stn_patch_report report;
    stn_observation_patch(o, patch, &report);
    if (report.sticking + report.slipping == 0) {
        return STN_OK;
    }
    const stn_patch *p = &o->contacts->patches[patch];
    stn_vec3 z = stn_mat3_column(&image->pose.rotation, 2);
    double side = stn_vec3_dot(report.normal, z); // that the patch as a whole shows
    for (int32_t i = p->contact_start; i < p->contact_start + p->contact_count; i++) {
        const stn_contact *c = &o->contacts->contacts[i];
        double along = stn_vec3_dot(c->normal, z);
        stn_contact_report r;
        stn_observation_contact(o, i, &r);
        if (along * side > 0.0 && r.state != STN_CONTACT_OPEN) {
            paint_face(o->contacts, c, stn_vec3_norm(r.normal_part) * fabs(along), image, pressure);
        }
    }
    return STN_OK;
}
