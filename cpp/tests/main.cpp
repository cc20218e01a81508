#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

int main(int argument_count, char** arguments) {
  doctest::Context context(argument_count, arguments);
#ifdef __SANITIZE_THREAD__
  // The longest of those that start no thread, or only merges, which shorter cases race.
  context.addFilter("test-suite-exclude", "not_under_tsan");
#endif
  return context.run();
}
