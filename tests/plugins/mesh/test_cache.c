// SPDX-License-Identifier: Apache-2.0
// The cache folder: what is read from it, and what is not believed. A mesh of a DAE file came from the folder when it
// loads in a new context although there is no worker.
#include "mesh_files.h"

#include <time.h>

static char cache[128]; // STICTION_CACHE

static int enter_cache(void **state) {
    int failed = enter_folder(state);
    snprintf(cache, sizeof cache, "%s/cache", folder);
    setenv("STICTION_CACHE", cache, 1);
    unsetenv("STICTION_CACHE_MIB");
    return failed;
}

static void forget_worker(void) {
    setenv("STICTION_MESH_WORKER", "/nowhere", 1);
}

static const char *scene(const char *name) {
    return write_dae(name, "<unit meter=\"0.5\"/>", "<node>" DAE_CUBE "</node>");
}

/// Entries of the cache folder, with the path of the last.
static int count_entries(char path[512]) {
    int count = 0;
    char meshes[256];
    snprintf(meshes, sizeof meshes, "%s/meshes", cache);
    DIR *entries = opendir(meshes);
    for (struct dirent *item = entries != NULL ? readdir(entries) : NULL; item != NULL; item = readdir(entries)) {
        if (item->d_name[0] != '.') {
            snprintf(path, 512, "%s/%s", meshes, item->d_name);
            count++;
        }
    }
    if (entries != NULL) {
        closedir(entries);
    }
    return count;
}

static void assert_same(const loaded *a, const loaded *b) {
    assert_memory_equal(&a->facts, &b->facts, sizeof a->facts);
    assert_memory_equal(&a->bounds, &b->bounds, sizeof a->bounds);
    assert_int_equal(a->vertex_count, b->vertex_count);
    assert_int_equal(a->triangle_count, b->triangle_count);
    assert_near(a->mass, b->mass, 0.0);
}

static void a_second_load_parses_nothing_and_gives_the_same(void **state) {
    (void)state;
    stn_mesh_request request = request_of(scene("cube.dae"));
    char path[512];
    for (int hull = 0; hull < 2; hull++) {
        request.convex = hull == 1;
        request.scale.z = -3.0;
        unsetenv("STICTION_MESH_WORKER");
        loaded first = load_request(&request);
        assert_int_equal(first.status, STN_OK);
        assert_int_equal(count_entries(path), hull + 1);
        forget_worker();
        loaded second = load_request(&request);
        assert_int_equal(second.status, STN_OK);
        assert_same(&first, &second);
    }
}

static void the_folder_and_its_files_are_for_their_owner_alone(void **state) {
    (void)state;
    char path[512];
    struct stat what;
    mode_t mask = umask(0);
    must_load(scene("cube.dae"));
    umask(mask);
    assert_int_equal(count_entries(path), 1);
    assert_int_equal(stat(path, &what), 0);
    assert_int_equal(what.st_mode & 07777, 0600);
    *strrchr(path, '/') = '\0';
    assert_int_equal(stat(path, &what), 0);
    assert_int_equal(what.st_mode & 07777, 0700);
}

static void solids_of_tetrahedra_come_back_whole(void **state) {
    (void)state;
    const char *path = write_text("one.vtk", "# vtk DataFile Version 3.0\none\nASCII\nDATASET UNSTRUCTURED_GRID\n"
                                             "POINTS 5 double\n0 0 0 1 0 0 0 1 0 0 0 1 .2 .2 .2\nCELLS 4 20\n"
                                             "4 0 1 2 4\n4 0 1 3 4\n4 0 2 3 4\n4 1 2 3 4\nCELL_TYPES 4\n"
                                             "10 10 10 10\nPOINT_DATA 5\nSCALARS extent double\n"
                                             "LOOKUP_TABLE default\n0 .5 0 0 1\n");
    stn_mesh_request request = request_of(path);
    for (int turn = 0; turn < 2; turn++) {
        stn_context *context = NULL;
        const stn_mesh *mesh = NULL;
        stn_error err = {STN_OK, ""};
        assert_ok(stn_context_create(NULL, &context, &err), err);
        assert_ok(stn_mesh_load(context, &request, &mesh, &err), err);
        assert_int_equal(mesh->tetrahedron_count, 4);
        assert_int_equal(mesh->tetrahedra[0] + mesh->tetrahedra[1] + mesh->tetrahedra[2] + mesh->tetrahedra[3], 7);
        assert_memory_equal(mesh->extents, ((double[]){0.0, 0.0, 0.0, 0.0, 1.0}), 5 * sizeof(double));
        assert_int_equal(mesh->facts.solid.raised_count, 1);
        assert_int_equal(mesh->facts.solid.inverted_count, 2);
        assert_int_equal(mesh->facts.solid.part_count, 1);
        assert_near(mesh->solid.mass, 1.0 / 6.0, 1e-15);
        stn_mesh_release(mesh);
        stn_context_destroy(context);
    }
}

