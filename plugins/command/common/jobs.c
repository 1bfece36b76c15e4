// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE // CPU_COUNT
#include "common/jobs.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/progress.h"

enum {
    FARTHEST_AHEAD = 200, // jobs begun before the first one that is not done: each holds up to three files
    FILES_LEFT = 40,      // that this process and a job may have open beside those
};
static const off_t most_output = (off_t)1 << 26; // of one job [bytes]

typedef struct job {
    pid_t process;
    bool ended, told;    // told: to `done`
    double begun, limit; // [s], monotonic clock
    cli_job_end end;
} job;

typedef struct job_run {
    const cli_jobs *jobs;
    job *list;
    int32_t begun, ended, done, ahead; // ahead: how far `begun` may be of `done`
    bool stopped;                      // by `done`
    int interrupt;                     // signal that asked us to end, 0 for none
    sigset_t waited;                   // SIGCHLD and the interrupts that are not ignored, blocked while we run
    sigset_t before;                   // what was blocked before
    pid_t parent;
} job_run;

// ------------------------------------------------------------------------------------------------------------ one job

static void close_files(job *j) {
    if (j->end.output != NULL) {
        fclose(j->end.output);
    }
    if (j->end.error != NULL) {
        fclose(j->end.error);
    }
    j->end.output = j->end.error = NULL;
}

/// In the child, which a signal of the terminal does not reach: the parent ends it.
static void run_work(const job_run *run, int32_t index) {
    job *j = &run->list[index];
    setpgid(0, 0);
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL); // a job without end does not outlive the command
    if (getppid() != run->parent) {
        _exit(1);
    }
#endif
    sigprocmask(SIG_SETMASK, &run->before, NULL);
    int nothing = open("/dev/null", O_RDONLY);
    if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 || dup2(fileno(j->end.output), STDOUT_FILENO) < 0 ||
        dup2(fileno(j->end.error), STDERR_FILENO) < 0) {
        _exit(1);
    }
    for (int32_t i = run->done; i <= index; i++) {
        close_files(&run->list[i]);
    }
    int code = run->jobs->work(run->jobs->user, index);
    fflush(NULL);
    _exit(code);
}

/// A file of no name that programs which a job executes do not inherit beside its stdout and stderr.
static FILE *open_file(void) {
    FILE *file = tmpfile();
    if (file != NULL) {
        fcntl(fileno(file), F_SETFD, FD_CLOEXEC);
    }
    return file;
}

static stn_status begin_job(job_run *run, stn_error *err) {
    int32_t index = run->begun;
    job *j = &run->list[index];
    j->end = (cli_job_end){.index = index, .output = open_file(), .error = open_file()};
    if (j->end.output == NULL || j->end.error == NULL) {
        int error = errno;
        close_files(j);
        return stn_fail(err, STN_ERR_FILE, "no temporary file for the output of a process: %s", strerror(error));
    }
    if (run->jobs->prepare != NULL) {
        run->jobs->prepare(run->jobs->user, index);
    }
    fflush(NULL);
    j->begun = cli_seconds_now();
    const cli_jobs *jobs = run->jobs;
    j->limit = j->begun + (jobs->limit_of != NULL ? jobs->limit_of(jobs->user, index) : jobs->limit_s);
    j->process = fork();
    if (j->process == 0) {
        run_work(run, index);
    }
    if (j->process < 0) {
        int error = errno;
        close_files(j);
        return stn_fail(err, STN_ERR_FILE, "cannot start a process: %s", strerror(error));
    }
    setpgid(j->process, j->process); // here as well: it may be ended before it came to do so
    run->begun++;
    return STN_OK;
}

static void note_end(job_run *run, job *j, int status, bool late) {
    j->ended = true;
    j->end.seconds = cli_seconds_now() - j->begun;
    j->end.outcome = late ? CLI_JOB_TIMEOUT : (WIFSIGNALED(status) ? CLI_JOB_CRASHED : CLI_JOB_EXITED);
    j->end.code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
    rewind(j->end.output);
    rewind(j->end.error);
    run->ended++;
    if (run->jobs->progress != NULL) {
        run->jobs->progress(run->jobs->user, run->ended);
    }
}

