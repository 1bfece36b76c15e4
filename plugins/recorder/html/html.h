// SPDX-License-Identifier: Apache-2.0
// The parts of a recording, after docs/recording.md: page.c writes blocks into the file; scene.c, frames.c,
// contacts.c, lines.c, series.c and show.c make their payloads; moment.c keeps what a step showed.
#ifndef RECORDER_HTML_H
#define RECORDER_HTML_H

#include <cjson/cJSON.h>
#include <pthread.h>
#include <sys/types.h>
#include <zlib.h>

#include <stiction/plugin.h>

#include "bytes.h"
#include "common/camera_path.h"
#include "common/node_values.h"

// --------------------------------------------------------------------------------------------------------- page.c

/// The file, open for writing.
typedef struct page {
    stn_context *context;
    char *path;
    stn_output output;
    z_stream stream;
    bool deflating;
    bytes packed, line;
} page;

/// Makes the file and writes the viewer into it. After a failure there is nothing to close.
stn_status page_open(page *p, stn_context *context, const char *path, stn_error *err);
/// Writes a block at once. What a failure leaves of it is cut off again.
stn_status page_block(page *p, const char *kind, const bytes *payload, stn_error *err);
stn_status page_close(page *p, stn_output_end end, stn_error *err);

// ------------------------------------------------------------------------------------------------------- writer.c

enum { QUEUE = 4 }; // blocks that may wait: all that are made at one time, and one of before

/// A block that waits to be written.
typedef struct queued_block {
    char kind[16];
    bytes payload;
} queued_block;

/// Writes blocks from a thread of its own, as packing them costs more than making them.
typedef struct writer {
    page page;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    queued_block queue[QUEUE]; // a ring
    int32_t first, waiting;    // where the oldest block stands; how many there are
    bool ending;               // there will be no more
    stn_error error;           // the first failure; nothing is written after it
} writer;

/// After a failure there is nothing to close.
stn_status writer_open(writer *w, stn_context *context, const char *path, stn_error *err);
/// Hands a block over, and takes its memory for another. A failure is that of an earlier block.
stn_status writer_put(writer *w, const char *kind, bytes *payload, stn_error *err);
/// Writes what waits. Reports a failure that no writer_put has reported yet, after which the page is left, not kept.
stn_status writer_close(writer *w, stn_output_end end, stn_error *err);

// -------------------------------------------------------------------------------------------------------- scene.c

/// Steps in which numbers are kept.
typedef struct scene_units {
    double length, rotation, velocity, angular_velocity, force, normal;
    double pressure; // a part of the pressure itself
} scene_units;

typedef struct scene_options {
    const char *title, *parameters;
    double dt, frame_rate;
    const node_values *values; // of nodes, shown as colours; NULL: none
    const int32_t *colored;    // (colored_count) nodes that have one in frames
    int32_t colored_count;
    bool ranged; // `range` counts
    double range[2];
} scene_options;

/// Which meshes of the model the scene holds, and under what numbers.
typedef struct scene {
    const stn_model *model;
    scene_units units;
    const stn_mesh **meshes; // (mesh_count) by number, kept
    int32_t *number;         // (model->mesh_count) -1: not in the scene
    int32_t mesh_count;
} scene;

/// Meshes that only a viewer needs are read here; one that cannot be had is said and left out.
stn_status scene_open(scene *s, const stn_model *model, bool visual_meshes, stn_error *err);
void scene_close(scene *s);
/// The scene block's JSON.
stn_status scene_write(const scene *s, const scene_options *options, bytes *out, stn_error *err);
/// Adds the member "surfaces"; false: out of memory.
bool surfaces_add(cJSON *to, const stn_model *model);
/// Payload of a mesh block.
void mesh_write(const stn_mesh *mesh, bytes *out);

// ------------------------------------------------------------------------------------------------------- moment.c

enum { TOUCH_IN_PATCH = 4 };

/// A contact of a step.
typedef struct touch {
    uint64_t id;
    int32_t geometry_a, geometry_b;
    stn_vec3 point, normal, force;
    double gap, slip_speed, glide_gap;
    int32_t state; // a stn_contact_state, and TOUCH_IN_PATCH when it is a face
    int32_t vertex_start, vertex_count;
} touch;

/// A constraint of a plugin in a step.
typedef struct line {
    double force; // along its first row; of a block of several rows the size [N]
    bool slack;   // carries nothing because it only pulls or only pushes, or acts on nothing
    int32_t point_start, point_count;
} line;

/// What a step showed, copied.
typedef struct moment {
    const stn_model *model;
    int64_t step;
    double time;
    bool filled, written;
    stn_pose *body_pose;        // (body_count)
    stn_spatial *body_velocity; // (body_count) linear: of the frame's origin
    stn_vec3 *node;             // (node_count)
    stn_pose *node_pose;        // (node_count); NULL where all nodes are points
    const float *value;         // (node_count) shown as colours; NULL: none
    int32_t touch_count, patch_count, vertex_count;
    touch *touches;
    stn_patch *patches;
    stn_vec3 *vertices;
    double *pressure;
    int32_t touch_capacity, patch_capacity, vertex_capacity;
    line *lines;           // (constraint_count of the model)
    stn_vec3 *line_points; // (line_point_count) of all lines, after the step
    int32_t line_point_count, line_point_capacity;
} moment;

stn_status moment_open(moment *m, const stn_model *model, stn_error *err);
void moment_close(moment *m);
stn_status moment_take(moment *m, const stn_observation *o, stn_error *err);

// ----------------------------------------------------------------------------------------------------- contacts.c

