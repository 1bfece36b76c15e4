// SPDX-License-Identifier: Apache-2.0
// What a script says about itself: checks, results, assertions, how it leaves; and its tests.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/host.h"

// ------------------------------------------------------------------------------------------------ checks and results

static char *copy_text(stn_context *context, const char *text) {
    return text != NULL ? stn_duplicate_text(context, text) : NULL;
}

/// Room for one more behind `count`: twice as much whenever that is full, at powers of two. NULL: out of memory.
static void *room_for_one(stn_context *context, void *items, int32_t count, size_t size) {
    bool full = (count & (count - 1)) == 0;
    size_t wanted = count > 0 ? 2 * (size_t)count : 1;
    return full ? stn_reallocate(context, items, (size_t)count, wanted, size) : items;
}

/// Copies of a name and a unit (may be NULL); false: out of memory, and nothing is left.
static bool copy_name(stn_context *context, const char *name, const char *unit, char **name_copy, char **unit_copy) {
    *name_copy = copy_text(context, name);
    *unit_copy = copy_text(context, unit);
    if (*name_copy != NULL && (unit == NULL || *unit_copy != NULL)) {
        return true;
    }
    stn_release(context, *name_copy);
    stn_release(context, *unit_copy);
    return false;
}

static bool add_check(stn_session *session, stn_check check) {
    stn_context *context = session->host.context;
    int32_t count = session->check_count;
    stn_check *grown = room_for_one(context, session->checks, count, sizeof *grown);
    if (grown == NULL) {
        return false;
    }
    session->checks = grown;
    grown[count] = check;
    if (!copy_name(context, check.name, check.unit, &grown[count].name, &grown[count].unit)) {
        return false;
    }
    session->check_count++;
    return true;
}

bool stn_session_add_check(stn_session *session, const char *name, bool ok, double value, double limit,
                           const char *unit) {
    return add_check(session, (stn_check){(char *)(uintptr_t)name, ok, value, limit, false, (char *)(uintptr_t)unit});
}

stn_status stn_host_check(stn_script_host *host, const stn_script_check *c, stn_error *err) {
    stn_check check = {(char *)(uintptr_t)(c->name != NULL ? c->name : ""),
                       c->ok,
                       c->measured ? c->value : (double)NAN,
                       c->measured ? c->limit : (double)NAN,
                       c->measured && c->least,
                       (char *)(uintptr_t)c->unit};
    return add_check(session_of(host), check) ? STN_OK : stn_fail(err, STN_ERR_MEMORY, "out of memory");
}

int32_t stn_session_failed_checks(const stn_session *session) {
    int32_t failed = 0;
    for (int32_t i = 0; i < session->check_count; i++) {
        failed += !session->checks[i].ok;
    }
    return failed;
}

const char *stn_session_failed_check(const stn_session *session, int32_t first, char *text, size_t size) {
    for (int32_t i = first; i < session->check_count; i++) {
        const stn_check *c = &session->checks[i];
        if (c->ok) {
            continue;
        }
        if (isnan(c->limit)) {
            snprintf(text, size, "check failed: %s", c->name);
        } else {
            snprintf(text, size, "check failed: %s: %g is not at %s %g%s%s", c->name, c->value,
                     c->least ? "least" : "most", c->limit, c->unit != NULL ? " " : "", c->unit != NULL ? c->unit : "");
        }
        return text;
    }
    return NULL;
}

/// Where a result of that name has its place in the table, or would have it.
static int32_t *place_of(const stn_session *session, const char *name) {
    uint32_t mask = (uint32_t)session->result_room - 1, hash = 2166136261u; // FNV-1a
    for (const char *c = name; *c != '\0'; c++) {
        hash = (hash ^ (unsigned char)*c) * 16777619u;
    }
    for (uint32_t at = hash & mask;; at = (at + 1) & mask) {
        int32_t *place = &session->result_places[at];
        if (*place == 0 || strcmp(session->results[*place - 1].name, name) == 0) {
            return place;
        }
    }
}

