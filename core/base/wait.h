// SPDX-License-Identifier: Apache-2.0
// Waiting for another thread that is about to do its part.
#ifndef STICTION_CORE_BASE_WAIT_H
#define STICTION_CORE_BASE_WAIT_H

#include <stiction/threads.h>

typedef struct stn_wait {
    int32_t turns;
    double begun; // [us]
} stn_wait;

/// Of a wait that begins as {0}: passes a moment, soon with an offer of the processor to others. False: it has taken
/// long, or others want the processor. Whoever has nothing else to wait by goes on.
bool stn_wait_more(stn_wait *wait);

/// How long it has taken, of one that stn_wait_more has said that of [us].
double stn_wait_time(const stn_wait *wait);

/// One who runs an index waited so long for another one that the processors must be busy with something else [us].
void stn_threads_waited_long(stn_threads *threads, double us);
#endif
