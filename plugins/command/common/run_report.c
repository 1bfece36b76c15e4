// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <stiction/plugin.h>

#include "common/print.h"
#include "common/run_report.h"
#include "common/terminal.h"

/// "scripts/clutter.lua" -> "clutter"; a capsule keeps its ending.
static void name_scenario(const stn_session *session, const char *script, char *name, size_t size) {
    const char *slash = strrchr(script, '/');
    snprintf(name, size, "%s", slash != NULL ? slash + 1 : script);
    char *dot = strrchr(name, '.');
    if (dot != NULL && strcmp(dot, session->ending) == 0) {
        *dot = '\0';
    }
}

// -------------------------------------------------------------------------------------------------------------- JSON

static int compare_parameters(const void *a, const void *b) {
    return strcmp(((const stn_parameter *)a)->name, ((const stn_parameter *)b)->name);
}

enum { WITH_MEAN = 1, WITH_MEDIAN = 2, WITH_P99 = 4, WITH_MAX = 8 };

/// { "mean": .., "max": .. } of the samples, as `which` says.
static void add_summary(cJSON *json, const char *name, const stn_session *session, stn_sample sample, int which) {
    stn_summary s = {NAN, NAN, NAN, NAN};
    stn_statistics_summary(session->host.context, &session->statistics, sample, &s);
    cJSON *object = cJSON_AddObjectToObject(json, name);
    const struct {
        int bit;
        const char *name;
        double value;
    } parts[] = {{WITH_MEAN, "mean", s.mean},
                 {WITH_MEDIAN, "median", s.median},
                 {WITH_P99, "p99", s.p99},
                 {WITH_MAX, "max", s.max}};
    for (int32_t i = 0; i < STN_COUNT(parts); i++) {
        if ((which & parts[i].bit) != 0) {
            cli_json_add_real(object, parts[i].name, parts[i].value);
        }
    }
}

