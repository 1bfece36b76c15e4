// SPDX-License-Identifier: Apache-2.0
// Results of tests, and their way between processes.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test.h"

/// In front of a record's texts.
typedef struct record_head {
    stn_test_outcome outcome;
    bool broken;
    double seconds;
    bool has[CLI_TEST_TEXTS];
    size_t size[CLI_TEST_TEXTS];
} record_head;

void cli_test_result_set(cli_test_result *r, cli_test_text which, const char *text, size_t size) {
    free(r->text[which]);
    r->text[which] = malloc(size + 1);
    r->size[which] = 0;
    if (r->text[which] != NULL) {
        memcpy(r->text[which], text, size);
        r->text[which][size] = '\0';
        r->size[which] = size;
    }
}

void cli_test_result_set_file(cli_test_result *r, cli_test_text which, FILE *from) {
    fseek(from, 0, SEEK_END);
    long size = ftell(from);
    rewind(from);
    char *text = size > 0 ? malloc((size_t)size) : NULL;
    if (text != NULL) {
        cli_test_result_set(r, which, text, fread(text, 1, (size_t)size, from));
    }
    free(text);
}

void cli_test_result_clear(cli_test_result *r) {
    for (int i = 0; i < CLI_TEST_TEXTS; i++) {
        free(r->text[i]);
    }
    *r = (cli_test_result){0};
}

void cli_test_result_write(const cli_test_result *r, FILE *to) {
    record_head head = {.outcome = r->outcome, .broken = r->broken, .seconds = r->seconds};
    for (int i = 0; i < CLI_TEST_TEXTS; i++) {
        head.has[i] = r->text[i] != NULL;
        head.size[i] = r->size[i];
    }
    fwrite(&head, sizeof head, 1, to);
    for (int i = 0; i < CLI_TEST_TEXTS; i++) {
        fwrite(head.has[i] ? r->text[i] : "", 1, r->size[i], to);
    }
    fflush(to); // another process may be the next to write
}

bool cli_test_result_read(cli_test_result *r, FILE *from) {
    record_head head;
    *r = (cli_test_result){0};
    if (fread(&head, sizeof head, 1, from) != 1) {
        return false;
    }
    r->outcome = head.outcome;
    r->broken = head.broken;
    r->seconds = head.seconds;
    for (int i = 0; i < CLI_TEST_TEXTS; i++) {
        char *text = head.has[i] ? malloc(head.size[i] + 1) : NULL;
        if (text != NULL) {
            cli_test_result_set(r, (cli_test_text)i, text, fread(text, 1, head.size[i], from));
            free(text);
        }
    }
    return true;
}

void cli_test_results_add(cli_test_results *all, cli_test_result *r) {
    all->of[r->outcome]++;
    if (all->count == all->capacity) {
        size_t capacity = 2 * all->capacity + 64;
        cli_test_result *grown = realloc(all->items, capacity * sizeof *grown);
        if (grown == NULL) {
            all->out_of_memory = true;
            cli_test_result_clear(r);
            return;
        }
        all->items = grown;
        all->capacity = capacity;
    }
    all->items[all->count++] = *r;
}

void cli_test_results_clear(cli_test_results *all) {
    for (size_t i = 0; i < all->count; i++) {
        cli_test_result_clear(&all->items[i]);
    }
    free(all->items);
    *all = (cli_test_results){0};
}