/// Ends a job, where it has not ended by itself, with what it started, and reaps it.
static int end_job(const job *j) {
    int status = SIGKILL; // should somebody else have reaped it
    kill(-j->process, SIGKILL);
    while (waitpid(j->process, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

/// Not reaped yet: its process group is still its own.
static bool has_ended(const job *j) {
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)j->process, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == j->process;
}

// ----------------------------------------------------------------------------------------------------------- all jobs

static stn_status run_jobs(job_run *run, stn_error *err) {
    const cli_jobs *jobs = run->jobs;
    while (run->done < jobs->count && !run->stopped && run->interrupt == 0) {
        stn_status status = STN_OK;
        while (status == STN_OK && run->begun < jobs->count && run->begun - run->ended < jobs->at_once &&
               run->begun - run->done < run->ahead) {
            status = begin_job(run, err);
        }
        if (status != STN_OK && run->begun == run->ended) {
            return status; // while others run, it is tried again when one of them has ended
        }
        int32_t ended = run->ended;
        double now = cli_seconds_now(), seconds = 0.1; // until the next job is late, at most
        for (int32_t i = run->done; i < run->begun; i++) {
            job *j = &run->list[i];
            if (j->ended) {
                continue;
            }
            bool over = has_ended(j);
            struct stat output, error;
            bool floods = fstat(fileno(j->end.output), &output) == 0 && fstat(fileno(j->end.error), &error) == 0 &&
                          output.st_size + error.st_size > most_output; // an endless loop that prints fills the disk
            if (floods) { // asked also of what has ended, or it would hang on how fast a job is
                end_job(j);
                note_end(run, j, SIGXFSZ, false); // as with a limit of the system's
            } else if (over) {
                note_end(run, j, end_job(j), false);
            } else if (now >= j->limit) {
                note_end(run, j, end_job(j), true);
            } else {
                seconds = fmin(seconds, j->limit - now);
            }
        }
        for (int32_t i = run->done; i < run->begun && !run->stopped && (jobs->any_order || run->list[i].ended); i++) {
            job *j = &run->list[i];
            if (j->ended && !j->told) {
                j->told = true;
                run->stopped = !jobs->done(jobs->user, &j->end);
                close_files(j);
            }
        }
        while (run->done < run->begun && run->list[run->done].told) {
            run->done++;
        }
        if (run->ended == ended && run->done < jobs->count && !run->stopped) {
            // Sleeps until a child ends, an interrupt comes or the time is over.
            struct timespec pause = {.tv_sec = 0, .tv_nsec = (long)(1e9 * seconds) + 1};
            int number = sigtimedwait(&run->waited, NULL, &pause);
            run->interrupt = number > 0 && number != SIGCHLD ? number : 0;
            if (jobs->progress != NULL) {
                jobs->progress(jobs->user, run->ended);
            }
        }
    }
    return STN_OK;
}

/// An interrupt that is ignored (nohup, a background job of a script) stays so: waited for, it would come all the same.
static void wait_for(job_run *run, int number) {
    struct sigaction action;
    if (sigaction(number, NULL, &action) == 0 && action.sa_handler != SIG_IGN) {
        sigaddset(&run->waited, number);
    }
}

int32_t cli_jobs_usual(void) {
#ifdef __linux__
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0 && CPU_COUNT(&allowed) > 0) {
        return CPU_COUNT(&allowed);
    }
#endif
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (int32_t)online : 1;
}

stn_status cli_jobs_run(const cli_jobs *jobs, stn_error *err) {
    job_run run = {.jobs = jobs,
                   .list = calloc((size_t)jobs->count + 1, sizeof *run.list),
                   .parent = getpid(),
                   .ahead = FARTHEST_AHEAD};
    // two files for each job that has begun and is not done, and one that `prepare` may make, of as many as this
    // process may have
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 3 * FARTHEST_AHEAD + FILES_LEFT) {
        run.ahead = limit.rlim_cur > FILES_LEFT + 3 ? ((int32_t)limit.rlim_cur - FILES_LEFT) / 3 : 1;
    }
    struct sigaction usual = {.sa_handler = SIG_DFL}, before;
    if (run.list == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "out of memory");
    }
    sigemptyset(&run.waited);
    sigaddset(&run.waited, SIGCHLD);
    wait_for(&run, SIGINT);
    wait_for(&run, SIGTERM);
    sigaction(SIGCHLD, &usual, &before); // ignored, there would be no exit statuses
    sigprocmask(SIG_BLOCK, &run.waited, &run.before);
    stn_status status = run_jobs(&run, err);
    // running jobs may have begun jobs of their own, in process groups that we do not know: they are asked to end those
    static const struct timespec pause = {.tv_nsec = 2000000};
    for (int32_t i = run.done; i < run.begun; i++) {
        if (!run.list[i].ended) {
            kill(run.list[i].process, SIGTERM);
        }
    }
    double patience = cli_seconds_now() + 1.0;
    for (int32_t i = run.done; i < run.begun; i++) {
        while (!run.list[i].ended && !has_ended(&run.list[i]) && cli_seconds_now() < patience) {
            nanosleep(&pause, NULL);
        }
    }
    for (int32_t i = run.done; i < run.begun; i++) {
        if (!run.list[i].ended) {
            end_job(&run.list[i]);
        }
        close_files(&run.list[i]);
    }
    free(run.list);
    sigprocmask(SIG_SETMASK, &run.before, NULL);
    sigaction(SIGCHLD, &before, NULL);
    if (run.interrupt != 0) {
        if (!jobs->survives) {
            raise(run.interrupt);
        }
        return stn_fail(err, STN_ERR_INTERRUPTED, "interrupted"); // or a handler had other plans
    }
    return status;
}

void cli_job_print(FILE *from, FILE *to) {
    char text[4096];
    for (size_t size = fread(text, 1, sizeof text, from); size > 0; size = fread(text, 1, sizeof text, from)) {
        fwrite(text, 1, size, to);
    }
    fflush(to);
}
