// SPDX-License-Identifier: Apache-2.0
// Reset, clone, snapshots in memory and on disk; logs; out of memory at every request.
#define _GNU_SOURCE // memmem
#include "scenes.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/// A cube and a ball on the ground, and a slider under PD: every kind of private memory that a default world has.
static stn_world *busy_world(stn_context *context) {
    stn_world_options options = stn_world_options_default();
    stn_world *world = scene_world(context, &options);
    scene_ground(world);
    scene_cube(world, "cube", 1.0, stn_vec3_make(0.0, 0.0, 0.3));
    scene_ball(world, "ball", 1.0, 0.1, stn_vec3_make(0.05, 0.02, 0.6));
    int32_t robot = scene_slider(world, "slider", NULL);
    int32_t pd = scene_controller(world, robot, "joint_pd", "kp", 50.0, "kd", 1.0, NULL);
    double target = 0.3;
    stn_error err;
    assert_ok(stn_world_set_reference(world, pd, "position", &target, 1, &err), err);
    return world;
}

static void a_clone_makes_bitwise_the_same_steps(void **state) {
    stn_world *world = busy_world(*state), *clone = NULL;
    scene_steps(world, 150);
    stn_error err;
    assert_ok(stn_world_clone(world, &clone, &err), err);
    assert_true(stn_world_hash(clone) == stn_world_hash(world));
    scene_steps(world, 100);
    uint64_t hash = stn_world_hash(world);
    stn_world_destroy(world); // the clone keeps the model alive
    scene_steps(clone, 100);
    assert_true(stn_world_hash(clone) == hash);
    stn_world_destroy(clone);
}

static void reset_returns_to_the_start(void **state) {
    stn_world *world = busy_world(*state);
    stn_error err;
    uint64_t start = stn_world_hash(world);
    double target = 0.3;
    scene_steps(world, 120);
    uint64_t hash = stn_world_hash(world);
    stn_world_reset(world);
    assert_near(stn_world_state(world)->time, 0.0, 0.0);
    assert_ok(stn_world_set_reference(world, 0, "position", &target, 1, &err), err); // references start anew too
    assert_true(stn_world_hash(world) == start);
    scene_steps(world, 120);
    assert_true(stn_world_hash(world) == hash);
    stn_world_destroy(world);
}

static void gravity_that_is_not_finite_is_refused_and_nothing_changes(void **state) {
    stn_world *world = busy_world(*state);
    stn_error err;
    scene_steps(world, 2);
    uint64_t hash = stn_world_hash(world);
    for (int32_t i = 0; i < 3; i++) {
        const double bad = i < 2 ? (double)NAN : (double)INFINITY;
        stn_vec3 gravity = stn_vec3_make(i == 0 ? bad : 0.0, i == 1 ? bad : 0.0, i == 2 ? bad : -9.81);
        assert_int_equal(stn_world_set_gravity(world, gravity, &err), STN_ERR_ARGUMENT);
        assert_non_null(strstr(err.text, "gravity = ("));
        assert_true(stn_world_hash(world) == hash);
    }
    assert_ok(stn_world_set_gravity(world, stn_vec3_zero(), &err), err);
    assert_true(stn_world_hash(world) != hash);
    stn_world_destroy(world);
}

/// A busy world after some steps, and its state, which the file holds, too.
static stn_world *saved_world(stn_context *context, const char *path, stn_snapshot **snapshot) {
    stn_world *world = busy_world(context);
    stn_error err;
    scene_steps(world, 150);
    assert_ok(stn_world_snapshot(world, snapshot, &err), err);
    assert_ok(stn_snapshot_save(*snapshot, path, &err), err);
    return world;
}

static void a_saved_state_goes_on_bitwise(void **state) {
    const char *path = STN_BINARY_DIR "/test_state.state";
    stn_snapshot *snapshot = NULL, *loaded = NULL;
    stn_world *world = saved_world(*state, path, &snapshot);
    stn_error err;
    stn_snapshot_destroy(snapshot);
    scene_steps(world, 100);
    uint64_t hash = stn_world_hash(world);
    stn_world_destroy(world);
    world = busy_world(*state); // another world of the same making
    scene_steps(world, 3);
    assert_ok(stn_snapshot_load(*state, path, &loaded, &err), err);
    assert_ok(stn_world_restore(world, loaded, &err), err);
    scene_steps(world, 100);
    assert_true(stn_world_hash(world) == hash);
    stn_snapshot_destroy(loaded);
    stn_world_destroy(world);
}

