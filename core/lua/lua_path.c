// SPDX-License-Identifier: Apache-2.0
// Where files are looked for: from the current folder, beside the script, in Stiction's own folder.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE // dladdr
#endif
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <stiction/lua.h>

#include "lua/bind.h"

/// Pushes "<folder>/models exists ? folder", trying `above` and its parents, and share/stiction below each.
static bool push_folder_with_models(lua_State *L, const char *start) {
    char folder[4096], probe[4352];
    snprintf(folder, sizeof folder, "%s", start);
    for (int level = 0; level < 5; level++) {
        static const char *const below[] = {"", "/share/stiction"};
        for (int i = 0; i < 2; i++) {
            snprintf(probe, sizeof probe, "%s%s/models", folder, below[i]);
            if (access(probe, R_OK | X_OK) == 0) {
                lua_pushfstring(L, "%s%s", folder, below[i]);
                return true;
            }
        }
        char *slash = strrchr(folder, '/');
        if (slash == NULL || slash == folder) {
            break;
        }
        *slash = '\0';
    }
    return false;
}

void stn_lua_push_root(lua_State *L) {
    Dl_info info;
    char path[4096];
    void *address = NULL;
    int (*open)(lua_State *) = luaopen_stiction; // in the command, or in the module that lua5.4 loaded
    memcpy(&address, &open, sizeof address);
    bool found = dladdr(address, &info) != 0 && info.dli_fname != NULL && info.dli_fname[0] == '/';
    if (found) {
        snprintf(path, sizeof path, "%s", info.dli_fname);
    } else {
        ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1); // the command, as argv[0] may be relative
        found = length > 0;
        path[found ? length : 0] = '\0';
    }
    char *slash = strrchr(path, '/');
    if (found && slash != NULL) {
        *slash = '\0';
        if (push_folder_with_models(L, path)) {
            return;
        }
    }
    lua_pushliteral(L, "");
}

/// Pushes the folder of the innermost Lua file, "" when there is none.
static void push_script_folder(lua_State *L) {
    lua_Debug frame;
    for (int level = 0; lua_getstack(L, level, &frame); level++) {
        lua_getinfo(L, "S", &frame);
        if (frame.source[0] == '@') {
            const char *slash = strrchr(frame.source, '/');
            if (slash == NULL) {
                lua_pushliteral(L, ".");
            } else {
                lua_pushlstring(L, frame.source + 1, (size_t)(slash - frame.source - 1));
            }
            return;
        }
    }
    lua_pushliteral(L, "");
}

const char *stn_lua_search_file(lua_State *L, const char *name, const char **tried) {
    *tried = name;
    if (access(name, R_OK) == 0) {
        return lua_pushstring(L, name);
    }
    void (*const places[])(lua_State *) = {push_script_folder, stn_lua_push_root};
    for (int i = 0; i < 2 && name[0] != '/'; i++) {
        places[i](L);
        const char *folder = lua_tostring(L, -1);
        if (folder[0] == '\0') {
            continue;
        }
        const char *path = lua_pushfstring(L, "%s/%s", folder, name);
        if (access(path, R_OK) == 0) {
            return path;
        }
        *tried = lua_pushfstring(L, "%s, %s", *tried, path);
    }
    return NULL;
}

const char *stn_lua_find_file(lua_State *L, const char *owner, const char *name) {
    const char *tried = NULL, *path = stn_lua_search_file(L, name, &tried);
    if (path == NULL) {
        stn_lua_fail(L, "%s: no such file: %s (tried %s)", owner, name, tried);
    }
    return path;
}
