//! Values given to the server, by type; what `web::Data<T>` finds where there is no `App`.

use std::{
    any::{Any, TypeId},
    collections::HashMap,
    fmt,
    sync::Arc,
};

/// One value a type.
///
/// A value is kept as the `Arc` it came in, so that it is found without asking again that its type is `Send`.
#[derive(Clone, Default)]
pub struct DataMap(HashMap<TypeId, Arc<dyn Any + Send + Sync>>);

impl DataMap {
    /// Keeps a value; an earlier one of its type is replaced.
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