static void add_steps(cJSON *json, const stn_session *session, const cli_run_end *end) {
    const stn_statistics *s = &session->statistics;
    cli_json_add_real(json, "steps", (double)s->samples.steps);
    cli_json_add_real(json, "simulated_s", s->simulated);
    cli_json_add_real(json, "wall_s", end->wall);
    cli_json_add_real(json, "real_time_factor", end->wall > 0.0 ? s->simulated / end->wall : (double)NAN);
    add_summary(json, "step_us", session, STN_SAMPLE_STEP_US, WITH_MEAN | WITH_MEDIAN | WITH_P99 | WITH_MAX);
    if (end->profile) {
        const stn_profile *profile = &s->profile;
        cli_json_add_real(json, "profiled_steps", (double)profile->steps);
        cJSON *stages = cJSON_AddObjectToObject(json, "stage_us");
        for (int i = 0; i < STN_STAGE_COUNT; i++) {
            cli_json_add_real(stages, stn_stage_name((stn_stage)i), profile->stage_us[i] / (double)profile->steps);
        }
        cJSON *phases = cJSON_AddObjectToObject(json, "phase_us");
        for (int i = 0; i < STN_PHASE_COUNT; i++) {
            cli_json_add_real(phases, stn_phase_name((stn_phase)i), profile->phase_us[i] / (double)profile->steps);
        }
    }
    add_summary(json, "iterations", session, STN_SAMPLE_ITERATIONS, WITH_MEAN | WITH_P99 | WITH_MAX);
    cli_json_add_real(json, "not_converged", (double)s->not_converged);
    if (s->contradicted > 0) {
        cli_json_add_real(json, "contradicted", (double)s->contradicted);
    }
    if (s->fallbacks > 0) {
        cli_json_add_real(json, "fallbacks", (double)s->fallbacks);
    }
    if (s->inverted > 0) {
        cli_json_add_real(json, "inverted", (double)s->inverted);
    }
    if (s->quasistatic > 0) {
        cJSON_AddBoolToObject(json, "quasistatic", true);
        cli_json_add_real(json, "quasistatic_steps", (double)s->quasistatic);
    }
    if (s->approximate > 0) {
        cli_json_add_real(json, "approximate", (double)s->approximate);
    }
    if (s->captured > 0) {
        cli_json_add_real(json, "captured", (double)s->captured);
    }
    cJSON *certificate = cJSON_AddObjectToObject(json, "certificate");
#define ADD_FIELD(member, name, unit, text) \
    add_summary(certificate, name, session, STN_SAMPLE_##member, WITH_MEAN | WITH_P99 | WITH_MAX);
    STN_CERTIFICATE_FIELDS(ADD_FIELD)
#undef ADD_FIELD
    cJSON_AddBoolToObject(certificate, "finite", s->not_finite == 0);
    add_summary(json, "overlap_m", session, STN_SAMPLE_OVERLAP, WITH_MEAN | WITH_P99 | WITH_MAX);
    add_summary(json, "overlap_without_contact_m", session, STN_SAMPLE_BARE_OVERLAP, WITH_MEAN | WITH_P99 | WITH_MAX);
    add_summary(json, "contacts", session, STN_SAMPLE_CONTACTS, WITH_MEAN | WITH_MAX);
    const stn_contact_tally *last = &s->contacts_last;
    cJSON *contacts = cJSON_AddObjectToObject(json, "contacts_last");
    cli_json_add_real(contacts, stn_contact_state_name(STN_CONTACT_OPEN), last->open);
    cli_json_add_real(contacts, stn_contact_state_name(STN_CONTACT_STICK), last->sticking);
    cli_json_add_real(contacts, stn_contact_state_name(STN_CONTACT_SLIP), last->slipping);
    cli_json_add_real(contacts, "slip_speed_m_per_s", last->slip_speed);
    cli_json_add_real(contacts, "glide_gap_m", last->glide_gap);
    cJSON *constraints = s->constraint_count > 0 ? cJSON_AddArrayToObject(json, "constraints_last") : NULL;
    for (int32_t i = 0; i < s->constraint_count; i++) {
        const stn_constraint_tally *c = &s->constraints_last[i];
        cJSON *item = cJSON_CreateObject();
        cli_json_add_text(item, "name", c->name);
        cli_json_add_text(item, "plugin", c->plugin);
        cli_json_add_real(item, "length_m", c->length);
        cJSON_AddBoolToObject(item, "slack", c->slack);
        cli_json_add_reals(item, "force", c->force, c->rows);
        cli_json_add_reals(item, "phi", c->phi, c->rows);
        cJSON_AddItemToArray(constraints, item);
    }
    cJSON *energy = cJSON_AddObjectToObject(json, "energy_J");
    cli_json_add_real(energy, "first", s->energy_first);
    cli_json_add_real(energy, "last", s->energy_last);
    cli_json_add_real(energy, "max_increase", s->samples.steps > 0 ? s->energy_rise : (double)NAN);
    cJSON *total = cJSON_AddObjectToObject(json, "total_energy_J");
    cli_json_add_real(total, "first", s->total_first);
    cli_json_add_real(total, "last", s->total_last);
    cli_json_add_real(total, "max_increase", s->samples.steps > 0 ? s->total_rise : (double)NAN);
}

/// The figures that the verdict looks at, and what it says about those beyond their limits.
static void add_verdict(cJSON *json, const stn_session *session) {
    stn_figure figures[STN_FIGURE_COUNT];
    stn_statistics_figures(&session->statistics, figures);
    cJSON *verdict = cJSON_AddObjectToObject(json, "verdict");
    cJSON *reservations = cJSON_AddArrayToObject(verdict, "reservations");
    for (stn_figure_kind i = 0; i < STN_FIGURE_COUNT; i++) {
        const stn_figure *f = &figures[i];
        cJSON *item = cJSON_AddObjectToObject(verdict, stn_figure_name(i));
        cli_json_add_real(item, "value", f->value);
        cli_json_add_text(item, "unit", stn_figure_unit(i));
        cli_json_add_real(item, "ratio", f->ratio);
        cli_json_add_real(item, "limit", stn_figure_limit(i));
        cli_json_add_real(item, "time_s", f->time);
        cli_json_add_text(item, "what", f->what[0] != '\0' ? f->what : NULL);
        bool reserved = session->stepped && stn_figure_reserved(figures, i);
        cJSON_AddBoolToObject(item, "reserved", reserved);
        if (reserved) {
            char text[512];
            stn_figure_describe(f, i, text, sizeof text);
            cJSON_AddItemToArray(reservations, cJSON_CreateString(text));
        }
    }
}

cJSON *cli_run_json(const stn_session *session, const cli_run_end *end) {
    char scenario[256];
    name_scenario(session, end->script, scenario, sizeof scenario);
    cJSON *json = cJSON_CreateObject();
    cli_json_add_text(json, "status", end->status);
    cli_json_add_text(json, "scenario", scenario);
    cJSON *parameters = cJSON_AddObjectToObject(json, "parameters");
    // Lua gives table keys in no order: sorted, the output of equal runs is equal
    if (session->parameter_count > 1) { // without any the array may be NULL
        qsort(session->parameters, (size_t)session->parameter_count, sizeof *session->parameters, compare_parameters);
    }
    for (int32_t i = 0; i < session->parameter_count; i++) {
        const stn_parameter *p = &session->parameters[i];
        if (p->type == STN_SCRIPT_BOOL) {
            cJSON_AddBoolToObject(parameters, p->name, p->number != 0.0);
        } else if (p->type != STN_SCRIPT_NUMBER) {
            cli_json_add_text(parameters, p->name, p->text);
        } else if (isinf(p->number)) {
            cli_json_add_text(parameters, p->name, p->number > 0.0 ? "inf" : "-inf");
        } else {
            cli_json_add_real(parameters, p->name, p->number);
        }
    }
    char abi[32];
    snprintf(abi, sizeof abi, "%d.%d", STN_ABI_MAJOR, STN_ABI_MINOR);
    cJSON *versions = cJSON_AddObjectToObject(json, "versions");
    cli_json_add_text(versions, "stiction", STN_VERSION);
    cli_json_add_text(versions, "abi", abi);
    static const stn_kind kinds[] = {STN_KIND_SOLVER, STN_KIND_LAW, STN_KIND_CONTACT, STN_KIND_INTEGRATOR,
                                     STN_KIND_FACTOR};
    cJSON *plugins = cJSON_AddObjectToObject(json, "plugins");
    for (int32_t i = 0; i < STN_COUNT(kinds); i++) {
        if (session->plugin_used[kinds[i]] != NULL) {
            cli_json_add_text(plugins, stn_kind_name(kinds[i]), session->plugin_used[kinds[i]]);
        }
    }
    cJSON *model = cJSON_AddObjectToObject(json, "model");
    cli_json_add_real(model, "bodies", session->body_count);
    cli_json_add_real(model, "nq", session->nq);
    cli_json_add_real(model, "nv", session->nv);
    add_steps(json, session, end);
    struct rusage usage;
    int64_t tenth = session->statistics.samples.steps / 10,
            warm_up = tenth > 20 ? tenth : 20; // workspaces grow in them
    cli_json_add_real(json, "peak_rss_kb", getrusage(RUSAGE_SELF, &usage) == 0 ? (double)usage.ru_maxrss : 0.0);
    cli_json_add_real(json, "allocations_per_step", stn_statistics_allocations(&session->statistics, warm_up));
    add_verdict(json, session);
    cJSON *checks = cJSON_AddArrayToObject(json, "checks");
    for (int32_t i = 0; i < session->check_count; i++) {
        const stn_check *c = &session->checks[i];
        cJSON *item = cJSON_CreateObject();
        cli_json_add_text(item, "name", c->name);
        cJSON_AddBoolToObject(item, "ok", c->ok);
        cli_json_add_real(item, "value", c->value);
        cli_json_add_real(item, "limit", c->limit);
        cli_json_add_text(item, "unit", c->unit);
        cJSON_AddItemToArray(checks, item);
    }
    cJSON *results = cJSON_AddObjectToObject(json, "results"), *units = cJSON_AddObjectToObject(json, "result_units");
    for (int32_t i = 0; i < session->result_count; i++) {
        cli_json_add_real(results, session->results[i].name, session->results[i].value);
        cli_json_add_text(units, session->results[i].name, session->results[i].unit);
    }
    const stn_failure *f = &session->failure;
    if (f->status != STN_OK) {
        cJSON *failure = cJSON_AddObjectToObject(json, "failure");
        cli_json_add_text(failure, "reason", f->text);
        cli_json_add_real(failure, "step", (double)f->step);
        cli_json_add_real(failure, "time_s", f->time);
        cli_json_add_text(failure, "capsule", f->saved[0] != '\0' ? f->saved : NULL);
    }
    return json;
}

// ------------------------------------------------------------------------------------------------------------ people

/// The stage that a phase is part of; STN_STAGE_COUNT: of none.
static const stn_stage phase_stages[STN_PHASE_COUNT] = {
    [STN_PHASE_BROAD_PHASE] = STN_STAGE_COLLISION, [STN_PHASE_NARROW_PHASE] = STN_STAGE_COLLISION,
    [STN_PHASE_SET_UP] = STN_STAGE_SOLVE,          [STN_PHASE_HESSIAN] = STN_STAGE_SOLVE,
    [STN_PHASE_FACTOR] = STN_STAGE_SOLVE,          [STN_PHASE_LINE_SEARCH] = STN_STAGE_SOLVE,
    [STN_PHASE_DELASSUS] = STN_STAGE_SOLVE,        [STN_PHASE_OBSERVERS] = STN_STAGE_COUNT,
};

static void print_share(const char *indent, const char *name, double us, double step_us) {
    fprintf(stderr, "    %s%-*s %10.2f  %4.0f %%\n", indent, 16 - (int)strlen(indent), name, us, 100.0 * us / step_us);
}

/// Stages with their parts, then what happens between steps, against the mean of a step.
static void print_profile(const stn_profile *p) {
    double steps = (double)p->steps, step_us = p->step_us / steps;
    fprintf(stderr, "  stages of the %lld steps that nothing interrupted (mean us, share of the step)\n",
            (long long)p->steps);
    if (p->steps == 0) {
        return;
    }
    for (int i = 0; i < STN_STAGE_COUNT; i++) {
        double mean = p->stage_us[i] / steps, rest = mean;
        print_share("", stn_stage_name((stn_stage)i), mean, step_us);
        for (int k = 0; k < STN_PHASE_COUNT; k++) {
            if (phase_stages[k] == (stn_stage)i) {
                print_share("  ", stn_phase_name((stn_phase)k), p->phase_us[k] / steps, step_us);
                rest -= p->phase_us[k] / steps;
            }
        }
        if (rest < mean) {
            print_share("  ", "rest", rest, step_us);
        }
    }
    print_share("", "whole step", step_us, step_us);
    fputs("  between steps\n", stderr);
    print_share("", stn_phase_name(STN_PHASE_OBSERVERS), p->phase_us[STN_PHASE_OBSERVERS] / steps, step_us);
    print_share("", "script", p->script_us / steps, step_us);
}

/// A number of at most nine columns, "-" for what does not apply.
static void print_cell(double value) {
    double size = fabs(value);
    if (isnan(value)) {
        fprintf(stderr, " %9s", "-");
    } else if (size >= 1e4 && size < 1e7) {
        fprintf(stderr, " %9.0f", value);
    } else if (size == 0.0 || (size >= 1e-2 && size < 1e4)) {
        fprintf(stderr, " %9.4g", value);
    } else {
        fprintf(stderr, " %9.1e", value);
    }
}

/// What was sampled at every step, a line each.
static void print_table(const stn_session *session) {
    stn_sample judged = session->judged;
    const struct {
        const char *name;
        stn_sample sample;
    } lines[] = {
        {"step [us]", STN_SAMPLE_STEP_US},
        {"iterations", STN_SAMPLE_ITERATIONS},
        {"contacts", STN_SAMPLE_CONTACTS},
        {judged == STN_SAMPLE_natural_ncp   ? "natural_ncp m/s"
         : judged == STN_SAMPLE_natural_ccp ? "natural_ccp m/s"
                                            : "momentum error",
         judged},
        {"penetration [m]", STN_SAMPLE_penetration_m},
        {"overlap [m]", STN_SAMPLE_OVERLAP},
    };
    fprintf(stderr, "  %-16s %9s %9s %9s %9s\n", "", "mean", "median", "p99", "max");
    for (int32_t i = 0; i < STN_COUNT(lines); i++) {
        stn_summary figures = {NAN, NAN, NAN, NAN};
        if (lines[i].sample == STN_SAMPLE_momentum) {
            stn_statistics_momentum(session->host.context, &session->statistics, &figures);
        } else {
            stn_statistics_summary(session->host.context, &session->statistics, lines[i].sample, &figures);
        }
        fprintf(stderr, "  %-16s", lines[i].name);
        print_cell(figures.mean);
        print_cell(figures.median);
        print_cell(figures.p99);
        print_cell(figures.max);
        fputc('\n', stderr);
    }
}

static const char *plural(int64_t count) {
    return count == 1 ? "" : "s";
}

static void print_steps(const stn_session *session, const cli_run_end *end) {
    const stn_statistics *s = &session->statistics;
    if (s->samples.steps == 0) {
        return;
    }
    fprintf(stderr, "  %lld step%s, %.4g s simulated in %.3g s: %.1f times real time\n", (long long)s->samples.steps,
            plural(s->samples.steps), s->simulated, end->wall, s->simulated / end->wall);
    print_table(session);
    if (s->contacts_last.sticking + s->contacts_last.slipping > 0) {
        fprintf(stderr, "  at the end %d contact%s stick%s, %d slip, at up to %.2g m/s\n",
                (int)s->contacts_last.sticking, plural(s->contacts_last.sticking),
                s->contacts_last.sticking == 1 ? "s" : "", (int)s->contacts_last.slipping, s->contacts_last.slip_speed);
    }
    if (s->constraint_count > 0) {
        int32_t slack = 0;
        for (int32_t i = 0; i < s->constraint_count; i++) {
            slack += s->constraints_last[i].slack;
        }
        fprintf(stderr, "  at the end %d of %d constraint%s slack\n", (int)slack, (int)s->constraint_count,
                plural(s->constraint_count));
    }
    stn_figure figures[STN_FIGURE_COUNT];
    stn_statistics_figures(s, figures);
    double rise = figures[STN_FIGURE_ENERGY].value;
    if (s->quasistatic > 0) {
        fprintf(stderr, "  %lld of %lld step%s quasistatic: energy and momentum of motion are not judged\n",
                (long long)s->quasistatic, (long long)s->samples.steps, plural(s->samples.steps));
    } else {
        fprintf(stderr, rise == 0.0 ? "  energy rise 0 J\n" : "  energy rise %.1e J\n", rise);
    }
    if (s->not_converged > 0) {
        fprintf(stderr, "  %lld step%s did not converge\n", (long long)s->not_converged, plural(s->not_converged));
    }
    if (s->contradicted > 0) {
        fprintf(stderr, "  %lld of them by the certificate alone: the solver says that it converged\n",
                (long long)s->contradicted);
    }
    if (s->fallbacks > 0) {
        fprintf(stderr, "  in %lld step%s the solver took up another method for want of progress\n",
                (long long)s->fallbacks, plural(s->fallbacks));
    }
    if (s->inverted > 0) {
        fprintf(stderr, "  %lld step%s left elements inside out\n", (long long)s->inverted, plural(s->inverted));
    }
    if (s->approximate > 0) {
        fprintf(stderr, "  %lld step%s approximate: no iteration to a solution, the certificate says how far off\n",
                (long long)s->approximate, plural(s->approximate));
    }
    if (s->not_finite > 0) {
        fprintf(stderr, "  %lld step%s with NaN in the certificate\n", (long long)s->not_finite, plural(s->not_finite));
    }
    if (s->captured > 0) {
        fprintf(stderr, "  %lld contact problem%s saved\n", (long long)s->captured, plural(s->captured));
    } else if (session->capture_file != NULL && strcmp(end->status, "error") != 0) {
        cli_run_tell_no_capture(session, "  ");
    }
    if (end->profile) {
        print_profile(&s->profile);
    }
}

/// " m"; nothing for a bare number.
static void print_unit(const char *unit) {
    if (unit != NULL && unit[0] != '\0' && strcmp(unit, "1") != 0) {
        fputc(' ', stderr);
        cli_print_message(unit);
    }
    fputc('\n', stderr);
}

void cli_run_tell_no_capture(const stn_session *session, const char *begin) {
    int64_t steps = session->statistics.samples.steps, every = session->capture_every;
    fprintf(stderr, "%sno contact problems saved: ", begin);
    if (steps < every) {
        fprintf(stderr, "the run ended after %lld step%s and --every %lld asks for step %lld first\n", (long long)steps,
                plural(steps), (long long)every, (long long)every);
    } else {
        fputs("none of the steps asked for had contacts\n", stderr);
    }
}

/// "scene: ok, but energy rose by 29 J at t = 3.1 s", a line for each reservation.
void cli_run_print_headline(const stn_session *session, const cli_run_end *end) {
    char scenario[256];
    name_scenario(session, end->script, scenario, sizeof scenario);
    stn_figure figures[STN_FIGURE_COUNT];
    stn_statistics_figures(&session->statistics, figures);
    const char *joint = strcmp(end->status, "ok") == 0 ? ", but " : "; ";
    cli_print_message(scenario);
    fprintf(stderr, ": %s", strcmp(end->status, "check_failed") == 0 ? "a check failed" : end->status);
    for (stn_figure_kind i = 0; i < STN_FIGURE_COUNT && session->stepped; i++) {
        if (stn_figure_reserved(figures, i)) {
            char text[512];
            stn_figure_describe(&figures[i], i, text, sizeof text);
            fputs(joint, stderr);
            cli_print_message(text);
            joint = ";\n  and ";
        }
    }
    fputc('\n', stderr);
}

bool cli_run_is_reserved(const stn_session *session) {
    stn_figure figures[STN_FIGURE_COUNT];
    bool reserved = false;
    stn_statistics_figures(&session->statistics, figures);
    for (stn_figure_kind i = 0; i < STN_FIGURE_COUNT; i++) {
        reserved = reserved || (session->stepped && stn_figure_reserved(figures, i));
    }
    return reserved;
}

void cli_run_print_summary(const stn_session *session, const cli_run_end *end) {
    cli_run_print_headline(session, end);
    print_steps(session, end);
    for (int32_t i = 0; i < session->result_count; i++) {
        const stn_result *r = &session->results[i];
        fputs("  ", stderr);
        cli_print_message(r->name);
        fprintf(stderr, " = %.6g", r->value);
        print_unit(r->unit);
    }
    for (int32_t i = 0; i < session->check_count; i++) {
        const stn_check *c = &session->checks[i];
        fprintf(stderr, "  %-6s ", c->ok ? "ok" : "FAILED");
        cli_print_message(c->name);
        if (isnan(c->limit)) {
            fputc('\n', stderr);
        } else {
            fprintf(stderr, ": %.4g, %s %.4g", c->value, c->least ? "at least" : "limit", c->limit);
            print_unit(c->unit);
        }
    }
    bool recorded = session->statistics.samples.steps > 0 && strcmp(end->status, "error") != 0;
    for (int32_t i = 0; i < session->record_count && recorded; i++) {
        fputs("  recorded ", stderr);
        cli_print_message(session->record_paths[i]);
        fputc('\n', stderr);
    }
}
