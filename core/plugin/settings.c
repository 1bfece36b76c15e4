// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "base/text.h"
#include "plugin/settings.h"

static stn_setting setting_of(const stn_param *param, const void *config) {
    const void *member = (const char *)config + param->offset;
    stn_setting s = {.name = param->name, .form = STN_SETTING_NUMBER, .where = "copy"};
    switch (param->type) {
    case STN_PARAM_TYPE_REAL:
        memcpy(&s.number, member, sizeof(double));
        break;
    case STN_PARAM_TYPE_INT: {
        int32_t value = 0;
        memcpy(&value, member, sizeof value);
        s.number = value;
        break;
    }
    case STN_PARAM_TYPE_BOOL: {
        bool value = false;
        memcpy(&value, member, sizeof value);
        s.form = STN_SETTING_BOOL;
        s.number = value ? 1.0 : 0.0;
        break;
    }
    case STN_PARAM_TYPE_CHOICE: {
        int32_t value = 0;
        memcpy(&value, member, sizeof value);
        s.form = STN_SETTING_TEXT;
        s.text = param->choices[value];
        break;
    }
    case STN_PARAM_TYPE_TEXT:
        s.form = STN_SETTING_TEXT;
        memcpy(&s.text, member, sizeof s.text);
        break;
    }
    return s;
}

/// Appends those of a table; an unset text stays unset.
static void append_settings(const stn_param *params, int32_t count, const void *config, instance_choice *out) {
    for (int32_t i = 0; i < count; i++) {
        stn_setting s = setting_of(&params[i], config);
        if (s.form != STN_SETTING_TEXT || s.text != NULL) {
            out->settings[out->choice.setting_count++] = s;
        }
    }
}

/// By id; a plugin that was chosen by its file is not found that way.
static const char *name_of(const stn_instance *instance) {
    const stn_plugin_info *info = NULL;
    stn_status status = stn_plugin_find(instance->context, instance->desc->kind, instance->desc->id, &info, NULL);
    return status == STN_OK && info->desc == instance->desc ? instance->desc->id : instance->file;
}

stn_status instance_describe(const stn_instance *instance, instance_choice *out, stn_error *err) {
    const stn_plugin_desc *desc = instance->desc;
    const stn_param *common = NULL;
    int32_t common_count = 0;
    size_t common_size = 0;
    stn_kind_params(desc->kind, &common, &common_count, &common_size);
    *out = (instance_choice){.choice = {.id = name_of(instance)}, .version = desc->version};
    size_t most = (size_t)common_count + (size_t)desc->param_count;
    out->settings = stn_allocate(instance->context, most, sizeof *out->settings);
    if (out->settings == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "%s %s: out of memory", stn_kind_name(desc->kind), desc->id);
    }
    append_settings(common, common_count, instance->common, out);
    append_settings(desc->params, desc->param_count, instance->config, out);
    out->choice.settings = out->settings;
    return STN_OK;
}

void instance_choice_clear(stn_context *context, instance_choice *choice) {
    stn_release(context, choice->settings);
    *choice = (instance_choice){0};
}

/// The name, the form, then the number or the text.
static void pass_setting(byte_stream *b, stn_setting *s) {
    int32_t form = (int32_t)s->form;
    bytes_pass_text(b, &s->name);
    bytes_pass_count(b, &form, STN_SETTING_TEXT);
    if (form == STN_SETTING_TEXT) {
        bytes_pass_text(b, &s->text);
    } else {
        BYTES_PASS(b, &s->number);
    }
    if (b->reading) {
        s->form = form == STN_SETTING_NUMBER ? STN_SETTING_NUMBER
                  : form == STN_SETTING_BOOL ? STN_SETTING_BOOL
                                             : STN_SETTING_TEXT;
        s->where = "the recording";
        b->failed = b->failed || s->name == NULL || (form == STN_SETTING_TEXT && s->text == NULL);
    }
}

void instance_choice_pass(byte_stream *b, instance_choice *choice) {
    int32_t count = choice->choice.setting_count;
    bytes_pass_text(b, &choice->choice.id);
    if (choice->choice.id == NULL) {
        return;
    }
    bytes_pass_text(b, &choice->version);
    bytes_pass_count(b, &count, b->reading ? (int32_t)(bytes_left(b) < INT32_MAX ? bytes_left(b) : INT32_MAX) : count);
    if (b->reading) {
        choice->settings = stn_allocate(b->context, (size_t)count, sizeof *choice->settings);
        if (choice->settings == NULL) {
            bytes_out_of_memory(b);
        }
        choice->choice.settings = choice->settings;
    }
    for (int32_t i = 0; i < count && !b->failed; i++) {
        pass_setting(b, &choice->settings[i]);
    }
    choice->choice.setting_count = b->failed ? 0 : count;
}

stn_status instance_write(byte_stream *b, const stn_instance *instance, stn_error *err) {
    instance_choice choice;
    stn_status status = instance_describe(instance, &choice, err);
    if (status == STN_OK) {
        choice.choice.id = instance->desc->id; // a path means nothing to who reads it
        instance_choice_pass(b, &choice);
    }
    instance_choice_clear(b->context, &choice);
    return status;
}

stn_status instance_read(byte_stream *b, stn_kind kind, stn_instance **out, stn_error *err) {
    instance_choice choice = {0};
    *out = NULL;
    instance_choice_pass(b, &choice);
    b->failed = b->failed || choice.choice.id == NULL;
    stn_status status = bytes_status(b, err);
    if (status == STN_OK) {
        const stn_plugin_choice *c = &choice.choice;
        status = stn_instance_create(b->context, kind, c->id, c->settings, c->setting_count, out, err);
        instance_explain(b->context, kind, &choice, status, err);
    }
    if (status == STN_OK) {
        instance_compare_version(*out, choice.version);
    }
    instance_choice_clear(b->context, &choice);
    return status;
}

void instance_explain(stn_context *context, stn_kind kind, const instance_choice *read, stn_status status,
                      stn_error *err) {
    const stn_plugin_info *info = NULL;
    const char *id = read->choice.id;
    if (status == STN_ERR_PLUGIN && err != NULL && id != NULL &&
        stn_plugin_find(context, kind, id, &info, NULL) == STN_ERR_PLUGIN) {
        bool path = strchr(id, '/') != NULL; // of a version that recorded where a plugin was
        stn_text_append(err->text, sizeof err->text, "; it was recorded with %s %s%s%s: %s", stn_kind_name(kind), id,
                        read->version != NULL ? " " : "", read->version != NULL ? read->version : "",
                        path ? "give that plugin on the command line, or record again"
                             : "name the folder of its file by STICTION_PLUGIN_PATH");
    }
}

void instance_compare_version(const stn_instance *instance, const char *version) {
    const stn_plugin_desc *desc = instance->desc;
    if (version != NULL && strcmp(version, desc->version) != 0) {
        stn_log(instance->context, STN_LOG_WARNING, "%s %s is version %s here, the recording was made with %s",
                stn_kind_name(desc->kind), desc->id, desc->version, version);
    }
}
