// SPDX-License-Identifier: Apache-2.0
// A run by value: options, plugins with all their parameters, model, controllers, signals and the state that it begins
// from.
#include <stdio.h>
#include <string.h>

#include "model/model_file.h"
#include "plugin/settings.h"
#include "record/build.h"
#include "record/run.h"
#include "record/snapshot.h"

static const char magic[8] = {'S', 'T', 'N', 'R', 'U', 'N', '\0', '\0'};
enum { FILE_VERSION = 6 };

static const stn_kind kinds[] = {STN_KIND_SOLVER, STN_KIND_LAW, STN_KIND_CONTACT, STN_KIND_INTEGRATOR, STN_KIND_FACTOR};

// ----------------------------------------------------------------------------------------------------------- writing

static void pass_options(byte_stream *b, stn_world_options *o) {
    int32_t rule = (int32_t)o->contact_point, relaxation = (int32_t)o->relaxation_rule;
    BYTES_PASS(b, &o->dt);
    BYTES_PASS(b, &o->gravity);
    BYTES_PASS(b, &o->margin);
    bytes_pass_count(b, &rule, STN_CONTACT_POINT_B);
    o->contact_point = (stn_contact_point_rule)rule;
    bytes_pass_count(b, &relaxation, STN_RELAXATION_SERIES);
    o->relaxation_rule = (stn_relaxation_rule)relaxation;
    bytes_pass_count(b, &o->threads, 1024);
    bytes_pass_bool(b, &o->certificate_light);
    bytes_pass_bool(b, &o->stiction);
    bytes_pass_bool(b, &o->exact_contacts);
    bytes_pass_bool(b, &o->margin_only);
    BYTES_PASS(b, &o->seed);
    BYTES_PASS(b, &o->sleep_velocity);
    BYTES_PASS(b, &o->sleep_time);
    bytes_pass_bool(b, &o->varied);
}

void run_write_controller(byte_stream *b, const controller *c) {
    stn_control_target target = c->target;
    const void *joints = c->joints;
    if (instance_write(b, c->instance, NULL) != STN_OK) {
        bytes_out_of_memory(b);
    }
    BYTES_PASS(b, &target.group);
    BYTES_PASS(b, &target.joint_count);
    bytes_pass_array(b, NULL, &joints, (size_t)target.joint_count, sizeof(int32_t));
}

/// Between options and controllers: plugins and the model.
static stn_status write_parts(byte_stream *b, const stn_world *world, stn_error *err) {
    for (int32_t i = 0; i < STN_COUNT(kinds); i++) {
        const stn_instance *plugin = world->setup->plugin[kinds[i]];
        if (plugin == NULL) {
            instance_choice_pass(b, &(instance_choice){0});
            continue;
        }
        stn_status status = instance_write(b, plugin, err);
        if (status != STN_OK) {
            return status;
        }
    }
    byte_stream model;
    stn_status status = model_encode(world->setup->model, &model, err);
    if (status == STN_OK) {
        bytes_put_block(b, model.data, model.size);
        bytes_clear(&model);
    }
    return status;
}

stn_status run_encode(const stn_world *world, size_t known, byte_stream *out, stn_error *err) {
    char build[BUILD_TEXT];
    const char *library = build;
    uint64_t plugins = build_plugins(world);
    build_text(build);
    stn_world_options options = world->setup->options;
    int32_t controllers = world->setup->controller_count, signals = world->signal_count;
    options.gravity = world->state.gravity;
    options.dt = world->frame.dt;
    *out = bytes_begin(world->services.context, magic, FILE_VERSION);
    bytes_pass_text(out, &library);
    BYTES_PASS(out, &plugins);
    pass_options(out, &options);
    stn_status status = write_parts(out, world, err);
    BYTES_PASS(out, &controllers);
    for (int32_t i = 0; i < controllers; i++) {
        run_write_controller(out, &world->setup->controllers[i]);
    }
    BYTES_PASS(out, &signals);
    for (int32_t i = 0; i < signals; i++) {
        stn_signal signal = world->signals[i];
        bytes_pass_text(out, &signal.name);
        BYTES_PASS(out, &signal.value);
    }
    if (status == STN_OK) {
        byte_stream state;
        const stn_snapshot view = snapshot_view(world);
        status = snapshot_encode(&view, &state, err);
        if (status == STN_OK) {
            bytes_put_block(out, state.data, state.size);
            bytes_clear(&state);
        }
    }
    bytes_put_varint(out, known);
    bytes_seal(out);
    if (status == STN_OK) {
        status = bytes_status(out, err);
    }
    if (status != STN_OK) {
        bytes_clear(out);
    }
    return status;
}

