// SPDX-License-Identifier: Apache-2.0
// Settings -> a typed config struct: defaults first, then every setting checked against its declaration.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "plugin/config.h"

enum { NAMES_SHOWN = 64, NUMBER_SIZE = 40 };

size_t stn_param_member_size(stn_param_type type) {
    switch (type) {
    case STN_PARAM_TYPE_REAL:
        return sizeof(double);
    case STN_PARAM_TYPE_INT:
    case STN_PARAM_TYPE_CHOICE:
        return sizeof(int32_t);
    case STN_PARAM_TYPE_BOOL:
        return sizeof(bool);
    case STN_PARAM_TYPE_TEXT:
        return sizeof(char *);
    }
    return 0;
}

static void *member(const stn_param *param, void *config) {
    return (unsigned char *)config + param->offset;
}

static void store_number(const stn_param *param, void *config, double value) {
    void *place = member(param, config);
    if (param->type == STN_PARAM_TYPE_REAL) {
        *(double *)place = value;
    } else if (param->type == STN_PARAM_TYPE_BOOL) {
        *(bool *)place = value != 0.0;
    } else {
        *(int32_t *)place = (int32_t)value;
    }
}

/// Puts an owned copy in place of the text that was there; `text` may be NULL.
static stn_status store_text(stn_context *context, const stn_param *param, void *config, const char *text,
                             stn_error *err) {
    char *copy = NULL;
    if (text != NULL) {
        copy = stn_duplicate_text(context, text);
        if (copy == NULL) {
            return stn_fail(err, STN_ERR_MEMORY, "%s: out of memory", param->name);
        }
    }
    char **place = member(param, config);
    stn_release(context, *place);
    *place = copy;
    return STN_OK;
}

/// " [m]", or nothing for what has no unit.
static void unit_text(const stn_param *param, char *text, size_t size) {
    bool none = param->unit == NULL || strcmp(param->unit, "1") == 0;
    snprintf(text, size, "%s%s%s", none ? "" : " [", none ? "" : param->unit, none ? "" : "]");
}

static stn_status wrong_type(const stn_param *param, const stn_setting *setting, const char *wanted, stn_error *err) {
    char value[256], unit[64];
    if (setting->form == STN_SETTING_TEXT) {
        snprintf(value, sizeof value, "\"%.200s\"", setting->text);
    } else if (setting->form == STN_SETTING_BOOL) {
        snprintf(value, sizeof value, "%s", setting->number != 0.0 ? "true" : "false");
    } else {
        stn_print_real(value, sizeof value, setting->number);
    }
    unit_text(param, unit, sizeof unit);
    return stn_fail(err, STN_ERR_PARAMETER, "%s = %s, must be %s%s", param->name, value, wanted, unit);
}

static stn_status set_number(const stn_param *param, void *config, const stn_setting *setting, stn_error *err) {
    bool whole = param->type == STN_PARAM_TYPE_INT;
    double value = setting->number;
    bool spelled = setting->form == STN_SETTING_TEXT && setting->text != NULL && stn_parse_real(setting->text, &value);
    if ((setting->form != STN_SETTING_NUMBER && !spelled) || (!isfinite(value) && value != param->default_number) ||
        (whole && value != floor(value))) {
        return wrong_type(param, setting, whole ? "a whole number" : "a finite number", err);
    }
    if (!(value >= param->minimum && value <= param->maximum)) {
        char shown[NUMBER_SIZE], low[NUMBER_SIZE], high[NUMBER_SIZE], unit[64];
        stn_print_real(shown, sizeof shown, value);
        stn_print_real(low, sizeof low, param->minimum);
        stn_print_real(high, sizeof high, param->maximum);
        unit_text(param, unit, sizeof unit);
        if (isinf(param->maximum)) {
            return stn_fail(err, STN_ERR_PARAMETER, "%s = %s, must be >= %s%s", param->name, shown, low, unit);
        }
        if (isinf(param->minimum)) {
            return stn_fail(err, STN_ERR_PARAMETER, "%s = %s, must be <= %s%s", param->name, shown, high, unit);
        }
        return stn_fail(err, STN_ERR_PARAMETER, "%s = %s, must be %s to %s%s", param->name, shown, low, high, unit);
    }
    store_number(param, config, value);
    return STN_OK;
}

static stn_status set_choice(const stn_param *param, void *config, const stn_setting *setting, stn_error *err) {
    char names[600] = "";
    int32_t count = 0;
    for (; param->choices[count] != NULL; count++) {
        if (setting->form == STN_SETTING_TEXT && setting->text != NULL &&
            strcmp(setting->text, param->choices[count]) == 0) {
            store_number(param, config, count);
            return STN_OK;
        }
        stn_text_append(names, sizeof names, "%s%s", count > 0 ? ", " : "", param->choices[count]);
    }
    char wanted[640];
    snprintf(wanted, sizeof wanted, "one of %s", names);
    wrong_type(param, setting, wanted, err);
    const char *near = setting->form == STN_SETTING_TEXT && setting->text != NULL
                           ? stn_suggest(setting->text, param->choices, count)
                           : NULL;
    if (near != NULL && err != NULL) {
        stn_text_append(err->text, sizeof err->text, "; did you mean %s?", near);
    }
    return STN_ERR_PARAMETER;
}

