// SPDX-License-Identifier: Apache-2.0
// Statuses and the one-line error text.
#include <stdio.h>
#include <string.h>

#include <stiction/base.h>

const char *stn_status_text(stn_status status) {
    switch (status) {
#define STATUS_CASE(name, value, text) \
    case name:                         \
        return text;
        STN_STATUSES(STATUS_CASE)
#undef STATUS_CASE
    }
    return "unknown status";
}

stn_status stn_fail(stn_error *err, stn_status status, const char *format, ...) {
    if (err != NULL) {
        va_list arguments;
        va_start(arguments, format);
        err->status = status;
        vsnprintf(err->text, sizeof err->text, format, arguments);
        va_end(arguments);
    }
    return status;
}

stn_status stn_error_prefix(stn_error *err, const char *format, ...) {
    if (err == NULL) {
        return STN_OK;
    }
    char prefixed[sizeof err->text];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(prefixed, sizeof prefixed, format, arguments);
    va_end(arguments);
    size_t used = length < 0 ? 0 : (size_t)length;
    if (used < sizeof prefixed) {
        snprintf(prefixed + used, sizeof prefixed - used, ": %.*s", (int)(sizeof prefixed - used), err->text);
    }
    memcpy(err->text, prefixed, sizeof prefixed);
    return err->status;
}
