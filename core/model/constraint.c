// SPDX-License-Identifier: Apache-2.0
// Constraints of plugins: their ends are checked as they come in and compiled to frames on bodies and to model joints;
// then the plugin looks at them.
#include <math.h>
#include <stdio.h>
#include <stiction/plugin.h>
#include <string.h>

#include "model/compiler.h"

/// Puts "spring 'tie' (file:line)" in front of the message.
static stn_status name_constraint(const stn_instance *instance, const stn_constraint_spec *spec, stn_status status,
                                  stn_error *err) {
    bool has_name = spec->name != NULL && spec->name[0] != '\0', placed = spec->where != NULL && spec->where[0] != '\0';
    stn_error_prefix(err, "%s%s%s%s%s%s%s", instance->desc->id, has_name ? " '" : "", has_name ? spec->name : "",
                     has_name ? "'" : "", placed ? " (" : "", placed ? spec->where : "", placed ? ")" : "");
    return status;
}

static stn_status check_end(const stn_model_builder *b, const stn_constraint_spec *spec, int32_t i, stn_error *err) {
    const stn_constraint_end_spec *end = &spec->ends[i];
    char what[32];
    snprintf(what, sizeof what, "end %d", (int)i + 1);
    if (!(fabs(end->factor) <= STN_ROW_LARGEST)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "%s: factor = %g must be from %g to %g", what, end->factor,
                        -STN_ROW_LARGEST, STN_ROW_LARGEST);
    }
    if (end->joint >= b->joints.count || end->joint < -1) {
        return stn_fail(err, STN_ERR_ARGUMENT, "%s: there is no joint %d (%d joints)", what, end->joint,
                        b->joints.count);
    }
    if (end->shape < STN_END_POINT || end->shape > STN_END_CYLINDER || (end->joint >= 0 && end->shape != 0)) {
        return stn_fail(err, STN_ERR_ARGUMENT,
                        "%s: shape = %d must be a point, a sphere or a cylinder, of a joint a point", what,
                        (int)end->shape);
    }
    if (end->joint >= 0) {
        return STN_OK;
    }
    if (end->shape != STN_END_POINT) {
        double axial = end->shape == STN_END_CYLINDER ? 0.0 : end->side.z;
        double out = stn_vec3_norm(stn_vec3_make(end->side.x, end->side.y, axial));
        bool told = end->side.x != 0.0 || end->side.y != 0.0 || end->side.z != 0.0;
        if (!(end->radius > 0.0) || isinf(end->radius)) {
            return stn_fail(err, STN_ERR_ARGUMENT, "%s: radius = %g m must be > 0 and finite", what, end->radius);
        }
        if (told && (!(out >= end->radius) || isinf(out))) {
            return stn_fail(err, STN_ERR_ARGUMENT, "%s: side is %g m from the middle, must be outside of radius %g m",
                            what, out, end->radius);
        }
    }
    stn_status status = builder_check_link(b, what, end->link, false, err);
    return status == STN_OK ? check_pose(what, &end->pose, err) : status;
}

stn_status stn_builder_add_constraint(stn_model_builder *builder, stn_instance *instance,
                                      const stn_constraint_spec *spec, int32_t *constraint, stn_error *err) {
    if (instance == NULL) {
        return stn_fail(err, STN_ERR_ARGUMENT, "constraint: a plugin of kind constraint is needed");
    }
    stn_status status = STN_OK;
    if (instance->desc->kind != STN_KIND_CONSTRAINT) {
        status = stn_fail(err, STN_ERR_ARGUMENT, "it is a %s; a plugin of kind constraint is needed",
                          stn_kind_name(instance->desc->kind));
    } else if (spec->end_count < 1) {
        status = stn_fail(err, STN_ERR_ARGUMENT, "it has no ends; it needs a link or a joint to act on");
    }
    for (int32_t i = 0; i < spec->end_count && status == STN_OK; i++) {
        status = check_end(builder, spec, i, err);
    }
    if (status == STN_OK) {
        built_constraint *item = list_reserve(builder->context, &builder->constraints, sizeof *item);
        const char *name = builder_copy_text(builder, spec->name), *where = builder_copy_text(builder, spec->where);
        const void *ends = builder_copy(builder, spec->ends, (size_t)spec->end_count, sizeof *spec->ends);
        if (item != NULL && name != NULL && where != NULL && ends != NULL) {
            *item = (built_constraint){{name, spec->end_count, ends, where}, instance};
            *constraint = builder->constraints.count++;
            return STN_OK;
        }
        status = model_out_of_memory(err);
    }
    (void)name_constraint(instance, spec, status, err);
    stn_instance_destroy(instance);
    return status;
}

