// my_plugin.c: a scripting language for files *.my_plugin: "stiction run box.my_plugin". One statement a line, "#"
// begins a comment; where a number stands, the name of a parameter may stand, too:
//
//     parameter height 0.2     the command line sets it: --set height=0.5
//     box 0.1 height           a cube of this side [m] whose centre starts at this height above the ground [m]
//     run 1                    simulated time [s]
//     check 1e-3               the box lies on the ground, to this distance [m]
//
// Recordings (--log, --record), --capture, --profile, the summary and exit statuses are the host's. What to change
// first: statements, the table of words and what each does.
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <stiction/stiction.h>

enum { MOST_PARAMETERS = 32 };

/// A script while it runs.
typedef struct interpreter {
    stn_script_host *host;
    stn_world *world; // NULL until there is a box
    double side;      // of the box [m]
    int32_t count;
    struct {
        char name[32];
        double value;
    } parameters[MOST_PARAMETERS];
} interpreter;

/// A number, or the value of a parameter.
static stn_status value_of(const interpreter *in, const char *word, double *value, stn_error *err) {
    for (int32_t i = 0; i < in->count; i++) {
        if (strcmp(in->parameters[i].name, word) == 0) {
            *value = in->parameters[i].value;
            return STN_OK;
        }
    }
    return stn_parse_real(word, value) ? STN_OK
                                       : stn_fail(err, STN_ERR_PARSE, "'%s' is no number and no parameter", word);
}

/// parameter NAME DEFAULT: the host says what it is in this run.
static stn_status declare(interpreter *in, const char *name, const char *word, stn_error *err) {
    stn_script_parameter p = {.name = name, .type = STN_SCRIPT_NUMBER};
    stn_status status = value_of(in, word, &p.number, err);
    if (status == STN_OK && in->count == MOST_PARAMETERS) {
        status = stn_fail(err, STN_ERR_ARGUMENT, "parameter %s: there are %d already", name, MOST_PARAMETERS);
    }
    if (status == STN_OK) {
        status = in->host->ops->parameter(in->host, &p, err);
    }
    if (status == STN_OK) {
        snprintf(in->parameters[in->count].name, sizeof in->parameters[0].name, "%s", name);
        in->parameters[in->count++].value = p.number;
    }
    return status;
}

