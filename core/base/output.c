// SPDX-License-Identifier: Apache-2.0
// The one way in which files are written.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <stiction/output.h>

enum { MOST_LINKS = 40, MOST_ATTEMPTS = 1000 };

static stn_status cannot(const char *path, int code, stn_error *err) {
    return stn_fail(err, STN_ERR_FILE, "%s: cannot be written: %s", path, strerror(code));
}

static bool is_beneath_proc(const char *path) {
    return strncmp(path, "/proc/", 6) == 0;
}

/// The path behind all links of its last part, also of a link that leads nowhere yet. Returns errno; /dev/stdout ends
/// at its descriptor's entry below /proc.
static int follow(const char *path, char target[STN_OUTPUT_PATH]) {
    size_t length = strlen(path);
    if (length >= STN_OUTPUT_PATH) {
        return ENAMETOOLONG;
    }
    memcpy(target, path, length + 1);
    for (int32_t i = 0; i < MOST_LINKS && !is_beneath_proc(target); i++) {
        char link[STN_OUTPUT_PATH];
        ssize_t count = readlink(target, link, sizeof link - 1);
        if (count < 0) {
            return 0; // no link, or nothing there
        }
        const char *slash = strrchr(target, '/');
        size_t folder = link[0] == '/' || slash == NULL ? 0 : (size_t)(slash - target) + 1;
        if (folder + (size_t)count >= STN_OUTPUT_PATH) {
            return ENAMETOOLONG;
        }
        memcpy(target + folder, link, (size_t)count);
        target[folder + (size_t)count] = '\0';
    }
    return is_beneath_proc(target) ? 0 : ELOOP;
}

/// As whoever owned the file that is replaced allowed it; another owner only where this process may give files away.
static void keep_mode(int descriptor, const struct stat *was) {
    bool own = was->st_uid == geteuid() && was->st_gid == getegid();
    bool given = own || fchown(descriptor, was->st_uid, was->st_gid) == 0;
    (void)fchmod(descriptor, was->st_mode & (given ? 07777 : 0777));
}

// ------------------------------------------------------------------------------------------------------ whole at once