/// Frame on a body or joint of the model.
static stn_status compile_end(const compiler *c, const stn_constraint_end_spec *spec, stn_constraint_end *out,
                              stn_error *err) {
    *out = (stn_constraint_end){
        .link = -1, .pose = spec->pose, .frame = stn_pose_identity(), .joint = -1, .factor = spec->factor};
    if (spec->joint < 0) {
        out->link = spec->link;
        out->shape = spec->shape;
        out->radius = spec->shape != STN_END_POINT ? spec->radius : 0.0;
        out->side = spec->side;
        out->body = place_end(c, spec->link, &spec->pose, &out->frame);
        return STN_OK;
    }
    out->joint = c->joint_index[spec->joint];
    if (out->joint < 0 || c->joints[out->joint].nv != 1) {
        const stn_joint_spec *joint = &joint_at(c->builder, spec->joint)->spec;
        return stn_fail(err, STN_ERR_ARGUMENT, "joint '%s' is %s; it acts on joints with one velocity", joint->name,
                        stn_joint_type_name(joint->type));
    }
    out->body = c->joints[out->joint].child;
    return STN_OK;
}

void stn_constraint_end_describe(const stn_model *model, const stn_constraint_end *end, char *text, size_t size) {
    if (end->joint < 0 && end->link == STN_WORLD) {
        snprintf(text, size, "the world");
        return;
    }
    bool joint = end->joint >= 0;
    const char *name = joint ? model->joints[end->joint].name : model->links[end->link].name;
    const char *group = model->groups[joint ? model->joints[end->joint].group : model->links[end->link].group].name;
    snprintf(text, size, "%s '%.100s'", joint ? "joint" : "link", name);
    if (strcmp(name, group) != 0) {
        stn_text_append(text, size, " of '%.100s'", group);
    }
}

/// Rows beside contacts move what touches its ends.
static bool moves_nothing(const stn_model *model, const stn_model_constraint *c) {
    const stn_constraint_ops *ops = c->instance->desc->ops.constraint;
    bool still = !STN_PLUGIN_HAS(ops, contact_rows) || ops->contact_rows(c->instance->self, c) == 0;
    for (int32_t k = 0; k < c->end_count && still; k++) {
        still = !stn_model_body_moves(model, c->ends[k].body);
    }
    return still;
}

static stn_status refuse_still(const stn_model *model, const stn_model_constraint *c, stn_error *err) {
    char text[256] = "", end[256];
    for (int32_t k = 0; k < c->end_count; k++) {
        stn_constraint_end_describe(model, &c->ends[k], end, sizeof end);
        stn_text_append(text, sizeof text, "%s%s", k == 0 ? "" : k + 1 < c->end_count ? ", " : " and ", end);
    }
    return stn_fail(err, STN_ERR_ARGUMENT, "%s %s fixed or kinematic: there is nothing to hold", text,
                    c->end_count == 1 ? "is" : "are");
}

stn_status compile_constraints(compiler *c, stn_error *err) {
    int32_t count = c->builder->constraints.count;
    stn_model *model = &c->object->face;
    stn_model_constraint *constraints = STN_ARENA_ZEROED(c->memory, count, stn_model_constraint);
    if (constraints == NULL) {
        return model_out_of_memory(err);
    }
    for (int32_t i = 0; i < count; i++) {
        const built_constraint *built = constraint_at(c->builder, i);
        const stn_instance *instance = built->instance;
        const stn_constraint_ops *ops = instance->desc->ops.constraint;
        stn_constraint_end *ends = STN_ARENA(c->memory, built->spec.end_count, stn_constraint_end);
        if (ends == NULL) {
            return model_out_of_memory(err);
        }
        constraints[i] =
            (stn_model_constraint){built->spec.name, built->instance, built->spec.end_count, ends, built->spec.where};
        stn_status status = STN_OK;
        for (int32_t k = 0; k < built->spec.end_count && status == STN_OK; k++) {
            status = compile_end(c, &built->spec.ends[k], &ends[k], err);
            if (status == STN_OK && ends[k].shape != STN_END_POINT && !stn_plugin_says(instance, "wraps")) {
                status = stn_fail(err, STN_ERR_ARGUMENT,
                                  "end %d is a sphere or cylinder; this plugin does not take these", k + 1);
            }
        }
        if (status == STN_OK && STN_PLUGIN_HAS(ops, check)) {
            stn_answer_begin(err);
            status = stn_answer_end(ops->check(instance->self, model, &constraints[i], err), err);
        }
        if (status >= 0 && moves_nothing(model, &constraints[i])) {
            status = refuse_still(model, &constraints[i], err);
        }
        if (status < 0) {
            return name_constraint(instance, &built->spec, status, err);
        }
    }
    model->constraints = constraints;
    model->constraint_count = count;
    return STN_OK;
}
