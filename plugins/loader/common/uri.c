// SPDX-License-Identifier: Apache-2.0
// Mesh names to files: package://name/path or model://name/path, a path relative to the robot file, and, where the
// caller allows it, file:// and absolute paths. A file must lie inside: below its package, or for relative names below
// the package that holds the robot file, else below the parent of the file's folder. That is asked twice, of the text
// with ".." resolved, and of the file that the symbolic links in it lead to. A link may lead to the same package
// elsewhere, as it does where an installation links back to its sources. One name is looked up once, and what is wrong
// with it said once.
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "robot.h"

static const robot_root anywhere = {"/", "/", NULL};

static void refuse(robot_file *file, const char *code, const char *why) {
    file->path = NULL;
    file->code = code;
    file->why = why;
}

/// Removes "//", "." and ".." from an absolute path, in place. false: it climbs above the root.
static bool normalise(char *path) {
    char *out = path; // end of what is kept; the parts before it begin with '/'
    const char *in = path;
    while (*in != '\0') {
        in += strspn(in, "/");
        size_t length = strcspn(in, "/");
        if (length == 2 && in[0] == '.' && in[1] == '.') {
            do {
                if (out == path) {
                    return false;
                }
                out--;
            } while (*out != '/');
        } else if (length > 0 && !(length == 1 && in[0] == '.')) {
            *out++ = '/';
            memmove(out, in, length);
            out += length;
        }
        in += length;
    }
    *out = '\0';
    return true;
}

static bool is_below(const char *path, const char *root) {
    size_t length = strcmp(root, "/") == 0 ? 0 : strlen(root);
    return strncmp(path, root, length) == 0 && path[length] == '/';
}

/// folder/name, which must stay below `root`.
static void resolve_below(robot_reader *reader, robot_file *file, const char *folder, const char *name,
                          const robot_root *root) {
    char path[ROBOT_PATH], real[PATH_MAX];
    struct stat about;
    int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    if (length < 0 || length >= ROBOT_PATH) {
        refuse(file, "path", "the path is too long");
        return;
    }
    if (!normalise(path) || !is_below(path, root->path)) {
        refuse(file, "path", robot_text(reader, "it leaves %s: only files below that are read", root->path));
        return;
    }
    if (realpath(path, real) == NULL || stat(real, &about) != 0) {
        refuse(file, "missing_mesh", robot_text(reader, "there is no file %s", path));
        return;
    }
    bool packed = root->package != NULL && root->package[0] != '\0';
    bool inside = is_below(real, root->real) || (packed && robot_is_inside_package(real, root->package));
    if (!inside && !reader->request->allow_absolute) {
        refuse(file, "path",
               robot_text(reader, "a symbolic link on its way leaves %s: only files below that are read", root->path));
    } else if (!S_ISREG(about.st_mode) || access(real, R_OK) != 0) {
        refuse(file, "missing_mesh", robot_text(reader, "%s is not a readable file", path));
    } else {
        file->path = robot_text(reader, "%s", path);
        file->real = robot_text(reader, "%s", real);
        file->root = root;
    }
}

/// `rest`: the address behind its kind, "package" or "model".
static void resolve_package(robot_reader *reader, robot_file *file, const char *kind, const char *rest) {
    char name[ROBOT_PACKAGE_NAME];
    size_t length = strcspn(rest, "/");
    if (length == 0 || length >= sizeof name || rest[length] == '\0' || rest[0] == '.') {
        refuse(file, "path", robot_text(reader, "write %s://name/path/of/the/file", kind));
        return;
    }
    snprintf(name, sizeof name, "%.*s", (int)length, rest);
    const robot_root *root = robot_find_package(reader, name);
    if (root != NULL) {
        resolve_below(reader, file, root->path, rest + length + 1, root);
        return;
    }
    refuse(
        file, "unknown_package",
        robot_text(
            reader,
            "%s '%s' is not found near the file: give the folder that holds it by --package (in scripts: packages), or "
            "add it to the environment's %s",
            kind, name, strcmp(kind, "model") == 0 ? "GZ_SIM_RESOURCE_PATH" : "ROS_PACKAGE_PATH"));
    file->subject = robot_text(reader, "%s://%s", kind, name); // whatever is missing of it
}

static void resolve_absolute(robot_reader *reader, robot_file *file, const char *path) {
    if (reader->request->allow_absolute) {
        resolve_below(reader, file, "", path, &anywhere);
    } else {
        refuse(file, "path",
               "absolute names are not read unless allowed: use a path relative to the robot file, or package://");
    }
}

const robot_file *robot_find_file(robot_reader *reader, const char *uri) {
    int32_t index = robot_names_find(&reader->file_names, reader->base.id, uri);
    if (index >= 0) {
        return &reader->files[index];
    }
    reader->files =
        robot_reserve(reader, reader->files, reader->file_count, &reader->file_capacity, sizeof *reader->files);
    if (reader->file_count == reader->file_capacity) {
        return NULL;
    }
    robot_file *file = &reader->files[reader->file_count];
    *file = (robot_file){.uri = uri, .subject = uri};
    if (strncmp(uri, "package://", 10) == 0) {
        resolve_package(reader, file, "package", uri + 10);
    } else if (strncmp(uri, "model://", 8) == 0) {
        resolve_package(reader, file, "model", uri + 8);
    } else if (strncmp(uri, "file://", 7) == 0) {
        resolve_absolute(reader, file, uri + 7);
    } else if (uri[0] == '/') {
        resolve_absolute(reader, file, uri);
    } else if (strstr(uri, "://") != NULL) {
        refuse(file, "path", "unknown kind of address: use package://, model://, file:// or a relative path");
    } else {
        resolve_below(reader, file, reader->base.folder, uri, &reader->base.home);
    }
    robot_names_add(reader, &reader->file_names, reader->base.id, uri, reader->file_count++);
    return file;
}

void robot_say_mesh(robot_reader *reader, const xml_element *xml, const char *uri, bool collision, const char *code,
                    const char *why) {
    robot_say(reader, collision ? STN_SEVERITY_ERROR : STN_SEVERITY_WARNING, code, robot_at(xml),
              "%s mesh '%.200s': %s%s", collision ? "collision" : "visual", uri, why, collision ? "" : "; left out");
}

const robot_file *robot_find_mesh(robot_reader *reader, const xml_element *xml, const char *uri, bool collision) {
    if (robot_is_xacro(reader, xml, uri)) {
        return NULL;
    }
    const robot_file *file = robot_find_file(reader, uri);
    if (file == NULL || file->path != NULL) {
        return file;
    }
    if (robot_first(reader, collision ? ROBOT_BAD_COLLISION_MESH : ROBOT_BAD_VISUAL_MESH, file->subject)) {
        robot_say_mesh(reader, xml, uri, collision, file->code, file->why);
    }
    return NULL;
}
