// SPDX-License-Identifier: Apache-2.0
// An HDF5 file to named arrays. Every object is visited once, so groups that contain themselves end; links to other
// files and data in other files are not followed.
#include <stdlib.h>
#include <string.h>

#include "worker/worker.h"

typedef struct visit {
    uint64_t most; // bytes of all arrays
    bytes *out;
    array_wire_head head;
} visit;

/// How it is sent; false: it is of a kind that nobody asks for.
static bool choose_type(hid_t stored, array_wire_type *type, hid_t *memory, size_t *width) {
    H5T_class_t class = H5Tget_class(stored);
    if (class == H5T_INTEGER || class == H5T_FLOAT) {
        *type = class == H5T_INTEGER ? ARRAY_WIRE_INTEGERS : ARRAY_WIRE_REALS;
        *memory = H5Tcopy(class == H5T_INTEGER ? H5T_NATIVE_INT64 : H5T_NATIVE_DOUBLE);
        *width = 8;
        return true;
    }
    if (class == H5T_STRING && H5Tis_variable_str(stored) == 0) {
        *type = ARRAY_WIRE_LETTERS;
        *memory = H5Tcopy(stored);
        *width = H5Tget_size(stored);
        return *width > 0;
    }
    return false;
}

static herr_t meet(hid_t root, const char *name, const H5O_info_t *info, void *user) {
    visit *v = user;
    if (info->type != H5O_TYPE_DATASET) {
        return 0;
    }
    if (v->head.count == ARRAY_WIRE_ITEMS_MAX || strlen(name) > ARRAY_WIRE_NAME_MAX) {
        return 0; // no file that is asked for has so many, or such names
    }
    hid_t set = H5Dopen2(root, name, H5P_DEFAULT);
    if (set < 0) {
        fail("%s cannot be opened: the file is damaged", name);
    }
    hid_t stored = H5Dget_type(set), space = H5Dget_space(set), layout = H5Dget_create_plist(set);
    hid_t memory = H5I_INVALID_HID;
    hssize_t count = H5Sget_simple_extent_npoints(space);
    if (stored < 0 || space < 0 || count < 0) {
        fail("%s cannot be read: the file is damaged", name);
    }
    array_wire_type type;
    size_t width;
    bool in_this_file = layout >= 0 && H5Pget_external_count(layout) == 0 && H5Pget_layout(layout) != H5D_VIRTUAL;
    if (choose_type(stored, &type, &memory, &width) && in_this_file) {
        uint64_t n = (uint64_t)count;
        if (n > v->most / width || v->out->size + n * width > v->most) {
            fail("%s holds %llu numbers: more than the %llu bytes that are read of a file", name, (unsigned long long)n,
                 (unsigned long long)v->most);
        }
        void *values = calloc(n > 0 ? n : 1, width);
        if (values == NULL) {
            fail("%s: out of memory for %llu numbers", name, (unsigned long long)n);
        }
        if (n > 0 && H5Dread(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0) {
            fail("%s cannot be read: the file is damaged or cut off", name);
        }
        array_wire_item item = {(uint32_t)strlen(name), (uint32_t)type, type == ARRAY_WIRE_LETTERS ? n * width : n};
        bytes_add(v->out, &item, sizeof item);
        bytes_add(v->out, name, item.name_length);
        bytes_add(v->out, values, n * width);
        v->head.count++;
        free(values);
    }
    H5Tclose(memory);
    H5Pclose(layout);
    H5Sclose(space);
    H5Tclose(stored);
    H5Dclose(set);
    return 0;
}

void unpack(bytes *file, uint64_t most, bytes *out) {
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    if (H5Pset_fapl_core(access, 1 << 16, 0) < 0 || H5Pset_file_image(access, file->data, file->size) < 0) {
        fail("out of memory for a file of %zu bytes", file->size);
    }
    hid_t image = H5Fopen("image", H5F_ACC_RDONLY, access);
    if (image < 0) {
        fail("no HDF5 file, or one that is damaged or cut off");
    }
    visit v = {.most = most, .out = out};
    memcpy(v.head.magic, ARRAY_WIRE_DATA, sizeof v.head.magic);
    bytes_add(out, &v.head, sizeof v.head);
    if (H5Ovisit2(image, H5_INDEX_NAME, H5_ITER_INC, meet, &v, H5O_INFO_BASIC) < 0) {
        fail("its groups cannot be read: the file is damaged or cut off");
    }
    memcpy(out->data, &v.head, sizeof v.head);
}
