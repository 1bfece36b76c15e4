// SPDX-License-Identifier: Apache-2.0
// Variants of the solver sap on the same recorded contact problems: iterations, factorisations, trials of the line
// search for each, microseconds, and how far the velocities lie from those of the first variant.
//
//     iterations FOLDER... [NAME=VALUE[,NAME=VALUE]...]...
//
// A folder holds problems that record.lua wrote, in the order of their names. Each further argument is a variant:
// settings of the solver, "law.NAME" of the law, "factor" a plugin; "repeats" alone is how often each is timed. The
// first variant is the solver as it is.
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <stiction/solve.h>

enum { MOST_PROBLEMS = 2000, MOST_VARIANTS = 32, MOST_SETTINGS = 16, PHASES = 5 };

static const double tolerance = 1e-8;

typedef struct variant {
    const char *text;
    stn_instance *solver, *law, *factor;
    stn_problem_solver *problem_solver;
} variant;

typedef struct tally {
    double iterations[PHASES], us[PHASES], trials, factorizations, sum, difference;
    int32_t count[PHASES], worst, not_converged;
} tally;

static void need(stn_status status, const stn_error *err) {
    if (status < STN_OK) {
        fprintf(stderr, "%s\n", err->text);
        exit(1);
    }
}

/// Settings of a variant's plugins.
typedef struct choices {
    stn_setting solver[MOST_SETTINGS], law[MOST_SETTINGS];
    int32_t solver_count, law_count;
    const char *factor; // NULL: the solver's default
} choices;

/// Cuts "a=1,b=two" into settings; "law.NAME" goes to the law.
static void cut_settings(char *text, choices *c) {
    c->solver[c->solver_count++] =
        (stn_setting){.name = "tolerance", .form = STN_SETTING_NUMBER, .number = tolerance, .where = "iterations"};
    for (char *item = strtok(text, ","); item != NULL; item = strtok(NULL, ",")) {
        char *value = strchr(item, '=');
        if (value == NULL || c->solver_count == MOST_SETTINGS || c->law_count == MOST_SETTINGS) {
            fprintf(stderr, "%s: expected at most %d of NAME=VALUE\n", item, MOST_SETTINGS - 1);
            exit(2);
        }
        *value++ = '\0';
        stn_setting setting = {.name = item, .form = STN_SETTING_TEXT, .text = value, .where = "iterations"};
        if (strcmp(item, "factor") == 0) {
            c->factor = value;
        } else if (strncmp(item, "law.", 4) == 0) {
            setting.name = item + 4;
            c->law[c->law_count++] = setting;
        } else {
            c->solver[c->solver_count++] = setting;
        }
    }
}

static void create_variant(stn_context *context, const char *text, variant *v) {
    stn_error err = {STN_OK, ""};
    choices c = {0};
    char *copy = strdup(text);
    cut_settings(copy, &c);
    *v = (variant){.text = text};
    need(stn_instance_create(context, STN_KIND_SOLVER, "sap", c.solver, c.solver_count, &v->solver, &err), &err);
    need(stn_instance_create(context, STN_KIND_LAW, "sap", c.law, c.law_count, &v->law, &err), &err);
    if (c.factor != NULL) {
        need(stn_instance_create(context, STN_KIND_FACTOR, c.factor, NULL, 0, &v->factor, &err), &err);
    }
    stn_problem_solver_options options = {v->solver, v->law, v->factor, NULL};
    need(stn_problem_solver_create(context, &options, &v->problem_solver, &err), &err);
    free(copy);
}

static void destroy_variant(variant *v) {
    stn_problem_solver_destroy(v->problem_solver);
    stn_instance_destroy(v->factor);
    stn_instance_destroy(v->law);
    stn_instance_destroy(v->solver);
}

