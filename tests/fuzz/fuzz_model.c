// SPDX-License-Identifier: Apache-2.0
// Models by value, sealed so that the checksum does not keep all of them out. Whatever loads must give the same bytes
// when it is saved, loaded and saved again.
#include <stdlib.h>
#include <string.h>

#include "model/model_file.h"
#include "must.h"

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
    stn_model *model = load(context, bytes, size);
    if (model != NULL) {
        save_again(context, model);
    }
    stn_model_destroy(model);
    free(bytes);
    stn_context_destroy(context);
    return 0;
}
