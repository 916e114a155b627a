// R's own files, as far as they hold a data frame: what save() (.rda, .RData) and saveRDS() (.rds) write, in XDR, of
// version 2 or 3, compressed by gzip or not ("R Internals", section 1.8).
//
// A factor and a vector of strings are a column of words, or of numbers if every word is one; logical values are 1
// and 0; NA is a missing value. Other columns (dates, lists, matrices) are noted as a problem: they may not be wanted.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "ergodic/format/array.hpp"
#include "ergodic/format/csv.hpp"

namespace ergodic {

/// Whether an uncompressed file begins as those that R writes.
bool is_rdata(std::string_view start);

/// The data frame in a file, with its names as header: what parse_csv makes of the same table as text. DataError if
/// there is none, or several. `where` names the file in messages.
CsvTable parse_rdata(std::span<const std::byte> file, const std::string& where, Missing missing = Missing::kRefused);

}  // namespace ergodic
