// SPDX-License-Identifier: Apache-2.0
#include "common/scenario.h"

#include <math.h>
#include <stdio.h>

#include "common/options.h"

static void note_test(void *user, const char *name, const char *failure, const char *skipped, double seconds) {
    (void)seconds;
    if (skipped != NULL) {
        fprintf(stderr, "skipped: %s: %s\n", name, skipped);
        return;
    }
    if (failure != NULL) {
        fprintf(stderr, "%s: %s\n", name, failure);
    }
    stn_session_add_check(user, name, failure == NULL, NAN, NAN, NULL);
}

void cli_count_tests(stn_session *session) {
    session->tested = note_test;
    session->tested_user = session;
}

void cli_judge_strictly(stn_session *session) {
    stn_figure figures[STN_FIGURE_COUNT];
    stn_statistics_figures(&session->statistics, figures);
    for (stn_figure_kind i = 0; i < STN_FIGURE_COUNT && session->stepped; i++) {
        char name[64];
        snprintf(name, sizeof name, "verdict: %s", stn_figure_name(i));
        if (stn_figure_reserved(figures, i)) {
            stn_session_add_check(session, name, false, figures[i].ratio, stn_figure_limit(i), "1");
        }
    }
}

int cli_judge_run(stn_session *session, stn_status status, const stn_error *err, const char **word) {
    if (status == STN_ERR_INTERRUPTED) {
        *word = "interrupted";
        return STN_EXIT_INTERRUPTED;
    }
    if (status < 0 && session->asserted) {
        stn_session_add_check(session, err->text, false, NAN, NAN, NULL);
        *word = "check_failed";
        return STN_EXIT_CHECK_FAILED;
    }
    if (status < 0 && session->failure.status == status) {
        *word = "diverged";
        return STN_EXIT_SOLVER_FAILED;
    }
    if (status < 0) {
        *word = "error";
        return STN_EXIT_BAD_INPUT;
    }
    if (session->asserted) { // a language that returns STN_OK all the same
        stn_session_add_check(session, "assertion", false, NAN, NAN, NULL);
    }
    if (session->exit_status != 0) {
        *word = "exit";
        return session->exit_status;
    }
    if (session->skipped != NULL) {
        fprintf(stderr, "skipped: %s\n", session->skipped);
    }
    bool failed = stn_session_failed_checks(session) > 0;
    *word = failed ? "check_failed" : "ok";
    return failed ? STN_EXIT_CHECK_FAILED : STN_EXIT_DONE;
}