enum { CONTACT_STREAMS = 7, PATCH_STREAMS = 3, CONTACT_NUMBERS = 12 };

/// A contact of the last frame, which those of the next are told apart from.
typedef struct kept_contact {
    uint64_t id;
    int32_t linked;                     // index in the frame before, -1: new
    int32_t corner_start, corner_count; // of a face
    int64_t number[CONTACT_NUMBERS];    // point, normal, force, gap, slip speed, glide gap
} kept_contact;

/// A corner of a face, as numbers of the file.
typedef struct kept_corner {
    int64_t from_last[3]; // to the corner before, of the first to the contact's point
    int64_t pressure;
} kept_corner;

typedef struct contact_writer {
    stn_context *context;
    scene_units per_unit; // 1 / unit
    bytes contact[CONTACT_STREAMS], patch[PATCH_STREAMS];
    kept_contact *before, *now;
    int32_t before_count, capacity;
    kept_corner *corners_before, *corners_now;
    int32_t corner_capacity;
    int32_t *slots; // (slot_count) a hash of the ids of `before`: index + 1, 0 where it is empty
    int32_t slot_count;
    bool hashed; // the slots are those of `before`
} contact_writer;

void contacts_open(contact_writer *w, stn_context *context, const scene_units *per_unit);
void contacts_close(contact_writer *w);
/// The contacts of a frame.
stn_status contacts_add(contact_writer *w, const moment *m, stn_error *err);
/// Appends the streams and begins new ones, whose first frame is linked to nothing.
void contacts_write(contact_writer *w, bytes *out);

/// Appends streams behind the number of their bytes, and empties them.
void streams_write(bytes *streams, int32_t count, bytes *out);

// -------------------------------------------------------------------------------------------------------- lines.c

enum { LINE_STREAMS = 2 };

/// Lines of constraints of plugins.
typedef struct line_writer {
    scene_units per_unit; // 1 / unit
    int32_t count;        // of a frame; 0: nothing is written
    bytes stream[LINE_STREAMS];
} line_writer;

void lines_open(line_writer *w, const stn_model *model, const scene_units *per_unit);
void lines_close(line_writer *w);
/// The lines of a frame.
void lines_add(line_writer *w, const moment *m);

// ------------------------------------------------------------------------------------------------------- colors.c

/// Numbers of nodes that are shown as colours.
typedef struct color_writer {
    stn_context *context;
    int32_t count, capacity; // nodes; frames that there is room for
    int32_t *node;           // (count) of the model, ascending
    float *value;            // (count x capacity)
    bytes stream;
} color_writer;

/// `values` NULL: none, and nothing is written.
stn_status colors_open(color_writer *w, const stn_model *model, const node_values *values, int32_t capacity,
                       stn_error *err);
void colors_close(color_writer *w);
void colors_add(color_writer *w, const float *value, int32_t frame);
void colors_write(color_writer *w, int32_t frames, bytes *out);

// ------------------------------------------------------------------------------------------------------- frames.c

enum { FRAMES_IN_BLOCK = 64, NUMBERS_IN_BLOCK = 1 << 21 };

typedef struct frame_writer {
    stn_context *context;
    scene_units per_unit; // 1 / unit
    int32_t body_count, node_count, column_count;
    int32_t *turning; // (turning_count) nodes that turn, ascending
    int32_t turning_count;
    int32_t count, capacity; // frames in the block; at most FRAMES_IN_BLOCK, and some 16 MiB of numbers
    int64_t step[FRAMES_IN_BLOCK];
    double time[FRAMES_IN_BLOCK];
    int64_t *columns; // (column_count x capacity)
    int64_t *last;    // (column_count) of the last frame, also across blocks
    contact_writer contacts;
    line_writer lines;
    color_writer colors;
} frame_writer;

stn_status frames_open(frame_writer *w, const stn_model *model, const scene_units *units, const node_values *values,
                       stn_error *err);
void frames_close(frame_writer *w);
/// There is room: count < capacity.
stn_status frames_add(frame_writer *w, const moment *m, stn_error *err);
/// The block's payload; begins a new block.
void frames_write(frame_writer *w, bytes *out);

// --------------------------------------------------------------------------------------------------------- show.c

enum { CAMERA_NUMBERS = 11 };

/// The camera that the script placed, in the frames of a block.
typedef struct camera_writer {
    camera_path path;
    bool placed, any; // in the last step; in some frame of the block
    float column[CAMERA_NUMBERS][FRAMES_IN_BLOCK];
} camera_writer;

/// Every step.
void cameras_add(camera_writer *w, const stn_observation *o);
/// The step that was added last is this frame of the block.
void cameras_note(camera_writer *w, int32_t frame);
void cameras_write(camera_writer *w, int32_t frames, bytes *out);
stn_status caption_write(const char *text, int64_t frame, bytes *out, stn_error *err);

// ------------------------------------------------------------------------------------------------------- series.c

enum { POINTS_IN_BLOCK = 2048 };

typedef struct series_writer {
    stn_context *context;
    int32_t count, series_count, capacity; // points; series; series that there is room for
    int64_t step[POINTS_IN_BLOCK];
    double time[POINTS_IN_BLOCK];
    float *values; // (series_count x POINTS_IN_BLOCK)
    char **names;  // (series_count) of signals and constraints; NULL for those that are always there
    int32_t fixed; // series before those of signals
} series_writer;

stn_status series_open(series_writer *w, const stn_model *model, stn_error *err);
void series_close(series_writer *w);
/// There is room: count < POINTS_IN_BLOCK.
stn_status series_add(series_writer *w, const stn_observation *o, const moment *m, stn_error *err);
void series_write(series_writer *w, bytes *out);

#endif
