// SPDX-License-Identifier: Apache-2.0
// One page that shows the run: the viewer's program, then the scene, frames and series in blocks (docs/recording.md).
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <stiction/plugin.h>

#include "html.h"

typedef struct html_config {
    double frame_rate;
    bool meshes;
    const char *title, *color_by, *color_range;
} html_config;

static const stn_param params[] = {
    STN_PARAM_REAL(html_config, frame_rate, "1/s", 60.0, 0.0, 1e6, "frames a simulated second; 0: every step"),
    STN_PARAM_BOOL(html_config, meshes, true, "hold the meshes that are only drawn"),
    STN_PARAM_TEXT(html_config, title, "", "what the viewer calls the recording; empty: the name of the file"),
    STN_PARAM_TEXT(
        html_config, color_by, "",
        "what the elements of soft bodies and cables tell, \"von_mises\", as their colour; empty: their own"),
    STN_PARAM_TEXT(html_config, color_range, "",
                   "\"low high\" at the ends of these colours, in the unit of color_by; empty: least and largest"),
};

static const double BLOCK_SECONDS = 1.0; // of wall time that a killed run loses at most
enum { STEPS_IN_BLOCK = 1 << 22 };       // bytes of records, nearly

typedef struct recording {
    stn_context *context;
    double frame_rate;
    char *parameters, *title;
    node_values values; // of color_by
    bool ranged;        // `range` counts
    double range[2];
    bool visual_meshes, begun, stepped, failed;
    writer writer;
    moment moment;
    frame_writer frames;
    series_writer series;
    camera_writer cameras;
    char *caption; // that was written last; NULL: none
    bytes payload;
    bytes run, steps;  // for stiction replay: the run until its block is written, records of steps since the last block
    double next_frame; // time at which the next one is due [s]
    int64_t step_count, frame_count;
    struct timespec last_block;
} recording;

// ------------------------------------------------------------------------------------------------------------- open

/// "runs/out.html" -> "out".
static char *title_of(stn_context *context, const char *given, const char *path) {
    if (given != NULL && given[0] != '\0') {
        return stn_duplicate_text(context, given);
    }
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path, *dot = strrchr(name, '.');
    size_t length = dot != NULL && dot != name ? (size_t)(dot - name) : strlen(name);
    char *title = stn_allocate(context, length + 1, 1);
    if (title != NULL) {
        memcpy(title, name, length);
    }
    return title;
}

static void release(recording *r) {
    moment_close(&r->moment);
    frames_close(&r->frames);
    node_values_close(&r->values);
    series_close(&r->series);
    bytes_release(&r->payload);
    bytes_release(&r->run);
    bytes_release(&r->steps);
    stn_release(r->context, r->parameters);
    stn_release(r->context, r->title);
    stn_release(r->context, r->caption);
    stn_release(r->context, r);
}

static stn_status html_open(void *self, const stn_record_header *header, void **out, stn_error *err) {
    const html_config *config = self;
    stn_context *context = header->model->context;
    *out = NULL;
    recording *r = stn_allocate(context, 1, sizeof *r);
    if (r == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "%s: out of memory", header->path);
    }
    r->context = context;
    r->payload.context = r->run.context = r->steps.context = context;
    r->frame_rate = config->frame_rate;
    r->visual_meshes = config->meshes;
    r->parameters = stn_duplicate_text(context, header->parameters != NULL ? header->parameters : "");
    r->title = title_of(context, config->title, header->path);
    bytes_put(&r->run, header->run, header->run_size);
    stn_status status = STN_OK;
    if (r->parameters == NULL || r->title == NULL || r->run.failed) {
        status = stn_fail(err, STN_ERR_MEMORY, "%s: out of memory", header->path);
    }
    if (status == STN_OK) {
        status = node_values_read_range(config->color_range, config->color_by, r->range, &r->ranged, err);
    }
    if (status == STN_OK && config->color_by != NULL && config->color_by[0] != '\0') {
        status = node_values_open(&r->values, header->model, config->color_by, err);
    }
    if (status == STN_OK) {
        status = writer_open(&r->writer, context, header->path, err);
    }
    if (status < 0) {
        release(r);
        return status;
    }
    *out = r;
    return STN_OK;
}

