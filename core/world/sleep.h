// SPDX-License-Identifier: Apache-2.0
// Trees that sleep: docs/sleeping.md.
#ifndef STICTION_CORE_WORLD_SLEEP_H
#define STICTION_CORE_WORLD_SLEEP_H

#include "world/world.h"

/// Is what falls with that gravity [m/s^2] faster than sleep_velocity after sleep_time? Refused where it is not.
stn_status stn_sleep_check_bound(const stn_world_options *options, stn_vec3 gravity, stn_error *err);
/// After the colliders are known. Nothing is made where the options let nothing sleep.
stn_status stn_setup_prepare_sleep(step_setup *setup, stn_error *err);
bool stn_sleep_is_on(const step_setup *setup);

/// Fills frame->asleep, at the start of a step.
void stn_step_leave_sleepers(const step_setup *setup, const state_view *state, step_frame *frame);
/// After the inputs, where controllers or the caller may have changed them: groups whose affine forces are others than
/// when they fell asleep are in the step.
void stn_step_wake_by_forces(const step_setup *setup, const state_view *state, step_frame *frame);
/// After assembly: groups that got a constraint are in the step, which has to form again. False: there are none.
bool stn_step_wake_by_constraints(const step_setup *setup, const state_view *state, step_frame *frame);
/// (collider_count) colliders that move in this step, or may: pairs of two others are not looked at. NULL: no memory.
bool *stn_step_active_colliders(const step_setup *setup, const state_view *state, const step_frame *frame);
/// When the next state is known: who falls asleep, and frame->sleep_next.
stn_status stn_step_fall_asleep(const step_setup *setup, const state_view *state, step_frame *frame, stn_error *err);
/// Before the contact cache is written: contacts of sleeping trees come into the problem as it is shown and remembered.
stn_status stn_step_show_sleepers(const step_setup *setup, step_frame *frame, const step_services *services,
                                  stn_error *err);
/// Lists those contacts anew after trees fell asleep or woke; the frame still has the last step.
stn_status stn_step_keep_sleepers(const step_setup *setup, const state_view *state, step_frame *frame,
                                  const step_services *services, stn_error *err);
/// Makes those contacts anew of a state that came from elsewhere. The problem is solved, with no tree left out.
stn_status stn_step_recall_sleepers(const step_setup *setup, const state_view *state, step_frame *frame,
                                    const step_services *services, stn_error *err);
void stn_step_release_sleepers(stn_context *context, step_frame *frame);
/// After a step: does everything sleep that can move, so that without an input the next step changes nothing but time?
bool stn_step_is_still(const step_setup *setup, const stn_state *state, const step_frame *frame);

/// Everything is awake; returns whether something slept.
bool stn_state_wake_all(stn_state *state);
/// Numbers of q or v are about to be overwritten: the groups of trees that they change are awake; all, where what they
/// change cannot sleep. Returns whether one slept.
bool stn_state_wake_set(const step_setup *setup, stn_state *state, bool is_q, size_t start, size_t count,
                        const void *values);

#endif
