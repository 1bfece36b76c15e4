// SPDX-License-Identifier: Apache-2.0
// Reading JSON with one-line errors. A reader keeps the first failure; after it every get returns an empty value, so
// that a long row of gets is checked once.
#ifndef STICTION_PLUGINS_PROBLEM_FILE_JSON_H
#define STICTION_PLUGINS_PROBLEM_FILE_JSON_H

#include <cjson/cJSON.h>

#include <stiction/problem_file.h>

/// Words of a contact-problem-2 file for enumerators, in their order.
extern const char *const problem_form_names[2];
extern const char *const problem_velocity_names[2];
extern const char *const matrix_form_names[4];

/// Most numbers that one array of a file may hold.
#define JSON_MAX_NUMBERS ((int64_t)1 << 26)

typedef struct json_reader {
    stn_context *context;
    stn_arena *arena; // arrays go here
    const char *path;
    char where[64]; // in front of keys in messages: "constraints[3]."
    stn_status status;
    stn_error *err;
} json_reader;

/// What a key may be besides a value of its type.
enum {
    JSON_OPTIONAL = 1u << 0, // absent
    JSON_SPECIAL = 1u << 1,  // reals: null for NaN, "inf", "-inf"
};

/// Parses a text. Syntax errors: "path: line N: ...".
cJSON *json_parse(json_reader *r, const char *text, size_t size);
/// "path: key 'where+key': ..." unless an earlier failure is there already.
void json_fail(json_reader *r, const char *key, const char *format, ...) STN_PRINTF(3, 4);
/// Refuses keys of `object` that are not in `keys` (NULL-terminated) and those that come twice.
void json_check_keys(json_reader *r, const cJSON *object, const char *const *keys);

/// NULL when absent (a failure unless JSON_OPTIONAL) or twice in the object.
const cJSON *json_find(json_reader *r, const cJSON *object, const char *key, uint32_t flags);
double json_real(json_reader *r, const cJSON *object, const char *key, uint32_t flags); // absent: NaN
/// Whole number in [low, high]; `absent` when optional and absent.
int64_t json_integer(json_reader *r, const cJSON *object, const char *key, int64_t low, int64_t high, uint32_t flags,
                     int64_t absent);
bool json_bool(json_reader *r, const cJSON *object, const char *key);                        // absent: false
const char *json_text(json_reader *r, const cJSON *object, const char *key, uint32_t flags); // absent, null: NULL
/// Index of a text in `names`; `absent` when optional and absent.
int32_t json_choice(json_reader *r, const cJSON *object, const char *key, const char *const *names, int32_t count,
                    uint32_t flags, int32_t absent);
/// An array or object; NULL when absent, or null and optional.
const cJSON *json_array(json_reader *r, const cJSON *object, const char *key, uint32_t flags);
/// Exactly `count` numbers, in the arena; `count_text` says where the count comes from ("nv*nv"). NULL when absent.
double *json_reals(json_reader *r, const cJSON *object, const char *key, int64_t count, const char *count_text,
                   uint32_t flags);
int32_t *json_integers(json_reader *r, const cJSON *object, const char *key, int64_t count, const char *count_text,
                       uint32_t flags);
/// Arena memory, NULL and a failure without.
void *json_allocate(json_reader *r, int64_t count, size_t size);
int64_t json_length(const cJSON *array);

/// The two formats: fill `problem` from a parsed file.
void json_read_problem_1(json_reader *r, const cJSON *root, stn_problem *problem);
void json_read_problem_2(json_reader *r, const cJSON *root, stn_problem *problem);

#endif
