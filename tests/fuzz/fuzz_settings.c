// SPDX-License-Identifier: Apache-2.0
// Text from users: numbers, and settings "name=value" a line. Whatever is accepted must be finite, in range, and print
// to something that reads back the same.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <stiction/params.h>

#include "must.h"

typedef struct sample {
    double gain;
    int32_t every;
    bool quick;
    int32_t shape;
    const char *title;
} sample;

enum { MOST_SETTINGS = 16 };

static const char *const shapes[] = {"round", "square", NULL};
static const stn_param params[] = {
    STN_PARAM_REAL(sample, gain, "m", 0.5, -2.0, 2.0, "a length"),
    STN_PARAM_INT(sample, every, "1", 1.0, 1.0, 100.0, "steps"),
    STN_PARAM_BOOL(sample, quick, 1.0, "or slow"),
    STN_PARAM_CHOICE(sample, shape, shapes, 0.0, "of a box"),
    STN_PARAM_TEXT(sample, title, NULL, "first line"),
};

static void try_numbers(const char *text) {
    double values[8], back = 0.0;
    int32_t count = stn_parse_reals(text, values, 8);
    for (int32_t i = 0; i < count; i++) {
        char printed[40];
        must(isfinite(values[i]));
        must(stn_print_real(printed, sizeof printed, values[i]) > 0);
        must(stn_parse_real(printed, &back) && memcmp(&back, &values[i], sizeof back) == 0);
    }
}

static void try_settings(stn_context *context, char *text) {
    stn_setting settings[MOST_SETTINGS];
    int32_t count = 0;
    for (char *line = strtok(text, "\n"); line != NULL && count < MOST_SETTINGS; line = strtok(NULL, "\n")) {
        char *equals = strchr(line, '=');
        if (equals != NULL) {
            *equals = '\0';
            settings[count++] =
                (stn_setting){.name = line, .form = STN_SETTING_TEXT, .text = equals + 1, .where = "--set"};
        }
    }
    stn_error err = {STN_OK, ""};
    void *config = NULL;
    stn_status status =
        stn_config_create(context, "fuzz", params, STN_COUNT(params), sizeof(sample), settings, count, &config, &err);
    must((status == STN_OK) == (config != NULL) && (status == STN_OK || err.text[0] != '\0'));
    if (config != NULL) {
        const sample *s = config;
        must(s->gain >= -2.0 && s->gain <= 2.0 && s->every >= 1 && s->every <= 100 && s->shape >= 0 && s->shape <= 1);
    }
    stn_config_destroy(context, params, STN_COUNT(params), config);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    stn_context *context = NULL;
    char *text = malloc(size + 1);
    must(text != NULL && stn_context_create(NULL, &context, NULL) == STN_OK);
    if (size > 0) {
        memcpy(text, data, size);
    }
    text[size] = '\0';
    try_numbers(text);
    try_settings(context, text);
    free(text);
    stn_context_destroy(context);
    return 0;
}
