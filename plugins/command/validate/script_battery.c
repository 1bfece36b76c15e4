// SPDX-License-Identifier: Apache-2.0
// What every scripting language must do: refuse what it cannot run in one line, and, with the example that it offers,
// take what the command line says, make every step by its host, stop when asked, and give the same run twice. The host
// is that of the words (common/session.h).
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/session.h"
#include "validate.h"

/// A run of the example, and what its steps were.
typedef struct subject {
    validate_trial *trial;
    stn_session session;
    stn_world *world;    // the first that steps, while it does
    uint64_t hash;       // of the states after all steps
    double dt;           // of the last step [s]
    int64_t steps, most; // made; after which the script is asked to stop, 0: never
    stn_status status;
    stn_error err;
} subject;

static const stn_script_ops *ops_of(const validate_trial *trial) {
    return trial->request->plugin->desc->ops.script;
}

static const char *example_of(const validate_trial *trial) {
    return STN_PLUGIN_HAS(ops_of(trial), example) ? ops_of(trial)->example : NULL;
}

static stn_status observe(void *user, const stn_observation *o, stn_error *err) {
    (void)err;
    subject *s = user;
    if (o->report != NULL) {
        s->hash = 1099511628211u * s->hash + stn_world_hash(s->world);
        s->dt = o->dt;
        s->steps++;
        if (s->steps == s->most) {
            stn_session_stop(&s->session);
        }
    }
    return STN_OK;
}

static void begins(void *user, stn_world *world) {
    subject *s = user;
    s->world = world;
    stn_error err = {STN_OK, ""};
    if (stn_world_observe(world, observe, s, &err) < 0) {
        trial_fail(s->trial, "the battery cannot observe the world: %s", err.text);
    }
}

/// A file with this text in the folder of the check.
static bool write_script(validate_trial *trial, const char *text, char *path, size_t size) {
    snprintf(path, size, "%s/scenario.%.40s", trial->folder, ops_of(trial)->extensions[0]);
    FILE *file = fopen(path, "w");
    bool written = file != NULL && fputs(text, file) >= 0;
    written = (file == NULL || fclose(file) == 0) && written;
    if (!written) {
        trial_fail(trial, "the battery cannot write %s", path);
    }
    return written;
}

static void init(subject *s, validate_trial *trial) {
    *s = (subject){.trial = trial};
    stn_session_init(&s->session, trial->request->context);
    s->session.begins = begins;
    s->session.begins_user = s;
}

/// Runs a text; false: the check is decided.
static bool run(subject *s, const char *text) {
    char path[512];
    stn_instance *language =
        write_script(s->trial, text, path, sizeof path) ? trial_instance(s->trial, STN_KIND_SCRIPT) : NULL;
    if (language != NULL) {
        s->status = stn_session_run_by(&s->session, language, path, &s->err);
    }
    stn_instance_destroy(language);
    return language != NULL && !s->trial->decided;
}

/// The same of the example, which must come to its end.
static bool run_example(subject *s) {
    const char *example = example_of(s->trial);
    if (example == NULL) {
        trial_skip(s->trial, "the plugin has no example");
        return false;
    }
    if (run(s, example) && s->status != STN_OK) {
        trial_fail(s->trial, "the example fails: %s", s->err.text);
    }
    return !s->trial->decided;
}

// ------------------------------------------------------------------------------------------------------------- checks

static void check_declares(validate_trial *trial) {
    const stn_script_ops *ops = ops_of(trial);
    if (ops->extensions == NULL || ops->run == NULL || ops->extensions[0] == NULL) {
        trial_fail(trial, "extensions or run is missing, or there is no extension");
        return;
    }
    for (int32_t i = 0; ops->extensions[i] != NULL; i++) {
        const char *e = ops->extensions[i];
        if (e[0] == '\0' || e[strspn(e, "abcdefghijklmnopqrstuvwxyz0123456789_")] != '\0') {
            trial_fail(trial, "extension \"%s\", expected small letters, digits and _, without a dot", e);
        }
    }
    trial_ok(trial, "files end with .%s", ops->extensions[0]);
}

/// It fails with one line that names the file.
static void judge_refusal(subject *s, const char *what) {
    const char *text = s->err.text;
    if (s->status >= 0) {
        trial_fail(s->trial, "%s: run returns %d, expected a negative status", what, (int)s->status);
    } else if (text[0] == '\0' || strchr(text, '\n') != NULL || strstr(text, "scenario.") == NULL) {
        trial_fail(s->trial, "%s: \"%.300s\", expected one line that names the file", what, text);
    }
}

static void check_missing(validate_trial *trial) {
    subject s;
    char path[512];
    init(&s, trial);
    snprintf(path, sizeof path, "%s/scenario.%.40s", trial->folder, ops_of(trial)->extensions[0]);
    stn_instance *language = trial_instance(trial, STN_KIND_SCRIPT);
    if (language != NULL) {
        s.status = stn_session_run_by(&s.session, language, path, &s.err);
        judge_refusal(&s, "a file that is not there");
    }
    trial_ok(trial, "%s", s.err.text);
    stn_instance_destroy(language);
    stn_session_clear(&s.session);
}

