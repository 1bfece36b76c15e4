// SPDX-License-Identifier: Apache-2.0
// Where files are looked for: from the current folder, beside the script, in Stiction's own folder.
#include <string.h>
#include <unistd.h>

#include <stiction/input.h>

#include "bind.h"

void stn_lua_push_root(lua_State *L) {
    char root[STN_INPUT_PATH];
    lua_pushstring(L, stn_shipped_folder(root) ? root : "");
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
