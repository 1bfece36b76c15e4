// SPDX-License-Identifier: Apache-2.0
// `stiction validate --guard`: what a plugin may not touch is watched while a check runs.
//
// - Every block of the context, and every block of an arena, lies between red zones. Blocks that were given back are
//   kept for a while; writing to one of them is seen. New memory is full of bytes 0xff: numbers in it are NaN.
// - Calls of the plugin's own code to malloc and its like, and to open and its like, count as requests to the context's
//   allocator, so that checks that expect none in a step find them.
// - Rounding mode, traps and flush-to-zero, folder, file mask, locale, environment, signal handlers, open descriptors
//   and threads are the same after the check as before; no file is opened for writing but in the folder of the check.
#ifndef STICTION_COMMAND_VALIDATE_GUARD_H
#define STICTION_COMMAND_VALIDATE_GUARD_H

#include "validate.h"

typedef struct guard guard;

/// NULL when out of memory.
guard *guard_create(void);
/// Accepts NULL. After the context that was made with its options.
void guard_destroy(guard *g);
/// Options of a context whose memory it watches; it must outlive the context.
stn_context_options guard_context_options(guard *g);
/// In the process of a check, before it: watches the calls of the plugin's object, and keeps what must stay. `folder`
/// is where the check may write files. One guard a process.
void guard_begin(guard *g, const validate_request *request, const char *folder);
/// After it: what was seen first, over the check's own result; and what it called, behind a failure.
void guard_judge(guard *g, validate_result *result);

#endif
