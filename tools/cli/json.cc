#include "tools/cli/json.h"

#include "core/base/utf8.h"

namespace headrace::cli {
namespace {

struct ToJson {
  Json operator()(std::monostate) const { return nullptr; }
  Json operator()(bool value) const { return value; }
  Json operator()(std::int64_t value) const { return value; }
  Json operator()(std::uint64_t value) const { return value; }
  Json operator()(double value) const { return value; }
  Json operator()(const std::string& value) const { return value; }
  Json operator()(const Blob& value) const { return {{"$bytes", base64(value.data)}}; }
  Json operator()(const Value::Array& values) const {
    Json json = Json::array();
    for (const auto& value : values) json.push_back(to_json(value));
    return json;
  }
  Json operator()(const ParamSet& value) const { return to_json(value); }
  Json operator()(WallTime value) const { return format_rfc3339(value); }
  Json operator()(const Ext& value) const {
    return {{"$ext", value.type}, {"$bytes", base64(value.data)}};
  }
};

Json or_null(const std::optional<WallTime>& time) {
  return time ? Json(format_rfc3339(*time)) : Json(nullptr);
}

}  // namespace

std::string base64(BytesView bytes) {
  static constexpr char kDigits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto at = [&](std::size_t j) {
      return j < bytes.size() ? static_cast<unsigned>(static_cast<unsigned char>(bytes[j])) : 0U;
    };
    const unsigned group = at(i) << 16 | at(i + 1) << 8 | at(i + 2);
    text += kDigits[group >> 18];
    text += kDigits[group >> 12 & 63];
    text += i + 1 < bytes.size() ? kDigits[group >> 6 & 63] : '=';
    text += i + 2 < bytes.size() ? kDigits[group & 63] : '=';
  }
  return text;
}

Json to_json(const Value& value) { return value.visit(ToJson{}); }

Json to_json(const ParamSet& params) {
  Json json = Json::object();
  for (const auto& [name, value] : params) json[name] = to_json(value);
  return json;
}

Json to_json(const JobInfo& info) {
  return {{"id", info.id.hex()},
          {"topic", info.topic},
          {"queue", info.queue},
          {"state", to_string(info.state)},
          {"level", to_string(info.level)},
          {"priority", info.priority},
          {"attempt", info.attempt},
          {"max_attempts", info.max_attempts},
          {"deliveries", info.deliveries},
          {"owner", info.owner.hex()},
          {"consumer", info.consumer ? Json(info.consumer->hex()) : Json(nullptr)},
          {"added", format_rfc3339(info.added)},
          {"not_before", or_null(info.not_before)},
          {"started", or_null(info.started)},
          {"finished", or_null(info.finished)},
          {"result", info.result ? to_json(*info.result) : Json(nullptr)},
          {"error", info.error.empty() ? Json(nullptr) : Json(info.error)},
          {"errors", info.errors}};
}

Json to_json(const Member& member) {
  Json tags = Json::object();
  for (const auto& [name, value] : member.tags) tags[name] = value;
  return {{"id", member.id.hex()},
          {"name", member.name},
          {"state", member.state},
          {"endpoint", member.endpoint},
          {"incarnation", member.incarnation},
          {"tags", std::move(tags)},
          {"endpoints", {member.endpoint, member.data_endpoint}},
          {"advert_version", member.advert_version},
          {"since", format_rfc3339(member.since)},
          {"round_trip_us", member.round_trip ? Json(member.round_trip->count()) : Json(nullptr)}};
}

Json to_json(const ClientEvent& event) {
  const bool text = is_utf8(event.payload);
  return {{"topic", event.topic},
          {"params", to_json(event.params)},
          {text ? "payload" : "payload_base64", text ? event.payload : base64(event.payload)},
          {"node", event.node.hex()},
          {"id", event.id.hex()},
          {"time", format_rfc3339(event.time)},
          {"seq", event.seq}};
}

// What is no UTF-8 (a name or an error that some node made) is shown as far as it can be.
std::string line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace headrace::cli
