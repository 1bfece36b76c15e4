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
enum { FILE_VERSION = 3 };

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
}

static stn_status write_plugins(byte_stream *b, const stn_world *world, stn_error *err) {
    stn_status status = STN_OK;
    for (int32_t i = 0; i < STN_COUNT(kinds) && status == STN_OK; i++) {
        const stn_instance *plugin = world->setup->plugin[kinds[i]];
        if (plugin != NULL) {
            status = instance_write(b, plugin, err);
        } else {
            instance_choice_pass(b, &(instance_choice){0});
        }
    }
    return status;
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

static void write_signals(byte_stream *b, const stn_world *world) {
    int32_t count = world->signal_count;
    BYTES_PASS(b, &count);
    for (int32_t i = 0; i < count; i++) {
        stn_signal signal = world->signals[i];
        bytes_pass_text(b, &signal.name);
        BYTES_PASS(b, &signal.value);
    }
}

static stn_status write_model(byte_stream *b, const stn_world *world, stn_error *err) {
    byte_stream part;
    stn_status status = model_encode(world->setup->model, &part, err);
    if (status == STN_OK) {
        bytes_put_block(b, part.data, part.size);
        bytes_clear(&part);
    }
    return status;
}

static stn_status write_state(byte_stream *b, const stn_world *world, stn_error *err) {
    byte_stream part;
    const stn_snapshot view = snapshot_view(world);
    stn_status status = snapshot_encode(&view, &part, err);
    if (status == STN_OK) {
        bytes_put_block(b, part.data, part.size);
        bytes_clear(&part);
    }
    return status;
}

stn_status run_encode(const stn_world *world, size_t known, byte_stream *out, stn_error *err) {
    char build[BUILD_TEXT];
    const char *library = build;
    uint64_t plugins = build_plugins(world);
    build_text(build);
    stn_world_options options = world->setup->options;
    int32_t count = world->setup->controller_count;
    options.gravity = world->state.gravity;
    options.dt = world->frame.dt;
    *out = bytes_begin(world->services.context, magic, FILE_VERSION);
    bytes_pass_text(out, &library);
    BYTES_PASS(out, &plugins);
    pass_options(out, &options);
    stn_status status = write_plugins(out, world, err);
    status = status == STN_OK ? write_model(out, world, err) : status;
    BYTES_PASS(out, &count);
    for (int32_t i = 0; i < count; i++) {
        run_write_controller(out, &world->setup->controllers[i]);
    }
    write_signals(out, world);
    status = status == STN_OK ? write_state(out, world, err) : status;
    bytes_put_varint(out, known);
    bytes_seal(out);
    status = status == STN_OK ? bytes_status(out, err) : status;
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

/// Recorded choices, or what the caller wants instead. `*other`: some plugin is another, or set otherwise.
static stn_status choose(stn_context *context, instance_choice *recorded, const stn_replay_options *wanted,
                         stn_world_options *o, bool *other, stn_error *err) {
    stn_plugin_choice *places[STN_KIND_COUNT] = {
        [STN_KIND_SOLVER] = &o->solver,         [STN_KIND_LAW] = &o->law,       [STN_KIND_CONTACT] = &o->contact,
        [STN_KIND_INTEGRATOR] = &o->integrator, [STN_KIND_FACTOR] = &o->factor,
    };
    static const stn_plugin_choice as_recorded = {0};
    stn_status status = STN_OK;
    for (int32_t i = 0; i < STN_COUNT(kinds) && status == STN_OK; i++) {
        const stn_plugin_choice *choice = &recorded[i].choice;
        const stn_plugin_choice *wish = wanted != NULL ? &wanted->plugin[kinds[i]] : &as_recorded;
        bool same = wish->id == NULL || same_plugin(context, kinds[i], wish->id, choice->id);
        if (same && wish->setting_count > 0) {
            status = add_settings(context, wish, &recorded[i], err);
        }
        recorded[i].choice.id = same && wish->id != NULL ? wish->id : choice->id;
        *places[kinds[i]] = same ? *choice : *wish;
        *other = *other || !same || wish->setting_count > 0;
    }
    o->threads = wanted != NULL && wanted->threads > 0 ? wanted->threads : o->threads;
    return status;
}

static void compare_versions(const stn_world *world, const instance_choice *recorded) {
    for (int32_t i = 0; i < STN_COUNT(kinds); i++) {
        const stn_instance *plugin = world->setup->plugin[kinds[i]];
        const char *id = recorded[i].choice.id;
        if (plugin != NULL && id != NULL && strcmp(plugin->desc->id, id) == 0) {
            instance_compare_version(plugin, recorded[i].version);
        }
    }
}

/// A world of the recorded options and plugins, still without a model.
static stn_status read_world(byte_stream *b, const stn_replay_options *wanted, stn_world **world, bool *adapt,
                             stn_error *err) {
    stn_world_options options = stn_world_options_default();
    instance_choice recorded[STN_COUNT(kinds)] = {0};
    pass_options(b, &options);
    for (int32_t i = 0; i < STN_COUNT(kinds); i++) {
        instance_choice_pass(b, &recorded[i]);
    }
    stn_status status = bytes_status(b, err);
    if (status == STN_OK) {
        status = choose(b->context, recorded, wanted, &options, adapt, err);
    }
    if (status == STN_OK) {
        status = stn_world_create(b->context, &options, world, err);
        for (int32_t i = 0; i < STN_COUNT(kinds); i++) {
            instance_explain(b->context, kinds[i], &recorded[i], status, err);
        }
    }
    if (status == STN_OK) {
        compare_versions(*world, recorded);
    }
    for (int32_t i = 0; i < STN_COUNT(kinds); i++) {
        instance_choice_clear(b->context, &recorded[i]);
    }
    return status;
}

static stn_status read_model(byte_stream *b, stn_world *world, stn_error *err) {
    size_t size = 0;
    const unsigned char *data = bytes_get_block(b, &size);
    stn_status status = bytes_status(b, err);
    status = status == STN_OK ? model_decode(stn_world_builder(world), data, size, err) : status;
    return status == STN_OK ? stn_world_compile(world, err) : status;
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

static stn_status read_controllers(byte_stream *b, stn_world *world, stn_error *err) {
    int32_t count = 0;
    bytes_pass_count(b, &count, INT32_MAX);
    stn_status status = bytes_status(b, err);
    for (int32_t i = 0; i < count && status == STN_OK; i++) {
        status = run_read_controller(b, world, err);
    }
    return status;
}

static stn_status read_signals(byte_stream *b, stn_world *world, stn_error *err) {
    int32_t count = 0;
    bytes_pass_count(b, &count, INT32_MAX);
    stn_status status = STN_OK;
    for (int32_t i = 0; i < count && status == STN_OK && !b->failed; i++) {
        const char *name = NULL;
        double value = 0.0;
        bytes_pass_text(b, &name);
        BYTES_PASS(b, &value);
        b->failed = b->failed || name == NULL;
        status = b->failed ? STN_OK : stn_world_plot(world, name, value, err);
    }
    return status;
}

/// Other plugins keep other memory: theirs starts empty, all else is taken.
static stn_status adapt_state(const stn_world *world, stn_snapshot *snapshot, stn_error *err) {
    const stn_snapshot own = snapshot_view(world);
    stn_state_sizes sizes = snapshot->state.sizes;
    sizes.integrator_bytes = own.state.sizes.integrator_bytes;
    if (memcmp(&sizes, &own.state.sizes, sizeof sizes) != 0) {
        return STN_OK; // refused by restoring
    }
    snapshot->signature = own.signature;
    snapshot->memory_bytes = own.memory_bytes;
    snapshot->state.cache_count = 0;
    return stn_state_resize(snapshot->context, &snapshot->state, &sizes, err);
}

stn_status run_take_state(stn_world *world, const void *data, size_t size, bool adapt, stn_error *err) {
    stn_snapshot *snapshot = NULL;
    stn_status status = snapshot_decode(world->services.context, data, size, &snapshot, err);
    if (status == STN_OK && adapt) {
        status = adapt_state(world, snapshot, err);
    }
    status = status == STN_OK ? stn_world_restore(world, snapshot, err) : status;
    stn_snapshot_destroy(snapshot);
    return status;
}

static stn_status read_state(byte_stream *b, stn_world *world, bool adapt, stn_error *err) {
    size_t size = 0;
    const unsigned char *data = bytes_get_block(b, &size);
    stn_status status = bytes_status(b, err);
    return status == STN_OK ? run_take_state(world, data, size, adapt, err) : status;
}

static void compare_builds(recorded_run *run, const char *library, uint64_t plugins) {
    char here[BUILD_TEXT];
    build_text(here);
    if (library == NULL || strcmp(library, here) != 0) {
        snprintf(run->other_build, sizeof run->other_build, "recorded by Stiction %.127s; this is %s",
                 library != NULL ? library : "of another version", here);
    } else if (!run->adapt && plugins != build_plugins(run->world)) {
        snprintf(run->other_build, sizeof run->other_build, "recorded with plugins of another build");
    }
}

static stn_status read_run(byte_stream *b, const stn_replay_options *wanted, recorded_run *run, stn_error *err) {
    const char *library = NULL;
    uint64_t plugins = 0;
    bytes_pass_text(b, &library);
    BYTES_PASS(b, &plugins);
    stn_status status = read_world(b, wanted, &run->world, &run->adapt, err);
    status = status == STN_OK ? read_model(b, run->world, err) : status;
    status = status == STN_OK ? read_controllers(b, run->world, err) : status;
    status = status == STN_OK ? read_signals(b, run->world, err) : status;
    status = status == STN_OK ? read_state(b, run->world, run->adapt, err) : status;
    run->known = (size_t)bytes_get_varint(b);
    status = status == STN_OK ? bytes_status(b, err) : status;
    if (status == STN_OK) {
        compare_builds(run, library, plugins);
    }
    return status;
}

stn_status run_decode(stn_context *context, const void *data, size_t size, const stn_replay_options *wanted,
                      recorded_run *out, stn_error *err) {
    *out = (recorded_run){0};
    byte_stream b;
    stn_status status = bytes_open(context, data, size, "a recorded run", magic, FILE_VERSION, &b, err);
    if (status != STN_OK) {
        return status;
    }
    status = read_run(&b, wanted, out, err);
    if (status != STN_OK) {
        stn_error_prefix(err, "a recorded run");
        stn_world_destroy(out->world);
        out->world = NULL;
    }
    return status;
}
