// What an error says, for tests of messages.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace ergodic {

/// The message of the E that `call` throws; a failure of the test if it throws none, or another.
template <class E, class Call>
std::string message_of(const Call& call) {
  try {
    call();
  } catch (const E& error) {
    return error.what();
  } catch (const std::exception& other) {
    ADD_FAILURE() << "expected another error, found: " << other.what();
    return "";
  }
  ADD_FAILURE() << "expected an error";
  return "";
}

/// Fails unless the text holds every part.
inline void expect_parts(const std::string& text, std::initializer_list<std::string_view> parts) {
  for (const std::string_view part : parts) {
    EXPECT_NE(text.find(part), std::string::npos) << "expected '" << part << "' in: " << text;
  }
}

}  // namespace ergodic
