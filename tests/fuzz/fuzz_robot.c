// SPDX-License-Identifier: Apache-2.0
// Robot files, read by the loader that FORMAT names under a name with its EXTENSION. Whatever is let through must
// compile; whatever is not must be said, and leave nothing behind. The text is given as a memory file under the name of
// a file in a package that also holds what robot files name.
#define _GNU_SOURCE // memfd_create
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <stiction/plugin.h>

#include "must.h"

static stn_context *context;
static stn_instance *loader;
static char folder[] = "/tmp/stn_fuzz_robot_XXXXXX", robot_path[64];
static int robot_file;

static const char tetrahedron[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

/// What lies around the robot's file, for it to name: a package with a mesh, parts of a file, folders of models.
static const char *const others[][2] = {
    {"package.xml", "<package><name>p</name></package>"},
    {"m.obj", tetrahedron},
    {"t.vtk",
     "# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 float\n0 0 0 1 0 0 0 1 0 0 0 1\n"
     "CELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n10\n"},
    {"urdf/part.xml", "<mujocoinclude><body name='part'><geom size='1'/></body></mujocoinclude>"},
    {"urdf/part.sdf", "<sdf version='1.6'><model name='p'><link name='l'/></model></sdf>"},
    {"urdf/model.config", "<model><sdf version='1.6'>part.sdf</sdf></model>"},
    {"model.config", "<model><sdf version='1.6'>urdf/part.sdf</sdf></model>"},
};

static void write_file(const char *name, const char *text) {
    char path[64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    must(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void remove_file(const char *name) {
    char path[64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    remove(path);
}

static void remove_folder(void) {
    for (int32_t i = 0; i < STN_COUNT(others); i++) {
        remove_file(others[i][0]);
    }
    remove_file("urdf/robot." EXTENSION);
    remove_file("urdf");
    remove_file("");
}

static void drop_log(void *user, stn_log_level level, const char *text) {
    (void)user, (void)level, (void)text;
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    static const char *const searched[] = {"ROS_PACKAGE_PATH", "GZ_SIM_RESOURCE_PATH", "GAZEBO_MODEL_PATH", "SDF_PATH"};
    const stn_context_options options = {.log = drop_log};
    char path[64];
    setenv("STICTION_CACHE", "off", 1);
    for (int32_t i = 0; i < STN_COUNT(searched); i++) {
        unsetenv(searched[i]);
    }
    must(mkdtemp(folder) != NULL && atexit(remove_folder) == 0);
    snprintf(path, sizeof path, "%s/urdf", folder);
    must(mkdir(path, 0700) == 0);
    for (int32_t i = 0; i < STN_COUNT(others); i++) {
        write_file(others[i][0], others[i][1]);
    }
    robot_file = memfd_create("robot", 0);
    must(robot_file >= 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", robot_file);
    snprintf(robot_path, sizeof robot_path, "%s/urdf/robot." EXTENSION, folder);
    must(symlink(path, robot_path) == 0);
    must(stn_context_create(&options, &context, NULL) == STN_OK);
    must(stn_instance_create(context, STN_KIND_LOADER, FORMAT, NULL, 0, &loader, NULL) == STN_OK);
    return 0;
}

static void must_be_line(const char *text) {
    while (*text != '\0') {
        size_t length = stn_utf8_length(text);
        must(length > 0 && (length > 1 || ((unsigned char)*text >= 0x20 && *text != 0x7f)));
        text += length;
    }
}

static void check_findings(const stn_diagnostics *list) {
    int32_t errors = 0;
    for (int32_t i = 0; i < list->count; i++) {
        const stn_diagnostic *d = &list->items[i];
        errors += d->severity == STN_SEVERITY_ERROR;
        must(d->code[0] != '\0' && d->text[0] != '\0' && d->line >= 0);
        must_be_line(d->where);
        must_be_line(d->text);
    }
    must(errors == (list->error_count < 100 ? list->error_count : 100));
}

static void check_robot(stn_model_builder *builder) {
    stn_model *model = NULL;
    stn_error err = {STN_OK, ""};
    must(stn_model_compile(builder, &model, &err) == STN_OK);
    must(model->group_count == 1 && model->link_count > 0);
    if (model->joint_count > 0) {
        reached("joints");
    }
    for (int32_t i = 0; i < model->geometry_count; i++) {
        const stn_geometry *g = &model->geometries[i];
        must(!g->collision || g->shape.type != STN_SHAPE_MESH || g->shape.mesh != NULL);
        reached(g->collision ? "collision" : "visual");
    }
    for (int32_t i = 0; i < model->element_group_count; i++) {
        reached(model->element_groups[i].instance->desc->id);
    }
    stn_model_destroy(model);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const stn_load_request request = {.path = robot_path, .visual_meshes = size % 2 == 0};
    stn_model_builder *builder = NULL;
    stn_diagnostics list;
    stn_error err = {STN_OK, ""};
    int32_t robot = -1;
    must(ftruncate(robot_file, 0) == 0 && pwrite(robot_file, data, size, 0) == (ssize_t)size);
    must(stn_builder_create(context, &builder, NULL) == STN_OK);
    stn_diagnostics_init(&list, context);
    stn_status status = loader->desc->ops.loader->load(loader->self, &request, builder, &robot, &list, &err);
    must((status == STN_OK) == (list.error_count == 0) && (status == STN_OK || err.text[0] != '\0'));
    check_findings(&list);
    if (status == STN_OK) {
        must(robot == 0);
        reached("accepted");
        check_robot(builder);
    } else {
        must(robot == -1 && stn_builder_begin_group(builder, "next", &robot, NULL) == STN_OK && robot == 0);
    }
    stn_diagnostics_clear(&list);
    stn_builder_destroy(builder);
    return 0;
}
