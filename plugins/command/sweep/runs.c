// SPDX-License-Identifier: Apache-2.0
// Runs end in any order and become rows in theirs: what is too early waits, a few hundred of them. Each rank has one
// run more than it has workers, so that none waits for the way to here and back.
#include "runs.h"

#include <stdlib.h>
#include <string.h>

#include "common/frames.h"

/// Runs begun before the first one that is no row yet, with few workers.
enum { FARTHEST_AHEAD = 200 };

/// What a rank says instead of a run.
enum {
    HAS_WORKERS = -1, // `code` of them
    REFUSES = -2,     // for the reason behind
};

/// What a rank sends: at first one of the above, then how runs ended, each with its report behind it.
typedef struct message {
    int32_t run, outcome, code;
    double seconds;
    char hash[32]; // of the script
} message;

// ------------------------------------------------------------------------------------------------------ the first rank

typedef struct rank {
    int32_t most, count; // runs that it may have, that it has
    int32_t *runs;
    bool gone;
} rank;

/// A run that has ended, and that is no row yet.
typedef struct held_end {
    cli_pool_end end;
    char *report; // owned; NULL: it has not ended
} held_end;

typedef struct maker {
    const cli_runs *runs;
    held_end *held; // (ahead) of row i at i % ahead
    int32_t ahead, begun, ended, written;
    int32_t *again; // runs of ranks that are gone
    int32_t again_count;
    rank *ranks; // (rank_count)
    cli_frame frame;
    bool stopped;
    stn_error err;
} maker;

static int32_t take_next(maker *m) {
    const cli_runs *runs = m->runs;
    if (m->stopped || m->written == runs->count) {
        return CLI_POOL_OVER;
    }
    if (m->again_count > 0) {
        return m->again[--m->again_count];
    }
    bool more = m->begun < runs->count && m->begun - m->written < m->ahead;
    return more ? cli_sweep_run_at(runs->plan, runs->first + m->begun++) : CLI_POOL_NONE;
}

static int32_t next_run(void *user) {
    return take_next(user);
}

static int make_run(void *user, int32_t run, FILE *report) {
    return cli_sweep_run(((const maker *)user)->runs->plan, run, report);
}

static void show_progress(void *user) {
    const maker *m = user;
    m->runs->progress(m->runs->user, m->ended);
}

static bool fail(maker *m, stn_status status, const char *text) {
    (void)stn_fail(&m->err, status, "%s", text);
    m->stopped = true;
    return false;
}

static void feed(maker *m, int32_t index) {
    rank *r = &m->ranks[index];
    while (!r->gone && r->count < r->most) {
        int32_t run = take_next(m);
        if (run < 0) {
            return;
        }
        r->runs[r->count++] = run;
        if (!cli_frame_write(m->runs->ranks, index, &run, sizeof run, NULL, 0)) {
            return; // which is heard
        }
    }
}

static void feed_all(maker *m) {
    for (int32_t i = 1; i < m->runs->rank_count; i++) {
        feed(m, i);
    }
}

/// Row of a run, from the first that is made.
static int32_t row_of(const cli_runs *runs, int32_t run) {
    const cli_sweep_plan *plan = runs->plan;
    return (plan->shards == 0 ? run : (run - plan->shard + 1) / plan->shards) - runs->first;
}

static bool note_end(void *user, const cli_pool_end *end) {
    maker *m = user;
    held_end *held = &m->held[row_of(m->runs, end->run) % m->ahead];
    held->end = *end;
    held->report = strdup(end->report);
    m->ended++;
    if (held->report == NULL) {
        return fail(m, STN_ERR_MEMORY, "out of memory");
    }
    for (held = &m->held[m->written % m->ahead]; held->report != NULL && !m->stopped;
         held = &m->held[++m->written % m->ahead]) {
        held->end.report = held->report;
        m->stopped = !m->runs->done(m->runs->user, &held->end);
        free(held->report);
        held->report = NULL;
    }
    feed_all(m);
    return !m->stopped;
}

/// What it was at is made by others.
static bool note_gone(maker *m, int32_t index, const char *reason) {
    rank *r = &m->ranks[index];
    if (r->gone) {
        return true;
    }
    if (reason != NULL) {
        fprintf(stderr, "stiction sweep: rank %d makes no runs: %s\n", (int)index, reason);
    } else {
        fprintf(stderr, "stiction sweep: rank %d is gone; others make its runs\n", (int)index);
    }
    r->gone = true;
    int32_t *grown = realloc(m->again, (size_t)(m->again_count + r->count + 1) * sizeof *grown);
    if (grown == NULL) {
        return fail(m, STN_ERR_MEMORY, "out of memory");
    }
    m->again = grown;
    for (int32_t i = 0; i < r->count; i++) {
        m->again[m->again_count++] = r->runs[i];
    }
    r->count = 0;
    feed_all(m);
    return true;
}

static bool note_workers(maker *m, int32_t index, int32_t workers) {
    rank *r = &m->ranks[index];
    r->most = workers + 1;
    r->runs = calloc((size_t)r->most, sizeof *r->runs);
    if (r->runs == NULL) {
        return fail(m, STN_ERR_MEMORY, "out of memory");
    }
    feed(m, index);
    return true;
}

