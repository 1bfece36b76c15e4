// SPDX-License-Identifier: Apache-2.0
// What every loader must do: bad files are one line and leave the builder as it was; what it saves it loads again. Of
// the format the battery knows what the loader saves, if it does.
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <stiction/plugin.h>

#include "random_stream.h"
#include "validate.h"

/// A builder with one robot that was there before, and where files are written.
typedef struct subject {
    validate_trial *trial;
    random_stream random;
    stn_context *context;
    stn_instance *instance;
    const stn_loader_ops *ops;
    stn_model_builder *builder;
    stn_error error;
    char path[128];
} subject;

static void end(subject *s) {
    stn_builder_destroy(s->builder);
    stn_instance_destroy(s->instance);
}

/// Of a slide and a hinge with boxes; names that no format needs to change.
static stn_status add_robot(stn_model_builder *builder, const char *name, stn_error *err) {
    static const char *const links[] = {"base", "cart", "arm"}, *const joints[] = {"slide", "hinge"};
    int32_t robot = 0, id[3], geometry = 0, joint = 0;
    stn_status status = stn_builder_begin_group(builder, name, &robot, err);
    for (int32_t i = 0; i < 3 && status == STN_OK; i++) {
        stn_link_spec link = {.name = links[i],
                              .mass = {1.0 + i, {0.0, 0.0, 0.1}, stn_mat3_diagonal(0.02, 0.03, 0.04)}};
        stn_geometry_spec shape = stn_geometry_spec_default(stn_shape_box(stn_vec3_make(0.1, 0.05, 0.2)));
        status = stn_builder_add_link(builder, &link, &id[i], err);
        status = status == STN_OK ? stn_builder_add_geometry(builder, id[i], &shape, &geometry, err) : status;
    }
    for (int32_t i = 0; i < 2 && status == STN_OK; i++) {
        stn_joint_spec spec = stn_joint_spec_default(joints[i], i == 0 ? STN_JOINT_PRISMATIC : STN_JOINT_REVOLUTE);
        spec.parent = id[i];
        spec.child = id[i + 1];
        spec.axis = stn_vec3_make(0.0, 1.0, 0.0);
        spec.origin.position = stn_vec3_make(0.1, 0.0, 0.3);
        spec.lower = -1.0;
        spec.upper = 0.75;
        spec.effort = 10.0;
        spec.velocity = 2.0;
        status = stn_builder_add_joint(builder, &spec, &joint, err);
    }
    return status;
}

static bool begin(subject *s, validate_trial *trial) {
    *s = (subject){.trial = trial, .context = trial->request->context};
    s->random.state = stn_hash(trial->request->seed, trial->check, strlen(trial->check));
    s->instance = trial_instance(trial, STN_KIND_LOADER);
    if (s->instance == NULL) {
        return false;
    }
    s->ops = s->instance->desc->ops.loader;
    snprintf(s->path, sizeof s->path, "%s/robot.%.40s", trial->folder, s->ops->extensions[0]);
    stn_status status = stn_builder_create(s->context, &s->builder, &s->error);
    status = status == STN_OK ? add_robot(s->builder, "first", &s->error) : status;
    if (status != STN_OK) {
        trial_fail(trial, "the battery cannot make a robot: %s", s->error.text);
    }
    if (trial->decided) {
        end(s);
    }
    return !trial->decided;
}

static bool write_file(subject *s, const char *bytes, size_t size) {
    FILE *file = fopen(s->path, "wb");
    bool good = file != NULL && fwrite(bytes, 1, size, file) == size;
    good = file != NULL && fclose(file) == 0 && good;
    if (!good) {
        trial_fail(s->trial, "%s: %s", s->path, strerror(errno));
    }
    return good;
}

/// Loads `path` as a world would. A failure must be one line that names the path, and leave one robot; a success two.
static bool load(subject *s, const char *path, const char *what) {
    const validate_request *r = s->trial->request;
    stn_load_request request = {.path = path, .loader = {r->id, r->settings, r->setting_count}};
    stn_diagnostics findings;
    int32_t robot = -1;
    s->error = (stn_error){STN_OK, ""};
    stn_diagnostics_init(&findings, s->context);
    stn_status status = stn_load_robot(s->context, &request, s->builder, &robot, &findings, &s->error);
    int32_t robots = stn_builder_group_count(s->builder);
    if (status < 0 && (strstr(s->error.text, path) == NULL || strchr(s->error.text, '\n') != NULL)) {
        trial_fail(s->trial, "%s: \"%s\", expected one line that names %s", what, s->error.text, path);
    } else if (robots != (status < 0 ? 1 : 2)) {
        trial_fail(s->trial, "%s: '%s', and %d robots in the builder, before 1", what, stn_status_text(status), robots);
    } else if (status >= 0 && findings.error_count > 0) {
        trial_fail(s->trial, "%s: loaded, with %d errors", what, findings.error_count);
    }
    stn_diagnostics_clear(&findings);
    if (status >= 0 && !s->trial->decided) {
        stn_builder_discard(s->builder, robot);
    }
    return status >= 0;
}

