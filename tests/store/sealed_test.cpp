#include "ergodic/store/sealed.hpp"

#include <gtest/gtest.h>

#include "data/error_message.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/core/version.hpp"
#include "ergodic/format/file.hpp"
#include "store/machines.hpp"

namespace ergodic {
namespace {

Tensors sample() {
  Tensors tensors;
  tensors.arrays.emplace_back("w", array_of<float>(ElementType::kFloat32, {2}, {1.0f, -2.0f}));
  tensors.metadata["note"] = "a note";
  return tensors;
}

TEST(Sealed, CarriesItsWriterAndItsDigest) {
  const auto path = fresh_path("x");
  write_sealed(path, sample());
  const Unsealed file = read_sealed(path);
  EXPECT_TRUE(file.verified);
  EXPECT_EQ(file.tensors.metadata.at("written_by"), std::string("ergodic ") + kVersion);
  EXPECT_EQ(file.tensors.metadata.at("digest"), digest_of(file.tensors));
  EXPECT_EQ(file.tensors.metadata.at("note"), "a note");
  ASSERT_NE(file.tensors.find("w"), nullptr);
  EXPECT_TRUE(same(*file.tensors.find("w"), sample().arrays[0].second));
}

TEST(Sealed, SealingAgainGivesTheSameBytes) {
  const auto path = fresh_path("x");
  write_sealed(path, sample());
  const auto first = read_file(path);
  write_sealed(path, read_sealed(path).tensors);
  EXPECT_EQ(read_file(path), first);
}

TEST(Sealed, AFileOfAnotherProgramNeedsNoDigest) {
  const auto path = fresh_path("x");
  write_safetensors(path, sample());
  EXPECT_FALSE(read_sealed(path).verified);
}

TEST(Sealed, AFileThatNamesAnotherProgramNeedsNoDigest) {
  const auto path = fresh_path("x");
  Tensors signed_by_another = sample();
  signed_by_another.metadata["written_by"] = "another program 2.0";
  write_safetensors(path, signed_by_another);
  EXPECT_FALSE(read_sealed(path).verified);
}

TEST(Sealed, AFileOfOursWithoutItsDigestIsDamaged) {
  const auto path = fresh_path("x");
  write_sealed(path, sample());
  Tensors tensors = read_safetensors(path);
  tensors.metadata.erase("digest");
  write_safetensors(path, tensors);
  expect_parts(refusal([&] { read_sealed(path); }), {path.string(), "digest", "damaged"});
}

TEST(Sealed, ADigestThatDisagreesIsRefusedWhoeverWroteIt) {
  const auto path = fresh_path("x");
  Tensors tensors = sample();
  tensors.metadata["digest"] = digest_of(tensors);
  write_safetensors(path, tensors);
  EXPECT_TRUE(read_sealed(path).verified);
  tensors.metadata["note"] = "another note";
  write_safetensors(path, tensors);
  expect_parts(refusal([&] { read_sealed(path); }),
               {path.string(), tensors.metadata["digest"].substr(0, 40), digest_of(tensors)});
}

TEST(Sealed, AMissingFileIsMissingInput) { EXPECT_THROW(read_sealed(fresh_path("nothing")), NoInputError); }

}  // namespace
}  // namespace ergodic
