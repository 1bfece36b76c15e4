// SPDX-License-Identifier: Apache-2.0
// stiction solve PROBLEM: one saved contact problem through one solver, and the certificate of the result.
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <stiction/output.h>

#include "common/apart.h"
#include "common/options.h"
#include "common/print.h"
#include "common/solve_problem.h"
#include "single_contacts.h"

typedef struct solve_options {
    const char *solver, *law, *factor, *local, *out;
    double tolerance;
    int32_t max_iterations, threads;
    cli_list set;
    bool json, full;
    bool singles; // the problem is a CSV of single contacts
} solve_options;

/// Everything that one run of the command holds.
typedef struct solve_run {
    const cli_command *command;
    const solve_options *options;
    const char *path;
    stn_context *context;
    cli_solver solver;
    cli_problem problem;
    stn_solve_report report;
    stn_certificate certificate;
    double phase_us[STN_PHASE_COUNT];
    stn_error error;
    char note[2048]; // what reading the problem warned of, and why a solver came no further
} solve_run;

/// Adds a sentence to the note.
static void note(solve_run *run, const char *text) {
    size_t used = strlen(run->note);
    snprintf(run->note + used, sizeof run->note - used, "%s%s", used > 0 ? "; " : "", text);
}

/// Warnings about the problem belong to its result, which names the file already.
static void log_message(void *user, stn_log_level level, const char *text) {
    solve_run *run = user;
    size_t path = strlen(run->path);
    bool named = strncmp(text, run->path, path) == 0 && strncmp(text + path, ": ", 2) == 0;
    if (level == STN_LOG_WARNING) {
        note(run, named ? text + path + 2 : text);
    } else if (level == STN_LOG_ERROR) {
        fprintf(stderr, "error: %s\n", text);
    }
}

static int collect_settings(const cli_command *command, const solve_options *o, cli_settings plugins[3]) {
    int status = CLI_PROCEED;
    for (int32_t i = 0; i < o->set.count && status == CLI_PROCEED; i++) {
        status = cli_settings_add(command, plugins, 3, o->set.items[i]);
    }
    if (status != CLI_PROCEED) {
        return status;
    }
    bool room = o->local == NULL || cli_settings_text(&plugins[0], "local", "--local", o->local);
    if (!isnan(o->tolerance) && !o->singles) {
        room = room && cli_settings_number(&plugins[0], "tolerance", "--tolerance", o->tolerance);
    }
    if (o->max_iterations != CLI_UNSET) {
        room = room && cli_settings_number(&plugins[0], "max_iterations", "--max-iterations", o->max_iterations);
    }
    return room ? CLI_PROCEED : cli_fail(command, "more than %d settings", CLI_MOST_SETTINGS);
}

// ------------------------------------------------------------------------------------------------------------ output

static cJSON *result_json(const solve_run *run, stn_status status, bool full) {
    const stn_solve_report *r = &run->report;
    cJSON *json = cJSON_CreateObject();
    cli_json_add_text(json, "problem", run->path);
    cJSON_AddNumberToObject(json, "nv", run->problem.problem.nv);
    cJSON_AddNumberToObject(json, "contacts", cli_problem_contacts(&run->problem));
    cJSON_AddNumberToObject(json, "constraints", run->problem.problem.constraint_count);
    cli_json_add_text(json, "solver", run->solver.solver->desc->id);
    cli_json_add_text(json, "law", run->solver.law != NULL ? run->solver.law->desc->id : NULL);
    cli_json_add_text(json, "formulation", stn_formulation_name(stn_solver_formulation(run->solver.solver)));
    cli_json_add_text(json, "status", cli_solve_word(status));
    cli_json_add_text(json, "reason", status < 0 ? run->error.text : r->reason);
    cJSON_AddBoolToObject(json, "stalled", status == STN_STALLED);
    char contradiction[256];
    stn_contradiction_text(&r->contradiction, contradiction, sizeof contradiction);
    cli_json_add_text(json, "contradiction", contradiction[0] != '\0' ? contradiction : NULL);
    cli_json_add_text(json, "note", run->note[0] != '\0' ? run->note : NULL);
    cJSON_AddNumberToObject(json, "iterations", r->iterations);
    cJSON_AddNumberToObject(json, "fallbacks", r->fallbacks);
    cJSON_AddNumberToObject(json, "islands", r->island_count);
    cli_json_add_real(json, "time_ms", 1e-3 * (r->prepare_us + r->solve_us));
    cli_json_add_real(json, "solve_ms", 1e-3 * r->solve_us);
    cli_json_add_real(json, "delassus_ms", 1e-3 * run->phase_us[STN_PHASE_DELASSUS]);
    cli_json_add_real(json, "cost", r->cost);
    cJSON *certificate = cJSON_AddObjectToObject(json, "certificate");
#define ADD_FIELD(member, name, unit, text) cli_json_add_real(certificate, name, run->certificate.member);
    STN_CERTIFICATE_FIELDS(ADD_FIELD)
#undef ADD_FIELD
    if (full && status >= 0) {
        cli_json_add_reals(json, "v", run->problem.solution.v, run->problem.problem.nv);
        cli_json_add_reals(json, "gamma", run->problem.solution.gamma, run->problem.problem.row_count);
    }
    return json;
}

