// SPDX-License-Identifier: Apache-2.0
// Words of the command line -> declared targets.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <stiction/output.h>

#include "common/options.h"
#include "common/terminal.h"

enum { MOST_OPTIONS = 64, LONGEST_MESSAGE = 4096 };

/// The words that are left to read.
typedef struct reader {
    const cli_command *command;
    int argc, next;
    char **argv;
} reader;

int cli_fail(const cli_command *command, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char text[LONGEST_MESSAGE];
    vsnprintf(text, sizeof text, format, arguments);
    fprintf(stderr, "stiction %s: ", command->name);
    cli_print_message(text);
    fputc('\n', stderr);
    va_end(arguments);
    return STN_EXIT_BAD_INPUT;
}

int cli_fail_status(const cli_command *command, const stn_error *error) {
    cli_fail(command, "%s", error->text);
    return stn_exit_of(error->status);
}

int cli_probe_output(const cli_command *command, const char *path) {
    stn_output output;
    stn_error err = {STN_OK, ""};
    if (stn_output_open(path, STN_OUTPUT_WHOLE, &output, &err) != STN_OK) {
        return cli_fail_status(command, &err);
    }
    stn_output_close(&output, STN_OUTPUT_DROP, NULL);
    return CLI_PROCEED;
}

static void print_help(const cli_command *command) {
    printf("usage: stiction %s%s%s [options]\n%s\n", command->name, command->words[0] != '\0' ? " " : "",
           command->words, command->summary);
    for (int32_t i = 0; i < command->option_count; i++) {
        const cli_option *o = &command->options[i];
        char name[64], letter[8] = "";
        if (o->letter != 0) {
            snprintf(letter, sizeof letter, "-%c, ", o->letter);
        }
        snprintf(name, sizeof name, "%s--%s%s%s", letter, o->name, o->argument != NULL ? " " : "",
                 o->argument != NULL ? o->argument : "");
        printf("  %-26s %s%s\n", name, o->summary, o->form == CLI_TEXTS ? " (repeatable)" : "");
    }
    printf("  %-26s %s\n", "-h, --help", "this text");
}

/// The option that a word names; `*value` is what follows '=', or the letter of a short option: -j2; else NULL.
static const cli_option *find(const cli_command *command, const char *word, const char **value) {
    *value = NULL;
    for (int32_t i = 0; i < command->option_count; i++) {
        const cli_option *o = &command->options[i];
        if (word[1] != '-') {
            if (o->letter != 0 && word[1] == o->letter && (word[2] == '\0' || o->form != CLI_FLAG)) {
                *value = word[2] != '\0' ? word + 2 : NULL;
                return o;
            }
            continue;
        }
        size_t length = strlen(o->name);
        if (strncmp(word + 2, o->name, length) == 0 && (word[2 + length] == '\0' || word[2 + length] == '=')) {
            *value = word[2 + length] == '=' ? word + 3 + length : NULL;
            return o;
        }
    }
    return NULL;
}

static bool append(const reader *r, cli_list *list, const char *text) {
    if (list->items == NULL) {
        list->items = calloc((size_t)r->argc, sizeof *list->items); // never more words than argc
        if (list->items == NULL) {
            return false;
        }
    }
    list->items[list->count++] = text;
    return true;
}

