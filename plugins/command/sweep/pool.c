// SPDX-License-Identifier: Apache-2.0
// A worker gets numbers of runs over its socket and sends reports back. It is not trusted: only its parent says how a
// run ended.
#define _GNU_SOURCE // SOCK_CLOEXEC
#include "pool.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/frames.h"
#include "common/progress.h"

static const off_t most_output = (off_t)1 << 26; // of one run on stderr [bytes]

typedef struct worker {
    pid_t process; // 0: none
    int socket;
    FILE *error;         // its stderr
    int32_t run;         // -1: none
    bool sent;           // the worker has it
    int32_t made;        // runs by this process
    double begun, limit; // of the run [s], monotonic clock
} worker;

typedef struct crew {
    const cli_pool *pool;
    worker *workers;
    struct pollfd *polled; // (workers + 1)
    cli_frame frame;
    bool over, stopped;
    int interrupt;           // signal that asked us to end, 0 for none
    sigset_t waited, before; // interrupts that are not ignored, blocked while we run; what was blocked before
    pid_t parent;
} crew;

// ---------------------------------------------------------------------------------------------------------- the worker

static void work(const crew *c, int32_t index, int socket) {
    const cli_pool *pool = c->pool;
    setpgid(0, 0); // a signal of the terminal does not reach it: the parent ends it
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != c->parent) {
        _exit(1);
    }
#endif
    sigprocmask(SIG_SETMASK, &c->before, NULL);
    int nothing = open("/dev/null", O_RDWR);
    if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 || dup2(nothing, STDOUT_FILENO) < 0 ||
        dup2(fileno(c->workers[index].error), STDERR_FILENO) < 0) {
        _exit(1);
    }
    for (int32_t i = 0; i < pool->workers; i++) {
        if (c->workers[i].process > 0 || i == index) {
            close(c->workers[i].socket);
            fclose(c->workers[i].error);
        }
    }
    if (pool->watched >= 0) {
        close(pool->watched);
    }
    cli_frame order = {0};
    while (cli_frame_read(socket, &order)) {
        char *text = NULL;
        size_t size = 0;
        FILE *report = open_memstream(&text, &size);
        int code = report != NULL ? pool->make(pool->user, order.peer, report) : 1;
        if (code != 0 || fclose(report) != 0) {
            _exit(code != 0 ? code : 1);
        }
        fflush(NULL);
        if (!cli_frame_write(socket, order.peer, text, size, NULL, 0)) {
            _exit(1);
        }
        free(text);
    }
    _exit(0);
}

static stn_status start(crew *c, int32_t index, stn_error *err) {
    worker *w = &c->workers[index];
    int ends[2] = {-1, -1};
    FILE *error = tmpfile();
    bool made = error != NULL && fcntl(fileno(error), F_SETFD, FD_CLOEXEC) == 0 &&
                fcntl(fileno(error), F_SETFL, O_APPEND) == 0 &&
                socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0;
    fflush(NULL);
    if (made) {
        w->error = error;
        w->socket = ends[0];
        w->made = 0;
        w->process = fork();
        if (w->process == 0) {
            work(c, index, ends[1]);
        }
        made = w->process > 0;
    }
    if (!made) {
        int number = errno;
        w->process = 0;
        if (error != NULL) {
            fclose(error);
        }
        if (ends[0] >= 0) {
            close(ends[0]);
            close(ends[1]);
        }
        return stn_fail(err, STN_ERR_FILE, "cannot start a process: %s", strerror(number));
    }
    setpgid(w->process, w->process); // here as well: it may be ended before it came to do so
    close(ends[1]);
    return STN_OK;
}

/// Ends it, where it has not ended by itself, with what it started.
static int end(worker *w) {
    int status = SIGKILL; // should somebody else have reaped it
    kill(-w->process, SIGKILL);
    while (waitpid(w->process, &status, 0) < 0 && errno == EINTR) {
    }
    close(w->socket);
    fclose(w->error);
    w->process = 0;
    return status;
}

