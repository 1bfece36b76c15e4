// SPDX-License-Identifier: Apache-2.0
// Loading a contact problem: the format is chosen by the file, what it holds is checked, w is completed.
#include <string.h>

#include <stiction/delassus.h>

#include "base/read_regular.h"
#include "problem/local_form.h"
#include "problem_files/fclib.h"
#include "problem_files/json.h"

static const size_t largest_file = (size_t)1 << 31; // 2^26 numbers at full precision and some
static const double round_off = 1e-13;              // of who wrote a file

/// The problem in a failure capsule (docs/capsule.md); any other object as it is. NULL and a failure when there is
/// none.
static const cJSON *open_capsule(json_reader *r, const cJSON *root) {
    const char *format = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(root, "format"));
    if (format == NULL || strcmp(format, "stiction-capsule-1") != 0) {
        return root;
    }
    const cJSON *problem = cJSON_GetObjectItemCaseSensitive(root, "problem");
    if (!cJSON_IsObject(problem)) {
        r->status =
            stn_fail(r->err, STN_ERR_PARSE,
                     "%s: this capsule holds no contact problem: its step failed before one was formed; make the "
                     "step again with stiction run --from",
                     r->path);
        return NULL;
    }
    return problem;
}

static void read_problem(json_reader *r, const cJSON *root, stn_problem *problem) {
    static const char *const formats[] = {"contact-problem-1", "contact-problem-2"};
    root = open_capsule(r, root);
    if (root == NULL) {
        return;
    }
    if (!cJSON_IsObject(root)) {
        r->status = stn_fail(r->err, STN_ERR_PARSE,
                             "%s: not a contact problem: expected a JSON object with the key 'format'", r->path);
        return;
    }
    int32_t format = json_choice(r, root, "format", formats, STN_COUNT(formats), 0, 0);
    if (r->status == STN_OK) {
        (format == 0 ? json_read_problem_1 : json_read_problem_2)(r, root, problem);
    }
}

/// Masses that the file does not state; those it does stay. A singular A leaves them NaN: its owner knows a better
/// matrix.
static stn_status compute_masses(stn_context *context, stn_problem *p, stn_error *err) {
    stn_inverse *inverse = NULL;
    stn_arena *scratch = stn_arena_create(context);
    stn_constraint *kept = stn_allocate(context, (size_t)p->constraint_count, sizeof *kept);
    stn_status status = stn_inverse_create(context, &inverse, err);
    if (status == STN_OK && (kept == NULL || scratch == NULL)) {
        status = stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    if (status == STN_OK) {
        status = stn_inverse_factor(inverse, p, NULL, NULL);
        bool regular = status == STN_OK;
        status = status == STN_ERR_NUMERIC ? STN_OK : status;
        memcpy(kept, p->constraints, (size_t)p->constraint_count * sizeof *kept);
        if (regular) {
            status = stn_inverse_masses(inverse, p, scratch, err);
        } else if (status != STN_OK) {
            status = stn_fail(err, status, "out of memory");
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

static stn_status complete_masses(stn_context *context, stn_problem *p, stn_error *err) {
    bool missing = false;
    for (int32_t i = 0; i < p->constraint_count; i++) {
        missing = missing || isnan(p->constraints[i].w) || isnan(p->constraints[i].w_trace);
    }
    if (!missing) {
        return STN_OK;
    }
    return compute_masses(context, p, err);
}

static stn_status parse_problem(json_reader *r, stn_problem *problem) {
    char *text = NULL;
    size_t size = 0;
    r->status = stn_read_regular(r->context, r->path, 0, largest_file, &text, &size, r->err);
    if (r->status != STN_OK) {
        return r->status;
    }
    if (array_file_is_hdf5(text, size)) {
        r->status = fclib_read(r->context, r->arena, r->path, text, size, problem, r->err);
        stn_release(r->context, text);
        return r->status;
    }
    cJSON *root = json_parse(r, text, size);
    stn_release(r->context, text); // the tree holds copies
    if (root != NULL) {
        read_problem(r, root, problem);
    }
    cJSON_Delete(root);
    return r->status;
}

/// Nobody is to take the floor that a solver stops at for the solver's fault.
static void tell_asymmetry(stn_context *context, const char *path, const stn_problem *p) {
    double asymmetry = p->general_W ? local_form_asymmetry(p) : 0.0;
    if (asymmetry > round_off) {
        stn_log(context, STN_LOG_WARNING,
                "%s: W is not symmetric, by %.1e of its largest entry: it is judged as it is; a solver that minimises "
                "an energy takes its symmetric part and may come no closer than that",
                path, asymmetry);
    }
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
    json_reader r = {.context = context, .arena = owner->arena, .path = path, .err = err};
    status = parse_problem(&r, &owner->problem);
    if (status == STN_OK) {
        status = stn_problem_check(context, &owner->problem, err);
        status = status == STN_OK ? complete_masses(context, &owner->problem, err) : status;
        if (status != STN_OK) {
            stn_error_prefix(err, "%s", path);
        }
    }
    if (status != STN_OK) {
        stn_problem_destroy(owner);
        return status;
    }
    tell_asymmetry(context, path, &owner->problem);
    *out = owner;
    return STN_OK;
}
