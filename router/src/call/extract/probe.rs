//! Reads a type from JSON text to learn which numbers it wants as integers.

use std::ops::Range;

use serde::{
    Deserialize, Deserializer,
    de::{DeserializeSeed, EnumAccess, Error as _, MapAccess, SeqAccess, VariantAccess, Visitor},
    forward_to_deserialize_any,
};
use serde_json::{Deserializer as Json, Error, value::RawValue};

use super::whole::Place;
use crate::wire::number::integer_of;

/// serde_json's depth limit.
const DEPTH: usize = 128;

/// Reads JSON text like serde_json, and records where a type wants an integer and the text has a whole number.
pub(super) struct Probe<'de> {
    text: &'de str,
    at: usize,
    depth: usize,
    /// Whether serde's buffers get whole numbers as integers.
    buffers: bool,
    places: Vec<Place>,
}

impl<'de> Probe<'de> {
    /// The places, and whether `T` can be read. If not, they are the places before the fault.
    pub(super) fn read<T: Deserialize<'de>>(text: &'de str, buffers: bool) -> (Vec<Place>, bool) {
        let mut probe = Self { text, at: 0, depth: 0, buffers, places: Vec::new() };
        let fits = T::deserialize(&mut probe).is_ok();
        (probe.places, fits)
    }

    fn peek(&mut self) -> Option<u8> {
        let rest = self.text.get(self.at..)?;
        self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
        self.text.as_bytes().get(self.at).copied()
    }

    fn expect(&mut self, byte: u8) -> Result<(), Error> {
        if self.peek() != Some(byte) {
            return Err(Error::custom("invalid JSON"));
        }
        self.at += 1;
        Ok(())
    }

    /// The next value, as text.
    fn value(&mut self) -> Result<&'de str, Error> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let mut values = Json::from_str(rest).into_iter::<&'de RawValue>();
        let value = values.next().unwrap_or_else(|| Err(Error::custom("invalid JSON")))?;
        self.at += values.byte_offset();
        Ok(value.get())
    }

    /// The same, with its place; and as an integer, if it is a whole number written as a float.
    fn number(&mut self) -> Result<(&'de str, Range<usize>, Option<Integer>), Error> {
        let value = self.value()?;
        let integer = integer_of(value).and_then(|text| Integer::read(&text));
        Ok((value, self.at - value.len()..self.at, integer))
    }

    fn note(&mut self, place: Range<usize>, buffered: bool) {
        self.places.push(Place { start: place.start, end: place.end, buffered, kept: false });
    }

    /// Reads the text between these two bytes.
    fn within<T>(
        &mut self,
        (open, close): (u8, u8),
        read: impl FnOnce(&mut Self) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.expect(open)?;
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(Error::custom("too deep"));
        }
        let value = read(self)?;
        self.depth -= 1;
        self.expect(close).map(|()| value)
    }

    fn seq<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Error> {
        self.within((b'[', b']'), |probe| visitor.visit_seq(Items { probe, first: true }))
    }

    fn map<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Error> {
        self.within((b'{', b'}'), |probe| visitor.visit_map(Items { probe, first: true }))
    }
}

/// An integer of some type.
enum Integer {
    U64(u64),
    I64(i64),
    U128(u128),
    I128(i128),
}

impl Integer {
    fn read(text: &str) -> Option<Self> {
        let u64 = || text.parse().map(Self::U64);
        let i64 = || text.parse().map(Self::I64);
        let u128 = || text.parse().map(Self::U128);
        u64().or_else(|_| i64()).or_else(|_| u128()).or_else(|_| text.parse().map(Self::I128)).ok()
    }

    fn is_wide(&self) -> bool {
        matches!(self, Self::U128(_) | Self::I128(_))
    }

    fn visit<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self {
            Self::U64(number) => visitor.visit_u64(number),
            Self::I64(number) => visitor.visit_i64(number),
            Self::U128(number) => visitor.visit_u128(number),
            Self::I128(number) => visitor.visit_i128(number),
        }
    }
}

/// As serde_json reads it.
macro_rules! plain {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            Json::from_str(self.value()?).$method(visitor)
        }
    )*};
}

macro_rules! integers {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            match self.number()? {
                (_, place, Some(integer)) => {
                    self.note(place, false);
                    integer.visit(visitor)
                }
                (value, _, None) => Json::from_str(value).$method(visitor),
            }
        }
    )*};
}

