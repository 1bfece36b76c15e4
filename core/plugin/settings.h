// SPDX-License-Identifier: Apache-2.0
// What makes an equal instance: its plugin and every parameter, as a choice and as bytes.
#ifndef STICTION_CORE_PLUGIN_SETTINGS_H
#define STICTION_CORE_PLUGIN_SETTINGS_H

#include <stiction/plugin.h>

#include "base/bytes.h"

/// One who keeps it more: it takes one stn_instance_destroy more until it is gone. Returns it. Thread: [any].
stn_instance *instance_keep(stn_instance *instance);

/// A choice with the memory behind it; texts are borrowed from the instance or the bytes.
typedef struct instance_choice {
    stn_plugin_choice choice;
    stn_setting *settings; // owned
    const char *version;   // of the plugin
} instance_choice;

/// The choice that makes an instance like this one; to be cleared also on failure.
stn_status instance_describe(const stn_instance *instance, instance_choice *out, stn_error *err);
void instance_choice_clear(stn_context *context, instance_choice *choice);
/// Writes or reads a choice; read, its texts are borrowed from the bytes. id NULL: no plugin.
void instance_choice_pass(byte_stream *b, instance_choice *choice);
/// Writes an instance; its plugin by id also where it was chosen by its file.
stn_status instance_write(byte_stream *b, const stn_instance *instance, stn_error *err);
/// Makes an instance like the one that was written. STN_ERR_PLUGIN: there is no such plugin here.
stn_status instance_read(byte_stream *b, stn_kind kind, stn_instance **out, stn_error *err);
/// Adds to a refusal which plugin of which version was recorded and how it is named, where that plugin is not here.
void instance_explain(stn_context *context, stn_kind kind, const instance_choice *read, stn_status status,
                      stn_error *err);
/// A warning when the plugin found here is of another version than the one that was written.
void instance_compare_version(const stn_instance *instance, const char *version);

#endif
