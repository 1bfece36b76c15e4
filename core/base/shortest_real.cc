// SPDX-License-Identifier: Apache-2.0
// The shortest decimal s 10^k within the interval that rounds to v = c 2^q, and of several the nearest to v
// [giulietti-2020]. With k such that 10^k <= width of the interval < 10^(k+1), it is a multiple of 10^(k+1), of which
// the interval holds one at most, or else of 10^k. The ends and the middle of the interval, times 4 10^-k, are cut to
// whole numbers whose lowest bit tells that something was cut off. That needs 128 bits of 10^-k.
#include "base/shortest_real.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace {

enum { MOST_POWER = 310, MOST_WORDS = 34 }; // 10^310 has 1030 bits

/// 10^e = (high 2^64 + low) 2^(floor(log2(10^e)) - 127), rounded up.
struct power {
    uint64_t high, low;
};

/// 10^e for 0 <= e <= MOST_POWER, made when this file is compiled.
struct power_table {
    std::array<power, MOST_POWER + 1> of{};

    constexpr power_table() {
        std::array<uint32_t, MOST_WORDS> word{}; // 10^e, lowest first
        word[0] = 1;
        int count = 1;
        for (power &p : of) {
            p = leading(word, count);
            uint64_t carry = 0;
            for (int i = 0; i < count; i++) {
                carry += uint64_t(word[size_t(i)]) * 10;
                word[size_t(i)] = uint32_t(carry);
                carry >>= 32;
            }
            if (carry > 0) {
                word[size_t(count++)] = uint32_t(carry);
            }
        }
    }

  private:
    /// The first 128 bits, rounded up.
    static constexpr power leading(const std::array<uint32_t, MOST_WORDS> &word, int count) {
        int shift = 0; // zeros in front
        while ((word[size_t(count - 1)] << shift & 0x80000000U) == 0) {
            shift++;
        }
        std::array<uint64_t, 4> part{};
        for (int i = 0; i < 4; i++) {
            const int k = count - 1 - i;
            const uint64_t here = k >= 0 ? word[size_t(k)] : 0, below = k >= 1 ? word[size_t(k - 1)] : 0;
            part[size_t(i)] = ((here << 32 | below) << shift) >> 32 & 0xffffffffU;
        }
        bool cut = count >= 5 && word[size_t(count - 5)] << shift != 0;
        for (int k = count - 6; k >= 0; k--) {
            cut = cut || word[size_t(k)] != 0;
        }
        power p{part[0] << 32 | part[1], part[2] << 32 | part[3]};
        p.low += cut ? 1U : 0U;
        p.high += cut && p.low == 0 ? 1U : 0U;
        return p;
    }
};

constexpr power_table powers;

constexpr int floor_log2_of_power(int e) { // floor(log2(10^e)), |e| <= 1233
    return (e * 1741647) >> 19;
}

__extension__ using wide = unsigned __int128;

/// floor(p c / 2^128), the lowest bit set where more than the error of p was cut off; exact to that [giulietti-2020].
uint64_t multiply(power p, uint64_t c) {
    const wide low = static_cast<wide>(p.low) * c, high = static_cast<wide>(p.high) * c + (low >> 64);
    return static_cast<uint64_t>(high >> 64) | uint64_t(static_cast<uint64_t>(high) > 1);
}

/// digits 10^exponent with 16 or 17 digits, the last of which is 0 and not needed where `short_by` is 1.
struct decimal {
    uint64_t digits;
    int exponent, short_by;
};

/// Of a number with 1e-290 <= |value| < 1e15.
decimal shortest(uint64_t bits) {
    const uint64_t fraction = bits & ((uint64_t(1) << 52) - 1), c = fraction | uint64_t(1) << 52;
    const int q = static_cast<int>(bits >> 52 & 0x7ff) - 1075;
    const bool narrow = fraction == 0; // a power of 2: the neighbour below is half as far away
    // floor(log10(2^q)), of 3/4 2^q where it is narrow
    const int k = (q * 1262611 - (narrow ? 524031 : 0)) >> 22;
    const power p = powers.of[size_t(-k)]; // |v| < 1e15: k < 0
    const int shift = q + floor_log2_of_power(-k) + 1;
    const uint64_t odd = c & 1; // the ends of the interval round to v only where c is even
    const uint64_t lower = multiply(p, (4 * c - (narrow ? 1 : 2)) << shift) + odd, middle = multiply(p, 4 * c << shift),
                   upper = multiply(p, (4 * c + 2) << shift) - odd;
    const uint64_t s = middle / 4, tens = s / 10;
    // chosen without jumps, which nobody could predict
    const bool ten_above = 40 * tens + 40 <= upper, ten = (lower <= 40 * tens) != ten_above;
    const bool above = 4 * s + 4 <= upper, one = (lower <= 4 * s) != above;
    const bool up = middle > 4 * s + 2 || (middle == 4 * s + 2 && (s & 1) != 0); // both: the nearer, then the even one
    const uint64_t of_tens = 10 * (tens + uint64_t(ten_above)), of_ones = s + uint64_t(one ? above : up);
    return {ten ? of_tens : of_ones, k, ten ? 1 : 0};
}

