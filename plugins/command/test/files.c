// SPDX-License-Identifier: Apache-2.0
// The scripts that a command line of paths means.
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "test.h"

/// A folder that is being listed, and those that it lies in.
typedef struct open_folder {
    const struct open_folder *above;
    dev_t device;
    ino_t number;
} open_folder;

static void break_off(cli_test_files *list, const char *path, const char *reason) {
    cli_fail(list->command, "%s: %s", path, reason);
    list->broken = true;
}

/// Takes a file once, however often it is named.
static void add_file(cli_test_files *list, const char *path) {
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->paths[i], path) == 0) {
            return;
        }
    }
    if (list->count == list->capacity) {
        size_t capacity = 2 * list->capacity + 64;
        char **grown = realloc(list->paths, capacity * sizeof *grown);
        if (grown == NULL) {
            break_off(list, path, "out of memory");
            return;
        }
        list->paths = grown;
        list->capacity = capacity;
    }
    list->paths[list->count] = strdup(path);
    if (list->paths[list->count] == NULL) {
        break_off(list, path, "out of memory");
        return;
    }
    list->count++;
}

/// Everything below a folder, in the order of the names.
static void add_folder(cli_test_files *list, const char *path) {
    struct dirent **entries = NULL;
    int count = scandir(path, &entries, NULL, alphasort);
    if (count < 0) {
        break_off(list, path, strerror(errno));
        return;
    }
    size_t length = strlen(path);
    const char *slash = length > 0 && path[length - 1] == '/' ? "" : "/";
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name;
        size_t size = length + strlen(name) + 2;
        char *below = malloc(size);
        struct stat what;
        if (below != NULL) {
            snprintf(below, size, "%s%s%s", path, slash, name);
            // Hidden names do not count, and neither do folders "lib", where scripts find the modules that they share.
            bool counts = name[0] != '.' && stat(below, &what) == 0;
            const char *id = NULL;
            stn_error unused = {0};
            if (counts && S_ISDIR(what.st_mode)) {
                counts = strcmp(name, "lib") != 0;
            } else if (counts) { // does a language have this ending?
                counts = stn_plugin_for_file(list->context, STN_KIND_SCRIPT, name, &id, &unused) == STN_OK;
            }
            if (counts) {
                cli_test_files_add(list, below);
            }
        }
        free(below);
        free(entries[i]);
    }
    free(entries);
}

void cli_test_files_add(cli_test_files *list, const char *path) {
    struct stat what;
    if (stat(path, &what) != 0) {
        break_off(list, path, strerror(errno));
        return;
    }
    if (!S_ISDIR(what.st_mode)) {
        add_file(list, path);
        return;
    }
    open_folder folder = {list->folder, what.st_dev, what.st_ino};
    for (const open_folder *above = folder.above; above != NULL; above = above->above) {
        if (above->device == folder.device && above->number == folder.number) {
            return; // it lies in itself, by a symbolic link: there would be no end
        }
    }
    list->folder = &folder;
    add_folder(list, path);
    list->folder = folder.above;
}

void cli_test_files_clear(cli_test_files *list) {
    for (size_t i = 0; i < list->count; i++) {
        free(list->paths[i]);
    }
    free(list->paths);
}
