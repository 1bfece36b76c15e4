// SPDX-License-Identifier: Apache-2.0
// The problems of shared/reference/i_multicontact with their solutions in extended precision.
#ifndef MULTICONTACT_H
#define MULTICONTACT_H

#include <cjson/cJSON.h>
#include <stdlib.h>

#include <stiction/problem.h>

#include "stn_test.h"

enum { MULTICONTACT_PROBLEMS = 100, MULTICONTACT_MOST = 1024 };
static const char multicontact_folder[] = STN_SHARED_DIR "/reference/i_multicontact";

static inline cJSON *multicontact_json(const char *path) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    char *text = calloc((size_t)size + 1, 1);
    assert_int_equal(fread(text, 1, (size_t)size, file), size);
    fclose(file);
    cJSON *json = cJSON_Parse(text);
    free(text);
    assert_non_null(json);
    return json;
}

static inline void multicontact_numbers(const cJSON *json, const char *key, int32_t count, double *out) {
    const cJSON *array = cJSON_GetObjectItem(json, key), *item = NULL;
    assert_int_equal(cJSON_GetArraySize(array), count);
    cJSON_ArrayForEach(item, array) {
        *out++ = item->valuedouble;
    }
}

/// A problem and its solution by the law sap.
typedef struct multicontact {
    stn_problem_owner *owner;
    const stn_problem *problem;
    double v[MULTICONTACT_MOST], gamma[MULTICONTACT_MOST], cost;
} multicontact;

static inline void multicontact_load(stn_context *context, int32_t i, multicontact *r) {
    char path[512];
    stn_error err;
    snprintf(path, sizeof path, "%s/p%03d.json", multicontact_folder, i);
    assert_ok(stn_problem_load(context, path, &r->owner, &err), err);
    r->problem = stn_problem_of(r->owner);
    cJSON *json = multicontact_json(path), *sap = cJSON_GetObjectItem(cJSON_GetObjectItem(json, "solution"), "sap");
    multicontact_numbers(sap, "v", r->problem->nv, r->v);
    multicontact_numbers(sap, "gamma", r->problem->row_count, r->gamma);
    r->cost = cJSON_GetObjectItem(sap, "cost")->valuedouble;
    cJSON_Delete(json);
}

/// The largest |x_i - y_i|; y NULL: the largest |x_i|.
static inline double multicontact_largest(int32_t n, const double *x, const double *y) {
    double m = 0.0;
    for (int32_t i = 0; i < n; i++) {
        double d = fabs(x[i] - (y == NULL ? 0.0 : y[i]));
        m = worse(m, d);
    }
    return m;
}

#endif
