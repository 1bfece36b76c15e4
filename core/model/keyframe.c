// SPDX-License-Identifier: Apache-2.0
// Keyframes: named configurations of a group, checked as they come in, compiled into the coordinates of the group's
// moving joints, and applied to a configuration of the whole model.
#include <string.h>

#include "model/compiler.h"

// ------------------------------------------------------------------------------------------------------- builder

/// The keyframe must say every coordinate of the joints that the group has now.
static stn_status check_count(const stn_model_builder *builder, int32_t group, int32_t q_count, stn_error *err) {
    int64_t wanted = 0;
    for (int32_t j = group_at(builder, group)->start.joints; j < group_joint_end(builder, group); j++) {
        wanted += joint_kind_get(joint_at(builder, j)->spec.type)->nq;
    }
    if (q_count != wanted) {
        return stn_fail(err, STN_ERR_ARGUMENT, "it has %d coordinates, but the joints of the group have %lld", q_count,
                        (long long)wanted);
    }
    return STN_OK;
}

/// Normalises without overflow or underflow; a unit one stays bit for bit. False for a quaternion that is zero.
static bool normalise(double *quaternion) {
    double most = 0.0;
    for (int32_t i = 0; i < 4; i++) {
        most = fmax(most, fabs(quaternion[i]));
    }
    if (!(most > 0.0)) {
        return false;
    }
    stn_quat q = stn_quat_normalize(
        (stn_quat){quaternion[0] / most, quaternion[1] / most, quaternion[2] / most, quaternion[3] / most});
    const double values[4] = {q.w, q.x, q.y, q.z};
    double square = 0.0;
    for (int32_t i = 0; i < 4; i++) {
        square += quaternion[i] * quaternion[i];
    }
    if (!(fabs(square - 1.0) <= 1e-14)) {
        memcpy(quaternion, values, sizeof values);
    }
    return true;
}

