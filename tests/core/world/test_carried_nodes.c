// SPDX-License-Identifier: Apache-2.0
// Coordinates set from outside take attached nodes along: set_q, poses of free and of kinematic bodies, states of other
// models.
#include "scenes.h"

#include <string.h>

#include "stn_heard.h"

static stn_vec3 vec(double x, double y, double z) {
    return stn_vec3_make(x, y, z);
}

static void assert_vec(stn_vec3 a, stn_vec3 b, double tolerance) {
    assert_near(a.x, b.x, tolerance);
    assert_near(a.y, b.y, tolerance);
    assert_near(a.z, b.z, tolerance);
}

enum { COUNT = 4 };
static const double row[3 * COUNT] = {0.0, 0.1, 1.0, 0.1, 0.0, 1.0, 0.2, 0.1, 1.1, 0.3, 0.0, 1.0};

typedef struct held_row {
    stn_world *world;
    stn_context *context;
    heard words;           // about a cloud that begins stretched, or nodes off their place
    int32_t first, second; // links of a kinematic ball and of a free one
} held_row;

/// Four nodes, points or frames; the first and the second are held by link `holder` of each, -3: nothing.
typedef enum holder { NOTHING, WORLD, DRIVEN, FREE } holder;

static int32_t link_of(stn_world *world, int32_t group) {
    int32_t start = -1, count = 0;
    stn_builder_group_links(stn_world_builder(world), group, &start, &count);
    return start;
}

static void open_row(held_row *r, bool frames, holder a, holder b, double shift) {
    stn_error err;
    r->words.part = "deformable begins stretched";
    const stn_context_options options = {.log = heard_listen, .log_user = &r->words};
    assert_ok(stn_context_create(&options, &r->context, &err), err);
    stn_world_options how = stn_world_options_default();
    how.gravity = vec(0.0, 0.0, 0.0);
    r->world = scene_world(r->context, &how);
    stn_model_builder *builder = stn_world_builder(r->world);
    const int32_t driven = scene_ball(r->world, "driven", 1.0, 0.01, vec(0.0, 0.0, 1.0));
    assert_ok(stn_builder_make_kinematic(builder, driven, &err), err);
    r->first = link_of(r->world, driven);
    r->second = link_of(r->world, scene_ball(r->world, "free", 1.0, 0.01, vec(0.3, 0.0, 1.0)));
    double position[3 * COUNT], orientation[4 * COUNT], inertia[3 * COUNT], mass[COUNT];
    for (int32_t i = 0; i < COUNT; i++) {
        const stn_quat turn = stn_quat_exp(vec(0.1 * i, 0.2, -0.3));
        const double as_numbers[4] = {turn.w, turn.x, turn.y, turn.z};
        memcpy(orientation + 4 * i, as_numbers, sizeof as_numbers);
        mass[i] = 0.1;
        for (int32_t k = 0; k < 3; k++) {
            position[3 * i + k] = row[3 * i + k] + (k == 0 ? shift : 0.0);
            inertia[3 * i + k] = 1e-3;
        }
    }
    const stn_nodes_spec spec = {.name = "row",
                                 .node_count = COUNT,
                                 .position = position,
                                 .mass = mass,
                                 .material = stn_material_unset(),
                                 .type = frames ? STN_NODE_FRAME : STN_NODE_POINT,
                                 .orientation = frames ? orientation : NULL,
                                 .inertia = frames ? inertia : NULL};
    int32_t cloud = 0;
    assert_ok(stn_builder_add_nodes(builder, &spec, &cloud, &err), err);
    const holder holders[2] = {a, b};
    const int32_t links[] = {0, STN_WORLD, r->first, r->second};
    for (int32_t k = 0; k < 2; k++) {
        const int32_t node = k == 0 ? 0 : 3;
        if (holders[k] != NOTHING) {
            assert_ok(stn_builder_attach_nodes(builder, cloud, 1, &node, links[holders[k]], &err), err);
        }
    }
    assert_ok(stn_world_compile(r->world, &err), err);
}

static void close_row(held_row *r) {
    stn_world_destroy(r->world);
    stn_context_destroy(r->context);
}

static const double *node_of(const stn_world *world, int32_t node) {
    return stn_world_state(world)->q + stn_model_node_q(stn_world_model(world), node);
}

static void put(held_row *r, int32_t link, stn_pose pose) {
    stn_error err;
    assert_ok(stn_world_set_body_pose(r->world, stn_world_model(r->world)->links[link].body, &pose, &err), err);
}

/// A motion of everything, applied to where a ball began.
static stn_pose moved_from(const stn_pose *motion, double x) {
    const stn_pose start = {stn_mat3_identity(), vec(x, 0.0, 1.0)};
    return stn_pose_mul(motion, &start);
}

