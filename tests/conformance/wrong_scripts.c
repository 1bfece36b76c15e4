// SPDX-License-Identifier: Apache-2.0
// A language of one sentence, "a box falls", right and with one fault each.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <stiction/stiction.h>

typedef enum fault {
    NONE,
    NO_PATH,      // in what it says of a file that it cannot read
    ANY_WORDS,    // are a script
    OWN_STEPS,    // made behind the host's back
    WORLD_LEFT,   // without end
    NO_OPTIONS,   // of the command line for its world
    NO_PARAMETER, // but a height of its own
    GOES_ON,      // when it is interrupted
    COUNTS,       // its runs, and drops from higher every time
} fault;

typedef struct config {
    int32_t fault;
} config;

static int32_t runs; // of COUNTS

static stn_status describe(stn_model_builder *builder, double height, stn_error *err) {
    stn_geometry_spec ground = stn_geometry_spec_default(stn_shape_half_space());
    stn_geometry_spec box = stn_geometry_spec_default(stn_shape_box(stn_vec3_make(0.05, 0.05, 0.05)));
    stn_link_spec link = {.name = "box", .mass = {.mass = 1.0, .inertia = stn_mat3_diagonal(0.01, 0.01, 0.01)}};
    stn_pose pose = {stn_mat3_identity(), {0.0, 0.0, height}};
    int32_t robot = 0, id = 0;
    stn_status status = stn_builder_add_geometry(builder, STN_WORLD, &ground, &id, err);
    if (status == STN_OK) {
        status = stn_builder_begin_group(builder, "box", &robot, err);
    }
    if (status == STN_OK) {
        status = stn_builder_add_link(builder, &link, &id, err);
    }
    if (status == STN_OK) {
        status = stn_builder_add_geometry(builder, id, &box, &id, err);
    }
    return status == STN_OK ? stn_builder_set_base(builder, robot, &pose, false, err) : status;
}

static stn_status make_steps(stn_script_host *host, stn_world *world, fault f, stn_error *err) {
    stn_status status = STN_OK;
    for (double time = 0.0; status >= 0 && time < 1.0 - 1e-9; time += stn_world_dt(world)) {
        status = f == OWN_STEPS ? stn_world_step(world, err) : host->ops->step(host, world, err);
        if (status == STN_ERR_INTERRUPTED && f == GOES_ON) {
            status = STN_OK;
        }
    }
    return status;
}

static stn_status claim(stn_script_host *host, stn_world *world, stn_error *err) {
    double z = stn_world_kinematics(world)->body_pose[1].position.z;
    stn_script_check check = {.name = "lies", .ok = fabs(z - 0.05) < 1e-3};
    stn_status status = host->ops->check(host, &check, err);
    return status == STN_OK ? host->ops->result(host, "z", z, "m", err) : status;
}

static stn_status fall(stn_script_host *host, fault f, stn_error *err) {
    stn_script_parameter height = {.name = "height", .type = STN_SCRIPT_NUMBER, .number = 0.2};
    stn_world_options options = stn_world_options_default();
    stn_world *world = NULL;
    stn_status status = f != NO_PARAMETER ? host->ops->parameter(host, &height, err) : STN_OK;
    if (f == COUNTS) {
        height.number += 0.01 * runs++;
    }
    if (status == STN_OK && f != NO_OPTIONS && f != NO_PARAMETER) {
        status = host->ops->options(host, &options, err);
    }
    if (status == STN_OK) {
        status = stn_world_create(host->context, &options, &world, err);
    }
    if (status == STN_OK) {
        status = describe(stn_world_builder(world), height.number, err);
    }
    if (status == STN_OK) {
        status = make_steps(host, world, f, err);
    }
    if (status >= 0) {
        status = claim(host, world, err);
    }
    stn_error closing = {STN_OK, ""};
    if (f != WORLD_LEFT && host->ops->end(host, world, &closing) < 0) {
        return stn_fail(err, closing.status, "%s", closing.text);
    }
    return status;
}

static stn_status run(void *self, stn_script_host *host, stn_error *err) {
    fault f = (fault)((const config *)self)->fault;
    char line[64] = "";
    FILE *file = fopen(host->path, "r");
    if (file == NULL) {
        return stn_fail(err, STN_ERR_FILE, "%s: cannot be read", f == NO_PATH ? "the file" : host->path);
    }
    bool read = fgets(line, sizeof line, file) != NULL;
    fclose(file);
    if (f != ANY_WORDS && (!read || strcmp(line, "a box falls\n") != 0)) {
        return stn_fail(err, STN_ERR_PARSE, "%s:1: a script is \"a box falls\"", host->path);
    }
    return fall(host, f, err);
}

static const char *const endings[] = {"box", NULL}, *const dotted[] = {".Box", NULL};
static const stn_script_ops ops = {.size = sizeof ops, .extensions = endings, .run = run, .example = "a box falls\n"};
static const stn_script_ops dotted_ops = {
    .size = sizeof ops, .extensions = dotted, .run = run, .example = "a box falls\n"};

#define SCRIPT(word, number, table)                                                  \
    static const stn_param word##_params[] = {                                       \
        STN_PARAM_INT(config, fault, "1", number, number, number, "what is wrong")}; \
    static const stn_plugin_desc word = {.size = sizeof word,                        \
                                         .kind = STN_KIND_SCRIPT,                    \
                                         .id = "wrong_" #word,                       \
                                         .version = "1",                             \
                                         .summary = "a box falls, with a fault",     \
                                         .config_size = sizeof(config),              \
                                         .params = word##_params,                    \
                                         .param_count = 1,                           \
                                         .ops.script = &table};

SCRIPT(none, NONE, ops)
SCRIPT(dot, NONE, dotted_ops)
SCRIPT(path, NO_PATH, ops)
SCRIPT(words, ANY_WORDS, ops)
SCRIPT(steps, OWN_STEPS, ops)
SCRIPT(world, WORLD_LEFT, ops)
SCRIPT(options, NO_OPTIONS, ops)
SCRIPT(parameter, NO_PARAMETER, ops)
SCRIPT(stop, GOES_ON, ops)
SCRIPT(counter, COUNTS, ops)

STN_PLUGIN_LIBRARY(&none, &dot, &path, &words, &steps, &world, &options, &parameter, &stop, &counter);
