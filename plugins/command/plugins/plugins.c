// SPDX-License-Identifier: Apache-2.0
// stiction plugins [ID]: what is installed, and what can be set.
#include <math.h>
#include <stdio.h>
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
} listing;

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

static void add_default(cJSON *json, const stn_param *param) {
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
}

static void add_param(const stn_param *param, void *user) {
    cJSON *json = cJSON_CreateObject();
    bool ranged = param->type == STN_PARAM_TYPE_REAL || param->type == STN_PARAM_TYPE_INT;
    cli_json_add_text(json, "name", param->name);
    cli_json_add_text(json, "type", type_name(param->type));
    cli_json_add_text(json, "unit", param->unit);
    add_default(json, param);
    cli_json_add_real(json, "min", ranged ? param->minimum : (double)NAN);
    cli_json_add_real(json, "max", ranged ? param->maximum : (double)NAN);
    cli_json_add_texts(json, "choices", param->choices);
    cli_json_add_text(json, "text", param->summary);
    cJSON_AddItemToArray(user, json);
}

static cJSON *plugin_json(const stn_plugin_info *info) {
    static const char *const none[] = {NULL};
    const stn_plugin_desc *desc = info->desc;
    cJSON *json = cJSON_CreateObject();
    cli_json_add_text(json, "kind", stn_kind_name(desc->kind));
    cli_json_add_text(json, "id", desc->id);
    cli_json_add_text(json, "version", desc->version);
    cli_json_add_text(json, "summary", desc->summary);
    cli_json_add_text(json, "reference", desc->reference);
    if (desc->kind == STN_KIND_SOLVER) {
        cli_json_add_text(json, "formulation", stn_formulation_name(desc->ops.solver->formulation));
    }
    cli_json_add_text(json, "file", info->file);
    cli_json_add_texts(json, "capabilities", desc->capabilities != NULL ? desc->capabilities : none);
    visit_params(desc, add_param, cJSON_AddArrayToObject(json, "parameters"));
    return json;
}

static int print_json(const listing *found, const char *id) {
    cJSON *json = cJSON_CreateObject();
    cJSON *plugins = cJSON_AddArrayToObject(json, "plugins");
    for (int32_t i = 0; i < found->count; i++) {
        if (is_wanted(&found->plugins[i], id)) {
            cJSON_AddItemToArray(plugins, plugin_json(&found->plugins[i]));
        }
    }
    cJSON *problems = cJSON_AddArrayToObject(json, "problems");
    for (int32_t i = 0; i < found->problem_count; i++) {
        cJSON_AddItemToArray(problems, cJSON_CreateString(found->problems[i]));
    }
    return cli_json_print(json, true) ? STN_EXIT_DONE : STN_EXIT_BAD_INPUT;
}

/// "0 to 1", ">= 0", "manifold | spheres26".
static void print_range(const stn_param *param) {
    char low[40], high[40];
    if (param->type == STN_PARAM_TYPE_CHOICE) {
        for (int32_t i = 0; param->choices[i] != NULL; i++) {
            printf("%s%s", i == 0 ? ", " : " | ", param->choices[i]);
        }
    }
    if (param->type != STN_PARAM_TYPE_REAL && param->type != STN_PARAM_TYPE_INT) {
        return;
    }
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
    print_range(param);
    printf(")\n      %s\n", param->summary);
}

static void print_plugin(const stn_plugin_info *info) {
    const stn_plugin_desc *desc = info->desc;
    printf("%s %s %s\n  %s\n", stn_kind_name(desc->kind), desc->id, desc->version, desc->summary);
    if (desc->reference != NULL) {
        printf("  reference: %s\n", desc->reference);
    }
    if (desc->capabilities != NULL && desc->capabilities[0] != NULL) {
        printf("  capabilities:");
        for (int32_t i = 0; desc->capabilities[i] != NULL; i++) {
            printf(" %s", desc->capabilities[i]);
        }
        putchar('\n');
    }
    if (desc->kind == STN_KIND_SOLVER) {
        printf("  formulation: %s\n", stn_formulation_name(desc->ops.solver->formulation));
    }
    printf("  file: %s\n", info->file);
    visit_params(desc, print_param, NULL);
}

