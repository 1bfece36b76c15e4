// SPDX-License-Identifier: Apache-2.0
// JSON on stdout.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/options.h"
#include "common/print.h"

/// cJSON reports a failed allocation by leaving something out; a wrong document is worse than none.
static void *allocate(size_t size) {
    void *memory = malloc(size > 0 ? size : 1);
    if (memory == NULL) {
        fputs("stiction: out of memory\n", stderr);
        _exit(STN_EXIT_BAD_INPUT); // nothing of the document
    }
    return memory;
}

void cli_json_begin(void) {
    cJSON_Hooks hooks = {.malloc_fn = allocate, .free_fn = free};
    cJSON_InitHooks(&hooks);
}

cJSON *cli_json_real(double value) {
    char text[40];
    if (!isfinite(value)) {
        return cJSON_CreateNull();
    }
    stn_print_real(text, sizeof text, value);
    return cJSON_CreateRaw(text); // cJSON's own numbers lose digits
}

void cli_json_add_real(cJSON *object, const char *name, double value) {
    cJSON_AddItemToObject(object, name, cli_json_real(value));
}

void cli_json_add_reals(cJSON *object, const char *name, const double *values, int32_t count) {
    cJSON *array = cJSON_AddArrayToObject(object, name);
    for (int32_t i = 0; i < count; i++) {
        cJSON_AddItemToArray(array, cli_json_real(values[i]));
    }
}

void cli_json_add_vector(cJSON *object, const char *name, stn_vec3 v) {
    const double values[3] = {v.x, v.y, v.z};
    cli_json_add_reals(object, name, values, 3);
}

void cli_json_add_box(cJSON *object, const stn_aabb *box) {
    cli_json_add_vector(object, "lower", box->lower);
    cli_json_add_vector(object, "upper", box->upper);
    cli_json_add_vector(object, "extent", stn_vec3_sub(box->upper, box->lower));
}

void cli_json_add_text(cJSON *object, const char *name, const char *text) {
    cJSON_AddItemToObject(object, name, text != NULL ? cJSON_CreateString(text) : cJSON_CreateNull());
}

void cli_json_add_texts(cJSON *object, const char *name, const char *const *texts) {
    if (texts == NULL) {
        cJSON_AddNullToObject(object, name);
        return;
    }
    cJSON *array = cJSON_AddArrayToObject(object, name);
    for (; *texts != NULL; texts++) {
        cJSON_AddItemToArray(array, cJSON_CreateString(*texts));
    }
}

bool cli_json_print(cJSON *json, bool indented) {
    char *text = indented ? cJSON_Print(json) : cJSON_PrintUnformatted(json);
    bool written = puts(text) != EOF && fflush(stdout) == 0;
    cJSON_free(text);
    cJSON_Delete(json);
    return written;
}