/// Chosen by the first byte. If it is that of another type, serde_json reports the error.
macro_rules! nested {
    ($($method:ident($($name:ident: $kind:ty),*) { $($byte:literal => $read:ident),* })*) => {$(
        fn $method<V: Visitor<'de>>(self, $($name: $kind,)* visitor: V) -> Result<V::Value, Error> {
            match self.peek() {
                $(Some($byte) => self.$read(visitor),)*
                _ => Json::from_str(self.value()?).$method($($name,)* visitor),
            }
        }
    )*};
}

impl<'de> Deserializer<'de> for &mut Probe<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.peek() {
            Some(b'{') => self.map(visitor),
            Some(b'[') => self.seq(visitor),
            _ => match self.number()? {
                // serde's buffers hold no wider integers
                (_, place, Some(integer)) if self.buffers && !integer.is_wide() => {
                    self.note(place, true);
                    integer.visit(visitor)
                }
                (value, ..) => Json::from_str(value).deserialize_any(visitor),
            },
        }
    }

    integers! {
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
    }

    plain! {
        deserialize_bool deserialize_f32 deserialize_f64 deserialize_char deserialize_str deserialize_string
        deserialize_unit deserialize_identifier
    }

    nested! {
        deserialize_bytes() { b'[' => seq }
        deserialize_byte_buf() { b'[' => seq }
        deserialize_seq() { b'[' => seq }
        deserialize_tuple(len: usize) { b'[' => seq }
        deserialize_tuple_struct(name: &'static str, len: usize) { b'[' => seq }
        deserialize_map() { b'{' => map }
        deserialize_struct(name: &'static str, fields: &'static [&'static str]) { b'{' => map, b'[' => seq }
        deserialize_unit_struct(name: &'static str) {}
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.peek() {
            Some(b'n') => self.value().and_then(|_| visitor.visit_none()),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        // a `RawValue`: the text itself
        if name.starts_with("$serde_json::private::") {
            return Json::from_str(self.value()?).deserialize_newtype_struct(name, visitor);
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.peek() {
            Some(b'{') => self.within((b'{', b'}'), |probe| visitor.visit_enum(Variant(probe))),
            _ => Json::from_str(self.value()?).deserialize_enum(name, variants, visitor),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.value().and_then(|_| visitor.visit_unit())
    }
}

/// Items of an array, or members of an object.
struct Items<'a, 'de> {
    probe: &'a mut Probe<'de>,
    first: bool,
}

impl Items<'_, '_> {
    fn is_at_end(&mut self, close: u8) -> Result<bool, Error> {
        if self.probe.peek() == Some(close) {
            return Ok(true);
        }
        if !std::mem::take(&mut self.first) {
            self.probe.expect(b',')?;
        }
        Ok(false)
    }
}

impl<'de> SeqAccess<'de> for Items<'_, 'de> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        if self.is_at_end(b']')? { Ok(None) } else { seed.deserialize(&mut *self.probe).map(Some) }
    }
}

impl<'de> MapAccess<'de> for Items<'_, 'de> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        if self.is_at_end(b'}')? { Ok(None) } else { seed.deserialize(Key(self.probe.value()?)).map(Some) }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        self.probe.expect(b':')?;
        seed.deserialize(&mut *self.probe)
    }
}

/// The variant of an enum that an object names by its only member.
struct Variant<'a, 'de>(&'a mut Probe<'de>);

impl<'de> EnumAccess<'de> for Variant<'_, 'de> {
    type Error = Error;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Error> {
        let variant = seed.deserialize(Key(self.0.value()?))?;
        self.0.expect(b':')?;
        Ok((variant, self))
    }
}

impl<'de> VariantAccess<'de> for Variant<'_, 'de> {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        Deserialize::deserialize(self.0)
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Error> {
        seed.deserialize(self.0)
    }

    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, Error> {
        self.0.deserialize_tuple(len, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.0.deserialize_struct("", fields, visitor)
    }
}

/// A member's name, a string with its quotes. Like serde_json, it also reads numbers and booleans in quotes.
struct Key<'de>(&'de str);

macro_rules! in_quotes {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            Json::from_str(self.0.trim_matches('"')).$method(visitor)
        }
    )*};
}

impl<'de> Deserializer<'de> for Key<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        Json::from_str(self.0).deserialize_str(visitor)
    }

    in_quotes! {
        deserialize_bool deserialize_f32 deserialize_f64
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        Json::from_str(self.0).deserialize_enum(name, variants, visitor)
    }

    forward_to_deserialize_any! {
        char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}
