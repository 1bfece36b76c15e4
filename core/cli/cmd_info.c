// SPDX-License-Identifier: Apache-2.0
// stiction info MODEL: what a robot file holds, and kinematics and dynamics figures of one configuration.
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/info.h"
#include "cli/print.h"

enum { CANDIDATES = 500 };

/// Loading has said what compiling would say again, with lines.
static void drop_message(void *user, stn_log_level level, const char *text) {
    (void)user;
    if (level == STN_LOG_ERROR) {
        fprintf(stderr, "error: %s\n", text);
    }
}

static stn_status compile(info *robot, stn_model_builder *builder, stn_error *err) {
    stn_load_request request = {.path = robot->path};
    stn_pose origin = stn_pose_identity();
    int32_t index = 0;
    stn_status status = stn_load_robot(robot->context, &request, builder, &index, &robot->diagnostics, err);
    if (status == STN_OK) {
        status = stn_builder_set_base(builder, index, &origin, true, err);
    }
    return status == STN_OK ? stn_model_compile(builder, &robot->model, err) : status;
}

static stn_status load(info *robot, stn_error *err) {
    stn_model_builder *builder = NULL;
    stn_status status = stn_builder_create(robot->context, &builder, err);
    if (status == STN_OK) {
        status = compile(robot, builder, err);
    }
    stn_builder_destroy(builder);
    if (status == STN_OK) {
        status = stn_kinematics_create(robot->model, &robot->kinematics, err);
    }
    if (status != STN_OK) {
        return status;
    }
    robot->q = stn_allocate(robot->context, (size_t)robot->model->nq, sizeof *robot->q);
    robot->v = stn_allocate(robot->context, (size_t)robot->model->nv, sizeof *robot->v);
    robot->child_of = stn_allocate(robot->context, (size_t)robot->model->joint_count, sizeof *robot->child_of);
    if (robot->q == NULL || robot->v == NULL || robot->child_of == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "%s: out of memory", robot->path);
    }
    info_count(robot);
    return STN_OK;
}

static void clear(info *robot) {
    stn_release(robot->context, robot->frames);
    stn_release(robot->context, robot->child_of);
    stn_release(robot->context, robot->q);
    stn_release(robot->context, robot->v);
    stn_kinematics_destroy(robot->kinematics);
    stn_model_destroy(robot->model);
    stn_diagnostics_clear(&robot->diagnostics);
    stn_context_destroy(robot->context);
}

// ------------------------------------------------------------------------------------------------- --fk LINK[,x,y,z]

static stn_status unknown_link(const info *robot, const char *word, stn_error *err) {
    const char *names[CANDIDATES];
    int32_t count = robot->model->link_count < CANDIDATES ? robot->model->link_count : CANDIDATES;
    for (int32_t i = 0; i < count; i++) {
        names[i] = robot->model->links[i].name;
    }
    const char *near = stn_suggest(word, names, count);
    return stn_fail(err, STN_ERR_ARGUMENT, "--fk %.200s: no such link%s%.80s%s", word,
                    near != NULL ? "; did you mean '" : "", near != NULL ? near : "",
                    near != NULL ? "'?" : "; give LINK or LINK,x,y,z");
}

/// Cuts ",x,y,z" off the end of "LINK,x,y,z", as names may hold commas.
static bool split_point(char *name, stn_vec3 *point) {
    double values[3];
    for (int32_t i = 2; i >= 0; i--) {
        char *comma = strrchr(name, ',');
        if (comma == NULL || !stn_parse_real(comma + 1, &values[i])) {
            return false;
        }
        *comma = '\0';
    }
    *point = stn_vec3_make(values[0], values[1], values[2]);
    return true;
}

static stn_status parse_frame(const info *robot, const char *word, info_frame *frame, stn_error *err) {
    *frame = (info_frame){.key = word, .link = stn_model_find_link(robot->model, 0, word)};
    if (frame->link >= 0) {
        return STN_OK;
    }
    char *name = stn_duplicate_text(robot->context, word);
    if (name == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "--fk: out of memory");
    }
    bool split = split_point(name, &frame->point);
    frame->link = split ? stn_model_find_link(robot->model, 0, name) : -1;
    stn_status status = frame->link >= 0 ? STN_OK : unknown_link(robot, split ? name : word, err);
    stn_release(robot->context, name);
    if (status == STN_OK) {
        frame->key = robot->model->links[frame->link].name;
    }
    return status;
}

