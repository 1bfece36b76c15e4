// SPDX-License-Identifier: Apache-2.0
#ifndef STICTION_CORE_BASE_READ_REGULAR_H
#define STICTION_CORE_BASE_READ_REGULAR_H

#include <stiction/input.h>

#endif
