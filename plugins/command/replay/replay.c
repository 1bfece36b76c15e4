// SPDX-License-Identifier: Apache-2.0
// stiction replay FILE: makes a recorded run again, without the script that drove it, and compares every step.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <stiction/record.h>
#include <stiction/replay.h>

#include "common/apart.h"
#include "common/options.h"
#include "common/print.h"
#include "common/progress.h"
#include "common/recording_file.h"
#include "common/terminal.h"

/// The words of the command line.
typedef struct replay_options {
    const char *path;
    stn_replay_options use; // instead of what was recorded
    cli_list records;
    bool check, json;
} replay_options;

/// How far it came.
typedef struct player {
    stn_context *context;
    const replay_options *o;
    cli_recording *recording;
    stn_replay *replay; // NULL until the block with the run
    cli_progress progress;
    bool shows_progress;
    bool ended;     // the recording says that it is whole
    bool failed;    // the file is damaged, or the replay diverged
    int32_t scenes; // a second one begins another recording
    int64_t steps, first_step;
    int64_t not_converged, contradicted; // steps; the second: although the solver says otherwise
    stn_contradiction contradiction;     // of the first of these
    double simulated, wall;              // [s]
    stn_replay_difference difference;    // the first
    int64_t differs_at;
    double differs_time;
} player;

// -------------------------------------------------------------------------------------------------------------- play

static stn_status show_progress(void *user, const stn_observation *observation, stn_error *err) {
    (void)err;
    player *p = user;
    if (observation->problem != NULL) {
        cli_progress_step(&p->progress, observation, (double)NAN);
    }
    return STN_OK;
}

static stn_status begin(player *p, const uint8_t *run, size_t size, stn_error *err) {
    if (p->replay != NULL) {
        return stn_fail(err, STN_ERR_PARSE, "a second run before the end of the first; the file is damaged");
    }
    stn_status status = stn_replay_create(p->context, run, size, &p->o->use, &p->replay, err);
    if (status != STN_OK) {
        return status;
    }
    stn_world *world = stn_replay_world(p->replay);
    p->first_step = stn_world_state(world)->step;
    for (int32_t i = 0; i < p->o->records.count && status == STN_OK; i++) {
        const char *path = p->o->records.items[i], *id = NULL;
        stn_instance *recorder = NULL;
        status = stn_plugin_for_file(p->context, STN_KIND_RECORDER, path, &id, err);
        if (status == STN_OK) {
            status = stn_instance_create(p->context, STN_KIND_RECORDER, id, NULL, 0, &recorder, err);
        }
        if (status == STN_OK) {
            status = stn_world_record(world, recorder, path, err);
        }
    }
    return status == STN_OK && p->shows_progress ? stn_world_observe(world, show_progress, p, err) : status;
}

static bool is_over(const player *p) {
    return p->o->check && p->difference.differs;
}

/// The records of consecutive steps.
static stn_status play(player *p, const uint8_t *records, size_t size, stn_error *err) {
    if (p->replay == NULL) {
        return stn_fail(err, STN_ERR_PARSE, "steps before the run that they belong to; the file is damaged");
    }
    stn_world *world = stn_replay_world(p->replay);
    size_t used = 0;
    for (size_t at = 0; at < size && !is_over(p); at += used) {
        stn_replay_difference d;
        stn_status status = stn_replay_step(p->replay, records + at, size - at, &used, &d, err);
        if (status < 0) {
            return status;
        }
        p->steps++;
        p->simulated += stn_world_dt(world);
        const stn_step_report *made = stn_world_observation(world)->report;
        p->not_converged += made->not_converged > 0;
        p->contradiction = p->contradicted == 0 ? made->contradiction : p->contradiction;
        p->contradicted += made->contradiction.islands > 0;
        const stn_state *state = stn_world_state(world);
        if (d.differs && !p->difference.differs) {
            p->difference = d;
            p->differs_at = state->step;
            p->differs_time = state->time;
        }
    }
    return STN_OK;
}

/// `*over`: nothing more is to be read. After its end only another scene matters.
static stn_status take_block(player *p, const cli_block *block, bool *over, stn_error *err) {
    const uint8_t *payload = NULL;
    size_t size = 0;
    bool run = strcmp(block->kind, "run") == 0, steps = strcmp(block->kind, "steps") == 0;
    bool last = strcmp(block->kind, "end") == 0;
    p->scenes += strcmp(block->kind, "scene") == 0;
    *over = p->scenes > 1 || block->kind[0] == '\0';
    if (p->ended || !(run || steps || last)) {
        return STN_OK;
    }
    stn_status status = cli_recording_unpack(p->recording, &payload, &size, err);
    if (status < 0) {
        return status;
    }
    if (run) {
        status = begin(p, payload, size, err);
    } else if (steps) {
        status = play(p, payload, size, err);
    } else { // how many steps were made: a page that lost some of them is not the same run
        cJSON *json = cJSON_Parse((const char *)payload);
        const cJSON *count = cJSON_GetObjectItemCaseSensitive(json, "steps");
        double made = cJSON_IsNumber(count) ? count->valuedouble : (double)NAN;
        cJSON_Delete(json);
        p->ended = true;
        if (p->replay != NULL && made != (double)p->steps) {
            status = stn_fail(err, STN_ERR_PARSE, "a run of %.17g steps, of which %lld are in the file; it is damaged",
                              made, (long long)p->steps);
        }
    }
    if (status < 0) {
        stn_error_prefix(err, "%s", p->o->path);
    }
    *over = *over || is_over(p);
    return status;
}

