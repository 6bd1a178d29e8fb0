//! YAML documents with locations, without their scalars.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::Spanned;

/// A document or an item of a list. Fields have values of type `F`, lists have items of type `I`.
pub(super) enum Tree<F, I> {
    Nothing,
    Map(Vec<(Spanned<String>, F)>),
    List(Vec<Spanned<I>>),
    Scalar,
}

impl<'de, F: Deserialize<'de>, I: Deserialize<'de>> Deserialize<'de> for Tree<F, I> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TreeVisitor(PhantomData))
    }
}

struct TreeVisitor<F, I>(PhantomData<(F, I)>);

macro_rules! scalars {
    ($($method:ident($type:ty))*) => {$(
        fn $method<E>(self, _: $type) -> Result<Self::Value, E> {
            Ok(Tree::Scalar)
        }
    )*};
}

impl<'de, F: Deserialize<'de>, I: Deserialize<'de>> Visitor<'de> for TreeVisitor<F, I> {
    type Value = Tree<F, I>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("fields")
    }

    scalars! { visit_bool(bool) visit_i64(i64) visit_u64(u64) visit_f64(f64) visit_str(&str) }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Tree::Nothing)
    }

    fn visit_none<E>(self) -> Result<Self::Value, E> {
        Ok(Tree::Nothing)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        Tree::deserialize(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Tree::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Self::Value, A::Error> {
        let mut map = Vec::new();
        while let Some(field) = fields.next_entry()? {
            map.push(field);
        }
        Ok(Tree::Map(map))
    }
}
