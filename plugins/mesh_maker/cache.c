// SPDX-License-Identifier: Apache-2.0
// Meshes that were made before, found again by the content of their files: in the context, and in a folder behind it.
#define _GNU_SOURCE // mkostemp, dladdr
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <sys/stat.h>

#include <xxhash.h>

#include <stiction/input.h>
#include <stiction/worker.h>

#include "cache.h"

// ------------------------------------------------------------------------------------------------------------ entries
// A finished mesh as the bytes of a file, in the machine's byte order:
//     entry_header, vertices, extents when there are any, triangles, tetrahedra, then for each further file a
//     entry_file and its name
// The checksum, over all bytes with itself as 0, finds damage. A stranger who can write into the folder could forge it,
// so all numbers are checked once more.

#define ENTRY_MAGIC "stnmesh\n"

/// Made by the build: changes with every source that has a part in a finished mesh.
extern const char mesh_sources[33];

typedef struct entry_file {
    uint64_t hash[2], size;
    uint32_t name_length, reserved;
} entry_file;

typedef struct entry_header {
    char magic[8];
    char sources[32]; // mesh_sources: another version of the library writes other entries
    uint64_t size, checksum;
    mesh_key key;
    int32_t vertex_count, triangle_count, tetrahedron_count, further_count;
    uint32_t convex, up_axis;
    int32_t given_vertex_count, given_triangle_count, given_tetrahedron_count;
    int32_t degenerate_count, open_edge_count, instance_count;
    int32_t solid_counts[8]; // of stn_solid_facts, in its order
    int32_t has_extents, unused;
    double area, volume, unit, least_quality;
    double mass[13]; // mass, centre, inertia by rows
} entry_header;

_Static_assert(sizeof(entry_header) == 8 + 32 + 16 + 72 + 16 + 8 + 24 + 40 + 32 + 104, "no padding");
_Static_assert(offsetof(stn_solid_facts, least_quality) == 8 * sizeof(int32_t), "the counts, then the quality");
_Static_assert(sizeof(stn_mass) == 13 * sizeof(double), "no padding");

void mesh_further_clear(mesh_further_list *list) {
    for (int32_t i = 0; i < list->count; i++) {
        stn_release(list->context, list->files[i].name);
    }
    if (list->files != NULL) {
        stn_release(list->context, list->files);
    }
    *list = (mesh_further_list){0};
}

