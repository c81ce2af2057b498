// SPDX-License-Identifier: Apache-2.0
/// Tables of the fields of plain structs. Each field has one role, and the role decides what every mechanism does with
/// the field. So no mechanism keeps a list of fields of its own. A table is a macro beside its struct,
///
///     #define SLUICE_FIELDS_OF_RECEIVER(FIRST, NEXT) FIRST(expected, content) NEXT(nack_timer, instant)
///     SLUICE_DESCRIBE(Receiver, SLUICE_FIELDS_OF_RECEIVER)
///
/// It does not compile unless every field of the struct stands there once, in order. The functions below compare, shift
/// and restore the struct. docs/architecture.md says what is done to which role.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/hd.h"
#include "core/units.h"

namespace sluice {

enum class Role : unsigned char {
    constant,  ///< what the thing is: equal in copies, kept when state is restored
    content,   ///< equal in copies
    instant,   ///< of simulated time: moves with a skip, but for kNever; equal in copies
    counter,  ///< std::int64_t; goes on from its own value: a copy adds what the representative has added
    peak,     ///< the greatest so far: of a copy and its representative the greater one
    draw,     ///< position in the thing's own random stream
    name,     ///< refers to a port, host, flow or sender, and is renamed in a copy
    derived,  ///< follows from other state: whoever copies it computes it anew
    part,     ///< a struct or container with a table or a function of its own
};

/// What a visitor is told of a field beside its values.
template <Role kRole>
struct Column {
    static constexpr Role role = kRole;
    const char* name;
};

template <class T>
SLUICE_HD inline bool same_value(const T& a, const T& b) {
    return a == b;
}
template <class T, std::size_t kCount>
SLUICE_HD inline bool same_value(const T (&a)[kCount], const T (&b)[kCount]) {
    for (std::size_t i = 0; i < kCount; ++i) {
        if (!(a[i] == b[i])) {
            return false;
        }
    }
    return true;
}

template <class T>
SLUICE_HD inline void set_value(T& to, const T& from) {
    to = from;
}
template <class T, std::size_t kCount>
SLUICE_HD inline void set_value(T (&to)[kCount], const T (&from)[kCount]) {
    for (std::size_t i = 0; i < kCount; ++i) {
        to[i] = from[i];
    }
}

/// An instant after a skip of `dt`.
SLUICE_HD inline Tick shifted(Tick at, Tick dt) { return at == kNever ? kNever : at + dt; }

template <class A, class B>
constexpr bool is_same_member(A, B) {
    return false;
}
template <class A>
constexpr bool is_same_member(A a, A b) {
    return a == b;
}

// What SLUICE_DESCRIBE makes of a list of fields.
#define SLUICE_FIRST_NAME(field, role) field
#define SLUICE_NEXT_NAME(field, role) , field
#define SLUICE_FIRST_ASKED(field, role) visit(Column<Role::role>{#field}, a.field, b.field)
#define SLUICE_NEXT_ASKED(field, role) &&visit(Column<Role::role>{#field}, a.field, b.field)
#define SLUICE_COUNTED(field, role) +(Role::role == Role::counter ? 1 : 0)
#define SLUICE_PLACE_ASKED(field, role)                   \
    if (is_same_member(&Of::field, wanted)) return place; \
    place += Role::role == Role::counter ? 1 : 0;
#define SLUICE_FIELD_VISITED(field, role) visit(Column<Role::role>{#field}, to.field, from.field);

/// all_fields(a, b, visit): visit(column, a's, b's), which returns whether to go on; true if it always does.
/// each_field(to, from, visit): the same, may write `to`'s, and always goes on.
/// SLUICE_DESCRIBE_READ_ONLY: the first one alone, for structs with bit-fields.
#define SLUICE_DESCRIBE_READ_ONLY(Struct, FIELDS)                                        \
    SLUICE_HD inline void binds_every_field(const Struct& of) {                          \
        [[maybe_unused]] const auto& [FIELDS(SLUICE_FIRST_NAME, SLUICE_NEXT_NAME)] = of; \
    }                                                                                    \
    constexpr std::size_t counters_in(const Struct*) {                                   \
        return FIELDS(SLUICE_COUNTED, SLUICE_COUNTED);                                   \
    }                                                                                    \
    template <class Visit>                                                               \
    SLUICE_HD inline bool all_fields(const Struct& a, const Struct& b, Visit&& visit) {  \
        return FIELDS(SLUICE_FIRST_ASKED, SLUICE_NEXT_ASKED);                            \
    }
#define SLUICE_DESCRIBE(Struct, FIELDS)                                               \
    SLUICE_DESCRIBE_READ_ONLY(Struct, FIELDS)                                         \
    constexpr std::size_t place_of_counter(std::int64_t Struct::*wanted) {            \
        using Of = Struct;                                                            \
        std::size_t place = 0;                                                        \
        FIELDS(SLUICE_PLACE_ASKED, SLUICE_PLACE_ASKED)                                \
        return place;                                                                 \
    }                                                                                 \
    template <class Visit>                                                            \
    SLUICE_HD inline void each_field(Struct& to, const Struct& from, Visit&& visit) { \
        FIELDS(SLUICE_FIELD_VISITED, SLUICE_FIELD_VISITED)                            \
    }

/// The same of a struct without fields.
#define SLUICE_DESCRIBE_EMPTY(Struct)                                         \
    template <class Visit>                                                    \
    SLUICE_HD inline bool all_fields(const Struct&, const Struct&, Visit&&) { \
        return true;                                                          \
    }                                                                         \
    template <class Visit>                                                    \
    SLUICE_HD inline void each_field(Struct&, const Struct&, Visit&&) {}

/// Fields that are equal in copies, names and parts aside. The first one that differs is in `column`.
template <class Struct>
SLUICE_HD inline bool same_fields(const Struct& a, const Struct& b, const char*& column) {
    return all_fields(a, b, [&](auto field, const auto& x, const auto& y) {
        if constexpr (field.role == Role::constant || field.role == Role::content ||
                      field.role == Role::instant) {
            if (!same_value(x, y)) {
                column = field.name;
                return false;
            }
        }
        return true;
    });
}
template <class Struct>
SLUICE_HD inline bool same_fields(const Struct& a, const Struct& b) {
    const char* column = nullptr;
    return same_fields(a, b, column);
}

/// All instants move by `dt`.
template <class Struct>
SLUICE_HD inline void shift_fields(Struct& state, Tick dt) {
    each_field(state, state, [&](auto field, auto& to, const auto&) {
        if constexpr (field.role == Role::instant) {
            to = shifted(to, dt);
        }
    });
}

/// Everything that changes becomes what it was in `from`, `dt` later; what the thing is, names, what is derived and
/// parts stay.
template <class Struct>
SLUICE_HD inline void restore_fields(Struct& to, const Struct& from, Tick dt) {
    each_field(to, from, [&](auto field, auto& mine, const auto& taken) {
        if constexpr (field.role == Role::instant) {
            mine = shifted(taken, dt);
        } else if constexpr (field.role == Role::content || field.role == Role::counter ||
                             field.role == Role::peak || field.role == Role::draw) {
            set_value(mine, taken);
        }
    });
}

/// Everything but what is derived and parts.
template <class Struct>
SLUICE_HD inline void copy_fields(Struct& to, const Struct& from) {
    each_field(to, from, [](auto field, auto& mine, const auto& taken) {
        if constexpr (field.role != Role::derived && field.role != Role::part) {
            set_value(mine, taken);
        }
    });
}

/// What all counters of a struct were, in the order of its fields.
template <class Struct>
struct Counters {
    std::int64_t operator[](std::int64_t Struct::*counter) const {
        return was[place_of_counter(counter)];
    }
    std::array<std::int64_t, counters_in(static_cast<const Struct*>(nullptr))> was{};
};

template <class Struct>
inline Counters<Struct> counters_of(const Struct& state) {
    Counters<Struct> counters;
    auto was = counters.was.begin();
    all_fields(state, state, [&](auto field, const auto& value, const auto&) {
        if constexpr (field.role == Role::counter) {
            *was++ = value;
        }
        return true;
    });
    return counters;
}

/// `copy` becomes what its representative has become since that had counted `base`: the same in content, counters
/// on by as much, the greater of peaks. Instants are the caller's to decide on.
template <class Struct>
inline void follow_fields(Struct& copy, const Struct& now, const Counters<Struct>& base) {
    auto was = base.was.begin();
    each_field(copy, now, [&](auto field, auto& mine, const auto& leads) {
        if constexpr (field.role == Role::content) {
            set_value(mine, leads);
        } else if constexpr (field.role == Role::counter) {
            mine += leads - *was++;
        } else if constexpr (field.role == Role::peak) {
            mine = mine < leads ? leads : mine;
        }
    });
}

}  // namespace sluice
