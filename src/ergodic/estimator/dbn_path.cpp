#include "ergodic/estimator/dbn_path.hpp"

#include "ergodic/estimator/rbm_path.hpp"

namespace ergodic {
namespace {

constexpr Key kBaseKey{};  // of what shows where the path begins

class TopPath final : public Path {
 public:
  TopPath(const Dbn& model, const State& rows, const Context& context)
      : model_(model), top_(path_to(model.top(), raised(rows, kBaseKey, context), context)) {}

  double base_log_z() const override { return top_->base_log_z(); }
  Chains draw_base(std::size_t count, Key key, const Context& context) override {
    return top_->draw_base(count, key, context);
  }
  Chains start_at(const State& visible, Key key, const Context& context) override {
    return top_->start_at(raised(visible, key, context), key, context);
  }
  void sweep(double t, Chains& chains, Key key, const Context& context) override {
    top_->sweep(t, chains, key, context);
  }
  void weigh(double from, double to, const Chains& chains, std::span<double> out, const Context& context) override {
    top_->weigh(from, to, chains, out, context);
  }
  void advance(double from, double to, Chains& chains, Key key, std::span<double> out,
               const Context& context) override {
    top_->advance(from, to, chains, key, out, context);
  }

 private:
  State raised(const State& rows, Key key, const Context& context) const {
    const LayerDraws draws{key, Purpose::kDataHidden};
    return model_.joined_top(model_.draw_up(model_.values_of(rows), model_.depth() - 1, draws, context).back(), rows);
  }

  const Dbn& model_;
  std::unique_ptr<Path> top_;
};

}  // namespace

std::unique_ptr<Path> path_to(const Dbn& model, const State& rows, const Context& context) {
  return std::make_unique<TopPath>(model, rows, context);
}

}  // namespace ergodic
