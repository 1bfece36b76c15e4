// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE // dladdr
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "base/library_folder.h"

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
