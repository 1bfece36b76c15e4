// SPDX-License-Identifier: Apache-2.0
// Workers that take indices of a job: each first those of its own share, in ascending order, then what is left of the
// shares of others. So what a job works with mostly stays in the caches of the processor that had it in the job before.
// Who does which index varies; what an index computes must not.
//
// A job may take microseconds, and to wake a thread that sleeps takes longer. So workers watch a counter for a while
// before they sleep, and the caller does not wait for workers that have not begun an index. Where other programs want
// the processors, a worker may lose its own in the middle of an index, for milliseconds, and all wait for it. Then the
// caller works alone for many times as long as that has cost.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#include <stiction/threads.h>

#include "base/wait.h"

enum { LINE = 64 }; // bytes that processors exchange

typedef struct worker {
    struct stn_threads *threads;
    pthread_t thread;
    int32_t number;
    char apart[LINE];
    atomic_uint_fast64_t share; // of the job: the next index, and above 32 bits the end
    char apart_too[LINE];
} worker;

struct stn_threads {
    stn_context *context;
    pid_t process; // that has the workers: a fork of it is alone
    int32_t count;
    worker *workers; // (count), [0] is the caller
    pthread_mutex_t mutex;
    pthread_cond_t start, done;
    double woken;       // when sleepers were called last [us]
    bool alone;         // the caller works alone
    double alone_until; // [us]
    // the job; read by those who have taken an index of it, which is not over before they are
    void (*run)(void *user, int32_t index, int32_t worker);
    void *user;
    int32_t job_count;
    char apart[LINE];
    atomic_int begun; // jobs
    atomic_int sleepers;
    atomic_bool stop;
    char apart_too[LINE];
    atomic_int finished; // indices that are done
    atomic_bool caller_sleeps;
    atomic_int lost; // what long waits took, of all [us]
};

bool stn_wait_more(stn_wait *wait) {
    enum { TURNS = 64 };
    static const double yields_after = 10.0, ends_after = 200.0, long_yield = 50.0; // [us]
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
    if (++wait->turns % TURNS != 0) {
        return true;
    }
    double now = stn_clock_us();
    wait->begun = wait->turns == TURNS ? now : wait->begun;
    if (now - wait->begun < yields_after) {
        return true;
    }
    sched_yield();
    return now - wait->begun < ends_after && stn_clock_us() - now < long_yield;
}

/// Calls those who sleep, but not all the time: on a busy machine they are asleep again before they have done anything.
static void wake(stn_threads *t) {
    static const double pause = 50.0; // [us]
    if (atomic_load(&t->sleepers) > 0 && stn_clock_us() - t->woken > pause) {
        pthread_mutex_lock(&t->mutex);
        pthread_cond_broadcast(&t->start);
        pthread_mutex_unlock(&t->mutex);
        t->woken = stn_clock_us();
    }
}

double stn_wait_time(const stn_wait *wait) {
    return wait->turns > 0 ? stn_clock_us() - wait->begun : 0.0;
}

void stn_threads_waited_long(stn_threads *threads, double us) {
    static const double least = 500.0; // [us]; less is work that is not even
    if (us > least) {
        atomic_fetch_add(&threads->lost, us < 1e6 ? (int)us : 1000000);
    }
}

/// Somebody waited long: the caller shall work alone for a while.
static void retire(stn_threads *t) {
    static const double times = 20.0, most = 1e6; // [us]
    const double alone = times * atomic_exchange(&t->lost, 0);
    t->alone_until = stn_clock_us() + (alone < most ? alone : most);
    t->alone = true;
}

/// Takes the next index of a share; -1: there is none.
static int32_t take(atomic_uint_fast64_t *share) {
    uint_fast64_t now = atomic_load(share);
    do {
        if ((uint32_t)now >= (uint32_t)(now >> 32)) {
            return -1;
        }
    } while (!atomic_compare_exchange_weak(share, &now, now + 1));
    return (int32_t)(uint32_t)now;
}

/// Takes indices as long as there are some.
static void work(stn_threads *t, int32_t number) {
    for (int32_t k = 0; k < t->count; k++) {
        atomic_uint_fast64_t *share = &t->workers[(number + k) % t->count].share;
        for (int32_t index = take(share); index >= 0; index = take(share)) {
            const int32_t count = t->job_count; // the job is not over before this index is
            t->run(t->user, index, number);
            if (atomic_fetch_add(&t->finished, 1) + 1 == count && atomic_load(&t->caller_sleeps)) {
                pthread_mutex_lock(&t->mutex);
                pthread_cond_signal(&t->done);
                pthread_mutex_unlock(&t->mutex);
            }
            if (number == 0) {
                wake(t);
            }
        }
    }
}

static void *worker_main(void *argument) {
    worker *self = argument;
    stn_threads *t = self->threads;
    int seen = 0;
    while (!atomic_load(&t->stop)) {
        stn_wait wait = {0};
        while (atomic_load(&t->begun) == seen && !atomic_load(&t->stop) && stn_wait_more(&wait)) {
        }
        if (atomic_load(&t->begun) == seen) {
            pthread_mutex_lock(&t->mutex);
            atomic_fetch_add(&t->sleepers, 1);
            while (atomic_load(&t->begun) == seen && !atomic_load(&t->stop)) {
                pthread_cond_wait(&t->start, &t->mutex);
            }
            atomic_fetch_sub(&t->sleepers, 1);
            pthread_mutex_unlock(&t->mutex);
        }
        seen = atomic_load(&t->begun);
        work(t, self->number);
    }
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
        atomic_store(&threads->stop, true);
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
    stn_threads *t = threads;
    int32_t first = 0;
    while (t->alone && first < count) {
        run(user, first++, 0);
        t->alone = stn_clock_us() < t->alone_until;
    }
    if (first == count) {
        return;
    }
    t->run = run;
    t->user = user;
    t->job_count = count;
    atomic_store(&t->finished, first);
    for (int32_t k = 0; k < t->count; k++) {
        const uint_fast64_t begin =
            (uint_fast64_t)first + (uint_fast64_t)(count - first) * (uint_fast64_t)k / (uint_fast64_t)t->count;
        const uint_fast64_t end =
            (uint_fast64_t)first + (uint_fast64_t)(count - first) * (uint_fast64_t)(k + 1) / (uint_fast64_t)t->count;
        atomic_store(&t->workers[k].share, end << 32 | begin);
    }
    atomic_fetch_add(&t->begun, 1);
    wake(t);
    work(t, 0);
    stn_wait wait = {0};
    while (atomic_load(&t->finished) < count && stn_wait_more(&wait)) {
    }
    if (atomic_load(&t->finished) < count) {
        pthread_mutex_lock(&t->mutex);
        atomic_store(&t->caller_sleeps, true);
        while (atomic_load(&t->finished) < count) {
            pthread_cond_wait(&t->done, &t->mutex);
        }
        atomic_store(&t->caller_sleeps, false);
        pthread_mutex_unlock(&t->mutex);
        stn_threads_waited_long(t, stn_wait_time(&wait));
    }
    if (atomic_load(&t->lost) > 0) {
        retire(t);
    }
}
