// SPDX-License-Identifier: Apache-2.0
// Every example in Lua of the pages is run as a scenario of its own and must end without an error or a warning. Names
// that an example takes from the text around it (a world, an arm, files) are given by a prelude, when it uses them.
#include "page.h"
#include "stn_command.h"

#define FOLDER STN_BINARY_DIR "/tests/docs_lua"

/// Adds no line, so that errors name the line of the block.
static const char prelude[] = "dofile 'names.lua' ";

static const char names[] =
    "local make = {\n"
    "  stn = function() return require 'stiction' end,\n"
    "  world = function()\n"
    "    local world = stn.world {}\n"
    "    box = world:box { size = { 0.1, 0.1, 0.1 }, xyz = { 1, 0, 1 } }\n"
    "    board = world:box { size = { 1, 1, 0.02 }, xyz = { 0, 0, -1 }, fixed = true }\n"
    "    return world\n"
    "  end,\n"
    "  arm = function() return world:load { 'models/iiwa14/iiwa14.urdf', name = 'arm', fixed = true } end,\n"
    "}\n"
    "setmetatable(_G, { __index = function(all, name)\n"
    "  if make[name] then all[name] = make[name]() end\n"
    "  return rawget(all, name)\n"
    "end })\n";

static const char arm[] = "<mujoco model='arm'><worldbody><body name='base'><geom type='sphere' size='0.1'/>"
                          "<body name='rod' pos='0 0 0.3'><joint name='hinge' type='hinge' axis='0 1 0'/>"
                          "<geom type='capsule' fromto='0 0 0 0 0 0.5' size='0.02'/></body></body></worldbody>"
                          "<actuator><position joint='hinge' kp='100' kv='10'/></actuator>"
                          "<keyframe><key name='home' qpos='0.5'/></keyframe></mujoco>";

static const char part[] = "solid part\n"
                           "facet normal 0 0 -1 outer loop vertex 0 0 0 vertex 0 9 0 vertex 9 0 0 endloop endfacet\n"
                           "facet normal 0 -1 0 outer loop vertex 0 0 0 vertex 9 0 0 vertex 0 0 9 endloop endfacet\n"
                           "facet normal -1 0 0 outer loop vertex 0 0 0 vertex 0 0 9 vertex 0 9 0 endloop endfacet\n"
                           "facet normal 1 1 1 outer loop vertex 9 0 0 vertex 0 9 0 vertex 0 0 9 endloop endfacet\n"
                           "endsolid part\n";

static void write_text(const char *path, const char *begin, const char *text, const char *end) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "%s%s%s", begin, text, end);
    fclose(file);
}

/// Runs the blocks of a page; returns how many there are. What only describes a world is completed by a step.
static int32_t run_blocks(const char *name) {
    char *page = read_page(name), *rest = page;
    int32_t count = 0;
    for (char *block = next_block(&rest, "lua"); block != NULL; block = next_block(&rest, "lua")) {
        bool steps = strstr(block, "world:") != NULL && strstr(block, "stn.test(") == NULL;
        write_text("example.lua", prelude, block, steps ? "world:step()\n" : "");
        stn_run run;
        stn_run_command(&run, "run example.lua 2>&1");
        if (run.status != 0 || strstr(run.out, "warning") != NULL) {
            fail_msg("%s, block %d, exit status %d: %s\n%s", name, (int)count, run.status, run.out, block);
        }
        count++;
    }
    free(page);
    return count;
}

static void the_examples_of_the_pages_run(void **state) {
    (void)state;
    write_text("names.lua", "", names, "");
    write_text("arm.xml", "", arm, "");
    write_text("part.stl", "", part, "");
    assert_true(run_blocks(STN_SOURCE_DIR "/docs/lua.md") >= 16);
    assert_true(run_blocks(STN_SOURCE_DIR "/docs/tasks.md") >= 3);
    assert_true(run_blocks(STN_SOURCE_DIR "/docs/controllers.md") >= 1);
    assert_true(run_blocks(STN_SOURCE_DIR "/docs/soft.md") >= 2);
    assert_true(run_blocks(STN_SOURCE_DIR "/docs/testing.md") >= 1);
    assert_true(run_blocks(STN_SOURCE_DIR "/README.md") >= 1);
    assert_true(run_blocks(STN_SOURCE_DIR "/models/wsg50/README.md") >= 1);
}

int main(void) {
    if (system("mkdir -p '" FOLDER "'") != 0 || chdir(FOLDER) != 0) {
        return 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_examples_of_the_pages_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
