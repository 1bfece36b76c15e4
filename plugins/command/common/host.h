// SPDX-License-Identifier: Apache-2.0
// What the files of the session share: the functions that a script calls (stn_script_host_ops), by file.
#ifndef STICTION_COMMAND_HOST_H
#define STICTION_COMMAND_HOST_H

#include <stiction/plugin.h>

#include "common/session.h"

/// The host is the first member of its session.
static inline stn_session *session_of(stn_script_host *host) {
    return (stn_session *)host;
}

// parameters.c
stn_status stn_host_parameter(stn_script_host *host, stn_script_parameter *parameter, stn_error *err);
stn_status stn_host_options(stn_script_host *host, stn_world_options *options, stn_error *err);
stn_status stn_host_choose(stn_script_host *host, const char *kind, stn_plugin_choice *choice, stn_error *err);
/// Releases the memory of choices.
void stn_session_drop_choices(stn_session *session);

// steps.c
typedef stn_status (*stn_host_opens)(void *user, stn_world *world, stn_plugin_choice *recorder, stn_error *err);
stn_status stn_host_begin(stn_script_host *host, stn_world *world, stn_host_opens opens, void *user, stn_error *err);
stn_status stn_host_step(stn_script_host *host, stn_world *world, stn_error *err);
stn_status stn_host_end(stn_script_host *host, stn_world *world, stn_error *err);
void stn_host_touched(stn_script_host *host, stn_world *world);
void stn_host_until(stn_script_host *host, double time);
bool stn_host_stopped(const stn_script_host *host);
/// Forgets the worlds that nobody ended: they may be gone, or those of another process.
void stn_session_drop_worlds(stn_session *session);

// claims.c
stn_status stn_host_check(stn_script_host *host, const stn_script_check *check, stn_error *err);
stn_status stn_host_result(stn_script_host *host, const char *name, double value, const char *unit, stn_error *err);
void stn_host_claim(stn_script_host *host, const char *failed);
stn_status stn_host_skip(stn_script_host *host, const char *reason, stn_error *err);
void stn_host_leave(stn_script_host *host, int status, const char *text);
bool stn_host_declare_test(stn_script_host *host, const char *name);
stn_status stn_host_tests(stn_script_host *host, const stn_test_batch *batch, stn_error *err);
void stn_host_group(stn_script_host *host, const stn_test_group *group);

#endif
