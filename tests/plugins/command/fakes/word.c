// SPDX-License-Identifier: Apache-2.0
// A word of a user's: says what it was given. Built several times, most with one mistake (WORD_...).
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <stiction/plugin.h>

#ifndef WORD_ID
#define WORD_ID "greet"
#endif
#ifndef WORD_MAJOR
#define WORD_MAJOR STN_ABI_MAJOR
#endif

static int print_help(void) {
#ifdef WORD_COUNTS
    static int calls;
    printf("call %d of ", ++calls);
#endif
#ifdef WORD_LITTERS
    fclose(fopen("litter", "w"));
#endif
#ifdef WORD_HELPS_ON_STDERR
    fputs("usage: stiction " WORD_ID "\n", stderr);
#else
    puts("usage: stiction " WORD_ID " [NAME]...");
#endif
    return STN_EXIT_DONE;
}

static int run(void *self, const stn_command_call *call) {
    (void)self;
#ifdef WORD_READS_ON
    for (int i = 1; i <= call->argc + 1; i++) {
        if (call->argv[i] != NULL && call->argv[i][0] == '#') {
            return STN_EXIT_DONE;
        }
    }
#endif
    for (int i = 1; i < call->argc; i++) {
        if (strcmp(call->argv[i], "--help") == 0 || strcmp(call->argv[i], "-h") == 0) {
            return print_help();
        }
#ifndef WORD_TAKES_ANYTHING
        if (call->argv[i][0] == '-') {
            fprintf(stderr, "%s " WORD_ID ": unknown option %s\n", call->program, call->argv[i]);
#ifdef WORD_EXITS
            exit(STN_EXIT_BAD_INPUT);
#endif
            return STN_EXIT_BAD_INPUT;
        }
#endif
    }
    printf("%s: %d words, the last is %s\n", call->argv[0], call->argc - 1, call->argv[call->argc - 1]);
    return call->context != NULL && call->argv[call->argc] == NULL ? STN_EXIT_CHECK_FAILED : STN_EXIT_BAD_INPUT;
}

static const stn_command_ops ops = {.size = sizeof ops, .run = run};
static const stn_plugin_desc word = {
    .size = sizeof word,
    .kind = STN_KIND_COMMAND,
    .id = WORD_ID,
    .version = "1",
    .summary = "says what it was given",
    .ops.command = &ops,
};

static const stn_plugin_desc *const list[] = {&word};
extern STN_API const stn_plugin_entry stn_plugin;
const stn_plugin_entry stn_plugin = {WORD_MAJOR, STN_ABI_MINOR, 1, list};
