// SPDX-License-Identifier: Apache-2.0
// Calls of a plugin's shared object to functions of the C library, seen by exchanging the addresses in its table of the
// functions of others. Calls that libraries make on its behalf are not seen, and a sanitizer's own functions stay
// behind ours.
#ifndef STICTION_COMMAND_VALIDATE_CALLS_H
#define STICTION_COMMAND_VALIDATE_CALLS_H

#include "validate.h"

typedef struct plugin_calls {
    stn_context *context; // whose allocator counts them
    const char *folder;   // where files may be written
    char first[200];      // that asked for memory or a file: "malloc", "open(/dev/zero)"; "": none
    char wrote[256];      // the first file that is written elsewhere, in words; "": none
} plugin_calls;

/// From here on, until the process ends; for one plugin a process. Borrowed.
void plugin_calls_watch(plugin_calls *calls, const validate_request *request, const char *folder);

#endif
