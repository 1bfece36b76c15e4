// SPDX-License-Identifier: Apache-2.0
// Named arrays to the bytes of an HDF5 file, in its oldest format: contiguous, uncompressed, as FCLIB's own writer has
// it.
#include <stdlib.h>
#include <string.h>

#include "worker/worker.h"

static void take(const bytes *from, size_t *at, void *to, size_t size) {
    if (size > from->size - *at) {
        fail("the arrays are cut off");
    }
    memcpy(to, from->data + *at, size);
    *at += size;
}

static void add_array(hid_t file, const char *name, const array_wire_item *item, const void *values) {
    bool letters = item->type == ARRAY_WIRE_LETTERS;
    hid_t stored =
        letters ? H5Tcopy(H5T_C_S1) : H5Tcopy(item->type == ARRAY_WIRE_INTEGERS ? H5T_STD_I32LE : H5T_IEEE_F64LE);
    hid_t memory =
        letters ? H5I_INVALID_HID : H5Tcopy(item->type == ARRAY_WIRE_INTEGERS ? H5T_NATIVE_INT64 : H5T_NATIVE_DOUBLE);
    hsize_t size = letters ? 1 : item->count;
    if (letters) {
        H5Tset_size(stored, item->count > 0 ? (size_t)item->count : 1);
    }
    hid_t space = H5Screate_simple(1, &size, NULL), links = H5Pcreate(H5P_LINK_CREATE);
    H5Pset_create_intermediate_group(links, 1);
    hid_t set = H5Dcreate2(file, name, stored, space, links, H5P_DEFAULT, H5P_DEFAULT);
    H5Pclose(links);
    if (set < 0 ||
        (item->count > 0 && H5Dwrite(set, letters ? stored : memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0)) {
        fail("%s cannot be stored", name);
    }
    H5Dclose(set);
    H5Sclose(space);
    if (!letters) {
        H5Tclose(memory);
    }
    H5Tclose(stored);
}

void pack(const bytes *arrays, bytes *out) {
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_core(access, 1 << 16, 0);
    hid_t file = H5Fcreate("image", H5F_ACC_TRUNC, H5P_DEFAULT, access);
    if (file < 0) {
        fail("no file in memory");
    }
    array_wire_head head;
    size_t at = 0;
    take(arrays, &at, &head, sizeof head);
    for (uint64_t i = 0; i < head.count; i++) {
        array_wire_item item;
        char name[ARRAY_WIRE_NAME_MAX + 1] = "";
        take(arrays, &at, &item, sizeof item);
        size_t width = item.type == ARRAY_WIRE_LETTERS ? 1 : 8;
        if (item.name_length > ARRAY_WIRE_NAME_MAX || item.count > (arrays->size - at) / width) {
            fail("the arrays are cut off");
        }
        take(arrays, &at, name, item.name_length);
        void *values = malloc((size_t)item.count * width + 1);
        if (values == NULL) {
            fail("out of memory");
        }
        take(arrays, &at, values, (size_t)item.count * width);
        add_array(file, name, &item, values);
        free(values);
    }
    H5Fflush(file, H5F_SCOPE_GLOBAL);
    ssize_t size = H5Fget_file_image(file, NULL, 0);
    unsigned char *image = size > 0 ? malloc((size_t)size) : NULL;
    if (image == NULL || H5Fget_file_image(file, image, (size_t)size) != size) {
        fail("no bytes of the file");
    }
    bytes_add(out, image, (size_t)size);
}
