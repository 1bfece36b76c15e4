// SPDX-License-Identifier: Apache-2.0
// Where a package lies: a folder whose package.xml says its name, or, without a package.xml, a folder of that name.
// Looked for in this order: folders given by the caller; the folder of the file and its parents (and folders beside
// them); inside and beside the package that holds the file; the entries of ROS_PACKAGE_PATH. The nearest match of the
// first place that has one counts; of equally near ones the first in alphabetical order.
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "urdf.h"

enum { DEEPEST = 4, MOST_FOLDERS = 5000, PACKAGE_FILE = 1 << 16, BY_FOLDER = 1000, NO_MATCH = 1 << 20 };

typedef struct search {
    const char *name;
    int32_t rank;    // of the best match: depth, + BY_FOLDER when only the folder's name fits
    int32_t folders; // visited
    char best[URDF_PATH];
} search;

static bool is_folder(const char *path) {
    struct stat about;
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

/// path = folder/name; false when that is too long.
static bool join(char path[URDF_PATH], const char *folder, const char *name) {
    int length = snprintf(path, URDF_PATH, "%s/%s", strcmp(folder, "/") == 0 ? "" : folder, name);
    return length > 0 && length < URDF_PATH;
}

static ssize_t read_file(const char *path, char *text, size_t size) {
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) {
        return -1;
    }
    ssize_t length = read(file, text, size);
    close(file);
    return length;
}

/// The <name> inside a package.xml, "" when there is none. false: no readable package.xml.
static bool read_package_name(const char *folder, char *name, size_t size) {
    char path[URDF_PATH], text[PACKAGE_FILE];
    ssize_t length = join(path, folder, "package.xml") ? read_file(path, text, sizeof text) : -1;
    name[0] = '\0';
    if (length < 0) {
        return false;
    }
    xml_problem problem;
    bool complete = (size_t)length < sizeof text && memchr(text, '\0', (size_t)length) == NULL;
    xml_document *document = complete ? xml_parse(text, (size_t)length, &problem) : NULL;
    for (const xml_element *e = document != NULL ? xml_first_child(xml_root(document)) : NULL; e != NULL;
         e = xml_next_sibling(e)) {
        if (strcmp(xml_name(e), "name") == 0) {
            const char *start = xml_text(e) + strspn(xml_text(e), " \t\r\n");
            snprintf(name, size, "%.*s", (int)strcspn(start, " \t\r\n"), start);
            break;
        }
    }
    xml_free(document);
    return true;
}

static void consider(search *s, const char *folder, int32_t depth) {
    char name[256];
    const char *slash = strrchr(folder, '/');
    bool named = read_package_name(folder, name, sizeof name) && name[0] != '\0';
    bool matches = strcmp(named ? name : slash != NULL ? slash + 1 : folder, s->name) == 0;
    int32_t rank = depth + (named ? 0 : BY_FOLDER);
    if (matches && (rank < s->rank || (rank == s->rank && strcmp(folder, s->best) < 0))) {
        s->rank = rank;
        snprintf(s->best, sizeof s->best, "%s", folder);
    }
}

/// Considers `folder` and everything below it down to DEEPEST; hidden folders are left out.
static void descend(search *s, const char *folder, int32_t depth) {
    consider(s, folder, depth);
    DIR *entries = depth < DEEPEST ? opendir(folder) : NULL;
    for (struct dirent *e; entries != NULL && (e = readdir(entries)) != NULL && s->folders < MOST_FOLDERS;) {
        char path[URDF_PATH];
        bool maybe = e->d_type == DT_DIR || e->d_type == DT_LNK || e->d_type == DT_UNKNOWN;
        if (e->d_name[0] != '.' && maybe && join(path, folder, e->d_name) && is_folder(path)) {
            s->folders++;
            descend(s, path, depth + 1);
        }
    }
    if (entries != NULL) {
        closedir(entries);
    }
}

/// Cuts the last part off; false at the root.
static bool go_up(char path[URDF_PATH]) {
    char *slash = strrchr(path, '/');
    if (slash == NULL || slash[1] == '\0') {
        return false;
    }
    slash[slash == path ? 1 : 0] = '\0';
    return true;
}

static bool has_package_file(const char *folder) {
    char path[URDF_PATH];
    return join(path, folder, "package.xml") && access(path, R_OK) == 0;
}

bool urdf_locate_file(urdf_reader *reader) {
    char path[URDF_PATH], real[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s", reader->request->path);
    char *slash = strrchr(path, '/');
    if (length < 0 || length >= URDF_PATH) {
        return false;
    }
    if (slash == NULL) {
        snprintf(path, sizeof path, ".");
    } else {
        slash[slash == path ? 1 : 0] = '\0';
    }
    if (realpath(path, real) == NULL || snprintf(reader->folder, URDF_PATH, "%s", real) >= URDF_PATH) {
        return false;
    }
    memcpy(path, reader->folder, sizeof path);
    reader->package[0] = '\0';
    do {
        if (has_package_file(path)) {
            memcpy(reader->package, path, sizeof path);
            break;
        }
    } while (go_up(path));
    return true;
}

static void search_given(search *s, const urdf_reader *reader) {
    const char *const *folder = reader->request->package_paths;
    for (; folder != NULL && *folder != NULL; folder++) {
        char real[PATH_MAX];
        if (realpath(*folder, real) != NULL) {
            descend(s, real, 0);
        }
    }
}

static void search_parents(search *s, const urdf_reader *reader) {
    char path[URDF_PATH], beside[URDF_PATH];
    memcpy(path, reader->folder, sizeof path);
    for (int32_t depth = 0; strcmp(path, "/") != 0; depth++) {
        consider(s, path, depth);
        if (join(beside, path, s->name) && is_folder(beside)) {
            consider(s, beside, depth + 1);
        }
        if (!go_up(path)) {
            break;
        }
    }
}

static void search_workspace(search *s, const urdf_reader *reader) {
    char path[URDF_PATH];
    if (reader->package[0] == '\0') {
        return;
    }
    memcpy(path, reader->package, sizeof path);
    descend(s, path, 0);
    if (s->rank == NO_MATCH && go_up(path) && strcmp(path, "/") != 0) {
        descend(s, path, 0);
    }
}

static void search_environment(search *s) {
    const char *list = getenv("ROS_PACKAGE_PATH");
    while (list != NULL && *list != '\0') {
        char entry[URDF_PATH], real[PATH_MAX];
        size_t length = strcspn(list, ":");
        if (length > 0 && length < sizeof entry) {
            snprintf(entry, sizeof entry, "%.*s", (int)length, list);
            if (realpath(entry, real) != NULL) {
                descend(s, real, 0);
            }
        }
        list += length + (list[length] == ':');
    }
}

const char *urdf_find_package(urdf_reader *reader, const char *name) {
    for (const urdf_package *p = reader->packages; p != NULL; p = p->next) {
        if (strcmp(p->name, name) == 0) {
            return p->root;
        }
    }
    search s = {.name = name, .rank = NO_MATCH};
    search_given(&s, reader);
    if (s.rank == NO_MATCH) {
        search_parents(&s, reader);
    }
    if (s.rank == NO_MATCH) {
        search_workspace(&s, reader);
    }
    if (s.rank == NO_MATCH) {
        search_environment(&s);
    }
    urdf_package *found = URDF_NEW(reader, 1, urdf_package);
    if (found == NULL) {
        return NULL;
    }
    *found = (urdf_package){urdf_format(reader, "%s", name), NULL, reader->packages};
    found->root = s.rank < NO_MATCH ? urdf_format(reader, "%s", s.best) : NULL;
    reader->packages = found;
    return found->root;
}
