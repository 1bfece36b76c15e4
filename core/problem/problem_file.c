// SPDX-License-Identifier: Apache-2.0
// Contact problems and their solutions as files: which plugin reads or writes one, what is checked, and masses that a
// file does not state.
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include <stiction/delassus.h>
#include <stiction/input.h>
#include <stiction/plugin.h>

#include "base/file.h"
#include "problem/local_form.h"
#include "problem/owner.h"
#include "problem/problem_file.h"

static const size_t largest_file = (size_t)1 << 31; // 2^26 numbers at full precision and some
static const double round_off = 1e-13;              // of who wrote a file

// ------------------------------------------------------------------------------------------------------ which plugin

/// Plugins of kind problem_file, in the order of their ids.
typedef struct formats {
    const stn_plugin_info *plugins;
    int32_t count;
} formats;

static stn_status find_formats(stn_context *context, formats *f, stn_error *err) {
    return stn_plugins_of_kind(context, STN_KIND_PROBLEM_FILE, &f->plugins, &f->count, err);
}

static const stn_problem_file_ops *ops_of(const stn_plugin_info *plugin) {
    return plugin->desc->ops.problem_file;
}

static bool lists_ending(const stn_problem_file_ops *ops, const char *path) {
    const char *dot = strrchr(path, '.');
    for (const char *const *e = ops->extensions; dot != NULL && *e != NULL; e++) {
        if (strcasecmp(dot + 1, *e) == 0) {
            return true;
        }
    }
    return false;
}

/// What a format may do beside reading.
typedef enum ability { WRITES, WRITES_SOLUTIONS } ability;

static bool is_able(const stn_problem_file_ops *ops, ability what) {
    bool able = what == WRITES ? STN_PLUGIN_HAS(ops, write) : STN_PLUGIN_HAS(ops, write_solution);
    return able && STN_PLUGIN_HAS(ops, formats);
}

/// ".h5, .hdf5 or .json"
static void list_endings(const formats *f, bool (*counts)(const stn_problem_file_ops *), char *text, size_t size) {
    const char *endings[64];
    int32_t count = 0;
    for (int32_t i = 0; i < f->count; i++) {
        const stn_problem_file_ops *ops = ops_of(&f->plugins[i]);
        for (const char *const *e = counts(ops) ? ops->extensions : NULL;
             e != NULL && *e != NULL && count < STN_COUNT(endings); e++) {
            endings[count++] = *e;
        }
    }
    snprintf(text, size, "%s", count > 0 ? "" : "none: no plugin of kind problem_file does that");
    for (int32_t i = 0; i < count; i++) {
        stn_text_append(text, size, "%s.%s", i == 0 ? "" : i + 1 == count ? " or " : ", ", endings[i]);
    }
}

static bool reads(const stn_problem_file_ops *ops) {
    return ops->read != NULL;
}

static bool writes(const stn_problem_file_ops *ops) {
    return is_able(ops, WRITES);
}

static bool writes_solutions(const stn_problem_file_ops *ops) {
    return is_able(ops, WRITES_SOLUTIONS);
}

/// The one that writes files of this name; NULL: none does.
static const stn_plugin_info *writer_of_name(const formats *f, const char *path, ability what) {
    for (int32_t i = 0; i < f->count; i++) {
        const stn_problem_file_ops *ops = ops_of(&f->plugins[i]);
        if (is_able(ops, what) && lists_ending(ops, path)) {
            return &f->plugins[i];
        }
    }
    return NULL;
}

/// The one that writes `format`, NULL: none does. `known` lists all formats.
static const stn_plugin_info *writer_of_format(const formats *f, const char *format, char *known, size_t size) {
    known[0] = '\0';
    for (int32_t i = 0; i < f->count; i++) {
        const stn_problem_file_ops *ops = ops_of(&f->plugins[i]);
        for (const char *const *e = is_able(ops, WRITES) ? ops->formats : NULL; e != NULL && *e != NULL; e++) {
            if (strcmp(*e, format) == 0) {
                return &f->plugins[i];
            }
            stn_text_append(known, size, "%s%s", known[0] != '\0' ? ", " : "", *e);
        }
    }
    return NULL;
}