static int read_option(reader *r, const char *word) {
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        print_help(r->command);
        return STN_EXIT_DONE;
    }
    const char *value = NULL;
    const cli_option *o = find(r->command, word, &value);
    if (o == NULL) {
        const cli_command *command = r->command;
        const char *names[MOST_OPTIONS + 1] = {NULL};
        int32_t count = 0;
        char name[64];
        for (; count < command->option_count && count < MOST_OPTIONS; count++) {
            names[count] = command->options[count].name;
        }
        names[count++] = "help";
        snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
        const char *near = word[1] == '-' ? stn_suggest(name + 2, names, count) : NULL;
        if (near != NULL) {
            return cli_fail(command, "unknown option %s; did you mean --%s?", name, near);
        }
        return cli_fail(command, "unknown option %s; see stiction %s --help", name, command->name);
    }
    if (o->form == CLI_FLAG && value != NULL) {
        return cli_fail(r->command, "--%s takes no value", o->name);
    }
    if (o->form != CLI_FLAG && value == NULL) {
        if (r->next == r->argc) {
            return cli_fail(r->command, "--%s needs a value: --%s %s", o->name, o->name, o->argument);
        }
        value = r->argv[r->next++];
    }
    double number = 0.0;
    switch (o->form) {
    case CLI_FLAG:
        *(bool *)o->target = true;
        return CLI_PROCEED;
    case CLI_TEXT:
        *(const char **)o->target = value;
        return CLI_PROCEED;
    case CLI_REAL:
        if (!stn_parse_real(value, o->target)) {
            return cli_fail(r->command, "--%s %s: must be a finite number", o->name, value);
        }
        return CLI_PROCEED;
    case CLI_INT:
        if (!stn_parse_real(value, &number) || !(number >= INT32_MIN && number <= INT32_MAX) ||
            number != (double)(int32_t)number) {
            return cli_fail(r->command, "--%s %s: must be a whole number", o->name, value);
        }
        *(int32_t *)o->target = (int32_t)number;
        return CLI_PROCEED;
    case CLI_TEXTS:
        return append(r, o->target, value) ? CLI_PROCEED : cli_fail(r->command, "out of memory");
    }
    return CLI_PROCEED;
}

void cli_list_clear(cli_list *list) {
    free(list->items);
    *list = (cli_list){0};
}

int cli_parse(const cli_command *command, int argc, char **argv, cli_list *words) {
    reader r = {command, argc, 1, argv};
    if (words != NULL) {
        *words = (cli_list){0};
    }
    bool options = true; // until "--"
    int32_t count = 0;
    int status = CLI_PROCEED;
    while (r.next < argc && status == CLI_PROCEED) {
        const char *word = argv[r.next++];
        if (options && strcmp(word, "--") == 0) {
            options = false;
        } else if (options && word[0] == '-' && word[1] != '\0') {
            status = read_option(&r, word);
        } else if (words == NULL || count++ == command->most_words) {
            status = cli_fail(command, "too many words at \"%s\"; see stiction %s --help", word, command->name);
        } else if (!append(&r, words, word)) {
            status = cli_fail(command, "out of memory");
        }
    }
    if (status == CLI_PROCEED && count < command->least_words) {
        status = cli_fail(command, "needs %s; see stiction %s --help", command->words, command->name);
    }
    if (status == CLI_PROCEED) {
        return status;
    }
    for (int32_t i = 0; i < command->option_count; i++) {
        if (command->options[i].form == CLI_TEXTS) {
            cli_list_clear(command->options[i].target);
        }
    }
    if (words != NULL) {
        cli_list_clear(words);
    }
    return status;
}

bool cli_setting(const char *text, char *name, size_t size, stn_setting *setting) {
    const char *equals = strchr(text, '=');
    if (equals == NULL || equals == text || (size_t)(equals - text) >= size) {
        return false;
    }
    memcpy(name, text, (size_t)(equals - text));
    name[equals - text] = '\0';
    *setting = (stn_setting){.name = name, .form = STN_SETTING_TEXT, .text = equals + 1, .where = "--set"};
    return true;
}

bool cli_ends_with(const char *text, const char *ending) {
    size_t size = strlen(text), tail = strlen(ending);
    return size > tail && strcmp(text + size - tail, ending) == 0;
}

int cli_compare_reals(const void *a, const void *b) {
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

stn_kind cli_kind_before_slash(const char *word) {
    size_t length = strcspn(word, "/");
    for (int kind = 0; kind < STN_KIND_COUNT && word[length] == '/'; kind++) {
        const char *name = stn_kind_name((stn_kind)kind);
        if (strlen(name) == length && strncmp(name, word, length) == 0) {
            return (stn_kind)kind;
        }
    }
    return STN_KIND_COUNT;
}
