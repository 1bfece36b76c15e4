// SPDX-License-Identifier: Apache-2.0
// A fuzz target over its seeds, without a fuzzer: test_fuzz_NAME FOLDER [PART...]. Every seed of FOLDER must be
// accepted by the reader that it is for, one whose name begins with "refused_" must not, and all together reach every
// PART. Without FOLDER, where a target has no seeds, the empty input alone.
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "must.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
__attribute__((weak)) int LLVMFuzzerInitialize(int *argc, char ***argv);

enum { MOST_PARTS = 64 };

static const char *parts[MOST_PARTS]; // static texts, of all seeds
static int part_count;
static bool accepted; // the present seed

void reached(const char *part) {
    accepted = accepted || strcmp(part, "accepted") == 0;
    for (int i = 0; i < part_count; i++) {
        if (strcmp(parts[i], part) == 0) {
            return;
        }
    }
    must(part_count < MOST_PARTS);
    parts[part_count++] = part;
}

static bool run_file(const char *folder, const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    must(file != NULL && fseek(file, 0, SEEK_END) == 0);
    size_t size = (size_t)ftell(file);
    rewind(file);
    uint8_t *data = malloc(size > 0 ? size : 1); // exactly as long: sanitizers see what is read behind it
    must(data != NULL && fread(data, 1, size, file) == size);
    fclose(file);
    accepted = false;
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    bool wanted = strncmp(name, "refused_", 8) != 0;
    if (accepted != wanted) {
        printf("%s: %s\n", path,
               wanted ? "refused: renew it (./dev fuzz --seeds), or name it refused_..." : "accepted");
    }
    return accepted == wanted;
}

static int run_folder(const char *folder, int *failed) {
    int count = 0;
    DIR *listing = opendir(folder);
    must(listing != NULL);
    for (struct dirent *entry = readdir(listing); entry != NULL; entry = readdir(listing)) {
        if (entry->d_name[0] != '.') {
            count++;
            *failed += !run_file(folder, entry->d_name);
        }
    }
    closedir(listing);
    return count;
}

int main(int argc, char **argv) {
    int failed = 0, count = 0;
    if (LLVMFuzzerInitialize != NULL) {
        LLVMFuzzerInitialize(&argc, &argv);
    }
    LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
    if (argc > 1) {
        count = run_folder(argv[1], &failed);
        failed += count == 0;
    }
    for (int i = 2; i < argc; i++) {
        bool found = false;
        for (int k = 0; k < part_count; k++) {
            found = found || strcmp(parts[k], argv[i]) == 0;
        }
        if (!found) {
            printf("no seed reaches: %s\n", argv[i]);
            failed++;
        }
    }
    printf("%d seeds reach", count);
    for (int k = 0; k < part_count; k++) {
        printf("%s %s", k > 0 ? "," : "", parts[k]);
    }
    printf("\n");
    return failed > 0;
}
