// SPDX-License-Identifier: Apache-2.0
// What the process stiction-hdf5 answers about a file in FCLIB's layout: a problem that passes the check, or one line.
#include <stdlib.h>
#include <string.h>

#include "fclib.h"
#include "must.h"

static void silent(void *user, stn_log_level level, const char *text) {
    (void)user;
    (void)level;
    must(strchr(text, '\n') == NULL);
}

static void read_arrays(stn_context *context, const array_file *file) {
    stn_arena *arena = stn_arena_create(context);
    stn_problem problem;
    stn_error err = {STN_OK, ""};
    must(arena != NULL);
    stn_status status = fclib_read_arrays(context, arena, "file", file, &problem, &err);
    must(status == STN_OK || (strncmp(err.text, "file: ", 6) == 0 && strchr(err.text, '\n') == NULL));
    if (status == STN_OK) { // may refuse it, too
        reached("accepted");
        reached(problem.form == STN_FORM_LOCAL ? "local" : "global");
        must(stn_problem_check(context, &problem, &err) == STN_OK || strchr(err.text, '\n') == NULL);
    }
    stn_arena_destroy(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const stn_context_options options = {.log = silent};
    stn_context *context = NULL;
    stn_error err = {STN_OK, ""};
    must(stn_context_create(&options, &context, NULL) == STN_OK);
    unsigned char *answer = stn_allocate(context, size + 1, 1);
    array_file *file = stn_allocate(context, 1, sizeof *file);
    must(answer != NULL && file != NULL);
    if (size > 0) {
        memcpy(answer, data, size);
    }
    stn_status status = array_file_take(context, answer, size, file, &err);
    must(status == STN_OK || (err.text[0] != '\0' && strchr(err.text, '\n') == NULL));
    if (status == STN_OK) {
        read_arrays(context, file);
    }
    array_file_clear(file);
    stn_release(context, file);
    stn_context_destroy(context);
    return 0;
}
