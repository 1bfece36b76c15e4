// SPDX-License-Identifier: Apache-2.0
// A failure without a text gets one, a status that does not exist becomes a failure.
#include <stiction/plugin.h>

static bool is_known(int status) {
    switch (status) {
#define KNOWN_STATUS(name, value, text) case value:
        STN_STATUSES(KNOWN_STATUS)
#undef KNOWN_STATUS
        return true;
    default:
        return false;
    }
}

void stn_answer_begin(stn_error *err) {
    if (err != NULL) {
        err->status = STN_OK;
        err->text[0] = '\0';
    }
}

stn_status stn_answer_end(stn_status status, stn_error *err) {
    if (!is_known((int)status)) {
        return stn_fail(err, STN_ERR_PLUGIN, "answered with status %d, which does not exist", (int)status);
    }
    if (status < 0 && err != NULL) {
        if (err->text[0] == '\0') {
            return stn_fail(err, status, "failed without saying why (%s)", stn_status_text(status));
        }
        err->status = status;
    }
    return status;
}
