// SPDX-License-Identifier: Apache-2.0
// Code that runs when the file is opened, as a stranger's would: it makes the file that STN_MARK names.
#include <stdio.h>
#include <stdlib.h>

__attribute__((constructor)) static void make_mark(void) {
    const char *path = getenv("STN_MARK");
    FILE *file = path != NULL ? fopen(path, "w") : NULL;
    if (file != NULL) {
        fclose(file);
    }
}
