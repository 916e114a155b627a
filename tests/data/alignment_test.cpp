#include "ergodic/data/alignment.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numeric>

#include "data/error_message.hpp"
#include "ergodic/core/error.hpp"
#include "ergodic/data/source.hpp"
#include "format/damage.hpp"

namespace ergodic {
namespace {

using Texts = std::vector<std::string>;

/// Sequences named a, b, c, ...
Dataset aligned(const Texts& texts) {
  std::vector<NamedSequence> sequences;
  for (const std::string& text : texts) {
    sequences.push_back({std::string(1, static_cast<char>('a' + static_cast<char>(sequences.size()))), text});
  }
  return dataset_of(sequences, "t.fasta");
}

/// The letters that the bits stand for; "!" where a site does not have exactly one.
Texts letters_of(const Dataset& data) {
  Texts out(data.rows(), std::string(data.sites(), '!'));
  for (std::size_t r = 0; r < data.rows(); ++r) {
    for (std::size_t s = 0; s < data.sites(); ++s) {
      int on = 0;
      for (std::size_t a = 0; a < data.letters; ++a) {
        if (!data.bits().get(r, s * data.letters + a)) continue;
        out[r][s] = ++on == 1 ? kProteinLetters[a] : '!';
      }
    }
  }
  return out;
}

/// What the sequences are read as.
Texts sites_of(const Texts& texts) { return letters_of(aligned(texts)); }

TEST(Alignment, ASiteIsTwentyOneBitsOfWhichOneIsOn) {
  const Dataset data = aligned({"AY-", "CAW"});
  EXPECT_EQ(data.name, "t.fasta");
  EXPECT_EQ(data.letters, 21u);
  EXPECT_EQ(data.sites(), 3u);
  EXPECT_EQ(data.units(), 63u);
  EXPECT_TRUE(data.weights.empty());
  std::vector<std::vector<std::size_t>> on(2);
  for (std::size_t r = 0; r < 2; ++r) for_each_set(data.bits().row(r), [&](std::size_t i) { on[r].push_back(i); });
  EXPECT_EQ(on[0], (std::vector<std::size_t>{0, 21 + 19, 42 + 20}));
  EXPECT_EQ(on[1], (std::vector<std::size_t>{1, 21 + 0, 42 + 18}));
}

TEST(Alignment, EveryLetterHasItsPlace) {
  EXPECT_EQ(sites_of({"ACDEFGHIKLMNPQRSTVWY-"}), (Texts{"ACDEFGHIKLMNPQRSTVWY-"}));
}

TEST(Alignment, AmbiguousAndRareLettersAreGaps) { EXPECT_EQ(sites_of({"ABJOUXZC"}), (Texts{"A------C"})); }

TEST(Alignment, RowsOfGapsAreKept) { EXPECT_EQ(sites_of({"AC", "--", "X-"}), (Texts{"AC", "--", "--"})); }

TEST(Alignment, DotsAreGapsWhereOthersHaveLetters) {
  EXPECT_EQ(sites_of({"A.C-", "AC..", "..DE"}), (Texts{"A-C-", "AC--", "--DE"}));
}

TEST(Alignment, ColumnsOfInsertsAreDropped) {
  EXPECT_EQ(sites_of({"AcD..E", "A.-.gE", "-xD..-"}), (Texts{"ADE", "A-E", "-D-"}));
  EXPECT_EQ(sites_of({"AsCq", "A-D-", "A-E-"}), (Texts{"AC", "AD", "AE"}));  // inserts of the first row, padded by "-"
}

TEST(Alignment, InsertsWithoutPaddingAreDroppedRowByRow) {
  EXPECT_EQ(sites_of({"ACD", "AggC-", "A.CeD"}), (Texts{"ACD", "AC-", "ACD"}));
  EXPECT_EQ(sites_of({"AgCD", "ACgD"}), (Texts{"ACD", "ACD"}));  // of one length by chance
}

TEST(Alignment, UnequalRowsAreRefusedByName) {
  expect_parts(refusal([] {
                 aligned({"ACD", "ACD", "AC"});
               }),
               {"t.fasta", "row 3 (\"c\")", "expected 3 match columns", "found 2"});
  expect_parts(refusal([] { aligned({"ACD", "AcD"}); }), {"row 2 (\"b\")", "expected 3 match columns", "found 2"});
}

TEST(Alignment, UnknownCharactersAreRefusedWithTheirPlace) {
  for (const char bad : {'1', '?', '*', '>', '_', '~', '@', '[', '`', '{'}) {
    const std::string found = std::string("found \"") + bad + "\"";
    expect_parts(refusal([&] {
                   aligned({"ACD", std::string("AC") + bad});
                 }),
                 {"t.fasta", "row 2 (\"b\"), column 3", found});
  }
}

TEST(Alignment, SequencesOfInsertsOnlyAreRefused) {
  for (const Texts& texts : {Texts{"acd", "acd"}, Texts{"...", "..."}, Texts{"ac", "acd"}}) {
    expect_parts(refusal([&] { aligned(texts); }), {"t.fasta", "upper-case", "found none"});
  }
}

// ---- Weights ----

/// Rows that descend from a few ancestors, so that every degree of kinship occurs.
Dataset random_alignment(std::size_t rows, std::size_t sites, std::uint64_t seed) {
  const Draw draw = Key{seed}.at(Purpose::kTest);
  Texts texts(rows, std::string(sites, '-'));
  for (std::uint32_t r = 0; r < rows; ++r) {
    const std::uint64_t changed = draw.below(101, r, 0);  // percent of the sites
    for (std::uint32_t s = 0; s < sites; ++s) {
      const bool change = r < 3 || draw.below(100, r, 2 * s + 1) < changed;
      texts[r][s] = change ? kProteinLetters[draw.below(21, r, 2 * s + 2)] : texts[r % 3][s];
    }
  }
  return aligned(texts);
}

/// By the definition: a site is equal if the two rows have an on bit of it in common.
std::vector<double> plain_weights(const Dataset& data, double identity) {
  std::vector<double> weights;
  for (std::size_t r = 0; r < data.rows(); ++r) {
    int alike = 0;
    for (std::size_t other = 0; other < data.rows(); ++other) {
      double equal = 0.0;
      for (std::size_t i = 0; i < data.units(); ++i) equal += data.bits().get(r, i) && data.bits().get(other, i);
      alike += equal / static_cast<double>(data.sites()) >= identity;
    }
    weights.push_back(1.0 / alike);
  }
  return weights;
}

TEST(SequenceWeights, AgreeWithTheDefinition) {
  std::uint64_t seed = 0;
  for (const std::size_t sites : {1u, 5u, 20u, 63u, 64u, 65u, 100u, 130u}) {
    const Dataset data = random_alignment(40, sites, ++seed);
    for (const double identity : {0.01, 0.2, 0.35, 0.55, 0.7, 0.8, 0.9, 1.0}) {
      EXPECT_EQ(sequence_weights(data, identity, {}), plain_weights(data, identity)) << sites << " sites, " << identity;
    }
  }
}

TEST(SequenceWeights, CountAShareThatIsMetExactly) {
  // 4 of 5 sites are equal.
  EXPECT_EQ(sequence_weights(aligned({"ACDEF", "ACDEG"}), 0.8, {}), (std::vector<double>{0.5, 0.5}));
  EXPECT_EQ(sequence_weights(aligned({"ACDEF", "ACDEG"}), 0.81, {}), (std::vector<double>{1.0, 1.0}));
  for (std::size_t percent = 1; percent <= 100; ++percent) {
    const std::string all(100, 'A');
    const std::string some = std::string(percent, 'A') + std::string(100 - percent, 'C');
    EXPECT_EQ(sequence_weights(aligned({all, some}), static_cast<double>(percent) / 100.0, {})[0], 0.5) << percent;
  }
}

TEST(SequenceWeights, AtIdentityOneOnlyCopiesShare) {
  const Dataset data = aligned({"ACD", "ACD", "AC-", "ACD"});
  const double third = 1.0 / 3.0;
  EXPECT_EQ(sequence_weights(data, 1.0, {}), (std::vector<double>{third, third, 1.0, third}));
}

TEST(SequenceWeights, AShareOutsideIsRefused) {
  for (const double bad : {0.0, -0.1, 1.01, std::nan("")}) {
    message_of<UsageError>([&] { sequence_weights(aligned({"ACD"}), bad, {}); });
  }
}

// ---- Through load_data ----

DataOptions request(const std::filesystem::path& path, double test_share, double identity) {
  return {{}, path.string(), {}, test_share, identity};
}

std::filesystem::path written(std::string_view text) {
  const auto path = fresh_path("data.bin");
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

TEST(AlignmentSource, FastaIsToldByItsFirstByteAndWeighted) {
  const auto path = written(">a\nACDEF\n>b\nACDEG\n>c\nKKKKK\n");
  const Dataset data = load_data(request(path, 0.0, 0.8)).train;
  EXPECT_EQ(letters_of(data), (Texts{"ACDEF", "ACDEG", "KKKKK"}));
  EXPECT_EQ(data.weights, (std::vector<double>{0.5, 0.5, 1.0}));
  EXPECT_EQ(data.effective_rows(), 2.0);
  EXPECT_EQ(load_data(request(path, 0.0, 1.0)).train.weights, (std::vector<double>{1.0, 1.0, 1.0}));
}

TEST(AlignmentSource, IdentityZeroGivesNoWeights) {
  const Dataset data = load_data(request(written(">a\nACDEF\n>b\nACDEF\n"), 0.0, 0.0)).train;
  EXPECT_TRUE(data.weights.empty());
  EXPECT_EQ(data.effective_rows(), 2.0);
}

TEST(AlignmentSource, AShareOutsideIsRefused) {
  for (const double bad : {-0.1, 1.1, std::nan("")}) {
    expect_parts(message_of<UsageError>([&] { load_data(request(written(">a\nA\n"), 0.0, bad)); }),
                 {"share of equal sites from 0 to 1"});
  }
}

TEST(AlignmentSource, PartsKeepTheWeightsOfTheWhole) {
  const auto path = written(">a\nAA\n>b\nAA\n>c\nAA\n>d\nCC\n>e\nCC\n>f\nDD\n>g\nEE\n>h\nFF\n");
  const DataParts parts = load_data(request(path, 0.5, 1.0));
  EXPECT_EQ(parts.train.rows(), 4u);
  EXPECT_EQ(parts.test.rows(), 4u);
  for (const Dataset* part : {&parts.train, &parts.test}) {
    EXPECT_EQ(part->letters, 21u);
    ASSERT_EQ(part->weights.size(), 4u);
    const Texts texts = letters_of(*part);
    for (std::size_t r = 0; r < 4; ++r) {
      const double copies = texts[r] == "AA" ? 3.0 : texts[r] == "CC" ? 2.0 : 1.0;
      EXPECT_EQ(part->weights[r], 1.0 / copies) << texts[r];
    }
  }
}

TEST(AlignmentSource, EveryTruncationAndFlippedBitIsSurvived) {
  const auto file = bytes_from(">a\nAC-D\n>b\nAcCDE\n>c\nA.CDE\n");
  const auto load = [](const ByteVector& bytes, std::size_t = 0) {
    refuses([&] { dataset_of(parse_fasta(bytes, "f"), "f"); });
  };
  for_each_truncation(file, load);
  for_each_bit_flip(file, load);
}

TEST(Alignment, AQuestionMarkIsAMissingSiteIfTheseAreAllowed) {
  const std::vector<NamedSequence> sequences{{"a", "A?C"}, {"b", "?YC"}};
  expect_parts(refusal([&] { dataset_of(sequences, "t.fasta"); }), {"row 1", "column 2", "\"?\"", "--missing"});
  const Dataset data = dataset_of(sequences, "t.fasta", Missing::kAllowed);
  EXPECT_EQ(letters_of(data), (Texts{"AAC", "AYC"}));
  EXPECT_EQ(data.missing(), 2u);
  EXPECT_FALSE(data.is_known(0, 21 + 4));
  EXPECT_TRUE(data.is_known(0, 42));
}

TEST(SequenceWeights, CompareWhatBothRowsKnow) {
  // The first two agree in 2 of the 2 sites that both know, the third differs, and the last knows nothing.
  const std::vector<NamedSequence> sequences{{"a", "ACDE"}, {"b", "AC??"}, {"c", "WCWW"}, {"d", "????"}};
  const Dataset data = dataset_of(sequences, "t.fasta", Missing::kAllowed);
  EXPECT_EQ(sequence_weights(data, 0.8, {}), (std::vector<double>{0.5, 0.5, 1.0, 1.0}));
  EXPECT_EQ(sequence_weights(data, 0.5, {}), (std::vector<double>{0.5, 1.0 / 3.0, 0.5, 1.0}));
}

TEST(Alignment, ATableOfSitesIsKnownByItsNames) {
  const auto table = parse_csv(bytes_from("site 1,site 2\nA,T\n-,F\n"), "t.csv");
  ASSERT_TRUE(is_alignment(table));
  EXPECT_EQ(sequences_of(table)[0].letters, "AT");
  EXPECT_EQ(sequences_of(table)[1].letters, "-F");
  for (const auto* text : {"a,b\nA,T\n", "site 1,site 2\nA,TT\n", "site 1,site 2\n1,A\n", "site 1,site 3\nA,T\n"}) {
    EXPECT_FALSE(is_alignment(parse_csv(bytes_from(text), "t.csv"))) << text;
  }
  const auto gappy = parse_csv(bytes_from("site 1,site 2\nA,?\nC,\n"), "t.csv", Missing::kAllowed);
  ASSERT_TRUE(is_alignment(gappy));  // a column to be completed
  EXPECT_EQ(sequences_of(gappy)[1].letters, "C?");
}

}  // namespace
}  // namespace ergodic
