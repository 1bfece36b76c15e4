// SPDX-License-Identifier: Apache-2.0
// `stiction test`: a process for each file, in it one for each test. Results travel to the command as records in a
// file; there they are printed in the order of files and tests, whatever ended first.
#ifndef STICTION_COMMAND_TEST_TEST_H
#define STICTION_COMMAND_TEST_TEST_H

#include <stdio.h>

#include "common/options.h"
#include "common/session.h"

/// The files, in the order in which their results are printed.
typedef struct cli_test_files {
    const cli_command *command;
    stn_context *context; // whose script plugins say which files of a folder are scripts
    char **paths;
    size_t count, capacity;
    const struct open_folder *folder; // the innermost one that is being listed, NULL outside
    bool broken;                      // a path could not be read
} cli_test_files;

/// Adds a file, or all scripts below a folder; says what cannot be read, and notes it in `broken`.
void cli_test_files_add(cli_test_files *list, const char *path);
void cli_test_files_clear(cli_test_files *list);

/// What the command line says about a run.
typedef struct cli_test_options {
    const cli_command *command;
    const char *pattern, *junit, *artifacts; // NULL: none
    double limit;                            // of a test, and of the lines outside of tests [s]
    int32_t workers;                         // files at a time
    bool tap, list, approve, strict;
    bool quick, full; // the tier that tests ask for; neither: as the environment has it
    cli_list sets;
} cli_test_options;

/// Texts of a result. NAME is "group: test"; absent for a file as a whole. OUTPUT and ERRORS are what it wrote to
/// stdout and stderr.
typedef enum cli_test_text {
    CLI_TEST_NAME,
    CLI_TEST_REASON,
    CLI_TEST_OUTPUT,
    CLI_TEST_ERRORS,
    CLI_TEST_RECORDING,
    CLI_TEST_CAPSULE,
    CLI_TEST_TEXTS,
} cli_test_text;

/// How one test ended.
typedef struct cli_test_result {
    stn_test_outcome outcome;
    bool broken; // failed by what no verdict tells: a signal, its limit, an error outside of tests
    double seconds;
    const char *file;           // borrowed
    char *text[CLI_TEST_TEXTS]; // owned, NULL: none; terminated, but may hold NUL
    size_t size[CLI_TEST_TEXTS];
} cli_test_result;

/// Replaces a text; out of memory it is absent.
void cli_test_result_set(cli_test_result *r, cli_test_text which, const char *text, size_t size);
void cli_test_result_set_file(cli_test_result *r, cli_test_text which, FILE *from);
void cli_test_result_clear(cli_test_result *r);
/// Writes it as one record, from whichever process; reads the next one: false at the end.
void cli_test_result_write(const cli_test_result *r, FILE *to);
bool cli_test_result_read(cli_test_result *r, FILE *from);

/// All results.
typedef struct cli_test_results {
    cli_test_result *items;
    size_t count, capacity;
    int32_t of[3];      // by stn_test_outcome
    bool out_of_memory; // some are missing
} cli_test_results;

/// Takes the result over.
void cli_test_results_add(cli_test_results *all, cli_test_result *r);
void cli_test_results_clear(cli_test_results *all);

/// Runs the files, prints as they end. STN_OK whatever failed; STN_ERR_FILE, STN_ERR_MEMORY, STN_ERR_INTERRUPTED; names
/// a --set that no file takes with STN_ERR_PARAMETER.
stn_status cli_test_run(const cli_test_files *files, const cli_test_options *options, cli_test_results *all,
                        stn_error *err);

/// A test that failed.
typedef struct cli_test_failure {
    const stn_test_batch *batch;
    int32_t index, number; // in the batch, and in its file
    const stn_verdict *verdict;
    const stn_step_mark *mark; // its last step
} cli_test_failure;

/// Does a failed test once more, in a process of its own, to keep a recording of the last seconds before its mark and a
/// capsule below options->artifacts; their paths go to the result.
void cli_test_keep(const cli_test_options *options, stn_session *session, const cli_test_failure *failure,
                   cli_test_result *r);

/// Where artifacts of a script's tests lie.
void cli_test_folder(const cli_test_options *options, const char *script, char *folder, size_t size);

/// Notes in the script's folder that `file` in it, a name without folder, is kept of a test: before it is made.
void cli_test_kept_add(const char *folder, const char *script, const char *test, const char *file);
/// Removes what former runs kept of the script's tests that contain `pattern` (NULL: all), and the folder when it is
/// empty then. Files that are not noted stay.
void cli_test_kept_remove(stn_context *context, const char *folder, const char *script, const char *pattern);

/// The formats: lines for people, TAP 14 with `number` from 1, JUnit XML.
void cli_test_print_line(const cli_test_result *r);
void cli_test_print_tap(const cli_test_result *r, size_t number);
/// Appears whole or not at all; `seconds` are those of the whole run.
stn_status cli_test_write_junit(const cli_test_results *all, double seconds, const char *path, stn_error *err);

#endif
