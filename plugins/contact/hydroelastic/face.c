// SPDX-License-Identifier: Apache-2.0
// See face.h. A face of area A with pressure p0 at its centre, which grows by g as the bodies approach, is a spring
// [masterjohn-2022]:
//   k = A g,  phi0 = -p0 / g
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

/// Cuts one along the line of no pressure; false: out of memory.
static bool split_at_rim(face_sink *sink, int32_t i) {
    double height[POLYGON_CORNERS], below[POLYGON_CORNERS], lowest = 0.0, highest = 0.0;
    int32_t count = sink->faces[i].cut.count;
    for (int32_t k = 0; k < count; k++) {
        height[k] = pressure_at(&sink->faces[i].p, sink->faces[i].cut.corner[k]);
        below[k] = -height[k];
        lowest = fmin(lowest, height[k]);
        highest = fmax(highest, height[k]);
    }
    if (!(lowest < -1e-6 * highest && highest > -1e-6 * lowest) || count == POLYGON_CORNERS) {
        return true;
    }
    face *outer = face_next(sink);
    if (outer == NULL) {
        return false;
    }
    face *inner = &sink->faces[i];
    *outer = *inner;
    outer->element_n |= 1 << 30;
    polygon_clip(&inner->cut, height, 0.0);
    polygon_clip(&outer->cut, below, 0.0);
    inner->area = polygon_area(&inner->cut, &inner->centre);
    outer->area = polygon_area(&outer->cut, &outer->centre);
    sink->count++;
    return true;
}

void face_split_all(face_sink *sink) {
    for (int32_t i = 0, count = sink->count; i < count && split_at_rim(sink, i); i++) {
    }
}

static uint64_t feature_of(const face *f, bool m_is_a) {
    uint64_t m = (uint32_t)f->element_m, n = (uint32_t)f->element_n;
    return m_is_a ? m << 32 | n : n << 32 | m;
}

/// A face that was cut with B ahead, put back to the step's start.
typedef struct placing {
    const face *face;
    const stn_pose *frame; // that it is cut in, in the world
    const approach *ahead;
    bool m_is_a;
} placing;

/// A point of it there, halfway between where A has it and where B has it, and the pressure of the fields: below 0
/// where they do not touch yet.
static stn_vec3 put_back(const placing *p, stn_vec3 x, double *level) {
    stn_vec3 at = stn_pose_apply(p->frame, x), way = approach_of(p->ahead, at);
    double gained = stn_vec3_dot(stn_mat3_apply(&p->frame->rotation, p->face->gain), way);
    *level = pressure_at(&p->face->p, x) - (p->m_is_a ? gained : -gained);
    return stn_vec3_mul_add(at, -0.5, way);
}

/// Where the force of a linear pressure acts, so that its torque is exact, too; of one that is below 0 somewhere, as if
/// it were 0 there: then the point stays in the polygon, and nothing jumps.
static stn_vec3 centre_of_pressure(const stn_vec3 *corner, const double *at_corner, int32_t count, stn_vec3 centre) {
    double lowest = 0.0, sum = 0.0;
    for (int32_t i = 0; i < count; i++) {
        lowest = fmin(lowest, at_corner[i]);
    }
    stn_vec3 moment = stn_vec3_zero(), o = corner[0];
    double p = at_corner[0] - lowest;
    for (int32_t i = 1; i + 1 < count; i++) {
        stn_vec3 u = stn_vec3_sub(corner[i], o), v = stn_vec3_sub(corner[i + 1], o);
        double q = at_corner[i] - lowest, r = at_corner[i + 1] - lowest, all = p + q + r;
        double area = stn_vec3_norm(stn_vec3_cross(u, v));
        sum += 4.0 * area * all;
        moment = stn_vec3_mul_add(moment, area * (all + q), u);
        moment = stn_vec3_mul_add(moment, area * (all + r), v);
    }
    return sum > 0.0 ? stn_vec3_mul_add(o, 1.0 / sum, moment) : centre;
}

/// The contact of a face, and its polygon in the world.
static stn_contact contact_of(const placing *p, const stn_model *model, const stn_contact_pair *pair, stn_vec3 *corner,
                              double *at_corner) {
    const face *f = p->face;
    double level;
    for (int32_t i = 0; i < f->cut.count; i++) {
        corner[i] = put_back(p, f->cut.corner[i], &at_corner[i]);
    }
    stn_vec3 centre = put_back(p, f->centre, &level), into_m = stn_mat3_apply(&p->frame->rotation, f->normal);
    stn_vec3 point = centre_of_pressure(corner, at_corner, f->cut.count, centre);
    stn_contact c = stn_contact_make(model, pair, point, point, p->m_is_a ? stn_vec3_neg(into_m) : into_m,
                                     feature_of(f, p->m_is_a));
    c.pressure = level;
    c.phi0 = -level / f->g;
    c.area = f->area * f->weight;
    c.material.stiffness = c.area * f->g;
    c.material.dissipation = pair->material.patch_dissipation;
    c.material.relaxation_time = pair->material.patch_relaxation_time;
    return c;
}

stn_status face_add_all(const face_sink *sink, const stn_model *model, const stn_contact_pair *pair, bool m_is_a,
                        const approach *ahead, double margin, stn_contact_set *set, stn_error *err) {
    stn_vec3 corner[POLYGON_CORNERS];
    double at_corner[POLYGON_CORNERS];
    bool begun = false;
    stn_status status = STN_OK;
    for (int32_t i = 0; i < sink->count && status == STN_OK; i++) {
        const face *f = &sink->faces[i];
        placing place = {f, &sink->frame, ahead, m_is_a};
        stn_contact c = contact_of(&place, model, pair, corner, at_corner);
        if (c.phi0 > margin) {
            continue;
        }
        status = begun ? STN_OK : stn_contact_set_begin_patch(set, pair, err);
        begun = true;
        if (status == STN_OK) {
            status = stn_contact_set_add_face(model, set, &c, corner, at_corner, f->cut.count, err);
        }
    }
    return status;
}
