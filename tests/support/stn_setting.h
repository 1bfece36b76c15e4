// SPDX-License-Identifier: Apache-2.0
// Settings of plugins in tests.
#ifndef STN_TEST_SETTING_H
#define STN_TEST_SETTING_H

#include <stiction/plugin.h>

static inline stn_setting number_setting(const char *name, double number) {
    return (stn_setting){.name = name, .form = STN_SETTING_NUMBER, .number = number, .where = "test"};
}

static inline stn_setting text_setting(const char *name, const char *text) {
    return (stn_setting){.name = name, .form = STN_SETTING_TEXT, .text = text, .where = "test"};
}

#endif
