// SPDX-License-Identifier: Apache-2.0
// Constraints with two ends in tests: weld, ball, distance, gear.
#ifndef STN_TEST_JOINED_H
#define STN_TEST_JOINED_H

#include "stn_test.h"

#include <stiction/plugin.h>
#include <string.h>

#include "stn_setting.h"

typedef struct joined_spec {
    const char *type, *name, *where; // type: plugin of kind constraint
    stn_constraint_end_spec ends[2];
    stn_setting settings[4];
    int32_t setting_count;
} joined_spec;

/// Between two links or, of a gear, two joints.
static inline joined_spec joined(const char *type, int32_t a, int32_t b) {
    joined_spec spec = {.type = type};
    const int32_t ends[2] = {a, b};
    const bool joints = strcmp(type, "gear") == 0;
    for (int32_t i = 0; i < 2; i++) {
        spec.ends[i] = (stn_constraint_end_spec){.link = joints ? STN_WORLD : ends[i],
                                                 .pose = stn_pose_identity(),
                                                 .joint = joints ? ends[i] : -1,
                                                 .factor = 1.0};
    }
    return spec;
}

static inline void joined_set(joined_spec *spec, const char *name, double value) {
    assert_true(spec->setting_count < STN_COUNT(spec->settings));
    spec->settings[spec->setting_count++] = number_setting(name, value);
}

static inline stn_status joined_try(stn_context *context, stn_model_builder *builder, const joined_spec *spec,
                                    int32_t *id, stn_error *err) {
    stn_instance *instance = NULL;
    stn_status status = stn_instance_create(context, STN_KIND_CONSTRAINT, spec->type, spec->settings,
                                            spec->setting_count, &instance, err);
    const stn_constraint_spec described = {spec->name, 2, spec->ends, spec->where};
    return status == STN_OK ? stn_builder_add_constraint(builder, instance, &described, id, err) : status;
}

static inline int32_t joined_add(stn_context *context, stn_model_builder *builder, const joined_spec *spec) {
    int32_t id = -1;
    stn_error err;
    assert_ok(joined_try(context, builder, spec, &id, &err), err);
    return id;
}

/// A number of the constraint's plugin.
static inline double joined_number(const stn_model_constraint *c, const char *name) {
    const stn_plugin_desc *desc = c->instance->desc;
    for (int32_t i = 0; i < desc->param_count; i++) {
        if (strcmp(desc->params[i].name, name) == 0) {
            double number;
            memcpy(&number, (const char *)c->instance->config + desc->params[i].offset, sizeof number);
            return number;
        }
    }
    fail_msg("%s has no parameter %s", desc->id, name);
    return 0.0;
}

static inline void assert_joined_type(const stn_model_constraint *c, const char *type) {
    assert_string_equal(c->instance->desc->id, type);
}

#endif
