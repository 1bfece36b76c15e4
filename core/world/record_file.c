// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <string.h>
#include <sys/file.h>

#include <fcntl.h>
#include <unistd.h>

#include <stiction/recorder.h>

stn_status stn_record_open(const char *path, int *descriptor, stn_error *err) {
    // emptied only when it is ours
    int opened = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    *descriptor = -1;
    if (opened < 0) {
        return stn_fail(err, STN_ERR_FILE, "%s: cannot be written: %s", path, strerror(errno));
    }
    // file systems without locks do not refuse
    if (flock(opened, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        close(opened);
        return stn_fail(err, STN_ERR_FILE, "%s: another recording is being written to it; name another file", path);
    }
    if (ftruncate(opened, 0) != 0 && errno != EINVAL) { // of a device or a pipe
        int code = errno;
        close(opened);
        return stn_fail(err, STN_ERR_FILE, "%s: cannot be written: %s", path, strerror(code));
    }
    *descriptor = opened;
    return STN_OK;
}