static bool hear_rank(void *user) {
    maker *m = user;
    if (!cli_frame_read(m->runs->ranks, &m->frame)) {
        return fail(m, STN_ERR_FILE, "the way to the other ranks broke off; what is in the table stays");
    }
    int32_t index = m->frame.peer;
    message said;
    if (m->frame.size < (int32_t)sizeof said) {
        return note_gone(m, index, NULL);
    }
    memcpy(&said, m->frame.bytes, sizeof said);
    if (said.run == REFUSES) {
        return note_gone(m, index, m->frame.bytes + sizeof said);
    }
    if (strcmp(said.hash, m->runs->plan->hash) != 0) {
        char text[128];
        snprintf(text, sizeof text, "rank %d has another version of the script; give all ranks the same", (int)index);
        return fail(m, STN_ERR_FILE, text);
    }
    if (said.run == HAS_WORKERS) {
        return note_workers(m, index, said.code);
    }
    rank *r = &m->ranks[index];
    for (int32_t i = 0; i < r->count; i++) {
        if (r->runs[i] == said.run) {
            r->runs[i] = r->runs[--r->count];
            break;
        }
    }
    cli_pool_end end = {said.run, (cli_job_outcome)said.outcome, said.code, said.seconds, m->frame.bytes + sizeof said};
    return note_end(m, &end);
}

static void clear(maker *m) {
    for (int32_t i = 0; i < m->ahead && m->held != NULL; i++) {
        free(m->held[i].report);
    }
    for (int32_t i = 0; i < m->runs->rank_count && m->ranks != NULL; i++) {
        free(m->ranks[i].runs);
    }
    free(m->held);
    free(m->ranks);
    free(m->again);
    cli_frame_clear(&m->frame);
    free(m);
}

stn_status cli_runs_make(const cli_runs *runs, stn_error *err) {
    maker *m = calloc(1, sizeof *m);
    if (m == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    m->runs = runs;
    int32_t beside = 2 * (runs->workers + 1) * runs->rank_count;
    m->ahead = beside > FARTHEST_AHEAD ? beside : FARTHEST_AHEAD;
    m->held = calloc((size_t)m->ahead, sizeof *m->held);
    m->ranks = calloc((size_t)runs->rank_count, sizeof *m->ranks);
    cli_pool pool = {.workers = runs->workers,
                     .many = runs->in_process,
                     .limit_s = runs->limit_s,
                     .make = make_run,
                     .next = next_run,
                     .done = note_end,
                     .progress = show_progress,
                     .watched = runs->ranks,
                     .heard = hear_rank,
                     .user = m};
    stn_status status =
        m->ranks != NULL && m->held != NULL ? cli_pool_run(&pool, err) : stn_fail(err, STN_ERR_MEMORY, "out of memory");
    if (status >= 0 && m->err.status < 0) {
        *err = m->err;
        status = m->err.status;
    }
    clear(m);
    return status;
}

// ---------------------------------------------------------------------------------------------------------- other
// ranks

typedef struct server {
    const cli_runs *runs;
    int32_t *asked; // runs that no worker has yet
    int32_t count, room;
    bool over;
    cli_frame frame;
} server;

static int32_t next_asked(void *user) {
    server *s = user;
    if (s->count == 0) {
        return s->over ? CLI_POOL_OVER : CLI_POOL_NONE;
    }
    int32_t run = s->asked[0];
    memmove(s->asked, s->asked + 1, (size_t)--s->count * sizeof *s->asked);
    return run;
}

static int make_asked(void *user, int32_t run, FILE *report) {
    return cli_sweep_run(((const server *)user)->runs->plan, run, report);
}

static bool send_message(const cli_runs *runs, message said, const char *report) {
    memcpy(said.hash, runs->plan->hash, sizeof said.hash);
    return cli_frame_write(runs->ranks, 0, &said, sizeof said, report, strlen(report));
}

static bool send_end(void *user, const cli_pool_end *end) {
    const server *s = user;
    return send_message(s->runs, (message){end->run, end->outcome, end->code, end->seconds, ""}, end->report);
}

/// A run that is asked for; the end of the socket is the end of them all.
static bool hear_first(void *user) {
    server *s = user;
    if (!cli_frame_read(s->runs->ranks, &s->frame)) {
        s->over = true;
        return false;
    }
    if (s->count == s->room) {
        int32_t room = 2 * s->room + 16;
        int32_t *grown = realloc(s->asked, (size_t)room * sizeof *grown);
        if (grown == NULL) {
            return false;
        }
        s->asked = grown;
        s->room = room;
    }
    memcpy(&s->asked[s->count++], s->frame.bytes, sizeof *s->asked);
    return true;
}

stn_status cli_runs_serve(const cli_runs *runs, stn_error *err) {
    server s = {.runs = runs};
    cli_pool pool = {.workers = runs->workers,
                     .many = runs->in_process,
                     .limit_s = runs->limit_s,
                     .make = make_asked,
                     .next = next_asked,
                     .done = send_end,
                     .watched = runs->ranks,
                     .heard = hear_first,
                     .user = &s};
    stn_status status = STN_OK;
    if (send_message(runs, (message){HAS_WORKERS, 0, runs->workers, 0.0, ""}, "")) {
        status = cli_pool_run(&pool, err);
    }
    free(s.asked);
    cli_frame_clear(&s.frame);
    return status;
}

void cli_runs_refuse(const cli_runs *runs, const char *reason) {
    (void)send_message(runs, (message){REFUSES, 0, 0, 0.0, ""}, reason);
}
