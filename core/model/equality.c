// SPDX-License-Identifier: Apache-2.0
// Equality constraints: checked as they come in, compiled to frames on bodies and to model joints.
#include <stdio.h>

#include "model/compiler.h"

static const char *const type_names[STN_EQUALITY_COUNT] = {"weld", "ball", "distance", "gear"};

const char *stn_equality_type_name(stn_equality_type type) {
    return (int)type >= 0 && type < STN_EQUALITY_COUNT ? type_names[type] : NULL;
}

stn_equality_spec stn_equality_spec_default(stn_equality_type type, int32_t a, int32_t b) {
    return (stn_equality_spec){
        .type = type,
        .a = a,
        .b = b,
        .pose_a = stn_pose_identity(),
        .pose_b = stn_pose_identity(),
        .length = (double)NAN,
        .ratio = 1.0,
        .stiffness = (double)INFINITY,
        .angular_stiffness = (double)INFINITY,
    };
}

// ------------------------------------------------------------------------------------------------------- messages

/// "link 'hand' of 'arm'", "the world", "joint 'lift' of 'arm'".
static void describe_end(const stn_model_builder *b, const stn_equality_spec *spec, int32_t end, char *text,
                         size_t size) {
    if (spec->type == STN_EQUALITY_GEAR) {
        const built_joint *joint = joint_at(b, end);
        snprintf(text, size, "joint '%.100s' of '%.100s'", joint->spec.name, group_at(b, joint->group)->name);
    } else if (end == STN_WORLD) {
        snprintf(text, size, "the world");
    } else {
        const built_link *link = link_at(b, end);
        snprintf(text, size, "link '%.100s' of '%.100s'", link->spec.name, group_at(b, link->group)->name);
    }
}

/// Puts "weld 'grasp' (file:line)" in front of the message; the type and ends of a constraint with those ends are
/// known.
static stn_status name_equality(const stn_equality_spec *spec, stn_status status, stn_error *err) {
    bool has_name = spec->name != NULL && spec->name[0] != '\0', placed = spec->where != NULL && spec->where[0] != '\0';
    stn_error_prefix(err, "%s%s%s%s%s%s%s", stn_equality_type_name(spec->type), has_name ? " '" : "",
                     has_name ? spec->name : "", has_name ? "'" : "", placed ? " (" : "", placed ? spec->where : "",
                     placed ? ")" : "");
    return status;
}

// --------------------------------------------------------------------------------------------------------- builder

static stn_status check_stiffness(const char *what, double value, const char *unit, stn_error *err) {
    if (!(value > 0.0)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "%s = %g %s must be > 0; infinite: rigid", what, value, unit);
    }
    return STN_OK;
}

static stn_status check(const stn_model_builder *b, const stn_equality_spec *spec, stn_error *err) {
    const int32_t ends[] = {spec->a, spec->b};
    for (int32_t i = 0; i < STN_COUNT(ends); i++) {
        if (spec->type != STN_EQUALITY_GEAR) {
            stn_status status = builder_check_link(b, i == 0 ? "a" : "b", ends[i], false, err);
            if (status != STN_OK) {
                return status;
            }
        } else if (ends[i] < 0 || ends[i] >= b->joints.count) {
            return stn_fail(err, STN_ERR_ARGUMENT, "%s: there is no joint %d (%d joints)", i == 0 ? "a" : "b", ends[i],
                            b->joints.count);
        }
    }
    if (spec->a == spec->b) {
        char end[256];
        describe_end(b, spec, spec->a, end, sizeof end);
        return stn_fail(err, STN_ERR_ARGUMENT, "both ends are %s; it needs two", end);
    }
    stn_status status = check_stiffness("stiffness", spec->stiffness, "N/m", err);
    if (status == STN_OK) {
        status = check_stiffness("angular stiffness", spec->angular_stiffness, "N m/rad", err);
    }
    if (status != STN_OK) {
        return status;
    }
    if (!(spec->relaxation_time >= 0.0) || isinf(spec->relaxation_time)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "relaxation time = %g s must be >= 0 and finite", spec->relaxation_time);
    }
    if (spec->type == STN_EQUALITY_GEAR) {
        bool good = isfinite(spec->ratio) && spec->ratio != 0.0 && isfinite(spec->offset);
        return good ? STN_OK
                    : stn_fail(err, STN_ERR_ARGUMENT, "ratio %g and offset %g must be finite, the ratio not 0",
                               spec->ratio, spec->offset);
    }
    if (spec->type == STN_EQUALITY_DISTANCE && (!(spec->length > 0.0) || isinf(spec->length))) {
        return stn_fail(err, STN_ERR_ARGUMENT,
                        "length = %g m must be > 0 and finite; a ball holds two points together at length 0",
                        spec->length);
    }
    status = check_pose("pose of a", &spec->pose_a, err);
    return status == STN_OK ? check_pose("pose of b", &spec->pose_b, err) : status;
}

