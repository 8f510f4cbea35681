#include <catch2/catch.hpp>

#include "core/value/value_codec.h"
#include "nodes/runtime/member_news.h"

using namespace headrace;
using namespace headrace::runtime;

namespace {

Member member(std::uint64_t number, std::string state, Incarnation incarnation = 1,
              std::uint64_t advert = 0) {
  Member member;
  member.id = NodeId::from_halves(9, number);
  member.name = "m" + std::to_string(number);
  member.state = std::move(state);
  member.incarnation = incarnation;
  member.advert_version = advert;
  return member;
}

// "topic name state incarnation", in order.
std::vector<std::string> told(MemberNews& news, const std::vector<Member>& members) {
  std::vector<std::string> lines;
  for (const auto& item : news.changes(members)) {
    const auto params = decode_params(item.params).value();
    CHECK(params.size() == 4);
    CHECK(params.get<std::string>("node")->size() == 32);
    lines.push_back(item.topic + " " + params.get<std::string>("name").value() + " " +
                    params.get<std::string>("state").value() + " " +
                    std::to_string(params.get<std::uint64_t>("incarnation").value()));
  }
  return lines;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("each change of a member's state is told once") {
  MemberNews news;
  const auto self = member(1, "alive");
  CHECK(told(news, {self}).empty());
  CHECK(told(news, {self, member(2, "alive")}) == Lines{"$sys.member.alive m2 alive 1"});
  CHECK(told(news, {self, member(2, "alive")}).empty());
  CHECK(told(news, {self, member(2, "suspect"), member(3, "left")}) ==
        Lines{"$sys.member.suspect m2 suspect 1", "$sys.member.left m3 left 1"});
  CHECK(told(news, {self, member(2, "dead"), member(3, "left")}) ==
        Lines{"$sys.member.dead m2 dead 1"});
}

TEST_CASE("a new life and a new advert are told, and the latter apart") {
  MemberNews news;
  const auto self = member(1, "alive");
  told(news, {self, member(2, "alive", 5)});
  CHECK(told(news, {self, member(2, "alive", 6)}) == Lines{"$sys.member.alive m2 alive 6"});
  CHECK(told(news, {self, member(2, "alive", 6, 1)}) == Lines{"$sys.member.advert m2 alive 6"});
  CHECK(told(news, {self, member(2, "alive", 6, 1)}).empty());
}

TEST_CASE("the node itself and forgotten members are not told of; one that returns is") {
  MemberNews news;
  told(news, {member(1, "alive"), member(2, "dead")});
  CHECK(told(news, {member(1, "alive", 2, 3)}).empty());
  CHECK(told(news, {member(1, "alive", 2, 3), member(2, "dead")}) ==
        Lines{"$sys.member.dead m2 dead 1"});
}
