// SPDX-License-Identifier: Apache-2.0
// Files of recorder/png: names of frames, whole or not at all, failing disks and memory, meshes from files.
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "png_fixture.h"

static const float RED[4] = {0.9f, 0.1f, 0.1f, 1.0f};

static void add_ball(fixture *f) {
    stn_geometry_spec ball = painted(stn_shape_sphere(0.2), RED[0], RED[1], RED[2], RED[3]);
    add_geometry(f, add_body(f, "ball", false), &ball);
}

static void small(fixture *f) {
    set_number(f, "width", 32);
    set_number(f, "height", 24);
}

/// A model of one ball, to be drawn into a small picture.
static fixture *small_ball(void **state) {
    fixture *f = *state;
    add_ball(f);
    compile(f);
    small(f);
    return f;
}

/// Files in the folder, in any order, separated by spaces.
static const char *listing(fixture *f) {
    static char text[512];
    char command[128];
    snprintf(command, sizeof command, "ls -A %s | tr '\\n' ' '", f->folder);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    text[fread(text, 1, sizeof text - 1, pipe)] = '\0';
    pclose(pipe);
    return text;
}

static void write_file(const char *path, const char *text) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void the_last_state_is_in_the_file_when_it_is_closed(void **state) {
    fixture *f = small_ball(state);
    recording r;
    assert_ok(begin(f, &r), f->err);
    for (int32_t i = 0; i < 3; i++) {
        assert_ok(observe(f, &r), f->err);
        assert_string_equal(listing(f), "");
    }
    assert_ok(end(f, &r), f->err);
    assert_string_equal(listing(f), "out.png ");
    read_picture(f, f->path);
    assert_int_equal(f->width, 32);
    assert_int_equal(f->height, 24);
}

static void every_nth_step_is_a_numbered_file(void **state) {
    fixture *f = small_ball(state);
    set_number(f, "every", 5);
    recording r;
    assert_ok(begin(f, &r), f->err);
    for (int32_t i = 0; i < 8; i++) {
        assert_ok(observe(f, &r), f->err);
    }
    f->step = 1234565;
    assert_ok(observe(f, &r), f->err);
    assert_string_equal(listing(f), "out_000000.png out_000005.png out_1234565.png ");
    assert_ok(end(f, &r), f->err);
    assert_string_equal(listing(f), "out.png out_000000.png out_000005.png out_1234565.png ");
    snprintf(f->path, sizeof f->path, "%s/out_000005.png", f->folder);
    read_picture(f, f->path);
}

static void a_name_without_an_ending_is_numbered_at_its_end(void **state) {
    fixture *f = small_ball(state);
    set_number(f, "every", 1);
    char command[128];
    snprintf(command, sizeof command, "mkdir %s/a.b", f->folder);
    assert_int_equal(system(command), 0);
    snprintf(f->path, sizeof f->path, "%s/a.b/picture", f->folder);
    assert_ok(record(f), f->err);
    snprintf(f->path, sizeof f->path, "%s/a.b/picture_000000", f->folder);
    assert_true(size_of_file(f->path) > 0);
}

static void the_file_tells_step_time_and_parameters(void **state) {
    fixture *f = small_ball(state);
    f->step = 6;
    assert_ok(record(f), f->err);
    char bytes[4096];
    FILE *file = fopen(f->path, "rb");
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    const char text[] = "Comment\0\0\0\0\0step 6\ntime = 1.5 s\nsolver = sap\n";
    size_t length = sizeof text - 1;
    bool found = false;
    for (size_t i = 0; i + length <= size; i++) {
        found = found || memcmp(bytes + i, text, length) == 0;
    }
    assert_true(found);
}

