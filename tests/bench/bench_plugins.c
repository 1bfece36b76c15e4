// SPDX-License-Identifier: Apache-2.0
// What every start of the command pays: a context, and the search for plugins.
#include <stiction/plugin.h>

#include "bench_time.h"

enum { ROUNDS = 200 };

/// One context and one search [us]; negative on failure. `*count` plugins were found.
static double search(int32_t *count) {
    const stn_plugin_info *plugins = NULL;
    stn_context *context = NULL;
    double start = now_us();
    bool found = stn_context_create(NULL, &context, NULL) == STN_OK &&
                 stn_plugins(context, &plugins, count, NULL, NULL, NULL) == STN_OK;
    stn_context_destroy(context);
    return found ? now_us() - start : -1.0;
}

int main(void) {
    int32_t count = 0;
    double first = search(&count), sum = 0.0;
    for (int i = 0; i < ROUNDS; i++) {
        sum += search(&count);
    }
    printf("plugins: %d found, first search %.0f us, later ones %.0f us\n", count, first, sum / ROUNDS);
    return first < 0.0;
}
