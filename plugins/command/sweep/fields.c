// SPDX-License-Identifier: Apache-2.0
// See fields.h. A contact model keeps fields in the context (stiction/shared.h), also when the world that they were
// made for is gone.
#include "fields.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <stiction/replay.h>

void cli_sweep_folder_make(cli_sweep_folder *folder) {
    const char *place = getenv("TMPDIR");
    int length = snprintf(folder->path, sizeof folder->path, "%s/stiction-sweep-XXXXXX",
                          place != NULL && place[0] == '/' ? place : "/tmp");
    if ((size_t)length >= sizeof folder->path || mkdtemp(folder->path) == NULL) {
        folder->path[0] = '\0';
        return;
    }
    snprintf(folder->file, sizeof folder->file, "%s/world", folder->path);
}

void cli_sweep_folder_remove(const cli_sweep_folder *folder) {
    if (folder->path[0] != '\0') {
        unlink(folder->file);
        rmdir(folder->path);
    }
}

void cli_sweep_keep_world(const cli_sweep_folder *folder, const stn_world *world) {
    const stn_model *model = stn_world_model(world);
    const stn_error why = {0};
    bool compliant = false;
    for (int32_t g = 0; model != NULL && g < model->geometry_count && !compliant; g++) {
        compliant = model->geometries[g].collision && stn_geometry_is_compliant(&model->geometries[g]);
    }
    if (compliant && folder->path[0] != '\0') {
        (void)stn_world_save_capsule(world, &why, folder->file, NULL);
    }
}

/// What there is to warn of the probe has said, and nobody reads what runs say.
static void drop(void *user, stn_log_level level, const char *text) {
    (void)user, (void)level, (void)text;
}

stn_context *cli_sweep_fields(const cli_sweep_folder *folder) {
    const stn_context_options silent = {.log = drop};
    stn_context *context = NULL;
    stn_world *world = NULL;
    if (folder->path[0] == '\0' || access(folder->file, R_OK) != 0 || stn_context_create(&silent, &context, NULL) < 0) {
        return NULL;
    }
    if (stn_capsule_load(context, folder->file, NULL, &world, NULL) < 0) {
        stn_context_destroy(context);
        return NULL;
    }
    stn_world_destroy(world);
    return context;
}
