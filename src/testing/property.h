// A RapidCheck property with a budget: as many cases as a test can afford, each of bounded size.
//
//   EXPECT_PROPERTY(20, 30, [] { … RC_ASSERT(…); });
//
// A failure prints the shrunk case and the RC_PARAMS that repeat it.
#pragma once

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <sstream>
#include <string>
#include <utility>

namespace dibs {

// Empty when the property holds; otherwise what broke it.
template <class Testable>
[[nodiscard]] std::string broken_by(int cases, int size, Testable&& testable) {
  rc::detail::TestParams params = rc::detail::configuration().testParams;
  params.maxSuccess = cases;
  params.maxSize = size;
  rc::detail::TestMetadata metadata;
  const testing::TestInfo* test = testing::UnitTest::GetInstance()->current_test_info();
  metadata.id = std::string(test->test_suite_name()) + "/" + test->name();
  metadata.description = test->name();
  const rc::detail::TestResult result =
      rc::detail::checkTestable(std::forward<Testable>(testable), metadata, params);
  if (result.template is<rc::detail::SuccessResult>()) return {};
  std::ostringstream text;
  rc::detail::printResultMessage(result, text);
  text << "\nseed " << params.seed;
  return text.str();
}

// Any number from `least` up to but not including `end`, whatever the size of the case:
// RapidCheck's own inRange keeps to the lower part of its range while cases are small.
template <class T>
[[nodiscard]] rc::Gen<T> any_in(T least, T end) {
  return rc::gen::resize(rc::kNominalSize, rc::gen::inRange<T>(least, end));
}

}  // namespace dibs

#define EXPECT_PROPERTY(cases, size, ...)                                                      \
  if (const std::string broken = ::dibs::broken_by(cases, size, __VA_ARGS__); !broken.empty()) \
  ADD_FAILURE() << broken
