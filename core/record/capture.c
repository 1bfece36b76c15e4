// SPDX-License-Identifier: Apache-2.0
// Contact problems of a run as files: each as the solver got it, for solving it again with no world around.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/options.h"
#include "record/recordings.h"

struct problem_capture {
    problem_capture *next;
    stn_capture_options options; // texts owned
    char *path;                  // of the present file
    size_t size;                 // bytes of it
    int64_t saved, last_step;
    int32_t rounds; // times that the world went back in time
};

enum { NUMBERS = 128 }; // letters that a step's number, of at most 99 with its zeros, and a round's add to a name

// -------------------------------------------------------------------------------------------------------------- names

/// The ending goes on being the last part of the name.
static void name_file(problem_capture *c, int64_t step) {
    const stn_capture_options *o = &c->options;
    const char *slash = strrchr(o->file, '/'), *dot = strrchr(slash != NULL ? slash : o->file, '.');
    size_t stem = dot != NULL ? (size_t)(dot - o->file) : strlen(o->file), begin = stem, end = stem;
    char round[24] = "", number[NUMBERS] = "";
    if (c->rounds > 0) {
        snprintf(round, sizeof round, "-%d", c->rounds + 1);
    }
    // Where "%d" or "%06d" stands: [begin, end).
    bool placed = false;
    for (const char *at = strchr(o->file, '%'); at != NULL && !placed; at = strchr(at + 1, '%')) {
        size_t digits = strspn(at + 1, "0123456789");
        placed = digits <= 2 && at[1 + digits] == 'd';
        if (placed) {
            begin = (size_t)(at - o->file);
            end = begin + digits + 2;
        }
    }
    if (placed) {
        bool zeros = o->file[begin + 1] == '0';
        int width = atoi(o->file + begin + 1);
        snprintf(number, sizeof number, zeros ? "%0*lld" : "%*lld", width, (long long)step);
    } else if (o->most != 1) {
        snprintf(number, sizeof number, "-%06lld", (long long)step);
    }
    size_t middle = stem > end ? stem - end : 0; // between number and ending
    snprintf(c->path, c->size, "%.*s%s%.*s%s%s", (int)begin, o->file, number, (int)middle, o->file + end, round,
             o->file + end + middle);
}

// ------------------------------------------------------------------------------------------------------------- saving

static stn_status save(stn_context *context, const stn_observation *o, problem_capture *c, stn_error *err) {
    char name[512];
    snprintf(name, sizeof name, "%.400s%sstep %lld to t = %.9g s", c->options.title != NULL ? c->options.title : "",
             c->options.title != NULL ? ", " : "", (long long)o->step, o->time);
    stn_problem named = *o->problem;
    named.name = name;
    name_file(c, o->step);
    stn_problem_owner *local = NULL;
    stn_status status = STN_OK;
    if (c->options.form == STN_FORM_LOCAL) {
        status = stn_problem_local(context, &named, &local, err);
    }
    if (status == STN_OK) {
        const stn_problem *problem = local != NULL ? stn_problem_of(local) : &named;
        status = stn_problem_save(context, problem, NULL, c->path, err);
    }
    stn_problem_destroy(local);
    c->saved += status == STN_OK;
    return status;
}

stn_status record_capture(const world_record *record, const stn_observation *o, stn_error *err) {
    for (problem_capture *c = record->captures; c != NULL; c = c->next) {
        const stn_capture_options *options = &c->options;
        c->rounds += o->step <= c->last_step;
        c->last_step = o->step;
        // Is the step one that is asked for?
        bool take =
            o->contacts->count > 0 && (options->most == 0 || c->saved < options->most) && o->step % options->every == 0;
        stn_status status = STN_OK;
        if (take && options->when != NULL) {
            status = options->when(options->user, o, &take, err);
        }
        if (status == STN_OK && take) {
            status = save(record->world->services.context, o, c, err);
        }
        if (status < 0) {
            return stn_error_prefix(err, "capture");
        }
    }
    return STN_OK;
}

// ------------------------------------------------------------------------------------------------------------- set-up

static void release(stn_context *context, problem_capture *c) {
    if (c != NULL) {
        stn_release(context, (char *)(uintptr_t)c->options.file);
        stn_release(context, (char *)(uintptr_t)c->options.title);
        stn_release(context, c->path);
        stn_release(context, c);
    }
}

stn_status stn_world_capture_sized(stn_world *world, const stn_capture_options *given, size_t size, stn_error *err) {
    stn_context *context = world->services.context;
    stn_capture_options own, *options = &own;
    if (stn_options_take("capture", &own, sizeof own, given, size, err) != STN_OK) {
        return STN_ERR_ARGUMENT;
    }
    if (stn_problem_file_named(context, options->file, false, err) != STN_OK) {
        stn_error_prefix(err, "capture");
        return STN_ERR_ARGUMENT;
    }
    if (options->every < 0 || options->most < 0) {
        return stn_fail(err, STN_ERR_ARGUMENT, "capture: %s = %lld, must not be negative",
                        options->every < 0 ? "every" : "most",
                        (long long)(options->every < 0 ? options->every : options->most));
    }
    // Told now, not after half an hour: is there a folder?
    const char *slash = strrchr(options->file, '/');
    char *folder = slash != NULL ? stn_duplicate_text(context, options->file) : NULL;
    struct stat what;
    if (folder != NULL) {
        folder[slash - options->file + 1] = '\0';
        bool there = stat(folder, &what) == 0 && S_ISDIR(what.st_mode);
        stn_status found =
            there ? STN_OK : stn_fail(err, STN_ERR_FILE, "capture: %s: there is no folder %s", options->file, folder);
        stn_release(context, folder);
        if (found != STN_OK) {
            return found;
        }
    }
    world_record *record = NULL;
    stn_status status = record_of(world, &record, err);
    if (status != STN_OK) {
        return status;
    }
    problem_capture *c = stn_allocate(context, 1, sizeof *c);
    if (c != NULL) {
        *c = (problem_capture){.options = *options, .size = strlen(options->file) + NUMBERS + 24, .last_step = -1};
        c->options.every = options->every > 0 ? options->every : 1;
        c->options.file = stn_duplicate_text(context, options->file);
        c->options.title = options->title != NULL ? stn_duplicate_text(context, options->title) : NULL;
        c->path = stn_allocate(context, c->size, 1);
    }
    if (c == NULL || c->options.file == NULL || c->path == NULL ||
        (options->title != NULL && c->options.title == NULL)) {
        release(context, c);
        return stn_fail(err, STN_ERR_MEMORY, "capture: out of memory");
    }
    problem_capture **end = &record->captures;
    while (*end != NULL) {
        end = &(*end)->next;
    }
    *end = c;
    return STN_OK;
}

int64_t stn_world_captured(const stn_world *world) {
    const world_record *record = record_find(world);
    int64_t count = 0;
    for (const problem_capture *c = record != NULL ? record->captures : NULL; c != NULL; c = c->next) {
        count += c->saved;
    }
    return count;
}

void record_release_captures(world_record *record) {
    while (record->captures != NULL) {
        problem_capture *c = record->captures;
        record->captures = c->next;
        release(record->world->services.context, c);
    }
}
