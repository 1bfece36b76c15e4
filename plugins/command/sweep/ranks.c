// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE // SOCK_CLOEXEC
#include "ranks.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/frames.h"

static const char word[] = "sweep_mpi";

/// What those who start processes by MPI tell each of them: Open MPI; MPICH, Intel and Slurm by PMI.
static const struct {
    const char *count, *rank;
} places[] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"}, {"PMI_SIZE", "PMI_RANK"}};

/// Has mpirun started more than this one? Then whether this is the first of them.
static bool has_others(bool *first) {
    for (int32_t i = 0; i < STN_COUNT(places); i++) {
        const char *text = getenv(places[i].count), *rank = getenv(places[i].rank);
        double count;
        if (text != NULL && stn_parse_real(text, &count)) {
            *first = rank == NULL || strcmp(rank, "0") == 0;
            return count > 1.0;
        }
    }
    return false;
}

/// In the child: which one of how many.
static int take_place(const cli_command *command, cli_ranks *ranks) {
    cli_frame hello = {0};
    setpgid(0, 0); // who ends the process of MPI leaves this one the time to say how far it came
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGTERM); // an interrupt, which runs do not outlive
#endif
    for (int32_t i = 0; i < STN_COUNT(places); i++) {
        unsetenv(places[i].count); // a sweep that a script starts is alone
    }
    if (!cli_frame_read(ranks->socket, &hello) || hello.size != sizeof ranks->count) {
        cli_frame_clear(&hello);
        return cli_fail(command, "the ranks of mpirun do not find each other");
    }
    ranks->rank = hello.peer;
    memcpy(&ranks->count, hello.bytes, sizeof ranks->count);
    cli_frame_clear(&hello);
    return CLI_PROCEED;
}

int cli_ranks_begin(const cli_command *command, const stn_command_call *call, cli_ranks *ranks) {
    *ranks = (cli_ranks){.socket = -1, .count = 1};
    bool first = true;
    if (!has_others(&first)) {
        return CLI_PROCEED;
    }
    stn_error err = {0};
    stn_instance *relay = NULL;
    if (stn_plugin_load(call->context, STN_KIND_COMMAND, word, &err) < 0 ||
        stn_instance_create(call->context, STN_KIND_COMMAND, word, NULL, 0, &relay, &err) < 0) {
        return cli_fail(command,
                        "mpirun started several of these, and this build has no MPI: install libopenmpi-dev and "
                        "openmpi-bin and build again, or give each a --shard");
    }
    int ends[2];
    pid_t child = -1;
    fflush(NULL);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0) {
        child = fork();
        if (child < 0) {
            close(ends[0]);
            close(ends[1]);
        }
    }
    if (child < 0) {
        int error = errno;
        stn_instance_destroy(relay);
        return cli_fail(command, "cannot start a process: %s", strerror(error));
    }
    if (child == 0) {
        close(ends[1]);
        stn_instance_destroy(relay);
        ranks->socket = ends[0];
        return take_place(command, ranks);
    }
    close(ends[0]);
    char name[] = "sweep_mpi", option[] = "--socket", number[16];
    snprintf(number, sizeof number, "%d", ends[1]);
    char *argv[] = {name, option, number, NULL};
    stn_command_call passed = *call;
    passed.argc = STN_COUNT(argv) - 1;
    passed.argv = argv;
    int exit = relay->desc->ops.command->run(relay->self, &passed), status = 0;
    close(ends[1]);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    stn_instance_destroy(relay);
    if (exit != STN_EXIT_DONE) {
        return exit;
    }
    bool ended = WIFEXITED(status);
    return ended ? WEXITSTATUS(status) : first ? STN_EXIT_BAD_INPUT : STN_EXIT_DONE; // of another the first one tells
}
