// SPDX-License-Identifier: Apache-2.0
#include <langinfo.h>
#include <limits.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/terminal.h"

/// The window, else what COLUMNS says, else the old 80.
static int window_width(int descriptor) {
    struct winsize window = {0};
    if (ioctl(descriptor, TIOCGWINSZ, &window) == 0 && window.ws_col > 0) {
        return window.ws_col;
    }
    const char *columns = getenv("COLUMNS");
    double width = 0.0;
    return columns != NULL && stn_parse_real(columns, &width) && width >= 1.0 && width <= 1e6 ? (int)width : 80;
}

cli_terminal cli_terminal_of_stdout(void) {
    if (isatty(STDOUT_FILENO) == 0) {
        return (cli_terminal){.utf8 = false, .width = INT_MAX};
    }
    cli_terminal terminal = {.utf8 = false, .width = window_width(STDOUT_FILENO)};
    locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0); // the program itself stays in the "C" locale
    if (locale != (locale_t)0) {
        terminal.utf8 = strcmp(nl_langinfo_l(CODESET, locale), "UTF-8") == 0;
        freelocale(locale);
    }
    return terminal;
}

int cli_width_of_stderr(void) {
    return isatty(STDERR_FILENO) != 0 ? window_width(STDERR_FILENO) : 0;
}

bool cli_stderr_redraws(void) {
    const char *kind = getenv("TERM");
    return isatty(STDERR_FILENO) != 0 && (kind == NULL || strcmp(kind, "dumb") != 0);
}

int cli_columns(const char *text) {
    int count = 0;
    for (; *text != '\0'; text++) {
        count += ((unsigned char)*text & 0xc0) != 0x80;
    }
    return count;
}

/// Names come from files of strangers: control characters would steer the terminal, those of one byte and those of
/// UTF-8, U+0080 to U+009F. What is left of a name that was cut inside of a character does not matter here.
static void print_to(FILE *stream, const char *text, size_t length) {
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        bool pair =
            c == 0xc2 && i + 1 < length && (unsigned char)text[i + 1] >= 0x80 && (unsigned char)text[i + 1] < 0xa0;
        fputc(c < 0x20 || c == 0x7f || pair ? '?' : c, stream);
        i += pair;
    }
}

static void print(const char *text, size_t length) {
    print_to(stdout, text, length);
}

void cli_print_message(const char *text) {
    for (size_t length; *text != '\0'; text += length) {
        length = strcspn(text, "\n\t");
        print_to(stderr, text, length);
        if (text[length] != '\0') {
            fputc(text[length++], stderr);
        }
    }
}

void cli_print_part(const char *text, size_t length) {
    print(text, length);
}

void cli_print_name(const char *name) {
    print(name, strlen(name));
}

void cli_print_padded(const char *text, int width) {
    cli_print_name(text);
    printf("%*s", width > cli_columns(text) ? width - cli_columns(text) : 0, "");
}

void cli_print_cut(const cli_terminal *terminal, const char *text) {
    size_t end = 0;
    for (int count = 0; text[end] != '\0'; end++) {
        count += ((unsigned char)text[end] & 0xc0) != 0x80; // a character counts at its first byte
        if (count == terminal->width && cli_columns(text) > terminal->width) {
            break; // the mark takes the last column
        }
    }
    print(text, end);
    puts(text[end] == '\0' ? "" : terminal->utf8 ? "\u2026" : ">");
}
