// SPDX-License-Identifier: Apache-2.0
// What a plugin may do in no check, whatever it is asked: print, or write static data, which calls on other workers and
// other contexts share. For the process of one check.
#ifndef STICTION_COMMAND_VALIDATE_CONDUCT_H
#define STICTION_COMMAND_VALIDATE_CONDUCT_H

#include "static_data.h"
#include "validate.h"

typedef struct conduct {
    int prints; // where stdout can be read, -1: nowhere
    const char *object;
    static_data data;
    unsigned char *before; // the data's bytes; NULL: out of memory
    struct guard *guard;   // NULL: none
} conduct;

/// From here on the plugin is watched, also by the request's guard. Files may be written in `folder`, borrowed.
conduct conduct_begin(const validate_request *request, const char *folder);
/// Fails a check that had not failed by itself. What a guard saw comes first, also before what the check found.
void conduct_judge(const conduct *c, validate_result *result);

#endif