/// Eight digits of a number below 10^8, zeros in front: split into halves, their halves and theirs, all parts at once
/// in one word, the first digit in the lowest byte.
void put_eight(uint32_t value, char *text) {
    uint64_t x = value / 10000 | static_cast<uint64_t>(value % 10000) << 32;
    uint64_t high = (x * 5243 >> 19) & 0x0000007f0000007f; // by 100, of numbers below 10^4
    x = high | (x - 100 * high) << 16;
    high = (x * 103 >> 10) & 0x000f000f000f000f; // by 10, of numbers below 100
    x = (high | (x - 10 * high) << 8) + 0x3030303030303030;
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    x = __builtin_bswap64(x);
#endif
    std::memcpy(text, &x, sizeof x);
}

enum { DIGITS = 17 };

/// 16 or 17 digits; returns where they begin.
const char *put_digits(uint64_t d, char text[DIGITS]) {
    const uint64_t high = d / 100000000, first = high / 100000000;
    text[0] = static_cast<char>('0' + first);
    put_eight(static_cast<uint32_t>(high % 100000000), text + 1);
    put_eight(static_cast<uint32_t>(d % 100000000), text + 9);
    return text + (first == 0 ? 1 : 0);
}

/// As the library writes them: 0.00012, 120, 1.2 or 1.2e-05. Digits are copied all at once, whatever their number:
/// what lies behind the end is of no meaning.
int write(decimal d, bool fixed, char *text) {
    char room[2 * DIGITS];
    std::memset(room + DIGITS, '0', DIGITS);
    const char *const first = put_digits(d.digits, room);
    int count = static_cast<int>(room + DIGITS - first);
    const int point = count + d.exponent; // digits before it
    count -= d.short_by;
    while (count > 1 && first[count - 1] == '0') {
        count--;
    }
    if (!fixed) {
        const int exponent = point - 1, size = exponent < 0 ? -exponent : exponent;
        text[0] = *first;
        text[1] = '.';
        std::memcpy(text + 2, first + 1, DIGITS - 1);
        char *at = text + (count > 1 ? count + 1 : 1);
        *at++ = 'e';
        *at++ = exponent < 0 ? '-' : '+';
        if (size >= 100) {
            *at++ = static_cast<char>('0' + size / 100);
        }
        *at++ = static_cast<char>('0' + size / 10 % 10);
        *at++ = static_cast<char>('0' + size % 10);
        return static_cast<int>(at - text);
    }
    if (point <= 0) {
        std::memcpy(text, "0.0000", 6);
        std::memcpy(text + 2 - point, first, DIGITS);
        return 2 - point + count;
    }
    std::memcpy(text, first, DIGITS); // zeros follow the digits
    text[point] = '.';
    std::memcpy(text + point + 1, first + point, DIGITS);
    return count > point ? count + 1 : point;
}

/// Digits of a text "-d.ddde+XX".
int count_digits(const char *text, int length) {
    int count = 0;
    for (int i = 0; i < length && text[i] != 'e'; i++) {
        count += text[i] >= '0' && text[i] <= '9' ? 1 : 0;
    }
    return count;
}

} // namespace

int stn_shortest_real(double value, char text[STN_SHORTEST_REAL]) {
    const double size = std::fabs(value);
    if (size >= 1e-290 && size < 1e15) {
        uint64_t bits = 0;
        std::memcpy(&bits, &value, sizeof bits);
        *text = '-';
        const int sign = std::signbit(value) ? 1 : 0;
        return sign + write(shortest(bits), size >= 1e-4, text + sign);
    }
    if (size == 0.0) {
        const int sign = std::signbit(value) ? 1 : 0;
        std::memcpy(text, sign != 0 ? "-0" : "0 ", 2);
        return sign + 1;
    }
    bool fixed = false;
    if (size >= 1e15 && size < 1e17) { // a whole number of 16 or 17 digits, or one that is written with fewer
        const char *end = std::to_chars(text, text + STN_SHORTEST_REAL, value, std::chars_format::scientific).ptr;
        fixed = count_digits(text, static_cast<int>(end - text)) >= (size < 1e16 ? 16 : 17);
    }
    const auto format = fixed ? std::chars_format::fixed : std::chars_format::scientific;
    return static_cast<int>(std::to_chars(text, text + STN_SHORTEST_REAL, value, format).ptr - text);
}

int stn_rounded_real(double value, int digits, char text[STN_SHORTEST_REAL]) {
    return static_cast<int>(
        std::to_chars(text, text + STN_SHORTEST_REAL, value, std::chars_format::general, digits).ptr - text);
}
