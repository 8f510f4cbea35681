#include "nodes/runtime/identity.h"

#include <fcntl.h>
#include <sodium.h>
#include <unistd.h>
#include <zmq.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>

namespace headrace::runtime {

namespace {

constexpr std::size_t kKeyText = 40;
constexpr std::size_t kKeyBytes = 32;
constexpr std::string_view kTitle = "headrace identity 1\n";
constexpr std::string_view kPublic = "public ";
constexpr std::string_view kSecret = "secret ";

std::optional<std::array<unsigned char, kKeyBytes>> decode_key(const std::string& text) {
  std::array<unsigned char, kKeyBytes> key{};
  if (text.size() != kKeyText || zmq_z85_decode(key.data(), text.c_str()) == nullptr) return {};
  return key;
}

std::optional<NodeId> id_of(const std::string& public_key) {
  const auto key = decode_key(public_key);
  if (!key) return std::nullopt;
  std::array<unsigned char, 32> hash{};
  crypto_generichash(hash.data(), hash.size(), key->data(), key->size(), nullptr, 0);
  return NodeId::from_raw({reinterpret_cast<const char*>(hash.data()), 16});
}

// The key named `label` at the head of `text`, which moves on behind it.
std::string take_key(std::string_view& text, std::string_view label) {
  const auto line = text.substr(0, label.size() + kKeyText + 1);
  if (!line.starts_with(label) || !line.ends_with('\n')) return {};
  text.remove_prefix(line.size());
  return std::string(line.substr(label.size(), kKeyText));
}

std::optional<Identity> parse(std::string_view text) {
  if (!text.starts_with(kTitle)) return std::nullopt;
  text.remove_prefix(kTitle.size());
  Identity identity;
  identity.public_key = take_key(text, kPublic);
  identity.secret_key = take_key(text, kSecret);
  const auto id = id_of(identity.public_key);
  if (!id || identity.secret_key.size() != kKeyText || !text.empty()) return std::nullopt;
  // The two must belong together.
  std::array<char, kKeyText + 1> derived{};
  if (zmq_curve_public(derived.data(), identity.secret_key.c_str()) != 0) return std::nullopt;
  if (identity.public_key != derived.data()) return std::nullopt;
  identity.id = *id;
  return identity;
}

tl::unexpected<Error> failed(const std::filesystem::path& file, const char* what) {
  return fail(Code::kStore, std::string("the key file ") + file.string() + " cannot be " + what +
                                ": " + std::strerror(errno));
}

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto wrote = ::write(fd, bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return true;
}

bool write_durably(const std::filesystem::path& file, std::string_view bytes) {
  const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return false;
  const bool good = write_all(fd, bytes) && ::fsync(fd) == 0;
  return ::close(fd) == 0 && good;
}

bool sync_directory(const std::filesystem::path& directory) {
  const int fd = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool good = ::fsync(fd) == 0;
  ::close(fd);
  return good;
}

Result<Identity> create(const std::filesystem::path& directory, const std::filesystem::path& file) {
  auto identity = make_identity();
  if (!identity) return identity;
  const std::string text = std::string(kTitle) + std::string(kPublic) + identity->public_key +
                           "\n" + std::string(kSecret) + identity->secret_key + "\n";
  const auto unfinished = directory / "identity.key.new";
  if (!write_durably(unfinished, text)) return failed(unfinished, "written");
  if (::rename(unfinished.c_str(), file.c_str()) != 0 || !sync_directory(directory)) {
    return failed(file, "written");
  }
  return identity;
}

}  // namespace

Bytes Identity::key_bytes() const {
  const auto key = decode_key(public_key);
  return key ? Bytes(reinterpret_cast<const char*>(key->data()), key->size()) : Bytes();
}

Result<Identity> make_identity() {
  if (sodium_init() < 0) return fail(Code::kInternal, "the system gives no random numbers");
  std::array<char, kKeyText + 1> public_key{};
  std::array<char, kKeyText + 1> secret_key{};
  if (zmq_curve_keypair(public_key.data(), secret_key.data()) != 0) {
    return fail(Code::kInternal, "libzmq was built without CURVE, so this node can have no key");
  }
  Identity identity;
  identity.public_key = public_key.data();
  identity.secret_key = secret_key.data();
  identity.id = *id_of(identity.public_key);
  return identity;
}

Result<Identity> keep_identity(const std::filesystem::path& directory) {
  const auto file = directory / "identity.key";
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0 && errno == ENOENT) return create(directory, file);
  if (fd < 0) return failed(file, "read");
  std::string text(4096, '\0');  // far above what it holds
  const auto got = ::read(fd, text.data(), text.size());
  const int error = errno;
  ::close(fd);
  errno = error;
  if (got < 0) return failed(file, "read");
  text.resize(static_cast<std::size_t>(got));
  if (sodium_init() < 0) return fail(Code::kInternal, "the system gives no random numbers");
  if (auto identity = parse(text)) return *identity;
  return fail(Code::kStore,
              "the key file " + file.string() +
                  " is damaged, so this node cannot tell who it is; restore it from a "
                  "backup, or remove it to be a new node to the others");
}

}  // namespace headrace::runtime