static void off_and_unusable_folders_only_cost_time(void **state) {
    (void)state;
    const char *path = scene("cube.dae");
    char entry[512];
    setenv("STICTION_CACHE", "off", 1);
    must_load(path);
    assert_int_equal(count_entries(entry), 0);
    setenv("STICTION_CACHE", write_text("file", "no folder"), 1);
    must_load(path);
    setenv("STICTION_CACHE", "/proc/no/folder/can/be/made/here", 1);
    must_load(path);
    setenv("STICTION_CACHE", cache, 1);
    setenv("STICTION_CACHE_MIB", "0", 1);
    must_load(path);
    assert_int_equal(count_entries(entry), 0);
}

static void a_folder_that_others_may_write_is_not_used(void **state) {
    (void)state;
    char meshes[256];
    const char *path = scene("cube.dae");
    must_load(path);
    snprintf(meshes, sizeof meshes, "%s/meshes", cache);
    assert_int_equal(chmod(meshes, 0777), 0);
    forget_worker();
    must_refuse(path, STN_ERR_FILE, "cannot be started");
    assert_int_equal(chmod(meshes, 0700), 0);
    must_load(path);
}

static void a_read_only_folder_still_gives_what_it_holds(void **state) {
    (void)state;
    char meshes[256], entry[512];
    const char *path = scene("cube.dae"), *other = write_dae("other.dae", "", "<node>" DAE_CUBE "</node>");
    must_load(path);
    snprintf(meshes, sizeof meshes, "%s/meshes", cache);
    assert_int_equal(chmod(meshes, 0500), 0);
    must_load(other);
    if (geteuid() != 0) { // root writes anyway
        assert_int_equal(count_entries(entry), 1);
    }
    forget_worker();
    must_load(path);
    assert_int_equal(chmod(meshes, 0700), 0); // for leave_folder
}

static void the_folder_is_found_by_the_rules_of_xdg(void **state) {
    (void)state;
    char home[600], xdg[600];
    struct stat what;
    const char *path = scene("cube.dae");
    snprintf(home, sizeof home, "%s/home", folder);
    snprintf(xdg, sizeof xdg, "%s/xdg", folder);
    char *home_before = getenv("HOME") != NULL ? strdup(getenv("HOME")) : NULL;
    unsetenv("STICTION_CACHE");
    setenv("HOME", home, 1);
    setenv("XDG_CACHE_HOME", xdg, 1);
    must_load(path);
    assert_int_equal(stat(in_folder("xdg/stiction/meshes"), &what), 0);
    setenv("XDG_CACHE_HOME", "relative", 1); // ignored
    must_load(path);
    assert_int_equal(stat(in_folder("home/.cache/stiction/meshes"), &what), 0);
    assert_int_not_equal(stat("relative", &what), 0);
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    must_load(path);
    if (home_before != NULL) {
        setenv("HOME", home_before, 1);
    }
    free(home_before);
}

static void damage_of_any_byte_is_as_if_the_entry_were_absent(void **state) {
    (void)state;
    char path[512];
    size_t size = 0;
    const char *dae = scene("cube.dae");
    must_load(dae);
    assert_int_equal(count_entries(path), 1);
    char *bytes = read_bytes(path, &size);
    forget_worker();
    must_load(dae);
    for (size_t i = 0; i < size; i++) {
        bytes[i] ^= (char)(1 << i % 8);
        FILE *file = fopen(path, "wb");
        assert_int_equal(fwrite(bytes, 1, size, file), size);
        fclose(file);
        bytes[i] ^= (char)(1 << i % 8);
        must_refuse(dae, STN_ERR_FILE, "cannot be started");
    }
    for (size_t cut = 0; cut < size; cut += 7) {
        FILE *file = fopen(path, "wb");
        assert_int_equal(fwrite(bytes, 1, cut, file), cut);
        fclose(file);
        must_refuse(dae, STN_ERR_FILE, "cannot be started");
    }
    // with a worker the entry is made anew
    unsetenv("STICTION_MESH_WORKER");
    must_load(dae);
    forget_worker();
    must_load(dae);
    free(bytes);
}