stn_status mesh_further_add(mesh_further_list *list, const char *name, size_t length, const uint64_t hash[2],
                            uint64_t size, stn_error *err) {
    if (length == 0 || length >= STN_MESH_PATH_MAX || name[0] == '/' || memchr(name, '\0', length) != NULL) {
        return stn_fail(err, STN_ERR_ARGUMENT, "a further file has a bad name of %zu bytes", length);
    }
    if (list->count == STN_MESH_FURTHER_MAX) {
        return stn_fail(err, STN_ERR_ARGUMENT, "more than %d further files", STN_MESH_FURTHER_MAX);
    }
    if (list->files == NULL) {
        list->files = stn_allocate(list->context, STN_MESH_FURTHER_MAX, sizeof *list->files);
    }
    char *copy = list->files != NULL ? stn_allocate(list->context, length + 1, 1) : NULL;
    if (copy == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    memcpy(copy, name, length);
    list->files[list->count++] = (stn_mesh_further){copy, {hash[0], hash[1]}, size};
    return STN_OK;
}

static uint64_t checksum(const char *bytes, size_t size) {
    const size_t place = offsetof(entry_header, checksum), next = place + sizeof(uint64_t);
    return XXH3_64bits(bytes, place) ^ (XXH3_64bits(bytes + next, size - next) * 3);
}

void mesh_entry_seal(const mesh_key *key, char *bytes, size_t size) {
    entry_header h;
    if (size < sizeof h) {
        return;
    }
    memcpy(&h, bytes, sizeof h);
    memcpy(h.magic, ENTRY_MAGIC, sizeof h.magic);
    memcpy(h.sources, mesh_sources, sizeof h.sources);
    h.size = size;
    h.key = *key;
    memcpy(bytes, &h, sizeof h);
    h.checksum = checksum(bytes, size);
    memcpy(bytes, &h, sizeof h);
}

static char *put(char *at, const void *bytes, size_t size) {
    if (size > 0) {
        memcpy(at, bytes, size);
    }
    return at + size;
}

static size_t vertex_bytes(int32_t count) {
    return (size_t)count * 3 * sizeof(double);
}

static size_t extent_bytes(int32_t count, bool has_extents) {
    return has_extents ? (size_t)count * sizeof(double) : 0;
}

static size_t corner_bytes(int32_t count, size_t corners) {
    return (size_t)count * corners * sizeof(int32_t);
}

void mesh_entry_encode(stn_context *context, const mesh_key *key, const stn_mesh *mesh,
                       const mesh_further_list *further, char **bytes, size_t *size) {
    *size = sizeof(entry_header) + vertex_bytes(mesh->vertex_count) +
            extent_bytes(mesh->vertex_count, mesh->extents != NULL) + corner_bytes(mesh->triangle_count, 3) +
            corner_bytes(mesh->tetrahedron_count, 4);
    for (int32_t i = 0; i < further->count; i++) {
        *size += sizeof(entry_file) + strlen(further->files[i].name);
    }
    *bytes = stn_allocate(context, *size, 1);
    if (*bytes == NULL) {
        return;
    }
    const stn_mesh_facts *facts = &mesh->facts;
    entry_header h = {.magic = {0}};
    h.vertex_count = mesh->vertex_count;
    h.triangle_count = mesh->triangle_count;
    h.tetrahedron_count = mesh->tetrahedron_count;
    h.further_count = further->count;
    h.convex = mesh->convex;
    h.up_axis = (unsigned char)facts->up_axis;
    h.given_vertex_count = facts->vertex_count;
    h.given_triangle_count = facts->triangle_count;
    h.given_tetrahedron_count = facts->tetrahedron_count;
    h.degenerate_count = facts->degenerate_count;
    h.open_edge_count = facts->open_edge_count;
    h.instance_count = facts->instance_count;
    memcpy(h.solid_counts, &facts->solid, sizeof h.solid_counts);
    h.has_extents = mesh->extents != NULL;
    h.least_quality = facts->solid.least_quality;
    h.area = facts->area;
    h.volume = facts->volume;
    h.unit = facts->unit;
    memcpy(h.mass, &mesh->solid, sizeof h.mass);
    char *at = put(*bytes, &h, sizeof h);
    at = put(at, mesh->vertices, vertex_bytes(mesh->vertex_count));
    at = put(at, mesh->extents, extent_bytes(mesh->vertex_count, mesh->extents != NULL));
    at = put(at, mesh->triangles, corner_bytes(mesh->triangle_count, 3));
    at = put(at, mesh->tetrahedra, corner_bytes(mesh->tetrahedron_count, 4));
    for (int32_t i = 0; i < further->count; i++) {
        const stn_mesh_further *f = &further->files[i];
        entry_file file = {{f->hash[0], f->hash[1]}, f->size, (uint32_t)strlen(f->name), 0};
        at = put(at, &file, sizeof file);
        at = put(at, f->name, file.name_length);
    }
    mesh_entry_seal(key, *bytes, *size);
}

/// The mesh as it lies in the bytes, which are aligned as from the allocator.
static stn_mesh point_at(const entry_header *h, const char *bytes) {
    const char *extents = bytes + vertex_bytes(h->vertex_count);
    const char *triangles = extents + extent_bytes(h->vertex_count, h->has_extents == 1);
    const char *tetrahedra = triangles + corner_bytes(h->triangle_count, 3);
    stn_mesh mesh = {.vertex_count = h->vertex_count,
                     .triangle_count = h->triangle_count,
                     .tetrahedron_count = h->tetrahedron_count,
                     .vertices = (const double *)(const void *)bytes,
                     .triangles = (const int32_t *)(const void *)triangles,
                     .tetrahedra = h->tetrahedron_count > 0 ? (const int32_t *)(const void *)tetrahedra : NULL,
                     .extents = h->has_extents == 1 ? (const double *)(const void *)extents : NULL,
                     .convex = h->convex != 0};
    mesh.facts = (stn_mesh_facts){.vertex_count = h->given_vertex_count,
                                  .triangle_count = h->given_triangle_count,
                                  .tetrahedron_count = h->given_tetrahedron_count,
                                  .degenerate_count = h->degenerate_count,
                                  .open_edge_count = h->open_edge_count,
                                  .area = h->area,
                                  .volume = h->volume,
                                  .unit = h->unit,
                                  .up_axis = (char)h->up_axis,
                                  .instance_count = h->instance_count};
    memcpy(&mesh.facts.solid, h->solid_counts, sizeof h->solid_counts);
    mesh.facts.solid.least_quality = h->least_quality;
    memcpy(&mesh.solid, h->mass, sizeof h->mass);
    return mesh;
}

stn_status mesh_entry_decode(stn_context *context, const mesh_key *key, const char *bytes, size_t size, stn_mesh **mesh,
                             mesh_further_list *further, stn_error *err) {
    entry_header h;
    *mesh = NULL;
    *further = (mesh_further_list){.context = context};
    if (size < sizeof h) {
        return stn_fail(err, STN_ERR_ARGUMENT, "cut off");
    }
    memcpy(&h, bytes, sizeof h);
    if (memcmp(h.magic, ENTRY_MAGIC, sizeof h.magic) != 0 || h.size != size) {
        return stn_fail(err, STN_ERR_ARGUMENT, "not an entry, or cut off");
    }
    if (memcmp(h.sources, mesh_sources, sizeof h.sources) != 0) {
        return stn_fail(err, STN_ERR_ARGUMENT, "written by another version");
    }
    if (h.checksum != checksum(bytes, size)) {
        return stn_fail(err, STN_ERR_ARGUMENT, "damaged: its checksum differs");
    }
    if (memcmp(&h.key, key, sizeof *key) != 0) {
        return stn_fail(err, STN_ERR_ARGUMENT, "of another file");
    }
    bool counts = h.vertex_count > 0 && h.triangle_count >= 0 && h.tetrahedron_count >= 0 && h.further_count >= 0 &&
                  h.vertex_count <= STN_MESH_COUNT_MAX && h.triangle_count <= STN_MESH_COUNT_MAX &&
                  h.tetrahedron_count <= STN_MESH_COUNT_MAX && h.further_count <= STN_MESH_FURTHER_MAX;
    if (!counts || h.convex > 1 || h.has_extents < 0 || h.has_extents > 1 || h.up_axis < 'x' || h.up_axis > 'z') {
        return stn_fail(err, STN_ERR_ARGUMENT, "counts out of range");
    }
    size_t numbers = vertex_bytes(h.vertex_count) + extent_bytes(h.vertex_count, h.has_extents == 1) +
                     corner_bytes(h.triangle_count, 3) + corner_bytes(h.tetrahedron_count, 4);
    size_t left = size - sizeof h;
    if (numbers > left) {
        return stn_fail(err, STN_ERR_ARGUMENT, "more numbers than bytes");
    }
    const char *at = bytes + sizeof h + numbers;
    left -= numbers;
    stn_status status = STN_OK;
    for (int32_t i = 0; i < h.further_count && status == STN_OK; i++) {
        entry_file file = {.name_length = UINT32_MAX};
        if (left >= sizeof file) {
            memcpy(&file, at, sizeof file);
            at += sizeof file;
            left -= sizeof file;
        }
        if (file.name_length > left) { // or its head is
            status = stn_fail(err, STN_ERR_ARGUMENT, "further files are cut off");
        } else {
            status = mesh_further_add(further, at, file.name_length, file.hash, file.size, err);
            at += file.name_length;
            left -= file.name_length;
        }
    }
    if (status == STN_OK && left > 0) {
        status = stn_fail(err, STN_ERR_ARGUMENT, "%zu bytes too many", left);
    }
    if (status == STN_OK) {
        stn_mesh parts = point_at(&h, bytes + sizeof h);
        status = stn_mesh_create_finished(context, &parts, mesh, err);
    }
    if (status != STN_OK) {
        mesh_further_clear(further);
    }
    return status;
}

// --------------------------------------------------------------------------------------------------------- the folder
// The cache folder: a file for each finished mesh, named by the hash of its key. Nothing here fails towards the caller:
// a folder that cannot be used is a cache without entries.

/// `path` is empty when there is no folder.
typedef struct mesh_store {
    char path[3800]; // with room for the name of a file
    int64_t limit;   // [bytes] of all files
    int64_t used;    // [bytes], as last seen; -1: not looked yet
} mesh_store;

enum {
    ENTRY_MAX = 1 << 30,      // [bytes] of one file
    DEFAULT_MEBIBYTES = 1024, // of all files
    FORGOTTEN_SECONDS = 3600  // a temporary file as old as this has no writer any more
};

typedef char store_path[4096];

/// STICTION_CACHE (off: none), else XDG_CACHE_HOME/stiction, else HOME/.cache/stiction. Nothing is created yet.
static void store_init(mesh_store *store) {
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

/// STN_ERR_FILE when there is no entry; other failures are worth a line of the debug log.
static stn_status store_read(const mesh_store *store, stn_context *context, const mesh_key *key, stn_mesh **mesh,
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
    const char *ending = strrchr(name, '.');
    bool entry = ending != NULL && ending != name && strcmp(ending, ".mesh") == 0,
         temporary = strncmp(name, "new-", 4) == 0;
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

/// Looks what the folder holds and removes the oldest until a quarter of the limit is free, when it is exceeded.
static void prune(mesh_store *store, stn_context *context) {
    aged_file *files = NULL;
    int32_t count = 0, capacity = 0;
    DIR *folder = opendir(store->path);
    if (folder == NULL) {
        return;
    }
    store->used = 0;
    for (struct dirent *item = readdir(folder); item != NULL; item = readdir(folder)) {
        if (count == capacity) {
            int32_t grown = capacity == 0 ? 256 : 2 * capacity;
            aged_file *more = stn_reallocate(context, files, (size_t)capacity, (size_t)grown, sizeof *files);
            if (more == NULL) {
                count = 0; // nothing is removed
                break;
            }
            files = more;
            capacity = grown;
        }
        if (examine(dirfd(folder), item->d_name, &files[count])) {
            store->used += files[count++].size;
        }
    }
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

/// Under a name of its own first, so that readers and other writers see the whole file or none.
static bool write_entry(const mesh_store *store, const mesh_key *key, const char *bytes, size_t size) {
    store_path path, temporary;
    size_t done = 0;
    entry_path(store, key, path);
    snprintf(temporary, sizeof temporary, "%s/new-XXXXXX", store->path);
    int file = mkostemp(temporary, O_CLOEXEC); // of mode 0600
    if (file < 0) {
        return false;
    }
    bool good = true;
    while (done < size && good) {
        ssize_t n = write(file, bytes + done, size - done);
        good = n >= 0 || errno == EINTR;
        done += n > 0 ? (size_t)n : 0;
    }
    good = close(file) == 0 && good;
    good = good && rename(temporary, path) == 0;
    if (!good) {
        unlink(temporary);
    }
    return good;
}

/// Creates the folder when it is missing. Oldest files go when there are too many bytes.
static void store_write(mesh_store *store, stn_context *context, const mesh_key *key, const stn_mesh *mesh,
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

// -------------------------------------------------------------------------------------------------------- the context

enum { IDLE_BYTES_MAX = 256 << 20 }; // of meshes that only the cache holds

typedef struct cached_mesh {
    mesh_key key;
    const stn_mesh *mesh;
    mesh_further_list further;
    uint64_t used; // by the clock of the cache: how long ago
    struct cached_mesh *next;
} cached_mesh;

/// A plugin that was asked for before.
typedef struct known_plugin {
    const stn_plugin_desc *desc;
    uint64_t hash;
    bool unknown; // see mesh_key
    struct known_plugin *next;
} known_plugin;

typedef struct mesh_cache {
    pthread_mutex_t mutex;  // entries, plugins, clock
    pthread_mutex_t writer; // store
    cached_mesh *entries;
    known_plugin *plugins;
    uint64_t clock;
    mesh_store store;
} mesh_cache;

static void release_entry(stn_context *context, cached_mesh *entry) {
    mesh_further_clear(&entry->further);
    stn_mesh_release(entry->mesh);
    stn_release(context, entry);
}

static void destroy_cache(stn_context *context, void *thing) {
    mesh_cache *cache = thing;
    while (cache->entries != NULL) {
        cached_mesh *entry = cache->entries;
        cache->entries = entry->next;
        release_entry(context, entry);
    }
    while (cache->plugins != NULL) {
        known_plugin *plugin = cache->plugins;
        cache->plugins = plugin->next;
        stn_release(context, plugin);
    }
    pthread_mutex_destroy(&cache->mutex);
    pthread_mutex_destroy(&cache->writer);
    stn_release(context, cache);
}

static stn_status create_cache(stn_context *context, void *user, void **thing, size_t *bytes, stn_error *err) {
    (void)user;
    *bytes = 0; // it stays
    mesh_cache *cache = stn_allocate(context, 1, sizeof *cache);
    if (cache == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "mesh cache: out of memory");
    }
    pthread_mutex_init(&cache->mutex, NULL);
    pthread_mutex_init(&cache->writer, NULL);
    store_init(&cache->store);
    *thing = cache;
    return STN_OK;
}

/// The cache of the context, made at the first question; NULL when out of memory.
static mesh_cache *open_cache(stn_context *context) {
    static const char key[] = "mesh cache";
    const stn_shared_spec spec = {.key = key, .key_size = sizeof key, .create = create_cache, .destroy = destroy_cache};
    const stn_shared *shared = NULL;
    if (stn_shared_hold(context, &spec, &shared, NULL) != STN_OK) {
        return NULL;
    }
    mesh_cache *cache = (mesh_cache *)shared->thing;
    stn_shared_release(context, shared); // the context keeps it to its end
    return cache;
}

static bool hash_file(int file, size_t size, uint64_t hash[2]) {
    XXH3_state_t *state = XXH3_createState();
    char bytes[1 << 14];
    bool good = state != NULL && XXH3_128bits_reset(state) == XXH_OK;
    while (good && size > 0) {
        ssize_t n = read(file, bytes, size < sizeof bytes ? size : sizeof bytes);
        if (n > 0) {
            XXH3_128bits_update(state, bytes, (size_t)n);
            size -= (size_t)n;
        } else {
            good = n < 0 && errno == EINTR;
        }
    }
    if (good) {
        XXH128_hash_t sum = XXH3_128bits_digest(state);
        hash[0] = sum.low64;
        hash[1] = sum.high64;
    }
    XXH3_freeState(state);
    return good;
}

static uint64_t hash_text(uint64_t hash, const char *text) {
    return text != NULL ? stn_hash(hash, text, strlen(text) + 1) : stn_hash(hash, "", 1);
}

/// What tells the build of a mesh plugin from every other one, and its plugin from others: id, version, `build`, where
/// in which code in memory its functions are, and the bytes of its file: where that was replaced under a running
/// program, no other process has both.
static void hash_plugin(const stn_plugin_info *plugin, known_plugin *out) {
    const stn_plugin_desc *desc = plugin->desc;
    const stn_mesh_ops *ops = desc->ops.mesh;
    const void *functions[2] = {NULL};
    memcpy(&functions[0], &ops->read, sizeof functions[0]); // as POSIX has it: functions have addresses like objects
    memcpy(&functions[1], &desc->create, sizeof functions[1]);
    uint64_t code[2] = {stn_code_hash(desc), stn_code_hash(functions[0])}, place[2] = {0, 0}, content[2] = {0, 0};
    for (int32_t i = 0; i < 2; i++) {
        Dl_info where;
        if (functions[i] != NULL && dladdr(functions[i], &where) != 0) {
            place[i] = (uintptr_t)functions[i] - (uintptr_t)where.dli_fbase;
        }
    }
    size_t size = 0;
    int file = stn_open_regular(plugin->file, 0, &size);
    if (file >= 0) {
        hash_file(file, size, content);
        close(file);
    }
    uint64_t hash = hash_text(hash_text(0, desc->id), desc->version);
    hash = hash_text(hash, STN_PLUGIN_HAS(ops, build) ? ops->build : NULL);
    hash = stn_hash(hash, code, sizeof code);
    hash = stn_hash(hash, place, sizeof place);
    *out = (known_plugin){
        .desc = desc, .hash = stn_hash(hash, content, sizeof content), .unknown = code[0] == 0 || code[1] == 0};
}

void mesh_key_set_plugin(mesh_key *key, stn_context *context, const stn_plugin_info *plugin) {
    mesh_cache *cache = open_cache(context);
    known_plugin found = {.desc = NULL};
    if (cache != NULL) {
        pthread_mutex_lock(&cache->mutex);
        known_plugin *known = cache->plugins;
        while (known != NULL && known->desc != plugin->desc) {
            known = known->next;
        }
        if (known == NULL) {
            known = stn_allocate(context, 1, sizeof *known);
            if (known != NULL) {
                hash_plugin(plugin, known);
                known->next = cache->plugins;
                cache->plugins = known;
            }
        }
        found = known != NULL ? *known : found;
        pthread_mutex_unlock(&cache->mutex);
    }
    if (found.desc == NULL) {
        hash_plugin(plugin, &found);
    }
    key->plugin = found.hash;
    key->unknown_code = found.unknown;
}

/// Are all further files as they were when the mesh was made?
static bool further_agree(const mesh_further_list *list, const mesh_place *place) {
    for (int32_t i = 0; i < list->count; i++) {
        const stn_mesh_further *f = &list->files[i];
        size_t size = 0;
        uint64_t hash[2] = {0, 0};
        int file = stn_open_below(place->root, place->folder, f->name, &size);
        if (file < 0) {
            return false;
        }
        bool same = size == f->size && hash_file(file, size, hash) && hash[0] == f->hash[0] && hash[1] == f->hash[1];
        close(file);
        if (!same) {
            return false;
        }
    }
    return true;
}

/// Drops the longest unused of the meshes that nobody holds until the rest is small enough.
static void drop_idle(stn_context *context, mesh_cache *cache) {
    for (;;) {
        size_t idle = 0;
        cached_mesh **oldest = NULL;
        for (cached_mesh **at = &cache->entries; *at != NULL; at = &(*at)->next) {
            const stn_mesh_use use = stn_mesh_use_of((*at)->mesh);
            if (use.references == 1) {
                idle += use.bytes;
                oldest = oldest == NULL || (*at)->used < (*oldest)->used ? at : oldest;
            }
        }
        if (idle <= IDLE_BYTES_MAX) {
            return;
        }
        cached_mesh *entry = *oldest;
        *oldest = entry->next;
        release_entry(context, entry);
    }
}

static cached_mesh **find_entry(mesh_cache *cache, const mesh_key *key) {
    cached_mesh **at = &cache->entries;
    while (*at != NULL && memcmp(&(*at)->key, key, sizeof *key) != 0) {
        at = &(*at)->next;
    }
    return at;
}

/// Puts a mesh into the context. Both the entry and the caller hold it.
static const stn_mesh *insert(stn_context *context, mesh_cache *cache, const mesh_key *key, const stn_mesh *mesh,
                              mesh_further_list *further) {
    cached_mesh *entry = stn_allocate(context, 1, sizeof *entry);
    if (entry == NULL) {
        mesh_further_clear(further);
        return mesh;
    }
    pthread_mutex_lock(&cache->mutex);
    cached_mesh **at = find_entry(cache, key);
    cached_mesh *before = *at;
    if (before != NULL && further->count == 0 && before->further.count == 0) {
        // two threads made the same mesh: the first is the one that is shared
        const stn_mesh *first = stn_mesh_keep(before->mesh);
        pthread_mutex_unlock(&cache->mutex);
        stn_release(context, entry);
        stn_mesh_release(mesh);
        return first;
    }
    *entry = (cached_mesh){*key, stn_mesh_keep(mesh), *further, ++cache->clock, cache->entries};
    *further = (mesh_further_list){0};
    if (before != NULL) { // of further files that have changed
        *at = before->next;
        entry->next = cache->entries;
    }
    cache->entries = entry;
    drop_idle(context, cache);
    pthread_mutex_unlock(&cache->mutex);
    if (before != NULL) {
        release_entry(context, before);
    }
    return mesh;
}

const stn_mesh *mesh_cache_find(stn_context *context, const mesh_key *key, const mesh_place *place) {
    mesh_cache *cache = open_cache(context);
    if (cache == NULL) {
        return NULL;
    }
    const stn_mesh *found = NULL;
    pthread_mutex_lock(&cache->mutex);
    cached_mesh *entry = *find_entry(cache, key);
    if (entry != NULL && further_agree(&entry->further, place)) {
        entry->used = ++cache->clock;
        found = stn_mesh_keep(entry->mesh);
    }
    pthread_mutex_unlock(&cache->mutex);
    if (found != NULL || key->unknown_code != 0) {
        return found;
    }
    stn_mesh *stored = NULL;
    mesh_further_list further = {0};
    stn_error why = {STN_OK, ""};
    stn_status status = store_read(&cache->store, context, key, &stored, &further, &why);
    if (status != STN_OK) {
        if (status != STN_ERR_FILE) {
            stn_log(context, STN_LOG_DEBUG, "mesh cache: %s", why.text);
        }
        return NULL;
    }
    if (!further_agree(&further, place)) {
        mesh_further_clear(&further);
        stn_mesh_release(stored);
        return NULL;
    }
    return insert(context, cache, key, stored, &further);
}

const stn_mesh *mesh_cache_add(stn_context *context, const mesh_key *key, const stn_mesh *mesh,
                               mesh_further_list *further) {
    mesh_cache *cache = open_cache(context);
    if (cache == NULL) {
        mesh_further_clear(further);
        return mesh;
    }
    if (key->unknown_code == 0) {
        pthread_mutex_lock(&cache->writer);
        store_write(&cache->store, context, key, mesh, further);
        pthread_mutex_unlock(&cache->writer);
    }
    return insert(context, cache, key, mesh, further);
}
