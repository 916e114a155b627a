// Parameters: one flat buffer of floats with named slots. Optimisers, checkpoints and files see only this.
// Derived: what a model makes of them to be faster.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ergodic/core/aligned.hpp"

namespace ergodic {

struct Slot {
  std::string name;
  std::vector<std::size_t> shape;
  std::size_t offset = 0;
  std::size_t size = 0;
};

class Parameters {
 public:
  /// Appends a slot of zeros.
  void add(std::string name, std::vector<std::size_t> shape);

  const std::vector<Slot>& slots() const { return slots_; }
  const Slot& slot(std::string_view name) const;
  std::span<float> values() { return values_; }
  std::span<const float> values() const { return values_; }
  std::span<float> operator[](std::string_view name);
  std::span<const float> operator[](std::string_view name) const;

 private:
  std::vector<Slot> slots_;
  AlignedVector<float> values_;
};

/// Averages of -dE/dtheta in the layout of the parameters. The gradient of the log-likelihood is the data's statistics
/// minus the model's.
using Statistics = std::vector<double>;

/// What is made of the parameters when it is first asked for, since it may take many times their memory. Several
/// threads may ask at once, and one of them makes it. A copy has what the original had.
template <class T>
class Derived {
 public:
  Derived() = default;
  Derived(const Derived& other) {
    if (const T* made = other.made_.load(std::memory_order_acquire)) keep(std::make_unique<T>(*made));
  }
  Derived(Derived&& other) noexcept {
    keep(std::move(other.value_));
    other.forget();
  }
  Derived& operator=(Derived other) noexcept {
    keep(std::move(other.value_));
    return *this;
  }

  /// What make() returned when it was first called.
  template <class Make>
  const T& value(const Make& make) const {
    if (const T* made = made_.load(std::memory_order_acquire)) return *made;
    const std::lock_guard lock(making_);
    if (!value_) keep(std::make_unique<T>(make()));
    return *value_;
  }
  template <class Make>
  T& value(const Make& make) {
    return const_cast<T&>(std::as_const(*this).value(make));
  }

  /// It is to be made anew.
  void forget() { keep(nullptr); }

 private:
  void keep(std::unique_ptr<T> value) const {
    value_ = std::move(value);
    made_.store(value_.get(), std::memory_order_release);
  }

  mutable std::mutex making_;
  mutable std::unique_ptr<T> value_;
  mutable std::atomic<const T*> made_ = nullptr;
};

}  // namespace ergodic
