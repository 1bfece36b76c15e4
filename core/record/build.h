// SPDX-License-Identifier: Apache-2.0
// Which program makes the steps: what a replay elsewhere, or after a change of the code, is to be told beside.
#ifndef STICTION_CORE_RECORD_BUILD_H
#define STICTION_CORE_RECORD_BUILD_H

#include <stddef.h>
#include <stdint.h>

struct stn_world;

enum { BUILD_TEXT = 128 };

/// "0.1.0, GCC 12.2.0, AVX2 kernels, code 1a2b3c4d": of the library.
void build_text(char text[BUILD_TEXT]);
/// Hash of the code of all plugins of a world.
uint64_t build_plugins(const struct stn_world *world);

#endif