stn_status stn_problem_file_named(stn_context *context, const char *path, bool solution, stn_error *err) {
    formats f;
    stn_status status = find_formats(context, &f, err);
    if (status == STN_OK && writer_of_name(&f, path, solution ? WRITES_SOLUTIONS : WRITES) == NULL) {
        char endings[300];
        list_endings(&f, solution ? writes_solutions : writes, endings, sizeof endings);
        return stn_fail(err, STN_ERR_UNSUPPORTED, "%s: the name must end in %s", path, endings);
    }
    return status;
}

/// What a plugin says: a failure names the file, whatever its text is.
static stn_status take_answer(stn_status status, const char *path, stn_error *err) {
    status = stn_answer_end(status, err);
    if (status < 0 && err != NULL && path != NULL && strncmp(err->text, path, strlen(path)) != 0) {
        stn_error_prefix(err, "%s", path);
    }
    return status > 0 ? STN_OK : status;
}

// ------------------------------------------------------------------------------------------------------------ reading

/// Masses that the file does not state; those it does stay.
static stn_status complete_masses(stn_context *context, stn_problem *p, stn_error *err) {
    bool missing = false;
    for (int32_t i = 0; i < p->constraint_count; i++) {
        missing = missing || isnan(p->constraints[i].w) || isnan(p->constraints[i].w_trace);
    }
    if (!missing) {
        return STN_OK;
    }
    stn_inverse *inverse = NULL;
    stn_arena *scratch = stn_arena_create(context);
    stn_constraint *kept = stn_allocate(context, (size_t)p->constraint_count, sizeof *kept);
    stn_status status = stn_inverse_create(context, &inverse, err);
    if (status == STN_OK && (kept == NULL || scratch == NULL)) {
        status = stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    if (status == STN_OK) {
        memcpy(kept, p->constraints, (size_t)p->constraint_count * sizeof *kept);
        status = stn_inverse_factor(inverse, p, err);
        if (status == STN_OK) {
            status = stn_inverse_masses(inverse, p, scratch, err);
        }
        for (int32_t i = 0; i < p->constraint_count; i++) {
            stn_constraint *c = &p->constraints[i];
            c->w = isnan(kept[i].w) ? c->w : kept[i].w;
            c->w_trace = isnan(kept[i].w_trace) ? c->w_trace : kept[i].w_trace;
        }
    }
    stn_inverse_destroy(inverse);
    stn_release(context, kept);
    stn_arena_destroy(scratch);
    return status;
}

static stn_status read_problem(stn_context *context, const char *path, stn_problem_owner *owner, stn_error *err) {
    formats f;
    char *bytes = NULL;
    size_t size = 0;
    stn_status status = stn_read_regular(context, path, 0, largest_file, &bytes, &size, err);
    if (status == STN_OK) {
        status = find_formats(context, &f, err);
    }
    if (status == STN_OK) {
        // by what the file holds; where several could read that, or none, by its ending
        const stn_plugin_info *plugin = NULL, *by_content = NULL, *by_ending = NULL;
        for (int32_t i = 0; i < f.count && plugin == NULL; i++) {
            const stn_problem_file_ops *ops = ops_of(&f.plugins[i]);
            bool listed = lists_ending(ops, path), recognised = ops->recognises(bytes, size);
            plugin = listed && recognised ? &f.plugins[i] : NULL;
            by_ending = listed && by_ending == NULL ? &f.plugins[i] : by_ending;
            by_content = recognised && by_content == NULL ? &f.plugins[i] : by_content;
        }
        plugin = plugin != NULL ? plugin : by_content != NULL ? by_content : by_ending;
        const stn_problem_source source = {
            .context = context, .arena = owner->arena, .path = path, .bytes = bytes, .size = size};
        if (plugin != NULL) {
            stn_instance *format = NULL;
            status = stn_instance_create(context, STN_KIND_PROBLEM_FILE, plugin->desc->id, NULL, 0, &format, err);
            if (status == STN_OK) {
                stn_answer_begin(err);
                status = format->desc->ops.problem_file->read(format->self, &source, &owner->problem, err);
                status = take_answer(status, path, err);
            }
            stn_instance_destroy(format);
        } else {
            char endings[300];
            list_endings(&f, reads, endings, sizeof endings);
            status = stn_fail(err, STN_ERR_PARSE,
                              "%s: not a contact problem: nothing recognises what it holds, nor its name; problems are "
                              "read from %s",
                              path, endings);
        }
    }
    stn_release(context, bytes);
    return status;
}

stn_status stn_problem_load(stn_context *context, const char *path, stn_problem_owner **out, stn_error *err) {
    *out = NULL;
    stn_problem_owner *owner = NULL;
    stn_error local = {STN_OK, ""};
    err = err != NULL ? err : &local;
    stn_status status = stn_problem_owner_create(context, &owner, err);
    if (status != STN_OK) {
        return status;
    }
    status = read_problem(context, path, owner, err);
    if (status == STN_OK) {
        status = stn_problem_check(context, &owner->problem, err);
        if (status == STN_OK) {
            status = complete_masses(context, &owner->problem, err);
        }
        if (status != STN_OK) {
            stn_error_prefix(err, "%s", path);
        }
    }
    if (status != STN_OK) {
        stn_problem_destroy(owner);
        return status;
    }
    // nobody is to take the floor that a solver stops at for the solver's fault
    double asymmetry = owner->problem.general_W ? local_form_asymmetry(&owner->problem) : 0.0;
    if (asymmetry > round_off) {
        stn_log(context, STN_LOG_WARNING,
                "%s: W is not symmetric, by %.1e of its largest entry: it is judged as it is; a solver that minimises "
                "an energy takes its symmetric part and may come no closer than that",
                path, asymmetry);
    }
    *out = owner;
    return STN_OK;
}

// ------------------------------------------------------------------------------------------------------------ writing

/// Writes a solution, or where it has no v_c its problem alone. Formats know no articulated matrices.
static stn_status write_with(const stn_plugin_info *plugin, stn_problem_sink *sink, const stn_problem_result *result,
                             stn_error *err) {
    stn_instance *format = NULL;
    stn_problem problem;
    stn_problem_result expanded = *result;
    stn_arena *arena = stn_arena_create(sink->context);
    stn_status status = arena != NULL && stn_problem_expand(result->problem, arena, &problem)
                            ? STN_OK
                            : stn_fail(err, STN_ERR_MEMORY, "out of memory");
    expanded.problem = &problem;
    if (status == STN_OK) {
        status = stn_instance_create(sink->context, STN_KIND_PROBLEM_FILE, plugin->desc->id, NULL, 0, &format, err);
    }
    if (status == STN_OK) {
        const stn_problem_file_ops *ops = format->desc->ops.problem_file;
        sink->format = sink->format != NULL ? sink->format : ops->formats[0];
        stn_answer_begin(err);
        status = result->v_c != NULL ? ops->write_solution(format->self, sink, &expanded, err)
                                     : ops->write(format->self, sink, &problem, err);
        status = take_answer(status, sink->path, err);
    }
    stn_instance_destroy(format);
    stn_arena_destroy(arena);
    return status;
}

static void put_into_file(const stn_problem_sink *sink, const void *bytes, size_t size) {
    file_put(sink->user, bytes, size);
}

/// A file that appears whole or not at all.
static stn_status write_file(const stn_plugin_info *plugin, stn_problem_sink *sink, const stn_problem_result *result,
                             stn_error *err) {
    file_writer *file = stn_allocate(sink->context, 1, sizeof *file);
    stn_status status = file != NULL ? file_open(sink->path, file, err)
                                     : stn_fail(err, STN_ERR_MEMORY, "%s: out of memory", sink->path);
    if (status == STN_OK) {
        sink->put = put_into_file;
        sink->user = file;
        status = write_with(plugin, sink, result, err);
        stn_status closed = file_close(file, status == STN_OK, status == STN_OK ? err : NULL);
        status = status == STN_OK ? closed : status;
    }
    stn_release(sink->context, file);
    return status;
}

stn_status stn_problem_save(stn_context *context, const stn_problem *problem, const char *format, const char *path,
                            stn_error *err) {
    formats f;
    char known[300];
    stn_status status = find_formats(context, &f, err);
    if (status != STN_OK) {
        return status;
    }
    const stn_plugin_info *plugin = format == NULL ? writer_of_name(&f, path, WRITES) : NULL;
    if (plugin == NULL) {
        format = format != NULL ? format : STN_PROBLEM_FORMAT;
        plugin = writer_of_format(&f, format, known, sizeof known);
    }
    if (plugin == NULL) {
        return stn_fail(err, STN_ERR_ARGUMENT, "%s: no plugin writes the format '%s'; known are: %s", path, format,
                        known[0] != '\0' ? known : "none");
    }
    status = stn_problem_check(context, problem, err);
    if (status != STN_OK) {
        stn_error_prefix(err, "%s", path);
        return status;
    }
    stn_problem_sink sink = {.context = context, .path = path, .format = format};
    return write_file(plugin, &sink, &(stn_problem_result){.problem = problem}, err);
}

stn_status problem_file_put(stn_context *context, const stn_problem *problem, problem_file_take *take, void *user,
                            stn_error *err) {
    formats f;
    char known[300];
    stn_status status = find_formats(context, &f, err);
    if (status != STN_OK) {
        return status;
    }
    const stn_plugin_info *plugin = writer_of_format(&f, STN_PROBLEM_FORMAT, known, sizeof known);
    if (plugin == NULL) {
        return stn_fail(err, STN_ERR_UNSUPPORTED, "no plugin writes %s", STN_PROBLEM_FORMAT);
    }
    stn_problem_sink sink = {.context = context, .format = STN_PROBLEM_FORMAT, .put = take, .user = user};
    return write_with(plugin, &sink, &(stn_problem_result){.problem = problem}, err);
}

// ---------------------------------------------------------------------------------------------------------- solutions

stn_status stn_solution_save(stn_context *context, const stn_problem *problem, const double *v, const double *gamma,
                             const char *path, stn_error *err) {
    formats f;
    stn_status status = stn_problem_file_named(context, path, true, err);
    if (status != STN_OK) {
        return status;
    }
    status = find_formats(context, &f, err);
    if (status != STN_OK) {
        return status;
    }
    stn_arena *arena = stn_arena_create(context);
    double *v_c = stn_allocate(context, (size_t)problem->row_count, sizeof *v_c);
    local_form form;
    if (v_c == NULL || arena == NULL) {
        status = stn_fail(err, STN_ERR_MEMORY, "out of memory");
    } else if (problem->form == STN_FORM_GLOBAL) { // J v + bias, or W gamma + q
        stn_problem_contact_velocity(problem, v, true, v_c);
    } else {
        status = local_form_reduce(problem, arena, &form, err);
    }
    if (status == STN_OK && problem->form == STN_FORM_LOCAL) {
        local_form_velocity(&form, problem->row_count, gamma, v_c);
    }
    if (status == STN_OK) {
        const stn_problem_result result = {.problem = problem, .v = v, .gamma = gamma, .v_c = v_c};
        stn_problem_sink sink = {.context = context, .path = path};
        status = write_file(writer_of_name(&f, path, WRITES_SOLUTIONS), &sink, &result, err);
    } else {
        stn_error_prefix(err, "%s", path);
    }
    stn_release(context, v_c);
    stn_arena_destroy(arena);
    return status;
}
