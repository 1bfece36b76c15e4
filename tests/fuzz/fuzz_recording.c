// SPDX-License-Identifier: Apache-2.0
// Recordings: whatever the file holds, its blocks are read and unpacked within bounds, or refused.
#define _GNU_SOURCE // memfd_create
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/recording_file.h"
#include "must.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_all(cli_recording *recording) {
    cli_block block = {.kind = "?"};
    int64_t last = -1;
    while (cli_recording_next(recording, &block, NULL) == STN_OK && block.kind[0] != '\0') {
        const uint8_t *payload = NULL;
        size_t count = 0;
        cJSON *scene = NULL;
        must(block.offset > last); // always forwards
        last = block.offset;
        if (cli_recording_unpack(recording, &payload, &count, NULL) == STN_OK) {
            must(payload[count] == 0);
        }
        if (cli_recording_scene(recording, &scene, NULL) == STN_OK) {
            reached("accepted");
            must(cJSON_GetObjectItemCaseSensitive(scene, "format") != NULL);
        }
        cJSON_Delete(scene);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static stn_context *context;
    char path[64];
    cli_recording *recording = NULL;
    if (context == NULL) {
        must(stn_context_create(NULL, &context, NULL) == STN_OK);
    }
    int file = memfd_create("recording", 0);
    must(file >= 0 && write(file, data, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    if (cli_recording_open(context, path, &recording, NULL) == STN_OK) {
        read_all(recording);
    }
    cli_recording_close(recording);
    close(file);
    return 0;
}
