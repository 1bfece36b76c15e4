// SPDX-License-Identifier: Apache-2.0
// Playing a recorded run: inputs, a step, comparison.
#include <string.h>

#include "base/options.h"
#include "record/journal.h"
#include "record/run.h"

struct stn_replay {
    recorded_run run;
    bool begun;
    uint16_t *hashes; // of the trees after the step just made
};

stn_status stn_replay_create_sized(stn_context *context, const void *run, size_t size,
                                   const stn_replay_options *options, size_t options_size, stn_replay **out,
                                   stn_error *err) {
    *out = NULL;
    stn_replay_options own;
    if (options != NULL && stn_options_take("replay", &own, sizeof own, options, options_size, err) != STN_OK) {
        return STN_ERR_ARGUMENT;
    }
    stn_replay *replay = stn_allocate(context, 1, sizeof *replay);
    if (replay == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "replay: out of memory");
    }
    stn_status status = run_decode(context, run, size, options != NULL ? &own : NULL, &replay->run, err);
    if (status != STN_OK) {
        stn_release(context, replay);
        return status;
    }
    const int32_t count = journal_hash_count(replay->run.world->setup->model->tree_count);
    replay->hashes = stn_allocate(context, (size_t)count, sizeof *replay->hashes);
    if (replay->hashes == NULL) {
        stn_world_destroy(replay->run.world);
        stn_release(context, replay);
        return stn_fail(err, STN_ERR_MEMORY, "replay: out of memory");
    }
    *out = replay;
    return STN_OK;
}

void stn_replay_destroy(stn_replay *replay) {
    if (replay != NULL) {
        stn_context *context = replay->run.world->services.context;
        stn_world_destroy(replay->run.world);
        stn_release(context, replay->hashes);
        stn_release(context, replay);
    }
}

stn_world *stn_replay_world(stn_replay *replay) {
    return replay->run.world;
}

const char *stn_replay_other_build(const stn_replay *replay) {
    return replay->run.other_build[0] != '\0' ? replay->run.other_build : NULL;
}

static stn_replay_difference differ(const char *quantity, double recorded, double replayed) {
    return (stn_replay_difference){true, quantity, -1, quantity, "", recorded, replayed};
}

/// Coordinates first: where they differ, counts only follow.
static stn_replay_difference compare(const stn_replay *replay, const step_result *a, const unsigned char *hashes,
                                     const step_result *b) {
    if (a->step != b->step) {
        return differ("step", (double)a->step, (double)b->step);
    }
    if (a->q != b->q || a->v != b->v) {
        const char *quantity = a->v == b->v ? "q" : a->q == b->q ? "v" : "q and v";
        // Of coordinates there are hashes; by how much they differ the energies tell.
        bool kinetic = a->kinetic_J != b->kinetic_J;
        stn_replay_difference d = {true,
                                   quantity,
                                   -1,
                                   kinetic ? "kinetic energy" : "potential energy",
                                   "J",
                                   kinetic ? a->kinetic_J : a->potential_J,
                                   kinetic ? b->kinetic_J : b->potential_J};
        d.tree = journal_differing_tree(replay->run.world->setup->model->tree_count, hashes, replay->hashes);
        return d;
    }
    if (a->contacts != b->contacts) {
        return differ("contacts", a->contacts, b->contacts);
    }
    if (a->iterations != b->iterations) {
        return differ("iterations", a->iterations, b->iterations);
    }
    if (a->status != b->status) {
        return differ("status", a->status, b->status);
    }
    return (stn_replay_difference){.tree = -1};
}

stn_status stn_replay_step(stn_replay *replay, const void *journal, size_t size, size_t *used,
                           stn_replay_difference *difference, stn_error *err) {
    stn_world *world = replay->run.world;
    byte_stream b = bytes_reader(world->services.context, journal, size), inputs;
    step_result recorded;
    const unsigned char *hashes = NULL;
    *used = 0;
    *difference = (stn_replay_difference){.tree = -1};
    if (!journal_read(&b, world->setup->model->tree_count, &inputs, &recorded, &hashes)) {
        return stn_fail(err, STN_ERR_PARSE, "the record of step %lld is damaged or cut off",
                        (long long)world->state.step + 1);
    }
    *used = size - bytes_left(&b);
    // The first record holds inputs that came before the state which the replay began from.
    if (!replay->begun && bytes_get_view(&inputs, replay->run.known) != NULL) {
        replay->begun = true;
    }
    stn_status status = journal_apply(world, &inputs, replay->run.adapt, err);
    if (status != STN_OK) {
        stn_error_prefix(err, "inputs of step %lld", (long long)recorded.step);
        return status;
    }
    status = stn_world_step(world, err);
    if (status >= 0) {
        step_result made = journal_result(world, replay->hashes);
        *difference = compare(replay, &recorded, hashes, &made);
    }
    return status;
}