static void assert_node(const held_row *r, int32_t node, const stn_pose *motion, bool frames) {
    const double *q = node_of(r->world, node);
    const stn_vec3 at = vec(row[3 * node], row[3 * node + 1], row[3 * node + 2]);
    assert_vec(vec(q[0], q[1], q[2]), stn_pose_apply(motion, at), 1e-15);
    if (frames) {
        const stn_mat3 start = stn_quat_matrix(stn_quat_exp(vec(0.1 * node, 0.2, -0.3)));
        const stn_mat3 is = stn_quat_matrix((stn_quat){q[3], q[4], q[5], q[6]}),
                       wanted = stn_mat3_mul(&motion->rotation, &start);
        for (int32_t i = 0; i < 9; i++) {
            assert_near(is.m[i / 3][i % 3], wanted.m[i / 3][i % 3], 1e-14);
        }
    }
}

static const stn_pose still = {{{{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}}}, {0.0, 0.0, 0.0}};

static stn_pose some_motion(void) {
    return (stn_pose){stn_quat_matrix(stn_quat_exp(vec(0.4, -1.1, 0.7))), vec(0.5, -0.2, 0.3)};
}

static void a_cloud_goes_with_what_holds_it(void **state) {
    (void)state;
    const stn_pose motion = some_motion();
    for (int32_t i = 0; i < 12; i++) {
        const bool frames = i % 2 == 1;
        static const holder first[] = {DRIVEN, FREE, DRIVEN}, second[] = {NOTHING, NOTHING, DRIVEN};
        held_row r = {0};
        open_row(&r, frames, first[i / 2 % 3], second[i / 2 % 3], 0.0);
        for (int32_t again = 0; again <= i / 6; again++) { // before the first step, and in the middle of a run
            if (again > 0) {
                put(&r, r.first, moved_from(&still, 0.0));
                put(&r, r.second, moved_from(&still, 0.3));
                scene_steps(r.world, 3);
            }
            put(&r, r.first, moved_from(&motion, 0.0));
            put(&r, r.second, moved_from(&motion, 0.3));
            for (int32_t n = 0; n < COUNT; n++) {
                assert_node(&r, n, &motion, frames);
            }
        }
        scene_steps(r.world, 1);
        for (int32_t n = 0; n < COUNT; n++) {
            assert_node(&r, n, &motion, frames);
        }
        assert_int_equal(r.words.count, 0);
        close_row(&r);
    }
}

/// Both ends in one set_q: alike the whole row goes; otherwise its ends alone, which is told once.
static void two_holders_move_alike_or_not(void **state) {
    (void)state;
    const stn_pose motion = some_motion();
    for (int32_t i = 0; i < 4; i++) {
        const bool frames = i % 2 == 1, alike = i / 2 == 1;
        held_row r = {0};
        open_row(&r, frames, DRIVEN, FREE, 0.0);
        const stn_model *model = stn_world_model(r.world);
        double q[128];
        memcpy(q, stn_world_state(r.world)->q, (size_t)model->nq * sizeof *q);
        const int32_t links[2] = {r.first, r.second};
        for (int32_t k = 0; k < 2; k++) {
            const stn_pose *by = alike || k == 0 ? &motion : &still;
            const stn_pose pose = moved_from(by, k == 0 ? 0.0 : 0.3);
            const stn_quat turn = stn_quat_from_matrix(&pose.rotation);
            const double seven[7] = {pose.position.x, pose.position.y, pose.position.z, turn.w, turn.x, turn.y, turn.z};
            memcpy(q + model->joints[model->bodies[model->links[links[k]].body].joint].q_start, seven, sizeof seven);
        }
        stn_error err;
        assert_ok(stn_world_set_q(r.world, q, &err), err);
        for (int32_t n = 0; n < COUNT; n++) {
            assert_node(&r, n, alike || n == 0 ? &motion : &still, frames);
        }
        assert_int_equal(r.words.count, alike ? 0 : 1);
        put(&r, r.second, moved_from(&motion, 0.3)); // the other end follows: the row between stays
        for (int32_t n = 0; n < COUNT; n++) {
            assert_node(&r, n, alike || n == 0 || n == 3 ? &motion : &still, frames);
        }
        assert_int_equal(r.words.count, alike ? 0 : 1);
        close_row(&r);
    }
}

