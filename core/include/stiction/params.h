// SPDX-License-Identifier: Apache-2.0
// Declared parameters: one constant table gives validation, --set, the Lua tables, the docs page and log headers.
#ifndef STICTION_PARAMS_H
#define STICTION_PARAMS_H

#include <stiction/context.h>

STN_BEGIN_C

/// What a parameter holds, and so the type of its member in the config struct.
typedef enum stn_param_type {
    STN_PARAM_TYPE_REAL,   // member: double
    STN_PARAM_TYPE_INT,    // member: int32_t
    STN_PARAM_TYPE_BOOL,   // member: bool
    STN_PARAM_TYPE_CHOICE, // member: int32_t, index into choices
    STN_PARAM_TYPE_TEXT,   // member: const char *, owned by the config
} stn_param_type;

/// One declared parameter of a plugin. Constant data; texts are borrowed from the plugin and live as long as it.
typedef struct stn_param {
    const char *name;           // snake_case word of the field
    stn_param_type type;        // of the member
    uint32_t offset;            // of the member in the config struct
    const char *unit;           // "1" when dimensionless
    double default_number;      // real, int, bool (0 or 1), choice (index)
    double minimum, maximum;    // real and int, inclusive; may be infinite
    const char *const *choices; // choice: names, NULL-terminated; else NULL
    const char *default_text;   // text; may be NULL
    const char *summary;        // one line
} stn_param;

/// Entries of a table of stn_param, of member `member` of struct `config`, which names the parameter.
#define STN_PARAM_REAL(config, member, unit, value, low, high, summary) \
    { #member, STN_PARAM_TYPE_REAL, offsetof(config, member), unit, value, low, high, NULL, NULL, summary }
#define STN_PARAM_INT(config, member, unit, value, low, high, summary) \
    { #member, STN_PARAM_TYPE_INT, offsetof(config, member), unit, value, low, high, NULL, NULL, summary }
#define STN_PARAM_BOOL(config, member, value, summary) \
    { #member, STN_PARAM_TYPE_BOOL, offsetof(config, member), "1", value, 0.0, 1.0, NULL, NULL, summary }
#define STN_PARAM_CHOICE(config, member, choices, index, summary) \
    { #member, STN_PARAM_TYPE_CHOICE, offsetof(config, member), "1", index, 0.0, 0.0, choices, NULL, summary }
#define STN_PARAM_TEXT(config, member, value, summary) \
    { #member, STN_PARAM_TYPE_TEXT, offsetof(config, member), "1", 0.0, 0.0, 0.0, NULL, value, summary }

/// One value that a user set, before it is known whether anybody reads it. All borrowed for the call.
typedef struct stn_setting {
    const char *name;                                                     // of the parameter
    enum { STN_SETTING_NUMBER, STN_SETTING_BOOL, STN_SETTING_TEXT } form; // which of the next two counts
    double number;                                                        // number, bool (0 or 1)
    const char *text;  // text; a text that spells a number or true/false is accepted where one is declared (--set)
    const char *where; // "scene.lua:12" or "--set"; used in messages
} stn_setting;

/// A plugin by id with its settings; all borrowed for the call that takes it.
typedef struct stn_plugin_choice {
    const char *id;              // NULL: the default
    const stn_setting *settings; // (setting_count)
    int32_t setting_count;       // 0: all defaults
} stn_plugin_choice;

/// Allocates a config struct of `config_size` bytes, fills the defaults and applies the settings in order.
/// Errors (STN_ERR_PARAMETER, text prefixed by `owner` and the setting's where): unknown name with the nearest
/// one, wrong type, not finite (an infinite default may be set), out of range with the range and unit, unknown choice
/// with the list. The result is owned by the caller: stn_config_destroy; NULL when config_size is 0.
STN_API stn_status stn_config_create(stn_context *context, const char *owner, const stn_param *params,
                                     int32_t param_count, size_t config_size, const stn_setting *settings,
                                     int32_t setting_count, void **out, stn_error *err);
STN_API void stn_config_destroy(stn_context *context, const stn_param *params, int32_t param_count,
                                void *config); ///< accepts NULL

/// Prints the current value of a parameter as text ("1e-06", "true", "manifold"); returns the length written.
STN_API size_t stn_config_print(const stn_param *param, const void *config, char *text, size_t size);

STN_END_C
#endif
