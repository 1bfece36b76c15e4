// SPDX-License-Identifier: Apache-2.0
#include "common/solve_problem.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// --------------------------------------------------------------------------------------------------------- settings

static stn_setting *append(cli_settings *settings) {
    return settings->count < CLI_MOST_SETTINGS ? &settings->items[settings->count++] : NULL;
}

int cli_settings_add(const cli_command *command, cli_settings *lists, int32_t list_count, const char *text) {
    char name[CLI_SETTING_NAME];
    stn_setting setting;
    if (!cli_setting(text, name, sizeof name, &setting)) {
        return cli_fail(command, "--set %s: expected solver.NAME=VALUE or law.NAME=VALUE", text);
    }
    for (int32_t p = 0; p < list_count; p++) {
        size_t length = strlen(lists[p].prefix);
        if (strncmp(name, lists[p].prefix, length) != 0 || name[length] != '.') {
            continue;
        }
        char *own = lists[p].names[lists[p].count];
        stn_setting *to = append(&lists[p]);
        if (to == NULL) {
            return cli_fail(command, "--set %s: more than %d settings", text, CLI_MOST_SETTINGS);
        }
        snprintf(own, CLI_SETTING_NAME, "%s", name + length + 1);
        *to = setting;
        to->name = own;
        return CLI_PROCEED;
    }
    return cli_fail(command, "--set %s: expected solver.NAME=VALUE or law.NAME=VALUE", text);
}

bool cli_settings_number(cli_settings *settings, const char *name, const char *where, double value) {
    stn_setting *to = append(settings);
    if (to != NULL) {
        *to = (stn_setting){.name = name, .form = STN_SETTING_NUMBER, .number = value, .where = where};
    }
    return to != NULL;
}

bool cli_settings_text(cli_settings *settings, const char *name, const char *where, const char *value) {
    stn_setting *to = append(settings);
    if (to != NULL) {
        *to = (stn_setting){.name = name, .form = STN_SETTING_TEXT, .text = value, .where = where};
    }
    return to != NULL;
}

// ----------------------------------------------------------------------------------------------------------- solver

static const char *const usual_law = "sap"; // of a command line that names none

/// A law only where the solver takes one or the user names one.
stn_status cli_solver_init(cli_solver *s, stn_context *context, const cli_solver_choice *choice, stn_error *err) {
    const cli_settings *own = &choice->settings[0], *of_law = &choice->settings[1], *of_factor = &choice->settings[2];
    *s = (cli_solver){.context = context};
    // The command line may name files of plugins; what it solves may not.
    stn_status status = stn_plugin_load(context, STN_KIND_SOLVER, choice->solver, err);
    if (status == STN_OK && choice->law != NULL) {
        status = stn_plugin_load(context, STN_KIND_LAW, choice->law, err);
    }
    if (status == STN_OK && choice->factor != NULL) {
        status = stn_plugin_load(context, STN_KIND_FACTOR, choice->factor, err);
    }
    if (status == STN_OK) {
        status = stn_instance_create(context, STN_KIND_SOLVER, choice->solver, own->items, own->count, &s->solver, err);
    }
    if (status != STN_OK) {
        return status;
    }
    const stn_solver_ops *ops = s->solver->desc->ops.solver;
    bool needs_law = stn_solver_needs_law(ops), optional = stn_solver_may_have_law(ops);
    bool none = optional && choice->law != NULL && strcmp(choice->law, "none") == 0;
    if (!needs_law && !optional && (choice->law != NULL || of_law->count > 0)) {
        return stn_fail(err, STN_ERR_PARAMETER,
                        "solver %s takes no contact law, so --law and --set law.%s mean "
                        "nothing",
                        choice->solver, of_law->count > 0 ? of_law->items[0].name : "NAME");
    }
    if (needs_law || (optional && !none)) {
        const char *law = choice->law != NULL ? choice->law : usual_law;
        status = stn_instance_create(context, STN_KIND_LAW, law, of_law->items, of_law->count, &s->law, err);
    }
    if (status == STN_OK && choice->factor != NULL) {
        status = stn_instance_create(context, STN_KIND_FACTOR, choice->factor, of_factor->items, of_factor->count,
                                     &s->factor, err);
    } else if (status == STN_OK && of_factor->count > 0) {
        status = stn_fail(err, STN_ERR_PARAMETER, "--set factor.%s needs --factor ID", of_factor->items[0].name);
    }
    if (status == STN_OK && choice->threads != 1) {
        status = stn_threads_create(context, choice->threads, &s->threads, err);
    }
    if (status != STN_OK) {
        return status;
    }
    stn_problem_solver_options options = {s->solver, s->law, s->factor, s->threads};
    return stn_problem_solver_create(context, &options, &s->problem_solver, err);
}

