// SPDX-License-Identifier: Apache-2.0
// Which solvers, with which settings:  ID[:NAME=VALUE]...[,ID...]  where the names law and factor choose those plugins.
#include <stdlib.h>
#include <string.h>

#include "compare.h"

/// "NAME=VALUE" cut into both. False without a name.
static bool cut(char *text, char **value) {
    char *equals = strchr(text, '=');
    if (equals == NULL || equals == text) {
        return false;
    }
    *equals = '\0';
    *value = equals + 1;
    return true;
}

// --------------------------------------------------------------------------------------------------------- settings

/// Makes a solver ready. What it is told goes from the general to the particular: --tolerance and --max-iterations,
/// --set, whose texts are borrowed from the list `sets`, and the settings behind its name.
static int set_up(const comparison *c, compare_solver *s, char *const *sets) {
    const compare_options *o = &c->options;
    stn_error err = {0};
    const stn_plugin_info *info = NULL;
    char *own = strchr(s->words, ':');
    if (own != NULL) {
        *own++ = '\0';
    }
    s->choice = (cli_solver_choice){.solver = s->words, .threads = 1, .settings = s->settings};
    if (stn_plugin_load(c->context, STN_KIND_SOLVER, s->words, &err) != STN_OK ||
        stn_plugin_find(c->context, STN_KIND_SOLVER, s->words, &info, &err) != STN_OK) {
        return cli_fail(c->command, "--solvers: %s", err.text);
    }
    const stn_solver_ops *ops = info->desc->ops.solver;
    bool takes_law = stn_solver_takes_law(ops), none = o->law != NULL && strcmp(o->law, "none") == 0;
    s->choice.law = takes_law && !(stn_solver_needs_law(ops) && none) ? o->law : NULL;
    bool room = cli_settings_number(&s->settings[0], "tolerance", "--tolerance", o->tolerance);
    if (o->max_iterations != CLI_UNSET) {
        room = room && cli_settings_number(&s->settings[0], "max_iterations", "--max-iterations", o->max_iterations);
    }
    for (int32_t i = 0; i < o->set.count && room; i++) {
        const char *owner = sets[i], *name = owner + strlen(owner) + 1, *value = name + strlen(name) + 1;
        if (strcmp(owner, "solver") == 0 || strcmp(owner, s->choice.solver) == 0) {
            room = cli_settings_text(&s->settings[0], name, "--set", value);
        } else if (strcmp(owner, "law") == 0 && takes_law) {
            room = cli_settings_text(&s->settings[1], name, "--set", value);
        }
    }
    if (!room) {
        return cli_fail(c->command, "more than %d settings", CLI_MOST_SETTINGS);
    }
    char *rest = NULL;
    for (char *item = own != NULL ? strtok_r(own, ":", &rest) : NULL; item != NULL; item = strtok_r(NULL, ":", &rest)) {
        char *value = NULL;
        if (!cut(item, &value)) {
            return cli_fail(c->command, "--solvers %s: expected ID:NAME=VALUE at \"%s\"", s->label, item);
        }
        if (strcmp(item, "law") == 0) {
            s->choice.law = value;
        } else if (strcmp(item, "factor") == 0) {
            s->choice.factor = value;
        } else if (!cli_settings_text(&s->settings[0], item, s->label, value)) {
            return cli_fail(c->command, "--solvers %s: more than %d settings", s->label, CLI_MOST_SETTINGS);
        }
    }
    if (cli_solver_init(&s->solver, c->context, &s->choice, &err) != STN_OK) {
        return cli_fail(c->command, "%s", err.text);
    }
    s->formulation = stn_solver_formulation(s->solver.solver);
    return CLI_PROCEED;
}

// ------------------------------------------------------------------------------------------------------------- list

static bool append(comparison *c, const char *label, size_t length) {
    compare_solver *grown = realloc(c->solvers, (size_t)(c->solver_count + 1) * sizeof *grown);
    if (grown == NULL) {
        return false;
    }
    c->solvers = grown;
    compare_solver *s = &grown[c->solver_count++];
    *s = (compare_solver){.label = strndup(label, length), .words = strndup(label, length)};
    return s->label != NULL && s->words != NULL;
}

