// SPDX-License-Identifier: Apache-2.0
// Results as lines for people and as TAP version 14 (https://testanything.org/tap-version-14-specification.html).
#include <stdio.h>
#include <string.h>

#include "common/terminal.h"
#include "test.h"

void cli_test_print_line(const cli_test_result *r) {
    static const char *const words[] = {"ok", "FAIL", "skip"};
    static const char *const labels[] = {[CLI_TEST_RECORDING] = "recording", [CLI_TEST_CAPSULE] = "capsule"};
    if (r->text[CLI_TEST_ERRORS] != NULL) {
        fwrite(r->text[CLI_TEST_ERRORS], 1, r->size[CLI_TEST_ERRORS], stderr);
        fflush(stderr);
    }
    if (r->text[CLI_TEST_OUTPUT] != NULL) {
        fwrite(r->text[CLI_TEST_OUTPUT], 1, r->size[CLI_TEST_OUTPUT], stdout);
    }
    const char *name = r->text[CLI_TEST_NAME];
    printf("%-4s ", words[r->outcome]);
    cli_print_name(r->file);
    fputs(name != NULL ? ": " : "", stdout);
    cli_print_name(name != NULL ? name : "");
    printf(" (%.0f ms)\n", 1e3 * r->seconds);
    if (r->text[CLI_TEST_REASON] != NULL) {
        const char *text = r->text[CLI_TEST_REASON];
        while (*text != '\0') { // a line at a time
            size_t length = strcspn(text, "\n");
            fputs("     ", stdout);
            cli_print_part(text, length);
            putchar('\n');
            text += length + (text[length] == '\n');
        }
    }
    for (int i = CLI_TEST_RECORDING; i <= CLI_TEST_CAPSULE; i++) {
        if (r->text[i] != NULL) {
            printf("     %s: ", labels[i]);
            cli_print_name(r->text[i]);
            putchar('\n');
        }
    }
    fflush(stdout);
}

/// A description or a reason: '#' and '\' mean something to readers, a line's end would end it.
static void print_escaped(const char *text) {
    for (; *text != '\0'; text++) {
        if (*text == '#' || *text == '\\') {
            putchar('\\');
        }
        putchar((unsigned char)*text < ' ' || *text == 0x7f ? ' ' : *text);
    }
}

/// As a double-quoted scalar of YAML.
static void print_yaml(const char *key, const char *text) {
    if (text == NULL) {
        return;
    }
    printf("  %s: \"", key);
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\') {
            printf("\\%c", c);
        } else if (c == '\n') {
            fputs("\\n", stdout);
        } else if (c < 0x20 || c == 0x7f) {
            printf("\\x%02x", c);
        } else {
            putchar(c);
        }
    }
    puts("\"");
}

void cli_test_print_tap(const cli_test_result *r, size_t number) {
    bool failed = r->outcome == STN_TEST_FAILED;
    if (r->text[CLI_TEST_ERRORS] != NULL) {
        fwrite(r->text[CLI_TEST_ERRORS], 1, r->size[CLI_TEST_ERRORS], stderr);
    }
    if (r->text[CLI_TEST_OUTPUT] != NULL) { // stdout is for the format alone
        fwrite(r->text[CLI_TEST_OUTPUT], 1, r->size[CLI_TEST_OUTPUT], stderr);
    }
    fflush(stderr);
    printf("%s %zu - ", failed ? "not ok" : "ok", number);
    print_escaped(r->file);
    if (r->text[CLI_TEST_NAME] != NULL) {
        fputs(": ", stdout);
        print_escaped(r->text[CLI_TEST_NAME]);
    }
    if (r->outcome == STN_TEST_SKIPPED) {
        fputs(" # SKIP ", stdout);
        print_escaped(r->text[CLI_TEST_REASON] != NULL ? r->text[CLI_TEST_REASON] : "");
    }
    putchar('\n');
    if (failed) {
        puts("  ---");
        print_yaml("message", r->text[CLI_TEST_REASON]);
        print_yaml("severity", r->broken ? "error" : "fail");
        printf("  duration_ms: %.3f\n", 1e3 * r->seconds);
        print_yaml("recording", r->text[CLI_TEST_RECORDING]);
        print_yaml("capsule", r->text[CLI_TEST_CAPSULE]);
        puts("  ...");
    }
    fflush(stdout);
}
