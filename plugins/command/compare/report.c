// SPDX-License-Identifier: Apache-2.0
// What a comparison found: a table for people, JSON, CSV, and a page that shows the JSON.
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/print.h"
#include "common/stream.h"
#include "common/terminal.h"
#include "compare.h"

// The page up to its data, and what shows them.
__asm__(".section .rodata\n"
        ".global cli_compare_page, cli_compare_script, cli_compare_script_end\n"
        ".hidden cli_compare_page, cli_compare_script, cli_compare_script_end\n"
        "cli_compare_page:\n"
        ".incbin \"" COMPARE_PAGE "/page.html\"\n"
        "cli_compare_script:\n"
        ".incbin \"" COMPARE_PAGE "/plot.js\"\n"
        ".incbin \"" COMPARE_PAGE "/page.js\"\n"
        "cli_compare_script_end:\n"
        ".byte 0\n"
        ".previous\n");
extern const char cli_compare_page[], cli_compare_script[], cli_compare_script_end[];

///< "not_converged"
static const char *status_word(compare_status status) {
    static const char *const words[COMPARE_STATUS_COUNT] = {"converged", "not_converged", "failed", "timeout",
                                                            "refused"};
    return words[status];
}

static bool has_result(const compare_row *row) {
    return row->status == COMPARE_CONVERGED || row->status == COMPARE_NOT_CONVERGED;
}

// ------------------------------------------------------------------------------------------------------------ table

static int widest(int width, const char *text) {
    int length = (int)strlen(text);
    return length > width ? length : width;
}

static void print_residual(const compare_row *row, double residual) {
    if (has_result(row) && !isnan(residual)) {
        printf("  %9.1e", residual);
    } else {
        printf("  %9s", "-");
    }
}

void compare_print_table(const comparison *c) {
    int problems = 7, solvers = 6;
    for (int32_t i = 0; i < c->problem_count; i++) {
        problems = widest(problems, c->problems[i].name);
    }
    for (int32_t i = 0; i < c->solver_count; i++) {
        solvers = widest(solvers, c->solvers[i].label);
    }
    printf("%-*s  %8s  %-*s  %-11s  %-13s  %9s  %9s  %10s  %10s\n", problems, "problem", "contacts", solvers, "solver",
           "solves", "status", "residual", "coulomb", "iterations", "time [ms]");
    for (int32_t i = 0; i < c->problem_count; i++) {
        const compare_problem *p = &c->problems[i];
        if (!p->read) {
            cli_print_padded(p->name, problems);
            fputs("  failed: ", stdout);
            cli_print_name(p->unreadable);
            putchar('\n');
        }
        for (int32_t k = 0; k < c->solver_count && p->read; k++) {
            const compare_solver *s = &c->solvers[k];
            const compare_row *row = compare_row_of(c, i, k);
            cli_print_padded(p->name, problems);
            printf("  %8d  %-*s  %-11s  %-13s", p->contacts, solvers, s->label, stn_formulation_name(s->formulation),
                   status_word(row->status));
            print_residual(row, row->residual);
            print_residual(row, row->certificate.natural_scaled);
            if (has_result(row)) {
                printf("  %10d  %10.4g", row->iterations, row->time_ms);
            } else {
                printf("  %10s  %10s", "-", "-");
            }
            fputs(row->note[0] != '\0' ? "  " : "", stdout);
            cli_print_name(row->note);
            putchar('\n');
        }
    }
    int32_t counts[COMPARE_STATUS_COUNT] = {0}, shown = 0;
    for (int32_t i = 0; i < c->problem_count * c->solver_count; i++) {
        counts[c->rows[i].status]++;
    }
    for (int32_t s = 0; s < COMPARE_STATUS_COUNT; s++) {
        if (counts[s] > 0) {
            printf("%s%d %s", shown++ > 0 ? ", " : "", counts[s], status_word((compare_status)s));
        }
    }
    putchar('\n');
}

// ------------------------------------------------------------------------------------------------------------- JSON

static void add_reached(cJSON *json, const char *name, const compare_row *row, bool coulomb) {
    cJSON *array = cJSON_AddArrayToObject(json, name);
    for (int32_t i = 0; i < COMPARE_TARGETS; i++) {
        cJSON *item = cJSON_CreateObject();
        double iterations = (double)NAN, time_ms = (double)NAN;
        compare_reach(row, compare_targets[i], coulomb, &iterations, &time_ms);
        cli_json_add_real(item, "residual", compare_targets[i]);
        cli_json_add_real(item, "iterations", iterations);
        cli_json_add_real(item, "time_ms", time_ms);
        cJSON_AddItemToArray(array, item);
    }
}

static void add_real(cJSON *json, const char *name, bool known, double value) {
    cli_json_add_real(json, name, known ? value : (double)NAN);
}

