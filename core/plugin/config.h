// SPDX-License-Identifier: Apache-2.0
#ifndef STICTION_CORE_PLUGIN_CONFIG_H
#define STICTION_CORE_PLUGIN_CONFIG_H

#include <stiction/params.h>

/// A parameter table and the struct that it describes; a plugin has two of them, the kind's and its own.
typedef struct stn_config_part {
    const stn_param *params;
    int32_t count;
    size_t size;  // of the struct; 0: none
    void *config; // made by stn_config_parts_create, NULL without
} stn_config_part;

/// Bytes of the member that a parameter of this type fills; 0 for a type that is none.
size_t stn_param_member_size(stn_param_type type);

/// stn_config_create for several tables at once: a setting goes to the first table that declares its name.
stn_status stn_config_parts_create(stn_context *context, const char *owner, stn_config_part *parts, int32_t part_count,
                                   const stn_setting *settings, int32_t setting_count, stn_error *err);

#endif
