// SPDX-License-Identifier: Apache-2.0
// A plugin is data from a stranger: everything that the core relies on later is looked at once here.
#include <math.h>
#include <string.h>

#include "plugin/config.h"
#include "plugin/registry.h"

enum { MOST_PARAMS = 4096, LONGEST_ID = 63 };

/// Lower case, digits and _, beginning with a letter.
static bool is_word(const char *text) {
    if (text == NULL || !(text[0] >= 'a' && text[0] <= 'z')) {
        return false;
    }
    size_t n = 0;
    for (; text[n] != '\0'; n++) {
        char c = text[n];
        if (n >= LONGEST_ID || !((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_')) {
            return false;
        }
    }
    return true;
}

static stn_status check_value(const stn_plugin_desc *desc, const stn_param *param, stn_error *err) {
    size_t size = stn_param_member_size(param->type);
    if (size == 0) {
        return stn_fail(err, STN_ERR_PLUGIN, "parameter %s: unknown type %d", param->name, (int)param->type);
    }
    if (param->unit == NULL || param->summary == NULL) {
        return stn_fail(err, STN_ERR_PLUGIN, "parameter %s: needs a unit (\"1\" without) and a summary", param->name);
    }
    if (param->offset > desc->config_size || desc->config_size - param->offset < size || param->offset % size != 0) {
        return stn_fail(err, STN_ERR_PLUGIN, "parameter %s: offset %u with %zu bytes does not lie in config_size = %u",
                        param->name, param->offset, size, desc->config_size);
    }
    if (param->type == STN_PARAM_TYPE_TEXT) {
        return STN_OK;
    }
    double value = param->default_number;
    if (param->type == STN_PARAM_TYPE_CHOICE) {
        int32_t count = 0;
        while (param->choices != NULL && param->choices[count] != NULL) {
            count++;
        }
        if (count == 0) {
            return stn_fail(err, STN_ERR_PLUGIN, "parameter %s: a choice without its list of names", param->name);
        }
        return value >= 0.0 && value < count && value == floor(value)
                   ? STN_OK
                   : stn_fail(err, STN_ERR_PLUGIN, "parameter %s: default choice %g, must be 0 to %d", param->name,
                              value, count - 1);
    }
    bool finite = isfinite(value) || param->type == STN_PARAM_TYPE_REAL; // a real may be infinite where its range is
    if (!finite || !(value >= param->minimum && value <= param->maximum)) {
        return stn_fail(err, STN_ERR_PLUGIN, "parameter %s: default %g is outside its range %g to %g", param->name,
                        value, param->minimum, param->maximum);
    }
    if (param->type == STN_PARAM_TYPE_INT && value != floor(value)) {
        return stn_fail(err, STN_ERR_PLUGIN, "parameter %s: default %g must be a whole number", param->name, value);
    }
    if (param->type == STN_PARAM_TYPE_INT && !(param->minimum >= INT32_MIN && param->maximum <= INT32_MAX)) {
        return stn_fail(err, STN_ERR_PLUGIN, "parameter %s: range %g to %g must fit into 32 bits", param->name,
                        param->minimum, param->maximum);
    }
    return STN_OK;
}

/// Words change how a plugin is judged: one that nobody knows would be believed in vain.
static stn_status check_capability(const stn_plugin_desc *desc, const char *word, stn_error *err) {
    char known[256] = "";
    int32_t count = 0;
    const stn_capability *own = stn_kind_capabilities(desc->kind, &count);
    for (int32_t i = 0; i < count; i++) {
        if (strcmp(own[i].word, word) == 0) {
            return STN_OK;
        }
        stn_text_append(known, sizeof known, "%s%s", i > 0 ? ", " : "", own[i].word);
    }
    for (int32_t kind = 0; kind < STN_KIND_COUNT; kind++) {
        const stn_capability *other = stn_kind_capabilities((stn_kind)kind, &count);
        for (int32_t i = 0; i < count; i++) {
            if (strcmp(other[i].word, word) == 0) {
                return stn_fail(err, STN_ERR_PLUGIN, "capability \"%s\" is a word of kind %s; a %s knows %s", word,
                                stn_kind_name((stn_kind)kind), stn_kind_name(desc->kind),
                                known[0] != '\0' ? known : "none");
            }
        }
    }
    return stn_fail(err, STN_ERR_PLUGIN, "unknown capability \"%.64s\"; a %s knows %s", word, stn_kind_name(desc->kind),
                    known[0] != '\0' ? known : "none");
}

/// Behind kind and id, which texts about the rest begin with.
static stn_status check_rest(const stn_plugin_desc *desc, stn_error *err) {
    if (desc->version == NULL || desc->summary == NULL) {
        return stn_fail(err, STN_ERR_PLUGIN, "version and summary must be given");
    }
    if (desc->memory_per_constraint < 0) {
        return stn_fail(err, STN_ERR_PLUGIN, "memory_per_constraint = %d must be >= 0", desc->memory_per_constraint);
    }
    if ((desc->create == NULL) != (desc->destroy == NULL)) {
        return stn_fail(err, STN_ERR_PLUGIN, "create and destroy must be given both or neither");
    }
    if (desc->param_count < 0 || desc->param_count > MOST_PARAMS || (desc->param_count > 0 && desc->params == NULL)) {
        return stn_fail(err, STN_ERR_PLUGIN, "params and param_count = %d do not fit together", desc->param_count);
    }
    for (const char *const *word = desc->capabilities; word != NULL && *word != NULL; word++) {
        stn_status status = check_capability(desc, *word, err);
        if (status != STN_OK) {
            return status;
        }
    }
    const stn_param *shared = NULL;
    int32_t shared_count = 0;
    size_t shared_size = 0;
    stn_kind_params(desc->kind, &shared, &shared_count, &shared_size);
    for (int32_t i = 0; i < desc->param_count; i++) {
        const char *name = desc->params[i].name;
        if (!is_word(name)) {
            return stn_fail(err, STN_ERR_PLUGIN, "parameter %d: name \"%.64s\" must be lower case, digits and _", i,
                            name != NULL ? name : "");
        }
        for (int32_t j = 0; j < i; j++) {
            if (strcmp(name, desc->params[j].name) == 0) {
                return stn_fail(err, STN_ERR_PLUGIN, "parameter %s is declared twice", name);
            }
        }
        for (int32_t j = 0; j < shared_count; j++) {
            if (strcmp(name, shared[j].name) == 0) {
                return stn_fail(err, STN_ERR_PLUGIN, "parameter %s: every %s has it already; leave it out", name,
                                stn_kind_name(desc->kind));
            }
        }
        stn_status status = check_value(desc, &desc->params[i], err);
        if (status != STN_OK) {
            return status;
        }
    }
    return stn_ops_check(desc, err);
}

stn_status stn_plugin_check(const stn_plugin_desc *desc, stn_error *err) {
    if (desc == NULL) {
        return stn_fail(err, STN_ERR_PLUGIN, "an empty place in the list of plugins");
    }
    if (desc->size < sizeof(stn_plugin_desc)) {
        return stn_fail(err, STN_ERR_PLUGIN,
                        "descriptor size = %u, must be >= %zu; set .size = sizeof(stn_plugin_desc)", desc->size,
                        sizeof(stn_plugin_desc));
    }
    if (stn_kind_name(desc->kind) == NULL) {
        return stn_fail(err, STN_ERR_PLUGIN, "kind %d is unknown, must be 0 to %d", (int)desc->kind,
                        STN_KIND_COUNT - 1);
    }
    if (!is_word(desc->id)) {
        return stn_fail(err, STN_ERR_PLUGIN, "id \"%.64s\" must be lower case, digits and _, %d letters at most",
                        desc->id != NULL ? desc->id : "", LONGEST_ID);
    }
    stn_status status = check_rest(desc, err);
    if (status != STN_OK) {
        stn_error_prefix(err, "%s %s", stn_kind_name(desc->kind), desc->id);
    }
    return status;
}