static void pictures_of_any_size_are_whole(void **state) {
    fixture *f = *state;
    add_ball(f);
    compile(f);
    const int32_t sizes[][2] = {{16, 16}, {17, 33}, {4096, 16}, {16, 4096}, {1500, 1100}}; // the last in several bands
    for (int32_t i = 0; i < STN_COUNT(sizes); i++) {
        f->setting_count = 0;
        set_number(f, "width", sizes[i][0]);
        set_number(f, "height", sizes[i][1]);
        draw(f);
        assert_int_equal(f->width, sizes[i][0]);
        assert_int_equal(f->height, sizes[i][1]);
        const uint8_t *middle = pixel(f, f->width / 2, f->height / 2);
        assert_true(middle[0] > middle[2] + 40);
    }
    // nothing tells where the bands meet: the ball is as symmetric as its light, so look for jumps in the sky
    for (int32_t row = 1; row < f->height; row++) {
        assert_true(abs(pixel(f, 2, row)[0] - pixel(f, 2, row - 1)[0]) <= 1);
    }
    f->setting_count = 0;
    set_number(f, "width", 4097);
    assert_int_equal(record(f), STN_ERR_PARAMETER);
}

/// Sizes and places far from any robot's, alone and together, from afar and from inside.
static void absurd_sizes_are_drawn_without_harm(void **state) {
    fixture *f = *state;
    const double sizes[] = {1e-160, 1e-30, 1e-6, 1e6, 1e30, 1e100};
    int32_t link = add_body(f, "ball", false);
    for (int32_t i = 0; i < STN_COUNT(sizes); i++) {
        stn_geometry_spec spec = painted(stn_shape_capsule(sizes[i], sizes[STN_COUNT(sizes) - 1 - i]), 0.9f, 0.1f, 0.1f,
                                         i % 2 == 0 ? 1.0f : 0.5f);
        spec.pose.position.x = 10.0 * sizes[i];
        add_geometry(f, link, &spec);
        spec.shape = stn_shape_box(stn_vec3_make(sizes[i], 1.0, 1.0 / sizes[i]));
        add_geometry(f, link, &spec);
    }
    stn_geometry_spec ground = stn_geometry_spec_default(stn_shape_half_space());
    ground.pose.position.z = -1e30;
    add_geometry(f, STN_WORLD, &ground);
    compile(f);
    const double distances[] = {0.0, 1e-9, 1.0, 1e6};
    for (int32_t i = 0; i < STN_COUNT(distances); i++) {
        f->setting_count = 0;
        small(f);
        set_number(f, "distance", distances[i]);
        set_number(f, "elevation", 90.0 - 60.0 * i);
        draw(f);
    }
}

static void a_recording_without_a_step_says_so(void **state) {
    fixture *f = small_ball(state);
    recording r;
    assert_ok(begin(f, &r), f->err);
    assert_int_equal(end(f, &r), STN_ERR_SEQUENCE);
    assert_non_null(strstr(f->err.text, f->path));
    assert_string_equal(listing(f), "");
}

static void expect_refused(fixture *f, const char *path, const char *why) {
    snprintf(f->path, sizeof f->path, "%s", path);
    recording r;
    assert_int_equal(begin(f, &r), STN_ERR_FILE);
    assert_null(r.open);
    assert_non_null(strstr(f->err.text, path));
    assert_non_null(strstr(f->err.text, why));
}

static void places_that_cannot_be_written_are_refused_at_once(void **state) {
    fixture *f = small_ball(state);
    expect_refused(f, "/no/such/folder/out.png", "No such file or directory");
    expect_refused(f, "/dev/full", "not a regular file");
    expect_refused(f, f->folder, "not a regular file");
}

static void a_bad_target_is_refused(void **state) {
    fixture *f = *state;
    add_ball(f);
    compile(f);
    const char *bad[] = {"1 2", "1 2 3 4", "a b c", "1 2 nan"};
    for (int32_t i = 0; i < STN_COUNT(bad); i++) {
        f->setting_count = 0;
        set_text(f, "target", bad[i]);
        assert_int_equal(record(f), STN_ERR_PARAMETER);
        assert_non_null(strstr(f->err.text, bad[i]));
    }
}

