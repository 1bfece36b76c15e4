// SPDX-License-Identifier: Apache-2.0
// stiction validate PLUGIN: the conformance battery of the plugin's kind, one line a check.
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <stiction/plugin.h>

#include "common/options.h"
#include "common/print.h"
#include "common/progress.h"
#include "common/terminal.h"
#include "guard.h"
#include "validate.h"

enum { MOST_SETTINGS = 64, NAME_SIZE = 64, ADVICE_SIZE = 512, MOST_PLUGINS = STN_KIND_COUNT };

typedef struct validate_options {
    const char *law, *pattern, *save;
    int32_t seed;
    double timeout;
    cli_list set;
    bool full, json, guard;
} validate_options;

static const char default_law[] = "sap";

/// Counts of all batteries that were run, and the JSON that grows.
typedef struct tally {
    int32_t passed, failed, skipped;
    cJSON *checks;         // NULL: lines are printed
    cli_progress progress; // as every check begins with it: its process draws the line
} tally;

static const char *const words_of_verdict[] = {"ok", "FAILED", "skip"};

/// What the author of a plugin that failed should do; `text` is scratch of `size` bytes.
static const char *advice_of(const validate_check *check, const validate_result *result, char *text, size_t size) {
    switch (result->cause) {
    case VALIDATE_CLAIM:
        break;
    case VALIDATE_UNSOLVED:
        snprintf(text, size, "if other checks do not converge either, begin with 'closed forms'; else: %s",
                 check->advice);
        return text;
    case VALIDATE_PRINTED:
        return "never print: what a user must know is the text of an error, or goes through stn_log";
    case VALIDATE_SHARED:
        return "calls on other workers and other contexts share static data (nm -n tells its name): keep things in the "
               "instance, the workspace, the memory that the core gives, or the arena";
    case VALIDATE_GUARDED:
        return "the sizes of what a function gets and fills stand at its declaration in the header of its kind; what a "
               "plugin changes of the process, it changes for all others";
    case VALIDATE_BROKEN:
        return "a debugger shows where, with the plugin by its id, in STICTION_PLUGIN_PATH: gdb -ex 'set "
               "follow-fork-mode "
               "child' --args stiction validate ID -k CHECK; after a crash look first for pointers that may be NULL "
               "(of a "
               "solver: what `needs` does not ask for)";
    }
    return check->advice;
}

static void show_progress(void *user, const char *check, int32_t done, int32_t count) {
    cli_progress_count(user, done, count, check);
}

static void report_check(void *user, const validate_check *check, const validate_result *result) {
    tally *t = user;
    char scratch[ADVICE_SIZE];
    t->progress.visible = cli_stderr_redraws();
    cli_progress_end(&t->progress);
    bool failed = result->verdict == VALIDATE_FAILED;
    t->passed += result->verdict == VALIDATE_OK;
    t->failed += failed;
    t->skipped += result->verdict == VALIDATE_SKIPPED;
    if (t->checks == NULL) {
        printf("%-6s %s: %s (%.0f ms)\n", words_of_verdict[result->verdict], check->name, result->text,
               1e3 * result->seconds);
        if (failed) {
            printf("       what to do: %s\n", advice_of(check, result, scratch, sizeof scratch));
        }
        fflush(stdout);
        return;
    }
    cJSON *json = cJSON_CreateObject();
    cli_json_add_text(json, "name", check->name);
    cli_json_add_text(json, "status", failed ? "failed" : words_of_verdict[result->verdict]);
    cli_json_add_text(json, "text", result->text);
    cli_json_add_text(json, "advice", failed ? advice_of(check, result, scratch, sizeof scratch) : NULL);
    cli_json_add_real(json, "wall_s", result->seconds);
    cJSON_AddItemToArray(t->checks, json);
}

// ------------------------------------------------------------------------------------------------------------ plugins

/// No kind has this id.
static stn_status refuse_id(stn_context *context, const char *id, stn_error *err) {
    enum { MOST_NAMES = 256 };
    const stn_plugin_info *plugins = NULL;
    const char *names[MOST_NAMES];
    int32_t count = 0;
    stn_status status = stn_plugins(context, &plugins, &count, NULL, NULL, err);
    if (status != STN_OK) {
        return status;
    }
    count = count < MOST_NAMES ? count : MOST_NAMES;
    for (int32_t i = 0; i < count; i++) {
        names[i] = plugins[i].desc->id;
    }
    const char *near = stn_suggest(id, names, count);
    return stn_fail(err, STN_ERR_PLUGIN, "unknown plugin %s;%s%s%s see stiction plugins", id,
                    near != NULL ? " did you mean " : "", near != NULL ? near : "", near != NULL ? "?" : "");
}