static void print_table(const listing *found, const char *id) {
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
            printf("%-*s  %-*s  %s\n", kinds, stn_kind_name(desc->kind), widest, desc->id, desc->summary);
        }
    }
}

/// Files and folders that were refused.
static void print_problems(const listing *found) {
    for (int32_t i = 0; i < found->problem_count; i++) {
        fprintf(stderr, "warning: %s\n", found->problems[i]);
    }
}

static int print_people(const listing *found, const char *id, bool is_kind) {
    if (id == NULL || is_kind) {
        print_table(found, id);
        print_problems(found);
    }
    for (int32_t i = 0; i < found->count; i++) {
        if (id != NULL && is_named(&found->plugins[i], id)) {
            print_plugin(&found->plugins[i]);
        }
    }
    return fflush(stdout) == 0 ? STN_EXIT_DONE : STN_EXIT_BAD_INPUT;
}

static bool names_a_kind(const char *id) {
    for (int kind = 0; id != NULL && kind < STN_KIND_COUNT; kind++) {
        if (strcmp(stn_kind_name((stn_kind)kind), id) == 0) {
            return true;
        }
    }
    return false;
}

static int unknown(const cli_command *command, const listing *found, const char *id) {
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
    return cli_fail(command, "unknown plugin %s;%s%s%s see stiction plugins", id, near != NULL ? " did you mean " : "",
                    near != NULL ? near : "", near != NULL ? "?" : "");
}

static int show(const cli_command *command, const listing *found, const char *id, bool json) {
    bool is_kind = names_a_kind(id), any = id == NULL || is_kind;
    for (int32_t i = 0; i < found->count; i++) {
        any = any || is_wanted(&found->plugins[i], id);
    }
    if (!any) {
        return unknown(command, found, id);
    }
    return json ? print_json(found, id) : print_people(found, id, is_kind);
}

/// The plugins of one shared object, at most one a kind, into `place`.
static stn_status read_file(stn_context *context, const char *path, stn_plugin_info place[STN_KIND_COUNT],
                            listing *found, stn_error *err) {
    stn_status status = STN_OK;
    found->plugins = place;
    for (int kind = 0; kind < STN_KIND_COUNT; kind++) {
        const stn_plugin_info *info = NULL;
        stn_status one = stn_plugin_load(context, (stn_kind)kind, path, err);
        one = one == STN_OK ? stn_plugin_find(context, (stn_kind)kind, path, &info, err) : one;
        if (one == STN_OK) {
            place[found->count++] = *info;
        } else {
            status = one;
        }
    }
    return found->count > 0 ? STN_OK : status;
}

static int show_file(const listing *found, bool json) {
    if (json) {
        return print_json(found, NULL);
    }
    for (int32_t i = 0; i < found->count; i++) {
        print_plugin(&found->plugins[i]);
    }
    return fflush(stdout) == 0 ? STN_EXIT_DONE : STN_EXIT_BAD_INPUT;
}

static int answer(const cli_command *command, stn_context *context, const char *id, bool json) {
    stn_error error = {STN_OK, ""};
    listing found = {0};
    stn_plugin_info place[STN_KIND_COUNT];
    bool is_path = id != NULL && strchr(id, '/') != NULL && cli_kind_before_slash(id) == STN_KIND_COUNT;
    stn_status status =
        is_path ? read_file(context, id, place, &found, &error)
                : stn_plugins(context, &found.plugins, &found.count, &found.problems, &found.problem_count, &error);
    if (status != STN_OK) {
        return cli_fail_status(command, &error);
    }
    return is_path ? show_file(&found, json) : show(command, &found, id, json);
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
    status = answer(&command, call->context, words.count > 0 ? words.items[0] : NULL, json);
    cli_list_clear(&words);
    return status;
}

CLI_WORD(plugins, "lists the plugins, with parameters, units and defaults", run_plugins)