// -------------------------------------------------------------------------------------------------------------- saving

/// The text of a robot that was saved; NULL decides the trial.
static char *save(subject *s, size_t *length) {
    stn_model_builder *builder = NULL;
    stn_model *model = NULL;
    stn_diagnostics findings;
    char *text = NULL;
    stn_diagnostics_init(&findings, s->context);
    stn_status status = stn_builder_create(s->context, &builder, &s->error);
    status = status == STN_OK ? add_robot(builder, "saved", &s->error) : status;
    status = status == STN_OK ? stn_model_compile(builder, &model, &s->error) : status;
    stn_save_request request = {.model = model, .path = s->path};
    status = status == STN_OK ? s->ops->save(s->instance->self, &request, &text, length, &findings, &s->error) : status;
    if (status != STN_OK) {
        trial_fail(s->trial, "save: %s", s->error.text);
        text = NULL;
    }
    stn_diagnostics_clear(&findings);
    stn_builder_destroy(builder);
    stn_model_destroy(model);
    return text;
}

// ------------------------------------------------------------------------------------------------------------- checks

static void check_declares(validate_trial *trial) {
    const stn_loader_ops *ops = trial->request->plugin->desc->ops.loader;
    if (ops == NULL || ops->recognises == NULL || ops->load == NULL || ops->extensions == NULL ||
        ops->extensions[0] == NULL) {
        trial_fail(trial, "recognises, load or an extension is missing");
        return;
    }
    for (const char *const *e = ops->extensions; *e != NULL; e++) {
        if ((*e)[0] == '\0' || (*e)[strspn(*e, "abcdefghijklmnopqrstuvwxyz0123456789_")] != '\0') {
            trial_fail(trial, "extension \"%s\", expected small letters, digits and _, without a dot", *e);
        }
    }
    if (ops->recognises("", 0) || ops->recognises("PK\x03\x04", 4)) {
        trial_fail(trial, "recognises an empty file, or an archive, as its own");
    }
    stn_instance_destroy(trial_instance(trial, STN_KIND_LOADER));
    trial_ok(trial, "all functions are there, files end with .%s, %s", ops->extensions[0],
             ops->save != NULL ? "loads and saves" : "loads");
}

static void check_missing(validate_trial *trial) {
    subject s;
    if (!begin(&s, trial)) {
        return;
    }
    char none[160];
    snprintf(none, sizeof none, "%s/none.%.40s", trial->folder, s.ops->extensions[0]);
    if (load(&s, none, "a file that is not there") || load(&s, trial->folder, "a folder")) {
        trial_fail(trial, "a file that is not there, or a folder, was loaded");
    }
    trial_ok(trial, "told by name: %s", s.error.text);
    end(&s);
}

static void check_malformed(validate_trial *trial) {
    enum { LONG = 1 << 20 };
    static const char *const texts[] = {"",
                                        "\n",
                                        "<",
                                        "<robot",
                                        "<robot name='r'>",
                                        "<?xml version=\"1.0\"?>",
                                        "{",
                                        "{}",
                                        "[[[[",
                                        "\xef\xbb\xbf",
                                        "\xff\xfe",
                                        "name",
                                        "a b c d e f g",
                                        "# only a comment\n",
                                        "0",
                                        "\"",
                                        "nan nan nan nan",
                                        "1e999 1e999 1e999",
                                        "%s%n%s%n"};
    subject s;
    int32_t count = 0;
    if (!begin(&s, trial)) {
        return;
    }
    for (size_t i = 0; i < sizeof texts / sizeof *texts && !trial->decided; i++, count++) {
        if (write_file(&s, texts[i], strlen(texts[i])) && load(&s, s.path, texts[i])) {
            trial_fail(trial, "\"%s\" was loaded as a robot", texts[i]);
        }
    }
    char *bytes = stn_allocate(s.context, LONG, 1);
    for (int32_t kind = 0; kind < 4 && bytes != NULL && !trial->decided;
         kind++, count++) { // zeros, one line, opened, random
        memset(bytes, kind == 0 ? '\0' : (kind == 1 ? 'a' : '<'), LONG);
        for (size_t k = 0; k < LONG && kind == 3; k++) {
            bytes[k] = (char)random_integer(&s.random, 0, 255);
        }
        if (write_file(&s, bytes, LONG) && load(&s, s.path, "a megabyte of anything")) {
            trial_fail(trial, "a megabyte of anything was loaded as a robot");
        }
    }
    stn_release(s.context, bytes);
    trial_ok(trial, "%d files: each one line, and no half robot", count);
    end(&s);
}

