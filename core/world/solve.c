// SPDX-License-Identifier: Apache-2.0
// The contact problem of a step through the solver: law, solver, completion of v or gamma, certificate.
#include "world/world.h"

/// What the problem solver found out, into the report of the step.
static void report_solve(stn_world *world, stn_status status, const stn_solve_report *solved) {
    stn_step_report *report = &world->frame.report;
    report->status = status;
    report->iterations = solved->iterations;
    report->island_count = solved->island_count;
    report->not_converged = solved->not_converged;
    report->cost = solved->cost;
    report->reason = solved->reason;
    if (world->frame.formed_loosely && status >= 0) {
        report->status = STN_NOT_CONVERGED;
        report->not_converged += 1;
        report->reason = "integrator";
    }
    report->contact_count = world->frame.contacts.count;
    report->constraint_count = world->frame.problem.constraint_count;
    report->contact_J = world->frame.certificate.contact_J;
    report->contact_start_J = world->frame.certificate.contact_start_J;
    if (world->setup->options.profile) {
        report->stage_us[STN_STAGE_ASSEMBLY] += solved->prepare_us;
        report->stage_us[STN_STAGE_CERTIFICATE] += solved->certificate_us;
        report->stage_us[STN_STAGE_SOLVE] -=
            solved->prepare_us + solved->certificate_us; // the step adds the whole call
    } else {
        report->stage_us[STN_STAGE_SOLVE] = solved->solve_us;
    }
}

stn_status stn_step_solve(stn_world *world, stn_error *err) {
    world->frame.solution.v = STN_ARENA(world->frame.arena, world->frame.problem.nv, double);
    world->frame.solution.gamma = STN_ARENA(world->frame.arena, world->frame.problem.row_count, double);
    if (world->frame.solution.v == NULL || world->frame.solution.gamma == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "step: out of memory");
    }
    stn_step_check_start(world);
    stn_step_soften(world);
    stn_solve_request request = {
        .inverse = world->services.inverse,
        .law_memory = world->frame.law_memory,
        .solver_memory = world->frame.solver_memory,
        .certificate_flags = world->setup->options.certificate_light ? STN_CERTIFICATE_LIGHT : 0,
        .phase_us = world->setup->options.profile ? world->frame.report.phase_us : NULL,
    };
    stn_solve_report solved = {0};
    stn_status status = stn_problem_solve(world->services.solver, &world->frame.problem, &request,
                                          &world->frame.solution, &solved, &world->frame.certificate, err);
    report_solve(world, status, &solved);
    if (status >= 0) {
        stn_step_check_resolution(world);
        stn_step_watch_hops(world);
    }
    return status;
}
