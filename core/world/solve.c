// SPDX-License-Identifier: Apache-2.0
// The contact problem of a step through the solver: law, solver, completion of v or gamma, certificate. Integrators
// that make the step themselves take the solver's place.
#include "problem/regularize.h"
#include "world/world.h"

/// Rigid contacts for solvers of exact friction: as stiff as the step can resolve.
///
///     R_n = beta^2/(4 pi^2) w,  k = 1/(dt R_n (dt + tau_d)),  beta = 0.3:  a period of 0.3 steps   S(29)
///
/// Bodies that overlap a little from two sides, and bodies on more contacts than they need, have no or no unique
/// impulses where contacts are rigid: those found grow by the sweep until friction lets go somewhere. With this k there
/// is always one set of normal impulses; a body at rest on the ground sinks in by about g dt^2/100. Friction is
/// Coulomb's, without compliance, so that nothing creeps. Impacts that bounce by their restitution are instants and
/// stay rigid. A law has its own near-rigid R. With true stiction contacts stay rigid, too: its anchors let go where
/// contacts contradict each other (docs/stiction.md).
static void soften(const step_setup *setup, step_frame *frame) {
    stn_problem *p = &frame->problem;
    if (setup->options.exact_contacts || frame->exact_contacts || setup->options.stiction ||
        setup->plugin[STN_KIND_LAW] != NULL) {
        return;
    }
    for (int32_t i = 0; i < p->constraint_count; i++) {
        stn_constraint *c = &p->constraints[i];
        double speed;
        bool rigid = c->kind == STN_CONSTRAINT_CONTACT && isinf(c->stiffness) && c->w > 0.0;
        if (rigid && !problem_impact(p, c, &speed)) {
            static const double beta = 0.3;
            double R = beta * beta / (4.0 * STN_PI * STN_PI) * c->w;
            c->stiffness = 1.0 / (p->dt * R * (p->dt + c->relaxation_time));
        }
    }
}

/// The integrator's own solution.
static stn_status solve_by_integrator(const step_setup *setup, const state_view *state, step_frame *frame,
                                      const step_services *services, stn_solve_info *info, stn_error *err) {
    const stn_instance *integrator = setup->plugin[STN_KIND_INTEGRATOR];
    stn_integrator_view view = stn_step_integrator_view(setup, state, frame, services);
    stn_error said;
    view.effort = state->effort;
    view.elements = stn_step_element_inputs(setup, state, frame);
    frame->reaction = STN_ARENA_ZEROED(frame->arena, setup->model->nv, double);
    if (view.elements == NULL || frame->reaction == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "step: out of memory");
    }
    frame->place.plugin = integrator;
    stn_answer_begin(&said);
    stn_status status =
        integrator->desc->ops.integrator->solve(integrator->self, &view, frame->integrator_next, &frame->problem,
                                                &frame->solution, frame->reaction, info, &said);
    status = stn_answer_end(status, &said);
    return status < 0 ? stn_fail(err, status, "integrator %s: %s", integrator->desc->id, said.text) : STN_OK;
}

stn_status stn_step_solve(const step_setup *setup, const state_view *state, step_frame *frame, step_services *services,
                          stn_error *err) {
    const uint32_t needs = setup->plugin[STN_KIND_SOLVER]->desc->ops.solver->needs;
    const bool by_integrator = stn_setup_integrator_solves(setup);
    bool apart = (needs & STN_NEEDS_V_POSITION) != 0 || by_integrator;
    frame->solution.v = STN_ARENA(frame->arena, frame->problem.nv, double);
    frame->solution.gamma = STN_ARENA(frame->arena, frame->problem.row_count, double);
    frame->solution.v_position = apart ? STN_ARENA(frame->arena, frame->problem.nv, double) : NULL;
    if (frame->solution.v == NULL || frame->solution.gamma == NULL || (apart && frame->solution.v_position == NULL)) {
        return stn_fail(err, STN_ERR_MEMORY, "step: out of memory");
    }
    stn_step_check_start(setup, state, frame, services);
    if ((needs & STN_NEEDS_RIGID_CONTACTS) == 0) {
        soften(setup, frame);
    }
    stn_solve_request request = {
        .inverse = services->inverse,
        .law_memory = frame->law_memory,
        .solver_memory = frame->solver_memory,
        .certificate_flags = setup->options.certificate_light ? STN_CERTIFICATE_LIGHT : 0,
        .phase_us = setup->options.profile ? frame->report.phase_us : NULL,
    };
    stn_step_report *report = &frame->report;
    stn_solve_report solved = {.unheld = {-1, -1}};
    stn_solve_info info = {.cost = (double)NAN, .reason = "approximate"};
    double own_us = 0.0;
    frame->reaction = NULL;
    if (by_integrator) {
        const double start = stn_clock_us();
        stn_status made = solve_by_integrator(setup, state, frame, services, &info, err);
        if (made != STN_OK) {
            return made;
        }
        own_us = stn_clock_us() - start;
        request.given = &info;
    }
    if (!by_integrator) {
        frame->place.plugin = setup->plugin[STN_KIND_SOLVER];
    }
    stn_status status = stn_problem_solve(services->solver, &frame->problem, &request, &frame->solution, &solved,
                                          &frame->certificate, err);
    if (status < 0 && by_integrator) {
        stn_error_prefix(err, "integrator %s", setup->plugin[STN_KIND_INTEGRATOR]->desc->id);
    }
    if (status < 0 && solved.unheld.tree >= 0) {
        stn_step_name_dof(setup, frame, solved.unheld.tree, solved.unheld.dof, err);
        if (status == STN_ERR_UNSUPPORTED && frame->singular_by != NULL) {
            stn_error_prefix(err, "%s", frame->singular_by);
        }
    }
    report->status = status;
    report->iterations = solved.iterations;
    report->island_count = solved.island_count;
    report->not_converged = solved.not_converged;
    report->cost = solved.cost;
    report->reason = solved.reason;
    report->contradiction = solved.contradiction;
    report->fallbacks = solved.fallbacks;
    if (frame->formed_loosely && status >= 0) {
        report->status = STN_NOT_CONVERGED;
        report->not_converged += 1;
        report->reason = "integrator";
    }
    report->contact_count = frame->contacts.count;
    report->constraint_count = frame->problem.constraint_count;
    report->contact_J = frame->certificate.contact_J;
    report->contact_start_J = frame->certificate.contact_start_J;
    if (setup->options.profile) {
        report->stage_us[STN_STAGE_ASSEMBLY] += solved.prepare_us;
        report->stage_us[STN_STAGE_CERTIFICATE] += solved.certificate_us;
        report->stage_us[STN_STAGE_SOLVE] -= solved.prepare_us + solved.certificate_us; // the step adds the whole call
    } else {
        report->stage_us[STN_STAGE_SOLVE] = own_us + solved.solve_us;
    }
    if (status >= 0) {
        frame->place.plugin = NULL;
        if (!by_integrator) { // which has sub-steps of its own, and uses no law
            stn_step_check_resolution(setup, frame, services);
            stn_step_watch_hops(setup, state, frame, services);
        }
    }
    return status;
}