// ----------------------------------------------------------------------------------------------------------- reading

/// Appends what the caller sets to the recorded settings: of two of one name the later counts.
static stn_status add_settings(stn_context *context, const stn_plugin_choice *wanted, instance_choice *recorded,
                               stn_error *err) {
    size_t old = (size_t)recorded->choice.setting_count, more = (size_t)wanted->setting_count;
    stn_setting *all = stn_reallocate(context, recorded->settings, old, old + more, sizeof *all);
    if (all == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    memcpy(all + old, wanted->settings, more * sizeof *all);
    recorded->settings = all;
    recorded->choice.settings = all;
    recorded->choice.setting_count = (int32_t)(old + more);
    return STN_OK;
}

/// Is it the recorded plugin that the caller wants? A path is, when it names a plugin of that id.
static bool same_plugin(stn_context *context, stn_kind kind, const char *wish, const char *recorded) {
    const stn_plugin_info *info = NULL;
    if (wish == NULL || recorded == NULL) {
        return wish == recorded;
    }
    return strcmp(wish, recorded) == 0 ||
           (strchr(wish, '/') != NULL && stn_plugin_find(context, kind, wish, &info, NULL) == STN_OK &&
            strcmp(info->desc->id, recorded) == 0);
}

/// A world of the recorded options and plugins, or of what the caller wants instead, still without a model.
/// run->adapt: some plugin is another, or set otherwise.
static stn_status read_world(byte_stream *b, const stn_replay_options *wanted, recorded_run *run, stn_error *err) {
    stn_world_options o = stn_world_options_default();
    stn_plugin_choice *places[STN_KIND_COUNT] = {
        [STN_KIND_SOLVER] = &o.solver,         [STN_KIND_LAW] = &o.law,       [STN_KIND_CONTACT] = &o.contact,
        [STN_KIND_INTEGRATOR] = &o.integrator, [STN_KIND_FACTOR] = &o.factor,
    };
    static const stn_plugin_choice as_recorded = {0};
    instance_choice recorded[STN_COUNT(kinds)] = {0};
    pass_options(b, &o);
    for (int32_t i = 0; i < STN_COUNT(kinds); i++) {
        instance_choice_pass(b, &recorded[i]);
    }
    stn_status status = bytes_status(b, err);
    for (int32_t i = 0; i < STN_COUNT(kinds) && status == STN_OK; i++) {
        const stn_plugin_choice *choice = &recorded[i].choice;
        const stn_plugin_choice *wish = wanted != NULL ? &wanted->plugin[kinds[i]] : &as_recorded;
        bool same = wish->id == NULL || same_plugin(b->context, kinds[i], wish->id, choice->id);
        if (same && wish->setting_count > 0) {
            status = add_settings(b->context, wish, &recorded[i], err);
        }
        recorded[i].choice.id = same && wish->id != NULL ? wish->id : choice->id;
        *places[kinds[i]] = same ? *choice : *wish;
        run->adapt = run->adapt || !same || wish->setting_count > 0;
    }
    o.threads = wanted != NULL && wanted->threads > 0 ? wanted->threads : o.threads;
    if (status == STN_OK) {
        status = stn_world_create(b->context, &o, &run->world, err);
        for (int32_t i = 0; i < STN_COUNT(kinds); i++) {
            instance_explain(b->context, kinds[i], &recorded[i], status, err);
        }
    }
    for (int32_t i = 0; i < STN_COUNT(kinds); i++) {
        const stn_instance *plugin = status == STN_OK ? run->world->setup->plugin[kinds[i]] : NULL;
        const char *id = recorded[i].choice.id;
        if (plugin != NULL && id != NULL && strcmp(plugin->desc->id, id) == 0) {
            instance_compare_version(plugin, recorded[i].version);
        }
        instance_choice_clear(b->context, &recorded[i]);
    }
    return status;
}

stn_status run_read_controller(byte_stream *b, stn_world *world, stn_error *err) {
    stn_instance *instance = NULL;
    stn_arena *scratch = stn_arena_create(world->services.context);
    if (scratch == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    stn_status status = instance_read(b, STN_KIND_CONTROLLER, &instance, err);
    if (status == STN_OK) {
        int32_t group = 0, count = 0, index = 0;
        const void *joints = NULL;
        BYTES_PASS(b, &group);
        bytes_pass_count(b, &count, INT32_MAX);
        bytes_pass_array(b, scratch, &joints, (size_t)count, sizeof(int32_t));
        status = bytes_status(b, err);
        if (status == STN_OK) {
            status = stn_world_add_controller(world, instance, group, joints, count, &index, err);
        } else {
            stn_instance_destroy(instance);
        }
    }
    stn_arena_destroy(scratch);
    return status;
}

stn_status run_take_state(stn_world *world, const void *data, size_t size, bool adapt, stn_error *err) {
    stn_snapshot *snapshot = NULL;
    stn_status status = snapshot_decode(world->services.context, data, size, &snapshot, err);
    if (status != STN_OK) {
        return status;
    }
    const stn_snapshot own = snapshot_view(world);
    stn_state_sizes sizes = snapshot->state.sizes;
    sizes.integrator_bytes = own.state.sizes.integrator_bytes;
    // Other plugins keep other memory: theirs starts empty, all else is taken. Other sizes are refused by restoring.
    if (adapt && memcmp(&sizes, &own.state.sizes, sizeof sizes) == 0) {
        snapshot->signature = own.signature;
        snapshot->memory_bytes = own.memory_bytes;
        memcpy(snapshot->integrator_id, own.integrator_id, sizeof own.integrator_id);
        snapshot->state.cache_count = 0;
        status = stn_state_resize(snapshot->context, &snapshot->state, &sizes, err);
    }
    if (status == STN_OK) {
        status = stn_world_restore(world, snapshot, err);
    }
    stn_snapshot_destroy(snapshot);
    return status;
}

/// What the block holds behind options and plugins.
static stn_status fill_world(byte_stream *b, recorded_run *run, stn_error *err) {
    stn_world *world = run->world;
    size_t size = 0;
    const unsigned char *data = bytes_get_block(b, &size);
    stn_status status = bytes_status(b, err);
    if (status != STN_OK) {
        return status;
    }
    status = model_decode(stn_world_builder(world), data, size, err);
    if (status != STN_OK) {
        return status;
    }
    status = stn_world_compile(world, err);
    if (status != STN_OK) {
        return status;
    }
    int32_t controllers = 0, signals = 0;
    bytes_pass_count(b, &controllers, INT32_MAX);
    status = bytes_status(b, err);
    for (int32_t i = 0; i < controllers && status == STN_OK; i++) {
        status = run_read_controller(b, world, err);
    }
    if (status != STN_OK) {
        return status;
    }
    bytes_pass_count(b, &signals, INT32_MAX);
    for (int32_t i = 0; i < signals && !b->failed; i++) {
        const char *name = NULL;
        double value = 0.0;
        bytes_pass_text(b, &name);
        BYTES_PASS(b, &value);
        b->failed = b->failed || name == NULL;
        status = b->failed ? STN_OK : stn_world_plot(world, name, value, err);
        if (status != STN_OK) {
            return status;
        }
    }
    data = bytes_get_block(b, &size);
    status = bytes_status(b, err);
    if (status != STN_OK) {
        return status;
    }
    status = run_take_state(world, data, size, run->adapt, err);
    if (status != STN_OK) {
        return status;
    }
    run->known = (size_t)bytes_get_varint(b);
    return bytes_status(b, err);
}

stn_status run_decode(stn_context *context, const void *data, size_t size, const stn_replay_options *wanted,
                      recorded_run *out, stn_error *err) {
    *out = (recorded_run){0};
    byte_stream b;
    stn_status status = bytes_open(context, data, size, "a recorded run", magic, FILE_VERSION, &b, err);
    if (status != STN_OK) {
        return status;
    }
    char here[BUILD_TEXT];
    const char *library = NULL;
    uint64_t plugins = 0;
    bytes_pass_text(&b, &library);
    BYTES_PASS(&b, &plugins);
    status = read_world(&b, wanted, out, err);
    if (status == STN_OK) {
        status = fill_world(&b, out, err);
    }
    if (status != STN_OK) {
        stn_error_prefix(err, "a recorded run");
        stn_world_destroy(out->world);
        out->world = NULL;
        return status;
    }
    build_text(here);
    if (library == NULL || strcmp(library, here) != 0) {
        snprintf(out->other_build, sizeof out->other_build, "recorded by Stiction %.127s; this is %s",
                 library != NULL ? library : "of another version", here);
    } else if (!out->adapt && plugins != build_plugins(out->world)) {
        snprintf(out->other_build, sizeof out->other_build, "recorded with plugins of another build");
    }
    return STN_OK;
}