stn_status stn_host_result(stn_script_host *host, const char *name, double value, const char *unit, stn_error *err) {
    stn_session *session = session_of(host);
    int32_t count = session->result_count;
    name = name != NULL ? name : "";
    if (2 * count >= session->result_room) { // at most half of the table is taken
        int32_t room = session->result_room > 0 ? 2 * session->result_room : 16;
        int32_t *places = stn_allocate(host->context, (size_t)room, sizeof *places);
        if (places == NULL) {
            return stn_fail(err, STN_ERR_MEMORY, "out of memory");
        }
        stn_release(host->context, session->result_places);
        session->result_places = places;
        session->result_room = room;
        for (int32_t i = 0; i < count; i++) {
            *place_of(session, session->results[i].name) = i + 1;
        }
    }
    int32_t *place = place_of(session, name);
    if (*place != 0) {
        session->results[*place - 1].value = value;
        return STN_OK;
    }
    stn_result *grown = room_for_one(host->context, session->results, count, sizeof *grown);
    if (grown == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    session->results = grown;
    grown[count].value = value;
    if (!copy_name(host->context, name, unit, &grown[count].name, &grown[count].unit)) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    *place = ++session->result_count;
    return STN_OK;
}

void stn_host_claim(stn_script_host *host, const char *failed) {
    stn_session *session = session_of(host);
    session->claim_count++;
    session->asserted = session->asserted || failed != NULL;
}

stn_status stn_host_skip(stn_script_host *host, const char *reason, stn_error *err) {
    stn_session *session = session_of(host);
    char *copy = stn_duplicate_text(host->context, reason != NULL ? reason : "");
    if (copy == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    stn_release(host->context, session->skipped);
    session->skipped = copy;
    return STN_OK;
}

void stn_host_leave(stn_script_host *host, int status, const char *text) {
    stn_session *session = session_of(host);
    session->exited = true;
    session->exit_status = status & 0xff;
    snprintf(session->exit_text, sizeof session->exit_text, "%s", text != NULL ? text : "");
}

// --------------------------------------------------------------------------------------------------------------- tests

/// The filter is asked about "file: group: test".
bool stn_host_declare_test(stn_script_host *host, const char *name) {
    stn_session *session = session_of(host);
    session->test_count++;
    if (session->pattern == NULL) {
        return true;
    }
    char *asked = stn_allocate(host->context, strlen(host->path) + strlen(name) + 3, 1);
    bool wanted = asked == NULL; // rather too many than too few
    if (asked != NULL) {
        sprintf(asked, "%s: %s", host->path, name);
        wanted = strstr(asked, session->pattern) != NULL;
    }
    stn_release(host->context, asked);
    return wanted;
}

void stn_session_perform(stn_session *session, const stn_test_batch *batch, int32_t index, stn_verdict *verdict) {
    int32_t first_check = session->check_count;
    double start = stn_clock_us();
    batch->perform(batch->user, index, &verdict->by);
    if (verdict->by.outcome == STN_TEST_PASSED &&
        stn_session_failed_check(session, first_check, verdict->by.text, sizeof verdict->by.text) != NULL) {
        verdict->by.outcome = STN_TEST_FAILED;
    }
    verdict->diverged = session->failure.status < 0;
    verdict->seconds = 1e-6 * (stn_clock_us() - start);
}

stn_status stn_host_tests(stn_script_host *host, const stn_test_batch *batch, stn_error *err) {
    stn_session *session = session_of(host);
    if (batch->count > 0 && session->runner.tests != NULL) {
        session->runner.tests(session->runner.user, batch);
        return STN_OK;
    }
    // Here, one after the other.
    for (int32_t i = 0; i < batch->count; i++) {
        stn_verdict verdict = {0};
        stn_session_perform(session, batch, i, &verdict);
        if (session->stopped != 0 || session->exited) {
            return stn_fail(err, STN_ERR_INTERRUPTED, "interrupted");
        }
        const char *text = verdict.by.text;
        bool failed = verdict.by.outcome == STN_TEST_FAILED, skipped = verdict.by.outcome == STN_TEST_SKIPPED;
        if (session->tested != NULL) {
            session->tested(session->tested_user, batch->tests[i].name, failed ? text : NULL, skipped ? text : NULL,
                            verdict.seconds);
        }
    }
    return STN_OK;
}

void stn_host_group(stn_script_host *host, const stn_test_group *group) {
    stn_session *session = session_of(host);
    if (group->count > 0 && session->runner.group != NULL) {
        session->runner.group(session->runner.user, group);
    } else if (group->count > 0) {
        group->run(group->user);
    }
}