static void check_syntax(validate_trial *trial) {
    subject s;
    init(&s, trial);
    if (run(&s, ")]} \"no language\n begins = so ((\n")) {
        judge_refusal(&s, "a text that is no script");
    }
    trial_ok(trial, "%s", s.err.text);
    stn_session_clear(&s.session);
}

static const stn_result *find_result(const stn_session *session, const char *name) {
    for (int32_t i = 0; i < session->result_count; i++) {
        if (strcmp(session->results[i].name, name) == 0) {
            return &session->results[i];
        }
    }
    return NULL;
}

static void check_example(validate_trial *trial) {
    subject s;
    init(&s, trial);
    if (run_example(&s)) {
        const stn_result *z = find_result(&s.session, "z");
        if (s.session.check_count == 0 || stn_session_failed_checks(&s.session) > 0) {
            trial_fail(trial, "%d checks, of which %d failed; expected one that holds", (int)s.session.check_count,
                       (int)stn_session_failed_checks(&s.session));
        } else if (z == NULL || !(fabs(z->value - 0.05) < 1e-3)) {
            trial_fail(trial, "result z = %g m, expected 0.05 m", z != NULL ? z->value : (double)NAN);
        } else if (s.steps == 0 || s.session.statistics.samples.steps != s.steps) {
            trial_fail(trial, "%lld steps by the host, expected all of them",
                       (long long)s.session.statistics.samples.steps);
        } else if (s.session.left_count > 0) {
            trial_fail(trial, "%d worlds were left without end", (int)s.session.left_count);
        }
    }
    trial_ok(trial, "%lld steps, every world was ended", (long long)s.steps);
    stn_session_clear(&s.session);
}

static void check_overrides(validate_trial *trial) {
    subject s;
    init(&s, trial);
    s.session.host.dt = 0.004;
    stn_error err = {STN_OK, ""};
    if (stn_session_set(&s.session, "height=0.3", &err) < 0) {
        trial_fail(trial, "%s", err.text);
    } else if (run_example(&s)) {
        const stn_parameter *p = s.session.parameters;
        if (s.session.parameter_count == 0 || p->number != 0.3) {
            trial_fail(trial, "--set height=0.3 did not reach the example");
        } else if (s.dt != 0.004) {
            trial_fail(trial, "--dt 0.004: its world steps by %g s", s.dt);
        }
    }
    trial_ok(trial, "--set and --dt reach the script");
    stn_session_clear(&s.session);
}

static void check_stop(validate_trial *trial) {
    subject s;
    init(&s, trial);
    s.most = 10;
    const char *example = example_of(trial);
    if (example == NULL) {
        trial_skip(trial, "the plugin has no example");
    } else if (run(&s, example)) {
        if (s.status != STN_ERR_INTERRUPTED) {
            trial_fail(trial, "stopped after %lld steps, run returns %d, expected STN_ERR_INTERRUPTED",
                       (long long)s.most, (int)s.status);
        } else if (s.steps != s.most) {
            trial_fail(trial, "stopped after %lld steps, it made %lld", (long long)s.most, (long long)s.steps);
        } else if (s.session.left_count > 0) {
            trial_fail(trial, "%d worlds were left without end", (int)s.session.left_count);
        }
    }
    trial_ok(trial, "ends after the step in which it is asked to, and ends its worlds");
    stn_session_clear(&s.session);
}

static void check_same(validate_trial *trial) {
    uint64_t hashes[2] = {0, 0};
    for (int i = 0; i < 2 && !trial->decided; i++) {
        subject s;
        init(&s, trial);
        if (run_example(&s)) {
            hashes[i] = s.hash;
        }
        stn_session_clear(&s.session);
    }
    if (hashes[0] != hashes[1]) {
        trial_fail(trial, "two runs of the example differ");
    }
    trial_ok(trial, "two runs give the same states");
}

static const validate_check checks[] = {
    {"declares what it is", "extensions is a NULL-terminated list without dots; run is required", check_declares},
    {"missing file", "return STN_ERR_FILE with \"file: why\"", check_missing},
    {"what is no script", "return STN_ERR_PARSE with \"file:line: why\"", check_syntax},
    {"example", "make every step by host->ops->step, and call end for every world; see stn_script_ops.example",
     check_example},
    {"command line", "take parameters by host->ops->parameter, and call options before stn_world_create",
     check_overrides},
    {"stops when asked", "end the script when host->ops->step returns STN_ERR_INTERRUPTED", check_stop},
    {"same again", "nothing of a run may be left in the plugin", check_same},
};

const validate_battery validate_scripts = {STN_KIND_SCRIPT, STN_COUNT(checks), checks};