static void print_table(const solve_run *run, stn_status status) {
    const stn_solve_report *r = &run->report;
    printf("%-18s %s\n", "problem", run->path);
    printf("%-18s nv %d, contacts %d, constraints %d, islands %d\n", "size", run->problem.problem.nv,
           cli_problem_contacts(&run->problem), run->problem.problem.constraint_count, r->island_count);
    printf("%-18s %s%s%s (%s)\n", "solver", run->solver.solver->desc->id, run->solver.law != NULL ? ", law " : "",
           run->solver.law != NULL ? run->solver.law->desc->id : "",
           stn_formulation_name(stn_solver_formulation(run->solver.solver)));
    printf("%-18s %s", "status", cli_solve_word(status));
    if (status < 0) {
        printf("\n");
        return;
    }
    printf(" (%s), %d iterations, %.3g ms\n", r->reason, r->iterations, 1e-3 * (r->prepare_us + r->solve_us));
    if (!isnan(r->cost)) {
        printf("%-18s %.10g J\n", "cost", r->cost);
    }
    if (run->note[0] != '\0') {
        printf("%-18s %s\n", "note", run->note);
    }
#define PRINT_FIELD(member, name, unit, text)                                                            \
    if (!isnan(run->certificate.member)) {                                                               \
        printf("%-18s %.3g%s\n", name, run->certificate.member, strcmp(unit, "1") == 0 ? "" : " " unit); \
    }
    STN_CERTIFICATE_FIELDS(PRINT_FIELD)
#undef PRINT_FIELD
}

/// Everything that was found out, and the exit status.
static int show(solve_run *run, stn_status status) {
    const solve_options *o = run->options;
    if (status < 0) {
        cli_fail_status(run->command, &run->error);
    }
    if (o->json) {
        if (!cli_json_print(result_json(run, status, o->full), !o->full)) {
            return STN_EXIT_BAD_INPUT;
        }
    } else {
        print_table(run, status);
        if (fflush(stdout) != 0) {
            return STN_EXIT_BAD_INPUT;
        }
    }
    if (o->out != NULL && cli_ends_with(o->out, ".json")) {
        cJSON *json = result_json(run, status, true);
        char *text = cJSON_Print(json);
        cJSON_Delete(json);
        size_t length = strlen(text);
        text[length] = '\n'; // in place of the end, which is not written
        stn_error err = {STN_OK, ""};
        stn_status written = stn_output_write(o->out, text, length + 1, &err);
        cJSON_free(text);
        if (written != STN_OK) {
            return cli_fail_status(run->command, &err);
        }
    } else if (o->out != NULL && status >= 0) { // impulses and contact velocities for FCLIB's tools
        stn_status saved = stn_solution_save(run->context, &run->problem.problem, run->problem.solution.v,
                                             run->problem.solution.gamma, o->out, &run->error);
        if (saved != STN_OK) {
            return cli_fail_status(run->command, &run->error);
        }
    }
    return status == STN_OK ? STN_EXIT_DONE : STN_EXIT_SOLVER_FAILED;
}