// ------------------------------------------------------------------------------------------------------------ report

/// "arm"; of nodes the name of their cloud, without one "deformable 1"; "" when it is not one tree's.
static void name_tree(const player *p, char *name, size_t size) {
    const stn_model *model = stn_world_model(stn_replay_world(p->replay));
    int32_t t = p->difference.tree;
    name[0] = '\0';
    if (t >= 0 && model->trees[t].kind == STN_TREE_ARTICULATED) {
        snprintf(name, size, "%s", model->groups[model->bodies[model->trees[t].body_start].group].name);
    } else if (t >= 0 && model->trees[t].name[0] != '\0') {
        snprintf(name, size, "%s", model->trees[t].name);
    } else if (t >= 0) {
        int32_t number = 1;
        for (int32_t k = 0; k < t; k++) {
            number += model->trees[k].kind == STN_TREE_NODAL;
        }
        snprintf(name, size, "deformable %d", number);
    }
}

static bool print_json(const player *p, const char *word) {
    const stn_replay_difference *d = &p->difference;
    cJSON *json = cJSON_CreateObject();
    cli_json_add_text(json, "status", word);
    cli_json_add_text(json, "recording", p->o->path);
    cli_json_add_real(json, "steps", (double)p->steps);
    cli_json_add_real(json, "simulated_s", p->simulated);
    cli_json_add_real(json, "wall_s", p->wall);
    cli_json_add_real(json, "not_converged", (double)p->not_converged);
    if (p->contradicted > 0) {
        char text[256];
        stn_contradiction_text(&p->contradiction, text, sizeof text);
        cli_json_add_real(json, "contradicted", (double)p->contradicted);
        cli_json_add_text(json, "contradiction", text);
    }
    cJSON_AddBoolToObject(json, "whole", p->ended);
    cli_json_add_text(json, "other_build", stn_replay_other_build(p->replay));
    if (d->differs) {
        char name[256];
        name_tree(p, name, sizeof name);
        cJSON *difference = cJSON_AddObjectToObject(json, "difference");
        cli_json_add_real(difference, "step", (double)p->differs_at);
        cli_json_add_real(difference, "time_s", p->differs_time);
        cli_json_add_text(difference, "quantity", d->quantity);
        cli_json_add_text(difference, "of", name[0] != '\0' ? name : NULL);
        cli_json_add_text(difference, "measure", d->measure);
        cli_json_add_text(difference, "unit", d->unit);
        cli_json_add_real(difference, "recorded", d->recorded);
        cli_json_add_real(difference, "replayed", d->replayed);
    }
    return cli_json_print(json, true);
}

static int report(const cli_command *command, player *p, stn_status status, stn_error *err) {
    int result = STN_EXIT_DONE;
    const char *word = p->difference.differs ? "differs" : "the same";
    p->failed = status < 0;
    if (p->failed) {
        err->status = status;
        result = cli_fail_status(command, err);
        word = result == STN_EXIT_SOLVER_FAILED ? "diverged" : "error";
        if (p->steps == 0) {
            return result;
        }
    } else if (is_over(p)) {
        result = STN_EXIT_CHECK_FAILED;
    }
    cli_print_message(p->o->path);
    fprintf(stderr, ": %s\n", word);
    fprintf(stderr, "  %lld step%s, %.4g s simulated in %.3g s: %.1f times real time\n", (long long)p->steps,
            p->steps == 1 ? "" : "s", p->simulated, p->wall, p->simulated / p->wall);
    if (p->not_converged > 0) {
        fprintf(stderr, "  %lld step%s did not converge\n", (long long)p->not_converged,
                p->not_converged == 1 ? "" : "s");
    }
    if (p->contradicted > 0) {
        char text[256];
        stn_contradiction_text(&p->contradiction, text, sizeof text);
        fprintf(stderr, "  %lld of them by the certificate alone; in the first the solver %s\n",
                (long long)p->contradicted, text);
    }
    if (p->difference.differs) {
        const stn_replay_difference *d = &p->difference;
        char name[256];
        name_tree(p, name, sizeof name);
        fprintf(stderr, "  differs at step %lld, t = %.9g s: %s%s", (long long)p->differs_at, p->differs_time,
                d->quantity, name[0] != '\0' ? " of " : "");
        cli_print_message(name);
        fputc('\n', stderr);
        const char *space = d->unit[0] != '\0' ? " " : "";
        if (d->replayed == d->recorded) {
            fputs("  by little: the energies of the step are equal in all digits\n", stderr);
        } else {
            fprintf(stderr, "  %s %.17g%s%s, recorded %.17g%s%s: difference %.3g%s%s, relative %.3g\n", d->measure,
                    d->replayed, space, d->unit, d->recorded, space, d->unit, d->replayed - d->recorded, space, d->unit,
                    (d->replayed - d->recorded) / fmax(fabs(d->replayed), fabs(d->recorded)));
        }
        const char *other = stn_replay_other_build(p->replay);
        if (other != NULL) {
            fputs("  ", stderr);
            cli_print_message(other);
            fputc('\n', stderr);
        }
    }
    if (!p->ended && !p->failed && !is_over(p)) {
        fprintf(stderr, "  the recording was cut off; it was replayed up to step %lld\n",
                (long long)(p->first_step + p->steps));
    }
    if (p->scenes > 1) {
        fputs("  the page holds several recordings; the first was replayed\n", stderr);
    }
    return !p->o->json || print_json(p, word) ? result : STN_EXIT_BAD_INPUT;
}

