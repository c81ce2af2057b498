// SPDX-License-Identifier: Apache-2.0
/// An object of a derived class that is held, and copied, by value: T::clone() makes the copy.
#pragma once

#include <memory>
#include <utility>

namespace sluice {

template <class T>
class Cloned {
  public:
    explicit Cloned(std::unique_ptr<T> object) : object_(std::move(object)) {}
    Cloned(const Cloned& other) : object_(other.object_->clone()) {}
    Cloned(Cloned&&) noexcept = default;
    Cloned& operator=(const Cloned& other) {
        if (this != &other) {
            object_ = other.object_->clone();
        }
        return *this;
    }
    Cloned& operator=(Cloned&&) noexcept = default;
    ~Cloned() = default;

    T* operator->() { return object_.get(); }
    const T* operator->() const { return object_.get(); }

  private:
    std::unique_ptr<T> object_;
};

}  // namespace sluice
