// Data sets that are made, not read: small ones whose best likelihood is known, and a sheet of handwritten digits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ergodic/data/dataset.hpp"

namespace ergodic {

/// All N x N pictures of full columns (label 0) and of full rows (label 1): 2 * 2^N rows, in which the empty and the
/// full picture stand twice (MacKay 2003). Best mean log-likelihood: -2.5993 for N = 3, -3.3791 for N = 4.
Dataset bars_and_stripes(std::size_t n);

/// N rows of N units: one unit on, at each place once. Best mean log-likelihood: -log N.
Dataset shifting_bars(std::size_t n);

/// `count` procedural handwritten digits, 28 x 28 with labels, as grey levels. Streams are independent sheets.
Dataset digit_sheet(std::size_t count, std::uint8_t stream);

}  // namespace ergodic
