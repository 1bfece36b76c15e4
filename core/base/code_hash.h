// SPDX-License-Identifier: Apache-2.0
#ifndef STICTION_CORE_BASE_CODE_HASH_H
#define STICTION_CORE_BASE_CODE_HASH_H

#include <stdint.h>

/// Hash of the machine code and the constants of the program or library that holds an address, so that two builds can
/// be told apart; 0 where the system does not tell.
uint64_t stn_code_hash(const void *address);

#endif
