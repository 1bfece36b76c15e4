// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE // dladdr
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/library_folder.h"

_Static_assert(STN_INPUT_PATH >= PATH_MAX, "a path of the system fits");

bool stn_library_folder(char folder[PATH_MAX]) {
    static const char here; // any address of this library
    Dl_info found;
    if (dladdr(&here, &found) == 0 || found.dli_fname == NULL || realpath(found.dli_fname, folder) == NULL) {
        return false;
    }
    char *slash = strrchr(folder, '/');
    if (slash == NULL) {
        return false;
    }
    *slash = '\0';
    return true;
}

static bool has_models(const char *folder, const char *below, char root[PATH_MAX]) {
    char models[PATH_MAX];
    return snprintf(root, PATH_MAX, "%s%s", folder, below) < PATH_MAX &&
           snprintf(models, sizeof models, "%s/models", root) < PATH_MAX && access(models, R_OK | X_OK) == 0;
}

bool stn_shipped_folder(char root[STN_INPUT_PATH]) {
    char folder[PATH_MAX];
    bool more = stn_library_folder(folder);
    for (int level = 0; level < 5 && more; level++) {
        if (has_models(folder, "", root) || has_models(folder, "/share/stiction", root)) {
            return true;
        }
        char *slash = strrchr(folder, '/');
        more = slash != NULL && slash != folder;
        if (more) {
            *slash = '\0';
        }
    }
    return false;
}

const char *stn_find_shipped(const char *name, char path[STN_INPUT_PATH]) {
    char root[PATH_MAX];
    if (name[0] == '/' || access(name, F_OK) == 0 || !stn_shipped_folder(root) ||
        snprintf(path, PATH_MAX, "%s/%s", root, name) >= PATH_MAX || access(path, R_OK) != 0) {
        return name;
    }
    return path;
}
