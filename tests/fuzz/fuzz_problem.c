// SPDX-License-Identifier: Apache-2.0
// Contact problem files. Whatever loads must pass the check, and saving, loading and saving it must give the same
// bytes.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <stiction/problem.h>

#include "must.h"

static void write_file(const char *path, const uint8_t *data, size_t size) {
    FILE *file = fopen(path, "wb");
    must(file != NULL && fwrite(data, 1, size, file) == size && fclose(file) == 0);
}

static uint8_t *read_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    must(file != NULL && fseek(file, 0, SEEK_END) == 0);
    *size = (size_t)ftell(file);
    rewind(file);
    uint8_t *data = malloc(*size + 1);
    must(data != NULL && fread(data, 1, *size, file) == *size);
    fclose(file);
    return data;
}

static void save_again(stn_context *context, const stn_problem *problem, const char *path) {
    stn_problem_owner *owner = NULL;
    size_t first_size, second_size;
    must(stn_problem_save(context, problem, "contact-problem-2", path, NULL) == STN_OK);
    uint8_t *first = read_file(path, &first_size);
    must(stn_problem_load(context, path, &owner, NULL) == STN_OK);
    must(stn_problem_save(context, stn_problem_of(owner), "contact-problem-2", path, NULL) == STN_OK);
    uint8_t *second = read_file(path, &second_size);
    must(first_size == second_size && memcmp(first, second, first_size) == 0);
    free(first);
    free(second);
    stn_problem_destroy(owner);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char path[64];
    snprintf(path, sizeof path, "/tmp/fuzz_problem_%ld.json", (long)getpid());
    stn_context *context = NULL;
    stn_problem_owner *owner = NULL;
    stn_error err = {STN_OK, ""};
    must(stn_context_create(NULL, &context, NULL) == STN_OK);
    write_file(path, data, size);
    stn_status status = stn_problem_load(context, path, &owner, &err);
    must((status == STN_OK) == (owner != NULL) && (status == STN_OK || strchr(err.text, '\n') == NULL));
    if (owner != NULL) {
        reached("accepted");
        reached(stn_problem_of(owner)->form == STN_FORM_LOCAL ? "local" : "global");
        must(stn_problem_check(context, stn_problem_of(owner), NULL) == STN_OK);
        save_again(context, stn_problem_of(owner), path);
    }
    stn_problem_destroy(owner);
    stn_context_destroy(context);
    unlink(path);
    return 0;
}