/// With the first observation, which is the first to tell dt.
static stn_status begin(recording *r, const stn_observation *o, stn_error *err) {
    scene s;
    stn_status status = scene_open(&s, o->model, r->visual_meshes, err);
    if (status < 0) {
        return status;
    }
    const node_values *values = r->values.model != NULL ? &r->values : NULL;
    status = frames_open(&r->frames, o->model, &s.units, values, err);
    scene_options options = {.title = r->title,
                             .parameters = r->parameters,
                             .dt = o->dt,
                             .frame_rate = r->frame_rate,
                             .values = values,
                             .colored = r->frames.colors.node,
                             .colored_count = r->frames.colors.count,
                             .ranged = r->ranged,
                             .range = {r->range[0], r->range[1]}};
    if (status == STN_OK) {
        status = scene_write(&s, &options, &r->payload, err);
    }
    if (status == STN_OK) {
        status = writer_put(&r->writer, "scene", &r->payload, err);
    }
    for (int32_t m = 0; m < s.mesh_count && status == STN_OK; m++) {
        bytes_clear(&r->payload);
        mesh_write(s.meshes[m], &r->payload);
        status = writer_put(&r->writer, "mesh", &r->payload, err);
    }
    if (status == STN_OK) {
        status = writer_put(&r->writer, "run", &r->run, err);
        bytes_release(&r->run);
    }
    if (status == STN_OK) {
        status = moment_open(&r->moment, o->model, err);
        r->moment.value = r->values.value;
    }
    if (status == STN_OK) {
        status = series_open(&r->series, o->model, err);
    }
    scene_close(&s);
    clock_gettime(CLOCK_MONOTONIC, &r->last_block);
    r->next_frame = -INFINITY;
    r->begun = true;
    return status;
}

// ---------------------------------------------------------------------------------------------------------- observe

static stn_status write_blocks(recording *r, stn_error *err) {
    stn_status status = STN_OK;
    const int32_t frames = r->frames.count;
    if (frames > 0) {
        frames_write(&r->frames, &r->payload);
        status = writer_put(&r->writer, "frames", &r->payload, err);
    }
    if (status == STN_OK && frames > 0 && r->cameras.any) {
        cameras_write(&r->cameras, frames, &r->payload);
        status = writer_put(&r->writer, "camera", &r->payload, err);
    }
    if (status == STN_OK && r->series.count > 0) {
        series_write(&r->series, &r->payload);
        status = writer_put(&r->writer, "series", &r->payload, err);
    }
    if (status == STN_OK && r->steps.count > 0) {
        status = writer_put(&r->writer, "steps", &r->steps, err);
        bytes_clear(&r->steps);
    }
    clock_gettime(CLOCK_MONOTONIC, &r->last_block);
    return status;
}

static bool block_is_due(const recording *r) {
    if (r->frames.count == r->frames.capacity || r->series.count == POINTS_IN_BLOCK ||
        r->steps.count >= STEPS_IN_BLOCK) {
        return true;
    }
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    double since = (double)(now.tv_sec - r->last_block.tv_sec) + 1e-9 * (double)(now.tv_nsec - r->last_block.tv_nsec);
    return since > BLOCK_SECONDS;
}

static stn_status add_frame(recording *r, stn_error *err) {
    r->moment.written = true;
    r->frame_count++;
    cameras_note(&r->cameras, r->frames.count);
    return frames_add(&r->frames, &r->moment, err);
}

/// Frames are due at whole multiples of their distance; a sum of many dt is forgiven its rounding.
static bool frame_is_due(recording *r, const stn_observation *o) {
    if (r->frame_rate == 0.0) {
        return true;
    }
    double time = o->time + 1e-6 * o->dt;
    if (time < r->next_frame) {
        return false;
    }
    r->next_frame = (floor(time * r->frame_rate) + 1.0) / r->frame_rate;
    return true;
}