static stn_status parse_frames(info *robot, const cli_list *words, stn_error *err) {
    robot->frames = stn_allocate(robot->context, (size_t)words->count, sizeof *robot->frames);
    if (robot->frames == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "--fk: out of memory");
    }
    for (int32_t i = 0; i < words->count; i++) {
        stn_status status = parse_frame(robot, words->items[i], &robot->frames[i], err);
        if (status != STN_OK) {
            return status;
        }
        for (int32_t k = 0; k < i; k++) {
            bool again = robot->frames[k].link == robot->frames[i].link;
            robot->frames[i].key = again ? words->items[i] : robot->frames[i].key;
        }
    }
    robot->frame_count = words->count;
    return STN_OK;
}

// ----------------------------------------------------------------------------------------------------- findings

static void print_findings(const info *robot, stn_severity least) {
    static const char *const words[] = {"note", "warning", "error"};
    for (int32_t i = 0; i < robot->diagnostics.count; i++) {
        const stn_diagnostic *finding = &robot->diagnostics.items[i];
        char text[2048];
        if (finding->severity >= least) {
            info_finding_line(finding, text, sizeof text);
            fprintf(stderr, "%s: %s\n", words[finding->severity], text);
        }
    }
}

/// Several errors of one file are listed, a single one is the line of every command.
static int fail(const cli_command *command, const info *robot, const stn_error *error) {
    if (robot->model == NULL && robot->diagnostics.error_count > 1) {
        print_findings(robot, STN_SEVERITY_ERROR);
    }
    return cli_fail_status(command, error);
}

static int run(const cli_command *command, const char *path, const char *choice, const cli_list *frames, bool json) {
    stn_error error = {STN_OK, ""};
    info robot = {.path = path};
    stn_context_options options = {.log = drop_message};
    stn_status status = stn_context_create(&options, &robot.context, &error);
    if (status != STN_OK) {
        return cli_fail_status(command, &error);
    }
    stn_diagnostics_init(&robot.diagnostics, robot.context);
    status = load(&robot, &error);
    if (status == STN_OK) {
        status = parse_frames(&robot, frames, &error);
    }
    if (status == STN_OK) {
        status = info_configure(&robot, choice, &error);
    }
    if (status == STN_OK) {
        status = info_compute(&robot, &error);
    }
    int result = CLI_DONE;
    if (status != STN_OK) {
        result = fail(command, &robot, &error);
    } else if (json) {
        result = info_print_json(&robot) ? CLI_DONE : CLI_BAD_INPUT;
    } else {
        result = info_print_text(&robot) ? CLI_DONE : CLI_BAD_INPUT;
        print_findings(&robot, STN_SEVERITY_NOTE);
    }
    clear(&robot);
    return result;
}

int cmd_info(int argc, char **argv) {
    bool json = false;
    const char *choice = NULL;
    cli_list frames = {0}, words = {0};
    const cli_option options[] = {
        {"json", 0, CLI_FLAG, NULL, "everything, as JSON on stdout", &json},
        {"q", 0, CLI_TEXT, "FILE.json|Z|A|B", "configuration: a file {\"joint\": value}, or a rule (Z: zero)", &choice},
        {"fk", 0, CLI_TEXTS, "LINK[,x,y,z]", "pose of a link, and of a point of it", &frames},
    };
    const cli_command command = {
        "info",
        "MODEL",
        "Shows what a robot file holds. The robot stands with its root link welded to the world.",
        options,
        STN_COUNT(options),
        1,
        1};
    int status = cli_parse(&command, argc, argv, &words);
    if (status != CLI_PROCEED) {
        return status;
    }
    status = run(&command, words.items[0], choice, &frames, json);
    cli_list_clear(&frames);
    cli_list_clear(&words);
    return status;
}
