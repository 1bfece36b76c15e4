// SPDX-License-Identifier: Apache-2.0
// The subcommands: cmd_<name>.c each. argv[0] is the subcommand's name; the result is the exit status.
#ifndef STICTION_CORE_CLI_COMMANDS_H
#define STICTION_CORE_CLI_COMMANDS_H

int cmd_check(int argc, char **argv);
int cmd_compare(int argc, char **argv);
int cmd_convert(int argc, char **argv);
int cmd_info(int argc, char **argv);
int cmd_new(int argc, char **argv);
int cmd_plugins(int argc, char **argv);
int cmd_replay(int argc, char **argv);
int cmd_solve(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_sweep(int argc, char **argv);
int cmd_test(int argc, char **argv);
int cmd_validate(int argc, char **argv);
int cmd_view(int argc, char **argv);

#endif
