// SPDX-License-Identifier: Apache-2.0
// What the row of a run says: which run it is, how it ended, and figures of its report.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"
#include <cjson/cJSON.h>

/// Columns that come from the report of a run: column, member, member of that.
static const struct {
    const char *column, *member, *part;
    bool timed;
} figures[] = {
    {"real_time_factor", "real_time_factor", NULL, true}, {"steps", "steps", NULL, false},
    {"simulated_s", "simulated_s", NULL, false},          {"iterations_mean", "iterations", "mean", false},
    {"iterations_max", "iterations", "max", false},       {"not_converged", "not_converged", NULL, false},
    {"contacts_mean", "contacts", "mean", false},         {"contacts_max", "contacts", "max", false},
};

const char *const cli_sweep_shard_columns[CLI_SWEEP_SHARD_COLUMNS] = {"shard", "runs", "sweep"};

static const char *const residuals[] = {
#define RESIDUAL_NAME(member, name, unit, text) name,
    STN_CERTIFICATE_FIELDS(RESIDUAL_NAME)
#undef RESIDUAL_NAME
};

bool cli_sweep_read_shard(const char *text, int32_t *shard, int32_t *shards) {
    char first[16];
    double one = 0.0, all = 0.0;
    size_t length = strcspn(text, "/");
    if (text[length] != '/' || length >= sizeof first) {
        return false;
    }
    memcpy(first, text, length);
    first[length] = '\0';
    bool good = stn_parse_real(first, &one) && stn_parse_real(text + length + 1, &all) && one >= 1.0 && one <= all &&
                all <= CLI_SWEEP_MOST_SHARDS && one == floor(one) && all == floor(all);
    *shard = good ? (int32_t)one : 0;
    *shards = good ? (int32_t)all : 0;
    return good;
}

int32_t cli_sweep_row_count(const cli_sweep_plan *plan) {
    int32_t runs = plan->grid.run_count;
    return plan->shards == 0 ? runs : plan->shard > runs ? 0 : (runs - plan->shard) / plan->shards + 1;
}

int32_t cli_sweep_run_at(const cli_sweep_plan *plan, int32_t row) {
    return plan->shards == 0 ? row : plan->shard - 1 + row * plan->shards;
}

int32_t cli_sweep_key_count(const cli_sweep_plan *plan) {
    return 1 + (plan->shards > 0 ? CLI_SWEEP_SHARD_COLUMNS : 0) + plan->grid.axis_count + (plan->grid.repeats > 0) + 1;
}

static bool add_own_columns(cli_texts *columns) {
    static const char *const first[] = {"status", "wall_s"}, *const last[] = {"checks_failed", "reason",
                                                                              "reservations"};
    bool added = true;
    for (int32_t i = 0; i < STN_COUNT(first); i++) {
        added = added && cli_texts_add(columns, first[i]);
    }
    for (int32_t i = 0; i < STN_COUNT(figures); i++) {
        added = added && cli_texts_add(columns, figures[i].column);
    }
    for (int32_t i = 0; i < STN_COUNT(residuals); i++) {
        char name[64];
        snprintf(name, sizeof name, "%s_max", residuals[i]);
        added = added && cli_texts_add(columns, name);
    }
    for (int32_t i = 0; i < STN_COUNT(last); i++) {
        added = added && cli_texts_add(columns, last[i]);
    }
    return added;
}

bool cli_sweep_columns(const cli_sweep_plan *plan, cli_texts *columns) {
    cli_texts own = {0};
    bool added = add_own_columns(&own) && cli_texts_add(columns, "run");
    for (int32_t i = 0; i < CLI_SWEEP_SHARD_COLUMNS && plan->shards > 0; i++) {
        added = added && cli_texts_add(columns, cli_sweep_shard_columns[i]);
    }
    for (int32_t i = 0; i < plan->grid.axis_count && added; i++) {
        // A parameter that is named like a column of ours has one that begins with "set.".
        const char *name = plan->grid.axes[i].name;
        char prefixed[256];
        bool taken = strcmp(name, "run") == 0 || strcmp(name, "script") == 0 || cli_texts_find(&own, 0, name) >= 0;
        snprintf(prefixed, sizeof prefixed, "set.%s", name);
        added = cli_texts_add(columns, taken ? prefixed : name);
    }
    if (plan->grid.repeats > 0) {
        added = added && cli_texts_add(columns, "seed");
    }
    added = added && cli_texts_add(columns, "script") && add_own_columns(columns);
    cli_texts_clear(&own);
    return added;
}

int32_t cli_sweep_count_fixed(const cli_texts *columns) {
    cli_texts own = {0};
    int32_t found = -1;
    for (int32_t first = add_own_columns(&own) ? 1 : columns->count; first + own.count <= columns->count && found < 0;
         first++) {
        bool same = true;
        for (int32_t i = 0; i < own.count && same; i++) {
            same = strcmp(columns->items[first + i], own.items[i]) == 0;
        }
        found = same ? first + own.count : -1;
    }
    cli_texts_clear(&own);
    return found;
}

static bool add_whole(cli_texts *cells, int64_t value) {
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)value);
    return cli_texts_add(cells, text);
}

static bool add_real(cli_texts *cells, double value) {
    char text[40];
    stn_print_real(text, sizeof text, value);
    return cli_texts_add(cells, text);
}

