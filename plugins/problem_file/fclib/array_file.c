// SPDX-License-Identifier: Apache-2.0
// See array_file.h. What the process answers has met a stranger's file: nothing of it is believed before it is checked.
#include "array_file.h"

#include <stdio.h>
#include <string.h>

#include <stiction/process.h>

static const size_t most_bytes = (size_t)1 << 30; // of all arrays of a file, and of a file that is made

enum { SECONDS = 120 };

bool array_file_is_hdf5(const char *bytes, size_t size) {
    static const char signature[8] = {'\x89', 'H', 'D', 'F', '\r', '\n', '\x1a', '\n'};
    return size >= sizeof signature && memcmp(bytes, signature, sizeof signature) == 0;
}

static stn_status run(stn_context *context, char *const *arguments, const void *input, size_t input_size,
                      unsigned char **output, size_t *size, stn_error *err) {
    const stn_process_request request = {.name = "stiction-hdf5",
                                         .installed = PROGRAM_INSTALLED,
                                         .variable = "STICTION_HDF5_WORKER",
                                         .arguments = arguments,
                                         .input = {{input, input_size}},
                                         .most_output = most_bytes + (1 << 20),
                                         .seconds = SECONDS};
    return stn_process_run(context, &request, output, size, err);
}

/// One line of printable letters, whatever came; false: it is no failure.
static bool is_failure(const unsigned char *bytes, size_t size, stn_error *err) {
    array_wire_head head;
    if (size < sizeof head || memcmp(bytes, ARRAY_WIRE_FAILURE, sizeof head.magic) != 0) {
        return false;
    }
    char line[ARRAY_WIRE_TEXT_MAX + 1];
    size_t length = size - sizeof head < ARRAY_WIRE_TEXT_MAX ? size - sizeof head : ARRAY_WIRE_TEXT_MAX;
    for (size_t i = 0; i < length; i++) {
        unsigned char letter = bytes[sizeof head + i];
        line[i] = letter >= ' ' && letter <= '~' ? (char)letter : '?';
    }
    line[length] = '\0';
    stn_fail(err, STN_ERR_PARSE, "%s", length > 0 ? line : "it failed and does not say why");
    return true;
}

stn_status array_file_unpack(stn_context *context, const char *bytes, size_t size, array_file *out, stn_error *err) {
    char program[] = "stiction-hdf5", word[] = "unpack", most[24];
    snprintf(most, sizeof most, "%zu", most_bytes);
    char *arguments[] = {program, word, most, NULL};
    size_t answered = 0;
    *out = (array_file){.context = context};
    stn_status status = run(context, arguments, bytes, size, &out->bytes, &answered, err);
    return status == STN_OK ? array_file_take(context, out->bytes, answered, out, err) : status;
}

stn_status array_file_take(stn_context *context, unsigned char *answer, size_t size, array_file *out, stn_error *err) {
    *out = (array_file){.context = context, .bytes = answer};
    if (is_failure(answer, size, err)) {
        array_file_clear(out);
        return STN_ERR_PARSE;
    }
    array_wire_head head = {.count = 0};
    size_t at = sizeof head;
    bool good = size >= sizeof head;
    if (good) {
        memcpy(&head, answer, sizeof head);
        good = memcmp(head.magic, ARRAY_WIRE_DATA, sizeof head.magic) == 0 && head.count <= ARRAY_WIRE_ITEMS_MAX;
    }
    for (uint64_t i = 0; good && i < head.count; i++) {
        array_wire_item item = {.type = ARRAY_WIRE_LETTERS + 1};
        if (size - at >= sizeof item) {
            memcpy(&item, answer + at, sizeof item);
            at += sizeof item;
        }
        size_t width = item.type == ARRAY_WIRE_LETTERS ? 1 : 8, left = size - at;
        good = item.type <= ARRAY_WIRE_LETTERS && item.name_length <= ARRAY_WIRE_NAME_MAX && item.name_length <= left &&
               item.count <= (left - item.name_length) / width;
        if (good) {
            out->items[i] = (array_item){(const char *)answer + at, item.name_length, (array_wire_type)item.type,
                                         item.count, answer + at + item.name_length};
            out->count = (int32_t)i + 1;
            at += item.name_length + item.count * width;
        }
    }
    if (good && at == size) {
        return STN_OK;
    }
    array_file_clear(out);
    return stn_fail(err, STN_ERR_PARSE, "reading it gave a bad answer");
}

void array_file_clear(array_file *file) {
    if (file->context != NULL) {
        stn_release(file->context, file->bytes);
    }
    file->bytes = NULL;
    file->count = 0;
}

const array_item *array_file_find(const array_file *file, const char *name) {
    for (int32_t i = 0; i < file->count; i++) {
        const array_item *item = &file->items[i];
        if (item->name_length == strlen(name) && memcmp(item->name, name, item->name_length) == 0) {
            return item;
        }
    }
    return NULL;
}

int64_t array_item_integer(const array_item *item, uint64_t i) {
    int64_t value;
    memcpy(&value, item->values + 8 * i, sizeof value);
    return value;
}

double array_item_real(const array_item *item, uint64_t i) {
    double value;
    if (item->type == ARRAY_WIRE_INTEGERS) {
        return (double)array_item_integer(item, i);
    }
    memcpy(&value, item->values + 8 * i, sizeof value);
    return value;
}

// ---------------------------------------------------------------------------------------------------------- writing

static void append(array_builder *b, const void *from, size_t size) {
    if (!b->failed && size > b->capacity - b->size) {
        size_t capacity = 2 * b->capacity + size + 4096;
        unsigned char *more = stn_reallocate(b->context, b->bytes, b->size, capacity, 1);
        b->failed = more == NULL;
        b->bytes = more != NULL ? more : b->bytes;
        b->capacity = more != NULL ? capacity : b->capacity;
    }
    if (!b->failed && size > 0) {
        memcpy(b->bytes + b->size, from, size);
        b->size += size;
    }
}

void array_builder_add(array_builder *b, const char *name, array_wire_type type, const void *values, uint64_t count) {
    array_wire_head head = {.count = 0};
    if (b->size == 0) {
        memcpy(head.magic, ARRAY_WIRE_DATA, sizeof head.magic);
        append(b, &head, sizeof head);
    }
    array_wire_item item = {(uint32_t)strlen(name), (uint32_t)type, count};
    append(b, &item, sizeof item);
    append(b, name, item.name_length);
    append(b, values, (size_t)count * (type == ARRAY_WIRE_LETTERS ? 1 : 8));
    if (!b->failed) {
        memcpy(&head, b->bytes, sizeof head);
        head.count++;
        memcpy(b->bytes, &head, sizeof head);
    }
}

stn_status array_builder_write(array_builder *b, const stn_problem_sink *sink, stn_error *err) {
    char program[] = "stiction-hdf5", word[] = "pack";
    char *arguments[] = {program, word, NULL};
    unsigned char *image = NULL;
    size_t size = 0;
    stn_status status = b->failed ? stn_fail(err, STN_ERR_MEMORY, "out of memory") : STN_OK;
    if (status == STN_OK) {
        status = run(b->context, arguments, b->bytes, b->size, &image, &size, err);
    }
    if (status == STN_OK && !array_file_is_hdf5((const char *)image, size)) {
        status =
            is_failure(image, size, err) ? STN_ERR_FILE : stn_fail(err, STN_ERR_FILE, "making it gave no HDF5 file");
    }
    stn_release(b->context, b->bytes);
    *b = (array_builder){.context = b->context};
    if (status == STN_OK) {
        sink->put(sink, image, size);
    }
    stn_release(b->context, image);
    return status;
}
