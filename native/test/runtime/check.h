// A test harness in fifty lines: TEST registers, CHECK counts, main() runs all or the suites that it is given.
#pragma once

#include <iostream>
#include <string>
#include <vector>

namespace nereid::test {

struct Test {
  std::string suite;
  std::string name;
  void (*body)();
};

inline std::vector<Test>& Tests() {
  static std::vector<Test> tests;
  return tests;
}

inline int& Failures() {
  static int failures = 0;
  return failures;
}

struct Registration {
  Registration(const char* suite, const char* name, void (*body)()) { Tests().push_back({suite, name, body}); }
};

inline void Check(bool ok, const char* text, const char* file, int line) {
  if (ok) return;
  std::cerr << file << ":" << line << ": " << text << "\n";
  Failures()++;
}

template <typename Actual, typename Expected>
void CheckEqual(const Actual& actual, const Expected& expected, const char* text, const char* file, int line) {
  if (actual == expected) return;
  std::cerr << file << ":" << line << ": " << text << "\n  got      " << actual << "\n  expected " << expected << "\n";
  Failures()++;
}

}  // namespace nereid::test

#define TEST(suite, name)                                                                                  \
  static void suite##_##name();                                                                            \
  static const ::nereid::test::Registration suite##_##name##_registration(#suite, #name, &suite##_##name); \
  static void suite##_##name()

#define CHECK(condition) ::nereid::test::Check(condition, #condition, __FILE__, __LINE__)
#define CHECK_EQ(actual, expected) \
  ::nereid::test::CheckEqual(actual, expected, #actual " == " #expected, __FILE__, __LINE__)
