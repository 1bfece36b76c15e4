// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "common/stream.h"

FILE *cli_stream_of(const stn_output *output) {
    int descriptor = fcntl(output->descriptor, F_DUPFD_CLOEXEC, 0);
    FILE *file = descriptor >= 0 ? fdopen(descriptor, output->kind == STN_OUTPUT_WHOLE ? "w+" : "w") : NULL;
    if (file == NULL && descriptor >= 0) {
        int code = errno;
        close(descriptor);
        errno = code;
    }
    return file;
}

void cli_drop_stream(stn_output *output, FILE *stream) {
    if (stream != NULL) {
        fclose(stream);
    }
    stn_output_close(output, STN_OUTPUT_DROP, NULL);
}

stn_status cli_finish_stream(stn_output *output, FILE *stream, const char *path, stn_error *err) {
    errno = stream == NULL ? errno : 0;
    bool whole = stream != NULL && fflush(stream) == 0 && ferror(stream) == 0;
    int code = errno;
    if (stream != NULL && fclose(stream) != 0 && whole) {
        whole = false;
        code = errno;
    }
    if (!whole) {
        stn_output_close(output, STN_OUTPUT_DROP, NULL);
        return stn_fail(err, STN_ERR_FILE, "%s: cannot be written: %s", path, strerror(code != 0 ? code : EIO));
    }
    return stn_output_close(output, STN_OUTPUT_KEEP, err);
}