static void check_round_trip(validate_trial *trial) {
    subject s;
    size_t length = 0;
    if (!begin(&s, trial)) {
        return;
    }
    char *text = s.ops->save != NULL ? save(&s, &length) : NULL;
    if (s.ops->save == NULL) {
        trial_skip(trial, "does not save");
    } else if (text != NULL && (strlen(text) != length || length == 0)) {
        trial_fail(trial, "length %zu, but the text ends after %zu bytes", length, strlen(text));
    }
    stn_load_request request = {
        .path = s.path, .loader = {trial->request->id, trial->request->settings, trial->request->setting_count}};
    stn_diagnostics findings;
    stn_model *model = NULL;
    int32_t robot = 0;
    stn_diagnostics_init(&findings, s.context);
    if (!trial->decided && write_file(&s, text, length)) {
        stn_builder_discard(s.builder, 0);
        stn_status status = stn_load_robot(s.context, &request, s.builder, &robot, &findings, &s.error);
        status = status == STN_OK ? stn_model_compile(s.builder, &model, &s.error) : status;
        if (status != STN_OK) {
            trial_fail(trial, "what it saved is not loaded: %s", s.error.text);
        } else {
            double mass = stn_total_mass(model);
            const stn_joint *hinge = &model->joints[model->joint_count - 1];
            if (fabs(mass - 6.0) > 1e-12 || model->groups[0].name == NULL ||
                strcmp(model->groups[0].name, "saved") != 0 || strcmp(hinge->name, "hinge") != 0 ||
                fabs(hinge->upper - 0.75) > 1e-12) {
                trial_fail(trial,
                           "saved and loaded: group %s of %.9g kg, last joint %s up to %.9g; was saved of 6 kg, hinge "
                           "up to 0.75",
                           model->groups[0].name, mass, hinge->name, hinge->upper);
            }
        }
    }
    trial_ok(trial, "a robot of 3 links, saved in %zu bytes and loaded: names, mass and limits are the same", length);
    stn_diagnostics_clear(&findings);
    stn_model_destroy(model);
    stn_release(s.context, text);
    end(&s);
}

/// What was saved, cut off anywhere and with bytes changed: loaded, or one line.
static void check_damaged(validate_trial *trial) {
    subject s;
    size_t length = 0;
    int32_t count = trial->request->full ? 2000 : 60, loaded = 0;
    if (!begin(&s, trial)) {
        return;
    }
    char *text = s.ops->save != NULL ? save(&s, &length) : NULL;
    if (s.ops->save == NULL) {
        trial_skip(trial, "does not save, so that the battery knows no good file");
    }
    for (int32_t i = 0; i < count && !trial->decided; i++) {
        size_t at = (size_t)random_integer(&s.random, 0, (int32_t)length - 1);
        char before = text[at];
        text[at] = i % 2 == 0 ? text[at] : (char)random_integer(&s.random, 1, 255);
        if (write_file(&s, text, i % 2 == 0 ? at : length)) {
            loaded += load(&s, s.path, "a damaged file");
        }
        text[at] = before;
    }
    trial_ok(trial, "%d damaged files: %d loaded, the others one line each", count, loaded);
    stn_release(s.context, text);
    end(&s);
}

static const validate_check checks[] = {
    {"declares what it is", "recognises, load and extensions, loader.h", check_declares},
    {"missing files", "STN_ERR_FILE with the path and why", check_missing},
    {"malformed files", "findings with file and line; on any error stn_builder_discard the robot", check_malformed},
    {"saved and loaded", "save must write what load reads to the same robot", check_round_trip},
    {"damaged files", "trust nothing in a file: neither lengths nor that an element has an end", check_damaged},
};

const validate_battery validate_loaders = {STN_KIND_LOADER, STN_COUNT(checks), checks};
