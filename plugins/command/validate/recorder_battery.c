// SPDX-License-Identifier: Apache-2.0
// What every recorder must do: a run gives a file and stays the same run; files that cannot be written are told by
// name.
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <stiction/record.h>

#include "validate.h"

enum { STEPS = 40 };

/// A world whose steps are recorded, and the file.
typedef struct subject {
    validate_trial *trial;
    stn_world *world;
    stn_error error;
    char path[128];
} subject;

/// Two boxes that fall on the ground, one on the other; or nothing at all.
static stn_status add_boxes(stn_model_builder *builder, stn_error *err) {
    static const char *const names[] = {"lower", "upper, \"b\""}; // a name that tables must quote
    stn_geometry_spec ground = stn_geometry_spec_default(stn_shape_half_space());
    int32_t geometry = 0;
    stn_status status = stn_builder_add_geometry(builder, STN_WORLD, &ground, &geometry, err);
    for (int32_t i = 0; i < 2 && status == STN_OK; i++) {
        stn_geometry_spec shape = stn_geometry_spec_default(stn_shape_box(stn_vec3_make(0.1, 0.1, 0.1)));
        stn_link_spec link = {.name = names[i], .mass = {.mass = 1.0, .inertia = stn_mat3_diagonal(0.01, 0.01, 0.01)}};
        stn_pose base = {stn_mat3_identity(), {0.01 * i, 0.0, 0.105 + 0.21 * i}};
        int32_t robot = 0, id = 0;
        status = stn_builder_begin_group(builder, names[i], &robot, err);
        status = status == STN_OK ? stn_builder_add_link(builder, &link, &id, err) : status;
        status = status == STN_OK ? stn_builder_add_geometry(builder, id, &shape, &geometry, err) : status;
        status = status == STN_OK ? stn_builder_set_base(builder, robot, &base, false, err) : status;
    }
    return status;
}

static const char *extension_of(const validate_trial *trial) {
    const stn_recorder_ops *ops = trial->request->plugin->desc->ops.recorder;
    return ops->extension != NULL ? ops->extension : "out";
}

static void end(subject *s) {
    stn_world_destroy(s->world);
}

static bool begin(subject *s, validate_trial *trial, bool boxes) {
    *s = (subject){.trial = trial};
    stn_world_options options = stn_world_options_default();
    options.dt = 2e-3;
    snprintf(s->path, sizeof s->path, "%s/run.%.40s", trial->folder, extension_of(trial));
    stn_status status = stn_world_create(trial->request->context, &options, &s->world, &s->error);
    status = status == STN_OK && boxes ? add_boxes(stn_world_builder(s->world), &s->error) : status;
    status = status == STN_OK ? stn_world_compile(s->world, &s->error) : status;
    if (status != STN_OK) {
        trial_fail(trial, "the battery cannot make a world: %s", s->error.text);
        end(s);
    }
    return status == STN_OK;
}

static stn_status record(subject *s, const char *path) {
    stn_instance *recorder = trial_instance(s->trial, STN_KIND_RECORDER);
    s->error = (stn_error){STN_OK, ""};
    return recorder != NULL ? stn_world_record(s->world, recorder, path, &s->error) : STN_ERR_PLUGIN;
}

static bool run(subject *s) {
    for (int32_t i = 0; i < STEPS && !s->trial->decided; i++) {
        if (stn_world_step(s->world, &s->error) < 0) {
            trial_fail(s->trial, "step %d: %s", i + 1, s->error.text);
        }
    }
    return !s->trial->decided;
}

/// Records a run into one file, or two beside each other, and closes.
static bool run_into(subject *s, const char *path, const char *second) {
    if (record(s, path) != STN_OK || (second != NULL && record(s, second) != STN_OK)) {
        trial_fail(s->trial, "open: %s", s->error.text);
    }
    bool good = run(s);
    if (good && stn_world_close_recordings(s->world, &s->error) != STN_OK) {
        trial_fail(s->trial, "close: %s", s->error.text);
    }
    return !s->trial->decided;
}

static long size_of(const char *path) {
    struct stat what;
    return stat(path, &what) == 0 ? (long)what.st_size : -1;
}

// ------------------------------------------------------------------------------------------------------------- checks

static void check_declares(validate_trial *trial) {
    const stn_recorder_ops *ops = trial->request->plugin->desc->ops.recorder;
    stn_error err = {STN_OK, ""};
    if (ops == NULL || ops->open == NULL || ops->observe == NULL || ops->close == NULL) {
        trial_fail(trial, "one of open, observe, close is missing");
    } else if (ops->extension == NULL ||
               ops->extension[strspn(ops->extension, "abcdefghijklmnopqrstuvwxyz0123456789_")] != '\0') {
        trial_fail(trial, "extension \"%s\", expected small letters, digits and _, without a dot",
                   ops->extension != NULL ? ops->extension : "none");
    } else if (ops->close(NULL, &err) != STN_OK) {
        trial_fail(trial, "close(NULL) fails: %s", err.text);
    } else {
        stn_instance_destroy(trial_instance(trial, STN_KIND_RECORDER));
        trial_ok(trial, "all functions are there, files end with .%s, close accepts NULL", ops->extension);
    }
}

static void check_file(validate_trial *trial) {
    subject s;
    if (!begin(&s, trial, true)) {
        return;
    }
    if (run_into(&s, s.path, NULL) && size_of(s.path) <= 0) {
        trial_fail(trial, "%d steps were recorded, and the file has %ld bytes", STEPS, size_of(s.path));
    }
    trial_ok(trial, "%d steps of two boxes: %ld bytes", STEPS, size_of(s.path));
    end(&s);
}

