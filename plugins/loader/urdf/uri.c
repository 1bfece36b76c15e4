// SPDX-License-Identifier: Apache-2.0
// Mesh names to files: package://name/path, a path relative to the robot file, and, where the caller allows it, file://
// and absolute paths. ".." is resolved in the text and must stay inside: below the package, or for relative names below
// the package that holds the file, else below the parent of the file's folder.
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "urdf.h"

typedef struct mesh_name {
    const xml_element *xml;
    const char *uri;
    bool collision;
} mesh_name;

/// Always returns NULL, so that refusing is one statement.
static const char *refuse(urdf_reader *reader, const mesh_name *mesh, const char *code, const char *why) {
    urdf_say(reader, mesh->collision ? STN_SEVERITY_ERROR : STN_SEVERITY_WARNING, code, xml_line(mesh->xml),
             "%s mesh '%.200s': %s%s", mesh->collision ? "collision" : "visual", mesh->uri, why,
             mesh->collision ? "" : "; left out");
    return NULL;
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

static const char *check_file(urdf_reader *reader, const mesh_name *mesh, const char *path) {
    struct stat about;
    if (stat(path, &about) != 0) {
        return refuse(reader, mesh, "missing_mesh", urdf_format(reader, "there is no file %s", path));
    }
    if (!S_ISREG(about.st_mode) || access(path, R_OK) != 0) {
        return refuse(reader, mesh, "missing_mesh", urdf_format(reader, "%s is not a readable file", path));
    }
    return urdf_format(reader, "%s", path);
}

/// folder/name, which must stay below `root`.
static const char *resolve_below(urdf_reader *reader, const mesh_name *mesh, const char *folder, const char *name,
                                 const char *root) {
    char path[URDF_PATH];
    int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    if (length < 0 || length >= URDF_PATH) {
        return refuse(reader, mesh, "path", "the path is too long");
    }
    if (!normalise(path) || !is_below(path, root)) {
        return refuse(reader, mesh, "path", urdf_format(reader, "it leaves %s: only files below that are read", root));
    }
    return check_file(reader, mesh, path);
}

static const char *resolve_package(urdf_reader *reader, const mesh_name *mesh, const char *rest) {
    char name[256];
    size_t length = strcspn(rest, "/");
    if (length == 0 || length >= sizeof name || rest[length] == '\0' || rest[0] == '.') {
        return refuse(reader, mesh, "path", "write package://name/path/of/the/mesh.stl");
    }
    snprintf(name, sizeof name, "%.*s", (int)length, rest);
    const char *root = urdf_find_package(reader, name);
    if (root == NULL) {
        return refuse(reader, mesh, "unknown_package",
                      urdf_format(reader,
                                  "package '%s' is not found near the file: add the folder that holds it to the "
                                  "environment's ROS_PACKAGE_PATH",
                                  name));
    }
    return resolve_below(reader, mesh, root, rest + length + 1, root);
}

static const char *resolve_relative(urdf_reader *reader, const mesh_name *mesh) {
    char root[URDF_PATH];
    memcpy(root, reader->package[0] != '\0' ? reader->package : reader->folder, sizeof root);
    char *slash = reader->package[0] == '\0' ? strrchr(root, '/') : NULL;
    if (slash != NULL) {
        slash[slash == root ? 1 : 0] = '\0';
    }
    return resolve_below(reader, mesh, reader->folder, mesh->uri, root);
}

static const char *resolve_absolute(urdf_reader *reader, const mesh_name *mesh, const char *path) {
    if (!reader->request->allow_absolute) {
        return refuse(reader, mesh, "path",
                      "absolute names are not read unless allowed: use a path relative to the robot "
                      "file, or package://");
    }
    return resolve_below(reader, mesh, "", path, "/");
}

const char *urdf_resolve_mesh(urdf_reader *reader, const xml_element *xml, const char *uri, bool collision) {
    mesh_name mesh = {xml, uri, collision};
    if (strncmp(uri, "package://", 10) == 0) {
        return resolve_package(reader, &mesh, uri + 10);
    }
    if (strncmp(uri, "file://", 7) == 0) {
        return resolve_absolute(reader, &mesh, uri + 7);
    }
    if (uri[0] == '/') {
        return resolve_absolute(reader, &mesh, uri);
    }
    if (strstr(uri, "://") != NULL) {
        return refuse(reader, &mesh, "path", "unknown kind of address: use package://, file:// or a relative path");
    }
    return resolve_relative(reader, &mesh);
}