static void an_entry_that_is_no_regular_file_is_not_read(void **state) {
    (void)state;
    char path[512];
    const char *dae = scene("cube.dae");
    must_load(dae);
    assert_int_equal(count_entries(path), 1);
    assert_int_equal(rename(path, in_folder("elsewhere")), 0);
    assert_int_equal(symlink(in_folder("elsewhere"), path), 0);
    forget_worker();
    must_refuse(dae, STN_ERR_FILE, "cannot be started");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    must_refuse(dae, STN_ERR_FILE, "cannot be started");
}

static void a_scene_is_read_anew_when_a_file_that_it_names_has_changed(void **state) {
    (void)state;
    unsigned char buffer[GLTF_BYTES];
    const float far_away = -5.0f;
    write_gltf_buffer("cube.bin");
    const char *path = write_gltf("cube.gltf", "cube.bin", "{\"mesh\":0}");
    stn_mesh_request request = request_of(path);
    stn_context *context = NULL;
    const stn_mesh *first = NULL, *second = NULL, *third = NULL;
    stn_error err = {STN_OK, ""};
    assert_ok(stn_context_create(NULL, &context, &err), err);
    assert_ok(stn_mesh_load(context, &request, &first, &err), err);
    assert_ok(stn_mesh_load(context, &request, &second, &err), err);
    assert_ptr_equal(first, second);
    forget_worker();
    must_load(path);
    fill_gltf_buffer(buffer);
    memcpy(buffer, &far_away, sizeof far_away); // x of the first corner
    write_bytes("cube.bin", buffer, sizeof buffer);
    must_refuse(path, STN_ERR_FILE, "cannot be started");
    unsetenv("STICTION_MESH_WORKER");
    assert_ok(stn_mesh_load(context, &request, &third, &err), err);
    assert_near(first->bounds.lower.x, -1.0, 0.0);
    assert_near(third->bounds.lower.x, -5.0, 0.0);
    stn_mesh_release(first);
    stn_mesh_release(second);
    stn_mesh_release(third);
    stn_context_destroy(context);
    // nor is the entry used where the file is outside of what is allowed, or gone
    forget_worker();
    must_load(path);
    assert_int_equal(rename(in_folder("cube.bin"), in_folder("gone.bin")), 0);
    must_refuse(path, STN_ERR_FILE, "cannot be started");
    assert_int_equal(mkdir(in_folder("sub"), 0700), 0);
    assert_int_equal(rename(in_folder("gone.bin"), in_folder("sub/cube.bin")), 0);
    assert_int_equal(symlink("sub/cube.bin", in_folder("cube.bin")), 0);
    must_load(path);
    assert_int_equal(rename(in_folder("sub/cube.bin"), "/tmp/stiction_outside.bin"), 0);
    assert_int_equal(unlink(in_folder("cube.bin")), 0);
    assert_int_equal(symlink("/tmp/stiction_outside.bin", in_folder("cube.bin")), 0);
    must_refuse(path, STN_ERR_FILE, "cannot be started");
    unlink("/tmp/stiction_outside.bin");
}

static void many_processes_may_write_and_read_the_same_entries(void **state) {
    (void)state;
    enum { PROCESSES = 4, TURNS = 20 };
    char path[512];
    const char *obj = write_obj("cube.obj");
    pid_t processes[PROCESSES];
    for (int i = 0; i < PROCESSES; i++) {
        processes[i] = fork();
        assert_true(processes[i] >= 0);
        if (processes[i] == 0) {
            bool good = true;
            for (int turn = 0; turn < TURNS; turn++) {
                stn_mesh_request request = request_of(obj);
                request.scale.x = 1.0 + turn;
                good = good && load_request(&request).status == STN_OK;
            }
            _exit(good ? 0 : 1);
        }
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status = -1;
        assert_int_equal(waitpid(processes[i], &status, 0), processes[i]);
        assert_int_equal(status, 0);
    }
    assert_int_equal(count_entries(path), TURNS); // and no temporary file
}