/// Not reaped yet: its process group is still its own.
static bool has_ended(const worker *w) {
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)w->process, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == w->process;
}

// --------------------------------------------------------------------------------------------------------------- a run

static void tell(crew *c, worker *w, cli_job_outcome outcome, int code, const char *report) {
    cli_pool_end e = {w->run, outcome, code, cli_seconds_now() - w->begun, report};
    w->run = -1;
    w->sent = false;
    c->stopped = !c->pool->done(c->pool->user, &e) || c->stopped;
    if (c->pool->progress != NULL) {
        c->pool->progress(c->pool->user);
    }
}

/// A process that is to have no say in the next run.
static void tell_lost(crew *c, worker *w, int status) {
    bool crashed = WIFSIGNALED(status);
    if (w->made > 0) {
        w->sent = false; // once more
    } else {
        tell(c, w, crashed ? CLI_JOB_CRASHED : CLI_JOB_EXITED, crashed ? WTERMSIG(status) : WEXITSTATUS(status), "");
    }
}

static bool floods(const worker *w) {
    struct stat error;
    return fstat(fileno(w->error), &error) == 0 && error.st_size > most_output;
}

static void hear_worker(crew *c, worker *w) {
    // an endless loop that prints fills the disk; asked also of what has ended, or it would hang on how fast a run is
    if (!cli_frame_read(w->socket, &c->frame)) {
        bool flooded = floods(w);
        int status = end(w);
        if (flooded) {
            tell(c, w, CLI_JOB_CRASHED, SIGXFSZ, ""); // as with a limit of the system's
        } else {
            tell_lost(c, w, status);
        }
        return;
    }
    bool flooded = floods(w);
    w->made++;
    if (flooded || !c->pool->many) {
        end(w);
    }
    tell(c, w, flooded ? CLI_JOB_CRASHED : CLI_JOB_EXITED, flooded ? SIGXFSZ : 0, flooded ? "" : c->frame.bytes);
}

/// The workers whose time is over, or that were ended without a word.
static void look_after(crew *c, double now) {
    for (int32_t i = 0; i < c->pool->workers && !c->stopped; i++) {
        worker *w = &c->workers[i];
        struct pollfd waiting = {.fd = w->socket, .events = POLLIN};
        if (!w->sent || poll(&waiting, 1, 0) > 0) {
            continue; // what it has to say is heard first
        }
        if (floods(w)) {
            end(w);
            tell(c, w, CLI_JOB_CRASHED, SIGXFSZ, "");
        } else if (now >= w->limit) {
            end(w);
            tell(c, w, CLI_JOB_TIMEOUT, 0, "");
        } else if (has_ended(w) && poll(&waiting, 1, 0) == 0) {
            tell_lost(c, w, end(w)); // a program that it left behind has its socket
        }
    }
}

// ------------------------------------------------------------------------------------------------------------ all runs

static int32_t count_busy(const crew *c) {
    int32_t busy = 0;
    for (int32_t i = 0; i < c->pool->workers; i++) {
        busy += c->workers[i].sent;
    }
    return busy;
}

/// Gives each worker that has none a run.
static stn_status hand_out(crew *c, stn_error *err) {
    const cli_pool *pool = c->pool;
    for (int32_t i = 0; i < pool->workers && !c->stopped; i++) {
        worker *w = &c->workers[i];
        if (w->sent) {
            continue;
        }
        if (w->run < 0 && !c->over) {
            int32_t next = pool->next(pool->user);
            c->over = next == CLI_POOL_OVER;
            w->run = next >= 0 ? next : -1;
        }
        if (w->run < 0) {
            continue;
        }
        stn_status status = w->process == 0 ? start(c, i, err) : STN_OK;
        if (status < 0) {
            return count_busy(c) > 0 ? STN_OK : status; // it is tried again when one of them has ended
        }
        w->begun = cli_seconds_now();
        w->limit = w->begun + pool->limit_s;
        w->sent = true;
        if (ftruncate(fileno(w->error), 0) != 0 || !cli_frame_write(w->socket, w->run, NULL, 0, NULL, 0)) {
            continue; // it is gone, which is heard
        }
    }
    return STN_OK;
}

