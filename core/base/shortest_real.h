// SPDX-License-Identifier: Apache-2.0
// Numbers to text without locale, in a tenth of the C library's time.
#ifndef BASE_SHORTEST_REAL_H
#define BASE_SHORTEST_REAL_H

#ifdef __cplusplus
extern "C" {
#endif

enum { STN_SHORTEST_REAL = 36 }; // room to work in; the longest text, "-1.2345678901234567e-308", has 24

/// The fewest digits that read back to the same finite number [giulietti-2020], with an exponent where printf's %.15g
/// has one, or %.16g,
/// %.17g where it takes more digits. Not terminated. Returns the length.
int stn_shortest_real(double value, char text[STN_SHORTEST_REAL]);

/// A finite number with at most 1 <= digits <= 17 significant ones, as printf's %.*g has it, not terminated. Returns
/// the length.
int stn_rounded_real(double value, int digits, char text[STN_SHORTEST_REAL]);

#ifdef __cplusplus
}
#endif

#endif
