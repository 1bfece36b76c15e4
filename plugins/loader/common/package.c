// SPDX-License-Identifier: Apache-2.0
// Where a package lies: a folder whose package.xml says its name, or, without a package.xml, a folder of that name.
// Looked for in this order:
//   1. the entries of the caller: folders with packages in them, or "name=folder" for one package;
//   2. the folder of the robot file and its parents, folders beside them, and what lies inside and beside the package
//      that holds the file;
//   3. the entries of ROS_PACKAGE_PATH, then of Gazebo's GZ_SIM_RESOURCE_PATH, GAZEBO_MODEL_PATH and SDF_PATH.
// Of several in one place the nearest that package.xml names counts, else the nearest that its folder names; of equally
// near ones the first in alphabetical order. Places are searched once a load, to a bounded depth and size.
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "robot.h"

enum {
    DEEPEST = 4,
    MOST_FOLDERS = 5000,
    MOST_PACKAGES = 256,
    PACKAGE_FILE = 1 << 16,
    BY_FOLDER = 1000,
    NO_MATCH = 1 << 20
};

/// The best folder so far. Its rank is its depth, + BY_FOLDER when only the folder's name fits.
typedef struct match {
    const char *path;
    int32_t rank;
} match;

static const match none = {NULL, NO_MATCH};

