// SPDX-License-Identifier: Apache-2.0
// From faces to contacts. A face of area A with pressure p0 at its centre, which grows by g as the bodies approach, is
// a spring [masterjohn-2022]:
//   k = A g,  phi0 = -p0 / g
// It acts at its centre of pressure, so that force and torque of a linear pressure are exact however large it is. What
// a large one lacks is friction's torque about the normal, for all of it acts at one point. So a flat face that is much
// of its patch becomes a fan of triangles about its centre. They lack what r varies along their outer sides: n equal
// ones of a regular polygon 0.17 (pi / n)^2 of that torque, those of a square with n = 8 2.6 %.
#include "face.h"

/// A face or a part of it where it is at the step's start.
typedef struct part {
    stn_vec3 corner[POLYGON_CORNERS];
    double pressure[POLYGON_CORNERS]; // at the corners [Pa]
    int32_t count;
    stn_vec3 centre; // of its area
    double level;    // pressure there
    double area;     // that counts
    uint64_t feature;
} part;

/// What the faces of a patch have in common.
typedef struct adding {
    const stn_model *model;
    const stn_contact_pair *pair;
    const stn_pose *frame; // that they are cut in, in the world
    const approach *ahead;
    bool m_is_a;
    double margin;
    double parts; // of a face that is the whole patch
    double area;  // of the patch [m^2]
    double edge;  // wanted [m]
    stn_contact_set *set;
    bool begun;
} adding;

/// A point of a face, which was cut with B ahead, put back halfway between where A has it and where B has it, and the
/// pressure of the fields there: below 0 where they do not touch yet.
static stn_vec3 put_back(const adding *w, const face *f, stn_vec3 x, double *level) {
    stn_vec3 at = stn_pose_apply(w->frame, x), way = approach_of(w->ahead, at);
    double gained = stn_vec3_dot(stn_mat3_apply(&w->frame->rotation, f->gain), way);
    *level = pressure_at(&f->p, x) - (w->m_is_a ? gained : -gained);
    return stn_vec3_mul_add(at, -0.5, way);
}

static void whole_of(const adding *w, const face *f, part *out) {
    uint64_t m = (uint32_t)f->element_m, n = (uint32_t)f->element_n;
    out->count = f->cut.count;
    for (int32_t i = 0; i < f->cut.count; i++) {
        out->corner[i] = put_back(w, f, f->cut.corner[i], &out->pressure[i]);
    }
    out->centre = put_back(w, f, f->centre, &out->level);
    out->area = f->area * f->weight;
    out->feature = w->m_is_a ? m << 32 | n : n << 32 | m;
}

/// Where the force of a linear pressure acts, so that its torque is exact, too; of one that is below 0 somewhere, as if
/// it were 0 there: then the point stays in the polygon, and nothing jumps.
static stn_vec3 centre_of_pressure(const part *p) {
    double lowest = 0.0, sum = 0.0;
    for (int32_t i = 0; i < p->count; i++) {
        lowest = fmin(lowest, p->pressure[i]);
    }
    stn_vec3 moment = stn_vec3_zero(), o = p->corner[0];
    double first = p->pressure[0] - lowest;
    for (int32_t i = 1; i + 1 < p->count; i++) {
        stn_vec3 u = stn_vec3_sub(p->corner[i], o), v = stn_vec3_sub(p->corner[i + 1], o);
        double q = p->pressure[i] - lowest, r = p->pressure[i + 1] - lowest, all = first + q + r;
        double area = stn_vec3_norm(stn_vec3_cross(u, v));
        sum += 4.0 * area * all;
        moment = stn_vec3_mul_add(moment, area * (all + q), u);
        moment = stn_vec3_mul_add(moment, area * (all + r), v);
    }
    return sum > 0.0 ? stn_vec3_mul_add(o, 1.0 / sum, moment) : p->centre;
}

static stn_status add_part(adding *w, const face *f, const part *p, stn_error *err) {
    double phi0 = -p->level / f->g;
    if (phi0 > w->margin) {
        return STN_OK;
    }
    stn_vec3 point = centre_of_pressure(p), into_m = stn_mat3_apply(&w->frame->rotation, f->normal);
    stn_contact c =
        stn_contact_make(w->model, w->pair, point, point, w->m_is_a ? stn_vec3_neg(into_m) : into_m, p->feature);
    c.pressure = p->level;
    c.phi0 = phi0;
    c.area = p->area;
    c.material.stiffness = p->area * f->g;
    c.material.dissipation = w->pair->material.patch_dissipation;
    c.material.relaxation_time = w->pair->material.patch_relaxation_time;
    stn_status status = w->begun ? STN_OK : stn_contact_set_begin_patch(w->set, w->pair, err);
    w->begun = true;
    if (status == STN_OK) {
        status = stn_contact_set_add_face(w->model, w->set, &c, p->corner, p->pressure, p->count, err);
    }
    return status;
}

// -------------------------------------------------------------------------------------------------------- divisions

static double side_area(const part *p, int32_t side) {
    stn_vec3 a = stn_vec3_sub(p->corner[side], p->centre);
    stn_vec3 b = stn_vec3_sub(p->corner[(side + 1) % p->count], p->centre);
    return 0.5 * stn_vec3_norm(stn_vec3_cross(a, b));
}

static double side_length(const part *p, int32_t side) {
    return stn_vec3_norm(stn_vec3_sub(p->corner[(side + 1) % p->count], p->corner[side]));
}

/// Is it too much of its patch, or longer than wanted?
static bool is_divided(const adding *w, const face *f, const part *p) {
    bool large = f->area * w->parts > 1.5 * w->area;
    for (int32_t i = 0; i < p->count && !large && isfinite(w->edge); i++) {
        large = side_length(p, i) > 2.0 * w->edge;
    }
    return f->flat && large;
}