/// A caption that is new is that of the next frame.
static stn_status note_caption(recording *r, const char *caption, stn_error *err) {
    if (caption == NULL || (r->caption != NULL && strcmp(caption, r->caption) == 0)) {
        return STN_OK;
    }
    stn_release(r->context, r->caption);
    r->caption = stn_duplicate_text(r->context, caption);
    stn_status status = r->caption != NULL ? caption_write(caption, r->frame_count, &r->payload, err)
                                           : stn_fail(err, STN_ERR_MEMORY, "out of memory for a caption");
    return status == STN_OK ? writer_put(&r->writer, "caption", &r->payload, err) : status;
}

static stn_status html_observe(void *self, const stn_observation *o, stn_error *err) {
    recording *r = self;
    stn_status status = r->begun ? STN_OK : begin(r, o, err);
    if (status == STN_OK && r->moment.filled && o->step <= r->moment.step) { // a reset: steps count up within a block
        r->next_frame = -INFINITY;
        status = write_blocks(r, err);
    }
    if (status == STN_OK) {
        status = moment_take(&r->moment, o, err);
    }
    if (status == STN_OK && r->values.model != NULL) { // of every step, as the last one is a frame
        status = node_values_take(&r->values, o, err);
    }
    if (status == STN_OK) {
        status = series_add(&r->series, o, &r->moment, err);
    }
    if (status == STN_OK) {
        cameras_add(&r->cameras, o);
        status = note_caption(r, o->caption, err);
    }
    if (status == STN_OK && o->journal != NULL) {
        bytes_put(&r->steps, o->journal, o->journal_size);
        status = r->steps.failed ? stn_fail(err, STN_ERR_MEMORY, "out of memory for steps to replay") : STN_OK;
    }
    if (status == STN_OK && frame_is_due(r, o)) {
        status = add_frame(r, err);
    }
    if (status == STN_OK && block_is_due(r)) {
        status = write_blocks(r, err);
    }
    r->step_count += o->problem != NULL;
    r->failed = status < 0;
    r->stepped = r->stepped || o->step > 0;
    return status;
}

// ------------------------------------------------------------------------------------------------------------ close

static stn_status finish(recording *r, stn_error *err) {
    if (!r->begun) {
        return stn_fail(err, STN_ERR_SEQUENCE, "%s: no step was made while it was open: make one", r->writer.page.path);
    }
    stn_status status = STN_OK;
    if (r->moment.filled && !r->moment.written) {
        status = add_frame(r, err);
    }
    if (status == STN_OK) {
        status = write_blocks(r, err);
    }
    if (status < 0) {
        return status;
    }
    char time[40] = "0", text[160];
    stn_print_real(time, sizeof time, r->moment.time);
    int length = snprintf(text, sizeof text, "{ \"steps\": %lld, \"frames\": %lld, \"time\": %s }",
                          (long long)r->step_count, (long long)r->frame_count, time);
    bytes_clear(&r->payload);
    bytes_put(&r->payload, text, (size_t)length);
    return writer_put(&r->writer, "end", &r->payload, err);
}

static stn_status html_close(void *self, stn_error *err) {
    recording *r = self;
    if (r == NULL) {
        return STN_OK;
    }
    stn_status status = r->failed ? STN_OK : finish(r, err);
    bool said = r->failed || status < 0;
    stn_output_end end = !r->stepped ? STN_OUTPUT_DROP : said ? STN_OUTPUT_LEAVE : STN_OUTPUT_KEEP;
    stn_status closed = writer_close(&r->writer, end, said ? NULL : err);
    status = said ? status : closed;
    release(r);
    return status;
}

static const stn_recorder_ops ops = {.size = sizeof ops,
                                     .extension = "html",
                                     .open = html_open,
                                     .observe = html_observe,
                                     .close = html_close,
                                     .needs = STN_RECORDER_NEEDS_RUN};

static const stn_plugin_desc descriptor = {
    .size = sizeof descriptor,
    .kind = STN_KIND_RECORDER,
    .id = "html",
    .version = "1.0.0",
    .summary = "One page that shows the run: 3D view, contacts and plots, in any browser",
    .config_size = sizeof(html_config),
    .params = params,
    .param_count = STN_COUNT(params),
    .ops.recorder = &ops,
};
STN_PLUGIN_LIBRARY(&descriptor);