bool cli_sweep_key(const cli_sweep_plan *plan, int32_t run, cli_texts *cells) {
    bool added = add_whole(cells, run);
    if (plan->shards > 0) {
        char shard[32];
        snprintf(shard, sizeof shard, "%d/%d", (int)plan->shard, (int)plan->shards);
        added = added && cli_texts_add(cells, shard) && add_whole(cells, plan->grid.run_count) &&
                cli_texts_add(cells, plan->sweep);
    }
    for (int32_t i = 0; i < plan->grid.axis_count; i++) {
        added = added && cli_texts_add(cells, cli_grid_value(&plan->grid, run, i));
    }
    if (plan->grid.repeats > 0) {
        added = added && add_whole(cells, plan->grid.first_seed + run);
    }
    return added && cli_texts_add(cells, plan->hash);
}

/// A number; nothing where there is none.
static bool add_figure(cli_texts *cells, const cJSON *item) {
    return cJSON_IsNumber(item) ? add_real(cells, item->valuedouble) : cli_texts_add(cells, "");
}

static const cJSON *member(const cJSON *json, const char *name) {
    return cJSON_GetObjectItemCaseSensitive(json, name);
}

/// The cells of a run that left a report.
static bool add_report(const cJSON *json, bool untimed, cli_table_cells *row) {
    cli_texts *cells = &row->fixed, *names = &row->names, *values = &row->values;
    const char *word = member(json, "status")->valuestring;
    const cJSON *reason = member(json, "reason"), *certificate = member(json, "certificate");
    bool ended = strcmp(word, "error") != 0 && strcmp(word, "exit") != 0;
    bool added =
        cli_texts_add(cells, ended ? word : "failed") && add_figure(cells, untimed ? NULL : member(json, "wall_s"));
    for (int32_t i = 0; i < STN_COUNT(figures); i++) {
        const cJSON *figure = untimed && figures[i].timed ? NULL : member(json, figures[i].member);
        added = added && add_figure(cells, figures[i].part != NULL ? member(figure, figures[i].part) : figure);
    }
    for (int32_t i = 0; i < STN_COUNT(residuals); i++) {
        added = added && add_figure(cells, member(member(certificate, residuals[i]), "max"));
    }
    int32_t failed = 0;
    const cJSON *item;
    cJSON_ArrayForEach(item, member(json, "checks")) {
        failed += cJSON_IsFalse(member(item, "ok"));
    }
    char reservations[256] = ""; // "energy, distance"
    cJSON_ArrayForEach(item, member(json, "verdict")) {
        if (cJSON_IsTrue(member(item, "reserved"))) {
            size_t length = strlen(reservations);
            snprintf(reservations + length, sizeof reservations - length, "%s%s", length > 0 ? ", " : "", item->string);
        }
    }
    added = added && add_whole(cells, failed);
    added = added && cli_texts_add(cells, cJSON_IsString(reason) ? reason->valuestring : "");
    added = added && cli_texts_add(cells, reservations);
    cJSON_ArrayForEach(item, member(json, "results")) {
        char name[512];
        snprintf(name, sizeof name, "result.%s", item->string);
        added = added && cli_texts_add(names, name) &&
                add_real(values, cJSON_IsNumber(item) ? item->valuedouble : (double)NAN);
    }
    // of a check its value, 1 or 0 for one of true or false; of several of one name a failed one before one that did
    // not. A failed assertion, which is the reason, is no column
    cJSON_ArrayForEach(item, member(json, "checks")) {
        const char *check = member(item, "name")->valuestring;
        char name[512];
        snprintf(name, sizeof name, "check.%s", check);
        if (cli_texts_find(names, 0, name) >= 0 ||
            (cJSON_IsString(reason) && strcmp(reason->valuestring, check) == 0)) {
            continue;
        }
        const cJSON *worst = item; // the first of its name
        for (const cJSON *next = item->next; next != NULL && !cJSON_IsFalse(member(worst, "ok")); next = next->next) {
            bool same = strcmp(member(next, "name")->valuestring, check) == 0;
            worst = same && cJSON_IsFalse(member(next, "ok")) ? next : worst;
        }
        const cJSON *value = member(worst, "value");
        double truth = cJSON_IsTrue(member(worst, "ok")) ? 1.0 : 0.0;
        bool has_value = cJSON_IsNumber(member(worst, "limit"));
        added = added && cli_texts_add(names, name) &&
                add_real(values, !has_value              ? truth
                                 : cJSON_IsNumber(value) ? value->valuedouble
                                                         : (double)NAN);
    }
    return added;
}

bool cli_sweep_row(const cli_sweep_plan *plan, const cli_pool_end *end, cli_table_cells *row) {
    cli_texts *cells = &row->fixed;
    cJSON *json = end->outcome == CLI_JOB_EXITED ? cJSON_Parse(end->report) : NULL;
    bool added = cli_sweep_key(plan, end->run, cells);
    if (json != NULL) {
        added = added && add_report(json, plan->untimed, row);
        cJSON_Delete(json);
        return added;
    }
    char reason[96];
    if (end->outcome == CLI_JOB_TIMEOUT) {
        snprintf(reason, sizeof reason, "ended after its time");
    } else if (end->outcome == CLI_JOB_CRASHED) {
        snprintf(reason, sizeof reason, "ended by signal %d (%s)", end->code, strsignal(end->code));
    } else {
        snprintf(reason, sizeof reason, "ended with exit status %d and no report", end->code);
    }
    added = added && cli_texts_add(cells, end->outcome == CLI_JOB_TIMEOUT ? "timeout" : "crashed");
    added = added && (plan->untimed ? cli_texts_add(cells, "") : add_real(cells, end->seconds));
    for (int32_t i = 0; i < STN_COUNT(figures) + STN_COUNT(residuals) + 1 && added; i++) {
        added = cli_texts_add(cells, "");
    }
    return added && cli_texts_add(cells, reason) && cli_texts_add(cells, "");
}
