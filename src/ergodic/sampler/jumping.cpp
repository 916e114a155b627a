#include "ergodic/sampler/jumping.hpp"

namespace ergodic {

State draw_of(const Bowl& bowl, std::size_t count, const Draw& draw, std::uint64_t first_chain) {
  Matrix<float> out(count, bowl.mean.size());
  for (std::size_t r = 0; r < count; ++r) {
    for (std::uint32_t i = 0; i < out.cols(); ++i) {
      const double z = draw.normal(static_cast<std::uint32_t>(first_chain + r), kFirstProposalNumber + i);
      out(r, i) = static_cast<float>(bowl.mean[i] + bowl.deviation[i] * z);
    }
  }
  return State(std::move(out));
}

Chains far_start(const Neural& model, std::size_t count, Key key, const Context&) {
  Chains out;
  out.layers.push_back(draw_of(model.bowl(), count, key.at(Purpose::kInitialChains), 0));
  return out;
}

}  // namespace ergodic