stn_status stn_builder_add_equality(stn_model_builder *builder, const stn_equality_spec *spec, int32_t *equality,
                                    stn_error *err) {
    if (stn_equality_type_name(spec->type) == NULL) {
        return stn_fail(err, STN_ERR_ARGUMENT, "equality constraint: type %d is not known", (int)spec->type);
    }
    stn_status status = check(builder, spec, err);
    if (status != STN_OK) {
        return name_equality(spec, status, err);
    }
    stn_equality_spec *item = list_reserve(builder->context, &builder->equalities, sizeof *item);
    const char *name = builder_copy_text(builder, spec->name), *where = builder_copy_text(builder, spec->where);
    if (item == NULL || name == NULL || where == NULL) {
        return model_out_of_memory(err);
    }
    *item = *spec;
    item->name = name;
    item->where = where;
    *equality = builder->equalities.count++;
    return STN_OK;
}

// ------------------------------------------------------------------------------------------------------- compiling

static stn_status refuse_ends(const compiler *c, const stn_equality_spec *spec, const char *why, stn_error *err) {
    char a[256], b[256];
    describe_end(c->builder, spec, spec->a, a, sizeof a);
    describe_end(c->builder, spec, spec->b, b, sizeof b);
    return stn_fail(err, STN_ERR_ARGUMENT, "%s and %s %s", a, b, why);
}

static bool cannot_move(const compiler *c, int32_t body) {
    return body == 0 || c->joints[c->bodies[body].joint].type == STN_JOINT_KINEMATIC;
}

static stn_status join_links(const compiler *c, const stn_equality_spec *spec, stn_equality *out, stn_error *err) {
    out->link_a = spec->a;
    out->link_b = spec->b;
    out->pose_a = spec->pose_a;
    out->pose_b = spec->pose_b;
    out->body_a = place_end(c, spec->a, &spec->pose_a, &out->frame_a);
    out->body_b = place_end(c, spec->b, &spec->pose_b, &out->frame_b);
    out->group = link_at(c->builder, spec->b == STN_WORLD ? spec->a : spec->b)->group;
    if (cannot_move(c, out->body_a) && cannot_move(c, out->body_b)) {
        return refuse_ends(c, spec,
                           "are both fixed or kinematic, so that there is nothing to hold; remove the constraint", err);
    }
    if (out->body_a == out->body_b) {
        return refuse_ends(c, spec, "are welded together already, so there is nothing to hold; remove the constraint",
                           err);
    }
    return STN_OK;
}

static stn_status join_joints(const compiler *c, const stn_equality_spec *spec, stn_equality *out, stn_error *err) {
    const int32_t ends[] = {spec->a, spec->b};
    for (int32_t i = 0; i < STN_COUNT(ends); i++) {
        int32_t joint = c->joint_index[ends[i]];
        if (joint < 0 || c->joints[joint].nv != 1) {
            char end[256];
            describe_end(c->builder, spec, ends[i], end, sizeof end);
            return stn_fail(err, STN_ERR_ARGUMENT, "%s is %s; a gear couples joints with one coordinate", end,
                            stn_joint_type_name(joint_at(c->builder, ends[i])->spec.type));
        }
    }
    out->joint_a = c->joint_index[spec->a];
    out->joint_b = c->joint_index[spec->b];
    out->body_a = c->joints[out->joint_a].child;
    out->body_b = c->joints[out->joint_b].child;
    out->group = c->joints[out->joint_b].group;
    return STN_OK;
}

stn_status compile_equalities(compiler *c, stn_error *err) {
    int32_t count = c->builder->equalities.count;
    stn_equality *equalities = STN_ARENA_ZEROED(c->memory, count, stn_equality);
    if (equalities == NULL) {
        return model_out_of_memory(err);
    }
    for (int32_t i = 0; i < count; i++) {
        const stn_equality_spec *spec = equality_at(c->builder, i);
        equalities[i] = (stn_equality){
            .type = spec->type,
            .name = spec->name,
            .link_a = STN_WORLD,
            .link_b = STN_WORLD,
            .joint_a = -1,
            .joint_b = -1,
            .pose_a = stn_pose_identity(),
            .pose_b = stn_pose_identity(),
            .frame_a = stn_pose_identity(),
            .frame_b = stn_pose_identity(),
            .length = spec->length,
            .ratio = spec->ratio,
            .offset = spec->offset,
            .stiffness = spec->stiffness,
            .angular_stiffness = spec->angular_stiffness,
            .relaxation_time = spec->relaxation_time,
            .where = spec->where,
        };
        bool gear = spec->type == STN_EQUALITY_GEAR;
        stn_status status = (gear ? join_joints : join_links)(c, spec, &equalities[i], err);
        if (status != STN_OK) {
            return name_equality(spec, status, err);
        }
    }
    c->object->face.equalities = equalities;
    c->object->face.equality_count = count;
    return STN_OK;
}
