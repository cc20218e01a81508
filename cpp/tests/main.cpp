#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#if defined(TESTS_OF_ONE_THREAD) && defined(__linux__)

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <ostream>
#include <string_view>

namespace {

// TSan leaves out the files of this list, so none of their tests may start a thread.
constexpr std::string_view kFilesOfOneThread = TESTS_OF_ONE_THREAD;

bool is_of_one_thread(std::string_view file) {
  const std::size_t at = file.rfind("/cpp/tests/");
  return at != std::string_view::npos &&
         kFilesOfOneThread.find(file.substr(at)) != std::string_view::npos;
}

std::atomic<int> g_started_count = 0;
bool g_is_list_wrong = false;

struct OneThreadCheck : doctest::IReporter {
  explicit OneThreadCheck(const doctest::ContextOptions& options) : out(*options.cout) {}

  void test_case_start(const doctest::TestCaseData& test) override {
    current = &test;
    started_before = g_started_count;
  }
  void test_case_end(const doctest::CurrentTestCaseStats&) override {
    if (g_started_count != started_before && is_of_one_thread(current->m_file.c_str())) {
      out << current->m_file.c_str() << ": \"" << current->m_name
          << "\" starts a thread: TESTS_OF_ONE_THREAD in CMakeLists.txt must not list the file\n";
      g_is_list_wrong = true;
    }
  }
  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_run_end(const doctest::TestRunStats&) override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}

  std::ostream& out;
  const doctest::TestCaseData* current = nullptr;
  int started_before = 0;
};

REGISTER_LISTENER("one thread", 1, OneThreadCheck);

}  // namespace

// Counts, in place of the system's.
extern "C" __attribute__((visibility("default"))) int pthread_create(
    pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*), void* argument) {
  static const auto system =
      reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  ++g_started_count;
  return system(thread, attributes, start, argument);
}

#else
namespace {
constexpr bool g_is_list_wrong = false;
}
#endif

int main(int argument_count, char** arguments) {
  doctest::Context context(argument_count, arguments);
#ifdef __SANITIZE_THREAD__
  // The longest of those that start no thread, or only merges, which shorter cases race.
  context.addFilter("test-suite-exclude", "not_under_tsan");
#endif
  const int code = context.run();
  return code == 0 && g_is_list_wrong ? 1 : code;
}
