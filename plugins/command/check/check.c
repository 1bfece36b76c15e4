// SPDX-License-Identifier: Apache-2.0
// stiction check MODEL: what the loader found in a robot file, and what rules find in the robot, in the order of the
// lines.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <stiction/input.h>

#include "check.h"
#include "common/print.h"
#include "common/terminal.h"

/// What was asked for.
typedef struct request {
    const char *path;
    cli_list only, ignored, packages;
    bool json, list;
} request;

static bool holds(const cli_list *list, const char *name) {
    for (int32_t i = 0; i < list->count; i++) {
        if (strcmp(list->items[i], name) == 0) {
            return true;
        }
    }
    return false;
}

/// Words of --rule and --ignore may be codes of loaders, which are not known here; only likely typing errors are
/// refused.
static int check_names(const cli_command *command, const char *option, const cli_list *names) {
    for (int32_t i = 0; i < names->count; i++) {
        const char *known[64];
        int32_t count = 0;
        bool there = false;
        for (int32_t r = 0; r < check_rule_count; r++) {
            there = there || strcmp(check_rules[r].name, names->items[i]) == 0;
            if (count < STN_COUNT(known)) {
                known[count++] = check_rules[r].name;
            }
        }
        const char *near = there ? NULL : stn_suggest(names->items[i], known, count);
        if (near != NULL) {
            return cli_fail(command, "--%s %s: there is no such rule; did you mean %s?", option, names->items[i], near);
        }
    }
    return STN_EXIT_DONE;
}

// -------------------------------------------------------------------------------------------------------- findings

/// Those of the loader and of the rules that were asked for, by line; borrowed.
typedef struct findings {
    const stn_diagnostic **items;
    int32_t count, of[STN_SEVERITY_ERROR + 1];
    int32_t unlisted; // errors and warnings that were counted and not kept
} findings;

static int compare_lines(const void *a, const void *b) {
    const stn_diagnostic *const *x = a, *const *y = b;
    if ((*x)->line != (*y)->line) {
        return (*x)->line < (*y)->line ? -1 : 1;
    }
    if ((*x)->severity != (*y)->severity) {
        return (*x)->severity > (*y)->severity ? -1 : 1;
    }
    int by_element = strcmp((*x)->where, (*y)->where);
    return by_element != 0 ? by_element : strcmp((*x)->text, (*y)->text);
}

static void take(findings *f, const request *asked, const stn_diagnostics *list) {
    bool all = asked->only.count == 0 && asked->ignored.count == 0; // the rule of what was not kept is not known
    f->unlisted += list->error_count + (all ? list->warning_count : 0);
    for (int32_t i = 0; i < list->count; i++) {
        stn_severity severity = list->items[i].severity;
        f->unlisted -= severity == STN_SEVERITY_ERROR || (all && severity == STN_SEVERITY_WARNING);
        const char *rule = list->items[i].code;
        bool chosen = asked->only.count == 0 || holds(&asked->only, rule);
        // errors are always told: a file with an error is none that works
        if (severity == STN_SEVERITY_ERROR || (chosen && !holds(&asked->ignored, rule))) {
            f->items[f->count++] = &list->items[i];
            f->of[severity]++;
        }
    }
}

static bool print_json(const request *asked, const findings *f) {
    static const char *const names[] = {"notes", "warnings", "errors"};
    cJSON *json = cJSON_CreateObject();
    cli_json_add_text(json, "file", asked->path);
    for (int32_t severity = STN_SEVERITY_ERROR; severity >= STN_SEVERITY_NOTE; severity--) {
        cJSON *list = cJSON_AddArrayToObject(json, names[severity]);
        for (int32_t i = 0; i < f->count; i++) {
            const stn_diagnostic *d = f->items[i];
            if ((int32_t)d->severity == severity) {
                cJSON *item = cJSON_CreateObject();
                cJSON_AddItemToObject(item, "line", d->line > 0 ? cJSON_CreateNumber(d->line) : cJSON_CreateNull());
                cli_json_add_text(item, "where", d->where);
                cli_json_add_text(item, "text", d->text);
                cli_json_add_text(item, "rule", d->code);
                cli_json_add_text(item, "file", d->file);
                cJSON_AddItemToArray(list, item);
            }
        }
    }
    return cli_json_print(json, true);
}

/// "robot.urdf:5: warning: link b: text [rule]", as compilers write.
static void print_text(const request *asked, const findings *f) {
    for (int32_t i = 0; i < f->count; i++) {
        const stn_diagnostic *d = f->items[i];
        cli_print_message(d->file);
        if (d->line > 0) {
            fprintf(stderr, ":%d", (int)d->line);
        }
        fprintf(stderr, ": %s: ", cli_severity_name(d->severity));
        cli_print_message(d->where);
        fputs(d->where[0] != '\0' ? ": " : "", stderr);
        cli_print_message(d->text);
        fprintf(stderr, " [%s]\n", d->code);
    }
    const int32_t *n = f->of;
    if (f->count == 1 && n[STN_SEVERITY_ERROR] == 1) {
        return; // one clear line
    }
    cli_print_message(asked->path);
    fprintf(stderr, ": %d error%s, %d warning%s, %d note%s", (int)n[2], n[2] == 1 ? "" : "s", (int)n[1],
            n[1] == 1 ? "" : "s", (int)n[0], n[0] == 1 ? "" : "s");
    if (f->unlisted > 0) {
        fprintf(stderr, "; %d more errors and warnings are not listed", (int)f->unlisted);
    }
    fputc('\n', stderr);
}

