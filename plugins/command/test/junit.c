// SPDX-License-Identifier: Apache-2.0
// Results as JUnit XML, in the elements and attributes that every reader knows: testsuites, a testsuite for each file,
// a testcase for each test with failure, error or skipped, system-out and system-err.
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/markup.h"
#include "common/stream.h"
#include "test.h"

/// Counts of one suite or all.
typedef struct tally {
    size_t tests, failures, errors, skipped;
    double seconds;
} tally;

static void put_attribute(FILE *to, const char *name, const char *value) {
    fprintf(to, " %s=\"", name);
    cli_put_markup(to, value, strlen(value), true);
    putc('"', to);
}

static void put_output(FILE *to, const char *element, const cli_test_result *r, cli_test_text which) {
    if (r->text[which] != NULL) {
        fprintf(to, "      <%s>", element);
        cli_put_markup(to, r->text[which], r->size[which], false);
        fprintf(to, "</%s>\n", element);
    }
}

static void put_case(FILE *to, const cli_test_result *r) {
    fputs("    <testcase", to);
    put_attribute(to, "name", r->text[CLI_TEST_NAME] != NULL ? r->text[CLI_TEST_NAME] : r->file);
    // "tests/gripper.lua" -> "tests.gripper": readers make a tree of it.
    const char *file = r->file;
    size_t length = strlen(file), ending = length > 4 && strcmp(file + length - 4, ".lua") == 0 ? 4 : 0;
    fputs(" classname=\"", to);
    for (size_t i = strspn(file, "./"); i < length - ending; i++) {
        cli_put_markup(to, file[i] == '/' ? "." : &file[i], 1, true);
    }
    putc('"', to);
    fprintf(to, " time=\"%.6f\">\n", r->seconds);
    if (r->outcome != STN_TEST_PASSED) {
        bool skipped = r->outcome == STN_TEST_SKIPPED;
        const char *element = skipped ? "skipped" : r->broken ? "error" : "failure";
        const char *reason = r->text[CLI_TEST_REASON] != NULL ? r->text[CLI_TEST_REASON] : "";
        fprintf(to, "      <%s", element);
        put_attribute(to, "message", reason);
        if (skipped) {
            fputs("/>\n", to);
        } else { // the reason as text, and where to look
            put_attribute(to, "type", r->broken ? "error" : "check");
            putc('>', to);
            cli_put_markup(to, reason, strlen(reason), false);
            for (int i = CLI_TEST_RECORDING; i <= CLI_TEST_CAPSULE; i++) {
                if (r->text[i] != NULL) {
                    fprintf(to, "\n%s: ", i == CLI_TEST_RECORDING ? "recording" : "capsule");
                    cli_put_markup(to, r->text[i], r->size[i], false);
                }
            }
            fprintf(to, "</%s>\n", element);
        }
    }
    put_output(to, "system-out", r, CLI_TEST_OUTPUT);
    put_output(to, "system-err", r, CLI_TEST_ERRORS);
    fputs("    </testcase>\n", to);
}

static tally count(const cli_test_result *from, size_t size) {
    tally t = {.tests = size};
    for (size_t i = 0; i < size; i++) {
        t.failures += from[i].outcome == STN_TEST_FAILED && !from[i].broken;
        t.errors += from[i].outcome == STN_TEST_FAILED && from[i].broken;
        t.skipped += from[i].outcome == STN_TEST_SKIPPED;
        t.seconds += from[i].seconds;
    }
    return t;
}

stn_status cli_test_write_junit(const cli_test_results *all, double seconds, const char *path, stn_error *err) {
    stn_output output;
    stn_status status = stn_output_open(path, STN_OUTPUT_WHOLE, &output, err);
    if (status != STN_OK) {
        return status;
    }
    FILE *to = cli_stream_of(&output);
    tally t = count(all->items, all->count);
    if (to != NULL) {
        fprintf(to,
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"stiction test\" tests=\"%zu\" "
                "failures=\"%zu\" errors=\"%zu\" time=\"%.6f\">\n",
                t.tests, t.failures, t.errors, seconds);
    }
    for (size_t i = 0, end; i < all->count && to != NULL; i = end) {
        const char *file = all->items[i].file;
        for (end = i; end < all->count && all->items[end].file == file; end++) {
        }
        t = count(&all->items[i], end - i);
        fputs("  <testsuite", to);
        put_attribute(to, "name", file);
        fprintf(to, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\" time=\"%.6f\">\n", t.tests,
                t.failures, t.errors, t.skipped, t.seconds);
        for (size_t k = i; k < end; k++) {
            put_case(to, &all->items[k]);
        }
        fputs("  </testsuite>\n", to);
    }
    if (to != NULL) {
        fputs("</testsuites>\n", to);
    }
    return cli_finish_stream(&output, to, path, err);
}