static int solve(solve_run *run, const cli_settings plugins[3]) {
    const solve_options *o = run->options;
    const cli_solver_choice choice = {o->solver, o->law, o->factor, o->threads, plugins};
    cli_problem *p = &run->problem;
    const stn_context_options heard = {.log = log_message, .log_user = run};
    stn_status status = stn_context_create(&heard, &run->context, &run->error);
    if (status == STN_OK) {
        status = cli_solver_init(&run->solver, run->context, &choice, &run->error);
    }
    if (status == STN_OK && cli_problem_load(p, run->context, run->path, &run->error) != STN_OK) {
        return cli_fail(run->command, "%s", run->error.text); // whatever its status: the file is bad, no solver failed
    }
    if (status == STN_OK) {
        char told[256] = "";
        cli_problem_prefer(p, &plugins[1], told, sizeof told); // what the user sets of the law, not what the file says
        if (told[0] != '\0') {
            note(run, told);
        }
        status = cli_problem_make_room(p, &run->solver, &run->error);
    }
    stn_problem_solver *solver = run->solver.problem_solver;
    if (status == STN_OK) {
        status = stn_problem_solver_accepts(solver, &p->problem, &run->error);
    }
    if (status != STN_OK) {
        return cli_fail_status(run->command, &run->error);
    }
    stn_solve_request request = {
        .law_memory = p->law_memory,
        .solver_memory = p->solver_memory,
        .certificate_flags = STN_CERTIFICATE_SCALED,
        .phase_us = run->phase_us,
    };
    run->report.cost = (double)NAN;
    run->report.reason = "";
    cli_certificate_unknown(&run->certificate);
    status =
        stn_problem_solve(solver, &p->problem, &request, &p->solution, &run->report, &run->certificate, &run->error);
    // formulations that have no residual of their own in the certificate
    static const char *const others[] = {[STN_LCP] = "friction on a pyramid (lcp)",
                                         [STN_QP] = "linearised friction (qp)",
                                         [STN_MDP] = "maximal dissipation (mdp)"};
    stn_formulation formulation = stn_solver_formulation(run->solver.solver);
    const char *model = (int32_t)formulation < STN_COUNT(others) ? others[formulation] : NULL;
    char text[160];
    if (status >= STN_OK && model != NULL) {
        // Coulomb's law has the only residual in the table
        snprintf(text, sizeof text, "the status is that of %s; natural_ncp is how far this is from Coulomb's law",
                 model);
        note(run, text);
    }
    if (stn_plugin_says(run->solver.solver, "approximate")) {
        note(run, "approximate: the solver does not iterate to a solution, the residuals say how far off it is");
    }
    if (run->report.fallbacks > 0) {
        snprintf(text, sizeof text, "the solver took up another method %d times for want of progress",
                 run->report.fallbacks);
        note(run, text);
    }
    if (run->report.contradiction.islands > 0) {
        char said[256], all[300];
        stn_contradiction_text(&run->report.contradiction, said, sizeof said);
        snprintf(all, sizeof all, "the solver %s", said);
        note(run, all);
    }
    if (status == STN_STALLED) {
        note(run, p->problem.general_W ? "stalled: the residual falls no further, which is W's asymmetry or round-off"
                                       : "stalled: the residual falls no further than round-off");
    }
    if (status > STN_OK && p->problem.form == STN_FORM_GLOBAL && p->problem.row_count > p->problem.nv) {
        snprintf(text, sizeof text, "W has %d rows and rank %d at most: impulses are not unique", p->problem.row_count,
                 p->problem.nv);
        note(run, text);
    }
    return show(run, status);
}

/// What a CSV of single contacts leaves without meaning, and a precision that is none.
static int refuse_for_singles(const cli_command *command, const solve_options *o, const cli_settings plugins[3]) {
    const struct {
        const char *option;
        bool given;
    } others[] = {
        {"--law", o->law != NULL},
        {"--factor", o->factor != NULL},
        {"--max-iterations", o->max_iterations != CLI_UNSET},
        {"--threads", o->threads != 1},
        {"--full", o->full},
        {"--out", o->out != NULL},
        {"--set law.NAME", plugins[1].count > 0},
        {"--set factor.NAME", plugins[2].count > 0},
    };
    for (int32_t i = 0; i < STN_COUNT(others); i++) {
        if (others[i].given) {
            return cli_fail(command, "%s means nothing for a CSV of single contacts", others[i].option);
        }
    }
    for (int32_t i = 0; i < plugins[0].count; i++) {
        const char *name = plugins[0].items[i].name;
        if (strcmp(name, "local") != 0) {
            return cli_fail(command, "--set solver.%s means nothing for a CSV of single contacts%s", name,
                            strcmp(name, "tolerance") == 0 ? ": use --tolerance" : "");
        }
    }
    if (!isnan(o->tolerance) && !(o->tolerance > 0.0 && isfinite(o->tolerance))) {
        return cli_fail(command, "--tolerance %g: must be > 0 and finite", o->tolerance);
    }
    return CLI_PROCEED;
}