/// "OWNER.NAME=VALUE" as three texts behind each other. The owner must be one of the solvers that are compared.
static int read_set(const comparison *c, const char *text, char **out) {
    *out = strdup(text);
    char *dot = *out != NULL ? strchr(*out, '.') : NULL, *value = NULL;
    if (*out == NULL) {
        return cli_fail(c->command, "out of memory");
    }
    if (dot == NULL || dot == *out || memchr(*out, '=', (size_t)(dot - *out)) != NULL || !cut(dot + 1, &value)) {
        return cli_fail(c->command, "--set %s: expected SOLVER.NAME=VALUE, solver.NAME=VALUE or law.NAME=VALUE", text);
    }
    *dot = '\0';
    bool known = strcmp(*out, "solver") == 0 || strcmp(*out, "law") == 0;
    for (int32_t i = 0; i < c->solver_count && !known; i++) {
        const char *words = c->solvers[i].words;
        size_t length = strcspn(words, ":");
        known = strncmp(*out, words, length) == 0 && (*out)[length] == '\0';
    }
    return known ? CLI_PROCEED
                 : cli_fail(c->command, "--set %s: %s is none of the solvers that are compared", text, *out);
}

int compare_choose_solvers(comparison *c) {
    stn_error err = {0};
    const compare_options *o = &c->options;
    bool room = true;
    if (o->solvers != NULL) {
        const char *at = o->solvers;
        for (size_t length = strcspn(at, ","); room; at += length + 1, length = strcspn(at, ",")) {
            room = append(c, at, length);
            if (at[length] == '\0') {
                break;
            }
        }
    } else { // all that are installed
        const stn_plugin_info *plugins = NULL;
        int32_t count = 0;
        room = stn_plugins_of_kind(c->context, STN_KIND_SOLVER, &plugins, &count, &err) == STN_OK;
        for (int32_t i = 0; i < count && room; i++) {
            room = append(c, plugins[i].desc->id, strlen(plugins[i].desc->id));
        }
    }
    if (!room) {
        return cli_fail(c->command, "%s", err.text[0] != '\0' ? err.text : "out of memory");
    }
    for (int32_t i = 0; i < c->solver_count; i++) {
        if (c->solvers[i].label[0] == '\0') {
            return cli_fail(c->command, "--solvers %s: a name is missing", o->solvers);
        }
        for (int32_t k = 0; k < i; k++) {
            if (strcmp(c->solvers[i].label, c->solvers[k].label) == 0) {
                return cli_fail(c->command, "--solvers: %s is named twice", c->solvers[i].label);
            }
        }
    }
    if (c->solver_count == 0) {
        return cli_fail(c->command, "no solver is installed");
    }
    char **sets = calloc((size_t)o->set.count + 1, sizeof *sets);
    if (sets == NULL) {
        return cli_fail(c->command, "out of memory");
    }
    int status = CLI_PROCEED;
    for (int32_t i = 0; i < o->set.count && status == CLI_PROCEED; i++) {
        status = read_set(c, o->set.items[i], &sets[i]);
    }
    for (int32_t i = 0; i < c->solver_count && status == CLI_PROCEED; i++) {
        status = set_up(c, &c->solvers[i], sets);
    }
    for (int32_t i = 0; i < o->set.count; i++) {
        free(sets[i]); // instances have their own copies
    }
    free(sets);
    return status;
}

void compare_clear_solvers(comparison *c) {
    for (int32_t i = 0; i < c->solver_count; i++) {
        cli_solver_clear(&c->solvers[i].solver);
        free((void *)(uintptr_t)c->solvers[i].label);
        free(c->solvers[i].words);
    }
    free(c->solvers);
}

// -------------------------------------------------------------------------------------------------------- judged by

const char *compare_measure(stn_formulation formulation) {
    switch (formulation) {
    case STN_REGULARIZED:
        return "momentum";
    case STN_CCP:
        return "natural_ccp_scaled";
    default:
        return "natural_scaled";
    }
}

double compare_residual(stn_formulation formulation, const stn_certificate *certificate) {
    switch (formulation) {
    case STN_REGULARIZED:
        return certificate->momentum;
    case STN_CCP:
        return certificate->natural_ccp_scaled;
    default:
        return certificate->natural_scaled;
    }
}

bool compare_is_coulomb(stn_formulation formulation) {
    return formulation == STN_NCP;
}
