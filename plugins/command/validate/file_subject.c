// SPDX-License-Identifier: Apache-2.0
#include "file_subject.h"

#include <stdlib.h>
#include <string.h>

static void *allocate(void *user, size_t size) {
    file_heap *heap = user;
    void *memory = ++heap->requests == heap->fail_at ? NULL : malloc(size);
    heap->live += memory != NULL;
    return memory;
}

static void release(void *user, void *memory) {
    file_heap *heap = user;
    heap->live -= memory != NULL;
    free(memory);
}

static void ignore(void *user, stn_log_level level, const char *text) {
    (void)user, (void)level, (void)text;
}

stn_context *file_context(file_heap *heap) {
    const stn_context_options options = {
        .allocate = allocate, .release = release, .allocator_user = heap, .log = ignore};
    stn_context *context = NULL;
    return stn_context_create(&options, &context, NULL) == STN_OK ? context : NULL;
}

char *file_copy(const char *bytes, size_t size) {
    char *copy = malloc(size + 1);
    if (copy != NULL) {
        if (size > 0) {
            memcpy(copy, bytes, size);
        }
        copy[size] = '\0';
    }
    return copy;
}

void file_check_refusal(validate_trial *trial, const char *what, const char *path, stn_status status,
                        const stn_error *err) {
    if (strncmp(err->text, path, strlen(path)) != 0 || strchr(err->text, '\n') != NULL) {
        trial_fail(trial, "%.60s: %s, \"%.200s\", expected one line that begins with %s", what, stn_status_text(status),
                   err->text, path);
    }
}

void file_check_extensions(validate_trial *trial, const char *const *extensions) {
    if (extensions == NULL || extensions[0] == NULL) {
        trial_fail(trial, "an extension is missing");
        return;
    }
    for (const char *const *e = extensions; *e != NULL; e++) {
        if ((*e)[0] == '\0' || (*e)[strspn(*e, "abcdefghijklmnopqrstuvwxyz0123456789_")] != '\0') {
            trial_fail(trial, "extension \"%s\", expected small letters, digits and _, without a dot", *e);
        }
    }
}

const char *const file_nonsense[] = {"",
                                     "\n",
                                     "<",
                                     "<?xml version=\"1.0\"?>",
                                     "{",
                                     "{}",
                                     "[[[[",
                                     "\xef\xbb\xbf",
                                     "\xff\xfe",
                                     "name",
                                     "a b c d e f g",
                                     "# only a comment\n",
                                     "0",
                                     "-1",
                                     "\"",
                                     "nan nan nan nan",
                                     "1e999 1e999 1e999",
                                     "99999999999999999999",
                                     "%s%n%s%n",
                                     NULL};

size_t file_damage(random_stream *random, int32_t i, char *bytes, size_t size) {
    if (size == 0) {
        return 0;
    }
    if (i % 2 == 0) {
        return (size_t)random_integer(random, 0, (int32_t)size - 1);
    }
    for (int32_t k = random_integer(random, 1, 3); k > 0; k--) {
        char other = bytes[random_integer(random, 0, (int32_t)size - 1)]; // mostly a letter that could stand there
        bytes[random_integer(random, 0, (int32_t)size - 1)] = i % 4 == 1 ? other : (char)random_integer(random, 0, 255);
    }
    return size;
}
