// SPDX-License-Identifier: Apache-2.0
// stiction plugins [ID]: what is installed, and what can be set.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <stiction/plugin.h>

#include "common/options.h"
#include "common/print.h"

enum { MOST_NAMES = 256 };

/// What the registry answered.
typedef struct listing {
    const stn_plugin_info *plugins;
    int32_t count;
    const char *const *problems;
    int32_t problem_count;
    const stn_plugin_info *hidden; // by others that have their kind and id and come first
    int32_t hidden_count;
} listing;

/// The plugin after `before` (NULL: the first) that this one hides; NULL: no more.
static const stn_plugin_info *next_hidden(const listing *found, const stn_plugin_info *info,
                                          const stn_plugin_info *before) {
    for (int32_t i = before != NULL ? (int32_t)(before - found->hidden) + 1 : 0; i < found->hidden_count; i++) {
        const stn_plugin_desc *hidden = found->hidden[i].desc;
        if (hidden->kind == info->desc->kind && strcmp(hidden->id, info->desc->id) == 0) {
            return &found->hidden[i];
        }
    }
    return NULL;
}

/// Channels of a controller or a constraint: what scripts may set while the world runs.
static int32_t channels_of(const stn_plugin_desc *desc, const stn_channel **channels) {
    bool controller = desc->kind == STN_KIND_CONTROLLER, constraint = desc->kind == STN_KIND_CONSTRAINT;
    *channels = controller ? desc->ops.controller->channels : constraint ? desc->ops.constraint->channels : NULL;
    return controller ? desc->ops.controller->channel_count : constraint ? desc->ops.constraint->channel_count : 0;
}

/// What a constraint tells of itself.
static int32_t outputs_of(const stn_plugin_desc *desc, const stn_constraint_output **outputs) {
    bool tells = desc->kind == STN_KIND_CONSTRAINT && STN_PLUGIN_HAS(desc->ops.constraint, outputs);
    *outputs = tells ? desc->ops.constraint->outputs : NULL;
    return tells ? desc->ops.constraint->output_count : 0;
}

/// Vectors in a channel; more than one: a series.
static int32_t rows_of(const stn_plugin_desc *desc, int32_t channel) {
    return desc->kind == STN_KIND_CONTROLLER ? stn_channel_rows(desc->ops.controller, channel) : 1;
}

static const char *type_name(stn_param_type type) {
    switch (type) {
    case STN_PARAM_TYPE_REAL:
        return "real";
    case STN_PARAM_TYPE_INT:
        return "int";
    case STN_PARAM_TYPE_BOOL:
        return "bool";
    case STN_PARAM_TYPE_CHOICE:
        return "choice";
    case STN_PARAM_TYPE_TEXT:
        return "text";
    }
    return "";
}

/// ID or KIND/ID.
static bool is_named(const stn_plugin_info *info, const char *id) {
    const char *slash = strchr(id, '/');
    return slash == NULL ? strcmp(info->desc->id, id) == 0
                         : cli_kind_before_slash(id) == info->desc->kind && strcmp(info->desc->id, slash + 1) == 0;
}

/// The word of the command line: a plugin, or the name of a kind; NULL is all.
static bool is_wanted(const stn_plugin_info *info, const char *id) {
    return id == NULL || is_named(info, id) || strcmp(stn_kind_name(info->desc->kind), id) == 0;
}

static void visit_params(const stn_plugin_desc *desc, void (*visit)(const stn_param *param, void *user), void *user) {
    const stn_param *shared = NULL;
    int32_t shared_count = 0;
    size_t shared_size = 0;
    stn_kind_params(desc->kind, &shared, &shared_count, &shared_size);
    for (int32_t i = 0; i < shared_count; i++) {
        stn_param param = stn_shared_param(desc, i);
        visit(&param, user);
    }
    for (int32_t i = 0; i < desc->param_count; i++) {
        visit(&desc->params[i], user);
    }
}

static void add_param(const stn_param *param, void *user) {
    cJSON *json = cJSON_CreateObject();
    bool ranged = param->type == STN_PARAM_TYPE_REAL || param->type == STN_PARAM_TYPE_INT;
    cli_json_add_text(json, "name", param->name);
    cli_json_add_text(json, "type", type_name(param->type));
    cli_json_add_text(json, "unit", param->unit);
    switch (param->type) {
    case STN_PARAM_TYPE_BOOL:
        cJSON_AddBoolToObject(json, "default", param->default_number != 0.0);
        break;
    case STN_PARAM_TYPE_CHOICE:
        cli_json_add_text(json, "default", param->choices[(int32_t)param->default_number]);
        break;
    case STN_PARAM_TYPE_TEXT:
        cli_json_add_text(json, "default", param->default_text);
        break;
    default:
        cli_json_add_real(json, "default", param->default_number);
        break;
    }
    cli_json_add_real(json, "min", ranged ? param->minimum : (double)NAN);
    cli_json_add_real(json, "max", ranged ? param->maximum : (double)NAN);
    cli_json_add_texts(json, "choices", param->choices);
    cli_json_add_text(json, "text", param->summary);
    cJSON_AddItemToArray(user, json);
}

