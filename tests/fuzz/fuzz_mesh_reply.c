// SPDX-License-Identifier: Apache-2.0
// What a mesh worker answers. Whatever is taken must lie within the bytes, and become a mesh or an error.
#include <stdlib.h>
#include <string.h>

#include "must.h"
#include "scene.h"

/// The sanitizer sees every byte that is read.
static void check_arrays(const mesh_scene *scene, size_t size) {
    const unsigned char *begin = scene->reply, *end = begin + size;
    const unsigned char *vertices = (const unsigned char *)scene->raw.vertices;
    const unsigned char *triangles = (const unsigned char *)scene->raw.triangles;
    must(vertices >= begin && vertices + 24 * (size_t)scene->raw.vertex_count <= end);
    must(triangles >= begin && triangles + 12 * (size_t)scene->raw.triangle_count <= end);
    for (int32_t i = 0; i < scene->raw.further_count; i++) {
        size_t length = strlen(scene->raw.further[i].name);
        must(length > 0 && length < STN_MESH_PATH_MAX && scene->raw.further[i].name[0] != '/');
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const uint32_t version = MESH_WIRE_VERSION;
    stn_error err = {STN_OK, ""};
    mesh_scene scene = {0};
    stn_mesh *mesh = NULL;
    must(stn_context_create(NULL, &scene.context, NULL) == STN_OK);
    stn_context *context = scene.context;
    scene.reply = stn_allocate(context, size, 1);
    must(scene.reply != NULL);
    if (size > 0) {
        memcpy(scene.reply, data, size);
    }
    if (size >= sizeof(mesh_wire_reply) && scene.reply[0] != '?') { // past the first check, mostly
        memcpy(scene.reply, MESH_WIRE_REPLY, 8);
        memcpy(scene.reply + 8, &version, sizeof version);
    }
    stn_status status = mesh_scene_parse("file", size, &scene, &err);
    must(status == STN_OK || (err.text[0] != '\0' && strchr(err.text, '\n') == NULL));
    if (status == STN_OK) {
        check_arrays(&scene, size);
        const stn_mesh_data numbers = {.vertex_count = scene.raw.vertex_count,
                                       .triangle_count = scene.raw.triangle_count,
                                       .vertices = scene.raw.vertices,
                                       .triangles = scene.raw.triangles};
        status = stn_mesh_create(context, &numbers, &mesh, &err);
        must((status == STN_OK) == (mesh != NULL));
        if (mesh != NULL) {
            reached("accepted");
        }
    }
    stn_mesh_release(mesh);
    mesh_scene_clear(&scene);
    stn_context_destroy(context);
    return 0;
}
