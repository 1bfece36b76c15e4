// SPDX-License-Identifier: Apache-2.0
// What the command line says: values of parameters, plugins and their settings, options of worlds.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/host.h"

// ---------------------------------------------------------------------------------------------------------- overrides

stn_status stn_session_set(stn_session *session, const char *assignment, stn_error *err) {
    stn_context *context = session->host.context;
    const char *equals = strchr(assignment, '=');
    if (equals == NULL || equals == assignment) {
        return stn_fail(err, STN_ERR_ARGUMENT, "--set %s: write name=value", assignment);
    }
    size_t count = (size_t)session->override_count;
    stn_override *grown = stn_reallocate(context, session->overrides, count, count + 1, sizeof *grown);
    if (grown == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "--set: out of memory");
    }
    session->overrides = grown;
    size_t length = (size_t)(equals - assignment);
    char *name = stn_allocate(context, length + 1, 1);
    if (name == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "--set: out of memory");
    }
    memcpy(name, assignment, length);
    grown[count] = (stn_override){.name = name, .text = equals + 1};
    session->override_count++;
    return STN_OK;
}

static int compare_names(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

stn_status stn_session_check_overrides(stn_session *session, stn_error *err) {
    for (int32_t i = 0; i < session->override_count && !session->overrides_shared; i++) {
        if (!session->overrides[i].used) {
            const char *name = session->overrides[i].name;
            char known[512] = "";
            const char *names[64] = {NULL};
            int32_t count = 0;
            for (int32_t p = 0; p < session->parameter_count && count < STN_COUNT(names); p++) {
                names[count++] = session->parameters[p].name;
            }
            qsort(names, (size_t)count, sizeof *names, compare_names); // languages declare them in any order
            for (int32_t p = 0; p < count; p++) {
                size_t used = strlen(known);
                snprintf(known + used, sizeof known - used, "%s%s", used > 0 ? ", " : "", names[p]);
            }
            static const char *const options[] = {"dt",         "threads", "seed",   "solver",  "law",
                                                  "integrator", "contact", "factor", "stiction"};
            bool of_worlds = false; // the command has an option of this name, whatever the script declares
            for (int32_t k = 0; k < STN_COUNT(options); k++) {
                of_worlds = of_worlds || strcmp(name, options[k]) == 0;
            }
            if (of_worlds) {
                return stn_fail(err, STN_ERR_PARAMETER,
                                "--set %s: the script declares no such parameter; --%s sets it for every world", name,
                                name);
            }
            const char *near = stn_suggest(name, names, count);
            if (near != NULL) {
                return stn_fail(err, STN_ERR_PARAMETER,
                                "--set %s: the script declares no such parameter, did you mean '%s'?", name, near);
            }
            return stn_fail(err, STN_ERR_PARAMETER,
                            "--set %s: the script declares no such parameter before its first world; it declares: %s",
                            name, count > 0 ? known : "none");
        }
    }
    return STN_OK;
}

// --------------------------------------------------------------------------------------------------------- parameters

/// The command line's text for a parameter: --set, otherwise --dt, --seconds, --seed, --solver, ... of that name.
static const char *override_text(stn_session *session, const char *name, char *text, size_t size) {
    const stn_script_host *host = &session->host;
    const char *found = NULL;
    for (int32_t i = 0; i < session->override_count; i++) {
        if (strcmp(session->overrides[i].name, name) == 0) {
            session->overrides[i].used = true;
            found = session->overrides[i].text; // the last one counts
        }
    }
    if (found != NULL) {
        return found;
    }
    for (stn_kind kind = 0; kind < STN_KIND_COUNT; kind++) {
        if (session->plugin[kind] != NULL && strcmp(stn_kind_name(kind), name) == 0) {
            return session->plugin[kind];
        }
    }
    if (strcmp(name, "dt") == 0 && !isnan(host->dt)) {
        snprintf(text, size, "%.17g", host->dt);
    } else if (strcmp(name, "seconds") == 0 && !isnan(host->seconds)) {
        snprintf(text, size, "%.17g", host->seconds);
    } else if (strcmp(name, "seed") == 0 && host->seed >= 0) {
        snprintf(text, size, "%lld", (long long)host->seed);
    } else if (strcmp(name, "threads") == 0 && host->threads > 0) {
        snprintf(text, size, "%d", host->threads);
    } else {
        return NULL;
    }
    return text;
}

/// Replaces the default by `text`, which must be of its type.
static stn_status take_text(stn_script_parameter *p, const char *text, stn_error *err) {
    switch (p->type) {
    case STN_SCRIPT_NUMBER:
        if (strcmp(text, "inf") == 0) {
            p->number = INFINITY;
        } else if (!stn_parse_real(text, &p->number)) {
            return stn_fail(err, STN_ERR_ARGUMENT, "--set %s=%s: must be a number", p->name, text);
        }
        return STN_OK;
    case STN_SCRIPT_BOOL:
        if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0) {
            return stn_fail(err, STN_ERR_ARGUMENT, "--set %s=%s: must be true or false", p->name, text);
        }
        p->number = strcmp(text, "true") == 0;
        return STN_OK;
    default:
        p->text = text;
        return STN_OK;
    }
}

