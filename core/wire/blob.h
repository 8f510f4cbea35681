// Payloads too large for one message cross in pieces ahead of the message that names them, on the same lane and
// in order. A blob that lost a piece is never whole: the message that names it counts as lost with it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "core/base/bytes.h"
#include "core/wire/codec.h"

namespace headrace::wire {

struct BlobPiece {
  std::uint64_t blob = 0;  // unique among those of one sender's life; never 0
  std::uint64_t offset = 0;
  std::uint64_t total = 0;
  BytesView bytes;
};
void encode(Bytes& out, const BlobPiece& piece);
bool decode(Reader& in, BlobPiece& piece);

// Calls `emit(Bytes message)` for each piece of `payload`, at most limits::kChunkBytes each.
template <typename Emit>
void cut_blob(std::uint64_t blob, BytesView payload, std::size_t piece_bytes, Emit&& emit) {
  for (std::size_t offset = 0; offset < payload.size(); offset += piece_bytes) {
    Bytes message;
    encode(message, BlobPiece{blob, offset, payload.size(), payload.substr(offset, piece_bytes)});
    emit(std::move(message));
  }
}

// The receiving end for one sender's life. Holds at most `max_blobs` blobs and `max_bytes` bytes, dropping the oldest:
// a blob is named by the message right behind it, so an old one that nobody took never will be.
class BlobAssembler final {
 public:
  BlobAssembler(std::size_t max_blobs, std::size_t max_bytes) : max_blobs_(max_blobs), max_bytes_(max_bytes) {}

  void add(const BlobPiece& piece);
  // The whole blob, once; nothing if a piece of it is missing.
  std::optional<Bytes> take(std::uint64_t blob);
  std::size_t held_bytes() const { return held_bytes_; }

 private:
  struct Partial {
    Bytes bytes;
    std::uint64_t total = 0;
  };
  void drop(std::map<std::uint64_t, Partial>::iterator at);

  std::map<std::uint64_t, Partial> blobs_;
  std::size_t max_blobs_;
  std::size_t max_bytes_;
  std::size_t held_bytes_ = 0;
};

}  // namespace headrace::wire
