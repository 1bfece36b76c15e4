// SPDX-License-Identifier: Apache-2.0
// See patch.h. Which of two is M does not depend on which is called A, so that exchanging them exchanges the forces to
// the last bit.
#include "patch.h"

#include "approach.h"
#include "cut.h"
#include "merge.h"

bool patch_exists(const stn_geometry *a, const stn_geometry *b) {
    solid_kind k = solid_kind_of(a), l = solid_kind_of(b);
    bool any = stn_geometry_is_compliant(a) || stn_geometry_is_compliant(b);
    return any && k != SOLID_NONE && l != SOLID_NONE && !(k == SOLID_HALF_SPACE && l == SOLID_HALF_SPACE);
}

enum { SIZE_NUMBERS = 10, ORDER_NUMBERS = 22 };

/// What tells one field from another, and where it is.
static void numbers_of(const posed *p, double numbers[ORDER_NUMBERS]) {
    const solid *s = p->solid;
    const stn_pose *x = p->pose;
    int32_t n = 0;
    numbers[n++] = -(double)s->count; // the finer one first: its cells are sliced, few are clipped by
    numbers[n++] = s->depth;
    numbers[n++] = p->modulus;
    numbers[n++] = s->bounds.lower.x;
    numbers[n++] = s->bounds.lower.y;
    numbers[n++] = s->bounds.lower.z;
    numbers[n++] = s->bounds.upper.x;
    numbers[n++] = s->bounds.upper.y;
    numbers[n++] = s->bounds.upper.z;
    numbers[n++] = (double)s->mesh;
    numbers[n++] = x->position.x;
    numbers[n++] = x->position.y;
    numbers[n++] = x->position.z;
    for (int32_t i = 0; i < 9; i++) {
        numbers[n++] = x->rotation.m[i / 3][i % 3];
    }
}

/// Of equals the place of the other one decides, as each sees it: not where they are in the world.
static bool sees_before(const posed *a, const posed *b, bool *decided) {
    stn_pose ab = pose_between(a->pose, b->pose), ba = pose_between(b->pose, a->pose);
    const double left[3] = {ab.position.x, ab.position.y, ab.position.z},
                 right[3] = {ba.position.x, ba.position.y, ba.position.z};
    for (int32_t i = 0; i < 3; i++) {
        *decided = fabs(left[i] - right[i]) > 1e-9 * (a->solid->depth + b->solid->depth);
        if (*decided) {
            return left[i] < right[i];
        }
    }
    return false;
}

/// Which of a pair comes first; fields before half spaces before surfaces.
static bool is_m(const posed *a, const posed *b) {
    bool soft_a = isfinite(a->modulus), soft_b = isfinite(b->modulus);
    if (soft_a != soft_b) {
        return soft_a;
    }
    if (a->solid->kind != b->solid->kind) {
        return a->solid->kind == SOLID_FIELD;
    }
    double left[ORDER_NUMBERS], right[ORDER_NUMBERS];
    numbers_of(a, left);
    numbers_of(b, right);
    for (int32_t i = 0; i < ORDER_NUMBERS; i++) {
        bool decided = false, before = i == SIZE_NUMBERS && sees_before(a, b, &decided);
        if (decided) {
            return before;
        }
        if (left[i] != right[i]) {
            return left[i] < right[i];
        }
    }
    return true;
}

static posed posed_of(const model_solids *p, int32_t geometry, const stn_pose *pose) {
    return (posed){prepared_solid(p, geometry), pose, p->modulus[geometry]};
}

/// The faces of a pair.
static void cut(face_sink *sink, const posed *a, const posed *b, bool m_is_a) {
    const posed *m = m_is_a ? a : b, *n = m_is_a ? b : a;
    face_restart(sink, (double)INFINITY);
    if (m->solid->kind == SOLID_HALF_SPACE) {
        meet_layer_facets(sink, m, n);
    } else if (n->solid->kind == SOLID_FIELD) {
        meet_fields(sink, m, n);
    } else if (n->solid->kind == SOLID_SURFACE) {
        meet_facets(sink, m, n);
    } else if (isfinite(n->modulus)) {
        meet_layer(sink, m, n);
    } else {
        meet_plane(sink, m, n);
    }
    if (a->solid->fineness.margin + b->solid->fineness.margin > 0.0) {
        face_split_all(sink);
    }
}