static bool keep_text(stn_context *context, char **to, const char *text) {
    char *copy = stn_duplicate_text(context, text);
    if (copy != NULL) {
        stn_release(context, *to);
        *to = copy;
    }
    return copy != NULL;
}

/// The entry of that name, new where there is none; NULL: out of memory.
static stn_parameter *find_parameter(stn_session *session, const char *name) {
    for (int32_t i = 0; i < session->parameter_count; i++) {
        if (strcmp(session->parameters[i].name, name) == 0) {
            return &session->parameters[i];
        }
    }
    size_t count = (size_t)session->parameter_count;
    stn_parameter *grown = stn_reallocate(session->host.context, session->parameters, count, count + 1, sizeof *grown);
    if (grown == NULL) {
        return NULL;
    }
    session->parameters = grown;
    grown[count] = (stn_parameter){0};
    if (!keep_text(session->host.context, &grown[count].name, name)) {
        return NULL;
    }
    session->parameter_count++;
    return &grown[count];
}

stn_status stn_host_parameter(stn_script_host *host, stn_script_parameter *parameter, stn_error *err) {
    stn_session *session = session_of(host);
    stn_script_parameter p = *parameter;
    bool texts = p.type == STN_SCRIPT_TEXT || p.type == STN_SCRIPT_CHOICE;
    if (p.name == NULL || p.name[0] == '\0') {
        return stn_fail(err, STN_ERR_ARGUMENT, "a parameter needs a name");
    }
    if ((uint32_t)p.type > STN_SCRIPT_CHOICE || (texts && p.text == NULL)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "parameter %s needs a default", p.name);
    }
    char number[40], bounds[80], known[512] = "";
    const char *given = override_text(session, p.name, number, sizeof number);
    stn_status status = given != NULL ? take_text(&p, given, err) : STN_OK;
    if (status != STN_OK) {
        return status;
    }
    if (!texts && isnan(p.number)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "parameter %s is not a number (nan)", p.name);
    }
    if (!texts && p.bounded && !(p.number >= p.min && p.number <= p.max)) {
        const char *gap = p.unit != NULL ? " " : "", *unit = p.unit != NULL ? p.unit : "";
        if (isinf(p.max)) {
            snprintf(bounds, sizeof bounds, ">= %g", p.min);
        } else if (isinf(p.min)) {
            snprintf(bounds, sizeof bounds, "<= %g", p.max);
        } else {
            snprintf(bounds, sizeof bounds, "%g to %g", p.min, p.max);
        }
        return stn_fail(err, STN_ERR_ARGUMENT, "parameter %s = %g%s%s must be %s%s%s", p.name, p.number, gap, unit,
                        bounds, gap, unit);
    }
    bool offered = p.type != STN_SCRIPT_CHOICE;
    for (int32_t i = 0; i < p.choice_count && !offered; i++) {
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", used > 0 ? ", " : "", p.choices[i]);
        offered = strcmp(p.choices[i], p.text) == 0;
    }
    if (!offered) {
        return stn_fail(err, STN_ERR_ARGUMENT, "parameter %s = \"%s\" must be one of: %s", p.name, p.text, known);
    }
    // The summary needs the value too; the text that the script gets is the session's.
    stn_parameter *noted = find_parameter(session, p.name);
    if (noted == NULL || (texts && !keep_text(session->host.context, &noted->text, p.text))) {
        return stn_fail(err, STN_ERR_MEMORY, "parameter %s: out of memory", p.name);
    }
    noted->type = p.type;
    noted->number = p.number;
    p.text = texts ? noted->text : p.text;
    *parameter = p;
    return STN_OK;
}

