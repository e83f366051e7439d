#include <algorithm>
#include <exception>

#include "check.h"

int main(int argc, char** argv) {
  const std::vector<std::string> wanted(argv + 1, argv + argc);
  int run = 0;
  int failed = 0;
  for (const auto& test : nereid::test::Tests()) {
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), test.suite) == wanted.end()) continue;
    const int before = nereid::test::Failures();
    try {
      test.body();
    } catch (const std::exception& error) {
      nereid::test::Check(false, error.what(), test.name.c_str(), 0);
    }
    run++;
    const bool ok = nereid::test::Failures() == before;
    if (!ok) failed++;
    std::cout << (ok ? "ok   " : "FAIL ") << test.suite << "." << test.name << "\n";
  }
  std::cout << run << " tests, " << failed << " failed\n";
  return run == 0 || failed > 0 ? 1 : 0;
}
