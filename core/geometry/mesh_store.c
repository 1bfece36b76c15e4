// SPDX-License-Identifier: Apache-2.0
// The cache folder: a file for each finished mesh, named by the hash of its key. Nothing here fails towards the caller:
// a folder that cannot be used is a cache without entries.
#define _GNU_SOURCE // mkostemp
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <sys/stat.h>

#include <xxhash.h>

#include <stiction/input.h>

#include "base/text.h"
#include "geometry/mesh_cache.h"

enum {
    ENTRY_MAX = 1 << 30,      // [bytes] of one file
    DEFAULT_MEBIBYTES = 1024, // of all files
    FORGOTTEN_SECONDS = 3600  // a temporary file as old as this has no writer any more
};

typedef char store_path[4096];

void mesh_store_init(mesh_store *store) {
    const char *given = getenv("STICTION_CACHE"), *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    const char *mebibytes = getenv("STICTION_CACHE_MIB");
    double size = 0.0;
    bool sized = mebibytes != NULL && stn_parse_real(mebibytes, &size) && size >= 0.0 && size <= 1e6;
    int length = 0;
    *store = (mesh_store){.used = -1};
    store->limit = (int64_t)((sized ? size : DEFAULT_MEBIBYTES) * 1048576.0);
    if (given != NULL && given[0] != '\0') {
        length = strcmp(given, "off") != 0 ? snprintf(store->path, sizeof store->path, "%s/meshes", given) : 0;
    } else if (xdg != NULL && xdg[0] == '/') { // relative ones are to be ignored, says the XDG specification
        length = snprintf(store->path, sizeof store->path, "%s/stiction/meshes", xdg);
    } else if (home != NULL && home[0] == '/') {
        length = snprintf(store->path, sizeof store->path, "%s/.cache/stiction/meshes", home);
    }
    if (length < 0 || (size_t)length >= sizeof store->path) {
        store->path[0] = '\0';
    }
}

static void entry_path(const mesh_store *store, const mesh_key *key, store_path path) {
    XXH128_hash_t hash = XXH3_128bits(key, sizeof *key);
    snprintf(path, sizeof(store_path), "%s/%016llx%016llx.mesh", store->path, (unsigned long long)hash.high64,
             (unsigned long long)hash.low64);
}

/// Only a folder that nobody else can write into: what lies there is believed.
static bool is_ours(const char *path) {
    struct stat what;
    return stat(path, &what) == 0 && S_ISDIR(what.st_mode) && what.st_uid == geteuid() && (what.st_mode & 022) == 0;
}

stn_status mesh_store_read(const mesh_store *store, stn_context *context, const mesh_key *key, stn_mesh **mesh,
                           mesh_further_list *further, stn_error *err) {
    store_path path;
    char *bytes;
    size_t size;
    *mesh = NULL;
    *further = (mesh_further_list){0};
    if (store->path[0] == '\0' || access(store->path, F_OK) != 0) {
        return stn_fail(err, STN_ERR_FILE, "there is no cache folder");
    }
    if (!is_ours(store->path)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "%s is not used: it is not yours, or others may write there",
                        store->path);
    }
    entry_path(store, key, path);
    stn_status status = stn_read_regular(context, path, O_NOFOLLOW, ENTRY_MAX, &bytes, &size, err);
    if (status != STN_OK) {
        return status;
    }
    status = mesh_entry_decode(context, key, bytes, size, mesh, further, err);
    stn_release(context, bytes);
    if (status == STN_OK) {
        utimensat(AT_FDCWD, path, NULL, 0); // used now: the oldest go first
    } else {
        stn_error_prefix(err, "%s", path);
    }
    return status;
}

/// mkdir -p, folders for their owner alone. What cannot be made shows at the end.
static bool make_folder(const char *path) {
    store_path part;
    size_t length = strlen(path);
    if (is_ours(path)) {
        return true;
    }
    memcpy(part, path, length + 1);
    for (size_t i = 1; i <= length; i++) {
        if (path[i] == '/' || path[i] == '\0') {
            part[i] = '\0';
            mkdir(part, 0700);
            part[i] = path[i];
        }
    }
    return is_ours(path);
}

typedef struct aged_file {
    char name[48];
    int64_t size;
    struct timespec time;
} aged_file;

static int compare_age(const void *left, const void *right) {
    const aged_file *a = left, *b = right;
    if (a->time.tv_sec != b->time.tv_sec) {
        return a->time.tv_sec < b->time.tv_sec ? -1 : 1;
    }
    return (a->time.tv_nsec > b->time.tv_nsec) - (a->time.tv_nsec < b->time.tv_nsec);
}

