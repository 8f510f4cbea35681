// TopicTree: what stands at many topics and patterns, found by the topics that concern it in one
// descent.
//
// T is what stands at one pattern: default-constructible, with empty(). A node of the tree lives as
// long as something stands at it or below.
//
// walk() gives each T its level: how specific it is for that topic. The topic itself is at its
// number of words, a topic above it at that one's number of words, the root `*` at 0. A pattern
// that matches counts as standing at the topic itself. In `$sys` neither the root nor a pattern
// that begins with a wildcard is met.
//
// Plain state with one owner. Depth, and so the stack, is bounded by limits::kTopicWords.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/topic/topic_pattern.h"

namespace headrace {

// Lets a map with std::string keys be asked for a string_view without making a string.
struct StringHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const noexcept {
    return std::hash<std::string_view>{}(text);
  }
};

template <typename T>
class TopicTree final {
 public:
  // What stands at `pattern`, made if nothing does. Valid until that is erased.
  T& at(const TopicPattern& pattern) {
    Node* node = &root_;
    if (pattern.form() == TopicPattern::Form::kRoot) return node->here;
    for (Words words(pattern.text()); words.more();) {
      const auto word = words.next();
      auto& child = word == "*" ? node->any : word == ">" ? node->rest : node->child(word);
      if (!child) child = std::make_unique<Node>();
      node = child.get();
    }
    return node->here;
  }

  // Takes out what stands at `pattern` if it has become empty().
  void prune(const TopicPattern& pattern) {
    if (pattern.form() != TopicPattern::Form::kRoot) prune(root_, Words(pattern.text()));
  }

  // Calls visit(level, const T&) for whatever concerns `topic`, which must be valid.
  template <typename Visit>
  void walk(std::string_view topic, Visit&& visit) const {
    std::size_t levels = 0;
    for (Words words(topic); words.more(); ++levels) words.next();
    Walk<Visit> state{levels, is_system_topic(topic), visit};
    descend(root_, Words(topic), 0, true, state);
  }

  bool empty() const { return root_.empty(); }

 private:
  struct Node {
    std::unordered_map<std::string, std::unique_ptr<Node>, StringHash, std::equal_to<>> words;
    std::unique_ptr<Node> any;   // '*'
    std::unique_ptr<Node> rest;  // '>'
    T here{};

    std::unique_ptr<Node>& child(std::string_view word) {
      const auto at = words.find(word);
      return at == words.end() ? words[std::string(word)] : at->second;
    }
    bool empty() const { return here.empty() && words.empty() && !any && !rest; }
  };

  template <typename Visit>
  struct Walk {
    std::size_t levels;
    bool system;
    Visit& visit;

    void meet(std::size_t level, const Node& node) {
      if (!node.here.empty()) visit(level, node.here);
    }
  };

  // `exact`: no wildcard was passed on the way to `node`, so what stands there is above the topic.
  template <typename Visit>
  static void descend(const Node& node, Words words, std::size_t depth, bool exact,
                      Walk<Visit>& walk) {
    if (!words.more()) return walk.meet(walk.levels, node);
    const bool closed = depth == 0 && walk.system;
    if (exact && !closed) walk.meet(depth, node);
    if (node.rest && !closed) walk.meet(walk.levels, *node.rest);
    const auto child = node.words.find(words.next());
    if (child != node.words.end()) descend(*child->second, words, depth + 1, exact, walk);
    if (node.any && !closed) descend(*node.any, words, depth + 1, false, walk);
  }

  static void prune(Node& node, Words words) {
    if (!words.more()) return;
    const auto word = words.next();
    if (word == "*" || word == ">") {
      auto& child = word == "*" ? node.any : node.rest;
      if (!child) return;
      prune(*child, words);
      if (child->empty()) child.reset();
      return;
    }
    const auto child = node.words.find(word);
    if (child == node.words.end()) return;
    prune(*child->second, words);
    if (child->second->empty()) node.words.erase(child);
  }

  Node root_;
};

}  // namespace headrace
