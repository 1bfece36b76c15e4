// SPDX-License-Identifier: Apache-2.0
// Workers that take indices from a shared counter. Who does which index varies; what an index computes must not.
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include <stiction/threads.h>

typedef struct worker {
    struct stn_threads *threads;
    pthread_t thread;
    int32_t number;
} worker;

struct stn_threads {
    stn_context *context;
    pid_t process; // that has the workers: a fork of it is alone
    int32_t count;
    worker *workers; // (count), [0] is the caller
    pthread_mutex_t mutex;
    pthread_cond_t start, done;
    int64_t generation; // of the job, so that a worker takes each once
    int32_t busy;
    bool stop;
    void (*run)(void *user, int32_t index, int32_t worker);
    void *user;
    int32_t job_count;
    atomic_int next;
};

static void work(stn_threads *t, int32_t number) {
    for (;;) {
        int32_t i = atomic_fetch_add(&t->next, 1);
        if (i >= t->job_count) {
            return;
        }
        t->run(t->user, i, number);
    }
}

static void *worker_main(void *argument) {
    worker *self = argument;
    stn_threads *t = self->threads;
    int64_t seen = 0;
    pthread_mutex_lock(&t->mutex);
    for (;;) {
        while (!t->stop && t->generation == seen) {
            pthread_cond_wait(&t->start, &t->mutex);
        }
        if (t->stop) {
            break;
        }
        seen = t->generation;
        pthread_mutex_unlock(&t->mutex);
        work(t, self->number);
        pthread_mutex_lock(&t->mutex);
        t->busy--;
        if (t->busy == 0) {
            pthread_cond_signal(&t->done);
        }
    }
    pthread_mutex_unlock(&t->mutex);
    return NULL;
}

stn_status stn_threads_create(stn_context *context, int32_t count, stn_threads **out, stn_error *err) {
    *out = NULL;
    if (count < 1 || count > 1024) {
        return stn_fail(err, STN_ERR_ARGUMENT, "threads = %d, must be 1 to 1024", count);
    }
    stn_threads *t = stn_allocate(context, 1, sizeof *t);
    worker *workers = stn_allocate(context, (size_t)count, sizeof *workers);
    if (t == NULL || workers == NULL) {
        stn_release(context, workers);
        stn_release(context, t);
        return stn_fail(err, STN_ERR_MEMORY, "threads: out of memory");
    }
    t->context = context;
    t->process = getpid();
    t->workers = workers;
    t->count = 1;
    pthread_mutex_init(&t->mutex, NULL);
    pthread_cond_init(&t->start, NULL);
    pthread_cond_init(&t->done, NULL);
    while (t->count < count) {
        worker *w = &workers[t->count];
        w->threads = t;
        w->number = t->count;
        if (pthread_create(&w->thread, NULL, worker_main, w) != 0) {
            int32_t given = t->count;
            stn_threads_destroy(t);
            return stn_fail(err, STN_ERR_MEMORY, "threads = %d: the system gives no more than %d", count, given);
        }
        t->count++;
    }
    *out = t;
    return STN_OK;
}

void stn_threads_destroy(stn_threads *threads) {
    if (threads == NULL) {
        return;
    }
    if (threads->process == getpid()) {
        pthread_mutex_lock(&threads->mutex);
        threads->stop = true;
        pthread_cond_broadcast(&threads->start);
        pthread_mutex_unlock(&threads->mutex);
        for (int32_t i = 1; i < threads->count; i++) {
            pthread_join(threads->workers[i].thread, NULL);
        }
        pthread_mutex_destroy(&threads->mutex);
        pthread_cond_destroy(&threads->start);
        pthread_cond_destroy(&threads->done);
    }
    stn_release(threads->context, threads->workers);
    stn_release(threads->context, threads);
}

int32_t stn_threads_count(const stn_threads *threads) {
    return threads == NULL ? 1 : threads->count;
}

void stn_parallel_for(stn_threads *threads, int32_t count, void (*run)(void *user, int32_t index, int32_t worker),
                      void *user) {
    if (threads == NULL || threads->count == 1 || count <= 1 || threads->process != getpid()) {
        for (int32_t i = 0; i < count; i++) {
            run(user, i, 0);
        }
        return;
    }
    pthread_mutex_lock(&threads->mutex);
    threads->run = run;
    threads->user = user;
    threads->job_count = count;
    atomic_store(&threads->next, 0);
    threads->busy = threads->count - 1;
    threads->generation++;
    pthread_cond_broadcast(&threads->start);
    pthread_mutex_unlock(&threads->mutex);
    work(threads, 0);
    pthread_mutex_lock(&threads->mutex);
    while (threads->busy > 0) {
        pthread_cond_wait(&threads->done, &threads->mutex);
    }
    pthread_mutex_unlock(&threads->mutex);
}
