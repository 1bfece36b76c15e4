// SPDX-License-Identifier: Apache-2.0
// Loading a robot file for a command, and the questions that several commands ask of it.
#include <stdio.h>
#include <string.h>

#include "common/progress.h"
#include "common/robot.h"

/// Loading says with lines what compiling would say again.
static void drop_message(void *user, stn_log_level level, const char *text) {
    (void)user;
    if (level == STN_LOG_ERROR) {
        fprintf(stderr, "error: %s\n", text);
    }
}

static stn_status find_chains(cli_robot *robot, stn_error *err) {
    size_t count = (size_t)robot->model->joint_count;
    int32_t *path = stn_allocate(robot->context, count, sizeof *path);
    robot->chains = stn_allocate(robot->context, count, sizeof *robot->chains);
    if (path == NULL || robot->chains == NULL) {
        stn_release(robot->context, path);
        return stn_fail(err, STN_ERR_MEMORY, "%s: out of memory", robot->path);
    }
    for (size_t j = 0; j < count; j++) {
        robot->chains[j].master = -1;
    }
    for (int32_t j = 0; j < robot->model->joint_count; j++) {
        // Each joint is looked at twice, however long the chains are; the compiler has refused circles.
        int32_t joint = j;
        const stn_joint *joints = robot->model->joints;
        int32_t length = 0;
        while (joints[joint].mimic >= 0 && robot->chains[joint].master < 0) {
            path[length++] = joint;
            joint = joints[joint].mimic;
        }
        if (joints[joint].mimic < 0) {
            robot->chains[joint] = (cli_chain){joint, 1.0, 0.0};
        }
        while (length > 0) {
            const stn_joint *next = &joints[path[--length]];
            cli_chain above = robot->chains[next->mimic];
            robot->chains[path[length]] = (cli_chain){above.master, next->mimic_multiplier * above.scale,
                                                      next->mimic_multiplier * above.offset + next->mimic_offset};
        }
    }
    stn_release(robot->context, path);
    return STN_OK;
}

stn_status cli_robot_load(cli_robot *robot, const char *path, const cli_robot_options *options, stn_error *err) {
    *robot = (cli_robot){.path = path};
    stn_context_options context = {.log = drop_message};
    stn_status status = stn_context_create(&context, &robot->context, err);
    if (status != STN_OK) {
        return status;
    }
    stn_diagnostics_init(&robot->diagnostics, robot->context);
    double begun = cli_seconds_now();
    stn_model_builder *builder = NULL;
    status = stn_builder_create(robot->context, &builder, err);
    if (status == STN_OK) {
        stn_load_request request = {
            .path = path, .package_paths = options->packages, .visual_meshes = options->visual_meshes};
        stn_pose base;
        bool fixed = false;
        int32_t index = 0;
        status = stn_load_robot(robot->context, &request, builder, &index, &robot->diagnostics, err);
        if (status == STN_OK && options->fixed) {
            stn_builder_get_base(builder, index, &base, &fixed); // where the file puts it
            status = stn_builder_set_base(builder, index, &base, true, err);
        }
        if (status == STN_OK) {
            status = stn_model_compile(builder, &robot->model, err);
        }
    }
    stn_builder_destroy(builder);
    robot->load_ms = 1e3 * (cli_seconds_now() - begun);
    if (status != STN_OK) {
        return status;
    }
    const stn_model *m = robot->model;
    robot->child_of = stn_allocate(robot->context, (size_t)m->joint_count, sizeof *robot->child_of);
    if (robot->child_of == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "%s: out of memory", path);
    }
    for (int32_t i = 0; i < m->link_count; i++) {
        if (m->links[i].joint >= 0) {
            robot->child_of[m->links[i].joint] = i;
        }
    }
    return find_chains(robot, err);
}

void cli_robot_clear(cli_robot *robot) {
    if (robot->context != NULL) {
        stn_release(robot->context, robot->child_of);
        stn_release(robot->context, robot->chains);
        stn_model_destroy(robot->model);
        stn_diagnostics_clear(&robot->diagnostics);
        stn_context_destroy(robot->context);
    }
    *robot = (cli_robot){0};
}

// ----------------------------------------------------------------------------------------------------- findings

