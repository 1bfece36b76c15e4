// SPDX-License-Identifier: Apache-2.0
// Models by value, sealed so that the checksum does not keep all of them out. Whatever loads must give the same bytes
// when it is saved, loaded and saved again.
#include <stdlib.h>
#include <string.h>

#include "model/model_file.h"
#include "must.h"
#include "stn_bar_element.h"
#include "stn_tie_constraint.h"

static stn_model *load(stn_context *context, const void *data, size_t size) {
    stn_model_builder *builder = NULL;
    stn_model *model = NULL;
    stn_error err = {STN_OK, ""};
    must(stn_builder_create(context, &builder, NULL) == STN_OK);
    stn_status status = model_decode(builder, data, size, &err);
    status = status == STN_OK ? stn_model_compile(builder, &model, &err) : status;
    must((status == STN_OK) == (model != NULL) && (status == STN_OK || err.text[0] != '\0'));
    stn_builder_destroy(builder);
    return model;
}

static void save_again(stn_context *context, const stn_model *model) {
    byte_stream first, second;
    must(model_encode(model, &first, NULL) == STN_OK);
    stn_model *again = load(context, first.data, first.size);
    must(again != NULL && model_encode(again, &second, NULL) == STN_OK);
    must(first.size == second.size && memcmp(first.data, second.data, first.size) == 0);
    bytes_clear(&first);
    bytes_clear(&second);
    stn_model_destroy(again);
}

static void tell(const char *what, int32_t count) {
    if (count > 0) {
        reached(what);
    }
}

static void tell_mesh(const stn_model *model, int32_t i) {
    const stn_mesh *mesh = model->meshes[i].data;
    tell("a mesh by its path", mesh == NULL);
    tell("a solid", mesh != NULL && mesh->tetrahedron_count > 0);
    for (int32_t k = 0; k < i && mesh != NULL; k++) {
        tell("a mesh twice", model->meshes[k].data == mesh);
    }
}

/// Kinds of things that a model holds.
static void tell_parts(const stn_model *model) {
    tell("joints", model->joint_count);
    tell("excludes", model->exclude_count);
    tell("nodes", model->node_count);
    tell("elements", model->element_group_count);
    tell("keyframes", model->keyframe_count);
    tell("constraints", model->constraint_count);
    for (int32_t i = 0; i < model->mesh_count; i++) {
        tell_mesh(model, i);
    }
    for (int32_t i = 0; i < model->geometry_count; i++) {
        const stn_shape_type type = model->geometries[i].shape.type;
        tell("meshes", type == STN_SHAPE_MESH);
        tell("hulls", type == STN_SHAPE_CONVEX);
        tell("height fields", type == STN_SHAPE_HEIGHT_FIELD);
        tell("boxes", type == STN_SHAPE_BOX);
    }
}

static void ignore(void *user, stn_log_level level, const char *text) {
    (void)user, (void)level, (void)text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const stn_context_options options = {.log = ignore};
    stn_context *context = NULL;
    must(stn_context_create(&options, &context, NULL) == STN_OK);
    uint8_t *bytes = malloc(size + 1);
    must(bytes != NULL);
    memcpy(bytes, data, size);
    if (size >= 8) {
        uint64_t checksum = stn_hash(0, bytes, size - 8);
        memcpy(bytes + size - 8, &checksum, 8);
    }
    must(stn_plugin_register(context, &bar_plugin, NULL) == STN_OK);
    must(stn_plugin_register(context, &tie_plugin, NULL) == STN_OK);
    stn_model *model = load(context, bytes, size);
    if (model != NULL) {
        reached("accepted");
        tell_parts(model);
        save_again(context, model);
    }
    stn_model_destroy(model);
    free(bytes);
    stn_context_destroy(context);
    return 0;
}
