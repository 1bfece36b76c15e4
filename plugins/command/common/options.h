// SPDX-License-Identifier: Apache-2.0
// What every subcommand does with its words: options from a declared table, positional words, help, one-line errors.
#ifndef STICTION_COMMAND_COMMON_OPTIONS_H
#define STICTION_COMMAND_COMMON_OPTIONS_H

#include <stiction/plugin.h>

/// Words that were given, in order; borrowed from argv.
typedef struct cli_list {
    int32_t count;
    const char **items;
} cli_list;

typedef enum cli_form {
    CLI_FLAG,  // target: bool
    CLI_TEXT,  // target: const char *
    CLI_REAL,  // target: double
    CLI_INT,   // target: int32_t
    CLI_TEXTS, // target: cli_list; may be given several times
} cli_form;

/// One option. `target` keeps its value when the option is not given. Forms: --name value, --name=value, -n value.
typedef struct cli_option {
    const char *name; // without dashes
    char letter;      // short form, 0 for none
    cli_form form;
    const char *argument; // what the help calls the value: "FILE"; NULL for a flag
    const char *summary;
    void *target;
} cli_option;

typedef struct cli_command {
    const char *name;
    const char *words;   // positional words for the help: "[ID]", "" for none
    const char *summary; // one line
    const cli_option *options;
    int32_t option_count;
    int32_t least_words, most_words; // of positional words
} cli_command;

enum {
    CLI_PROCEED = -1,
    CLI_UNSET = INT32_MIN, // what the target of a whole number holds that may be left out
};

/// Reads argv[1..] into the targets and `words` (cleared and filled; NULL when the command takes none). Returns
/// CLI_PROCEED, or the exit status when all is said: after --help, or after one line about what is wrong. Lists are
/// released by cli_list_clear.
int cli_parse(const cli_command *command, int argc, char **argv, cli_list *words);
void cli_list_clear(cli_list *list);

/// One line "stiction NAME: ..." on stderr; returns STN_EXIT_BAD_INPUT.
int cli_fail(const cli_command *command, const char *format, ...) STN_PRINTF(2, 3);
/// The line of an error, and the exit status that belongs to its status: 3 for what a solver or a simulation did, 130
/// for an interrupt, else 2.
int cli_fail_status(const cli_command *command, const stn_error *error);

/// CLI_PROCEED when a file that appears whole can be put at `path`; asked before the work whose result it takes.
int cli_probe_output(const cli_command *command, const char *path);
/// "name=value" -> a text setting with where = "--set". The name is copied into `name`. False without '=' or name, or
/// when the name is too long.
bool cli_setting(const char *text, char *name, size_t size, stn_setting *setting);

/// Does a text end so, with something before it?
bool cli_ends_with(const char *text, const char *ending);
/// For qsort: doubles, ascending.
int cli_compare_reals(const void *a, const void *b);

/// "solver/sap" -> solver; STN_KIND_COUNT without a slash, or when what stands before it is no kind.
stn_kind cli_kind_before_slash(const char *word);

/// Makes the file that it stands in, once and at the end, the plugin of a word: its line in the list of words, and the
/// function that does its work (stn_command_ops.run).
#define CLI_WORD(word, line, function)                                                    \
    static const stn_command_ops word_ops = {.size = sizeof word_ops, .run = (function)}; \
    static const stn_plugin_desc word_plugin = {.size = sizeof word_plugin,               \
                                                .kind = STN_KIND_COMMAND,                 \
                                                .id = #word,                              \
                                                .version = STN_VERSION,                   \
                                                .summary = (line),                        \
                                                .ops.command = &word_ops};                \
    STN_PLUGIN_LIBRARY(&word_plugin);

#endif
