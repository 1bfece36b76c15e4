// SPDX-License-Identifier: Apache-2.0
#ifndef STICTION_CORE_BASE_BELOW_H
#define STICTION_CORE_BASE_BELOW_H

#include <stiction/input.h>

#include <stiction/worker.h> // stn_open_below, which worker programs have too

#endif
