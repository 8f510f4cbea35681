#include "core/wire/blob.h"

#include "core/base/limits.h"
#include "core/wire/kinds.h"

namespace headrace::wire {

void encode(Bytes& bytes, const BlobPiece& piece) {
  Writer(bytes).array(5).u64(number(Kind::kBlob)).u64(piece.blob).u64(piece.offset).u64(piece.total).bin(piece.bytes);
}

bool decode(Reader& in, BlobPiece& piece) {
  piece.blob = in.u64();
  piece.offset = in.u64(limits::kJobPayloadBytes);
  piece.total = in.u64(limits::kJobPayloadBytes);
  piece.bytes = in.bin(limits::kChunkBytes);
  if (piece.blob == 0 || piece.bytes.empty() || piece.offset + piece.bytes.size() > piece.total) in.fail();
  return in.ok();
}

void BlobAssembler::add(const BlobPiece& piece) {
  auto at = blobs_.find(piece.blob);
  if (piece.offset == 0) {
    if (at != blobs_.end()) drop(at);
    while (!blobs_.empty() && (blobs_.size() >= max_blobs_ || held_bytes_ + piece.total > max_bytes_)) {
      drop(blobs_.begin());
    }
    if (piece.total > max_bytes_) return;
    at = blobs_.emplace(piece.blob, Partial{{}, piece.total}).first;
    at->second.bytes.reserve(piece.total);
    held_bytes_ += piece.total;
  }
  if (at == blobs_.end()) return;  // its beginning is missing
  Partial& partial = at->second;
  if (partial.bytes.size() != piece.offset || partial.total != piece.total) return drop(at);
  partial.bytes.append(piece.bytes);
}

std::optional<Bytes> BlobAssembler::take(std::uint64_t blob) {
  const auto at = blobs_.find(blob);
  if (at == blobs_.end()) return {};
  std::optional<Bytes> whole;
  if (at->second.bytes.size() == at->second.total) whole = std::move(at->second.bytes);
  drop(at);
  return whole;
}

void BlobAssembler::drop(std::map<std::uint64_t, Partial>::iterator at) {
  held_bytes_ -= at->second.total;
  blobs_.erase(at);
}

}  // namespace headrace::wire
