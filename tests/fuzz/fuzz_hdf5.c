// SPDX-License-Identifier: Apache-2.0
// HDF5 files, through the process stiction-hdf5: whatever they do to it, the one that asked gets a problem or one line.
// Slow, a process for each file; STICTION_HDF5_WORKER names a build without sanitizers, which is faster.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <stiction/problem.h>

#include "must.h"

static void silent(void *user, stn_log_level level, const char *text) {
    (void)user;
    (void)level;
    must(strchr(text, '\n') == NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char path[64];
    snprintf(path, sizeof path, "/tmp/fuzz_hdf5_%ld.hdf5", (long)getpid());
    const stn_context_options options = {.log = silent};
    stn_context *context = NULL;
    stn_problem_owner *owner = NULL;
    stn_error err = {STN_OK, ""};
    must(stn_context_create(&options, &context, NULL) == STN_OK);
    FILE *file = fopen(path, "wb");
    must(file != NULL && fwrite(data, 1, size, file) == size && fclose(file) == 0);
    stn_status status = stn_problem_load(context, path, &owner, &err);
    must((status == STN_OK) == (owner != NULL));
    must(status == STN_OK || (strncmp(err.text, path, strlen(path)) == 0 && strchr(err.text, '\n') == NULL));
    if (owner != NULL) {
        reached("accepted");
        reached(stn_problem_of(owner)->form == STN_FORM_LOCAL ? "local" : "global");
    }
    must(owner == NULL || stn_problem_check(context, stn_problem_of(owner), NULL) == STN_OK);
    stn_problem_destroy(owner);
    stn_context_destroy(context);
    unlink(path);
    return 0;
}