static void the_oldest_entries_go_when_the_folder_is_full(void **state) {
    (void)state;
    enum { FILES = 40 };
    // a fan of 700 triangles: entries of some 25 kB, so that a MiB holds about 40
    static char text[1 << 16];
    char path[512], name[32];
    char *at = text;
    at += sprintf(at, "v 0 0 1\n");
    for (int i = 0; i < 700; i++) {
        at += sprintf(at, "v %.9f %.9f 0\n", cos(0.008 * i), sin(0.008 * i));
    }
    for (int i = 2; i <= 700; i++) {
        at += sprintf(at, "f 1 %d %d\n", i, i + 1);
    }
    setenv("STICTION_CACHE_MIB", "0.5", 1);
    for (int i = 0; i < FILES; i++) {
        sprintf(at, "# %d\n", i);
        snprintf(name, sizeof name, "%d.obj", i);
        must_load(write_text(name, text));
        assert_true(count_entries(path) > 0);
    }
    int64_t total = 0;
    char meshes[256];
    snprintf(meshes, sizeof meshes, "%s/meshes", cache);
    DIR *entries = opendir(meshes);
    for (struct dirent *item = readdir(entries); item != NULL; item = readdir(entries)) {
        struct stat what;
        assert_int_equal(fstatat(dirfd(entries), item->d_name, &what, 0), 0);
        total += S_ISREG(what.st_mode) ? what.st_size : 0;
    }
    closedir(entries);
    assert_true(total <= 512 << 10);
    assert_true(total > 256 << 10); // and not more than needed
}

static void a_forgotten_temporary_file_is_removed(void **state) {
    (void)state;
    char meshes[256], left[512], fresh[512];
    struct timespec times[2];
    struct stat what;
    must_load(write_obj("first.obj"));
    snprintf(meshes, sizeof meshes, "%s/meshes", cache);
    snprintf(left, sizeof left, "%s/new-abcdef", meshes);
    snprintf(fresh, sizeof fresh, "%s/new-ghijkl", meshes);
    fclose(fopen(left, "w"));
    fclose(fopen(fresh, "w"));
    clock_gettime(CLOCK_REALTIME, &times[0]);
    times[0].tv_sec -= 7200;
    times[1] = times[0];
    assert_int_equal(utimensat(AT_FDCWD, left, times, 0), 0);
    must_load(scene("second.dae"));
    assert_int_not_equal(stat(left, &what), 0);
    assert_int_equal(stat(fresh, &what), 0);
}

static void running_out_of_memory_with_a_cache_leaves_nothing(void **state) {
    (void)state;
    stn_mesh_request request = request_of(write_obj("a.obj"));
    must_load(request.path);
    load_without_memory(&request);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_second_load_parses_nothing_and_gives_the_same, enter_cache, leave_folder),
        cmocka_unit_test_setup_teardown(the_folder_and_its_files_are_for_their_owner_alone, enter_cache, leave_folder),
        cmocka_unit_test_setup_teardown(solids_of_tetrahedra_come_back_whole, enter_cache, leave_folder),
        cmocka_unit_test_setup_teardown(off_and_unusable_folders_only_cost_time, enter_cache, leave_folder),
        cmocka_unit_test_setup_teardown(a_folder_that_others_may_write_is_not_used, enter_cache, leave_folder),
        cmocka_unit_test_setup_teardown(a_read_only_folder_still_gives_what_it_holds, enter_cache, leave_folder),
        cmocka_unit_test_setup_teardown(the_folder_is_found_by_the_rules_of_xdg, enter_cache, leave_folder),
        cmocka_unit_test_setup_teardown(damage_of_any_byte_is_as_if_the_entry_were_absent, enter_cache, leave_folder),
        cmocka_unit_test_setup_teardown(an_entry_that_is_no_regular_file_is_not_read, enter_cache, leave_folder),
        cmocka_unit_test_setup_teardown(a_scene_is_read_anew_when_a_file_that_it_names_has_changed, enter_cache,
                                        leave_folder),
        cmocka_unit_test_setup_teardown(many_processes_may_write_and_read_the_same_entries, enter_cache, leave_folder),
        cmocka_unit_test_setup_teardown(the_oldest_entries_go_when_the_folder_is_full, enter_cache, leave_folder),
        cmocka_unit_test_setup_teardown(a_forgotten_temporary_file_is_removed, enter_cache, leave_folder),
        cmocka_unit_test_setup_teardown(running_out_of_memory_with_a_cache_leaves_nothing, enter_cache, leave_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
