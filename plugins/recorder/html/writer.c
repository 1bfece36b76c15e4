// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "html.h"

static void *write_blocks(void *user) {
    writer *w = user;
    bytes payload = {.context = w->page.context};
    pthread_mutex_lock(&w->mutex);
    while (true) {
        while (!w->waiting && !w->ending) {
            pthread_cond_wait(&w->changed, &w->mutex);
        }
        if (!w->waiting) {
            break;
        }
        char kind[sizeof w->kind];
        memcpy(kind, w->kind, sizeof kind);
        bytes taken = w->payload;
        w->payload = payload;
        payload = taken;
        w->waiting = false;
        pthread_cond_signal(&w->changed);
        pthread_mutex_unlock(&w->mutex);
        stn_error error = {STN_OK, ""};
        page_block(&w->page, kind, &payload, &error);
        pthread_mutex_lock(&w->mutex);
        if (error.status < 0) {
            w->error = error;
            break;
        }
    }
    pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->mutex);
    bytes_release(&payload);
    return NULL;
}

/// A signal is for the thread that simulates.
static int start_thread(writer *w) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int code = pthread_create(&w->thread, NULL, write_blocks, w);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return code;
}

stn_status writer_open(writer *w, stn_context *context, const char *path, stn_error *err) {
    *w = (writer){.payload = {.context = context}};
    stn_status status = page_open(&w->page, context, path, err);
    if (status < 0) {
        return status;
    }
    pthread_mutex_init(&w->mutex, NULL);
    pthread_cond_init(&w->changed, NULL);
    int code = start_thread(w);
    if (code != 0) {
        page_close(&w->page, NULL);
        return stn_fail(err, STN_ERR_MEMORY, "%s: no thread to write it: %s", path, strerror(code));
    }
    return STN_OK;
}

stn_status writer_put(writer *w, const char *kind, bytes *payload, stn_error *err) {
    pthread_mutex_lock(&w->mutex);
    while (w->waiting && w->error.status == STN_OK) {
        pthread_cond_wait(&w->changed, &w->mutex);
    }
    stn_status status = w->error.status;
    if (status == STN_OK) {
        snprintf(w->kind, sizeof w->kind, "%s", kind);
        bytes handed = *payload;
        *payload = w->payload;
        w->payload = handed;
        w->waiting = true;
        pthread_cond_signal(&w->changed);
    } else {
        stn_fail(err, status, "%s", w->error.text);
    }
    pthread_mutex_unlock(&w->mutex);
    return status;
}

stn_status writer_close(writer *w, stn_error *err) {
    pthread_mutex_lock(&w->mutex);
    w->ending = true;
    pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->mutex);
    pthread_join(w->thread, NULL);
    pthread_mutex_destroy(&w->mutex);
    pthread_cond_destroy(&w->changed);
    bytes_release(&w->payload);
    stn_status status = w->error.status;
    stn_status closed = page_close(&w->page, status == STN_OK ? err : NULL);
    return status == STN_OK ? closed : stn_fail(err, status, "%s", w->error.text);
}