/// Says which names there are, or the one that may be meant.
static stn_status unknown_name(const stn_config_part *parts, int32_t part_count, const char *name, stn_error *err) {
    const char *names[NAMES_SHOWN] = {NULL};
    int32_t count = 0;
    char list[700] = "";
    for (int32_t p = 0; p < part_count; p++) {
        for (int32_t i = 0; i < parts[p].count && count < NAMES_SHOWN; i++) {
            stn_text_append(list, sizeof list, "%s%s", count > 0 ? ", " : "", parts[p].params[i].name);
            names[count++] = parts[p].params[i].name;
        }
    }
    const char *near = stn_suggest(name, names, count);
    if (near != NULL) {
        return stn_fail(err, STN_ERR_PARAMETER, "unknown parameter %s; did you mean %s?", name, near);
    }
    if (count == 0) {
        return stn_fail(err, STN_ERR_PARAMETER, "unknown parameter %s; there are none to set", name);
    }
    return stn_fail(err, STN_ERR_PARAMETER, "unknown parameter %s; there are %s", name, list);
}

static stn_status set(stn_context *context, const stn_param *param, void *config, const stn_setting *setting,
                      stn_error *err) {
    const char *text = setting->form == STN_SETTING_TEXT ? setting->text : NULL;
    bool is_true =
        setting->form == STN_SETTING_BOOL ? setting->number != 0.0 : text != NULL && strcmp(text, "true") == 0;
    switch (param->type) {
    case STN_PARAM_TYPE_REAL:
    case STN_PARAM_TYPE_INT:
        return set_number(param, config, setting, err);
    case STN_PARAM_TYPE_BOOL:
        if (setting->form != STN_SETTING_BOOL && !is_true && (text == NULL || strcmp(text, "false") != 0)) {
            return wrong_type(param, setting, "true or false", err);
        }
        store_number(param, config, is_true ? 1.0 : 0.0);
        return STN_OK;
    case STN_PARAM_TYPE_CHOICE:
        return set_choice(param, config, setting, err);
    case STN_PARAM_TYPE_TEXT:
        return text != NULL ? store_text(context, param, config, text, err) : wrong_type(param, setting, "a text", err);
    }
    return stn_fail(err, STN_ERR_PARAMETER, "%s: declared with an unknown type", param->name);
}

stn_status stn_config_parts_create(stn_context *context, const char *owner, stn_config_part *parts, int32_t part_count,
                                   const stn_setting *settings, int32_t setting_count, stn_error *err) {
    stn_status status = STN_OK;
    const char *where = NULL;
    for (int32_t p = 0; p < part_count; p++) {
        parts[p].config = NULL;
    }
    // defaults
    for (int32_t p = 0; p < part_count && status == STN_OK; p++) {
        if (parts[p].size == 0) {
            continue;
        }
        parts[p].config = stn_allocate(context, 1, parts[p].size);
        status = parts[p].config == NULL ? stn_fail(err, STN_ERR_MEMORY, "out of memory") : STN_OK;
        for (int32_t i = 0; i < parts[p].count && status == STN_OK; i++) {
            const stn_param *param = &parts[p].params[i];
            if (param->type == STN_PARAM_TYPE_TEXT) {
                status = store_text(context, param, parts[p].config, param->default_text, err);
            } else {
                store_number(param, parts[p].config, param->default_number);
            }
        }
    }
    for (int32_t s = 0; s < setting_count && status == STN_OK; s++) {
        const stn_config_part *part = NULL; // that has a parameter of the name
        const stn_param *param = NULL;
        for (int32_t p = 0; p < part_count; p++) {
            for (int32_t i = 0; i < parts[p].count && param == NULL; i++) {
                bool named = strcmp(settings[s].name, parts[p].params[i].name) == 0;
                part = named ? &parts[p] : NULL;
                param = named ? &parts[p].params[i] : NULL;
            }
        }
        status = param != NULL ? set(context, param, part->config, &settings[s], err)
                               : unknown_name(parts, part_count, settings[s].name, err);
        where = settings[s].where;
    }
    for (int32_t p = 0; p < part_count && status != STN_OK; p++) {
        stn_config_destroy(context, parts[p].params, parts[p].count, parts[p].config);
        parts[p].config = NULL;
    }
    if (status != STN_OK) {
        stn_error_prefix(err, "%s%s%s", where != NULL ? where : "", where != NULL ? ": " : "", owner);
    }
    return status;
}

stn_status stn_config_create(stn_context *context, const char *owner, const stn_param *params, int32_t param_count,
                             size_t config_size, const stn_setting *settings, int32_t setting_count, void **out,
                             stn_error *err) {
    stn_config_part part = {.params = params, .count = param_count, .size = config_size};
    stn_status status = stn_config_parts_create(context, owner, &part, 1, settings, setting_count, err);
    *out = part.config;
    return status;
}

void stn_config_destroy(stn_context *context, const stn_param *params, int32_t param_count, void *config) {
    if (config == NULL) {
        return;
    }
    for (int32_t i = 0; i < param_count; i++) {
        if (params[i].type == STN_PARAM_TYPE_TEXT) {
            stn_release(context, *(char **)member(&params[i], config));
        }
    }
    stn_release(context, config);
}

size_t stn_config_print(const stn_param *param, const void *config, char *text, size_t size) {
    const void *place = (const unsigned char *)config + param->offset;
    const char *word = "";
    switch (param->type) {
    case STN_PARAM_TYPE_REAL:
        return stn_print_real(text, size, *(const double *)place);
    case STN_PARAM_TYPE_INT:
        return stn_print_real(text, size, (double)*(const int32_t *)place);
    case STN_PARAM_TYPE_BOOL:
        word = *(const bool *)place ? "true" : "false";
        break;
    case STN_PARAM_TYPE_CHOICE:
        word = param->choices[*(const int32_t *)place];
        break;
    case STN_PARAM_TYPE_TEXT:
        word = *(const char *const *)place != NULL ? *(const char *const *)place : "";
        break;
    }
    int length = snprintf(text, size, "%s", word);
    return length < 0 || size == 0 ? 0 : (size_t)length < size ? (size_t)length : size - 1;
}
