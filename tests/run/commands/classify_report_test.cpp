#include "ergodic/run/commands/classify_report.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "ergodic/format/bytes.hpp"
#include "ergodic/format/file.hpp"
#include "ergodic/run/classify.hpp"
#include "ergodic/run/commands/classify_pictures.hpp"
#include "format/damage.hpp"

namespace ergodic {
namespace {

/// Pictures of 2 x 2: the upper row is on in class 0, the lower one in class 1; every tenth has the wrong label.
Dataset halves(std::size_t rows) {
  Bits bits(rows, 4);
  Dataset out;
  for (std::size_t r = 0; r < rows; ++r) {
    const std::size_t half = r % 2;
    bits.set(r, 2 * half, true);
    bits.set(r, 2 * half + 1, true);
    out.labels.push_back(static_cast<int>(r % 10 == 0 ? 1 - half : half));
  }
  out.name = "halves";
  out.values = std::move(bits);
  out.shape = {2, 2};
  out.class_names = {"upper", "lower"};
  return out;
}

/// A network that has learned the halves, and the records of that.
struct Learned {
  TrainingData data;
  Classifier classifier{
      random_network(4, std::vector<std::uint64_t>{3}, 2, Activation::kSigmoid, Key{1}), {"upper", "lower"}, {}};
  std::vector<Record> records;

  explicit Learned(TrainingData given) : data(std::move(given)) {
    ClassifierOptions options;
    options.training.epochs = 40;
    options.training.batch = 10;
    ClassifierFit fit(classifier.network, data, options, Key{1});
    fit.run([] {}, {});
    records = fit.trainer().records();
  }

  ReportContent report() const {
    return classifier_report({classifier, data, data.train.rows(), records, 40, 0.5, 1.0, {{"l2", "0"}}}, {});
  }
};

const std::string* value_of(const ReportContent& report, const std::string& what) {
  const auto found = std::ranges::find(report.summary, what, &std::pair<std::string, std::string>::first);
  return found == report.summary.end() ? nullptr : &found->second;
}

TEST(ClassifierReport, ShowsCurvesConfusionMistakesAndFilters) {
  const Learned learned({halves(100), halves(50)});
  const ReportContent report = learned.report();
  EXPECT_EQ(report.title, "Classifier trained on halves");
  ASSERT_NE(value_of(report, "Error"), nullptr);
  EXPECT_TRUE(value_of(report, "Error")->starts_with("10.00 % of 50 held-out rows")) << *value_of(report, "Error");
  ASSERT_EQ(report.charts.size(), 2u);
  for (const Chart& chart : report.charts) {
    ASSERT_EQ(chart.series.size(), 2u) << chart.title;
    EXPECT_EQ(chart.series[0].name, "training rows");
    EXPECT_EQ(chart.series[1].points.size(), learned.records.size() - 1);  // not the one before the first update
  }
  EXPECT_EQ(report.charts[0].series[1].points.back().second, 10.0);  // percent
  ASSERT_EQ(report.pictures.size(), 3u);
  for (const auto& [k, word] : {std::pair(0, "Confusion"), std::pair(1, "mistakes"), std::pair(2, "Filters")}) {
    EXPECT_NE(report.pictures[static_cast<std::size_t>(k)].caption.find(word), std::string::npos);
  }
  const ReportTable& mistakes = report.tables.back();
  ASSERT_EQ(mistakes.rows.size(), 5u);  // the wrong labels of 50 rows, all of which are of even rows
  for (const auto& row : mistakes.rows) {
    EXPECT_EQ(row[1], "lower");
    EXPECT_EQ(row[2], "upper");
  }
}

TEST(ClassifierReport, WithoutHeldOutRowsTheTrainingRowsAreJudged) {
  const ReportContent report = Learned({halves(100), {}}).report();
  EXPECT_NE(value_of(report, "Error")->find("of 100 training rows"), std::string::npos);
  for (const Chart& chart : report.charts) EXPECT_EQ(chart.series.size(), 1u) << chart.title;
}

TEST(ClassifierReport, NoMistakesNeedNoPicture) {
  Dataset right = halves(20);
  for (std::size_t r = 0; r < 20; ++r) right.labels[r] = static_cast<int>(r % 2);
  const ReportContent report = Learned({right, right}).report();
  EXPECT_EQ(report.pictures.size(), 2u);
  EXPECT_EQ(report.tables.size(), 1u);  // the options
}

TEST(ClassifierReport, IsOnePage) {
  const Learned learned({halves(40), halves(20)});
  const auto path = fresh_path("report.html");
  write_classifier_report(path, {learned.classifier, learned.data, 1, learned.records}, {});
  const std::string page(as_text(read_file(path)));
  EXPECT_TRUE(page.starts_with("<!DOCTYPE html>"));
  EXPECT_NE(page.find("Log loss"), std::string::npos);
}

TEST(WorstRows, AreTheSurestMistakesInTheirOrder) {
  Matrix<float> p(4, 2);
  const float of_first[] = {0.1f, 0.9f, 0.4f, 0.05f};
  for (std::size_t r = 0; r < 4; ++r) {
    p(r, 0) = of_first[r];
    p(r, 1) = 1.0f - of_first[r];
  }
  const std::vector<int> labels{0, 0, 0, 0};
  EXPECT_EQ(worst_rows(p, labels, 100), (std::vector<std::uint32_t>{3, 0, 2}));
  EXPECT_EQ(worst_rows(p, labels, 1), (std::vector<std::uint32_t>{3}));
}

}  // namespace
}  // namespace ergodic
