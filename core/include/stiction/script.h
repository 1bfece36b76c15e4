// SPDX-License-Identifier: Apache-2.0
// Scripting languages: a plugin of kind "script" runs the scenarios that are written in its language.
#ifndef STICTION_SCRIPT_H
#define STICTION_SCRIPT_H

#include <stiction/context.h>

#ifdef __cplusplus
extern "C" {
#endif

struct stn_script_host;

/// What a language does; plugin kind "script".
typedef struct stn_script_ops {
    uint32_t size; // sizeof of the struct as the plugin was compiled
    /// Lower case, NULL-terminated: "lua". REQUIRED.
    const char *const *extensions;
    /// REQUIRED. Runs the script at `path` to its end; `host` is what the command line gave and what receives the
    /// script's parameters, worlds, checks and results. [main thread]
    stn_status (*run)(void *self, struct stn_script_host *host, const char *path, stn_error *err);
} stn_script_ops;

#ifdef __cplusplus
}
#endif
#endif