/// ID (of every kind that has it), KIND/ID or the path of a shared object (one a kind); `chosen_by`: what finds them
/// again.
static stn_status find_plugins(stn_context *context, const char *word, stn_plugin_info *found, int32_t *count,
                               const char **chosen_by, stn_error *err) {
    bool slash = strchr(word, '/') != NULL;
    stn_kind only = slash ? cli_kind_before_slash(word) : STN_KIND_COUNT;
    const char *id = only < STN_KIND_COUNT ? strchr(word, '/') + 1 : word;
    stn_status status = STN_OK;
    *chosen_by = id;
    *count = 0;
    for (int kind = 0; kind < STN_KIND_COUNT; kind++) {
        const stn_plugin_info *info = NULL;
        if (only < STN_KIND_COUNT && kind != (int)only) {
            continue;
        }
        stn_status one = stn_plugin_load(context, (stn_kind)kind, id, err);
        one = one == STN_OK ? stn_plugin_find(context, (stn_kind)kind, id, &info, err) : one;
        if (one == STN_OK) {
            found[(*count)++] = *info;
        } else {
            status = one;
        }
    }
    if (*count == 0 && !slash) {
        return refuse_id(context, word, err);
    }
    return *count > 0 ? STN_OK : status;
}

// ---------------------------------------------------------------------------------------------------------------- run

typedef struct run {
    const cli_command *command;
    const validate_options *options;
    stn_context *context;
    guard *guard; // NULL: none
    stn_setting settings[MOST_SETTINGS];
    char names[MOST_SETTINGS][NAME_SIZE];
    int32_t setting_count;
} run;

static int collect_settings(run *r) {
    for (int32_t i = 0; i < r->options->set.count; i++) {
        const char *text = r->options->set.items[i];
        if (r->setting_count == MOST_SETTINGS) {
            return cli_fail(r->command, "--set %s: more than %d settings", text, MOST_SETTINGS);
        }
        if (!cli_setting(text, r->names[i], NAME_SIZE, &r->settings[i])) {
            return cli_fail(r->command, "--set %s: expected NAME=VALUE", text);
        }
        r->setting_count++;
    }
    return CLI_PROCEED;
}

static int check_options(const run *r) {
    const validate_options *o = r->options;
    struct stat what;
    if (!(o->timeout > 0.0)) {
        return cli_fail(r->command, "--timeout %g: must be > 0 s", o->timeout);
    }
    if (o->save != NULL && (stat(o->save, &what) != 0 || !S_ISDIR(what.st_mode))) {
        return cli_fail(r->command, "--save %s: no such folder", o->save);
    }
    return CLI_PROCEED;
}

/// Settings that the plugin does not take are said once, not by every check.
static stn_status try_settings(const run *r, const stn_plugin_info *info, stn_error *err) {
    const stn_plugin_info *law_info = NULL;
    stn_status status = stn_plugin_load(r->context, STN_KIND_LAW, r->options->law, err);
    status = status == STN_OK ? stn_plugin_find(r->context, STN_KIND_LAW, r->options->law, &law_info, err) : status;
    void *config = NULL;
    const stn_param *common = NULL;
    int32_t common_count = 0;
    size_t common_size = 0;
    stn_kind_params(info->desc->kind, &common, &common_count, &common_size);
    for (int32_t i = 0; i < r->setting_count && status == STN_OK; i++) {
        bool shared = false;
        for (int32_t k = 0; k < common_count; k++) {
            shared = shared || strcmp(common[k].name, r->settings[i].name) == 0;
        }
        if (shared) {
            return stn_fail(err, STN_ERR_PARAMETER, "--set %s: the battery sets it itself", r->settings[i].name);
        }
    }
    if (status == STN_OK && r->setting_count > 0) {
        status = stn_config_create(r->context, info->desc->id, info->desc->params, info->desc->param_count,
                                   info->desc->config_size, r->settings, r->setting_count, &config, err);
        stn_config_destroy(r->context, info->desc->params, info->desc->param_count, config);
    }
    return status;
}

static bool has_check(const validate_battery *battery, const char *pattern) {
    for (int32_t i = 0; i < battery->count; i++) {
        if (pattern == NULL || strstr(battery->checks[i].name, pattern) != NULL) {
            return true;
        }
    }
    return false;
}

static double timeout_of(const validate_options *o) {
    return !isinf(o->timeout) ? o->timeout : (o->full ? 1800.0 : 120.0);
}

static stn_status validate_plugin(const run *r, const stn_plugin_info *info, const char *chosen_by,
                                  const validate_battery *battery, tally *t, stn_error *err) {
    const validate_options *o = r->options;
    validate_request request = {.context = r->context,
                                .plugin = info,
                                .id = chosen_by,
                                .settings = r->settings,
                                .setting_count = r->setting_count,
                                .law = o->law,
                                .other_law = strcmp(o->law, default_law) != 0,
                                .seed = (uint64_t)o->seed,
                                .full = o->full,
                                .limit_s = timeout_of(o),
                                .pattern = o->pattern,
                                .guard = r->guard,
                                .save = o->save,
                                .progress = show_progress,
                                .progress_user = &t->progress};
    stn_status status = try_settings(r, info, err);
    if (status == STN_OK && has_check(battery, o->pattern) && t->checks == NULL) {
        printf("%s %s %s, from %s\n", stn_kind_name(info->desc->kind), info->desc->id, info->desc->version, info->file);
    }
    return status == STN_OK ? validate_run(battery, &request, report_check, t, err) : status;
}