int32_t cli_line_of(const char *where) {
    const char *colon = strrchr(where, ':');
    double line = 0.0;
    return colon != NULL && stn_parse_real(colon + 1, &line) && line >= 1.0 && line <= INT32_MAX ? (int32_t)line : 0;
}

void cli_finding_line(const stn_diagnostic *finding, char *text, size_t size) {
    char line[16] = "";
    if (finding->line > 0) {
        snprintf(line, sizeof line, ":%d", (int)finding->line);
    }
    snprintf(text, size, "%s%s: %s%s%s", finding->file, line, finding->where, finding->where[0] != '\0' ? ": " : "",
             finding->text);
}

const char *cli_severity_name(stn_severity severity) {
    static const char *const names[] = {"note", "warning", "error"};
    return names[severity];
}

void cli_print_findings(const stn_diagnostics *findings, stn_severity least) {
    for (int32_t i = 0; i < findings->count; i++) {
        char text[2048];
        if (findings->items[i].severity >= least) {
            cli_finding_line(&findings->items[i], text, sizeof text);
            fprintf(stderr, "%s: %s\n", cli_severity_name(findings->items[i].severity), text);
        }
    }
}

// ------------------------------------------------------------------------------------------------------ inertia

static const double NEGATIVE_TOLERANCE = 1e-9, TRIANGLE_TOLERANCE = 1e-6; // of the sum of the moments

cli_inertia cli_judge_inertia(const stn_mass *mass, double moments[3]) {
    stn_mat3_eigenvalues(&mass->inertia, moments);
    double sum = moments[0] + moments[1] + moments[2];
    if (mass->mass == 0.0) {
        return CLI_INERTIA_NONE;
    }
    if (moments[0] == 0.0 && moments[2] == 0.0) {
        return CLI_INERTIA_POINT;
    }
    if (!(moments[0] >= -NEGATIVE_TOLERANCE * sum)) {
        return CLI_INERTIA_NEGATIVE;
    }
    bool reaches = moments[0] + moments[1] >= moments[2] - TRIANGLE_TOLERANCE * sum;
    return reaches ? CLI_INERTIA_OK : CLI_INERTIA_TRIANGLE;
}

const char *cli_inertia_name(cli_inertia inertia) {
    static const char *const names[CLI_INERTIA_COUNT] = {"none", "ok", "point_mass", "negative", "triangle"};
    return names[inertia];
}

// -------------------------------------------------------------------------------------------------------- boxes

stn_aabb cli_box_empty(void) {
    return (stn_aabb){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
}

bool cli_box_is_empty(const stn_aabb *box) {
    return !(box->lower.x <= box->upper.x && box->lower.y <= box->upper.y && box->lower.z <= box->upper.z);
}

void cli_box_add(stn_aabb *box, const stn_aabb *other) {
    if (cli_box_is_empty(other)) {
        return;
    }
    box->lower = stn_vec3_make(fmin(box->lower.x, other->lower.x), fmin(box->lower.y, other->lower.y),
                               fmin(box->lower.z, other->lower.z));
    box->upper = stn_vec3_make(fmax(box->upper.x, other->upper.x), fmax(box->upper.y, other->upper.y),
                               fmax(box->upper.z, other->upper.z));
}

stn_aabb cli_box_of(const stn_geometry *geometry, const stn_pose *pose) {
    stn_shape_type type = geometry->shape.type;
    bool bounded = type != STN_SHAPE_HALF_SPACE && type != STN_SHAPE_HEIGHT_FIELD;
    return bounded ? stn_shape_aabb(&geometry->shape, pose, 0.0) : cli_box_empty();
}

double cli_box_diagonal(const stn_aabb *box) {
    return cli_box_is_empty(box) ? 0.0 : stn_vec3_norm(stn_vec3_sub(box->upper, box->lower));
}

stn_aabb cli_robot_box(const cli_robot *robot, const stn_kinematics *kinematics, bool collision) {
    stn_aabb box = cli_box_empty();
    for (int32_t i = 0; i < robot->model->geometry_count; i++) {
        const stn_geometry *g = &robot->model->geometries[i];
        if (g->body >= 0 && (collision ? g->collision : g->visual)) {
            stn_pose pose = stn_pose_mul(&kinematics->body_pose[g->body], &g->pose);
            stn_aabb own = cli_box_of(g, &pose);
            cli_box_add(&box, &own);
        }
    }
    return box;
}
