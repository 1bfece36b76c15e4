// SPDX-License-Identifier: Apache-2.0
// See face.h. A face of area A with pressure p0 at its centre, which grows by g as the bodies approach, is a spring
// [masterjohn-2022]:
//   k = A g,  phi0 = -p0 / g
#include "face.h"

/// Corners and areas below are none, relative to the element.
static const double same_point = 1e-12, no_area = 1e-16;
/// cos(90 deg + 22.5 deg): where the far side of something thin begins [elandt-2019].
static const double far_side = -0.38268343236508977;
/// Slopes less than this share of the gradient count as this share: the fictitious distance stays within four depths.
static const double least_slope = 0.25;

double face_weight(double slope, double steepest) {
    double c = slope / (far_side * steepest); // 0: along the levels, 1: far side
    if (c <= 0.0) {
        return 1.0;
    }
    return c < 1.0 ? (1.0 - c) * (1.0 - c) * (1.0 + 2.0 * c) : 0.0;
}

double face_slope(double slope, double steepest) {
    return fmax(slope, least_slope * steepest);
}

static uint64_t feature_of(const face_sink *sink, int32_t element_m, int32_t element_n) {
    uint64_t m = (uint32_t)element_m, n = (uint32_t)element_n;
    return sink->m_is_a ? m << 32 | n : n << 32 | m;
}

stn_status face_add(face_sink *sink, polygon *cut, stn_vec3 normal, const pressure *p, double g, double weight,
                    double size, int32_t element_m, int32_t element_n) {
    polygon_weld(cut, same_point * size);
    stn_vec3 centre = stn_vec3_zero();
    double area = cut->count >= 3 ? polygon_area(cut, &centre) : 0.0;
    if (!(area > no_area * size * size)) {
        return STN_OK;
    }
    double p0 = pressure_at(p, centre);
    if (-p0 / g > sink->margin) {
        return STN_OK;
    }
    stn_status status = STN_OK;
    if (!sink->begun) {
        status = stn_contact_set_begin_patch(sink->set, sink->pair, sink->err);
        sink->begun = true;
    }
    double at_corner[POLYGON_CORNERS];
    for (int32_t i = 0; i < cut->count; i++) {
        at_corner[i] = pressure_at(p, cut->corner[i]);
        cut->corner[i] = stn_pose_apply(&sink->frame, cut->corner[i]);
    }
    stn_vec3 point = stn_pose_apply(&sink->frame, centre);
    stn_vec3 into_m = stn_mat3_apply(&sink->frame.rotation, normal);
    stn_contact c =
        stn_contact_make(sink->model, sink->pair, point, point, sink->m_is_a ? stn_vec3_neg(into_m) : into_m,
                         feature_of(sink, element_m, element_n));
    c.phi0 = -p0 / g;
    c.area = area * weight;
    c.pressure = p0;
    c.material.stiffness = c.area * g;
    c.material.dissipation = sink->pair->material.patch_dissipation;
    c.material.relaxation_time = sink->pair->material.patch_relaxation_time;
    return status == STN_OK
               ? stn_contact_set_add_face(sink->model, sink->set, &c, cut->corner, at_corner, cut->count, sink->err)
               : status;
}