static int open_whole(stn_output *o) {
    struct stat was;
    bool there = stat(o->target, &was) == 0;
    if (there && access(o->target, W_OK) != 0) {
        return errno;
    }
    for (int attempt = 0; attempt < MOST_ATTEMPTS; attempt++) { // not mkstemp: permissions are those of the user's mask
        int length = snprintf(o->place, sizeof o->place, "%s.%ld-%d.part", o->target, (long)getpid(), attempt);
        if (length < 0 || length >= STN_OUTPUT_PATH) {
            return ENAMETOOLONG;
        }
        o->descriptor = open(o->place, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (o->descriptor >= 0 && there) {
            keep_mode(o->descriptor, &was);
        }
        if (o->descriptor >= 0 || errno != EEXIST) {
            break;
        }
    }
    o->beside = true;
    return o->descriptor >= 0 ? 0 : errno;
}

// --------------------------------------------------------------------------------------------------------------
// streams

/// The file that is there, or a new one, for this output alone. EWOULDBLOCK: another one has it.
static int lock_target(stn_output *o, struct stat *was) {
    for (int attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
        struct stat now;
        o->lock = open(o->target, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
        if (o->lock < 0) {
            return errno;
        }
        // file systems without locks do not refuse
        if (flock(o->lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
            return EWOULDBLOCK;
        }
        if (fstat(o->lock, was) != 0) {
            return errno;
        }
        if (stat(o->target, &now) == 0 && now.st_dev == was->st_dev && now.st_ino == was->st_ino) {
            return 0;
        }
        close(o->lock); // another output took its place between the two
        o->lock = -1;
    }
    return EWOULDBLOCK;
}

static int open_stream(stn_output *o, const char *path) {
    struct stat was;
    if (is_beneath_proc(o->target)) { // behind what this process holds already, as a shell's >> would
        memcpy(o->target, path, strlen(path) + 1);
        o->descriptor = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
        return o->descriptor >= 0 ? 0 : errno;
    }
    int code = lock_target(o, &was);
    if (code != 0) {
        return code;
    }
    if (!S_ISREG(was.st_mode) || was.st_size == 0) {
        o->descriptor = o->lock;
        o->lock = -1;
        return 0;
    }
    // Beside what is there: "a/out.html" -> "a/out.part.html", still what its ending says.
    const char *slash = strrchr(o->target, '/'), *name = slash != NULL ? slash + 1 : o->target;
    const char *dot = strrchr(name, '.');
    dot = dot != NULL && dot != name ? dot : name + strlen(name);
    if (snprintf(o->place, STN_OUTPUT_PATH, "%.*s.part%s", (int)(dot - o->target), o->target, dot) >= STN_OUTPUT_PATH) {
        return ENAMETOOLONG;
    }
    if (unlink(o->place) != 0 && errno != ENOENT) { // of a process that was killed: who has the lock is the only one
        return errno;
    }
    o->descriptor = open(o->place, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (o->descriptor < 0) {
        return errno;
    }
    keep_mode(o->descriptor, &was);
    o->beside = true;
    return 0;
}

// ------------------------------------------------------------------------------------------------------- both kinds

stn_status stn_output_open(const char *path, stn_output_kind kind, stn_output *o, stn_error *err) {
    o->descriptor = o->lock = -1;
    o->kind = kind;
    o->beside = false;
    o->target[0] = o->place[0] = '\0';
    // A finished file is not renamed onto a device, pipe or folder, in whose place it would be.
    struct stat what;
    if (kind == STN_OUTPUT_WHOLE && stat(path, &what) == 0 && !S_ISREG(what.st_mode)) {
        return stn_fail(err, STN_ERR_FILE, "%s: cannot be written: it is not a regular file; name another", path);
    }
    int code = follow(path, o->target);
    if (code == 0) {
        code = kind == STN_OUTPUT_WHOLE ? open_whole(o) : open_stream(o, path);
    }
    if (code == 0 && !o->beside) {
        memcpy(o->place, o->target, sizeof o->place);
    }
    if (code != 0 && o->lock >= 0) {
        close(o->lock);
    }
    if (code == EWOULDBLOCK) {
        return stn_fail(err, STN_ERR_FILE, "%s: another recording is being written to it; name another file", path);
    }
    return code == 0 ? STN_OK : cannot(path, code, err);
}

/// Returns errno; `done`: bytes that were written.
static int write_all(int descriptor, const char *bytes, size_t size, size_t *done) {
    for (*done = 0; *done < size;) {
        const ssize_t wrote = write(descriptor, bytes + *done, size - *done);
        if (wrote == 0 || (wrote < 0 && errno != EINTR)) {
            return wrote == 0 ? ENOSPC : errno;
        }
        *done += wrote > 0 ? (size_t)wrote : 0;
    }
    return 0;
}

stn_status stn_output_append(stn_output *o, const char *path, const void *bytes, size_t size, stn_error *err) {
    size_t done;
    const int code = write_all(o->descriptor, bytes, size, &done);
    if (code == 0) {
        return STN_OK;
    }
    const off_t before = lseek(o->descriptor, -(off_t)done, SEEK_CUR); // -1 of a pipe
    (void)(before >= 0 && ftruncate(o->descriptor, before) == 0);      // a device cannot be cut
    char more[STN_OUTPUT_PATH + 80];
    return stn_fail(err, STN_ERR_FILE, "%s: cannot be written: %s%s", path, strerror(code),
                    stn_output_remains(o, more, sizeof more));
}

const char *stn_output_remains(const stn_output *o, char *text, size_t size) {
    bool told = o->beside && o->kind == STN_OUTPUT_STREAM;
    snprintf(text, size, told ? "; what was there stays as it was, %s holds what came so far" : "", o->place);
    return text;
}

stn_status stn_output_close(stn_output *o, stn_output_end end, stn_error *err) {
    bool keep = end == STN_OUTPUT_KEEP, beside = o->beside;
    int code = 0;
    if (keep && beside && fsync(o->descriptor) != 0 && errno != EINVAL) { // EINVAL: cannot be synced
        code = errno;
    }
    if (close(o->descriptor) != 0 && code == 0 && keep) {
        code = errno;
    }
    if (keep && code == 0 && beside && rename(o->place, o->target) != 0) {
        code = errno;
    }
    bool remains = o->kind == STN_OUTPUT_STREAM && end != STN_OUTPUT_DROP;
    if (beside && !(keep && code == 0) && !remains) {
        unlink(o->place);
    }
    if (o->lock >= 0) {
        close(o->lock);
    }
    o->descriptor = o->lock = -1;
    char more[STN_OUTPUT_PATH + 80];
    return code == 0 ? STN_OK
                     : stn_fail(err, STN_ERR_FILE, "%s: cannot be written: %s%s", o->target, strerror(code),
                                stn_output_remains(o, more, sizeof more));
}

stn_status stn_output_write(const char *path, const void *bytes, size_t size, stn_error *err) {
    stn_output o;
    stn_status status = stn_output_open(path, STN_OUTPUT_WHOLE, &o, err);
    if (status != STN_OK) {
        return status;
    }
    status = stn_output_append(&o, path, bytes, size, err);
    if (status != STN_OK) {
        stn_output_close(&o, STN_OUTPUT_DROP, NULL);
        return status;
    }
    return stn_output_close(&o, STN_OUTPUT_KEEP, err);
}
