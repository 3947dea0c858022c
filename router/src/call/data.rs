//! The server's shared values, by type: `web::Data<T>` falls back to them, and over stdio finds nothing else.

use std::{
    any::{Any, TypeId},
    collections::HashMap,
    fmt,
    sync::Arc,
};

/// At most one value of each type.
///
/// A value is stored as the `Arc` it came in, so that `get` does not have to require `Send`.
#[derive(Clone, Default)]
pub struct DataMap(HashMap<TypeId, Arc<dyn Any + Send + Sync>>);

impl DataMap {
    /// Stores a value, replacing an earlier one of its type.
    pub fn insert<T: ?Sized + Send + Sync + 'static>(&mut self, value: Arc<T>) {
        self.0.insert(TypeId::of::<Arc<T>>(), Arc::new(value));
    }

    /// The value of this type.
    #[must_use]
    pub fn get<T: ?Sized + 'static>(&self) -> Option<Arc<T>> {
        self.0.get(&TypeId::of::<Arc<T>>()).and_then(|value| value.downcast_ref::<Arc<T>>()).cloned()
    }
}

impl fmt::Debug for DataMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DataMap").field(&self.0.len()).finish()
    }
}