static cJSON *row_json(const comparison *c, int32_t problem, int32_t solver) {
    const compare_row *row = compare_row_of(c, problem, solver);
    const compare_solver *s = &c->solvers[solver];
    bool known = has_result(row);
    cJSON *json = cJSON_CreateObject();
    cli_json_add_text(json, "problem", c->problems[problem].path);
    cli_json_add_text(json, "solver", s->label);
    cli_json_add_text(json, "formulation", stn_formulation_name(s->formulation));
    cli_json_add_text(json, "status", status_word(row->status));
    cli_json_add_text(json, "judged_by", compare_measure(s->formulation));
    add_real(json, "residual", known, row->residual);
#define ADD_FIELD(member, name, unit, text) add_real(json, name, known, row->certificate.member);
    STN_CERTIFICATE_FIELDS(ADD_FIELD)
#undef ADD_FIELD
    add_real(json, "iterations", known, row->iterations);
    add_real(json, "time_ms", known, row->time_ms);
    add_real(json, "repeats", known, row->repeats);
    cli_json_add_text(json, "note", row->note);
    if (c->options.curves) {
        cJSON *curve = cJSON_AddArrayToObject(json, "curve");
        for (int32_t i = 0; i < row->point_count; i++) {
            const compare_point *p = &row->points[i];
            cJSON *item = cJSON_CreateObject();
            cJSON_AddNumberToObject(item, "iterations", p->iterations);
            cli_json_add_real(item, "time_ms", p->time_ms);
            cli_json_add_real(item, "residual", p->residual);
            cli_json_add_real(item, "natural_scaled", p->natural_scaled);
            cJSON_AddItemToArray(curve, item);
        }
        const char *note = row->bent ? "converges sooner with a smaller limit of iterations" : "";
        note = row->point_count > 0 && !row->traced ? "a shorter solve came to no result" : note;
        cli_json_add_text(json, "curve_note", note);
        add_reached(json, "reached", row, false);
        add_reached(json, "reached_coulomb", row, true);
    }
    return json;
}

cJSON *compare_json(const comparison *c) {
    cJSON *json = cJSON_CreateObject();
    cli_json_add_text(json, "stiction", STN_VERSION);
    cli_json_add_real(json, "tolerance", c->options.tolerance);
    cli_json_add_real(json, "timeout_s", c->options.timeout_s);
    cJSON_AddBoolToObject(json, "cold", c->options.cold);
    cJSON *problems = cJSON_AddArrayToObject(json, "problems"), *solvers = cJSON_AddArrayToObject(json, "solvers");
    cJSON *rows = cJSON_AddArrayToObject(json, "rows");
    for (int32_t i = 0; i < c->solver_count; i++) {
        const compare_solver *s = &c->solvers[i];
        const stn_plugin_desc *desc = s->solver.solver->desc;
        const stn_solver_common *common = s->solver.solver->common;
        cJSON *solver = cJSON_CreateObject();
        cli_json_add_text(solver, "solver", s->label);
        cli_json_add_text(solver, "id", desc->id);
        cli_json_add_text(solver, "version", desc->version);
        cli_json_add_text(solver, "summary", desc->summary);
        cli_json_add_text(solver, "formulation", stn_formulation_name(s->formulation));
        cli_json_add_text(solver, "judged_by", compare_measure(s->formulation));
        cJSON_AddBoolToObject(solver, "coulomb", compare_is_coulomb(s->formulation));
        cli_json_add_text(solver, "law", s->solver.law != NULL ? s->solver.law->desc->id : NULL);
        cli_json_add_real(solver, "tolerance", common->tolerance);
        cJSON_AddNumberToObject(solver, "max_iterations", common->max_iterations);
        cJSON_AddItemToArray(solvers, solver);
    }
    for (int32_t i = 0; i < c->problem_count; i++) {
        const compare_problem *p = &c->problems[i];
        cJSON *problem = cJSON_CreateObject();
        cli_json_add_text(problem, "problem", p->path);
        cli_json_add_text(problem, "name", p->name);
        add_real(problem, "contacts", p->read, p->contacts);
        add_real(problem, "constraints", p->read, p->constraints);
        add_real(problem, "nv", p->read, p->nv);
        cli_json_add_text(problem, "unreadable", p->read ? NULL : p->unreadable);
        cli_json_add_text(problem, "note", p->note);
        cJSON_AddItemToArray(problems, problem);
        for (int32_t k = 0; k < c->solver_count; k++) {
            cJSON_AddItemToArray(rows, row_json(c, i, k));
        }
    }
    return json;
}

// ------------------------------------------------------------------------------------------------------------ files

/// A file that takes the place of `path` when it is whole.
typedef struct output {
    const comparison *comparison;
    const char *path;
    stn_output output;
    FILE *file;
} output;