static void a_damaged_state_file_is_refused(void **state) {
    const char *path = STN_BINARY_DIR "/test_damaged.state";
    stn_snapshot *snapshot = NULL, *loaded = NULL;
    stn_world *world = saved_world(*state, path, &snapshot);
    stn_error err;
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    static unsigned char bytes[1 << 16];
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    assert_true(size > 500 && size < sizeof bytes);
    for (size_t cut = 0; cut < size; cut += cut < 300 ? 1 : 37) { // truncated
        file = fopen(path, "wb");
        assert_true(fwrite(bytes, 1, cut, file) == cut && fclose(file) == 0);
        assert_int_equal(stn_snapshot_load(*state, path, &loaded, &err), STN_ERR_PARSE);
        assert_null(loaded);
    }
    for (size_t at = 0; at < size; at += at < 300 ? 1 : 37) { // one byte changed
        bytes[at] ^= 0x5a;
        file = fopen(path, "wb");
        assert_true(fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
        stn_status status = stn_snapshot_load(*state, path, &loaded, &err);
        assert_true(status == STN_ERR_PARSE || status == STN_ERR_MEMORY);
        assert_null(loaded);
        bytes[at] ^= 0x5a;
    }
    assert_int_equal(stn_snapshot_load(*state, STN_BINARY_DIR "/no_such.state", &loaded, &err), STN_ERR_FILE);
    assert_int_equal(stn_snapshot_save(snapshot, "/no/such/folder/x.state", &err), STN_ERR_FILE);
    stn_snapshot_destroy(snapshot);
    stn_world_destroy(world);
}

/// Writes the file anew with `size` bytes in the place of the same number of others, and a checksum that is right.
static void forge(const char *path, const void *before, const void *after, size_t size) {
    static unsigned char bytes[1 << 16];
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t all = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    unsigned char *found = memmem(bytes, all, before, size);
    assert_non_null(found);
    memcpy(found, after, size);
    uint64_t checksum = stn_hash(0, bytes, all - sizeof checksum);
    memcpy(bytes + all - sizeof checksum, &checksum, sizeof checksum);
    file = fopen(path, "wb");
    assert_true(fwrite(bytes, 1, all, file) == all && fclose(file) == 0);
}

/// The file's checksum and the model's signature are right, the lengths of two arrays are not: fuzz_replay read behind
/// the state's arrays.
static void forged_sizes_of_a_state_are_refused(void **state) {
    const char *path = STN_BINARY_DIR "/test_forged.state";
    stn_snapshot *snapshot = NULL, *loaded = NULL;
    stn_world *world = saved_world(*state, path, &snapshot);
    stn_state_sizes sizes = stn_world_state(world)->sizes, wrong = sizes;
    stn_error err;
    uint64_t hash = stn_world_hash(world);
    assert_true(sizes.wrench_count > 2);
    wrong.wrench_count -= 2;
    wrong.reference_count += 2; // as many bytes as before
    forge(path, &sizes, &wrong, sizeof sizes);
    assert_ok(stn_snapshot_load(*state, path, &loaded, &err), err);
    assert_int_equal(stn_world_restore(world, loaded, &err), STN_ERR_ARGUMENT);
    assert_true(stn_world_hash(world) == hash);
    stn_snapshot_destroy(loaded);
    stn_snapshot_destroy(snapshot);
    stn_world_destroy(world);
}

/// As all ways to set gravity refuse what is not finite.
static void a_forged_gravity_is_refused(void **state) {
    const char *path = STN_BINARY_DIR "/test_forged_gravity.state";
    stn_snapshot *snapshot = NULL, *loaded = NULL;
    stn_world *world = saved_world(*state, path, &snapshot);
    stn_vec3 gravity = stn_world_state(world)->gravity, wrong = {gravity.x, gravity.y, (double)NAN};
    stn_error err;
    forge(path, &gravity, &wrong, sizeof gravity);
    assert_int_equal(stn_snapshot_load(*state, path, &loaded, &err), STN_ERR_PARSE);
    assert_non_null(strstr(err.text, "gravity is not finite"));
    stn_snapshot_destroy(snapshot);
    stn_world_destroy(world);
}

/// What a controller keeps across steps comes from the file too: trajectory read a spline of a million waypoints.
static void forged_memory_of_a_controller_is_read_within_bounds(void **state) {
    const char *path = STN_BINARY_DIR "/test_forged_memory.state";
    stn_world_options options = stn_world_options_default();
    stn_world *world = scene_world(*state, &options);
    stn_snapshot *snapshot = NULL;
    stn_error err;
    int32_t slider = scene_slider(world, "slider", NULL);
    scene_controller(world, slider, "trajectory", NULL);
    scene_steps(world, 3);
    assert_ok(stn_world_snapshot(world, &snapshot, &err), err);
    assert_ok(stn_snapshot_save(snapshot, path, &err), err);
    stn_snapshot_destroy(snapshot);
    const stn_state *s = stn_world_state(world);
    size_t size = s->sizes.controller_bytes;
    static double before[1 << 12], after[1 << 12];
    assert_true(size >= sizeof *after && size <= sizeof after);
    memcpy(before, s->controller_memory, size);
    memcpy(after, before, size);
    for (int32_t i = 0; i < 3; i++) {
        const double forged[] = {1e9, NAN, -1e300};
        after[0] = forged[i];
        forge(path, before, after, size);
        before[0] = forged[i];
        assert_ok(stn_snapshot_load(*state, path, &snapshot, &err), err);
        assert_ok(stn_world_restore(world, snapshot, &err), err);
        scene_steps(world, 1);
        stn_snapshot_destroy(snapshot);
    }
    stn_world_destroy(world);
}

/// A state that is refused for its contact memory leaves the world as it was, with all that it remembers of contacts.
static void two_contact_memories_of_one_id_are_refused_and_nothing_changes(void **state) {
    const char *path = STN_BINARY_DIR "/test_forged_ids.state";
    static unsigned char bytes[1 << 16];
    stn_snapshot *snapshot = NULL, *loaded = NULL;
    stn_world *world = saved_world(*state, path, &snapshot), *clone = NULL;
    stn_error err;
    const stn_state *s = stn_world_state(world);
    assert_true(s->cache_count >= 2);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    unsigned char *second = memmem(bytes, size, &s->cache[1].id, sizeof s->cache[1].id);
    assert_non_null(second);
    memcpy(second, &s->cache[0].id, sizeof s->cache[0].id);
    uint64_t checksum = stn_hash(0, bytes, size - sizeof checksum);
    memcpy(bytes + size - sizeof checksum, &checksum, sizeof checksum);
    file = fopen(path, "wb");
    assert_true(fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
    assert_ok(stn_snapshot_load(*state, path, &loaded, &err), err);
    scene_steps(world, 5);
    uint64_t hash = stn_world_hash(world);
    assert_ok(stn_world_clone(world, &clone, &err), err);
    assert_int_equal(stn_world_restore(world, loaded, &err), STN_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, "two entries share the id"));
    assert_true(stn_world_hash(world) == hash);
    scene_steps(world, 20);
    scene_steps(clone, 20);
    assert_true(stn_world_hash(world) == stn_world_hash(clone));
    stn_snapshot_destroy(loaded);
    stn_snapshot_destroy(snapshot);
    stn_world_destroy(clone);
    stn_world_destroy(world);
}

static void a_state_of_another_model_is_refused(void **state) {
    stn_world *world = busy_world(*state);
    stn_world_options options = stn_world_options_default();
    stn_world *other = scene_world(*state, &options);
    scene_cube(other, "cube", 1.0, stn_vec3_make(0.0, 0.0, 1.0));
    stn_snapshot *snapshot = NULL;
    stn_error err;
    scene_steps(world, 1);
    scene_steps(other, 1);
    uint64_t hash = stn_world_hash(other);
    assert_ok(stn_world_snapshot(world, &snapshot, &err), err);
    assert_int_equal(stn_world_restore(other, snapshot, &err), STN_ERR_ARGUMENT);
    assert_true(stn_world_hash(other) == hash);
    stn_snapshot_destroy(snapshot);
    stn_world_destroy(world);
    stn_world_destroy(other);
}

static void a_log_has_one_header_and_a_row_a_step(void **state) {
    const char *path = STN_BINARY_DIR "/test_state.csv";
    stn_world *world = busy_world(*state);
    stn_instance *csv = NULL;
    stn_error err;
    assert_ok(stn_world_plot(world, "answer", 42.0, &err), err);
    assert_ok(stn_instance_create(*state, STN_KIND_RECORDER, "csv", NULL, 0, &csv, &err), err);
    assert_ok(stn_world_record(world, csv, path, &err), err);
    scene_steps(world, 25);
    assert_ok(stn_world_close_recordings(world, &err), err);
    char line[8192];
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    assert_int_equal(strncmp(line, "step,time_s,q[", 14), 0);
    assert_non_null(strstr(line, "q[slide]"));
    assert_non_null(strstr(line, ",answer\n"));
    int32_t commas = 0, rows = 0;
    for (const char *c = line; *c != '\0'; c++) {
        commas += *c == ',';
    }
    while (fgets(line, sizeof line, file) != NULL) {
        int32_t found = 0;
        for (const char *c = line; *c != '\0'; c++) {
            found += *c == ',';
        }
        assert_int_equal(found, commas);
        assert_int_equal(atoi(line), rows);
        rows++;
    }
    fclose(file);
    assert_int_equal(rows, 26); // the start and 25 steps
    assert_ok(stn_instance_create(*state, STN_KIND_RECORDER, "csv", NULL, 0, &csv, &err), err);
    assert_int_equal(stn_world_record(world, csv, "/no/such/folder/log.csv", &err), STN_ERR_FILE);
    assert_non_null(strstr(err.text, "/no/such/folder/log.csv"));
    scene_steps(world, 1); // goes on without it
    stn_world_destroy(world);
}

/// An allocator that refuses the n-th request.
typedef struct failing {
    int64_t count, refuse;
} failing;

static void *allocate(void *user, size_t size) {
    failing *f = user;
    return ++f->count == f->refuse ? NULL : malloc(size);
}

static void release(void *user, void *memory) {
    (void)user;
    free(memory);
}

static void ignore(void *user, stn_log_level level, const char *text) {
    (void)user;
    (void)level;
    (void)text;
}

/// Builds a small world and steps it; any status may come, but nothing may leak or crash.
static stn_status small_run(failing *f) {
    stn_context_options options = {.allocate = allocate, .release = release, .allocator_user = f, .log = ignore};
    stn_context *context = NULL;
    stn_world *world = NULL, *clone = NULL;
    stn_error err;
    stn_status status = stn_context_create(&options, &context, &err);
    if (status != STN_OK) {
        return status;
    }
    stn_world_options world_options = stn_world_options_default();
    status = stn_world_create(context, &world_options, &world, &err);
    int32_t id = 0, robot = 0;
    stn_geometry_spec ground = stn_geometry_spec_default(stn_shape_half_space());
    stn_geometry_spec box = stn_geometry_spec_default(stn_shape_box(stn_vec3_make(0.1, 0.1, 0.1)));
    stn_link_spec link = {.name = "box", .mass = {1.0, {0.0, 0.0, 0.0}, stn_mat3_diagonal(0.01, 0.01, 0.01)}};
    stn_model_builder *b = status == STN_OK ? stn_world_builder(world) : NULL;
    status = status == STN_OK ? stn_builder_add_geometry(b, STN_WORLD, &ground, &id, &err) : status;
    status = status == STN_OK ? stn_builder_begin_group(b, "box", &robot, &err) : status;
    status = status == STN_OK ? stn_builder_add_link(b, &link, &id, &err) : status;
    status = status == STN_OK ? stn_builder_add_geometry(b, id, &box, &id, &err) : status;
    for (int32_t i = 0; i < 60 && status == STN_OK; i++) {
        status = stn_world_step(world, &err);
    }
    status = status == STN_OK ? stn_world_clone(world, &clone, &err) : status;
    stn_world_destroy(clone);
    stn_world_destroy(world);
    stn_context_destroy(context);
    return status;
}

static void running_out_of_memory_anywhere_is_a_status(void **state) {
    (void)state;
    failing f = {0, -1};
    assert_int_equal(small_run(&f), STN_OK);
    int64_t total = f.count;
    for (int64_t n = 1; n <= total; n++) {
        f = (failing){0, n};
        stn_status status = small_run(&f);
        assert_true(status == STN_ERR_MEMORY || status == STN_OK || status == STN_ERR_PLUGIN);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_clone_makes_bitwise_the_same_steps),
        cmocka_unit_test(reset_returns_to_the_start),
        cmocka_unit_test(gravity_that_is_not_finite_is_refused_and_nothing_changes),
        cmocka_unit_test(a_saved_state_goes_on_bitwise),
        cmocka_unit_test(a_damaged_state_file_is_refused),
        cmocka_unit_test(forged_sizes_of_a_state_are_refused),
        cmocka_unit_test(a_forged_gravity_is_refused),
        cmocka_unit_test(forged_memory_of_a_controller_is_read_within_bounds),
        cmocka_unit_test(two_contact_memories_of_one_id_are_refused_and_nothing_changes),
        cmocka_unit_test(a_state_of_another_model_is_refused),
        cmocka_unit_test(a_log_has_one_header_and_a_row_a_step),
        cmocka_unit_test(running_out_of_memory_anywhere_is_a_status),
    };
    return cmocka_run_group_tests(tests, scene_setup, scene_teardown);
}