static void wait_for_words(crew *c, bool *heard) {
    const cli_pool *pool = c->pool;
    double now = cli_seconds_now(), seconds = 0.1; // until the next run is late, at most
    for (int32_t i = 0; i < pool->workers; i++) {
        const worker *w = &c->workers[i];
        c->polled[i] = (struct pollfd){.fd = w->sent ? w->socket : -1, .events = POLLIN};
        seconds = w->sent ? fmin(seconds, fmax(w->limit - now, 0.0)) : seconds;
    }
    c->polled[pool->workers] = (struct pollfd){.fd = pool->watched, .events = POLLIN};
    int count = poll(c->polled, (nfds_t)pool->workers + 1, (int)ceil(1e3 * seconds));
    for (int32_t i = 0; i <= pool->workers && count <= 0; i++) {
        c->polled[i].revents = 0;
    }
    *heard = count > 0;
}

static stn_status run_all(crew *c, stn_error *err) {
    const cli_pool *pool = c->pool;
    double looked = cli_seconds_now();
    while (!c->stopped && c->interrupt == 0) {
        stn_status status = hand_out(c, err);
        if (status < 0 || (c->over && count_busy(c) == 0)) {
            return status;
        }
        bool heard;
        wait_for_words(c, &heard);
        for (int32_t i = 0; i < pool->workers && !c->stopped; i++) {
            if (c->polled[i].revents != 0) {
                hear_worker(c, &c->workers[i]);
            }
        }
        if (!c->stopped && c->polled[pool->workers].revents != 0) {
            c->stopped = !pool->heard(pool->user);
        }
        double now = cli_seconds_now();
        if (!heard || now - looked > 0.1) {
            looked = now;
            look_after(c, now);
            if (pool->progress != NULL) {
                pool->progress(pool->user);
            }
        }
        int number = sigtimedwait(&c->waited, NULL, &(struct timespec){0});
        c->interrupt = number > 0 ? number : 0;
    }
    return STN_OK;
}

/// An interrupt that is ignored (nohup, a background job of a script) stays so: waited for, it would come all the same.
static void wait_for(crew *c, int number) {
    struct sigaction action;
    if (sigaction(number, NULL, &action) == 0 && action.sa_handler != SIG_IGN) {
        sigaddset(&c->waited, number);
    }
}

stn_status cli_pool_run(const cli_pool *pool, stn_error *err) {
    crew c = {.pool = pool,
              .workers = calloc((size_t)pool->workers, sizeof *c.workers),
              .polled = calloc((size_t)pool->workers + 1, sizeof *c.polled),
              .parent = getpid()};
    if (c.workers == NULL || c.polled == NULL) {
        free(c.workers);
        free(c.polled);
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    for (int32_t i = 0; i < pool->workers; i++) {
        c.workers[i].run = -1;
    }
    struct sigaction usual = {.sa_handler = SIG_DFL}, before;
    sigemptyset(&c.waited);
    wait_for(&c, SIGINT);
    wait_for(&c, SIGTERM);
    sigaction(SIGCHLD, &usual, &before); // ignored, there would be no exit statuses
    sigprocmask(SIG_BLOCK, &c.waited, &c.before);
    stn_status status = run_all(&c, err);
    for (int32_t i = 0; i < pool->workers; i++) {
        if (c.workers[i].process > 0) {
            end(&c.workers[i]);
        }
    }
    free(c.workers);
    free(c.polled);
    cli_frame_clear(&c.frame);
    sigprocmask(SIG_SETMASK, &c.before, NULL);
    sigaction(SIGCHLD, &before, NULL);
    return c.interrupt != 0 ? stn_fail(err, STN_ERR_INTERRUPTED, "interrupted") : status;
}
