// Aligned protein sequences as categorical data, and how much each of them counts.
//
// A site (a match column of the alignment) is one unit of 21 values: 20 amino acids and the gap. It is held as 21 bits
// of which one is on: unit s * 21 + a is "site s has letter a", with the letters in the order of kProteinLetters.
//
// Which columns are sites follows the habits of A2M files (Hughey and Krogh, SAM, 1995) and A3M files (HH-suite), where
// upper-case letters and "-" stand in match columns, lower-case letters and "." in inserts between them:
// - If all sequences are of one length, their columns correspond. One that has a lower-case letter, or dots only, is an
//   insert and is dropped; a dot elsewhere is a gap.
// - If they are not, or if a column mixes upper and lower case, inserts are taken to be written without padding, as in
//   A3M. Each sequence loses its own lower-case letters and dots, and what remains must be of one length.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ergodic/core/context.hpp"
#include "ergodic/data/dataset.hpp"
#include "ergodic/format/array.hpp"
#include "ergodic/format/csv.hpp"
#include "ergodic/format/fasta.hpp"

namespace ergodic {

inline constexpr std::string_view kProteinLetters = "ACDEFGHIKLMNPQRSTVWY-";

/// One row for each sequence, without weights. The ambiguous and rare letters B, J, O, U, X, Z become gaps; "?" is a
/// missing value where these are allowed, and stands in match columns. DataError names row and column
/// of any other character, and the row that has another number of sites.
Dataset dataset_of(std::span<const NamedSequence> sequences, const std::string& name,
                   Missing missing = Missing::kRefused);

/// The weight of each row of categorical data: one over the number of rows, itself included, that have the same letter
/// at a share of at least `identity` of the sites (in (0, 1]); a gap is a letter like others. Thus relatives that were
/// sampled densely count once together (Morcos et al., 2011). Rows are compared where both are known, and rows that are
/// nowhere known together are not alike. With identity 1 only equal rows share their weight. The time is in proportion
/// to the square of the rows; Stopped is thrown if the observer asks to stop.
std::vector<double> sequence_weights(const Dataset& data, double identity, const Context& context);

/// "site 1" for site 0: the column of a site of an alignment that is written as a table.
std::string site_name(std::size_t site);
/// Whether this is such a table: columns of these names, of single characters or missing values alone.
bool is_alignment(const CsvTable& table);
/// Its rows, without names; "?" for a missing value.
std::vector<NamedSequence> sequences_of(const CsvTable& table);

}  // namespace ergodic
