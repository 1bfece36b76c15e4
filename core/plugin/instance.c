// SPDX-License-Identifier: Apache-2.0
// A chosen plugin: found, configured, created; destroyed when nobody keeps it any more.
#include <stdatomic.h>
#include <stdio.h>

#include "plugin/config.h"
#include "plugin/registry.h"
#include "plugin/settings.h"

/// What is allocated for an instance.
typedef struct kept_instance {
    stn_instance face; // first
    atomic_int keepers;
} kept_instance;

enum { MOST_SHARED = 3 }; // parameters of a kind

stn_status stn_instance_create(stn_context *context, stn_kind kind, const char *id, const stn_setting *settings,
                               int32_t setting_count, stn_instance **out, stn_error *err) {
    *out = NULL;
    const stn_plugin_info *info = NULL;
    stn_status status = stn_plugin_find(context, kind, id, &info, err);
    if (status != STN_OK) {
        return status;
    }
    kept_instance *kept = stn_allocate(context, 1, sizeof *kept);
    stn_instance *instance = kept != NULL ? &kept->face : NULL;
    if (instance == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "%s %s: out of memory", stn_kind_name(kind), id);
    }
    atomic_init(&kept->keepers, 1);
    *instance = (stn_instance){.context = context, .desc = info->desc, .file = info->file};
    const stn_plugin_desc *desc = info->desc;
    char owner[128];
    snprintf(owner, sizeof owner, "%s %s", stn_kind_name(kind), desc->id);
    stn_config_part parts[2] = {{0}, {desc->params, desc->param_count, desc->config_size, NULL}};
    stn_param shared[MOST_SHARED];
    stn_kind_params(kind, &parts[0].params, &parts[0].count, &parts[0].size);
    for (int32_t i = 0; i < parts[0].count; i++) {
        shared[i] = stn_shared_param(desc, i);
    }
    parts[0].params = shared;
    status = stn_config_parts_create(context, owner, parts, 2, settings, setting_count, err);
    instance->common = parts[0].config;
    instance->config = parts[1].config;
    if (status == STN_OK && desc->create == NULL) {
        instance->self = instance->config;
    } else if (status == STN_OK) {
        stn_answer_begin(err);
        status = stn_answer_end(desc->create(context, instance->config, &instance->self, err), err);
        if (status < 0) {
            instance->self = NULL;
            stn_error_prefix(err, "%s %s", stn_kind_name(kind), desc->id);
        }
    }
    if (status < 0) {
        stn_instance_destroy(instance);
        return status;
    }
    *out = instance;
    return STN_OK; // a qualified status of `create` says nothing here
}

stn_instance *instance_keep(stn_instance *instance) {
    atomic_fetch_add(&((kept_instance *)instance)->keepers, 1);
    return instance;
}

void stn_instance_destroy(stn_instance *instance) {
    if (instance == NULL || atomic_fetch_sub(&((kept_instance *)instance)->keepers, 1) != 1) {
        return;
    }
    const stn_plugin_desc *desc = instance->desc;
    const stn_param *common = NULL;
    int32_t common_count = 0;
    size_t common_size = 0;
    if (desc->destroy != NULL) {
        desc->destroy(instance->self);
    }
    stn_kind_params(desc->kind, &common, &common_count, &common_size);
    stn_config_destroy(instance->context, common, common_count, instance->common);
    stn_config_destroy(instance->context, desc->params, desc->param_count, instance->config);
    stn_release(instance->context, instance);
}
