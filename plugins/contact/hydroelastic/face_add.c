// SPDX-License-Identifier: Apache-2.0
// From faces to contacts. A face of area A with pressure p0 at its centre, which grows by g as the bodies approach, is
// a spring [masterjohn-2022]:
//   k = A g,  phi0 = -p0 / g
// What dissipates follows the rate of the pressure, dp/dt = -rise v_n with the slope that the fields have there, which
// is 0 for a face along their levels, such as the side of a box that slides: g is more there, so that k > 0.
#include <stiction/random.h>

#include "face.h"
#include "face_parts.h"

/// What the faces of a patch have in common, and the one that is being added.
typedef struct adding {
    const stn_model *model;
    const stn_contact_pair *pair;
    const stn_pose *frame; // that they are cut in, in the world
    const face_use *use;
    stn_contact_set *set;
    bool begun;
    double g;            // of the face
    stn_contact contact; // of the face, but for what its parts have of their own
} adding;

/// A point of a face, which was cut with one of the two ahead, put back halfway between where each of them has it, and
/// the pressure of the fields there: below 0 where they do not touch yet.
static stn_vec3 put_back(const adding *w, const face *f, stn_vec3 x, double *level) {
    stn_vec3 at = stn_pose_apply(w->frame, x);
    *level = pressure_at(&f->p, x);
    if (w->use->ahead == NULL) {
        return at;
    }
    stn_vec3 displacement = approach_of(w->use->ahead, at);
    double gained = stn_vec3_dot(stn_mat3_apply(&w->frame->rotation, f->gain), displacement);
    *level -= w->use->m_stays ? gained : -gained;
    return stn_vec3_mul_add(at, -0.5, displacement);
}

/// A part_visit. Numbers of parts are spread over all ids, far from those of other faces.
static stn_status add_part(void *to, const face_part *p, int64_t number, stn_error *err) {
    adding *w = to;
    double phi0 = -p->level / w->g;
    if (phi0 > w->use->margin) {
        return STN_OK;
    }
    stn_contact c = w->contact;
    c.id += (uint64_t)number * STN_RANDOM_STEP;
    c.point = p->point;
    c.pressure = p->level;
    c.phi0 = phi0;
    c.area = p->area;
    c.material.stiffness = p->area * w->g;
    stn_status status = w->begun ? STN_OK : stn_contact_set_begin_patch(w->set, w->pair, err);
    w->begun = true;
    if (status == STN_OK) {
        status = stn_contact_set_add_face(w->model, w->set, &c, p->corner, p->pressure, p->count, err);
    }
    return status;
}

/// A face in the force of its patch, as they were cut.
static double weight_of(const face *f, bool pushes) {
    return f->area * f->weight * (pushes ? fmax(0.0, pressure_at(&f->p, f->centre)) : 1.0);
}

stn_status face_add_all(const face_sink *sink, const stn_model *model, const stn_contact_pair *pair,
                        const face_use *use, stn_contact_set *set, stn_error *err) {
    adding w = {.model = model, .pair = pair, .frame = &sink->frame, .use = use, .set = set};
    bool m_is_a = use->m_is_a;
    // the force of the faces that push and their area; when none does, the area of all stands for both
    double all = 0.0, force = 0.0, pushing = 0.0;
    for (int32_t i = 0; i < sink->count; i++) {
        double of_face = weight_of(&sink->faces[i], true), area = weight_of(&sink->faces[i], false);
        all += area;
        force += of_face;
        pushing += of_face > 0.0 ? area : 0.0;
    }
    bool pushes = force > 0.0;
    part_rule rule = {.rows = part_rows(use->error), .area = pushes ? pushing : all, .edge = use->edge};
    stn_status status = STN_OK;
    for (int32_t i = 0; i < sink->count && status == STN_OK; i++) {
        const face *f = &sink->faces[i];
        rule.share = weight_of(f, pushes) / (pushes ? force : all);
        face_part whole;
        whole.count = f->cut.count;
        for (int32_t k = 0; k < f->cut.count; k++) {
            whole.corner[k] = put_back(&w, f, f->cut.corner[k], &whole.pressure[k]);
        }
        whole.centre = put_back(&w, f, f->centre, &whole.level);
        whole.area = f->area * f->weight;
        whole.point = part_centre_of_pressure(&whole);
        uint64_t m = (uint32_t)f->element_m, n = (uint32_t)f->element_n, feature = m_is_a ? m << 32 | n : n << 32 | m;
        stn_vec3 into_m = stn_mat3_apply(&sink->frame.rotation, f->normal),
                 into = m_is_a ? stn_vec3_neg(into_m) : into_m;
        w.g = f->g;
        w.contact = stn_contact_make(model, pair, whole.point, whole.point, into, feature);
        // laws take phi0 = -p / g to change at v_n; the pressure changes at rise v_n, and phi0 with it at rise / g v_n
        double rate = f->rise / f->g;
        w.contact.material.dissipation = rate * pair->material.patch_dissipation;
        w.contact.material.relaxation_time = rate * pair->material.patch_relaxation_time;
        status = f->flat && part_is_large(&rule, &whole) ? part_divide(&rule, &whole, add_part, &w, err)
                                                         : add_part(&w, &whole, 0, err);
    }
    return status;
}
