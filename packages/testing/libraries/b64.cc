/**
 * The six functions of libb64 that perf_analyzer calls, for systems without that library: base64 of bytes that come in blocks.
 *
 * The caller owns the states, so they have the layout of libb64's headers (b64/cencode.h, b64/cdecode.h); only this file reads them. Lines are not broken.
 */

namespace {

constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** Value of a digit, or -1: padding and what is between lines count for nothing. */
int valueOf(char digit) {
  for (int value = 0; value < 64; value++) {
    if (kDigits[value] == digit) return value;
  }
  return -1;
}

}  // namespace

extern "C" {

/** Between two blocks: `step` bytes of a group of three have come; `rest` holds what their digits have left over. */
struct base64_encodestate {
  int step;
  char rest;
  int lines;
};

/** Between two blocks: `step` digits of a group of four have come; `rest` holds what their bytes have left over. */
struct base64_decodestate {
  int step;
  char rest;
};

void base64_init_encodestate(base64_encodestate* state) { *state = {}; }

/** Writes whole digits to `out`; returns how many. */
int base64_encode_block(const char* bytes, int length, char* out, base64_encodestate* state) {
  char* end = out;
  for (int i = 0; i < length; i++) {
    const int byte = static_cast<unsigned char>(bytes[i]);
    const int shift = 2 + 2 * state->step;
    *end++ = kDigits[state->rest | byte >> shift];
    state->rest = static_cast<char>((byte << (6 - shift)) & 63);
    state->step++;
    if (state->step < 3) continue;
    *end++ = kDigits[byte & 63];
    *state = {};
  }
  return static_cast<int>(end - out);
}

/** Writes the last digit and the padding; returns how many characters. */
int base64_encode_blockend(char* out, base64_encodestate* state) {
  if (state->step == 0) return 0;
  char* end = out;
  *end++ = kDigits[static_cast<int>(state->rest)];
  for (int i = state->step; i < 3; i++) *end++ = '=';
  return static_cast<int>(end - out);
}

void base64_init_decodestate(base64_decodestate* state) { *state = {}; }

/** Writes whole bytes to `out`; returns how many. */
int base64_decode_block(const char* digits, int length, char* out, base64_decodestate* state) {
  char* end = out;
  for (int i = 0; i < length; i++) {
    const int value = valueOf(digits[i]);
    if (value < 0) continue;
    if (state->step > 0) *end++ = static_cast<char>(state->rest | value >> (6 - 2 * state->step));
    state->rest = static_cast<char>(value << (2 + 2 * state->step));
    state->step = (state->step + 1) % 4;
  }
  return static_cast<int>(end - out);
}
}