/// A disk that is full: files may not grow beyond some bytes.
static void a_full_disk_leaves_the_old_picture(void **state) {
    fixture *f = small_ball(state);
    write_file(f->path, "old");
    struct rlimit before, little = {100, 100};
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    little.rlim_max = before.rlim_max;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
    stn_status status = record(f);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, handler);
    assert_int_equal(status, STN_ERR_FILE);
    assert_non_null(strstr(f->err.text, "File too large"));
    assert_string_equal(listing(f), "out.png ");
    assert_int_equal(size_of_file(f->path), 3);
    assert_ok(record(f), f->err); // and with room it is replaced
    read_picture(f, f->path);
}

/// A frame that fails ends the recording; closing it does not try again.
static void a_frame_that_fails_is_said_once(void **state) {
    fixture *f = small_ball(state);
    set_number(f, "every", 1);
    recording r;
    assert_ok(begin(f, &r), f->err);
    char frame[128];
    snprintf(frame, sizeof frame, "%s/out_000000.png", f->folder);
    assert_int_equal(mkdir(frame, 0777), 0);
    assert_int_equal(observe(f, &r), STN_ERR_FILE);
    assert_non_null(strstr(f->err.text, frame));
    assert_ok(end(f, &r), f->err);
    assert_string_equal(listing(f), "out_000000.png ");
}

static void a_folder_that_goes_away_is_said(void **state) {
    fixture *f = small_ball(state);
    set_number(f, "every", 1);
    recording r;
    assert_ok(begin(f, &r), f->err);
    char command[128];
    snprintf(command, sizeof command, "rmdir '%s'", f->folder);
    assert_int_equal(system(command), 0);
    assert_int_equal(observe(f, &r), STN_ERR_FILE);
    assert_non_null(strstr(f->err.text, "out_000000.png: cannot be written"));
    assert_ok(end(f, &r), f->err);
}

static void files_beside_the_picture_stay_as_they_are(void **state) {
    fixture *f = small_ball(state);
    char beside[256], link[256], text[16] = "";
    snprintf(beside, sizeof beside, "%s/mine.txt", f->folder);
    snprintf(link, sizeof link, "%s.part", f->path);
    write_file(beside, "mine");
    assert_int_equal(symlink(beside, link), 0);
    recording r;
    assert_ok(begin(f, &r), f->err);
    assert_ok(observe(f, &r), f->err);
    assert_ok(end(f, &r), f->err);
    assert_string_equal(listing(f), "mine.txt out.png out.png.part ");
    FILE *file = fopen(beside, "rb");
    assert_non_null(file);
    assert_int_equal(fread(text, 1, sizeof text - 1, file), 4);
    fclose(file);
    assert_string_equal(text, "mine");
}

// ---------------------------------------------------------------------------------------------------------- meshes

/// A link with a mesh for a visual that is a reference alone, and a small green collision sphere.
static void add_reference(fixture *f, const char *name) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", f->folder, name);
    int32_t link = add_body(f, "part", true);
    stn_geometry_spec visual = painted(stn_shape_mesh(NULL), RED[0], RED[1], RED[2], RED[3]);
    stn_geometry_spec ball = painted(stn_shape_sphere(0.2), 0.1f, 0.9f, 0.1f, 1.0f);
    visual.collision = ball.visual = false;
    assert_ok(stn_builder_add_mesh(f->builder, path, stn_vec3_make(0.5, 0.5, 0.5), NULL, &visual.mesh, &f->err),
              f->err);
    add_geometry(f, link, &visual);
    add_geometry(f, link, &ball);
    compile(f);
    small(f);
}

static const char TETRAHEDRON[] = "v 1 1 1\nv 1 -1 -1\nv -1 1 -1\nv -1 -1 1\nf 1 2 3\nf 1 4 2\nf 1 3 4\nf 2 4 3\n";

static void visual_meshes_are_loaded_from_their_files(void **state) {
    fixture *f = *state;
    char path[128];
    snprintf(path, sizeof path, "%s/part.obj", f->folder);
    write_file(path, TETRAHEDRON);
    add_reference(f, "part.obj");
    draw(f);
    assert_true(pixel(f, 16, 12)[0] > pixel(f, 16, 12)[1] + 30);
    assert_string_equal(f->said, "");
}

