// SPDX-License-Identifier: Apache-2.0
// A shared object that ends the process as soon as it is loaded.
#include <stdlib.h>

__attribute__((constructor)) static void leave(void) {
    abort();
}