static int replay(const cli_command *command, stn_context *context, const replay_options *o) {
    stn_error err = {STN_OK, ""};
    player p = {.o = o, .context = context, .shows_progress = cli_stderr_redraws()};
    double start = cli_seconds_now();
    // The command line may name files of plugins; the recording may not.
    stn_status status = STN_OK;
    for (int32_t kind = 0; kind < STN_KIND_COUNT && status == STN_OK; kind++) {
        const char *name = p.o->use.plugin[kind].id;
        status = name != NULL ? stn_plugin_load(p.context, (stn_kind)kind, name, &err) : STN_OK;
    }
    if (status == STN_OK) {
        status = cli_recording_open(context, o->path, &p.recording, &err);
    }
    for (bool over = false; status == STN_OK && !over;) { // to its end or to the first difference
        cli_block block;
        status = cli_recording_next(p.recording, &block, &err);
        if (status == STN_OK) {
            status = take_block(&p, &block, &over, &err);
        }
    }
    if (status == STN_OK && p.replay == NULL) {
        status = stn_fail(&err, STN_ERR_PARSE,
                          "%s: holds no run to replay: it was written without, or cut off before it", o->path);
    }
    if (p.replay != NULL) {
        stn_error closing = {STN_OK, ""};
        stn_status closed = stn_world_close_recordings(stn_replay_world(p.replay), &closing);
        if (status >= 0 && closed < 0) {
            status = closed;
            err = closing;
        }
    }
    cli_progress_end(&p.progress);
    p.wall = cli_seconds_now() - start;
    int result = report(command, &p, status, &err);
    stn_replay_destroy(p.replay);
    cli_recording_close(p.recording);
    return result;
}

static int run_replay(void *self, const stn_command_call *call) {
    (void)self;
    cli_json_begin();
    replay_options o = {0};
    stn_plugin_choice *plugin = o.use.plugin;
    const cli_option options[] = {
        {"check", 0, CLI_FLAG, NULL, "stop at the first step that differs, exit 1", &o.check},
        {"record", 0, CLI_TEXTS, "FILE", "records the replay; the ending chooses the recorder", &o.records},
        {"log", 0, CLI_TEXTS, "FILE", "the same", &o.records},
        {"solver", 0, CLI_TEXT, "ID", "another solver than the recorded one", &plugin[STN_KIND_SOLVER].id},
        {"law", 0, CLI_TEXT, "ID", "another contact law", &plugin[STN_KIND_LAW].id},
        {"integrator", 0, CLI_TEXT, "ID", "another integrator", &plugin[STN_KIND_INTEGRATOR].id},
        {"contact", 0, CLI_TEXT, "ID", "another contact model", &plugin[STN_KIND_CONTACT].id},
        {"factor", 0, CLI_TEXT, "ID", "another factorisation", &plugin[STN_KIND_FACTOR].id},
        {"threads", 0, CLI_INT, "N", "threads; the result is the same", &o.use.threads},
        {"json", 0, CLI_FLAG, NULL, "what came of it, as JSON on stdout", &o.json},
    };
    const cli_command command = {
        "replay",
        "FILE",
        "Makes a recorded run (run --record FILE.html) again without its script, with the recorded steps "
        "and parameters; exit 1 when --check finds a difference, 3 when it diverges.",
        options,
        STN_COUNT(options),
        1,
        1};
    cli_list words;
    int status = cli_parse(&command, call->argc, call->argv, &words);
    if (status != CLI_PROCEED) {
        return status;
    }
    o.path = words.items[0];
    status = cli_keep_apart(&command, words.items, 1, o.records.items, o.records.count);
    if (status != CLI_PROCEED) {
        // said
    } else if (o.use.threads < 0 || o.use.threads > 1024) {
        status = cli_fail(&command, "--threads %d: must be from 1 to 1024", o.use.threads);
    } else {
        status = replay(&command, call->context, &o);
    }
    cli_list_clear(&o.records);
    cli_list_clear(&words);
    return status;
}

CLI_WORD(replay, "makes a recorded run again, and compares", run_replay)