static int open_output(output *out, const comparison *c, const char *path) {
    *out = (output){.comparison = c, .path = path};
    stn_error err = {STN_OK, ""};
    if (stn_output_open(path, STN_OUTPUT_WHOLE, &out->output, &err) != STN_OK) {
        return cli_fail_status(c->command, &err);
    }
    out->file = cli_stream_of(&out->output);
    return out->file != NULL ? CLI_PROCEED : cli_fail(c->command, "%s: cannot be written: %s", path, strerror(errno));
}

static int close_output(output *out) {
    stn_error err = {STN_OK, ""};
    return cli_finish_stream(&out->output, out->file, out->path, &err) == STN_OK
               ? CLI_PROCEED
               : cli_fail_status(out->comparison->command, &err);
}

/// A field of a CSV, in quotes where it must be.
static void put_text(FILE *file, const char *text) {
    if (strpbrk(text, ",\"\n\r") == NULL) {
        fputs(text, file);
        return;
    }
    fputc('"', file);
    for (; *text != '\0'; text++) {
        fputs(*text == '"' ? "\"\"" : (char[]){*text, '\0'}, file);
    }
    fputc('"', file);
}

/// ",VALUE", nothing for what is not known.
static void put_real(FILE *file, bool known, double value) {
    char text[40] = "";
    if (known && isfinite(value)) {
        stn_print_real(text, sizeof text, value);
    }
    fprintf(file, ",%s", text);
}

int compare_write_csv(const comparison *c, const char *path) {
    output out;
    int status = open_output(&out, c, path);
    if (status != CLI_PROCEED) {
        return status;
    }
    fputs("problem,contacts,nv,solver,formulation,status,judged_by,residual", out.file);
#define PUT_NAME(member, name, unit, text) fputs("," name, out.file);
    STN_CERTIFICATE_FIELDS(PUT_NAME)
#undef PUT_NAME
    fputs(",iterations,time_ms,repeats", out.file);
    for (int32_t i = 0; i < COMPARE_TARGETS; i++) {
        fprintf(out.file, ",iterations_1e-%d,time_ms_1e-%d", 3 * (i + 1), 3 * (i + 1));
    }
    fputs(",note\n", out.file);
    for (int32_t i = 0; i < c->problem_count; i++) {
        for (int32_t k = 0; k < c->solver_count; k++) {
            const compare_row *row = compare_row_of(c, i, k);
            const compare_problem *p = &c->problems[i];
            const compare_solver *s = &c->solvers[k];
            bool known = has_result(row);
            put_text(out.file, p->path);
            put_real(out.file, p->read, p->contacts);
            put_real(out.file, p->read, p->nv);
            fputc(',', out.file);
            put_text(out.file, s->label);
            fprintf(out.file, ",%s,%s,%s", stn_formulation_name(s->formulation), status_word(row->status),
                    compare_measure(s->formulation));
            put_real(out.file, known, row->residual);
#define PUT_FIELD(member, name, unit, text) put_real(out.file, known, row->certificate.member);
            STN_CERTIFICATE_FIELDS(PUT_FIELD)
#undef PUT_FIELD
            put_real(out.file, known, row->iterations);
            put_real(out.file, known, row->time_ms);
            put_real(out.file, known, row->repeats);
            for (int32_t t = 0; t < COMPARE_TARGETS; t++) {
                double iterations = (double)NAN, time_ms = (double)NAN;
                bool reached = compare_reach(row, compare_targets[t], false, &iterations, &time_ms);
                put_real(out.file, reached, iterations);
                put_real(out.file, reached, time_ms);
            }
            fputc(',', out.file);
            put_text(out.file, row->note);
            fputc('\n', out.file);
        }
    }
    return close_output(&out);
}

int compare_write_page(const comparison *c, const char *path) {
    output out;
    int status = open_output(&out, c, path);
    if (status != CLI_PROCEED) {
        return status;
    }
    cJSON *json = compare_json(c);
    char *text = cJSON_PrintUnformatted(json);
    fwrite(cli_compare_page, 1, (size_t)(cli_compare_script - cli_compare_page), out.file);
    fputs("<script type=\"application/json\" id=\"comparison\">", out.file);
    for (const char *at = text; *at != '\0'; at++) { // no name of a file may end the element
        if (*at == '<') {
            fputs("\\u003c", out.file);
        } else {
            fputc(*at, out.file);
        }
    }
    fputs("</script>\n<script>\n", out.file);
    fwrite(cli_compare_script, 1, (size_t)(cli_compare_script_end - cli_compare_script), out.file);
    fputs("</script>\n", out.file);
    cJSON_free(text);
    cJSON_Delete(json);
    return close_output(&out);
}