static bool is_folder(const char *path) {
    struct stat about;
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

/// path = folder/name; false when that is too long.
static bool join(char path[ROBOT_PATH], const char *folder, const char *name) {
    int length = snprintf(path, ROBOT_PATH, "%s/%s", strcmp(folder, "/") == 0 ? "" : folder, name);
    return length > 0 && length < ROBOT_PATH;
}

/// Cuts the last part off; false at the root.
static bool go_up(char path[ROBOT_PATH]) {
    char *slash = strrchr(path, '/');
    if (slash == NULL || slash[1] == '\0') {
        return false;
    }
    slash[slash == path ? 1 : 0] = '\0';
    return true;
}

// ---------------------------------------------------------------------------------------------------- package.xml

/// The name of the package that a folder is: "" when its package.xml has none, or is not plain XML of a sensible size.
/// false: no readable package.xml.
static bool read_package_name(const char *folder, char name[ROBOT_PACKAGE_NAME]) {
    char path[ROBOT_PATH], text[PACKAGE_FILE + 1];
    name[0] = '\0';
    int file = join(path, folder, "package.xml") ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    if (file < 0) {
        return false;
    }
    ssize_t got = read(file, text, PACKAGE_FILE);
    close(file);
    if (got < 0) {
        return false;
    }
    xml_problem problem;
    size_t length = (size_t)got;
    int32_t marks = 0;
    text[length] = '\0';
    bool plain =
        length < PACKAGE_FILE && memchr(text, '\0', length) == NULL && robot_has_few_marks(text, length, &marks, NULL);
    xml_document *document = plain ? xml_parse(text, length, "package.xml", &problem) : NULL;
    for (const xml_element *e = document != NULL ? xml_first_child(xml_root(document)) : NULL; e != NULL;
         e = xml_next_sibling(e)) {
        if (strcmp(xml_name(e), "name") == 0) {
            const char *start = xml_text(e) + strspn(xml_text(e), " \t\r\n");
            snprintf(name, ROBOT_PACKAGE_NAME, "%.*s", (int)strcspn(start, " \t\r\n"), start);
            break;
        }
    }
    xml_free(document);
    return true;
}

/// The nearest package at or above a path: cuts `path` to its folder. false: none, `path` is spoilt.
static bool find_above(char path[ROBOT_PATH], char name[ROBOT_PACKAGE_NAME]) {
    do {
        if (read_package_name(path, name)) {
            return true;
        }
    } while (go_up(path));
    return false;
}

bool robot_is_inside_package(const char *path, const char *package) {
    char folder[ROBOT_PATH], name[ROBOT_PACKAGE_NAME];
    int length = snprintf(folder, sizeof folder, "%s", path);
    return length < ROBOT_PATH && find_above(folder, name) && name[0] != '\0' && strcmp(name, package) == 0;
}

// --------------------------------------------------------------------------------------------------------- places

/// Rank of a folder for a name; `package`: NULL without a package.xml.
static int32_t rank_of(const char *path, const char *package, int32_t depth, const char *wanted) {
    const char *slash = strrchr(path, '/');
    bool named = package != NULL && package[0] != '\0';
    const char *name = named ? package : slash != NULL ? slash + 1 : path;
    return strcmp(name, wanted) != 0 ? NO_MATCH : depth + (named ? 0 : BY_FOLDER);
}

static void take_better(match *best, const char *path, int32_t rank) {
    if (rank < best->rank || (rank == best->rank && rank < NO_MATCH && strcmp(path, best->path) < 0)) {
        *best = (match){path, rank};
    }
}

static void add_folder(robot_reader *reader, robot_folders *place, const char *path, int32_t depth) {
    char name[ROBOT_PACKAGE_NAME];
    place->folders = robot_reserve(reader, place->folders, place->count, &place->capacity, sizeof *place->folders);
    if (place->count < place->capacity) {
        bool known = read_package_name(path, name);
        place->folders[place->count++] =
            (robot_folder){robot_text(reader, "%s", path), known ? robot_text(reader, "%s", name) : NULL, depth};
    }
}

static int by_path(const void *a, const void *b) {
    return strcmp(((const robot_folder *)a)->path, ((const robot_folder *)b)->path);
}

/// Adds the folders inside a folder, in alphabetical order; hidden ones are left out.
static void list_inside(robot_reader *reader, robot_folders *place, const robot_folder *folder, int32_t limit) {
    int32_t start = place->count;
    DIR *entries = opendir(folder->path);
    for (struct dirent *e; entries != NULL && (e = readdir(entries)) != NULL && place->count < limit;) {
        char path[ROBOT_PATH];
        bool maybe = e->d_type == DT_DIR || e->d_type == DT_LNK || e->d_type == DT_UNKNOWN;
        if (e->d_name[0] != '.' && maybe && join(path, folder->path, e->d_name) && is_folder(path)) {
            add_folder(reader, place, path, folder->depth + 1);
        }
    }
    if (entries != NULL) {
        closedir(entries);
    }
    if (place->count > start) {
        qsort(place->folders + start, (size_t)(place->count - start), sizeof *place->folders, by_path);
    }
}

/// A folder and everything below it down to DEEPEST, the nearest first.
static void scan(robot_reader *reader, robot_folders *place, const char *path) {
    char real[PATH_MAX];
    int32_t start = place->count, limit = start + MOST_FOLDERS;
    if (realpath(path, real) == NULL || strlen(real) >= ROBOT_PATH || !is_folder(real)) {
        return;
    }
    add_folder(reader, place, real, 0);
    for (int32_t i = start; i < place->count && place->count < limit && !reader->out_of_memory; i++) {
        robot_folder folder = place->folders[i];
        if (folder.depth < DEEPEST) {
            list_inside(reader, place, &folder, limit);
        }
    }
}

static void scan_given(robot_reader *reader, robot_folders *place) {
    const char *const *entry = reader->request->package_paths;
    for (; entry != NULL && *entry != NULL; entry++) {
        scan(reader, place, *entry);
    }
}

static void scan_inside(robot_reader *reader, robot_folders *place) {
    if (reader->main_base.home.package != NULL) {
        scan(reader, place, reader->main_base.home.path);
    }
}

static void scan_beside(robot_reader *reader, robot_folders *place) {
    char path[ROBOT_PATH];
    snprintf(path, sizeof path, "%s", reader->main_base.home.path);
    if (reader->main_base.home.package != NULL && go_up(path) && strcmp(path, "/") != 0) {
        scan(reader, place, path);
    }
}

static void scan_environment(robot_reader *reader, robot_folders *place) {
    static const char *const names[] = {"ROS_PACKAGE_PATH", "GZ_SIM_RESOURCE_PATH", "GAZEBO_MODEL_PATH", "SDF_PATH"};
    for (int32_t i = 0; i < STN_COUNT(names); i++) {
        const char *list = getenv(names[i]);
        while (list != NULL && *list != '\0') {
            char entry[ROBOT_PATH];
            size_t length = strcspn(list, ":");
            if (length > 0 && length < sizeof entry) {
                snprintf(entry, sizeof entry, "%.*s", (int)length, list);
                scan(reader, place, entry);
            }
            list += length + (list[length] == ':');
        }
    }
}

static match look_in(robot_reader *reader, robot_folders_id id, const char *wanted) {
    static void (*const scans[ROBOT_FOLDERS_COUNT])(robot_reader *, robot_folders *) = {
        [ROBOT_FOLDERS_GIVEN] = scan_given,
        [ROBOT_FOLDERS_INSIDE] = scan_inside,
        [ROBOT_FOLDERS_BESIDE] = scan_beside,
        [ROBOT_FOLDERS_ENVIRONMENT] = scan_environment,
    };
    robot_folders *place = &reader->places[id];
    match best = none;
    if (!place->scanned) {
        place->scanned = true;
        scans[id](reader, place);
    }
    for (int32_t i = 0; i < place->count; i++) {
        const robot_folder *f = &place->folders[i];
        take_better(&best, f->path, rank_of(f->path, f->package, f->depth, wanted));
    }
    return best;
}

// --------------------------------------------------------------------------------------------------------- lookup

static void consider(robot_reader *reader, match *best, const char *path, int32_t depth, const char *wanted) {
    char name[ROBOT_PACKAGE_NAME];
    bool known = read_package_name(path, name);
    int32_t rank = rank_of(path, known ? name : NULL, depth, wanted);
    if (rank < best->rank) {
        take_better(best, robot_text(reader, "%s", path), rank);
    }
}

/// In the folders of the file and above, and beside them; then in and beside its package, where a package.xml's name
/// beats a folder's.
static match look_nearby(robot_reader *reader, const char *wanted) {
    char path[ROBOT_PATH], beside[ROBOT_PATH];
    match best = none;
    snprintf(path, sizeof path, "%s", reader->main_base.folder);
    for (int32_t depth = 0; strcmp(path, "/") != 0; depth++) {
        consider(reader, &best, path, depth, wanted);
        if (join(beside, path, wanted) && is_folder(beside)) {
            consider(reader, &best, beside, depth + 1, wanted);
        }
        if (!go_up(path)) {
            break;
        }
    }
    for (int32_t id = ROBOT_FOLDERS_INSIDE; id <= ROBOT_FOLDERS_BESIDE && best.rank >= BY_FOLDER; id++) {
        match other = look_in(reader, (robot_folders_id)id, wanted);
        best = other.rank < BY_FOLDER || best.rank == NO_MATCH ? other : best;
    }
    return best;
}

bool robot_make_root(robot_reader *reader, const char *path, robot_root *root) {
    char name[ROBOT_PACKAGE_NAME], real[PATH_MAX];
    bool known = read_package_name(path, name) && name[0] != '\0';
    if (realpath(path, real) == NULL) {
        return false;
    }
    *root = (robot_root){robot_text(reader, "%s", path), robot_text(reader, "%s", real),
                         known ? robot_text(reader, "%s", name) : NULL};
    return true;
}

const robot_root *robot_find_package(robot_reader *reader, const char *name) {
    const robot_package *known = reader->packages;
    int32_t count = 0;
    for (; known != NULL; known = known->next, count++) {
        if (strcmp(known->name, name) == 0) {
            return known->root;
        }
    }
    robot_package *found = count < MOST_PACKAGES ? ROBOT_NEW(reader, 1, robot_package) : NULL;
    if (found == NULL) {
        return NULL;
    }
    *found = (robot_package){robot_text(reader, "%s", name), NULL, reader->packages};
    reader->packages = found;
    match best = none;
    const char *const *entry = reader->request->package_paths;
    for (size_t length = strlen(name); entry != NULL && *entry != NULL && best.rank == NO_MATCH; entry++) {
        char real[PATH_MAX]; // "name=folder" of the caller, where no folder has that whole text as its name
        bool named = strncmp(*entry, name, length) == 0 && (*entry)[length] == '=' && !is_folder(*entry);
        if (named && realpath(*entry + length + 1, real) != NULL && is_folder(real)) {
            best = (match){robot_text(reader, "%s", real), 0};
        }
    }
    best = best.rank == NO_MATCH ? look_in(reader, ROBOT_FOLDERS_GIVEN, name) : best;
    best = best.rank == NO_MATCH ? look_nearby(reader, name) : best;
    best = best.rank == NO_MATCH ? look_in(reader, ROBOT_FOLDERS_ENVIRONMENT, name) : best;
    robot_root *root = best.rank < NO_MATCH ? ROBOT_NEW(reader, 1, robot_root) : NULL;
    if (root != NULL && robot_make_root(reader, best.path, root)) {
        found->root = root;
    }
    return found->root;
}

bool robot_locate_file(robot_reader *reader, const char *file, robot_base *base) {
    char path[ROBOT_PATH], real[PATH_MAX], name[ROBOT_PACKAGE_NAME];
    int length = snprintf(path, sizeof path, "%s", file);
    char *slash = strrchr(path, '/');
    if (length < 0 || length >= ROBOT_PATH) {
        return false;
    }
    if (slash == NULL) {
        snprintf(path, sizeof path, ".");
    } else {
        slash[slash == path ? 1 : 0] = '\0';
    }
    if (realpath(path, real) == NULL || snprintf(path, sizeof path, "%s", real) >= ROBOT_PATH) {
        return false;
    }
    *base = (robot_base){.id = reader->base_count++, .folder = robot_text(reader, "%s", path)};
    if (find_above(path, name)) {
        bool made = robot_make_root(reader, path, &base->home);
        base->home.package = base->home.package != NULL ? base->home.package : "";
        return made;
    }
    snprintf(path, sizeof path, "%s", base->folder); // no package: the folder and its parent, but never everything
    bool parted = go_up(path) && strcmp(path, "/") != 0;
    return robot_make_root(reader, parted ? path : base->folder, &base->home);
}
