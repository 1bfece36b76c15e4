// my_plugin.c: a table of heights: a line for every step, with the time and z of every body's origin [m].
// What to change first: write_row; what there is to write is in stn_observation, stiction/recorder.h.
// Names of columns and the numbers are those of the C locale: a table must not depend on where it was made.
#define _POSIX_C_SOURCE 200809L // fdopen
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <stiction/plugin.h>

typedef struct table {
    stn_context *context;
    stn_output output; // what was there stays until this one is whole
    FILE *file;
    int64_t steps;
    bool failed;
    char path[1024]; // for messages
} table;

static stn_status cannot_write(const char *path, stn_error *err) {
    return stn_fail(err, STN_ERR_FILE, "%s: cannot be written: %s", path, strerror(errno));
}

/// Accepts NULL. Only closing tells whether the last bytes reached the file.
static stn_status close_table(void *recording, stn_error *err) {
    table *t = recording;
    if (t == NULL) {
        return STN_OK;
    }
    stn_status status = fflush(t->file) == 0 && ferror(t->file) == 0 ? STN_OK : cannot_write(t->path, err);
    stn_output_end end = t->steps == 0                   ? STN_OUTPUT_DROP
                         : t->failed || status != STN_OK ? STN_OUTPUT_LEAVE
                                                         : STN_OUTPUT_KEEP;
    t->output.descriptor = dup(t->output.descriptor); // the stream closes its own
    fclose(t->file);
    stn_status ended = stn_output_close(&t->output, end, status == STN_OK ? err : NULL);
    stn_release(t->context, t);
    return status == STN_OK ? ended : status;
}

static stn_status open_table(void *self, const stn_record_header *header, void **recording, stn_error *err) {
    (void)self;
    const stn_model *model = header->model;
    table *t = stn_allocate(model->context, 1, sizeof *t);
    if (t == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    t->context = model->context;
    snprintf(t->path, sizeof t->path, "%s", header->path);
    // no second recording gets the same file
    stn_status status = stn_output_open(header->path, STN_OUTPUT_STREAM, &t->output, err);
    if (status != STN_OK) {
        stn_release(model->context, t);
        return status;
    }
    t->file = fdopen(t->output.descriptor, "w");
    if (t->file == NULL) {
        status = cannot_write(header->path, err);
        stn_output_close(&t->output, STN_OUTPUT_DROP, NULL);
        stn_release(model->context, t);
        return status;
    }
    fputs("time_s", t->file);
    for (int32_t b = 1; b < model->body_count; b++) { // body 0 is the world
        fprintf(t->file, ",%s/%s", model->groups[model->bodies[b].group].name, model->bodies[b].name);
    }
    fputc('\n', t->file);
    *recording = t;
    return STN_OK;
}

static void write_number(table *t, double value) {
    char text[32];
    stn_print_real(text, sizeof text, value); // all digits, a point whatever the locale
    fputs(text, t->file);
}

static void write_row(table *t, const stn_observation *o) {
    write_number(t, o->time);
    for (int32_t b = 1; b < o->model->body_count; b++) {
        fputc(',', t->file);
        write_number(t, o->kinematics->body_pose[b].position.z);
    }
    fputc('\n', t->file);
}

/// The first call is that of step 0, the start. What a killed run shall leave must reach the file, hence the flush.
static stn_status observe(void *recording, const stn_observation *observation, stn_error *err) {
    table *t = recording;
    write_row(t, observation);
    t->steps += observation->step > 0; // not of the start
    t->failed = fflush(t->file) != 0 || ferror(t->file) != 0;
    return t->failed ? cannot_write(t->path, err) : STN_OK;
}

static const stn_recorder_ops ops = {
    .size = sizeof ops,
    .extension = "my_plugin", // of the files that it writes, --log out.my_plugin
    .open = open_table,
    .observe = observe,
    .close = close_table,
};

static const stn_plugin_desc descriptor = {
    .size = sizeof descriptor,
    .kind = STN_KIND_RECORDER,
    .id = "my_plugin",
    .version = "0.1.0",
    .summary = "A table of the heights of all bodies",
    .ops.recorder = &ops,
};
STN_PLUGIN_LIBRARY(&descriptor); // the one exported symbol
