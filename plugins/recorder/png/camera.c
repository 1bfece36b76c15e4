// SPDX-License-Identifier: Apache-2.0
// Views: where points of the world land in the picture.
//
// With (a, b, c) the view coordinates of a point, a perspective view puts it at
//   x = x_0 + s a / c,  y = y_0 - s b / c,  s = (height / 2) / tan(field / 2).
// The camera orbits its target at azimuth A (from x towards y) and elevation E:
//   forward = -(cos E cos A, cos E sin A, sin E),  right = (-sin A, cos A, 0),  up = right x forward.
//
// Fitting. A point is in the picture when |a| <= t_h c and |b| <= t_v c (t: tangents of the half angles). For the side
// with the outward direction n = right - t_h forward, all points are inside when n . origin >= e = max n . p; two sides
// together bound how far forward the origin may lie,
//   forward . origin <= -(e_right + e_left) / (2 t_h),  and then right . origin = (e_right - e_left) / 2 is the middle.
// The smaller bound of both pairs is the closest view; e is the support function of the shapes, so the fit is exact.
#include "picture.h"

static const double MARGIN = 0.07; // of the half width and height stays free

static void set_axes(view *v, stn_vec3 right, stn_vec3 up, stn_vec3 forward) {
    stn_mat3 columns = stn_mat3_columns(right, up, forward);
    v->axes = stn_mat3_transpose(&columns);
}

/// Limits for one pair of sides: the reach on both, in directions `side` -+ t forward.
typedef struct bounds {
    double plus, minus, tangent;
} bounds;

static bounds measure(const view *v, int32_t axis, double tangent, reach_function reach, const void *points) {
    stn_vec3 side = {v->axes.m[axis][0], v->axes.m[axis][1], v->axes.m[axis][2]};
    stn_vec3 forward = {v->axes.m[2][0], v->axes.m[2][1], v->axes.m[2][2]};
    bounds b = {.tangent = tangent};
    b.plus = reach(points, stn_vec3_mul_add(side, -tangent, forward));
    b.minus = reach(points, stn_vec3_mul_add(stn_vec3_neg(side), -tangent, forward));
    return b;
}

/// How far forward the origin may lie when its coordinate along the side is `at`; NAN: wherever is best.
static double furthest(const bounds *b, double at) {
    if (isnan(at)) {
        return -(b->plus + b->minus) / (2.0 * b->tangent);
    }
    return fmin((at - b->plus) / b->tangent, (-at - b->minus) / b->tangent);
}

static double middle(const bounds *b, double at) {
    return isnan(at) ? 0.5 * (b->plus - b->minus) : at;
}

view camera_view(const camera *c, reach_function reach, const void *points, stn_vec3 centre, double radius) {
    view v = {.perspective = true};
    double azimuth = c->azimuth, elevation = c->elevation;
    stn_vec3 forward = {-cos(elevation) * cos(azimuth), -cos(elevation) * sin(azimuth), -sin(elevation)};
    stn_vec3 right = {-sin(azimuth), cos(azimuth), 0.0};
    set_axes(&v, right, stn_vec3_cross(right, forward), forward);
    v.scale = 0.5 * SAMPLES * c->height / tan(0.5 * c->field_of_view);
    v.centre_x = 0.5 * SAMPLES * c->width;
    v.centre_y = 0.5 * SAMPLES * c->height;
    stn_vec3 target = stn_mat3_apply(&v.axes, c->aimed ? c->target : centre);
    stn_vec3 at = target;
    at.z -= c->distance;
    if (c->distance == 0.0 && radius > 0.0) {
        // the origin of the closest view that holds everything, in view axes
        double tangent = (1.0 - MARGIN) * tan(0.5 * c->field_of_view);
        bounds across = measure(&v, 0, tangent * c->width / c->height, reach, points);
        bounds along = measure(&v, 1, tangent, reach, points);
        stn_vec3 aim = {NAN, NAN, NAN};
        if (c->aimed) {
            aim = stn_mat3_apply(&v.axes, c->target);
        }
        at = stn_vec3_make(middle(&across, aim.x), middle(&along, aim.y),
                           fmin(furthest(&across, aim.x), furthest(&along, aim.y)));
    }
    double distance = target.z - at.z;
    if (!(distance > 0.0) || !stn_vec3_finite(at)) { // nothing to fit
        distance = radius > 0.0 && isfinite(radius) ? 3.0 * radius : 3.0;
        at = target;
        at.z -= distance;
    }
    v.origin = stn_mat3_apply_transposed(&v.axes, at);
    v.near = 1e-3 * distance;
    return v;
}

view camera_light_view(stn_vec3 to_light, stn_vec3 centre, double radius, int32_t size) {
    view v = {.perspective = false, .near = -INFINITY, .range = 4.0 * radius};
    stn_mat3 frame = stn_contact_frame(to_light);
    stn_vec3 right = stn_mat3_column(&frame, 0), forward = stn_vec3_neg(to_light);
    set_axes(&v, right, stn_vec3_cross(right, forward), forward);
    v.origin = stn_vec3_mul_add(centre, 2.0 * radius, to_light);
    v.scale = 0.49 * size / radius; // a rim stays free: what lies outside of the map is lit
    v.centre_x = v.centre_y = 0.5 * size;
    return v;
}

double view_nearness(const view *v, double z) {
    return v->perspective ? 1.0 / z : 1.0 - z / v->range;
}
