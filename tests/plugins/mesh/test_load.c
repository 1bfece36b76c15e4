// SPDX-License-Identifier: Apache-2.0
// Mesh files by name and content: which reader, what is refused, what is shared.
#include "mesh_files.h"

#include <pthread.h>

/// Binary STL of the tetrahedron (0,0,0), (1,0,0), (0,1,0), (0,0,1).
static const char *write_stl(const char *name) {
    static const float corners[4][3][3] = {{{0, 0, 0}, {0, 1, 0}, {1, 0, 0}},
                                           {{0, 0, 0}, {1, 0, 0}, {0, 0, 1}},
                                           {{0, 0, 0}, {0, 0, 1}, {0, 1, 0}},
                                           {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    unsigned char bytes[84 + 4 * 50] = "solid by name, but binary";
    const uint32_t count = 4;
    memcpy(bytes + 80, &count, sizeof count);
    for (int i = 0; i < 4; i++) {
        memcpy(bytes + 84 + 50 * i + 12, corners[i], sizeof corners[i]);
    }
    return write_bytes(name, bytes, sizeof bytes);
}

static const char *write_ascii_stl(const char *name) {
    return write_text(name,
                      "solid t\n"
                      "facet normal 0 0 -1\nouter loop\nvertex 0 0 0\nvertex 0 1 0\nvertex 1 0 0\nendloop\nendfacet\n"
                      "facet normal 0 -1 0\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 0 1\nendloop\nendfacet\n"
                      "facet normal -1 0 0\nouter loop\nvertex 0 0 0\nvertex 0 0 1\nvertex 0 1 0\nendloop\nendfacet\n"
                      "facet normal 1 1 1\nouter loop\nvertex 1 0 0\nvertex 0 1 0\nvertex 0 0 1\nendloop\nendfacet\n"
                      "endsolid t\n");
}

static const char *write_vtk(const char *name) {
    return write_text(name, "# vtk DataFile Version 3.0\none\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 double\n"
                            "0 0 0 1 0 0 0 1 0 0 0 1\nCELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n10\n");
}

static const char *write_msh(const char *name) {
    return write_text(name, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n"
                            "$EndNodes\n$Elements\n1\n1 4 0 1 2 3 4\n$EndElements\n");
}

static void names_in_any_case_choose_the_reader(void **state) {
    (void)state;
    const char *sixths[] = {write_stl("a.stl"), write_stl("b.STL"), write_ascii_stl("c.StL"),
                            write_vtk("d.VTK"), write_msh("e.Msh"), write_ascii_stl("f.stl")};
    for (size_t i = 0; i < sizeof sixths / sizeof sixths[0]; i++) {
        assert_near(must_load(sixths[i]).mass, 1.0 / 6.0, 1e-15);
    }
    assert_near(must_load(write_obj("g.Obj")).mass, 8.0, 1e-14);
    assert_near(must_load(write_dae("h.DAE", "", "<node>" DAE_CUBE "</node>")).mass, 8.0, 1e-14);
    assert_near(must_load(write_glb("i.GlB", "{\"mesh\":0}")).mass, 8.0, 1e-14);
}

static void unmistakable_content_wins_over_the_name(void **state) {
    (void)state;
    assert_near(must_load(write_stl("binary.obj")).mass, 1.0 / 6.0, 1e-15);
    assert_near(must_load(write_vtk("vtk.stl")).mass, 1.0 / 6.0, 1e-15);
    assert_near(must_load(write_msh("msh.vtk")).mass, 1.0 / 6.0, 1e-15);
    assert_near(must_load(write_dae("dae.stl", "", "<node>" DAE_CUBE "</node>")).mass, 8.0, 1e-14);
    assert_near(must_load(write_glb("glb.dae", "{\"mesh\":0}")).mass, 8.0, 1e-14);
}

static void other_names_are_refused_with_the_supported_ones(void **state) {
    (void)state;
    const char *const names[] = {"mesh.ply", "mesh", "stl", "mesh.stl.gz", "mesh."};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        must_refuse(write_stl(names[i]), STN_ERR_ARGUMENT, ".dae .gltf .glb .msh .obj .stl .vtk");
    }
}

static void what_is_no_regular_file_of_sensible_size_is_refused_without_waiting(void **state) {
    (void)state;
    assert_int_equal(mkdir(in_folder("folder.stl"), 0700), 0);
    assert_int_equal(mkfifo(in_folder("pipe.stl"), 0600), 0);
    assert_int_equal(symlink("/dev/zero", in_folder("device.stl")), 0);
    assert_int_equal(symlink("loop.stl", in_folder("loop.stl")), 0);
    must_refuse(in_folder("folder.stl"), STN_ERR_FILE, "directory");
    must_refuse(in_folder("pipe.stl"), STN_ERR_FILE, "no regular file");
    must_refuse(in_folder("device.stl"), STN_ERR_FILE, "no regular file");
    must_refuse(in_folder("loop.stl"), STN_ERR_FILE, "symbolic links");
    must_refuse(in_folder("absent.stl"), STN_ERR_FILE, "No such file");
    const char *large = write_text("large.stl", "");
    assert_int_equal(truncate(large, (256 << 20) + 1), 0);
    must_refuse(large, STN_ERR_FILE, "limit of 268435456");
    must_refuse(write_text("empty.stl", ""), STN_ERR_ARGUMENT, "");
    must_refuse(write_text("empty.obj", ""), STN_ERR_ARGUMENT, "");
}

static void bad_requests_are_refused(void **state) {
    (void)state;
    stn_mesh_request request = request_of(write_stl("a.stl"));
    const double bad[] = {0.0, NAN, INFINITY};
    for (size_t i = 0; i < 3; i++) {
        request.scale.y = bad[i];
        loaded l = load_request(&request);
        assert_int_equal(l.status, STN_ERR_ARGUMENT);
        assert_non_null(strstr(l.err.text, "must be finite and not 0"));
    }
    request = request_of(NULL);
    assert_int_equal(load_request(&request).status, STN_ERR_ARGUMENT);
    request = request_of("");
    assert_int_equal(load_request(&request).status, STN_ERR_ARGUMENT);
}

static void scale_and_hull_come_as_asked(void **state) {
    (void)state;
    stn_mesh_request request = request_of(
        write_dae("cubes.dae", "", "<node>" DAE_CUBE "<node><translate>4 0 0</translate>" DAE_CUBE "</node></node>"));
    request.scale = (stn_vec3){0.5, -2.0, 1.0};
    loaded l = load_request(&request);
    assert_int_equal(l.status, STN_OK);
    assert_near(l.mass, 16.0, 1e-13);
    assert_bounds(&l, (stn_vec3){-0.5, -2.0, -1.0}, (stn_vec3){2.5, 2.0, 1.0}, 1e-15);
    request.convex = true; // fills the gap between the cubes: 3 x 4 x 2
    l = load_request(&request);
    assert_int_equal(l.status, STN_OK);
    assert_near(l.mass, 24.0, 1e-13);
    assert_int_equal(l.facts.instance_count, 2);
}

static void a_flat_mesh_has_no_hull_and_the_error_names_the_file(void **state) {
    (void)state;
    stn_mesh_request request = request_of(write_text("flat.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"));
    assert_int_equal(load_request(&request).status, STN_OK);
    request.convex = true;
    loaded l = load_request(&request);
    assert_int_equal(l.status, STN_ERR_ARGUMENT);
    assert_non_null(strstr(l.err.text, "flat.obj"));
}

static void equal_files_under_several_names_share_one_mesh(void **state) {
    (void)state;
    stn_context *context = NULL;
    stn_error err = {STN_OK, ""};
    const stn_mesh *meshes[5];
    assert_ok(stn_context_create(NULL, &context, &err), err);
    stn_mesh_request requests[5] = {request_of(write_obj("a.obj")), request_of(in_folder("a.obj")),
                                    request_of(write_obj("b.obj")), request_of(in_folder("a.obj")),
                                    request_of(in_folder("b.obj"))};
    requests[3].scale.x = -1.0;
    requests[4].convex = true;
    for (int i = 0; i < 5; i++) {
        assert_ok(stn_mesh_load(context, &requests[i], &meshes[i], &err), err);
    }
    assert_ptr_equal(meshes[0], meshes[1]);
    assert_ptr_equal(meshes[0], meshes[2]);
    assert_ptr_not_equal(meshes[0], meshes[3]);
    assert_ptr_not_equal(meshes[0], meshes[4]);
    assert_true(meshes[4]->convex && !meshes[0]->convex);
    for (int i = 0; i < 5; i++) {
        stn_mesh_release(meshes[i]);
    }
    // what nobody holds is still found, and a changed file is read anew
    assert_ok(stn_mesh_load(context, &requests[0], &meshes[0], &err), err);
    stn_mesh_release(meshes[0]);
    write_text("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    assert_ok(stn_mesh_load(context, &requests[0], &meshes[0], &err), err);
    assert_int_equal(meshes[0]->triangle_count, 1);
    stn_mesh_release(meshes[0]);
    stn_context_destroy(context);
}

typedef struct job {
    stn_context *context;
    const char *path;
    const stn_mesh *mesh;
    stn_status status;
} job;

static void *load_often(void *of) {
    job *j = of;
    stn_mesh_request request = request_of(j->path);
    for (int i = 0; i < 50 && j->status == STN_OK; i++) {
        stn_mesh_release(j->mesh);
        j->status = stn_mesh_load(j->context, &request, &j->mesh, NULL);
    }
    return NULL;
}

static void threads_may_load_the_same_file_at_once(void **state) {
    (void)state;
    enum { THREADS = 4 };
    stn_context *context = NULL;
    stn_error err = {STN_OK, ""};
    pthread_t threads[THREADS];
    job jobs[THREADS];
    const char *path = write_dae("cube.dae", "", "<node>" DAE_CUBE "</node>");
    assert_ok(stn_context_create(NULL, &context, &err), err);
    for (int i = 0; i < THREADS; i++) {
        jobs[i] = (job){context, path, NULL, STN_OK};
        assert_int_equal(pthread_create(&threads[i], NULL, load_often, &jobs[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(jobs[i].status, STN_OK);
        assert_ptr_equal(jobs[i].mesh, jobs[0].mesh);
    }
    for (int i = 0; i < THREADS; i++) {
        stn_mesh_release(jobs[i].mesh);
    }
    stn_context_destroy(context);
    assert_no_children();
}

static void running_out_of_memory_anywhere_leaves_nothing(void **state) {
    (void)state;
    stn_mesh_request request = request_of(write_obj("a.obj"));
    request.convex = true;
    request.scale.x = 2.0;
    load_without_memory(&request);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(names_in_any_case_choose_the_reader, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(unmistakable_content_wins_over_the_name, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(other_names_are_refused_with_the_supported_ones, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(what_is_no_regular_file_of_sensible_size_is_refused_without_waiting,
                                        enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(bad_requests_are_refused, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(scale_and_hull_come_as_asked, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(a_flat_mesh_has_no_hull_and_the_error_names_the_file, enter_folder,
                                        leave_folder),
        cmocka_unit_test_setup_teardown(equal_files_under_several_names_share_one_mesh, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(threads_may_load_the_same_file_at_once, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(running_out_of_memory_anywhere_leaves_nothing, enter_folder, leave_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
