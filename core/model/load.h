// SPDX-License-Identifier: Apache-2.0
#ifndef STICTION_CORE_MODEL_LOAD_H
#define STICTION_CORE_MODEL_LOAD_H

enum { LONGEST_EXTENSION = 16 }; // with the zero at its end

/// What stands behind the last dot of a file's name, in lower case; "" for nothing, and for what is longer.
void loader_extension(const char *path, char extension[LONGEST_EXTENSION]);

#endif