/// A vector of numbers in a list; `size` as its caller defines it.
static cJSON *add_vector(cJSON *list, const char *name, const char *unit, int32_t size) {
    cJSON *json = cJSON_CreateObject();
    cli_json_add_text(json, "name", name);
    cli_json_add_text(json, "unit", unit);
    cli_json_add_real(json, "size", size);
    cJSON_AddItemToArray(list, json);
    return json;
}

/// "size": numbers in a vector, 0: one per velocity of the target.
static void add_channels(cJSON *plugin, const stn_plugin_desc *desc) {
    const stn_channel *channels = NULL;
    int32_t count = channels_of(desc, &channels);
    cJSON *list = count > 0 ? cJSON_AddArrayToObject(plugin, "channels") : NULL;
    for (int32_t i = 0; i < count; i++) {
        cJSON *json = add_vector(list, channels[i].name, channels[i].unit, channels[i].size);
        cli_json_add_real(json, "rows", rows_of(desc, i));
        cli_json_add_text(json, "text", channels[i].summary);
    }
}

/// "words": what its numbers 0, 1, ... mean; null: just numbers.
static void add_outputs(cJSON *plugin, const stn_plugin_desc *desc) {
    const stn_constraint_output *outputs = NULL;
    int32_t count = outputs_of(desc, &outputs);
    cJSON *list = count > 0 ? cJSON_AddArrayToObject(plugin, "outputs") : NULL;
    for (int32_t i = 0; i < count; i++) {
        cJSON *json = add_vector(list, outputs[i].name, outputs[i].unit, outputs[i].size);
        cli_json_add_texts(json, "words", outputs[i].words);
        cli_json_add_text(json, "text", outputs[i].summary);
    }
}

static int print_json(const listing *found, const char *id) {
    static const char *const none[] = {NULL};
    cJSON *json = cJSON_CreateObject();
    cJSON *plugins = cJSON_AddArrayToObject(json, "plugins");
    for (int32_t i = 0; i < found->count; i++) {
        const stn_plugin_desc *desc = found->plugins[i].desc;
        if (!is_wanted(&found->plugins[i], id)) {
            continue;
        }
        cJSON *plugin = cJSON_CreateObject();
        cli_json_add_text(plugin, "kind", stn_kind_name(desc->kind));
        cli_json_add_text(plugin, "id", desc->id);
        cli_json_add_text(plugin, "version", desc->version);
        cli_json_add_text(plugin, "summary", desc->summary);
        cli_json_add_text(plugin, "reference", desc->reference);
        if (desc->kind == STN_KIND_SOLVER) {
            cli_json_add_text(plugin, "formulation", stn_formulation_name(desc->ops.solver->formulation));
            cJSON_AddBoolToObject(plugin, "supports_singular_A", stn_solver_takes_singular(desc->ops.solver));
        }
        cli_json_add_text(plugin, "file", found->plugins[i].file);
        cJSON *hides = cJSON_AddArrayToObject(plugin, "hides");
        for (const stn_plugin_info *h = NULL; (h = next_hidden(found, &found->plugins[i], h)) != NULL;) {
            cJSON_AddItemToArray(hides, cJSON_CreateString(h->file));
        }
        cli_json_add_texts(plugin, "capabilities", desc->capabilities != NULL ? desc->capabilities : none);
        visit_params(desc, add_param, cJSON_AddArrayToObject(plugin, "parameters"));
        add_channels(plugin, desc);
        add_outputs(plugin, desc);
        cJSON_AddItemToArray(plugins, plugin);
    }
    cJSON *problems = cJSON_AddArrayToObject(json, "problems");
    for (int32_t i = 0; i < found->problem_count; i++) {
        cJSON_AddItemToArray(problems, cJSON_CreateString(found->problems[i]));
    }
    return cli_json_print(json, true) ? STN_EXIT_DONE : STN_EXIT_BAD_INPUT;
}

