// SPDX-License-Identifier: Apache-2.0
// Pages of the documents: their text and the code blocks in it.
#ifndef STN_TEST_DOCS_PAGE_H
#define STN_TEST_DOCS_PAGE_H

#include <stdlib.h>
#include <string.h>

#include "stn_test.h"

/// The text of a page, to be freed.
static inline char *read_page(const char *path) {
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    size_t length = fread(text, 1, (1 << 20) - 1, file);
    assert_true(length > 0);
    fclose(file);
    return text;
}

/// The text between "```language\n" and "```", cut out of the page; `*page` moves behind it. NULL: there is no further
/// one.
static inline char *next_block(char **page, const char *language) {
    char fence[32];
    snprintf(fence, sizeof fence, "```%s\n", language);
    char *begin = strstr(*page, fence);
    if (begin == NULL) {
        return NULL;
    }
    begin += strlen(fence);
    char *end = strstr(begin, "```");
    assert_non_null(end);
    *end = '\0';
    *page = end + 1;
    return begin;
}

#endif
