// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "html.h"

static void swap(bytes *a, bytes *b) {
    bytes other = *a;
    *a = *b;
    *b = other;
}

/// Waits for the next block, and takes its payload for another; false: there will be none.
static bool take_block(writer *w, char kind[16], bytes *payload) {
    while (w->waiting == 0 && !w->ending) {
        pthread_cond_wait(&w->changed, &w->mutex);
    }
    if (w->waiting == 0) {
        return false;
    }
    queued_block *oldest = &w->queue[w->first];
    memcpy(kind, oldest->kind, sizeof oldest->kind);
    swap(payload, &oldest->payload);
    w->first = (w->first + 1) % QUEUE;
    w->waiting--;
    pthread_cond_signal(&w->changed);
    return true;
}

static void *write_blocks(void *user) {
    writer *w = user;
    bytes payload = {.context = w->page.context};
    char kind[16];
    pthread_mutex_lock(&w->mutex);
    while (w->error.status == STN_OK && take_block(w, kind, &payload)) {
        pthread_mutex_unlock(&w->mutex);
        stn_error error = {STN_OK, ""};
        page_block(&w->page, kind, &payload, &error);
        pthread_mutex_lock(&w->mutex);
        w->error = error;
    }
    pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->mutex);
    bytes_release(&payload);
    return NULL;
}

stn_status writer_open(writer *w, stn_context *context, const char *path, stn_error *err) {
    *w = (writer){0};
    for (int32_t i = 0; i < QUEUE; i++) {
        w->queue[i].payload.context = context;
    }
    stn_status status = page_open(&w->page, context, path, err);
    if (status < 0) {
        return status;
    }
    pthread_mutex_init(&w->mutex, NULL);
    pthread_cond_init(&w->changed, NULL);
    // a signal is for the thread that simulates
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int code = pthread_create(&w->thread, NULL, write_blocks, w);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (code != 0) {
        page_close(&w->page, STN_OUTPUT_DROP, NULL);
        return stn_fail(err, STN_ERR_MEMORY, "%s: no thread to write it: %s", path, strerror(code));
    }
    return STN_OK;
}

stn_status writer_put(writer *w, const char *kind, bytes *payload, stn_error *err) {
    pthread_mutex_lock(&w->mutex);
    while (w->waiting == QUEUE && w->error.status == STN_OK) {
        pthread_cond_wait(&w->changed, &w->mutex);
    }
    stn_status status = w->error.status;
    if (status == STN_OK) {
        queued_block *newest = &w->queue[(w->first + w->waiting) % QUEUE];
        snprintf(newest->kind, sizeof newest->kind, "%s", kind);
        swap(payload, &newest->payload);
        w->waiting++;
        pthread_cond_signal(&w->changed);
    } else {
        stn_fail(err, status, "%s", w->error.text);
    }
    pthread_mutex_unlock(&w->mutex);
    return status;
}

stn_status writer_close(writer *w, stn_output_end end, stn_error *err) {
    pthread_mutex_lock(&w->mutex);
    w->ending = true;
    pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->mutex);
    pthread_join(w->thread, NULL);
    pthread_mutex_destroy(&w->mutex);
    pthread_cond_destroy(&w->changed);
    for (int32_t i = 0; i < QUEUE; i++) {
        bytes_release(&w->queue[i].payload);
    }
    stn_status status = w->error.status;
    stn_status closed = page_close(&w->page, status < 0 && end == STN_OUTPUT_KEEP ? STN_OUTPUT_LEAVE : end,
                                   status == STN_OK ? err : NULL);
    return status == STN_OK ? closed : stn_fail(err, status, "%s", w->error.text);
}