// ------------------------------------------------------------------------------------------------- plugins, options

void stn_session_drop_choices(stn_session *session) {
    for (stn_kind kind = 0; kind < STN_KIND_COUNT; kind++) {
        stn_release(session->host.context, session->chosen[kind]);
        session->chosen[kind] = NULL;
    }
}

/// Is it an override of a setting of that kind, "solver.tolerance"? Then what stands behind the point.
static const char *setting_name(const stn_override *override, const char *kind) {
    size_t length = strlen(kind);
    bool named = strncmp(override->name, kind, length) == 0 && override->name[length] == '.';
    return named ? override->name + length + 1 : NULL;
}

/// Do all plugins of the kind have it?
static bool is_shared(stn_kind kind, const char *setting) {
    const stn_param *params = NULL;
    int32_t count = 0;
    size_t size = 0;
    stn_kind_params(kind, &params, &count, &size);
    for (int32_t p = 0; p < count; p++) {
        if (strcmp(params[p].name, setting) == 0) {
            return true;
        }
    }
    return false;
}

/// Another plugin than the script's keeps the settings that all plugins of the kind share.
static stn_status choose(stn_session *session, stn_kind kind, stn_plugin_choice *choice, stn_error *err) {
    const char *word = stn_kind_name(kind), *id = session->plugin[kind];
    bool replaced = id != NULL && !(choice->id != NULL && strcmp(choice->id, id) == 0);
    int32_t added = 0, count = 0;
    for (int32_t i = 0; i < session->override_count; i++) {
        added += setting_name(&session->overrides[i], word) != NULL;
    }
    if (added > 0 || replaced) {
        size_t room = (size_t)(choice->setting_count + added + 1);
        stn_setting *settings = stn_allocate(session->host.context, room, sizeof *settings);
        if (settings == NULL) {
            return stn_fail(err, STN_ERR_MEMORY, "%s: out of memory", word);
        }
        for (int32_t i = 0; i < choice->setting_count; i++) {
            if (!replaced || is_shared(kind, choice->settings[i].name)) {
                settings[count++] = choice->settings[i];
            }
        }
        for (int32_t i = 0; i < session->override_count; i++) {
            stn_override *o = &session->overrides[i];
            const char *name = setting_name(o, word);
            if (name != NULL) {
                settings[count++] =
                    (stn_setting){.name = name, .form = STN_SETTING_TEXT, .text = o->text, .where = "--set"};
                o->used = true;
            }
        }
        choice->id = id != NULL ? id : choice->id;
        choice->settings = settings;
        choice->setting_count = count;
        stn_release(session->host.context, session->chosen[kind]); // which the choice may have been
        session->chosen[kind] = settings;
    }
    return id != NULL ? stn_plugin_load(session->host.context, kind, id, err) : STN_OK;
}

stn_status stn_host_choose(stn_script_host *host, const char *kind, stn_plugin_choice *choice, stn_error *err) {
    for (stn_kind k = 0; k < STN_KIND_COUNT && kind != NULL; k++) {
        if (strcmp(stn_kind_name(k), kind) == 0) {
            return choose(session_of(host), k, choice, err);
        }
    }
    return stn_fail(err, STN_ERR_ARGUMENT, "'%s' is no kind of plugin", kind != NULL ? kind : "");
}

stn_status stn_host_options(stn_script_host *host, stn_world_options *options, stn_error *err) {
    stn_session *session = session_of(host);
    struct {
        stn_kind kind;
        stn_plugin_choice *choice;
    } choices[] = {{STN_KIND_SOLVER, &options->solver},
                   {STN_KIND_LAW, &options->law},
                   {STN_KIND_CONTACT, &options->contact},
                   {STN_KIND_INTEGRATOR, &options->integrator},
                   {STN_KIND_FACTOR, &options->factor}};
    options->stiction = options->stiction || host->stiction;
    options->profile = host->profile;
    options->dt = isnan(host->dt) ? options->dt : host->dt;
    options->threads = host->threads > 0 ? host->threads : options->threads;
    options->seed = host->seed >= 0 ? (uint64_t)host->seed : options->seed;
    stn_status status = STN_OK;
    for (int32_t i = 0; i < STN_COUNT(choices) && status == STN_OK; i++) {
        status = choose(session, choices[i].kind, choices[i].choice, err);
    }
    return status == STN_OK ? stn_session_check_overrides(session, err) : status;
}
