// SPDX-License-Identifier: Apache-2.0
// A shared object that is no plugin.
#include <stiction/base.h>

extern STN_API const int stn_nothing;
const int stn_nothing = 1;
