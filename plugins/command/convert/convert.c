// SPDX-License-Identifier: Apache-2.0
// stiction convert IN OUT: loads a robot file and writes the robot in another format.
#include <stiction/input.h>

#include "common/apart.h"
#include "common/options.h"
#include "common/robot.h"

typedef struct request {
    const char *in, *out, *format, *name;
    bool fixed;
    cli_list packages;
} request;

static int run_convert(void *self, const stn_command_call *call) {
    (void)self;
    request asked = {0};
    cli_list words = {0};
    const cli_option options[] = {
        {"format", 'f', CLI_TEXT, "ID", "loader that writes it; else by the extension of OUT", &asked.format},
        {"name", 'n', CLI_TEXT, "NAME", "of the robot in OUT; else as in IN", &asked.name},
        {"fixed", 0, CLI_FLAG, NULL, "OUT says that the root is welded to the world", &asked.fixed},
        {"package", 0, CLI_TEXTS, "DIR", "folder to look for package:// and model:// names", &asked.packages},
    };
    const cli_command command = {
        "convert", "IN OUT",           "Writes a robot file in another format. What that cannot hold is a warning.",
        options,   STN_COUNT(options), 2,
        2};
    int status = cli_parse(&command, call->argc, call->argv, &words);
    if (status != CLI_PROCEED) {
        return status;
    }
    char path[STN_INPUT_PATH];
    asked.in = stn_find_shipped(words.items[0], path);
    asked.out = words.items[1];
    stn_error error = {STN_OK, ""};
    cli_robot robot = {0};
    const cli_robot_options how = {.fixed = asked.fixed, .packages = asked.packages.items};
    status = cli_keep_apart(&command, &asked.in, 1, &asked.out, 1); // the new one holds less than the old
    if (status == CLI_PROCEED && cli_robot_load(&robot, asked.in, &how, &error) == STN_OK) {
        stn_save_request save = {.model = robot.model, .name = asked.name, .path = asked.out};
        stn_status saved = STN_OK;
        if (asked.format != NULL) {
            saved = stn_plugin_load(robot.context, STN_KIND_LOADER, asked.format, &error);
        }
        if (saved == STN_OK) {
            saved = stn_save_robot(robot.context, &save, asked.format, &robot.diagnostics, &error);
        }
        cli_print_findings(&robot.diagnostics, STN_SEVERITY_WARNING);
        status = saved == STN_OK ? STN_EXIT_DONE : cli_fail_status(&command, &error);
    } else if (status == CLI_PROCEED) {
        status = cli_fail_status(&command, &error);
    }
    cli_robot_clear(&robot);
    cli_list_clear(&asked.packages);
    cli_list_clear(&words);
    return status;
}

CLI_WORD(convert, "writes a robot file in another format", run_convert)