static void a_mesh_that_cannot_be_loaded_gives_way_to_collision_shapes(void **state) {
    fixture *f = *state;
    add_reference(f, "absent.obj");
    draw(f);
    assert_true(pixel(f, 16, 12)[1] > pixel(f, 16, 12)[0] + 30);
    assert_non_null(strstr(f->said, "absent.obj is not drawn"));
}

static void collision_meshes_are_drawn(void **state) {
    fixture *f = *state;
    stn_mesh *mesh = new_mesh(f->context);
    add_mesh_shape(f->builder, add_body(f, "part", true), mesh);
    stn_mesh_release(mesh);
    compile(f);
    small(f);
    draw(f);
    assert_true(pixel(f, 16, 12)[0] < 200);
}

// ---------------------------------------------------------------------------------------------------------- memory

/// Every request for memory from opening to closing fails once: that is said and leaves no file, and nothing stays
/// allocated but what the context keeps of meshes that were read (`loads`). Some can be done without.
static void expect_failures_survived(fixture *f, bool loads) {
    int32_t failures = 0;
    for (long long n = 1, requests = n; n <= requests; n++) {
        f->step = 1;
        remove(f->path);
        long long before = f->heap.live;
        stn_heap_arm(&f->heap, n);
        stn_status status = record(f);
        requests = f->heap.requests > n ? f->heap.requests : n;
        stn_heap_arm(&f->heap, 0);
        if (status != STN_OK) {
            assert_int_equal(status, STN_ERR_MEMORY);
            assert_string_equal(listing(f), loads ? "part.obj " : "");
            requests++;
            failures++;
        }
        if (!loads) {
            assert_int_equal(f->heap.live, before);
        }
    }
    assert_true(failures > 25);
    assert_ok(record(f), f->err);
    read_picture(f, f->path);
}

static void want_of_memory_is_survived(void **state) {
    fixture *f = *state;
    stn_geometry_spec glass = painted(stn_shape_sphere(0.2), RED[0], RED[1], RED[2], 0.5f);
    stn_geometry_spec ground = stn_geometry_spec_default(stn_shape_half_space());
    stn_mesh *mesh = new_mesh(f->context);
    int32_t link = add_body(f, "ball", false);
    add_geometry(f, link, &glass);
    add_mesh_shape(f->builder, link, mesh);
    add_geometry(f, STN_WORLD, &ground);
    stn_mesh_release(mesh);
    compile(f);
    small(f);
    set_number(f, "contacts", 1.0);
    f->settings[f->setting_count - 1].form = STN_SETTING_BOOL;
    stn_contact contact = {.point = {0.0, 0.0, 0.0}};
    f->contacts = (stn_contact_set){.count = 1, .contacts = &contact};
    assert_ok(record(f), f->err); // the context finds its plugins
    expect_failures_survived(f, false);
}

static void want_of_memory_is_survived_while_meshes_load(void **state) {
    fixture *f = *state;
    char path[128];
    snprintf(path, sizeof path, "%s/part.obj", f->folder);
    write_file(path, TETRAHEDRON);
    add_reference(f, "part.obj");
    expect_failures_survived(f, true);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(the_last_state_is_in_the_file_when_it_is_closed),
        TEST(every_nth_step_is_a_numbered_file),
        TEST(a_name_without_an_ending_is_numbered_at_its_end),
        TEST(the_file_tells_step_time_and_parameters),
        TEST(pictures_of_any_size_are_whole),
        TEST(absurd_sizes_are_drawn_without_harm),
        TEST(a_recording_without_a_step_says_so),
        TEST(places_that_cannot_be_written_are_refused_at_once),
        TEST(a_bad_target_is_refused),
        TEST(a_full_disk_leaves_the_old_picture),
        TEST(a_frame_that_fails_is_said_once),
        TEST(a_folder_that_goes_away_is_said),
        TEST(files_beside_the_picture_stay_as_they_are),
        TEST(visual_meshes_are_loaded_from_their_files),
        TEST(a_mesh_that_cannot_be_loaded_gives_way_to_collision_shapes),
        TEST(collision_meshes_are_drawn),
        TEST(want_of_memory_is_survived),
        TEST(want_of_memory_is_survived_while_meshes_load),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