static void a_row_on_a_link_and_the_world_is_stretched(void **state) {
    (void)state;
    const stn_pose motion = some_motion();
    held_row r = {0};
    open_row(&r, false, WORLD, FREE, 0.0);
    put(&r, r.first, moved_from(&motion, 0.0)); // holds nothing
    for (int32_t n = 0; n < COUNT; n++) {
        assert_node(&r, n, &still, false);
    }
    assert_int_equal(r.words.count, 0);
    put(&r, r.second, moved_from(&motion, 0.3));
    for (int32_t n = 0; n < COUNT; n++) {
        assert_node(&r, n, n == 3 ? &motion : &still, false);
    }
    assert_int_equal(r.words.count, 1);
    close_row(&r);
}

/// Coordinates of nodes that are set count; the same ones again change no bit; what a pin holds stays.
static void set_coordinates_of_nodes_count(void **state) {
    (void)state;
    for (int32_t frames = 0; frames < 2; frames++) {
        held_row r = {0};
        open_row(&r, frames == 1, WORLD, FREE, 0.0);
        r.words.part = "from its place on link free; it is brought back";
        const stn_model *model = stn_world_model(r.world);
        double q[128];
        stn_error err;
        const uint64_t hash = stn_world_hash(r.world);
        memcpy(q, stn_world_state(r.world)->q, (size_t)model->nq * sizeof *q);
        assert_ok(stn_world_set_q(r.world, q, &err), err);
        assert_true(stn_world_hash(r.world) == hash);
        q[stn_model_node_q(model, 0)] += 1e-3;
        assert_error(stn_world_set_q(r.world, q, &said), STN_ERR_ARGUMENT,
                     "set q: node 0 of 'row', counted from 0, is at (0.001, 0.1, 1) m, but the world, which no force "
                     "moves, holds it at (0, 0.1, 1) m");
        assert_true(stn_world_hash(r.world) == hash);
        q[stn_model_node_q(model, 0)] -= 1e-3;
        q[stn_model_node_q(model, 0)] = 0.0;
        if (frames == 1) {
            double *turn = q + stn_model_node_q(model, 0) + 3, kept[4];
            memcpy(kept, turn, sizeof kept);
            const double other[4] = {1.0, 0.0, 0.0, 0.0};
            memcpy(turn, other, sizeof other);
            assert_error(stn_world_set_q(r.world, q, &said), STN_ERR_ARGUMENT, "m and turned, but the world");
            memcpy(turn, kept, sizeof kept);
        }
        q[stn_model_node_q(model, 1) + 2] += 0.25;
        q[stn_model_node_q(model, 3)] += 0.01; // on a ball that forces move: pulled back, which is told
        assert_ok(stn_world_set_q(r.world, q, &err), err);
        assert_true(memcmp(q, stn_world_state(r.world)->q, (size_t)model->nq * sizeof *q) == 0);
        scene_steps(r.world, 1);
        assert_int_equal(r.words.count, 1);
        assert_vec(vec(node_of(r.world, 1)[0], node_of(r.world, 1)[1], node_of(r.world, 1)[2]), vec(0.1, 0.0, 1.25),
                   1e-15);
        close_row(&r);
    }
}

static void a_state_with_other_places_is_refused(void **state) {
    (void)state;
    for (int32_t i = 0; i < 2; i++) {
        held_row here = {0}, there = {0};
        stn_snapshot *kept = NULL;
        stn_error err;
        open_row(&here, false, i == 0 ? WORLD : DRIVEN, NOTHING, 0.0);
        open_row(&there, false, i == 0 ? WORLD : DRIVEN, NOTHING, 0.125);
        put(&here, here.first, (stn_pose){stn_mat3_identity(), vec(0.1, 0.2, 1.5)});
        scene_steps(here.world, 2);
        assert_ok(stn_world_snapshot(here.world, &kept, &err), err);
        const uint64_t hash = stn_world_hash(here.world), other = stn_world_hash(there.world);
        assert_error(stn_world_restore(there.world, kept, &said), STN_ERR_ARGUMENT,
                     i == 0 ? "restore: the state belongs to another model: node 0 of 'row', counted from 0, is at (0, "
                              "0.1, 1) m, but the world, which no force moves, holds it at (0.125, 0.1, 1) m"
                            : "link driven, which no force moves, holds it at (0.225, 0.3, 1.5) m");
        assert_true(stn_world_hash(there.world) == other);
        scene_steps(here.world, 2);
        assert_ok(stn_world_restore(here.world, kept, &err), err);
        assert_true(stn_world_hash(here.world) == hash);
        scene_steps(there.world, 1);
        stn_snapshot_destroy(kept);
        close_row(&here);
        close_row(&there);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cloud_goes_with_what_holds_it),
        cmocka_unit_test(two_holders_move_alike_or_not),
        cmocka_unit_test(a_row_on_a_link_and_the_world_is_stretched),
        cmocka_unit_test(set_coordinates_of_nodes_count),
        cmocka_unit_test(a_state_with_other_places_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