static int finish(const run *r, const char *word, tally *t) {
    int status = t->failed > 0 ? STN_EXIT_CHECK_FAILED : STN_EXIT_DONE;
    if (t->checks != NULL) {
        cJSON *json = cJSON_CreateObject();
        cli_json_add_text(json, "plugin", word);
        cJSON_AddNumberToObject(json, "seed", r->options->seed);
        cJSON_AddItemToObject(json, "checks", t->checks);
        cJSON_AddNumberToObject(json, "passed", t->passed);
        cJSON_AddNumberToObject(json, "failed", t->failed);
        cJSON_AddNumberToObject(json, "skipped", t->skipped);
        return cli_json_print(json, true) ? status : STN_EXIT_BAD_INPUT;
    }
    printf("%d passed, %d failed", t->passed, t->failed);
    if (t->skipped > 0) {
        printf(", %d skipped", t->skipped);
    }
    putchar('\n');
    return fflush(stdout) == 0 ? status : STN_EXIT_BAD_INPUT;
}

static int validate(run *r, const char *word) {
    stn_error err = {STN_OK, ""};
    stn_plugin_info found[MOST_PLUGINS];
    const char *chosen_by = word;
    int32_t count = 0;
    stn_status status = STN_OK;
    if (strchr(word, '/') != NULL && cli_kind_before_slash(word) == STN_KIND_COUNT) {
        status = validate_loading(r->context, word, timeout_of(r->options), &err);
    }
    status = status == STN_OK ? find_plugins(r->context, word, found, &count, &chosen_by, &err) : status;
    tally t = {.checks = r->options->json ? cJSON_CreateArray() : NULL};
    for (int32_t i = 0; i < count && status == STN_OK; i++) {
        const validate_battery *battery = validate_battery_of(found[i].desc->kind);
        status = battery != NULL ? validate_plugin(r, &found[i], chosen_by, battery, &t, &err)
                                 : stn_fail(&err, STN_ERR_UNSUPPORTED, "%s: the kind %s has no battery", word,
                                            stn_kind_name(found[i].desc->kind));
    }
    if (status != STN_OK) {
        cJSON_Delete(t.checks);
        return cli_fail_status(r->command, &err);
    }
    if (t.passed + t.failed + t.skipped == 0) {
        cJSON_Delete(t.checks);
        return cli_fail(r->command, "-k %s: no check has this in its name", r->options->pattern);
    }
    return finish(r, word, &t);
}

static int run_validate(void *self, const stn_command_call *call) {
    (void)self;
    cli_json_begin();
    validate_options o = {.law = default_law, .seed = 1, .timeout = (double)INFINITY};
    const cli_option options[] = {
        {"full", 0, CLI_FLAG, NULL, "ten times as many problems and more", &o.full},
        {"pattern", 'k', CLI_TEXT, "TEXT", "only checks whose name contains it", &o.pattern},
        {"seed", 0, CLI_INT, "N", "of everything random; default 1", &o.seed},
        {"law", 0, CLI_TEXT, "ID", "the contact law of a convex solver; default sap", &o.law},
        {"set", 0, CLI_TEXTS, "NAME=VALUE", "a parameter of the plugin", &o.set},
        {"guard", 0, CLI_FLAG, NULL,
         "red zones round memory, malloc and files counted, the state of the process watched; slower", &o.guard},
        {"timeout", 0, CLI_REAL, "SECONDS", "seconds after which a check counts as hanging; 120, with --full 1800",
         &o.timeout},
        {"save", 0, CLI_TEXT, "DIR",
         "writes problems at which checks failed into a folder that is there, for stiction solve", &o.save},
        {"json", 0, CLI_FLAG, NULL, "the results as JSON on stdout", &o.json},
    };
    const cli_command command = {
        "validate", "ID|KIND/ID|PATH",  "Runs the conformance battery of a plugin's kind. Exit 1: a check failed.",
        options,    STN_COUNT(options), 1,
        1};
    cli_list words;
    int status = cli_parse(&command, call->argc, call->argv, &words);
    if (status != CLI_PROCEED) {
        return status;
    }
    run r = {.command = &command, .options = &o, .context = call->context};
    if (o.guard) {
        stn_error err = {STN_OK, ""};
        r.guard = guard_create();
        const stn_context_options watched = guard_context_options(r.guard);
        if (r.guard == NULL || stn_context_create(&watched, &r.context, &err) != STN_OK) {
            guard_destroy(r.guard);
            return cli_fail(&command, "--guard: out of memory");
        }
    }
    status = collect_settings(&r);
    status = status == CLI_PROCEED ? check_options(&r) : status;
    status = status == CLI_PROCEED ? validate(&r, words.items[0]) : status;
    if (r.guard != NULL) {
        stn_context_destroy(r.context);
        guard_destroy(r.guard);
    }
    cli_list_clear(&o.set);
    cli_list_clear(&words);
    return status;
}

CLI_WORD(validate, "runs the conformance battery of a plugin", run_validate)