/// A CSV of single contacts, by the solver's own solution of one.
static int solve_singles(solve_run *run, const cli_settings plugins[3]) {
    stn_status status = stn_context_create(NULL, &run->context, &run->error);
    if (status == STN_OK) {
        status = stn_plugin_load(run->context, STN_KIND_SOLVER, run->options->solver, &run->error);
    }
    if (status == STN_OK) {
        status = stn_instance_create(run->context, STN_KIND_SOLVER, run->options->solver, plugins[0].items,
                                     plugins[0].count, &run->solver.solver, &run->error);
    }
    if (status == STN_OK) {
        const double precision = isnan(run->options->tolerance) ? 1e-10 : run->options->tolerance;
        status = single_contacts_solve(run->context, run->path, run->solver.solver, precision, &run->error);
    }
    return status == STN_OK ? STN_EXIT_DONE : cli_fail_status(run->command, &run->error);
}

static int run_solve(void *self, const stn_command_call *call) {
    (void)self;
    cli_json_begin();
    solve_options o = {.tolerance = (double)NAN, .max_iterations = CLI_UNSET, .threads = 1};
    const cli_option options[] = {
        {"solver", 0, CLI_TEXT, "ID", "the solver; default sap, with --local bisection", &o.solver},
        {"law", 0, CLI_TEXT, "ID",
         "the contact law of a convex solver; default sap. none: contacts as stiff as they are", &o.law},
        {"factor", 0, CLI_TEXT, "ID", "factorisation of the solver's systems; default: the solver's own", &o.factor},
        {"local", 0, CLI_TEXT, "HOW", "how one contact is solved: the parameter local of bisection", &o.local},
        {"tolerance", 0, CLI_REAL, "E", "relative residual at which the solve is done; of a CSV [N s]", &o.tolerance},
        {"max-iterations", 0, CLI_INT, "N", "iterations before giving up", &o.max_iterations},
        {"set", 0, CLI_TEXTS, "P.NAME=VALUE", "a parameter; P is solver, law or factor", &o.set},
        {"threads", 0, CLI_INT, "N", "threads; the result is the same; default 1", &o.threads},
        {"json", 0, CLI_FLAG, NULL, "the result as JSON on stdout", &o.json},
        {"full", 0, CLI_FLAG, NULL, "with v and gamma in the JSON", &o.full},
        {"out", 0, CLI_TEXT, "FILE", "writes the whole result there as JSON; FILE.hdf5: r and u for FCLIB's tools",
         &o.out},
    };
    const cli_command command = {
        "solve",
        "PROBLEM",
        "Solves one saved contact problem and certifies the result, or a CSV of single contacts. Exit 3: "
        "not converged.",
        options,
        STN_COUNT(options),
        1,
        1};
    cli_list words;
    int status = cli_parse(&command, call->argc, call->argv, &words);
    if (status != CLI_PROCEED) {
        return status;
    }
    o.singles = cli_ends_with(words.items[0], ".csv");
    if (o.solver == NULL) {
        o.solver = o.local != NULL || o.singles ? "bisection" : "sap";
    }
    cli_settings plugins[3] = {{.prefix = "solver"}, {.prefix = "law"}, {.prefix = "factor"}};
    status = collect_settings(&command, &o, plugins);
    if (status == CLI_PROCEED && o.singles) {
        status = refuse_for_singles(&command, &o, plugins);
    }
    if (status == CLI_PROCEED && o.out != NULL && !cli_ends_with(o.out, ".json")) {
        // what is not the whole result as JSON is a solution, which a plugin writes
        stn_error err = {STN_OK, ""};
        if (stn_problem_file_named(call->context, o.out, true, &err) != STN_OK) {
            status = cli_fail(&command, "--out %s; for the whole result in .json", err.text);
        }
    }
    if (status == CLI_PROCEED && o.out != NULL) {
        status = cli_keep_apart(&command, words.items, 1, &o.out, 1);
    }
    if (status == CLI_PROCEED && o.out != NULL) {
        status = cli_probe_output(&command, o.out);
    }
    if (status == CLI_PROCEED) {
        solve_run run = {.command = &command, .options = &o, .path = words.items[0]};
        status = o.singles ? solve_singles(&run, plugins) : solve(&run, plugins);
        if (run.context != NULL) {
            cli_problem_clear(&run.problem);
            cli_solver_clear(&run.solver);
            stn_context_destroy(run.context);
        }
    }
    cli_list_clear(&o.set);
    cli_list_clear(&words);
    return status;
}

CLI_WORD(solve, "solves one saved contact problem and certifies the result", run_solve)
