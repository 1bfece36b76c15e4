// SPDX-License-Identifier: Apache-2.0
// stiction-mesh: reads one scene file (COLLADA, glTF) by assimp and answers with triangles. The library starts it for
// every such file, with the socket to itself as standard input; it is of no use by hand. assimp meets strangers' files
// here and nowhere else: a crash, a loop or a greedy file ends this process, not the program that loads a robot.
#define _GNU_SOURCE // close_range, madvise
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/mman.h>
#include <sys/socket.h>

#include <assimp/cimport.h>
#include <assimp/commonMetaData.h>
#include <assimp/config.h>
#include <assimp/postprocess.h>

#include "worker/worker.h"

static void receive(void *bytes, size_t size) {
    size_t have = 0;
    while (have < size) {
        ssize_t n = recv(STN_WORKER_CHANNEL, (char *)bytes + have, size - have, MSG_WAITALL);
        if (n <= 0) {
            _exit(1); // the library has gone away
        }
        have += (size_t)n;
    }
}

static char *receive_text(uint32_t length) {
    char *text = length < STN_MESH_PATH_MAX ? malloc((size_t)length + 1) : NULL;
    if (text == NULL) {
        channel_fail("the request names a folder of %u bytes", length);
    }
    receive(text, length);
    text[length] = '\0';
    return text;
}

/// Only the importer of the format counts: assimp tries others when it does not recognise a file.
static bool is_of_format(const struct aiScene *scene, mesh_scene_format format) {
    const struct aiMetadata *data = scene->mMetaData;
    for (uint32_t i = 0; data != NULL && i < data->mNumProperties; i++) {
        if (strcmp(data->mKeys[i].data, AI_METADATA_SOURCE_FORMAT) == 0 && data->mValues[i].mType == AI_AISTRING) {
            const struct aiString *name = data->mValues[i].mData;
            return strncmp(name->data, format == MESH_SCENE_DAE ? "Collada" : "glTF",
                           format == MESH_SCENE_DAE ? 7 : 4) == 0;
        }
    }
    return false;
}

int main(void) {
    close_range(STN_WORKER_CHANNEL + 3, ~0U, 0); // what the program that started it left open
    file_set files = {0};
    mesh_wire_request request;
    receive(&request, sizeof request);
    if (memcmp(request.magic, MESH_WIRE_REQUEST, sizeof request.magic) != 0 || request.version != MESH_WIRE_VERSION ||
        request.format < MESH_SCENE_DAE || request.format > MESH_SCENE_GLB || request.size > STN_MESH_FILE_MAX) {
        channel_fail("stiction-mesh and the library are of different versions");
    }
    stn_worker_limit(request.memory, request.seconds);
    // Memory for the whole import in large pages, where the system has them: the process lives for milliseconds, and
    // most of them went into page faults. What is not used costs address space only.
    const size_t page = (size_t)2 << 20, size = 4 * page + 10 * request.size;
    mallopt(M_MMAP_THRESHOLD, INT_MAX);
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
    char *memory = malloc(size);
    if (memory != NULL) {
        char *first = (char *)(((uintptr_t)memory + page - 1) / page * page);
        madvise(first, size - (size_t)(first - memory), MADV_HUGEPAGE);
        free(memory); // stays in the heap: nothing is trimmed
    }
    files.root = receive_text(request.root_length);
    files.folder = receive_text(request.folder_length);
    files.scene.size = request.size;
    files.scene.bytes = malloc(request.size + 1);
    files.further = calloc(STN_MESH_FURTHER_MAX, sizeof *files.further);
    if (files.scene.bytes == NULL || files.further == NULL) {
        channel_fail("out of memory");
    }
    receive(files.scene.bytes, request.size);
    static const char *const names[] = {"", "scene.dae", "scene.gltf", "scene.glb"}; // the ending chooses the importer
    snprintf(files.scene.name, sizeof files.scene.name, "%s", names[request.format]);
    mesh_scene_format format = (mesh_scene_format)request.format;
    struct aiFileIO face;
    file_set_face(&files, &face);
    struct aiPropertyStore *settings = aiCreatePropertyStore();
    if (settings == NULL) {
        channel_fail("out of memory");
    }
    aiSetImportPropertyInteger(settings, AI_CONFIG_IMPORT_NO_SKELETON_MESHES, 1);
    stn_worker_limit_calls();
    const struct aiScene *scene =
        aiImportFileExWithProperties(files.scene.name, aiProcess_Triangulate, &face, settings);
    const char *wrong_format = "it is not of the format that its name says";
    if (scene == NULL && strncmp(aiGetErrorString(), "No suitable reader", 18) == 0) {
        channel_fail("%s", wrong_format);
    }
    if (scene == NULL && strcmp(aiGetErrorString(), "std::bad_alloc") == 0) {
        channel_fail("reading it needs more than the %llu MiB allowed for its size: it holds too many placements, or "
                     "is damaged",
                     (unsigned long long)(request.memory >> 20));
    }
    if (scene == NULL) {
        channel_fail("%s%s%s%s", aiGetErrorString(), files.refusal[0] != '\0' ? " (" : "", files.refusal,
                     files.refusal[0] != '\0' ? ")" : "");
    }
    if (scene->mRootNode == NULL || !is_of_format(scene, format)) {
        channel_fail("%s", wrong_format);
    }
    scene_reply(scene, format, &files, request.reply_bytes);
    _exit(0); // memory goes with the process
}
