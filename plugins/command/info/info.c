// SPDX-License-Identifier: Apache-2.0
// stiction info MODEL: what a robot file holds, and kinematics and dynamics figures of one configuration; of a mesh
// file its facts.
#include <stdio.h>
#include <string.h>

#include <stiction/input.h>

#include "common/print.h"
#include "info.h"

enum { CANDIDATES = 500 };

// ------------------------------------------------------------------------------------------------- --fk LINK[,x,y,z]

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

static stn_status parse_frame(const info_report *r, const char *word, info_frame *frame, stn_error *err) {
    const stn_model *m = r->robot.model;
    *frame = (info_frame){.key = word, .link = stn_model_find_link(m, 0, word)};
    if (frame->link >= 0) {
        return STN_OK;
    }
    char *name = stn_duplicate_text(r->robot.context, word);
    if (name == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "--fk: out of memory");
    }
    bool split = split_point(name, &frame->point);
    frame->link = split ? stn_model_find_link(m, 0, name) : -1;
    stn_status status = STN_OK;
    if (frame->link >= 0) {
        frame->key = m->links[frame->link].name;
    } else {
        const char *names[CANDIDATES], *wanted = split ? name : word;
        int32_t count = m->link_count < CANDIDATES ? m->link_count : CANDIDATES;
        for (int32_t i = 0; i < count; i++) {
            names[i] = m->links[i].name;
        }
        const char *near = stn_suggest(wanted, names, count);
        status = stn_fail(err, STN_ERR_ARGUMENT, "--fk %.200s: no such link%s%.80s%s", wanted,
                          near != NULL ? "; did you mean '" : "", near != NULL ? near : "",
                          near != NULL ? "'?" : "; give LINK or LINK,x,y,z");
    }
    stn_release(r->robot.context, name);
    return status;
}

// ------------------------------------------------------------------------------------------------------ command

/// What was asked for.
typedef struct request {
    const char *path, *q;
    cli_list frames, packages;
    bool json;
} request;

static int run(const cli_command *command, const request *asked) {
    stn_error error = {STN_OK, ""};
    info_report r = {.configured = asked->q != NULL};
    cli_robot_options options = {.fixed = true, .packages = asked->packages.items};
    stn_status status = cli_robot_load(&r.robot, asked->path, &options, &error);
    if (status == STN_OK) {
        status = stn_kinematics_create(r.robot.model, &r.kinematics, &error);
    }
    if (status == STN_OK) {
        r.arena = stn_arena_create(r.robot.context);
        r.q = r.arena != NULL ? STN_ARENA_ZEROED(r.arena, r.robot.model->nq, double) : NULL;
        r.v = r.arena != NULL ? STN_ARENA_ZEROED(r.arena, r.robot.model->nv, double) : NULL;
        if (r.q == NULL || r.v == NULL) {
            status = stn_fail(&error, STN_ERR_MEMORY, "%s: out of memory", asked->path);
        }
    }
    if (status == STN_OK) {
        status = info_configure(&r, NULL, &error);
    }
    if (status == STN_OK) { // at zero
        info_count(&r);
        info_measure_surfaces(&r);
        r.frames = STN_ARENA(r.arena, asked->frames.count, info_frame);
        status = r.frames != NULL ? STN_OK : stn_fail(&error, STN_ERR_MEMORY, "--fk: out of memory");
    }
    for (; r.frame_count < asked->frames.count && status == STN_OK; r.frame_count++) {
        info_frame *frame = &r.frames[r.frame_count];
        status = parse_frame(&r, asked->frames.items[r.frame_count], frame, &error);
        for (int32_t k = 0; k < r.frame_count; k++) {
            frame->key = r.frames[k].link == frame->link ? asked->frames.items[r.frame_count] : frame->key;
        }
    }
    if (status == STN_OK) {
        status = info_configure(&r, asked->q, &error);
    }
    if (status == STN_OK) {
        status = info_compute(&r, &error);
    }
    int result;
    if (status != STN_OK) {
        if (r.robot.model == NULL && r.robot.diagnostics.error_count > 1) { // one is the line of every command
            cli_print_findings(&r.robot.diagnostics, STN_SEVERITY_ERROR);
        }
        result = cli_fail_status(command, &error);
    } else {
        result = (asked->json ? info_print_json(&r) : info_print_text(&r)) ? STN_EXIT_DONE : STN_EXIT_BAD_INPUT;
    }
    if (status == STN_OK && !asked->json) {
        cli_print_findings(&r.robot.diagnostics, STN_SEVERITY_NOTE);
        fprintf(stderr, "loaded in %.1f ms\n", r.robot.load_ms);
    }
    stn_arena_destroy(r.arena);
    stn_kinematics_destroy(r.kinematics);
    cli_robot_clear(&r.robot);
    return result;
}

static int run_info(void *self, const stn_command_call *call) {
    (void)self;
    cli_json_begin();
    request asked = {0};
    cli_list words = {0};
    const cli_option options[] = {
        {"json", 0, CLI_FLAG, NULL, "everything, as JSON on stdout", &asked.json},
        {"q", 0, CLI_TEXT, "FILE.json|KEY|Z|A|B",
         "configuration: a file {\"joint\": value}, a keyframe of the robot, or a rule (Z: zero)", &asked.q},
        {"fk", 0, CLI_TEXTS, "LINK[,x,y,z]", "pose of a link, and of a point of it", &asked.frames},
        {"package", 0, CLI_TEXTS, "DIR", "folder to look for package:// and model:// names", &asked.packages},
    };
    const cli_command command = {
        "info",
        "MODEL",
        "Shows what a robot file holds, or a mesh file. The robot stands with its root link welded to the world.",
        options,
        STN_COUNT(options),
        1,
        1};
    int status = cli_parse(&command, call->argc, call->argv, &words);
    if (status != CLI_PROCEED) {
        return status;
    }
    char path[STN_INPUT_PATH];
    asked.path = stn_find_shipped(words.items[0], path);
    status = info_is_mesh(asked.path) ? info_mesh(&command, asked.path, asked.json) : run(&command, &asked);
    cli_list_clear(&asked.frames);
    cli_list_clear(&asked.packages);
    cli_list_clear(&words);
    return status;
}

CLI_WORD(info, "shows what a robot file holds, and kinematics and dynamics figures of it", run_info)
