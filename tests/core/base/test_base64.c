// SPDX-License-Identifier: Apache-2.0
// The vectors of RFC 4648, section 10, every length there and back, and texts that are none.
#include "stn_test.h"

#include <string.h>

static void the_vectors_of_the_standard_hold(void **state) {
    (void)state;
    const char *const vectors[][2] = {{"f", "Zg=="},        {"fo", "Zm8="},        {"foo", "Zm9v"},
                                      {"foob", "Zm9vYg=="}, {"fooba", "Zm9vYmE="}, {"foobar", "Zm9vYmFy"}};
    for (int32_t i = 0; i < STN_COUNT(vectors); i++) {
        char digits[16] = "";
        unsigned char back[16] = "";
        size_t size = 0, count = strlen(vectors[i][0]);
        stn_base64_encode((const unsigned char *)vectors[i][0], count, digits);
        assert_string_equal(digits, vectors[i][1]);
        assert_true(stn_base64_decode(digits, STN_BASE64_SIZE(count), back, &size));
        assert_int_equal(size, count);
        assert_memory_equal(back, vectors[i][0], count);
    }
}

static void all_bytes_come_back(void **state) {
    (void)state;
    unsigned char bytes[257], back[300];
    char digits[STN_BASE64_SIZE(257)];
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (unsigned char)(i * 7);
    }
    for (size_t count = 1; count <= sizeof bytes; count++) {
        size_t size = 0;
        stn_base64_encode(bytes, count, digits);
        assert_true(stn_base64_decode(digits, STN_BASE64_SIZE(count), back, &size));
        assert_int_equal(size, count);
        assert_memory_equal(back, bytes, count);
    }
}

static void other_texts_are_refused(void **state) {
    (void)state;
    const char *const texts[] = {"", "Z", "Zg=", "Zg", "Z===", "Zg==Zg==", "Z-9v", "Zm 9", "====", "=AAA"};
    unsigned char back[16];
    size_t size = 0;
    for (int32_t i = 0; i < STN_COUNT(texts); i++) {
        assert_false(stn_base64_decode(texts[i], strlen(texts[i]), back, &size));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_vectors_of_the_standard_hold),
                                       cmocka_unit_test(all_bytes_come_back),
                                       cmocka_unit_test(other_texts_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