/// One problem through one variant; v and gamma are the caller's. `us` is the least of the repetitions.
static stn_solve_report solve(variant *v, const stn_problem *problem, int32_t repeats, stn_solution *solution,
                              double *us) {
    stn_error err = {STN_OK, ""};
    stn_solve_report report = {0};
    stn_solve_request request = {.masses = true};
    *us = INFINITY;
    for (int32_t k = 0; k < repeats; k++) {
        stn_problem copy = *problem;
        need(stn_problem_solve(v->problem_solver, &copy, &request, solution, &report, NULL, &err), &err);
        *us = fmin(*us, report.solve_us);
    }
    return report;
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int32_t list_problems(const char *folder, char **names) {
    DIR *dir = opendir(folder);
    if (dir == NULL) {
        fprintf(stderr, "%s: cannot be read\n", folder);
        exit(2);
    }
    int32_t count = 0;
    for (struct dirent *entry = readdir(dir); entry != NULL && count < MOST_PROBLEMS; entry = readdir(dir)) {
        const char *end = strrchr(entry->d_name, '.');
        if (end != NULL && strcmp(end, ".json") == 0) {
            size_t size = strlen(folder) + strlen(entry->d_name) + 2;
            names[count] = malloc(size);
            snprintf(names[count++], size, "%s/%s", folder, entry->d_name);
        }
    }
    closedir(dir);
    qsort(names, (size_t)count, sizeof *names, by_name);
    return count;
}

/// Largest difference over the largest velocity.
static double difference(int32_t n, const double *a, const double *b) {
    double far = 0.0, size = 1e-300;
    for (int32_t i = 0; i < n; i++) {
        far = fmax(far, fabs(a[i] - b[i]));
        size = fmax(size, fabs(a[i]));
    }
    return far / size;
}

static void add(tally *t, int32_t phase, const stn_solve_report *report, double us, double far) {
    t->iterations[phase] += report->iterations;
    t->us[phase] += us;
    t->count[phase]++;
    t->sum += report->iterations;
    t->trials += report->line_search_evaluations;
    t->factorizations += report->factorizations;
    t->worst = report->iterations > t->worst ? report->iterations : t->worst;
    t->not_converged += report->status != STN_OK;
    t->difference = fmax(t->difference, far);
}

static void print(const variant *v, const tally *t, int32_t problems) {
    double us = 0.0;
    printf("  %-34s", v->text[0] == '\0' ? "as it is" : v->text);
    for (int32_t k = 0; k < PHASES; k++) {
        printf(" %5.1f", t->iterations[k] / t->count[k]);
        us += t->us[k];
    }
    printf(" | %5.2f worst %3d | %5.2f factors %4.1f trials | %8.1f us, settled %8.1f | other %d | dv %.1e\n",
           t->sum / problems, t->worst, t->factorizations / problems, t->trials / t->factorizations, us / problems,
           t->us[PHASES - 1] / t->count[PHASES - 1], t->not_converged, t->difference);
}

static void measure(stn_context *context, const char *folder, variant *variants, int32_t count, int32_t repeats) {
    char *names[MOST_PROBLEMS];
    int32_t problems = list_problems(folder, names);
    tally tallies[MOST_VARIANTS] = {0};
    for (int32_t i = 0; i < problems; i++) {
        stn_error err = {STN_OK, ""};
        stn_problem_owner *owner = NULL;
        need(stn_problem_load(context, names[i], &owner, &err), &err);
        const stn_problem *p = stn_problem_of(owner);
        double *first = calloc((size_t)p->nv + 1, sizeof *first), *other = calloc((size_t)p->nv + 1, sizeof *other);
        double *gamma = calloc((size_t)p->row_count + 1, sizeof *gamma), us;
        for (int32_t k = 0; k < count; k++) {
            stn_solution solution = {.v = k == 0 ? first : other, .gamma = gamma};
            stn_solve_report report = solve(&variants[k], p, repeats, &solution, &us);
            add(&tallies[k], i * PHASES / problems, &report, us, difference(p->nv, first, solution.v));
        }
        free(first);
        free(other);
        free(gamma);
        stn_problem_destroy(owner);
        free(names[i]);
    }
    printf("%s: %d problems; iterations by fifth of the run | mean | ...\n", folder, problems);
    for (int32_t k = 0; k < count; k++) {
        print(&variants[k], &tallies[k], problems);
    }
}

int main(int argc, char **argv) {
    stn_context *context = NULL;
    stn_error err = {STN_OK, ""};
    variant variants[MOST_VARIANTS];
    int32_t count = 0, repeats = 3;
    need(stn_context_create(NULL, &context, &err), &err);
    create_variant(context, "", &variants[count++]);
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "repeats=", 8) == 0) {
            repeats = atoi(argv[i] + 8);
        } else if (strchr(argv[i], '=') != NULL && count < MOST_VARIANTS) {
            create_variant(context, argv[i], &variants[count++]);
        }
    }
    for (int i = 1; i < argc; i++) {
        if (strchr(argv[i], '=') == NULL) {
            measure(context, argv[i], variants, count, repeats);
        }
    }
    for (int32_t k = 0; k < count; k++) {
        destroy_variant(&variants[k]);
    }
    stn_context_destroy(context);
    return 0;
}
