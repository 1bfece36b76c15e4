// SPDX-License-Identifier: Apache-2.0
// What bounds a process that reads strangers' files.
#ifndef STICTION_CORE_WORKER_LIMITS_H
#define STICTION_CORE_WORKER_LIMITS_H

#include <stdint.h>

/// Bounds memory, processor time and files before anything of the file is read.
void limit_process(uint64_t memory, uint32_t seconds);
/// From here on: memory, the channel, and files opened for reading; all other system calls fail.
void limit_calls(void);

#endif
