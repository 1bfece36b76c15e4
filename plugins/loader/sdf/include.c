// SPDX-License-Identifier: Apache-2.0
// <include>: the one model of another file, in a model or world. The address names that file, or a folder whose
// model.config lists files for versions, of which the newest that is known counts. Names inside start from that file.
#include <string.h>

#include "sdf.h"

enum { DEEPEST = 16 };

/// A file that is being read, and the one that includes it.
typedef struct sdf_opened {
    const char *real;
    int32_t depth;
    const struct sdf_opened *outer;
} sdf_opened;

static const char *refused(robot_reader *reader, const robot_file *file) {
    return file != NULL ? file->why : robot_text(reader, "out of memory");
}

/// Root of a further file; NULL: said.
static const xml_element *read_file(robot_reader *reader, const xml_element *include, const char *path) {
    stn_error err = {STN_OK, ""};
    stn_status status = STN_OK;
    const xml_element *root = robot_read_document(reader, path, &status, &err);
    reader->out_of_memory |= status == STN_ERR_MEMORY;
    if (status != STN_OK && status != STN_ERR_MEMORY) {
        robot_error(reader, include, "include", "%s", err.text);
    }
    return root;
}

/// A file by its address. NULL: said.
static const robot_file *find_file(robot_reader *reader, const xml_element *xml, const char *uri) {
    const robot_file *file = robot_find_file(reader, uri);
    if (file == NULL || file->path == NULL) {
        robot_error(reader, xml, "include", "'%.200s': %s", uri, refused(reader, file));
        return NULL;
    }
    return file;
}

/// The file that a folder's model.config names.
static const robot_file *find_in_folder(robot_reader *reader, const xml_element *xml, const char *uri) {
    size_t length = strlen(uri);
    const char *slash = length > 0 && uri[length - 1] == '/' ? "" : "/";
    const robot_file *config = robot_find_file(reader, robot_text(reader, "%s%smodel.config", uri, slash));
    if (config == NULL || config->path == NULL) {
        robot_error(reader, xml, "include", "'%.200s': %s", uri, refused(reader, config));
        return NULL;
    }
    const char *path = config->path, *name = NULL;
    const xml_element *root = read_file(reader, xml, path);
    int32_t newest = -1; // version of the <sdf> that counts: the largest that is known
    for (const xml_element *e = root != NULL ? xml_first_child(root) : NULL; e != NULL; e = xml_next_sibling(e)) {
        if (strcmp(xml_name(e), "sdf") != 0) {
            continue;
        }
        const char *text = xml_attribute(e, "version");
        const char *minor = text != NULL && strncmp(text, "1.", 2) == 0 ? text + 2 : "";
        double number = 1.0;
        bool known = stn_parse_real(minor, &number) && number >= 0.0 && number <= SDF_NEWEST;
        int32_t version = known ? (int32_t)number : 0;
        if (version > newest) {
            newest = version;
            name = robot_text_name(reader, e);
        }
    }
    if (root != NULL && name == NULL) {
        robot_error(reader, root, "include", "no <sdf version=\"...\"> in model.config: name the model's file");
    }
    if (name == NULL || !robot_locate_file(reader, path, &reader->base)) {
        return NULL;
    }
    return find_file(reader, root, name);
}

/// The one model of a file. NULL: said.
static const xml_element *only_model(robot_reader *reader, const xml_element *xml, const xml_element *root) {
    const xml_element *model = NULL;
    if (strcmp(xml_name(root), "sdf") != 0) {
        robot_error(reader, xml, "include",
                    "%.200s has the root element <%.60s>: only SDFormat files with <sdf> are included", xml_file(root),
                    xml_name(root));
        return NULL;
    }
    for (const xml_element *e = xml_first_child(root); e != NULL; e = xml_next_sibling(e)) {
        if (strcmp(xml_name(e), "model") != 0) {
            continue;
        }
        if (model != NULL) {
            robot_error(reader, e, "include", "a second <model>: a file that is included has one");
            return NULL;
        }
        model = e;
    }
    if (model == NULL) {
        robot_error(reader, xml, "include", "%.200s has no <model>: there is nothing to include", xml_file(root));
    }
    return model;
}

static void open_file(robot_reader *reader, int32_t parent, const xml_element *xml, const robot_file *file) {
    sdf_reader *sdf = sdf_of(reader);
    const char *label = reader->label;
    const sdf_opened opened = {file->real, sdf->opened != NULL ? sdf->opened->depth + 1 : 1, sdf->opened};
    for (const sdf_opened *o = sdf->opened; o != NULL; o = o->outer) {
        if (strcmp(o->real, file->real) == 0) {
            robot_error(reader, xml, "include", "%.200s includes itself, by way of %.200s: break the circle",
                        file->path, xml_file(xml));
            return;
        }
    }
    if (opened.depth > DEEPEST) {
        robot_error(reader, xml, "include", "files include each other more than %d deep", (int)DEEPEST);
        return;
    }
    if (!robot_locate_file(reader, file->path, &reader->base)) {
        return;
    }
    const xml_element *root = read_file(reader, xml, file->path);
    const xml_element *model = root != NULL ? only_model(reader, xml, root) : NULL;
    int32_t version = model != NULL ? sdf_version(reader, root) : -1;
    if (version < 0) {
        return;
    }
    const xml_element *name = robot_child(reader, xml, "name");
    sdf_override over = {
        .xml = xml,
        .name = name != NULL ? robot_text_name(reader, name) : NULL,
        .merge = sdf_attribute_flag(reader, xml, "merge", false),
        .has_static = robot_child(reader, xml, "static") != NULL,
        .is_static = sdf_flag(reader, xml, "static", false),
    };
    sdf->opened = &opened;
    sdf_parse_model(reader, parent, version, model, &over);
    sdf->opened = opened.outer;
    reader->label = label;
    sdf_note_skipped(reader, root);
}

void sdf_parse_include(robot_reader *reader, int32_t parent, const xml_element *xml) {
    reader->label = "include";
    const xml_element *uri = robot_child(reader, xml, "uri");
    if (uri == NULL) {
        robot_error(reader, xml, "missing",
                    "<include> has no <uri>: add the file, or the folder with its model.config");
        return;
    }
    const char *address = robot_text_name(reader, uri);
    if (address == NULL) {
        return;
    }
    reader->label = robot_text(reader, "include %.200s", address);
    const robot_base base = reader->base;
    const char *slash = strrchr(address, '/'), *dot = strrchr(slash != NULL ? slash + 1 : address, '.');
    bool direct = dot != NULL && robot_lists("sdf world urdf xml config", dot + 1); // else the name of a folder
    const robot_file *file = (direct ? find_file : find_in_folder)(reader, xml, address);
    if (file != NULL) {
        const robot_file found = *file; // the list of files grows
        open_file(reader, parent, xml, &found);
    }
    reader->base = base;
}