static void print_param(const stn_param *param, void *user) {
    char value[40];
    (void)user;
    const char *shown = value;
    switch (param->type) {
    case STN_PARAM_TYPE_BOOL:
        shown = param->default_number != 0.0 ? "true" : "false";
        break;
    case STN_PARAM_TYPE_CHOICE:
        shown = param->choices[(int32_t)param->default_number];
        break;
    case STN_PARAM_TYPE_TEXT:
        shown = param->default_text != NULL ? param->default_text : "none";
        break;
    default:
        stn_print_real(value, sizeof value, param->default_number);
        break;
    }
    printf("  %s = %s", param->name, shown);
    if (strcmp(param->unit, "1") != 0) {
        printf(" %s", param->unit);
    }
    printf("  (%s", type_name(param->type));
    // ", 0 to 1", ", >= 0", ", manifold | spheres26"
    for (int32_t i = 0; param->type == STN_PARAM_TYPE_CHOICE && param->choices[i] != NULL; i++) {
        printf("%s%s", i == 0 ? ", " : " | ", param->choices[i]);
    }
    if (param->type == STN_PARAM_TYPE_REAL || param->type == STN_PARAM_TYPE_INT) {
        char low[40], high[40];
        stn_print_real(low, sizeof low, param->minimum);
        stn_print_real(high, sizeof high, param->maximum);
        if (isfinite(param->minimum) && isfinite(param->maximum)) {
            printf(", %s to %s", low, high);
        } else if (isfinite(param->minimum)) {
            printf(", >= %s", low);
        } else if (isfinite(param->maximum)) {
            printf(", <= %s", high);
        }
    }
    printf(")\n      %s\n", param->summary);
}

static void print_channels(const stn_plugin_desc *desc) {
    const stn_channel *channels = NULL;
    int32_t count = channels_of(desc, &channels);
    for (int32_t i = 0; i < count; i++) {
        printf("  channel %s [%s]  (", channels[i].name, channels[i].unit);
        if (channels[i].size > 0) {
            printf("%d number%s", (int)channels[i].size, channels[i].size == 1 ? "" : "s");
        } else {
            printf("one per velocity");
        }
        if (rows_of(desc, i) > 1) {
            printf(", up to %d rows", (int)rows_of(desc, i));
        }
        printf(")\n      %s\n", channels[i].summary);
    }
}

static void print_outputs(const stn_plugin_desc *desc) {
    const stn_constraint_output *outputs = NULL;
    int32_t count = outputs_of(desc, &outputs);
    for (int32_t i = 0; i < count; i++) {
        const char *const *words = outputs[i].words;
        printf("  output %s [%s]  (%d number%s", outputs[i].name, outputs[i].unit, (int)outputs[i].size,
               outputs[i].size == 1 ? "" : "s");
        for (int32_t k = 0; words != NULL && words[k] != NULL; k++) {
            printf("%s\"%s\"", k > 0 ? " | " : ": ", words[k]);
        }
        printf(")\n      %s\n", outputs[i].summary);
    }
}

static void print_plugin(const listing *found, const stn_plugin_info *info) {
    const stn_plugin_desc *desc = info->desc;
    printf("%s %s %s\n  %s\n", stn_kind_name(desc->kind), desc->id, desc->version, desc->summary);
    if (desc->reference != NULL) {
        printf("  reference: %s\n", desc->reference);
    }
    if (desc->capabilities != NULL && desc->capabilities[0] != NULL) {
        int32_t count = 0;
        const stn_capability *known = stn_kind_capabilities(desc->kind, &count);
        for (int32_t i = 0; i < count; i++) {
            for (const char *const *word = desc->capabilities; *word != NULL; word++) {
                if (strcmp(*word, known[i].word) == 0) {
                    printf("  %s: %s\n", known[i].word, known[i].meaning);
                }
            }
        }
    }
    if (desc->kind == STN_KIND_SOLVER) {
        printf("  formulation: %s\n", stn_formulation_name(desc->ops.solver->formulation));
        printf("  singular A: %s\n", stn_solver_takes_singular(desc->ops.solver) ? "yes" : "refused");
    }
    printf("  file: %s\n", info->file);
    for (const stn_plugin_info *h = NULL; (h = next_hidden(found, info, h)) != NULL;) {
        printf("  hides that of %s\n", h->file);
    }
    visit_params(desc, print_param, NULL);
    print_channels(desc);
    print_outputs(desc);
}

/// Files and folders that were refused.
static void print_problems(const listing *found) {
    for (int32_t i = 0; i < found->problem_count; i++) {
        fprintf(stderr, "warning: %s\n", found->problems[i]);
    }
}

