// SPDX-License-Identifier: Apache-2.0
// "mu=0.1:0.9:9", "bodies=10..40..10", "solver=sap,lagged" -> texts.
#include "grid.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RUNS = 10000000, LONGEST_VALUE = 1000 };

// ---------------------------------------------------------------------------------------------------------- one axis

static stn_status add_value(cli_axis *axis, const char *text, size_t length, stn_error *err) {
    size_t size = strlen(axis->name) + length + 2;
    char *assignment = malloc(size);
    if (assignment == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    snprintf(assignment, size, "%s=%.*s", axis->name, (int)length, text);
    axis->assignments[axis->count++] = assignment;
    return STN_OK;
}

/// Makes room for all values of the axis.
static stn_status reserve(cli_axis *axis, size_t count, stn_error *err) {
    axis->assignments = calloc(count, sizeof *axis->assignments);
    return axis->assignments != NULL ? STN_OK : stn_fail(err, STN_ERR_MEMORY, "out of memory");
}

static stn_status add_number(cli_axis *axis, double value, stn_error *err) {
    char text[40];
    stn_print_real(text, sizeof text, value);
    return add_value(axis, text, strlen(text), err);
}

static bool is_whole(double value) {
    return value == floor(value) && fabs(value) < 9e15;
}

/// The field of a range that `*at` begins with, up to `separator` or the end, as a number.
static bool take_number(const char **at, const char *separator, double *value) {
    char text[64];
    const char *end = strstr(*at, separator);
    size_t length = end != NULL ? (size_t)(end - *at) : strlen(*at);
    if (length >= sizeof text) {
        return false;
    }
    memcpy(text, *at, length);
    text[length] = '\0';
    *at = end != NULL ? end + strlen(separator) : NULL;
    return stn_parse_real(text, value);
}

/// "a..b" and "a..b..step": whole numbers, b among them where a step comes to it.
static stn_status read_whole(cli_axis *axis, const char *given, const char *text, stn_error *err) {
    double first = 0.0, last = 0.0, step = 1.0;
    const char *at = text;
    bool read = take_number(&at, "..", &first) && at != NULL && take_number(&at, "..", &last) &&
                (at == NULL || take_number(&at, "..", &step)) && at == NULL;
    if (!read || !is_whole(first) || !is_whole(last) || !is_whole(step) || !(step > 0.0) || last < first) {
        return stn_fail(err, STN_ERR_ARGUMENT,
                        "--vary %s: a range of whole numbers is first..last or first..last..step, rising; "
                        "first:last:count takes any numbers",
                        given);
    }
    double count = floor((last - first) / step) + 1.0;
    if (count > MOST_RUNS) {
        return stn_fail(err, STN_ERR_ARGUMENT, "--vary %s: more than %d values", given, MOST_RUNS);
    }
    stn_status status = reserve(axis, (size_t)count, err);
    for (double i = 0.0; i < count && status >= 0; i++) {
        status = add_number(axis, first + i * step, err);
    }
    return status;
}

static stn_status read_list(cli_axis *axis, const char *given, const char *text, stn_error *err) {
    size_t count = 1;
    for (const char *c = text; *c != '\0'; c++) {
        count += *c == ',';
    }
    stn_status status = reserve(axis, count, err);
    for (const char *at = text; at != NULL && status >= 0;) {
        size_t length = strcspn(at, ",");
        if (length == 0 || length > LONGEST_VALUE) {
            return stn_fail(err, STN_ERR_ARGUMENT, "--vary %s: %s; write name=value,value", given,
                            length == 0 ? "there is an empty value" : "there is a value of more than 1000 characters");
        }
        status = add_value(axis, at, length, err);
        at = at[length] == ',' ? at + length + 1 : NULL;
    }
    return status;
}

/// Does it begin with a number and `separator`?
static bool is_range(const char *text, const char *separator) {
    double first;
    const char *at = text;
    return take_number(&at, separator, &first) && at != NULL;
}

static stn_status read_values(cli_axis *axis, const char *given, const char *text, stn_error *err) {
    if (is_range(text, ":")) {
        // "a:b:n" and "a:b:n:log": n values from a to b.
        double first = 0.0, last = 0.0, number = 0.0;
        const char *at = text;
        bool read = take_number(&at, ":", &first) && at != NULL && take_number(&at, ":", &last) && at != NULL &&
                    take_number(&at, ":", &number);
        bool logarithmic = at != NULL && strcmp(at, "log") == 0;
        if (!read || (at != NULL && !logarithmic)) {
            return stn_fail(err, STN_ERR_ARGUMENT, "--vary %s: a range is first:last:count or first:last:count:log",
                            given);
        }
        if (!is_whole(number) || number < 1.0 || number > MOST_RUNS) {
            return stn_fail(err, STN_ERR_ARGUMENT, "--vary %s: the count must be a whole number from 1 to %d", given,
                            MOST_RUNS);
        }
        if (logarithmic && !(first > 0.0 && last > 0.0)) {
            return stn_fail(err, STN_ERR_ARGUMENT, "--vary %s: both ends of a logarithmic range must be > 0", given);
        }
        stn_status status = reserve(axis, (size_t)number, err);
        for (double i = 0.0; i < number && status >= 0; i++) {
            double share = number > 1.0 ? i / (number - 1.0) : 0.0;
            double value = logarithmic ? pow(10.0, (1.0 - share) * log10(first) + share * log10(last))
                                       : (1.0 - share) * first + share * last;
            char digits[40]; // 12 of them: 0.3 is 0.3, wherever between its ends a range comes to it
            snprintf(digits, sizeof digits, "%.12g", value);
            stn_parse_real(digits, &value);
            status = add_number(axis, i == 0.0 ? first : i == number - 1.0 ? last : value, err);
        }
        return status;
    }
    return is_range(text, "..") ? read_whole(axis, given, text, err) : read_list(axis, given, text, err);
}

// --------------------------------------------------------------------------------------------------------- all of them

static stn_status add_axis(cli_grid *grid, const char *given, bool varied, stn_error *err) {
    int32_t added = grid->axis_count++;
    cli_axis *axis = &grid->axes[added];
    const char *equals = strchr(given, '='), *option = varied ? "vary" : "set";
    if (equals == NULL || equals == given) {
        return stn_fail(err, STN_ERR_ARGUMENT, "--%s %s: write %s", option, given,
                        varied ? "name=values, as in mu=0.1:0.9:9 or solver=sap,ipm" : "name=value");
    }
    for (const char *c = given; *c != '\0'; c++) {
        if ((unsigned char)*c < ' ') {
            return stn_fail(err, STN_ERR_ARGUMENT, "--%s %s: there is a control character", option, given);
        }
    }
    axis->name = strndup(given, (size_t)(equals - given));
    if (axis->name == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    stn_status status = varied ? read_values(axis, given, equals + 1, err) : reserve(axis, 1, err);
    if (!varied && status >= 0) {
        status = add_value(axis, equals + 1, strlen(equals + 1), err); // a value of --set is taken as it is
    }
    for (int32_t i = 0; i < added && status >= 0; i++) {
        if (strcmp(grid->axes[i].name, axis->name) == 0) {
            return stn_fail(err, STN_ERR_ARGUMENT, "--%s %s: the name is given twice", option, given);
        }
    }
    return status;
}

stn_status cli_grid_read(const cli_list *sets, const cli_list *varied, int32_t repeats, int32_t first_seed,
                         cli_grid *grid, stn_error *err) {
    *grid = (cli_grid){.repeats = repeats, .first_seed = first_seed};
    grid->axes = calloc((size_t)sets->count + (size_t)varied->count + 1, sizeof *grid->axes);
    stn_status status = grid->axes != NULL ? STN_OK : stn_fail(err, STN_ERR_MEMORY, "out of memory");
    for (int32_t i = 0; i < sets->count && status >= 0; i++) {
        status = add_axis(grid, sets->items[i], false, err);
    }
    for (int32_t i = 0; i < varied->count && status >= 0; i++) {
        status = add_axis(grid, varied->items[i], true, err);
    }
    if (status < 0) {
        return status;
    }
    double count = repeats > 0 ? repeats : 1;
    for (int32_t i = 0; i < grid->axis_count; i++) {
        count *= grid->axes[i].count;
    }
    if (count > MOST_RUNS) {
        return stn_fail(err, STN_ERR_ARGUMENT, "%.15g runs are asked for; there may be %d", count, MOST_RUNS);
    }
    if (repeats > 0 && first_seed > INT32_MAX - count) {
        return stn_fail(err, STN_ERR_ARGUMENT, "--seed %d: must be less, that of the last run would be too large",
                        first_seed);
    }
    grid->run_count = (int32_t)count;
    return STN_OK;
}

void cli_grid_clear(cli_grid *grid) {
    for (int32_t i = 0; i < grid->axis_count; i++) {
        for (int32_t k = 0; k < grid->axes[i].count; k++) {
            free(grid->axes[i].assignments[k]);
        }
        free(grid->axes[i].assignments);
        free(grid->axes[i].name);
    }
    free(grid->axes);
    *grid = (cli_grid){0};
}

const char *cli_grid_assignment(const cli_grid *grid, int32_t run, int32_t axis) {
    int32_t at = run / (grid->repeats > 0 ? grid->repeats : 1);
    for (int32_t i = grid->axis_count - 1; i > axis; i--) {
        at /= grid->axes[i].count;
    }
    return grid->axes[axis].assignments[at % grid->axes[axis].count];
}

const char *cli_grid_value(const cli_grid *grid, int32_t run, int32_t axis) {
    return cli_grid_assignment(grid, run, axis) + strlen(grid->axes[axis].name) + 1;
}
