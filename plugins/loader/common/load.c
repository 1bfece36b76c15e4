// SPDX-License-Identifier: Apache-2.0
// From a request to a robot in the builder: text -> XML tree -> what the format reads -> builder.
#include <string.h>

#include "robot.h"

enum { MOST_DOCUMENTS = 200 };

bool robot_has_tag(const char *text, size_t length, const char *name) {
    size_t size = strlen(name);
    for (size_t i = 0; i + size + 2 <= length; i++) {
        if (text[i] == '<' && memcmp(text + i + 1, name, size) == 0 && text[i + size + 1] != '\0' &&
            strchr(" \t\r\n>/", text[i + size + 1]) != NULL) {
            return true;
        }
    }
    return false;
}

const char *robot_stem(robot_reader *reader) {
    const char *path = reader->request->path, *slash = strrchr(path, '/');
    const char *start = slash != NULL ? slash + 1 : path;
    size_t length = strcspn(start, ".");
    return length > 0 ? robot_text(reader, "%.*s", (int)length, start) : "robot";
}

static stn_status out_of_memory(const robot_reader *reader, stn_error *err) {
    return stn_fail(err, STN_ERR_MEMORY, "%s: out of memory", reader->request->path);
}

const xml_element *robot_read_document(robot_reader *reader, const char *path, stn_status *status, stn_error *err) {
    xml_problem problem;
    *status = STN_OK;
    if (reader->document_count == MOST_DOCUMENTS) {
        robot_say(reader, STN_SEVERITY_ERROR, "size", (robot_place){path, 0},
                  "one robot may be made of %d files, this is one more", (int)MOST_DOCUMENTS);
        return NULL;
    }
    robot_source source = {.path = path};
    *status = robot_read_source(reader, &source, err);
    if (source.text == NULL) {
        return NULL;
    }
    xml_document *document = xml_parse(source.text, source.length, robot_text(reader, "%s", path), &problem);
    if (document == NULL && !problem.out_of_memory) {
        robot_say(reader, STN_SEVERITY_ERROR, "xml", (robot_place){path, problem.line}, "%s", problem.text);
        return NULL;
    }
    reader->documents = robot_reserve(reader, reader->documents, reader->document_count, &reader->document_capacity,
                                      sizeof(xml_document *));
    if (document == NULL || reader->document_count == reader->document_capacity) {
        xml_free(document);
        *status = out_of_memory(reader, err);
        return NULL;
    }
    reader->documents[reader->document_count++] = document;
    return xml_root(document);
}

/// STN_OK with errors in the diagnostics when the file is bad.
static stn_status read_robot(robot_reader *reader, stn_model_builder *builder, int32_t *robot, stn_error *err) {
    const char *path = reader->request->path;
    stn_status status = STN_OK;
    const xml_element *root = robot_read_document(reader, path, &status, err);
    if (root == NULL) {
        return status;
    }
    if (!robot_locate_file(reader, path, &reader->base)) {
        return stn_fail(err, STN_ERR_FILE, "%s: its folder cannot be found, or its path is too long", path);
    }
    reader->main_base = reader->base;
    robot_names *const tables[] = {&reader->link_names, &reader->joint_names, &reader->shape_names, &reader->said,
                                   &reader->file_names, &reader->mesh_names,  &reader->form_names};
    for (int32_t i = 0; i < STN_COUNT(tables); i++) {
        if (!robot_names_init(reader, tables[i], 0)) {
            return out_of_memory(reader, err);
        }
    }
    if (!reader->format->parse(reader, root) || reader->out_of_memory) {
        return out_of_memory(reader, err);
    }
    bool good = reader->diagnostics->error_count == reader->errors_before;
    return good ? robot_build(reader, builder, robot, err) : STN_OK;
}

stn_status robot_load(const robot_format *format, const void *config, const stn_load_request *request,
                      stn_model_builder *builder, int32_t *robot, stn_diagnostics *diagnostics, stn_error *err) {
    stn_arena *arena = stn_arena_create(diagnostics->context);
    robot_reader *reader = arena != NULL ? stn_arena_zeroed(arena, 1, format->reader_size) : NULL;
    if (reader == NULL) {
        stn_arena_destroy(arena);
        return stn_fail(err, STN_ERR_MEMORY, "%s: out of memory", request->path);
    }
    reader->arena = arena;
    reader->diagnostics = diagnostics;
    reader->request = request;
    reader->format = format;
    reader->config = config;
    reader->label = "";
    reader->errors_before = diagnostics->error_count;
    stn_status status = read_robot(reader, builder, robot, err);
    if (status == STN_OK && diagnostics->error_count > reader->errors_before) {
        status = stn_diagnostics_status(diagnostics, err);
    }
    robot_release_meshes(reader);
    robot_release_softs(reader);
    for (int32_t i = 0; i < reader->document_count; i++) {
        xml_free(reader->documents[i]);
    }
    stn_arena_destroy(arena);
    return status;
}