static void check_empty(validate_trial *trial) {
    subject s;
    if (!begin(&s, trial, false)) {
        return;
    }
    if (run_into(&s, s.path, NULL) && size_of(s.path) < 0) {
        trial_fail(trial, "a world without bodies was recorded, and there is no file");
    }
    trial_ok(trial, "a world without bodies or contacts: %ld bytes", size_of(s.path));
    end(&s);
}

/// Closed before a step was made.
static void check_at_once(validate_trial *trial) {
    subject s;
    if (!begin(&s, trial, true)) {
        return;
    }
    if (record(&s, s.path) != STN_OK || stn_world_close_recordings(s.world, &s.error) != STN_OK) {
        trial_fail(trial, "closed before the first step: %s", s.error.text);
    }
    trial_ok(trial, "closed before the first step: %ld bytes", size_of(s.path));
    end(&s);
}

static void check_same_run(validate_trial *trial) {
    uint64_t hash[2] = {0, 0};
    for (int32_t recorded = 0; recorded < 2; recorded++) {
        subject s;
        if (!begin(&s, trial, true)) {
            return;
        }
        if (recorded == 1 ? run_into(&s, s.path, NULL) : run(&s)) {
            hash[recorded] = stn_world_hash(s.world);
        }
        end(&s);
    }
    if (hash[0] != hash[1]) {
        trial_fail(trial, "%d steps that are recorded end in another state than without", STEPS);
    }
    trial_ok(trial, "%d steps end in the same state, recorded or not", STEPS);
}

static void check_two(validate_trial *trial) {
    subject s;
    char second[160];
    if (!begin(&s, trial, true)) {
        return;
    }
    snprintf(second, sizeof second, "%s/second.%.40s", trial->folder, extension_of(trial));
    if (run_into(&s, s.path, second) && (size_of(s.path) <= 0 || size_of(second) <= 0)) {
        trial_fail(trial, "two recordings at once: %ld and %ld bytes", size_of(s.path), size_of(second));
    }
    trial_ok(trial, "two recordings at once: %ld and %ld bytes", size_of(s.path), size_of(second));
    end(&s);
}

static void check_bad_paths(validate_trial *trial) {
    subject s;
    if (!begin(&s, trial, true)) {
        return;
    }
    char none[160];
    snprintf(none, sizeof none, "%s/none/run.%.40s", trial->folder, extension_of(trial));
    const char *paths[] = {none, trial->folder};
    for (int32_t i = 0; i < 2 && !trial->decided; i++) {
        stn_status status = record(&s, paths[i]);
        if (status >= 0 || strstr(s.error.text, paths[i]) == NULL || strchr(s.error.text, '\n') != NULL) {
            trial_fail(trial, "%s %s: status '%s' \"%s\", expected a failure in one line that names the path", paths[i],
                       i == 0 ? "in a folder that is not there" : "is a folder", stn_status_text(status), s.error.text);
        }
    }
    trial_ok(trial, "refused by name: a folder that is not there, a folder");
    end(&s);
}

/// What open, the steps and close say of a file that may grow to 16 bytes; each failing call says its own line.
static stn_error record_without_room(subject *s) {
    stn_error first = {record(s, s->path), ""};
    first = first.status < 0 ? s->error : first;
    for (int32_t i = 0; i < STEPS && !s->trial->decided; i++) {
        int64_t before = stn_world_state(s->world)->step;
        s->error = (stn_error){STN_OK, ""};
        stn_status status = stn_world_step(s->world, &s->error);
        first = status < 0 && first.status >= 0 ? s->error : first;
        if (stn_world_state(s->world)->step != before + 1) {
            trial_fail(s->trial, "step %d was not made: %s", i + 1, s->error.text);
        }
    }
    s->error = (stn_error){STN_OK, ""};
    stn_status status = stn_world_close_recordings(s->world, &s->error);
    return status < 0 && first.status >= 0 ? s->error : first;
}

/// A limit on the size of files takes the place of a full disk; the simulation goes on.
static void check_full_disk(validate_trial *trial) {
    subject s;
    struct rlimit before;
    if (!begin(&s, trial, true)) {
        return;
    }
    getrlimit(RLIMIT_FSIZE, &before);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){16, before.rlim_max});
    stn_error told = record_without_room(&s);
    setrlimit(RLIMIT_FSIZE, &before);
    if (told.status >= 0 || strstr(told.text, s.path) == NULL) {
        trial_fail(trial, "no more than 16 bytes could be written: '%s' \"%s\", expected a failure that names the path",
                   stn_status_text(told.status), told.text);
    }
    trial_ok(trial, "told: %s", told.text);
    end(&s);
}

static const validate_check checks[] = {
    {"declares what it is", "open, observe, close and extension, recorder.h", check_declares},
    {"a run gives a file", "open it with stn_output_open, write in observe, finish in close", check_file},
    {"a world without bodies", "step 0 has no problem, contacts or certificate: they are NULL", check_empty},
    {"closed at once", "close may come before any step", check_at_once},
    {"same run", "an observation is read only", check_same_run},
    {"two recordings", "what belongs to a file is kept in the recording, not in self or static data", check_two},
    {"bad paths", "return what stn_output_open answers", check_bad_paths},
    {"full disk", "look at what fwrite, fflush and fclose return", check_full_disk},
};

const validate_battery validate_recorders = {STN_KIND_RECORDER, STN_COUNT(checks), checks};