void cli_solver_clear(cli_solver *s) {
    stn_problem_solver_destroy(s->problem_solver);
    stn_instance_destroy(s->solver);
    stn_instance_destroy(s->law);
    stn_instance_destroy(s->factor);
    stn_threads_destroy(s->threads);
    *s = (cli_solver){0};
}

// ---------------------------------------------------------------------------------------------------------- problem

stn_status cli_problem_load(cli_problem *p, stn_context *context, const char *path, stn_error *err) {
    *p = (cli_problem){.context = context};
    stn_status status = stn_problem_load(context, path, &p->owner, err);
    if (status != STN_OK) {
        return status;
    }
    p->problem = *stn_problem_of(p->owner);
    for (int32_t i = 0; i < p->problem.constraint_count; i++) {
        p->problem.constraints[i].memory = i; // slots of the zeroed memories
    }
    return STN_OK;
}

static void *allocate(cli_problem *p, size_t count, size_t size, stn_status *status, stn_error *err) {
    void *memory = *status == STN_OK ? stn_allocate(p->context, count, size) : NULL;
    if (memory == NULL && *status == STN_OK) {
        *status = stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    return memory;
}

stn_status cli_problem_make_room(cli_problem *p, const cli_solver *solver, stn_error *err) {
    stn_status status = STN_OK;
    size_t count = (size_t)p->problem.constraint_count;
    size_t law_bytes = solver->law != NULL ? (size_t)solver->law->desc->memory_per_constraint : 0;
    size_t solver_bytes = (size_t)solver->solver->desc->memory_per_constraint;
    p->solution.v = allocate(p, (size_t)p->problem.nv, sizeof(double), &status, err);
    p->solution.gamma = allocate(p, (size_t)p->problem.row_count, sizeof(double), &status, err);
    p->law_memory = allocate(p, count, law_bytes, &status, err);
    p->solver_memory = allocate(p, count, solver_bytes, &status, err);
    return status;
}

void cli_problem_prefer(cli_problem *p, const cli_settings *law, char *told, size_t size) {
    const struct {
        const char *name;
        double *stated;
    } members[] = {{"beta", &p->problem.beta},
                   {"sigma", &p->problem.sigma},
                   {"stiction_tolerance", &p->problem.stiction_tolerance}};
    size_t used = 0;
    for (int32_t i = 0; i < law->count * STN_COUNT(members); i++) {
        const char *name = law->items[i / STN_COUNT(members)].name;
        double *stated = members[i % STN_COUNT(members)].stated;
        if (strcmp(name, members[i % STN_COUNT(members)].name) != 0 || isnan(*stated)) {
            continue;
        }
        if (told != NULL && used < size) {
            used += (size_t)snprintf(told + used, size - used, "%s%s = %g of the file is not used: law.%s was set",
                                     used > 0 ? "; " : "", name, *stated, name);
        }
        *stated = (double)NAN;
    }
}

void cli_problem_clear(cli_problem *p) {
    if (p->context != NULL) {
        stn_release(p->context, p->solution.v);
        stn_release(p->context, p->solution.gamma);
        stn_release(p->context, p->law_memory);
        stn_release(p->context, p->solver_memory);
        stn_problem_destroy(p->owner);
    }
    *p = (cli_problem){0};
}

int32_t cli_problem_contacts(const cli_problem *p) {
    int32_t count = 0;
    for (int32_t i = 0; i < p->problem.constraint_count; i++) {
        count += p->problem.constraints[i].kind == STN_CONSTRAINT_CONTACT;
    }
    return count;
}

// ----------------------------------------------------------------------------------------------------------- result

const char *cli_solve_word(stn_status status) {
    return status < 0 ? "failed" : (status == STN_OK ? "converged" : "not_converged");
}

void cli_certificate_unknown(stn_certificate *certificate) {
#define UNKNOWN(member, name, unit, text) certificate->member = (double)NAN;
    STN_CERTIFICATE_FIELDS(UNKNOWN)
#undef UNKNOWN
}