// --------------------------------------------------------------------------------------------------------- command

static int run(const cli_command *command, const request *asked) {
    stn_error error = {STN_OK, ""};
    cli_robot robot;
    check c = {.packages = asked->packages.items, .repeats = asked->only.count > 0};
    findings found = {0};
    cli_robot_options options = {.visual_meshes = true, .packages = asked->packages.items};
    stn_status status = cli_robot_load(&robot, asked->path, &options, &error);
    if (status != STN_OK && robot.context != NULL && status != STN_ERR_MEMORY) {
        // A file that is not a robot's, or missing, is an error like those inside of a file.
        if (robot.diagnostics.error_count == 0) {
            size_t length = strlen(robot.path); // "path: text" names the file once
            bool named = strncmp(error.text, robot.path, length) == 0 && strncmp(error.text + length, ": ", 2) == 0;
            stn_diagnostics_add(&robot.diagnostics, STN_SEVERITY_ERROR, "file", robot.path, 0, "", "%s",
                                error.text + (named ? length + 2 : 0));
        }
        status = STN_OK;
    } else if (status == STN_OK) {
        status = check_prepare(&c, &robot, &error);
        for (int32_t i = 0; i < check_rule_count && status == STN_OK; i++) {
            bool chosen = asked->only.count == 0 || holds(&asked->only, check_rules[i].name);
            if (chosen && !holds(&asked->ignored, check_rules[i].name)) {
                check_run(&c, &check_rules[i]);
            }
            status = c.out_of_memory ? stn_fail(&error, STN_ERR_MEMORY, "%s: out of memory", robot.path) : STN_OK;
        }
    }
    if (status == STN_OK) {
        size_t most = (size_t)robot.diagnostics.count + (size_t)c.findings.count;
        found.items = stn_allocate(robot.context, most, sizeof *found.items);
        if (found.items == NULL) {
            status = stn_fail(&error, STN_ERR_MEMORY, "%s: out of memory", asked->path);
        } else {
            take(&found, asked, &robot.diagnostics);
            take(&found, asked, &c.findings);
            qsort(found.items, (size_t)found.count, sizeof *found.items, compare_lines);
        }
    }
    int result = found.of[STN_SEVERITY_ERROR] > 0 ? STN_EXIT_BAD_INPUT : STN_EXIT_DONE;
    if (status != STN_OK) {
        result = cli_fail_status(command, &error);
    } else if (asked->json) {
        result = print_json(asked, &found) ? result : STN_EXIT_BAD_INPUT;
    } else {
        print_text(asked, &found);
    }
    if (robot.context != NULL) {
        stn_release(robot.context, found.items);
        check_clear(&c);
    }
    cli_robot_clear(&robot);
    return result;
}

static int run_check(void *self, const stn_command_call *call) {
    (void)self;
    cli_json_begin();
    request asked = {0};
    cli_list words = {0};
    const cli_option options[] = {
        {"json", 0, CLI_FLAG, NULL, "findings as JSON on stdout", &asked.json},
        {"rule", 0, CLI_TEXTS, "NAME", "errors, and this rule alone", &asked.only},
        {"ignore", 0, CLI_TEXTS, "NAME", "not this rule", &asked.ignored},
        {"package", 0, CLI_TEXTS, "DIR", "folder to look for package:// and model:// names", &asked.packages},
        {"list", 0, CLI_FLAG, NULL, "the rules, and nothing else", &asked.list},
    };
    const cli_command command = {
        "check",
        "MODEL",
        "Looks for mistakes in a robot file. Exit status 2 with errors, 0 with warnings or notes.",
        options,
        STN_COUNT(options),
        0,
        1};
    int status = cli_parse(&command, call->argc, call->argv, &words);
    if (status != CLI_PROCEED) {
        return status;
    }
    char path[STN_INPUT_PATH];
    asked.path = words.count > 0 ? stn_find_shipped(words.items[0], path) : NULL;
    if (asked.list) {
        bool json = asked.json; // rows of the documentation
        cJSON *list = json ? cJSON_CreateArray() : NULL;
        for (int32_t i = 0; i < check_rule_count; i++) {
            const check_rule *rule = &check_rules[i];
            if (!json) {
                printf("%-20s %-8s %s\n", rule->name, cli_severity_name(rule->severity), rule->text);
                continue;
            }
            cJSON *item = cJSON_CreateObject();
            cli_json_add_text(item, "name", rule->name);
            cli_json_add_text(item, "severity", cli_severity_name(rule->severity));
            cli_json_add_text(item, "text", rule->text);
            cJSON_AddItemToArray(list, item);
        }
        status = !json || cli_json_print(list, true) ? STN_EXIT_DONE : STN_EXIT_BAD_INPUT;
    } else if (asked.path == NULL) {
        status = cli_fail(&command, "needs MODEL; see stiction check --help");
    } else {
        status = check_names(&command, "rule", &asked.only);
        if (status == STN_EXIT_DONE) {
            status = check_names(&command, "ignore", &asked.ignored);
        }
        if (status == STN_EXIT_DONE) {
            status = run(&command, &asked);
        }
    }
    cli_list_clear(&asked.only);
    cli_list_clear(&asked.ignored);
    cli_list_clear(&asked.packages);
    cli_list_clear(&words);
    return status;
}

CLI_WORD(check, "looks for mistakes in a robot file", run_check)