static int show(const cli_command *command, const listing *found, const char *id, bool json) {
    bool is_kind = false;
    for (int kind = 0; id != NULL && kind < STN_KIND_COUNT; kind++) {
        is_kind = is_kind || strcmp(stn_kind_name((stn_kind)kind), id) == 0;
    }
    bool any = id == NULL || is_kind;
    for (int32_t i = 0; i < found->count; i++) {
        any = any || is_wanted(&found->plugins[i], id);
    }
    if (!any) {
        const char *names[MOST_NAMES] = {NULL};
        int32_t count = 0;
        for (; count < found->count && count < MOST_NAMES - STN_KIND_COUNT; count++) {
            names[count] = found->plugins[count].desc->id;
        }
        for (int kind = 0; kind < STN_KIND_COUNT; kind++) {
            names[count++] = stn_kind_name((stn_kind)kind);
        }
        const char *near = stn_suggest(strchr(id, '/') != NULL ? strchr(id, '/') + 1 : id, names, count);
        print_problems(found); // which it may be among
        return cli_fail(command, "unknown plugin %s;%s%s%s see stiction plugins", id,
                        near != NULL ? " did you mean " : "", near != NULL ? near : "", near != NULL ? "?" : "");
    }
    if (json) {
        return print_json(found, id);
    }
    if (id == NULL || is_kind) {
        int widest = 2, kinds = 10;
        for (int32_t i = 0; i < found->count; i++) {
            int width = (int)strlen(found->plugins[i].desc->id);
            int kind = (int)strlen(stn_kind_name(found->plugins[i].desc->kind));
            widest = width > widest ? width : widest;
            kinds = kind > kinds ? kind : kinds;
        }
        printf("%-*s  %-*s  %s\n", kinds, "kind", widest, "id", "summary");
        for (int32_t i = 0; i < found->count; i++) {
            const stn_plugin_desc *desc = found->plugins[i].desc;
            if (is_wanted(&found->plugins[i], id)) {
                printf("%-*s  %-*s  %s", kinds, stn_kind_name(desc->kind), widest, desc->id, desc->summary);
                for (const stn_plugin_info *h = NULL; (h = next_hidden(found, &found->plugins[i], h)) != NULL;) {
                    printf(" (hides that of %s)", h->file);
                }
                putchar('\n');
            }
        }
        print_problems(found);
    }
    for (int32_t i = 0; i < found->count; i++) {
        if (id != NULL && is_named(&found->plugins[i], id)) {
            print_plugin(found, &found->plugins[i]);
        }
    }
    return fflush(stdout) == 0 ? STN_EXIT_DONE : STN_EXIT_BAD_INPUT;
}

/// The plugins of one shared object, at most one a kind.
static int show_file(const cli_command *command, stn_context *context, const char *path, bool json) {
    stn_error err = {STN_OK, ""};
    stn_plugin_info infos[STN_KIND_COUNT];
    listing found = {.plugins = infos};
    for (int kind = 0; kind < STN_KIND_COUNT; kind++) {
        const stn_plugin_info *info = NULL;
        stn_status status = stn_plugin_load(context, (stn_kind)kind, path, &err);
        if (status == STN_OK) {
            status = stn_plugin_find(context, (stn_kind)kind, path, &info, &err);
        }
        if (status == STN_OK) {
            infos[found.count++] = *info;
        }
    }
    if (found.count == 0) {
        return cli_fail_status(command, &err);
    }
    if (json) {
        return print_json(&found, NULL);
    }
    for (int32_t i = 0; i < found.count; i++) {
        print_plugin(&found, &infos[i]);
    }
    return fflush(stdout) == 0 ? STN_EXIT_DONE : STN_EXIT_BAD_INPUT;
}

static int run_plugins(void *self, const stn_command_call *call) {
    (void)self;
    cli_json_begin();
    bool json = false;
    const cli_option options[] = {
        {"json", 0, CLI_FLAG, NULL, "everything, as JSON on stdout", &json},
    };
    const cli_command command = {
        "plugins", "[ID|KIND|KIND/ID|PATH]", "Lists the plugins; with ID: what can be set, and where it comes from.",
        options,   STN_COUNT(options),       0,
        1};
    cli_list words;
    int status = cli_parse(&command, call->argc, call->argv, &words);
    if (status != CLI_PROCEED) {
        return status;
    }
    const char *id = words.count > 0 ? words.items[0] : NULL;
    cli_list_clear(&words);
    if (id != NULL && strchr(id, '/') != NULL && cli_kind_before_slash(id) == STN_KIND_COUNT) {
        return show_file(&command, call->context, id, json);
    }
    stn_error err = {STN_OK, ""};
    listing found = {0};
    if (stn_plugins(call->context, &found.plugins, &found.count, &found.problems, &found.problem_count, &err) < 0 ||
        stn_plugins_hidden(call->context, &found.hidden, &found.hidden_count, &err) < 0) {
        return cli_fail_status(&command, &err);
    }
    return show(&command, &found, id, json);
}

CLI_WORD(plugins, "lists the plugins, with parameters, units and defaults", run_plugins)