/// Copies the numbers into `item` and checks them; quaternions become unit ones.
static stn_status take_numbers(stn_model_builder *builder, const stn_keyframe_spec *spec, built_keyframe *item,
                               stn_error *err) {
    double *q = builder_copy(builder, spec->q, (size_t)spec->q_count, sizeof *q);
    if (q == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    item->spec.q = q;
    for (int32_t j = group_at(builder, item->group)->start.joints; j < group_joint_end(builder, item->group); j++) {
        const stn_joint_spec *joint = &joint_at(builder, j)->spec;
        const joint_kind *kind = joint_kind_get(joint->type);
        for (int32_t i = 0; i < kind->nq; i++) {
            if (!isfinite(q[i])) {
                bool several = kind->coordinates[i][0] != '\0';
                return stn_fail(err, STN_ERR_ARGUMENT, "joint '%s'%s%s = %g %s must be finite", joint->name,
                                several ? ", " : "", kind->coordinates[i], q[i], kind->units->position);
            }
        }
        int32_t quaternion = stn_joint_type_quaternion(joint->type);
        if (quaternion >= 0 && !normalise(q + quaternion)) {
            return stn_fail(err, STN_ERR_ARGUMENT, "joint '%s': the quaternion must not be zero", joint->name);
        }
        q += kind->nq;
    }
    item->has_base = spec->base != NULL;
    if (!item->has_base) {
        return STN_OK;
    }
    item->base = *spec->base;
    return check_pose("base", spec->base, err);
}

stn_status stn_builder_add_keyframe(stn_model_builder *builder, int32_t group, const stn_keyframe_spec *spec,
                                    stn_error *err) {
    stn_status status = builder_check_group(builder, "keyframe", group, err);
    if (status != STN_OK) {
        return status;
    }
    built_keyframe *item = list_reserve(builder->context, &builder->keyframes, sizeof *item);
    const char *name = builder_copy_text(builder, spec->name), *where = builder_copy_text(builder, spec->where);
    if (item == NULL || name == NULL || where == NULL) {
        return model_out_of_memory(err);
    }
    item->spec =
        (stn_keyframe_spec){.name = name, .q_count = spec->q_count, .where = spec->where != NULL ? where : NULL};
    item->group = group;
    status = check_name(spec->name, err);
    if (status == STN_OK) {
        status = check_count(builder, group, spec->q_count, err);
    }
    if (status == STN_OK) {
        status = take_numbers(builder, spec, item, err);
    }
    if (status != STN_OK) {
        char text[400];
        describe_object(builder, "keyframe", group, spec->name, spec->where, text, sizeof text);
        stn_error_prefix(err, "%s", text);
        return status;
    }
    builder->keyframes.count++;
    return STN_OK;
}

// ----------------------------------------------------------------------------------------------------- compiling

/// A group without a joint of its own above its root: the joint that its root got comes first.
static stn_status fill_keyframe(compiler *c, const built_keyframe *built, stn_keyframe *out, stn_error *err) {
    int32_t root = c->root_joint[built->group], before = root >= 0 ? c->joints[root].nq : 0;
    stn_status status = check_count(c->builder, built->group, built->spec.q_count, err);
    if (status != STN_OK) {
        char text[400];
        describe_object(c->builder, "keyframe", built->group, built->spec.name, built->spec.where, text, sizeof text);
        stn_error_prefix(err, "%s", text);
        return status;
    }
    double *q = STN_ARENA(c->memory, (int64_t)before + built->spec.q_count, double);
    if (q == NULL) {
        return model_out_of_memory(err);
    }
    out->name = built->spec.name;
    out->where = built->spec.where != NULL ? built->spec.where : "";
    out->group = built->group;
    out->q_count = before + built->spec.q_count;
    out->q = q;
    out->has_base = root >= 0 && built->has_base;
    if (root >= 0) {
        memcpy(q, c->q0 + c->joints[root].q_start, (size_t)before * sizeof *q);
    }
    if (out->has_base) {
        floating_coordinates(&built->base, q);
    }
    if (built->spec.q_count > 0) {
        memcpy(q + before, built->spec.q, (size_t)built->spec.q_count * sizeof *q);
    }
    return STN_OK;
}

stn_status compile_keyframes(compiler *c, stn_error *err) {
    int32_t count = c->builder->keyframes.count;
    stn_keyframe *keyframes = STN_ARENA_ZEROED(c->memory, count, stn_keyframe);
    int32_t *next = STN_ARENA(c->scratch, c->builder->groups.count, int32_t);
    named *items = STN_ARENA(c->scratch, count, named);
    if (keyframes == NULL || next == NULL || items == NULL) {
        return model_out_of_memory(err);
    }
    // Ranges of the groups, and where the first keyframe of each goes.
    for (int32_t i = 0; i < count; i++) {
        c->groups[keyframe_at(c->builder, i)->group].keyframe_count++;
    }
    for (int32_t r = 0, start = 0; r < c->builder->groups.count; r++) {
        next[r] = c->groups[r].keyframe_start = start;
        start += c->groups[r].keyframe_count;
    }
    for (int32_t i = 0; i < count; i++) {
        const built_keyframe *built = keyframe_at(c->builder, i);
        stn_status status = fill_keyframe(c, built, &keyframes[next[built->group]++], err);
        if (status != STN_OK) {
            return status;
        }
    }
    for (int32_t r = 0; r < c->builder->groups.count; r++) {
        const stn_group *group = &c->groups[r];
        for (int32_t i = 0; i < group->keyframe_count; i++) {
            items[i] = (named){keyframes[group->keyframe_start + i].name, group->keyframe_start + i};
        }
        int32_t twice = find_duplicate(items, group->keyframe_count);
        if (twice >= 0) {
            const stn_keyframe *k = &keyframes[twice];
            char text[400];
            describe_object(c->builder, "keyframe", k->group, k->name, k->where[0] != '\0' ? k->where : NULL, text,
                            sizeof text);
            return fail_duplicate(text, k->name, err);
        }
    }
    c->object->face.keyframes = keyframes;
    c->object->face.keyframe_count = count;
    return STN_OK;
}

// ------------------------------------------------------------------------------------------------------ applying

void stn_model_keyframe_apply(const stn_model *model, int32_t keyframe, double *q) {
    const stn_keyframe *k = &model->keyframes[keyframe];
    const stn_group *group = &model->groups[k->group];
    const stn_link *root = &model->links[group->root_link];
    bool floats = root->joint >= 0 && root->joint_name == NULL; // its first joint is one that its root got
    const double *from = k->q;
    for (int32_t i = 0; i < group->joint_count; i++) {
        const stn_joint *joint = &model->joints[group->joint_start + i];
        bool kept = i == 0 && !k->has_base && floats;
        if (!kept) {
            memcpy(q + joint->q_start, from, (size_t)joint->nq * sizeof *q);
        }
        from += joint->nq;
    }
    for (int32_t j = 0; j < model->joint_count; j++) {
        mimic_end end = follow_mimic(model->joints, j);
        bool touched = model->joints[j].group == k->group || model->joints[end.master].group == k->group;
        if (end.master != j && touched) {
            q[model->joints[j].q_start] = end.multiplier * q[model->joints[end.master].q_start] + end.offset;
        }
    }
}