/// Ground and box; the box is the last body of the model.
static stn_status describe(stn_model_builder *builder, double side, double height, stn_error *err) {
    stn_geometry_spec ground = stn_geometry_spec_default(stn_shape_half_space());
    stn_geometry_spec box = stn_geometry_spec_default(stn_shape_box(stn_vec3_make(0.5 * side, 0.5 * side, 0.5 * side)));
    stn_link_spec link = {.name = "box"};
    stn_pose pose = {stn_mat3_identity(), {0.0, 0.0, height}};
    int32_t robot = 0, id = 0;
    stn_status status = stn_builder_add_geometry(builder, STN_WORLD, &ground, &id, err);
    if (status == STN_OK) {
        status = stn_shape_mass(&box.shape, 1000.0 * side * side * side, &link.mass, err);
    }
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

/// box SIDE HEIGHT: the world, as the command line completes it.
static stn_status add_box(interpreter *in, const char *side, const char *height, stn_error *err) {
    stn_world_options options = stn_world_options_default();
    double z = 0.0;
    if (in->world != NULL) {
        return stn_fail(err, STN_ERR_ARGUMENT, "there is a box already");
    }
    stn_status status = value_of(in, side, &in->side, err);
    if (status == STN_OK) {
        status = value_of(in, height, &z, err);
    }
    if (status == STN_OK) {
        status = in->host->ops->options(in->host, &options, err);
    }
    if (status == STN_OK) {
        status = stn_world_create(in->host->context, &options, &in->world, err);
    }
    return status == STN_OK ? describe(stn_world_builder(in->world), in->side, z, err) : status;
}

/// run SECONDS
static stn_status make_steps(interpreter *in, const char *word, const char *unused, stn_error *err) {
    (void)unused;
    double seconds = 0.0;
    stn_status status = value_of(in, word, &seconds, err);
    if (status == STN_OK && in->world == NULL) {
        status = stn_fail(err, STN_ERR_ARGUMENT, "run: there is no box");
    }
    if (!isnan(in->host->seconds)) { // --seconds
        seconds = in->host->seconds;
    }
    for (double time = 0.0; status >= 0 && time < seconds - 1e-9; time += stn_world_dt(in->world)) {
        status = in->host->ops->step(in->host, in->world, err);
    }
    return status;
}

/// check DISTANCE: one check and one result of the run.
static stn_status check(interpreter *in, const char *word, const char *unused, stn_error *err) {
    (void)unused;
    stn_script_check c = {.name = "the box lies on the ground", .measured = true, .unit = "m"};
    stn_status status = value_of(in, word, &c.limit, err);
    if (status == STN_OK && in->world == NULL) {
        status = stn_fail(err, STN_ERR_ARGUMENT, "check: there is no box");
    }
    if (status == STN_OK) {
        status = stn_world_compile(in->world, err);
    }
    if (status == STN_OK) {
        int32_t body = stn_world_model(in->world)->body_count - 1;
        double z = stn_world_kinematics(in->world)->body_pose[body].position.z;
        c.value = fabs(z - 0.5 * in->side);
        c.ok = c.value <= c.limit;
        status = in->host->ops->result(in->host, "z", z, "m", err);
    }
    return status == STN_OK ? in->host->ops->check(in->host, &c, err) : status;
}

/// One line.
static stn_status execute(interpreter *in, char *line, stn_error *err) {
    static const struct {
        const char *word;
        int count; // words in all
        stn_status (*run)(interpreter *in, const char *first, const char *second, stn_error *err);
    } statements[] = {{"parameter", 3, declare}, {"box", 3, add_box}, {"run", 2, make_steps}, {"check", 2, check}};
    char words[3][32] = {"", "", ""}, more[2] = "";
    line[strcspn(line, "#\n")] = '\0';
    int count = sscanf(line, "%31s %31s %31s %1s", words[0], words[1], words[2], more);
    for (int32_t i = 0; i < STN_COUNT(statements) && count > 0; i++) {
        if (strcmp(statements[i].word, words[0]) == 0 && statements[i].count == count) {
            return statements[i].run(in, words[1], words[2], err);
        }
    }
    return count <= 0 ? STN_OK : stn_fail(err, STN_ERR_PARSE, "no statement is '%.60s'", line);
}

static stn_status run(void *self, stn_script_host *host, stn_error *err) {
    (void)self;
    interpreter in = {.host = host};
    char line[256];
    int number = 0;
    stn_status status = STN_OK;
    stn_error end = {STN_OK, ""};
    FILE *file = fopen(host->path, "r");
    if (file == NULL) {
        return stn_fail(err, STN_ERR_FILE, "%s: cannot be read: %s", host->path, strerror(errno));
    }
    while (status >= 0 && fgets(line, sizeof line, file) != NULL) {
        number++;
        status = execute(&in, line, err);
    }
    fclose(file);
    if (status < 0) {
        stn_error_prefix(err, "%s:%d", host->path, number);
    }
    stn_status ended = host->ops->end(host, in.world, &end); // also after an error
    return status >= 0 && ended < 0 ? stn_fail(err, ended, "%s", end.text) : status < 0 ? status : STN_OK;
}

static const char *const extensions[] = {"my_plugin", NULL};

static const stn_script_ops ops = {.size = sizeof ops,
                                   .extensions = extensions,
                                   .run = run,
                                   .example = "parameter height 0.2\nbox 0.1 height\nrun 1\ncheck 1e-3\n"};

static const stn_plugin_desc descriptor = {
    .size = sizeof descriptor,
    .kind = STN_KIND_SCRIPT,
    .id = "my_plugin",
    .version = "0.1.0",
    .summary = "scenarios of one box, a statement a line",
    .ops.script = &ops,
};
STN_PLUGIN_LIBRARY(&descriptor);
