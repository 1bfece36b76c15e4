// SPDX-License-Identifier: Apache-2.0
// stiction sweep_mpi --socket N: passes messages between the ranks of MPI and a process at the other end of a socket,
// which is the sweep's (plugins/command/sweep/ranks.h). Everything ends when that process of the first rank does.
// MPI is asked, not waited for: most libraries of it wait with a whole processor, which the runs need.
#define _GNU_SOURCE // ppoll
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

#include <mpi.h>

#include "common/frames.h"
#include "common/options.h"

/// What a message of MPI is.
enum {
    WORD = 1, // for the process of the rank
    LEFT,     // of a rank: its process is gone
    END,      // of the first rank: all processes are to end
};

typedef struct relay {
    int socket, rank, count;
    bool left;       // our process is gone
    bool ended;      // END has come, or was sent
    int32_t present; // on the first rank: others whose processes are not gone
    cli_frame frame; // from our process
    char *bytes;     // from a rank
    size_t room;
} relay;

static bool tell_process(relay *r, int peer, const void *bytes, int size) {
    return cli_frame_write(r->socket, peer, bytes, (size_t)size, NULL, 0);
}

static void note_left(relay *r) {
    r->left = true;
    if (r->rank > 0) {
        MPI_Send(NULL, 0, MPI_BYTE, 0, LEFT, MPI_COMM_WORLD);
        return;
    }
    for (int i = 1; i < r->count; i++) {
        MPI_Send(NULL, 0, MPI_BYTE, i, END, MPI_COMM_WORLD);
    }
    r->ended = true;
}

/// A message of our process, or its end.
static void hear_process(relay *r) {
    if (!cli_frame_read(r->socket, &r->frame)) {
        note_left(r);
    } else if (r->frame.peer >= 0 && r->frame.peer < r->count && r->frame.peer != r->rank) {
        MPI_Send(r->frame.bytes, r->frame.size, MPI_BYTE, r->frame.peer, WORD, MPI_COMM_WORLD);
    }
}

/// A message of another rank, if one is there; false: none.
static bool hear_rank(relay *r) {
    int there = 0, size = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &status);
    if (!there) {
        return false;
    }
    MPI_Get_count(&status, MPI_BYTE, &size);
    if ((size_t)size > r->room) {
        char *grown = realloc(r->bytes, (size_t)size);
        if (grown == NULL) {
            MPI_Abort(MPI_COMM_WORLD, STN_EXIT_BAD_INPUT);
        }
        r->bytes = grown;
        r->room = (size_t)size;
    }
    MPI_Recv(r->bytes, size, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (status.MPI_TAG == WORD && !r->left) {
        tell_process(r, status.MPI_SOURCE, r->bytes, size); // one that is gone is heard
    } else if (status.MPI_TAG == LEFT) {
        r->present--;
        tell_process(r, status.MPI_SOURCE, NULL, 0);
    } else if (status.MPI_TAG == END) {
        r->ended = true;
        shutdown(r->socket, SHUT_WR);
    }
    return true;
}

/// A process that waits for room has it soon: we read before we write.
static void pass_all(relay *r) {
    long nap = 0; // [ns]
    while (!r->left || !r->ended || r->present > 0) {
        struct pollfd ours = {.fd = r->left ? -1 : r->socket, .events = POLLIN | POLLOUT};
        poll(&ours, 1, 0);
        bool heard = (ours.revents & (POLLIN | POLLHUP)) != 0;
        if (heard) {
            hear_process(r);
        }
        bool room = r->left || (ours.revents & POLLOUT) != 0;
        heard = (room && hear_rank(r)) || heard;
        nap = heard ? 0 : nap < 200000 ? nap + 20000 : nap;
        if (nap > 0) {
            ours.events = POLLIN;
            ppoll(&ours, 1, &(struct timespec){.tv_nsec = nap}, NULL);
        }
    }
}

static int run(void *self, const stn_command_call *call) {
    (void)self;
    int32_t given = CLI_UNSET;
    const cli_option options[] = {
        {"socket", 0, CLI_INT, "N", "descriptor of the socket to the sweep's process", &given},
    };
    const cli_command command = {
        "sweep_mpi",
        "",
        "Passes messages between the ranks of MPI; stiction sweep calls it under mpirun, nobody types it.",
        options,
        STN_COUNT(options),
        0,
        0};
    int status = cli_parse(&command, call->argc, call->argv, NULL);
    if (status != CLI_PROCEED) {
        return status;
    }
    int type = 0;
    socklen_t size = sizeof type;
    if (given == CLI_UNSET || getsockopt(given, SOL_SOCKET, SO_TYPE, &type, &size) != 0) {
        return cli_fail(&command, "is called by stiction sweep: mpirun -n 4 stiction sweep SCRIPT ...");
    }
    relay r = {.socket = given};
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &r.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &r.count);
    r.present = r.rank == 0 ? r.count - 1 : 0;
    tell_process(&r, r.rank, &r.count, sizeof r.count);
    pass_all(&r);
    MPI_Finalize();
    cli_frame_clear(&r.frame);
    free(r.bytes);
    return STN_EXIT_DONE;
}

CLI_WORD(sweep_mpi, "passes messages between the ranks of mpirun -n N stiction sweep", run)