/// Is it a file of this folder that counts? Temporary ones that were left behind are removed on the way.
static bool examine(int folder, const char *name, aged_file *file) {
    struct stat what;
    bool entry = text_ends_with(name, ".mesh"), temporary = strncmp(name, "new-", 4) == 0;
    if ((!entry && !temporary) || strlen(name) >= sizeof file->name ||
        fstatat(folder, name, &what, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(what.st_mode)) {
        return false;
    }
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (temporary) {
        if (now.tv_sec - what.st_mtim.tv_sec > FORGOTTEN_SECONDS) {
            unlinkat(folder, name, 0);
        }
        return false;
    }
    snprintf(file->name, sizeof file->name, "%s", name);
    file->size = what.st_size;
    file->time = what.st_mtim;
    return true;
}

/// All entries with their sizes and ages; -1 when out of memory.
static int32_t list_entries(stn_context *context, DIR *folder, aged_file **files, int64_t *total) {
    int32_t count = 0, capacity = 0;
    *files = NULL;
    *total = 0;
    for (struct dirent *item = readdir(folder); item != NULL; item = readdir(folder)) {
        if (count == capacity) {
            int32_t grown = capacity == 0 ? 256 : 2 * capacity;
            aged_file *more = stn_reallocate(context, *files, (size_t)capacity, (size_t)grown, sizeof **files);
            if (more == NULL) {
                return -1;
            }
            *files = more;
            capacity = grown;
        }
        if (examine(dirfd(folder), item->d_name, &(*files)[count])) {
            *total += (*files)[count++].size;
        }
    }
    return count;
}

/// Looks what the folder holds and removes the oldest until a quarter of the limit is free, when it is exceeded.
static void prune(mesh_store *store, stn_context *context) {
    aged_file *files;
    DIR *folder = opendir(store->path);
    if (folder == NULL) {
        return;
    }
    int32_t count = list_entries(context, folder, &files, &store->used);
    if (count > 0 && store->used > store->limit) {
        qsort(files, (size_t)count, sizeof *files, compare_age);
        for (int32_t i = 0; i < count && store->used > store->limit - store->limit / 4; i++) {
            if (unlinkat(dirfd(folder), files[i].name, 0) == 0) {
                store->used -= files[i].size;
            }
        }
    }
    stn_release(context, files);
    closedir(folder);
}

static bool write_whole(int file, const char *bytes, size_t size) {
    size_t done = 0;
    while (done < size) {
        ssize_t n = write(file, bytes + done, size - done);
        if (n < 0 && errno != EINTR) {
            return false;
        }
        done += n > 0 ? (size_t)n : 0;
    }
    return true;
}

/// Under a name of its own first, so that readers and other writers see the whole file or none.
static bool write_entry(const mesh_store *store, const mesh_key *key, const char *bytes, size_t size) {
    store_path path, temporary;
    entry_path(store, key, path);
    snprintf(temporary, sizeof temporary, "%s/new-XXXXXX", store->path);
    int file = mkostemp(temporary, O_CLOEXEC); // of mode 0600
    if (file < 0) {
        return false;
    }
    bool done = write_whole(file, bytes, size);
    done = close(file) == 0 && done;
    done = done && rename(temporary, path) == 0;
    if (!done) {
        unlink(temporary);
    }
    return done;
}

void mesh_store_write(mesh_store *store, stn_context *context, const mesh_key *key, const stn_mesh *mesh,
                      const mesh_further_list *further) {
    char *bytes;
    size_t size;
    if (store->path[0] == '\0') {
        return;
    }
    mesh_entry_encode(context, key, mesh, further, &bytes, &size);
    if (bytes == NULL || size > ENTRY_MAX || (int64_t)size > store->limit) {
        stn_release(context, bytes);
        return;
    }
    if (!make_folder(store->path)) {
        stn_log(context, STN_LOG_DEBUG, "mesh cache: %s cannot be used: %s", store->path, strerror(errno));
    } else if (!write_entry(store, key, bytes, size)) {
        stn_log(context, STN_LOG_DEBUG, "mesh cache: %s: cannot be written: %s", store->path, strerror(errno));
    } else {
        store->used += store->used >= 0 ? (int64_t)size : 0;
        if (store->used < 0 || store->used > store->limit) {
            prune(store, context);
        }
    }
    stn_release(context, bytes);
}
