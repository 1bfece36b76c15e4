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

static bool names_file(const char *uri) {
    const char *slash = strrchr(uri, '/'), *last = slash != NULL ? slash + 1 : uri, *dot = strrchr(last, '.');
    return dot != NULL && robot_lists("sdf world urdf xml config", dot + 1);
}

/// The <sdf> of a model.config with the largest version that is known.
static const char *newest_file(robot_reader *reader, const xml_element *config) {
    const char *newest = NULL;
    int32_t best = -1;
    for (const xml_element *e = xml_first_child(config); e != NULL; e = xml_next_sibling(e)) {
        if (strcmp(xml_name(e), "sdf") != 0) {
            continue;
        }
        double version = 1.0;
        const char *text = xml_attribute(e, "version"),
                   *minor = text != NULL && strncmp(text, "1.", 2) == 0 ? text + 2 : "";
        int32_t found =
            stn_parse_real(minor, &version) && version >= 0.0 && version <= SDF_NEWEST ? (int32_t)version : 0;
        if (found > best) {
            best = found;
            newest = robot_text_name(reader, e);
        }
    }
    return newest;
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
    const char *path = config->path;
    const xml_element *root = read_file(reader, xml, path);
    const char *name = root != NULL ? newest_file(reader, root) : NULL;
    if (root != NULL && name == NULL) {
        robot_error(reader, root, "include", "no <sdf version=\"...\"> in model.config: name the model's file");
    }
    if (name == NULL || !robot_locate_file(reader, path, &reader->base)) {
        return NULL;
    }
    const robot_file *file = robot_find_file(reader, name);
    if (file == NULL || file->path == NULL) {
        robot_error(reader, root, "include", "'%.200s': %s", name, refused(reader, file));
        return NULL;
    }
    return file;
}

static const robot_file *find_model_file(robot_reader *reader, const xml_element *xml, const char *uri) {
    if (!names_file(uri)) {
        return find_in_folder(reader, xml, uri);
    }
    const robot_file *file = robot_find_file(reader, uri);
    if (file == NULL || file->path == NULL) {
        robot_error(reader, xml, "include", "'%.200s': %s", uri, refused(reader, file));
        return NULL;
    }
    return file;
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

static bool may_open(robot_reader *reader, const xml_element *xml, const robot_file *file) {
    const sdf_opened *outer = sdf_of(reader)->opened;
    for (const sdf_opened *o = outer; o != NULL; o = o->outer) {
        if (strcmp(o->real, file->real) == 0) {
            robot_error(reader, xml, "include", "%.200s includes itself, by way of %.200s: break the circle",
                        file->path, xml_file(xml));
            return false;
        }
    }
    if (outer != NULL && outer->depth >= DEEPEST) {
        robot_error(reader, xml, "include", "files include each other more than %d deep", (int)DEEPEST);
        return false;
    }
    return true;
}

static void open_file(robot_reader *reader, int32_t parent, const xml_element *xml, const robot_file *file) {
    sdf_reader *sdf = sdf_of(reader);
    const char *label = reader->label;
    const sdf_opened opened = {file->real, sdf->opened != NULL ? sdf->opened->depth + 1 : 1, sdf->opened};
    if (!may_open(reader, xml, file) || !robot_locate_file(reader, file->path, &reader->base)) {
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
    const robot_file *file = find_model_file(reader, xml, address);
    if (file != NULL) {
        const robot_file found = *file; // the list of files grows
        open_file(reader, parent, xml, &found);
    }
    reader->base = base;
}
