// SPDX-License-Identifier: Apache-2.0
// Mesh names to files: package://name/path, a path relative to the robot file, and, where the caller allows it, file://
// and absolute paths. A file must lie inside: below its package, or for relative names below the package that holds the
// robot file, else below the parent of the file's folder. That is asked twice, of the text with ".." resolved, and of
// the file that the symbolic links in it lead to. A link may lead to the same package elsewhere, as it does where an
// installation links back to its sources. One name is looked up once, and what is wrong with it said once.
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "urdf.h"

static const urdf_root anywhere = {"/", "/", NULL};

static void refuse(urdf_file *file, const char *code, const char *why) {
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

static bool is_inside(const char *real, const urdf_root *root) {
    return is_below(real, root->real) ||
           (root->package != NULL && root->package[0] != '\0' && urdf_is_inside_package(real, root->package));
}

static void check_file(urdf_reader *reader, urdf_file *file, const char *path, const urdf_root *root) {
    struct stat about;
    char real[PATH_MAX];
    if (realpath(path, real) == NULL || stat(real, &about) != 0) {
        refuse(file, "missing_mesh", urdf_format(reader, "there is no file %s", path));
    } else if (!is_inside(real, root) && !reader->request->allow_absolute) {
        refuse(file, "path",
               urdf_format(reader, "a symbolic link on its way leaves %s: only files below that are read", root->path));
    } else if (!S_ISREG(about.st_mode) || access(real, R_OK) != 0) {
        refuse(file, "missing_mesh", urdf_format(reader, "%s is not a readable file", path));
    } else {
        file->path = urdf_format(reader, "%s", path);
        file->real = urdf_format(reader, "%s", real);
        file->root = root;
    }
}

/// folder/name, which must stay below `root`.
static void resolve_below(urdf_reader *reader, urdf_file *file, const char *folder, const char *name,
                          const urdf_root *root) {
    char path[URDF_PATH];
    int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    if (length < 0 || length >= URDF_PATH) {
        refuse(file, "path", "the path is too long");
    } else if (!normalise(path) || !is_below(path, root->path)) {
        refuse(file, "path", urdf_format(reader, "it leaves %s: only files below that are read", root->path));
    } else {
        check_file(reader, file, path, root);
    }
}

static void resolve_package(urdf_reader *reader, urdf_file *file, const char *rest) {
    char name[URDF_PACKAGE_NAME];
    size_t length = strcspn(rest, "/");
    if (length == 0 || length >= sizeof name || rest[length] == '\0' || rest[0] == '.') {
        refuse(file, "path", "write package://name/path/of/the/mesh.stl");
        return;
    }
    snprintf(name, sizeof name, "%.*s", (int)length, rest);
    const urdf_root *root = urdf_find_package(reader, name);
    if (root != NULL) {
        resolve_below(reader, file, root->path, rest + length + 1, root);
        return;
    }
    refuse(file, "unknown_package",
           urdf_format(reader,
                       "package '%s' is not found near the file: add the folder that holds it to the environment's "
                       "ROS_PACKAGE_PATH",
                       name));
    file->subject = urdf_format(reader, "package://%s", name); // whatever is missing of it
}

static void resolve_absolute(urdf_reader *reader, urdf_file *file, const char *path) {
    if (reader->request->allow_absolute) {
        resolve_below(reader, file, "", path, &anywhere);
    } else {
        refuse(file, "path",
               "absolute names are not read unless allowed: use a path relative to the robot file, or package://");
    }
}

static void resolve(urdf_reader *reader, urdf_file *file) {
    const char *uri = file->uri;
    if (strncmp(uri, "package://", 10) == 0) {
        resolve_package(reader, file, uri + 10);
    } else if (strncmp(uri, "file://", 7) == 0) {
        resolve_absolute(reader, file, uri + 7);
    } else if (uri[0] == '/') {
        resolve_absolute(reader, file, uri);
    } else if (strstr(uri, "://") != NULL) {
        refuse(file, "path", "unknown kind of address: use package://, file:// or a relative path");
    } else {
        resolve_below(reader, file, reader->folder, uri, &reader->home);
    }
}

/// What is known of a name, looked up now or before. NULL: out of memory.
static const urdf_file *find_file(urdf_reader *reader, const char *uri) {
    int32_t index = urdf_names_find(&reader->file_names, 0, uri);
    if (index >= 0) {
        return &reader->files[index];
    }
    if (reader->file_count == reader->file_capacity) {
        reader->files =
            urdf_grow(reader, reader->files, reader->file_count, &reader->file_capacity, sizeof *reader->files);
    }
    if (reader->file_count == reader->file_capacity) {
        return NULL;
    }
    urdf_file *file = &reader->files[reader->file_count];
    *file = (urdf_file){.uri = uri, .subject = uri};
    resolve(reader, file);
    urdf_names_add(reader, &reader->file_names, 0, uri, reader->file_count++);
    return file;
}

void urdf_say_mesh(urdf_reader *reader, const xml_element *xml, const char *uri, bool collision, const char *code,
                   const char *why) {
    urdf_say(reader, collision ? STN_SEVERITY_ERROR : STN_SEVERITY_WARNING, code, xml_line(xml),
             "%s mesh '%.200s': %s%s", collision ? "collision" : "visual", uri, why, collision ? "" : "; left out");
}

const urdf_file *urdf_find_mesh(urdf_reader *reader, const xml_element *xml, const char *uri, bool collision) {
    if (urdf_is_xacro(reader, xml, uri)) {
        return NULL;
    }
    const urdf_file *file = find_file(reader, uri);
    if (file == NULL || file->path != NULL) {
        return file;
    }
    if (urdf_first(reader, collision ? URDF_BAD_COLLISION_MESH : URDF_BAD_VISUAL_MESH, file->subject)) {
        urdf_say_mesh(reader, xml, uri, collision, file->code, file->why);
    }
    return NULL;
}
