// SPDX-License-Identifier: Apache-2.0
// <include file="...">: what the root of another file holds stands in its place. Names are relative to the folder of
// the main file, and each file is included once at most.
#include <string.h>

#include "mjcf.h"

enum { DEEPEST = 10 }; // files in files: elements nest in each of them, and what follows them nests as deep

static const xml_element *read_include(robot_reader *reader, const xml_element *xml) {
    mjcf_reader *mjcf = mjcf_of(reader);
    const char *name = robot_name_of(reader, xml, "file");
    const robot_file *file = name != NULL ? robot_find_file(reader, name) : NULL;
    if (file == NULL) {
        return NULL;
    }
    if (file->path == NULL) {
        bool missing = strcmp(file->code, "missing_mesh") == 0;
        robot_error(reader, xml, missing ? "missing_file" : file->code, "file '%.200s': %s", name, file->why);
        return NULL;
    }
    if (robot_names_find(&mjcf->included, 0, file->real) >= 0) {
        robot_error(reader, xml, "include", "file '%.200s' is included already, or the file itself: once is all", name);
        return NULL;
    }
    robot_names_add(reader, &mjcf->included, 0, file->real, 1);
    stn_status status = STN_OK;
    stn_error err = {STN_OK, ""};
    const xml_element *root = robot_read_document(reader, file->path, &status, &err);
    if (status == STN_ERR_MEMORY) {
        reader->out_of_memory = true;
    } else if (status != STN_OK) {
        robot_error(reader, xml, "missing_file", "file '%.200s': %s", name, err.text);
    }
    if (root != NULL && strcmp(xml_name(root), "mujoco") != 0 && strcmp(xml_name(root), "mujocoinclude") != 0) {
        robot_error(reader, root, "root", "the root element of an included file is <%.60s>: make it <mujocoinclude>",
                    xml_name(root));
        return NULL;
    }
    return root;
}

/// As deep as elements nest, over files.
static void splice_all(robot_reader *reader, const xml_element *xml, int32_t depth) {
    const xml_element *next = NULL;
    for (const xml_element *e = xml_first_child(xml); e != NULL; e = next) {
        next = xml_next_sibling(e);
        if (strcmp(xml_name(e), "include") != 0) {
            splice_all(reader, e, depth);
        } else if (depth == DEEPEST) {
            robot_error(reader, e, "include", "files may include each other %d deep, this is one more", (int)DEEPEST);
        } else {
            const xml_element *root = read_include(reader, e);
            if (root != NULL) {
                splice_all(reader, root, depth + 1);
                xml_splice(e, root);
            }
        }
    }
}

bool mjcf_include(robot_reader *reader, const xml_element *root) {
    reader->label = "include";
    const char *path = reader->request->path, *slash = strrchr(path, '/');
    const robot_file *self = robot_find_file(reader, robot_text(reader, "%s", slash != NULL ? slash + 1 : path));
    if (self != NULL && self->path != NULL) {
        robot_names_add(reader, &mjcf_of(reader)->included, 0, self->real, 1);
    }
    splice_all(reader, root, 0);
    return reader->diagnostics->error_count == reader->errors_before;
}

const xml_element *mjcf_next(const xml_element *root, const char *section, const xml_element *previous) {
    const xml_element *e = previous != NULL ? xml_next_sibling(previous) : xml_first_child(root);
    while (e != NULL && strcmp(xml_name(e), section) != 0) {
        e = xml_next_sibling(e);
    }
    return e;
}