/// The faces of a pair as the step closes it; true: `start->moving` is ahead by `*ahead` then.
static bool cut_ahead(face_sink *sink, approaching *start, approach *ahead) {
    const posed *still = start->still, *moving = start->moving;
    cut(sink, still, moving, start->m_is_still);
    start->touch = approach_touches(sink);
    bool any = sink->count > 0;
    approach whole;
    if (sink->no_memory || !approach_whole(start, &whole)) {
        return false;
    }
    stn_pose moved = *moving->pose;
    posed there = *moving;
    there.pose = &moved;
    if (!start->touch) {
        moved = approach_moved(&whole, moving->pose);
        cut(sink, still, &there, start->m_is_still);
    }
    if (!sink->no_memory && approach_closing(start, sink, ahead)) {
        moved = approach_moved(ahead, moving->pose);
        cut(sink, still, &there, start->m_is_still);
        approach_settle(start, sink, ahead);
        return true;
    }
    if (!start->touch && any) { // a margin's skirt alone
        cut(sink, still, moving, start->m_is_still);
    } else if (!start->touch) {
        face_restart(sink, (double)INFINITY);
    }
    return false;
}

/// Edges that faces are divided by: only where the resolution was held against what is allowed.
static double edge_of(const solid *s) {
    stn_shape_type type = s->shape.type;
    bool checked = !s->given && s->kind != SOLID_HALF_SPACE && type != STN_SHAPE_MESH && type != STN_SHAPE_HEIGHT_FIELD;
    return checked && !isnan(s->fineness.resolution) ? s->fineness.resolution : (double)INFINITY;
}

static bool is_pose(const stn_pose *p) {
    double sum = p->position.x + p->position.y + p->position.z;
    for (int32_t i = 0; i < 9; i++) {
        sum += p->rotation.m[i / 3][i % 3];
    }
    return isfinite(sum);
}

stn_status patch_add(const stn_contact_scene *scene, const model_solids *solids, const stn_contact_pair *pair,
                     face_sink *sink, stn_contact_set *set, stn_error *err) {
    const stn_model *model = scene->model;
    posed a = posed_of(solids, pair->geometry_a, &pair->pose_a);
    posed b = posed_of(solids, pair->geometry_b, &pair->pose_b);
    if (a.solid == NULL || b.solid == NULL) {
        return STN_OK;
    }
    if (!is_pose(a.pose) || !is_pose(b.pose)) {
        return stn_fail(err, STN_ERR_NUMERIC, "patch of geometries %d and %d: a pose is not finite",
                        (int)pair->geometry_a, (int)pair->geometry_b);
    }
    bool m_is_a = is_m(&a, &b);
    sink->pair = (uint64_t)pair->geometry_a << 32 | (uint64_t)pair->geometry_b << 1 | (m_is_a ? 1U : 0U);
    // what is fixed stays, else M, so that it does not matter which of two is called A
    bool fixed_a = model->geometries[pair->geometry_a].body == 0;
    bool fixed_b = model->geometries[pair->geometry_b].body == 0;
    bool m_stays = fixed_a == fixed_b || m_is_a == fixed_a, a_stays = m_stays == m_is_a;
    stn_contact_pair seen = *pair;
    if (!a_stays) { // with its geometries exchanged
        const stn_spatial *v = &pair->velocity, *free = &pair->free_velocity;
        seen.pose_a = pair->pose_b;
        seen.pose_b = pair->pose_a;
        seen.velocity = (stn_spatial){stn_vec3_neg(v->angular), stn_vec3_neg(v->linear)};
        seen.free_velocity = (stn_spatial){stn_vec3_neg(free->angular), stn_vec3_neg(free->linear)};
    }
    approaching start = {&seen, scene->dt, a_stays ? &a : &b, a_stays ? &b : &a, m_stays, false};
    approach ahead;
    bool is_ahead = cut_ahead(sink, &start, &ahead);
    bool merges = solids->merge > 0.0 && (m_is_a ? &a : &b)->solid->kind == SOLID_FIELD; // a layer is none
    if (sink->no_memory || (merges && !faces_merge(sink, solids->merge))) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory for the faces of a patch");
    }
    const face_use use = {.ahead = is_ahead ? &ahead : NULL,
                          .m_stays = m_stays,
                          .m_is_a = m_is_a,
                          .margin = fmax(pair->margin, 0.0) + a.solid->fineness.margin + b.solid->fineness.margin,
                          .error = a.solid->fineness.error,
                          .edge = fmin(edge_of(a.solid), edge_of(b.solid))};
    return face_add_all(sink, model, pair, &use, set, err);
}
