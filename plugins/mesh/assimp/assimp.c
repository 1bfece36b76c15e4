// SPDX-License-Identifier: Apache-2.0
// COLLADA and glTF, by the library assimp in a process of its own (worker/): two plugins, one for each.
#define _GNU_SOURCE // memmem
#include <string.h>

#include <stiction/plugin.h>

#include "scene.h"

/// Made by the build: changes with every source of the process.
extern const char worker_sources[33];

/// The mesh keeps the process, which is waited for when the mesh is made: it needs some time to give its memory back.
static stn_status read_scene(const stn_mesh_source *source, mesh_scene_format format, stn_raw_mesh *out,
                             stn_error *err) {
    mesh_scene *scene = stn_allocate(source->context, 1, sizeof *scene);
    if (scene == NULL) {
        return stn_fail(err, STN_ERR_MEMORY, "%s: out of memory", source->path);
    }
    stn_status status = mesh_scene_read(source, format, scene, err);
    if (status != STN_OK) {
        stn_release(source->context, scene);
        return status;
    }
    *out = scene->raw;
    out->owner = scene;
    return STN_OK;
}

static void release(void *self, stn_context *context, stn_raw_mesh *raw) {
    (void)self;
    mesh_scene_clear(raw->owner);
    stn_release(context, raw->owner);
}

static bool begins_with(const char *bytes, size_t size, const char *text) {
    size_t length = strlen(text);
    return size >= length && memcmp(bytes, text, length) == 0;
}

// ----------------------------------------------------------------------------------------------------------- COLLADA

static bool recognises_dae(const char *bytes, size_t size) {
    size_t head = size < 4096 ? size : 4096, i = begins_with(bytes, size, "\xEF\xBB\xBF") ? 3 : 0;
    while (i < head && strchr(" \t\r\n", bytes[i]) != NULL && bytes[i] != '\0') {
        i++;
    }
    return i < head && bytes[i] == '<' && memmem(bytes, head, "<COLLADA", 8) != NULL;
}

static stn_status read_dae(void *self, const stn_mesh_source *source, stn_raw_mesh *out, stn_error *err) {
    (void)self;
    return read_scene(source, MESH_SCENE_DAE, out, err);
}

static const char example_dae[] =
    "<?xml version=\"1.0\"?>\n"
    "<COLLADA xmlns=\"http://www.collada.org/2005/11/COLLADASchema\" version=\"1.4.1\">\n"
    "<asset><unit name=\"millimeter\" meter=\"0.001\"/><up_axis>Z_UP</up_axis></asset>\n"
    "<library_geometries><geometry id=\"g\"><mesh>\n"
    "<source id=\"p\"><float_array id=\"a\" count=\"12\">0 0 0 1 0 0 0 1 0 0 0 1</float_array>\n"
    "<technique_common><accessor source=\"#a\" count=\"4\" stride=\"3\"><param name=\"X\" type=\"float\"/>\n"
    "<param name=\"Y\" type=\"float\"/><param name=\"Z\" type=\"float\"/></accessor></technique_common></source>\n"
    "<vertices id=\"v\"><input semantic=\"POSITION\" source=\"#p\"/></vertices>\n"
    "<triangles count=\"4\"><input semantic=\"VERTEX\" source=\"#v\" offset=\"0\"/>\n"
    "<p>0 2 1 0 1 3 0 3 2 1 2 3</p></triangles></mesh></geometry></library_geometries>\n"
    "<library_visual_scenes><visual_scene id=\"s\"><node><instance_geometry url=\"#g\"/></node></visual_scene>\n"
    "</library_visual_scenes><scene><instance_visual_scene url=\"#s\"/></scene>\n"
    "</COLLADA>\n";

static const char *const extensions_dae[] = {"dae", NULL};
static const stn_mesh_ops ops_dae = {
    .size = sizeof ops_dae,
    .extensions = extensions_dae,
    .recognises = recognises_dae,
    .read = read_dae,
    .release = release,
    .build = worker_sources,
    .example = example_dae,
    .example_size = sizeof example_dae - 1,
};
static const stn_plugin_desc dae = {
    .size = sizeof dae,
    .kind = STN_KIND_MESH,
    .id = "dae",
    .version = STN_VERSION,
    .summary = "COLLADA scenes: all placements of all triangles",
    .ops = {.mesh = &ops_dae},
};

// --------------------------------------------------------------------------------------------------------------- glTF

/// Of the binary form.
static bool recognises_glb(const char *bytes, size_t size) {
    return begins_with(bytes, size, "glTF");
}

static stn_status read_gltf(void *self, const stn_mesh_source *source, stn_raw_mesh *out, stn_error *err) {
    (void)self;
    bool binary = recognises_glb(source->bytes, source->size);
    return read_scene(source, binary ? MESH_SCENE_GLB : MESH_SCENE_GLTF, out, err);
}

static const char example_gltf[] =
    "{ \"asset\": { \"version\": \"2.0\" }, \"scene\": 0, \"scenes\": [{ \"nodes\": [0] }], \"nodes\": [{ \"mesh\": 0 "
    "}],\n"
    "  \"meshes\": [{ \"primitives\": [{ \"attributes\": { \"POSITION\": 0 }, \"indices\": 1 }] }],\n"
    "  \"accessors\": [{ \"bufferView\": 0, \"componentType\": 5126, \"count\": 3, \"type\": \"VEC3\",\n"
    "                  \"min\": [0, 0, 0], \"max\": [1, 1, 0] },\n"
    "                { \"bufferView\": 1, \"componentType\": 5123, \"count\": 3, \"type\": \"SCALAR\" }],\n"
    "  \"bufferViews\": [{ \"buffer\": 0, \"byteOffset\": 0, \"byteLength\": 36 },\n"
    "                  { \"buffer\": 0, \"byteOffset\": 36, \"byteLength\": 6 }],\n"
    "  \"buffers\": [{ \"byteLength\": 42, \"uri\": \"data:application/octet-stream;base64,"
    "AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAAAAABAAIA\" }] }\n";

static const char *const extensions_gltf[] = {"gltf", "glb", NULL};
static const stn_mesh_ops ops_gltf = {
    .size = sizeof ops_gltf,
    .extensions = extensions_gltf,
    .recognises = recognises_glb,
    .read = read_gltf,
    .release = release,
    .build = worker_sources,
    .example = example_gltf,
    .example_size = sizeof example_gltf - 1,
};
static const stn_plugin_desc gltf = {
    .size = sizeof gltf,
    .kind = STN_KIND_MESH,
    .id = "gltf",
    .version = STN_VERSION,
    .summary = "glTF 2.0, text and binary: all placements of all triangles",
    .ops = {.mesh = &ops_gltf},
};

STN_PLUGIN_LIBRARY(&dae, &gltf);
