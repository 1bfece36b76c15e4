// SPDX-License-Identifier: Apache-2.0
// What a plugin answers is data from a stranger too: a failure without a text gets one, a status that does not exist
// becomes a failure.
#ifndef STICTION_CORE_PLUGIN_ANSWER_H
#define STICTION_CORE_PLUGIN_ANSWER_H

#include <stiction/plugin.h>

/// Before a call that may fail: no older text can be taken for the plugin's own.
void stn_answer_begin(stn_error *err);
/// After it: `status` as it stands, or STN_ERR_PLUGIN when there is no such status. A failure has a text and the status
/// in `err` (NULL accepted).
stn_status stn_answer_end(stn_status status, stn_error *err);

#endif
