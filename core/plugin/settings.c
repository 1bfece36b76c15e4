// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "plugin/settings.h"

/// Appends those of a table; an unset text stays unset.
static void append_settings(const stn_param *params, int32_t count, const void *config, instance_choice *out) {
    for (int32_t i = 0; i < count; i++) {
        const stn_param *param = &params[i];
        const void *member = (const char *)config + param->offset;
        stn_setting s = {.name = param->name, .form = STN_SETTING_NUMBER, .where = "copy"};
        if (param->type == STN_PARAM_TYPE_REAL) {
            s.number = *(const double *)member;
        } else if (param->type == STN_PARAM_TYPE_INT) {
            s.number = *(const int32_t *)member;
        } else if (param->type == STN_PARAM_TYPE_BOOL) {
            s.form = STN_SETTING_BOOL;
            s.number = *(const bool *)member ? 1.0 : 0.0;
        } else {
            s.form = STN_SETTING_TEXT;
            s.text = param->type == STN_PARAM_TYPE_CHOICE ? param->choices[*(const int32_t *)member]
                                                          : *(const char *const *)member;
        }
        if (s.form != STN_SETTING_TEXT || s.text != NULL) {
            out->settings[out->choice.setting_count++] = s;
        }
    }
}

stn_status instance_describe(const stn_instance *instance, instance_choice *out, stn_error *err) {
    const stn_plugin_desc *desc = instance->desc;
    const stn_param *common = NULL;
    int32_t common_count = 0;
    size_t common_size = 0;
    stn_kind_params(desc->kind, &common, &common_count, &common_size);
    // By id; a plugin that was chosen by its file is not found that way.
    const stn_plugin_info *info = NULL;
    bool found = stn_plugin_find(instance->context, desc->kind, desc->id, &info, NULL) == STN_OK && info->desc == desc;
    *out = (instance_choice){.choice = {.id = found ? desc->id : instance->file}, .version = desc->version};
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
        // The name, the form, then the number or the text.
        stn_setting *s = &choice->settings[i];
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