/// Of the triangle over a side of a face: how many side by side, and into how many rows each.
typedef struct side_division {
    int32_t along, rows;
} side_division;

static int32_t at_least_one(double wanted) {
    return (int32_t)fmax(1.0, fmin(1e4, ceil(wanted - 1e-9)));
}

/// By its share of the patch's area; a side of something slender, which is longer than the patch is wide, as that of a
/// square.
static side_division divide_side(const adding *w, const part *p, int32_t side, double area) {
    double length = side_length(p, side), share = area / w->area;
    share = length * length > w->area ? fmax(share, 0.25) : share;
    side_division d = {at_least_one(w->parts * share), 1};
    if (isfinite(w->edge)) {
        d.rows = at_least_one(sqrt(2.0 * area / d.along) / w->edge);
        d.along = d.rows > 1 ? d.along : at_least_one(fmax(d.along, 0.5 * length / w->edge));
    }
    return d;
}

/// A point of a triangle from its centre towards two others: coordinates u and v.
static void place(const part *whole, const part *side, double u, double v, part *out) {
    stn_vec3 a = stn_vec3_sub(side->corner[1], whole->centre), b = stn_vec3_sub(side->corner[2], whole->centre);
    int32_t k = out->count++;
    out->corner[k] = stn_vec3_mul_add(stn_vec3_mul_add(whole->centre, u, a), v, b);
    out->pressure[k] = whole->level + u * (side->pressure[1] - whole->level) + v * (side->pressure[2] - whole->level);
}

/// The triangle k of a row: those with an even number stand on their base, the others between them on their tips.
static void triangle_of(const part *whole, const part *side, int32_t row, int32_t k, int32_t rows, part *out) {
    double step = 1.0 / rows, v = step * (k / 2), u = step * row - v;
    out->count = 0;
    if (k % 2 == 0) {
        place(whole, side, u, v, out);
        place(whole, side, u + step, v, out);
        place(whole, side, u, v + step, out);
    } else {
        place(whole, side, u - step, v + step, out);
        place(whole, side, u, v, out);
        place(whole, side, u, v + step, out);
    }
}

/// Its area and numbers follow from the whole's; the pressure is linear.
static stn_status add_triangle(adding *w, const face *f, const part *whole, part *p, double area, uint64_t *number,
                               stn_error *err) {
    stn_vec3 sum = stn_vec3_add(stn_vec3_add(p->corner[0], p->corner[1]), p->corner[2]);
    p->centre = stn_vec3_scale(1.0 / 3.0, sum);
    p->level = (p->pressure[0] + p->pressure[1] + p->pressure[2]) / 3.0;
    p->area = area;
    p->feature = whole->feature + (*number)++ * UINT64_C(0x9e3779b97f4a7c15); // apart from those of other elements
    return add_part(w, f, p, err);
}

static stn_status add_divided(adding *w, const face *f, const part *whole, stn_error *err) {
    double all = 0.0;
    uint64_t number = 0;
    stn_status status = STN_OK;
    for (int32_t i = 0; i < whole->count; i++) {
        all += side_area(whole, i);
    }
    for (int32_t i = 0; i < whole->count && all > 0.0; i++) {
        double area = side_area(whole, i);
        side_division d = divide_side(w, whole, i, area);
        int32_t next = (i + 1) % whole->count, rows = d.rows;
        stn_vec3 along = stn_vec3_sub(whole->corner[next], whole->corner[i]);
        double rise = whole->pressure[next] - whole->pressure[i];
        double each = whole->area * area / (all * d.along * rows * rows);
        for (int32_t k = 0; k < d.along; k++) {
            part side, piece;
            for (int32_t end = 0; end < 2; end++) {
                double t = (double)(k + end) / d.along;
                side.corner[1 + end] = stn_vec3_mul_add(whole->corner[i], t, along);
                side.pressure[1 + end] = whole->pressure[i] + t * rise;
            }
            for (int32_t row = 0; row < rows; row++) {
                for (int32_t j = 0; j < 2 * row + 1 && status == STN_OK; j++) {
                    triangle_of(whole, &side, row, j, rows, &piece);
                    status = add_triangle(w, f, whole, &piece, each, &number, err);
                }
            }
        }
    }
    return status;
}

/// Area of the faces that push, or of all when none does.
static double area_of(const face_sink *sink) {
    double pushing = 0.0, all = 0.0;
    for (int32_t i = 0; i < sink->count; i++) {
        const face *f = &sink->faces[i];
        all += f->area;
        pushing += pressure_at(&f->p, f->centre) > 0.0 ? f->area : 0.0;
    }
    return pushing > 0.0 ? pushing : all;
}

stn_status face_add_all(const face_sink *sink, const stn_model *model, const stn_contact_pair *pair, bool m_is_a,
                        const approach *ahead, const face_division *division, double margin, stn_contact_set *set,
                        stn_error *err) {
    adding w = {.model = model,
                .pair = pair,
                .frame = &sink->frame,
                .ahead = ahead,
                .m_is_a = m_is_a,
                .margin = margin,
                .set = set};
    w.parts = 1.6 / sqrt(division->error);
    w.edge = division->edge;
    w.area = area_of(sink);
    stn_status status = STN_OK;
    for (int32_t i = 0; i < sink->count && status == STN_OK; i++) {
        const face *f = &sink->faces[i];
        part whole;
        whole_of(&w, f, &whole);
        status = is_divided(&w, f, &whole) ? add_divided(&w, f, &whole, err) : add_part(&w, f, &whole, err);
    }
    return status;
}
